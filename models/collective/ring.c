/* Ring: all-reduce, all-gather, reduce-scatter; broadcast and reduce as a chain along the ring.
 *
 * All-reduce, all-gather, reduce-scatter. n ranks, ch channels, S bytes; a step moves c = S/(n ch) bytes a channel, in loops of
 * at most `ring_chunk`; 2(n-1) steps for all-reduce, n-1 for the others. Two limits, of which the longer holds:
 *   the links   T = start + loops steps max (floor, latency - hidden) + last + S / (link rate / wire)
 *   the blocks  T = start + loops (steps (latency' + (slices - 1) slice) + operations c / rate)
 *     hidden     = overlap x time of the data that runs beneath the latency: all of c where data flows line by line (LL), what is
 *                  behind the first slice where slices follow each other (Simple). A block handles slice after slice, so nothing
 *                  of Simple's hides there: latency' = latency, and a chunk of more than one `slice` (at most two) pays for both
 *     operations = those that receive, reduce and send + copy x those that receive, store and send + ends, the first and the
 *                  last, which only send or only receive, + miss for each that reads what the cache does not hold
 *     last       = half of ends c / rate sqrt (loops), which moves no byte over a link: in the first loop all channels pause
 *                  together, later they drift apart and fill each other's pauses. Of one step (all-gather and reduce-scatter of two
 *                  ranks) both ranks pause at once: 1 + together (loops - 1) in place of the root. Of reduce-scatter this operation
 *                  reads the rank's input: `scatter_miss` more where it misses the cache
 * On registered buffers of one node an all-gather by Simple stores straight into the next rank's output: `registered_gather_ends`;
 * so does an all-reduce in its gathering half, whose last operation copies nothing: `registered_ends`, in the first loop.
 * Where blocks and links are about as fast, both are slowed by `blend`. By LL a block takes whole passes of its threads (512 x 8
 * B), so that a chunk of 4.1 KiB takes as long as one of 8. An all-gather's stores that begin off a line of 128 B take `misaligned`
 * more: those of 3, 5, 6 and 7 ranks, whose cells are no multiples of it. (Parts off a line at other counts are left out: 13 % at
 * sizes that are no multiple of 128 B a rank.)
 * Before a short operation opens a second channel it halves the threads of its only one, which synchronise quicker: `halving`, at
 * the start and a step; LL128's lines then need more rounds, which lengthens the step: `halved`. Where a rank's part of the size
 * would be less than 16 B some ranks have none, and a step takes `empty` of its latency where there is nothing.
 * Simple between nodes: the chunks of a node queue before its adapters, and while these are busy a chunk's way round the ring does
 * not show. One loop's bytes b = S / loops / link rate and way w = steps x (latency + slice's time) take about the longer,
 *     T = start + (loops - 1) b + (b^3 + w^3)^(1/3)
 * and a block does not wait for a chunk that is on the network: others pass.
 * An adapter's proxy thread posts a message of each of its channels in every step, one after another, so that no step is shorter
 * than channels a proxy x post (Simple: x 3), with the network's own latency of a tree where a node has one GPU (tuning.cc:
 * getNetOverhead, "with ppn=1 latencies are fully exposed").
 * Between nodes 2N or N of the steps have the network's latency: a chunk passes each link of the ring in turn, and ranks wait for
 * data, not for each other; the slowest chunk begins just before a crossing. (NCCL's tuner counts 2(N-1), AWS's 2N:
 * aws-ofi-nccl 16fe0e1 src/tuner/nccl_ofi_model.c.)
 *
 * Broadcast, reduce: pieces of one slot through n-1 hops, of which the size term has the slowest,
 *     T = start + hops latency + (hops - 1) forward_after piece + S / min (bound, link rate / wire)
 * where a piece moves over each hop at what the hop's own route and the blocks allow: quicker inside a node than between nodes.
 * Of k operations in a row, as benchmarks time them, which follow each other down the chain,
 *     T = start + middle + (hops - 1) (latency + forward_after piece) / k + S / min (bound, link rate / wire)
 * where `middle` is what a rank adds that receives before it sends.
 *
 * Textbook form: 2(n-1) (alpha + (S/n) beta), lockstep: alpha of the longest hop.
 *
 * Symbols: latency, floor, start, slice s; rate, bound, link rate B/s; wire bytes on the link per byte of payload.
 * Source: steps: Patarasuk and Yuan, JPDC 69(2), 2009; NCCL 5067397c src/graph/tuning.cc:ncclTopoTuneModel (nsteps, interSteps,
 * plateau of ring Simple between nodes), src/enqueue.cc:topoGetAlgoInfo (threads), calcCollChunking,
 * src/device/all_reduce.h:runRing (2n-1 operations), all_gather.h, reduce_scatter.h, src/device/prims_simple.h:genericOp (slices);
 * overlap, latencies and rates: measured, see docs/models.md.
 * Valid: equal ranks; within calibrated sizes as its error band says. Saw-tooth of whole channels and grains below 16 B a rank
 * left out.
 * Check: test_models_coll (plain: 4 ranks, 1 us, 1 GB/s, 4 GB: 6.000006 s), test_models_ring, law_models_coll,
 * accuracy_models_h200. */
