/* Training steps over several nodes, taken apart by hand. The fixture's NVLink takes 2 us and 100 GB/s from GPU to GPU, its
 * adapters 10 us and 10 GB/s. F and B are a layer's forward and backward. */
#include <math.h>

#include "base/random.h"
#include "collective/send.h"
#include "scenario_fixture.h"

#define LAYERS(n, more) "layers: [{count: " #n ", forward: 1 ms, backward: 2 ms" more "}]"

static double
part (const ScnResult *r, TrnPart p)
{
  return r->training.part_s[p];
}

static double
total (const TrnResult *t)
{
  double sum_s = 0;
  for (int p = 0; p < TRN_PART_N; p++)
    sum_s += t->part_s[p];
  return sum_s;
}

static void
both_schedules_take_the_closed_form_when_sends_are_free (void)
{
  /* (m + p - 1)(F + B), of which (p - 1)(F + B) is the first stage's bubble */
  static const char *const schedule[] = { "gpipe", "1f1b" };
  for (int i = 0; i < 2; i++)
    for (unsigned p = 1; p <= 4; p++)
      for (unsigned m = 1; m <= 9; m += 2) {
        g_autofree char *text = g_strdup_printf (
            "{kind: training, " LAYERS (4, "") ", parallel: {dp: 1, pp: %u}, micro_batches: %u, schedule: %s}", p, m, schedule[i]);
        g_autoptr (ScnResult) r = scenario_run (4, 1, text, "", COL_MODE_EVENT);
        double one_s = 3e-3 * (4 / p);
        if (4 % p == 0) {
          TEST_NEAR (r->training.step_time_s, (m + p - 1) * one_s, 1e-12);
          TEST_NEAR (part (r, TRN_PART_BUBBLE), (p - 1) * one_s, 1e-12);
          TEST_INT (r->training.stage, 0);
        } else
          TEST_TRUE (r->training.step_time_s > m * 3e-3 * 2); /* three stages: the first has two layers */
        TEST_NEAR (r->training.communication_s, 0, 0);
      }
}

static void
the_first_stages_take_the_layers_that_are_over (void)
{
  /* 5 layers: 3 and 2. F3 F2 B2 B3 = 3 + 2 + 4 + 6 ms; the first stage computes 9 and waits for 6 */
  g_autoptr (ScnResult) r =
      scenario_run (2, 1, "{kind: training, " LAYERS (5, "") ", parallel: {dp: 1, pp: 2}}", "", COL_MODE_EVENT);
  TEST_NEAR (r->training.step_time_s, 15e-3, 1e-12);
  TEST_NEAR (part (r, TRN_PART_COMPUTE), 9e-3, 1e-12);
  TEST_NEAR (part (r, TRN_PART_BUBBLE), 6e-3, 1e-12);
  TEST_STR (r->training.bound_by, "compute");
  TEST_INT (r->training.dp * 10 + r->training.pp, 12);
  /* one micro-batch of four even stages: three stages' F + B are bubble, one is compute */
  g_autoptr (ScnResult) four =
      scenario_run (4, 1, "{kind: training, " LAYERS (4, "") ", parallel: {dp: 1, pp: 4}}", "", COL_MODE_EVENT);
  TEST_STR (four->training.bound_by, "bubble");
}

static void
data_parallel_ranks_are_what_the_stages_leave (void)
{
  g_autoptr (ScnResult) r =
      scenario_run (2, 2, "{kind: training, " LAYERS (2, ", gradient: 10 MB") ", parallel: {pp: 2}}", "", COL_MODE_EVENT);
  TEST_INT (r->training.dp, 2);
  TEST_INT (r->training.n_ranks, 4);
  TEST_INT (r->training.n_nodes, 2);
  TEST_INT (r->run.warnings->len, 0);
  g_autoptr (ScnResult) fewer =
      scenario_run (2, 2, "{kind: training, " LAYERS (2, ", gradient: 10 MB") ", parallel: {dp: 2, pp: 1}}", "", COL_MODE_EVENT);
  TEST_INT (fewer->run.warnings->len, 2); /* two GPUs are idle; the two in use are on one node */
  TEST_HAS (g_ptr_array_index (fewer->run.warnings, 0), "dp 2 x pp 1 uses 2 of 4 GPUs");
  TEST_HAS (g_ptr_array_index (fewer->run.warnings, 1), "never leaves a node");
}

