/* Which rows of a plan are distinguishable.
 *
 * Most of what may be wrong with one step's time (a framework's efficiency, kernels) is wrong with another's as well: the error of
 * their ratio is what decides, not that of each. How far measured ratios are from predicted ones, by what differs, is data
 * (calibrate/defaults/comparisons): half of |ln error| is within ln (1 + half), 95 % within ln (1 + most), and between and beyond
 *
 *     P(|ln error| > x) = x <= h: 1 - x / 2h;  x > h: 1/2 (1/10)^((x - h) / (m - h))      h = ln (1 + half), m = ln (1 + most)
 *
 * so that what is predicted to take 1 + x more takes less with half of that chance.
 * Machines of the same nodes, GPUs and counts differ by their networks alone: compute errs alike on both, and drops out. Of those
 * both cuts, the first row's and the other one's best, are computed again on both machines with NICs slower by the error of
 * communication, and what that changes counts to either side.
 * Errors of prices count where money is ranked: both options are priced with each figure at the ends of its band, and what that
 * makes of their ratio adds in squares; figures that both pay alike drop out.
 * Left out: errors of failures' rates, which `--sensitivity` is for. Check: test_plan_stages, test_plan_odds. */
#include <math.h>
#include <string.h>

#include "collective/gpu.h"
#include "models/kernel-spec.h"
#include "models/library-spec.h"
#include "plan-private.h"

#define FOLDER "calibrate/defaults/comparisons"

#define LEAST_ODDS 1e-3 /* that some hundreds of pairs can show */

#define ROW(rows, i) (&g_array_index (rows, PlnChoiceRow, i))

const BaseName pln_similarity_names[] = {
  { "network", PLN_SIMILARITY_NETWORK, "same nodes and layout, another network" },
  { "same_layout", PLN_SIMILARITY_SAME_LAYOUT, "same layout on more or fewer of the same GPUs" },
  { "same_gpu", PLN_SIMILARITY_SAME_GPU, "another layout on the same GPUs" },
  { "other_gpu", PLN_SIMILARITY_OTHER_GPU, "other GPUs" },
  { "not_validated", PLN_SIMILARITY_NOT_VALIDATED, "other GPUs, on one of which no step was measured" },
  { NULL, 0, NULL },
};
static const BaseName model_names[] = {
  { "dense", PLN_DISTINGUISH_DENSE, "without experts" },
  { "experts", PLN_DISTINGUISH_EXPERTS, "with experts" },
  { NULL, 0, NULL },
};

static const BaseField row_fields[] = {
  BASE_ROW (PlnDistinguishRow, "model", model, ENUM, .names = model_names, .required = TRUE, .help = "kind of model of both runs"),
  BASE_ROW (PlnDistinguishRow, "similarity", similarity, ENUM, .was = "kin", .names = pln_similarity_names, .required = TRUE,
            .help = "difference between the runs"),
  BASE_ROW_NUM (PlnDistinguishRow, "half", half, RATIO, .min = "0.01 %", .max = "10", .required = TRUE,
                .help = "half of the ratios are within this error"),
  BASE_ROW_NUM (PlnDistinguishRow, "most", most, RATIO, .min = "0.02 %", .max = "10", .required = TRUE,
                .help = "95 % of the ratios are within this error"),
  BASE_ROW_NUM (PlnDistinguishRow, "least", least, RATIO, .min = "0.1 %", .max = "50 %", .fallback = "0.1 %",
                .help = "minimum chance that the predicted order is wrong, if a GPU without measured steps comes first"),
  BASE_ROW_END,
};
static const BaseSchema row_schema = { .name = "comparison", .help = "Pairs of measured steps.", .fields = row_fields };

static const BaseField fields[] = {
  BASE_ROW (PlnDistinguishSpec, "comparisons", name, STR, .required = TRUE, .help = "name"),
  BASE_ROW (PlnDistinguishSpec, "summary", summary, STR, .help = "one line"),
  BASE_ROW (PlnDistinguishSpec, "gpus", gpus, STRS, .required = TRUE, .help = "GPUs on which steps were measured"),
  BASE_ROW (PlnDistinguishSpec, "rows", rows, LIST, .sub = &row_schema, .item_size = sizeof (PlnDistinguishRow), .required = TRUE,
            .help = "one per kind of pair"),
  BASE_ROW_END,
};
const BaseSchema pln_schema_comparisons = { .name = "comparisons",
                                            .help = "Errors of predicted ratios of two steps, against measured ratios.",
                                            .fields = fields };

