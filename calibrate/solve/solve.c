/* The fit of constants to points. See include/calibrate/solve.h for what is made least and when a constant is left alone. */
#include "calibrate/solve.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

#include "solve/solve-private.h"

/* A constant may move by this factor from its default; beyond it is another machine, or another cause. */
static const double FURTHEST = 4.0;
/* Steps of derivatives, and what of ln predicted by ln constant counts as dependence. */
static const double STEP = 0.01, DEPENDS = 1e-3;
/* So near an end of what is accepted it is there. */
static const double AT_END = 1e-3;
/* Evaluations of one solution, for each constant. */
#define EVALUATIONS_EACH 60u

const char *const cal_use_titles[CAL_USE_N] = { "fitted",      "other sizes",      "other GPU counts",
                                                "other kinds", "other operations", "other systems" };
const char *const cal_verdict_names[] = { "fitted",  "unseen", "undetermined",   "at its limit",
                                          "too far", "agrees", "not told apart", NULL };

/* A problem while it is solved. */
typedef struct {
  const CalProblem *problem;
  guint m;                               /* points */
  CalFitConstant *active[CAL_STAGE_MAX]; /* what is fitted at the moment */
  guint n;
} Solve;

/* ln (predicted / measured); 0 where it cannot be predicted, which no constant changes. */
static double
residual (const Solve *s, guint i)
{
  double predicted = s->problem->predict (s->problem->user, s->problem->at[i]);
  return isfinite (predicted) && predicted > 0 ? log (predicted / s->problem->measured[i]) : 0;
}

static void
set (const Solve *s, const CalFitConstant *constant, double value)
{
  s->problem->set (s->problem->user, constant, value);
}

static double
weight_of (const Solve *s, guint i)
{
  return s->problem->weight != NULL ? s->problem->weight[i] : 1;
}

static void
put (const Solve *s, const double *x)
{
  for (guint c = 0; c < s->n; c++)
    set (s, s->active[c], s->active[c]->before * exp (x[c]));
}

