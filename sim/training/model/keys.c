/* Which keys of a training workload go together: a step of a model and one of given layers have each their own; some say the same;
 * some have no effect beside others. None is ignored. And what is slower than its like. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "cluster/background.h"
#include "model-private.h"

static const BaseYamlNode *
given (const TrnJob *job, const char *map, const char *key)
{
  const BaseYamlNode *node = job->node;
  if (map != NULL)
    node = base_yaml_get (node, map);
  return node != NULL && base_yaml_kind (node) == BASE_YAML_MAP ? base_yaml_get (node, key) : NULL;
}

static gboolean
refuse (const TrnJob *job, const char *map, const char *key, const char *what, GError **error)
{
  const BaseYamlNode *node = given (job, map, key);
  return node == NULL || col_fail_at (error, base_yaml_mark (node), "'%s' %s", key, what);
}

gboolean
trn_layers_check_keys (const TrnJob *job, GError **error)
{
  static const char *const cuts[] = { "tp", "sp", "cp", "ep", "zero" };
  const size_t from = offsetof (TrnSpec, model), to = from + sizeof (TrnModelSpec);
  for (const BaseField *field = trn_schema_training.fields; field->key != NULL; field++)
    if (field->offset >= from && field->offset < to &&
        !refuse (job, NULL, field->key, "is of a workload with a 'model'; this one has 'layers' with given times", error))
      return FALSE;
  if (job->spec.ddp.kind.v == TRN_DDP_REPLICAS)
    return col_fail_at (error, job->spec.ddp.kind.mark, "data_parallel is of a workload with a 'model'; accepted: ddp");
  const BaseList *layers = &job->spec.layers;
  for (guint i = 0; i < layers->n && !job->spec.host.head.set; i++) {
    const TrnLayerSpec *layer = BASE_LIST_AT (*layers, TrnLayerSpec, i);
    if (layer->kernels.set || layer->syncs.set)
      return col_fail_at (error, layer->kernels.set ? layer->kernels.mark : layer->syncs.mark,
                          "'%s' of a layer without what launching takes; accepted: host: {kernel: 10 us, sync: 10 us}",
                          layer->kernels.set ? "kernels" : "syncs");
  }
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++)
    if (!refuse (job, "parallel", cuts[i],
                 "cuts a 'model'; 'layers' with given times know dp, pp and vp: give the times of a layer that is cut", error))
      return FALSE;
  return TRUE;
}

static gboolean
check_layers_keys (const TrnJob *job, GError **error)
{
  static const struct {
    const char *key, *what;
  } keys[] = {
    { "layers", "have given times; a workload has either them or a 'model'" },
    { "micro_batches", "is of 'layers'; of a model: 'global_batch', or 'accumulate', micro-batches of a replica" },
    { "host", "is of 'layers'; of a model: software: {kernel: …, sync: …}" },
    { "optimizer_time", "is of 'layers'; a model's optimizer is computed" },
    { "p2p_overlap", "is of 'layers'; of a model: overlap: {p2p: false}" },
    { "algo", "is of 'layers'; a model's collectives take what the library takes: nccl: {NCCL_ALGO: …}" },
    { "proto", "is of 'layers'; a model's collectives take what the library takes: nccl: {NCCL_PROTO: …}" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (!refuse (job, NULL, keys[i].key, keys[i].what, error))
      return FALSE;
  return TRUE;
}

/* A sharding said twice, and keys that nothing reads. */
static gboolean
check_shards (const TrnJob *job, GError **error)
{
  const TrnSpec *spec = &job->spec;
  gboolean fsdp = spec->model.fsdp.head.set || spec->model.hsdp.head.set, shards = fsdp || spec->parallel.zero.v > 2;
  if (fsdp && spec->parallel.zero.set && spec->parallel.zero.v < 3)
    return col_fail_at (error, spec->parallel.zero.mark, "zero %.0f beside fsdp, which is zero 3; leave one out",
                        spec->parallel.zero.v);
  if (shards && !refuse (job, "ddp", "bucket", "has no effect with fsdp, which reduces layer by layer", error))
    return FALSE;
  return TRUE;
}

