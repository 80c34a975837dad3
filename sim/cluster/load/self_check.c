/* Whether the tables that others add rows to are whole. */
#include <string.h>

#include "fabric/fabric-private.h"
#include "load/load-private.h"

char *
clu_names_fault (const BaseName *table, const char *what)
{
  for (const BaseName *row = table; row->name != NULL; row++) {
    if (*row->name == '\0' || row->help == NULL || *row->help == '\0')
      return g_strdup_printf ("row %d of the %s ('%s') lacks its %s", (int)(row - table), what, row->name,
                              *row->name == '\0' ? "name" : "help");
    for (const BaseName *other = table; other < row; other++)
      if (strcmp (other->name, row->name) == 0 || other->code == row->code)
        return g_strdup_printf ("'%s' stands twice among the %s, or has the code of '%s'", row->name, what, other->name);
  }
  return NULL;
}

char *
clu_fabric_fault (const CluFabricOps *ops, const char *name)
{
  const struct {
    gboolean there;
    const char *part;
  } rows[] = { { ops != NULL, "CluFabricOps" },
               { ops != NULL && ops->build != NULL, "build" },
               { ops != NULL && ops->link != NULL, "link" },
               { ops != NULL && ops->resource != NULL, "resource" },
               { ops != NULL && ops->name != NULL, "name" },
               { ops != NULL && ops->route != NULL, "route" } };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (!rows[i].there)
      return g_strdup_printf ("fabric kind '%s' lacks its '%s': clu_fabric_%s in sim/cluster/fabric must have one", name,
                              rows[i].part, name);
  for (const char *const *key = ops->keys; key != NULL && *key != NULL; key++)
    if (!clu_fabric_knows_key (*key))
      return g_strdup_printf ("fabric kind '%s' has the key '%s', which `fabric` does not check by kind", name, *key);
  return NULL;
}

gboolean
clu_self_check (GError **error)
{
  g_autofree char *fault = clu_names_fault (clu_family_names, "link families");
  if (fault == NULL)
    fault = clu_names_fault (clu_fabric_names, "fabric kinds");
  for (CluFabricKind kind = CLU_FABRIC_NONE + 1; kind < CLU_FABRIC_N && fault == NULL; kind++)
    fault = clu_fabric_fault (clu_fabric_kinds[kind], base_name (clu_fabric_names, (int)kind));
  if (fault != NULL)
    g_set_error (error, BASE_ERROR, BASE_ERROR_RUN, "the program's own tables are wrong: %s", fault);
  return fault == NULL;
}
