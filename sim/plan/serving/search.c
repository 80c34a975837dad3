/* The search: closed forms of all, prices of the best of each topology, and the engine on the best few. */
#include <math.h>
#include <string.h>

#include "fleet-private.h"

#define KEPT_OF_A_TOPOLOGY 3u /* aggregated ones, and as many apart, that are priced */
#define MOST_PAIRED        12u
#define MOST_DROPPED       20u /* rows that the engine puts beyond the promises */

/* ---- rows of a topology ---- */

static gint
by_nodes (gconstpointer a, gconstpointer b)
{
  const PlnFleetRow *x = a, *y = b;
  const guint n = x->replicas[0] + (x->apart ? x->replicas[1] : 0), m = y->replicas[0] + (y->apart ? y->replicas[1] : 0);
  if (x->nodes != y->nodes)
    return x->nodes < y->nodes ? -1 : 1;
  return n != m ? (n < m ? -1 : 1) : x->layouts[0] != y->layouts[0] ? (x->layouts[0] < y->layouts[0] ? -1 : 1) : 0;
}

static guint
replicas_for (double rate, double each)
{
  return (guint)fmin (fmax (ceil (rate / each - 1e-9), 1), 1e6);
}

static void
size_row (const PlnFleet *fleet, const PlnFleetMachine *machine, PlnFleetRow *row)
{
  row->nodes = pln_fleet_bought_nodes (fleet, machine, row);
  row->gpus = row->nodes * machine->gpus_per_node;
  row->good = row->busy[0] = row->busy[1] = row->own_usd = row->rent_usd = row->usd_per_Mtok = (double)NAN;
}

gboolean
pln_fleet_wants (const PlnFleet *fleet, const char *pools)
{
  const BaseStrs *list = &fleet->spec.free.pools;
  gboolean found = !list->set;
  for (guint i = 0; i < list->n; i++)
    found |= strcmp (list->item[i].v, pools) == 0;
  return found;
}

static PlnFleetRow
row_of (const PlnFleet *fleet, guint machine, guint first, guint second, gboolean apart)
{
  const PlnFleetMachine *its = &g_array_index (fleet->machines, PlnFleetMachine, machine);
  const PlnFleetCut *a = &g_array_index (its->cuts, PlnFleetCut, first), *b = &g_array_index (its->cuts, PlnFleetCut, second);
  const double rate = fleet->spec.goal.load.rate.v;
  PlnFleetRow row = { .machine = machine, .apart = apart, .pools = { a->layout, b->layout }, .layouts = { first, second } };
  row.replicas[0] = replicas_for (rate, apart ? a->prefill_rate : a->all_rate);
  row.need_gpus =
      apart ? rate * (a->layout.gpus / a->prefill_rate + b->layout.gpus / b->decode_rate) : rate * a->layout.gpus / a->all_rate;
  row.replicas[1] = apart ? replicas_for (rate, b->decode_rate) : 0;
  size_row (fleet, its, &row);
  return row;
}

typedef struct {
  guint cut;
  double per_gpu;
} Ranked;

static gint
by_per_gpu (gconstpointer a, gconstpointer b)
{
  const Ranked *x = a, *y = b;
  return x->per_gpu > y->per_gpu ? -1 : x->per_gpu < y->per_gpu ? 1 : x->cut < y->cut ? -1 : x->cut > y->cut;
}

/* Layouts by what a GPU serves in that pool; the best few. Returned: full. */
static GArray *
best_of_pool (const PlnFleetMachine *machine, gboolean decode)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (Ranked));
  for (guint i = 0; i < machine->cuts->len; i++) {
    const PlnFleetCut *cut = &g_array_index (machine->cuts, PlnFleetCut, i);
    const Ranked ranked = { i, (decode ? cut->decode_rate : cut->prefill_rate) / cut->layout.gpus };
    if (ranked.per_gpu > 0)
      g_array_append_val (out, ranked);
  }
  g_array_sort (out, by_per_gpu);
  g_array_set_size (out, MIN (out->len, MOST_PAIRED));
  return out;
}