#include <math.h>

#include "collective/terms-private.h"

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
  if (q->crossings > 0)
    return MIN (q->crossings, n_steps (q));
  unsigned rounds = q->op == MDL_OP_ALL_REDUCE ? 2 : 1;
  unsigned left_out = rounds + 1 > q->ranks_per_node ? rounds + 1 - MAX (q->ranks_per_node, 1) : 0;
  return MIN (rounds * q->n_nodes - left_out, n_steps (q));
}

/* Threads that were halved, and parts of the size that are empty: a rank's part is whole 16 B, so that fewer have one. */
static void
shorten (MdlStepTime *step, const MdlCollQuestion *q, double halved)
{
  static const double PART_B = 16.0;
  const MdlStep *spec = step->step;
  double full = fmin (ceil (q->size_B / PART_B) / (double)q->n_ranks, 1.0);
  double software_s = spec->latency.v + halved * (spec->halved.v - spec->halving.v), wire_s = step->latency_s - spec->latency.v;
  if (spec->empty.set)
    software_s *= spec->empty.v + (1.0 - spec->empty.v) * full;
  step->latency_s = fmax (software_s + wire_s, 0.0);
  step->floor_s = fmin (step->floor_s, step->latency_s);
}

/* The slowest block's rate over the hops in use; HUGE_VAL where the library gives none. `direct`: adapters need no block. */
static double
channel_rate_Bps (const MdlCollQuestion *q, const MdlStepTime *intra, const MdlStepTime *inter, gboolean direct,
                  const BaseNum **from)
{
  double rate_Bps = HUGE_VAL;
  *from = NULL;
  const MdlStep *used[] = { q->n_ranks > q->n_nodes ? intra->step : NULL, q->n_nodes > 1 && !direct ? inter->step : NULL };
  for (unsigned i = 0; i < G_N_ELEMENTS (used); i++)
    if (used[i] != NULL && used[i]->rate.set && used[i]->rate.v < rate_Bps) {
      rate_Bps = used[i]->rate.v;
      *from = &used[i]->rate;
    }
  return rate_Bps;
}

/* Of nodes with one GPU whose adapters reach the buffers NCCL takes as many as the library says. */
static double
ring_channels (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, gboolean direct)
{
  double channels = mdl_channels (library, proto, q, TRUE);
  return direct && q->ranks_per_node <= 1 ? fmin (channels, library->registration.net_channels.v) : channels;
}

/* How often a short operation's threads are halved: while it has less than `bytes_per_thread` for each. */
static double
halvings (const MdlProtocol *format, const MdlCollQuestion *q)
{
  if (!format->min_threads.set)
    return 0.0;
  double wanted = q->size_B / format->bytes_per_thread.v / (format->times_ranks.v ? (double)q->n_ranks : 1.0);
  if (wanted <= 0.0)
    return log2 (format->threads.v / format->min_threads.v);
  return ceil (log2 (format->threads.v / CLAMP (wanted, format->min_threads.v, format->threads.v)) - 1e-9);
}

