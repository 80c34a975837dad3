/* Plans for serving: how many GPUs of which kind, in which layout, aggregated or with prefill apart, keep the promises of a service
 * under a load, at the least cost or with the fewest GPUs. */
#ifndef PLAN_FLEET_H
#define PLAN_FLEET_H

#include "plan/plan.h"
#include "serving/fleet.h"

typedef enum { PLN_FLEET_COST, PLN_FLEET_GPUS } PlnFleetAim;
extern const BaseName pln_fleet_aim_names[];
extern const BaseSchema pln_schema_fleet;

/* The parallel layout of a replica, and what one serves. */
typedef struct {
  guint tp, pp, dp_attn, ep;
  SrvFormat weights;
  guint gpus;
} PlnFleetLayout;

/* A configuration. pools[1] is the decode pool where `apart`; else there is one pool. */
typedef struct {
  guint machine; /* number of the topology */
  gboolean apart;
  PlnFleetLayout pools[2];
  guint layouts[2]; /* their numbers among those of the topology */
  guint replicas[2];
  guint nodes, gpus;        /* bought; gpus: all of these nodes */
  double need_gpus;         /* that the load needs by the closed form, where neither replicas nor nodes are whole */
  gboolean simulated;       /* by the engine; else the closed form, whose times are means: */
  double ttft_s, tpot_s;    /* at the percentile of the SLO, or the nearest of 50, 90, 95, 99 above it */
  double tpot_mean_s;       /* NAN: one token a request */
  double good;              /* fraction of requests within the SLO; NAN: not simulated */
  double busy[2];           /* fraction of time that pools are in steps; NAN likewise */
  double tokens_per_s_gpu;  /* output tokens, of all GPUs that are bought */
  double capital_usd;       /* cash to buy; 0: no price */
  gboolean above_capex;     /* more cash than the plan has: it is not bought, and the two below that buy have no price */
  double own_usd, rent_usd; /* of a month of 30 days; NAN: no price */
  double own_least_usd;     /* of a month, where the network of what is bought has no price: without it; else NAN */
  double usd_per_Mtok;      /* output tokens, by what is ranked; NAN: no price */
  double power_W;           /* at that load, with the building's share */
} PlnFleetRow;

/* Why a topology has no row. */
typedef enum { PLN_FLEET_LAYOUT, PLN_FLEET_MEMORY, PLN_FLEET_TTFT, PLN_FLEET_TPOT, PLN_FLEET_LIMIT, PLN_FLEET_PRICE } PlnFleetMiss;
typedef struct {
  guint machine;
  PlnFleetMiss why;
  PlnFleetLayout layout; /* the nearest, of a miss of time */
  double has, limit;     /* s, or GPUs, W, USD; 0: of no number */
  const char *what;      /* static: "GPUs"; or the message of an error (owned by the result) */
} PlnFleetNearest;

typedef struct {
  GArray *rows;              /* PlnFleetRow, best first; simulated ones before the others */
  GArray *misses;            /* PlnFleetNearest: of each topology without a row, nearest first */
  guint n_layouts;           /* priced by the closed form, of all topologies */
  guint n_simulated, n_runs; /* rows that the engine checked, and its runs */
  GPtrArray *texts;          /* of misses */
} PlnFleetResult;

typedef struct PlnFleet PlnFleet;

/* Whether a document is a plan for serving: its goal has a load. FALSE also where it cannot be read. */
gboolean pln_is_fleet (const char *path, const char *text);
/* Reads a plan and its prices. NULL and *error (BASE_ERROR_INPUT) on anything wrong. Returned: full. `options`: like is not used.
 * */
PlnFleet *pln_fleet_load (const char *path, const BaseLookup *lookup, const PlnOptions *options, ScnLibraryLoad load, void *user,
                          GError **error);
void pln_fleet_free (PlnFleet *fleet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlnFleet, pln_fleet_free)

