/* Inside of the closed form of a step: units of a model, pipelines of them, and what data-parallel ranks exchange. */
#ifndef WORKLOAD_CLOSED_PRIVATE_H
#define WORKLOAD_CLOSED_PRIVATE_H

#include "model_build-private.h"
#include "workload/closed.h"

/* A job with another cut, and the model that it makes. */
typedef struct {
  WrkSystem system;
  WrkTrainingJob job; /* on it; shallow copies: they own nothing */
  WrkModel model;
} WrkVariant;
gboolean wrk_variant_plan (const WrkTrainingJob *job, const WrkClosedAsk *ask, WrkVariant *out, GError **error);

/* ---- units: an embedding, a layer, a head, on the ranks that share it ---- */

enum { WRK_LAYER_KINDS = 4, WRK_UNITS = 2 + WRK_LAYER_KINDS }; /* layers: with experts or without, windowed or not */
enum { WRK_UNIT_AT_EMBEDDING = WRK_LAYER_KINDS, WRK_UNIT_AT_HEAD };

/* A pass of a unit by WrkTurnKind, as it runs between others of its kind: what of it computes, and what waits for whom. */
typedef struct {
  const WrkUnit *unit; /* NULL: the model has none */
  double time_s[WRK_TURN_KINDS];
  double part_s[WRK_TURN_KINDS][WRK_PART_N]; /* sums to time_s */
} WrkUnitTime;

typedef struct {
  WrkVariant variant;
  WrkPrices *prices; /* borrowed */
  WrkCosts *costs;
  WrkUnitTime unit[WRK_UNITS];
  guint8 *index;                 /* of `unit`, by layer of the whole model */
  double edge_s[WRK_TURN_KINDS]; /* that a turn takes on top of its units: first and last gathers of shards */
  double paired;                 /* a forward beside a backward takes so much of both in a row; 1 where none is paired */
  double tail_s;                 /* behind the last turn, until sharded gradients are there */
  double once_s;                 /* the first micro-batch takes so much more than the others */
  double band, wire_band;        /* of its works; widest of its collectives */
  BaseSource source;
  GHashTable *updates;                /* what the optimizer takes, by what it updates */
  GHashTable *beside[WRK_TURN_KINDS]; /* WrkPriced -> what it and a turn do to each other (closed_sync.c) */
} WrkUnits;

/* By running a rank's program over few layers on the engine: the same laws, nothing said twice. `prices` are of the same grid, and
 * outlive the units, as `products` do (wrk_products_new). NULL and *error as of prices. */
WrkUnits *wrk_units_new (const WrkTrainingJob *job, const WrkClosedAsk *ask, WrkPrices *prices, GHashTable *products,
                         GError **error);
void wrk_units_free (WrkUnits *units);
guint32 wrk_unit_index (const WrkModel *model, guint32 layer);
double wrk_units_update_s (const WrkUnits *units, double updated, double held, double tensors);

/* ---- pipelines ---- */

/* The turns of all pipeline ranks. Chunks: wrk_schedule_chunks() a rank, chunk c of rank s at s x chunks + c. */
typedef struct {
  guint32 m;           /* micro-batches that were followed */
  double time_s;       /* from the first turn to the end of the last */
  double more_s;       /* of each micro-batch beyond m */
  double sends_s;      /* of time_s: what sends make it longer … */
  double sends_more_s; /* … and of more_s */
  double *end_s;       /* by rank: of its last turn */
  double *first_s;     /* by rank and chunk: the begin of its first forward pass */
  double *final_s;     /* by rank and chunk: the end of the turn that completes its gradients */
} WrkTurns;

typedef struct {
  const double *turn_s[WRK_TURN_KINDS]; /* by position of the chain */
  double send_s, wrap_s;                /* to the next rank; from the last to the first */
  double paired;                        /* as of WrkUnits */
  gboolean blocks;                      /* sends keep the compute stream */
} WrkTurnsAsk;

