/* What reads and drains do to a training step on the same links, and it to them.
 *
 * One step is run on the engine with the other traffic beside it, all clients of which are one activity whose weights are what they
 * put on each link together. A drain outlives steps that are alike, so that few need be run:
 *
 *     whole      = floor (state / moved in a step beside it)     steps that it lasts through
 *     drain      = whole x slow + what the rest takes in one more step
 *     slowed     = whole x (slow - step) + (last - step)         of one checkpoint
 * with at most as many steps as lie between two checkpoints; what is then left is waited for. Samples that are read meanwhile are
 * another such activity, as quick as its workers are; where the drain slows them so far that they come later than the step ends,
 * that is waited for too.
 * Valid: mode event; clients alike. Check: test_workload_beside. */
#include "concurrent-private.h"

#include <math.h>
#include <string.h>

#include "build-private.h"
#include "training-private.h"
#include "training/rounds.h"

gboolean
trn_side_may_meet (const Clu *clu, const ColRunInfo *info, const StoSide *side)
{
  for (guint i = 0; i < side->loads->len; i++) {
    const char *class = clu_resource_class (clu, g_array_index (side->loads, ColLoad, i).res);
    for (guint k = 0; k < info->links->len; k++)
      if (strcmp (g_array_index (info->links, ColLinkUse, k).link_class, class) == 0)
        return TRUE;
  }
  return FALSE;
}

/* ---- one step ---- */

/* A step under way; of the two runs one is there. */
typedef struct {
  ColNet *net;
  Eng *eng;
  TrnStepRun *step;
  TrnModelRun *model;
  const StoSide *const *side;
  unsigned n;
  EngFlow flow[2];
  EngTime end[2]; /* ENG_TIME_NEVER: it has not ended */
  gboolean computed;
  TrnBeside *out;
} Under;

static void
settle (Under *u)
{
  if (!u->computed)
    return;
  for (unsigned i = 0; i < u->n; i++)
    if (u->side[i]->awaited && u->end[i] == ENG_TIME_NEVER)
      return;
  u->out->over_s = eng_time_to_s (eng_now (u->eng));
  for (unsigned i = 0; i < u->n; i++) {
    gboolean ended = u->end[i] != ENG_TIME_NEVER;
    u->out->left_B[i] = ended ? 0 : eng_flow_remaining (u->eng, u->flow[i]);
    u->out->end_s[i] = ended ? eng_time_to_s (u->end[i]) : u->out->over_s;
    if (!ended)
      eng_flow_cancel (u->eng, u->flow[i]);
  }
}

static void
step_ended (Eng *eng, void *user, uint64_t arg)
{
  Under *u = user;
  (void)eng;
  (void)arg;
  u->computed = TRUE;
  settle (u);
}

static void
side_ended (Eng *eng, void *user, uint64_t arg)
{
  Under *u = user;
  u->end[arg] = eng_now (eng);
  settle (u);
}

static void
start_side (Under *u, unsigned i)
{
  const StoSide *side = u->side[i];
  const GArray *loads = u->model != NULL ? trn_model_side_loads (u->model, i) : side->loads;
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  for (guint k = 0; k < loads->len; k++) {
    const ColLoad *load = &g_array_index (loads, ColLoad, k);
    const EngUse use = { col_net_link (u->net, load->res), load->load / load->factor };
    g_array_append_val (uses, use);
  }
  for (guint k = 0; k < side->others->len; k++) {
    const StoSideOther *other = &g_array_index (side->others, StoSideOther, k);
    const EngUse use = { col_net_other (u->net, other->kind, other->number, other->capacity), other->weight };
    g_array_append_val (uses, use);
  }
  const EngFlowSpec spec = { .amount = side->amount_B,
                             .bound_per_s = side->bound_Bps,
                             .uses = (const EngUse *)(const void *)uses->data,
                             .n_uses = uses->len,
                             .done = side_ended,
                             .user = u,
                             .arg = i };
  u->end[i] = ENG_TIME_NEVER;
  u->flow[i] = eng_flow_start (u->eng, &spec);
}

gboolean
trn_beside_run (const TrnJob *job, const StoSide *const *side, unsigned n, TrnBeside *out, guint64 *n_events, GError **error)
{
  g_return_val_if_fail (n <= G_N_ELEMENTS (out->left_B), FALSE);
  g_autoptr (ColNet) net = col_net_new (job->system->clu);
  ColSystem unfolded = *job->system;
  TrnJob view = *job;
  view.system = &unfolded;
  unfolded.settings.no_fold = TRUE; /* of given times: sides are told link by link */
  Under u = { .net = net, .eng = col_net_engine (net), .side = side, .n = n, .out = out };
  if (job->spec.model.model != NULL)
    u.model = trn_model_start_beside (job, net, side, n, error);
  else
    u.step = trn_step_start (&view, net, error);
  if (u.model == NULL && u.step == NULL)
    return FALSE;
  EngGraph *graph = u.model != NULL ? trn_model_built (u.model)->graph : trn_step_graph (u.step);
  eng_graph_set_done (graph, step_ended, &u, 0);
  for (unsigned i = 0; i < n; i++)
    start_side (&u, i);
  gboolean ok = eng_run (u.eng, ENG_TIME_NEVER, 0, error);
  if (ok)
    out->step_s = u.model != NULL ? trn_model_time_s (u.model) : trn_step_time_s (u.step);
  *n_events += eng_stats (u.eng).events;
  g_clear_pointer (&u.model, trn_model_run_free);
  g_clear_pointer (&u.step, trn_step_free);
  return ok;
}

/* ---- reads ---- */

/* So much longer than any step that it does not end. */
#define FOR_EVER 1e4

gboolean
trn_beside_reads (const TrnJob *job, const StoIoRun *reads, double step_s, double *most_Bps, double *beside_s, guint64 *n_events,
                  GError **error)
{
  g_auto (StoSide) side = { 0 };
  const StoSide *const sides[] = { &side };
  TrnBeside pressed, paced;
  sto_io_run_side (reads, 0, &side);
  const double amount_B = side.amount_B, bound_Bps = side.bound_Bps;
  side.amount_B = bound_Bps * step_s * FOR_EVER;
  if (!trn_beside_run (job, sides, 1, &pressed, n_events, error))
    return FALSE;
  *most_Bps = (side.amount_B - pressed.left_B[0]) / pressed.over_s;
  side.amount_B = amount_B;
  side.bound_Bps = fmin (bound_Bps, amount_B / step_s);
  if (!trn_beside_run (job, sides, 1, &paced, n_events, error))
    return FALSE;
  *beside_s = paced.step_s;
  return TRUE;
}

/* ---- drains ---- */

/* A drain while it lasts. */
typedef struct {
  const TrnJob *job;
  StoSide reads, drain;
  gboolean has_reads;
  double base_s; /* of a run of the step and what it reads, without the drain */
  double step_s; /* of a step as it is told, with all that it waits for */
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
  TrnBeside out;
  d->drain.amount_B = left_B;
  if (!trn_beside_run (d->job, both, d->has_reads ? 2 : 1, &out, &d->n_events, error))
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
    TrnBeside alone;
    if (!trn_beside_run (job, reads, 1, &alone, &d.n_events, error))
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
