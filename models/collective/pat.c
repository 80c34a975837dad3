/* PAT, parallel aggregated trees: all-gather and reduce-scatter in ceil (log2 n) phases, one GPU a node. Every rank is the root
 * of a binomial tree, all trees alike but for a shift of ranks: the parent of offset o is o without its lowest set bit. Gather
 * goes from far to near, one part over the distance of the highest power of two below n, two over half of that, … ; scatter goes
 * the other way. The far hops carry least.
 *
 *     T = start + n per_rank + ceil (log2 n) a + S / min (bound, link rate / wire)
 *     a = hop_share x the tree's hop over the same transport, wire and plugin in full;   bound = ch rate n / (n - 1);   wire = 1 /
 *     efficiency
 * n ranks; the link rate counts the (n-1)/n S that each rank sends. A phase sends what the phases before brought, piece by piece;
 * each moves its own share of the bytes, so that phases add no fill of their own.
 *
 * Textbook form: ceil (log2 n) alpha + (n-1)/n S beta, phases one after the other.
 *
 * Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", arXiv:2506.20252, 2025; NCCL
 * 5067397c src/graph/tuning.cc:ncclTopoTuneModel (log2 N interLat/3.5 + 2.8 us a rank, busbw x .75; with one rank a node the
 * tree's network latency), ncclPatEnable (one GPU a node), src/enqueue.cc:calcCollChunking (pieces).
 * Valid: one rank a node; NCCL's limit on parts sent together (its buffer) is in per_rank, as NCCL's model has it.
 * Check: test_models_sharp (8 ranks, no data: 8 + 8 x 2.8 + 3 x 4 us), test_collective_sharp (messages against the form). */
#include <math.h>

#include "collective/terms-private.h"

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return mdl_log2_ceil (q->n_ranks);
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  (void)library;
  if (proto != MDL_PROTO_SIMPLE)
    return "simple protocol only";
  if (q->n_nodes != q->n_ranks)
    return "pat needs one GPU a node";
  return NULL;
}

static void
pat_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlPatSpec *spec = &library->pat;
  double n = (double)q->n_ranks, phases = (double)n_steps (q), channels = mdl_channels (library, proto, q, FALSE);
  MdlStepTime inter = mdl_network_step_time (library, library->tree.hop, proto, q, channels, cost);

  cost->channels = (unsigned)channels;
  cost->wire = spec->efficiency.set ? 1.0 / spec->efficiency.v : 1.0;
  mdl_cost_use (cost, &spec->efficiency);
  if (mdl_cost_bound (cost, channels * inter.step->rate.v * n / (n - 1.0), &inter.step->rate))
    mdl_cost_use (cost, &inter.step->rate);
  mdl_cost_begin (q, cost, &spec->start);
  mdl_cost_term (q, cost, "parts", n * spec->per_rank.v, &spec->per_rank, "%.4g ranks x %.3g us", n, spec->per_rank.v * 1e6);
  cost->start_s += n * spec->per_rank.v;
  double phase_s = inter.latency_s - (1.0 - spec->hop_share.v) * inter.step->latency.v;
  mdl_cost_term (q, cost, "network hop latency", phases * phase_s, &inter.step->latency,
                 "%.4g phases x %.3g us (%.3g of the tree's hop)", phases, phase_s * 1e6, spec->hop_share.v);
  mdl_cost_use (cost, &spec->hop_share);
  cost->way = (MdlWay){ .hops = { 0.0, phases }, .each_s = { 0.0, phase_s } };

  const BaseList *cuts = q->op == MDL_OP_ALL_GATHER ? &spec->gather_cuts : &spec->scatter_cuts;
  cost->piece_B = channels * mdl_cut_piece (cuts, q->size_B / channels, library->protocols.at[proto].slot.v, 1.0);
}

static void
pat_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double alpha_s = mdl_plain_alpha_s (q), n = (double)q->n_ranks, phases = (double)n_steps (q);
  cost->bound_Bps = mdl_plain_bound_Bps (q, (n - 1.0) / n);
  mdl_cost_term (q, cost, "hop latency", phases * alpha_s, NULL, "%.4g phases x %.4g us", phases, alpha_s * 1e6);
}

const MdlColl mdl_coll_pat = {
  .algo = MDL_ALGO_PAT,
  .ops = 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER,
  .n_steps = n_steps,
  .cost = pat_cost,
  .plain = pat_plain,
  .why_not = why_not,
};
