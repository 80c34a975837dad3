/* The table of algorithms, what can run where, and the completion of a cost.
 *
 *     time = latency + S / min (bound, link rate / wire) + launch
 * launch: `extra` a call; and a call cannot be shorter than the CPU takes to launch it, on all GPUs of a node where one thread
 * serves them in turn:
 *     (per_gpu + per_channel (channels - 1) + peers' enqueue) x GPUs
 * what is missing to that is waited. Calls in a row hide the device's time behind the CPU's or the other way round, never both; of
 * an all-to-all the CPU puts each peer into the plan.
 * Error band: band.c.
 * Source: launch: NCCL starts one kernel a GPU and call; floors and residuals: measured, docs/models.md.
 * Check: test_models_coll (serial launches floor small messages), law_models_coll (terms sum to the time). */
#include "models/coll.h"

#include <math.h>
#include <string.h>

#include "collective/terms-private.h"

#define COLL_ROW(code, name, letter, help) &mdl_coll_##name,
const MdlColl *const mdl_colls[] = { MDL_ALGO_ROWS (COLL_ROW) NULL };

const MdlColl *
mdl_coll_find (MdlAlgo algo, MdlOp op)
{
  for (const MdlColl *const *row = mdl_colls; *row != NULL; row++)
    if ((*row)->algo == algo && (*row)->ops & (1u << op))
      return *row;
  return NULL;
}

/* LL128 relies on 128-byte stores arriving whole: NVLink in a node, NIC-to-GPU memory between nodes (NCCL src/graph/tuning.cc). */
static const char *
why_not_ll128 (const MdlCollQuestion *question)
{
  if (question->n_ranks > question->n_nodes && question->intra != MDL_HOP_NVLINK)
    return "ll128 needs NVLink inside the node";
  if (question->n_nodes > 1 && question->inter != MDL_HOP_NVLINK && question->inter != MDL_HOP_NET)
    return "ll128 needs NICs that read and write GPU memory";
  if (question->compute_capability > 0 && question->compute_capability < 70)
    return "ll128 needs compute capability 7.0 (Volta) or later";
  return NULL;
}

static const char *
why_not_plugin (const MdlLibrary *library, const MdlColl *coll, MdlProto proto, const MdlCollQuestion *question)
{
  const MdlPlugin *plugin = mdl_plugin (library, question);
  if (plugin == NULL)
    return NULL;
  if (plugin->simple_only.v && proto != MDL_PROTO_SIMPLE)
    return "the plugin of this network keeps to simple";
  if (plugin->no_ll.v && proto == MDL_PROTO_LL)
    return "the plugin of this network does without ll";
  if (plugin->no_nvls.v && (coll->algo == MDL_ALGO_NVLS || coll->algo == MDL_ALGO_NVLS_TREE))
    return "the plugin of this network does without NVLS";
  return NULL;
}

gboolean
mdl_coll_possible (const MdlLibrary *library, const MdlColl *coll, MdlProto proto, const MdlCollQuestion *question,
                   const char **reason)
{
  const char *why = NULL;
  if (coll == NULL)
    why = "the algorithm does not do this operation";
  else if (!(coll->ops & (1u << question->op)))
    why = "the algorithm does not do this operation";
  else if (library == NULL)
    why = NULL; /* textbook algorithms know no protocols and no hardware */
  else if (proto < 0 || proto >= MDL_PROTO_N || !library->protocols.at[proto].offered.v)
    why = "the library has no such protocol";
  else if (coll->why_not != NULL)
    why = coll->why_not (library, proto, question);
  else if (proto == MDL_PROTO_LL128)
    why = why_not_ll128 (question);
  if (why == NULL && library != NULL)
    why = why_not_plugin (library, coll, proto, question);
  if (why != NULL && reason != NULL)
    *reason = why;
  return why == NULL;
}

