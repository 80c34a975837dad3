#include "engine/flow.h"

#include "base/error.h"
#include "harness.h"

#include <math.h>

#define S  UINT64_C (1000000000000) /* a second in picoseconds */
#define US UINT64_C (1000000)

/* Notes when it was called, and for the how-manieth time. */
typedef struct {
  EngTime at[128];
  unsigned n;
} Ends;

static void
note_end (Eng *eng, void *user, uint64_t arg)
{
  Ends *ends = user;
  g_assert (arg < G_N_ELEMENTS (ends->at));
  ends->at[arg] = eng_now (eng);
  ends->n++;
}

static void
note_time (Eng *eng, void *user, uint64_t arg)
{
  ((EngTime *)user)[arg] = eng_now (eng);
}

static EngFlow
start (Eng *eng, double amount, const EngUse *uses, unsigned n_uses, Ends *ends, uint64_t arg)
{
  EngFlowSpec spec = { .amount = amount, .uses = uses, .n_uses = n_uses, .done = note_end, .user = ends, .arg = arg };
  return eng_flow_start (eng, &spec);
}

static void
run (Eng *eng)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = eng_run (eng, ENG_TIME_NEVER, 0, &error);
  TEST_TRUE (ok);
  TEST_STR (error == NULL ? NULL : error->message, NULL);
}

/* Solves the present instant, so that rates can be asked. */
static void
settle (Eng *eng)
{
  TEST_TRUE (eng_run (eng, eng_now (eng), 0, NULL));
}

/* 1048576 B / 50e9 B/s = 20.97152 us. A third of the link: 62.91456 us, though 50e9 / 3 is no double. */
static void
a_mebibyte_at_50_gigabytes_a_second_takes_20971520_picoseconds (void)
{
  for (unsigned n = 1; n <= 100; n++) {
    g_autoptr (Eng) eng = eng_new ();
    EngUse use = { .link = eng_link_new (eng, 50e9), .weight = 1 };
    Ends ends = { 0 };
    for (unsigned i = 0; i < n; i++)
      start (eng, 1048576, &use, 1, &ends, i);
    run (eng);
    TEST_INT (ends.n, n);
    for (unsigned i = 0; i < n; i++)
      TEST_INT (ends.at[i], n * 20971520);
    TEST_INT (eng_stats (eng).solves, 2); /* all start, all end */
    TEST_NEAR (eng_link_carried (eng, use.link), n * 1048576.0, 0);
  }
}

/* 100 units a second; A has 100, B 300. Both at 50 until 2 s, when A ends and B has 200 left: 2 s more. */
static void
two_flows_share_a_link_and_the_rest_speeds_up (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
  Ends ends = { 0 };
  EngFlow a = start (eng, 100, &use, 1, &ends, 0), b = start (eng, 300, &use, 1, &ends, 1);
  TEST_TRUE (eng_run (eng, S, 0, NULL));
  TEST_NEAR (eng_flow_rate (eng, a), 50, 0);
  TEST_NEAR (eng_flow_remaining (eng, b), 250, 1e-15);
  TEST_NEAR (eng_link_carried (eng, use.link), 100, 1e-15);
  TEST_TRUE (eng_run (eng, 3 * S, 0, NULL));
  TEST_NEAR (eng_flow_rate (eng, a), 0, 0); /* has ended */
  TEST_NEAR (eng_flow_remaining (eng, a), 0, 0);
  TEST_NEAR (eng_flow_rate (eng, b), 100, 0);
  TEST_NEAR (eng_flow_remaining (eng, b), 100, 1e-15);
  run (eng);
  TEST_INT (ends.at[0], 2 * S);
  TEST_INT (ends.at[1], 4 * S);
  TEST_NEAR (eng_link_carried (eng, use.link), 400, 0);
}

