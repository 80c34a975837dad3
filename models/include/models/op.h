/* Collective operations, algorithms and protocols: names, size conventions and busbw factors of nccl-tests.
 * Source: nccl-tests doc/PERFORMANCE.md and src/{all_reduce,all_gather,…}.cu (getBw); NCCL src/include/nccl_tuner.h (names). */
#ifndef MODELS_OP_H
#define MODELS_OP_H

#include <glib.h>

#include "base/schema.h"

G_BEGIN_DECLS

typedef enum {
  MDL_OP_ALL_REDUCE, MDL_OP_ALL_GATHER, MDL_OP_REDUCE_SCATTER, MDL_OP_BROADCAST, MDL_OP_REDUCE, MDL_OP_ALLTOALL, MDL_OP_SENDRECV,
  MDL_OP_N
} MdlOp;

typedef enum {
  MDL_ALGO_TREE, MDL_ALGO_RING, MDL_ALGO_COLLNET_DIRECT, MDL_ALGO_COLLNET_CHAIN, MDL_ALGO_NVLS, MDL_ALGO_NVLS_TREE, MDL_ALGO_PAT,
  MDL_ALGO_PAIRWISE, /* sends and receives: alltoall, sendrecv */
  MDL_ALGO_N,
  MDL_ALGO_AUTO = -1,
  MDL_ALGO_BEST = -2
} MdlAlgo; /* NCCL's order, in which ties are decided */

typedef enum { MDL_PROTO_LL, MDL_PROTO_LL128, MDL_PROTO_SIMPLE, MDL_PROTO_N, MDL_PROTO_AUTO = -1 } MdlProto;

typedef enum {
  MDL_DTYPE_INT8, MDL_DTYPE_FP8, MDL_DTYPE_FP16, MDL_DTYPE_BF16, MDL_DTYPE_FP32, MDL_DTYPE_FP64,
  MDL_DTYPE_N
} MdlDtype;

extern const BaseName mdl_op_names[], mdl_algo_names[], mdl_proto_names[], mdl_dtype_names[];
/* The operations that NCCL tunes, as its settings and logs name them (src/graph/tuning.cc:ncclFuncStr); all others are sends and
 * receives. */
extern const BaseName mdl_op_nccl_names[];

unsigned mdl_dtype_size_B (MdlDtype dtype);

/* busbw / algbw for `ranks` ranks; algbw = bytes / time, with `bytes` as nccl-tests prints them. 0 for one rank where the factor
 * vanishes. */
double mdl_op_busbw_factor (MdlOp op, unsigned ranks);

G_END_DECLS

#endif
