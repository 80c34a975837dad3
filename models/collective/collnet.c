/* CollNet: reduction in the network's switches (InfiniBand SHARP). Each rail's NICs send their part up a tree of
 * switches, which add, and get the sum back: S/h each way a NIC where a ring moves 2 (n-1)/n S/h, n + 1 transfers for 2n.
 *
 * Direct: every rank sends 1/h of its data to each of the h heads of its node (a GPU beside each NIC), the heads add, send, get
 * the sum and send it to every rank.
 *     T = start + 2 (hop + (p-1) peer) + net + (stages - 1) x round + S / (link rate / wire)
 *     round = h ch c / rate: one round of pieces over all heads and channels;   wire = 1 / efficiency
 * Chain: along a chain in the node to the NIC and back, a chain a rail; the middle rank reduces and broadcasts at once, as in a
 * tree.
 *     T = start + 2 (p-1) (hop + c/r) + net + c ch / NICs' rate + (S/ch - c) ch/B
 *     B = min (ch x the tree's stream, link rate)
 * Direct, all-gather and reduce-scatter: every rank is a head. All-gather: it sends its part S/n into the network, gets the parts
 * of its rail, S/p, and passes them to the other ranks of its node; reduce-scatter is the mirror. The NICs' busier way has S/p, as
 * in a ring: what is saved is latency, half of what NICs move, and the node's links.
 *     T = start + (hop + (p-1) peer) + net + (stages/2 - 1) x round + S / (link rate / wire),   wire = 1 / efficiency_gather
 * p ranks a node, ch channels, c B piece of a channel, r B/s what a block moves to the next or its share of the route, over the
 * share `forward_after` of the piece; net s, up to the switches and back; hop and net as NCCL's tuner has them, what a wire is
 * longer than the tree's `route_latency` on top; with one rank a node the tree's hop instead of net.
 *
 * Textbook form: direct 2 alpha + alpha_net, chain 2 (p-1) alpha + alpha_net, each + S / link rate. No messages: the switches
 * reduce.
 *
 * Source: NCCL 5067397c src/graph/tuning.cc:ncclTopoTuneModel (latencies; busbw x .85 from capability 90 on, direct),
 * src/enqueue.cc: topoGetAlgoInfo (channels), calcCollChunking (pieces), src/graph/connect.cc (depths), src/device/all_reduce.h
 * (scatter, reduce, broadcast, gather), all_gather.h and reduce_scatter.h (half of these each; part, S/n, and rail, S/p); Graham
 * et al., "Scalable Hierarchical Aggregation Protocol (SHARP)", COM-HPC 2016.
 * Valid: RDMA networks whose switches reduce, two nodes or more of at most `ranks` ranks; what trees switches have room for is the
 * caller's (sim/collective/sharp.c). Check: test_models_sharp (8 ranks a node, no data: 31 + 2 (3.7 + 7 x .4) us),
 * test_collective_sharp (loads), case 28 (never more than 2(n-1)/n over the ring). */
#include <math.h>

#include "collective/terms-private.h"

static gboolean
is_half (const MdlCollQuestion *q)
{
  return q->op != MDL_OP_ALL_REDUCE; /* gather and scatter go one way through the node and the network */
}

static unsigned
direct_steps (const MdlCollQuestion *q)
{
  return (q->ranks_per_node > 1 ? 4u : 2u) / (is_half (q) ? 2u : 1u);
}

static unsigned
chain_steps (const MdlCollQuestion *q)
{
  return 2 * (q->ranks_per_node > 1 ? q->ranks_per_node - 1 : 0) + 2;
}

static const char *
why_not (const MdlCollnetSpec *spec, MdlProto proto, const MdlCollQuestion *q)
{
  if (proto != MDL_PROTO_SIMPLE)
    return "simple protocol only";
  if (q->n_nodes < 2)
    return "collnet needs ranks on several nodes";
  if (spec->ranks.set && (double)q->ranks_per_node > spec->ranks.v)
    return "collnet does not serve so many ranks a node (at most 8 in NCCL)";
  if (q->inter != MDL_HOP_NET && q->inter != MDL_HOP_NET_HOST)
    return "collnet needs RDMA adapters between the nodes";
  return NULL;
}

static const char *
why_not_direct (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  if (q->ranks_per_node > 1 && (q->intra != MDL_HOP_NVLINK || !q->switched))
    return "collnet_direct needs GPUs behind an NVSwitch (collnet_chain does not)";
  return why_not (&library->collnet_direct, proto, q);
}

static const char *
why_not_chain (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  return why_not (&library->collnet_chain, proto, q);
}

/* Up to the switches and back. */
static void
add_net (const MdlLibrary *library, const MdlCollnetSpec *spec, const MdlCollQuestion *q, double channels, MdlCollCost *cost)
{
  if (q->ranks_per_node > 1) {
    double longer_s = mdl_longer_s (&library->tree.hop[q->inter], q->inter_latency_s);
    mdl_cost_term (q, cost, "network latency", spec->net.v + longer_s, &spec->net,
                   "%.3g us up to the switches and back, %.3g us for a longer wire", spec->net.v * 1e6, longer_s * 1e6);
    return;
  }
  MdlStepTime inter = mdl_network_step_time (library, library->tree.hop, MDL_PROTO_SIMPLE, q, channels, cost);
  mdl_cost_term (q, cost, "network latency", inter.latency_s, &inter.step->latency, "%.3g us, one hop as the tree's",
                 inter.latency_s * 1e6);
}

