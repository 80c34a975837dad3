#include "base/parallel.h"
#include "base/progress.h"
#include "harness.h"

static gint64 clock_s;
static GString *said; /* lines, each with a newline */

static gint64
injected_us (void)
{
  return clock_s * G_USEC_PER_SEC;
}

static void
note (const char *line)
{
  g_string_append_printf (said, "%s\n", line);
}

static void
start (gint64 (*clock_us) (void))
{
  const BaseProgressSpec spec = { "forerun test", 2 * G_USEC_PER_SEC, 10 * G_USEC_PER_SEC, clock_us, note };
  clock_s = 100;
  said = g_string_new (NULL);
  base_progress_start (&spec);
}

/* What was reported, compared with `lines`. */
static void
stop_and_expect (const char *lines)
{
  base_progress_stop ();
  TEST_STR (said->str, lines);
  g_string_free (said, TRUE);
}

/* A piece each second: the first line after 2 s, then one every 10 s; what remains follows from the pieces so far. */
static void
a_line_after_two_seconds_and_every_ten (void)
{
  start (injected_us);
  TEST_TRUE (base_progress_begin ("runs", 40, 0));
  for (int i = 0; i < 25; i++) {
    clock_s++;
    base_progress_step ();
  }
  base_progress_end ();
  stop_and_expect ("forerun test: 2 s: 2 of 40 runs, about 38 s left\n"
                   "forerun test: 12 s: 12 of 40 runs, about 28 s left\n"
                   "forerun test: 22 s: 22 of 40 runs, about 18 s left\n");
}

static void
long_work_is_foretold (void)
{
  base_progress_expect ("routes", 1e9, 1); /* without a report */
  start (injected_us);
  base_progress_expect ("routes", 1e6, 1e-6);
  base_progress_expect ("routes", 16777216, 1e-6);
  stop_and_expect ("forerun test: 16.8 M routes: about 17 s\n");
}

static void
short_work_reports_nothing (void)
{
  start (injected_us);
  TEST_TRUE (base_progress_begin ("runs", 3, 0));
  for (int i = 0; i < 3; i++)
    base_progress_step ();
  clock_s += 1;
  base_progress_step ();
  base_progress_end ();
  stop_and_expect ("");
}

/* One piece of 35 s is one line, not four. */
static void
a_long_piece_is_not_made_up_for (void)
{
  start (injected_us);
  TEST_TRUE (base_progress_begin ("sizes", 3, 0));
  clock_s += 35;
  base_progress_step ();
  base_progress_step ();
  clock_s += 7;
  base_progress_step ();
  base_progress_end ();
  stop_and_expect ("forerun test: 35 s: 1 of 3 sizes, about 70 s left\nforerun test: 42 s: 3 of 3 sizes\n");
}

/* 30 of 50 were done before: 2 in 2 s leave 18 s, not less than a second. */
static void
work_that_was_done_before_does_not_speed_up_the_estimate (void)
{
  start (injected_us);
  TEST_TRUE (base_progress_begin ("configurations", 50, 30));
  clock_s += 2;
  base_progress_set ("configurations", 50, 32);
  base_progress_set ("options", 5, 0);
  clock_s += 10;
  base_progress_set ("options", 5, 1);
  base_progress_end ();
  stop_and_expect ("forerun test: 2 s: 32 of 50 configurations, about 18 s left\n"
                   "forerun test: 12 s: 1 of 5 options, about 40 s left\n");
}

static void
wait_a_second (void *item)
{
  (void)item;
  clock_s++;
}

static void
inner (void *item)
{
  char pieces[3] = "";
  base_parallel_each (pieces, sizeof pieces, 1, 1, "inner pieces", wait_a_second);
  (void)item;
}

/* Work within counted work is not counted again. */
static void
only_the_outermost_work_counts (void)
{
  char items[4] = "";
  start (injected_us);
  base_parallel_each (items, sizeof items, 1, 1, "items", inner);
  stop_and_expect ("forerun test: 3 s: 1 of 4 items, about 9 s left\nforerun test: 12 s: 4 of 4 items\n");
  TEST_TRUE (!base_progress_begin ("runs", 1, 0)); /* nobody listens */
}

/* The thread that watches the machine's clock ends at once, whenever its next line would be due. */
static void
a_report_that_is_not_due_stops_at_once (void)
{
  start (NULL);
  stop_and_expect ("");
  base_progress_stop ();
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a line after two seconds and every ten", a_line_after_two_seconds_and_every_ten },
    { "long work is foretold", long_work_is_foretold },
    { "short work reports nothing", short_work_reports_nothing },
    { "a long piece is not made up for", a_long_piece_is_not_made_up_for },
    { "work that was done before does not speed up the estimate", work_that_was_done_before_does_not_speed_up_the_estimate },
    { "only the outermost work counts", only_the_outermost_work_counts },
    { "a report that is not due stops at once", a_report_that_is_not_due_stops_at_once },
    { 0 },
  };
  return test_main ("base/progress", cases);
}
