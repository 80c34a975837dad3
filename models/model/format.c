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
