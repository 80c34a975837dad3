/* A plan's answer in sentences: the recommended option, why the others lose, the smallest that is enough, rent or buy. */
#include <math.h>
#include <string.h>

#include "plan-private.h"

#define DAY_S 86400.0

typedef struct {
  const Pln *plan;
  const PlnResult *result;
  GPtrArray *out; /* char *: sentences */
  gboolean *told; /* by row: a sentence has compared it */
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

char *
rep_money (double usd)
{
  return fabs (usd) >= 1e6   ? g_strdup_printf ("$%.3g M", usd * 1e-6)
         : fabs (usd) >= 1e3 ? g_strdup_printf ("$%.3g k", usd * 1e-3)
                             : g_strdup_printf ("$%.3g", usd);
}

/* "45.6 days (35.7 to 58.7)"; of a single step "16.5 s per step (12.9 to 21.3)". The band is the step's. Returned: full. */
static char *
duration (const Verdict *v, const PlnChoiceRow *row)
{
  gboolean run = pln_tokens (v->plan) > 0;
  double unit_s = run ? DAY_S : 1, scale = row->run_s / row->step_time_s / unit_s;
  return g_strdup_printf ("%.3g %s (%.3g to %.3g)", row->run_s / unit_s, run ? "days" : "s per step", row->step_time_lo_s * scale,
                          row->step_time_hi_s * scale);
}

/* "1.2 % less time", "the same time". Returned: full. */
static char *
against (double ratio, const char *of_what)
{
  double more = ratio - 1;
  if (fabs (more) < 5e-4)
    return g_strconcat ("the same ", of_what, NULL);
  return g_strdup_printf (fabs (more) < 0.0995 ? "%.1f %% %s %s" : "%.0f %% %s %s", 100 * fabs (more), more > 0 ? "more" : "less",
                          of_what);
}

static void
add (Verdict *v, GString *sentence)
{
  g_string_append_c (sentence, '.');
  g_ptr_array_add (v->out, g_string_free (sentence, FALSE));
}

/* ---- the recommended option ---- */

/* "HGX B200" of hgx_b200; other names stay, they are what a file is called. Returned: full. */
static char *
product (const char *topology)
{
  if (!g_str_has_prefix (topology, "hgx_") && !g_str_has_prefix (topology, "dgx_"))
    return g_strdup (topology);
  g_autofree char *upper = g_ascii_strup (topology, -1);
  return g_strdup (g_strdelimit (upper, "_", ' '));
}

/* "32 x HGX B200, 200 Gb/s NICs, 2:1 fabric, TP4 x PP2 x DP32". */
static void
append_choice (const Verdict *v, const PlnChoiceRow *row, GString *text)
{
  const PlnMachine *m = machine_of (v, row->machine);
  g_autofree char *node = product (m->topology), *layout = rep_plan_layout (&row->query, TRUE);
  g_string_append_printf (text, "%u x %s, ", m->nodes, node);
  if (m->nodes_per_rack > 1)
    g_string_erase (text, (gssize)text->len - 2, 2);
  if (m->nodes_per_rack > 1)
    g_string_append_printf (text, " trays (%.3g rack%s of %u", (double)m->nodes / m->used_per_rack,
                            m->nodes == m->used_per_rack ? "" : "s", m->nodes_per_rack);
  if (m->nodes_per_rack > 1 && m->used_per_rack < m->nodes_per_rack)
    g_string_append_printf (text, ", %u GPUs used of each", m->used_per_rack * m->gpus_per_node);
  if (m->nodes_per_rack > 1)
    g_string_append (text, "), ");
  if (m->nic_count != NULL)
    g_string_append_printf (text, "%s%s, ", m->nic_count, m->nic_rate != NULL ? " x" : " NICs a node");
  if (m->nic_count != NULL && m->nic_rate != NULL)
    g_string_erase (text, (gssize)text->len - 2, 1);
  if (m->nic_rate != NULL)
    g_string_append_printf (text, "%s NICs, ", m->nic_rate);
  if (m->kind != NULL)
    g_string_append_printf (text, "%s network, ", m->kind);
  if (m->oversubscription != NULL)
    g_string_append_printf (text, "%s:1 fabric, ", m->oversubscription);
  if (m->servers != NULL)
    g_string_append_printf (text, "%s storage server%s, ", m->servers, strcmp (m->servers, "1") == 0 ? "" : "s");
  g_string_append (text, layout);
}

/* ", 53 % likely within 46 days": nothing without a deadline. */
static void
append_chance (const Verdict *v, const PlnChoiceRow *row, GString *text)
{
  const double limit_s = pln_deadline_s (v->plan, NULL), chance = pln_chance_within (row, limit_s);
  if (!(limit_s > 0))
    return;
  g_string_append_printf (text, ", %s%.*f %% likely within %.4g day%s",
                          chance > 0.999   ? "over "
                          : chance < 0.001 ? "under "
                                           : "",
                          chance > 0.99 || chance < 0.01 ? 1 : 0, 100 * CLAMP (chance, 0.001, 0.999), limit_s / DAY_S,
                          limit_s > DAY_S || limit_s < DAY_S ? "s" : "");
}

static const char *
owned_or_rented (PlnAcquisition way)
{
  return way == PLN_ACQUISITION_BUY ? "owned" : "rented";
}

/* The option with its time, money and energy. */
static void
append_row (const Verdict *v, const PlnChoiceRow *row, GString *text)
{
  double lo = row->step_time_lo_s / row->step_time_s, hi = row->step_time_hi_s / row->step_time_s;
  g_autofree char *time = duration (v, row);
  append_choice (v, row, text);
  g_string_append_printf (text, ": %s", time);
  append_chance (v, row, text);
  double all_usd = rep_plan_capex_usd (v->plan, machine_of (v, row->machine));
  if (!isnan (all_usd) && pln_tokens (v->plan) > 0) {
    g_autofree char *all = rep_money (all_usd);
    g_string_append_printf (text, ", %s to buy", all);
  }
  if (row->way != PLN_ACQUISITION_NONE && pln_tokens (v->plan) > 0) {
    g_autofree char *cost = rep_money (row->money.total_usd), *from = rep_money (row->money.total_usd * lo),
                    *to = rep_money (row->money.total_usd * hi);
    g_string_append_printf (text, ", run cost %s (%s to %s) %s", cost, from, to, owned_or_rented (row->way));
    PlnAcquisition other = row->way == PLN_ACQUISITION_BUY ? PLN_ACQUISITION_RENT : PLN_ACQUISITION_BUY;
    double other_usd = rep_plan_run_usd (v->plan, row, other);
    g_autofree char *otherwise = rep_money (other_usd);
    if (!isnan (other_usd))
      g_string_append_printf (text, ", %s %s", otherwise, owned_or_rented (other));
    if (pln_aim (v->plan) == PLN_AIM_COST_PER_TOKEN)
      g_string_append_printf (text, ", $%.3g per million tokens", row->usd_per_token * 1e6);
  }
  if (pln_aim (v->plan) == PLN_AIM_ENERGY && pln_tokens (v->plan) > 0)
    g_string_append_printf (text, ", %.3g MWh", row->money.energy_J / 3.6e9);
}

static void
say_first (Verdict *v)
{
  const gboolean front = pln_aim (v->plan) == PLN_AIM_PARETO;
  GString *text = g_string_new (front ? "Fastest: " : "Recommended: ");
  append_row (v, row_at (v, 0), text);
  add (v, text);
  if (!front)
    return;
  guint last = 0; /* the Pareto front stands first, by rising time: its last is the cheapest */
  while (last + 1 < v->result->rows->len && row_at (v, last + 1)->front)
    last++;
  if (last == 0)
    return;
  text = g_string_new ("Cheapest: ");
  append_row (v, row_at (v, last), text);
  if (last > 1)
    g_string_append_printf (text, "; %u Pareto-optimal options lie between them", last - 1);
  add (v, text);
}

/* "GPU memory: 61.2 of 178.0 GiB on the fullest rank. Bottleneck besides compute: tensor-parallel communication" */
static void
say_memory (Verdict *v)
{
  const TrnClosedStep *step = &row_at (v, 0)->step;
  const char *bottleneck = rep_plan_bottleneck (step);
  GString *text = g_string_new (NULL);
  if (step->memory_B > 0)
    g_string_append_printf (text, "GPU memory: %.1f", step->memory_B / 0x1p30);
  if (step->memory_B > 0 && step->capacity_B > 0)
    g_string_append_printf (text, " of %.1f", step->capacity_B / 0x1p30);
  if (step->memory_B > 0)
    g_string_append (text, " GiB on the fullest rank. ");
  g_string_append (text, strcmp (bottleneck, "compute") == 0 ? "Bottleneck: compute" : "Bottleneck besides compute: ");
  if (strcmp (bottleneck, "compute") != 0)
    g_string_append (text, bottleneck);
  add (v, text);
}

/* "MI300X", "Gaudi3": letters and digits are a model number if the letters are few. Returned: full. */
static char *
gpu_name (const PlnMachine *machine)
{
  const char *name = clu_gpu_spec (scn_cluster (machine->scenario), 0)->name.v;
  gboolean number = strcspn (name, "0123456789") <= 2;
  char *text = number ? g_ascii_strup (name, -1) : g_strdup (name);
  text[0] = g_ascii_toupper (text[0]);
  return text;
}

/* "Not validated on MI300X: its kernels and training steps were never measured, so the odds assume larger errors" */
static void
say_not_validated (Verdict *v)
{
  g_autofree char *what = pln_not_validated (v->plan, row_at (v, 0)->machine);
  if (what == NULL)
    return;
  GString *text = g_string_new (NULL);
  g_autofree char *gpu = gpu_name (machine_of (v, row_at (v, 0)->machine));
  g_string_append_printf (text, "Not validated on %s: %s were never measured there; the range and the odds assume larger errors",
                          gpu, what);
  add (v, text);
}

/* "It has 1 storage server, where reads of 1.25 GB/s for each node need 2" */
static void
say_storage (Verdict *v)
{
  const PlnMachine *m = machine_of (v, row_at (v, 0)->machine);
  if (m->servers == NULL || g_ascii_strtod (m->servers, NULL) >= m->read_servers)
    return;
  GString *text = g_string_new (NULL);
  g_string_printf (text,
                   "It has %s storage server%s, where reads of 1.25 GB/s for each node need %.0f; plans do not model the loader",
                   m->servers, strcmp (m->servers, "1") == 0 ? "" : "s", m->read_servers);
  add (v, text);
}

/* "Sequence length 8192 is assumed, since llama3_8b was trained with it; `sequence` of `fixed` changes it" */
static void
say_assumed (Verdict *v)
{
  const TrnModelSpec *model = &scn_training (machine_of (v, row_at (v, 0)->machine)->scenario)->spec.model;
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "Sequence length %.0f is assumed, since %s was trained with it; `sequence` of `fixed` changes it",
                          model->sequence.v, pln_model (v->plan));
  if (model->sequence_assumed)
    add (v, text);
  else
    g_string_free (text, TRUE);
}

