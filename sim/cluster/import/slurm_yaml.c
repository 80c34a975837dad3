/* Slurm's topology.yaml (25.05 and later). Layout: its manual page (doc/man/man5/topology.yaml.5 of SchedMD/slurm at 0b755e6c3053):
 * a list of topologies, each with `tree: {switches: [{switch, nodes or children}]}`, `block: {block_sizes, blocks: [{block,
 * nodes}]}` or `flat: true`; the first with `cluster_default: true` is the cluster's. */
#include <string.h>

#include "base/schema.h"
#include "import/import-private.h"
#include "import/slurm-private.h"

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseStrs nodes, children;
} Switch;
typedef struct {
  BaseHead head;
  BaseList switches; /* Switch */
} Tree;
typedef struct {
  BaseHead head;
  BaseNums sizes;
  BaseList blocks; /* Switch */
} Block;
typedef struct {
  BaseHead head;
  BaseStr name;
  BaseBool is_default, flat;
  Tree tree;
  Block block;
} Topology;

static const BaseField switch_fields[] = {
  BASE_ROW (Switch, "switch", name, STR, .required = TRUE, .help = "its name"),
  BASE_ROW (Switch, "nodes", nodes, STRS, .help = "that hang on it, as Slurm writes many names: node[01-04]"),
  BASE_ROW (Switch, "children", children, STRS, .help = "switches below it"),
  BASE_ROW_END,
};
static const BaseSchema switch_schema = { .name = "switches", .help = "A switch.", .fields = switch_fields };
static const BaseField tree_fields[] = {
  BASE_ROW (Tree, "switches", switches, LIST, .sub = &switch_schema, .item_size = sizeof (Switch), .required = TRUE,
            .help = "all of them"),
  BASE_ROW_END,
};
static const BaseSchema tree_schema = { .name = "tree", .help = "Switches.", .fields = tree_fields };
static const BaseField one_block_fields[] = {
  BASE_ROW (Switch, "block", name, STR, .required = TRUE, .help = "its name"),
  BASE_ROW (Switch, "nodes", nodes, STRS, .required = TRUE, .help = "in it"),
  BASE_ROW_END,
};
static const BaseSchema one_block_schema = { .name = "blocks", .help = "A block.", .fields = one_block_fields };
static const BaseField block_fields[] = {
  BASE_ROW (Block, "block_sizes", sizes, NUMS, .dim = BASE_DIM_COUNT, .min = "1", .help = "nodes that jobs are planned in"),
  BASE_ROW (Block, "blocks", blocks, LIST, .sub = &one_block_schema, .item_size = sizeof (Switch), .required = TRUE,
            .help = "all of them"),
  BASE_ROW_END,
};
static const BaseSchema block_schema = { .name = "block", .help = "Blocks.", .fields = block_fields };
static const BaseField topology_fields[] = {
  BASE_ROW (Topology, "topology", name, STR, .required = TRUE, .help = "its name"),
  BASE_ROW (Topology, "cluster_default", is_default, BOOL, .fallback = "false", .help = "the cluster's"),
  BASE_ROW (Topology, "flat", flat, BOOL, .fallback = "false", .help = "no more is known"),
  BASE_ROW (Topology, "tree", tree, MAP, .sub = &tree_schema, .help = "switches; or:"),
  BASE_ROW (Topology, "block", block, MAP, .sub = &block_schema, .help = "blocks"),
  BASE_ROW_END,
};
static const BaseSchema topology_schema = { .name = "topology", .help = "A topology.", .fields = topology_fields };

gboolean
clu_slurm_is_yaml (const char *path, const char *text)
{
  if (g_str_has_suffix (path, ".yaml") || g_str_has_suffix (path, ".yml"))
    return TRUE;
  for (const char *p = text; *p != '\0'; p += strcspn (p, "\n"), p += *p == '\n' ? 1 : 0) {
    const char *word = p + strspn (p, " \t\r");
    if (*word != '#' && *word != '\n' && *word != '\0')
      return strchr ("-[{", *word) != NULL;
  }
  return FALSE;
}

static gboolean
has_control (const char *text)
{
  for (; *text != '\0'; text = g_utf8_next_char (text))
    if (g_unichar_iscntrl (g_utf8_get_char (text)))
      return TRUE;
  return FALSE;
}

static gboolean
take_lists (const BaseStrs *lists, GPtrArray **out, GError **error)
{
  if (!lists->set)
    return TRUE;
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);
  gboolean good = TRUE;
  for (unsigned i = 0; i < lists->n && good; i++) {
    GPtrArray *some = NULL;
    if (has_control (lists->item[i].v)) {
      base_fail_at (error, lists->item[i].mark, "a control character; remove it");
      good = FALSE;
      break;
    }
    good = clu_slurm_take_list (lists->item[i].mark, lists->item[i].v, &some, error);
    g_ptr_array_extend_and_steal (all, some);
  }
  *out = all;
  return good;
}

