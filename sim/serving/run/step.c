/* Steps of a replica. Steps that only decode repeat until a sequence ends, a request comes or blocks run out: each then costs the
 * value of a line and no look at the sequences. Their times are computed by the same expressions as those of steps one by one. */
#include "base/random.h"
#include "run/sim-private.h"

void
srv_replica_init (SrvSim *sim, SrvReplica *replica, guint index)
{
  replica->pool = index >= sim->spec->replicas ? 1 : 0;
  const SrvRunSpec *spec = replica->pool == 1 ? sim->spec->decode : sim->spec;
  replica->spec = spec;
  replica->parts = sim->spec->parts;
  replica->index = index;
  replica->incoming = g_ptr_array_new ();
  replica->ready = g_ptr_array_new ();
  replica->ahead = g_ptr_array_new ();
  replica->asked = g_ptr_array_new ();
  replica->asked_until = g_array_new (FALSE, FALSE, sizeof (guint64));
  replica->late = g_ptr_array_new ();
  replica->n_late = g_new0 (guint, spec->times.ranks);
  replica->coming = g_new0 (guint, spec->times.ranks);
  replica->prefill = g_new0 (guint64, spec->times.ranks);
  replica->scheds = g_new0 (SrvSched *, spec->times.ranks);
  for (guint i = 0; i < spec->times.ranks; i++) {
    replica->scheds[i] =
        srv_sched_new (&srv_policies[spec->engine], &spec->limits, srv_kv_new (spec->blocks, spec->block, spec->caching));
    replica->scheds[i]->holds = replica->pool == 0 && sim->spec->decode != NULL;
  }
  replica->counts = g_new0 (guint, spec->block);
}

void
srv_replica_clear (SrvReplica *replica)
{
  g_ptr_array_free (replica->incoming, TRUE);
  g_ptr_array_free (replica->ready, TRUE);
  g_ptr_array_free (replica->ahead, TRUE);
  g_ptr_array_free (replica->asked, TRUE);
  g_array_free (replica->asked_until, TRUE);
  g_ptr_array_free (replica->late, TRUE);
  g_free (replica->n_late);
  g_free (replica->coming);
  g_free (replica->prefill);
  for (guint i = 0; i < replica->spec->times.ranks; i++)
    srv_sched_free (replica->scheds[i]);
  g_free (replica->scheds);
  g_free (replica->counts);
}

static EngTime
ticks (double time_s)
{
  return MAX (eng_time_from_s (time_s), 1);
}

static double
banded (const SrvRunSpec *spec, const SrvStepCost *cost)
{
  return spec->band == 0 ? cost->time_s : spec->band < 0 ? cost->time_lo_s : cost->time_hi_s;
}

/* What the step in progress consists of. */
static void
take_shares (SrvReplica *replica, const SrvStepCost *cost)
{
  double sum_s = 0;
  for (guint i = 0; i < SRV_PART_N; i++)
    sum_s += cost->part_s[i];
  for (guint i = 0; i < SRV_PART_N; i++)
    replica->share[i] = sum_s > 0 ? cost->part_s[i] / sum_s : 0;
}

/* ---- time of steps that only decode ---- */

/* By a line: one scheduler, no window. */
static gboolean
on_line (const SrvRunSpec *spec)
{
  return spec->times.ranks == 1 && spec->times.window == 0 && spec->times.line != NULL && spec->limits.drafts == 0;
}

static EngTime
decode_ticks (SrvReplica *replica, guint n)
{
  const SrvRunSpec *spec = replica->spec;
  SrvDecodeLine *line = &replica->line;
  if (!on_line (spec)) {
    SrvStepCost cost;
    const SrvBatch batch = {
      .n_decode = n, .n_sampled = n, .decode_context = replica->context, .decode_windowed = replica->windowed
    };
    const double time_s = spec->times.time_s (spec->times.model, &batch, spec->band != 0 || replica->parts ? &cost : NULL);
    if (replica->parts)
      take_shares (replica, &cost);
    return ticks (spec->band != 0 ? banded (spec, &cost) : time_s);
  }
  if (replica->context < line->from || replica->context > line->to)
    spec->times.line (spec->times.model, n, replica->context, replica->windowed, line);
  return ticks (replica->factor * (line->base_s + line->slope_s * replica->context));
}

