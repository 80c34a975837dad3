/* A plan's answer in sentences: what to take, what each choice is worth, how small is enough, and whether to buy. */
#include <math.h>
#include <string.h>

#include "plan-private.h"

#define DAY_S 86400.0

typedef struct {
  const Pln *plan;
  const PlnResult *result;
  GPtrArray *out; /* char *: sentences */
} Verdict;

static const PlnChoiceRow *
row_at (const Verdict *v, guint i)
{
  return &g_array_index (v->result->rows, PlnChoiceRow, i);
}

static const PlnMachine *
machine_of (const Verdict *v, guint machine)
{
  return &g_array_index (pln_machines (v->plan), PlnMachine, machine);
}

/* "$411 k". Returned: full. */
static char *
money (double usd)
{
  return fabs (usd) >= 1e6   ? g_strdup_printf ("$%.3g M", usd * 1e-6)
         : fabs (usd) >= 1e3 ? g_strdup_printf ("$%.3g k", usd * 1e-3)
                             : g_strdup_printf ("$%.3g", usd);
}

/* "45.6 days (35.7 to 58.7)"; of a single step "16.5 s a step (12.9 to 21.3)". The band is the step's. Returned: full. */
static char *
duration (const Verdict *v, const PlnChoiceRow *row)
{
  gboolean run = pln_tokens (v->plan) > 0;
  double unit_s = run ? DAY_S : 1, scale = row->run_s / row->step_time_s / unit_s;
  return g_strdup_printf ("%.3g %s (%.3g to %.3g)", row->run_s / unit_s, run ? "days" : "s a step", row->step_time_lo_s * scale,
                          row->step_time_hi_s * scale);
}

/* "1.2 % less time", "as much time". Returned: full. */
static char *
against (double ratio, const char *of_what)
{
  double more = ratio - 1;
  if (fabs (more) < 5e-4)
    return g_strconcat ("as much ", of_what, NULL);
  return g_strdup_printf (fabs (more) < 0.0995 ? "%.1f %% %s %s" : "%.0f %% %s %s", 100 * fabs (more), more > 0 ? "more" : "less",
                          of_what);
}

static void
add (Verdict *v, GString *sentence)
{
  g_string_append_c (sentence, '.');
  g_ptr_array_add (v->out, g_string_free (sentence, FALSE));
}

/* ---- what to take ---- */

static const char *
praise (PlnAim aim)
{
  static const char *const words[] = { [PLN_AIM_TIME] = "the fastest",
                                       [PLN_AIM_COST] = "the cheapest",
                                       [PLN_AIM_ENERGY] = "the least energy",
                                       [PLN_AIM_COST_PER_TOKEN] = "the cheapest token",
                                       [PLN_AIM_PARETO] = "the fastest" };
  return words[aim];
}

/* Time, money and energy of a row. */
static void
append_row (const Verdict *v, const PlnChoiceRow *row, GString *text)
{
  double lo = row->step_time_lo_s / row->step_time_s, hi = row->step_time_hi_s / row->step_time_s;
  g_autofree char *machine = rep_plan_machine (v->plan, row->machine), *time = duration (v, row);
  g_string_append_printf (text, "%s: %s", machine, time);
  if (row->way != PLN_WAY_NONE && pln_tokens (v->plan) > 0) {
    g_autofree char *cost = money (row->money.total_usd), *from = money (row->money.total_usd * lo),
                    *to = money (row->money.total_usd * hi);
    g_string_append_printf (text, ", %s (%s to %s) %s, $%.3g a million tokens", cost, from, to,
                            row->way == PLN_WAY_OWN ? "bought" : "rented", row->usd_per_token * 1e6);
  }
  if (pln_aim (v->plan) == PLN_AIM_ENERGY && pln_tokens (v->plan) > 0)
    g_string_append_printf (text, ", %.3g MWh", row->money.energy_J / 3.6e9);
}

