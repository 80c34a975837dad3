/* What schedulers of all engines share: the queue, those that run, a step's choice and its end. */
#include "serving/schedule.h"

SrvSched *
srv_sched_new (const SrvPolicy *policy, const SrvLimits *limits, SrvKv *kv)
{
  SrvSched *sched = g_new0 (SrvSched, 1);
  sched->limits = *limits;
  sched->policy = policy;
  sched->kv = kv;
  sched->ratio = -1;
  return sched;
}

void
srv_sched_free (SrvSched *sched)
{
  if (sched == NULL)
    return;
  srv_kv_free (sched->kv);
  g_free (sched->running);
  g_free (sched->chosen);
  g_free (sched->chunks);
  g_free (sched);
}

/* ---- the queue ---- */

static void
put_before (SrvSched *sched, SrvSeq *seq, SrvSeq *next)
{
  SrvSeq *prev = next != NULL ? next->before : sched->tail;
  seq->before = prev;
  seq->after = next;
  *(prev != NULL ? &prev->after : &sched->head) = seq;
  *(next != NULL ? &next->before : &sched->tail) = seq;
  sched->n_waiting++;
  sched->waiting_tokens += seq->input;
}

static void
take_out (SrvSched *sched, SrvSeq *seq)
{
  *(seq->before != NULL ? &seq->before->after : &sched->head) = seq->after;
  *(seq->after != NULL ? &seq->after->before : &sched->tail) = seq->before;
  seq->before = seq->after = NULL;
  sched->n_waiting--;
  sched->waiting_tokens -= seq->input;
}

void
srv_sched_add (SrvSched *sched, SrvSeq *seq)
{
  SrvSeq *next = NULL;
  sched->priorities |= seq->priority > 0;
  for (SrvSeq *last = sched->tail; last != NULL && last->priority > seq->priority; last = last->before)
    next = last;
  put_before (sched, seq, next);
  sched->fresh |= sched->head == seq;
}

/* ---- those that run ---- */

static guint
blocks_to_end (const SrvSched *sched, const SrvSeq *seq)
{
  const guint block = srv_kv_block (sched->kv);
  return (seq->input + seq->output + block - 1) / block;
}

static void
make_room (SrvSched *sched)
{
  if (sched->n_running < sched->room)
    return;
  sched->room = MAX (64, 2 * sched->room);
  sched->running = g_renew (SrvSeq *, sched->running, sched->room);
  sched->chosen = g_renew (SrvSeq *, sched->chosen, sched->room);
  sched->chunks = g_renew (SrvChunk, sched->chunks, sched->room);
}

void
srv_sched_admit (SrvSched *sched, SrvHit hit, guint tokens)
{
  SrvSeq *seq = sched->head;
  take_out (sched, seq);
  make_room (sched);
  sched->running[sched->n_running++] = seq;
  srv_kv_take (sched->kv, &seq->kv, hit);
  seq->computed = hit.blocks * srv_kv_block (sched->kv);
  if (seq->preemptions == 0) {
    seq->hit = seq->computed;
    sched->hit_tokens += seq->computed;
    sched->asked_tokens += seq->input;
  }
  const gboolean held = srv_kv_grow (sched->kv, &seq->kv, seq->computed + tokens);
  g_assert (held);
  if (sched->policy->whole)
    sched->promised += blocks_to_end (sched, seq);
}

void
srv_sched_choose (SrvSched *sched, SrvSeq *seq, guint tokens)
{
  seq->take = tokens;
  sched->chosen[sched->n_chosen++] = seq;
  sched->n_tokens += tokens;
  if (srv_seq_decodes (seq)) {
    sched->n_decode++;
    sched->n_sampled++;
    sched->context += seq->computed;
    sched->windowed += sched->limits.window > 0 ? MIN (seq->computed, sched->limits.window) : seq->computed;
    return;
  }
  sched->chunks[sched->n_chunks++] = (SrvChunk){ .tokens = tokens, .cached = seq->computed };
  sched->n_sampled += seq->computed + tokens == srv_seq_known (seq);
  if (sched->policy->shares_early)
    srv_kv_commit (sched->kv, &seq->kv, seq->computed + tokens);
}

