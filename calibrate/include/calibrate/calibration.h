/* Calibration files: constants of models/ with their source, shipped (calibrate/defaults/) or fitted. */
#ifndef CALIBRATE_CALIBRATION_H
#define CALIBRATE_CALIBRATION_H

#include "base/diag.h"
#include "base/lookup.h"
#include "base/yaml.h"
#include "calibrate/section.h"
#include "models/kernel.h"
#include "models/library.h"
#include "models/memory.h"
#include "models/overlap.h"
#include "models/software.h"

G_BEGIN_DECLS

typedef struct Cal Cal;

/* Loads defaults/library.yaml (cited constants, by vendor) and, over it, the calibration `name` (a path or a bare name). `name`
 * NULL: the file named like `gpu_type` if one is shipped, else none, which is warned about: data sheet and default
 * efficiencies, marked assumed, wide band. `nccl`: version of NCCL whose choice is taken ("2.28", "2.28.9"); NULL: that of the
 * calibration, else the newest known. `inputs` (may be NULL): a reference of each file read is appended. Returned:
 * full. */
Cal *cal_load (const char *name, const char *from, const char *gpu_type, const char *nccl, const BaseLookup *lookup,
               GPtrArray *inputs, BaseDiag *warnings, GError **error);
void cal_free (Cal *cal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Cal, cal_free)

const MdlLibrary *cal_library (const Cal *cal);                      /* borrowed */
const void *cal_section (const Cal *cal, const CalSection *section); /* its struct, borrowed */
const MdlKernels *cal_kernels (const Cal *cal);                      /* constants of kernels, borrowed */
const MdlOverlap *cal_overlap (const Cal *cal);                      /* borrowed */
const MdlMemorySpec *cal_memory (const Cal *cal);                    /* borrowed */
const MdlSoftware *cal_software (const Cal *cal);                    /* of training frameworks, borrowed */
const char *cal_name (const Cal *cal);                               /* "h200_sxm"; "none" */

G_END_DECLS

#endif
