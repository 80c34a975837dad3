/* A training step: what a workload of kind `training` asks, and what it comes to. */
#ifndef WORKLOAD_TRAINING_H
#define WORKLOAD_TRAINING_H

#include "models/llm.h"
#include "workload/checkpoint.h"
#include "workload/goodput_spec.h"
#include "workload/io.h"
#include "workload/loader.h"
#include "workload/model_spec.h"
#include "workload/schedule.h"
#include "workload/system.h"

G_BEGIN_DECLS

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum count;
  BaseNum forward, backward; /* s a micro-batch */
  BaseNum weight;            /* s of backward that make the gradients of weights; default: half */
  BaseNum gradient;          /* B reduced over the data-parallel ranks */
  BaseNum activation;        /* B sent to the next stage where a boundary follows this layer */
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
  BaseList layers; /* WrkLayerSpec */
  BaseNum micro_batches;
  WrkParallelSpec parallel;
  WrkDdpSpec ddp;
  BaseEnum schedule;
  WrkLaunchSpec host;
  BaseNum optimizer;     /* s at the end of a step */
  BaseBool p2p_overlap;  /* sends between stages beside compute (default true) */
  BaseEnum algo, proto;  /* of the gradient all-reduce */
  BaseNum communicators; /* as of a collective */
  WrkModelSpec model;
  WrkLoaderSpec loader;
  WrkCheckpointSpec checkpoint;
  WrkFailuresSpec failures;
} WrkTrainingSpec;

extern const BaseSchema wrk_schema_training, wrk_schema_parallel;

/* A training workload on a system. Borrows the system. */
typedef struct {
  const WrkSystem *system;
  WrkTrainingSpec spec;
  MdlLlm llm;               /* spec.model.model, read */
  const BaseYamlNode *node; /* the workload's mapping, for places of keys */
  guint32 gpus_per_node;    /* that it may use; 0: all */
  guint64 seed;
  gboolean want_terms; /* of a step of a model: what it is made of */
  gboolean any_cut;    /* its own stands for others: what is asked of ranks is asked of all GPUs */
} WrkTrainingJob;

/* ---- results: names that are not said to be owned are borrowed from the job ---- */

typedef enum {
  WRK_PART_COMPUTE,
  WRK_PART_EXPOSED_TP,
  WRK_PART_EXPOSED_DP,
  WRK_PART_EXPOSED_PP,
  WRK_PART_EXPOSED_CP,
  WRK_PART_EXPOSED_EP,
  WRK_PART_BUBBLE,
  WRK_PART_LAUNCH_GAP,
  WRK_PART_COPY_WAIT,
  WRK_PART_STRAGGLER_WAIT,
  WRK_PART_OPTIMIZER,
  WRK_PART_DATA_STALL,
  WRK_PART_CHECKPOINT,
  WRK_PART_N
} WrkPart;
extern const char *const wrk_part_names[WRK_PART_N]; /* "compute", "exposed_tp" … */

/* Device memory of a rank of one pipeline stage at its fullest moment. */
typedef struct {
  unsigned stage;
  guint32 rank; /* the first of those that are alike */
  /* B; these sum to the total */
  double weights_B, gradients_B, optimizer_B, activations_B;
  double buffers_B;   /* gathered parameters, gradients on their way, boundaries of stages, communicators */
  double other_B;     /* libraries' workspace, fragmentation, the driver's context */
  double allocated_B; /* what the framework's allocator gives out */
  double reserved_B;  /* what it takes from the GPU: fragmentation too */
  double total_B;     /* what the GPU has less: context and communicators too */
  double capacity_B;  /* that it has; 0: not known */
  double in_flight;   /* activations of chunks that are kept at a time, at most */
  gboolean fits;
} WrkMemory;
/* The largest of the terms: "weights", "gradients", "optimizer", "activations", "buffers" or "other". */
const char *wrk_memory_largest (const WrkMemory *memory, double *bytes);
/* Communication of a rank in a step of a model, by what it is done for. */
typedef enum { WRK_COMM_TP, WRK_COMM_CP, WRK_COMM_EP, WRK_COMM_DP, WRK_COMM_PP, WRK_COMM_N } WrkCommKind;
extern const char *const wrk_comm_names[WRK_COMM_N]; /* "tp" … */
typedef struct {
  double count;     /* collectives, or sends that it makes and gets */
  double sent_B;    /* by a rank: a collective's size times busbw's factor, which is what a ring sends */
  double time_s;    /* as they ran, hidden or not */
  double exposed_s; /* that compute waited for */
  MdlOp op;         /* where most of that time went */
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
  const char *part;        /* "layer", "head", "optimizer" … */
  const char *pass, *name; /* "forward", "qkv" */
  double m, n, k, batch;   /* of a matrix product m x n over k; 0: none */
  double heads;            /* of attention: m queries see n keys of k elements, in so many heads; 0: none */
  double flop, bytes_B;    /* of a collective: its size, as nccl-tests counts it */
  double time_s;           /* of one */
  double count;            /* in a step */
  gboolean first, merged;  /* of the first layer alone; others' are counted with it */
  const char *bound;       /* "math", "memory", "start"; of a collective as in WrkColl */
  BaseSource source;
  const char *note;  /* where the constant of its largest part comes from; NULL: none */
  guint32 n_ranks;   /* of a collective; 0: compute */
  const char *group; /* of a collective */
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  char link[64]; /* what bounds a collective */
} WrkStepTerm;

