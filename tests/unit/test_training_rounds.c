/* Jobs that read and save beside each other, by hand: 4 nodes of 2 GPUs with an adapter of 10 GB/s each on one switch, memories of
 * 1 TB/s, no latency anywhere, and a tier on the fabric that is read at 8 GB/s and written at 4. */
#include <string.h>

#include "jobs_fixture.h"

#define CLUSTER                                                                                                           \
  FOUR_NODES                                                                                                              \
  "    fabric: {kind: single_switch, leaf: {radix: 64, latency: 0}}\n"                                                    \
  "    storage: [{name: fs, type: {storage_type: t, kind: parallel_fs, blend: 16, read: {rate: 8 GB/s}, write: {rate: 4 " \
  "GB/s}}, network: fabric}]\n"                                                                                           \
  "jobs:\n"

/* 1 s of compute a step on nodes FIRST to LAST. */
#define STEPS(name, nodes, steps, more)                  \
  "  - {name: " name ", nodes: " nodes ", steps: " steps \
  ", workload: {kind: training, layers: [{forward: 400 ms, backward: 600 ms}], " more "}}\n"
/* `samples` of 1 MB for each of the four ranks of a job, by workers that are never the bound. */
#define LOADER(samples) "loader: {tier: fs, sample: 1 MB, samples: " samples ", workers: 64}"

static ScnResult *
run (Scn **scenario, const char *jobs)
{
  return jobs_run (scenario, CLUSTER, jobs, COL_MODE_EVENT);
}

static void
readers_of_one_tier_starve_each_other (void)
{
  /* 4 ranks x 1500 x 1 MB = 6 GB a step: 0.75 s at 8 GB/s, beside another such job 1.5 s. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, STEPS ("a", "0-1", "3", LOADER ("1500")) STEPS ("b", "2-3", "3", LOADER ("1500")));
  for (guint i = 0; i < 2; i++) {
    const ScnJobResult *job = job_of (result, i);
    TEST_NEAR (job->alone_s, 3, 1e-6);
    TEST_NEAR (job->time_s, 4.5, 1e-4);
    TEST_INT (job->rounds.steps, 3);
    TEST_NEAR (job->rounds.compute_s, 3, 1e-6);
    TEST_NEAR (job->rounds.data_s, 1.5, 1e-3);
    TEST_NEAR (job->rounds_alone.data_s, 0, 1e-9);
  }
}

static void
a_light_reader_keeps_its_pace_beside_a_heavy_one (void)
{
  /* a wants 1.6 GB a step, b 8 GB: 9.6 of 8 GB/s. Readers share evenly: a's are done after 0.4 s of each second, and b has what is
   * left: 0.4 x 4 + 0.6 x 8 = 6.4 GB a second while a runs; its 16 GB take 2.4 s: 12.8 GB in two, the rest at 4 GB/s for 0.4 s and
   * then at 8 for 0.2 s. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, STEPS ("a", "0-1", "8", LOADER ("400")) STEPS ("b", "2-3", "2", LOADER ("2000")));
  TEST_NEAR (job_of (result, 0)->time_s, 8, 1e-4);
  TEST_NEAR (job_of (result, 1)->alone_s, 2, 1e-4);
  TEST_NEAR (job_of (result, 1)->time_s, 2.6, 1e-3);
}

#define SAVE(bytes, every, mode) "checkpoint: {tier: fs, threads: 64, bytes: " bytes ", every: " every ", mode: " mode "}"

static void
checkpoints_at_once_share_the_tier (void)
{
  /* 4 GB written at 4 GB/s: 1 s of standing still, 2 s beside the other's. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result =
      run (&scenario, STEPS ("a", "0-1", "2", SAVE ("4 GB", "2", "sync")) STEPS ("b", "2-3", "2", SAVE ("4 GB", "2", "sync")));
  for (guint i = 0; i < 2; i++) {
    const ScnJobResult *job = job_of (result, i);
    TEST_NEAR (job->alone_s, 3, 1e-4);
    TEST_NEAR (job->time_s, 4, 1e-4);
    TEST_INT (job->rounds.saves, 1);
    TEST_INT (job->rounds.drained, 0);
    TEST_NEAR (job->rounds.stall_s, 2, 1e-4);
  }
}

static void
a_drain_shares_the_tier_and_the_next_one_waits_for_it (void)
{
  /* 12 GB drain in 3 s. Copies of 3 GB out of two GPUs through a memory of 1 TB/s take 6 ms. Step, copy, step, 2 s of waiting for
   * the drain, copy: 1 + 0.006 + 1 + 2 + 0.006. Two such jobs drain in 6 s each: 5 s of waiting, 3 s more. */
#define JOB(name, nodes) STEPS (name, nodes, "2", SAVE ("12 GB", "1", "async"))
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, JOB ("a", "0-1") JOB ("b", "2-3"));
  const ScnJobResult *job = job_of (result, 0);
  TEST_NEAR (job->alone_s, 4.012, 1e-3);
  TEST_NEAR (job->time_s, 7.012, 1e-3);
  TEST_INT (job->rounds.saves, 2);
  TEST_INT (job->rounds.drained, 2);
  TEST_NEAR (job->rounds.drain_s, 6, 1e-2);
  TEST_NEAR (job->rounds_alone.drain_s, 3, 1e-2);
  TEST_NEAR (job->rounds.compute_s + job->rounds.data_s + job->rounds.stall_s, job->time_s, 1e-9);
