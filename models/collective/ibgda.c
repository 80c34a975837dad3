/* All-to-all and send/receive by puts that threads of the GPU issue themselves (NVSHMEM over IBGDA): no proxy on the host.
 *
 *     T = start + hop + peers x put + S / (link rate)
 *
 * hop = the route's latency + signal: doorbell, and the flag that the receiver polls. peers: on other nodes; `put` s each, where
 * a proxy takes 2 posts of 1 us (pairwise.c). Peers of the node are reached by stores over NVLink meanwhile. The size moves at
 * what the links allow: a put needs no receive and no slot.
 *
 * Source: NVIDIA's blog on NVSHMEM and GPUDirect Async (2022): up to 9.5 times the throughput of the proxy below 1 KiB;
 * constants in calibrate/defaults/library.yaml `ibgda`. Valid: NVIDIA GPUs, several nodes, InfiniBand or RoCE adapters of NVIDIA
 * with GPUDirect RDMA. Check: test_models_pairs. */
#include <math.h>

#include "collective/terms-private.h"

static void
cost_of (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlGdaSpec *spec = &library->ibgda;
  (void)proto;
  mdl_cost_begin (q, cost, &spec->start);
  double local = (double)MIN (MAX (q->ranks_per_node, 1u), q->n_ranks) - 1.0;
  double remote = q->op == MDL_OP_ALLTOALL ? (double)q->n_ranks - 1.0 - local : 1.0;
  double hop_s = q->inter_latency_s + spec->signal.v;
  mdl_cost_term (q, cost, "hop latency", hop_s, &spec->signal, "route %.3g us + signal %.3g us", q->inter_latency_s * 1e6,
                 spec->signal.v * 1e6);
  double puts_s = remote * spec->put.v;
  mdl_cost_term (q, cost, "puts", puts_s, &spec->put, "%.4g peers on other nodes x %.3g us", remote, spec->put.v * 1e6);
  cost->hop_software_s[0] = cost->hop_software_s[1] = spec->signal.v + puts_s;
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  if (!library->ibgda.put.set)
    return "the library has no GPU-initiated puts";
  if (proto != MDL_PROTO_SIMPLE)
    return "it puts data as they are: simple";
  if (q->n_nodes <= 1)
    return "its ranks are all on one node, where NVSHMEM stores over NVLink";
  if (mdl_library_plugged (library, q->network))
    return "IBGDA drives InfiniBand and RoCE adapters, and a plugin serves this network";
  return q->inter != MDL_HOP_NET ? "IBGDA needs GPUDirect RDMA" : NULL;
}

const MdlColl mdl_coll_ibgda = {
  .algo = MDL_ALGO_IBGDA,
  .ops = 1u << MDL_OP_ALLTOALL | 1u << MDL_OP_SENDRECV,
  .n_steps = mdl_exchange_steps,
  .cost = cost_of,
  .plain = mdl_exchange_plain,
  .why_not = why_not,
};
