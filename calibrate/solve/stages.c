/* Which constants which measurements tell. One table: a stage is a row. */
#include <math.h>

#include "solve/solve-private.h"

#define BIT(x)     (1u << (unsigned)(x))
#define GRAPH      (BIT (MDL_LAUNCH_GRAPH) | BIT (MDL_LAUNCH_REGISTERED))
#define ANY        (GRAPH | BIT (MDL_LAUNCH_THREADS) | BIT (MDL_LAUNCH_SERIAL))
#define LOCKSTEP   (BIT (MDL_OP_ALL_REDUCE) | BIT (MDL_OP_ALL_GATHER) | BIT (MDL_OP_REDUCE_SCATTER))
#define CHAIN      (BIT (MDL_OP_BROADCAST) | BIT (MDL_OP_REDUCE))
#define PAIRS      (BIT (MDL_OP_ALLTOALL) | BIT (MDL_OP_SENDRECV))
#define ALL_OPS    (LOCKSTEP | CHAIN | PAIRS)
#define ALL_ALGOS  (BIT (MDL_ALGO_RING) | BIT (MDL_ALGO_TREE) | BIT (MDL_ALGO_NVLS) | BIT (MDL_ALGO_PAIRWISE))
#define ALL_PROTOS (BIT (MDL_PROTO_LL) | BIT (MDL_PROTO_LL128) | BIT (MDL_PROTO_SIMPLE))
/* Launches of some 100 us at most are less than a hundredth of such a message's time on the fastest of links. */
#define LAUNCH_GONE 0x1p28

/* Of one node: by graph replay; by plain launches. */
#define GRAPHED(name, ops, algo, proto, paths)            \
  {                                                       \
    { name, paths }, ops, algo, proto, GRAPH, LAUNCH_GONE \
  }
#define LAUNCHED(name, launch, paths)                                       \
  {                                                                         \
    { name, paths }, ALL_OPS, ALL_ALGOS, ALL_PROTOS, BIT (launch), HUGE_VAL \
  }