#undef JOB
}

static void
reads_and_writes_share_the_time_of_the_servers (void)
{
  /* Four readers at 8 GB/s would be busy all the time, four writers at 4 GB/s too: equal bytes a second x, x / 8 + x / 4 = 1: 2.667
   * GB/s each. 8 GB are written after 3 s; of 8 GB that is all of the reads too. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result =
      run (&scenario, "  - {name: in, nodes: 0-3, workload: {kind: io, tier: fs, bytes: 8 GB, threads: 64}}\n"
                      "  - {name: out, workload: {kind: io, op: write, tier: fs, bytes: 8 GB, threads: 64}}\n");
  TEST_INT (job_of (result, 0)->alone->io.clients, 4); /* one a node */
  TEST_STR (job_of (result, 1)->nodes, "all");
  TEST_NEAR (job_of (result, 0)->alone_s, 1, 1e-4);
  TEST_NEAR (job_of (result, 1)->alone_s, 2, 1e-4);
  TEST_NEAR (job_of (result, 0)->time_s, 3, 1e-4);
  TEST_NEAR (job_of (result, 1)->time_s, 3, 1e-4);
}

static void
small_requests_of_one_job_slow_another (void)
{
  /* The servers are busy 10 us with a request and 0.125 ns with a byte: of 4 KB requests 2.625 ns a byte, of 1 MB ones 0.135. Both
   * at the same pace: 2.76 ns for a byte of each. */
  static const char tier[] = "topology.storage.0.type.read={rate: 8 GB/s, iops: 100 kHz}";
  const char *const sets[] = { tier, NULL };
  g_autofree char *text = g_strconcat (
      CLUSTER, "  - {name: small, nodes: 0, workload: {kind: io, tier: fs, bytes: 400 MB, io_size: 4 kB, threads: 4096}}\n",
      "  - {name: large, nodes: 1, workload: {kind: io, tier: fs, bytes: 400 MB, io_size: 1 MB, threads: 64}}\n", NULL);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  const ScnOptions options = { .sets = sets };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scn) scenario = scn_load ("s.yaml", text, lookup, &options, NULL, NULL, &error);
  g_autoptr (ScnResult) result = scn_run (scenario, FALSE, &error);
  TEST_NEAR (job_of (result, 0)->alone_s, 400e6 * 2.625e-9, 1e-3);
  TEST_NEAR (job_of (result, 1)->alone_s, 400e6 * 0.135e-9, 1e-3);
  TEST_NEAR (job_of (result, 1)->time_s, 400e6 * 2.76e-9, 1e-3);
}

