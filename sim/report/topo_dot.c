/* Graphviz: `forerun topo hgx_h200 --dot | dot -Tsvg`. */
#include "json-private.h"
#include "report/topo.h"

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
    g_string_append_c (out, *c);
  }
  g_string_append_c (out, '"');
}

static void
append_device (const Clu *clu, CluDev dev, const char *indent, GString *out)
{
  CluDevKind kind = clu_dev_kind (clu, dev);
  g_autofree char *name = clu_dev_name (clu, dev);
  g_string_append_printf (out, "%sd%u [label=", indent, dev);
  append_quoted (out, name);
  g_string_append_printf (out, ", shape=%s, fillcolor=\"%s\"];\n", looks[kind].shape, looks[kind].colour);
}

/* A host's memory has no link, its rate is its own: shown beside its socket. */
static void
append_memories (const Clu *clu, GString *out)
{
  for (guint32 node = 0; node < clu_n_nodes (clu); node++)
    for (guint32 i = 0; i < clu_node_n (clu, node, CLU_DEV_MEMORY); i++) {
      CluDev memory = clu_node_device (clu, node, CLU_DEV_MEMORY, i), socket = clu_node_device (clu, node, CLU_DEV_SOCKET, i);
      if (socket != CLU_NONE)
        g_string_append_printf (out, "  d%u -- d%u [style=dotted];\n", socket, memory);
    }
}

void
rep_topo_dot (const Clu *clu, GString *out)
{
  g_string_append (out, "graph ");
  append_quoted (out, clu_name (clu));
  g_string_append (out, " {\n  node [style=filled, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=9];\n");
  guint32 n = clu_n_devices (clu), open = CLU_NONE;
  /* A node's devices are consecutive. */
  for (CluDev dev = 0; dev < n; dev++) {
    guint32 node = clu_dev_node (clu, dev);
    if (node != open && open != CLU_NONE)
      g_string_append (out, "  }\n");
    if (node != open && node != CLU_NONE)
      g_string_append_printf (out, "  subgraph cluster_node%u {\n    label=\"node%u\";\n", node, node);
    open = node;
    append_device (clu, dev, node == CLU_NONE ? "  " : "    ", out);
  }
  if (open != CLU_NONE)
    g_string_append (out, "  }\n");
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    g_autofree char *rate = rep_quantity (link.rate_Bps, BASE_DIM_BANDWIDTH);
    g_autofree char *label = g_strdup_printf ("%s %s", clu_resource_class (clu, link.forward), rate);
    g_string_append_printf (out, "  d%u -- d%u [label=", link.a, link.b);
    append_quoted (out, label);
    g_string_append (out, "];\n");
  }
  append_memories (clu, out);
  g_string_append (out, "}\n");
}