static void
stages_on_different_nodes_send_over_their_adapters (void)
{
  /* dp 2, pp 2 on two nodes of two: stage 0 is node 0. A send is 10 us + 10 MB / 10 GB/s = 1.01 ms, each replica by its own
   * adapter. F S F B S B = 1 + 1.01 + 1 + 2 + 1.01 + 2 ms */
  for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
    g_autoptr (Scn) scenario = NULL;
    g_autoptr (ScnResult) r = scenario_run_kept (
        2, 2, "{kind: training, " LAYERS (2, ", activation: 10 MB") ", parallel: {dp: 2, pp: 2}}", "", mode, &scenario);
    TEST_NEAR (r->training.step_time_s, 8.02e-3, 1e-9);
    TEST_NEAR (part (r, TRN_PART_EXPOSED_PP), 1.01e-3, 1e-9); /* the wait for the gradient while it travels */
    TEST_NEAR (part (r, TRN_PART_BUBBLE), 4.01e-3, 1e-9);     /* 1.01 + 1 + 2 ms before */
    TEST_NEAR (r->training.communication_s, 2.02e-3, 1e-9);
    TEST_NEAR (r->training.exposed_fraction, .5, 1e-9);
    TEST_STR (r->training.bound_by, "bubble"); /* 3 ms of compute */
    if (mode == COL_MODE_EVENT) {
      /* two replicas, there and back, 10 MB to the switch and from it */
      const ColLinkUse *use = &g_array_index (r->run.links, ColLinkUse, 0);
      TEST_STR (use->link_class, "ib");
      TEST_NEAR (use->bytes, 80e6, 1e-9);
    }
  }
}

static void
a_step_of_long_sends_is_bound_by_their_link (void)
{
  /* 10.01 ms each way beside 6 ms of compute on the critical path */
  g_autoptr (ScnResult) r =
      scenario_run (2, 2, "{kind: training, " LAYERS (2, ", activation: 100 MB") ", parallel: {dp: 2, pp: 2}}", "", COL_MODE_EVENT);
  TEST_NEAR (r->training.step_time_s, 26.02e-3, 1e-9);
  TEST_STR (r->training.bound_by, "ib");
  g_autoptr (ScnResult) inside =
      scenario_run (4, 1, "{kind: training, " LAYERS (2, ", activation: 1 GB") ", parallel: {dp: 2, pp: 2}}", "", COL_MODE_EVENT);
  TEST_STR (inside->training.bound_by, "nv");
  g_autoptr (ScnResult) latency = scenario_run (
      2, 2, "{kind: training, layers: [{count: 2, forward: 1 us, backward: 1 us, activation: 1 kB}], parallel: {dp: 2, pp: 2}}", "",
      COL_MODE_EVENT);
  TEST_STR (latency->training.bound_by, "latency");
}

static void
sends_that_do_not_overlap_hold_the_sender (void)
{
  /* S = 2 us + 100 MB / 100 GB/s = 1.002 ms. Stage 0: F S F S . B . B, stage 1: . F B S F B S; the path is F S F B S F B S B */
  g_autoptr (ScnResult) r = scenario_run (
      2, 1,
      "{kind: training, " LAYERS (2, ", activation: 100 MB") ", parallel: {dp: 1, pp: 2}, micro_batches: 2, p2p_overlap: false}",
      "", COL_MODE_EVENT);
  TEST_NEAR (r->training.step_time_s, 12.006e-3, 1e-9);
  TEST_NEAR (part (r, TRN_PART_COMPUTE), 6e-3, 1e-9);
  TEST_NEAR (part (r, TRN_PART_EXPOSED_PP), 4.008e-3, 1e-9); /* two of its own, two that it waits for */
  TEST_NEAR (part (r, TRN_PART_BUBBLE), 1.998e-3, 1e-9);
  TEST_NEAR (r->training.communication_s, 4.008e-3, 1e-9);
  TEST_NEAR (r->training.exposed_fraction, 1, 1e-9);
  /* beside compute: F F . . B . B against . F B F B: the path is F S F B F B S B */
  g_autoptr (ScnResult) beside =
      scenario_run (2, 1, "{kind: training, " LAYERS (2, ", activation: 100 MB") ", parallel: {dp: 1, pp: 2}, micro_batches: 2}",
                    "", COL_MODE_EVENT);
  TEST_NEAR (beside->training.step_time_s, 11.004e-3, 1e-9);
}

