/* How likely answers of plans are: deadlines, what rests on no measurement, errors of prices, and where the order flips. */
#include <math.h>
#include <string.h>

#include "plan-private.h"
#include "plan_fixture.h"

#define DAY_S          86400.0
#define ROW(result, i) (&g_array_index ((result)->rows, PlnChoiceRow, i))

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
  static const char *const sets[] = { "goal.deadline={days: 50, confidence: 95 %}", "failures=none",
                                      "goal.capex=", "goal.run_cost=", NULL };
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

static void
steps_that_were_never_measured_widen_the_odds (void)
{
  /* of MI300X nothing was measured: 95 % of what the ratio may be is within 112 %, and 90 % of its own time within 88 % at least */
  static const char *const sets[] = { "choices={topology: [hgx_h100, mi300x], nodes: [1]}", "objective=time",
                                      "goal.capex=", "goal.run_cost=", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult *result = search (small.plan, 1, 0);
  g_autofree char *h100 = pln_not_validated (small.plan, 0), *mi300x = pln_not_validated (small.plan, 1);
  TEST_STR (h100, NULL);
  TEST_STR (mi300x, "kernels, collectives and training steps");
  TEST_INT (result->rivals->len, 1);
  const PlnAlternative *rival = &g_array_index (result->rivals, PlnAlternative, 0);
  TEST_INT (rival->similarity, PLN_SIMILARITY_NOT_VALIDATED);
  TEST_NEAR ((1 + rival->more_hi) / (1 + rival->more), 2.12, 1e-9);
  TEST_TRUE (rival->odds > PLN_DISTINGUISH_ODDS);
  for (guint i = 0; i < result->rows->len; i++) {
    const PlnChoiceRow *row = ROW (result, i);
    TEST_TRUE ((row->step_time_hi_s > 1.87 * row->step_time_s) == (row->machine == 1));
  }
  pln_result_free (result);
}

/* By its price Gaudi 3 costs a third of H100, and nothing was measured there: that this is wrong has a chance of one in twenty. */
static void
what_was_never_measured_does_not_win_beyond_doubt (void)
{
  static const char *const sets[] = { "choices={topology: [hgx_h100, gaudi3], nodes: [1]}",
                                      "objective=cost",
                                      "goal.capex=",
                                      "goal.run_cost=",
                                      "prices=" TEST_SOURCE_DIR "/scenarios/prices/us_2026.yaml",
                                      NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult *result = search (small.plan, 1, 0);
  const PlnAlternative *h100 = &g_array_index (result->rivals, PlnAlternative, 0);
  TEST_INT (ROW (result, 0)->machine, 1);
  TEST_TRUE (h100->more > 1 && h100->more_lo < 0);
  TEST_NEAR (h100->odds, 0.05, 1e-9);
  TEST_TRUE (ROW (result, h100->row)->alike);
  TEST_TRUE (pln_steps_were_measured (small.plan, 0) && !pln_steps_were_measured (small.plan, 1));
  pln_result_free (result);
}

/* Two nodes that differ by their price: $302,600 and $342,600; all else is in both. */
static const char *const priced[] = { "choices={topology: [hgx_h100, hgx_h200], nodes: [1]}",
                                      "objective=cost",
                                      "goal.capex=",
                                      "goal.run_cost=",
                                      "prices=" TEST_SOURCE_DIR "/scenarios/prices/us_2026.yaml",
                                      NULL };

static void
errors_of_prices_enter_the_odds (void)
{
  static const char *const by_time[] = { "choices={topology: [hgx_h100, hgx_h200], nodes: [1]}", "objective=time",
                                         "goal.capex=", "goal.run_cost=", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) money = load_small (lookup, priced);
  g_auto (Loaded) time = load_small (lookup, by_time);
  PlnResult *by_money = search (money.plan, 1, 0), *fast = search (time.plan, 1, 0);
  const PlnAlternative *dear = &g_array_index (by_money->rivals, PlnAlternative, 0),
                       *slow = &g_array_index (fast->rivals, PlnAlternative, 0);
  TEST_NEAR ((1 + slow->more_hi) / (1 + slow->more), 1.216, 1e-9); /* no price decides about time */
  TEST_TRUE ((1 + dear->more_hi) / (1 + dear->more) > 1.23);
  /* not by more than if the whole cost were two prices of their own, of 10 % and 25 % */
  double most = hypot (log (1.216), 1.96 / 1.645 * hypot (log (1.1), log (1.25)));
  TEST_TRUE (log ((1 + dear->more_hi) / (1 + dear->more)) < most + 1e-9);
  pln_result_free (by_money);
  pln_result_free (fast);
}

static void
flips_are_roots_of_the_ranking (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, priced);
  PlnResult *result = search (small.plan, 1, 0);
  g_autoptr (GArray) flips = pln_flips (small.plan, result), leaves = pln_price_leaves (small.plan);
  guint roots = 0;
  for (guint i = 0; i < flips->len; i++) {
    const PlnFlip *flip = &g_array_index (flips, PlnFlip, i);
    for (guint k = 0; k < leaves->len && flip->row > 0; k++) {
      const PlnPriceLeaf *leaf = &g_array_index (leaves, PlnPriceLeaf, k);
      if (strcmp (leaf->path, flip->path) != 0)
        continue;
      g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
      g_array_append_vals (rows, ROW (result, 0), 1);
      g_array_append_vals (rows, ROW (result, flip->row), 1);
      pln_at_price (small.plan, leaf, flip->limit / flip->value, rows, NULL);
      const PlnChoiceRow *first = &g_array_index (rows, PlnChoiceRow, 0), *other = &g_array_index (rows, PlnChoiceRow, 1);
      TEST_NEAR (other->money.total_usd / first->money.total_usd, 1, 1e-6);
      roots++;
    }
  }
  TEST_TRUE (roots >= 2); /* either node's price is enough */
  pln_result_free (result);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a run keeps a limit with a chance", a_run_keeps_a_limit_with_a_chance },
    { "a deadline with confidence constrains", a_deadline_with_confidence_constrains },
    { "a deadline that contradicts itself is refused", a_deadline_that_contradicts_itself_is_refused },
    { "steps that were never measured widen the odds", steps_that_were_never_measured_widen_the_odds },
    { "what was never measured does not win beyond doubt", what_was_never_measured_does_not_win_beyond_doubt },
    { "errors of prices enter the odds", errors_of_prices_enter_the_odds },
    { "flips are roots of the ranking", flips_are_roots_of_the_ranking },
    { NULL, NULL },
  };
  return test_main ("a plan's odds", cases);
}
