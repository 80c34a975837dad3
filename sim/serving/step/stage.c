/* Kernels of a pipeline stage for a number of tokens, but for the core of attention, which depends on contexts.
 *
 *     qkv, o, gate+up, down   kernel model at M tokens; bytes of weights in their format with scales
 *     MLA     down-projections whole on each rank; decoding absorbs the up-projection of keys and values into queries and results
 *     MoE     D = Σ(1 − (1 − q_i)^m)/e experts that are hit, of m tokens of all ranks, which choose expert i
 *             with probability q_i, Σq_i = k (all alike: (E/e)(1 − (1 − k/E)^m)); m·k/e rows, whole tiles.
 *             Of a kernel with R rows for every expert (`expert_rows`): all E/e of them, m·k/e + (E/e)(R − 1) rows, whole R
 *     passes  norms with residuals, positions and KV write, activations, quantising, sampling: bytes / rate, and a start
 *
 * Formats that the GPU does not compute in (fp8 before Hopper, 4 bit before Blackwell, int4) are widened on the way: products in 16
 * bit, bytes as stored. Weights in mxfp4 meet activations in mxfp8 on GPUs that compute in 4 bit, at the rate of fp8 (gpt-oss:
 * VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 of vLLM, W4A8_MXFP4_MXFP8 of TensorRT-LLM).
 * In a CUDA graph kernels follow each other sooner by what plain launches take more (launch.kernel_gap less launch.graph_kernel).
 * Valid: kernels one after the other. Check: test_serving_step. */
#include <math.h>

#include "models/software.h"
#include "step-private.h"

void
srv_build_add (SrvBuild *build, const SrvStepTerm *each, double band, BaseSource source)
{
  SrvStepTerm term = *each;
  SrvFixed *sum = build->sum;
  const double prefill = build->model->times.prefill.v;
  const gboolean product = term.part == SRV_PART_GEMM || term.part == SRV_PART_EXPERTS || term.part == SRV_PART_IMBALANCE;
  if (prefill > 0 && product && (build->key.flags & SRV_KEY_DECODE) == 0)
    term.time_s /= prefill;
  term.count *= build->scale;
  term.time_s *= term.count;
  sum->part_s[term.part] += term.time_s;
  sum->time_s += term.time_s;
  sum->band_s += band * term.time_s;
  sum->flop += term.flop * term.count / build->scale;
  const double cached_B = term.part == SRV_PART_MEMORY ? build->model->kernels->memory.cache.v : 0; /* stays in the L2 */
  if (term.part != SRV_PART_TP && term.part != SRV_PART_EP && term.part != SRV_PART_PP)
    sum->hbm_B += fmax (term.bytes_B - cached_B, 0) * term.count / build->scale;
  sum->kernels += term.count;
  sum->source = MIN (sum->source, source);
  if (build->terms != NULL && term.time_s > 0)
    g_array_append_val (build->terms, term);
  else
    g_free (term.shape);
}

/* What a kernel starts sooner in a graph. */
static double
sooner_s (const SrvBuild *build)
{
  if ((build->key.flags & SRV_KEY_GRAPH) == 0)
    return 0;
  const MdlLaunchSpec *launch = &build->model->kernels->launch;
  return fmax (launch->at[MDL_LAUNCH_COST_KERNEL_GAP].v - launch->at[MDL_LAUNCH_COST_GRAPH_KERNEL].v, 0);
}

/* ---- matrix products ---- */

typedef struct {
  SrvPart part;
  const char *name;
  double m, n, k, batch;
  SrvFormat format; /* of the weights */
  double count;
} Product;

