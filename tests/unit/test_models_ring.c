#include "coll_fixture.h"

static void
a_ring_crosses_the_network_once_a_node_and_round (void)
{
  /* 2 nodes of 4, LL, start 10 us, hops of 3 us in a node and 20 us between, routes of 1 and 5 us: 14 steps, 4 of them between
   * nodes (two rounds of two crossings): 10 + 10 x (3 + 1) + 4 x (20 + 5) = 150 us.
   * All-gather: 7 steps, 2 of them: 10 + 20 + 50 = 80. */
  MdlLibrary l = simple_library ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 8);
  q.n_nodes = 2;
  q.ranks_per_node = 4;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 150e-6, 1e-9);
  q.op = MDL_OP_ALL_GATHER;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 80e-6, 1e-9);
  /* 4 nodes of one: all 6 steps cross, 10 + 6 x 25; of two: 14 steps, 7 cross, 10 + 7 x 4 + 7 x 25. */
  q = question (MDL_OP_ALL_REDUCE, 0.0, 4);
  q.n_nodes = 4;
  q.ranks_per_node = 1;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 160e-6, 1e-9);
  q.n_ranks = 8;
  q.ranks_per_node = 2;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 213e-6, 1e-9);
  /* A plugin adds to each crossing: 7 x 8 us. */
  MdlPlugin plugin = { .link_class = { .v = "efa2", .set = TRUE }, .latency = num (8e-6) };
  l.plugins = (BaseList){ .n = 1, .set = TRUE, .item = &plugin, .size = sizeof plugin };
  q.network = "efa2";
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 269e-6, 1e-9);
}

static void
long_data_hide_the_networks_latency_down_to_its_floor (void)
{
  /* 2 nodes of 4, 14 steps, 4 of them between nodes: 20 us, a route of 5 us and a plugin of 8 us, of which data hide all but 3 us;
   * steps in the node, without a floor, cost 3 + 1 us each. 1 GB at 1 GB/s: 10 + 10 x 4 + 4 x 3 us + 1 s. */
  MdlLibrary l = simple_library ();
  MdlPlugin plugin = { .link_class = { .v = "efa2", .set = TRUE }, .latency = num (8e-6) };
  l.plugins = (BaseList){ .n = 1, .set = TRUE, .item = &plugin, .size = sizeof plugin };
  l.protocols.at[MDL_PROTO_SIMPLE].overlap = num (1.0);
  l.ring.hop[MDL_HOP_NET].at[MDL_PROTO_SIMPLE].floor = num (3e-6);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 1e9, 8);
  q.n_nodes = 2;
  q.ranks_per_node = 4;
  q.network = "efa2";
  q.link_rate_Bps = 1e9;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 1.000062, 1e-9);
  q.size_B = 0.0; /* nothing to hide behind: 10 + 40 + 4 x 33 us */
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 182e-6, 1e-9);
}

static void
a_rings_way_round_hides_behind_its_adapters (void)
{
  /* 14 steps, 4 between nodes; 140 MB at 1 GB/s: 0.14 s in the adapters' queue. A chunk's way: 10 x 4 us, 4 x (25 us + a slice,
   * half of 10 ms) = 20.14 ms. The cubes' sum: a chunk waits for the queue rather than beside it. */
  MdlLibrary l = simple_library ();
  l.protocols.at[MDL_PROTO_SIMPLE].slice = num (1e6);
  MdlCollQuestion q = plugged_question (MDL_OP_ALL_REDUCE, 140e6);
  q.link_rate_Bps = 1e9;
  double queue_s = 0.14, way_s = 20.14e-3;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 10e-6 + cbrt (pow (queue_s, 3) + pow (way_s, 3)), 1e-9);
  /* ten loops, nine of which follow without a gap */
  l.protocols.at[MDL_PROTO_SIMPLE].ring_chunk = num (17.5e6);
  q.size_B = 1400e6;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 9 * 0.14 + 10e-6 + cbrt (pow (queue_s, 3) + pow (way_s, 3)), 1e-9);
  q.size_B = 0;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 150e-6, 1e-9);
}

