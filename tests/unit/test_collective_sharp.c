/* Traffic and times of the algorithms that switches reduce for, and of PAT, on small clusters: every load by hand. */
#include <math.h>

#include "comm-private.h"
#include "constants/calibration.h"
#include "workload_fixture.h"

/* `n_nodes` nodes of `n_gpus` GPUs behind one reducing switch, 100 GB/s and 1 us a link, one adapter of 10 GB/s and 5 us a GPU on
 * a fat tree with leaves of four adapters and two spines; everything reduces where `sharp`. */
static Clu *
tree_cluster (unsigned n_gpus, unsigned n_nodes, gboolean sharp, const char *routing)
{
  g_autofree char *fabric = g_strdup_printf ("{kind: fat_tree, leaf: {radix: 8, latency: 0}, spine: {radix: 8, latency: 0}, "
                                             "core: {radix: 8, latency: 0}, routing: %s, sharp: %s}",
                                             routing, sharp ? "true" : "false");
  return fixture_cluster_on (n_gpus, n_nodes, sharp, fabric);
}

static Bench
bench_new (unsigned n_gpus, unsigned n_nodes, gboolean sharp)
{
  return bench_on (tree_cluster (n_gpus, n_nodes, sharp, "adaptive"));
}

/* One GPU a node on one fabric switch: all hops alike. */
static Bench
one_gpu_nodes (unsigned n)
{
  return bench_on (fixture_cluster (1, n, FALSE));
}

/* Least and greatest load of the resources whose names have all of `part`; their number. */
typedef struct {
  double least, most, sum;
  unsigned n;
} Loads;

static Loads
loads_of (const Bench *b, MdlAlgo algo, MdlOp op, const char *from, const char *to)
{
  Loads l = { HUGE_VAL, 0, 0, 0 };
  const ColTraffic *t = col_comm_traffic (b->comm, op, algo, 0, NULL);
  g_autoptr (GArray) loads = t != NULL ? col_spread_loads (t->spread) : g_array_new (FALSE, FALSE, sizeof (ColLoad));
  for (guint i = 0; i < loads->len; i++) {
    const ColLoad *load = &g_array_index (loads, ColLoad, i);
    g_autofree char *name = clu_resource_name (b->clu, load->res);
    const char *arrow = strstr (name, "->"), *first = strstr (name, from);
    if (arrow == NULL || first == NULL || first > arrow || strstr (arrow, to) == NULL)
      continue;
    l.least = fmin (l.least, load->load);
    l.most = fmax (l.most, load->load);
    l.sum += load->load;
    l.n++;
  }
  return l;
}

static void
expect_alike (const Bench *b, MdlAlgo algo, MdlOp op, const char *from, const char *to, unsigned n, double load)
{
  Loads l = loads_of (b, algo, op, from, to);
  TEST_INT (l.n, n);
  TEST_NEAR (l.least, load, 1e-12);
  TEST_NEAR (l.most, load, 1e-12);
}

static const MdlAlgo in_network[] = { MDL_ALGO_NVLS, MDL_ALGO_COLLNET_DIRECT, MDL_ALGO_COLLNET_CHAIN };
static const MdlAlgo in_switches[] = { MDL_ALGO_NVLS, MDL_ALGO_NVLS_TREE, MDL_ALGO_COLLNET_DIRECT, MDL_ALGO_COLLNET_CHAIN };

static void
each_link_of_a_reduction_tree_carries_a_share_once_each_way (void)
{
  /* 8 nodes of 2, a half of the bytes on each of 2 rails; a leaf has 2 nodes, the trunk to the spines both rails */
  Bench b = bench_new (2, 8, TRUE);
  bench_open (&b, 16);
  for (unsigned i = 0; i < G_N_ELEMENTS (in_network); i++) {
    expect_alike (&b, in_network[i], MDL_OP_ALL_REDUCE, "nic", "leaf", 16, .5);
    expect_alike (&b, in_network[i], MDL_OP_ALL_REDUCE, "leaf", "nic", 16, .5);
    expect_alike (&b, in_network[i], MDL_OP_ALL_REDUCE, "leaf", "spine", 4, 1);
    expect_alike (&b, in_network[i], MDL_OP_ALL_REDUCE, "spine", "leaf", 4, 1);
  }
  bench_close (&b);
}

