/* Failures and checkpoints as closed forms: numbers that can be checked by hand. */
#include <math.h>

#include "harness.h"
#include "models/failure.h"

static void
a_rate_is_units_over_the_mean_time_of_one (void)
{
  const MdlJobSize size = { .gpus = 64, .nodes = 8, .nics = 16 };
  MdlFailureRow row = { .every = { .v = 1600, .set = TRUE }, .nodes = { .v = 3 } };
  static const double units[] = { 64, 8, 16, 3, 1 }; /* 8 nodes need 3 switches of 3 */
  for (int of = 0; of < MDL_UNIT_N; of++) {
    row.of.v = of;
    TEST_NEAR (mdl_failure_rate_per_s (&row, NULL, &size), units[of] / 1600, 1e-15);
  }
}

static void
a_count_scales_with_units_and_not_with_days (void)
{
  /* Llama 3: 148 of 16,384 GPUs in 54 days; 1,024 GPUs have a sixteenth of that: one in 54 x 24 x 16 / 148 = 140.1 h */
  const MdlObserved observed = { .gpus = { .v = 16384 }, .time = { .v = 54 * 86400.0 } };
  const MdlFailureRow row = { .of = { .v = MDL_UNIT_GPU }, .count = { .v = 148, .set = TRUE } };
  const MdlJobSize size = { .gpus = 1024 };
  TEST_NEAR (1 / mdl_failure_rate_per_s (&row, &observed, &size) / 3600, 140.108, 1e-3);
}

static void
no_count_is_no_failure (void)
{
  const MdlObserved observed = { .gpus = { .v = 16384 }, .time = { .v = 54 * 86400.0 } };
  const MdlJobSize size = { .gpus = 1024 };
  const MdlFailureRow nothing = { .of = { .v = MDL_UNIT_GPU } }, none = { .of = { .v = MDL_UNIT_GPU }, .count = { .set = TRUE } };
  TEST_NEAR (mdl_failure_rate_per_s (&nothing, &observed, &size), 0, 0);
  TEST_NEAR (mdl_failure_rate_per_s (&none, &observed, &size), 0, 0);
}

/* A stall of 20 s, a failure in 10,000 s: sqrt (2 x 20 x 10000) = 632.456; Daly x (1 + 1/3 sqrt (.001) + .001 / 9) - 20 =
 * 619.193. */
static void
young_and_daly_by_hand (void)
{
  TEST_NEAR (mdl_young_s (20, 10000), 632.4555, 1e-4);
  TEST_NEAR (mdl_daly_s (20, 10000), 632.45553 * (1 + 0.0105409 + 0.000111111) - 20, 1e-3);
  TEST_NEAR (mdl_daly_s (400, 100), 100, 0); /* a stall of more than two failures: Daly's other branch */
}

/* W = 990 s, S = 10 s, M = 10,000 s, recovery 100 s: .099 exp (-.01) / (exp (.1) - 1) = .098015 / .105171 = .931958 */
static void
goodput_by_hand (void)
{
  const MdlGoodputTerms terms = { .stop_per_s = 1e-4, .alive = exp (-0.01), .stall_s = 10, .pace = 1 };
  TEST_NEAR (mdl_goodput (&terms, 990), 0.931958, 1e-6);
  /* the same from Daly's complete expression for the time of Ts = 1 */
  const double m = 10000, time = m * exp (100 / m) * (exp ((990 + 10) / m) - 1) / 990;
  TEST_NEAR (mdl_goodput (&terms, 990), 1 / time, 1e-12);
}

static void
without_failures_only_checkpoints_cost (void)
{
  MdlGoodputTerms terms = { .alive = 1, .stall_s = 10, .pace = 1 };
  TEST_NEAR (mdl_goodput (&terms, 90), 0.9, 1e-12);
  TEST_TRUE (isinf (mdl_goodput_best_s (&terms)));
  terms.drain_s = 190; /* the next checkpoint waits for this one: 90 of 200 s */
  TEST_NEAR (mdl_goodput (&terms, 90), 0.45, 1e-12);
}