/* What the band makes of steps like this one. */
static void
start_line (SrvReplica *replica, guint n)
{
  const SrvRunSpec *spec = replica->spec;
  replica->factor = 1;
  replica->line = (SrvDecodeLine){ .from = 1, .to = 0 };
  if (spec->band == 0 && !replica->parts)
    return;
  SrvStepCost cost = { 0 };
  const SrvBatch batch = {
    .n_decode = n, .n_sampled = n, .decode_context = replica->context, .decode_windowed = replica->windowed
  };
  const double time_s = spec->times.time_s (spec->times.model, &batch, &cost);
  replica->factor = banded (spec, &cost) / time_s;
  if (replica->parts)
    take_shares (replica, &cost);
}

/* ---- jumps ---- */

static void
jump_on (SrvSim *sim, SrvReplica *replica)
{
  SrvSched *sched = replica->scheds[0];
  srv_kv_draw (sched->kv, replica->counts[replica->n % replica->spec->block]);
  replica->n++;
  replica->end = eng_time_add (replica->start, decode_ticks (replica, sched->n_running));
  srv_count_step (sim, replica);
}

static gboolean
can_jump_on (const SrvSim *sim, const SrvReplica *replica)
{
  const SrvSched *sched = replica->scheds[0];
  return sim->watched == NULL && replica->ready->len == 0 && replica->late->len == 0 && replica->asked->len == 0 &&
         replica->n < replica->most && !sched->fresh &&
         replica->counts[replica->n % replica->spec->block] <= srv_kv_idle (sched->kv);
}

/* Until a sequence passes the window; counts those below it. */
static void
to_window (SrvReplica *replica, guint window)
{
  const SrvSched *sched = replica->scheds[0];
  replica->under = sched->n_running;
  for (guint i = 0; window > 0 && i < sched->n_running; i++) {
    const guint computed = sched->running[i]->computed;
    if (computed >= window)
      replica->under--;
    else
      replica->most = MIN (replica->most, window - computed);
  }
}

static gboolean
start_jump (SrvSim *sim, SrvReplica *replica)
{
  const SrvRunSpec *spec = replica->spec;
  SrvSched *sched = replica->scheds[0];
  if (spec->stepwise || spec->times.ranks > 1 || !srv_sched_repeats (sched, &replica->most))
    return FALSE;
  srv_sched_new_blocks (sched, replica->counts);
  replica->n = 0;
  if (!can_jump_on (sim, replica))
    return FALSE;
  replica->context = replica->windowed = 0;
  for (guint i = 0; i < sched->n_running; i++) {
    const guint computed = sched->running[i]->computed;
    replica->context += computed;
    replica->windowed += spec->times.window > 0 ? MIN (computed, spec->times.window) : computed;
  }
  to_window (replica, spec->times.window);
  start_line (replica, sched->n_running);
  replica->jumping = TRUE;
  jump_on (sim, replica);
  return TRUE;
}

/* The front end sends the tokens of a step that ends. */
static void
send_step (SrvSim *sim, SrvReplica *replica, guint n)
{
  const EngTime base = MAX (replica->end, replica->sent);
  srv_count_gaps (sim, base - replica->base, n);
  replica->base = base;
  replica->sent = eng_time_add (base, n * eng_time_from_s (replica->spec->front.token_s));
}

/* Steps on until something from outside can happen. FALSE: the jump ends with the step that ends at sim->now. */
static gboolean
jump (SrvSim *sim, SrvReplica *replica)
{
  SrvSched *sched = replica->scheds[0];
  while (sim->now < sim->arrival && can_jump_on (sim, replica)) {
    send_step (sim, replica, sched->n_running);
    replica->start = replica->end;
    replica->context += sched->n_running;
    replica->windowed += replica->under;
    jump_on (sim, replica);
    sim->now = replica->start;
    if (replica->end >= sim->horizon)
      return TRUE;
    sim->now = replica->end;
  }
  return FALSE;
}

static void
end_jump (SrvReplica *replica)
{
  SrvSched *sched = replica->scheds[0];
  const EngTime each = eng_time_from_s (replica->spec->front.token_s);
  srv_sched_repeat (sched, replica->n);
  for (guint i = 0; i < sched->n_running; i++)
    sched->running[i]->last = eng_time_add (replica->base, (i + 1) * each);
  replica->jumping = FALSE;
}

/* ---- steps ---- */