static void
a_copy_on_the_nodes_of_a_step_slows_its_gradients (void)
{
  /* Backward 10 ms, then a bucket of 100 MB by ring over nodes 0 and 2: 1.5 bytes a byte over each adapter, 15 ms alone. A client
   * on node 0 writes 1 GB at up to 4 GB/s meanwhile: x + 1.5 y = 10 GB/s out of its adapter, x at most 4: both 4 GB/s, 25 ms. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (
      &scenario, "  - {name: step, nodes: [0, 2], workload: {kind: training, algo: ring, layers: [{forward: 0 ms, backward: 10 "
                 "ms, gradient: 100 MB}]}}\n"
                 "  - {name: copy, nodes: 0, workload: {kind: io, op: write, tier: fs, bytes: 1 GB, threads: 64}}\n");
  TEST_NEAR (job_of (result, 0)->alone_s, 0.025, 1e-6);
  TEST_NEAR (job_of (result, 0)->time_s, 0.035, 1e-4);
  TEST_NEAR (job_of (result, 1)->time_s, 0.25, 1e-4);
}

static void
a_job_alone_takes_what_it_takes_in_a_scenario_of_its_own (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result =
      run (&scenario, "  - {nodes: 1-2, workload: {kind: io, tier: fs, bytes: 8 GB, threads: 3, clients: 3}}\n");
  const ScnJobResult *job = job_of (result, 0);
  TEST_NEAR (job->time_s, job->alone_s, 1e-12);
  TEST_NEAR (job->time_s, job->alone->io.time_s, 1e-9);
}

static void
more_of_another_job_never_makes_one_quicker (void)
{
  double before_s = 0;
  for (unsigned samples = 250; samples <= 8000; samples *= 2) {
    g_autofree char *other = g_strdup_printf ("%u", samples);
    g_autofree char *jobs =
        g_strconcat (STEPS ("a", "0-1", "2", LOADER ("1500") ", " SAVE ("4 GB", "1", "async")),
                     "  - {nodes: 2-3, steps: 4, workload: {kind: training, layers: [{forward: 1 s, backward: 0 "
                     "s}], loader: {tier: fs, sample: 1 MB, workers: 64, samples: ",
                     other, "}}}\n", NULL);
    g_autoptr (Scn) scenario = NULL;
    g_autoptr (ScnResult) result = run (&scenario, jobs);
    for (guint i = 0; i < 2; i++) {
      const ScnJobResult *job = job_of (result, i);
      TEST_TRUE (job->time_s >= job->alone_s * (1 - 1e-9));
      TEST_NEAR (job->rounds.compute_s + job->rounds.data_s + job->rounds.stall_s, job->time_s, 1e-9);
    }
    TEST_TRUE (job_of (result, 0)->time_s >= before_s * (1 - 1e-9));
    before_s = job_of (result, 0)->time_s;
  }
}

static void
what_cannot_be_is_refused_with_its_place (void)
{
  static const struct {
    const char *jobs, *message;
  } rows[] = {
    { "  - {nodes: 0, steps: 2, workload: {kind: collective, op: all_reduce, bytes: 1 GB}}\n",
      "'steps' are of training jobs; accepted: 'repeat' of the workload" },
    { "  - {nodes: 0, steps: 2, workload: {kind: io, tier: fs, bytes: 1 GB}}\n", "'steps' are of training jobs; leave it out" },
    { STEPS ("a", "0-1", "2", "checkpoint: {tier: fs, bytes: 1 GB}"), "a checkpoint among jobs needs 'every'" },
    { STEPS ("a", "0-1", "2", SAVE ("1 GB", "3", "sync")), "a checkpoint every 3 steps of a job of 2: none would be taken" },
    { STEPS ("a", "0-1", "0", LOADER ("8")), "'steps' must be at least 1" },
    { "  - {nodes: 4, workload: {kind: io, tier: fs, bytes: 1 GB}}\n", "node 4 is not one of the cluster's 4 (0 to 3)" },
    { "  - {workload: {kind: io, tier: scratch, bytes: 1 GB}}\n", "has no storage tier 'scratch'; accepted: fs" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    TEST_TRUE (jobs_load (CLUSTER, rows[i].jobs, COL_MODE_EVENT, &error) == NULL);
    TEST_HAS (error != NULL ? error->message : "", "s.yaml:1");
    TEST_HAS (error != NULL ? error->message : "", rows[i].message);
  }
}

static const TestCase cases[] = {
  { "readers of one tier starve each other", readers_of_one_tier_starve_each_other },
  { "a light reader keeps its pace beside a heavy one", a_light_reader_keeps_its_pace_beside_a_heavy_one },
  { "checkpoints at once share the tier", checkpoints_at_once_share_the_tier },
  { "a drain shares the tier and the next one waits for it", a_drain_shares_the_tier_and_the_next_one_waits_for_it },
  { "reads and writes share the time of the servers", reads_and_writes_share_the_time_of_the_servers },
  { "small requests of one job slow another", small_requests_of_one_job_slow_another },
  { "a copy on the nodes of a step slows its gradients", a_copy_on_the_nodes_of_a_step_slows_its_gradients },
  { "a job alone takes what it takes in a scenario of its own", a_job_alone_takes_what_it_takes_in_a_scenario_of_its_own },
  { "more of another job never makes one quicker", more_of_another_job_never_makes_one_quicker },
  { "what cannot be is refused with its place", what_cannot_be_is_refused_with_its_place },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("jobs that read and save", cases);
}
