/* Pipeline schedules: the order in which each rank of a pipeline runs the passes of its chunks, micro-batch by micro-batch.
 *
 * A model is cut into a chain of chunks, positions 0 .. n-1 from the input to the loss. A rank holds one or several of them, and an
 * order is a list of turns: which pass of which local chunk for which micro-batch. Orders are as published, whatever passes take;
 * when a turn starts follows from what it needs: the turn before it on its rank, and what mdl_schedule_needs() names.
 *
 * Symbols of the closed forms: p ranks, v chunks a rank, m micro-batches, i a rank; F, B, W the times of a rank's share of the
 * model for one micro-batch: forward, gradient of the input, gradient of the weights. Pure: no input, no clock. */
#ifndef MODELS_PIPELINE_H
#define MODELS_PIPELINE_H

#include "models/schedule.h"

/* What a turn runs. BACKWARD is INPUT_GRADIENT and WEIGHT_GRADIENT together: one pass through the chunk's layers. */
typedef enum { MDL_TURN_FORWARD, MDL_TURN_BACKWARD, MDL_TURN_INPUT_GRADIENT, MDL_TURN_WEIGHT_GRADIENT, MDL_TURN_KINDS } MdlTurnKind;

typedef struct {
  guint32 micro_batch;
  guint32 chunk; /* local: of those that the rank holds */
  MdlTurnKind kind;
  gboolean paired; /* starts and ends together with the next turn of the rank: a forward beside a backward */
} MdlTurn;

typedef struct {
  MdlSchedule schedule;
  guint32 p;         /* ranks */
  guint32 v;         /* what the model is cut into: p v chunks; mdl_schedule_cuts() where the schedule leaves no choice */
  guint32 m;         /* micro-batches of a step; with two directions, of both together */
  gboolean combined; /* each backward pass runs beside the forward pass that follows it, which begins that much earlier */
} MdlPipeline;

/* A chunk on a rank. */
typedef struct {
  guint32 rank, chunk;
} MdlPlace;

/* The v that a schedule takes; 0: as wanted, from 2 up. */
guint32 mdl_schedule_cuts (MdlSchedule schedule);

/* Whether a schedule takes these counts. NULL if so; else what is wrong and what is accepted (full), and in *key, if not NULL,
 * whose count it is: "pp", "vp" or "micro_batches". All that follows wants a pipeline that passed. */
char *mdl_schedule_check (const MdlPipeline *pipe, const char **key);

/* Positions of the chain, p v. */
guint32 mdl_schedule_positions (const MdlPipeline *pipe);
/* Local chunks of each rank: more than v where a rank holds copies of two places in the chain (dualpipe: 2 of 1). */
guint32 mdl_schedule_chunks (const MdlPipeline *pipe);
/* How many ranks hold a position, 1 or 2. Copies run different micro-batches; their gradients are to be added. */
guint32 mdl_schedule_copies (const MdlPipeline *pipe);
/* Which position a local chunk is. */
guint32 mdl_schedule_position (const MdlPipeline *pipe, MdlPlace place);
/* Where a micro-batch passes a position. */
MdlPlace mdl_schedule_place (const MdlPipeline *pipe, guint32 micro_batch, guint32 position);

/* The turns of a rank, in order: MdlTurn, full. Each micro-batch that passes a local chunk has one FORWARD there, and either a
 * BACKWARD or an INPUT_GRADIENT followed, not always at once, by a WEIGHT_GRADIENT. */
GArray *mdl_schedule_order (const MdlPipeline *pipe, guint32 rank);

/* What a turn needs from another chunk: a FORWARD the activation of the position before, a BACKWARD or INPUT_GRADIENT the gradient
 * of the position behind. FALSE: nothing (the ends of the chain, and WEIGHT_GRADIENT). *from may be on the same rank: then nothing
 * is sent. */
gboolean mdl_schedule_needs (const MdlPipeline *pipe, guint32 rank, const MdlTurn *turn, MdlPlace *from);
/* Who waits for what a turn makes: the other end of the same. */
gboolean mdl_schedule_feeds (const MdlPipeline *pipe, guint32 rank, const MdlTurn *turn, MdlPlace *to);
/* Whether a send from a rank to a neighbour of it goes up: to the next rank; round the end, where a chain goes round, the first one
 * is next to the last. */
gboolean mdl_schedule_is_up (const MdlPipeline *pipe, guint32 from, guint32 to);

/* A turn of a rank. */
typedef struct {
  guint32 rank, turn; /* index into the rank's order */
} MdlListed;
/* Whether PyTorch runs a schedule from lists of passes, sends and receives; gpipe and 1f1b have loops of their own. */
gboolean mdl_schedule_is_listed (MdlSchedule schedule);
/* All turns as PyTorch lists them over all ranks, each behind what it needs: MdlListed, full. What a turn hands to another rank is
 * sent right behind it, and received behind the last turn of the receiver that is listed before. `order`: by rank, as of
 * mdl_schedule_order(). */
GArray *mdl_schedule_list (const MdlPipeline *pipe, GArray *const *order);

/* What a turn is called: "F3", the chunk behind it where ranks hold several: "F3.1". A name of a task: `size` 32 holds any. */
void mdl_turn_name (const MdlPipeline *pipe, const MdlTurn *turn, char *name, gsize size);

/* The most that activations take at any time of an order, one forward holding chunk_B[chunk] until its BACKWARD, or until its
 * INPUT_GRADIENT, of which `kept_B[chunk]` stays until its WEIGHT_GRADIENT. chunk_B NULL: each counts as 1, so that the answer is
 * chunk activations in flight; kept_B NULL: all of it stays. */
double mdl_schedule_peak (const GArray *turns, const double *chunk_B, const double *kept_B);

#endif
