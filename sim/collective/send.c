/* Point-to-point sends that many pairs make at the same time (the replicas of two pipeline stages): priced once, as one
 * activity that loads the links of all pairs. */
#include <math.h>

#include "collective/send.h"
#include "comm-private.h"

/* Replicas may sit differently: some pairs in a node, others across. The stage goes on when the slowest has arrived. */
static gboolean
find_slowest (ColRoutes *routes, const ColSends *sends, guint32 *slowest, GError **error)
{
  MdlHop worst_hop = 0;
  double longest_s = -1, least_Bps = HUGE_VAL;
  guint32 at = 0;
  for (guint32 i = 0; i < sends->n; i++) {
    const ColRankPlace a = col_routes_place (routes, sends->from[i]), b = col_routes_place (routes, sends->to[i]);
    const ColRoute *way = col_routes_find (routes, &a, &b, CLU_NONE, error);
    if (way == NULL)
      return FALSE;
    double rate_Bps = col_routes_rate (routes, way, &a, &b);
    /* hops are listed from the quickest to the slowest */
    gboolean slower = way->hop != worst_hop        ? way->hop > worst_hop
                      : way->latency_s < longest_s ? FALSE
                      : way->latency_s > longest_s ? TRUE
                                                   : rate_Bps < least_Bps;
    if (i > 0 && !slower)
      continue;
    worst_hop = way->hop;
    longest_s = way->latency_s;
    least_Bps = rate_Bps;
    at = i;
  }
  *slowest = at;
  return TRUE;
}

/* What the links really get: one direction of every pair. */
static ColSpread *
load_pairs (ColRoutes *routes, const Clu *clu, const ColSends *sends, GError **error)
{
  ColScratch *scratch = col_routes_scratch (routes);
  for (guint32 i = 0; i < sends->n; i++) {
    const ColRankPlace a = col_routes_place (routes, sends->from[i]), b = col_routes_place (routes, sends->to[i]);
    const ColRoute *way = col_routes_find (routes, &a, &b, CLU_NONE, error);
    if (way == NULL) {
      col_scratch_clear (scratch);
      return NULL;
    }
    for (guint32 k = 0; k < way->n_uses; k++)
      col_scratch_add (scratch, col_route_res (&way->use[k], &a, &b), way->use[k].share, way->use[k].factor);
  }
  return col_spread_take (routes, clu);
}

gboolean
col_send_price (ColRoutes *routes, const Clu *clu, const ColSettings *settings, const ColSends *sends, ColAnswer *out,
                GError **error)
{
  guint32 slowest = 0;
  ColSettings closed = *settings;
  closed.mode = COL_MODE_MODEL;
  closed.one_way = TRUE;
  if (!find_slowest (routes, sends, &slowest, error))
    return FALSE;
  const guint32 pair[2] = { sends->from[slowest], sends->to[slowest] };
  g_autoptr (ColComm) comm = col_comm_new_on (routes, clu, &closed, pair, 2, error);
  if (comm == NULL)
    return FALSE;
  ColCollRequest request = { MDL_OP_SENDRECV, sends->bytes, MDL_DTYPE_BF16, MDL_ALGO_PAIRWISE, MDL_PROTO_AUTO, 0 };
  if (!col_coll_price (comm, &request, out, error))
    return FALSE;
  col_spread_unref (out->spread);
  out->spread = load_pairs (routes, clu, sends, error);
  if (out->spread == NULL)
    return FALSE;
  g_array_unref (out->alike);
  out->alike = settings->no_fold ? col_spread_loads (out->spread) : col_spread_alike (out->spread);
  const ColSpreadBounds *bounds = &out->spread->bounds;
  out->bottleneck = bounds->bottleneck;
  out->provenance = MIN (out->cost.source, bounds->source);
  double moving_s = sends->bytes > 0 ? sends->bytes / fmin (bounds->rate_Bps / out->cost.wire, out->cost.bound_Bps) : 0;
  out->cost.time_s = out->time_s = out->cost.latency_s + moving_s;
  gboolean late = out->cost.latency_s >= moving_s || out->bottleneck == CLU_NONE;
  g_strlcpy (out->bound_by, late ? "latency" : clu_resource_class (clu, out->bottleneck), sizeof out->bound_by);
  return TRUE;
}
