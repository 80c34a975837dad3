/* Inside of serving workloads: pools of replicas, and what they lose. */
#ifndef SCENARIO_SERVING_PRIVATE_H
#define SCENARIO_SERVING_PRIVATE_H

#include "scenario/loaded.h"
#include "scenario/serving.h"
#include "serving/tally.h"

/* Replicas that are alike, complete: absent maps are those of the workload. */
typedef struct {
  SrvReplicaSpec replica;
  guint replicas;
  guint32 first; /* its first GPU */
  BaseMark mark;
} ScnPool;

static inline double
scn_pool_gpus (const ScnPool *pool)
{
  return srv_replica_gpus (&pool->replica) * pool->replicas;
}

/* Pools of a workload, complete. pools[0] takes requests; pools[1] answers them, where there are two. FALSE and *error, with the
 * place: a set of pools that is not modelled. */
gboolean scn_serving_pools (const ScnServingSpec *spec, ScnPool pools[2], guint *n, GError **error);
/* Outages of replicas, numbered through all `n` pools. Returned: full, SrvOutage. */
GArray *scn_serving_outages (const Scn *scenario, const ScnPool *pools, guint n);
/* FALSE and *error, with the place, where a failure is of nothing, or leaves a pool without a replica for good. */
gboolean scn_serving_check_failures (const Scn *scenario, const ScnPool *pools, guint n, GError **error);

/* All that a run needs, ready to be played. Initialise with `scenario`, `net` and `parts`, the rest 0. */
typedef struct {
  const Scn *scenario;
  ColNet *net;    /* that other jobs are on too, borrowed; NULL: one of its own */
  gboolean parts; /* as of SrvRunSpec */
  ScnPool pools[2];
  guint n;
  SrvStepModel *models[2];
  SrvRunSpec run, decode;
  GArray *outages;    /* SrvOutage */
  double *acceptance; /* of drafts, in the pool that decodes; NULL: none */
  GHashTable *ways;   /* routes of KV, of all runs; NULL: none yet */
} ScnPlay;

/* Step times, memory of each pool, outages. FALSE and *error: an impossible layout, or weights that do not fit. */
gboolean scn_play_open (ScnPlay *play, SrvMemory memory[2], ColRunInfo *info, GError **error);
/* One run with steps at that end of their band (-1, 0, 1). */
gboolean scn_play_run (ScnPlay *play, int band, SrvRunResult *out, GError **error);
/* One part of such a run, as srv_run_part. Returned: full; NULL and *error. */
SrvTally *scn_play_part (ScnPlay *play, int band, guint part, guint of, GError **error);
/* FALSE and *error, with the place, where no request came. */
gboolean scn_play_answered (const ScnServingSpec *spec, const SrvRunResult *out, GError **error);
void scn_play_clear (ScnPlay *play);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ScnPlay, scn_play_clear)

/* What a trace takes of a run. Initialise with `info`, `job` and `steps`, the rest 0. */
typedef struct {
  ColRunInfo *info; /* with spans; borrowed, as all here */
  const char *job;  /* before the names of lanes; NULL: it runs alone */
  GArray *steps;    /* SrvStepSeen of all steps, for plots; NULL: not asked for */
  guint n;
  guint64 left;        /* steps and requests that came when there was no room */
  double cut_s, end_s; /* of these */
} ScnServingTrace;

/* Of the forms of SrvRunSpec.step and request; `user`: ScnServingTrace. */
void scn_serving_see_step (void *user, const SrvStepSeen *step);
void scn_serving_see_request (void *user, const SrvRequestSeen *seen);
/* Marks and warns of what is left out. */
void scn_serving_trace_end (ScnServingTrace *trace);
/* The next run is seen by `trace`, which outlives it. */
void scn_play_trace (ScnPlay *play, ScnServingTrace *trace);

extern const BaseSchema scn_schema_reliability;
extern const BaseMember scn_serving_month_members[], scn_serving_state_members[], scn_serving_cause_members[];
/* Fills own->month…: `play` is open, own->run what it gave. FALSE and *error on failure. */
gboolean scn_serving_month (ScnPlay *play, ScnServingResult *own, GError **error);

/* What happened before, during and behind them. Returned: full, ScnServingPhase. */
GArray *scn_serving_phases (const ScnServingSpec *spec, const SrvRunResult *run);
extern const BaseMember scn_serving_phase_members[];

/* Plays it on this network, NULL: one of its own, with the median steps; `trace`, if not NULL, sees it. FALSE and *error on
 * failure. */
gboolean scn_serving_play_once (const Scn *scenario, ColNet *net, ScnServingTrace *trace, SrvRunResult *out, GError **error);
/* Of the form of ScnKindOps.drive. */
gboolean scn_serving_drive (const ScnJob *job, ScnJobResult *out, ColNet *net, ColRunInfo *info, GError **error);

#endif
