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
  CAL_TOO_FAR,      /* the best value is more than four times, or less than a quarter of, the default */
  CAL_AGREES,       /* the points would have told another value, and agree with this one */
  CAL_ALIKE         /* the points ask for a change of it or of others (`alike`), and cannot tell which */
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
  gboolean addition; /* time on top of others', which a machine may lack: 0 where the points ask for less than a quarter of it */
  /* for cal_choose */
  const char *section; /* of the calibration that it belongs to; NULL: library */
  double span;         /* factor that it may move by */
  double spread;       /* by how much clusters differ in it: the standard deviation of its logarithm */
  gboolean always;     /* it is among the constants that are fitted, whatever else is */
  const char *alike;   /* names of others that do as well in its place, interned; NULL: there are none */
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
  const guint *at;                             /* by what numbers `predict` knows them */
  const double *measured;                      /* above 0, in the unit of the predictions */
  const double *weight;                        /* NULL: all weigh the same */
  double (*predict) (void *user, guint point); /* NAN: cannot be predicted, which no constant changes */
  void (*set) (void *user, const CalFitConstant *constant, double value);
  void *user;
} CalProblem;

/* Fits `n` constants, of which each starts at `before`; fills what CalFitConstant says of the result and leaves the model's
 * constants there. *n_fitted: how many were. FALSE and *error when the optimiser fails. */
gboolean cal_solve (const CalProblem *problem, CalFitConstant *const *constants, guint n, guint *n_fitted, GError **error);

/* By how much constants differ between installations, as standard deviations of their logarithms: shares and efficiencies, and
 * times and rates of software (a factor of 1.6). Assumed. */
#define CAL_SPREAD_SHARE 0.15
#define CAL_SPREAD       0.5

/* Chooses among `n` constants those that the points ask for: the set of least
 *   m ln (sum of w rho / (m - k) + e^2) + k (ln m + 2 ln n) + sum of (x / spread)^2
 * with m points, k constants, the model's own error e and x the logarithm of a constant's change (Schwarz 1978; 2 ln n for the
 * choice: Chen and Chen, Biometrika 95, 2008; the last term: a normal prior). It is found by adding what helps most and taking out
 * what does not. At most one constant for three points, and none that a single point tells. All others keep their values: the
 * points agree with them, or leave them open. Where another constant does as well in the place of one, prior apart, the first of
 * the array stands for both unless the prior prefers the other, and both say so (CAL_ALIKE). *n_fitted: how many were changed.
 * Leaves the model's constants there. */
void cal_choose (const CalProblem *problem, CalFitConstant *constants, guint n, guint *n_fitted);

/* Of the held-out points, the share that the band of an answer is to hold. */
#define CAL_BAND_SHARE 0.9

/* The band of an answer, from half of what was held out: `error` is |ln (predicted / measured)| of `n` points, NAN where one does
 * not count, and `second` says which are of the other half. *band: relative half-width that holds CAL_BAND_SHARE of the first
 * half; *covered: share of the other half in it. NAN: of no points. */
void cal_band (const double *error, const gboolean *second, guint n, double *band, double *covered);

/* Behind the key of a constant that is an addition (CalFitConstant). */
#define CAL_ADDITION "+"

/* A group of constants, by their keys with blanks between, what matters most first; at most CAL_STAGE_MAX. */
typedef struct {
  const char *name, *paths;
} CalStage;

/* What stages found. */
typedef struct {
  GArray *constants; /* CalFitConstant, by stage */
  GArray *stages;    /* CalFitStage, those with points */
} CalFit;

CalFit *cal_fit_new (void); /* full */
void cal_fit_free (CalFit *fit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalFit, cal_fit_free)

/* Where constants stand: the struct of a schema with the values that a search begins with, and with those that the calibration
 * has. */
typedef struct {
  const BaseSchema *schema;
  const void *now, *defaults;
} CalConstants;

/* Solves a stage by its points and appends what came of it to *fit. TRUE too where there is no point. */
gboolean cal_stage_solve (const CalStage *stage, const CalConstants *at, const CalProblem *problem, CalFit *fit, GError **error);

#endif
