/* Whether the tables that others add rows to are whole. */
#include "models/self_check.h"

#include "models/coll.h"
#include "models/schedule.h"

char *
mdl_coll_fault (const MdlColl *row, const char *name)
{
  const char *missing = row->ops == 0          ? "ops"
                        : row->n_steps == NULL ? "n_steps"
                        : row->cost == NULL    ? "cost"
                        : row->plain == NULL   ? "plain"
                                               : NULL;
  return missing == NULL ? NULL
                         : g_strdup_printf ("algorithm '%s' lacks its '%s': mdl_coll_%s in models/collective must have one", name,
                                            missing, name);
}

gboolean
mdl_self_check (GError **error)
{
  g_autofree char *fault = mdl_schedules_fault ();
  for (const MdlColl *const *row = mdl_colls; *row != NULL && fault == NULL; row++)
    fault = mdl_coll_fault (*row, base_name (mdl_algo_names, (*row)->algo));
  if (fault != NULL)
    g_set_error (error, BASE_ERROR, BASE_ERROR_RUN, "the program's own tables are wrong: %s", fault);
  return fault == NULL;
}
