/* Closed forms of NVLSTree, NVLS over several nodes, CollNet and PAT against sums by hand. */
#include <math.h>

#include "harness.h"
#include "models/coll.h"
#include "models/library-spec.h"

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_ASSUMED };
}

static MdlChannelRow two_channels = { .capability = { .v = 0 },
                                      .one_node = { .v = 2, .set = TRUE },
                                      .nodes = { .v = 2, .set = TRUE } };
static MdlCapRow cap_row;

/* NCCL's latencies; two channels, pieces of 1 MB, nothing limits but the links. */
static MdlLibrary
nccl (void)
{
  MdlLibrary l = { 0 };
  l.channels.scale_up = (BaseList){ .n = 1, .set = TRUE, .item = &two_channels, .size = sizeof two_channels };
  for (unsigned p = 0; p < MDL_PROTO_N; p++) {
    l.protocols.at[p].offered.v = TRUE;
    l.protocols.at[p].wire = num (1);
    l.protocols.at[p].slot = num (1e6);
    l.protocols.at[p].forward_after = num (1);
    l.tree.hop[MDL_HOP_NET].at[p].latency = num (14e-6);
  }
  l.nvls.latency = l.nvls_tree.latency = num (25e-6);
  l.nvls.net = num (18e-6);
  l.nvls_tree.hop = num (6.9e-6);
  l.nvls.channels = num (2);
  l.nvls.efficiency = num (.5);
  l.nvls.stages = l.nvls_tree.stages = l.collnet_direct.stages = num (4);
  l.nvls.piece = l.nvls_tree.piece = l.collnet_direct.piece = l.collnet_chain.piece = num (1e6);
  l.collnet_direct.hop = num (3.7e-6);
  l.collnet_direct.peer = num (.4e-6);
  l.collnet_direct.net = num (31e-6);
  l.collnet_chain.hop = num (2.8e-6);
  l.collnet_chain.net = num (30e-6);
  l.pat.start = num (8e-6);
  l.pat.per_rank = num (2.8e-6);
  l.pat.hop_share = num (1 / 3.5);
  return l;
}

/* Nodes of `local` ranks; no wire latency; 10 GB/s a NIC, one a rank. */
static MdlCollQuestion
question (MdlOp op, double size_B, unsigned nodes, unsigned local)
{
  return (MdlCollQuestion){ .op = op,
                            .size_B = size_B,
                            .n_ranks = nodes * local,
                            .n_nodes = nodes,
                            .ranks_per_node = local,
                            .n_nics = local,
                            .intra = MDL_HOP_NVLINK,
                            .inter = MDL_HOP_NET,
                            .intra_rate_Bps = 100e9,
                            .inter_rate_Bps = 10e9,
                            .link_rate_Bps = 40e9,
                            .compute_capability = 90,
                            .switched = TRUE,
                            .launch = MDL_LAUNCH_GRAPH };
}

static MdlCollCost
cost_of (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *q)
{
  MdlCollCost cost;
  mdl_coll_cost (library, mdl_coll_find (algo, q->op), MDL_PROTO_SIMPLE, q, &cost);
  return cost;
}

static double
latency_us (MdlAlgo algo, MdlOp op, unsigned nodes, unsigned local)
{
  MdlLibrary l = nccl ();
  MdlCollQuestion q = question (op, 0, nodes, local);
  return cost_of (&l, algo, &q).time_s * 1e6;
}

