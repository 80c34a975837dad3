#include "report/sensitivity.h"

#include <math.h>
#include <string.h>

#include "json-private.h"
#include "study/vary.h"

#define EFFECT(...) BASE_MEMBER (StdEffect, __VA_ARGS__)
static const BaseMember effect_members[] = {
  EFFECT ("source", source, .title = "source", .rank = 2, .names = base_source_names),
  EFFECT ("name", name, .title = "constant"),
  EFFECT ("line", line, .title = "line", .rank = 1, .positive = TRUE),
  EFFECT ("value", value, .title = "value"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "less", BASE_SHOWN ("with less (%)", 100, "%+.2f")),
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
  EFFECT ("less_first", less_first, .title = "recommended with less"),
  EFFECT ("more_first", more_first, .title = "recommended with more"),
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

/* A row of text: names without the folder, and what would be recommended instead in the last column, which may be broken. */
typedef struct {
  const StdEffect *effect;
  char *name, *instead; /* owned */
  double less, more;
} Line;

#define LINE(...) BASE_MEMBER (Line, __VA_ARGS__)
#define OF(...)   BASE_MEMBER_THROUGH (Line, effect, StdEffect, __VA_ARGS__)
#define EFFECT_LINE                                                                                                           \
  LINE ("name", name, .title = "constant"), OF ("line", line, .title = "line", .positive = TRUE),                             \
      OF ("source", source, .title = "source", .rank = 1, .names = base_source_names), OF ("value", value, .title = "value"), \
      LINE ("less", less, BASE_SHOWN ("less (%)", 100, "%+.2f")), LINE ("more", more, BASE_SHOWN ("more (%)", 100, "%+.2f"))
static const BaseMember line_members[] = { EFFECT_LINE, OF ("note", note, .title = "where it comes from", .rank = 3),
                                           BASE_MEMBER_END };
static const BaseMember line_members_ranked[] = { EFFECT_LINE, LINE ("instead", instead, .title = "recommended instead"),
                                                  BASE_MEMBER_END };

/* "calibrate/defaults/kernels.yaml: tile" without its folders. Returned: full. */
static char *
short_name (const char *name)
{
  const char *colon = strchr (name, ':'), *from = name;
  for (const char *at = name; colon != NULL && at < colon; at++)
    from = *at == '/' ? at + 1 : from;
  return g_strdup (from);
}

/* Up to its layout, where that differs from `now`: "1 x hgx_h200, TP1 PP1 DP8". Returned: full; NULL where `choice` is. */
static char *
short_choice (const char *choice, const char *now)
{
  const char *end = choice != NULL ? strstr (choice, ", ZeRO-") : NULL;
  if (end == NULL || strncmp (choice, now, (size_t)(end - choice)) == 0)
    return g_strdup (choice);
  return g_strndup (choice, (size_t)(end - choice));
}

/* Returned: full; NULL: it stays the same. */
static char *
instead_of (const StdEffect *effect, const char *now)
{
  if (!std_effect_changes_first (effect))
    return NULL;
  g_autofree char *less = short_choice (effect->less_first, now), *more = short_choice (effect->more_first, now);
  return g_strdup_printf ("%s%s%s%s%s", less != NULL ? "less: " : "", less != NULL ? less : "",
                          less != NULL && more != NULL ? "; " : "", more != NULL ? "more: " : "", more != NULL ? more : "");
}

static BaseTable *
text_table (const StdSensitivity *sensitivity, double least)
{
  const BaseMember *shown = sensitivity->first != NULL ? line_members_ranked : line_members;
  BaseTable *table = base_members_table (shown, NULL);
  for (guint i = 0; i < sensitivity->effects->len; i++) {
    const StdEffect *effect = &g_array_index (sensitivity->effects, StdEffect, i);
    if (std_effect_reach (effect, sensitivity->answer_s) < least * sensitivity->answer_s && !std_effect_changes_first (effect))
      continue;
    const Line line = { effect, short_name (effect->name), instead_of (effect, sensitivity->first),
                        effect->less_s / sensitivity->answer_s - 1, effect->more_s / sensitivity->answer_s - 1 };
    base_members_add (table, shown, &line);
    g_free (line.name);
    g_free (line.instead);
  }
  return table;
}

/* The answer: which constant matters most, and whether the recommendation would change. */
static void
append_said (const StdSensitivity *sensitivity, GString *out)
{
  guint n_first = 0;
  for (guint i = 0; i < sensitivity->effects->len; i++)
    n_first += std_effect_changes_first (&g_array_index (sensitivity->effects, StdEffect, i)) ? 1u : 0u;
  if (sensitivity->effects->len == 0) {
    g_string_append (out, "\nSensitivity: no constant changes the result.\n");
    return;
  }
  const StdEffect *most = &g_array_index (sensitivity->effects, StdEffect, 0);
  g_autofree char *name = short_name (most->name);
  const BaseColumn asked = { .key = sensitivity->answer, .kind = BASE_CELL_NUMBER };
  g_autofree char *what = g_strdup (asked.key != NULL ? std_column_title (&asked) : "result");
  g_string_append_printf (out, "\nSensitivity: the %s depends most on %s", g_strdelimit (what, "_", ' '), name);
  const double ends[] = { most->less_s / sensitivity->answer_s - 1, most->more_s / sensitivity->answer_s - 1 };
  for (size_t k = 0; k < G_N_ELEMENTS (ends); k++)
    if (isfinite (ends[k]))
      g_string_append_printf (out, "%s%+.3g %% with %g %% %s of it", k == 0 || !isfinite (ends[0]) ? ": " : ", ", 100 * ends[k],
                              100 * sensitivity->by, k == 0 ? "less" : "more");
  g_string_append (out, ".\n");
  if (sensitivity->first != NULL && n_first > 0)
    g_string_append_printf (out, "%u constant%s alone would change the recommendation. Now it is %s.\n", n_first,
                            n_first == 1 ? "" : "s", sensitivity->first);
  else if (sensitivity->first != NULL)
    g_string_append_printf (out, "No constant alone changes the recommendation, %s.\n", sensitivity->first);
}

/* ---- where the order flips ---- */

#define LIMIT(...) BASE_MEMBER (StdLimit, __VA_ARGS__)
static const BaseMember limit_members[] = {
  LIMIT ("name", name, .title = "constant"),
  LIMIT ("line", line, .title = "line", .positive = TRUE),
  LIMIT ("now", value, .title = "now"),
  LIMIT ("limit", limit, .title = "stays first up to"),
  LIMIT ("change", change, BASE_SHOWN ("change (%)", 100, "%+.0f")),
  LIMIT ("then", then, .title = "then first"),
  BASE_MEMBER_END,
};

/* For text, with names without their folders and options without their layouts. */
static BaseTable *
limits_table (const StdSensitivity *sensitivity, gboolean text)
{
  BaseTable *table = base_members_table (limit_members, NULL);
  for (guint i = 0; i < sensitivity->limits->len; i++) {
    const StdLimit *limit = &g_array_index (sensitivity->limits, StdLimit, i);
    const char *layout = text ? strstr (limit->then, ", TP") : NULL;
    StdLimit line = *limit;
    line.name = text ? short_name (limit->name) : g_strdup (limit->name);
    line.limit = g_strconcat (text && limit->change < 0 ? "down to " : "", limit->limit, NULL);
    line.then = layout != NULL ? g_strndup (limit->then, (size_t)(layout - limit->then)) : g_strdup (limit->then);
    base_members_add (table, limit_members, &line);
    g_free (line.name);
    g_free (line.limit);
    g_free (line.then);
  }
  return table;
}

static void
append_limits (const StdSensitivity *sensitivity, GString *out)
{
  g_autoptr (BaseTable) table = limits_table (sensitivity, TRUE);
  if (sensitivity->n_solved == 0)
    return;
  if (sensitivity->limits->len == 0) {
    g_string_append_printf (out,
                            "\nNone of the %u most telling constants, from an eighth to eight times its value, brings another "
                            "option first.\n",
                            sensitivity->n_solved);
    return;
  }
  g_string_append_printf (out,
                          "\nThe recommended option stays first until one of the %u most telling constants passes its limit:\n",
                          sensitivity->n_solved);
  base_table_print_text (table, out);
}

void
rep_sensitivity_text (const StdSensitivity *sensitivity, GString *out)
{
  g_autoptr (BaseTable) table = text_table (sensitivity, REP_SENSITIVITY_LEAST);
  const guint shown = base_table_n_rows (table);
  append_said (sensitivity, out);
  if (shown > 0)
    base_table_print_text (table, out);
  g_string_append_printf (out, "# each constant alone %g %% less and more: %u of %u change the result (%u runs)\n",
                          sensitivity->by * 100, sensitivity->effects->len, sensitivity->n_tried, sensitivity->n_runs);
  if (shown < sensitivity->effects->len)
    g_string_append_printf (out, "# %u %schange it by less than %g %%\n", sensitivity->effects->len - shown,
                            shown > 0 ? "more " : "", REP_SENSITIVITY_LEAST * 100);
  append_limits (sensitivity, out);
}

void
rep_sensitivity_json (const StdSensitivity *sensitivity, JsonBuilder *json)
{
  json_builder_set_member_name (json, "sensitivity");
  json_builder_begin_object (json);
  if (sensitivity->answer != NULL)
    rep_json_text (json, "answer", sensitivity->answer);
  rep_json_number (json, "changed_by", sensitivity->by);
  rep_json_integer (json, "tried", sensitivity->n_tried);
  if (sensitivity->first != NULL)
    rep_json_text (json, "first", sensitivity->first);
  rep_json_table (json, "constants", rep_sensitivity_table (sensitivity, 0));
  if (sensitivity->first != NULL)
    rep_json_table (json, "limits", limits_table (sensitivity, FALSE));
  json_builder_end_object (json);
}
