/* Requests go from the prefill pool to the decode pool. The decode replica holds blocks first, then the KV moves over the fabric
 * (vLLM's NIXL connector: the decode side allocates and pulls); the prefill replica holds its blocks until all has moved.
 *
 * Layer by layer, KV moves from the first layer of the prompt's last step on, to the decode replica that would be chosen then, no
 * faster than it is computed; when the prompt is computed, what is left goes to the replica that is chosen.
 *
 * * Check: test_serving_fleet, case 19 of a prompt of 250 ms, 55.9 ms on the way and steps of 20 ms. Left out: prefixes that the
 * decode pool has, and its blocks while KV moves ahead of the end of the prompt. */
#include <math.h>

#include "run/sim-private.h"

static SrvSeq *
spare (SrvSim *sim)
{
  return sim->pool->len > 0 ? g_ptr_array_steal_index_fast (sim->pool, sim->pool->len - 1) : g_new0 (SrvSeq, 1);
}

/* ---- before the prompt is computed ---- */

SrvReplica *
srv_handoff_target (SrvSim *sim)
{
  if (!sim->spec->fabric.in_turn)
    return srv_least_loaded (sim, 1);
  const guint first = sim->spec->replicas, n = sim->n_replicas - first;
  for (guint i = 0; i < n; i++) {
    SrvReplica *replica = &sim->replicas[first + sim->turn++ % n];
    if (srv_serves (replica))
      return replica;
  }
  return NULL;
}

/* A replica in a step looks for requests after every `poll` of its steps, and answers after the next one. */
gboolean
srv_handoff_ask (SrvSim *sim, SrvSeq *seq)
{
  SrvReplica *target = sim->spec->decode != NULL && sim->spec->fabric.asks && seq->target == 0 ? srv_handoff_target (sim) : NULL;
  if (target == NULL)
    return FALSE;
  seq->target = target->index + 1;
  if (!target->busy)
    return FALSE;
  const guint64 poll = MAX (target->spec->limits.poll, 1), seen = (target->steps + poll - 1) / poll * poll, until = seen + 1;
  g_ptr_array_add (target->asked, seq);
  g_array_append_val (target->asked_until, until);
  return TRUE;
}

void
srv_handoff_grant (SrvSim *sim, SrvReplica *replica, gboolean all)
{
  guint kept = 0;
  for (guint i = 0; i < replica->asked->len; i++) {
    const guint64 until = g_array_index (replica->asked_until, guint64, i);
    SrvSeq *seq = replica->asked->pdata[i];
    if (all || until <= replica->steps) {
      seq->target = all ? 0 : seq->target;
      g_ptr_array_add (sim->granted, seq);
      continue;
    }
    replica->asked->pdata[kept] = seq;
    g_array_index (replica->asked_until, guint64, kept++) = until;
  }
  g_ptr_array_set_size (replica->asked, (gint)kept);
  g_array_set_size (replica->asked_until, kept);
}

/* ---- while the prompt is computed ---- */

static void
go_ahead (Eng *eng, void *user, uint64_t arg)
{
  SrvAhead *ahead = user;
  (void)arg;
  ahead->moves = eng_flow_start (eng, &ahead->flow);
}

/* One prompt. It moves no faster than it is computed, so that it does not end before the step. */
static gboolean
start_ahead (SrvSim *sim, SrvReplica *replica, const SrvSeq *seq, GError **error)
{
  const SrvFabric *fabric = &sim->spec->fabric;
  const SrvReplica *target = seq->target > 0 ? &sim->replicas[seq->target - 1] : srv_least_loaded (sim, 1);
  const EngTime step = replica->end - replica->start;
  if (target == NULL)
    return TRUE;
  const SrvEnd from = { replica->index, seq->rank }, to = { target->index - sim->spec->replicas, srv_even_rank (target) };
  SrvAhead *ahead = g_new0 (SrvAhead, 1);
  g_ptr_array_add (replica->ahead, ahead);
  if (!fabric->flow (fabric->user, from, to, seq->input, sim->uses, &ahead->flow, error))
    return FALSE;
  ahead->seq = seq;
  ahead->uses = g_memdup2 (ahead->flow.uses, ahead->flow.n_uses * sizeof *ahead->flow.uses);
  ahead->flow.uses = ahead->uses;
  ahead->flow.latency = 0; /* of the first layer, within the next ones; the transfer's own is paid behind the prompt */
  const double pace = ahead->flow.amount / eng_time_to_s (step);
  ahead->flow.bound_per_s = ahead->flow.bound_per_s > 0 ? fmin (ahead->flow.bound_per_s, pace) : pace;
  ahead->due = eng_at (fabric->eng, replica->start + (EngTime)((double)step * fabric->layer), go_ahead, ahead, 0);
  return TRUE;
}

