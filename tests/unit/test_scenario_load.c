/* Loading a scenario: what is refused, where and with which words; what the sets and the software's settings change. */
#include "jobs-private.h"
#include "scenario_fixture.h"
#include "schema_document.h"

#define ON         "scenario: s\ncluster: {topology: teach_nic, library: plain}\n"
#define COLLECTIVE "workload: {kind: collective, op: all_reduce, bytes: 1 GB}\n"

/* All of `want` stands in the error, after the path. */
static void
expect_error (const char *text, const char *const *sets, const char *want)
{
  char *message = NULL;
  Scn *scenario = scenario_load (text, sets, NULL, &message);
  if (scenario != NULL)
    fprintf (stderr, "not refused: %s\n", text);
  TEST_TRUE (scenario == NULL);
  test_has (message != NULL ? message : "", want, text, __FILE__, __LINE__);
  scn_free (scenario);
  g_free (message);
}

static void
errors_say_where_what_and_what_is_accepted (void)
{
  static const struct {
    const char *text, *want;
  } rows[] = {
    { "scenario: s\n", "s.yaml:1:1: 'cluster' in 'scenario' is missing" },
    { ON, "s.yaml:1:1: 'workload' in 'scenario' is missing" },
    { ON "workload: 3\n", "s.yaml:3:11: 'workload' has no 'kind'; accepted: collective, transfer, training" },
    { ON "workload: {op: all_reduce}\n", "s.yaml:3:11: 'workload' has no 'kind'" },
    { ON "workload: {kind: [collective]}\n", "s.yaml:3:18: 'kind' of 'workload' must be one word" },
    { ON "workload: {kind: colective}\n", "s.yaml:3:18: unknown workload kind 'colective' (did you mean 'collective'?)" },
    { ON "workload: {kind: cooking}\n",
      "s.yaml:3:18: unknown workload kind 'cooking'; accepted: collective, transfer, training, io" },
    { ON "workload: {kind: io, bytes: 1 GB}\n", "s.yaml:3:11: 'tier' in 'workload (io)' is missing" },
    { ON "workload: {kind: collective, op: all_reduce, bytes: 1}\n", "s.yaml:3:53: " },
    { ON "workload: {kind: collective, op: allreduce, bytes: 1 B}\n", "s.yaml:3:34: 'op' must be one of all_reduce, " },
    { ON "workload: {kind: collective, op: all_reduce, bytes: 1 GB, ranks: 33}\n",
      "s.yaml:3:66: 33 ranks need as many GPUs, the cluster has 32 (4 nodes)" },
    { ON "workload: {kind: collective, op: broadcast, bytes: 1 GB, ranks: 2, root: 2}\n",
      "s.yaml:3:74: root 2 is not one of the 2 ranks (0 to 1)" },
    { "scenario: s\ncluster: {topology: teach_nic, library: plain, gpus_per_node: 9}\n" COLLECTIVE,
      "s.yaml:2:63: gpus_per_node 9 is more than the 8 GPUs of node 0 of 'teach_nic'" },
    { "scenario: s\ncluster: {topology: teach_nic, library: plain, nodes: 0}\n" COLLECTIVE, "s.yaml:2:55: " },
    { "scenario: s\ncluster: {topology: nowhere, library: plain}\n" COLLECTIVE, "s.yaml:2:21: no 'nowhere.yaml'" },
    { "scenario: s\ncluster: {topology: [a], library: plain}\n" COLLECTIVE, "s.yaml:2:21: 'topology' must be a mapping" },
    { "scenario: s\ncluster: {topology: {topology: t}, library: plain}\n" COLLECTIVE,
      "s.yaml:2:21: 'node' in 'topology' is missing" },
    { "scenario: s\ncluster: {topology: teach_nic, library: mpi}\n" COLLECTIVE, "s.yaml:2:41: 'library' must be one of" },
    { ON COLLECTIVE "wrokload: 1\n", "s.yaml:4:1: unknown key 'wrokload' in 'scenario' (did you mean 'workload'?)" },
    { ON COLLECTIVE "report: {plots: [links, busbw]}\n",
      "s.yaml:4:25: there is no plot 'busbw'; accepted: breakdown, timeline" },
    { ON COLLECTIVE "report: {html: yes}\n", "s.yaml:4:10: unknown key 'html' in 'report'" },
    { ON COLLECTIVE "seed: -1\n", "s.yaml:4:7: " },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    expect_error (rows[i].text, NULL, rows[i].want);
}

static void
all_errors_of_a_file_are_said_at_once (void)
{
  char *message = NULL;
  Scn *scenario = scenario_load (ON "workload: {kind: collective, op: x, bytes: 1}\nnccl: {NCCL_ALGO: y}\ndegrade: [{z: 1}]\n",
                                 NULL, NULL, &message);
  TEST_TRUE (scenario == NULL);
  TEST_HAS (message, "s.yaml:3:34:");
  TEST_HAS (message, "s.yaml:3:44:");
  TEST_HAS (message, "s.yaml:4:19:");
  TEST_HAS (message, "s.yaml:5:12:");
  TEST_HAS (message, "4 errors, nothing was run");
  scn_free (scenario);
  g_free (message);
}

static void
a_training_step_that_does_not_fit_is_refused_when_loading (void)
{
  static const struct {
    const char *workload, *want;
  } rows[] = {
    { "{kind: training}", "s.yaml:3:11: a training workload needs 'model'" },
    { "{kind: training, layers: []}", "needs 'model'" },
    { "{kind: training, layers: [{forward: 1 ms}]}", "s.yaml:3:37: 'backward' in 'layers' is missing" },
    { "{kind: training, layers: [{forward: 1 ms, backward: 1 ms}], parallel: {pp: 2}}",
      "s.yaml:3:81: pp 2 for 1 layer; accepted: at most one stage a layer" },
    { "{kind: training, layers: [{count: 9, forward: 1 ms, backward: 1 ms}], parallel: {pp: 5}}",
      "s.yaml:3:91: 32 GPUs do not divide into 5 pipeline stages" },
    { "{kind: training, layers: [{count: 9, forward: 1 ms, backward: 1 ms}], parallel: {dp: 11, pp: 3}}",
      "s.yaml:3:91: dp 11 x pp 3 needs 33 GPUs, the cluster has 32; ask for more nodes" },
    { "{kind: training, layers: [{count: 1 M, forward: 0, backward: 0}, {forward: 0, backward: 0}]}",
      "s.yaml:3:36: 1000001 layers in all; accepted: at most 1000000" },
    { "{kind: training, layers: [{count: 99, forward: 0, backward: 0}], micro_batches: 100000, parallel: {dp: 0}}",
      "s.yaml:3:114: " },
    { "{kind: training, layers: [{count: 999, forward: 0, backward: 0}], micro_batches: 100000, parallel: {dp: 1, pp: 32}}", NULL },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat (ON "workload: ", rows[i].workload, "\n", NULL);
    if (rows[i].want != NULL)
      expect_error (text, NULL, rows[i].want);
    else {
      g_autoptr (Scn) scenario = scenario_load (text, NULL, NULL, NULL);
      TEST_TRUE (scenario != NULL); /* 32 x 100,000 x 4 tasks: within the limit of 20 million */
    }
  }
}

static void
ends_of_a_transfer_are_looked_up_when_loading (void)
{
  expect_error (ON "workload: {kind: transfer, from: gpu32, to: gpu1, bytes: 1 GB}\n", NULL, "s.yaml:3:34: there is no 'gpu32'");
  expect_error (ON "workload: {kind: transfer, from: gpu1, to: node4.gpu1, bytes: 1 GB}\n", NULL,
                "s.yaml:3:44: there is no 'node4'; nodes are node0 to node3");
  expect_error (ON "workload: {kind: transfer, from: gpu1, to: storage.x, bytes: 1 GB}\n", NULL,
                "s.yaml:3:44: there is no 'storage.x'");
}

static void
sets_reach_the_scenario_and_its_topology (void)
{
  static const char *const named[] = { "cluster.nodes=2", "workload.ranks=3", "topology.node.nics.rate=40 Gb/s", NULL };
  g_autoptr (Scn) scenario = scenario_load (ON COLLECTIVE, named, NULL, NULL);
  TEST_INT (clu_n_nodes (scn_cluster (scenario)), 2);
  TEST_NEAR (scenario->collective.ranks.v, 3, 0);
  CluRes nic = 0;
  double least_Bps = 1e18; /* the adapters' 40 Gb/s are 5 GB/s, the least there is beside the 1 Gb/s of management */
  for (; nic < clu_n_resources (scn_cluster (scenario)); nic++)
    if (strcmp (clu_resource_class (scn_cluster (scenario), nic), "management") != 0)
      least_Bps = MIN (least_Bps, clu_resource_capacity (scn_cluster (scenario), nic));
  TEST_NEAR (least_Bps, 5e9, 1e-12);

  g_autofree char *text = scenario_text (2, 1, "{kind: collective, op: all_reduce, bytes: 1 GB}", "");
  static const char *const inlined[] = { "topology.nodes=3", "cluster.topology.node.gpus.count=4", "topology.node.nics.count=4",
                                         NULL };
  g_autoptr (Scn) inside = scenario_load (text, inlined, NULL, NULL);
  TEST_INT (clu_n_gpus (scn_cluster (inside)), 12);
}

static void
sets_of_the_topology_go_to_the_one_that_another_set_names (void)
{
  static const char *const sets[] = { "topology.node.gpus.count=4", "cluster.topology=teach_8gpu", NULL };
  g_autofree char *text = scenario_text (2, 1, "{kind: collective, op: all_reduce, bytes: 1 GB}", "");
  g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, NULL);
  TEST_STR (clu_name (scn_cluster (scenario)), "teach_8gpu");
  TEST_INT (clu_n_gpus (scn_cluster (scenario)), 4);
}

