/* Pipeline schedules: orders by hand, closed forms by the longest path over turns and what they need, and laws over many counts. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"
#include "models/pipeline.h"

/* Times of the passes of each position, s; of a forward beside a backward: their sum. */
typedef struct {
  double *forward, *input, *weight;
} Times;

static void
times_clear (Times *times)
{
  g_free (times->forward);
  g_free (times->input);
  g_free (times->weight);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Times, times_clear)

/* A rank's share of the model takes F, B and W: each of its v chunks the v-th part. */
static Times
even_times (const MdlPipeline *pipe, double f, double b, double w)
{
  guint32 n = mdl_schedule_positions (pipe);
  Times times = { g_new (double, n), g_new (double, n), g_new (double, n) };
  for (guint32 k = 0; k < n; k++) {
    times.forward[k] = f / pipe->v;
    times.input[k] = b / pipe->v;
    times.weight[k] = w / pipe->v;
  }
  return times;
}

static double
turn_s (const Times *times, const MdlTurn *turn, guint32 position)
{
  switch (turn->kind) {
    case MDL_TURN_FORWARD:
      return times->forward[position];
    case MDL_TURN_INPUT_GRADIENT:
      return times->input[position];
    case MDL_TURN_WEIGHT_GRADIENT:
      return times->weight[position];
    default:
      return times->input[position] + times->weight[position];
  }
}

typedef struct {
  double step_s;    /* from the first start to the last end */
  double longest_s; /* the longest of the ranks, from its own first start to its own last end */
  double busiest_s; /* most work of a rank */
} Run;

typedef struct {
  const MdlPipeline *pipe;
  const Times *times;
  GArray **order;
  guint32 *next;
  double *clock, *start, *work;
  double *ahead, *back, *gone; /* by position x m + micro-batch: when its forward, backward, weight gradient ended; NAN: not yet */
} Walk;

static gsize
at (const Walk *walk, guint32 rank, const MdlTurn *turn)
{
  MdlPlace place = { rank, turn->chunk };
  return (gsize)mdl_schedule_position (walk->pipe, place) * walk->pipe->m + turn->micro_batch;
}

/* When all that a turn needs is there, NAN: not yet. A backward needs its own forward too, a weight gradient its input gradient. */
static double
ready_s (const Walk *walk, guint32 rank, const MdlTurn *turn)
{
  MdlPlace from;
  double own_s = turn->kind == MDL_TURN_FORWARD           ? 0
                 : turn->kind == MDL_TURN_WEIGHT_GRADIENT ? walk->back[at (walk, rank, turn)]
                                                          : walk->ahead[at (walk, rank, turn)];
  if (!mdl_schedule_needs (walk->pipe, rank, turn, &from))
    return own_s;
  MdlTurn other = *turn;
  other.chunk = from.chunk;
  double other_s = (turn->kind == MDL_TURN_FORWARD ? walk->ahead : walk->back)[at (walk, from.rank, &other)];
  return isnan (own_s) || isnan (other_s) ? (double)NAN : fmax (own_s, other_s);
}

/* Runs the next turn of a rank, a pair as one; FALSE if it cannot start yet, or there is none. */
static gboolean
advance (Walk *walk, guint32 rank)
{
  const GArray *order = walk->order[rank];
  guint32 first = walk->next[rank];
  double start_s = walk->clock[rank], length_s = 0;
  if (first == order->len)
    return FALSE;
  guint32 n = g_array_index (order, MdlTurn, first).paired ? 2 : 1;
  for (guint32 i = first; i < first + n; i++) {
    const MdlTurn *turn = &g_array_index (order, MdlTurn, i);
    double r_s = ready_s (walk, rank, turn);
    if (isnan (r_s))
      return FALSE;
    start_s = fmax (start_s, r_s);
    length_s += turn_s (walk->times, turn, (guint32)(at (walk, rank, turn) / walk->pipe->m));
  }
  for (guint32 i = first; i < first + n; i++) {
    const MdlTurn *turn = &g_array_index (order, MdlTurn, i);
    double *made = turn->kind == MDL_TURN_FORWARD ? walk->ahead : turn->kind == MDL_TURN_WEIGHT_GRADIENT ? walk->gone : walk->back;
    CU_ASSERT_FATAL (isnan (made[at (walk, rank, turn)])); /* each pass once */
    made[at (walk, rank, turn)] = start_s + length_s;
    if (turn->kind == MDL_TURN_BACKWARD)
      walk->gone[at (walk, rank, turn)] = start_s + length_s;
  }
  if (first == 0)
    walk->start[rank] = start_s;
  walk->clock[rank] = start_s + length_s;
  walk->work[rank] += length_s;
  walk->next[rank] += n;
  return TRUE;
}

