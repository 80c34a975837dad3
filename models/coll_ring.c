/* Ring: all-reduce, all-gather, reduce-scatter; broadcast and reduce as a chain along the ring.
 *
 * All-reduce, all-gather, reduce-scatter. n ranks, ch channels, S bytes; a step moves c = S/(n ch) bytes a channel, in loops of
 * at most
 * `ring_chunk`; 2(n-1) steps for all-reduce, n-1 for the others; one operation more than steps on each rank.
 *     T = start + loops sum over steps of max (floor, latency - hidden) + last + S / min (bound, link rate / wire)
 *     hidden = overlap x time of the data that runs beneath the latency: all of c where data flows line by line (LL), what is
 *     behind
 *              the first slice where slices follow each other (Simple, two slices of a chunk)
 * A rank's first and last operation only send or only receive: together they count `ends` operations, and ends - 1 of them move no
 * byte over a link. Where the blocks are the limit, bound = ch rate n / (steps - 1 + ends) counts all operations and last = 0;
 * where
 * the links are, last = (ends - 1) chunk / rate sqrt (loops): in the first loop all channels pause together, later they drift
 * apart and
 * fill each other's pauses. The longer of the two holds.
 * Between nodes 2N or N of the steps have the network's latency: a chunk passes each link of the ring in turn, and ranks wait for
 * data, not for each other; the slowest chunk begins just before a crossing. (NCCL's tuner reckons 2(N-1), AWS's 2N:
 * aws-ofi-nccl 16fe0e1 src/tuner/nccl_ofi_model.c.)
 *
 * Broadcast, reduce: the root (or the far end) does not wait for the others: operations in a row, as benchmarks time them,
 * follow each other down the chain, and each costs start, size, and one hop of a rank in the middle. A single one: pieces of
 * one slot through n-1 hops,
 *     T = start + sum of hops (latency + c/r) + (S/ch - c) ch / min (bound, link rate / wire)
 *
 * Textbook form: 2(n-1) (alpha + (S/n) beta), lockstep: alpha of the longest hop.
 *
 * Symbols: latency, floor, start s; rate, bound, link rate B/s; wire bytes on the link per byte of payload.
 * Source: steps: Patarasuk and Yuan, JPDC 69(2), 2009; NCCL 5067397c src/graph/tuning.cc:ncclTopoTuneModel (nsteps, interSteps,
 * plateau
 * of ring Simple between nodes), src/enqueue.cc:calcCollChunking, src/device/all_reduce.h:runRing (2n-1 operations),
 * src/device/prims_simple.h:genericOp (slices); overlap and rates: measured, see docs/models.md.
 * Valid: equal ranks; within calibrated sizes as its error band says. Saw-tooth of whole channels and grains below 16 B a rank
 * left out.
 * Check: test_models_coll (plain: 4 ranks, 1 us, 1 GB/s, 4 GB: 6.000006 s); law_models_coll; accuracy_models_h200. */
#include <math.h>

#include "cost-private.h"

static gboolean
is_chain (MdlOp op)
{
  return op == MDL_OP_BROADCAST || op == MDL_OP_REDUCE;
}

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return (q->n_ranks - 1) * (q->op == MDL_OP_ALL_REDUCE ? 2 : 1);
}

/* Steps that cross from one island to the next, on the way of the slowest chunk. Two rounds of the ring less two steps (one round
 * less one) lead a chunk over every crossing of the round, unless what is left out are crossings: with one rank a node all are. */
static unsigned
n_inter (const MdlCollQuestion *q)
{
  if (q->n_nodes <= 1)
    return 0;
  unsigned rounds = q->op == MDL_OP_ALL_REDUCE ? 2 : 1;
  unsigned left_out = rounds + 1 > q->ranks_per_node ? rounds + 1 - MAX (q->ranks_per_node, 1) : 0;
  return MIN (rounds * q->n_nodes - left_out, n_steps (q));
}

