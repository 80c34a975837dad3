/* Sensitivity of an answer to constants, in text and JSON. */
#ifndef REPORT_SENSITIVITY_H
#define REPORT_SENSITIVITY_H

#include "base/table.h"
#include "study/sensitivity.h"

/* Those that move the answer by at least so much, as a fraction; 0: all. Returned: full. */
#define REP_SENSITIVITY_LEAST 1e-4
BaseTable *rep_sensitivity_table (const StdSensitivity *sensitivity, double least);
void rep_sensitivity_text (const StdSensitivity *sensitivity, GString *out);
/* "sensitivity": {changed_by, tried, constants: […]} into the open object. */
void rep_sensitivity_json (const StdSensitivity *sensitivity, JsonBuilder *json);
#endif