/* The longest path over turns and what they need; sends take no time. Asserts that every rank gets to its end and that every
 * micro-batch had every pass of every position. */
static Run
run (const MdlPipeline *pipe, const Times *times)
{
  gsize n = (gsize)mdl_schedule_positions (pipe) * pipe->m;
  g_autofree double *made = g_new (double, 3 * n), *of_rank = g_new0 (double, 3 * pipe->p);
  g_autofree guint32 *next = g_new0 (guint32, pipe->p);
  g_autofree GArray **order = g_new (GArray *, pipe->p);
  Walk walk = { pipe, times, order, next, of_rank, of_rank + pipe->p, of_rank + 2 * pipe->p, made, made + n, made + 2 * n };
  Run out = { 0 };
  for (gsize i = 0; i < 3 * n; i++)
    made[i] = (double)NAN;
  for (guint32 r = 0; r < pipe->p; r++)
    order[r] = mdl_schedule_order (pipe, r);
  for (gboolean moved = TRUE; moved;) {
    moved = FALSE;
    for (guint32 r = 0; r < pipe->p; r++)
      while (advance (&walk, r))
        moved = TRUE;
  }
  for (guint32 r = 0; r < pipe->p; r++) {
    TEST_INT (next[r], order[r]->len); /* else it waits for ever */
    out.step_s = fmax (out.step_s, walk.clock[r]);
    out.longest_s = fmax (out.longest_s, walk.clock[r] - walk.start[r]);
    out.busiest_s = fmax (out.busiest_s, walk.work[r]);
    g_array_unref (order[r]);
  }
  for (gsize i = 0; i < 3 * n; i++)
    CU_ASSERT_FATAL (!isnan (made[i]));
  return out;
}

/* Calls `check` for every schedule with many counts that it takes. */
static void
for_all (void (*check) (const MdlPipeline *pipe))
{
  unsigned n_checked = 0;
  for (int schedule = 0; schedule < MDL_SCHEDULE_N; schedule++)
    for (guint32 p = 1; p <= 8; p++)
      for (guint32 v = 1; v <= 4; v++)
        for (guint32 m = 1; m <= 33; m++) {
          MdlPipeline pipe = { (MdlSchedule)schedule, p, v, m, FALSE };
          g_autofree char *refused = mdl_schedule_check (&pipe, NULL);
          if (refused != NULL)
            continue;
          check (&pipe);
          n_checked++;
        }
  TEST_TRUE (n_checked > 1500);
}

/* ---- by hand ---- */

static char *
text_of (const MdlPipeline *pipe, guint32 rank)
{
  g_autoptr (GArray) order = mdl_schedule_order (pipe, rank);
  GString *text = g_string_new (NULL);
  gboolean chunks = mdl_schedule_chunks (pipe) > 1;
  for (guint i = 0; i < order->len; i++) {
    const MdlTurn *turn = &g_array_index (order, MdlTurn, i);
    g_string_append_printf (text, "%c%u", "FBIW"[turn->kind], turn -> micro_batch);
    if (chunks)
      g_string_append_printf (text, "%c", 'a' + (int)turn->chunk);
    g_string_append (text, i + 1 == order->len ? "" : turn->paired ? "|" : " ");
  }
  return g_string_free (text, FALSE);
}

