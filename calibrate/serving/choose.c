/* Which constants of an engine's times runs tell, and their values.
 *
 * With x = ln (constant / before), r = ln (predicted / measured) of TTFT and TPOT of each run, a set of constants has
 *     least of  sum w r²/s² + sum x²/spread²      s: what the runs scatter by, 5 % for TPOT and 10 % for TTFT at least
 * by Gauss-Newton with derivatives by differences and halved steps; w are Huber's weights (1 up to 2 s, then 2 s/|r|), so that a
 * few runs with options that nobody noted do not bend the rest. The second sum is what is known without the runs, with the spreads
 * of the fit over nodes (calibrate/solve.h).
 *
 * Ten runs cannot tell ten constants, so none is chosen among them: all that the runs tell something of are solved together, each
 * held by its spread. One that two runs alone tell, as where a limit binds, is left out: what they say may be something else that
 * they have in common, and it would move all runs beyond. The set is taken if the criterion of the fit over nodes is less than
 * without it,
 *     sum over TTFT, TPOT of m ln (mean of rho · n / (n - k) + e²) + sum x²/spread²
 * with m times of n in all, e what the model is wrong by at least, and k the constants that the runs set, of each 1 - (its interval
 * with the runs / without)² (degrees of freedom of a ridge; Hastie, Tibshirani, Friedman, 3.4.1). Nothing is chosen, so nothing is
 * paid for a choice. A set that makes TTFT or TPOT of the runs worse is not taken, however good the other is. */
#include <math.h>
#include <string.h>

#include <lapacke.h>

#include "base/stats.h"
#include "calibrate/solve.h"
#include "serving/fit-private.h"

#define MOST       CAL_SERVING_MOST
#define ROUNDS     10u
#define HALVINGS   4u
#define STEP       0.08 /* of a logarithm, for derivatives: a run has whole steps, so less is noise */
#define SAME       1e-2 /* constants that change by less end the search */
#define HUBER      2.0
#define HOST_START 2.5  /* another start: the host takes e^2.5 times as long */
#define TIMES      2u   /* TTFT, TPOT */
#define LEARNT     0.9  /* of the interval without runs: what the runs do not narrow to this, taken alone, stays */
#define RUNS_EACH  3u   /* that tell a constant: what the others tell beside the two that tell most is at least … */
#define BY_OTHERS  0.1  /* … this share of all */
#define WORSE      1.05 /* of the mean of rho and the model's own error: ten runs tell no less */
static const double SPREAD[TIMES] = { 0.10, 0.05 };
/* What the model is wrong by at least: what runs of one deployment repeat to. */
static const double MODEL_ERROR[TIMES] = { 0.06, 0.03 };

typedef struct {
  guint at[MOST], n; /* constants, in the order that they came */
  double x[MOST];    /* of all constants */
  double spread[MOST];
} Set;

typedef struct {
  CalServingWork *work;
  guint n;             /* constants */
  double scale[TIMES]; /* s of the set that is solved */
} Choice;

static CalServingConstant *
constant (const Choice *c, guint j)
{
  return &g_array_index (c->work->out->constants, CalServingConstant, j);
}

/* r; NAN: not measured. */
static double
residual (const Choice *c, guint run, guint which, double answer)
{
  const CalServingRun *its = c->work->runs->pdata[run];
  return answer - log (which == 0 ? its->ttft_s : its->tpot_s);
}

/* ---- the least sum of a set ---- */

static double
huber (double r)
{
  const double size = fabs (r);
  return size <= HUBER ? r * r : 2 * HUBER * size - HUBER * HUBER;
}

static double
weight (double r)
{
  return fabs (r) <= HUBER ? 1 : HUBER / fabs (r);
}

static double
surprise (const Choice *c, const double *x)
{
  double sum = 0;
  for (guint j = 0; j < c->n; j++) {
    const double off = x[j] / constant (c, j)->spread;
    sum += off * off;
  }
  return sum;
}

static double
sum_of (const Choice *c, const double *x, guint stride, double (*answer)[TIMES])
{
  double sum = surprise (c, x);
  for (guint i = 0; i < c->work->runs->len; i++)
    for (guint k = 0; k < TIMES; k++) {
      const double r = residual (c, i, k, answer[(gsize)i * stride][k]) / c->scale[k];
      sum += isfinite (r) ? huber (r) : 0;
    }
  return sum;
}

