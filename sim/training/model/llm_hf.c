/* HuggingFace config.json: what its readers share, and one function a model_type.
 * Source: huggingface/transformers src/transformers/models/MODEL_TYPE/{configuration,modeling}_MODEL_TYPE.py (defaults of absent
 * keys, tensors).  Check: published counts of the config.json files of tests/data/llms. */
#include <string.h>

#include "training/llm.h"

#include "llm_hf-private.h"

/* ---- values ---- */

/* The first of "hidden_size|n_embd" that is there and not null; NULL if none is. */
const BaseYamlNode *
trn_hf_find (const TrnHf *hf, const char *keys)
{
  g_auto (GStrv) names = g_strsplit (keys, "|", -1);
  for (char **name = names; *name != NULL; name++) {
    const BaseYamlNode *node = base_yaml_get (hf->root, *name);
    if (node != NULL && !base_yaml_is_null (node))
      return node;
  }
  return NULL;
}

void
trn_hf_missing (const TrnHf *hf, const char *keys)
{
  g_auto (GStrv) names = g_strsplit (keys, "|", 2);
  base_diag_error (hf->context->diag, base_yaml_mark (hf->root), "'%s' is missing; a config.json of model_type %s has it", names[0],
                   hf->model_type);
}

/* What a model file accepts at most for the number at `offset` of `schema`; NULL: it is not one of its numbers. */
static const char *
most_of (const BaseSchema *schema, guintptr offset)
{
  const char *most = NULL;
  for (const BaseField *field = schema->fields; field->key != NULL && most == NULL; field++)
    if (field->kind == BASE_FIELD_NUM && field->offset == offset)
      most = field->max;
    else if (field->kind == BASE_FIELD_MAP && field->offset <= offset)
      most = most_of (field->sub, offset - field->offset);
  return most;
}

/* FALSE when it is not there. */
static gboolean
number (const TrnHf *hf, const char *keys, BaseNum *out)
{
  const BaseYamlNode *node = trn_hf_find (hf, keys);
  if (node == NULL)
    return FALSE;
  g_auto (GStrv) names = g_strsplit (keys, "|", 2);
  const char *most = most_of (&trn_schema_llm, (guintptr)out - (guintptr)hf->llm);
  const BaseField field = {
    .key = names[0], .kind = BASE_FIELD_NUM, .dim = BASE_DIM_COUNT, .min = "0", .max = most != NULL ? most : "1 G"
  };
  base_schema_read_num (&field, node, hf->context, out);
  return TRUE;
}

/* At least 1, and needed. */
void
trn_hf_need (const TrnHf *hf, const char *keys, BaseNum *out)
{
  if (!number (hf, keys, out)) {
    if (!out->set) /* else the family says what it is */
      trn_hf_missing (hf, keys);
  } else if (out->set && out->v < 1)
    base_diag_error (hf->context->diag, out->mark, "must be at least 1");
}

/* As `need`, where it is there; 0 stands for absent. */
void
trn_hf_may (const TrnHf *hf, const char *keys, BaseNum *out)
{
  if (number (hf, keys, out) && out->set && out->v < 1)
    *out = (BaseNum){ .set = FALSE };
}

void
trn_hf_assume (BaseNum *out, double value)
{
  if (!out->set)
    *out = (BaseNum){ .v = value, .set = TRUE, .source = BASE_SOURCE_DATASHEET };
}

gboolean
trn_hf_truth (const TrnHf *hf, const char *key, gboolean fallback)
{
  const BaseYamlNode *node = trn_hf_find (hf, key);
  if (node == NULL)
    return fallback;
  const char *text = base_yaml_is_plain (node) ? base_yaml_text (node) : NULL;
  if (g_strcmp0 (text, "true") == 0)
    return TRUE;
  if (g_strcmp0 (text, "false") != 0)
    base_diag_error (hf->context->diag, base_yaml_mark (node), "'%s' must be true or false", key);
  return FALSE;
}

