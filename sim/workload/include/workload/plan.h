/* Plans: which machine, and which cut of a model on it, meets a goal at the least time, cost or energy. */
#ifndef WORKLOAD_PLAN_H
#define WORKLOAD_PLAN_H

#include "models/failure.h"
#include "models/money.h"
#include "workload/closed.h"
#include "workload/scenario.h"

G_BEGIN_DECLS

typedef enum { WRK_AIM_TIME, WRK_AIM_COST, WRK_AIM_ENERGY, WRK_AIM_COST_PER_TOKEN, WRK_AIM_PARETO } WrkAim;
extern const BaseName wrk_aim_names[];
typedef enum { WRK_WAY_NONE, WRK_WAY_OWN, WRK_WAY_RENT } WrkWay; /* NONE: no price is known */
extern const BaseName wrk_way_names[];

/* Why a configuration fell out; those from MEMORY on are constraints. */
typedef enum {
  WRK_OUT_GPUS,
  WRK_OUT_LAYERS,
  WRK_OUT_BATCH,
  WRK_OUT_SCHEDULE,
  WRK_OUT_REFUSED,
  WRK_OUT_PRICE,
  WRK_OUT_MEMORY,
  WRK_OUT_GPU_LIMIT,
  WRK_OUT_POWER,
  WRK_OUT_GOODPUT,
  WRK_OUT_DEADLINE,
  WRK_OUT_BUDGET,
  WRK_OUT_N
} WrkOut;
extern const char *const wrk_out_texts[WRK_OUT_N]; /* "do not fit into memory" */

extern const BaseSchema wrk_schema_plan, wrk_schema_prices, wrk_schema_comparisons;

/* A file of scenarios/prices. */
typedef struct {
  BaseHead head;
  BaseStr topology;
  BaseNum node; /* USD */
  BaseNum rent; /* USD/s of a node */
} WrkNodePrice;

/* A fabric by its parts. Ports: of the rate that is the next at or above a cable's. */
typedef struct {
  BaseHead head;
  BaseNum rate;                        /* B/s */
  BaseNum adapter, transceiver, cable; /* USD: an adapter's port, an end of a cable, a cable without its ends */
} WrkPortPrice;
typedef struct {
  BaseHead head;
  BaseStr type;
  BaseNum price; /* USD */
} WrkSwitchPrice;
typedef struct {
  BaseHead head;
  BaseList ports;    /* WrkPortPrice */
  BaseList switches; /* WrkSwitchPrice */
} WrkFabricPrice;

/* What is bought, USD; they sum to a machine's capital. */
typedef enum {
  WRK_BUY_NODES,
  WRK_BUY_NETWORK, /* at a price of a GPU */
  WRK_BUY_ADAPTERS,
  WRK_BUY_SWITCHES,
  WRK_BUY_OPTICS,
  WRK_BUY_CABLES,
  WRK_BUY_STORAGE,
  WRK_BUY_N
} WrkBuy;
extern const char *const wrk_buy_names[WRK_BUY_N]; /* "nodes" … */

typedef struct {
  BaseHead head;
  BaseStr name, description, currency, date;
  BaseNum network; /* USD a GPU: adapters, switches, optics, cables; or: */
  WrkFabricPrice fabric;
  BaseNum storage_server; /* USD */
  BaseNum electricity;    /* USD/J */
  BaseNum pue, amortisation;
  BaseList nodes; /* WrkNodePrice */
} WrkPricesSpec;

/* A checkpoint to a tier, s: of the state, each part once; and of what ranks hold beyond it. */
typedef struct {
  double stall_s, drain_s, restore_s;
  double fetch_s; /* on top where a node was replaced, from the copy of a checkpoint on drives */
  double state_B, restore_s_per_B;
  gboolean held; /* what ranks hold is read back; FALSE: the plan says how much */
  BaseSource source;
} WrkPlanSave;