static void
a_reduction_tree_leaves_each_switch_by_one_link (void)
{
  /* Where routes are not spread, the four nodes of a leaf may have different ways to a spine; their sum has one. Up: 3 leaves
   * without the root's; back: the root's leaf to the spines that lead to the other 3, one at least. Each NIC all of it. */
  static const char *const routings[] = { "static", "ecmp" };
  for (unsigned i = 0; i < G_N_ELEMENTS (routings); i++) {
    Bench b = { .clu = tree_cluster (1, 16, TRUE, routings[i]) };
    col_settings_default (&b.settings);
    bench_open (&b, 16);
    Loads up = loads_of (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, "leaf", "spine");
    Loads down = loads_of (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, "spine", "leaf");
    TEST_TRUE (up.sum >= 4 && up.sum <= 6 && up.most <= 2);
    TEST_TRUE (down.sum >= 4 && down.sum <= 6 && down.most <= 2);
    expect_alike (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, "nic", "leaf", 16, 1);
    expect_alike (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, "leaf", "nic", 16, 1);
    bench_close (&b);
  }
}

static void
links_inside_nodes_carry_what_the_algorithm_says (void)
{
  /* 4 ranks a node. NVLS: S read, S/4 stored, both ways. Direct: 3 of 4 parts to the heads, 3 of 4 sums to the peers. Chain: S up
   * and S down on every ring; ends of a chain send one of them, and the 4 rings begin at 4 GPUs: (4 x 2 - 2) / 4 a GPU. */
  Bench b = bench_new (4, 2, TRUE);
  bench_open (&b, 8);
  expect_alike (&b, MDL_ALGO_NVLS, MDL_OP_ALL_REDUCE, "gpu", "nvswitch", 8, 1.25);
  expect_alike (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE, "gpu", "nvswitch", 8, 1.25);
  expect_alike (&b, MDL_ALGO_COLLNET_DIRECT, MDL_OP_ALL_REDUCE, "gpu", "nvswitch", 8, 1.5);
  expect_alike (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, "gpu", "nvswitch", 8, 1.5);
  bench_close (&b);
}

static void
gathering_sends_a_part_and_receives_a_rail (void)
{
  /* 8 nodes of 2, 16 ranks: a rank's part is 1/16, a rail's 1/2, and a leaf has 2 nodes of both rails. All-gather: 1/16 out of each
   * adapter, 1/2 into it. The first island's leaf is the root of both rails' trees: from the other 3 leaves go 4 parts of 1/16
   * to spines and on to the root, 12/16 in all; back go both rails' halves, through one spine or spread over both, once to each
   * leaf: 1 into the spines, 3 out of them. Reduce-scatter is the mirror. Inside: NVLS stores a rail's 1/2 and receives all;
   * direct passes 1/2 to its peer. */
  static const MdlAlgo algos[] = { MDL_ALGO_NVLS, MDL_ALGO_COLLNET_DIRECT };
  Bench b = bench_new (2, 8, TRUE);
  bench_open (&b, 16);
  for (unsigned i = 0; i < G_N_ELEMENTS (algos); i++)
    for (unsigned scatter = 0; scatter < 2; scatter++) {
      MdlOp op = scatter ? MDL_OP_REDUCE_SCATTER : MDL_OP_ALL_GATHER;
      const char *part = scatter ? "leaf" : "nic", *rail = scatter ? "nic" : "leaf";
      expect_alike (&b, algos[i], op, part, rail, 16, 1.0 / 16);
      expect_alike (&b, algos[i], op, rail, part, 16, .5);
      const char *in = scatter ? "spine" : "leaf", *out = scatter ? "leaf" : "spine";
      TEST_NEAR (loads_of (&b, algos[i], op, in, out).sum, 12.0 / 16 + 1, 1e-12);
      TEST_NEAR (loads_of (&b, algos[i], op, out, in).sum, 12.0 / 16 + 3, 1e-12);
      gboolean nvls = algos[i] == MDL_ALGO_NVLS;
      expect_alike (&b, algos[i], op, scatter ? "nvswitch" : "gpu", scatter ? "gpu" : "nvswitch", 16, .5);
      expect_alike (&b, algos[i], op, scatter ? "gpu" : "nvswitch", scatter ? "nvswitch" : "gpu", 16, nvls ? 1 : .5);
    }
  bench_close (&b);
}

