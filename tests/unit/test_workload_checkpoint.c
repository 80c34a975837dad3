/* Checkpoints on the fixture's cluster, copies and storage alone: steps of 100 ms on two GPUs of one node whose memory of 40 GB/s
 * both copy through; a tier of 8 GB/s read and 4 GB/s written; a state of 80 GB. */
#include <math.h>

#include "scenario_fixture.h"

static WrkResult *
run (unsigned n_nodes, const char *checkpoint, char **why)
{
  g_autofree char *workload = g_strdup_printf (
      "{kind: training, layers: [{forward: 40 ms, backward: 60 ms}], checkpoint: {tier: fs, threads: 64, %s}}", checkpoint);
  g_autofree char *text = scenario_text (2, n_nodes, workload, "");
  const char *const sets[] = { "topology.storage=[{name: fs, type: {storage_type: t, kind: parallel_fs, gds: yes, blend: 16, read: "
                               "{rate: 8 GB/s}, write: {rate: "
                               "4 GB/s}}, network: fabric}]",
                               NULL };
  g_autoptr (WrkScenario) scenario = scenario_load (text, sets, NULL, why);
  g_autoptr (GError) error = NULL;
  WrkResult *result = scenario != NULL ? wrk_scenario_run (scenario, FALSE, &error) : NULL;
  if (result == NULL && why == NULL)
    g_error ("%s: %s", checkpoint, error != NULL ? error->message : "not loaded");
  return result;
}

static void
stall_drain_and_restore_follow_from_bytes_and_rates (void)
{
  static const struct {
    unsigned n_nodes;
    const char *checkpoint;
    double snapshot_s, write_s, stall_s, drain_s, restore_s;
  } rows[] = {
    /* two copies of 40 GB through 40 GB/s; 80 GB written at 4; each of two replicas reads 80 GB */
    { 1, "every: 1000, bytes: 80 GB", 2, 20, 20, 0, 20 },
    { 1, "every: 1000, bytes: 80 GB, mode: async", 2, 20, 2, 20, 20 },
    /* the next comes after 10 steps of 100 ms: 19 of the 20 s are waited for */
    { 1, "every: 10, bytes: 80 GB, mode: async", 2, 20, 21, 20, 20 },
    /* four writers on two nodes: half the bytes a node; four replicas read */
    { 2, "every: 1000, bytes: 80 GB", 1, 20, 20, 0, 40 },
    /* one of the four ranks; the others' 60 GB come to it over its adapter of 10 GB/s */
    { 2, "every: 1000, bytes: 80 GB, shards: rank0", 2, 20, 6 + 20, 0, 40 },
    { 2, "every: 1000, bytes: 80 GB, shards: replica", 2, 20, 20, 0, 40 },
    { 1, "every: 1000, bytes: 80 GB, path: gds, software: raw", 0, 20, 20, 0, 20 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (WrkResult) r = run (rows[i].n_nodes, rows[i].checkpoint, NULL);
    const WrkCheckpointResult *c = &r->training.checkpoint;
    test_near (c->snapshot_s, rows[i].snapshot_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->write_s, rows[i].write_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->stall_s, rows[i].stall_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->drain_s, rows[i].drain_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->restore_s, rows[i].restore_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    TEST_NEAR (r->training.part_s[WRK_PART_CHECKPOINT], c->stall_s / c->every, 1e-9);
    TEST_NEAR (r->training.step_time_s, 0.1 + c->stall_s / c->every, 1e-3);
    TEST_INT (r->warnings->len, c->wait_s > 0);
  }
}

static void
a_longer_interval_costs_less_and_async_no_more_than_sync (void)
{
  double before = 1;
  for (unsigned every = 10; every <= 100000; every *= 10) {
    double overhead[2];
    for (int async = 0; async < 2; async++) {
      g_autofree char *checkpoint = g_strdup_printf ("every: %u, bytes: 80 GB, mode: %s", every, async ? "async" : "sync");
      g_autoptr (WrkResult) r = run (1, checkpoint, NULL);
      overhead[async] = r->training.checkpoint.overhead;
    }
    TEST_TRUE (overhead[0] < before);
    if (every > 10)
      TEST_TRUE (overhead[1] < overhead[0]);
    before = overhead[0];
  }
}

static void
checkpoints_that_cannot_be_are_refused (void)
{
  static const struct {
    const char *checkpoint, *says;
  } rows[] = {
    { "every: 10", "needs 'bytes', the size of the state" },
    { "stall: 3 s, bytes: 1 GB", "follow from 'tier'; leave them out" },
    { "every: 10, bytes: 1 GB, path: gds", "'gds' writes past the host" },
    { "every: 0, bytes: 1 GB", "every" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *why = NULL;
    g_autoptr (WrkResult) r = run (1, rows[i].checkpoint, &why);
    TEST_TRUE (r == NULL);
    TEST_HAS (why, rows[i].says);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "stall, drain and restore follow from bytes and rates", stall_drain_and_restore_follow_from_bytes_and_rates },
    { "a longer interval costs less, and async no more than sync", a_longer_interval_costs_less_and_async_no_more_than_sync },
    { "checkpoints that cannot be are refused", checkpoints_that_cannot_be_are_refused },
    { NULL, NULL },
  };
  return test_main ("workload/checkpoint", cases);
}
