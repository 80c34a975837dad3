/* A plan's or offers' answer as a workbook (.xlsx): the table, what is bought and what the run costs as formulas over cells of
 * prices and assumptions, so that the totals follow when a price is changed there. The same answer gives the same bytes. */
#ifndef REPORT_WORKBOOK_H
#define REPORT_WORKBOOK_H

#include "base/table.h"
#include "plan/plan.h"

/* The version of libxlsxwriter; NULL: this build has none, and writes no workbook. */
const char *rep_workbook_library (void);

/* What stands around the money of a plan. All is borrowed. */
typedef struct {
  const char *title, *description; /* description NULL: none */
  const char *infeasible;          /* NULL: an option meets the goal */
  const char *const *said;         /* the answer in sentences, ends with NULL */
  const char *header;              /* lines of context */
  const char *period;              /* what costs are of: "this run" */
  const BaseTable *table;          /* options, with formulas in the columns capex_usd, run_cost_own_usd, run_cost_rent_usd … */
  const guint *shown;              /* numbers of the result's rows that the table shows … */
  const char *const *layouts;      /* … and what each runs */
  guint n_shown;
} RepWorkbook;
/* The workbook of a plan's money. NULL and *error as below. Returned: full. */
GString *rep_money_workbook (const Pln *plan, const PlnResult *result, const RepWorkbook *what, GError **error);

/* The first `most` rows; `header`: lines of context, as rep_plan_header() has them. NULL and *error (BASE_ERROR_RUN) where it is
 * not to be written, or the build has no library. Returned: full. */
GString *rep_plan_workbook (const Pln *plan, const PlnResult *result, guint most, const char *header, GError **error);

#endif