static MdlPrecision
computes_in (const MdlGpu *gpu, SrvFormat format)
{
  const gboolean computes_fp4 = gpu->peak_flop_per_s[MDL_PRECISION_FP4] > 0;
  const MdlPrecision wanted = format == SRV_FORMAT_FP8     ? MDL_PRECISION_FP8
                              : format == SRV_FORMAT_NVFP4 ? MDL_PRECISION_FP4
                              : format == SRV_FORMAT_MXFP4 ? (computes_fp4 ? MDL_PRECISION_FP8 : MDL_PRECISION_BF16)
                                                           : MDL_PRECISION_BF16;
  if (gpu->peak_flop_per_s[wanted] > 0)
    return wanted;
  return gpu->peak_flop_per_s[MDL_PRECISION_BF16] > 0 ? MDL_PRECISION_BF16 : MDL_PRECISION_FP16;
}

/* The cost, with bytes as they are stored. */
static void
product_cost (const SrvStepModel *model, const Product *p, MdlKernelCost *cost)
{
  const MdlPrecision dtype = computes_in (&model->gpu, p->format);
  const double batch = fmax (p->batch, 1), weights = batch * p->n * p->k;
  const MdlGemm gemm = { .m = p->m, .n = p->n, .k = p->k, .batch = batch, .dtype = dtype, .sustained = TRUE, .terse = TRUE };
  mdl_gemm_cost (model->kernels, &model->gpu, &gemm, cost);
  const double stored_B = cost->bytes_B + weights * (srv_format_B (p->format) - mdl_precision_size_B (dtype));
  if (stored_B < cost->bytes_B || stored_B > cost->bytes_B) {
    MdlGpu gpu = model->gpu;
    gpu.memory_Bps *= cost->bytes_B / stored_B;
    mdl_gemm_cost (model->kernels, &gpu, &gemm, cost);
    cost->bytes_B = stored_B;
  }
}

/* What the engine makes of a product's modelled time. Of experts, kernels that are slow at moving weights (`experts`) and kernels
 * that are slow at multiplying (`experts_math`) are both in one launch, so the slower of the two counts. Where a library has sorted
 * the tokens, or each expert has rows of its own, engines run other kernels (`grouped`). */
static double
engine_time_s (const SrvStepModel *model, const Product *p, const MdlKernelCost *cost, double early_s)
{
  const MdlEngineTimes *times = &model->times;
  const gboolean sorted = model->groups.exchange != NULL;
  const double time_s = cost->time_s - early_s;
  if (p->part != SRV_PART_EXPERTS || p->batch <= 0)
    return times->gemm.v > 0 ? time_s / times->gemm.v : time_s;
  if ((sorted || model->expert_rows > 0) && times->grouped.v > 0)
    return time_s / times->grouped.v;
  const double moved_s = times->experts.v > 0 ? time_s / times->experts.v : time_s;
  return times->experts_math.v > 0 ? fmax (moved_s, cost->math_s / times->experts_math.v) : moved_s;
}

static void
add_product (SrvBuild *build, const Product *p)
{
  if (p->m <= 0 || p->n <= 0 || p->k <= 0 || p->count <= 0)
    return;
  MdlKernelCost cost;
  product_cost (build->model, p, &cost);
  const double early_s = fmin (sooner_s (build), 0.5 * build->model->kernels->gemm.start.v);
  const SrvStepTerm term = { .part = p->part,
                             .name = p->name,
                             .count = p->count,
                             .time_s = engine_time_s (build->model, p, &cost, early_s),
                             .flop = cost.flop,
                             .bytes_B = cost.bytes_B,
                             .bound = cost.bound,
                             .shape = build->terms == NULL ? NULL
                                      : p->batch > 1 ? g_strdup_printf ("%.4g x (%.4g x %.0f x %.0f)", p->batch, p->m, p->n, p->k)
                                                     : g_strdup_printf ("%.0f x %.0f x %.0f", p->m, p->n, p->k) };
  srv_build_add (build, &term, cost.band, cost.source);
}

/* ---- passes over memory ---- */