/* 100 shared with a flow bound to 20: it gets 20, the other 80. With a bound of 60, both get 50. */
static void
a_bounded_flow_leaves_what_it_cannot_take (void)
{
  static const double bounds[] = { 20, 60 }, expected[][2] = { { 20, 80 }, { 50, 50 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (bounds); i++) {
    g_autoptr (Eng) eng = eng_new ();
    EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
    EngFlowSpec spec = { .amount = 1000, .uses = &use, .n_uses = 1 };
    EngFlow free_one = eng_flow_start (eng, &spec);
    spec.bound_per_s = bounds[i];
    EngFlow bounded = eng_flow_start (eng, &spec);
    settle (eng);
    TEST_NEAR (eng_flow_rate (eng, bounded), expected[i][0], 0);
    TEST_NEAR (eng_flow_rate (eng, free_one), expected[i][1], 0);
  }
}

/* Bertsekas and Gallager's example: one flow over three links of 1, 2 and 3, and a short one on each. The long one and the first
 * share link 0: 1/2 each; the others take what is left, 3/2 and 5/2. */
static void
the_parking_lot_gives_the_long_flow_half_of_the_least_link (void)
{
  g_autoptr (Eng) eng = eng_new ();
  static const double capacity[] = { 1, 2, 3 }, expected[] = { 0.5, 1.5, 2.5 };
  EngLink first = eng_links_new (eng, capacity, 3);
  EngUse uses[3];
  EngFlow shorts[3];
  Ends ends = { 0 };
  for (unsigned i = 0; i < 3; i++)
    uses[i] = (EngUse){ .link = first + i, .weight = 1 };
  EngFlow whole = start (eng, 10, uses, 3, &ends, 3);
  for (unsigned i = 0; i < 3; i++)
    shorts[i] = start (eng, 10, &uses[i], 1, &ends, i);
  settle (eng);
  TEST_NEAR (eng_flow_rate (eng, whole), 0.5, 0);
  for (unsigned i = 0; i < 3; i++)
    TEST_NEAR (eng_flow_rate (eng, shorts[i]), expected[i], 1e-15);
  /* 10 at 5/2 is 4 s; at 3/2 is 6 2/3 s; the two on link 0 need 20 s. */
  run (eng);
  TEST_INT (ends.at[2], 4 * S);
  TEST_INT (ends.at[1], 6666666666667);
  TEST_INT (ends.at[0], 20 * S);
  TEST_INT (ends.at[3], 20 * S);
}

/* Capacity 90. Weights 2 and 1: both move at 30, the link carries 60 + 30. Priorities 2 and 1: 60 and 30. */
static void
weights_load_the_link_and_priorities_divide_it (void)
{
  for (unsigned i = 0; i < 2; i++) {
    g_autoptr (Eng) eng = eng_new ();
    EngLink link = eng_link_new (eng, 90);
    EngUse heavy = { .link = link, .weight = i == 0 ? 2 : 1 }, light = { .link = link, .weight = 1 };
    EngFlowSpec spec = { .amount = 60, .uses = &heavy, .n_uses = 1, .priority = i == 0 ? 0 : 2 };
    EngFlow a = eng_flow_start (eng, &spec);
    spec.uses = &light;
    spec.priority = 1;
    EngFlow b = eng_flow_start (eng, &spec);
    settle (eng);
    TEST_NEAR (eng_flow_rate (eng, a), i == 0 ? 30 : 60, 1e-15);
    TEST_NEAR (eng_flow_rate (eng, b), 30, 1e-15);
    run (eng);
    TEST_NEAR (eng_link_carried (eng, link), i == 0 ? 180 : 120, 0);
    /* first case: both end at 2 s; second: 1 s at 60, then b has 30 left at 90: 1/3 s */
    TEST_INT (eng_now (eng), i == 0 ? 2 * S : S + 333333333334);
  }
}

/* One link named as 0.5 + 0.25 + 0.25 is one use of weight 1, with another link of another weight beside it. */
static void
a_link_named_twice_is_one_use_of_the_sum (void)
{
  g_autoptr (Eng) eng = eng_new ();
  static const double capacity[] = { 100, 1000 };
  EngLink first = eng_links_new (eng, capacity, 2);
  EngUse uses[] = { { first, 0.5 }, { first + 1, 3 }, { first, 0.25 }, { first, 0.25 } };
  EngUse same[] = { { first, 0.5 }, { first, 0.5 } };
  Ends ends = { 0 };
  EngFlow a = start (eng, 100, uses, 4, &ends, 0), b = start (eng, 100, same, 2, &ends, 1);
  settle (eng);
  TEST_NEAR (eng_flow_rate (eng, a), 50, 0);
  TEST_NEAR (eng_flow_rate (eng, b), 50, 0);
  run (eng);
  TEST_INT (ends.at[0], 2 * S);
  TEST_NEAR (eng_link_carried (eng, first), 200, 0);
  TEST_NEAR (eng_link_carried (eng, first + 1), 300, 0);
}

/* B waits 1 s, so A has the link alone: at 1 s A has 100 of 200 left. Both at 50 till A ends at 3 s; B then has 100 at 100. */
static void
a_flow_takes_nothing_while_it_waits_for_its_latency (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
  Ends ends = { 0 };
  EngFlow a = start (eng, 200, &use, 1, &ends, 0);
  EngFlowSpec late = { .amount = 200, .latency = S, .uses = &use, .n_uses = 1, .done = note_end, .user = &ends, .arg = 1 };
  EngFlow b = eng_flow_start (eng, &late);
  TEST_TRUE (eng_run (eng, S / 2, 0, NULL));
  TEST_NEAR (eng_flow_rate (eng, a), 100, 0);
  TEST_NEAR (eng_flow_rate (eng, b), 0, 0);
  TEST_NEAR (eng_flow_remaining (eng, b), 200, 0);
  run (eng);
  TEST_INT (ends.at[0], 3 * S);
  TEST_INT (ends.at[1], 4 * S);
}

/* Nothing to move: the end comes when the latency is over, in the same instant if there is none, on links and without. */
static void
a_flow_of_nothing_ends_when_its_latency_is_over (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { .link = eng_link_new (eng, 0), .weight = 1 };
  Ends ends = { 0 };
  start (eng, 0, &use, 1, &ends, 0);
  start (eng, 0, NULL, 0, &ends, 1);
  EngFlowSpec late = { .latency = 3 * US, .done = note_end, .user = &ends, .arg = 2 };
  eng_flow_start (eng, &late);
  TEST_INT (ends.n, 0); /* not from inside the call */
  run (eng);
  TEST_INT (ends.n, 3);
  TEST_INT (ends.at[0], 0);
  TEST_INT (ends.at[1], 0);
  TEST_INT (ends.at[2], 3 * US);
}

static void
start_nothing_again (Eng *eng, void *user, uint64_t arg)
{
  EngFlowSpec spec = { .done = start_nothing_again, .user = user, .arg = arg };
  eng_flow_start (eng, &spec);
}

static void
flows_of_nothing_that_start_each_other_are_diagnosed (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (GError) error = NULL;
  eng_set_instant_limit (eng, 10000);
  eng_at (eng, 5 * US, start_nothing_again, NULL, 0);
  TEST_FALSE (eng_run (eng, ENG_TIME_NEVER, 0, &error));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_RUN));
  TEST_HAS (error->message, "at 5e-06 s: 10001 events");
}