/* What of a model type is not modelled. */
void
trn_hf_refuse (const TrnHf *hf, const char *key, gboolean fallback, gboolean accepted)
{
  if (trn_hf_truth (hf, key, fallback) == accepted)
    return;
  const BaseYamlNode *node = trn_hf_find (hf, key);
  base_diag_error (hf->context->diag, base_yaml_mark (node != NULL ? node : hf->root),
                   "%s with %s %s is not supported; accepted: %s", hf->model_type, key, accepted ? "false" : "true",
                   accepted ? "true" : "false");
}

static void
set_mlp (const TrnHf *hf, const char *keys, const char *fallback, gboolean gated)
{
  static const struct {
    const char *name;
    MdlMlpKind gated, plain;
    gboolean plain_only;
  } known[] = { { "silu", MDL_MLP_SWIGLU, MDL_MLP_GELU, FALSE },     { "swish", MDL_MLP_SWIGLU, MDL_MLP_GELU, FALSE },
                { "gelu", MDL_MLP_GEGLU, MDL_MLP_GELU, FALSE },      { "gelu_new", MDL_MLP_GEGLU, MDL_MLP_GELU, FALSE },
                { "gelu_fast", MDL_MLP_GEGLU, MDL_MLP_GELU, FALSE }, { "gelu_pytorch_tanh", MDL_MLP_GEGLU, MDL_MLP_GELU, FALSE },
                { "relu", MDL_MLP_RELU, MDL_MLP_RELU, TRUE } };
  const BaseYamlNode *node = trn_hf_find (hf, keys);
  const char *text = node != NULL ? base_yaml_text (node) : fallback;
  MdlLlmMlp *mlp = &hf->llm->mlp;
  for (size_t i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_strcmp0 (text, known[i].name) == 0 && !(gated && known[i].plain_only)) {
      mlp->kind = (BaseEnum){ .v = (int)(gated ? known[i].gated : known[i].plain), .set = TRUE };
      return;
    }
  base_diag_error (hf->context->diag, base_yaml_mark (node != NULL ? node : hf->root),
                   "activation '%s' is not supported; accepted: silu, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh%s",
                   text != NULL ? text : "(no text)", gated ? "" : ", relu");
}

BaseBool
trn_hf_yes (gboolean value)
{
  return (BaseBool){ .v = value, .set = TRUE };
}

void
trn_hf_set_norm (const TrnHf *hf, MdlNormKind kind)
{
  hf->llm->norm = (BaseEnum){ .v = (int)kind, .set = TRUE };
}

void
trn_hf_set_positions (const TrnHf *hf, MdlPositionKind kind)
{
  hf->llm->positions.kind = (BaseEnum){ .v = (int)kind, .set = TRUE };
}

void
trn_hf_read_layer_types (const TrnHf *hf, unsigned fallback)
{
  MdlLlmAttention *attention = &hf->llm->attention;
  const BaseYamlNode *types = trn_hf_find (hf, "layer_types");
  unsigned full_every = fallback;
  if (types != NULL) {
    full_every = 0;
    for (unsigned i = 0; i < base_yaml_n (types) && full_every == 0; i++)
      if (g_strcmp0 (base_yaml_text (base_yaml_item (types, i)), "full_attention") == 0)
        full_every = i + 1;
    for (unsigned i = 0; i < base_yaml_n (types); i++) {
      const BaseYamlNode *item = base_yaml_item (types, i);
      const gboolean full = full_every != 0 && (i + 1) % full_every == 0;
      if (g_strcmp0 (base_yaml_text (item), full ? "full_attention" : "sliding_attention") != 0) {
        base_diag_error (hf->context->diag, base_yaml_mark (item),
                         "layer_types are full_attention and sliding_attention in a regular turn, the full one last");
        return;
      }
    }
  }
  if (full_every == 1 || !attention->window.set)
    attention->window = (BaseNum){ .set = FALSE };
  else if (full_every > 1)
    trn_hf_assume (&attention->full_every, full_every);
}