static void
bad_sets_say_what_is_expected (void)
{
  static const struct {
    const char *set, *want;
  } rows[] = {
    { "cluster.nodes", "--set 'cluster.nodes': expected path.to.key=value" },
    { "=3", "--set '=3': expected path.to.key=value" },
    { "cluster.nodse=3", "--set cluster.nodse: unknown key 'nodse' in 'cluster' (did you mean 'nodes'?)" },
    { "topology.node.gpus.cuont=3", "unknown key 'cuont' in 'node.gpus' (did you mean 'count'?)" },
    { "cluster.topology.nodes=3", "'cluster.topology' is 'teach_nic', not a mapping" },
    { "workload.bytes=3", "--set workload.bytes: " },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *const sets[] = { rows[i].set, NULL };
    expect_error (ON COLLECTIVE, sets, rows[i].want);
  }
}

static void
fewer_gpus_of_a_node_are_its_first (void)
{
  static const char *const sets[] = { "cluster.gpus_per_node=3", NULL };
  g_autoptr (Scn) scenario = scenario_load (ON COLLECTIVE, sets, NULL, NULL);
  TEST_INT (scenario->system.gpus->len, 12);
  TEST_INT (g_array_index (scenario->system.gpus, guint32, 2), 2);
  TEST_INT (g_array_index (scenario->system.gpus, guint32, 3), 8); /* the second node's first */
}

