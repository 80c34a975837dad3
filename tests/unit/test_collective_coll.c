#include <math.h>

#include "comm-private.h"
#include "workload_fixture.h"

static Bench
bench_new (unsigned n_gpus, unsigned n_nodes, gboolean sharp)
{
  return bench_on (fixture_cluster (n_gpus, n_nodes, sharp));
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

static void
ring_loads_every_link_of_a_switch_alike (void)
{
  /* 8 ranks: each sends 2 x 7/8 of the bytes up its link and gets as much down */
  Bench b = bench_new (8, 1, FALSE);
  bench_open (&b, 8);
  const ColTraffic *t = col_comm_traffic (b.comm, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, 0, NULL);
  g_autoptr (GArray) loads = col_spread_loads (t->spread);
  TEST_INT (loads->len, 16);
  for (guint i = 0; i < loads->len; i++)
    TEST_NEAR (g_array_index (loads, ColLoad, i).load, 1.75, 1e-12);
  TEST_NEAR (t->spread->bounds.rate_Bps, 100e9 / 1.75, 1e-12);
  bench_close (&b);
}

static void
nvls_moves_n_plus_one_parts_each_way (void)
{
  Bench b = bench_new (8, 1, TRUE);
  bench_open (&b, 8);
  const ColTraffic *t = col_comm_traffic (b.comm, MDL_OP_ALL_REDUCE, MDL_ALGO_NVLS, 0, NULL);
  g_autoptr (GArray) loads = col_spread_loads (t->spread);
  TEST_INT (loads->len, 16);
  for (guint i = 0; i < loads->len; i++)
    TEST_NEAR (g_array_index (loads, ColLoad, i).load, 9.0 / 8, 1e-12);
  bench_close (&b);
}

static void
plain_double_tree_sends_at_most_twice_the_bytes (void)
{
  /* Sanders et al.: inner in one tree, leaf in the other: 2 x S/2 down and S/2 up in the first, S/2 up in the second */
  for (unsigned n = 2; n <= 8; n++) {
    Bench b = bench_new (8, 1, FALSE);
    bench_open (&b, n);
    const ColTraffic *t = col_comm_traffic (b.comm, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, 0, NULL);
    g_autoptr (GArray) loads = col_spread_loads (t->spread);
    double most = 0;
    for (guint i = 0; i < loads->len; i++)
      most = fmax (most, g_array_index (loads, ColLoad, i).load);
    TEST_TRUE (most <= 2 + 1e-12);
    bench_close (&b);
  }
}

static void
every_rank_has_one_parent_in_each_tree (void)
{
  Bench b = bench_new (8, 3, FALSE);
  for (guint32 n = 2; n <= 24; n++) {
    bench_open (&b, n);
    g_autoptr (GPtrArray) pipes = col_comm_pipes (&(ColPipesQuery){ b.comm, MDL_OP_ALL_REDUCE, 0, 1e6, 0 }, MDL_ALGO_TREE);
    TEST_INT (pipes->len, 2);
    for (guint p = 0; p < pipes->len; p++) {
      const ColPipe *pipe = pipes->pdata[p];
      unsigned up[24] = { 0 }, down[24] = { 0 };
      TEST_INT (pipe->n_edges, 2 * (n - 1));
      for (guint32 e = 0; e < pipe->n_edges; e++) {
        up[pipe->edge[e].from] += e < n - 1;
        down[pipe->edge[e].to] += e >= n - 1;
      }
      unsigned roots = 0;
      for (guint32 v = 0; v < n; v++) {
        roots += up[v] == 0;
        TEST_INT (up[v], down[v]);
        TEST_TRUE (up[v] <= 1);
      }
      TEST_INT (roots, 1);
    }
    g_clear_pointer (&b.comm, col_comm_free);
  }
  bench_close (&b);
}

static void
plain_ring_is_the_textbook_formula_to_the_picosecond (void)
{
  /* 4 ranks, hops of 2 x 1 us: 6 steps of 2 us + 4 MB/4 / 100 GB/s = 6 x (2 + 10) us = 72 us */
  Bench b = bench_new (4, 1, FALSE);
  bench_open (&b, 4);
  ColAnswer coll = { 0 };
  TEST_NEAR (price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, 4e6, &coll), 72e-6, 1e-9);
  b.settings.mode = COL_MODE_MODEL;
  TEST_NEAR (price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, 4e6, &coll), 72e-6, 1e-9);
  b.settings.mode = COL_MODE_EVENT;
  b.settings.steps = COL_STEPS_EXACT;
  TEST_NEAR (price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, 4e6, &coll), 72e-6, 1e-9);
  TEST_INT (coll.n_messages, 4 * 6);
  col_coll_clear (&coll);
  bench_close (&b);
}

