/* Where curves cross zero. */
#include <math.h>

#include "base/crossing.h"
#include "base/error.h"
#include "harness.h"

typedef struct {
  double (*at) (double x);
  double refused_above; /* x from which the curve cannot be told */
  guint asked;
} Curve;

static gboolean
query (void *user, double x, double *y, GError **error)
{
  Curve *curve = user;
  curve->asked++;
  if (x > curve->refused_above) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_RUN, "not beyond %g", curve->refused_above);
    return FALSE;
  }
  *y = curve->at (x);
  return TRUE;
}

static double
cross (Curve *curve, double a, double b, double tolerance)
{
  double x = 0;
  g_autoptr (GError) error = NULL;
  TEST_TRUE (base_crossing (query, curve, (BaseBracket){ a, curve->at (a), b, curve->at (b) }, tolerance, &x, &error));
  return x;
}

static double
straight (double x)
{
  return 3 * x - 6;
}

/* What communication over computing is by the time a byte takes: 0.1 is the part that the network does not move. */
static double
over_compute (double x)
{
  return 0.1 + x / 50 - 1;
}

static double
falling (double x)
{
  return 1 / x - 0.125;
}

static double
steep (double x)
{
  return pow (x, 9) - 1;
}

static double
jump (double x)
{
  return x < 7 ? -0.2 : 5;
}

static double
flat_then_up (double x)
{
  return x < 100 ? -0.07 : x / 100 - 1.07;
}

static void
a_straight_line_is_hit_in_one_question (void)
{
  Curve curve = { straight, HUGE_VAL, 0 };
  TEST_NEAR (cross (&curve, 1e-3, 1e6, 1e-6), 2, 1e-6);
  TEST_INT (curve.asked, 1);
  curve = (Curve){ over_compute, HUGE_VAL, 0 };
  TEST_NEAR (cross (&curve, 1e-5, 1e5, 1e-6), 45, 1e-6);
  TEST_INT (curve.asked, 1);
}

static void
ends_may_come_in_either_order (void)
{
  Curve curve = { falling, HUGE_VAL, 0 };
  TEST_NEAR (cross (&curve, 1, 100, 1e-6), 8, 1e-6);
  TEST_NEAR (cross (&curve, 100, 1, 1e-6), 8, 1e-6);
}

static void
curves_that_are_nowhere_straight_take_few_questions (void)
{
  Curve curve = { steep, HUGE_VAL, 0 };
  TEST_NEAR (cross (&curve, 1e-3, 1e3, 1e-6), 1, 1e-6);
  TEST_TRUE (curve.asked < 60);
  curve = (Curve){ flat_then_up, HUGE_VAL, 0 };
  TEST_NEAR (cross (&curve, 1e-3, 1e6, 1e-6), 107, 1e-6);
  TEST_TRUE (curve.asked < 60);
}

static void
a_jump_over_zero_is_found_where_it_is (void)
{
  Curve curve = { jump, HUGE_VAL, 0 };
  TEST_NEAR (cross (&curve, 1, 1e5, 1e-6), 7, 1e-5);
}

static void
a_curve_that_cannot_be_told_says_why (void)
{
  Curve curve = { steep, 0.5, 0 };
  double x = -1;
  g_autoptr (GError) error = NULL;
  TEST_FALSE (base_crossing (query, &curve, (BaseBracket){ 1e-3, -1, 1e3, 1 }, 1e-6, &x, &error));
  TEST_TRUE (error != NULL);
  TEST_NEAR (x, -1, 0);
}

/* ---- places ---- */

typedef struct {
  guint last, asked; /* the last place at most 0 */
  guint holes;       /* every so many-th place cannot be told; 0: all can */
} Places;

static gboolean
place (void *user, guint at, double *y)
{
  Places *places = user;
  places->asked++;
  if (places->holes > 0 && at % places->holes != 0)
    return FALSE;
  *y = at <= places->last ? -1 : 1;
  return TRUE;
}

static void
the_last_place_below_is_found (void)
{
  for (guint n = 1; n < 70; n++)
    for (guint last = 0; last < n; last++) {
      Places places = { last, 0, 0 };
      TEST_INT (base_crossing_place (place, &places, n), last);
      TEST_TRUE (places.asked <= 14);
    }
}

static void
places_that_cannot_be_told_are_passed_over (void)
{
  Places places = { 20, 0, 6 }; /* 0, 6, 12, 18 are below */
  TEST_INT (base_crossing_place (place, &places, 64), 18);
  places = (Places){ 63, 0, 6 };
  TEST_INT (base_crossing_place (place, &places, 64), 60);
}

static void
an_early_place_is_found_without_asking_for_late_ones (void)
{
  Places places = { 2, 0, 0 };
  TEST_INT (base_crossing_place (place, &places, 1000000), 2);
  TEST_TRUE (places.asked <= 6);
}

static gboolean
above (void *user, guint at, double *y)
{
  (void)user;
  (void)at;
  *y = 1;
  return TRUE;
}

static gboolean
untold (void *user, guint at, double *y)
{
  (void)user;
  (void)at;
  (void)y;
  return FALSE;
}

static void
no_place_below_is_none (void)
{
  TEST_INT (base_crossing_place (above, NULL, 10), -1);
  TEST_INT (base_crossing_place (untold, NULL, 10), -1);
  TEST_INT (base_crossing_place (above, NULL, 0), -1);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a straight line is hit in one question", a_straight_line_is_hit_in_one_question },
    { "ends may come in either order", ends_may_come_in_either_order },
    { "curves that are nowhere straight take few questions", curves_that_are_nowhere_straight_take_few_questions },
    { "a jump over zero is found where it is", a_jump_over_zero_is_found_where_it_is },
    { "a curve that cannot be told says why", a_curve_that_cannot_be_told_says_why },
    { "the last place below is found", the_last_place_below_is_found },
    { "an early place is found without asking for late ones", an_early_place_is_found_without_asking_for_late_ones },
    { "places that cannot be told are passed over", places_that_cannot_be_told_are_passed_over },
    { "no place below is none", no_place_below_is_none },
    { NULL, NULL },
  };
  return test_main ("crossings", cases);
}
