#include <string.h>

#include "coll_fixture.h"

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
a_peer_on_another_node_gets_two_channels_while_ranks_are_few (void)
{
  /* 16 channels of 1 GB/s: 2 of them for a peer to 32 ranks (2 x 32 = 4 x 16), then 1. 4 GB: 2 s, then 4 s. */
  MdlLibrary l = simple_library ();
  static MdlChannelRow row = { .one_node = { .v = 16 }, .nodes = { .v = 16 } };
  l.channels.scale_up = (BaseList){ .n = 1, .set = TRUE, .item = &row, .size = sizeof row };
  l.channels.p2p = num (16);
  l.pairwise.net_channels = num (2);
  l.pairwise.net_share = num (4);
  l.pairwise.net_chunk = num (128e3); /* a part is one chunk at most: all that a peer may have are taken */
  l.pairwise.net_least_part = num (0.5);
  l.pairwise.net_most_part = num (1.0);
  l.pairwise.hop[MDL_HOP_NET].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  MdlCollQuestion q = question (MDL_OP_SENDRECV, 4e9, 32);
  q.n_nodes = 4;
  q.ranks_per_node = 8;
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 2.0, 1e-4);
  q.n_ranks = 40;
  q.n_nodes = 5;
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 4.0, 1e-4);
  MdlLibraryEnv env = { .net_channels = 2 }; /* NCCL_NCHANNELS_PER_NET_PEER */
  g_autofree MdlLibrary *two = mdl_library_with (&l, &env);
  TEST_NEAR (time_of (two, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 2.0, 1e-4);
  env.net_channels = 64; /* no more than there are */
  g_autofree MdlLibrary *all = mdl_library_with (&l, &env);
  TEST_NEAR (time_of (all, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 0.25, 1e-4);
}

/* A plugin's link class, on 2 nodes of 4. */
static MdlCollQuestion
plugged_question (MdlOp op, double size_B)
{
  MdlCollQuestion q = question (op, size_B, 8);
  q.n_nodes = 2;
  q.ranks_per_node = 4;
  q.n_nics = 4;
  q.network = "efa2";
  return q;
}

static void
a_plugins_ll_and_ll128_cost_what_it_says (void)
{
  /* One channel: 64 kB by LL are 8000 lines of 16 B, on each of the tree's two ways; 10 ns a line. LL128: 28 us once. */
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
  TEST_NEAR (time_of (&l, MDL_ALGO_TREE, MDL_PROTO_LL128, &q), ll128_s + 28e-6, 1e-12);
  TEST_NEAR (time_of (&l, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), simple_s, 1e-12);
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
communicators_cost_what_they_are_made_of (void)
{
  /* 0.2 s and 0.1 s a GPU of a node for the first, 10 ms a GPU for each further one; between nodes 2 s and 1 ms a rank each. One on
   * 8 GPUs: 1 s. Three: 1 + 2 x 0.08. Of 2 nodes: + 3 x 2.016 s. */
  MdlLibrary l = simple_library ();
  l.create = (MdlCreateSpec){
    .first = num (0.2), .first_per_gpu = num (0.1), .per_gpu = num (0.01), .network = num (2), .per_rank = num (0.001)
  };
  l.create.per_rank.source = BASE_SOURCE_ASSUMED;
  BaseSource source;
  TEST_NEAR (mdl_create_s (&l, 1, 8, 8, 1, NULL), 1.0, 1e-12);
  TEST_NEAR (mdl_create_s (&l, 3, 8, 8, 1, &source), 1.16, 1e-12);
  TEST_TRUE (source != BASE_SOURCE_ASSUMED);
  TEST_NEAR (mdl_create_s (&l, 3, 16, 8, 2, &source), 1.16 + 6.048, 1e-12);
  TEST_INT (source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (mdl_create_s (&l, 0, 16, 8, 2, NULL), 0.0, 0.0);
  TEST_NEAR (mdl_create_s (&l, 5, 1, 1, 1, NULL), 0.0, 0.0);
}

/* 32 channels of 1 GB/s for 8 ranks: chunks of 1 MB, parts from 1/8 of a chunk to 32. */
static MdlLibrary
pair_library (void)
{
  MdlLibrary l = simple_library ();
  static MdlChannelRow row = { .one_node = { .v = 24 }, .nodes = { .v = 16 } };
  l.channels.scale_up = (BaseList){ .n = 1, .set = TRUE, .item = &row, .size = sizeof row };
  l.channels.p2p = num (32);
  l.pairwise.peers = num (8);
  l.pairwise.chunk = num (1e6);
  l.pairwise.ll_chunk = num (128e3);
  l.pairwise.least_part = num (0.125);
  l.pairwise.most_part = num (32);
  for (unsigned p = 0; p < MDL_PROTO_N; p++)
    l.pairwise.hop[MDL_HOP_NVLINK].at[p].rate = num (1e9);
  return l;
}

static void
a_message_takes_channels_by_its_size (void)
{
  /* 8 ranks, 32 channels: 4 a message. 100 kB: one part of 125 kB is not full, 1 channel, 100 us. 250 kB: 2, 125 us; 500 kB: 4
   * and 125 us; 128 MB: 4 x 32 MB, 32 ms. 132 MB: 33 MB is above 32 chunks, 8 channels, 16.5 ms; 1 GB: 32, 31.25 ms. Route 1 us. */
  const struct {
    double size_B, time_s;
  } row[] = { { 100e3, 100e-6 }, { 250e3, 125e-6 }, { 500e3, 125e-6 }, { 128e6, 32e-3 }, { 132e6, 16.5e-3 }, { 1e9, 31.25e-3 } };
  MdlLibrary l = pair_library ();
  for (size_t i = 0; i < G_N_ELEMENTS (row); i++) {
    MdlCollQuestion q = question (MDL_OP_SENDRECV, row[i].size_B, 8);
    TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), row[i].time_s + 1e-6, 1e-9);
  }
  /* One way: the threads of both directions, 2 GB/s a channel. */
  l.pairwise.one_way = num (2.0);
  MdlCollQuestion q = question (MDL_OP_SENDRECV, 128e6, 2); /* 16 channels of 8 MB */
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 8.001e-3, 1e-9);
  q.one_way = TRUE;
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 4.001e-3, 1e-9);
  /* Not over NVLink a peer has 2 channels at most. */
  l.pairwise.path_channels = num (2.0);
  l.pairwise.hop[MDL_HOP_PCIE].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  l.channels.pcie = num (4.0);
  q = question (MDL_OP_SENDRECV, 128e6, 2);
  q.intra = MDL_HOP_PCIE;
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 64.001e-3, 1e-9);
}

