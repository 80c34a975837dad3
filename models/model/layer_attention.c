/* Attention of a layer: projections, positions, the core, and what context parallelism moves.
 *
 * A rank holds H/t query heads and max (1, K/t) key-value heads: where ranks outnumber these they are replicated, which costs FLOP
 * and memory. Core: 2·b·q·pairs·H/t·(d_qk + d_v) FLOP, 4·b·s²·H·d/(t·cp) over all keys, half of it over those that are seen;
 * backward of a flash kernel 5 products for 2, as it computes the scores again: 2.5 times. Without flash the scores are products
 * of full matrices and pass memory.
 * MLA (training form): queries through q_lora, keys and values through kv_lora, expanded for each head; the down-projections are
 * whole on each rank and run on its own rows, so tensor parallelism gathers the narrow vectors.
 * CP: ring: cp - 1 steps send the keys and values of s/cp tokens on, backward their gradients too, each beside a part of the core;
 * all_gather: keys and values before, their gradients scattered after; ulysses: 4 all-to-alls of query, key, value and result, and
 * 4 backward.
 * Source: Dao 2307.08691 section 3.1 (FLOP); Liu et al. 2310.01889; Llama 3 2407.21783 section 3.3.2; Jacobs et al. 2309.14509;
 * DeepSeek-V2 2405.04434 section 2.1; kernel counts: torch/nn/functional and transformers' eager modules [assumed].
 * Valid: cp cuts a sequence so that causal work is even (2·cp chunks in zig-zag). */
#include "model/layer-private.h"

/* What a rank holds. */
typedef struct {
  double heads, kv_heads; /* in the projections and in memory */
  double qk_dim, value_dim;
  gboolean mla;
} Shape;

static Shape
shape_of (const MdlBuild *build)
{
  const double tp = build->query->tp, heads = build->llm->attention.heads.v / tp;
  const gboolean mla = build->llm->attention.kind.v == MDL_ATTENTION_MLA;
  return (Shape){ .heads = heads,
                  .kv_heads = mla ? heads : MAX (1, mdl_llm_kv_heads (build->llm) / tp),
                  .qk_dim = mdl_llm_qk_dim (build->llm),
                  .value_dim = mdl_llm_value_dim (build->llm),
                  .mla = mla };
}

/* ---- projections ---- */

/* Query, key and value; one matrix where code or framework has them so. Returns how many. */
static unsigned
projections (const MdlBuild *build, MdlLinear linears[3])
{
  const Shape shape = shape_of (build);
  const double hidden = build->llm->hidden.v, kv = shape.kv_heads * shape.qk_dim;
  const double query = shape.heads * shape.qk_dim * (build->llm->attention.gate.v ? 2 : 1); /* its gate beside it */
  const gboolean bias = build->llm->attention.bias.v;
  const MdlFormat format = build->query->compute;
  const unsigned all = MDL_LORA_Q | MDL_LORA_K | MDL_LORA_V;
  const gboolean parted_lora = build->query->lora_rank > 0 && (build->query->lora_on & all) != all;
  if ((build->fused || build->llm->attention.fused.v) && !parted_lora) {
    linears[0] = (MdlLinear){ "qkv", hidden, query + 2 * kv, 1, bias, all, format, FALSE };
    return 1;
  }
  linears[0] = (MdlLinear){ "q", hidden, query, 1, bias, MDL_LORA_Q, format, FALSE };
  linears[1] = (MdlLinear){ "k", hidden, kv, 1, bias, MDL_LORA_K, format, TRUE };
  linears[2] = (MdlLinear){ "v", hidden, kv, 1, bias, MDL_LORA_V, format, FALSE };
  return 3;
}

static MdlLinear
output (const MdlBuild *build)
{
  const Shape shape = shape_of (build);
  return (MdlLinear){ "o",
                      shape.heads * shape.value_dim,
                      build->llm->hidden.v,
                      1,
                      build->llm->attention.output_bias.v,
                      MDL_LORA_O,
                      build->query->compute,
                      TRUE };
}

