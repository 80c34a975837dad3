/* What --dry-run expects of a plan over nodes. */
#include "harness.h"
#include "probe_dry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const NcclStage plain = { .algo = "auto", .proto = "auto" }, ring = { .algo = "ring", .proto = "simple" },
                       ring_ll = { .algo = "ring", .proto = "ll" }, ring_ll128 = { .algo = "ring", .proto = "ll128" };

static ProbeRequest
request (ProbeOp op, size_t bytes, unsigned nodes, unsigned gpus)
{
  return (ProbeRequest){ .op = op, .bytes = bytes, .nodes = nodes, .gpus = gpus };
}

/* 1 GiB over 2 nodes of 8: an all-reduce sends 2 (n - 1) / n of it over 8 NICs, an all-to-all half of it over each GPU's. */
static void
long_operations_take_what_the_nics_take (void)
{
  static const struct {
    ProbeOp op;
    double bytes;
  } cases[] = { { PROBE_OP_ALL_REDUCE, 0x1p30 / 8 }, { PROBE_OP_ALL_GATHER, 0x1p29 / 8 }, { PROBE_OP_REDUCE_SCATTER, 0x1p29 / 8 },
                { PROBE_OP_BROADCAST, 0x1p30 / 8 },  { PROBE_OP_REDUCE, 0x1p30 / 8 },     { PROBE_OP_ALLTOALL, 0x1p29 },
                { PROBE_OP_SENDRECV, 0x1p29 } };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ProbeRequest one = request (cases[i].op, (size_t)1 << 30, 2, 8);
    double expected_s = cases[i].bytes / 50e9, time_s = probe_dry_operation_s (&plain, &one, 50e9);
    TEST_TRUE (time_s > expected_s && time_s < expected_s + 100e-6);
  }
  ProbeRequest one = request (PROBE_OP_ALL_REDUCE, (size_t)1 << 30, 2, 1);
  double full_s = probe_dry_operation_s (&ring, &one, 50e9);
  TEST_NEAR (probe_dry_operation_s (&ring, &one, 25e9) / full_s, 2, 0.01);
  TEST_NEAR (probe_dry_operation_s (&ring_ll128, &one, 50e9) / full_s, 1 / 0.9, 0.01);
  TEST_TRUE (probe_dry_operation_s (&ring_ll, &one, 50e9) > 3 * full_s);
  one.channels = 1; /* of which one carries 12 GB/s */
  TEST_TRUE (probe_dry_operation_s (&ring, &one, 50e9) > 4 * full_s);
  one = request (PROBE_OP_ALL_REDUCE, (size_t)1 << 30, 1, 8); /* NVLink: faster NICs change nothing */
  TEST_NEAR (probe_dry_operation_s (&ring, &one, 50e9) / probe_dry_operation_s (&ring, &one, 1e9), 1, 1e-12);
}

/* Rings grow with the nodes, trees with their logarithm. */
static void
short_operations_take_what_their_hops_take (void)
{
  ProbeRequest few = request (PROBE_OP_ALL_REDUCE, 1024, 2, 8), many = request (PROBE_OP_ALL_REDUCE, 1024, 64, 8);
  TEST_TRUE (probe_dry_operation_s (&ring, &many, 50e9) > 15 * probe_dry_operation_s (&ring, &few, 50e9));
  TEST_TRUE (probe_dry_operation_s (&plain, &many, 50e9) < 4 * probe_dry_operation_s (&plain, &few, 50e9));
}

static void
a_case_takes_its_samples (void)
{
  double least_s, graph_s, least_graph_s;
  ProbeRequest one = request (PROBE_OP_ALL_REDUCE, (size_t)1 << 30, 2, 1);
  one.launch = PROBE_LAUNCH_THREADS;
  double each_s = probe_dry_operation_s (&ring, &one, 50e9), time_s = probe_dry_case_s (&ring, &one, 50e9, &least_s);
  TEST_TRUE (time_s > 10 * each_s && time_s < 16 * each_s); /* one alone, one rough, 10.8 samples of one */
  TEST_TRUE (least_s > 7 * each_s && least_s < 11 * each_s);
  one.launch = PROBE_LAUNCH_GRAPH;
  graph_s = probe_dry_case_s (&ring, &one, 50e9, &least_graph_s);
  TEST_TRUE (graph_s < time_s && least_graph_s > least_s);
  one.bytes = 1024; /* samples of 2 ms each */
  TEST_TRUE (probe_dry_case_s (&ring, &one, 50e9, &least_s) > 8.4 * 2e-3);
  NcclStage choice = plain;
  choice.choice = true; /* once */
  TEST_TRUE (probe_dry_case_s (&choice, &one, 50e9, &least_s) < 5e-3);
  TEST_NEAR (least_s, probe_dry_case_s (&choice, &one, 50e9, &least_s), 1e-15);
  TEST_TRUE (probe_dry_join_s (4096) > 20 && probe_dry_join_s (16) < 2);
}

