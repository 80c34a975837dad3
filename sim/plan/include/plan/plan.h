/* Plans: which machine, and which cut of a model on it, meets a goal at the least time, cost or energy. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "models/failure.h"
#include "models/money.h"
#include "scenario/scenario.h"
#include "training/closed.h"

typedef enum { PLN_AIM_TIME, PLN_AIM_COST, PLN_AIM_ENERGY, PLN_AIM_COST_PER_TOKEN, PLN_AIM_PARETO, PLN_AIM_GPUS } PlnAim;
extern const BaseName pln_aim_names[];
typedef enum { PLN_ACQUISITION_NONE, PLN_ACQUISITION_BUY, PLN_ACQUISITION_RENT } PlnAcquisition; /* NONE: no price is known */
extern const BaseName pln_acquisition_names[];
/* What a plan asks for: both are shown, and one of them is ranked. */
typedef enum { PLN_ACQUIRE_OWN, PLN_ACQUIRE_RENT, PLN_ACQUIRE_BOTH } PlnAcquire;

/* Why a configuration is rejected; those from MEMORY on are constraints. */
typedef enum {
  PLN_REJECTED_GPUS,
  PLN_REJECTED_LAYERS,
  PLN_REJECTED_BATCH,
  PLN_REJECTED_SCHEDULE,
  PLN_REJECTED_REFUSED,
  PLN_REJECTED_PRICE,
  PLN_REJECTED_MEMORY,
  PLN_REJECTED_HEADROOM,
  PLN_REJECTED_GPU_LIMIT,
  PLN_REJECTED_POWER,
  PLN_REJECTED_GOODPUT,
  PLN_REJECTED_DEADLINE,
  PLN_REJECTED_CAPEX,
  PLN_REJECTED_RUN_COST,
  PLN_REJECTED_N
} PlnRejection;
extern const char *const pln_out_texts[PLN_REJECTED_N]; /* "do not fit into memory" */

extern const BaseSchema pln_schema_plan, pln_schema_prices, pln_schema_comparisons;

/* A file of scenarios/prices. */
typedef struct {
  BaseHead head;
  BaseStr topology;
  BaseNum node; /* USD */
  BaseNum rent; /* USD/s of a node */
} PlnNodePrice;
typedef struct {
  BaseHead head;
  BaseStr type;
  BaseNum rent; /* USD/s of a TB */
} PlnStoragePrice;

/* A fabric by its parts. Ports: of the rate that is the next at or above a cable's. */
typedef struct {
  BaseHead head;
  BaseNum rate;                    /* B/s */
  BaseNum nic, transceiver, cable; /* USD: a port of a NIC, an end of a cable, a cable without its ends */
} PlnPortPrice;
typedef struct {
  BaseHead head;
  BaseStr type;
  BaseNum price; /* USD */
} PlnSwitchPrice;
typedef struct {
  BaseHead head;
  BaseList ports;    /* PlnPortPrice */
  BaseList switches; /* PlnSwitchPrice */
} PlnFabricPrice;

/* What is bought, USD; they sum to a machine's capital. */
typedef enum {
  PLN_BUY_NODES,
  PLN_BUY_NETWORK, /* at a price of a GPU */
  PLN_BUY_NICS,
  PLN_BUY_SWITCHES,
  PLN_BUY_OPTICS,
  PLN_BUY_CABLES,
  PLN_BUY_STORAGE,
  PLN_BUY_RACKS,
  PLN_BUY_SPARES,
  PLN_BUY_DELIVERY,
  PLN_BUY_N
} PlnBuy;
extern const char *const pln_buy_names[PLN_BUY_N]; /* "nodes" … */

/* So many of one thing at one price. */
typedef struct {
  PlnBuy kind;
  const char *name;     /* "qm9700"; borrowed from the plan, as is: */
  const BaseNum *price; /* as its list has it; of a share of others the fraction */
  double count, usd;    /* of one */
} PlnPart;

typedef struct {
  BaseHead head;
  BaseStr name, description, like, currency, date, exchange_date;
  BaseNum exchange; /* USD for one of the currency */
  BaseNum network;  /* USD a GPU: adapters, switches, optics, cables; or: */
  PlnFabricPrice fabric;
  BaseNum storage_server; /* USD */
  BaseNum electricity;    /* USD/J */
  BaseNum pue, amortisation;
  BaseNum band, published_band;                     /* of prices that are assumed, and of others */
  BaseNum utilisation, residual, interest, support; /* parts; the last two a year */
  BaseNum colocation;                               /* USD/s of a kW */
  BaseNum rack, rack_power, staff;                  /* USD, W, USD/s of a rack */
  BaseNum spares, delivery;                         /* parts */
  BaseNum lead_time;                                /* s */
  BaseList storage;                                 /* PlnStoragePrice */
  BaseList nodes;                                   /* PlnNodePrice */
} PlnPricesSpec;

