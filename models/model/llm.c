/* Language models: tensors, exact parameter counts, FLOP of a token.
 *
 *     P = V·h (embedding) + sum over layers of their tensors + norm + V·h (head, unless tied)
 *     attention of a layer: (H + 2K)·d·h + H·d·h;   MLP: 3·h·f with a gate, 2·h·f without;   MoE: h·E + E x MLP + shared
 *     MLA: h·q_lora + q_lora·H(nope + rope) + h(kv_lora + rope) + kv_lora·H(nope + v) + H·v·h, and two inner norms
 *
 * h hidden, H query heads, K key-value heads, d head dimension, f width, V vocabulary, E experts; biases, norms and learned
 * positions are tensors of their own. FLOP of a token = 6 x matrix elements used + 6 x pairs·H·(d_qk + d_v) a layer.
 * Source: Vaswani et al. 1706.03762; Shazeer 2002.05202 (gated); Ainslie et al. 2305.13245 (GQA); DeepSeek-V2 2405.04434 section
 * 2.1 (MLA); Chowdhery et al. 2204.02311 App. B (FLOP).
 * Valid: decoders of equal layers but for dense and MoE ones.  Check: published counts to the last parameter (tests/unit). */
#include <math.h>

#include "models/llm.h"
#include "models/net.h"

const BaseName mdl_attention_names[] = {
  { "mha", MDL_ATTENTION_MHA, "one key-value head per query head" },
  { "gqa", MDL_ATTENTION_GQA, "several query heads share a key-value head" },
  { "mqa", MDL_ATTENTION_MQA, "all query heads share one key-value head" },
  { "mla", MDL_ATTENTION_MLA, "multi-head latent attention: keys and values from one compressed vector" },
  { NULL, 0, NULL },
};

const BaseName mdl_mlp_names[] = {
  { "swiglu", MDL_MLP_SWIGLU, "SiLU of a gate times up: 3 matrices" },
  { "geglu", MDL_MLP_GEGLU, "GELU of a gate times up: 3 matrices" },
  { "gelu", MDL_MLP_GELU, "2 matrices" },
  { "relu", MDL_MLP_RELU, "2 matrices" },
  { "relu2", MDL_MLP_RELU2, "2 matrices, the square of a ReLU between them" },
  { NULL, 0, NULL },
};

const BaseName mdl_recurrent_names[] = {
  { "mamba2", MDL_RECURRENT_MAMBA2, "Mamba-2: a state-space model whose heads decay by one number each" },
  { "gated_delta", MDL_RECURRENT_GATED_DELTA, "gated DeltaNet: linear attention that replaces what a key held" },
  { NULL, 0, NULL },
};

const BaseName mdl_projector_norm_names[] = {
  { "none", MDL_PROJECTOR_NORM_NONE, "no norm" },
  { "patch", MDL_PROJECTOR_NORM_PATCH, "over the width of a patch" },
  { "merged", MDL_PROJECTOR_NORM_MERGED, "over the patches that become one token" },
  { NULL, 0, NULL },
};

const BaseName mdl_position_names[] = {
  { "rope", MDL_POSITION_ROPE, "rotated queries and keys" },
  { "learned", MDL_POSITION_LEARNED, "a learned table, added to the embedding" },
  { "alibi", MDL_POSITION_ALIBI, "one slope per head, added to the scores" },
  { "none", MDL_POSITION_NONE, "no position encoding" },
  { NULL, 0, NULL },
};

const BaseName mdl_norm_names[] = {
  { "rmsnorm", MDL_NORM_RMSNORM, "one weight" },
  { "layernorm", MDL_NORM_LAYERNORM, "one weight, one bias" },
  { "layernorm_no_bias", MDL_NORM_LAYERNORM_NO_BIAS, "one weight; the mean is subtracted" },
  { "plain", MDL_NORM_PLAIN, "no weight, no bias" },
  { NULL, 0, NULL },
};

static gboolean
is_mla (const MdlLlm *llm)
{
  return llm->attention.kind.v == MDL_ATTENTION_MLA;
}

double
mdl_llm_kv_heads (const MdlLlm *llm)
{
  const MdlLlmAttention *attention = &llm->attention;
  if (attention->kind.v == MDL_ATTENTION_MQA)
    return 1;
  return attention->kv_heads.set ? attention->kv_heads.v : attention->heads.v;
}

