/* Calibration files: constants of models/ with their source, shipped (calibrate/defaults/) or fitted. */
#ifndef CONSTANTS_CALIBRATION_H
#define CONSTANTS_CALIBRATION_H

#include "base/diag.h"
#include "base/lookup.h"
#include "base/yaml.h"
#include "constants/section.h"
#include "models/library-spec.h"

G_BEGIN_DECLS

typedef struct Cst Cst;

/* What is asked for; NULL: none, and what then holds. */
typedef struct {
  const char *name;         /* calibration, a path or a bare name; NULL: the one named like gpu_type if one is shipped, else none,
                             * which is warned about: data sheet and default efficiencies, marked assumed, wide band */
  const char *from;         /* file that a path is relative to */
  const char *gpu_type;     /* "h100_sxm": its file names the vendor */
  const char *nccl;         /* version of NCCL whose choice is taken, "2.28" or "2.28.9"; NULL: that of the calibration, else the
                             * newest known */
  gboolean nccl_if_known;   /* a version that is not known is as if none were asked for; else an error */
  const BaseLookup *lookup; /* needed */
  GPtrArray *inputs;        /* BaseYaml *: a reference of each file read is appended */
  BaseDiag *warnings;
} CstAsk;

/* Loads defaults/library.yaml (cited constants, by vendor), the defaults of the sections, and the calibration over them. Returned:
 * full; NULL and *error (BASE_ERROR_INPUT) on failure. */
Cst *cst_load (const CstAsk *ask, GError **error);
void cst_free (Cst *cal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Cst, cst_free)

/* All constants; its sections hang on it (`kernels`, `overlap`, …), as struct MdlKernels and so on of models/. Borrowed. */
const MdlLibrary *cst_library (const Cst *cal);
const void *cst_section (const Cst *cal, const CstSection *section); /* the section's struct, borrowed */
const char *cst_name (const Cst *cal);                               /* "h200_sxm"; "none" */

G_END_DECLS

#endif
