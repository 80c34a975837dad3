/* A plan's search: closed form over everything that divides, then the engine on the best few (plan_engine.c) and what can be told
 * apart of what is left (plan_apart.c). Who does it: plan_work.c. */
#include <math.h>

#include "plan_work-private.h"

#define LEAST_GOODPUT 1e-3 /* below, a run hardly gets on */

const char *const wrk_out_texts[WRK_OUT_N] = {
  [WRK_OUT_GPUS] = "do not divide the GPUs",
  [WRK_OUT_LAYERS] = "do not divide the layers",
  [WRK_OUT_BATCH] = "do not divide the global batch",
  [WRK_OUT_SCHEDULE] = "have counts that their schedule does not take",
  [WRK_OUT_REFUSED] = "cut the model where it cannot be cut",
  [WRK_OUT_PRICE] = "are on machines without a price",
  [WRK_OUT_MEMORY] = "do not fit into memory",
  [WRK_OUT_GPU_LIMIT] = "have more GPUs than allowed",
  [WRK_OUT_POWER] = "draw more power than allowed",
  [WRK_OUT_GOODPUT] = "have less goodput than asked",
  [WRK_OUT_DEADLINE] = "end after the deadline",
  [WRK_OUT_BUDGET] = "cost more than the budget",
};

/* ---- what a configuration comes to ---- */

static double
building (const WrkPlan *plan)
{
  return plan->has_prices ? fmax (plan->prices.pue.v, 1) : 1;
}

void
wrk_plan_price (const WrkPlan *plan, WrkChoiceRow *row)
{
  const WrkMachine *machine = &g_array_index (plan->machines, WrkMachine, row->machine);
  double tokens = wrk_plan_tokens (plan), steps = tokens > 0 ? tokens / row->step.tokens : 1;
  double busy = (row->step.part_s[WRK_PART_COMPUTE] + row->step.part_s[WRK_PART_OPTIMIZER]) / row->step.step_time_s;
  double useful_s = steps * row->step_time_s;
  row->goodput = wrk_plan_goodput (plan, row, useful_s);
  row->run_s = useful_s / row->goodput;
  double used_W = machine->gpus * mdl_power_W (machine->load_W, machine->idle_W, busy) + machine->nodes * machine->host_W +
                  machine->fabric_W + machine->storage_W;
  row->power_W = used_W * building (plan);
  const MdlMoneyAsk own = { .capital_usd = machine->capital_usd,
                            .amortised_s = plan->has_prices && plan->prices.amortisation.set ? plan->prices.amortisation.v : 0,
                            .power_W = used_W,
                            .pue = building (plan),
                            .electricity_usd_per_J = plan->has_prices ? plan->prices.electricity.v : 0 };
  MdlMoneyAsk rent = { .rent_usd_per_s = machine->rent_usd_per_s, .power_W = used_W, .pue = building (plan) };
  MdlMoney other;
  row->way = machine->capital_usd > 0 ? WRK_WAY_OWN : machine->rent_usd_per_s > 0 ? WRK_WAY_RENT : WRK_WAY_NONE;
  mdl_money (row->way == WRK_WAY_RENT ? &rent : &own, row->run_s, &row->money);
  mdl_money (&rent, row->run_s, &other);
  if (row->way == WRK_WAY_OWN && machine->rent_usd_per_s > 0 && other.total_usd < row->money.total_usd) {
    row->way = WRK_WAY_RENT;
    row->money = other;
  }
  row->usd_per_token = row->way != WRK_WAY_NONE ? row->money.total_usd / (steps * row->step.tokens) : (double)NAN;
}

WrkOut
wrk_plan_misses (const WrkPlan *plan, const WrkChoiceRow *row, double *over)
{
  const WrkMachine *machine = &g_array_index (plan->machines, WrkMachine, row->machine);
  const WrkPlanSpec *s = &plan->spec;
  gboolean money = wrk_plan_asks_money (plan) || s->goal.budget.set;
  double most_W = (machine->gpus * machine->load_W + machine->nodes * machine->host_W + machine->fabric_W + machine->storage_W) *
                  building (plan);
  const struct {
    WrkOut out;
    gboolean set;
    double value, limit;
  } limits[] = {
    { WRK_OUT_MEMORY, row->step.capacity_B > 0, row->step.memory_B, row->step.capacity_B },
    { WRK_OUT_GPU_LIMIT, s->limits.gpus.set, machine->gpus, s->limits.gpus.v },
    { WRK_OUT_POWER, s->limits.power.set, most_W, s->limits.power.v },
    { WRK_OUT_GOODPUT, machine->fails, fmax (s->limits.goodput.v, LEAST_GOODPUT), fmax (row->goodput, LEAST_GOODPUT / 1e6) },
    { WRK_OUT_DEADLINE, s->goal.deadline.set, row->run_s, s->goal.deadline.v },
    { WRK_OUT_BUDGET, s->goal.budget.set && row->way != WRK_WAY_NONE, row->money.total_usd, s->goal.budget.v },
  };
  *over = 0;
  if (money && row->step.fits && row->way == WRK_WAY_NONE)
    return WRK_OUT_PRICE;
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    if (limits[i].set && limits[i].value > limits[i].limit) {
      *over = limits[i].value / limits[i].limit - 1;
      return limits[i].out;
    }
  return WRK_OUT_N;
}