/* Slopes of r/s of one run by the constants of a set, of what `differences` played. Returned: r/s. */
static double
slopes (const Choice *c, const Set *set, double (*answer)[TIMES], guint run, guint k, double *slope)
{
  const double (*of)[TIMES] = (const double (*)[TIMES]) & answer[(gsize)run * (set->n + 1)];
  for (guint a = 0; a < set->n; a++)
    slope[a] = isfinite (of[a + 1][k]) ? (of[a + 1][k] - of[0][k]) / STEP / c->scale[k] : 0;
  return residual (c, run, k, of[0][k]) / c->scale[k];
}

/* The normal equations at set->x: matrix (n x n, of the set's constants) and right side. */
static void
normal_equations (const Choice *c, const Set *set, double (*answer)[TIMES], double *matrix, double *right)
{
  const guint n = set->n;
  double slope[MOST];
  memset (matrix, 0, sizeof *matrix * n * n);
  memset (right, 0, sizeof *right * n);
  for (guint i = 0; i < c->work->runs->len; i++)
    for (guint k = 0; k < TIMES; k++) {
      const double r = slopes (c, set, answer, i, k, slope);
      if (!isfinite (r))
        continue;
      for (guint a = 0; a < n; a++) {
        right[a] -= weight (r) * slope[a] * r;
        for (guint b = 0; b < n; b++)
          matrix[a * n + b] += weight (r) * slope[a] * slope[b];
      }
    }
  for (guint a = 0; a < n; a++) {
    const double spread = constant (c, set->at[a])->spread;
    matrix[a * n + a] += 1 / (spread * spread);
    right[a] -= set->x[set->at[a]] / (spread * spread);
  }
}

/* At set->x, and with each constant of the set moved by STEP; answer[run * (set->n + 1) + …]. */
static gboolean
differences (const Choice *c, const Set *set, double (*answer)[TIMES], GError **error)
{
  double trial[MOST + 1][MOST];
  for (guint k = 0; k <= set->n; k++) {
    memcpy (trial[k], set->x, sizeof trial[k]);
    if (k > 0)
      trial[k][set->at[k - 1]] += STEP;
  }
  return cal_serving_predict (c->work, (const double (*)[MOST])trial, set->n + 1, answer, error);
}

/* A step of the set's constants, halved until the sum falls. *moved: by how much; 0: nothing is better. */
static gboolean
step_down (const Choice *c, Set *set, const double *by, double now, double *moved, GError **error)
{
  double trial[1][MOST];
  g_autofree double (*answer)[TIMES] = g_malloc_n (c->work->runs->len, sizeof *answer);
  *moved = 0;
  for (guint h = 0; h < HALVINGS; h++) {
    memcpy (trial[0], set->x, sizeof trial[0]);
    for (guint a = 0; a < set->n; a++)
      trial[0][set->at[a]] += CLAMP (by[a], -1, 1) / pow (2, h);
    if (!cal_serving_predict (c->work, (const double (*)[MOST])trial, 1, answer, error))
      return FALSE;
    if (sum_of (c, trial[0], 1, answer) >= now)
      continue;
    for (guint a = 0; a < set->n; a++)
      *moved = fmax (*moved, fabs (trial[0][set->at[a]] - set->x[set->at[a]]));
    memcpy (set->x, trial[0], sizeof trial[0]);
    return TRUE;
  }
  return TRUE;
}

/* s: what these runs scatter by, 1.48 of the median of |r|, and not less than SPREAD. */
static void
take_scale (const Choice *c, guint stride, double (*answer)[TIMES], double *scale)
{
  g_autofree double *size = g_new (double, c->work->runs->len);
  for (guint k = 0; k < TIMES; k++) {
    guint n = 0;
    for (guint i = 0; i < c->work->runs->len; i++) {
      const double r = fabs (residual (c, i, k, answer[(gsize)i * stride][k]));
      if (isfinite (r))
        size[n++] = r;
    }
    scale[k] = n > 0 ? fmax (1.4826 * base_median (size, n), SPREAD[k]) : SPREAD[k];
  }
}