static gboolean
send_price (const Clu *clu, const ColSettings *settings, const guint32 *from, const guint32 *to, guint32 n, double bytes,
            ColAnswer *out, GError **error)
{
  g_autoptr (ColRoutes) routes = col_routes_new (clu, settings);
  g_autoptr (ColSendPairs) pairs = col_send_pairs_new (routes, clu, settings, &(ColSends){ from, to, n }, error);
  return pairs != NULL && col_send_pairs_price (pairs, bytes, out, error);
}

static void
a_pair_across_nodes_sets_the_pace_of_all_sends (void)
{
  /* nodes of four, three replicas: gpu0 -> gpu3 stays inside, gpu1 -> gpu4 and gpu2 -> gpu5 cross */
  static const guint32 from[] = { 0, 1, 2 }, to[] = { 3, 4, 5 };
  g_autofree char *text = scenario_text (4, 2, "{kind: collective, op: all_reduce, bytes: 1 MB}", "");
  g_autoptr (Scn) scenario = scenario_load (text, NULL, NULL, NULL);
  const Clu *clu = scn_cluster (scenario);
  ColSettings settings = *scn_settings (scenario);
  g_auto (ColAnswer) coll = { 0 };
  TEST_TRUE (send_price (clu, &settings, from, to, 3, 1e6, &coll, NULL));
  TEST_NEAR (coll.time_s, 10e-6 + 1e6 / 10e9, 1e-9);
  TEST_STR (coll.bound_by, "ib");
  TEST_TRUE (send_price (clu, &settings, to, from, 3, 1e6, &coll, NULL));
  TEST_NEAR (coll.time_s, 10e-6 + 1e6 / 10e9, 1e-9);
  TEST_TRUE (send_price (clu, &settings, from, to, 1, 1e6, &coll, NULL));
  TEST_NEAR (coll.time_s, 2e-6 + 1e6 / 100e9, 1e-9);
  TEST_STR (coll.bound_by, "nv");
  TEST_TRUE (send_price (clu, &settings, from, to, 3, 0, &coll, NULL));
  TEST_STR (coll.bound_by, "latency");
  settings.degrade.max_nics = 1; /* both pairs by one adapter */
  TEST_TRUE (send_price (clu, &settings, from, to, 3, 1e6, &coll, NULL));
  TEST_TRUE (coll.time_s >= 10e-6 + 2e6 / 10e9 && coll.time_s <= 14e-6 + 2e6 / 10e9);
}

static void
stages_that_share_an_adapter_slow_each_other_down (void)
{
  /* three nodes of two with one adapter in use; dp 3: stage 0 is node 0 and half of node 1, stage 1 the rest. Each all-reduce of
   * 30 MB crosses node 1's adapter with 2 x 2/3 x 30 MB: 4 ms alone. Stage 1 is ready at 4 ms, stage 0 at 6.
   * Without contention stage 0 ends at 10 ms. With it: stage 1 alone to 6, both at half rate to 10, stage 0 alone to 12. Latencies
   * of four steps come on top, at most 14 us each. */
  static const char *const text = "{kind: training, " LAYERS (2, ", gradient: 30 MB") ", parallel: {dp: 3, pp: 2}, algo: ring}";
  g_autoptr (ScnResult) event = scenario_run (2, 3, text, "degrade: [{nics: 1}]\n", COL_MODE_EVENT);
  g_autoptr (ScnResult) model = scenario_run (2, 3, text, "degrade: [{nics: 1}]\n", COL_MODE_MODEL);
  TEST_TRUE (model->training.step_time_s > 10e-3 && model->training.step_time_s < 10.06e-3);
  TEST_TRUE (event->training.step_time_s > 12e-3 && event->training.step_time_s < 12.12e-3);
  TEST_STR (event->training.bound_by, "ib");
}

