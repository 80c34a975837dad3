/* Decimal numbers as text. The power of ten of a unit is added to the exponent before the text becomes a double, so that each
 * quantity is rounded once: "4.35 kB" is exactly 4350. */
#include "units/units-private.h"

#include <string.h>

/* Beyond any double, and far from overflow of an int. */
#define EXPONENT_MAX 100000

static int
clamp_exponent (gint64 exponent)
{
  return (int)CLAMP (exponent, -EXPONENT_MAX, EXPONENT_MAX);
}

/* Reads `e+12` when digits follow; else the letter belongs to the unit ("2 EB"). */
static gint64
scan_exponent (const char **text)
{
  const char *p = *text;
  if (*p != 'e' && *p != 'E')
    return 0;
  p++;
  gboolean negative = *p == '-';
  if (*p == '-' || *p == '+')
    p++;
  if (!g_ascii_isdigit (*p))
    return 0;
  gint64 exponent = 0;
  for (; g_ascii_isdigit (*p); p++)
    exponent = MIN (exponent * 10 + (*p - '0'), EXPONENT_MAX);
  *text = p;
  return negative ? -exponent : exponent;
}

gboolean
base_decimal_scan (const char **text, Decimal *out)
{
  const char *p = *text;
  gboolean negative = *p == '-';
  if (*p == '-' || *p == '+')
    p++;
  const char *whole = p;
  while (g_ascii_isdigit (*p))
    p++;
  gsize n_whole = (gsize)(p - whole);
  const char *part = "";
  gsize n_part = 0;
  if (*p == '.' && g_ascii_isdigit (p[1])) {
    part = ++p;
    while (g_ascii_isdigit (*p))
      p++;
    n_part = (gsize)(p - part);
  }
  if (n_whole + n_part == 0)
    return FALSE;

  GString *digits = g_string_new_len (whole, (gssize)n_whole);
  g_string_append_len (digits, part, (gssize)n_part);
  gsize zeros = strspn (digits->str, "0");
  g_string_erase (digits, 0, (gssize)zeros);
  gint64 exponent = scan_exponent (&p) + (gint64)n_whole - (gint64)zeros;
  *out = (Decimal){ negative, g_string_free (digits, FALSE), clamp_exponent (exponent) };
  *text = p;
  return TRUE;
}

void
base_decimal_clear (Decimal *decimal)
{
  g_clear_pointer (&decimal->digits, g_free);
}

double
base_decimal_value (const Decimal *decimal, int e10)
{
  if (decimal->digits[0] == '\0')
    return 0;
  g_autofree char *text = g_strdup_printf ("%s0.%se%d", decimal->negative ? "-" : "", decimal->digits,
                                           clamp_exponent ((gint64)decimal->exponent + e10));
  return g_ascii_strtod (text, NULL);
}
