/* Which of many constants measurements ask for. See cal_choose in include/calibrate/solve.h. */
#include <math.h>
#include <string.h>

#include <lapacke.h>

#include "base/stats.h"
#include "solve/solve-private.h"

/* Residuals below this are rounding of printed times. */
static const double FLOOR = 3e-4;
/* What the formulas themselves are wrong by at least: no constant is moved for less. */
static const double MODEL_ERROR = 0.003;
/* A constant that one point tells takes up that point's error. */
#define POINTS_LEAST 2u
/* Additions in a row without a better criterion that end the search; candidates that are solved in full each time. */
#define PATIENCE  3u
#define FINALISTS 4u
/* So much of a constant's effect lies in the direction of another's before the two are tried in each other's place. */
static const double SIMILAR = 0.7;
/* Criteria that differ by less are the same: a likelihood ratio of e. */
static const double SAME = 2.0;
static const double BOUND = 1e-3;

typedef struct {
  const CalProblem *problem;
  CalFitConstant *c; /* candidates */
  guint n, m;
  guint active[CAL_STAGE_MAX], k;
  double *x; /* by candidate: ln of the factor on `before` */
  gboolean *seen, *banned;
  guint n_seen;
} Choose;

/* ---- values ---- */

static double
low (const CalFitConstant *c)
{
  return fmax (-log (c->span), c->min > 0 ? log (c->min / c->before) : -HUGE_VAL);
}

static double
high (const CalFitConstant *c)
{
  return fmin (log (c->span), isfinite (c->max) ? log (c->max / c->before) : HUGE_VAL);
}

static void
put (Choose *s, guint c, double x)
{
  s->x[c] = x;
  s->problem->set (s->problem->user, &s->c[c], s->c[c].before * exp (x));
}

static double
weight (const Choose *s, guint i)
{
  return s->problem->weight != NULL ? s->problem->weight[i] : 1;
}

/* ln (predicted / measured); 0 where it cannot be predicted. */
static void
residuals (const Choose *s, double *r)
{
  for (guint i = 0; i < s->m; i++) {
    double predicted = s->problem->predict (s->problem->user, s->problem->at[i]);
    r[i] = isfinite (predicted) && predicted > 0 ? log (predicted / s->problem->measured[i]) : 0;
  }
}

static double
cost_of (const Choose *s, const double *r)
{
  double sum = 0;
  for (guint i = 0; i < s->m; i++) {
    double f = r[i] / CAL_ROBUST;
    sum += weight (s, i) * 2 * CAL_ROBUST * CAL_ROBUST * (sqrt (1 + f * f) - 1);
  }
  return sum;
}

static double
cost (const Choose *s)
{
  g_autofree double *r = g_new (double, s->m);
  residuals (s, r);
  return cost_of (s, r);
}

/* Derivatives of the residuals by x of one candidate, times what outliers weigh less (`part`, by residuals). */
static void
column (Choose *s, guint c, const double *part, double *out)
{
  static const double STEP = 0.01;
  g_autofree double *r = g_new (double, s->m);
  double at = s->x[c], from = fmax (at - STEP, low (&s->c[c])), to = fmin (at + STEP, high (&s->c[c]));
  put (s, c, to);
  residuals (s, out);
  put (s, c, from);
  residuals (s, r);
  put (s, c, at);
  for (guint i = 0; i < s->m; i++)
    out[i] = to > from ? part[i] * (out[i] - r[i]) / (to - from) : 0;
}

/* sqrt of each residual's weight in the solution, and the residuals times that. */
static void
weigh (const Choose *s, double *part, double *r)
{
  residuals (s, r);
  for (guint i = 0; i < s->m; i++) {
    part[i] = sqrt (weight (s, i) / sqrt (1 + r[i] * r[i] / (CAL_ROBUST * CAL_ROBUST)));
    r[i] *= part[i];
  }
}

/* ---- least squares: Levenberg and Marquardt ---- */

