/* Graphviz: `forerun topo hgx_h200 --dot | dot -Tsvg`. Cables side by side are one line. Of a cluster of more than two nodes one of
 * each kind is drawn in full; the others are boxes, those of one kind and place together. Where there are many switches, those
 * that are alike are one: alike is what has the same kind and as many of the same cables to neighbours that are alike, refined
 * until it is stable (Weisfeiler and Leman's colours). */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "cluster/hostlist.h"
#include "json-private.h"
#include "report/topo.h"

enum {
  MOST_WHOLE = 2,     /* nodes that are all drawn in full */
  MOST_SWITCHES = 16, /* and switches */
  MOST_PLACES = 8,    /* groups of nodes that are distinguished by where they are attached */
  ROUNDS = 8,
  MOST_LABEL = 48, /* characters of a list of names */
};

typedef struct {
  const Clu *clu;
  GString *out;
  CluDev *drawn;  /* by device: what stands for it */
  guint32 *group; /* by node */
  guint32 n_groups;
  gboolean *whole; /* by node: drawn in full */
} Drawing;

/* Okabe and Ito's palette, which colour-blind readers tell apart (Color Universal Design, 2008). */
static const struct {
  const char *shape, *colour;
} looks[CLU_DEV_N] = {
  [CLU_DEV_GPU] = { "box", "#009E73" },
  [CLU_DEV_NVSWITCH] = { "hexagon", "#56B4E9" },
  [CLU_DEV_PCIE_SWITCH] = { "diamond", "#F0E442" },
  [CLU_DEV_SOCKET] = { "box", "#E69F00" },
  [CLU_DEV_MEMORY] = { "cylinder", "#CCCCCC" },
  [CLU_DEV_NIC] = { "ellipse", "#CC79A7" },
  [CLU_DEV_NVME] = { "cylinder", "#D55E00" },
  [CLU_DEV_SWITCH] = { "hexagon", "#0072B2" },
  [CLU_DEV_FRONTEND_NIC] = { "ellipse", "#CCCCCC" },
  [CLU_DEV_MANAGEMENT_NIC] = { "ellipse", "#EEEEEE" },
  [CLU_DEV_STORAGE] = { "cylinder", "#D55E00" },
};

static void
append_quoted (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_c (out, '\\');
    if (*c == '\n')
      g_string_append (out, "\\n");
    else
      g_string_append_c (out, *c);
  }
  g_string_append_c (out, '"');
}

/* ---- what stands for what ---- */

/* Nodes of one kind, place and NVLink domain; those of one kind alone where there are many places. */
static void
group_nodes (Drawing *d)
{
  guint32 n = clu_n_nodes (d->clu);
  gboolean wide = n > 1 && clu_domain_of_node (d->clu, 1) == clu_domain_of_node (d->clu, 0);
  for (int by_place = 1; by_place >= 0; by_place--) {
    g_autoptr (GHashTable) found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    d->n_groups = 0;
    for (guint32 node = 0; node < n; node++) {
      char *key = g_strdup_printf ("%u %u %u", clu_kind_of_node (d->clu, node), by_place ? clu_node_place (d->clu, node) : 0,
                                   by_place && wide ? clu_domain_of_node (d->clu, node) : 0);
      gpointer old = g_hash_table_lookup (found, key);
      d->group[node] = old != NULL ? GPOINTER_TO_UINT (old) - 1 : d->n_groups++;
      g_hash_table_insert (found, key, GUINT_TO_POINTER (d->group[node] + 1));
    }
    if (d->n_groups <= MOST_PLACES)
      return;
  }
}