/* Adds the hop terms: `n_of` steps of each kind that take `each_s`. */
static void
add_hops (const MdlCollQuestion *q, MdlCollCost *cost, const MdlStepTime step[2], const double n_of[2], const double each_s[2])
{
  static const char *const name[2] = { "hop latency", "network hop latency" };
  for (unsigned i = 0; i < 2; i++) {
    if (n_of[i] <= 0.0)
      continue;
    mdl_cost_term (q, cost, name[i], n_of[i] * each_s[i], &step[i].step->latency, "%.4g steps x %.3g us (short: %.3g us)%s",
                   n_of[i], each_s[i] * 1e6, step[i].latency_s * 1e6, each_s[i] < step[i].latency_s ? ", partly hidden" : "");
  }
}

/* Start, halved threads taken off. */
static void
add_start (const MdlRingSpec *spec, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost, double channels, double halved)
{
  MdlByProto start = spec->start;
  const MdlByProto *own = q->op == MDL_OP_ALL_GATHER       ? &spec->gather_start
                          : q->op == MDL_OP_REDUCE_SCATTER ? &spec->scatter_start
                                                           : &spec->start;
  if (own->at[proto].set)
    start = *own;
  if (proto == MDL_PROTO_SIMPLE && mdl_buffers_registered (q) && q->op != MDL_OP_REDUCE_SCATTER)
    start.at[proto].v += spec->registered.v;
  if (proto == MDL_PROTO_LL && q->op != MDL_OP_ALL_REDUCE && q->n_nodes <= 1)
    start.at[proto].v += spec->gather_late.v;
  start.at[proto].v = fmax (start.at[proto].v - halved * spec->halving.at[proto].v, 0.0);
  mdl_cost_start (q, cost, &start, &spec->per_channel, proto, channels);
}

/* One limit's answer. */
typedef struct {
  double each_s[2]; /* of a step inside a node, between nodes */
  double slices_s;  /* second slices, all steps */
  double last_s;    /* over no link */
  double rate_Bps;  /* of the size, the wire not counted */
  double time_s;    /* all of it, start apart */
} Limit;

/* What a ring's operations are made of. */
typedef struct {
  double steps, inter; /* of one loop */
  double operations;   /* in those that reduce */
  double loops, chunk_B, slices;
} Round;

/* The first and the last operation together, in those that reduce. */
static double
ends_of (const MdlProtocol *format, const MdlCollQuestion *q)
{
  const MdlOp op = q->op;
  if (op == MDL_OP_ALL_GATHER && q->n_nodes <= 1 && mdl_buffers_registered (q) && format->registered_gather_ends.set)
    return format->registered_gather_ends.v;
  const BaseNum *own = op == MDL_OP_ALL_GATHER ? &format->gather_ends : &format->scatter_ends;
  return fmax (op != MDL_OP_ALL_REDUCE && own->set ? own->v : format->ends.v, 1.0);
}

/* How much of what ranks read of their input misses the cache: none where input and output together fill a third of it, all from
 * four thirds on, in proportion to the logarithm. */
static double
missing (const MdlLibrary *library, const MdlCollQuestion *q)
{
  if (!library->cache.set)
    return 0.0;
  double both_B = q->size_B * (q->op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0 + 1.0 / (double)q->n_ranks);
  return CLAMP (log (fmax (both_B, 1.0) / (library->cache.v / 3.0)) / log (4.0), 0.0, 1.0);
}

/* Operations more, relative to those that reduce, for input that misses the cache. */
static double
misses (const MdlLibrary *library, const MdlProtocol *format, const MdlCollQuestion *q)
{
  const double reads = q->op == MDL_OP_ALL_GATHER ? 1.0 : (double)q->n_ranks;
  return format->miss.set ? format->miss.v * missing (library, q) * reads : 0.0;
}

