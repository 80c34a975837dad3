/* Local steps (DiLoCo): workers, each some of the data-parallel ranks, train alone for H steps and then exchange what changed.
 *
 * Inside a worker a step is as it always is: gradients are reduced among its ranks. Every H steps each rank has the difference of
 * the parameters that it holds a part of to those after the last exchange (the pseudo-gradient), in `format`; an all-reduce over
 * the ranks of all workers that hold the same part adds them up, and SGD with Nesterov's momentum updates the outer parameters,
 * which the worker then goes on from. A rank holds n = its parameters / ranks that share them, and two fp32 values of each more:
 * 8 n B.
 *
 *     exchange = all-reduce of n / F x B over the workers, F times a round; update = 40 n B at memory's rate
 *     a step takes F max (0, exchange - o step) / H + update / H longer on average
 *
 * F fragments are exchanged one after the other, H / F steps apart (Streaming DiLoCo); o steps may pass until the sum is used,
 * beside which it travels. Update: pseudo-gradient (read 2 x 4, write 4), momentum and outer parameters (read 3 x 4, write 2 x
 * 4), parameters (write 4, read 4 by the next step); with DDP the ranks of a worker then gather each other's parts. Pipeline
 * stages exchange one after the other, as their ranks share the link between sites. int8 and int4 travel as bytes and half bytes;
 * scales (1 in 1024) are left out, as is the loss in quality, of which nothing is said.
 * Source: Douillard et al. 2311.08105 (DiLoCo), algorithm 1; Jaghouar et al. 2407.07852 (OpenDiLoCo: fp16, int8); Douillard et al.
 * 2501.18512 (Streaming DiLoCo: fragments, overlap, 4 bits).
 * Valid: dense models; workers of equal size; the exchange does not slow the steps that it runs beside.
 * Check: test_training_methods. */
#include <math.h>

#include "held-private.h"
#include "training-private.h"

static MdlFormat
format_of (TrnOuterFormat format)
{
  static const MdlFormat formats[] = { [TRN_OUTER_FP32] = MDL_FORMAT_FP32,
                                       [TRN_OUTER_BF16] = MDL_FORMAT_BF16,
                                       [TRN_OUTER_FP16] = MDL_FORMAT_FP16,
                                       [TRN_OUTER_INT8] = MDL_FORMAT_FP8,
                                       [TRN_OUTER_INT4] = MDL_FORMAT_FP4 };
  return formats[format];
}

/* Elements that a rank of a pipeline rank exchanges: its part of what is trained. */
static double
elements_of (const TrnHeld *held, guint32 pp)
{
  const TrnModel *model = held->model;
  double sum = 0;
  for (guint32 c = 0; c < mdl_schedule_chunks (&model->pipe); c++) {
    const guint32 position = mdl_schedule_position (&model->pipe, (MdlPlace){ pp, c });
    for (guint32 u = 0; u < trn_held_units (held, position); u++)
      sum += trn_held_count (trn_held_unit (held, position, u)).trained_dense;
  }
  return sum / trn_grid_group_size (&model->grid, TRN_GROUP_SHARD);
}

/* Of one fragment, all stages. */
static gboolean
exchange (const TrnHeld *held, TrnPrices *prices, TrnLocalResult *out, double *most, GError **error)
{
  const TrnModel *model = held->model;
  const TrnLocalSpec *local = &model->spec->model.local;
  const MdlFormat format = format_of ((TrnOuterFormat)local->format.v);
  for (guint32 pp = 0; pp < model->pipe.p; pp++) {
    const double elements = elements_of (held, pp), size_B = elements * mdl_format_B (format) / local->fragments.v;
    const TrnPriced *priced =
        size_B > 0 ? trn_prices_coll (prices, TRN_GROUP_REPLICA, pp, MDL_OP_ALL_REDUCE, size_B, format, error) : NULL;
    if (size_B > 0 && priced == NULL)
      return FALSE;
    *most = fmax (*most, elements);
    out->size_B += size_B;
    out->exchange_s += priced != NULL ? priced->time_s : 0;
    if (priced != NULL) {
      g_strlcpy (out->bound_by, priced->coll.bound_by, sizeof out->bound_by);
      out->band = fmax (out->band, priced->coll.cost.band);
      out->source = MIN (out->source, priced->coll.provenance);
    }
  }
  return TRUE;
}

/* DDP: each rank has updated its part of the outer parameters, and all need all of them. */
static gboolean
bring_together (const TrnHeld *held, TrnPrices *prices, double most, double *out, GError **error)
{
  const TrnModel *model = held->model;
  const double ranks = trn_grid_group_size (&model->grid, TRN_GROUP_SHARD);
  if (model->sync != TRN_SYNC_DDP || ranks <= 1)
    return TRUE;
  const TrnPriced *priced = trn_prices_coll (prices, TRN_GROUP_SHARD, 0, MDL_OP_ALL_GATHER,
                                             most * ranks * mdl_format_B (model->parameters), model->parameters, error);
  *out += priced != NULL ? priced->time_s : 0;
  return priced != NULL;
}

gboolean
trn_add_local_steps (const TrnJob *job, TrnResult *training, GError **error)
{
  const TrnLocalSpec *local = &job->spec.model.local;
  TrnLocalResult *out = &training->local;
  double most = 0;
  if (!local->head.set)
    return TRUE;
  g_auto (TrnModel) model = { 0 };
  if (!trn_model_plan (job, &model, error))
    return FALSE;
  TrnHeld held;
  trn_held_make (&model, &held);
  g_autoptr (TrnPrices) prices = trn_prices_new (&model, FALSE, NULL);
  *out = (TrnLocalResult){ .set = TRUE,
                           .every = local->every.v,
                           .workers = local->workers.v,
                           .fragments = local->fragments.v,
                           .overlap = local->overlap.v,
                           .format = base_name (trn_outer_names, local->format.v),
                           .source = BASE_SOURCE_MEASURED };
  if (!exchange (&held, prices, out, &most, error))
    return FALSE;
  const MdlMemory update = { .kind = MDL_MEMORY_ADAM, .read_B = 24 * most, .written_B = 16 * most, .terse = TRUE };
  out->update_s = mdl_memory_time_s (job->system->kernels, &model.gpu, &update);
  if (!bring_together (&held, prices, most, &out->update_s, error))
    return FALSE;
  out->wait_s = fmax (0, out->exchange_s - local->overlap.v * training->step_time_s);
  const double waits_s = local->fragments.v * out->wait_s / local->every.v, updates_s = out->update_s / local->every.v;
  out->rate_Bps = out->exchange_s > 0 ? out->size_B / out->exchange_s : 0;
  out->inner_s = training->step_time_s;
  trn_step_longer (training, TRN_PART_EXPOSED_DP, waits_s);
  trn_step_longer (training, TRN_PART_OPTIMIZER, updates_s);
  training->step_time_lo_s -= waits_s * out->band / (1 + out->band);
  training->step_time_hi_s += waits_s * out->band;
  training->provenance = MIN (training->provenance, out->source);
  return TRUE;
}
