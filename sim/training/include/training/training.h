/* A training step: what a workload of kind `training` asks, and what it comes to. */
#ifndef TRAINING_TRAINING_H
#define TRAINING_TRAINING_H

#include "collective/system.h"
#include "models/llm.h"
#include "models/schedule.h"
#include "storage/io.h"
#include "training/checkpoint.h"
#include "training/failures_spec.h"
#include "training/loader.h"
#include "training/model_spec.h"

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum count;
  BaseNum forward, backward; /* s a micro-batch */
  BaseNum weight;            /* s of backward that make the gradients of weights; default: half */
  BaseNum gradient;          /* B reduced over the data-parallel ranks */
  BaseNum activation;        /* B sent to the next stage where a boundary follows this layer */
  BaseNum kernels, syncs;    /* of the forward pass; see TrnLaunchSpec */
} TrnLayerSpec;
typedef struct {
  BaseHead head;
  BaseNum dp, pp, vp;
  BaseNum tp, cp, ep, zero; /* of a model */
  BaseBool sp;
} TrnParallelSpec;
/* Who exchanges the gradients of data-parallel ranks that share nothing. */
typedef enum { TRN_DDP_PROCESSES, TRN_DDP_REPLICAS } TrnDdpKind;
typedef struct {
  BaseHead head;
  BaseEnum kind;   /* TrnDdpKind */
  BaseEnum gather; /* of replicas: 0 the loss, 1 the outputs, whose loss the first GPU computes */
  BaseNum bucket;
  BaseBool overlap;
  BaseBool views; /* gradients are views of the buckets */
} TrnDdpSpec;
/* Communicators of all ranks, and when they are created. */
typedef enum { TRN_CREATE_JOB, TRN_CREATE_ITERATION } TrnCreateEvery;
typedef struct {
  BaseHead head;
  BaseNum count;
  BaseEnum every; /* TrnCreateEvery */
} TrnCreateSpec;
/* Times of the host of a rank, of layers with given times. */
typedef struct {
  BaseHead head;
  BaseNum kernel, sync;
} TrnLaunchSpec;
typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseList layers; /* TrnLayerSpec */
  BaseNum micro_batches;
  TrnParallelSpec parallel;
  TrnDdpSpec ddp;
  BaseEnum schedule;
  TrnLaunchSpec host;
  BaseNum optimizer;    /* s at the end of a step */
  BaseBool p2p_overlap; /* sends between stages beside compute (default true) */
  BaseEnum algo, proto; /* of the gradient all-reduce */
  TrnCreateSpec communicators;
  TrnModelSpec model;
  TrnLoaderSpec loader;
  TrnCheckpointSpec checkpoint;
  TrnFailuresSpec failures;
} TrnSpec;

extern const BaseSchema trn_schema_training, trn_schema_parallel;

/* A training workload on a system. Borrows the system. */
typedef struct {
  const ColSystem *system;
  TrnSpec spec;
  MdlLlm llm;               /* spec.model.model, read */
  const BaseYamlNode *node; /* the workload's mapping, for places of keys */
  guint32 gpus_per_node;    /* that it may use; 0: all */
  guint64 seed;
  gboolean want_terms; /* of a step of a model: what it is made of */
  gboolean any_cut;    /* its own stands for others: what is asked of ranks is asked of all GPUs */
} TrnJob;

/* ---- results: names that are not said to be owned are borrowed from the job ---- */

typedef enum {
  TRN_PART_COMPUTE,
  TRN_PART_EXPOSED_TP,
  TRN_PART_EXPOSED_DP,
  TRN_PART_EXPOSED_PP,
  TRN_PART_EXPOSED_CP,
  TRN_PART_EXPOSED_EP,
  TRN_PART_BUBBLE,
  TRN_PART_LAUNCH_GAP,
  TRN_PART_COPY_WAIT,
  TRN_PART_STRAGGLER_WAIT,
  TRN_PART_OPTIMIZER,
  TRN_PART_DATA_STALL,
  TRN_PART_CHECKPOINT,
  TRN_PART_COMMUNICATORS,
  TRN_PART_N
} TrnPart;
extern const char *const trn_part_names[TRN_PART_N];  /* "compute", "exposed_tp" …: keys */
extern const char *const trn_part_titles[TRN_PART_N]; /* "compute", "exposed tensor-parallel communication" … */

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
  double roomy_B;     /* the total where memory is not short … */
  double least_B;     /* … and where it is, and the allocator gives back all that it can */
  double capacity_B;  /* that it has; 0: not known */
  double host_B;      /* of the host's memory: activations and states that it holds for this rank */
  double in_flight;   /* activations of chunks that are kept at a time, at most */
  gboolean fits;
} TrnMemory;
/* The largest of the terms: "weights", "gradients", "optimizer", "activations", "buffers" or "other". */
const char *trn_memory_largest (const TrnMemory *memory, double *bytes);
/* Communication of a rank in a step of a model, by what it is done for. */
typedef enum { TRN_COMM_TP, TRN_COMM_CP, TRN_COMM_EP, TRN_COMM_DP, TRN_COMM_PP, TRN_COMM_HOST, TRN_COMM_N } TrnCommKind;
extern const char *const trn_comm_names[TRN_COMM_N]; /* "tp" … */
typedef struct {
  double count;     /* collectives, or sends that it makes and gets */
  double sent_B;    /* by a rank: a collective's size times busbw's factor, which is what a ring sends */
  double time_s;    /* as they ran, hidden or not */
  double exposed_s; /* that compute waited for */
  MdlOp op;         /* where most of that time went */
  MdlAlgo algo;
  MdlProto proto;
  const char *does;    /* static: in place of `op`; NULL: that */
  const char *library; /* static: the experts' dispatcher, in place of algorithm and protocol; NULL: NCCL */
} TrnCommUse;

