/* The order in which PyTorch lists the passes of a pipeline's ranks, and with them their sends and receives.
 *
 * Its runtime of pipelines with several chunks or split backward passes makes a list for each rank, and enqueues it as it stands.
 * The lists are made by going round the ranks, one entry of each a time: a pass whose input has been listed is listed itself, its
 * send right behind it, and the receive behind whatever the receiver's list holds by then. What FSDP does to a chunk, and the
 * reduction behind its last pass, are entries too, and so take a round, with or without FSDP. Sends and receives of a rank run on
 * one communication stream, which also waits for what the compute stream holds when they are enqueued: a transfer starts once
 * both its ends have ended the transfers before it and the passes listed before it, and a receive whose sender is late holds up
 * the sends behind it.
 *
 * Source: pytorch/pytorch 00722e6 torch/distributed/pipelining/schedules.py (_add_reduce_grad, _add_unshard_reshard,
 * _add_send_recv, _PipelineScheduleRuntime._step_microbatches); torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp (pointToPoint:
 * what is batched has the device's one stream, which syncStream makes wait).
 * Check: measured steps of interleaved, zb_h1 and zb_v on four GPUs (tests/data/training/h200x4.csv); lists by hand
 * (test_training_schedule). */
#include "models/pipeline.h"

#define NO_TURN   G_MAXUINT32
#define UNSHARDED 3u /* chunks that a rank keeps gathered: _add_unshard_reshard, max_active_stages */

typedef struct {
  const MdlPipeline *pipe;
  GArray *const *order;
  GArray **entry;    /* by rank: guint32, its turns (of a pair the first), and NO_TURN for what takes a place and no time */
  guint *next;       /* by rank: of its entries */
  gboolean *made[2]; /* by position x m + micro-batch, back and ahead: listed, and with it what hands its result on */
  GArray *listed;
} Queue;

static const MdlTurn *
turn_at (const Queue *q, guint32 rank, guint32 i)
{
  return &g_array_index (q->order[rank], MdlTurn, i);
}

static guint32
n_at (const Queue *q, guint32 rank, guint32 i)
{
  return turn_at (q, rank, i)->paired ? 2 : 1;
}

/* ---- entries ---- */

static gboolean
holds (const guint32 *chunk, guint32 n, guint32 one)
{
  for (guint32 k = 0; k < n; k++)
    if (chunk[k] == one)
      return TRUE;
  return FALSE;
}

/* Chunks whose turns come next, from turn i on: UNSHARDED of them at most; how many. */
static guint32
chunks_ahead (const Queue *q, guint32 rank, guint32 i, guint32 chunk[UNSHARDED])
{
  guint32 n = 0;
  for (; i < q->order[rank]->len && n < UNSHARDED; i++)
    if (!holds (chunk, n, turn_at (q, rank, i)->chunk))
      chunk[n++] = turn_at (q, rank, i)->chunk;
  return n;
}

static void
add_entry (const Queue *q, guint32 rank, guint32 entry)
{
  g_array_append_val (q->entry[rank], entry);
}

/* Before turn i: an entry for each chunk that is let go, and for each that is gathered. */
static void
add_shards (const Queue *q, guint32 rank, guint32 i, guint32 held[UNSHARDED], guint32 *n_held)
{
  guint32 ahead[UNSHARDED], n = chunks_ahead (q, rank, i, ahead), kept = 0;
  for (guint32 k = 0; k < *n_held; k++)
    if (holds (ahead, n, held[k]))
      held[kept++] = held[k];
    else
      add_entry (q, rank, NO_TURN);
  for (guint32 k = 0; k < n; k++)
    if (!holds (held, kept, ahead[k])) {
      held[kept++] = ahead[k];
      add_entry (q, rank, NO_TURN);
    }
  *n_held = kept;
}

