/* Activations: tensors that a forward pass keeps for its backward pass, and what runs beside them.
 *
 * Of T tokens a rank (b·s/cp; `rows` = T/t between the matrices with sequence parallelism), 2 B an element in bf16:
 *   attention  x h, norm h, q (H d)/t, k and v 2 (K d)/t, result (H d)/t, flash: 4 B a query and head; without flash the softmax
 *              b·s²·H/t elements, with dropout its mask (1 B) and its result too; dropout after it a mask of h (1 B)
 *   MLP        x h, norm h, gate, up, activation, product 4 f/t (fused: 3; GELU: 2), dropout a mask of h (1 B)
 *   MoE        x h, norm h, chances 4 B an expert; of R rows of its experts: input h, the MLP's 4 f; eager code sorts rows by
 *              copies of which two more of h stay, three over ranks; fused: none, as the experts' activation takes the weights
 *              (Megatron-LM core/transformer/moe/experts.py since 2659630, April 2025)
 *   head       x h, norm h, and of T V/t logits what the loss keeps (data: MdlLossSpec)
 *   embedding  dropout a mask of h
 * Norms, masks after blocks and x are `rows`; the inputs of matrices cut by outputs too in fused code, which gathers them again
 * for their gradients, while eager autograd keeps what was gathered. fp8 and fp4: fused code keeps inputs of products as these.
 * Recomputed modules keep nothing that is made in them; the core of attention still its result, which the next matrix reads. All
 * of a layer: x alone. With frozen weights inputs of products are not kept but where an adapter reads them.
 * Left out: statistics of norms (4 to 8 B a row), indices, rotary tables, seeds.
 * Source: Korthikanti et al. 2205.05198 section 4 and Table 2 (GPT, no flash: s·b·h (34 + 5 a s / h) and its cuts), section 5
 * (recomputation); Dao 2307.08691 section 3.1 (log of sums); Shoeybi et al. 1909.08053 section 3. What eager PyTorch keeps was read
 * off measurements of one to four H200 (docs/training_memory.md).
 * Check: Table 2 exactly; Llama, eager, flash: 2·T·(4h + (2H + 2K)d + 4f) + 4·T·H (tests/unit/test_models_memory.c). */
#include "models/memory.h"

#include <math.h>

typedef struct {
  const MdlMemorySpec *spec;
  const MdlLlm *llm;
  const MdlLayerQuery *query;
  MdlActivationBytes *out;
  double tokens, rows;
  double unit_B;    /* of an element of an activation */
  double stream_B;  /* of one between blocks */
  double operand_B; /* of one that is kept for a product */
  double product_B; /* of all inputs of products, kept or computed again */
  gboolean eager, gradient;
  gboolean alone; /* the block is all of its layer */
} Sum;

/* ---- single tensors ---- */

/* Made within `modules`. */
static void
keep (Sum *sum, double bytes, unsigned modules)
{
  if (sum->query->recompute & (modules | MDL_MODULE_LAYER))
    sum->out->again_B += bytes;
  else
    sum->out->kept_B += bytes;
}

static gboolean
trained (const Sum *sum, unsigned lora)
{
  return sum->query->lora_rank == 0 || (sum->query->lora_on & lora) != 0;
}

/* The input of a product with a matrix of `lora`, and what its adapter makes of it. */
static void
keep_operand (Sum *sum, double rows, double width, unsigned modules, unsigned lora)
{
  if (!trained (sum, lora))
    return;
  double bytes = rows * width * sum->operand_B;
  if (sum->query->lora_rank > 0)
    bytes += rows * sum->query->lora_rank * sum->unit_B;
  sum->product_B += bytes;
  keep (sum, bytes, modules);
}

/* Rows of the input of matrices cut by outputs: eager autograd keeps what was gathered for them. */
static double
input_rows (const Sum *sum)
{
  return sum->eager ? sum->tokens : sum->rows;
}

/* What a block takes, a norm of it that `matrices` read, and a mask of dropout behind it. What a layer takes is kept also where all
 * of it is computed again. Under autocast each matrix keeps a copy that it cast. */