/* The matrices of MLA. Those that compress are whole on each rank and see its own rows alone. */
typedef struct {
  MdlLinear q_down, q_up, kv_down, kv_up, q;
  gboolean compressed;
} Mla;

static Mla
mla_of (const MdlBuild *build)
{
  const MdlLlmAttention *attention = &build->llm->attention;
  const MdlFormat format = build->query->compute;
  const double hidden = build->llm->hidden.v, heads = attention->heads.v / build->query->tp,
               query = heads * mdl_llm_qk_dim (build->llm);
  const double expanded = heads * (attention->nope.v + attention->value.v);
  return (Mla){ .q_down = { "q_down", hidden, attention->q_lora.v, 1, FALSE, MDL_LORA_Q, format, FALSE },
                .q_up = { "q_up", attention->q_lora.v, query, 1, FALSE, MDL_LORA_Q, format, FALSE },
                .kv_down = { "kv_down", hidden, attention->kv_lora.v + attention->rope.v, 1, FALSE, MDL_LORA_K, format, FALSE },
                .kv_up = { "kv_up", attention->kv_lora.v, expanded, 1, FALSE, MDL_LORA_V, format, FALSE },
                .q = { "q", hidden, query, 1, FALSE, MDL_LORA_Q, format, FALSE },
                .compressed = attention->q_lora.set };
}

static void
mla_forward (MdlBuild *build)
{
  const Mla mla = mla_of (build);
  const double rows = build->rows, tokens = build->tokens;
  const unsigned modules = build->modules;
  if (mla.compressed) {
    mdl_build_columns (build, &mla.q_down, 1, rows, MDL_GROUP_NONE);
    build->modules |= MDL_MODULE_MLA_UP;
    mdl_build_norm (build, "q_norm", rows * mla.q_down.out, FALSE);
    mdl_build_columns (build, &mla.q_up, 1, tokens, MDL_GROUP_TP);
    build->modules = modules;
  } else
    mdl_build_columns (build, &mla.q, 1, tokens, MDL_GROUP_TP);
  mdl_build_columns (build, &mla.kv_down, 1, rows, MDL_GROUP_NONE);
  build->modules |= MDL_MODULE_MLA_UP;
  mdl_build_norm (build, "kv_norm", rows * mla.kv_up.in, FALSE);
  if (build->query->sp)
    mdl_build_coll (build, "gather_rope", MDL_OP_ALL_GATHER, MDL_GROUP_TP, tokens * build->llm->attention.rope.v * build->element_B,
                    build->query->activation);
  mdl_build_columns (build, &mla.kv_up, 1, tokens, MDL_GROUP_TP);
  build->modules = modules;
}

static void
mla_back (MdlBuild *build)
{
  const Mla mla = mla_of (build);
  const double rows = build->rows, tokens = build->tokens, input_B = rows * build->llm->hidden.v * build->element_B;
  mdl_build_columns_back (build, &mla.kv_up, 1, tokens, MDL_GROUP_TP);
  mdl_build_coll (build, "reduce_rope", build->query->sp ? MDL_OP_REDUCE_SCATTER : MDL_OP_ALL_REDUCE, MDL_GROUP_TP,
                  tokens * build->llm->attention.rope.v * build->element_B, build->query->activation);
  mdl_build_norm_back (build, "kv_norm", rows * mla.kv_up.in, FALSE);
  mdl_build_columns_back (build, &mla.kv_down, 1, rows, MDL_GROUP_NONE);
  if (mla.compressed) {
    mdl_build_columns_back (build, &mla.q_up, 1, tokens, MDL_GROUP_TP);
    mdl_build_norm_back (build, "q_norm", rows * mla.q_down.out, FALSE);
    mdl_build_columns_back (build, &mla.q_down, 1, rows, MDL_GROUP_NONE);
  } else
    mdl_build_columns_back (build, &mla.q, 1, tokens, MDL_GROUP_TP);
  mdl_build_memory (build, "add_gradients", 2 * input_B, input_B, 1);
}

/* ---- between projections and core ---- */