gboolean
srv_handoff_ahead (SrvSim *sim, SrvReplica *replica, GError **error)
{
  if (sim->spec->decode == NULL || !(sim->spec->fabric.layer > 0) || replica->pool != 0 || !replica->busy || replica->jumping ||
      replica->start != sim->now || replica->ahead->len > 0)
    return TRUE;
  for (guint k = 0; k < replica->spec->times.ranks; k++)
    for (guint i = 0; i < replica->scheds[k]->n_chosen; i++) {
      const SrvSeq *seq = replica->scheds[k]->chosen[i];
      if (seq->answer > 1 && seq->produced == 0 && seq->computed + seq->take >= seq->input &&
          !start_ahead (sim, replica, seq, error))
        return FALSE;
    }
  return TRUE;
}

void
srv_handoff_stop_ahead (SrvSim *sim, SrvReplica *replica)
{
  for (guint i = 0; i < replica->ahead->len; i++) {
    SrvAhead *ahead = replica->ahead->pdata[i];
    if (sim->eng != NULL) {
      eng_cancel (sim->eng, ahead->due);
      eng_flow_cancel (sim->eng, ahead->moves);
    }
    g_free (ahead->uses);
    g_free (ahead);
  }
  g_ptr_array_set_size (replica->ahead, 0);
}

/* Of the KV of a prompt whose last step ends now, at which the engine's clock stands. */
static double
part_left (const SrvSim *sim, const SrvReplica *replica, const SrvSeq *seq)
{
  for (guint i = 0; i < replica->ahead->len; i++) {
    const SrvAhead *ahead = replica->ahead->pdata[i];
    if (ahead->seq != seq || ahead->moves == 0)
      continue;
    return eng_flow_remaining (sim->eng, ahead->moves) / ahead->flow.amount;
  }
  return 1;
}

/* ---- behind it ---- */

void
srv_handoff_begin (SrvSim *sim, SrvSeq *seq)
{
  const gboolean again = sim->spec->first_by_decode;
  SrvHandoff *handoff = g_new0 (SrvHandoff, 1);
  SrvSeq *to = spare (sim);
  const SrvHold kv = to->kv;
  *to = *seq;
  to->kv = kv;
  to->before = to->after = NULL;
  to->output = seq->answer;
  to->answer = 0;
  to->produced = again ? 0 : 1;
  to->computed = again ? seq->input - 1 : seq->input;
  to->take = 0;
  if (!again && !sim->spec->first_handed)
    to->first = to->last = srv_count_send (sim, sim->at);
  if (seq == sim->watched) {
    sim->watched = to;
    if (to->first != ENG_TIME_NEVER)
      srv_watch_first (sim, to);
  }
  *handoff = (SrvHandoff){
    .sim = sim, .from = seq, .to = to, .source = sim->at->index, .prefilled = sim->now, .part = part_left (sim, sim->at, seq)
  };
  g_ptr_array_add (sim->handoffs, handoff);
  g_ptr_array_add (sim->moving, handoff);
}

static void
land (Eng *eng, void *user, uint64_t arg)
{
  SrvHandoff *handoff = user;
  (void)eng;
  (void)arg;
  g_ptr_array_add (handoff->sim->landed, handoff);
}

