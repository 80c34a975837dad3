/* Constants as a scenario asks for them while it is loaded, from the shipped files. */
#ifndef LIBRARY_FIXTURE_H
#define LIBRARY_FIXTURE_H

#include "constants/calibration.h"
#include "harness.h"

/* A ScnLibraryLoad; `data`: Cst **, which is set and to be freed after the scenario. */
static inline const MdlLibrary *
model_library (void *data, const MdlLibraryQuery *query, GError **error)
{
  Cst **cal = data;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  MdlLibraryQuery own = *query;
  own.lookup = lookup;
  *cal = cst_load (&own, error);
  return *cal != NULL ? cst_library (*cal) : NULL;
}

#endif
