/* Offers side by side, as text, TSV, JSON, and for a picture. */
#ifndef REPORT_OFFERS_H
#define REPORT_OFFERS_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "plan/offers.h"

void rep_offers_text (const PlnOffers *offers, GString *out);
void rep_offers_tsv (const PlnOffers *offers, GString *out);
/* Members of the open object. */
void rep_offers_json (const PlnOffers *offers, JsonBuilder *json);
/* What each costs, by part, as one more RepPlot (report/plots.h). */
void rep_offers_plot (const PlnOffers *offers, GPtrArray *plots);
/* Why none will do; NULL: one does. Returned: full. */
char *rep_offers_infeasible (const PlnOffers *offers);

#endif