static void
heads_of_nvls_tree_send_at_most_twice_their_part (void)
{
  /* 8 nodes, 2 heads with a half each: each of 4 trees has 7 edges of a quarter, up and down: 14 in all. Two nodes: a quarter up
   * in one tree, a quarter down in the other. */
  Bench b = bench_new (2, 8, TRUE);
  bench_open (&b, 16);
  Loads l = loads_of (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE, "nic", "leaf");
  TEST_INT (l.n, 16);
  TEST_NEAR (l.sum, 14, 1e-12);
  TEST_NEAR (l.most, 1, 1e-12);
  bench_close (&b);
  b = bench_new (2, 2, TRUE);
  bench_open (&b, 4);
  expect_alike (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE, "nic", "> switch", 4, .5);
  bench_close (&b);
}

static void
nodes_need_not_be_alike (void)
{
  /* 3 ranks on 2 nodes: one head; the second node has one rank, which no switch serves */
  Bench b = bench_new (2, 2, TRUE);
  bench_open (&b, 3);
  expect_alike (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE, "nic0", "> switch", 2, 1);
  Loads l = loads_of (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE, "gpu", "nvswitch");
  TEST_INT (l.n, 2);
  TEST_NEAR (l.most, 2, 1e-12); /* the head: S read, S stored */
  TEST_NEAR (l.least, 1, 1e-12);
  bench_close (&b);
}

static void
pat_sends_each_part_over_each_tree_once (void)
{
  /* n nodes of one GPU: n - 1 parts of 1/n out of each NIC and into it, a phase a bit, the phases of each rank in order */
  for (unsigned n = 2; n <= 9; n++) {
    Bench b = one_gpu_nodes (n);
    bench_open (&b, n);
    for (unsigned k = 0; k < 2; k++) {
      MdlOp op = k == 0 ? MDL_OP_ALL_GATHER : MDL_OP_REDUCE_SCATTER;
      g_autoptr (GPtrArray) pipes = col_comm_pipes (&(ColPipesQuery){ b.comm, op, 0, 1e6, 0 }, MDL_ALGO_PAT);
      TEST_INT (pipes->len, 1);
      const ColPipe *pipe = pipes->pdata[0];
      unsigned phases = (unsigned)ceil (log2 (n));
      TEST_INT (pipe->n_edges, n * phases);
      double sum = 0;
      for (guint32 e = 0; e < pipe->n_edges; e++) {
        sum += pipe->edge[e].bytes;
        TEST_INT (pipe->need_at[e + 1] - pipe->need_at[e], e / n);
        for (guint32 i = pipe->need_at[e]; i < pipe->need_at[e + 1]; i++)
          TEST_INT (pipe->edge[pipe->need[i]].to, pipe->edge[e].from);
      }
      TEST_NEAR (sum, n - 1.0, 1e-12);
      expect_alike (&b, MDL_ALGO_PAT, op, "nic", "> switch", n, (n - 1.0) / n);
    }
    bench_close (&b);
  }
}

