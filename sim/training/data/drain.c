/* What the drain of an asynchronous checkpoint and the training steps under it do to each other.
 *
 * A drain outlives steps that are alike, so that few need be run (concurrent.c):
 *
 *     whole      = floor (state / moved in a step beside it)     steps that it lasts through
 *     drain      = whole x slow + what the rest takes in one more step
 *     slowed     = whole x (slow - step) + (last - step)         of one checkpoint
 * with at most as many steps as lie between two checkpoints; what is then left is waited for. Samples that are read meanwhile are
 * another such activity, as quick as its workers are; where the drain slows them so far that they come later than the step ends,
 * that is waited for too. Check: test_training_concurrent. */
#include <math.h>

#include "concurrent-private.h"
#include "training/rounds.h"

/* A drain while it lasts. */
typedef struct {
  const TrnJob *job;
  StoSide reads, drain;
  gboolean has_reads;
  double base_s; /* of a run of the step and what it reads, without the drain */
  double step_s; /* of a step as it is reported, with all that it waits for */
  guint64 n_events;
} Drain;

static void
drain_clear (Drain *d)
{
  sto_side_clear (&d->reads);
  sto_side_clear (&d->drain);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Drain, drain_clear)

/* A step beside `left_B` of it: how long, how much of it is moved, and when it ends if it does. */
static gboolean
beside (Drain *d, double left_B, double *longer_s, double *moved_B, double *end_s, GError **error)
{
  const StoSide *const both[] = { &d->drain, &d->reads };
  TrnConcurrent out;
  d->drain.amount_B = left_B;
  if (!trn_concurrent_run (d->job, both, d->has_reads ? 2 : 1, &out, &d->n_events, error))
    return FALSE;
  *longer_s = fmax (fmax (out.step_s, d->has_reads ? out.over_s : 0) - d->base_s, 0);
  /* while the step waits for something else, the drain has all to itself */
  double rest_s = fmax (d->step_s + *longer_s - out.over_s, 0), more_B = fmin (out.left_B[0], rest_s * d->drain.bound_Bps);
  *moved_B = left_B - out.left_B[0] + more_B;
  *end_s = out.left_B[0] > 0 ? out.over_s + more_B / d->drain.bound_Bps : out.end_s[0];
  return TRUE;
}

static gboolean
prepare (Drain *d, const TrnResult *training, const TrnCheckpointResult *checkpoint, GError **error)
{
  d->base_s = d->step_s = training->step_time_s;
  StoIoRun *run = trn_checkpoint_writes (d->job, checkpoint, error);
  if (run == NULL)
    return FALSE;
  sto_io_run_side (run, checkpoint->drain_alone_s, &d->drain);
  sto_io_run_free (run);
  run = NULL;
  if (!trn_checkpoint_copies (d->job, checkpoint, &d->drain, error))
    return FALSE;
  if (!trn_loader_reads (d->job, training, &run, error))
    return FALSE;
  if (run == NULL)
    return TRUE;
  d->has_reads = TRUE;
  gboolean engine = d->job->spec.loader.decoder.v == STO_DECODE_ENGINE;
  sto_io_run_side (run, trn_loader_least_s (&training->loader, engine), &d->reads);
  sto_io_run_free (run);
  d->reads.awaited = TRUE;
  return TRUE;
}

/* Whether it can meet the step, or what the step reads. */
static gboolean
may_meet (const Drain *d, const ColRunInfo *info)
{
  if (trn_side_may_meet (d->job->system->clu, info, &d->drain))
    return TRUE;
  for (guint i = 0; d->has_reads && i < d->drain.loads->len; i++)
    for (guint k = 0; k < d->reads.loads->len; k++)
      if (g_array_index (d->drain.loads, ColLoad, i).res == g_array_index (d->reads.loads, ColLoad, k).res)
        return TRUE;
  for (guint i = 0; d->has_reads && i < d->drain.others->len; i++)
    for (guint k = 0; k < d->reads.others->len; k++) {
      const StoSideOther *a = &g_array_index (d->drain.others, StoSideOther, i);
      const StoSideOther *b = &g_array_index (d->reads.others, StoSideOther, k);
      if (a->kind == b->kind && a->number == b->number)
        return TRUE;
    }
  return FALSE;
}

gboolean
trn_add_drain (const TrnJob *job, TrnResult *training, ColRunInfo *info, TrnCheckpointResult *c, GError **error)
{
  static const double ROUNDING = 1e-9;
  g_auto (Drain) d = { .job = job };
  if (c->mode != TRN_SAVE_ASYNC || job->system->settings.mode == COL_MODE_MODEL)
    return TRUE;
  if (!prepare (&d, training, c, error))
    return FALSE;
  if (!may_meet (&d, info))
    return TRUE;
  if (d.has_reads) {
    const StoSide *const reads[] = { &d.reads };
    TrnConcurrent alone;
    if (!trn_concurrent_run (job, reads, 1, &alone, &d.n_events, error))
      return FALSE;
    d.base_s = fmax (alone.step_s, alone.over_s);
  }
  double all_B = d.drain.amount_B, longer_s, moved_B, end_s, most = c->every > 0 ? c->every : HUGE_VAL;
  if (!beside (&d, all_B, &longer_s, &moved_B, &end_s, error))
    return FALSE;
  double slow_s = d.step_s + longer_s, whole = floor (all_B / moved_B * (1 + ROUNDING)), last_s = longer_s;
  whole = moved_B >= all_B ? 0 : fmin (whole, most);
  double left_B = fmax (all_B - whole * moved_B, 0);
  if (whole >= most || left_B <= all_B * ROUNDING)
    last_s = end_s = 0;
  else if (whole > 0 && !beside (&d, left_B, &last_s, &moved_B, &end_s, error))
    return FALSE;
  info->n_events += d.n_events;
  c->slow_steps = (longer_s > ROUNDING * d.step_s ? whole : 0) + (last_s > ROUNDING * d.step_s);
  c->slow_step_s = slow_s;
  c->slowed_s = whole * longer_s + last_s;
  c->wait_s = whole >= most ? c->drain_alone_s * left_B / all_B : 0;
  c->drain_s = whole * slow_s + end_s + c->wait_s;
  if (c->slowed_s <= ROUNDING * c->drain_s && c->drain_s <= c->drain_alone_s * (1 + ROUNDING)) {
    c->slowed_s = c->slow_steps = 0;
    c->drain_s = c->drain_alone_s;
  }
  return TRUE;
}