gboolean
pln_read_comparisons (Pln *plan, const char *name, const BaseSchemaContext *context, GError **error)
{
  g_autofree char *path = base_lookup_find (plan->lookup, name, FOLDER, NULL, error);
  BaseYaml *yaml = path != NULL ? base_yaml_load_file (path, error) : NULL;
  if (yaml == NULL)
    return FALSE;
  g_ptr_array_add (plan->inputs, yaml);
  return base_schema_read (&pln_schema_comparisons, base_yaml_root (yaml), FALSE, context, &plan->apart) ||
         base_diag_finish (context->diag, error);
}

double
pln_odds (double more, double half, double most)
{
  double x = log1p (more), h = log1p (half), m = log1p (most);
  return x <= h ? 0.5 * (1 - 0.5 * x / h) : 0.25 * pow (0.1, (x - h) / (m - h));
}

/* ---- similarity ---- */

static const PlnMachine *
machine_of (const Pln *plan, const PlnChoiceRow *row)
{
  return &g_array_index (plan->machines, PlnMachine, row->machine);
}

static gboolean
same_nodes (const PlnMachine *a, const PlnMachine *b)
{
  const char *gpu = clu_gpu_spec (a->scenario->system.clu, 0)->name.v, *other = clu_gpu_spec (b->scenario->system.clu, 0)->name.v;
  return g_strcmp0 (gpu, other) == 0 && a->gpus_per_node == b->gpus_per_node;
}

static gboolean
same_layout (const TrnClosedQuery *a, const TrnClosedQuery *b)
{
  TrnClosedQuery x = *a;
  x.dp = b->dp; /* follow from the GPUs */
  x.micro_batches = b->micro_batches;
  return memcmp (&x, b, sizeof x) == 0;
}

static gboolean
steps_were_measured (const Pln *plan, const PlnMachine *machine)
{
  const char *gpu = clu_gpu_spec (machine->scenario->system.clu, 0)->name.v;
  for (guint i = 0; i < plan->apart.gpus.n; i++)
    if (g_strcmp0 (plan->apart.gpus.item[i].v, gpu) == 0)
      return TRUE;
  return FALSE;
}

char *
pln_not_validated (const Pln *plan, guint machine)
{
  const PlnMachine *m = &g_array_index (plan->machines, PlnMachine, machine);
  const MdlKernels *kernels = m->scenario->system.kernels;
  const MdlLibrary *library = m->scenario->library;
  const struct {
    gboolean measured;
    const char *what;
  } parts[] = { { kernels != NULL && kernels->error.source == BASE_SOURCE_MEASURED, "kernels" },
                { library != NULL && library->error.large.source == BASE_SOURCE_MEASURED, "collectives" },
                { steps_were_measured (plan, m), "training steps" } };
  GString *out = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (!parts[i].measured)
      g_string_append_printf (out, "%s%s", out->len == 0 ? "" : i + 1 == G_N_ELEMENTS (parts) ? " and " : ", ", parts[i].what);
  return g_string_free (out, out->len == 0);
}

gboolean
pln_steps_were_measured (const Pln *plan, guint machine)
{
  return steps_were_measured (plan, &g_array_index (plan->machines, PlnMachine, machine));
}

static PlnSimilarity
similarity_of (const Pln *plan, const PlnChoiceRow *a, const PlnChoiceRow *b)
{
  const PlnMachine *x = machine_of (plan, a), *y = machine_of (plan, b);
  if (!same_nodes (x, y))
    return steps_were_measured (plan, x) && steps_were_measured (plan, y) ? PLN_SIMILARITY_OTHER_GPU : PLN_SIMILARITY_NOT_VALIDATED;
  if (!same_layout (&a->query, &b->query))
    return PLN_SIMILARITY_SAME_GPU;
  return x->gpus == y->gpus ? PLN_SIMILARITY_NETWORK : PLN_SIMILARITY_SAME_LAYOUT;
}

/* The nearest kind of pairs that was measured: one that is further apart says enough. */
static const PlnDistinguishRow *
nearest_row (const Pln *plan, PlnSimilarity similarity, gboolean experts)
{
  PlnDistinguishModel model = experts ? PLN_DISTINGUISH_EXPERTS : PLN_DISTINGUISH_DENSE;
  const PlnDistinguishRow *best = NULL;
  for (guint i = 0; i < plan->apart.rows.n; i++) {
    const PlnDistinguishRow *row = BASE_LIST_AT (plan->apart.rows, PlnDistinguishRow, i);
    if (row->model.v == (int)model && row->similarity.v >= (int)similarity &&
        (best == NULL || row->similarity.v < best->similarity.v))
      best = row;
  }
  return best;
}

