/* What a loader's keys need of each other. */
#include "staging-private.h"
#include "training-private.h"
#include "storage/io_run.h"
#include "training/loader.h"

/* What is read straight to the GPU no core has seen. */
static gboolean
check_gds (const TrnLoaderSpec *spec, GError **error)
{
  if (spec->path.v != TRN_LOAD_GDS)
    return TRUE;
  if (spec->decoder.v == STO_DECODE_CPU && spec->decode.v > 0)
    return col_fail_at (error, spec->path.mark,
                        "workers cannot decode what is read to the GPU; accepted with path gds: decoder gpu or engine");
  if (spec->cache.v != MDL_CACHE_OFF)
    return col_fail_at (error, spec->path.mark, "GPUDirect Storage bypasses the page cache; accepted with path gds: cache: direct");
  if (spec->sharing.v == 1)
    return col_fail_at (error, spec->path.mark,
                        "a GPU reads for itself by GPUDirect Storage; accepted with path gds: sharing: shards");
  return TRUE;
}

gboolean
trn_check_loader (const TrnJob *job, GError **error)
{
  const TrnLoaderSpec *spec = &job->spec.loader;
  MdlTier tier;
  MdlTierCache cache;
  const char *of;
  g_autoptr (GError) why = NULL;
  if (!spec->head.set)
    return TRUE;
  if (sto_io_find (job->system->clu, spec->tier.v, &tier, &why) == CLU_NONE)
    return col_fail_at (error, spec->tier.mark, "%s", why->message);
  if (job->spec.model.model == NULL && !spec->samples.set)
    return col_fail_at (error, spec->head.mark, "a loader of layers with given times needs 'samples', of a rank and micro-batch");
  if (spec->cache.v == MDL_CACHE_WARM && !spec->dataset.set)
    return col_fail_at (error, spec->cache.mark, "'cache: warm' needs 'dataset', what a node reads in an epoch");
  if (spec->cache.v == MDL_CACHE_WARM && clu_node_memory_B (job->system->clu, 0) <= 0)
    return col_fail_at (error, spec->cache.mark, "the size of the page cache is not known; give node.sockets memory_capacity");
  if (clu_tier_cache (job->system->clu, clu_tier_find (job->system->clu, spec->tier.v), &cache, &of, NULL)) {
    if (!spec->dataset.set)
      return col_fail_at (error, spec->tier.mark,
                          "tier '%s' caches '%s', so the loader needs 'dataset', what a node reads in an epoch (e.g. 2 TB)",
                          spec->tier.v, of);
  } else if (spec->epoch.set)
    return col_fail_at (error, spec->epoch.mark,
                        "tier '%s' caches no other tier, so all epochs are alike; leave 'epoch' out, or give the tier 'cache: "
                        "{of: …}' in the topology",
                        spec->tier.v);
  if (!spec->persistent.v && !spec->dataset.set)
    return col_fail_at (error, spec->persistent.mark, "'persistent: false' needs 'dataset', what a node reads in an epoch");
  if (spec->returns.v && spec->decoder.v == STO_DECODE_CPU)
    return col_fail_at (error, spec->returns.mark,
                        "'round_trip' is of batches that the GPU decodes; accepted with decoder gpu or engine");
  return check_gds (spec, error) && trn_check_stage (job, error);
}