static void
a_step_is_bound_by_the_all_reduce_that_outlasts_its_compute (void)
{
  /* two GPUs: a bucket of S bytes takes S / 100 GB/s and 4 us. 10 layers: 10 + 20 ms of compute */
  static const struct {
    const char *gradient, *overlap, *bound_by;
    double step_s;
  } rows[] = {
    { "190 MB", "true", "compute", 30e-3 + 1.904e-3 }, /* hidden but for the last bucket */
    { "200 MB", "false", "compute", 30e-3 + 10 * 2.004e-3 },
    { "400 MB", "false", "nv", 30e-3 + 10 * 4.004e-3 },
    { "400 MB", "true", "nv", 12e-3 + 10 * 4.004e-3 }, /* ready at 12 ms, then end to end */
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text =
        g_strdup_printf ("{kind: training, " LAYERS (10, ", gradient: %s") ", algo: ring, ddp: {bucket: 0, overlap: %s}}",
                         rows[i].gradient, rows[i].overlap);
    g_autoptr (ScnResult) r = scenario_run (2, 1, text, "", COL_MODE_EVENT);
    TEST_NEAR (r->training.step_time_s, rows[i].step_s, 1e-9);
    TEST_STR (r->training.bound_by, rows[i].bound_by);
    TEST_INT (r->training.n_buckets, 10);
    TEST_NEAR (r->training.comm_compute_ratio, r->training.communication_s / 30e-3, 1e-12);
  }
}

static void
no_gradients_are_no_reduction (void)
{
  g_autoptr (ScnResult) r = scenario_run (2, 1, "{kind: training, " LAYERS (3, "") ", optimizer_time: 5 ms}", "", COL_MODE_EVENT);
  TEST_NEAR (r->training.step_time_s, 14e-3, 1e-12);
  TEST_NEAR (part (r, TRN_PART_OPTIMIZER), 5e-3, 1e-12);
  TEST_INT (r->training.n_buckets, 0);
  TEST_INT (r->training.all_reduce.n_ranks, 0);
  TEST_TRUE (isnan (r->training.exposed_fraction));
}

static void
a_bucket_does_not_wait_for_frozen_layers_before_it (void)
{
  /* 1 GB of the last layer is ready after 4 F and its own B, at 6 ms: 10 ms and 4 us to reduce. The frozen layers' backward ends at
   * 12 ms */
  g_autoptr (ScnResult) r = scenario_run (2, 1,
                                          "{kind: training, layers: [{count: 3, forward: 1 ms, backward: 2 ms}, {forward: 1 ms, "
                                          "backward: 2 ms, gradient: 1 GB}], algo: "
                                          "ring, ddp: {bucket: 10 GB}}",
                                          "", COL_MODE_EVENT);
  TEST_NEAR (r->training.step_time_s, 16.004e-3, 1e-9);
  TEST_INT (r->training.n_buckets, 1);
}

static void
only_the_last_micro_batch_reduces (void)
{
  /* 3 x (F + B) without, then F and the first bucket as ever: 2 x 3 + 2 x 1 + 2 = 10 ms, two buckets of 10.004 ms */
  g_autoptr (ScnResult) r =
      scenario_run (2, 1, "{kind: training, " LAYERS (2, ", gradient: 1 GB") ", micro_batches: 2, algo: ring}", "", COL_MODE_EVENT);
  TEST_NEAR (r->training.step_time_s, 6e-3 + 4e-3 + 2 * 10.004e-3, 1e-9);
  TEST_INT (r->training.n_buckets, 2);
}