/* A colour a device outside of nodes: alike ones have the same. Returned: full. */
static guint64 *
colour_devices (const Drawing *d)
{
  guint32 n = clu_n_devices (d->clu);
  guint64 *colour = g_new0 (guint64, n);
  g_autofree guint64 *next = g_new0 (guint64, n);
  for (CluDev dev = 0; dev < n; dev++) {
    guint32 node = clu_dev_node (d->clu, dev);
    colour[dev] =
        base_hash_mix (1 + (guint64)clu_dev_kind (d->clu, dev) + (node != CLU_NONE ? (guint64)(d->group[node] + 1) << 16 : 0));
  }
  for (int round = 0; round < ROUNDS; round++) {
    memcpy (next, colour, n * sizeof *next);
    for (CluLinkId id = 0; id < clu_n_links (d->clu); id++) {
      CluLink link;
      clu_link (d->clu, id, &link);
      guint64 cable = base_hash_mix ((guint64)link.rate_Bps);
      if (clu_dev_node (d->clu, link.a) == CLU_NONE)
        next[link.a] += base_hash_mix (colour[link.b] ^ cable);
      if (clu_dev_node (d->clu, link.b) == CLU_NONE)
        next[link.b] += base_hash_mix (colour[link.a] ^ cable);
    }
    for (CluDev dev = 0; dev < n; dev++)
      colour[dev] = clu_dev_node (d->clu, dev) == CLU_NONE ? base_hash_mix (next[dev]) : colour[dev];
  }
  return colour;
}

static void
fold_switches (Drawing *d)
{
  guint32 n = clu_n_devices (d->clu), switches = 0;
  for (CluDev dev = 0; dev < n; dev++)
    switches += clu_dev_node (d->clu, dev) == CLU_NONE ? 1 : 0;
  if (switches <= MOST_SWITCHES)
    return;
  g_autofree guint64 *colour = colour_devices (d);
  g_autoptr (GHashTable) first = g_hash_table_new (g_int64_hash, g_int64_equal);
  for (CluDev dev = 0; dev < n; dev++) {
    if (clu_dev_node (d->clu, dev) != CLU_NONE)
      continue;
    gpointer old = g_hash_table_lookup (first, &colour[dev]);
    if (old == NULL)
      g_hash_table_insert (first, &colour[dev], GUINT_TO_POINTER (dev + 1));
    d->drawn[dev] = old != NULL ? GPOINTER_TO_UINT (old) - 1 : dev;
  }
}

static void
fold_nodes (Drawing *d)
{
  guint32 n = clu_n_devices (d->clu), kinds = clu_n_kinds (d->clu);
  g_autofree gboolean *seen = g_new0 (gboolean, kinds);
  g_autofree CluDev *box = g_new (CluDev, d->n_groups);
  for (guint32 g = 0; g < d->n_groups; g++)
    box[g] = CLU_NONE;
  for (guint32 node = 0; node < clu_n_nodes (d->clu); node++) {
    guint32 kind = clu_kind_of_node (d->clu, node);
    d->whole[node] = !seen[kind];
    seen[kind] = TRUE;
  }
  for (CluDev dev = 0; dev < n; dev++) {
    guint32 node = clu_dev_node (d->clu, dev);
    if (node == CLU_NONE || d->whole[node])
      continue;
    CluDev *of = &box[d->group[node]];
    *of = *of != CLU_NONE ? *of : dev; /* the first device of the first node stands for them all */
    d->drawn[dev] = *of;
  }
}

/* ---- boxes ---- */

/* "node[1-31]", at most so long. Returned: full. */
static char *
listed (const GPtrArray *names)
{
  g_autofree char *all = clu_hostlist_join (names, 0, names->len);
  if (g_utf8_strlen (all, -1) <= MOST_LABEL)
    return g_steal_pointer (&all);
  return g_strdup_printf ("%s to %s", (const char *)names->pdata[0], (const char *)names->pdata[names->len - 1]);
}

static void
append_box (Drawing *d, const char *indent, CluDev dev, const char *label, const char *shape, const char *colour, const char *more)
{
  g_string_append_printf (d->out, "%sd%u [label=", indent, dev);
  append_quoted (d->out, label);
  g_string_append_printf (d->out, ", shape=%s, fillcolor=\"%s\"%s];\n", shape, colour, more);
}

static void
append_whole (Drawing *d, guint32 node, CluDev from, CluDev to)
{
  g_string_append_printf (d->out, "  subgraph cluster_node%u {\n    label=\"node%u\";\n", node, node);
  for (CluDev dev = from; dev < to; dev++) {
    CluDevKind kind = clu_dev_kind (d->clu, dev);
    g_autofree char *name = clu_dev_name (d->clu, dev);
    const char *own = strchr (name, '.'); /* the box says which node */
    append_box (d, "    ", dev, own != NULL ? own + 1 : name, looks[kind].shape, looks[kind].colour, "");
  }
  g_string_append (d->out, "  }\n");
}

