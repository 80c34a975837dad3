/* Sections of a report. */
#ifndef REPORT_PAGE_PRIVATE_H
#define REPORT_PAGE_PRIVATE_H

#include "report/page.h"

/* Goodput of days, the time that was lost, and the failures. */
void rep_goodput_html (const Gdp *goodput, GString *html);
/* A plan for a service, with a row: its answer with values to remember, and its tables of at most `most` rows. */
void rep_fleet_html_answer (const PlnFleet *fleet, const PlnFleetResult *result, GString *html);
void rep_fleet_html_tables (const PlnFleet *fleet, const PlnFleetResult *result, const RepFleetMoney *money, guint most,
                            GString *html);
/* Tables of changes; what cannot run is left out. */
void rep_advice_html (const GArray *advice, GString *html);

#endif