/* Norms of queries and keys, rotation; MLA puts the two parts of keys and queries together. `passes`: over them, in and out. */
static void
positions (MdlBuild *build, gboolean back)
{
  const Shape shape = shape_of (build);
  const double unit_B = build->tokens * build->element_B;
  const double both_B = unit_B * (shape.heads + shape.kv_heads) * shape.qk_dim;
  const gboolean rotated = build->llm->positions.kind.v == MDL_POSITION_ROPE;
  if (shape.mla) {
    if (rotated) {
      const double rope_B = unit_B * (shape.heads + 1) * build->llm->attention.rope.v;
      mdl_build_memory (build, "rope", rope_B, rope_B, 2);
    }
    if (!build->fused) /* fused: rotated in place */
      mdl_build_memory (build, "concatenate", both_B, both_B, 2);
    return;
  }
  if (!back && build->llm->attention.qk_norm.v)
    mdl_build_memory (build, "qk_norm", both_B, both_B, 2);
  if (rotated)
    mdl_build_memory (build, "rope", both_B, both_B, 2);
  if (back && build->llm->attention.qk_norm.v)
    mdl_build_memory (build, "qk_norm", 2 * both_B, both_B, 4);
}

/* ---- the core ---- */

static MdlWorkAttention
core_of (const MdlBuild *build)
{
  if (build->core != NULL)
    return *build->core;
  const MdlLayerQuery *query = build->query;
  const Shape shape = shape_of (build);
  const double length = query->packed > 0 ? MIN (query->packed, query->sequence) : query->sequence;
  const gboolean windowed = mdl_llm_is_windowed (build->llm, mdl_llm_front (build->llm) + build->layer);
  const double window = windowed ? build->llm->attention.window.v : 0;
  const gboolean ulysses = query->cp_kind == MDL_CP_ULYSSES;
  return (MdlWorkAttention){
    .batch = query->micro_batch * query->sequence / length,
    .heads = shape.heads / (ulysses ? query->cp : 1),
    .kv_heads = ulysses ? MAX (1, shape.kv_heads / query->cp) : shape.kv_heads,
    .q_len = ulysses ? length : length / query->cp,
    .kv_len = length,
    .qk_dim = shape.qk_dim,
    .value_dim = shape.value_dim,
    .share = mdl_llm_pairs (query->sequence, window, query->packed, !build->llm->attention.both_ways.v) / length,
    .window = window < length ? window : 0,
    .steps = query->cp_kind == MDL_CP_RING ? query->cp : 1,
  };
}

/* A kernel that keeps no scores. Returns its index. */
static int
flash (MdlBuild *build, gboolean back)
{
  MdlWorkAttention core = core_of (build);
  core.backward = back;
  const double queries = core.batch * core.heads * core.q_len, keys = core.batch * core.kv_heads * core.kv_len;
  const double in_B = (queries * core.qk_dim + keys * (core.qk_dim + core.value_dim)) * build->element_B;
  const double out_B = queries * core.value_dim * build->element_B, sums_B = 4 * queries; /* a log of a sum, fp32, a query */
  const int at = mdl_build_next (build);
  const double flop = 2 * queries * core.kv_len * core.share * (core.qk_dim + core.value_dim);
  MdlWork *work = mdl_build_memory (build, "attention", back ? in_B + 2 * out_B + sums_B : in_B, back ? in_B : out_B + sums_B, 1);
  work->kind = MDL_WORK_ATTENTION;
  work->attention = core;
  work->flop = back ? 2.5 * flop : flop;
  work->kernels = (back ? 3 : 1) * core.steps; /* backward: sums of gradient and result, the products, a cast */
  if (core.steps > 1) { /* each step's result is scaled and added to the sum so far; backward its three gradients are */
    const double own = queries * core.value_dim * core.steps, shared = keys * (core.qk_dim + core.value_dim);
    const double sum_B = (back ? queries * core.qk_dim * core.steps + shared : 5.0 / 3 * own) * build->element_B;
    mdl_build_memory (build, "ring_sum", 2 * sum_B, sum_B, core.steps);
  }
  return at;
}