/* Of a plain all-to-all: each peer beyond the first is a send and a receive more to put into the plan. Puts need none. */
static double
enqueue_s (const MdlLibrary *library, const MdlColl *coll, const MdlCollQuestion *q)
{
  gboolean plain = !mdl_launch_replays (q->launch) && coll == &mdl_coll_pairwise && q->op == MDL_OP_ALLTOALL;
  return plain ? library->pairwise.enqueue.v * (fmax ((double)q->n_ranks, 2.0) - 2.0) : 0.0;
}

/* The kernel's arguments hold a batch of work for each channel, and its grid a block; kernels on symmetric memory and those of
 * frameworks have one argument for all blocks. */
static double
further_channels (const MdlColl *coll, const MdlCollCost *cost)
{
  gboolean one = coll == &mdl_coll_symmetric || coll == &mdl_coll_one_shot;
  return one || cost->channels == 0 ? 0.0 : (double)cost->channels - 1.0;
}

static void
add_launch (const MdlLibrary *library, const MdlColl *coll, const MdlCollQuestion *q, double size_s, MdlCollCost *cost)
{
  const MdlLaunchCost *launch = &library->launch.at[q->launch];
  double before_s = cost->latency_s;
  mdl_cost_term (q, cost, "launch", launch->extra.v, &launch->extra, "%.3g us per call", launch->extra.v * 1e6);
  double gpus = q->launch == MDL_LAUNCH_SERIAL ? (double)MAX (q->ranks_per_node, 1) : 1.0;
  double kernel_s = launch->per_gpu.v + launch->per_channel.v * further_channels (coll, cost) + enqueue_s (library, coll, q);
  const gboolean none = cost->launch_s > 0.0 && !mdl_launch_replays (q->launch);
  const BaseNum *from = none ? &library->copy_engine.launch : &launch->per_gpu;
  double each_s = none ? cost->launch_s : kernel_s, floor_s = each_s * gpus;
  mdl_cost_term (q, cost, "launch wait", floor_s - cost->latency_s - size_s, from,
                 gpus > 1.0 ? "%.4g launches x %.3g us one after the other take longer than the call"
                            : "%.4g launch x %.3g us takes longer than the call",
                 gpus, each_s * 1e6);
  const double slow_s = floor_s * (1.0 + launch->spread.v), call_s = cost->latency_s + size_s;
  cost->launch_spread = call_s > 0.0 ? fmax (slow_s / call_s - 1.0, 0.0) : 0.0;
  cost->start_s += cost->latency_s - before_s;
}

/* Small pieces are joined: with so many a step, what must pass a hop before the next begins adds little. */
static const double MOST_PIECES_A_STEP = 32.0;

/* What one message takes, so that all of them together take the closed form's time where nothing else uses the links. A ring
 * has a message a step: each moves at the operation's rate, the rest is latency. A pipeline has n pieces: the first passes the
 * longest way, and what is behind it follows at the operation's pace,
 *     latency - start + size / rate = hops of the way + (n - 1) / n (size / rate + further)
 * A message alone may move faster than the pace, because the channels are not in step with each other. */
static void
split_into_messages (const MdlCollQuestion *q, double size_s, MdlCollCost *cost)
{
  const MdlWay *way = &cost->way;
  double wish_s = 0.0, hops_s = cost->latency_s - cost->start_s, wire_s[2] = { q->intra_latency_s, q->inter_latency_s };
  double pieces = way->lockstep ? fmax ((double)cost->n_steps, 1.0) : 1.0;
  for (unsigned i = 0; i < 2; i++)
    wish_s += way->hops[i] > 0.0 ? way->hops[i] * way->each_s[i] : 0.0;
  if (!way->lockstep && cost->piece_B > 0.0)
    pieces = CLAMP (round (q->size_B / cost->piece_B), 1.0, MOST_PIECES_A_STEP * fmax ((double)cost->n_steps, 1.0));
  double piece_s = size_s / pieces;
  cost->paced = TRUE;
  cost->pace_s = way->lockstep ? 0.0 : size_s + way->further_s;
  if (!way->lockstep) {
    cost->piece_B = q->size_B / pieces;
    hops_s += piece_s - (pieces - 1.0) / pieces * way->further_s;
  }
  for (unsigned i = 0; i < 2; i++) {
    double hop_s = wish_s > 0.0 ? way->each_s[i] * fmax (hops_s, 0.0) / wish_s : 0.0, moving_s = piece_s;
    if (!way->lockstep)
      moving_s = fmin (fmin (moving_s, hop_s), way->fast_Bps[i] > 0.0 ? mdl_time_s (cost->piece_B, way->fast_Bps[i]) : HUGE_VAL);
    cost->message_Bps[i] = moving_s > 0.0 ? q->size_B / pieces / moving_s : HUGE_VAL;
    cost->hop_software_s[i] = hop_s - (way->lockstep ? 0.0 : moving_s) - wire_s[i];
  }
}

