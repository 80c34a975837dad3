/* A model_type that is not known: read as the family whose keys it has, unless a key stands for layers that are not modelled.
 * A wrong model that looks right is worse than none, so what such a key means is refused with the key's place. */
#include <string.h>

#include "llm_hf-private.h"

/* A key, or with * its beginning, and what it stands for. */
static const struct {
  const char *key, *what;
} strange[] = {
  { "linear_attn_config", "linear attention with a gate per channel (Kimi Delta Attention)" },
  { "attn_type_list", "linear attention (lightning attention)" },
  { "lightning*", "linear attention (lightning attention)" },
  { "conv_L_cache", "short convolutions in place of attention" },
  { "index_topk", "sparse attention to the keys that an indexer chooses" },
  { "sparse_attention*", "sparse attention" },
  { "rwkv*", "a recurrence (RWKV)" },
  { "lru_width", "a recurrence (RG-LRU)" },
  { "type_vocab_size", "an encoder, without a causal mask" },
  { "use_bidirectional_attention", "attention without a causal mask" },
  { "is_encoder_decoder", "an encoder and a decoder" },
  { "cross_attention*", "cross-attention" },
  { "num_kv_shared_layers", "layers that share keys and values" },
  { "hidden_size_per_layer_input", "an embedding per layer" },
  { "block_configs", "layers of different shapes" },
  { "zero_expert_num", "experts that do nothing" },
};
/* Accepted beside the pattern of Nemotron-H alone. */
static const char *const state_space[] = { "layers_block_type", "ssm_*", "mamba_*", "state_size", "time_step_rank" };

/* The first key of a mapping that begins so and is not false, 0, null or empty. */
static const BaseYamlNode *
find_key (const BaseYamlNode *root, const char *key, const char **name)
{
  const size_t n = strlen (key) - 1;
  const gboolean begins = key[n] == '*';
  for (unsigned i = 0; i < base_yaml_n (root); i++) {
    const char *has = base_yaml_key (root, i);
    const BaseYamlNode *value = base_yaml_item (root, i);
    if (begins ? strncmp (has, key, n) != 0 : strcmp (has, key) != 0)
      continue;
    const char *text = base_yaml_kind (value) == BASE_YAML_SCALAR ? base_yaml_text (value) : NULL;
    const gboolean off = base_yaml_is_null (value) || (text == NULL && base_yaml_n (value) == 0) ||
                         g_strcmp0 (text, "false") == 0 || g_strcmp0 (text, "0") == 0;
    if (!off) {
      *name = has;
      return value;
    }
  }
  return NULL;
}

/* All 1: softmax attention everywhere. */
static gboolean
all_one (const BaseYamlNode *list)
{
  for (unsigned i = 0; i < base_yaml_n (list); i++)
    if (g_strcmp0 (base_yaml_text (base_yaml_item (list, i)), "1") != 0)
      return FALSE;
  return base_yaml_n (list) > 0;
}

/* A mark and what stands there, of something that is not modelled. */
typedef struct {
  BaseMark mark;
  const char *key, *what;
} Strange;

static gboolean
has_strange_key (const TrnHf *hf, Strange *out)
{
  const char *key = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS (strange); i++) {
    const BaseYamlNode *node = find_key (hf->root, strange[i].key, &key);
    if (node != NULL && !(strcmp (key, "attn_type_list") == 0 && all_one (node))) {
      *out = (Strange){ base_yaml_mark (node), key, strange[i].what };
      return TRUE;
    }
  }
  for (size_t i = 0; i < G_N_ELEMENTS (state_space) && trn_hf_find (hf, "hybrid_override_pattern") == NULL; i++) {
    const BaseYamlNode *node = find_key (hf->root, state_space[i], &key);
    if (node != NULL) {
      *out = (Strange){ base_yaml_mark (node), key, "state-space layers (Mamba)" };
      return TRUE;
    }
  }
  return FALSE;
}

/* An item of layer_types that is no attention. Of linear attention the keys say whether it is Qwen's. */
static gboolean
has_strange_layer (const TrnHf *hf, Strange *out)
{
  const BaseYamlNode *types = trn_hf_find (hf, "layer_types");
  const gboolean delta = trn_hf_find (hf, "linear_num_value_heads") != NULL;
  for (unsigned i = 0; types != NULL && i < base_yaml_n (types); i++) {
    const BaseYamlNode *item = base_yaml_item (types, i);
    const char *text = base_yaml_text (item);
    if (g_strcmp0 (text, "full_attention") != 0 && g_strcmp0 (text, "sliding_attention") != 0 &&
        !(delta && g_strcmp0 (text, "linear_attention") == 0)) {
      g_autofree char *key = g_strdup_printf ("'%s' in layer_types", text != NULL ? text : "a list");
      *out = (Strange){ base_yaml_mark (item), base_arena_strndup (hf->context->arena, key, strlen (key)),
                        "layers without softmax attention" };
      return TRUE;
    }
  }
  return FALSE;
}

