/* SGLang: a step is of prompts or decodes. Prompts go first whenever one can be admitted; one prompt at a time is cut.
 *
 * * Admission estimates what running requests still need: a ratio of the rest of their answers, at most 4096 tokens each. The
 * ratio falls from .7 to .098 in 600 decode steps, is set anew when requests are retracted, and starts again when the engine is
 * idle. Retraction takes the request with the shortest answer, of these the longest prompt; it returns to the end of the queue.
 *
 * * Source: python/sglang/srt/managers/schedule_policy.py (PrefillAdder: add_one_req, add_chunked_req, budget_state,
 * _get_running_request_total_token_offset) at 00550cd1, schedule_batch.py (retract_decode),
 * scheduler_components/new_token_ratio_tracker.py and environ.py (SGLANG_INIT_NEW_TOKEN_RATIO .7,
 * SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR .14, SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS 600, SGLANG_RETRACT_DECODE_STEPS 20,
 * SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION 4096), server_args.py (max_prefill_tokens 16384). `mixed` decodes beside prompts
 * (enable_mixed_chunk). Left out: orders of the
 * queue other than first come, first served; the tree of prefixes frees the oldest blocks, not whole leaves. */
#include "serving/schedule.h"

#define RATIO_FIRST        0.7
#define RATIO_LEAST        (0.7 * 0.14)
#define RATIO_STEPS        600
#define RETRACT_STEPS      20
#define MOST_NEW           4096u
#define MAX_PREFILL_TOKENS 16384u

static double
ratio_now (const SrvSched *sched)
{
  const double ratio = sched->ratio - (RATIO_FIRST - RATIO_LEAST) / RATIO_STEPS * (double)sched->decays;
  return MAX (ratio, RATIO_LEAST);
}

static guint
rest (const SrvSeq *seq)
{
  return MIN (seq->output - seq->produced, MOST_NEW);
}

/* What one step of prompts may still take, in tokens. */
typedef struct {
  double pool;  /* of the KV cache, less what is promised */
  guint input;  /* of max_prefill_tokens */
  guint chunk;  /* of the chunk */
  gboolean cut; /* chunk is a limit */
} Room;

static Room
room_now (const SrvSched *sched)
{
  Room room = { .pool = (double)srv_kv_idle (sched->kv) * srv_kv_block (sched->kv),
                .input = MAX (MAX_PREFILL_TOKENS, sched->limits.max_tokens),
                .chunk = sched->limits.chunk > 0 ? sched->limits.chunk : sched->limits.max_tokens,
                .cut = sched->limits.chunked };
  const double ratio = ratio_now (sched);
  for (guint i = 0; i < sched->n_running; i++)
    if (sched->running[i] != sched->cut)
      room.pool -= rest (sched->running[i]) * ratio;
  if (sched->limits.mixed) { /* what decodes takes its part of both */
    room.input -= MIN (sched->n_running, room.input - 1);
    room.chunk -= MIN (sched->n_running, room.chunk - 1);
  }
  return room;
}

static void
charge (Room *room, guint tokens, guint answer)
{
  room->pool -= tokens + answer;
  room->input -= MIN (tokens, room->input);
  room->chunk -= MIN (tokens, room->chunk);
}

/* The prompt that was cut goes on. */
static void
go_on (SrvSched *sched, Room *room)
{
  SrvSeq *seq = sched->cut;
  const guint lacks = srv_seq_known (seq) - seq->computed, tokens = MIN (lacks, room->chunk);
  if (!srv_kv_grow (sched->kv, &seq->kv, seq->computed + tokens))
    return;
  srv_sched_choose (sched, seq, tokens);
  charge (room, tokens, tokens < lacks ? 0 : rest (seq));
  if (tokens == lacks)
    sched->cut = NULL;
}

/* Takes the first of the queue. FALSE: no more in this step. */
static gboolean
admit (SrvSched *sched, Room *room)
{
  SrvSeq *seq = sched->head;
  const guint block = srv_kv_block (sched->kv), known = srv_seq_known (seq);
  const SrvHit hit = srv_kv_match (sched->kv, &seq->kv, known);
  const guint lacks = known - hit.blocks * block, paged = (lacks + block - 1) / block * block;
  const gboolean whole = !room->cut || paged <= room->chunk;
  const guint tokens = whole ? lacks : room->chunk / block * block;
  /* What leaves the free blocks with the prefix is no longer there for others either. */
  if ((double)paged + rest (seq) + block + (double)hit.idle * block >= room->pool && sched->n_running > 0)
    return FALSE;
  if ((tokens + block - 1) / block + hit.idle > srv_kv_idle (sched->kv))
    return FALSE;
  if (tokens == 0 || (paged >= room->input && sched->n_chosen > 0))
    return FALSE;
  sched->seen--;
  srv_sched_admit (sched, hit, tokens);
  srv_sched_choose (sched, seq, tokens);
  room->pool -= (double)hit.idle * block;
  charge (room, whole ? paged : tokens, whole ? rest (seq) : 0);
  if (!whole)
    sched->cut = seq;
  return whole && room->input > 0 && (!room->cut || room->chunk > 0);
}

