/* The front of a plan: configurations that no other one beats in time and in cost together. */
#include <math.h>

#include "plan-private.h"

#define ROW(rows, i) (&g_array_index (rows, PlnChoiceRow, i))

typedef struct {
  GArray *rows;
  gboolean again;
} Order;

/* Of all rows the closed form's answers are compared, again those that stand. */
static double
time_of (const PlnChoiceRow *row, gboolean again)
{
  return again ? row->run_s : row->formula_s;
}

static double
cost_of (const PlnChoiceRow *row, gboolean again)
{
  return again ? row->money.total_usd : row->formula_usd;
}

static gint
by_time_then_cost (gconstpointer a, gconstpointer b, gpointer user)
{
  const Order *order = user;
  guint i = *(const guint *)a, k = *(const guint *)b;
  double x = time_of (ROW (order->rows, i), order->again), y = time_of (ROW (order->rows, k), order->again);
  if (x < y || x > y)
    return x < y ? -1 : 1;
  x = cost_of (ROW (order->rows, i), order->again);
  y = cost_of (ROW (order->rows, k), order->again);
  if (x < y || x > y)
    return x < y ? -1 : 1;
  return i < k ? -1 : 1; /* of equal ones the first */
}

GArray *
pln_mark_front (const Pln *plan, GArray *rows, gboolean again)
{
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint));
  GArray *front = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < rows->len; i++) {
    gboolean asked = pln_tokens (plan) > 0 && ROW (rows, i)->way != PLN_ACQUISITION_NONE && !pln_is_partial (plan, ROW (rows, i)) &&
                     (!again || ROW (rows, i)->front || ROW (rows, i)->simulated);
    ROW (rows, i)->front = FALSE;
    if (asked)
      g_array_append_val (order, i);
  }
  Order by = { rows, again };
  g_array_sort_with_data (order, by_time_then_cost, &by);
  double least = (double)INFINITY;
  for (guint i = 0; i < order->len; i++) {
    guint row = g_array_index (order, guint, i);
    if (cost_of (ROW (rows, row), again) >= least)
      continue;
    least = cost_of (ROW (rows, row), again);
    ROW (rows, row)->front = TRUE;
    g_array_append_val (front, row);
  }
  return front;
}

void
pln_put_front_first (const Pln *plan, GArray *rows, gboolean again)
{
  g_autoptr (GArray) front = pln_mark_front (plan, rows, again);
  g_autoptr (GArray) sorted = g_array_sized_new (FALSE, FALSE, sizeof (PlnChoiceRow), rows->len);
  for (guint i = 0; i < front->len; i++)
    g_array_append_vals (sorted, ROW (rows, g_array_index (front, guint, i)), 1);
  for (guint i = 0; i < rows->len; i++)
    if (!ROW (rows, i)->front)
      g_array_append_vals (sorted, ROW (rows, i), 1);
  g_array_set_size (rows, 0);
  g_array_append_vals (rows, sorted->data, sorted->len);
}
