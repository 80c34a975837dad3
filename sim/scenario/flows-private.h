/* Workloads of kind `flows`, from the keys to the list of flows and its run. */
#ifndef SCENARIO_FLOWS_PRIVATE_H
#define SCENARIO_FLOWS_PRIVATE_H

#include "engine/clock.h"
#include "scenario/flow_sizes.h"
#include "scenario/loaded.h"

typedef enum { SCN_ARRIVE_POISSON, SCN_ARRIVE_REGULAR, SCN_ARRIVE_AT_ONCE } ScnArrivals;
typedef enum { SCN_HOSTS_UNIFORM, SCN_HOSTS_INCAST, SCN_HOSTS_PERMUTATION, SCN_HOSTS_HOT_SPOT } ScnHosts;

extern const BaseSchema scn_schema_flows;

/* One flow: as listed, and once it has run. */
typedef struct {
  EngTime start;
  double bytes;
  guint32 src, dst; /* hosts: ranks of the scenario's GPUs */
  double alone_s;   /* its time if nothing else ran */
  double time_s;    /* from start to end */
} ScnFlow;

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseNum flows, bytes, load, fan_in, hot;
  BaseRef sizes;
  BaseStr file;
  BaseEnum arrivals, hosts;
  ScnFlow *listed; /* of `file`, in the arena */
  guint n_listed;
} ScnFlowsSpec;

/* Reads `file` into spec->listed. FALSE and *error: not readable, a wrong line, more flows than the memory limit allows. */
gboolean scn_flows_read (const Scn *scenario, ScnFlowsSpec *spec, GError **error);
/* Bytes of a flow on average; 0 for flows of a file. */
double scn_flows_mean_B (const ScnFlowsSpec *spec);
/* Draws all flows of a spec without `file`, ascending by start. `host_Bps`: what load 1 is, of each host. *span_s: the time that
 * arrivals take on average. Returned: full, of ScnFlow; NULL and *error if they last longer than the clock can count. */
GArray *scn_flows_draw (const Scn *scenario, const ScnFlowsSpec *spec, double host_Bps, double *span_s, GError **error);

/* Flows of one class of sizes, or all. A slowdown is the time of a flow over its time alone. */
typedef struct {
  char sizes[16]; /* "1-10 MB" */
  guint64 flows;
  double bytes;
  double slowdown, slowdown_p50, slowdown_p95, slowdown_p99;
  double fct_s, fct_p50_s, fct_p95_s, fct_p99_s; /* mean and percentiles of flow completion times */
} ScnFlowClass;

typedef struct {
  ScnFlowClass all;
  guint hosts;
  double time_s;       /* until the last flow ends */
  double span_s;       /* from the first start to the last */
  double host_Bps;     /* what load 1 is */
  double rate_Bps;     /* of all hosts together, over time_s */
  char *fullest;       /* owned: the resource to which most is offered; NULL: nothing is crossed */
  double fullest_load; /* what is offered to it over span_s, in parts of its capacity; INFINITY: all at once */
  const char *bound_by;
  guint most_at_once;
  GArray *classes; /* ScnFlowClass with flows, the smallest first */
} ScnFlowsResult;

/* Starts each flow on the engine and fills what its time was. FALSE and *error on failure. */
gboolean scn_flows_run (const Scn *scenario, const ScnFlowsSpec *spec, ScnFlowsResult *out, ColRunInfo *info, GError **error);
void scn_flows_result_free (ScnFlowsResult *result);

#endif
