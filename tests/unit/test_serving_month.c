/* Months of failures: time in states and requests that are cut off, against rates x times by hand. */
#include <math.h>

#include "harness.h"
#include "serving/month.h"

#define DAY_S 86400.

/* Four nodes of eight GPUs, two replicas of four GPUs each on a node. */
static SrvMonthSpec
fleet (void)
{
  return (SrvMonthSpec){
    .pools = 1, .replicas = { 8 }, .gpus = { 4 }, .gpus_per_node = 8, .restart_s = 300, .days = 30, .runs = 4000, .seed = 7
  };
}

static SrvMonthCause
cause (double in_a_month, double nodes)
{
  return (SrvMonthCause){ .name = "part",
                          .of = MDL_UNIT_GPU,
                          .rate_per_s = in_a_month / (30 * DAY_S),
                          .shape = 1,
                          .nodes = nodes,
                          .detect_s = 60,
                          .repair_s = DAY_S };
}

static const SrvMonthState *
state_of (const SrvMonth *month, guint a, guint b)
{
  for (guint i = 0; i < month->states->len; i++) {
    const SrvMonthState *state = &g_array_index (month->states, SrvMonthState, i);
    if (state->lost[0] == a && state->lost[1] == b)
      return state;
  }
  return NULL;
}

static void
a_lost_node_takes_its_replicas_for_the_repair (void)
{
  const SrvMonthSpec spec = fleet ();
  SrvMonthCause causes[] = { cause (0.5, 1) };
  g_autoptr (SrvMonth) month = srv_month_new (&spec, causes, 1);
  const double down_s = 60 + DAY_S + 300, part = 0.5 * down_s / (30 * DAY_S); /* of the month, with two of eight replicas lost */
  TEST_NEAR (month->failures, 0.5, 1e-12);
  TEST_NEAR (causes[0].replicas, 2, 0.02);
  TEST_NEAR (month->capacity, part / 4, 0.05);
  TEST_NEAR (state_of (month, 2, 0)->fraction, part, 0.06);
  TEST_TRUE (state_of (month, 1, 0) == NULL);
  TEST_NEAR (g_array_index (month->losses, SrvMonthLoss, 0).count, 0.5, 0.05);
}

static void
a_spare_leaves_the_restart (void)
{
  SrvMonthSpec spec = fleet ();
  SrvMonthCause causes[] = { cause (0.5, 1) };
  spec.spares = (double)INFINITY;
  g_autoptr (SrvMonth) always = srv_month_new (&spec, causes, 1);
  TEST_NEAR (always->capacity, 0.5 * 360 / (30 * DAY_S) / 4, 0.05);
  spec.spares = 1; /* gone for a day after each: a second failure within a day waits for its own repair */
  g_autoptr (SrvMonth) one = srv_month_new (&spec, causes, 1);
  TEST_TRUE (one->capacity > always->capacity && one->capacity < 10 * always->capacity);
}

static void
without_nodes_one_replica_starts_again (void)
{
  const SrvMonthSpec spec = fleet ();
  SrvMonthCause causes[] = { cause (3, 0) };
  g_autoptr (SrvMonth) month = srv_month_new (&spec, causes, 1);
  TEST_NEAR (causes[0].replicas, 1, 0.01);
  TEST_NEAR (month->capacity, 3 * 360 / (30 * DAY_S) / 8, 0.03);
}

static void
requests_are_weighed_by_time_and_by_failures (void)
{
  SrvMonthSpec spec = fleet ();
  SrvMonthCause causes[] = { cause (2, 0) };
  spec.replicas[0] = 1;
  g_autoptr (SrvMonth) month = srv_month_new (&spec, causes, 1);
  g_array_index (month->states, SrvMonthState, 0).good = 0.99; /* the other one: nobody answers */
  g_array_index (month->losses, SrvMonthLoss, 0).bad = 50;
  const double part = 2 * 360 / (30 * DAY_S);
  const SrvMonthBand good = srv_month_good (month, 1e4);
  TEST_NEAR (good.mean, 0.99 * (1 - part) - 2 * 50 / 1e4, 1e-3);
  TEST_TRUE (good.lo < good.mean && good.mean < good.hi && good.hi <= 0.99 + 1e-12);
  g_array_index (month->states, SrvMonthState, 1).drain = 0.5; /* of a queue that grew meanwhile, half as many again */
  TEST_NEAR (srv_month_good (month, 1e4).mean, good.mean - 0.5 * part, 1e-4);
}

static void
a_node_of_both_pools_takes_replicas_of_both (void)
{
  SrvMonthSpec spec = fleet ();
  SrvMonthCause causes[] = { cause (1, 1), cause (1, 0) };
  spec.pools = 2;
  spec.replicas[0] = 1;
  spec.replicas[1] = 2;
  spec.gpus[1] = 4;
  spec.first[1] = 4; /* beside the prefill replica, and on the next node */
  causes[1].planned = TRUE;
  g_autoptr (SrvMonth) month = srv_month_new (&spec, causes, 2);
  TEST_TRUE (state_of (month, 1, 1) != NULL && state_of (month, 0, 1) != NULL);
  TEST_TRUE (state_of (month, 1, 0) != NULL);      /* planned: one replica at a time */
  for (guint i = 0; i < month->losses->len; i++) { /* what drains cuts nothing off */
    const SrvMonthLoss *loss = &g_array_index (month->losses, SrvMonthLoss, i);
    TEST_TRUE (loss->lost[1] > 0);
  }
}

static void
the_same_seed_gives_the_same_months (void)
{
  SrvMonthSpec spec = fleet ();
  SrvMonthCause causes[] = { cause (4, 1) };
  causes[0].shape = 0.7; /* in bursts */
  g_autoptr (SrvMonth) a = srv_month_new (&spec, causes, 1);
  g_autoptr (SrvMonth) b = srv_month_new (&spec, causes, 1);
  spec.seed++;
  g_autoptr (SrvMonth) other = srv_month_new (&spec, causes, 1);
  TEST_NEAR (a->capacity, b->capacity, 0);
  TEST_TRUE (a->capacity < other->capacity || a->capacity > other->capacity);
  TEST_TRUE (a->capacity > 4 * (DAY_S + 360) / (30 * DAY_S) / 4 * 0.9); /* bursts come early in the month, not less often */
}

static const TestCase cases[] = {
  { "a lost node takes its replicas for the repair", a_lost_node_takes_its_replicas_for_the_repair },
  { "a spare leaves the restart", a_spare_leaves_the_restart },
  { "without nodes one replica starts again", without_nodes_one_replica_starts_again },
  { "requests are weighed by time and by failures", requests_are_weighed_by_time_and_by_failures },
  { "a node of both pools takes replicas of both", a_node_of_both_pools_takes_replicas_of_both },
  { "the same seed gives the same months", the_same_seed_gives_the_same_months },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("serving: month", cases);
}