/* 1e-9 units at 100 a second is 1e-11 s = 10 ps; 1e-20 is far under a picosecond and takes one. 101 units at 10 a ps: 10.1, so
 * 11. */
static void
any_amount_takes_a_picosecond_and_ends_are_never_early (void)
{
  static const struct {
    double amount, capacity;
    EngTime expected;
  } rows[] = { { 1e-9, 100, 10 }, { 1e-20, 100, 1 },    { 101, 1e13, 11 },
               { 100, 1e13, 10 }, { 1e-300, 1e100, 1 }, { 1, 3, 333333333334 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Eng) eng = eng_new ();
    EngUse use = { .link = eng_link_new (eng, rows[i].capacity), .weight = 1 };
    Ends ends = { 0 };
    start (eng, rows[i].amount, &use, 1, &ends, 0);
    run (eng);
    TEST_INT (ends.at[0], rows[i].expected);
  }
}

/* One unit a picosecond: 2^53 + 2 units take 2^53 + 2 ps, and 2^60 + 2^20 take that, to the picosecond. */
static void
transfers_beyond_2_to_the_53_picoseconds_are_not_rounded (void)
{
  static const EngTime lengths[] = { (UINT64_C (1) << 53) + 2, (UINT64_C (1) << 54) + 4, (UINT64_C (1) << 60) + (1 << 20) };
  for (unsigned i = 0; i < G_N_ELEMENTS (lengths); i++) {
    g_autoptr (Eng) eng = eng_new ();
    EngUse use = { .link = eng_link_new (eng, 1e12), .weight = 1 };
    Ends ends = { 0 };
    EngFlowSpec late = { .amount = (double)lengths[i], .latency = 1, .uses = &use, .n_uses = 1, .done = note_end, .user = &ends };
    eng_flow_start (eng, &late);
    run (eng);
    TEST_INT (ends.n, 1);
    TEST_TRUE (ends.at[0] == lengths[i] + 1);
  }
}

