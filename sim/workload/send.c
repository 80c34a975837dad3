/* Point-to-point sends that many pairs make at the same time (the replicas of two pipeline stages): priced once, as one
 * activity that loads the links of all pairs. */
#include <math.h>

#include "comm-private.h"
#include "send-private.h"

static gboolean
pair_route (const Clu *clu, const WrkSettings *settings, guint32 from, guint32 to, CluRoute *out, GError **error)
{
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade = settings->degrade;
  options.flow = ((guint64)from << 32) | to;
  CluDev a = clu_gpu (clu, from), b = clu_gpu (clu, to);
  return clu_route_find (clu, a, b, &options, out, error) && wrk_check_shm (clu, settings, out, a, b, error);
}

/* Replicas may sit differently: some pairs in a node, others across. The stage goes on when the slowest has arrived. */
static gboolean
find_slowest (const Clu *clu, const WrkSettings *settings, const guint32 *from, const guint32 *to, guint32 n_pairs,
              guint32 *slowest, GError **error)
{
  g_auto (CluRoute) route = { 0 };
  MdlHop worst_hop = 0;
  double longest_s = -1, least_Bps = HUGE_VAL;
  guint32 at = 0;
  clu_route_init (&route);
  for (guint32 i = 0; i < n_pairs; i++) {
    double rate_Bps;
    if (!pair_route (clu, settings, from[i], to[i], &route, error))
      return FALSE;
    clu_route_bottleneck (clu, &route, &rate_Bps);
    MdlHop hop = wrk_hop_of_route (&route);
    /* hops are listed from the quickest to the slowest */
    gboolean slower = hop != worst_hop              ? hop > worst_hop
                      : route.latency_s < longest_s ? FALSE
                      : route.latency_s > longest_s ? TRUE
                                                    : rate_Bps < least_Bps;
    if (i > 0 && !slower)
      continue;
    worst_hop = hop;
    longest_s = route.latency_s;
    least_Bps = rate_Bps;
    at = i;
  }
  *slowest = at;
  return TRUE;
}

/* What the links really get: one direction of every pair. */
static gboolean
load_pairs (WrkComm *comm, const guint32 *from, const guint32 *to, guint32 n_pairs, GArray *loads, GError **error)
{
  g_autoptr (GHashTable) at = g_hash_table_new (NULL, NULL); /* resource + 1 -> place in loads + 1 */
  g_array_set_size (loads, 0);
  for (guint32 i = 0; i < n_pairs; i++) {
    if (!pair_route (comm->clu, comm->settings, from[i], to[i], &comm->route, error))
      return FALSE;
    for (guint k = 0; k < comm->route.uses->len; k++) {
      const CluUse *use = &g_array_index (comm->route.uses, CluUse, k);
      gpointer known = g_hash_table_lookup (at, GUINT_TO_POINTER (use->res + 1u));
      if (known == NULL) {
        WrkLoad load = { use->res, 0, wrk_comm_copy_factor (comm, comm->route.transport, use->res) };
        g_array_append_val (loads, load);
        known = GUINT_TO_POINTER (loads->len);
        g_hash_table_insert (at, GUINT_TO_POINTER (use->res + 1u), known);
      }
      g_array_index (loads, WrkLoad, GPOINTER_TO_UINT (known) - 1u).load += use->share;
    }
  }
  return TRUE;
}

gboolean
wrk_send_price (const Clu *clu, const WrkSettings *settings, const guint32 *from, const guint32 *to, guint32 n_pairs, double bytes,
                WrkColl *out, GError **error)
{
  guint32 slowest = 0;
  WrkSettings closed = *settings;
  closed.mode = WRK_MODE_MODEL;
  closed.one_way = TRUE;
  if (!find_slowest (clu, settings, from, to, n_pairs, &slowest, error))
    return FALSE;
  const guint32 pair[2] = { from[slowest], to[slowest] };
  g_autoptr (WrkComm) comm = wrk_comm_new (clu, &closed, pair, 2, error);
  if (comm == NULL)
    return FALSE;
  WrkCollRequest request = { MDL_OP_SENDRECV, bytes, MDL_DTYPE_BF16, MDL_ALGO_PAIRWISE, MDL_PROTO_AUTO, 0 };
  if (!wrk_coll_price (comm, &request, out, error) || !load_pairs (comm, from, to, n_pairs, out->loads, error))
    return FALSE;
  double rate_Bps = HUGE_VAL;
  out->bottleneck = CLU_NONE;
  out->provenance = out->cost.source;
  for (guint i = 0; i < out->loads->len; i++) {
    const WrkLoad *load = &g_array_index (out->loads, WrkLoad, i);
    double alone_Bps = clu_resource_capacity (clu, load->res) * load->factor / (load->load * out->cost.wire);
    out->provenance = MIN (out->provenance, clu_resource_source (clu, load->res));
    if (alone_Bps < rate_Bps * (1 - 1e-9)) {
      rate_Bps = alone_Bps;
      out->bottleneck = load->res;
    }
  }
  double moving_s = bytes > 0 ? bytes / fmin (rate_Bps, out->cost.bound_Bps) : 0;
  out->cost.time_s = out->time_s = out->cost.latency_s + moving_s;
  gboolean late = out->cost.latency_s >= moving_s || out->bottleneck == CLU_NONE;
  g_strlcpy (out->bound_by, late ? "latency" : clu_resource_class (clu, out->bottleneck), sizeof out->bound_by);
  return TRUE;
}