static double
step_s (SrvSim *sim, SrvReplica *replica, guint n_chunks)
{
  const SrvRunSpec *spec = replica->spec;
  if (n_chunks == 0 && on_line (spec) && sim->watched == NULL) {
    replica->context = sim->batches[0].decode_context;
    replica->windowed = sim->batches[0].decode_windowed;
    start_line (replica, sim->batches[0].n_decode);
    return eng_time_to_s (decode_ticks (replica, sim->batches[0].n_decode));
  }
  const gboolean wants = spec->band != 0 || sim->watched != NULL || replica->parts;
  const double time_s = spec->times.time_s (spec->times.model, sim->batches, wants ? &sim->cost : NULL);
  if (replica->parts)
    take_shares (replica, &sim->cost);
  return wants ? banded (spec, &sim->cost) : time_s;
}

/* Those that came too late for the step that has just been chosen are seen from now on. */
static void
take_late (SrvReplica *replica)
{
  for (guint i = 0; i < replica->late->len; i++) {
    SrvSeq *seq = replica->late->pdata[i];
    srv_sched_add (replica->scheds[seq->rank], seq);
    replica->n_late[seq->rank]--;
  }
  g_ptr_array_set_size (replica->late, 0);
}

/* Chooses the next step of all ranks, and then sees who came late. FALSE: there is nothing to do. */
static gboolean
choose_step (SrvSim *sim, SrvReplica *replica, guint *n_chunks)
{
  const guint ranks = replica->spec->times.ranks;
  gboolean any = FALSE;
  *n_chunks = 0;
  if (sim->spec->limits.wait > 0)
    srv_scheds_balance (replica->scheds, ranks);
  for (guint i = 0; i < ranks; i++) {
    const gboolean some = srv_sched_step (replica->scheds[i]);
    sim->batches[i] = srv_sched_batch (replica->scheds[i]);
    any |= some;
    *n_chunks += sim->batches[i].n_chunks;
  }
  const gboolean again = !any && replica->late->len > 0; /* an engine without work looks at once */
  take_late (replica);
  return any || (again && choose_step (sim, replica, n_chunks));
}

void
srv_replica_begin (SrvSim *sim, SrvReplica *replica)
{
  const guint ranks = replica->spec->times.ranks;
  guint n_chunks = 0;
  if (replica->busy || replica->down)
    return;
  srv_handoff_join (sim, replica);
  replica->start = sim->now;
  if (!start_jump (sim, replica)) {
    if (!choose_step (sim, replica, &n_chunks))
      return;
    replica->end = eng_time_add (sim->now, ticks (step_s (sim, replica, n_chunks)));
    for (guint i = 0; i < ranks; i++)
      for (guint k = 0; k < replica->scheds[i]->n_chosen; k++)
        if (replica->scheds[i]->chosen[k]->start == ENG_TIME_NEVER)
          replica->scheds[i]->chosen[k]->start = sim->now;
    srv_count_step (sim, replica);
    if (sim->watched != NULL)
      srv_watch_step (sim, replica);
  }
  replica->busy = TRUE;
  eng_queue_push (sim->queue, (EngEntry){ .at = replica->end, .slot = replica->index });
}

void
srv_replica_stop (SrvSim *sim, SrvReplica *replica)
{
  if (replica->jumping)
    end_jump (replica);
  srv_handoff_stop_ahead (sim, replica);
  replica->busy = FALSE;
}

static guint
accepted (void *user, const SrvSeq *seq)
{
  const SrvSim *sim = user;
  guint n = 0;
  while (n < sim->at->spec->limits.drafts) {
    const guint64 bits = base_random_hash (sim->spec->seed, seq->index, seq->produced, n);
    if ((double)(bits >> 11) * 0x1p-53 >= sim->at->spec->acceptance[n])
      break;
    n++;
  }
  return n;
}

gboolean
srv_replica_end (SrvSim *sim, SrvReplica *replica)
{
  if (replica->jumping) {
    if (jump (sim, replica)) {
      eng_queue_push (sim->queue, (EngEntry){ .at = replica->end, .slot = replica->index });
      return FALSE;
    }
    end_jump (replica);
  }
  replica->busy = FALSE;
  replica->base = MAX (sim->now, replica->sent);
  sim->at = replica;
  for (guint i = 0; i < replica->spec->times.ranks; i++)
    srv_sched_done (replica->scheds[i], srv_count_token, replica->spec->acceptance != NULL ? accepted : NULL, sim);
  srv_handoff_stop_ahead (sim, replica);
  if (replica->asked->len > 0)
    srv_handoff_grant (sim, replica, FALSE);
  return TRUE;
}