/* A product of all heads, in one kernel. */
static void
of_heads (MdlBuild *build, const char *name, double m, double n, double k)
{
  const MdlWorkAttention core = core_of (build);
  mdl_build_product (build, name, m, n, k, core.batch * core.heads, build->query->activation)->kernels = 1;
}

/* Scores in memory: products of full matrices, softmax between. */
static void
scores (MdlBuild *build)
{
  const MdlWorkAttention core = core_of (build);
  const double mask_B = core.batch * core.heads * core.q_len * core.kv_len, unit_B = mask_B * build->element_B;
  of_heads (build, "scores", core.q_len, core.kv_len, core.qk_dim);
  /* eager: scale, mask, softmax */
  mdl_build_memory (build, "softmax", (build->fused ? 1 : 3) * unit_B, (build->fused ? 1 : 3) * unit_B, 3);
  if (build->query->dropout)
    mdl_build_memory (build, "dropout", unit_B, unit_B + mask_B, 1);
  of_heads (build, "values", core.q_len, core.value_dim, core.kv_len);
}

static void
scores_back (MdlBuild *build)
{
  const MdlWorkAttention core = core_of (build);
  const double mask_B = core.batch * core.heads * core.q_len * core.kv_len, unit_B = mask_B * build->element_B;
  of_heads (build, "values", core.q_len, core.kv_len, core.value_dim);
  of_heads (build, "values", core.kv_len, core.value_dim, core.q_len);
  if (build->query->dropout)
    mdl_build_memory (build, "dropout", unit_B + mask_B, unit_B, 1);
  mdl_build_memory (build, "softmax", (build->fused ? 2 : 3) * unit_B, (build->fused ? 1 : 2) * unit_B, 2);
  of_heads (build, "scores", core.q_len, core.qk_dim, core.kv_len);
  of_heads (build, "scores", core.kv_len, core.qk_dim, core.q_len);
}

void
mdl_build_core (MdlBuild *build, gboolean back)
{
  if (build->query->flash)
    flash (build, back);
  else if (back)
    scores_back (build);
  else
    scores (build);
}

/* ---- context parallelism ---- */

static double
kv_B (const MdlBuild *build)
{
  const Shape shape = shape_of (build);
  return build->tokens * shape.kv_heads * (shape.qk_dim + shape.value_dim) * build->element_B;
}

/* Exchanges of heads for tokens: the bytes that a rank holds of each. */
static void
ulysses (MdlBuild *build, gboolean before)
{
  const Shape shape = shape_of (build);
  const double unit_B = build->tokens * build->element_B;
  const MdlFormat format = build->query->activation;
  if (!before) {
    mdl_build_coll (build, "exchange_output", MDL_OP_ALLTOALL, MDL_GROUP_CP, unit_B * shape.heads * shape.value_dim, format);
    return;
  }
  mdl_build_coll (build, "exchange_query", MDL_OP_ALLTOALL, MDL_GROUP_CP, unit_B * shape.heads * shape.qk_dim, format);
  mdl_build_coll (build, "exchange_key", MDL_OP_ALLTOALL, MDL_GROUP_CP, unit_B * shape.kv_heads * shape.qk_dim, format);
  mdl_build_coll (build, "exchange_value", MDL_OP_ALLTOALL, MDL_GROUP_CP, unit_B * shape.kv_heads * shape.value_dim, format);
}

/* Steps of the ring, beside the core that follows. Backward the gradients of keys and values travel too. */
static int
ring (MdlBuild *build, gboolean back)
{
  const int at =
      mdl_build_coll (build, "ring", MDL_OP_SENDRECV, MDL_GROUP_CP, (back ? 2 : 1) * kv_B (build), build->query->activation);
  if (at >= 0)
    g_array_index (build->out, MdlWork, (guint)at).coll.repeat = build->query->cp - 1;
  return at;
}