double
mdl_llm_qk_dim (const MdlLlm *llm)
{
  const MdlLlmAttention *attention = &llm->attention;
  if (is_mla (llm))
    return attention->nope.v + attention->rope.v;
  return attention->head_dim.set ? attention->head_dim.v : llm->hidden.v / attention->heads.v;
}

double
mdl_llm_value_dim (const MdlLlm *llm)
{
  return is_mla (llm) ? llm->attention.value.v : mdl_llm_qk_dim (llm);
}

gboolean
mdl_llm_gated (const MdlLlm *llm)
{
  return llm->mlp.kind.v == MDL_MLP_SWIGLU || llm->mlp.kind.v == MDL_MLP_GEGLU;
}

/* ---- tensors ---- */

/* Rows that are looked up, not multiplied. */
static void
add_table (GArray *out, const char *name, double rows, double columns, MdlSplit split)
{
  g_array_append_val (out, ((MdlTensor){ .name = name, .rows = rows, .columns = columns, .copies = 1, .split = split }));
}

static void
add_matrix (GArray *out, const char *name, double rows, double columns, MdlSplit split)
{
  add_table (out, name, rows, columns, split);
  g_array_index (out, MdlTensor, out->len - 1).matrix = TRUE;
}

/* A vector is cut as the rows of its matrix are. */
static void
add_vector (GArray *out, const char *name, double rows, MdlSplit split)
{
  add_table (out, name, rows, 1, split);
}

/* A matrix and, unless `bias` is NULL, its vector, which every rank has whole where the columns are cut. */
static void
add_linear (GArray *out, const char *name, const char *bias, double rows, double columns, MdlSplit split)
{
  add_matrix (out, name, rows, columns, split);
  if (bias != NULL)
    add_vector (out, bias, rows, split == MDL_SPLIT_COLUMNS ? MDL_SPLIT_NONE : split);
}

static void
add_norm_of (GArray *out, const MdlLlm *llm, const char *weight, const char *bias, double width)
{
  if (llm->norm.v != MDL_NORM_PLAIN)
    add_vector (out, weight, width, MDL_SPLIT_NONE);
  if (llm->norm.v == MDL_NORM_LAYERNORM)
    add_vector (out, bias, width, MDL_SPLIT_NONE);
}

static void
add_norm (GArray *out, const MdlLlm *llm)
{
  add_norm_of (out, llm, "norm", "norm_bias", llm->hidden.v);
}

static void
add_mla (GArray *out, const MdlLlm *llm)
{
  const MdlLlmAttention *attention = &llm->attention;
  const double hidden = llm->hidden.v, heads = attention->heads.v;
  const double query = heads * mdl_llm_qk_dim (llm);
  if (attention->q_lora.set) {
    add_matrix (out, "q_down", attention->q_lora.v, hidden, MDL_SPLIT_NONE);
    add_norm_of (out, llm, "q_norm", "q_norm_bias", attention->q_lora.v);
    add_matrix (out, "q_up", query, attention->q_lora.v, MDL_SPLIT_ROWS);
  } else
    add_matrix (out, "q", query, hidden, MDL_SPLIT_ROWS);
  add_matrix (out, "kv_down", attention->kv_lora.v + attention->rope.v, hidden, MDL_SPLIT_NONE);
  add_norm_of (out, llm, "kv_norm", "kv_norm_bias", attention->kv_lora.v);
  add_matrix (out, "kv_up", heads * (attention->nope.v + attention->value.v), attention->kv_lora.v, MDL_SPLIT_ROWS);
  add_linear (out, "o", attention->output_bias.v ? "o_bias" : NULL, hidden, heads * attention->value.v, MDL_SPLIT_COLUMNS);
}