/* Moves the active constants by a damped step. TRUE: the cost is less. */
static gboolean
step (Choose *s, const double *jacobian, const double *r, double *damp, double *now)
{
  guint k = s->k;
  g_autofree double *normal = g_new (double, (gsize)k *k), *d = g_new (double, k), *before = g_new (double, k);
  for (guint tries = 0; tries < 8; tries++, *damp *= 8) {
    for (guint a = 0; a < k; a++) {
      before[a] = s->x[s->active[a]];
      d[a] = -cal_dot (&jacobian[a * s->m], r, s->m);
      for (guint b = 0; b < k; b++)
        normal[a * k + b] = cal_dot (&jacobian[a * s->m], &jacobian[b * s->m], s->m);
      normal[a * k + a] += *damp * normal[a * k + a] + 1e-12;
    }
    if (LAPACKE_dposv (LAPACK_ROW_MAJOR, 'U', (lapack_int)k, 1, normal, (lapack_int)k, d, 1) != 0)
      continue;
    for (guint a = 0; a < k; a++) {
      const CalFitConstant *c = &s->c[s->active[a]];
      put (s, s->active[a], CLAMP (before[a] + CLAMP (d[a], -1, 1), low (c), high (c)));
    }
    double here = cost (s);
    if (here < *now) {
      *now = here;
      *damp *= 0.2;
      return TRUE;
    }
    for (guint a = 0; a < k; a++)
      put (s, s->active[a], before[a]);
  }
  return FALSE;
}

/* Returned: the least cost over the active constants, which stand there. */
static double
refine (Choose *s)
{
  enum { ROUNDS = 40 };
  g_autofree double *jacobian = g_new (double, (gsize)s->m *MAX (s->k, 1)), *r = g_new (double, s->m), *part = g_new (double, s->m);
  double now = cost (s), damp = 1e-3;
  for (guint round = 0; s->k > 0 && round < ROUNDS; round++) {
    double before = now;
    weigh (s, part, r);
    for (guint a = 0; a < s->k; a++)
      column (s, s->active[a], part, &jacobian[a * s->m]);
    if (!step (s, jacobian, r, &damp, &now) || before - now < 1e-7 * before)
      break;
  }
  return now;
}

/* How far the active constants go from what other clusters have. */
static double
surprise (const Choose *s)
{
  double sum = 0;
  for (guint a = 0; a < s->k; a++) {
    double far = s->x[s->active[a]] / s->c[s->active[a]].spread;
    sum += far * far;
  }
  return sum;
}

/* What the points say of the active constants; less is better. A constant pays for itself and for having been chosen among many,
 * and what the model explains within its own error is no reason to move one. */
static double
evidence (const Choose *s, double least)
{
  double each = log (MAX (s->m, 2)) + 2 * log (MAX (s->n_seen, 2));
  return s->m * log (least / (s->m - s->k) + MODEL_ERROR * MODEL_ERROR) + each * s->k;
}

/* ---- sets of constants ---- */

typedef struct {
  guint active[CAL_STAGE_MAX], k;
  double x[CAL_STAGE_MAX], evidence, criterion; /* the criterion has the surprise, too */
} Set;

static Set
keep (const Choose *s, double least)
{
  Set set = { .k = s->k, .evidence = evidence (s, least) };
  set.criterion = set.evidence + surprise (s);
  for (guint a = 0; a < s->k; a++) {
    set.active[a] = s->active[a];
    set.x[a] = s->x[s->active[a]];
  }
  return set;
}

static void
restore (Choose *s, const Set *set)
{
  for (guint a = 0; a < s->k; a++)
    put (s, s->active[a], 0);
  s->k = set->k;
  for (guint a = 0; a < s->k; a++) {
    s->active[a] = set->active[a];
    put (s, s->active[a], set->x[a]);
  }
}

static gboolean
is_active (const Choose *s, guint c)
{
  for (guint a = 0; a < s->k; a++)
    if (s->active[a] == c)
      return TRUE;
  return FALSE;
}

static gboolean
is_free (const Choose *s, guint c)
{
  return s->seen[c] && !s->banned[c] && !is_active (s, c);
}