static void
add_pass (SrvBuild *build, const char *name, MdlMemoryKind kind, double read_B, double written_B, double count)
{
  if (count <= 0 || read_B + written_B <= 0)
    return;
  const MdlMemory pass = { .kind = kind, .read_B = read_B, .written_B = written_B, .resident_B = read_B, .terse = TRUE };
  MdlKernelCost cost;
  mdl_memory_cost (build->model->kernels, &build->model->gpu, &pass, &cost);
  const double early_s = fmin (sooner_s (build), 0.5 * build->model->kernels->memory.start.at[kind].v);
  const SrvStepTerm term = { .part = SRV_PART_MEMORY,
                             .name = name,
                             .count = count,
                             .time_s = cost.time_s - early_s,
                             .bytes_B = cost.bytes_B,
                             .bound = cost.bound,
                             .shape = build->terms == NULL ? NULL : g_strdup_printf ("%.4g KiB", cost.bytes_B / 1024) };
  srv_build_add (build, &term, cost.band, cost.source);
}

/* ---- attention, but its core ---- */

static double
kv_heads (const SrvStepModel *model)
{
  return fmax (mdl_llm_kv_heads (model->llm) / model->tp, 1);
}

static void
add_latent (SrvBuild *build, double m, double count)
{
  const SrvStepModel *model = build->model;
  const MdlLlmAttention *a = &model->llm->attention;
  const double heads = a->heads.v / model->tp, hidden = model->llm->hidden.v, queries = heads * mdl_llm_qk_dim (model->llm);
  const double q_lora = a->q_lora.set ? a->q_lora.v : 0;
  const SrvFormat format = srv_attention_format (&model->spec.precision);
  const Product down = { SRV_PART_GEMM, "q, kv down", m, q_lora + a->kv_lora.v + a->rope.v, hidden, 0, format, count };
  const Product q = { SRV_PART_GEMM, "q up", m, queries, q_lora > 0 ? q_lora : hidden, 0, format, count };
  add_product (build, &down);
  add_pass (build, "norms of latents", MDL_MEMORY_NORM, 2 * m * (q_lora + a->kv_lora.v), 2 * m * (q_lora + a->kv_lora.v), count);
  add_product (build, &q);
  add_pass (build, "positions, KV write", MDL_MEMORY_COPY, 2 * m * (queries + a->kv_lora.v + a->rope.v),
            2 * m * (queries + a->kv_lora.v + a->rope.v), count);
  if ((build->key.flags & SRV_KEY_DECODE) != 0) { /* in 16 bit */
    const Product keys = { SRV_PART_GEMM, "absorbed keys", m, a->kv_lora.v, a->nope.v, heads, SRV_FORMAT_BF16, count };
    const Product values = { SRV_PART_GEMM, "absorbed values", m, a->value.v, a->kv_lora.v, heads, SRV_FORMAT_BF16, count };
    add_product (build, &keys);
    add_product (build, &values);
    return;
  }
  const Product up = { SRV_PART_GEMM, "kv up", m, heads * (a->nope.v + a->value.v), a->kv_lora.v, 0, format, count };
  add_product (build, &up);
}

static void
add_heads (SrvBuild *build, double m, double count)
{
  const SrvStepModel *model = build->model;
  const double dim = mdl_llm_qk_dim (model->llm), rows = (model->llm->attention.heads.v / model->tp + 2 * kv_heads (model)) * dim;
  const Product qkv = {
    SRV_PART_GEMM, "qkv", m, rows, model->llm->hidden.v, 0, srv_attention_format (&model->spec.precision), count
  };
  add_product (build, &qkv);
  add_pass (build, "positions, KV write", MDL_MEMORY_COPY, 2 * m * rows, 2 * m * rows, count);
  if (model->llm->attention.qk_norm.v)
    add_pass (build, "norms of queries, keys", MDL_MEMORY_NORM, 2 * m * rows, 2 * m * rows, count);
}

static void
add_norms (SrvBuild *build, double m, double count)
{
  const double hidden = build->model->llm->hidden.v;
  add_pass (build, "norms", MDL_MEMORY_NORM, 4 * m * hidden, 4 * m * hidden, count);
}

