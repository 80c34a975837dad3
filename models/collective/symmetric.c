/* NCCL's own kernels on windows of symmetric memory (2.27 on): every rank's buffers are mapped by all others, so that a kernel
 * loads and stores there itself. NCCL takes them in place of its tuner's choice wherever both buffers are in such windows.
 *
 * Which kernel, and by how many blocks b, NCCL's estimate decides; the least of E (1 + penalty b) wins:
 *     E = base + softplus (c / softmin (b gain block, peak) - 1 us);  b: the fewest within `tolerance` of the most
 * c: bytes that a rank sends or receives, by LL ll_factor times the bytes of all ranks. What it takes:
 *     loads, stores:  T = start + (n-2) peer + (ramp + (n-2) ramp_peer) x/(x + ramp_half) + B / min (b rate, e link)
 *     LL:             T = start + (n-2) peer + doubling log2 b + (B - (b + 1) line) / min (b rate / (1 + (n-2) rate_peer), e link)
 * x = B/b; B: what a rank loads and stores, by LL the size of one rank's part. Blocks count as a real number, so that time never
 * jumps where NCCL adds one.
 *
 * Source: estimate: NCCL src/sym_kernels.cc:queryModel_lsa, ncclSymkPickKernel (2.27.3: src/symmetric.cc:queryModel), the same from
 * 2.27.3 to 2.30.7. Constants: calibrate/defaults/library.yaml `symmetric`. Valid: NVIDIA GPUs of one NVLink domain. Check:
 * test_models_symmetric, `forerun validate` (h200_pair_symmetric_*). */
#include <math.h>
#include <string.h>

#include "collective/terms-private.h"

typedef struct {
  const MdlSymmetricKernel *kernel;
  double estimate_s, blocks; /* blocks: a whole number, as NCCL has it */
} Pick;

/* ---- NCCL's estimate ---- */

/* A smooth min (x, ceiling). */
static double
soft_min (double x, double ceiling, double softness)
{
  return ceiling - softness * log1p (expm1 (ceiling / softness) * exp (-x / softness));
}

/* A smooth max (0, x). */
static double
soft_plus (double x, double softness)
{
  const double z = x / softness;
  return z >= 100.0 ? x : softness * log1p (exp (z));
}

/* Bytes that the estimate counts. */
static double
counted_B (const MdlSymmetricSpec *spec, const MdlSymmetricKernel *kernel, const MdlCollQuestion *q)
{
  const double n = (double)q->n_ranks;
  const gboolean reduce = q->op == MDL_OP_ALL_REDUCE;
  const double part_B = ceil ((reduce ? q->size_B : q->size_B / n) / spec->cell.v) * spec->cell.v;
  if (kernel->ll.v)
    return n * part_B * spec->ll_factor.v;
  if (reduce)
    return kernel->multicast.v ? part_B / n + part_B : 2.0 * part_B * (n - 1.0) / n;
  return (n - 1.0) * part_B;
}

static double
estimate_s (const MdlSymmetricKernel *kernel, double bytes, double blocks, double n)
{
  static const double US = 1e-6;
  const double gain = kernel->gain.v + kernel->gain_per_rank.v * n;
  const double rate_Bps = soft_min (blocks * kernel->block.v * (gain > 0.0 ? gain : 1.0), kernel->peak.v, kernel->block.v);
  return kernel->base.v + soft_plus (bytes / rate_Bps - US, US);
}

static double
most_blocks (const MdlSymmetricSpec *spec, const MdlSymmetricKernel *kernel, const MdlCollQuestion *q)
{
  double most = spec->blocks.v;
  if (kernel->multicast.v && !kernel->ll.v)
    most = ceil ((q->compute_capability < 100 ? spec->multicast_blocks.v : spec->multicast_blocks_from_100.v) / (double)q->n_ranks);
  return q->max_ctas > 0 ? fmin (most, (double)q->max_ctas) : most;
}

