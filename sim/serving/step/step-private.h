/* Shared between the parts that make up the time of a step. */
#ifndef SERVING_STEP_PRIVATE_H
#define SERVING_STEP_PRIVATE_H

#include "models/engine.h"
#include "models/kernel-spec.h"
#include "models/overlap.h"
#include "serving-private.h"
#include "serving/step.h"

/* What does not depend on contexts, remembered by these numbers. */
typedef struct {
  guint32 tokens;  /* that kernels of a micro-batch see, padded */
  guint32 all;     /* of all ranks of attention data parallelism */
  guint32 sampled; /* rows of the head */
  guint32 flags;   /* SRV_KEY_… */
} SrvKey;
#define SRV_KEY_DECODE 1u /* no prompts: latent attention is absorbed, and a graph may hold it */
#define SRV_KEY_GRAPH  2u
#define SRV_KEY_SPLIT  4u /* layers of experts run as two micro-batches, of which one computes while the other communicates */

/* A layer of experts of a micro-batch, each as it is alone; s. */
typedef struct {
  double before_s, after_s;   /* around the core of attention: projections; output product, router */
  double shared_s, experts_s; /* experts: with the wait for the fullest rank */
  double dispatch_s, combine_s;
  double begin_s[2], end_s[2]; /* SM time at both ends of dispatch and combine of a library that leaves SMs free in between */
  double slow[4];              /* factors of before, after, shared and experts beside a dispatch or combine … */
  double slow_core;            /* … of the core of attention … */
  double slow_exchange;        /* … and of dispatch and combine beside computing */
  gboolean staggered;          /* the micro-batches are two stages apart, attention is cut in two */
} SrvSplit;

typedef struct {
  double part_s[SRV_PART_N];
  double time_s; /* sum of the parts */
  double band_s; /* sum of time x relative band */
  double flop, hbm_B, kernels;
  BaseSource source;
  SrvSplit split; /* where layers run as two micro-batches: dispatch and combine are here alone, not in the sums */
} SrvFixed;

/* Communicators of a replica's first groups. */
typedef struct {
  ColSettings settings;
  ColComm *tp, *ep, *pp; /* NULL: one rank. ep: all ranks that share the experts of a layer */
  ColComm *exchange;     /* that a library's dispatch runs on; NULL: all-gather and reduce-scatter on ep */
  MdlMoeBackend backend;
  const MdlMoeRow *library; /* of exchange */
  const BaseNum *residual;  /* of loads that were levelled; NULL: unknown */
  double popularity;        /* of experts, by the constants */
} SrvGroups;

struct SrvStepModel {
  const MdlLlm *llm;
  const MdlOverlap *overlap; /* what dispatch and computing do to each other; NULL: unknown */
  SrvReplicaSpec spec;
  const MdlKernels *kernels;
  MdlGpu gpu;
  MdlEngineTimes times;
  SrvGroups groups;
  double tp, pp, dp;
  MdlDecode decode;          /* attention of sequences that decode: all but sequences, context and queries */
  double n_dense, n_moe;     /* layers of the fullest stage */
  double n_full, n_windowed; /* the same, by attention */
  gboolean last;             /* that stage has the head */
  double window;
  double drafts;
  double *missed;     /* of each expert: log of the probability that a token does not choose it */
  double expert_rows; /* of every expert, tokens or not, as the kernel lays them out; 0: those it gets */
  double load_factor; /* of the fullest rank's rows over the mean, by `power_law`; 1: by chance alone */
  double split[2];    /* tokens of a rank from which layers run as two micro-batches: with prompts, decoding; HUGE_VAL: never */
  gboolean staggered; /* SGLang's order of micro-batches that decode */
  GHashTable *known;  /* SrvKey -> SrvFixed */
};

/* A step that is being added up. */
typedef struct {
  const SrvStepModel *model;
  SrvKey key;
  SrvFixed *sum;
  GArray *terms; /* SrvStepTerm; NULL: only the sum */
  double scale;  /* passes of a stage in a step */
} SrvBuild;

/* One kind of kernel: `count` of them, each of time_s. `shape`: full, taken; may be NULL. */
void srv_build_add (SrvBuild *build, const SrvStepTerm *each, double band, BaseSource source);

/* Layers, head and sampling of the fullest stage into build->sum. */
void srv_build_stage (SrvBuild *build);
/* Parts of a layer of experts for m tokens of a rank and `all` of all ranks, `count` of them. */
void srv_build_attention (SrvBuild *build, gboolean after, double m, double count); /* before its core; after it, with the router */
void srv_build_experts (SrvBuild *build, double all, double count);
void srv_build_shared (SrvBuild *build, double m, double count);
/* A pass over memory outside the sums; s. */
double srv_pass_s (const SrvStepModel *model, double read_B, double written_B);

gboolean srv_groups_open (SrvGroups *groups, const ColSystem *system, const MdlLlm *llm, const SrvReplicaSpec *spec,
                          GError **error);
void srv_groups_clear (SrvGroups *groups);
/* All-reduces of `tokens` rows of the hidden state, `count` of them. */
void srv_build_all_reduce (SrvBuild *build, double tokens, double count);
/* All-gather of logits. */
void srv_build_logits (SrvBuild *build, double rows, double count);
/* Tokens to experts (`back` FALSE), or their results. */
void srv_build_exchange (SrvBuild *build, gboolean back, double tokens, double count);
void srv_build_sends (SrvBuild *build);
/* B that a dispatch and a combine of m tokens send, over NVLink and the NIC. */
double srv_exchange_B (const SrvStepModel *model, double m);
MdlFormat srv_wire_format (int format); /* of `dispatch` and `combine` */

/* ---- two-batch overlap (overlap.c) ---- */

/* Whether the engine may split steps, and from which size on. FALSE and *error where it has no two-batch overlap, or nothing is
 * exchanged by a library. */
gboolean srv_split_open (SrvStepModel *model, const MdlEngineRow *row, GError **error);
/* Layers of experts of the stage as two micro-batches into build->sum. */
void srv_build_split (SrvBuild *build);
/* Time that these layers take beyond what their kernels take alone, for `core_s` of attention in a layer of a micro-batch: dispatch
 * and combine that are not hidden, and what kernels lose beside them. All layers of a step. */
double srv_split_exposed_s (const SrvStepModel *model, const SrvSplit *split, double core_s);
/* Of `layers` layers of two micro-batches, until both are through. */
double srv_split_time_s (const SrvSplit *split, double core_s, guint layers);
double srv_split_compute_s (const SrvSplit *split, double core_s); /* of a layer of a micro-batch, alone */

/* Logs of the probabilities that a token does not choose each expert; full, taken with g_free. */
double *srv_experts_missed (const MdlLlm *llm, double popularity);
/* Rows of the fullest rank of experts over the mean, when m tokens choose. */
double srv_expert_imbalance (const SrvStepModel *model, double tokens);
/* From the exponent of a power law and the places of experts on ranks. */
double srv_expert_load_factor (const MdlLlm *llm, const SrvReplicaSpec *spec);

#endif
