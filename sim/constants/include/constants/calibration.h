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

/* Loads defaults/library.yaml (cited constants, by vendor) and, over it, the calibration `name` (a path or a bare name). `name`
 * NULL: the file named like `gpu_type` if one is shipped, else none, which is warned about: data sheet and default
 * efficiencies, marked assumed, wide band. `nccl`: version of NCCL whose choice is taken ("2.28", "2.28.9"); NULL: that of the
 * calibration, else the newest known. `inputs` (may be NULL): a reference of each file read is appended. Returned:
 * full. */
Cst *cst_load (const char *name, const char *from, const char *gpu_type, const char *nccl, const BaseLookup *lookup,
               GPtrArray *inputs, BaseDiag *warnings, GError **error);
void cst_free (Cst *cal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Cst, cst_free)

/* All constants; its sections hang on it (`kernels`, `overlap`, …), as struct MdlKernels and so on of models/. Borrowed. */
const MdlLibrary *cst_library (const Cst *cal);
const void *cst_section (const Cst *cal, const CstSection *section); /* the section's struct, borrowed */
const char *cst_name (const Cst *cal);                               /* "h200_sxm"; "none" */

G_END_DECLS

#endif