static void
keep_best (GArray *from, GArray *to)
{
  g_array_sort (from, by_nodes);
  g_array_append_vals (to, from->data, MIN (from->len, KEPT_OF_A_TOPOLOGY));
}

/* The best few of a topology, by nodes: money rises with them. */
static void
add_rows (const PlnFleet *fleet, guint number, GArray *rows)
{
  const PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, number);
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (PlnFleetRow));
  g_autoptr (GArray) apart = g_array_new (FALSE, FALSE, sizeof (PlnFleetRow));
  for (guint i = 0; i < machine->cuts->len && pln_fleet_wants (fleet, "all"); i++)
    if (g_array_index (machine->cuts, PlnFleetCut, i).all_rate > 0) {
      const PlnFleetRow row = row_of (fleet, number, i, i, FALSE);
      g_array_append_val (all, row);
    }
  g_autoptr (GArray) prefill = best_of_pool (machine, FALSE);
  g_autoptr (GArray) decode = best_of_pool (machine, TRUE);
  for (guint i = 0; i < prefill->len && pln_fleet_wants (fleet, "apart"); i++)
    for (guint k = 0; k < decode->len; k++) {
      const guint a = g_array_index (prefill, Ranked, i).cut, b = g_array_index (decode, Ranked, k).cut;
      const PlnFleetRow row = row_of (fleet, number, a, b, TRUE);
      if (row.pools[0].weights == row.pools[1].weights)
        g_array_append_val (apart, row);
    }
  keep_best (all, rows);
  keep_best (apart, rows);
}

/* ---- limits and order ---- */

static double
usd_of (const PlnFleet *fleet, const PlnFleetRow *row)
{
  return fleet->prices->basis == PLN_ACQUISITION_BUY ? row->own_usd : row->rent_usd;
}

/* What is ranked: what more rows have a price of, rented if equal. */
static void
choose_basis (PlnFleet *fleet, const GArray *rows)
{
  guint own = 0, rent = 0;
  for (guint i = 0; i < rows->len; i++) {
    own += isfinite (g_array_index (rows, PlnFleetRow, i).own_usd) ? 1u : 0u;
    rent += isfinite (g_array_index (rows, PlnFleetRow, i).rent_usd) ? 1u : 0u;
  }
  fleet->prices->basis = own + rent == 0 ? PLN_ACQUISITION_NONE : own > rent ? PLN_ACQUISITION_BUY : PLN_ACQUISITION_RENT;
}

static void
take_price (const PlnFleet *fleet, PlnFleetRow *row)
{
  const double month_tokens = fleet->mean_rate * fleet->output * PLN_FLEET_MONTH_S;
  row->usd_per_Mtok = usd_of (fleet, row) / month_tokens * 1e6;
}

/* By what the plan makes least, whoever computed it. */
static gint
better (const PlnFleet *fleet, const PlnFleetRow *x, const PlnFleetRow *y)
{
  const double p = usd_of (fleet, x), q = usd_of (fleet, y);
  if (fleet->spec.aim.v == PLN_FLEET_GPUS && x->gpus != y->gpus)
    return x->gpus < y->gpus ? -1 : 1;
  if (fleet->spec.aim.v == PLN_FLEET_COST && isfinite (p) != isfinite (q)) /* a price that lacks a part is not the least */
    return isfinite (p) ? -1 : 1;
  if (isfinite (p) && isfinite (q) && fabs (p - q) > 1e-9 * p)
    return p < q ? -1 : 1;
  return x->gpus < y->gpus ? -1 : x->gpus > y->gpus;
}

/* What of the promises a row uses up: the larger of both times over their limits. */
static double
used_up (const PlnFleet *fleet, const PlnFleetRow *row)
{
  double ttft_s, tpot_s, fraction;
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  const double next = row->tpot_s > 0 ? row->tpot_s / tpot_s : 0;
  return fmax (row->ttft_s / ttft_s, next);
}

