/* Kernels that memory bounds.
 *
 *     time = start + (bytes - resident) / memory's rate + resident / (memory's rate x cache_rate)
 *     memory's rate = spec x efficiency x share x (1 + reads (2 r - 1)),  r the part of the traffic that is read, from a half on
 *
 * efficiency is that of the GPU's file (a large copy), share what kernels reach of it. DRAM loses time when it turns from reading
 * to writing, so that two arrays in and one out go faster than one and one. `start` is what is not hidden at the beginning and the
 * end, longer where rows are reduced. passes (optimizers aside): what the passes of a framework reach of that rate, whose views are
 * strided and whose sums read twice. resident: what the kernel before left in the L2, at most `cache`.
 *
 * Source: constants fitted to forerun-probe's passes of 1 MiB to 4 GiB an array.
 * Check: test_models_kernel, law_models_kernel, accuracy.fit_kernels. */
#include <math.h>

#include "kernels/kernel-private.h"

/* What moving elements one by one takes beyond their bytes. */
static void
add_indexing (const MdlMemoryKernelSpec *spec, const MdlMemory *memory, MdlKernelCost *cost)
{
  const struct {
    const char *name;
    double elements;
    const BaseNum *rate;
  } kernels[] = { { "index_add", memory->added, &spec->index_add }, { "index_copy", memory->placed, &spec->index_copy } };
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    const double more_s = kernels[i].rate->v > 0.0 ? kernels[i].elements / kernels[i].rate->v - cost->memory_s : 0.0;
    if (more_s <= 0.0)
      continue;
    mdl_kernel_term (cost, kernels[i].name, more_s, kernels[i].rate, "%.4g M elements at %.4g G/s, beyond memory's time",
                     kernels[i].elements * 1e-6, kernels[i].rate->v * 1e-9);
    cost->bound = "indexing";
  }
}

void
mdl_memory_cost (const MdlKernels *kernels, const MdlGpu *gpu, const MdlMemory *memory, MdlKernelCost *cost)
{
  const MdlMemoryKernelSpec *spec = &kernels->memory;
  mdl_kernel_open (gpu, memory->terse, cost);
  double bytes_B = memory->read_B + memory->written_B;
  if (bytes_B <= 0.0)
    return;
  const BaseNum *start = &spec->start.at[memory->kind];
  double resident_B = fmin (fmin (memory->resident_B, memory->read_B), spec->cache.v);
  double rate_Bps = mdl_kernel_memory_Bps (kernels, gpu, memory->read_B / bytes_B);
  if (spec->passes.v > 0.0 && memory->kind != MDL_MEMORY_ADAM) {
    rate_Bps *= spec->passes.v;
    mdl_kernel_use (cost, &spec->passes);
  }
  double cache_Bps = rate_Bps * fmax (spec->cache_rate.v, 1.0);
  double outside_B = bytes_B - resident_B;
  cost->bytes_B = bytes_B;
  cost->memory_s = outside_B / rate_Bps;
  cost->busy = 1.0;
  mdl_kernel_term (cost, "start", start->v, start, "%.3g us", start->v * 1e6);
  mdl_kernel_term (cost, "memory", cost->memory_s, &spec->share, "%.0f B at %.4g GB/s", outside_B, rate_Bps * 1e-9);
  mdl_kernel_term (cost, "cache", resident_B / cache_Bps, &spec->cache_rate, "%.0f B at %.4g GB/s", resident_B, cache_Bps * 1e-9);
  cost->bound = cost->memory_s > start->v ? "memory" : "start";
  add_indexing (spec, memory, cost);
  mdl_kernel_close (kernels, cost);
}

double
mdl_memory_time_s (const MdlKernels *kernels, const MdlGpu *gpu, const MdlMemory *memory)
{
  MdlKernelCost cost;
  MdlMemory terse = *memory;
  terse.terse = TRUE;
  mdl_memory_cost (kernels, gpu, &terse, &cost);
  return cost.time_s;
}
