/* Which layers a chunk of the pipeline holds. */
#include <math.h>

#include "model-private.h"

/* Whether a chunk is one of `few` with a layer fewer: the last, the first, the last but one … (the ends hold more). */
static gboolean
has_fewer (guint32 c, guint32 n, guint32 few)
{
  return n - 1 - c < (few + 1) / 2 || c < few / 2;
}

/* Units that are dealt out: layers, and embedding and head where they count as one; they have to divide. Source: Megatron-LM,
 * account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split (docs of
 * --account-for-embedding-in-pipeline-split); Llama 3 (2407.21783) 3.3.2: first and last chunk have a layer fewer. */
static gboolean
deal_out (TrnModel *model, GError **error)
{
  const TrnPipelineSpec *spec = &model->spec->model.pipeline;
  guint32 n = model->n_positions, layers = (guint32)model->llm.layers.v;
  guint32 front = spec->embedding.v ? 1 : 0, back = spec->head_layer.v ? 1 : 0, units = layers + front + back;
  const BaseNum *pp = &model->spec->parallel.pp, *vp = &model->spec->parallel.vp;
  BaseMark mark = pp->set ? pp->mark : vp->set ? vp->mark : base_yaml_mark (model->job->node);
  if (units < n)
    return col_fail_at (error, mark, "%u layers for %u chunks (pp %u x vp %u); accepted: at least one layer a chunk", layers, n,
                        model->pipe.p, model->pipe.v);
  if (units % n != 0 && n > 1 && !spec->uneven.v)
    return col_fail_at (error, mark,
                        "%u layers%s do not divide into %u chunks (pp %u x vp %u); accepted: counts that divide, "
                        "`pipeline: {uneven: true}`, `pipeline: {embedding_as_layer: true, head_as_layer: true}` where that makes "
                        "them, or a `layout`",
                        layers, front + back > 0 ? " with embedding or head counted as one" : "", n, model->pipe.p, model->pipe.v);
  guint32 next = 0;
  for (guint32 c = 0; c < n; c++) {
    guint32 more = units % n != 0 && !has_fewer (c, n, n - units % n) ? 1 : 0;
    guint32 taken = units / n + more - (c == 0 ? front : 0) - (c + 1 == n ? back : 0);
    model->cut[c] = (TrnStageLayers){ .first = next, .n = taken + (c == 0 ? mdl_llm_front (&model->llm) : 0) };
    next += model->cut[c].n;
  }
  return TRUE;
}

static gboolean
whole (const BaseYamlNode *node, double *out)
{
  const char *text = base_yaml_kind (node) == BASE_YAML_SCALAR ? base_yaml_text (node) : NULL;
  char *end = NULL;
  if (text == NULL || *text == '\0')
    return FALSE;
  *out = g_ascii_strtod (text, &end);
  return *end == '\0' && *out >= 0 && *out <= 1e6 && floor (*out) >= *out;
}

/* A chunk of the layout: how many layers, or a list of their numbers, which follow those of the chunk before. */
static gboolean
read_chunk (const BaseYamlNode *node, TrnStageLayers *cut, GError **error)
{
  double value;
  if (base_yaml_kind (node) != BASE_YAML_SEQ) {
    if (!whole (node, &value))
      return col_fail_at (error, base_yaml_mark (node), "a chunk of 'layout' is a number of layers, or a list of layer numbers");
    cut->n = (guint32)value;
    return TRUE;
  }
  cut->n = base_yaml_n (node);
  for (guint32 i = 0; i < cut->n; i++) {
    const BaseYamlNode *item = base_yaml_item (node, i);
    if (!whole (item, &value) || (guint32)value != cut->first + i)
      return col_fail_at (error, base_yaml_mark (item),
                          "layer %u is to follow here: chunks hold layers in the model's order, from 0", cut->first + i);
  }
  return TRUE;
}

static gboolean
take_layout (TrnModel *model, const BaseYamlNode *layout, GError **error)
{
  guint32 n = model->n_positions, next = 0, layers = mdl_llm_chain (&model->llm), encoder = mdl_llm_front (&model->llm);
  if (base_yaml_kind (layout) != BASE_YAML_SEQ || base_yaml_n (layout) != n)
    return col_fail_at (error, base_yaml_mark (layout), "'layout' is a list of %u chunks (pp %u x vp %u)", n, model->pipe.p,
                        model->pipe.v);
  for (guint32 c = 0; c < n; c++) {
    model->cut[c].first = next;
    if (!read_chunk (base_yaml_item (layout, c), &model->cut[c], error))
      return FALSE;
    next += model->cut[c].n;
  }
  if (model->cut[0].n < encoder)
    return col_fail_at (error, base_yaml_mark (layout),
                        "the first chunk holds all %u layers of the vision encoder, and has %u; "
                        "layers count from the encoder's on",
                        encoder, model->cut[0].n);
  return next == layers || col_fail_at (error, base_yaml_mark (layout), "'layout' has %u layers, the model %u", next, layers);
}

guint32
trn_cut_units (const TrnModel *model, guint32 position)
{
  const TrnStageLayers *cut = &model->cut[position];
  return cut->n + (cut->embedding ? 1u : 0u) + (cut->head ? 1u + model->mtp : 0u);
}

gboolean
trn_model_holds (const TrnModel *model, guint32 pp, guint32 position)
{
  gboolean holds = FALSE;
  for (guint32 c = 0; c < mdl_schedule_chunks (&model->pipe); c++)
    holds = holds || mdl_schedule_position (&model->pipe, (MdlPlace){ pp, c }) == position;
  return holds;
}

gboolean
trn_model_cut (TrnModel *model, GError **error)
{
  const BaseYamlNode *layout = model->spec->model.pipeline.layout;
  model->n_positions = mdl_schedule_positions (&model->pipe);
  model->cut = g_new0 (TrnStageLayers, model->n_positions);
  if (!(layout != NULL ? take_layout (model, layout, error) : deal_out (model, error)))
    return FALSE;
  model->cut[0].embedding = model->cut[model->n_positions - 1].head = model->llm.net == NULL;
  return TRUE;
}