static void
keep_ends (Sum *sum, unsigned module, unsigned lora, unsigned matrices)
{
  const double width = sum->llm->hidden.v, row_B = sum->rows * width * sum->stream_B;
  const gboolean first = module == MDL_MODULE_ATTENTION || sum->alone;
  if (first)
    sum->out->kept_B += row_B;
  else if (sum->llm->norms.v > 1)
    keep (sum, row_B, MDL_MODULE_SECOND);
  if (sum->eager) /* gradients of norms' weights wait for those of their results */
    sum->out->late_B += row_B;
  const unsigned copies = sum->query->autocast && sum->eager ? matrices : 1;
  for (unsigned i = 0; i < copies && (first || sum->llm->norms.v > 1); i++)
    keep_operand (sum, input_rows (sum), width, MDL_MODULE_NORM | MDL_MODULE_SECOND | module, lora);
  if (sum->llm->norms.v >= 4)
    keep (sum, row_B, 0);
  if (sum->query->dropout)
    keep (sum, sum->rows * width, 0);
}

static double
split (double count, double ranks)
{
  return fmax (1, count / ranks);
}

/* ---- attention ---- */

typedef struct {
  double query, key, value, result; /* elements a token */
  double heads;                     /* a rank's */
} Widths;

static Widths
widths_of (const Sum *sum)
{
  const double tp = sum->query->tp, heads = sum->llm->attention.heads.v / tp, qk = mdl_llm_qk_dim (sum->llm),
               value = mdl_llm_value_dim (sum->llm);
  const gboolean mla = sum->llm->attention.kind.v == MDL_ATTENTION_MLA;
  const double kv = mla ? heads : split (mdl_llm_kv_heads (sum->llm), tp);
  return (Widths){ heads * qk, kv * qk, kv * value, heads * value, heads };
}

/* Scores of all pairs, where no flash kernel computes them again. */
static void
keep_scores (Sum *sum, const Widths *w)
{
  const MdlLayerQuery *query = sum->query;
  const double length = query->packed > 0 ? fmin (query->packed, query->sequence) : query->sequence;
  const double pairs = sum->tokens * length * w->heads;
  keep (sum, pairs * sum->unit_B, MDL_MODULE_CORE_ATTENTION | MDL_MODULE_ATTENTION);
  if (query->dropout)
    keep (sum, pairs * (1 + sum->unit_B), MDL_MODULE_CORE_ATTENTION | MDL_MODULE_ATTENTION);
  sum->out->working_B += 2 * pairs * sum->unit_B;
}

/* Compressed queries, keys and values with their norms. */
static void
keep_compressed (Sum *sum)
{
  const MdlLlmAttention *attention = &sum->llm->attention;
  if (attention->q_lora.set) {
    keep (sum, sum->rows * attention->q_lora.v * sum->unit_B, MDL_MODULE_ATTENTION);
    keep_operand (sum, input_rows (sum), attention->q_lora.v, MDL_MODULE_ATTENTION | MDL_MODULE_MLA_UP, MDL_LORA_Q);
  }
  keep (sum, sum->rows * (attention->kv_lora.v + attention->rope.v) * sum->unit_B, MDL_MODULE_ATTENTION);
  keep_operand (sum, input_rows (sum), attention->kv_lora.v, MDL_MODULE_ATTENTION | MDL_MODULE_MLA_UP, MDL_LORA_V);
}

/* Mamba-2: what the projection gave, which the scan's kernel makes the rest of again, and its result. Gated DeltaNet: that, what
 * the convolution gave, keys and queries of each head, the inverse of a chunk's triangle, and the result. Then the norm's, which
 * the output's product reads. */