static void
add_projections (SrvBuild *build, double m, double count)
{
  const SrvStepModel *model = build->model;
  const MdlLlm *llm = model->llm;
  const SrvFormat format = srv_attention_format (&model->spec.precision);
  if (format != SRV_FORMAT_BF16 &&
      computes_in (&model->gpu, format) != MDL_PRECISION_BF16) /* of four products' inputs, two fused */
    add_pass (build, "quantising", MDL_MEMORY_COPY, 2 * m * llm->hidden.v, m * llm->hidden.v, 2 * count);
  if (llm->attention.kind.v == MDL_ATTENTION_MLA)
    add_latent (build, m, count);
  else
    add_heads (build, m, count);
}

static void
add_output (SrvBuild *build, double m, double count)
{
  const SrvStepModel *model = build->model;
  const MdlLlm *llm = model->llm;
  const Product o = { SRV_PART_GEMM,
                      "o",
                      m,
                      llm->hidden.v,
                      llm->attention.heads.v / model->tp * mdl_llm_value_dim (llm),
                      0,
                      srv_attention_format (&model->spec.precision),
                      count };
  add_product (build, &o);
  srv_build_all_reduce (build, m, count);
}

static void
add_attention (SrvBuild *build, double m, double count)
{
  add_norms (build, m, count * fmax (build->model->llm->norms.v, 2));
  add_projections (build, m, count);
  add_output (build, m, count);
}

/* ---- MLPs ---- */

static void
add_mlp (SrvBuild *build, SrvPart part, double m, double ffn, double count)
{
  const SrvStepModel *model = build->model;
  const double gates = mdl_llm_gated (model->llm) ? 2 : 1, hidden = model->llm->hidden.v;
  const SrvFormat format = (SrvFormat)model->spec.precision.weights.v;
  const Product up = { part, part == SRV_PART_EXPERTS ? "shared gate, up" : "gate, up", m, gates * ffn, hidden, 0, format, count };
  const Product down = { part, part == SRV_PART_EXPERTS ? "shared down" : "down", m, hidden, ffn, 0, format, count };
  add_product (build, &up);
  add_pass (build, "activation", MDL_MEMORY_GATED, 2 * m * gates * ffn, 2 * m * ffn, count);
  add_product (build, &down);
}

/* Loads of experts, the fullest first, on ranks of so many places: each on the emptiest rank that has a place (EPLB). Returned: the
 * fullest rank over the mean. */
static double
packed (const double *load, guint n, guint ranks)
{
  g_autofree double *sum = g_new0 (double, ranks);
  g_autofree guint *taken = g_new0 (guint, ranks);
  double all = 0, most = 0;
  for (guint i = 0; i < n; i++) {
    guint best = ranks;
    for (guint r = 0; r < ranks; r++)
      if (taken[r] < (n + ranks - 1) / ranks && (best == ranks || sum[r] < sum[best]))
        best = r;
    sum[best] += load[i];
    taken[best]++;
    all += load[i];
  }
  for (guint r = 0; r < ranks; r++)
    most = fmax (most, sum[r]);
  return most * ranks / all;
}

static int
by_load (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x > y ? -1 : x < y;
}