static void
peers_share_channels_where_channels_are_few (void)
{
  /* 8 x 1 MB to 8 ranks. 32 channels: 4 a peer, 250 us. 8 channels: 1 a peer, 1 ms. 2: four peers on each, 4 ms. 1: eight, of
   * which 7 leave the rank, 7 ms. Each further peer costs 10 us. */
  const struct {
    unsigned channels;
    double time_s;
  } row[] = { { 0, 250e-6 }, { 8, 1e-3 }, { 2, 4.03e-3 }, { 1, 7.07e-3 } };
  MdlLibrary l = pair_library ();
  l.pairwise.further = num (10e-6);
  for (size_t i = 0; i < G_N_ELEMENTS (row); i++) {
    MdlCollQuestion q = question (MDL_OP_ALLTOALL, 8e6, 8);
    q.max_channels = row[i].channels;
    TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), row[i].time_s + 1e-6, 1e-9);
  }
}

static void
channels_and_links_slow_each_other (void)
{
  /* 128 MB by 16 channels of 1 GB/s over links of 16 GB/s, exponent 1: half of it, 8 GB/s, 16 ms. Faster links: 1/(1/16 + 1/48). */
  MdlLibrary l = pair_library ();
  l.pairwise.blend = num (1.0);
  MdlCollQuestion q = question (MDL_OP_SENDRECV, 128e6, 2);
  q.link_rate_Bps = 16e9;
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 16.001e-3, 1e-9);
  q.link_rate_Bps = 48e9;
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 128e6 / 12e9 + 1e-6, 1e-9);
  q.link_rate_Bps = 5e9; /* slower links: 1 / (1/16 + 1/5), told as what they carry for nothing */
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 128e6 * (1 / 16e9 + 1 / 5e9) + 1e-6, 1e-9);
  /* One chunk a channel at the links' rate: 16 MB at 5 GB/s, by half, and what the blend loses: 1.6 ms x 21/16. */
  l.pairwise.fill = num (0.5);
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 128e6 * (1 / 16e9 + 1 / 5e9) + 2.1e-3 + 1e-6, 1e-9);
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