static void
add_recurrent (Sum *sum)
{
  const MdlLlmRecurrent *r = &sum->llm->recurrent;
  const double T = sum->tokens, unit_B = sum->unit_B, tp = sum->query->tp, width = sum->llm->hidden.v;
  const double heads = r->heads.v / tp, inner = heads * r->head_dim.v, keys = r->groups.v / tp * r->state.v;
  const gboolean delta = r->kind.v == MDL_RECURRENT_GATED_DELTA;
  const double projected = 2 * inner + 2 * keys + (delta ? 2 : 1) * heads, wide = delta ? 2 * heads * r->state.v : 0;
  keep_ends (sum, MDL_MODULE_ATTENTION, 0, 1);
  keep (sum, T * projected * unit_B, MDL_MODULE_ATTENTION);
  if (delta)
    keep (sum, T * (inner + 2 * keys + wide + heads * r->chunk.v) * unit_B, MDL_MODULE_ATTENTION);
  keep (sum, T * inner * unit_B, MDL_MODULE_ATTENTION | MDL_MODULE_CORE_ATTENTION);
  keep_operand (sum, T, inner, MDL_MODULE_ATTENTION, MDL_LORA_O);
  /* states of all chunks, made again, beside the gradients of what the projection gave */
  const double states_B = 4 * T / r->chunk.v * heads * r->state.v * r->head_dim.v;
  const double matrix_B = sum->gradient ? width * projected * unit_B : 0;
  sum->out->working_B += states_B + T * (projected + inner + wide) * unit_B + matrix_B;
  sum->out->tail_B = T * projected * unit_B + 2 * sum->rows * width * unit_B;
  sum->out->late_B += T * projected * unit_B + sum->rows * width * unit_B;
}

static void
add_attention (Sum *sum)
{
  const Widths w = widths_of (sum);
  const double T = sum->tokens, unit_B = sum->unit_B, width = sum->llm->hidden.v;
  const gboolean mla = sum->llm->attention.kind.v == MDL_ATTENTION_MLA;
  const unsigned core = MDL_MODULE_CORE_ATTENTION | MDL_MODULE_ATTENTION;
  keep_ends (sum, MDL_MODULE_ATTENTION, MDL_LORA_Q | MDL_LORA_K | MDL_LORA_V, mla || sum->llm->attention.fused.v ? 1 : 3);
  if (mla)
    keep_compressed (sum);
  if (sum->llm->attention.qk_norm.v)
    keep (sum, T * (w.query + w.key) * unit_B, MDL_MODULE_ATTENTION);
  keep (sum, T * (w.query + w.value) * unit_B, MDL_MODULE_ATTENTION | (mla ? MDL_MODULE_MLA_UP : 0u));
  keep (sum, T * w.key * unit_B, MDL_MODULE_ATTENTION | MDL_MODULE_SECOND | (mla ? MDL_MODULE_MLA_UP : 0u));
  if (sum->query->flash) {
    keep (sum, 4 * T * w.heads, core);
    keep (sum, T * w.result * unit_B, MDL_MODULE_ATTENTION); /* which the output's product reads too */
    if (sum->operand_B < unit_B)
      keep_operand (sum, T, w.result, MDL_MODULE_ATTENTION, MDL_LORA_O);
    else if (trained (sum, MDL_LORA_O))
      sum->product_B += T * w.result * unit_B;
  } else {
    keep_scores (sum, &w);
    keep_operand (sum, T, w.result, MDL_MODULE_ATTENTION, MDL_LORA_O);
  }
  if (sum->llm->attention.gate.v) /* the gate, and what it made of the result */
    keep (sum, 2 * T * w.result * unit_B, MDL_MODULE_ATTENTION);
  const double back = w.query + w.key + w.value, matrix = sum->gradient ? width * w.result * unit_B : 0;
  sum->out->working_B += T * (back + w.result) * unit_B + matrix;
  sum->out->tail_B = T * back * unit_B + 2 * sum->rows * width * unit_B;
  sum->out->late_B += T * back * unit_B + sum->rows * width * unit_B;
}

/* ---- MLP ---- */

/* Of the input of a gated activation; fp8 has a scale of 4 B for 128 elements, fp4 one of 1 B for 16. */
static double
cached_element_B (const MdlLayerQuery *query, double unit_B)
{
  const double scale_B = query->cached == MDL_FORMAT_FP8 ? 4.0 / 128 : query->cached == MDL_FORMAT_FP4 ? 1.0 / 16 : 0;
  return query->cached == MDL_FORMAT_NONE ? unit_B : fmin (unit_B, mdl_format_B (query->cached) + scale_B);
}

