#include "coll_fixture.h"

#include "models/tuner.h"

static void
plain_ring_all_reduce_is_lockstep (void)
{
  /* 4 ranks, alpha 1 us, beta 1 s/GB, 4 GB: 6 steps of (1 us + 1 s) = 6.000006 s. */
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4e9, 4);
  TEST_NEAR (time_of (NULL, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 6.000006, 1e-12);
  /* The same from the traffic: a rank sends 6/4 of the size at 1 GB/s. */
  q.link_rate_Bps = 1e9 * 4.0 / 6.0;
  TEST_NEAR (time_of (NULL, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 6.000006, 1e-12);
}

static void
plain_ring_takes_the_longest_hop_in_every_step (void)
{
  /* 4 ranks on 2 nodes: 6 steps of 5 us and of 1 GB at 0.5 GB/s: 12.00003 s. */
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4e9, 4);
  q.n_nodes = 2;
  q.ranks_per_node = 2;
  TEST_NEAR (time_of (NULL, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 12.00003, 1e-12);
}

static void
plain_all_gather_takes_half_the_steps (void)
{
  MdlCollQuestion q = question (MDL_OP_ALL_GATHER, 4e9, 4); /* 3 steps of (1 us + 1 s) */
  TEST_NEAR (time_of (NULL, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 3.000003, 1e-12);
  q.op = MDL_OP_REDUCE_SCATTER;
  TEST_NEAR (time_of (NULL, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 3.000003, 1e-12);
}

static void
plain_broadcast_is_the_best_pipeline (void)
{
  /* 5 ranks, 4 hops of 1 us, 3 MB at 1 GB/s = 3 ms: k = sqrt (3 x 3 ms / 1 us) = 94.868; (3 + k)(1 us + 3 ms/k) =
   * 3 us + 94.868 us + 9 ms/94.868 + 3 ms = 3192.737 us. */
  MdlCollQuestion q = question (MDL_OP_BROADCAST, 3e6, 5);
  double k = sqrt (9000.0);
  TEST_NEAR (time_of (NULL, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 3e-6 + k * 1e-6 + 9e-3 / k + 3e-3, 1e-12);
  TEST_NEAR (time_of (NULL, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 3192.737e-6, 1e-6);
  q.n_ranks = q.ranks_per_node = 2; /* one hop: no pipeline, 1 us + 3 ms */
  TEST_NEAR (time_of (NULL, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 3001e-6, 1e-12);
}

static void
plain_tree_is_two_trees_up_and_down (void)
{
  /* 7 ranks: h = ceil (log2 7) = 3. No data: 3 hops up and 3 down of 1 us. */
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 7);
  TEST_NEAR (time_of (NULL, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), 6e-6, 1e-12);
  /* Much data: towards twice the size over the route, 2 x 100 GB at 1 GB/s. */
  q.size_B = 100e9;
  TEST_NEAR (time_of (NULL, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), 200.0, 1e-3);
}

static void
a_plugins_ll_and_ll128_cost_what_it_says (void)
{
  /* One channel: 64 kB by LL are 8000 lines of 16 B, on each of the tree's two ways; 10 ns a line. LL128: 28 us once, where each of
   * the four threads serves a second channel. */
  MdlLibrary l = simple_library ();
  MdlPlugin plugin = { .link_class = { .v = "efa2", .set = TRUE } };
  l.plugins = (BaseList){ .n = 1, .set = TRUE, .item = &plugin, .size = sizeof plugin };
  MdlCollQuestion q = plugged_question (MDL_OP_ALL_REDUCE, 64e3);
  double ll_s = time_of (&l, MDL_ALGO_TREE, MDL_PROTO_LL, &q), ring_s = time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q),
         ll128_s = time_of (&l, MDL_ALGO_TREE, MDL_PROTO_LL128, &q), simple_s = time_of (&l, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q);
  plugin.ll_line = num (10e-9);
  plugin.ll128_start = num (28e-6);
  TEST_NEAR (time_of (&l, MDL_ALGO_TREE, MDL_PROTO_LL, &q), ll_s + 160e-6, 1e-12);
  /* a ring's messages are an eighth: 1000 lines, four crossings */
  TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), ring_s + 40e-6, 1e-12);
  TEST_NEAR (time_of (&l, MDL_ALGO_TREE, MDL_PROTO_LL128, &q), ll128_s, 1e-12);
  MdlChannelRow eight = { .nodes = { .v = 8 } };
  l.channels.scale_up.item = &eight;
  plugin.ll128_start.set = FALSE;
  ll128_s = time_of (&l, MDL_ALGO_TREE, MDL_PROTO_LL128, &q);
  plugin.ll128_start.set = TRUE;
  TEST_NEAR (time_of (&l, MDL_ALGO_TREE, MDL_PROTO_LL128, &q), ll128_s + 28e-6, 1e-12);
  l = simple_library ();
  l.plugins = (BaseList){ .n = 1, .set = TRUE, .item = &plugin, .size = sizeof plugin };
  TEST_NEAR (time_of (&l, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), simple_s, 1e-12);
}

static MdlCreateTime
create_of (const MdlLibrary *l, unsigned count, unsigned ranks, unsigned nodes, gboolean again)
{
  MdlCreateTime out;
  const MdlCreateQuestion q = { .count = count, .ranks = ranks, .local = ranks / nodes, .nodes = nodes, .again = again };
  mdl_create_time (l, &q, &out);
  return out;
}

static void
communicators_cost_what_they_are_made_of (void)
{
  /* 0.2 s and 0.1 s a GPU of a node for the first, 10 ms a GPU for each further one; between nodes 2 s, 1 ms a rank and 1 us a pair
   * each. One on 8 GPUs: 1 s. Three: 1 + 2 x 0.08. Of 2 nodes: + 3 x (2 + 0.016 + 0.000256) s. */
  MdlLibrary l = simple_library ();
  l.create = (MdlCreateSpec){ .first = num (0.2),
                              .first_per_gpu = num (0.1),
                              .per_gpu = num (0.01),
                              .network = num (2),
                              .per_rank = num (0.001),
                              .per_pair = num (1e-6),
                              .connect = num (0),
                              .connect_all = num (0.25),
                              .connect_network = num (0) };
  l.create.per_rank.source = BASE_SOURCE_ASSUMED;
  TEST_NEAR (create_of (&l, 1, 8, 1, FALSE).time_s, 1.0, 1e-12);
  TEST_NEAR (create_of (&l, 3, 8, 1, FALSE).time_s, 1.16, 1e-12);
  TEST_TRUE (create_of (&l, 3, 8, 1, FALSE).source != BASE_SOURCE_ASSUMED);
  TEST_NEAR (create_of (&l, 3, 16, 2, FALSE).time_s, 1.16 + 6.048768, 1e-12);
  TEST_INT (create_of (&l, 3, 16, 2, FALSE).source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (create_of (&l, 3, 8, 1, TRUE).time_s, 0.24, 1e-12); /* of processes that have made others */
  TEST_NEAR (create_of (&l, 0, 16, 2, FALSE).time_s, 0.0, 0.0);
  TEST_NEAR (create_of (&l, 5, 1, 1, FALSE).time_s, 0.0, 0.0);
  /* connections: at their first use; where the library makes all of them at once, as a part of the creation */
  MdlTunerSpec tuner = { 0 };
  l.tuner = &tuner;
  l.create.connect = num (0.05);
  l.create.connect_network = num (1.5);
  TEST_NEAR (create_of (&l, 3, 16, 2, FALSE).time_s, 1.16 + 6.048768 + 3 * (0.4 + 1.5), 1e-12);
  TEST_NEAR (create_of (&l, 3, 16, 2, FALSE).connect_s, 3 * (0.4 + 1.5), 1e-12);
  tuner.connects_all = num (1);
  TEST_NEAR (create_of (&l, 3, 16, 2, FALSE).time_s, 1.16 + 6.048768 + 3 * (2.0 + 1.5), 1e-12);
  TEST_NEAR (create_of (&l, 3, 16, 2, FALSE).connect_s, 0.0, 0.0);
  /* worse than linear in ranks */
  TEST_TRUE (create_of (&l, 1, 8192, 1024, TRUE).time_s > 2 * create_of (&l, 1, 4096, 512, TRUE).time_s);
}

static void
plain_nvls_and_pairs_are_one_exchange (void)
{
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 8e9, 8);
  q.link_rate_Bps = 1e9 / 1.125; /* 9 GB at 1 GB/s and 2 us */
  TEST_NEAR (time_of (NULL, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q), 9.000002, 1e-12);
  q = question (MDL_OP_ALLTOALL, 8e9, 8); /* 7/8 of it leaves the rank: 7 s + 1 us */
  TEST_NEAR (time_of (NULL, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 7.000001, 1e-12);
  q = question (MDL_OP_SENDRECV, 8e9, 8);
  TEST_NEAR (time_of (NULL, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 8.000001, 1e-12);
}

static void
one_rank_costs_its_launch (void)
{
  /* 1 us on top of a call, no call shorter than a launch of 4 us; in the textbook nothing. */
  MdlLibrary library = simple_library ();
  library.launch.at[MDL_LAUNCH_THREADS].extra = num (1e-6);
  library.launch.at[MDL_LAUNCH_THREADS].per_gpu = num (4e-6);
  for (const MdlColl *const *row = mdl_colls; *row != NULL; row++)
    for (unsigned op = 0; op < MDL_OP_N; op++) {
      if (!((*row)->ops & (1u << op)))
        continue;
      MdlCollQuestion q = question (op, 1e9, 1);
      MdlCollCost cost;
      q.launch = MDL_LAUNCH_THREADS;
      mdl_coll_cost (&library, *row, MDL_PROTO_SIMPLE, &q, &cost);
      TEST_NEAR (cost.time_s, 4e-6, 1e-12);
      q.launch = MDL_LAUNCH_GRAPH;
      mdl_coll_cost (&library, *row, MDL_PROTO_SIMPLE, &q, &cost);
      TEST_NEAR (cost.time_s, 0.0, 0.0);
      TEST_INT (cost.n_terms, 0);
      mdl_coll_cost (NULL, *row, MDL_PROTO_SIMPLE, &q, &cost);
      TEST_NEAR (cost.time_s, 0.0, 0.0);
    }
}

static void
tree_is_a_pipeline_up_and_down_the_chain (void)
{
  MdlLibrary library = simple_library ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4e6, 4);
  q.link_rate_Bps = 0.5e9;
  /* 6 hops of 3 + 1 us; a piece of 1 MB takes 1 ms a hop on its route, 6 ms; 3 further pieces 2 ms each: 10 + 24 us + 12 ms. */
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), 12.034e-3, 1e-12);
}

static void
neighbours_of_a_tree_share_their_link (void)
{
  /* As above; half as many bytes again on the links of 4 GPUs: pieces of 3 ms, 6 ms + 9 ms. 2 GPUs: 2 hops of 1 ms, 3 x 2 ms. */
  MdlLibrary library = simple_library ();
  library.tree.inner.at[MDL_PROTO_SIMPLE] = num (1.5);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 4e6, 4);
  q.link_rate_Bps = 0.5e9;
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), 15.034e-3, 1e-12);
  q = question (MDL_OP_ALL_REDUCE, 4e6, 2);
  q.link_rate_Bps = 0.5e9;
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), 8.018e-3, 1e-12);
}