typedef struct {
  double step_time_s, step_time_lo_s, step_time_hi_s;
  double part_s[WRK_PART_N]; /* of the stage that ends last; sums to step_time_s */
  unsigned stage;            /* which stage that is */
  double communication_s;    /* all of that stage's communication as it ran, hidden or not */
  double ideal_bound_s;      /* max (compute, communication): no schedule ends sooner */
  double comm_compute_ratio, exposed_fraction;
  unsigned dp, pp, n_buckets;
  guint32 n_ranks, n_nodes;
  char bound_by[64];
  gboolean has_model; /* what follows is told of models alone */
  const char *model;  /* its name; borrowed from the scenario */
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
  double recompute_s;               /* of its compute: a forward pass again */
  WrkCommUse comm[WRK_COMM_N];
  WrkHostUse host;             /* of a rank of that stage */
  struct WrkTrace *trace;      /* of a model, where spans are asked for (workload/trace.h); NULL: none */
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

/* A training job's steps one after the other, s of all of them. */
typedef struct {
  guint steps;          /* 0: of no such job */
  double compute_s;     /* they work: collectives of their own too, as long as they took */
  double data_s;        /* they wait for samples */
  double stall_s;       /* they stand still for checkpoints */
  guint saves, drained; /* checkpoints; of them, written beside steps */
  double drain_s;       /* of those, the mean until they were safe */
} WrkRoundsResult;

/* What the workload's `checkpoint` comes to for a step of this length: the three times of workload/checkpoint.h and what they are
 * made of. *out is overwritten. FALSE and *error (BASE_ERROR_INPUT) where no way leads to its tier. */
gboolean wrk_checkpoint_price (const WrkTrainingJob *job, const WrkTrainingResult *training, WrkCheckpointResult *out,
                               GError **error);

/* ---- runs; FALSE and *error on failure ---- */

/* Whether the work fits on the system; constants are not looked at. */
gboolean wrk_training_check (const WrkTrainingJob *job, GError **error);
/* Whether the software that it names is known; once the constants are there. */
gboolean wrk_training_check_software (const WrkTrainingJob *job, GError **error);
/* Stragglers that are adapters: their ports get slower, for good. */
gboolean wrk_training_slow_nics (const WrkTrainingJob *job, GError **error);
/* A step, with what its loader and its checkpoints add. `out` is zeroed by the caller, and cleared by it. */
gboolean wrk_training_run (const WrkTrainingJob *job, WrkTrainingResult *out, WrkRunInfo *info, GError **error);
void wrk_training_result_clear (WrkTrainingResult *result);
/* Of a model: state_B and restore_B of *out. FALSE and *error where its layout cannot be. */
gboolean wrk_training_state (const WrkTrainingJob *job, WrkTrainingResult *out, GError **error);
/* Whether its checkpoints can be saved where they shall go. */
gboolean wrk_check_checkpoint (const WrkTrainingJob *job, GError **error);
/* The communicator of the largest gradient bucket of a step that ran, and what was asked of it; only where all_reduce.n_ranks is
 * not 0. `settings` as for wrk_comm_new. Returned: full; NULL and *error. */
WrkComm *wrk_training_comm (const WrkTrainingJob *job, const WrkTrainingResult *result, const WrkSettings *settings,
                            WrkCollRequest *request, GError **error);
/* Keys of `failures` and `checkpoint` that go together; errors to the diag. */
void wrk_failures_check (const WrkTrainingSpec *spec, BaseDiag *diag);

G_END_DECLS

#endif
