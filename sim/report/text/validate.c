#include "report/validate.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"
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

/* "ok", "worse"; NULL where nothing is allowed or forbidden. */
static const char *
verdict_of (const RepScore *score)
{
  return isnan (score->median_limit) && isnan (score->p95_limit) ? NULL : rep_score_is_worse (score) ? "worse" : "ok";
}

BASE_MEMBER_WHEN (has_system, RepScore, it->system != NULL)
BASE_MEMBER_TEXT_OF (system_or_all, RepScore, it->system != NULL ? it->system : "all")
BASE_MEMBER_TEXT_OF (verdict, RepScore, verdict_of (it))

#define PERCENT(head) BASE_SHOWN (head, 100, "%.1f")
#define SCORE(...)    BASE_MEMBER (RepScore, __VA_ARGS__)
static const BaseMember score_members[] = {
  { .key = "system", .text = system_or_all, .title = "system" },
  SCORE ("nodes", nodes, .title = "nodes", .when = has_system),
  SCORE ("op", op, .title = "operation", .names = mdl_op_names, .when = has_system),
  SCORE ("algo", algo, .title = "algorithm", .names = mdl_algo_names, .when = has_system),
  SCORE ("proto", proto, .title = "protocol", .names = mdl_proto_names, .when = has_system),
  SCORE ("band", band, .title = "size", .names = mdl_size_names),
  SCORE ("points", n, .title = "points"),
  SCORE ("median", median, PERCENT ("median (%)")),
  SCORE ("p95", p95, PERCENT ("p95 (%)")),
  SCORE ("worst", worst, PERCENT ("worst (%)")),
  SCORE ("bias", bias, BASE_SHOWN ("bias (%)", 100, "%+.1f")),
  SCORE ("within", within, BASE_SHOWN ("in band (%)", 100, "%.0f")),
  SCORE ("median_limit", median_limit, BASE_SHOWN ("allowed (%)", 100, "%g")),
  SCORE ("p95_limit", p95_limit, BASE_SHOWN ("p95 allowed (%)", 100, "%g")),
  { .key = "verdict", .text = verdict, .title = "" },
  BASE_MEMBER_END,
};

void
rep_validate_text (const GArray *scores, GString *out)
{
  rep_text (base_members_table (score_members, scores), out);
}

void
rep_validate_tsv (const GArray *scores, GString *out)
{
  rep_tsv (base_members_table (score_members, scores), out);
}

void
rep_validate_json (const GArray *scores, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = base_members_table (score_members, scores);
  base_table_build_json (table, json);
}

#define POINT(...) BASE_MEMBER (RepPoint, __VA_ARGS__)
static const BaseMember point_members[] = {
  POINT ("system", system),
  POINT ("nodes", nodes),
  POINT ("ranks", ranks),
  POINT ("op", op, .names = mdl_op_names),
  POINT ("algo", algo, .names = mdl_algo_names),
  POINT ("proto", proto, .names = mdl_proto_names),
  POINT ("bytes", size_B),
  POINT ("measured_s", measured_s),
  POINT ("predicted_s", predicted_s),
  POINT ("predicted_lo_s", predicted_lo_s),
  POINT ("predicted_hi_s", predicted_hi_s),
  BASE_MEMBER_END,
};

void
rep_validate_points_tsv (const GArray *points, GString *out)
{
  rep_tsv (base_members_table (point_members, points), out);
}
