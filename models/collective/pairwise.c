/* Sends and receives: all-to-all and send/receive to the next rank.
 *
 *     T = start + late ranks + further (w - 1) + rounds x hop + posts + fill + S / min (ch rate, link rate / wire)
 *
 * late ranks = doubling x log2 (ranks of a node / 2): the last of more kernels starts later.
 * A message of m bytes (S/n to each rank in an all-to-all, the own included, which is copied; S in a send/receive) is cut over c
 * channels. One peer may have p of the library's P channels: all over NVLink, 2 over PCIe and host memory, fewer over the network
 * (below). c begins at p, halved while c n > P; falls to m / least part; doubles, up to p, while m/c is above the largest part.
 *     w = ceil (n c / P) messages share the busiest channel, k = min (w, n - 1) of them leave the rank; 8 run at once: rounds
 *     ch rate = c r / k for one message, r: what a channel moves, however many peers share its threads
 * Doubling makes time fall just above a largest part, as in NCCL; below a least part c is taken as a real number, so that time
 * stands still where NCCL adds channels one by one.
 *     fill = share x one chunk of each message and channel at the links' rate (Simple, NVLink in one node): nothing else moves
 *     while the first or the last is under way
 *     posts = peers on other nodes x (posts x post + poll x peers that run at once): one proxy thread serves them one after the
 *     other and looks after all others between two of them
 * Behind a switch of one node channels of a and links of b B/s move (a^-x + b^-x)^(-1/x) together. Between nodes a peer has, in
 * versions 2.21 to 2.28, 2 channels, halved while p n > 4 P: 2 up to 32 ranks with 16 channels, 1 beyond. From 2.29 on: the power
 * of two above NIC rate / 14 GB/s, halved while p ceil (n / 8) > P: at 400 Gb/s and 16 channels 4 to 32 ranks, 2 to 64, 1 beyond.
 * On registered buffers Simple's channel stores straight into the peer's buffer, and is faster by `registered`.
 * Where one rank of a pair only sends and the other only receives, a channel has twice the threads for it.
 *
 * LL or Simple: LL up to 16 KiB x p, from 2.29 on 16 KiB x the channels that Simple would take; not between nodes. It is no
 * question of which is faster: on 8 H200 LL takes 32 us for 512 KiB, Simple 26 us for 1 MiB.
 *
 * Textbook form: alpha + (n-1)/n S beta for all-to-all, alpha + S beta for send/receive.
 *
 * Source: NCCL 2.28.9 and 2.29.2 (tags v2.28.9-1, v2.29.2-1) src/enqueue.cc:scheduleP2pTasksToPlan, addP2pToPlan (channels, parts,
 * LL), src/graph/paths.cc:ncclTopoComputeP2pChannels (p), src/include/channel.h:ncclP2pChannelBaseForRound and
 * src/include/device.h:ncclP2pChannelForPart (peers beside each other, so that w is even), src/device/sendrecv.h (threads),
 * src/proxy.cc:progressOps (one thread). Rates: measured, see docs/models.md.
 * Valid: equal parts for every peer. Check: test_models_pairs, accuracy_models_others (all-to-all on A100, H100, H200, B200). */
#include <math.h>

#include "collective/terms-private.h"

unsigned
mdl_exchange_steps (const MdlCollQuestion *q)
{
  return q->op == MDL_OP_SENDRECV ? 1 : q->n_ranks - 1;
}

/* All channels of the library for sends and receives, rounded up to a power of two. */
static double
p2p_channels (const MdlLibrary *library, const MdlCollQuestion *q)
{
  double p2p = exp2 (ceil (log2 (mdl_channels_most (library, q))));
  return q->max_channels > 0 ? p2p : fmax (fmin (p2p, library->channels.p2p.v), 1.0);
}

/* Channels that serve one peer on another node. From 2.29 on: as many as the adapter is worth, halved while eight peers at a time
 * would take more than there are. */
