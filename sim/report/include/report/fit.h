/* What a fit found: constants with intervals, stages, and the error on what was fitted and what was held out. */
#ifndef REPORT_FIT_H
#define REPORT_FIT_H

#include <json-glib/json-glib.h>

#include "calibrate/fit.h"
#include "report/validate.h"

G_BEGIN_DECLS

/* Error of predictions on a part of the points: |predicted / measured - 1|. */
typedef struct {
  const char *stage; /* NULL: all stages together */
  CalUse use;
  int band; /* MdlSize; MDL_SIZE_N: all sizes */
  guint n;
  double median, p95, worst;
} RepFitScore;

typedef struct {
  const CalFit *fit;
  const GArray *scores;       /* RepFitScore */
  double band[MDL_SIZE_N];    /* relative half-width of the band; NAN: no points */
  double covered[MDL_SIZE_N]; /* share of other held-out points in it; NAN: none */
  gboolean all_fitted;        /* constants: of all points; scores: of the fit without what was held out */
} RepFit;

/* Scores by stage, use and band from points and their predictions; stage[i]: index into fit->stages, -1: of none. Returned:
 * full. */
GArray *rep_fit_score (const CalFit *fit, const GArray *points, const int *stage, const double *predicted_s,
                       const double limits_B[2]);

void rep_fit_text (const RepFit *report, GString *out);
void rep_fit_tsv (const RepFit *report, GString *out);       /* the constants */
void rep_fit_json (const RepFit *report, JsonBuilder *json); /* members of an object that is open */

/* The same of sections (CalSectionFit); JSON: an array. */
void rep_fit_sections_text (const GPtrArray *sections, GString *out);
void rep_fit_sections_tsv (const GPtrArray *sections, GString *out);
/* Each point with its prediction by the fit without what was held out, as TSV. Returned: full. */
GString *rep_fit_sections_points (const GPtrArray *sections);
void rep_fit_sections_json (const GPtrArray *sections, JsonBuilder *json);

G_END_DECLS

#endif