/* The fewest blocks within the tolerance, as a real number. */
static double
blocks_of (const MdlSymmetricSpec *spec, const MdlSymmetricKernel *kernel, const MdlCollQuestion *q)
{
  enum { HALVINGS = 40 };
  const double n = (double)q->n_ranks, bytes = counted_B (spec, kernel, q);
  if (q->symmetric_ctas > 0) /* NCCL_SYM_CTAS fixes them, above the limit of multicast too */
    return fmin ((double)q->symmetric_ctas, spec->blocks.v);
  double high = most_blocks (spec, kernel, q), low = fmin (fmax ((double)q->min_ctas, 1.0), high);
  const double limit_s = (1.0 + spec->tolerance.v) * estimate_s (kernel, bytes, high, n);
  if (estimate_s (kernel, bytes, low, n) <= limit_s)
    return low;
  for (unsigned i = 0; i < HALVINGS; i++) {
    const double middle = 0.5 * (low + high);
    if (estimate_s (kernel, bytes, middle, n) <= limit_s)
      high = middle;
    else
      low = middle;
  }
  return high;
}

static gboolean
serves (const MdlSymmetricSpec *spec, const MdlSymmetricKernel *kernel, MdlProto proto, const MdlCollQuestion *q)
{
  if ((MdlOp)kernel->op.v != q->op || (kernel->multicast.v && !q->multicast) || q->size_B >= spec->max.v ||
      (double)q->compute_capability < kernel->capability.v || (kernel->ll.v && q->size_B >= spec->ll_max.v) ||
      (q->symmetric_kernel != NULL && strcmp (q->symmetric_kernel, kernel->name.v) != 0))
    return FALSE;
  return proto == MDL_PROTO_AUTO || proto == (kernel->ll.v ? MDL_PROTO_LL : MDL_PROTO_SIMPLE);
}

static gboolean
has_later_row (const MdlSymmetricSpec *spec, guint i, const MdlCollQuestion *q)
{
  const MdlSymmetricKernel *kernel = BASE_LIST_AT (spec->kernels, MdlSymmetricKernel, i);
  for (guint k = i + 1; k < spec->kernels.n; k++) {
    const MdlSymmetricKernel *other = BASE_LIST_AT (spec->kernels, MdlSymmetricKernel, k);
    if (g_strcmp0 (other->name.v, kernel->name.v) == 0 && (double)q->compute_capability >= other->capability.v)
      return TRUE;
  }
  return FALSE;
}

static gboolean
pick (const MdlSymmetricSpec *spec, MdlProto proto, const MdlCollQuestion *q, Pick *out)
{
  double least_s = HUGE_VAL;
  for (guint i = 0; i < spec->kernels.n; i++) {
    const MdlSymmetricKernel *kernel = BASE_LIST_AT (spec->kernels, MdlSymmetricKernel, i);
    if (!serves (spec, kernel, proto, q) || has_later_row (spec, i, q))
      continue;
    const double blocks = ceil (blocks_of (spec, kernel, q) - 1e-6); /* what halving left */
    const double time_s = estimate_s (kernel, counted_B (spec, kernel, q), blocks, (double)q->n_ranks);
    if (time_s * (1.0 + spec->penalty.v * blocks) < least_s) {
      least_s = time_s * (1.0 + spec->penalty.v * blocks);
      *out = (Pick){ .kernel = kernel, .estimate_s = time_s, .blocks = blocks };
    }
  }
  return least_s < HUGE_VAL;
}

/* ---- what it takes ---- */

/* Bytes on a link per byte of what an all-to-all of the size would put there: S / n from each rank to each other. */
static double
copies (const MdlSymmetricKernel *kernel, const MdlCollQuestion *q)
{
  const double n = (double)q->n_ranks;
  const gboolean reduce = q->op == MDL_OP_ALL_REDUCE;
  if (kernel->ll.v) /* a line is data and as much of flags; a multicast one comes back to its sender */
    return (reduce ? 2.0 * n : 2.0) * (kernel->multicast.v ? n / (n - 1.0) : 1.0);
  if (!reduce)
    return 1.0;
  return kernel->multicast.v ? (n + 1.0) / (n - 1.0) : 2.0;
}

