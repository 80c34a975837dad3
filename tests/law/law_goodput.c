/* What holds of any run through failures: time is neither lost nor made, the closed form is its mean, worse parts never help. */
#include <math.h>

#include "goodput-private.h"
#include "harness.h"

enum { RUNS = 400 };

typedef struct {
  double stop_every_s, stall_s, drain_s, restart_s, restore_s, detect_s, work_s;
} Row;

/* From a job that hardly fails to one that hardly gets on; waits for drains; recoveries as long as the time between failures. */
static const Row rows[] = {
  { 100e3, 10, 0, 300, 60, 60, 600 }, { 10e3, 10, 0, 300, 60, 60, 600 },    { 10e3, 30, 200, 300, 60, 60, 900 },
  { 10e3, 5, 1000, 300, 0, 0, 400 },  { 3e3, 10, 100, 600, 100, 30, 300 },  { 1e3, 20, 0, 500, 200, 100, 200 },
  { 50e3, 0, 100, 0, 0, 0, 100 },     { 20e3, 60, 0, 1e3, 300, 600, 50e3 }, { 200e3, 1, 0, 30, 10, 1, 20 },
};

static GdpCause
cause_of (const Row *row)
{
  return (GdpCause){ .effect = MDL_EFFECT_STOP, .rate_per_s = 1 / row->stop_every_s, .shape = 1, .detect_s = row->detect_s };
}

static GdpRunPlan
plan_of (const Row *row, const GdpCause *cause, unsigned n)
{
  return (GdpRunPlan){ .cause = cause,
                       .n_causes = n,
                       .step_s = 1,
                       .checkpoint = { row->work_s, row->stall_s, row->drain_s, row->restore_s, 0 },
                       .restart_s = row->restart_s,
                       .spares = (double)INFINITY,
                       .horizon_s = row->stop_every_s * 300,
                       .target_s = (double)INFINITY };
}

typedef struct {
  double goodput, error; /* mean over runs and its standard error */
  double stops, stops_deviation;
} Mean;

static Mean
mean_of (const GdpRunPlan *plan)
{
  double sum = 0, square = 0, stops = 0, stops_square = 0;
  for (unsigned r = 0; r < RUNS; r++) {
    GdpRunOutcome one;
    gdp_run (plan, base_random_stream_at (3, "law", r), NULL, &one);
    double g = one.useful_s / one.wall_s;
    sum += g;
    square += g * g;
    stops += one.stops;
    stops_square += one.stops * one.stops;
  }
  double mean = sum / RUNS, mean_stops = stops / RUNS;
  return (Mean){ mean, sqrt (fmax (0, square / RUNS - mean * mean) / RUNS), mean_stops,
                 sqrt (stops_square / RUNS - mean_stops * mean_stops) };
}

static double
closed (const Row *row)
{
  const MdlGoodputTerms terms = { .stop_per_s = 1 / row->stop_every_s,
                                  .alive = exp (-(row->detect_s + row->restart_s + row->restore_s) / row->stop_every_s),
                                  .stall_s = row->stall_s,
                                  .drain_s = row->drain_s,
                                  .pace = 1 };
  return mdl_goodput (&terms, row->work_s);
}

/* Beyond the runs' own error: a run begins unbroken and ends anywhere, a part in 300 failures. */
static void
the_closed_form_is_the_mean_of_runs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const GdpCause cause = cause_of (&rows[i]);
    const GdpRunPlan plan = plan_of (&rows[i], &cause, 1);
    const Mean mean = mean_of (&plan);
    double expected = closed (&rows[i]);
    if (fabs (mean.goodput - expected) > 4 * mean.error + 0.004 * expected)
      fprintf (stderr, "row %u: %.6f +- %.6f by events, %.6f by the closed form\n", i, mean.goodput, mean.error, expected);
    TEST_TRUE (fabs (mean.goodput - expected) <= 4 * mean.error + 0.004 * expected);
    TEST_NEAR (mean.stops, 300, 0.015); /* parts fail by the clock: the error of 400 x 300 is 0.3 % */
    TEST_NEAR (mean.stops_deviation, sqrt (300), 0.2);
  }
}

