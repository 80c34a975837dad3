/* Matrix products.
 *
 * A product of M x N results, each a sum over K, is cut into tiles of m x n, one at a time on an SM; where there are fewer tiles
 * than SMs, K may be cut into s parts as well, of K' = K / s. S SMs take rounds = ceil (tiles s / S), each of
 *
 *     main = beside (2 m n K' / (share peak / S), (m + n) K' bytes / (feed p))  multiplying beside feeding the SM
 *     round = main + tile + store m n bytes S / memory's rate                  nothing multiplies while results are written
 *
 *     time = start + power (beside (rounds round, traffic / memory's rate) + split)
 *
 * p: an SM's peak in 16 bit. traffic: the operands as often as a region of S tiles needs them, but once at least, and the
 * results; at the rate of copies, which operands of few tokens stream at as well.
 * The library is taken to find the best of the tiles and cuts that the calibration names. beside (a, b) = (a^4 + b^4)^(1/4);
 * power: kernel.c.
 *
 * In fp32 libraries compute convolutions of 3 x 3 with fewer multiplications (`winograd`: 2.25 to 4 times fewer, by the size of the
 * tile), so that their counted FLOP may exceed the peak (Lavin and Gray 1509.09308).
 *
 * forward: M tokens, N features out, K in; dgrad: M tokens, N in, K out; wgrad: M out, N in, K tokens. Layouts differ in what of
 * the share they reach. A convolution is such a product of patches that overlap and are not in memory (implicit GEMM): its
 * `conv` of the share, and of the factor that holds inputs one tap's part. `batch` products are so many times the tiles;
 * groups add theirs up, and SMs share them without rounds.
 *
 * Source: tile and wave quantisation as NVIDIA's "Matrix Multiplication Background User's Guide" describes them; constants fitted
 * (calibrate/sections/kernels.c). Valid: dense products of a tuned library. Check: test_models_kernel, law_models_kernel,
 * accuracy.fit_kernels. */
#include <math.h>

#include "kernels/kernel-private.h"

/* Of the whole call. */
typedef struct {
  const MdlGemmSpec *spec;
  const MdlGemmRate *rate;
  double sm_flop_per_s; /* of one SM, at full clock */
  double sm_memory_Bps; /* of one SM's share of memory, writing */
  double feed_Bps;      /* of one SM */
  double sms, in_B, out_B;
} Machine;

/* What of the call has one shape. */
typedef struct {
  double rows, columns, depth, count;
  double row_share, column_share; /* of the factors' elements, that memory holds once */
} Part;

typedef struct {
  double m, n, split;      /* chosen */
  double rounds, busy;     /* of the SMs, over all rounds */
  double main_s, ideal_s;  /* of all rounds; ideal: multiplying alone, all SMs at work */
  double work_s, memory_s; /* of all rounds; of the traffic */
  double time_s;           /* at full clock, without the start */
} Plan;

static Part
part_of (const MdlGemm *gemm, double tokens, double count)
{
  const double once = gemm->conv ? 1.0 / fmax (gemm->taps, 1.0) : 1.0;
  switch (gemm->op) {
    case MDL_GEMM_DGRAD:
      return (Part){ tokens, gemm->k, gemm->n, count, once, 1.0 };
    case MDL_GEMM_WGRAD:
      return (Part){ gemm->n, gemm->k, tokens, count, 1.0, once };
    default:
      return (Part){ tokens, gemm->n, gemm->k, count, once, 1.0 };
  }
}

static double
once_B (const Machine *at, const Part *p)
{
  return p->count *
         ((p->rows * p->row_share + p->columns * p->column_share) * p->depth * at->in_B + p->rows * p->columns * at->out_B);
}

