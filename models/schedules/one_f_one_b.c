/* Schedules whose backward pass is one piece.
 * gpipe:       all forwards, then all backwards. Bubble (p-1)(F+B+W), m activations. Huang et al. 2019 (1811.06965), section 2.3.
 * 1f1b:        rank i runs min(m, p-1-i) forwards ahead, then one forward, one backward. The same bubble, min(m, p-i) activations.
 *              Narayanan et al., SC21 (2104.04473), section 2.2.
 * interleaved: rank i holds chunks i, p+i, …; p micro-batches go through its first chunk, the same p through its second, and so on;
 *              2(p-1-i) + (v-1)p passes ahead. Bubble (p-1)(F+B+W)/v, pv+p-1 chunk activations on rank 0. The same, section 2.2;
 *              the count of passes ahead is Megatron-LM's, core/pipeline_parallel/schedules.py,
 *              forward_backward_pipelining_with_interleaving.
 * Valid: m a multiple of p where interleaved.
 * Check: bubbles and activations of even stages, tests/unit/test_training_schedule.c. */
#include "orders-private.h"

static void
order_gpipe (const MdlPipeline *pipe, guint32 rank, GArray *turns)
{
  (void)rank;
  for (guint32 k = 0; k < pipe->m; k++)
    mdl_turns_add (turns, MDL_TURN_FORWARD, k, 0);
  for (guint32 k = 0; k < pipe->m; k++)
    mdl_turns_add (turns, MDL_TURN_BACKWARD, k, 0);
}

/* The k-th forward or backward of a rank: p micro-batches through each of its chunks in turn, backwards from the last chunk. */
static void
add_pass (const MdlPipeline *pipe, MdlTurnKind kind, guint32 k, GArray *turns)
{
  guint32 group = pipe->p * pipe->v, chunk = k / pipe->p % pipe->v;
  mdl_turns_add (turns, kind, k / group * pipe->p + k % pipe->p, kind == MDL_TURN_FORWARD ? chunk : pipe->v - 1 - chunk);
}

static void
one_forward_one_backward (const MdlPipeline *pipe, guint32 ahead, GArray *turns)
{
  guint32 n = pipe->m * pipe->v, forward = 0;
  while (forward < MIN (ahead, n))
    add_pass (pipe, MDL_TURN_FORWARD, forward++, turns);
  for (guint32 backward = 0; backward < n; backward++) {
    if (forward < n)
      add_pass (pipe, MDL_TURN_FORWARD, forward++, turns);
    add_pass (pipe, MDL_TURN_BACKWARD, backward, turns);
  }
}

static void
order_1f1b (const MdlPipeline *pipe, guint32 rank, GArray *turns)
{
  one_forward_one_backward (pipe, pipe->p - 1 - rank, turns);
}

static void
order_interleaved (const MdlPipeline *pipe, guint32 rank, GArray *turns)
{
  one_forward_one_backward (pipe, 2 * (pipe->p - 1 - rank) + (pipe->v - 1) * pipe->p, turns);
}

const MdlScheduleRow mdl_schedule_gpipe = {
  .cuts = 1,
  .order = order_gpipe,
  .facts = { .bubble = "(p-1)(F+B+W)",
             .in_flight = "m",
             .source = "Huang et al. 2019 (1811.06965), 2.3",
             .grows_with_m = TRUE,
             .loops = TRUE },
};

const MdlScheduleRow mdl_schedule_1f1b = {
  .cuts = 1,
  .order = order_1f1b,
  .facts = { .bubble = "(p-1)(F+B+W)",
             .in_flight = "min(m,p)",
             .source = "Narayanan et al. 2021 (2104.04473), 2.2",
             .loops = TRUE },
};

const MdlScheduleRow mdl_schedule_interleaved = {
  .groups_of_p = TRUE,
  .order = order_interleaved,
  .facts = { .bubble = "(p-1)(F+B+W)/v", .in_flight = "(vp+p-1)/v", .source = "Narayanan et al. 2021 (2104.04473), 2.2" },
};