static void
latencies_are_those_of_nccl_s_model (void)
{
  /* NVLSTree: 25 + 2 log2 16 x 20.9; NVLS over nodes: 25 + 18; CollNet direct: 2 (3.7 + 7 x .4) + 31, with one rank a node the
   * tree's 14; chain: 2 x 7 x 2.8 + 30; PAT on 8: 8 + 8 x 2.8 + 3 x 14/3.5. */
  TEST_NEAR (latency_us (MDL_ALGO_NVLS_TREE, MDL_OP_ALL_REDUCE, 16, 8), 192.2, 1e-9);
  TEST_NEAR (latency_us (MDL_ALGO_NVLS, MDL_OP_ALL_REDUCE, 16, 8), 43, 1e-9);
  TEST_NEAR (latency_us (MDL_ALGO_COLLNET_DIRECT, MDL_OP_ALL_REDUCE, 16, 8), 44, 1e-9);
  TEST_NEAR (latency_us (MDL_ALGO_COLLNET_DIRECT, MDL_OP_ALL_REDUCE, 16, 1), 14, 1e-9);
  /* gathering and scattering go one way through the node: 3.7 + 7 x .4 + 31 */
  TEST_NEAR (latency_us (MDL_ALGO_COLLNET_DIRECT, MDL_OP_ALL_GATHER, 16, 8), 37.5, 1e-9);
  TEST_NEAR (latency_us (MDL_ALGO_COLLNET_DIRECT, MDL_OP_REDUCE_SCATTER, 16, 8), 37.5, 1e-9);
  TEST_NEAR (latency_us (MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, 16, 8), 69.2, 1e-9);
  TEST_NEAR (latency_us (MDL_ALGO_COLLNET_CHAIN, MDL_OP_ALL_REDUCE, 16, 1), 14, 1e-9);
  TEST_NEAR (latency_us (MDL_ALGO_PAT, MDL_OP_ALL_GATHER, 8, 1), 42.4, 1e-9);
  TEST_NEAR (latency_us (MDL_ALGO_PAT, MDL_OP_REDUCE_SCATTER, 8, 1), 42.4, 1e-9);
}

static void
the_network_s_switches_cost_the_same_for_any_number_of_nodes (void)
{
  static const MdlAlgo algos[] = { MDL_ALGO_NVLS, MDL_ALGO_COLLNET_DIRECT, MDL_ALGO_COLLNET_CHAIN };
  for (unsigned i = 0; i < G_N_ELEMENTS (algos); i++)
    TEST_NEAR (latency_us (algos[i], MDL_OP_ALL_REDUCE, 2, 8), latency_us (algos[i], MDL_OP_ALL_REDUCE, 1024, 8), 1e-12);
}

static void
pieces_fill_the_pipeline (void)
{
  /* 400 MB, 4 ranks a node, 2 channels: rounds of 4 x 2 x 1 MB = 8 MB, 0.2 ms at 40 GB/s of links and 0.2 ms over 4 NICs of 10
   * GB/s; the bytes 10 ms. NVLSTree on 4 nodes: 3 rounds and 4 hops. NVLS: 3 rounds and the network once. Direct: 3 rounds. */
  MdlLibrary l = nccl ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 400e6, 4, 4);
  MdlCollCost tree = cost_of (&l, MDL_ALGO_NVLS_TREE, &q), nvls = cost_of (&l, MDL_ALGO_NVLS, &q);
  MdlCollCost direct = cost_of (&l, MDL_ALGO_COLLNET_DIRECT, &q);
  TEST_NEAR (tree.time_s, 25e-6 + 4 * 20.9e-6 + 3 * .2e-3 + 4 * .2e-3 + 10e-3, 1e-12);
  TEST_NEAR (nvls.time_s, 43e-6 + 3 * .2e-3 + .2e-3 + 10e-3, 1e-12);
  /* a head's proxy posts for the second channel, too; sockets have threads of their own */
  MdlLibrary posting = l;
  posting.pairwise.post = num (3e-6);
  TEST_NEAR (cost_of (&posting, MDL_ALGO_NVLS_TREE, &q).time_s, tree.time_s + 3e-6, 1e-12);
  TEST_NEAR (direct.time_s, 2 * (3.7e-6 + 3 * .4e-6) + 31e-6 + 3 * .2e-3 + 10e-3, 1e-12);
  /* All-gather by direct has half of the stages: one round beside the bytes. */
  MdlCollQuestion gather = question (MDL_OP_ALL_GATHER, 400e6, 4, 4);
  TEST_NEAR (cost_of (&l, MDL_ALGO_COLLNET_DIRECT, &gather).time_s, 3.7e-6 + 3 * .4e-6 + 31e-6 + .2e-3 + 10e-3, 1e-12);
  TEST_NEAR (nvls.wire, 1, 0); /* over several nodes the traffic has NVLS's efficiency */
  /* Chain of 4: pieces of 1 MB on 2 channels, 6 hops at 100/2 GB/s a channel, 2 MB over 4 NICs, less the piece that the size
   * counts, 2 MB at 40 GB/s: 6 x 20 us + 50 us - 50 us. */
  MdlCollCost chain = cost_of (&l, MDL_ALGO_COLLNET_CHAIN, &q);
  TEST_NEAR (chain.time_s, 6 * 2.8e-6 + 30e-6 + 120e-6 + 10e-3, 1e-12);
}