static Round
round_of (const MdlLibrary *library, const MdlProtocol *format, const MdlCollQuestion *q, double channels)
{
  double n = (double)q->n_ranks, copy = format->copy.set ? format->copy.v : 1.0, ends = ends_of (format, q);
  double reducing = q->op == MDL_OP_ALL_REDUCE ? n - 1.0 : q->op == MDL_OP_REDUCE_SCATTER ? n - 2.0 : 0.0;
  double copying = q->op == MDL_OP_REDUCE_SCATTER ? 0.0 : n - 2.0;
  double part_B = q->size_B / (n * channels);
  Round round = { .steps = (double)n_steps (q), .inter = (double)n_inter (q), .operations = reducing + copy * copying + ends };
  round.operations += misses (library, format, q);
  round.loops = format->ring_chunk.v > 0.0 ? fmax (part_B / format->ring_chunk.v, 1.0) : 1.0;
  round.chunk_B = part_B / round.loops;
  round.slices = format->slice.v > 0.0 ? CLAMP (round.chunk_B / format->slice.v, 1.0, 2.0) : 1.0;
  return round;
}

/* Least threads of a block. */
static const double LEAST_THREADS = 64.0;

/* Bytes that a block handles in whole passes of all its threads, over its own. By LL a pass is `pass` B of each thread; the last
 * one of a chunk takes as long as the others. While channels open one by one, a chunk is one pass on as many ranks as a power of
 * two, at sizes that are one; else it is a little more, and takes two. An operation's only channel has fewer threads while it is
 * short. */
static double
whole_passes (const MdlLibrary *library, const MdlProtocol *format, const MdlCollQuestion *q, double channels)
{
  static const double EXACT = 1e-6;
  if (!format->pass.set || q->size_B <= 0.0)
    return 1.0;
  if (channels > 1.0 && channels < mdl_channels_most (library, q))
    return (q->n_ranks & (q->n_ranks - 1)) == 0 ? 1.0 : 2.0;
  const double part_B = q->size_B / ((double)q->n_ranks * channels);
  double pass_B = format->threads.v * format->pass.v;
  while (channels <= 1.0 && pass_B > part_B && pass_B > LEAST_THREADS * format->pass.v)
    pass_B /= 2.0;
  const double loops = format->ring_chunk.v > 0.0 ? floor (part_B / format->ring_chunk.v + EXACT) : 0.0;
  const double rest_B = fmax (part_B - loops * format->ring_chunk.v, 0.0);
  return fmax ((loops * format->ring_chunk.v + pass_B * ceil (rest_B / pass_B - EXACT)) / part_B, 1.0);
}

/* Whether an all-gather's stores begin off the GPU's lines of 128 B: where the cells that NCCL deals to channels are no multiples
 * of a line. Ranks exchange bytes, so that nothing mends it. */
static gboolean
is_off_lines (const MdlLibrary *library, const MdlProtocol *format, const MdlCollQuestion *q)
{
  static const double LINE_B = 128.0, UNIT_B = 16.0;
  if (q->op != MDL_OP_ALL_GATHER || !format->misaligned.set)
    return FALSE;
  const double of_rank_B = library->channels.cell.v / ((double)q->n_ranks * fmax (format->cell_traffic.v, 1.0));
  return fmod (ceil (of_rank_B / UNIT_B) * UNIT_B, LINE_B) > 0.0;
}

/* How much longer blocks of one node take for their bytes than whole lines and passes would. */
static double
ragged (const MdlLibrary *library, const MdlProtocol *format, const MdlCollQuestion *q, double channels, MdlCollCost *cost)
{
  if (q->n_nodes > 1)
    return 1.0;
  double longer = whole_passes (library, format, q, channels);
  if (is_off_lines (library, format, q)) {
    longer *= 1.0 + format->misaligned.v;
    mdl_cost_use (cost, &format->misaligned);
  }
  return longer;
}