/* Partial results of the ring's steps, put together in fp32. */
static void
merge (MdlBuild *build)
{
  if (build->query->cp == 1 || build->query->cp_kind != MDL_CP_RING)
    return;
  const Shape shape = shape_of (build);
  const double elements = build->tokens * shape.heads * shape.value_dim, times = build->query->cp - 1;
  mdl_build_memory (build, "merge", times * elements * (build->element_B + 4), times * elements * 4, times)->kernels = times;
}

static void
core (MdlBuild *build)
{
  const unsigned modules = build->modules;
  const MdlCpKind kind = build->query->cp_kind;
  int sent = -1;
  build->modules |= MDL_MODULE_CORE_ATTENTION;
  if (kind == MDL_CP_ULYSSES)
    ulysses (build, TRUE);
  else if (kind == MDL_CP_ALL_GATHER)
    mdl_build_coll (build, "gather_kv", MDL_OP_ALL_GATHER, MDL_GROUP_CP, kv_B (build) * build->query->cp, build->query->activation);
  else
    sent = ring (build, FALSE);
  if (build->query->flash) {
    const int at = flash (build, FALSE);
    mdl_build_amend (build, sent, at, at + 1);
  } else
    scores (build);
  merge (build);
  if (kind == MDL_CP_ULYSSES)
    ulysses (build, FALSE);
  build->modules = modules;
}

static void
core_back (MdlBuild *build)
{
  const MdlCpKind kind = build->query->cp_kind;
  int sent = -1;
  if (kind == MDL_CP_ULYSSES)
    ulysses (build, FALSE);
  else if (kind == MDL_CP_RING)
    sent = ring (build, TRUE);
  if (build->query->flash) {
    const int at = flash (build, TRUE);
    mdl_build_amend (build, sent, at, at + 1);
  } else
    scores_back (build);
  if (kind == MDL_CP_ULYSSES)
    ulysses (build, TRUE);
  else if (kind == MDL_CP_ALL_GATHER)
    mdl_build_coll (build, "scatter_kv_gradients", MDL_OP_REDUCE_SCATTER, MDL_GROUP_CP, kv_B (build) * build->query->cp,
                    build->query->activation);
}

/* The result, by head and element, times a sigmoid of the gate. */
static void
gate (MdlBuild *build, gboolean back)
{
  const Shape shape = shape_of (build);
  const double unit_B = build->tokens * shape.heads * shape.value_dim * build->element_B;
  if (build->llm->attention.gate.v)
    mdl_build_memory (build, "gate", (back ? 3 : 2) * unit_B, (back ? 2 : 1) * unit_B, back ? 4 : 2);
}

/* ---- the block ---- */

void
mdl_build_attention (MdlBuild *build)
{
  const unsigned modules = build->modules;
  build->modules |= MDL_MODULE_ATTENTION;
  if (build->llm->attention.kind.v == MDL_ATTENTION_MLA)
    mla_forward (build);
  else {
    MdlLinear linears[3];
    const unsigned n = projections (build, linears);
    mdl_build_columns (build, linears, n, build->tokens, MDL_GROUP_TP);
  }
  build->modules |= build->llm->attention.kind.v == MDL_ATTENTION_MLA ? MDL_MODULE_MLA_UP : MDL_MODULE_SECOND;
  positions (build, FALSE);
  build->modules = modules | MDL_MODULE_ATTENTION;
  core (build);
  gate (build, FALSE);
  build->modules = modules;
  const MdlLinear linear = output (build);
  mdl_build_row (build, &linear, build->tokens, MDL_GROUP_TP);
}

void
mdl_build_attention_back (MdlBuild *build)
{
  const MdlLinear linear = output (build);
  mdl_build_row_back (build, &linear, build->tokens, MDL_GROUP_TP);
  gate (build, TRUE);
  core_back (build);
  positions (build, TRUE);
  if (build->llm->attention.kind.v == MDL_ATTENTION_MLA) {
    mla_back (build);
    return;
  }
  MdlLinear linears[3];
  const unsigned n = projections (build, linears);
  mdl_build_columns_back (build, linears, n, build->tokens, MDL_GROUP_TP);
}