const BaseName mdl_size_names[] = {
  { "small", MDL_SIZE_SMALL, "latency dominates" },
  { "middle", MDL_SIZE_MIDDLE, "latency and rate" },
  { "large", MDL_SIZE_LARGE, "the links' rates dominate" },
  { NULL, 0, NULL },
};

MdlSize
mdl_size_class (double size_B, const double limits_B[2])
{
  return size_B < limits_B[0] ? MDL_SIZE_SMALL : size_B < limits_B[1] ? MDL_SIZE_MIDDLE : MDL_SIZE_LARGE;
}

void
mdl_coll_cost (const MdlLibrary *library, const MdlColl *coll, MdlProto proto, const MdlCollQuestion *question, MdlCollCost *cost)
{
  memset (cost, 0, offsetof (MdlCollCost, term)); /* terms are written as they come */
  cost->bound_Bps = HUGE_VAL;
  cost->wire = 1.0;
  cost->source = BASE_SOURCE_MEASURED; /* nothing used yet: the weakest of what is used replaces it */
  if (question->n_ranks <= 1) {        /* nobody to talk to: a copy kernel or none, but launched all the same */
    if (library != NULL) {
      add_launch (library, coll, question, 0.0, cost);
      mdl_coll_band (library, coll != NULL ? coll->algo : MDL_ALGO_AUTO, question, cost);
    }
    cost->time_s = cost->latency_s;
    return;
  }
  g_return_if_fail (coll != NULL && (coll->ops & (1u << question->op)));
  cost->n_steps = coll->n_steps (question);
  if (library == NULL)
    coll->plain (question, cost);
  else {
    g_return_if_fail (proto >= 0 && proto < MDL_PROTO_N);
    coll->cost (library, proto, question, cost);
  }
  if (question->cpu_Bps > 0 && question->cpu_Bps / cost->wire < cost->bound_Bps) {
    cost->bound_Bps = question->cpu_Bps / cost->wire; /* flags of LL are copied too */
    cost->bound_name = "cores of the node";
    cost->bound_from = NULL;
    cost->cpu_bound = TRUE;
  }
  double link_Bps = question->link_rate_Bps / cost->wire, rate_Bps = fmin (cost->bound_Bps, link_Bps);
  double size_s = mdl_time_s (question->size_B, rate_Bps);
  cost->link_bound = link_Bps <= cost->bound_Bps;
  if (library != NULL) {
    add_launch (library, coll, question, size_s, cost);
    mdl_coll_band (library, coll != NULL ? coll->algo : MDL_ALGO_AUTO, question, cost);
  }
  /* The size term stands beside the latency, not in it. */
  double latency_s = cost->latency_s;
  mdl_cost_term (question, cost, "size", size_s, NULL, "at %.4g GB/s, the %s", rate_Bps * 1e-9,
                 cost->link_bound           ? "limit of the links"
                 : cost->bound_name != NULL ? cost->bound_name
                                            : "limit of the channels");
  if (size_s > 0 && !cost->link_bound && cost->bound_from != NULL) { /* whether it is used counts where it is set */
    cost->term[cost->n_terms - 1].source = cost->bound_from->source;
    cost->term[cost->n_terms - 1].note = cost->bound_from->note;
  }
  cost->latency_s = latency_s;
  cost->time_s = latency_s + size_s;
  if (cost->way.hops[0] > 0.0 || cost->way.hops[1] > 0.0)
    split_into_messages (question, size_s, cost);
}