/* Whether an error of the model may break a promise. Errors of two times on the same GPU are within that of the comparisons, so two
 * rows that are both so near to a promise, or both farther from it, are alike in it. */
static gboolean
is_tight (const PlnFleet *fleet, const PlnFleetRow *row)
{
  return used_up (fleet, row) * (1 + pln_ratio_error (fleet->prices, PLN_SIMILARITY_SAME_GPU, fleet->llm.moe.experts.v > 0)) > 1;
}

/* Of rows that cost the same: one that keeps the promises whatever the model's error, then the one that is simpler to run, then
 * the one with more room. */
static gint
compare (gconstpointer a, gconstpointer b, gpointer user)
{
  const PlnFleetRow *x = a, *y = b;
  if (x->simulated != y->simulated)
    return x->simulated ? -1 : 1;
  const gint order = better (user, x, y);
  if (order != 0)
    return order;
  const gboolean risky = is_tight (user, x);
  if (risky != is_tight (user, y))
    return risky ? 1 : -1;
  if (x->apart != y->apart)
    return x->apart ? 1 : -1;
  const double p = used_up (user, x), q = used_up (user, y);
  if (p < q || p > q)
    return p < q ? -1 : 1;
  return x->machine != y->machine ? (x->machine < y->machine ? -1 : 1) : by_nodes (a, b);
}

/* The limit that a row breaks; FALSE: none. Cash is that of a purchase: what can be rented takes none. */
static gboolean
breaks (const PlnFleet *fleet, const PlnFleetRow *row, PlnFleetNearest *out)
{
  const PlnFleetSpec *s = &fleet->spec;
  const struct {
    const BaseNum *limit;
    double has;
    const char *what;
  } limits[] = { { &s->limits.gpus, row->gpus, "GPUs" },
                 { &s->limits.power, row->power_W, "power" },
                 { &s->goal.capex, isfinite (row->rent_usd) ? 0 : row->capital_usd, "capex" } };
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    if (limits[i].limit->set && limits[i].has > limits[i].limit->v) {
      *out = (PlnFleetNearest){ row->machine, PLN_FLEET_LIMIT, row->pools[0], limits[i].has, limits[i].limit->v, limits[i].what };
      return TRUE;
    }
  if (s->aim.v == PLN_FLEET_COST && !isfinite (usd_of (fleet, row)) && !isfinite (row->own_least_usd)) {
    *out = (PlnFleetNearest){ row->machine, PLN_FLEET_PRICE, row->pools[0], 0, 0, "price" };
    return TRUE;
  }
  return FALSE;
}

/* ---- what is missed ---- */

static double
over (double has, double limit)
{
  return has / limit;
}

/* The layout that comes nearest to the promises for a request alone. */
static PlnFleetNearest
nearest_of (const PlnFleet *fleet, guint number, PlnFleetResult *result)
{
  PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, number);
  PlnFleetNearest out = { .machine = number, .why = machine->why };
  double ttft_s, tpot_s, fraction, least = (double)INFINITY;
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  for (guint i = 0; i < machine->cuts->len; i++) {
    const PlnFleetCut *cut = &g_array_index (machine->cuts, PlnFleetCut, i);
    const double first = over (cut->ttft_s, ttft_s), next = over (cut->tpot_s, tpot_s), worst = fmax (first, next);
    if (!(cut->ttft_s > 0) || worst >= least)
      continue;
    least = worst;
    out = first > next ? (PlnFleetNearest){ number, PLN_FLEET_TTFT, cut->layout, cut->ttft_s, ttft_s, "TTFT" }
                       : (PlnFleetNearest){ number, PLN_FLEET_TPOT, cut->layout, cut->tpot_s, tpot_s, "TPOT" };
  }
  if (machine->cuts->len == 0 || !isfinite (least)) {
    char *text = g_strdup (machine->error != NULL ? machine->error : "no layout of the lists fits on it");
    g_ptr_array_add (result->texts, text);
    out.what = text;
  }
  return out;
}

