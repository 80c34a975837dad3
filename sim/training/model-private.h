/* A training step of a model: how it is cut over ranks, what each cut takes, and the step as a task graph. */
#ifndef TRAINING_MODEL_PRIVATE_H
#define TRAINING_MODEL_PRIVATE_H

#include "collective/gpu.h"
#include "collective/moe.h"
#include "collective/send.h"
#include "models/kernel.h"
#include "models/layer.h"
#include "models/overlap.h"
#include "models/pipeline.h"
#include "training/training.h"

/* ---- the grid of ranks ---- */

typedef enum { TRN_DIM_TP, TRN_DIM_CP, TRN_DIM_DP, TRN_DIM_PP, TRN_DIM_N } TrnDim;

/* Ranks by coordinates; neighbours along a dimension are `stride` apart. Experts cut the ranks of a pipeline rank anew: its ranks
 * in the order tp, cp, dp (tp fastest) are etp x ep x edp. */
typedef struct {
  guint32 size[TRN_DIM_N], stride[TRN_DIM_N];
  guint32 ep, etp, edp;
  guint32 copies; /* 2: pipeline ranks s and pp-1-s hold the same stages, and are one in the groups of data parallelism */
  guint32 shard;  /* ranks of dp x cp that share one copy of sharded state; all of them but with hsdp */
  guint32 n;      /* all */
  guint32 first;  /* of them: 0, but where a closed form looks at one pipeline rank alone */
} TrnGrid;

/* Ranks that talk together. SHARD: of dp x cp, those that share one copy; REPLICA: of dp x cp, those that hold the same shard. */
typedef enum {
  TRN_GROUP_TP,
  TRN_GROUP_CP,
  TRN_GROUP_EP,
  TRN_GROUP_ETP,
  TRN_GROUP_DP, /* dp x cp: gradients of what is not an expert's */
  TRN_GROUP_SHARD,
  TRN_GROUP_REPLICA,
  TRN_GROUP_EDP,   /* of the experts' gradients */
  TRN_GROUP_MODEL, /* all ranks of a replica: tp x cp x pp */
  TRN_GROUP_N
} TrnGroupKind;
extern const char *const trn_group_names[TRN_GROUP_N]; /* "tp" … */

/* The rank of pipeline rank `pp` whose place among its tp x cp x dp ranks is `local`, tp fastest. */
guint32 trn_grid_rank (const TrnGrid *grid, guint32 pp, guint32 local);
guint32 trn_grid_locals (const TrnGrid *grid); /* tp x cp x dp */
guint32 trn_grid_group_size (const TrnGrid *grid, TrnGroupKind kind);
/* The ranks of the group that `local` of pipeline rank `pp` is in, in order; `ranks` is emptied first. */
void trn_grid_group (const TrnGrid *grid, TrnGroupKind kind, guint32 pp, guint32 local, GArray *ranks);
/* The pipeline rank that holds the same stages; itself where none does. */
guint32 trn_grid_partner (const TrnGrid *grid, guint32 pp);
/* Locals that stand one for each group of a kind on a pipeline rank, the first of each, ascending. */
void trn_grid_leaders (const TrnGrid *grid, TrnGroupKind kind, GArray *locals);

/* ---- the plan ---- */

/* What data-parallel ranks do with gradients and parameters. */
typedef enum {
  TRN_SYNC_NONE,      /* one rank */
  TRN_SYNC_REPLICAS,  /* one process: parameters go out from the first GPU in each pass, gradients come back (DataParallel) */
  TRN_SYNC_DDP,       /* all-reduce in buckets */
  TRN_SYNC_OPTIMIZER, /* reduce-scatter, optimizer sharded, all-gather: ZeRO 1, Megatron's distributed optimizer */
  TRN_SYNC_GRADIENTS, /* the same, gradients sharded too: reduced each micro-batch (ZeRO 2) */
  TRN_SYNC_SHARDS     /* parameters sharded too, gathered layer by layer: FSDP, ZeRO 3 */
} TrnSync;

