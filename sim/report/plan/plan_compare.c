/* Why the other options of a plan lose: what each value of a choice takes more than the recommended one. */
#include <math.h>
#include <string.h>

#include "verdict-private.h"

#define SAME 5e-4 /* relative */

/* "1.2 % less time", "the same time". Returned: full. */
static char *
against (double ratio, const char *of_what)
{
  double more = ratio - 1;
  if (fabs (more) < SAME)
    return g_strconcat ("the same ", of_what, NULL);
  return g_strdup_printf (fabs (more) < 0.0995 ? "%.1f %% %s %s" : "%.0f %% %s %s", 100 * fabs (more), more > 0 ? "more" : "less",
                          of_what);
}

/* Returned: full; NULL where the plan leaves it to the topology. */
char *
rep_axis_value (const PlnMachine *m, RepAxis axis)
{
  return axis == REP_AXIS_TOPOLOGY ? g_strdup (m->topology)
         : axis == REP_AXIS_NODES  ? g_strdup_printf ("%u", m->nodes)
         : axis == REP_AXIS_DOMAIN ? g_strdup (m->domain)
         : axis == REP_AXIS_COUNT  ? g_strdup (m->nic_count)
         : axis == REP_AXIS_RATE   ? g_strdup (m->nic_rate)
         : axis == REP_AXIS_KIND   ? g_strdup (m->kind)
         : axis == REP_AXIS_OVER   ? g_strdup (m->oversubscription)
                                   : g_strdup (m->servers);
}

static void
value_clear (gpointer data)
{
  g_free (((RepAxisValue *)data)->value);
}

static RepAxisValue *
find (GArray *values, const char *value)
{
  for (guint i = 0; i < values->len; i++)
    if (g_strcmp0 (g_array_index (values, RepAxisValue, i).value, value) == 0)
      return &g_array_index (values, RepAxisValue, i);
  return NULL;
}

GArray *
rep_axis_values (const RepVerdict *v, RepAxis axis)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (RepAxisValue));
  g_array_set_clear_func (values, value_clear);
  for (guint i = 0; i < pln_machines (v->plan)->len; i++) {
    g_autofree char *value = rep_axis_value (rep_verdict_machine (v, i), axis);
    if (value == NULL || find (values, value) != NULL)
      continue;
    RepAxisValue one = { g_steal_pointer (&value), NULL, FALSE };
    g_array_append_val (values, one);
  }
  for (guint i = 0; i < v->result->rows->len; i++) {
    const PlnChoiceRow *row = rep_verdict_row (v, i);
    g_autofree char *value = rep_axis_value (rep_verdict_machine (v, row->machine), axis);
    RepAxisValue *one = value != NULL ? find (values, value) : NULL;
    if (one == NULL)
      continue;
    if (one->row == NULL) {
      one->row = row;
      one->alike = row->alike;
    }
  }
  return values;
}

/* `row` over the first: simulated where both are, else by the closed form, as the odds are. */
typedef struct {
  double time, cost, energy;
} Ratios;

/* 1 where nothing is known of the first, as of energy without power. */
static double
over (double value, double first)
{
  return first > 0 ? value / first : 1;
}

static Ratios
ratios_of (const RepVerdict *v, const PlnChoiceRow *row)
{
  const PlnChoiceRow *first = rep_verdict_row (v, 0);
  gboolean run = row->simulated && first->simulated;
  gboolean energy = !run && pln_aim (v->plan) == PLN_AIM_ENERGY;
  return (Ratios){
    .time = run ? over (row->run_s, first->run_s) : over (row->formula_s, first->formula_s),
    .cost = run ? over (row->money.total_usd, first->money.total_usd) : over (row->formula_usd, first->formula_usd),
    .energy = energy ? over (row->formula, first->formula) : over (row->money.energy_J, first->money.energy_J),
  };
}

