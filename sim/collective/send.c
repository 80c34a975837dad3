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

struct ColSendPairs {
  ColSettings settings; /* closed form, one way */
  ColComm *comm;        /* the slowest pair */
  ColSpread *spread;
  GArray *alike; /* ColLoad */
};

ColSendPairs *
col_send_pairs_new (ColRoutes *routes, const Clu *clu, const ColSettings *settings, const ColSends *sends, GError **error)
{
  guint32 slowest = 0;
  if (!find_slowest (routes, sends, &slowest, error))
    return NULL;
  const guint32 pair[2] = { sends->from[slowest], sends->to[slowest] };
  ColSendPairs *pairs = g_new0 (ColSendPairs, 1);
  pairs->settings = *settings;
  pairs->settings.mode = COL_MODE_MODEL;
  pairs->settings.one_way = TRUE;
  pairs->comm = col_comm_new_on (routes, clu, &pairs->settings, pair, 2, error);
  pairs->spread = pairs->comm != NULL ? load_pairs (routes, clu, sends, error) : NULL;
  if (pairs->spread == NULL) {
    col_send_pairs_free (pairs);
    return NULL;
  }
  pairs->alike = settings->no_fold ? col_spread_loads (pairs->spread) : col_spread_alike (pairs->spread);
  return pairs;
}

void
col_send_pairs_free (ColSendPairs *pairs)
{
  if (pairs == NULL)
    return;
  g_clear_pointer (&pairs->alike, g_array_unref);
  col_spread_unref (pairs->spread);
  col_comm_free (pairs->comm);
  g_free (pairs);
}

gboolean
col_send_pairs_price (const ColSendPairs *pairs, double bytes, ColAnswer *out, GError **error)
{
  ColCollRequest request = { MDL_OP_SENDRECV, bytes, MDL_DTYPE_BF16, MDL_ALGO_PAIRWISE, MDL_PROTO_AUTO, 0 };
  if (!col_coll_price (pairs->comm, &request, out, error))
    return FALSE;
  col_spread_unref (out->spread);
  out->spread = col_spread_ref (pairs->spread);
  g_array_unref (out->alike);
  out->alike = g_array_ref (pairs->alike);
  const ColSpreadBounds *bounds = &out->spread->bounds;
  out->bottleneck = bounds->bottleneck;
  out->provenance = MIN (out->cost.source, bounds->source);
  double moving_s = bytes > 0 ? bytes / fmin (bounds->rate_Bps / out->cost.wire, out->cost.bound_Bps) : 0;
  out->cost.time_s = out->time_s = out->cost.latency_s + moving_s;
  gboolean late = out->cost.latency_s >= moving_s || out->bottleneck == CLU_NONE;
  g_strlcpy (out->bound_by, late ? "latency" : clu_resource_class (pairs->comm->clu, out->bottleneck), sizeof out->bound_by);
  return TRUE;
}