/* Takes it out of the step, where it was chosen already. */
static void
unchoose (SrvSched *sched, SrvSeq *seq)
{
  guint n = sched->n_chosen;
  sched->n_chosen = sched->n_chunks = sched->n_decode = sched->n_sampled = sched->n_tokens = 0;
  sched->context = sched->windowed = 0;
  for (guint i = 0; i < n; i++)
    if (sched->chosen[i] != seq)
      srv_sched_choose (sched, sched->chosen[i], sched->chosen[i]->take);
}

void
srv_sched_preempt (SrvSched *sched, guint at, gboolean first)
{
  SrvSeq *seq = sched->running[at];
  if (seq->take > 0)
    unchoose (sched, seq);
  if (sched->policy->whole)
    sched->promised -= blocks_to_end (sched, seq);
  for (guint i = at + 1; i < sched->n_running; i++)
    sched->running[i - 1] = sched->running[i];
  sched->n_running--;
  srv_kv_release (sched->kv, &seq->kv, seq->computed);
  sched->preempted++;
  sched->preemptions++;
  sched->lost_tokens += seq->computed;
  seq->lost += seq->computed;
  seq->preemptions++;
  seq->computed = seq->take = 0;
  if (!first || sched->priorities)
    srv_sched_add (sched, seq);
  else
    put_before (sched, seq, sched->head);
}

gboolean
srv_sched_step (SrvSched *sched)
{
  sched->n_chosen = sched->n_chunks = sched->n_decode = sched->n_sampled = sched->n_tokens = 0;
  sched->context = sched->windowed = 0;
  sched->preempted = 0;
  sched->fresh = FALSE;
  if (sched->n_running + sched->n_waiting == 0)
    return FALSE;
  make_room (sched);
  for (guint i = 0; i < sched->n_running; i++)
    sched->running[i]->take = 0;
  sched->policy->schedule (sched);
  return sched->n_chosen > 0;
}

SrvBatch
srv_sched_batch (const SrvSched *sched)
{
  return (SrvBatch){ .chunks = sched->chunks,
                     .n_chunks = sched->n_chunks,
                     .n_decode = sched->n_decode,
                     .decode_context = (double)sched->context,
                     .decode_windowed = (double)sched->windowed,
                     .n_sampled = sched->n_sampled };
}

gboolean
srv_seq_ended (const SrvSeq *seq)
{
  return seq->produced >= seq->output;
}

/* Those that have ended leave, in order. */
static void
leave (SrvSched *sched)
{
  guint kept = 0;
  for (guint i = 0; i < sched->n_running; i++) {
    SrvSeq *seq = sched->running[i];
    if (!srv_seq_ended (seq)) {
      sched->running[kept++] = seq;
      continue;
    }
    if (sched->policy->whole)
      sched->promised -= blocks_to_end (sched, seq);
    if (!sched->holds) {
      srv_kv_commit (sched->kv, &seq->kv, seq->computed); /* later prompts of the session find the answer too */
      srv_sched_let_go (sched, seq);
    }
  }
  sched->n_running = kept;
}

void
srv_sched_done (SrvSched *sched, SrvToken token, SrvAccept accept, void *user)
{
  gboolean ended = FALSE;
  for (guint i = 0; i < sched->n_chosen; i++) {
    SrvSeq *seq = sched->chosen[i];
    const gboolean decoded = srv_seq_decodes (seq);
    const guint drafts = decoded ? seq->take - 1 : 0;
    seq->computed += seq->take - drafts;
    if (!decoded && !sched->policy->shares_early)
      srv_kv_commit (sched->kv, &seq->kv, seq->computed);
    if (seq->computed != srv_seq_known (seq)) {
      seq->take = 0;
      continue;
    }
    const guint right = accept == NULL || drafts == 0 ? drafts : MIN (accept (user, seq), drafts);
    const guint tokens = MIN (1 + right, seq->output - seq->produced);
    seq->produced += tokens;
    seq->computed += tokens - 1;
    seq->take = tokens;
    ended |= srv_seq_ended (seq);
  }
  if (ended)
    leave (sched);
  for (guint i = 0; i < sched->n_chosen; i++)
    if (sched->chosen[i]->take > 0)
      token (user, sched->chosen[i], sched->chosen[i]->take);
}

/* ---- sequences whose KV comes from another replica ---- */

