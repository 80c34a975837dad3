/* What has no closed form, with the place and what to write instead. */
#include "closed-private.h"

gboolean
trn_closed_check (const TrnJob *job, GError **error)
{
  const TrnModelSpec *m = &job->spec.model;
  if (m->model == NULL) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT, "the closed form of a step is of one training workload with a 'model'");
    return FALSE;
  }
  const struct {
    gboolean set;
    BaseMark mark;
    const char *key;
  } left_out[] = {
    { job->llm.net != NULL, base_yaml_mark (m->model), "model (a network of operations)" },
    { job->spec.checkpoint.tier.v != NULL, job->spec.checkpoint.head.mark, "checkpoint" },
    { job->spec.communicators.count.set && job->spec.communicators.every.v == TRN_CREATE_ITERATION,
      job->spec.communicators.every.mark, "communicators.every" },
    { job->spec.ddp.kind.v == TRN_DDP_REPLICAS, job->spec.ddp.kind.mark, "ddp.kind" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (left_out); i++)
    if (left_out[i].set)
      return col_fail_at (error, left_out[i].mark, "'%s' has no closed form; accepted: to leave it out, or the engine (run)",
                          left_out[i].key);
  if (m->pipeline.layout != NULL)
    return col_fail_at (error, base_yaml_mark (m->pipeline.layout),
                        "a 'layout' of its own has no closed form; accepted: even chunks");
  return !job->spec.loader.head.set || trn_loader_has_pace (&job->spec.loader, error);
}

gboolean
trn_closed_takes (const TrnJob *job, const TrnClosedQuery *query, GError **error)
{
  const TrnModelSpec *m = &job->spec.model;
  if (m->local.head.set && query->dp % (guint32)m->local.workers.v != 0)
    return col_fail_at (error, m->local.workers.mark, "%.0f workers do not divide dp %u; use a divisor of it", m->local.workers.v,
                        query->dp);
  if (m->overlap.ep.v && query->pp > 1 && query->schedule != MDL_SCHEDULE_INTERLEAVED)
    return col_fail_at (error, m->overlap.ep.mark,
                        "'ep' pairs passes of one stage or of schedule interleaved, not of %s on %u stages",
                        base_name (mdl_schedule_names, (int)query->schedule), query->pp);
  return !job->spec.loader.head.set || trn_loader_takes (&job->spec.loader, query->micro_batches, error);
}
