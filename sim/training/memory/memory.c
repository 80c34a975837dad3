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

#include "held-private.h"

/* ---- a stage ---- */

/* Elements of a stage, and those that are trained; a head that shares the embedding's table has one of its own on another rank.
 * *layers: those in layers. */
static TrnHeldCount
count_stage (const TrnHeld *plan, const TrnHeldChunk *chunk, guint32 chunks, double *layers)
{
  TrnHeldCount sum = { 0 };
  gboolean embedding = FALSE, head = FALSE;
  *layers = 0;
  for (guint32 c = 0; c < chunks; c++)
    for (guint32 u = 0; u < trn_held_units (plan, chunk[c].position); u++) {
      MdlPart part = trn_held_part (plan, chunk[c].position, u);
      const TrnHeldCount one = trn_held_count (trn_held_unit (plan, chunk[c].position, u));
      embedding = embedding || part == MDL_PART_EMBEDDING;
      head = head || part == MDL_PART_HEAD;
      *layers += trn_held_is_layer (part) ? one.dense + one.expert : 0;
      sum.dense += one.dense;
      sum.expert += one.expert;
      sum.trained_dense += one.trained_dense;
      sum.trained_expert += one.trained_expert;
    }
  if (head && !embedding && (plan->model->llm.tied.v || plan->model->mtp > 0)) {
    const TrnHeldCount table = trn_held_count (&plan->part[MDL_PART_EMBEDDING][TRN_AGAIN_MODULES]);
    sum.dense += table.dense;
    sum.trained_dense += table.trained_dense;
  }
  return sum;
}

/* Copies of weights in other formats that stay over a step: of autocast, of the layers' narrow products. */
static double
copies_B (const TrnHeld *plan, const TrnHeldCount *count, double layers)
{
  const MdlLayerQuery *query = &plan->model->query;
  if (query->lora_rank > 0 && query->base != MDL_FORMAT_NONE) /* in their place */
    return layers / (plan->shards ? plan->dense_ranks : 1) * (mdl_base_B (query->base) - plan->param_B);
  const MdlScaling scaling = query->scaling;
  if (plan->shards && plan->model->only_narrow) /* beside the shards that are updated, those that are gathered */
    return layers / plan->dense_ranks;
  if (query->compute == MDL_FORMAT_FP8 || query->compute == MDL_FORMAT_FP4) {
    const double copies_B = scaling != MDL_SCALING_NONE ? mdl_scaled_weight_B (scaling, plan->model->gpu.capability)
                                                        : plan->spec->weight_copies.v * mdl_format_B (query->compute);
    return plan->shards ? 0 : layers * (copies_B - (plan->model->only_narrow ? plan->param_B : 0));
  }
  return !plan->shards && plan->param_B > plan->unit_B ? (count->dense + count->expert) * plan->unit_B : 0;
}

/* ---- of all stages ---- */

struct TrnMemoryTurns {
  double capacity_B;
  TrnHeldTurns stage[]; /* by pipeline rank */
};

TrnHeldTurns
trn_held_turns (const TrnHeld *plan, guint32 stage, const GArray *order)
{
  const TrnModel *model = plan->model;
  guint32 chunks = mdl_schedule_chunks (&model->pipe);
  g_autofree TrnHeldChunk *chunk = g_new0 (TrnHeldChunk, chunks);
  g_autoptr (GArray) own = order == NULL ? mdl_schedule_order (&model->pipe, stage) : NULL;
  TrnHeldTurns out = { 0 };
  for (guint32 c = 0; c < chunks; c++) {
    chunk[c] = trn_held_chunk (plan, mdl_schedule_position (&model->pipe, (MdlPlace){ stage, c }), &out.buffers_B);
    double chunk_B = 0;
    for (guint32 u = 0; u < trn_held_units (plan, chunk[c].position); u++) {
      const TrnHeldCount one = trn_held_count (trn_held_unit (plan, chunk[c].position, u));
      const double unit_B = (one.trained_dense + one.trained_expert) * plan->reduce_B;
      out.largest_B = fmax (out.largest_B, unit_B);
      chunk_B += unit_B;
    }
    out.chunk_B = fmax (out.chunk_B, chunk_B);
  }
  out.count = count_stage (plan, chunk, chunks, &out.layers);
  out.most = trn_held_walk (plan, chunk, chunks, order != NULL ? order : own, &out.in_flight, &out.away_B);
  return out;
}

