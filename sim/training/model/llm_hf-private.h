/* What the readers of HuggingFace config.json share. Values keep their place; errors go to the diag of the context. */
#ifndef TRAINING_LLM_HF_PRIVATE_H
#define TRAINING_LLM_HF_PRIVATE_H

#include "training/llm.h"

typedef struct {
  const char *model_type;
  const BaseYamlNode *root; /* that keys are looked for in */
  const BaseSchemaContext *context;
  MdlLlm *llm;
} TrnHf;

/* Keys may be alternatives: "hidden_size|n_embd", of which the first that is there and not null counts. */
const BaseYamlNode *trn_hf_find (const TrnHf *hf, const char *keys);
void trn_hf_missing (const TrnHf *hf, const char *keys);
/* At least 1; an error where it is neither there nor set before. */
void trn_hf_need (const TrnHf *hf, const char *keys, BaseNum *out);
/* As trn_hf_need, where it is there; 0 stands for absent. */
void trn_hf_may (const TrnHf *hf, const char *keys, BaseNum *out);
void trn_hf_assume (BaseNum *out, double value); /* where it is not set */
gboolean trn_hf_truth (const TrnHf *hf, const char *key, gboolean fallback);
/* An error where the key, or what its absence means, is not `accepted`. */
void trn_hf_refuse (const TrnHf *hf, const char *key, gboolean fallback, gboolean accepted);
BaseBool trn_hf_yes (gboolean value);
void trn_hf_set_norm (const TrnHf *hf, MdlNormKind kind);
void trn_hf_set_positions (const TrnHf *hf, MdlPositionKind kind);
void trn_hf_set_biases (const TrnHf *hf, gboolean projections, gboolean output);
void trn_hf_tie (const TrnHf *hf, gboolean fallback);

/* ---- families ---- */

void trn_hf_read_llama_like (const TrnHf *hf);
void trn_hf_read_experts (const TrnHf *hf, const char *experts, const char *ffn);
void trn_hf_read_llama (const TrnHf *hf);
/* LayerNorm and biases everywhere, two matrices in the MLP. */
void trn_hf_read_gpt_like (const TrnHf *hf, const char *activation, gboolean tied);
/* `layer_types`: which layers see a window. One full layer at the end of every `full_every` is what can be said; without the key
 * every `fallback`-th is full, 0: none. */
void trn_hf_read_layer_types (const TrnHf *hf, unsigned fallback);
void trn_hf_read_bloom (const TrnHf *hf);
void trn_hf_read_deepseek (const TrnHf *hf);
void trn_hf_read_deepseek_v3 (const TrnHf *hf);
void trn_hf_read_falcon (const TrnHf *hf);
void trn_hf_read_gemma (const TrnHf *hf);
void trn_hf_read_gemma2 (const TrnHf *hf);
void trn_hf_read_glm4_moe (const TrnHf *hf);
void trn_hf_read_gpt2 (const TrnHf *hf);
void trn_hf_read_gpt_neox (const TrnHf *hf);
void trn_hf_read_gpt_oss (const TrnHf *hf);
void trn_hf_read_mistral (const TrnHf *hf);
void trn_hf_read_mixtral (const TrnHf *hf);
void trn_hf_read_opt (const TrnHf *hf);
void trn_hf_read_phi3 (const TrnHf *hf);
void trn_hf_read_qwen2_moe (const TrnHf *hf);
void trn_hf_read_qwen3 (const TrnHf *hf);
void trn_hf_read_olmo2 (const TrnHf *hf);
void trn_hf_read_qwen2 (const TrnHf *hf);
void trn_hf_read_qwen3_moe (const TrnHf *hf);
void trn_hf_read_gemma3_text (const TrnHf *hf);
/* llm_hf_recent.c: windows in turn, interleaved experts, norms behind, encoders of text. */
void trn_hf_read_bert (const TrnHf *hf);
void trn_hf_read_glm (const TrnHf *hf);
void trn_hf_read_glm4 (const TrnHf *hf);
void trn_hf_read_llama4 (const TrnHf *hf);
void trn_hf_read_minimax_m2 (const TrnHf *hf);
void trn_hf_read_olmo3 (const TrnHf *hf);
/* llm_hf_layers.c: recurrent layers, and encoders of images. */
void trn_hf_read_mamba2 (const TrnHf *hf);
void trn_hf_read_qwen3_5 (const TrnHf *hf);
void trn_hf_read_qwen3_next (const TrnHf *hf);
void trn_hf_read_nemotron_h (const TrnHf *hf);
void trn_hf_read_qwen2_5_vl (const TrnHf *hf);
void trn_hf_read_gemma3 (const TrnHf *hf);

/* The same reader in one of the mappings; where it is not there: where it stands. */
TrnHf trn_hf_within (const TrnHf *hf, const char *key);

/* ---- llm_hf_unknown.c: a model type that is not known ---- */

/* The `model_type` of a mapping that has one, or NULL. */
const BaseYamlNode *trn_hf_text_type (const BaseYamlNode *map);
/* The family whose keys it has, with a warning; NULL and an error at what is not modelled, or at `type` where keys are missing.
 * `accepted`: the known types, for the error. */
const char *trn_hf_nearest (const TrnHf *hf, const BaseYamlNode *type, const char *accepted);
/* What it has beside the keys of that family: windows, shared experts, norms of queries and keys. */
void trn_hf_read_unknown (const TrnHf *hf);

#endif
