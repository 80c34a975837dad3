/* Shared between the parts that make up the time of a step. */
#ifndef SERVING_STEP_PRIVATE_H
#define SERVING_STEP_PRIVATE_H

#include "models/engine.h"
#include "models/kernel-spec.h"
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

typedef struct {
  double part_s[SRV_PART_N];
  double time_s; /* sum of the parts */
  double band_s; /* sum of time x relative band */
  double flop, hbm_B, kernels;
  BaseSource source;
} SrvFixed;

/* Communicators of a replica's first groups. */
typedef struct {
  ColSettings settings;
  ColComm *tp, *ep, *pp; /* NULL: one rank. ep: all ranks that share the experts of a layer */
  ColComm *exchange;     /* that a library's dispatch runs on; NULL: all-gather and reduce-scatter on ep */
  MdlMoeBackend backend;
} SrvGroups;

struct SrvStepModel {
  const MdlLlm *llm;
  const ColSystem *system;
  SrvReplicaSpec spec;
  const MdlKernels *kernels;
  MdlGpu gpu;
  MdlEngineTimes times;
  SrvGroups groups;
  double tp, pp, dp;
  double n_dense, n_moe;     /* layers of the fullest stage */
  double n_full, n_windowed; /* the same, by attention */
  gboolean last;             /* that stage has the head */
  double window;
  double drafts;
  double load_factor; /* of the fullest rank's rows over the mean, by `power_law`; 0: by chance */
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

gboolean srv_groups_open (SrvGroups *groups, const ColSystem *system, const MdlLlm *llm, const SrvReplicaSpec *spec,
                          GError **error);
void srv_groups_clear (SrvGroups *groups);
/* All-reduces of `tokens` rows of the hidden state, `count` of them. */
void srv_build_all_reduce (SrvBuild *build, double tokens, double count);
/* All-gather of logits. */
void srv_build_logits (SrvBuild *build, double rows, double count);
/* Tokens to experts and back. */
void srv_build_exchange (SrvBuild *build, double tokens, double count);
void srv_build_sends (SrvBuild *build);

/* Rows of the fullest rank of experts over the mean, when m tokens choose. */
double srv_expert_imbalance (const SrvStepModel *model, double tokens);
/* From the exponent of a power law and the places of experts on ranks. */
double srv_expert_load_factor (const MdlLlm *llm, const SrvReplicaSpec *spec);

#endif