/* What the software makes of the times of kernels (models/software.h). */
typedef struct {
  double efficiency, attention, optimizer;         /* what compute, fused attention, and the optimizer are divided by */
  gboolean shows;                                  /* the host's launches count, `kernel_s` each */
  double kernel_s, collective_s, shards_s, sync_s; /* sync_s 0: as the kernels' constants have it */
  double replica_s;                                /* to make one of a module for another GPU, and to start its thread */
  double step_s;                                   /* that nothing of a step hides */
  gboolean queues_sends;                           /* of this schedule: one stream for all sends and receives of a rank */
  double slowest;                                  /* compute of the slowest rank over the mean */
  double first_bucket_B;                           /* gradients that are all-reduced first; 0: as all */
  double bucket, bucket_per_rank; /* parameters reduce-scattered together: the greater one; HUGE_VAL: all of a chunk */
  BaseSource source;
  const MdlSoftwareRow *row; /* that holds; NULL: none, or the scenario says the efficiency */
  unsigned differs;          /* from what runs: bits of models/software.h */
  double error;              /* half-width of the efficiency's band, relative */
} TrnSoftware;

/* One position of the pipeline's chain. */
typedef struct {
  guint32 first, n; /* layers */
  gboolean embedding, head;
} TrnStageLayers;

/* A type of GPU among the ranks'. */
typedef struct {
  MdlGpu gpu;
  guint32 ranks;
  guint32 first; /* of their GPUs, its global number */
  double pace;   /* a layer's time over that of the slowest type */
} TrnGpuType;

/* Layers with given times: a step of units that no model of kernels makes (layers.c). */
typedef struct TrnLayers TrnLayers;

typedef struct {
  const TrnJob *job;
  const TrnSpec *spec;
  MdlLlm llm;
  MdlLlmCount count;
  TrnLayers *layers; /* NULL: there is a model */
  TrnGrid grid;
  MdlPipeline pipe;
  TrnStageLayers *cut; /* by position of the chain */
  guint32 n_positions;
  guint32 mtp;         /* modules of multi-token prediction, behind the head */
  guint32 m;           /* micro-batches of a replica and step */
  MdlLayerQuery query; /* of a rank; `accumulate` as of the second micro-batch */
  TrnSync sync;
  MdlGpu gpu;    /* that kernels are priced on: of several types the slowest */
  GArray *types; /* TrnGpuType, where the ranks have several; NULL: one */
  TrnSoftware software;
  gboolean overlap_tp;    /* collectives of tensor parallelism run part by part beside products */
  gboolean overlap_sends; /* sends between stages run beside compute */
  MdlFormat parameters, gradients, reduce, gather, master, moment, attention;
  gboolean only_narrow;  /* the layers' matrices are held as their products read them, and in no other format */
  guint32 again_layers;  /* the first layers of each chunk that are computed again whole */
  gboolean *again_stage; /* by pipeline rank: whether anything is computed again; NULL: on all */
} TrnModel;

/* Whether ranks hold parts of gradients, optimizer or parameters. */
gboolean trn_model_parts (const TrnModel *model);
/* Reads, completes and checks what the workload asks for. FALSE and *error, with the place, where sizes do not divide or ranks are
 * more than GPUs. `model` is zeroed by the caller; trn_model_clear after it, also on failure. */
gboolean trn_model_plan (const TrnJob *job, TrnModel *model, GError **error);
void trn_model_clear (TrnModel *model);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TrnModel, trn_model_clear)

/* again.c: what of a unit of a position is computed again, and whether its activations lie in the host's memory between its passes.
 * trn_model_read_again() once layers are dealt out; FALSE and *error, with the place. */
typedef enum { TRN_AGAIN_MODULES, TRN_AGAIN_LAYER, TRN_AGAIN_NOTHING, TRN_AGAIN_N } TrnAgain; /* those of the query; all of it */
gboolean trn_model_read_again (TrnModel *model, GError **error);
TrnAgain trn_model_again (const TrnModel *model, guint32 position, guint32 unit);
unsigned trn_again_modules (const TrnModel *model, TrnAgain again); /* MdlModule bits */
gboolean trn_model_offloads (const TrnModel *model, guint32 position, guint32 unit);