static void
uneven_ranks_take_longer_steps (void)
{
  /* From chunks of 700 B on 2 us a step by the logarithm, in full at 2800 B: 3 ranks 10 + 4 x (4 + 0, 1, 2, 2) us; 4 ranks none. */
  static const struct {
    unsigned n_ranks;
    double size_B, time_s;
  } row[] = { { 3, 2100, 26e-6 }, { 3, 4200, 30e-6 }, { 3, 8400, 34e-6 }, { 3, 8e6, 34e-6 }, { 4, 8e6, 34e-6 } };
  MdlLibrary l = simple_library ();
  MdlStep *step = &l.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_LL];
  step->uneven = num (2e-6);
  step->uneven_from = num (700);
  step->uneven_full = num (2800);
  for (size_t i = 0; i < G_N_ELEMENTS (row); i++) {
    MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, row[i].size_B, row[i].n_ranks);
    TEST_NEAR (time_of (&l, MDL_ALGO_RING, MDL_PROTO_LL, &q), row[i].time_s, 1e-9);
  }
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
all_to_all_meets_its_peers_in_rounds (void)
{
  MdlLibrary library = simple_library ();
  library.pairwise.start.at[MDL_PROTO_SIMPLE] = num (10e-6);
  library.pairwise.peers = num (8.0);
  library.pairwise.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].latency = num (3e-6);
  library.pairwise.hop[MDL_HOP_NET].at[MDL_PROTO_SIMPLE].latency = num (20e-6);
  /* One channel, 8 ranks on it at once: a round of 4 us. 24: three. */
  MdlCollQuestion q = question (MDL_OP_ALLTOALL, 0.0, 8);
  TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 14e-6, 1e-12);
  q = question (MDL_OP_ALLTOALL, 0.0, 24);
  TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 22e-6, 1e-12);
  /* 16 ranks on two nodes: two rounds of 25 us, and the proxy posts 4 times 1 us for each of 8 peers. 16 nodes: 16 rounds, 120
   * peers. */
  library.pairwise.post = num (1e-6);
  library.pairwise.posts = num (4.0);
  q = question (MDL_OP_ALLTOALL, 0.0, 16);
  q.n_nodes = 2;
  q.ranks_per_node = 8;
  TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 92e-6, 1e-12);
  q.n_ranks = 128;
  q.n_nodes = 16;
  TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 890e-6, 1e-12);
  /* And looks after the others under way between two posts, 0.1 us each: 8 on the only channel, 120 x 0.8 us more. */
  library.pairwise.poll = num (0.1e-6);
  TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 986e-6, 1e-12);
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
  format->bytes_a_thread = num (64.0); /* a channel for every 32 KiB */
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
  library.small_to = num (65536.0);
  library.middle_to = num (16777216.0);
  library.outside = num (2.0);
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
a_plain_all_to_all_puts_its_peers_into_the_plan (void)
{
  /* 8 ranks, a thread each: 5 us of CPU and 2 us for each of 6 further peers, above the 10 + 4 us of the GPU. Not in a graph. */
  MdlLibrary library = simple_library ();
  library.pairwise.start.at[MDL_PROTO_SIMPLE] = num (10e-6);
  library.pairwise.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].latency = num (3e-6);
  library.pairwise.enqueue = num (2e-6);
  library.launch.at[MDL_LAUNCH_THREADS].per_gpu = num (5e-6);
  MdlCollQuestion q = question (MDL_OP_ALLTOALL, 0.0, 8);
  library.pairwise.peers = num (8.0);
  q.launch = MDL_LAUNCH_THREADS;
  TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 17e-6, 1e-12);
  q.op = MDL_OP_SENDRECV;
  TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 14e-6, 1e-12);
  q.op = MDL_OP_ALLTOALL;
  q.launch = MDL_LAUNCH_GRAPH;
  TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 14e-6, 1e-12);
}