static void
add_attention (GArray *out, const MdlLlm *llm)
{
  if (is_mla (llm)) {
    add_mla (out, llm);
    return;
  }
  const MdlLlmAttention *attention = &llm->attention;
  const double hidden = llm->hidden.v, dim = mdl_llm_qk_dim (llm);
  const double query = attention->heads.v * dim, kv = mdl_llm_kv_heads (llm) * dim;
  const struct {
    const char *name, *bias;
    double rows;
    MdlSplit split;
  } parted[] = { { "q", "q_bias", query, MDL_SPLIT_ROWS },
                 { "k", "k_bias", kv, MDL_SPLIT_KV_ROWS },
                 { "v", "v_bias", kv, MDL_SPLIT_KV_ROWS } },
    whole[] = { { "qkv", "qkv_bias", query + 2 * kv, MDL_SPLIT_QKV_ROWS } }, *rows = attention->fused.v ? whole : parted;
  if (attention->sinks.v)
    add_vector (out, "sinks", attention->heads.v, MDL_SPLIT_ROWS);
  for (size_t i = 0; i < (attention->fused.v ? G_N_ELEMENTS (whole) : G_N_ELEMENTS (parted)); i++)
    add_linear (out, rows[i].name, attention->bias.v ? rows[i].bias : NULL, rows[i].rows, hidden, rows[i].split);
  if (attention->gate.v)
    add_linear (out, "q_gate", attention->bias.v ? "q_gate_bias" : NULL, query, hidden, MDL_SPLIT_ROWS);
  add_linear (out, "o", attention->output_bias.v ? "o_bias" : NULL, hidden, query, MDL_SPLIT_COLUMNS);
  if (attention->qk_norm.v) {
    add_norm_of (out, llm, "q_norm", "q_norm_bias", attention->qk_norm_all.v ? query : dim);
    add_norm_of (out, llm, "k_norm", "k_norm_bias", attention->qk_norm_all.v ? kv : dim);
  }
}

static void
add_mlp (GArray *out, const MdlLlm *llm, double ffn, gboolean bias)
{
  const double hidden = llm->hidden.v;
  const gboolean gated = mdl_llm_gated (llm);
  if (gated && llm->mlp.fused.v)
    add_linear (out, "gate_up", bias ? "gate_up_bias" : NULL, 2 * ffn, hidden, MDL_SPLIT_ROWS);
  else {
    if (gated)
      add_linear (out, "gate", bias ? "gate_bias" : NULL, ffn, hidden, MDL_SPLIT_ROWS);
    add_linear (out, "up", bias ? "up_bias" : NULL, ffn, hidden, MDL_SPLIT_ROWS);
  }
  add_linear (out, "down", bias ? "down_bias" : NULL, hidden, ffn, MDL_SPLIT_COLUMNS);
}

static void
add_moe (GArray *out, const MdlLlm *llm)
{
  const MdlLlmMoe *moe = &llm->moe;
  const double hidden = llm->hidden.v;
  add_matrix (out, "router", moe->experts.v, hidden, MDL_SPLIT_NONE);
  if (moe->router_bias.v)
    add_vector (out, "router_bias", moe->experts.v, MDL_SPLIT_NONE);
  const guint from = out->len;
  add_mlp (out, llm, moe->ffn.v, moe->bias.v);
  for (guint i = from; i < out->len; i++) {
    MdlTensor *tensor = &g_array_index (out, MdlTensor, i);
    tensor->copies = moe->experts.v;
    tensor->expert = TRUE;
  }
  if (moe->shared.v < 1)
    return;
  add_mlp (out, llm, moe->shared.v * (moe->shared_ffn.set ? moe->shared_ffn.v : moe->ffn.v), moe->bias.v);
  if (moe->shared_gate.v)
    add_matrix (out, "shared_gate", 1, hidden, MDL_SPLIT_NONE);
}

/* The projection gives gate, values, keys and queries (Mamba-2: z, x, B, C), and what scales a head's state (dt; beta and alpha).
 * The convolution is over values, keys and queries. */
static void
add_recurrent (GArray *out, const MdlLlm *llm)
{
  const MdlLlmRecurrent *r = &llm->recurrent;
  const double hidden = llm->hidden.v, inner = r->heads.v * r->head_dim.v, keys = r->groups.v * r->state.v;
  const gboolean delta = r->kind.v == MDL_RECURRENT_GATED_DELTA;
  add_matrix (out, "in_projection", 2 * inner + 2 * keys + (delta ? 2 : 1) * r->heads.v, hidden, MDL_SPLIT_ROWS);
  add_table (out, "convolution", inner + 2 * keys, r->conv.v, MDL_SPLIT_ROWS);
  if (r->conv_bias.v)
    add_vector (out, "convolution_bias", inner + 2 * keys, MDL_SPLIT_ROWS);
  add_vector (out, "dt_bias", r->heads.v, MDL_SPLIT_ROWS);
  add_vector (out, "decay", r->heads.v, MDL_SPLIT_ROWS);
  if (!delta)
    add_vector (out, "skip", r->heads.v, MDL_SPLIT_ROWS);
  add_vector (out, "state_norm", delta ? r->head_dim.v : inner, delta ? MDL_SPLIT_NONE : MDL_SPLIT_ROWS);
  add_matrix (out, "o", hidden, inner, MDL_SPLIT_COLUMNS);
}