/* One way to cut, tried on all parts. */
static Plan
try_cut (const Machine *at, const Part *parts, unsigned n_parts, double m, double n, double split, double memory_Bps)
{
  Plan plan = { .m = m, .n = n, .split = split };
  double depth_of = fmax (at->spec->depth.v, 1.0), side = sqrt (at->sms * m * n);
  double sm_s = 0.0, units = 0.0, longest_s = 0.0, traffic_B = 0.0, flop = 0.0;
  for (unsigned i = 0; i < n_parts; i++) {
    const Part *p = &parts[i];
    if (p->count * p->rows * p->columns * p->depth <= 0.0)
      continue;
    double tiles = p->count * ceil (p->rows / m) * ceil (p->columns / n) * split;
    double depth = ceil (p->depth / split / depth_of) * depth_of;
    double main_s = mdl_kernel_concurrent (2.0 * m * n * depth / at->sm_flop_per_s, (m + n) * depth * at->in_B / at->feed_Bps);
    double result_B = split > 1.0 ? 2.0 * sizeof (float) : at->out_B; /* parts are written and read again in fp32 */
    double each_s = main_s + at->rate->tile.v + at->spec->store.v * m * n * result_B / at->sm_memory_Bps;
    double part_flop = 2.0 * p->count * p->rows * p->columns * p->depth;
    units += tiles;
    sm_s += tiles * each_s;
    plan.main_s += tiles * main_s;
    longest_s = fmax (longest_s, each_s);
    traffic_B += fmax (once_B (at, p), part_flop * 0.5 * (p->row_share + p->column_share) * at->in_B / side +
                                           p->count * p->rows * p->columns * at->out_B);
    flop += part_flop;
  }
  plan.rounds = n_parts == 1 ? ceil (units / at->sms) : fmax (units / at->sms, 1.0);
  plan.work_s = n_parts == 1 ? plan.rounds * longest_s : fmax (sm_s / at->sms, longest_s);
  plan.main_s *= plan.work_s / sm_s; /* of the rounds, idle SMs included */
  plan.busy = sm_s / (at->sms * plan.work_s);
  plan.ideal_s = flop / (at->sm_flop_per_s * at->sms);
  plan.memory_s = traffic_B / memory_Bps;
  plan.time_s = mdl_kernel_concurrent (plan.work_s, plan.memory_s) + (split > 1.0 ? at->spec->split.v : 0.0);
  return plan;
}

static Plan
best_cut (const Machine *at, const Part *parts, unsigned n_parts, double memory_Bps)
{
  Plan best = { .time_s = HUGE_VAL };
  for (unsigned t = 0; t < at->spec->tiles.n; t++) {
    const MdlTileSpec *tile = BASE_LIST_AT (at->spec->tiles, MdlTileSpec, t);
    for (unsigned turned = 0; turned < (tile->rows.v == tile->columns.v ? 1u : 2u); turned++)
      for (unsigned s = 0; s < at->spec->splits.n; s++) {
        Plan plan = try_cut (at, parts, n_parts, turned ? tile->columns.v : tile->rows.v, turned ? tile->rows.v : tile->columns.v,
                             at->spec->splits.item[s].v, memory_Bps);
        if (plan.time_s < best.time_s)
          best = plan;
      }
  }
  return best;
}

/* 3 x 3 with stride 1: each input is in nine patches. */
static gboolean
is_winograd (const MdlGemm *gemm)
{
  return gemm->conv && gemm->taps > 8.5 && gemm->taps < 9.5;
}

static Machine
machine_of (const MdlKernels *kernels, const MdlGpu *gpu, const MdlGemm *gemm)
{
  const MdlGemmRate *rate = &kernels->gemm.at[gemm->dtype];
  double in_B = mdl_precision_size_B (gemm->dtype);
  double share = rate->share.v;
  if (gemm->op == MDL_GEMM_DGRAD && rate->dgrad.v > 0.0)
    share *= rate->dgrad.v;
  if (gemm->op == MDL_GEMM_WGRAD && rate->wgrad.v > 0.0)
    share *= rate->wgrad.v;
  if (gemm->n_groups > 0)
    share *= kernels->gemm.grouped.v;
  if (gemm->conv && rate->conv.v > 0.0)
    share *= rate->conv.v;
  if (is_winograd (gemm) && rate->winograd.v > 0.0)
    share *= rate->winograd.v;
  Machine at = { .spec = &kernels->gemm, .rate = rate, .sms = fmax (gpu->sms, 1.0), .in_B = in_B };
  at.out_B = fmax (in_B, mdl_precision_size_B (MDL_PRECISION_BF16));
  if (gemm->op == MDL_GEMM_WGRAD && gemm->accumulate_fp32)
    at.out_B = 2.0 * mdl_precision_size_B (MDL_PRECISION_FP32); /* read and written */
  at.sm_flop_per_s = share * gpu->peak_flop_per_s[gemm->dtype] / at.sms;
  at.feed_Bps = kernels->gemm.feed.v * mdl_kernel_sm_flop_per_s (gpu);
  at.sm_memory_Bps = mdl_kernel_memory_Bps (kernels, gpu, 0.0) / at.sms;
  return at;
}