/* The last operations, s, in which no link is busy. All channels pause together in the first loop. Later they have drifted apart
 * and fill each other's pauses; of a ring of one step `together` of each stays, as both ranks pause at once. A reduce-scatter's
 * last operation reads the rank's input, `scatter_miss` longer where that misses the cache. On registered buffers an all-reduce's
 * last operation copies nothing, which shortens the first loop; later pauses were filled before. */
static double
last_of (const MdlLibrary *library, const MdlProtocol *format, const MdlCollQuestion *q, const Round *round, double rate_Bps,
         MdlCollCost *cost)
{
  const BaseNum *together = &library->ring.together;
  double pauses = sqrt (round->loops), operations = ends_of (format, q) / 2.0;
  if (round->steps <= 1.0 && together->set) {
    pauses = fmax (pauses, 1.0 + (round->loops - 1.0) * together->v);
    mdl_cost_use (cost, together);
  }
  if (q->op == MDL_OP_REDUCE_SCATTER && format->scatter_miss.set) {
    operations += format->scatter_miss.v * missing (library, q);
    mdl_cost_use (cost, &format->scatter_miss);
  }
  double straight = 0.0;
  if (q->op == MDL_OP_ALL_REDUCE && q->n_nodes <= 1 && mdl_buffers_registered (q) && format->registered_ends.set) {
    straight = fmax (format->ends.v - format->registered_ends.v, 0.0) / 2.0;
    mdl_cost_use (cost, &format->registered_ends);
  }
  return (pauses * operations - straight) * round->chunk_B / rate_Bps;
}

static Limit
limit_of (const MdlProtocol *format, const MdlCollQuestion *q, const Round *round, const MdlStepTime step[2], double rate_Bps,
          double last_s)
{
  Limit limit = { .rate_Bps = rate_Bps, .last_s = last_s };
  gboolean blocks = last_s < 0.0;
  double chunk_s = mdl_time_s (q->size_B, rate_Bps) / (round->steps * round->loops), beneath = 1.0;
  if (format->slice.set)
    beneath = blocks || round->chunk_B <= 0.0 ? 0.0 : CLAMP (1.0 - format->slice.v / round->chunk_B, 0.0, 0.5);
  double hidden_s = format->overlap.v * chunk_s * beneath, n_of[2] = { round->steps - round->inter, round->inter };
  limit.last_s = fmax (last_s, 0.0);
  for (unsigned i = 0; i < 2; i++) {
    limit.each_s[i] = fmax (step[i].floor_s, step[i].latency_s - hidden_s);
    if (blocks && !format->slice.set) /* lines of the next loop follow without a gap */
      limit.each_s[i] /= round->loops;
    else if (blocks && i == 1) /* chunks of other ranks pass while one is on the network */
      limit.each_s[i] = (step[i].latency_s + (round->loops - 1.0) * step[0].latency_s) / round->loops;
    limit.slices_s += blocks ? round->loops * n_of[i] * (round->slices - 1.0) * step[i].step->slice.v : 0.0;
    limit.time_s += round->loops * n_of[i] * limit.each_s[i];
  }
  limit.time_s += limit.slices_s + limit.last_s + mdl_time_s (q->size_B, rate_Bps);
  return limit;
}

/* The links' answer between nodes by Simple. The chunks of a node queue before its adapters: while these are busy, nothing of a
 * chunk's way round the ring shows, so that one loop takes about the longer of the two. Later loops follow without a gap. */
