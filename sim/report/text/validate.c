#include "report/validate.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "base/table.h"
#include "json-private.h"

/* The smallest of the values that a share of them does not exceed. `sorted` ascending. */
static double
ranked (const double *sorted, guint n, double share)
{
  double rank = ceil (share * n);
  return sorted[rank < 1 ? 0 : (guint)rank - 1];
}

void
rep_error_stats (double *size, guint n, double *median, double *p95, double *worst)
{
  *median = base_median (size, n);
  *p95 = ranked (size, n, 0.95);
  *worst = size[n - 1];
}

/* Fills the statistics of `score` from points[0..n-1]. */
static void
fill (RepScore *score, const RepPoint *const *points, guint n)
{
  g_autofree double *error = g_new (double, n), *size = g_new (double, n);
  guint n_within = 0;
  for (guint i = 0; i < n; i++) {
    error[i] = points[i]->predicted_s / points[i]->measured_s - 1;
    size[i] = fabs (error[i]);
    n_within += points[i]->measured_s >= points[i]->predicted_lo_s && points[i]->measured_s <= points[i]->predicted_hi_s;
  }
  rep_error_stats (size, n, &score->median, &score->p95, &score->worst);
  score->n = n;
  score->bias = base_median (error, n);
  score->within = (double)n_within / n;
  score->median_limit = score->p95_limit = (double)NAN;
}

