/* A report to share: one page of HTML with the question, the answer, plots, assumptions and inputs. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "base/lookup.h"
#include "base/table.h"
#include "report/advice.h"
#include "report/envelope.h"
#include "report/fleet.h"
#include "goodput/goodput.h"
#include "plan/plan.h"

typedef struct {
  const char *title, *lead;      /* lead NULL: none */
  const Pln *plan;           /* NULL: of no plan; its answer has a row, and `result` is that row's run, NULL: not simulated */
  const PlnResult *plan_result;
  guint plan_rows;               /* how many are shown at most */
  const PlnFleet *fleet;         /* of a plan for a service, with a row; `plan` is NULL then */
  const PlnFleetResult *fleet_result;
  const RepFleetMoney *fleet_money;
  const GPtrArray *said;         /* char *: the answer in sentences; NULL: none */
  const char *header;            /* the '#' lines of the answer's text */
  const char *scenario;          /* the text of its file; NULL: not known */
  const RepEnvelope *envelope;
  const Clu *clu;
  const ScnResult *result;       /* of a scenario; NULL: `rows` */
  const BaseTable *rows;         /* of a sweep; NULL: none, and without a result the text stands in their place */
  const ColAnswer *coll;           /* of a sweep: one of them, for what it rests on; NULL: none */
  const char *text;              /* the whole answer, as it is printed */
  const Gdp *goodput;     /* NULL: not asked for */
  const BaseTable *goodput_sensitivity; /* sensitivity; NULL: not requested */
  const GArray *advice;          /* StdAdvice; NULL: not asked for */
  const BaseTable *sensitivity;  /* NULL: not asked for */
  const BaseTable *prices;       /* with their sources; NULL: none were counted */
  const GPtrArray *plots;        /* RepPlot */
} RepPage;

/* `lookup` finds plots/ and what is known of errors; *drawn: FALSE without gnuplot, and the page says so. Returned: full, g_free;
 * NULL and *error on failure. */
char *rep_page (const RepPage *page, const BaseLookup *lookup, gboolean *drawn, GError **error);

#endif