static void
explain (const MdlKernels *kernels, const MdlGpu *gpu, const MdlGemm *gemm, const Machine *at, const Plan *plan,
         MdlKernelCost *cost)
{
  const MdlGemmSpec *spec = &kernels->gemm;
  double split_s = plan->split > 1.0 ? spec->split.v : 0.0;
  cost->busy = plan->busy;
  cost->math_s = plan->ideal_s;
  cost->memory_s = plan->memory_s;
  cost->bound = plan->memory_s > plan->work_s ? "memory" : "math";
  mdl_kernel_use (cost, &spec->feed);
  mdl_kernel_use (cost, &spec->store);
  mdl_kernel_use (cost, &kernels->memory.share);
  if (gemm->n_groups > 0)
    mdl_kernel_use (cost, &spec->grouped);
  if (gemm->conv && at->rate->conv.set)
    mdl_kernel_use (cost, &at->rate->conv);
  if (is_winograd (gemm) && at->rate->winograd.set)
    mdl_kernel_use (cost, &at->rate->winograd);
  mdl_kernel_term (cost, "start", spec->start.v, &spec->start, "%.3g us", spec->start.v * 1e6);
  mdl_kernel_term (cost, "products", plan->ideal_s, &at->rate->share, "%.4g TFLOP at %.4g TFLOP/s", cost->flop * 1e-12,
                   at->sm_flop_per_s * at->sms * 1e-12);
  mdl_kernel_term (cost, "tiles", plan->main_s - plan->ideal_s, &spec->feed, "%.0f x %.0f, K in %.0f; %.4g rounds on %.0f SMs",
                   plan->m, plan->n, plan->split, plan->rounds, at->sms);
  mdl_kernel_term (cost, "results", plan->work_s - plan->main_s, &spec->store, "begin and end of %.4g rounds", plan->rounds);
  mdl_kernel_term (cost, "memory", plan->time_s - split_s - plan->work_s, NULL, "%.4g us of memory traffic", plan->memory_s * 1e6);
  mdl_kernel_term (cost, "split", split_s, &spec->split, "%.0f parts are added", plan->split);
  mdl_kernel_power_s (kernels, gpu, gemm->dtype, cost->flop, plan->time_s, gemm->sustained, cost);
  mdl_kernel_close (kernels, cost);
}

/* FALSE: nothing to do. Parts in `parts`, one or a group's each. */
static gboolean
plan_gemm (const MdlKernels *kernels, const MdlGpu *gpu, const MdlGemm *gemm, Machine *at, Plan *plan, double *flop,
           double *bytes_B)
{
  double batch = gemm->batch > 0.0 ? gemm->batch : 1.0;
  unsigned n_parts = gemm->n_groups > 0 ? gemm->n_groups : 1;
  g_autofree Part *parts = g_new (Part, n_parts);
  *at = machine_of (kernels, gpu, gemm);
  *flop = *bytes_B = 0.0;
  for (unsigned i = 0; i < n_parts; i++) {
    parts[i] = part_of (gemm, gemm->n_groups > 0 ? gemm->group_m[i] : gemm->m, batch);
    const Part *p = &parts[i];
    if (p->count * p->rows * p->columns * p->depth <= 0.0)
      continue;
    *flop += 2.0 * p->count * p->rows * p->columns * p->depth;
    *bytes_B += once_B (at, p);
  }
  if (*flop <= 0.0)
    return FALSE;
  *plan = best_cut (at, parts, n_parts, mdl_kernel_memory_Bps (kernels, gpu, 0.5));
  return TRUE;
}

double
mdl_gemm_time_s (const MdlKernels *kernels, const MdlGpu *gpu, const MdlGemm *gemm)
{
  Machine at;
  Plan plan;
  double flop, bytes_B;
  if (!plan_gemm (kernels, gpu, gemm, &at, &plan, &flop, &bytes_B))
    return 0.0;
  if (at.sm_flop_per_s <= 0.0)
    return HUGE_VAL;
  return kernels->gemm.start.v + mdl_kernel_power_s (kernels, gpu, gemm->dtype, flop, plan.time_s, gemm->sustained, NULL);
}

void
mdl_gemm_cost (const MdlKernels *kernels, const MdlGpu *gpu, const MdlGemm *gemm, MdlKernelCost *cost)
{
  Machine at;
  Plan plan;
  mdl_kernel_open (gpu, gemm->terse, cost);
  if (!plan_gemm (kernels, gpu, gemm, &at, &plan, &cost->flop, &cost->bytes_B))
    return;
  if (at.sm_flop_per_s > 0.0)
    explain (kernels, gpu, gemm, &at, &plan, cost);
  else
    cost->time_s = HUGE_VAL;
}
