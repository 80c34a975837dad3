#include "engine/engine.h"

#include "base/error.h"
#include "harness.h"

#include <math.h>

static void
seconds_become_the_nearest_picosecond (void)
{
  TEST_TRUE (eng_time_from_s (0.0) == 0);
  TEST_TRUE (eng_time_from_s (1.0) == UINT64_C (1000000000000));
  TEST_TRUE (eng_time_from_s (2e-6) == 2000000);
  TEST_TRUE (eng_time_from_s (1.4e-12) == 1);
  TEST_TRUE (eng_time_from_s (1.6e-12) == 2);
  TEST_TRUE (eng_time_from_s (-1.0) == 0);
  TEST_TRUE (eng_time_from_s ((double)NAN) == 0);
  /* 2^64 ps is 18,446,744.07 s: a million seconds fit, twenty million do not */
  TEST_TRUE (eng_time_from_s (1e6) == UINT64_C (1000000000000000000));
  TEST_TRUE (eng_time_from_s (2e7) == ENG_TIME_NEVER);
  TEST_TRUE (eng_time_from_s ((double)INFINITY) == ENG_TIME_NEVER);
  TEST_NEAR (eng_time_to_s (20971520), 20.97152e-6, 1e-15);
}

static void
sums_beyond_the_clock_are_never (void)
{
  TEST_TRUE (eng_time_add (1, 2) == 3);
  TEST_TRUE (eng_time_add (ENG_TIME_NEVER - 1, 1) == ENG_TIME_NEVER);
  TEST_TRUE (eng_time_add (ENG_TIME_NEVER - 1, 5) == ENG_TIME_NEVER);
  TEST_TRUE (eng_time_add (ENG_TIME_NEVER, ENG_TIME_NEVER) == ENG_TIME_NEVER);
}

/* Writes what it is called with, in order. */
typedef struct {
  uint64_t args[64];
  EngTime times[64];
  unsigned n;
} Log;

static void
note (Eng *eng, void *user, uint64_t arg)
{
  Log *log = user;
  g_assert (log->n < G_N_ELEMENTS (log->args));
  log->times[log->n] = eng_now (eng);
  log->args[log->n++] = arg;
}

static void
timers_of_one_instant_run_in_the_order_of_scheduling (void)
{
  g_autoptr (Eng) eng = eng_new ();
  Log log = { 0 };
  eng_at (eng, 20, note, &log, 3);
  eng_at (eng, 10, note, &log, 1);
  eng_at (eng, 20, note, &log, 4);
  eng_at (eng, 10, note, &log, 2);
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  TEST_INT (log.n, 4);
  for (unsigned i = 0; i < 4; i++)
    TEST_INT (log.args[i], i + 1);
  TEST_INT (log.times[1], 10);
  TEST_INT (log.times[2], 20);
  TEST_INT (eng_now (eng), 20);
  TEST_INT (eng_stats (eng).events, 4);
}

static void
cancelled_timers_do_not_fire_and_old_handles_name_nothing (void)
{
  g_autoptr (Eng) eng = eng_new ();
  Log log = { 0 };
  EngTimer first = eng_at (eng, 10, note, &log, 1);
  TEST_TRUE (first != 0);
  TEST_FALSE (eng_cancel (eng, 0));
  TEST_TRUE (eng_cancel (eng, first));
  TEST_FALSE (eng_cancel (eng, first));
  EngTimer second = eng_at (eng, 10, note, &log, 2); /* the same slot, another generation */
  TEST_TRUE (second != first);
  TEST_FALSE (eng_cancel (eng, first));
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  TEST_INT (log.n, 1);
  TEST_INT (log.args[0], 2);
  TEST_FALSE (eng_cancel (eng, second));
  TEST_INT (eng_stats (eng).events, 1);
}

static void
a_run_until_a_time_stops_there_and_goes_on_later (void)
{
  g_autoptr (Eng) eng = eng_new ();
  Log log = { 0 };
  eng_at (eng, 10, note, &log, 1);
  eng_at (eng, 20, note, &log, 2);
  eng_at (eng, 30, note, &log, 3);
  TEST_TRUE (eng_run (eng, 20, 0, NULL));
  TEST_INT (log.n, 2);
  TEST_TRUE (eng_run (eng, 25, 0, NULL));
  TEST_INT (eng_now (eng), 25);
  eng_at (eng, 26, note, &log, 4); /* earlier than what was seen waiting */
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  TEST_INT (log.n, 4);
  TEST_INT (log.args[2], 4);
  TEST_INT (log.args[3], 3);
  TEST_INT (eng_now (eng), 30);
}

static void
again_at_once (Eng *eng, void *user, uint64_t arg)
{
  eng_at (eng, eng_now (eng), again_at_once, user, arg);
}

static void
an_instant_that_never_ends_is_diagnosed (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (GError) error = NULL;
  eng_set_instant_limit (eng, 1000);
  eng_at (eng, 2000000, again_at_once, NULL, 0);
  TEST_FALSE (eng_run (eng, ENG_TIME_NEVER, 0, &error));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_RUN));
  TEST_STR (error->message,
            "at 2e-06 s: 1001 events ran without the clock moving; something starts itself again without taking time");
}