/* kinds.c: what recurrent layers and a vision encoder need of the layout and of the workload. FALSE and *error, with the place.
 * Images of a sequence and patches of each, 0 where the workload has none. */
gboolean trn_model_check_kinds (const TrnModel *model, GError **error);
void trn_images_of (const MdlLlm *llm, const TrnModelSpec *spec, double *images, double *patches);

/* methods.c: whether the workload has them, and whether they can be. FALSE and *error, with the
 * place. */
gboolean trn_local_steps (const TrnModel *model);
gboolean trn_local_check (const TrnModel *model, GError **error);
TrnCompression trn_compression (const TrnModel *model);
gboolean trn_compress_check (const TrnModel *model, GError **error);

/* keys.c: keys that go together with a `model`, and with `layers`; stragglers. */
gboolean trn_model_check_keys (const TrnJob *job, GError **error);
gboolean trn_layers_check_keys (const TrnJob *job, GError **error);
gboolean trn_model_check_stragglers (const TrnModel *model, GError **error);
/* Whether buckets hold all gradients again, since these are not views of them. */
gboolean trn_model_copies_gradients (const TrnModel *model);
/* Whether gradients are clipped by a norm over all ranks. */
gboolean trn_model_clips (const TrnModel *model);
/* How many times as long the compute of pipeline rank `pp` takes, by the slowest of its ranks: stragglers and jitter. */
double trn_model_slow (const TrnModel *model, guint32 pp);
/* gpus.c: fills gpu and types, once the compute format is known. */
void trn_model_take_gpus (TrnModel *model);
/* How many ranks in a row from `rank` on, at least 1, are on its node. */
guint32 trn_model_row (const TrnModel *model, guint32 rank);
/* Compute of pipeline rank `pp` over that of the slowest type: the slowest of its ranks' GPUs. 1 where there is one type. */
double trn_model_gpu_pace (const TrnModel *model, guint32 pp);
/* Dense peak of the compute format, of the mean rank. */
double trn_model_peak_flop_per_s (const TrnModel *model);
/* "24 h100_sxm and 8 a100_80_sxm: ranks wait …". Returned: full; NULL where there is one type. */
char *trn_model_mixed (const TrnModel *model);
/* software.c: fills software and overlap_tp; without constants of frameworks, as if there were none. */
void trn_model_take_software (TrnModel *model);
/* *out: overwritten; its time is 0. Texts are borrowed from the constants. */
void trn_model_efficiency (const TrnModel *model, TrnEfficiency *out);
/* Bytes at which a bucket of gradients is full, on pipeline rank `lane`; `first`: of the step. HUGE_VAL: all of a chunk in one. */
double trn_model_bucket_B (const TrnModel *model, guint32 lane, gboolean first, double element_B);

/* layout.c: deals layers out to the positions of the chain. */
gboolean trn_model_cut (TrnModel *model, GError **error);
/* Units of a position: embedding, layers, head, modules of multi-token prediction. */
guint32 trn_cut_units (const TrnModel *model, guint32 position);
/* Whether a pipeline rank holds a position of the chain. */
gboolean trn_model_holds (const TrnModel *model, guint32 pp, guint32 position);

/* ---- what communication takes ---- */

/* A collective or a send, priced: what one group takes alone, and what its traffic and that of its like (other groups of the same
 * kind that run at the same time) load. */
typedef struct {
  ColAnswer coll;        /* of the slowest group */
  guint operation;       /* as the fold numbers it */
  const GArray *all;     /* ColLoad of all that run together, of what is alike one; NULL until folded, and where it takes no time */
  const GArray *loads;   /* of them those that can bind */
  double time_s;         /* of all together */
  guint32 n_groups;      /* that run together */
  MdlOverlapComm demand; /* of one GPU */
  const char *does;      /* static: what it does, in place of an operation of NCCL; NULL: that */
  const char *library;   /* static: that of the experts' exchange, in place of an algorithm of NCCL; NULL: NCCL */
} TrnPriced;

