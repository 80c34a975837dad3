#include "base/crossing.h"

#include <math.h>

#define MOST_STEPS 200 /* a bisection from 1e-300 to 1e300 down to a double's last bit takes 64 */

gboolean
base_crossing (BaseCurve curve, void *user, BaseBracket bracket, double tolerance, double *x, GError **error)
{
  double a = bracket.a, at_a = bracket.at_a, b = bracket.b, at_b = bracket.at_b;
  g_return_val_if_fail (a > 0 && b > 0 && (at_a > 0) != (at_b > 0), FALSE);
  const double little = 1e-3 * tolerance * fmin (fabs (at_a), fabs (at_b)); /* as good as zero */
  double best = fabs (at_a) <= fabs (at_b) ? a : b, at_best = fmin (fabs (at_a), fabs (at_b));
  int stayed = 0, slow = 0; /* which end stayed last, -1 or 1; steps that have not halved the bracket */
  for (int step = 0; step < MOST_STEPS && fabs (b - a) > tolerance * fmin (a, b) && at_best > little; step++) {
    const double wide = fabs (log (b / a));
    double middle = (a * at_b - b * at_a) / (at_b - at_a), y;
    const double inside = (middle - a) / (b - a);
    if (slow > 1 || !(inside > 0 && inside < 1))
      middle = sqrt (a) * sqrt (b);
    if (!curve (user, middle, &y, error))
      return FALSE;
    if (fabs (y) <= at_best) {
      best = middle;
      at_best = fabs (y);
    }
    if ((y > 0) == (at_a > 0)) {
      a = middle;
      at_a = y;
      at_b *= stayed == 1 ? 0.5 : 1;
      stayed = 1;
    } else {
      b = middle;
      at_b = y;
      at_a *= stayed == -1 ? 0.5 : 1;
      stayed = -1;
    }
    slow = fabs (log (b / a)) > 0.5 * wide ? slow + 1 : 0;
  }
  /* where the curve jumps over zero no value is near it, and the bracket is what there is */
  *x = fabs (b - a) <= tolerance * fmin (a, b) ? sqrt (a) * sqrt (b) : best;
  return TRUE;
}

/* The first place from `at` on, below `end`, that can be told; `end`: none. */
static guint
next_told (BasePlaces curve, void *user, guint at, guint end, double *y)
{
  while (at < end && !curve (user, at, y))
    at++;
  return at;
}

gint
base_crossing_place (BasePlaces curve, void *user, guint n)
{
  double y = 0;
  guint low = next_told (curve, user, 0, n, &y), high = n;
  gboolean bracketed = FALSE; /* something above was met: early places are looked at first */
  if (low == n || y > 0)
    return -1;
  while (high - low > 1) { /* low is at most 0; from high on all are above, or cannot be told */
    guint middle = bracketed || low > (n - 1) / 2 ? low + (high - low) / 2 : MIN (2 * low + 1, high - 1);
    guint told = next_told (curve, user, middle, high, &y);
    if (told < high && y <= 0) {
      low = told;
      continue;
    }
    high = middle;
    bracketed = TRUE;
  }
  return (gint)low;
}
