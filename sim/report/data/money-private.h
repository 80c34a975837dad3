/* Amounts of money in what is shown. */
#ifndef REPORT_MONEY_PRIVATE_H
#define REPORT_MONEY_PRIVATE_H

#include <json-glib/json-glib.h>

#include "base/leaf.h"

/* "$412 k", with a minus or without, in the currency that is shown (base/currency.h), as are the others. Returned: full. */
char *rep_money (double usd);
/* "$0.412", with at most so many digits. Returned: full. */
char *rep_money_fine (double usd, guint digits);
/* A line of the header, "# costs are in EUR; 1 EUR is 1.16 USD (2026-11-20)": nothing of a list in US dollars. */
void rep_currency_text (const BaseStr *currency, const BaseNum *exchange, const BaseStr *date, GString *out);
/* The same as members; `currency` NULL: there is no list of prices. */
void rep_currency_json (const BaseStr *currency, const BaseNum *exchange, const BaseStr *date, JsonBuilder *json);

#endif
