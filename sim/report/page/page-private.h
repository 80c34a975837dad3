/* Sections of a report. */
#ifndef REPORT_PAGE_PRIVATE_H
#define REPORT_PAGE_PRIVATE_H

#include "report/page.h"

/* Goodput of days, the time that was lost, and the failures. */
void rep_goodput_html (const Gdp *goodput, GString *html);
/* Tables of changes; what cannot run is left out. */
void rep_advice_html (const GArray *advice, GString *html);

#endif