/* All nodes whose devices one stands for. */
static void
append_group (Drawing *d, CluDev dev)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  guint32 group = d->group[clu_dev_node (d->clu, dev)], like = CLU_NONE,
          kind = clu_kind_of_node (d->clu, clu_dev_node (d->clu, dev));
  for (guint32 node = 0; node < clu_n_nodes (d->clu); node++) {
    if (d->whole[node] && clu_kind_of_node (d->clu, node) == kind)
      like = node;
    if (!d->whole[node] && d->group[node] == group)
      g_ptr_array_add (names, g_strdup_printf ("node%u", node));
  }
  g_autofree char *list = listed (names);
  g_autofree char *label = g_strdup_printf ("%s\n%u node%s like node%u", list, names->len, names->len == 1 ? "" : "s", like);
  append_box (d, "  ", dev, label, "box3d", "#EEEEEE", "");
}

static void
append_outer (Drawing *d, CluDev dev)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  CluDevKind kind = clu_dev_kind (d->clu, dev);
  for (CluDev other = dev; other < clu_n_devices (d->clu); other++)
    if (d->drawn[other] == dev)
      g_ptr_array_add (names, clu_dev_name (d->clu, other));
  g_autofree char *list = listed (names);
  g_autofree char *label = names->len > 1 ? g_strdup_printf ("%s\n%u alike", list, names->len) : g_strdup (list);
  append_box (d, "  ", dev, label, looks[kind].shape, looks[kind].colour,
              kind == CLU_DEV_SWITCH ? ", fontcolor=white" : ""); /* on dark blue */
}

/* ---- lines ---- */

/* From the host outwards, which is how the picture runs. */
static int
rank_of (CluDevKind kind)
{
  static const int ranks[CLU_DEV_N] = {
    [CLU_DEV_SOCKET] = 1, [CLU_DEV_PCIE_SWITCH] = 2,  [CLU_DEV_GPU] = 3,      [CLU_DEV_NIC] = 3,
    [CLU_DEV_NVME] = 3,   [CLU_DEV_FRONTEND_NIC] = 3, [CLU_DEV_NVSWITCH] = 4, [CLU_DEV_MANAGEMENT_NIC] = 3,
    [CLU_DEV_SWITCH] = 4, [CLU_DEV_STORAGE] = 5
  };
  return ranks[kind];
}

typedef struct {
  CluDev a, b;
  guint cable, count;
} Line;

/* Number of the text among `cables` (char *, owned), where it is put if it is new. */
static guint
cable_of (GPtrArray *cables, char *text)
{
  guint at = 0;
  if (g_ptr_array_find_with_equal_func (cables, text, g_str_equal, &at)) {
    g_free (text);
    return at;
  }
  g_ptr_array_add (cables, text);
  return cables->len - 1;
}

static const char *
cable_colour (guint cable)
{
  static const char *const colours[] = { "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#888888" };
  return colours[cable % G_N_ELEMENTS (colours)];
}

static GArray *
find_lines (Drawing *d, GPtrArray *cables)
{
  g_autoptr (GHashTable) found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (Line));
  for (CluLinkId id = 0; id < clu_n_links (d->clu); id++) {
    CluLink link;
    clu_link (d->clu, id, &link);
    CluDev a = d->drawn[link.a], b = d->drawn[link.b];
    if (a == b)
      continue;
    if (rank_of (clu_dev_kind (d->clu, link.a)) > rank_of (clu_dev_kind (d->clu, link.b))) {
      CluDev swap = a;
      a = b;
      b = swap;
    }
    g_autofree char *rate = rep_quantity (link.rate_Bps, BASE_DIM_BANDWIDTH);
    guint cable = cable_of (cables, g_strdup_printf ("%s %s", clu_resource_class (d->clu, link.forward), rate));
    char *key = g_strdup_printf ("%u %u %u", a, b, cable);
    gpointer old = g_hash_table_lookup (found, key);
    if (old != NULL) {
      g_array_index (lines, Line, GPOINTER_TO_UINT (old) - 1).count++;
      g_free (key);
      continue;
    }
    Line line = { a, b, cable, 1 };
    g_array_append_val (lines, line);
    g_hash_table_insert (found, key, GUINT_TO_POINTER (lines->len));
  }
  return lines;
}