static void
rounds_of_a_node_wait_for_each_other (void)
{
  /* 400 MB on one node of 4, 2 channels: rounds of 8 MB, 0.4 ms at 40 GB/s x .5 of the links. Channels of 20 GB/s take 0.2 ms and
   * wait 0.3, of eight heads 0.6: 0.1 longer than the links, 49 times. A wait of 0.1 ms is hidden;
   * several nodes and registered buffers have none. */
  MdlLibrary l = nccl ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 400e6, 1, 4);
  l.nvls.rate = num (20e9);
  const double none_s = cost_of (&l, MDL_ALGO_NVLS, &q).time_s;
  l.nvls.round = num (.6e-3);
  TEST_NEAR (cost_of (&l, MDL_ALGO_NVLS, &q).time_s, none_s + 49 * .1e-3, 1e-12);
  l.nvls.round = num (.2e-3);
  TEST_NEAR (cost_of (&l, MDL_ALGO_NVLS, &q).time_s, none_s, 1e-12);
  l.nvls.round = num (.6e-3);
  l.nvls.stages = num (1);
  MdlCollQuestion wide = question (MDL_OP_ALL_REDUCE, 400e6, 2, 4);
  const double straight_s = cost_of (&l, MDL_ALGO_NVLS, &q).time_s, wide_s = cost_of (&l, MDL_ALGO_NVLS, &wide).time_s;
  l.nvls.round.set = FALSE;
  TEST_NEAR (cost_of (&l, MDL_ALGO_NVLS, &q).time_s, straight_s, 1e-12);
  TEST_NEAR (cost_of (&l, MDL_ALGO_NVLS, &wide).time_s, wide_s, 1e-12);
}

static void
efficiency_and_caps_limit_the_rate (void)
{
  MdlLibrary l = nccl ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 40e9, 4, 4);
  /* a cap of 15 GB/s busbw on each of 4 heads, 16 ranks: 60 x 16 / 30 = 32 GB/s of the size, 1.25 s */
  cap_row = (MdlCapRow){ .capability = num (90), .two_nodes = num (20e9), .nodes = num (15e9) };
  l.nvls_tree.caps = (BaseList){ .n = 1, .set = TRUE, .item = &cap_row, .size = sizeof cap_row };
  TEST_NEAR (cost_of (&l, MDL_ALGO_NVLS_TREE, &q).bound_Bps, 32e9, 1e-12);
  q.compute_capability = 80; /* no row */
  TEST_TRUE (isinf (cost_of (&l, MDL_ALGO_NVLS_TREE, &q).bound_Bps));
  q.compute_capability = 90;
  l.collnet_direct.efficiency_from_90 = num (.8);
  TEST_NEAR (cost_of (&l, MDL_ALGO_COLLNET_DIRECT, &q).wire, 1.25, 1e-12);
  l.pat.efficiency = num (.75);
  q = question (MDL_OP_ALL_GATHER, 40e9, 4, 1);
  TEST_NEAR (cost_of (&l, MDL_ALGO_PAT, &q).wire, 4.0 / 3, 1e-12);
  /* sockets: a stream of 1 GB/s a head, not a channel */
  q = question (MDL_OP_ALL_REDUCE, 40e9, 4, 4);
  q.inter = MDL_HOP_TCP;
  l.tree.hop[MDL_HOP_TCP].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  TEST_NEAR (cost_of (&l, MDL_ALGO_NVLS_TREE, &q).bound_Bps, 4e9, 1e-12);
}

