/* Inside calibrate/: stages of the fit, constants by path, and the numbers behind them. */
#ifndef CALIBRATE_SOLVE_PRIVATE_H
#define CALIBRATE_SOLVE_PRIVATE_H

#include "calibrate/collectives.h"

typedef struct {
  CalStage stage;
  unsigned ops, algos, protos, launches; /* bits */
  double any_launch_B;                   /* from this size on points of every launch count: it does not show there */
} CalStageSpec;

extern const CalStageSpec cal_stages[]; /* ends with name NULL */

gboolean cal_stage_takes (const CalStageSpec *stage, const CalFitPoint *point);
/* A point that tells the network. */
gboolean cal_is_between_nodes (const CalFitPoint *point);

/* Errors beyond some 3 %, what repeats of one measurement differ by, weigh by their size, not their square. */
#define CAL_ROBUST 0.03
/* Half of a 95 % interval, as a part of the value, that is still called known. */
#define CAL_WIDEST    0.5
#define CAL_NORMAL_95 1.96
/* From the median of absolute residuals to the standard deviation of a normal distribution. */
#define CAL_MAD_TO_SIGMA 1.4826
/* Points that a constant needs beside others. */
#define CAL_POINTS_EACH 3u

/* Adds the name of another constant that does as well to those of `c`. */
void cal_name_alike (CalFitConstant *c, const CalFitConstant *other);

/* A function of n variables between lo and hi; at most so many calls of it. */
typedef struct {
  double (*f) (void *user, const double *x, guint n);
  void *user;
  guint n, most;
  const double *lo, *hi;
} CalCost;
/* Its least value from x on, which is replaced. FALSE when NLopt fails for another reason than rounding. */
gboolean cal_minimise (const CalCost *cost, double *x, GError **error);

/* The step of Levenberg and Marquardt towards the least sum of w r^2: J is m x n by rows, r the m residuals, w their weights.
 * FALSE: the rows do not determine it. */
gboolean cal_damped_step (const double *jacobian, const double *weight, const double *residual, guint m, guint n, double damping,
                          double *step);

/* Standard errors of n variables: sqrt of the diagonal of s^2 (J' W J)^-1; J is m x n by rows, w of m weights. INFINITY for
 * variables that the rows do not determine. */
void cal_standard_errors (const double *jacobian, const double *weight, guint m, guint n, double s, double *error);

static inline double
cal_dot (const double *a, const double *b, guint n)
{
  double sum = 0;
  for (guint i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

#endif