static void
tree_between_nodes_grows_with_their_logarithm (void)
{
  MdlLibrary library = simple_library ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 64);
  q.n_nodes = 8;
  q.ranks_per_node = 8; /* 10 + 14 x 4 + 2 x 3 x 25 us = 216 us; 64 nodes: 6 for 3: 366 us */
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_LL, &q), 216e-6, 1e-12);
  q.n_ranks = 512;
  q.n_nodes = 64;
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_LL, &q), 366e-6, 1e-12);
}

static void
nvls_pays_the_switch_and_its_efficiency (void)
{
  MdlLibrary library = simple_library ();
  library.nvls.latency = num (25e-6);
  library.nvls.efficiency = num (0.5);
  library.nvls.channels = num (1.0);
  library.nvls.piece = num (1e6);
  library.nvls.stages = num (3.0);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 80e6, 8);
  q.link_rate_Bps = 2e9; /* 1 GB/s: 80 ms; two rounds of 8 heads x 1 MB: 16 ms; 25 us */
  TEST_NEAR (time_of (&library, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q), 96.025e-3, 1e-12);
}

static void
launches_in_turn_floor_a_small_message (void)
{
  MdlLibrary library = simple_library ();
  library.launch.at[MDL_LAUNCH_SERIAL].per_gpu = num (7e-6);
  library.launch.at[MDL_LAUNCH_THREADS].extra = num (1e-6);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 8);
  q.intra_latency_s = 0.0; /* 10 + 14 x 3 = 52 us */
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 52e-6, 1e-12);
  q.launch = MDL_LAUNCH_THREADS;
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 53e-6, 1e-12);
  q.launch = MDL_LAUNCH_SERIAL; /* 8 launches of 7 us */
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 56e-6, 1e-12);
  static MdlChannelRow row = { .one_node = { .v = 3 } };
  library.channels.scale_up.item = &row; /* each further channel is work for the CPU, under plain launches alone */
  library.launch.at[MDL_LAUNCH_SERIAL].per_channel = num (0.5e-6);
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 64e-6, 1e-12);
  /* a process that launches 40 % more slowly takes 89.6 us: that is in the band, which had nothing else; by graphs it is not */
  library.launch.at[MDL_LAUNCH_SERIAL].spread = num (0.4);
  MdlCollCost cost;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_RING, MDL_OP_ALL_REDUCE), MDL_PROTO_LL, &q, &cost);
  TEST_NEAR (cost.launch_spread, 0.4, 1e-12);
  TEST_NEAR (cost.band, 0.4, 1e-9);
  q.launch = MDL_LAUNCH_GRAPH;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_RING, MDL_OP_ALL_REDUCE), MDL_PROTO_LL, &q, &cost);
  TEST_NEAR (cost.launch_spread, 0.0, 1e-12);
  q.launch = MDL_LAUNCH_GRAPH;
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), 52e-6, 1e-12);
  q.launch = MDL_LAUNCH_SERIAL;
  q.size_B = 1e9; /* 1.75 s of data: launches are long over */
  q.link_rate_Bps = 1e9 / 1.75;
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), 1.750052, 1e-12);
}