/* All kinds at once, few spares, bursts: every second is somewhere. */
static void
useful_and_lost_time_sum_to_the_run (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Row *row = &rows[i];
    GdpCause causes[] = { cause_of (row), cause_of (row), cause_of (row), cause_of (row) };
    causes[0].nodes = 2;
    causes[0].repair_s = 3 * row->stop_every_s;
    causes[1].shape = 0.6;
    causes[2].effect = MDL_EFFECT_PLANNED;
    causes[3] = (GdpCause){ .effect = MDL_EFFECT_SLOW,
                            .rate_per_s = 1 / row->stop_every_s,
                            .shape = 1,
                            .slowdown = 1.5,
                            .lasts_s = row->stop_every_s / 3,
                            .nodes = 1,
                            .repair_s = row->stop_every_s };
    GdpRunPlan plan = plan_of (row, causes, G_N_ELEMENTS (causes));
    plan.spares = 3;
    for (unsigned r = 0; r < 20; r++) {
      GdpRunOutcome one;
      GdpTally tally[G_N_ELEMENTS (causes)] = { 0 };
      gdp_run (&plan, base_random_stream_at (5, "law", r), tally, &one);
      double sum_s = one.useful_s, blamed_s = 0, lost_s = 0;
      for (int l = 0; l < GDP_LOST_N; l++) {
        TEST_TRUE (one.lost_s[l] >= 0);
        sum_s += one.lost_s[l];
        lost_s += one.lost_s[l];
      }
      for (guint k = 0; k < G_N_ELEMENTS (causes); k++)
        blamed_s += tally[k].lost_s;
      /* somebody is to blame for all but checkpoints that are taken anyway */
      TEST_TRUE (blamed_s <= lost_s * (1 + 1e-9) && blamed_s >= (lost_s - one.lost_s[GDP_LOST_CHECKPOINT]) * (1 - 1e-9));
      TEST_NEAR (sum_s, one.wall_s, 1e-9);
      TEST_NEAR (one.wall_s, plan.horizon_s, 1e-12);
      TEST_TRUE (one.useful_s >= 0);
      TEST_NEAR (one.stops, tally[0].count + tally[1].count, 0);
    }
  }
}

static double
any (BaseRandom *random, double least, double most)
{
  return least * pow (most / least, base_random_unit (random));
}

/* Plans that nobody would write: rates, intervals and waits over six orders of magnitude, with and without an end. */
static void
any_plan_ends_and_keeps_its_books (void)
{
  BaseRandom random = base_random_stream (11, "plans");
  for (unsigned i = 0; i < 300; i++) {
    GdpCause causes[4];
    for (guint c = 0; c < G_N_ELEMENTS (causes); c++)
      causes[c] = (GdpCause){ .effect = (MdlEffect)base_random_below (&random, MDL_EFFECT_N),
                              .rate_per_s = base_random_below (&random, 4) == 0 ? 0 : 1 / any (&random, 1, 1e6),
                              .shape = base_random_below (&random, 2) == 0 ? 1 : any (&random, 0.3, 5),
                              .nodes = base_random_below (&random, 3),
                              .detect_s = any (&random, 1e-3, 1e3),
                              .repair_s = any (&random, 1, 1e5),
                              .slowdown = any (&random, 1, 10),
                              .lasts_s = any (&random, 1, 1e5) };
    GdpRunPlan plan = { .cause = causes,
                        .n_causes = G_N_ELEMENTS (causes),
                        .step_s = any (&random, 1e-6, 100),
                        .checkpoint = { ceil (any (&random, 0.1, 1e4)), any (&random, 1e-3, 1e3), any (&random, 1e-3, 1e4),
                                        any (&random, 1e-3, 1e3), 0 },
                        .restart_s = any (&random, 1e-3, 1e3),
                        .spares = base_random_below (&random, 2) == 0 ? (double)INFINITY : base_random_below (&random, 5),
                        .horizon_s = 1e5,
                        .target_s = base_random_below (&random, 2) == 0 ? (double)INFINITY : any (&random, 1, 1e5) };
    GdpRunOutcome one;
    gdp_run (&plan, base_random_stream_at (13, "law", i), NULL, &one);
    double sum_s = one.useful_s;
    for (int l = 0; l < GDP_LOST_N; l++) {
      TEST_TRUE (one.lost_s[l] >= -1e-9 * one.wall_s);
      sum_s += one.lost_s[l];
    }
    TEST_TRUE (fabs (sum_s - one.wall_s) <= 1e-7 * one.wall_s);
    TEST_TRUE (one.useful_s >= -1e-9 * one.wall_s && one.useful_s <= plan.target_s * (1 + 1e-9));
    TEST_TRUE (one.wall_s <= plan.horizon_s && one.finished);
    TEST_TRUE (one.wall_s >= plan.horizon_s || fabs (one.useful_s - plan.target_s) <= 1e-7 * plan.target_s);
  }
}