/* Reads a list of prices from a document, or from the mapping at `key` of it (NULL: its root). `like` names the list that it
 * changes; amounts in its currency become USD. What it reads is added to the inputs of `context`. FALSE and *error on anything
 * wrong. */
gboolean pln_read_prices (BaseYaml *yaml, const char *key, const BaseSchemaContext *context, PlnPricesSpec *out, GError **error);
/* Amounts of a document in `currency` ("€5", "5 EUR") become USD. FALSE and *error on a sign of another currency. */
gboolean pln_convert_money (BaseYaml *yaml, const char *key, const char *currency, double usd, GError **error);
/* The same by the mapping's own `currency`, `exchange` and `exchange_date`, or those of `base` (NULL: none). */
gboolean pln_convert_list (BaseYaml *yaml, const char *key, const PlnPricesSpec *base, const BaseSchemaContext *context,
                           GError **error);
/* What `currency` (NULL: USD) is worth by `exchange`, USD. 0 and *error on an unknown one, or without a dated rate. */
double pln_exchange (const BaseStr *currency, const BaseNum *exchange, const BaseStr *date, GError **error);

/* A checkpoint to a tier, s: of the state, each part once; and of what ranks hold beyond it. */
typedef struct {
  double stall_s, drain_s, restore_s;
  double fetch_s; /* on top where a node was replaced, from the copy of a checkpoint on drives */
  double state_B, restore_s_per_B;
  gboolean held; /* what ranks hold is read back; FALSE: the plan says how much */
  BaseSource source;
} PlnSave;

#define PLN_TIERS 8u /* whose servers are counted; others stay as they are */

/* A machine that the plan may take. Texts are borrowed from the plan. */
typedef struct {
  const char *topology;
  const char *domain;                                         /* nodes used of each NVLink domain; likewise: */
  const char *nic_count, *nic_rate, *kind, *oversubscription; /* as the plan writes them; NULL: as the topology has them */
  const char *servers;                                        /* of the tier of checkpoints; likewise */
  guint32 nodes_per_rack, used_per_rack;                      /* of an NVLink domain of several nodes, which is a rack; else 0 */
  guint32 nodes, gpus, gpus_per_node;
  double capital_usd, rent_usd_per_s; /* of all nodes; 0: no price */
  double buy_usd[PLN_BUY_N];          /* what the capital is made of */
  GArray *parts;                      /* PlnPart: the same, counted */
  CluFabricParts fabric;
  gboolean without_network; /* what is bought has no price of its switches, optics and cables: it is a part of its cash */
  double racks, storage_servers;
  double read_servers;            /* of the tier whose servers are chosen: as many as the nodes' reads need; 0: none is chosen */
  double tier_servers[PLN_TIERS]; /* of each storage tier, as the nodes need them; 0: as the topology has them */
  double storage_B;               /* that the run needs; what renting it costs is in the rent: */
  double storage_rent_usd_per_s;  /* 0: the list has no price of it */
  const BaseNum *node_rent;       /* as its list has it, of one; NULL: none; borrowed from the plan */
  const BaseNum *storage_rent;    /* likewise, of a TB */
  const char *storage_like;       /* type of the list whose rent stands for that of its storage, which has none; NULL: it has */
  MdlMoneyQuery own, rent;        /* all but the power, for pln_money() */
  double load_W, idle_W, host_W;  /* of a GPU; of a node beside its GPUs */
  double fabric_W, storage_W;     /* of all switches, and of all storage servers, whose type says what it draws */
  double doubt;                   /* where its steps were never measured: half-width of their 90 % band in ln time, else 0 */
  gboolean fails;                 /* the plan counts failures; then: */
  MdlJobSize size;
  PlnSave save;          /* to a tier, where the plan names one */
  MdlGoodputTerms terms; /* of this machine's */
  double best_s;         /* of work between checkpoints */
  Scn *scenario;         /* of its own first cut; for the closed form */
  gboolean borrowed;     /* the scenario is that of a plan read before (PlnLike), and so are: */
  const GArray *steps;   /* TrnClosedStep of each cut, as they are listed; NULL: not known */
} PlnMachine;

