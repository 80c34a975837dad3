/* Layers with given times: a source of units beside the models of kernels (costs.c), for the same program.
 *
 * Where the host launches kernels one by one, a pass begins once its first kernel is queued, and its last kernel runs once all are.
 * Syncs cut a forward pass into equal stretches: after each of them but the last the host waits until the GPU has done all that was
 * queued, takes `sync` to go on, and queues the next stretch to an empty GPU. So a pass of n kernels that takes T, with s syncs, is
 *
 *     n launch + s (sync + T / n) + T / n    where launches take longer than kernels
 *     T + (s + 1) launch + s sync            where they do not
 *
 * Source: CUDA programming guide, asynchronous launches and stream synchronisation. Check: test_training_layers; case 33. */
#include <math.h>

#include "model-private.h"

#define MAX_LAYERS 1e6
#define MAX_TASKS  20e6

struct TrnLayers {
  const TrnLayerSpec **spec; /* each layer's */
  const TrnUnit **unit;      /* likewise */
  GPtrArray *units;          /* TrnUnit, of each item of the list */
  TrnUnit **whole;           /* by position: all of its layers in one */
  guint32 n, n_positions;
};

/* ---- units ---- */

static TrnUnit *
unit_new (void)
{
  TrnUnit *unit = g_new0 (TrnUnit, 1);
  for (int kind = 0; kind < MDL_TURN_KINDS; kind++)
    unit->pass[kind] = g_array_new (FALSE, TRUE, sizeof (TrnItem));
  unit->tensor = g_array_new (FALSE, FALSE, sizeof (TrnTensor));
  return unit;
}

void
trn_unit_free (gpointer data)
{
  TrnUnit *unit = data;
  for (int kind = 0; kind < MDL_TURN_KINDS; kind++)
    if (unit->pass[kind] != NULL)
      g_array_unref (unit->pass[kind]);
  g_array_unref (unit->tensor);
  g_free (unit);
}

static double
pass_s (const TrnLayerSpec *layer, MdlTurnKind kind)
{
  /* dgrad and wgrad of a matrix product are as many operations each */
  double weight_s = layer->weight.set ? layer->weight.v : layer->backward.v / 2;
  return kind == MDL_TURN_FORWARD           ? layer->forward.v
         : kind == MDL_TURN_INPUT_GRADIENT  ? layer->backward.v - weight_s
         : kind == MDL_TURN_WEIGHT_GRADIENT ? weight_s
                                            : layer->backward.v;
}

static void
add_item (TrnUnit *unit, MdlTurnKind kind, double time_s, double kernels, double syncs)
{
  const TrnItem item = { .time_s = time_s, .kernels = kernels, .syncs = syncs, .rounds = syncs };
  g_array_append_val (unit->pass[kind], item);
  unit->pass_s[kind] += time_s;
}

static TrnUnit *
unit_of (const TrnLayerSpec *layer)
{
  TrnUnit *unit = unit_new ();
  for (int kind = 0; kind < MDL_TURN_KINDS; kind++) {
    double time_s = pass_s (layer, (MdlTurnKind)kind);
    double kernels = layer->kernels.v * (kind == MDL_TURN_BACKWARD ? 2 : 1); /* products for inputs and for weights */
    gboolean launched = kernels >= 1 && time_s > 0;
    double syncs = launched && kind == MDL_TURN_FORWARD ? layer->syncs.v : 0, waited = syncs / (syncs + 1);
    if (syncs > 0) /* the stretches that a sync follows */
      add_item (unit, (MdlTurnKind)kind, time_s * waited, kernels * waited, syncs);
    add_item (unit, (MdlTurnKind)kind, time_s * (1 - waited), launched ? kernels * (1 - waited) : 0, 0);
  }
  const TrnTensor all = { .elements = layer->gradient.v / 4, .trained = layer->gradient.v / 4 }; /* reduced as FP32 */
  unit->dense = unit->trained_dense = all.trained;
  g_array_append_val (unit->tensor, all);
  return unit;
}

const TrnUnit *
trn_layers_unit (const TrnModel *model, guint32 position, guint32 unit)
{
  const TrnStageLayers *cut = &model->cut[position];
  return unit < cut->n ? model->layers->unit[cut->first + unit] : model->layers->whole[position];
}

double
trn_layers_sent_B (const TrnModel *model, guint32 position)
{
  const TrnStageLayers *cut = &model->cut[position];
  return model->layers->spec[cut->first + cut->n - 1]->activation.v;
}

/* ---- the plan ---- */