/* Loads the collective with these lines below it. Returned: full. */
static Scn *
with_lines (const char *lines)
{
  g_autofree char *text = g_strconcat (ON COLLECTIVE, lines, NULL);
  Scn *scenario = scenario_load (text, NULL, NULL, NULL);
  g_assert_nonnull (scenario);
  return scenario;
}

static void
nccl_variables_are_settings (void)
{
  g_autoptr (Scn) plain = with_lines ("");
  TEST_INT (scn_settings (plain)->disabled_algos, 0);
  TEST_INT (scn_settings (plain)->max_channels, 0);
  g_autoptr (Scn) s =
      with_lines ("nccl: {version: 2.28, NCCL_NVLS_ENABLE: 0, NCCL_P2P_DISABLE: 1, NCCL_IB_DISABLE: 1, NCCL_MAX_NCHANNELS: 4}\n");
  const ColSettings *settings = scn_settings (s);
  TEST_INT (settings->disabled_algos, 1u << MDL_ALGO_NVLS | 1u << MDL_ALGO_NVLS_TREE);
  TEST_STR (settings->nccl_version, "2.28");
  TEST_TRUE (settings->degrade.no_p2p && settings->degrade.no_rdma && !settings->degrade.no_gdr);
  TEST_INT (settings->max_channels, 4);
}