static void
ring_is_start_and_steps_and_size (void)
{
  MdlLibrary library = simple_library ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4e9, 4);
  q.link_rate_Bps = 1e9 * 4.0 / 6.0;
  /* The latency of 3 us is over a route of 0, this one has 1 us: 10 us + 6 x 4 us + 6 s; LL writes twice as much: 12 s. */
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 6.000034, 1e-12);
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 12.000034, 1e-12);
  MdlCollCost cost;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_RING, q.op), MDL_PROTO_SIMPLE, &q, &cost);
  TEST_INT (cost.n_steps, 6);
  TEST_INT (cost.channels, 1);
  TEST_TRUE (cost.link_bound);
  TEST_NEAR (cost.start_s, 10e-6, 1e-12);
  TEST_NEAR (cost.hop_software_s[0], 3e-6, 1e-9);
}

static void
ring_between_nodes_crosses_the_network_in_some_steps (void)
{
  MdlLibrary library = simple_library ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 16);
  q.n_nodes = 2;
  q.ranks_per_node = 8;
  /* 30 steps, 4 of them between nodes: 10 + 26 x (3 + 1) + 4 x (20 + 5) us = 214 us. */
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 214e-6, 1e-12);
}

static void
blocks_bound_a_ring_whose_links_are_wide (void)
{
  MdlLibrary library = simple_library ();
  library.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  library.protocols.at[MDL_PROTO_SIMPLE].ends = num (2.0);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4e9, 4);
  /* 7 operations of 1 GB at 1 GB/s: 34 us + 7 s. */
  MdlCollCost cost;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_RING, q.op), MDL_PROTO_SIMPLE, &q, &cost);
  TEST_NEAR (cost.time_s, 7.000034, 1e-12);
  TEST_FALSE (cost.link_bound);
  /* Links of half that rate: 6 steps of 2 s, and the last operation of 1 s that crosses none. */
  q.link_rate_Bps = 0.5e9 * 4.0 / 6.0;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_RING, q.op), MDL_PROTO_SIMPLE, &q, &cost);
  TEST_NEAR (cost.time_s, 13.000034, 1e-12);
  TEST_TRUE (cost.link_bound);
}

/* 4 ranks, blocks of 1 GB/s, 4 GB: operations of 1 s; 10 us and 4 us a step. */
static MdlLibrary
block_library (void)
{
  MdlLibrary l = simple_library ();
  l.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  l.protocols.at[MDL_PROTO_SIMPLE].ends = num (2.0);
  return l;
}

static void
ends_and_starts_of_a_ring_go_by_operation (void)
{
  MdlLibrary l = block_library ();
  MdlProtocol *format = &l.protocols.at[MDL_PROTO_SIMPLE];
  MdlCollQuestion q = question (MDL_OP_ALL_GATHER, 4e9, 4);
  /* 2 that copy, the ends as 2; 3 steps */
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 4.000022, 1e-12);
  format->gather_ends = num (3.0);
  format->scatter_ends = num (4.0);
  l.ring.gather_start.at[MDL_PROTO_SIMPLE] = num (5e-6);
  l.ring.scatter_start.at[MDL_PROTO_SIMPLE] = num (7e-6);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 5.000017, 1e-12);
  q.op = MDL_OP_REDUCE_SCATTER;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 6.000019, 1e-12);
  l.ring.gather_late = num (1e-6); /* of LL alone */
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 6.000019, 1e-12);
  l.ring.gather_late = (BaseNum){ 0 };
  const double ll_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q);
  l.ring.gather_late = num (1e-6);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), ll_s + 1e-6, 1e-12);
  q.op = MDL_OP_ALL_REDUCE; /* 3 that reduce, 2 that copy, 2; 6 steps */
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 7.000034, 1e-12);
}

