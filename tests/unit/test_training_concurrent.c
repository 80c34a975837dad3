/* Drains and reads beside a step, by hand, on the fixture's cluster: two nodes of one GPU whose adapter of 10 GB/s carries
 * gradients and storage. A step computes 100 ms, then reduces 1 GB over the two: a byte a byte, 0.1 s alone. Storage is no
 * bound. */
#include <math.h>

#include "goodput/goodput.h"
#include "scenario_fixture.h"

#define STORAGE(network)                                                                                                      \
  "topology.storage=[{name: fs, type: {storage_type: t, kind: parallel_fs, blend: 16, read: {rate: 1 TB/s}, write: {rate: 1 " \
  "TB/s}}, network: " network "}]"
#define LAYERS "layers: [{forward: 40 ms, backward: 60 ms, gradient: 1 GB}], algo: ring"

/* `more`: keys of the workload. */
static ScnResult *
run_on (const char *storage, ColMode mode, const char *more)
{
  g_autofree char *workload = g_strdup_printf ("{kind: training, " LAYERS ", %s}", more);
  g_autofree char *text = scenario_text (1, 2, workload, "");
  const char *const sets[] = { storage, "topology.frontend={rate: 10 GB/s}", NULL };
  const ScnOptions options = { .has_mode = TRUE, .mode = mode };
  g_autoptr (Scn) scenario = scenario_load (text, sets, &options, NULL);
  g_autoptr (GError) error = NULL;
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s: %s", more, error != NULL ? error->message : "not loaded");
  return result;
}

static ScnResult *
run (const char *more)
{
  return run_on (STORAGE ("fabric"), COL_MODE_EVENT, more);
}

static double
sum_s (const TrnResult *t)
{
  double sum = 0;
  for (int p = 0; p < TRN_PART_N; p++)
    sum += t->part_s[p];
  return sum;
}

#define SAVE(state, every) "checkpoint: {tier: fs, software: raw, mode: async, threads: 64, bytes: " state ", every: " every "}"

static void
a_drain_over_the_adapters_slows_the_steps_it_lasts_through (void)
{
  /* Each of two writers drains at 10 GB/s while the step computes, 1 GB, and at 5 while it reduces, for 0.2 s in place of 0.1, 1
   * GB: 2 GB in a step of 0.3 s in place of 0.2. */
  static const struct {
    const char *save;
    double alone_s, drain_s, slow_steps, slowed_s, wait_s;
  } rows[] = {
    { SAVE ("1.8 GB", "100"), 0.09, 0.09, 0, 0, 0 }, /* over before the gradients */
    { SAVE ("3 GB", "100"), 0.15, 0.2, 1, 0.05, 0 }, /* half a GB each: 0.1 s at 5 GB/s, the rest of the gradients at 10 */
    { SAVE ("18 GB", "100"), 0.9, 1.3, 4, 0.4, 0 },  /* four steps, and 0.1 s of the fifth */
    { SAVE ("20 GB", "100"), 1, 1.5, 5, 0.5, 0 },
    { SAVE ("23 GB", "100"), 1.15, 1.7, 6, 0.55, 0 }, /* five, and 1.5 GB as above */
    { SAVE ("20 GB", "3"), 1, 1.3, 3, 0.3, 0.4 },     /* 6 GB each are through after three steps: 4 GB more are waited for */
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (ScnResult) r = run (rows[i].save);
    const TrnResult *t = &r->training;
    const TrnCheckpointResult *c = &t->checkpoint;
    test_near (c->drain_alone_s, rows[i].alone_s, 2e-3, rows[i].save, __FILE__, __LINE__);
    test_near (c->drain_s, rows[i].drain_s, 2e-3, rows[i].save, __FILE__, __LINE__);
    test_near (c->slowed_s, rows[i].slowed_s, 2e-3, rows[i].save, __FILE__, __LINE__);
    test_near (c->slow_steps, rows[i].slow_steps, 1e-12, rows[i].save, __FILE__, __LINE__);
    test_near (c->wait_s, rows[i].wait_s, 2e-3, rows[i].save, __FILE__, __LINE__);
    if (rows[i].slow_steps > 1)
      TEST_NEAR (c->slow_step_s, 0.3, 1e-3);
    TEST_NEAR (t->part_s[TRN_PART_CHECKPOINT], (c->stall_s + c->slowed_s) / c->every, 1e-9);
    TEST_NEAR (t->step_time_s, 0.2 + t->part_s[TRN_PART_CHECKPOINT], 1e-3);
    TEST_NEAR (sum_s (t), t->step_time_s, 1e-9);
  }
}

