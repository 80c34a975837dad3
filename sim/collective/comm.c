#include "collective/comm.h"

#include <math.h>
#include <string.h>

#include "collective/gpu.h"
#include "comm-private.h"

const BaseName col_mode_names[] = {
  { "event", COL_MODE_EVENT, "the event engine, with contention" },
  { "model", COL_MODE_MODEL, "the closed form, no contention between operations" },
  { NULL, 0, NULL },
};
const BaseName col_steps_names[] = {
  { "fluid", COL_STEPS_FLUID, "a collective is one pipelined activity" },
  { "exact", COL_STEPS_EXACT, "every message of every step" },
  { NULL, 0, NULL },
};

void
col_settings_default (ColSettings *settings)
{
  memset (settings, 0, sizeof *settings);
  settings->launch = MDL_LAUNCH_THREADS;
}

guint32
col_off_algos (const ColSettings *settings, MdlOp op)
{
  return settings->disabled_algos | settings->op_off_algos[op];
}

guint32
col_off_protos (const ColSettings *settings, MdlOp op)
{
  return settings->disabled_protos | settings->op_off_protos[op];
}

unsigned
col_min_channels (const ColSettings *settings)
{
  return MAX (settings->min_channels, settings->min_ctas);
}

unsigned
col_max_channels (const ColSettings *settings)
{
  if (settings->max_channels == 0 || settings->max_ctas == 0)
    return MAX (settings->max_channels, settings->max_ctas);
  return MIN (settings->max_channels, settings->max_ctas);
}

unsigned
col_comm_nics (const ColComm *comm, double *each_Bps)
{
  unsigned n = comm->n_islands > 1 ? comm->rings->n_rings : 0;
  *each_Bps = comm->network_Bps;
  if (n <= comm->max_local || comm->settings->library == NULL || !mdl_library_groups (comm->settings->library, comm->network))
    return n;
  *each_Bps *= (double)n / comm->max_local;
  return comm->max_local;
}

gboolean
col_comm_is_switched (const ColComm *comm)
{
  return clu_node_device (comm->clu, comm->slow_node, CLU_DEV_NVSWITCH, 0) != CLU_NONE &&
         (!comm->intra.used || comm->intra.hop == MDL_HOP_NVLINK);
}

gboolean
col_comm_route (const ColComm *comm, guint32 from, guint32 to, guint32 nic, CluRoute *out, GError **error)
{
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade = comm->settings->degrade;
  options.nic = nic;
  options.flow = ((guint64)comm->gpu[from] << 32) | comm->gpu[to];
  return clu_route_find (comm->clu, comm->dev[from], comm->dev[to], &options, out, error) &&
         col_check_shm (comm->clu, comm->settings, out, comm->dev[from], comm->dev[to], error);
}

gboolean
col_comm_first_link (const ColComm *comm, CluLink *link)
{
  CluLinkId id = comm->route.hops->len > 0 ? g_array_index (comm->route.hops, CluHop, 0).link : CLU_NONE;
  if (id != CLU_NONE)
    clu_link (comm->clu, id, link);
  return id != CLU_NONE;
}

const ColRoute *
col_comm_rank_route (const ColComm *comm, guint32 from, guint32 to, guint32 nic, GError **error)
{
  return col_routes_find (comm->routes, &comm->stand[from], &comm->stand[to], nic, error);
}

static void
survey_add (ColHopSurvey *survey, const ColRoute *way, double rate_Bps)
{
  if (!survey->used) {
    *survey = (ColHopSurvey){ TRUE, way->hop, way->latency_s, rate_Bps, way->path };
    return;
  }
  /* hops are listed from the quickest to the slowest: the slowest sets the pace of a ring */
  survey->hop = MAX (survey->hop, way->hop);
  survey->path = MAX (survey->path, way->path);
  survey->latency_s = fmax (survey->latency_s, way->latency_s);
  survey->rate_Bps = fmin (survey->rate_Bps, rate_Bps);
}