static void
nccl_lists_of_algorithms_are_read_as_it_reads_them (void)
{
  static const struct {
    const char *value;
    gboolean ring, tree, nvls_tree; /* left switched on */
  } rows[] = {
    { "Ring", TRUE, FALSE, FALSE },     { "[ring, TREE]", TRUE, TRUE, FALSE },    { "\"Ring,NVLSTree\"", TRUE, FALSE, TRUE },
    { "\"^Tree\"", TRUE, FALSE, TRUE }, { "\"^Tree,Ring\"", FALSE, FALSE, TRUE }, { "[nvls_tree]", FALSE, FALSE, TRUE },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *line = g_strdup_printf ("nccl: {NCCL_ALGO: %s}\n", rows[i].value);
    g_autoptr (Scn) s = with_lines (line);
    guint32 off = col_off_algos (scn_settings (s), MDL_OP_ALL_REDUCE);
    TEST_INT ((off & (1u << MDL_ALGO_RING)) == 0, rows[i].ring);
    TEST_INT ((off & (1u << MDL_ALGO_TREE)) == 0, rows[i].tree);
    TEST_INT ((off & (1u << MDL_ALGO_NVLS_TREE)) == 0, rows[i].nvls_tree);
  }
  g_autoptr (Scn) s = with_lines ("nccl: {NCCL_PROTO: \"LL,LL128\"}\n");
  TEST_INT (col_off_protos (scn_settings (s), MDL_OP_REDUCE), 1u << MDL_PROTO_SIMPLE);
  expect_error (ON COLLECTIVE "nccl: {NCCL_ALGO: Rings}\n", NULL,
                "s.yaml:4:19: unknown name 'Rings' (did you mean 'ring'?); accepted: ");
}

static void
each_degradation_is_a_setting (void)
{
  g_autoptr (Scn) none = with_lines ("degrade: []\n");
  static const CluDegrade zero = { 0 };
  TEST_TRUE (memcmp (&scn_settings (none)->degrade, &zero, sizeof zero) == 0);
  g_autoptr (Scn) s = with_lines (
      "degrade: [{rdma: off}, {gdr: off}, {p2p: off}, {backend: gloo}, {network: management}, {nics: 1}, {numa: remote}]\n");
  const CluDegrade *d = &scn_settings (s)->degrade;
  TEST_TRUE (d->no_rdma && d->no_gdr && d->no_p2p && d->host_only && d->management && !d->frontend && d->remote_numa);
  TEST_INT (d->max_nics, 1);
  g_autoptr (Scn) front = with_lines ("degrade: [{network: frontend}, {rdma: on}]\n");
  TEST_TRUE (scn_settings (front)->degrade.frontend && !scn_settings (front)->degrade.no_rdma);
  expect_error (ON COLLECTIVE "degrade: {rdma: off}\n", NULL,
                "s.yaml:4:10: 'degrade' must be a list (e.g. [{rdma: off}, {nics: 1}])");
  expect_error (ON COLLECTIVE "degrade: [{rmda: off}]\n", NULL,
                "s.yaml:4:12: unknown key 'rmda' in 'degrade' (did you mean 'rdma'?)");
  expect_error (ON COLLECTIVE "degrade: [{nics: 0}]\n", NULL, "s.yaml:4:18: ");
  expect_error (ON COLLECTIVE "degrade: [{rdma: off}, {nics: 9}]\n", NULL,
                "s.yaml:4:31: nics must be at most 1, found 9: no node of 'teach_nic' has more");
}

static void
the_seed_of_the_options_wins_over_the_files (void)
{
  g_autoptr (Scn) file = with_lines ("seed: 7\n");
  TEST_INT (scn_seed (file), 7);
  ScnOptions options = { .has_seed = TRUE, .seed = 9 };
  g_autoptr (Scn) s = scenario_load (ON COLLECTIVE "seed: 7\n", NULL, &options, NULL);
  TEST_INT (scn_seed (s), 9);
  TEST_INT (scn_settings (s)->seed, 9);
}

