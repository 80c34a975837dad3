/* A quantity's text taken apart: number, currency, unit. What is wrong is said with what to write instead. */
#include "units/units-private.h"

#include "base/error.h"
#include "base/lookup.h"
#include "units/text-private.h"

#include <math.h>
#include <string.h>

#define FAIL(error, ...) base_fail (error, BASE_ERROR_INPUT, __VA_ARGS__)

typedef struct {
  Decimal number;
  gboolean currency; /* "$" before the number or "USD" behind it */
  char *digits;      /* the number as it was written, with its sign and without "$"; owned */
  char *unit;        /* without currency and blanks around; owned */
} Parts;

static void
parts_clear (Parts *parts)
{
  base_decimal_clear (&parts->number);
  g_clear_pointer (&parts->digits, g_free);
  g_clear_pointer (&parts->unit, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Parts, parts_clear)

/* "M USD/year" is "M/year" in dollars. */
static gboolean
cut_currency (char *unit)
{
  char *at = strstr (unit, "USD");
  if (at == NULL)
    return FALSE;
  char *behind = at + strlen ("USD");
  while (at > unit && at[-1] == ' ')
    at--;
  behind += strspn (behind, " ");
  memmove (at, behind, strlen (behind) + 1);
  return TRUE;
}

static gboolean
parts_scan (const char *text, Parts *out)
{
  const char *p = text + strspn (text, " \t");
  gboolean negative = p[0] == '-' && p[1] == '$';
  gboolean dollar = *p == '$' || negative;
  p += negative + dollar;
  if (negative && (*p == '-' || *p == '+'))
    return FALSE;
  const char *first = p;
  if (!base_decimal_scan (&p, &out->number))
    return FALSE;
  out->digits = g_strndup (first, (gsize)(p - first));
  if (negative) {
    char *digits = out->digits;
    out->digits = g_strconcat ("-", digits, NULL);
    g_free (digits);
    out->number.negative = !out->number.negative;
  }
  out->unit = g_strstrip (g_strdup (p));
  out->currency = cut_currency (out->unit) || dollar;
  return TRUE;
}

typedef struct {
  const char *wanted; /* folded */
  GPtrArray *found, *all;
} Near;

/* Replaces each `from` in `*text` by `to`. */
static void
replace (char **text, const char *from, const char *to)
{
  g_auto (GStrv) pieces = g_strsplit (*text, from, -1);
  g_free (*text);
  *text = g_strjoinv (to, pieces);
}

/* Spellings that differ from a unit by case, by words in full or by a common habit become one: "Gbps", "gigabytes", "TFLOPS". */
static char *
fold (const char *text)
{
  static const char *const words[][2] = { { "kilo", "k" },  { "mega", "m" },  { "giga", "g" },  { "tera", "t" },  { "peta", "p" },
                                          { "kibi", "ki" }, { "mebi", "mi" }, { "gibi", "gi" }, { "tebi", "ti" }, { "bytes", "b" },
                                          { "byte", "b" },  { "bits", "b" },  { "bit", "b" },   { "watts", "w" }, { "watt", "w" } };
  char *lower = g_ascii_strdown (text, -1);
  for (size_t i = 0; i < G_N_ELEMENTS (words); i++)
    replace (&lower, words[i][0], words[i][1]);
  static const char *const endings[][2] = { { "bps", "b/s" }, { "flops", "flop/s" }, { "flops/s", "flop/s" } };
  for (size_t i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (lower, endings[i][0])) {
      g_autofree char *longer = g_strdup_printf ("%.*s%s", (int)(strlen (lower) - strlen (endings[i][0])), lower, endings[i][1]);
      g_free (lower);
      return g_steal_pointer (&longer);
    }
  return lower;
}

static void
near_visit (const char *text, void *data)
{
  Near *near = data;
  g_autofree char *folded = fold (text);
  g_ptr_array_add (near->all, g_strdup (text));
  if (text[0] != '\0' && strcmp (folded, near->wanted) == 0 && near->found->len < 2)
    g_ptr_array_add (near->found, g_strdup (text));
}

/* "Gbps", "Kb" and "gigabit" mean bits, "gigabytes" bytes; in "gb" the case of the b says nothing. */
typedef enum { SAYS_NOTHING, SAYS_BITS, SAYS_BYTES } Says;

static Says
says (const char *unit)
{
  g_autofree char *lower = g_ascii_strdown (unit, -1);
  if (strstr (lower, "byte") != NULL)
    return SAYS_BYTES;
  if (strstr (lower, "bit") != NULL)
    return SAYS_BITS;
  if (strchr (unit, 'B') != NULL)
    return SAYS_BYTES;
  return strcmp (unit, lower) != 0 || g_str_has_suffix (unit, "bps") ? SAYS_BITS : SAYS_NOTHING;
}

/* "; write '1460 days'" for "4 years", where the dimension has a hint for the unit, else "". Returned: full. */
static char *
listed_hint (const UnitDim *dim, const Parts *parts)
{
  for (const UnitHint *hint = dim->hints; hint != NULL && hint->wrong != NULL; hint++)
    if (g_ascii_strcasecmp (parts->unit, hint->wrong) == 0) {
      g_autofree char *number = hint->times == 1 ? g_strdup (parts->digits)
                                                 : g_strdup_printf ("%.10g", base_decimal_value (&parts->number, 0) * hint->times);
      g_auto (GStrv) pieces = g_strsplit (hint->advice, "@", -1);
      g_autofree char *advice = g_strjoinv (number, pieces);
      return g_strconcat ("; write ", advice, NULL);
    }
  return g_strdup ("");
}

/* The unit that is spelled almost so, or with "/s" behind it; NULL: none. Returned: full. */
static char *
near_unit (const UnitDim *dim, const Parts *parts, const GPtrArray *all)
{
  g_autofree char *rate = g_strconcat (parts->unit, "/s", NULL);
  Unit unit;
  if (base_unit_find (dim, rate, &unit))
    return g_steal_pointer (&rate);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < all->len; i++)
    if (*(const char *)all->pdata[i] != '\0')
      g_ptr_array_add (names, all->pdata[i]);
  g_ptr_array_add (names, NULL);
  return g_strdup (base_nearest (parts->unit, (const char *const *)names->pdata));
}

