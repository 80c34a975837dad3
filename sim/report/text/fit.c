#include <math.h>
#include <string.h>

#include "fit-private.h"
#include "json-private.h"

/* ---- tables ---- */

BASE_MEMBER_WHEN (is_known, CalFitConstant, it->half_width < 1 && it->verdict != CAL_TOO_FAR)
BASE_MEMBER_TEXT_OF (verdict, CalFitConstant, cal_verdict_names[it->verdict])

#define CONSTANT(...) BASE_MEMBER (CalFitConstant, __VA_ARGS__)
static const BaseMember constant_members[] = {
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "constant", .title = "constant"),
  CONSTANT ("stage", stage, .title = "fitted in stage"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "before", .title = "before"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "after", .title = "after"),
  CONSTANT ("before_SI", before),
  CONSTANT ("after_SI", after),
  CONSTANT ("half_width", half_width, BASE_SHOWN ("+- (%)", 100, "%.1f"), .rank = 1, .when = is_known),
  CONSTANT ("points", n_points, .title = "points", .rank = 2),
  { .key = "verdict", .text = verdict, .title = "verdict" },
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "reason", .title = "reason", .rank = 3),
  BASE_MEMBER_END,
};

/* Why a constant is not known; what else does as well in its place. */
static const char *
reason_of (const CalFitConstant *c)
{
  static const char *const why[] = {
    NULL, "no row loads it", "the rows leave it open", "the end of what is accepted", "the rows want far more or less of it", NULL,
    NULL
  };
  return c->verdict == CAL_ALIKE ? c->alike : why[c->verdict];
}

BaseTable *
rep_fit_constants (const GArray *constants, const char *prefix)
{
  BaseTable *table = base_members_table (constant_members, NULL);
  for (guint i = 0; i < constants->len; i++) {
    const CalFitConstant *c = &g_array_index (constants, CalFitConstant, i);
    g_autofree char *path = c->section != NULL ? g_strconcat (c->section, ".", c->path, NULL) : g_strconcat (prefix, c->path, NULL);
    g_autofree char *before = base_quantity_format (c->before, c->dim, 4), *after = base_quantity_format (c->after, c->dim, 4);
    base_members_add (table, constant_members, c);
    base_table_text (table, "constant", path);
    base_table_text (table, "before", before);
    base_table_text (table, "after", after);
    base_table_text (table, "reason", reason_of (c));
  }
  return table;
}

BASE_MEMBER_TEXT_OF (stage_or_all, CalFitScore, it->stage != NULL ? it->stage : "all")
BASE_MEMBER_TEXT_OF (score_part, CalFitScore, cal_use_titles[it->use])
BASE_MEMBER_TEXT_OF (size, CalFitScore, it->band == MDL_SIZE_N ? "all" : base_name (mdl_size_names, it->band))

#define PERCENT(head) BASE_SHOWN (head, 100, "%.1f")
#define SCORE(...)    BASE_MEMBER (CalFitScore, __VA_ARGS__)
static const BaseMember score_members[] = {
  { .key = "stage", .text = stage_or_all, .title = "stage" },
  { .key = "part", .text = score_part, .title = "part" },
  { .key = "size", .text = size, .title = "size" },
  SCORE ("points", n, .title = "points", .rank = 2),
  SCORE ("median", median, PERCENT ("median (%)")),
  SCORE ("p95", p95, PERCENT ("p95 (%)")),
  SCORE ("worst", worst, PERCENT ("worst (%)")),
  BASE_MEMBER_END,
};

