/* Layout of the files: Slurm's topology.conf and topology.yaml manual pages (25.05): SwitchName= with Nodes= or Switches=;
 * BlockName= with Nodes=, BlockSizes=; in YAML a list of topologies, each with `tree: {switches: […]}` or `block: {block_sizes,
 * blocks}`. */
#include "report/slurm.h"

#include <string.h>

#include "base/error.h"
#include "cluster/hostlist.h"
#include "cluster/spec.h"
#include "json-private.h"

#define MOST_NAME 64u /* characters of a switch's name in topology.yaml */

typedef struct {
  const Clu *clu;
  const RepSlurm *how;
  GString *out;
  guint32 *joined;   /* by device: another one of its component; itself: the first */
  guint32 *level;    /* by device: switches between it and a NIC; CLU_NONE: not known */
  guint32 *leaf;     /* by node: a switch that it is attached to; CLU_NONE: none */
  GHashTable *taken; /* char *: names that the tree has */
} Writer;

static guint32
first_of (Writer *w, guint32 dev)
{
  while (w->joined[dev] != dev) {
    w->joined[dev] = w->joined[w->joined[dev]];
    dev = w->joined[dev];
  }
  return dev;
}

static void
join (Writer *w, guint32 a, guint32 b)
{
  guint32 x = first_of (w, a), y = first_of (w, b);
  w->joined[MAX (x, y)] = MIN (x, y);
}

static gboolean
is_switch (const Writer *w, CluDev dev)
{
  return clu_dev_kind (w->clu, dev) == CLU_DEV_SWITCH;
}

/* Levels of switches, and which leaves the nodes join. Returned: the highest level. */
static guint32
measure (Writer *w)
{
  guint32 top = 0;
  for (CluLinkId id = 0; id < clu_n_links (w->clu); id++) {
    CluLink link;
    clu_link (w->clu, id, &link);
    CluDev sw = is_switch (w, link.b) ? link.b : link.a, nic = is_switch (w, link.b) ? link.a : link.b;
    if (!is_switch (w, sw) || clu_dev_kind (w->clu, nic) != CLU_DEV_NIC)
      continue;
    guint32 node = clu_dev_node (w->clu, nic);
    w->level[sw] = 0;
    if (w->leaf[node] == CLU_NONE)
      w->leaf[node] = sw;
    join (w, w->leaf[node], sw);
  }
  for (gboolean more = TRUE; more; top += more ? 1 : 0) {
    more = FALSE;
    for (CluLinkId id = 0; id < clu_n_links (w->clu); id++) {
      CluLink link;
      clu_link (w->clu, id, &link);
      if (!is_switch (w, link.a) || !is_switch (w, link.b))
        continue;
      CluDev low = w->level[link.a] == top ? link.a : link.b, high = low == link.a ? link.b : link.a;
      if (w->level[low] != top || w->level[high] != CLU_NONE)
        continue;
      w->level[high] = top + 1;
      more = TRUE;
    }
  }
  return top;
}

static void
append_line (Writer *w, const char *name, const char *kind, const char *members)
{
  if (w->how->yaml)
    g_string_append_printf (w->out, "      - switch: %s\n        %s: \"%s\"\n", name,
                            g_str_equal (kind, "Nodes") ? "nodes" : "children", members);
  else
    g_string_append_printf (w->out, "SwitchName=%s %s=%s\n", name, kind, members);
}

/* The name of the only switch of a level in a component, where the fabric's switches have names that Slurm can write; NULL.
 * Returned: full. */
static char *
own_name (Writer *w, guint32 root, guint32 level)
{
  static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-";
  CluDev only = CLU_NONE;
  if (clu_spec (w->clu)->fabric.kind.v != CLU_FABRIC_CUSTOM)
    return NULL;
  for (CluDev dev = 0; dev < clu_n_devices (w->clu); dev++) {
    if (w->level[dev] != level || first_of (w, dev) != root)
      continue;
    if (only != CLU_NONE)
      return NULL;
    only = dev;
  }
  g_autofree char *name = only != CLU_NONE ? clu_dev_name (w->clu, only) : NULL;
  gboolean good = name != NULL && strspn (name, plain) == strlen (name) && strlen (name) <= MOST_NAME;
  return good && g_hash_table_add (w->taken, g_strdup (name)) ? g_steal_pointer (&name) : NULL;
}

/* NAME0, NAME1 …, other than all switches' names. Returned: full. */
static char *
new_name (Writer *w, const char *name, guint32 number)
{
  g_autofree char *text = g_strdup_printf ("%s%u", name, number);
  while (!g_hash_table_add (w->taken, g_strdup (text))) {
    char *longer = g_strconcat (text, "_", NULL);
    g_free (text);
    text = longer;
  }
  return g_steal_pointer (&text);
}

/* One level of Slurm's tree: `member[i]` of components, in order of their first, as their own names or NAME0, NAME1 …. Replaces
 * *names and *roots (the first device of each) by those of the level. */
