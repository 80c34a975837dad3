/* Running a loaded scenario, and what its results have in common. */
#include "jobs-private.h"

ColComm *
scn_comm (const Scn *scenario, const ScnResult *result, const ColSettings *settings, ColCollRequest *request, GError **error)
{
  if (result->kind == SCN_KIND_TRAINING)
    return trn_comm (&scenario->training, &result->training, settings, request, error);
  g_return_val_if_fail (result->coll.n_ranks > 0, NULL);
  *request = scn_collective_request (&scenario->collective);
  return col_system_comm (&scenario->system, settings, result->coll.n_ranks, error);
}

/* Communicators that the workload asks for, of all its ranks. */
static void
make_communicators (const Scn *scenario, ScnResult *result)
{
  const ScnKindOps *kind = scn_kind_ops (scenario->kind);
  guint32 ranks = 0;
  gboolean each_step = FALSE;
  const BaseNum *asked = kind->communicators != NULL ? kind->communicators (scenario, result, &ranks, &each_step) : NULL;
  MdlCreateTime create;
  if (asked == NULL || !asked->set)
    return;
  if (!col_system_create (&scenario->system, asked->v, ranks, each_step, &create)) {
    col_run_warn (&result->run, "'communicators' has no effect: the plain library makes none");
    return;
  }
  result->communicators = (unsigned)asked->v;
  result->create_s = create.time_s;
  result->connect_s = create.connect_s;
  result->create_each_step = each_step;
  result->create_source = create.source;
}

static gboolean
is_ready (const Scn *scenario, GError **error)
{
  const ScnKindOps *ops = scn_kind_ops (scenario->kind);
  return ops->ready == NULL || ops->ready (scenario, error);
}

gboolean
scn_ready (Scn *scenario, GError **error)
{
  if (scenario->jobs == NULL)
    return is_ready (scenario, error);
  for (guint j = 0; j < scenario->jobs->len; j++) {
    ScnJob *job = scenario->jobs->pdata[j];
    scn_jobs_lend (scenario, job);
    if (!is_ready (&job->view, error))
      return FALSE;
  }
  return TRUE;
}

ScnResult *
scn_run (Scn *scenario, gboolean want_spans, GError **error)
{
  g_autoptr (ScnResult) result = g_new0 (ScnResult, 1);
  result->kind = scenario->kind;
  result->repeat = 1;
  col_run_init (&result->run, want_spans);
  if (scenario->jobs != NULL)
    return scn_jobs_run (scenario, result, error) ? g_steal_pointer (&result) : NULL;
  if (!scn_kind_ops (scenario->kind)->run (scenario, result, error))
    return NULL;
  make_communicators (scenario, result);
  return g_steal_pointer (&result);
}

void
scn_result_free (ScnResult *result)
{
  if (result == NULL)
    return;
  if (scn_kind_ops (result->kind)->clear != NULL)
    scn_kind_ops (result->kind)->clear (result);
  g_free (result->own);
  col_run_clear (&result->run);
  g_clear_pointer (&result->jobs, g_ptr_array_unref);
  g_free (result);
}
