/* A plan's search: closed form over everything that divides, a machine a job of a pool of threads, then the engine on the best few
 * (plan_engine.c) and what can be told apart of what is left (plan_apart.c). Rows of machines are put together in the order of the
 * machines, so the answer does not depend on the threads. */
#include <math.h>

#include "base/parallel.h"
#include "plan-private.h"

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
  double used_W =
      machine->gpus * mdl_power_W (machine->load_W, machine->idle_W, busy) + machine->nodes * machine->host_W + machine->fabric_W;
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
  double most_W = (machine->gpus * machine->load_W + machine->nodes * machine->host_W + machine->fabric_W) * building (plan);
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

/* ---- first stage ---- */

typedef struct {
  const WrkPlan *plan;
  guint machine;
  GArray *rows; /* WrkChoiceRow */
  guint64 asked, out[WRK_OUT_N];
  double over[WRK_OUT_N];
  GError *error;
} Job;

static void
take (Job *job, const WrkClosedAsk *ask, const WrkClosedStep *step)
{
  WrkChoiceRow row;
  double over;
  wrk_plan_take_step (job->plan, job->machine, ask, step, &row);
  WrkOut out = wrk_plan_misses (job->plan, &row, &over);
  if (out == WRK_OUT_N) {
    g_array_append_val (job->rows, row);
    return;
  }
  job->over[out] = job->out[out] == 0 ? over : fmin (job->over[out], over);
  job->out[out]++;
}

static void
search_machine (void *item)
{
  Job *job = item;
  const WrkMachine *machine = &g_array_index (job->plan->machines, WrkMachine, job->machine);
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (WrkClosedAsk));
  g_autoptr (WrkClosed) closed = wrk_closed_new (machine->scenario, &job->error);
  if (closed == NULL || !wrk_plan_cuts (job->plan, machine, cuts, job->out, &job->error))
    return;
  wrk_closed_skip_unfit (closed);
  for (int o = 0; o < WRK_OUT_N; o++)
    job->asked += job->out[o];
  job->asked += cuts->len;
  for (guint i = 0; i < cuts->len; i++) {
    const WrkClosedAsk *ask = &g_array_index (cuts, WrkClosedAsk, i);
    WrkClosedStep step;
    if (wrk_closed_step (closed, ask, &step, NULL))
      take (job, ask, &step);
    else
      job->out[WRK_OUT_REFUSED]++;
  }
}

gint
wrk_plan_compare (gconstpointer a, gconstpointer b, gpointer plan)
{
  double x = wrk_plan_least (plan, a), y = wrk_plan_least (plan, b);
  return x < y ? -1 : x > y;
}

static gboolean
first_stage (WrkPlan *plan, guint threads, WrkPlanResult *out, GError **error)
{
  guint n = plan->machines->len;
  g_autofree Job *jobs = g_new0 (Job, n);
  for (guint i = 0; i < n; i++)
    jobs[i] = (Job){ .plan = plan, .machine = i, .rows = g_array_new (FALSE, FALSE, sizeof (WrkChoiceRow)) };
  base_parallel_each (jobs, n, sizeof (Job), threads, search_machine);
  gboolean ok = TRUE;
  for (guint i = 0; i < n; i++) {
    g_array_append_vals (out->rows, jobs[i].rows->data, jobs[i].rows->len);
    out->n_asked += jobs[i].asked;
    for (int o = 0; o < WRK_OUT_N; o++) {
      if (jobs[i].out[o] > 0)
        out->over[o] = out->out[o] == 0 ? jobs[i].over[o] : fmin (out->over[o], jobs[i].over[o]);
      out->out[o] += jobs[i].out[o];
    }
    if (jobs[i].error != NULL && ok) {
      g_propagate_error (error, jobs[i].error);
      ok = FALSE;
    } else
      g_clear_error (&jobs[i].error);
    g_array_unref (jobs[i].rows);
  }
  g_array_sort_with_data (out->rows, wrk_plan_compare, plan); /* stable: equal ones stay in order */
  g_array_unref (wrk_plan_mark_front (plan, out->rows, FALSE));
  out->n_met = out->rows->len;
  return ok;
}

WrkPlanResult *
wrk_plan_search (WrkPlan *plan, const WrkPlanAsk *ask, GError **error)
{
  WrkPlanResult *out = g_new0 (WrkPlanResult, 1);
  out->rows = g_array_new (FALSE, FALSE, sizeof (WrkChoiceRow));
  out->per_machine = ask->per_machine;
  out->rivals = g_array_new (FALSE, FALSE, sizeof (WrkRival));
  if (first_stage (plan, ask->threads, out, error) && wrk_plan_second_stage (plan, ask, out, error) &&
      wrk_plan_tell_apart (plan, out, error))
    return out;
  wrk_plan_result_free (out);
  return NULL;
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
