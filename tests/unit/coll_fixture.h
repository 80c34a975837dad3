/* A question and a library of round numbers for tests of the cost of collectives. */
#ifndef COLL_FIXTURE_H
#define COLL_FIXTURE_H

#include <math.h>

#include "harness.h"
#include "models/coll.h"
#include "models/library-spec.h"

#define INF ((double)INFINITY)

static inline BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

/* n ranks on one node: 1 us of wire a step, 1 GB/s a route; the link rate is to be set. */
static inline MdlCollQuestion
question (MdlOp op, double size_B, unsigned n)
{
  return (MdlCollQuestion){ .op = op,
                            .size_B = size_B,
                            .n_ranks = n,
                            .n_nodes = 1,
                            .ranks_per_node = n,
                            .intra = MDL_HOP_NVLINK,
                            .inter = MDL_HOP_NET,
                            .intra_latency_s = 1e-6,
                            .inter_latency_s = 5e-6,
                            .intra_rate_Bps = 1e9,
                            .inter_rate_Bps = 0.5e9,
                            .link_rate_Bps = INF,
                            .compute_capability = 90,
                            .switched = TRUE };
}

/* A plugin's link class, on 2 nodes of 4. */
static inline MdlCollQuestion
plugged_question (MdlOp op, double size_B)
{
  MdlCollQuestion q = question (op, size_B, 8);
  q.n_nodes = 2;
  q.ranks_per_node = 4;
  q.n_nics = 4;
  q.network = "efa2";
  return q;
}

/* Round numbers: one channel, nothing limits but the links, wire 2 for LL. */
static inline MdlLibrary
simple_library (void)
{
  static MdlChannelRow row = { .capability = { .v = 0 }, .one_node = { .v = 1 }, .nodes = { .v = 1 } };
  MdlLibrary l = { 0 };
  l.channels.scale_up = (BaseList){ .n = 1, .set = TRUE, .item = &row, .size = sizeof row };
  for (unsigned p = 0; p < MDL_PROTO_N; p++) {
    MdlProtocol *format = &l.protocols.at[p];
    format->offered.v = TRUE;
    format->wire = num (p == MDL_PROTO_LL ? 2.0 : 1.0);
    format->slot = num (1e6);
    format->ends = num (1.0);
    format->forward_after = num (1.0);
    l.ring.start.at[p] = l.tree.start.at[p] = num (10e-6);
    l.ring.hop[MDL_HOP_NVLINK].at[p].latency = l.tree.hop[MDL_HOP_NVLINK].at[p].latency = num (3e-6);
    l.ring.hop[MDL_HOP_NET].at[p].latency = l.tree.hop[MDL_HOP_NET].at[p].latency = num (20e-6);
  }
  return l;
}

static inline double
time_of (const MdlLibrary *library, MdlAlgo algo, MdlProto proto, const MdlCollQuestion *q)
{
  MdlCollCost cost;
  mdl_coll_cost (library, mdl_coll_find (algo, q->op), proto, q, &cost);
  return cost.time_s;
}

#endif
