/* The step of a model as a task graph, while it is built and accounted for. */
#ifndef TRAINING_BUILD_PRIVATE_H
#define TRAINING_BUILD_PRIVATE_H

#include "concurrent-private.h"
#include "engine/graph.h"
#include "engine/need.h"
#include "model-private.h"
#include "training/trace.h"

/* Kinds of tasks, as breakdowns and traces read them. */
typedef enum {
  TRN_STEP_FORWARD,
  TRN_STEP_BACKWARD,
  TRN_STEP_RECOMPUTE,
  TRN_STEP_OPTIMIZER,
  TRN_STEP_COPY,
  /* on the compute stream; COPY: between buffers of shards */
  TRN_STEP_JOIN,
  TRN_STEP_HOST,
  TRN_STEP_SYNC, /* on the host's: it queues; it goes on after waiting for the GPU */
  TRN_STEP_TP,
  TRN_STEP_CP,
  TRN_STEP_EP,
  TRN_STEP_DP,
  TRN_STEP_SEND_UP,
  TRN_STEP_SEND_DOWN,
  TRN_STEP_OFFLOAD, /* copies with the host */
  TRN_STEP_KINDS
} TrnStepKind;

typedef enum {
  TRN_ROLE_COMPUTE,
  TRN_ROLE_HOST,
  TRN_ROLE_TP,
  TRN_ROLE_CP,
  TRN_ROLE_EP,
  TRN_ROLE_DP,
  TRN_ROLE_EDP,
  TRN_ROLE_REPLICA,
  TRN_ROLE_UP,
  TRN_ROLE_DOWN,
  TRN_ROLE_OUT,
  TRN_ROLE_IN, /* copies to the host and back */
  TRN_ROLES
} TrnRole;

/* One pipeline rank, by the rank that stands for all of its tp x cp x dp. */
typedef struct {
  EngStream stream[TRN_ROLES]; /* ENG_NO_STREAM until it is used */
  EngPlace place;
  double slow;    /* factor on compute: the slowest of its ranks */
  EngTask ready;  /* its gradients are complete */
  EngTask update; /* the optimizer */
  EngTask end;    /* the rank's step is over */
} TrnLane;

/* What a task is done for. */
enum { TRN_AT_NONE = -1, TRN_AT_EMBEDDING = -2, TRN_AT_HEAD = -3 };
typedef struct {
  gint32 micro_batch, chunk; /* TRN_AT_NONE: for none */
  gint32 layer;              /* of the model, or one of WRK_AT_… */
} TrnTaskPlace;

/* What the engine's tasks do to each other, by task, and what they were made of. */
typedef struct {
  const MdlOverlapCompute *compute; /* NULL: not compute that others slow */
  const TrnPriced *comm;            /* NULL: no communication */
  guint32 lane;                     /* of sends: the sender's … */
  guint32 other;                    /* … and the receiver's; the same for all else */
  const TrnItem *item;              /* of a pass: what is computed; NULL: something else */
  double share;                     /* of item or comm */
  double alone_s;                   /* what it takes where nothing slows it */
  TrnTaskPlace at;
} TrnNote;

typedef struct {
  EngTask first, last; /* entry; last compute */
  EngTask done;        /* the send of what it made, or `last` */
} TrnDone;

/* While a step is built. */
typedef struct {
  const TrnModel *model;
  TrnPrices *prices;
  TrnCosts *costs;
  ColNet *net;
  EngGraph *graph;
  TrnLane *lane; /* by pipeline rank */
  GArray *notes; /* TrnNote, by task … */
  guint room;    /* … and the room for them, as of base_append() */
  GArray *uses;  /* scratch */
  TrnHost host;
  GHashTable *between; /* collectives of two pipeline ranks with copies of a stage, by what they are of: guint64 -> EngTask + 1 */
  TrnTaskPlace at;     /* what is built now */
  int end;             /* of the error band: -1 all communication as quick as it may be, +1 as slow, 0 as predicted */
  gboolean rehearses;  /* asks for all prices, counts what is to be built, and builds nothing */
  EngNeed need;        /* counted */
  GHashTable *sent;    /* while it rehearses: TrnPriced -> guint, how often */
  guint n_turns;       /* of all ranks, those that were rehearsed */
  guint few;           /* turns of a rank that are rehearsed; 0: all */
} TrnBuild;

extern const char *const trn_role_names[TRN_ROLES];
EngStream trn_build_stream (TrnBuild *b, guint32 lane, TrnRole role);
/* Tasks; `wait` (EngTask, may be NULL) all end before. Compute of no time is a join. `item`: what a part of is computed; NULL:
 * what others do not slow. */
