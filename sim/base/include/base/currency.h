/* Currencies. Amounts inside are US dollars. Text, tables and their keys may show them in another currency, as layout does
 * (base/layout.h): it is the process's, and the program sets it once, before it prints. What a library returns stays in dollars. */
#ifndef BASE_CURRENCY_H
#define BASE_CURRENCY_H

#include "base/units.h"

typedef struct {
  const char *code, *sign; /* "EUR", "€"; sign NULL: amounts begin with the code ("CHF 5") */
} BaseCurrency;
extern const BaseCurrency base_currencies[]; /* the first is the US dollar; ends with code NULL */

/* Amounts are shown in the currency `code` from now on, of which one is worth `usd` > 0 US dollars. NULL, or a code that is not
 * known: US dollars, as before the first call. */
void base_currency_show_in (const char *code, double usd);
const char *base_currency_code (void);         /* "USD"; static */
const char *base_currency_sign (void);         /* what stands before an amount: "$", "€", "CHF "; static */
double base_currency_of (double usd);          /* US dollars in the currency that is shown */
gboolean base_currency_is_money (BaseDim dim); /* of prices, also per time and per energy */

/* A key or a head of a column with the currency that is shown in place of US dollars: "run_cost_usd" becomes "run_cost_eur",
 * "$/M tokens" becomes "€/M tokens". `text` itself where it names no money. Static. */
const char *base_currency_word (const char *text);

#endif
