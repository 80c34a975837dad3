/* Several jobs at once, and other people's traffic: who shares what, by hand. */
#include <string.h>

#include "cluster/background.h"
#include "jobs_fixture.h"
#include "scenario/loaded.h"

/* 4 nodes of 2 GPUs; an adapter of 10 GB/s a node; two nodes a leaf, one cable of 10 GB/s up. No latency anywhere. */
#define CLUSTER                                                                                                              \
  FOUR_NODES                                                                                                                 \
  "    fabric: {kind: fat_tree, leaf: {radix: 3, latency: 0}, spine: {radix: 2, latency: 0}, oversubscription: 2, routing: " \
  "adaptive}\n"

static ScnResult *
run (Scn **scenario, const char *work, ColMode mode)
{
  return jobs_run (scenario, CLUSTER, work, mode);
}

#define TWO_COPIES                                                                          \
  "jobs:\n"                                                                                 \
  "  - {name: long, workload: {kind: transfer, from: gpu0, to: node2.gpu0, bytes: 2 GB}}\n" \
  "  - {name: short, workload: {kind: transfer, from: node1.gpu0, to: node3.gpu0, bytes: 1 GB}}\n"

static void
two_copies_share_the_uplink_of_their_leaf (void)
{
  /* 10 GB/s up: 5 each until the short one's 1 GB is over at 0.2 s; the long one has 1 GB left, at 10 GB/s. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, TWO_COPIES, COL_MODE_EVENT);
  TEST_INT (result->jobs->len, 2);
  TEST_NEAR (job_of (result, 0)->alone_s, 0.2, 1e-9);
  TEST_NEAR (job_of (result, 1)->alone_s, 0.1, 1e-9);
  TEST_NEAR (job_of (result, 0)->time_s, 0.3, 1e-9);
  TEST_NEAR (job_of (result, 1)->time_s, 0.2, 1e-9);
  const ColLinkUse *fullest = &g_array_index (result->run.links, ColLinkUse, 0);
  TEST_STR (fullest->link_class, "ib");
  TEST_NEAR (fullest->utilisation, 1, 1e-9); /* 3 GB in 0.3 s */
}

static void
the_closed_form_answers_each_as_if_alone_and_says_so (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, TWO_COPIES, COL_MODE_MODEL);
  TEST_NEAR (job_of (result, 0)->time_s, 0.2, 1e-9);
  TEST_TRUE (g_str_has_prefix (result->run.warnings->pdata[0], "mode model knows no contention: each job is answered as if"));
}

static void
what_is_repeated_keeps_loading_the_links (void)
{
  /* Ring over 2 nodes of 2 GPUs, plain: 4 ranks, 1.5 bytes a byte over each adapter: 1 GB takes 0.15 s alone, three of them 0.45.
   * The copy of 3 GB the same way takes 0.3 s alone. Both on the uplink of 10 GB/s: max-min over progress gives x + 1.5 x = 10, so
   * 4 GB/s each. The ring's 3 GB and the copy's end together, at 0.75 s. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result =
      run (&scenario,
           "jobs:\n"
           "  - {name: ring, nodes: '0,2', workload: {kind: collective, op: all_reduce, bytes: 1 GB, algo: ring, repeat: 3}}\n"
           "  - {name: copy, workload: {kind: transfer, from: node1.gpu0, to: node3.gpu0, bytes: 3 GB}}\n",
           COL_MODE_EVENT);
  TEST_NEAR (job_of (result, 0)->alone_s, 0.45, 1e-9);
  TEST_NEAR (job_of (result, 1)->alone_s, 0.3, 1e-9);
  TEST_NEAR (job_of (result, 0)->time_s, 0.75, 1e-9);
  TEST_NEAR (job_of (result, 1)->time_s, 0.75, 1e-9);
}

/* Three all-reduces alone on their links: a slice each, of a third of the time. */
static void
operations_in_a_row_are_slices_of_a_trace (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Scn) scenario = jobs_load (
      CLUSTER,
      "jobs: [{name: ring, nodes: '0,2', workload: {kind: collective, op: all_reduce, bytes: 1 GB, algo: ring, repeat: 3}}]\n",
      COL_MODE_EVENT, &error);
  g_assert_no_error (error);
  for (int exact = 0; exact < 2; exact++) {
    scenario->system.settings.steps = exact ? COL_STEPS_EXACT : COL_STEPS_FLUID;
    g_autoptr (ScnResult) result = scn_run (scenario, TRUE, &error);
    g_assert_no_error (error);
    TEST_INT (result->run.spans->len, 4); /* and the job as a whole */
    for (guint i = 0; i < 3; i++) {
      const ColSpan *span = result->run.spans->pdata[i];
      g_autofree char *name = g_strdup_printf ("all_reduce %u", i + 1);
      TEST_STR (span->lane, "ring: operations");
      TEST_STR (span->name, name);
      TEST_NEAR (span->start_s, 0.15 * i, 1e-9);
      TEST_NEAR (span->end_s, 0.15 * (i + 1), 1e-9);
    }
  }
}

