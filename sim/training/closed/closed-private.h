/* Inside of the closed form of a step: units of a model, pipelines of them, and what data-parallel ranks exchange. */
#ifndef TRAINING_CLOSED_PRIVATE_H
#define TRAINING_CLOSED_PRIVATE_H

#include "build-private.h"
#include "loader-private.h"
#include "training/closed.h"

/* A job with another cut, and the model that it makes. */
typedef struct {
  ColSystem system;
  TrnJob job; /* on it; shallow copies: they own nothing */
  TrnModel model;
} TrnVariant;
gboolean trn_variant_plan (const TrnJob *job, const TrnClosedQuery *query, TrnVariant *out, GError **error);
/* At what pace the job's loader feeds it. Borrowed from `paces`; NULL and *error where no way leads to its tier. */
const TrnLoaderPace *trn_closed_feed (TrnLoaderPaces *paces, const TrnVariant *variant, GError **error);

/* Whether a job has a closed form. FALSE and *error with the place and what to write instead. */
gboolean trn_closed_check (const TrnJob *job, GError **error);
/* Whether a cut can be what the job says of it; FALSE and *error with the place. */
gboolean trn_closed_takes (const TrnJob *job, const TrnClosedQuery *query, GError **error);

/* ---- stages: the ranks of a pipeline rank, as they lie on nodes and NVLink domains ---- */

/* Ranks of a row up to the first one of another domain, and of another node; G_MAXUINT32: the row ends before. `own`: 1 + the first
 * rank of a row with a slow NIC, which is like no other; 0: it has none. */
typedef struct {
  guint32 domain, node, own;
} TrnSpan;

/* Where nodes and domains begin among a job's ranks. Returned: full. */
typedef struct TrnEdges TrnEdges;
TrnEdges *trn_edges_new (const TrnJob *job);
void trn_edges_free (TrnEdges *edges);
/* Of `n` ranks from `first` on. */
TrnSpan trn_edges_span (const TrnEdges *edges, guint32 first, guint32 n);

typedef struct {
  guint32 first;                /* rank */
  TrnSpan span;                 /* zeros where it lies as stage 0 does */
  guint32 like;                 /* the first stage that lies alike: groups of both take the same */
  guint32 next;                 /* the first stage whose sends to the one behind it take the same */
  const struct TrnUnits *units; /* borrowed */
} TrnStage;
/* By pipeline rank, without units. Returned: full. */
TrnStage *trn_stages_new (const TrnEdges *edges, const TrnGrid *grid);

/* ---- units: an embedding, a layer, a head, on the ranks that share it ---- */

enum { TRN_LAYER_KINDS = 2 * MDL_PART_N, TRN_UNITS = 2 + TRN_LAYER_KINDS }; /* layers: by part, windowed or not */
enum { TRN_UNIT_AT_EMBEDDING = TRN_LAYER_KINDS, TRN_UNIT_AT_HEAD };

/* A pass of a unit by MdlTurnKind, as it runs between others of its kind: what of it computes, and what waits for whom. */
typedef struct {
  const TrnUnit *unit; /* NULL: the model has none */
  double time_s[MDL_TURN_KINDS];
  double part_s[MDL_TURN_KINDS][TRN_PART_N]; /* sums to time_s */
} TrnUnitTime;

typedef struct TrnUnits {
  TrnVariant variant;
  TrnPrices *prices; /* borrowed */
  TrnCosts *costs;
  TrnUnitTime unit[TRN_UNITS];
  guint8 *index;                 /* of `unit`, by layer of the whole model */
  double edge_s[MDL_TURN_KINDS]; /* that a turn takes on top of its units: first and last gathers of shards */
  double paired;                 /* a forward beside a backward takes so much of both in a row; 1 where none is paired */
  double tail_s;                 /* behind the last turn, until sharded gradients are there */
  double once_s;                 /* the first micro-batch takes so much more than the others */
  double band, wire_band;        /* of its works; widest of its collectives */
  BaseSource source;
  GHashTable *beside[MDL_TURN_KINDS]; /* TrnPriced -> what it and a turn do to each other (groups.c) */
  GPtrArray *asks;                    /* TrnAsk: all prices that it was made of; NULL: not known */
} TrnUnits;