static void
a_drain_loses_what_a_failure_catches_in_it (void)
{
  /* exp (-500 / 10000) of the goodput without one */
  MdlGoodputTerms terms = { .stop_per_s = 1e-4, .alive = 1, .stall_s = 10, .pace = 1 };
  double without = mdl_goodput (&terms, 990);
  terms.drain_s = 500;
  TEST_NEAR (mdl_goodput (&terms, 990) / without, exp (-0.05), 1e-12);
}

/* A drain of 400 s, 100 s of work: checkpoints begin 400 + 10 s apart, but the first 300 s sooner: .01 exp (-.01) / (exp (.041) -
 * 1) */
static void
the_first_checkpoint_waits_for_none (void)
{
  const MdlGoodputTerms terms = { .stop_per_s = 1e-4, .alive = 1, .stall_s = 10, .drain_s = 400, .pace = 1 };
  TEST_NEAR (mdl_goodput (&terms, 100), 0.0099005 / 0.0418521, 1e-5);
}

/* (1 - u) exp (u) = exp (-s): at s = 0.001, u = sqrt (2 s) - 2 s / 3 + … = 0.044721 - 0.000667 + 0.000002 = 0.044057 */
static void
the_best_interval_is_where_the_slope_is_none (void)
{
  const MdlGoodputTerms terms = { .stop_per_s = 1e-4, .alive = 1, .stall_s = 10, .pace = 1 };
  double best_s = mdl_goodput_best_s (&terms);
  TEST_NEAR (best_s, 440.57, 0.02);
  double u = best_s * terms.stop_per_s;
  TEST_NEAR ((1 - u) * exp (u), exp (-0.001), 1e-12);
  TEST_TRUE (mdl_goodput (&terms, best_s) > mdl_goodput (&terms, best_s * 1.01));
  TEST_TRUE (mdl_goodput (&terms, best_s) > mdl_goodput (&terms, best_s / 1.01));
  TEST_NEAR (mdl_daly_s (10, 1e4), best_s, 0.02); /* Daly's approximates it */
}

static void
a_weibull_of_shape_1_is_an_exponential (void)
{
  TEST_NEAR (mdl_weibull_scale (100, 1), 100, 1e-12);
  TEST_NEAR (mdl_weibull_scale (100, 0.5), 50, 1e-12); /* gamma (3) = 2 */
}

/* Of a mean of 2, 0 comes with .135 and up to 5 with .983, up to 4 with .947. Of 419: 419 -+ 1.96 x 20.5 = 379 to 459, skewed by
 * one */
static void
poisson_bands_by_hand (void)
{
  double lo, hi;
  mdl_poisson_band (2, &lo, &hi);
  TEST_NEAR (lo, 0, 0);
  TEST_NEAR (hi, 5, 0);
  mdl_poisson_band (419, &lo, &hi);
  TEST_NEAR (lo, 379, 0);
  TEST_NEAR (hi, 460, 0);
  mdl_poisson_band (1e6, &lo, &hi);
  TEST_NEAR (lo, 1e6 - 1960, 2);
  TEST_NEAR (hi, 1e6 + 1960, 2);
  mdl_poisson_band (0, &lo, &hi);
  TEST_NEAR (hi, 0, 0);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a rate is units over the mean time of one", a_rate_is_units_over_the_mean_time_of_one },
    { "a count scales with units and not with days", a_count_scales_with_units_and_not_with_days },
    { "no count is no failure", no_count_is_no_failure },
    { "young and daly by hand", young_and_daly_by_hand },
    { "goodput by hand", goodput_by_hand },
    { "without failures only checkpoints cost", without_failures_only_checkpoints_cost },
    { "a drain loses what a failure catches in it", a_drain_loses_what_a_failure_catches_in_it },
    { "the first checkpoint waits for none", the_first_checkpoint_waits_for_none },
    { "the best interval is where the slope is none", the_best_interval_is_where_the_slope_is_none },
    { "a weibull of shape 1 is an exponential", a_weibull_of_shape_1_is_an_exponential },
    { "poisson bands by hand", poisson_bands_by_hand },
    { NULL, NULL },
  };
  return test_main ("models: failure", cases);
}