static void
say_first (Verdict *v)
{
  PlnAim aim = pln_aim (v->plan);
  const PlnChoiceRow *first = row_at (v, 0);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "Take %s that meets the goal, ", praise (aim));
  append_row (v, first, text);
  g_string_append_printf (text, "; cut by tensor %u, ", first->ask.tp);
  if (first->ask.cp > 1)
    g_string_append_printf (text, "context %u, ", first->ask.cp);
  g_string_append_printf (text, "pipeline %u, data %u", first->ask.pp, first->ask.dp);
  if (first->ask.ep > 1)
    g_string_append_printf (text, ", experts %u", first->ask.ep);
  add (v, text);
  if (aim != PLN_AIM_PARETO)
    return;
  guint last = 0; /* the front stands first, by rising time: its last is the cheapest */
  while (last + 1 < v->result->rows->len && row_at (v, last + 1)->front)
    last++;
  if (last == 0)
    return;
  text = g_string_new ("Or the cheapest, ");
  append_row (v, row_at (v, last), text);
  if (last > 1)
    g_string_append_printf (text, "; %u lie between them, each dearer and faster than the next", last - 1);
  add (v, text);
}

/* ---- what each choice is worth ---- */

typedef enum { AXIS_TOPOLOGY, AXIS_NODES, AXIS_RATE, AXIS_OVER, AXIS_N } Axis;
static const char *const axis_names[AXIS_N] = { "topology", "nodes", "nics.rate", "fabric.oversubscription" };

/* Returned: full; NULL where the plan leaves it to the topology. */
static char *
value_of (const PlnMachine *m, Axis axis)
{
  return axis == AXIS_TOPOLOGY ? g_strdup (m->topology)
         : axis == AXIS_NODES  ? g_strdup_printf ("%u", m->nodes)
         : axis == AXIS_RATE   ? g_strdup (m->nic_rate)
                               : g_strdup (m->oversubscription);
}

/* The best row of each value of the axis that some machine has, in the order of machines; NULL: none meets the goal. */
typedef struct {
  char *value; /* owned */
  const PlnChoiceRow *row;
  gboolean alike; /* one of its rows cannot be told from the first */
} Value;

static void
value_clear (gpointer data)
{
  g_free (((Value *)data)->value);
}

static Value *
find (GArray *values, const char *value)
{
  for (guint i = 0; i < values->len; i++)
    if (g_strcmp0 (g_array_index (values, Value, i).value, value) == 0)
      return &g_array_index (values, Value, i);
  return NULL;
}

static GArray *
values_of (const Verdict *v, Axis axis)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (Value));
  g_array_set_clear_func (values, value_clear);
  for (guint i = 0; i < pln_machines (v->plan)->len; i++) {
    g_autofree char *value = value_of (machine_of (v, i), axis);
    if (value == NULL || find (values, value) != NULL)
      continue;
    Value one = { g_steal_pointer (&value), NULL, FALSE };
    g_array_append_val (values, one);
  }
  for (guint i = 0; i < v->result->rows->len; i++) {
    const PlnChoiceRow *row = row_at (v, i);
    g_autofree char *value = value_of (machine_of (v, row->machine), axis);
    Value *one = value != NULL ? find (values, value) : NULL;
    if (one == NULL)
      continue;
    one->row = one->row != NULL ? one->row : row;
    one->alike = one->alike || row->alike;
  }
  return values;
}

/* What `row` takes over what the first does: of the engine where it ran both, else of the closed form, as the odds are. */
typedef struct {
  double time, cost, energy;
} Ratios;

static Ratios
ratios_of (const Verdict *v, const PlnChoiceRow *row)
{
  const PlnChoiceRow *first = row_at (v, 0);
  gboolean run = row->simulated && first->simulated;
  double time = run ? row->run_s / first->run_s : row->formula_s / first->formula_s;
  return (Ratios){
    .time = time,
    .cost = run ? row->money.total_usd / first->money.total_usd : row->formula_usd / first->formula_usd,
    .energy = !run && pln_aim (v->plan) == PLN_AIM_ENERGY ? row->formula / first->formula
                                                               : row->money.energy_J / first->money.energy_J,
  };
}