static void
what_misses_the_cache_takes_longer (void)
{
  /* All-reduce of 4 GB reads and writes 8 GB: none of it misses 24 GB, half (by logarithm) 12 GB, all 6 GB. A quarter of an
   * operation for each of the 4 that read the input; of an all-gather's (5 GB) one does. */
  static const struct {
    MdlOp op;
    double cache_B, time_s;
  } row[] = {
    { MDL_OP_ALL_REDUCE, 24e9, 7.000034 }, { MDL_OP_ALL_REDUCE, 12e9, 7.500034 },  { MDL_OP_ALL_REDUCE, 6e9, 8.000034 },
    { MDL_OP_ALL_REDUCE, 1e6, 8.000034 },  { MDL_OP_ALL_GATHER, 7.5e9, 4.125022 }, { MDL_OP_ALL_GATHER, 1e6, 4.250022 },
  };
  MdlLibrary l = block_library ();
  l.protocols.at[MDL_PROTO_SIMPLE].miss = num (0.25);
  for (size_t i = 0; i < G_N_ELEMENTS (row); i++) {
    MdlCollQuestion q = question (row[i].op, 4e9, 4);
    l.cache = num (row[i].cache_B);
    TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), row[i].time_s, 1e-12);
  }
  l.cache = (BaseNum){ 0 };
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4e9, 4);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 7.000034, 1e-12);
}

/* By LL 512 threads move 8 B each at a time, 1 GB/s a block. */
static MdlLibrary
library_of_lines (void)
{
  MdlLibrary l = simple_library ();
  l.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_LL].rate = num (1e9);
  l.protocols.at[MDL_PROTO_LL].threads = num (512);
  l.protocols.at[MDL_PROTO_LL].pass = num (8);
  return l;
}

static void
a_block_takes_whole_passes_by_ll (void)
{
  /* 10 us, 6 steps of 4 us, 6 operations of whole passes of 4096 B: one, two of 4100 B, three of 8192 + 100 B; of 1000 B two of the
   * 64 threads that are left. */
  static const struct {
    double part_B, passes_B;
  } row[] = { { 4096, 4096 }, { 4100, 8192 }, { 8292, 12288 }, { 1000, 1024 } };
  MdlLibrary l = library_of_lines ();
  l.protocols.at[MDL_PROTO_LL].ring_chunk = num (8192);
  for (size_t i = 0; i < G_N_ELEMENTS (row); i++) {
    MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4 * row[i].part_B, 4);
    TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 34e-6 + 6 * row[i].passes_B * 1e-9, 1e-9);
  }
}

static MdlChannelRow four_channels = { .capability = { .v = 0 }, .one_node = { .v = 4 }, .nodes = { .v = 4 } };

static void
chunks_of_uneven_ranks_take_two_passes_while_channels_open (void)
{
  /* A channel for each 4096 B of a rank, three of four: 4 ranks take one pass, 3 ranks two (2 (n - 1) steps,
   * 2 n - 2 operations). */
  MdlLibrary l = library_of_lines ();
  l.channels.scale_up.item = &four_channels;
  l.protocols.at[MDL_PROTO_LL].bytes_per_thread = num (8);
  l.protocols.at[MDL_PROTO_LL].times_ranks = (BaseBool){ .v = TRUE };
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4 * 3 * 4096, 4);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 34e-6 + 6 * 4096e-9, 1e-9);
  q = question (MDL_OP_ALL_REDUCE, 3 * 3 * 4096, 3);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 26e-6 + 4 * 8192e-9, 1e-9);
}

static void
an_all_gather_by_ll_stores_slower_off_lines (void)
{
  /* 10 us, n - 1 steps of 4 us, n - 1 operations; half more where the cells of NCCL (16 KiB over ranks and traffic) are no
   * multiples of 128 B: on 3 ranks. */
  MdlLibrary l = library_of_lines ();
  l.protocols.at[MDL_PROTO_LL].misaligned = num (0.5);
  l.channels.cell = num (16384);
  MdlCollQuestion q = question (MDL_OP_ALL_GATHER, 4 * 4096, 4);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 22e-6 + 3 * 4096e-9, 1e-9);
  q = question (MDL_OP_ALL_GATHER, 3 * 4096, 3);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 18e-6 + 2 * 4096e-9 * 1.5, 1e-9);
  q.op = MDL_OP_REDUCE_SCATTER;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 18e-6 + 2 * 4096e-9, 1e-9);
}

