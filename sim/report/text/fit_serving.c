/* Constants of a serving engine that were fitted to runs, and the error on these runs before and after. */
#include <math.h>

#include "base/layout.h"
#include "base/stats.h"
#include "fit-private.h"
#include "json-private.h"

static const BaseColumn constant_columns[] = {
  { "constant", "constant", BASE_CELL_TEXT, 0, NULL, 0 }, { "before", "before", BASE_CELL_TEXT, 0, NULL, 0 },
  { "after", "after", BASE_CELL_TEXT, 0, NULL, 0 },       { "before_SI", NULL, BASE_CELL_NUMBER, 0, NULL, 0 },
  { "after_SI", NULL, BASE_CELL_NUMBER, 0, NULL, 0 },     { "half_width", "+- (%)", BASE_CELL_NUMBER, 100, "%.0f", 0 },
  { "verdict", "verdict", BASE_CELL_TEXT, 0, NULL, 0 },   { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static BaseTable *
constant_table (const CalServingFit *fit)
{
  BaseTable *table = base_table_new (constant_columns);
  for (guint i = 0; i < fit->constants->len; i++) {
    const CalServingConstant *c = &g_array_index (fit->constants, CalServingConstant, i);
    g_autofree char *before = base_quantity_format (c->before, c->dim, 4), *after = base_quantity_format (c->after, c->dim, 4);
    base_table_row (table);
    base_table_text (table, "constant", c->key);
    base_table_text (table, "before", before);
    base_table_text (table, "after", after);
    base_table_number (table, "before_SI", c->before);
    base_table_number (table, "after_SI", c->after);
    base_table_number (table, "half_width", c->fitted ? expm1 (1.96 * c->error) : (double)NAN);
    base_table_text (table, "verdict", c->fitted ? "fitted" : "the runs leave it open");
  }
  return table;
}

static const BaseColumn run_columns[] = {
  { "run", "run", BASE_CELL_TEXT, 0, NULL, 0 },
  { "ttft_s", "TTFT (ms)", BASE_CELL_NUMBER, 1e3, "%.4g", 0 },
  { "fitted_ttft_s", "fitted", BASE_CELL_NUMBER, 1e3, "%.4g", 0 },
  { "before_ttft_s", "before", BASE_CELL_NUMBER, 1e3, "%.4g", 1 },
  { "tpot_s", "TPOT (ms)", BASE_CELL_NUMBER, 1e3, "%.4g", 0 },
  { "fitted_tpot_s", "fitted", BASE_CELL_NUMBER, 1e3, "%.4g", 0 },
  { "before_tpot_s", "before", BASE_CELL_NUMBER, 1e3, "%.4g", 1 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static BaseTable *
run_table (const CalServingFit *fit)
{
  BaseTable *table = base_table_new (run_columns);
  for (guint i = 0; i < fit->points->len; i++) {
    const CalServingPoint *p = &g_array_index (fit->points, CalServingPoint, i);
    base_table_row (table);
    base_table_text (table, "run", p->run->place);
    base_table_number (table, "ttft_s", p->run->ttft_s);
    base_table_number (table, "fitted_ttft_s", p->ttft_s);
    base_table_number (table, "before_ttft_s", p->before_ttft_s);
    base_table_number (table, "tpot_s", p->run->tpot_s);
    base_table_number (table, "fitted_tpot_s", p->tpot_s);
    base_table_number (table, "before_tpot_s", p->before_tpot_s);
  }
  return table;
}

/* Median of |predicted / measured - 1|; NAN: not measured. */
static double
median_error (const CalServingFit *fit, gsize predicted, gsize measured)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < fit->points->len; i++) {
    const CalServingPoint *p = &g_array_index (fit->points, CalServingPoint, i);
    const double error = fabs (G_STRUCT_MEMBER (double, p, predicted) / G_STRUCT_MEMBER (double, p->run, measured) - 1);
    if (isfinite (error))
      g_array_append_val (errors, error);
  }
  return errors->len > 0 ? base_median ((double *)errors->data, errors->len) : (double)NAN;
}

static void
say_error (const CalServingFit *fit, const char *what, gsize before, gsize after, gsize measured, GString *out)
{
  const double was = median_error (fit, before, measured), now = median_error (fit, after, measured);
  if (isfinite (now))
    g_string_append_printf (out, " Median error of %s on these runs: %.1f %% before, %.1f %% after.", what, was * 100, now * 100);
}

#define AT(member)  offsetof (CalServingPoint, member)
#define RUN(member) offsetof (CalServingRun, member)

void
rep_serving_fit_text (const CalServingFit *fit, GString *out)
{
  guint fitted = 0;
  for (guint i = 0; i < fit->constants->len; i++)
    fitted += g_array_index (fit->constants, CalServingConstant, i).fitted ? 1 : 0;
  g_autoptr (GString) answer = g_string_new (NULL);
  g_string_append_printf (answer, "%u of %u constants of %s %s are fitted to %u runs.", fitted, fit->constants->len, fit->engine,
                          fit->version, fit->points->len);
  say_error (fit, "TPOT", AT (before_tpot_s), AT (tpot_s), RUN (tpot_s), answer);
  say_error (fit, "TTFT", AT (before_ttft_s), AT (ttft_s), RUN (ttft_s), answer);
  g_string_append_c (answer, '\n');
  base_text_wrap (answer, base_layout_width ());
  g_string_append (out, answer->str);
  g_string_append (out, "\n# constants, with 95 % intervals\n");
  rep_text (constant_table (fit), out);
  g_string_append (out, "\n# runs\n");
  rep_text (run_table (fit), out);
}

void
rep_serving_fit_tsv (const CalServingFit *fit, GString *out)
{
  rep_tsv (constant_table (fit), out);
}

void
rep_serving_fit_json (const CalServingFit *fit, JsonBuilder *json)
{
  json_builder_set_member_name (json, "engine");
  json_builder_add_string_value (json, fit->engine);
  json_builder_set_member_name (json, "version");
  json_builder_add_string_value (json, fit->version);
  rep_json_table (json, "constants", constant_table (fit));
  rep_json_table (json, "runs", run_table (fit));
}
