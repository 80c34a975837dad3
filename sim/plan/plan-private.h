/* Inside of plans: the file as read, and what the search makes of it. */
#ifndef PLAN_PLAN_PRIVATE_H
#define PLAN_PLAN_PRIVATE_H

#include "goodput/goodput.h"
#include "plan/work.h"
#include "scenario/loaded.h"

/* The longest run time, by one of two keys, and how likely it must be kept: 0 < confidence < 1, absent: one half. */
typedef struct {
  BaseHead head;
  BaseNum time, days, confidence;
} PlnDeadlineSpec;

typedef struct {
  BaseHead head;
  BaseNum headroom;
} PlnMemoryGoalSpec;

typedef struct {
  BaseHead head;
  BaseStr model;
  BaseNum tokens;
  PlnDeadlineSpec deadline;
  PlnMemoryGoalSpec memory;
  BaseNum capex, run_cost;
} PlnGoalSpec;

typedef struct {
  BaseHead head;
  BaseStrs topology;
  BaseNums nodes;
  BaseStrs domain, nic_count, nic_rate, kind, oversubscription, servers;
} PlnChoicesSpec;

/* Values of each key, "auto" for all that divide. */
typedef struct {
  BaseHead head;
  BaseStrs tp, cp, pp, vp, ep, zero, micro_batch, schedule, recompute;
} PlnFreeSpec;

typedef struct {
  BaseHead head;
  BaseNum power, gpus, goodput;
} PlnLimitSpec;

typedef struct {
  BaseHead head;
  BaseStr name, description;
  PlnGoalSpec goal;
  BaseEnum aim;
  PlnChoicesSpec choices;
  PlnFreeSpec free;
  const BaseYamlNode *fixed, *degrade;
  const BaseYamlNode *prices;
  BaseEnum acquire; /* PlnAcquire */
  PlnLimitSpec limits;
  TrnFailuresSpec failures;     /* some of its keys */
  TrnCheckpointSpec checkpoint; /* as of a scenario */
} PlnSpec;

struct Pln {
  BaseYaml *yaml;
  GPtrArray *inputs; /* BaseYaml * */
  BaseDiag *warnings;
  PlnSpec spec;
  PlnPricesSpec prices;
  gboolean has_prices;
  PlnAcquisition basis;
  gboolean mixed_prices; /* money decides, and of some options it is known in whole, of others in part */
  GPtrArray *fixed;      /* char *: "workload.sequence=8192" */
  GArray *machines;      /* PlnMachine */
  GArray *bare;          /* PlnMachine: the same before they were priced, to price them again; borrows */
  PlnOptions options;    /* its sets are in `yaml` already */
  ScnLibraryLoad load;
  void *user;
  PlnDistinguishSpec apart;
  double deadline_s, deadline_z; /* 0: none; and how many standard deviations of its time a run must stay below it */
  BaseSource failures_source;    /* the weakest of what goodput rests on */
  const BaseLookup *lookup;
  GMutex loading; /* of scenarios: what `load` keeps is kept once for all threads */
};

/* The scenario of a machine with this cut, or with none where `ask` is NULL. Returned: full. */
Scn *pln_scenario (const Pln *plan, const PlnMachine *machine, const TrnClosedQuery *query, GError **error);
/* Whether two machines differ by the network between their nodes alone, and by what they store on. */
gboolean pln_are_kin (const PlnMachine *a, const PlnMachine *b);
/* What a step of a cut comes to on a machine. */
void pln_take_step (const Pln *plan, guint machine, const TrnClosedQuery *query, const TrnClosedStep *step, PlnChoiceRow *row);

/* `failures` and `checkpoint` of a plan, and what does not go together in them. */
extern const BaseSchema pln_schema_plan_failures;
/* Writes `failures` and `checkpoint` where a plan with tokens leaves them out; `failures: none` becomes no failures. */
gboolean pln_default_failures (BaseYaml *yaml, GError **error);
gboolean pln_check_failures (const Pln *plan, GError **error);
/* Fills what the machine's failures come to, and what saving to a tier does. FALSE and *error where it has no such tier. */
gboolean pln_take_failures (Pln *plan, PlnMachine *machine, GError **error);
/* Goodput of useful_s by steps of a row; fills its checkpoint and the steps between two, NAN where none are counted. */
double pln_goodput (const Pln *plan, PlnChoiceRow *row, double useful_s);

/* A figure of the plan's list of prices. */
typedef struct {
  BaseNum *num; /* borrowed from the plan */
  BaseDim dim;
  char *path;      /* "nodes.hgx_b200.node" */
  const char *key; /* "node" */
  char *of;        /* "hgx_b200", "400 Gb/s": the item of a list; NULL: of no list */
} PlnPriceLeaf;
/* All that are set and above 0. Returned: full, PlnPriceLeaf. */
GArray *pln_price_leaves (const Pln *plan);
/* Prices rows (PlnChoiceRow) again with this figure times `factor`; not by two threads at once. `missed`, one a row: as of
 * pln_misses(); NULL: not wanted. */
void pln_at_price (const Pln *plan, const PlnPriceLeaf *leaf, double factor, GArray *rows, PlnRejection *missed);

/* The place of the value `text` itself in a list of choices. */
BaseMark pln_mark_of_choice (const BaseStrs *list, const char *text);
/* Why a machine is no scenario, at the place in the plan that it comes from: not in the text that stands for the scenario (its
 * second line is the machine, its third the model and what is fixed), nor as the --set by which keys are put there. FALSE. */
