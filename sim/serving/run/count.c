/* What a run counts: times of requests, gaps between tokens, use of blocks. */
#include <math.h>
#include <string.h>

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
  sim->busy_ps += time_ps;
  sim->pool_busy_ps[replica->pool] += time_ps;
  sim->pool_kv_ps[replica->pool] += kv * time_ps;
  sim->out->pools[replica->pool].steps++;
  if (replica->parts)
    for (guint i = 0; i < SRV_PART_N; i++)
      sim->out->pools[replica->pool].part_s[prompts > 0 ? 0 : 1][i] += time_ps / ENG_PS_PER_S * replica->share[i];
  sim->kv_ps += kv * time_ps;
  sim->decode_steps += decode > 0;
  sim->decoded += decode;
  if (sim->spec->step != NULL)
    tell_step (sim, replica);
}

void
srv_count_gaps (SrvSim *sim, EngTime gap, guint n)
{
  srv_sample_add (sim->itl, gap, n);
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
  srv_sample_add (sim->ttft, ttft, 1);
  srv_sample_add (sim->e2e, e2e, 1);
  if (gaps > 0)
    srv_sample_add (sim->tpot, tpot, 1);
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
  sim->first_arrival = MIN (sim->first_arrival, seq->arrival);
  sim->last_end = MAX (sim->last_end, seq->last);
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
  const SrvEnded ended = { seq->index, seen };
  g_array_append_val (sim->ended, ended);
  g_ptr_array_add (sim->pool, seq);
}

static void
count_pools (SrvSim *sim)
{
  SrvRunResult *out = sim->out;
  const guint n[2] = { sim->spec->replicas, sim->n_replicas - sim->spec->replicas };
  for (guint i = 0; i < 2; i++) {
    out->pools[i].busy = n[i] > 0 ? sim->pool_busy_ps[i] / ((double)sim->now * n[i]) : (double)NAN;
    out->pools[i].kv_mean = sim->pool_busy_ps[i] > 0 ? sim->pool_kv_ps[i] / sim->pool_busy_ps[i] : (double)NAN;
  }
  const double transfers = (double)out->transfer.n;
  out->transfer.wait_s = transfers > 0 ? sim->wait_ps / ENG_PS_PER_S / transfers : (double)NAN;
  out->transfer.time_s = transfers > 0 ? sim->move_ps / ENG_PS_PER_S / transfers : (double)NAN;
}

void
srv_count_finish (SrvSim *sim)
{
  SrvRunResult *out = sim->out;
  const double tick_s = 1 / ENG_PS_PER_S;
  double all_ps = 0;
  out->duration_s = out->requests > 0 ? eng_time_to_s (sim->last_end - sim->first_arrival) : 0;
  out->ttft = srv_sample_spread (sim->ttft, tick_s);
  out->tpot = srv_sample_spread (sim->tpot, tick_s);
  out->itl = srv_sample_spread (sim->itl, tick_s);
  out->e2e = srv_sample_spread (sim->e2e, tick_s);
  for (guint i = 0; i < SRV_PHASE_N; i++)
    if (out->phases[i].requests > 0)
      out->phases[i].ttft = srv_sample_spread (sim->phases[i], tick_s);
  out->requests_per_s = (double)out->requests / out->duration_s;
  out->goodput_rps = (double)out->good / out->duration_s;
  out->output_tokens_per_s = (double)out->output_tokens / out->duration_s;
  out->total_tokens_per_s = (double)(out->input_tokens + out->output_tokens) / out->duration_s;
  out->user_tokens_per_s = 1 / out->tpot.p50;
  out->kv_mean = sim->busy_ps > 0 ? sim->kv_ps / sim->busy_ps : (double)NAN;
  out->batch_mean = sim->decode_steps > 0 ? sim->decoded / sim->decode_steps : (double)NAN;
  all_ps = (double)sim->now * sim->n_replicas;
  out->busy = all_ps > 0 ? sim->busy_ps / all_ps : (double)NAN;
  count_pools (sim);
  srv_scale_finish (sim);
  for (guint i = 0; i < sim->n_replicas; i++)
    for (guint k = 0; k < sim->replicas[i].spec->times.ranks; k++) {
      const SrvSched *sched = sim->replicas[i].scheds[k];
      out->hit_tokens += sched->hit_tokens;
      out->prompt_tokens += sched->asked_tokens;
      out->preemptions += sched->preemptions;
      out->lost_tokens += sched->lost_tokens;
    }
}