/* The one to retract. */
static guint
shortest (const SrvSched *sched)
{
  guint at = 0;
  for (guint i = 1; i < sched->n_running; i++) {
    const SrvSeq *a = sched->running[i], *b = sched->running[at];
    if (a->produced < b->produced || (a->produced == b->produced && a->input >= b->input))
      at = i;
  }
  return at;
}

static guint64
blocks_of_step (const SrvSched *sched)
{
  const guint block = srv_kv_block (sched->kv);
  guint64 n = 0;
  for (guint i = 0; i < sched->n_running; i++) {
    const SrvSeq *seq = sched->running[i];
    if (seq == sched->cut)
      continue;
    const guint end = seq->computed + 1 + MIN (sched->limits.drafts, seq->output - seq->produced - 1);
    n += (end + block - 1) / block - MIN (seq->kv.blocks, (end + block - 1) / block);
  }
  return n;
}

static void
retract (SrvSched *sched)
{
  double made = 0, asked = 0;
  while (sched->n_running > 1 && blocks_of_step (sched) > srv_kv_idle (sched->kv)) {
    const guint at = shortest (sched);
    sched->cut = sched->cut == sched->running[at] ? NULL : sched->cut;
    srv_sched_preempt (sched, at, FALSE);
    sched->seen++;
  }
  for (guint i = 0; i < sched->n_running; i++) {
    made += sched->running[i]->produced;
    asked += sched->running[i]->output;
  }
  sched->ratio = MIN (1, (made + RETRACT_STEPS * sched->n_running) / asked);
  sched->decays = 0;
}

static void
decode (SrvSched *sched)
{
  if (blocks_of_step (sched) > srv_kv_idle (sched->kv))
    retract (sched);
  else
    sched->decays++;
  for (guint i = 0; i < sched->n_running; i++) {
    SrvSeq *seq = sched->running[i];
    const guint tokens = 1 + MIN (sched->limits.drafts, seq->output - seq->produced - 1);
    if (seq != sched->cut && srv_kv_grow (sched->kv, &seq->kv, seq->computed + tokens))
      srv_sched_choose (sched, seq, tokens);
  }
}

/* Those that decode join a step of prompts, as far as blocks suffice. */
static void
decode_beside (SrvSched *sched)
{
  for (guint i = 0; i < sched->n_running; i++) {
    SrvSeq *seq = sched->running[i];
    if (seq->take == 0 && srv_seq_decodes (seq) && srv_kv_grow (sched->kv, &seq->kv, seq->computed + 1))
      srv_sched_choose (sched, seq, 1);
  }
}

/* Looks for new requests after `poll` steps that decode, after prompts, and when nothing runs: managers/scheduler_recv_skipper.py,
 * which counts a prompt as 1000 steps. */
static void
look (SrvSched *sched)
{
  if (sched->n_running > 0 && sched->unseen < sched->limits.poll)
    return;
  sched->seen = sched->n_waiting;
  sched->unseen = 0;
}

void
srv_schedule_sglang (SrvSched *sched)
{
  look (sched);
  if (sched->n_running == 0 || sched->ratio < 0) {
    sched->ratio = RATIO_FIRST;
    sched->decays = 0;
  }
  if (sched->cut != NULL || (sched->seen > 0 && sched->n_running < sched->limits.max_seqs)) {
    Room room = room_now (sched);
    if (sched->cut != NULL)
      go_on (sched, &room);
    gboolean more = sched->cut == NULL && (!room.cut || room.chunk > 0) && room.pool > 0;
    while (more && sched->seen > 0 && sched->n_running < sched->limits.max_seqs)
      more = admit (sched, &room);
    if (sched->n_chosen > 0) {
      sched->unseen = sched->limits.poll;
      if (sched->limits.mixed)
        decode_beside (sched);
      return;
    }
  }
  decode (sched);
  sched->unseen++;
}

/* The estimate falls with each step, so that a request which waits may be admitted in any. */
gboolean
srv_settled_sglang (const SrvSched *sched)
{
  return sched->head == NULL || sched->n_running >= sched->limits.max_seqs;
}