/* Communicators and sends on a cluster, each made once however many grids and sizes ask for it. `system` and what it points to
 * outlive them. Returned: full. */
typedef struct TrnComms TrnComms;
TrnComms *trn_comms_new (const ColSystem *system);
void trn_comms_free (TrnComms *comms);
ColRoutes *trn_comms_routes (const TrnComms *comms); /* borrowed */
/* `gpus`: guint32, in the order of ranks. Borrowed; NULL and *error where ranks cannot reach each other. */
ColComm *trn_comms_find (TrnComms *comms, const GArray *gpus, GError **error);
/* `ends`: guint32, all senders, then as many receivers. Borrowed; NULL and *error likewise. */
const ColSendPairs *trn_comms_pairs (TrnComms *comms, const GArray *ends, GError **error);

typedef struct TrnPrices TrnPrices;

/* `model` is borrowed. `fold`: one link stands for all that do the same in the whole step. `comms`: borrowed, of its cluster, to
 * share communicators with other prices; NULL: its own. */
TrnPrices *trn_prices_new (const TrnModel *model, gboolean fold, TrnComms *comms);
void trn_prices_free (TrnPrices *prices);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrnPrices, trn_prices_free)
/* Traffic of others that goes on beside the step (ColLoad, ascending), before it is folded; then what of it can bind, borrowed, by
 * the order of these calls. */
void trn_prices_concurrent (TrnPrices *prices, const GArray *loads);
const GArray *trn_prices_side_loads (const TrnPrices *prices, unsigned i);
/* Once, when all questions of the step have been asked: from then on answers have their loads, and no new ones are given. */
void trn_prices_fold (TrnPrices *prices);

/* What was asked of prices. A collective; a send: `kind` -1, from `from` to `to`; experts: -2 less the operation, `size_B` are
 * tokens; copies with hosts: see trn_prices_host. */
typedef struct {
  gint32 kind;
  guint32 from, to; /* of a collective: pipeline rank and operation */
  gint32 format;
  double size_B;
} TrnQuestion;
void trn_priced_free (gpointer priced);
/* TrnQuestion -> TrnPriced, owned or borrowed. Returned: full. */
GHashTable *trn_priced_table (gboolean owns);
/* Of closed forms, whose grids have most groups in common: takes `what`, all that prices of a kind of groups depend on; its number,
 * the same for what is equal. */
guint trn_comms_number (TrnComms *comms, GBytes *what);
/* Takes a price, which then lives as long as the communicators; those of such groups are found again, their number in place of the
 * kind. */
void trn_comms_own (TrnComms *comms, TrnPriced *priced);
void trn_comms_keep (TrnComms *comms, const TrnQuestion *question, TrnPriced *priced);
TrnPriced *trn_comms_recall (const TrnComms *comms, const TrnQuestion *question);
/* From now on each question is appended to `list` (TrnQuestion, borrowed); NULL: to none. */
void trn_prices_list (TrnPrices *prices, GArray *list);
/* The same question gets the same answer, which is borrowed. NULL and *error where ranks cannot reach each other. A group of one
 * takes no time. */
const TrnPriced *trn_prices_coll (TrnPrices *prices, TrnGroupKind kind, guint32 pp, MdlOp op, double size_B, MdlFormat format,
                                  GError **error);
/* Tokens to the experts of a pipeline rank and back, by the library that the model's dispatcher names. NULL and *error, with the
 * place, likewise and where that library cannot run on these ranks. */
