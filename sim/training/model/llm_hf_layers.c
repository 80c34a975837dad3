/* config.json of models whose layers are not all alike: recurrences between attention, and vision encoders before the layers.
 * Source: huggingface/transformers src/transformers/models/{qwen3_next,nemotron_h,qwen2_5_vl,gemma3,siglip}; the nemotron_h code
 * of nvidia/Nemotron-H-8B-Base-8K.  Check: published counts of the config.json files of tests/data/llms. */
#include <string.h>

#include "llm_hf-private.h"

/* ---- recurrences ---- */

static MdlLlmRecurrent *
begin_recurrent (const TrnHf *hf, MdlRecurrentKind kind)
{
  MdlLlmRecurrent *r = &hf->llm->recurrent;
  r->head = (BaseHead){ TRUE, base_yaml_mark (hf->root) };
  r->kind = (BaseEnum){ .v = (int)kind, .set = TRUE };
  return r;
}

/* Attention in every n-th layer: by number, or as the list of layers says, which is regular. */
static void
read_interval (const TrnHf *hf, BaseNum *every)
{
  const BaseYamlNode *types = trn_hf_find (hf, "layer_types");
  trn_hf_may (hf, "full_attention_interval", every);
  for (unsigned i = 0; types != NULL && i < base_yaml_n (types) && !every->set; i++)
    if (g_strcmp0 (base_yaml_text (base_yaml_item (types, i)), "full_attention") == 0)
      trn_hf_assume (every, i + 1);
  trn_hf_assume (every, 4);
  for (unsigned i = 0; types != NULL && i < base_yaml_n (types); i++) {
    const BaseYamlNode *item = base_yaml_item (types, i);
    const gboolean full = (i + 1) % (unsigned)every->v == 0;
    if (g_strcmp0 (base_yaml_text (item), full ? "full_attention" : "linear_attention") != 0) {
      base_diag_error (hf->context->diag, base_yaml_mark (item),
                       "layer_types are linear_attention and full_attention in a regular turn, the full one last");
      return;
    }
  }
}

static void
read_delta_layers (const TrnHf *hf)
{
  MdlLlmRecurrent *r = begin_recurrent (hf, MDL_RECURRENT_GATED_DELTA);
  trn_hf_need (hf, "linear_num_value_heads", &r->heads);
  trn_hf_need (hf, "linear_value_head_dim", &r->head_dim);
  trn_hf_need (hf, "linear_num_key_heads", &r->groups);
  trn_hf_need (hf, "linear_key_head_dim", &r->state);
  trn_hf_may (hf, "linear_conv_kernel_dim", &r->conv);
  trn_hf_assume (&r->conv, 4);
  trn_hf_assume (&r->chunk, 64); /* fla's kernels */
  read_interval (hf, &r->attention_every);
}

static void
read_gated_shared_expert (const TrnHf *hf)
{
  MdlLlmMoe *moe = &hf->llm->moe;
  trn_hf_need (hf, "shared_expert_intermediate_size", &moe->shared_ffn);
  trn_hf_assume (&moe->shared, 1);
  moe->shared_gate = trn_hf_yes (TRUE);
}

void
trn_hf_read_qwen3_next (const TrnHf *hf)
{
  trn_hf_read_qwen3_moe (hf);
  hf->llm->attention.gate = trn_hf_yes (TRUE);
  read_gated_shared_expert (hf);
  read_delta_layers (hf);
}

static void
read_pattern (const TrnHf *hf)
{
  const BaseYamlNode *node = trn_hf_find (hf, "hybrid_override_pattern");
  const char *text = node != NULL ? base_yaml_text (node) : NULL;
  if (text == NULL)
    trn_hf_missing (hf, "hybrid_override_pattern");
  else
    hf->llm->pattern =
        (BaseStr){ .v = base_arena_strndup (hf->context->arena, text, strlen (text)), .set = TRUE, .mark = base_yaml_mark (node) };
}

/* Experts as DeepSeek's, whose balancing bias is no parameter here. */
static void
read_nemotron_experts (const TrnHf *hf)
{
  MdlLlmMoe *moe = &hf->llm->moe;
  trn_hf_read_experts (hf, "n_routed_experts", "moe_intermediate_size");
  trn_hf_may (hf, "n_shared_experts", &moe->shared);
  trn_hf_may (hf, "moe_shared_expert_intermediate_size", &moe->shared_ffn);
  trn_hf_may (hf, "n_group", &moe->groups);
  trn_hf_may (hf, "topk_group", &moe->top_groups);
}