/* Where among some values candidate `c` costs least, beyond kinks that no derivative sees: of few, then between the best of them
 * and its neighbours. */
static double
scan (Choose *s, guint c, double *best_x)
{
  static const double at[] = { -2.5, -1.2, -0.5, -0.15, 0.15, 0.5, 1.2, 2.5 };
  enum { HALVINGS = 2 };
  double least = HUGE_VAL, width = 0;
  *best_x = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (at) + 2 * HALVINGS; i++) {
    gboolean first = i < G_N_ELEMENTS (at);
    double x = first ? at[i] : *best_x + (i % 2 == 0 ? width : -width);
    x = CLAMP (x, low (&s->c[c]), high (&s->c[c]));
    put (s, c, x);
    double here = cost (s);
    if (here < least) {
      least = here;
      width = first ? 0.7 * fabs (x) : width;
      *best_x = x;
    }
    width *= !first && i % 2 == 1 ? 0.5 : 1;
  }
  put (s, c, 0);
  return least;
}

/* Takes out of `v` what lies along the n orthonormal rows of `basis`. */
static void
project (const double *basis, guint n, guint m, double *v)
{
  for (guint a = 0; a < n; a++) {
    double along = cal_dot (&basis[a * m], v, m);
    for (guint i = 0; i < m; i++)
      v[i] -= along * basis[a * m + i];
  }
}

/* Orthonormal rows that span what the active constants but `without` move. Returned: full; *n of them. */
static double *
span_of (Choose *s, const double *part, guint without, guint *n)
{
  double *basis = g_new (double, (gsize)s->m *MAX (s->k, 1));
  *n = 0;
  for (guint a = 0; a < s->k; a++) {
    double *v = &basis[*n * s->m];
    if (s->active[a] == without)
      continue;
    column (s, s->active[a], part, v);
    double whole = sqrt (cal_dot (v, v, s->m));
    project (basis, *n, s->m, v);
    double left = sqrt (cal_dot (v, v, s->m));
    if (!(left > 1e-6 * whole))
      continue;
    for (guint i = 0; i < s->m; i++)
      v[i] /= left;
    (*n)++;
  }
  return basis;
}

/* What the cost would lose by candidate `c`: by its derivative, beside the active ones, or by a value further off. */
static double
promise (Choose *s, guint c, const double *basis, guint n, const double *part, const double *r, double now)
{
  g_autofree double *v = g_new (double, s->m);
  double x;
  column (s, c, part, v);
  project (basis, n, s->m, v);
  double along = cal_dot (v, r, s->m), length = cal_dot (v, v, s->m);
  double near = length > 1e-12 ? along * along / length : 0;
  return fmax (near, now - scan (s, c, &x));
}

/* Adds candidate `c`, from its best value in a scan and from where it stands. Returned: the least cost. */
static double
add (Choose *s, guint c)
{
  double x;
  const Set before = keep (s, 1);
  scan (s, c, &x);
  s->active[s->k++] = c;
  double first = refine (s);
  const Set solved = keep (s, first);
  restore (s, &before);
  s->active[s->k++] = c;
  put (s, c, x);
  double second = refine (s);
  if (first < second)
    restore (s, &solved);
  return fmin (first, second);
}

