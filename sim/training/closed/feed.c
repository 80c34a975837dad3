/* At what pace a loader feeds the ranks of a layout. */
#include "closed-private.h"

const TrnLoaderPace *
trn_closed_feed (TrnLoaderPaces *paces, const TrnVariant *variant, GError **error)
{
  const guint32 *size = variant->model.grid.size;
  const TrnResult shape = { .has_model = TRUE,
                            .n_ranks = variant->model.grid.n,
                            .n_nodes = clu_n_nodes (variant->system.clu),
                            .tp = size[TRN_DIM_TP],
                            .cp = size[TRN_DIM_CP],
                            .dp = size[TRN_DIM_DP],
                            .pp = size[TRN_DIM_PP],
                            .micro_batches = 1,
                            .step_time_s = 1 };
  return trn_loader_pace (paces, &variant->job, &shape, error);
}

const char *
trn_closed_starved_by (const TrnJob *job, const TrnClosedQuery *query, double step_s)
{
  TrnVariant variant;
  const char *by = NULL;
  TrnLoaderPaces *paces = trn_loader_paces_new ();
  const TrnLoaderPace *pace = trn_variant_plan (job, query, &variant, NULL) ? trn_closed_feed (paces, &variant, NULL) : NULL;
  if (pace != NULL && trn_loader_pace_stall_s (pace, query->micro_batches, step_s) > 0)
    by = trn_loader_pace_by (pace, step_s / query->micro_batches);
  trn_model_clear (&variant.model);
  trn_loader_paces_free (paces);
  return by;
}