/* "; write '400 Gb/s' (bits) or '400 GB/s' (bytes)", or "". Returned: full. */
static char *
hint_for (const UnitDim *dim, const Parts *parts)
{
  const char *unit = parts->unit, *number = parts->digits, *dollar = dim->money ? "$" : "";
  g_autofree char *listed = listed_hint (dim, parts), *wanted = fold (unit);
  if (*listed != '\0' || unit[0] == '\0')
    return g_steal_pointer (&listed);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free), all = g_ptr_array_new_with_free_func (g_free);
  Near near = { wanted, found, all };
  base_unit_visit (dim, near_visit, &near);
  g_autofree char *other = found->len == 0 ? near_unit (dim, parts, all) : NULL;
  if (found->len == 0 && other == NULL)
    return g_strdup ("");

  const char *first = other != NULL ? other : found->pdata[0], *gap = first[0] == '/' ? "" : " ";
  gboolean bytes = dim == &base_unit_dims[BASE_DIM_BYTES] || dim == &base_unit_dims[BASE_DIM_BANDWIDTH];
  if (bytes && found->len > 1) {
    const char *second = found->pdata[1];
    const Says what = says (unit);
    if (what == SAYS_NOTHING)
      return g_strdup_printf ("; write '%s %s' (bytes) or '%s %s' (bits)", number, first, number, second);
    if (what == SAYS_BITS)
      first = second;
  }
  if (unit[0] == 'K' && first[0] == 'k' && dim->units->prefixes & UNIT_BINARY)
    return g_strdup_printf ("; write '%s %s' (1000) or '%s Ki%s' (1024)", number, first, number, first + 1);
  return g_strdup_printf ("; write '%s%s%s%s'", dollar, number, gap, first);
}

/* Whether `parts` would be right in another dimension; that one, or BASE_DIM_N. */
static BaseDim
dim_of (const Parts *parts)
{
  for (int dim = 0; dim < BASE_DIM_N; dim++) {
    Unit unit;
    if (base_unit_dims[dim].money == parts->currency && base_unit_find (&base_unit_dims[dim], parts->unit, &unit))
      return (BaseDim)dim;
  }
  return BASE_DIM_N;
}