void
trn_hf_read_nemotron_h (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  const BaseYamlNode *act = trn_hf_find (hf, "mlp_hidden_act");
  trn_hf_read_llama_like (hf);
  trn_hf_may (hf, "attention_head_dim", &llm->attention.head_dim);
  llm->mlp.kind = (BaseEnum){ .v = MDL_MLP_RELU2, .set = TRUE };
  if (act != NULL && g_strcmp0 (base_yaml_text (act), "relu2") != 0)
    base_diag_error (hf->context->diag, base_yaml_mark (act), "mlp_hidden_act '%s' is not supported; accepted: relu2",
                     base_yaml_text (act) != NULL ? base_yaml_text (act) : "(no text)");
  llm->mlp.bias = trn_hf_yes (trn_hf_truth (hf, "mlp_bias", FALSE));
  const gboolean bias = trn_hf_truth (hf, "attention_bias", FALSE);
  trn_hf_set_biases (hf, bias, bias);
  trn_hf_set_positions (hf, MDL_POSITION_NONE);
  trn_hf_refuse (hf, "mamba_proj_bias", FALSE, FALSE);
  trn_hf_refuse (hf, "use_bias", FALSE, FALSE);
  read_pattern (hf);
  if (llm->pattern.v != NULL && strchr (llm->pattern.v, 'E') != NULL)
    read_nemotron_experts (hf);
  MdlLlmRecurrent *r = begin_recurrent (hf, MDL_RECURRENT_MAMBA2);
  trn_hf_need (hf, "mamba_num_heads", &r->heads);
  trn_hf_need (hf, "mamba_head_dim", &r->head_dim);
  trn_hf_need (hf, "n_groups", &r->groups);
  trn_hf_need (hf, "ssm_state_size", &r->state);
  trn_hf_may (hf, "conv_kernel", &r->conv);
  trn_hf_assume (&r->conv, 4);
  r->conv_bias = trn_hf_yes (trn_hf_truth (hf, "use_conv_bias", TRUE));
  trn_hf_may (hf, "chunk_size", &r->chunk);
  trn_hf_assume (&r->chunk, 128);
}

/* A recurrence in every layer and nothing else: its heads stand for those of the attention that it does not have. */
void
trn_hf_read_mamba2 (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  trn_hf_need (hf, "num_hidden_layers", &llm->layers);
  trn_hf_need (hf, "hidden_size", &llm->hidden);
  trn_hf_need (hf, "vocab_size", &llm->vocabulary);
  MdlLlmRecurrent *r = begin_recurrent (hf, MDL_RECURRENT_MAMBA2);
  trn_hf_need (hf, "num_heads", &r->heads);
  trn_hf_need (hf, "head_dim", &r->head_dim);
  trn_hf_need (hf, "n_groups", &r->groups);
  trn_hf_need (hf, "state_size", &r->state);
  trn_hf_may (hf, "conv_kernel", &r->conv);
  trn_hf_assume (&r->conv, 4);
  r->conv_bias = trn_hf_yes (trn_hf_truth (hf, "use_conv_bias", TRUE));
  trn_hf_may (hf, "chunk_size", &r->chunk);
  trn_hf_assume (&r->chunk, 256);
  trn_hf_refuse (hf, "use_bias", FALSE, FALSE);
  llm->attention.heads = r->heads;
  llm->attention.head_dim = r->head_dim;
  llm->mlp.kind = (BaseEnum){ .v = MDL_MLP_SWIGLU, .set = TRUE };
  trn_hf_set_norm (hf, MDL_NORM_RMSNORM);
  trn_hf_set_positions (hf, MDL_POSITION_NONE);
  trn_hf_tie (hf, FALSE);
  const size_t n = llm->layers.v >= 1 ? (size_t)llm->layers.v : 0;
  g_autofree char *letters = g_strnfill (n, 'M');
  llm->pattern =
      (BaseStr){ .v = base_arena_strndup (hf->context->arena, letters, n), .set = TRUE, .mark = base_yaml_mark (hf->root) };
}

/* ---- encoders of images ---- */