static void
orders_are_as_drawn_in_the_papers (void)
{
  static const struct {
    MdlPipeline pipe;
    guint32 rank;
    const char *want;
  } row[] = {
    { { MDL_SCHEDULE_GPIPE, 2, 1, 3, FALSE }, 1, "F0 F1 F2 B0 B1 B2" },
    { { MDL_SCHEDULE_1F1B, 4, 1, 5, FALSE }, 2, "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4" },
    /* SC21, figure 4: 2 (2 - 1 - 0) + (2 - 1) 2 = 4 forwards ahead on rank 0: two micro-batches through chunk a, then through b */
    { { MDL_SCHEDULE_INTERLEAVED, 2, 2, 4, FALSE }, 0, "F0a F1a F0b F1b F2a B0b F3a B1b F2b B0a F3b B1a B2b B3b B2a B3a" },
    { { MDL_SCHEDULE_INTERLEAVED, 2, 2, 2, FALSE }, 1, "F0a F1a F0b B0b F1b B1b B0a B1a" },
    /* 2401.10241, figure 3 above: rank 0 as 1f1b, the last of three ranks two weight gradients behind */
    { { MDL_SCHEDULE_ZB_H1, 3, 1, 4, FALSE }, 0, "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3" },
    { { MDL_SCHEDULE_ZB_H1, 3, 1, 4, FALSE }, 2, "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3" },
    /* down and back: on the last of two ranks chunk b follows chunk a at once */
    { { MDL_SCHEDULE_ZB_V, 2, 2, 3, FALSE }, 0, "F0a F1a F2a F0b I0b W0b F1b I1b W1b I0a W0a F2b I2b W2b I1a W1a I2a W2a" },
    { { MDL_SCHEDULE_ZB_V, 2, 2, 3, FALSE }, 1, "F0a F0b F1a F1b I0b W0b F2a I0a W0a F2b I1b W1b I1a I2b I2a W1a W2b W2a" },
    /* two ranks, four micro-batches: 0 and 1 enter at rank 0, 2 and 3 at rank 1; the first two in the middle are not paired */
    { { MDL_SCHEDULE_DUALPIPE, 2, 1, 4, FALSE }, 0, "F0a F2b F1a B2b F3b|B0a B3b I1a W1a" },
    { { MDL_SCHEDULE_DUALPIPE, 2, 1, 4, FALSE }, 1, "F2b F0a F3b B0a F1a|B2b B1a I3b W3b" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (row); i++) {
    g_autofree char *refused = mdl_schedule_check (&row[i].pipe, NULL), *got = text_of (&row[i].pipe, row[i].rank);
    TEST_STR (refused, NULL);
    TEST_STR (got, row[i].want);
  }
}

/* Rank, pass, micro-batch, chunk. Both gather two chunks first; a round lists one entry a rank, rank 1 right behind rank 0, until
 * rank 0 waits for B1b; the reductions and the chunk that is let go take rounds in which nothing is listed. */
static void
a_list_goes_round_the_ranks (void)
{
  static const MdlPipeline pipe = { MDL_SCHEDULE_INTERLEAVED, 2, 2, 2, FALSE };
  GArray *order[] = { mdl_schedule_order (&pipe, 0), mdl_schedule_order (&pipe, 1) };
  g_autoptr (GArray) listed = mdl_schedule_list (&pipe, order);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < listed->len; i++) {
    const MdlListed *one = &g_array_index (listed, MdlListed, i);
    const MdlTurn *turn = &g_array_index (order[one->rank], MdlTurn, one->turn);
    g_string_append_printf (text, "%s%u%c%u%c", i > 0 ? " " : "", one->rank, "FBIW"[turn->kind], turn -> micro_batch,
                            'a' + (int)turn->chunk);
  }
  TEST_STR (text->str, "0F0a 1F0a 0F1a 1F1a 0F0b 1F0b 0F1b 1B0b 0B0b 1F1b 1B1b 0B1b 1B0a 0B0a 1B1a 0B1a");
  g_array_unref (order[0]);
  g_array_unref (order[1]);
}

