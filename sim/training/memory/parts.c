/* Parts of a model as a rank holds them: activations by block, parameters, and what becomes of their gradients. */
#include "held-private.h"
#include "models/net.h"

static void
count_tensors (const TrnHeld *plan, MdlPart part, guint32 layer, TrnHeldUnit *unit)
{
  const TrnModel *model = plan->model;
  const MdlLayerQuery *query = &model->query;
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
  mdl_llm_tensors (&model->llm, part, layer, tensors);
  for (guint i = 0; i < tensors->len; i++) {
    const MdlTensor *tensor = &g_array_index (tensors, MdlTensor, i);
    MdlBlock block = part == MDL_PART_NET ? MDL_BLOCK_EMBEDDING : mdl_memory_block_of (tensor, part); /* the only one */
    TrnHeldBlock *to = &unit->block[unit->n > 1 && (block == MDL_BLOCK_MLP || block == MDL_BLOCK_MOE) ? 1 : 0];
    double n = mdl_tensor_elements (&model->llm, tensor, query->tp, query->ep, query->etp, query->vocabulary_multiple);
    double adapter = trn_adapter_elements (model, tensor), trained = query->lora_rank > 0 ? adapter : n;
    *(tensor->expert ? &to->expert : &to->dense) += query->lora_rank > 0 ? n + adapter : n;
    *(tensor->expert ? &to->trained_expert : &to->trained_dense) += trained;
  }
}

static void
plan_part (TrnHeld *plan, MdlPart part, TrnAgain again)
{
  MdlBlock blocks[3];
  TrnHeldUnit *unit = &plan->part[part][again];
  const TrnModel *model = plan->model;
  const MdlLlm *llm = &model->llm;
  MdlLayerQuery query = model->query;
  MdlLlm encoder;
  if (part == MDL_PART_VISION) {
    mdl_llm_vision (&model->llm, &encoder);
    mdl_vision_query (&model->llm, &model->query, FALSE, &query);
    llm = &encoder;
  }
  query.recompute = trn_again_modules (model, again);
  unit->n = mdl_memory_blocks (llm, part, blocks);
  for (guint k = 0; k < unit->n; k++)
    for (int there = 0; there < 2; there++)
      mdl_memory_block (plan->spec, llm, &query, blocks[k], plan->eager && !plan->shards && there, &unit->block[k].held[there]);
  count_tensors (plan, part, 0, unit);
}

/* A unit for each item of a network of operations. */
static void
plan_net (TrnHeld *plan)
{
  const TrnModel *model = plan->model;
  guint32 layers = (guint32)model->llm.layers.v;
  plan->net = g_new0 (TrnHeldUnit, model->llm.net->layers.n);
  for (guint32 l = 0; l < layers; l++) {
    guint item = mdl_net_item (model->llm.net, l);
    TrnHeldUnit *unit = &plan->net[item];
    if (unit->n > 0)
      continue;
    unit->n = 1;
    mdl_net_memory (model->llm.net, &model->query, item, &unit->block[0].held[0]);
    unit->block[0].held[1] = unit->block[0].held[0];
    count_tensors (plan, MDL_PART_NET, l, unit);
  }
}

static double
group_ranks (const TrnModel *model, TrnGroupKind kind)
{
  return trn_grid_group_size (&model->grid, kind);
}

/* All but the parts. */
void
trn_held_open (const TrnModel *model, TrnHeld *plan)
{
  gboolean part = trn_model_parts (model), alone = model->sync == TRN_SYNC_NONE || model->sync == TRN_SYNC_REPLICAS;
  *plan = (TrnHeld){ .model = model,
                     .spec = model->job->system->memory,
                     .eager = model->query.framework == MDL_FRAMEWORK_EAGER,
                     .shards = model->sync == TRN_SYNC_SHARDS,
                     .unit_B = mdl_format_B (model->query.activation),
                     .param_B = mdl_format_B (model->parameters),
                     .gradient_B = mdl_format_B (trn_model_held_gradients (model)),
                     .state_B = trn_model_moments_B (model),
                     .gather_B = model->only_narrow ? mdl_format_B (MDL_FORMAT_FP8) : mdl_format_B (model->gather),
                     .reduce_B = mdl_format_B (model->reduce),
                     .whole_B = mdl_format_B (model->reduce) +
                                (trn_model_fsdp_copies (model) ? mdl_format_B (model->query.activation) : 0),
                     .dense_ranks = part ? group_ranks (model, TRN_GROUP_SHARD) : 1,
                     .expert_ranks = part ? group_ranks (model, TRN_GROUP_EDP) : 1 };
  gboolean buckets = model->sync == TRN_SYNC_DDP;
  plan->outside = plan->eager && buckets && model->m > 1; /* DDP's no_sync: those of micro-batches before the last */
  plan->dense_comes = plan->shards || plan->outside || (plan->eager && alone);
  plan->expert_comes = plan->dense_comes || (plan->eager && buckets && trn_grid_group_size (&model->grid, TRN_GROUP_EDP) == 1);
}