static double
cost (void *user, const double *x, guint n)
{
  Solve *s = user;
  double sum = 0;
  (void)n;
  put (s, x);
  for (guint i = 0; i < s->m; i++) {
    double r = residual (s, i) / CAL_ROBUST;
    sum += weight_of (s, i) * 2 * (sqrt (1 + r * r) - 1);
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
  set (s, s->active[c], s->active[c]->before);
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
    const CalFitConstant *constant = s->active[c];
    lo[c] = fmax (-log (FURTHEST), constant->min > 0 ? log (constant->min / constant->before) : -HUGE_VAL);
    hi[c] = fmin (log (FURTHEST), isfinite (constant->max) ? log (constant->max / constant->before) : HUGE_VAL);
    x[c] = CLAMP (x[c], lo[c], hi[c]);
  }
  const CalCost of = { cost, s, s->n, EVALUATIONS_EACH * s->n, lo, hi };
  /* BOBYQA's trust region shrinks around kinks: once more from where it came to. */
  for (unsigned round = 0; round < 2; round++)
    if (!cal_minimise (&of, x, error))
      return FALSE;
  put (s, x);
  for (guint c = s->n; c-- > 0;)
    if (x[c] <= lo[c] + AT_END || x[c] >= hi[c] - AT_END)
      s->active[c]->verdict = fabs (x[c]) >= log (FURTHEST) - AT_END ? CAL_TOO_FAR : CAL_AT_LIMIT;
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
  set (s, held, value);
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
    weight[i] = 1 / sqrt (1 + size[i] * size[i] / (CAL_ROBUST * CAL_ROBUST));
  double sigma = CAL_MAD_TO_SIGMA * base_median (size, s->m);
  cal_standard_errors (jacobian, weight, s->m, s->n, sigma, error);
  guint widest = s->n;
  for (guint c = 0; c < s->n; c++) {
    s->active[c]->half_width = CAL_NORMAL_95 * error[c];
    s->active[c]->after = s->active[c]->before * exp (x[c]);
    if (s->active[c]->half_width > CAL_WIDEST && (widest == s->n || error[c] >= error[widest])) /* of equals the table's last */
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
    while (s->n > 0 && s->m < CAL_POINTS_EACH * s->n) /* the last of the table matter least */
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

gboolean
cal_solve (const CalProblem *problem, CalFitConstant *const *constants, guint n, guint *n_fitted, GError **error)
{
  g_return_val_if_fail (n <= CAL_STAGE_MAX, FALSE);
  Solve s = { .problem = problem, .m = problem->n_points, .n = n };
  memcpy (s.active, constants, n * sizeof *s.active);
  g_autoptr (GError) failed = NULL;
  gboolean solved = n == 0 || solve (&s, &failed);
  *n_fitted = solved ? s.n : 0;
  if (!solved)
    g_propagate_error (error, g_steal_pointer (&failed));
  return solved;
}

gboolean
cal_constant_find (const BaseSchema *schema, const void *section, const char *path, CalFitConstant *out)
{
  *out = (CalFitConstant){ .path = path, .max = HUGE_VAL, .half_width = (double)NAN, .verdict = CAL_UNSEEN, .span = FURTHEST };
  const BaseField *field = cst_path_find (schema, path, &out->offset);
  if (field == NULL)
    return FALSE;
  const BaseNum *now = (const BaseNum *)(const void *)((const char *)section + out->offset);
  out->dim = field->dim;
  out->before = out->after = out->base = now->v;
  return (field->min == NULL || base_quantity_parse (field->min, field->dim, &out->min, NULL)) &&
         (field->max == NULL || base_quantity_parse (field->max, field->dim, &out->max, NULL));
}

CalFit *
cal_fit_new (void)
{
  CalFit *fit = g_new (CalFit, 1);
  fit->constants = g_array_new (FALSE, FALSE, sizeof (CalFitConstant));
  fit->stages = g_array_new (FALSE, FALSE, sizeof (CalFitStage));
  return fit;
}

void
cal_fit_free (CalFit *fit)
{
  if (fit == NULL)
    return;
  g_array_unref (fit->constants);
  g_array_unref (fit->stages);
  g_free (fit);
}

gboolean
cal_stage_solve (const CalStage *stage, const CalConstants *at, const CalProblem *problem, CalFit *fit, GError **error)
{
  if (problem->n_points == 0)
    return TRUE;
  CalFitConstant *active[CAL_STAGE_MAX];
  guint first = fit->constants->len, n = 0;
  g_auto (GStrv) paths = g_strsplit (stage->paths, " ", -1);
  for (char **path = paths; *path != NULL; path++) {
    CalFitConstant c;
    if (!cal_constant_find (at->schema, at->now, g_intern_string (*path), &c))
      g_error ("stage '%s' names no constant '%s'", stage->name, *path);
    c.stage = stage->name;
    c.base = ((const BaseNum *)(const void *)((const char *)at->defaults + c.offset))->v;
    if (c.before > 0) /* else neither a start nor a factor */
      g_array_append_val (fit->constants, c);
  }
  for (guint c = first; c < fit->constants->len && n < CAL_STAGE_MAX; c++)
    active[n++] = &g_array_index (fit->constants, CalFitConstant, c);
  CalFitStage done = { .name = stage->name, .n_points = problem->n_points };
  if (!cal_solve (problem, active, n, &done.n_fitted, error)) {
    g_prefix_error (error, "%s: ", stage->name);
    return FALSE;
  }
  g_array_append_val (fit->stages, done);
  return TRUE;
}

void
cal_band (const double *error, const gboolean *second, guint n, double *band, double *covered)
{
  g_autofree double *first = g_new (double, MAX (n, 1));
  guint n_first = 0, n_second = 0, n_in = 0;
  for (guint i = 0; i < n; i++)
    if (!second[i] && isfinite (error[i]))
      first[n_first++] = error[i];
  double width = base_quantile (first, n_first, CAL_BAND_SHARE);
  *band = isfinite (width) ? exp (width) - 1 : (double)NAN;
  for (guint i = 0; i < n; i++)
    if (second[i] && isfinite (error[i])) {
      n_second++;
      n_in += error[i] <= log1p (*band);
    }
  *covered = n_second > 0 ? (double)n_in / n_second : (double)NAN;
}
