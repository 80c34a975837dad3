/* The fit, stage by stage. See include/calibrate/fit.h for what is made least and when a constant is left alone. */
#include "calibrate/fit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/leaf.h"
#include "fit-private.h"
#include "models/coll.h"
#include "models/library-spec.h"

/* Errors beyond some 3 %, what repeats of one measurement differ by, weigh by their size, not their square. */
static const double ROBUST = 0.03;
/* A constant may move by this factor from its default; beyond it is another machine, or another cause. */
static const double FURTHEST = 4.0;
/* Half of a 95 % interval, as a part of the value, that is still called known. */
static const double WIDEST = 0.5;
static const double NORMAL_95 = 1.96;
/* From the median of absolute residuals to the standard deviation of a normal distribution. */
static const double MAD_TO_SIGMA = 1.4826;
/* Steps of derivatives, and what of ln predicted by ln constant counts as dependence. */
static const double STEP = 0.01, DEPENDS = 1e-3;
/* Points that a constant needs beside others. */
#define POINTS_EACH 3u
/* Evaluations of one solution, for each constant. */
#define EVALUATIONS_EACH 60u

const char *const cal_use_titles[CAL_USE_N] = { "fitted", "other sizes", "other GPU counts" };
const char *const cal_verdict_names[] = { "fitted", "unseen", "undetermined", "at its limit", "too far", NULL };

/* A stage while it is solved. */
typedef struct {
  const CalFitModel *model;
  const GArray *points;
  guint *at; /* the stage's points that are fitted */
  double *weight;
  guint m;
  CalFitConstant **active; /* what is fitted at the moment */
  guint n;
} Solve;

static const CalFitPoint *
point_at (const GArray *points, guint i)
{
  return &g_array_index (points, CalFitPoint, i);
}

/* ln (predicted / measured); 0 where it cannot be predicted, which no constant changes. */
static double
residual (const Solve *s, guint i)
{
  double predicted_s = s->model->predict (s->model->user, s->at[i]);
  return isfinite (predicted_s) && predicted_s > 0 ? log (predicted_s / point_at (s->points, s->at[i])->measured_s) : 0;
}

static void
put (const Solve *s, const double *x)
{
  for (guint c = 0; c < s->n; c++)
    s->model->set (s->model->user, s->active[c]->offset, s->active[c]->before * exp (x[c]));
}

static double
cost (void *user, const double *x, guint n)
{
  Solve *s = user;
  double sum = 0;
  (void)n;
  put (s, x);
  for (guint i = 0; i < s->m; i++) {
    double r = residual (s, i) / ROBUST;
    sum += s->weight[i] * 2 * (sqrt (1 + r * r) - 1);
  }
  return sum;
}

/* Derivatives of the residuals by ln constant at x, m x n by rows. */
static void
derivatives (Solve *s, double *x, double *jacobian)
{
  g_autofree double *low = g_new (double, s->m);
  for (guint c = 0; c < s->n; c++) {
    double at = x[c];
    x[c] = at - STEP;
    put (s, x);
    for (guint i = 0; i < s->m; i++)
      low[i] = residual (s, i);
    x[c] = at + STEP;
    put (s, x);
    for (guint i = 0; i < s->m; i++)
      jacobian[i * s->n + c] = (residual (s, i) - low[i]) / (2 * STEP);
    x[c] = at;
  }
  put (s, x);
}

/* Gives a constant back to its default and takes it out of the solution. */
static void
give_up (Solve *s, guint c, CalVerdict why, double *x)
{
  s->active[c]->verdict = why;
  s->active[c]->after = s->active[c]->before;
  s->model->set (s->model->user, s->active[c]->offset, s->active[c]->before);
  for (guint k = c + 1; k < s->n; k++) {
    s->active[k - 1] = s->active[k];
    x[k - 1] = x[k];
  }
  s->n--;
}

/* How many points another value of constant c moves: near, and far, where a least time begins to hold. */
static guint
count_dependent (Solve *s, guint c, double *x)
{
  const double far = log (FURTHEST) - 2 * STEP, steps[] = { STEP, -STEP, far, -far };
  g_autofree double *here = g_new (double, s->m);
  g_autofree gboolean *moves = g_new0 (gboolean, s->m);
  guint n = 0;
  put (s, x);
  for (guint i = 0; i < s->m; i++)
    here[i] = residual (s, i);
  for (size_t k = 0; k < G_N_ELEMENTS (steps); k++) {
    x[c] = steps[k];
    put (s, x);
    for (guint i = 0; i < s->m; i++)
      moves[i] |= fabs (residual (s, i) - here[i]) > DEPENDS * fabs (steps[k]);
  }
  x[c] = 0;
  put (s, x);
  for (guint i = 0; i < s->m; i++)
    n += moves[i] != FALSE;
  return n;
}