static double
net_channels (const MdlPairSpec *spec, const MdlCollQuestion *q, double channels)
{
  double a_peer = fmax (spec->net_channels.v, 1.0), n = (double)q->n_ranks;
  if (spec->peer_rate.set && q->nic_Bps > 0.0) {
    a_peer = exp2 (ceil (log2 (fmax (ceil (q->nic_Bps / spec->peer_rate.v), 1.0))));
    double batches = ceil (n / fmax (spec->peers.v, 1.0));
    while (a_peer > 1.0 && a_peer * batches > channels)
      a_peer /= 2.0;
    return a_peer;
  }
  while (spec->net_share.set && a_peer > 1.0 && a_peer * n > spec->net_share.v * channels)
    a_peer /= 2.0;
  return a_peer;
}

/* Channels that one peer may have, the least over all peers: a peer on another node lowers it for those beside it. */
static double
peer_channels (const MdlPairSpec *spec, const MdlCollQuestion *q, double channels)
{
  double most = channels;
  if (q->n_ranks > q->n_nodes && q->intra != MDL_HOP_NVLINK && spec->path_channels.set)
    most = spec->path_channels.v;
  if (q->n_nodes > 1)
    most = fmin (most, net_channels (spec, q, channels));
  return CLAMP (exp2 (ceil (log2 (most))), 1.0, channels);
}

/* How the sends of one rank are spread. */
typedef struct {
  gboolean all;         /* all-to-all */
  double message_B;     /* to each peer */
  double local, remote; /* peers */
  double channels;      /* of the library */
  double a_peer;        /* that one message takes */
  double works, sends;  /* on the busiest channel: messages, and those of them that leave the rank */
  double chunk_B;
} Spread;

static double
chunk_B (const MdlPairSpec *spec, MdlProto proto, const MdlCollQuestion *q)
{
  return proto == MDL_PROTO_LL        ? spec->ll_chunk.v
         : q->n_nodes > 1             ? spec->net_chunk.v
         : q->intra == MDL_HOP_NVLINK ? spec->chunk.v
                                      : spec->path_chunk.v;
}

/* Channels that a message takes; from 2.29 on LL takes as many as Simple would. */
static double
message_channels (const MdlPairSpec *spec, MdlProto proto, const MdlCollQuestion *q, double message_B, double channels)
{
  double most = peer_channels (spec, q, channels), share = most;
  while (share > 1.0 && share * (double)q->n_ranks > channels)
    share /= 2.0;
  double step_B = chunk_B (spec, spec->ll_in_use.v > 0.0 ? MDL_PROTO_SIMPLE : proto, q);
  double least_B = step_B * (q->n_nodes > 1 ? spec->net_min_part.v : spec->min_part.v);
  double most_B = step_B * (q->n_nodes > 1 ? spec->net_max_part.v : spec->max_part.v);
  double used = least_B > 0.0 ? CLAMP (message_B / least_B, 1.0, share) : share;
  while (most_B > 0.0 && message_B > most_B * used && used <= most / 2.0)
    used *= 2.0;
  return used;
}

static Spread
spread_of (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  const MdlPairSpec *spec = &library->pairwise;
  double n = (double)q->n_ranks;
  Spread s = { .all = q->op == MDL_OP_ALLTOALL };
  s.message_B = q->size_B / (s.all ? n : 1.0);
  s.local = s.all ? (double)MIN (MAX (q->ranks_per_node, 1), q->n_ranks) - 1.0 : q->n_nodes > 1 ? 0.0 : 1.0;
  s.remote = s.all ? n - 1.0 - s.local : q->n_nodes > 1 ? 1.0 : 0.0;
  s.channels = p2p_channels (library, q);
  s.chunk_B = chunk_B (spec, proto, q);
  s.a_peer = message_channels (spec, proto, q, s.message_B, s.channels);
  s.works = s.all ? fmax (ceil (n * s.a_peer / s.channels - 1e-9), 1.0) : 1.0;
  s.sends = s.all ? fmin (s.works, n - 1.0) : 1.0;
  return s;
}

/* What the channels move of the question's size in a second, the slower of two kinds of peers throughout. */
static double
channels_rate_Bps (const MdlPairSpec *spec, const Spread *s, const MdlCollQuestion *q, const MdlStep *step)
{
  if (!step->rate.set)
    return HUGE_VAL;
  double rate_Bps = step->rate.v * (q->one_way && spec->one_way.set ? spec->one_way.v : 1.0);
  return s->a_peer * rate_Bps * (s->all ? (double)q->n_ranks : 1.0) / s->sends;
}