/* kernels.c: names of an item's works, "norm, qkv, rope, attention". Returned: full; NULL: it has none. */
char *trn_item_kernels (TrnBuild *b, guint32 lane, const TrnTaskPlace *at, const TrnItem *item);
EngTask trn_build_compute (TrnBuild *b, guint32 lane, TrnStepKind kind, double time_s, const TrnItem *item, const char *name);
/* Communication of a pipeline rank on its stream `role`. */
typedef struct {
  const TrnPriced *priced;
  const char *name;
  guint32 lane, other; /* as in TrnNote */
  TrnRole role;
  TrnStepKind kind;
  double beside_s; /* the kernel that it begins beside, on average, whose SMs it waits for; 0: none */
  double share;    /* of `priced` */
} TrnTransfer;
EngTask trn_build_comm (TrnBuild *b, const TrnTransfer *transfer);
/* FALSE where what a rehearsal has counted so far is more than the limit on memory. */
gboolean trn_build_fits (const TrnBuild *b);
/* Bytes on the links of all groups, of everything that was built, for the report. */
void trn_build_count (const TrnBuild *b);
void trn_build_after (TrnBuild *b, EngTask task, const GArray *wait);
void trn_build_after_one (TrnBuild *b, EngTask task, EngTask before);

/* ---- gradients and parameters: hooks of the program that a pipeline rank runs ---- */

typedef struct TrnSyncer TrnSyncer;
/* For one pipeline rank, before its first turn. */
TrnSyncer *trn_sync_new (TrnBuild *b, guint32 lane, const GArray *turns);
void trn_sync_free (TrnSyncer *sync);
/* Units of a local chunk are numbered from 0 in the model's order. Before a unit's work in a turn: tasks to wait for are
 * appended. */
gboolean trn_sync_enter (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error);
/* Whether gradients leave unit by unit in a turn. */
gboolean trn_sync_sends (const TrnSyncer *sync, guint32 turn_index);
/* Behind it; `last` is its last compute task. */
gboolean trn_sync_leave (TrnSyncer *sync, const MdlTurn *turn, guint32 turn_index, guint32 unit, EngTask last, GError **error);
/* Behind all turns: what remains to be reduced, the norm, the optimizer. */
gboolean trn_sync_finish (TrnSyncer *sync, GError **error);

const TrnUnit *trn_unit_at (TrnBuild *b, guint32 lane, guint32 position, guint32 unit, GError **error);

/* Who slows whom, for eng_graph_set_pace; `user`: TrnBuild. */
void trn_step_pace (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed);

/* All turns of a pipeline rank, and the end of its step; done[] beside the turns. */
gboolean trn_program_lane (TrnBuild *b, guint32 lane, const GArray *turns, TrnDone *done, GError **error);

/* What the compute and the collectives of the layers of out->stage are made of (`told`: TrnPricedWork), into out->terms. */
void trn_step_terms (const TrnBuild *b, const GArray *told, TrnResult *out);

/* What ran when, from a graph that has run. The order of turns and what they became, by pipeline rank: `order` (arrays of MdlTurn)
 * and `done` beside it. Returned: full. */
TrnTrace *trn_step_trace (TrnBuild *b, GArray *const *order, TrnDone *const *done);

/* The breakdown of the lane that ends last. */
/* warn.c: of a step that ran, what its keys are better for. */
void trn_step_warn_keys (const TrnModel *model, const TrnResult *training, ColRunInfo *info);
void trn_step_account (const TrnBuild *b, TrnResult *out);
TrnPart trn_step_part (TrnStepKind kind);
/* Of that lane, from its breakdown: communication by kind; what bounds the step. */
void trn_step_communication (const TrnBuild *b, TrnResult *out);
void trn_step_bound (const TrnBuild *b, TrnResult *out);
/* What the host of that lane does. */
void trn_step_host (const TrnBuild *b, TrnResult *out);
/* Everything else that a step's result has, from its breakdown. */
void trn_step_summarise (const TrnBuild *b, TrnResult *out);
/* layers.c, where times are given: gradient buckets, what bounds the step, and what the longest of its traffic takes alone. */
void trn_step_layers (const TrnBuild *b, TrnResult *out);
/* What the closed form or the cluster leaves out, as warnings; all tasks as ColSpan. */
void trn_step_warn (const TrnBuild *b, const TrnResult *out, ColRunInfo *info);
void trn_step_spans (const TrnBuild *b, GPtrArray *spans);

/* Folded together with what `side` (n of them) loads: trn_step_side_loads are ColLoad that can bind, borrowed. */
TrnStepRun *trn_step_start_beside (const TrnJob *job, ColNet *net, const StoSide *const *side, unsigned n, GError **error);
const GArray *trn_step_side_loads (const TrnStepRun *run, unsigned i);
const TrnBuild *trn_step_built (const TrnStepRun *run);

/* ---- gradients made smaller (compress.c) ---- */

/* Of a bucket, with PowerSGD: elements of matrices that go as two factors, whose elements these are. */
typedef struct {
  double matrices, left, right;
} TrnFactors;

typedef struct {
  MdlOp op;
  MdlFormat format;
  double size_B;
  const char *name; /* static */
} TrnCompressedPart;

/* What a bucket becomes: bytes that passes read and write before its collectives and behind them, one after the other. */
typedef struct {
  double before_B[2], behind_B[2];
  TrnCompressedPart part[3];
  guint n;
} TrnCompressed;

/* A tensor that goes into a bucket. */
void trn_compress_take (const TrnModel *model, const TrnTensor *tensor, TrnFactors *factors);
/* Of a bucket of size_B, over so many ranks, of a model that compresses. */
void trn_compress_bucket (const TrnModel *model, double size_B, double ranks, const TrnFactors *factors, TrnCompressed *out);

#endif