/* "0.5 % more cost ($1.92 k; $320 k less to buy)"; NULL where one of them has no price. Returned: full. */
static char *
cost_against (const Verdict *v, const PlnChoiceRow *row, double ratio)
{
  const PlnChoiceRow *first = row_at (v, 0);
  double buy = machine_of (v, row->machine)->capital_usd, first_buy = machine_of (v, first->machine)->capital_usd;
  if (!(pln_tokens (v->plan) > 0) || row->way == PLN_WAY_NONE || first->way == PLN_WAY_NONE)
    return NULL;
  g_autofree char *cost = against (ratio, "cost"), *usd = money (fabs (ratio - 1) * first->money.total_usd),
                  *all = money (fabs (buy - first_buy));
  gboolean own = row->way == PLN_WAY_OWN && first->way == PLN_WAY_OWN && fabs (buy - first_buy) > 1e-3 * first_buy;
  return g_strdup_printf ("%s (%s%s%s%s)", cost, usd, own ? "; " : "", own ? all : "",
                          !own              ? ""
                          : buy > first_buy ? " more to buy"
                                            : " less to buy");
}

/* "400 Gb/s: 0.5 % more cost ($1.92 k), 1.2 % less time": what the plan makes least stands first. */
static void
append_difference (const Verdict *v, const Value *value, GString *text)
{
  const Ratios ratio = ratios_of (v, value->row);
  PlnAim aim = pln_aim (v->plan);
  g_autofree char *time = against (ratio.time, "time"), *cost = cost_against (v, value->row, ratio.cost),
                  *energy = against (ratio.energy, "energy");
  gboolean by_cost = (aim == PLN_AIM_COST || aim == PLN_AIM_COST_PER_TOKEN) && cost != NULL;
  g_string_append_printf (text, "%s: %s", value->value, aim == PLN_AIM_ENERGY ? energy : by_cost ? cost : time);
  if (aim == PLN_AIM_ENERGY || by_cost)
    g_string_append_printf (text, ", %s", time);
  if (cost != NULL && !by_cost)
    g_string_append_printf (text, ", %s", cost);
  if (cost != NULL && aim == PLN_AIM_TIME && 1 - ratio.cost > ratio.time - 1) /* worth a thought */
    g_string_append (text, ", so that it saves more than it slows");
}

/* One sentence of what the errors tell apart, and one of what they do not. */
static void
say_axis (Verdict *v, Axis axis)
{
  g_autoptr (GArray) values = values_of (v, axis);
  PlnAim aim = pln_aim (v->plan);
  const char *at = aim == PLN_AIM_COST || aim == PLN_AIM_COST_PER_TOKEN ? " at these prices" : ""; /* they err apart */
  g_autofree char *mine = value_of (machine_of (v, row_at (v, 0)->machine), axis);
  if (values->len < 2 || pln_aim (v->plan) == PLN_AIM_PARETO) /* `alike` is of the whole front there */
    return;
  for (int alike = 0; alike < 2; alike++) {
    GString *text = g_string_new (NULL);
    for (guint i = 0; i < values->len; i++) {
      const Value *value = &g_array_index (values, Value, i);
      if (strcmp (value->value, mine) == 0 || value->row == NULL || value->alike != (alike == 1))
        continue;
      g_string_append (text, text->len > 0 ? "; " : "");
      append_difference (v, value, text);
    }
    if (text->len > 0) {
      g_autofree char *start = alike == 1 ? g_strdup_printf ("Open: %s. The errors do not tell %s from ", axis_names[axis], mine)
                                          : g_strdup_printf ("Decided%s: %s %s. ", at, axis_names[axis], mine);
      g_string_prepend (text, start);
      add (v, text);
    } else
      g_string_free (text, TRUE);
  }
}

