/* Hierarchical: inside each node, then between nodes, where the accelerators with the same place in their nodes form a group each;
 * no phase begins before the one before it has ended. All-reduce: reduce-scatter inside, all-reduce of each accelerator's part
 * S/p between, all-gather inside. All-gather: between nodes first, whose phase moves less; reduce-scatter the same backwards.
 *
 *     T = start + w (route + s step) + w ceil (log2 N) (between route + between) + w (S / inside rate + S / between rate)
 *
 * w = 2 for an all-reduce, else 1. N nodes of p accelerators. Inside a torus: rings along all dimensions (torus.c), s their hops;
 * behind a switch: each sends to all others at once, s = 1. Between nodes each adapter sends and receives w (N - 1) / (N p) S, by
 * recursive halving and doubling; a ring would need N - 1 steps, with as many bytes.
 *
 * Textbook form: the same with alpha for all constants.
 *
 * Source: AWS Neuron documentation, Inter-node Collective Communications, 2025 (phases and their order; ring, mesh and recursive
 * doubling between nodes; about 15 us a hop), default since aws-neuronx-collectives 2.12.22 of 2023; a flat ring is left to large
 * messages on Trn1. TPU slices:
 * Google Cloud documentation, Multislice overview (inside a slice over ICI, between slices by the hosts over the data-center
 * network; XLA generates both), whose algorithm is not published: as Neuron's is assumed.
 * Thakur, Rabenseifner, Gropp, Int. J. High Performance Computing Applications 19(1), 2005 (halving and doubling).
 * Valid: as many accelerators of each node, at the same places. Nobody published a time: not validated.
 * Check: test_collective_hierarchical. */
#include <math.h>

#include "collective/terms-private.h"

static double
ways (const MdlCollQuestion *q)
{
  return q->op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0;
}

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return (unsigned)ways (q) * (q->phase_steps + mdl_log2_ceil (q->n_nodes));
}

/* Latencies of both phases, and what their bytes take one after the other beyond the slowest link of both. */
static void
add_phases (const MdlCollQuestion *q, const BaseNum *step, const BaseNum *between, MdlCollCost *cost)
{
  const double w = ways (q), steps = w * q->phase_steps, hops = w * (double)mdl_log2_ceil (q->n_nodes),
               step_s = step != NULL ? step->v : 0.0, hop_s = q->phase_wire_s[1] + (between != NULL ? between->v : 0.0);
  if (steps > 0.0)
    mdl_cost_term (q, cost, "hop latency", w * q->phase_wire_s[0] + steps * step_s, step,
                   "%.4g steps inside a node: routes %.4g us + %.3g us each", steps, w * q->phase_wire_s[0] * 1e6, step_s * 1e6);
  mdl_cost_term (q, cost, "network hop latency", hops * hop_s, between, "%.4g hops between nodes x %.4g us", hops, hop_s * 1e6);
  const double inside_s = w * mdl_time_s (q->size_B, q->phase_Bps[0]), between_s = w * mdl_time_s (q->size_B, q->phase_Bps[1]),
               other_s = fmax (inside_s + between_s - mdl_time_s (q->size_B, q->link_rate_Bps), 0.0);
  mdl_cost_term (q, cost, "other phase", other_s, NULL, "inside nodes %.4g us, between %.4g us, one after the other",
                 inside_s * 1e6, between_s * 1e6);
}

static void
hierarchical_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)proto; /* Simple alone */
  mdl_cost_begin (q, cost, &library->torus.start);
  add_phases (q, &library->torus.step, &library->hierarchical.between, cost);
  cost->hop_software_s[0] = library->torus.step.v;
  cost->hop_software_s[1] = library->hierarchical.between.v;
}

static void
hierarchical_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  add_phases (q, NULL, NULL, cost);
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  if (!library->hierarchical.between.set)
    return "the library has no hierarchical operations";
  if (q->n_nodes < 2)
    return "it works between nodes, and here is one";
  return proto != MDL_PROTO_SIMPLE ? "it sends data as they are: simple" : NULL; /* which ranks: sim/collective/possible.c */
}

const MdlColl mdl_coll_hierarchical = {
  .algo = MDL_ALGO_HIERARCHICAL,
  .ops = 1u << MDL_OP_ALL_REDUCE | 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER,
  .n_steps = n_steps,
  .cost = hierarchical_cost,
  .plain = hierarchical_plain,
  .why_not = why_not,
};