/* A layer registers its first norm, attention, its second norm, MLP; norms after come last. One of a block alone has one norm. */
static void
add_layer (GArray *out, const MdlLlm *llm, MdlPart part)
{
  const MdlPartFacts *facts = mdl_part_facts (part);
  const gboolean alone = facts->mixer == MDL_MIXER_NONE || facts->feed == MDL_FEED_NONE;
  const unsigned norms = alone ? 1 : (unsigned)llm->norms.v;
  if (norms > 0)
    add_norm (out, llm);
  if (facts->mixer == MDL_MIXER_ATTENTION)
    add_attention (out, llm);
  else if (facts->mixer == MDL_MIXER_RECURRENT)
    add_recurrent (out, llm);
  if (norms > 1)
    add_norm (out, llm);
  if (facts->feed == MDL_FEED_MOE)
    add_moe (out, llm);
  else if (facts->feed == MDL_FEED_DENSE)
    add_mlp (out, llm, llm->mlp.ffn.v, llm->mlp.bias.v);
  for (unsigned i = 2; i < norms; i++)
    add_norm (out, llm);
}

/* Patches of pixels, positions, the last norm, and the projector. */
static void
add_patches (GArray *out, const MdlLlm *llm)
{
  const MdlLlmVision *v = &llm->vision;
  const double width = v->hidden.v, merged = v->pool.v ? width : v->merge.v * width;
  const char *const bias = v->projector_bias.v ? "projector_bias" : NULL;
  MdlLlm encoder;
  mdl_llm_vision (llm, &encoder);
  add_linear (out, "patches", v->patch_bias.v ? "patches_bias" : NULL, width, 3 * v->frames.v * v->patch.v * v->patch.v,
              MDL_SPLIT_NONE);
  if (v->positions.v > 0)
    add_table (out, "patch_positions", v->positions.v, width, MDL_SPLIT_NONE);
  if (v->final_norm.v)
    add_norm (out, &encoder);
  if (v->projector_norm.v != MDL_PROJECTOR_NORM_NONE)
    add_norm_of (out, llm, "projector_norm", "projector_norm_bias",
                 v->projector_norm.v == MDL_PROJECTOR_NORM_PATCH ? width : merged);
  if (v->projector_ffn.v > 0)
    add_linear (out, "projector_up", bias, v->projector_ffn.v, merged, MDL_SPLIT_ROWS);
  add_linear (out, "projector", bias, llm->hidden.v, v->projector_ffn.v > 0 ? v->projector_ffn.v : merged,
              v->projector_ffn.v > 0 ? MDL_SPLIT_COLUMNS : MDL_SPLIT_ROWS);
}

static void
add_vision_layer (GArray *out, const MdlLlm *llm)
{
  MdlLlm encoder;
  const guint from = out->len;
  mdl_llm_vision (llm, &encoder);
  add_layer (out, &encoder, MDL_PART_DENSE);
  for (guint i = from; i < out->len; i++) { /* as many key-value heads as heads: cut as these are */
    MdlTensor *tensor = &g_array_index (out, MdlTensor, i);
    if (tensor->split == MDL_SPLIT_KV_ROWS || tensor->split == MDL_SPLIT_QKV_ROWS)
      tensor->split = MDL_SPLIT_ROWS;
  }
}

static void
add_embedding (GArray *out, const MdlLlm *llm)
{
  add_table (out, "embedding", llm->vocabulary.v, llm->hidden.v, MDL_SPLIT_VOCABULARY);
  if (llm->positions.kind.v == MDL_POSITION_LEARNED)
    add_table (out, "positions", llm->positions.length.v, llm->hidden.v, MDL_SPLIT_NONE);
  if (llm->embedding_norm.v)
    add_norm (out, llm);
  if (llm->vision.layers.v > 0)
    add_patches (out, llm);
}

