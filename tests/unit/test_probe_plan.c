#include "harness.h"
#include "nccl_plan.h"

#include <string.h>

/* As nccl-tests counts: gather and scatter by the larger buffer, in whole 16 bytes a rank. */
static void
sizes_are_counted_as_nccl_tests_does (void)
{
  static const struct {
    ProbeOp op;
    size_t bytes;
    unsigned gpus;
    size_t count, real;
  } cases[] = {
    { PROBE_OP_ALL_REDUCE, 1024, 8, 256, 1024 },    { PROBE_OP_ALL_GATHER, 1024, 8, 32, 1024 },
    { PROBE_OP_REDUCE_SCATTER, 1024, 3, 84, 1008 }, /* 256 / 3 = 85, in fours 84; x 3 x 4 B */
    { PROBE_OP_ALLTOALL, 1024, 64, 4, 1024 },       { PROBE_OP_ALL_GATHER, 512, 64, 0, 0 }, /* 2 elements each: less than 16 B */
    { PROBE_OP_SENDRECV, 1024, 3, 256, 1024 },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    TEST_INT (probe_op_count (cases[i].op, cases[i].bytes, cases[i].gpus), cases[i].count);
    TEST_INT (probe_op_bytes (cases[i].op, cases[i].bytes, cases[i].gpus), cases[i].real);
  }
}

static void
sizes_go_from_1_KiB_to_1_GiB_coarse_ones_first_and_each_once (void)
{
  for (unsigned step = 1; step <= 3; step++) {
    size_t size[PROBE_SIZES_MOST], n = probe_sizes (step, step * 2, size);
    bool seen[64] = { false }, fine = false;
    TEST_TRUE (n <= PROBE_SIZES_MOST);
    for (size_t i = 0; i < n; i++) {
      unsigned e = (unsigned)g_bit_nth_lsf (size[i], -1);
      TEST_FALSE (seen[e]);
      seen[e] = true;
      bool coarse = (e - 10) % (step * 2) == 0 || e == 30;
      TEST_FALSE (coarse && fine);
      fine = fine || !coarse;
    }
    for (unsigned e = 10; e <= 30; e++)
      TEST_INT (seen[e], (e - 10) % step == 0 || e == 30);
  }
}

static void
counts_begin_with_all_gpus_and_two (void)
{
  static const struct {
    unsigned n;
    const char *counts;
  } cases[] = {
    { 1, "" }, { 2, "2 " }, { 3, "3 2 " }, { 4, "4 2 3 " }, { 6, "6 2 4 3 " }, { 8, "8 2 4 3 " }, { 16, "16 2 4 8 3 " }
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    unsigned count[PROBE_COUNTS_MOST];
    size_t n = probe_gpu_counts (cases[i].n, count);
    g_autoptr (GString) text = g_string_new ("");
    for (size_t k = 0; k < n; k++)
      g_string_append_printf (text, "%u ", count[k]);
    TEST_STR (text->str, cases[i].counts);
  }
}

static void
requests_come_back_as_they_were (void)
{
  for (unsigned op = 0; op < PROBE_OP_N; op++)
    for (unsigned launch = 0; launch < PROBE_LAUNCH_N; launch++) {
      ProbeRequest request = { .op = (ProbeOp)op,
                               .bytes = (size_t)1 << 30,
                               .nodes = 3,
                               .gpus = 8,
                               .launch = (ProbeLaunch)launch,
                               .in_place = op % 2 == 0,
                               .channels = op * 2,
                               .choice = op % 3 == 0,
                               .target = 0.02,
                               .share_s = 0.125 },
                   back;
      char line[256];
      TEST_TRUE (probe_request_write (&request, line, sizeof line));
      TEST_TRUE (probe_request_read (line, &back));
      TEST_INT (back.op, op);
      TEST_INT (back.launch, launch);
      TEST_INT (back.bytes, request.bytes);
      TEST_INT (back.nodes, 3);
      TEST_INT (back.gpus, 8);
      TEST_INT (probe_request_ranks (&back), 24);
      TEST_INT (back.in_place, request.in_place);
      TEST_INT (back.channels, request.channels);
      TEST_INT (back.choice, request.choice);
      TEST_NEAR (back.target, 0.02, 1e-12);
      TEST_NEAR (back.share_s, 0.125, 1e-12);
    }
  ProbeRequest request = { .bytes = 1024, .nodes = 1, .gpus = 2, .target = 0.02 };
  char small[8];
  TEST_FALSE (probe_request_write (&request, small, sizeof small));
}