static const TestCase cases[] = {
  { "plain ring all-reduce is lockstep", plain_ring_all_reduce_is_lockstep },
  { "plain ring takes the longest hop in every step", plain_ring_takes_the_longest_hop_in_every_step },
  { "plain all-gather takes half the steps", plain_all_gather_takes_half_the_steps },
  { "plain broadcast is the best pipeline", plain_broadcast_is_the_best_pipeline },
  { "plain tree is two trees up and down", plain_tree_is_two_trees_up_and_down },
  { "plain NVLS and pairs are one exchange", plain_nvls_and_pairs_are_one_exchange },
  { "one rank costs its launch", one_rank_costs_its_launch },
  { "ring is start and steps and size", ring_is_start_and_steps_and_size },
  { "ring between nodes crosses the network in some steps", ring_between_nodes_crosses_the_network_in_some_steps },
  { "blocks bound a ring whose links are wide", blocks_bound_a_ring_whose_links_are_wide },
  { "ends and starts of a ring go by operation", ends_and_starts_of_a_ring_go_by_operation },
  { "what misses the cache takes longer", what_misses_the_cache_takes_longer },
  { "uneven ranks take longer steps", uneven_ranks_take_longer_steps },
  { "blocks and links of a ring slow each other", blocks_and_links_of_a_ring_slow_each_other },
  { "long data hides latency down to the floor", long_data_hides_latency_down_to_the_floor },
  { "tree is a pipeline up and down the chain", tree_is_a_pipeline_up_and_down_the_chain },
  { "neighbours of a tree share their link", neighbours_of_a_tree_share_their_link },
  { "tree between nodes grows with their logarithm", tree_between_nodes_grows_with_their_logarithm },
  { "NVLS pays the switch and its efficiency", nvls_pays_the_switch_and_its_efficiency },
  { "all-to-all meets its peers in rounds", all_to_all_meets_its_peers_in_rounds },
  { "launches in turn floor a small message", launches_in_turn_floor_a_small_message },
  { "channels follow size", channels_follow_size },
  { "the weakest constant gives the source", the_weakest_constant_gives_the_source },
  { "terse questions get the same numbers without text", terse_questions_get_the_same_numbers_without_text },
  { "a ring crosses the network once a node and round", a_ring_crosses_the_network_once_a_node_and_round },
  { "long data hide the network's latency down to its floor", long_data_hide_the_networks_latency_down_to_its_floor },
  { "a peer on another node gets two channels while ranks are few", a_peer_on_another_node_gets_two_channels_while_ranks_are_few },
  { "a plugin's LL and LL128 cost what it says", a_plugins_ll_and_ll128_cost_what_it_says },
  { "a ring's way round hides behind its adapters", a_rings_way_round_hides_behind_its_adapters },
  { "communicators cost what they are made of", communicators_cost_what_they_are_made_of },
  { "a message takes channels by its size", a_message_takes_channels_by_its_size },
  { "peers share channels where channels are few", peers_share_channels_where_channels_are_few },
  { "a plain all-to-all puts its peers into the plan", a_plain_all_to_all_puts_its_peers_into_the_plan },
  { "channels and links slow each other", channels_and_links_slow_each_other },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: collectives", cases);
}
