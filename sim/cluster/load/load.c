/* From a topology file to a cluster: read, check, lay out nodes, build what joins them, number everything. */
#include <string.h>

#include "fabric/fabric-private.h"
#include "load/load-private.h"
#include "node/node-private.h"

/* `node` or {nodes: 18}. */
static void
read_domain (CluLoader *loader)
{
  Clu *clu = loader->clu;
  const BaseYamlNode *node = clu->spec.nvlink_domain;
  clu->domain_nodes = 1;
  clu->domain_taper = 1;
  if (node == NULL || base_yaml_is_null (node))
    return;
  if (base_yaml_kind (node) == BASE_YAML_SCALAR && strcmp (base_yaml_text (node), "node") == 0)
    return;
  if (base_yaml_kind (node) != BASE_YAML_MAP) {
    clu_error (loader, base_yaml_mark (node), "nvlink_domain is 'node' or a number of nodes; accepted: node, {nodes: 18}");
    return;
  }
  CluDomainSpec domain = { 0 };
  if (base_schema_read (&clu_schema_domain, node, FALSE, &loader->context, &domain)) {
    clu->domain_nodes = (guint32)domain.nodes.v;
    clu->domain_taper = domain.taper.v;
    clu->wide = loader->wide = clu->domain_nodes > 1;
  }
}

static gboolean
has_key (const BaseSchema *schema, const char *key)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++)
    if (strcmp (field->key, key) == 0)
      return TRUE;
  return FALSE;
}

/* The path of a key of the topology: "nics.rate" is "node.nics.rate" where the node has the NICs, and the other way round where the
 * short form has them. Returned: full. */
static char *
full_path (const BaseYamlNode *root, const char *path)
{
  const char *inner = g_str_has_prefix (path, "node.") ? path + strlen ("node.") : path;
  g_autofree char *first = g_strndup (inner, strcspn (inner, "."));
  gboolean is_short = base_yaml_get (root, "gpus") != NULL && (strcmp (first, "gpus") == 0 || strcmp (first, "nics") == 0);
  if (is_short)
    return g_strdup (inner);
  gboolean both = strcmp (first, "gpus") == 0 || strcmp (first, "nics") == 0;
  gboolean of_node = has_key (&clu_schema_node, first) && (both || !has_key (&clu_schema_topology, first));
  return inner == path && of_node ? g_strdup_printf ("node.%s", path) : g_strdup (path);
}

static gboolean
apply_sets (BaseYaml *yaml, const char *const *sets, GError **error)
{
  for (; sets != NULL && *sets != NULL; sets++) {
    const char *equals = strchr (*sets, '=');
    if (equals == NULL || equals == *sets)
      return base_fail_at (error, BASE_MARK_NONE, "'%s' is no setting; accepted: path.to.key=value", *sets);
    g_autofree char *path = g_strndup (*sets, (gsize)(equals - *sets));
    g_autofree char *label = g_strdup_printf ("--set %s", path);
    g_autofree char *full = full_path (base_yaml_root (yaml), path);
    if (!base_yaml_set (yaml, full, equals + 1, label, error))
      return FALSE;
  }
  return TRUE;
}

static const CluParams *
first_wire (const Clu *clu)
{
  for (guint i = 0; i < clu->templates->len; i++) {
    const CluTemplate *t = g_ptr_array_index (clu->templates, i);
    if (t->nic_wire.link_class != NULL)
      return &t->nic_wire;
  }
  return NULL;
}

static void
build (CluLoader *loader, const BaseYamlNode *root, const CluLoadOptions *options)
{
  Clu *clu = loader->clu;
  BaseDiag *diag = loader->context.diag;
  if (!base_schema_read (&clu_schema_topology, root, FALSE, &loader->context, &clu->spec))
    return;
  if (options != NULL && options->nodes > 0) {
    if (options->nodes > 1000000) {
      base_diag_error (diag, BASE_MARK_NONE, "%u nodes are asked for; at most 1000000", options->nodes);
      return;
    }
    clu->spec.nodes = (BaseNum){ .v = options->nodes, .set = TRUE, .source = BASE_SOURCE_ASSUMED, .mark = clu->spec.head.mark };
    loader->nodes_given = TRUE;
  }
  clu_fill_defaults (loader, root, &clu->spec);
  if (base_diag_n_errors (diag) > 0)
    return;
  read_domain (loader);
  clu_check_node (loader, &clu->spec.node);
  clu_check_topology (loader, &clu->spec);
  if (base_diag_n_errors (diag) > 0)
    return;
  clu->n_nodes = (guint32)clu->spec.nodes.v;
  clu->node = base_arena_alloc_n (clu->arena, (gsize)clu->n_nodes + 1, sizeof *clu->node);
  clu_overrides_apply (loader);
  if (base_diag_n_errors (diag) > 0 || !clu_number_nodes (loader))
    return;
  clu_fabric_build (loader, first_wire (clu));
  if (base_diag_n_errors (diag) == 0)
    clu_number_rest (loader);
}

