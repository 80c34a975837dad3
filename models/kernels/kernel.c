/* What the models of kernels share: terms of an answer, memory's rate, power.
 *
 * Power. At full clock a kernel would draw W = power x (flop / time) / peak on top of what the GPU draws idle. Where W exceeds what
 * the limit leaves, L = limit - idle, the clock falls, and with it the voltage: dynamic power goes as clock x voltage^2, voltage
 * about as a part of the clock, so that clock falls as (L/W)^exponent, exponent between 1/3 and 1:
 *
 *     time' = time (1 + (W/L)^8)^(exponent/8)
 *
 * which is max (1, W/L)^exponent without the corner. After an idle moment the GPU draws more for a while: `credit` seconds worth of
 * L, spread over `interval` or over the kernel if it lasts longer: L' = L (1 + credit / max (interval, time)).
 *
 * time' grows with time and with flop, and never falls as peak grows. Source: fitted to what forerun-probe measured in bursts of
 * 2 ms and in 1.2 s without a pause; the exponent is the textbook's.
 * Check: test_models_kernel. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "kernels/kernel-private.h"

/* Sharpness of the corner where power begins to limit. */
static const double CORNER = 8.0;

const BaseName mdl_gemm_op_names[] = {
  { "forward", MDL_GEMM_FORWARD, "Y = X W', summed over features in" },
  { "dgrad", MDL_GEMM_DGRAD, "dX = dY W, summed over features out" },
  { "wgrad", MDL_GEMM_WGRAD, "dW = dY' X, summed over tokens" },
  { NULL, 0, NULL },
};

const BaseName mdl_memory_kind_names[] = {
  { "copy", MDL_MEMORY_COPY, "one array in, one out" },
  { "add", MDL_MEMORY_ADD, "two in, one out" },
  { "swiglu", MDL_MEMORY_GATED, "two in, one out, a nonlinearity between" },
  { "rmsnorm", MDL_MEMORY_NORM, "by rows, one reduction in each" },
  { "softmax", MDL_MEMORY_SOFTMAX, "by rows, two reductions in each" },
  { "adam", MDL_MEMORY_ADAM, "optimizers" },
  { NULL, 0, NULL },
};

const BaseName mdl_launch_kind_names[] = {
  { "kernel", MDL_LAUNCH_COST_KERNEL, "host: queueing a kernel" },
  { "graph", MDL_LAUNCH_COST_GRAPH, "host: cudaGraphLaunch" },
  { "event", MDL_LAUNCH_COST_EVENT, "host: cudaEventRecord" },
  { "synchronise", MDL_LAUNCH_COST_SYNCHRONISE, "host: waiting for a stream that is idle" },
  { "wait", MDL_LAUNCH_COST_WAIT, "host: queueing a kernel that does nothing and waiting for its end" },
  { "kernel_gap", MDL_LAUNCH_COST_KERNEL_GAP, "GPU: least time from kernel to kernel" },
  { "graph_kernel", MDL_LAUNCH_COST_GRAPH_KERNEL, "GPU: the same inside a graph" },
  { "graph_gap", MDL_LAUNCH_COST_GRAPH_GAP, "GPU: least time from graph to graph" },
  { NULL, 0, NULL },
};

double
mdl_kernel_concurrent (double a_s, double b_s)
{
  double a = a_s * a_s, b = b_s * b_s;
  return sqrt (sqrt (a * a + b * b));
}

void
mdl_kernel_open (const MdlGpu *gpu, gboolean terse, MdlKernelCost *cost)
{
  memset (cost, 0, sizeof *cost);
  cost->bound = "start";
  cost->source = gpu->source;
  cost->terse = terse;
}

void
mdl_kernel_use (MdlKernelCost *cost, const BaseNum *num)
{
  cost->source = MIN (cost->source, num->source);
}

void
mdl_kernel_term (MdlKernelCost *cost, const char *name, double value_s, const BaseNum *from, const char *format, ...)
{
  if (value_s == 0.0)
    return;
  g_return_if_fail (cost->n_terms < MDL_KERNEL_TERMS);
  if (from != NULL)
    mdl_kernel_use (cost, from);
  cost->time_s += value_s;
  va_list args;
  va_start (args, format);
  mdl_term_fill (&cost->term[cost->n_terms++], name, value_s, from, cost->terse ? NULL : format, args);
  va_end (args);
}

void
mdl_kernel_close (const MdlKernels *kernels, MdlKernelCost *cost)
{
  cost->band = cost->source != BASE_SOURCE_ASSUMED && kernels->error.set ? kernels->error.v : kernels->assumed_error.v;
}

double
mdl_kernel_memory_Bps (const MdlKernels *kernels, const MdlGpu *gpu, double reads)
{
  double copy = gpu->memory_efficiency * kernels->memory.share.v;
  double share = copy * (1.0 + kernels->memory.reads.v * fmax (2.0 * reads - 1.0, 0.0));
  return gpu->memory_Bps * fmin (share, 1.0);
}

double
mdl_kernel_sm_flop_per_s (const MdlGpu *gpu)
{
  const double *peak = gpu->peak_flop_per_s;
  double half = fmax (peak[MDL_PRECISION_BF16], peak[MDL_PRECISION_FP16]);
  return (half > 0.0 ? half : peak[MDL_PRECISION_FP32]) / fmax (gpu->sms, 1.0);
}

double
mdl_kernel_power_s (const MdlKernels *kernels, const MdlGpu *gpu, MdlPrecision dtype, double flop, double time_s,
                    gboolean sustained, MdlKernelCost *cost)
{
  const MdlPowerSpec *power = &kernels->power;
  const BaseNum *drawn = &kernels->gemm.at[dtype].power, *within = &kernels->gemm.sustained;
  double limit_W = gpu->power_W - power->idle.v, factor = sustained && within->v > 0.0 ? within->v : 1.0, drawn_W = 0.0;
  double limited_s = time_s;
  if (limit_W > 0.0 && drawn->v > 0.0 && time_s > 0.0) {
    if (!sustained)
      limit_W *= 1.0 + power->credit.v / fmax (power->interval.v, time_s);
    drawn_W = drawn->v * flop / time_s / gpu->peak_flop_per_s[dtype];
    limited_s *= pow (1.0 + pow (drawn_W / limit_W, CORNER), power->exponent.v / CORNER);
  }
  if (cost == NULL)
    return limited_s / factor;
  if (drawn_W > 0.0 && drawn_W > limit_W)
    cost->bound = "power";
  mdl_kernel_term (cost, "power", limited_s - time_s, drawn, "%.0f W at full clock, %.0f W %s", drawn_W, limit_W,
                   sustained ? "left by the limit" : "after an idle moment");
  mdl_kernel_term (cost, "in steps", limited_s / factor - limited_s, within, "%.4g times the rate alone", factor);
  return limited_s / factor;
}

/* A constant alone, measured by forerun-probe (docs/probe_compute.md, `launch`). On the GPU, kernels of a stream that do nothing
 * follow each other by `kernel_gap` when launched plainly, by `graph_kernel` inside a graph; times of kernels are those of plain
 * launches. */
double
mdl_launch_cost_s (const MdlKernels *kernels, MdlLaunchKind kind)
{
  g_return_val_if_fail (kind < MDL_LAUNCH_COST_N, 0.0);
  return kernels->launch.at[kind].v;
}
