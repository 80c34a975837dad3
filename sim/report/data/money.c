/* Amounts of money as text, and the currency that they are shown in. */
#include "money-private.h"

#include <math.h>
#include <string.h>

#include "base/currency.h"
#include "json-private.h"

char *
rep_money (double usd)
{
  const double amount = base_currency_of (usd);
  const char *sign = base_currency_sign ();
  return fabs (amount) >= 1e6   ? g_strdup_printf ("%s%.3g M", sign, amount * 1e-6)
         : fabs (amount) >= 1e3 ? g_strdup_printf ("%s%.3g k", sign, amount * 1e-3)
                                : g_strdup_printf ("%s%.3g", sign, amount);
}

/* "20,100": whole, of that many digits. Returned: full. */
static char *
grouped (double amount, guint digits)
{
  const double unit = pow (10, fmax (floor (log10 (fabs (amount))) - digits + 1, 0));
  GString *out = g_string_new (NULL);
  g_string_printf (out, "%.0f", round (fabs (amount) / unit) * unit);
  for (gssize at = (gssize)out->len - 3; at > 0; at -= 3)
    g_string_insert_c (out, at, ',');
  return g_string_free (out, FALSE);
}

char *
rep_money_fine (double usd, guint digits)
{
  const double amount = base_currency_of (usd);
  if (isfinite (amount) && fabs (amount) >= 1e3) { /* "%g" would write an exponent */
    g_autofree char *text = grouped (amount, digits);
    return g_strdup_printf ("%s%s%s", amount < 0 ? "-" : "", base_currency_sign (), text);
  }
  return g_strdup_printf ("%s%.*g", base_currency_sign (), (int)digits, base_currency_of (usd));
}

void
rep_currency_text (const BaseStr *currency, const BaseNum *exchange, const BaseStr *date, GString *out)
{
  if (currency->v == NULL || strcmp (currency->v, "USD") == 0)
    return;
  g_string_append_printf (out, "# costs are in %s; 1 %s is %.6g USD (%s)\n", base_currency_code (), currency->v, exchange->v,
                          date->v);
}

void
rep_currency_json (const BaseStr *currency, const BaseNum *exchange, const BaseStr *date, JsonBuilder *json)
{
  const gboolean other = currency != NULL && currency->v != NULL && strcmp (currency->v, "USD") != 0;
  rep_json_text (json, "currency", base_currency_code ());
  rep_json_number (json, "exchange", other ? exchange->v : (double)NAN);
  rep_json_text (json, "exchange_date", other ? date->v : NULL);
}
