/* Cores that communication keeps busy, and what too few of them cost.
 *
 *     proxies: one thread of each GPU that reaches the network polls while its operation runs: a core each
 *     TCP:     a core copies `core` B/s, what is sent and what is received; a proxy copies itself, so that the greater counts
 *     too few: c cores for p proxies of a node: a message waits (p/c - 1) turns; TCP moves c x core B/s, and RDMA
 *              c x slot / (post + turn) B/s, sent and received together
 *
 * Source: NCCL src/proxy.cc:ncclProxyProgress (it polls as long as operations are under way), src/transport/net_socket.cc;
 * constants in calibrate/defaults/library.yaml `cpu` and links.yaml `tcp`. Valid: equal nodes. Check:
 * test_models_pairs, case 56. */
#include <math.h>
#include <string.h>

#include "cluster/storage.h"
#include "collective/net.h"
#include "comm-private.h"

/* Whether bytes on the resource enter or leave a node by an adapter: *nic. */
static gboolean
is_port (const Clu *clu, CluRes res, CluDev *nic)
{
  CluDev from, to;
  if (!clu_resource_ends (clu, res, &from, &to) || clu_resource_is_both_ways (clu, res) ||
      clu_resource_family (clu, res) == CLU_FAMILY_PCIE)
    return FALSE;
  gboolean out = clu_dev_kind (clu, from) == CLU_DEV_NIC, in = clu_dev_kind (clu, to) == CLU_DEV_NIC;
  *nic = out ? from : to;
  return out != in;
}

double
col_system_cores (const ColSystem *system, guint32 node)
{
  double has = clu_node_cores (system->clu, node), may = system->settings.cores;
  return may <= 0 ? has : has <= 0 ? may : fmin (has, may);
}

/* Cores of a node that the settings leave to the library's threads; 0: all. */
static double
cores_left (const ColSettings *settings)
{
  return settings->one_core && !settings->ignore_affinity ? 1 : settings->cores;
}

double
col_comm_cores (const ColComm *comm)
{
  double cores = cores_left (comm->settings);
  return comm->n_islands > 1 && cores < comm->max_local ? cores : 0;
}

void
col_comm_wait_cpu (const ColComm *comm, MdlCollQuestion *question)
{
  double cores = col_comm_cores (comm);
  if (cores > 0 && comm->settings->library != NULL)
    question->proxy_wait_s = (comm->max_local / cores - 1) * mdl_library_cpu (comm->settings->library).turn_s;
}

void
col_comm_limit_cpu (ColComm *comm, ColTraffic *traffic, MdlCollQuestion *question)
{
  double cores = col_comm_cores (comm);
  if (comm->settings->library == NULL || comm->n_islands < 2)
    return;
  /* TCP needs many cores: also those that a container leaves may be too few */
  if (cores <= 0 && question->inter == MDL_HOP_TCP)
    cores = comm->settings->cores;
  if (cores <= 0)
    return;
  if (traffic->node_load <= 0) {
    g_autoptr (GArray) loads = col_spread_loads (traffic->spread);
    for (guint i = 0; i < loads->len; i++) {
      const ColLoad *load = &g_array_index (loads, ColLoad, i);
      CluDev nic;
      if (is_port (comm->clu, load->res, &nic))
        traffic->node_load += load->load * load->n / comm->n_nodes;
    }
  }
  const MdlHostThreads cpu = mdl_library_cpu (comm->settings->library);
  double core_Bps = question->inter == MDL_HOP_TCP ? cpu.core_Bps : cpu.post_B / cpu.post_s;
  question->cpu_Bps = traffic->node_load > 0 && core_Bps > 0 ? cores * core_Bps / traffic->node_load : 0;
}

void
col_run_cpu (ColRunInfo *info, const char *use, double cores)
{
  if (!(cores > 0) || !isfinite (cores))
    return;
  const ColCpuUse row = { use, cores };
  g_array_append_val (info->cpu, row);
  info->cpu_cores += cores;
}

/* As a sentence has it. */
static const char *
name_of (const char *use)
{
  return strcmp (use, COL_CPU_LOADER) == 0 ? "the data loader" : use;
}

void
col_run_diagnose (ColRunInfo *info, double idle, const char *starved_by)
{
  static const double MUCH = 0.2; /* of the time, below which nobody would look for a reason */
  const ColCpuUse *most = NULL;
  for (guint i = 0; i < info->cpu->len; i++) {
    const ColCpuUse *use = &g_array_index (info->cpu, ColCpuUse, i);
    most = most == NULL || use->cores > most->cores ? use : most;
  }
  if (most == NULL || idle < MUCH || info->diagnosis != NULL)
    return;
  const char *why = NULL;
  if (strcmp (most->use, COL_CPU_TCP) == 0)
    why = "The network is TCP, not RDMA: look for devices that a container lacks, NCCL_IB_DISABLE, or the wrong interface";
  else if (g_strcmp0 (starved_by, "cores") == 0 || g_strcmp0 (starved_by, "workers") == 0)
    why = "The loader decodes too slowly: more workers and cores, or decoding on the GPU";
  if (why != NULL)
    info->diagnosis = idle < 1
                          ? g_strdup_printf ("GPUs are idle for %.0f %% of the time while %.3g cores of a node are busy "
                                             "with %s. %s.",
                                             idle * 100, most->cores, name_of (most->use), why)
                          : g_strdup_printf ("%.3g cores of a node are busy with %s. %s.", most->cores, name_of (most->use), why);
}

void
col_run_network_cpu (ColRunInfo *info, const ColSystem *system, const ColNetworkUse *use)
{
  if (use->time_s <= 0 || system->settings.library == NULL)
    return;
  const GArray *resources = col_net_resources (use->net);
  double bytes = 0, core_Bps = mdl_library_cpu (system->settings.library).core_Bps;
  double may = cores_left (&system->settings);
  double polling = (may > 0 ? fmin (use->proxies, may) : use->proxies) * fmin (use->proxy_s / use->time_s, 1);
  g_autoptr (GHashTable) nodes = g_hash_table_new (NULL, NULL);
  for (guint i = 0; use->tcp && i < resources->len; i++) {
    CluDev nic;
    if (!is_port (system->clu, g_array_index (resources, CluRes, i), &nic))
      continue;
    bytes += col_net_counted (use->net, i).bytes * col_net_counted (use->net, i).n;
    g_hash_table_add (nodes, GUINT_TO_POINTER (clu_dev_node (system->clu, nic) + 1u));
  }
  double n_nodes = use->nodes > 0 ? use->nodes : g_hash_table_size (nodes);
  double copying = core_Bps > 0 && n_nodes > 0 ? bytes / n_nodes / use->time_s / core_Bps : 0;
  col_run_cpu (info, use->tcp ? COL_CPU_TCP : COL_CPU_PROXIES, fmax (copying, polling));
}
