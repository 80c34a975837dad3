/* What a training workload with a `model` asks for, completed and checked. */
#include <math.h>
#include <string.h>

#include "model-private.h"
#include "training/llm.h"

static BaseMark
mark_or (const BaseNum *num, BaseMark otherwise)
{
  return num->set ? num->mark : otherwise;
}

static BaseMark
workload_mark (const TrnModel *model)
{
  return base_yaml_mark (model->job->node);
}

/* ---- formats ---- */

static MdlFormat
format_or (const BaseEnum *given, MdlFormat otherwise)
{
  return given->set ? (MdlFormat)given->v : otherwise;
}

static gboolean
check_formats (const TrnModel *model, GError **error)
{
  const TrnPrecisionSpec *p = &model->spec->model.precision;
  const struct {
    const BaseEnum *given;
    MdlFormat format;
    const char *key;
  } needed[] = {
    { &p->compute, model->query.compute, "compute" },
    { &p->head_compute, model->query.head_compute, "head" },
    { &p->parameters, model->parameters, "parameters" },
    { &p->gradients, model->gradients, "gradients" },
    { &p->reduce, model->reduce, "reduce" },
    { &p->gather, model->gather, "gather" },
    { &p->optimizer, model->moment, "optimizer" },
    { &p->attention, model->attention, "attention" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++)
    if (needed[i].format == MDL_FORMAT_NONE)
      return col_fail_at (error, needed[i].given->mark, "'%s' cannot be none; only 'master' can", needed[i].key);
  const gboolean four = p->scaling.v == MDL_SCALING_NVFP4;
  if (p->scaling.set && model->query.compute != (four ? MDL_FORMAT_FP4 : MDL_FORMAT_FP8))
    return col_fail_at (error, p->scaling.mark, "scaling %s is of products in %s, and compute is %s",
                        base_name (mdl_scaling_names, p->scaling.v), four ? "fp4" : "fp8",
                        base_name (mdl_format_names, (int)model->query.compute));
  if (model->only_narrow && (p->weights.v != MDL_FORMAT_FP8 || !p->scaling.set || four))
    return col_fail_at (error, p->weights.mark,
                        "weights that products read as they are held need their format's scaling; accepted: %s, or weights: fp8 "
                        "with scaling delayed, tensorwise, blockwise or mxfp8",
                        base_name (mdl_format_names, (int)model->parameters));
  const BaseEnum *optimizer = &model->spec->model.optimizer;
  if (p->optimizer.set && (optimizer->v == MDL_OPTIMIZER_ADAMW_8BIT || optimizer->v == MDL_OPTIMIZER_SGD))
    return col_fail_at (error, p->optimizer.mark, "'optimizer' of precision is of moments, and %s has %s",
                        base_name (mdl_optimizer_names, optimizer->v),
                        optimizer->v == MDL_OPTIMIZER_SGD ? "none" : "its own format");
  if (optimizer->v == MDL_OPTIMIZER_MUON && (model->llm.net != NULL || model->query.lora_rank > 0))
    return col_fail_at (error, optimizer->mark, "muon needs the matrices of a language model's layers, and %s; accepted: adamw",
                        model->llm.net != NULL ? "this model lists operations" : "adapters train here");
  return TRUE;
}

static void
settle_formats (TrnModel *model)
{
  const TrnPrecisionSpec *p = &model->spec->model.precision;
  MdlLayerQuery *query = &model->query;
  gboolean sharded = model->sync == TRN_SYNC_SHARDS;
  query->compute = (MdlFormat)p->compute.v;
  MdlFormat wide = query->compute <= MDL_FORMAT_FP8 ? MDL_FORMAT_BF16 : query->compute; /* what is not narrowed */
  query->activation = wide == MDL_FORMAT_TF32 ? MDL_FORMAT_FP32 : wide;
  query->cached = format_or (&p->cached, MDL_FORMAT_NONE);
  query->head_compute = format_or (&p->head_compute, wide);
  model->attention = format_or (&p->attention, query->head_compute);
  model->parameters =
      format_or (&p->parameters, sharded || query->activation == MDL_FORMAT_FP32 ? MDL_FORMAT_FP32 : query->activation);
  model->gather = format_or (&p->gather, query->activation);
  model->gradients = format_or (&p->gradients, sharded ? query->activation : model->parameters);
  model->reduce = format_or (&p->reduce, model->gradients);
  gboolean masters = model->parameters < MDL_FORMAT_TF32 && model->gradients == MDL_FORMAT_FP32;
  model->master = format_or (&p->master, masters ? MDL_FORMAT_FP32 : MDL_FORMAT_NONE);
  model->moment = format_or (&p->optimizer, model->master != MDL_FORMAT_NONE ? MDL_FORMAT_FP32 : model->parameters);
  query->autocast = !sharded && model->llm.net == NULL && model->parameters == MDL_FORMAT_FP32 &&
                    query->compute == query->activation && mdl_format_B (query->activation) < mdl_format_B (MDL_FORMAT_FP32);
  query->gradient = model->gradients;
  query->loss = (MdlLoss)model->spec->model.loss.v;
  query->metrics = (unsigned)model->spec->model.metrics.v;
  query->scaling = p->scaling.set ? (MdlScaling)p->scaling.v : MDL_SCALING_NONE;
  model->only_narrow = p->weights.set && (MdlFormat)p->weights.v != model->parameters;
}

/* A GPU whose file lacks what compute is estimated from. */
static gboolean
check_gpu (const TrnModel *model, GError **error)
{
  const MdlGpu *gpu = &model->gpu;
  const BaseEnum *given = &model->spec->model.precision.compute;
  const MdlFormat formats[] = { model->query.compute, model->query.head_compute, model->attention };
  if (gpu->memory_Bps <= 0 || gpu->sms <= 0)
    return col_fail_at (error, workload_mark (model), "GPU type '%s' says no %s, which a model's step needs", gpu->name,
                        gpu->sms <= 0 ? "compute_units" : "memory_bandwidth");
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (gpu->peak_flop_per_s[mdl_format_precision (formats[i])] <= 0)
      return col_fail_at (error, given->set ? given->mark : workload_mark (model), "GPU type '%s' has no peak for %s", gpu->name,
                          base_name (mdl_format_names, (int)formats[i]));
  return TRUE;
}

/* A router's product is one of fp32; units that have none take it in the format of the rest (XLA's default precision: one pass of
 * bf16). */
static void
settle_router (TrnModel *model)
{
  model->query.one_way = model->gpu.capability < 100;
  if (model->gpu.peak_flop_per_s[mdl_format_precision (model->query.router)] <= 0 ||
      (model->query.framework != MDL_FRAMEWORK_EAGER && model->gpu.peak_flop_per_s[MDL_PRECISION_TF32] <= 0))
    model->query.router = model->query.head_compute;
}

/* ---- adapters ---- */

static gboolean
read_lora (TrnModel *model, GError **error)
{
  const TrnLoraSpec *lora = &model->spec->model.lora;
  model->query.base = MDL_FORMAT_NONE;
  if (!lora->head.set)
    return TRUE;
  model->query.lora_rank = (unsigned)lora->rank.v;
  model->query.base = (MdlFormat)lora->base.v;
  model->query.lora_dropout = lora->dropout.v;
  model->query.lora_on = MDL_LORA_Q | MDL_LORA_K | MDL_LORA_V | MDL_LORA_O;
  if (lora->modules.n > 0)
    model->query.lora_on = 0;
  for (unsigned i = 0; i < lora->modules.n; i++) {
    const BaseName *known = base_name_find (mdl_lora_names, lora->modules.item[i].v);
    if (known == NULL) {
      g_autofree char *accepted = base_names_accepted (lora->modules.item[i].v, mdl_lora_names, NULL);
      return col_fail_at (error, lora->modules.item[i].mark, "'%s' is not a matrix of a layer%s", lora->modules.item[i].v,
                          accepted);
    }
    model->query.lora_on |= (unsigned)known->code;
  }
  return TRUE;
}

/* ---- the grid ---- */

static gboolean
read_order (const TrnModel *model, TrnDim order[TRN_DIM_N], GError **error)
{
  static const char *const names[] = { "tp", "cp", "dp", "pp", "ep" };
  const BaseStrs *given = &model->spec->model.placement;
  const TrnDim usual[TRN_DIM_N] = { TRN_DIM_TP, TRN_DIM_CP, TRN_DIM_DP, TRN_DIM_PP };
  unsigned n = 0, seen = 0;
  memcpy (order, usual, sizeof usual);
  for (unsigned i = 0; i < given->n; i++) {
    unsigned d = 0;
    while (d < G_N_ELEMENTS (names) && strcmp (given->item[i].v, names[d]) != 0)
      d++;
    if (d == G_N_ELEMENTS (names) || (seen & 1u << d))
      return col_fail_at (error, given->item[i].mark, "'%s' in 'placement'; accepted: tp, cp, ep, dp and pp, each once",
                          given->item[i].v);
    seen |= 1u << d;
    if (d < TRN_DIM_N)
      order[n++] = (TrnDim)d;
  }
  if (given->n > 0 && n != TRN_DIM_N)
    return col_fail_at (error, given->mark, "'placement' names tp, cp, dp and pp, fastest first (ep goes with dp)");
  return TRUE;
}

static gboolean
set_grid (TrnModel *model, GError **error)
{
  const TrnParallelSpec *p = &model->spec->parallel;
  TrnGrid *grid = &model->grid;
  BaseMark mark = p->head.set ? p->head.mark : workload_mark (model);
  double gpus = model->job->system->gpus->len, fixed = p->tp.v * p->cp.v * p->pp.v;
  if (!p->dp.set && fixed <= gpus && fmod (gpus, fixed) > 0)
    return col_fail_at (
        error, mark,
        "tp %.0f x cp %.0f x pp %.0f = %.0f does not divide %.0f GPUs; use sizes whose product divides them, or write dp "
        "to leave some idle",
        p->tp.v, p->cp.v, p->pp.v, fixed, gpus);
  double dp = p->dp.set ? p->dp.v : floor (gpus / fixed);
  if (fixed * fmax (dp, 1) > gpus)
    return col_fail_at (error, mark,
                        "tp %.0f x cp %.0f x dp %.0f x pp %.0f needs %.0f GPUs, the cluster has %.0f; ask for more nodes "
                        "(cluster: {nodes: …})",
                        p->tp.v, p->cp.v, fmax (dp, 1), p->pp.v, fixed * fmax (dp, 1), gpus);
  TrnDim order[TRN_DIM_N];
  if (!read_order (model, order, error))
    return FALSE;
  const double size[TRN_DIM_N] = { p->tp.v, p->cp.v, dp, p->pp.v };
  grid->n = 1;
  for (int i = 0; i < TRN_DIM_N; i++) {
    grid->size[order[i]] = (guint32)size[order[i]];
    grid->stride[order[i]] = grid->n;
    grid->n *= grid->size[order[i]];
  }
  guint32 data = grid->size[TRN_DIM_CP] * grid->size[TRN_DIM_DP];
  const TrnHsdpSpec *hsdp = &model->spec->model.hsdp;
  const TrnLocalSpec *local = &model->spec->model.local;
  const guint32 workers = local->head.set && data % (guint32)local->workers.v == 0 ? (guint32)local->workers.v : 1;
  grid->shard = hsdp->head.set ? (guint32)hsdp->shard.v : data / workers;
  if (data % grid->shard != 0)
    return col_fail_at (error, hsdp->shard.mark, "'shard' of %u ranks does not divide the %u of dp x cp; use a divisor of them",
                        grid->shard, data);
  grid->ep = (guint32)p->ep.v;
  grid->etp = (guint32)model->spec->model.moe.etp.v;
  guint32 locals = trn_grid_locals (grid);
  if (locals % (grid->ep * grid->etp) != 0)
    return col_fail_at (error, mark_or (&p->ep, mark), "ep %u x etp %u does not divide the %u ranks of tp x cp x dp; use a divisor",
                        grid->ep, grid->etp, locals);
  grid->edp = locals / (grid->ep * grid->etp);
  return TRUE;
}

/* ---- what has to divide ---- */

static gboolean
check_divides (const TrnModel *model, const char *key, const BaseNum *by, double what, const char *name, GError **error)
{
  return fmod (what, by->v) <= 0 || col_fail_at (error, mark_or (by, workload_mark (model)),
                                                 "%s %.0f does not divide by %s %.0f; use a divisor of it", name, what, key, by->v);
}

static gboolean
check_sizes (const TrnModel *model, GError **error)
{
  const TrnParallelSpec *p = &model->spec->parallel;
  const TrnModelSpec *m = &model->spec->model;
  const MdlLlm *llm = &model->llm;
  gboolean moe = llm->moe.experts.v > 0;
  double chunks =
      p->cp.v > 1 && m->cp.kind.v == MDL_CP_RING ? 2 * p->cp.v : p->cp.v; /* a ring's halves, so that causal work is even */
  if (!check_divides (model, "tp", &p->tp, llm->attention.heads.v, "the number of heads", error) ||
      !check_divides (model, "tp", &p->tp, llm->hidden.v, "hidden", error) ||
      (llm->mlp.ffn.v > 0 && !check_divides (model, "tp", &p->tp, llm->mlp.ffn.v, "the MLP's width", error)))
    return FALSE;
  if (fmod (m->sequence.v, chunks * (p->sp.v ? p->tp.v : 1)) > 0)
    return col_fail_at (error, mark_or (&p->cp, m->sequence.mark),
                        "'sequence' of %.0f tokens does not divide into %.0f equal parts (cp %.0f%s); use a multiple of them",
                        m->sequence.v, chunks * (p->sp.v ? p->tp.v : 1), p->cp.v, p->sp.v ? ", tp with sp" : "");
  if (m->cp.kind.v == MDL_CP_ULYSSES && fmod (llm->attention.heads.v / p->tp.v, p->cp.v) > 0)
    return col_fail_at (error, mark_or (&p->cp, workload_mark (model)),
                        "%.0f heads / tp %.0f do not divide by cp %.0f, as ulysses needs", llm->attention.heads.v, p->tp.v,
                        p->cp.v);
  if (p->ep.v > 1 && !moe)
    return col_fail_at (error, p->ep.mark, "ep %.0f of a model without experts; accepted: 1", p->ep.v);
  if (moe && (!check_divides (model, "ep", &p->ep, llm->moe.experts.v, "the number of experts", error) ||
              !check_divides (model, "etp", &m->moe.etp, llm->moe.ffn.v, "an expert's width", error)))
    return FALSE;
  if (moe && m->moe.capacity.v > 0 && m->moe.imbalance.set)
    return col_fail_at (error, m->moe.imbalance.mark,
                        "'imbalance' applies to dropless experts; with 'capacity' all experts are padded to the same size");
  return TRUE;
}

static gboolean
set_batch (TrnModel *model, GError **error)
{
  const TrnModelSpec *m = &model->spec->model;
  double replicas = model->grid.size[TRN_DIM_DP], each = replicas * m->micro_batch.v;
  if (!m->sequence.set)
    return col_fail_at (error, workload_mark (model), "this model needs 'sequence', in tokens (e.g. sequence: 8192)");
  if (m->global_batch.set && m->accumulate.set)
    return col_fail_at (error, m->accumulate.mark, "'accumulate' and 'global_batch' say the same; give one");
  double count = m->accumulate.set     ? m->accumulate.v
                 : m->global_batch.set ? m->global_batch.v / each
                                       : model->spec->micro_batches.v;
  if (floor (count) < count || count < 1)
    return col_fail_at (error, m->global_batch.mark,
                        "'global_batch' of %.0f sequences does not divide by dp %.0f x micro_batch %.0f; use a multiple of %.0f",
                        m->global_batch.v, replicas, m->micro_batch.v, each);
  if (count > 1e6)
    return col_fail_at (error, m->global_batch.mark,
                        "'global_batch' makes %.0f micro-batches a replica; accepted: at most 1000000", count);
  model->m = (guint32)count;
  return TRUE;
}

/* Products cut up with the collectives of tensor parallelism: these delay no weight gradients. */
static gboolean
cuts_products (const TrnSpec *spec)
{
  return spec->model.overlap.tp.v && spec->parallel.tp.v > 1;
}

static gboolean
set_pipeline (TrnModel *model, GError **error)
{
  const TrnSpec *spec = model->spec;
  const char *key = NULL;
  MdlSchedule schedule = (MdlSchedule)spec->schedule.v;
  /* interleaving is 1f1b with more chunks */
  if (model->layers == NULL && !spec->schedule.set && spec->parallel.vp.v > 1)
    schedule = MDL_SCHEDULE_INTERLEAVED;
  if (model->layers == NULL && model->grid.size[TRN_DIM_PP] == 1 && !spec->parallel.vp.set)
    schedule = MDL_SCHEDULE_1F1B; /* all are the same on one rank */
  guint32 cuts = mdl_schedule_cuts (schedule);
  model->pipe = (MdlPipeline){ .schedule = schedule,
                               .p = model->grid.size[TRN_DIM_PP],
                               .v = spec->parallel.vp.set ? (guint32)spec->parallel.vp.v : MAX (cuts, 1),
                               .m = model->m };
  const BaseBool *experts = &spec->model.overlap.ep;
  /* without chunks each pair would wait for that of its neighbour; Megatron refuses it too */
  if (experts->v && !model->job->any_cut && schedule != MDL_SCHEDULE_INTERLEAVED &&
      (schedule != MDL_SCHEDULE_1F1B || model->pipe.p > 1))
    return col_fail_at (error, experts->mark,
                        "'ep' pairs passes of one stage or of schedule interleaved, not of %s on %u stages; "
                        "accepted: vp of 2 or more, pp 1, or ep: false",
                        base_name (mdl_schedule_names, (int)schedule), model->pipe.p);
  if (spec->model.overlap.wgrad.v && !experts->v)
    return col_fail_at (error, spec->model.overlap.wgrad.mark,
                        "'delay_wgrad' is of passes that run beside each other; write ep: true too, or leave it out");
  if (spec->model.overlap.wgrad.v && !model->job->any_cut && cuts_products (spec))
    return col_fail_at (error, spec->model.overlap.wgrad.mark,
                        "'delay_wgrad' and 'tp' exclude each other with tp %.0f: products that are cut up with their collectives "
                        "delay no weight gradients; write tp: false, or leave delay_wgrad out",
                        spec->parallel.tp.v);
  model->pipe.combined = experts->v;
  g_autofree char *message = mdl_schedule_check (&model->pipe, &key);
  model->grid.copies = message == NULL ? mdl_schedule_copies (&model->pipe) : 1;
  if (message == NULL)
    return TRUE;
  const BaseNum *num = g_str_equal (key, "pp")   ? &spec->parallel.pp
                       : g_str_equal (key, "vp") ? &spec->parallel.vp
                       : model->layers != NULL   ? &spec->micro_batches
                                                 : &spec->model.global_batch;
  return col_fail_at (error,
                      num->set             ? num->mark
                      : spec->schedule.set ? spec->schedule.mark
                                           : workload_mark (model),
                      "%s", message);
}

static TrnSync
sync_of (const TrnModel *model)
{
  const TrnSpec *spec = model->spec;
  if (spec->model.fsdp.head.set || spec->model.hsdp.head.set || spec->parallel.zero.v > 2)
    return TRN_SYNC_SHARDS;
  gboolean experts = model->llm.moe.experts.v > 0 && model->grid.edp > 1; /* whole ones on the ranks of tp too */
  if (model->grid.size[TRN_DIM_DP] * model->grid.size[TRN_DIM_CP] * mdl_schedule_copies (&model->pipe) == 1 && !experts)
    return TRN_SYNC_NONE;
  if (spec->ddp.kind.v == TRN_DDP_REPLICAS)
    return TRN_SYNC_REPLICAS;
  return spec->parallel.zero.v > 1 ? TRN_SYNC_GRADIENTS : spec->parallel.zero.v > 0 ? TRN_SYNC_OPTIMIZER : TRN_SYNC_DDP;
}

gboolean
trn_model_parts (const TrnModel *model)
{
  return model->sync != TRN_SYNC_NONE && model->sync != TRN_SYNC_REPLICAS && model->sync != TRN_SYNC_DDP;
}

/* 97 MB more of ResNet-50, 1 GB of RoBERTa (PyTorch pull request 41954). */
gboolean
trn_model_copies_gradients (const TrnModel *model)
{
  const TrnDdpSpec *ddp = &model->spec->ddp;
  return ddp->head.set && !ddp->views.v && model->sync == TRN_SYNC_DDP;
}

gboolean
trn_model_clips (const TrnModel *model)
{
  return model->layers == NULL && model->spec->model.clip.v;
}

static void
set_ask (TrnModel *model)
{
  const TrnModelSpec *m = &model->spec->model;
  const TrnParallelSpec *p = &model->spec->parallel;
  MdlLayerQuery *query = &model->query;
  mdl_layer_query_default (query, m->sequence.v);
  query->tp = (unsigned)p->tp.v;
  query->cp = (unsigned)p->cp.v;
  query->ep = (unsigned)p->ep.v;
  query->etp = (unsigned)m->moe.etp.v;
  query->sp = p->sp.v && p->tp.v > 1;
  query->cp_kind = (MdlCpKind)m->cp.kind.v;
  query->micro_batch = m->micro_batch.v;
  query->packed = m->packing.head.set ? m->packing.mean_length.v : 0;
  trn_images_of (&model->llm, m, &query->images, &query->patches);
  query->framework = (MdlFramework)m->framework.v;
  query->flash = m->flash.v;
  query->dropout = m->dropout.v;
  query->accumulate = TRUE;
  query->capacity = m->moe.capacity.v;
  query->experts = (MdlExperts)m->moe.experts.v;
  query->imbalance = fmax (m->moe.imbalance.v, 1);
  query->dispatch = m->moe.dispatch.set ? (MdlFormat)m->moe.dispatch.v : MDL_FORMAT_BF16;
  query->dispatcher = (MdlDispatcher)m->moe.dispatcher.v;
  query->permute = !m->moe.permute_fused.set ? MDL_PERMUTE_USUAL : m->moe.permute_fused.v ? MDL_PERMUTE_FUSED : MDL_PERMUTE_APART;
  query->router_pads = m->moe.router_padding.v;
  query->shared_alone = !m->moe.shared_overlap.v;
  query->delay_wgrad = m->overlap.wgrad.v && !cuts_products (model->spec);
  query->one_copy_a_node = m->moe.node_limited.v;
  query->outputs = model->sync == TRN_SYNC_REPLICAS && model->spec->ddp.gather.v ? model->grid.size[TRN_DIM_DP] : 1;
}

/* Nodes that the experts' group spans. */
static void
count_ep_nodes (TrnModel *model)
{
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 last = G_MAXUINT32;
  trn_grid_group (&model->grid, TRN_GROUP_EP, 0, 0, ranks);
  model->query.ep_nodes = 0;
  for (guint i = 0; i < ranks->len; i++) {
    guint32 gpu = g_array_index (model->job->system->gpus, guint32, g_array_index (ranks, guint32, i));
    guint32 node = clu_domain_of_node (model->job->system->clu,
                                       clu_dev_node (model->job->system->clu, clu_gpu (model->job->system->clu, gpu)));
    model->query.ep_nodes += i == 0 || node != last;
    last = node;
  }
}

/* Two copies of a stage run different micro-batches: their gradients go together once a step, not micro-batch by micro-batch. */
static gboolean
check_copies (const TrnModel *model, GError **error)
{
  const BaseEnum *schedule = &model->spec->schedule;
  if (model->grid.copies < 2 || (model->sync != TRN_SYNC_SHARDS && model->sync != TRN_SYNC_GRADIENTS))
    return TRUE;
  return col_fail_at (
      error, schedule->mark,
      "schedule %s has two copies of each stage, whose gradients are reduced once a step; zero 2, 3 and fsdp reduce them "
      "in each micro-batch; accepted: zero 0 or 1, or schedule dualpipe_v",
      base_name (mdl_schedule_names, (int)model->pipe.schedule));
}

/* One process drives the GPUs of its node. */
static gboolean
check_replicas (const TrnModel *model, GError **error)
{
  const BaseEnum *kind = &model->spec->ddp.kind;
  guint32 last = g_array_index (model->job->system->gpus, guint32, model->grid.n - 1);
  if (kind->v != TRN_DDP_REPLICAS || clu_dev_node (model->job->system->clu, clu_gpu (model->job->system->clu, last)) == 0)
    return TRUE;
  return col_fail_at (
      error, kind->mark,
      "data_parallel drives the GPUs of one node from one process, these %u ranks are on several; accepted: one node, or "
      "kind: ddp",
      model->grid.n);
}

static gboolean
plan_layers (TrnModel *model, GError **error)
{
  if (!trn_layers_plan (model, error) || !set_pipeline (model, error) || !trn_layers_cut (model, error))
    return FALSE;
  model->sync = sync_of (model);
  model->overlap_sends = model->spec->p2p_overlap.v;
  return TRUE;
}

gboolean
trn_model_plan (const TrnJob *job, TrnModel *model, GError **error)
{
  model->job = job;
  model->spec = &job->spec;
  if (job->spec.model.model == NULL)
    return plan_layers (model, error);
  model->overlap_sends = job->spec.model.overlap.p2p.v;
  model->llm = job->llm;
  model->mtp = (guint32)job->spec.model.mtp.v;
  mdl_llm_count (&model->llm, &model->count);
  if (!trn_model_check_keys (job, error))
    return FALSE;
  if (!set_grid (model, error) || !set_batch (model, error) || !set_pipeline (model, error) || !check_sizes (model, error) ||
      !trn_model_check_kinds (model, error) || !trn_local_check (model, error))
    return FALSE;
  model->sync = sync_of (model);
  if (!check_replicas (model, error) || !check_copies (model, error))
    return FALSE;
  set_ask (model);
  settle_formats (model);
  trn_model_take_gpus (model);
  settle_router (model);
  trn_model_take_software (model);
  if (!check_formats (model, error) || !trn_compress_check (model, error) || !check_gpu (model, error) ||
      !read_lora (model, error) || !trn_model_cut (model, error) || !trn_model_read_again (model, error))
    return FALSE;
  count_ep_nodes (model);
  return trn_model_check_stragglers (model, error);
}

void
trn_model_clear (TrnModel *model)
{
  g_clear_pointer (&model->cut, g_free);
  g_clear_pointer (&model->again_stage, g_free);
  g_clear_pointer (&model->types, g_array_unref);
  g_clear_pointer (&model->layers, trn_layers_free);
}
