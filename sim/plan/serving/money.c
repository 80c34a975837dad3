/* The money of a plan for a service as that of a plan for training sees it: a month of each option is a run, whose tokens are those
 * that are answered. So flip points, odds, costs by part and workbooks are those of plans for training. */
#include <math.h>

#include "fleet-private.h"

static guint
machine_number (const Pln *view, const PlnFleetRow *row, const char *topology)
{
  for (guint i = 0; i < view->machines->len; i++) {
    const PlnMachine *machine = &g_array_index (view->machines, PlnMachine, i);
    if (machine->topology == topology && machine->nodes == row->nodes)
      return i;
  }
  return G_MAXUINT;
}

/* Fraction of the time that a GPU of the cluster works, of all that are bought. */
static double
busy_of (const PlnFleet *fleet, const PlnFleetRow *row)
{
  double sum = 0;
  for (guint i = 0; i < (row->apart ? 2u : 1u); i++)
    sum += row->replicas[i] * row->pools[i].gpus * (row->simulated ? fmin (row->busy[i], 1) / fleet->spec.goal.peak.v : 1);
  return sum / row->gpus;
}

static PlnChoiceRow
choice_of (const PlnFleet *fleet, const Pln *view, const PlnFleetRow *row, guint machine)
{
  PlnChoiceRow out = { .machine = machine, .simulated = row->simulated };
  out.query.tp = row->pools[0].tp;
  out.query.pp = row->pools[0].pp;
  out.query.dp = row->replicas[0];
  out.step.fits = TRUE;
  out.step.tokens = pln_tokens (view);
  out.step.step_time_s = out.step_time_s = out.step_time_lo_s = out.step_time_hi_s = PLN_FLEET_MONTH_S;
  out.step.part_s[TRN_PART_COMPUTE] = busy_of (fleet, row) * PLN_FLEET_MONTH_S;
  pln_price (view, &out);
  out.formula = pln_least (view, &out);
  out.formula_s = out.run_s;
  out.formula_usd = out.money.total_usd;
  return out;
}

/* One rival of each other topology: its first row. Costs of which a part is not known are not compared. */
static void
keep_first_of_each (const PlnFleet *fleet, const PlnFleetResult *result, GArray *rivals)
{
  for (guint i = rivals->len; i-- > 0;) {
    const guint at = g_array_index (rivals, PlnAlternative, i).row;
    const guint machine = g_array_index (result->rows, PlnFleetRow, at).machine;
    gboolean later = fleet->spec.aim.v == PLN_FLEET_COST && !isfinite (g_array_index (result->rows, PlnFleetRow, at).usd_per_Mtok);
    for (guint k = 0; k < at && !later; k++)
      later = g_array_index (result->rows, PlnFleetRow, k).machine == machine;
    if (later)
      g_array_remove_index (rivals, i);
  }
}

const Pln *
pln_fleet_money (PlnFleet *fleet, const PlnFleetResult *result, PlnResult **out, GError **error)
{
  Pln *view = fleet->prices;
  view->spec.aim.v = fleet->spec.aim.v == PLN_FLEET_GPUS ? PLN_AIM_GPUS : PLN_AIM_COST;
  view->spec.goal.tokens = (BaseNum){ .set = TRUE, .v = fleet->mean_rate * fleet->output * PLN_FLEET_MONTH_S };
  view->spec.goal.capex = view->basis == PLN_ACQUISITION_BUY ? fleet->spec.goal.capex : (BaseNum){ 0 };
  view->spec.limits.gpus = fleet->spec.limits.gpus;
  g_array_set_size (view->machines, 0);
  g_array_set_size (view->bare, 0);
  PlnResult *money = *out = pln_result_new ();
  for (guint i = 0; i < result->rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, i);
    PlnFleetMachine *its = &g_array_index (fleet->machines, PlnFleetMachine, row->machine);
    guint number = machine_number (view, row, its->topology);
    if (number == G_MAXUINT) {
      const PlnFleetPriced *priced = pln_fleet_priced (fleet, its, row->nodes, error);
      if (priced == NULL) {
        g_clear_pointer (out, pln_result_free);
        return NULL;
      }
      priced->machine.scenario->training.llm = fleet->llm; /* whether it has experts */
      number = view->machines->len;
      g_array_append_val (view->machines, priced->machine);
      g_array_append_val (view->bare, priced->bare);
    }
    const PlnChoiceRow choice = choice_of (fleet, view, row, number);
    g_array_append_val (money->rows, choice);
  }
  if (money->rows->len > 0 && !pln_distinguish (view, money, error)) {
    g_clear_pointer (out, pln_result_free);
    return NULL;
  }
  keep_first_of_each (fleet, result, money->rivals);
  return view;
}
