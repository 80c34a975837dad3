/* Error bands of collectives, by what was measured nearest to the question.
 *
 *     band = error x (outside the sizes of `range`: extrapolation_factor) x (1 + per_doubling log2 (nodes / nodes measured))
 * What was `tested`, by operation and algorithm, has the error found; over more nodes, at least that in a node. In one node: the
 * calibration's `error` by size, of points that were held out; `assumed_error` where a constant is assumed. Over other networks:
 * the error of clusters that nothing was fitted to, by kind of network, at least that in a node; `unmeasured` where no cluster of
 * that kind was measured, and where the mechanism was measured nowhere (registered buffers between nodes); at least
 * `assumed_error`.
 * Source: calibrate/defaults/networks.yaml. Check: law_models_band. */
#include <math.h>
#include <string.h>

#include "collective/terms-private.h"

const BaseName mdl_near_names[] = {
  { "node", MDL_NEAR_NODE, "by points of one node" },
  { "cluster", MDL_NEAR_CLUSTER, "by points of this cluster" },
  { "fewer_nodes", MDL_NEAR_MORE_NODES, "by points of this cluster on fewer nodes" },
  { "other_clusters", MDL_NEAR_NETWORK, "by points of other clusters with such a network" },
  { "no", MDL_NEAR_NOTHING, "no point of such a network was available" },
  { NULL, 0, NULL },
};

static gboolean
has_class (const BaseStrs *classes, const char *link_class)
{
  for (guint i = 0; link_class != NULL && i < classes->n; i++)
    if (strcmp (classes->item[i].v, link_class) == 0)
      return TRUE;
  return FALSE;
}

const MdlFabric *
mdl_fabric (const MdlLibrary *library, const MdlCollQuestion *q)
{
  gboolean crosses = q->n_nodes > 1;
  for (guint i = 0; library != NULL && library->networks != NULL && i < library->networks->fabrics.n; i++) {
    const MdlFabric *fabric = BASE_LIST_AT (library->networks->fabrics, MdlFabric, i);
    gboolean joined = !fabric->domain.set || (q->switched && q->ranks_per_node >= fabric->domain.v);
    gboolean reached = crosses ? has_class (&fabric->classes, q->network) : fabric->classes.n == 0;
    if (joined && reached && g_strcmp0 (fabric->library.v, library->name.v) == 0)
      return fabric;
  }
  return NULL;
}

const char *
mdl_fabric_name (const MdlFabric *fabric)
{
  return fabric != NULL ? fabric->name.v : NULL;
}

/* What was tested as it is asked for, or, where `fewer`, on fewer nodes; NULL: nothing was. */
static const MdlTested *
find_tested (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *q, gboolean fewer)
{
  for (guint i = 0; i < library->tested.n; i++) {
    const MdlTested *t = BASE_LIST_AT (library->tested, MdlTested, i);
    gboolean several = t->nodes.v > 1;
    gboolean ranks = several ? q->n_nodes > 1 && (fewer || q->n_nodes <= t->nodes.v) && q->ranks_per_node == t->gpus.v
                             : !fewer && q->n_nodes <= 1 && q->n_ranks <= t->gpus.v;
    if (ranks && (MdlOp)t->op.v == q->op && (MdlAlgo)t->algo.v == algo && q->size_B >= t->min_size.v && q->size_B <= t->max_size.v)
      return t;
  }
  return NULL;
}

static double
by_size (const MdlLibrary *library, const MdlErrorSpec *error, double size_B)
{
  const double limits_B[] = { library->small_max.v, library->middle_max.v };
  return (const BaseNum *[]){ &error->small, &error->middle, &error->large }[mdl_size_class (size_B, limits_B)]->v;
}

static gboolean
is_outside (const MdlRange *range, const MdlCollQuestion *q, gboolean in_node)
{
  return range->head.set &&
         ((range->min_size.set && q->size_B < range->min_size.v) || (range->max_size.set && q->size_B > range->max_size.v) ||
          (in_node && range->max_ranks.set && (double)q->n_ranks > range->max_ranks.v));
}

/* Apart from what was tested. */
static MdlNear
nearest (const MdlLibrary *library, const MdlCollQuestion *q, const MdlFabric *fabric)
{
  const MdlRange *range = &library->range;
  if (q->n_nodes <= 1 && fabric == NULL)
    return MDL_NEAR_NODE;
  if (range->max_nodes.set && range->max_nodes.v > 1.0 && library->error.head.set)
    return (double)q->n_nodes <= range->max_nodes.v ? MDL_NEAR_CLUSTER : MDL_NEAR_MORE_NODES;
  return fabric != NULL && fabric->error.head.set ? MDL_NEAR_NETWORK : MDL_NEAR_NOTHING;
}

static double
growth (const MdlLibrary *library, const MdlCollQuestion *q, double measured)
{
  if (library->networks == NULL || measured <= 0 || (double)q->n_nodes <= measured)
    return 1.0;
  return 1.0 + library->networks->per_doubling.v * log2 ((double)q->n_nodes / measured);
}

static gboolean
take_tested (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *q, double own, MdlCollCost *cost)
{
  const MdlTested *tested = find_tested (library, algo, q, FALSE);
  if (tested != NULL) {
    cost->near = q->n_nodes > 1 ? MDL_NEAR_CLUSTER : MDL_NEAR_NODE;
    cost->band = tested->error.v;
    return TRUE;
  }
  tested = find_tested (library, algo, q, TRUE);
  if (tested == NULL)
    return FALSE;
  cost->near = MDL_NEAR_MORE_NODES;
  cost->band = fmax (tested->error.v, own) * growth (library, q, tested->nodes.v);
  return TRUE;
}

static void
find_band (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlNetworks *networks = library->networks;
  const double own = by_size (library, library->error.head.set ? &library->error : &library->assumed_error, q->size_B),
               assumed = by_size (library, &library->assumed_error, q->size_B);
  double nodes = 0.0; /* measured; 0: no matter */
  cost->fabric = mdl_fabric (library, q);
  if (!cost->untried && take_tested (library, algo, q, own, cost))
    return;
  cost->near = cost->untried ? MDL_NEAR_NOTHING : nearest (library, q, cost->fabric);
  switch (cost->near) {
    case MDL_NEAR_NODE:
      cost->band = cost->source == BASE_SOURCE_ASSUMED ? assumed : own;
      break;
    case MDL_NEAR_CLUSTER:
    case MDL_NEAR_MORE_NODES:
      cost->band = cost->source == BASE_SOURCE_ASSUMED ? fmax (own, assumed) : own;
      nodes = library->range.max_nodes.v;
      break;
    case MDL_NEAR_NETWORK:
      cost->band = fmax (own, by_size (library, &cost->fabric->error, q->size_B));
      nodes = cost->fabric->nodes.v;
      break;
    case MDL_NEAR_NOTHING:
      cost->band = fmax (fmax (own, assumed), networks != NULL ? by_size (library, &networks->unmeasured, q->size_B) : 0.0);
      nodes = 2.0;
  }
  if (is_outside (&library->range, q, cost->near == MDL_NEAR_NODE))
    cost->band *= fmax (library->extrapolation_factor.v, 1.0);
  cost->band *= growth (library, q, nodes);
}

void
mdl_coll_band (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *q, MdlCollCost *cost)
{
  find_band (library, algo, q, cost);
  cost->band = hypot (cost->band, cost->launch_spread);
}