/* 2^64 ps are 18.4 million seconds: 1 unit a second, 20 million units. */
static void
a_transfer_that_outlives_the_clock_is_an_error (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (GError) error = NULL;
  EngUse use = { .link = eng_link_new (eng, 1), .weight = 1 };
  Ends ends = { 0 };
  start (eng, 2e7, &use, 1, &ends, 0);
  TEST_FALSE (eng_run (eng, ENG_TIME_NEVER, 0, &error));
  TEST_HAS (error->message, "beyond the range of the clock");
  TEST_INT (ends.n, 0);
}

/* 100 units at 100; after half a second the link drops to 10: 50 left take 5 s. At 2 s it is cut, at 7 s mended to 70: 35 left
 * take half a second. */
static void
a_change_of_capacity_holds_from_then_on (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
  Ends ends = { 0 };
  EngFlow flow = start (eng, 100, &use, 1, &ends, 0);
  TEST_TRUE (eng_run (eng, S / 2, 0, NULL));
  eng_link_set_capacity (eng, use.link, 10);
  TEST_TRUE (eng_run (eng, 2 * S, 0, NULL));
  TEST_NEAR (eng_flow_remaining (eng, flow), 35, 1e-14);
  eng_link_set_capacity (eng, use.link, 0);
  g_autoptr (GError) error = NULL;
  TEST_FALSE (eng_run (eng, ENG_TIME_NEVER, 0, &error)); /* it would stand for ever */
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_RUN));
  TEST_STR (error->message, "at 2 s: 1 activity cannot move: no capacity on link 0");
  TEST_TRUE (eng_run (eng, 7 * S, 0, NULL)); /* till then it may */
  TEST_TRUE (eng_now (eng) == 7 * S);
  TEST_NEAR (eng_flow_remaining (eng, flow), 35, 1e-14);
  eng_link_set_capacity (eng, use.link, 70);
  run (eng);
  TEST_INT (ends.at[0], 7 * S + S / 2);
  TEST_NEAR (eng_link_carried (eng, use.link), 100, 0);
}

/* Cancelled at 1 s: 50 of its 300 have crossed; the other, 100 in all, has 50 left at 100. */
static void
a_cancelled_flow_frees_its_share_and_says_nothing (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
  Ends ends = { 0 };
  EngFlow a = start (eng, 300, &use, 1, &ends, 0);
  start (eng, 100, &use, 1, &ends, 1);
  EngFlowSpec waiting = { .amount = 1, .latency = 50 * S, .uses = &use, .n_uses = 1, .done = note_end, .user = &ends, .arg = 2 };
  EngFlow b = eng_flow_start (eng, &waiting);
  TEST_TRUE (eng_run (eng, S, 0, NULL));
  TEST_TRUE (eng_flow_cancel (eng, a));
  TEST_FALSE (eng_flow_cancel (eng, a));
  TEST_TRUE (eng_flow_cancel (eng, b));
  TEST_FALSE (eng_flow_cancel (eng, 0));
  run (eng);
  TEST_INT (ends.n, 1);
  TEST_INT (ends.at[1], S + S / 2);
  TEST_INT (eng_now (eng), S + S / 2);
  TEST_NEAR (eng_link_carried (eng, use.link), 150, 1e-15);
}

/* Slots are used again: an old handle must not name the new flow. */
static void
old_handles_name_nothing (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
  Ends ends = { 0 };
  EngFlow old = start (eng, 1, &use, 1, &ends, 0);
  run (eng);
  EngFlow fresh = start (eng, 100, &use, 1, &ends, 1);
  TEST_TRUE (fresh != old && (uint32_t)fresh == (uint32_t)old);
  settle (eng);
  TEST_FALSE (eng_flow_cancel (eng, old));
  TEST_NEAR (eng_flow_rate (eng, old), 0, 0);
  TEST_NEAR (eng_flow_rate (eng, fresh), 100, 0);
}