/* Adds the candidate that leaves the least cost. FALSE: there is none that helps. */
static gboolean
grow (Choose *s, double *now)
{
  guint top[FINALISTS], n_top = 0, n_basis;
  g_autofree double *gain = g_new0 (double, s->n), *r = g_new (double, s->m), *part = g_new (double, s->m);
  weigh (s, part, r);
  g_autofree double *basis = span_of (s, part, s->n, &n_basis);
  for (guint c = 0; c < s->n; c++) {
    if (!is_free (s, c))
      continue;
    gain[c] = promise (s, c, basis, n_basis, part, r, *now);
    guint place = n_top;
    while (place > 0 && gain[c] > gain[top[place - 1]] * (1 + 1e-9)) /* of equals the first */
      place--;
    if (place >= FINALISTS || !(gain[c] > 0))
      continue;
    n_top = MIN (n_top + 1, FINALISTS);
    memmove (&top[place + 1], &top[place], (n_top - 1 - place) * sizeof *top);
    top[place] = c;
  }
  const Set before = keep (s, *now);
  Set best = before;
  best.criterion = HUGE_VAL;
  double least = *now;
  for (guint i = 0; i < n_top; i++) {
    double here = add (s, top[i]);
    const Set set = keep (s, here);
    if (set.criterion < best.criterion - 1e-6 * fabs (best.criterion) || best.criterion >= HUGE_VAL) {
      best = set;
      least = here;
    }
    restore (s, &before);
  }
  if (!(least < *now * (1 - 1e-3)))
    return FALSE;
  restore (s, &best);
  *now = least;
  return TRUE;
}

/* Takes out constants without which the criterion is no worse. */
static void
prune (Choose *s, Set *best)
{
  for (gboolean less = TRUE; less;) {
    less = FALSE;
    const Set whole = *best;
    for (guint a = 0; a < whole.k; a++) {
      if (s->c[whole.active[a]].always)
        continue;
      Set without = whole;
      without.k--;
      without.active[a] = whole.active[without.k];
      without.x[a] = whole.x[without.k];
      restore (s, &without);
      const Set set = keep (s, refine (s));
      if (set.criterion <= best->criterion) {
        *best = set;
        less = TRUE;
      }
    }
    restore (s, best);
  }
}

/* The best set, which then is active. */
static void
search (Choose *s)
{
  guint limit = MIN (CAL_STAGE_MAX - 1, s->m / CAL_POINTS_EACH), idle = 0;
  restore (s, &(Set){ .k = 0 });
  for (guint c = 0; c < s->n && s->k < limit; c++)
    if (s->c[c].always && s->seen[c])
      s->active[s->k++] = c;
  double now = refine (s);
  Set best = keep (s, now);
  while (s->k < limit && idle < PATIENCE && now / s->m > 1e-3 * FLOOR * FLOOR && grow (s, &now)) {
    const Set set = keep (s, now);
    idle = set.criterion < best.criterion ? 0 : idle + 1;
    best = idle == 0 ? set : best;
  }
  restore (s, &best);
  prune (s, &best);
}

/* ---- what the points cannot tell apart ---- */

/* Values that two sets give to a constant are the same within this, or within its interval. */
static const double SAME_VALUE = 0.03;

/* Constants of `best` that stand elsewhere in `set`, where candidate `c` is: they are as unsure as it is. */
static void
name_moved (Choose *s, const Set *best, const Set *set, guint c)
{
  for (guint a = 0; a < best->k; a++)
    for (guint b = 0; b < set->k; b++)
      if (best->active[a] == set->active[b] && fabs (best->x[a] - set->x[b]) > fmax (SAME_VALUE, s->c[best->active[a]].half_width))
        cal_name_alike (&s->c[best->active[a]], &s->c[c]);
}

/* Marks candidates that may do as well as active constant number `a`: what they move lies in the same direction, beside the other
 * active ones, or a value of theirs takes most of the cost that it takes away. They bind in other places, so that where it stands
 * their own derivative may be 0. */
static void
find_rivals (Choose *s, guint a, const Set *best, const Set *without, gboolean *rival)
{
  static const double MOST = 0.3;
  guint at = best->active[a], n_basis;
  g_autofree double *r = g_new (double, s->m), *part = g_new (double, s->m), *mine = g_new (double, s->m),
                    *v = g_new (double, s->m);
  weigh (s, part, r);
  g_autofree double *basis = span_of (s, part, at, &n_basis);
  column (s, at, part, mine);
  project (basis, n_basis, s->m, mine);
  double length = cal_dot (mine, mine, s->m), least = cost (s), x;
  for (guint c = 0; c < s->n; c++) {
    rival[c] = is_free (s, c);
    if (!rival[c])
      continue;
    column (s, c, part, v);
    project (basis, n_basis, s->m, v);
    double along = cal_dot (v, mine, s->m), other = cal_dot (v, v, s->m);
    rival[c] = other > 0 && along * along >= SIMILAR * length * other;
  }
  restore (s, without);
  double whole = cost (s);
  for (guint c = 0; c < s->n; c++)
    if (c != at && !rival[c] && is_free (s, c))
      rival[c] = whole - scan (s, c, &x) > MOST * (whole - least);
  restore (s, best);
}

