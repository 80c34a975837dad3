/* Sends and receives: all-to-all and send/receive to the next rank.
 *
 * Peers are served `peers` at a time on a channel, in rounds; inside a node first by the schedule, then between nodes.
 *     T = start + own + further peers + rounds x latency + network rounds x network latency + posts + fill
 *         + S / min (ch rate, link rate / wire)
 * further peers: what a peer of a round adds after the first.
 * posts: one proxy thread of a process posts a message to each peer on another node, one after the other.
 * S: what one rank sends, its own part of an all-to-all included (the channels copy that part too, at the cost of `own`; links do
 * not see it).
 * fill = share of the time of the first piece of each peer and channel (all-to-all; one stream to one peer has none).
 *
 * ch: all channels of the library between peers of one node. A peer on another node is served by c of them. Versions 2.21 to 2.28:
 * c = 2, halved while c n > 4 ch: 2 channels up to 32 ranks with 16 channels, 1 beyond. From 2.29 on: c the power of two above NIC
 * rate / 14 GB/s, halved while c ceil (n / 8) > ch: at 400 Gb/s and 16 channels 4 to 32 ranks, 2 to 64, 1 beyond.
 *
 * LL or Simple: LL up to 16 KiB for each channel that a peer may have: of versions to 2.28 twice all channels over the peers (an
 * all-to-all's own part counts as one; a rank that sends to one and receives from another has two), from 2.29 on one.
 *
 * Send and receive over NVLink: T = start + second peer + latency + S / min (ch alone, link rate / wire), ch: the largest power
 * of two with ch n <= all channels, and S / part where that is more. Where one rank of a pair only sends and the other only
 * receives, a channel's threads are not divided and the links bind. NCCL goes by LL where Simple would be faster already, so that
 * time falls where it changes.
 *
 * Textbook form: alpha + (n-1)/n S beta for all-to-all, alpha + S beta for send/receive.
 *
 * Source: NCCL 5067397c src/init.cc:ncclP2pSchedule (rounds), src/graph/paths.cc:ncclTopoComputeP2pChannels (channels a
 * peer of another node), src/enqueue.cc:addP2pToPlan (channels a peer, LL up to 16 KiB a channel),
 * src/device/sendrecv.h (up to 8 peers at once on a channel). Rates: measured, see docs/models.md.
 * Valid: equal parts for every peer. Check: test_models_coll, accuracy_models_others (all-to-all on A100, H100, H200, B200). */
#include <math.h>

#include "cost-private.h"

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return q->op == MDL_OP_SENDRECV ? 1 : q->n_ranks - 1;
}

static double
p2p_channels (const MdlLibrary *library, const MdlCollQuestion *q)
{
  double most = mdl_channels_most (library, q);
  /* NCCL rounds its channels up to a power of two for sends and receives. */
  double p2p = exp2 (ceil (log2 (most)));
  return q->max_channels > 0 ? most : fmax (fmin (p2p, library->channels.p2p.v), 1.0);
}

/* Channels that serve one peer on another node. From 2.29 on: as many as the adapter is worth, halved while eight peers at a time
 * would take more than there are. */
static double
net_channels (const MdlPairSpec *spec, const MdlCollQuestion *q, double channels)
{
  double a_peer = fmax (spec->net_channels.v, 1.0);
  if (spec->peer_rate.set && q->nic_Bps > 0.0) {
    a_peer = exp2 (ceil (log2 (fmax (ceil (q->nic_Bps / spec->peer_rate.v), 1.0))));
    double batches = ceil ((double)q->n_ranks / fmax (spec->peers.v, 1.0));
    while (a_peer > 1.0 && a_peer * batches > channels)
      a_peer /= 2.0;
    return fmin (a_peer, channels);
  }
  while (spec->net_share.set && a_peer > 1.0 && a_peer * (double)q->n_ranks > spec->net_share.v * channels)
    a_peer /= 2.0;
  return fmin (fmax (a_peer, 1.0), channels);
}

static void
bound_by (MdlCollCost *cost, const MdlCollQuestion *q, double rate_Bps, const BaseNum *from)
{
  if (!from->set || rate_Bps >= cost->bound_Bps)
    return;
  cost->bound_Bps = rate_Bps;
  if (rate_Bps < q->link_rate_Bps / cost->wire)
    mdl_cost_use (cost, from);
}

