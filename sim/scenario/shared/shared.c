/* What several kinds of workloads need: files beside the scenario, the memory of a GPU, what a collective asks of its GPUs. */
#include <string.h>

#include "program-private.h"

char *
scn_path_beside (const Scn *scenario, const char *file)
{
  const char *from = base_yaml_path (scenario->yaml);
  if (g_path_is_absolute (file) || from == NULL || g_str_has_prefix (from, "/dev/") || g_str_has_prefix (from, "/proc/"))
    return g_strdup (file);
  g_autofree char *folder = g_path_get_dirname (from);
  return strcmp (folder, ".") == 0 ? g_strdup (file) : g_build_filename (folder, file, NULL);
}

CluDev
scn_host_of (const Clu *clu, CluDev gpu)
{
  const guint32 node = clu_dev_node (clu, gpu), memories = clu_node_n (clu, node, CLU_DEV_MEMORY);
  return clu_node_device (clu, node, CLU_DEV_MEMORY, clu_dev_index (clu, gpu) * memories / clu_gpus_per_node (clu, node));
}

MdlOverlapComm
scn_demand_of (const ColAnswer *coll)
{
  const gboolean pairwise = coll->op == MDL_OP_ALLTOALL || coll->op == MDL_OP_SENDRECV,
                 in_switch = coll->algo == MDL_ALGO_NVLS || coll->algo == MDL_ALGO_NVLS_TREE;
  const MdlOverlapCommKind kind = pairwise ? MDL_OVERLAP_PAIRWISE : in_switch ? MDL_OVERLAP_IN_SWITCH : MDL_OVERLAP_SM;
  const double moving_s = coll->cost.time_s - coll->cost.latency_s;
  return (MdlOverlapComm){ .kind = kind,
                           .channels = coll->cost.channels,
                           .memory_Bps =
                               moving_s > 0 ? mdl_overlap_memory_B (coll->op, kind, coll->size_B, coll->n_ranks) / moving_s : 0 };
}
