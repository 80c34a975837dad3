/* What a fit of a calibration's sections found. */
#include <math.h>
#include <string.h>

#include "calibrate/validate.h"
#include "fit-private.h"
#include "json-private.h"

static const BaseColumn score_columns[] = {
  { "stage", "stage", BASE_CELL_TEXT, 0, NULL, 0 },
  { "part", "part", BASE_CELL_TEXT, 0, NULL, 0 },
  { "points", "points", BASE_CELL_INTEGER, 0, NULL, 0 },
  { "median", "median (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { "p95", "p95 (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { "worst", "worst (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { "worst_point", "worst point", BASE_CELL_TEXT, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static const char *
part_title (CalUse use)
{
  return use == CAL_USE_FIT ? "fitted" : use == CAL_USE_HELD_KIND ? cal_use_titles[use] : "held out";
}

/* A row for the points of `stage` (NULL: all) or `group` and of `use`, unless there are none. */
static void
add_score (const CalSectionFit *fit, const char *stage, const char *group, CalUse use, double *error, BaseTable *table)
{
  guint n = 0;
  const CalSectionPoint *worst = NULL;
  double most = -1, median, p95, largest;
  for (guint i = 0; i < fit->points->len; i++) {
    const CalSectionPoint *p = &g_array_index (fit->points, CalSectionPoint, i);
    if (p->use != use || (stage != NULL && strcmp (p->stage, stage) != 0) || !isfinite (fit->predicted[i]) ||
        (group != NULL && g_strcmp0 (p->group, group) != 0))
      continue;
    error[n] = fabs (fit->predicted[i] / p->measured - 1);
    if (error[n] > most) {
      most = error[n];
      worst = p;
    }
    n++;
  }
  if (n == 0)
    return;
  cal_error_stats (error, n, &median, &p95, &largest);
  base_table_row (table);
  base_table_text (table, "stage", group != NULL ? group : stage != NULL ? stage : "all");
  base_table_text (table, "part", part_title (use));
  base_table_integer (table, "points", n);
  base_table_number (table, "median", median);
  base_table_number (table, "p95", p95);
  base_table_number (table, "worst", largest);
  base_table_text (table, "worst_point", worst->what);
}

/* Names of groups, in the order of the points; borrowed from them. Returned: full. */
static GPtrArray *
list_groups (const CalSectionFit *fit)
{
  GPtrArray *groups = g_ptr_array_new ();
  for (guint i = 0; i < fit->points->len; i++) {
    const char *group = g_array_index (fit->points, CalSectionPoint, i).group;
    if (group != NULL && !g_ptr_array_find_with_equal_func (groups, group, g_str_equal, NULL))
      g_ptr_array_add (groups, (gpointer)group);
  }
  return groups;
}

static BaseTable *
score_table (const CalSectionFit *fit)
{
  BaseTable *table = base_table_new (score_columns);
  g_autofree double *error = g_new (double, MAX (fit->points->len, 1));
  for (guint s = 0; s <= fit->fit->stages->len; s++)
    for (unsigned use = 0; use < CAL_USE_N; use++)
      add_score (fit, s == 0 ? NULL : g_array_index (fit->fit->stages, CalFitStage, s - 1).name, NULL, (CalUse)use, error, table);
  g_autoptr (GPtrArray) groups = list_groups (fit);
  for (guint g = 0; g < groups->len; g++)
    for (unsigned use = 0; use < CAL_USE_N; use++)
      add_score (fit, NULL, groups->pdata[g], (CalUse)use, error, table);
  return table;
}

BASE_MEMBER_TEXT_OF (part, CalSectionPoint, part_title (it->use))

#define POINT(...) BASE_MEMBER (CalSectionPoint, __VA_ARGS__)
static const BaseMember point_members[] = {
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "section"),
  POINT ("stage", stage),
  POINT ("group", group),
  { .key = "part", .text = part },
  POINT ("point", what),
  POINT ("measured", measured),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "predicted"),
  BASE_MEMBER_END,
};

GString *
rep_fit_sections_points (const GPtrArray *sections)
{
  BaseTable *table = base_members_table (point_members, NULL);
  for (guint s = 0; s < sections->len; s++) {
    const CalSectionFit *fit = sections->pdata[s];
    for (guint i = 0; i < fit->points->len; i++) {
      base_members_add (table, point_members, &g_array_index (fit->points, CalSectionPoint, i));
      base_table_text (table, "section", fit->section->keys->name);
      base_table_number (table, "predicted", fit->predicted[i]);
    }
  }
  GString *text = g_string_new (NULL);
  rep_tsv (table, text);
  return text;
}

void
rep_fit_sections_text (const GPtrArray *sections, GString *out)
{
  for (guint i = 0; i < sections->len; i++) {
    const CalSectionFit *fit = sections->pdata[i];
    g_autofree char *prefix = g_strdup_printf ("%s.", fit->section->keys->name);
    g_autoptr (BaseTable) constants = rep_fit_constants (fit->fit->constants, prefix), scores = score_table (fit);
    g_string_append_printf (out, "%s# %s: constants\n", out->len > 0 ? "\n" : "", fit->section->keys->name);
    base_table_print_text (constants, out);
    g_string_append_printf (out, "\n# %s: error%s\n", fit->section->keys->name,
                            isfinite (fit->band) ? " of a fit without the held-out points" : "");
    base_table_print_text (scores, out);
    if (fit->n_left > 0)
      g_string_append_printf (out, "# %u point%s left out: failed, or with an interval wider than 5 %%\n", fit->n_left,
                              fit->n_left == 1 ? " is" : "s are");
    if (isfinite (fit->band))
      g_string_append_printf (out, "# error band %.1f %%, from half of the held-out points", 100 * fit->band);
    if (isfinite (fit->covered))
      g_string_append_printf (out, "; it contains %.0f %% of the other half", 100 * fit->covered);
    g_string_append (out, isfinite (fit->band) ? "\n" : "");
    for (guint k = 0; fit->notes != NULL && k < fit->notes->len; k++)
      g_string_append_printf (out, "# %s\n", (const char *)fit->notes->pdata[k]);
  }
}

void
rep_fit_sections_tsv (const GPtrArray *sections, GString *out)
{
  for (guint i = 0; i < sections->len; i++) {
    const CalSectionFit *fit = sections->pdata[i];
    g_autofree char *prefix = g_strdup_printf ("%s.", fit->section->keys->name);
    g_autoptr (BaseTable) constants = rep_fit_constants (fit->fit->constants, prefix);
    g_autoptr (GString) text = g_string_new (NULL);
    base_table_print_tsv (constants, text);
    const char *rows = strchr (text->str, '\n');
    g_string_append (out, out->len > 0 && rows != NULL ? rows + 1 : text->str); /* one header line */
  }
}

void
rep_fit_sections_json (const GPtrArray *sections, JsonBuilder *json)
{
  json_builder_begin_array (json);
  for (guint i = 0; i < sections->len; i++) {
    const CalSectionFit *fit = sections->pdata[i];
    json_builder_begin_object (json);
    rep_json_text (json, "section", fit->section->keys->name);
    rep_json_table (json, "constants", rep_fit_constants (fit->fit->constants, ""));
    rep_json_table (json, "scores", score_table (fit));
    rep_json_number (json, "band", fit->band);
    rep_json_number (json, "covered", fit->covered);
    json_builder_set_member_name (json, "notes");
    json_builder_begin_array (json);
    for (guint k = 0; fit->notes != NULL && k < fit->notes->len; k++)
      json_builder_add_string_value (json, fit->notes->pdata[k]);
    json_builder_end_array (json);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}