/* Of `rows` rows and a width a rank of `ffn`; `down`: MdlLora bit of the last matrix, of `matrix` elements; 0: of experts. */
static void
keep_mlp (Sum *sum, double rows, double ffn, double matrix, unsigned down)
{
  const gboolean gated = mdl_llm_gated (sum->llm), relu = sum->llm->mlp.kind.v == MDL_MLP_RELU;
  const double wide_B = rows * ffn * sum->unit_B, cached_B = rows * ffn * cached_element_B (sum->query, sum->unit_B);
  const unsigned act = MDL_MODULE_MLP | MDL_MODULE_ACTIVATION | MDL_MODULE_SECOND | (down == 0 ? MDL_MODULE_MOE_ACT : 0u);
  if (!relu) /* a ReLU's result tells its slope */
    keep (sum, gated ? cached_B : wide_B, MDL_MODULE_MLP);
  if (gated)
    keep (sum, cached_B, MDL_MODULE_MLP | MDL_MODULE_SECOND);
  if (gated && sum->eager)
    keep (sum, wide_B, act);
  if (relu && !trained (sum, down))
    keep (sum, wide_B, act);
  if (down == 0 && !sum->eager && sum->llm->mlp.clamp.v && sum->query->experts != MDL_EXPERTS_GROUPED) /* both as clamped */
    keep (sum, 2 * wide_B, act);
  keep_operand (sum, rows, ffn, act, down);
  /* the product's gradient; then the larger of a gradient of the matrix on its way and those of gate and up, which take the
   * product's place */
  const double more_B = gated ? (sum->eager ? 1 : 2) * wide_B : wide_B;
  sum->out->working_B += wide_B + fmax (more_B, sum->gradient ? matrix * sum->unit_B : 0);
  sum->out->tail_B += wide_B;
  sum->out->late_B += (gated ? 2 : 1) * wide_B;
}

static void
add_mlp (Sum *sum)
{
  const double tp = sum->query->tp, ffn = sum->llm->mlp.ffn.v / tp, width = sum->llm->hidden.v, row_B = width * sum->unit_B;
  keep_ends (sum, MDL_MODULE_MLP, MDL_LORA_GATE | MDL_LORA_UP, mdl_llm_gated (sum->llm) && !sum->llm->mlp.fused.v ? 2 : 1);
  keep_mlp (sum, sum->tokens, ffn, ffn * width, MDL_LORA_DOWN);
  if (sum->query->recompute & MDL_MODULE_SECOND) /* the result of the last product, which is not computed again */
    sum->out->kept_B += sum->rows * row_B;
  sum->out->working_B += sum->tokens * row_B;
  sum->out->tail_B += 2 * sum->tokens * row_B;
  sum->out->late_B += sum->tokens * row_B;
}

/* Copies of rows of experts that stay: their input, and what sums them up. */
static void
add_moe (Sum *sum)
{
  const MdlLlmMoe *moe = &sum->llm->moe;
  const MdlLayerQuery *query = sum->query;
  const double rows = mdl_layer_expert_rows (sum->llm, query), width = sum->llm->hidden.v, row_B = width * sum->unit_B;
  const double ffn = moe->ffn.v / query->etp, experts = moe->experts.v / query->ep;
  /* fused code: the activation takes the weights, so that their gradient needs no result of an expert */
  const double sorted = !sum->eager ? 0 : query->ep > 1 ? 3 : 2;
  keep_ends (sum, MDL_MODULE_MLP, MDL_LORA_GATE | MDL_LORA_UP, 1);
  keep (sum, sum->rows * moe->experts.v * 4, MDL_MODULE_MLP);
  keep_operand (sum, rows, width, MDL_MODULE_MLP, 0); /* adapters stand beside no expert */
  keep_mlp (sum, rows, ffn, ffn * width * experts, 0);
  keep (sum, sorted * rows * row_B, MDL_MODULE_MLP);
  sum->out->working_B += 2 * rows * row_B;
  sum->out->tail_B += 2 * rows * row_B;
  sum->out->late_B += rows * row_B;
  if (moe->shared.v > 0) {
    const double one = moe->shared_ffn.set ? moe->shared_ffn.v : moe->ffn.v, shared = moe->shared.v * one / query->tp;
    keep_mlp (sum, sum->tokens, shared, shared * width, MDL_LORA_DOWN);
  }
}