static void
a_drain_elsewhere_slows_nothing (void)
{
  for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++)
    for (int frontend = 0; frontend <= 1; frontend++) {
      if (mode == COL_MODE_EVENT && !frontend)
        continue; /* as above */
      g_autoptr (ScnResult) r = run_on (frontend ? STORAGE ("frontend") : STORAGE ("fabric"), mode, SAVE ("20 GB", "100"));
      const TrnCheckpointResult *c = &r->training.checkpoint;
      TEST_NEAR (c->drain_s, c->drain_alone_s, 0);
      TEST_NEAR (c->drain_s, 1, 2e-3);
      TEST_NEAR (c->slowed_s, 0, 0);
      TEST_NEAR (c->slow_steps, 0, 0);
      TEST_NEAR (r->training.step_time_s, 0.2 + c->stall_s / 100, 1e-3);
    }
}

static void
goodput_counts_what_steps_lose_to_a_drain (void)
{
  /* 10 GB by each of two writers: a copy through 40 GB/s of host memory, 0.25 s, and 0.5 s that five steps lose. */
  g_autofree char *text =
      scenario_text (1, 2, "{kind: training, " LAYERS ", failures: {rates: llama3_2024, days: 1}, " SAVE ("20 GB", "100") "}", "");
  const char *const sets[] = { STORAGE ("fabric"), NULL };
  g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ScnResult) r = scn_run (scenario, FALSE, &error);
  g_autoptr (Gdp) goodput = gdp_scenario_goodput (scenario, r, NULL, &error);
  TEST_TRUE (goodput != NULL);
  TEST_NEAR (goodput->checkpoint.stall_s, 0.25 + 0.5, 0.01);
  TEST_NEAR (goodput->checkpoint.drain_s, 1.5, 0.01);
}

static void
a_larger_state_never_costs_less_and_the_steps_add_up (void)
{
  double before_s = 0, before_drain_s = 0;
  for (unsigned state = 1; state <= 1024; state *= 2)
    for (unsigned every = 5; every <= 500; every *= 10) {
      g_autofree char *more = g_strdup_printf (
          "checkpoint: {tier: fs, software: raw, mode: async, threads: 64, bytes: %u GB, every: %u}", state, every);
      g_autoptr (ScnResult) r = run (more);
      const TrnCheckpointResult *c = &r->training.checkpoint;
      TEST_TRUE (c->drain_s >= c->drain_alone_s * (1 - 1e-9));
      TEST_TRUE (c->slow_steps <= every);
      TEST_TRUE (c->slowed_s <= c->slow_steps * 0.1 * (1 + 1e-3));
      TEST_TRUE (c->slow_step_s <= 0.3 * (1 + 1e-3));
      if (every == 500) {
        TEST_TRUE (c->drain_s > before_drain_s && c->slowed_s >= before_s);
        before_drain_s = c->drain_s;
        before_s = c->slowed_s;
      }
      /* no byte is moved twice: the adapter carries the drain, and the gradients of all steps meanwhile */
      double gradients_s = 0.1 * fmax (floor (c->drain_s / 0.3) - 1, 0);
      TEST_TRUE (c->wait_s > 0 || c->drain_s >= (state / 2.0 / 10 + gradients_s) * (1 - 1e-3));
    }
}

