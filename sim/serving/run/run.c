/* Requests come, are given to replicas, and are answered. Time is in whole picoseconds. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/error.h"
#include "base/random.h"
#include "run/sim-private.h"

#define FRONT_DRAW 0x66726f6eu /* apart from draws of accepted drafts */

/* What is to come. */
typedef struct {
  SrvSim sim;
  GPtrArray *coming; /* SrvSeq *, in the order of arrival */
  GQueue front;      /* SrvSeq * in the front end, in the order in which they leave it */
  EngTime *reads;    /* by replica: until then its front end tokenizes prompts */
  gboolean dry;      /* the source has none now */
} Run;

/* ---- requests ---- */

static gboolean
refuse (const SrvRequest *request, const char *what, double limit, const char *remedy, GError **error)
{
  return base_fail_at (error, request->mark,
                       "request %" G_GUINT64_FORMAT " has %u tokens in its prompt and %u to answer; %s %.0f; %s", request->index,
                       request->input, request->output, what, limit, remedy);
}

/* Whether it can ever be answered. */
static gboolean
fits (const SrvRunSpec *spec, const SrvRequest *request, guint output, GError **error)
{
  const double pool = (double)spec->blocks * spec->block;
  const guint made = spec->decode != NULL ? 1 : output; /* tokens that this pool gives */
  if (spec->max_model_len > 0 && request->input >= spec->max_model_len)
    return refuse (request, "the longest sequence has", spec->max_model_len, "raise 'max_model_len' of 'engine', or leave it out",
                   error);
  if (spec->max_context > 0 && (guint64)request->input + output > spec->max_context)
    return refuse (request, "a sequence of the model has at most", spec->max_context,
                   "shorten them, or write a larger 'max_context' of the model where its positions are scaled (RoPE, YaRN)", error);
  if ((double)request->input + made + spec->limits.drafts > pool)
    return refuse (request, "the KV cache has room for", pool, "use more GPUs a replica, fp8 for 'kv', or shorter requests", error);
  if (spec->decode != NULL &&
      (double)request->input + output + spec->decode->limits.drafts > (double)spec->decode->blocks * spec->decode->block)
    return refuse (request, "the KV cache of the decode pool has room for", (double)spec->decode->blocks * spec->decode->block,
                   "use more GPUs a replica, fp8 for 'kv', or shorter requests", error);
  if (!spec->limits.chunked && request->input > spec->limits.max_tokens)
    return refuse (request, "a step takes", spec->limits.max_tokens, "raise 'max_num_batched_tokens', or allow 'chunked'", error);
  return TRUE;
}

static void
put_coming (Run *run, SrvSeq *seq)
{
  GPtrArray *coming = run->coming;
  guint at = coming->len;
  while (at > 0 && ((const SrvSeq *)coming->pdata[at - 1])->arrival > seq->arrival)
    at--;
  g_ptr_array_insert (coming, (int)at, seq);
}

/* Takes the next request of the source, if it has one. `fresh`: one that waits for no answer; when it comes, the next one is
 * taken. */
static gboolean
take_request (Run *run, gboolean fresh, GError **error)
{
  SrvSim *sim = &run->sim;
  const SrvRunSpec *spec = sim->spec;
  SrvRequest request = { 0 };
  GError *why = NULL;
  if (!spec->source.next (spec->source.load, &request, &why)) {
    run->dry = TRUE;
    if (why != NULL)
      g_propagate_error (error, why);
    return why == NULL;
  }
  const guint room = spec->max_model_len > request.input ? spec->max_model_len - request.input : 0;
  const guint output = spec->max_model_len > 0 ? MIN (request.output, room) : request.output;
  if (!fits (spec, &request, output, error))
    return FALSE;
  sim->out->shortened += output < request.output;
  SrvSeq *seq = sim->pool->len > 0 ? g_ptr_array_steal_index_fast (sim->pool, sim->pool->len - 1) : g_new0 (SrvSeq, 1);
  const SrvHold kv = seq->kv;
  *seq = (SrvSeq){ .index = request.index,
                   .arrival = MAX (eng_time_from_s (request.arrival_s), sim->now),
                   .start = ENG_TIME_NEVER,
                   .first = ENG_TIME_NEVER,
                   .input = request.input,
                   .output = spec->decode != NULL ? 1 : output,
                   .answer = spec->decode != NULL ? output : 0,
                   .priority = request.priority,
                   .session = request.session,
                   .fresh = fresh,
                   .kv = kv };
  if (spec->caching && request.n_hashes > 0) {
    for (guint i = sim->part; i < spec->replicas; i += sim->of)
      for (guint k = 0; k < spec->times.ranks; k++)
        srv_kv_unit (sim->replicas[i].scheds[k]->kv, request.hash_tokens);
    srv_kv_name (sim->replicas[0].scheds[0]->kv, &seq->kv, request.hash, request.n_hashes, request.hash_tokens);
  }
  put_coming (run, seq);
  return TRUE;
}

