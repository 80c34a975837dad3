/* What a rank holds over a training step, while it is worked out (memory.c): parts of the model, passes, stages. */
#ifndef TRAINING_HELD_PRIVATE_H
#define TRAINING_HELD_PRIVATE_H

#include "model-private.h"

/* ---- parts.c: what does not change over a step ---- */

typedef struct {
  MdlActivationBytes held[2]; /* with gradients that come; with gradients that are there */
  double dense, expert, trained_dense, trained_expert;
} TrnHeldBlock;

/* Embedding, a layer, the head, a module of multi-token prediction. */
typedef struct {
  TrnHeldBlock block[3]; /* in the order of the forward pass */
  guint n;
} TrnHeldUnit;

typedef struct {
  const TrnModel *model;
  const MdlMemorySpec *spec;
  TrnHeldUnit part[MDL_PART_NET][TRN_AGAIN_N]; /* of a decoder; MODULES always, others where any unit needs them */
  TrnHeldUnit *net;                            /* by item of a network of operations; NULL: a decoder */
  gboolean eager, shards;
  /* gradients come with a backward pass and go with the optimizer: of what is not an expert's, and is */
  gboolean dense_comes, expert_comes;
  gboolean outside;                            /* they come beside the buckets that they are reduced in */
  double unit_B, param_B, gradient_B, state_B; /* of an element */
  double gather_B, reduce_B, whole_B; /* of a gathered layer; of gradients on their way: reduced, all copies of whole ones */
  double dense_ranks, expert_ranks;   /* that share states of what is not an expert's, and is */
} TrnHeld;

/* Fills *plan; trn_held_open() all but the parts. plan->net is the caller's to free. */
void trn_held_make (const TrnModel *model, TrnHeld *plan);
void trn_held_open (const TrnModel *model, TrnHeld *plan);

/* Units of a position of the pipeline's chain, in the order of the forward pass. */
guint32 trn_held_units (const TrnHeld *plan, guint32 position);
MdlPart trn_held_part (const TrnHeld *plan, guint32 position, guint32 unit);
const TrnHeldUnit *trn_held_unit (const TrnHeld *plan, guint32 position, guint32 unit);
/* Whether it is computed again whole. */
gboolean trn_held_is_whole (const TrnHeld *plan, guint32 position, guint32 unit);
/* B that it keeps on the GPU between its passes, and in the host's memory. */
double trn_held_kept (const TrnHeld *plan, guint32 position, guint32 unit);
double trn_held_away (const TrnHeld *plan, guint32 position, guint32 unit);
gboolean trn_held_is_layer (MdlPart part);

/* Elements of parameters of a rank. */
typedef struct {
  double dense, expert, trained_dense, trained_expert;
} TrnHeldCount;

TrnHeldCount trn_held_count (const TrnHeldUnit *unit);
/* Elements that one of the ranks that share them has. */
double trn_held_share (const TrnHeld *plan, double dense, double expert);
/* Elements of gradients that a rank ends up with; B of those of them that come. */
double trn_held_gradients (const TrnHeld *plan, double dense, double expert);
double trn_held_coming (const TrnHeld *plan, double dense, double expert);

/* ---- passes.c: over the turns of a stage ---- */

typedef struct {
  double activations_B, gradients_B, buffers_B;
} TrnHeldLoad;

typedef enum {
  TRN_PASS_COMES,
  TRN_PASS_THERE,
  TRN_PASS_INPUT,
  TRN_PASS_N
} TrnHeldPass; /* gradients come; are there; are not made */

typedef struct {
  guint32 position;
  double kept_B, late_B, gradients_B;
  double away_B, passing_B; /* in the host's memory between its passes; at most on its way there or back */
  double forward_buffers_B;
  TrnHeldLoad back[TRN_PASS_N]; /* most, over what is there when the pass begins */
} TrnHeldChunk;

/* *buffers_B: what stays over the whole step is added. */
TrnHeldChunk trn_held_chunk (const TrnHeld *plan, guint32 position, double *buffers_B);
/* What the turns (MdlTurn) of a stage hold at their fullest moment; `chunk` by chunk of the rank. *away_B: in the host's memory. */
TrnHeldLoad trn_held_walk (const TrnHeld *plan, const TrnHeldChunk *chunk, guint32 chunks, const GArray *turns, double *in_flight,
                           double *away_B);

/* ---- memory.c, seen.c: of all stages ---- */

/* Of a stage: what its turns make, however its states are shared. */
typedef struct {
  TrnHeldLoad most;
  double in_flight, buffers_B, layers, away_B;
  double largest_B, chunk_B; /* gradients of a unit and of a chunk, in the format of their reduction */
  TrnHeldCount count;
} TrnHeldTurns;

TrnHeldTurns trn_held_turns (const TrnHeld *plan, guint32 stage, const GArray *order);
/* What was seen of such a model, or is looked at now, by pipeline rank. Borrowed until the next call. */
const TrnHeldTurns *trn_held_recall (TrnMemoryCache *seen, const TrnHeld *plan, GArray *const *orders);

#endif