static void
go (Eng *eng, void *user, uint64_t arg)
{
  SrvHandoff *handoff = user;
  (void)arg;
  handoff->moves = eng_flow_start (eng, &handoff->flow);
}

/* The flow begins at sim->now, or where the decode side reads, once its step in progress has ended. The engine's clock may stand
 * before it. */
static gboolean
move (SrvSim *sim, SrvHandoff *handoff, GError **error)
{
  const SrvFabric *fabric = &sim->spec->fabric;
  const SrvEnd from = { handoff->source, handoff->from->rank }, to = { handoff->target - sim->spec->replicas, handoff->to->rank };
  EngFlowSpec *flow = &handoff->flow;
  if (!fabric->flow (fabric->user, from, to, handoff->from->input, sim->uses, flow, error))
    return FALSE;
  if (handoff->to == sim->watched && fabric->limits != NULL)
    fabric->limits (fabric->user, from, to, handoff->from->input, &sim->out->watched.moved);
  handoff->uses = g_memdup2 (flow->uses, flow->n_uses * sizeof *flow->uses);
  flow->uses = handoff->uses;
  flow->done = land;
  flow->user = handoff;
  const SrvReplica *target = &sim->replicas[handoff->target];
  handoff->started = fabric->pull && target->busy ? MAX (sim->now, target->end) : sim->now;
  sim->wait_ps += (double)(handoff->started - handoff->prefilled);
  sim->out->transfer.n++;
  sim->out->transfer.bytes_B += flow->amount;
  flow->amount *= handoff->part;
  handoff->due = eng_at (fabric->eng, handoff->started, go, handoff, 0);
  return TRUE;
}

static void
handoff_free (SrvHandoff *handoff)
{
  g_free (handoff->uses);
  g_free (handoff);
}

