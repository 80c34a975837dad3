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

/* ---- a round ---- */

/* Of one fragment, all stages. */
static gboolean
exchange (const TrnModel *model, const TrnLocalPrices *prices, TrnLocalResult *out, double *most, GError **error)
{
  const TrnLocalSpec *local = &model->spec->model.local;
  const MdlFormat format = format_of ((TrnOuterFormat)local->format.v);
  for (guint32 pp = 0; pp < model->pipe.p; pp++) {
    const double elements = prices->elements (prices->user, pp) / trn_grid_group_size (&model->grid, TRN_GROUP_SHARD);
    const double size_B = elements * mdl_format_B (format) / local->fragments.v;
    const TrnPriced *priced =
        size_B > 0 ? prices->price (prices->user, pp, TRN_GROUP_REPLICA, MDL_OP_ALL_REDUCE, size_B, format, error) : NULL;
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
bring_together (const TrnModel *model, const TrnLocalPrices *prices, double most, double *out, GError **error)
{
  const double ranks = trn_grid_group_size (&model->grid, TRN_GROUP_SHARD);
  if (model->sync != TRN_SYNC_DDP || ranks <= 1)
    return TRUE;
  const TrnPriced *priced = prices->price (prices->user, 0, TRN_GROUP_SHARD, MDL_OP_ALL_GATHER,
                                           most * ranks * mdl_format_B (model->parameters), model->parameters, error);
  *out += priced != NULL ? priced->time_s : 0;
  return priced != NULL;
}

gboolean
trn_local_round (const TrnModel *model, const TrnLocalPrices *prices, TrnLocalResult *out, GError **error)
{
  const TrnLocalSpec *local = &model->spec->model.local;
  double most = 0;
  *out = (TrnLocalResult){ .set = TRUE,
                           .every = local->every.v,
                           .workers = local->workers.v,
                           .fragments = local->fragments.v,
                           .overlap = local->overlap.v,
                           .format = base_name (trn_outer_names, local->format.v),
                           .source = BASE_SOURCE_MEASURED };
  if (!exchange (model, prices, out, &most, error))
    return FALSE;
  const MdlMemory update = { .kind = MDL_MEMORY_ADAM, .read_B = 24 * most, .written_B = 16 * most, .terse = TRUE };
  out->update_s = mdl_memory_time_s (model->job->system->kernels, &model->gpu, &update);
  out->rate_Bps = out->exchange_s > 0 ? out->size_B / out->exchange_s : 0;
  return bring_together (model, prices, most, &out->update_s, error);
}

TrnLocalLonger
trn_local_longer (TrnLocalResult *round, double step_s)
{
  round->inner_s = step_s;
  round->wait_s = fmax (0, round->exchange_s - round->overlap * step_s);
  const double waits_s = round->fragments * round->wait_s / round->every;
  return (TrnLocalLonger){ waits_s, round->update_s / round->every, waits_s * round->band / (1 + round->band),
                           waits_s * round->band };
}

/* ---- of a step that the engine ran ---- */

typedef struct {
  TrnHeld held;
  TrnPrices *prices;
} Simulated;

/* What ranks of a pipeline rank have together, of all that is trained. */
static double
elements_of (void *user, guint32 pp)
{
  const TrnHeld *held = &((const Simulated *)user)->held;
  const TrnModel *model = held->model;
  double sum = 0;
  for (guint32 c = 0; c < mdl_schedule_chunks (&model->pipe); c++) {
    const guint32 position = mdl_schedule_position (&model->pipe, (MdlPlace){ pp, c });
    for (guint32 u = 0; u < trn_held_units (held, position); u++)
      sum += trn_held_count (trn_held_unit (held, position, u)).trained_dense;
  }
  return sum;
}

static const TrnPriced *
price_of (void *user, guint32 pp, TrnGroupKind group, MdlOp op, double size_B, MdlFormat format, GError **error)
{
  return trn_prices_coll (((const Simulated *)user)->prices, group, pp, op, size_B, format, error);
}

gboolean
trn_add_local_steps (const TrnJob *job, TrnResult *training, GError **error)
{
  if (!job->spec.model.local.head.set)
    return TRUE;
  g_auto (TrnModel) model = { 0 };
  if (!trn_model_plan (job, &model, error))
    return FALSE;
  g_autoptr (TrnPrices) prices = trn_prices_new (&model, FALSE, NULL);
  Simulated simulated = { .prices = prices };
  trn_held_make (&model, &simulated.held);
  const TrnLocalPrices of = { elements_of, price_of, &simulated };
  if (!trn_local_round (&model, &of, &training->local, error))
    return FALSE;
  const TrnLocalLonger longer = trn_local_longer (&training->local, training->step_time_s);
  trn_step_longer (training, TRN_PART_EXPOSED_DP, longer.waits_s);
  trn_step_longer (training, TRN_PART_OPTIMIZER, longer.updates_s);
  training->step_time_lo_s -= longer.less_s;
  training->step_time_hi_s += longer.more_s;
  training->provenance = MIN (training->provenance, training->local.source);
  return TRUE;
}
