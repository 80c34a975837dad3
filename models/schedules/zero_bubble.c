/* Zero-bubble schedules: the gradient of a chunk's input (B) goes back at once, that of its weights (W) fills the gaps.
 * zb_h1: 1f1b's order of F and B; rank i runs its W i micro-batches behind its B, so that all ranks hold p activations, as rank 0
 *        of 1f1b does. Bubble (p-1)(F+B-W) while W <= F and W <= B. Qi et al. 2023 (2401.10241), section 2, schedule ZB-H1.
 * zb_v:  rank i holds positions i and 2p-1-i of 2p: the chain goes down the ranks and comes back. Each rank is busy from its first
 *        turn to its last when F = B = W; else, while W <= B and F <= B, it waits (p-1)(B-W). 2p activations of half a rank's
 *        share. Ranks neither start nor end together: from the first start to the last end it is up to (p-1) max (F, B)/2 more.
 *        Qi et al. 2024 (2405.15362), schedule V-ZB, and 2401.10241, section 6; numbers of turns in each phase as in PyTorch
 *        torch/distributed/pipelining/schedules.py, ScheduleZBVZeroBubble.
 * The orders are the papers' for F = B = W and are kept for other times, as a runtime with a fixed order does.
 * Check: bubbles and activations of even stages, tests/unit/test_training_schedule.c. */
#include "orders-private.h"

static void
order_zb_h1 (const MdlPipeline *pipe, guint32 rank, GArray *turns)
{
  guint32 forward = 0, weight = 0;
  while (forward < MIN (pipe->m, pipe->p - 1 - rank))
    mdl_turns_add (turns, MDL_TURN_FORWARD, forward++, 0);
  for (guint32 input = 0; input < pipe->m; input++) {
    if (forward < pipe->m)
      mdl_turns_add (turns, MDL_TURN_FORWARD, forward++, 0);
    mdl_turns_add (turns, MDL_TURN_INPUT_GRADIENT, input, 0);
    if (input >= rank)
      mdl_turns_add (turns, MDL_TURN_WEIGHT_GRADIENT, weight++, 0);
  }
  while (weight < pipe->m)
    mdl_turns_add (turns, MDL_TURN_WEIGHT_GRADIENT, weight++, 0);
}

typedef struct {
  GArray *turns;
  guint32 m;
  guint32 next[4][2]; /* micro-batch, by kind and chunk */
} Vee;

/* The next pass of a kind. An order is laid out for 2p-1 micro-batches at least; those past m are left out. */
static void
add (Vee *vee, MdlTurnKind kind, guint32 chunk)
{
  guint32 micro_batch = vee->next[kind][chunk]++;
  if (micro_batch < vee->m)
    mdl_turns_add (vee->turns, kind, micro_batch, chunk);
}

static void
add_both_gradients (Vee *vee, guint32 chunk)
{
  add (vee, MDL_TURN_INPUT_GRADIENT, chunk);
  add (vee, MDL_TURN_WEIGHT_GRADIENT, chunk);
}

static void
order_zb_v (const MdlPipeline *pipe, guint32 rank, GArray *turns)
{
  Vee vee = { .turns = turns, .m = pipe->m };
  guint32 n = MAX (pipe->m, 2 * pipe->p - 1), behind = pipe->p - rank;
  for (guint32 i = 0; i < 2 * behind - 1; i++)
    add (&vee, MDL_TURN_FORWARD, 0);
  for (guint32 i = 0; i < rank; i++) {
    add (&vee, MDL_TURN_FORWARD, 1);
    add (&vee, MDL_TURN_FORWARD, 0);
  }
  for (guint32 i = 0; i < behind; i++) {
    add (&vee, MDL_TURN_FORWARD, 1);
    add_both_gradients (&vee, 1);
  }
  while (vee.next[MDL_TURN_FORWARD][1] < n) {
    if (vee.next[MDL_TURN_FORWARD][0] < n)
      add (&vee, MDL_TURN_FORWARD, 0);
    add_both_gradients (&vee, 0);
    add (&vee, MDL_TURN_FORWARD, 1);
    add_both_gradients (&vee, 1);
  }
  for (guint32 i = 0; i < rank; i++) {
    add (&vee, MDL_TURN_INPUT_GRADIENT, 0);
    add (&vee, MDL_TURN_INPUT_GRADIENT, 1);
  }
  for (guint32 i = 0; i < behind; i++)
    add_both_gradients (&vee, 0);
  for (guint32 chunk = 2; chunk-- > 0;)
    while (vee.next[MDL_TURN_WEIGHT_GRADIENT][chunk] < vee.next[MDL_TURN_INPUT_GRADIENT][chunk])
      add (&vee, MDL_TURN_WEIGHT_GRADIENT, chunk);
}

const MdlScheduleRow mdl_schedule_zb_h1 = {
  .cuts = 1,
  .order = order_zb_h1,
  .facts = { .bubble = "(p-1)(F+B-W)",
             .in_flight = "min(m,p)",
             .source = "Qi et al. 2023 (2401.10241), 2",
             .splits_backward = TRUE },
};

const MdlScheduleRow mdl_schedule_zb_v = {
  .layout = MDL_LAYOUT_VEE,
  .cuts = 2,
  .order = order_zb_v,
  .facts = { .bubble = "(p-1)(B-W)",
             .in_flight = "min(m,p)",
             .source = "Qi et al. 2024 (2405.15362), V-ZB",
             .splits_backward = TRUE,
             .never_joins = TRUE },
};
