/* The constants of a scenario or plan, as the program gives them. */
#ifndef FUZZ_LIBRARY_H
#define FUZZ_LIBRARY_H

#include <stdint.h>
#include <stdlib.h>

#include "constants/calibration.h"
#include "scenario/loaded.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

typedef struct {
  const BaseLookup *lookup;
  GPtrArray *loaded; /* Cst *; lives until what borrows from it is freed */
} FuzzLibrary;

static inline void
fuzz_library_free_one (gpointer cal)
{
  cst_free (cal);
}

static inline const MdlLibrary *
fuzz_library_load (void *data, const MdlLibraryQuery *query, GError **error)
{
  FuzzLibrary *user = data;
  MdlLibraryQuery own = *query;
  own.lookup = user->lookup;
  Cst *cal = cst_load (&own, error);
  if (cal == NULL)
    return NULL;
  if (user->loaded == NULL)
    user->loaded = g_ptr_array_new_with_free_func (fuzz_library_free_one);
  g_ptr_array_add (user->loaded, cal);
  return cst_library (cal);
}

/* What borrows from them is freed before. */
static inline void
fuzz_library_clear (FuzzLibrary *user)
{
  if (user->loaded != NULL)
    g_ptr_array_unref (user->loaded);
}

static inline void
fuzz_must (gboolean truth)
{
  if (!truth)
    abort ();
}

#endif
