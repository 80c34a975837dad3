/* Rows of the scoreboard. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "calibrate/validate.h"

/* The smallest of the values that a share of them does not exceed. `sorted` ascending. */
static double
ranked (const double *sorted, guint n, double share)
{
  double rank = ceil (share * n);
  return sorted[rank < 1 ? 0 : (guint)rank - 1];
}

void
cal_error_stats (double *size, guint n, double *median, double *p95, double *worst)
{
  *median = base_median (size, n);
  *p95 = ranked (size, n, 0.95);
  *worst = size[n - 1];
}

static gboolean
is_within (const CalPrediction *point)
{
  return point->measured_s >= point->predicted_lo_s && point->measured_s <= point->predicted_hi_s;
}

/* Fills the statistics of `score` from points[0..n-1]. */
static void
fill (CalScore *score, const CalPrediction *const *points, guint n)
{
  g_autofree double *error = g_new (double, n), *size = g_new (double, n);
  guint n_within = 0;
  for (guint i = 0; i < n; i++) {
    error[i] = points[i]->predicted_s / points[i]->measured_s - 1;
    size[i] = fabs (error[i]);
    n_within += is_within (points[i]) ? 1 : 0;
  }
  cal_error_stats (size, n, &score->median, &score->p95, &score->worst);
  score->n = n;
  score->bias = base_median (error, n);
  score->within = (double)n_within / n;
  score->median_limit = score->p95_limit = (double)NAN;
}

static gint
compare_points (gconstpointer a, gconstpointer b, gpointer limits_B)
{
  const CalPrediction *x = *(const CalPrediction *const *)a, *y = *(const CalPrediction *const *)b;
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
      if (mdl_size_class (g_array_index (points, CalPrediction, i).size_B, limits_B) == (MdlSize)band)
        g_ptr_array_add (members, &g_array_index (points, CalPrediction, i));
    if (members->len == 0)
      continue;
    CalScore score = { .order = G_MAXUINT, .op = MDL_OP_N, .band = (MdlSize)band };
    fill (&score, (const CalPrediction *const *)members->pdata, members->len);
    g_array_append_val (scores, score);
  }
}

GArray *
cal_score (const GArray *points, double small_to_B, double middle_to_B)
{
  double limits_B[2] = { small_to_B, middle_to_B };
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (guint i = 0; i < points->len; i++)
    g_ptr_array_add (sorted, &g_array_index (points, CalPrediction, i));
  g_ptr_array_sort_with_data (sorted, compare_points, limits_B);
  GArray *scores = g_array_new (FALSE, FALSE, sizeof (CalScore));
  for (guint i = 0, end; i < sorted->len; i = end) {
    for (end = i + 1; end < sorted->len && compare_points (&sorted->pdata[i], &sorted->pdata[end], limits_B) == 0;)
      end++;
    const CalPrediction *first = g_ptr_array_index (sorted, i);
    CalScore score = { .system = first->system,
                       .order = first->order,
                       .nodes = first->nodes,
                       .op = first->op,
                       .algo = first->algo,
                       .proto = first->proto,
                       .band = mdl_size_class (first->size_B, limits_B) };
    fill (&score, (const CalPrediction *const *)&sorted->pdata[i], end - i);
    g_array_append_val (scores, score);
  }
  add_totals (points, limits_B, scores);
  return scores;
}

/* ---- by network ---- */

static gint
compare_fabrics (gconstpointer a, gconstpointer b)
{
  const CalPrediction *x = *(const CalPrediction *const *)a, *y = *(const CalPrediction *const *)b;
  int by_name = strcmp (x->fabric, y->fabric);
  return by_name != 0         ? by_name
         : x->role != y->role ? (x->role < y->role ? -1 : 1)
                              : (int)(x->order > y->order) - (x->order < y->order);
}

/* points[0..n-1]: of one network and role, those of a system together. */
static CalFabricScore
score_fabric (const CalPrediction *const *points, guint n)
{
  g_autofree double *error = g_new (double, n), *size = g_new (double, n);
  CalFabricScore score = {
    .fabric = points[0]->fabric, .role = points[0]->role, .n = n, .min_nodes = points[0]->nodes, .max_nodes = points[0]->nodes
  };
  guint n_within = 0;
  for (guint i = 0; i < n; i++) {
    error[i] = points[i]->predicted_s / points[i]->measured_s - 1;
    size[i] = fabs (error[i]);
    n_within += is_within (points[i]) ? 1 : 0;
    score.systems += i == 0 || points[i]->order != points[i - 1]->order;
    score.min_nodes = MIN (score.min_nodes, points[i]->nodes);
    score.max_nodes = MAX (score.max_nodes, points[i]->nodes);
  }
  double p95;
  cal_error_stats (size, n, &score.median, &p95, &score.worst);
  score.p90 = ranked (size, n, 0.90);
  score.bias = base_median (error, n);
  score.within = (double)n_within / n;
  return score;
}

GArray *
cal_score_fabrics (const GArray *points)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (guint i = 0; i < points->len; i++) {
    CalPrediction *point = &g_array_index (points, CalPrediction, i);
    if (point->fabric != NULL)
      g_ptr_array_add (sorted, point);
  }
  g_ptr_array_sort (sorted, compare_fabrics);
  GArray *scores = g_array_new (FALSE, FALSE, sizeof (CalFabricScore));
  for (guint i = 0, end; i < sorted->len; i = end) {
    const CalPrediction *first = g_ptr_array_index (sorted, i), *next;
    for (end = i + 1; end < sorted->len; end++) {
      next = g_ptr_array_index (sorted, end);
      if (next->fabric != first->fabric || next->role != first->role)
        break;
    }
    CalFabricScore score = score_fabric ((const CalPrediction *const *)&sorted->pdata[i], end - i);
    g_array_append_val (scores, score);
  }
  return scores;
}

gboolean
cal_score_is_worse (const CalScore *score)
{
  return score->median > score->median_limit || score->p95 > score->p95_limit; /* no limit is NAN: never above it */
}
