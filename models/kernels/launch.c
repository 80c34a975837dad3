/* What launching costs: constants alone, each measured by forerun-probe (docs/probe_compute.md, `launch`).
 *
 * On the GPU, kernels of a stream that do nothing follow each other by `kernel_gap` when launched plainly, by `graph_kernel` inside
 * a graph; times of kernels (kernel.h) are those of plain launches. Check: test_models_kernel. */
#include <math.h>

#include "models/kernel-spec.h"

double
mdl_launch_cost_s (const MdlKernels *kernels, MdlLaunchKind kind)
{
  g_return_val_if_fail (kind < MDL_LAUNCH_COST_N, 0.0);
  return kernels->launch.at[kind].v;
}

double
mdl_graph_saving_s (const MdlKernels *kernels)
{
  const BaseNum *at = kernels->launch.at;
  return fmax (at[MDL_LAUNCH_COST_KERNEL_GAP].v - at[MDL_LAUNCH_COST_GRAPH_KERNEL].v, 0.0);
}
