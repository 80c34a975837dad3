/* Sections of a report. */
#ifndef REPORT_PAGE_PRIVATE_H
#define REPORT_PAGE_PRIVATE_H

#include "report/page.h"

/* What is left of days, where they went, what fails. */
void rep_goodput_html (const Gdp *goodput, GString *html);
/* Tables of changes; what cannot run is left out. */
void rep_advice_html (const GArray *advice, GString *html);

#endif
