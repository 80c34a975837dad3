#include "models/gpu.h"

const BaseName mdl_precision_names[] = {
  { "fp64", MDL_PRECISION_FP64, "64 bit" },
  { "fp32", MDL_PRECISION_FP32, "32 bit" },
  { "tf32", MDL_PRECISION_TF32, "fp32 in memory, 10 bits of mantissa in the tensor cores" },
  { "fp16", MDL_PRECISION_FP16, "16 bit, 5 of exponent" },
  { "bf16", MDL_PRECISION_BF16, "16 bit, 8 of exponent" },
  { "fp8", MDL_PRECISION_FP8, "8 bit" },
  { "int8", MDL_PRECISION_INT8, "8 bit, whole numbers" },
  { "fp4", MDL_PRECISION_FP4, "4 bit" },
  { NULL, 0, NULL },
};

double
mdl_precision_size_B (MdlPrecision precision)
{
  static const double size_B[MDL_PRECISION_N] = { 8, 4, 4, 2, 2, 1, 1, 0.5 };
  return size_B[precision];
}