/* Stages get their shares of the budget; what does not fit is left out, and all fits where the budget is large. */
static void
a_budget_leaves_out_what_does_not_fit (void)
{
  static const double budgets_s[] = { 3, 60, 300, 3600 };
  NcclPlan plan;
  ProbeDryStage stages[NCCL_STAGES_MOST];
  TEST_TRUE (nccl_plan_make_nodes (&plan, 4, 8, false, true));
  size_t before = 0;
  for (size_t b = 0; b < G_N_ELEMENTS (budgets_s); b++) {
    size_t measured = 0, cases = 0;
    double used_s = 0;
    probe_dry_plan (&plan, 50e9, budgets_s[b], stages);
    for (size_t k = 0; k < plan.n; k++) {
      TEST_TRUE (stages[k].measured <= plan.stage[k].n && stages[k].communicators > 0);
      TEST_TRUE (stages[k].measured < plan.stage[k].n || stages[k].used_s <= stages[k].expected_s * (1 + 1e-12));
      measured += stages[k].measured;
      cases += plan.stage[k].n;
      used_s += stages[k].used_s;
    }
    TEST_TRUE (measured >= before && (measured == cases) == (b == G_N_ELEMENTS (budgets_s) - 1));
    TEST_TRUE (used_s < budgets_s[b] + 5); /* the last case of a stage may end later */
    before = measured;
  }
  plan.stage[0].n = 0; /* --only left nothing of it */
  probe_dry_plan (&plan, 50e9, 300, stages);
  TEST_INT (stages[0].measured, 0);
  TEST_NEAR (stages[0].expected_s, 0, 1e-15);
  nccl_plan_clear (&plan);
}

/* The table. Returned: full. */
static char *
print (unsigned nodes, unsigned gpus, double budget_s, bool nvls)
{
  char *text = NULL;
  size_t n_B = 0;
  FILE *out = open_memstream (&text, &n_B);
  NcclPlan plan;
  const ProbeOptions options = { .nodes = nodes, .gpus = gpus, .nic_Gbps = 400, .budget_s = budget_s };
  TEST_TRUE (nccl_plan_make_nodes (&plan, nodes, gpus, false, nvls));
  probe_dry_print (out, &plan, &options);
  fclose (out);
  nccl_plan_clear (&plan);
  return text;
}

static void
the_table_names_each_question_its_time_and_the_total (void)
{
  g_autofree char *short_time = print (4, 8, 300, true), *long_time = print (2, 8, 7200, true),
                  *thousand = print (1024, 8, 300, false);
  static const char *const said[] = { "Dry run on 4 nodes with 8 GPUs each: nothing is measured.",
                                      "400 Gb/s of NIC per GPU",
                                      "choice: 525 cases, 5 communicators, ",
                                      "  log      4x8        1 KiB to 1 GiB      105 ",
                                      "all but alltoall, sendrecv\n",
                                      "ring_ll: 515 cases, 10 communicators, ",
                                      "\n  NCCL_ALGO=Ring NCCL_PROTO=LL\n",
                                      "  graph    4x8       64 KiB to 128 MiB     20 ",
                                      "all_reduce, on 1 to 16 channels\n",
                                      "nvls_tree_simple: 22 cases, 2 communicators, ",
                                      ", if NCCL offers it\n",
                                      "all_reduce, in place\n",
                                      "total: 4157 cases, ",
                                      "budget of 5 min: ",
                                      "Left out:\n",
                                      "m measures all\n" };
  for (size_t i = 0; i < G_N_ELEMENTS (said); i++)
    TEST_HAS (short_time, said[i]);
  TEST_HAS (long_time, "budget of 2 h 0 min: all cases, ");
  TEST_TRUE (strstr (long_time, "Left out") == NULL);
  TEST_HAS (thousand, "Dry run on 1024 nodes"); /* more shapes than any stage of few nodes has */
  g_auto (GStrv) lines = g_strsplit (short_time, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if (strlen (*line) > 100) {
      g_printerr ("more than 100 letters: %s\n", *line);
      TEST_TRUE (FALSE);
    }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "long operations take what the NICs take", long_operations_take_what_the_nics_take },
    { "short operations take what their hops take", short_operations_take_what_their_hops_take },
    { "a case takes its samples", a_case_takes_its_samples },
    { "a budget leaves out what does not fit", a_budget_leaves_out_what_does_not_fit },
    { "the table names each question, its time and the total", the_table_names_each_question_its_time_and_the_total },
    { 0 },
  };
  return test_main ("probe/dry", cases);
}
