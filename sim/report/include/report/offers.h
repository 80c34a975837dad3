/* Offers side by side, as text, TSV, JSON, and for a picture. */
#ifndef REPORT_OFFERS_H
#define REPORT_OFFERS_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "plan/offers.h"

G_BEGIN_DECLS

void rep_offers_text (const PlnOffers *offers, GString *out);
void rep_offers_tsv (const PlnOffers *offers, GString *out);
/* Members of the open object. */
void rep_offers_json (const PlnOffers *offers, JsonBuilder *json);
/* For plots/cost.gp: a row an offer, with the parts of REP_OFFERS_PARTS. */
#define REP_OFFERS_PARTS "bought rent once energy"
void rep_offers_cost_tsv (const PlnOffers *offers, GString *out);
/* Why none will do; NULL: one does. Returned: full. */
char *rep_offers_infeasible (const PlnOffers *offers);

G_END_DECLS

#endif