/* Values of the set's constants from set->x on, and their spreads. *sum: what was made least. */
static gboolean
solve (Choice *c, Set *set, double *sum, GError **error)
{
  const lapack_int n = (lapack_int)set->n;
  g_autofree double (*answer)[TIMES] = g_malloc_n ((gsize)c->work->runs->len * (set->n + 1), sizeof *answer);
  double matrix[MOST * MOST], right[MOST], moved = 1;
  for (guint round = 0;; round++) {
    if (!differences (c, set, answer, error))
      return FALSE;
    take_scale (c, set->n + 1, answer, c->scale);
    normal_equations (c, set, answer, matrix, right);
    if (round == ROUNDS || moved < SAME)
      break;
    LAPACKE_dposv (LAPACK_ROW_MAJOR, 'U', n, 1, matrix, n, right, 1);
    if (!step_down (c, set, right, sum_of (c, set->x, set->n + 1, answer), &moved, error))
      return FALSE;
  }
  /* -2 ln of the likelihood */
  *sum = sum_of (c, set->x, set->n + 1, answer) + 2 * c->work->runs->len * log (c->scale[0] * c->scale[1]);
  LAPACKE_dpotrf (LAPACK_ROW_MAJOR, 'U', n, matrix, n);
  LAPACKE_dpotri (LAPACK_ROW_MAJOR, 'U', n, matrix, n);
  for (guint a = 0; a < set->n; a++)
    set->spread[set->at[a]] = sqrt (matrix[a * set->n + a]);
  return TRUE;
}

/* ---- what a set is worth ---- */

/* A measured time of a run near a place: r, and its slopes there. */
typedef struct {
  guint run, n, which;    /* n of constants; 0 TTFT, 1 TPOT */
  double r0, slope[MOST]; /* r by slopes where these constants stand as before the fit */
} Line;

/* Like r² near 0, and like |r| beyond SPREAD, as in the fit over nodes: a run with an option that nobody noted says little. */
static double
rho (guint k, double r)
{
  const double s = SPREAD[k];
  return 2 * s * s * (sqrt (1 + r * r / (s * s)) - 1);
}

/* Lines (Line) of all measured times at `all`. */
static GArray *
lines_at (Choice *c, const Set *all, GError **error)
{
  g_autofree double (*answer)[TIMES] = g_malloc_n ((gsize)c->work->runs->len * (all->n + 1), sizeof *answer);
  if (!differences (c, all, answer, error))
    return NULL;
  take_scale (c, all->n + 1, answer, c->scale);
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (Line));
  for (guint i = 0; i < c->work->runs->len; i++)
    for (guint k = 0; k < TIMES; k++) {
      Line line = { .run = i, .which = k, .n = all->n };
      line.r0 = slopes (c, all, answer, i, k, line.slope) * c->scale[k];
      if (!isfinite (line.r0))
        continue;
      for (guint a = 0; a < all->n; a++) {
        line.slope[a] *= c->scale[k];
        line.r0 -= line.slope[a] * all->x[a];
      }
      g_array_append_val (lines, line);
    }
  return lines;
}

/* Means of rho of TTFT and TPOT, with what the model is wrong by at least; NAN: not measured. */
static void
misfit_of (const GArray *lines, double misfit[TIMES], guint n[TIMES])
{
  double loss[TIMES] = { 0 };
  n[0] = n[1] = 0;
  for (guint i = 0; i < lines->len; i++) {
    const Line *line = &g_array_index (lines, Line, i);
    loss[line->which] += rho (line->which, line->r0);
    n[line->which]++;
  }
  for (guint i = 0; i < TIMES; i++)
    misfit[i] = loss[i] / n[i] + MODEL_ERROR[i] * MODEL_ERROR[i];
}

/* Whether the criterion is less with a set than without it, and neither TTFT nor TPOT of the runs is worse. As constants are held
 * by what was known of each, a set takes the errors of fewer points than it has constants: k. */
static gboolean
is_better (const Choice *c, const GArray *after, const GArray *before, const Set *set)
{
  double now[TIMES], then[TIMES], k = 0, sum = 0;
  guint n[TIMES];
  misfit_of (before, then, n);
  misfit_of (after, now, n);
  for (guint a = 0; a < set->n; a++) {
    const double spread = constant (c, set->at[a])->spread, share = set->spread[set->at[a]] / spread;
    k += 1 - share * share;
    sum += pow (set->x[set->at[a]] / spread, 2);
  }
  const double m = n[0] + n[1];
  for (guint i = 0; i < TIMES; i++) {
    if (n[i] == 0)
      continue;
    if (now[i] > WORSE * then[i])
      return FALSE;
    const double error = MODEL_ERROR[i] * MODEL_ERROR[i];
    sum += n[i] * log (((now[i] - error) * m / (m - k) + error) / then[i]);
  }
  return sum < 0;
}