/* "0.5 % more run cost ($1.92 k; $320 k less to buy)"; NULL where one of them has no price. Returned: full. */
static char *
cost_against (const RepVerdict *v, const PlnChoiceRow *row, double ratio)
{
  const PlnChoiceRow *first = rep_verdict_row (v, 0);
  double buy = rep_verdict_machine (v, row->machine)->capital_usd, first_buy = rep_verdict_machine (v, first->machine)->capital_usd;
  if (!(pln_tokens (v->plan) > 0) || row->way == PLN_ACQUISITION_NONE || first->way == PLN_ACQUISITION_NONE)
    return NULL;
  const gboolean partial = pln_is_partial (v->plan, row);
  if (partial || pln_is_partial (v->plan, first)) {
    g_autofree char *known = rep_money (row->money.total_usd);
    return g_strdup_printf ("a run cost of %s%s%s", partial ? "at least " : "", known,
                            partial ? ", as a part has no price" : "; the recommended one's lacks a part");
  }
  g_autofree char *cost = against (ratio, "run cost"), *usd = rep_money (fabs (ratio - 1) * first->money.total_usd),
                  *all = rep_money (fabs (buy - first_buy));
  gboolean own = row->way == PLN_ACQUISITION_BUY && first->way == PLN_ACQUISITION_BUY && fabs (buy - first_buy) > 1e-3 * first_buy;
  return g_strdup_printf ("%s (%s%s%s%s)", cost, usd, own ? "; " : "", own ? all : "",
                          !own              ? ""
                          : buy > first_buy ? " more to buy"
                                            : " less to buy");
}

/* Trays of a rack that every option of the plan uses; 0: they use different numbers; G_MAXUINT32: not all are racks. */
static guint32
trays_of_a_rack (const RepVerdict *v)
{
  guint32 used = rep_verdict_machine (v, 0)->used_per_rack;
  for (guint i = 0; i < pln_machines (v->plan)->len; i++) {
    const PlnMachine *machine = rep_verdict_machine (v, i);
    if (machine->nodes_per_rack < 2)
      return G_MAXUINT32;
    used = machine->used_per_rack == used ? used : 0;
  }
  return used;
}

/* "16 nodes", "128 trays (8 racks)". Returned: full. */
static char *
nodes_text (const RepVerdict *v, const char *value)
{
  const guint32 used = trays_of_a_rack (v);
  const char *plural = strcmp (value, "1") == 0 ? "" : "s";
  if (used == G_MAXUINT32 || used == 0)
    return g_strdup_printf ("%s %s%s", value, used == 0 ? "tray" : "node", plural);
  const double racks = ceil (g_ascii_strtod (value, NULL) / used);
  return g_strdup_printf ("%s tray%s (%.0f rack%s)", value, plural, racks, racks > 1 ? "s" : "");
}

char *
rep_axis_with (const RepVerdict *v, const char *value, RepAxis axis)
{
  g_autofree char *node = rep_verdict_product (value), *nodes = axis == REP_AXIS_NODES ? nodes_text (v, value) : NULL,
                  *network = axis == REP_AXIS_KIND ? rep_verdict_network (value) : NULL;
  return axis == REP_AXIS_TOPOLOGY ? g_strdup_printf ("With %s", node)
         : axis == REP_AXIS_NODES  ? g_strdup_printf ("With %s", nodes)
         : axis == REP_AXIS_DOMAIN ? g_strdup_printf ("With %s trays used of each rack", value)
         : axis == REP_AXIS_COUNT  ? g_strdup_printf ("With %s NIC%s a node", value, strcmp (value, "1") == 0 ? "" : "s")
         : axis == REP_AXIS_RATE   ? g_strdup_printf ("With %s NICs", value)
         : axis == REP_AXIS_KIND   ? g_strdup_printf ("With %s%s", strcmp (value, "none") == 0 ? "" : "a ", network)
         : axis == REP_AXIS_OVER   ? g_strdup_printf ("With a %s:1 fabric", value)
                                   : g_strdup_printf ("With %s storage server%s", value, strcmp (value, "1") == 0 ? "" : "s");
}

