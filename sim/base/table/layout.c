#include "base/layout.h"

#include <math.h>
#include <string.h>

#include "base/currency.h"
#include "base/finite.h"
#include "base/text.h"

static struct {
  guint width;
  const char *const *columns;
  GPtrArray *lists[BASE_LAYOUT_N]; /* of char *, owned; NULL until it is asked for */
} layout;

void
base_layout_set (guint width, const char *const *columns)
{
  layout.width = width;
  layout.columns = columns;
  for (guint i = 0; i < BASE_LAYOUT_N; i++)
    g_clear_pointer (&layout.lists[i], g_ptr_array_unref);
}

guint
base_layout_width (void)
{
  return layout.width;
}

const char *const *
base_layout_columns (void)
{
  return layout.columns;
}

const GPtrArray *
base_layout_list (BaseLayoutList list)
{
  if (layout.lists[list] == NULL)
    layout.lists[list] = g_ptr_array_new_with_free_func (g_free);
  return layout.lists[list];
}

void
base_layout_note (BaseLayoutList list, const char *name)
{
  base_layout_list (list);
  base_add_once (layout.lists[list], name);
}

/* ---- units ---- */

typedef struct {
  const char *unit;
  double si;   /* value of the unit in SI */
  double from; /* used from so many SI on */
} Unit;

#define KiB 1024.0

static const Unit times[] = { { "ns", 1e-9, 0 },  { "us", 1e-6, 1e-6 }, { "ms", 1e-3, 1e-3 },           { "s", 1, 1 },
                              { "min", 60, 600 }, { "h", 3600, 7200 },  { "days", 86400, 2 * 86400.0 }, { NULL, 0, 0 } };
static const Unit bytes[] = { { "B", 1, 0 },
                              { "KiB", KiB, KiB },
                              { "MiB", KiB *KiB, KiB *KiB },
                              { "GiB", KiB *KiB *KiB, KiB *KiB *KiB },
                              { "TiB", KiB *KiB *KiB *KiB, KiB *KiB *KiB *KiB },
                              { "PiB", KiB *KiB *KiB *KiB *KiB, KiB *KiB *KiB *KiB *KiB },
                              { NULL, 0, 0 } };
static const Unit decimal_bytes[] = { { "kB", 1e3, 1e3 },   { "MB", 1e6, 1e6 },   { "GB", 1e9, 1e9 },
                                      { "TB", 1e12, 1e12 }, { "PB", 1e15, 1e15 }, { NULL, 0, 0 } };
static const Unit rates[] = { { "B/s", 1, 0 },      { "kB/s", 1e3, 1e3 },   { "MB/s", 1e6, 1e6 },
                              { "GB/s", 1e9, 1e8 }, { "TB/s", 1e12, 1e13 }, { NULL, 0, 0 } };
static const Unit flop_rates[] = {
  { "GFLOP/s", 1e9, 0 }, { "TFLOP/s", 1e12, 1e12 }, { "PFLOP/s", 1e15, 1e16 }, { "EFLOP/s", 1e18, 1e19 }, { NULL, 0, 0 }
};
static const Unit flops[] = { { "GFLOP", 1e9, 0 },     { "TFLOP", 1e12, 1e12 }, { "PFLOP", 1e15, 1e15 },
                              { "EFLOP", 1e18, 1e18 }, { "ZFLOP", 1e21, 1e21 }, { NULL, 0, 0 } };
static const Unit powers[] = { { "W", 1, 0 }, { "kW", 1e3, 1e3 }, { "MW", 1e6, 1e6 }, { NULL, 0, 0 } };
static const Unit energies[] = { { "J", 1, 0 },           { "kJ", 1e3, 1e3 },        { "kWh", 3.6e6, 1e5 },
                                 { "MWh", 3.6e9, 3.6e9 }, { "GWh", 3.6e12, 3.6e12 }, { NULL, 0, 0 } };
/* Thousands are of prose alone ("$412 k"): a column of money is in dollars below a million. */
static const Unit money[] = { { "$", 1, 0 }, { "k$", 1e3, 1e6 }, { "M$", 1e6, 1e6 }, { NULL, 0, 0 } };
static const Unit frequencies[] = { { "1/s", 1, 0 }, { "k/s", 1e3, 1e4 }, { "M/s", 1e6, 1e6 }, { NULL, 0, 0 } };
static const Unit plain[] = { { "", 1, 0 }, { NULL, 0, 0 } };

