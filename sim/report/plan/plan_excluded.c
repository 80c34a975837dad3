/* Why options of a plan are left out, and the smallest change that admits them. */
#include <math.h>
#include <string.h>

#include "verdict-private.h"

/* Three digits; ratios in per cent. Returned: full. */
static char *
three_digits (double value, BaseDim dim)
{
  return dim == BASE_DIM_RATIO ? g_strdup_printf ("%.3g %%", 100 * value) : base_quantity_format (value, dim, 3);
}

/* The same, rounded so that it is enough. Returned: full. */
static char *
enough (double value, BaseDim dim, gboolean up)
{
  if (!(value > 0))
    return three_digits (0, dim);
  double unit = pow (10, floor (log10 (value)) - 2), ratio = value / unit;
  return three_digits ((up ? ceil (ratio - 1e-9) : floor (ratio + 1e-9)) * unit, dim);
}

/* "it ends after 118 days with 90 % confidence (60 days allowed)" into `what`, "a deadline of 118 days" into `change`. */
static void
say_limit (const RepVerdict *v, const PlnNearest *near, PlnRejection o, GString *what, GString *change)
{
  static const struct {
    const char *what, *change;
    BaseDim dim;
  } words[PLN_REJECTED_N] = {
    [PLN_REJECTED_HEADROOM] = { "it leaves %s of a GPU's memory free (%s required)", "a headroom of %s", BASE_DIM_RATIO },
    [PLN_REJECTED_GPU_LIMIT] = { "it has %s GPUs (%s allowed)", "a limit of %s GPUs", BASE_DIM_NUMBER },
    [PLN_REJECTED_POWER] = { "it draws %s at load (%s allowed)", "a power limit of %s", BASE_DIM_POWER },
    [PLN_REJECTED_GOODPUT] = { "its goodput is %s (%s required)", "a goodput of %s", BASE_DIM_RATIO },
    [PLN_REJECTED_DEADLINE] = { "it ends after %s%s (%s allowed)", "a deadline of %s", BASE_DIM_TIME },
    [PLN_REJECTED_CAPEX] = { "it costs %s to buy (%s allowed)", "a capex of %s", BASE_DIM_MONEY },
    [PLN_REJECTED_RUN_COST] = { "its run costs %s (%s allowed)", "a run_cost of %s", BASE_DIM_MONEY },
  };
  const gboolean up = o != PLN_REJECTED_GOODPUT && o != PLN_REJECTED_HEADROOM;
  double sure = (double)NAN;
  (void)pln_deadline_s (v->plan, &sure);
  const gboolean left = o == PLN_REJECTED_HEADROOM; /* what is free, where limits are on what is taken */
  g_autofree char *need = enough (left ? 1 - near->need[o] : near->need[o], words[o].dim, up);
  g_autofree char *has = three_digits (left ? 1 - near->limit[o] : near->limit[o], words[o].dim);
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

/* What it has no price of, and what would give it one. */
static void
append_no_price (const RepVerdict *v, const PlnNearest *near, GString *text)
{
  const PlnMachine *m = rep_verdict_machine (v, near->machine);
  const gboolean own = pln_basis (v->plan) == PLN_ACQUISITION_BUY;
  const char *part = pln_unpriced_part (v->plan, near->machine, pln_basis (v->plan));
  if (part != NULL) {
    g_autofree char *remedy = pln_price_remedy (v->plan, near->machine, pln_basis (v->plan));
    g_string_append_printf (text, "its %s has no price, so no limit of money can be checked. To price it, write %s", part, remedy);
    return;
  }
  if (pln_basis (v->plan) == PLN_ACQUISITION_NONE) {
    g_string_append_printf (text, "it has no price. A row {topology: %s, node: …, rent: …} in `nodes` of `prices` would admit it",
                            m->topology);
    return;
  }
  g_string_append_printf (text, "it has no price to %s. A row {topology: %s, %s: …} in `nodes` of `prices`", own ? "buy" : "rent",
                          m->topology, own ? "node" : "rent");
  if (own ? m->rent_usd_per_s > 0 : m->capital_usd > 0)
    g_string_append_printf (text, ", or `acquisition: %s`,", own ? "rent" : "own");
  g_string_append (text, " would admit it");
}

/* "the nearest, 8 x HGX B200, TP2 x PP1 x DP32: it ends after 118 days (60 days allowed). A deadline of 118 days would do" */
static void
append_nearest (const RepVerdict *v, const PlnNearest *near, GString *text)
{
  g_autoptr (GString) what = g_string_new (NULL), change = g_string_new (NULL);
  if (!near->has_row) {
    g_autofree char *refused = near->why == PLN_REJECTED_REFUSED ? pln_why_refused (v->plan, near->machine) : NULL;
    g_string_append_printf (text, "its layouts %s", near->why < PLN_REJECTED_N ? pln_out_texts[near->why] : "cannot be estimated");
    if (refused != NULL)
      g_string_append_printf (text, ", for example: %s", refused);
    return;
  }
  g_string_append (text, "the nearest is ");
  rep_verdict_append_choice (v, &near->row, text);
  g_string_append (text, ": ");
  if (near->need[PLN_REJECTED_MEMORY] > 0) {
    say_too_full (near, text);
    return;
  }
  if (near->need[PLN_REJECTED_PRICE] > 0) {
    append_no_price (v, near, text);
    return;
  }
  if (near->batch > 0) {
    g_string_append (what, "the global batch does not divide by its replicas");
    g_string_append_printf (change, "`global_batch: %u`", near->batch);
  }
  for (int o = PLN_REJECTED_HEADROOM; o < PLN_REJECTED_N; o++)
    if (near->need[o] > 0)
      say_limit (v, near, (PlnRejection)o, what, change);
  change->str[0] = g_ascii_toupper (change->str[0]);
  g_string_append_printf (text, "%s. %s would admit it", what->str, change->str);
}

/* Of machines without a row that have this value, the nearest. */
static const PlnNearest *
nearest_with (const RepVerdict *v, const char *value, RepAxis axis)
{
  const PlnNearest *best = NULL;
  for (guint i = 0; v->result->misses != NULL && i < v->result->misses->len; i++) {
    const PlnNearest *one = &g_array_index (v->result->misses, PlnNearest, i);
    g_autofree char *its = rep_axis_value (rep_verdict_machine (v, one->machine), axis);
    if (g_strcmp0 (its, value) == 0 && (best == NULL || one->by < best->by))
      best = one;
  }
  return best;
}

/* A sentence for each value of a choice with which nothing meets the goal, but one for each cluster option. */
void
rep_say_excluded (RepVerdict *v)
{
  g_autofree gboolean *said = g_new0 (gboolean, pln_machines (v->plan)->len);
  for (int axis = 0; axis < REP_AXIS_N; axis++) {
    g_autoptr (GArray) values = rep_axis_values (v, (RepAxis)axis);
    for (guint i = 0; i < values->len; i++) {
      const RepAxisValue *value = &g_array_index (values, RepAxisValue, i);
      const PlnNearest *near = value->row == NULL ? nearest_with (v, value->value, (RepAxis)axis) : NULL;
      if (near == NULL || said[near->machine])
        continue;
      said[near->machine] = TRUE;
      g_autofree char *with = rep_axis_with (v, value->value, (RepAxis)axis);
      GString *text = g_string_new (with);
      g_string_append (text, " nothing meets the goal: ");
      append_nearest (v, near, text);
      rep_verdict_add (v, text);
    }
  }
}

/* Where nothing meets the goal at all. */
void
rep_say_nearest (RepVerdict *v)
{
  const PlnNearest *best = NULL;
  for (guint i = 0; v->result->misses != NULL && i < v->result->misses->len; i++) {
    const PlnNearest *one = &g_array_index (v->result->misses, PlnNearest, i);
    if (one->has_row && (best == NULL || one->by < best->by))
      best = one;
  }
  for (guint i = 0; best == NULL && v->result->misses != NULL && i < v->result->misses->len; i++) {
    const PlnNearest *one = &g_array_index (v->result->misses, PlnNearest, i);
    g_autofree char *refused = pln_why_refused (v->plan, one->machine);
    if (refused == NULL)
      continue;
    GString *text = g_string_new ("For example: ");
    g_string_append (text, refused);
    rep_verdict_add (v, text);
    return;
  }
  if (best == NULL)
    return;
  GString *text = g_string_new (NULL);
  append_nearest (v, best, text);
  text->str[0] = g_ascii_toupper (text->str[0]);
  rep_verdict_add (v, text);
}