static void
lines_that_are_no_request_are_refused (void)
{
  static const char *const lines[] = {
    "",
    "case",
    "case all_reduce 1024 1 2 graph 0 0 0.02",
    "case all_reduce 1024 2 graph 0 0 0.02 1", /* of one node alone, as it was once */
    "cast all_reduce 1024 1 2 graph 0 0 0.02 1",
    "case all_redu 1024 1 2 graph 0 0 0.02 1",
    "case all_reduce 0 1 2 graph 0 0 0.02 1",
    "case all_reduce 1024 1 1 graph 0 0 0.02 1",
    "case all_reduce 1024 0 2 graph 0 0 0.02 1",
    "case all_reduce 1024 1 65 graph 0 0 0.02 1",
    "case all_reduce 1024 1025 1 graph 0 0 0.02 1",
    "case all_reduce 1024 1 2 wild 0 0 0.02 1",
    "case all_reduce 1024 1 2 graph 2 0 0.02 1",
    "case all_reduce 1024 1 2 graph 0 65 0.02 1",
    "case all_reduce 1024 1 2 graph 0 0 2 1",
    "case all_reduce 1024 1 2 graph 0 0 0.02 nan",
    "case all_reduce 1024 1 2 graph 0 0 0.02 1 more",
    "case all_reduce 99999999999 1 2 graph 0 0 0.02 1",
  };
  ProbeRequest request;
  for (size_t i = 0; i < G_N_ELEMENTS (lines); i++)
    if (probe_request_read (lines[i], &request)) {
      g_printerr ("accepted: %s\n", lines[i]);
      TEST_TRUE (FALSE);
    }
}

static void
answers_are_samples_or_none (void)
{
  double sample[3];
  unsigned in_a_row;
  TEST_INT (probe_answer_read ("ok 20 1e-06 2.5e-06", &in_a_row, sample, 3), 2);
  TEST_INT (in_a_row, 20);
  TEST_NEAR (sample[1], 2.5e-6, 1e-12);
  static const char *const none[] = { "ok",       "ok ",     "error x", "ok 7",     "ok 0 1",       "ok -3 1",
                                      "ok 7 1 x", "ok 7 -1", "ok 7 0",  "ok 7 nan", "ok 7 1 2 3 4", "" };
  for (size_t i = 0; i < G_N_ELEMENTS (none); i++)
    TEST_INT (probe_answer_read (none[i], &in_a_row, sample, 3), 0);
}

/* Lines of 2.28.9, of 2.19 with numbers, and what is none. */
static void
choices_are_read_from_old_and_new_logs (void)
{
  static const struct {
    const char *line, *algo, *proto;
    int channels;
  } cases[] = {
    { "n:1:2 [0] NCCL INFO AllReduce: 1048576 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..23}\n", "ring", "ll", 24 },
    { "Broadcast: 4 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={3..3}", "nvls_tree", "simple", 1 },
    { "n:1:2 [0] NCCL INFO 4096 Bytes -> Algo 1 proto 0 time 12.300000\n", "ring", "ll", -1 },
    { "AllGather: 4096 Bytes -> Algo 0 proto 2 time 1", "tree", "simple", -1 },
    { "x 4096 Bytes -> Algo 9 proto 7 time 1", "9", "7", -1 },
    { "x 4 Bytes -> Algo RING proto LL128", "ring", "ll128", -1 },
    { "x 4 Bytes -> Algo RING", NULL, NULL, 0 },
    { "x 4 Bytes -> Algo  proto LL", NULL, NULL, 0 },
    { "x 4 Bytes -> Algo A_NAME_THAT_IS_LONGER_THAN_ANY proto LL", NULL, NULL, 0 },
    { "NCCL INFO Trees [0] 1/-1/-1->0->-1", NULL, NULL, 0 },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ProbeChoice choice;
    bool found = probe_choice_read (cases[i].line, &choice);
    TEST_INT (found, cases[i].algo != NULL);
    if (!found)
      continue;
    TEST_STR (choice.algo, cases[i].algo);
    TEST_STR (choice.proto, cases[i].proto);
    TEST_INT (choice.channels, cases[i].channels);
  }
}