static void
parts_always_sum_to_the_step_and_runs_repeat (void)
{
  BaseRandom random = base_random_stream (1, "test_training_step");
  for (unsigned i = 0; i < 200; i++) {
    unsigned pp = 1 + base_random_below (&random, 4), dp = 1 + base_random_below (&random, 3);
    g_autofree char *text = g_strdup_printf (
        "{kind: training, layers: [{count: %u, forward: %u us, backward: %u us, gradient: %u kB, activation: %u kB}, {count: %u, "
        "forward: %u us, backward: 1 ms, gradient: %u kB}], micro_batches: %u, schedule: %s, p2p_overlap: %s, optimizer_time: %u "
        "us, ddp: {bucket: %u kB, overlap: %s}, parallel: {dp: %u, pp: %u}}",
        1 + base_random_below (&random, 5), base_random_below (&random, 2000), base_random_below (&random, 2000),
        base_random_below (&random, 30000), base_random_below (&random, 20000), pp, base_random_below (&random, 2000),
        base_random_below (&random, 9000), 1 + base_random_below (&random, 5), i % 2 ? "gpipe" : "1f1b", i % 3 ? "true" : "false",
        base_random_below (&random, 500), base_random_below (&random, 40000), i % 5 ? "true" : "false", dp, pp);
    ColMode mode = i % 7 ? COL_MODE_EVENT : COL_MODE_MODEL;
    g_autoptr (ScnResult) r = scenario_run (3, 4, text, "", mode), again = scenario_run (3, 4, text, "", mode);
    const TrnResult *t = &r->training;
    TEST_NEAR (total (t), t->step_time_s, 1e-12);
    TEST_TRUE (t->ideal_bound_s <= t->step_time_s * (1 + 1e-9));
    TEST_TRUE (t->communication_s <= 0 || t->exposed_fraction <= 1 + 1e-9);
    TEST_TRUE (t->step_time_lo_s <= t->step_time_s && t->step_time_s <= t->step_time_hi_s);
    TEST_TRUE (memcmp (t->part_s, again->training.part_s, sizeof t->part_s) == 0);
    TEST_TRUE (memcmp (&t->step_time_s, &again->training.step_time_s, sizeof t->step_time_s) == 0);
    TEST_INT (r->run.n_events, again->run.n_events);
  }
}

static void
more_micro_batches_add_just_their_compute_without_sends (void)
{
  /* doubling m adds m (F + B) */
  g_autoptr (ScnResult) few =
      scenario_run (4, 1, "{kind: training, " LAYERS (4, "") ", parallel: {dp: 1, pp: 4}, micro_batches: 4}", "", COL_MODE_EVENT);
  g_autoptr (ScnResult) many =
      scenario_run (4, 1, "{kind: training, " LAYERS (4, "") ", parallel: {dp: 1, pp: 4}, micro_batches: 8}", "", COL_MODE_EVENT);
  TEST_NEAR (many->training.step_time_s - few->training.step_time_s, 4 * 3e-3, 1e-9);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "both schedules take the closed form when sends are free", both_schedules_take_the_closed_form_when_sends_are_free },
    { "the first stages take the layers that are over", the_first_stages_take_the_layers_that_are_over },
    { "data-parallel ranks are what the stages leave", data_parallel_ranks_are_what_the_stages_leave },
    { "stages on different nodes send over their adapters", stages_on_different_nodes_send_over_their_adapters },
    { "a step of long sends is bound by their link", a_step_of_long_sends_is_bound_by_their_link },
    { "sends that do not overlap hold the sender", sends_that_do_not_overlap_hold_the_sender },
    { "a pair across nodes sets the pace of all sends", a_pair_across_nodes_sets_the_pace_of_all_sends },
    { "stages that share an adapter slow each other down", stages_that_share_an_adapter_slow_each_other_down },
    { "a step is bound by the all-reduce that outlasts its compute", a_step_is_bound_by_the_all_reduce_that_outlasts_its_compute },
    { "no gradients are no reduction", no_gradients_are_no_reduction },
    { "a bucket does not wait for frozen layers before it", a_bucket_does_not_wait_for_frozen_layers_before_it },
    { "only the last micro-batch reduces", only_the_last_micro_batch_reduces },
    { "parts always sum to the step, and runs repeat", parts_always_sum_to_the_step_and_runs_repeat },
    { "more micro-batches add just their compute", more_micro_batches_add_just_their_compute_without_sends },
    { NULL, NULL },
  };
  return test_main ("training steps over several nodes", cases);
}
