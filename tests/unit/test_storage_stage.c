/* A data set of 100 GB staged on four nodes of one GPU, by hand: an adapter of 10 GB/s each, a tier of 20 GB/s on the fabric, four
 * drives of 5 GB/s read and written. A step computes 0.1 s and uses 4 GB. */
#include <math.h>

#include "scenario_fixture.h"

static ScnResult *
run (const char *stage, const char *tier, ColMode mode, char **why)
{
  g_autofree char *workload = g_strdup_printf ("{kind: training, layers: [{forward: 40 ms, backward: 60 ms}], loader: {tier: %s, "
                                               "sample: 100 MB, samples: 10, workers: 64, stage: %s}}",
                                               tier, stage);
  g_autofree char *text = scenario_text (1, 4, workload, "");
  const char *const sets[] = { "topology.storage=[{name: fs, tier: parallel_fs, per_server: 20 GB/s, network: fabric}]",
                               "topology.node.storage={local_nvme: {drives: 4, type: {drive: d, capacity: 50 GB, read: 5 GB/s, "
                               "write: 5 GB/s, latency: 0, blend: 16, pcie: {class: {link_class: pci, family: pcie, efficiency: 1, "
                               "latency: 0, duplex: 1}, rate: 50 GB/s}}}}",
                               "topology.node.sockets.memory=400 GB/s", NULL };
  const ScnOptions options = { .has_mode = TRUE, .mode = mode };
  g_autoptr (Scn) scenario = scenario_load (text, sets, &options, why);
  g_autoptr (GError) error = NULL;
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL && why == NULL)
    g_error ("%s: %s", stage, error != NULL ? error->message : "not loaded");
  return result;
}

static void
time_and_epochs_to_pay_follow_from_bytes_and_rates (void)
{
  /* Read from the tier, 4 GB take 0.2 s: a step would wait 0.1 s, 2.5 s an epoch of 25 steps. From drives it waits for nothing. */
  static const struct {
    const char *stage, *bound_by;
    double time_s, model_s, node_B;
  } rows[] = {
    /* 400 GB out of the tier */
    { "{from: fs, bytes: 100 GB}", "read", 20, 20, 100e9 },
    /* 100 GB into each adapter at 10 GB/s, 25 of the tier's and 75 of the node's before it; in closed form the latter alone */
    { "{from: fs, bytes: 100 GB, how: peers}", "peers", 10, 7.5, 100e9 },
    { "{from: fs, bytes: 100 GB, hold: part}", "read", 5, 5, 25e9 },
    { "{from: fs, bytes: 100 GB, hold: part, how: peers}", "read", 5, 5, 25e9 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
      g_autoptr (ScnResult) r = run (rows[i].stage, "nvme", mode, NULL);
      const TrnStageResult *s = &r->training.loader.stage;
      double time_s = mode == COL_MODE_EVENT ? rows[i].time_s : rows[i].model_s;
      test_near (s->time_s, time_s, 5e-3, rows[i].stage, __FILE__, __LINE__);
      TEST_STR (s->bound_by, rows[i].bound_by);
      TEST_NEAR (s->node_B, rows[i].node_B, 1e-12);
      TEST_NEAR (s->direct_s, 0.1, 0.01);
      TEST_NEAR (s->epoch_steps, 25, 1e-12);
      TEST_NEAR (s->epochs, time_s / 2.5, 0.02);
      TEST_NEAR (r->training.step_time_s, 0.1, 1e-6);
    }
}

static void
what_never_waited_has_nothing_to_gain (void)
{
  g_autofree char *workload =
      g_strdup ("{kind: training, layers: [{forward: 4 s, backward: 6 s}], loader: {tier: nvme, sample: 100 "
                "MB, samples: 10, stage: {from: fs, bytes: 100 GB}}}");
  g_autofree char *slow = scenario_text (1, 1, workload, "");
  const char *const sets[] = { "topology.storage=[{name: fs, tier: parallel_fs, per_server: 20 GB/s, network: fabric}]",
                               "topology.node.storage={local_nvme: {drives: 4, type: nvme_gen5}}", NULL };
  g_autoptr (Scn) scenario = scenario_load (slow, sets, NULL, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ScnResult) idle = scn_run (scenario, FALSE, &error);
  TEST_TRUE (isnan (idle->training.loader.stage.epochs));
  TEST_NEAR (idle->training.loader.stage.saved_s, 0, 1e-6);
}

static void
drives_and_the_way_into_a_node_bound_it (void)
{
  static const char *const how[] = { "each", "peers" };
  for (unsigned h = 0; h < 2; h++) {
    g_autofree char *stage = g_strdup_printf ("{from: fs, bytes: 100 GB, how: %s}", how[h]);
    g_autoptr (ScnResult) r = run (stage, "nvme", COL_MODE_EVENT, NULL);
    /* drives, and the way into the node, bound it whatever the tier gives */
    TEST_TRUE (r->training.loader.stage.time_s >= 100.0 / 20 && r->training.loader.stage.time_s >= 100.0 / 10 * (1 - 1e-9));
  }
}

static void
what_cannot_be_is_refused_at_its_place (void)
{
  static const struct {
    const char *stage, *tier, *says;
  } rows[] = {
    { "{from: fs, bytes: 100 GB}", "fs", "'stage' copies to the nodes' drives; accepted beside it: tier: nvme" },
    { "{from: scratch, bytes: 100 GB}", "nvme", "has no storage tier 'scratch'; accepted: fs, nvme" },
    { "{from: nvme, bytes: 100 GB}", "nvme", "the drives are where it goes" },
    { "{from: fs, bytes: 1 TB}", "nvme", "1 TB do not fit on a node's drives, which hold 0.2 TB; accepted: hold: part, or less" },
    { "{from: fs, bytes: 1 TB, hold: part}", "nvme", "0.25 TB do not fit" },
    { "{from: fs}", "nvme", "'bytes' in 'stage' is missing" },
    { "{from: fs, bytes: 1 GB, how: torrent}", "nvme", "'how' must be one of each, peers" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *why = NULL;
    g_autoptr (ScnResult) r = run (rows[i].stage, rows[i].tier, COL_MODE_EVENT, &why);
    TEST_TRUE (r == NULL);
    TEST_HAS (why != NULL ? why : "", rows[i].says);
  }
}

static const TestCase cases[] = {
  { "time, and epochs to pay, follow from bytes and rates", time_and_epochs_to_pay_follow_from_bytes_and_rates },
  { "what never waited has nothing to gain", what_never_waited_has_nothing_to_gain },
  { "drives and the way into a node bound it", drives_and_the_way_into_a_node_bound_it },
  { "what cannot be is refused at its place", what_cannot_be_is_refused_at_its_place },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("staging", cases);
}
