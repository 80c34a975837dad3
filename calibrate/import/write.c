/* A calibration file from what NCCL told. */
#include <string.h>

#include "import/import-private.h"

static const char *const graph_names[CAL_GRAPH_N] = { "ring", "tree", "nvls", "collnet_direct", "collnet_chain" };

CalGraphKind
cal_graph_of (unsigned pattern, const CalGraph *known)
{
  switch (pattern) {
    case 1: /* BALANCED_TREE */
    case 2: /* SPLIT_TREE */
      return CAL_GRAPH_TREE;
    case 3: /* TREE: a fallback of the tree's, and CollNet's chain */
      return known[CAL_GRAPH_TREE].set ? CAL_GRAPH_CHAIN : CAL_GRAPH_TREE;
    case 4:
      return CAL_GRAPH_RING;
    case 5:
      return CAL_GRAPH_NVLS;
    case 6:
      return CAL_GRAPH_DIRECT;
    default:
      return CAL_GRAPH_N;
  }
}

const char *
cal_path_of (const char *text)
{
  const char *name = strcmp (text, "XGMI") == 0 ? "NVL" : text; /* ROCm/rccl, src/graph/topo.cc: topoPathTypeStr */
  for (MdlPath path = 0; path < MDL_PATH_N; path++)
    if (strcmp (name, mdl_path_name (path)) == 0)
      return mdl_path_name (path);
  return NULL;
}

static void
write_graph (GString *out, const char *name, const CalGraph *graph)
{
  char intra[G_ASCII_DTOSTR_BUF_SIZE], inter[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (out, "    %s: {channels: %u, intra: %s GB/s, inter: %s GB/s, path_intra: %s, path_inter: %s, same: %s}\n",
                          name, graph->channels, g_ascii_formatd (intra, sizeof intra, "%.10g", graph->intra_GBps),
                          g_ascii_formatd (inter, sizeof inter, "%.10g", graph->inter_GBps), graph->intra, graph->inter,
                          graph->same ? "yes" : "no");
}

char *
cal_import_write (const CalFound *found, const char *kind, const char *name, const char *over)
{
  GString *out = g_string_new (NULL);
  g_string_append_printf (out,
                          "# From %s: the channels that NCCL's graph search found. They stand in place of those that forerun finds "
                          "where\n# as many GPUs of a node%s take part; all other constants are those of %s.\n",
                          kind, found->nodes > 0 ? " and as many nodes" : "", over);
  g_string_append_printf (out, "calibration: %s\nsummary: %s over what NCCL%s%s found on %u GPUs", name, over,
                          *found->version != '\0' ? " " : "", found->version, found->gpus);
  if (found->nodes > 1)
    g_string_append_printf (out, " of each of %u nodes", found->nodes);
  g_string_append_printf (out, "\nover: %s\n", over);
  if (*found->version != '\0')
    g_string_append_printf (out, "nccl: %s\n", found->version);
  g_string_append (out, "source: measured\nlibrary:\n");
  if (found->coll_channels > 0 || found->p2p_channels > 0)
    g_string_append (out, "  channels:\n");
  if (found->coll_channels > 0 && strcmp (found->graph[CAL_GRAPH_RING].intra, "NVL") == 0)
    g_string_append_printf (out, "    scale_up: [{capability: 0, one_node: %u, nodes: %u}]\n", found->coll_channels,
                            found->coll_channels);
  else if (found->coll_channels > 0)
    g_string_append_printf (out, "    pcie: %u\n    host: %u\n", found->coll_channels, found->coll_channels);
  if (found->p2p_channels > 0)
    g_string_append_printf (out, "    p2p: %u\n", found->p2p_channels);
  g_string_append_printf (out, "  graphs:\n    gpus: %u\n", found->gpus);
  if (found->nodes > 0)
    g_string_append_printf (out, "    nodes: %u\n", found->nodes);
  for (int g = 0; g < CAL_GRAPH_N; g++)
    if (found->graph[g].set && found->graph[g].channels > 0)
      write_graph (out, graph_names[g], &found->graph[g]);
  return g_string_free (out, FALSE);
}