/* Those at the front for which blocks are free. */
static gboolean
pull (SrvSim *sim, SrvReplica *replica, GError **error)
{
  while (replica->incoming->len > 0) {
    SrvHandoff *handoff = replica->incoming->pdata[0];
    const guint rank = srv_even_rank (replica);
    if (!srv_sched_reserve (replica->scheds[rank], handoff->to, replica->coming[rank]))
      return TRUE;
    handoff->to->rank = rank;
    handoff->held = TRUE;
    replica->coming[rank]++;
    g_ptr_array_remove_index (replica->incoming, 0);
    if (!move (sim, handoff, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
srv_handoff_start (SrvSim *sim, GError **error)
{
  for (guint i = 0; i < sim->handoffs->len; i++) {
    SrvHandoff *handoff = sim->handoffs->pdata[i];
    SrvReplica *asked = handoff->to->target > 0 ? &sim->replicas[handoff->to->target - 1] : NULL;
    SrvReplica *replica = asked != NULL && srv_serves (asked) ? asked : srv_handoff_target (sim);
    if (replica == NULL) /* they wait until one is back */
      return TRUE;
    handoff->target = replica->index;
    if (!handoff->left)
      srv_load (sim, &sim->replicas[handoff->source], -1);
    handoff->left = TRUE;
    srv_load (sim, replica, 1);
    g_ptr_array_add (replica->incoming, handoff);
    if (!pull (sim, replica, error))
      return FALSE;
  }
  g_ptr_array_set_size (sim->handoffs, 0);
  return sim->at == NULL || sim->at->pool == 0 || sim->at->down || pull (sim, sim->at, error);
}

void
srv_handoff_land (SrvSim *sim)
{
  for (guint i = 0; i < sim->landed->len; i++) {
    SrvHandoff *handoff = sim->landed->pdata[i];
    SrvReplica *source = &sim->replicas[handoff->source];
    handoff->landed = sim->now;
    sim->move_ps += (double)(sim->now - handoff->started);
    srv_sched_let_go (source->scheds[handoff->from->rank], handoff->from);
    g_ptr_array_add (sim->pool, handoff->from);
    handoff->from = NULL;
    g_ptr_array_add (sim->replicas[handoff->target].ready, handoff);
    srv_wake (sim, &sim->replicas[handoff->target]);
    srv_wake (sim, source); /* its blocks are free */
    g_ptr_array_remove_fast (sim->moving, handoff);
  }
  g_ptr_array_set_size (sim->landed, 0);
}

void
srv_handoff_join (SrvSim *sim, SrvReplica *replica)
{
  for (guint i = 0; i < replica->ready->len; i++) {
    SrvHandoff *handoff = replica->ready->pdata[i];
    srv_watch_handoff (sim, handoff);
    if (sim->spec->first_handed) {
      handoff->to->first = handoff->to->last = srv_count_send (sim, replica);
      srv_watch_first (sim, handoff->to);
    }
    replica->coming[handoff->to->rank]--;
    srv_sched_join (replica->scheds[handoff->to->rank], handoff->to);
    handoff_free (handoff);
  }
  g_ptr_array_set_size (replica->ready, 0);
}

/* Its blocks in the decode pool are free again, and what moves is stopped. */
static void
stop (SrvSim *sim, SrvHandoff *handoff)
{
  SrvReplica *target = &sim->replicas[handoff->target];
  if (!handoff->held) {
    g_ptr_array_remove (target->incoming, handoff);
    return;
  }
  eng_cancel (sim->eng, handoff->due);
  eng_flow_cancel (sim->eng, handoff->moves);
  srv_sched_unreserve (target->scheds[handoff->to->rank], handoff->to);
  target->coming[handoff->to->rank]--;
  g_clear_pointer (&handoff->uses, g_free);
  handoff->held = FALSE;
  handoff->moves = 0;
}

static void
lose_source (SrvSim *sim, SrvHandoff *handoff)
{
  const guint n_keys = handoff->from->kv.n_keys;
  if (!g_ptr_array_remove (sim->handoffs, handoff)) { /* it has a target */
    stop (sim, handoff);
    srv_load (sim, &sim->replicas[handoff->target], -1);
  }
  srv_sched_let_go (sim->replicas[handoff->source].scheds[handoff->from->rank], handoff->from);
  handoff->from->kv.n_keys = n_keys;
  g_ptr_array_add (sim->again, handoff->from);
  g_ptr_array_add (sim->pool, handoff->to);
  handoff_free (handoff);
}

void
srv_handoff_lose (SrvSim *sim, SrvReplica *replica)
{
  for (guint i = sim->moving->len; i-- > 0;) {
    SrvHandoff *handoff = sim->moving->pdata[i];
    if (handoff->source == replica->index) {
      g_ptr_array_remove_index (sim->moving, i);
      lose_source (sim, handoff);
    } else if (handoff->left && handoff->target == replica->index) {
      stop (sim, handoff);
      g_ptr_array_add (sim->handoffs, handoff);
    }
  }
  for (guint i = 0; i < replica->ready->len; i++) {
    SrvHandoff *handoff = replica->ready->pdata[i];
    replica->coming[handoff->to->rank]--;
    srv_sched_unreserve (replica->scheds[handoff->to->rank], handoff->to);
    g_ptr_array_add (sim->again, handoff->to);
    handoff_free (handoff);
  }
  g_ptr_array_set_size (replica->ready, 0);
}

static void
seq_free (SrvReplica *replica, SrvSeq *seq)
{
  if (replica != NULL)
    srv_sched_let_go (replica->scheds[seq->rank], seq);
  srv_hold_clear (&seq->kv);
  g_free (seq);
}

/* After an error some are on the way. */
void
srv_handoff_clear (SrvSim *sim)
{
  for (guint i = 0; i < sim->moving->len; i++) {
    SrvHandoff *handoff = sim->moving->pdata[i];
    seq_free (&sim->replicas[handoff->source], handoff->from);
    seq_free (handoff->held ? &sim->replicas[handoff->target] : NULL, handoff->to);
    handoff_free (handoff);
  }
  for (guint i = 0; i < sim->n_replicas; i++)
    srv_handoff_join (sim, &sim->replicas[i]);
}