/* Endless traffic at a bound of 40 on a link of 100: the others share 60; when they are done the run is over. */
static void
endless_flows_load_links_and_do_not_keep_a_run_alive (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
  Ends ends = { 0 };
  EngFlowSpec endless = {
    .amount = (double)INFINITY, .bound_per_s = 40, .uses = &use, .n_uses = 1, .done = note_end, .user = &ends, .arg = 1
  };
  EngFlow background = eng_flow_start (eng, &endless);
  start (eng, 120, &use, 1, &ends, 0);
  run (eng);
  TEST_INT (ends.n, 1);
  TEST_INT (ends.at[0], 2 * S);
  TEST_TRUE (isinf (eng_flow_remaining (eng, background)));
  TEST_NEAR (eng_link_carried (eng, use.link), 200, 1e-15);
  TEST_TRUE (eng_flow_cancel (eng, background));
  run (eng);
  TEST_NEAR (eng_link_carried (eng, use.link), 200, 1e-15);
}

/* A flow without links needs a bound and runs at it. */
static void
a_flow_without_links_runs_at_its_bound (void)
{
  g_autoptr (Eng) eng = eng_new ();
  Ends ends = { 0 };
  EngFlowSpec spec = { .amount = 30, .bound_per_s = 10, .done = note_end, .user = &ends };
  EngFlow flow = eng_flow_start (eng, &spec);
  TEST_NEAR (eng_flow_rate (eng, flow), 10, 0);
  run (eng);
  TEST_INT (ends.at[0], 3 * S);
  TEST_INT (eng_stats (eng).solved, 0);
}

/* A bounded flow takes 10 s at 40 of 100; from 4 s to 6 s another takes the remaining 60. At 5 s: 5 x 40 + 60. */
static void
what_a_link_has_carried_is_exact_on_the_way (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
  EngFlowSpec steady = { .amount = 400, .bound_per_s = 40, .uses = &use, .n_uses = 1 };
  EngFlowSpec burst = { .amount = 120, .latency = 4 * S, .uses = &use, .n_uses = 1 };
  eng_flow_start (eng, &steady);
  eng_flow_start (eng, &burst);
  TEST_TRUE (eng_run (eng, 5 * S, 0, NULL));
  TEST_NEAR (eng_link_carried (eng, use.link), 260, 1e-15);
  run (eng);
  TEST_NEAR (eng_link_carried (eng, use.link), 520, 0);
}

/* 100,000 pairs with a link each: every flow is solved once, at its start; its end leaves an empty link and solves nothing. */
static void
independent_transfers_cost_linear_work (void)
{
  enum { N = 100000 };
  g_autoptr (Eng) eng = eng_new ();
  for (unsigned i = 0; i < N; i++) {
    EngUse use = { .link = eng_link_new (eng, 1e9), .weight = 1 };
    EngFlowSpec spec = { .amount = 1e3 + i, .latency = i % 7 * US, .uses = &use, .n_uses = 1 };
    eng_flow_start (eng, &spec);
  }
  run (eng);
  TEST_INT (eng_stats (eng).flows, N);
  TEST_INT (eng_stats (eng).solved, N);
  TEST_INT (eng_now (eng), 1000 * (1000 + 99994) + 6 * US); /* the last one with a latency of 6 us */
}

/* 64 ranks, all to all, over a non-blocking switch: 63 flows share each port, so 63 x 1 MiB at 50 GB/s = 1,321,205,760 ps, all at
 * once: one solve to start, one to end. */
static void
an_all_to_all_on_a_star_ends_in_one_picosecond (void)
{
  enum { N = 64 };
  g_autoptr (Eng) eng = eng_new ();
  double capacity[2 * N];
  for (unsigned i = 0; i < 2 * N; i++)
    capacity[i] = 50e9;
  EngLink first = eng_links_new (eng, capacity, 2 * N);
  for (unsigned i = 0; i < N; i++)
    for (unsigned j = 0; j < N; j++) {
      EngUse uses[] = { { first + i, 1 }, { first + N + j, 1 } };
      EngFlowSpec spec = { .amount = 1048576, .latency = 2 * US, .uses = uses, .n_uses = 2 };
      if (i != j)
        eng_flow_start (eng, &spec);
    }
  run (eng);
  TEST_INT (eng_now (eng), 2 * US + 63 * 20971520);
  TEST_INT (eng_stats (eng).solves, 2);
  TEST_INT (eng_stats (eng).solved, N * (N - 1));
  TEST_NEAR (eng_link_carried (eng, first), 63 * 1048576.0, 0);
}

/* Link k has k flows and the capacity 0.1 + 0.1 + … (k times): a tenth each. In doubles ten tenths are 0.9999999999999999, so the
 * shares differ in the last bit; the rates are equal all the same, since a backbone ties them into one network, and all 210 end
 * at once. */
