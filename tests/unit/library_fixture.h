/* Constants as a scenario asks for them while it is loaded, from the shipped files. */
#ifndef LIBRARY_FIXTURE_H
#define LIBRARY_FIXTURE_H

#include "constants/calibration.h"
#include "harness.h"

/* A ScnLibraryLoad; `data`: Cst **, which is set and to be freed after the scenario. */
static inline const MdlLibrary *
model_library (void *data, const char *name, const char *from, const char *gpu_type, const char *nccl, GPtrArray *inputs,
               BaseDiag *warnings, GError **error)
{
  Cst **cal = data;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  *cal = cst_load (&(CstAsk){ .name = name,
                              .from = from,
                              .gpu_type = gpu_type,
                              .nccl = nccl,
                              .lookup = lookup,
                              .inputs = inputs,
                              .warnings = warnings },
                   error);
  return *cal != NULL ? cst_library (*cal) : NULL;
}

#endif