/* The same, message by message: a flow each. */
static ScnResult *
run_exact (Scn **scenario, const char *work, GError **error)
{
  *scenario = jobs_load (CLUSTER, work, COL_MODE_EVENT, error);
  if (*scenario == NULL)
    return NULL;
  (*scenario)->system.settings.steps = COL_STEPS_EXACT;
  return scn_run (*scenario, FALSE, error);
}

static void
messages_share_links_with_other_jobs (void)
{
  /* The ring's messages and the copy have 5 GB/s each on the uplink: the copy's 3 GB take 0.6 s. Of the ring's 4.5 GB 1.5 are left
   * then, at 10 GB/s: 0.75 s. */
  g_autoptr (Scn) scenario = NULL, apart = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (ScnResult) result = run_exact (
      &scenario,
      "jobs:\n"
      "  - {name: ring, nodes: '0,2', workload: {kind: collective, op: all_reduce, bytes: 1 GB, algo: ring, repeat: 3}}\n"
      "  - {name: copy, workload: {kind: transfer, from: node1.gpu0, to: node3.gpu0, bytes: 3 GB}}\n",
      &error);
  TEST_TRUE (result != NULL);
  TEST_NEAR (job_of (result, 0)->alone_s, 0.45, 1e-9);
  TEST_NEAR (job_of (result, 0)->time_s, 0.75, 1e-9);
  TEST_NEAR (job_of (result, 1)->time_s, 0.6, 1e-9);
  /* on leaves of their own each is as if alone, an all-to-all too, whose messages wait for nothing */
  g_autoptr (ScnResult) alone =
      run_exact (&apart,
                 "jobs:\n"
                 "  - {nodes: 0-1, workload: {kind: collective, op: alltoall, bytes: 1 GB, repeat: 2}}\n"
                 "  - {nodes: 2-3, workload: {kind: collective, op: all_gather, bytes: 1 GB, algo: ring, repeat: 3}}\n",
                 &error);
  TEST_TRUE (alone != NULL);
  for (guint j = 0; j < 2; j++)
    TEST_NEAR (job_of (alone, j)->time_s, job_of (alone, j)->alone_s, 1e-9);
}

