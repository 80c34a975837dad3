/* Plans with the calibrations that they find, for tests. */
#ifndef PLAN_FIXTURE_H
#define PLAN_FIXTURE_H

#include "library_fixture.h"
#include "plan/plan.h"
#include "scenario/scenario.h"

/* Calibrations live as long as the plan: one of each machine. */
typedef struct {
  GPtrArray *cals;
  Pln *plan;
} Loaded;

static inline const MdlLibrary *
load_library (void *data, const MdlLibraryQuery *query, GError **error)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  MdlLibraryQuery own = *query;
  own.lookup = lookup;
  Cst *cal = cst_load (&own, error);
  if (cal != NULL)
    g_ptr_array_add (data, cal);
  return cal != NULL ? cst_library (cal) : NULL;
}

static inline void
free_cal (gpointer cal)
{
  cst_free (cal);
}

static inline void
loaded_clear (Loaded *loaded)
{
  g_clear_pointer (&loaded->plan, pln_free);
  g_clear_pointer (&loaded->cals, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loaded, loaded_clear)

/* The small plan of tests/golden/plan: 8 or 16 H100 for Llama 3 8B. `lookup` outlives it. NULL and *error if it is refused. */
static inline Loaded
try_small (const BaseLookup *lookup, const char *const *sets, GError **error)
{
  Loaded loaded = { .cals = g_ptr_array_new_with_free_func (free_cal) };
  const PlnOptions options = { .sets = sets };
  loaded.plan =
      pln_load (TEST_SOURCE_DIR "/tests/golden/plan/small/plan.yaml", lookup, &options, load_library, loaded.cals, error);
  return loaded;
}

static inline Loaded
load_small (const BaseLookup *lookup, const char *const *sets)
{
  g_autoptr (GError) error = NULL;
  Loaded loaded = try_small (lookup, sets, &error);
  if (loaded.plan == NULL)
    g_error ("%s", error->message);
  return loaded;
}

static inline PlnResult *
search_as (Pln *plan, const PlnQuery *query)
{
  g_autoptr (GError) error = NULL;
  PlnResult *result = pln_search (plan, query, &error);
  if (result == NULL)
    g_error ("%s", error->message);
  return result;
}

static inline PlnResult *
search (Pln *plan, guint threads, guint best)
{
  const PlnQuery query = { .threads = threads, .best = best };
  return search_as (plan, &query);
}

#endif