static void
add_ramp (const MdlSymmetricKernel *kernel, const MdlCollQuestion *q, double block_B, MdlCollCost *cost)
{
  const double further = (double)q->n_ranks - 2.0;
  const double whole_s = kernel->ramp.v + kernel->ramp_peer.v * further;
  mdl_cost_term (q, cost, "ramp", whole_s * block_B / (block_B + kernel->ramp_half.v), &kernel->ramp,
                 "%.4g B a block, %.3g us are lost until it is at its rate", block_B, whole_s * 1e6);
}

/* LL: bytes of a part beyond the line that each thread takes first. */
static double
add_lines (const MdlSymmetricSpec *spec, const Pick *picked, const MdlCollQuestion *q, double blocks, MdlCollCost *cost)
{
  const MdlSymmetricKernel *kernel = picked->kernel;
  mdl_cost_term (q, cost, "blocks", kernel->doubling.v * log2 (blocks), &kernel->doubling, "%.3g us x log2 of %.3g blocks",
                 kernel->doubling.v * 1e6, blocks);
  const double part_B = q->op == MDL_OP_ALL_REDUCE ? q->size_B : q->size_B / (double)q->n_ranks;
  return fmax (part_B - (blocks + 1.0) * spec->line.v, 0.0); /* one more: NCCL rounds up */
}

static double
moved_B (const MdlSymmetricKernel *kernel, const MdlCollQuestion *q)
{
  const double n = (double)q->n_ranks;
  if (q->op == MDL_OP_ALL_REDUCE)
    return kernel->multicast.v ? q->size_B * (n + 1.0) / n : 2.0 * q->size_B * (n - 1.0) / n;
  return q->size_B * (n - 1.0) / n;
}

static gboolean
fits_cache (const MdlLibrary *library, const MdlCollQuestion *q)
{
  const double other_B = q->op == MDL_OP_ALL_REDUCE ? q->size_B : q->size_B / (double)q->n_ranks;
  return q->size_B + other_B <= library->cache.v;
}

static void
cost_of (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlSymmetricSpec *spec = &library->symmetric;
  Pick picked;
  MdlCollQuestion within = *q; /* beyond the largest size, which is refused, the kernel of just below it */
  within.size_B = fmin (q->size_B, 0.5 * (proto == MDL_PROTO_LL ? spec->ll_max.v : spec->max.v));
  const gboolean any = pick (spec, proto, &within, &picked);
  g_return_if_fail (any);
  const MdlSymmetricKernel *kernel = picked.kernel;
  const double further = (double)q->n_ranks - 2.0, blocks = blocks_of (spec, kernel, q), all_B = moved_B (kernel, q);
  cost->channels = (unsigned)picked.blocks;
  cost->wire = copies (kernel, q) / kernel->efficiency.v;
  mdl_cost_term (q, cost, "start", kernel->start.v, &kernel->start, "%s, %.3g us", kernel->name.v, kernel->start.v * 1e6);
  cost->start_s += kernel->start.v;
  mdl_cost_term (q, cost, "peers", kernel->peer.v * further, &kernel->peer, "%.4g further peers x %.3g us", further,
                 kernel->peer.v * 1e6);
  double size_s = 0.0;
  if (kernel->ll.v) { /* the part at the blocks' rate, in bytes of the size */
    const double rest_B = add_lines (spec, &picked, q, blocks, cost);
    size_s = rest_B / (blocks * kernel->rate.v / (1.0 + kernel->rate_peer.v * further));
    const double all_parts_B = rest_B * (q->op == MDL_OP_ALL_REDUCE ? 1.0 : (double)q->n_ranks);
    cost->wire = fmax (cost->wire * all_parts_B / fmax (q->size_B, 1.0), 1.0); /* the first lines' time is in `start` */
  } else {
    add_ramp (kernel, q, all_B / blocks, cost);
    const double faster = fits_cache (library, q) ? 1.0 + kernel->cached.v : 1.0;
    size_s = kernel->rate.set ? all_B / (blocks * kernel->rate.v * faster) : 0.0;
  }
  if (size_s > 0.0)
    mdl_cost_bound (cost, q->size_B / size_s, &kernel->rate);
  if (q->link_rate_Bps / cost->wire <= cost->bound_Bps)
    mdl_cost_use (cost, &kernel->efficiency);
  cost->bound_name = "blocks of the kernel";
  cost->hop_software_s[0] = fmax (cost->latency_s - q->intra_latency_s, 0.0);
}

