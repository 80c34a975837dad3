/* Language models from files and mappings: found, read, completed, checked. */
#include <string.h>

#include "training/llm.h"

#define EXACT 9007199254740992.0 /* 2^53: whole numbers up to it are doubles */

/* ---- checks ---- */

/* The place of a leaf, or of what it should be in. */
static BaseMark
mark_of (const BaseNum *num, const BaseHead *head)
{
  return num->set ? num->mark : head->mark;
}

static void
check_mla (const MdlLlmAttention *attention, BaseDiag *diag)
{
  const struct {
    const char *key;
    gboolean set;
    BaseMark mark;
  } others[] = { { "kv_heads", attention->kv_heads.set, attention->kv_heads.mark },
                 { "head_dim", attention->head_dim.set, attention->head_dim.mark },
                 { "bias", attention->bias.v, attention->bias.mark },
                 { "qk_norm", attention->qk_norm.v, attention->qk_norm.mark },
                 { "qk_norm_all", attention->qk_norm_all.v, attention->qk_norm_all.mark },
                 { "sinks", attention->sinks.v, attention->sinks.mark },
                 { "fused", attention->fused.v, attention->fused.mark } };
  for (size_t i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].set)
      base_diag_error (diag, others[i].mark, "mla has no '%s'; it has q_lora, kv_lora, nope, rope and value", others[i].key);
  if (!attention->kv_lora.set || !attention->nope.set || !attention->value.set)
    base_diag_error (diag, attention->head.mark,
                     "mla needs kv_lora, nope and value (and rope, and q_lora where queries are compressed)");
}

static void
check_heads (const MdlLlm *llm, BaseDiag *diag)
{
  const MdlLlmAttention *attention = &llm->attention;
  const BaseNum *const only_mla[] = { &attention->q_lora, &attention->kv_lora, &attention->nope, &attention->rope,
                                      &attention->value };
  static const char *const names[] = { "q_lora", "kv_lora", "nope", "rope", "value" };
  for (size_t i = 0; i < G_N_ELEMENTS (only_mla); i++)
    if (only_mla[i]->set)
      base_diag_error (diag, only_mla[i]->mark, "'%s' is of mla, and this attention is %s", names[i],
                       base_name (mdl_attention_names, attention->kind.v));
  const double heads = attention->heads.v, kv_heads = mdl_llm_kv_heads (llm);
  if (!attention->head_dim.set && (guint64)llm->hidden.v % (guint64)heads != 0)
    base_diag_error (diag, attention->heads.mark, "%.0f heads do not divide hidden %.0f, and there is no head_dim", heads,
                     llm->hidden.v);
  if ((guint64)heads % (guint64)kv_heads != 0)
    base_diag_error (diag, mark_of (&attention->kv_heads, &attention->head), "kv_heads %.0f does not divide heads %.0f", kv_heads,
                     heads);
  const gboolean fits = attention->kind.v == MDL_ATTENTION_MHA   ? kv_heads == heads
                        : attention->kind.v == MDL_ATTENTION_MQA ? !attention->kv_heads.set || attention->kv_heads.v == 1
                                                                 : attention->kv_heads.set;
  if (!fits)
    base_diag_error (diag, attention->kind.set ? attention->kind.mark : mark_of (&attention->kv_heads, &attention->head),
                     "kind %s contradicts kv_heads: mha has as many as heads, mqa one, gqa says how many",
                     base_name (mdl_attention_names, attention->kind.v));
}

static void
check_attention (const MdlLlm *llm, BaseDiag *diag)
{
  const MdlLlmAttention *attention = &llm->attention;
  if (attention->kind.v == MDL_ATTENTION_MLA)
    check_mla (attention, diag);
  else
    check_heads (llm, diag);
  if (attention->full_every.set && !attention->window.set)
    base_diag_error (diag, attention->full_every.mark, "full_every without window: all layers see all");
}

