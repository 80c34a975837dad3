/* What a fit found: constants with intervals, stages, and the error on what was fitted and what was held out. */
#ifndef REPORT_FIT_H
#define REPORT_FIT_H

#include <json-glib/json-glib.h>

#include "calibrate/fit.h"
#include "calibrate/serving.h"

/* Of collectives; nothing where none were fitted. */
void rep_fit_text (const CalFitResult *result, GString *out);
void rep_fit_tsv (const CalFitResult *result, GString *out);       /* the constants */
void rep_fit_json (const CalFitResult *result, JsonBuilder *json); /* members of an object that is open */
/* Points that tell a stage, with their prediction by the fit without what was held out and the band of their size, as TSV.
 * Returned: full. */
GString *rep_fit_points (const CalFitResult *result, const CalData *data);

/* The same of sections (CalSectionFit); JSON: an array. */
void rep_fit_sections_text (const GPtrArray *sections, GString *out);
void rep_fit_sections_tsv (const GPtrArray *sections, GString *out);
/* Each point with its prediction by the fit without what was held out, as TSV. Returned: full. */
GString *rep_fit_sections_points (const GPtrArray *sections);
void rep_fit_sections_json (const GPtrArray *sections, JsonBuilder *json);

/* Of a serving engine: constants, runs, and the error before and after. */
void rep_serving_fit_text (const CalServingFit *fit, GString *out);
void rep_serving_fit_tsv (const CalServingFit *fit, GString *out);       /* the constants */
void rep_serving_fit_json (const CalServingFit *fit, JsonBuilder *json); /* members of an object that is open */

#endif
