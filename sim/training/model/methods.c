/* Whether a workload has local steps and compressed gradients, and whether they can be. What they are: methods/local_steps.c,
 * program/compress.c. */
#include <math.h>

#include "model-private.h"

gboolean
trn_local_steps (const TrnModel *model)
{
  return model->spec->model.local.head.set;
}

gboolean
trn_local_check (const TrnModel *model, GError **error)
{
  const TrnLocalSpec *local = &model->spec->model.local;
  const TrnParallelSpec *p = &model->spec->parallel;
  const guint32 dp = model->grid.size[TRN_DIM_DP];
  if (!local->head.set)
    return TRUE;
  /* other cuts: trn_closed_takes says so; units of them are of fewer ranks */
  if (!model->job->any_cut && (dp % (guint32)local->workers.v != 0 || dp < (guint32)local->workers.v))
    return col_fail_at (error, local->workers.mark, "%.0f workers do not divide dp %u; use a divisor of it", local->workers.v, dp);
  if (local->fragments.v > local->every.v)
    return col_fail_at (error, local->fragments.mark, "'fragments' %.0f in 'every' %.0f steps; accepted: at most one a step",
                        local->fragments.v, local->every.v);
  if (local->overlap.v > floor (local->every.v / local->fragments.v))
    return col_fail_at (error, local->overlap.mark,
                        "'overlap' may take %.0f steps, and the next one begins after %.0f (every / fragments); use at most that",
                        local->overlap.v, floor (local->every.v / local->fragments.v));
  if (model->llm.moe.experts.v >= 1)
    return col_fail_at (error, local->head.mark, "local steps of a model with experts are not modelled; leave local_steps out");
  if (model->spec->model.hsdp.head.set)
    return col_fail_at (error, local->head.mark, "hsdp and local_steps both say which ranks are replicas; leave one out");
  if (model->spec->ddp.kind.v == TRN_DDP_REPLICAS || model->llm.net != NULL)
    return col_fail_at (error, local->head.mark, "local_steps is of a language model with a process a GPU; leave it out");
  if (p->pp.v > 1 && model->grid.stride[TRN_DIM_PP] > model->grid.stride[TRN_DIM_DP])
    return col_fail_at (
        error, local->head.mark,
        "each worker holds whole models: with pp %.0f, dp has to be the slowest dimension; write placement: [tp, cp, "
        "pp, dp]",
        p->pp.v);
  return TRUE;
}

TrnCompression
trn_compression (const TrnModel *model)
{
  const TrnCompressSpec *spec = &model->spec->model.compress;
  return spec->head.set ? (TrnCompression)spec->kind.v : TRN_COMPRESS_NONE;
}

gboolean
trn_compress_check (const TrnModel *model, GError **error)
{
  const TrnCompressSpec *spec = &model->spec->model.compress;
  const TrnCompression kind = trn_compression (model);
  if (spec->head.set && spec->rank.set && kind != TRN_COMPRESS_POWERSGD)
    return col_fail_at (error, spec->rank.mark, "'rank' is of powersgd, and kind is %s; leave it out",
                        base_name (trn_compression_names, (int)kind));
  if (kind == TRN_COMPRESS_NONE || model->sync == TRN_SYNC_NONE)
    return TRUE;
  if (model->sync != TRN_SYNC_DDP)
    return col_fail_at (
        error, spec->head.mark,
        "communication hooks compress the all-reduces of DDP, and here gradients are %s; leave compress out, or zero "
        "and fsdp",
        model->sync == TRN_SYNC_REPLICAS ? "copied to one GPU" : "reduce-scattered");
  const double held_B = mdl_format_B (model->reduce), to_B = kind == TRN_COMPRESS_INT8 ? 1 : 2;
  if (kind != TRN_COMPRESS_POWERSGD && held_B <= to_B)
    return col_fail_at (error, spec->kind.mark,
                        "gradients travel in %s already, which %s does not make smaller; use int8 or powersgd",
                        base_name (mdl_format_names, (int)model->reduce), base_name (trn_compression_names, (int)kind));
  return model->grid.copies < 2 ||
         col_fail_at (error, spec->head.mark, "compress beside a schedule with two copies of each stage is not modelled; use 1f1b");
}