/* One process with replicas of the whole model, which nothing else cuts. */
static gboolean
check_replicas (const TrnJob *job, GError **error)
{
  const TrnSpec *spec = &job->spec;
  const TrnParallelSpec *p = &spec->parallel;
  static const char *const late = "has no effect with data_parallel, which reduces all gradients behind the backward pass";
  const struct {
    gboolean is;
    const char *what;
  } others[] = {
    { p->tp.v > 1, "tp" },
    { p->cp.v > 1, "cp" },
    { p->pp.v > 1, "pp" },
    { p->ep.v > 1, "ep" },
    { p->zero.v > 0, "zero" },
    { spec->model.fsdp.head.set || spec->model.hsdp.head.set, "fsdp" },
    { spec->model.framework.v == MDL_FRAMEWORK_GRAPHS, "framework graphs" },
  };
  if (spec->ddp.kind.v != TRN_DDP_REPLICAS)
    return spec->ddp.gather.v == 0 || col_fail_at (error, spec->ddp.gather.mark, "'gather' is of kind: data_parallel");
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].is)
      return col_fail_at (error, spec->ddp.kind.mark,
                          "data_parallel holds the whole model on each GPU and knows no %s; accepted: dp alone", others[i].what);
  return refuse (job, "ddp", "bucket", late, error) && refuse (job, "ddp", "overlap", late, error);
}

static gboolean
check_parts (const TrnJob *job, GError **error)
{
  const TrnModelSpec *m = &job->spec.model;
  if (m->moe.head.set && job->llm.moe.experts.v < 1)
    return col_fail_at (error, m->moe.head.mark, "'moe' is of a model with experts, '%s' has none", job->llm.name.v);
  if (m->moe.head.set && m->moe.experts.v == MDL_EXPERTS_LOOP && (m->moe.capacity.v > 0 || job->spec.parallel.ep.v > 1))
    return col_fail_at (error, m->moe.experts.mark,
                        "a loop over experts that look for their tokens knows no %s; accepted: experts: sorted, experts: grouped",
                        m->moe.capacity.v > 0 ? "capacity" : "ep");
  if (m->mtp.v > job->llm.mtp.v)
    return col_fail_at (error, m->mtp.mark, "'%s' has %.0f module%s of multi-token prediction; accepted: 0 to that",
                        job->llm.name.v, job->llm.mtp.v, job->llm.mtp.v > 1 || job->llm.mtp.v < 1 ? "s" : "");
  const TrnParallelSpec *p = &job->spec.parallel;
  if (job->llm.moe.experts.v > 0 && p->tp.v > 1 && !p->sp.v && (m->moe.etp.v < p->tp.v || m->moe.etp.v > p->tp.v))
    return col_fail_at (error, p->tp.mark,
                        "with tp %.0f and no sp each of these ranks would route and compute the same tokens; accepted: parallel: "
                        "{sp: true}, or experts that are cut too, moe: {etp: %.0f}",
                        p->tp.v, p->tp.v);
  if (m->cp.head.set && job->spec.parallel.cp.v < 2)
    return col_fail_at (error, m->cp.head.mark, "'cp' has no effect with one rank of context parallelism; parallel: {cp: 2} …");
  if (m->pipeline.layout != NULL &&
      (given (job, "pipeline", "embedding_as_layer") != NULL || given (job, "pipeline", "head_as_layer") != NULL))
    return col_fail_at (error, base_yaml_mark (m->pipeline.layout),
                        "a 'layout' says what each chunk holds; leave embedding_as_layer and head_as_layer out");
  return TRUE;
}