/* The channels' rate beside the links': behind a switch of one node neither reaches its own where they come near each other. What
 * is lost counts against the slower of the two. */
static void
bound_by (const MdlPairSpec *spec, const MdlCollQuestion *q, gboolean switched, double rate_Bps, const BaseNum *from,
          MdlCollCost *cost)
{
  cost->bound_Bps = rate_Bps;
  cost->bound_from = from;
  if (rate_Bps < q->link_rate_Bps / cost->wire)
    mdl_cost_use (cost, from);
  if (switched)
    mdl_cost_blend (q, &spec->blend, cost);
}

/* Latency: the kernel, the hop of each batch of works, what the proxy posts; message by message all leave at once, since nothing is
 * forwarded: the last of them has waited for all. */
static void
latencies (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, const Spread *s, MdlStepTime hop, MdlCollCost *cost)
{
  const MdlPairSpec *spec = &library->pairwise;
  mdl_cost_begin (q, cost, &spec->start.at[proto]);
  double doublings = log2 ((double)MAX (MIN (q->ranks_per_node, q->n_ranks), 2)) - 1.0, late_s = doublings * spec->per_doubling.v;
  mdl_cost_term (q, cost, "late ranks", late_s, &spec->per_doubling, "%.3g doublings of two ranks x %.3g us", doublings,
                 spec->per_doubling.v * 1e6);
  double further_s = (s->works - 1.0) * spec->per_peer.v;
  mdl_cost_term (q, cost, "further peers", further_s, &spec->per_peer, "%.4g more on the same channel x %.3g us", s->works - 1.0,
                 spec->per_peer.v * 1e6);
  cost->start_s = cost->start_s + late_s + further_s;
  double rounds = ceil (s->works / fmax (spec->peers.v, 1.0));
  mdl_cost_term (q, cost, "rounds", rounds * hop.latency_s, &hop.step->latency,
                 "%.4g x %.3g us: %.4g peers on a channel, %.3g at once", rounds, hop.latency_s * 1e6, s->works, spec->peers.v);
  double others = fmin (s->remote - 1.0, fmax (spec->peers.v, 1.0) * s->channels);
  double posts_s = s->remote * (spec->posts.v * spec->post.v + spec->poll.v * fmax (others, 0.0));
  mdl_cost_term (q, cost, "posts", posts_s, &spec->post, "%.4g peers one by one: %.3g posts x %.3g us, %.4g polls x %.3g us",
                 s->remote, spec->posts.v, spec->post.v * 1e6, fmax (others, 0.0), spec->poll.v * 1e6);
  if (others > 0.0)
    mdl_cost_use (cost, &spec->poll);
  double messages_s = rounds * hop.latency_s + posts_s;
  cost->hop_software_s[0] = fmax (messages_s - q->intra_latency_s, 0.0);
  cost->hop_software_s[1] = fmax (messages_s - q->inter_latency_s, 0.0);
}