static gboolean
expand (TrnModel *model, GError **error)
{
  const BaseList *list = &model->spec->layers;
  double total = 0;
  if (list->n == 0)
    return col_fail_at (error, base_yaml_mark (model->job->node),
                        "a training workload needs 'model' (forerun list llms), or 'layers' (e.g. layers: [{forward: 1 ms, "
                        "backward: 2 ms, gradient: 100 MB}])");
  for (unsigned i = 0; i < list->n; i++)
    total += BASE_LIST_AT (*list, TrnLayerSpec, i)->count.v;
  if (total > MAX_LAYERS)
    return col_fail_at (error, list->mark, "%.0f layers in all; accepted: at most 1000000", total);
  TrnLayers *layers = model->layers = g_new0 (TrnLayers, 1);
  layers->spec = g_new (const TrnLayerSpec *, (gsize)total);
  layers->unit = g_new (const TrnUnit *, (gsize)total);
  layers->units = g_ptr_array_new_with_free_func (trn_unit_free);
  model->software.source = BASE_SOURCE_MEASURED;
  for (unsigned i = 0; i < list->n; i++) {
    const TrnLayerSpec *spec = BASE_LIST_AT (*list, TrnLayerSpec, i);
    TrnUnit *unit = unit_of (spec);
    g_ptr_array_add (layers->units, unit);
    model->software.source = MIN (model->software.source, MIN (spec->forward.source, spec->backward.source));
    for (double k = 0; k < spec->count.v; k++) {
      layers->spec[layers->n] = spec;
      layers->unit[layers->n++] = unit;
    }
  }
  return TRUE;
}

static BaseMark
parallel_mark (const TrnModel *model)
{
  const TrnParallelSpec *parallel = &model->spec->parallel;
  return parallel->head.set ? parallel->head.mark : base_yaml_mark (model->job->node);
}

gboolean
trn_layers_plan (TrnModel *model, GError **error)
{
  const TrnParallelSpec *parallel = &model->spec->parallel;
  double gpus = model->job->system->gpus->len, pp = parallel->pp.v;
  if (!trn_layers_check_keys (model->job, error) || !expand (model, error))
    return FALSE;
  if (!parallel->dp.set && fmod (gpus, pp) > 0)
    return col_fail_at (error, parallel_mark (model),
                        "%.0f GPUs do not divide into %.0f pipeline stages; accepted: a pp that divides them, or a dp", gpus, pp);
  double dp = parallel->dp.set ? parallel->dp.v : gpus / pp;
  if (dp * pp > gpus)
    return col_fail_at (error, parallel_mark (model), "dp %.0f x pp %.0f needs %.0f GPUs, the cluster has %.0f; ask for more nodes",
                        dp, pp, dp * pp, gpus);
  if (pp > model->layers->n)
    return col_fail_at (error, parallel_mark (model), "pp %.0f for %u layer%s; accepted: at most one stage a layer", pp,
                        model->layers->n, model->layers->n == 1 ? "" : "s");
  for (guint32 l = 0; l < model->layers->n; l++)
    if (model->layers->spec[l]->weight.set && model->layers->spec[l]->weight.v > model->layers->spec[l]->backward.v)
      return col_fail_at (error, model->layers->spec[l]->weight.mark,
                          "'weight' is more than 'backward', of which it is a part; accepted: at most %g ms",
                          model->layers->spec[l]->backward.v * 1e3);
  guint32 replicas = (guint32)dp;
  model->grid = (TrnGrid){ .size = { 1, 1, replicas, (guint32)pp },
                           .stride = { 1, 1, 1, replicas },
                           .ep = 1,
                           .etp = 1,
                           .edp = replicas,
                           .shard = replicas,
                           .n = replicas * (guint32)pp };
  model->m = (guint32)model->spec->micro_batches.v;
  model->software.slowest = 1;
  model->reduce = MDL_FORMAT_FP32;
  return TRUE;
}

/* All layers of a position in one unit: what a turn is where none of them is waited for by itself. */
static TrnUnit *
whole_of (const TrnModel *model, const TrnStageLayers *cut)
{
  TrnUnit *whole = unit_new ();
  for (int kind = 0; kind < MDL_TURN_KINDS; kind++) {
    double time_s = 0;
    for (guint32 l = cut->first; l < cut->first + cut->n; l++)
      time_s += pass_s (model->layers->spec[l], (MdlTurnKind)kind);
    add_item (whole, (MdlTurnKind)kind, time_s, 0, 0);
  }
  return whole;
}

gboolean
trn_layers_cut (TrnModel *model, GError **error)
{
  TrnLayers *layers = model->layers;
  guint32 n = mdl_schedule_positions (&model->pipe), next = 0;
  if (n > layers->n)
    return col_fail_at (error, parallel_mark (model), "pp %u x vp %u for %u layers; accepted: at most one chunk a layer",
                        model->pipe.p, model->pipe.v, layers->n);
  if ((double)n * model->m * 4 + layers->n * 2.0 > MAX_TASKS)
    return col_fail_at (error, parallel_mark (model),
                        "%u stages x %u micro-batches are too many tasks; accepted: about 5 million together", model->pipe.p,
                        model->m);
  model->n_positions = layers->n_positions = n;
  model->cut = g_new0 (TrnStageLayers, n);
  layers->whole = g_new (TrnUnit *, n);
  for (guint32 c = 0; c < n; c++) {
    model->cut[c] = (TrnStageLayers){ .first = next, .n = layers->n / n + (c < layers->n % n) };
    next += model->cut[c].n;
    layers->whole[c] = whole_of (model, &model->cut[c]);
  }
  return TRUE;
}

void
trn_layers_free (TrnLayers *layers)
{
  for (guint32 c = 0; c < layers->n_positions; c++)
    trn_unit_free (layers->whole[c]);
  g_free (layers->whole);
  g_ptr_array_unref (layers->units);
  g_free (layers->unit);
  g_free (layers->spec);
  g_free (layers);
}