/* Constants that no point depends on. */
static void
drop_unseen (Solve *s, double *x)
{
  for (guint c = s->n; c-- > 0;) {
    s->active[c]->n_points = count_dependent (s, c, x);
    if (s->active[c]->n_points == 0)
      give_up (s, c, CAL_UNSEEN, x);
  }
}

static gboolean
solve_once (Solve *s, double *x, GError **error)
{
  double lo[CAL_STAGE_MAX], hi[CAL_STAGE_MAX];
  for (guint c = 0; c < s->n; c++) {
    CalConstant constant;
    cal_constant_find (s->active[c]->path, &constant);
    lo[c] = fmax (-log (FURTHEST), constant.min > 0 ? log (constant.min / s->active[c]->before) : -HUGE_VAL);
    hi[c] = fmin (log (FURTHEST), isfinite (constant.max) ? log (constant.max / s->active[c]->before) : HUGE_VAL);
    x[c] = CLAMP (x[c], lo[c], hi[c]);
  }
  /* BOBYQA's trust region shrinks around kinks: once more from where it came to. */
  for (unsigned round = 0; round < 2; round++)
    if (!cal_minimise (cost, s, x, lo, hi, s->n, EVALUATIONS_EACH * s->n, error))
      return FALSE;
  put (s, x);
  for (guint c = s->n; c-- > 0;)
    if (x[c] <= lo[c] + STEP || x[c] >= hi[c] - STEP)
      s->active[c]->verdict = fabs (x[c]) >= log (FURTHEST) - STEP ? CAL_TOO_FAR : CAL_AT_LIMIT;
  return TRUE;
}

/* A constant that wants to leave what is accepted (a share above 1, a factor below 1) stays at its end and is solved no more. */
static void
hold_at_limit (Solve *s, guint c, double *x)
{
  CalFitConstant *held = s->active[c];
  double value = held->before * exp (x[c]);
  give_up (s, c, CAL_AT_LIMIT, x);
  held->after = value;
  s->model->set (s->model->user, held->offset, value);
}

/* Intervals at the solution. Returned: the widest beyond the limit, or n. */
static guint
intervals (Solve *s, double *x)
{
  g_autofree double *jacobian = g_new (double, (gsize)s->m * s->n), *size = g_new (double, s->m), *weight = g_new (double, s->m);
  double error[CAL_STAGE_MAX];
  derivatives (s, x, jacobian);
  for (guint i = 0; i < s->m; i++)
    size[i] = fabs (residual (s, i));
  for (guint i = 0; i < s->m; i++) /* outliers count as little as they did in the solution */
    weight[i] = 1 / sqrt (1 + size[i] * size[i] / (ROBUST * ROBUST));
  double sigma = MAD_TO_SIGMA * cal_fit_median (size, s->m);
  cal_standard_errors (jacobian, weight, s->m, s->n, sigma, error);
  guint widest = s->n;
  for (guint c = 0; c < s->n; c++) {
    s->active[c]->half_width = NORMAL_95 * error[c];
    s->active[c]->after = s->active[c]->before * exp (x[c]);
    if (s->active[c]->half_width > WIDEST && (widest == s->n || error[c] >= error[widest])) /* of equals the table's last */
      widest = c;
  }
  return widest;
}

static gboolean
solve (Solve *s, GError **error)
{
  double x[CAL_STAGE_MAX] = { 0 };
  drop_unseen (s, x);
  while (s->n > 0) {
    while (s->n > 0 && s->m < POINTS_EACH * s->n) /* the last of the table matter least */
      give_up (s, s->n - 1, CAL_UNDETERMINED, x);
    if (s->n == 0 || !solve_once (s, x, error))
      break;
    guint limit = s->n, far = s->n;
    for (guint k = 0; k < s->n; k++) {
      limit = s->active[k]->verdict == CAL_AT_LIMIT ? k : limit;
      far = s->active[k]->verdict == CAL_TOO_FAR ? k : far;
    }
    guint wide = limit == s->n && far == s->n ? intervals (s, x) : s->n;
    if (limit < s->n)
      hold_at_limit (s, limit, x);
    else if (far < s->n)
      give_up (s, far, CAL_TOO_FAR, x);
    else if (wide < s->n)
      give_up (s, wide, CAL_UNDETERMINED, x);
    else
      break;
  }
  for (guint c = 0; c < s->n; c++)
    s->active[c]->verdict = CAL_FITTED;
  return error == NULL || *error == NULL;
}