/* Tries each candidate in the place of active constant number `a`; of those that do as well, the first of the table stays. TRUE:
 * another took its place, and the others are to be tried anew. */
static gboolean
try_others (Choose *s, guint a, Set *best)
{
  guint at = best->active[a];
  g_autofree gboolean *rival = g_new (gboolean, s->n);
  Set without = *best;
  without.k--;
  without.active[a] = best->active[without.k];
  without.x[a] = best->x[without.k];
  find_rivals (s, a, best, &without, rival);
  for (guint c = 0; c < s->n; c++) {
    if (!rival[c])
      continue;
    restore (s, &without);
    const Set set = keep (s, add (s, c));
    restore (s, best);
    if (set.evidence > best->evidence + SAME)
      continue;
    if (c < at && set.criterion <= best->criterion + SAME / 2) {
      *best = set;
      restore (s, best);
      return TRUE;
    }
    cal_name_alike (&s->c[at], &s->c[c]);
    name_moved (s, best, &set, c);
    s->c[c].verdict = CAL_ALIKE;
    cal_name_alike (&s->c[c], &s->c[at]);
  }
  return FALSE;
}

static void
find_alike (Choose *s)
{
  enum { MOST_MOVES = 20 };
  Set best = keep (s, cost (s));
  for (guint moves = 0, a = 0; a < best.k; a++) {
    if (s->c[best.active[a]].always || !try_others (s, a, &best) || ++moves > MOST_MOVES)
      continue;
    for (guint c = 0; c < s->n; c++)
      s->c[c].alike = NULL;
    a = G_MAXUINT; /* from the first on again */
  }
}

/* ---- verdicts ---- */

/* Intervals of the active constants. Returned: the number of one that cannot stay: too wide, or too far; or s->k. */
static guint
judge_active (Choose *s, double sigma, const double *part)
{
  g_autofree double *rows = g_new (double, (gsize)s->m *MAX (s->k, 1)), *v = g_new (double, s->m), *ones = g_new (double, s->m);
  double error[CAL_STAGE_MAX];
  guint out = s->k;
  for (guint a = 0; a < s->k; a++) {
    column (s, s->active[a], part, v);
    for (guint i = 0; i < s->m; i++)
      rows[i * s->k + a] = v[i];
  }
  for (guint i = 0; i < s->m; i++)
    ones[i] = 1;
  cal_standard_errors (rows, ones, s->m, s->k, sigma, error);
  for (guint a = 0; a < s->k; a++) {
    CalFitConstant *c = &s->c[s->active[a]];
    double x = s->x[s->active[a]];
    gboolean at_end = x <= low (c) + BOUND || x >= high (c) - BOUND;
    c->after = c->before * exp (x);
    c->half_width = CAL_NORMAL_95 * error[a];
    c->verdict = !at_end ? CAL_FITTED : fabs (x) >= log (c->span) - BOUND ? CAL_TOO_FAR : CAL_AT_LIMIT;
    if (c->verdict == CAL_FITTED && c->half_width > CAL_WIDEST)
      c->verdict = CAL_UNDETERMINED;
    if (!c->always && (c->verdict == CAL_TOO_FAR || c->verdict == CAL_UNDETERMINED) &&
        (out == s->k || c->half_width > s->c[s->active[out]].half_width))
      out = a;
  }
  return out;
}