static void
append_level (Writer *w, guint32 level, const char *name, const char *kind, GPtrArray **names, GArray **roots)
{
  GPtrArray *own = g_ptr_array_new_with_free_func (g_free);
  GArray *firsts = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *place = g_new (guint32, clu_n_devices (w->clu));
  for (guint32 i = 0; i < clu_n_devices (w->clu); i++)
    place[i] = CLU_NONE;
  g_autoptr (GPtrArray) members = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; i < (*roots)->len; i++) {
    guint32 root = first_of (w, g_array_index (*roots, guint32, i));
    if (place[root] == CLU_NONE) {
      place[root] = firsts->len;
      g_array_append_val (firsts, root);
      char *given = own_name (w, root, level);
      g_ptr_array_add (own, given != NULL ? given : new_name (w, name, firsts->len - 1));
      g_ptr_array_add (members, g_ptr_array_new ());
    }
    g_ptr_array_add (members->pdata[place[root]], (*names)->pdata[i]);
  }
  for (guint i = 0; i < own->len; i++) {
    GPtrArray *of = members->pdata[i];
    g_autofree char *text = clu_hostlist_join (of, 0, of->len);
    append_line (w, own->pdata[i], kind, text);
  }
  g_ptr_array_unref (*names);
  g_array_unref (*roots);
  *names = own;
  *roots = firsts;
}

/* How many components the roots are in. */
static guint
count_components (Writer *w, const GArray *roots)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < roots->len; i++)
    g_hash_table_add (seen, GUINT_TO_POINTER (first_of (w, g_array_index (roots, guint32, i)) + 1));
  return g_hash_table_size (seen);
}

static gboolean
write_tree (Writer *w, GError **error)
{
  guint32 top = measure (w);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GArray *roots = g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean whole = TRUE;
  for (guint32 node = 0; node < clu_n_nodes (w->clu) && whole; node++) {
    whole = w->leaf[node] != CLU_NONE;
    g_ptr_array_add (names, g_strdup (w->how->hosts->pdata[node]));
    g_array_append_val (roots, w->leaf[node]);
  }
  if (whole) {
    append_level (w, 0, "leaf", "Nodes", &names, &roots);
    guint n_above = 0;
    for (guint32 level = 0; level <= top; level++) {
      for (CluLinkId id = 0; id < clu_n_links (w->clu); id++) {
        CluLink link;
        clu_link (w->clu, id, &link);
        if (is_switch (w, link.a) && is_switch (w, link.b) && MAX (w->level[link.a], w->level[link.b]) == level)
          join (w, link.a, link.b);
      }
      if (count_components (w, roots) == roots->len)
        continue;
      g_autofree char *name = n_above == 0 ? g_strdup ("spine") : g_strdup_printf ("core%u_", n_above);
      append_level (w, level, name, "Switches", &names, &roots);
      n_above++;
    }
  } else {
    base_fail (error, BASE_ERROR_INPUT, "%s: not all nodes hang on a fabric with switches, and Slurm's tree is one of switches",
               clu_name (w->clu));
  }
  g_ptr_array_unref (names);
  g_array_unref (roots);
  return whole;
}

static gboolean
write_blocks (Writer *w, GError **error)
{
  guint32 n = clu_n_nodes (w->clu), largest = 0, smallest = n;
  g_autoptr (GString) lines = g_string_new (NULL);
  for (guint32 from = 0, end, block = 0; from < n; from = end, block++) {
    for (end = from + 1; end < n && clu_domain_of_node (w->clu, end) == clu_domain_of_node (w->clu, from);)
      end++;
    largest = MAX (largest, end - from);
    smallest = MIN (smallest, end - from); /* Slurm: no block has less than the base size */
    g_autofree char *text = clu_hostlist_join (w->how->hosts, from, end - from);
    g_string_append_printf (
        lines, w->how->yaml ? "      - block: block%u\n        nodes: \"%s\"\n" : "BlockName=block%u Nodes=%s\n", block, text);
  }
  if (largest < 2) {
    base_fail (error, BASE_ERROR_INPUT,
               "%s: no NVLink domain is wider than a node, and blocks are such domains; --plugin tree tells the switches",
               clu_name (w->clu));
    return FALSE;
  }
  if (w->how->yaml)
    g_string_append_printf (w->out, "    block_sizes: [%u]\n    blocks:\n", smallest);
  g_string_append (w->out, lines->str);
  if (!w->how->yaml)
    g_string_append_printf (w->out, "BlockSizes=%u\n", smallest);
  return TRUE;
}

gboolean
rep_slurm (const Clu *clu, const RepSlurm *how, GString *out, GError **error)
{
  g_return_val_if_fail (how->hosts->len == clu_n_nodes (clu), FALSE);
  guint32 n = clu_n_devices (clu);
  g_autofree guint32 *joined = g_new (guint32, n), *level = g_new (guint32, n), *leaf = g_new (guint32, clu_n_nodes (clu) + 1);
  for (guint32 i = 0; i < n; i++) {
    joined[i] = i;
    level[i] = CLU_NONE;
  }
  for (guint32 i = 0; i < clu_n_nodes (clu); i++)
    leaf[i] = CLU_NONE;
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Writer w = { clu, how, out, joined, level, leaf, taken };
  g_autofree char *name = g_strdup (clu_name (clu));
  g_strdelimit (name, " \t\r\n\"'\\#:{}[],", '_');
  g_string_append_printf (out, "# %s for Slurm's topology/%s, made by forerun %s\n", name, how->block ? "block" : "tree",
                          how->version);
  if (how->yaml)
    g_string_append_printf (out, "- topology: %s\n  cluster_default: true\n  %s:\n%s", name, how->block ? "block" : "tree",
                            how->block ? "" : "    switches:\n");
  return how->block ? write_blocks (&w, error) : write_tree (&w, error);
}
