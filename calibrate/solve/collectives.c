/* The fit of collectives, stage by stage. See include/calibrate/fit.h. */
#include "calibrate/collectives.h"

#include "base/error.h"
#include "solve/solve-private.h"

static const CalFitPoint *
point_at (const GArray *points, guint i)
{
  return &g_array_index (points, CalFitPoint, i);
}

/* Each operation on each number of ranks weighs the same. */
static void
set_weights (const GArray *points, const guint *at, guint n, double *weight)
{
  enum { MOST_RANKS = 4096 };
  g_autofree guint *count = g_new0 (guint, (gsize)MDL_OP_N * MOST_RANKS), *cell = g_new (guint, n);
  guint cells = 0;
  for (guint i = 0; i < n; i++) {
    const CalFitPoint *p = point_at (points, at[i]);
    cell[i] = (guint)p->op * MOST_RANKS + MIN (p->ranks, MOST_RANKS - 1);
    cells += count[cell[i]]++ == 0;
  }
  for (guint i = 0; i < n; i++)
    weight[i] = (double)n / ((double)cells * count[cell[i]]);
}

static gboolean
run_stage (const CalStageSpec *spec, const MdlLibrary *library, const GArray *points, const CalFitModel *model, CalFit *fit,
           GError **error)
{
  guint most = MAX (points->len, 1), n = 0;
  g_autofree guint *at = g_new (guint, most);
  g_autofree double *weight = g_new (double, most), *measured_s = g_new (double, most);
  for (guint i = 0; i < points->len; i++)
    if (point_at (points, i)->use == CAL_USE_FIT && cal_stage_takes (spec, point_at (points, i))) {
      measured_s[n] = point_at (points, i)->measured_s;
      at[n++] = i;
    }
  set_weights (points, at, n, weight);
  const CalConstants constants = { &cst_library_schema, library, library };
  const CalProblem problem = { n, at, measured_s, weight, model->predict, model->set, model->user };
  return cal_stage_solve (&spec->stage, &constants, &problem, fit, error);
}

/* Of the points of several nodes, the constants of the network that they ask for. */
static void
run_network (const GArray *points, const CalFitModel *model, CalFit *fit)
{
  guint most = MAX (points->len, 1), n = 0, first = fit->constants->len;
  g_autofree guint *at = g_new (guint, most);
  g_autofree double *weight = g_new (double, most), *measured_s = g_new (double, most);
  for (guint i = 0; i < points->len; i++)
    if (point_at (points, i)->use == CAL_USE_FIT && cal_is_between_nodes (point_at (points, i))) {
      measured_s[n] = point_at (points, i)->measured_s;
      at[n++] = i;
    }
  if (n == 0 || model->network == NULL)
    return;
  set_weights (points, at, n, weight);
  g_array_append_vals (fit->constants, model->network->data, model->network->len);
  CalFitStage done = { .name = cal_between_nodes, .n_points = n };
  const CalProblem problem = { n, at, measured_s, weight, model->predict, model->set, model->user };
  cal_choose (&problem, &g_array_index (fit->constants, CalFitConstant, first), model->network->len, &done.n_fitted);
  g_array_append_val (fit->stages, done);
}

/* Constants that the points say something of. */
static guint
count_told (const CalFit *fit)
{
  guint n = 0;
  for (guint i = 0; i < fit->constants->len; i++) {
    CalVerdict verdict = g_array_index (fit->constants, CalFitConstant, i).verdict;
    n += verdict == CAL_FITTED || verdict == CAL_AT_LIMIT || verdict == CAL_AGREES || verdict == CAL_ALIKE;
  }
  return n;
}

CalFit *
cal_fit_run (const MdlLibrary *library, const GArray *points, const CalFitModel *model, GError **error)
{
  g_autoptr (CalFit) fit = cal_fit_new ();
  for (const CalStageSpec *spec = cal_stages; spec->stage.name != NULL; spec++)
    if (!run_stage (spec, library, points, model, fit, error))
      return NULL;
  run_network (points, model, fit);
  if (fit->stages->len == 0) {
    g_set_error (
        error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
        "no measurement tells a constant: collectives by ring, tree, NVLS or sends are needed, within one node under graph replay "
        "or from 256 MiB on, or small ones by plain launches");
    return NULL;
  }
  guint n_points = 0;
  for (guint s = 0; s < fit->stages->len; s++)
    n_points += g_array_index (fit->stages, CalFitStage, s).n_points;
  if (count_told (fit) == 0) {
    g_set_error (
        error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
        "the %u measurements that tell constants leave all of these open: more sizes, operations or numbers of GPUs are needed",
        n_points);
    return NULL;
  }
  return g_steal_pointer (&fit);
}