/* ---- why the others lose ---- */

typedef enum { AXIS_TOPOLOGY, AXIS_NODES, AXIS_DOMAIN, AXIS_COUNT, AXIS_RATE, AXIS_KIND, AXIS_OVER, AXIS_SERVERS, AXIS_N } Axis;

/* Returned: full; NULL where the plan leaves it to the topology. */
static char *
value_of (const PlnMachine *m, Axis axis)
{
  return axis == AXIS_TOPOLOGY ? g_strdup (m->topology)
         : axis == AXIS_NODES  ? g_strdup_printf ("%u", m->nodes)
         : axis == AXIS_DOMAIN ? g_strdup (m->domain)
         : axis == AXIS_COUNT  ? g_strdup (m->nic_count)
         : axis == AXIS_RATE   ? g_strdup (m->nic_rate)
         : axis == AXIS_KIND   ? g_strdup (m->kind)
         : axis == AXIS_OVER   ? g_strdup (m->oversubscription)
                               : g_strdup (m->servers);
}

/* The best row of each value of the axis that some machine has, in the order of machines; NULL: none meets the goal. */
typedef struct {
  char *value; /* owned */
  const PlnChoiceRow *row;
  gboolean alike; /* this row is indistinguishable from the recommended one */
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
ratios_of (const Verdict *v, const PlnChoiceRow *row)
{
  const PlnChoiceRow *first = row_at (v, 0);
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
cost_against (const Verdict *v, const PlnChoiceRow *row, double ratio)
{
  const PlnChoiceRow *first = row_at (v, 0);
  double buy = machine_of (v, row->machine)->capital_usd, first_buy = machine_of (v, first->machine)->capital_usd;
  if (!(pln_tokens (v->plan) > 0) || row->way == PLN_ACQUISITION_NONE || first->way == PLN_ACQUISITION_NONE)
    return NULL;
  g_autofree char *cost = against (ratio, "run cost"), *usd = rep_money (fabs (ratio - 1) * first->money.total_usd),
                  *all = rep_money (fabs (buy - first_buy));
  gboolean own = row->way == PLN_ACQUISITION_BUY && first->way == PLN_ACQUISITION_BUY && fabs (buy - first_buy) > 1e-3 * first_buy;
  return g_strdup_printf ("%s (%s%s%s%s)", cost, usd, own ? "; " : "", own ? all : "",
                          !own              ? ""
                          : buy > first_buy ? " more to buy"
                                            : " less to buy");
}

/* "With HGX H100", "With 16 nodes", "With 400 Gb/s NICs". Returned: full. */
static char *
with_value (const char *value, Axis axis)
{
  g_autofree char *node = product (value);
  return axis == AXIS_TOPOLOGY ? g_strdup_printf ("With %s", node)
         : axis == AXIS_NODES  ? g_strdup_printf ("With %s node%s", value, strcmp (value, "1") == 0 ? "" : "s")
         : axis == AXIS_DOMAIN ? g_strdup_printf ("With %s nodes of each NVLink domain", value)
         : axis == AXIS_COUNT  ? g_strdup_printf ("With %s NICs a node", value)
         : axis == AXIS_RATE   ? g_strdup_printf ("With %s NICs", value)
         : axis == AXIS_KIND   ? g_strdup_printf ("With a network of kind %s", value)
         : axis == AXIS_OVER   ? g_strdup_printf ("With a %s:1 fabric", value)
                               : g_strdup_printf ("With %s storage server%s", value, strcmp (value, "1") == 0 ? "" : "s");
}

/* "With mi300x (64 nodes)": what else of its option differs from the recommended one. Returned: full. */
static char *
with_all (const Verdict *v, const Value *value, Axis axis)
{
  const PlnMachine *its = machine_of (v, value->row->machine), *first = machine_of (v, row_at (v, 0)->machine);
  g_autoptr (GString) more = g_string_new (NULL);
  for (int other = 0; other < AXIS_N; other++) {
    g_autofree char *one = value_of (its, (Axis)other), *mine = value_of (first, (Axis)other);
    if (other == (int)axis || one == NULL || g_strcmp0 (one, mine) == 0)
      continue;
    g_autofree char *with = with_value (one, (Axis)other);
    g_string_append_printf (more, "%s%s", more->len > 0 ? ", " : "", with + strlen ("With "));
  }
  g_autofree char *with = with_value (value->value, axis);
  return more->len > 0 ? g_strdup_printf ("%s (%s)", with, more->str) : g_strdup (with);
}

/* "With 400 Gb/s NICs: 0.5 % more run cost ($1.92 k), 1.2 % less time": the objective of the plan stands first. */
static void
say_difference (Verdict *v, const Value *value, Axis axis)
{
  const Ratios ratio = ratios_of (v, value->row);
  PlnAim aim = pln_aim (v->plan);
  g_autofree char *time = against (ratio.time, "time"), *cost = cost_against (v, value->row, ratio.cost),
                  *energy = against (ratio.energy, "energy"), *with = with_all (v, value, axis);
  gboolean by_cost = (aim == PLN_AIM_COST || aim == PLN_AIM_COST_PER_TOKEN) && cost != NULL;
  const double gpus = (double)machine_of (v, value->row->machine)->gpus / machine_of (v, row_at (v, 0)->machine)->gpus;
  gboolean counted = aim == PLN_AIM_GPUS && fabs (gpus - 1) > 1e-9; /* a count has no error */
  g_autofree char *count = against (gpus, "GPUs");
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%s: ", with);
  if (counted)
    g_string_append_printf (text, "%s, ", count);
  g_string_append (text, aim == PLN_AIM_ENERGY ? energy : by_cost ? cost : time);
  if (aim == PLN_AIM_ENERGY || by_cost)
    g_string_append_printf (text, ", %s", time);
  if (cost != NULL && !by_cost)
    g_string_append_printf (text, ", %s", cost);
  if (cost != NULL && aim == PLN_AIM_TIME && 1 - ratio.cost > ratio.time - 1) /* worth a thought */
    g_string_append (text, "; it saves more money, in per cent, than it adds time");
  gboolean same = strcmp (machine_of (v, value->row->machine)->topology, machine_of (v, row_at (v, 0)->machine)->topology) == 0;
  g_autofree char *not_validated = same ? NULL : pln_not_validated (v->plan, value->row->machine);
  if (value->alike && !counted)
    g_string_append (text, "; this is within the model's error");
  if (not_validated != NULL)
    g_string_append_printf (text, "; not validated: its %s were never measured", not_validated);
  add (v, text);
}

/* A sentence for each other value of the axis, but one for each row; first those that the errors distinguish. */
static void
say_axis (Verdict *v, Axis axis)
{
  g_autoptr (GArray) values = values_of (v, axis);
  g_autofree char *mine = value_of (machine_of (v, row_at (v, 0)->machine), axis);
  if (values->len < 2 || pln_aim (v->plan) == PLN_AIM_PARETO) /* `alike` is of the whole front there */
    return;
  for (int alike = 0; alike < 2; alike++)
    for (guint i = 0; i < values->len; i++) {
      const Value *value = &g_array_index (values, Value, i);
      if (strcmp (value->value, mine) == 0 || value->row == NULL || value->alike != (alike == 1))
        continue;
      gboolean *told = &v->told[value->row - row_at (v, 0)];
      if (!*told)
        say_difference (v, value, axis);
      *told = TRUE;
    }
}

/* ---- why others are left out ---- */

/* Three digits, rounded so that it is enough. Returned: full. */
static char *
enough (double value, BaseDim dim, gboolean up)
{
  double unit = pow (10, floor (log10 (value)) - 2), ratio = value / unit;
  return base_quantity_format ((up ? ceil (ratio - 1e-9) : floor (ratio + 1e-9)) * unit, dim, 3);
}

/* "it ends after 118 days with 90 % confidence (60 days allowed)" into `what`, "a deadline of 118 days" into `change`. */
static void
say_limit (const Verdict *v, const PlnNearest *near, PlnRejection o, GString *what, GString *change)
{
  static const struct {
    const char *what, *change;
    BaseDim dim;
  } words[PLN_REJECTED_N] = {
    [PLN_REJECTED_GPU_LIMIT] = { "it has %s GPUs (%s allowed)", "a limit of %s GPUs", BASE_DIM_NUMBER },
    [PLN_REJECTED_POWER] = { "it draws %s at load (%s allowed)", "a power limit of %s", BASE_DIM_POWER },
    [PLN_REJECTED_GOODPUT] = { "its goodput is %s (%s required)", "a goodput of %s", BASE_DIM_RATIO },
    [PLN_REJECTED_DEADLINE] = { "it ends after %s%s (%s allowed)", "a deadline of %s", BASE_DIM_TIME },
    [PLN_REJECTED_CAPEX] = { "it costs %s to buy (%s allowed)", "a capex of %s", BASE_DIM_MONEY },
    [PLN_REJECTED_RUN_COST] = { "its run costs %s (%s allowed)", "a run_cost of %s", BASE_DIM_MONEY },
  };
  const gboolean up = o != PLN_REJECTED_GOODPUT;
  double sure = (double)NAN;
  (void)pln_deadline_s (v->plan, &sure);
  g_autofree char *need = enough (near->need[o], words[o].dim, up), *has = base_quantity_format (near->limit[o], words[o].dim, 3);
  g_autofree char *confidence =
      o == PLN_REJECTED_DEADLINE && !isnan (sure) ? g_strdup_printf (" with %.4g %% confidence", 100 * sure) : g_strdup ("");
  g_auto (GStrv) part = g_strsplit (words[o].what, "%s", -1), its = g_strsplit (words[o].change, "%s", -1);
  g_string_append_printf (what, "%s%s%s", what->len > 0 ? " and " : "", part[0], need);
  g_string_append (what, o == PLN_REJECTED_DEADLINE ? confidence : "");
  g_string_append_printf (what, "%s%s%s", part[o == PLN_REJECTED_DEADLINE ? 2 : 1], has, part[o == PLN_REJECTED_DEADLINE ? 3 : 2]);
  g_string_append_printf (change, "%s%s%s", change->len > 0 ? " and " : "", its[0], need);
  g_string_append (change, its[1]);
}

/* What no limit of the plan changes: memory. */
static void
say_too_full (const PlnNearest *near, GString *text)
{
  const TrnClosedQuery *query = &near->row.query;
  g_string_append_printf (text, "it needs %.1f GiB of a GPU's %.1f. Less memory: %s%smore tensor or pipeline parallelism in `free`",
                          near->need[PLN_REJECTED_MEMORY] / 0x1p30, near->limit[PLN_REJECTED_MEMORY] / 0x1p30,
                          query->recompute != TRN_RECOMPUTE_FULL ? "`recompute: [full]`, " : "",
                          query->zero < 3 && query->pp == 1 ? "`zero: [3]`, " : "");
}

/* "the nearest, 8 x HGX B200, TP2 x PP1 x DP32: it ends after 118 days (60 days allowed). A deadline of 118 days would do" */
static void
append_nearest (const Verdict *v, const PlnNearest *near, GString *text)
{
  g_autoptr (GString) what = g_string_new (NULL), change = g_string_new (NULL);
  if (!near->has_row) {
    g_string_append_printf (text, "its layouts %s", near->why < PLN_REJECTED_N ? pln_out_texts[near->why] : "cannot be estimated");
    return;
  }
  g_string_append (text, "the nearest is ");
  append_choice (v, &near->row, text);
  g_string_append (text, ": ");
  if (near->need[PLN_REJECTED_MEMORY] > 0) {
    say_too_full (near, text);
    return;
  }
  if (near->need[PLN_REJECTED_PRICE] > 0) {
    g_string_append (text, "it has no price");
    return;
  }
  if (near->batch > 0) {
    g_string_append (what, "the global batch does not divide by its replicas");
    g_string_append_printf (change, "`global_batch: %u`", near->batch);
  }
  for (int o = PLN_REJECTED_GPU_LIMIT; o < PLN_REJECTED_N; o++)
    if (near->need[o] > 0)
      say_limit (v, near, (PlnRejection)o, what, change);
  change->str[0] = g_ascii_toupper (change->str[0]);
  g_string_append_printf (text, "%s. %s would admit it", what->str, change->str);
}

/* Of machines without a row that have this value, the nearest. */
static const PlnNearest *
nearest_with (const Verdict *v, const char *value, Axis axis)
{
  const PlnNearest *best = NULL;
  for (guint i = 0; v->result->misses != NULL && i < v->result->misses->len; i++) {
    const PlnNearest *one = &g_array_index (v->result->misses, PlnNearest, i);
    g_autofree char *its = value_of (machine_of (v, one->machine), axis);
    if (g_strcmp0 (its, value) == 0 && (best == NULL || one->by < best->by))
      best = one;
  }
  return best;
}

/* A sentence for each value of a choice with which nothing meets the goal, but one for each cluster option. */
static void
say_excluded (Verdict *v)
{
  g_autofree gboolean *said = g_new0 (gboolean, pln_machines (v->plan)->len);
  for (int axis = 0; axis < AXIS_N; axis++) {
    g_autoptr (GArray) values = values_of (v, (Axis)axis);
    for (guint i = 0; i < values->len; i++) {
      const Value *value = &g_array_index (values, Value, i);
      const PlnNearest *near = value->row == NULL ? nearest_with (v, value->value, (Axis)axis) : NULL;
      if (near == NULL || said[near->machine])
        continue;
      said[near->machine] = TRUE;
      g_autofree char *with = with_value (value->value, (Axis)axis);
      GString *text = g_string_new (with);
      g_string_append (text, " nothing meets the goal: ");
      append_nearest (v, near, text);
      add (v, text);
    }
  }
}

/* Where nothing meets the goal at all. */
static void
say_nearest (Verdict *v)
{
  const PlnNearest *best = NULL;
  for (guint i = 0; v->result->misses != NULL && i < v->result->misses->len; i++) {
    const PlnNearest *one = &g_array_index (v->result->misses, PlnNearest, i);
    if (one->has_row && (best == NULL || one->by < best->by))
      best = one;
  }
  if (best == NULL)
    return;
  GString *text = g_string_new (NULL);
  append_nearest (v, best, text);
  text->str[0] = g_ascii_toupper (text->str[0]);
  add (v, text);
}

/* ---- how small is enough ---- */

static void
say_smallest (Verdict *v)
{
  g_autoptr (GArray) values = values_of (v, AXIS_NODES);
  const PlnChoiceRow *smallest = NULL;
  for (guint i = 0; i < v->result->rows->len; i++)
    if (smallest == NULL || machine_of (v, row_at (v, i)->machine)->gpus < machine_of (v, smallest->machine)->gpus)
      smallest = row_at (v, i);
  if (values->len < 2)
    return;
  guint32 gpus = machine_of (v, smallest->machine)->gpus, least = gpus;
  for (guint i = 0; i < pln_machines (v->plan)->len; i++)
    least = MIN (least, machine_of (v, i)->gpus);
  gboolean first = gpus == machine_of (v, row_at (v, 0)->machine)->gpus;
  if (first && least == gpus)
    return;
  GString *text = g_string_new (NULL);
  if (first)
    g_string_append_printf (text, "It is the smallest option that meets the goal (%u GPUs)", gpus);
  else {
    g_string_append_printf (text, "Smallest option that meets the goal (%u GPUs): ", gpus);
    append_row (v, smallest, text);
  }
  add (v, text);
}

/* ---- rent or buy ---- */

double
rep_plan_break_even_s (const Pln *plan, const PlnResult *result)
{
  if (result->rows->len == 0 || pln_prices (plan) == NULL)
    return (double)NAN;
  const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, 0);
  const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
  MdlMoney own, rent;
  if (!pln_money (plan, row, PLN_ACQUISITION_BUY, &own) || !pln_money (plan, row, PLN_ACQUISITION_RENT, &rent))
    return (double)NAN;
  return mdl_money_break_even_s (machine->capital_usd, machine->rent_usd_per_s,
                                 (own.total_usd - own.capital_usd - own.interest_usd) / row->run_s);
}

/* Bought and rented beside each other for the first row, and the cheapest the other way. */
static void
say_rent_or_buy (Verdict *v)
{
  const PlnPricesSpec *prices = pln_prices (v->plan);
  double even_s = rep_plan_break_even_s (v->plan, v->result);
  if (isnan (even_s) || !(pln_tokens (v->plan) > 0))
    return;
  const PlnChoiceRow *row = row_at (v, 0);
  const PlnMachine *machine = machine_of (v, row->machine);
  g_autofree char *all = rep_money (machine->capital_usd), *own = rep_money (rep_plan_run_usd (v->plan, row, PLN_ACQUISITION_BUY)),
                  *rent = rep_money (rep_plan_run_usd (v->plan, row, PLN_ACQUISITION_RENT));
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "Rent or buy: this run costs %s rented, or %s owned after %s of cash", rent, own, all);
  double used_s = prices->amortisation.set ? prices->amortisation.v * prices->utilisation.v : (double)INFINITY;
  if (isinf (even_s) || even_s > used_s)
    g_string_append (text, "; renting is cheaper for any length of use");
  else
    g_string_append_printf (text, "; the cash is saved after %.3g days of use, and this run takes %.3g", even_s / DAY_S,
                            row->run_s / DAY_S);
  add (v, text);
  if (!prices->amortisation.set || !(even_s > row->run_s))
    return;
  text = g_string_new (NULL);
  g_string_append_printf (text, "The cost owned assumes that runs use %.3g %% of %.4g days, and that other work fills the rest",
                          100 * prices->utilisation.v, prices->amortisation.v / DAY_S);
  add (v, text);
}

