/* Failures of a serving workload: which replicas a lost GPU, node, NIC or leaf switch takes with it. An engine does not route
 * around any of these: a replica that lacks a GPU, or a NIC that it uses, is lost as a whole until it is started anew. */
#include <math.h>

#include "scenario/loaded.h"
#include "serving-private.h"

/* ---- leaf switches ---- */

/* The switch by which a GPU leaves its node: the first one on the way to its counterpart on another node. CLU_NONE: none. */
static CluDev
leaf_of (const Clu *clu, guint32 gpu)
{
  const CluDev from = clu_gpu (clu, gpu);
  const guint32 per = clu_gpus_per_node (clu, 0), at = clu_dev_index (clu, from), node = clu_dev_node (clu, from) == 0 ? 1 : 0;
  if (clu_n_nodes (clu) < 2)
    return CLU_NONE;
  const CluRouteOptions options = CLU_ROUTE_DEFAULT;
  g_auto (CluRoute) route;
  clu_route_init (&route);
  if (!clu_route_find (clu, from, clu_gpu (clu, node * per + at % per), &options, &route, NULL))
    return CLU_NONE;
  for (guint i = 0; i < route.hops->len; i++) {
    const CluDev to = g_array_index (route.hops, CluHop, i).to;
    if (clu_dev_kind (clu, to) == CLU_DEV_SWITCH)
      return to;
  }
  return CLU_NONE;
}

/* Leaf switches in the order of the GPUs that leave by them. Returned: full, of CluDev. */
static GArray *
leaves (const Clu *clu)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (CluDev));
  for (guint32 gpu = 0; gpu < clu_n_gpus (clu); gpu++) {
    const CluDev leaf = leaf_of (clu, gpu);
    gboolean seen = leaf == CLU_NONE;
    for (guint i = 0; i < out->len && !seen; i++)
      seen = g_array_index (out, CluDev, i) == leaf;
    if (!seen)
      g_array_append_val (out, leaf);
  }
  return out;
}

static CluDev
lost_leaf (const Clu *clu, const SrvFailureSpec *its)
{
  g_autoptr (GArray) all = its->lose.v == SRV_LOSE_SWITCH ? leaves (clu) : NULL;
  return all != NULL && its->index.v < all->len ? g_array_index (all, CluDev, (guint)its->index.v) : CLU_NONE;
}

/* Whether a replica has one of the GPUs that are lost, or that leave by the switch `leaf`. */
static gboolean
is_hit (const Scn *scenario, const SrvFailureSpec *its, CluDev leaf, const ScnPool *pool, guint replica, gboolean apart)
{
  const guint gpus = (guint)srv_replica_gpus (&pool->replica), first = pool->first + replica * gpus, index = (guint)its->index.v;
  const Clu *clu = scenario->system.clu;
  gboolean one = FALSE, several = FALSE;
  guint32 node0 = 0;
  for (guint i = 0; i < gpus; i++) {
    const guint32 node = clu_dev_node (clu, clu_gpu (clu, col_system_gpu (&scenario->system, first + i)));
    node0 = i == 0 ? node : node0;
    several |= node != node0;
    if (its->lose.v == SRV_LOSE_SWITCH)
      one |= leaf != CLU_NONE && leaf_of (clu, col_system_gpu (&scenario->system, first + i)) == leaf;
    else
      one |= its->lose.v == SRV_LOSE_NODE ? node == index : first + i == index;
  }
  return one && (its->lose.v == SRV_LOSE_GPU || its->lose.v == SRV_LOSE_NODE || apart || several);
}

GArray *
scn_serving_outages (const Scn *scenario, const ScnPool *pools, guint n)
{
  const ScnServingSpec *spec = scenario->own;
  GArray *out = g_array_new (FALSE, FALSE, sizeof (SrvOutage));
  for (guint f = 0; f < spec->failures.n; f++) {
    const SrvFailureSpec *its = BASE_LIST_AT (spec->failures, SrvFailureSpec, f);
    const CluDev leaf = lost_leaf (scenario->system.clu, its);
    for (guint p = 0, before = 0; p < n; before += pools[p++].replicas)
      for (guint i = 0; i < pools[p].replicas; i++) {
        const double until_s = its->lasts.set ? its->at.v + its->lasts.v : (double)INFINITY;
        const SrvOutage outage = { before + i, its->at.v, until_s };
        if (is_hit (scenario, its, leaf, &pools[p], i, n == 2))
          g_array_append_val (out, outage);
      }
  }
  return out;
}