static void
reads_that_cross_the_adapters_slow_the_step (void)
{
  /* A reader a node asks for 1 GB in 0.2 s, 5 GB/s: into the adapter, as gradients come, which have 5 until the reads are through
   * at 0.2 s, and then 10 for the other half: 0.05 s more. */
  g_autoptr (ScnResult) r = run ("loader: {tier: fs, sample: 100 MB, samples: 10, workers: 64}");
  const TrnResult *t = &r->training;
  TEST_NEAR (t->loader.slows_s, 0.05, 2e-3);
  TEST_NEAR (t->loader.stall_s, 0, 1e-9);
  TEST_NEAR (t->part_s[TRN_PART_DATA_STALL], 0.05, 2e-3);
  TEST_NEAR (t->step_time_s, 0.25, 2e-3);
  TEST_NEAR (sum_s (t), t->step_time_s, 1e-9);
  g_autoptr (ScnResult) apart =
      run_on (STORAGE ("frontend"), COL_MODE_EVENT, "loader: {tier: fs, sample: 100 MB, samples: 10, workers: 64}");
  TEST_NEAR (apart->training.loader.slows_s, 0, 0);
  TEST_NEAR (apart->training.step_time_s, 0.2, 1e-3);
}

static void
reads_get_no_more_than_the_step_leaves (void)
{
  /* 3 GB a step: 0.3 s of the adapter alone. Pressed, they have 10 GB/s for 0.1 s and 5 for 0.2: 2 GB in 0.3 s, and 3 in 0.45. */
  g_autoptr (ScnResult) r = run ("loader: {tier: fs, sample: 300 MB, samples: 10, workers: 64}");
  const TrnResult *t = &r->training;
  TEST_NEAR (t->step_time_s, 0.45, 0.01);
  TEST_STR (t->loader.starved_by, "storage");
  TEST_NEAR (sum_s (t), t->step_time_s, 1e-9);
}

static void
a_drain_and_reads_of_one_tier_share_its_servers (void)
{
  /* No gradients. A tier of 10 GB/s either way on the front-end; a step of 100 ms reads 2 x 250 MB, half of the servers' time. A
   * drain takes the rest: 20 GB in 4 s, 40 steps; none is later for it. */
  static const char workload[] =
      "{kind: training, layers: [{forward: 40 ms, backward: 60 ms}], loader: {tier: fs, sample: 25 MB, samples: 10, workers: 64}, "
      "checkpoint: {tier: fs, software: raw, mode: async, threads: 64, bytes: 20 GB, every: 100}}";
  g_autofree char *text = scenario_text (1, 2, workload, "");
  const char *const sets[] = { "topology.storage=[{name: fs, type: {storage_type: t, kind: parallel_fs, blend: 16, read: {rate: 10 "
                               "GB/s}, write: {rate: 10 GB/s}}}]",
                               "topology.frontend={rate: 100 GB/s}", NULL };
  g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ScnResult) r = scn_run (scenario, FALSE, &error);
  const TrnCheckpointResult *c = &r->training.checkpoint;
  TEST_NEAR (c->drain_alone_s, 2, 1e-3);
  TEST_NEAR (c->drain_s, 4, 0.01);
  TEST_NEAR (c->slowed_s, 0, 1e-3);
  TEST_NEAR (r->training.step_time_s, 0.1 + c->stall_s / 100, 1e-3);
}

static const TestCase cases[] = {
  { "a drain over the adapters slows the steps it lasts through", a_drain_over_the_adapters_slows_the_steps_it_lasts_through },
  { "a drain elsewhere slows nothing", a_drain_elsewhere_slows_nothing },
  { "goodput counts what steps lose to a drain", goodput_counts_what_steps_lose_to_a_drain },
  { "a larger state never costs less, and the steps add up", a_larger_state_never_costs_less_and_the_steps_add_up },
  { "reads that cross the adapters slow the step", reads_that_cross_the_adapters_slow_the_step },
  { "reads get no more than the step leaves", reads_get_no_more_than_the_step_leaves },
  { "a drain and reads of one tier share its servers", a_drain_and_reads_of_one_tier_share_its_servers },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("traffic beside a step", cases);
}