/* The slowest block's rate over the hops in use; HUGE_VAL where the library gives none. */
static double
channel_rate_Bps (const MdlCollQuestion *q, const MdlStepTime *intra, const MdlStepTime *inter, const BaseNum **from)
{
  double rate_Bps = HUGE_VAL;
  *from = NULL;
  const MdlStep *used[] = { q->n_ranks > q->n_nodes ? intra->step : NULL, q->n_nodes > 1 ? inter->step : NULL };
  for (unsigned i = 0; i < G_N_ELEMENTS (used); i++)
    if (used[i] != NULL && used[i]->rate.set && used[i]->rate.v < rate_Bps) {
      rate_Bps = used[i]->rate.v;
      *from = &used[i]->rate;
    }
  return rate_Bps;
}

/* Adds the hop terms: `times` x steps of each kind, less what data hides. */
static void
add_hops (const MdlCollQuestion *q, MdlCollCost *cost, const MdlStepTime step[2], const double n_of[2], double loops,
          double hidden_s)
{
  static const char *const name[2] = { "hop latency", "network hop latency" };
  for (unsigned i = 0; i < 2; i++) {
    if (n_of[i] <= 0.0)
      continue;
    double each_s = fmax (step[i].floor_s, step[i].latency_s - hidden_s);
    mdl_cost_term (q, cost, name[i], loops * n_of[i] * each_s, &step[i].step->latency,
                   "%.4g steps x %.3g us (a short message: %.3g us)%s", n_of[i] * loops, each_s * 1e6, step[i].latency_s * 1e6,
                   each_s < step[i].latency_s ? ", partly hidden behind the data" : "");
    cost->hop_software_s[i] = fmax (loops * each_s - (i == 0 ? q->intra_latency_s : q->inter_latency_s), 0.0);
  }
}

static void
lockstep_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlRingSpec *spec = &library->ring;
  const MdlProtocol *format = &library->protocols.at[proto];
  double n = (double)q->n_ranks, steps = (double)n_steps (q), inter = (double)n_inter (q);
  double channels = mdl_channels (library, proto, q, TRUE);
  MdlStepTime step[2] = { mdl_step_time (&spec->hop[q->intra], proto, q->intra_latency_s, channels),
                          mdl_network_step_time (library, spec->hop, proto, q, channels, cost) };
  const BaseNum *rate_from;
  double rate_Bps = channel_rate_Bps (q, &step[0], &step[1], &rate_from);

  cost->channels = (unsigned)channels;
  cost->wire = format->wire.v;
  mdl_cost_start (q, cost, &spec->start, &spec->per_channel, proto, channels);

  double part_B = q->size_B / (n * channels);
  double loops = format->ring_chunk.v > 0.0 ? fmax (part_B / format->ring_chunk.v, 1.0) : 1.0;
  double chunk_B = part_B / loops;
  double pause_s = isfinite (rate_Bps) ? fmax (format->ends.v - 1.0, 0.0) * chunk_B / rate_Bps : 0.0;
  double blocks_Bps = channels * rate_Bps * n / (steps - 1.0 + fmax (format->ends.v, 1.0));
  double linked_s = mdl_time_s (q->size_B, q->link_rate_Bps / cost->wire) + sqrt (loops) * pause_s;
  gboolean blocks_bound = mdl_time_s (q->size_B, blocks_Bps) > linked_s;
  cost->bound_Bps = blocks_bound ? blocks_Bps : channels * rate_Bps * n / steps;
  double chunk_s = mdl_time_s (q->size_B, mdl_cost_rate (q, cost)) / (steps * loops);
  double beneath_B = format->slice.set ? CLAMP (chunk_B - format->slice.v, 0.0, chunk_B / 2.0) : chunk_B;
  double hidden_s = chunk_B > 0.0 ? format->overlap.v * chunk_s * beneath_B / chunk_B : 0.0;
  if (proto == MDL_PROTO_SIMPLE && q->op == MDL_OP_ALL_REDUCE && q->n_nodes > 1 && spec->plateau.set &&
      part_B >= spec->plateau_from.v) {
    for (unsigned i = 0; i < 2; i++) {
      step[i].latency_s *= spec->plateau.v;
      step[i].floor_s *= spec->plateau.v;
    }
    mdl_cost_use (cost, &spec->plateau);
  }
  add_hops (q, cost, step, (const double[2]){ steps - inter, inter }, loops, hidden_s);

  if (rate_from != NULL)
    mdl_cost_use (cost, rate_from);
  if (blocks_bound)
    return;
  mdl_cost_term (q, cost, "last operation", sqrt (loops) * pause_s, rate_from, "%.3g x %.0f B a channel at %.3g GB/s, over no link",
                 sqrt (loops), chunk_B, rate_Bps * 1e-9);
  cost->start_s += sqrt (loops) * pause_s; /* no message shows it */
}

