/* Recurrences over the sequence in place of attention: Mamba-2 and gated DeltaNet, in the chunked form that training kernels have.
 *
 * Each of H heads carries a matrix of N x P (state x head_dim) from token to token. Keys, queries (Mamba-2: B, C) have G heads.
 * With inner = H·P and keys = G·N, all cut by t:
 *   in_projection  T x (2 inner + 2 keys + H, gated DeltaNet 2 H) from h; o  h from inner
 *   convolution    over inner + 2 keys channels of the sequence, with SiLU, in one kernel
 *   chunks of Q tokens, each of them products; a triangle counts half where a kernel skips what is above it:
 *     Mamba-2      scores Q x Q x N a chunk and group; states N x P x Q a head; states are carried from chunk to chunk (memory,
 *     fp32);
 *                  results Q x P x (N + Q/2)
 *     DeltaNet     products of keys Q x Q x N, the inverse of a triangle Q x Q x Q/3, its products with keys and values
 *                  Q x (N + P) x Q, scores Q x Q x N, results Q x P x (N + Q/2), all a chunk and head; states 2·N·P a token, one
 *                  chunk after the other: so many heads as there are run side by side
 *   a norm of the result, times SiLU of the gate
 * Backward each product twice, and what is not kept is made again by the kernels themselves: scores and states (DeltaNet: products
 * with the triangle and states).
 * Tensor parallelism cuts heads and groups as Megatron-LM does; context parallelism exchanges heads for tokens by all-to-all before
 * the convolution and behind the scan.
 * Source: Dao and Gu 2405.21060 section 6 and mamba_ssm/ops/triton/ssd_combined.py (which kernels, what is kept); Yang et al.
 * 2412.06464 section 3.3 and fla/ops/gated_delta_rule/chunk.py; Megatron-LM core/ssm/mamba_mixer.py, mamba_context_parallel.py.
 * Valid: t and cp divide heads and groups. Times: as products of these sizes in a tuned library; no such kernel was measured.
 * Check: FLOP of works = closed form; parameters of Nemotron-H and Qwen3-Next as published (tests/unit). */
#include "model/layer-private.h"

/* A rank's. */
typedef struct {
  double heads, groups, inner, keys, projected;
  gboolean delta;
} Sizes;

static Sizes
sizes_of (const MdlBuild *build)
{
  const MdlLlmRecurrent *r = &build->llm->recurrent;
  const double tp = build->query->tp, heads = r->heads.v / tp, groups = r->groups.v / tp;
  const gboolean delta = r->kind.v == MDL_RECURRENT_GATED_DELTA;
  const double inner = heads * r->head_dim.v, keys = groups * r->state.v;
  return (Sizes){ heads, groups, inner, keys, 2 * inner + 2 * keys + (delta ? 2 : 1) * heads, delta };
}

static MdlLinear
in_projection (const MdlBuild *build)
{
  const double wide = sizes_of (build).projected;
  return (MdlLinear){ "in_projection", build->llm->hidden.v, wide, 1, FALSE, 0, build->query->compute, FALSE };
}

static MdlLinear
out_projection (const MdlBuild *build)
{
  return (MdlLinear){ "o", sizes_of (build).inner, build->llm->hidden.v, 1, FALSE, MDL_LORA_O, build->query->compute, TRUE };
}

static void
exchange (MdlBuild *build, const char *name, double width)
{
  mdl_build_coll (build, name, MDL_OP_ALLTOALL, MDL_GROUP_CP, build->tokens * width * build->element_B, build->query->activation);
}

static void
pass_over (MdlBuild *build, const char *name, double in, double out, double eager)
{
  const double unit_B = build->tokens * build->element_B;
  mdl_build_memory (build, name, in * unit_B, out * unit_B, eager);
}