/* "With mi300x (64 nodes)": what else of its option differs from the recommended one. Returned: full. */
static char *
with_all (const RepVerdict *v, const RepAxisValue *value, RepAxis axis)
{
  const PlnMachine *its = rep_verdict_machine (v, value->row->machine),
                   *first = rep_verdict_machine (v, rep_verdict_row (v, 0)->machine);
  g_autoptr (GString) more = g_string_new (NULL);
  for (int other = 0; other < REP_AXIS_N; other++) {
    g_autofree char *one = rep_axis_value (its, (RepAxis)other), *mine = rep_axis_value (first, (RepAxis)other);
    if (other == (int)axis || one == NULL || g_strcmp0 (one, mine) == 0)
      continue;
    g_autofree char *with = rep_axis_with (v, one, (RepAxis)other);
    g_string_append_printf (more, "%s%s", more->len > 0 ? ", " : "", with + strlen ("With "));
  }
  g_autofree char *with = rep_axis_with (v, value->value, axis);
  return more->len > 0 ? g_strdup_printf ("%s (%s)", with, more->str) : g_strdup (with);
}

/* "With 400 Gb/s NICs: 0.5 % more run cost ($1.92 k), 1.2 % less time": the objective of the plan stands first. */
static void
say_difference (RepVerdict *v, const RepAxisValue *value, RepAxis axis)
{
  const Ratios ratio = ratios_of (v, value->row);
  PlnAim aim = pln_aim (v->plan);
  g_autofree char *time = against (ratio.time, "time"), *cost = cost_against (v, value->row, ratio.cost),
                  *energy = against (ratio.energy, "energy"), *with = with_all (v, value, axis);
  gboolean by_cost = (aim == PLN_AIM_COST || aim == PLN_AIM_COST_PER_TOKEN) && cost != NULL;
  const double gpus =
      (double)rep_verdict_machine (v, value->row->machine)->gpus / rep_verdict_machine (v, rep_verdict_row (v, 0)->machine)->gpus;
  gboolean counted = aim == PLN_AIM_GPUS && fabs (gpus - 1) > 1e-9; /* a count has no error */
  g_autofree char *count = against (gpus, "GPUs");
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%s: ", with);
  if (!counted && fabs (ratio.time - 1) < SAME && fabs (ratio.cost - 1) < SAME && fabs (ratio.energy - 1) < SAME) {
    g_string_append (text, "no difference");
    rep_verdict_add (v, text);
    return;
  }
  if (counted)
    g_string_append_printf (text, "%s, ", count);
  g_string_append (text, aim == PLN_AIM_ENERGY ? energy : by_cost ? cost : time);
  if (aim == PLN_AIM_ENERGY || by_cost)
    g_string_append_printf (text, ", %s", time);
  if (cost != NULL && !by_cost)
    g_string_append_printf (text, ", %s", cost);
  if (cost != NULL && aim == PLN_AIM_TIME && 1 - ratio.cost > ratio.time - 1) /* worth a thought */
    g_string_append (text, "; it saves more money, in per cent, than it adds time");
  gboolean same = strcmp (rep_verdict_machine (v, value->row->machine)->topology,
                          rep_verdict_machine (v, rep_verdict_row (v, 0)->machine)->topology) == 0;
  g_autofree char *not_validated = same ? NULL : pln_not_validated (v->plan, value->row->machine);
  const gboolean first_measured = pln_steps_were_measured (v->plan, rep_verdict_row (v, 0)->machine);
  if (value->alike && !counted)
    g_string_append (text, first_measured || same ? "; this is within the model's error"
                                                  : "; this is not certain, as no step was measured on the recommended one");
  if (not_validated != NULL)
    g_string_append_printf (text, "; not validated: its %s were never measured", not_validated);
  rep_verdict_add (v, text);
}

/* A sentence for each other value of the axis, but one for each row; first those that the errors distinguish. */
void
rep_say_axis (RepVerdict *v, RepAxis axis)
{
  g_autoptr (GArray) values = rep_axis_values (v, axis);
  g_autofree char *mine = rep_axis_value (rep_verdict_machine (v, rep_verdict_row (v, 0)->machine), axis);
  if (values->len < 2 || pln_aim (v->plan) == PLN_AIM_PARETO) /* `alike` is of the whole front there */
    return;
  for (int alike = 0; alike < 2; alike++)
    for (guint i = 0; i < values->len; i++) {
      const RepAxisValue *value = &g_array_index (values, RepAxisValue, i);
      if (strcmp (value->value, mine) == 0 || value->row == NULL || value->alike != (alike == 1))
        continue;
      gboolean *told = &v->told[value->row - rep_verdict_row (v, 0)];
      if (!*told)
        say_difference (v, value, axis);
      *told = TRUE;
    }
}
