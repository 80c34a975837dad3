#include "report/sensitivity.h"

#include <math.h>
#include <string.h>

#include "json-private.h"

#define EFFECT(...) BASE_MEMBER (StdEffect, __VA_ARGS__)
static const BaseMember effect_members[] = {
  EFFECT ("source", source, .title = "source", .rank = 2, .names = base_source_names),
  EFFECT ("name", name, .title = "constant"),
  EFFECT ("line", line, .title = "line", .rank = 1, .positive = TRUE),
  EFFECT ("value", value, .title = "value"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "less", BASE_SHOWN ("with less of it (%)", 100, "%+.2f")),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "more", BASE_SHOWN ("with more (%)", 100, "%+.2f")),
  BASE_MEMBER_END,
};
static const BaseMember members[] = {
  { .kind = BASE_MEMBER_GROUP, .sub = effect_members },
  EFFECT ("note", note, .title = "where it comes from", .rank = 3),
  BASE_MEMBER_END,
};
/* Of what is ranked. */
static const BaseMember first_members[] = {
  { .kind = BASE_MEMBER_GROUP, .sub = effect_members },
  EFFECT ("less_first", less_first, .title = "first with less"),
  EFFECT ("more_first", more_first, .title = "first with more"),
  EFFECT ("note", note, .title = "where it comes from", .rank = 3),
  BASE_MEMBER_END,
};

BaseTable *
rep_sensitivity_table (const StdSensitivity *sensitivity, double least)
{
  const BaseMember *shown = sensitivity->first != NULL ? first_members : members;
  BaseTable *table = base_members_table (shown, NULL);
  for (guint i = 0; i < sensitivity->effects->len; i++) {
    const StdEffect *effect = &g_array_index (sensitivity->effects, StdEffect, i);
    if (std_effect_reach (effect, sensitivity->answer_s) < least * sensitivity->answer_s && !std_effect_changes_first (effect))
      continue;
    base_members_add (table, shown, effect);
    base_table_number (table, "less", effect->less_s / sensitivity->answer_s - 1);
    base_table_number (table, "more", effect->more_s / sensitivity->answer_s - 1);
  }
  return table;
}

void
rep_sensitivity_text (const StdSensitivity *sensitivity, GString *out)
{
  g_autoptr (BaseTable) table = rep_sensitivity_table (sensitivity, REP_SENSITIVITY_LEAST);
  const guint shown = base_table_n_rows (table);
  g_string_append_printf (
      out,
      "\n# what the answer hangs on: each constant alone %g %% less and more; %u of the %u that were read move it "
      "(%u runs)\n",
      sensitivity->by * 100, sensitivity->effects->len, sensitivity->n_tried, sensitivity->n_runs);
  guint n_first = 0;
  for (guint i = 0; i < sensitivity->effects->len; i++)
    n_first += std_effect_changes_first (&g_array_index (sensitivity->effects, StdEffect, i)) ? 1u : 0u;
  if (sensitivity->first != NULL)
    g_string_append_printf (out, "# with %u of them another one comes first; as it is: %s\n", n_first, sensitivity->first);
  if (shown > 0)
    base_table_print_text (table, out);
  if (shown < sensitivity->effects->len)
    g_string_append_printf (out, "# %u %smove it less than %g %%\n", sensitivity->effects->len - shown, shown > 0 ? "more " : "",
                            REP_SENSITIVITY_LEAST * 100);
}

void
rep_sensitivity_json (const StdSensitivity *sensitivity, JsonBuilder *json)
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
rep_sensitivity_tsv (const StdSensitivity *sensitivity, GString *out)
{
  g_string_append (out, "name\tless\tmore\n");
  guint bars = 0;
  for (guint i = 0; i < sensitivity->effects->len && bars < REP_SENSITIVITY_BARS; i++) {
    const StdEffect *effect = &g_array_index (sensitivity->effects, StdEffect, i);
    if (bars > 0 && !std_effect_changes_first (effect) &&
        std_effect_reach (effect, sensitivity->answer_s) < REP_SENSITIVITY_LEAST * sensitivity->answer_s)
      continue;
    bars++;
    const double ends[] = { effect->less_s, effect->more_s };
    g_autofree char *name = g_utf8_make_valid (effect->name, -1);
    g_string_append (out, g_strdelimit (name, "\t\r\n", ' '));
    if (sensitivity->first != NULL && effect->line > 0) /* prices of a list have the same key */
      g_string_append_printf (out, ", line %u", effect->line);
    if (std_effect_changes_first (effect))
      g_string_append (out, " *");
    for (size_t k = 0; k < G_N_ELEMENTS (ends); k++) {
      char text[G_ASCII_DTOSTR_BUF_SIZE];
      double change = isfinite (ends[k]) ? ends[k] / sensitivity->answer_s - 1 : 0;
      g_string_append_printf (out, "\t%s", g_ascii_formatd (text, sizeof text, "%.9g", change));
    }
    g_string_append_c (out, '\n');
  }
}