static void
shapes_begin_with_all_and_two_nodes (void)
{
  static const struct {
    unsigned nodes, gpus, first;
    const char *shapes;
  } cases[] = {
    { 1, 1, 0, "" },
    { 1, 8, 1, "1x8 " },
    { 2, 1, 1, "2x1 " },
    { 2, 8, 2, "2x8 2x1 1x8 " },
    { 3, 4, 4, "3x4 2x4 3x1 2x1 1x4 " },
    { 8, 1, 2, "8x1 2x1 4x1 " },
    { 12, 8, 4, "12x8 2x8 12x1 2x1 4x8 4x1 8x8 8x1 1x8 " },
    { 1025, 8, 0, "" }, /* more than are accepted */
    { 0, 8, 0, "" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ProbeShape shape[PROBE_SHAPES_MOST];
    size_t first, n = probe_shapes (cases[i].nodes, cases[i].gpus, shape, &first);
    g_autoptr (GString) text = g_string_new ("");
    for (size_t k = 0; k < n; k++)
      g_string_append_printf (text, "%ux%u ", shape[k].nodes, shape[k].gpus);
    TEST_STR (text->str, cases[i].shapes);
    TEST_INT (first, cases[i].first);
  }
  ProbeShape shape[PROBE_SHAPES_MOST];
  size_t first, n = probe_shapes (PROBE_NODES_MOST, PROBE_GPUS_MOST, shape, &first);
  TEST_INT (n, 4 + 8 * 2 + 1); /* 4, 8, … 512 between 2 and 1024, each with all GPUs and one; one node */
}

/* Over nodes each case stands once in a stage, nothing is launched serially, and every communicator of a stage has room at once. */
static void
the_plan_over_nodes_is_what_processes_can_do (void)
{
  NcclPlan plan;
  TEST_TRUE (nccl_plan_make_nodes (&plan, 4, 8, false, true));
  static const char *const names[] = { "choice",
                                       "auto",
                                       "ring_ll",
                                       "ring_ll128",
                                       "ring_simple",
                                       "tree_ll",
                                       "tree_ll128",
                                       "tree_simple",
                                       "collnet_direct_simple",
                                       "collnet_chain_simple",
                                       "nvls_simple",
                                       "nvls_tree_simple",
                                       "auto" };
  TEST_INT (plan.n, G_N_ELEMENTS (names));
  for (size_t s = 0; s < plan.n; s++) {
    const NcclStage *stage = &plan.stage[s];
    g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr (GHashTable) sets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    TEST_STR (stage->name, names[s]);
    TEST_FALSE (stage->stays);
    TEST_TRUE (stage->n > 0 && stage->weight > 0);
    TEST_INT (stage->request[0].nodes, 4);
    TEST_INT (stage->request[0].gpus, 8);
    for (size_t i = 0; i < stage->n; i++) {
      ProbeRequest request = stage->request[i], back;
      char line[256];
      request.target = 0.02;
      TEST_TRUE (probe_request_write (&request, line, sizeof line) && probe_request_read (line, &back));
      TEST_TRUE (g_hash_table_add (seen, g_strdup (line)));
      g_hash_table_add (sets, g_strdup_printf ("%u %u %u", request.nodes, request.gpus, request.channels));
      TEST_FALSE (request.launch == PROBE_LAUNCH_SERIAL);
      TEST_TRUE (!stage->offered || (request.nodes > 1 && request.gpus == 8));
    }
    TEST_TRUE (g_hash_table_size (sets) <= NCCL_PLAN_SETS_MOST);
  }
  nccl_plan_clear (&plan);
  TEST_TRUE (nccl_plan_make_nodes (&plan, 4, 8, true, false));
  for (size_t s = 0; s < plan.n; s++)
    TEST_FALSE (g_str_has_prefix (plan.stage[s].name, "nvls"));
  nccl_plan_clear (&plan);
  TEST_FALSE (nccl_plan_make_nodes (&plan, 1, 1, false, true));
  nccl_plan_clear (&plan);
}

/* Order and completeness: the choices, then NCCL's own on n and 2 GPUs by graphs, then what is forced; no case twice in a stage. */
static void
the_plan_begins_with_what_is_worth_most (void)
{
  NcclPlan plan;
  TEST_TRUE (nccl_plan_make (&plan, 8, false));
  static const char *const names[] = { "choice",     "auto",        "ring_ll", "ring_ll128", "ring_simple", "tree_ll",
                                       "tree_ll128", "tree_simple", "auto",    "registered", "symmetric",   "p2p_off" };
  TEST_INT (plan.n, G_N_ELEMENTS (names));
  for (size_t s = 0; s < plan.n; s++) {
    const NcclStage *stage = &plan.stage[s];
    const gboolean own = g_str_equal (stage->name, "registered") || g_str_equal (stage->name, "symmetric");
    TEST_STR (stage->name, names[s]);
    TEST_STR (stage->buffers, own ? stage->name : NULL);
    TEST_TRUE (stage->weight > 0 && stage->n > 0);
    g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < stage->n; i++) {
      ProbeRequest request = stage->request[i], back;
      char line[256];
      request.target = 0.02;
      TEST_TRUE (probe_request_write (&request, line, sizeof line));
      TEST_TRUE (probe_request_read (line, &back));
      TEST_TRUE (g_hash_table_add (seen, g_strdup (line)));
      TEST_TRUE (!request.in_place || (request.op == PROBE_OP_ALL_REDUCE && request.launch == PROBE_LAUNCH_GRAPH));
      if (g_str_has_prefix (stage->name, "tree"))
        TEST_INT (request.op, PROBE_OP_ALL_REDUCE);
    }
  }
  TEST_INT (plan.stage[0].request[0].gpus, 8); /* the first communicator writes the topology of all */
  for (size_t i = 0; i < plan.stage[1].n; i++) {
    TEST_INT (plan.stage[1].request[i].launch, PROBE_LAUNCH_GRAPH);
    TEST_TRUE (plan.stage[1].request[i].gpus == 8 || plan.stage[1].request[i].gpus == 2);
  }
  TEST_TRUE (plan.stage[1].stays);
  nccl_plan_clear (&plan);
  TEST_FALSE (nccl_plan_make (&plan, 1, false));
  nccl_plan_clear (&plan);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "sizes are counted as nccl-tests does", sizes_are_counted_as_nccl_tests_does },
    { "sizes go from 1 KiB to 1 GiB, coarse ones first, each once", sizes_go_from_1_KiB_to_1_GiB_coarse_ones_first_and_each_once },
    { "counts begin with all GPUs and two", counts_begin_with_all_gpus_and_two },
    { "requests come back as they were", requests_come_back_as_they_were },
    { "lines that are no request are refused", lines_that_are_no_request_are_refused },
    { "answers are samples or none", answers_are_samples_or_none },
    { "choices are read from old and new logs", choices_are_read_from_old_and_new_logs },
    { "shapes begin with all and with two nodes", shapes_begin_with_all_and_two_nodes },
    { "the plan over nodes is what processes can do", the_plan_over_nodes_is_what_processes_can_do },
    { "the plan begins with what is worth most", the_plan_begins_with_what_is_worth_most },
    { 0 },
  };
  return test_main ("probe/plan", cases);
}