static gint
compare_points (gconstpointer a, gconstpointer b, gpointer limits_B)
{
  const RepPoint *x = *(const RepPoint *const *)a, *y = *(const RepPoint *const *)b;
  const gint64 keys[][2] = {
    { x->order, y->order }, { x->nodes, y->nodes }, { x->op, y->op },
    { x->algo, y->algo },   { x->proto, y->proto }, { mdl_size_class (x->size_B, limits_B), mdl_size_class (y->size_B, limits_B) }
  };
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

static void
add_totals (const GArray *points, const double *limits_B, GArray *scores)
{
  for (int band = 0; band < MDL_SIZE_N; band++) {
    g_autoptr (GPtrArray) members = g_ptr_array_new ();
    for (guint i = 0; i < points->len; i++)
      if (mdl_size_class (g_array_index (points, RepPoint, i).size_B, limits_B) == (MdlSize)band)
        g_ptr_array_add (members, &g_array_index (points, RepPoint, i));
    if (members->len == 0)
      continue;
    RepScore score = { .order = G_MAXUINT, .op = MDL_OP_N, .band = (MdlSize)band };
    fill (&score, (const RepPoint *const *)members->pdata, members->len);
    g_array_append_val (scores, score);
  }
}

GArray *
rep_validate_score (const GArray *points, double small_to_B, double middle_to_B)
{
  double limits_B[2] = { small_to_B, middle_to_B };
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (guint i = 0; i < points->len; i++)
    g_ptr_array_add (sorted, &g_array_index (points, RepPoint, i));
  g_ptr_array_sort_with_data (sorted, compare_points, limits_B);
  GArray *scores = g_array_new (FALSE, FALSE, sizeof (RepScore));
  for (guint i = 0, end; i < sorted->len; i = end) {
    for (end = i + 1; end < sorted->len && compare_points (&sorted->pdata[i], &sorted->pdata[end], limits_B) == 0;)
      end++;
    const RepPoint *first = g_ptr_array_index (sorted, i);
    RepScore score = { .system = first->system,
                       .order = first->order,
                       .nodes = first->nodes,
                       .op = first->op,
                       .algo = first->algo,
                       .proto = first->proto,
                       .band = mdl_size_class (first->size_B, limits_B) };
    fill (&score, (const RepPoint *const *)&sorted->pdata[i], end - i);
    g_array_append_val (scores, score);
  }
  add_totals (points, limits_B, scores);
  return scores;
}

gboolean
rep_score_is_worse (const RepScore *score)
{
  return score->median > score->median_limit || score->p95 > score->p95_limit; /* no limit is NAN: never above it */
}

/* ---- printing ---- */

static const BaseColumn columns[] = {
  { "system", "system", BASE_CELL_TEXT, 0, NULL },
  { "nodes", "nodes", BASE_CELL_INTEGER, 0, NULL },
  { "op", "operation", BASE_CELL_TEXT, 0, NULL },
  { "algo", "algorithm", BASE_CELL_TEXT, 0, NULL },
  { "proto", "protocol", BASE_CELL_TEXT, 0, NULL },
  { "band", "size", BASE_CELL_TEXT, 0, NULL },
  { "points", "points", BASE_CELL_INTEGER, 0, NULL },
  { "median", "median (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "p95", "p95 (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "worst", "worst (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "bias", "bias (%)", BASE_CELL_NUMBER, 100, "%+.1f" },
  { "within", "in band (%)", BASE_CELL_NUMBER, 100, "%.0f" },
  { "median_limit", "allowed (%)", BASE_CELL_NUMBER, 100, "%g" },
  { "p95_limit", "p95 allowed (%)", BASE_CELL_NUMBER, 100, "%g" },
  { "verdict", "", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

/* "ok", "worse"; NULL where nothing is allowed or forbidden. */
static const char *
verdict_of (const RepScore *score)
{
  return isnan (score->median_limit) && isnan (score->p95_limit) ? NULL : rep_score_is_worse (score) ? "worse" : "ok";
}

static BaseTable *
table_of (const GArray *scores)
{
  BaseTable *table = base_table_new (columns);
  for (guint i = 0; i < scores->len; i++) {
    const RepScore *score = &g_array_index (scores, RepScore, i);
    base_table_row (table);
    base_table_text (table, "system", score->system != NULL ? score->system : "all");
    if (score->system != NULL) {
      base_table_integer (table, "nodes", score->nodes);
      base_table_text (table, "op", base_name (mdl_op_names, (int)score->op));
      base_table_text (table, "algo", base_name (mdl_algo_names, (int)score->algo));
      base_table_text (table, "proto", base_name (mdl_proto_names, (int)score->proto));
    }
    base_table_text (table, "band", base_name (mdl_size_names, (int)score->band));
    base_table_integer (table, "points", score->n);
    base_table_number (table, "median", score->median);
    base_table_number (table, "p95", score->p95);
    base_table_number (table, "worst", score->worst);
    base_table_number (table, "bias", score->bias);
    base_table_number (table, "within", score->within);
    base_table_number (table, "median_limit", score->median_limit);
    base_table_number (table, "p95_limit", score->p95_limit);
    base_table_text (table, "verdict", verdict_of (score));
  }
  return table;
}

void
rep_validate_text (const GArray *scores, GString *out)
{
  g_autoptr (BaseTable) table = table_of (scores);
  base_table_print_text (table, out);
}

void
rep_validate_tsv (const GArray *scores, GString *out)
{
  g_autoptr (BaseTable) table = table_of (scores);
  base_table_print_tsv (table, out);
}

void
rep_validate_json (const GArray *scores, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = table_of (scores);
  base_table_build_json (table, json);
}

void
rep_validate_points_tsv (const GArray *points, GString *out)
{
  static const BaseColumn point_columns[] = {
    { "system", NULL, BASE_CELL_TEXT, 0, NULL },
    { "nodes", NULL, BASE_CELL_INTEGER, 0, NULL },
    { "ranks", NULL, BASE_CELL_INTEGER, 0, NULL },
    { "op", NULL, BASE_CELL_TEXT, 0, NULL },
    { "algo", NULL, BASE_CELL_TEXT, 0, NULL },
    { "proto", NULL, BASE_CELL_TEXT, 0, NULL },
    { "bytes", NULL, BASE_CELL_INTEGER, 0, NULL },
    { "measured_s", NULL, BASE_CELL_NUMBER, 0, NULL },
    { "predicted_s", NULL, BASE_CELL_NUMBER, 0, NULL },
    { "predicted_lo_s", NULL, BASE_CELL_NUMBER, 0, NULL },
    { "predicted_hi_s", NULL, BASE_CELL_NUMBER, 0, NULL },
    { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
  };
  g_autoptr (BaseTable) table = base_table_new (point_columns);
  for (guint i = 0; i < points->len; i++) {
    const RepPoint *point = &g_array_index (points, RepPoint, i);
    base_table_row (table);
    base_table_text (table, "system", point->system);
    base_table_integer (table, "nodes", point->nodes);
    base_table_integer (table, "ranks", point->ranks);
    base_table_text (table, "op", base_name (mdl_op_names, (int)point->op));
    base_table_text (table, "algo", base_name (mdl_algo_names, (int)point->algo));
    base_table_text (table, "proto", base_name (mdl_proto_names, (int)point->proto));
    base_table_integer (table, "bytes", (gint64)point->size_B);
    base_table_number (table, "measured_s", point->measured_s);
    base_table_number (table, "predicted_s", point->predicted_s);
    base_table_number (table, "predicted_lo_s", point->predicted_lo_s);
    base_table_number (table, "predicted_hi_s", point->predicted_hi_s);
  }
  base_table_print_tsv (table, out);
}
