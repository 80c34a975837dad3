/* When the turns of a pipeline run, from the time that each takes. A turn starts when the turn before it on its rank and the turns
 * of other ranks that it needs have ended. The order in which all turns can be computed depends only on the schedule. It is found
 * once (TrnSchedulePath) and serves every layout, whose turns take other times. Of many micro-batches
 * about three rounds are computed. Each further round takes as long as the last one, as long as the slowest rank is busy or the
 * route to the last rank and back is full, which both repeat.
 * Check: bubbles of even stages are those of schedule-private.h (test_training_closed). */
#include <math.h>
#include <string.h>

#include "closed-private.h"

/* ---- a way through a schedule ---- */

/* A turn, where all that it needs has come before it. */
typedef struct {
  guint32 needs, makes; /* slots: when what it needs, and what it makes, is there */
  guint32 length;       /* of the way's lengths */
  guint32 place;        /* rank and chunk, as of TrnTurns */
  guint32 rank;
  guint32 to;          /* rank that waits for what it makes */
  guint32 sends;       /* its link: the lower rank of two neighbours; p-1: around; p: it sends nothing */
  guint8 paired;       /* it begins and ends with the next one */
  guint8 first, final; /* forward pass of its chunk; that completes its gradients */
} Turn;

enum { SLOT_START, SLOT_NOBODY, SLOTS_OWN }; /* the begin of the step; what nobody waits for */

struct TrnSchedulePath {
  MdlPipeline pipe;
  gboolean queued; /* as of trn_schedule_path_new() */
  guint32 n, n_slots;
  Turn *turn;
  GArray **order; /* by rank: MdlTurn */
};

/* While a way is made. */
typedef struct {
  const MdlPipeline *pipe;
  guint32 *next;    /* by rank: of its turns */
  guint32 *slot[2]; /* by position and micro-batch: of what forward and backward turns made; 0: not yet */
  GArray *unused;   /* slots that were read: guint32 */
  guint32 *final;   /* by rank and chunk: turn of the way */
  gboolean *begun;  /* by rank and chunk */
  TrnSchedulePath *way;
} Maker;

static guint32 *
slot_at (const Maker *m, const MdlTurn *turn, guint32 position)
{
  return &m->slot[turn->kind != MDL_TURN_FORWARD][(gsize)position * m->pipe->m + turn->micro_batch];
}

static guint32
sends_of (guint32 p, guint32 rank, const MdlPlace *to)
{
  guint32 apart = to->rank > rank ? to->rank - rank : rank - to->rank;
  return apart == 0 ? p : apart == 1 ? MIN (rank, to->rank) : p - 1;
}

static guint32
take_slot (Maker *m)
{
  if (m->unused->len == 0)
    return m->way->n_slots++;
  guint32 slot = g_array_index (m->unused, guint32, m->unused->len - 1);
  g_array_set_size (m->unused, m->unused->len - 1);
  return slot;
}

/* Of each thing made one turn has need: its slot is free again. */
static guint32
read_slot (Maker *m, guint32 *slot)
{
  g_array_append_val (m->unused, *slot);
  return *slot;
}

static gboolean
is_ready (const Maker *m, guint32 rank, const MdlTurn *turn)
{
  MdlPlace from;
  return !mdl_schedule_needs (m->pipe, rank, turn, &from) || *slot_at (m, turn, mdl_schedule_position (m->pipe, from)) > 0;
}

static void
add_turn (Maker *m, guint32 rank, const MdlTurn *turn)
{
  guint32 place = rank * mdl_schedule_chunks (m->pipe) + turn->chunk, at = m->way->n++;
  guint32 position = mdl_schedule_position (m->pipe, (MdlPlace){ rank, turn->chunk });
  Turn *out = &m->way->turn[at];
  MdlPlace other;
  *out = (Turn){ .needs = SLOT_START,
                 .makes = SLOT_NOBODY,
                 .length = (guint32)turn->kind * mdl_schedule_positions (m->pipe) + position,
                 .place = place,
                 .rank = rank,
                 .sends = m->pipe->p };
  if (mdl_schedule_needs (m->pipe, rank, turn, &other))
    out->needs = read_slot (m, slot_at (m, turn, mdl_schedule_position (m->pipe, other)));
  if (mdl_schedule_feeds (m->pipe, rank, turn, &other)) {
    out->sends = sends_of (m->pipe->p, rank, &other);
    out->to = other.rank;
    out->makes = *slot_at (m, turn, position) = take_slot (m);
  }
  if (turn->kind == MDL_TURN_FORWARD && !m->begun[place])
    m->begun[place] = out->first = TRUE;
  if (turn->kind == MDL_TURN_BACKWARD || turn->kind == MDL_TURN_WEIGHT_GRADIENT)
    m->final[place] = at;
}

