/* Where the time of one request goes, step by step. */
#include <math.h>
#include <string.h>

#include "run/sim-private.h"

const char *const srv_wait_names[SRV_WAIT_N] = {
  [SRV_WAIT_FRONT] = "front_end",
  [SRV_WAIT_QUEUE] = "queue",
  [SRV_WAIT_READ] = "kv_read",
  [SRV_WAIT_PROMPT] = "own_prompt",
  [SRV_WAIT_OTHERS] = "prompts_of_others",
  [SRV_WAIT_PLACE] = "decode_pool",
  [SRV_WAIT_TRANSFER] = "kv_transfer",
  [SRV_WAIT_COMPUTE] = "decode_weights",
  [SRV_WAIT_KV] = "decode_kv",
  [SRV_WAIT_TP] = "tensor_parallel",
  [SRV_WAIT_EP] = "expert_parallel",
  [SRV_WAIT_PP] = "pipeline",
  [SRV_WAIT_HOST] = "host",
  [SRV_WAIT_PREEMPTED] = "preempted",
};

static const SrvWait wait_of[SRV_PART_N] = {
  [SRV_PART_GEMM] = SRV_WAIT_COMPUTE,   [SRV_PART_EXPERTS] = SRV_WAIT_COMPUTE, [SRV_PART_ATTENTION] = SRV_WAIT_KV,
  [SRV_PART_MEMORY] = SRV_WAIT_COMPUTE, [SRV_PART_TP] = SRV_WAIT_TP,           [SRV_PART_EP] = SRV_WAIT_EP,
  [SRV_PART_PP] = SRV_WAIT_PP,          [SRV_PART_HOST] = SRV_WAIT_HOST,       [SRV_PART_IMBALANCE] = SRV_WAIT_EP,
};

/* The watched request decodes in a step of time_s: what prompts add to it is theirs, the rest by the parts of a step that only
 * decodes. */
static void
decoded (SrvSim *sim, const SrvReplica *replica, double time_s)
{
  const SrvRunSpec *spec = replica->spec;
  double *part_s = sim->out->watched.part_s, sum_s = 0;
  SrvStepCost alone = { 0 };
  for (guint i = 0; i < spec->times.ranks; i++) {
    sim->batches[i].n_chunks = 0;
    sim->batches[i].n_sampled = sim->batches[i].n_decode;
  }
  spec->times.time_s (spec->times.model, sim->batches, &alone);
  for (guint i = 0; i < SRV_PART_N; i++)
    sum_s += alone.part_s[i];
  const double own_s = MIN (alone.time_s, time_s);
  part_s[SRV_WAIT_OTHERS] += time_s - own_s;
  if (sum_s <= 0)
    part_s[SRV_WAIT_COMPUTE] += own_s;
  for (guint i = 0; i < SRV_PART_N && sum_s > 0; i++)
    part_s[wait_of[i]] += fmax (own_s * alone.part_s[i] / sum_s, 0); /* the host's may be a rounding error below 0 */
}

static const SrvSched *
sched_of (const SrvSim *sim, const SrvReplica *replica, gboolean *runs)
{
  for (guint i = 0; i < replica->spec->times.ranks; i++) {
    const SrvSched *sched = replica->scheds[i];
    for (guint k = 0; k < sched->n_running; k++)
      if (sched->running[k] == sim->watched) {
        *runs = TRUE;
        return sched;
      }
    for (const SrvSeq *seq = sched->head; seq != NULL; seq = seq->after)
      if (seq == sim->watched) {
        *runs = FALSE;
        return sched;
      }
  }
  return NULL;
}

void
srv_watch_step (SrvSim *sim, const SrvReplica *replica)
{
  gboolean runs = FALSE;
  const SrvSeq *seq = sim->watched;
  const SrvSched *sched = sched_of (sim, replica, &runs);
  double *part_s = sim->out->watched.part_s;
  const double time_s = eng_time_to_s (replica->end - replica->start);
  if (sched == NULL || seq->start == ENG_TIME_NEVER)
    return;
  if (!runs || (seq->take > 0 && seq->produced > 0 && !srv_seq_decodes (seq)))
    part_s[SRV_WAIT_PREEMPTED] += time_s;
  else if (seq->take == 0)
    part_s[SRV_WAIT_OTHERS] += time_s;
  else if (srv_seq_decodes (seq))
    decoded (sim, replica, time_s);
  else {
    part_s[SRV_WAIT_PROMPT] += time_s * seq->take / sched->n_tokens;
    part_s[SRV_WAIT_OTHERS] += time_s * (sched->n_tokens - seq->take) / sched->n_tokens;
  }
}

void
srv_watch_outside (const SrvSim *sim, const SrvSeq *seq, double *part_s)
{
  part_s[SRV_WAIT_FRONT] += eng_time_to_s (seq->ready - seq->arrival) + eng_time_to_s (seq->last - sim->now);
  part_s[SRV_WAIT_QUEUE] += eng_time_to_s (seq->start - seq->ready - sim->watched_read);
  part_s[SRV_WAIT_READ] += eng_time_to_s (sim->watched_read);
}

void
srv_watch_first (SrvSim *sim, const SrvSeq *seq)
{
  SrvWatched *watched = &sim->out->watched;
  if (seq != sim->watched)
    return;
  memcpy (watched->first_s, watched->part_s, sizeof watched->first_s);
  srv_watch_outside (sim, seq, watched->first_s);
}

void
srv_watch_handoff (SrvSim *sim, const SrvHandoff *handoff)
{
  double *part_s = sim->out->watched.part_s;
  if (handoff->to != sim->watched)
    return;
  part_s[SRV_WAIT_PLACE] += eng_time_to_s (handoff->started - handoff->prefilled) + eng_time_to_s (sim->now - handoff->landed);
  sim->out->watched.moved.part = handoff->part;
  sim->out->watched.moved.time_s = eng_time_to_s (handoff->landed - handoff->started);
  part_s[SRV_WAIT_TRANSFER] += eng_time_to_s (handoff->landed - handoff->started);
}