const char *pln_fleet_name (const PlnFleet *fleet);
const char *pln_fleet_description (const PlnFleet *fleet); /* NULL if none */
const GPtrArray *pln_fleet_inputs (const PlnFleet *fleet); /* BaseYaml * */
const char *pln_fleet_model (const PlnFleet *fleet);
const char *pln_fleet_model_source (const PlnFleet *fleet); /* of its numbers; NULL: not said */
guint pln_fleet_n_topologies (const PlnFleet *fleet);
const char *pln_fleet_topology (const PlnFleet *fleet, guint machine);
PlnFleetAim pln_fleet_aim (const PlnFleet *fleet);
const PlnPricesSpec *pln_fleet_prices (const PlnFleet *fleet); /* NULL: none */
PlnAcquisition pln_fleet_basis (const PlnFleet *fleet);        /* what is ranked; NONE: no prices */
/* requests/s on the mean; users, 0: the plan has a rate; nodes that may be lost. */
double pln_fleet_mean_rate (const PlnFleet *fleet);
double pln_fleet_users (const PlnFleet *fleet);
guint pln_fleet_lost_nodes (const PlnFleet *fleet);
/* requests/s of the busiest time, mean tokens of a request. */
void pln_fleet_load_of (const PlnFleet *fleet, double *rate, double *input, double *output);
/* s, INFINITY: no limit; and the fraction of requests that keep both. */
void pln_fleet_slo (const PlnFleet *fleet, double *ttft_s, double *tpot_s, double *fraction);
/* Commands that start the replicas of a row, one a pool: of vLLM, SGLang or TensorRT-LLM. Returned: full, char *. */
GPtrArray *pln_fleet_commands (const PlnFleet *fleet, const PlnFleetRow *row);
/* What the commands' MODEL has to be, a sentence without its full stop; NULL: the model as it is published, in bf16. Returned:
 * full. */
char *pln_fleet_checkpoint (const PlnFleet *fleet, const PlnFleetRow *row);
/* The same as a DynamoGraphDeployment, or as values of llm-d's Helm chart. NULL and *error (BASE_ERROR_INPUT) of an engine that
 * these do not start. Returned: full. */
typedef enum { PLN_FLEET_DYNAMO, PLN_FLEET_LLM_D } PlnFleetDeployment;
char *pln_fleet_deployment (const PlnFleet *fleet, const PlnFleetRow *row, PlnFleetDeployment kind, GError **error);
/* A scenario (YAML) that runs a row. Returned: full. */
char *pln_fleet_scenario (const PlnFleet *fleet, const PlnFleetRow *row);

/* The money of a result in the terms of plans for training: a month of each row is a run. Flip points, rivals with their odds,
 * costs by part and prices are asked of what is returned, with *out (full), whose rows are those of `result`. Borrowed from the
 * plan, until this is called again. NULL and *error where a cluster cannot be priced. */
const Pln *pln_fleet_money (PlnFleet *fleet, const PlnFleetResult *result, PlnResult **out, GError **error);

/* What the recommended option becomes for more and fewer requests. */
typedef struct {
  double rate, users; /* requests/s on the mean; users NAN where the plan has none */
  PlnFleetRow row;    /* by the closed form, corrected by what the engine said of the first row; priced */
} PlnFleetCapacity;
/* By rising rate. Of a result with a row. NULL and *error where a cluster cannot be built. Returned: full, PlnFleetCapacity. */
GArray *pln_fleet_capacity (PlnFleet *fleet, const PlnFleetResult *result, GError **error);
/* Leaves a topology out of searches from now on. */
void pln_fleet_leave_out (PlnFleet *fleet, guint machine);
/* What is set against what, of the best layouts of a topology. */
typedef enum {
  PLN_FLEET_BY_USER, /* output tokens/s of a GPU against tokens/s of a user, which the mean TPOT gives */
  PLN_FLEET_BY_TTFT, /* cost of a million output tokens against TTFT, at the percentile of the SLO */
  PLN_FLEET_BY_TPOT, /* likewise */
} PlnFleetFront;

/* A layout of a topology at some load, by the closed form. Of pools that are apart: GPUs of both, in the ratio that the load
 * needs. */
typedef struct {
  guint machine;
  gboolean apart;
  PlnFleetLayout pools[2];
  double x, y; /* tokens/s of a user, tokens/s of a GPU; or s, USD/Mtok */
} PlnFleetPoint;

/* Of each topology the points that no other one of it beats, by rising x; the limit that is not on an axis is kept. Costs are those
 * of whole clusters as large as the topology's first row; a topology without one has no costs. Of a plan that was searched.
 * Returned: full, PlnFleetPoint. */
GArray *pln_fleet_front (PlnFleet *fleet, const PlnFleetResult *result, PlnFleetFront which);
/* Name of the GPU of a topology ("h100_sxm"). */
const char *pln_fleet_gpu (const PlnFleet *fleet, guint machine);

/* Estimates all layouts on all topologies, and has the engine check the `best` of them and find how many replicas they need.
 * `per_machine`: the best of each topology. NULL and *error on failure. Returned: full. */
PlnFleetResult *pln_fleet_search (PlnFleet *fleet, guint best, gboolean per_machine, GError **error);
void pln_fleet_result_free (PlnFleetResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlnFleetResult, pln_fleet_result_free)

#endif