/* Each operation on each number of ranks weighs the same. */
static void
set_weights (Solve *s)
{
  enum { MOST_RANKS = 4096 };
  g_autofree guint *count = g_new0 (guint, (gsize)MDL_OP_N * MOST_RANKS);
  guint cells = 0;
  for (guint i = 0; i < s->m; i++) {
    const CalFitPoint *p = point_at (s->points, s->at[i]);
    guint *cell = &count[(guint)p->op * MOST_RANKS + MIN (p->ranks, MOST_RANKS - 1)];
    cells += *cell == 0;
    (*cell)++;
  }
  for (guint i = 0; i < s->m; i++) {
    const CalFitPoint *p = point_at (s->points, s->at[i]);
    s->weight[i] = (double)s->m / ((double)cells * count[(guint)p->op * MOST_RANKS + MIN (p->ranks, MOST_RANKS - 1)]);
  }
}

static void
list_constants (const MdlLibrary *library, const CalStageSpec *spec, GArray *constants)
{
  for (const char *const *path = spec->paths; *path != NULL; path++) {
    CalConstant found;
    if (!cal_constant_find (*path, &found))
      g_error ("stage '%s' names no constant '%s'", spec->name, *path);
    const BaseNum *now = (const BaseNum *)(const void *)((const char *)library + found.offset);
    if (!(now->v > 0)) /* neither a start nor a factor */
      continue;
    CalFitConstant c = { .path = *path,
                         .offset = found.offset,
                         .dim = found.dim,
                         .stage = spec->name,
                         .before = now->v,
                         .after = now->v,
                         .half_width = (double)NAN,
                         .verdict = CAL_UNSEEN };
    g_array_append_val (constants, c);
  }
}

static gboolean
run_stage (const CalStageSpec *spec, const MdlLibrary *library, const GArray *points, const CalFitModel *model, CalFit *fit,
           GError **error)
{
  Solve s = { .model = model, .points = points };
  g_autofree guint *at = g_new (guint, MAX (points->len, 1));
  g_autofree double *weight = g_new (double, MAX (points->len, 1));
  CalFitConstant *active[CAL_STAGE_MAX];
  for (guint i = 0; i < points->len; i++)
    if (point_at (points, i)->use == CAL_USE_FIT && cal_stage_takes (spec, point_at (points, i)))
      at[s.m++] = i;
  if (s.m == 0)
    return TRUE;
  guint first = fit->constants->len;
  list_constants (library, spec, fit->constants);
  for (guint c = first; c < fit->constants->len && s.n < CAL_STAGE_MAX; c++)
    active[s.n++] = &g_array_index (fit->constants, CalFitConstant, c);
  s.at = at;
  s.weight = weight;
  s.active = active;
  set_weights (&s);
  g_autoptr (GError) failed = NULL;
  if (s.n > 0 && !solve (&s, &failed)) {
    g_propagate_prefixed_error (error, g_steal_pointer (&failed), "%s: ", spec->name);
    return FALSE;
  }
  const CalFitStage stage = { .name = spec->name, .n_points = s.m, .n_fitted = s.n };
  g_array_append_val (fit->stages, stage);
  return TRUE;
}

CalFit *
cal_fit_run (const MdlLibrary *library, const GArray *points, const CalFitModel *model, GError **error)
{
  g_autoptr (CalFit) fit = g_new0 (CalFit, 1);
  fit->constants = g_array_new (FALSE, FALSE, sizeof (CalFitConstant));
  fit->stages = g_array_new (FALSE, FALSE, sizeof (CalFitStage));
  for (const CalStageSpec *spec = cal_stages; spec->name != NULL; spec++)
    if (!run_stage (spec, library, points, model, fit, error))
      return NULL;
  if (fit->stages->len == 0) {
    g_set_error (
        error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
        "no measurement tells a constant: collectives within one node by ring, tree or sends are needed, under graph replay "
        "or from 256 MiB on, or small ones by plain launches");
    return NULL;
  }
  guint n_fitted = 0, n_points = 0;
  for (guint s = 0; s < fit->stages->len; s++) {
    n_fitted += g_array_index (fit->stages, CalFitStage, s).n_fitted;
    n_points += g_array_index (fit->stages, CalFitStage, s).n_points;
  }
  if (n_fitted == 0) {
    g_set_error (
        error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
        "the %u measurements that tell constants leave all of these open: more sizes, operations or numbers of GPUs are needed",
        n_points);
    return NULL;
  }
  return g_steal_pointer (&fit);
}