/* A product of all heads or groups, so many times. With cp a rank has the heads of all its group's tokens: as many in sum. */
static void
product (MdlBuild *build, const MdlScanProduct *p, double times)
{
  const MdlLlmRecurrent *r = &build->llm->recurrent;
  const Sizes sizes = sizes_of (build);
  const double length = build->query->packed > 0 ? MIN (build->query->packed, build->query->sequence) : build->query->sequence;
  const double each = (p->of_groups ? sizes.groups : sizes.heads) * times;
  const double batch = p->in_turn ? build->tokens / length * each : build->tokens / r->chunk.v * each;
  MdlWork *work =
      mdl_build_product (build, p->name, p->m, p->n, p->in_turn ? p->k * length : p->k, batch, build->query->activation);
  work->kernels = 1;
  work->assumed = TRUE;
}

/* States of chunks, in fp32, from one to the next. */
static void
carry (MdlBuild *build, double passes)
{
  const MdlLlmRecurrent *r = &build->llm->recurrent;
  const double states_B = 4 * build->tokens / r->chunk.v * sizes_of (build).heads * r->state.v * r->head_dim.v;
  mdl_build_memory (build, "scan_carry", passes * states_B, passes * states_B, 1)->assumed = TRUE;
}

static void
scan (MdlBuild *build, gboolean back)
{
  MdlScanProduct products[MDL_SCAN_PRODUCTS];
  const MdlLlmRecurrent *r = &build->llm->recurrent;
  const unsigned count = mdl_scan_products (r, products);
  const gboolean delta = r->kind.v == MDL_RECURRENT_GATED_DELTA;
  if (back) {
    build->pass = MDL_PASS_RECOMPUTE;
    for (unsigned i = 0; i < count; i++)
      if (products[i].again)
        product (build, &products[i], 1);
    build->pass = MDL_PASS_DGRAD;
  }
  for (unsigned i = 0; i < count; i++)
    product (build, &products[i], back ? 2 : 1);
  if (!delta)
    carry (build, back ? 2 : 1);
}

/* Keys and queries of a group for each of its heads, normed. */
static void
repeat_keys (MdlBuild *build, gboolean back)
{
  const Sizes sizes = sizes_of (build);
  const double wide = 2 * sizes.heads * build->llm->recurrent.state.v;
  if (sizes.delta)
    pass_over (build, "key_norm", back ? wide + 2 * sizes.keys : 2 * sizes.keys, back ? 2 * sizes.keys : wide, 4);
}

void
mdl_build_recurrent (MdlBuild *build)
{
  const Sizes sizes = sizes_of (build);
  const unsigned modules = build->modules;
  const MdlLinear in = in_projection (build), out = out_projection (build);
  build->modules |= MDL_MODULE_ATTENTION;
  mdl_build_columns (build, &in, 1, build->tokens, MDL_GROUP_TP);
  exchange (build, "exchange_heads", sizes.projected);
  pass_over (build, "convolution", sizes.inner + 2 * sizes.keys, sizes.inner + 2 * sizes.keys, 1);
  repeat_keys (build, FALSE);
  build->modules |= MDL_MODULE_CORE_ATTENTION;
  scan (build, FALSE);
  build->modules &= ~(unsigned)MDL_MODULE_CORE_ATTENTION;
  pass_over (build, "gated_norm", 2 * sizes.inner, sizes.inner, 3);
  exchange (build, "exchange_output", sizes.inner);
  build->modules = modules;
  mdl_build_row (build, &out, build->tokens, MDL_GROUP_TP);
}

void
mdl_build_recurrent_back (MdlBuild *build)
{
  const Sizes sizes = sizes_of (build);
  const double mixed = sizes.inner + 2 * sizes.keys;
  const MdlLinear in = in_projection (build), out = out_projection (build);
  mdl_build_row_back (build, &out, build->tokens, MDL_GROUP_TP);
  exchange (build, "exchange_output", sizes.inner);
  pass_over (build, "gated_norm", 3 * sizes.inner, 2 * sizes.inner, 5);
  scan (build, TRUE);
  repeat_keys (build, TRUE);
  pass_over (build, "convolution", 2 * mixed, mixed, 2);
  exchange (build, "exchange_heads", sizes.projected);
  mdl_build_columns_back (build, &in, 1, build->tokens, MDL_GROUP_TP);
}
