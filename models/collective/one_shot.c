/* All-reduce by kernels of frameworks (vLLM, SGLang, TensorRT-LLM, PyTorch), which take it in NCCL's place inside a node.
 *
 *     one shot:      each rank reads what all others have, and adds:  T = start + t r + f (n - 2) + (n - 1) S / (e link)
 *     two shots:     each adds its n-th part, then reads the parts:   T = start + t r + wait + 2 (n - 1)/n S / (e link)
 *     in the switch: NVSwitch adds (multimem):                        T = start + t r + (1 + 1/n) S / (e link)
 *
 * r: what a load from a peer's memory takes to come back; t: how many of them follow each other, with the flags that say that
 * data are there; f: a further peer's flag. Loads that a kernel has under way bound the rate: inflight / r of S. wait: of a
 * second stage, whose barrier partly lies beneath the data. Called from Python without a graph, it takes `call` at least, and
 * data are first copied to where peers may read. Which kernel runs is a range of sizes, by framework, GPUs and compute
 * capability; beyond the largest the framework calls NCCL.
 *
 * Source: constants in calibrate/defaults/library.yaml `one_shot`, fitted as tests/data/one_shot/SOURCES.md says. Valid: 2, 4, 6 or
 * 8 NVIDIA GPUs of one node, NVLink between all. Check: test_models_one_shot, `forerun validate` (one_shot_*). */
#include <math.h>

#include "collective/terms-private.h"

const BaseName mdl_one_shot_kinds[] = {
  { "one_shot", MDL_ONE_SHOT, "each GPU reads all data of all others" },
  { "two_shot", MDL_TWO_SHOT, "each GPU adds a part, then reads the others'" },
  { "in_switch", MDL_SWITCH_SHOT, "the NVSwitch adds (multimem)" },
  { NULL, 0, NULL },
};

/* The kernel that serves the question; NULL: none does. */
static const MdlOneShotKernel *
kernel_of (const MdlOneShotSpec *spec, const MdlCollQuestion *q)
{
  const char *framework = q->one_shot != NULL ? q->one_shot : spec->framework.v;
  for (guint i = 0; i < spec->ranges.n; i++) {
    const MdlOneShotRange *range = BASE_LIST_AT (spec->ranges, MdlOneShotRange, i);
    if (g_strcmp0 (range->framework.v, framework) != 0 || range->gpus.v != q->n_ranks ||
        (double)q->compute_capability < range->capability.v || q->size_B > range->max.v)
      continue;
    for (guint k = 0; k < spec->kernels.n; k++) {
      const MdlOneShotKernel *kernel = BASE_LIST_AT (spec->kernels, MdlOneShotKernel, k);
      if (g_strcmp0 (kernel->name.v, range->kernel.v) == 0)
        return kernel;
    }
  }
  return NULL;
}

/* Whether the framework has a kernel for the GPU and so many of them, at any size. */
static gboolean
serves_gpu (const MdlOneShotSpec *spec, const MdlCollQuestion *q)
{
  MdlCollQuestion small = *q;
  small.size_B = 0.0;
  return kernel_of (spec, &small) != NULL;
}

GPtrArray *
mdl_one_shot_frameworks (const MdlLibrary *library)
{
  GPtrArray *names = g_ptr_array_new ();
  for (guint i = 0; i < library->one_shot.ranges.n; i++) {
    const char *name = BASE_LIST_AT (library->one_shot.ranges, MdlOneShotRange, i)->framework.v;
    if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
      g_ptr_array_add (names, (gpointer)(guintptr)name);
  }
  g_ptr_array_add (names, NULL);
  return names;
}

/* Bytes on a link per byte of what an all-to-all of the size would put there: S / n from each rank to each other. */
static double
copies (const MdlOneShotKernel *kernel, double n)
{
  switch ((MdlOneShotKind)kernel->kind.v) {
    case MDL_ONE_SHOT:
      return n;
    case MDL_TWO_SHOT:
      return 2.0;
    default:
      return (n + 1.0) / (n - 1.0);
  }
}

