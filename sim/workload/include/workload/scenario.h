/* Scenario files: which cluster, what work, and how it is run. */
#ifndef WORKLOAD_SCENARIO_H
#define WORKLOAD_SCENARIO_H

#include "workload/checkpoint.h"
#include "workload/copies.h"
#include "workload/goodput_spec.h"
#include "workload/io.h"
#include "workload/loader.h"
#include "workload/model_spec.h"
#include "workload/schedule.h"

G_BEGIN_DECLS

typedef enum { WRK_KIND_COLLECTIVE, WRK_KIND_TRANSFER, WRK_KIND_TRAINING, WRK_KIND_IO, WRK_KIND_SERVING } WrkKind;
extern const BaseName wrk_kind_names[];

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseEnum op, dtype, algo, proto;
  BaseNum bytes;
  BaseNum ranks;          /* default: all GPUs of the cluster */
  BaseNum repeat;
  BaseNum root;
  BaseNum communicators;  /* made before, one after the other; absent: not asked */
} WrkCollectiveSpec;

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseStr from, to;       /* one device, or several: "gpu[0-3]", "gpu0,gpu2" */
  BaseNum bytes, count;   /* count copies of each pair at the same time */
  BaseEnum path;          /* WrkPath */
  BaseEnum pairs;         /* 0: matched, 1: all */
  BaseEnum by;            /* WrkBy */
  BaseEnum memory;        /* 0: pinned, 1: pageable */
  BaseBool both_ways, queued;
  BaseNum in_flight;      /* at a storage at an end */
} WrkTransferSpec;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum count;
  BaseNum forward, backward;  /* s a micro-batch */
  BaseNum weight;             /* s of backward that make the gradients of weights; default: half */
  BaseNum gradient;           /* B reduced over the data-parallel ranks */
  BaseNum activation;         /* B sent to the next stage where a boundary follows this layer */
  BaseNum kernels, syncs;    /* of the forward pass; see WrkLaunchSpec */
} WrkLayerSpec;
typedef struct {
  BaseHead head;
  BaseNum dp, pp, vp;
  BaseNum tp, cp, ep, zero; /* of a model */
  BaseBool sp;
} WrkParallelSpec;
/* Who exchanges the gradients of data-parallel ranks that share nothing. */
typedef enum { WRK_DDP_PROCESSES, WRK_DDP_REPLICAS } WrkDdpKind;
typedef struct {
  BaseHead head;
  BaseEnum kind;   /* WrkDdpKind */
  BaseEnum gather; /* of replicas: 0 the loss, 1 the outputs, whose loss the first GPU computes */
  BaseNum bucket;
  BaseBool overlap;
} WrkDdpSpec;
/* Times of the host of a rank, of layers with given times. */
typedef struct {
  BaseHead head;
  BaseNum kernel, sync;
} WrkLaunchSpec;
typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseList layers;            /* WrkLayerSpec */
  BaseNum micro_batches;
  WrkParallelSpec parallel;
  WrkDdpSpec ddp;
  BaseEnum schedule;
  WrkLaunchSpec host;
  BaseNum optimizer;          /* s at the end of a step */
  BaseBool p2p_overlap;       /* sends between stages beside compute (default true) */
  BaseEnum algo, proto;       /* of the gradient all-reduce */
  BaseNum communicators;      /* as of a collective */
  WrkModelSpec model;
  WrkLoaderSpec loader;
  WrkCheckpointSpec checkpoint;
  WrkFailuresSpec failures;
} WrkTrainingSpec;

typedef struct {
  BaseHead head;
  const BaseYamlNode *topology; /* a name, or a topology inline */
  BaseNum nodes;
  BaseNum gpus_per_node;        /* uses fewer of a node */
  BaseStr calibration;
  BaseEnum library;             /* nccl | plain */
  BaseEnum launch;              /* MdlLaunch */
} WrkClusterSpec;

typedef struct {
  BaseHead head;
  BaseStr name, description;
  WrkClusterSpec cluster;
  const BaseYamlNode *workload;
  const BaseYamlNode *jobs;     /* several in place of `workload` */
  const BaseYamlNode *nccl, *degrade, *background, *report;
  BaseNum seed;
} WrkScenarioSpec;

extern const BaseSchema wrk_schema_scenario, wrk_schema_collective, wrk_schema_transfer, wrk_schema_training,
  wrk_schema_parallel;

