/* What the ranks of a training step of a model hold in device memory at their fullest moment.
 *
 * States lie there all the time: parameters, what the optimizer keeps, and gradients where they have a buffer (DDP's buckets,
 * Megatron's). Eager code without one frees gradients after a step: they come tensor by tensor with the first backward pass. Upon
 * them each turn of the schedule puts what it keeps (models/memory.h) and takes it away again; a backward pass is looked at block
 * by block, from the loss to the first layer, while activations go and gradients come.
 * Shards (FSDP2): a layer's gathered parameters and those of `prefetch` more, its whole gradients and what is scattered of them;
 * embedding and head of a rank are one group, gathered from the first forward to the last backward pass, its gradients whole until
 * then. Pipelines: eager code (torch.distributed.pipelining) has a buffer a micro-batch and direction for what comes, and keeps
 * what it sent until it comes back; else two.
 * Source: Rajbhandari et al. 1910.02054 section 5 (states); PyTorch torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and
 * torch/distributed/pipelining/stage.py at 2.11; docs/training_memory.md.
 * Check: allocated peaks of plain PyTorch on 1 to 4 H200 (tests/accuracy/accuracy_memory.c). */
#include <math.h>
#include <string.h>

#include "model-private.h"
#include "models/net.h"

/* ---- what does not change over a step ---- */

typedef struct {
  MdlActivationBytes held[2]; /* with gradients that come; with gradients that are there */
  double dense, expert, trained_dense, trained_expert;
} Block;

/* Embedding, a layer, the head, a module of multi-token prediction. */
typedef struct {
  Block block[3]; /* in the order of the forward pass */
  guint n;
} Unit;

typedef struct {
  const TrnModel *model;
  const MdlMemorySpec *spec;
  Unit part[MDL_PART_NET]; /* of a decoder */
  Unit *net;               /* by item of a network of operations; NULL: a decoder */
  gboolean eager, shards;
  /* gradients come with a backward pass and go with the optimizer: of what is not an expert's, and is */
  gboolean dense_comes, expert_comes;
  gboolean outside;                            /* they come beside the buckets that they are reduced in */
  double unit_B, param_B, gradient_B, state_B; /* of an element */
  double gather_B, reduce_B;
  double dense_ranks, expert_ranks; /* that share states of what is not an expert's, and is */
} Plan;

static void
count_tensors (const Plan *plan, MdlPart part, guint32 layer, Unit *unit)
{
  const TrnModel *model = plan->model;
  const MdlLayerQuery *query = &model->query;
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
  mdl_llm_tensors (&model->llm, part, layer, tensors);
  for (guint i = 0; i < tensors->len; i++) {
    const MdlTensor *tensor = &g_array_index (tensors, MdlTensor, i);
    MdlBlock block = part == MDL_PART_NET ? MDL_BLOCK_EMBEDDING : mdl_memory_block_of (tensor, part); /* the only one */
    Block *to = &unit->block[block == MDL_BLOCK_MLP || block == MDL_BLOCK_MOE ? 1 : 0];
    double n = mdl_tensor_elements (&model->llm, tensor, query->tp, query->ep, query->etp, query->vocabulary_multiple);
    double adapter = trn_adapter_elements (model, tensor), trained = query->lora_rank > 0 ? adapter : n;
    *(tensor->expert ? &to->expert : &to->dense) += query->lora_rank > 0 ? n + adapter : n;
    *(tensor->expert ? &to->trained_expert : &to->trained_dense) += trained;
  }
}

