/* Decimal numbers as text. The power of ten of a unit is added to the exponent before the text becomes a double, so that each
 * quantity is rounded once: "4.35 kB" is exactly 4350. */
#include "units/units-private.h"

#include <float.h>
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

/* Few digits times a small power of ten: both are exact doubles, so one operation rounds as the nearest double does (Clinger,
 * PLDI 1990, section 4). FALSE: it is longer than that. */
static gboolean
take_short (const char *digits, gint64 exponent, double *out)
{
  static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
  const gint64 most = G_N_ELEMENTS (tens) - 1, n = (gint64)strlen (digits), power = exponent - n;
  if (FLT_EVAL_METHOD != 0 || n > DBL_DIG || power > most || power < -most)
    return FALSE;
  gint64 whole = 0;
  for (const char *p = digits; *p != '\0'; p++)
    whole = whole * 10 + (*p - '0');
  *out = power < 0 ? (double)whole / tens[-power] : (double)whole * tens[power];
  return TRUE;
}

double
base_decimal_value (const Decimal *decimal, int e10)
{
  if (decimal->digits[0] == '\0')
    return 0;
  double few;
  if (take_short (decimal->digits, (gint64)decimal->exponent + e10, &few))
    return decimal->negative ? -few : few;
  g_autofree char *text = g_strdup_printf ("%s0.%se%d", decimal->negative ? "-" : "", decimal->digits,
                                           clamp_exponent ((gint64)decimal->exponent + e10));
  return g_ascii_strtod (text, NULL);
}