gboolean
srv_sched_reserve (SrvSched *sched, SrvSeq *seq, guint coming)
{
  const guint block = srv_kv_block (sched->kv);
  if (sched->n_waiting > 0 || sched->n_running + coming >= sched->limits.max_seqs)
    return FALSE;
  if (!sched->policy->whole)
    return srv_kv_grow (sched->kv, &seq->kv, seq->input + 1);
  guint64 held = 0;
  for (guint i = 0; i < sched->n_running; i++)
    held += sched->running[i]->kv.blocks;
  const guint64 to_end = blocks_to_end (sched, seq);
  if (to_end + sched->promised - held > srv_kv_idle (sched->kv))
    return FALSE;
  const gboolean there = srv_kv_grow (sched->kv, &seq->kv, MIN (seq->input + 1, (guint)to_end * block));
  g_assert (there);
  sched->promised += to_end - seq->kv.blocks; /* the rest counts once it runs */
  return TRUE;
}

void
srv_sched_unreserve (SrvSched *sched, SrvSeq *seq)
{
  if (sched->policy->whole)
    sched->promised -= blocks_to_end (sched, seq) - seq->kv.blocks;
  srv_sched_let_go (sched, seq);
}

static void
lose (SrvSched *sched, SrvSeq *seq, GPtrArray *out)
{
  const guint n_keys = seq->kv.n_keys;
  srv_sched_let_go (sched, seq);
  seq->kv.n_keys = n_keys;
  seq->before = seq->after = NULL;
  seq->take = 0;
  g_ptr_array_add (out, seq);
}

void
srv_sched_lose (SrvSched *sched, GPtrArray *out)
{
  for (guint i = 0; i < sched->n_running; i++)
    lose (sched, sched->running[i], out);
  for (SrvSeq *seq = sched->head, *next; seq != NULL; seq = next) {
    next = seq->after;
    lose (sched, seq, out);
  }
  SrvKv *kv = srv_kv_new_like (sched->kv);
  srv_kv_free (sched->kv);
  sched->kv = kv;
  sched->head = sched->tail = NULL;
  sched->n_running = sched->n_waiting = sched->n_chosen = sched->n_chunks = sched->n_decode = sched->n_sampled = sched->n_tokens =
      0;
  sched->waiting_tokens = 0;
  sched->cut = NULL;
  sched->ratio = -1;
  sched->decays = sched->promised = 0;
  sched->unseen = sched->seen = sched->waited = 0;
}

void
srv_sched_join (SrvSched *sched, SrvSeq *seq)
{
  make_room (sched);
  sched->running[sched->n_running++] = seq;
  sched->fresh = TRUE;
  if (sched->policy->whole)
    sched->promised += seq->kv.blocks;
}

void
srv_sched_let_go (SrvSched *sched, SrvSeq *seq)
{
  srv_kv_release (sched->kv, &seq->kv, 0);
  srv_kv_forget (sched->kv, &seq->kv);
}

/* ---- steps that only decode ---- */

gboolean
srv_sched_repeats (const SrvSched *sched, guint *most)
{
  if (sched->limits.drafts > 0 || sched->n_running == 0 || sched->n_decode != sched->n_running || sched->n_chunks > 0 ||
      sched->n_chosen != sched->n_running || sched->preempted > 0 || sched->fresh || !sched->policy->settled (sched))
    return FALSE;
  *most = G_MAXUINT;
  for (guint i = 0; i < sched->n_running; i++)
    *most = MIN (*most, sched->running[i]->output - sched->running[i]->produced);
  return TRUE;
}

void
srv_sched_new_blocks (const SrvSched *sched, guint *counts)
{
  const guint block = srv_kv_block (sched->kv);
  for (guint i = 0; i < block; i++)
    counts[i] = 0;
  for (guint i = 0; i < sched->n_running; i++)
    counts[(block - sched->running[i]->computed % block) % block]++;
}

void
srv_sched_repeat (SrvSched *sched, guint n)
{
  const guint block = srv_kv_block (sched->kv);
  sched->context = sched->windowed = 0;
  sched->decays += n;
  if (sched->limits.poll > 0) /* a look every `poll` steps found nobody */
    sched->unseen = (sched->unseen + n - 1) % sched->limits.poll + 1;
  for (guint i = 0; i < sched->n_running; i++) {
    SrvSeq *seq = sched->running[i];
    seq->produced += n - 1;
    seq->computed += n - 1;
    seq->take = 1;
    seq->kv.blocks = (seq->computed + block) / block; /* with the token of the last step */
    sched->chosen[i] = seq;
    sched->context += seq->computed;
    sched->windowed += sched->limits.window > 0 ? MIN (seq->computed, sched->limits.window) : seq->computed;
  }
}