static void
check_moe (const MdlLlm *llm, BaseDiag *diag)
{
  const MdlLlmMoe *moe = &llm->moe;
  if (!moe->top_k.set || !moe->ffn.set)
    base_diag_error (diag, moe->head.mark, "moe needs experts, top_k and ffn");
  if (moe->top_k.v > moe->experts.v)
    base_diag_error (diag, moe->top_k.mark, "top_k %.0f is more than the %.0f experts", moe->top_k.v, moe->experts.v);
  if ((guint64)moe->experts.v % (guint64)moe->groups.v != 0)
    base_diag_error (diag, moe->groups.mark, "%.0f groups do not divide %.0f experts", moe->groups.v, moe->experts.v);
  if (moe->top_groups.set && moe->top_groups.v > moe->groups.v)
    base_diag_error (diag, moe->top_groups.mark, "top_groups %.0f is more than the %.0f groups", moe->top_groups.v, moe->groups.v);
  if (moe->first_dense.v >= llm->layers.v || mdl_llm_n_moe (llm) == 0)
    base_diag_error (diag, mark_of (moe->first_dense.set ? &moe->first_dense : &moe->every, &moe->head),
                     "none of the %.0f layers has experts", llm->layers.v);
  if (moe->shared.v < 1 && (moe->shared_ffn.set || moe->shared_gate.v))
    base_diag_error (diag, moe->shared_ffn.set ? moe->shared_ffn.mark : moe->shared_gate.mark,
                     "shared_ffn and shared_gate are of shared experts, and 'shared' is 0");
}

static void
check_counts (const MdlLlm *llm, BaseDiag *diag)
{
  MdlLlmCount count;
  mdl_llm_count (llm, &count);
  if (count.total + count.mtp * llm->mtp.v >= EXACT)
    base_diag_error (diag, llm->head.mark, "the keys make up %.3g parameters; at most 2^53 are counted", count.total);
  else if (llm->parameters.set && llm->parameters.v != count.total)
    base_diag_warn (diag, llm->parameters.mark, "the keys make up %.0f parameters, %.0f %s than the %.0f of 'parameters'",
                    count.total,
                    count.total > llm->parameters.v ? count.total - llm->parameters.v : llm->parameters.v - count.total,
                    count.total > llm->parameters.v ? "more" : "fewer", llm->parameters.v);
}

static void
settle_kind (MdlLlmAttention *attention)
{
  if (attention->kind.set)
    return;
  if (attention->kv_lora.set)
    attention->kind.v = MDL_ATTENTION_MLA;
  else if (!attention->kv_heads.set || attention->kv_heads.v == attention->heads.v)
    attention->kind.v = MDL_ATTENTION_MHA;
  else
    attention->kind.v = attention->kv_heads.v == 1 ? MDL_ATTENTION_MQA : MDL_ATTENTION_GQA;
}

gboolean
trn_llm_settle (MdlLlm *llm, BaseDiag *diag)
{
  if (llm->net != NULL) /* settled as it was read */
    return TRUE;
  const unsigned before = base_diag_n_errors (diag);
  settle_kind (&llm->attention);
  check_attention (llm, diag);
  if (!trn_llm_check_layers (llm, diag))
    return FALSE;
  if (llm->moe.head.set)
    check_moe (llm, diag);
  const gboolean learned = llm->positions.kind.v == MDL_POSITION_LEARNED;
  if (learned != llm->positions.length.set)
    base_diag_error (diag, mark_of (&llm->positions.length, llm->positions.head.set ? &llm->positions.head : &llm->head),
                     learned ? "learned positions need a length, the rows of their table" : "length is of learned positions");
  if (llm->norms.v == 3)
    base_diag_error (diag, llm->norms.mark, "a layer has 1, 2 or 4 norms");
  if (llm->pattern.v == NULL && mdl_llm_n_moe (llm) < (unsigned)llm->layers.v && !llm->mlp.ffn.set)
    base_diag_error (diag, mark_of (&llm->moe.first_dense, &llm->mlp.head), "'ffn' in 'mlp' is missing: %u layer%s dense",
                     (unsigned)llm->layers.v - mdl_llm_n_moe (llm),
                     (unsigned)llm->layers.v - mdl_llm_n_moe (llm) == 1 ? " is" : "s are");
  if (base_diag_n_errors (diag) == before)
    check_counts (llm, diag);
  return base_diag_n_errors (diag) == before;
}

/* ---- reading ---- */

static gboolean read_node (const BaseYamlNode *node, const BaseSchemaContext *context, unsigned deep, MdlLlm *out);