/* ---- arrivals ---- */

/* Of a request in the front end: exponential, so that requests which came together do not stay together. */
static double
latency_s (const SrvRunSpec *spec, guint64 index)
{
  if (!(spec->front.request_s > 0))
    return 0;
  const double u = (double)(base_random_hash (spec->seed, index, 0, FRONT_DRAW) >> 11) * 0x1p-53;
  return -spec->front.request_s * log1p (-u);
}

/* When the prompt that comes now is tokenized: one after the other, by the front ends of the replicas in turn. */
static EngTime
tokenized (Run *run, const SrvSeq *seq)
{
  const SrvRunSpec *spec = run->sim.spec;
  EngTime *reads = &run->reads[seq->index % spec->replicas];
  *reads = eng_time_add (MAX (run->sim.now, *reads), eng_time_from_s (spec->front.prompt_s * seq->input));
  return *reads;
}

static void
put_front (Run *run, SrvSeq *seq)
{
  GList *before = run->front.tail;
  while (before != NULL && ((const SrvSeq *)before->data)->ready > seq->ready)
    before = before->prev;
  if (before != NULL)
    g_queue_insert_after (&run->front, before, seq);
  else
    g_queue_push_head (&run->front, seq);
}

/* Requests that lost their replica are sent again. */
static void
send_again (Run *run)
{
  SrvSim *sim = &run->sim;
  for (guint i = 0; i < sim->again->len; i++) {
    SrvSeq *seq = sim->again->pdata[i];
    srv_outage_again (sim, seq);
    seq->ready = eng_time_add (sim->now, eng_time_from_s (sim->spec->detect_s));
    put_front (run, seq);
  }
  g_ptr_array_set_size (sim->again, 0);
}

/* Requests that their decode replica has seen go on. */
static void
go_on (Run *run)
{
  SrvSim *sim = &run->sim;
  for (guint i = 0; i < sim->granted->len; i++) {
    SrvSeq *seq = sim->granted->pdata[i];
    seq->ready = sim->now;
    put_front (run, seq);
  }
  g_ptr_array_set_size (sim->granted, 0);
}

/* The first that comes enters the front end, and another one is known to come, if there is one. */
static gboolean
arrive (Run *run, GError **error)
{
  SrvSim *sim = &run->sim;
  SrvSeq *seq = g_ptr_array_steal_index (run->coming, 0);
  seq->ready = eng_time_add (tokenized (run, seq), eng_time_from_s (latency_s (sim->spec, seq->index)));
  seq->phase = sim->n_down > 0 ? SRV_PHASE_DURING : sim->next_loss > 0 ? SRV_PHASE_BEHIND : SRV_PHASE_BEFORE;
  put_front (run, seq);
  sim->in_flight++;
  sim->out->most_in_flight = MAX (sim->out->most_in_flight, sim->in_flight);
  if (sim->tally->ended != NULL)
    g_array_append_val (sim->tally->ended, sim->n_ended);
  sim->n_ended = 0;
  return !seq->fresh || run->dry || take_request (run, TRUE, error);
}