static TrnMemory
stage_memory (const TrnHeld *plan, const TrnHeldTurns *turns, guint32 stage, double capacity, double n_comms)
{
  const TrnModel *model = plan->model;
  const MdlMemorySpec *spec = plan->spec;
  const TrnHeldCount *count = &turns->count;
  double buffers_B = turns->buffers_B;
  if (trn_model_reduces_in_rows (model)) /* one chunk's add up while another's leave */
    buffers_B += 2 * turns->chunk_B;
  else if (model->sync == TRN_SYNC_GRADIENTS) /* whole gradients on their way */
    buffers_B += model->spec->ddp.bucket.set ? model->spec->ddp.bucket.v : turns->largest_B;
  TrnMemory m = {
    .stage = stage, .rank = trn_grid_rank (&model->grid, stage, 0), .capacity_B = capacity, .in_flight = turns->in_flight
  };
  m.weights_B = (plan->shards ? trn_held_share (plan, count->dense, count->expert) : count->dense + count->expert) * plan->param_B +
                copies_B (plan, count, turns->layers);
  const double states_B = trn_held_share (plan, count->trained_dense, count->trained_expert) * plan->state_B;
  const double away = model->spec->model.offload.optimizer.v;
  m.optimizer_B = states_B * (1 - away);
  m.host_B = turns->away_B + (model->spec->model.offload.to.v == TRN_OFFLOAD_CPU ? states_B * away : 0);
  double all_B = trn_held_gradients (plan, count->trained_dense, count->trained_expert) * plan->gradient_B;
  m.gradients_B = turns->most.gradients_B + all_B - trn_held_coming (plan, count->trained_dense, count->trained_expert);
  buffers_B += (plan->outside ? all_B : 0) + (trn_model_copies_gradients (model) ? all_B : 0);
  m.activations_B = turns->most.activations_B;
  m.buffers_B = turns->most.buffers_B + buffers_B;
  m.allocated_B = m.weights_B + m.optimizer_B + m.gradients_B + m.activations_B + m.buffers_B + spec->workspace.v;
  const double outside_B = spec->context.v + (n_comms > 0 ? spec->communication.v + n_comms * spec->communicator.v : 0);
  const double tight = model->spec->model.allocator.v ? spec->fragmentation_expandable.v : spec->fragmentation_tight.v;
  m.least_B = m.allocated_B * (1 + tight) + outside_B;
  m.roomy_B = fmax (m.least_B, m.allocated_B * (1 + spec->fragmentation.v) + outside_B);
  m.total_B = trn_memory_taken_B (m.roomy_B, m.least_B, capacity);
  m.reserved_B = m.total_B - outside_B;
  m.other_B = spec->workspace.v + m.reserved_B - m.allocated_B + spec->context.v;
  m.buffers_B += outside_B - spec->context.v;
  m.fits = capacity <= 0 || m.least_B <= capacity;
  return m;
}
TrnMemoryTurns *
trn_memory_turns_new (const TrnModel *model, GArray *const *orders, TrnMemoryCache *seen)
{
  TrnHeld plan;
  trn_held_make (model, &plan);
  guint32 p = model->pipe.p;
  TrnMemoryTurns *turns = g_malloc0 (sizeof *turns + p * sizeof *turns->stage);
  turns->capacity_B = trn_memory_capacity_B (model);
  if (seen != NULL)
    memcpy (turns->stage, trn_held_recall (seen, &plan, orders), p * sizeof *turns->stage);
  for (guint32 s = 0; seen == NULL && s < p; s++)
    turns->stage[s] = trn_held_turns (&plan, s, orders != NULL ? orders[s] : NULL);
  g_free (plan.net);
  return turns;
}

void
trn_memory_with (const TrnModel *model, const TrnMemoryTurns *turns, GArray *stages)
{
  TrnHeld plan;
  trn_held_open (model, &plan);
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
