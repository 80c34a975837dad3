/* Number formats of weights and KV caches. */
#include "serving/spec.h"

const BaseName srv_engine_names[] = {
  { "vllm", SRV_ENGINE_VLLM, "vLLM, its v1 scheduler" },
  { "sglang", SRV_ENGINE_SGLANG, "SGLang" },
  { "trtllm", SRV_ENGINE_TRTLLM, "TensorRT-LLM" },
  { NULL, 0, NULL },
};

const BaseName srv_format_names[] = {
  { "bf16", SRV_FORMAT_BF16, "16 bit, also for fp16" },
  { "fp8", SRV_FORMAT_FP8, "8 bit, one scale per tensor or block" },
  { "nvfp4", SRV_FORMAT_NVFP4, "4 bit, a scale of 8 bit per 16 values" },
  { "mxfp4", SRV_FORMAT_MXFP4, "4 bit, a scale of 8 bit per 32 values" },
  { "int4", SRV_FORMAT_INT4, "4 bit, a scale of 16 bit per 128 values; computes in 16 bit" },
  { NULL, 0, NULL },
};

double
srv_format_B (SrvFormat format)
{
  static const double bits[SRV_FORMAT_N] = { 16, 8, 4.5, 4.25, 4.125 };
  return bits[format] / 8;
}