/* A configuration that meets the constraints; plain values, that processes of the same program may send each other. */
typedef struct {
  guint machine; /* number of it */
  guint32 cut;   /* number among the machine's, as they are listed */
  TrnClosedQuery query;
  TrnClosedStep step; /* closed form */
  gboolean simulated; /* the engine ran it: time_s and the band are its */
  double step_time_s, step_time_lo_s, step_time_hi_s;
  double goodput;           /* useful time over all time, closed form; 1 where no failures are counted */
  double every_steps;       /* between checkpoints; NAN: none are counted */
  MdlCheckpoint checkpoint; /* what one costs, where failures are counted */
  double run_s;             /* of all tokens of the goal, with what failures take; of one step without */
  double power_W;           /* mean, of all nodes with the building's share */
  PlnAcquisition way;       /* that the plan ranks; NONE: it has no price of that */
  MdlMoney money;           /* of that way */
  double usd_per_token;
  double formula, formula_s, formula_usd; /* what the aim makes least, run_s and total_usd as the closed form has them */
  gboolean alike; /* indistinguishable from the first row; of a front: none of the front beats it beyond doubt */
  gboolean front; /* none is faster and cheaper */
} PlnChoiceRow;

/* How near of kin two configurations are: the nearer, the more of what may be wrong with their times is the same in both. */
typedef enum {
  PLN_SIMILARITY_NETWORK,       /* GPUs, nodes and cut are the same: the network may err */
  PLN_SIMILARITY_SAME_LAYOUT,   /* the same cut on the same GPUs, of which there are more or fewer */
  PLN_SIMILARITY_SAME_GPU,      /* another cut on the same GPUs */
  PLN_SIMILARITY_OTHER_GPU,     /* other GPUs */
  PLN_SIMILARITY_NOT_VALIDATED, /* other GPUs, on one of which no step was measured */
  PLN_SIMILARITY_N
} PlnSimilarity;
extern const BaseName pln_similarity_names[]; /* "network" … */
#define PLN_DISTINGUISH_ODDS 0.025 /* below, two configurations differ: 95 % of errors, half of the others to either side */

/* How far measured ratios of two steps are from predicted ones: calibrate/defaults/comparisons. */
typedef enum { PLN_DISTINGUISH_DENSE, PLN_DISTINGUISH_EXPERTS } PlnDistinguishModel;
typedef struct {
  BaseHead head;
  BaseEnum model;      /* PlnDistinguishModel */
  BaseEnum similarity; /* PlnSimilarity */
  BaseNum half, most;  /* that 50 % and 95 % of ratios are within, relative */
  BaseNum least;       /* chance that an order which rests on no measurement is wrong, at least */
} PlnDistinguishRow;
typedef struct {
  BaseHead head;
  BaseStr name, summary;
  BaseStrs gpus; /* whose steps were measured */
  BaseList rows; /* PlnDistinguishRow */
} PlnDistinguishSpec;

/* The best of another machine than the first row's, beside the first: what it takes more, relative, and between what and what that
 * may lie. */
typedef struct {
  guint row;
  PlnSimilarity similarity;
  double more, more_lo, more_hi; /* 95 % of what it may be */
  double odds;                   /* that it takes less than the first, 0 to 1 */
} PlnAlternative;

/* What keeps a machine out: its configuration that misses the constraints by least. */
typedef struct {
  guint machine;
  PlnRejection why;             /* what most layouts fail by, where no other row can be: */
  gboolean has_row;             /* then: */
  PlnChoiceRow row;             /* estimated */
  double need[PLN_REJECTED_N];  /* what each constraint that it misses would have to allow; 0: it meets it … */
  double limit[PLN_REJECTED_N]; /* … and what it allows */
  double by;                    /* how far it misses: the less, the nearer; INFINITY without a row */
  guint32 batch;                /* the global batch that its layout needs; 0: the plan's */
} PlnNearest;

typedef struct {
  GArray *rows;                         /* PlnChoiceRow, best first; of a pareto plan the front by rising time, then the cheapest */
  guint64 n_asked, out[PLN_REJECTED_N]; /* configurations, and why they were rejected */
  double over[PLN_REJECTED_N];          /* of constraints: by how much the nearest failed, relative */
  guint64 dropped[PLN_REJECTED_N];      /* of `out`: those that the engine put there */
  guint64 n_met;
  guint n_simulated, n_standing; /* rows that the engine ran; of them those that meet the constraints then too */
  guint64 n_alike;               /* rows that are indistinguishable from the first, which is counted too */
  GArray *rivals;                /* PlnAlternative, nearest first; none of a front */
  GArray *misses;                /* PlnNearest: of each machine without a row; none where only the rank was asked */
  gboolean per_machine;          /* as asked: of rows the best of each machine is shown */
  GPtrArray *steps;              /* as of pln_contenders(); NULL: they were not kept */
} PlnResult;