double
srv_expert_load_factor (const MdlLlm *llm, const SrvReplicaSpec *spec)
{
  const double a = spec->moe.power_law.v, ep = spec->parallel.ep.v;
  const guint n = (guint)llm->moe.experts.v, slots = n + (guint)spec->moe.redundant.v;
  if (!spec->moe.power_law.set || ep < 2)
    return 1;
  g_autofree double *load = g_new (double, slots), *whole = g_new (double, n);
  g_autofree guint *copies = g_new (guint, n);
  double sum = 0, square = 0;
  for (guint i = 0; i < n; i++) { /* quantiles of a density x^-a from 1 to n */
    const double u = (i + 0.5) / n, top = n;
    whole[i] = fabs (a - 1) < 1e-9 ? pow (top, u) : pow (1 + u * (pow (top, 1 - a) - 1), 1 / (1 - a));
    copies[i] = 1;
    sum += whole[i];
  }
  for (guint i = n; i < slots; i++) { /* one more copy of the expert whose copies are fullest */
    guint full = 0;
    for (guint k = 1; k < n; k++)
      full = whole[k] / copies[k] > whole[full] / copies[full] ? k : full;
    copies[full]++;
  }
  for (guint i = 0, at = 0; i < n; i++)
    for (guint k = 0; k < copies[i]; k++)
      load[at++] = whole[i] / copies[i];
  if (slots > n) {
    qsort (load, slots, sizeof *load, by_load);
    return packed (load, slots, (guint)ep);
  }
  const double mean = sum / slots;
  for (guint i = 0; i < slots; i++)
    square += (load[i] - mean) * (load[i] - mean);
  return 1 + mdl_software_slowest (ep) * sqrt (square / slots) / mean / sqrt (slots / ep);
}

/* The deviation of a rank's rows is that by chance and, where copies level the load, what batches differ from those that the places
 * were chosen by. */
double
srv_expert_imbalance (const SrvStepModel *model, double tokens)
{
  const SrvReplicaSpec *spec = &model->spec;
  const double ep = spec->parallel.ep.v, mean = tokens * model->llm->moe.top_k.v / ep;
  if (ep < 2 || mean <= 0)
    return 1;
  const double slots = (model->llm->moe.experts.v + spec->moe.redundant.v) / ep;
  const double level = spec->moe.redundant.v > 0 && model->groups.residual != NULL ? model->groups.residual->v : 0;
  const double chance = 1 + mdl_software_slowest (ep) * sqrt ((1 - 1 / ep) / mean + level * level / slots);
  return fmin (fmax (chance, model->load_factor), ep);
}

/* Different experts that so many draws meet. */
static double
drawn (const double *missed, guint n, double draws)
{
  double hit = 0;
  for (guint i = 0; i < n; i++)
    hit -= expm1 (draws * missed[i]);
  return hit;
}

/* A token draws experts until it has k different ones: q_i = 1 − (1 − p_i)^n, with the n at which they add up to k. */
double *
srv_experts_missed (const MdlLlm *llm, double popularity)
{
  const guint n = (guint)llm->moe.experts.v;
  const double wanted = fmin (llm->moe.top_k.v, n - 1e-6);
  double *missed = g_new (double, n), sum = 0, low = 0, high = 1;
  for (guint i = 0; i < n; i++)
    sum += pow (i + 1, -popularity);
  for (guint i = 0; i < n; i++)
    missed[i] = n > 1 ? log1p (-pow (i + 1, -popularity) / sum) : -40;
  while (drawn (missed, n, high) < wanted)
    high *= 2;
  for (guint step = 0; step < 60; step++) {
    const double draws = (low + high) / 2;
    if (drawn (missed, n, draws) < wanted)
      low = draws;
    else
      high = draws;
  }
  for (guint i = 0; i < n; i++)
    missed[i] *= high;
  return missed;
}

/* Share of the experts that at least one of m tokens chooses. */
static double
share_hit (const SrvStepModel *model, double m)
{
  const guint n = (guint)model->llm->moe.experts.v;
  return drawn (model->missed, n, m) / n;
}

