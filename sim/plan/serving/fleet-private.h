/* Inside of plans for serving. */
#ifndef PLAN_SERVING_FLEET_PRIVATE_H
#define PLAN_SERVING_FLEET_PRIVATE_H

#include "plan-private.h"
#include "plan/fleet.h"
#include "serving/closed.h"
#include "serving/memory.h"

#define PLN_FLEET_MONTH_S (30 * 86400.0)

typedef struct {
  BaseHead head;
  BaseNum ttft, tpot, percentile;
} PlnSloSpec;

typedef struct {
  BaseHead head;
  const BaseYamlNode *model;
  SrvLoadSpec load;
  PlnSloSpec slo;
  BaseNum capex;
  BaseNum users, every; /* in place of the load's rate */
  BaseNum peak, lost_nodes;
} PlnFleetGoalSpec;

typedef struct {
  BaseHead head;
  BaseStrs topology;
} PlnFleetChoicesSpec;

typedef struct {
  BaseHead head;
  BaseNums tp, pp, dp_attn, ep;
  BaseStrs weights, pools;
} PlnFleetFreeSpec;

typedef struct {
  BaseHead head;
  BaseNum gpus, power;
} PlnFleetLimitSpec;

typedef struct {
  BaseHead head;
  BaseStr name, description;
  PlnFleetGoalSpec goal;
  BaseEnum aim; /* PlnFleetAim */
  PlnFleetChoicesSpec choices;
  SrvReplicaSpec replica; /* engine, precision, moe, speculative */
  SrvTransferSpec transfer;
  PlnFleetFreeSpec free;
  const BaseYamlNode *prices;
  BaseEnum acquire; /* PlnAcquire */
  PlnFleetLimitSpec limits;
} PlnFleetSpec;

/* One layout on one topology. */
typedef struct {
  PlnFleetLayout layout;
  SrvReplicaSpec replica; /* complete */
  SrvMemory memory;
  SrvStepModel *model;
  /* By the closed form, requests/s of a replica within the SLO; 0: none. */
  double all_rate, prefill_rate, decode_rate;
  double ttft_s, tpot_s; /* of a request alone */
} PlnFleetCut;

typedef struct {
  const char *topology; /* borrowed from the plan */
  Scn *scenario;        /* of as many nodes as its largest layout needs */
  guint nodes, gpus_per_node;
  GArray *cuts;       /* PlnFleetCut */
  GHashTable *priced; /* nodes → PlnFleetPriced *, of a cluster of that size */
  PlnFleetMiss why;   /* of no cut: the last error */
  char *error;        /* owned; NULL: none */
  gboolean left_out;
} PlnFleetMachine;

/* A cluster of some size, and the same before it was priced; they share what is below. */
typedef struct {
  PlnMachine machine, bare;
} PlnFleetPriced;

struct PlnFleet {
  BaseYaml *yaml;
  GPtrArray *inputs;
  PlnFleetSpec spec;
  MdlLlm llm;
  Pln *prices; /* what prices a cluster; it has no machines */
  const BaseLookup *lookup;
  ScnLibraryLoad load;
  void *user;
  guint64 seed;
  double mean_rate;             /* requests/s; the load's rate is that of the peak */
  double input, output, cached; /* mean tokens of a request; of a prompt that all share */
  GArray *machines;             /* PlnFleetMachine */
  guint n_runs;
};

/* A cluster of so many nodes. NULL and *error. Returned: full. */
Scn *pln_fleet_cluster (const PlnFleet *fleet, const char *topology, guint nodes, GError **error);
/* First GPU of a row's pool; of pool 2, behind the last one, where the row ends. Replicas follow each other, and do not straddle
 * nodes that they fit into. */
guint pln_fleet_first (const PlnFleetMachine *machine, const PlnFleetRow *row, guint pool);
guint pln_fleet_nodes (const PlnFleetMachine *machine, const PlnFleetRow *row);
/* The same with the nodes that may be lost: each takes a replica of several nodes with it. */
guint pln_fleet_bought_nodes (const PlnFleet *fleet, const PlnFleetMachine *machine, const PlnFleetRow *row);
/* Whether the plan takes replicas that do both ("all"), or pools that are apart ("apart"). */
gboolean pln_fleet_wants (const PlnFleet *fleet, const char *pools);
/* A topology's cluster of so many nodes with its prices; kept. NULL and *error. Borrowed. */
const PlnFleetPriced *pln_fleet_priced (PlnFleet *fleet, PlnFleetMachine *its, guint nodes, GError **error);
/* Power, capital and costs of a row. FALSE and *error where its cluster cannot be built or priced. */
gboolean pln_fleet_price (PlnFleet *fleet, PlnFleetRow *row, GError **error);
/* Lists the layouts of a topology with their closed forms. */
void pln_fleet_screen (PlnFleet *fleet, PlnFleetMachine *machine);
typedef enum { PLN_FLEET_ALL, PLN_FLEET_PREFILL, PLN_FLEET_DECODE } PlnFleetRole;
/* Times of `rate` requests/s on a replica, means. FALSE: it cannot serve them. */
gboolean pln_fleet_times (const PlnFleet *fleet, PlnFleetCut *cut, PlnFleetRole role, double rate, SrvSteadyTimes *out);
/* What the SLO's limits are compared with: these times at its percentile. */
double pln_fleet_late_ttft_s (const PlnFleetCut *cut, const SrvSteadyTimes *now);
double pln_fleet_late_tpot_s (const SrvSteadyTimes *now);
/* The closed form of a row's pools, at its share of the load. */
void pln_fleet_estimate (PlnFleet *fleet, PlnFleetRow *row);
/* Has the engine find the fewest replicas of a row that keep the SLO. *met FALSE: none do. FALSE and *error on failure. */
gboolean pln_fleet_check (PlnFleet *fleet, PlnFleetRow *row, gboolean *met, GError **error);

#endif
