/* Constants of NCCL's tuner by version: calibrate/defaults/nccl_tuner.yaml. */
#ifndef CALIBRATE_TUNER_H
#define CALIBRATE_TUNER_H

#include "base/diag.h"
#include "base/lookup.h"
#include "base/yaml.h"
#include "models/tuner.h"

G_BEGIN_DECLS

typedef struct CalTuner CalTuner;

/* Loads the constants as they are in `version`: "2.28.9"; "2.28" is the last release of that series; NULL the newest known. A
 * version older than the file's first is refused, one newer than its last is warned about and takes the last. `warnings`, `inputs`
 * (a reference of each file read is appended): may be NULL. Returned: full; NULL and *error (BASE_ERROR_INPUT) on failure. */
CalTuner *cal_tuner_load (const char *version, const BaseLookup *lookup, GPtrArray *inputs, BaseDiag *warnings, GError **error);
void cal_tuner_free (CalTuner *tuner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalTuner, cal_tuner_free)

const MdlTunerSpec *cal_tuner_spec (const CalTuner *tuner); /* borrowed */
/* Whether `version` (NULL: none is known) comes before the one that a file names; an error in `diag` where that is none. */
gboolean cal_tuner_is_before (const char *version, const BaseStr *first, BaseDiag *diag);

const char *cal_tuner_version (const CalTuner *tuner);      /* as asked; of NULL the newest known */

G_END_DECLS

#endif