/* The network's link class and rate: of the first link that leaves an adapter. */
static void
find_network (ColComm *comm, const CluRoute *route)
{
  for (guint i = 0; i < route->hops->len; i++) {
    const CluHop *hop = &g_array_index (route->hops, CluHop, i);
    if (clu_dev_kind (comm->clu, hop->from) == CLU_DEV_NIC && clu_dev_kind (comm->clu, hop->to) != CLU_DEV_NIC &&
        clu_resource_family (comm->clu, hop->res) != CLU_FAMILY_PCIE) {
      CluLink link;
      clu_link (comm->clu, hop->link, &link);
      comm->network = clu_resource_class (comm->clu, hop->res);
      comm->network_family = clu_resource_family (comm->clu, hop->res);
      comm->network_Bps = link.rate_Bps;
      return;
    }
  }
}

/* Looks at every step that the rings take, so that pricing knows the kinds of hop and their slowest members. */
static gboolean
survey_hops (ColComm *comm, GError **error)
{
  gboolean looked = FALSE; /* at the network's link */
  for (guint32 r = 0; r < comm->rings->n_rings; r++) {
    const CluRing *ring = &comm->rings->ring[r];
    for (guint32 i = 0; i < comm->n; i++) {
      guint32 a = ring->order[i], b = ring->order[(i + 1) % comm->n];
      const ColRoute *way = col_comm_rank_route (comm, a, b, ring->nic_out[i], error);
      if (way == NULL)
        return FALSE;
      survey_add (comm->island[a] == comm->island[b] ? &comm->intra : &comm->inter, way,
                  col_routes_rate (comm->routes, way, &comm->stand[a], &comm->stand[b]));
      if (comm->island[a] == comm->island[b] || looked)
        continue;
      looked = TRUE;
      if (!col_comm_route (comm, a, b, ring->nic_out[i], &comm->route, error))
        return FALSE;
      find_network (comm, &comm->route);
    }
  }
  return TRUE;
}

static void
number_islands (ColComm *comm)
{
  gboolean wide = !comm->settings->degrade.no_p2p && !comm->settings->degrade.no_nvlink && !comm->settings->degrade.host_only;
  g_autoptr (GHashTable) islands = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) nodes = g_hash_table_new (NULL, NULL);
  g_autofree guint32 *members = g_new0 (guint32, comm->n);
  for (guint32 i = 0; i < comm->n; i++) {
    guint32 node = clu_dev_node (comm->clu, comm->dev[i]);
    guint32 place = wide ? clu_domain_of_node (comm->clu, node) : node;
    gpointer key = GUINT_TO_POINTER (place + 1u), known;
    g_hash_table_add (nodes, GUINT_TO_POINTER (node + 1u));
    if (g_hash_table_lookup_extended (islands, key, NULL, &known))
      comm->island[i] = GPOINTER_TO_UINT (known);
    else {
      comm->island[i] = comm->n_islands++;
      g_hash_table_insert (islands, key, GUINT_TO_POINTER (comm->island[i]));
    }
    members[comm->island[i]]++;
    comm->max_local = MAX (comm->max_local, members[comm->island[i]]);
  }
  comm->n_nodes = g_hash_table_size (nodes);
}

static void
traffic_free (gpointer data)
{
  ColTraffic *traffic = data;
  col_spread_unref (traffic->spread);
  g_clear_pointer (&traffic->alike, g_array_unref);
  col_series_free (traffic->series);
  g_free (traffic);
}

ColComm *
col_comm_new (const Clu *clu, const ColSettings *settings, const guint32 *gpus, guint32 n, GError **error)
{
  g_autoptr (ColRoutes) routes = col_routes_new (clu, settings);
  return col_comm_new_on (routes, clu, settings, gpus, n, error);
}

/* Whether the framework that is asked for has kernels that are known. */
static gboolean
check_one_shot (const ColSettings *settings, GError **error)
{
  if (settings->one_shot == NULL || settings->library == NULL)
    return TRUE;
  g_autoptr (GPtrArray) known = mdl_one_shot_frameworks (settings->library);
  for (guint i = 0; i + 1 < known->len; i++)
    if (strcmp (g_ptr_array_index (known, i), settings->one_shot) == 0)
      return TRUE;
  g_autofree char *accepted = base_accepted (settings->one_shot, (const char *const *)known->pdata, NULL);
  return base_fail_at (error, settings->one_shot_mark, "one_shot: unknown framework '%s'%s", settings->one_shot, accepted);
}