TrnHf
trn_hf_within (const TrnHf *hf, const char *key)
{
  const BaseYamlNode *map = base_yaml_get (hf->root, key);
  TrnHf inner = *hf;
  if (map != NULL && base_yaml_kind (map) == BASE_YAML_MAP)
    inner.root = map;
  return inner;
}

/* The mapping of the encoder; FALSE and an error where there is none. */
static gboolean
begin_vision (const TrnHf *hf, TrnHf *out)
{
  MdlLlmVision *v = &hf->llm->vision;
  *out = trn_hf_within (hf, "vision_config");
  if (out->root == hf->root) {
    trn_hf_missing (hf, "vision_config");
    return FALSE;
  }
  v->head = (BaseHead){ TRUE, base_yaml_mark (out->root) };
  v->bias = v->projector_bias = trn_hf_yes (TRUE);
  return TRUE;
}

/* Patches of 2 x 2 side by side, two matrices; windows of 112 pixels but in every eighth layer. */
void
trn_hf_read_qwen2_5_vl (const TrnHf *hf)
{
  MdlLlmVision *v = &hf->llm->vision;
  const TrnHf text = trn_hf_within (hf, "text_config");
  TrnHf eyes;
  trn_hf_read_qwen2 (&text);
  if (trn_hf_find (&text, "tie_word_embeddings") == NULL)
    trn_hf_tie (hf, FALSE);
  if (!begin_vision (hf, &eyes))
    return;
  v->mlp = (BaseEnum){ .v = MDL_MLP_SWIGLU, .set = TRUE };
  v->norm = (BaseEnum){ .v = MDL_NORM_RMSNORM, .set = TRUE };
  v->projector_norm = (BaseEnum){ .v = MDL_PROJECTOR_NORM_PATCH, .set = TRUE };
  trn_hf_assume (&v->layers, 32);
  trn_hf_assume (&v->hidden, 1280);
  trn_hf_assume (&v->ffn, 3420);
  trn_hf_assume (&v->heads, 16);
  trn_hf_assume (&v->patch, 14);
  trn_hf_need (&eyes, "depth", &v->layers);
  trn_hf_need (&eyes, "hidden_size", &v->hidden);
  trn_hf_need (&eyes, "intermediate_size", &v->ffn);
  trn_hf_need (&eyes, "num_heads", &v->heads);
  trn_hf_need (&eyes, "patch_size|spatial_patch_size", &v->patch);
  trn_hf_may (&eyes, "temporal_patch_size", &v->frames);
  trn_hf_assume (&v->frames, 2);
  BaseNum merge = { .set = FALSE }, window = { .set = FALSE };
  trn_hf_may (&eyes, "spatial_merge_size", &merge);
  trn_hf_assume (&merge, 2);
  trn_hf_may (&eyes, "window_size", &window);
  trn_hf_assume (&window, 112);
  trn_hf_assume (&v->merge, merge.v * merge.v);
  trn_hf_assume (&v->projector_ffn, v->merge.v * v->hidden.v);
  if (v->patch.v >= 1)
    trn_hf_assume (&v->window, (window.v / v->patch.v) * (window.v / v->patch.v));
  const BaseYamlNode *full = trn_hf_find (&eyes, "fullatt_block_indexes");
  const char *first = full != NULL && base_yaml_n (full) > 0 ? base_yaml_text (base_yaml_item (full, 0)) : "7";
  trn_hf_assume (&v->full_every, g_ascii_strtod (first != NULL ? first : "7", NULL) + 1);
}