static void
chain_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlRingSpec *spec = &library->ring;
  const MdlProtocol *format = &library->protocols.at[proto];
  double channels = mdl_channels (library, proto, q, TRUE);
  MdlStepTime step[2] = { mdl_step_time (&spec->hop[q->intra], proto, q->intra_latency_s, channels),
                          mdl_network_step_time (library, spec->hop, proto, q, channels, cost) };
  const BaseNum *rate_from;
  double rate_Bps = channel_rate_Bps (q, &step[0], &step[1], &rate_from);
  double hops = (double)n_steps (q), inter = (double)n_inter (q);

  cost->channels = (unsigned)channels;
  cost->wire = format->wire.v;
  cost->bound_Bps = channels * rate_Bps;
  if (rate_from != NULL)
    mdl_cost_use (cost, rate_from);
  mdl_cost_start (q, cost, &spec->start, &spec->per_channel, proto, channels);
  if (q->repeated) { /* what the busiest rank adds to the root's part: it receives before it sends */
    hops = fmin (hops, 2.0);
    inter = fmin (inter, hops - 1.0);
    add_hops (q, cost, step, (const double[2]){ hops - 1.0 - inter, inter }, 1.0, 0.0);
  } else
    add_hops (q, cost, step, (const double[2]){ hops - inter, inter }, 1.0, 0.0);
  /* Each hop but the first adds to the first piece's way what must have arrived before it is handed on. */
  double piece_B = fmin (format->slot.v, q->size_B / channels);
  double piece_s = format->hand_on.v * mdl_time_s (piece_B * channels, mdl_cost_rate (q, cost));
  mdl_cost_term (q, cost, "pipeline fill", (hops - 1.0) * piece_s, &format->hand_on, "%.4g hops x %.3g of %.0f B a channel",
                 hops - 1.0, format->hand_on.v, piece_B);
  cost->piece_B = format->hand_on.v * piece_B * channels;
}

static void
ring_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  if (is_chain (q->op))
    chain_cost (library, proto, q, cost);
  else
    lockstep_cost (library, proto, q, cost);
}

static void
ring_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double alpha_s = mdl_plain_alpha_s (q), steps = (double)n_steps (q), n = (double)q->n_ranks;
  cost->bound_Bps = mdl_plain_bound_Bps (q, is_chain (q->op) ? 1.0 : steps / n);
  if (!is_chain (q->op)) {
    mdl_cost_term (q, cost, "hop latency", steps * alpha_s, NULL, "%.4g steps x %.4g us", steps, alpha_s * 1e6);
    return;
  }
  double pieces, size_s = mdl_time_s (q->size_B, mdl_cost_rate (q, cost));
  double latency_s = mdl_plain_pipeline_s (steps, alpha_s, size_s, &pieces);
  mdl_cost_term (q, cost, "pipeline", latency_s, NULL, "%.4g hops of %.4g us, %.4g pieces", steps, alpha_s * 1e6, pieces);
  cost->piece_B = isinf (pieces) ? 0.0 : q->size_B / pieces;
}

const MdlColl mdl_coll_ring = {
  .algo = MDL_ALGO_RING,
  .summary = "ring: 2(n-1) or n-1 steps of 1/n of the data; broadcast and reduce as a chain",
  .source = "Patarasuk and Yuan, JPDC 69(2), 2009; NCCL src/graph/tuning.cc, src/device/all_reduce.h",
  .ops = 1u << MDL_OP_ALL_REDUCE | 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER | 1u << MDL_OP_BROADCAST |
         1u << MDL_OP_REDUCE,
  .n_steps = n_steps,
  .cost = ring_cost,
  .plain = ring_plain,
};