gboolean
scn_serving_check_failures (const Scn *scenario, const ScnPool *pools, guint n, GError **error)
{
  const ScnServingSpec *spec = scenario->own;
  g_autoptr (GArray) outages = scn_serving_outages (scenario, pools, n);
  for (guint f = 0; f < spec->failures.n; f++) {
    const SrvFailureSpec *its = BASE_LIST_AT (spec->failures, SrvFailureSpec, f);
    g_autoptr (GArray) all = its->lose.v == SRV_LOSE_SWITCH ? leaves (scenario->system.clu) : NULL;
    const guint most = all != NULL                    ? all->len
                       : its->lose.v == SRV_LOSE_NODE ? clu_n_nodes (scenario->system.clu)
                                                      : scenario->system.gpus->len;
    if (its->index.v >= most)
      return col_fail_at (error, its->index.mark, "there is no %s %.0f; the cluster has %u, numbered from 0",
                          all != NULL                    ? "leaf switch"
                          : its->lose.v == SRV_LOSE_NODE ? "node"
                                                         : "GPU",
                          its->index.v, most);
  }
  for (guint p = 0, before = 0; p < n; before += pools[p++].replicas) {
    g_autofree gboolean *gone = g_new0 (gboolean, pools[p].replicas);
    guint lost = 0;
    for (guint i = 0; i < outages->len; i++) {
      const SrvOutage *outage = &g_array_index (outages, SrvOutage, i);
      if (outage->replica < before || outage->replica >= before + pools[p].replicas || isfinite (outage->until_s))
        continue;
      lost += gone[outage->replica - before] ? 0 : 1;
      gone[outage->replica - before] = TRUE;
    }
    if (lost == pools[p].replicas)
      return col_fail_at (
          error, BASE_LIST_AT (spec->failures, SrvFailureSpec, 0)->head.mark,
          "all replicas of a pool are lost for good, so that nobody answers; give the failures `for`, or add replicas");
  }
  if (spec->scale.head.set && (n == 2 || spec->failures.n > 0))
    return col_fail_at (error, spec->scale.head.mark, "`scale` is not modelled with %s; leave one of them out",
                        n == 2 ? "a prefill and a decode pool" : "`failures`");
  if (spec->scale.head.set && spec->scale.least.v > pools[0].replicas)
    return col_fail_at (error, spec->scale.least.mark, "'min' is %.0f, more than the %u 'replicas'; write at most that",
                        spec->scale.least.v, pools[0].replicas);
  if (spec->failures.n > 0 && spec->watch.set)
    return col_fail_at (error, spec->watch.mark, "`watch` is not modelled with `failures`; leave it out");
  if (n == 2 && spec->retry.tokens.v == 1)
    return col_fail_at (error, spec->retry.tokens.mark,
                        "`tokens: kept` is not modelled with a prefill and a decode pool; write `again`, or leave it out");
  return TRUE;
}

#define PHASE(...) BASE_MEMBER (ScnServingPhase, __VA_ARGS__)
const BaseMember scn_serving_phase_members[] = {
  PHASE ("phase", phase, .title = "came"),
  PHASE ("requests", requests, .title = "requests"),
  PHASE ("good_fraction", good, BASE_SHOWN ("within SLO (%)", 100, "%.1f")),
  PHASE ("ttft_p50_s", ttft_p50_s, BASE_SHOWN ("TTFT p50 (ms)", 1e3, "%.4g")),
  PHASE ("ttft_p99_s", ttft_p99_s, BASE_SHOWN ("p99", 1e3, "%.4g")),
  BASE_MEMBER_END,
};

GArray *
scn_serving_phases (const ScnServingSpec *spec, const SrvRunResult *run)
{
  static const char *const names[SRV_PHASE_N] = { "before", "during", "after" };
  GArray *out = g_array_new (FALSE, FALSE, sizeof (ScnServingPhase));
  for (guint i = 0; i < SRV_PHASE_N; i++) {
    const SrvPhaseResult *its = &run->phases[i];
    const gboolean some = its->requests > 0;
    const ScnServingPhase row = { names[i], its->requests,
                                  some && spec->slo.head.set ? (double)its->good / (double)its->requests : (double)NAN,
                                  some ? its->ttft.p50 : (double)NAN, some ? its->ttft.p99 : (double)NAN };
    g_array_append_val (out, row);
  }
  return out;
}
