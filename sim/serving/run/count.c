/* What a run counts: times of requests, gaps between tokens, use of blocks. */
#include "run/sim-private.h"

static void
tell_step (SrvSim *sim, const SrvReplica *replica)
{
  SrvStepSeen seen = { .replica = replica->index,
                       .start_s = eng_time_to_s (replica->start),
                       .end_s = eng_time_to_s (replica->end) };
  for (guint i = 0; i < replica->spec->times.ranks; i++) {
    const SrvSched *sched = replica->scheds[i];
    seen.prompts += sched->n_chunks;
    seen.prompt_tokens += sched->n_tokens - MIN (sched->n_tokens, sched->n_decode);
    seen.decoding += sched->n_decode;
    seen.waiting += sched->n_waiting;
    seen.running += sched->n_running;
    seen.kv += 1 - (double)srv_kv_idle (sched->kv) / (double)replica->spec->blocks;
  }
  seen.kv /= replica->spec->times.ranks;
  sim->spec->step (sim->spec->user, &seen);
}

void
srv_count_step (SrvSim *sim, SrvReplica *replica)
{
  const double time_ps = (double)(replica->end - replica->start);
  guint64 idle = 0;
  guint decode = 0, prompts = 0;
  for (guint i = 0; i < replica->spec->times.ranks; i++) {
    const SrvSched *sched = replica->scheds[i];
    idle += srv_kv_idle (sched->kv);
    decode += replica->jumping ? sched->n_running : sched->n_decode;
    prompts += replica->jumping ? 0 : sched->n_chunks;
  }
  const double kv = 1 - (double)idle / ((double)replica->spec->blocks * replica->spec->times.ranks);
  sim->out->steps++;
  replica->steps++;
  sim->out->prompt_steps += prompts > 0;
  sim->out->kv_most = MAX (sim->out->kv_most, kv);
  replica->busy_ps += time_ps;
  replica->kv_ps += kv * time_ps;
  sim->out->pools[replica->pool].steps++;
  if (replica->parts)
    for (guint i = 0; i < SRV_PART_N; i++)
      sim->out->pools[replica->pool].part_s[prompts > 0 ? 0 : 1][i] += time_ps / ENG_PS_PER_S * replica->share[i];
  sim->tally->decode_steps += decode > 0 ? 1 : 0;
  sim->tally->decoded += decode;
  if (sim->spec->step != NULL)
    tell_step (sim, replica);
}

void
srv_count_gaps (SrvSim *sim, EngTime gap, guint n)
{
  srv_sample_add (sim->tally->itl, gap, n);
}

static gboolean
is_good (const SrvSlo *slo, double ttft_s, double tpot_s, double e2e_s)
{
  return ttft_s <= slo->ttft_s && tpot_s <= slo->tpot_s && e2e_s <= slo->e2e_s;
}

static void
tell_request (SrvSim *sim, const SrvSeq *seq, double tpot_s)
{
  const SrvRequestSeen seen = { .index = seq->index,
                                .replica = sim->at->index,
                                .arrival_s = eng_time_to_s (seq->arrival),
                                .start_s = eng_time_to_s (seq->start),
                                .first_s = eng_time_to_s (seq->first),
                                .end_s = eng_time_to_s (seq->last),
                                .input = seq->input,
                                .output = seq->output,
                                .hit = seq->hit,
                                .preemptions = seq->preemptions };
  if (sim->spec->request != NULL)
    sim->spec->request (sim->spec->user, &seen);
  if (seq == sim->watched) {
    SrvWatched *watched = &sim->out->watched;
    watched->seen = TRUE;
    watched->request = seen;
    watched->ttft_s = eng_time_to_s (seq->first - seq->arrival);
    watched->e2e_s = eng_time_to_s (seq->last - seq->arrival);
    watched->tpot_s = tpot_s;
    srv_watch_outside (sim, seq, watched->part_s);
    sim->watched = NULL;
  }
}

