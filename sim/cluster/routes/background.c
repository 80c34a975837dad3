/* Other people's traffic on the fabric, as a constant load of the links between its switches.
 *
 * On every rail each node sends to one other node, drawn so that each also receives from one (a random cycle over all nodes). These
 * streams follow the fabric's routing, so that where they meet is drawn by the seed, as ECMP's collisions are. What leaves and
 * enters nodes is left out: adapters belong to the job that runs there. All streams are equal and as strong as makes the mean
 * over the links that they cross the load that is asked for; a link of which more than MOST would be taken keeps the rest.
 *
 * Permutation traffic is the usual load for judging a fabric (Dally and Towles, Principles and Practices of Interconnection
 * Networks, 2004, 3.2); constant: bursts are not modelled. Check: test_cluster_background. */
#include <math.h>

#include "base/random.h"
#include "cluster/background.h"
#include "cluster/route.h"
#include "graph/clu-private.h"

static const double MOST = 0.9;

/* A random cycle: Sattolo, "An algorithm to generate a random cyclic permutation", Information Processing Letters 22, 1986. */
static void
draw_cycle (guint32 *next, guint32 n, guint64 seed, guint32 rail)
{
  BaseRandom random = base_random_stream_at (seed, "background", rail);
  for (guint32 i = 0; i < n; i++)
    next[i] = i;
  for (guint32 i = n; i-- > 1;) {
    guint32 j = base_random_below (&random, i), kept = next[i];
    next[i] = next[j];
    next[j] = kept;
  }
}

/* Whether a hop begins or ends in a node. */
static gboolean
touches_node (const Clu *clu, const CluHop *hop)
{
  return clu_dev_kind (clu, hop->from) != CLU_DEV_SWITCH || clu_dev_kind (clu, hop->to) != CLU_DEV_SWITCH;
}

/* Adds a stream of one B/s from adapter to adapter to the links between switches. */
static gboolean
add_stream (Clu *clu, CluDev from, CluDev to, guint64 seed, CluRoute *route, GError **error)
{
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.flow = base_random_hash (seed, from, to, 0);
  if (!clu_route_find (clu, from, to, &options, route, error))
    return FALSE;
  for (guint i = 0; i < route->uses->len; i++) {
    const CluUse *use = &g_array_index (route->uses, CluUse, i);
    gboolean own = FALSE;
    for (guint h = 0; h < route->hops->len && !own; h++) {
      const CluHop *hop = &g_array_index (route->hops, CluHop, h);
      own = hop->res == use->res && touches_node (clu, hop);
    }
    if (!own)
      clu->background_Bps[use->res] += use->share;
  }
  return TRUE;
}

/* From streams of one B/s to the load; tells what became of it. */
static void
scale (Clu *clu, double load, CluBackground *out)
{
  double unit = 0;
  for (CluRes res = 0; res < clu->n_res; res++)
    if (clu->background_Bps[res] > 0) {
      unit += clu->background_Bps[res] / clu_resource_whole_capacity (clu, res);
      out->n_links++;
    }
  double factor = out->n_links > 0 ? load * out->n_links / unit : 0;
  for (CluRes res = 0; res < clu->n_res; res++) {
    double whole_Bps = clu_resource_whole_capacity (clu, res), taken_Bps = clu->background_Bps[res] * factor;
    clu->background_Bps[res] = fmin (taken_Bps, MOST * whole_Bps);
    if (clu->background_Bps[res] <= 0)
      continue;
    double share = clu->background_Bps[res] / whole_Bps;
    out->mean += share / out->n_links;
    if (share > out->most) {
      out->most = share;
      out->fullest = res;
    }
  }
}

gboolean
clu_background_set (Clu *clu, double load, guint64 seed, CluBackground *out, GError **error)
{
  *out = (CluBackground){ .fullest = CLU_NONE };
  g_clear_pointer (&clu->background_Bps, g_free);
  guint32 n = clu_n_nodes (clu), n_rails = 0;
  for (guint32 node = 0; node < n; node++)
    n_rails = MAX (n_rails, clu_node_n (clu, node, CLU_DEV_NIC));
  if (load <= 0 || n < 2 || n_rails == 0)
    return TRUE;
  clu->background_Bps = g_new0 (double, clu->n_res);
  g_autofree guint32 *next = g_new (guint32, n);
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  for (guint32 rail = 0; rail < n_rails; rail++) {
    draw_cycle (next, n, seed, rail);
    for (guint32 node = 0; node < n; node++) {
      CluDev from = clu_node_device (clu, node, CLU_DEV_NIC, rail), to = clu_node_device (clu, next[node], CLU_DEV_NIC, rail);
      if (from != CLU_NONE && to != CLU_NONE && !add_stream (clu, from, to, seed, &route, error))
        return FALSE;
    }
  }
  scale (clu, load, out);
  return TRUE;
}

gboolean
clu_nic_slow (Clu *clu, guint32 node, guint32 nic, double rate_Bps, char **why)
{
  CluDev dev = node < clu_n_nodes (clu) ? clu_node_device (clu, node, CLU_DEV_NIC, nic) : CLU_NONE;
  if (node >= clu_n_nodes (clu))
    *why = g_strdup_printf ("there is no node %u; accepted: 0 to %u", node, clu_n_nodes (clu) - 1);
  else if (dev == CLU_NONE)
    *why = g_strdup_printf ("node %u has no adapter %u; it has %u", node, nic, clu_node_n (clu, node, CLU_DEV_NIC));
  if (dev == CLU_NONE)
    return FALSE;
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    if ((link.a != dev || clu_dev_kind (clu, link.b) != CLU_DEV_SWITCH) &&
        (link.b != dev || clu_dev_kind (clu, link.a) != CLU_DEV_SWITCH))
      continue;
    if (rate_Bps > link.rate_Bps) {
      *why = g_strdup_printf ("adapter %u of node %u has %g Gb/s; accepted: at most that", nic, node, link.rate_Bps * 8 / 1e9);
      return FALSE;
    }
    if (clu->background_Bps == NULL)
      clu->background_Bps = g_new0 (double, clu->n_res);
    const CluRes ways[] = { link.forward, link.backward, link.both };
    for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
      if (ways[i] != CLU_NONE) {
        double taken_Bps = clu_resource_whole_capacity (clu, ways[i]) * (1 - rate_Bps / link.rate_Bps);
        clu->background_Bps[ways[i]] = fmax (clu->background_Bps[ways[i]], taken_Bps);
      }
  }
  return TRUE;
}