static void
pat_gathers_every_part_everywhere (void)
{
  /* Follows the parts: rank r passes on, over the distance of the phase, each part whose origin is an even multiple of it behind.
   * */
  for (guint32 n = 2; n <= 9; n++) {
    Bench b = bench_new (1, n, TRUE);
    bench_open (&b, n);
    g_autoptr (GPtrArray) pipes = col_comm_pipes (&(ColPipesQuery){ b.comm, MDL_OP_ALL_GATHER, 0, 1e6, 0 }, MDL_ALGO_PAT);
    const ColPipe *pipe = pipes->pdata[0];
    gboolean has[9][9] = { { FALSE } };
    for (guint32 r = 0; r < n; r++)
      has[r][r] = TRUE;
    for (guint32 e = 0; e < pipe->n_edges; e++) {
      const ColEdge *edge = &pipe->edge[e];
      guint32 far = (edge->to + n - edge->from) % n, parts = 0;
      for (guint32 behind = 0; behind + far < n; behind += 2 * far) {
        guint32 origin = (edge->from + n - behind) % n;
        TEST_TRUE (has[edge->from][origin]);
        has[edge->to][origin] = TRUE;
        parts++;
      }
      TEST_NEAR (edge->bytes, (double)parts / n, 1e-12);
    }
    for (guint32 r = 0; r < n; r++)
      for (guint32 o = 0; o < n; o++)
        TEST_TRUE (has[r][o]);
    bench_close (&b);
  }
}

static double
price (Bench *b, MdlOp op, MdlAlgo algo, double size_B, ColAnswer *coll)
{
  g_autoptr (GError) error = NULL;
  ColCollRequest request = { op, size_B, MDL_DTYPE_FP32, algo, MDL_PROTO_AUTO, 0 };
  if (!col_coll_price (b->comm, &request, coll, &error)) {
    fprintf (stderr, "%s\n", error->message);
    CU_FAIL ("cannot price");
    return 0;
  }
  return coll->time_s;
}

static Cst *calibration;

static void
event_and_model_agree_by_both_libraries (void)
{
  for (unsigned nccl = 0; nccl < 2; nccl++) {
    Bench b = bench_new (4, 5, TRUE);
    b.settings.library = nccl ? cst_library (calibration) : NULL;
    bench_open (&b, 20);
    ColAnswer coll = { 0 };
    for (unsigned i = 0; i < G_N_ELEMENTS (in_switches); i++)
      for (double size_B = 8; size_B < 1e10; size_B *= 64) {
        b.settings.mode = COL_MODE_EVENT;
        double event_s = price (&b, MDL_OP_ALL_REDUCE, in_switches[i], size_B, &coll);
        b.settings.steps = COL_STEPS_EXACT; /* there are no messages: the same */
        TEST_NEAR (price (&b, MDL_OP_ALL_REDUCE, in_switches[i], size_B, &coll), event_s, 1e-12);
        b.settings.steps = COL_STEPS_FLUID;
        b.settings.mode = COL_MODE_MODEL;
        TEST_NEAR (event_s, price (&b, MDL_OP_ALL_REDUCE, in_switches[i], size_B, &coll), .01);
      }
    col_coll_clear (&coll);
    bench_close (&b);
  }
}

static void
pat_messages_agree_with_the_fluid_form_from_16_mebibytes (void)
{
  for (unsigned nccl = 0; nccl < 2; nccl++)
    for (unsigned n = 2; n <= 16; n += 7) {
      Bench b = one_gpu_nodes (n);
      b.settings.library = nccl ? cst_library (calibration) : NULL;
      bench_open (&b, n);
      ColAnswer coll = { 0 };
      for (double size_B = 16777216; size_B < 1e10; size_B *= 16)
        for (unsigned k = 0; k < 2; k++) {
          MdlOp op = k == 0 ? MDL_OP_ALL_GATHER : MDL_OP_REDUCE_SCATTER;
          b.settings.steps = COL_STEPS_FLUID;
          double fluid_s = price (&b, op, MDL_ALGO_PAT, size_B, &coll);
          b.settings.steps = COL_STEPS_EXACT;
          TEST_NEAR (price (&b, op, MDL_ALGO_PAT, size_B, &coll), fluid_s, .05);
          TEST_TRUE (coll.n_messages >= (guint64)n * (guint64)ceil (log2 (n)));
        }
      col_coll_clear (&coll);
      bench_close (&b);
    }
}