static const PlnDistinguishRow *
measured (const Pln *plan, PlnSimilarity similarity)
{
  return nearest_row (plan, similarity,
                      machine_of (plan, &(PlnChoiceRow){ .machine = 0 })->scenario->training.llm.moe.experts.v > 0);
}

double
pln_ratio_error (const Pln *plan, PlnSimilarity similarity, gboolean experts)
{
  const PlnDistinguishRow *row = nearest_row (plan, similarity, experts);
  return row != NULL ? row->most.v : 0;
}

double
pln_doubt (const Pln *plan, const PlnMachine *machine)
{
  const MdlLlm *llm = &machine->scenario->training.llm;
  const PlnDistinguishRow *row = nearest_row (plan, PLN_SIMILARITY_NOT_VALIDATED, llm->moe.experts.v > 0);
  return steps_were_measured (plan, machine) || row == NULL ? 0 : log1p (row->most.v) * 1.645 / 1.96;
}

/* What `b` takes more than `a` of what the aim makes least: by the engine where it ran both. */
static double
more_of (const Pln *plan, const PlnChoiceRow *a, const PlnChoiceRow *b)
{
  gboolean run = a->simulated && b->simulated;
  if (pln_aim (plan) == PLN_AIM_GPUS && machine_of (plan, a)->gpus == machine_of (plan, b)->gpus)
    return run ? b->run_s / a->run_s - 1 : b->formula_s / a->formula_s - 1;
  return run ? pln_least (plan, b) / pln_least (plan, a) - 1 : b->formula / a->formula - 1;
}

/* Chance that the one which is behind is ahead; not less than what some hundreds of pairs can tell. */
static double
odds_of (double more, double half, double most)
{
  double odds = more >= 0 ? pln_odds (more, half, most) : 1 - pln_odds (1 / (1 + more) - 1, half, most);
  return CLAMP (odds, LEAST_ODDS, 1 - LEAST_ODDS);
}

/* Error of a ratio, in its logarithm: what 50 % and 95 % are within; and 95 % to either side. */
typedef struct {
  double half, most, below, above;
} Error;

/* What rests on a data sheet alone does not beat what was measured beyond doubt: the error is widened until the order is wrong with
 * the chance `least`. */
static void
widen_to (Error *error, double more, double least)
{
  double lo = 1, hi = 1;
  while (more > 0 && odds_of (more, expm1 (hi * error->half), expm1 (hi * error->most)) < least && hi < 1e3)
    hi *= 2;
  if (hi <= 1)
    return;
  for (guint i = 0; i < 60; i++) {
    const double middle = 0.5 * (lo + hi);
    const gboolean enough = odds_of (more, expm1 (middle * error->half), expm1 (middle * error->most)) >= least;
    lo = enough ? lo : middle;
    hi = enough ? middle : hi;
  }
  error->half *= hi;
  error->most *= hi;
  error->below *= hi;
  error->above *= hi;
}

/* ---- networks ---- */

/* A machine as it is, and with slower adapters. */
typedef struct {
  guint machine;
  Scn *slow;
  TrnClosed *closed[2];
} Net;

