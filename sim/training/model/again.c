/* What of a unit is computed again in its backward pass, and what of it lies in the host's memory meanwhile: by its place in the
 * chunk and by the pipeline rank. Whole layers are the first of a chunk, as Megatron-LM's recompute_method block has them with
 * recompute_num_layers (core/transformer/transformer_block.py), and its cpu_offloading_num_layers. */
#include <math.h>

#include "model-private.h"

static const char *const accepted_recompute =
    "'recompute' is none, selective, full, or {modules: [core_attention, …], layers: 2, stages: [0, …]}";

static gboolean
read_modules (const BaseYamlNode *list, const BaseName *names, unsigned *bits, GError **error)
{
  for (unsigned i = 0; i < base_yaml_n (list); i++) {
    const BaseYamlNode *item = base_yaml_item (list, i);
    const BaseName *known = base_yaml_text (item) != NULL ? base_name_find (names, base_yaml_text (item)) : NULL;
    if (known == NULL) {
      g_autofree char *accepted = base_names_accepted (base_yaml_text (item), names, NULL);
      return col_fail_at (error, base_yaml_mark (item), "'%s' is not a module that recompute knows%s",
                          base_yaml_text (item) != NULL ? base_yaml_text (item) : "", accepted);
    }
    *bits |= (unsigned)known->code;
  }
  return TRUE;
}

/* A number from `least` to `most`. */
static gboolean
read_whole (const BaseYamlNode *node, const char *what, double least, double most, double *out, GError **error)
{
  const char *text = base_yaml_kind (node) == BASE_YAML_SCALAR ? base_yaml_text (node) : NULL;
  char *end = NULL;
  *out = text != NULL && *text != '\0' ? g_ascii_strtod (text, &end) : -1;
  return (end != NULL && *end == '\0' && *out >= least && *out <= most && floor (*out) >= *out) ||
         col_fail_at (error, base_yaml_mark (node), "'%s' is not %s; accepted: %.0f to %.0f", text != NULL ? text : "a list", what,
                      least, most);
}

static gboolean
read_stages (TrnModel *model, const BaseYamlNode *list, GError **error)
{
  const guint32 p = model->pipe.p;
  if (base_yaml_kind (list) != BASE_YAML_SEQ || base_yaml_n (list) == 0)
    return col_fail_at (error, base_yaml_mark (list), "'stages' is a list of pipeline ranks (e.g. stages: [0])");
  if (mdl_schedule_copies (&model->pipe) > 1)
    return col_fail_at (error, base_yaml_mark (list),
                        "schedule %s holds each stage on two ranks, which recompute alike; leave 'stages' out",
                        base_name (mdl_schedule_names, (int)model->pipe.schedule));
  model->again_stage = g_new0 (gboolean, p);
  for (unsigned i = 0; i < base_yaml_n (list); i++) {
    double stage;
    if (!read_whole (base_yaml_item (list, i), "a pipeline rank", 0, p - 1, &stage, error))
      return FALSE;
    model->again_stage[(guint32)stage] = TRUE;
  }
  return TRUE;
}

static gboolean
read_map (TrnModel *model, const BaseYamlNode *node, GError **error)
{
  const BaseYamlNode *list = base_yaml_get (node, "modules"), *layers = base_yaml_get (node, "layers"),
                     *stages = base_yaml_get (node, "stages");
  const unsigned known = (list != NULL ? 1u : 0u) + (layers != NULL ? 1u : 0u) + (stages != NULL ? 1u : 0u);
  if (base_yaml_n (node) != known || (list == NULL && layers == NULL) || (list != NULL && base_yaml_kind (list) != BASE_YAML_SEQ))
    return col_fail_at (error, base_yaml_mark (node), "%s", accepted_recompute);
  double n = 0;
  if (layers != NULL && !read_whole (layers, "a number of layers", 1, mdl_llm_chain (&model->llm), &n, error))
    return FALSE;
  model->again_layers = (guint32)n;
  return (list == NULL || read_modules (list, mdl_module_names, &model->query.recompute, error)) &&
         (stages == NULL || read_stages (model, stages, error));
}

