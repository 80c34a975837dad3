/* NVLSTree: NVLS inside each node, a double binary tree over the nodes. Each of the h heads (a GPU of every node, with its NIC)
 * sums its part S/h through the switch, sends it up one of two trees of the heads beside the same rail, gets the sum from above
 * and stores it to its node through the switch. Half of the channels use the first tree, half the second.
 *
 *     T = start + latency + (ch - 1) post + 2 ceil (log2 N) a + (stages - 1) x round + 2 ceil (log2 N) x piece
 *         + S / min (bound, link rate)
 *     a     = the tree's hop over the same transport + `hop`
 *     round = h ch c (1 + 1/h) / (GPU link rate x efficiency), one round of pieces over all heads and channels in the node
 *     piece = h ch c / min (heads' NICs x NIC rate, rack)
 *     bound = min (ch rate, h cap n / (2 (n - 1)), h streams r, rack, h c / (m t))
 *     rack  = node rate x (N > 2 ? 1/2 : 1), where a rack has more GPUs than heads
 *     node rate = GPU link rate x efficiency / (1 + 1/h)
 * All channels pass through every head, so its proxy thread posts ch messages before the last one goes (`post`).
 * A plugin's thread needs t s for each message (`message`), and where it reads once behind each (`flush`) waits for that: a head
 * receives m messages of a piece, 1 on two nodes, 2 on more, in the mean of both trees.
 * N nodes, n ranks, c B piece of a head and channel, ch channels, cap busbw of a head (NCCL's figure by generation), r what a
 * stream of the tree's carries over the same transport, as many as channels (sockets: one, src/proxy.cc has a thread a process).
 * The link rate has NVLS's efficiency on the links inside the node and the NICs as they are: a rank of a double tree sends and
 * receives up to twice its part, so that NICs carry 2 S/h each way, and S/h between two nodes, where neither tree has an inner
 * rank. Where a rack has more GPUs than heads (72 and 32), the blocks of the heads are what limits the rack itself, and not its
 * links; beyond two racks these blocks too send twice as much, S/h up and S/h down, so that half of the rate is left.
 *
 * Textbook form: (2 alpha + 2 ceil (log2 N) alpha_net) + S / link rate. No messages: the switches reduce.
 *
 * Source: NCCL 5067397c src/graph/tuning.cc:ncclTopoTuneModel (latency 25 + 2 log2 N x 20.9 us against the tree's 14;
 * perChMaxNVLSTreeBws; until 2.27 bwInter / 2 beyond two nodes),
 * src/transport/nvls.cc:ncclNvlsTuning (pieces), src/enqueue.cc:calcCollChunking (cuts),
 * src/device/all_reduce.h (NVLS_TREE: scatter, gather, reduce, broadcast). Trees: Sanders, Speck, Traeff, Parallel Computing
 * 35(12), 2009.
 * Valid: compute capability 90 and later behind NVSwitches that reduce, two nodes or more. Check: test_models_sharp (16 nodes, no
 * data: 25 + 8 x 20.9 us), test_collective_sharp (loads), case 09 (AWS p5). */
#include <math.h>

#include "collective/terms-private.h"

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return 2 + 2 * mdl_log2_ceil (q->n_nodes);
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  (void)library;
  if (proto != MDL_PROTO_SIMPLE)
    return "simple protocol only";
  if (q->n_nodes < 2)
    return "nvls_tree needs ranks on several nodes (nvls serves one)";
  if (q->ranks_per_node < 2)
    return "nvls_tree needs several ranks a node";
  return mdl_why_not_nvls_node (q);
}

/* What NCCL's figure for a head allows of the whole; HUGE_VAL where it has none. */
static double
cap_Bps (const MdlNvlsTreeSpec *spec, const MdlCollQuestion *q, double heads, const BaseNum **from)
{
  *from = NULL;
  for (unsigned i = 0; i < spec->caps.n; i++) {
    const MdlCapRow *row = BASE_LIST_AT (spec->caps, MdlCapRow, i);
    if (row->capability.v <= (double)q->compute_capability)
      *from = q->n_nodes > 2 ? &row->nodes : &row->two_nodes;
  }
  if (*from == NULL || !(*from)->set)
    return HUGE_VAL;
  double n = (double)q->n_ranks;
  return heads * (*from)->v * n / (2.0 * (n - 1.0));
}

/* What the heads of a rack with more GPUs than heads move; HUGE_VAL where every GPU is a head. An inner head of a tree over three
 * and more racks sends its part up and its children's sums down. */
static double
rack_Bps (const MdlCollQuestion *q, double heads, double node_Bps)
{
  if ((double)q->ranks_per_node <= heads)
    return HUGE_VAL;
  return q->n_nodes > 2 ? node_Bps / 2.0 : node_Bps;
}

/* A head's proxy handles one message after another, and waits for one read after another, each behind a message received. */
static void
bound_by_messages (const MdlPlugin *plugin, const MdlCollQuestion *q, double heads, double piece_B, MdlCollCost *cost)
{
  if (plugin == NULL || piece_B <= 0.0)
    return;
  const double messages = q->n_nodes > 2 ? 2.0 : 1.0;
  const struct {
    const BaseNum *each;
    const char *name;
  } limits[] = { { &plugin->message, "a head's proxy, by messages" },
                 { &plugin->flush, "one flush after another, of each message" } };
  for (unsigned i = 0; i < G_N_ELEMENTS (limits); i++) {
    const BaseNum *each = limits[i].each;
    if (!each->set || !mdl_cost_bound (cost, heads * piece_B / (messages * each->v), each))
      continue;
    cost->bound_name = limits[i].name;
    mdl_cost_use (cost, each);
  }
}

