/* Several workloads at the same time on one cluster. */
#ifndef SCENARIO_JOBS_PRIVATE_H
#define SCENARIO_JOBS_PRIVATE_H

#include "scenario/loaded.h"
#include "storage/io_run.h"
#include "training/rounds.h"

/* One entry of `jobs:`. */
typedef struct {
  BaseHead head;
  BaseStr name;
  BaseStrs nodes;
  BaseNum steps; /* of a training job */
  const BaseYamlNode *workload;
} ScnJobSpec;

extern const BaseSchema scn_schema_job, scn_schema_background;

/* A job as a scenario of its own: its workload and GPUs are its, all else is lent by the scenario. */
struct ScnJob {
  ScnJobSpec spec;
  char *name;
  Scn view;
};

/* A job under way: what is started again when it has ended, and how often. */
#define SCN_MOST_ENDS 10000
struct ScnRunning {
  ColNet *net;
  EngFlowSpec spec;
  GArray *uses;     /* EngUse of the spec */
  gdouble in_a_row; /* still to come, one after the other */
  gdouble at_once;  /* under way together */
  EngTime end;
  GArray *ends;     /* EngTime, when each of those in a row ended; the first SCN_MOST_ENDS */
  ColComm *comm;     /* of a collective message by message, and its run; NULL */
  ColExact *exact;
  TrnStepRun *step;  /* of a training job; NULL */
  StoIoRun *io;      /* of reads or writes; NULL */
  TrnRounds *rounds; /* of a training job of several steps, or that reads or saves; NULL */
};
void scn_running_free (gpointer running);
/* Starts running->spec so many times together, and again as often in a row. */
void scn_running_start_flows (ScnRunning *running, double at_once, double in_a_row);
/* Starts running->exact, and again so many times in a row. FALSE and *error where it cannot. */
gboolean scn_running_start_exact (ScnRunning *running, double in_a_row, GError **error);
/* Called when one of what is under way has ended; `user`: ScnRunning. */
void scn_running_ended (Eng *eng, void *user, uint64_t arg);
/* Whether it is more than one step, which is what other jobs have always been beside. */
gboolean scn_job_has_rounds (const ScnJob *job);

/* Reads the list into scenario->jobs; errors go to the context's diag. */
void scn_jobs_read (Scn *scenario, const BaseSchemaContext *context);
/* Gives each job its GPUs once the cluster stands, and checks that its work fits. */
gboolean scn_jobs_place (Scn *scenario, GError **error);
/* Whether one of them is a step of a model, which needs the constants of kernels. */
gboolean scn_jobs_train_models (const Scn *scenario);
gboolean scn_jobs_slow_nics (Scn *scenario, GError **error);
/* Gives a job what its scenario has loaded. */
void scn_jobs_lend (const Scn *scenario, ScnJob *job);
gboolean scn_jobs_run (Scn *scenario, ScnResult *result, GError **error);
void scn_job_free (ScnJob *job);

#endif
