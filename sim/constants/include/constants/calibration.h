/* Calibration files: constants of models/ with their source, shipped (calibrate/defaults/) or fitted. */
#ifndef CONSTANTS_CALIBRATION_H
#define CONSTANTS_CALIBRATION_H

#include "base/diag.h"
#include "base/lookup.h"
#include "base/yaml.h"
#include "constants/section.h"
#include "models/library-spec.h"

typedef struct Cst Cst;

typedef MdlLibraryQuery CstQuery;

/* Loads defaults/library.yaml (cited constants, by vendor), the defaults of the sections, and the calibration over them. Returned:
 * full; NULL and *error (BASE_ERROR_INPUT) on failure. */
Cst *cst_load (const CstQuery *query, GError **error);
void cst_free (Cst *cal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Cst, cst_free)

/* All constants; it points to its sections (`kernels`, `overlap`, …), as struct MdlKernels and so on of models/. Borrowed. */
const MdlLibrary *cst_library (const Cst *cal);
const void *cst_section (const Cst *cal, const CstSection *section); /* the section's struct, borrowed */
const char *cst_name (const Cst *cal);                               /* "h200_sxm"; "none" */

#endif