/* A dimension's units, and whether the least of several values chooses (times, sizes) or the greatest (rates, where what is small
 * may round to 0). */
static const struct {
  const Unit *units;
  gboolean by_least;
} units_of[BASE_DIM_N] = {
  [BASE_DIM_TIME] = { times, TRUE },
  [BASE_DIM_BYTES] = { bytes, TRUE },
  [BASE_DIM_BANDWIDTH] = { rates, FALSE },
  [BASE_DIM_FLOP_RATE] = { flop_rates, FALSE },
  [BASE_DIM_FLOP] = { flops, FALSE },
  [BASE_DIM_POWER] = { powers, FALSE },
  [BASE_DIM_ENERGY] = { energies, FALSE },
  [BASE_DIM_MONEY] = { money, FALSE },
  [BASE_DIM_FREQUENCY] = { frequencies, FALSE },
};

/* A greatest value of this many units takes a larger unit; sizes in bytes stay so, up to 100 GB. */
#define MOST_SHOWN   1e6
#define MOST_BYTES   1e11
#define MANY_SHOWN   1e4 /* likewise of times, where the least still is a tenth of the larger unit: 0.5 and 268.4 us, no ns */
#define SHOWN_DIGITS 4

static const Unit *
unit_for (BaseDim dim, double least, double most)
{
  const Unit *unit = units_of[dim].units != NULL ? units_of[dim].units : plain;
  const double deciding = units_of[dim].by_least ? least : most, shown = unit == bytes ? MOST_BYTES : MOST_SHOWN;
  while (unit[1].unit != NULL && (deciding >= unit[1].from || most / unit->si >= shown ||
                                  (units_of[dim].units == times && most / unit->si >= MANY_SHOWN && least >= unit[1].si / 10)))
    unit++;
  return unit;
}

static BaseScale
scale_in (const Unit *unit, double deciding)
{
  const int before = deciding > 0 ? (int)floor (log10 (deciding / unit->si)) : 0;
  const gboolean whole = unit == bytes; /* there is no half of a byte */
  return (BaseScale){ unit->unit, 1 / unit->si, whole ? 0 : (guint)CLAMP (3 - before, 0, 3) };
}

BaseScale
base_scale_of (BaseDim dim, double least, double most)
{
  return scale_in (unit_for (dim, least, most), units_of[dim].by_least ? least : most);
}

/* A size that was asked for in thousands: whole in them to SHOWN_DIGITS digits, and not whole in KiB. */
static gboolean
is_decimal (BaseDim dim, double value)
{
  return dim == BASE_DIM_BYTES && value >= 1000 && fmod (value, pow (10, floor (log10 (value)) + 1 - SHOWN_DIGITS)) == 0 &&
         fmod (value, KiB) != 0;
}

/* Of one value, which need not agree with others: the largest unit that it reaches. */
static BaseScale
scale_of_one (BaseDim dim, double value)
{
  const Unit *unit = is_decimal (dim, value) ? decimal_bytes : units_of[dim].units;
  while (unit[1].unit != NULL && value >= (units_of[dim].by_least ? unit[1].from : unit[1].si))
    unit++;
  return scale_in (unit, value);
}

/* Without zeros at the end of a fraction. */
static char *
number_shown (double value, const BaseScale *scale)
{
  char format[16], buffer[400]; /* "%.2f" of the largest double is 312 characters */
  g_snprintf (format, sizeof format, "%%.%uf", scale->decimals);
  g_ascii_formatd (buffer, sizeof buffer, format, value * scale->scale);
  char *point = strchr (buffer, '.');
  if (point != NULL) {
    char *end = buffer + strlen (buffer);
    while (end[-1] == '0')
      *--end = '\0';
    if (end[-1] == '.')
      end[-1] = '\0';
  }
  return g_strdup (strcmp (buffer, "-0") == 0 ? "0" : buffer);
}

/* "$14.3 M", "$412", where all other units follow their number. */
static char *
with_unit (const char *number, const char *unit)
{
  const char *dollar = strchr (unit, '$');
  if (dollar == NULL)
    return *unit != '\0' ? g_strdup_printf ("%s %s", number, unit) : g_strdup (number);
  const char *sign = base_currency_sign ();
  return dollar == unit ? g_strconcat (sign, number, NULL)
                        : g_strdup_printf ("%s%s %.*s", sign, number, (int)(dollar - unit), unit);
}