gboolean pln_tell_machine (const Pln *plan, const PlnMachine *machine, GError **error);
/* The tier that `fixed: {loader}` reads from; NULL: none. */
const char *pln_loader_tier (const Pln *plan);
/* Whether times of the run depend on a tier's servers: checkpoints go there, or data come from there. */
gboolean pln_times_tiers (const Pln *plan);
/* What a machine is built of, whatever it costs: network, storage, what they draw. FALSE and *error where it has no tier with the
 * servers that the plan chooses. */
gboolean pln_size_machine (const Pln *plan, PlnMachine *machine, GError **error);
/* What a machine costs to buy, part by part, and to rent. FALSE and *error where a part of its fabric has no price. */
gboolean pln_price_machine (const Pln *plan, PlnMachine *machine, GError **error);
/* Once all machines are priced: whether the plan ranks what is bought or what is rented, and what it warns of. */
void pln_choose_basis (Pln *plan);
/* `budget` of earlier versions, which did not say which money it meant. FALSE and *error where a mapping has it. */
gboolean pln_refuse_budget (const BaseYamlNode *map, GError **error);
/* Amounts of `goal` in the currency of the plan's prices become USD. FALSE and *error as of pln_read_prices(), or on another
 * currency. */
gboolean pln_convert_goal (BaseYaml *yaml, const BaseSchemaContext *context, GError **error);
/* The same, of whole NVLink domains, and with the power of their nodes that are not used. */
gboolean pln_price_domains (const Pln *plan, PlnMachine *machine, GError **error);

/* What a configuration takes of time, money and power, from its step; the way is the cheaper one. */
void pln_price (const Pln *plan, PlnChoiceRow *row);
extern const BaseSchema pln_schema_deadline;
/* Checks `deadline` and takes it into the plan. FALSE and *error on what contradicts itself. */
gboolean pln_check_deadline (Pln *plan, GError **error);
/* The time that a run stays below with the confidence of the deadline, s. */
double pln_sure_s (const Pln *plan, const PlnChoiceRow *row);
/* What layouts may take of a GPU's memory, 0 to 1. */
double pln_memory_share (const Pln *plan);
/* The first constraint that it does not meet and by how much, relative; PLN_REJECTED_N: it meets all. */
PlnRejection pln_misses (const Pln *plan, const PlnChoiceRow *row, double *over);
/* What each constraint that it misses would have to allow, and what it allows; 0 and 0 of those that it meets. Of what does not
 * fit into memory only that is known. */
void pln_needs (const Pln *plan, const PlnChoiceRow *row, double need[PLN_REJECTED_N], double limit[PLN_REJECTED_N]);
/* Of each machine that has no row in `out`, what keeps it out. */
void pln_find_nearest (const Pln *plan, guint threads, PlnResult *out);
/* Whether the aim is one of money, so that a machine without a price has none. */
gboolean pln_needs_money (const Pln *plan);

/* Marks the rows that no other one beats in time and cost together; none without tokens or prices. `again`: of those that are
 * marked or simulated, the ones that no other of them beats: what the engine says of one is not held against what the closed form
 * says of all others. Returned: full, guint, their numbers by rising time. */
GArray *pln_mark_front (const Pln *plan, GArray *rows, gboolean again);
/* The same, and puts them before the others, which stay in order. */
void pln_put_front_first (const Pln *plan, GArray *rows, gboolean again);
/* The order of the plan's aim. */
gint pln_compare (gconstpointer a, gconstpointer b, gpointer plan);
/* Whether two rows are of one machine and differ by their chunks at most. */
gboolean pln_are_twins (const PlnChoiceRow *a, const PlnChoiceRow *b);
/* The engine on the best few of rows in order; rows that it puts beyond a constraint leave. */
gboolean pln_second_stage (PlnWork *work, const PlnQuery *query, PlnResult *out, GError **error);

/* Reads `name` of calibrate/defaults/comparisons. */
gboolean pln_read_comparisons (Pln *plan, const char *name, const BaseSchemaContext *context, GError **error);
/* 95 % of predicted ratios of two rows that are so alike are within this error of measured ones; 0: not known. */
double pln_ratio_error (const Pln *plan, PlnSimilarity similarity, gboolean experts);
/* Half-width of the 90 % band of ln time that a machine has whose steps were never measured; 0: they were. */
double pln_doubt (const Pln *plan, const PlnMachine *machine);
/* How likely it is, 0 to 1/2, that what is predicted to take `more` (relative, at least 0) takes less. */
double pln_odds (double more, double half, double most);
/* Without rows. Returned: full. */
PlnResult *pln_result_new (void);
/* Marks rows that are indistinguishable from the first, or from the front, and fills the rivals. */
gboolean pln_distinguish (const Pln *plan, PlnResult *out, GError **error);

/* Appends every parallel layout of a cluster option to `cuts` (TrnClosedQuery), and counts those that do not divide; those that
 * only the global batch does not divide go to `others` (NULL: nowhere), with the nearest one that does. FALSE and *error on an
 * invalid value. */
gboolean pln_layouts (const Pln *plan, const PlnMachine *machine, GArray *cuts, GArray *others, guint64 out[PLN_REJECTED_N],
                      GError **error);

#endif