/* 4 of a rack's 16 GPUs are heads: the rack moves 100 x .5 / (1 + 1/4) = 40 GB/s by them, half of it over three racks, where an
 * inner head sends up and down. The network's pieces go by the NICs of heads: 8 MB a round over 4 x 10 GB/s, or at 20 GB/s. */
static void
heads_of_a_rack_limit_trees_over_racks (void)
{
  MdlLibrary l = nccl ();
  l.nvls.heads = num (4);
  l.nvls.rack_efficiency = num (.5);
  l.nvls.rack_stages = num (4);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 400e9, 2, 16);
  q.link_rate_Bps = 400e9;
  MdlCollCost cost = cost_of (&l, MDL_ALGO_NVLS_TREE, &q);
  TEST_NEAR (cost.bound_Bps, 40e9, 1e-12);
  TEST_NEAR (cost.time_s, 25e-6 + 2 * 20.9e-6 + 4 * .2e-3 + 2 * .2e-3 + 10, 1e-12);
  q = question (MDL_OP_ALL_REDUCE, 400e9, 3, 16);
  q.link_rate_Bps = 400e9;
  cost = cost_of (&l, MDL_ALGO_NVLS_TREE, &q);
  TEST_NEAR (cost.bound_Bps, 20e9, 1e-12);
  TEST_NEAR (cost.time_s, 25e-6 + 4 * 20.9e-6 + 4 * .2e-3 + 4 * .4e-3 + 20, 1e-12);
  TEST_STR (cost.bound_name, "blocks of the rack's heads");
  /* where each GPU is a head its NIC is the limit, in the link rate */
  q = question (MDL_OP_ALL_REDUCE, 400e9, 3, 4);
  TEST_TRUE (isinf (cost_of (&l, MDL_ALGO_NVLS_TREE, &q).bound_Bps));
}

/* 4 heads: a piece of 1 MB in 100 us is 40 GB/s of the size on two nodes; on three nodes a head receives two messages of each,
 * 20 GB/s. */
static void
messages_follow_one_another (void)
{
  MdlLibrary l = nccl ();
  MdlPlugin plugin = { .link_class = { .v = "efa2", .set = TRUE }, .flush = num (100e-6) };
  l.plugins = (BaseList){ .n = 1, .set = TRUE, .item = &plugin, .size = sizeof plugin };
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 400e6, 2, 4);
  q.network = "efa2";
  q.link_rate_Bps = 400e9;
  MdlCollCost cost = cost_of (&l, MDL_ALGO_NVLS_TREE, &q);
  TEST_NEAR (cost.bound_Bps, 40e9, 1e-12);
  TEST_STR (cost.bound_name, "one flush after another, of each message");
  q = question (MDL_OP_ALL_REDUCE, 400e6, 3, 4);
  q.network = "efa2";
  q.link_rate_Bps = 400e9;
  TEST_NEAR (cost_of (&l, MDL_ALGO_NVLS_TREE, &q).bound_Bps, 20e9, 1e-12);
  plugin.message = num (400e-6); /* the proxy's thread is slower still */
  cost = cost_of (&l, MDL_ALGO_NVLS_TREE, &q);
  TEST_NEAR (cost.bound_Bps, 5e9, 1e-12);
  TEST_STR (cost.bound_name, "a head's proxy, by messages");
  plugin.flush.set = plugin.message.set = FALSE;
  TEST_TRUE (isinf (cost_of (&l, MDL_ALGO_NVLS_TREE, &q).bound_Bps));
}

