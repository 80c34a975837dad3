/* Predicted against measured, printed: the scoreboard and its points. */
#ifndef REPORT_VALIDATE_H
#define REPORT_VALIDATE_H

#include <json-glib/json-glib.h>

#include "calibrate/validate.h"

void rep_validate_text (const GArray *scores, GString *out);
void rep_validate_tsv (const GArray *scores, GString *out);
void rep_validate_json (const GArray *scores, JsonBuilder *json); /* an array */
/* Errors by kind of network (CalFabricScore). */
void rep_validate_fabrics_text (const GArray *fabrics, GString *out);
void rep_validate_fabrics_tsv (const GArray *fabrics, GString *out);
void rep_validate_fabrics_json (const GArray *fabrics, JsonBuilder *json); /* an array */
/* One row a point, as plots/error.gp reads it. */
void rep_validate_points_tsv (const GArray *points, GString *out);

#endif
