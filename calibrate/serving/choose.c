/* Which constants of an engine's times runs tell, and their values.
 *
 * With x = ln (constant / before), r = ln (predicted / measured) of TTFT and TPOT of each run, a set of constants has
 *     least of  sum w r²/s² + sum x²/spread²      s: what the runs scatter by, 5 % for TPOT and 10 % for TTFT at least
 * by Gauss-Newton with derivatives by differences and halved steps; w are Huber's weights (1 up to 2 s, then 2 s/|r|), so that a
 * few runs with options that nobody noted do not bend the rest. The second sum is what is known without the runs.
 *
 * Ten runs cannot tell ten constants, and a constant that only follows their scatter makes other runs worse. So each set is judged
 * by what it says of a run that it was not fitted to (leave one out), all sets by the slopes where all constants together are best:
 *     r' = r / (1 − h)   h: leverage of the run, w g' A⁻¹ g / s² with its slopes g and the matrix A of the normal equations
 *     loss of a run = sum over TTFT, TPOT of rho (r') / (mean of rho (r') of the best set + e²)
 * rho is robust beyond what these runs scatter by before the fit, e what a run repeats to. Ten runs rank sets badly, so the best
 * set is not taken: of those that are worse by no more than a standard error of the difference, the one is whose constants stay
 * nearest to what was known (least sum of x²/spread²), which may be none. A set whose r' of TTFT or of TPOT are worse than those
 * without a fit is not taken, however good the other is; nor is one whose r are, once its runs are played. */
#include <math.h>
#include <string.h>

#include <lapacke.h>

#include "base/stats.h"
#include "serving/fit-private.h"

#define MOST       CAL_SERVING_MOST
#define ROUNDS     10u
#define HALVINGS   4u
#define STEP       0.08 /* of a logarithm, for derivatives: a run has whole steps, so less is noise */
#define SAME       1e-2 /* constants that change by less end the search */
#define HUBER      2.0
#define HOST_START 2.5  /* another start: the host takes e^2.5 times as long */
#define LEVERAGE   0.95 /* a run that alone tells a constant says nothing of how well it is told */
#define TIMES      2u   /* TTFT, TPOT */
#define LEARNT     0.6  /* of the interval without runs: what the runs do not narrow to this, taken alone, is no candidate */
#define WORSE      1.05 /* of the mean of rho or the median of |r'|: ten runs tell no less */
#define TRIES      4u   /* sets that are played */
#define REWEIGH    4u   /* rounds of weights of a set that is judged by slopes */
static const double SPREAD[TIMES] = { 0.10, 0.05 };
/* What runs of one deployment repeat to. */
static const double REPEAT[TIMES] = { 0.06, 0.03 };

typedef struct {
  guint at[MOST], n; /* constants, in the order that they came */
  double x[MOST];    /* of all constants */
  double spread[MOST];
} Set;

