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
/* No run repeats better: rows that agree with a solution to the last digit do not tell apart what they hardly depend on. */
static const double LEAST_SIGMA = 0.002;
/* So near an end of what is accepted it is there. */
static const double AT_END = 1e-3;
/* A cost that no measurement shows: residuals of 0.01 %, each. */
#define NOTHING (1e-8 / (CAL_ROBUST * CAL_ROBUST))
/* Evaluations of one solution, for each constant. */
#define EVALUATIONS_EACH 60u
/* Solutions one after another, and the part of the cost that must be left for another one. */
#define ROUNDS 6u
static const double HELPS = 0.9;

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

void
cal_name_alike (CalFitConstant *c, const CalFitConstant *other)
{
  g_autofree char *mine =
      g_strconcat (other->section != NULL ? other->section : "", other->section != NULL ? "." : "", other->path, NULL);
  if (c->alike != NULL && strstr (c->alike, mine) != NULL)
    return;
  g_autofree char *all = c->alike != NULL ? g_strconcat (c->alike, ", ", mine, NULL) : g_strdup (mine);
  c->alike = g_intern_string (all);
}

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

/* Steps from where BOBYQA came to: among a dozen of variables it ends in a valley, not at its deepest point. A step that does not
 * lower the cost, as across a kink, is tried again shorter. */
#define POLISH_ROUNDS 30u

static void
polish (Solve *s, double *x, const double *lo, const double *hi)
{
  static const double FIRST = 1e-3, SHORTEST = 1e8, EASIER = 0.1, HARDER = 10, ENOUGH = 1e-7;
  g_autofree double *jacobian = g_new (double, (gsize)s->m * s->n), *r = g_new (double, s->m), *weight = g_new (double, s->m);
  double here = cost (s, x, s->n), damping = FIRST;
  gboolean moved = TRUE;
  for (unsigned round = 0; round < POLISH_ROUNDS && damping < SHORTEST; round++) {
    double step[CAL_STAGE_MAX], next[CAL_STAGE_MAX];
    if (moved) {
      derivatives (s, x, jacobian);
      for (guint i = 0; i < s->m; i++) {
        r[i] = residual (s, i);
        weight[i] = weight_of (s, i) / sqrt (1 + r[i] * r[i] / (CAL_ROBUST * CAL_ROBUST));
      }
    }
    moved = FALSE;
    if (cal_damped_step (jacobian, weight, r, s->m, s->n, damping, step)) {
      for (guint c = 0; c < s->n; c++)
        next[c] = CLAMP (x[c] + step[c], lo[c], hi[c]);
      double there = cost (s, next, s->n);
      moved = there < here * (1 - ENOUGH);
      if (moved) {
        memcpy (x, next, s->n * sizeof *x);
        here = there;
      }
    }
    damping *= moved ? EASIER : HARDER;
  }
  put (s, x);
}

/* From the defaults, or from the one value of one constant that explains most, where more is explained from there. */
static void
begin_with_one (Solve *s, double *x, const double *lo, const double *hi)
{
  static const double FACTORS[] = { 0.5, 0.7, 0.85, 1.2, 1.4, 2 };
  double other[CAL_STAGE_MAX] = { 0 }, least = cost (s, other, s->n), best = 0;
  guint which = s->n;
  for (guint c = 0; c < s->n; c++) {
    for (gsize k = 0; k < G_N_ELEMENTS (FACTORS); k++) {
      other[c] = CLAMP (log (FACTORS[k]), lo[c], hi[c]);
      double there = cost (s, other, s->n);
      if (there < least) {
        least = there;
        which = c;
        best = other[c];
      }
    }
    other[c] = 0;
  }
  polish (s, x, lo, hi);
  if (which == s->n)
    return;
  other[which] = best;
  polish (s, other, lo, hi);
  if (cost (s, other, s->n) < cost (s, x, s->n))
    memcpy (x, other, s->n * sizeof *x);
}

/* Where the default explains the points as well, as beyond a bound that does not bind, the rows ask for nothing else. */
static void
return_to_defaults (Solve *s, double *x)
{
  static const double AS_WELL = 1e-9;
  for (guint a = s->n; a-- > 0;)
    for (guint b = a + 1; b-- > 0;) { /* by itself last: of two that only matter by their ratio, both return */
      double at_a = x[a], at_b = x[b], here = cost (s, x, s->n);
      x[a] = x[b] = 0;
      if (cost (s, x, s->n) > here * (1 + AS_WELL) + NOTHING) {
        x[a] = at_a;
        x[b] = at_b;
      }
    }
}

