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

static const char *const ring_ll[] = { "ring.start.ll",          "ring.gather_start.ll",     "ring.scatter_start.ll",
                                       "ring.nvlink.ll.latency", "ring.nvlink.ll.rate",      "ring.nvlink.ll.uneven",
                                       "ring.blend.ll",          "protocols.ll.overlap",     "protocols.ll.copy",
                                       "protocols.ll.ends",      "protocols.ll.gather_ends", "protocols.ll.scatter_ends",
                                       "protocols.ll.miss",      "ring.per_channel.ll",      NULL };
static const char *const ring_ll128[] = { "ring.start.ll128",
                                          "ring.gather_start.ll128",
                                          "ring.scatter_start.ll128",
                                          "ring.nvlink.ll128.latency",
                                          "ring.nvlink.ll128.rate",
                                          "ring.nvlink.ll128.halved",
                                          "ring.halving.ll128",
                                          "ring.blend.ll128",
                                          "protocols.ll128.copy",
                                          "protocols.ll128.ends",
                                          "protocols.ll128.gather_ends",
                                          "protocols.ll128.scatter_ends",
                                          "ring.per_channel.ll128",
                                          NULL };
static const char *const ring_simple[] = { "ring.start.simple",
                                           "ring.gather_start.simple",
                                           "ring.scatter_start.simple",
                                           "ring.nvlink.simple.latency",
                                           "ring.nvlink.simple.floor",
                                           "ring.nvlink.simple.rate",
                                           "ring.nvlink.simple.slice",
                                           "ring.nvlink.simple.halving",
                                           "ring.halving.simple",
                                           "protocols.simple.overlap",
                                           "protocols.simple.copy",
                                           "protocols.simple.ends",
                                           "protocols.simple.gather_ends",
                                           "protocols.simple.scatter_ends",
                                           "ring.per_channel.simple",
                                           NULL };
static const char *const chain_ll[] = { "ring.chain.start.ll", "ring.chain.middle.ll",  "ring.chain.reduce.ll",
                                        "ring.chain.rate.ll",  "ring.chain.hand_on.ll", NULL };
static const char *const chain_ll128[] = { "ring.chain.start.ll128", "ring.chain.middle.ll128",  "ring.chain.reduce.ll128",
                                           "ring.chain.rate.ll128",  "ring.chain.hand_on.ll128", NULL };
static const char *const chain_simple[] = { "ring.chain.start.simple", "ring.chain.middle.simple",  "ring.chain.reduce.simple",
                                            "ring.chain.rate.simple",  "ring.chain.hand_on.simple", NULL };
static const char *const tree_ll[] = { "tree.start.ll",
                                       "tree.nvlink.ll.latency",
                                       "tree.nvlink.ll.rate",
                                       "tree.stream.ll",
                                       "tree.end_stream.ll",
                                       "tree.inner.ll",
                                       "tree.per_channel.ll",
                                       "protocols.ll.hand_on",
                                       "protocols.ll.hand_on_most",
                                       NULL };
static const char *const tree_ll128[] = {
  "tree.start.ll128", "tree.nvlink.ll128.latency", "tree.nvlink.ll128.rate", "tree.stream.ll128",       "tree.end_stream.ll128",
  "tree.inner.ll128", "tree.per_channel.ll128",    "tree.per_piece.ll128",   "protocols.ll128.hand_on", NULL
};
static const char *const tree_simple[] = { "tree.start.simple",
                                           "tree.nvlink.simple.latency",
                                           "tree.nvlink.simple.rate",
                                           "tree.stream.simple",
                                           "tree.end_stream.simple",
                                           "tree.inner.simple",
                                           "tree.per_channel.simple",
                                           "tree.per_piece.simple",
                                           "tree.registered_piece",
                                           "protocols.simple.hand_on",
                                           NULL };
static const char *const nvls[] = { "nvls.latency", "nvls.efficiency", "nvls.efficiency_from_100", "nvls.rate", NULL };
static const char *const pairs[] = { "pairwise.start.ll",
                                     "pairwise.start.simple",
                                     "pairwise.doubling",
                                     "pairwise.further",
                                     "pairwise.nvlink.ll.latency",
                                     "pairwise.nvlink.ll.rate",
                                     "pairwise.nvlink.simple.latency",
                                     "pairwise.nvlink.simple.rate",
                                     "pairwise.blend",
                                     "pairwise.fill",
                                     "pairwise.wire",
                                     NULL };
/* Between nodes: which of the hops were crossed the points say themselves; the others no point depends on. */
static const char *const net_ring[] = { "ring.net.ll.latency",
                                        "ring.net.ll128.latency",
                                        "ring.net.simple.latency",
                                        "ring.net.ll.rate",
                                        "ring.net.ll128.rate",
                                        "ring.net.simple.rate",
                                        "ring.net_host.ll.latency",
                                        "ring.net_host.ll128.latency",
                                        "ring.net_host.simple.latency",
                                        "ring.tcp.ll.latency",
                                        "ring.tcp.ll128.latency",
                                        "ring.tcp.simple.latency",
                                        "ring.tcp.simple.rate",
                                        "ring.plateau",
                                        "ring.net.ll.floor",
                                        "ring.net.simple.floor",
                                        NULL };