static void
blocks_and_links_of_a_ring_slow_each_other (void)
{
  /* 7 operations of 1 s; links that would take 3.5 s, exponent 1: 7 + 3.5. */
  MdlLibrary l = block_library ();
  l.ring.blend.at[MDL_PROTO_SIMPLE] = num (1.0);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4e9, 4);
  q.link_rate_Bps = 4e9 / 3.5;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 10.500034, 1e-12);
  /* Links that would take 14 s: 14 + 7, and the last operation. */
  q.link_rate_Bps = 4e9 / 14.0;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 22.000034, 1e-12);
  q.switched = FALSE; /* links of their own */
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 15.000034, 1e-12);
}

static void
long_data_hides_latency_down_to_the_floor (void)
{
  MdlLibrary library = simple_library ();
  MdlStep *step = &library.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_LL];
  step->floor = num (1e-6);
  library.ring.hop[MDL_HOP_NVLINK].route_latency = num (1e-6);
  library.protocols.at[MDL_PROTO_LL].overlap = num (1.0);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 6000.0, 4);
  q.link_rate_Bps = 2e9; /* LL: 1 GB/s of payload, 6 us, a step's data 1 us: 10 + 6 x (3 - 1) + 6 = 28 us */
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 28e-6, 1e-12);
  q.size_B = 60000.0; /* a step's data 10 us: 10 + 6 x 1 + 60 = 76 us */
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 76e-6, 1e-12);
}

static void
no_step_of_a_ring_is_shorter_than_its_messages_take_to_post (void)
{
  /* 2 nodes of 4, 2 adapters, 8 channels: a proxy posts 4 messages of 2 us each a step, so steps of 3 + 1 us in a node take 8:
   * 10 + 10 x 8 + 4 x 25 us. By Simple 24 us: 10 + 10 x 24 + 4 x 25. */
  MdlLibrary l = simple_library ();
  l.pairwise.post = num (2e-6);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 8);
  q.n_nodes = 2;
  q.ranks_per_node = 4;
  q.n_nics = 2;
  q.channels = 8;
  l.protocols.at[MDL_PROTO_LL].threads = num (0);
  l.protocols.at[MDL_PROTO_SIMPLE].threads = num (0);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 190e-6, 1e-9);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 350e-6, 1e-9);
  q.inter = MDL_HOP_TCP; /* sockets have threads of their own */
  l.ring.hop[MDL_HOP_TCP] = l.ring.hop[MDL_HOP_NET];
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 150e-6, 1e-9);
}

static void
one_gpu_a_node_waits_as_a_tree_does (void)
{
  /* 4 nodes of one: 6 steps of 12 us, the tree's, and a route of 5: 10 + 6 x 17 */
  MdlLibrary l = simple_library ();
  l.tree.hop[MDL_HOP_NET].at[MDL_PROTO_LL].latency = num (12e-6);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 4);
  q.n_nodes = 4;
  q.ranks_per_node = 1;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), 112e-6, 1e-9);
}

static void
all_gather_on_registered_buffers_has_shorter_ends (void)
{
  MdlLibrary l = simple_library ();
  l.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  l.protocols.at[MDL_PROTO_SIMPLE].gather_ends = num (3);
  l.protocols.at[MDL_PROTO_SIMPLE].registered_gather_ends = num (1);
  MdlCollQuestion q = question (MDL_OP_ALL_GATHER, 1e9, 2), scatter = question (MDL_OP_REDUCE_SCATTER, 1e9, 2);
  const double plain_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q);
  const double scatter_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &scatter);
  q.registered = scatter.registered = TRUE;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), plain_s - 1.0, 1e-6); /* two parts of 0.5 s less */
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &scatter), scatter_s, 1e-9);
  const double ll_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q);
  q.registered = FALSE;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), ll_s, 1e-9);
}

