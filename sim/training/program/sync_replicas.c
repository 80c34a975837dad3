/* Replicas of one process: before each forward pass the host makes replicas of all modules and the first GPU broadcasts all
 * parameters; behind each backward pass, when the gradients of all replicas are complete, they are summed up there, and that GPU
 * alone updates (PyTorch torch/nn/parallel/data_parallel.py, replicate.py, _functions.py: the gradient of Broadcast is
 * ReduceAddCoalesced). The host queues kernels of one GPU after those of another. */
#include "sync-private.h"

gboolean
trn_sync_enter_replicas (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error)
{
  TrnBuild *b = sync->b;
  EngTask task;
  if (turn->kind != MDL_TURN_FORWARD || unit > 0)
    return TRUE;
  sync->beside_s = 0;
  EngTask entry = g_array_index (wait, EngTask, 0);
  if (turn->micro_batch != sync->first[turn->chunk]) { /* the first one's are made at the end of the step before */
    EngTask made = trn_build_compute (b, sync->lane, TRN_STEP_HOST, b->host.replicas_s, NULL, "replicate");
    g_array_append_val (wait, made);
  }
  guint32 position = mdl_schedule_position (&sync->model->pipe, (MdlPlace){ sync->lane, turn->chunk });
  for (guint32 u = 0; u < trn_cut_units (sync->model, position); u++) {
    const TrnUnit *what = trn_sync_unit (sync, turn->chunk, u, error);
    if (what == NULL)
      return FALSE;
    const MdlFormat format = sync->model->parameters;
    const TrnExchange e = { TRN_ROLE_DP,
                            TRN_GROUP_DP,
                            MDL_OP_BROADCAST,
                            format,
                            (what->dense + what->expert) * mdl_format_B (format),
                            .name = "broadcast parameters" };
    if (!trn_sync_add (sync, &e, entry, &task, error))
      return FALSE;
    g_array_append_val (wait, task);
  }
  return TRUE;
}

/* The host makes the next step's while the GPU ends this one: that step begins once both are ready. */
void
trn_sync_end_replicas (TrnSyncer *sync)
{
  TrnBuild *b = sync->b;
  TrnLane *lane = &b->lane[sync->lane];
  EngTask made = trn_build_compute (b, sync->lane, TRN_STEP_HOST, b->host.replicas_s, NULL, "replicate");
  EngTask end = trn_build_compute (b, sync->lane, TRN_STEP_JOIN, 0, NULL, NULL);
  trn_build_after_one (b, end, made);
  trn_build_after_one (b, end, lane->end);
  lane->end = end;
}

gboolean
trn_sync_leave_replicas (TrnSyncer *sync, const TrnUnit *unit, guint32 u, EngTask last, GError **error)
{
  const TrnDeferredSync late = { unit, 0 };
  g_array_append_val (sync->late, late);
  for (guint i = 0; u == 0 && i < sync->late->len; i++) {
    const TrnUnit *one = g_array_index (sync->late, TrnDeferredSync, i).unit;
    const MdlFormat format = sync->model->reduce;
    const double bytes = (one->trained_dense + one->trained_expert) * mdl_format_B (format);
    const TrnExchange e = { TRN_ROLE_DP, TRN_GROUP_DP, MDL_OP_REDUCE, format, bytes, .name = "reduce gradients" };
    EngTask task;
    if (!trn_sync_add (sync, &e, last, &task, error))
      return FALSE;
    g_array_append_val (sync->reduced, task);
  }
  if (u == 0)
    g_array_set_size (sync->late, 0);
  return TRUE;
}