static void
in_a_microsecond (Eng *eng, void *user, uint64_t arg)
{
  eng_at (eng, eng_now (eng) + 1000000, in_a_microsecond, user, arg);
}

static void
the_limit_of_events_holds_for_a_run_and_not_for_its_exact_end (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (GError) error = NULL;
  Log log = { 0 };
  for (unsigned i = 0; i < 5; i++)
    eng_at (eng, 10 + i, note, &log, i);
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 5, &error)); /* five events, limit five */
  eng_at (eng, 1000000, in_a_microsecond, NULL, 0);
  TEST_FALSE (eng_run (eng, ENG_TIME_NEVER, 7, &error));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_RUN));
  TEST_STR (error->message, "at 7e-06 s: stopped after 7 events, the limit is 7");
  TEST_INT (eng_stats (eng).events, 12);
}

static void
a_timer_beyond_the_clock_is_an_error_and_not_a_silence (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (GError) error = NULL;
  Log log = { 0 };
  EngTimer never = eng_at (eng, eng_time_add (ENG_TIME_NEVER - 5, 100), note, &log, 1);
  TEST_FALSE (eng_run (eng, ENG_TIME_NEVER, 0, &error));
  TEST_HAS (error->message, "beyond the range of the clock");
  TEST_TRUE (eng_cancel (eng, never));
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  TEST_INT (log.n, 0);
}

/* 100,000 timers of which all but one in two thousand are cancelled: the 50 that are left fire, in order. */
static void
mass_cancellation_leaves_the_rest_alone (void)
{
  g_autoptr (Eng) eng = eng_new ();
  static EngTimer timers[100000];
  Log *log = g_new0 (Log, 1);
  for (unsigned i = 0; i < G_N_ELEMENTS (timers); i++)
    timers[i] = eng_at (eng, 1 + (uint64_t)i * 1000, note, log, i);
  unsigned n_cancelled = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS (timers); i++)
    if (i % 2000 != 0)
      n_cancelled += eng_cancel (eng, timers[i]);
  TEST_INT (n_cancelled, 99950);
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  TEST_INT (log->n, 50);
  for (unsigned i = 0; i < 50; i++)
    TEST_INT (log->args[i], i * 2000);
  g_free (log);
}

/* Equal times in another order, different times not: sixteen timers at 10 between one at 9 and one at 11. */
static void
shuffling_permutes_ties_and_only_ties (void)
{
  g_autoptr (Eng) eng = eng_new ();
  Log log = { 0 };
  bool moved = false;
  uint64_t seen = 0;
  eng_set_tie_shuffle (eng, 42);
  eng_at (eng, 11, note, &log, 17);
  for (unsigned i = 0; i < 16; i++)
    eng_at (eng, 10, note, &log, i);
  eng_at (eng, 9, note, &log, 16);
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  TEST_INT (log.n, 18);
  TEST_INT (log.args[0], 16);
  TEST_INT (log.args[17], 17);
  for (unsigned i = 1; i <= 16; i++) {
    moved = moved || log.args[i] != i - 1;
    seen |= UINT64_C (1) << log.args[i];
  }
  TEST_TRUE (moved);
  TEST_INT (seen, 0xffff);
}

static void
cancel_other (Eng *eng, void *user, uint64_t arg)
{
  const EngTimer *timers = user;
  eng_cancel (eng, timers[arg]);
}

/* Two timers of one instant cancel each other: one of them runs, whichever comes first, shuffled or not. */
static void
cancelling_within_an_instant_holds_also_when_shuffled (void)
{
  for (uint64_t seed = 0; seed < 8; seed++) {
    g_autoptr (Eng) eng = eng_new ();
    EngTimer timers[2];
    eng_set_tie_shuffle (eng, seed);
    timers[0] = eng_at (eng, 10, cancel_other, timers, 1);
    timers[1] = eng_at (eng, 10, cancel_other, timers, 0);
    TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
    TEST_INT (eng_stats (eng).events, 1);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "seconds become the nearest picosecond", seconds_become_the_nearest_picosecond },
    { "sums beyond the clock are never", sums_beyond_the_clock_are_never },
    { "timers of one instant run in the order of scheduling", timers_of_one_instant_run_in_the_order_of_scheduling },
    { "cancelled timers do not fire and old handles name nothing", cancelled_timers_do_not_fire_and_old_handles_name_nothing },
    { "a run until a time stops there and goes on later", a_run_until_a_time_stops_there_and_goes_on_later },
    { "an instant that never ends is diagnosed", an_instant_that_never_ends_is_diagnosed },
    { "the limit of events holds for a run and not for its exact end",
      the_limit_of_events_holds_for_a_run_and_not_for_its_exact_end },
    { "a timer beyond the clock is an error and not a silence", a_timer_beyond_the_clock_is_an_error_and_not_a_silence },
    { "mass cancellation leaves the rest alone", mass_cancellation_leaves_the_rest_alone },
    { "shuffling permutes ties and only ties", shuffling_permutes_ties_and_only_ties },
    { "cancelling within an instant holds also when shuffled", cancelling_within_an_instant_holds_also_when_shuffled },
    { NULL, NULL },
  };
  return test_main ("engine clock and timers", cases);
}