static void
plain_pat_is_phases_of_alpha_and_bytes (void)
{
  /* 4 nodes: 2 phases of two wires of 5 us and 3/4 of 40 MB at 10 GB/s: 20 us + 3 ms; 2 phases x 4 messages */
  Bench b = one_gpu_nodes (4);
  bench_open (&b, 4);
  ColAnswer coll = { 0 };
  TEST_NEAR (price (&b, MDL_OP_ALL_GATHER, MDL_ALGO_PAT, 40e6, &coll), 3.02e-3, 1e-9);
  b.settings.steps = COL_STEPS_EXACT;
  TEST_NEAR (price (&b, MDL_OP_ALL_GATHER, MDL_ALGO_PAT, 40e6, &coll), 3.02e-3, 1e-9);
  TEST_INT (coll.n_messages, 8);
  col_coll_clear (&coll);
  bench_close (&b);
}

static void
switches_gain_at_most_two_parts_in_n_over_a_ring (void)
{
  /* 8 nodes of one GPU: the ring moves 2 x 7/8 of the bytes out of each NIC, the chain all of them once: 1.75 */
  Bench b = bench_new (1, 8, TRUE);
  b.settings.mode = COL_MODE_MODEL;
  bench_open (&b, 8);
  ColAnswer coll = { 0 };
  double before = HUGE_VAL;
  for (double size_B = 8; size_B < 1e11; size_B *= 32) {
    double ring_s = price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, size_B, &coll);
    double gain = ring_s / price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_COLLNET_CHAIN, size_B, &coll);
    TEST_TRUE (gain <= before * (1 + 1e-9) && gain >= 1.75 * (1 - 1e-9));
    before = gain;
  }
  TEST_NEAR (before, 1.75, 1e-3);
  col_coll_clear (&coll);
  bench_close (&b);
}

static void
nvls_efficiency_holds_inside_nodes_alone (void)
{
  Bench b = bench_new (2, 2, TRUE);
  b.settings.library = cst_library (calibration);
  bench_open (&b, 4);
  const ColTraffic *t = col_comm_traffic (b.comm, MDL_OP_ALL_REDUCE, MDL_ALGO_NVLS_TREE, 0, NULL);
  double efficiency = mdl_nvls_efficiency (b.settings.library, 90, 8);
  TEST_TRUE (efficiency > .5 && efficiency < 1);
  g_autoptr (GArray) loads = col_spread_loads (t->spread);
  for (guint i = 0; i < loads->len; i++) {
    const ColLoad *load = &g_array_index (loads, ColLoad, i);
    g_autofree char *name = clu_resource_name (b.clu, load->res);
    TEST_NEAR (load->factor, strstr (name, "nvswitch") != NULL ? efficiency : 1, 1e-9);
  }
  bench_close (&b);
}

/* The reason why `algo` cannot run; "" if it can. */
static const char *
reason_for (Bench *b, MdlAlgo algo, MdlOp op, MdlDtype dtype)
{
  ColCollRequest request = { op, 1e6, dtype, algo, MDL_PROTO_SIMPLE, 0 };
  g_autoptr (GArray) choices = col_comm_choices (b->comm, &request);
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *c = &g_array_index (choices, ColChoice, i);
    if (c->algo == algo && c->proto == MDL_PROTO_SIMPLE)
      return c->reason != NULL ? c->reason : "";
  }
  return "not offered";
}

static const char *
reason_of (Bench *b, MdlAlgo algo, MdlOp op)
{
  return reason_for (b, algo, op, MDL_DTYPE_FP32);
}