char *
base_quantity_show (double value, BaseDim dim)
{
  base_finite_look (base_dim_name (dim), value);
  if (!isfinite (value))
    return g_strdup ("-");
  if (units_of[dim].units == NULL)
    return base_quantity_format (value, dim, SHOWN_DIGITS);
  value = base_currency_is_money (dim) ? base_currency_of (value) : value;
  const BaseScale scale = scale_of_one (dim, fabs (value));
  g_autofree char *number = number_shown (value, &scale);
  return with_unit (number, scale.unit);
}

char *
base_band_show (double value, double lo, double hi, BaseDim dim)
{
  if (!isfinite (value) || !isfinite (lo) || !isfinite (hi) || !(lo < hi) || units_of[dim].units == NULL)
    return base_quantity_show (value, dim);
  const double one = base_currency_is_money (dim) ? base_currency_of (1) : 1;
  value *= one;
  lo *= one;
  hi *= one;
  const BaseScale scale = scale_of_one (dim, fabs (value));
  g_autofree char *number = number_shown (value, &scale), *low = number_shown (lo, &scale), *high = number_shown (hi, &scale),
                  *shown = with_unit (number, scale.unit);
  return g_strdup_printf ("%s (%s to %s)", shown, low, high);
}

/* ---- lines ---- */

#define MOST_LABEL 24 /* characters before the text of a line such as "model           llama3_70b" */

/* What each further line of a broken one begins with. */
static char *
indent_of (const char *line)
{
  const size_t blanks = strspn (line, " ");
  const gboolean comment = g_str_has_prefix (line + blanks, "# "), item = g_str_has_prefix (line + blanks, "- ");
  const char *gap = strstr (line + blanks, "  ");
  const size_t text = gap != NULL ? (size_t)(gap - line) + strspn (gap, " ") : 0;
  if (!comment && text > 0 && text <= MOST_LABEL)
    return g_strdup_printf ("%*s", (int)text, "");
  return g_strdup_printf ("%*s%s%s", (int)blanks, "", comment ? "# " : "", item || !comment ? "  " : "");
}

/* Whether the blank at `blank` parts a number from its unit: "4.461 ms", "$412 k", "16 nodes" is none. */
static gboolean
before_unit (const char *line, const char *blank)
{
  const size_t n = strcspn (blank + 1, " ,;:.)");
  return blank > line && g_ascii_isdigit (blank[-1]) && n > 0 && n <= 4;
}

/* Bytes of the part of `line` that stands in its first `width` characters, up to a blank; all where it has none. */
static size_t
broken_at (const char *line, size_t indent, guint width)
{
  size_t at = 0;
  guint seen = 0;
  for (const char *p = line; *p != '\0'; p = g_utf8_next_char (p), seen++) {
    if (*p == ' ' && (size_t)(p - line) > indent && !before_unit (line, p) && (seen <= width || at == 0))
      at = (size_t)(p - line);
    if (seen >= width && at > 0)
      return at;
  }
  return strlen (line);
}

static void
append_broken (GString *out, const char *line, guint width)
{
  g_autofree char *indent = indent_of (line), *rest = g_strdup (line);
  size_t keep = MAX (strspn (line, " ") + 2, g_str_has_prefix (line, "#") ? 0 : strlen (indent));
  while (g_utf8_strlen (rest, -1) > (glong)width) {
    const size_t at = broken_at (rest, keep, width);
    if (rest[at] == '\0')
      break;
    size_t end = at;
    while (end > 0 && rest[end - 1] == ' ')
      end--;
    g_string_append_len (out, rest, (gssize)end);
    g_string_append_c (out, '\n');
    char *next = g_strconcat (indent, rest + at + strspn (rest + at, " "), NULL);
    g_free (rest);
    rest = next;
    keep = strlen (indent);
  }
  g_string_append (out, rest);
}

void
base_text_wrap (GString *text, guint width)
{
  if (width == 0)
    return;
  g_auto (GStrv) lines = g_strsplit (text->str, "\n", -1);
  g_string_truncate (text, 0);
  for (char **line = lines; *line != NULL; line++) {
    g_string_append (text, line > lines ? "\n" : "");
    append_broken (text, *line, width);
  }
}
