/* Quantities as text that people read. The decimal digits of the double are shifted, never divided by a prefix, so that a number is
 * rounded once, and "450 GB/s" comes back as the double it was. */
#include "base/currency.h"
#include "base/finite.h"
#include "units/units-private.h"

#include <math.h>
#include <string.h>

#define DIGITS_MAX 17u /* tells any two doubles apart */
#define HOUR_S     3600.0
#define KWH_J      (1000 * HOUR_S)

/* |value| rounded to `digits` significant digits: those as text (trailing zeros cut, "0" for 0), and the power of ten of the
 * first. */
static void
round_digits (double value, unsigned digits, char out[DIGITS_MAX + 1], int *exponent)
{
  char text[64];
  char format[16];
  g_snprintf (format, sizeof format, "%%.%ue", digits - 1);
  g_ascii_formatd (text, sizeof text, format, fabs (value));
  char *e = strchr (text, 'e');
  *exponent = value == 0 ? 0 : (int)g_ascii_strtoll (e + 1, NULL, 10);
  unsigned n = 0;
  for (const char *p = text; p < e; p++)
    if (g_ascii_isdigit (*p))
      out[n++] = *p;
  while (n > 1 && out[n - 1] == '0')
    n--;
  out[n] = '\0';
}

/* digits d.ddd x 10^exponent as plain text: "450", "0.0012"; far from 1 with an exponent: "1e-30". */
static void
append_decimal (GString *out, const char *digits, int exponent)
{
  int n = (int)strlen (digits);
  if (exponent < -6 || exponent > 20) {
    g_string_append_printf (out, "%c%s%se%d", digits[0], n > 1 ? "." : "", digits + 1, exponent);
    return;
  }
  if (exponent < 0) {
    g_string_append (out, "0.");
    for (int i = -1; i > exponent; i--)
      g_string_append_c (out, '0');
    g_string_append (out, digits);
    return;
  }
  for (int i = 0; i < MAX (n, exponent + 1); i++) {
    if (i == exponent + 1)
      g_string_append_c (out, '.');
    g_string_append_c (out, i < n ? digits[i] : '0');
  }
}

/* value with the largest of the prefixes up to `most` that leaves at least 1; the smallest (none) otherwise. */
static void
append_prefixed (GString *out, double value, unsigned digits, const char *symbol, int most)
{
  char text[DIGITS_MAX + 1];
  int exponent;
  round_digits (value, digits, text, &exponent);
  const UnitPrefix *best = &base_unit_prefixes_decimal[0];
  for (const UnitPrefix *p = best; p->text != NULL && p->e10 <= MIN (exponent, most); p++)
    best = p;
  append_decimal (out, text, exponent - best->e10);
  if (best->text[0] != '\0' || symbol[0] != '\0')
    g_string_append_printf (out, " %s%s", best->text, symbol);
}

static void
append_plain (GString *out, double value, unsigned digits, int e10, const char *symbol)
{
  char text[DIGITS_MAX + 1];
  int exponent;
  round_digits (value, digits, text, &exponent);
  append_decimal (out, text, exponent - e10);
  g_string_append (out, symbol);
}

static void
append_time (GString *out, double v, unsigned digits)
{
  static const struct {
    double below_s;
    int e10;
    double over;
    const char *symbol;
  } scale[] = {
    { 1e-9, -12, 1, " ps" }, { 1e-6, -9, 1, " ns" },  { 1e-3, -6, 1, " us" },    { 1, -3, 1, " ms" },
    { 120, 0, 1, " s" },     { 7200, 0, 60, " min" }, { 172800, 0, 3600, " h" }, { G_MAXDOUBLE, 0, 86400, " days" },
  };
  if (v == 0) {
    g_string_append (out, "0 s");
    return;
  }
  /* Rounded first: 999.99 us at three digits is 1 ms. */
  char text[DIGITS_MAX + 1];
  int exponent;
  round_digits (v, digits, text, &exponent);
  g_autofree char *rounded = g_strdup_printf ("%c.%se%d", text[0], text + 1, exponent);
  double near = g_ascii_strtod (rounded, NULL);
  unsigned i = 0;
  while (i + 1 < G_N_ELEMENTS (scale) && near >= scale[i].below_s)
    i++;
  append_plain (out, v / scale[i].over, digits, scale[i].e10, scale[i].symbol);
}

/* 16 GiB when it is that exactly and with few digits, else decimal. */
static void
append_bytes (GString *out, double v, unsigned digits)
{
  for (const UnitPrefix *p = base_unit_prefixes_binary; p->text != NULL; p++) {
    double n = v / p->times;
    if (n < 1 || n >= 1024 || floor (n) != n)
      continue;
    g_autofree char *text = g_strdup_printf ("%.0f", n);
    if (strlen (text) <= digits) {
      g_string_append_printf (out, "%s %sB", text, p->text);
      return;
    }
  }
  append_prefixed (out, v, digits, "B", 18);
}

static void
append_count (GString *out, double v, unsigned digits)
{
  g_autofree char *text = g_strdup_printf ("%.0f", v);
  if (v < 1e6 && floor (v) == v && strlen (text) <= digits)
    g_string_append (out, text);
  else
    append_prefixed (out, v, digits, "", 18);
}

char *
base_quantity_format (double value, BaseDim dim, unsigned digits)
{
  g_return_val_if_fail ((unsigned)dim < BASE_DIM_N, NULL);
  base_finite_look (base_dim_name (dim), value);
  if (!isfinite (value))
    return g_strdup ("-");

  digits = CLAMP (digits, 1, DIGITS_MAX);
  GString *out = g_string_new (value < 0 ? "-" : "");
  double v = fabs (value);
  if (base_unit_dims[dim].money) {
    g_string_append (out, base_currency_sign ());
    v = base_currency_of (v);
  }
  switch (dim) {
    case BASE_DIM_COUNT:
      append_count (out, v, digits);
      break;
    case BASE_DIM_TIME:
      append_time (out, v, digits);
      break;
    case BASE_DIM_BYTES:
      append_bytes (out, v, digits);
      break;
    case BASE_DIM_ENERGY:
      if (v >= KWH_J)
        append_prefixed (out, v / HOUR_S, digits, "Wh", 18);
      else
        append_prefixed (out, v, digits, "J", 18);
      break;
    case BASE_DIM_MONEY:
      append_prefixed (out, v, digits, "", v < 1e6 ? 0 : 6);
      break;
    case BASE_DIM_MONEY_PER_TIME:
      if (isfinite (v * HOUR_S))
        append_plain (out, v * HOUR_S, digits, 0, "/h");
      else
        append_plain (out, v, digits, 0, "/s");
      break;
    case BASE_DIM_MONEY_PER_ENERGY:
      if (isfinite (v * KWH_J))
        append_plain (out, v * KWH_J, digits, 0, "/kWh");
      else
        append_plain (out, v, digits, 0, "/J");
      break;
    case BASE_DIM_FREQUENCY:
      append_prefixed (out, v, digits, "Hz", 18);
      break;
    case BASE_DIM_BANDWIDTH:
    case BASE_DIM_FLOP_RATE:
    case BASE_DIM_FLOP:
    case BASE_DIM_POWER:
      append_prefixed (out, v, digits, base_unit_dims[dim].si, 18);
      break;
    case BASE_DIM_NUMBER:
    case BASE_DIM_RATIO:
    case BASE_DIM_N:
      append_plain (out, v, digits, 0, "");
      break;
  }
  return g_string_free (out, FALSE);
}