/* What cuts or changes a decoder's layers. */
static gboolean
check_net (const TrnJob *job, GError **error)
{
  static const char *const keys[] = { "sequence", "pipeline", "lora", "cp", "moe", "packing", "mtp", "dropout", "placement" };
  static const char *const cuts[] = { "tp", "sp", "cp", "ep", "pp", "vp" };
  const BaseYamlNode *recompute = job->spec.model.recompute;
  const char *text = recompute != NULL ? base_yaml_text (recompute) : "none";
  if (job->llm.net == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (!refuse (job, NULL, keys[i],
                 "is of a language model; a network of operations has its shapes in its own layers: leave it out", error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++)
    if (!refuse (job, "parallel", cuts[i],
                 "cuts a language model; a network of operations is trained by replicas or shards of all of it: dp, zero, fsdp",
                 error))
      return FALSE;
  return g_strcmp0 (text, "none") == 0 || g_strcmp0 (text, "full") == 0 ||
         col_fail_at (error, base_yaml_mark (recompute), "'recompute' of a network of operations is none or full");
}

gboolean
trn_model_check_keys (const TrnJob *job, GError **error)
{
  return check_net (job, error) && check_layers_keys (job, error) && check_shards (job, error) && check_replicas (job, error) &&
         check_parts (job, error);
}

/* ---- stragglers ---- */

gboolean
trn_model_check_stragglers (const TrnModel *model, GError **error)
{
  const BaseList *list = &model->spec->model.stragglers;
  for (unsigned i = 0; i < list->n; i++) {
    const TrnStragglerSpec *one = BASE_LIST_AT (*list, TrnStragglerSpec, i);
    gboolean compute = one->rank.set || one->slowdown.set, adapter = one->node.set || one->nic.set || one->rate.set;
    if (compute == adapter || (compute && !(one->rank.set && one->slowdown.set)) ||
        (adapter && !(one->node.set && one->nic.set && one->rate.set)))
      return col_fail_at (error, one->head.mark,
                          "a straggler is a GPU, {rank: 17, slowdown: 1.2}, or an adapter, {node: 3, nic: 0, rate: 200 Gb/s}");
    guint32 ranks = model->job->any_cut ? model->job->system->gpus->len : model->grid.n;
    if (compute && one->rank.v >= ranks)
      return col_fail_at (error, one->rank.mark, "rank %.0f is none of the %u ranks; accepted: 0 to %u", one->rank.v, ranks,
                          ranks - 1);
  }
  return TRUE;
}

/* The slowest of the ranks that a pipeline rank stands for. */
static double
slowness (const TrnModel *model, guint32 pp)
{
  double slow = 1;
  for (guint i = 0; i < model->spec->model.stragglers.n; i++) {
    const TrnStragglerSpec *one = BASE_LIST_AT (model->spec->model.stragglers, TrnStragglerSpec, i);
    if (!one->rank.set)
      continue;
    for (guint32 local = 0; local < trn_grid_locals (&model->grid); local++)
      if (trn_grid_rank (&model->grid, pp, local) == (guint32)one->rank.v)
        slow = fmax (slow, one->slowdown.set ? one->slowdown.v : 1);
  }
  return slow;
}

static double
jitter (const TrnModel *model, guint32 pp)
{
  double sigma = model->spec->model.jitter.head.set ? model->spec->model.jitter.compute.v : 0, most = 0;
  if (sigma <= 0)
    return 1;
  for (guint32 local = 0; local < trn_grid_locals (&model->grid); local++) {
    BaseRandom random = base_random_stream_at (model->job->seed, "jitter", trn_grid_rank (&model->grid, pp, local));
    most = fmax (most, base_random_normal (&random));
  }
  return 1 + sigma * most;
}

double
trn_model_slow (const TrnModel *model, guint32 pp)
{
  return slowness (model, pp) * jitter (model, pp) * trn_model_gpu_pace (model, pp);
}

gboolean
trn_slow_nics (const TrnJob *job, GError **error)
{
  const BaseList *list = &job->spec.model.stragglers;
  for (unsigned i = 0; i < list->n; i++) {
    const TrnStragglerSpec *one = BASE_LIST_AT (*list, TrnStragglerSpec, i);
    g_autofree char *why = NULL;
    if (one->rate.set && !clu_nic_slow (job->system->clu, (guint32)one->node.v, (guint32)one->nic.v, one->rate.v, &why))
      return col_fail_at (error, one->rate.mark, "%s", why);
  }
  return TRUE;
}
