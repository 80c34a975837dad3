/* Layers with given times as the chunks of a pipeline. */
#include "training-private.h"

double
trn_layer_pass_s (const TrnLayerSpec *layer, MdlTurnKind kind)
{
  /* dgrad and wgrad of a matrix product are as many operations each */
  double weight_s = layer->weight.set ? layer->weight.v : layer->backward.v / 2;
  switch (kind) {
    case MDL_TURN_FORWARD:
      return layer->forward.v;
    case MDL_TURN_INPUT_GRADIENT:
      return layer->backward.v - weight_s;
    case MDL_TURN_WEIGHT_GRADIENT:
      return weight_s;
    case MDL_TURN_BACKWARD:
    default:
      return layer->backward.v;
  }
}

TrnChunk *
trn_chunks_cut (const TrnLayerSpec *const *layers, guint32 n_layers, guint32 n)
{
  TrnChunk *chunks = g_new0 (TrnChunk, n);
  guint32 next = 0;
  for (guint32 c = 0; c < n; c++) {
    TrnChunk *chunk = &chunks[c];
    chunk->first = next;
    chunk->n = n_layers / n + (c < n_layers % n);
    next += chunk->n;
    for (guint32 l = chunk->first; l < next; l++)
      for (int kind = 0; kind < MDL_TURN_KINDS; kind++)
        chunk->pass_s[kind] += trn_layer_pass_s (layers[l], (MdlTurnKind)kind);
    chunk->out_B = layers[next - 1]->activation.v;
  }
  return chunks;
}

/* Where the count that a schedule refuses stands; else the schedule, which is then what to change. */
static BaseMark
mark_of (const TrnSpec *spec, const char *key)
{
  const BaseNum *num = g_str_equal (key, "pp")   ? &spec->parallel.pp
                       : g_str_equal (key, "vp") ? &spec->parallel.vp
                                                 : &spec->micro_batches;
  return num->set ? num->mark : spec->schedule.mark;
}

gboolean
trn_pipeline (const TrnJob *job, guint32 pp, MdlPipeline *out, GError **error)
{
  const TrnSpec *spec = &job->spec;
  MdlSchedule schedule = (MdlSchedule)spec->schedule.v;
  guint32 cuts = mdl_schedule_cuts (schedule);
  const char *key = NULL;
  for (guint i = 0; i < spec->layers.n; i++) {
    const TrnLayerSpec *layer = BASE_LIST_AT (spec->layers, TrnLayerSpec, i);
    if (layer->weight.set && layer->weight.v > layer->backward.v)
      return col_fail_at (error, layer->weight.mark,
                          "'weight' is more than 'backward', of which it is a part; accepted: at most %g ms",
                          layer->backward.v * 1e3);
  }
  out->schedule = schedule;
  out->p = pp;
  out->v = spec->parallel.vp.set ? (guint32)spec->parallel.vp.v : MAX (cuts, 1);
  out->m = (guint32)spec->micro_batches.v;
  g_autofree char *message = mdl_schedule_check (out, &key);
  return message == NULL || col_fail_at (error, mark_of (spec, key), "%s", message);
}

ColComm *
trn_gradient_comm (const TrnJob *job, const ColSettings *settings, guint32 dp, guint32 stage, guint32 partner, GError **error)
{
  guint32 n = partner != stage ? 2 * dp : dp;
  g_autofree guint32 *gpu = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    gpu[i] = g_array_index (job->system->gpus, guint32, (i < dp ? stage : partner) * dp + i % dp);
  return col_comm_new (job->system->clu, settings, gpu, n, error);
}