/* ---- families ---- */

static void
read_shape (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  trn_hf_need (hf, "num_hidden_layers|n_layer", &llm->layers);
  trn_hf_need (hf, "hidden_size|n_embd|n_embed", &llm->hidden);
  trn_hf_need (hf, "vocab_size", &llm->vocabulary);
  trn_hf_need (hf, "num_attention_heads|n_head", &llm->attention.heads);
}

void
trn_hf_tie (const TrnHf *hf, gboolean fallback)
{
  hf->llm->tied = trn_hf_yes (trn_hf_truth (hf, "tie_word_embeddings", fallback));
}

/* RMSNorm, RoPE, gated MLP without biases: what most have in common. */
void
trn_hf_read_llama_like (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  read_shape (hf);
  trn_hf_may (hf, "num_key_value_heads", &llm->attention.kv_heads);
  trn_hf_may (hf, "head_dim", &llm->attention.head_dim);
  trn_hf_need (hf, "intermediate_size", &llm->mlp.ffn);
  set_mlp (hf, "hidden_act|hidden_activation", "silu", TRUE);
  trn_hf_set_norm (hf, MDL_NORM_RMSNORM);
  trn_hf_set_positions (hf, MDL_POSITION_ROPE);
  trn_hf_tie (hf, FALSE);
}

void
trn_hf_set_biases (const TrnHf *hf, gboolean projections, gboolean output)
{
  hf->llm->attention.bias = trn_hf_yes (projections);
  hf->llm->attention.output_bias = trn_hf_yes (output);
}

void
trn_hf_read_llama (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  const gboolean bias = trn_hf_truth (hf, "attention_bias", FALSE);
  trn_hf_set_biases (hf, bias, bias);
  hf->llm->mlp.bias = trn_hf_yes (trn_hf_truth (hf, "mlp_bias", FALSE));
}

void
trn_hf_read_mistral (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  trn_hf_may (hf, "sliding_window", &hf->llm->attention.window);
}

void
trn_hf_read_qwen2 (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  trn_hf_refuse (hf, "use_sliding_window", FALSE, FALSE);
  trn_hf_set_biases (hf, TRUE, FALSE);
}

void
trn_hf_read_qwen3 (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  trn_hf_refuse (hf, "use_sliding_window", FALSE, FALSE);
  if (!hf->llm->attention.head_dim.set)
    trn_hf_missing (hf, "head_dim");
  const gboolean bias = trn_hf_truth (hf, "attention_bias", FALSE);
  trn_hf_set_biases (hf, bias, bias);
  hf->llm->attention.qk_norm = trn_hf_yes (TRUE);
}

/* Norms behind attention and MLP, as many as others have before them. */
void
trn_hf_read_olmo2 (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  const gboolean bias = trn_hf_truth (hf, "attention_bias", FALSE);
  trn_hf_set_biases (hf, bias, bias);
  hf->llm->attention.qk_norm = hf->llm->attention.qk_norm_all = trn_hf_yes (TRUE);
}

void
trn_hf_read_experts (const TrnHf *hf, const char *experts, const char *ffn)
{
  MdlLlmMoe *moe = &hf->llm->moe;
  moe->head = (BaseHead){ TRUE, base_yaml_mark (hf->root) };
  trn_hf_need (hf, experts, &moe->experts);
  trn_hf_need (hf, "num_experts_per_tok|experts_per_token", &moe->top_k);
  trn_hf_need (hf, ffn, &moe->ffn);
}

void
trn_hf_read_mixtral (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  trn_hf_read_experts (hf, "num_local_experts", "intermediate_size");
  hf->llm->mlp.ffn = (BaseNum){ .set = FALSE };
  trn_hf_may (hf, "sliding_window", &hf->llm->attention.window);
}