static void
count_request (SrvSim *sim, const SrvSeq *seq)
{
  const EngTime ttft = seq->first - seq->arrival, e2e = seq->last - seq->arrival;
  const guint gaps = seq->output - 1;
  const EngTime tpot = gaps > 0 ? (e2e - ttft + gaps / 2) / gaps : 0;
  tell_request (sim, seq, eng_time_to_s (tpot));
  if (seq->index < sim->spec->warm_up)
    return;
  srv_sample_add (sim->tally->ttft, ttft, 1);
  srv_sample_add (sim->tally->e2e, e2e, 1);
  if (gaps > 0)
    srv_sample_add (sim->tally->tpot, tpot, 1);
  sim->out->requests++;
  sim->out->input_tokens += seq->input;
  sim->out->output_tokens += seq->output;
  const gboolean good = is_good (&sim->spec->slo, eng_time_to_s (ttft), eng_time_to_s (tpot), eng_time_to_s (e2e));
  sim->out->good += good ? 1 : 0;
  if (sim->spec->n_outages > 0) {
    SrvPhaseResult *phase = &sim->out->phases[seq->phase];
    phase->requests++;
    phase->good += good ? 1 : 0;
    srv_sample_add (sim->phases[seq->phase], ttft, 1);
  }
  sim->tally->first_arrival = MIN (sim->tally->first_arrival, seq->arrival);
  sim->tally->last_end = MAX (sim->tally->last_end, seq->last);
}

void
srv_count_token (void *user, SrvSeq *seq, guint tokens)
{
  SrvSim *sim = user;
  (void)tokens;
  srv_route_prefilled (sim->at, seq);
  if (seq->units > 0 && sim->at->pool == 0)
    g_ptr_array_add (sim->prefilled, seq);
  if (seq->answer > 1) {
    srv_handoff_begin (sim, seq);
    return;
  }
  const EngTime seen = srv_count_send (sim, sim->at), before = seq->last;
  seq->last = seen;
  if (seq->first == ENG_TIME_NEVER) {
    seq->first = seen;
    srv_watch_first (sim, seq);
  } else
    srv_count_gaps (sim, seen - before, 1);
  if (!srv_seq_ended (seq))
    return;
  count_request (sim, seq);
  if (sim->at->scheds[seq->rank]->holds)
    srv_sched_let_go (sim->at->scheds[seq->rank], seq);
  srv_load (sim, sim->at, -1);
  sim->in_flight--;
  sim->n_ended++;
  const SrvEnded ended = { seq->index, seen };
  g_array_append_val (sim->ended, ended);
  g_ptr_array_add (sim->pool, seq);
}

void
srv_count_finish (SrvSim *sim)
{
  SrvRunResult *out = sim->out;
  SrvTally *tally = sim->tally;
  for (guint i = 0; i < SRV_PHASE_N; i++)
    if (out->phases[i].requests > 0)
      out->phases[i].ttft = srv_sample_spread (sim->phases[i], 1 / ENG_PS_PER_S);
  out->transfer.wait_s = sim->wait_ps / ENG_PS_PER_S;
  out->transfer.time_s = sim->move_ps / ENG_PS_PER_S;
  tally->until = MAX (tally->until, sim->now);
  srv_scale_finish (sim);
  for (guint i = 0; i < sim->n_replicas; i++) {
    const SrvReplica *replica = &sim->replicas[i];
    SrvReplicaTally *its = &tally->replicas[i];
    its->busy_ps = replica->busy_ps;
    its->kv_ps = replica->kv_ps;
    for (guint k = 0; k < replica->spec->times.ranks; k++) {
      const SrvSched *sched = replica->scheds[k];
      its->hit_tokens += sched->hit_tokens;
      its->prompt_tokens += sched->asked_tokens;
      its->preemptions += sched->preemptions;
      its->lost_tokens += sched->lost_tokens;
    }
  }
}
