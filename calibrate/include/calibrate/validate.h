/* Predicted against measured: a scoreboard by system, number of nodes, operation, algorithm, protocol and size band.
 *
 * The error of a point is predicted / measured - 1. Of a row: median and 95th percentile (nearest rank) of its size, the worst, and
 * the bias, which is the median of the signed errors. */
#ifndef CALIBRATE_VALIDATE_H
#define CALIBRATE_VALIDATE_H

#include "calibrate/predict.h"

typedef struct {
  const char *system; /* borrowed */
  guint order;        /* of the system among the rows */
  guint32 nodes, ranks, islands; /* islands: nodes, or NVLink domains of several */
  MdlOp op;
  MdlAlgo algo; /* as measured: MDL_ALGO_AUTO where the library chose */
  MdlProto proto;
  double size_B, measured_s;
  const char *fabric; /* kind of network (models/coll.h); interned; NULL: none is crossed, or it is not listed */
  int role;           /* CalRole, as the system says; -1: it does not */
  double predicted_s, predicted_lo_s, predicted_hi_s;
} CalPrediction;

typedef struct {
  const char *system; /* NULL: all systems together */
  guint order;
  guint32 nodes;
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  MdlSize band;
  guint n;
  double median, p95, worst, bias;
  double within;                  /* share of the measurements that lie in the error band of their prediction */
  double median_limit, p95_limit; /* NAN: none */
} CalScore;

/* Points below small_to_B are small, below middle_to_B middle. Returned: full, of CalScore, sorted; the last rows are of all
 * points, by band. Limits are NAN. */
GArray *cal_score (const GArray *points, double small_to_B, double middle_to_B);
/* Of n >= 1 sizes of errors, which are sorted: median, 95th percentile (nearest rank), the worst. */
void cal_error_stats (double *size, guint n, double *median, double *p95, double *worst);
/* Errors over one kind of network. */
typedef struct {
  const char *fabric; /* as of the points */
  int role;           /* CalRole; -1: not said */
  guint systems, n;
  guint32 min_nodes, max_nodes;
  double median, p90, worst, bias, within;
} CalFabricScore;
/* Of points on several nodes, by network and role, in the order of the points. Returned: full, of CalFabricScore. */
GArray *cal_score_fabrics (const GArray *points);

/* Worse than a limit that it has. */
gboolean cal_score_is_worse (const CalScore *score);

typedef struct {
  GArray *points;     /* CalPrediction */
  GArray *fabrics;    /* CalFabricScore */
  GArray *scores;     /* CalScore, with the limits of the margins */
  guint n_worse;      /* scores that are worse than they allow */
  guint n_impossible; /* points of the data that cannot run where they were measured */
} CalValidation;

/* Predicts all points of the data, which `out` borrows names from, and holds their errors against the margins. *out: zeroed,
 * cal_validation_clear after it, also on failure. FALSE and *error on failure. */
gboolean cal_validate (const CalHost *host, const CalPredict *how, const CalData *data, CalValidation *out, GError **error);
void cal_validation_clear (CalValidation *validation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CalValidation, cal_validation_clear)

#endif
