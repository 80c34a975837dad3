/* What a data sheet says of a GPU, as models of kernels need it. */
#ifndef MODELS_GPU_H
#define MODELS_GPU_H

#include "base/leaf.h"
#include "base/schema.h"

/* Number formats of arithmetic. */
typedef enum {
  MDL_PRECISION_FP64, MDL_PRECISION_FP32, MDL_PRECISION_TF32, MDL_PRECISION_FP16, MDL_PRECISION_BF16, MDL_PRECISION_FP8,
  MDL_PRECISION_INT8, MDL_PRECISION_FP4,
  MDL_PRECISION_N
} MdlPrecision;
extern const BaseName mdl_precision_names[];

/* B of one element in memory; tf32 is kept as fp32, fp4 takes half a byte. */
double mdl_precision_size_B (MdlPrecision precision);

typedef struct {
  const char *name;                             /* "h200_sxm" */
  double capability;                            /* 90 for sm_90; 0: not NVIDIA's */
  double sms;                                   /* SMs, CUs, … */
  double memory_B, memory_Bps;                  /* of its HBM, as specified */
  double memory_efficiency;                     /* reached over specified by a large copy */
  double peak_flop_per_s[MDL_PRECISION_N];      /* dense; 0: it has no such units */
  double power_W;
  BaseSource source;                            /* weakest of the above */
} MdlGpu;

#endif
