/* A training step as a task graph: stages, schedules, buckets. */
#ifndef WORKLOAD_TRAINING_PRIVATE_H
#define WORKLOAD_TRAINING_PRIVATE_H

#include "engine/graph.h"
#include "scenario-private.h"

/* Kinds of tasks, as breakdowns read them. */
typedef enum {
  WRK_TASK_FORWARD,
  WRK_TASK_BACKWARD,
  WRK_TASK_OPTIMIZER,
  WRK_TASK_GRADIENTS,
  WRK_TASK_SEND_UP,  /* an activation, to the next stage */
  WRK_TASK_SEND_DOWN /* its gradient, to the stage before */
} WrkTaskKind;

/* What a stage's traffic of one kind is when nothing else runs. */
typedef struct {
  double alone_s;    /* all of a step, one after the other; 0: there is none */
  double band;
  BaseSource provenance;
  char bound_by[64];
} WrkStageTraffic;

/* Layers first..first+n-1 of the expanded list. */
typedef struct {
  guint32 first, n;
  double forward_s, backward_s; /* of one micro-batch */
  double out_B;                 /* activation sent to the next stage */
  WrkStageTraffic reduced, sent_up, sent_down;
  EngStream compute, gradients, send_up, send_down;
  EngTask end; /* the stage's step is over */
} WrkStage;

/* One entry of a stage's order. */
typedef struct {
  gboolean backward;
  guint32 micro_batch;
} WrkTurn;

/* The order of forwards and backwards of stage `stage` of `pp` over m micro-batches: 2 m turns, caller's array.
 * gpipe: Huang et al. 2019 (1811.06965); 1f1b: Narayanan et al., SC21 2.2: min (m, pp - 1 - stage) warm-up forwards. */
void wrk_schedule_order (WrkSchedule schedule, guint32 stage, guint32 pp, guint32 m, WrkTurn *turns);

/* What the longest chain of tasks, each of which let the next one start, consists of: it is as long as the step. */
typedef struct {
  double compute_s, reduced_s, sent_s; /* compute with the optimizer's */
  guint32 send_stage;                  /* whose sends take most of sent_s … */
  WrkTaskKind send_kind;               /* … and which way */
} WrkCritical;

/* A step that shares an engine with other work: started now, over when the engine has run. NULL and *error on failure. Returned:
 * full, and to be freed before the network. */
typedef struct WrkStepRun WrkStepRun;
WrkStepRun *wrk_step_start (const WrkScenario *scenario, WrkNet *net, GError **error);
double wrk_step_time_s (const WrkStepRun *run);
void wrk_step_free (WrkStepRun *run);

/* Breaks down the stage that ends last and fills the result from a graph that has run. */
void wrk_training_account (const EngGraph *graph, const WrkStage *stages, guint32 pp, WrkTrainingResult *out,
                           WrkCritical *critical);

#endif
