/* Workloads of kind `training`: a step of a model, or of layers with given times. */
#include "jobs-private.h"
#include "training/llm.h"
#include "training/rounds.h"

/* A sequence that is left out is as long as those of the model's training, where that is known. */
static void
take_sequence (TrnJob *job)
{
  const MdlLlm *llm = &job->llm;
  const BaseNum *trained = llm->context.set ? &llm->context : &llm->positions.length;
  TrnModelSpec *model = &job->spec.model;
  if (llm->net != NULL) /* a sample is counted as one */
    model->sequence = (BaseNum){ .v = 1, .set = TRUE, .source = BASE_SOURCE_DATASHEET };
  if (model->sequence.set || !trained->set)
    return;
  model->sequence = (BaseNum){ .v = trained->v, .set = TRUE, .source = BASE_SOURCE_ASSUMED };
  model->sequence_assumed = TRUE;
}

static void
read_more (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context)
{
  TrnJob *job = &scenario->training;
  job->node = node;
  trn_failures_check (&job->spec, context->diag);
  if (job->spec.model.model != NULL && trn_llm_read (job->spec.model.model, context, &job->llm))
    take_sequence (job);
}

static gboolean
check (const Scn *scenario, GError **error)
{
  return trn_check (&scenario->training, error);
}

static gboolean
ready (const Scn *scenario, GError **error)
{
  return trn_check_experts (&scenario->training, error);
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  return trn_run (&scenario->training, &result->training, &result->run, error);
}

static void
clear (ScnResult *result)
{
  trn_result_clear (&result->training);
}

static gboolean
start (const ScnJob *job, const ScnResult *alone, ScnRunning *running, GError **error)
{
  const TrnJob *training = &job->view.training;
  if (scn_job_has_rounds (job))
    running->rounds = trn_rounds_start (training, &alone->training, (guint)job->spec.steps.v, running->net, error);
  else
    running->step = trn_step_start (training, running->net, FALSE, error);
  return running->step != NULL || running->rounds != NULL;
}

static const BaseNum *
communicators (const Scn *scenario, const ScnResult *result, guint32 *n_ranks, gboolean *each_step)
{
  *n_ranks = result->training.n_ranks;
  *each_step = scenario->training.spec.communicators.every.v == TRN_CREATE_ITERATION;
  return &scenario->training.spec.communicators.count;
}

const ScnKindOps scn_kind_training = {
  .schema = &trn_schema_training,
  .spec = G_STRUCT_OFFSET (Scn, training.spec),
  .read = read_more,
  .check = check,
  .ready = ready,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnResult, "time_s", training.step_time_s),
  .bound = BASE_MEMBER (ScnResult, "bound_by", training.bound_by),
  .start = start,
  .communicators = communicators,
};
