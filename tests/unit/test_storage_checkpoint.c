/* Checkpoints on the fixture's cluster, copies and storage alone: steps of 100 ms on two GPUs of one node whose memory of 40 GB/s
 * both copy through; a tier of 8 GB/s read and 4 GB/s written; a state of 80 GB. */
#include <math.h>

#include "scenario_fixture.h"

static ScnResult *
run_on (const char *const *sets, unsigned n_nodes, const char *checkpoint, char **why)
{
  g_autofree char *workload =
      g_strdup_printf ("{kind: training, layers: [{forward: 40 ms, backward: 60 ms}], checkpoint: {threads: 64, %s}}", checkpoint);
  g_autofree char *text = scenario_text (2, n_nodes, workload, "");
  g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, why);
  g_autoptr (GError) error = NULL;
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL && why == NULL)
    g_error ("%s: %s", checkpoint, error != NULL ? error->message : "not loaded");
  return result;
}

#define TIER                                                                                                                   \
  "topology.storage=[{name: fs, type: {storage_type: t, kind: parallel_fs, gds: yes, blend: 16, read: {rate: 8 GB/s}, write: " \
  "{rate: 4 GB/s}}, network: fabric}]"

static ScnResult *
run (unsigned n_nodes, const char *checkpoint, char **why)
{
  static const char *const sets[] = { TIER, NULL };
  g_autofree char *to_tier = g_strdup_printf ("tier: fs, %s", checkpoint);
  return run_on (sets, n_nodes, to_tier, why);
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
    g_autoptr (ScnResult) r = run (rows[i].n_nodes, rows[i].checkpoint, NULL);
    const TrnCheckpointResult *c = &r->training.checkpoint;
    test_near (c->snapshot_s, rows[i].snapshot_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->write_s, rows[i].write_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->stall_s, rows[i].stall_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->drain_s, rows[i].drain_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->restore_s, rows[i].restore_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    TEST_NEAR (r->training.part_s[TRN_PART_CHECKPOINT], c->stall_s / c->every, 1e-9);
    TEST_NEAR (r->training.step_time_s, 0.1 + c->stall_s / c->every, 1e-3);
    TEST_INT (r->run.warnings->len, c->wait_s > 0);
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
      g_autoptr (ScnResult) r = run (1, checkpoint, NULL);
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
    { "bytes: 80 GB, restore_bytes: 40 GB",
      "'restore_bytes' is what all ranks together hold of 'bytes', 80 GB, each part at least once" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *why = NULL;
    g_autoptr (ScnResult) r = run (1, rows[i].checkpoint, &why);
    TEST_TRUE (r == NULL);
    TEST_HAS (why, rows[i].says);
  }
}

/* Four drives of 5 GB/s read and 2 written in each node. */
#define DRIVES                                                                                                                 \
  "topology.node.storage={local_nvme: {drives: 4, type: {drive: d, read: 5 GB/s, write: 2 GB/s, latency: 0, blend: 16, pcie: " \
  "{class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 50 GB/s}}}}"
#define STATE "every: 1000, bytes: 80 GB, software: raw, "

static ScnResult *
run_drives (unsigned n_nodes, const char *checkpoint, char **why)
{
  static const char *const sets[] = { TIER, DRIVES, NULL };
  g_autofree char *state = g_strconcat (STATE, checkpoint, NULL);
  return run_on (sets, n_nodes, state, why);
}

static void
a_replaced_node_finds_its_part_where_the_copy_is (void)
{
  /* Four replicas on two nodes: each node's ranks hold 160 GB, 80 twice. Its drives take 40 of the state at 8 GB/s, give 160 at
   * 20. */
  static const struct {
    const char *checkpoint, *bound_by;
    double write_s, restore_s, fetch_s;
    unsigned warnings;
  } rows[] = {
    { "tier: nvme", "drive", 5, 8, 0, 1 },
    /* the peer's 40 GB too; they come over 20 GB/s in 2 s. A new node's 160 GB are read there and come in 8 s, as all do */
    { "tier: nvme, copy: peer", "drive", 10, 8, 0, 0 },
    /* 80 GB at 4 GB/s; a new node's 160 GB at 8 GB/s: 20 s in place of 8 */
    { "tier: nvme, copy: fs", "parallel_fs", 20, 8, 12, 0 },
    /* what all hold is what is saved: 40 GB a node, 2 s; 5 s from the tier */
    { "tier: nvme, copy: fs, restore_bytes: 80 GB", "parallel_fs", 20, 2, 3, 0 },
    { "tier: fs", "parallel_fs", 20, 40, 0, 0 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (ScnResult) r = run_drives (2, rows[i].checkpoint, NULL);
    const TrnCheckpointResult *c = &r->training.checkpoint;
    test_near (c->write_s, rows[i].write_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->restore_s, rows[i].restore_s, 0.01, rows[i].checkpoint, __FILE__, __LINE__);
    test_near (c->fetch_s, rows[i].fetch_s, 0.02, rows[i].checkpoint, __FILE__, __LINE__);
    TEST_INT (r->run.warnings->len, rows[i].warnings);
  }
  g_autoptr (ScnResult) alone = run_drives (1, "tier: nvme", NULL);
  TEST_INT (alone->run.warnings->len, 0);
}

static void
a_checkpoint_that_the_drives_cannot_hold_is_told (void)
{
  /* Half of 80 GB a node on four drives of 10 GB fits; twice that, for the peer, does not, nor do all 80 of one rank. */
  static const struct {
    const char *checkpoint, *says;
  } rows[] = {
    { "tier: nvme, copy: fs", NULL },
    { "tier: nvme, copy: peer", "a checkpoint takes 0.08 TB of a node's drives, which hold 0.04 TB: it does not fit" },
    { "tier: nvme, copy: fs, shards: rank0", "a checkpoint takes 0.08 TB of a node's drives" },
  };
  static const char *const sets[] = { TIER, DRIVES, "topology.node.storage.local_nvme.type.capacity=10 GB", NULL };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *state = g_strconcat (STATE, rows[i].checkpoint, NULL);
    g_autoptr (ScnResult) r = run_on (sets, 2, state, NULL);
    TEST_INT (r->run.warnings->len, rows[i].says != NULL);
    if (rows[i].says != NULL && r->run.warnings->len > 0)
      TEST_HAS (r->run.warnings->pdata[0], rows[i].says);
  }
}

static void
what_ranks_hold_and_their_drives_lack_comes_over_the_fabric (void)
{
  /* A node's drives have 40 of the 80 GB that each of its two ranks reads; at 1 GB/s of each adapter the others take 40 s, not the
   * drives' 8. */
  static const char *const sets[] = { "topology.node.nics.type.port.rate=1 GB/s", DRIVES, NULL };
  g_autoptr (ScnResult) r = run_on (sets, 2, STATE "tier: nvme, copy: peer", NULL);
  const TrnCheckpointResult *c = &r->training.checkpoint;
  TEST_NEAR (c->restore_s, 40, 0.01);
  TEST_NEAR (c->fetch_s, 80 - 40, 0.01); /* 160 GB at 2 GB/s */
  TEST_NEAR (c->write_s, 20, 0.01);      /* 40 GB to the peer */
  TEST_STR (c->bound_by, "peer");
}

static void
copies_that_cannot_be_are_refused (void)
{
  static const struct {
    unsigned n_nodes;
    const char *checkpoint, *says;
  } rows[] = {
    { 2, "tier: fs, copy: peer", "'copy' is of checkpoints on the nodes' drives (tier: nvme); leave it out" },
    { 1, "tier: nvme, copy: peer", "one node has no peer" },
    { 2, "tier: nvme, copy: scratch", "has no storage tier 'scratch'; accepted: peer, or a tier" },
    { 2, "tier: nvme, copy: nvme", "the drives are where it is already" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *why = NULL;
    g_autoptr (ScnResult) r = run_drives (rows[i].n_nodes, rows[i].checkpoint, &why);
    TEST_TRUE (r == NULL);
    TEST_HAS (why != NULL ? why : "", rows[i].says);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "stall, drain and restore follow from bytes and rates", stall_drain_and_restore_follow_from_bytes_and_rates },
    { "a longer interval costs less, and async no more than sync", a_longer_interval_costs_less_and_async_no_more_than_sync },
    { "checkpoints that cannot be are refused", checkpoints_that_cannot_be_are_refused },
    { "a replaced node finds its part where the copy is", a_replaced_node_finds_its_part_where_the_copy_is },
    { "what ranks hold and their drives lack comes over the fabric", what_ranks_hold_and_their_drives_lack_comes_over_the_fabric },
    { "a checkpoint that does not fit on the drives is reported", a_checkpoint_that_the_drives_cannot_hold_is_told },
    { "copies that cannot be are refused", copies_that_cannot_be_are_refused },
    { NULL, NULL },
  };
  return test_main ("workload/checkpoint", cases);
}