static void
channels_follow_size (void)
{
  static MdlChannelRow row = { .capability = { .v = 90 }, .one_node = { .v = 24 }, .nodes = { .v = 16 } };
  MdlLibrary library = simple_library ();
  library.channels.scale_up.item = &row;
  library.channels.cell = num (16384.0);
  MdlProtocol *format = &library.protocols.at[MDL_PROTO_SIMPLE];
  format->threads = num (512.0);
  format->bytes_per_thread = num (64.0); /* a channel for every 32 KiB */
  static const struct {
    double size_B;
    unsigned channels;
  } expected[] = { { 1024, 1 }, { 32768, 1 }, { 65536, 2 }, { 786431, 23 }, { 786432, 24 }, { 1e9, 24 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (expected); i++) {
    MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, expected[i].size_B, 8);
    MdlCollCost cost;
    mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_RING, q.op), MDL_PROTO_SIMPLE, &q, &cost);
    TEST_INT (cost.channels, expected[i].channels);
    q.max_channels = 4;
    mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_RING, q.op), MDL_PROTO_SIMPLE, &q, &cost);
    TEST_INT (cost.channels, MIN (expected[i].channels, 4));
  }
}

static void
the_weakest_constant_gives_the_source (void)
{
  MdlLibrary library = simple_library ();
  library.error = (MdlErrorSpec){ .head = { .set = TRUE }, .small = num (0.1), .middle = num (0.05), .large = num (0.02) };
  library.assumed_error = (MdlErrorSpec){ .head = { .set = TRUE }, .small = num (0.5), .middle = num (0.4), .large = num (0.3) };
  library.small_max = num (65536.0);
  library.middle_max = num (16777216.0);
  library.extrapolation_factor = num (2.0);
  library.range = (MdlRange){ .head = { .set = TRUE }, .max_ranks = num (8.0) };
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 1024.0, 4);
  MdlCollCost cost;
  const MdlColl *ring = mdl_coll_find (MDL_ALGO_RING, q.op);
  mdl_coll_cost (&library, ring, MDL_PROTO_LL, &q, &cost);
  TEST_INT (cost.source, BASE_SOURCE_MEASURED);
  TEST_NEAR (cost.band, 0.1, 1e-12);
  q.size_B = 1e9;
  mdl_coll_cost (&library, ring, MDL_PROTO_LL, &q, &cost);
  TEST_NEAR (cost.band, 0.02, 1e-12);
  q.n_ranks = q.ranks_per_node = 16; /* outside what was fitted: twice as wide */
  mdl_coll_cost (&library, ring, MDL_PROTO_LL, &q, &cost);
  TEST_NEAR (cost.band, 0.04, 1e-12);
  q.n_ranks = q.ranks_per_node = 4;
  library.ring.start.at[MDL_PROTO_LL].source = BASE_SOURCE_ASSUMED;
  mdl_coll_cost (&library, ring, MDL_PROTO_LL, &q, &cost);
  TEST_INT (cost.source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (cost.band, 0.3, 1e-12);
}