/* Experts by a key that no family has: read without, the model would be dense. */
static gboolean
has_strange_experts (const TrnHf *hf, Strange *out)
{
  if (trn_hf_find (hf, "n_routed_experts|num_experts|num_local_experts") != NULL)
    return FALSE;
  for (unsigned i = 0; i < base_yaml_n (hf->root); i++) {
    const char *key = base_yaml_key (hf->root, i), *text = base_yaml_text (base_yaml_item (hf->root, i));
    if (strstr (key, "expert") != NULL && text != NULL && g_ascii_strtod (text, NULL) > 1) {
      *out = (Strange){ base_yaml_mark (base_yaml_item (hf->root, i)), key, "experts by a key of its own" };
      return TRUE;
    }
  }
  return FALSE;
}

/* By keys alone; NULL: none. */
static const char *
family_of (const TrnHf *hf)
{
  static const char *const usual[] = { "hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
                                       "intermediate_size|moe_intermediate_size" };
  for (size_t i = 0; i < G_N_ELEMENTS (usual); i++)
    if (trn_hf_find (hf, usual[i]) == NULL)
      return NULL;
  const gboolean width = trn_hf_find (hf, "moe_intermediate_size") != NULL;
  if (trn_hf_find (hf, "kv_lora_rank") != NULL)
    return trn_hf_find (hf, "n_routed_experts") != NULL ? "deepseek_v3" : NULL;
  return trn_hf_find (hf, "hybrid_override_pattern") != NULL  ? "nemotron_h"
         : trn_hf_find (hf, "linear_num_value_heads") != NULL ? "qwen3_next"
         : trn_hf_find (hf, "n_routed_experts") != NULL       ? "glm4_moe"
         : trn_hf_find (hf, "num_experts") != NULL && width   ? "qwen3_moe"
         : trn_hf_find (hf, "num_local_experts") != NULL      ? "mixtral"
         : trn_hf_find (hf, "num_experts") != NULL            ? NULL
                                                              : "llama";
}

const BaseYamlNode *
trn_hf_text_type (const BaseYamlNode *map)
{
  const BaseYamlNode *type = map != NULL && base_yaml_kind (map) == BASE_YAML_MAP ? base_yaml_get (map, "model_type") : NULL;
  return type != NULL && base_yaml_kind (type) == BASE_YAML_SCALAR && base_yaml_text (type) != NULL ? type : NULL;
}

const char *
trn_hf_nearest (const TrnHf *hf, const BaseYamlNode *type, const char *accepted)
{
  Strange found;
  BaseDiag *diag = hf->context->diag;
  const char *family = family_of (hf);
  if (has_strange_key (hf, &found) || has_strange_layer (hf, &found) || has_strange_experts (hf, &found)) {
    g_autofree char *other = family != NULL ? g_strdup_printf (", or write model_type '%s' to compute full attention", family)
                                            : g_strdup ("");
    base_diag_error (diag, found.mark,
                     "model_type '%s' is not supported: %s stands for %s, which is not modelled; write a model of similar layers "
                     "(docs/llms.md)%s",
                     hf->model_type, found.key, found.what, g_str_has_prefix (found.what, "sparse") ? other : "");
    return NULL;
  }
  if (family == NULL)
    base_diag_error (diag, base_yaml_mark (type), "model_type '%s' is not supported%s", hf->model_type, accepted);
  else
    base_diag_warn (diag, base_yaml_mark (type),
                    "model_type '%s' is not known; it is read as %s by its keys: compare the number of parameters", hf->model_type,
                    family);
  return family;
}

/* "4" and "LLLG" say the same. */
static unsigned
read_turn (const TrnHf *hf)
{
  const BaseYamlNode *node = trn_hf_find (hf, "sliding_window_pattern");
  const char *text = node != NULL ? base_yaml_text (node) : NULL;
  if (text == NULL)
    return 0;
  return g_ascii_isdigit (text[0]) ? (unsigned)g_ascii_strtoull (text, NULL, 10) : (unsigned)strlen (text);
}

void
trn_hf_read_unknown (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  MdlLlmMoe *moe = &llm->moe;
  if (trn_hf_truth (hf, "use_qk_norm|qk_norm|qk_layernorm|use_qk_layernorm", FALSE))
    llm->attention.qk_norm = trn_hf_yes (TRUE);
  if (llm->attention.kind.v != MDL_ATTENTION_MLA && llm->recurrent.heads.v < 1 &&
      trn_hf_truth (hf, "use_sliding_window", TRUE)) {
    trn_hf_may (hf, "sliding_window", &llm->attention.window);
    trn_hf_read_layer_types (hf, read_turn (hf));
  }
  if (moe->experts.v < 1 || moe->shared.set)
    return;
  trn_hf_may (hf, "n_shared_experts|num_shared_experts", &moe->shared);
  trn_hf_may (hf, "shared_expert_intermediate_size|moe_shared_expert_intermediate_size|shared_intermediate_size",
              &moe->shared_ffn);
  if (moe->shared_ffn.set)
    trn_hf_assume (&moe->shared, 1);
  if (!moe->first_dense.set && trn_hf_find (hf, "intermediate_size") != NULL)
    trn_hf_may (hf, "first_k_dense_replace", &moe->first_dense);
  if (moe->first_dense.set && !llm->mlp.ffn.set)
    trn_hf_may (hf, "intermediate_size", &llm->mlp.ffn);
}