void
trn_held_make (const TrnModel *model, TrnHeld *plan)
{
  trn_held_open (model, plan);
  if (model->llm.net != NULL) {
    plan_net (plan);
    return;
  }
  for (int p = 0; p < MDL_PART_NET; p++) {
    gboolean end = p == MDL_PART_EMBEDDING || p == MDL_PART_HEAD;
    if (!end && (p == MDL_PART_MTP ? model->mtp < 1 : mdl_llm_n_part (&model->llm, (MdlPart)p) < 1))
      continue;
    plan_part (plan, (MdlPart)p, TRN_AGAIN_MODULES);
    if (model->again_layers > 0 && !end && p != MDL_PART_MTP)
      plan_part (plan, (MdlPart)p, TRN_AGAIN_LAYER);
    if (model->again_stage != NULL)
      plan_part (plan, (MdlPart)p, TRN_AGAIN_NOTHING);
  }
}

/* ---- units of a position ---- */

guint32
trn_held_units (const TrnHeld *plan, guint32 position)
{
  return trn_cut_units (plan->model, position);
}

MdlPart
trn_held_part (const TrnHeld *plan, guint32 position, guint32 unit)
{
  const TrnStageLayers *cut = &plan->model->cut[position];
  guint32 front = cut->embedding ? 1 : 0;
  if (plan->net != NULL)
    return MDL_PART_NET;
  if (unit < front)
    return MDL_PART_EMBEDDING;
  if (unit - front >= cut->n)
    return unit - front == cut->n ? MDL_PART_HEAD : MDL_PART_MTP;
  return mdl_llm_part (&plan->model->llm, cut->first + unit - front);
}

const TrnHeldUnit *
trn_held_unit (const TrnHeld *plan, guint32 position, guint32 unit)
{
  if (plan->net != NULL)
    return &plan->net[mdl_net_item (plan->model->llm.net, plan->model->cut[position].first + unit)];
  return &plan->part[trn_held_part (plan, position, unit)][trn_model_again (plan->model, position, unit)];
}

gboolean
trn_held_is_whole (const TrnHeld *plan, guint32 position, guint32 unit)
{
  return (trn_again_modules (plan->model, trn_model_again (plan->model, position, unit)) & MDL_MODULE_LAYER) != 0;
}

static double
kept_B (const TrnHeldUnit *unit)
{
  double sum_B = 0;
  for (guint k = 0; k < unit->n; k++)
    sum_B += unit->block[k].held[0].kept_B;
  return sum_B;
}

double
trn_held_kept (const TrnHeld *plan, guint32 position, guint32 unit)
{
  return trn_model_offloads (plan->model, position, unit) ? 0 : kept_B (trn_held_unit (plan, position, unit));
}

double
trn_held_away (const TrnHeld *plan, guint32 position, guint32 unit)
{
  return trn_model_offloads (plan->model, position, unit) ? kept_B (trn_held_unit (plan, position, unit)) : 0;
}

gboolean
trn_held_is_layer (MdlPart part)
{
  return part != MDL_PART_EMBEDDING && part != MDL_PART_HEAD;
}

TrnHeldCount
trn_held_count (const TrnHeldUnit *unit)
{
  TrnHeldCount sum = { 0 };
  for (guint k = 0; k < unit->n; k++) {
    sum.dense += unit->block[k].dense;
    sum.expert += unit->block[k].expert;
    sum.trained_dense += unit->block[k].trained_dense;
    sum.trained_expert += unit->block[k].trained_expert;
  }
  return sum;
}

/* Elements that one of the ranks that share them has. */
double
trn_held_share (const TrnHeld *plan, double dense, double expert)
{
  return dense / plan->dense_ranks + expert / plan->expert_ranks;
}

/* Elements of gradients that a rank ends up with. */
double
trn_held_gradients (const TrnHeld *plan, double dense, double expert)
{
  gboolean part = plan->shards || plan->model->sync == TRN_SYNC_GRADIENTS;
  return part ? trn_held_share (plan, dense, expert) : dense + expert;
}

/* B of those of them that come. */
double
trn_held_coming (const TrnHeld *plan, double dense, double expert)
{
  return trn_held_gradients (plan, plan->dense_comes ? dense : 0, plan->expert_comes ? expert : 0) * plan->gradient_B;
}
