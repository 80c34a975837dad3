/* Predicted against measured: a scoreboard by system, number of nodes, operation, algorithm, protocol and size band.
 *
 * The error of a point is predicted / measured - 1. Of a row: median and 95th percentile (nearest rank) of its size, the worst, and
 * the bias, which is the median of the signed errors. */
#ifndef REPORT_VALIDATE_H
#define REPORT_VALIDATE_H

#include <json-glib/json-glib.h>

#include "collective/comm.h"

G_BEGIN_DECLS

typedef struct {
  const char *system; /* borrowed */
  guint order;        /* of the system among the rows */
  guint32 nodes, ranks;
  MdlOp op;
  MdlAlgo algo; /* as measured: MDL_ALGO_AUTO where the library chose */
  MdlProto proto;
  double size_B, measured_s;
  double predicted_s, predicted_lo_s, predicted_hi_s;
} RepPoint;

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
} RepScore;

/* Points below small_to_B are small, below middle_to_B middle. Returned: full, of RepScore, sorted; the last rows are of all
 * points, by band. Limits are NAN. */
GArray *rep_validate_score (const GArray *points, double small_to_B, double middle_to_B);
/* Of n >= 1 sizes of errors, which are sorted: median, 95th percentile (nearest rank), the worst. */
void rep_error_stats (double *size, guint n, double *median, double *p95, double *worst);
/* Worse than a limit that it has. */
gboolean rep_score_is_worse (const RepScore *score);

void rep_validate_text (const GArray *scores, GString *out);
void rep_validate_tsv (const GArray *scores, GString *out);
void rep_validate_json (const GArray *scores, JsonBuilder *json); /* an array */
/* One row a point, as plots/error.gp reads it. */
void rep_validate_points_tsv (const GArray *points, GString *out);

G_END_DECLS

#endif