/* A price at which the recommended option is not the first any more. */
typedef struct {
  char *path;      /* "nodes.hgx_b200.node", below `prices` */
  const char *key; /* "node" */
  char *of;        /* "hgx_b200"; NULL: of no list */
  BaseDim dim;
  double value, limit; /* today's, and where it flips */
  guint row;           /* what comes first then; 0: the first breaks a constraint, this one: */
  PlnRejection why;
} PlnFlip;

typedef struct Pln Pln;

/* A plan that was read before, of the same file. Machines that read no constant that differs now are what they were: their
 * scenarios and steps are taken over. All is borrowed, for as long as the plan that is read now. */
typedef struct {
  const Pln *plan;
  const gboolean *same;      /* by machine */
  const GPtrArray *steps;    /* by machine: GArray, of pln_contenders(); NULL: not known */
  const GPtrArray *formulas; /* of pln_formulas(): a search leaves out layouts of which it was over `most`; NULL: none */
  double most;
} PlnLike;

typedef struct {
  const char *text;        /* in place of the file, whose path then stands for it in messages; NULL: the file */
  const char *const *sets; /* "path=value", ends with NULL; paths as in the plan; NULL: none */
  gboolean has_seed;
  guint64 seed;        /* of what its scenarios draw; default: theirs */
  const PlnLike *like; /* NULL: everything is read */
} PlnOptions;

/* Reads a plan, its prices and its machines. NULL and *error (BASE_ERROR_INPUT) on anything wrong. Returned: full. */
Pln *pln_load (const char *path, const BaseLookup *lookup, const PlnOptions *options, ScnLibraryLoad load, void *user,
               GError **error);
void pln_free (Pln *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Pln, pln_free)

const char *pln_name (const Pln *plan);
const char *pln_description (const Pln *plan); /* NULL if none */
const GPtrArray *pln_inputs (const Pln *plan); /* BaseYaml * */
const BaseDiag *pln_warnings (const Pln *plan);
/* `degrade` as the plan has it, in one line; NULL: none. */
const char *pln_degraded (const Pln *plan);
PlnAim pln_aim (const Pln *plan);
/* What the plan's aim makes least: s, USD, USD a token or J. */
double pln_least (const Pln *plan, const PlnChoiceRow *row);
/* What was never measured on the machine's GPU, and thus rests on data sheets: "kernels, collectives and training steps"; NULL: all
 * was. Returned: full. */
char *pln_not_validated (const Pln *plan, guint machine);
#define PLN_TIGHT 0.05 /* part of a GPU's memory: a layout that leaves less is tight */
/* The part that every layout must leave by the plan's goal; not `set`: by default. */
const BaseNum *pln_headroom (const Pln *plan);
/* What a step leaves of the memory of its fullest GPU, 0 to 1; NAN: its size is not known. */
double pln_memory_left (const TrnClosedStep *step);
double pln_tokens (const Pln *plan); /* of the goal; 0: none */
/* 0: none; *confidence NAN: none is asked for; NULL: not wanted. */
double pln_deadline_s (const Pln *plan, double *confidence);
/* How likely the run of a row ends within limit_s, 0 to 1: the step's error is normal in ln time, 90 % of it in its band. */
double pln_chance_within (const PlnChoiceRow *row, double limit_s);
PlnAcquisition pln_basis (const Pln *plan); /* what is ranked: all bought, or all rented; NONE: no prices */
PlnAcquire pln_acquire (const Pln *plan);
/* What a row costs bought or rented. FALSE: there is no price, or the plan does not ask for it. */
gboolean pln_money (const Pln *plan, const PlnChoiceRow *row, PlnAcquisition way, MdlMoney *out);
/* What of an option's purchase has no price, while the rest has: "network"; NULL: nothing, as of rent. Static. Sums of such an
 * option are its known part, the least that it costs. Where money decides, it ranks behind options whose price is whole, and
 * has no odds and no flip points; where a limit of the goal is on that money, it is rejected as without a price, if its known part
 * does not break the limit. */