static const BaseColumn band_columns[] = {
  { "size", "size", BASE_CELL_TEXT, 0, NULL, 0 },
  { "band", "90 % band (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { "covered", "other held-out points inside (%)", BASE_CELL_NUMBER, 100, "%.0f", 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
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

BASE_MEMBER_TEXT_OF (tested_size, CalFitTested, base_name (mdl_size_names, it->band))

#define TESTED(...) BASE_MEMBER (CalFitTested, __VA_ARGS__)
static const BaseMember tested_members[] = {
  TESTED ("op", op, .names = mdl_op_names, .title = "op"),
  TESTED ("algo", algo, .names = mdl_algo_names, .title = "algorithm"),
  { .key = "size", .text = tested_size, .title = "size" },
  TESTED ("nodes", nodes, .title = "nodes, at most"),
  TESTED ("gpus", gpus, .title = "GPUs per node"),
  TESTED ("points", n, .title = "held-out points"),
  TESTED ("error", error, BASE_SHOWN ("90 % band (%)", 100, "%.1f")),
  BASE_MEMBER_END,
};

/* Before the tables: launch times found, and how NCCL chose. */
static void
tell_choices (const CalFitResult *result, GString *out)
{
  g_autofree char *small = base_quantity_format (result->limits_B[0], BASE_DIM_BYTES, 4);
  for (guint i = 0; i < result->offsets->len; i++) {
    const CalFitOffset *o = &g_array_index (result->offsets, CalFitOffset, i);
    g_string_append_printf (out, "# launches of %s: %.3g us a call on top of graph replay ", o->system, o->time_s * 1e6);
    if (o->network)
      g_string_append_printf (out, "(fitted with the network, to %u points)\n", o->n);
    else
      g_string_append_printf (out, "(median of %u points below %s)\n", o->n, small);
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

/* How many constants were fitted, and how wrong the fit is on what was held out. */
static void
fit_answer (const CalFitResult *result, GString *out)
{
  const GArray *constants = result->fit->constants;
  guint fitted = 0, agree = 0, alike = 0;
  for (guint i = 0; i < constants->len; i++) {
    const CalFitConstant *c = &g_array_index (constants, CalFitConstant, i);
    fitted += c->verdict == CAL_FITTED;
    agree += c->verdict == CAL_AGREES;
    alike += c->verdict == CAL_ALIKE;
  }
  g_string_append_printf (out, "%u of %u constants are fitted.", fitted, constants->len);
  if (agree > 0)
    g_string_append_printf (out, " The rows agree with %u more.", agree);
  if (alike > 0)
    g_string_append_printf (out, " They cannot tell %u apart.", alike);
  for (guint i = 0; i < result->scores->len; i++) {
    const CalFitScore *score = &g_array_index (result->scores, CalFitScore, i);
    if (score->stage == NULL && score->band == MDL_SIZE_N)
      g_string_append_printf (out, " Error on %u points (%s): median %.1f %%, 95th percentile %.1f %%.", score->n,
                              cal_use_titles[score->use], score->median * 100, score->p95 * 100);
  }
  g_string_append (out, "\n\n");
}

void
rep_fit_text (const CalFitResult *result, GString *out)
{
  if (result->fit == NULL)
    return;
  fit_answer (result, out);
  tell_choices (result, out);
  g_string_append_printf (out, "# constants%s\n", result->all_fitted ? ", of all points" : "");
  rep_text (rep_fit_constants (result->fit->constants, ""), out);
  g_string_append_printf (out, "\n# error%s\n", result->all_fitted ? ", of a fit to the fitted part alone" : "");
  rep_text (base_members_table (score_members, result->scores), out);
  if (result->tested->len > 0) {
    g_string_append (out, "\n# bands that held-out points verify; what is not here keeps the band of the calibration below\n");
    rep_text (base_members_table (tested_members, result->tested), out);
  }
  gboolean any = FALSE;
  for (int b = 0; b < MDL_SIZE_N; b++)
    any = any || isfinite (result->band[b]);
  if (!any)
    return;
  g_string_append (out, "\n# error band of predictions within a node, from half of the held-out points\n");
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
  rep_json_table (json, "scores", base_members_table (score_members, result->scores));
  rep_json_table (json, "bands", band_table (result));
  rep_json_table (json, "tested", base_members_table (tested_members, result->tested));
}

/* ---- points ---- */

static double
bus_B (const CalFitPoint *p)
{
  return p->size_B * mdl_op_busbw_factor (p->op, p->ranks);
}

/* A point with its prediction. */
typedef struct {
  const CalFitPoint *point;
  const char *system, *stage;
  double predicted_s, band; /* band: relative half-width */
} Predicted;

BASE_MEMBER_TEXT_OF (point_part, Predicted, cal_use_titles[it->point->use])
BASE_MEMBER_NUMBER_OF (lo_s, Predicted, it->predicted_s / (1 + it->band))
BASE_MEMBER_NUMBER_OF (hi_s, Predicted, it->predicted_s *(1 + it->band))
BASE_MEMBER_NUMBER_OF (measured_Bps, Predicted, bus_B (it->point) / it->point->measured_s)
BASE_MEMBER_NUMBER_OF (predicted_Bps, Predicted, bus_B (it->point) / it->predicted_s)

#define PREDICTED(...) BASE_MEMBER (Predicted, __VA_ARGS__)
#define POINT(...)     BASE_MEMBER_THROUGH (Predicted, point, CalFitPoint, __VA_ARGS__)
static const BaseMember point_members[] = {
  PREDICTED ("system", system),
  PREDICTED ("stage", stage),
  { .key = "part", .text = point_part },
  POINT ("op", op, .names = mdl_op_names),
  POINT ("algo", algo, .names = mdl_algo_names),
  POINT ("proto", proto, .names = mdl_proto_names),
  POINT ("launch", launch, .names = mdl_launch_names),
  POINT ("ranks", ranks),
  POINT ("max_channels", max_channels, .positive = TRUE),
  POINT ("bytes", size_B),
  POINT ("measured_s", measured_s),
  PREDICTED ("predicted_s", predicted_s),
  { .key = "predicted_lo_s", .number = lo_s },
  { .key = "predicted_hi_s", .number = hi_s },
  { .key = "measured_busbw_Bps", .number = measured_Bps },
  { .key = "predicted_busbw_Bps", .number = predicted_Bps },
  POINT ("nodes", nodes),
  BASE_MEMBER_END,
};

GString *
rep_fit_points (const CalFitResult *result, const CalData *data)
{
  BaseTable *table = base_members_table (point_members, NULL);
  for (guint i = 0; result->fit != NULL && i < result->points->len; i++) {
    const CalFitPoint *p = &g_array_index (result->points, CalFitPoint, i);
    const Predicted row = { p, cal_data_system (data, p->system)->name.v, result->stage[i], result->predicted_s[i],
                            result->band[mdl_size_class (p->size_B, result->limits_B)] };
    if (row.stage != NULL)
      base_members_add (table, point_members, &row);
  }
  GString *text = g_string_new (NULL);
  rep_tsv (table, text);
  return text;
}