const TrnPriced *trn_prices_experts (TrnPrices *prices, guint32 pp, const MdlWorkColl *coll, GError **error);
/* Warns of settings for buffers that have no effect on collectives that were priced. */
void trn_prices_warn (const TrnPrices *prices, ColRunInfo *info);
/* Whether all groups of experts of a pipeline rank can do that. FALSE and *error likewise. */
gboolean trn_prices_can_exchange (TrnPrices *prices, guint32 pp, const ColMoeRequest *request, GError **error);
/* experts.c: what is asked of that library; FALSE and *error at the dispatcher, which takes `why`; size of an all-to-all that sends
 * as much over the NIC, or on one node over NVLink; the library's time in place of the all-to-all's. */
ColMoeRequest trn_moe_request (const TrnModel *model, const MdlWorkColl *coll);
gboolean trn_moe_refuse (const TrnModel *model, GError *why, GError **error);
double trn_moe_size_alike (const MdlMoeCost *cost, double ranks, double nodes);
void trn_moe_take (const ColMoeAnswer *answer, ColAnswer *coll);
/* All ranks of pipeline rank `from` send to theirs of `to`. */
const TrnPriced *trn_prices_send (TrnPrices *prices, guint32 from, guint32 to, double size_B, GError **error);

/* Copies of `size_B` of each rank of a pipeline rank, all at once: OUT from the GPU to the host's memory, IN back, READ from drives
 * to that memory, WRITE back. NULL and *error, with the place, where a node has no such memory or drive. */
typedef enum { TRN_HOST_OUT, TRN_HOST_IN, TRN_HOST_READ, TRN_HOST_WRITE } TrnHostCopy;
/* The same as StoCopy of all ranks, not yet added up. Returned: full. */
GPtrArray *trn_host_copies (const TrnModel *model, guint32 pp, TrnHostCopy way, double size_B, GError **error);
const TrnPriced *trn_prices_host (TrnPrices *prices, guint32 pp, TrnHostCopy way, double size_B, GError **error);

/* ---- local steps (methods/local_steps.c) ---- */

/* What a round is priced by: elements of what is trained on a pipeline rank, and collectives of its groups. */
typedef struct {
  double (*elements) (void *user, guint32 pp);
  const TrnPriced *(*price) (void *user, guint32 pp, TrnGroupKind group, MdlOp op, double size_B, MdlFormat format,
                             GError **error);
  void *user;
} TrnLocalPrices;

/* The exchange of a round and the outer update; times that depend on a step are 0. */
gboolean trn_local_round (const TrnModel *model, const TrnLocalPrices *prices, TrnLocalResult *out, GError **error);

/* What a step is longer by on average, and that by less or more at the ends of the exchange's band. */
typedef struct {
  double waits_s, updates_s, less_s, more_s;
} TrnLocalLonger;
/* Of steps of step_s; fills inner_s and wait_s of the round. */
TrnLocalLonger trn_local_longer (TrnLocalResult *round, double step_s);

/* ---- what compute takes ---- */

/* A stretch of a pass: work of the compute stream, or a collective that it meets. */
typedef struct {
  gboolean is_coll;
  /* work */
  double time_s;
  double kernels;           /* launches */
  double square_s2;         /* of their times, summed */
  double syncs;             /* of the host with the GPU, behind it or behind its rounds */
  double rounds;            /* above 1: launched in so many parts, one after the other */
  double memory_s, start_s; /* of time_s: kernels that memory, and that starting alone bounds */
  double framework_s;       /* of time_s: what the framework adds to the kernels; below 0 where they are faster than modelled */
  gboolean recomputed;      /* it repeats a forward pass */
  gboolean delayed;         /* nothing but its gradients' reduction waits for it; what others wait for comes before */
  guint first_work, last_work; /* of its pass */
  MdlOverlapCompute demand;
  /* a collective */
  const TrnPriced *priced;
  TrnGroupKind group;
  int after;  /* item that it follows; -1: the first of the pass begins with it */
  int before; /* item that waits for it; the number of items: the end of the pass */
  double repeat;
  int with;       /* item that it is cut up with; -1: none */
  unsigned parts; /* that both are cut into */
  gboolean leads; /* it comes before that item, else behind */
} TrnItem;

