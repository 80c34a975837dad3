/* A plan's or offers' answer as a workbook (.xlsx): the table, what is bought and what the run costs as formulas over cells of
 * prices and assumptions, so that the totals follow when a price is changed there. The same answer gives the same bytes. */
#ifndef REPORT_WORKBOOK_H
#define REPORT_WORKBOOK_H

#include "plan/plan.h"

/* The version of libxlsxwriter; NULL: this build has none, and writes no workbook. */
const char *rep_workbook_library (void);

/* The first `most` rows; `header`: lines of context, as rep_plan_header() has them. NULL and *error (BASE_ERROR_RUN) where it is
 * not to be written, or the build has no library. Returned: full. */
GString *rep_plan_workbook (const Pln *plan, const PlnResult *result, guint most, const char *header, GError **error);

#endif