static void
the_nvswitch_adds_no_narrow_types (void)
{
  Bench b = bench_new (2, 2, TRUE);
  b.settings.library = cst_library (calibration);
  bench_open (&b, 2);
  TEST_HAS (reason_for (&b, MDL_ALGO_NVLS, MDL_OP_ALL_REDUCE, MDL_DTYPE_FP8), "data type");
  TEST_HAS (reason_for (&b, MDL_ALGO_NVLS, MDL_OP_REDUCE_SCATTER, MDL_DTYPE_INT8), "data type");
  TEST_STR (reason_for (&b, MDL_ALGO_NVLS, MDL_OP_ALL_GATHER, MDL_DTYPE_FP8), "");
  TEST_STR (reason_for (&b, MDL_ALGO_NVLS, MDL_OP_ALL_REDUCE, MDL_DTYPE_BF16), "");
  g_clear_pointer (&b.comm, col_comm_free);
  bench_open (&b, 4);
  TEST_HAS (reason_for (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE, MDL_DTYPE_FP8), "data type");
  TEST_STR (reason_for (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE, MDL_DTYPE_FP16), "");
  bench_close (&b);
}

static void
what_cannot_run_says_what_is_missing (void)
{
  Bench b = bench_new (2, 2, FALSE);
  bench_open (&b, 4);
  TEST_HAS (reason_of (&b, MDL_ALGO_COLLNET_DIRECT, MDL_OP_ALL_REDUCE), "fabric: {sharp: true}");
  TEST_HAS (reason_of (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE), "fabric: {sharp: true}");
  TEST_HAS (reason_of (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE), "nvlink: {sharp: true}");
  TEST_HAS (reason_of (&b, MDL_ALGO_NVLS, MDL_OP_ALL_REDUCE), "nvlink: {sharp: true}");
  TEST_HAS (reason_of (&b, MDL_ALGO_PAT, MDL_OP_ALL_GATHER), "one GPU a node");
  bench_close (&b);
  b = bench_new (2, 2, TRUE);
  bench_open (&b, 2);
  TEST_HAS (reason_of (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE), "all on one node");
  TEST_HAS (reason_of (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE), "all on one node");
  TEST_STR (reason_of (&b, MDL_ALGO_NVLS, MDL_OP_ALL_REDUCE), "");
  g_clear_pointer (&b.comm, col_comm_free);
  b.settings.degrade.no_rdma = TRUE;
  bench_open (&b, 4);
  TEST_HAS (reason_of (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE), "RDMA");
  TEST_STR (reason_of (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE), "");
  bench_close (&b);
}

/* 8 nodes of 2 on leaves of four adapters, whose type has `limits`, beside `jobs` others; 4 cables from a leaf to 2 spines. */
static Bench
limited (const char *limits, unsigned jobs)
{
  g_autofree char *fabric = g_strdup_printf ("{kind: fat_tree, leaf: {type: {switch: kind1, radix: 8, latency: 0, sharp: {%s}}}, "
                                             "spine: {radix: 8, latency: 0}, sharp: {jobs: %u}}",
                                             limits, jobs);
  return bench_on (fixture_cluster_on (2, 8, TRUE, fabric));
}