static void
inputs_begin_with_the_scenario (void)
{
  g_autoptr (Scn) s = with_lines ("description: words\n");
  TEST_TRUE (scn_inputs (s)->len >= 2);
  TEST_STR (base_yaml_path (g_ptr_array_index (scn_inputs (s), 0)), SCENARIO_NAME);
  TEST_HAS (base_yaml_path (g_ptr_array_index (scn_inputs (s), 1)), "teach_nic.yaml");
  TEST_STR (scn_description (s), "words");
  TEST_STR (scn_name (s), "s");
}

static void
a_collective_that_stays_in_a_node_says_so (void)
{
  g_autoptr (ScnResult) r =
      scenario_run (2, 2, "{kind: collective, op: all_reduce, bytes: 1 MB, ranks: 2, repeat: 3}", "", COL_MODE_EVENT);
  TEST_INT (r->run.warnings->len, 1);
  TEST_HAS (g_ptr_array_index (r->run.warnings, 0), "never leaves a node (2 ranks of a cluster of 4 GPUs)");
  TEST_INT (r->repeat, 3);
  g_autoptr (ScnResult) one = scenario_run (2, 1, "{kind: collective, op: all_reduce, bytes: 1 MB, ranks: 1}", "", COL_MODE_EVENT);
  TEST_HAS (g_ptr_array_index (one->run.warnings, 0), "one rank");
  TEST_NEAR (one->coll.time_s, 0, 0);
}

static void
an_algorithm_that_cannot_run_is_refused_at_its_place (void)
{
  g_autofree char *text = scenario_text (2, 1, "{kind: collective, op: all_reduce, bytes: 1 MB, algo: nvls}", "");
  g_autoptr (Scn) scenario = scenario_load (text, NULL, NULL, NULL);
  g_autoptr (GError) error = NULL;
  TEST_TRUE (scn_run (scenario, FALSE, &error) == NULL);
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_INPUT));
  TEST_HAS (error->message, "s.yaml:24:65: all_reduce nvls cannot run here");
}

static void
schemas_are_sound (void)
{
  static const BaseSchema *const schemas[] = { &scn_schema_scenario,  &scn_schema_collective, &sto_schema_transfer,
                                               &trn_schema_training,  &trn_schema_parallel,   &scn_schema_degrade,
                                               &col_schema_nccl,      &scn_schema_report,     &scn_schema_job,
                                               &scn_schema_background };
  for (unsigned i = 0; i < G_N_ELEMENTS (schemas); i++) {
    g_autofree char *fault = schema_check (schemas[i]);
    TEST_STR (fault, NULL);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "errors say where, what, and what is accepted", errors_say_where_what_and_what_is_accepted },
    { "all errors of a file are said at once", all_errors_of_a_file_are_said_at_once },
    { "a training step that does not fit is refused when loading", a_training_step_that_does_not_fit_is_refused_when_loading },
    { "ends of a transfer are looked up when loading", ends_of_a_transfer_are_looked_up_when_loading },
    { "sets reach the scenario and its topology", sets_reach_the_scenario_and_its_topology },
    { "sets of the topology go to the one that another set names", sets_of_the_topology_go_to_the_one_that_another_set_names },
    { "bad sets say what is expected", bad_sets_say_what_is_expected },
    { "fewer GPUs of a node are its first", fewer_gpus_of_a_node_are_its_first },
    { "NCCL's variables are settings", nccl_variables_are_settings },
    { "NCCL's lists of algorithms are read as it reads them", nccl_lists_of_algorithms_are_read_as_it_reads_them },
    { "each degradation is a setting", each_degradation_is_a_setting },
    { "the seed of the options wins over the file's", the_seed_of_the_options_wins_over_the_files },
    { "inputs begin with the scenario", inputs_begin_with_the_scenario },
    { "a collective that stays in a node says so", a_collective_that_stays_in_a_node_says_so },
    { "an algorithm that cannot run is refused at its place", an_algorithm_that_cannot_run_is_refused_at_its_place },
    { "schemas are sound", schemas_are_sound },
    { NULL, NULL },
  };
  return test_main ("loading scenarios", cases);
}