static void
plan_part (Plan *plan, MdlPart part)
{
  static const MdlBlock blocks[MDL_PART_NET][3] = { [MDL_PART_EMBEDDING] = { MDL_BLOCK_EMBEDDING },
                                                    [MDL_PART_DENSE] = { MDL_BLOCK_ATTENTION, MDL_BLOCK_MLP },
                                                    [MDL_PART_MOE] = { MDL_BLOCK_ATTENTION, MDL_BLOCK_MOE },
                                                    [MDL_PART_HEAD] = { MDL_BLOCK_HEAD },
                                                    [MDL_PART_MTP] = { MDL_BLOCK_ATTENTION, MDL_BLOCK_MOE, MDL_BLOCK_HEAD } };
  Unit *unit = &plan->part[part];
  const TrnModel *model = plan->model;
  gboolean dense_mtp = part == MDL_PART_MTP && model->llm.moe.experts.v < 1;
  unit->n = part == MDL_PART_DENSE || part == MDL_PART_MOE ? 2 : part == MDL_PART_MTP ? 3 : 1;
  for (guint k = 0; k < unit->n; k++)
    for (int there = 0; there < 2; there++)
      mdl_memory_block (plan->spec, &model->llm, &model->query, dense_mtp && k == 1 ? MDL_BLOCK_MLP : blocks[part][k],
                        plan->eager && !plan->shards && there, &unit->block[k].held[there]);
  count_tensors (plan, part, 0, unit);
}