static const char *const net_tree[] = { "tree.net.ll.latency",          "tree.net.ll128.latency",
                                        "tree.net.simple.latency",      "tree.net.ll.rate",
                                        "tree.net.ll128.rate",          "tree.net.simple.rate",
                                        "tree.net_host.ll.latency",     "tree.net_host.ll128.latency",
                                        "tree.net_host.simple.latency", "tree.tcp.ll.latency",
                                        "tree.tcp.ll128.latency",       "tree.tcp.simple.latency",
                                        "tree.tcp.simple.rate",         NULL };
static const char *const net_heads[] = { "nvls_tree.hop", "nvls_tree.latency", "nvls.net", NULL };
static const char *const net_pairs[] = { "pairwise.net.simple.latency",
                                         "pairwise.net.simple.rate",
                                         "pairwise.post",
                                         "pairwise.net_host.simple.latency",
                                         "pairwise.net_host.simple.rate",
                                         "pairwise.tcp.simple.latency",
                                         "pairwise.tcp.simple.rate",
                                         "pairwise.poll",
                                         NULL };
static const char *const threads[] = { "launch.threads.extra", "launch.threads.per_gpu", "pairwise.enqueue", NULL };
static const char *const serial[] = { "launch.serial.extra", "launch.serial.per_gpu", NULL };

const CalStageSpec cal_stages[] = {
  { "ring LL", LOCKSTEP, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_LL), GRAPH, LAUNCH_GONE, ring_ll, FALSE },
  { "ring LL128", LOCKSTEP, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_LL128), GRAPH, LAUNCH_GONE, ring_ll128, FALSE },
  { "ring Simple", LOCKSTEP, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_SIMPLE), GRAPH, LAUNCH_GONE, ring_simple, FALSE },
  { "chain LL", CHAIN, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_LL), GRAPH, LAUNCH_GONE, chain_ll, FALSE },
  { "chain LL128", CHAIN, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_LL128), GRAPH, LAUNCH_GONE, chain_ll128, FALSE },
  { "chain Simple", CHAIN, BIT (MDL_ALGO_RING), BIT (MDL_PROTO_SIMPLE), GRAPH, LAUNCH_GONE, chain_simple, FALSE },
  { "tree LL", LOCKSTEP, BIT (MDL_ALGO_TREE), BIT (MDL_PROTO_LL), GRAPH, LAUNCH_GONE, tree_ll, FALSE },
  { "tree LL128", LOCKSTEP, BIT (MDL_ALGO_TREE), BIT (MDL_PROTO_LL128), GRAPH, LAUNCH_GONE, tree_ll128, FALSE },
  { "tree Simple", LOCKSTEP, BIT (MDL_ALGO_TREE), BIT (MDL_PROTO_SIMPLE), GRAPH, LAUNCH_GONE, tree_simple, FALSE },
  { "NVLS", LOCKSTEP, BIT (MDL_ALGO_NVLS), BIT (MDL_PROTO_SIMPLE), GRAPH, LAUNCH_GONE, nvls, FALSE },
  { "sends and receives", PAIRS, BIT (MDL_ALGO_PAIRWISE), ALL_PROTOS, GRAPH, LAUNCH_GONE, pairs, FALSE },
  { "launch, a thread a GPU", ALL_OPS, ALL_ALGOS, ALL_PROTOS, BIT (MDL_LAUNCH_THREADS), HUGE_VAL, threads, FALSE },
  { "launch, one thread", ALL_OPS, ALL_ALGOS, ALL_PROTOS, BIT (MDL_LAUNCH_SERIAL), HUGE_VAL, serial, FALSE },
  { "ring between nodes", LOCKSTEP | CHAIN, BIT (MDL_ALGO_RING), ALL_PROTOS, ANY, HUGE_VAL, net_ring, TRUE },
  { "tree between nodes", LOCKSTEP, BIT (MDL_ALGO_TREE), ALL_PROTOS, ANY, HUGE_VAL, net_tree, TRUE },
  { "NVLS between nodes", LOCKSTEP, BIT (MDL_ALGO_NVLS) | BIT (MDL_ALGO_NVLS_TREE), ALL_PROTOS, ANY, HUGE_VAL, net_heads, TRUE },
  { "sends between nodes", PAIRS, BIT (MDL_ALGO_PAIRWISE), ALL_PROTOS, ANY, HUGE_VAL, net_pairs, TRUE },
  { .name = NULL },
};

gboolean
cal_stage_takes (const CalStageSpec *stage, const CalFitPoint *point)
{
  return stage->network == (point->nodes > 1) && point->ranks >= 2 && (stage->ops & BIT (point->op)) && point->algo >= 0 &&
         (stage->algos & BIT (point->algo)) && point->proto >= 0 && (stage->protos & BIT (point->proto)) &&
         ((stage->launches & BIT (point->launch)) || point->size_B >= stage->any_launch_B);
}

const char *
cal_fit_stage_name (const CalFitPoint *point)
{
  for (const CalStageSpec *stage = cal_stages; stage->name != NULL; stage++)
    if (cal_stage_takes (stage, point))
      return stage->name;
  return NULL;
}