static void
exact_ring_waits_for_its_slowest_hop (void)
{
  /* 2 nodes of 2, one ring a NIC: each step waits for the hop between nodes. Two rings of half the bytes each: 6 steps of
   * 2 x 5 us + 1 MB/2 / 10 GB/s = 6 x (10 + 50) us, with the PCIe hop free; NVLink hops are quicker. The ring leaves by NIC k
   * through GPU k: the last GPU reaches it over NVLink (2 us more on that hop). */
  Bench b = bench_new (2, 2, FALSE);
  bench_open (&b, 4);
  b.settings.steps = COL_STEPS_EXACT;
  ColAnswer coll = { 0 };
  double time_s = price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, 4e6, &coll);
  TEST_TRUE (time_s >= 6 * 60e-6 * (1 - 1e-9) && time_s <= 6 * 63e-6);
  col_coll_clear (&coll);
  bench_close (&b);
}

static gboolean
can_run (const Bench *b, const MdlColl *coll, MdlOp op)
{
  return (coll->ops & (1u << op)) && col_why_not_here (b->comm, coll->algo) == NULL;
}

static void
event_and_model_agree_without_contention (void)
{
  for (unsigned nodes = 1; nodes <= 3; nodes++) {
    Bench b = bench_new (8, nodes, nodes == 1);
    bench_open (&b, 8 * nodes);
    ColAnswer coll = { 0 };
    for (const MdlColl *const *row = mdl_colls; *row != NULL; row++)
      for (MdlOp op = 0; op < MDL_OP_N; op++)
        for (double size_B = 8; size_B < 1e10 && can_run (&b, *row, op); size_B *= 64) {
          b.settings.mode = COL_MODE_EVENT;
          double event_s = price (&b, op, (*row)->algo, size_B, &coll);
          b.settings.mode = COL_MODE_MODEL;
          TEST_NEAR (event_s, price (&b, op, (*row)->algo, size_B, &coll), .01);
        }
    col_coll_clear (&coll);
    bench_close (&b);
  }
}

static void
messages_agree_with_the_fluid_form_from_a_mebibyte (void)
{
  Bench b = bench_new (8, 1, FALSE);
  bench_open (&b, 8);
  ColAnswer coll = { 0 };
  for (const MdlColl *const *row = mdl_colls; *row != NULL; row++)
    for (MdlOp op = 0; op < MDL_OP_N; op++)
      for (double size_B = 1048576; size_B < 1e10 && can_run (&b, *row, op); size_B *= 16) {
        b.settings.steps = COL_STEPS_FLUID;
        double fluid_s = price (&b, op, (*row)->algo, size_B, &coll);
        b.settings.steps = COL_STEPS_EXACT;
        double exact_s = price (&b, op, (*row)->algo, size_B, &coll);
        if (fabs (exact_s - fluid_s) > .05 * fluid_s)
          fprintf (stderr, "%s %s %g B\n", base_name (mdl_op_names, (int)op), base_name (mdl_algo_names, (*row)->algo), size_B);
        TEST_NEAR (exact_s, fluid_s, .05);
      }
  col_coll_clear (&coll);
  bench_close (&b);
}