typedef struct {
  gboolean has_seed;
  guint64 seed;                 /* wins over the file's */
  const char *const *sets;      /* "path=value", ends with NULL; paths as in the scenario; `topology.…` addresses the topology */
  gboolean has_mode, has_steps;
  WrkMode mode;
  WrkSteps steps;
  gboolean no_fold;             /* a model's groups that are alike load every link one by one */
  gboolean no_interference;     /* as of WrkSettings */
  gboolean switches_follow;     /* as of CluLoadOptions */
  gboolean want_terms;          /* of a training step of a model: result->training.terms */
  gboolean any_cut;             /* of a model: its cut stands for others that a WrkClosed is asked for; it is not to be run */
} WrkScenarioOptions;

/* A scenario read, checked, with its cluster built and its library loaded. */
typedef struct WrkScenario WrkScenario;

/* Loads `library` (a calibration) through a callback, since calibrations belong to a layer that this one does not see. */
typedef const MdlLibrary *(*WrkLibraryLoad) (void *user, const char *name, const char *from, const char *gpu_type,
                                              const char *nccl, GPtrArray *inputs, BaseDiag *warnings, GError **error);

/* Reads, checks and builds all but the run. `load` is called where the library is not the plain one, and may be NULL where that
 * is known (kind `io` then goes without what paths to GPUs add). NULL and *error (BASE_ERROR_INPUT, all errors of the file) on
 * failure. Returned: full. */
WrkScenario *wrk_scenario_load (const char *path, const BaseLookup *lookup, const WrkScenarioOptions *options,
                                WrkLibraryLoad load, void *user, GError **error);
/* The same from memory; `name` stands for the path in messages, and names are looked up beside it. */
WrkScenario *wrk_scenario_load_data (const char *name, const char *bytes, gsize n_B, const BaseLookup *lookup,
                                     const WrkScenarioOptions *options, WrkLibraryLoad load, void *user, GError **error);
void wrk_scenario_free (WrkScenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkScenario, wrk_scenario_free)

/* Whether it has `jobs` in place of one workload. */
gboolean wrk_scenario_has_jobs (const WrkScenario *scenario);
const char *wrk_scenario_name (const WrkScenario *scenario);
const char *wrk_scenario_description (const WrkScenario *scenario); /* NULL if none */
const GPtrArray *wrk_scenario_plots (const WrkScenario *scenario); /* char *, pictures that `report` asks for; none: all */
WrkKind wrk_scenario_kind (const WrkScenario *scenario);
const Clu *wrk_scenario_cluster (const WrkScenario *scenario);
const WrkSettings *wrk_scenario_settings (const WrkScenario *scenario);
guint64 wrk_scenario_seed (const WrkScenario *scenario);
const GPtrArray *wrk_scenario_inputs (const WrkScenario *scenario); /* BaseYaml *, the scenario first */
const BaseDiag *wrk_scenario_warnings (const WrkScenario *scenario);

/* ---- results: names that are not said to be owned are borrowed from the scenario ---- */

/* What one class of links carried, its busiest member first in mind. */
typedef struct {
  const char *link_class;
  char *busiest;               /* name of the resource, owned */
  double utilisation;          /* of the busiest over the run */
  double bytes;                /* all members together */
} WrkLinkUse;

typedef struct {
  char *from, *to;             /* owned */
  double bytes, count;
  unsigned pairs, stripes;     /* pairs that were named; drives that a copy is striped over */
  double part_B;               /* of the slowest copy: what one drive gets of its bytes, else all of them */
  double time_s, time_lo_s, time_hi_s, rate_Bps; /* rate of one of the copies */
  const char *transport, *path_class, *path; /* "fastest" resolved */
  char *bottleneck;            /* owned: resource's name; NULL when nothing is crossed */
  char bound_by[64];
  GPtrArray *copies;           /* WrkCopy: of each pair one; NULL: nothing is copied */
  double wire_rate_Bps;        /* of the slowest, as all below: what its route carries alone */
  CluRoute route;              /* its arrays are references */
  MdlCollCost cost;
  BaseSource provenance;
} WrkTransferResult;