/* Whether the runs tell of a constant, beside what was known, and not two of them alone. */
static gboolean
is_told (const Choice *c, const GArray *lines, guint j)
{
  double sum = 0, rest = 0, most[RUNS_EACH - 1] = { 0 };
  for (guint i = 0; i < lines->len;) {
    const guint run = g_array_index (lines, Line, i).run;
    double told = 0;
    for (; i < lines->len && g_array_index (lines, Line, i).run == run; i++) {
      const Line *line = &g_array_index (lines, Line, i);
      const double g = line->slope[j] * constant (c, j)->spread / c->scale[line->which];
      told += g * g;
    }
    sum += told;
    for (guint k = 0; k < G_N_ELEMENTS (most); k++)
      if (told > most[k]) {
        const double less = most[k];
        most[k] = told;
        told = less;
      }
    rest += told;
  }
  return 1 / sqrt (1 + sum) < LEARNT && (rest > BY_OTHERS * sum || c->work->runs->len < RUNS_EACH);
}

/* Constants that these runs tell. Returned: how many. */
static guint
candidates (const Choice *c, const GArray *lines, guint *told)
{
  guint n = 0;
  for (guint j = 0; j < c->n; j++)
    if (is_told (c, lines, j))
      told[n++] = j;
  return n;
}

/* From what stands there, and from a slow host: where the GPU hides the host, no derivative tells of it. */
static Set
start (const Choice *c, gboolean slow)
{
  Set set = { .n = c->n };
  for (guint j = 0; j < c->n; j++) {
    const char *key = constant (c, j)->key;
    set.at[j] = j;
    set.x[j] = slow && (strcmp (key, "sequence") == 0 || strcmp (key, "token") == 0) ? HOST_START : 0;
  }
  return set;
}

/* Leaves constants of the set out that the runs do not tell where it stands. *some: there were such. */
static gboolean
leave_out (Choice *c, Set *set, gboolean *some, GError **error)
{
  Set all = *set;
  guint told[MOST], n = 0;
  for (all.n = 0; all.n < c->n; all.n++)
    all.at[all.n] = all.n;
  g_autoptr (GArray) lines = lines_at (c, &all, error);
  if (lines == NULL)
    return FALSE;
  const guint n_told = candidates (c, lines, told), before = set->n;
  Set kept = { 0 };
  for (guint a = 0; a < before; a++)
    for (guint i = 0; i < n_told; i++)
      if (told[i] == set->at[a]) {
        kept.at[n++] = told[i];
        kept.x[told[i]] = set->x[told[i]];
      }
  kept.n = n;
  *some = n < before;
  *set = kept;
  return TRUE;
}

/* Constants of which the runs say something, at the start and where they are solved. *sum: what was made least; INFINITY: none. */
static gboolean
solve_told (Choice *c, gboolean slow, Set *out, double *sum, GError **error)
{
  gboolean some = TRUE;
  Set set = start (c, slow);
  if (!leave_out (c, &set, &some, error))
    return FALSE;
  for (some = TRUE; some && set.n > 0;) {
    if (!solve (c, &set, sum, error))
      return FALSE;
    *out = set;
    if (!leave_out (c, &set, &some, error))
      return FALSE;
  }
  if (set.n == 0) {
    *out = (Set){ 0 };
    *sum = (double)INFINITY;
  }
  return TRUE;
}

/* The set that is taken, solved; none where what stands there is better. */
static gboolean
take_set (Choice *c, Set *out, GError **error)
{
  Set set, slow, now = { 0 };
  double sum, slow_sum;
  g_autoptr (GArray) before = lines_at (c, &now, error);
  if (before == NULL || !solve_told (c, FALSE, &set, &sum, error) || !solve_told (c, TRUE, &slow, &slow_sum, error))
    return FALSE;
  if (slow_sum < sum)
    set = slow;
  memcpy (now.x, set.x, sizeof now.x);
  g_autoptr (GArray) after = lines_at (c, &now, error);
  if (after == NULL)
    return FALSE;
  if (is_better (c, after, before, &set))
    *out = set;
  return TRUE;
}

gboolean
cal_serving_choose (CalServingWork *work, double *x, GError **error)
{
  Choice c = { .work = work, .n = work->out->constants->len };
  Set best = { 0 };
  if (!take_set (&c, &best, error))
    return FALSE;
  for (guint j = 0; j < c.n; j++) {
    CalServingConstant *its = constant (&c, j);
    const CalServingKnown *which = work->which[j];
    x[j] = best.x[j];
    const double ln = cal_serving_ln (work, best.x, j);
    its->fitted = best.spread[j] > 0 || fabs (ln) > 0;
    its->error = best.spread[j] > 0 ? best.spread[j] : its->spread;
    its->after = its->fitted ? CLAMP (its->before * exp (ln), which->least, which->most) : its->before;
  }
  return TRUE;
}
