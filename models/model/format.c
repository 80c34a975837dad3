/* Number formats of training: names and sizes. */
#include "models/format.h"

const BaseName mdl_format_names[] = {
  { "fp4", MDL_FORMAT_FP4, "4 bits, with block scales" },
  { "fp8", MDL_FORMAT_FP8, "8 bits, with scales" },
  { "fp16", MDL_FORMAT_FP16, "16 bits" },
  { "bf16", MDL_FORMAT_BF16, "16 bits, the exponent of fp32" },
  { "tf32", MDL_FORMAT_TF32, "fp32 in memory, multiplied with 10 bits of mantissa" },
  { "fp32", MDL_FORMAT_FP32, "32 bits" },
  { "none", MDL_FORMAT_NONE, "no copy" },
  { NULL, 0, NULL },
};

MdlPrecision
mdl_format_precision (MdlFormat format)
{
  static const MdlPrecision precision[MDL_FORMAT_N] = { MDL_PRECISION_FP4,  MDL_PRECISION_FP8,  MDL_PRECISION_FP16,
                                                        MDL_PRECISION_BF16, MDL_PRECISION_TF32, MDL_PRECISION_FP32 };
  return precision[format];
}

double
mdl_format_B (MdlFormat format)
{
  return format == MDL_FORMAT_NONE ? 0 : mdl_precision_size_B (mdl_format_precision (format));
}

double
mdl_base_B (MdlFormat base)
{
  return base == MDL_FORMAT_FP4 ? 4.127 / 8 : mdl_format_B (base);
}

MdlDtype
mdl_format_dtype (MdlFormat format)
{
  static const MdlDtype dtype[MDL_FORMAT_N] = { MDL_DTYPE_INT8, MDL_DTYPE_FP8,  MDL_DTYPE_FP16,
                                                MDL_DTYPE_BF16, MDL_DTYPE_FP32, MDL_DTYPE_FP32 };
  return format == MDL_FORMAT_NONE ? MDL_DTYPE_INT8 : dtype[format];
}

const BaseName mdl_scaling_names[] = {
  { "delayed", MDL_SCALING_DELAYED, "fp8, one factor a tensor, of earlier steps" },
  { "tensorwise", MDL_SCALING_TENSOR, "fp8, one factor a tensor (current scaling)" },
  { "blockwise", MDL_SCALING_BLOCK, "fp8, one factor for 128 x 128 weights" },
  { "mxfp8", MDL_SCALING_MXFP8, "fp8, one factor for 32 elements" },
  { "nvfp4", MDL_SCALING_NVFP4, "fp4, one factor for 16 elements" },
  { NULL, 0, NULL },
};

double
mdl_scaled_weight_B (MdlScaling scaling, double capability)
{
  switch (scaling) {
    case MDL_SCALING_BLOCK:
      return 2 * (1 + 4.0 / (128 * 128));
    case MDL_SCALING_MXFP8:
      return 2 * (1 + 1.0 / 32);
    case MDL_SCALING_NVFP4:
      return 2 * (0.5 + 1.0 / 16);
    case MDL_SCALING_DELAYED:
    case MDL_SCALING_TENSOR:
    case MDL_SCALING_NONE:
    default:
      return capability >= 100 ? 1 : 2;
  }
}

MdlCast
mdl_scaled_cast (MdlScaling scaling, MdlFormat format, gboolean one_way)
{
  const double element_B = mdl_format_B (format);
  switch (scaling) {
    case MDL_SCALING_DELAYED:
      return (MdlCast){ 1, (one_way ? 2 : 1) * element_B, one_way, TRUE, FALSE };
    case MDL_SCALING_TENSOR:
      return (MdlCast){ 2, (one_way ? 2 : 1) * element_B, FALSE, FALSE, FALSE };
    case MDL_SCALING_BLOCK:
      return (MdlCast){ 1, 2 * element_B, FALSE, FALSE, FALSE };
    case MDL_SCALING_MXFP8:
      return (MdlCast){ 1, 2 * (element_B + 1.0 / 32), FALSE, TRUE, TRUE };
    case MDL_SCALING_NVFP4:
      return (MdlCast){ 3, 2 * (element_B + 1.0 / 16), FALSE, FALSE, TRUE };
    case MDL_SCALING_NONE:
    default:
      return (MdlCast){ 1, 2 * element_B, FALSE, TRUE, FALSE };
  }
}
