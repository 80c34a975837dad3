/* A training step as a whole: the step, what its loader waits for, what its checkpoints stop. */
#include <math.h>

#include "model-private.h"
#include "staging-private.h"
#include "training-private.h"
#include "training/trace.h"

const char *const trn_part_names[TRN_PART_N] = {
  [TRN_PART_COMPUTE] = "compute",       [TRN_PART_EXPOSED_TP] = "exposed_tp",
  [TRN_PART_EXPOSED_DP] = "exposed_dp", [TRN_PART_EXPOSED_PP] = "exposed_pp",
  [TRN_PART_EXPOSED_CP] = "exposed_cp", [TRN_PART_EXPOSED_EP] = "exposed_ep",
  [TRN_PART_BUBBLE] = "bubble",         [TRN_PART_LAUNCH_GAP] = "launch_gap",
  [TRN_PART_COPY_WAIT] = "copy_wait",   [TRN_PART_STRAGGLER_WAIT] = "straggler_wait",
  [TRN_PART_OPTIMIZER] = "optimizer",   [TRN_PART_DATA_STALL] = "data_stall",
  [TRN_PART_CHECKPOINT] = "checkpoint", [TRN_PART_COMMUNICATORS] = "communicators",
};
const char *const trn_part_titles[TRN_PART_N] = {
  [TRN_PART_COMPUTE] = "compute",
  [TRN_PART_EXPOSED_TP] = "exposed tensor-parallel communication",
  [TRN_PART_EXPOSED_DP] = "exposed data-parallel communication",
  [TRN_PART_EXPOSED_PP] = "exposed pipeline-parallel communication",
  [TRN_PART_EXPOSED_CP] = "exposed context-parallel communication",
  [TRN_PART_EXPOSED_EP] = "exposed expert-parallel communication",
  [TRN_PART_BUBBLE] = "pipeline bubble",
  [TRN_PART_LAUNCH_GAP] = "kernel launch gaps",
  [TRN_PART_COPY_WAIT] = "waiting for copies",
  [TRN_PART_STRAGGLER_WAIT] = "waiting for stragglers",
  [TRN_PART_OPTIMIZER] = "optimizer",
  [TRN_PART_DATA_STALL] = "data stall",
  [TRN_PART_CHECKPOINT] = "checkpoint",
  [TRN_PART_COMMUNICATORS] = "creating communicators",
};

gboolean
trn_check (const TrnJob *job, GError **error)
{
  return trn_check_step (job, error) && trn_check_loader (job, error) && trn_check_checkpoint (job, error);
}

/* Communicators that every step creates: the GPU waits until they are there. */
static void
add_communicators (const TrnJob *job, TrnResult *out)
{
  const TrnCreateSpec *spec = &job->spec.communicators;
  MdlCreateTime create;
  if (!spec->count.set || spec->every.v != TRN_CREATE_ITERATION ||
      !col_system_create (job->system, spec->count.v, out->n_ranks, TRUE, &create))
    return;
  trn_step_longer (out, TRN_PART_COMMUNICATORS, create.time_s);
  out->provenance = MIN (out->provenance, create.source);
}

/* One outer exchange of local steps as a whole, behind the step that it follows: what travels, beside how many steps, what is
 * waited for, and the update of the outer parameters. */
static void
add_exchange (const TrnLocalResult *local, double from_s, ColRunInfo *info)
{
  if (!local->set)
    return;
  const char *lane = "one outer exchange";
  const double sent_s = from_s + local->exchange_s, waits_s = sent_s - local->wait_s;
  g_autofree char *fragment =
      local->fragments > 1 ? g_strdup_printf ("fragment 1 of %.0f, ", local->fragments) : g_strdup ("");
  col_run_span (info, g_strdup (lane),
                g_strdup_printf ("all_reduce over %.0f workers (%s%s), every %.0f steps", local->workers, fragment, local->format,
                                 local->every),
                from_s, sent_s);
  for (guint i = 0; i < (guint)local->overlap && from_s + i * local->inner_s < sent_s; i++)
    col_run_span (info, g_strdup_printf ("%s: steps", lane), g_strdup_printf ("step %u beside it", i + 1),
                  from_s + i * local->inner_s, from_s + (i + 1) * local->inner_s);
  if (local->wait_s > 0)
    col_run_span (info, g_strdup_printf ("%s: steps", lane), g_strdup ("wait for the exchange"), waits_s, sent_s);
  const double done_s = local->wait_s > 0 ? sent_s : from_s + local->overlap * local->inner_s;
  col_run_span (info, g_strdup_printf ("%s: steps", lane), g_strdup ("update of the outer parameters"), done_s,
                done_s + local->update_s);
}