/* ---- ends of the model ---- */

static double
vocabulary_rows (const Sum *sum)
{
  const double multiple = sum->query->vocabulary_multiple, ranks = sum->query->tp;
  return ceil (sum->llm->vocabulary.v / (multiple * ranks)) * multiple;
}

/* Pixels, inputs of norms, of the projector and of its GELU. */
static void
keep_patches (Sum *sum)
{
  const MdlLlmVision *v = &sum->llm->vision;
  const MdlLayerQuery *query = sum->query;
  const double patches = query->micro_batch * query->images * query->patches, tokens = patches / v->merge.v;
  const double merged = v->pool.v ? v->hidden.v : v->merge.v * v->hidden.v;
  const double normed =
      (v->final_norm.v ? patches * v->hidden.v : 0) + (v->projector_norm.v == MDL_PROJECTOR_NORM_NONE ? 0 : tokens * merged);
  sum->out->kept_B += (3 * v->frames.v * v->patch.v * v->patch.v * patches + normed + tokens * merged +
                       2 * tokens * v->projector_ffn.v / query->tp) *
                      sum->unit_B;
}

static void
add_embedding (Sum *sum)
{
  const double width = sum->llm->hidden.v;
  if (sum->query->dropout)
    sum->out->kept_B += sum->rows * width;
  if (sum->llm->embedding_norm.v)
    sum->out->kept_B += sum->rows * width * sum->stream_B;
  if (sum->llm->vision.layers.v > 0)
    keep_patches (sum);
  if (sum->query->lora_rank > 0)
    return;
  sum->out->working_B = sum->tokens * width * sum->stream_B;
  /* a table's gradient is a table; the head's, which is the same tensor, is there before */
  if (sum->gradient || (sum->eager && sum->llm->tied.v))
    sum->out->tail_B = vocabulary_rows (sum) * width * sum->unit_B;
}

static void
add_head (Sum *sum)
{
  const MdlMemorySpec *spec = sum->spec;
  const MdlLossSpec *loss = sum->query->loss == MDL_LOSS_FLASH      ? &spec->loss_flash
                            : sum->query->loss == MDL_LOSS_IN_PLACE ? &spec->loss_in_place
                            : !sum->eager                           ? &spec->loss_fused
                            : sum->query->tp > 1                    ? &spec->loss_sharded
                                                                    : &spec->loss;
  const double width = sum->llm->hidden.v, rows = vocabulary_rows (sum), logits = sum->tokens * rows * MAX (sum->query->outputs, 1);
  sum->out->kept_B = sum->rows * width * sum->stream_B + logits * loss->kept.v;
  if (trained (sum, 0))
    sum->out->kept_B += input_rows (sum) * width * sum->unit_B;
  /* the loss at its most; then its gradient beside a gradient of the matrix */
  const double matrix_B = sum->gradient ? rows * width * sum->unit_B : 0, kept_B = logits * loss->kept.v;
  sum->out->working_B = fmax (logits * loss->peak.v - kept_B, logits * sum->unit_B + matrix_B - kept_B);
  sum->out->tail_B = logits * sum->unit_B;
  sum->product_B = sum->out->kept_B - kept_B;
  /* the loss itself has no weights: what it kept is free */
  sum->out->late_B = logits * sum->unit_B - (sum->eager ? kept_B : 0);
}

static void
add_mlp_alone (Sum *sum)
{
  sum->alone = TRUE;
  add_mlp (sum);
}

static void
add_moe_alone (Sum *sum)
{
  sum->alone = TRUE;
  add_moe (sum);
}

/* ---- blocks ---- */