typedef enum { TRN_UNIT_EMBEDDING, TRN_UNIT_LAYER, TRN_UNIT_HEAD, TRN_UNIT_MTP } TrnUnitKind;

/* A parameter tensor's part on a rank. */
typedef struct {
  double elements, trained; /* trained: elements of it, or of its adapters */
  double columns;           /* of one row; 1: a vector */
  gboolean expert;
} TrnTensor;

/* Items of the passes of one unit of a model (a layer, the embedding, the head) on a pipeline rank, by MdlTurnKind. */
typedef struct {
  GArray *pass[MDL_TURN_KINDS];         /* TrnItem */
  double pass_s[MDL_TURN_KINDS];        /* of compute, summed */
  double flop[MDL_TURN_KINDS];          /* as mfu counts, recomputed ones too */
  double kernel_s[MDL_TURN_KINDS];      /* the kernel that runs at any moment, on average */
  double dense, expert;                 /* parameters of a rank, without and in experts */
  double trained_dense, trained_expert; /* of them, or of the adapters beside them, those that are trained */
  GArray *tensor;                       /* TrnTensor, in the order in which they are registered */
} TrnUnit;
void trn_unit_free (gpointer unit);

/* layers.c: the source of units where times are given. What is asked of ranks and layers, checked, into `model`, but for the
 * pipeline; then, with that, which layers a position holds. FALSE and *error, with the place. */
gboolean trn_layers_plan (TrnModel *model, GError **error);
gboolean trn_layers_cut (TrnModel *model, GError **error);
void trn_layers_free (TrnLayers *layers);
/* A layer of a position; from as many on as it has: all of them in one, which sends no gradients. Borrowed. */
const TrnUnit *trn_layers_unit (const TrnModel *model, guint32 position, guint32 unit);
/* B that a rank sends on behind a position for a micro-batch. */
double trn_layers_sent_B (const TrnModel *model, guint32 position);

/* A work or a collective as it was priced, for who wants to see how the times come about. */
typedef struct {
  guint32 pp;
  MdlPart part;  /* MDL_PART_N: the optimizer */
  guint32 layer; /* of a network of operations, the first that is priced alike */
  gboolean windowed, first;
  MdlTurnKind turn;
  MdlWork work;
  double time_s;           /* of all of the work's kernels, by this software */
  MdlKernelCost cost;      /* of compute */
  const TrnPriced *priced; /* of a collective */
} TrnPricedWork;

/* Whether the works of a pass belong to a turn of the schedule. */
gboolean trn_pass_in_turn (MdlPass pass, MdlTurnKind turn);

typedef struct TrnCosts TrnCosts;
TrnCosts *trn_costs_new (const TrnModel *model, TrnPrices *prices);
void trn_costs_free (TrnCosts *costs);
/* From now on each price is also appended to `told` (TrnPricedWork), which is borrowed. */
void trn_costs_record (TrnCosts *costs, GArray *told);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrnCosts, trn_costs_free)
/* Prices of matrix products, for many costs on one GPU by the same constants: from now on each is looked for there first. Returned
 * of the first: full; borrowed by the second. */
GHashTable *trn_products_new (void);
void trn_costs_remember (TrnCosts *costs, GHashTable *products);
/* A unit on a pipeline rank; `layer` of a layer. Borrowed; NULL and *error as of prices. */
const TrnUnit *trn_costs_unit (TrnCosts *costs, guint32 pp, TrnUnitKind kind, guint32 layer, GError **error);
/* The same where not what the query says is computed again. */
const TrnUnit *trn_costs_unit_again (TrnCosts *costs, guint32 pp, TrnUnitKind kind, guint32 layer, TrnAgain again, GError **error);
/* The model's first layer, where it differs from others: there is no sum that fused code could add in its norm; the first operation
 * of a network has no gradient of its input. */
