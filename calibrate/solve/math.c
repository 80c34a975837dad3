/* The numbers behind the fit: NLopt's BOBYQA (Powell, DAMTP 2009/NA06) for the least cost, steps of Levenberg and Marquardt for its
 * end, LAPACK's symmetric eigenvalues for the covariance. */
#include <math.h>

#include <lapacke.h>
#include <nlopt.h>

#include "base/error.h"
#include "solve/solve-private.h"

/* Relative accuracy of the factors, and of the cost, that ends the search: far below what measurements repeat to. */
static const double X_TOLERANCE = 1e-4, F_TOLERANCE = 1e-7;
/* An eigenvalue of the scaled normal matrix below this part of the largest counts as 0. */
static const double RANK_TOLERANCE = 1e-9;

static double
objective (unsigned n, const double *x, double *gradient, void *data)
{
  const CalCost *cost = data;
  (void)gradient; /* BOBYQA asks for none */
  return cost->f (cost->user, x, n);
}

gboolean
cal_minimise (const CalCost *cost, double *x, GError **error)
{
  const double *lo = cost->lo, *hi = cost->hi;
  guint n = cost->n;
  for (guint i = 0; i < n; i++) { /* NLopt's first step is as long as the way to the nearest end, unless x is there */
    x[i] = x[i] - lo[i] < X_TOLERANCE ? lo[i] : x[i];
    x[i] = hi[i] - x[i] < X_TOLERANCE ? hi[i] : x[i];
  }
  /* BOBYQA wants two variables; one is searched by the simplex method. */
  nlopt_opt opt = nlopt_create (n > 1 ? NLOPT_LN_BOBYQA : NLOPT_LN_NELDERMEAD, n);
  double least;
  nlopt_set_min_objective (opt, objective, (void *)(gpointer)cost);
  nlopt_set_lower_bounds (opt, lo);
  nlopt_set_upper_bounds (opt, hi);
  nlopt_set_xtol_rel (opt, X_TOLERANCE);
  nlopt_set_ftol_rel (opt, F_TOLERANCE);
  nlopt_set_maxeval (opt, (int)cost->most);
  nlopt_result status = nlopt_optimize (opt, x, &least);
  nlopt_destroy (opt);
  if (status < 0 && status != NLOPT_ROUNDOFF_LIMITED) {
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_RUN, "the optimiser ended with status %d", (int)status);
    return FALSE;
  }
  return TRUE;
}

gboolean
cal_damped_step (const double *jacobian, const double *weight, const double *residual, guint m, guint n, double damping,
                 double *step)
{
  g_autofree double *normal = g_new0 (double, (gsize)n *n);
  for (guint a = 0; a < n; a++)
    step[a] = 0;
  for (guint i = 0; i < m; i++)
    for (guint a = 0; a < n; a++) {
      step[a] -= weight[i] * jacobian[i * n + a] * residual[i];
      for (guint b = 0; b < n; b++)
        normal[a * n + b] += weight[i] * jacobian[i * n + a] * jacobian[i * n + b];
    }
  for (guint a = 0; a < n; a++) /* Marquardt's: in units of each variable's own curvature */
    normal[a * n + a] = normal[a * n + a] > 0 ? normal[a * n + a] * (1 + damping) : 1;
  return LAPACKE_dposv (LAPACK_ROW_MAJOR, 'U', (lapack_int)n, 1, normal, (lapack_int)n, step, 1) == 0;
}

void
cal_standard_errors (const double *jacobian, const double *weight, guint m, guint n, double s, double *error)
{
  g_autofree double *normal = g_new0 (double, (gsize)n *n), *scale = g_new (double, n), *value = g_new (double, n);
  for (guint i = 0; i < m; i++)
    for (guint a = 0; a < n; a++)
      for (guint b = 0; b < n; b++)
        normal[a * n + b] += weight[i] * jacobian[i * n + a] * jacobian[i * n + b];
  for (guint a = 0; a < n; a++) /* to a diagonal of ones, so that one tolerance fits all */
    scale[a] = normal[a * n + a] > 0 ? 1 / sqrt (normal[a * n + a]) : 0;
  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < n; b++)
      normal[a * n + b] *= scale[a] * scale[b];
  if (LAPACKE_dsyev (LAPACK_ROW_MAJOR, 'V', 'U', (lapack_int)n, normal, (lapack_int)n, value) != 0) {
    for (guint a = 0; a < n; a++)
      error[a] = (double)INFINITY;
    return;
  }
  for (guint a = 0; a < n; a++) {
    double variance = scale[a] > 0 ? 0 : (double)INFINITY;
    for (guint k = 0; k < n; k++) {
      double part = normal[a * n + k] * normal[a * n + k];
      if (value[k] > RANK_TOLERANCE * value[n - 1])
        variance += part / value[k];
      else if (part > RANK_TOLERANCE)
        variance = (double)INFINITY;
    }
    error[a] = s * sqrt (variance) * scale[a];
    if (!isfinite (variance))
      error[a] = (double)INFINITY;
  }
}
