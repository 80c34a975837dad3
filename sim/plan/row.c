/* What a configuration of a plan comes to: its time, power and money, which constraint it misses, and which of two is better. */
#include <math.h>
#include <string.h>

#include "work-private.h"

#define LEAST_GOODPUT 1e-3 /* below, a run hardly gets on */

const char *const pln_out_texts[PLN_REJECTED_N] = {
  [PLN_REJECTED_GPUS] = "do not divide the GPUs",
  [PLN_REJECTED_LAYERS] = "do not divide the layers",
  [PLN_REJECTED_BATCH] = "do not divide the global batch",
  [PLN_REJECTED_SCHEDULE] = "do not suit their pipeline schedule",
  [PLN_REJECTED_REFUSED] = "split the model where it cannot be split",
  [PLN_REJECTED_PRICE] = "have no price",
  [PLN_REJECTED_MEMORY] = "do not fit into memory",
  [PLN_REJECTED_HEADROOM] = "leave too little memory free",
  [PLN_REJECTED_GPU_LIMIT] = "have more GPUs than allowed",
  [PLN_REJECTED_POWER] = "draw more power than allowed",
  [PLN_REJECTED_GOODPUT] = "have too little goodput",
  [PLN_REJECTED_DEADLINE] = "end after the deadline",
  [PLN_REJECTED_CAPEX] = "cost more to buy than capex",
  [PLN_REJECTED_RUN_COST] = "have a run cost over the limit",
};

PlnAim
pln_aim (const Pln *plan)
{
  return (PlnAim)plan->spec.aim.v;
}

double
pln_tokens (const Pln *plan)
{
  return plan->spec.goal.tokens.set ? plan->spec.goal.tokens.v : 0;
}

gboolean
pln_needs_money (const Pln *plan)
{
  const BaseEnum *aim = &plan->spec.aim;
  return aim->v == PLN_AIM_COST || aim->v == PLN_AIM_COST_PER_TOKEN || aim->v == PLN_AIM_PARETO;
}

static double
building (const Pln *plan)
{
  return plan->has_prices ? fmax (plan->prices.pue.v, 1) : 1;
}

gboolean
pln_money (const Pln *plan, const PlnChoiceRow *row, PlnAcquisition way, MdlMoney *out)
{
  const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, row->machine);
  gboolean own = way == PLN_ACQUISITION_BUY, both = plan->spec.acquire.v == PLN_ACQUIRE_BOTH;
  MdlMoneyQuery query = own ? machine->own : machine->rent;
  query.power_W = row->power_W / query.pue;
  mdl_money (&query, row->run_s, out); /* energy is known without a price, too */
  return way != PLN_ACQUISITION_NONE && (both || own == (plan->spec.acquire.v == PLN_ACQUIRE_OWN)) &&
         (own ? query.capital_usd : query.rent_usd_per_s) > 0;
}

void
pln_price (const Pln *plan, PlnChoiceRow *row)
{
  const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, row->machine);
  double tokens = pln_tokens (plan), steps = tokens > 0 ? tokens / row->step.tokens : 1;
  double busy = (row->step.part_s[TRN_PART_COMPUTE] + row->step.part_s[TRN_PART_OPTIMIZER]) / row->step.step_time_s;
  double useful_s = steps * row->step_time_s;
  row->goodput = pln_goodput (plan, row, useful_s);
  row->run_s = useful_s / row->goodput;
  double used_W = machine->gpus * mdl_power_W (machine->load_W, machine->idle_W, busy) + machine->nodes * machine->host_W +
                  machine->fabric_W + machine->storage_W;
  row->power_W = used_W * building (plan);
  row->way = pln_money (plan, row, plan->basis, &row->money) ? plan->basis : PLN_ACQUISITION_NONE;
  row->usd_per_token = row->way != PLN_ACQUISITION_NONE ? row->money.total_usd / (steps * row->step.tokens) : (double)NAN;
}

double
pln_memory_share (const Pln *plan)
{
  return 1 - plan->spec.goal.memory.headroom.v;
}

const BaseNum *
pln_headroom (const Pln *plan)
{
  return &plan->spec.goal.memory.headroom;
}

double
pln_memory_left (const TrnClosedStep *step)
{
  return step->capacity_B > 0 ? fmax (1 - step->memory_B / step->capacity_B, 0) : (double)NAN;
}

/* A constraint: what a row has of it, and what it may have. */
typedef struct {
  PlnRejection out;
  gboolean set;
  double value, limit;
} Limit;
enum { LIMITS = PLN_REJECTED_N - PLN_REJECTED_MEMORY };

static void
limits_of (const Pln *plan, const PlnChoiceRow *row, Limit limits[LIMITS])
{
  const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, row->machine);
  const PlnSpec *s = &plan->spec;
  double most_W = (machine->gpus * machine->load_W + machine->nodes * machine->host_W + machine->fabric_W + machine->storage_W) *
                  building (plan);
  const Limit all[LIMITS] = {
    { PLN_REJECTED_MEMORY, row->step.capacity_B > 0, row->step.memory_B, row->step.capacity_B },
    { PLN_REJECTED_HEADROOM, row->step.capacity_B > 0, row->step.memory_B / row->step.capacity_B, pln_memory_share (plan) },
    { PLN_REJECTED_GPU_LIMIT, s->limits.gpus.set, machine->gpus, s->limits.gpus.v },
    { PLN_REJECTED_POWER, s->limits.power.set, most_W, s->limits.power.v },
    { PLN_REJECTED_GOODPUT, machine->fails, fmax (s->limits.goodput.v, LEAST_GOODPUT), fmax (row->goodput, LEAST_GOODPUT / 1e6) },
    { PLN_REJECTED_DEADLINE, plan->deadline_s > 0, pln_sure_s (plan, row), plan->deadline_s },
    { PLN_REJECTED_CAPEX, s->goal.capex.set, machine->capital_usd, s->goal.capex.v },
    { PLN_REJECTED_RUN_COST, s->goal.run_cost.set && row->way != PLN_ACQUISITION_NONE, row->money.total_usd, s->goal.run_cost.v },
  };
  memcpy (limits, all, sizeof all);
}

