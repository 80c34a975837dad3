/* What a tier that caches another one is worth to a step: in the first epoch, in later ones, and without it.
 *
 *     epochs = 1 + max (0, first - direct) / (direct - later)     of what a step waits; from then on time is saved
 * Rent is of the cache while a later epoch lasts; saved are the nodes' hours, where the topology has their rent.
 * Check: test_storage_cache. */
#include "cluster/spec.h"
#include "staging-private.h"
#include "training-private.h"

#include <math.h>

/* What a step waits for a loader like the job's, in another epoch or from another tier. */
static gboolean
price_stall (const TrnJob *view, const TrnResult *before, ColRunInfo *info, double *stall_s, GError **error)
{
  TrnResult other = *before;
  ColRunInfo aside = *info;
  aside.warnings = g_ptr_array_new_with_free_func (g_free); /* the answer's own are said once */
  const gboolean ok = trn_add_loader (view, &other, &aside, error);
  *stall_s = other.loader.stall_s + other.loader.slows_s;
  info->n_events = aside.n_events;
  g_ptr_array_unref (aside.warnings);
  return ok;
}

static void
price_money (const TrnJob *job, const TrnResult *training, double rent_usd_per_s, TrnCacheResult *out)
{
  const CluCostSpec *cost = &clu_spec (job->system->clu)->cost;
  const double later_s = training->step_time_s - training->loader.stall_s - training->loader.slows_s + out->later_s;
  out->rent_usd = rent_usd_per_s > 0 ? rent_usd_per_s * later_s * out->epoch_steps : (double)NAN;
  out->saved_usd = cost->rent.set ? cost->rent.v * training->n_nodes * out->saved_s * out->epoch_steps : (double)NAN;
}

gboolean
trn_add_cache (const TrnJob *job, const TrnResult *before, TrnResult *training, ColRunInfo *info, GError **error)
{
  TrnLoaderResult *loader = &training->loader;
  TrnCacheResult *out = &loader->cache;
  MdlTierCache cache;
  double rent_usd_per_s;
  if (!loader->set ||
      !clu_tier_cache (job->system->clu, clu_tier_find (job->system->clu, loader->tier), &cache, &out->of, &rent_usd_per_s))
    return TRUE;
  const TrnLoaderSpec *spec = &job->spec.loader;
  TrnJob view = *job;
  view.spec.loader.epoch.v = TRN_EPOCH_FIRST;
  if (!price_stall (&view, before, info, &out->first_s, error))
    return FALSE;
  view.spec.loader.epoch.v = TRN_EPOCH_LATER;
  if (!price_stall (&view, before, info, &out->later_s, error))
    return FALSE;
  view.spec.loader.tier.v = out->of;
  view.spec.loader.path.v = TRN_LOAD_HOST; /* the other tier may know no GPU */
  if (!price_stall (&view, before, info, &out->direct_s, error))
    return FALSE;
  const double nodes = fmin (loader->readers, fmax (training->n_nodes, 1)), rounding_s = 1e-9 * training->step_time_s;
  out->set = TRUE;
  out->set_B = spec->dataset.v * nodes;
  out->hits = mdl_tier_cache_hits (&cache, out->set_B, spec->access.v == 1);
  out->epoch_steps = out->set_B / (loader->batch_B * loader->batches * loader->readers);
  out->saved_s = out->direct_s - out->later_s;
  out->epochs = out->saved_s > rounding_s ? 1 + fmax (0, out->first_s - out->direct_s) / out->saved_s : (double)NAN;
  price_money (job, training, rent_usd_per_s, out);
  return TRUE;
}