static Limit
queue_of (const MdlCollQuestion *q, const Round *round, const MdlStepTime step[2], double rate_Bps, double block_Bps)
{
  Limit limit = { .rate_Bps = rate_Bps };
  double bytes_s = mdl_time_s (q->size_B, rate_Bps) / round->loops, n_of[2] = { round->steps - round->inter, round->inter };
  double slice_s[2] = { mdl_time_s (round->chunk_B, block_Bps) / round->slices, bytes_s / (round->steps * round->slices) };
  double way_s = 0.0;
  for (unsigned i = 0; i < 2; i++)
    way_s += n_of[i] * (step[i].latency_s + slice_s[i]);
  double shown_s = cbrt (bytes_s * bytes_s * bytes_s + way_s * way_s * way_s) - bytes_s;
  for (unsigned i = 0; i < 2; i++)
    limit.each_s[i] = way_s > 0.0 ? (step[i].latency_s + slice_s[i]) * shown_s / (way_s * round->loops) : 0.0;
  limit.time_s = shown_s + mdl_time_s (q->size_B, rate_Bps);
  return limit;
}

/* Blocks whose waits are the longer limit, but which move bytes faster than the links do: the bytes are then those of the links,
 * and what these take longer passes beneath the waits. */
static void
hide_beneath_links (Limit *blocks, const Limit *links, const MdlCollQuestion *q, const Round *round)
{
  double beneath_s = mdl_time_s (q->size_B, links->rate_Bps) - mdl_time_s (q->size_B, blocks->rate_Bps);
  if (beneath_s <= 0.0)
    return;
  blocks->rate_Bps = HUGE_VAL;
  double of_slices_s = fmin (beneath_s, blocks->slices_s);
  blocks->slices_s -= of_slices_s;
  double hops_s = 0.0, n_of[2] = { round->steps - round->inter, round->inter };
  for (unsigned i = 0; i < 2; i++)
    hops_s += round->loops * n_of[i] * blocks->each_s[i];
  double left = hops_s > 0.0 ? fmax (1.0 - (beneath_s - of_slices_s) / hops_s, 0.0) : 0.0;
  for (unsigned i = 0; i < 2; i++)
    blocks->each_s[i] *= left;
}

/* Raises both kinds' latencies where a ring of Simple between nodes waits longer. */
static void
add_plateau (const MdlRingSpec *spec, MdlProto proto, const MdlCollQuestion *q, double channels, MdlStepTime step[2],
             MdlCollCost *cost)
{
  if (proto != MDL_PROTO_SIMPLE || q->op != MDL_OP_ALL_REDUCE || q->n_nodes <= 1 || !spec->plateau.set ||
      q->size_B / ((double)q->n_ranks * channels) < spec->plateau_from.v)
    return;
  for (unsigned i = 0; i < 2; i++) {
    step[i].latency_s *= spec->plateau.v;
    step[i].floor_s *= spec->plateau.v;
  }
  mdl_cost_use (cost, &spec->plateau);
}

/* With one GPU a node nothing hides the network's latency: it is the tree's. */
static const MdlHopSteps *
network_hop (const MdlLibrary *library, const MdlCollQuestion *q)
{
  return q->ranks_per_node == 1 ? library->tree.hop : library->ring.hop;
}

/* An adapter's proxy posts a message of each of its channels in every step of the ring, one after another; by Simple three times
 * as long. No step is shorter. */
static void
wait_for_proxy (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, double channels, MdlStepTime step[2],
                MdlCollCost *cost)
{
  if (q->n_nodes <= 1 || q->inter == MDL_HOP_TCP || !library->pairwise.post.set)
    return;
  double each_s = library->pairwise.post.v * (proto == MDL_PROTO_SIMPLE ? 3.0 : 1.0);
  double posting_s = mdl_channels_of_proxy (q, channels) * each_s;
  for (unsigned i = 0; i < 2; i++) {
    if (posting_s > step[i].latency_s)
      mdl_cost_use (cost, &library->pairwise.post);
    step[i].latency_s = fmax (step[i].latency_s, posting_s);
    step[i].floor_s = fmax (step[i].floor_s, posting_s);
  }
}