/* ---- what is held out ---- */

/* All but the size. */
static gint
compare_settings (const CalFitPoint *x, const CalFitPoint *y)
{
  const gint64 keys[][2] = { { x->system, y->system },    { x->op, y->op },
                             { x->ranks, y->ranks },      { x->nodes, y->nodes },
                             { x->algo, y->algo },        { x->proto, y->proto },
                             { x->launch, y->launch },    { x->max_channels, y->max_channels },
                             { x->min_ctas, y->min_ctas } };
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

static gint
compare_points (gconstpointer a, gconstpointer b, gpointer points)
{
  const CalFitPoint *x = point_at (points, *(const guint *)a), *y = point_at (points, *(const guint *)b);
  gint by_setting = compare_settings (x, y);
  return by_setting != 0 ? by_setting : (x->size_B > y->size_B) - (x->size_B < y->size_B);
}

/* With its operation or its system. */
static gboolean
held_whole (const CalFitPoint *p)
{
  return p->use == CAL_USE_HELD_OP || p->use == CAL_USE_HELD_SYSTEM;
}

/* Repeats of a size stay together: else one half would tell the other. */
static void
hold_sizes (GArray *points, guint *order)
{
  gboolean held = FALSE;
  for (guint i = 0; i < points->len; i++) {
    CalFitPoint *p = &g_array_index (points, CalFitPoint, order[i]);
    const CalFitPoint *before = i > 0 ? point_at (points, order[i - 1]) : NULL;
    if (before == NULL || compare_settings (before, p) != 0)
      held = FALSE;
    else if (before->size_B < p->size_B)
      held = !held;
    if (held && !held_whole (p))
      p->use = CAL_USE_HELD_SIZE;
  }
}

/* Of an operation's points in one node or in several: those whose number of ranks, or of nodes, is neither the least nor the
 * most. */
static void
hold_between (GArray *points, MdlOp op, gboolean several)
{
  guint32 least = G_MAXUINT32, most = 0;
  for (guint i = 0; i < points->len; i++) {
    const CalFitPoint *p = point_at (points, i);
    guint32 n = several ? p->nodes : p->ranks;
    if (p->op == op && (p->nodes > 1) == several && !held_whole (p)) {
      least = MIN (least, n);
      most = MAX (most, n);
    }
  }
  for (guint i = 0; i < points->len; i++) {
    CalFitPoint *p = &g_array_index (points, CalFitPoint, i);
    guint32 n = several ? p->nodes : p->ranks;
    if (p->op == op && (p->nodes > 1) == several && !held_whole (p) && n != least && n != most)
      p->use = CAL_USE_HELD_RANKS;
  }
}

/* Of so few points over several nodes that the rest would tell nothing, no size is held out. */
static void
keep_few (GArray *points)
{
  enum { FEW = 8 };
  guint n = 0;
  for (guint i = 0; i < points->len; i++)
    n += cal_is_between_nodes (point_at (points, i)) && !held_whole (point_at (points, i));
  for (guint i = 0; i < points->len && n < FEW; i++) {
    CalFitPoint *p = &g_array_index (points, CalFitPoint, i);
    p->use = cal_is_between_nodes (p) && p->use == CAL_USE_HELD_SIZE ? CAL_USE_FIT : p->use;
  }
}

void
cal_fit_split (GArray *points, const CalHoldOut *what)
{
  g_autofree guint *order = g_new (guint, MAX (points->len, 1));
  for (guint i = 0; i < points->len; i++) {
    CalFitPoint *p = &g_array_index (points, CalFitPoint, i);
    order[i] = i;
    p->use = what->systems != NULL && what->systems[p->system] ? CAL_USE_HELD_SYSTEM
             : (what->ops & (1u << p->op)) != 0                ? CAL_USE_HELD_OP
                                                               : CAL_USE_FIT;
  }
  g_qsort_with_data (order, (gint)points->len, sizeof *order, compare_points, points);
  if (what->sizes)
    hold_sizes (points, order);
  keep_few (points);
  for (unsigned op = 0; what->ranks && op < MDL_OP_N; op++) {
    hold_between (points, (MdlOp)op, FALSE);
    hold_between (points, (MdlOp)op, TRUE);
  }
}