typedef struct {
  CalServingWork *work;
  guint n;                   /* candidates */
  double scale[TIMES];       /* s of the set that is solved */
  double first_scale[TIMES]; /* s before the fit */
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
  double trial[HALVINGS][MOST];
  g_autofree double (*answer)[TIMES] = g_malloc_n ((gsize)c->work->runs->len * HALVINGS, sizeof *answer);
  for (guint h = 0; h < HALVINGS; h++) {
    memcpy (trial[h], set->x, sizeof trial[h]);
    for (guint a = 0; a < set->n; a++)
      trial[h][set->at[a]] += CLAMP (by[a], -1, 1) / pow (2, h);
  }
  if (!cal_serving_predict (c->work, (const double (*)[MOST])trial, HALVINGS, answer, error))
    return FALSE;
  int best = -1;
  for (guint h = 0; h < HALVINGS; h++) {
    const double sum = sum_of (c, trial[h], HALVINGS, &answer[h]);
    if (sum < now) {
      now = sum;
      best = (int)h;
    }
  }
  *moved = 0;
  for (guint a = 0; best >= 0 && a < set->n; a++)
    *moved = fmax (*moved, fabs (trial[best][set->at[a]] - set->x[set->at[a]]));
  if (best >= 0)
    memcpy (set->x, trial[best], sizeof trial[best]);
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

/* All constants from where they stand, and from a slow host: where the GPU hides the host, no derivative tells of it. */
static gboolean
solve_all (Choice *c, Set *set, GError **error)
{
  Set other = *set;
  double sum, other_sum;
  for (guint j = 0; j < c->n; j++) {
    const char *key = constant (c, j)->key;
    other.x[j] = strcmp (key, "sequence") == 0 || strcmp (key, "token") == 0 ? HOST_START : 0;
  }
  if (!solve (c, set, &sum, error) || !solve (c, &other, &other_sum, error))
    return FALSE;
  if (other_sum < sum)
    *set = other;
  return TRUE;
}

/* ---- what sets are worth ---- */

/* Runs near the place where all constants are best: r of each, and its slopes there. */
typedef struct {
  guint n, which;         /* of constants; 0 TTFT, 1 TPOT */
  double r0, slope[MOST]; /* r by slopes where all constants stand as before the fit */
} Line;

/* Like r² near 0, and like |r| beyond what the runs scatter by before the fit. */
static double
rho (const Choice *c, guint k, double r)
{
  const double s = c->first_scale[k];
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
      Line line = { .which = k, .n = all->n };
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

/* The matrix of a set's normal equations by lines, factored, with weights of residuals at `x`; x moves to their solution. */
static void
solve_lines (const Choice *c, const GArray *lines, const guint *at, guint n, double *x, double *matrix)
{
  double right[MOST] = { 0 };
  memset (matrix, 0, sizeof *matrix * n * n);
  for (guint i = 0; i < lines->len; i++) {
    const Line *line = &g_array_index (lines, Line, i);
    const double s = c->scale[line->which];
    double r = line->r0;
    for (guint a = 0; a < n; a++)
      r += line->slope[at[a]] * x[a];
    const double w = weight (r / s) / (s * s);
    for (guint a = 0; a < n; a++) {
      right[a] -= w * line->slope[at[a]] * line->r0;
      for (guint b = a; b < n; b++)
        matrix[a * n + b] += w * line->slope[at[a]] * line->slope[at[b]];
    }
  }
  for (guint a = 0; a < n; a++) {
    const double spread = constant (c, at[a])->spread;
    matrix[a * n + a] += 1 / (spread * spread);
  }
  LAPACKE_dpotrf (LAPACK_ROW_MAJOR, 'U', (lapack_int)n, matrix, (lapack_int)n);
  LAPACKE_dpotrs (LAPACK_ROW_MAJOR, 'U', (lapack_int)n, 1, matrix, (lapack_int)n, right, 1);
  memcpy (x, right, sizeof *x * n);
}

/* Mean of rho and median of |r'| of TTFT and TPOT; NAN: not measured. */
typedef struct {
  double mean[TIMES], median[TIMES];
} Loss;

/* |r'| of each line, as the other runs predict it by a set, and rho of it. Returned: the set's surprise. */
static double
left_out (const Choice *c, const GArray *lines, const guint *at, guint n, double *size, double *loss)
{
  double x[MOST] = { 0 }, matrix[MOST * MOST], off = 0;
  for (guint round = 0; n > 0 && round < REWEIGH; round++)
    solve_lines (c, lines, at, n, x, matrix);
  for (guint i = 0; i < lines->len; i++) {
    const Line *line = &g_array_index (lines, Line, i);
    const double s = c->scale[line->which];
    double r = line->r0, g[MOST], solved[MOST], h = 0;
    for (guint a = 0; a < n; a++) {
      g[a] = solved[a] = line->slope[at[a]];
      r += g[a] * x[a];
    }
    if (n > 0)
      LAPACKE_dpotrs (LAPACK_ROW_MAJOR, 'U', (lapack_int)n, 1, matrix, (lapack_int)n, solved, 1);
    for (guint a = 0; a < n; a++)
      h += weight (r / s) / (s * s) * g[a] * solved[a];
    size[i] = fabs (r / (1 - fmin (h, LEVERAGE)));
    loss[i] = rho (c, line->which, size[i]);
  }
  for (guint a = 0; a < n; a++)
    off += x[a] * x[a] / pow (constant (c, at[a])->spread, 2);
  return off;
}

static Loss
sum_up (const GArray *lines, const double *size, const double *loss)
{
  Loss out;
  g_autofree double *of = g_new (double, MAX (lines->len, 1));
  for (guint k = 0; k < TIMES; k++) {
    double sum = 0;
    guint n = 0;
    for (guint i = 0; i < lines->len; i++)
      if (g_array_index (lines, Line, i).which == k) {
        sum += loss[i];
        of[n++] = size[i];
      }
    out.mean[k] = n > 0 ? sum / n : (double)NAN;
    out.median[k] = n > 0 ? base_median (of, n) : (double)NAN;
  }
  return out;
}

/* Whether TTFT or TPOT is worse than without a fit. */
static gboolean
harms (const Loss *its, const Loss *none)
{
  for (guint k = 0; k < TIMES; k++)
    if (its->mean[k] > WORSE * none->mean[k] || its->median[k] > WORSE * none->median[k])
      return TRUE;
  return FALSE;
}

/* n ln (mean + e²) of TTFT and TPOT. */
static double
criterion_of (const Choice *c, const double *mean)
{
  double sum = 0;
  for (guint k = 0; k < TIMES; k++)
    sum += isfinite (mean[k]) ? c->work->runs->len * log (mean[k] + REPEAT[k] * REPEAT[k]) : 0;
  return sum;
}

/* Whether losses are above those of the best set by no more than a standard error of the difference. */
static gboolean
is_as_good (const GArray *lines, const double *loss, const double *best, const double *best_mean)
{
  double sum = 0, squares = 0;
  const guint n = lines->len;
  for (guint i = 0; i < n; i++) {
    const guint k = g_array_index (lines, Line, i).which;
    const double d = (loss[i] - best[i]) / (best_mean[k] + REPEAT[k] * REPEAT[k]);
    sum += d;
    squares += d * d;
  }
  return sum <= sqrt (fmax (squares - sum * sum / n, 0) * n / (n - 1.0));
}

/* Constants that these runs say something of. Returned: how many. */
static guint
candidates (const Choice *c, const GArray *lines, guint *seen)
{
  guint n = 0;
  for (guint j = 0; j < c->n; j++) {
    double told = 0;
    for (guint i = 0; i < lines->len; i++) {
      const Line *line = &g_array_index (lines, Line, i);
      const double g = line->slope[j] * constant (c, j)->spread / c->scale[line->which];
      told += g * g;
    }
    if (1 / sqrt (1 + told) < LEARNT)
      seen[n++] = j;
  }
  return n;
}

/* Numbers of the constants of which `bits` are set. Returned: how many. */
static guint
members (const guint *seen, guint n_seen, guint bits, guint *at)
{
  guint n = 0;
  for (guint j = 0; j < n_seen; j++)
    if ((bits >> j & 1) != 0)
      at[n++] = seen[j];
  return n;
}

/* The set's constants, without values. *beyond: sets with that surprise or less are left out; becomes the set's. */
static void
choose_set (const Choice *c, const GArray *lines, double *beyond, Set *out)
{
  guint seen[MOST], at[MOST];
  const guint n_seen = candidates (c, lines, seen), n_sets = 1u << n_seen;
  g_autofree double *loss = g_new (double, MAX (lines->len, 1)), *best = g_new (double, MAX (lines->len, 1)),
                    *size = g_new (double, MAX (lines->len, 1)), *off = g_new (double, n_sets);
  Loss none = { 0 }, best_loss = { 0 };
  double criterion = (double)INFINITY, least = (double)INFINITY;
  for (guint bits = 0; bits < n_sets; bits++) {
    off[bits] = left_out (c, lines, at, members (seen, n_seen, bits, at), size, loss);
    const Loss its = sum_up (lines, size, loss);
    none = bits == 0 ? its : none;
    if (harms (&its, &none))
      off[bits] = (double)INFINITY;
    if (!isfinite (off[bits]) || criterion_of (c, its.mean) >= criterion)
      continue;
    criterion = criterion_of (c, its.mean);
    best_loss = its;
    memcpy (best, loss, sizeof *best * lines->len);
  }
  for (guint bits = 0; bits < n_sets; bits++) {
    if (off[bits] >= least || off[bits] <= *beyond)
      continue;
    const guint n = members (seen, n_seen, bits, at);
    left_out (c, lines, at, n, size, loss);
    if (!is_as_good (lines, loss, best, best_loss.mean))
      continue;
    least = off[bits];
    out->n = n;
    memcpy (out->at, at, sizeof at);
  }
  *beyond = least;
}

/* What is lost at x, played. */
static gboolean
loss_at (Choice *c, const double *x, Loss *out, GError **error)
{
  Set here = { 0 };
  memcpy (here.x, x, sizeof here.x);
  g_autoptr (GArray) lines = lines_at (c, &here, error);
  if (lines == NULL)
    return FALSE;
  g_autofree double *size = g_new (double, MAX (lines->len, 1)), *loss = g_new (double, MAX (lines->len, 1));
  left_out (c, lines, NULL, 0, size, loss);
  *out = sum_up (lines, size, loss);
  return TRUE;
}

/* The set that is taken, solved; none where all that are tried harm. */
static gboolean
take_set (Choice *c, const Set *all, Set *best, GError **error)
{
  double beyond = -1, sum;
  Loss none, its;
  const Set nothing = { 0 };
  g_autoptr (GArray) lines = lines_at (c, all, error);
  if (lines == NULL)
    return FALSE;
  double scale[TIMES]; /* of the lines; what is played has others */
  memcpy (scale, c->scale, sizeof scale);
  if (!loss_at (c, nothing.x, &none, error))
    return FALSE;
  for (guint tries = 0; tries < TRIES; tries++) {
    Set set = { 0 };
    memcpy (c->scale, scale, sizeof scale);
    choose_set (c, lines, &beyond, &set);
    if (set.n == 0)
      break;
    for (guint a = 0; a < set.n; a++)
      set.x[set.at[a]] = all->x[set.at[a]];
    if (!solve (c, &set, &sum, error) || !loss_at (c, set.x, &its, error))
      return FALSE;
    if (!harms (&its, &none)) {
      *best = set;
      break;
    }
  }
  return TRUE;
}

gboolean
cal_serving_choose (CalServingWork *work, double *x, GError **error)
{
  Choice c = { .work = work, .n = work->out->constants->len };
  Set all = { 0 }, best = { 0 };
  g_autofree double (*answer)[TIMES] = g_malloc_n (work->runs->len, sizeof *answer);
  if (!differences (&c, &all, answer, error))
    return FALSE;
  take_scale (&c, 1, answer, c.first_scale);
  for (all.n = 0; all.n < c.n; all.n++)
    all.at[all.n] = all.n;
  if (!solve_all (&c, &all, error))
    return FALSE;
  if (!take_set (&c, &all, &best, error))
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