double
wrk_plan_least (const WrkPlan *plan, const WrkChoiceRow *row)
{
  switch (wrk_plan_aim (plan)) {
    case WRK_AIM_COST:
    case WRK_AIM_PARETO:
      return row->money.total_usd;
    case WRK_AIM_COST_PER_TOKEN:
      return row->usd_per_token;
    case WRK_AIM_ENERGY:
      return row->power_W * row->run_s;
    case WRK_AIM_TIME:
    default:
      return row->run_s;
  }
}

void
wrk_plan_take_step (const WrkPlan *plan, guint machine, const WrkClosedAsk *ask, const WrkClosedStep *step, WrkChoiceRow *row)
{
  *row = (WrkChoiceRow){ .machine = machine,
                         .ask = *ask,
                         .step = *step,
                         .step_time_s = step->step_time_s,
                         .step_time_lo_s = step->step_time_lo_s,
                         .step_time_hi_s = step->step_time_hi_s };
  if (!step->fits) /* it has no time */
    return;
  wrk_plan_price (plan, row);
  row->formula = wrk_plan_least (plan, row);
  row->formula_s = row->run_s;
  row->formula_usd = row->money.total_usd;
}

gint
wrk_plan_compare (gconstpointer a, gconstpointer b, gpointer plan)
{
  double x = wrk_plan_least (plan, a), y = wrk_plan_least (plan, b);
  return x < y ? -1 : x > y;
}

/* What all pieces came to, in their order. */
static void
gather (const WrkPlanWork *work, WrkPlanResult *out)
{
  memcpy (out->out, work->out, sizeof out->out);
  for (guint i = 0; i < work->pieces->len; i++) {
    const WrkPiece *piece = &g_array_index (work->pieces, WrkPiece, i);
    out->n_asked += piece->n_cuts;
    if (piece->rows != NULL)
      g_array_append_vals (out->rows, piece->rows, (guint)piece->count.n_rows);
    for (int o = 0; o < WRK_OUT_N; o++) {
      if (piece->count.out[o] > 0)
        out->over[o] = out->out[o] == 0 ? piece->count.over[o] : fmin (out->over[o], piece->count.over[o]);
      out->out[o] += piece->count.out[o];
    }
  }
  for (int o = 0; o < WRK_OUT_N; o++)
    out->n_asked += work->out[o];
  g_array_sort_with_data (out->rows, wrk_plan_compare, work->plan); /* stable: equal ones stay in order */
  g_array_unref (wrk_plan_mark_front (work->plan, out->rows, FALSE));
  out->n_met = out->rows->len;
}

WrkPlanResult *
wrk_plan_work_search (WrkPlanWork *work, const WrkPlanAsk *ask, GError **error)
{
  if (!wrk_plan_work_reckon (work, error))
    return NULL;
  if (wrk_plan_work_n_open (work) > 0) {
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_RUN, "%u of %u pieces of the plan are not done", wrk_plan_work_n_open (work),
                 wrk_plan_work_n_pieces (work));
    return NULL;
  }
  WrkPlanResult *out = g_new0 (WrkPlanResult, 1);
  out->rows = g_array_new (FALSE, FALSE, sizeof (WrkChoiceRow));
  out->per_machine = ask->per_machine;
  out->rivals = g_array_new (FALSE, FALSE, sizeof (WrkRival));
  gather (work, out);
  if (wrk_plan_second_stage (work, ask, out, error) && wrk_plan_tell_apart (work->plan, out, error))
    return out;
  wrk_plan_result_free (out);
  return NULL;
}

WrkPlanResult *
wrk_plan_search (WrkPlan *plan, const WrkPlanAsk *ask, GError **error)
{
  const WrkPlanCrew crew = { .threads = ask->threads };
  g_autoptr (WrkPlanWork) work = wrk_plan_work_new (plan, &crew, error);
  return work != NULL ? wrk_plan_work_search (work, ask, error) : NULL;
}

void
wrk_plan_result_free (WrkPlanResult *result)
{
  if (result == NULL)
    return;
  g_array_unref (result->rivals);
  g_array_unref (result->rows);
  g_free (result);
}