static gboolean
is_shipped (const BaseLookup *lookup, const char *path)
{
  const char *root = lookup != NULL ? base_lookup_root (lookup) : NULL;
  if (root == NULL || path == NULL)
    return FALSE;
  g_autofree char *inside = g_canonicalize_filename (path, NULL), *folder = g_canonicalize_filename (root, NULL);
  gsize n = strlen (folder);
  return strncmp (inside, folder, n) == 0 && (inside[n] == '/' || (n > 0 && folder[n - 1] == '/'));
}

/* Every file once, however often it was named. */
static void
list_inputs (const Clu *clu, GPtrArray *inputs)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < inputs->len; i++)
    g_hash_table_add (seen, (gpointer)base_yaml_path (inputs->pdata[i]));
  for (guint i = 0; i < clu->yamls->len; i++)
    if (g_hash_table_add (seen, (gpointer)base_yaml_path (clu->yamls->pdata[i])))
      g_ptr_array_add (inputs, base_yaml_ref (clu->yamls->pdata[i]));
}

/* Reads the topology at `root`, a node of the document at `path`. `clu` holds what it owns already; freed on failure. */
static Clu *
load_root (Clu *fresh, const BaseYamlNode *root, const char *path, const BaseLookup *lookup, const CluLoadOptions *options,
           BaseDiag *warnings, GError **error)
{
  g_return_val_if_fail (lookup != NULL, NULL);
  g_autoptr (Clu) clu = fresh;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  clu->seed = options != NULL ? options->seed : 0;
  const gboolean follow = options != NULL && options->switches_follow;
  g_autoptr (GHashTable) classes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  CluLoader loader = { .clu = clu, .classes = classes, .switches_follow = follow };
  loader.context = (BaseSchemaContext){ .arena = clu->arena, .diag = diag, .lookup = lookup, .inputs = clu->yamls };
  loader.context.source = is_shipped (lookup, path) ? BASE_SOURCE_DATASHEET : BASE_SOURCE_ASSUMED;
  build (&loader, root, options);
  for (unsigned i = 0; warnings != NULL && i < base_diag_n_warnings (diag); i++)
    base_diag_warn (warnings, BASE_MARK_NONE, "%s", base_diag_warning (diag, i));
  if (!base_diag_finish (diag, error))
    return NULL;
  if (options != NULL && options->inputs != NULL)
    list_inputs (clu, options->inputs);
  return g_steal_pointer (&clu);
}

static Clu *
clu_new (void)
{
  Clu *clu = g_new0 (Clu, 1);
  clu->arena = base_arena_new ();
  clu->yamls = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  clu->templates = g_ptr_array_new_with_free_func ((GDestroyNotify)clu_template_free);
  return clu;
}

Clu *
clu_load_yaml (BaseYaml *yaml, const BaseLookup *lookup, const char *const *sets, const CluLoadOptions *options, BaseDiag *warnings,
               GError **error)
{
  g_autoptr (Clu) clu = clu_new ();
  g_ptr_array_add (clu->yamls, yaml);
  if (!apply_sets (yaml, sets, error))
    return NULL;
  return load_root (g_steal_pointer (&clu), base_yaml_root (yaml), base_yaml_path (yaml), lookup, options, warnings, error);
}

Clu *
clu_load_node (const BaseYamlNode *topology, BaseYaml *owner, const BaseLookup *lookup, const CluLoadOptions *options,
               BaseDiag *warnings, GError **error)
{
  g_autoptr (Clu) clu = clu_new ();
  g_ptr_array_add (clu->yamls, base_yaml_ref (owner)); /* overrides and marks are read from it as long as the cluster lives */
  return load_root (g_steal_pointer (&clu), topology, base_yaml_path (owner), lookup, options, warnings, error);
}

Clu *
clu_load (const char *name, const char *from, const BaseLookup *lookup, const char *const *sets, const CluLoadOptions *options,
          BaseDiag *warnings, GError **error)
{
  g_autofree char *path = base_lookup_find (lookup, name, "topologies", from, error);
  if (path == NULL)
    return NULL;
  BaseYaml *yaml = base_yaml_load_file (path, error);
  return yaml != NULL ? clu_load_yaml (yaml, lookup, sets, options, warnings, error) : NULL;
}

void
clu_free (Clu *clu)
{
  if (clu == NULL)
    return;
  g_clear_pointer (&clu->templates, g_ptr_array_unref);
  g_free (clu->background_Bps);
  g_clear_pointer (&clu->yamls, g_ptr_array_unref);
  base_arena_free (clu->arena);
  g_free (clu);
}
