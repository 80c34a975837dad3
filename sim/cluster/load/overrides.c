/* Nodes that differ: `overrides` makes kinds of nodes. Entries that say the same of different nodes make one kind, so that a
 * cluster has as many templates as it has different nodes. */
#include <string.h>

#include "load/load-private.h"
#include "node/node-private.h"

/* What it has of its own alone: thousands of entries about one node are thousands of kinds, each over the one before. */
typedef struct Kind Kind;
struct Kind {
  const Kind *base;        /* the kind that its entry was applied to; NULL: the topology's own node */
  const CluNodeSpec *spec; /* in the loader's arena */
  const BaseList *links;   /* CluLinkOverride: single links that differ from those of `base`; NULL: none */
  guint32 number;          /* of its template; CLU_NONE: not made */
};

/* Nodes of an entry. */
typedef struct {
  guint32 low, high; /* both inside */
} Range;

typedef struct {
  CluLoader *loader;
  GArray *ranges; /* Range */
  guint32 n_nodes;
} NodeSet;

static void
take_range (NodeSet *set, const char *text, BaseMark mark)
{
  BaseDiag *diag = set->loader->context.diag;
  g_auto (GStrv) ends = g_strsplit (text, "-", 2);
  guint64 low, high;
  gboolean ok = ends[0] != NULL && g_ascii_string_to_unsigned (g_strstrip (ends[0]), 10, 0, G_MAXUINT32, &low, NULL) &&
                g_ascii_string_to_unsigned (g_strstrip (ends[1] != NULL ? ends[1] : ends[0]), 10, 0, G_MAXUINT32, &high, NULL);
  if (!ok || high < low) {
    base_diag_error (diag, mark, "'%s' is no node or range of nodes; accepted: 3, \"0-7\", [1, 5, \"8-9\"]", text);
    return;
  }
  if (high >= set->n_nodes && !set->loader->nodes_given) {
    base_diag_error (diag, mark, "there is no node %" G_GUINT64_FORMAT "; nodes are 0 to %u", high, set->n_nodes - 1);
    return;
  }
  if (high >= set->n_nodes)
    base_diag_warn (diag, mark, "an override of node %" G_GUINT64_FORMAT " has no effect: only %u nodes are asked for", high,
                    set->n_nodes);
  if (low < set->n_nodes) {
    Range range = { (guint32)low, (guint32)MIN (high, set->n_nodes - 1) };
    g_array_append_val (set->ranges, range);
  }
}

static void
take_nodes (NodeSet *set, const BaseYamlNode *node, gboolean nested)
{
  BaseMark mark = base_yaml_mark (node);
  if (base_yaml_kind (node) == BASE_YAML_SCALAR) {
    g_auto (GStrv) parts = g_strsplit (base_yaml_text (node), ",", -1);
    for (char **part = parts; *part != NULL; part++)
      take_range (set, *part, mark);
    return;
  }
  if (base_yaml_kind (node) == BASE_YAML_SEQ && !nested) {
    for (unsigned i = 0; i < base_yaml_n (node); i++)
      take_nodes (set, base_yaml_item (node, i), TRUE);
    return;
  }
  base_diag_error (set->loader->context.diag, mark, "nodes are a number, a range or a list of these: 3, \"0-7\", [1, 5, \"8-9\"]");
}

/* One text for what an entry says, apart from the nodes it says it of. */
static void
canonical (const BaseYamlNode *node, gboolean top, GString *out)
{
  switch (base_yaml_kind (node)) {
    case BASE_YAML_SCALAR: {
      const char *text = base_yaml_text (node);
      g_string_append_printf (out, "%d%" G_GSIZE_FORMAT ":%s", base_yaml_is_plain (node) ? 1 : 0, strlen (text), text);
      break;
    }
    case BASE_YAML_SEQ:
      g_string_append_c (out, '[');
      for (unsigned i = 0; i < base_yaml_n (node); i++)
        canonical (base_yaml_item (node, i), FALSE, out);
      g_string_append_c (out, ']');
      break;
    case BASE_YAML_MAP:
      g_string_append_c (out, '{');
      for (unsigned i = 0; i < base_yaml_n (node); i++) {
        const char *key = base_yaml_key (node, i);
        if (top && strcmp (key, "nodes") == 0)
          continue;
        g_string_append_printf (out, "%" G_GSIZE_FORMAT ":%s", strlen (key), key);
        canonical (base_yaml_item (node, i), FALSE, out);
      }
      g_string_append_c (out, '}');
      break;
  }
}

/* The kind that results from an entry over another kind; NULL on an error. */
static Kind *
kind_over (CluLoader *loader, const Kind *base, const BaseYamlNode *entry)
{
  CluOverrideSpec *o = base_arena_alloc (loader->context.arena, sizeof *o);
  o->node = *base->spec;
  unsigned before = base_diag_n_errors (loader->context.diag);
  if (!base_schema_read (&clu_schema_override, entry, TRUE, &loader->context, o))
    return NULL;
  clu_check_node (loader, &o->node);
  if (base_diag_n_errors (loader->context.diag) != before)
    return NULL;
  Kind *kind = g_new (Kind, 1);
  *kind = (Kind){ .base = base, .spec = &o->node, .links = o->links.n > 0 ? &o->links : NULL, .number = CLU_NONE };
  return kind;
}

