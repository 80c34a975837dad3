/* The memory of all stages in short: the fullest one, its largest part, what a checkpoint saves of it; what a GPU has, and
 * what communicators take. */
#include <math.h>

#include "model-private.h"

/* Communicators of a rank that hold buffers: of all ranks, and one a group. */
double
trn_memory_communicators (const TrnModel *model)
{
  static const TrnGroupKind kinds[] = {
    TRN_GROUP_TP, TRN_GROUP_CP, TRN_GROUP_EP, TRN_GROUP_ETP, TRN_GROUP_SHARD, TRN_GROUP_REPLICA
  };
  double n = model->grid.n > 1 ? 1 : 0;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    n += trn_grid_group_size (&model->grid, kinds[i]) > 1 ? 1 : 0;
  n += model->grid.ep * model->grid.etp > 1 && model->grid.edp > 1 ? 1 : 0;
  return n + (model->pipe.p > 1 ? 1 : 0);
}

/* What the ranks' GPUs leave to programs, the smallest of them. */
double
trn_memory_capacity_B (const TrnModel *model)
{
  const Clu *clu = model->job->system->clu;
  double least_B = HUGE_VAL;
  for (guint32 i = 0; i < model->grid.n; i += trn_model_row (model, i)) {
    guint32 node = clu_dev_node (clu, clu_gpu (clu, g_array_index (model->job->system->gpus, guint32, i)));
    const CluGpuSpec *gpu = clu_gpu_spec (clu, node);
    least_B = fmin (least_B, gpu->memory_usable.set ? gpu->memory_usable.v : gpu->memory.set ? gpu->memory.v : HUGE_VAL);
  }
  return isfinite (least_B) ? least_B : 0;
}

gboolean
trn_model_fsdp_copies (const TrnModel *model)
{
  const TrnFsdpSpec *fsdp = &model->spec->model.fsdp;
  return !fsdp->head.set || fsdp->copies.v;
}

gboolean
trn_model_reduces_in_rows (const TrnModel *model)
{
  return model->sync == TRN_SYNC_GRADIENTS && model->pipe.v > 1 && mdl_schedule_cuts (model->pipe.schedule) == 0;
}

/* Shards of FSDP2 are parameters, and so are their gradients; Megatron-FSDP's have buffers of their own. */
MdlFormat
trn_model_held_gradients (const TrnModel *model)
{
  return model->sync == TRN_SYNC_SHARDS && trn_model_fsdp_copies (model) ? model->parameters : model->gradients;
}

double
trn_model_moments_B (const TrnModel *model)
{
  const TrnModelSpec *spec = &model->spec->model;
  /* local steps: outer parameters and their momentum in fp32, a part on each rank of a worker */
  const double parts = trn_model_parts (model) ? 1 : trn_grid_group_size (&model->grid, TRN_GROUP_SHARD);
  const double outer_B = trn_local_steps (model) ? 8 / parts : 0;
  return mdl_format_B (model->master) + outer_B +
         mdl_optimizer_moments_B ((MdlOptimizer)spec->optimizer.v, &model->llm, model->moment);
}

double
trn_memory_taken_B (double roomy_B, double least_B, double capacity_B)
{
  return capacity_B <= 0 || roomy_B <= capacity_B ? roomy_B : fmax (least_B, capacity_B);
}

gboolean
trn_memory_turns_of_any_zero (const TrnModel *model)
{
  return model->query.framework != MDL_FRAMEWORK_EAGER && model->sync != TRN_SYNC_SHARDS;
}

const TrnMemory *
trn_memory_fullest (const GArray *stages)
{
  const TrnMemory *fullest = &g_array_index (stages, TrnMemory, 0);
  for (guint i = 1; i < stages->len; i++)
    if (g_array_index (stages, TrnMemory, i).least_B > fullest->least_B)
      fullest = &g_array_index (stages, TrnMemory, i);
  return fullest;
}

const char *
trn_memory_largest (const TrnMemory *memory, double *bytes)
{
  const struct {
    const char *name;
    double bytes;
  } terms[] = { { "weights", memory->weights_B },     { "gradients", memory->gradients_B },
                { "optimizer", memory->optimizer_B }, { "activations", memory->activations_B },
                { "buffers", memory->buffers_B },     { "other", memory->other_B } };
  guint at = 0;
  for (guint i = 1; i < G_N_ELEMENTS (terms); i++)
    at = terms[i].bytes > terms[at].bytes ? i : at;
  if (bytes != NULL)
    *bytes = terms[at].bytes;
  return terms[at].name;
}

void
trn_model_state (const TrnModel *model, const GArray *stages, double *state_B, double *restore_B)
{
  double parameter_B = mdl_format_B (model->parameters);
  double moments_B = trn_model_moments_B (model);
  double ranks = trn_grid_locals (&model->grid), adapters_B = 0;
  *restore_B = 0;
  for (guint i = 0; i < stages->len; i++) {
    const TrnMemory *memory = &g_array_index (stages, TrnMemory, i);
    gboolean shared = model->sync == TRN_SYNC_OPTIMIZER || model->sync == TRN_SYNC_GRADIENTS || model->sync == TRN_SYNC_SHARDS;
    double distinct = model->grid.size[TRN_DIM_TP] * (shared ? trn_grid_group_size (&model->grid, TRN_GROUP_SHARD) : 1);
    adapters_B += memory->optimizer_B * distinct;
    *restore_B += (memory->weights_B + memory->optimizer_B) * ranks;
  }
  *state_B = model->query.lora_rank > 0 ? adapters_B * (1 + (moments_B > 0 ? parameter_B / moments_B : 0))
                                        : model->count.total * (parameter_B + moments_B);
}
