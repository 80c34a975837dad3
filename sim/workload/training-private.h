/* A training step as a task graph: stages, schedules, buckets. */
#ifndef WORKLOAD_TRAINING_PRIVATE_H
#define WORKLOAD_TRAINING_PRIVATE_H

#include "engine/graph.h"
#include "schedule-private.h"
#include "workload/net.h"
#include "workload/training.h"

/* Kinds of tasks, as breakdowns read them. */
typedef enum {
  WRK_TASK_FORWARD,
  WRK_TASK_BACKWARD,
  WRK_TASK_OPTIMIZER,
  WRK_TASK_GRADIENTS,
  WRK_TASK_HOST,     /* it launches kernels … */
  WRK_TASK_SYNC,     /* … and goes on after waiting for the GPU */
  WRK_TASK_SEND_UP,  /* to the next rank of the pipeline, the first one after the last */
  WRK_TASK_SEND_DOWN /* to the one before */
} WrkTaskKind;

/* What a stage's traffic of one kind is when nothing else runs. */
typedef struct {
  double alone_s; /* all of a step, one after the other; 0: there is none */
  double band;
  BaseSource provenance;
  char bound_by[64];
} WrkStageTraffic;

/* Layers first..first+n-1 of the expanded list: one position of the chain. */
typedef struct {
  guint32 first, n;
  double pass_s[WRK_TURN_KINDS]; /* of one micro-batch, by WrkTurnKind */
  double out_B;                  /* activation sent to the next position */
} WrkChunk;

/* Keys of a workload with `layers` that are a model's. */
gboolean wrk_layers_check_keys (const WrkTrainingJob *job, GError **error);
/* Of a model, and of layers with given times: whether it fits, and its step. */
gboolean wrk_check_training (const WrkTrainingJob *job, GError **error);
gboolean wrk_check_model (const WrkTrainingJob *job, GError **error);
gboolean wrk_run_training (const WrkTrainingJob *job, WrkTrainingResult *out, WrkRunInfo *info, GError **error);
gboolean wrk_run_model (const WrkTrainingJob *job, WrkTrainingResult *out, WrkRunInfo *info, GError **error);
/* What loaders and checkpoints add to a step; nothing where it has none. Before the run: whether they can. */
gboolean wrk_add_checkpoint (const WrkTrainingJob *job, WrkTrainingResult *training, WrkRunInfo *info, GError **error);
gboolean wrk_check_loader (const WrkTrainingJob *job, GError **error);
gboolean wrk_add_loader (const WrkTrainingJob *job, WrkTrainingResult *training, WrkRunInfo *info, GError **error);
/* A step that takes `more_s` longer for `part`: its times and rates. */
void wrk_step_longer (WrkTrainingResult *training, WrkPart part, double more_s);

/* What a pass of a layer takes. */
double wrk_layer_pass_s (const WrkLayerSpec *layer, WrkTurnKind kind);
/* Contiguous layers, as even as they divide; the first chunks take one more each. Returned: `n` of them, full. */
WrkChunk *wrk_chunks_cut (const WrkLayerSpec *const *layers, guint32 n_layers, guint32 n);
/* The pipeline that a workload asks for on `pp` ranks, checked. FALSE and *error on failure. */
gboolean wrk_training_pipeline (const WrkTrainingJob *job, guint32 pp, WrkPipeline *out, GError **error);
/* The communicator of the ranks that reduce gradients together: the replicas of a stage, and of its partner if that is another.
 * Settings as for wrk_comm_new. Returned: full; NULL and *error on failure. */
WrkComm *wrk_gradient_comm (const WrkTrainingJob *job, const WrkSettings *settings, guint32 dp, guint32 stage, guint32 partner,
                            GError **error);

/* A rank of the pipeline; its data-parallel replicas do the same. */
typedef struct {
  WrkStageTraffic reduced, sent_up, sent_down;
  EngStream compute, gradients, send_up, send_down;
  EngStream host;      /* ENG_NO_STREAM: launches do not show */
  WrkHostUse launched; /* kernels and syncs alone */
  EngTask end;         /* the stage's step is over */
} WrkStage;

/* A pass of a layer on a stage whose host launches its kernels: the GPU's tasks are of `kind`. *first: the first of them. Returned:
 * the last. */
EngTask wrk_layer_launch (EngGraph *graph, WrkStage *stage, const WrkLaunchSpec *host, const WrkLayerSpec *layer, WrkTurnKind turn,
                          WrkTaskKind kind, const char *name, EngTask *first);
/* What the host of a stage did, from a graph that has run. */
void wrk_launch_account (const EngGraph *graph, const WrkStage *stage, WrkHostUse *out);

/* What the longest chain of tasks, each of which let the next one start, consists of: it is as long as the step. */
typedef struct {
  double compute_s, reduced_s, sent_s; /* compute with the optimizer's */
  guint32 send_stage;                  /* whose sends take most of sent_s … */
  WrkTaskKind send_kind;               /* … and which way */
} WrkCritical;

/* A step that shares an engine with other work: started now, over when the engine has run. NULL and *error on failure. Returned:
 * full, and to be freed before the network. */
typedef struct WrkStepRun WrkStepRun;
WrkStepRun *wrk_step_start (const WrkTrainingJob *job, WrkNet *net, GError **error);
double wrk_step_time_s (const WrkStepRun *run);
EngGraph *wrk_step_graph (const WrkStepRun *run); /* borrowed */
void wrk_step_free (WrkStepRun *run);

/* All tasks of a graph that has run, as WrkSpan. */
void wrk_take_spans (const EngGraph *graph, GPtrArray *spans);

/* Breaks down the stage that ends last and fills the result from a graph that has run. */
void wrk_training_account (const EngGraph *graph, const WrkStage *stages, guint32 pp, WrkTrainingResult *out,
                           WrkCritical *critical);

#endif
