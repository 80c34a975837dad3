/* TensorRT-LLM: all that run generate, then prompts in the order of arrival, whole or in chunks of whole blocks. A request is
 * admitted when the blocks that it and all that run will need to their longest answers are there (GUARANTEED_NO_EVICT, the
 * default), so that none is ever preempted.
 *
 * * Source: cpp/tensorrt_llm/batch_manager/capacityScheduler.cpp (GuaranteedNoEvictScheduler) and microBatchScheduler.cpp, which
 * tensorrt_llm/_torch/pyexecutor/scheduler/scheduler.py (BindCapacityScheduler, BindMicroBatchScheduler) wraps, at 002f3cc3. Left
 * out: MAX_UTILIZATION, overlap of two batches, several pools of blocks by window. */
#include "serving/schedule.h"

/* Tokens of a prompt that the step still takes; 0: none. */
static guint
part (const SrvSched *sched, guint lacks)
{
  const guint block = srv_kv_block (sched->kv), budget = sched->limits.max_tokens - sched->n_tokens;
  guint most = sched->limits.chunk > 0 ? MIN (sched->limits.chunk, budget) : budget;
  if (!sched->limits.chunked)
    return lacks <= budget ? lacks : 0;
  if (lacks <= most)
    return lacks;
  return most < block ? most * (sched->limits.max_tokens < block) : most / block * block;
}

static gboolean
prompt (SrvSched *sched, SrvSeq *seq)
{
  const guint tokens = part (sched, srv_seq_known (seq) - seq->computed);
  if (tokens == 0)
    return FALSE;
  const gboolean held = srv_kv_grow (sched->kv, &seq->kv, seq->computed + tokens);
  g_assert (held); /* promised */
  srv_sched_choose (sched, seq, tokens);
  return TRUE;
}

static gboolean
admit (SrvSched *sched, guint64 *held)
{
  SrvSeq *seq = sched->head;
  const guint block = srv_kv_block (sched->kv), known = srv_seq_known (seq);
  const SrvHit hit = srv_kv_match (sched->kv, &seq->kv, known);
  const guint tokens = part (sched, known - hit.blocks * block);
  const guint64 needs = (seq->input + seq->output + block - 1) / block - hit.blocks + hit.idle;
  if (tokens == 0 || needs + sched->promised - *held > srv_kv_idle (sched->kv))
    return FALSE;
  srv_sched_admit (sched, hit, tokens);
  *held += seq->kv.blocks;
  srv_sched_choose (sched, seq, tokens);
  return TRUE;
}

void
srv_schedule_trtllm (SrvSched *sched)
{
  guint64 held = 0;
  gboolean more = !sched->held;
  for (guint i = 0; i < sched->n_running; i++) {
    SrvSeq *seq = sched->running[i];
    if (srv_seq_decodes (seq)) {
      const guint tokens = 1 + MIN (sched->limits.drafts, seq->output - seq->produced - 1);
      const gboolean there = srv_kv_grow (sched->kv, &seq->kv, seq->computed + tokens);
      g_assert (there); /* promised */
      srv_sched_choose (sched, seq, tokens);
    }
  }
  for (guint i = 0; i < sched->n_running && more; i++)
    if (!srv_seq_decodes (sched->running[i]))
      more = prompt (sched, sched->running[i]);
  for (guint i = 0; i < sched->n_running; i++)
    held += sched->running[i]->kv.blocks;
  while (more && sched->head != NULL && sched->n_running < sched->limits.max_seqs)
    more = admit (sched, &held);
}

void
srv_scheds_balance (SrvSched *const *scheds, guint n)
{
  guint prompts = 0, decodes = 0;
  for (guint i = 0; i < n; i++) {
    const SrvSched *sched = scheds[i];
    gboolean has_prompt = sched->head != NULL && sched->n_running < sched->limits.max_seqs, has_decode = FALSE;
    for (guint k = 0; k < sched->n_running; k++)
      *(srv_seq_decodes (sched->running[k]) ? &has_decode : &has_prompt) = TRUE;
    prompts += has_prompt ? 1 : 0;
    decodes += has_decode ? 1 : 0;
  }
  const gboolean hold = prompts > 0 && prompts < n && decodes == n && scheds[0]->waited < scheds[0]->limits.wait;
  scheds[0]->waited = hold ? scheds[0]->waited + 1 : 0;
  for (guint i = 0; i < n; i++)
    scheds[i]->held = hold;
}
