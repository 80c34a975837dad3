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
/* What a GPU computes such elements in; not of NONE. */
MdlPrecision mdl_format_precision (MdlFormat format);
/* What a collective of such elements counts as; fp4 travels as bytes (int8), as NCCL has no type for it. */
MdlDtype mdl_format_dtype (MdlFormat format);

#endif