void
cal_fit_free (CalFit *fit)
{
  if (fit == NULL)
    return;
  g_clear_pointer (&fit->constants, g_array_unref);
  g_clear_pointer (&fit->stages, g_array_unref);
  g_free (fit);
}

/* ---- what is held out ---- */

static gint
compare_settings (gconstpointer a, gconstpointer b, gpointer points)
{
  const CalFitPoint *x = point_at (points, *(const guint *)a), *y = point_at (points, *(const guint *)b);
  const gint64 keys[][2] = { { x->system, y->system }, { x->op, y->op },
                             { x->ranks, y->ranks },   { x->nodes, y->nodes },
                             { x->algo, y->algo },     { x->proto, y->proto },
                             { x->launch, y->launch }, { x->max_channels, y->max_channels } };
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return (x->size_B > y->size_B) - (x->size_B < y->size_B);
}

static gboolean
same_setting (const CalFitPoint *x, const CalFitPoint *y)
{
  return x->system == y->system && x->op == y->op && x->ranks == y->ranks && x->nodes == y->nodes && x->algo == y->algo &&
         x->proto == y->proto && x->launch == y->launch && x->max_channels == y->max_channels;
}

/* Repeats of a size stay together: else one half would tell the other. */
static void
hold_sizes (GArray *points, guint *order)
{
  gboolean held = FALSE;
  for (guint i = 0; i < points->len; i++) {
    CalFitPoint *p = &g_array_index (points, CalFitPoint, order[i]);
    const CalFitPoint *before = i > 0 ? point_at (points, order[i - 1]) : NULL;
    if (before == NULL || !same_setting (before, p))
      held = FALSE;
    else if (before->size_B < p->size_B)
      held = !held;
    if (held)
      p->use = CAL_USE_HELD_SIZE;
  }
}

static void
hold_ranks (GArray *points)
{
  for (unsigned op = 0; op < MDL_OP_N; op++) {
    guint32 least = G_MAXUINT32, most = 0;
    for (guint i = 0; i < points->len; i++) {
      const CalFitPoint *p = point_at (points, i);
      if (p->op == op && p->nodes <= 1) {
        least = MIN (least, p->ranks);
        most = MAX (most, p->ranks);
      }
    }
    for (guint i = 0; i < points->len; i++) {
      CalFitPoint *p = &g_array_index (points, CalFitPoint, i);
      if (p->op == op && p->nodes <= 1 && p->ranks != least && p->ranks != most)
        p->use = CAL_USE_HELD_RANKS;
    }
  }
}

void
cal_fit_split (GArray *points, gboolean sizes, gboolean ranks)
{
  g_autofree guint *order = g_new (guint, MAX (points->len, 1));
  for (guint i = 0; i < points->len; i++) {
    order[i] = i;
    g_array_index (points, CalFitPoint, i).use = CAL_USE_FIT;
  }
  g_qsort_with_data (order, (gint)points->len, sizeof *order, compare_settings, points);
  if (sizes)
    hold_sizes (points, order);
  if (ranks)
    hold_ranks (points);
}

void
cal_fit_bands (const GArray *points, const double *predicted_s, const gboolean *counts, double share, const double limits_B[2],
               double band[3])
{
  g_autofree double *size = g_new (double, MAX (points->len, 1));
  for (unsigned b = 0; b < 3; b++) {
    guint n = 0;
    for (guint i = 0; i < points->len; i++) {
      const CalFitPoint *p = point_at (points, i);
      if (counts[i] && mdl_size_band (p->size_B, limits_B) == b && isfinite (predicted_s[i]))
        size[n++] = fabs (log (predicted_s[i] / p->measured_s));
    }
    double width = cal_quantile (size, n, share);
    band[b] = isfinite (width) ? exp (width) - 1 : (double)NAN;
  }
}
