/* Pipeline schedules: the order in which each rank of a pipeline runs the passes of its chunks, micro-batch by micro-batch.
 *
 * A model is cut into a chain of chunks, positions 0 .. n-1 from the input to the loss. A rank holds one or several of them, and an
 * order is a list of turns: which pass of which local chunk for which micro-batch. Orders are as published, whatever passes take;
 * when a turn starts follows from what it needs: the turn before it on its rank, and what wrk_schedule_needs() names.
 *
 * Symbols of the closed forms: p ranks, v chunks a rank, m micro-batches, i a rank; F, B, W the times of a rank's share of the
 * model for one micro-batch: forward, gradient of the input, gradient of the weights. Pure: no input, no clock. */
#ifndef WORKLOAD_SCHEDULE_PRIVATE_H
#define WORKLOAD_SCHEDULE_PRIVATE_H

#include "workload/schedule.h"

/* What a turn runs. BACKWARD is INPUT_GRADIENT and WEIGHT_GRADIENT together: one pass through the chunk's layers. */
typedef enum { WRK_TURN_FORWARD, WRK_TURN_BACKWARD, WRK_TURN_INPUT_GRADIENT, WRK_TURN_WEIGHT_GRADIENT, WRK_TURN_KINDS } WrkTurnKind;

typedef struct {
  guint32 micro_batch;
  guint32 chunk; /* local: of those that the rank holds */
  WrkTurnKind kind;
  gboolean paired; /* starts and ends together with the next turn of the rank: a forward beside a backward */
} WrkTurn;

typedef struct {
  WrkSchedule schedule;
  guint32 p; /* ranks */
  guint32 v; /* what the model is cut into: p v chunks; wrk_schedule_cuts() where the schedule leaves no choice */
  guint32 m; /* micro-batches of a step; with two directions, of both together */
} WrkPipeline;

/* A chunk on a rank. */
typedef struct {
  guint32 rank, chunk;
} WrkPlace;

/* The v that a schedule takes; 0: as wanted, from 2 up. */
guint32 wrk_schedule_cuts (WrkSchedule schedule);

/* Whether a schedule takes these counts. NULL if so; else what is wrong and what is accepted (full), and in *key, if not NULL,
 * whose count it is: "pp", "vp" or "micro_batches". All that follows wants a pipeline that passed. */
char *wrk_schedule_check (const WrkPipeline *pipe, const char **key);

/* Positions of the chain, p v. */
guint32 wrk_schedule_positions (const WrkPipeline *pipe);
/* Local chunks of each rank: more than v where a rank holds copies of two places in the chain (dualpipe: 2 of 1). */
guint32 wrk_schedule_chunks (const WrkPipeline *pipe);
/* How many ranks hold a position, 1 or 2. Copies run different micro-batches; their gradients are to be added. */
guint32 wrk_schedule_copies (const WrkPipeline *pipe);
/* Which position a local chunk is. */
guint32 wrk_schedule_position (const WrkPipeline *pipe, WrkPlace place);
/* Where a micro-batch passes a position. */
WrkPlace wrk_schedule_place (const WrkPipeline *pipe, guint32 micro_batch, guint32 position);

/* The turns of a rank, in order: WrkTurn, full. Each micro-batch that passes a local chunk has one FORWARD there, and either a
 * BACKWARD or an INPUT_GRADIENT followed, not always at once, by a WEIGHT_GRADIENT. */
GArray *wrk_schedule_order (const WrkPipeline *pipe, guint32 rank);

/* What a turn needs from another chunk: a FORWARD the activation of the position before, a BACKWARD or INPUT_GRADIENT the gradient
 * of the position behind. FALSE: nothing (the ends of the chain, and WEIGHT_GRADIENT). *from may be on the same rank: then nothing
 * is sent. */
gboolean wrk_schedule_needs (const WrkPipeline *pipe, guint32 rank, const WrkTurn *turn, WrkPlace *from);
/* Who waits for what a turn makes: the other end of the same. */
gboolean wrk_schedule_feeds (const WrkPipeline *pipe, guint32 rank, const WrkTurn *turn, WrkPlace *to);
/* Whether a send from a rank to a neighbour of it goes up: to the next rank; round the end, where a chain goes round, the first one
 * is next to the last. */
gboolean wrk_schedule_is_up (const WrkPipeline *pipe, guint32 from, guint32 to);

/* A turn of a rank. */
typedef struct {
  guint32 rank, turn; /* index into the rank's order */
} WrkListed;
/* Whether PyTorch runs a schedule from lists of passes, sends and receives; gpipe and 1f1b have loops of their own. */
gboolean wrk_schedule_is_listed (WrkSchedule schedule);
/* All turns as PyTorch lists them over all ranks, each behind what it needs: WrkListed, full. What a turn hands to another rank is
 * sent right behind it, and received behind the last turn of the receiver that is listed before. `order`: by rank, as of
 * wrk_schedule_order(). */
GArray *wrk_schedule_list (const WrkPipeline *pipe, GArray *const *order);

/* What a turn is called: "F3", the chunk behind it where ranks hold several: "F3.1". A name of a task: `size` 32 holds any. */
void wrk_turn_name (const WrkPipeline *pipe, const WrkTurn *turn, char *name, gsize size);

/* The most that activations take at any time of an order, one forward holding chunk_B[chunk] until its BACKWARD, or until its
 * INPUT_GRADIENT, of which `kept_B[chunk]` stays until its WEIGHT_GRADIENT. chunk_B NULL: each counts as 1, so that the answer is
 * chunk activations in flight; kept_B NULL: all of it stays. */
double wrk_schedule_peak (const GArray *turns, const double *chunk_B, const double *kept_B);

#endif