/* What the host of a rank does in a step. */
typedef struct {
  double kernels, syncs;  /* of the passes: launched; times that it waits for the GPU */
  double queue_s, wait_s; /* it queues kernels and collectives; it waits, until it goes on */
} TrnHostUse;

/* What the framework makes of the kernels' times, and where that is known from. Texts are borrowed from the constants. */
typedef struct {
  const char *framework;   /* of the row that was taken; NULL: none, the scenario says the efficiency, or there is none */
  double year, capability; /* of the row */
  const char *format;      /* likewise, of the matrix products */
  double runs;             /* published steps that it was fitted to; 0: none, it is assumed */
  double value, attention; /* kernels take their modelled time over this; fused attention over that */
  double error;            /* half-width of its band, relative, with what the row differs by */
  unsigned differs;        /* of what runs: bits of models/software.h */
  BaseSource source;
  double overhead_s; /* of the rank's step; below 0 where the framework is faster than the kernels' models */
} TrnEfficiency;

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
  const char *bound;       /* "math", "memory", "start"; of a collective as in ColAnswer */
  BaseSource source;
  gboolean divided;  /* its time is its kernels' over the framework's efficiency */
  const char *note;  /* where the constant of its largest part comes from; NULL: none */
  guint32 n_ranks;   /* of a collective; 0: compute */
  const char *group; /* of a collective */
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  char link[64]; /* what bounds a collective */
} TrnStepTerm;

/* What local steps come to (methods/local_steps.c). */
typedef struct {
  gboolean set;
  double every, workers, fragments, overlap;
  const char *format;
  double size_B;     /* of a fragment, that the ranks of a replica's stages give to the all-reduce */
  double exchange_s; /* of a fragment */
  double wait_s;     /* of it, behind the steps that may pass */
  double update_s;   /* of the outer parameters, a round */
  double inner_s;    /* a step inside a worker */
  double rate_Bps;
  char bound_by[64];
  double band; /* of the exchange */
  BaseSource source;
} TrnLocalResult;

/* One pipeline stage of a step. */
typedef struct {
  unsigned stage;
  gboolean binds; /* its work is the longest, or equal to it within TRN_STAGE_TIE: it sets the pace of the pipeline */
  double work_s;  /* compute, and what its own tp, cp and ep expose */
  double part_s[TRN_PART_N]; /* sums to step_time_s: after its own end it waits for others, which is bubble */
  double memory_B;           /* of its fullest rank; 0: not known */
} TrnStageUse;
#define TRN_STAGE_TIE 0.01 /* no model of a stage's time tells less apart */