const CalStageSpec cal_stages[] = {
  GRAPHED (
      "ring LL", LOCKSTEP, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_LL),
      "ring.start.ll ring.gather_start.ll ring.scatter_start.ll ring.nvlink.ll.latency ring.nvlink.ll.rate "
      "ring.blend.ll protocols.ll.overlap protocols.ll.copy protocols.ll.ends protocols.ll.gather_ends protocols.ll.scatter_ends "
      "protocols.ll.miss protocols.ll.misaligned ring.per_channel.ll+"),
  GRAPHED ("ring LL128", LOCKSTEP, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_LL128),
           "ring.start.ll128 ring.gather_start.ll128 ring.scatter_start.ll128 ring.nvlink.ll128.latency ring.nvlink.ll128.rate "
           "ring.nvlink.ll128.halved ring.halving.ll128 ring.blend.ll128 protocols.ll128.copy protocols.ll128.ends "
           "protocols.ll128.gather_ends protocols.ll128.scatter_ends ring.per_channel.ll128+"),
  GRAPHED (
      "ring Simple", LOCKSTEP, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_SIMPLE),
      "ring.start.simple ring.gather_start.simple ring.scatter_start.simple ring.nvlink.simple.latency ring.nvlink.simple.floor "
      "ring.nvlink.simple.rate ring.nvlink.simple.slice ring.nvlink.simple.halving ring.halving.simple protocols.simple.overlap "
      "protocols.simple.copy protocols.simple.ends protocols.simple.gather_ends protocols.simple.scatter_ends "
      "ring.per_channel.simple+"),
  GRAPHED ("chain LL", CHAIN, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_LL),
           "ring.chain.start.ll ring.chain.middle.ll ring.chain.reduce.ll ring.chain.rate.ll ring.chain.forward_after.ll"),
  GRAPHED ("chain LL128", CHAIN, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_LL128),
           "ring.chain.start.ll128 ring.chain.middle.ll128 ring.chain.reduce.ll128 ring.chain.rate.ll128 "
           "ring.chain.forward_after.ll128"),
  GRAPHED ("chain Simple", CHAIN, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_SIMPLE),
           "ring.chain.start.simple ring.chain.middle.simple ring.chain.reduce.simple ring.chain.rate.simple "
           "ring.chain.forward_after.simple"),
  GRAPHED ("tree LL", LOCKSTEP, BIT (MDL_ALGO_TREE), BIT (MDL_PROTO_LL),
           "tree.start.ll tree.nvlink.ll.latency tree.nvlink.ll.rate tree.stream.ll tree.end_stream.ll tree.inner.ll "
           "tree.per_channel.ll+ protocols.ll.forward_after protocols.ll.forward_after_max"),
  GRAPHED ("tree LL128", LOCKSTEP, BIT (MDL_ALGO_TREE), BIT (MDL_PROTO_LL128),
           "tree.start.ll128 tree.nvlink.ll128.latency tree.nvlink.ll128.rate tree.stream.ll128 tree.end_stream.ll128 "
           "tree.inner.ll128 tree.per_channel.ll128+ tree.per_piece.ll128+ protocols.ll128.forward_after"),
  GRAPHED ("tree Simple", LOCKSTEP, BIT (MDL_ALGO_TREE), BIT (MDL_PROTO_SIMPLE),
           "tree.start.simple tree.nvlink.simple.latency tree.nvlink.simple.rate tree.stream.simple tree.end_stream.simple "
           "tree.inner.simple tree.per_channel.simple+ tree.per_piece.simple+ tree.registered_piece "
           "protocols.simple.forward_after"),
  GRAPHED ("NVLS", LOCKSTEP, BIT (MDL_ALGO_NVLS), BIT (MDL_PROTO_SIMPLE),
           "nvls.latency nvls.efficiency nvls.efficiency_from_100 nvls.rate"),
  GRAPHED ("sends and receives", PAIRS, BIT (MDL_ALGO_PAIRWISE), ALL_PROTOS,
           "pairwise.start.ll pairwise.start.simple pairwise.per_doubling+ pairwise.per_peer+ pairwise.nvlink.ll.latency "
           "pairwise.nvlink.ll.rate pairwise.nvlink.simple.latency pairwise.nvlink.simple.rate pairwise.blend pairwise.fill "
           "pairwise.wire"),
  LAUNCHED ("launch, a thread a GPU", MDL_LAUNCH_THREADS, "launch.threads.extra launch.threads.per_gpu pairwise.enqueue+"),
  LAUNCHED ("launch, one thread", MDL_LAUNCH_SERIAL,
            "launch.serial.extra launch.serial.per_gpu launch.serial.per_channel pairwise.enqueue+"),
  { .stage = { NULL, NULL } },
};

gboolean
cal_stage_takes (const CalStageSpec *stage, const CalFitPoint *point)
{
  return point->nodes == 1 && point->ranks >= 2 && (stage->ops & BIT (point->op)) && point->algo >= 0 &&
         (stage->algos & BIT (point->algo)) && point->proto >= 0 && (stage->protos & BIT (point->proto)) &&
         ((stage->launches & BIT (point->launch)) || point->size_B >= stage->any_launch_B);
}

const char cal_between_nodes[] = "between nodes";

gboolean
cal_is_between_nodes (const CalFitPoint *point)
{
  return point->nodes > 1 && point->ranks >= 2 && point->algo >= 0 && point->proto >= 0;
}

const char *
cal_fit_stage_name (const CalFitPoint *point)
{
  if (cal_is_between_nodes (point))
    return cal_between_nodes;
  for (const CalStageSpec *stage = cal_stages; stage->stage.name != NULL; stage++)
    if (cal_stage_takes (stage, point))
      return stage->stage.name;
  return NULL;
}