static gboolean
solve_once (Solve *s, double *x, gboolean first, GError **error)
{
  double lo[CAL_STAGE_MAX], hi[CAL_STAGE_MAX];
  for (guint c = 0; c < s->n; c++) {
    const CalFitConstant *constant = s->active[c];
    lo[c] = fmax (-log (FURTHEST), constant->min > 0 ? log (constant->min / constant->before) : -HUGE_VAL);
    hi[c] = fmin (log (FURTHEST), isfinite (constant->max) ? log (constant->max / constant->before) : HUGE_VAL);
    x[c] = CLAMP (x[c], lo[c], hi[c]);
  }
  const CalCost of = { cost, s, s->n, EVALUATIONS_EACH * s->n, lo, hi };
  /* BOBYQA's trust region shrinks around kinks: once more from where it came to, as long as that helps. */
  double here = HUGE_VAL, before;
  unsigned round = 0;
  if (first)
    begin_with_one (s, x, lo, hi);
  do {
    before = here;
    if (!cal_minimise (&of, x, error))
      return FALSE;
    polish (s, x, lo, hi);
    here = cost (s, x, s->n);
  } while (++round < ROUNDS && here < before * HELPS);
  return_to_defaults (s, x);
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

/* An addition that wants to be less than a quarter of its default is none; the rest is solved again without it. */
static void
hold_none (Solve *s, guint c, double *x)
{
  CalFitConstant *held = s->active[c];
  give_up (s, c, CAL_AT_LIMIT, x);
  held->after = 0;
  set (s, held, 0);
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
  double sigma = fmax (LEAST_SIGMA, CAL_MAD_TO_SIGMA * base_median (size, s->m));
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

/* Derivatives of the residuals by ln constant, weighted, where it stands. */
static void
column_of (const Solve *s, const CalFitConstant *constant, double *column)
{
  set (s, constant, constant->after * exp (-STEP));
  for (guint i = 0; i < s->m; i++)
    column[i] = residual (s, i);
  set (s, constant, constant->after * exp (STEP));
  for (guint i = 0; i < s->m; i++)
    column[i] = sqrt (weight_of (s, i)) * (residual (s, i) - column[i]);
  set (s, constant, constant->after);
}

/* Whoever took the part of a constant that was given up or held, as its points move in the same direction: which of both the rows
 * ask for is not known. */
static void
name_stand_ins (Solve *s, CalFitConstant *const *left, guint n_left)
{
  static const double COLLINEAR = 0.98, CHANGED = 0.03;
  g_autofree double *mine = g_new (double, s->m), *its = g_new (double, s->m);
  for (guint c = 0; c < s->n; c++) {
    CalFitConstant *fitted = s->active[c];
    if (fabs (fitted->after / fitted->before - 1) <= fmax (CHANGED, fitted->half_width))
      continue;
    column_of (s, fitted, mine);
    for (guint k = 0; k < n_left; k++) {
      column_of (s, left[k], its);
      double along = cal_dot (mine, its, s->m), both = cal_dot (mine, mine, s->m) * cal_dot (its, its, s->m);
      if (!(both > 0) || along * along < COLLINEAR * both)
        continue;
      cal_name_alike (fitted, left[k]);
      fitted->verdict = CAL_ALIKE;
    }
  }
}

static gboolean
solve (Solve *s, GError **error)
{
  double x[CAL_STAGE_MAX] = { 0 };
  CalFitConstant *left[CAL_STAGE_MAX];
  guint n_left = 0;
  gboolean first = TRUE;
  drop_unseen (s, x);
  while (s->n > 0) {
    while (s->n > 0 && s->m < CAL_POINTS_EACH * s->n) /* the last of the table matter least */
      give_up (s, s->n - 1, CAL_UNDETERMINED, x);
    if (s->n == 0 || !solve_once (s, x, first, error))
      break;
    first = FALSE;
    guint limit = s->n, far = s->n;
    for (guint k = 0; k < s->n; k++) {
      limit = s->active[k]->verdict == CAL_AT_LIMIT ? k : limit;
      far = s->active[k]->verdict == CAL_TOO_FAR ? k : far;
    }
    guint wide = limit == s->n && far == s->n ? intervals (s, x) : s->n;
    if (limit < s->n) {
      left[n_left++] = s->active[limit];
      hold_at_limit (s, limit, x);
    } else if (far < s->n && s->active[far]->addition && x[far] < 0)
      hold_none (s, far, x);
    else if (far < s->n)
      give_up (s, far, CAL_TOO_FAR, x);
    else if (wide < s->n) {
      left[n_left++] = s->active[wide];
      give_up (s, wide, CAL_UNDETERMINED, x);
    } else
      break;
  }
  for (guint c = 0; c < s->n; c++)
    s->active[c]->verdict = CAL_FITTED;
  name_stand_ins (s, left, n_left);
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
    const gboolean addition = g_str_has_suffix (*path, CAL_ADDITION);
    if (addition)
      (*path)[strlen (*path) - strlen (CAL_ADDITION)] = '\0';
    if (!cal_constant_find (at->schema, at->now, g_intern_string (*path), &c))
      g_error ("stage '%s' names no constant '%s'", stage->name, *path);
    c.addition = addition;
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
