#include <math.h>
#include <string.h>

#include "fit-private.h"
#include "json-private.h"

/* ---- scores ---- */

GArray *
rep_fit_score (const CalFit *fit, const GArray *points, const int *stage, const double *predicted_s, const double limits_B[2])
{
  GArray *scores = g_array_new (FALSE, FALSE, sizeof (RepFitScore));
  g_autofree double *error = g_new (double, MAX (points->len, 1));
  for (int s = -1; s < (int)fit->stages->len; s++)
    for (unsigned use = 0; use < CAL_USE_N; use++)
      for (int band = 0; band <= MDL_SIZE_N; band++) {
        guint n = 0;
        for (guint i = 0; i < points->len; i++) {
          const CalFitPoint *p = &g_array_index (points, CalFitPoint, i);
          if (p->use == use && (s < 0 ? stage[i] >= 0 : stage[i] == s) && isfinite (predicted_s[i]) &&
              (band == MDL_SIZE_N || (int)mdl_size_class (p->size_B, limits_B) == band))
            error[n++] = fabs (predicted_s[i] / p->measured_s - 1);
        }
        if (n == 0)
          continue;
        RepFitScore score = {
          .stage = s < 0 ? NULL : g_array_index (fit->stages, CalFitStage, s).name, .use = (CalUse)use, .band = band, .n = n
        };
        rep_error_stats (error, n, &score.median, &score.p95, &score.worst);
        g_array_append_val (scores, score);
      }
  return scores;
}

/* ---- tables ---- */

static const BaseColumn constant_columns[] = {
  { "constant", "constant", BASE_CELL_TEXT, 0, NULL },       { "stage", "told by", BASE_CELL_TEXT, 0, NULL },
  { "before", "before", BASE_CELL_TEXT, 0, NULL },           { "after", "after", BASE_CELL_TEXT, 0, NULL },
  { "before_SI", NULL, BASE_CELL_NUMBER, 0, NULL },          { "after_SI", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "half_width", "+- (%)", BASE_CELL_NUMBER, 100, "%.1f" }, { "points", "points", BASE_CELL_INTEGER, 0, NULL },
  { "verdict", "verdict", BASE_CELL_TEXT, 0, NULL },         { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

BaseTable *
rep_fit_constants (const GArray *constants, const char *prefix)
{
  BaseTable *table = base_table_new (constant_columns);
  for (guint i = 0; i < constants->len; i++) {
    const CalFitConstant *c = &g_array_index (constants, CalFitConstant, i);
    g_autofree char *path = g_strconcat (prefix, c->path, NULL);
    g_autofree char *before = base_quantity_format (c->before, c->dim, 4), *after = base_quantity_format (c->after, c->dim, 4);
    base_table_row (table);
    base_table_text (table, "constant", path);
    base_table_text (table, "stage", c->stage);
    base_table_text (table, "before", before);
    base_table_text (table, "after", after);
    base_table_number (table, "before_SI", c->before);
    base_table_number (table, "after_SI", c->after);
    base_table_number (table, "half_width", c->verdict == CAL_FITTED ? c->half_width : (double)NAN);
    base_table_integer (table, "points", c->n_points);
    base_table_text (table, "verdict", cal_verdict_names[c->verdict]);
  }
  return table;
}

static const BaseColumn score_columns[] = {
  { "stage", "stage", BASE_CELL_TEXT, 0, NULL },
  { "part", "part", BASE_CELL_TEXT, 0, NULL },
  { "size", "size", BASE_CELL_TEXT, 0, NULL },
  { "points", "points", BASE_CELL_INTEGER, 0, NULL },
  { "median", "median (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "p95", "p95 (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "worst", "worst (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
score_table (const RepFit *report)
{
  BaseTable *table = base_table_new (score_columns);
  for (guint i = 0; i < report->scores->len; i++) {
    const RepFitScore *s = &g_array_index (report->scores, RepFitScore, i);
    base_table_row (table);
    base_table_text (table, "stage", s->stage != NULL ? s->stage : "all");
    base_table_text (table, "part", cal_use_titles[s->use]);
    base_table_text (table, "size", s->band == MDL_SIZE_N ? "all" : base_name (mdl_size_names, s->band));
    base_table_integer (table, "points", s->n);
    base_table_number (table, "median", s->median);
    base_table_number (table, "p95", s->p95);
    base_table_number (table, "worst", s->worst);
  }
  return table;
}

static const BaseColumn band_columns[] = {
  { "size", "size", BASE_CELL_TEXT, 0, NULL },
  { "band", "90 % band (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "covered", "of other held-out points in it (%)", BASE_CELL_NUMBER, 100, "%.0f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
band_table (const RepFit *report)
{
  BaseTable *table = base_table_new (band_columns);
  for (int b = 0; b < MDL_SIZE_N; b++) {
    base_table_row (table);
    base_table_text (table, "size", base_name (mdl_size_names, b));
    base_table_number (table, "band", report->band[b]);
    base_table_number (table, "covered", report->covered[b]);
  }
  return table;
}

void
rep_fit_text (const RepFit *report, GString *out)
{
  g_string_append_printf (out, "# constants%s\n", report->all_fitted ? ", of all points" : "");
  rep_text (rep_fit_constants (report->fit->constants, ""), out);
  g_string_append_printf (out, "\n# error%s\n", report->all_fitted ? ", of a fit to the fitted part alone" : "");
  rep_text (score_table (report), out);
  g_string_append (out, "\n# band of answers, from half of what was held out\n");
  rep_text (band_table (report), out);
}

void
rep_fit_tsv (const RepFit *report, GString *out)
{
  rep_tsv (rep_fit_constants (report->fit->constants, ""), out);
}

void
rep_fit_json (const RepFit *report, JsonBuilder *json)
{
  rep_json_table (json, "constants", rep_fit_constants (report->fit->constants, ""));
  rep_json_table (json, "scores", score_table (report));
  rep_json_table (json, "bands", band_table (report));
}