static void
direct_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)proto; /* Simple alone */
  const MdlCollnetSpec *spec = &library->collnet_direct;
  const BaseNum *efficiency = is_half (q)                   ? &spec->efficiency_gather
                              : q->compute_capability >= 90 ? &spec->efficiency_from_90
                                                            : &spec->efficiency;
  double ways = is_half (q) ? 1.0 : 2.0;
  double channels = mdl_channels_most (library, q), heads = (double)MAX (q->ranks_per_node, 1), others = heads - 1.0;

  cost->channels = (unsigned)channels;
  cost->wire = efficiency->set ? 1.0 / efficiency->v : 1.0;
  mdl_cost_use (cost, efficiency);
  mdl_cost_begin (q, cost, &spec->start);
  if (others > 0.0) {
    double hop_s = spec->hop.v + mdl_longer_s (&library->tree.hop[q->intra], q->intra_latency_s);
    mdl_cost_term (q, cost, "hop latency", ways * (hop_s + others * spec->peer.v), &spec->hop,
                   "to the heads%s: %.0f x (%.3g us + %.4g peers x %.3g us)", is_half (q) ? " or from them" : " and back", ways,
                   hop_s * 1e6, others, spec->peer.v * 1e6);
    mdl_cost_use (cost, &spec->peer);
  }
  add_net (library, spec, q, channels, cost);

  double piece_B = mdl_cut_piece (&spec->cuts, q->size_B / (channels * heads), spec->piece.v, 1.0);
  /* a rank alone neither scatters nor gathers */
  double stages = fmax (spec->stages.v * ways / (others > 0.0 ? 2.0 : 4.0), 1.0);
  double round_s = mdl_time_s (piece_B * channels * heads, mdl_cost_rate (q, cost));
  mdl_cost_term (q, cost, "pipeline fill", (stages - 1.0) * round_s, &spec->stages, "%.3g rounds of %.0f B per head and channel",
                 stages - 1.0, piece_B);
  cost->piece_B = piece_B * channels * heads;
}

static void
chain_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlCollnetSpec *spec = &library->collnet_chain;
  const MdlProtocol *format = &library->protocols.at[proto];
  double p = (double)MAX (q->ranks_per_node, 1), hops = 2.0 * (p - 1.0);
  double channels = mdl_channels_most (library, q);
  if (spec->channel.set)
    channels = CLAMP (q->size_B / spec->channel.v, 1.0, channels);
  const MdlStep *step = &library->tree.hop[q->intra].at[proto];
  const BaseNum *stream = &(p > 2.0 ? &library->tree.stream : &library->tree.end_stream)->at[proto];

  cost->channels = (unsigned)channels;
  cost->wire = format->wire.v;
  if (hops > 0.0) {
    mdl_cost_bound (cost, channels * stream->v, stream);
    mdl_cost_use (cost, stream);
    if (mdl_cost_bound (cost, channels * step->rate.v, &step->rate))
      mdl_cost_use (cost, &step->rate);
  }
  mdl_cost_begin (q, cost, &spec->start);
  double hop_s = spec->hop.v + mdl_longer_s (&library->tree.hop[q->intra], q->intra_latency_s);
  mdl_cost_term (q, cost, "hop latency", hops * hop_s, &spec->hop, "%.4g hops x %.3g us", hops, hop_s * 1e6);
  add_net (library, spec, q, channels, cost);

  /* The first piece's way, less what the size term counts of it. */
  double part_B = q->size_B / channels, piece_B = mdl_cut_piece (&spec->cuts, part_B, spec->piece.v, p);
  double hop_Bps = fmin (step->rate.set ? step->rate.v : HUGE_VAL, q->intra_rate_Bps / (cost->wire * channels));
  double fill_s = hops * format->forward_after.v * mdl_time_s (piece_B, hop_Bps);
  fill_s += mdl_time_s (piece_B * channels, q->inter_rate_Bps * fmax ((double)q->n_nics, 1.0));
  fill_s -= mdl_time_s (piece_B * channels, mdl_cost_rate (q, cost));
  mdl_cost_term (q, cost, "pipeline fill", fill_s, &format->forward_after, "%.4g hops of %.0f B per channel", hops, piece_B);
  cost->piece_B = piece_B * channels;
}

static void
add_plain (const MdlCollQuestion *q, MdlCollCost *cost, double hops)
{
  cost->bound_Bps = mdl_plain_bound_Bps (q, 1.0);
  mdl_cost_term (q, cost, "hop latency", hops * q->intra_latency_s + q->inter_latency_s, NULL,
                 "in the node: %.4g x %.4g us; to the switches and back: %.4g us", hops, q->intra_latency_s * 1e6,
                 q->inter_latency_s * 1e6);
}

static void
direct_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  add_plain (q, cost, (double)direct_steps (q) - (is_half (q) ? 1.0 : 2.0));
}

static void
chain_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  add_plain (q, cost, (double)chain_steps (q) - 2.0);
}

const MdlColl mdl_coll_collnet_direct = {
  .algo = MDL_ALGO_COLLNET_DIRECT,
  .ops = 1u << MDL_OP_ALL_REDUCE | 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER,
  .n_steps = direct_steps,
  .cost = direct_cost,
  .plain = direct_plain,
  .why_not = why_not_direct,
};

const MdlColl mdl_coll_collnet_chain = {
  .algo = MDL_ALGO_COLLNET_CHAIN,
  .ops = 1u << MDL_OP_ALL_REDUCE,
  .n_steps = chain_steps,
  .cost = chain_cost,
  .plain = chain_plain,
  .why_not = why_not_chain,
};
