/* A training step as a whole: the step, what its loader waits for, what its checkpoints stop. */
#include "model-private.h"
#include "stage-private.h"
#include "workload/trace.h"

const char *const wrk_part_names[WRK_PART_N] = {
  [WRK_PART_COMPUTE] = "compute",       [WRK_PART_EXPOSED_TP] = "exposed_tp",
  [WRK_PART_EXPOSED_DP] = "exposed_dp", [WRK_PART_EXPOSED_PP] = "exposed_pp",
  [WRK_PART_EXPOSED_CP] = "exposed_cp", [WRK_PART_EXPOSED_EP] = "exposed_ep",
  [WRK_PART_BUBBLE] = "bubble",         [WRK_PART_LAUNCH_GAP] = "launch_gap",
  [WRK_PART_COPY_WAIT] = "copy_wait",   [WRK_PART_STRAGGLER_WAIT] = "straggler_wait",
  [WRK_PART_OPTIMIZER] = "optimizer",   [WRK_PART_DATA_STALL] = "data_stall",
  [WRK_PART_CHECKPOINT] = "checkpoint",
};

gboolean
wrk_training_check (const WrkTrainingJob *job, GError **error)
{
  return (job->spec.model.model != NULL ? wrk_check_model (job, error) : wrk_check_training (job, error)) &&
         wrk_check_loader (job, error) && wrk_check_checkpoint (job, error);
}

gboolean
wrk_training_run (const WrkTrainingJob *job, WrkTrainingResult *out, WrkRunInfo *info, GError **error)
{
  if (!(job->spec.model.model != NULL ? wrk_run_model : wrk_run_training) (job, out, info, error))
    return FALSE;
  const WrkTrainingResult before = *out;
  return wrk_add_loader (job, out, info, error) && wrk_add_stage (job, &before, out, info, error) &&
         wrk_add_checkpoint (job, out, info, error);
}

void
wrk_training_result_clear (WrkTrainingResult *result)
{
  wrk_coll_clear (&result->all_reduce);
  g_clear_pointer (&result->memory, g_array_unref);
  g_clear_pointer (&result->terms, g_array_unref);
  g_clear_pointer (&result->memory_advice, g_free);
  g_clear_pointer (&result->trace, wrk_trace_free);
}

WrkComm *
wrk_training_comm (const WrkTrainingJob *job, const WrkTrainingResult *result, const WrkSettings *settings, WrkCollRequest *request,
                   GError **error)
{
  g_return_val_if_fail (result->all_reduce.n_ranks > 0, NULL);
  *request = (WrkCollRequest){ result->all_reduce.op,     result->all_reduce.size_B,   result->all_reduce.dtype,
                               (MdlAlgo)job->spec.algo.v, (MdlProto)job->spec.proto.v, 0 };
  return wrk_gradient_comm (job, settings, result->dp, result->all_reduce_stage, result->all_reduce_partner, error);
}

gboolean
wrk_training_state (const WrkTrainingJob *job, WrkTrainingResult *out, GError **error)
{
  g_auto (WrkModel) model = { 0 };
  g_autoptr (GArray) stages = g_array_new (FALSE, FALSE, sizeof (WrkMemory));
  if (!wrk_model_plan (job, &model, error))
    return FALSE;
  wrk_model_memory (&model, stages);
  wrk_model_state (&model, stages, &out->state_B, &out->restore_B);
  return TRUE;
}