void
mdl_llm_tensors (const MdlLlm *llm, MdlPart part, unsigned layer, GArray *out)
{
  switch (part) {
    case MDL_PART_EMBEDDING:
      add_embedding (out, llm);
      break;
    case MDL_PART_DENSE:
    case MDL_PART_MOE:
    case MDL_PART_RECURRENT_DENSE:
    case MDL_PART_RECURRENT_MOE:
    case MDL_PART_RECURRENT:
    case MDL_PART_ATTENTION:
    case MDL_PART_MLP:
    case MDL_PART_EXPERTS:
      add_layer (out, llm, part);
      break;
    case MDL_PART_VISION:
      add_vision_layer (out, llm);
      break;
    case MDL_PART_HEAD:
      if (llm->final_norm.v)
        add_norm (out, llm);
      if (!llm->tied.v)
        add_matrix (out, "head", llm->vocabulary.v, llm->hidden.v, MDL_SPLIT_VOCABULARY);
      break;
    case MDL_PART_MTP: /* norms of the hidden state and of the next token's embedding, their projection, a layer, a last norm */
      add_norm (out, llm);
      add_norm (out, llm);
      add_matrix (out, "mtp_projection", llm->hidden.v, 2 * llm->hidden.v, MDL_SPLIT_ROWS);
      add_layer (out, llm, llm->moe.experts.v >= 1 ? MDL_PART_MOE : MDL_PART_DENSE);
      add_norm (out, llm);
      break;
    case MDL_PART_NET:
      mdl_net_tensors (llm->net, mdl_net_item (llm->net, layer), out);
      break;
    case MDL_PART_N:
    default:
      g_return_if_reached ();
  }
}

double
mdl_tensor_elements (const MdlLlm *llm, const MdlTensor *tensor, unsigned tp, unsigned ep, unsigned etp,
                     unsigned vocabulary_multiple)
{
  const double ranks = tensor->expert ? etp : tp, copies = tensor->copies / (tensor->expert ? ep : 1);
  const double dim = mdl_llm_qk_dim (llm), kv = MAX (1, mdl_llm_kv_heads (llm) / ranks) * dim;
  double rows = tensor->rows, columns = tensor->columns;
  switch (tensor->split) {
    case MDL_SPLIT_NONE:
      break;
    case MDL_SPLIT_ROWS:
      rows /= ranks;
      break;
    case MDL_SPLIT_COLUMNS:
      columns /= ranks;
      break;
    case MDL_SPLIT_KV_ROWS:
      rows = kv;
      break;
    case MDL_SPLIT_QKV_ROWS:
      rows = llm->attention.heads.v * dim / ranks + 2 * kv;
      break;
    case MDL_SPLIT_VOCABULARY:
      rows = ceil (rows / (vocabulary_multiple * ranks)) * vocabulary_multiple;
      break;
    default:
      g_return_val_if_reached (0);
  }
  return rows * columns * copies;
}

/* ---- counts ---- */

/* Adds up a part: all, what one token uses, and of that what it is multiplied by. */
typedef struct {
  double all, active, matrix;
} Sum;

static Sum
sum_part (const MdlLlm *llm, MdlPart part)
{
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
  mdl_llm_tensors (llm, part, 0, tensors);
  Sum sum = { 0, 0, 0 };
  for (guint i = 0; i < tensors->len; i++) {
    const MdlTensor *tensor = &g_array_index (tensors, MdlTensor, i);
    const double one = tensor->rows * tensor->columns, used = tensor->expert ? llm->moe.top_k.v : tensor->copies;
    sum.all += one * tensor->copies;
    sum.active += one * used;
    if (tensor->matrix)
      sum.matrix += one * used;
  }
  return sum;
}