static void
terse_questions_get_the_same_numbers_without_text (void)
{
  MdlLibrary library = simple_library ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 1e6, 8);
  MdlCollCost full, terse;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_TREE, q.op), MDL_PROTO_LL128, &q, &full);
  q.terse = TRUE;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_TREE, q.op), MDL_PROTO_LL128, &q, &terse);
  TEST_TRUE (full.time_s == terse.time_s);
  TEST_INT (full.n_terms, terse.n_terms);
  TEST_STR (terse.term[0].how, "");
  TEST_STR (full.term[1].how, "14 hops x 4 us");
}

static void
nvls_on_registered_buffers_takes_fewer_channels (void)
{
  /* 16 channels of 1 GB/s, 4 with eight heads on registered buffers, which are enough for as much; 8 for four heads. 16 GB: 1 s.
   * Pieces of 1 MB: a round of 16 x 8 MB is 8 ms, two of them behind the first. */
  MdlLibrary library = simple_library ();
  library.nvls =
      (MdlNvlsSpec){ .channels = num (16), .rate = num (1e9), .efficiency = num (1), .piece = num (1e6), .stages = num (3) };
  MdlNvlsRegistered row = { .op = { .v = MDL_OP_ALL_REDUCE, .set = TRUE }, .channels = num (4) };
  library.nvls.registered = (BaseList){ .n = 1, .set = TRUE, .item = &row, .size = sizeof row };
  library.nvls.registered_stages = num (1);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 16e9, 8);
  const double plain_s = time_of (&library, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q);
  q.registered = TRUE;
  MdlCollCost cost;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_NVLS, q.op), MDL_PROTO_SIMPLE, &q, &cost);
  TEST_INT (cost.channels, 4);
  TEST_NEAR (time_of (&library, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q), plain_s - 16e-3, 1e-9);
  q.n_ranks = q.ranks_per_node = 4;
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_NVLS, q.op), MDL_PROTO_SIMPLE, &q, &cost);
  TEST_INT (cost.channels, 8);
  q.op = MDL_OP_ALL_GATHER; /* no row: as for others */
  mdl_coll_cost (&library, mdl_coll_find (MDL_ALGO_NVLS, q.op), MDL_PROTO_SIMPLE, &q, &cost);
  TEST_INT (cost.channels, 16);
}