/* The last row that fits sets piece and channels; 8 GB are some rounds of any piece, so that the fill tells it. */
static void
pieces_of_trees_depend_on_the_cluster (void)
{
  MdlNvlsTreePiece rows[] = {
    { .piece = num (2e6) },
    { .nodes = num (3), .piece = num (1e6) },
    { .nodes = num (3), .nic = num (48e9), .nic_below = num (96e9), .near = { .v = TRUE, .set = TRUE }, .piece = num (.5e6) },
    { .nodes = num (3), .nic = num (96e9), .ranks_from = num (4), .ranks_to = num (8), .piece = num (4e6), .channels = num (1) },
    { .capability = num (100), .piece = num (8e6) },
    { .piece = num (16e6), .off = { .v = TRUE, .set = TRUE } },
  };
  static const struct {
    unsigned nodes, local;
    double nic_Bps;
    gboolean near;
    double round_B; /* 2 channels or one, times the ranks of a node */
  } expected[] = {
    { 2, 4, 50e9, TRUE, 16e6 },  { 3, 4, 25e9, TRUE, 8e6 },  { 3, 4, 50e9, FALSE, 8e6 },   { 3, 4, 50e9, TRUE, 4e6 },
    { 3, 4, 100e9, TRUE, 16e6 }, { 3, 2, 100e9, TRUE, 4e6 }, { 3, 16, 100e9, TRUE, 32e6 },
  };
  MdlLibrary l = nccl ();
  l.nvls_tree.pieces = (BaseList){ .n = G_N_ELEMENTS (rows), .set = TRUE, .item = rows, .size = sizeof rows[0] };
  for (unsigned i = 0; i < G_N_ELEMENTS (expected); i++) {
    MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 8e9, expected[i].nodes, expected[i].local);
    q.nic_Bps = expected[i].nic_Bps;
    q.near_nics = expected[i].near;
    TEST_NEAR (cost_of (&l, MDL_ALGO_NVLS_TREE, &q).piece_B, expected[i].round_B, 1e-12);
  }
}

static void
textbook_forms_are_alphas_and_bytes (void)
{
  /* 8 nodes of 4: 1 us inside, 5 us between, 40 GB at 40 GB/s. NVLSTree 2 x 1 + 2 x 3 x 5; NVLS and direct 2 x 1 + 5; chain 2 x 3
   * x 1 + 5 us. PAT on 8 nodes: 3 x 5 us. */
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 40e9, 8, 4);
  q.intra_latency_s = 1e-6;
  q.inter_latency_s = 5e-6;
  TEST_NEAR (cost_of (NULL, MDL_ALGO_NVLS_TREE, &q).time_s, 1 + 32e-6, 1e-14);
  TEST_NEAR (cost_of (NULL, MDL_ALGO_NVLS, &q).time_s, 1 + 7e-6, 1e-14);
  TEST_NEAR (cost_of (NULL, MDL_ALGO_COLLNET_DIRECT, &q).time_s, 1 + 7e-6, 1e-14);
  TEST_NEAR (cost_of (NULL, MDL_ALGO_COLLNET_CHAIN, &q).time_s, 1 + 11e-6, 1e-14);
  q = question (MDL_OP_ALL_GATHER, 40e9, 8, 1);
  q.inter_latency_s = 5e-6;
  TEST_NEAR (cost_of (NULL, MDL_ALGO_PAT, &q).time_s, 1 + 15e-6, 1e-14);
}

static const TestCase cases[] = {
  { "latencies are those of NCCL's model", latencies_are_those_of_nccl_s_model },
  { "the network's switches cost the same for any number of nodes", the_network_s_switches_cost_the_same_for_any_number_of_nodes },
  { "pieces fill the pipeline", pieces_fill_the_pipeline },
  { "rounds of a node wait for each other", rounds_of_a_node_wait_for_each_other },
  { "efficiency and caps limit the rate", efficiency_and_caps_limit_the_rate },
  { "heads of a rack limit trees over racks", heads_of_a_rack_limit_trees_over_racks },
  { "messages follow one another", messages_follow_one_another },
  { "pieces of trees depend on the cluster", pieces_of_trees_depend_on_the_cluster },
  { "textbook forms are alphas and bytes", textbook_forms_are_alphas_and_bytes },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: switches that reduce, and PAT", cases);
}