static gint
by_miss (gconstpointer a, gconstpointer b)
{
  const PlnFleetNearest *x = a, *y = b;
  const double p = x->limit > 0 ? over (x->has, x->limit) : 1e9, q = y->limit > 0 ? over (y->has, y->limit) : 1e9;
  return p < q ? -1 : p > q ? 1 : x->machine < y->machine ? -1 : x->machine > y->machine;
}

/* ---- the engine ---- */

/* How a row that was checked already, of the same topology and of the same kind of pools unless `any`, compares with what the
 * closed form says of this one: -1 one costs less, 0 one costs the same, 1 neither. */
static gint
checked_before (const PlnFleet *fleet, const GArray *rows, const PlnFleetRow *like, gboolean any)
{
  gint least = 1;
  for (guint i = 0; i < rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (rows, PlnFleetRow, i);
    if (row->simulated && row->machine == like->machine && (any || row->apart == like->apart))
      least = MIN (least, better (fleet, row, like));
  }
  return least;
}

/* Has the engine check rows in order until `best` stand: one of each topology and kind of pools, with those that cost the same
 * unless `per_machine`. Rows that it puts beyond a promise or a limit leave. */
static gboolean
simulate (PlnFleet *fleet, guint best, gboolean per_machine, PlnFleetResult *result, GArray *limits, GError **error)
{
  GArray *rows = result->rows;
  for (guint i = 0, dropped = 0, n = 0; i < rows->len && n < best && dropped < MOST_DROPPED;) {
    PlnFleetRow row = g_array_index (rows, PlnFleetRow, i);
    PlnFleetNearest miss;
    gboolean met;
    const gint before = checked_before (fleet, rows, &row, per_machine);
    if (before < 0 || (before == 0 && per_machine)) {
      i++;
      continue;
    }
    if (!pln_fleet_check (fleet, &row, &met, error) || (met && !pln_fleet_price (fleet, &row, error)))
      return FALSE;
    take_price (fleet, &row);
    result->n_simulated++;
    if (!met || breaks (fleet, &row, &miss)) {
      if (met)
        g_array_append_val (limits, miss);
      g_array_remove_index (rows, i);
      dropped++;
      continue;
    }
    g_array_index (rows, PlnFleetRow, i) = row;
    i++;
    n += before > 0 ? 1 : 0;
  }
  g_array_sort_with_data (rows, compare, fleet);
  return TRUE;
}

/* ---- the whole ---- */

static gboolean
has_row (const GArray *rows, guint machine)
{
  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, PlnFleetRow, i).machine == machine)
      return TRUE;
  return FALSE;
}

static void
find_misses (const PlnFleet *fleet, const GArray *limits, PlnFleetResult *out)
{
  for (guint m = 0; m < fleet->machines->len; m++) {
    if (has_row (out->rows, m))
      continue;
    PlnFleetNearest miss = nearest_of (fleet, m, out);
    gboolean limited = FALSE;
    for (guint i = 0; i < limits->len; i++) {
      const PlnFleetNearest *its = &g_array_index (limits, PlnFleetNearest, i);
      if (its->machine != m || (limited && over (its->has, its->limit) >= over (miss.has, miss.limit)))
        continue;
      miss = *its;
      limited = TRUE;
    }
    g_array_append_val (out->misses, miss);
  }
  g_array_sort (out->misses, by_miss);
}

/* A replica's rate in that pool: the closed form's, less where the engine needed more replicas than it, and what each had where
 * the engine needed fewer. */
static double
rate_of_pool (const PlnFleet *fleet, const PlnFleetCut *cut, const PlnFleetRow *first, guint pool)
{
  const double rate = !first->apart ? cut->all_rate : pool == 0 ? cut->prefill_rate : cut->decode_rate;
  const double load = fleet->spec.goal.load.rate.v, guess = replicas_for (load, rate), needed = first->replicas[pool];
  return needed > guess ? rate * guess / needed : fmax (rate, load / needed);
}

