/* From a topology file to a cluster: read, check, lay out nodes, build what joins them, number everything. */
#include <math.h>
#include <string.h>

#include "graph/tier-private.h"

/* `node` or {nodes: 18}. */
static void
read_domain (CluLoader *loader)
{
  Clu *clu = loader->clu;
  const BaseYamlNode *node = clu->spec.nvlink_domain;
  clu->domain_nodes = 1;
  if (node == NULL || base_yaml_is_null (node))
    return;
  if (base_yaml_kind (node) == BASE_YAML_SCALAR && strcmp (base_yaml_text (node), "node") == 0)
    return;
  if (base_yaml_kind (node) != BASE_YAML_MAP) {
    base_diag_error (loader->context.diag, base_yaml_mark (node),
                     "nvlink_domain is 'node' or a number of nodes; accepted: node, {nodes: 18}");
    return;
  }
  CluDomainSpec domain = { 0 };
  if (base_schema_read (&clu_schema_domain, node, FALSE, &loader->context, &domain)) {
    clu->domain_nodes = (guint32)domain.nodes.v;
    clu->wide = clu->domain_nodes > 1;
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

static gboolean
apply_sets (BaseYaml *yaml, const char *const *sets, GError **error)
{
  for (; sets != NULL && *sets != NULL; sets++) {
    const char *equals = strchr (*sets, '=');
    if (equals == NULL || equals == *sets) {
      g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT, "'%s' is no setting; accepted: path.to.key=value", *sets);
      return FALSE;
    }
    g_autofree char *path = g_strndup (*sets, (gsize)(equals - *sets));
    g_autofree char *first = g_strndup (path, strcspn (path, "."));
    g_autofree char *label = g_strdup_printf ("--set %s", path);
    gboolean of_node = !has_key (&clu_schema_topology, first) && has_key (&clu_schema_node, first);
    g_autofree char *full = of_node ? g_strdup_printf ("node.%s", path) : g_strdup (path);
    if (!base_yaml_set (yaml, full, equals + 1, label, error))
      return FALSE;
  }
  return TRUE;
}

/* First numbers of every node. FALSE when there would be too many. */
static gboolean
number_nodes (CluLoader *loader)
{
  Clu *clu = loader->clu;
  guint64 dev = 0, link = 0, res = 0, gpu = 0, nic = 0;
  for (guint32 i = 0; i <= clu->n_nodes; i++) {
    CluNode *node = &clu->node[i];
    node->dev = (guint32)dev;
    node->link = (guint32)link;
    node->res = (guint32)res;
    node->gpu = (guint32)gpu;
    node->nic = (guint32)nic;
    if (i == clu->n_nodes)
      break;
    const CluTemplate *t = clu_node_template (clu, i);
    dev += t->n_devices;
    link += t->links->len;
    res += t->res->len;
    gpu += t->n[CLU_DEV_GPU];
    nic += t->n[CLU_DEV_NIC];
    if (MAX (dev, MAX (link, res)) >= CLU_MAX_DEVICES) {
      base_diag_error (loader->context.diag, clu->spec.nodes.set ? clu->spec.nodes.mark : clu->spec.head.mark,
                       "%u such nodes would have more than 2147483647 devices, links or resources", clu->n_nodes);
      return FALSE;
    }
  }
  clu->n_gpus = (guint32)gpu;
  clu->n_nics = (guint32)nic;
  clu->uniform = clu->templates->len == 1;
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

/* All adapters of the front-end together over what its core carries. */
static void
build_frontend (Clu *clu)
{
  const CluFrontendSpec *spec = &clu->spec.frontend;
  double ratio = 1;
  for (unsigned i = 0; i < spec->oversubscription.n; i++)
    ratio *= spec->oversubscription.item[i].v;
  clu->frontend_class = clu_class_new (clu, "frontend", CLU_FAMILY_ETHERNET);
  clu->frontend_core_Bps = ratio > 1 ? spec->rate.v * clu->n_nodes / ratio : 0;
}

/* A tier of unlimited servers still needs a number. */
#define BOUNDLESS_BPS 1e18

static void
number_tier (Clu *clu, const MdlTier *figures, double crossing_s, CluTierNode *tier)
{
  const CluLinkClass *c = clu_class_new (clu, base_name (mdl_tier_names, figures->type.kind.v), CLU_FAMILY_STORAGE);
  const MdlTierSide *read = &figures->type.side[MDL_IO_READ];
  BaseSource source = clu_num_source (read->rate.set ? &read->rate : &read->target);
  tier->p = clu_params_plain (c, fmin (mdl_tier_rate_Bps (figures, MDL_IO_READ), BOUNDLESS_BPS), crossing_s, source);
  tier->write_Bps = fmin (mdl_tier_rate_Bps (figures, MDL_IO_WRITE), BOUNDLESS_BPS);
}

static gboolean
number_rest (CluLoader *loader)
{
  Clu *clu = loader->clu;
  const CluNode *end = &clu->node[clu->n_nodes];
  guint64 dev = end->dev, link = end->link, res = end->res;
  clu->domain_dev = (guint32)dev;
  clu->n_domains = clu->wide ? (clu->n_nodes + clu->domain_nodes - 1) / clu->domain_nodes : 0;
  dev += clu->n_domains;
  clu->fabric.dev = (guint32)dev;
  clu->fabric.link = (guint32)link;
  clu->fabric.res = (guint32)res;
  dev += clu->fabric.n_switches;
  link += clu->fabric.n_links;
  res += clu->fabric.n_res;
  clu->frontend_dev = clu->frontend_res = CLU_NONE;
  if (clu->spec.frontend.head.set) {
    clu->frontend_dev = (guint32)dev++;
    build_frontend (clu);
  }
  clu->management_dev = (guint32)dev++;
  g_free (clu->tier);
  clu->n_tiers = 0;
  clu->tier = g_new0 (CluTierNode, MAX (clu->spec.storage.n, 1u));
  for (unsigned i = 0; i < clu->spec.storage.n; i++) {
    const CluStorageSpec *spec = BASE_LIST_AT (clu->spec.storage, CluStorageSpec, i);
    MdlTier figures;
    clu_tier_resolve (spec, &figures);
    if (figures.type.kind.v == MDL_TIER_LOCAL_NVME)
      continue; /* stands in the nodes */
    CluTierNode *tier = &clu->tier[clu->n_tiers++];
    const CluTierSpec *top = clu_fabric_tier (&clu->spec.fabric, MAX (clu->fabric.n_levels, 1u) - 1);
    double crossing_s = (spec->network.v == 0 ? clu->spec.frontend.latency.v : clu_tier_latency (top)) / 2;
    *tier = (CluTierNode){ .spec = spec, .dev = (guint32)dev++, .link = (guint32)link++, .res = (guint32)res };
    number_tier (clu, &figures, crossing_s, tier);
    res += 2;
  }
  if (clu->frontend_core_Bps > 0)
    clu->frontend_res = (guint32)res++;
  if (MAX (dev, MAX (link, res)) >= CLU_MAX_DEVICES) {
    base_diag_error (loader->context.diag, clu->spec.head.mark, "more than 2147483647 devices, links or resources");
    return FALSE;
  }
  clu->n_devices = (guint32)dev;
  clu->n_links = (guint32)link;
  clu->n_res = (guint32)res;
  return TRUE;
}

gboolean
clu_renumber (Clu *clu, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  CluLoader loader = { .clu = clu, .context = { .arena = clu->arena, .diag = diag } };
  if (number_nodes (&loader))
    number_rest (&loader);
  return base_diag_finish (diag, error);
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
  read_domain (loader);
  clu_check_node (loader, &clu->spec.node);
  clu_check_topology (loader, &clu->spec);
  if (base_diag_n_errors (diag) > 0)
    return;
  clu->n_nodes = (guint32)clu->spec.nodes.v;
  clu->node = g_new0 (CluNode, (gsize)clu->n_nodes + 1);
  clu_overrides_apply (loader);
  if (base_diag_n_errors (diag) > 0 || !number_nodes (loader))
    return;
  clu_fabric_build (loader, first_wire (clu));
  if (base_diag_n_errors (diag) == 0)
    number_rest (loader);
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
  clu_fabric_clear (&clu->fabric);
  g_clear_pointer (&clu->templates, g_ptr_array_unref);
  g_free (clu->node);
  g_free (clu->tier);
  g_free (clu->background_Bps);
  g_clear_pointer (&clu->yamls, g_ptr_array_unref);
  base_arena_free (clu->arena);
  g_free (clu);
}