const char *pln_unpriced_part (const Pln *plan, guint machine, PlnAcquisition way);
/* The same of what the plan ranks, of a row. */
gboolean pln_is_partial (const Pln *plan, const PlnChoiceRow *row);
/* What to write so that this part has a price. Returned: full; NULL: all has. */
char *pln_price_remedy (const Pln *plan, guint machine, PlnAcquisition way);
/* Topologies of the choices without any price: "a, b"; NULL: all have one, or none is asked for. Returned: full. */
char *pln_unpriced (const Pln *plan);
/* Topologies that have no price of this acquisition: "mi300x, gb200_nvl72"; NULL: all have. Returned: full. */
char *pln_without_price (const Pln *plan, PlnAcquisition acquisition);
/* Why a layout of a machine is refused, the first of those that are; NULL: none is. Returned: full. */
char *pln_why_refused (const Pln *plan, guint machine);
/* Whether training steps were measured on a machine's GPU. */
gboolean pln_steps_were_measured (const Pln *plan, guint machine);
const char *pln_model (const Pln *plan);
const PlnPricesSpec *pln_prices (const Pln *plan); /* NULL: none */
/* Half-width of a price's 90 % band, relative; 0 for what is no price. */
double pln_price_band (const Pln *plan, const BaseNum *num, BaseDim dim);
/* For every price where the order flips, nearest first; none of a front, or without tokens. Returned: full, PlnFlip. */
GArray *pln_flips (const Pln *plan, const PlnResult *result);
/* What the plan counts of failures; FALSE: none. */
typedef struct {
  const char *rates, *summary; /* borrowed; summary may be NULL */
  BaseSource source;           /* the weakest of what goodput rests on */
  double every_steps;          /* between checkpoints; NAN: each machine's best */
  const char *tier;            /* NULL: the times are given: */
  gboolean asynchronous;
  double stall_s, drain_s, restore_s;
} PlnFailures;
gboolean pln_failures (const Pln *plan, PlnFailures *out);
const GArray *pln_machines (const Pln *plan); /* PlnMachine */

typedef struct {
  guint threads;        /* of the first stage: machines are dealt out to them, and the answer does not depend on how many */
  guint best;           /* rows that the engine has run in the end, and that meet the constraints */
  gboolean per_machine; /* no two of them of one machine */
  gboolean only_rank;   /* which rows are alike and which rivals there are is not asked */
} PlnQuery;
/* Asks for everything that divides, and has the engine run the best. NULL and *error on failure. Returned: full. */
PlnResult *pln_search (Pln *plan, const PlnQuery *query, GError **error);
void pln_result_free (PlnResult *result);
/* Runs a row in the engine once more, with the terms that its step is made of. The result borrows from *scenario; both full. NULL
 * and *error on failure, *scenario may be full then too. */
ScnResult *pln_run (const Pln *plan, const PlnChoiceRow *row, gboolean want_spans, Scn **scenario, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlnResult, pln_result_free)
/* For callers that search a plan many times, with other constants: of each machine the best `each` configurations by the closed
 * form, and as many of those that a constraint puts out; no twins. `steps`, where it is empty, takes a GArray (full) for each
 * machine: TrnClosedStep of all its cuts, n_ranks 0 where one is refused; else it has them; NULL: not wanted. NULL and *error on
 * failure. Returned: full, PlnChoiceRow. */
GArray *pln_contenders (const Pln *plan, guint threads, guint each, GPtrArray *steps, GError **error);
/* By machine and cut, a GArray of double: the value that the plan minimises, of steps of pln_contenders(); NAN: it has none, or it
 * misses a constraint. Returned: full. */
GPtrArray *pln_formulas (const Pln *plan, guint threads, const GPtrArray *steps);
/* The least that a contender that meets the constraints comes to; infinite: none does. */
double pln_least_of (const Pln *plan, const GArray *contenders);
/* By machine, whether all its contenders are worse than the best of all that meets the constraints by more than the factor `near`;
 * FALSE where nothing meets them. Returned: full. */
gboolean *pln_far_machines (const Pln *plan, const GArray *contenders, double near);
/* Those that are not worse than the best of their own machine that meets the constraints by more than the factor `near`. Returned:
 * full, PlnChoiceRow. */
GArray *pln_near_contenders (const Pln *plan, const GArray *contenders, double near);
/* Reads the scenario of a machine once more, for what its lookup's watch sees of it. FALSE and *error on failure. */
gboolean pln_read_machine (const Pln *plan, guint machine, GError **error);
/* The best of them on each machine, by number of machine; `formula` is NAN where none meets the constraints. `plan` may be another
 * one with the same machines. NULL and *error on failure. Returned: full, PlnChoiceRow. */
GArray *pln_leads (const Pln *plan, const GArray *contenders, GError **error);
/* The same up to the first machine whose `formula` is not, to the last bit, what `until` has of it; NULL: of all machines.
 * One whose best by `contenders` comes to something else is not, and its `formula` is that. */
GArray *pln_leads_until (const Pln *plan, const GArray *contenders, const double *until, GError **error);

#endif