static void
net_clear (Net *net)
{
  for (guint i = 0; i < G_N_ELEMENTS (net->closed); i++)
    g_clear_pointer (&net->closed[i], trn_closed_free);
  g_clear_pointer (&net->slow, scn_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Net, net_clear)

/* Adapters slower by the relative error `band`. FALSE: the machine cannot be computed so. */
static gboolean
net_open (const Pln *plan, guint machine, double band, Net *net)
{
  const PlnMachine *as_is = &g_array_index (plan->machines, PlnMachine, machine);
  PlnMachine slow = *as_is;
  double rate_Bps = col_nic_rate_Bps (as_is->scenario->system.clu, 0);
  net->machine = machine;
  net->closed[0] = trn_closed_new (&as_is->scenario->training, NULL);
  if (net->closed[0] == NULL || !(rate_Bps > 0))
    return FALSE;
  g_autofree char *rate = g_strdup_printf ("%.0f B/s", rate_Bps / (1 + band));
  slow.nic_rate = rate;
  net->slow = pln_scenario (plan, &slow, NULL, NULL);
  net->closed[1] = net->slow != NULL ? trn_closed_new (&net->slow->training, NULL) : NULL;
  return net->closed[1] != NULL;
}

/* What the aim makes least, of a cut; NAN where it cannot be. */
static double
least_of (const Pln *plan, const Net *net, guint which, const TrnClosedQuery *query)
{
  TrnClosedStep step;
  PlnChoiceRow row;
  if (!trn_closed_step (net->closed[which], query, &step, NULL) || !step.fits)
    return (double)NAN;
  pln_take_step (plan, net->machine, query, &step, &row);
  return row.formula;
}

/* What a network slower on both machines makes of the ratio, and as much to the other side. */
static gboolean
compare_networks (const Pln *plan, const PlnChoiceRow *first, const PlnChoiceRow *other, PlnAlternative *rival, Error *out)
{
  double band = fmax (first->step.wire_band, other->step.wire_band), least = (double)INFINITY, most = -(double)INFINITY;
  g_auto (Net) a = { 0 };
  g_auto (Net) b = { 0 };
  const TrnClosedQuery *const cuts[] = { &first->query, &other->query };
  if (machine_of (plan, first)->nodes == 1 || machine_of (plan, first)->scenario->kind != SCN_KIND_TRAINING ||
      !net_open (plan, first->machine, band, &a) || !net_open (plan, other->machine, band, &b))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++) {
    double as_is = least_of (plan, &b, 0, cuts[i]) / least_of (plan, &a, 0, cuts[i]);
    double slow = least_of (plan, &b, 1, cuts[i]) / least_of (plan, &a, 1, cuts[i]);
    double away = fabs (log (slow / as_is));
    if (isnan (away))
      continue;
    least = fmin (least, log (as_is) - away);
    most = fmax (most, log (as_is) + away);
  }
  if (least > most)
    return FALSE;
  double middle = log1p (rival->more);
  rival->similarity = PLN_SIMILARITY_NETWORK;
  out->below = fmax (middle - least, 0);
  out->above = fmax (most - middle, 0);
  out->most = fmax (fmax (out->below, out->above), 1e-9);
  out->half = 0.344 * out->most; /* of a normal error, 50 % are within 0.344 of what 95 % are */
  return TRUE;
}

/* ---- rivals ---- */

static gint
by_more (gconstpointer a, gconstpointer b)
{
  const PlnAlternative *x = a, *y = b;
  return x->more < y->more ? -1 : x->more > y->more ? 1 : x->row < y->row ? -1 : x->row > y->row;
}

/* What errors of prices add to the error of what `b` costs over `a`. Their bands are of 90 %. */
static void
add_price_error (const GArray *leaves, const Pln *plan, const PlnChoiceRow *a, const PlnChoiceRow *b, Error *out)
{
  double squares = 0;
  for (guint i = 0; i < leaves->len; i++) {
    const PlnPriceLeaf *leaf = &g_array_index (leaves, PlnPriceLeaf, i);
    double band = pln_price_band (plan, leaf->num, leaf->dim), ratio[2];
    for (int side = 0; side < 2; side++) {
      g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
      g_array_append_vals (rows, a, 1);
      g_array_append_vals (rows, b, 1);
      pln_at_price (plan, leaf, side == 0 ? 1 / (1 + band) : 1 + band, rows, NULL);
      ratio[side] = log (pln_least (plan, ROW (rows, 1)) / pln_least (plan, ROW (rows, 0)));
    }
    double away = 0.5 * (ratio[1] - ratio[0]) / 1.645; /* a standard deviation */
    squares += isfinite (away) ? away * away : 0;
  }
  out->half = sqrt (out->half * out->half + 0.6745 * 0.6745 * squares);
  out->most = sqrt (out->most * out->most + 1.96 * 1.96 * squares);
  out->below = sqrt (out->below * out->below + 1.96 * 1.96 * squares);
  out->above = sqrt (out->above * out->above + 1.96 * 1.96 * squares);
}

/* Whether money decides, and a part of what the row costs has no price. */
static gboolean
lacks_money (const Pln *plan, const PlnChoiceRow *row)
{
  return pln_needs_money (plan) && pln_is_partial (plan, row);
}