static void
chains_lie_on_ranks_as_published (void)
{
  static const MdlPipeline round = { MDL_SCHEDULE_INTERLEAVED, 4, 3, 8, FALSE }, vee = { MDL_SCHEDULE_ZB_V, 4, 2, 8, FALSE },
                           both = { MDL_SCHEDULE_DUALPIPE, 4, 1, 8, FALSE };
  /* rank 1 of 4: 1, 5, 9; 1 and 6; 1 and its mirror 2 */
  TEST_INT (mdl_schedule_position (&round, (MdlPlace){ 1, 2 }), 9);
  TEST_INT (mdl_schedule_position (&vee, (MdlPlace){ 1, 1 }), 6);
  TEST_INT (mdl_schedule_position (&both, (MdlPlace){ 1, 1 }), 2);
  TEST_INT (mdl_schedule_copies (&both), 2);
  TEST_INT (mdl_schedule_copies (&vee), 1);
  /* the second half of the micro-batches enters at rank 3: stage 0 is its chunk 1 */
  TEST_INT (mdl_schedule_place (&both, 3, 0).rank, 0);
  TEST_INT (mdl_schedule_place (&both, 4, 0).rank, 3);
  TEST_INT (mdl_schedule_place (&both, 4, 0).chunk, 1);
}

static void
neighbours_are_the_next_in_the_chain (void)
{
  static const MdlPipeline round = { MDL_SCHEDULE_INTERLEAVED, 4, 2, 4, FALSE }, vee = { MDL_SCHEDULE_ZB_V, 4, 2, 4, FALSE };
  MdlTurn turn = { .kind = MDL_TURN_FORWARD };
  MdlPlace other;
  TEST_FALSE (mdl_schedule_needs (&round, 0, &turn, &other)); /* the input */
  TEST_TRUE (mdl_schedule_feeds (&round, 3, &turn, &other));  /* round the end, to the first rank's second chunk */
  TEST_INT (other.rank, 0);
  TEST_INT (other.chunk, 1);
  TEST_TRUE (mdl_schedule_feeds (&vee, 3, &turn, &other)); /* turns on the same rank: nothing is sent */
  TEST_INT (other.rank, 3);
  TEST_INT (other.chunk, 1);
  turn = (MdlTurn){ .kind = MDL_TURN_INPUT_GRADIENT, .chunk = 1 };
  TEST_FALSE (mdl_schedule_needs (&vee, 0, &turn, &other)); /* the loss: the end of the chain is on rank 0 */
  TEST_TRUE (mdl_schedule_feeds (&vee, 0, &turn, &other));
  TEST_INT (other.rank, 1);
  TEST_INT (other.chunk, 1);
  turn.kind = MDL_TURN_WEIGHT_GRADIENT;
  TEST_FALSE (mdl_schedule_needs (&vee, 1, &turn, &other));
  TEST_FALSE (mdl_schedule_feeds (&vee, 1, &turn, &other));
}

static void
a_ring_of_ranks_goes_up_at_its_end (void)
{
  static const MdlPipeline four = { MDL_SCHEDULE_INTERLEAVED, 4, 2, 4, FALSE }, two = { MDL_SCHEDULE_INTERLEAVED, 2, 2, 4, FALSE };
  TEST_TRUE (mdl_schedule_is_up (&four, 1, 2));
  TEST_FALSE (mdl_schedule_is_up (&four, 2, 1));
  TEST_TRUE (mdl_schedule_is_up (&four, 3, 0));
  TEST_FALSE (mdl_schedule_is_up (&four, 0, 3));
  TEST_FALSE (mdl_schedule_is_up (&two, 1, 0)); /* of two ranks the first is below the last, not above it */
}