static void
pairwise_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlPairSpec *spec = &library->pairwise;
  Spread s = spread_of (library, proto, q);
  MdlStepTime hop = s.remote > 0.0 ? mdl_network_step_time (library, spec->hop, proto, q, 1.0, cost)
                                   : mdl_step_time (&spec->hop[q->intra], proto, q->intra_latency_s, 1.0);
  if (q->one_way && spec->one_way.set) /* as many more threads hand a slot on */
    hop.latency_s -= hop.step->latency.v * (1.0 - 1.0 / spec->one_way.v);
  cost->channels = (unsigned)fmin (s.all ? s.a_peer * (double)q->n_ranks : s.a_peer, s.channels);
  gboolean switched = q->n_nodes <= 1 && q->intra == MDL_HOP_NVLINK;
  cost->wire = library->protocols.at[proto].wire.v;
  /* Measured behind a switch of one node, where all links are full at once; adapters and PCIe carry no more than the payload. */
  const gboolean straight = switched && proto == MDL_PROTO_SIMPLE && mdl_buffers_registered (q);
  const BaseNum *wire = straight && spec->registered_wire.set ? &spec->registered_wire : &spec->wire;
  if (s.all && switched && wire->set) {
    cost->wire *= wire->v;
    mdl_cost_use (cost, wire);
  }
  double rate_Bps = channels_rate_Bps (spec, &s, q, hop.step) * (straight ? 1.0 + spec->registered.v : 1.0);
  if (mdl_net_registered (library, proto, q, cost)) /* adapters read and write the buffers: no block limits them */
    rate_Bps = HUGE_VAL;
  if (s.local > 0.0 && s.remote > 0.0) {
    const MdlStep *beside = &spec->hop[q->intra].at[proto];
    rate_Bps = fmin (rate_Bps, channels_rate_Bps (spec, &s, q, beside));
  }
  const BaseNum *from = &hop.step->rate;
  if (q->n_nodes <= 1 && q->intra == MDL_HOP_HOST && q->n_ranks > 2 && spec->host_rank.set) {
    double most_Bps = spec->host_rank.v * (s.all ? (double)q->n_ranks / s.local : 1.0);
    from = most_Bps < rate_Bps ? &spec->host_rank : from;
    rate_Bps = fmin (rate_Bps, most_Bps);
  }
  bound_by (spec, q, switched, rate_Bps, from, cost);
  latencies (library, proto, q, &s, hop, cost);
  /* The links carry the first chunk of all channels, or the last, while nothing else is under way; threads that only send or only
   * receive keep up. Not seen through host memory, not known between nodes. */
  double part_B = s.message_B / s.a_peer, once_B = fmin (part_B, s.chunk_B);
  double link_s = mdl_time_s (q->size_B, q->link_rate_Bps / cost->wire);
  double at_once = fmin (s.sends, fmax (spec->peers.v, 1.0)) / s.sends;
  gboolean fills = switched && proto == MDL_PROTO_SIMPLE && part_B > 0.0 && !q->one_way;
  double fill_s = fills ? spec->fill.v * link_s * at_once * once_B / part_B : 0.0;
  mdl_cost_term (q, cost, "pipeline fill", fill_s, &spec->fill, "%.3g x a chunk of %.0f B of each peer and channel", spec->fill.v,
                 once_B);
  cost->start_s += fill_s;
}

void
mdl_exchange_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double n = (double)q->n_ranks, alpha_s = mdl_plain_alpha_s (q);
  cost->bound_Bps = mdl_plain_bound_Bps (q, q->op == MDL_OP_ALLTOALL ? (n - 1.0) / n : 1.0);
  mdl_cost_term (q, cost, "hop latency", alpha_s, NULL, "all at once: %.4g us", alpha_s * 1e6);
}

/* NCCL_PROTO moves nothing here: the size of a message decides. */
static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  const MdlPairSpec *spec = &library->pairwise;
  if (proto == MDL_PROTO_LL128)
    return "sends and receives run by ll or simple";
  if (q->n_nodes > 1)
    return proto == MDL_PROTO_LL ? "sends and receives over the network run by simple" : NULL;
  double part_B = q->size_B / (q->op == MDL_OP_ALLTOALL ? fmax ((double)q->n_ranks, 1.0) : 1.0);
  double all = p2p_channels (library, q);
  double counted =
      spec->ll_in_use.v > 0.0 ? ceil (message_channels (spec, MDL_PROTO_SIMPLE, q, part_B, all)) : peer_channels (spec, q, all);
  gboolean is_short = library->protocols.at[MDL_PROTO_LL].offered.v && part_B <= spec->ll_max_size.v * counted;
  if (proto == MDL_PROTO_LL && !is_short)
    return "a message of this size to each peer goes by simple";
  return proto == MDL_PROTO_SIMPLE && is_short ? "a message of this size to each peer goes by ll" : NULL;
}

const MdlColl mdl_coll_pairwise = {
  .algo = MDL_ALGO_PAIRWISE,
  .ops = 1u << MDL_OP_ALLTOALL | 1u << MDL_OP_SENDRECV,
  .n_steps = mdl_exchange_steps,
  .cost = pairwise_cost,
  .plain = mdl_exchange_plain,
  .why_not = why_not,
};