static void
levels_that_only_rounding_tells_apart_are_one (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngLink backbone = eng_link_new (eng, 1000);
  EngFlow flows[210];
  unsigned n = 0, n_uneven = 0;
  double capacity = 0;
  for (unsigned k = 1; k <= 20; k++) {
    capacity += 0.1;
    n_uneven += capacity / k < 0.1 || capacity / k > 0.1;
    EngUse uses[] = { { eng_link_new (eng, capacity), 1 }, { backbone, 1 } };
    EngFlowSpec spec = { .amount = 1, .uses = uses, .n_uses = 2 };
    for (unsigned i = 0; i < k; i++)
      flows[n++] = eng_flow_start (eng, &spec);
  }
  TEST_TRUE (n_uneven > 0);
  settle (eng);
  for (unsigned i = 0; i < n; i++)
    TEST_NEAR (eng_flow_rate (eng, flows[i]), eng_flow_rate (eng, flows[0]), 0);
  run (eng);
  TEST_INT (eng_now (eng), 10 * S);
  TEST_INT (eng_stats (eng).solves, 2);
}

/* Sizes 1 to 2,000 on a link of 1: the i-th ends when those before it have moved all and the others as much as it, and costs no
 * look at each of the others. */
static void
sizes_that_share_a_path_end_in_turn_for_little_work (void)
{
  enum { N = 2000 };
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { eng_link_new (eng, 1), 1 };
  static EngTime ends[N + 1];
  for (unsigned size = N; size >= 1; size--) {
    EngFlowSpec spec = { .amount = size, .uses = &use, .n_uses = 1, .done = note_time, .user = ends, .arg = size };
    eng_flow_start (eng, &spec);
  }
  run (eng);
  for (unsigned i = 1; i <= N; i++)
    TEST_NEAR ((double)ends[i], (i * (i + 1) / 2.0 + (N - i) * (double)i) * 1e12, 1e-13);
  TEST_INT (eng_stats (eng).events, N);
  TEST_TRUE (eng_stats (eng).solved < 50 * N);
  TEST_NEAR (eng_link_carried (eng, use.link), N * (N + 1) / 2.0, 1e-15);
}

/* Sizes 1 to 4 on a link of 4, bundled. After 0.5 s each has moved 0.5. The 4 is bound to 0.5: it has 3.5 left, 7 s more. The 3 is
 * cancelled; 1 and 2 share 3.5: the 1 has 0.5 left, 2/7 s; the 2 then has 1 left at 3.5 a second, again 2/7 s. */
static void
a_flow_leaves_its_bundle_when_its_bound_changes_or_it_is_cancelled (void)
{
  g_autoptr (Eng) eng = eng_new ();
  eng_set_solve (eng, ENG_SOLVE_BUNDLED);
  EngUse use = { eng_link_new (eng, 4), 1 };
  EngFlow flows[5];
  EngTime ends[5] = { 0 };
  for (unsigned size = 1; size <= 4; size++) {
    EngFlowSpec spec = { .amount = size, .uses = &use, .n_uses = 1, .done = note_time, .user = ends, .arg = size };
    flows[size] = eng_flow_start (eng, &spec);
  }
  TEST_TRUE (eng_run (eng, S / 2, 0, NULL));
  for (unsigned size = 1; size <= 4; size++) {
    TEST_NEAR (eng_flow_rate (eng, flows[size]), 1, 0);
    TEST_NEAR (eng_flow_remaining (eng, flows[size]), size - 0.5, 1e-15);
  }
  TEST_NEAR (eng_link_carried (eng, use.link), 2, 1e-15);
  eng_flow_set_bound (eng, flows[4], 0.5);
  TEST_TRUE (eng_flow_cancel (eng, flows[3]));
  TEST_FALSE (eng_flow_cancel (eng, flows[3]));
  settle (eng);
  TEST_NEAR (eng_flow_rate (eng, flows[4]), 0.5, 0);
  TEST_NEAR (eng_flow_rate (eng, flows[1]), 1.75, 0);
  TEST_NEAR (eng_flow_rate (eng, flows[3]), 0, 0);
  run (eng);
  TEST_INT (ends[1], 785714285715);
  TEST_INT (ends[2], 1071428571429);
  TEST_INT (ends[3], 0);
  TEST_INT (ends[4], 15 * S / 2);
  TEST_NEAR (eng_link_carried (eng, use.link), 7.5, 1e-15);
}