/* Without a graph: the copy to where peers may read, and the call's own time. */
static void
add_call (const MdlLibrary *library, const MdlOneShotKernel *kernel, const MdlCollQuestion *q, double size_s, MdlCollCost *cost)
{
  const MdlOneShotSpec *spec = &library->one_shot;
  if (mdl_launch_replays (q->launch))
    return;
  double launch_s = library->launch.at[q->launch].extra.v;
  double copy_s = kernel->mapped.v ? 0.0 : spec->copy.v + mdl_time_s (q->size_B, spec->copy_rate.v);
  if (copy_s > 0.0)
    mdl_cost_term (q, cost, "copy in", fmax (copy_s - launch_s, 0.0), &spec->copy, "%.3g us, and %.4g GB/s in the GPU's memory",
                   spec->copy.v * 1e6, spec->copy_rate.v * 1e-9);
  double missing_s = kernel->call.v - launch_s - cost->latency_s - size_s;
  mdl_cost_term (q, cost, "call", fmax (missing_s, 0.0), &kernel->call, "a call from Python takes %.3g us at least",
                 kernel->call.v * 1e6);
}

static void
cost_of (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)proto;
  const MdlOneShotSpec *spec = &library->one_shot;
  const MdlOneShotKernel *kernel = kernel_of (spec, q);
  g_return_if_fail (kernel != NULL);
  const gboolean late = q->compute_capability >= 100;
  const BaseNum *trip = late ? &spec->round_trip_from_100 : &spec->round_trip;
  const BaseNum *efficiency = late && kernel->efficiency_from_100.set ? &kernel->efficiency_from_100 : &kernel->efficiency;
  const double n = (double)q->n_ranks;

  cost->wire = copies (kernel, n) / efficiency->v;
  mdl_cost_use (cost, efficiency);
  if (kernel->inflight.set)
    mdl_cost_bound (cost, kernel->inflight.v / trip->v, &kernel->inflight);
  const double size_s = mdl_time_s (q->size_B, mdl_cost_rate (q, cost));
  mdl_cost_begin (q, cost, &kernel->start);
  static const char *const titles[] = {
    [MDL_ONE_SHOT] = "one shot", [MDL_TWO_SHOT] = "two shots", [MDL_SWITCH_SHOT] = "NVSwitch"
  };
  const double trips_s = kernel->trips.v * trip->v;
  mdl_cost_term (q, cost, "round trips", trips_s, trip, "%s: %.3g x %.3g us to a peer's memory and back", titles[kernel->kind.v],
                 kernel->trips.v, trip->v * 1e6);
  mdl_cost_term (q, cost, "flags", kernel->flag.v * (n - 2.0), &kernel->flag, "%.4g further peers x %.3g us", n - 2.0,
                 kernel->flag.v * 1e6);
  const double wait_s = fmax (kernel->wait.v * trip->v - kernel->hidden.v * size_s, 0.0);
  mdl_cost_term (q, cost, "second barrier", wait_s, trip, "%.3g x %.3g us, %.3g of the data's time hidden", kernel->wait.v,
                 trip->v * 1e6, kernel->hidden.v);
  cost->hop_software_s[0] = fmax (trips_s + wait_s - q->intra_latency_s, 0.0);
  add_call (library, kernel, q, size_s, cost);
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  if (library->one_shot.ranges.n == 0 || q->compute_capability == 0)
    return "frameworks' kernels are known for NVIDIA GPUs only";
  if (proto != MDL_PROTO_SIMPLE)
    return "it reads data as they are: simple";
  if (q->n_nodes > 1)
    return "its kernels read the other GPUs' memory over NVLink, so all must be in one node; NCCL serves several";
  if (q->n_ranks != 2 && q->n_ranks != 4 && q->n_ranks != 6 && q->n_ranks != 8)
    return "its kernels serve 2, 4, 6 or 8 GPUs; NCCL serves all others";
  if (q->intra != MDL_HOP_NVLINK || (!q->switched && q->n_ranks > 2))
    return "its kernels need NVLink between all GPUs";
  if (!serves_gpu (&library->one_shot, q))
    return "this framework's kernels need Hopper or a later GPU; NCCL serves this one";
  return kernel_of (&library->one_shot, q) == NULL ? "the size is more than the framework's kernels take; it calls NCCL" : NULL;
}

const MdlColl mdl_coll_one_shot = {
  .algo = MDL_ALGO_ONE_SHOT,
  .ops = 1u << MDL_OP_ALL_REDUCE,
  .n_steps = mdl_exchange_steps,
  .cost = cost_of,
  .plain = mdl_exchange_plain,
  .why_not = why_not,
};
