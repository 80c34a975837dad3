/* Sensitivity of goodput and of the time to train. */
#include <math.h>

#include "json-private.h"
#include "report/run.h"

#define PERCENT(head) BASE_SHOWN (head, 100, "%.2f")
#define CHANGE(head)  BASE_SHOWN (head, 100, "%+.2f")
#define ENTRY(...)     BASE_MEMBER (GdpSensitivityRow, __VA_ARGS__)
/* Spares without end have no number. */
BASE_MEMBER_NUMBER_OF (value, GdpSensitivityRow, isfinite (it->value) ? it->value : (double)NAN)
BASE_MEMBER_NUMBER_OF (value_less, GdpSensitivityRow, isfinite (it->end[0]) ? it->end[0] : (double)NAN)
BASE_MEMBER_NUMBER_OF (value_more, GdpSensitivityRow, isfinite (it->end[1]) ? it->end[1] : (double)NAN)
static const BaseMember members[] = {
  ENTRY ("name", name, .title = "what"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "as_it_is", .title = "as it is"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "with_less", .title = "with less"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "with_more", .title = "with more"),
  { .key = "value", .number = value },
  { .key = "value_less", .number = value_less },
  { .key = "value_more", .number = value_more },
  ENTRY ("goodput_less", goodput[0], PERCENT ("goodput, less (%)")),
  ENTRY ("goodput_more", goodput[1], PERCENT ("more (%)")),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "time_less", CHANGE ("time, less (%)")),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "time_more", CHANGE ("more (%)")),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "baseline"),
  BASE_MEMBER_END,
};

static double
reach (const GdpSensitivityRow *row, double time_s)
{
  return fmax (fabs (row->time_s[0] - time_s), fabs (row->time_s[1] - time_s));
}

static gint
compare (gconstpointer a, gconstpointer b, gpointer user)
{
  const double time_s = *(const double *)user, x = reach (a, time_s), y = reach (b, time_s);
  return x > y ? -1 : x < y;
}

/* What moves the time most first; of equals the first stays first. Returned: full, of GdpSensitivityRow. */
static GArray *
sorted (const GArray *goodput_sensitivity, double time_s)
{
  GArray *copy = g_array_sized_new (FALSE, FALSE, sizeof (GdpSensitivityRow), goodput_sensitivity->len);
  g_array_append_vals (copy, goodput_sensitivity->data, goodput_sensitivity->len);
  g_array_sort_with_data (copy, compare, &time_s);
  return copy;
}

/* Spares alone are ever infinite; of counts the number is all that there is to say. */
static char *
text_of (const GdpSensitivityRow *row, double value)
{
  if (isinf (value))
    return g_strdup ("always available");
  return row->dim == BASE_DIM_COUNT ? g_strdup_printf ("%.0f", value) : rep_quantity (value, row->dim);
}

static double
change (double time_s, double as_is_s)
{
  return isfinite (time_s) ? time_s / as_is_s - 1 : (double)NAN;
}

BaseTable *
rep_goodput_sensitivity_table (const GArray *goodput_sensitivity, double time_s)
{
  BaseTable *table = base_members_table (members, NULL);
  g_autoptr (GArray) rows = sorted (goodput_sensitivity, time_s);
  for (guint i = 0; i < rows->len; i++) {
    const GdpSensitivityRow *row = &g_array_index (rows, GdpSensitivityRow, i);
    g_autofree char *as_it_is = text_of (row, row->value), *less = text_of (row, row->end[0]),
                    *more = text_of (row, row->end[1]);
    base_members_add (table, members, row);
    base_table_text (table, "as_it_is", as_it_is);
    base_table_text (table, "baseline", as_it_is);
    base_table_text (table, "with_less", less);
    base_table_text (table, "with_more", more);
    base_table_number (table, "time_less", change (row->time_s[0], time_s));
    base_table_number (table, "time_more", change (row->time_s[1], time_s));
  }
  return table;
}

void
rep_goodput_sensitivity_text (const GArray *goodput_sensitivity, double time_s, GString *out)
{
  g_string_append (
      out, "\n# sensitivity of goodput and of the time to train: each value halved and doubled alone, a simulated step at either "
           "end of its band\n");
  rep_text (rep_goodput_sensitivity_table (goodput_sensitivity, time_s), out);
}

void
rep_goodput_sensitivity_json (const GArray *goodput_sensitivity, double time_s, JsonBuilder *json)
{
  rep_json_table (json, "goodput_sensitivity", rep_goodput_sensitivity_table (goodput_sensitivity, time_s));
}

void
rep_goodput_sensitivity_tsv (const GArray *goodput_sensitivity, double time_s, GString *out)
{
  g_autoptr (GArray) rows = sorted (goodput_sensitivity, time_s);
  g_string_append (out, "name\tless\tmore\n");
  for (guint i = 0; i < rows->len; i++) {
    const GdpSensitivityRow *row = &g_array_index (rows, GdpSensitivityRow, i);
    g_autofree char *value = text_of (row, row->value), *less = text_of (row, row->end[0]);
    g_string_append_printf (out, "%s, %s", row->name, value);
    if (isinf (row->value)) /* half of it is what the legend cannot say */
      g_string_append_printf (out, " or %s", less);
    for (int side = 0; side < 2; side++) {
      char text[G_ASCII_DTOSTR_BUF_SIZE];
      double moved = change (row->time_s[side], time_s);
      g_string_append_printf (out, "\t%s", g_ascii_formatd (text, sizeof text, "%.9g", isfinite (moved) ? moved : 0));
    }
    g_string_append_c (out, '\n');
  }
}
