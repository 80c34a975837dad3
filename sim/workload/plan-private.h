/* Inside of plans: the file as read, and what the search makes of it. */
#ifndef WORKLOAD_PLAN_PRIVATE_H
#define WORKLOAD_PLAN_PRIVATE_H

#include "goodput-private.h"
#include "scenario-private.h"
#include "workload/plan_work.h"

typedef struct {
  BaseHead head;
  BaseStr model;
  BaseNum tokens, deadline, budget;
} WrkGoalSpec;

typedef struct {
  BaseHead head;
  BaseStrs topology;
  BaseNums nodes;
  BaseStrs nic_rate, oversubscription;
} WrkChoicesSpec;

/* Values of each key, "auto" for all that divide. */
typedef struct {
  BaseHead head;
  BaseStrs tp, cp, pp, vp, ep, zero, micro_batch, schedule, recompute;
} WrkFreeSpec;

typedef struct {
  BaseHead head;
  BaseNum power, gpus, goodput;
} WrkLimitSpec;

typedef struct {
  BaseHead head;
  BaseStr name, description;
  WrkGoalSpec goal;
  BaseEnum aim;
  WrkChoicesSpec choices;
  WrkFreeSpec free;
  const BaseYamlNode *fixed;
  BaseStr prices;
  WrkLimitSpec limits;
  WrkFailuresSpec failures;     /* some of its keys */
  WrkCheckpointSpec checkpoint; /* as of a scenario */
} WrkPlanSpec;

struct WrkPlan {
  BaseYaml *yaml;
  GPtrArray *inputs; /* BaseYaml * */
  BaseDiag *warnings;
  WrkPlanSpec spec;
  WrkPricesSpec prices;
  gboolean has_prices;
  GPtrArray *fixed; /* char *: "workload.sequence=8192" */
  GArray *machines; /* WrkMachine */
  WrkPlanOptions options; /* its sets are in `yaml` already */
  WrkLibraryLoad load;
  void *user;
  WrkApartSpec apart;
  BaseSource failures_source; /* the weakest of what goodput rests on */
  const BaseLookup *lookup;
  GMutex loading; /* of scenarios: what `load` keeps is kept once for all threads */
};

/* The scenario of a machine with this cut, or with none where `ask` is NULL. Returned: full. */
WrkScenario *wrk_plan_scenario (const WrkPlan *plan, const WrkMachine *machine, const WrkClosedAsk *ask, GError **error);
/* What a step of a cut comes to on a machine. */
void wrk_plan_take_step (const WrkPlan *plan, guint machine, const WrkClosedAsk *ask, const WrkClosedStep *step, WrkChoiceRow *row);

/* `failures` and `checkpoint` of a plan, and what does not go together in them. */
extern const BaseSchema wrk_schema_plan_failures;
gboolean wrk_plan_check_failures (const WrkPlan *plan, GError **error);
/* Fills what the machine's failures come to, and what saving to a tier does. FALSE and *error where it has no such tier. */
gboolean wrk_plan_take_failures (WrkPlan *plan, WrkMachine *machine, GError **error);
/* Goodput of useful_s by steps of a row; fills its checkpoint and the steps between two, NAN where none are counted. */
double wrk_plan_goodput (const WrkPlan *plan, WrkChoiceRow *row, double useful_s);

/* Keys of a list of prices, and what they say of a machine: what it costs to buy and to rent, NULL: no price of its node. FALSE and
 * *error where a part of its fabric has no price. */
gboolean wrk_plan_check_prices (const WrkPricesSpec *prices, GError **error);
gboolean wrk_plan_price_machine (const WrkPlan *plan, WrkMachine *machine, GError **error);

/* What a configuration takes of time, money and power, from its step; the way is the cheaper one. */
void wrk_plan_price (const WrkPlan *plan, WrkChoiceRow *row);
/* The first constraint that it does not meet and by how much, relative; WRK_OUT_N: it meets all. */
WrkOut wrk_plan_misses (const WrkPlan *plan, const WrkChoiceRow *row, double *over);
/* Whether the aim is one of money, so that a machine without a price has none. */
gboolean wrk_plan_asks_money (const WrkPlan *plan);

/* Marks the rows that no other one beats in time and cost together; none without tokens or prices. `again`: of those that are
 * marked or simulated, the ones that no other of them beats: what the engine says of one is not held against what the closed form
 * says of all others. Returned: full, guint, their numbers by rising time. */
GArray *wrk_plan_mark_front (const WrkPlan *plan, GArray *rows, gboolean again);
/* The same, and puts them before the others, which stay in order. */
void wrk_plan_put_front_first (const WrkPlan *plan, GArray *rows, gboolean again);
/* The order of the plan's aim. */
gint wrk_plan_compare (gconstpointer a, gconstpointer b, gpointer plan);
/* Whether two rows are of one machine and differ by their chunks at most. */
gboolean wrk_plan_are_twins (const WrkChoiceRow *a, const WrkChoiceRow *b);
/* The engine on the best few of rows in order; rows that it puts beyond a constraint leave. */
gboolean wrk_plan_second_stage (WrkPlanWork *work, const WrkPlanAsk *ask, WrkPlanResult *out, GError **error);

/* Reads calibrate/defaults/comparisons. */
gboolean wrk_plan_read_comparisons (WrkPlan *plan, const BaseSchemaContext *context, GError **error);
/* How likely it is, 0 to 1/2, that what is predicted to take `more` (relative, at least 0) takes less. */
double wrk_plan_odds (double more, double half, double most);
/* Marks what cannot be told from the first, or from the front, and fills the rivals. */
gboolean wrk_plan_tell_apart (const WrkPlan *plan, WrkPlanResult *out, GError **error);

/* Every cut of a machine: WrkClosedAsk, appended to `cuts`; those that do not divide are counted. FALSE and *error on a value that
 * is none. */
gboolean wrk_plan_cuts (const WrkPlan *plan, const WrkMachine *machine, GArray *cuts, guint64 out[WRK_OUT_N], GError **error);

#endif