/* Time of a layer's routed experts for `factor` times the mean rows of a rank; into build where it is not NULL. */
static double
experts (SrvBuild *build, const SrvStepModel *model, double tokens, double factor, double count)
{
  const MdlLlmMoe *moe = &model->llm->moe;
  const SrvParallelSpec *p = &model->spec.parallel;
  const double held = (moe->experts.v + model->spec.moe.redundant.v) / p->ep.v;
  const double least = model->expert_rows;
  const double hit = least > 0 ? held : held * share_hit (model, tokens);
  const double sent = tokens * moe->top_k.v / p->ep.v * factor, gates = mdl_llm_gated (model->llm) ? 2 : 1;
  const double rows = least > 0 ? ceil ((sent + held * (least - 1)) / least) * least : fmax (sent, hit);
  const double ffn = moe->ffn.v / p->moe_tp.v, hidden = model->llm->hidden.v, each = rows / hit;
  const SrvFormat format = srv_moe_format (&model->spec.precision);
  const Product up = { SRV_PART_EXPERTS, "experts gate, up", each, gates * ffn, hidden, hit, format, count };
  const Product down = { SRV_PART_EXPERTS, "experts down", each, hidden, ffn, hit, format, count };
  if (build != NULL) {
    const double moved = least > 0 ? sent : rows;
    add_pass (build, "rows by expert", MDL_MEMORY_COPY, 2 * moved * hidden, 2 * moved * hidden, 2 * count);
    add_product (build, &up);
    add_pass (build, "activation of experts", MDL_MEMORY_GATED, 2 * rows * gates * ffn, 2 * rows * ffn, count);
    if (least > 0)
      add_pass (build, "activations to fp8", MDL_MEMORY_COPY, 2 * rows * ffn, rows * ffn, count);
    add_product (build, &down);
    return 0;
  }
  MdlKernelCost first, second;
  product_cost (model, &up, &first);
  product_cost (model, &down, &second);
  return engine_time_s (model, &up, &first, 0) + engine_time_s (model, &down, &second, 0);
}

void
srv_build_experts (SrvBuild *build, double all, double count)
{
  const SrvStepModel *model = build->model;
  experts (build, model, all, 1, count);
  const double factor = srv_expert_imbalance (model, all);
  const SrvStepTerm wait = { .part = SRV_PART_IMBALANCE,
                             .name = "fullest rank of experts",
                             .count = count,
                             .time_s = fmax (experts (NULL, model, all, factor, 1) - experts (NULL, model, all, 1, 1), 0),
                             .bound = "load",
                             .shape = g_strdup_printf ("%.3g x the mean", factor) };
  srv_build_add (build, &wait, 0.5, BASE_SOURCE_ASSUMED);
}

void
srv_build_shared (SrvBuild *build, double m, double count)
{
  const SrvStepModel *model = build->model;
  const MdlLlmMoe *moe = &model->llm->moe;
  if (moe->shared.v >= 1)
    add_mlp (build, SRV_PART_EXPERTS, m, moe->shared.v * (moe->shared_ffn.set ? moe->shared_ffn.v : moe->ffn.v) / model->tp, count);
  if (model->groups.ep == NULL || moe->shared.v >= 1)
    srv_build_all_reduce (build, m, count);
}

static void
add_router (SrvBuild *build, double m, double count)
{
  const SrvStepModel *model = build->model;
  const MdlLlmMoe *moe = &model->llm->moe;
  const Product router = { SRV_PART_EXPERTS, "router", m, moe->experts.v, model->llm->hidden.v, 0, SRV_FORMAT_BF16, count };
  add_product (build, &router);
  add_pass (build, "choice of experts", MDL_MEMORY_SOFTMAX, 4 * m * moe->experts.v, 8 * m * moe->top_k.v, count);
}

static void
add_moe (SrvBuild *build, double m, double all, double count)
{
  add_router (build, m, count);
  if (build->model->groups.ep != NULL) {
    srv_build_exchange (build, FALSE, m, count);
    srv_build_exchange (build, TRUE, m, count);
  }
  srv_build_experts (build, all, count);
  srv_build_shared (build, m, count);
}

/* ---- the stage ---- */

static void
add_head (SrvBuild *build, double rows, double count)
{
  const SrvStepModel *model = build->model;
  const double vocabulary = model->llm->vocabulary.v;
  const Product head = {
    SRV_PART_GEMM, "head", rows, ceil (vocabulary / model->tp), model->llm->hidden.v, 0, SRV_FORMAT_BF16, count
  };
  add_product (build, &head);
  srv_build_logits (build, rows, count);
  add_pass (build, "sampling", MDL_MEMORY_SOFTMAX, 2 * 4 * rows * vocabulary, 4 * rows, count);
}