/* `mlp_only_layers` must be the first ones. */
static void
read_dense_layers (const TrnHf *hf)
{
  MdlLlmMoe *moe = &hf->llm->moe;
  trn_hf_may (hf, "decoder_sparse_step", &moe->every);
  const BaseYamlNode *list = trn_hf_find (hf, "mlp_only_layers");
  const unsigned n = list != NULL ? base_yaml_n (list) : 0;
  for (unsigned i = 0; i < n; i++) {
    g_autofree char *wanted = g_strdup_printf ("%u", i);
    const BaseYamlNode *item = base_yaml_item (list, i);
    if (g_strcmp0 (base_yaml_text (item), wanted) != 0) {
      base_diag_error (hf->context->diag, base_yaml_mark (item),
                       "mlp_only_layers are supported where they are the first: [0, 1, …]");
      return;
    }
  }
  if (n > 0) {
    trn_hf_assume (&moe->first_dense, n);
    moe->first_dense.mark = base_yaml_mark (list);
  }
}

static void
read_qwen_moe (const TrnHf *hf)
{
  trn_hf_read_experts (hf, "num_experts", "moe_intermediate_size");
  read_dense_layers (hf);
  if (mdl_llm_n_moe (hf->llm) == (unsigned)hf->llm->layers.v)
    hf->llm->mlp.ffn = (BaseNum){ .set = FALSE };
}

void
trn_hf_read_qwen2_moe (const TrnHf *hf)
{
  trn_hf_read_qwen2 (hf);
  read_qwen_moe (hf);
  trn_hf_need (hf, "shared_expert_intermediate_size", &hf->llm->moe.shared_ffn);
  trn_hf_assume (&hf->llm->moe.shared, 1);
  hf->llm->moe.shared_gate = trn_hf_yes (TRUE);
}

void
trn_hf_read_qwen3_moe (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  trn_hf_refuse (hf, "use_sliding_window", FALSE, FALSE);
  const gboolean bias = trn_hf_truth (hf, "attention_bias", FALSE);
  trn_hf_set_biases (hf, bias, bias);
  hf->llm->attention.qk_norm = trn_hf_yes (TRUE);
  read_qwen_moe (hf);
}

void
trn_hf_read_deepseek (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  MdlLlmMoe *moe = &llm->moe;
  MdlLlmAttention *attention = &llm->attention;
  trn_hf_read_llama_like (hf);
  attention->kv_heads = attention->head_dim = (BaseNum){ .set = FALSE };
  attention->kind = (BaseEnum){ .v = MDL_ATTENTION_MLA, .set = TRUE };
  trn_hf_may (hf, "q_lora_rank", &attention->q_lora);
  trn_hf_need (hf, "kv_lora_rank", &attention->kv_lora);
  trn_hf_need (hf, "qk_nope_head_dim", &attention->nope);
  trn_hf_need (hf, "qk_rope_head_dim", &attention->rope);
  trn_hf_need (hf, "v_head_dim", &attention->value);
  trn_hf_refuse (hf, "attention_bias", FALSE, FALSE);
  trn_hf_read_experts (hf, "n_routed_experts", "moe_intermediate_size");
  trn_hf_may (hf, "n_shared_experts", &moe->shared);
  trn_hf_may (hf, "first_k_dense_replace", &moe->first_dense);
  trn_hf_may (hf, "n_group", &moe->groups);
  trn_hf_may (hf, "topk_group", &moe->top_groups);
  BaseNum every = { .set = FALSE };
  trn_hf_may (hf, "moe_layer_freq", &every);
  if (every.set && every.v != 1)
    base_diag_error (hf->context->diag, every.mark, "moe_layer_freq %.0f is not supported; accepted: 1", every.v);
  trn_hf_may (hf, "num_nextn_predict_layers", &llm->mtp);
}

void
trn_hf_read_deepseek_v3 (const TrnHf *hf)
{
  trn_hf_read_deepseek (hf);
  hf->llm->moe.router_bias = trn_hf_yes (TRUE); /* e_score_correction_bias */
}

