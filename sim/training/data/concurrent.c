/* A training step concurrently with other traffic on the same links: reads of its samples, the drain of a checkpoint.
 *
 * One step is run on the engine with the other traffic beside it, all clients of which are one activity whose weights are what they
 * put on each link together. Valid: mode event; clients alike. Check: test_training_concurrent. */
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

/* A step under way. */
typedef struct {
  ColNet *net;
  Eng *eng;
  TrnStepRun *step;
  const StoSide *const *side;
  unsigned n;
  EngFlow flow[2];
  EngTime end[2]; /* ENG_TIME_NEVER: it has not ended */
  gboolean computed;
  TrnConcurrent *out;
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
  const GArray *loads = trn_step_side_loads (u->step, i);
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
trn_concurrent_run (const TrnJob *job, const StoSide *const *side, unsigned n, TrnConcurrent *out, guint64 *n_events,
                    GError **error)
{
  g_return_val_if_fail (n <= G_N_ELEMENTS (out->left_B), FALSE);
  g_autoptr (ColNet) net = col_net_new (job->system->clu);
  Under u = { .net = net, .eng = col_net_engine (net), .side = side, .n = n, .out = out };
  u.step = trn_step_start_beside (job, net, side, n, error);
  if (u.step == NULL)
    return FALSE;
  eng_graph_set_done (trn_step_built (u.step)->graph, step_ended, &u, 0);
  for (unsigned i = 0; i < n; i++)
    start_side (&u, i);
  gboolean ok = eng_run (u.eng, ENG_TIME_NEVER, 0, error);
  if (ok)
    out->step_s = trn_step_time_s (u.step);
  *n_events += eng_stats (u.eng).events;
  g_clear_pointer (&u.step, trn_step_free);
  return ok;
}

/* ---- reads ---- */

/* So much longer than any step that it does not end. */
#define FOR_EVER 1e4

gboolean
trn_concurrent_reads (const TrnJob *job, const StoIoRun *reads, double step_s, double *most_Bps, double *beside_s,
                      guint64 *n_events, GError **error)
{
  g_auto (StoSide) side = { 0 };
  const StoSide *const sides[] = { &side };
  TrnConcurrent pressed, paced;
  sto_io_run_side (reads, 0, &side);
  const double amount_B = side.amount_B, bound_Bps = side.bound_Bps;
  side.amount_B = bound_Bps * step_s * FOR_EVER;
  if (!trn_concurrent_run (job, sides, 1, &pressed, n_events, error))
    return FALSE;
  *most_Bps = (side.amount_B - pressed.left_B[0]) / pressed.over_s;
  side.amount_B = amount_B;
  side.bound_Bps = fmin (bound_Bps, amount_B / step_s);
  if (!trn_concurrent_run (job, sides, 1, &paced, n_events, error))
    return FALSE;
  *beside_s = paced.step_s;
  return TRUE;
}

void
trn_step_longer (TrnResult *training, TrnPart part, double more_s)
{
  if (!(more_s > 0))
    return;
  double before_s = training->step_time_s, factor;
  training->step_time_s += more_s;
  training->step_time_lo_s += more_s;
  training->step_time_hi_s += more_s;
  training->part_s[part] += more_s;
  factor = before_s / training->step_time_s;
  training->tokens_per_s *= factor;
  training->model_flop_per_s *= factor;
  training->mfu *= factor;
  training->mfu_causal *= factor;
  training->hfu *= factor;
  double exposed_s = 0, most_s = training->part_s[TRN_PART_COMPUTE] + training->part_s[TRN_PART_OPTIMIZER];
  for (int p = TRN_PART_EXPOSED_TP; p <= TRN_PART_EXPOSED_EP; p++)
    exposed_s += training->part_s[p];
  for (int p = TRN_PART_BUBBLE; p < TRN_PART_N; p++)
    most_s = p == (int)part ? most_s : fmax (most_s, training->part_s[p]);
  if (training->part_s[part] > fmax (most_s, exposed_s))
    g_strlcpy (training->bound_by,
               part == TRN_PART_DATA_STALL      ? "data"
               : part == TRN_PART_COMMUNICATORS ? "host"
               : part == TRN_PART_EXPOSED_DP    ? training->local.bound_by
                                                : training->checkpoint.bound_by,
               sizeof training->bound_by);
}