/* By running a rank's program over few layers on the engine: the same laws, nothing said twice. `prices` are of the same grid, and
 * outlive the units, as `products` do (trn_products_new). NULL and *error as of prices. */
TrnUnits *trn_units_new (const TrnJob *job, const TrnClosedQuery *query, TrnPrices *prices, GHashTable *products, GError **error);
void trn_units_free (TrnUnits *units);
guint32 trn_unit_index (const TrnModel *model, guint32 layer);

/* ---- turns of a pipeline rank, from its units ---- */

/* By pipeline rank, how many times as long its compute takes for stragglers and jitter; NULL: none is slow. Returned: full. */
double *trn_slow_lanes (const TrnModel *model);
static inline double
trn_slow_of (const double *slow, guint32 lane)
{
  return slow != NULL ? slow[lane] : 1;
}
/* Seconds of a turn of each position. Returned: full. */
double *trn_turn_times (const TrnStage *stages, const TrnModel *model, const double *slow, MdlTurnKind kind);
/* Adds all that a rank's turns of one micro-batch are made of. */
void trn_lane_parts (const TrnUnits *units, const TrnModel *model, guint32 lane, double slow, double part_s[TRN_PART_N]);

/* ---- pipelines ---- */

/* The turns of all pipeline ranks. Chunks: mdl_schedule_chunks() a rank, chunk c of rank s at s x chunks + c. */
typedef struct {
  guint32 m;           /* micro-batches that were followed */
  double time_s;       /* from the first turn to the end of the last */
  double more_s;       /* of each micro-batch beyond m */
  double sends_s;      /* of time_s: what sends make it longer … */
  double sends_more_s; /* … and of more_s */
  double *end_s;       /* by rank: of its last turn */
  double *first_s;     /* by rank and chunk: the begin of its first forward pass */
  double *final_s;     /* by rank and chunk: the end of the turn that completes its gradients */
} TrnTurns;

typedef struct {
  const double *turn_s[MDL_TURN_KINDS]; /* by position of the chain */
  const double *send_s;                 /* by rank: to the next one; of the last, to the first */
  double paired;                        /* as of TrnUnits */
  gboolean blocks;                      /* sends keep the compute stream */
} TrnTurnsQuery;

/* How many micro-batches of m are followed: what lies beyond repeats, a round of the pipeline at a time. */
guint32 trn_turns_followed (const MdlPipeline *pipe);
/* Whether there are more than those; then a round less is followed too. */
gboolean trn_turns_repeat (const MdlPipeline *pipe);

/* All turns of a pipeline in an order in which each comes behind what it needs, whatever they take. `queued`: in that of
 * mdl_schedule_list(), and sends and receives of a rank wait for each other. Returned: full. */
typedef struct TrnSchedulePath TrnSchedulePath;
TrnSchedulePath *trn_schedule_path_new (const MdlPipeline *pipe, gboolean queued);
void trn_schedule_path_free (TrnSchedulePath *way);
const MdlPipeline *trn_schedule_path_pipe (const TrnSchedulePath *way);
guint32 trn_schedule_path_length (const TrnSchedulePath *way); /* turns */
/* By rank, what mdl_schedule_order() gives. Borrowed. */
GArray *const *trn_schedule_path_orders (const TrnSchedulePath *way);

/* Follows every turn; `pipe` has its own m, `way` those that are followed, `before` a round less, NULL where none is. Returned:
 * full. */
TrnTurns *trn_turns_new (const MdlPipeline *pipe, const TrnSchedulePath *way, const TrnSchedulePath *before,
                         const TrnTurnsQuery *query);
void trn_turns_free (TrnTurns *turns);

/* ---- gradients and parameters ---- */

/* Groups of a grid: its cut, and the rank at which it begins; `span`: of ranks that do not lie as the first ones. */
typedef struct {
  TrnClosedQuery query;
  TrnSpan span;
  guint32 first;
} TrnGroupsOf;
/* What groups of ranks take, remembered by size. `comms` are borrowed. */
typedef struct TrnGroupPrices TrnGroupPrices;
TrnGroupPrices *trn_group_prices_new (const TrnJob *job, TrnComms *comms, const TrnGroupsOf *of, GError **error);
void trn_group_prices_free (TrnGroupPrices *prices);
TrnPrices *trn_group_prices_all (TrnGroupPrices *prices); /* borrowed */
/* Of the groups of pipeline rank `pp`. */
const TrnPriced *trn_group_price (TrnGroupPrices *prices, guint32 pp, TrnGroupKind kind, MdlOp op, double size_B, MdlFormat format,
                                  GError **error);