/* Each rank sends and receives over NVLink. Channels: the same share for each rank's peers, more where a channel's part passes
 * `part`, so that the time stands still until all channels are in use. */
static void
stream_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlPairSpec *spec = &library->pairwise;
  double channels = p2p_channels (library, q), share = channels;
  while (share > 1.0 && share * (double)q->n_ranks > channels)
    share /= 2.0;
  const MdlProtocol *format = &library->protocols.at[proto];
  MdlStepTime hop = mdl_step_time (&spec->hop[q->intra], proto, q->intra_latency_s, 1.0);
  double used = CLAMP (q->size_B / spec->part.v, share, channels);
  cost->channels = (unsigned)used;
  cost->wire = format->wire.v;
  cost->bound_Bps = HUGE_VAL;
  bound_by (cost, q, used * spec->alone.at[proto].v, &spec->alone.at[proto]);
  mdl_cost_term (q, cost, "start", spec->alone_start.at[proto].v, &spec->alone_start.at[proto], "%.3g us",
                 spec->alone_start.at[proto].v * 1e6);
  double second_s = q->n_ranks > 2 ? spec->second_peer.v : 0.0;
  mdl_cost_term (q, cost, "second peer", second_s, &spec->second_peer, "receives from another than it sends to: %.3g us",
                 second_s * 1e6);
  cost->start_s = spec->alone_start.at[proto].v + second_s;
  mdl_cost_term (q, cost, "hop latency", hop.latency_s, &hop.step->latency, "1 hop x %.3g us", hop.latency_s * 1e6);
  cost->hop_software_s[0] = fmax (hop.latency_s - q->intra_latency_s, 0.0);
}

static void
pairwise_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlPairSpec *spec = &library->pairwise;
  const MdlProtocol *format = &library->protocols.at[proto];
  gboolean all = q->op == MDL_OP_ALLTOALL;
  if (!all && (!q->one_way || proto == MDL_PROTO_LL) && q->n_nodes <= 1 && q->intra == MDL_HOP_NVLINK &&
      spec->alone.at[proto].set && spec->part.set) {
    stream_cost (library, proto, q, cost);
    return;
  }
  double local = all ? (double)MIN (MAX (q->ranks_per_node, 1), q->n_ranks) - 1.0 : q->n_nodes > 1 ? 0.0 : 1.0;
  double remote = all ? (double)q->n_ranks - 1.0 - local : q->n_nodes > 1 ? 1.0 : 0.0;
  double at_once = fmax (spec->peers.v, 1.0), channels = p2p_channels (library, q);
  MdlStepTime intra = mdl_step_time (&spec->hop[q->intra], proto, q->intra_latency_s, 1.0);
  MdlStepTime inter = mdl_network_step_time (library, spec->hop, proto, q, 1.0, cost);

  cost->channels = (unsigned)channels;
  /* Measured behind a switch of one node, where all links are full at once; adapters and PCIe carry no more than the payload. */
  gboolean crowded = all && proto == MDL_PROTO_SIMPLE && q->n_nodes <= 1 && q->intra == MDL_HOP_NVLINK && spec->wire.set;
  cost->wire = crowded ? spec->wire.v : format->wire.v;
  cost->bound_Bps = HUGE_VAL;
  if (local > 0.0) { /* over NVLink the copy of a rank's own part is in the measured rate */
    double crosses = all && q->intra != MDL_HOP_NVLINK ? local / (local + 1.0) : 1.0;
    bound_by (cost, q, channels * intra.step->rate.v / crosses, &intra.step->rate);
  }
  if (remote > 0.0) {
    double share = all ? remote / (double)q->n_ranks : 1.0;
    bound_by (cost, q, fmin (channels, remote * net_channels (spec, q, channels)) * inter.step->rate.v / share, &inter.step->rate);
  }
  mdl_cost_term (q, cost, "start", spec->start.at[proto].v, &spec->start.at[proto], "%.3g us", spec->start.at[proto].v * 1e6);
  cost->start_s = spec->start.at[proto].v;
  if (all) {
    mdl_cost_term (q, cost, "own part", spec->own.at[proto].v, &spec->own.at[proto], "copy within the rank: %.3g us",
                   spec->own.at[proto].v * 1e6);
    cost->start_s += spec->own.at[proto].v;
  }
  double further = all && q->intra == MDL_HOP_NVLINK ? fmax (fmin (local, at_once) - 1.0, 0.0) : 0.0;
  mdl_cost_term (q, cost, "further peers", further * spec->per_peer.v, &spec->per_peer, "%.4g x %.3g us", further,
                 spec->per_peer.v * 1e6);
  cost->start_s += further * spec->per_peer.v;
  double rounds = ceil (local / at_once), network = ceil (remote / at_once);
  mdl_cost_term (q, cost, "rounds", rounds * intra.latency_s, &intra.step->latency, "%.4g rounds of %.3g peers x %.3g us", rounds,
                 at_once, intra.latency_s * 1e6);
  double posts_s = all ? remote * spec->post.v : 0.0;
  mdl_cost_term (q, cost, "posts", posts_s, &spec->post, "%.4g peers on other nodes x %.3g us of one CPU thread", remote,
                 spec->post.v * 1e6);
  mdl_cost_term (q, cost, "network rounds", network * inter.latency_s, &inter.step->latency, "%.4g rounds of %.3g peers x %.3g us",
                 network, at_once, inter.latency_s * 1e6);
  /* Message by message all leave at once, since nothing is forwarded: the last of them has waited for all rounds. */
  double rounds_s = rounds * intra.latency_s + network * inter.latency_s + posts_s;
  cost->hop_software_s[0] = fmax (rounds_s - q->intra_latency_s, 0.0);
  cost->hop_software_s[1] = fmax (rounds_s - q->inter_latency_s, 0.0);
  if (!all)
    return;
  double n = (double)q->n_ranks, a_peer = CLAMP (channels / n, 1.0, fmax (spec->channels_a_peer.v, 1.0));
  double part_B = q->size_B / (n * a_peer), piece_B = fmin (part_B, spec->piece.v);
  double size_s = mdl_time_s (q->size_B, mdl_cost_rate (q, cost));
  double fill_s = part_B > 0.0 ? spec->fill.v * size_s * piece_B / part_B : 0.0;
  mdl_cost_term (q, cost, "pipeline fill", fill_s, &spec->fill, "%.3g x the first %.0f B a peer and channel", spec->fill.v,
                 piece_B);
  cost->start_s += fill_s;
}

