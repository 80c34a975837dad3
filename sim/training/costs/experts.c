/* Experts' exchange by a library: what is asked of it, what its answer comes to, and whether it can run at all. */
#include <math.h>
#include <string.h>

#include "model-private.h"

ColMoeRequest
trn_moe_request (const TrnModel *model, const MdlWorkColl *coll)
{
  const MdlMoeChoice choice = mdl_layer_choice (&model->llm);
  return (ColMoeRequest){ .op = coll->moe_op,
                          .backend = mdl_dispatcher_backend (model->query.dispatcher),
                          .tokens = coll->moe_tokens,
                          .hidden = model->llm.hidden.v,
                          .experts = choice.experts,
                          .top_k = choice.top_k,
                          .groups = choice.groups,
                          .top_groups = choice.top_groups,
                          .imbalance = model->query.capacity > 0 ? 1 : model->query.imbalance,
                          .format = coll->format };
}

gboolean
trn_moe_refuse (const TrnModel *model, GError *why, GError **error)
{
  col_fail_at (error, model->spec->model.moe.dispatcher.mark, "dispatcher %s, over ep %u: %s (nccl is dispatcher alltoall here)",
               base_name (mdl_dispatcher_names, (int)model->query.dispatcher), model->grid.ep, why->message);
  g_error_free (why);
  return FALSE;
}

double
trn_moe_size_alike (const MdlMoeCost *cost, double ranks, double nodes)
{
  return nodes > 1 ? cost->nic_B * nodes / (nodes - 1) : cost->nvlink_B * ranks / (ranks - 1);
}

/* What moves bytes is the longest term, which stands last. */
void
trn_moe_take (const ColMoeAnswer *answer, ColAnswer *coll)
{
  const MdlMoeCost *from = &answer->cost;
  MdlCollCost *cost = &coll->cost;
  cost->time_s = from->time_s;
  cost->latency_s = from->n_terms > 0 ? from->time_s - from->term[from->n_terms - 1].value_s : 0;
  cost->bound_Bps = cost->time_s > cost->latency_s ? coll->size_B / (cost->time_s - cost->latency_s) : HUGE_VAL;
  cost->channels = (unsigned)from->sms;
  cost->band = from->band;
  cost->source = coll->provenance = from->source;
  cost->n_terms = from->n_terms;
  memcpy (cost->term, from->term, from->n_terms * sizeof *from->term);
  coll->time_s = answer->time_s;
  coll->time_lo_s = answer->time_lo_s;
  coll->time_hi_s = answer->time_hi_s;
  g_snprintf (coll->bound_by, sizeof coll->bound_by, "%s: %s", base_name (mdl_moe_backend_names, (int)answer->request.backend),
              from->bound_by);
}

gboolean
trn_check_experts (const TrnJob *job, GError **error)
{
  g_auto (TrnModel) model = { 0 };
  if (!trn_model_plan (job, &model, error))
    return FALSE;
  if (model.query.dispatcher == MDL_DISPATCHER_ALLTOALL || model.grid.ep < 2)
    return TRUE;
  g_autoptr (TrnPrices) prices = trn_prices_new (&model, FALSE, NULL);
  const MdlWorkColl ways[] = { { .moe_op = MDL_MOE_DISPATCH, .moe_tokens = 1, .format = model.query.dispatch },
                               { .moe_op = MDL_MOE_COMBINE, .moe_tokens = 1, .format = model.query.activation } };
  for (guint32 pp = 0; pp < model.grid.size[TRN_DIM_PP]; pp++)
    for (size_t i = 0; i < G_N_ELEMENTS (ways); i++) {
      const ColMoeRequest request = trn_moe_request (&model, &ways[i]);
      if (!trn_prices_can_exchange (prices, pp, &request, error))
        return FALSE;
    }
  return TRUE;
}