static void
a_training_job_runs_beside_messages (void)
{
  /* The ring's messages and the step's bucket share node 0's and 2's way to the spine as in the fluid run: a step of 10 ms and a
   * bucket of 15 ms alone, which takes longer beside the ring. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (ScnResult) result = run_exact (
      &scenario,
      "jobs:\n"
      "  - {name: step, nodes: [0, 2], workload: {kind: training, algo: ring, layers: [{forward: 0 ms, backward: 10 ms, gradient: "
      "100 MB}]}}\n"
      "  - {name: ring, nodes: [1, 3], workload: {kind: collective, op: all_reduce, bytes: 1 GB, algo: ring}}\n",
      &error);
  TEST_TRUE (result != NULL);
  TEST_NEAR (job_of (result, 0)->alone_s, 0.025, 1e-6);
  TEST_TRUE (job_of (result, 0)->time_s > 0.03);
  TEST_TRUE (job_of (result, 1)->time_s > job_of (result, 1)->alone_s);
  TEST_STR (result->run.warnings->pdata[0],
            "step: exact steps: each collective of a training step ran as one activity, since kernels beside it set its pace; only "
            "operations by themselves send messages");
}

static void
a_training_step_waits_for_what_shares_its_links (void)
{
  /* Node 0 and 2: backward 10 ms, then one bucket of 100 MB by ring, 15 ms alone. The copy of 1 GB takes the uplink too from 0 on:
   * alone 10 GB/s for 10 ms (0.1 GB of it), then 4 GB/s each: the bucket takes 25 ms. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (
      &scenario,
      "jobs:\n"
      "  - {name: step, nodes: [0, 2], workload: {kind: training, algo: ring, layers: [{forward: 0 ms, backward: 10 ms, gradient: "
      "100 MB}]}}\n"
      "  - {name: copy, workload: {kind: transfer, from: node1.gpu0, to: node3.gpu0, bytes: 1 GB}}\n",
      COL_MODE_EVENT);
  TEST_NEAR (job_of (result, 0)->alone_s, 0.025, 1e-9);
  TEST_NEAR (job_of (result, 0)->time_s, 0.035, 1e-9);
}

static void
jobs_on_leaves_of_their_own_do_not_meet (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario,
                                      "jobs:\n"
                                      "  - {nodes: 0-1, workload: {kind: collective, op: all_reduce, bytes: 1 GB, algo: ring}}\n"
                                      "  - {nodes: 2-3, workload: {kind: collective, op: all_reduce, bytes: 1 GB, algo: ring}}\n",
                                      COL_MODE_EVENT);
  TEST_STR (job_of (result, 1)->name, "job 1");
  TEST_NEAR (job_of (result, 0)->time_s, job_of (result, 0)->alone_s, 0);
}

static void
background_takes_its_mean_share_of_links_between_switches (void)
{
  static const char *const ring = "workload: {kind: collective, op: all_reduce, bytes: 1 GB, algo: ring}\n";
  g_autofree char *loaded = g_strconcat (ring, "background: {load: 30 %}\n", NULL);
  g_autoptr (Scn) alone_of = NULL;
  g_autoptr (ScnResult) alone = run (&alone_of, ring, COL_MODE_EVENT);
  /* 4 directions of one cable each: the cycle over 4 nodes crosses leaves 2 or 4 times, each direction alike: 30 % of each. */
  for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
    g_autoptr (Scn) scenario = NULL;
    g_autoptr (ScnResult) result = run (&scenario, loaded, mode);
    TEST_NEAR (result->coll.time_s, alone->coll.time_s / 0.7, 1e-6);
  }
}

static void
background_of_many_nodes_has_the_load_that_is_asked_for_and_follows_the_seed (void)
{
  CluBackground taken[2];
  double capacity[2] = { 0, 0 };
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    Clu *clu = fixture_cluster_on (1, 64, FALSE,
                                   "{kind: fat_tree, leaf: {radix: 12, latency: 0}, spine: {radix: 64, latency: 0}, "
                                   "oversubscription: 2, routing: ecmp}");
    TEST_TRUE (clu_background_set (clu, 0.2, 1 + i, &taken[i], &error));
    double mean = 0;
    for (CluRes res = 0; res < clu_n_resources (clu); res++) {
      double share = 1 - clu_resource_capacity (clu, res) / clu_resource_whole_capacity (clu, res);
      mean += share / taken[i].n_links;
      capacity[i] += clu_resource_capacity (clu, res) * (1 + res % 7);
    }
    TEST_NEAR (mean, 0.2, 1e-9);
    TEST_NEAR (taken[i].mean, 0.2, 1e-9);
    TEST_TRUE (taken[i].most <= 0.9 && taken[i].most > 0.2);
    clu_free (clu);
  }
  TEST_TRUE (fabs (capacity[0] - capacity[1]) > 1);
}