static void (*const blocks[]) (Sum *sum) = {
  [MDL_BLOCK_EMBEDDING] = add_embedding,
  [MDL_BLOCK_ATTENTION] = add_attention,
  [MDL_BLOCK_MLP] = add_mlp,
  [MDL_BLOCK_MOE] = add_moe,
  [MDL_BLOCK_HEAD] = add_head,
  [MDL_BLOCK_RECURRENT] = add_recurrent,
  [MDL_BLOCK_MLP_ALONE] = add_mlp_alone,
  [MDL_BLOCK_MOE_ALONE] = add_moe_alone,
};

void
mdl_memory_block (const MdlMemorySpec *spec, const MdlLlm *llm, const MdlLayerQuery *query, MdlBlock block, gboolean with_gradient,
                  MdlActivationBytes *out)
{
  const double tokens = query->micro_batch * query->sequence / query->cp, unit_B = mdl_format_B (query->activation);
  const gboolean eager = query->framework == MDL_FRAMEWORK_EAGER;
  *out = (MdlActivationBytes){ 0 };
  Sum sum = { .spec = spec,
              .llm = llm,
              .query = query,
              .out = out,
              .tokens = tokens,
              .rows = query->sp ? tokens / query->tp : tokens,
              .unit_B = unit_B,
              .stream_B = mdl_layer_stream_B (query),
              .operand_B = eager ? unit_B : fmin (unit_B, mdl_format_B (query->compute)),
              .eager = eager,
              .gradient = with_gradient && query->lora_rank == 0 };
  blocks[block](&sum);
  /* eager autograd frees nothing before the gradients of weights are done; what was computed again stays as well */
  out->late_B += eager ? out->kept_B + out->again_B : sum.product_B;
}

double
mdl_memory_boundary_B (const MdlLlm *llm, const MdlLayerQuery *query)
{
  const double tokens = query->micro_batch * query->sequence / query->cp;
  return tokens / (query->sp ? query->tp : 1) * llm->hidden.v * mdl_layer_stream_B (query);
}

unsigned
mdl_memory_blocks (const MdlLlm *llm, MdlPart part, MdlBlock out[3])
{
  const MdlPartFacts *facts = mdl_part_facts (part);
  unsigned n = 0;
  if (part == MDL_PART_EMBEDDING || part == MDL_PART_NET) {
    out[0] = MDL_BLOCK_EMBEDDING;
    return 1;
  }
  if (part == MDL_PART_MTP) {
    out[0] = MDL_BLOCK_ATTENTION;
    out[1] = llm->moe.experts.v >= 1 ? MDL_BLOCK_MOE : MDL_BLOCK_MLP;
    n = 2;
  }
  if (facts->mixer != MDL_MIXER_NONE)
    out[n++] = facts->mixer == MDL_MIXER_RECURRENT ? MDL_BLOCK_RECURRENT : MDL_BLOCK_ATTENTION;
  if (facts->feed == MDL_FEED_DENSE)
    out[n++] = facts->mixer == MDL_MIXER_NONE ? MDL_BLOCK_MLP_ALONE : MDL_BLOCK_MLP;
  if (facts->feed == MDL_FEED_MOE)
    out[n++] = facts->mixer == MDL_MIXER_NONE ? MDL_BLOCK_MOE_ALONE : MDL_BLOCK_MOE;
  if (part == MDL_PART_HEAD || part == MDL_PART_MTP)
    out[n++] = MDL_BLOCK_HEAD;
  return n;
}

MdlBlock
mdl_memory_block_of (const MdlTensor *tensor, MdlPart part)
{
  static const char *const mlp[] = { "router", "gate", "up", "down", "shared" };
  if (part == MDL_PART_EMBEDDING)
    return MDL_BLOCK_EMBEDDING;
  if (part == MDL_PART_HEAD)
    return MDL_BLOCK_HEAD;
  for (size_t i = 0; i < G_N_ELEMENTS (mlp); i++)
    if (g_str_has_prefix (tensor->name, mlp[i]))
      return mdl_part_facts (part)->feed == MDL_FEED_MOE ? MDL_BLOCK_MOE : MDL_BLOCK_MLP;
  return MDL_BLOCK_ATTENTION;
}
