/* Torus: all-reduce, all-gather and reduce-scatter by rings along each of its dimensions, all dimensions and both ways at once.
 *
 * The size is cut into as many parts as there are dimensions. Part r gathers along dimension r first, then r + 1, …, so that all
 * links are busy all the time; inside a dimension chunks go both ways round, each to the ranks that are nearer that way. A
 * reduce-scatter is the same backwards, an all-reduce both.
 *
 *     T = start + steps (hop + step) + S / link rate,    steps = sum over dimensions of floor (k / 2), twice for an all-reduce
 *
 * With d dimensions of k ranks and a link of b B/s to each of the 2 d neighbours, all-gather takes (n - 1) / n S / (2 d b): a
 * rank sends by all its links. Where ranks are a part of a dimension, its ends are not joined: steps = k - 1, and one ring goes
 * there and back.
 *
 * Source: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication, 2007, section 7.2 (each dimension in turn); Jain and
 * Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, ICS 2010 (all dimensions at once);
 * jax-ml/scaling-book, chapter on sharding (floor (k / 2) hops). Google prints 51.2 TB/s of all-reduce for 256 TPU v5e, which is
 * 256 x 4 links x 50 GB/s. Valid: accelerators that forward in hardware; engines, not channels, move the bytes.
 * Check: test_models_torus, test_coll_torus. */
#include <math.h>

#include "collective/terms-private.h"

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return q->torus_steps * (q->op == MDL_OP_ALL_REDUCE ? 2 : 1);
}

static void
torus_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlTorusSpec *spec = &library->torus;
  (void)proto;
  mdl_cost_begin (q, cost, &spec->start);
  double ways = q->op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0, steps = (double)n_steps (q);
  mdl_cost_term (q, cost, "hop latency", ways * q->torus_wire_s + steps * spec->step.v, &spec->step,
                 "%.4g steps: routes %.4g us + %.3g us each", steps, ways * q->torus_wire_s * 1e6, spec->step.v * 1e6);
  cost->hop_software_s[0] = cost->hop_software_s[1] = spec->step.v;
}

static void
torus_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double alpha_s = mdl_plain_alpha_s (q), steps = (double)n_steps (q), n = (double)q->n_ranks;
  cost->bound_Bps = mdl_plain_bound_Bps (q, (q->op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0) * (n - 1.0) / n);
  mdl_cost_term (q, cost, "hop latency", steps * alpha_s, NULL, "%.4g steps x %.4g us", steps, alpha_s * 1e6);
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  if (library != NULL && !library->torus.start.set)
    return "the library has no rings along a torus";
  if (proto != MDL_PROTO_SIMPLE)
    return "it sends data as they are: simple";
  return q->torus_steps == 0 ? "its ranks are no torus of a node, nor a box of one" : NULL;
}

const MdlColl mdl_coll_torus = {
  .algo = MDL_ALGO_TORUS,
  .ops = 1u << MDL_OP_ALL_REDUCE | 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER,
  .n_steps = n_steps,
  .cost = torus_cost,
  .plain = torus_plain,
  .why_not = why_not,
};
