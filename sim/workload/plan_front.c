/* The front of a plan: configurations that no other one beats in time and in cost together. */
#include "plan-private.h"

#define ROW(rows, i) (&g_array_index (rows, WrkChoiceRow, i))

static gint
by_time_then_cost (gconstpointer a, gconstpointer b, gpointer rows)
{
  guint i = *(const guint *)a, k = *(const guint *)b;
  const WrkChoiceRow *x = ROW ((GArray *)rows, i), *y = ROW ((GArray *)rows, k);
  if (x->run_s < y->run_s || x->run_s > y->run_s)
    return x->run_s < y->run_s ? -1 : 1;
  if (x->money.total_usd < y->money.total_usd || x->money.total_usd > y->money.total_usd)
    return x->money.total_usd < y->money.total_usd ? -1 : 1;
  return i < k ? -1 : 1; /* of equal ones the first */
}

GArray *
wrk_plan_mark_front (const WrkPlan *plan, GArray *rows, gboolean again)
{
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint));
  GArray *front = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < rows->len; i++) {
    gboolean asked = wrk_plan_tokens (plan) > 0 && ROW (rows, i)->way != WRK_WAY_NONE &&
                     (!again || ROW (rows, i)->front || ROW (rows, i)->simulated);
    ROW (rows, i)->front = FALSE;
    if (asked)
      g_array_append_val (order, i);
  }
  g_array_sort_with_data (order, by_time_then_cost, rows);
  for (guint i = 0; i < order->len; i++) {
    guint row = g_array_index (order, guint, i);
    if (front->len == 0 ||
        ROW (rows, row)->money.total_usd < ROW (rows, g_array_index (front, guint, front->len - 1))->money.total_usd) {
      ROW (rows, row)->front = TRUE;
      g_array_append_val (front, row);
    }
  }
  return front;
}

void
wrk_plan_put_front_first (const WrkPlan *plan, GArray *rows, gboolean again)
{
  g_autoptr (GArray) front = wrk_plan_mark_front (plan, rows, again);
  g_autoptr (GArray) sorted = g_array_sized_new (FALSE, FALSE, sizeof (WrkChoiceRow), rows->len);
  for (guint i = 0; i < front->len; i++)
    g_array_append_vals (sorted, ROW (rows, g_array_index (front, guint, i)), 1);
  for (guint i = 0; i < rows->len; i++)
    if (!ROW (rows, i)->front)
      g_array_append_vals (sorted, ROW (rows, i), 1);
  g_array_set_size (rows, 0);
  g_array_append_vals (rows, sorted->data, sorted->len);
}

guint64
wrk_plan_reach_front (GArray *rows)
{
  guint n_front = 0;
  guint64 n = 0;
  while (n_front < rows->len && ROW (rows, n_front)->front)
    n_front++;
  for (guint i = 0; i < rows->len; i++) {
    WrkChoiceRow *row = ROW (rows, i);
    double least = row->step_time_lo_s / row->step_time_s;
    gboolean beaten = FALSE;
    for (guint k = 0; k < n_front && !beaten; k++) {
      const WrkChoiceRow *front = ROW (rows, k);
      double most = front->step_time_hi_s / front->step_time_s;
      beaten = front->run_s * most < row->run_s * least && front->money.total_usd * most < row->money.total_usd * least;
    }
    row->alike = !beaten;
    n += row->alike ? 1u : 0u;
  }
  return n;
}