/* Colours say which cable a line is, and a table says which colour: text on each would take the room of the picture. */
static void
append_lines (Drawing *d)
{
  g_autoptr (GPtrArray) cables = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) lines = find_lines (d, cables);
  for (guint i = 0; i < lines->len; i++) {
    const Line *line = &g_array_index (lines, Line, i);
    g_string_append_printf (d->out, "  d%u -- d%u [color=\"%s\", tooltip=", line->a, line->b, cable_colour (line->cable));
    append_quoted (d->out, cables->pdata[line->cable]);
    if (line->count > 1)
      g_string_append_printf (d->out, ", label=\"%u x\", penwidth=%.1f", line->count,
                              fmin (1.5 + log2 ((double)line->count) / 2, 6));
    if (clu_dev_kind (d->clu, line->a) == CLU_DEV_SOCKET && clu_dev_kind (d->clu, line->b) == CLU_DEV_SOCKET)
      g_string_append (d->out, ", constraint=false"); /* side by side */
    g_string_append (d->out, "];\n");
  }
  if (cables->len == 0)
    return;
  g_string_append (d->out, "  cables [shape=plaintext, fillcolor=\"#FFFFFF\", label=<<table border=\"0\" cellspacing=\"2\">\n");
  for (guint i = 0; i < cables->len; i++) {
    g_autofree char *text = g_markup_escape_text (cables->pdata[i], -1);
    g_string_append_printf (d->out,
                            "    <tr><td width=\"30\" height=\"6\" fixedsize=\"true\" bgcolor=\"%s\"></td>"
                            "<td align=\"left\">%s</td></tr>\n",
                            cable_colour (i), text);
  }
  g_string_append (d->out, "  </table>>];\n");
}

/* A host's memory has no link, its rate is its own: shown beside its socket. */
static void
append_memories (Drawing *d)
{
  for (guint32 node = 0; node < clu_n_nodes (d->clu); node++)
    for (guint32 i = 0; d->whole[node] && i < clu_node_n (d->clu, node, CLU_DEV_MEMORY); i++) {
      CluDev memory = clu_node_device (d->clu, node, CLU_DEV_MEMORY, i), socket = clu_node_device (d->clu, node, CLU_DEV_SOCKET, i);
      if (socket != CLU_NONE)
        g_string_append_printf (d->out, "  d%u -- d%u [style=dotted];\n", memory, socket);
    }
}

void
rep_topo_dot (const Clu *clu, gboolean fold, GString *out)
{
  guint32 n = clu_n_devices (clu), nodes = clu_n_nodes (clu);
  g_autofree CluDev *drawn = g_new (CluDev, n);
  g_autofree guint32 *group = g_new0 (guint32, nodes);
  g_autofree gboolean *whole = g_new (gboolean, nodes);
  Drawing d = { clu, out, drawn, group, 0, whole };
  for (CluDev dev = 0; dev < n; dev++)
    drawn[dev] = dev;
  for (guint32 node = 0; node < nodes; node++)
    whole[node] = TRUE;
  if (fold && nodes > MOST_WHOLE) {
    group_nodes (&d);
    fold_nodes (&d);
  }
  if (fold)
    fold_switches (&d);
  g_string_append (out, "graph ");
  append_quoted (out, clu_name (clu));
  g_string_append (out, " {\n  graph [fontname=\"sans-serif\", rankdir=LR, nodesep=0.1, ranksep=0.9];\n  node [style=filled, "
                        "fontname=\"sans-serif\"];\n"
                        "  edge [fontname=\"sans-serif\", fontsize=9];\n");
  /* A node's devices are consecutive. */
  for (CluDev dev = 0, end; dev < n; dev = end) {
    guint32 node = clu_dev_node (clu, dev);
    for (end = dev + 1; node != CLU_NONE && end < n && clu_dev_node (clu, end) == node;)
      end++;
    if (node != CLU_NONE && whole[node])
      append_whole (&d, node, dev, end);
    else if (drawn[dev] == dev && node != CLU_NONE)
      append_group (&d, dev);
    else if (drawn[dev] == dev)
      append_outer (&d, dev);
  }
  append_lines (&d);
  append_memories (&d);
  g_string_append (out, "}\n");
}
