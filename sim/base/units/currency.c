#include "base/currency.h"

#include <string.h>

const BaseCurrency base_currencies[] = { { "USD", "$" },  { "EUR", "€" },  { "GBP", "£" },  { "JPY", "¥" },  { "INR", "₹" },
                                         { "KRW", "₩" },  { "CHF", NULL }, { "CNY", NULL }, { "CAD", NULL }, { "AUD", NULL },
                                         { "SEK", NULL }, { "NOK", NULL }, { "DKK", NULL }, { "PLN", NULL }, { "CZK", NULL },
                                         { "SGD", NULL }, { "TWD", NULL }, { NULL, NULL } };

static struct {
  const BaseCurrency *currency; /* NULL: US dollars */
  double usd;
} shown;

void
base_currency_show_in (const char *code, double usd)
{
  shown.currency = NULL;
  for (const BaseCurrency *one = base_currencies + 1; one->code != NULL && usd > 0; one++)
    if (g_strcmp0 (one->code, code) == 0)
      shown.currency = one;
  shown.usd = usd;
}

const char *
base_currency_code (void)
{
  return shown.currency != NULL ? shown.currency->code : base_currencies[0].code;
}

const char *
base_currency_sign (void)
{
  if (shown.currency == NULL)
    return base_currencies[0].sign;
  if (shown.currency->sign != NULL)
    return shown.currency->sign;
  g_autofree char *sign = g_strconcat (shown.currency->code, " ", NULL);
  return g_intern_string (sign);
}

double
base_currency_of (double usd)
{
  return shown.currency != NULL ? usd / shown.usd : usd;
}

gboolean
base_currency_is_money (BaseDim dim)
{
  return dim == BASE_DIM_MONEY || dim == BASE_DIM_MONEY_PER_TIME || dim == BASE_DIM_MONEY_PER_ENERGY;
}

const char *
base_currency_word (const char *text)
{
  if (shown.currency == NULL || text == NULL)
    return text;
  g_autofree char *lower = g_ascii_strdown (shown.currency->code, -1);
  const struct {
    const char *from, *to;
  } words[] = { { "usd", lower },
                { "USD", shown.currency->code },
                { "$", shown.currency->sign != NULL ? shown.currency->sign : shown.currency->code } };
  GString *out = g_string_new (text);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    g_string_replace (out, words[i].from, words[i].to, 0);
  const char *word = g_intern_string (out->str);
  g_string_free (out, TRUE);
  return word;
}