/* Who is called by whom: `users` of which each counts its flows. */
enum { USERS = 500 };

typedef struct {
  unsigned n[USERS];
  uint64_t sum[USERS];
} Users;

static Users called;

static void
count_call (Eng *eng, void *user, uint64_t arg)
{
  (void)eng;
  unsigned *n = user;
  ++*n;
  called.sum[n - called.n] += arg;
}

/* A thousand flows of the first; flows of 500 others, of which ten move at a time; then two of each at once. Half of the numbers
 * have more than 32 bits. */
static void
each_flow_calls_its_own_with_its_number (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse use = { eng_link_new (eng, 1e6), 1 };
  EngFlowSpec spec = { .amount = 1, .uses = &use, .n_uses = 1, .done = count_call };
  called = (Users){ 0 };
  for (unsigned i = 0; i < 1000 + 3 * USERS; i++) {
    spec.user = &called.n[i < 1000 ? 0 : i % USERS];
    spec.arg = i % 2 == 0 ? i : UINT64_C (1) << 40 | i;
    eng_flow_start (eng, &spec);
    if (i == 999 || (i < 1000 + USERS && i % 10 == 0))
      run (eng);
  }
  run (eng);
  for (unsigned i = 0; i < USERS; i++) {
    uint64_t sum = 0;
    for (unsigned k = i == 0 ? 0 : 1000; k < 1000 + 3 * USERS; k++)
      if (k < 1000 || k % USERS == i)
        sum += k % 2 == 0 ? k : UINT64_C (1) << 40 | k;
    TEST_INT (called.n[i], i == 0 ? 1003 : 3);
    TEST_TRUE (called.sum[i] == sum);
  }
}

/* Weights 2 and 3, priority 4: of a link of 60 that it shares with one of weight 2, priority 1, it takes x with 2 x + 2 x / 4 = 60,
 * 24; the other link would let it have 30 at 90. A bound of 9, then none again. */
static void
weights_a_priority_and_a_bound_go_together (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngUse uses[] = { { eng_link_new (eng, 60), 2 }, { eng_link_new (eng, 90), 3 } };
  EngFlow a = eng_flow_start (eng, &(EngFlowSpec){ .amount = 240, .priority = 4, .bound_per_s = 9, .uses = uses, .n_uses = 2 });
  EngFlow b = eng_flow_start (eng, &(EngFlowSpec){ .amount = 60, .uses = uses, .n_uses = 1 });
  settle (eng);
  TEST_NEAR (eng_flow_rate (eng, a), 9, 0);
  TEST_NEAR (eng_flow_rate (eng, b), 21, 0);
  eng_flow_set_bound (eng, a, (double)INFINITY);
  settle (eng);
  TEST_NEAR (eng_flow_rate (eng, a), 24, 0);
  TEST_NEAR (eng_flow_rate (eng, b), 6, 0);
  eng_flow_set_bound (eng, a, 3);
  settle (eng);
  TEST_NEAR (eng_flow_rate (eng, a), 3, 0);
  TEST_NEAR (eng_flow_rate (eng, b), 27, 0);
  run (eng);
  TEST_NEAR (eng_link_carried (eng, uses[0].link), 2 * 240 + 2 * 60, 0);
  TEST_NEAR (eng_link_carried (eng, uses[1].link), 3 * 240, 0);
}

/* By clocks, flows of six links of 10 each; the first link has 8. Others come when they move: what they have before the instant is
 * solved, and that they may leave in it. A link that is made then is like the others. */
