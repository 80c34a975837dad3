/* Where the order of a plan flips: the price at which another cluster option becomes the best, or the recommended one breaks a
 * constraint. The recommended option and the best of each other one are priced again at each price that is tried: the price is
 * doubled by quarters until the order changes, and halved likewise; then the root is bisected.
 * Left out: options that no constraint lets in at today's prices, and other layouts. Check: test_plan_odds. */
#include <math.h>
#include <string.h>

#include "plan-private.h"

#define MOST_RIVALS 32u
#define STEP        1.4142135623730951
#define STEPS       12 /* up to 64 times as much, down to a 64th */
#define HALVINGS    26

#define ROW(rows, i) (&g_array_index (rows, PlnChoiceRow, i))

typedef struct {
  const Pln *plan;
  const PlnPriceLeaf *leaf;
  GArray *rows;     /* PlnChoiceRow: the first and its rivals, then the same as the closed form has them */
  guint n, at;      /* rivals with the first; found by margin(): the row that leads, 0 if the first breaks a constraint: */
  PlnRejection why; /* this one */
} Search;

/* By how much the first leads at so many times the price, in its logarithm; negative: it does not lead. Two rows are compared as
 * the engine has them if it ran both, else as the closed form has them. */
static double
margin (Search *s, double factor)
{
  g_autoptr (GArray) rows = g_array_copy (s->rows);
  g_autofree PlnRejection *missed = g_new (PlnRejection, rows->len);
  pln_at_price (s->plan, s->leaf, factor, rows, missed);
  double least = (double)INFINITY;
  s->at = 0;
  s->why = missed[0];
  if (missed[0] != PLN_REJECTED_N)
    return -1;
  for (guint i = 1; i < s->n; i++) {
    gboolean run = ROW (rows, i)->simulated && ROW (rows, 0)->simulated;
    guint from = run ? 0 : s->n;
    double more = log (pln_least (s->plan, ROW (rows, from + i)) / pln_least (s->plan, ROW (rows, from)));
    if (missed[i] != PLN_REJECTED_N || !(more < least))
      continue;
    least = more;
    s->at = i;
  }
  return least;
}

/* Fractions are at most 1, and what is a plain number (PUE) at least 1. */
static gboolean
may_be (const PlnPriceLeaf *leaf, double factor)
{
  return (leaf->dim != BASE_DIM_RATIO || leaf->num->v * factor <= 1) &&
         (leaf->dim != BASE_DIM_NUMBER || leaf->num->v * factor >= 1);
}

/* The price at which the order flips, up or down, as a factor; 0: none within reach. */
static double
solve (Search *s, double step)
{
  double before = 1, after = 1;
  for (int k = 0; k < STEPS; k++) {
    after = before * step;
    if (!may_be (s->leaf, after))
      return 0;
    if (margin (s, after) < 0)
      break;
    before = after;
  }
  if (!(before < after) && !(before > after))
    return 0;
  for (int i = 0; i < HALVINGS; i++) {
    double middle = sqrt (before * after);
    if (margin (s, middle) < 0)
      after = middle;
    else
      before = middle;
  }
  (void)margin (s, after);
  return after;
}

/* As the closed form has it. */
static PlnChoiceRow
as_estimated (const PlnChoiceRow *row)
{
  PlnChoiceRow out = *row;
  if (row->simulated && row->run_s > 0)
    out.step_time_s *= row->formula_s / row->run_s;
  return out;
}

/* Whether the price is part of what any of them costs. */
static gboolean
matters (Search *s)
{
  g_autoptr (GArray) rows = g_array_copy (s->rows);
  gboolean moved = FALSE;
  pln_at_price (s->plan, s->leaf, 2, rows, NULL);
  for (guint i = 0; i < rows->len && !moved; i++)
    moved = fabs (ROW (rows, i)->money.total_usd / ROW (s->rows, i)->money.total_usd - 1) > 1e-12;
  return moved;
}

static gint
nearest_first (gconstpointer a, gconstpointer b)
{
  const PlnFlip *x = a, *y = b;
  double dx = fabs (log (x->limit / x->value)), dy = fabs (log (y->limit / y->value));
  return dx < dy ? -1 : dx > dy ? 1 : strcmp (x->path, y->path);
}

static void
flip_clear (gpointer data)
{
  PlnFlip *flip = data;
  g_free (flip->path);
  g_free (flip->of);
}

/* The first row and its rivals twice, as they are and estimated; `number`: their numbers among the result's rows. */
static GArray *
take_rows (const PlnResult *result, GArray *number)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
  for (guint i = 0; result->rows->len > 0 && i < MIN (result->rivals->len, MOST_RIVALS) + 1; i++) {
    guint at = i == 0 ? 0 : g_array_index (result->rivals, PlnAlternative, i - 1).row;
    g_array_append_vals (rows, ROW (result->rows, at), 1);
    g_array_append_val (number, at);
  }
  for (guint i = 0; i < number->len; i++) {
    const PlnChoiceRow estimated = as_estimated (ROW (rows, i));
    g_array_append_val (rows, estimated);
  }
  return rows;
}

GArray *
pln_flips (const Pln *plan, const PlnResult *result)
{
  GArray *flips = g_array_new (FALSE, FALSE, sizeof (PlnFlip));
  g_array_set_clear_func (flips, flip_clear);
  g_autoptr (GArray) leaves = pln_price_leaves (plan);
  g_autoptr (GArray) number = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) rows = take_rows (result, number);
  Search s = { .plan = plan, .rows = rows, .n = number->len };
  for (guint i = 0; i < leaves->len && s.n > 1 && pln_tokens (plan) > 0; i++) {
    s.leaf = &g_array_index (leaves, PlnPriceLeaf, i);
    if (!matters (&s) || margin (&s, 1) < 0)
      continue;
    for (int down = 0; down < 2; down++) {
      double factor = solve (&s, down == 1 ? 1 / STEP : STEP);
      if (!(factor > 0))
        continue;
      const PlnFlip flip = { .path = g_strdup (s.leaf->path),
                             .key = s.leaf->key,
                             .of = g_strdup (s.leaf->of),
                             .dim = s.leaf->dim,
                             .value = s.leaf->num->v,
                             .limit = s.leaf->num->v * factor,
                             .row = g_array_index (number, guint, s.at),
                             .why = s.why };
      g_array_append_val (flips, flip);
    }
  }
  g_array_sort (flips, nearest_first);
  return flips;
}