/* ---- where ---- */

/* Later versions leave multicast between two ranks. */
static MdlCollQuestion
as_version (const MdlLibrary *library, const MdlCollQuestion *q)
{
  MdlCollQuestion own = *q;
  const char *until = library->symmetric.pairs_until.v;
  if (q->n_ranks == 2 && until != NULL &&
      (library->version == NULL || (mdl_version_from (library->version, until) && strcmp (library->version, until) != 0)))
    own.multicast = FALSE;
  return own;
}

static void
cost_by_version (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *question, MdlCollCost *cost)
{
  const MdlCollQuestion q = as_version (library, question);
  cost_of (library, proto, &q, cost);
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *question)
{
  const MdlSymmetricSpec *spec = &library->symmetric;
  const MdlCollQuestion q = as_version (library, question);
  Pick picked;
  if (spec->kernels.n == 0 || q.compute_capability == 0)
    return "NCCL's kernels on symmetric memory are for NVIDIA GPUs only";
  if (!mdl_version_from (library->version, spec->from.v))
    return "NCCL has kernels on symmetric memory from 2.27 on";
  if (proto == MDL_PROTO_LL128)
    return "these kernels have ll and simple";
  if (q.n_nodes > 1)
    return "over several NVLink domains it is not modelled (NCCL has it from 2.29 on); NCCL's tuner serves them";
  if (q.intra != MDL_HOP_NVLINK || (!q.switched && q.n_ranks > 2))
    return "it needs NVLink between all GPUs";
  if (q.compute_capability < 90)
    return "kernels on symmetric memory are modelled from Hopper on: none was measured before";
  if (q.symmetric_kernel != NULL && !pick (spec, proto, &q, &picked))
    return "the kernel of NCCL_SYM_KERNEL does not serve this operation, size or GPU; NCCL's tuner does";
  return pick (spec, proto, &q, &picked) ? NULL : "the size is more than these kernels take; NCCL's tuner serves it";
}

GPtrArray *
mdl_symmetric_kernels (const MdlLibrary *library)
{
  GPtrArray *names = g_ptr_array_new ();
  for (guint i = 0; i < library->symmetric.kernels.n; i++) {
    const char *name = BASE_LIST_AT (library->symmetric.kernels, MdlSymmetricKernel, i)->name.v;
    if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
      g_ptr_array_add (names, (gpointer)(guintptr)name);
  }
  g_ptr_array_add (names, NULL);
  return names;
}

const char *
mdl_symmetric_why_not (const MdlLibrary *library, const MdlCollQuestion *question)
{
  if (mdl_coll_find (MDL_ALGO_SYMMETRIC, question->op) == NULL)
    return "they serve all-reduce, all-gather and reduce-scatter";
  return why_not (library, MDL_PROTO_AUTO, question);
}

gboolean
mdl_symmetric_choice (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *question, MdlSymmetricChoice *out)
{
  Pick picked;
  if (why_not (library, proto, question) != NULL)
    return FALSE;
  const MdlCollQuestion q = as_version (library, question);
  if (!pick (&library->symmetric, proto, &q, &picked))
    return FALSE;
  *out = (MdlSymmetricChoice){ .name = picked.kernel->name.v,
                               .proto = picked.kernel->ll.v ? MDL_PROTO_LL : MDL_PROTO_SIMPLE,
                               .blocks = (unsigned)picked.blocks };
  return TRUE;
}

const MdlColl mdl_coll_symmetric = {
  .algo = MDL_ALGO_SYMMETRIC,
  .ops = 1u << MDL_OP_ALL_REDUCE | 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER,
  .n_steps = mdl_exchange_steps,
  .cost = cost_by_version,
  .plain = mdl_exchange_plain,
  .why_not = why_not,
};