static void
pairwise_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double n = (double)q->n_ranks, alpha_s = mdl_plain_alpha_s (q);
  cost->bound_Bps = mdl_plain_bound_Bps (q, q->op == MDL_OP_ALLTOALL ? (n - 1.0) / n : 1.0);
  mdl_cost_term (q, cost, "hop latency", alpha_s, NULL, "all at once: %.4g us", alpha_s * 1e6);
}

/* The longest message to a peer that still goes by LL: so much for each of the channels that it may have. */
static double
longest_ll_B (const MdlLibrary *library, const MdlCollQuestion *q)
{
  const MdlPairSpec *spec = &library->pairwise;
  double all = p2p_channels (library, q), peers = q->op == MDL_OP_ALLTOALL ? fmax ((double)q->n_ranks, 1.0) : 2.0;
  double channels = spec->ll_share.v > 0.0 ? CLAMP (spec->ll_share.v * all / peers, 1.0, all) : 1.0;
  return spec->ll_up_to.v * channels;
}

/* NCCL_PROTO moves nothing here: the size of a message decides. */
static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  if (proto == MDL_PROTO_LL128)
    return "sends and receives run by ll or simple";
  if (q->n_nodes > 1)
    return proto == MDL_PROTO_LL ? "sends and receives over the network run by simple" : NULL;
  double part_B = q->size_B / (q->op == MDL_OP_ALLTOALL ? fmax ((double)q->n_ranks, 1.0) : 1.0);
  gboolean is_short = library->protocols.at[MDL_PROTO_LL].offered.v && part_B <= longest_ll_B (library, q);
  if (proto == MDL_PROTO_LL && !is_short)
    return "a message of this size to each peer goes by simple";
  return proto == MDL_PROTO_SIMPLE && is_short ? "a message of this size to each peer goes by ll" : NULL;
}

const MdlColl mdl_coll_pairwise = {
  .algo = MDL_ALGO_PAIRWISE,
  .summary = "sends and receives between pairs, eight peers at once on a channel",
  .source = "NCCL src/init.cc:ncclP2pSchedule, src/enqueue.cc:addP2pToPlan",
  .ops = 1u << MDL_OP_ALLTOALL | 1u << MDL_OP_SENDRECV,
  .n_steps = n_steps,
  .cost = pairwise_cost,
  .plain = pairwise_plain,
  .why_not = why_not,
};
