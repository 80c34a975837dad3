/* HuggingFace config.json to a language model: a row a model_type, and the nearest for those that have none.
 * JSON is YAML, so the document is read with positions and each value keeps its place. */
#include <string.h>

#include "training/llm.h"

#include "llm_hf-private.h"

static const struct {
  const char *model_type;
  void (*read) (const TrnHf *hf);
} families[] = {
  { "bert", trn_hf_read_bert },
  { "bloom", trn_hf_read_bloom },
  { "deepseek_v2", trn_hf_read_deepseek },
  { "deepseek_v3", trn_hf_read_deepseek_v3 },
  { "falcon", trn_hf_read_falcon },
  { "gemma", trn_hf_read_gemma },
  { "gemma2", trn_hf_read_gemma2 },
  { "gemma3", trn_hf_read_gemma3 },
  { "gemma3_text", trn_hf_read_gemma3_text },
  { "glm", trn_hf_read_glm },
  { "glm4", trn_hf_read_glm4 },
  { "glm4_moe", trn_hf_read_glm4_moe },
  { "gpt2", trn_hf_read_gpt2 },
  { "gpt_neox", trn_hf_read_gpt_neox },
  { "gpt_oss", trn_hf_read_gpt_oss },
  { "kimi_k2", trn_hf_read_deepseek_v3 },
  { "llama", trn_hf_read_llama },
  { "llama4", trn_hf_read_llama4 },
  { "llama4_text", trn_hf_read_llama4 },
  { "mamba2", trn_hf_read_mamba2 },
  { "minimax_m2", trn_hf_read_minimax_m2 },
  { "mistral", trn_hf_read_mistral },
  { "mixtral", trn_hf_read_mixtral },
  { "nemotron_h", trn_hf_read_nemotron_h },
  { "olmo2", trn_hf_read_olmo2 },
  { "olmo3", trn_hf_read_olmo3 },
  { "opt", trn_hf_read_opt },
  { "phi3", trn_hf_read_phi3 },
  { "qwen2", trn_hf_read_qwen2 },
  { "qwen2_5_vl", trn_hf_read_qwen2_5_vl },
  { "qwen2_moe", trn_hf_read_qwen2_moe },
  { "qwen3", trn_hf_read_qwen3 },
  { "qwen3_5", trn_hf_read_qwen3_5 },
  { "qwen3_5_moe", trn_hf_read_qwen3_5 },
  { "qwen3_5_moe_text", trn_hf_read_qwen3_5 },
  { "qwen3_5_text", trn_hf_read_qwen3_5 },
  { "qwen3_moe", trn_hf_read_qwen3_moe },
  { "qwen3_next", trn_hf_read_qwen3_next },
  { "roberta", trn_hf_read_bert },
};

char *
trn_llm_hf_types (void)
{
  GString *out = g_string_new (NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (families); i++)
    g_string_append_printf (out, "%s%s", i > 0 ? ", " : "", families[i].model_type);
  return g_string_free (out, FALSE);
}

/* "models/llama/config.json" is named llama, "models/llama.json" too. Returned: in the arena. */
static const char *
name_of (const char *path, BaseArena *arena)
{
  g_autofree char *base = g_path_get_basename (path), *folder = g_path_get_dirname (path), *parent = g_path_get_basename (folder);
  char *dot = strrchr (base, '.');
  if (dot != NULL && dot != base)
    *dot = '\0';
  const char *name = strcmp (base, "config") == 0 && strcmp (parent, ".") != 0 && strcmp (parent, "/") != 0 ? parent : base;
  return base_arena_strndup (arena, name, strlen (name));
}

/* Defaults of the schema, places of the mappings. */
static void
begin (const TrnHf *hf, const char *name)
{
  MdlLlm *llm = hf->llm;
  const BaseMark mark = base_yaml_mark (hf->root);
  llm->head = llm->attention.head = llm->mlp.head = llm->positions.head = (BaseHead){ TRUE, mark };
  llm->name = (BaseStr){ .v = name != NULL ? name : name_of (mark.file, hf->context->arena), .set = TRUE, .mark = mark };
  llm->norms.v = 2;
  llm->final_norm.v = TRUE;
  llm->moe.every.v = llm->moe.groups.v = 1;
  trn_hf_may (hf, "max_position_embeddings|n_positions", &llm->max_context);
}

/* Reads `root`, which says that it is of `type`, as `family`: its own, or the nearest. */
static gboolean
read_family (const TrnHf *hf, const char *name, const char *family)
{
  const unsigned before = base_diag_n_errors (hf->context->diag);
  for (size_t i = 0; i < G_N_ELEMENTS (families); i++)
    if (strcmp (families[i].model_type, family) == 0) {
      begin (hf, name);
      families[i].read (hf);
      if (strcmp (family, hf->model_type) != 0)
        trn_hf_read_unknown (hf);
      return base_diag_n_errors (hf->context->diag) == before;
    }
  g_return_val_if_reached (FALSE);
}

gboolean
trn_llm_read_hf (const BaseYaml *yaml, const char *name, const BaseSchemaContext *context, MdlLlm *out)
{
  const BaseYamlNode *root = base_yaml_root (yaml), *type = base_yaml_get (root, "model_type");
  const char *names[G_N_ELEMENTS (families) + 1] = { NULL };
  for (size_t i = 0; i < G_N_ELEMENTS (families); i++)
    names[i] = families[i].model_type;
  const char *text = type != NULL ? base_yaml_text (type) : NULL;
  g_autofree char *accepted = base_accepted (text, names, NULL);
  if (text == NULL) {
    base_diag_error (context->diag, base_yaml_mark (type != NULL ? type : root), "no model_type%s", accepted);
    return FALSE;
  }
  TrnHf hf = { .model_type = text, .root = root, .context = context, .llm = out };
  if (g_strv_contains (names, text))
    return read_family (&hf, name, text);
  const BaseYamlNode *inner = base_yaml_get (root, "text_config"), *inner_type = trn_hf_text_type (inner);
  if (inner_type != NULL) { /* a model of images or sound around one of text */
    base_diag_warn (context->diag, base_yaml_mark (type),
                    "model_type '%s' is not known; its text_config alone is read, of model_type '%s': compare the number of "
                    "parameters",
                    text, base_yaml_text (inner_type));
    hf = (TrnHf){ .model_type = base_yaml_text (inner_type), .root = inner, .context = context, .llm = out };
    type = inner_type;
    if (g_strv_contains (names, hf.model_type))
      return read_family (&hf, name, hf.model_type);
  }
  const char *family = trn_hf_nearest (&hf, type, accepted);
  return family != NULL && read_family (&hf, name, family);
}
