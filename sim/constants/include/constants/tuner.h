/* Constants of NCCL's tuner by version: calibrate/defaults/nccl_tuner.yaml. */
#ifndef CONSTANTS_TUNER_H
#define CONSTANTS_TUNER_H

#include "base/diag.h"
#include "base/lookup.h"
#include "base/yaml.h"
#include "models/tuner.h"

typedef struct CstTuner CstTuner;

/* Loads the constants as they are in `version`: "2.28.9"; "2.28" is the last release of that series; NULL the newest known. A
 * version older than the file's first is refused, one newer than its last is warned about and takes the last. `warnings`, `inputs`
 * (a reference of each file read is appended): may be NULL. Returned: full; NULL and *error (BASE_ERROR_INPUT) on failure. */
CstTuner *cst_tuner_load (const char *version, const BaseLookup *lookup, GPtrArray *inputs, BaseDiag *warnings, GError **error);
void cst_tuner_free (CstTuner *tuner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CstTuner, cst_tuner_free)

const MdlTunerSpec *cst_tuner_spec (const CstTuner *tuner); /* borrowed */
/* Whether `version` (NULL: none is known) comes before the one that a file names; an error in `diag` where that is none. */
gboolean cst_tuner_is_before (const char *version, const BaseStr *first, BaseDiag *diag);

const char *cst_tuner_version (const CstTuner *tuner); /* as asked; of NULL the newest known */

#endif
