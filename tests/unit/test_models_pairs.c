#include "coll_fixture.h"

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
  l.pairwise.net_min_part = num (0.5);
  l.pairwise.net_max_part = num (1.0);
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
  l.pairwise.min_part = num (0.125);
  l.pairwise.max_part = num (32);
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
  l.pairwise.per_peer = num (10e-6);
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
  q.link_rate_Bps = 5e9; /* slower links: 1 / (1/16 + 1/5), as the rate that they carry for free */
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 128e6 * (1 / 16e9 + 1 / 5e9) + 1e-6, 1e-9);
  /* One chunk a channel at the links' rate: 16 MB at 5 GB/s, by half, and what the blend loses: 1.6 ms x 21/16. */
  l.pairwise.fill = num (0.5);
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), 128e6 * (1 / 16e9 + 1 / 5e9) + 2.1e-3 + 1e-6, 1e-9);
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
ranks_of_a_node_start_late_by_doublings (void)
{
  /* 2: none; 4: once 2 us; 8: twice. */
  static const unsigned ranks[] = { 2, 4, 8 };
  static const double late_us[] = { 0, 2, 4 };
  MdlLibrary library = simple_library ();
  for (unsigned i = 0; i < G_N_ELEMENTS (ranks); i++) {
    MdlCollQuestion q = question (MDL_OP_SENDRECV, 0.0, ranks[i]);
    library.pairwise.per_doubling = num (0.0);
    const double none_s = time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q);
    library.pairwise.per_doubling = num (2e-6);
    TEST_NEAR (time_of (&library, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), none_s + late_us[i] * 1e-6, 1e-12);
  }
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

static void
puts_by_the_gpu_cost_each_peer_and_no_cpu (void)
{
  /* 16 ranks on 2 nodes: 10 us + 5 us of route + 3 us, and 8 peers x 0.2 us: 19.6 us; with 1 GB at 1 GB/s of links a second more.
   * A plain launch has no peers to put into a plan. */
  MdlLibrary library = simple_library ();
  library.ibgda.start = num (10e-6);
  library.ibgda.signal = num (3e-6);
  library.ibgda.put = num (0.2e-6);
  library.pairwise.enqueue = num (1e-3);
  MdlCollQuestion q = question (MDL_OP_ALLTOALL, 0.0, 16);
  q.n_nodes = 2;
  q.ranks_per_node = 8;
  q.launch = MDL_LAUNCH_THREADS;
  TEST_NEAR (time_of (&library, MDL_ALGO_IBGDA, MDL_PROTO_SIMPLE, &q), 19.6e-6, 1e-12);
  q.size_B = 1e9;
  q.link_rate_Bps = 1e9;
  TEST_NEAR (time_of (&library, MDL_ALGO_IBGDA, MDL_PROTO_SIMPLE, &q), 1 + 19.6e-6, 1e-9);
  const MdlColl *coll = mdl_coll_find (MDL_ALGO_IBGDA, MDL_OP_ALLTOALL);
  const char *reason = NULL;
  TEST_TRUE (mdl_coll_possible (&library, coll, MDL_PROTO_SIMPLE, &q, &reason));
  q.inter = MDL_HOP_TCP;
  TEST_FALSE (mdl_coll_possible (&library, coll, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_STR (reason, "IBGDA needs GPUDirect RDMA");
}

static void
few_cores_let_messages_wait_and_less_through (void)
{
  /* Ring of 2 nodes: 8 us more of each of 2 steps; 1 GB at 0.5 GB/s of the cores in place of the links' 1 GB/s. */
  MdlLibrary library = simple_library ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 2), slow = q;
  q.n_nodes = slow.n_nodes = 2;
  q.ranks_per_node = slow.ranks_per_node = 1;
  slow.proxy_wait_s = 8e-6;
  double before_s = time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q);
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &slow) - before_s, 16e-6, 1e-12);
  slow.proxy_wait_s = 0;
  q.size_B = slow.size_B = 1e9;
  q.link_rate_Bps = slow.link_rate_Bps = 1e9;
  slow.cpu_Bps = 0.5e9;
  before_s = time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q);
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &slow) - before_s, 1, 1e-2);
}

static void
sockets_move_a_tenth_more_with_each_doubling (void)
{
  MdlLibrary library = simple_library ();
  library.cpu.socket_gain = num (0.1);
  library.ring.hop[MDL_HOP_TCP].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  for (unsigned sockets = 1, doublings = 0; sockets <= 64; sockets *= 2, doublings++) {
    g_autofree MdlLibrary *with = mdl_library_with (&library, &(MdlLibraryEnv){ .sockets = sockets });
    TEST_NEAR (with->ring.hop[MDL_HOP_TCP].at[MDL_PROTO_SIMPLE].rate.v, 1e9 * (1 + 0.1 * doublings), 1);
  }
}

static void
registered_buffers_take_the_channel_s_faster_way (void)
{
  MdlLibrary l = simple_library ();
  l.pairwise.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  l.pairwise.peers = num (8);
  l.channels.p2p = num (1);
  MdlCollQuestion q = question (MDL_OP_SENDRECV, 1e9, 2);
  const double plain_s = time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q);
  l.pairwise.registered = num (1);
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), plain_s, 1e-9);
  q.registered = TRUE;
  TEST_NEAR (time_of (&l, MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q), plain_s - 0.5, 1e-9);
}

static const TestCase cases[] = {
  { "registered buffers take the channel's faster way", registered_buffers_take_the_channel_s_faster_way },
  { "all-to-all meets its peers in rounds", all_to_all_meets_its_peers_in_rounds },
  { "a peer on another node gets two channels while ranks are few", a_peer_on_another_node_gets_two_channels_while_ranks_are_few },
  { "a message takes channels by its size", a_message_takes_channels_by_its_size },
  { "peers share channels where channels are few", peers_share_channels_where_channels_are_few },
  { "ranks of a node start late by doublings", ranks_of_a_node_start_late_by_doublings },
  { "a plain all-to-all puts its peers into the plan", a_plain_all_to_all_puts_its_peers_into_the_plan },
  { "puts by the GPU cost each peer, and no CPU", puts_by_the_gpu_cost_each_peer_and_no_cpu },
  { "few cores let messages wait, and less through", few_cores_let_messages_wait_and_less_through },
  { "sockets move a tenth more with each doubling", sockets_move_a_tenth_more_with_each_doubling },
  { "channels and links slow each other", channels_and_links_slow_each_other },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: sends and receives", cases);
}