/* Modules of multi-token prediction run one after the other, on one token of each sequence. */
static void
add_drafts (SrvBuild *build)
{
  const SrvStepModel *model = build->model;
  const double count = model->drafts, hidden = model->llm->hidden.v, per = 1 + model->drafts;
  const double m = ceil (build->key.tokens / per), all = ceil (build->key.all / per);
  const Product projection = { SRV_PART_GEMM, "projection of drafts", m, hidden, 2 * hidden, 0, SRV_FORMAT_BF16, count };
  add_product (build, &projection);
  add_attention (build, m, count);
  if (model->llm->moe.experts.v >= 1)
    add_moe (build, m, all, count);
  else {
    add_mlp (build, SRV_PART_GEMM, m, model->llm->mlp.ffn.v / model->tp, count);
    srv_build_all_reduce (build, m, count);
  }
  add_head (build, m, count);
}

/* What an engine adds to its kernels: small ones that are not listed, and SMs that idle at the begin and end of kernels. */
static void
add_between (SrvBuild *build, const char *name, const BaseNum *each, double layers)
{
  if (each->v <= 0 || layers <= 0)
    return;
  const SrvStepTerm term = {
    .part = SRV_PART_MEMORY, .name = name, .count = layers, .time_s = each->v, .bound = "engine", .shape = g_strdup ("-")
  };
  srv_build_add (build, &term, 0, each->source);
}

static void
add_between_layers (SrvBuild *build, double dense, double moe)
{
  const MdlEngineTimes *times = &build->model->times;
  const gboolean captured = (build->key.flags & SRV_KEY_GRAPH) != 0 && times->graph_layer.v > 0;
  add_between (build, "between kernels", captured ? &times->graph_layer : &times->layer, dense + moe);
  add_between (build, "between kernels of experts", &times->moe_layer, moe);
  if (captured && build->model->llm->attention.kind.v == MDL_ATTENTION_MLA)
    add_between (build, "between kernels of latent attention", &times->latent_layer, dense + moe);
}

void
srv_build_attention (SrvBuild *build, gboolean after, double m, double count)
{
  add_norms (build, m, count * fmax (build->model->llm->norms.v, 2) / 2);
  if (!after) {
    add_projections (build, m, count);
    return;
  }
  add_output (build, m, count);
  add_router (build, m, count);
  add_between_layers (build, 0, count);
}

double
srv_pass_s (const SrvStepModel *model, double read_B, double written_B)
{
  const MdlMemory pass = { .kind = MDL_MEMORY_COPY, .read_B = read_B, .written_B = written_B, .resident_B = read_B, .terse = TRUE };
  MdlKernelCost cost;
  mdl_memory_cost (model->kernels, &model->gpu, &pass, &cost);
  return cost.time_s;
}

void
srv_build_stage (SrvBuild *build)
{
  const SrvStepModel *model = build->model;
  const double m = build->key.tokens;
  const gboolean split = (build->key.flags & SRV_KEY_SPLIT) != 0;
  add_attention (build, m, model->n_dense + (split ? 0 : model->n_moe));
  if (model->n_dense > 0) {
    add_mlp (build, SRV_PART_GEMM, m, model->llm->mlp.ffn.v / model->tp, model->n_dense);
    srv_build_all_reduce (build, m, model->n_dense);
  }
  if (split)
    srv_build_split (build);
  else if (model->n_moe > 0)
    add_moe (build, m, build->key.all, model->n_moe);
  add_between_layers (build, model->n_dense, split ? 0 : model->n_moe);
  if (model->last && build->key.sampled > 0)
    add_head (build, build->key.sampled, 1);
  if (model->last && model->drafts > 0 && (build->key.flags & SRV_KEY_DECODE) != 0)
    add_drafts (build);
  srv_build_sends (build);
}