/* ---- how small is enough ---- */

static void
say_smallest (Verdict *v)
{
  g_autoptr (GArray) values = values_of (v, AXIS_NODES);
  const PlnChoiceRow *smallest = NULL;
  g_autoptr (GString) none = g_string_new (NULL);
  for (guint i = 0; i < values->len; i++) {
    const Value *value = &g_array_index (values, Value, i);
    if (value->row == NULL)
      g_string_append_printf (none, "%s%s", none->len > 0 ? ", " : "", value->value);
  }
  for (guint i = 0; i < v->result->rows->len; i++)
    if (smallest == NULL || machine_of (v, row_at (v, i)->machine)->gpus < machine_of (v, smallest->machine)->gpus)
      smallest = row_at (v, i);
  if (values->len < 2)
    return;
  guint32 gpus = machine_of (v, smallest->machine)->gpus, least = gpus;
  for (guint i = 0; i < pln_machines (v->plan)->len; i++)
    least = MIN (least, machine_of (v, i)->gpus);
  gboolean first = gpus == machine_of (v, row_at (v, 0)->machine)->gpus;
  if (first && least == gpus && none->len == 0)
    return;
  GString *text = g_string_new (NULL);
  if (first)
    g_string_append_printf (text, "It is the smallest that meets the goal (%u GPUs)", gpus);
  else {
    g_string_append_printf (text, "The smallest that meets the goal has %u GPUs, ", gpus);
    append_row (v, smallest, text);
  }
  if (none->len > 0)
    g_string_append_printf (text, "; with %s node%s nothing does", none->str, strcmp (none->str, "1") == 0 ? "" : "s");
  add (v, text);
}

/* ---- rent or buy ---- */

double
rep_plan_break_even_s (const Pln *plan, const PlnResult *result)
{
  const PlnPricesSpec *prices = pln_prices (plan);
  if (result->rows->len == 0 || prices == NULL)
    return (double)NAN;
  const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, 0);
  const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
  if (!(machine->capital_usd > 0 && machine->rent_usd_per_s > 0))
    return (double)NAN;
  return mdl_money_break_even_s (machine->capital_usd, machine->rent_usd_per_s, row->power_W * prices->electricity.v);
}

static void
say_rent_or_buy (Verdict *v)
{
  const PlnPricesSpec *prices = pln_prices (v->plan);
  double even_s = rep_plan_break_even_s (v->plan, v->result);
  if (isnan (even_s) || !(pln_tokens (v->plan) > 0))
    return;
  const PlnChoiceRow *row = row_at (v, 0);
  const PlnMachine *machine = machine_of (v, row->machine);
  g_autofree char *all = money (machine->capital_usd), *rent = money (machine->rent_usd_per_s * row->run_s);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "Rent or buy: to buy all of it takes %s, to rent it for this run %s", all, rent);
  if (isinf (even_s) || (prices->amortisation.set && even_s > prices->amortisation.v))
    g_string_append (text, "; renting is cheaper however long it works");
  else
    g_string_append_printf (text, "; renting is cheaper up to %.3g days of work (this run is %.3g), buying beyond", even_s / DAY_S,
                            row->run_s / DAY_S);
  if (row->way == PLN_WAY_OWN && prices->amortisation.set && even_s > row->run_s)
    g_string_append_printf (text, "; the cost above is this run's share of %.4g days, and holds if other work fills the rest",
                            prices->amortisation.v / DAY_S);
  add (v, text);
}

char **
rep_plan_verdict (const Pln *plan, const PlnResult *result)
{
  Verdict v = { plan, result, g_ptr_array_new () };
  if (result->rows->len > 0) {
    say_first (&v);
    for (int axis = 0; axis < AXIS_N; axis++)
      say_axis (&v, (Axis)axis);
    say_smallest (&v);
    say_rent_or_buy (&v);
  }
  g_ptr_array_add (v.out, NULL);
  return (char **)g_ptr_array_free (v.out, FALSE);
}
