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
    { m->overlap.ep.v, m->overlap.ep.mark, "overlap.ep" },
    { m->local.head.set, m->local.head.mark, "local_steps" },
    { m->compress.head.set && m->compress.kind.v != TRN_COMPRESS_NONE, m->compress.head.mark, "compress" },
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