typedef enum {
  WRK_PART_COMPUTE, WRK_PART_EXPOSED_TP, WRK_PART_EXPOSED_DP, WRK_PART_EXPOSED_PP, WRK_PART_EXPOSED_CP, WRK_PART_EXPOSED_EP,
  WRK_PART_BUBBLE, WRK_PART_LAUNCH_GAP, WRK_PART_COPY_WAIT, WRK_PART_STRAGGLER_WAIT, WRK_PART_OPTIMIZER, WRK_PART_DATA_STALL,
  WRK_PART_CHECKPOINT, WRK_PART_N
} WrkPart;
extern const char *const wrk_part_names[WRK_PART_N]; /* "compute", "exposed_tp" … */

/* Device memory of a rank of one pipeline stage at its fullest moment. */
typedef struct {
  unsigned stage;
  guint32 rank;                /* the first of those that are alike */
  /* B; these sum to the total */
  double weights_B, gradients_B, optimizer_B, activations_B;
  double buffers_B;            /* gathered parameters, gradients on their way, boundaries of stages, communicators */
  double other_B;              /* libraries' workspace, fragmentation, the driver's context */
  double allocated_B;          /* what the framework's allocator gives out */
  double reserved_B;           /* what it takes from the GPU: fragmentation too */
  double total_B;              /* what the GPU has less: context and communicators too */
  double capacity_B;           /* that it has; 0: not known */
  double in_flight;            /* activations of chunks that are kept at a time, at most */
  gboolean fits;
} WrkMemory;
/* The largest of the terms: "weights", "gradients", "optimizer", "activations", "buffers" or "other". */
const char *wrk_memory_largest (const WrkMemory *memory, double *bytes);
/* Communication of a rank in a step of a model, by what it is done for. */
typedef enum { WRK_COMM_TP, WRK_COMM_CP, WRK_COMM_EP, WRK_COMM_DP, WRK_COMM_PP, WRK_COMM_N } WrkCommKind;
extern const char *const wrk_comm_names[WRK_COMM_N]; /* "tp" … */
typedef struct {
  double count;                /* collectives, or sends that it makes and gets */
  double sent_B;               /* by a rank: a collective's size times busbw's factor, which is what a ring sends */
  double time_s;               /* as they ran, hidden or not */
  double exposed_s;            /* that compute waited for */
  MdlOp op;                    /* where most of that time went */
  MdlAlgo algo;
  MdlProto proto;
} WrkCommUse;

/* What the host of a rank does in a step. */
typedef struct {
  double kernels, syncs;  /* of the passes: launched; times that it waits for the GPU */
  double queue_s, wait_s; /* it queues kernels and collectives; it waits, until it goes on */
} WrkHostUse;

/* One work, or one collective, of a rank of a model's step, as it is alone. Texts are borrowed from the scenario. */
typedef struct {
  const char *part;            /* "layer", "head", "optimizer" … */
  const char *pass, *name;     /* "forward", "qkv" */
  double m, n, k, batch;       /* of a matrix product m x n over k; 0: none */
  double heads;                /* of attention: m queries see n keys of k elements, in so many heads; 0: none */
  double flop, bytes_B;        /* of a collective: its size, as nccl-tests counts it */
  double time_s;               /* of one */
  double count;                /* in a step */
  gboolean first, merged;  /* of the first layer alone; others' are counted with it */
  const char *bound;           /* "math", "memory", "start"; of a collective as in WrkColl */
  BaseSource source;
  const char *note;            /* where the constant of its largest part comes from; NULL: none */
  guint32 n_ranks;             /* of a collective; 0: compute */
  const char *group;           /* of a collective */
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  char link[64];               /* what bounds a collective */
} WrkStepTerm;