/* What is built up while entries are applied. */
typedef struct {
  GPtrArray *kinds; /* Kind * */
  GHashTable *made; /* "kind says" -> number of the kind + 1 */
  guint32 *kind_of; /* by node */
  guint32 *touched; /* by node: the last entry that was applied to it, from 1 */
} Work;

/* Number of the kind that an entry makes of another; CLU_NONE on an error. */
static guint32
kind_made (CluLoader *loader, Work *work, guint32 base, const BaseYamlNode *entry, const char *says)
{
  g_autofree char *key = g_strdup_printf ("%u %s", base, says);
  guint32 number = GPOINTER_TO_UINT (g_hash_table_lookup (work->made, key));
  if (number > 0)
    return number - 1;
  Kind *kind = kind_over (loader, work->kinds->pdata[base], entry);
  if (kind == NULL)
    return CLU_NONE;
  g_ptr_array_add (work->kinds, kind);
  g_hash_table_insert (work->made, g_steal_pointer (&key), GUINT_TO_POINTER (work->kinds->len));
  return work->kinds->len - 1;
}

static void
apply_entry (CluLoader *loader, const BaseYamlNode *entry, guint32 number, Work *work)
{
  const BaseYamlNode *nodes = base_yaml_get (entry, "nodes");
  if (base_yaml_kind (entry) != BASE_YAML_MAP || nodes == NULL) {
    clu_error (loader, base_yaml_mark (entry), "an override needs 'nodes' (e.g. {nodes: 3, nics: {rate: 200 Gb/s}})");
    return;
  }
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  NodeSet set = { .loader = loader, .ranges = ranges, .n_nodes = loader->clu->n_nodes };
  take_nodes (&set, nodes, FALSE);
  g_autoptr (GString) says = g_string_new (NULL);
  canonical (entry, TRUE, says);
  if (ranges->len == 0) { /* still checked, though no node is left that it is about */
    kind_made (loader, work, 0, entry, says->str);
    return;
  }
  guint32 last = CLU_NONE, made_of_last = CLU_NONE; /* neighbours are mostly of one kind */
  for (guint r = 0; r < ranges->len; r++) {
    const Range *range = &g_array_index (ranges, Range, r);
    for (guint32 i = range->low; i <= range->high; i++) {
      if (work->touched[i] == number)
        continue;
      work->touched[i] = number;
      if (work->kind_of[i] != last) {
        last = work->kind_of[i];
        made_of_last = kind_made (loader, work, last, entry, says->str);
        if (made_of_last == CLU_NONE)
          return;
      }
      work->kind_of[i] = made_of_last;
    }
  }
}

/* The single links that differ, those of the first entry first. Returned: the container, of const BaseList *. */
static GPtrArray *
kind_links (const Kind *kind)
{
  GPtrArray *links = g_ptr_array_new ();
  guint n = 0;
  for (const Kind *at = kind; at != NULL; at = at->base)
    n += at->links != NULL ? 1 : 0;
  g_ptr_array_set_size (links, (gint)n);
  for (const Kind *at = kind; at != NULL; at = at->base)
    if (at->links != NULL)
      links->pdata[--n] = (gpointer)at->links;
  return links;
}

/* Templates of the kinds that some node is of. */
static void
make_templates (CluLoader *loader, const Work *work)
{
  Clu *clu = loader->clu;
  guint64 n_links = 0;
  for (guint32 i = 0; i < clu->n_nodes; i++) {
    Kind *kind = work->kinds->pdata[work->kind_of[i]];
    if (kind->number == CLU_NONE) {
      kind->number = clu->templates->len;
      g_autoptr (GPtrArray) links = kind_links (kind);
      CluTemplate *t = clu_template_new (loader, kind->spec, links);
      g_ptr_array_add (clu->templates, t);
      n_links += t->links->len;
      if (n_links > CLU_MAX_KIND_LINKS) {
        clu_error (loader, clu->spec.node.head.mark,
                   "the different kinds of nodes have more than %u links together; fewer overrides, or smaller nodes",
                   CLU_MAX_KIND_LINKS);
        return;
      }
    }
    clu->node[i].kind = kind->number;
  }
}

void
clu_overrides_apply (CluLoader *loader)
{
  Clu *clu = loader->clu;
  g_autoptr (GPtrArray) kinds = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) made = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree guint32 *kind_of = g_new0 (guint32, clu->n_nodes), *touched = g_new0 (guint32, clu->n_nodes);
  Work work = { .kinds = kinds, .made = made, .kind_of = kind_of, .touched = touched };
  Kind *first = g_new (Kind, 1);
  *first = (Kind){ .spec = &clu->spec.node, .number = CLU_NONE };
  g_ptr_array_add (kinds, first);

  const BaseYamlNode *list = clu->spec.overrides;
  if (list != NULL && base_yaml_kind (list) != BASE_YAML_SEQ && !base_yaml_is_null (list))
    clu_error (loader, base_yaml_mark (list), "overrides is a list (e.g. [{nodes: 3, nics: {rate: 200 Gb/s}}])");
  else
    for (unsigned i = 0; list != NULL && i < base_yaml_n (list); i++)
      apply_entry (loader, base_yaml_item (list, i), i + 1, &work);
  if (base_diag_n_errors (loader->context.diag) > 0)
    return;
  make_templates (loader, &work);
}
