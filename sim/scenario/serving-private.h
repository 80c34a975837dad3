/* Inside of serving workloads: pools of replicas, and what they lose. */
#ifndef SCENARIO_SERVING_PRIVATE_H
#define SCENARIO_SERVING_PRIVATE_H

#include "scenario/loaded.h"
#include "scenario/serving.h"

/* Replicas that are alike, complete: absent maps are those of the workload. */
typedef struct {
  SrvReplicaSpec replica;
  guint replicas;
  guint32 first; /* its first GPU */
  BaseMark mark;
} ScnPool;

double scn_pool_gpus (const ScnPool *pool);
/* Outages of replicas, numbered through all `n` pools. Returned: full, SrvOutage. */
GArray *scn_serving_outages (const Scn *scenario, const ScnPool *pools, guint n);
/* FALSE and *error, with the place, where a failure is of nothing, or leaves a pool without a replica for good. */
gboolean scn_serving_check_failures (const Scn *scenario, const ScnPool *pools, guint n, GError **error);

/* What happened before, during and behind them. Returned: full, ScnServingPhase. */
GArray *scn_serving_phases (const ScnServingSpec *spec, const SrvRunResult *run);
extern const BaseMember scn_serving_phase_members[];

/* Plays it on this network, NULL: one of its own, with the median steps. FALSE and *error on failure. */
gboolean scn_serving_play_once (const Scn *scenario, ColNet *net, SrvRunResult *out, GError **error);
/* Of the form of ScnKindOps.drive. */
gboolean scn_serving_drive (const ScnJob *job, ScnJobResult *out, ColNet *net, gboolean together, GError **error);

#endif
