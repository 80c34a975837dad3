/* Error bands of collectives, and the kinds of network that they are kept by.
 *
 * Band: residuals of what was tested by operation and algorithm; else of the calibration by size; the wide default where a constant
 * is assumed; wider outside the range that was fitted. */
#include <math.h>
#include <string.h>

#include "collective/terms-private.h"

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

/* What was tested as it is asked for; NULL: nothing was. */
static const BaseNum *
find_tested (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *q)
{
  for (guint i = 0; i < library->tested.n; i++) {
    const MdlTested *t = BASE_LIST_AT (library->tested, MdlTested, i);
    gboolean several = t->nodes.v > 1;
    gboolean ranks = several ? q->n_nodes > 1 && q->n_nodes <= t->nodes.v && q->ranks_per_node == t->gpus.v
                             : q->n_nodes <= 1 && q->n_ranks <= t->gpus.v;
    if (ranks && (MdlOp)t->op.v == q->op && (MdlAlgo)t->algo.v == algo && q->size_B >= t->min_size.v && q->size_B <= t->max_size.v)
      return &t->error;
  }
  return NULL;
}

double
mdl_coll_band (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *q, BaseSource source)
{
  const BaseNum *tested = find_tested (library, algo, q);
  if (tested != NULL)
    return tested->v;
  const MdlErrorSpec *error = source == BASE_SOURCE_ASSUMED || !library->error.head.set ? &library->assumed_error : &library->error;
  const double limits_B[] = { library->small_max.v, library->middle_max.v };
  double band = (const BaseNum *[]){ &error->small, &error->middle, &error->large }[mdl_size_class (q->size_B, limits_B)]->v;
  const MdlRange *range = &library->range;
  gboolean outside = range->head.set && ((range->min_size.set && q->size_B < range->min_size.v) ||
                                         (range->max_size.set && q->size_B > range->max_size.v) ||
                                         (range->max_ranks.set && (double)q->n_ranks > range->max_ranks.v) ||
                                         (range->max_nodes.set && (double)q->n_nodes > range->max_nodes.v));
  return outside ? fmax (band * library->extrapolation_factor.v, band) : band;
}