static void
lockstep_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlRingSpec *spec = &library->ring;
  const MdlProtocol *format = &library->protocols.at[proto];
  const gboolean direct = mdl_net_registered (library, proto, q, cost);
  double n = (double)q->n_ranks, channels = ring_channels (library, proto, q, direct), halved = halvings (format, q);
  MdlStepTime step[2] = { mdl_step_time (&spec->hop[q->intra], proto, q->intra_latency_s, channels),
                          mdl_network_step_time (library, network_hop (library, q), proto, q, channels, cost) };
  const MdlStepTime ring_step = mdl_step_time (&spec->hop[q->inter], proto, q->inter_latency_s, channels);
  const BaseNum *rate_from;
  double rate_Bps = channel_rate_Bps (q, &step[0], &ring_step, direct, &rate_from); /* a tree's blocks are others */
  for (unsigned i = 0; i < 2; i++)
    shorten (&step[i], q, halved);
  wait_for_proxy (library, proto, q, channels, step, cost);

  cost->channels = (unsigned)channels;
  cost->wire = format->wire.v;
  add_start (spec, proto, q, cost, channels, halved);
  add_plateau (spec, proto, q, channels, step, cost);
  Round round = round_of (library, format, q, channels);
  mdl_network_lines (library, proto, q, channels, round.chunk_B, &step[1], cost);
  cost->bound_Bps = channels * rate_Bps * n / round.operations / ragged (library, format, q, channels, cost);
  if (q->n_nodes <= 1 && q->switched)
    mdl_cost_blend (q, &spec->blend.at[proto], cost);
  double last_s = isfinite (rate_Bps) ? last_of (library, format, q, &round, rate_Bps, cost) : 0.0;
  Limit links = q->n_nodes > 1 && format->slice.set ? queue_of (q, &round, step, q->link_rate_Bps / cost->wire, rate_Bps)
                                                    : limit_of (format, q, &round, step, q->link_rate_Bps / cost->wire, last_s);
  Limit blocks = limit_of (format, q, &round, step, cost->bound_Bps, -1.0);
  gboolean waits = blocks.time_s > links.time_s;
  if (waits)
    hide_beneath_links (&blocks, &links, q, &round);
  const Limit *longer = waits ? &blocks : &links;

  cost->bound_Bps = waits ? blocks.rate_Bps : HUGE_VAL;
  cost->bound_from = waits ? rate_from : NULL;
  double n_of[2] = { round.loops * (round.steps - round.inter), round.loops * round.inter };
  add_hops (q, cost, step, n_of, longer->each_s);
  cost->way.lockstep = TRUE;
  for (unsigned i = 0; i < 2; i++) { /* the loops as one */
    cost->way.hops[i] = n_of[i] / round.loops;
    cost->way.each_s[i] = round.loops * longer->each_s[i] + longer->slices_s / round.steps;
  }
  mdl_cost_term (q, cost, "second slices", longer->slices_s, &step[q->n_ranks > q->n_nodes ? 0 : 1].step->slice,
                 "%.4g steps, %.3g of a second slice", round.loops * round.steps, round.slices - 1.0);
  if (rate_from != NULL)
    mdl_cost_use (cost, rate_from);
  mdl_cost_term (q, cost, "last operation", longer->last_s, rate_from, "%.3g loops of %.0f B a channel at %.3g GB/s, no link",
                 round.loops, round.chunk_B, rate_Bps * 1e-9);
  cost->start_s += longer->last_s; /* no message shows it */
}

/* `own` where a chain has a constant of its own, else the ring's. */
static const BaseNum *
chain_or (const BaseNum *own, const BaseNum *ring)
{
  return own->set ? own : ring;
}

/* What all channels together can send a hop inside a node (0), between nodes (1). */
static double
route_Bps (const MdlCollQuestion *q, unsigned inter)
{
  return inter ? q->inter_rate_Bps * fmax ((double)q->n_nics, 1.0) : q->intra_rate_Bps;
}