gboolean trn_is_first_fused (const TrnModel *model, guint32 layer);
/* What the host takes; 0 where that never shows. */
typedef struct {
  double kernel_s, coll_s, shards_s; /* to queue a kernel, a collective, and a gather or scatter of shards */
  double replicas_s;                 /* to make all replicas of one process */
  double sync_s;                     /* to go on once the GPU has done what it waits for */
  gboolean first;                    /* a pass waits for its first kernel's launch: it is not queued beside work before it */
} TrnHost;
void trn_costs_host (const TrnCosts *costs, TrnHost *out);
/* The optimizer's works on a rank that updates so many parameters, and holds the gradients of so many in so many tensors. */
double trn_costs_optimizer_s (TrnCosts *costs, guint32 pp, double updated, double held, double tensors);
/* Half-width of the band of what was priced so far, and its weakest source. An efficiency was fitted through the same kernels, so
 * that it takes their error in: the wider of the two counts, and both where the row is of other GPUs or another format. */
double trn_costs_band (const TrnCosts *costs, BaseSource *source);
/* A pass over memory of so many bytes read and written. */
double trn_costs_memory_s (const TrnCosts *costs, double read_B, double written_B);
/* Elements of the adapters beside a matrix of a rank; 0 where it has none. */
double trn_adapter_elements (const TrnModel *model, const MdlTensor *tensor);

/* ---- memory ---- */

/* What each pipeline rank holds at its fullest moment: TrnMemory, appended to `stages`. */
void trn_model_memory (const TrnModel *model, GArray *stages);

/* The same in two: what turns make, and that with the states. Where trn_memory_turns_of_any_zero(), models that differ in `zero`
 * alone (0 to 2) have the turns in common. `orders`: by pipeline rank, of mdl_schedule_order(); NULL: not known. `seen`: where
 * turns are remembered by all numbers that they depend on, whatever the machine; NULL: nowhere. Returned: full, g_free. */
typedef struct TrnMemoryTurns TrnMemoryTurns;
typedef struct TrnMemoryCache TrnMemoryCache;
TrnMemoryTurns *trn_memory_turns_new (const TrnModel *model, GArray *const *orders, TrnMemoryCache *seen);
/* Of any models, by one thread at a time; begins anew at some 8 MiB. Returned: full. */
TrnMemoryCache *trn_memory_cache_new (void);
void trn_memory_cache_free (TrnMemoryCache *seen);
gboolean trn_memory_turns_of_any_zero (const TrnModel *model);
/* Communicators of a rank that hold buffers; B that the ranks' GPUs leave to programs, 0: not known. */
double trn_memory_communicators (const TrnModel *model);
double trn_memory_capacity_B (const TrnModel *model);
void trn_memory_with (const TrnModel *model, const TrnMemoryTurns *turns, GArray *stages);
/* Whether gathered parameters and gradients are copied out of and into buffers of shards (Megatron-FSDP's are used in place). */
gboolean trn_model_fsdp_copies (const TrnModel *model);
/* Sharded gradients of a rank with several chunks leave once for each row of micro-batches through a chunk, not behind each. */
gboolean trn_model_reduces_in_rows (const TrnModel *model);
/* Format of the gradients that a rank ends up with. */
MdlFormat trn_model_held_gradients (const TrnModel *model);
/* What an allocator that holds `roomy_B` takes where there are `capacity_B`, 0: not known, and it can do with `least_B`. */
double trn_memory_taken_B (double roomy_B, double least_B, double capacity_B);
/* B of a parameter that the optimizer keeps: master copy and moments. */
double trn_model_moments_B (const TrnModel *model);
/* What a checkpoint saves, each part once, and what all ranks hold of it. Of adapters alone where the rest is frozen. */
void trn_model_state (const TrnModel *model, const GArray *stages, double *state_B, double *restore_B);

/* The one of `stages` that is fullest. */
const TrnMemory *trn_memory_fullest (const GArray *stages);
/* The smallest change that makes a model fit which does not, as text. Returned: full. */
char *trn_memory_advice (const TrnModel *model);

#endif