/* The next turn of a rank, or the two of a pair; FALSE: it has to wait for others, or is done. */
static gboolean
take_turn (Maker *m, guint32 rank)
{
  const GArray *order = m->way->order[rank];
  if (m->next[rank] >= order->len)
    return FALSE;
  const MdlTurn *turn = &g_array_index (order, MdlTurn, m->next[rank]);
  guint32 n = turn->paired ? 2 : 1;
  for (guint32 k = 0; k < n; k++)
    if (!is_ready (m, rank, turn + k))
      return FALSE;
  for (guint32 k = 0; k < n; k++)
    add_turn (m, rank, turn + k);
  m->way->turn[m->way->n - n].paired = n > 1;
  m->next[rank] += n;
  return TRUE;
}

static void
take_all (Maker *m)
{
  for (gboolean moves = TRUE; moves;) {
    moves = FALSE;
    for (guint32 s = 0; s < m->pipe->p; s++)
      while (take_turn (m, s))
        moves = TRUE;
  }
}

/* In the order of the list: where a turn's result is sent, the receiver's turns before it in the way are those listed before. */
static void
take_listed (Maker *m)
{
  g_autoptr (GArray) listed = mdl_schedule_list (m->pipe, m->way->order);
  for (guint i = 0; i < listed->len;) {
    guint32 before = m->way->n;
    gboolean taken = take_turn (m, g_array_index (listed, MdlListed, i).rank);
    g_assert (taken);
    i += m->way->n - before;
  }
}

TrnSchedulePath *
trn_schedule_path_new (const MdlPipeline *pipe, gboolean queued)
{
  guint32 p = pipe->p, places = p * mdl_schedule_chunks (pipe);
  gsize all = 0, made = (gsize)mdl_schedule_positions (pipe) * pipe->m;
  TrnSchedulePath *way = g_new0 (TrnSchedulePath, 1);
  Maker m = { .pipe = pipe, .way = way, .unused = g_array_new (FALSE, FALSE, sizeof (guint32)) };
  way->order = g_new (GArray *, p);
  m.next = g_new0 (guint32, p);
  m.final = g_new0 (guint32, places);
  m.begun = g_new0 (gboolean, places);
  m.slot[0] = g_new0 (guint32, made);
  m.slot[1] = g_new0 (guint32, made);
  for (guint32 s = 0; s < p; s++) {
    way->order[s] = mdl_schedule_order (pipe, s);
    all += way->order[s]->len;
  }
  way->pipe = *pipe;
  way->queued = queued;
  way->n_slots = SLOTS_OWN;
  way->turn = g_new (Turn, all);
  if (queued)
    take_listed (&m);
  else
    take_all (&m);
  g_assert (way->n == all); /* schedules have no cycles */
  for (guint32 i = 0; i < places; i++)
    way->turn[m.final[i]].final = TRUE;
  g_free (m.next);
  g_free (m.final);
  g_free (m.begun);
  g_free (m.slot[0]);
  g_free (m.slot[1]);
  g_array_unref (m.unused);
  return way;
}

void
trn_schedule_path_free (TrnSchedulePath *way)
{
  if (way == NULL)
    return;
  for (guint32 s = 0; s < way->pipe.p; s++)
    g_array_unref (way->order[s]);
  g_free (way->order);
  g_free (way->turn);
  g_free (way);
}

const MdlPipeline *
trn_schedule_path_pipe (const TrnSchedulePath *way)
{
  return &way->pipe;
}

guint32
trn_schedule_path_length (const TrnSchedulePath *way)
{
  return way->n;
}

GArray *const *
trn_schedule_path_orders (const TrnSchedulePath *way)
{
  return way->order;
}

/* ---- following it ---- */

/* Times as the sends are, and as they were without: two at once, for the processor waits for neither. */
enum { SENT, UNSENT, LANES };
typedef struct {
  double s[LANES];
} Times;

static inline Times
later (Times a, Times b)
{
  for (int k = 0; k < LANES; k++)
    a.s[k] = a.s[k] > b.s[k] ? a.s[k] : b.s[k];
  return a;
}

static inline Times
plus (Times a, Times b)
{
  for (int k = 0; k < LANES; k++)
    a.s[k] += b.s[k];
  return a;
}

/* Lengths of all turns, by kind and position. */
static double *
all_lengths (const MdlPipeline *pipe, const TrnTurnsQuery *query)
{
  guint32 n = mdl_schedule_positions (pipe);
  double *length_s = g_new (double, (gsize)MDL_TURN_KINDS *n);
  for (int k = 0; k < MDL_TURN_KINDS; k++)
    memcpy (length_s + (gsize)k * n, query->turn_s[k], n * sizeof *length_s);
  return length_s;
}

/* What a turn that ends at `ends` makes is where it is needed; of a queued pipeline once both ranks have done what is listed
 * before. `end` and `queue`, by rank: of the latest turn and the latest transfer. */
static inline Times
arrives (const TrnSchedulePath *way, const Turn *turn, Times ends, Times send, const Times *end, Times *queue)
{
  if (!way->queued || turn->sends == way->pipe.p)
    return plus (ends, send);
  Times begin = later (later (ends, end[turn->to]), later (queue[turn->rank], queue[turn->to]));
  return queue[turn->rank] = queue[turn->to] = plus (begin, send);
}