/* "; write '8192'" for "8,192", "; write '2.5 GB'" for "2,5 GB", or "". Returned: full. */
static char *
grouping_hint (const char *text, const UnitDim *want)
{
  g_autoptr (GRegex) grouped = g_regex_new ("(?<=\\d)[,_'](?=\\d{3}(?!\\d))", 0, 0, NULL);
  g_autofree char *plain = g_regex_replace_literal (grouped, text, -1, 0, "", 0, NULL);
  if (plain != NULL && strcmp (plain, text) == 0)
    replace (&plain, ",", ".");
  double value;
  if (plain == NULL || strcmp (plain, text) == 0 || !base_quantity_parse (plain, (BaseDim)(want - base_unit_dims), &value, NULL))
    return g_strdup ("");
  return g_strdup_printf ("; write '%s'", plain);
}

static void
fail_unit (const char *text, const UnitDim *want, const Parts *parts, GError **error)
{
  g_autofree char *shown = base_text_shown (text);
  g_autofree char *unit = base_text_shown (parts->unit);
  BaseDim other = dim_of (parts);
  gboolean bare = parts->unit[0] == '\0' && !parts->currency;
  gboolean digits = strchr (",_'0123456789.", parts->unit[0]) != NULL && parts->unit[0] != '\0';
  gboolean no_dollar = want->money && !parts->currency && base_unit_find (want, parts->unit, &(Unit){ 0 });
  g_autofree char *hint = digits                            ? grouping_hint (text, want)
                          : want->money || !parts->currency ? hint_for (want, parts)
                                                            : g_strdup ("");
  if (no_dollar && !bare) {
    g_free (hint);
    hint = g_strdup_printf ("; write '$%s%s%s'", parts->digits, parts->unit[0] == '/' ? "" : " ", parts->unit);
  }
  g_autofree char *example = *hint != '\0' ? g_steal_pointer (&hint) : g_strdup_printf (" (e.g. '%s')", want->example);
  if (bare || no_dollar) {
    FAIL (error, "%s '%s' has no %s%s", want->name, shown, want->money ? "'$'" : "unit", example);
  } else if ((parts->unit[0] == 'x' || parts->unit[0] == 'X') && parts->number.digits[0] == '\0') {
    FAIL (error, "'%s' is hexadecimal; write it in decimal (e.g. '%s')", shown, want->example);
  } else if (digits) {
    FAIL (error, "'%s' is not a number that can be read: digits are not grouped, the decimal sign is '.'%s", shown, example);
  } else if (other != BASE_DIM_N) {
    const UnitDim *is = &base_unit_dims[other];
    FAIL (error, "'%s' is %s %s where %s %s is expected%s", shown, is->article, is->name, want->article, want->name, example);
  } else {
    FAIL (error, "unknown unit '%s' in %s '%s'%s", unit, want->name, shown, example);
  }
}

/* Whether an amount is in another currency than dollars, or has its '$' behind the number: *error says what to write then. */
static gboolean
fail_currency (const char *text, const UnitDim *want, GError **error)
{
  static const char *const others[] = { "EUR", "€", "GBP", "£", "JPY", "CNY", "RMB", "¥", "CHF", "INR", "₹", "KRW", "₩" };
  g_autofree char *shown = base_text_shown (text), *upper = g_ascii_strup (text, -1);
  for (size_t i = 0; want->money && i < G_N_ELEMENTS (others); i++)
    if (strstr (upper, others[i]) != NULL) {
      FAIL (error, "'%s' is not in US dollars; convert it, and write the amount in dollars (e.g. '%s')", shown, want->example);
      return TRUE;
    }
  const char *dollar = strchr (text, '$');
  if (!want->money || dollar == NULL || dollar == text || !g_ascii_isdigit (text[0]))
    return FALSE;
  g_autofree char *amount = g_strdup (text);
  replace (&amount, "$", "");
  g_strstrip (amount);
  g_autofree char *right = base_text_shown (amount);
  FAIL (error, "'%s' has its '$' behind the number; write '$%s'", shown, right);
  return TRUE;
}

/* "1e15 USD". Returned: full. */
static char *
limit_text (const UnitDim *dim, double limit)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (number, sizeof number, limit < COUNT_MAX || limit > COUNT_MAX ? "%.3g" : "%.0f", limit);
  char *plus = strchr (number, '+');
  if (plus != NULL)
    memmove (plus, plus + strspn (plus, "+0"), strlen (plus + strspn (plus, "+0")) + 1);
  return g_strconcat (number, *dim->si != '\0' ? " " : "", dim->si, NULL);
}