static void
one_rank_costs_nothing (void)
{
  Bench b = bench_new (2, 1, FALSE);
  bench_open (&b, 1);
  ColAnswer coll = { 0 };
  TEST_NEAR (price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_AUTO, 1e9, &coll), 0, 0);
  col_coll_clear (&coll);
  bench_close (&b);
}

static void
an_algorithm_that_cannot_run_says_why_and_what_can (void)
{
  Bench b = bench_new (2, 1, FALSE);
  bench_open (&b, 2);
  g_autoptr (GError) error = NULL;
  ColAnswer coll = { 0 };
  ColCollRequest request = { MDL_OP_ALL_REDUCE, 1e6, MDL_DTYPE_FP32, MDL_ALGO_NVLS, MDL_PROTO_AUTO, 0 };
  TEST_FALSE (col_coll_price (b.comm, &request, &coll, &error));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_INPUT));
  TEST_HAS (error->message, "do not reduce");
  TEST_HAS (error->message, "ring");
  col_coll_clear (&coll);
  bench_close (&b);
}

static void
prices_lend_their_loads_and_leave_each_other_alone (void)
{
  /* 8 ranks, a ring: 16 loads of 1.75 B; what is priced in between, by others and on fewer bytes, moves none of them */
  Bench b = bench_new (8, 1, TRUE);
  b.settings.mode = COL_MODE_MODEL;
  bench_open (&b, 8);
  ColAnswer first = { 0 }, other = { 0 };
  double time_s = price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, 1e9, &first);
  TEST_NEAR (first.wire_Bps, 1.75e9 / time_s, 1e-12);
  price (&b, MDL_OP_ALL_GATHER, MDL_ALGO_RING, 1e6, &other);
  price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_NVLS, 1e6, &other);
  price (&b, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, 1e6, &other);
  TEST_TRUE (other.spread == first.spread);
  col_coll_clear (&other);
  g_autoptr (GArray) loads = col_coll_loads (&first);
  TEST_INT (loads->len, 16);
  for (guint i = 0; i < loads->len; i++)
    TEST_NEAR (g_array_index (loads, ColLoad, i).load, 1.75, 1e-12);
  col_coll_clear (&first);
  bench_close (&b);
}

static void
ranks_on_one_node_are_local (void)
{
  Bench b = bench_new (4, 2, FALSE);
  bench_open (&b, 4);
  TEST_TRUE (col_comm_is_local (b.comm));
  g_clear_pointer (&b.comm, col_comm_free);
  bench_open (&b, 5);
  TEST_FALSE (col_comm_is_local (b.comm));
  TEST_INT (col_comm_n_nodes (b.comm), 2);
  bench_close (&b);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a ring loads every link of a switch alike", ring_loads_every_link_of_a_switch_alike },
    { "NVLS moves n+1 parts each way", nvls_moves_n_plus_one_parts_each_way },
    { "a plain double tree sends at most twice the bytes", plain_double_tree_sends_at_most_twice_the_bytes },
    { "every rank has one parent in each tree", every_rank_has_one_parent_in_each_tree },
    { "a plain ring is the textbook formula", plain_ring_is_the_textbook_formula_to_the_picosecond },
    { "an exact ring waits for its slowest hop", exact_ring_waits_for_its_slowest_hop },
    { "event and model agree without contention", event_and_model_agree_without_contention },
    { "messages agree with the fluid form from a mebibyte on", messages_agree_with_the_fluid_form_from_a_mebibyte },
    { "one rank costs nothing", one_rank_costs_nothing },
    { "an algorithm that cannot run says why and what can", an_algorithm_that_cannot_run_says_why_and_what_can },
    { "prices lend their loads and leave each other alone", prices_lend_their_loads_and_leave_each_other_alone },
    { "ranks on one node are local", ranks_on_one_node_are_local },
    { NULL, NULL },
  };
  return test_main ("collectives on a cluster", cases);
}
