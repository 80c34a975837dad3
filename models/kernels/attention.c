/* Fused attention (flash): scores stay on the SM.
 *
 * A tile of `queries` rows of one head is a unit of work on an SM; it goes over the tiles of `keys` columns that its rows see. Each
 * score costs its products at the matrix units and an exponential, one after the other:
 *
 *     score = flop_per_score / (share peak / S) + 1 / (scores p)       flop: forward 2 d + 2 dv, backward 6 d + 4 dv
 *     unit = queries x (columns seen, whole tiles) x score + tile
 *
 * p: an SM's peak in 16 bit. Units of one length take rounds = ceil (units / S); causal ones differ, the longest go first, half a
 * mean unit is left over:
 *
 *     time = start + beside (rounds unit, traffic / memory's rate) + passes / memory's rate
 *
 * traffic: queries, keys, values and results once; backward their gradients too. Keys of a group of heads (GQA) are read once.
 * Under a window of w keys a causal unit sees w + queries - 1 columns, of which whole tiles are computed.
 * Backward a unit is a tile of keys that goes over the queries; the gradient of the queries is added up in fp32, and a pass
 * before (results with their gradients) and one after (that gradient to its format) are on their own. The rates were read where
 * power limits already.
 *
 * Source: Dao et al., FlashAttention-2 (2307.08691) section 3 for the work of a block; that products and exponentials add up is
 * read off Shah et al., FlashAttention-3 (2407.08608) figure 5: 497 and 648 TFLOP/s at d = 64 and 128 are 4 d / 930 TFLOP/s and
 * 1 / (4.2e12 1/s) a score, about 16 exponentials a clock of 132 SMs.
 * Which tiles a windowed unit visits: Dao-AILab/flash-attention hopper/block.h, get_n_block_min_max.
 * Check: test_models_kernel, law_models_kernel, accuracy_models_kernel. */
#include <math.h>

#include "kernels/kernel-private.h"

typedef struct {
  const MdlAttentionPass *pass;
  double batch, heads, kv_heads, q, kv, d, dv;
  double seen, most; /* keys of a query, on average and at most */
  double edged;      /* share of the queries whose first key a window sets */
} Shape;

static Shape
shape_of (const MdlKernels *kernels, const MdlAttention *a)
{
  Shape s = { .batch = a->batch > 0.0 ? a->batch : 1.0, .heads = a->heads, .q = a->q_length, .d = a->head_dim };
  s.kv_heads = a->kv_heads > 0.0 ? a->kv_heads : a->heads;
  s.kv = a->kv_length > 0.0 ? a->kv_length : a->q_length;
  s.dv = a->value_dim > 0.0 ? a->value_dim : a->head_dim;
  s.pass = kernels == NULL ? NULL : a->backward ? &kernels->attention.backward : &kernels->attention.forward;
  s.seen = s.kv;
  double most = s.most = a->window > 0.0 ? fmin (a->window, s.kv) : s.kv;
  if (a->causal) {
    /* Query i of q sees min (most, kv - q + i + 1) keys, none below 0: a ramp between two flat parts. */
    double first = s.kv - s.q, ramp_from = fmax (first, 0.0), ramp_to = fmin (s.kv, most);
    double rows = fmax (ramp_to - ramp_from, 0.0), flat = s.kv - fmax (ramp_from, most);
    s.seen = s.q > 0.0 ? (rows * 0.5 * (ramp_from + ramp_to) + fmax (flat, 0.0) * most) / s.q : 0.0;
    s.edged = s.q > 0.0 && most < s.kv ? fmax (flat, 0.0) / s.q : 0.0;
  } else
    s.seen = most;
  return s;
}

static double
flop_per_score (const MdlAttention *a, const Shape *s)
{
  return a->backward ? 6.0 * s->d + 4.0 * s->dv : 2.0 * (s->d + s->dv);
}

double
mdl_attention_flop (const MdlAttention *a)
{
  Shape s = shape_of (NULL, a);
  return s.batch * s.heads * s.q * s.seen * flop_per_score (a, &s);
}

/* Of the kernel itself, each array once. */
static double
traffic_B (const MdlAttention *a, const Shape *s)
{
  double element_B = mdl_precision_size_B (a->dtype), out_B = fmax (element_B, mdl_precision_size_B (MDL_PRECISION_BF16));
  double queries = s->batch * s->heads * s->q, keys = s->batch * s->kv_heads * s->kv;
  double forward = (queries * s->d + keys * (s->d + s->dv)) * element_B + queries * s->dv * out_B;
  if (!a->backward)
    return forward;
  /* Gradients of keys and values; that of the queries in fp32, read and written. */
  return forward + keys * (s->d + s->dv) * out_B + 2.0 * queries * s->d * mdl_precision_size_B (MDL_PRECISION_FP32);
}