static void
the_last_operation_shows_in_each_loop_of_two_ranks (void)
{
  /* All-gather on 2 ranks, one channel, blocks of 1 GB/s, loops of 2 x 0.25 GB. Ends of 2 are one operation: 0.25 s at 1 GB/s,
   * twice (root of 4 loops) where channels drift apart, 1 + 3 x 60 % times where they stay together. */
  MdlLibrary l = simple_library ();
  l.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  MdlProtocol *format = &l.protocols.at[MDL_PROTO_SIMPLE];
  format->ends = num (2);
  format->ring_chunk = num (0.25e9);
  MdlCollQuestion gather = question (MDL_OP_ALL_GATHER, 2e9, 2), scatter = question (MDL_OP_REDUCE_SCATTER, 2e9, 2);
  gather.link_rate_Bps = scatter.link_rate_Bps = 0.8e9;
  const double apart_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &gather);
  l.ring.together = num (0.6);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &gather), apart_s + 0.25 * (2.8 - 2.0), 1e-9);
  MdlCollQuestion four = question (MDL_OP_ALL_GATHER, 4e9, 4);
  four.link_rate_Bps = 0.3e9;
  const double four_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &four);
  l.ring.together = num (1);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &four), four_s, 1e-9); /* three steps: they drift apart */

  /* A reduce-scatter's last operation reads input, 0.4 longer beyond the cache; four loops together */
  const double cached_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &scatter);
  format->scatter_miss = num (0.4);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &scatter), cached_s, 1e-9);
  l.cache = num (1e6);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &scatter), cached_s + 4.0 * 0.4 * 0.25, 1e-9);
}

static void
all_reduce_on_registered_buffers_ends_sooner (void)
{
  /* 1 GB on 2 ranks, links of 0.25 GB/s: the last operation moves 0.5 GB at 1 GB/s; ends of 2 for 3: half an operation less */
  MdlLibrary l = simple_library ();
  l.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  l.protocols.at[MDL_PROTO_SIMPLE].ends = num (3);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 1e9, 2);
  q.link_rate_Bps = 0.25e9;
  const double plain_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q);
  l.protocols.at[MDL_PROTO_SIMPLE].registered_ends = num (2);
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), plain_s, 1e-9);
  q.registered = TRUE;
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), plain_s - 0.25, 1e-9);
}

static const TestCase cases[] = {
  { "the last operation shows in each loop of two ranks", the_last_operation_shows_in_each_loop_of_two_ranks },
  { "all-reduce on registered buffers ends sooner", all_reduce_on_registered_buffers_ends_sooner },
  { "all-gather on registered buffers has shorter ends", all_gather_on_registered_buffers_has_shorter_ends },
  { "ring is start and steps and size", ring_is_start_and_steps_and_size },
  { "ring between nodes crosses the network in some steps", ring_between_nodes_crosses_the_network_in_some_steps },
  { "blocks bound a ring whose links are wide", blocks_bound_a_ring_whose_links_are_wide },
  { "ends and starts of a ring go by operation", ends_and_starts_of_a_ring_go_by_operation },
  { "what misses the cache takes longer", what_misses_the_cache_takes_longer },
  { "a block takes whole passes by LL", a_block_takes_whole_passes_by_ll },
  { "chunks of uneven ranks take two passes while channels open", chunks_of_uneven_ranks_take_two_passes_while_channels_open },
  { "an all-gather by LL stores slower off lines", an_all_gather_by_ll_stores_slower_off_lines },
  { "blocks and links of a ring slow each other", blocks_and_links_of_a_ring_slow_each_other },
  { "long data hides latency down to the floor", long_data_hides_latency_down_to_the_floor },
  { "a ring crosses the network once a node and round", a_ring_crosses_the_network_once_a_node_and_round },
  { "long data hide the network's latency down to its floor", long_data_hide_the_networks_latency_down_to_its_floor },
  { "a ring's way round hides behind its adapters", a_rings_way_round_hides_behind_its_adapters },
  { "no step of a ring is shorter than its messages take to post", no_step_of_a_ring_is_shorter_than_its_messages_take_to_post },
  { "one GPU a node waits as a tree does", one_gpu_a_node_waits_as_a_tree_does },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: rings", cases);
}