static void
a_flow_that_has_just_come_has_moved_nothing (void)
{
  g_autoptr (Eng) eng = eng_new ();
  EngTime ends[3] = { 0 };
  const double capacities[] = { 8, 10, 10, 10, 10, 10 };
  EngUse uses[7];
  const EngLink first = eng_links_new (eng, capacities, 6);
  eng_set_solve (eng, ENG_SOLVE_CLOCKS);
  for (unsigned i = 0; i < 6; i++)
    uses[i] = (EngUse){ first + i, 1 };
  EngFlowSpec spec = { .amount = 16, .uses = uses, .n_uses = 6, .done = note_time, .user = ends, .arg = 0 };
  EngFlow a = eng_flow_start (eng, &spec);
  spec.arg = 1;
  eng_flow_start (eng, &spec);
  TEST_TRUE (eng_run (eng, S, 0, NULL));
  TEST_NEAR (eng_flow_rate (eng, a), 4, 0);
  TEST_NEAR (eng_flow_remaining (eng, a), 12, 1e-15);
  uses[6] = (EngUse){ eng_link_new (eng, 2), 1 };
  spec.n_uses = 7;
  spec.arg = 2;
  EngFlow c = eng_flow_start (eng, &spec), d = eng_flow_start (eng, &spec);
  TEST_NEAR (eng_flow_rate (eng, c), 0, 0);
  TEST_NEAR (eng_flow_remaining (eng, c), 16, 0);
  TEST_NEAR (eng_link_carried (eng, first), 8, 1e-15);
  TEST_TRUE (eng_flow_cancel (eng, d));
  settle (eng);
  TEST_NEAR (eng_flow_rate (eng, a), 3, 0);
  TEST_NEAR (eng_flow_rate (eng, c), 2, 0);
  EngFlow e = eng_flow_start (eng, &spec);
  eng_flow_set_bound (eng, e, 1); /* stops the clocks while it has just come */
  settle (eng);
  TEST_NEAR (eng_flow_rate (eng, e), 1, 0);
  TEST_NEAR (eng_flow_rate (eng, c), 1, 0);
  TEST_TRUE (eng_flow_cancel (eng, e));
  run (eng);
  TEST_INT (ends[0], 5 * S);
  TEST_INT (ends[1], 5 * S);
  TEST_INT (ends[2], 9 * S);
  TEST_NEAR (eng_link_carried (eng, first), 48, 1e-15);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a mebibyte at 50 GB/s takes 20971520 ps", a_mebibyte_at_50_gigabytes_a_second_takes_20971520_picoseconds },
    { "two flows share a link and the rest speeds up", two_flows_share_a_link_and_the_rest_speeds_up },
    { "a bounded flow leaves what it cannot take", a_bounded_flow_leaves_what_it_cannot_take },
    { "the parking lot gives the long flow half of the least link", the_parking_lot_gives_the_long_flow_half_of_the_least_link },
    { "weights load the link and priorities divide it", weights_load_the_link_and_priorities_divide_it },
    { "a link named twice is one use of the sum", a_link_named_twice_is_one_use_of_the_sum },
    { "a flow takes nothing while it waits for its latency", a_flow_takes_nothing_while_it_waits_for_its_latency },
    { "a flow of nothing ends when its latency is over", a_flow_of_nothing_ends_when_its_latency_is_over },
    { "flows of nothing that start each other are diagnosed", flows_of_nothing_that_start_each_other_are_diagnosed },
    { "any amount takes a picosecond, and ends are never early", any_amount_takes_a_picosecond_and_ends_are_never_early },
    { "transfers beyond 2^53 ps are not rounded", transfers_beyond_2_to_the_53_picoseconds_are_not_rounded },
    { "a transfer that outlives the clock is an error", a_transfer_that_outlives_the_clock_is_an_error },
    { "a change of capacity holds from then on", a_change_of_capacity_holds_from_then_on },
    { "a cancelled flow frees its share and says nothing", a_cancelled_flow_frees_its_share_and_says_nothing },
    { "old handles name nothing", old_handles_name_nothing },
    { "endless flows load links and do not keep a run alive", endless_flows_load_links_and_do_not_keep_a_run_alive },
    { "a flow without links runs at its bound", a_flow_without_links_runs_at_its_bound },
    { "what a link has carried is exact on the way", what_a_link_has_carried_is_exact_on_the_way },
    { "independent transfers cost linear work", independent_transfers_cost_linear_work },
    { "an all-to-all on a star ends in one picosecond", an_all_to_all_on_a_star_ends_in_one_picosecond },
    { "levels that only rounding tells apart are one", levels_that_only_rounding_tells_apart_are_one },
    { "sizes that share a path end in turn, for little work", sizes_that_share_a_path_end_in_turn_for_little_work },
    { "a flow leaves its bundle when its bound changes or it is cancelled",
      a_flow_leaves_its_bundle_when_its_bound_changes_or_it_is_cancelled },
    { "each flow calls its own with its number", each_flow_calls_its_own_with_its_number },
    { "weights, a priority and a bound go together", weights_a_priority_and_a_bound_go_together },
    { "a flow that has just come has moved nothing", a_flow_that_has_just_come_has_moved_nothing },
    { NULL, NULL },
  };
  return test_main ("engine flows", cases);
}
