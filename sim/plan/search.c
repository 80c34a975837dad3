/* A plan's search: closed form over everything that divides, then the engine on the best few (simulate.c) and what can be told
 * apart of what is left (distinguish.c). Who does it: work.c. */
#include <math.h>

#include "work-private.h"

#define LEAST_GOODPUT 1e-3 /* below, a run hardly gets on */

const char *const pln_out_texts[PLN_OUT_N] = {
  [PLN_OUT_GPUS] = "do not divide the GPUs",
  [PLN_OUT_LAYERS] = "do not divide the layers",
  [PLN_OUT_BATCH] = "do not divide the global batch",
  [PLN_OUT_SCHEDULE] = "have counts that their schedule does not take",
  [PLN_OUT_REFUSED] = "cut the model where it cannot be cut",
  [PLN_OUT_PRICE] = "are on machines without a price",
  [PLN_OUT_MEMORY] = "do not fit into memory",
  [PLN_OUT_GPU_LIMIT] = "have more GPUs than allowed",
  [PLN_OUT_POWER] = "draw more power than allowed",
  [PLN_OUT_GOODPUT] = "have less goodput than asked",
  [PLN_OUT_DEADLINE] = "end after the deadline",
  [PLN_OUT_BUDGET] = "cost more than the budget",
};

/* ---- what a configuration comes to ---- */

static double
building (const Pln *plan)
{
  return plan->has_prices ? fmax (plan->prices.pue.v, 1) : 1;
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
  const MdlMoneyAsk own = { .capital_usd = machine->capital_usd,
                            .amortised_s = plan->has_prices && plan->prices.amortisation.set ? plan->prices.amortisation.v : 0,
                            .power_W = used_W,
                            .pue = building (plan),
                            .electricity_usd_per_J = plan->has_prices ? plan->prices.electricity.v : 0 };
  MdlMoneyAsk rent = { .rent_usd_per_s = machine->rent_usd_per_s, .power_W = used_W, .pue = building (plan) };
  MdlMoney other;
  row->way = machine->capital_usd > 0 ? PLN_WAY_OWN : machine->rent_usd_per_s > 0 ? PLN_WAY_RENT : PLN_WAY_NONE;
  mdl_money (row->way == PLN_WAY_RENT ? &rent : &own, row->run_s, &row->money);
  mdl_money (&rent, row->run_s, &other);
  if (row->way == PLN_WAY_OWN && machine->rent_usd_per_s > 0 && other.total_usd < row->money.total_usd) {
    row->way = PLN_WAY_RENT;
    row->money = other;
  }
  row->usd_per_token = row->way != PLN_WAY_NONE ? row->money.total_usd / (steps * row->step.tokens) : (double)NAN;
}

PlnOut
pln_misses (const Pln *plan, const PlnChoiceRow *row, double *over)
{
  const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, row->machine);
  const PlnSpec *s = &plan->spec;
  gboolean money = pln_asks_money (plan) || s->goal.budget.set;
  double most_W = (machine->gpus * machine->load_W + machine->nodes * machine->host_W + machine->fabric_W + machine->storage_W) *
                  building (plan);
  const struct {
    PlnOut out;
    gboolean set;
    double value, limit;
  } limits[] = {
    { PLN_OUT_MEMORY, row->step.capacity_B > 0, row->step.memory_B, row->step.capacity_B },
    { PLN_OUT_GPU_LIMIT, s->limits.gpus.set, machine->gpus, s->limits.gpus.v },
    { PLN_OUT_POWER, s->limits.power.set, most_W, s->limits.power.v },
    { PLN_OUT_GOODPUT, machine->fails, fmax (s->limits.goodput.v, LEAST_GOODPUT), fmax (row->goodput, LEAST_GOODPUT / 1e6) },
    { PLN_OUT_DEADLINE, s->goal.deadline.set, row->run_s, s->goal.deadline.v },
    { PLN_OUT_BUDGET, s->goal.budget.set && row->way != PLN_WAY_NONE, row->money.total_usd, s->goal.budget.v },
  };
  *over = 0;
  if (money && row->step.fits && row->way == PLN_WAY_NONE)
    return PLN_OUT_PRICE;
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    if (limits[i].set && limits[i].value > limits[i].limit) {
      *over = limits[i].value / limits[i].limit - 1;
      return limits[i].out;
    }
  return PLN_OUT_N;
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
    case PLN_AIM_TIME:
    default:
      return row->run_s;
  }
}

void
pln_take_step (const Pln *plan, guint machine, const TrnClosedAsk *ask, const TrnClosedStep *step, PlnChoiceRow *row)
{
  *row = (PlnChoiceRow){ .machine = machine,
                         .ask = *ask,
                         .step = *step,
                         .step_time_s = step->step_time_s,
                         .step_time_lo_s = step->step_time_lo_s,
                         .step_time_hi_s = step->step_time_hi_s };
  if (!step->fits) /* it has no time */
    return;
  pln_price (plan, row);
  row->formula = pln_least (plan, row);
  row->formula_s = row->run_s;
  row->formula_usd = row->money.total_usd;
}

gint
pln_compare (gconstpointer a, gconstpointer b, gpointer plan)
{
  double x = pln_least (plan, a), y = pln_least (plan, b);
  return x < y ? -1 : x > y;
}

/* What all pieces came to, in their order. */
static void
gather (const PlnWork *work, PlnResult *out)
{
  memcpy (out->out, work->out, sizeof out->out);
  for (guint i = 0; i < work->pieces->len; i++) {
    const PlnPiece *piece = &g_array_index (work->pieces, PlnPiece, i);
    out->n_asked += piece->n_cuts;
    if (piece->rows != NULL)
      g_array_append_vals (out->rows, piece->rows, (guint)piece->count.n_rows);
    for (int o = 0; o < PLN_OUT_N; o++) {
      if (piece->count.out[o] > 0)
        out->over[o] = out->out[o] == 0 ? piece->count.over[o] : fmin (out->over[o], piece->count.over[o]);
      out->out[o] += piece->count.out[o];
    }
  }
  for (int o = 0; o < PLN_OUT_N; o++)
    out->n_asked += work->out[o];
  g_array_sort_with_data (out->rows, pln_compare, work->plan); /* stable: equal ones stay in order */
  g_array_unref (pln_mark_front (work->plan, out->rows, FALSE));
  out->n_met = out->rows->len;
}

PlnResult *
pln_work_search (PlnWork *work, const PlnAsk *ask, GError **error)
{
  if (!pln_work_reckon (work, error))
    return NULL;
  if (pln_work_n_open (work) > 0) {
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_RUN, "%u of %u pieces of the plan are not done", pln_work_n_open (work),
                 pln_work_n_pieces (work));
    return NULL;
  }
  PlnResult *out = g_new0 (PlnResult, 1);
  out->rows = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
  out->per_machine = ask->per_machine;
  out->rivals = g_array_new (FALSE, FALSE, sizeof (PlnRival));
  gather (work, out);
  if (pln_second_stage (work, ask, out, error) && pln_tell_apart (work->plan, out, error))
    return out;
  pln_result_free (out);
  return NULL;
}

PlnResult *
pln_search (Pln *plan, const PlnAsk *ask, GError **error)
{
  const PlnCrew crew = { .threads = ask->threads };
  g_autoptr (PlnWork) work = pln_work_new (plan, &crew, error);
  return work != NULL ? pln_work_search (work, ask, error) : NULL;
}

void
pln_result_free (PlnResult *result)
{
  if (result == NULL)
    return;
  g_array_unref (result->rivals);
  g_array_unref (result->rows);
  g_free (result);
}