static void
a_turn_is_called_by_its_pass (void)
{
  static const MdlPipeline one = { MDL_SCHEDULE_ZB_H1, 2, 1, 4, FALSE }, several = { MDL_SCHEDULE_INTERLEAVED, 2, 2, 4, FALSE };
  static const struct {
    const MdlPipeline *pipe;
    MdlTurn turn;
    const char *want;
  } row[] = {
    { &one, { .kind = MDL_TURN_FORWARD, .micro_batch = 3 }, "F3" },
    { &one, { .kind = MDL_TURN_INPUT_GRADIENT, .micro_batch = 0 }, "B0" },
    { &one, { .kind = MDL_TURN_WEIGHT_GRADIENT, .micro_batch = 12 }, "W12" },
    { &several, { .kind = MDL_TURN_BACKWARD, .micro_batch = 3, .chunk = 1 }, "B3.1" },
    { &several, { .micro_batch = G_MAXUINT32, .chunk = G_MAXUINT32 }, "F4294967295.4294967295" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (row); i++) {
    char name[32];
    mdl_turn_name (row[i].pipe, &row[i].turn, name, sizeof name);
    TEST_STR (name, row[i].want);
  }
}

static void
counts_that_do_not_fit_are_refused (void)
{
  static const struct {
    MdlPipeline pipe;
    const char *key, *says;
  } row[] = {
    { { MDL_SCHEDULE_1F1B, 4, 2, 8, FALSE },
      "vp",
      "schedule 1f1b has 1 chunk of the model on a rank, not 2; write vp: 1, or leave vp out" },
    { { MDL_SCHEDULE_ZB_V, 4, 3, 8, FALSE }, "vp", "write vp: 2, or leave vp out" },
    { { MDL_SCHEDULE_INTERLEAVED, 4, 1, 8, FALSE }, "vp", "write vp: 2 or more" },
    { { MDL_SCHEDULE_INTERLEAVED, 4, 2, 6, FALSE },
      "micro_batches",
      "needs a multiple of pp as number of micro-batches, found 6 for pp 4" },
    { { MDL_SCHEDULE_DUALPIPE, 3, 1, 8, FALSE }, "pp", "accepted: an even pp" },
    { { MDL_SCHEDULE_DUALPIPE, 4, 1, 9, FALSE }, "micro_batches", "use an even number" },
    { { MDL_SCHEDULE_DUALPIPE, 4, 1, 6, FALSE }, "micro_batches", "accepted: at least 8" },
    { { MDL_SCHEDULE_DUALPIPE_V, 4, 2, 7, FALSE }, "micro_batches", "accepted: at least 8" },
    { { MDL_SCHEDULE_GPIPE, 4, 1, 0, FALSE }, "micro_batches", "no micro-batches" },
    { { MDL_SCHEDULE_GPIPE, 0, 1, 1, FALSE }, "pp", "no ranks" },
    { { MDL_SCHEDULE_GPIPE, 1, 1, 2000000, FALSE }, "micro_batches", "too many passes" },
    { { MDL_SCHEDULE_INTERLEAVED, 100000, 100000, 100000, FALSE }, "pp", "too many" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (row); i++) {
    const char *key = NULL;
    g_autofree char *got = mdl_schedule_check (&row[i].pipe, &key);
    TEST_HAS (got, row[i].says);
    TEST_STR (key, row[i].key);
  }
}

/* ---- laws ---- */

static void
places_go_there_and_back (const MdlPipeline *pipe)
{
  guint32 n = mdl_schedule_positions (pipe), chunks = mdl_schedule_chunks (pipe);
  TEST_INT (n * mdl_schedule_copies (pipe), pipe->p * chunks);
  for (guint32 mb = 0; mb < pipe->m; mb += MAX (pipe->m - 1, 1))
    for (guint32 k = 0; k < n; k++) {
      MdlPlace place = mdl_schedule_place (pipe, mb, k);
      CU_ASSERT_FATAL (place.rank < pipe->p && place.chunk < chunks);
      CU_ASSERT_FATAL (mdl_schedule_position (pipe, place) == k);
    }
}

static void
every_place_is_a_position_and_back (void)
{
  for_all (places_go_there_and_back);
}

static void
turns_feed_what_needs_them (const MdlPipeline *pipe)
{
  for (guint32 r = 0; r < pipe->p; r++) {
    g_autoptr (GArray) order = mdl_schedule_order (pipe, r);
    for (guint i = 0; i < order->len; i++) {
      MdlTurn turn = g_array_index (order, MdlTurn, i);
      MdlPlace from, to;
      if (!mdl_schedule_needs (pipe, r, &turn, &from))
        continue;
      turn.chunk = from.chunk;
      CU_ASSERT_FATAL (mdl_schedule_feeds (pipe, from.rank, &turn, &to));
      CU_ASSERT_FATAL (to.rank == r && to.chunk == g_array_index (order, MdlTurn, i).chunk);
    }
  }
}

static void
what_a_turn_needs_feeds_it (void)
{
  for_all (turns_feed_what_needs_them);
}

/* The closed forms of the papers that models/schedules names, for even stages, the pair of dualpipe taking the sum of its
 * parts. They need enough micro-batches to fill the pipeline. */
static void
bubble_of (const MdlPipeline *pipe, double f, double b, double w)
{
  g_auto (Times) times = even_times (pipe, f, b, w);
  Run got = run (pipe, &times);
  double p = pipe->p, m = pipe->m, work_s = m * (f + b + w), all_s = f + b + w;
  TEST_NEAR (got.busiest_s, work_s, 1e-12);
  switch (pipe->schedule) {
    case MDL_SCHEDULE_GPIPE:
    case MDL_SCHEDULE_1F1B:
      TEST_NEAR (got.step_s, work_s + (p - 1) * all_s, 1e-12);
      break;
    case MDL_SCHEDULE_INTERLEAVED:
      TEST_NEAR (got.step_s, work_s + (p - 1) * all_s / pipe->v, 1e-12);
      break;
    case MDL_SCHEDULE_ZB_H1:
      if (m >= p)
        TEST_NEAR (got.step_s, work_s + (p - 1) * (f + b - w), 1e-12);
      break;
    case MDL_SCHEDULE_ZB_V:
      if (m >= 2 * p - 1) {
        TEST_NEAR (got.longest_s, work_s + (p - 1) * (b - w), 1e-12);
        TEST_TRUE (got.step_s <= got.longest_s + (p - 1) * fmax (f, b) / 2 + 1e-9);
      }
      break;
    case MDL_SCHEDULE_DUALPIPE:
      TEST_NEAR (got.step_s, work_s + (p / 2 - 1) * (all_s + b - 2 * w), 1e-12);
      break;
    case MDL_SCHEDULE_DUALPIPE_V:
      TEST_NEAR (got.step_s, work_s + (p - 1) * (all_s + b - 2 * w) / 2, 1e-12);
      break;
    default:
      g_error ("no closed form for schedule %s here: add a case", mdl_schedule_names[pipe->schedule].name);
  }
}

static void
bubbles_of_thirds (const MdlPipeline *pipe)
{
  bubble_of (pipe, 1, 1, 1);
}

static void
bubbles_of_small_weights (const MdlPipeline *pipe)
{
  bubble_of (pipe, 10, 10, 7);
  if (!mdl_schedule_facts (pipe->schedule)->pairs)
    bubble_of (pipe, 10, 14, 8); /* attention makes B the longest */
}

static void
the_bubble_is_the_closed_form (void)
{
  for_all (bubbles_of_thirds);
  for_all (bubbles_of_small_weights);
}

static void
dualpipe_never_exceeds_its_form (const MdlPipeline *pipe)
{
  if (pipe->schedule != MDL_SCHEDULE_DUALPIPE)
    return;
  g_auto (Times) times = even_times (pipe, 10, 14, 8);
  double form_s = (pipe->p / 2.0 - 1) * (32 + 22 - 3 * 8);
  TEST_TRUE (run (pipe, &times).step_s <= pipe->m * 32.0 + form_s + 1e-9);
}

static void
dualpipe_of_a_long_backward_is_within_its_form (void)
{
  for_all (dualpipe_never_exceeds_its_form);
}

/* (p/2 - 1)(F&B + B - 3W) of DeepSeek's report, where B is the whole backward: p = 4, F = 1, B + W = 2, W = 1: 3 + 2 - 3 = 2 */
static void
dualpipe_of_four_ranks_waits_two_forwards (void)
{
  static const MdlPipeline pipe = { MDL_SCHEDULE_DUALPIPE, 4, 1, 8, FALSE };
  g_auto (Times) times = even_times (&pipe, 1, 1, 1);
  TEST_NEAR (run (&pipe, &times).step_s, 8 * 3 + 2, 1e-12);
}

static void
more_micro_batches_add_their_work (const MdlPipeline *pipe)
{
  MdlPipeline more = *pipe;
  guint32 full = 2 * pipe->p; /* from here on the pipeline is full */
  if (pipe->m < full)
    return;
  more.m += pipe->schedule == MDL_SCHEDULE_INTERLEAVED ? pipe->p : 2;
  g_auto (Times) times = even_times (pipe, 10, 12, 8);
  double step_s = run (pipe, &times).step_s;
  TEST_NEAR (run (&more, &times).step_s - step_s, (more.m - pipe->m) * 30.0, 1e-9);
}

static void
more_micro_batches_add_exactly_their_work (void)
{
  for_all (more_micro_batches_add_their_work);
}

/* What `list schedules` says, and of each rank: 1f1b min (m, p - i), interleaved 2 (p - 1 - i) + (v - 1) p + 1 */
static void
in_flight (const MdlPipeline *pipe)
{
  guint32 p = pipe->p, v = pipe->v, m = pipe->m, most = 0;
  for (guint32 i = 0; i < p; i++) {
    g_autoptr (GArray) order = mdl_schedule_order (pipe, i);
    guint32 peak = (guint32)mdl_schedule_peak (order, NULL, NULL);
    if (pipe->schedule == MDL_SCHEDULE_GPIPE)
      TEST_INT (peak, m);
    if (pipe->schedule == MDL_SCHEDULE_1F1B)
      TEST_INT (peak, MIN (m, p - i));
    if (pipe->schedule == MDL_SCHEDULE_INTERLEAVED)
      TEST_INT (peak, MIN (m * v, 2 * (p - 1 - i) + (v - 1) * p + 1));
    most = MAX (most, peak);
  }
  if (pipe->schedule == MDL_SCHEDULE_INTERLEAVED && m > p)
    TEST_INT (most, p * v + p - 1);
  if (pipe->schedule == MDL_SCHEDULE_ZB_H1)
    TEST_INT (most, MIN (m, p));
  if (pipe->schedule == MDL_SCHEDULE_ZB_V)
    TEST_INT (most, 2 * MIN (m, p)); /* halves */
  if (pipe->schedule == MDL_SCHEDULE_DUALPIPE)
    TEST_INT (most, p + 1);
  if (pipe->schedule == MDL_SCHEDULE_DUALPIPE_V)
    TEST_INT (most, 2 * p + 1); /* halves */
}

static void
activations_in_flight_are_as_published (void)
{
  for_all (in_flight);
}

/* The most that a rank of `pipe` holds. */
static double
most_held (const MdlPipeline *pipe)
{
  double most = 0;
  for (guint32 i = 0; i < pipe->p; i++) {
    g_autoptr (GArray) order = mdl_schedule_order (pipe, i);
    most = fmax (most, mdl_schedule_peak (order, NULL, NULL));
  }
  return most;
}

static void
grows_where_it_says_so (const MdlPipeline *pipe)
{
  MdlPipeline twice = *pipe;
  twice.m *= 2;
  if (pipe->m >= 4 * pipe->p && pipe->p > 1)
    TEST_INT (most_held (&twice) > most_held (pipe), mdl_schedule_facts (pipe->schedule)->grows_with_m);
}

static void
activations_grow_with_micro_batches_where_facts_say_so (void)
{
  for_all (grows_where_it_says_so);
}

static void
what_an_input_gradient_frees_counts_at_once (void)
{
  /* the last of three ranks: F0 I0 F1 I1 F2 I2 W0 F3 …; 10 B a forward, 4 B of it stay for W: 4 + 4 + 10 = 18 while F2 is held,
   * and with F3 again 4 + 4 + 10 */
  static const MdlPipeline pipe = { MDL_SCHEDULE_ZB_H1, 3, 1, 4, FALSE };
  static const double chunk_B = 10, kept_B = 4;
  g_autoptr (GArray) order = mdl_schedule_order (&pipe, 2);
  TEST_NEAR (mdl_schedule_peak (order, &chunk_B, &kept_B), 18, 1e-12);
  TEST_NEAR (mdl_schedule_peak (order, &chunk_B, NULL), 30, 1e-12);
}

/* Uneven times from a seeded stream: no step is shorter than its busiest rank, or than one micro-batch through the whole chain. */
static void
uneven (const MdlPipeline *pipe)
{
  BaseRandom random = base_random_stream_at (1, "uneven stages", ((guint64)pipe->schedule << 32) + pipe->p * 1000 + pipe->m);
  g_auto (Times) times = even_times (pipe, 1, 1, 1);
  double chain_s = 0, last_s = 0;
  for (guint32 k = 0; k < mdl_schedule_positions (pipe); k++) {
    times.forward[k] *= 0.5 + base_random_unit (&random);
    times.input[k] *= 0.5 + base_random_unit (&random);
    times.weight[k] *= 0.5 + base_random_unit (&random);
    chain_s += times.forward[k] + times.input[k];
  }
  Run got = run (pipe, &times);
  TEST_TRUE (got.step_s >= got.busiest_s - 1e-9);
  TEST_TRUE (got.step_s >= got.longest_s - 1e-9);
  TEST_TRUE (got.step_s >= chain_s - 1e-9);
  /* and a slower stage is never a gain */
  last_s = got.step_s;
  times.forward[mdl_schedule_positions (pipe) / 2] *= 2;
  TEST_TRUE (run (pipe, &times).step_s >= last_s - 1e-9);
}

static void
no_step_is_shorter_than_its_busiest_rank (void)
{
  for_all (uneven);
}

/* F0 F1 B0 F2 B1 B2 on the first of two ranks, F0 B0 F1 B1 F2 B2 on the last: each forward pass goes before the backward pass that
 * it followed, and the two are a pair. */
static void
combined_passes_are_pairs (void)
{
  static const char *const expected[] = { "F0 F1 (F2 B0) B1 B2", "F0 (F1 B0) (F2 B1) B2" };
  const MdlPipeline pipe = { .schedule = MDL_SCHEDULE_1F1B, .p = 2, .v = 1, .m = 3, .combined = TRUE };
  for (guint32 rank = 0; rank < pipe.p; rank++) {
    g_autoptr (GArray) turns = mdl_schedule_order (&pipe, rank);
    g_autoptr (GString) text = g_string_new (NULL);
    for (guint i = 0; i < turns->len; i++) {
      const MdlTurn *turn = &g_array_index (turns, MdlTurn, i);
      gboolean second = i > 0 && turn[-1].paired;
      g_string_append_printf (text, "%s%s%c%u%s", i > 0 ? " " : "", turn->paired ? "(" : "",
                              turn->kind == MDL_TURN_FORWARD ? 'F' : 'B', turn->micro_batch, second ? ")" : "");
    }
    TEST_STR (text->str, expected[rank]);
  }
}

static void
every_schedule_has_a_name_and_facts (void)
{
  int n = 0;
  for (const BaseName *name = mdl_schedule_names; name->name != NULL; name++, n++) {
    const MdlScheduleFacts *facts = mdl_schedule_facts ((MdlSchedule)name->code);
    TEST_INT (name->code, n);
    TEST_TRUE (facts->bubble != NULL && facts->in_flight != NULL && facts->source != NULL);
  }
  TEST_INT (n, MDL_SCHEDULE_N);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "orders are as drawn in the papers", orders_are_as_drawn_in_the_papers },
    { "a list goes round the ranks", a_list_goes_round_the_ranks },
    { "chains lie on ranks as published", chains_lie_on_ranks_as_published },
    { "neighbours are the next in the chain", neighbours_are_the_next_in_the_chain },
    { "a ring of ranks goes up at its end", a_ring_of_ranks_goes_up_at_its_end },
    { "a turn is called by its pass", a_turn_is_called_by_its_pass },
    { "counts that do not fit are refused", counts_that_do_not_fit_are_refused },
    { "every place is a position and back", every_place_is_a_position_and_back },
    { "what a turn needs feeds it", what_a_turn_needs_feeds_it },
    { "the bubble is the closed form", the_bubble_is_the_closed_form },
    { "dualpipe of a long backward is within its form", dualpipe_of_a_long_backward_is_within_its_form },
    { "dualpipe of four ranks waits two forwards", dualpipe_of_four_ranks_waits_two_forwards },
    { "more micro-batches add exactly their work", more_micro_batches_add_exactly_their_work },
    { "activations in flight are as published", activations_in_flight_are_as_published },
    { "activations grow with micro-batches where facts say so", activations_grow_with_micro_batches_where_facts_say_so },
    { "what an input gradient frees counts at once", what_an_input_gradient_frees_counts_at_once },
    { "no step is shorter than its busiest rank", no_step_is_shorter_than_its_busiest_rank },
    { "combined passes are pairs", combined_passes_are_pairs },
    { "every schedule has a name and facts", every_schedule_has_a_name_and_facts },
    { NULL, NULL },
  };
  return test_main ("workload_schedule", cases);
}