/* The same failures in both: each of these changes can only cost. */
static void
worse_parts_never_help (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GdpCause cause = cause_of (&rows[i]);
    const GdpRunPlan base = plan_of (&rows[i], &cause, 1);
    const double before = mean_of (&base).goodput;
    GdpRunPlan worse[] = { base, base, base };
    worse[0].checkpoint.stall_s += 50;
    worse[1].restart_s += 500;
    worse[2].checkpoint.restore_s += 500;
    for (guint w = 0; w < G_N_ELEMENTS (worse); w++)
      TEST_TRUE (mean_of (&worse[w]).goodput < before);
    cause.detect_s += 500;
    TEST_TRUE (mean_of (&base).goodput < before);
    cause = cause_of (&rows[i]);
    cause.rate_per_s *= 2;
    TEST_TRUE (mean_of (&base).goodput < before);
  }
}

/* A replaced node's part takes longer to come: as a longer restore where each failure takes a node, and nothing where none does. */
static void
what_a_replaced_node_lacks_is_fetched_for_it_alone (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (unsigned nodes = 0; nodes <= 1; nodes++) {
      GdpCause cause = cause_of (&rows[i]);
      cause.nodes = nodes;
      const GdpRunPlan base = plan_of (&rows[i], &cause, 1);
      GdpRunPlan longer = base, fetched = base;
      longer.checkpoint.restore_s += 500;
      fetched.checkpoint.fetch_s += 500;
      TEST_NEAR (mean_of (&fetched).goodput, mean_of (nodes > 0 ? &longer : &base).goodput, 0);
    }
}

static void
fewer_spares_never_help (void)
{
  GdpCause cause = cause_of (&rows[1]);
  cause.nodes = 1;
  cause.repair_s = 20e3;
  GdpRunPlan plan = plan_of (&rows[1], &cause, 1);
  const double enough = mean_of (&plan).goodput;
  double before = 0;
  static const double spares[] = { 0, 1, 2, 4, 8, 32 };
  for (guint i = 0; i < G_N_ELEMENTS (spares); i++) {
    plan.spares = spares[i];
    double goodput = mean_of (&plan).goodput;
    TEST_TRUE (goodput >= before);
    before = goodput;
  }
  TEST_NEAR (before, enough, 1e-12); /* 2 are in repair in the mean, 32 never */
}

/* Bursts: the number of failures keeps its mean over a long run, and spreads. */
static void
a_shape_below_1_spreads_the_count_and_keeps_its_mean (void)
{
  GdpCause cause = cause_of (&rows[0]);
  const GdpRunPlan plan = plan_of (&rows[0], &cause, 1);
  const Mean even = mean_of (&plan);
  cause.shape = 0.7;
  const Mean bursts = mean_of (&plan);
  TEST_NEAR (bursts.stops, even.stops, 0.02);
  /* the gaps' coefficient of variation is 1.46 at 0.7 */
  TEST_NEAR (bursts.stops_deviation / even.stops_deviation, 1.46, 0.2);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the closed form is the mean of runs", the_closed_form_is_the_mean_of_runs },
    { "useful and lost time sum to the run", useful_and_lost_time_sum_to_the_run },
    { "any plan ends and keeps its books", any_plan_ends_and_keeps_its_books },
    { "worse parts never help", worse_parts_never_help },
    { "what a replaced node lacks is fetched for it alone", what_a_replaced_node_lacks_is_fetched_for_it_alone },
    { "fewer spares never help", fewer_spares_never_help },
    { "a shape below 1 spreads the count and keeps its mean", a_shape_below_1_spreads_the_count_and_keeps_its_mean },
    { NULL, NULL },
  };
  return test_main ("law: goodput", cases);
}