/* The encoder of Qwen3-VL: a learned table of positions, two matrices, no windows; four patches beside each other are a token. */
static void
read_qwen3_vision (const TrnHf *hf)
{
  MdlLlmVision *v = &hf->llm->vision;
  TrnHf eyes;
  if (trn_hf_find (hf, "vision_config") == NULL || !begin_vision (hf, &eyes)) /* text alone */
    return;
  v->mlp = (BaseEnum){ .v = MDL_MLP_GELU, .set = TRUE };
  v->norm = (BaseEnum){ .v = MDL_NORM_LAYERNORM, .set = TRUE };
  v->projector_norm = (BaseEnum){ .v = MDL_PROJECTOR_NORM_PATCH, .set = TRUE };
  v->patch_bias = trn_hf_yes (TRUE);
  v->final_norm = trn_hf_yes (FALSE);
  trn_hf_assume (&v->layers, 27);
  trn_hf_assume (&v->hidden, 1152);
  trn_hf_assume (&v->ffn, 4304);
  trn_hf_assume (&v->heads, 16);
  trn_hf_assume (&v->patch, 16);
  trn_hf_need (&eyes, "depth", &v->layers);
  trn_hf_need (&eyes, "hidden_size", &v->hidden);
  trn_hf_need (&eyes, "intermediate_size", &v->ffn);
  trn_hf_need (&eyes, "num_heads", &v->heads);
  trn_hf_need (&eyes, "patch_size", &v->patch);
  trn_hf_may (&eyes, "temporal_patch_size", &v->frames);
  trn_hf_assume (&v->frames, 2);
  trn_hf_may (&eyes, "num_position_embeddings", &v->positions);
  trn_hf_assume (&v->positions, 2304);
  BaseNum merge = { .set = FALSE };
  trn_hf_may (&eyes, "spatial_merge_size", &merge);
  trn_hf_assume (&merge, 2);
  trn_hf_assume (&v->merge, merge.v * merge.v);
  trn_hf_assume (&v->projector_ffn, v->merge.v * v->hidden.v);
}

/* Qwen3-Next's layers, dense or with experts; it has multi-token prediction, and an encoder of images around it. */
void
trn_hf_read_qwen3_5 (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  const TrnHf text = trn_hf_within (hf, "text_config");
  trn_hf_assume (&llm->attention.head_dim, 256);
  if (trn_hf_find (&text, "num_experts") != NULL) {
    trn_hf_assume (&llm->mlp.ffn, 1); /* no layer is dense, and the key may be absent */
    trn_hf_read_qwen3_moe (&text);
    read_gated_shared_expert (&text);
  } else {
    trn_hf_read_llama (&text);
    llm->attention.qk_norm = trn_hf_yes (TRUE);
  }
  if (trn_hf_find (&text, "tie_word_embeddings") == NULL)
    trn_hf_tie (hf, FALSE);
  llm->attention.gate = trn_hf_yes (trn_hf_truth (&text, "attn_output_gate", TRUE));
  read_delta_layers (&text);
  trn_hf_may (&text, "mtp_num_hidden_layers", &llm->mtp);
  read_qwen3_vision (hf);
}

/* SigLIP, whose patches are pooled to 256 tokens an image. Keys that the text has as its family's defaults are left out there. */
void
trn_hf_read_gemma3 (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  MdlLlmVision *v = &llm->vision;
  const TrnHf text = trn_hf_within (hf, "text_config");
  TrnHf eyes;
  trn_hf_assume (&llm->vocabulary, 262208);
  trn_hf_assume (&llm->hidden, 2304);
  trn_hf_assume (&llm->mlp.ffn, 9216);
  trn_hf_assume (&llm->layers, 26);
  trn_hf_assume (&llm->attention.heads, 8);
  trn_hf_assume (&llm->attention.kv_heads, 4);
  trn_hf_assume (&llm->attention.head_dim, 256);
  trn_hf_read_gemma3_text (&text);
  if (!begin_vision (hf, &eyes))
    return;
  v->mlp = (BaseEnum){ .v = MDL_MLP_GELU, .set = TRUE };
  v->norm = (BaseEnum){ .v = MDL_NORM_LAYERNORM, .set = TRUE };
  v->patch_bias = v->final_norm = v->pool = trn_hf_yes (TRUE);
  v->projector_bias = trn_hf_yes (FALSE);
  v->projector_norm = (BaseEnum){ .v = MDL_PROJECTOR_NORM_PATCH, .set = TRUE };
  BaseNum image = { .set = FALSE }, tokens = { .set = FALSE };
  trn_hf_need (&eyes, "num_hidden_layers", &v->layers);
  trn_hf_need (&eyes, "hidden_size", &v->hidden);
  trn_hf_need (&eyes, "intermediate_size", &v->ffn);
  trn_hf_need (&eyes, "num_attention_heads", &v->heads);
  trn_hf_need (&eyes, "patch_size", &v->patch);
  trn_hf_need (&eyes, "image_size", &image);
  trn_hf_may (hf, "mm_tokens_per_image", &tokens);
  trn_hf_assume (&tokens, 256);
  trn_hf_assume (&v->frames, 1);
  if (v->patch.v < 1)
    return;
  trn_hf_assume (&v->positions, (image.v / v->patch.v) * (image.v / v->patch.v));
  trn_hf_assume (&v->merge, v->positions.v / tokens.v);
}