GArray *
pln_fleet_capacity (PlnFleet *fleet, const PlnFleetResult *result, GError **error)
{
  static const double times[] = { 0.1, 0.25, 0.5, 1, 2, 4, 10 };
  const PlnFleetRow *first = &g_array_index (result->rows, PlnFleetRow, 0);
  const PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, first->machine);
  g_autoptr (GArray) out = g_array_new (FALSE, FALSE, sizeof (PlnFleetCapacity));
  const double mean = fleet->mean_rate;
  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    PlnFleetCapacity at = { .rate = mean * times[i], .users = pln_fleet_users (fleet) * times[i], .row = *first };
    at.users = at.users > 0 ? at.users : (double)NAN;
    for (guint k = 0; k < (first->apart ? 2u : 1u) && times[i] != 1; k++) {
      const PlnFleetCut *cut = &g_array_index (machine->cuts, PlnFleetCut, first->layouts[k]);
      at.row.replicas[k] = replicas_for (at.rate * fleet->spec.goal.peak.v, rate_of_pool (fleet, cut, first, k));
    }
    if (!pln_fleet_price (fleet, &at.row, error))
      return NULL;
    at.row.usd_per_Mtok = usd_of (fleet, &at.row) / (at.rate * fleet->output * PLN_FLEET_MONTH_S) * 1e6;
    g_array_append_val (out, at);
  }
  return g_steal_pointer (&out);
}

void
pln_fleet_leave_out (PlnFleet *fleet, guint machine)
{
  g_array_index (fleet->machines, PlnFleetMachine, machine).left_out = TRUE;
}

PlnFleetResult *
pln_fleet_search (PlnFleet *fleet, guint best, gboolean per_machine, GError **error)
{
  g_autoptr (PlnFleetResult) out = g_new0 (PlnFleetResult, 1);
  g_autoptr (GArray) limits = g_array_new (FALSE, FALSE, sizeof (PlnFleetNearest));
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (PlnFleetRow));
  out->rows = g_array_new (FALSE, FALSE, sizeof (PlnFleetRow));
  out->misses = g_array_new (FALSE, FALSE, sizeof (PlnFleetNearest));
  out->texts = g_ptr_array_new_with_free_func (g_free);
  for (guint m = 0; m < fleet->machines->len; m++) {
    PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, m);
    if (machine->left_out)
      continue;
    if (machine->scenario == NULL)
      pln_fleet_screen (fleet, machine);
    out->n_layouts += machine->cuts->len;
    add_rows (fleet, m, all);
  }
  for (guint i = 0; i < all->len; i++) {
    PlnFleetRow *row = &g_array_index (all, PlnFleetRow, i);
    pln_fleet_estimate (fleet, row);
    if (!pln_fleet_price (fleet, row, error))
      return NULL;
  }
  choose_basis (fleet, all);
  for (guint i = 0; i < all->len; i++) {
    PlnFleetRow *row = &g_array_index (all, PlnFleetRow, i);
    PlnFleetNearest miss;
    take_price (fleet, row);
    if (breaks (fleet, row, &miss))
      g_array_append_val (limits, miss);
    else
      g_array_append_val (out->rows, *row);
  }
  g_array_sort_with_data (out->rows, compare, fleet);
  if (!simulate (fleet, best, per_machine, out, limits, error))
    return NULL;
  find_misses (fleet, limits, out);
  out->n_runs = fleet->n_runs;
  return g_steal_pointer (&out);
}

void
pln_fleet_result_free (PlnFleetResult *result)
{
  if (result == NULL)
    return;
  g_array_unref (result->rows);
  g_array_unref (result->misses);
  g_ptr_array_unref (result->texts);
  g_free (result);
}