/* From pipeline rank `from` to `to`. */
const TrnPriced *trn_group_send (TrnGroupPrices *prices, guint32 from, guint32 to, double size_B, GError **error);

/* A price that was asked for. It lives as long as the prices that it is of. */
typedef struct TrnAsk TrnAsk;
/* From now on each one asked for is put on the list (TrnAsk, borrowed), once; NULL: on none. */
void trn_group_prices_list (TrnGroupPrices *prices, GPtrArray *asks);
/* What these questions (TrnQuestion) were answered with; NULL: one is not of a group or a send. Returned: full, TrnAsk. */
GPtrArray *trn_group_prices_asked (TrnGroupPrices *prices, const GArray *questions);
const TrnGroupsOf *trn_ask_of (const TrnAsk *ask);
/* The same price of another cluster, whose groups of the same grid `there` are; NULL: it takes another time there, or is not to be
 * had. Looked for once for each `follower`, a number above 0; known: it was. */
TrnAsk *trn_ask_there (TrnAsk *ask, guint follower, TrnGroupPrices *there);
gboolean trn_ask_known (const TrnAsk *ask, guint follower);

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
} TrnSyncTime;
/* A send between pipeline ranks that compute meanwhile. */
double trn_send_beside_s (const TrnModel *model, const TrnUnits *units, const TrnPriced *send);
/* A pipeline rank of a configuration. */
typedef struct {
  const TrnModel *model;
  const TrnUnits *units; /* of its stage */
  TrnGroupPrices *prices;
  const TrnTurns *turns;
  guint32 lane, like; /* like: as of TrnStage */
} TrnSyncQuery;
gboolean trn_sync_time (const TrnSyncQuery *query, TrnSyncTime *out, GError **error);
/* All-reduces of the norm that gradients are clipped by, in seconds; 0 where they are not. */
gboolean trn_norm_time (const TrnModel *model, TrnGroupPrices *groups, double *out, GError **error);
/* Seconds of a pipeline rank's sends to the next one; of the last, to the first. Returned: full. NULL and *error as of prices. */
double *trn_stage_sends (const TrnModel *model, const TrnStage *stages, TrnGroupPrices *groups, GError **error);
/* `asks` with the prices that units were made of; NULL where those of one are not known. Takes the list. */
GPtrArray *trn_stage_asks (const TrnStage *stages, guint32 p, GPtrArray *asks);
/* A round of the model's local steps. FALSE and *error as of prices. */
gboolean trn_stage_round (const TrnModel *model, const TrnStage *stages, TrnGroupPrices *groups, TrnLocalResult *out,
                          GError **error);
/* A step inside a worker becomes the mean of a round. */
void trn_stage_longer (const TrnLocalResult *round, TrnClosedStep *step);

/* ---- memory ---- */

typedef struct TrnMemoryLine TrnMemoryLine;
/* Of a cut on `least` and on `most` ranks of data parallelism. Returned: full. */
TrnMemoryLine *trn_memory_line_new (const TrnJob *job, const TrnClosedQuery *query, guint32 least, guint32 most, GError **error);
/* Of a model as it is. Returned: full. */
TrnMemoryLine *trn_memory_line_one (const TrnModel *model, const TrnMemoryTurns *turns);
void trn_memory_line_free (TrnMemoryLine *held);
/* Fills what memory there is in *out. */
void trn_memory_line_at (const TrnMemoryLine *held, guint32 dp, TrnClosedStep *out);

/* The unit `u` of a position, in the order of the forward pass. */
static inline const TrnUnitTime *
trn_units_at (const TrnUnits *units, const TrnModel *model, guint32 position, guint32 u)
{
  const TrnStageLayers *cut = &model->cut[position];
  guint32 front = cut->embedding ? 1 : 0;
  return &units->unit[u < front             ? TRN_UNIT_AT_EMBEDDING
                      : u - front >= cut->n ? TRN_UNIT_AT_HEAD
                                            : units->index[cut->first + u - front]];
}

#endif
