/* Point-to-point sends that many pairs make at the same time (the replicas of two pipeline stages): priced once, as one
 * activity that loads the links of all pairs. */
#include <math.h>

#include "comm-private.h"
#include "send-private.h"

gboolean
wrk_send_price (const Clu *clu, const WrkSettings *settings, const guint32 *from, const guint32 *to, guint32 n_pairs, double bytes,
                WrkColl *out, GError **error)
{
  const guint32 pair[2] = { from[0], to[0] };
  g_autoptr (WrkComm) comm = wrk_comm_new (clu, settings, pair, 2, error);
  if (comm == NULL)
    return FALSE;
  WrkSettings closed = *settings;
  closed.mode = WRK_MODE_MODEL;
  comm->settings = &closed;
  WrkCollRequest request = { MDL_OP_SENDRECV, bytes, MDL_DTYPE_BF16, MDL_ALGO_PAIRWISE, MDL_PROTO_AUTO, 0 };
  if (!wrk_coll_price (comm, &request, out, error))
    return FALSE;
  /* the pair's own answer knows both directions; what the links really get is one direction of every pair */
  double rate_Bps = HUGE_VAL;
  g_autoptr (GHashTable) at = g_hash_table_new (NULL, NULL);
  g_array_set_size (out->loads, 0);
  for (guint32 i = 0; i < n_pairs; i++) {
    CluRouteOptions options = CLU_ROUTE_DEFAULT;
    options.degrade = settings->degrade;
    options.flow = ((guint64)from[i] << 32) | to[i];
    if (!clu_route_find (clu, clu_gpu (clu, from[i]), clu_gpu (clu, to[i]), &options, &comm->route, error))
      return FALSE;
    for (guint k = 0; k < comm->route.uses->len; k++) {
      const CluUse *use = &g_array_index (comm->route.uses, CluUse, k);
      gpointer known = g_hash_table_lookup (at, GUINT_TO_POINTER (use->res + 1u));
      if (known == NULL) {
        WrkLoad load = { use->res, 0, wrk_comm_copy_factor (comm, comm->route.transport, use->res) };
        g_array_append_val (out->loads, load);
        known = GUINT_TO_POINTER (out->loads->len);
        g_hash_table_insert (at, GUINT_TO_POINTER (use->res + 1u), known);
      }
      g_array_index (out->loads, WrkLoad, GPOINTER_TO_UINT (known) - 1u).load += use->share;
    }
  }
  for (guint i = 0; i < out->loads->len; i++) {
    const WrkLoad *load = &g_array_index (out->loads, WrkLoad, i);
    double alone_Bps = clu_resource_capacity (clu, load->res) * load->factor / (load->load * out->cost.wire);
    if (alone_Bps < rate_Bps * (1 - 1e-9)) {
      rate_Bps = alone_Bps;
      out->bottleneck = load->res;
    }
  }
  out->cost.time_s = out->time_s = out->cost.latency_s + (bytes > 0 ? bytes / fmin (rate_Bps, out->cost.bound_Bps) : 0);
  return TRUE;
}
