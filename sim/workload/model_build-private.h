/* The step of a model as a task graph, while it is built and accounted for. */
#ifndef WORKLOAD_MODEL_BUILD_PRIVATE_H
#define WORKLOAD_MODEL_BUILD_PRIVATE_H

#include "beside-private.h"
#include "engine/graph.h"
#include "model-private.h"
#include "workload/trace.h"

/* Kinds of tasks, as breakdowns and traces read them. */
typedef enum {
  WRK_STEP_FORWARD,
  WRK_STEP_BACKWARD,
  WRK_STEP_RECOMPUTE,
  WRK_STEP_OPTIMIZER,
  WRK_STEP_COPY,
  /* on the compute stream; COPY: between buffers of shards */
  WRK_STEP_JOIN,
  WRK_STEP_HOST,
  WRK_STEP_SYNC, /* on the host's: it queues; it goes on after waiting for the GPU */
  WRK_STEP_TP,
  WRK_STEP_CP,
  WRK_STEP_EP,
  WRK_STEP_DP,
  WRK_STEP_SEND_UP,
  WRK_STEP_SEND_DOWN,
  WRK_STEP_KINDS
} WrkStepKind;

typedef enum {
  WRK_ROLE_COMPUTE,
  WRK_ROLE_HOST,
  WRK_ROLE_TP,
  WRK_ROLE_CP,
  WRK_ROLE_EP,
  WRK_ROLE_DP,
  WRK_ROLE_EDP,
  WRK_ROLE_REPLICA,
  WRK_ROLE_UP,
  WRK_ROLE_DOWN,
  WRK_ROLES
} WrkRole;

/* One pipeline rank, by the rank that stands for all of its tp x cp x dp. */
typedef struct {
  EngStream stream[WRK_ROLES]; /* ENG_NO_STREAM until it is used */
  EngPlace place;
  double slow;    /* factor on compute: the slowest of its ranks */
  EngTask ready;  /* its gradients are complete */
  EngTask update; /* the optimizer */
  EngTask end;    /* the rank's step is over */
} WrkLane;

/* What a task is done for. */
enum { WRK_AT_NONE = -1, WRK_AT_EMBEDDING = -2, WRK_AT_HEAD = -3 };
typedef struct {
  gint32 micro_batch, chunk; /* WRK_AT_NONE: for none */
  gint32 layer;              /* of the model, or one of WRK_AT_… */
} WrkAt;

/* What the engine's tasks do to each other, by task, and what they were made of. */
typedef struct {
  const MdlOverlapCompute *compute; /* NULL: not compute that others slow */
  const WrkPriced *comm;            /* NULL: no communication */
  guint32 lane;                     /* of sends: the sender's … */
  guint32 other;                    /* … and the receiver's; the same for all else */
  const WrkItem *item;              /* of a pass: what is computed; NULL: something else */
  double share;                     /* of item or comm */
  double alone_s;                   /* what it takes where nothing slows it */
  WrkAt at;
} WrkNote;

typedef struct {
  EngTask first, last; /* entry; last compute */
  EngTask done;        /* the send of what it made, or `last` */
} WrkDone;

/* While a step is built. */
typedef struct {
  const WrkModel *model;
  WrkPrices *prices;
  WrkCosts *costs;
  WrkNet *net;
  EngGraph *graph;
  WrkLane *lane; /* by pipeline rank */
  GArray *notes; /* WrkNote, by task */
  GArray *uses;  /* scratch */
  WrkHost host;
  GHashTable *between; /* collectives of two pipeline ranks with copies of a stage, by what they are of: guint64 -> EngTask + 1 */
  WrkAt at;            /* what is built now */
  gboolean rehearses;  /* asks for all prices and builds nothing */
} WrkBuild;

extern const char *const wrk_role_names[WRK_ROLES];
EngStream wrk_build_stream (WrkBuild *b, guint32 lane, WrkRole role);
/* Tasks; `wait` (EngTask, may be NULL) all end before. Compute of no time is a join. `item`: what a part of is computed; NULL:
 * what others do not slow. */
