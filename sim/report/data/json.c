#include "json-private.h"

#include <math.h>
#include <string.h>

#include "base/finite.h"
#include "base/layout.h"

void
rep_json_text (JsonBuilder *json, const char *key, const char *text)
{
  json_builder_set_member_name (json, key);
  if (text == NULL) {
    json_builder_add_null_value (json);
    return;
  }
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  json_builder_add_string_value (json, valid);
}

void
rep_json_number (JsonBuilder *json, const char *key, double value)
{
  json_builder_set_member_name (json, key);
  base_finite_look (key, value);
  base_json_add_number (json, value);
}

void
rep_json_integer (JsonBuilder *json, const char *key, gint64 value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_int_value (json, value);
}

void
rep_json_null (JsonBuilder *json, const char *key)
{
  json_builder_set_member_name (json, key);
  json_builder_add_null_value (json);
}

void
rep_json_texts (JsonBuilder *json, const char *key, const char *const *texts)
{
  json_builder_set_member_name (json, key);
  json_builder_begin_array (json);
  for (; *texts != NULL; texts++) {
    g_autofree char *valid = g_utf8_make_valid (*texts, -1);
    json_builder_add_string_value (json, valid);
  }
  json_builder_end_array (json);
}

void
rep_json_table (JsonBuilder *json, const char *key, BaseTable *table)
{
  json_builder_set_member_name (json, key);
  base_table_build_json (table, json);
  base_table_free (table);
}

void
rep_tsv (BaseTable *table, GString *out)
{
  base_table_print_tsv (table, out);
  base_table_free (table);
}

void
rep_text (BaseTable *table, GString *out)
{
  base_table_print_text (table, out);
  base_table_free (table);
}

char *
rep_quantity (double value, BaseDim dim)
{
  return base_quantity_show (value, dim);
}

char *
rep_band (double value_s, double lo_s, double hi_s)
{
  return base_band_show (value_s, lo_s, hi_s, BASE_DIM_TIME);
}

/* ---- sentences ---- */

/* "2 nodes", "1 batch". */
static void
append_counted (GString *out, double n, const char *word)
{
  const char *plural = g_str_has_suffix (word, "ch") ? "es" : "s";
  g_string_append_printf (out, "%.0f %s%s", n, word, n < 1 || n > 1 ? plural : "");
}

/* About four digits, thousands parted by commas and never an exponent: "114,500", "6,849", "26.72". */
static void
append_grouped (GString *out, double n)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  if (!(n >= 1000) || n >= 1e15) {
    g_string_append (out, g_ascii_formatd (digits, sizeof digits, "%.4g", n));
    return;
  }
  double unit = pow (10, floor (log10 (n)) - 3);
  g_ascii_formatd (digits, sizeof digits, "%.0f", round (n / unit) * unit);
  for (size_t left = strlen (digits), i = 0; left > 0; left--, i++) {
    g_string_append_c (out, digits[i]);
    if (left > 1 && left % 3 == 1)
      g_string_append_c (out, ',');
  }
}

/* What follows the first `mark`, which ends what is before it; NULL where there is none. */
static char *
after (char *text, char mark)
{
  char *at = strchr (text, mark);
  if (at == NULL)
    return NULL;
  *at = '\0';
  return at + 1;
}

/* What stands in braces. */
static void
append_value (GString *out, const BaseMember *members, const void *of, char *what)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE], *word = after (what, '#'), *format = after (what, ':'), *factor = after (what, '*');
  BaseValue value;
  if (!base_members_value (members, of, what, &value))
    g_error ("nothing to say of '%s'", what); /* keys are the program's own */
  if (!value.known)
    g_string_append_c (out, '-');
  else if (value.kind == BASE_CELL_TEXT)
    g_string_append (out, value.text);
  else if (g_strcmp0 (format, ",") == 0)
    append_grouped (out, value.number);
  else if (word != NULL)
    append_counted (out, value.number, word);
  else if (format != NULL)
    g_string_append (
        out, g_ascii_formatd (buffer, sizeof buffer, format, value.number * (factor != NULL ? g_ascii_strtod (factor, NULL) : 1)));
  else if (value.kind == BASE_CELL_INTEGER)
    g_string_append_printf (out, "%.0f", value.number);
  else {
    g_autofree char *quantity = rep_quantity (value.number, value.dim);
    g_string_append (out, quantity);
  }
}

void
rep_say (GString *out, const BaseMember *members, const void *of, const char *text)
{
  for (const char *open; (open = strchr (text, '{')) != NULL;) {
    const char *close = strchr (open, '}');
    g_autofree char *what = g_strndup (open + 1, (gsize)(close - open - 1));
    g_string_append_len (out, text, open - text);
    append_value (out, members, of, what);
    text = close + 1;
  }
  g_string_append (out, text);
}