/* How many micro-batches of m are followed: what lies beyond repeats, a round of the pipeline at a time. */
guint32 wrk_turns_followed (const WrkPipeline *pipe);
/* Whether there are more than those; then a round less is followed too. */
gboolean wrk_turns_repeat (const WrkPipeline *pipe);

/* All turns of a pipeline in an order in which each comes behind what it needs, whatever they take. `queued`: in that of
 * wrk_schedule_list(), and sends and receives of a rank wait for each other. Returned: full. */
typedef struct WrkWay WrkWay;
WrkWay *wrk_way_new (const WrkPipeline *pipe, gboolean queued);
void wrk_way_free (WrkWay *way);
const WrkPipeline *wrk_way_pipe (const WrkWay *way);
guint32 wrk_way_length (const WrkWay *way); /* turns */
/* By rank, what wrk_schedule_order() gives. Borrowed. */
GArray *const *wrk_way_orders (const WrkWay *way);

/* Follows every turn; `pipe` has its own m, `way` those that are followed, `before` a round less, NULL where none is. Returned:
 * full. */
WrkTurns *wrk_turns_new (const WrkPipeline *pipe, const WrkWay *way, const WrkWay *before, const WrkTurnsAsk *ask);
void wrk_turns_free (WrkTurns *turns);

/* ---- gradients and parameters ---- */

/* What groups of ranks take, remembered by size. */
typedef struct WrkGroupPrices WrkGroupPrices;
WrkGroupPrices *wrk_group_prices_new (const WrkTrainingJob *job, const WrkClosedAsk *ask, GError **error);
void wrk_group_prices_free (WrkGroupPrices *prices);
WrkPrices *wrk_group_prices_all (WrkGroupPrices *prices); /* borrowed */
const WrkPriced *wrk_group_price (WrkGroupPrices *prices, WrkGroupKind kind, MdlOp op, double size_B, MdlFormat format,
                                  GError **error);
/* From pipeline rank `from` to `to`. */
const WrkPriced *wrk_group_send (WrkGroupPrices *prices, guint32 from, guint32 to, double size_B, GError **error);

/* What data-parallel ranks add to a pipeline rank's step. */
typedef struct {
  double before_s; /* its first turn is later */
  double slowed_s; /* its turns take longer beside it */
  double tail_s;   /* behind its last turn, until gradients are there */
  double after_s;  /* behind the optimizer */
  double each_s;   /* every micro-batch but the last takes so much longer (ZeRO 2) */
  double update_s; /* the optimizer */
  double band;     /* widest of its collectives */
  BaseSource source;
} WrkSyncTime;
/* A send between pipeline ranks that compute meanwhile. */
double wrk_send_beside_s (const WrkModel *model, const WrkUnits *units, const WrkPriced *send);
/* `model`: the configuration's own. */
gboolean wrk_sync_time (const WrkModel *model, const WrkUnits *units, WrkGroupPrices *prices, const WrkTurns *turns, guint32 lane,
                        WrkSyncTime *out, GError **error);

/* ---- memory ---- */

typedef struct WrkHeld WrkHeld;
/* Of a cut on `least` and on `most` ranks of data parallelism. Returned: full. */
WrkHeld *wrk_held_new (const WrkTrainingJob *job, const WrkClosedAsk *ask, guint32 least, guint32 most, GError **error);
/* Of a model as it is. Returned: full. */
WrkHeld *wrk_held_one (const WrkModel *model, const WrkMemoryTurns *turns);
void wrk_held_free (WrkHeld *held);
/* Fills what memory there is in *out. */
void wrk_held_at (const WrkHeld *held, guint32 dp, WrkClosedStep *out);

/* The unit `u` of a position, in the order of the forward pass. */
static inline const WrkUnitTime *
wrk_units_at (const WrkUnits *units, const WrkModel *model, guint32 position, guint32 u)
{
  const WrkCut *cut = &model->cut[position];
  guint32 front = cut->embedding ? 1 : 0;
  return &units->unit[u < front             ? WRK_UNIT_AT_EMBEDDING
                      : u - front >= cut->n ? WRK_UNIT_AT_HEAD
                                            : units->index[cut->first + u - front]];
}

#endif
