/* vLLM v1: no phases, one budget of tokens a step. Those that run go first in the order of their admission, each with as many
 * tokens as it lacks; then the queue, first come, first served, or by priority.
 *
 * * Source: vllm/v1/core/sched/scheduler.py (Scheduler.schedule, _preempt_request) and vllm/v1/core/kv_cache_manager.py
 * (allocate_slots, with full_sequence_must_fit as scheduler_reserve_full_isl has it; watermark 0) at 00024d31. Check: cases 11
 * and 12 of test_serving_schedule. Left out: steps of several at once in a pipeline, encoders, LoRA limits, KV connectors. */
#include "serving/schedule.h"

/* The one to lose its KV: the last admitted; with priorities the least urgent, of those the youngest. */
static guint
victim (const SrvSched *sched)
{
  guint worst = sched->n_running - 1;
  for (guint i = 0; sched->priorities && i < sched->n_running; i++) {
    const SrvSeq *a = sched->running[i], *b = sched->running[worst];
    if (a->priority > b->priority || (a->priority == b->priority && a->index > b->index))
      worst = i;
  }
  return worst;
}

/* Blocks for the sequence at *at, if need be from others; *at follows it. FALSE: it was preempted itself. */
static gboolean
hold (SrvSched *sched, guint *at, guint tokens)
{
  SrvSeq *seq = sched->running[*at];
  while (!srv_kv_grow (sched->kv, &seq->kv, seq->computed + tokens)) {
    const guint out = victim (sched);
    const gboolean self = out == *at;
    srv_sched_preempt (sched, out, TRUE);
    if (self)
      return FALSE;
    *at -= out < *at;
  }
  return TRUE;
}

static guint
wanted (const SrvSched *sched, const SrvSeq *seq)
{
  guint tokens = srv_seq_known (seq) - seq->computed;
  if (srv_seq_decodes (seq))
    tokens += MIN (sched->limits.drafts, seq->output - seq->produced - 1);
  return sched->limits.chunk > 0 ? MIN (tokens, sched->limits.chunk) : tokens;
}

/* Takes the first of the queue. FALSE: it has to wait, and all behind it. */
static gboolean
admit (SrvSched *sched)
{
  SrvSeq *seq = sched->head;
  const guint known = srv_seq_known (seq), block = srv_kv_block (sched->kv), budget = sched->limits.max_tokens - sched->n_tokens;
  const SrvHit hit = srv_kv_match (sched->kv, &seq->kv, known);
  guint tokens = known - hit.blocks * block;
  if (sched->limits.chunk > 0)
    tokens = MIN (tokens, sched->limits.chunk);
  if (!sched->limits.chunked && tokens > budget)
    return FALSE;
  if ((known + block - 1) / block - hit.blocks + hit.idle > srv_kv_idle (sched->kv))
    return FALSE;
  tokens = MIN (tokens, budget);
  srv_sched_admit (sched, hit, tokens);
  srv_sched_choose (sched, seq, tokens);
  return TRUE;
}

void
srv_schedule_vllm (SrvSched *sched)
{
  for (guint i = 0; i < sched->n_running && sched->n_tokens < sched->limits.max_tokens; i++) {
    const guint tokens = MIN (wanted (sched, sched->running[i]), sched->limits.max_tokens - sched->n_tokens);
    if (!hold (sched, &i, tokens))
      break;
    srv_sched_choose (sched, sched->running[i], tokens);
  }
  while (sched->preempted == 0 && sched->head != NULL && sched->n_tokens < sched->limits.max_tokens &&
         sched->n_running < sched->limits.max_seqs)
    if (!admit (sched))
      return;
}

/* Whoever waits lacks a place, tokens or blocks, and decoding makes none of them more. */
gboolean
srv_settled_vllm (const SrvSched *sched)
{
  return sched->n_tokens <= sched->limits.max_tokens;
}