static gboolean
completes (const MdlTurn *turn)
{
  return turn->kind == MDL_TURN_BACKWARD || turn->kind == MDL_TURN_WEIGHT_GRADIENT;
}

static void
add_entries (const Queue *q, guint32 rank)
{
  guint32 held[UNSHARDED], n_held = 0;
  g_autofree guint32 *left = g_new0 (guint32, mdl_schedule_chunks (q->pipe));
  for (guint i = 0; i < q->order[rank]->len; i++)
    left[turn_at (q, rank, i)->chunk] += completes (turn_at (q, rank, i)) ? 1 : 0;
  for (guint32 i = 0, n; i < q->order[rank]->len; i += n) {
    n = n_at (q, rank, i);
    add_shards (q, rank, i, held, &n_held);
    add_entry (q, rank, i);
    for (guint32 k = 0; k < n; k++)
      if (completes (turn_at (q, rank, i + k)) && --left[turn_at (q, rank, i + k)->chunk] == 0)
        add_entry (q, rank, NO_TURN);
  }
}

/* ---- the order ---- */

static gboolean *
made_at (const Queue *q, const MdlTurn *turn, MdlPlace place)
{
  guint32 position = mdl_schedule_position (q->pipe, place);
  return &q->made[turn->kind == MDL_TURN_FORWARD][(gsize)position * q->pipe->m + turn->micro_batch];
}

static gboolean
is_ready (const Queue *q, guint32 rank, guint32 i)
{
  for (guint32 k = 0; k < n_at (q, rank, i); k++) {
    MdlPlace from;
    const MdlTurn *turn = turn_at (q, rank, i + k);
    if (mdl_schedule_needs (q->pipe, rank, turn, &from) && !*made_at (q, turn, from))
      return FALSE;
  }
  return TRUE;
}

/* One entry of a rank; FALSE: it has to wait for others, or there is none. */
static gboolean
list_next (const Queue *q, guint32 rank)
{
  if (q->next[rank] >= q->entry[rank]->len)
    return FALSE;
  guint32 i = g_array_index (q->entry[rank], guint32, q->next[rank]);
  if (i != NO_TURN && !is_ready (q, rank, i))
    return FALSE;
  for (guint32 k = 0; i != NO_TURN && k < n_at (q, rank, i); k++) {
    const MdlTurn *turn = turn_at (q, rank, i + k);
    const MdlListed one = { .rank = rank, .turn = i + k };
    if (turn->kind != MDL_TURN_WEIGHT_GRADIENT)
      *made_at (q, turn, (MdlPlace){ rank, turn->chunk }) = TRUE;
    g_array_append_val (q->listed, one);
  }
  q->next[rank]++;
  return TRUE;
}

GArray *
mdl_schedule_list (const MdlPipeline *pipe, GArray *const *order)
{
  gsize passes = (gsize)mdl_schedule_positions (pipe) * pipe->m, all = 0;
  Queue q = { .pipe = pipe,
              .order = order,
              .entry = g_new (GArray *, pipe->p),
              .next = g_new0 (guint, pipe->p),
              .made = { g_new0 (gboolean, passes), g_new0 (gboolean, passes) },
              .listed = g_array_new (FALSE, FALSE, sizeof (MdlListed)) };
  for (guint32 r = 0; r < pipe->p; r++) {
    q.entry[r] = g_array_new (FALSE, FALSE, sizeof (guint32));
    add_entries (&q, r);
    all += order[r]->len;
  }
  for (gboolean moved = TRUE; moved;) {
    moved = FALSE;
    for (guint32 r = 0; r < pipe->p; r++)
      moved |= list_next (&q, r);
  }
  g_assert (q.listed->len == all); /* schedules have no cycles */
  for (guint32 r = 0; r < pipe->p; r++)
    g_array_unref (q.entry[r]);
  g_free (q.entry);
  g_free (q.next);
  g_free (q.made[0]);
  g_free (q.made[1]);
  return q.listed;
}
