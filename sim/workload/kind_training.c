/* Workloads of kind `training`: a step of a model, or of layers with given times. */
#include "jobs-private.h"
#include "rounds-private.h"
#include "workload/llm.h"

static void
read_more (WrkScenario *scenario, const BaseYamlNode *node, const BaseSchemaContext *context)
{
  WrkTrainingJob *job = &scenario->training;
  job->node = node;
  wrk_failures_check (&job->spec, context->diag);
  if (job->spec.model.model != NULL)
    wrk_llm_read (job->spec.model.model, context, &job->llm);
}

static gboolean
check (const WrkScenario *scenario, GError **error)
{
  return wrk_training_check (&scenario->training, error);
}

static gboolean
run (const WrkScenario *scenario, WrkResult *result, GError **error)
{
  return wrk_training_run (&scenario->training, &result->training, &result->run, error);
}

static void
clear (WrkResult *result)
{
  wrk_training_result_clear (&result->training);
}

static double
time_s (const WrkResult *result)
{
  return result->training.step_time_s;
}

static const char *
bound_by (const WrkResult *result)
{
  return result->training.bound_by;
}

static gboolean
start (const WrkJob *job, const WrkResult *alone, WrkRunning *running, GError **error)
{
  const WrkTrainingJob *training = &job->view.training;
  if (wrk_job_has_rounds (job))
    running->rounds = wrk_rounds_start (training, &alone->training, (guint)job->spec.steps.v, running->net, error);
  else if (training->spec.model.model != NULL)
    running->model = wrk_model_start (training, running->net, FALSE, error);
  else
    running->step = wrk_step_start (training, running->net, error);
  return running->step != NULL || running->model != NULL || running->rounds != NULL;
}

static const BaseNum *
communicators (const WrkScenario *scenario, const WrkResult *result, guint32 *n_ranks)
{
  *n_ranks = result->training.n_ranks;
  return &scenario->training.spec.communicators;
}

const WrkKindOps wrk_kind_training = {
  .schema = &wrk_schema_training,
  .spec = G_STRUCT_OFFSET (WrkScenario, training.spec),
  .read = read_more,
  .check = check,
  .run = run,
  .clear = clear,
  .time_s = time_s,
  .bound_by = bound_by,
  .start = start,
  .communicators = communicators,
};
