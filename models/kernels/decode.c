/* Attention while sequences decode: one query, or 1 + drafts, of each reads its keys and values from a cache in blocks.
 *
 * Every token of the cache is read once and multiplied with the queries that share it, H/K heads of q queries as rows of a tile,
 * padded to `rows`. Kernels cut each sequence into parts so that all SMs have work, and add up the parts afterwards:
 *
 *     token = max (B of a token / (share x memory's rate of reads), flop of a token / (math x peak))
 *     time = start + sequences K tile / S + join x parts + max (least, context x token)
 *
 * B of a token: K (d + dv) b; latent (MLA, absorbed) d b, because values are a part of the keys. flop of a token:
 * 2 K (H q / K, padded) (d + dv). `tile`: begin and end of a sequence and KV head on an SM; `least`: what the shortest caches take.
 * parts: S / (sequences K), of 128 tokens or more each and 128 at most, if that is 2 or more: few SMs add one after the other.
 * So time is a line in the sum of the contexts from `least` on, which lets many steps be added up at once.
 *
 * Source: Dao et al., "Flash-Decoding for long-context inference" (2023) for the cuts; FlashMLA's README (deepseek-ai, 2025) for
 * 3,000 GB/s and 660 TFLOP/s on H800; other constants by calibrate/sections/kernels.c. Valid: caches in HBM, blocks of 16 tokens or
 * more. Check: test_models_decode, accuracy.fit_kernels. */
#include <math.h>

#include "kernels/kernel-private.h"

#define PART_TOKENS 128.0 /* of a part at least: a tile of keys */
#define MOST_PARTS  128.0 /* as FlashAttention has */

typedef struct {
  double kv_heads, rows, value_dim;
  double token_B, token_flop, done_flop; /* of a token of context; done: on padded rows */
  double memory_s, math_s;               /* of a token of context */
  double begin_s, tiles_s;
  double join_s, full; /* to add up all parts; tokens of all sequences from which on there are so many */
} Shape;

static Shape
shape_of (const MdlKernels *kernels, const MdlGpu *gpu, const MdlDecode *a)
{
  const MdlDecodeSpec *spec = &kernels->decode;
  Shape s = { .kv_heads = a->latent ? 1.0 : a->kv_heads > 0.0 ? a->kv_heads : a->heads };
  double queries = a->queries > 0.0 ? a->queries : 1.0, shared = a->heads * queries / s.kv_heads;
  s.value_dim = a->value_dim > 0.0 ? a->value_dim : a->head_dim;
  s.rows = ceil (shared / spec->rows.v) * spec->rows.v;
  double wide = a->head_dim + s.value_dim, element_B = a->kv_B > 0.0 ? a->kv_B : mdl_precision_size_B (a->dtype);
  s.token_B = a->token_B > 0.0 ? a->token_B : s.kv_heads * (a->latent ? a->head_dim : wide) * element_B;
  s.token_flop = 2.0 * a->heads * queries * wide;
  s.done_flop = 2.0 * s.kv_heads * s.rows * wide;
  double peak = gpu->peak_flop_per_s[a->dtype];
  s.memory_s = s.token_B / (spec->share.v * mdl_kernel_memory_Bps (kernels, gpu, 1.0));
  s.math_s = peak > 0.0 ? s.done_flop / (spec->math.v * peak) : HUGE_VAL;
  s.begin_s = spec->start.v;
  s.tiles_s = a->sequences * s.kv_heads * spec->tile.v / fmax (gpu->sms, 1.0);
  const double parts = fmin (gpu->sms / (a->sequences * s.kv_heads), MOST_PARTS);
  if (parts >= 2.0) {
    s.join_s = spec->join.v * parts;
    s.full = parts * PART_TOKENS * a->sequences;
  }
  return s;
}

