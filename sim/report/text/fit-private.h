/* Inside report/: tables that both kinds of fits print. */
#ifndef REPORT_FIT_PRIVATE_H
#define REPORT_FIT_PRIVATE_H

#include "base/table.h"
#include "report/fit.h"

/* `prefix`: before each constant's keys. Returned: full. */
BaseTable *rep_fit_constants (const GArray *constants, const char *prefix);

#endif
