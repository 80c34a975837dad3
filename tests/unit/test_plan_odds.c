/* How likely answers of plans are: deadlines, what rests on no measurement, errors of prices, and where the order flips. */
#include <math.h>
#include <string.h>

#include "plan-private.h"
#include "plan_fixture.h"

#define DAY_S 86400.0

static PlnChoiceRow
of_days (double days)
{
  return (PlnChoiceRow){ .step_time_s = 1, .step_time_lo_s = 0.8, .step_time_hi_s = 1.3, .run_s = days * DAY_S };
}

static void
a_run_keeps_a_limit_with_a_chance (void)
{
  /* the band of 90 % is 1.3 above: 95 % of runs end before 1.3 times the time, and half of them in time; 5 % before 0.8 times */
  const PlnChoiceRow row = of_days (40), exact = { .step_time_s = 1, .step_time_lo_s = 1, .step_time_hi_s = 1, .run_s = DAY_S };
  TEST_NEAR (pln_chance_within (&row, 40 * DAY_S), 0.5, 1e-12);
  TEST_NEAR (pln_chance_within (&row, 1.3 * 40 * DAY_S), 0.95, 1e-9);
  TEST_NEAR (pln_chance_within (&row, 0.8 * 40 * DAY_S), 0.05, 1e-9);
  TEST_NEAR (pln_chance_within (&exact, 2 * DAY_S), 1, 0);
  TEST_NEAR (pln_chance_within (&exact, 0.5 * DAY_S), 0, 0);
}

static void
a_deadline_with_confidence_constrains (void)
{
  static const char *const sets[] = { "goal.deadline={days: 50, confidence: 95 %}", "goal.budget=", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnChoiceRow in_time = of_days (38), late = of_days (39);
  double over, confidence;
  TEST_NEAR (pln_deadline_s (small.plan, &confidence), 50 * DAY_S, 1e-9);
  TEST_NEAR (confidence, 0.95, 1e-12);
  TEST_NEAR (pln_sure_s (small.plan, &late), 39 * 1.3 * DAY_S, 1e-9);
  in_time.way = late.way = PLN_ACQUISITION_BUY;
  TEST_INT (pln_misses (small.plan, &in_time, &over), PLN_REJECTED_N);
  TEST_INT (pln_misses (small.plan, &late, &over), PLN_REJECTED_DEADLINE);
  TEST_NEAR (over, 39 * 1.3 / 50 - 1, 1e-9);
}

static void
a_deadline_that_contradicts_itself_is_refused (void)
{
  static const struct {
    const char *set, *said;
  } bad[] = {
    { "goal.deadline={days: 46, time: 2 days}", "'time' and 'days' are both the deadline; write one of them" },
    { "goal.deadline={confidence: 90 %}", "'deadline' has no time; write its days" },
    { "goal.deadline={days: 46, confidence: 0}", "'confidence' must be above 0 % and below 100 %, found 0 %" },
    { "goal.deadline={days: 46, confidence: 100 %}", "'confidence' must be above 0 % and below 100 %, found 100 %" },
    { "goal.deadline={days: 46, confidence: 120 %}", "'confidence' must be at most 1" },
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    const char *const sets[] = { bad[i].set, NULL };
    g_autoptr (GError) error = NULL;
    g_auto (Loaded) loaded = try_small (lookup, sets, &error);
    TEST_TRUE (loaded.plan == NULL && error != NULL);
    TEST_TRUE (error != NULL && strstr (error->message, bad[i].said) != NULL);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a run keeps a limit with a chance", a_run_keeps_a_limit_with_a_chance },
    { "a deadline with confidence constrains", a_deadline_with_confidence_constrains },
    { "a deadline that contradicts itself is refused", a_deadline_that_contradicts_itself_is_refused },
    { NULL, NULL },
  };
  return test_main ("a plan's odds", cases);
}
