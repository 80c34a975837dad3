/* Copies between a rank and its host within a step. */
#ifndef TRAINING_OFFLOAD_PRIVATE_H
#define TRAINING_OFFLOAD_PRIVATE_H

#include "build-private.h"

typedef struct {
  const MdlTurn *turn;
  guint32 position, unit; /* of the pipeline's chain; in the order of the forward pass */
} TrnUnitPlace;

/* Of one pipeline rank; NULL where nothing leaves, which all functions take. Returned: full. */
typedef struct TrnOffloader TrnOffloader;
TrnOffloader *trn_offload_new (TrnBuild *b, guint32 lane);
void trn_offload_free (TrnOffloader *offload);
/* Before a unit's work in a turn: what it waits for is appended. Behind it; `last` is its last compute task. */
gboolean trn_offload_enter (TrnOffloader *offload, const TrnUnitPlace *at, GArray *wait, GError **error);
gboolean trn_offload_leave (TrnOffloader *offload, const TrnUnitPlace *at, EngTask last, GError **error);

/* The host's update of so many of a rank's parameters once `ready` has ended; *end: they are back on the GPU. */
gboolean trn_offload_update (TrnBuild *b, guint32 lane, double elements, EngTask ready, EngTask *end, GError **error);
/* Seconds of that update alone. Source: docs/training_memory.md (measured: AdamW of PyTorch on 4, 8 and 16 cores of one host). */
double trn_offload_update_s (const TrnModel *model, double elements);

#endif