static void
chain_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlRingSpec *spec = &library->ring;
  const MdlProtocol *format = &library->protocols.at[proto];
  const gboolean direct = mdl_net_registered (library, proto, q, cost);
  double channels = ring_channels (library, proto, q, direct), halved = halvings (format, q);
  MdlStepTime step[2] = { mdl_step_time (&spec->hop[q->intra], proto, q->intra_latency_s, channels),
                          mdl_network_step_time (library, spec->hop, proto, q, channels, cost) };
  const BaseNum *rate_from;
  double rate_Bps = channel_rate_Bps (q, &step[0], &step[1], direct, &rate_from);
  if (spec->chain.rate.at[proto].set && q->intra == MDL_HOP_NVLINK && spec->chain.rate.at[proto].v < rate_Bps) {
    rate_from = &spec->chain.rate.at[proto];
    rate_Bps = rate_from->v;
  } else if (q->op == MDL_OP_BROADCAST && format->copy.set)
    rate_Bps /= format->copy.v;
  cost->channels = (unsigned)channels;
  cost->wire = format->wire.v;
  cost->bound_Bps = channels * rate_Bps;
  cost->bound_from = rate_from;
  if (rate_from != NULL)
    mdl_cost_use (cost, rate_from);

  MdlRingSpec start = *spec;
  start.start.at[proto] = *chain_or (&spec->chain.start.at[proto], &spec->start.at[proto]);
  if (q->op == MDL_OP_REDUCE)
    start.start.at[proto].v -= fmin (spec->chain.reduce.at[proto].v, start.start.at[proto].v);
  add_start (&start, proto, q, cost, channels, halved);

  /* One alone waits for every hop; of k in a row each waits for a k-th of all but the first, and to receive before it sends. */
  double hops = (double)n_steps (q), inter = (double)n_inter (q), k = fmax ((double)q->in_a_row, 1.0), each_s[2];
  const BaseNum *middle = &spec->chain.middle.at[proto];
  for (unsigned i = 0; i < 2; i++) {
    double once_s = middle->set && i == 0 ? middle->v : step[i].latency_s;
    each_s[i] =
        k > 1.0 ? (hops - 1.0) / hops * (step[i].latency_s / k + (hops > 1.0 ? once_s / (hops - 1.0) : 0.0)) : step[i].latency_s;
  }
  add_hops (q, cost, step, (const double[2]){ hops - inter, inter }, each_s);
  const BaseNum *forward_after = chain_or (&spec->chain.forward_after.at[proto], &format->forward_after);
  double piece_B = fmin (format->slot.v, q->size_B / channels), share = forward_after->v / k;
  double n_of[2] = { hops - inter, inter }, fill_s = 0.0, slowest_s = 0.0, rate_Bps_all = mdl_cost_rate (q, cost);
  for (unsigned i = 0; i < 2; i++) {
    if (n_of[i] <= 0.0)
      continue;
    gboolean other_slower = n_of[1 - i] > 0.0 && route_Bps (q, 1 - i) < route_Bps (q, i);
    double route_most_Bps = fmin (cost->bound_Bps, route_Bps (q, i) / cost->wire);
    double way_Bps = other_slower ? fmax (route_most_Bps, rate_Bps_all) : rate_Bps_all; /* the slowest kind has the size's rate */
    double piece_s = share * mdl_time_s (piece_B * channels, way_Bps);
    fill_s += n_of[i] * piece_s;
    slowest_s = fmax (slowest_s, piece_s);
    cost->way.hops[i] = n_of[i];
    cost->way.each_s[i] = each_s[i] + piece_s;
    cost->way.fast_Bps[i] = way_Bps;
  }
  mdl_cost_term (q, cost, "pipeline fill", fill_s - slowest_s, forward_after, "%.4g hops x %.3g of %.0f B per channel", hops - 1.0,
                 share, piece_B);
  cost->piece_B = fmin (share, 1.0) * piece_B * channels; /* of more than a piece, the rest is a wait */
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
  .ops = 1u << MDL_OP_ALL_REDUCE | 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER | 1u << MDL_OP_BROADCAST |
         1u << MDL_OP_REDUCE,
  .n_steps = n_steps,
  .cost = ring_cost,
  .plain = ring_plain,
};