typedef struct {
  double step_time_s, step_time_lo_s, step_time_hi_s;
  double part_s[TRN_PART_N];    /* of the stage that ends last, of several the one with the most work; sums to step_time_s */
  unsigned stage;               /* which stage that is */
  GArray *stages;               /* TrnStageUse by pipeline stage, of the step's operations alone; NULL: no step ran */
  double communication_s;       /* all of that stage's communication as it ran, hidden or not */
  double communication_alone_s; /* the same where no compute runs concurrently and slows it */
  double ideal_bound_s;         /* max (compute, communication): no schedule ends sooner */
  double comm_compute_ratio, comm_compute_ratio_alone, exposed_fraction;
  unsigned dp, pp, n_buckets;
  guint32 n_ranks, n_nodes;
  char bound_by[64];
  gboolean has_model; /* what follows is only reported of models */
  const char *model;  /* its name; borrowed from the scenario */
  const char *schedule, *precision;
  unsigned tp, cp, ep, vp, micro_batches;
  double parameters, active_parameters;
  double assumed_sequence;       /* tokens, of a scenario without `sequence`; 0: given */
  gboolean is_net;               /* a network of operations: has samples in place of tokens */
  double tokens, tokens_per_s;   /* of a step; of all ranks */
  double samples, samples_per_s; /* of a network, likewise */
  double model_flop_per_s;       /* of a rank */
  double mfu, mfu_causal, hfu;   /* over the dense peak of the compute format; attention in full, halved; recomputed work counted */
  GArray *memory;                /* TrnMemory by pipeline stage; NULL: no model */
  TrnMemory fullest;             /* of them */
  char *memory_advice;           /* owned: what makes it fit; NULL where it does */
  double math_s, memory_s, start_s; /* its compute by what bounds the kernels: units, memory, or starting alone */
  double recompute_s;               /* of its compute: a forward pass again */
  TrnEfficiency efficiency;         /* of a model */
  TrnCommUse comm[TRN_COMM_N];
  double network_s;            /* that communication of a rank between nodes ran, hidden or not … */
  gboolean tcp;                /* … by sockets */
  TrnHostUse host;             /* of a rank of that stage */
  struct TrnTrace *trace;      /* of a model, where spans are asked for (training/trace.h); NULL: none */
  GArray *terms;               /* TrnStepTerm; NULL: not asked for */
  ColAnswer all_reduce;        /* the largest gradient bucket; n_ranks 0 when there is none */
  unsigned all_reduce_stage;   /* whose it is */
  unsigned all_reduce_partner; /* which stage holds a copy and reduces with it; itself where there is one copy */
  double state_B;              /* of a model: parameters and optimizer, each once; 0: not known */
  double restore_B;            /* all that all ranks hold of it */
  TrnLoaderResult loader;      /* where the workload has one; likewise */
  TrnCheckpointResult checkpoint;
  TrnLocalResult local;        /* likewise */
  BaseSource provenance;
} TrnResult;

/* A training job's steps one after the other, s of all of them. */
typedef struct {
  guint steps;          /* 0: of no such job */
  double compute_s;     /* they work: collectives of their own too, as long as they took */
  double data_s;        /* they wait for samples */
  double stall_s;       /* they stand still for checkpoints */
  guint saves, drained; /* checkpoints; of them, written beside steps */
  double drain_s;       /* of those, the mean until they were safe */
} TrnRoundsResult;

/* What the workload's `checkpoint` comes to for a step of this length: the three times of training/checkpoint.h and what they are
 * made of. *out is overwritten. FALSE and *error (BASE_ERROR_INPUT) where no way leads to its tier. */
gboolean trn_checkpoint_price (const TrnJob *job, const TrnResult *training, TrnCheckpointResult *out, GError **error);

/* ---- runs; FALSE and *error on failure ---- */

/* Whether the work fits on the system; constants are not looked at. */
gboolean trn_check (const TrnJob *job, GError **error);
/* Whether the software that it names is known; once the constants are there. */
gboolean trn_check_software (const TrnJob *job, GError **error);
/* Whether the library that dispatches tokens to experts can run on its ranks; once the constants are there. A run asks
 * by itself. */
gboolean trn_check_experts (const TrnJob *job, GError **error);
/* Stragglers that are adapters: their ports get slower, for good. */
gboolean trn_slow_nics (const TrnJob *job, GError **error);
/* A step, with what its loader and its checkpoints add. `out` is zeroed by the caller, and cleared by it. */
gboolean trn_run (const TrnJob *job, TrnResult *out, ColRunInfo *info, GError **error);
void trn_result_clear (TrnResult *result);
/* Of a model's job, without a step: overhead_s 0. FALSE and *error where its layout cannot be. */
gboolean trn_efficiency (const TrnJob *job, TrnEfficiency *out, GError **error);
/* Of a model: state_B and restore_B of *out. FALSE and *error where its layout cannot be. */
gboolean trn_state (const TrnJob *job, TrnResult *out, GError **error);
/* Whether its checkpoints can be saved where they shall go. */
gboolean trn_check_checkpoint (const TrnJob *job, GError **error);
/* The communicator of the largest gradient bucket of a step that ran, and what was asked of it; only where all_reduce.n_ranks is
 * not 0. `settings` as for col_comm_new. Returned: full; NULL and *error. */
ColComm *trn_comm (const TrnJob *job, const TrnResult *result, const ColSettings *settings, ColCollRequest *request,
                   GError **error);
/* ---- a step on an engine of others ---- */

typedef struct TrnStepRun TrnStepRun;
/* A step on an engine of others: started now, over when the engine has run. `fold`: alike links once, where nobody else loads the
 * network. NULL and *error on failure. Returned: full, and to be freed before the network. */
TrnStepRun *trn_step_start (const TrnJob *job, ColNet *net, gboolean fold, GError **error);
double trn_step_time_s (const TrnStepRun *run);
void trn_step_free (TrnStepRun *run);

/* Keys of `failures` and `checkpoint` that go together; errors to the diag. */
void trn_failures_check (const TrnSpec *spec, BaseDiag *diag);

#endif