void
trn_hf_read_phi3 (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  trn_hf_may (hf, "sliding_window", &hf->llm->attention.window);
  hf->llm->attention.fused = hf->llm->mlp.fused = trn_hf_yes (TRUE);
}

void
trn_hf_read_gemma (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  if (!hf->llm->attention.head_dim.set)
    trn_hf_missing (hf, "head_dim");
  trn_hf_refuse (hf, "attention_bias", FALSE, FALSE);
  hf->llm->mlp.kind.v = MDL_MLP_GEGLU;
  trn_hf_tie (hf, TRUE);
}

void
trn_hf_read_gemma2 (const TrnHf *hf)
{
  trn_hf_read_gemma (hf);
  trn_hf_may (hf, "sliding_window", &hf->llm->attention.window);
  trn_hf_read_layer_types (hf, 2);
  hf->llm->norms = (BaseNum){ .v = 4, .set = TRUE };
}

/* Windows in five layers of six. */
void
trn_hf_read_gemma3_text (const TrnHf *hf)
{
  trn_hf_read_gemma (hf);
  trn_hf_may (hf, "sliding_window", &hf->llm->attention.window);
  trn_hf_read_layer_types (hf, 6);
  hf->llm->attention.qk_norm = trn_hf_yes (TRUE);
  hf->llm->norms = (BaseNum){ .v = 4, .set = TRUE };
}

void
trn_hf_read_glm4_moe (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  trn_hf_read_llama_like (hf);
  trn_hf_set_biases (hf, trn_hf_truth (hf, "attention_bias", FALSE), FALSE);
  llm->attention.qk_norm = trn_hf_yes (trn_hf_truth (hf, "use_qk_norm", FALSE));
  trn_hf_read_experts (hf, "n_routed_experts", "moe_intermediate_size");
  llm->moe.router_bias = trn_hf_yes (TRUE); /* e_score_correction_bias */
  trn_hf_may (hf, "n_shared_experts", &llm->moe.shared);
  trn_hf_may (hf, "first_k_dense_replace", &llm->moe.first_dense);
  trn_hf_may (hf, "num_nextn_predict_layers", &llm->mtp);
}

void
trn_hf_read_gpt_oss (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  trn_hf_read_llama_like (hf);
  const gboolean bias = trn_hf_truth (hf, "attention_bias", TRUE);
  trn_hf_set_biases (hf, bias, bias);
  llm->attention.sinks = llm->mlp.fused = llm->mlp.clamp = llm->moe.bias = llm->moe.router_bias = trn_hf_yes (TRUE);
  trn_hf_read_experts (hf, "num_local_experts|num_experts", "intermediate_size");
  llm->mlp.ffn = (BaseNum){ .set = FALSE };
  trn_hf_may (hf, "sliding_window", &llm->attention.window);
  trn_hf_read_layer_types (hf, 2);
}

/* LayerNorm and biases everywhere, two matrices in the MLP. */
void
trn_hf_read_gpt_like (const TrnHf *hf, const char *activation, gboolean tied)
{
  MdlLlm *llm = hf->llm;
  read_shape (hf);
  set_mlp (hf, "activation_function|hidden_act|activation", activation, FALSE);
  trn_hf_set_norm (hf, MDL_NORM_LAYERNORM);
  trn_hf_set_biases (hf, TRUE, TRUE);
  llm->mlp.bias = trn_hf_yes (TRUE);
  trn_hf_tie (hf, tied);
}

void
trn_hf_read_gpt2 (const TrnHf *hf)
{
  trn_hf_read_gpt_like (hf, "gelu_new", TRUE);
  trn_hf_may (hf, "n_inner", &hf->llm->mlp.ffn);
  trn_hf_assume (&hf->llm->mlp.ffn, 4 * hf->llm->hidden.v);
  trn_hf_set_positions (hf, MDL_POSITION_LEARNED);
  trn_hf_need (hf, "n_positions|max_position_embeddings", &hf->llm->positions.length);
  hf->llm->attention.fused = trn_hf_yes (TRUE);
}