static void
trees_run_out (void)
{
  /* a leaf has both rails of two nodes: 2 trees, of 2 adapters and what goes up, and so a root has 3 children */
  static const struct {
    const char *limits;
    unsigned jobs;
    const char *why; /* "": it can */
  } rows[] = {
    { "stream: none", 0, "'kind1' adds short messages only" },
    { "stream: switch", 0, "would stream 2 trees (2 of this job, 0 of other jobs)" },
    { "stream: port", 0, "" },
    { "stream: port", 2, "" }, /* 2 + 2 trees on 4 cables */
    { "stream: port", 3, "5 trees (2 of this job, 3 of other jobs) would go up" },
    { "stream: port, trees: 8", 2, "" },
    { "trees: 8", 3, "" }, /* 4 jobs of 2 rails */
    { "trees: 8", 4, "10 trees are asked for, a rail each, and a subnet of 'kind1' has 8" },
    { "radix: 3", 0, "" },
    { "radix: 2", 0, "3 children at switch" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    Bench b = limited (rows[i].limits, rows[i].jobs);
    bench_open (&b, 16);
    static const MdlAlgo algos[] = { MDL_ALGO_NVLS, MDL_ALGO_COLLNET_DIRECT, MDL_ALGO_COLLNET_CHAIN };
    for (unsigned k = 0; k < G_N_ELEMENTS (algos); k++) {
      const char *why = reason_of (&b, algos[k], MDL_OP_ALL_REDUCE);
      if (*rows[i].why != '\0')
        TEST_HAS (why, rows[i].why);
      else
        TEST_STR (why, "");
    }
    TEST_STR (reason_of (&b, MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE), ""); /* needs none */
    bench_close (&b);
  }
  /* one GPU a node: a tree and a leaf of four nodes, as many as one job may have */
  Bench b = limited ("stream: switch", 0);
  g_clear_pointer (&b.clu, clu_free);
  b.clu =
      fixture_cluster_on (1, 8, TRUE, "{kind: fat_tree, leaf: {type: {switch: k, radix: 8, latency: 0, sharp: {stream: switch}}}}");
  bench_open (&b, 8);
  TEST_STR (reason_of (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE), "");
  bench_close (&b);
}

static void
each_tree_wants_a_spine_where_switches_stream_one (void)
{
  /* a leaf a rail for 4 nodes, two pods of them: 4 leaves of 4 cables up, on one spine of 16 ports or two of 8 */
  static const struct {
    unsigned spine_radix;
    const char *why; /* "": it can */
  } rows[] = { { 16, "its 2 trees need as many switches above the leaves, which are 1" }, { 8, "" } };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *fabric =
        g_strdup_printf ("{kind: rail_optimised, pod: 4, leaf: {type: {switch: k, radix: 8, latency: 0, sharp: "
                         "{stream: switch}}}, spine: {radix: %u, latency: 0}, routing: adaptive}",
                         rows[i].spine_radix);
    Bench b = bench_on (fixture_cluster_on (2, 8, TRUE, fabric));
    bench_open (&b, 16);
    const char *why = reason_of (&b, MDL_ALGO_NVLS, MDL_OP_ALL_REDUCE);
    if (*rows[i].why != '\0')
      TEST_HAS (why, rows[i].why);
    else
      TEST_STR (why, "");
    bench_close (&b);
  }
}

static void
switches_may_reduce_slower_than_links (void)
{
  /* 1 GB by the textbook chain, one GPU a node: 10 GB/s an adapter, 4/5 of it: 125 ms, and 5 + 5 us of wire */
  Bench b = bench_on (fixture_cluster_on (1, 8, TRUE,
                                          "{kind: single_switch, leaf: {type: {switch: k, radix: 8, latency: 0, "
                                          "sharp: {rate: 0.8, small_types: no}}}}"));
  b.settings.mode = COL_MODE_MODEL;
  bench_open (&b, 8);
  ColAnswer coll = { 0 };
  TEST_NEAR (price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_COLLNET_CHAIN, 1e9, &coll), .125 + 10e-6, 1e-6);
  col_coll_clear (&coll);
  b.settings.library = cst_library (calibration);
  TEST_HAS (reason_for (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, MDL_DTYPE_BF16), "bf16");
  TEST_HAS (reason_for (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, MDL_DTYPE_FP8), "fp8");
  TEST_STR (reason_for (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, MDL_DTYPE_FP16), "");
  bench_close (&b);
}