static const TestCase cases[] = {
  { "plain ring all-reduce is lockstep", plain_ring_all_reduce_is_lockstep },
  { "plain ring takes the longest hop in every step", plain_ring_takes_the_longest_hop_in_every_step },
  { "plain all-gather takes half the steps", plain_all_gather_takes_half_the_steps },
  { "plain broadcast is the best pipeline", plain_broadcast_is_the_best_pipeline },
  { "plain tree is two trees up and down", plain_tree_is_two_trees_up_and_down },
  { "plain NVLS and pairs are one exchange", plain_nvls_and_pairs_are_one_exchange },
  { "one rank costs its launch", one_rank_costs_its_launch },
  { "tree is a pipeline up and down the chain", tree_is_a_pipeline_up_and_down_the_chain },
  { "neighbours of a tree share their link", neighbours_of_a_tree_share_their_link },
  { "tree between nodes grows with their logarithm", tree_between_nodes_grows_with_their_logarithm },
  { "NVLS on registered buffers takes fewer channels and one stage", nvls_on_registered_buffers_takes_fewer_channels },
  { "NVLS pays the switch and its efficiency", nvls_pays_the_switch_and_its_efficiency },
  { "launches in turn floor a small message", launches_in_turn_floor_a_small_message },
  { "channels follow size", channels_follow_size },
  { "the weakest constant gives the source", the_weakest_constant_gives_the_source },
  { "terse questions get the same numbers without text", terse_questions_get_the_same_numbers_without_text },
  { "a plugin's LL and LL128 cost what it says", a_plugins_ll_and_ll128_cost_what_it_says },
  { "communicators cost what they are made of", communicators_cost_what_they_are_made_of },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: collectives", cases);
}
