/* What layers that are no attention need of the parallel layout, and a vision encoder of the workload. */
#include <math.h>

#include "model-private.h"

void
trn_images_of (const MdlLlm *llm, const TrnModelSpec *spec, double *images, double *patches)
{
  const gboolean has = llm->vision.layers.v > 0 && spec->images.head.set;
  *images = has ? spec->images.count.v : 0;
  *patches = has ? floor (spec->images.height.v / llm->vision.patch.v) * floor (spec->images.width.v / llm->vision.patch.v) : 0;
}

static BaseMark
mark_or (const TrnModel *model, const BaseNum *num)
{
  return num->set ? num->mark : base_yaml_mark (model->job->node);
}

static gboolean
check_recurrent (const TrnModel *model, GError **error)
{
  const MdlLlmRecurrent *r = &model->llm.recurrent;
  const TrnParallelSpec *p = &model->spec->parallel;
  const double tp = p->tp.v, cut = tp * p->cp.v;
  if (r->heads.v < 1)
    return TRUE;
  if (fmod (r->heads.v, tp) > 0 || fmod (r->groups.v, tp) > 0)
    return col_fail_at (error, mark_or (model, &p->tp),
                        "tp %.0f cuts the recurrent layers' %.0f heads and %.0f groups; use a divisor of both", tp, r->heads.v,
                        r->groups.v);
  if (fmod (r->heads.v, cut) > 0 || fmod (r->groups.v, cut) > 0)
    return col_fail_at (error, mark_or (model, &p->cp),
                        "cp %.0f exchanges the recurrent layers' heads: tp x cp = %.0f must divide %.0f heads and %.0f groups",
                        p->cp.v, cut, r->heads.v, r->groups.v);
  return TRUE;
}

/* Pixels of a side make whole tokens: patches, and of them squares that become one. */
static gboolean
check_side (const MdlLlmVision *v, const BaseNum *side, const char *name, GError **error)
{
  const double unit = v->patch.v * floor (sqrt (v->merge.v));
  if (fmod (side->v, unit) <= 0)
    return TRUE;
  return col_fail_at (error, side->mark,
                      "%s of %.0f pixels is not a multiple of %.0f, the side of what becomes one token; as resized: %.0f", name,
                      side->v, unit, fmax (1, round (side->v / unit)) * unit);
}

static gboolean
check_images (const TrnModel *model, GError **error)
{
  const MdlLlmVision *v = &model->llm.vision;
  const TrnImagesSpec *images = &model->spec->model.images;
  const TrnParallelSpec *p = &model->spec->parallel;
  if (v->layers.v < 1)
    return !images->head.set || col_fail_at (error, images->head.mark, "%s has no vision encoder; leave images out",
                                             model->llm.name.v != NULL ? model->llm.name.v : "this model");
  if (!images->head.set)
    return col_fail_at (error, base_yaml_mark (model->job->node),
                        "a model with a vision encoder needs the images of a sequence (e.g. images: {count: 1, height: 896, width: "
                        "896})");
  if (!check_side (v, &images->height, "height", error) || !check_side (v, &images->width, "width", error))
    return FALSE;
  double n, patches;
  trn_images_of (&model->llm, &model->spec->model, &n, &patches);
  if (v->positions.v > 0 && patches > v->positions.v)
    return col_fail_at (error, images->height.mark,
                        "an image of %.0f patches, and the encoder has positions for %.0f; use a smaller 'height' or 'width'",
                        patches, v->positions.v);
  if (v->window.set && fmod (patches, v->window.v) > 0)
    return col_fail_at (error, images->height.mark, "%.0f patches do not divide into windows of %.0f; use sides of whole windows",
                        patches, v->window.v);
  if (n * patches / v->merge.v > model->spec->model.sequence.v)
    return col_fail_at (error, images->count.mark,
                        "%.0f images are %.0f tokens, and a sequence has %.0f; use a smaller 'count', or a longer 'sequence'", n,
                        n * patches / v->merge.v, model->spec->model.sequence.v);
  if (p->cp.v > 1)
    return col_fail_at (error, p->cp.mark, "cp of a model with a vision encoder is not modelled; accepted: 1, and tp, pp, dp");
  if (fmod (v->heads.v, p->tp.v) > 0 || fmod (v->ffn.v, p->tp.v) > 0)
    return col_fail_at (error, mark_or (model, &p->tp),
                        "tp %.0f cuts the vision encoder's %.0f heads and MLP of %.0f; use a divisor of both", p->tp.v, v->heads.v,
                        v->ffn.v);
  return TRUE;
}

gboolean
trn_model_check_kinds (const TrnModel *model, GError **error)
{
  return check_recurrent (model, error) && check_images (model, error);
}
