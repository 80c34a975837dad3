/* What a training scenario's size is counted in, and the settings that change it. */
#include "training/scale.h"

#include <math.h>

#include "closed-private.h"
#include "training-private.h"

#define MANY_ROUNDS 1000u

static gboolean
scale_of_model (const TrnJob *job, TrnScale *out, GError **error)
{
  g_auto (TrnModel) model = { 0 };
  if (!trn_model_plan (job, &model, error))
    return FALSE;
  const guint32 *size = model.grid.size;
  out->replica = size[TRN_DIM_TP] * size[TRN_DIM_CP] * size[TRN_DIM_PP];
  out->pp = size[TRN_DIM_PP];
  out->pass = model.query.micro_batch;
  out->batch = (double)model.m * size[TRN_DIM_DP] * out->pass;
  out->fixed_passes = job->spec.model.accumulate.set;
  out->each_pass = model.sync == TRN_SYNC_SHARDS || model.sync == TRN_SYNC_GRADIENTS;
  /* where memory grows with the micro-batches, or samples may be late, each number of them is run */
  const gboolean grows =
      out->pp > 1 && (mdl_schedule_facts (model.pipe.schedule)->grows_with_m || job->spec.model.framework.v == MDL_FRAMEWORK_EAGER);
  if (!grows && !job->spec.loader.head.set) {
    MdlPipeline long_one = model.pipe;
    long_one.m = MANY_ROUNDS * out->pp;
    out->settled = trn_turns_followed (&long_one);
  }
  return TRUE;
}

static void
scale_of_layers (const TrnJob *job, TrnScale *out)
{
  const TrnSpec *spec = &job->spec;
  const double pp = spec->parallel.pp.v, dp = spec->parallel.dp.set ? spec->parallel.dp.v : job->system->gpus->len / pp;
  out->replica = out->pp = (guint32)pp;
  out->pass = 1;
  out->batch = spec->micro_batches.v * dp;
}

gboolean
trn_scale (const TrnJob *job, BaseMark mark, TrnScale *out, GError **error)
{
  if (job == NULL)
    return col_fail_at (error, mark, "not one training step; accepted: a scenario with one workload of kind training or serving");
  const TrnSpec *spec = &job->spec;
  TrnScale scale = { .has_model = spec->model.model != NULL,
                     .nodes = clu_n_nodes (job->system->clu),
                     .fixed_dp = spec->parallel.dp.set };
  if (clu_n_kinds (job->system->clu) > 1)
    return col_fail_at (error, mark, "nodes that differ; accepted: a topology without 'overrides'");
  scale.gpus_per_node = job->system->gpus->len / scale.nodes;
  scale.adapters = clu_nics_of_node (job->system->clu, &scale.adapter_Bps);
  if (scale.has_model && !scale_of_model (job, &scale, error))
    return FALSE;
  if (!scale.has_model)
    scale_of_layers (job, &scale);
  *out = scale;
  return TRUE;
}

double
trn_scale_replicas (const TrnScale *scale, guint32 nodes)
{
  const double replicas = (double)nodes * scale->gpus_per_node / scale->replica;
  return floor (replicas) < replicas ? 0 : replicas;
}

double
trn_scale_passes (const TrnScale *scale, guint32 nodes, double batch)
{
  const double each = trn_scale_replicas (scale, nodes) * scale->pass, passes = each > 0 ? batch / each : 0;
  return floor (passes) < passes ? 0 : passes;
}

static void add (GPtrArray *sets, const char *format, ...) G_GNUC_PRINTF (2, 3);
static void
add (GPtrArray *sets, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (sets, g_strdup_vprintf (format, args));
  va_end (args);
}

gboolean
trn_scale_sets (const TrnScale *scale, guint32 nodes, double batch, double rate_Bps, GPtrArray *sets, GError **error)
{
  const double replicas = trn_scale_replicas (scale, nodes), passes = trn_scale_passes (scale, nodes, batch);
  char rate[G_ASCII_DTOSTR_BUF_SIZE];
  if (!(replicas > 0)) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT, "%u GPUs do not divide into replicas of %u", nodes * scale->gpus_per_node,
                 scale->replica);
    return FALSE;
  }
  if (!(passes > 0)) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT,
                 "a batch of %.10g does not divide by %.0f replicas x micro-batch %.0f; accepted: a multiple of %.0f", batch,
                 replicas, scale->pass, replicas * scale->pass);
    return FALSE;
  }
  add (sets, "cluster.nodes=%u", nodes);
  if (scale->fixed_dp)
    add (sets, "workload.parallel.dp=");
  if (scale->fixed_passes)
    add (sets, "workload.accumulate=");
  if (scale->has_model)
    add (sets, "workload.global_batch=%.0f", batch);
  else
    add (sets, "workload.micro_batches=%.0f", passes);
  if (scale->adapters > 0)
    add (sets, "topology.node.nics.rate=%s B/s", g_ascii_formatd (rate, sizeof rate, "%.17g", rate_Bps));
  return TRUE;
}