void
trn_hf_read_gpt_neox (const TrnHf *hf)
{
  trn_hf_read_gpt_like (hf, "gelu", FALSE);
  trn_hf_need (hf, "intermediate_size", &hf->llm->mlp.ffn);
  const gboolean bias = trn_hf_truth (hf, "attention_bias", TRUE);
  trn_hf_set_biases (hf, bias, bias);
  trn_hf_set_positions (hf, MDL_POSITION_ROPE);
  hf->llm->attention.fused = trn_hf_yes (TRUE);
  hf->llm->parallel = trn_hf_yes (trn_hf_truth (hf, "use_parallel_residual", TRUE));
}

void
trn_hf_read_opt (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  trn_hf_read_gpt_like (hf, "relu", TRUE);
  trn_hf_need (hf, "ffn_dim", &llm->mlp.ffn);
  trn_hf_set_positions (hf, MDL_POSITION_LEARNED);
  trn_hf_need (hf, "max_position_embeddings", &llm->positions.length);
  llm->positions.length.v += 2; /* OPTLearnedPositionalEmbedding.offset */
  trn_hf_refuse (hf, "do_layer_norm_before", TRUE, TRUE);
  trn_hf_refuse (hf, "enable_bias", TRUE, TRUE);
  trn_hf_refuse (hf, "layer_norm_elementwise_affine", TRUE, TRUE);
  trn_hf_refuse (hf, "_remove_final_layer_norm", FALSE, FALSE);
  BaseNum width = { .set = FALSE };
  trn_hf_may (hf, "word_embed_proj_dim", &width);
  if (width.set && width.v != llm->hidden.v)
    base_diag_error (hf->context->diag, width.mark,
                     "an embedding of another width (word_embed_proj_dim %.0f, hidden_size %.0f) is not supported", width.v,
                     llm->hidden.v);
}

void
trn_hf_read_bloom (const TrnHf *hf)
{
  trn_hf_read_gpt_like (hf, "gelu", TRUE);
  trn_hf_assume (&hf->llm->mlp.ffn, 4 * hf->llm->hidden.v);
  trn_hf_set_positions (hf, MDL_POSITION_ALIBI);
  hf->llm->embedding_norm = hf->llm->attention.fused = trn_hf_yes (TRUE);
}

void
trn_hf_read_falcon (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  trn_hf_read_gpt_like (hf, "gelu", TRUE);
  trn_hf_may (hf, "ffn_hidden_size", &llm->mlp.ffn);
  trn_hf_assume (&llm->mlp.ffn, 4 * llm->hidden.v);
  const gboolean bias = trn_hf_truth (hf, "bias", FALSE), grouped = trn_hf_truth (hf, "new_decoder_architecture", FALSE);
  trn_hf_set_biases (hf, bias, bias);
  llm->mlp.bias = trn_hf_yes (bias);
  trn_hf_set_positions (hf, trn_hf_truth (hf, "alibi", FALSE) ? MDL_POSITION_ALIBI : MDL_POSITION_ROPE);
  if (grouped)
    trn_hf_need (hf, "num_kv_heads|n_head_kv", &llm->attention.kv_heads);
  else if (trn_hf_truth (hf, "multi_query", TRUE))
    trn_hf_assume (&llm->attention.kv_heads, 1);
  llm->attention.fused = trn_hf_yes (TRUE);
  llm->parallel = trn_hf_yes (grouped || trn_hf_truth (hf, "parallel_attn", TRUE));
  BaseNum norms = { .set = FALSE };
  trn_hf_may (hf, "num_ln_in_parallel_attn", &norms);
  llm->norms = (BaseNum){ .v = !llm->parallel.v ? 2 : norms.set ? norms.v : grouped ? 2 : 1, .set = TRUE, .mark = norms.mark };
}
