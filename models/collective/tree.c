/* Tree all-reduce: reduce up, broadcast down, in one pipeline. Inside a node NCCL's tree is a chain of the p ranks; over the N
 * nodes stands a double binary tree, each half of the channels on one of the two.
 *
 *     T = start + 2 (p-1) (a + h/r) + 2 log2 N (a_net + h/r_net) + (S/ch - f) ch/B + pieces x per_piece
 *     B = min (ch x stream, ch x rate of the slowest hop, link rate / (wire inner)), less what these lose to each other (blend)
 * a s, latency of a hop; r B/s, what a block moves to the next or its share of the route (of adapters that of half the channels:
 * one way of them serves one of the two trees at a time); h B, the part of a piece c that must have arrived before a rank forwards
 * it (`forward_after`: nearly all of Simple's slots, little of LL's and LL128's lines, of LL at most `forward_after_max`); f B, the
 * part of a channel's data that the hops' terms already hold: the first piece; by LL nothing, because only its head waits, and the
 * lines follow at the pace of the slowest block; stream B/s, what a block
 * sustains when its threads are split between reduction and broadcast.
 * blend and inner (three and more ranks): on one node.
 * So a tree whose part is one piece (Simple to 512 KiB a channel) passes it on hop by hop; beyond, only B counts. Buffers that
 * are registered (launch `registered`) have smaller pieces.
 *
 * Textbook form: two binary trees of height h = ceil (log2 n) over the ranks, each with half of the data, inner ranks of one
 * leaves of the other; reduction and broadcast in one pipeline of k pieces c = S/(2k) a tree. A rank sends at most four messages
 * a piece (one up and two down in one tree, one up in the other), which hide two thirds of each other's latency. The first
 * piece takes 2h hops, on which two children share a link, each further one 4 c beta + alpha/3,
 *     T = 2h (alpha + 2 c beta) + (k-1) (4 c beta + alpha/3),  k = sqrt ((2h - 2) S beta / alpha)
 *
 * Source: Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing
 * 35(12), 2009; NCCL 5067397c src/graph/trees.cc:ncclGetDtree, src/graph/connect.cc (chain in a node),
 * src/enqueue.cc:calcCollChunking (LL128's piece), src/device/all_reduce.h:runTreeSplit. Rates: measured, see docs/models.md.
 * Valid: equal nodes. Check: test_models_coll (7 ranks, h = 3: 6 us with alpha 1 us and no data), test_collective_coll (messages),
 * accuracy_models_h200. */
#include <math.h>

#include "collective/terms-private.h"

/* Of a piece through one rank of a double tree: one up and two down where it is inner, one up where it is a leaf. */
static const double MESSAGES = 4.0;
/* Of a message's latency that the other three do not hide; from runs message by message (test_collective_coll). */
static const double SHOWN = 1.0 / 3.0;
/* Without latency more pieces are always better: with so many, a fill of a hop adds less than a thousandth. */
static const double NO_LATENCY_PIECES = 1024.0;

/* Least ranks of a chain in which one both reduces and broadcasts over the same links. */
#define INNER_FROM 3u

static unsigned
hops_intra (const MdlCollQuestion *q)
{
  return q->ranks_per_node > 1 ? q->ranks_per_node - 1 : 0;
}

static unsigned
hops_inter (const MdlCollQuestion *q)
{
  return mdl_log2_ceil (q->n_nodes);
}

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return 2 * (hops_intra (q) + hops_inter (q));
}

/* What a piece's way over a hop adds to the first piece: the part of it that must have arrived before it is passed on, at the
 * route's share of one channel or at what the block moves. */
static double
hop_fill_s (const MdlStep *step, const MdlProtocol *format, double piece_B, double route_rate_Bps, double channels)
{
  double rate_Bps = fmin (step->rate.set ? step->rate.v : HUGE_VAL, route_rate_Bps / (format->wire.v * channels));
  double on_B = format->forward_after_max.set ? fmin (piece_B, format->forward_after_max.v) : piece_B;
  return format->forward_after.v * mdl_time_s (on_B, rate_Bps);
}