void
mdl_llm_count (const MdlLlm *llm, MdlLlmCount *out)
{
  if (llm->net != NULL) {
    *out = (MdlLlmCount){ .n_dense = llm->layers.v };
    out->total = out->active = mdl_net_parameters (llm->net, &out->matrix);
    return;
  }
  const gboolean has_moe = llm->moe.experts.v >= 1;
  const Sum embedding = sum_part (llm, MDL_PART_EMBEDDING), head = sum_part (llm, MDL_PART_HEAD);
  const double n_moe = mdl_llm_n_moe (llm), n_dense = llm->layers.v - n_moe;
  const double tied_matrix = llm->tied.v ? llm->vocabulary.v * llm->hidden.v : 0;
  const double text = llm->vocabulary.v * llm->hidden.v; /* the table, of whose rows a token takes one */
  *out = (MdlLlmCount){
    .embedding = embedding.all,
    .final_norm = head.all - head.matrix,
    .head = head.matrix,
    .mtp = llm->mtp.v >= 1 && (has_moe || llm->mlp.ffn.v > 0) ? sum_part (llm, MDL_PART_MTP).all : 0,
    .n_dense = n_dense,
    .n_moe = n_moe,
    .total = embedding.all + head.all,
    .active = embedding.all + head.all,
    .matrix = head.matrix + tied_matrix,
  };
  for (MdlPart part = 0; part < MDL_PART_NET; part++) {
    const double n = mdl_llm_n_part (llm, part);
    if (n < 1)
      continue;
    const Sum one = sum_part (llm, part);
    const gboolean moe = mdl_part_facts (part)->feed == MDL_FEED_MOE;
    out->total += n * one.all;
    out->active += n * one.active;
    if (part == MDL_PART_VISION) {
      out->vision = n * one.all;
      continue;
    }
    out->matrix += n * one.matrix;
    *(moe ? &out->moe_layer : &out->dense_layer) = one.all; /* of several kinds the last */
    if (moe)
      out->moe_active = one.active;
  }
  if (out->vision > 0)
    out->vision +=
        embedding.all - text - (llm->positions.kind.v == MDL_POSITION_LEARNED ? llm->positions.length.v * llm->hidden.v : 0);
}

double
mdl_llm_pairs (double sequence, double window, double packed, gboolean causal)
{
  const double length = packed > 0 ? MIN (packed, sequence) : sequence;
  const double seen = window > 0 ? MIN (window, length) : length;
  return causal ? seen - seen * seen / (2 * length) : seen;
}

void
mdl_llm_token_flop (const MdlLlm *llm, double sequence, double packed, MdlLlmFlop *out)
{
  if (llm->net != NULL) {
    mdl_net_flop (llm->net, &out->matrix_flop, &out->attention_flop);
    out->attention_causal_flop = out->attention_flop;
    return;
  }
  MdlLlmCount count;
  mdl_llm_count (llm, &count);
  const gboolean causal = !llm->attention.both_ways.v;
  const double a_pair_flop = 6 * llm->attention.heads.v * (mdl_llm_qk_dim (llm) + mdl_llm_value_dim (llm));
  const double window = llm->attention.window.v;
  double full = 0, windowed = 0, recurrent = 0;
  const gboolean alike = llm->pattern.v == NULL && llm->recurrent.heads.v < 1;
  if (alike) {
    const double seeing_all = llm->attention.full_every.set ? floor (llm->layers.v / llm->attention.full_every.v) : 0;
    full = llm->attention.window.set ? seeing_all : llm->layers.v;
    windowed = llm->layers.v - full;
  }
  for (unsigned layer = mdl_llm_front (llm); !alike && layer < mdl_llm_chain (llm); layer++) {
    const MdlMixer mixer = mdl_part_facts (mdl_llm_part (llm, layer))->mixer;
    if (mixer == MDL_MIXER_ATTENTION)
      *(mdl_llm_is_windowed (llm, layer) ? &windowed : &full) += 1;
    recurrent += mixer == MDL_MIXER_RECURRENT ? 1 : 0;
  }
  const double pairs =
      full * mdl_llm_pairs (sequence, 0, packed, FALSE) + windowed * mdl_llm_pairs (sequence, window, packed, FALSE);
  const double seen_pairs =
      full * mdl_llm_pairs (sequence, 0, packed, causal) + windowed * mdl_llm_pairs (sequence, window, packed, causal);
  const double states = recurrent > 0 ? 3 * recurrent * mdl_recurrent_flop (&llm->recurrent) : 0;
  *out = (MdlLlmFlop){ .matrix_flop = 6 * count.matrix,
                       .attention_flop = a_pair_flop * pairs + states,
                       .attention_causal_flop = a_pair_flop * seen_pairs + states };
}

void
mdl_llm_add_mtp_flop (const MdlLlm *llm, double sequence, double packed, double modules, MdlLlmFlop *out)
{
  if (modules <= 0)
    return;
  const double a_pair_flop = 6 * llm->attention.heads.v * (mdl_llm_qk_dim (llm) + mdl_llm_value_dim (llm));
  const double head = llm->vocabulary.v * llm->hidden.v;
  out->matrix_flop += modules * 6 * (sum_part (llm, MDL_PART_MTP).matrix + head);
  out->attention_flop += modules * a_pair_flop * mdl_llm_pairs (sequence, 0, packed, FALSE);
  out->attention_causal_flop += modules * a_pair_flop * mdl_llm_pairs (sequence, 0, packed, TRUE);
}
