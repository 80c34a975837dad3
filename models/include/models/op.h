/* Collective operations, algorithms and protocols: names, size conventions and busbw factors of nccl-tests.
 * Source: nccl-tests doc/PERFORMANCE.md and src/{all_reduce,all_gather,…}.cu (getBw); NCCL src/include/nccl_tuner.h (names). */
#ifndef MODELS_OP_H
#define MODELS_OP_H

#include <glib.h>

#include "base/schema.h"

typedef enum {
  MDL_OP_ALL_REDUCE, MDL_OP_ALL_GATHER, MDL_OP_REDUCE_SCATTER, MDL_OP_BROADCAST, MDL_OP_REDUCE, MDL_OP_ALLTOALL, MDL_OP_SENDRECV,
  MDL_OP_N
} MdlOp;

/* Algorithms, one row each: code, name (NCCL's in lower case, words apart), letter in maps, what it is. The row makes
 * MDL_ALGO_CODE, its names, and the place in the table of costs of mdl_coll_NAME, which stands in models/collective/NAME.c. */
#define MDL_ALGO_NCCL_ROWS(ROW)                                                                                  \
  ROW (TREE, tree, 'T', "chain in a node, double binary tree over nodes")                                        \
  ROW (RING, ring, 'R', "ring")                                                                                  \
  ROW (COLLNET_DIRECT, collnet_direct, 'D', "reduction in the network's switches, all ranks of a node at once")  \
  ROW (COLLNET_CHAIN, collnet_chain, 'C', "reduction in the network's switches, a chain in the node")            \
  ROW (NVLS, nvls, 'N', "reduction and multicast in the NVSwitch")                                               \
  ROW (NVLS_TREE, nvls_tree, 'M', "NVSwitch in the node, tree over nodes")                                       \
  ROW (PAT, pat, 'A', "parallel aggregated trees")
/* Those that NCCL's tuner knows, in its order, in which ties are decided, then all others. */
#define MDL_ALGO_ROWS(ROW)                                                                                       \
  MDL_ALGO_NCCL_ROWS (ROW)                                                                                       \
  ROW (PAIRWISE, pairwise, 'P', "sends and receives between pairs")                                              \
  ROW (IBGDA, ibgda, 'G', "puts by the GPU's own threads (NVSHMEM over IBGDA); never chosen automatically") \
  ROW (TORUS, torus, 'O', "rings along all dimensions of a torus at once")                                           \
  ROW (HIERARCHICAL, hierarchical, 'H', "inside each node, then between nodes by equal accelerators (TPU slices, Trainium)") \
  ROW (ONE_SHOT, one_shot, 'F', "kernels of vLLM, SGLang and TensorRT-LLM, one node; taken if `one_shot` names one") \
  ROW (SYMMETRIC, symmetric, 'S', "NCCL's kernels on windows of symmetric memory, one NVLink domain; taken if `buffers` says so") \
  ROW (COPY_ENGINE, copy_engine, 'E', "copies by the GPUs' copy engines, one NVLink domain; taken with NCCL_CTA_POLICY=ZERO")

#define MDL_ALGO_ENUM_(code, name, letter, help) MDL_ALGO_##code,
#define MDL_ALGO_COUNT_(code, name, letter, help) +1
typedef enum {
  MDL_ALGO_ROWS (MDL_ALGO_ENUM_)
  MDL_ALGO_N,
  MDL_ALGO_NCCL_N = 0 MDL_ALGO_NCCL_ROWS (MDL_ALGO_COUNT_),
  MDL_ALGO_AUTO = -1,
  MDL_ALGO_BEST = -2
} MdlAlgo;

typedef enum { MDL_PROTO_LL, MDL_PROTO_LL128, MDL_PROTO_SIMPLE, MDL_PROTO_N, MDL_PROTO_AUTO = -1 } MdlProto;

typedef enum {
  MDL_DTYPE_INT8, MDL_DTYPE_FP8, MDL_DTYPE_FP16, MDL_DTYPE_BF16, MDL_DTYPE_FP32, MDL_DTYPE_FP64,
  MDL_DTYPE_N
} MdlDtype;

extern const BaseName mdl_op_names[], mdl_algo_names[], mdl_proto_names[], mdl_dtype_names[];
/* The operations that NCCL tunes, as its settings and logs name them (src/graph/tuning.cc:ncclFuncStr); all others are sends and
 * receives. */
extern const BaseName mdl_op_nccl_names[];
/* The algorithm or protocol (mdl_algo_names, mdl_proto_names) that NCCL's settings and logs call `word`, without regard to case
 * and '_'; NULL: none. */
const BaseName *mdl_nccl_name_find (const BaseName *names, const char *word);
/* Of a map's cell. */
char mdl_algo_letter (MdlAlgo algo);

unsigned mdl_dtype_size_B (MdlDtype dtype);

/* busbw / algbw for `ranks` ranks; algbw = bytes / time, with `bytes` as nccl-tests prints them. 0 for one rank where the factor
 * vanishes. */
double mdl_op_busbw_factor (MdlOp op, unsigned ranks);

#endif