/* LL128's piece: the slot, halved while a channel has fewer pieces than a rule wants and the piece is above its least. It ends
 * between the size that gives just as many and half of it: in the middle, so that time does not jump where NCCL halves once
 * less. */
static double
halved_piece (const BaseList *cuts, double part_B, double slot_B, double fewer_scale)
{
  double piece_B = slot_B;
  for (unsigned i = 0; i < cuts->n; i++) {
    const MdlCut *cut = BASE_LIST_AT (*cuts, MdlCut, i);
    double least_B = slot_B * exp2 (-fmax (ceil (log2 (slot_B / cut->above.v)), 0.0));
    piece_B = fmin (piece_B, fmax (part_B / fmax (cut->fewer.v * fewer_scale, 1.0) * G_SQRT2 / 2.0, least_B));
  }
  return fmin (piece_B, part_B);
}

static double
piece_of (const MdlTreeSpec *spec, const MdlProtocol *format, MdlProto proto, const MdlCollQuestion *q, double part_B)
{
  if (proto == MDL_PROTO_SIMPLE && mdl_buffers_registered (q) && spec->registered_piece.set)
    return fmin (format->slot.v * spec->registered_piece.v, part_B);
  if (proto != MDL_PROTO_LL128)
    return fmin (format->slot.v, part_B);
  double p = fmax ((double)q->ranks_per_node, 1.0);
  double depth = 1.0 + log2 (fmax ((double)q->n_nodes, 1.0)) + spec->ll128_rank_weight.v * p;
  return halved_piece (&spec->ll128_cuts, part_B, format->slot.v, depth / p);
}

static void
cap_by_hop (MdlCollCost *cost, double channels, const MdlStep *step)
{
  if (step != NULL && mdl_cost_bound (cost, channels * step->rate.v, &step->rate))
    mdl_cost_use (cost, &step->rate);
}