typedef struct {
  double step_time_s, step_time_lo_s, step_time_hi_s;
  double part_s[WRK_PART_N];   /* of the stage that ends last; sums to step_time_s */
  unsigned stage;              /* which stage that is */
  double communication_s;      /* all of that stage's communication as it ran, hidden or not */
  double ideal_bound_s;        /* max (compute, communication): no schedule ends sooner */
  double comm_compute_ratio, exposed_fraction;
  unsigned dp, pp, n_buckets;
  guint32 n_ranks, n_nodes;
  char bound_by[64];
  gboolean has_model;          /* what follows is told of models alone */
  const char *model;           /* its name; borrowed from the scenario */
  const char *schedule, *precision;
  unsigned tp, cp, ep, vp, micro_batches;
  double parameters, active_parameters;
  double tokens, tokens_per_s; /* of a step; of all ranks */
  double model_flop_per_s;     /* of a rank */
  double mfu, mfu_causal, hfu; /* over the dense peak of the compute format; attention in full, halved; recomputed work counted */
  GArray *memory;              /* WrkMemory by pipeline stage; NULL: no model */
  WrkMemory fullest;           /* of them */
  char *memory_advice;         /* owned: what makes it fit; NULL where it does */
  double math_s, memory_s, start_s; /* its compute by what bounds the kernels: units, memory, or starting alone */
  double recompute_s;          /* of its compute: a forward pass again */
  WrkCommUse comm[WRK_COMM_N];
  WrkHostUse host;             /* of a rank of that stage */
  GArray *terms;               /* WrkStepTerm; NULL: not asked for */
  WrkColl all_reduce;          /* the largest gradient bucket; n_ranks 0 when there is none */
  unsigned all_reduce_stage;   /* whose it is */
  unsigned all_reduce_partner; /* which stage holds a copy and reduces with it; itself where there is one copy */
  double state_B;              /* of a model: parameters and optimizer, each once; 0: not known */
  double restore_B;            /* all that all ranks hold of it */
  WrkLoaderResult loader;      /* where the workload has one; likewise */
  WrkCheckpointResult checkpoint;
  BaseSource provenance;
} WrkTrainingResult;

typedef struct {
  WrkKind kind;
  WrkColl coll;                /* kind collective */
  unsigned repeat;
  WrkTransferResult transfer;
  WrkIoResult io;
  WrkTrainingResult training;
  GArray *links;               /* WrkLinkUse */
  GPtrArray *warnings;         /* char *: "this collective never leaves a node …" */
  GPtrArray *spans;            /* WrkSpan *, for a trace; may be NULL */
  struct WrkTrace *trace;      /* in place of spans, of a training step of a model (workload/trace.h); NULL: none */
  unsigned communicators;      /* made before; not part of any time */
  double create_s;             /* what that takes */
  BaseSource create_source;
  GPtrArray *jobs;             /* WrkJobResult *, in the scenario's order, and links those of all; NULL: one workload */
  guint64 n_events;
} WrkResult;

/* A training job's steps one after the other, s of all of them. */
typedef struct {
  guint steps;                 /* 0: of no such job */
  double compute_s;            /* they work: collectives of their own too, as long as they took */
  double data_s;               /* they wait for samples */
  double stall_s;              /* they stand still for checkpoints */
  guint saves, drained;        /* checkpoints; of them, written beside steps */
  double drain_s;              /* of those, the mean until they were safe */
} WrkRoundsResult;

/* One of several jobs. */
typedef struct {
  char *name, *nodes;          /* owned; nodes as written, or a transfer's ends */
  double time_s, alone_s;      /* beside the others, and alone: all repeats, all copies, all steps */
  WrkRoundsResult rounds, rounds_alone;
  WrkResult *alone;            /* owned: the whole answer of the job alone */
} WrkJobResult;

/* What a result of one workload comes to: all repeats, the last copy, the step. */
double wrk_result_time_s (const WrkResult *result);
const char *wrk_result_bound_by (const WrkResult *result);

/* One thing that happened, for traces. */
typedef struct {
  char *lane;                  /* "stage 0 compute" */
  char *name;
  double start_s, end_s;
} WrkSpan;

/* Returned: full, free with wrk_result_free; NULL and *error on failure. */
WrkResult *wrk_scenario_run (WrkScenario *scenario, gboolean want_spans, GError **error);
void wrk_result_free (WrkResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkResult, wrk_result_free)

/* What the workload's `checkpoint` comes to for a step of this length: the three times of workload/checkpoint.h and what they are
 * made of. *out is overwritten. FALSE and *error (BASE_ERROR_INPUT) where no way leads to its tier. */
gboolean wrk_checkpoint_price (const WrkScenario *scenario, const WrkTrainingResult *training, WrkCheckpointResult *out,
                               GError **error);

/* The communicator of a run's collective (of a training step: of its largest gradient bucket), and what was asked of it, so that
 * what else could have run can be priced. `settings` as for wrk_comm_new. Only for results whose collective has more than 0 ranks.
 * Returned: full, free with wrk_comm_free before the scenario; NULL and *error on failure. */
WrkComm *wrk_scenario_comm (const WrkScenario *scenario, const WrkResult *result, const WrkSettings *settings,
                            WrkCollRequest *request, GError **error);

G_END_DECLS

#endif
