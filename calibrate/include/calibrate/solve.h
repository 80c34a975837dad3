/* Constants that make predictions agree with measurements, whatever is predicted.
 *
 * The sum over the points of w rho (ln (predicted / measured)) is made least (NLopt, BOBYQA), with rho (r) = 2 f^2 (sqrt (1 +
 * (r/f)^2) - 1): square near 0, straight for outliers. Constants are changed by factors.
 *
 * What the points do not determine is not fitted: after each solution the covariance s^2 (J' W J)^-1 (LAPACKE; J the derivatives of
 * ln predicted by ln constant, s from the median of the residuals) gives each constant's 95 % interval; the widest beyond the limit
 * goes back to its default, with the reason, and the rest is solved again. */
#ifndef CALIBRATE_SOLVE_H
#define CALIBRATE_SOLVE_H

#include "base/schema.h"
#include "base/units.h"

G_BEGIN_DECLS

typedef enum {
  CAL_USE_FIT,         /* fitted */
  CAL_USE_HELD_SIZE,   /* held out: every second size */
  CAL_USE_HELD_RANKS,  /* held out: a number of GPUs, or of nodes, that the fit never saw */
  CAL_USE_HELD_KIND,   /* held out: a family of shapes that the fit never saw */
  CAL_USE_HELD_OP,     /* held out: an operation that it never saw */
  CAL_USE_HELD_SYSTEM, /* held out: a machine, or a way of launching, that it never saw */
  CAL_USE_N
} CalUse;
extern const char *const cal_use_titles[CAL_USE_N];

typedef enum {
  CAL_FITTED,
  CAL_UNSEEN,       /* no point depends on it */
  CAL_UNDETERMINED, /* the points allow too wide an interval */
  CAL_AT_LIMIT,     /* the best value lies beyond what is accepted: held at its end */
  CAL_TOO_FAR       /* the best value is more than four times, or less than a quarter of, the default */
} CalVerdict;
extern const char *const cal_verdict_names[];

typedef struct {
  const char *path; /* keys below its section: "ring.start.ll" */
  gsize offset;     /* of the BaseNum in the section's struct */
  BaseDim dim;
  double min, max; /* accepted, SI */
  const char *stage;
  double before, after; /* SI; before: where the search began; after: that, where it was not fitted */
  double base;          /* what the calibration has, 0: nothing; `before` unless the points say where to begin */
  double half_width;    /* of the 95 % interval, relative; NAN where not fitted */
  guint n_points;       /* that depend on it */
  CalVerdict verdict;
} CalFitConstant;

typedef struct {
  const char *name;
  guint n_points, n_fitted; /* points that are fitted; constants that were */
} CalFitStage;

/* Most constants of one solution. */
#define CAL_STAGE_MAX 20u

/* A constant of a section, by the keys of its schema; `section` its struct with the values that are fitted over. FALSE: there is
 * no number of that name. */
gboolean cal_constant_find (const BaseSchema *schema, const void *section, const char *path, CalFitConstant *out);

typedef struct {
  guint n_points;
  const double *measured;                      /* above 0, in the unit of the predictions */
  const double *weight;                        /* NULL: all weigh the same */
  double (*predict) (void *user, guint point); /* NAN: cannot be predicted, which no constant changes */
  void (*set) (void *user, const CalFitConstant *constant, double value);
  void *user;
} CalProblem;

/* Fits `n` constants, of which each starts at `before`; fills what CalFitConstant says of the result and leaves the model's
 * constants there. *n_fitted: how many were. FALSE and *error when the optimiser fails. */
gboolean cal_solve (const CalProblem *problem, CalFitConstant *const *constants, guint n, guint *n_fitted, GError **error);

G_END_DECLS

#endif