static gboolean
read_map (const BaseYamlNode *map, const BaseSchemaContext *context, unsigned deep, MdlLlm *out)
{
  const BaseYamlNode *like = base_yaml_get (map, "like");
  if (base_yaml_get (map, "network") != NULL)
    return trn_net_read (map, context, out);
  if (like == NULL || base_yaml_is_null (like))
    return base_schema_read (&trn_schema_llm, map, FALSE, context, out);
  if (base_yaml_kind (like) != BASE_YAML_SCALAR) {
    base_diag_error (context->diag, base_yaml_mark (like), "'like' must be a model's name or path");
    return FALSE;
  }
  if (!read_node (like, context, deep + 1, out))
    return FALSE;
  if (out->net != NULL) {
    base_diag_error (context->diag, base_yaml_mark (like),
                     "'%s' is a network of operations; only a language model can be changed by 'like'", base_yaml_text (like));
    return FALSE;
  }
  out->parameters = (BaseNum){ .set = FALSE }; /* those of the other model */
  out->name.set = FALSE;
  if (base_yaml_get (map, "positions") != NULL)
    out->positions.length.set = FALSE; /* of the other model's table */
  out->attention.kind.set = out->attention.kind.v == MDL_ATTENTION_MLA;
  return base_schema_read (&trn_schema_llm, map, TRUE, context, out);
}

static gboolean
is_hf (const BaseYamlNode *root)
{
  return base_yaml_get (root, "model_type") != NULL || base_yaml_get (root, "architectures") != NULL;
}

static gboolean
read_document (const BaseYaml *yaml, const BaseSchemaContext *context, unsigned deep, MdlLlm *out)
{
  const BaseYamlNode *root = base_yaml_root (yaml);
  if (is_hf (root))
    return trn_llm_read_hf (yaml, NULL, context, out);
  const BaseYamlNode *name = base_yaml_get (root, base_yaml_get (root, "network") != NULL ? "network" : "llm");
  if (name != NULL && !base_yaml_is_null (name))
    return read_map (root, context, deep, out);
  base_diag_error (context->diag, base_yaml_mark (root),
                   "no model: a file that begins with 'llm' or 'network', or a HuggingFace config.json with 'model_type'");
  return FALSE;
}

static BaseYaml *
load (const char *path, const BaseSchemaContext *context)
{
  for (guint i = 0; i < context->inputs->len; i++)
    if (strcmp (base_yaml_path (context->inputs->pdata[i]), path) == 0)
      return context->inputs->pdata[i];
  g_autoptr (GError) error = NULL;
  BaseYaml *yaml = base_yaml_load_file (path, &error);
  if (yaml == NULL)
    base_diag_add_error (context->diag, BASE_MARK_NONE, error); /* it names its own path */
  else
    g_ptr_array_add (context->inputs, yaml);
  return yaml;
}

static gboolean
read_node (const BaseYamlNode *node, const BaseSchemaContext *context, unsigned deep, MdlLlm *out)
{
  const BaseMark mark = base_yaml_mark (node);
  if (base_yaml_kind (node) == BASE_YAML_MAP)
    return read_map (node, context, deep, out);
  if (base_yaml_kind (node) != BASE_YAML_SCALAR || base_yaml_is_null (node)) {
    base_diag_error (context->diag, mark, "a model is a name (forerun list llms), a path or a mapping");
    return FALSE;
  }
  if (deep > BASE_SCHEMA_MAX_FILES_DEEP) {
    base_diag_error (context->diag, mark, "more than %u models are 'like' each other in a chain", BASE_SCHEMA_MAX_FILES_DEEP);
    return FALSE;
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
      base_lookup_find (context->lookup, base_yaml_text (node), TRN_LLM_FOLDER ":" TRN_NET_FOLDER, mark.file, &error);
  if (path == NULL) {
    base_diag_add_error (context->diag, mark, error);
    return FALSE;
  }
  const BaseYaml *yaml = load (path, context);
  return yaml != NULL && read_document (yaml, context, deep, out);
}

gboolean
trn_llm_read (const BaseYamlNode *node, const BaseSchemaContext *context, MdlLlm *out)
{
  return read_node (node, context, 0, out) && trn_llm_settle (out, context->diag);
}

gboolean
trn_llm_read_file (const BaseYaml *yaml, const BaseSchemaContext *context, MdlLlm *out)
{
  return read_document (yaml, context, 0, out) && trn_llm_settle (out, context->diag);
}
