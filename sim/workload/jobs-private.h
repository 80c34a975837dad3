/* Several workloads at the same time on one cluster. */
#ifndef WORKLOAD_JOBS_PRIVATE_H
#define WORKLOAD_JOBS_PRIVATE_H

#include "scenario-private.h"

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

/* Reads the list into scenario->jobs; errors go to the context's diag. */
void wrk_jobs_read (WrkScenario *scenario, const BaseSchemaContext *context);
/* Gives each job its GPUs once the cluster stands, and checks that its work fits. */
gboolean wrk_jobs_place (WrkScenario *scenario, GError **error);
/* Whether one of them is a step of a model, which needs the constants of kernels. */
gboolean wrk_jobs_train_models (const WrkScenario *scenario);
gboolean wrk_jobs_slow_nics (WrkScenario *scenario, GError **error);
gboolean wrk_jobs_run (WrkScenario *scenario, WrkResult *result, gboolean want_spans, GError **error);
void wrk_job_free (WrkJob *job);

#endif
