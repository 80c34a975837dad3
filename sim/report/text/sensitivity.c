#include "report/sensitivity.h"

#include <math.h>
#include <string.h>

#include "json-private.h"

#define HANG(...) BASE_MEMBER (RepHang, __VA_ARGS__)
static const BaseMember hang_members[] = {
  HANG ("source", source, .title = "source", .names = base_source_names),
  HANG ("name", name, .title = "constant"),
  HANG ("line", line, .title = "line", .positive = TRUE),
  HANG ("value", value, .title = "value"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "less", BASE_SHOWN ("with less of it (%)", 100, "%+.2f")),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "more", BASE_SHOWN ("with more (%)", 100, "%+.2f")),
  BASE_MEMBER_END,
};
static const BaseMember members[] = {
  { .kind = BASE_MEMBER_GROUP, .sub = hang_members },
  HANG ("note", note, .title = "where it comes from"),
  BASE_MEMBER_END,
};
/* Of what is ranked. */
static const BaseMember first_members[] = {
  { .kind = BASE_MEMBER_GROUP, .sub = hang_members },
  HANG ("less_first", less_first, .title = "first with less"),
  HANG ("more_first", more_first, .title = "first with more"),
  HANG ("note", note, .title = "where it comes from"),
  BASE_MEMBER_END,
};

static void
hang_clear (gpointer data)
{
  RepHang *hang = data;
  g_free (hang->name);
  g_free (hang->value);
  g_free (hang->note);
  g_free (hang->less_first);
  g_free (hang->more_first);
}

RepSensitivity *
rep_sensitivity_new (double answer_s, double by)
{
  RepSensitivity *sensitivity = g_new (RepSensitivity, 1);
  *sensitivity = (RepSensitivity){ .answer_s = answer_s, .by = by, .hangs = g_array_new (FALSE, TRUE, sizeof (RepHang)) };
  g_array_set_clear_func (sensitivity->hangs, hang_clear);
  return sensitivity;
}

void
rep_sensitivity_free (RepSensitivity *sensitivity)
{
  if (sensitivity == NULL)
    return;
  g_array_unref (sensitivity->hangs);
  g_free (sensitivity->first);
  g_free (sensitivity);
}

/* How far the answer goes, to either side, in s; what could not run goes nowhere. */
static double
reach (const RepHang *hang, double answer_s)
{
  double less = isfinite (hang->less_s) ? fabs (hang->less_s - answer_s) : 0,
         more = isfinite (hang->more_s) ? fabs (hang->more_s - answer_s) : 0;
  return MAX (less, more);
}

static gboolean
changes_first (const RepHang *hang)
{
  return hang->less_first != NULL || hang->more_first != NULL;
}

/* What changes what comes first before what moves it. */
static gint
compare (gconstpointer a, gconstpointer b, gpointer user)
{
  const RepHang *x = a, *y = b;
  const double answer_s = *(const double *)user, dx = reach (x, answer_s), dy = reach (y, answer_s);
  if (changes_first (x) != changes_first (y))
    return changes_first (x) ? -1 : 1;
  if (dx > dy || dx < dy)
    return dx > dy ? -1 : 1;
  int names = strcmp (x->name, y->name);
  return names != 0 ? names : x->line < y->line ? -1 : x->line > y->line;
}

void
rep_sensitivity_sort (RepSensitivity *sensitivity)
{
  g_array_sort_with_data (sensitivity->hangs, compare, &sensitivity->answer_s);
}

BaseTable *
rep_sensitivity_table (const RepSensitivity *sensitivity, double least)
{
  const BaseMember *shown = sensitivity->first != NULL ? first_members : members;
  BaseTable *table = base_members_table (shown, NULL);
  for (guint i = 0; i < sensitivity->hangs->len; i++) {
    const RepHang *hang = &g_array_index (sensitivity->hangs, RepHang, i);
    if (reach (hang, sensitivity->answer_s) < least * sensitivity->answer_s && !changes_first (hang))
      continue;
    base_members_add (table, shown, hang);
    base_table_number (table, "less", hang->less_s / sensitivity->answer_s - 1);
    base_table_number (table, "more", hang->more_s / sensitivity->answer_s - 1);
  }
  return table;
}

void
rep_sensitivity_text (const RepSensitivity *sensitivity, GString *out)
{
  g_autoptr (BaseTable) table = rep_sensitivity_table (sensitivity, REP_SENSITIVITY_LEAST);
  const guint shown = base_table_n_rows (table);
  g_string_append_printf (
      out,
      "\n# what the answer hangs on: each constant alone %g %% less and more; %u of the %u that were read move it "
      "(%u runs)\n",
      sensitivity->by * 100, sensitivity->hangs->len, sensitivity->n_tried, sensitivity->n_runs);
  guint n_first = 0;
  for (guint i = 0; i < sensitivity->hangs->len; i++)
    n_first += changes_first (&g_array_index (sensitivity->hangs, RepHang, i)) ? 1u : 0u;
  if (sensitivity->first != NULL)
    g_string_append_printf (out, "# with %u of them another one comes first; as it is: %s\n", n_first, sensitivity->first);
  if (shown > 0)
    base_table_print_text (table, out);
  if (shown < sensitivity->hangs->len)
    g_string_append_printf (out, "# %u %smove it less than %g %%\n", sensitivity->hangs->len - shown, shown > 0 ? "more " : "",
                            REP_SENSITIVITY_LEAST * 100);
}

void
rep_sensitivity_json (const RepSensitivity *sensitivity, JsonBuilder *json)
{
  json_builder_set_member_name (json, "sensitivity");
  json_builder_begin_object (json);
  rep_json_number (json, "changed_by", sensitivity->by);
  rep_json_integer (json, "tried", sensitivity->n_tried);
  if (sensitivity->first != NULL)
    rep_json_text (json, "first", sensitivity->first);
  rep_json_table (json, "constants", rep_sensitivity_table (sensitivity, 0));
  json_builder_end_object (json);
}

void
rep_sensitivity_tsv (const RepSensitivity *sensitivity, GString *out)
{
  g_string_append (out, "name\tless\tmore\n");
  guint bars = 0;
  for (guint i = 0; i < sensitivity->hangs->len && bars < REP_SENSITIVITY_BARS; i++) {
    const RepHang *hang = &g_array_index (sensitivity->hangs, RepHang, i);
    if (bars > 0 && !changes_first (hang) && reach (hang, sensitivity->answer_s) < REP_SENSITIVITY_LEAST * sensitivity->answer_s)
      continue;
    bars++;
    const double ends[] = { hang->less_s, hang->more_s };
    g_autofree char *name = g_utf8_make_valid (hang->name, -1);
    g_string_append (out, g_strdelimit (name, "\t\r\n", ' '));
    if (sensitivity->first != NULL && hang->line > 0) /* prices of a list have the same key */
      g_string_append_printf (out, ", line %u", hang->line);
    if (changes_first (hang))
      g_string_append (out, " *");
    for (size_t k = 0; k < G_N_ELEMENTS (ends); k++) {
      char text[G_ASCII_DTOSTR_BUF_SIZE];
      double change = isfinite (ends[k]) ? ends[k] / sensitivity->answer_s - 1 : 0;
      g_string_append_printf (out, "\t%s", g_ascii_formatd (text, sizeof text, "%.9g", change));
    }
    g_string_append_c (out, '\n');
  }
}