/* Likewise the kernel of NCCL_SYM_KERNEL. */
static gboolean
check_symmetric (const ColSettings *settings, GError **error)
{
  if (settings->symmetric_kernel == NULL || settings->library == NULL)
    return TRUE;
  g_autoptr (GPtrArray) known = mdl_symmetric_kernels (settings->library);
  for (guint i = 0; i + 1 < known->len; i++)
    if (strcmp (g_ptr_array_index (known, i), settings->symmetric_kernel) == 0)
      return TRUE;
  g_autofree char *accepted = base_accepted (settings->symmetric_kernel, (const char *const *)known->pdata, NULL);
  return base_fail_at (error, settings->symmetric_mark, "NCCL_SYM_KERNEL: unknown kernel '%s'%s", settings->symmetric_kernel,
                       accepted);
}

ColComm *
col_comm_new_on (ColRoutes *routes, const Clu *clu, const ColSettings *settings, const guint32 *gpus, guint32 n, GError **error)
{
  g_return_val_if_fail (n > 0, NULL);
  if (!check_one_shot (settings, error) || !check_symmetric (settings, error))
    return NULL;
  ColComm *comm = g_new0 (ColComm, 1);
  comm->clu = clu;
  comm->settings = settings;
  comm->n = n;
  comm->gpu = g_memdup2 (gpus, n * sizeof *gpus);
  comm->dev = g_new (CluDev, n);
  comm->routes = col_routes_ref (routes);
  comm->stand = g_new (ColRankPlace, n);
  comm->island = g_new0 (guint32, n);
  comm->traffic = g_ptr_array_new_with_free_func (traffic_free);
  comm->room = g_new0 (ColSharpRoom, 1);
  comm->room->texts = g_string_chunk_new (256);
  clu_route_init (&comm->route);
  for (guint32 i = 0; i < n; i++) {
    comm->stand[i] = col_routes_place (routes, gpus[i]);
    comm->dev[i] = comm->stand[i].dev;
  }
  comm->slow_node = col_gpu_slowest (clu, gpus, n);
  number_islands (comm);
  if (comm->n_nodes == 1 && n > 1) {
    g_autofree guint32 *rank = col_comm_all_ranks (comm);
    comm->torus_steps = col_torus_steps (comm, &(ColRankList){ rank, n }, &comm->torus_wire_s);
  }
  if (n > 1 && (!clu_rings_find (clu, gpus, n, &settings->degrade, &comm->rings, error) || !survey_hops (comm, error))) {
    col_comm_free (comm);
    return NULL;
  }
  return comm;
}

void
col_comm_free (ColComm *comm)
{
  if (comm == NULL)
    return;
  if (comm->rings != NULL)
    clu_rings_free (comm->rings);
  clu_route_clear (&comm->route);
  g_free (comm->tuner);
  g_free (comm->hierarchy.rank);
  g_free (comm->room->why_not);
  g_string_chunk_free (comm->room->texts);
  g_free (comm->room);
  g_ptr_array_unref (comm->traffic);
  g_free (comm->gpu);
  g_free (comm->dev);
  g_free (comm->island);
  g_free (comm->stand);
  col_routes_unref (comm->routes);
  g_free (comm);
}

guint32 *
col_comm_all_ranks (const ColComm *comm)
{
  guint32 *rank = g_new (guint32, comm->n);
  for (guint32 i = 0; i < comm->n; i++)
    rank[i] = i;
  return rank;
}

void
col_comm_record (ColComm *comm, GArray *messages)
{
  comm->messages = messages;
}

guint32
col_comm_n_ranks (const ColComm *comm)
{
  return comm->n;
}

guint32
col_comm_n_nodes (const ColComm *comm)
{
  return comm->n_nodes;
}

gboolean
col_comm_is_local (const ColComm *comm)
{
  return comm->n_islands == 1;
}
