/* What data-parallel ranks exchange, while a pipeline rank is built. */
#ifndef TRAINING_SYNC_PRIVATE_H
#define TRAINING_SYNC_PRIVATE_H

#include "build-private.h"

/* Gradients or parameters on their way into one collective. */
typedef struct {
  double bytes;
  guint32 n; /* buckets closed */
  TrnFactors factors;
} TrnBucket;

typedef struct {
  const TrnUnit *unit;
  guint32 chunk;
} TrnDeferredSync;

struct TrnSyncer {
  TrnBuild *b;
  const TrnModel *model;
  guint32 lane, chunks, n_turns;
  gboolean *final;    /* by turn: it completes the gradients of its chunk */
  gboolean *scatters; /* by turn: gradients leave after it */
  guint32 *first;     /* by chunk: micro-batch that passes it first */
  TrnBucket dense, expert;
  GArray *reduced; /* EngTask: what the optimizer waits for */
  GArray *late;    /* TrnDeferredSync: reduced behind all turns */
  guint32 chunk;   /* whose gradients are on their way */
  guint32 *n_sent; /* of them, by chunk: collectives so far, experts' beside the others' */
  EngTask last_compute;
  EngTask ready;                                 /* behind the last unit that has gradients */
  double beside_s;                               /* kernel that what is added now begins beside; 0: nothing is computed then */
  double trained_dense, trained_expert, tensors; /* parameters of the rank that are trained */
  /* shards, and parameters gathered ahead */
  GHashTable *gathered; /* of (chunk, unit) in the chunk's turn under way: EngTask + 1 */
  EngTask copied;       /* the latest copy out of a buffer of this turn */
  EngTask scattered;    /* the latest scatter */
  double unpack_B[2];   /* compressed gradients: bytes read and written behind their collectives */
  double root_elements; /* gradients of embedding and head that wait for the end of the turn */
};

/* What a collective between the two pipeline ranks that hold copies of a position is of. */
typedef enum { TRN_OF_GRADIENTS, TRN_OF_EXPERT_GRADIENTS, TRN_OF_PARAMETERS, TRN_OF_EXPERTS } TrnExchangeOf;
#define TRN_NO_CHUNK G_MAXUINT32

typedef struct {
  TrnRole role;
  TrnGroupKind group;
  MdlOp op;
  MdlFormat format;
  double size_B;
  const char *name;
  /* where two ranks may hold copies: of a position of the chain, or of a whole rank (chunk TRN_NO_CHUNK); `k` tells those of one
   * position apart */
  TrnExchangeOf of;
  guint32 chunk, k;
} TrnExchange;

/* compress.c. A bucket's collectives, with what is computed before and behind them: *out is the last. */
EngTask trn_compress_finish (TrnSyncer *sync, EngTask ready); /* all that is unpacked, once all has come */
gboolean trn_compress_reduce (TrnSyncer *sync, TrnBucket *bucket, const TrnExchange *gradients, EngTask after, EngTask *out,
                              GError **error);

/* One collective, after `after`, beside what is computed then. FALSE and *error as of prices. */
gboolean trn_sync_add (TrnSyncer *sync, const TrnExchange *e, EngTask after, EngTask *out, GError **error);
const TrnUnit *trn_sync_unit (const TrnSyncer *sync, guint32 chunk, guint32 unit, GError **error);

/* Replicas of one process: before a unit's pass, behind it, and at the end of the step. */
gboolean trn_sync_enter_replicas (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error);
gboolean trn_sync_leave_replicas (TrnSyncer *sync, const TrnUnit *unit, guint32 u, EngTask last, GError **error);
void trn_sync_end_replicas (TrnSyncer *sync);

#endif
