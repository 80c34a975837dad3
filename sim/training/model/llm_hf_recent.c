/* config.json of models with windows in turn, interleaved experts or norms behind, and of encoders of text.
 * Source: huggingface/transformers src/transformers/models/{bert,glm,glm4,llama4,minimax_m2,olmo3,roberta}.
 * Check: published counts of the config.json files of tests/data/llms. */
#include <string.h>

#include "llm_hf-private.h"

/* OLMo 2 with a window in three layers of four. */
void
trn_hf_read_olmo3 (const TrnHf *hf)
{
  trn_hf_read_olmo2 (hf);
  trn_hf_may (hf, "sliding_window", &hf->llm->attention.window);
  trn_hf_read_layer_types (hf, 4);
}

/* Biases of query, key and value; gate and up in one matrix. */
void
trn_hf_read_glm (const TrnHf *hf)
{
  trn_hf_read_llama_like (hf);
  trn_hf_set_biases (hf, trn_hf_truth (hf, "attention_bias", FALSE), FALSE);
  hf->llm->mlp.fused = trn_hf_yes (TRUE);
}

/* With norms behind attention and MLP too. */
void
trn_hf_read_glm4 (const TrnHf *hf)
{
  trn_hf_read_glm (hf);
  hf->llm->norms = (BaseNum){ .v = 4, .set = TRUE };
}

/* Experts in all layers; norms of queries and keys over all heads. */
void
trn_hf_read_minimax_m2 (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  trn_hf_read_llama_like (hf);
  trn_hf_read_experts (hf, "num_local_experts", "intermediate_size");
  llm->mlp.ffn = (BaseNum){ .set = FALSE };
  llm->moe.router_bias = trn_hf_yes (trn_hf_truth (hf, "use_routing_bias", TRUE));
  llm->attention.qk_norm = llm->attention.qk_norm_all = trn_hf_yes (trn_hf_truth (hf, "use_qk_norm", TRUE));
}

/* Which layers have experts: every so many, the last of each. The list says the same or is refused. */
static void
read_interleaved (const TrnHf *hf)
{
  BaseNum *every = &hf->llm->moe.every;
  const BaseYamlNode *list = trn_hf_find (hf, "moe_layers");
  trn_hf_may (hf, "interleave_moe_layer_step", every);
  trn_hf_assume (every, 1);
  for (unsigned i = 0; list != NULL && i < base_yaml_n (list); i++) {
    g_autofree char *wanted = g_strdup_printf ("%.0f", (i + 1) * every->v - 1);
    const BaseYamlNode *item = base_yaml_item (list, i);
    if (g_strcmp0 (base_yaml_text (item), wanted) != 0) {
      base_diag_error (hf->context->diag, base_yaml_mark (item), "moe_layers are every %.0f layers, the last of each: give %s here",
                       every->v, wanted);
      return;
    }
  }
}

/* Layers without positions see all keys, the others a chunk. `no_rope_layers` has 0 for the former, the last of every so many. */
static void
read_chunks (const TrnHf *hf)
{
  MdlLlmAttention *attention = &hf->llm->attention;
  const BaseYamlNode *list = trn_hf_find (hf, "no_rope_layers");
  const unsigned n = list != NULL ? base_yaml_n (list) : 0;
  unsigned every = 4;
  trn_hf_may (hf, "attention_chunk_size", &attention->window);
  if (n > 0) /* of an empty list the interval holds */
    for (every = 0; every < n && g_strcmp0 (base_yaml_text (base_yaml_item (list, every)), "0") != 0;)
      every++;
  every += n > 0 ? 1 : 0;
  for (unsigned i = 0; i < n; i++) {
    const char *wanted = (i + 1) % every == 0 ? "0" : "1";
    const BaseYamlNode *item = base_yaml_item (list, i);
    if (g_strcmp0 (base_yaml_text (item), wanted) != 0) {
      base_diag_error (hf->context->diag, base_yaml_mark (item),
                       "no_rope_layers are 1 and 0 in a regular turn, the 0 last: give %s here", wanted);
      return;
    }
  }
  if (attention->window.set)
    trn_hf_assume (&attention->full_every, every);
}

/* A shared expert beside the routed ones. Norms of queries and keys have no weights. Chunks are read as windows of as many keys,
 * which is the same up to sequences of one chunk. */
void
trn_hf_read_llama4 (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  const TrnHf text = trn_hf_within (hf, "text_config");
  const BaseYamlNode *vision = trn_hf_find (hf, "vision_config");
  trn_hf_read_llama (&text);
  trn_hf_read_experts (&text, "num_local_experts", "intermediate_size");
  read_interleaved (&text);
  trn_hf_assume (&llm->moe.shared, 1);
  llm->mlp.ffn = (BaseNum){ .set = FALSE };
  if (llm->moe.every.v > 1)
    trn_hf_need (&text, "intermediate_size_mlp", &llm->mlp.ffn);
  read_chunks (&text);
  if (vision != NULL)
    base_diag_warn (hf->context->diag, base_yaml_mark (vision),
                    "the vision encoder is left out: the model is the text of %s, and published counts include the encoder",
                    hf->model_type);
}

/* Post-norm: as many norms as others have before, and one behind the embedding. Token types are rows of the table of positions.
 * Not there: the pooler, and the transform in front of the tied head. */
void
trn_hf_read_bert (const TrnHf *hf)
{
  MdlLlm *llm = hf->llm;
  BaseNum types = { .set = FALSE };
  trn_hf_read_gpt_like (hf, "gelu", TRUE);
  trn_hf_need (hf, "intermediate_size", &llm->mlp.ffn);
  trn_hf_set_positions (hf, MDL_POSITION_LEARNED);
  trn_hf_need (hf, "max_position_embeddings", &llm->positions.length);
  trn_hf_may (hf, "type_vocab_size", &types);
  llm->positions.length.v += types.set ? types.v : 2;
  trn_hf_refuse (hf, "is_decoder", FALSE, FALSE);
  trn_hf_refuse (hf, "add_cross_attention", FALSE, FALSE);
  llm->embedding_norm = llm->attention.both_ways = trn_hf_yes (TRUE);
  llm->final_norm = trn_hf_yes (FALSE);
}
