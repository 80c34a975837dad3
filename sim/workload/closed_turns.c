/* When the turns of a pipeline run, from what each takes: every turn starts when the one before it on its rank and what it needs
 * of others have ended. Of many micro-batches about three rounds are followed; from there on each further round takes what the
 * last one did, as long as the slowest rank is busy or the way to the end and back is full, which both repeat.
 * Check: bubbles of even stages are those of schedule-private.h (test_workload_closed). */
#include <math.h>

#include "closed-private.h"

typedef struct {
  const WrkPipeline *pipe;
  const WrkTurnsAsk *ask;
  GArray **order;    /* by rank: WrkTurn */
  guint32 *next;     /* by rank: of its turns */
  double *free_s;    /* by rank */
  double *done_s[2]; /* by position and micro-batch: what forward and backward turns made is there; below 0: not yet */
  WrkTurns *out;
} Follow;

static double *
done_at (const Follow *f, const WrkTurn *turn, guint32 position)
{
  return &f->done_s[turn->kind != WRK_TURN_FORWARD][(gsize)position * f->pipe->m + turn->micro_batch];
}

/* When what a turn needs is there; below 0: not known yet. */
static double
ready_s (const Follow *f, guint32 rank, const WrkTurn *turn)
{
  WrkPlace from;
  if (!wrk_schedule_needs (f->pipe, rank, turn, &from))
    return 0;
  double made_s = *done_at (f, turn, wrk_schedule_position (f->pipe, from));
  return made_s;
}

static double
send_s (const Follow *f, guint32 rank, const WrkTurn *turn)
{
  WrkPlace to;
  if (!wrk_schedule_feeds (f->pipe, rank, turn, &to) || to.rank == rank)
    return 0;
  guint32 apart = to.rank > rank ? to.rank - rank : rank - to.rank;
  return apart == 1 ? f->ask->send_s : f->ask->wrap_s;
}

static void
end_turn (Follow *f, guint32 rank, const WrkTurn *turn, double begin_s, double end_s)
{
  guint32 at = rank * wrk_schedule_chunks (f->pipe) + turn->chunk;
  double sent_s = send_s (f, rank, turn);
  if (turn->kind == WRK_TURN_FORWARD && f->out->first_s[at] < 0)
    f->out->first_s[at] = begin_s;
  if (turn->kind == WRK_TURN_BACKWARD || turn->kind == WRK_TURN_WEIGHT_GRADIENT)
    f->out->final_s[at] = end_s;
  if (turn->kind != WRK_TURN_WEIGHT_GRADIENT)
    *done_at (f, turn, wrk_schedule_position (f->pipe, (WrkPlace){ rank, turn->chunk })) = end_s + sent_s;
  f->free_s[rank] = fmax (f->free_s[rank], end_s + (f->ask->blocks ? sent_s : 0));
  f->out->end_s[rank] = fmax (f->out->end_s[rank], end_s);
}

static double
length_s (const Follow *f, guint32 rank, const WrkTurn *turn)
{
  return f->ask->turn_s[turn->kind][wrk_schedule_position (f->pipe, (WrkPlace){ rank, turn->chunk })];
}

/* The next turn of a rank, or the two of a pair; FALSE: it has to wait for others, or is done. */
static gboolean
take_turn (Follow *f, guint32 rank)
{
  const GArray *order = f->order[rank];
  if (f->next[rank] >= order->len)
    return FALSE;
  const WrkTurn *turn = &g_array_index (order, WrkTurn, f->next[rank]);
  guint32 n = turn->paired ? 2 : 1;
  double begin_s = f->free_s[rank], long_s = 0;
  for (guint32 k = 0; k < n; k++) {
    double ready = ready_s (f, rank, turn + k);
    if (ready < 0)
      return FALSE;
    begin_s = fmax (begin_s, ready);
    long_s += length_s (f, rank, turn + k);
  }
  for (guint32 k = 0; k < n; k++)
    end_turn (f, rank, turn + k, begin_s, begin_s + long_s * (n > 1 ? f->ask->paired : 1));
  f->next[rank] += n;
  return TRUE;
}