/* Of what goes before and after it backward. */
static double
passes_B (const MdlAttention *a, const Shape *s)
{
  double out_B = fmax (mdl_precision_size_B (a->dtype), mdl_precision_size_B (MDL_PRECISION_BF16));
  double queries = s->batch * s->heads * s->q;
  return a->backward ? queries * (2.0 * s->dv * out_B + s->d * (mdl_precision_size_B (MDL_PRECISION_FP32) + out_B)) : 0.0;
}

void
mdl_attention_cost (const MdlKernels *kernels, const MdlGpu *gpu, const MdlAttention *a, MdlKernelCost *cost)
{
  const MdlAttentionSpec *spec = &kernels->attention;
  mdl_kernel_open (gpu, a->terse, cost);
  Shape s = shape_of (kernels, a);
  cost->flop = mdl_attention_flop (a);
  if (cost->flop <= 0.0)
    return;
  cost->bytes_B = traffic_B (a, &s) + passes_B (a, &s);
  double peak = gpu->peak_flop_per_s[a->dtype], sms = fmax (gpu->sms, 1.0);
  if (peak <= 0.0) {
    cost->time_s = HUGE_VAL;
    return;
  }
  /* Forward a unit's rows are queries, backward keys; its columns the others that they see. */
  double rows = a->backward ? spec->keys.v : spec->queries.v, columns = a->backward ? spec->queries.v : spec->keys.v;
  double row_length = a->backward ? s.kv : s.q, column_length = a->backward ? s.q * s.seen / s.kv : s.seen;
  /* Causal: what is masked in the tiles on the diagonal is half a tile of columns; on a window's other edge half a tile of rows. */
  double across = a->causal ? column_length + 0.5 * columns + 0.5 * rows * s.edged : ceil (column_length / columns) * columns;
  double products_s = flop_per_score (a, &s) / (s.pass->share.v * peak / sms),
         exponential_s = 1.0 / (s.pass->scores.v * mdl_kernel_sm_flop_per_s (gpu));
  double units = s.batch * s.heads * ceil (row_length / rows),
         unit_s = rows * across * (products_s + exponential_s) + s.pass->tile.v;
  double rounds = ceil (units / sms);
  if (a->causal) {
    /* The longest unit sees all; none of this is worse than were all as long. */
    const double length = a->backward ? s.q : s.kv;
    double longest = s.most < s.kv ? fmin (length, s.most + rows - 1.0) : length;
    double longest_s = rows * ceil (longest / columns) * columns * (products_s + exponential_s) + s.pass->tile.v;
    rounds = fmin (fmax (units / sms + 0.5, longest_s / unit_s), rounds * fmax (longest_s / unit_s, 1.0));
  }
  double work_s = rounds * unit_s, memory_Bps = mdl_kernel_memory_Bps (kernels, gpu, 0.5);
  double memory_s = traffic_B (a, &s) / memory_Bps, passes_s = passes_B (a, &s) / memory_Bps;
  double time_s = mdl_kernel_concurrent (work_s, memory_s), scores = cost->flop / flop_per_score (a, &s) / sms;
  cost->busy = units / sms / rounds;
  cost->math_s = cost->flop / (s.pass->share.v * peak);
  cost->memory_s = memory_s + passes_s;
  cost->bound = memory_s > work_s ? "memory" : "math";
  mdl_kernel_use (cost, &kernels->memory.share);
  mdl_kernel_term (cost, "start", s.pass->start.v, &s.pass->start, "%.3g us", s.pass->start.v * 1e6);
  mdl_kernel_term (cost, "products", cost->math_s, &s.pass->share, "%.4g TFLOP at %.4g TFLOP/s", cost->flop * 1e-12,
                   s.pass->share.v * peak * 1e-12);
  mdl_kernel_term (cost, "exponentials", scores * exponential_s, &s.pass->scores, "%.4g G per SM", scores * 1e-9);
  mdl_kernel_term (cost, "tiles", work_s - cost->math_s - scores * exponential_s, &s.pass->tile,
                   "%.4g tiles of %.0f rows over %.4g columns, %.4g rounds on %.0f SMs", units, rows, across, rounds, sms);
  mdl_kernel_term (cost, "memory", time_s - work_s, NULL, "%.4g us of memory traffic", memory_s * 1e6);
  mdl_kernel_term (cost, "passes", passes_s, &kernels->memory.share, "%.4g MB before and after", passes_B (a, &s) * 1e-6);
  mdl_kernel_close (kernels, cost);
}

double
mdl_attention_time_s (const MdlKernels *kernels, const MdlGpu *gpu, const MdlAttention *a)
{
  MdlKernelCost cost;
  MdlAttention terse = *a;
  terse.terse = TRUE;
  mdl_attention_cost (kernels, gpu, &terse, &cost);
  return cost.time_s;
}