/* The first in the front end is in the queue of a replica. */
static gboolean
enqueue (Run *run, GError **error)
{
  SrvSim *sim = &run->sim;
  SrvSeq *seq = g_queue_pop_head (&run->front);
  if (srv_handoff_ask (sim, seq))
    return TRUE;
  SrvReplica *replica = srv_route (sim, seq);
  if (replica == NULL) { /* the front end holds it until one is back */
    seq->ready = srv_outage_back (sim);
    put_front (run, seq);
    return TRUE;
  }
  if (replica->index % sim->of != sim->part) { /* another part answers it */
    srv_kv_forget (sim->replicas[0].scheds[0]->kv, &seq->kv);
    g_ptr_array_add (sim->pool, seq);
    sim->in_flight--;
    return TRUE;
  }
  const gboolean late = sim->spec->ahead && replica->in_flight > 0;
  gboolean loads = FALSE;
  srv_load (sim, replica, 1);
  if (seq->index == sim->spec->watch)
    sim->watched = seq;
  if (!srv_tiers_fetch (sim, replica, seq, &loads, error))
    return FALSE;
  if (loads) {
    sim->watched_at = seq == sim->watched ? sim->now : sim->watched_at;
    return TRUE;
  }
  if (late) {
    g_ptr_array_add (replica->late, seq);
    replica->n_late[seq->rank]++;
  } else
    srv_sched_add (replica->scheds[seq->rank], seq);
  srv_wake (sim, replica);
  return TRUE;
}

static EngTime
next_coming (const Run *run)
{
  return run->coming->len > 0 ? ((const SrvSeq *)run->coming->pdata[0])->arrival : ENG_TIME_NEVER;
}

static EngTime
next_ready (Run *run)
{
  const SrvSeq *seq = g_queue_peek_head (&run->front);
  return seq != NULL ? seq->ready : ENG_TIME_NEVER;
}

static EngTime
next_arrival (Run *run)
{
  return MIN (next_coming (run), next_ready (run));
}