static gboolean
lacks_price (const Pln *plan, const PlnChoiceRow *row)
{
  const PlnGoalSpec *goal = &plan->spec.goal;
  gboolean money = pln_needs_money (plan) || goal->capex.set || goal->run_cost.set;
  if (!money || !row->step.fits || !(row->step.step_time_s > 0))
    return FALSE;
  if (row->way == PLN_ACQUISITION_NONE)
    return TRUE;
  const double capital_usd = g_array_index (plan->machines, PlnMachine, row->machine).capital_usd;
  return (goal->capex.set && capital_usd <= goal->capex.v && pln_unpriced_part (plan, row->machine, PLN_ACQUISITION_BUY) != NULL) ||
         (goal->run_cost.set && row->money.total_usd <= goal->run_cost.v && pln_is_partial (plan, row));
}

void
pln_needs (const Pln *plan, const PlnChoiceRow *row, double need[PLN_REJECTED_N], double limit[PLN_REJECTED_N])
{
  Limit limits[LIMITS];
  limits_of (plan, row, limits);
  for (int o = 0; o < PLN_REJECTED_N; o++)
    need[o] = limit[o] = 0;
  need[PLN_REJECTED_PRICE] = lacks_price (plan, row) ? 1 : 0;
  for (guint i = 0; i < (row->step.fits ? LIMITS : 1u); i++) /* the memory first: what does not fit has no time */
    if (limits[i].set && limits[i].value > limits[i].limit) {
      gboolean least = limits[i].out == PLN_REJECTED_GOODPUT;
      need[limits[i].out] = least ? limits[i].limit : limits[i].value;
      limit[limits[i].out] = least ? limits[i].value : limits[i].limit;
    }
}

PlnRejection
pln_misses (const Pln *plan, const PlnChoiceRow *row, double *over)
{
  Limit limits[LIMITS];
  *over = 0;
  if (lacks_price (plan, row))
    return PLN_REJECTED_PRICE;
  limits_of (plan, row, limits);
  for (guint i = 0; i < LIMITS; i++)
    if (limits[i].set && limits[i].value > limits[i].limit) {
      *over = limits[i].value / limits[i].limit - 1;
      return limits[i].out;
    }
  return PLN_REJECTED_N;
}

double
pln_least (const Pln *plan, const PlnChoiceRow *row)
{
  switch (pln_aim (plan)) {
    case PLN_AIM_COST:
    case PLN_AIM_PARETO:
      return row->money.total_usd;
    case PLN_AIM_COST_PER_TOKEN:
      return row->usd_per_token;
    case PLN_AIM_ENERGY:
      return row->power_W * row->run_s;
    case PLN_AIM_GPUS: /* of as many the fastest: less than one GPU for any time */
      return g_array_index (plan->machines, PlnMachine, row->machine).gpus + row->run_s / (row->run_s + 3e9);
    case PLN_AIM_TIME:
    default:
      return row->run_s;
  }
}

/* The band of a machine whose steps were never measured: what doubt there is adds in squares. */
static void
widen (const Pln *plan, PlnChoiceRow *row)
{
  const double doubt = g_array_index (plan->machines, PlnMachine, row->machine).doubt;
  if (!(doubt > 0))
    return;
  row->step_time_hi_s = row->step_time_s * exp (hypot (log (row->step_time_hi_s / row->step_time_s), doubt));
  row->step_time_lo_s = row->step_time_s * exp (-hypot (log (row->step_time_s / row->step_time_lo_s), doubt));
}

void
pln_take_step (const Pln *plan, guint machine, const TrnClosedQuery *query, const TrnClosedStep *step, PlnChoiceRow *row)
{
  *row = (PlnChoiceRow){ .machine = machine,
                         .query = *query,
                         .step = *step,
                         .step_time_s = step->step_time_s,
                         .step_time_lo_s = step->step_time_lo_s,
                         .step_time_hi_s = step->step_time_hi_s };
  if (!step->fits || !(step->step_time_s > 0)) /* it has no time */
    return;
  widen (plan, row);
  pln_price (plan, row);
  row->formula = pln_least (plan, row);
  row->formula_s = row->run_s;
  row->formula_usd = row->money.total_usd;
}

gint
pln_compare (gconstpointer a, gconstpointer b, gpointer plan)
{
  double x = pln_least (plan, a), y = pln_least (plan, b);
  if (((const Pln *)plan)->mixed_prices && pln_is_partial (plan, a) != pln_is_partial (plan, b))
    return pln_is_partial (plan, a) ? 1 : -1;
  return x < y ? -1 : x > y;
}

void
pln_take_run (const Pln *plan, const PlnRun *run, PlnChoiceRow *row)
{
  row->simulated = TRUE;
  row->step_time_s = row->step.step_time_s = run->step_time_s;
  row->step_time_lo_s = run->step_time_lo_s;
  row->step_time_hi_s = run->step_time_hi_s;
  widen (plan, row);
  row->step.mfu = run->mfu;
  row->step.restore_B = run->restore_B;
  memcpy (row->step.part_s, run->part_s, sizeof run->part_s);
  pln_price (plan, row);
}
