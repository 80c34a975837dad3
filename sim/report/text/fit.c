#include <math.h>
#include <string.h>

#include "fit-private.h"
#include "json-private.h"

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
score_table (const CalFitResult *result)
{
  BaseTable *table = base_table_new (score_columns);
  for (guint i = 0; i < result->scores->len; i++) {
    const CalFitScore *s = &g_array_index (result->scores, CalFitScore, i);
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
band_table (const CalFitResult *result)
{
  BaseTable *table = base_table_new (band_columns);
  for (int b = 0; b < MDL_SIZE_N; b++) {
    base_table_row (table);
    base_table_text (table, "size", base_name (mdl_size_names, b));
    base_table_number (table, "band", result->band[b]);
    base_table_number (table, "covered", result->covered[b]);
  }
  return table;
}

/* What is told before the tables: launches that were found, and how NCCL chose. */
static void
tell_choices (const CalFitResult *result, GString *out)
{
  g_autofree char *small = base_quantity_format (result->limits_B[0], BASE_DIM_BYTES, 4);
  for (guint i = 0; i < result->offsets->len; i++) {
    const CalFitOffset *o = &g_array_index (result->offsets, CalFitOffset, i);
    g_string_append_printf (out, "# launches of %s: %.3g us a call on top of graph replay (median of %u points below %s)\n",
                            o->system, o->time_s * 1e6, o->n, small);
  }
  if (result->n_choices > 0)
    g_string_append_printf (out, "# NCCL's choice: %u of %u as predicted\n", result->n_same, result->n_choices);
  for (guint i = 0; i < result->others->len; i++) {
    const CalFitChoice *c = &g_array_index (result->others, CalFitChoice, i);
    g_string_append_printf (out, "#   %s of %.0f B on %u GPUs: %s %s, not %s %s\n", base_name (mdl_op_names, (int)c->told.op),
                            c->told.size_B, c->told.gpus, base_name (mdl_algo_names, c->told.algo),
                            base_name (mdl_proto_names, c->told.proto), base_name (mdl_algo_names, c->algo),
                            base_name (mdl_proto_names, c->proto));
  }
}

void
rep_fit_text (const CalFitResult *result, GString *out)
{
  if (result->fit == NULL)
    return;
  tell_choices (result, out);
  g_string_append_printf (out, "# constants%s\n", result->all_fitted ? ", of all points" : "");
  rep_text (rep_fit_constants (result->fit->constants, ""), out);
  g_string_append_printf (out, "\n# error%s\n", result->all_fitted ? ", of a fit to the fitted part alone" : "");
  rep_text (score_table (result), out);
  g_string_append (out, "\n# band of answers, from half of what was held out\n");
  rep_text (band_table (result), out);
}

void
rep_fit_tsv (const CalFitResult *result, GString *out)
{
  if (result->fit != NULL)
    rep_tsv (rep_fit_constants (result->fit->constants, ""), out);
}

void
rep_fit_json (const CalFitResult *result, JsonBuilder *json)
{
  if (result->fit == NULL)
    return;
  rep_json_table (json, "constants", rep_fit_constants (result->fit->constants, ""));
  rep_json_table (json, "scores", score_table (result));
  rep_json_table (json, "bands", band_table (result));
}

/* ---- points ---- */

static const BaseColumn point_columns[] = {
  { "system", NULL, BASE_CELL_TEXT, 0, NULL },
  { "stage", NULL, BASE_CELL_TEXT, 0, NULL },
  { "part", NULL, BASE_CELL_TEXT, 0, NULL },
  { "op", NULL, BASE_CELL_TEXT, 0, NULL },
  { "algo", NULL, BASE_CELL_TEXT, 0, NULL },
  { "proto", NULL, BASE_CELL_TEXT, 0, NULL },
  { "launch", NULL, BASE_CELL_TEXT, 0, NULL },
  { "ranks", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "max_channels", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "bytes", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "measured_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "predicted_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "predicted_lo_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "predicted_hi_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "measured_busbw_Bps", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "predicted_busbw_Bps", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "nodes", NULL, BASE_CELL_INTEGER, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

GString *
rep_fit_points (const CalFitResult *result, const CalData *data)
{
  BaseTable *table = base_table_new (point_columns);
  for (guint i = 0; result->fit != NULL && i < result->points->len; i++) {
    const CalFitPoint *p = &g_array_index (result->points, CalFitPoint, i);
    if (result->stage[i] == NULL)
      continue;
    double predicted_s = result->predicted_s[i], wider = 1 + result->band[mdl_size_class (p->size_B, result->limits_B)];
    base_table_row (table);
    base_table_text (table, "system", cal_data_system (data, p->system)->name.v);
    base_table_text (table, "stage", result->stage[i]);
    base_table_text (table, "part", cal_use_titles[p->use]);
    base_table_text (table, "op", base_name (mdl_op_names, (int)p->op));
    base_table_text (table, "algo", base_name (mdl_algo_names, p->algo));
    base_table_text (table, "proto", base_name (mdl_proto_names, p->proto));
    base_table_text (table, "launch", base_name (mdl_launch_names, (int)p->launch));
    base_table_integer (table, "nodes", p->nodes);
    base_table_integer (table, "ranks", p->ranks);
    if (p->max_channels > 0)
      base_table_integer (table, "max_channels", p->max_channels);
    base_table_number (table, "bytes", p->size_B);
    base_table_number (table, "measured_s", p->measured_s);
    base_table_number (table, "predicted_s", predicted_s);
    base_table_number (table, "predicted_lo_s", predicted_s / wider);
    base_table_number (table, "predicted_hi_s", predicted_s * wider);
    double bus_B = p->size_B * mdl_op_busbw_factor (p->op, p->ranks);
    base_table_number (table, "measured_busbw_Bps", bus_B / p->measured_s);
    base_table_number (table, "predicted_busbw_Bps", bus_B / predicted_s);
  }
  GString *text = g_string_new (NULL);
  rep_tsv (table, text);
  return text;
}
