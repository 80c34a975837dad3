/* Several workloads at the same time on one cluster. */
#ifndef WORKLOAD_JOBS_PRIVATE_H
#define WORKLOAD_JOBS_PRIVATE_H

#include "model_build-private.h"
#include "rounds-private.h"
#include "scenario-private.h"
#include "training-private.h"
#include "workload/io_run.h"

/* One entry of `jobs:`. */
typedef struct {
  BaseHead head;
  BaseStr name;
  BaseStrs nodes;
  BaseNum steps; /* of a training job */
  const BaseYamlNode *workload;
} WrkJobSpec;

extern const BaseSchema wrk_schema_job, wrk_schema_background;

/* A job as a scenario of its own: its workload and GPUs are its, all else is lent by the scenario. */
struct WrkJob {
  WrkJobSpec spec;
  char *name;
  WrkScenario view;
};

/* A job under way: what is started again when it has ended, and how often. */
struct WrkRunning {
  WrkNet *net;
  EngFlowSpec spec;
  GArray *uses;     /* EngUse of the spec */
  gdouble in_a_row; /* still to come, one after the other */
  gdouble at_once;  /* under way together */
  EngTime end;
  WrkStepRun *step;   /* of a training job of given times; NULL */
  WrkModelRun *model; /* of one of a model; NULL */
  WrkIoRun *io;       /* of reads or writes; NULL */
  WrkRounds *rounds;  /* of a training job of several steps, or that reads or saves; NULL */
};
/* Starts running->spec so many times together, and again as often in a row. */
void wrk_running_start_flows (WrkRunning *running, double at_once, double in_a_row);
/* Called when one of what is under way has ended; `user`: WrkRunning. */
void wrk_running_ended (Eng *eng, void *user, uint64_t arg);
/* Whether it is more than one step, which is what other jobs have always been beside. */
gboolean wrk_job_has_rounds (const WrkJob *job);

/* Reads the list into scenario->jobs; errors go to the context's diag. */
void wrk_jobs_read (WrkScenario *scenario, const BaseSchemaContext *context);
/* Gives each job its GPUs once the cluster stands, and checks that its work fits. */
gboolean wrk_jobs_place (WrkScenario *scenario, GError **error);
/* Whether one of them is a step of a model, which needs the constants of kernels. */
gboolean wrk_jobs_train_models (const WrkScenario *scenario);
gboolean wrk_jobs_slow_nics (WrkScenario *scenario, GError **error);
gboolean wrk_jobs_run (WrkScenario *scenario, WrkResult *result, GError **error);
void wrk_job_free (WrkJob *job);

#endif