static gboolean
check_value (const char *text, BaseDim dim, const Decimal *number, double value, GError **error)
{
  const UnitDim *want = &base_unit_dims[dim];
  const double size = fabs (value);
  if (size <= want->most && (dim != BASE_DIM_COUNT || floor (value) == value) && (size >= UNIT_LEAST || number->digits[0] == '\0'))
    return TRUE;
  g_autofree char *shown = base_text_shown (text), *least = limit_text (want, UNIT_LEAST), *most = limit_text (want, want->most);
  if (size > want->most)
    FAIL (error, "%s '%s' is too large; at most %s is accepted", want->name, shown, most);
  else if (dim == BASE_DIM_COUNT)
    FAIL (error, "'%s' is not a whole number (e.g. '%s')", shown, want->example);
  else
    FAIL (error, "%s '%s' is too small; 0, or at least %s, is accepted", want->name, shown, least);
  return FALSE;
}

gboolean
base_quantity_parse (const char *text, BaseDim dim, double *value, GError **error)
{
  g_return_val_if_fail (text != NULL && (unsigned)dim < BASE_DIM_N, FALSE);
  const UnitDim *want = &base_unit_dims[dim];
  g_auto (Parts) parts = { 0 };
  if (!parts_scan (text, &parts)) {
    g_autofree char *shown = base_text_shown (text);
    if (fail_currency (text, want, error))
      return FALSE;
    FAIL (error, "'%s' is not %s %s (e.g. '%s')", shown, want->article, want->name, want->example);
    return FALSE;
  }

  Unit unit = { "", 0, 0, 1, 1 };
  gboolean bare_zero = parts.unit[0] == '\0' && parts.number.digits[0] == '\0' && !parts.currency;
  if (!bare_zero && (parts.currency != want->money || !base_unit_find (want, parts.unit, &unit))) {
    if (!fail_currency (text, want, error))
      fail_unit (text, want, &parts, error);
    return FALSE;
  }
  double v = base_decimal_value (&parts.number, unit.e10) * unit.times / unit.over;
  if (!check_value (text, dim, &parts.number, v, error))
    return FALSE;
  *value = v == 0 ? 0 : v; /* no negative zero: it would print as "-0" */
  return TRUE;
}

/* nccl-tests reads a number and one letter (parsesize in src/common.cu): K M G are 2^10 2^20 2^30 there, in either case. T and P go
 * on in the same way. */
static gboolean
size_unit (const char *text, int *e10, double *times)
{
  static const char letters[] = "KMGTP";
  *e10 = 0;
  *times = 1;
  if (text[0] == '\0' || strcmp (text, "B") == 0)
    return TRUE;
  const char *at = strchr (letters, g_ascii_toupper (text[0]));
  if (at != NULL && text[1] == '\0') {
    *times = ldexp (1, 10 * ((int)(at - letters) + 1));
    return TRUE;
  }
  Unit unit;
  if (!g_str_has_suffix (text, "B") || !base_unit_find (&base_unit_dims[BASE_DIM_BYTES], text, &unit))
    return FALSE;
  *e10 = unit.e10;
  *times = unit.times;
  return TRUE;
}

gboolean
base_size_flag_parse (const char *text, guint64 *size_B, GError **error)
{
  g_return_val_if_fail (text != NULL, FALSE);
  g_auto (Parts) parts = { 0 };
  int e10;
  double times;
  g_autofree char *shown = base_text_shown (text);
  if (!parts_scan (text, &parts) || parts.currency || !size_unit (parts.unit, &e10, &times)) {
    FAIL (error, "'%s' is not a size (e.g. '8', '1K' = 1024, '4M', '8G', '1 GB' = 1000000000)", shown);
    return FALSE;
  }
  double v = base_decimal_value (&parts.number, e10) * times;
  if (v < 0 || v > COUNT_MAX) {
    FAIL (error, "size '%s' is out of range (0 to %.0f bytes)", shown, COUNT_MAX);
    return FALSE;
  }
  if (floor (v) != v || (v == 0 && parts.number.digits[0] != '\0')) {
    FAIL (error, "size '%s' is not a whole number of bytes", shown);
    return FALSE;
  }
  *size_B = (guint64)v;
  return TRUE;
}