static gboolean
take_entries (const BaseList *list, gboolean blocks, const char *path, GPtrArray *entries, GError **error)
{
  for (unsigned i = 0; i < list->n; i++) {
    const Switch *from = BASE_LIST_AT (*list, Switch, i);
    CluSlurmEntry *entry = g_new0 (CluSlurmEntry, 1);
    g_ptr_array_add (entries, entry);
    entry->name = g_strdup (from->name.v);
    entry->mark = from->name.mark;
    entry->is_block = blocks;
    entry->members = from->nodes.set ? from->nodes.mark : from->children.mark;
    entry->mark.file = entry->members.file = path; /* the document does not live as long */
    const char *why = *entry->name == '\0'                      ? "has no name"
                      : has_control (entry->name)               ? "has a control character; remove it"
                      : from->nodes.set && from->children.set   ? "has nodes and children; one of them is accepted"
                      : !from->nodes.set && !from->children.set ? "has no members; 'nodes' or 'children' is accepted"
                                                                : NULL;
    if (why != NULL)
      return base_fail_at (error, entry->mark, "'%s' %s", entry->name, why);
    if (!take_lists (&from->nodes, &entry->nodes, error) || !take_lists (&from->children, &entry->children, error))
      return FALSE;
  }
  return TRUE;
}

/* Which one counts; its number. Says which others there are. */
static unsigned
choose (const Topology *all, unsigned n, const char *only, BaseDiag *warnings)
{
  unsigned taken = n;
  for (unsigned i = 0; i < n && taken == n; i++)
    if (only != NULL ? strcmp (all[i].name.v, only) == 0 : all[i].is_default.v)
      taken = i;
  if (taken == n && only == NULL)
    taken = 0;
  if (n > 1 && only == NULL) {
    g_autoptr (GString) others = g_string_new (NULL);
    for (unsigned i = 0; i < n; i++)
      if (i != taken)
        g_string_append_printf (others, "%s'%s'", others->len > 0 ? ", " : "", all[i].name.v);
    base_diag_warn (warnings, all[taken].name.mark, "'%s' is read, %s; --only takes another: %s", all[taken].name.v,
                    all[taken].is_default.v ? "the cluster's default" : "the first", others->str);
  }
  return taken;
}

static gboolean
take_topology (const Topology *t, const char *path, GPtrArray *entries, GError **error)
{
  guint kinds = (t->tree.head.set ? 1u : 0u) + (t->block.head.set ? 1u : 0u) + (t->flat.v ? 1u : 0u);
  if (kinds != 1)
    return base_fail_at (error, t->name.mark, "'%s' has %s 'tree', 'block' and 'flat'; one of them is accepted", t->name.v,
                         kinds == 0 ? "none of" : "several of");
  if (t->flat.v)
    return base_fail_at (error, t->name.mark, "'%s' is flat, which says nothing of switches; 'tree' or 'block' is accepted",
                         t->name.v);
  return t->tree.head.set ? take_entries (&t->tree.switches, FALSE, path, entries, error)
                          : take_entries (&t->block.blocks, TRUE, path, entries, error);
}

gboolean
clu_slurm_read_yaml (const char *path, const char *text, const char *only, GPtrArray *entries, BaseDiag *warnings, GError **error)
{
  g_autoptr (BaseYaml) yaml = base_yaml_load_data (path, text, strlen (text), error);
  if (yaml == NULL)
    return FALSE;
  const BaseYamlNode *root = base_yaml_root (yaml);
  unsigned n = base_yaml_kind (root) == BASE_YAML_SEQ ? base_yaml_n (root) : 0;
  if (n == 0)
    return base_fail_at (error, base_yaml_mark (root),
                         "no list of topologies; '- topology: NAME' with 'tree' or 'block' is accepted");
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = diag };
  g_autofree Topology *all = g_new0 (Topology, n);
  for (unsigned i = 0; i < n; i++)
    base_schema_read (&topology_schema, base_yaml_item (root, i), FALSE, &context, &all[i]);
  if (!base_diag_finish (diag, error))
    return FALSE;
  unsigned taken = choose (all, n, only, warnings);
  if (taken == n) {
    g_autofree const char **names = g_new0 (const char *, n + 1);
    for (unsigned i = 0; i < n; i++)
      names[i] = all[i].name.v;
    g_autofree char *accepted = base_accepted (only, names, NULL);
    return base_fail_at (error, base_yaml_mark (root), "no topology '%s'%s", only, accepted);
  }
  return take_topology (&all[taken], path, entries, error);
}