/* A machine that the plan may take. Texts are borrowed from the plan. */
typedef struct {
  const char *topology;
  const char *nic_rate, *oversubscription; /* as the plan writes them; NULL: as the topology has them */
  guint32 nodes, gpus, gpus_per_node;
  double capital_usd, rent_usd_per_s; /* of all nodes; 0: no price */
  double buy_usd[WRK_BUY_N];          /* what the capital is made of */
  double load_W, idle_W, host_W;      /* of a GPU; of a node beside its GPUs */
  double fabric_W, storage_W;         /* of all switches, and of all storage servers, whose type says what it draws */
  gboolean fails;                     /* the plan counts failures; then: */
  MdlJobSize size;
  WrkPlanSave save;      /* to a tier, where the plan names one */
  MdlGoodputTerms terms; /* of this machine's */
  double best_s;         /* of work between checkpoints */
  WrkScenario *scenario; /* of its own first cut; for the closed form */
} WrkMachine;

/* A configuration that meets the constraints; plain values, that processes of the same program may send each other. */
typedef struct {
  guint machine; /* number of it */
  guint32 cut;   /* number among the machine's, as they are listed */
  WrkClosedAsk ask;
  WrkClosedStep step; /* closed form */
  gboolean simulated; /* the engine ran it: time_s and the band are its */
  double step_time_s, step_time_lo_s, step_time_hi_s;
  double goodput;           /* useful time over all time, closed form; 1 where no failures are counted */
  double every_steps;       /* between checkpoints; NAN: none are counted */
  MdlCheckpoint checkpoint; /* what one costs, where failures are counted */
  double run_s;             /* of all tokens of the goal, with what failures take; of one step without */
  double power_W;           /* mean, of all nodes with the building's share */
  WrkWay way;
  MdlMoney money; /* of that way */
  double usd_per_token;
  double formula, formula_s, formula_usd; /* what the aim makes least, run_s and total_usd as the closed form has them */
  gboolean alike; /* it cannot be told from the first row; of a front: none of the front beats it beyond doubt */
  gboolean front; /* none is faster and cheaper */
} WrkChoiceRow;

/* How near of kin two configurations are: the nearer, the more of what may be wrong with their times is the same in both. */
typedef enum {
  WRK_KIN_NETWORK,   /* GPUs, nodes and cut are the same: the network may err */
  WRK_KIN_SAME_CUT,  /* the same cut on the same GPUs, of which there are more or fewer */
  WRK_KIN_SAME_GPU,  /* another cut on the same GPUs */
  WRK_KIN_OTHER_GPU, /* other GPUs */
  WRK_KIN_N
} WrkKin;
extern const BaseName wrk_kin_names[]; /* "network" … */
#define WRK_APART_ODDS 0.025 /* below, two configurations are told apart: 95 % of errors, half of the others to either side */

/* How far measured ratios of two steps are from predicted ones: calibrate/defaults/comparisons. */
typedef enum { WRK_APART_DENSE, WRK_APART_EXPERTS } WrkApartModel;
typedef struct {
  BaseHead head;
  BaseEnum model;     /* WrkApartModel */
  BaseEnum kin;       /* WrkKin */
  BaseNum half, most; /* that 50 % and 95 % of ratios are within, relative */
} WrkApartRow;
typedef struct {
  BaseHead head;
  BaseStr name, summary;
  BaseList rows; /* WrkApartRow */
} WrkApartSpec;

/* The best of another machine than the first row's, beside the first: what it takes more, relative, and between what and what that
 * may lie. */
typedef struct {
  guint row;
  WrkKin kin;
  double more, more_lo, more_hi; /* 95 % of what it may be */
  double odds;                   /* that it takes less than the first, 0 to 1 */
} WrkRival;

typedef struct {
  GArray *rows;                    /* WrkChoiceRow, best first; of a pareto plan the front by rising time, then the cheapest */
  guint64 n_asked, out[WRK_OUT_N]; /* configurations, and why they fell out */
  double over[WRK_OUT_N];          /* of constraints: by how much the nearest failed, relative */
  guint64 dropped[WRK_OUT_N];      /* of `out`: those that the engine put there */
  guint64 n_met;
  guint n_simulated, n_standing; /* rows that the engine ran; of them those that meet the constraints then too */
  guint64 n_alike;               /* rows that cannot be told from the first, itself too */
  GArray *rivals;                /* WrkRival, nearest first; none of a front */
  gboolean per_machine;          /* as asked: of rows the best of each machine is shown */
} WrkPlanResult;

