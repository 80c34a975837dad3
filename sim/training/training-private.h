/* A training step as a task graph: stages, schedules, buckets. */
#ifndef TRAINING_TRAINING_PRIVATE_H
#define TRAINING_TRAINING_PRIVATE_H

#include "collective/net.h"
#include "engine/graph.h"
#include "models/pipeline.h"
#include "training/training.h"

/* Kinds of tasks, as breakdowns read them. */
typedef enum {
  TRN_TASK_FORWARD,
  TRN_TASK_BACKWARD,
  TRN_TASK_OPTIMIZER,
  TRN_TASK_GRADIENTS,
  TRN_TASK_HOST,     /* it launches kernels … */
  TRN_TASK_SYNC,     /* … and goes on after waiting for the GPU */
  TRN_TASK_SEND_UP,  /* to the next rank of the pipeline, the first one after the last */
  TRN_TASK_SEND_DOWN /* to the one before */
} TrnTaskKind;

/* What a stage's traffic of one kind is when nothing else runs. */
typedef struct {
  double alone_s; /* all of a step, one after the other; 0: there is none */
  double band;
  BaseSource provenance;
  char bound_by[64];
} TrnStageTraffic;

/* Layers first..first+n-1 of the expanded list: one position of the chain. */
typedef struct {
  guint32 first, n;
  double pass_s[MDL_TURN_KINDS]; /* of one micro-batch, by MdlTurnKind */
  double out_B;                  /* activation sent to the next position */
} TrnChunk;

/* Keys of a workload with `layers` that are a model's. */
gboolean trn_layers_check_keys (const TrnJob *job, GError **error);
/* Of a model, and of layers with given times: whether it fits, and its step. */
gboolean trn_check_training (const TrnJob *job, GError **error);
gboolean trn_check_model (const TrnJob *job, GError **error);
gboolean trn_run_training (const TrnJob *job, TrnResult *out, ColRunInfo *info, GError **error);
gboolean trn_run_model (const TrnJob *job, TrnResult *out, ColRunInfo *info, GError **error);
/* What loaders and checkpoints add to a step; nothing where it has none. Before the run: whether they can. */
gboolean trn_add_checkpoint (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error);
gboolean trn_check_loader (const TrnJob *job, GError **error);
gboolean trn_add_loader (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error);
/* A step that takes `more_s` longer for `part`: its times and rates. */
void trn_step_longer (TrnResult *training, TrnPart part, double more_s);

/* What a pass of a layer takes. */
double trn_layer_pass_s (const TrnLayerSpec *layer, MdlTurnKind kind);
/* Contiguous layers, as even as they divide; the first chunks take one more each. Returned: `n` of them, full. */
TrnChunk *trn_chunks_cut (const TrnLayerSpec *const *layers, guint32 n_layers, guint32 n);
/* The pipeline that a workload asks for on `pp` ranks, checked. FALSE and *error on failure. */
gboolean trn_pipeline (const TrnJob *job, guint32 pp, MdlPipeline *out, GError **error);
/* The communicator of the ranks that reduce gradients together: the replicas of a stage, and of its partner if that is another.
 * Settings as for col_comm_new. Returned: full; NULL and *error on failure. */
ColComm *trn_gradient_comm (const TrnJob *job, const ColSettings *settings, guint32 dp, guint32 stage, guint32 partner,
                            GError **error);

/* A rank of the pipeline; its data-parallel replicas do the same. */
typedef struct {
  TrnStageTraffic reduced, sent_up, sent_down;
  EngStream compute, gradients, send_up, send_down;
  EngStream host;      /* ENG_NO_STREAM: launches do not show */
  TrnHostUse launched; /* kernels and syncs alone */
  EngTask end;         /* the stage's step is over */
} TrnStage;

/* A pass of a layer on a stage whose host launches its kernels: the GPU's tasks are of `kind`. *first: the first of them. Returned:
 * the last. */
EngTask trn_layer_launch (EngGraph *graph, TrnStage *stage, const TrnLaunchSpec *host, const TrnLayerSpec *layer, MdlTurnKind turn,
                          TrnTaskKind kind, const char *name, EngTask *first);
/* What the host of a stage did, from a graph that has run. */
void trn_launch_account (const EngGraph *graph, const TrnStage *stage, TrnHostUse *out);

/* What the longest chain of tasks, each of which let the next one start, consists of: it is as long as the step. */
typedef struct {
  double compute_s, reduced_s, sent_s; /* compute with the optimizer's */
  guint32 send_stage;                  /* whose sends take most of sent_s … */
  TrnTaskKind send_kind;               /* … and which way */
} TrnCritical;

EngGraph *trn_step_graph (const TrnStepRun *run); /* borrowed */

/* All tasks of a graph that has run, as ColSpan. */
void trn_take_spans (const EngGraph *graph, GPtrArray *spans);

/* Breaks down the stage that ends last and fills the result from a graph that has run. */
void trn_account (const EngGraph *graph, const TrnStage *stages, guint32 pp, TrnResult *out, TrnCritical *critical);

#endif