static double
follow (const WrkPipeline *pipe, const WrkTurnsAsk *ask, WrkTurns *out)
{
  guint32 p = pipe->p, chunks = wrk_schedule_chunks (pipe);
  gsize n = (gsize)wrk_schedule_positions (pipe) * pipe->m;
  Follow f = { .pipe = pipe, .ask = ask, .out = out };
  double last_s = 0;
  f.order = g_new (GArray *, p);
  f.next = g_new0 (guint32, p);
  f.free_s = g_new0 (double, p);
  for (guint k = 0; k < 2; k++) {
    f.done_s[k] = g_new (double, n);
    for (gsize i = 0; i < n; i++)
      f.done_s[k][i] = -1;
  }
  for (guint32 s = 0; s < p; s++) {
    f.order[s] = wrk_schedule_order (pipe, s);
    out->end_s[s] = 0;
  }
  for (guint32 i = 0; i < p * chunks; i++)
    out->first_s[i] = -1;
  for (gboolean moves = TRUE; moves;) {
    moves = FALSE;
    for (guint32 s = 0; s < p; s++)
      while (take_turn (&f, s))
        moves = TRUE;
  }
  for (guint32 s = 0; s < p; s++) {
    last_s = fmax (last_s, out->end_s[s]);
    g_assert (f.next[s] == f.order[s]->len); /* schedules have no cycles */
    g_array_unref (f.order[s]);
  }
  g_free (f.order);
  g_free (f.next);
  g_free (f.free_s);
  g_free (f.done_s[0]);
  g_free (f.done_s[1]);
  return last_s;
}

/* Rounds that are followed before one that repeats; DualPipe's ramps are longer. */
static guint32
rounds (const WrkPipeline *pipe)
{
  return pipe->schedule == WRK_SCHEDULE_DUALPIPE || pipe->schedule == WRK_SCHEDULE_DUALPIPE_V ? 5 : 3;
}

guint32
wrk_turns_followed (const WrkPipeline *pipe)
{
  guint32 most = rounds (pipe) * pipe->p;
  return pipe->m <= most ? pipe->m : most + (pipe->m - most) % pipe->p;
}

/* What a rank computes for one micro-batch. */
static double
busy_s (const WrkPipeline *pipe, const WrkTurnsAsk *ask, guint32 rank)
{
  double sum_s = 0;
  guint32 chunks = wrk_schedule_chunks (pipe);
  for (guint32 c = 0; c < chunks; c++) {
    guint32 position = wrk_schedule_position (pipe, (WrkPlace){ rank, c });
    sum_s += ask->turn_s[WRK_TURN_FORWARD][position] + ask->turn_s[WRK_TURN_BACKWARD][position];
  }
  return sum_s / wrk_schedule_copies (pipe) * (ask->paired < 1 ? ask->paired : 1);
}

WrkTurns *
wrk_turns_new (const WrkPipeline *pipe, const WrkTurnsAsk *ask)
{
  WrkTurns *out = g_new0 (WrkTurns, 1);
  guint32 chunks = wrk_schedule_chunks (pipe);
  WrkPipeline few = *pipe;
  WrkTurnsAsk unsent = *ask;
  gboolean repeats = pipe->m > rounds (pipe) * pipe->p;
  double base_s = 0, full_s = 0, unsent_s = 0, most_s = 0;
  unsent.send_s = unsent.wrap_s = 0;
  out->end_s = g_new0 (double, pipe->p);
  out->first_s = g_new0 (double, pipe->p *chunks);
  out->final_s = g_new0 (double, pipe->p *chunks);
  out->m = few.m = wrk_turns_followed (pipe);
  if (repeats) {
    few.m -= pipe->p;
    base_s = follow (&few, ask, out);
    few.m += pipe->p;
  }
  if (ask->send_s > 0 || ask->wrap_s > 0)
    unsent_s = follow (&few, &unsent, out);
  full_s = follow (&few, ask, out);
  out->time_s = full_s;
  out->sends_s = unsent_s > 0 ? full_s - unsent_s : 0;
  if (!repeats)
    return out;
  for (guint32 s = 0; s < pipe->p; s++)
    most_s = fmax (most_s, busy_s (pipe, ask, s));
  out->more_s = (full_s - base_s) / pipe->p;
  out->sends_more_s = fmax (out->more_s - most_s, 0);
  return out;
}

void
wrk_turns_free (WrkTurns *turns)
{
  if (turns == NULL)
    return;
  g_free (turns->end_s);
  g_free (turns->first_s);
  g_free (turns->final_s);
  g_free (turns);
}