static void
what_cannot_be_is_refused_with_its_place (void)
{
  static const struct {
    const char *work, *message;
  } rows[] = {
    { "", "s.yaml:1:1: 'workload' in 'scenario' is missing; it is a mapping with 'kind' (or 'jobs', a list of several)" },
    { "jobs: []\n", "s.yaml:17:7: 'jobs' must be a list of mappings" },
    { "jobs: [{workload: {kind: collective, op: all_reduce, bytes: 1 GB}}]\n",
      "s.yaml:17:8: job 'job 0' has no 'nodes' (e.g. nodes: 0-15)" },
    { "jobs: [{nodes: 0-4, workload: {kind: collective, op: all_reduce, bytes: 1 GB}}]\n",
      "s.yaml:17:16: node 4 is not one of the cluster's 4 (0 to 3)" },
    { "jobs: [{nodes: x, workload: {kind: collective, op: all_reduce, bytes: 1 GB}}]\n",
      "s.yaml:17:16: 'x' are no nodes; accepted: a number, a range as 0-15, or a list of these" },
    { "jobs:\n  - {name: a, nodes: 0-1, workload: {kind: collective, op: all_reduce, bytes: 1 GB}}\n"
      "  - {nodes: 1, workload: {kind: collective, op: all_reduce, bytes: 1 GB}}\n",
      "s.yaml:19:13: node 1 belongs to 'a' already; each has nodes of its own" },
#define REDUCES "workload: {kind: collective, op: all_reduce, bytes: 1 GB}"
#define TRAINS  "kind: training, layers: [{forward: 1 ms, backward: 2 ms}]"
    { "jobs:\n  - {name: a, nodes: 0, " REDUCES "}\n  - {name: a, nodes: 1, " REDUCES "}\n",
      "s.yaml:19:12: two jobs are named 'a'" },
    { "jobs:\n  - {nodes: 0, " REDUCES "}\n  - {name: job 0, nodes: 1, " REDUCES "}\n",
      "s.yaml:19:12: two jobs are named 'job 0'" },
    { "jobs: [{name: '', nodes: 0, " REDUCES "}]\n", "s.yaml:17:15: '' cannot name a job" },
    { "jobs: [{name: \"\", nodes: 0, " REDUCES "}]\n", "s.yaml:17:15: '' cannot name a job" },
    { "jobs: [{nodes: [], workload: {kind: io, tier: fs, bytes: 1 GB}}]\n", "s.yaml:17:16: job 'job 0' has no 'nodes'" },
    { "jobs: [{nodes: 0, workload: {" TRAINS ", checkpoint: {every: 1, stall: 10 s}}}]\n",
      "s.yaml:17:101: a checkpoint among jobs needs 'tier', where it goes" },
    { "jobs: [{nodes: 0, workload: {" TRAINS
      ", checkpoint: {every: 1, tier: fs, bytes: 1 GB}, failures: {rates: llama3_2024, days: 1}}}]\n",
      "s.yaml:17:146: 'failures' are of run --goodput, which follows one job and not several" },
    { "jobs: [{nodes: 0, workload: {kind: transfer, from: gpu0, to: gpu1, bytes: 1 GB}}]\n",
      "s.yaml:17:16: a transfer's ends name their nodes; leave 'nodes' out" },
    { "workload: {kind: collective, op: all_reduce, bytes: 1 GB}\njobs: []\n",
      "s.yaml:18:7: a scenario has 'workload' or 'jobs', not both" },
    { "workload: {kind: collective, op: all_reduce, bytes: 1 GB}\nbackground: {load: 95 %}\n",
      "s.yaml:18:20: 'load' must be at most 90 %, found '95 %'" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    TEST_TRUE (jobs_load (CLUSTER, rows[i].work, COL_MODE_EVENT, &error) == NULL);
    gboolean ok = error != NULL && g_str_has_prefix (error->message, rows[i].message);
    if (!ok)
      g_printerr ("%s\nexpected %s\n", error != NULL ? error->message : "no error", rows[i].message);
    TEST_TRUE (ok);
  }
}

static const TestCase cases[] = {
  { "two copies share the uplink of their leaf", two_copies_share_the_uplink_of_their_leaf },
  { "the closed form answers each as if alone and says so", the_closed_form_answers_each_as_if_alone_and_says_so },
  { "what is repeated keeps loading the links", what_is_repeated_keeps_loading_the_links },
  { "messages share links with other jobs", messages_share_links_with_other_jobs },
  { "a training job runs beside messages", a_training_job_runs_beside_messages },
  { "a training step waits for what shares its links", a_training_step_waits_for_what_shares_its_links },
  { "jobs on leaves of their own do not meet", jobs_on_leaves_of_their_own_do_not_meet },
  { "background takes its mean share of links between switches", background_takes_its_mean_share_of_links_between_switches },
  { "background of many nodes has the load that is asked for and follows the seed",
    background_of_many_nodes_has_the_load_that_is_asked_for_and_follows_the_seed },
  { "what cannot be is refused with its place", what_cannot_be_is_refused_with_its_place },
  { "operations in a row are slices of a trace", operations_in_a_row_are_slices_of_a_trace },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("jobs and background", cases);
}