/* A unit for each item of a network of operations. */
static void
plan_net (Plan *plan)
{
  const TrnModel *model = plan->model;
  guint32 layers = (guint32)model->llm.layers.v;
  plan->net = g_new0 (Unit, model->llm.net->layers.n);
  for (guint32 l = 0; l < layers; l++) {
    guint item = mdl_net_item (model->llm.net, l);
    Unit *unit = &plan->net[item];
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
static void
open_plan (const TrnModel *model, Plan *plan)
{
  gboolean part = trn_model_parts (model), alone = model->sync == TRN_SYNC_NONE || model->sync == TRN_SYNC_REPLICAS;
  *plan = (Plan){ .model = model,
                  .spec = model->job->system->memory,
                  .eager = model->query.framework == MDL_FRAMEWORK_EAGER,
                  .shards = model->sync == TRN_SYNC_SHARDS,
                  .unit_B = mdl_format_B (model->query.activation),
                  .param_B = mdl_format_B (model->parameters),
                  .gradient_B = mdl_format_B (model->sync == TRN_SYNC_SHARDS ? model->parameters : model->gradients),
                  .state_B = trn_model_moments_B (model),
                  .gather_B = mdl_format_B (model->gather),
                  .reduce_B = mdl_format_B (model->reduce),
                  .dense_ranks = part ? group_ranks (model, TRN_GROUP_SHARD) : 1,
                  .expert_ranks = part ? group_ranks (model, TRN_GROUP_EDP) : 1 };
  gboolean buckets = model->sync == TRN_SYNC_DDP;
  plan->outside = plan->eager && buckets && model->m > 1; /* DDP's no_sync: those of micro-batches before the last */
  plan->dense_comes = plan->shards || plan->outside || (plan->eager && alone);
  plan->expert_comes = plan->dense_comes || (plan->eager && buckets && trn_grid_group_size (&model->grid, TRN_GROUP_EDP) == 1);
}

static void
make_plan (const TrnModel *model, Plan *plan)
{
  open_plan (model, plan);
  if (model->llm.net != NULL) {
    plan_net (plan);
    return;
  }
  for (int p = 0; p < MDL_PART_NET; p++)
    if ((p != MDL_PART_MOE || model->llm.moe.experts.v > 0) && (p != MDL_PART_MTP || model->mtp > 0))
      plan_part (plan, (MdlPart)p);
}

/* ---- units of a position ---- */

static guint32
n_units (const Plan *plan, guint32 position)
{
  return trn_cut_units (plan->model, position);
}

static MdlPart
part_at (const Plan *plan, guint32 position, guint32 unit)
{
  const TrnStageLayers *cut = &plan->model->cut[position];
  guint32 front = cut->embedding ? 1 : 0;
  if (plan->net != NULL)
    return MDL_PART_NET;
  if (unit < front)
    return MDL_PART_EMBEDDING;
  if (unit - front >= cut->n)
    return unit - front == cut->n ? MDL_PART_HEAD : MDL_PART_MTP;
  return mdl_llm_is_moe (&plan->model->llm, cut->first + unit - front) ? MDL_PART_MOE : MDL_PART_DENSE;
}

static const Unit *
unit_at (const Plan *plan, guint32 position, guint32 unit)
{
  if (plan->net != NULL)
    return &plan->net[mdl_net_item (plan->model->llm.net, plan->model->cut[position].first + unit)];
  return &plan->part[part_at (plan, position, unit)];
}

static gboolean
is_layer (MdlPart part)
{
  return part == MDL_PART_NET || part == MDL_PART_DENSE || part == MDL_PART_MOE || part == MDL_PART_MTP;
}

typedef struct {
  double dense, expert, trained_dense, trained_expert;
} Count;

static Count
count_of (const Unit *unit)
{
  Count sum = { 0 };
  for (guint k = 0; k < unit->n; k++) {
    sum.dense += unit->block[k].dense;
    sum.expert += unit->block[k].expert;
    sum.trained_dense += unit->block[k].trained_dense;
    sum.trained_expert += unit->block[k].trained_expert;
  }
  return sum;
}

/* Elements that one of the ranks that share them has. */
static double
shared (const Plan *plan, double dense, double expert)
{
  return dense / plan->dense_ranks + expert / plan->expert_ranks;
}

/* Elements of gradients that a rank ends up with. */
static double
gradients_of (const Plan *plan, double dense, double expert)
{
  gboolean part = plan->shards || plan->model->sync == TRN_SYNC_GRADIENTS;
  return part ? shared (plan, dense, expert) : dense + expert;
}

/* B of those of them that come. */
static double
coming_of (const Plan *plan, double dense, double expert)
{
  return gradients_of (plan, plan->dense_comes ? dense : 0, plan->expert_comes ? expert : 0) * plan->gradient_B;
}

/* ---- one pass of a chunk ---- */

typedef struct {
  double activations_B, gradients_B, buffers_B;
} Load;

static double
load_B (const Load *load)
{
  return load->activations_B + load->gradients_B + load->buffers_B;
}

static void
raise_to (Load *most, const Load *base, const Load *more)
{
  const Load sum = { base->activations_B + more->activations_B, base->gradients_B + more->gradients_B,
                     base->buffers_B + more->buffers_B };
  if (load_B (&sum) > load_B (most))
    *most = sum;
}

typedef enum { PASS_COMES, PASS_THERE, PASS_INPUT, PASS_N } PassKind; /* gradients come; are there; are not made */

typedef struct {
  guint32 position;
  double kept_B, late_B, gradients_B;
  double forward_buffers_B;
  Load back[PASS_N]; /* most, over what is there when the pass begins */
} Chunk;

/* Parameters gathered of shards. */
typedef struct {
  double root_B, layer_B, all_B; /* embedding and head; the largest layer; all layers */
  gboolean keeps;
  double ahead;
} Gathered;

static Gathered
gathered_of (const Plan *plan, guint32 position)
{
  const TrnFsdpSpec *fsdp = &plan->model->spec->model.fsdp;
  Gathered g = { .keeps = fsdp->head.set && !fsdp->reshard.v, .ahead = fsdp->head.set ? fsdp->prefetch.v : 1 };
  for (guint32 u = 0; plan->shards && u < n_units (plan, position); u++) {
    MdlPart part = part_at (plan, position, u);
    const Count count = count_of (unit_at (plan, position, u));
    double bytes = (count.dense + count.expert) * plan->gather_B;
    if (!is_layer (part)) {
      g.root_B += bytes;
      continue;
    }
    g.layer_B = fmax (g.layer_B, bytes);
    g.all_B += bytes;
  }
  return g;
}

/* While a unit's backward pass runs. */
static double
buffers_at (const Plan *plan, const Gathered *g, MdlPart part, const Unit *unit)
{
  if (!plan->shards)
    return 0;
  const Count count = count_of (unit);
  double layers_B = g->keeps ? g->all_B : fmin (g->all_B, (g->ahead + (is_layer (part) ? 1 : 0)) * g->layer_B);
  double whole_B = is_layer (part) ? (count.trained_dense + count.trained_expert) * (plan->unit_B + plan->reduce_B) : 0;
  return g->root_B + layers_B + whole_B;
}

/* Gradients that come with a block; a table that embedding and head share has its own with the head. */
static double
coming_B (const Plan *plan, guint32 position, MdlPart part, const Block *block)
{
  const TrnStageLayers *cut = &plan->model->cut[position];
  gboolean shares = plan->model->llm.tied.v && cut->embedding && cut->head;
  if (shares && part == MDL_PART_EMBEDDING)
    return 0;
  double bytes = coming_of (plan, block->trained_dense, block->trained_expert);
  if (shares && part == MDL_PART_HEAD)
    bytes += coming_of (plan, plan->part[MDL_PART_EMBEDDING].block[0].trained_dense, 0);
  return bytes;
}

/* The backward pass of a position, block by block. */
static Load
find_back (const Plan *plan, guint32 position, const Gathered *g, PassKind kind)
{
  const gboolean whole = (plan->model->query.recompute & MDL_MODULE_LAYER) != 0;
  const Load none = { 0 };
  Load most = { 0 }, now = { 0 };
  double root = 0; /* elements of gradients of the root group, whole */
  for (guint32 u = n_units (plan, position); u-- > 0;) {
    MdlPart part = part_at (plan, position, u);
    const Unit *unit = unit_at (plan, position, u);
    double again_B = 0;
    for (guint k = 0; whole && k < unit->n; k++)
      again_B += unit->block[k].held[0].again_B;
    for (guint k = unit->n; k-- > 0;) {
      const Block *block = &unit->block[k];
      const MdlActivationBytes *held = &block->held[kind == PASS_THERE];
      double besides_B = whole ? again_B : held->again_B;
      now.buffers_B = buffers_at (plan, g, part, unit) + root * plan->unit_B;
      raise_to (&most, &now, &(Load){ .activations_B = besides_B + held->working_B });
      now.activations_B -= held->kept_B;
      again_B -= whole ? held->again_B : 0;
      if (kind == PASS_COMES)
        now.gradients_B += coming_B (plan, position, part, block);
      raise_to (&most, &now, &(Load){ .activations_B = again_B + held->tail_B });
      if (plan->shards && !is_layer (part))
        root += block->trained_dense;
    }
  }
  now.buffers_B = plan->shards ? g->root_B + root * (plan->unit_B + plan->reduce_B) : 0;
  raise_to (&most, &now, &none);
  return most;
}

/* Buffers of what comes from other stages, in eager code: of all micro-batches. */
static double
boundaries (const Plan *plan, guint32 position, double *kept_B)
{
  const TrnModel *model = plan->model;
  gboolean first = position == 0, last = position + 1 == model->n_positions;
  double one_B = mdl_memory_boundary_B (&model->llm, &model->query), m = (double)model->pipe.m / mdl_schedule_copies (&model->pipe);
  if (model->pipe.p == 1)
    return 0;
  if (!plan->eager)
    return ((first ? 0 : 1) + (last ? 0 : 1)) * one_B;
  *kept_B += (last ? 0 : one_B) - (first ? 0 : one_B); /* what it sent; what came lies in its buffer */
  return ((first ? 0 : 1) + (last ? 0 : 1)) * m * one_B;
}

static Chunk
chunk_of (const Plan *plan, guint32 position, double *buffers_B)
{
  Chunk chunk = { .position = position };
  const Gathered g = gathered_of (plan, position);
  for (guint32 u = 0; u < n_units (plan, position); u++) {
    const Unit *unit = unit_at (plan, position, u);
    for (guint k = 0; k < unit->n; k++) {
      const Block *block = &unit->block[k];
      chunk.kept_B += block->held[0].kept_B;
      chunk.late_B += block->held[0].late_B;
      chunk.gradients_B += coming_of (plan, block->trained_dense, block->trained_expert);
    }
  }
  *buffers_B += boundaries (plan, position, &chunk.kept_B);
  chunk.forward_buffers_B = plan->shards ? g.root_B + (g.keeps ? g.all_B : fmin (g.all_B, (g.ahead + 1) * g.layer_B)) : 0;
  for (int kind = 0; kind < PASS_N; kind++)
    chunk.back[kind] = find_back (plan, position, &g, (PassKind)kind);
  return chunk;
}

/* ---- a stage ---- */

/* Elements of a stage, and those that are trained; a head that shares the embedding's table has one of its own on another rank.
 * *layers: those in layers. */
static Count
count_stage (const Plan *plan, const Chunk *chunk, guint32 chunks, double *layers)
{
  Count sum = { 0 };
  gboolean embedding = FALSE, head = FALSE;
  *layers = 0;
  for (guint32 c = 0; c < chunks; c++)
    for (guint32 u = 0; u < n_units (plan, chunk[c].position); u++) {
      MdlPart part = part_at (plan, chunk[c].position, u);
      const Count one = count_of (unit_at (plan, chunk[c].position, u));
      embedding = embedding || part == MDL_PART_EMBEDDING;
      head = head || part == MDL_PART_HEAD;
      *layers += is_layer (part) ? one.dense + one.expert : 0;
      sum.dense += one.dense;
      sum.expert += one.expert;
      sum.trained_dense += one.trained_dense;
      sum.trained_expert += one.trained_expert;
    }
  if (head && !embedding && (plan->model->llm.tied.v || plan->model->mtp > 0)) {
    const Count table = count_of (&plan->part[MDL_PART_EMBEDDING]);
    sum.dense += table.dense;
    sum.trained_dense += table.trained_dense;
  }
  return sum;
}

/* Copies of weights in other formats that stay over a step: of autocast, of the layers' narrow products. */
static double
copies_B (const Plan *plan, const Count *count, double layers)
{
  const MdlLayerQuery *query = &plan->model->query;
  if (query->lora_rank > 0 && query->base != MDL_FORMAT_NONE) /* in their place */
    return layers / (plan->shards ? plan->dense_ranks : 1) * (mdl_base_B (query->base) - plan->param_B);
  if (query->compute == MDL_FORMAT_FP8 || query->compute == MDL_FORMAT_FP4)
    return plan->shards ? 0 : layers * plan->spec->weight_copies.v * mdl_format_B (query->compute);
  return !plan->shards && plan->param_B > plan->unit_B ? (count->dense + count->expert) * plan->unit_B : 0;
}

/* A gradient of inputs that its gradient of weights follows at once is one backward pass, but where PyTorch runs them as two. */
static gboolean
is_whole (const Plan *plan, const GArray *turns, guint i)
{
  const MdlTurn *turn = &g_array_index (turns, MdlTurn, i);
  gboolean apart = plan->eager && mdl_schedule_facts (plan->model->pipe.schedule)->never_joins;
  if (apart || turn->kind != MDL_TURN_INPUT_GRADIENT || i + 1 >= turns->len)
    return FALSE;
  const MdlTurn *next = &g_array_index (turns, MdlTurn, i + 1);
  return next->kind == MDL_TURN_WEIGHT_GRADIENT && next->chunk == turn->chunk && next->micro_batch == turn->micro_batch;
}

/* One turn of the schedule. */
static void
take_turn (const Plan *plan, const Chunk *chunk, const MdlTurn *turn, gboolean *there, Load *now, Load *most)
{
  const Load none = { 0 };
  Load during = *now;
  gboolean comes = (plan->dense_comes || plan->expert_comes) && !*there;
  switch (turn->kind) {
    case MDL_TURN_FORWARD:
      now->activations_B += chunk->kept_B;
      during.activations_B = now->activations_B;
      during.buffers_B += chunk->forward_buffers_B;
      raise_to (most, &during, &none);
      return;
    case MDL_TURN_INPUT_GRADIENT:
      raise_to (most, &during, &chunk->back[PASS_INPUT]);
      now->activations_B += chunk->late_B - chunk->kept_B;
      raise_to (most, now, &none);
      return;
    case MDL_TURN_WEIGHT_GRADIENT:
      now->gradients_B += comes ? chunk->gradients_B : 0;
      raise_to (most, now, &none);
      now->activations_B -= chunk->late_B;
      break;
    case MDL_TURN_BACKWARD:
    case MDL_TURN_KINDS:
    default:
      raise_to (most, &during, &chunk->back[comes ? PASS_COMES : PASS_THERE]);
      now->activations_B -= chunk->kept_B;
      now->gradients_B += comes ? chunk->gradients_B : 0;
      break;
  }
  *there = TRUE;
}

static Load
walk (const Plan *plan, const Chunk *chunk, guint32 chunks, const GArray *turns, double *in_flight)
{
  g_autofree gboolean *there = g_new0 (gboolean, chunks);
  Load now = { 0 }, most = { 0 };
  for (guint i = 0; i < turns->len; i++) {
    MdlTurn turn = g_array_index (turns, MdlTurn, i);
    if (is_whole (plan, turns, i)) {
      turn.kind = MDL_TURN_BACKWARD;
      i++;
    }
    take_turn (plan, &chunk[turn.chunk], &turn, &there[turn.chunk], &now, &most);
  }
  *in_flight = mdl_schedule_peak (turns, NULL, NULL);
  return most;
}

/* ---- of all stages ---- */

/* Of a stage: what its turns make, however its states are shared. */
typedef struct {
  Load most;
  double in_flight, buffers_B, largest_B, layers;
  Count count;
} Turns;

struct TrnMemoryTurns {
  double capacity_B;
  Turns stage[]; /* by pipeline rank */
};

static Turns
turns_of (const Plan *plan, guint32 stage, const GArray *order)
{
  const TrnModel *model = plan->model;
  guint32 chunks = mdl_schedule_chunks (&model->pipe);
  g_autofree Chunk *chunk = g_new0 (Chunk, chunks);
  g_autoptr (GArray) own = order == NULL ? mdl_schedule_order (&model->pipe, stage) : NULL;
  Turns out = { 0 };
  for (guint32 c = 0; c < chunks; c++) {
    chunk[c] = chunk_of (plan, mdl_schedule_position (&model->pipe, (MdlPlace){ stage, c }), &out.buffers_B);
    for (guint32 u = 0; u < n_units (plan, chunk[c].position); u++) {
      const Count one = count_of (unit_at (plan, chunk[c].position, u));
      out.largest_B = fmax (out.largest_B, (one.trained_dense + one.trained_expert) * plan->reduce_B);
    }
  }
  out.count = count_stage (plan, chunk, chunks, &out.layers);
  out.most = walk (plan, chunk, chunks, order != NULL ? order : own, &out.in_flight);
  return out;
}

static TrnMemory
stage_memory (const Plan *plan, const Turns *turns, guint32 stage, double capacity, double n_comms)
{
  const TrnModel *model = plan->model;
  const MdlMemorySpec *spec = plan->spec;
  const Count *count = &turns->count;
  double buffers_B = turns->buffers_B;
  if (model->sync == TRN_SYNC_GRADIENTS) /* whole gradients on their way */
    buffers_B += model->spec->ddp.bucket.set ? model->spec->ddp.bucket.v : turns->largest_B;
  TrnMemory m = {
    .stage = stage, .rank = trn_grid_rank (&model->grid, stage, 0), .capacity_B = capacity, .in_flight = turns->in_flight
  };
  m.weights_B = (plan->shards ? shared (plan, count->dense, count->expert) : count->dense + count->expert) * plan->param_B +
                copies_B (plan, count, turns->layers);
  m.optimizer_B = shared (plan, count->trained_dense, count->trained_expert) * plan->state_B;
  double all_B = gradients_of (plan, count->trained_dense, count->trained_expert) * plan->gradient_B;
  m.gradients_B = turns->most.gradients_B + all_B - coming_of (plan, count->trained_dense, count->trained_expert);
  buffers_B += (plan->outside ? all_B : 0) + (trn_model_copies_gradients (model) ? all_B : 0);
  m.activations_B = turns->most.activations_B;
  m.buffers_B = turns->most.buffers_B + buffers_B;
  m.allocated_B = m.weights_B + m.optimizer_B + m.gradients_B + m.activations_B + m.buffers_B + spec->workspace.v;
  m.reserved_B = m.allocated_B * (1 + spec->fragmentation.v);
  m.other_B = spec->workspace.v + m.reserved_B - m.allocated_B + spec->context.v;
  m.buffers_B += n_comms > 0 ? spec->communication.v + n_comms * spec->communicator.v : 0;
  m.total_B = m.weights_B + m.gradients_B + m.optimizer_B + m.activations_B + m.buffers_B + m.other_B;
  m.fits = capacity <= 0 || m.total_B <= capacity;
  return m;
}

/* ---- of all stages, remembered ---- */

/* All that turns_of() reads, as words, and what it said. */
typedef struct {
  guint hash;
  guint n;         /* words of the question; behind them those of Turns, by pipeline rank */
  guint64 words[]; /* numbers with a fraction by their bits */
} Seen;

struct TrnMemoryCache {
  GHashTable *known; /* Seen */
  gsize size_B;
};

enum { SEEN_MOST_B = 8 << 20 };

static guint
hash_seen (gconstpointer key)
{
  return ((const Seen *)key)->hash;
}

static gboolean
same_seen (gconstpointer a, gconstpointer b)
{
  const Seen *x = a, *y = b;
  return x->n == y->n && memcmp (x->words, y->words, x->n * sizeof *x->words) == 0;
}

TrnMemoryCache *
trn_memory_cache_new (void)
{
  TrnMemoryCache *seen = g_new0 (TrnMemoryCache, 1);
  seen->known = g_hash_table_new_full (hash_seen, same_seen, g_free, NULL);
  return seen;
}

void
trn_memory_cache_free (TrnMemoryCache *seen)
{
  if (seen == NULL)
    return;
  g_hash_table_unref (seen->known);
  g_free (seen);
}

static void
ask_words (const Plan *plan, GArray *words)
{
  const TrnModel *model = plan->model;
  const MdlPipeline *pipe = &model->pipe;
  const TrnFsdpSpec *fsdp = &model->spec->model.fsdp;
  const double numbers[] = { plan->eager,
                             plan->shards,
                             plan->dense_comes,
                             plan->expert_comes,
                             model->sync,
                             pipe->schedule,
                             pipe->p,
                             pipe->v,
                             pipe->m,
                             model->n_positions,
                             model->mtp,
                             model->query.recompute,
                             model->llm.tied.v,
                             fsdp->head.set,
                             fsdp->reshard.v,
                             fsdp->prefetch.v,
                             plan->unit_B,
                             plan->gradient_B,
                             plan->gather_B,
                             plan->reduce_B,
                             plan->dense_ranks,
                             plan->expert_ranks,
                             mdl_memory_boundary_B (&model->llm, &model->query) };
  g_array_append_vals (words, numbers, G_N_ELEMENTS (numbers));
  for (int p = 0; p < MDL_PART_NET; p++) {
    const guint64 n = plan->part[p].n;
    g_array_append_val (words, n);
    g_array_append_vals (words, plan->part[p].block, (guint)(n * sizeof (Block) / sizeof n));
  }
  for (guint32 i = 0; i < model->n_positions; i++) {
    const TrnStageLayers *cut = &model->cut[i];
    const guint64 word = (guint64)cut->first << 32 | cut->n << 2 | (cut->embedding ? 2u : 0u) | (cut->head ? 1u : 0u);
    g_array_append_val (words, word);
  }
  for (guint32 layer = 0; model->llm.moe.experts.v > 0 && layer < (guint32)model->llm.layers.v; layer++) {
    const guint64 moe = mdl_llm_is_moe (&model->llm, layer) ? 1 : 0;
    g_array_append_val (words, moe);
  }
}

/* What was seen of such a model, or is looked at now. Borrowed until the next call. */
static const Turns *
recall (TrnMemoryCache *seen, const Plan *plan, GArray *const *orders)
{
  G_STATIC_ASSERT (sizeof (Block) % sizeof (guint64) == 0 && sizeof (Turns) % sizeof (guint64) == 0);
  const guint header = (guint)(sizeof (Seen) / sizeof (guint64)), each = (guint)(sizeof (Turns) / sizeof (guint64));
  g_autoptr (GArray) words = g_array_sized_new (FALSE, TRUE, sizeof (guint64), 256);
  g_array_set_size (words, header);
  ask_words (plan, words);
  guint n = words->len - header, p = plan->model->pipe.p;
  guint64 hash = 14695981039346656037u;
  for (guint i = 0; i < n; i++)
    hash = (hash ^ hash >> 29 ^ g_array_index (words, guint64, header + i)) * 1099511628211u;
  Seen *query = (Seen *)(void *)words->data;
  query->hash = (guint)(hash >> 32);
  query->n = n;
  const Seen *known = g_hash_table_lookup (seen->known, query);
  if (known == NULL) {
    for (guint32 s = 0; s < p; s++) {
      const Turns turns = turns_of (plan, s, orders != NULL ? orders[s] : NULL);
      g_array_append_vals (words, &turns, each);
    }
    if (seen->size_B > SEEN_MOST_B) {
      g_hash_table_remove_all (seen->known);
      seen->size_B = 0;
    }
    seen->size_B += words->len * sizeof (guint64);
    Seen *one = g_memdup2 (words->data, words->len * sizeof (guint64));
    g_hash_table_add (seen->known, one);
    known = one;
  }
  return (const Turns *)(const void *)&known->words[n];
}

TrnMemoryTurns *
trn_memory_turns_new (const TrnModel *model, GArray *const *orders, TrnMemoryCache *seen)
{
  Plan plan;
  make_plan (model, &plan);
  guint32 p = model->pipe.p;
  TrnMemoryTurns *turns = g_malloc0 (sizeof *turns + p * sizeof *turns->stage);
  turns->capacity_B = trn_memory_capacity_B (model);
  if (seen != NULL)
    memcpy (turns->stage, recall (seen, &plan, orders), p * sizeof *turns->stage);
  for (guint32 s = 0; seen == NULL && s < p; s++)
    turns->stage[s] = turns_of (&plan, s, orders != NULL ? orders[s] : NULL);
  g_free (plan.net);
  return turns;
}

void
trn_memory_with (const TrnModel *model, const TrnMemoryTurns *turns, GArray *stages)
{
  Plan plan;
  open_plan (model, &plan);
  double n_comms = trn_memory_communicators (model);
  for (guint32 s = 0; s < model->pipe.p; s++) {
    const TrnMemory memory = stage_memory (&plan, &turns->stage[s], s, turns->capacity_B, n_comms);
    g_array_append_val (stages, memory);
  }
}

void
trn_model_memory (const TrnModel *model, GArray *stages)
{
  g_autofree TrnMemoryTurns *turns = trn_memory_turns_new (model, NULL, NULL);
  trn_memory_with (model, turns, stages);
}