static void
tree_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlTreeSpec *spec = &library->tree;
  const MdlProtocol *format = &library->protocols.at[proto];
  double channels = mdl_channels (library, proto, q, FALSE);
  MdlStepTime intra = mdl_step_time (&spec->hop[q->intra], proto, q->intra_latency_s, channels);
  MdlStepTime inter = mdl_network_step_time (library, spec->hop, proto, q, channels, cost);
  double part_B = q->size_B / channels, piece_B = piece_of (spec, format, proto, q, part_B);
  mdl_network_lines (library, proto, q, channels, piece_B, &inter, cost);
  const BaseNum *stream = &(q->n_ranks > 2 ? &spec->stream : &spec->end_stream)->at[proto];

  cost->channels = (unsigned)channels;
  cost->wire = format->wire.v;
  mdl_cost_bound (cost, channels * stream->v, stream);
  mdl_cost_use (cost, stream);
  /* Each hop carries all of a channel's part one way: no faster than one channel of it moves. */
  cap_by_hop (cost, channels, hops_intra (q) > 0.0 ? intra.step : NULL);
  cap_by_hop (cost, channels, hops_inter (q) > 0.0 ? inter.step : NULL);
  if (q->ranks_per_node >= INNER_FROM && spec->inner.at[proto].set && q->n_nodes <= 1) {
    cost->wire *= spec->inner.at[proto].v;
    mdl_cost_use (cost, &spec->inner.at[proto]);
  }
  if (q->switched && q->n_nodes <= 1)
    mdl_cost_blend (q, &spec->blend, cost);
  mdl_cost_start (q, cost, &spec->start, &spec->per_channel, proto, channels);

  double up_down_intra = 2.0 * hops_intra (q), up_down_inter = 2.0 * hops_inter (q);
  mdl_cost_term (q, cost, "hop latency", up_down_intra * intra.latency_s, &intra.step->latency, "%.4g hops x %.3g us",
                 up_down_intra, intra.latency_s * 1e6);
  mdl_cost_term (q, cost, "network hop latency", up_down_inter * inter.latency_s, &inter.step->latency, "%.4g hops x %.3g us",
                 up_down_inter, inter.latency_s * 1e6);
  /* The first piece's way, less what the size term counts of it. One way of the adapters serves one of the two trees at a time. */
  double nics_Bps = q->inter_rate_Bps * fmax ((double)q->n_nics, 1.0);
  double fill_s[2] = { hop_fill_s (intra.step, format, piece_B, q->intra_rate_Bps, channels),
                       hop_fill_s (inter.step, format, piece_B, nics_Bps, channels / 2.0) };
  gboolean flows = format->forward_after_max.set;
  double first_s = flows ? 0.0 : mdl_time_s (piece_B * channels, mdl_cost_rate (q, cost));
  double way_s = (up_down_intra > 0.0 ? up_down_intra * fill_s[0] : 0.0) + (up_down_inter > 0.0 ? up_down_inter * fill_s[1] : 0.0);
  mdl_cost_term (q, cost, "pipeline fill", way_s - first_s, &format->forward_after, "%.4g hops of %.0f B per channel",
                 up_down_intra + up_down_inter, piece_B);
  double pieces = piece_B > 0.0 ? part_B / piece_B : 1.0, further_s = (pieces - 1.0) * spec->per_piece.at[proto].v;
  mdl_cost_term (q, cost, "pieces", further_s, &spec->per_piece.at[proto], "%.4g more pieces per channel x %.3g us", pieces - 1.0,
                 spec->per_piece.at[proto].v * 1e6);

  /* Message by message: those behind the first, which the fill has, follow at the pace of the rest. */
  cost->piece_B = format->forward_after.v * piece_B * channels;
  double software_s[2] = { intra.latency_s, inter.latency_s }, hops[2] = { up_down_intra, up_down_inter };
  for (unsigned i = 0; i < 2; i++) {
    cost->way.hops[i] = hops[i];
    cost->way.each_s[i] = software_s[i] + fill_s[i];
    cost->way.fast_Bps[i] = fill_s[i] > 0.0 ? cost->piece_B / fill_s[i] : 0.0;
  }
  cost->way.further_s = further_s;
}

static void
tree_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double alpha_s = mdl_plain_alpha_s (q), hops = 2.0 * (double)mdl_log2_ceil (q->n_ranks);
  cost->bound_Bps = mdl_plain_bound_Bps (q, 2.0);
  double half_s = mdl_time_s (q->size_B, mdl_cost_rate (q, cost)) / 2.0;
  double fill = fmax (2.0 * hops - MESSAGES, 0.0), pieces = 1.0;
  if (fill > 0.0 && half_s > 0.0)
    pieces = alpha_s > 0.0 ? fmax (sqrt (fill * half_s / (2.0 * alpha_s)), 1.0) : NO_LATENCY_PIECES;
  double piece_s = half_s / (2.0 * pieces);
  mdl_cost_term (q, cost, "hop latency", hops * alpha_s, NULL, "%.4g hops x %.4g us", hops, alpha_s * 1e6);
  mdl_cost_term (q, cost, "pieces", (pieces - 1.0) * SHOWN * alpha_s, NULL, "%.4g more pieces x %.4g us", pieces - 1.0,
                 SHOWN * alpha_s * 1e6);
  mdl_cost_term (q, cost, "pipeline fill", fill * piece_s, NULL, "(2 x %.4g hops - %.4g) x %.4g us", hops, MESSAGES, piece_s * 1e6);
  cost->piece_B = q->size_B / pieces;
}

const MdlColl mdl_coll_tree = {
  .algo = MDL_ALGO_TREE,
  .ops = 1u << MDL_OP_ALL_REDUCE,
  .n_steps = n_steps,
  .cost = tree_cost,
  .plain = tree_plain,
};
