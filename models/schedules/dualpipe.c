/* DualPipe: micro-batches enter at both ends of the pipeline; in the middle of a step a forward of one direction runs beside a
 * backward of the other, so that each hides what the other sends. In the ramps W is put off as in zero-bubble schedules.
 * dualpipe:   rank i holds stages i and p-1-i; the first half of the micro-batches goes down the ranks, the second half up.
 *             Bubble (p/2-1)(FB + B - 2W) for F = B and W <= F, where FB is the time of a pair (with B for the whole backward pass,
 *             as the report writes it: FB + B - 3W); p+1 activations.
 * dualpipe_v: the same cut in half: p ranks do what 2p stages do, rank i has positions i and 2p-1-i of the chain, one copy of each.
 * Source: DeepSeek-V3 (2412.19437), section 3.2.1 and Table 2; phases and their lengths as in the README and in
 * dualpipe/dualpipe.py and dualpipe/dualpipev.py of github.com/deepseek-ai/DualPipe (`step`).
 * Valid: m >= 2p; dualpipe: p and m even.  Check: bubbles and activations of even stages, tests/unit/test_training_schedule.c. */
#include "orders-private.h"

/* Of one rank, seen from the end of the chain that is nearer: side 0 is the direction in which the rank comes first. */
typedef struct {
  GArray *turns;
  guint32 chunk[2], first[2]; /* by side: local chunk and first micro-batch */
  guint32 forward[2], backward[2];
  GQueue late; /* weight gradients put off: chunk and micro-batch, packed */
} Dual;

static void
forward (Dual *dual, guint32 side)
{
  mdl_turns_add (dual->turns, MDL_TURN_FORWARD, dual->first[side] + dual->forward[side]++, dual->chunk[side]);
}

static void
backward (Dual *dual, guint32 side)
{
  mdl_turns_add (dual->turns, MDL_TURN_BACKWARD, dual->first[side] + dual->backward[side]++, dual->chunk[side]);
}

static void
pair (Dual *dual, guint32 forward_side, guint32 backward_side)
{
  forward (dual, forward_side);
  g_array_index (dual->turns, MdlTurn, dual->turns->len - 1).paired = TRUE;
  backward (dual, backward_side);
}

/* A backward whose weight gradient is put off. */
static void
input_gradient (Dual *dual, guint32 side)
{
  guint32 micro_batch = dual->first[side] + dual->backward[side]++;
  mdl_turns_add (dual->turns, MDL_TURN_INPUT_GRADIENT, micro_batch, dual->chunk[side]);
  g_queue_push_tail (&dual->late, GUINT_TO_POINTER (2 * micro_batch + dual->chunk[side]));
}

/* The one put off longest. */
static void
weight_gradient (Dual *dual)
{
  guint32 late = GPOINTER_TO_UINT (g_queue_pop_head (&dual->late));
  mdl_turns_add (dual->turns, MDL_TURN_WEIGHT_GRADIENT, late / 2, late % 2);
}

/* Ranks `at` of `half` from the end to the middle, n micro-batches a side. */
static void
ramp_up (Dual *dual, guint32 at, guint32 half)
{
  for (guint32 i = 0; i < 2 * (half - 1 - at); i++)
    forward (dual, 0);
  for (guint32 i = 0; i <= at; i++) {
    forward (dual, 0);
    forward (dual, 1);
  }
  for (guint32 i = 0; i < half - 1 - at; i++) {
    input_gradient (dual, 1);
    weight_gradient (dual);
    forward (dual, 1);
  }
}

static void
steady (Dual *dual, guint32 at, guint32 half, guint32 n)
{
  for (guint32 i = 0; i < n - 2 * half + at + 1; i++) {
    if (i == 0 && at == half - 1) { /* in the middle nothing can hide the first yet */
      forward (dual, 0);
      backward (dual, 1);
    } else
      pair (dual, 0, 1);
    pair (dual, 1, 0);
  }
}

static void
ramp_down (Dual *dual, guint32 at, guint32 half)
{
  for (guint32 i = 0; i < half - 1 - at; i++) {
    backward (dual, 1);
    pair (dual, 1, 0);
  }
  for (guint32 i = 0; i < 2 * (at + 1); i++) { /* alternate sides; of the second half the weight gradients wait */
    guint32 side = i % 2 == 0;
    if (i > at)
      input_gradient (dual, side);
    else
      backward (dual, side);
  }
  for (guint32 i = 0; i < half - 1 - at; i++) {
    weight_gradient (dual);
    input_gradient (dual, 0);
  }
  while (!g_queue_is_empty (&dual->late))
    weight_gradient (dual);
}

static void
order_dualpipe (const MdlPipeline *pipe, guint32 rank, GArray *turns)
{
  guint32 half = pipe->p / 2, n = pipe->m / 2, at = MIN (rank, pipe->p - 1 - rank), near = rank >= half;
  Dual dual = { .turns = turns, .chunk = { near, 1 - near }, .first = { near * n, (1 - near) * n }, .late = G_QUEUE_INIT };
  ramp_up (&dual, at, half);
  steady (&dual, at, half, n);
  ramp_down (&dual, at, half);
}

static void
order_dualpipe_v (const MdlPipeline *pipe, guint32 rank, GArray *turns)
{
  Dual dual = { .turns = turns, .chunk = { 0, 1 }, .late = G_QUEUE_INIT };
  ramp_up (&dual, rank, pipe->p);
  steady (&dual, rank, pipe->p, pipe->m);
  ramp_down (&dual, rank, pipe->p);
}

const MdlScheduleRow mdl_schedule_dualpipe = {
  .layout = MDL_LAYOUT_COPIES,
  .cuts = 1,
  .even = TRUE,
  .least_of_p = 2,
  .order = order_dualpipe,
  .facts = { .bubble = "(p/2-1)(FB+B-2W)",
             .in_flight = "p+1",
             .source = "DeepSeek-V3 (2412.19437), 3.2.1",
             .splits_backward = TRUE,
             .pairs = TRUE },
};

const MdlScheduleRow mdl_schedule_dualpipe_v = {
  .layout = MDL_LAYOUT_VEE,
  .cuts = 2,
  .least_of_p = 2,
  .order = order_dualpipe_v,
  .facts = { .bubble = "(p-1)(FB+B-2W)/2",
             .in_flight = "p+1/2",
             .source = "README of github.com/deepseek-ai/DualPipe",
             .splits_backward = TRUE,
             .pairs = TRUE },
};