/* The best of each other machine, nearest first. */
static void
find_rivals (const Pln *plan, PlnResult *out)
{
  const PlnChoiceRow *first = ROW (out->rows, 0);
  g_autofree gboolean *seen = g_new0 (gboolean, plan->machines->len);
  g_autoptr (GArray) leaves = pln_price_leaves (plan);
  if (!pln_needs_money (plan))
    g_array_set_size (leaves, 0); /* no price decides */
  seen[first->machine] = TRUE;
  for (guint i = 1; i < out->rows->len; i++) {
    const PlnChoiceRow *row = ROW (out->rows, i);
    if (seen[row->machine])
      continue;
    seen[row->machine] = TRUE;
    if (lacks_money (plan, first) || lacks_money (plan, row)) /* no sum that could be compared */
      continue;
    PlnAlternative rival = { .row = i, .similarity = similarity_of (plan, first, row), .more = more_of (plan, first, row) };
    const PlnMachine *a = machine_of (plan, first), *b = machine_of (plan, row);
    gboolean near = same_nodes (a, b) && a->gpus == b->gpus;
    Error its;
    if (!near || !compare_networks (plan, first, row, &rival, &its)) {
      const PlnDistinguishRow *pairs = measured (plan, rival.similarity);
      its.half = log1p (pairs->half.v);
      its.most = its.below = its.above = log1p (pairs->most.v);
    }
    if (pln_aim (plan) == PLN_AIM_GPUS && a->gpus != b->gpus) { /* counts are exact: fewer GPUs lose only where they are too slow */
      double chance = plan->deadline_s > 0 ? 1 - pln_chance_within (first, plan->deadline_s) : 0;
      rival.more_lo = rival.more_hi = rival.more = (double)b->gpus / a->gpus - 1;
      rival.odds = CLAMP (chance, LEAST_ODDS, 1 - LEAST_ODDS);
      g_array_append_val (out->rivals, rival);
      continue;
    }
    add_price_error (leaves, plan, first, row, &its);
    if (rival.similarity == PLN_SIMILARITY_NOT_VALIDATED && !steps_were_measured (plan, a))
      widen_to (&its, rival.more, measured (plan, rival.similarity)->least.v);
    rival.more_lo = expm1 (log1p (rival.more) - its.below);
    rival.more_hi = expm1 (log1p (rival.more) + its.above);
    rival.odds = odds_of (rival.more, expm1 (its.half), expm1 (its.most));
    g_array_append_val (out->rivals, rival);
  }
  g_array_sort (out->rivals, by_more);
}

/* Rows that are indistinguishable from the first. Of another machine its best row decides: where that is distinguishable, none is
 * like the first, though a worse layout errs by more. So what is said of rows never contradicts what is said of machines. */
static void
mark_alike (const Pln *plan, PlnResult *out)
{
  const PlnChoiceRow *first = ROW (out->rows, 0);
  g_autofree const PlnAlternative **best = g_new0 (const PlnAlternative *, plan->machines->len);
  for (guint i = 0; i < out->rivals->len; i++) {
    const PlnAlternative *rival = &g_array_index (out->rivals, PlnAlternative, i);
    best[ROW (out->rows, rival->row)->machine] = rival;
  }
  for (guint i = 0; i < out->rows->len; i++) {
    PlnChoiceRow *row = ROW (out->rows, i);
    const PlnDistinguishRow *pairs = measured (plan, similarity_of (plan, first, row));
    const PlnAlternative *rival = best[row->machine];
    double odds =
        rival != NULL && rival->row == i ? rival->odds : odds_of (more_of (plan, first, row), pairs->half.v, pairs->most.v);
    gboolean more = pln_aim (plan) == PLN_AIM_GPUS && machine_of (plan, row)->gpus != machine_of (plan, first)->gpus;
    const gboolean compared = i == 0 || (!lacks_money (plan, first) && !lacks_money (plan, row));
    row->alike = compared && !more && (rival == NULL || rival->odds >= PLN_DISTINGUISH_ODDS) && odds >= PLN_DISTINGUISH_ODDS;
    out->n_alike += row->alike ? 1u : 0u;
  }
}

/* Of a front, which stands first: rows that none of it beats in time and cost beyond doubt; how many, with the front. */
static void
mark_beside_front (const Pln *plan, PlnResult *out)
{
  guint n_front = 0;
  while (n_front < out->rows->len && ROW (out->rows, n_front)->front)
    n_front++;
  for (guint i = 0; i < out->rows->len; i++) {
    PlnChoiceRow *row = ROW (out->rows, i);
    gboolean beaten = FALSE;
    for (guint k = 0; k < n_front && !beaten && i != k; k++) {
      const PlnChoiceRow *front = ROW (out->rows, k);
      double most = 1 + measured (plan, similarity_of (plan, front, row))->most.v;
      beaten = front->run_s * most < row->run_s && front->money.total_usd * most < row->money.total_usd;
    }
    row->alike = !beaten;
    out->n_alike += row->alike ? 1u : 0u;
  }
}

gboolean
pln_distinguish (const Pln *plan, PlnResult *out, GError **error)
{
  if (measured (plan, PLN_SIMILARITY_NOT_VALIDATED) == NULL)
    return col_fail_at (error, plan->apart.rows.mark,
                        "no row of 'similarity: not_validated' for this model; add one for each model");
  if (out->rows->len == 0)
    return TRUE;
  if (pln_aim (plan) == PLN_AIM_PARETO) {
    mark_beside_front (plan, out);
    return TRUE;
  }
  find_rivals (plan, out);
  mark_alike (plan, out);
  return TRUE;
}