static void
gathering_wants_a_head_for_each_rank (void)
{
  Bench b = bench_new (2, 8, TRUE);
  b.settings.library = cst_library (calibration);
  bench_open (&b, 16);
  TEST_STR (reason_of (&b, MDL_ALGO_COLLNET_DIRECT, MDL_OP_ALL_GATHER), "");
  TEST_STR (reason_of (&b, MDL_ALGO_NVLS, MDL_OP_REDUCE_SCATTER), "");
  TEST_HAS (reason_of (&b, MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_GATHER), "not offered");
  g_clear_pointer (&b.comm, col_comm_free);
  bench_open (&b, 15);
  TEST_HAS (reason_of (&b, MDL_ALGO_COLLNET_DIRECT, MDL_OP_ALL_GATHER), "as many GPUs on each node");
  TEST_STR (reason_of (&b, MDL_ALGO_COLLNET_DIRECT, MDL_OP_ALL_REDUCE), "");
  g_clear_pointer (&b.comm, col_comm_free);
  b.settings.degrade.max_nics = 1;
  bench_open (&b, 16);
  TEST_HAS (reason_of (&b, MDL_ALGO_NVLS, MDL_OP_ALL_GATHER), "an adapter for each GPU");
  bench_close (&b);
}

static void
the_network_s_switches_reduce_when_asked (void)
{
  /* 8 nodes, 1 GB by the textbook: NVLS over nodes 50 ms, the ring 93.75. NCCL leaves such switches alone unless told; best does
   * not. */
  Bench b = bench_new (2, 8, TRUE);
  bench_open (&b, 16);
  ColAnswer coll = { 0 };
  double library_s = price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_AUTO, 1e9, &coll);
  TEST_INT (coll.algo, MDL_ALGO_RING);
  double best_s = price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_BEST, 1e9, &coll);
  TEST_TRUE (coll.algo == MDL_ALGO_NVLS || coll.algo == MDL_ALGO_COLLNET_DIRECT || coll.algo == MDL_ALGO_COLLNET_CHAIN);
  TEST_NEAR (library_s / best_s, 1.875, .01);
  col_coll_clear (&coll);
  bench_close (&b);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "each link of a reduction tree carries a share once each way", each_link_of_a_reduction_tree_carries_a_share_once_each_way },
    { "a reduction tree leaves each switch by one link", a_reduction_tree_leaves_each_switch_by_one_link },
    { "links inside nodes carry what the algorithm says", links_inside_nodes_carry_what_the_algorithm_says },
    { "gathering sends a part and receives a rail", gathering_sends_a_part_and_receives_a_rail },
    { "heads of NVLSTree send at most twice their part", heads_of_nvls_tree_send_at_most_twice_their_part },
    { "nodes need not be alike", nodes_need_not_be_alike },
    { "PAT sends each part over each tree once", pat_sends_each_part_over_each_tree_once },
    { "PAT gathers every part everywhere", pat_gathers_every_part_everywhere },
    { "event and model agree by both libraries", event_and_model_agree_by_both_libraries },
    { "PAT's messages agree with the fluid form from 16 MiB on", pat_messages_agree_with_the_fluid_form_from_16_mebibytes },
    { "plain PAT is phases of alpha and bytes", plain_pat_is_phases_of_alpha_and_bytes },
    { "switches gain at most two parts in n over a ring", switches_gain_at_most_two_parts_in_n_over_a_ring },
    { "NVLS's efficiency holds inside nodes alone", nvls_efficiency_holds_inside_nodes_alone },
    { "what cannot run says what is missing", what_cannot_run_says_what_is_missing },
    { "the NVSwitch adds no narrow types", the_nvswitch_adds_no_narrow_types },
    { "trees run out", trees_run_out },
    { "each tree wants a spine where switches stream one at a time", each_tree_wants_a_spine_where_switches_stream_one },
    { "switches may reduce slower than links", switches_may_reduce_slower_than_links },
    { "gathering wants a head for each rank", gathering_wants_a_head_for_each_rank },
    { "the network's switches reduce when asked", the_network_s_switches_reduce_when_asked },
    { NULL, NULL },
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  calibration = cst_load (&(CstQuery){ .lookup = lookup }, &error);
  if (calibration == NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  int status = test_main ("switches that reduce, and PAT", cases);
  cst_free (calibration);
  return status;
}
