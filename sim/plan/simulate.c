/* A plan's second stage: the engine on the best few. What it says of one replaces the closed form's answer and is held against the
 * constraints again: one that misses them leaves, and the next is run in its place.
 * Of configurations that differ by their chunks alone one is run: twins say the same again. */
#include <string.h>

#include "work-private.h"

#define MOST_DROPPED 100u /* that are run in vain before the rest stands as the closed form has it */

#define ROW(rows, i) (&g_array_index (rows, PlnChoiceRow, i))

/* Takes out what the engine puts beyond a constraint; how many. */
static guint
drop (const Pln *plan, PlnResult *out)
{
  guint kept = 0, dropped;
  for (guint i = 0; i < out->rows->len; i++) {
    PlnChoiceRow row = *ROW (out->rows, i);
    double over;
    PlnRejection why = row.simulated ? pln_misses (plan, &row, &over) : PLN_REJECTED_N;
    if (why != PLN_REJECTED_N) {
      out->over[why] = out->out[why] == 0 ? over : MIN (out->over[why], over);
      out->out[why]++;
      out->dropped[why]++;
      continue;
    }
    *ROW (out->rows, kept++) = row;
  }
  dropped = out->rows->len - kept;
  out->n_met -= dropped;
  g_array_set_size (out->rows, kept);
  return dropped;
}

gboolean
pln_are_twins (const PlnChoiceRow *a, const PlnChoiceRow *b)
{
  TrnClosedQuery x = a->query, y = b->query;
  x.vp = y.vp;
  return a->machine == b->machine && memcmp (&x, &y, sizeof x) == 0;
}

/* Whether a row is like none that was run, which stand first, or will be. */
static gboolean
is_new (const GArray *rows, const GArray *picked, guint at, gboolean per_machine)
{
  const PlnChoiceRow *row = ROW (rows, at);
  guint n_run = 0;
  while (n_run < rows->len && ROW (rows, n_run)->simulated)
    n_run++;
  for (guint i = 0; i < n_run + picked->len; i++) {
    const PlnChoiceRow *other = ROW (rows, i < n_run ? i : g_array_index (picked, guint, i - n_run));
    if (per_machine ? other->machine == row->machine : pln_are_twins (other, row))
      return FALSE;
  }
  return TRUE;
}

/* At most `want` rows to run next, by rank; with `per_machine` the best of each machine that has none yet. Twins come last. */
static void
pick (const GArray *rows, guint want, gboolean per_machine, GArray *picked)
{
  for (guint i = 0; i < rows->len && picked->len < want; i++)
    if (!ROW (rows, i)->simulated && is_new (rows, picked, i, per_machine))
      g_array_append_val (picked, i);
  for (guint i = 0; i < rows->len && picked->len < want && !per_machine; i++) {
    gboolean known = ROW (rows, i)->simulated;
    for (guint k = 0; k < picked->len; k++)
      known = known || g_array_index (picked, guint, k) == i;
    if (!known)
      g_array_append_val (picked, i);
  }
}

/* Of the front, which stands first: both ends of those that were not run, and evenly between them. */
static void
pick_front (const GArray *rows, guint want, GArray *picked)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < rows->len && ROW (rows, i)->front; i++)
    if (!ROW (rows, i)->simulated)
      g_array_append_val (open, i);
  want = MIN (want, open->len);
  for (guint i = 0; i < want; i++) {
    guint at = want > 1 ? (guint)((guint64)i * (open->len - 1) / (want - 1)) : 0;
    g_array_append_val (picked, g_array_index (open, guint, at));
  }
}

/* Rows that were run before the others, each by rank; a front before all. */
static void
rank (const Pln *plan, GArray *rows)
{
  g_autoptr (GArray) run = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
  g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
  for (guint i = 0; i < rows->len; i++)
    g_array_append_vals (ROW (rows, i)->simulated ? run : rest, ROW (rows, i), 1);
  g_array_sort_with_data (run, pln_compare, (gpointer)plan); /* stable */
  g_array_set_size (rows, 0);
  g_array_append_vals (rows, run->data, run->len);
  g_array_append_vals (rows, rest->data, rest->len);
}

/* Marks the front anew, of what is there by now. */
static void
mark_front (const Pln *plan, GArray *rows)
{
  gboolean front = pln_aim (plan) == PLN_AIM_PARETO;
  g_array_unref (pln_mark_front (plan, rows, FALSE));
  if (front) {
    g_array_sort_with_data (rows, pln_compare, (gpointer)plan);
    pln_put_front_first (plan, rows, TRUE);
  } else
    g_array_unref (pln_mark_front (plan, rows, TRUE));
}

/* What has a price of a part alone stands behind all others, whatever the engine ran. */
static void
put_partial_last (const Pln *plan, GArray *rows)
{
  g_autoptr (GArray) partial = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
  guint kept = 0;
  for (guint i = 0; i < rows->len; i++) {
    const PlnChoiceRow row = *ROW (rows, i);
    if (pln_is_partial (plan, &row))
      g_array_append_val (partial, row);
    else
      *ROW (rows, kept++) = row;
  }
  g_array_set_size (rows, kept);
  g_array_append_vals (rows, partial->data, partial->len);
}

gboolean
pln_second_stage (PlnWork *work, const PlnQuery *query, PlnResult *out, GError **error)
{
  const Pln *plan = work->plan;
  gboolean front = pln_aim (plan) == PLN_AIM_PARETO;
  g_autoptr (GArray) picked = g_array_new (FALSE, FALSE, sizeof (guint));
  guint standing = 0, dropped = 0;
  mark_front (plan, out->rows);
  while (standing < query->best && dropped < query->best + MOST_DROPPED) {
    g_array_set_size (picked, 0);
    if (front)
      pick_front (out->rows, query->best - standing, picked);
    else
      pick (out->rows, query->best - standing, query->per_machine, picked);
    if (picked->len == 0)
      break;
    g_autofree PlnChoiceRow **asked = g_new (PlnChoiceRow *, picked->len);
    for (guint i = 0; i < picked->len; i++)
      asked[i] = ROW (out->rows, g_array_index (picked, guint, i));
    if (!pln_work_simulate (work, asked, picked->len, error))
      return FALSE;
    out->n_simulated += picked->len;
    standing += picked->len;
    guint gone = drop (plan, out);
    standing -= gone;
    dropped += gone;
    if (!front)
      rank (plan, out->rows);
    mark_front (plan, out->rows);
  }
  out->n_standing = standing;
  if (plan->mixed_prices)
    put_partial_last (plan, out->rows);
  return TRUE;
}