/* The cheapest the way that is not ranked, if it is another option. */
static void
say_other_way (Verdict *v)
{
  const PlnAcquisition basis = pln_basis (v->plan),
                       other = basis == PLN_ACQUISITION_BUY ? PLN_ACQUISITION_RENT : PLN_ACQUISITION_BUY;
  const PlnAim aim = pln_aim (v->plan);
  const PlnChoiceRow *best = NULL;
  double least_usd = (double)INFINITY;
  for (guint i = 0; basis != PLN_ACQUISITION_NONE && i < v->result->rows->len; i++) {
    double usd = rep_plan_run_usd (v->plan, row_at (v, i), other);
    if (usd < least_usd * (1 - 1e-9)) {
      least_usd = usd;
      best = row_at (v, i);
    }
  }
  if (best == NULL || best->machine == row_at (v, 0)->machine || (aim != PLN_AIM_COST && aim != PLN_AIM_COST_PER_TOKEN))
    return;
  GString *text =
      g_string_new (other == PLN_ACQUISITION_RENT ? "If all is rented, the cheapest is " : "If all is bought, the cheapest is ");
  g_autofree char *usd = rep_money (least_usd);
  append_choice (v, best, text);
  g_string_append_printf (text, ": %s for this run, %.3g days", usd, best->run_s / DAY_S);
  add (v, text);
}

char **
rep_plan_verdict (const Pln *plan, const PlnResult *result)
{
  g_autofree gboolean *told = g_new0 (gboolean, result->rows->len + 1);
  Verdict v = { plan, result, g_ptr_array_new (), told };
  if (result->rows->len > 0) {
    say_first (&v);
    say_memory (&v);
    say_not_validated (&v);
    say_assumed (&v);
    say_storage (&v);
    for (int axis = 0; axis < AXIS_N; axis++)
      say_axis (&v, (Axis)axis);
    say_smallest (&v);
    say_excluded (&v);
    say_rent_or_buy (&v);
    say_other_way (&v);
  } else
    say_nearest (&v);
  g_ptr_array_add (v.out, NULL);
  return (char **)g_ptr_array_free (v.out, FALSE);
}