EngTask wrk_build_compute (WrkBuild *b, guint32 lane, WrkStepKind kind, double time_s, const WrkItem *item, const char *name);
/* `beside_s`: the kernel that it begins beside, on average, whose SMs it waits for; 0: none. */
EngTask wrk_build_comm (WrkBuild *b, guint32 lane, guint32 other, WrkRole role, WrkStepKind kind, const WrkPriced *priced,
                        double beside_s, double share, const char *name);
/* Bytes on the links of all groups, of everything that was built, for the report. */
void wrk_build_count (const WrkBuild *b);
void wrk_build_after (WrkBuild *b, EngTask task, const GArray *wait);
void wrk_build_after_one (WrkBuild *b, EngTask task, EngTask before);

/* ---- gradients and parameters: hooks of the program that a pipeline rank runs ---- */

typedef struct WrkSyncer WrkSyncer;
/* For one pipeline rank, before its first turn. */
WrkSyncer *wrk_sync_new (WrkBuild *b, guint32 lane, const GArray *turns);
void wrk_sync_free (WrkSyncer *sync);
/* Units of a local chunk are numbered from 0 in the model's order. Before a unit's work in a turn: tasks to wait for are
 * appended. */
gboolean wrk_sync_enter (WrkSyncer *sync, const WrkTurn *turn, guint32 unit, GArray *wait, GError **error);
/* Behind it; `last` is its last compute task. */
gboolean wrk_sync_leave (WrkSyncer *sync, const WrkTurn *turn, guint32 turn_index, guint32 unit, EngTask last, GError **error);
/* Behind all turns: what remains to be reduced, the norm, the optimizer. */
gboolean wrk_sync_finish (WrkSyncer *sync, GError **error);

/* Units of a position: embedding, layers, head. */
guint32 wrk_units_of (const WrkModel *model, guint32 position);
const WrkUnit *wrk_unit_at (WrkBuild *b, guint32 lane, guint32 position, guint32 unit, GError **error);

/* Who slows whom, for eng_graph_set_pace; `user`: WrkBuild. */
void wrk_step_pace (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed);

/* All turns of a pipeline rank, and the end of its step; done[] beside the turns. */
gboolean wrk_program_lane (WrkBuild *b, guint32 lane, const GArray *turns, WrkDone *done, GError **error);

/* What the compute and the collectives of the layers of out->stage are made of (`told`: WrkTold), into out->terms. */
void wrk_step_terms (const WrkBuild *b, const GArray *told, WrkTrainingResult *out);

/* What ran when, from a graph that has run. The order of turns and what they became, by pipeline rank: `order` (arrays of WrkTurn)
 * and `done` beside it. Returned: full. */
WrkTrace *wrk_step_trace (const WrkBuild *b, GArray *const *order, WrkDone *const *done);

/* The breakdown of the lane that ends last. */
void wrk_step_account (const WrkBuild *b, WrkTrainingResult *out);
WrkPart wrk_step_part (WrkStepKind kind);
/* Of that lane, from its breakdown: communication by kind; what bounds the step. */
void wrk_step_communication (const WrkBuild *b, WrkTrainingResult *out);
void wrk_step_bound (const WrkBuild *b, WrkTrainingResult *out);
/* What the host of that lane does. */
void wrk_step_host (const WrkBuild *b, WrkTrainingResult *out);
/* Everything else that is told of a step, from its breakdown. */
void wrk_model_summarise (const WrkBuild *b, WrkTrainingResult *out);

typedef struct WrkModelRun WrkModelRun;
/* A step on an engine of others: started now, over when the engine has run. `fold`: alike links once, where nobody else loads the
 * network. NULL and *error on failure. Returned: full, and to be freed before the network. */
WrkModelRun *wrk_model_start (const WrkTrainingJob *job, WrkNet *net, gboolean fold, GError **error);
/* Folded together with what `side` (n of them) loads: wrk_model_side_loads are WrkLoad that can bind, borrowed. */
WrkModelRun *wrk_model_start_beside (const WrkTrainingJob *job, WrkNet *net, const WrkSide *const *side, unsigned n,
                                     GError **error);
const GArray *wrk_model_side_loads (const WrkModelRun *run, unsigned i);
double wrk_model_time_s (const WrkModelRun *run);
const WrkBuild *wrk_model_built (const WrkModelRun *run);
void wrk_model_run_free (WrkModelRun *run);

#endif