/* Of candidates that stay where they are: whether the points would have told another value. */
static void
judge_others (Choose *s, double sigma, const double *part, const double *r)
{
  guint n_basis;
  g_autofree double *basis = span_of (s, part, s->n, &n_basis), *v = g_new (double, s->m);
  for (guint c = 0; c < s->n; c++) {
    CalFitConstant *at = &s->c[c];
    if (is_active (s, c) || !s->seen[c] || at->verdict == CAL_ALIKE || s->banned[c])
      continue;
    column (s, c, part, v);
    project (basis, n_basis, s->m, v);
    double length = sqrt (cal_dot (v, v, s->m)), width = length > 0 ? CAL_NORMAL_95 * sigma / length : (double)INFINITY;
    /* the value that they would have: beyond the interval they want a change that is too small to pay for a constant */
    double wanted = length > 0 ? fabs (cal_dot (v, r, s->m)) / (length * length) : 0;
    at->half_width = width + wanted;
    at->verdict = at->half_width <= CAL_WIDEST && wanted <= width ? CAL_AGREES : CAL_UNDETERMINED;
  }
}

static void
look (Choose *s)
{
  g_autofree double *here = g_new (double, s->m), *r = g_new (double, s->m);
  g_autofree gboolean *moves = g_new (gboolean, s->m);
  residuals (s, here);
  for (guint c = 0; c < s->n; c++) {
    const double steps[] = { 0.01, -0.01, 1.3, -1.3 };
    memset (moves, 0, s->m * sizeof *moves);
    for (gsize k = 0; k < G_N_ELEMENTS (steps); k++) {
      double x = CLAMP (steps[k], low (&s->c[c]), high (&s->c[c]));
      put (s, c, x);
      residuals (s, r);
      for (guint i = 0; i < s->m; i++)
        moves[i] |= fabs (r[i] - here[i]) > 1e-3 * fabs (x);
    }
    put (s, c, 0);
    s->c[c].n_points = 0;
    for (guint i = 0; i < s->m; i++)
      s->c[c].n_points += moves[i] != FALSE;
    s->seen[c] = s->c[c].n_points > 0;
    s->n_seen += s->seen[c] != FALSE;
    s->banned[c] = s->c[c].n_points < POINTS_LEAST && !s->c[c].always;
    s->c[c].verdict = s->seen[c] && s->banned[c] ? CAL_UNDETERMINED : CAL_UNSEEN;
    s->c[c].alike = NULL;
  }
}

void
cal_choose (const CalProblem *problem, CalFitConstant *constants, guint n, guint *n_fitted)
{
  g_autofree double *x = g_new0 (double, MAX (n, 1)), *size = g_new (double, MAX (problem->n_points, 1)),
                    *part = g_new (double, MAX (problem->n_points, 1)), *r = g_new (double, MAX (problem->n_points, 1));
  g_autofree gboolean *seen = g_new0 (gboolean, MAX (n, 1)), *banned = g_new0 (gboolean, MAX (n, 1));
  Choose s = { .problem = problem, .c = constants, .n = n, .m = problem->n_points, .x = x, .seen = seen, .banned = banned };
  double sigma = 0;
  look (&s);
  for (guint out = 0, rounds = 0; rounds <= n; rounds++) {
    search (&s);
    weigh (&s, part, r);
    for (guint i = 0; i < s.m; i++)
      size[i] = fabs (r[i]);
    sigma = fmax (CAL_MAD_TO_SIGMA * base_median (size, s.m), FLOOR);
    out = judge_active (&s, sigma, part);
    if (out == s.k)
      break;
    CalFitConstant *left = &s.c[s.active[out]];
    banned[s.active[out]] = TRUE;
    left->after = left->before;
  }
  find_alike (&s);
  judge_active (&s, sigma, part);
  weigh (&s, part, r);
  judge_others (&s, sigma, part, r);
  for (guint c = 0; c < n; c++) /* also of those that were left again */
    if (!is_active (&s, c))
      constants[c].after = constants[c].before;
  *n_fitted = s.k;
  for (guint a = 0; a < s.k; a++)
    if (constants[s.active[a]].alike != NULL)
      constants[s.active[a]].verdict = CAL_ALIKE;
}