typedef struct WrkPlan WrkPlan;

typedef struct {
  const char *const *sets; /* "path=value", ends with NULL; paths as in the plan; NULL: none */
  gboolean has_seed;
  guint64 seed; /* of what its scenarios draw; default: theirs */
} WrkPlanOptions;

/* Reads a plan, its prices and its machines. NULL and *error (BASE_ERROR_INPUT) on anything wrong. Returned: full. */
WrkPlan *wrk_plan_load (const char *path, const BaseLookup *lookup, const WrkPlanOptions *options, WrkLibraryLoad load, void *user,
                        GError **error);
void wrk_plan_free (WrkPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkPlan, wrk_plan_free)

const char *wrk_plan_name (const WrkPlan *plan);
const char *wrk_plan_description (const WrkPlan *plan); /* NULL if none */
const GPtrArray *wrk_plan_inputs (const WrkPlan *plan); /* BaseYaml * */
const BaseDiag *wrk_plan_warnings (const WrkPlan *plan);
WrkAim wrk_plan_aim (const WrkPlan *plan);
/* What the plan's aim makes least: s, USD, USD a token or J. */
double wrk_plan_least (const WrkPlan *plan, const WrkChoiceRow *row);
double wrk_plan_tokens (const WrkPlan *plan); /* of the goal; 0: none */
const char *wrk_plan_model (const WrkPlan *plan);
const WrkPricesSpec *wrk_plan_prices (const WrkPlan *plan); /* NULL: none */
/* What the plan counts of failures; FALSE: none. */
typedef struct {
  const char *rates, *summary; /* borrowed; summary may be NULL */
  BaseSource source;           /* the weakest of what goodput rests on */
  double every_steps;          /* between checkpoints; NAN: each machine's best */
  const char *tier;            /* NULL: the times are given: */
  gboolean asynchronous;
  double stall_s, drain_s, restore_s;
} WrkPlanFailures;
gboolean wrk_plan_failures (const WrkPlan *plan, WrkPlanFailures *out);
const GArray *wrk_plan_machines (const WrkPlan *plan); /* WrkMachine */

typedef struct {
  guint threads;        /* of the first stage: machines are dealt out to them, and the answer does not depend on how many */
  guint best;           /* rows that the engine has run in the end, and that meet the constraints */
  gboolean per_machine; /* no two of them of one machine */
} WrkPlanAsk;
/* Asks for everything that divides, and has the engine run the best. NULL and *error on failure. Returned: full. */
WrkPlanResult *wrk_plan_search (WrkPlan *plan, const WrkPlanAsk *ask, GError **error);
void wrk_plan_result_free (WrkPlanResult *result);
/* Runs a row in the engine once more, with the terms that its step is made of. The result borrows from *scenario; both full. NULL
 * and *error on failure, *scenario may be full then too. */
WrkResult *wrk_plan_run (const WrkPlan *plan, const WrkChoiceRow *row, gboolean want_spans, WrkScenario **scenario, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkPlanResult, wrk_plan_result_free)
/* For who asks a plan many times, with other constants: of each machine the best `each` configurations by the closed form, and as
 * many of those that a constraint puts out; no twins. NULL and *error on failure. Returned: full, WrkChoiceRow. */
GArray *wrk_plan_contenders (const WrkPlan *plan, guint threads, guint each, GError **error);
/* The best of them on each machine, by number of machine; `formula` is NAN where none meets the constraints. `plan` may be another
 * one with the same machines. NULL and *error on failure. Returned: full, WrkChoiceRow. */
GArray *wrk_plan_leads (const WrkPlan *plan, const GArray *contenders, GError **error);

G_END_DECLS

#endif