static gint
by_index (gconstpointer a, gconstpointer b)
{
  const SrvReplica *x = *(const SrvReplica *const *)a, *y = *(const SrvReplica *const *)b;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* All that come by sim->now. Idle replicas begin once all are there. */
static gboolean
arrive_all (Run *run, GError **error)
{
  SrvSim *sim = &run->sim;
  while (next_arrival (run) <= sim->now) {
    while (next_coming (run) <= sim->now)
      if (!arrive (run, error))
        return FALSE;
    while (next_ready (run) <= sim->now)
      if (!enqueue (run, error))
        return FALSE;
  }
  g_ptr_array_sort (sim->woken, by_index);
  for (guint i = 0; i < sim->woken->len; i++) {
    SrvReplica *replica = sim->woken->pdata[i];
    replica->woken = FALSE;
    if (replica->in_flight > 0)
      srv_replica_begin (sim, replica);
    if (!srv_handoff_ahead (sim, replica, error))
      return FALSE;
  }
  g_ptr_array_set_size (sim->woken, 0);
  return TRUE;
}

/* Tells the source of those that ended; it may send others. */
static gboolean
tell_source (Run *run, GError **error)
{
  SrvSim *sim = &run->sim;
  for (guint i = 0; i < sim->ended->len; i++) {
    const SrvEnded *ended = &g_array_index (sim->ended, SrvEnded, i);
    if (sim->spec->source.finished (sim->spec->source.load, ended->index, eng_time_to_s (ended->seen))) {
      run->dry = FALSE;
      if (!take_request (run, FALSE, error))
        return FALSE;
    }
  }
  g_array_set_size (sim->ended, 0);
  return TRUE;
}

static gboolean
flows_to_now (Run *run, GError **error)
{
  SrvSim *sim = &run->sim;
  if (!eng_run (sim->eng, sim->now, 0, error))
    return FALSE;
  srv_handoff_land (sim);
  const gboolean good = srv_tiers_land (sim, error);
  send_again (run);
  return good;
}

static gboolean
lose_replicas (Run *run, GError **error)
{
  SrvSim *sim = &run->sim;
  if (sim->eng != NULL && !flows_to_now (run, error))
    return FALSE;
  srv_outage_take (sim);
  for (guint i = 0; i < sim->n_replicas; i++)
    srv_wake (sim, &sim->replicas[i]);
  send_again (run);
  go_on (run);
  return srv_handoff_start (sim, error) && arrive_all (run, error);
}

/* Prompts that the step in hand has completed. */
static gboolean
write_prompts (SrvSim *sim, GError **error)
{
  for (guint i = 0; i < sim->prefilled->len; i++)
    if (!srv_tiers_write (sim, sim->at, sim->prefilled->pdata[i], error))
      return FALSE;
  g_ptr_array_set_size (sim->prefilled, 0);
  return TRUE;
}

static gboolean
run_all (Run *run, GError **error)
{
  SrvSim *sim = &run->sim;
  const SrvRunSpec *spec = sim->spec;
  if (!take_request (run, TRUE, error))
    return FALSE;
  for (EngTime end, arrival, flow, loss;;) {
    end = eng_queue_peek (sim->queue);
    loss = MIN (srv_outage_next (sim), srv_scale_next (sim));
    arrival = next_arrival (run);
    flow = sim->eng != NULL ? eng_next (sim->eng) : ENG_TIME_NEVER;
    if (MIN (MIN (end, arrival), MIN (flow, srv_outage_next (sim))) == ENG_TIME_NEVER ||
        (MIN (end, arrival) == ENG_TIME_NEVER && sim->in_flight == 0))
      return TRUE;                                /* writes to tiers may still be on their way */
    if (loss <= MIN (MIN (end, arrival), flow)) { /* or a look at the load */
      sim->now = loss;
      srv_scale_take (sim);
      if (!lose_replicas (run, error))
        return FALSE;
      continue;
    }
    if (flow != ENG_TIME_NEVER && flow <= MIN (end, arrival)) {
      sim->now = flow;
      if (!flows_to_now (run, error) || !arrive_all (run, error))
        return FALSE;
      continue;
    }
    if (arrival < end) {
      sim->now = arrival;
      if (!arrive_all (run, error))
        return FALSE;
      continue;
    }
    EngEntry entry;
    eng_queue_pop (sim->queue, &entry);
    if (!sim->replicas[entry.slot].busy || sim->replicas[entry.slot].end != entry.at) /* of a step that was lost */
      continue;
    sim->now = end;
    if (spec->fabric.layer > 0 && !flows_to_now (run, error)) /* what moves ahead of the end of a prompt is stopped now */
      return FALSE;
    arrival = MIN (arrival, loss);
    sim->arrival = arrival;
    /* replicas know of each other only through requests that answers send, and through transfers */
    sim->horizon = spec->source.open ? arrival : MIN (MIN (arrival, flow), eng_queue_peek (sim->queue));
    if (!srv_replica_end (sim, &sim->replicas[entry.slot]))
      continue;
    sim->tally->until = MAX (sim->tally->until, sim->now);
    srv_wake (sim, &sim->replicas[entry.slot]);
    go_on (run);
    if (sim->apart && sim->now == arrival && eng_queue_peek (sim->queue) == arrival)
      continue; /* all that ends now does so before what comes now, so that no replica sees what others do */
    if (!write_prompts (sim, error) || !srv_handoff_start (sim, error) || !tell_source (run, error) || !arrive_all (run, error))
      return FALSE;
  }
}

/* ---- the whole ---- */

static void
run_init (Run *run, const SrvRunSpec *spec, const guint part[2])
{
  SrvSim *sim = &run->sim;
  sim->spec = spec;
  sim->part = part != NULL ? part[0] : 0;
  sim->of = part != NULL ? part[1] : 1;
  sim->apart = srv_run_splits (spec);
  sim->tally = srv_tally_new (spec, part != NULL);
  sim->out = &sim->tally->sums;
  sim->queue = eng_queue_new ();
  const guint ranks = MAX (spec->times.ranks, spec->decode != NULL ? spec->decode->times.ranks : 0);
  sim->batches = g_new0 (SrvBatch, ranks);
  sim->pool = g_ptr_array_new ();
  sim->ended = g_array_new (FALSE, FALSE, sizeof (SrvEnded));
  sim->n_replicas = spec->replicas + (spec->decode != NULL ? spec->decode->replicas : 0);
  sim->handoffs = g_ptr_array_new ();
  sim->granted = g_ptr_array_new ();
  sim->moving = g_ptr_array_new ();
  sim->landed = g_ptr_array_new ();
  sim->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  sim->replicas = g_new0 (SrvReplica, sim->n_replicas);
  for (guint i = 0; i < sim->n_replicas; i++)
    srv_replica_init (sim, &sim->replicas[i], i);
  sim->eng = spec->decode != NULL ? spec->fabric.eng : spec->offload.eng;
  sim->prefilled = g_ptr_array_new ();
  sim->woken = g_ptr_array_new ();
  srv_route_init (sim);
  srv_tiers_init (sim);
  srv_outage_init (sim);
  srv_scale_init (sim);
  srv_least_init (sim);
  run->coming = g_ptr_array_new ();
  run->reads = g_new0 (EngTime, spec->replicas);
}

static void
seq_free (SrvSched *sched, SrvSeq *seq)
{
  if (sched != NULL) {
    srv_kv_release (sched->kv, &seq->kv, 0);
    srv_kv_forget (sched->kv, &seq->kv);
  }
  srv_hold_clear (&seq->kv);
  g_free (seq);
}

static void
run_clear (Run *run)
{
  SrvSim *sim = &run->sim;
  srv_handoff_clear (sim);
  srv_scale_clear (sim);
  srv_outage_clear (sim);
  srv_tiers_clear (sim);
  srv_route_clear (sim);
  srv_least_clear (sim);
  for (guint i = 0; i < sim->n_replicas; i++) { /* some are left after an error */
    for (guint k = 0; k < sim->replicas[i].spec->times.ranks; k++) {
      SrvSched *sched = sim->replicas[i].scheds[k];
      for (guint n = 0; n < sched->n_running; n++)
        seq_free (sched, sched->running[n]);
      for (SrvSeq *seq = sched->head, *next; seq != NULL; seq = next) {
        next = seq->after;
        seq_free (sched, seq);
      }
    }
    for (guint k = 0; k < sim->replicas[i].late->len; k++)
      seq_free (NULL, sim->replicas[i].late->pdata[k]);
    for (guint k = 0; k < sim->replicas[i].asked->len; k++)
      seq_free (NULL, sim->replicas[i].asked->pdata[k]);
    srv_replica_clear (&sim->replicas[i]);
  }
  for (guint i = 0; i < run->coming->len; i++)
    seq_free (NULL, run->coming->pdata[i]);
  for (SrvSeq *seq; (seq = g_queue_pop_head (&run->front)) != NULL;)
    seq_free (NULL, seq);
  for (guint i = 0; i < sim->pool->len; i++)
    seq_free (NULL, sim->pool->pdata[i]);
  g_ptr_array_free (run->coming, TRUE);
  g_free (run->reads);
  g_ptr_array_free (sim->pool, TRUE);
  g_array_free (sim->ended, TRUE);
  g_ptr_array_free (sim->prefilled, TRUE);
  g_ptr_array_free (sim->woken, TRUE);
  g_ptr_array_free (sim->handoffs, TRUE);
  g_ptr_array_free (sim->granted, TRUE);
  g_ptr_array_free (sim->moving, TRUE);
  g_ptr_array_free (sim->landed, TRUE);
  g_array_free (sim->uses, TRUE);
  eng_queue_free (sim->queue);
  srv_tally_free (sim->tally);
  g_free (sim->batches);
  g_free (sim->replicas);
}

/* `part`: which of how many; NULL: the run is not one of parts. */
static SrvTally *
run_tally (const SrvRunSpec *spec, const guint part[2], GError **error)
{
  Run run = { 0 };
  SrvTally *tally = NULL;
  run_init (&run, spec, part);
  const gboolean good = run_all (&run, error);
  if (good && run.sim.in_flight > 0)
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT,
                 "%" G_GUINT64_FORMAT " requests can never be answered: the engine has room for none of them in a step; raise "
                 "'max_num_batched_tokens' or 'memory' of 'engine'",
                 run.sim.in_flight);
  else if (good) {
    srv_count_finish (&run.sim);
    tally = g_steal_pointer (&run.sim.tally);
  }
  run_clear (&run);
  return tally;
}

SrvTally *
srv_run_part (const SrvRunSpec *spec, guint part, guint of, GError **error)
{
  return run_tally (spec, (const guint[]){ part, of }, error);
}

gboolean
srv_run (const SrvRunSpec *spec, SrvRunResult *out, GError **error)
{
  g_autoptr (SrvTally) tally = run_tally (spec, NULL, error);
  if (tally == NULL)
    return FALSE;
  srv_tally_finish (tally, out);
  return TRUE;
}