static gboolean
check_offload (const TrnModel *model, GError **error)
{
  const TrnOffloadSpec *offload = &model->spec->model.offload;
  if (offload->layers.v > 0 && model->llm.net != NULL)
    return col_fail_at (error, offload->layers.mark,
                        "'layers' are of a language model, and this model lists operations; accepted: 0");
  const double most = offload->layers.v > 0 ? mdl_llm_chain (&model->llm) : 0;
  if (offload->layers.v > most)
    return col_fail_at (error, offload->layers.mark,
                        "the model has %.0f layers, and %.0f are to be offloaded; accepted: at most %.0f", most,
                        offload->layers.v, most);
  if (offload->layers.v > 0 && model->query.framework == MDL_FRAMEWORK_GRAPHS)
    return col_fail_at (error, offload->layers.mark,
                        "copies to the host are not part of framework graphs; accepted: framework fused or eager");
  if (offload->layers.v > 0 && mdl_schedule_facts (model->pipe.schedule)->splits_backward)
    return col_fail_at (error, offload->layers.mark,
                        "schedule %s keeps activations for its late gradients of weights; accepted: gpipe, 1f1b or interleaved",
                        base_name (mdl_schedule_names, (int)model->pipe.schedule));
  if (offload->to.set && offload->optimizer.v <= 0)
    return col_fail_at (error, offload->to.mark, "'to' says where states of the optimizer go, and none do; give 'optimizer' too");
  if (offload->optimizer.v > 0 && model->spec->model.optimizer.v >= MDL_OPTIMIZER_ADAMW_8BIT)
    return col_fail_at (error, offload->optimizer.mark, "the host updates by AdamW, not by %s; accepted: optimizer adamw",
                        base_name (mdl_optimizer_names, model->spec->model.optimizer.v));
  return TRUE;
}

/* Which products are second ones is known of eager dense layers with a gate. */
static gboolean
check_second (const TrnModel *model, GError **error)
{
  const MdlLlm *llm = &model->llm;
  const MdlLayerQuery *query = &model->query;
  if (!(query->recompute & MDL_MODULE_SECOND))
    return TRUE;
  const char *but =
      query->framework != MDL_FRAMEWORK_EAGER ? "kernels of this framework are fused"
      : llm->net != NULL                      ? "this model lists operations"
      : llm->moe.experts.v > 0                ? "this model has experts"
      : llm->attention.kind.v == MDL_ATTENTION_MLA || llm->attention.fused.v || llm->mlp.fused.v || !mdl_llm_gated (llm)
          ? "this model's layers have others"
      : query->compute < MDL_FORMAT_FP16 ? "products in fp8 are all computed again"
                                         : NULL;
  return but == NULL || col_fail_at (error, base_yaml_mark (model->spec->model.recompute),
                                     "second_products counts q, k, v, o, gate, up and down, and %s; accepted: attention, mlp, "
                                     "activation, norm",
                                     but);
}

static gboolean
read_recompute (TrnModel *model, GError **error)
{
  const BaseYamlNode *node = model->spec->model.recompute;
  const char *text = node != NULL ? base_yaml_text (node) : "none";
  if (!check_offload (model, error))
    return FALSE;
  if (node != NULL && base_yaml_kind (node) == BASE_YAML_SEQ)
    return read_modules (node, mdl_module_names, &model->query.recompute, error);
  if (node != NULL && base_yaml_kind (node) == BASE_YAML_MAP)
    return read_map (model, node, error);
  if (g_strcmp0 (text, "none") == 0)
    return TRUE;
  if (g_strcmp0 (text, "selective") == 0)
    model->query.recompute = mdl_recompute_selective (model->query.flash);
  else if (g_strcmp0 (text, "full") == 0)
    model->query.recompute = MDL_MODULE_LAYER;
  else
    return col_fail_at (error, base_yaml_mark (node), "%s", accepted_recompute);
  return TRUE;
}

gboolean
trn_model_read_again (TrnModel *model, GError **error)
{
  return read_recompute (model, error) && check_second (model, error);
}

/* Its number among the layers of its chunk; G_MAXUINT32: it is none of them. */
static guint32
layer_of_chunk (const TrnModel *model, guint32 position, guint32 unit)
{
  const TrnStageLayers *cut = &model->cut[position];
  const guint32 front = cut->embedding ? 1 : 0;
  return model->layers == NULL && unit >= front && unit - front < cut->n ? unit - front : G_MAXUINT32;
}

TrnAgain
trn_model_again (const TrnModel *model, guint32 position, guint32 unit)
{
  if (model->again_stage != NULL && !model->again_stage[mdl_schedule_place (&model->pipe, 0, position).rank])
    return TRN_AGAIN_NOTHING;
  return layer_of_chunk (model, position, unit) < model->again_layers ? TRN_AGAIN_LAYER : TRN_AGAIN_MODULES;
}

unsigned
trn_again_modules (const TrnModel *model, TrnAgain again)
{
  return again == TRN_AGAIN_LAYER ? MDL_MODULE_LAYER : again == TRN_AGAIN_NOTHING ? 0 : model->query.recompute;
}

gboolean
trn_model_offloads (const TrnModel *model, guint32 position, guint32 unit)
{
  return layer_of_chunk (model, position, unit) < model->spec->model.offload.layers.v;
}