/* The end of the last turn; fills end_s, first_s and final_s of *out. */
static Times
follow (const TrnSchedulePath *way, const TrnTurnsQuery *query, const double *length_s, TrnTurns *out)
{
  guint32 p = way->pipe.p;
  Times *slot = g_new0 (Times, way->n_slots + 3 * (gsize)p + 2 * (p + 1)), *idle = slot + way->n_slots, *end = idle + p;
  Times *queue = end + p, *sends = queue + p, *keeps = sends + p + 1;
  for (guint32 s = 0; s < p; s++) {
    sends[s].s[SENT] = query->send_s[s];
    keeps[s].s[SENT] = query->blocks ? query->send_s[s] : 0;
  }
  Times last = { { 0 } };
  for (const Turn *t = way->turn, *stop = t + way->n; t < stop; t++) {
    guint n = t->paired ? 2 : 1;
    Times begin = later (idle[t->rank], slot[t->needs]);
    double long_s = length_s[t->length];
    if (n > 1) {
      begin = later (begin, slot[t[1].needs]);
      long_s = (long_s + length_s[t[1].length]) * query->paired;
    }
    Times ends = plus (begin, (Times){ { long_s, long_s } }), until = idle[t->rank];
    end[t->rank] = later (end[t->rank], ends);
    for (guint k = 0; k < n; k++) {
      const Turn *one = t + k;
      slot[one->makes] = arrives (way, one, ends, sends[one->sends], end, queue);
      until = later (until, plus (ends, keeps[one->sends]));
      if (one->first)
        out->first_s[one->place] = begin.s[SENT];
      if (one->final)
        out->final_s[one->place] = ends.s[SENT];
    }
    idle[t->rank] = until;
    t += n - 1;
  }
  for (guint32 s = 0; s < p; s++) {
    out->end_s[s] = end[s].s[SENT];
    last = later (last, end[s]);
  }
  g_free (slot);
  return last;
}

/* Rounds that are followed before one that repeats; ramps of pairs are longer. */
static guint32
rounds (const MdlPipeline *pipe)
{
  return mdl_schedule_facts (pipe->schedule)->pairs || pipe->combined ? 5 : 3;
}

guint32
trn_turns_followed (const MdlPipeline *pipe)
{
  guint32 most = rounds (pipe) * pipe->p;
  return pipe->m <= most ? pipe->m : most + (pipe->m - most) % pipe->p;
}

/* What a rank computes for one micro-batch. */
static double
busy_s (const MdlPipeline *pipe, const TrnTurnsQuery *query, guint32 rank)
{
  double sum_s = 0;
  guint32 chunks = mdl_schedule_chunks (pipe);
  for (guint32 c = 0; c < chunks; c++) {
    guint32 position = mdl_schedule_position (pipe, (MdlPlace){ rank, c });
    sum_s += query->turn_s[MDL_TURN_FORWARD][position] + query->turn_s[MDL_TURN_BACKWARD][position];
  }
  return sum_s / mdl_schedule_copies (pipe) * (query->paired < 1 ? query->paired : 1);
}

gboolean
trn_turns_repeat (const MdlPipeline *pipe)
{
  return pipe->m > rounds (pipe) * pipe->p;
}

TrnTurns *
trn_turns_new (const MdlPipeline *pipe, const TrnSchedulePath *way, const TrnSchedulePath *before, const TrnTurnsQuery *query)
{
  TrnTurns *out = g_new0 (TrnTurns, 1);
  guint32 chunks = mdl_schedule_chunks (pipe);
  g_autofree double *length_s = all_lengths (pipe, query);
  double base_s = 0, most_s = 0;
  out->end_s = g_new0 (double, pipe->p);
  out->first_s = g_new0 (double, pipe->p *chunks);
  out->final_s = g_new0 (double, pipe->p *chunks);
  out->m = way->pipe.m;
  if (before != NULL)
    base_s = follow (before, query, length_s, out).s[SENT];
  const Times full = follow (way, query, length_s, out);
  gboolean sends = FALSE;
  for (guint32 s = 0; s < pipe->p; s++)
    sends = sends || query->send_s[s] > 0;
  out->time_s = full.s[SENT];
  out->sends_s = sends ? full.s[SENT] - full.s[UNSENT] : 0;
  if (before == NULL)
    return out;
  for (guint32 s = 0; s < pipe->p; s++)
    most_s = fmax (most_s, busy_s (pipe, query, s));
  out->more_s = (full.s[SENT] - base_s) / pipe->p;
  out->sends_more_s = fmax (out->more_s - most_s, 0);
  return out;
}

void
trn_turns_free (TrnTurns *turns)
{
  if (turns == NULL)
    return;
  g_free (turns->end_s);
  g_free (turns->first_s);
  g_free (turns->final_s);
  g_free (turns);
}