double
mdl_decode_token_B (const MdlDecode *a)
{
  static const MdlKernels none = { .decode = { .rows = { .v = 1.0 } } };
  static const MdlGpu any = { .sms = 1.0 };
  return shape_of (&none, &any, a).token_B;
}

void
mdl_decode_line (const MdlKernels *kernels, const MdlGpu *gpu, const MdlDecode *a, MdlDecodeLine *line)
{
  *line = (MdlDecodeLine){ .to = HUGE_VAL };
  if (a->sequences <= 0.0 || a->heads <= 0.0)
    return;
  Shape s = shape_of (kernels, gpu, a);
  double token_s = fmax (s.memory_s, s.math_s), bend = kernels->decode.least.v / token_s;
  if (isinf (token_s)) {
    line->base_s = HUGE_VAL;
    return;
  }
  line->base_s = s.begin_s + s.tiles_s;
  if (a->context < bend) {
    line->base_s += kernels->decode.least.v;
    line->to = bend;
  } else {
    line->slope_s = token_s;
    line->from = bend;
  }
  if (a->context < s.full) {
    line->slope_s += s.join_s / s.full;
    line->to = fmin (line->to, s.full);
  } else {
    line->base_s += s.join_s;
    line->from = fmax (line->from, s.full);
  }
}

double
mdl_decode_time_s (const MdlKernels *kernels, const MdlGpu *gpu, const MdlDecode *a)
{
  MdlDecodeLine line;
  mdl_decode_line (kernels, gpu, a, &line);
  return line.slope_s > 0.0 ? line.base_s + line.slope_s * a->context : line.base_s;
}

void
mdl_decode_cost (const MdlKernels *kernels, const MdlGpu *gpu, const MdlDecode *a, MdlKernelCost *cost)
{
  const MdlDecodeSpec *spec = &kernels->decode;
  mdl_kernel_open (gpu, a->terse, cost);
  if (a->sequences <= 0.0 || a->heads <= 0.0)
    return;
  Shape s = shape_of (kernels, gpu, a);
  double memory_s = s.memory_s * a->context, math_s = s.math_s * a->context;
  cost->flop = s.token_flop * a->context;
  cost->bytes_B = s.token_B * a->context;
  cost->memory_s = memory_s;
  cost->math_s = cost->flop > 0.0 ? math_s * s.token_flop / s.done_flop : 0.0;
  cost->busy = 1.0;
  cost->bound = fmax (memory_s, math_s) < spec->least.v ? "start" : memory_s >= math_s ? "memory" : "math";
  if (isinf (s.math_s)) {
    cost->time_s = HUGE_VAL;
    return;
  }
  mdl_kernel_use (cost, &kernels->memory.share);
  mdl_kernel_term (cost, "start", s.begin_s, &spec->start, "%.3g us", s.begin_s * 1e6);
  mdl_kernel_term (cost, "tiles", s.tiles_s, &spec->tile, "%.0f sequences x %.0f KV heads on %.0f SMs", a->sequences, s.kv_heads,
                   gpu->sms);
  mdl_kernel_term (cost, "parts", s.full > 0.0 ? s.join_s * fmin (a->context / s.full, 1.0) : 0.0, &spec->join, "%.3g us for each",
                   spec->join.v * 1e6);
  mdl_kernel_term (cost, "memory", memory_s, &spec->share, "%.4g MB of the cache at %.4g GB/s", cost->bytes_B * 1e-6,
                   s.token_B / s.memory_s * 1e-9);
  mdl_kernel_term (cost, "math", fmax (math_s - memory_s, 0.0), &spec->math, "%.4g GFLOP in %.0f rows take %.4g us",
                   cost->flop * 1e-9, s.rows, math_s * 1e6);
  mdl_kernel_term (cost, "least", fmax (spec->least.v - fmax (math_s, memory_s), 0.0), &spec->least,
                   "to the %.3g us of a short cache", spec->least.v * 1e6);
  mdl_kernel_close (kernels, cost);
}