/* What a step has behind its last operation, as slices of a lane of its own; of a checkpoint, the mean of a step. And one
 * checkpoint as a whole, from the step behind which it is saved. */
static void
add_spans (const TrnResult *out, double from_s, ColRunInfo *info)
{
  static const TrnPart parts[] = { TRN_PART_COMMUNICATORS, TRN_PART_DATA_STALL, TRN_PART_CHECKPOINT };
  const double end_s = from_s;
  const TrnLocalResult *local = &out->local;
  const struct {
    const char *name;
    double mean_s;
  } outer[] = { { "outer exchange", local->set ? local->fragments * local->wait_s / local->every : 0 },
                { "outer update", local->set ? local->update_s / local->every : 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (outer); i++)
    if (outer[i].mean_s > 0) {
      col_run_span (info, g_strdup ("outside the step's operations"), g_strdup_printf ("%s (mean of a step)", outer[i].name),
                    from_s, from_s + outer[i].mean_s);
      from_s += outer[i].mean_s;
    }
  add_exchange (local, end_s, info);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    const double part_s = out->part_s[parts[i]];
    if (part_s > 0)
      col_run_span (info, g_strdup ("outside the step's operations"),
                    g_strdup_printf ("%s%s", trn_part_titles[parts[i]], parts[i] == TRN_PART_CHECKPOINT ? " (mean of a step)" : ""),
                    from_s, from_s + part_s);
    from_s += fmax (part_s, 0);
  }
  const TrnCheckpointResult *save = &out->checkpoint;
  if (!save->set)
    return;
  if (save->stall_s > 0)
    col_run_span (info, g_strdup ("one checkpoint"), g_strdup ("steps stand still"), end_s, end_s + save->stall_s);
  if (save->drain_s > 0)
    col_run_span (info, g_strdup ("one checkpoint"), g_strdup ("written beside steps"), end_s + save->stall_s,
                  end_s + save->stall_s + save->drain_s);
}

gboolean
trn_run (const TrnJob *job, TrnResult *out, ColRunInfo *info, GError **error)
{
  if (!trn_run_step (job, out, info, error))
    return FALSE;
  const double step_s = out->step_time_s;
  if (!trn_add_local_steps (job, out, error))
    return FALSE;
  add_communicators (job, out);
  const TrnResult before = *out;
  if (!trn_add_loader (job, out, info, error) || !trn_add_stage (job, &before, out, info, error) ||
      !trn_add_cache (job, &before, out, info, error) ||
      !trn_add_checkpoint (job, out, info, error))
    return FALSE;
  if (info->spans != NULL)
    add_spans (out, step_s, info);
  if (out->loader.set && out->step_time_s > 0)
    col_run_cpu (info, COL_CPU_LOADER, out->loader.core_s / out->step_time_s);
  if (out->step_time_s > 0)
    col_run_diagnose (info, 1 - out->part_s[TRN_PART_COMPUTE] / out->step_time_s, out->loader.starved_by);
  return TRUE;
}

void
trn_result_clear (TrnResult *result)
{
  col_coll_clear (&result->all_reduce);
  g_clear_pointer (&result->memory, g_array_unref);
  g_clear_pointer (&result->stages, g_array_unref);
  g_clear_pointer (&result->terms, g_array_unref);
  g_clear_pointer (&result->memory_advice, g_free);
  g_clear_pointer (&result->trace, trn_trace_free);
}

ColComm *
trn_comm (const TrnJob *job, const TrnResult *result, const ColSettings *settings, ColCollRequest *request, GError **error)
{
  g_return_val_if_fail (result->all_reduce.n_ranks > 0, NULL);
  *request = (ColCollRequest){ result->all_reduce.op,     result->all_reduce.size_B,   result->all_reduce.dtype,
                               (MdlAlgo)job->spec.algo.v, (MdlProto)job->spec.proto.v, 0 };
  /* the replicas of a stage, and of its partner where that is another */
  guint32 dp = result->dp, stage = result->all_reduce_stage, partner = result->all_reduce_partner,
          n = partner != stage ? 2 * dp : dp;
  g_autofree guint32 *gpu = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    gpu[i] = g_array_index (job->system->gpus, guint32, (i < dp ? stage : partner) * dp + i % dp);
  return col_comm_new (job->system->clu, settings, gpu, n, error);
}

gboolean
trn_state (const TrnJob *job, TrnResult *out, GError **error)
{
  g_auto (TrnModel) model = { 0 };
  g_autoptr (GArray) stages = g_array_new (FALSE, FALSE, sizeof (TrnMemory));
  if (!trn_model_plan (job, &model, error))
    return FALSE;
  trn_model_memory (&model, stages);
  trn_model_state (&model, stages, &out->state_B, &out->restore_B);
  return TRUE;
}
