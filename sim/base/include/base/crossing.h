/* Where a curve crosses zero: for questions that ask for an input by the answer that it shall give. */
#ifndef BASE_CROSSING_H
#define BASE_CROSSING_H

#include <glib.h>

/* The curve at x; FALSE and *error: it cannot be told there. */
typedef gboolean (*BaseCurve) (void *user, double x, double *y, GError **error);

/* Two places, both above 0, and the curve's values there, one of which is at most 0 and the other above. */
typedef struct {
  double a, at_a, b, at_b;
} BaseBracket;

/* An x inside the bracket where a continuous curve has its zero, to a relative `tolerance` of x. Takes secants through the ends of
 * the bracket, the end that stays weighed half (Dowell and Jarratt, BIT 11, 1971: "Illinois"), and the geometric middle where two
 * of them have not halved the bracket; a jump is found like a zero. FALSE and *error where the curve cannot be told. */
gboolean base_crossing (BaseCurve curve, void *user, BaseBracket bracket, double tolerance, double *x, GError **error);

/* The last of `n` places, 0 to n-1, where a curve that rises once from at most 0 to above is at most 0; -1: there is none, or none
 * can be told. Looks from the first place on in steps that double, then between: at most two questions for each doubling of the
 * answer, and one for each place that cannot be told, which is passed over. */
typedef gboolean (*BasePlaces) (void *user, guint place, double *y);
gint base_crossing_place (BasePlaces curve, void *user, guint n);

#endif
