/* Number formats of training: what a matrix product computes in, what weights, gradients and states are kept in. */
#ifndef MODELS_FORMAT_H
#define MODELS_FORMAT_H

#include "models/gpu.h"
#include "models/op.h"

/* Narrowest first. */
typedef enum {
  MDL_FORMAT_FP4, MDL_FORMAT_FP8, MDL_FORMAT_FP16, MDL_FORMAT_BF16, MDL_FORMAT_TF32, MDL_FORMAT_FP32, MDL_FORMAT_N,
  MDL_FORMAT_NONE = -1 /* there is no such copy */
} MdlFormat;

extern const BaseName mdl_format_names[]; /* "fp4" …, "none" too */

/* Bytes of an element in memory, without block scales: 0.5 for fp4, 4 for tf32, which only computes shorter; 0 for NONE. */
double mdl_format_B (MdlFormat format);
/* The same of frozen weights kept in `base`: fp4 is NF4 with its scales, 4.127 bits (Dettmers et al. 2305.14314, section 3). */
double mdl_base_B (MdlFormat base);
/* Scaling factors of products in fp8 and fp4, by Transformer Engine's recipes. */
typedef enum {
  MDL_SCALING_NONE, /* not said */
  MDL_SCALING_DELAYED, MDL_SCALING_TENSOR, MDL_SCALING_BLOCK, MDL_SCALING_MXFP8, MDL_SCALING_NVFP4
} MdlScaling;
extern const BaseName mdl_scaling_names[];
/* Bytes of an element of a weight as its products read it, scales and copies both ways round included. fp8 products of compute
 * capability 90 take operands in one order only, so that a transposed copy stays; from 100 on they take either. Blocks are scaled
 * along one direction, so that both are kept on any GPU: mxfp8 1 B for 32 elements, nvfp4 1 B for 16, blocks of 128 x 128 4 B.
 * Source: NVIDIA/TransformerEngine transformer_engine/pytorch/tensor (float8_tensor.py, mxfp8_tensor.py, nvfp4_tensor.py) and
 * is_non_tn_fp8_gemm_supported() of pytorch/utils.py. Not of NONE. */
double mdl_scaled_weight_B (MdlScaling scaling, double capability);
/* What a cast of an operand to such elements does in fused code, transposed copy included. */
typedef struct {
  double reads;      /* of the operand in its wider format */
  double written_B;  /* an element, scales included */
  gboolean together; /* operands of all experts in one kernel */
  gboolean in_norm;  /* the norm that makes an operand writes it cast; else in its wider format, with its largest value */
  gboolean swizzles; /* scales of a product's operands are brought into the order of the matrix units */
} MdlCast;
/* `one_way`: products of fp8 take operands one way round alone, before compute capability 100. A factor for a tensor needs its
 * largest value first (zeroed, found, made a factor, then the cast, by one call of the host); delayed ones are known, and all
 * experts go at once. nvfp4: Hadamard transforms for the largest value, the cast along rows, a transformed cast along columns. Not
 * said: as delayed ones, an expert after the other.
 * Source: NVIDIA/TransformerEngine v2.9 transformer_engine/pytorch/csrc/quantizer.cpp (quantize_impl), extensions/cast.cpp
 * (multi_tensor_quantize_impl), extensions/normalization.cpp, extensions/gemm.cpp (swizzle_scaling_factors),
 * common/recipe/current_scaling.cu. Norms of mxfp8 write it cast with NVTE_NORM_FWD_USE_CUDNN=1, which recipes set. */
MdlCast mdl_scaled_cast (MdlScaling scaling, MdlFormat format, gboolean one_way);
/* What a GPU computes such elements in; not of NONE. */
MdlPrecision mdl_format_precision (MdlFormat format);
/* What a collective of such elements counts as; fp4 travels as bytes (int8), as NCCL has no type for it. */
MdlDtype mdl_format_dtype (MdlFormat format);

#endif