/* The largest piece: the plugin's, the version's for these nodes, or the default. */
static const BaseNum *
largest_piece (const MdlLibrary *library, const MdlPlugin *plugin, const MdlCollQuestion *q)
{
  const MdlNvlsTreePiece *set = mdl_nvls_tree_piece (library, q);
  if (plugin != NULL && plugin->nvls_tree_piece.set)
    return &plugin->nvls_tree_piece;
  return set != NULL ? &set->piece : &library->nvls_tree.piece;
}

static void
nvls_tree_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)proto; /* Simple alone */
  const MdlNvlsTreeSpec *spec = &library->nvls_tree;
  double channels = mdl_nvls_channels (library, q), heads = (double)mdl_nvls_heads (library, q->ranks_per_node);
  const BaseNum *cap, *rate = &library->nvls.rate;
  double capped_Bps = cap_Bps (spec, q, heads, &cap);
  MdlStepTime inter = mdl_network_step_time (library, library->tree.hop, MDL_PROTO_SIMPLE, q, channels, cost);

  const BaseNum *efficiency = mdl_nvls_efficiency_of (library, q->compute_capability, q->ranks_per_node);
  const double node_Bps = q->intra_rate_Bps * efficiency->v / (1.0 + 1.0 / heads), by_heads_Bps = rack_Bps (q, heads, node_Bps);

  cost->channels = (unsigned)channels;
  mdl_cost_bound (cost, fmax (mdl_nvls_bound_Bps (library, q), channels * rate->v), rate);
  if (cap != NULL && mdl_cost_bound (cost, capped_Bps, cap))
    cost->bound_name = "busbw of a head, times heads";
  if (cost->bound_Bps < q->link_rate_Bps)
    mdl_cost_use (cost, cost->bound_from);
  /* A head's channels have connections of their own; sockets are copied by one thread of each head's process. */
  double streams = q->inter == MDL_HOP_TCP ? 1.0 : channels;
  if (mdl_cost_bound (cost, heads * streams * inter.step->rate.v, &inter.step->rate)) {
    cost->bound_name = NULL;
    mdl_cost_use (cost, &inter.step->rate);
  }
  if (mdl_cost_bound (cost, by_heads_Bps, efficiency))
    cost->bound_name = "blocks of the rack's heads";
  mdl_cost_use (cost, efficiency);
  mdl_cost_begin (q, cost, &spec->start);
  mdl_cost_term (q, cost, "switch latency", spec->latency.v, &spec->latency, "%.3g us through the node's switch",
                 spec->latency.v * 1e6);

  double hops = 2.0 * (double)mdl_log2_ceil (q->n_nodes);
  double hop_s = inter.latency_s + spec->hop.v;
  mdl_cost_term (q, cost, "network hop latency", hops * hop_s, &spec->hop, "%.4g hops x %.3g us (the tree's %.3g us + %.3g us)",
                 hops, hop_s * 1e6, inter.latency_s * 1e6, spec->hop.v * 1e6);
  mdl_cost_use (cost, &inter.step->latency);

  double part_B = q->size_B / (channels * heads);
  if (library->pairwise.post.set && q->inter != MDL_HOP_TCP)
    mdl_cost_term (q, cost, "posts", (channels - 1.0) * library->pairwise.post.v, &library->pairwise.post,
                   "a head's proxy posts for %.4g more channels", channels - 1.0);

  const MdlPlugin *plugin = mdl_plugin (library, q);
  if (plugin != NULL && plugin->nvls_tree_start.set)
    mdl_cost_term (q, cost, "network plugin", plugin->nvls_tree_start.v, &plugin->nvls_tree_start, "once per operation");
  double piece_B = mdl_cut_piece (&spec->cuts, part_B, largest_piece (library, plugin, q)->v, 1.0);
  bound_by_messages (plugin, q, heads, piece_B, cost);
  double round_B = piece_B * channels * heads;
  double round_s = mdl_time_s (round_B, node_Bps);
  const double of_heads = fmin (heads / fmax ((double)q->ranks_per_node, 1.0), 1.0);
  double net_s = mdl_time_s (round_B, fmin (q->inter_rate_Bps * fmax ((double)q->n_nics, 1.0) * of_heads, by_heads_Bps));
  /* one stage more than NVLS alone */
  const BaseNum *stages = mdl_nvls_stages (library, q);
  const double behind = stages == &library->nvls.stages ? spec->stages.v - 1.0 : stages->v;
  mdl_cost_term (q, cost, "pipeline fill", behind * round_s + hops * net_s, &spec->stages,
                 "%.3g rounds of %.0f B per head and channel in the node, %.4g between nodes", behind, piece_B, hops);
  cost->piece_B = round_B;
}

static void
nvls_tree_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double hops = 2.0 * (double)mdl_log2_ceil (q->n_nodes);
  cost->bound_Bps = mdl_plain_bound_Bps (q, 1.0 + 1.0 / (double)MAX (q->ranks_per_node, 1));
  mdl_cost_term (q, cost, "hop latency", 2.0 * q->intra_latency_s + hops * q->inter_latency_s, NULL,
                 "to the switch and back: 2 x %.4g us; up and down the tree: %.4g x %.4g us", q->intra_latency_s * 1e6, hops,
                 q->inter_latency_s * 1e6);
}

const MdlColl mdl_coll_nvls_tree = {
  .algo = MDL_ALGO_NVLS_TREE,
  .ops = 1u << MDL_OP_ALL_REDUCE,
  .n_steps = n_steps,
  .cost = nvls_tree_cost,
  .plain = nvls_tree_plain,
  .why_not = why_not,
};
