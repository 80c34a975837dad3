/* Which GPUs a model's ranks run on. Of several types the slowest is the one that kernels are priced on; pipeline ranks whose GPUs
 * are all faster take a share of its time. */
#include <math.h>

#include "model-private.h"

/* The FLOP of a network's sample and the bytes of its parameters. */
static double
net_s (const TrnModel *model, const MdlGpu *gpu)
{
  const MdlPrecision dtype = mdl_format_precision (model->query.compute);
  MdlLlmFlop flop;
  mdl_llm_token_flop (&model->llm, 1, 0, &flop);
  return (flop.matrix_flop + flop.attention_flop) * model->query.micro_batch / fmax (gpu->peak_flop_per_s[dtype], 1) +
         model->count.total * mdl_precision_size_B (dtype) / gpu->memory_Bps;
}

/* What one layer's products and its pass over the weights take on a GPU: forward of attention's and the MLP's matrices on one
 * micro-batch. It only compares types. */
static double
layer_s (const TrnModel *model, const MdlGpu *gpu)
{
  if (model->llm.net != NULL)
    return net_s (model, gpu);
  const MdlKernels *kernels = model->job->system->kernels;
  const MdlLlm *llm = &model->llm;
  const TrnModelSpec *m = &model->spec->model;
  const double tp = model->query.tp, wide = llm->mlp.ffn.v > 0 ? llm->mlp.ffn.v : llm->moe.ffn.v;
  const MdlPrecision dtype = mdl_format_precision (model->query.compute);
  MdlGemm gemm = { .m = fmax (floor (m->micro_batch.v * m->sequence.v / model->query.cp), 1),
                   .k = llm->hidden.v,
                   .dtype = dtype,
                   .sustained = TRUE,
                   .terse = TRUE };
  const double widths[] = { 4 * llm->hidden.v, 3 * wide };
  double time_s = 0, weights = 0;
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++) {
    gemm.n = fmax (floor (widths[i] / tp), 1);
    time_s += mdl_gemm_time_s (kernels, gpu, &gemm);
    weights += gemm.n * gemm.k;
  }
  const MdlMemory pass = { .kind = MDL_MEMORY_COPY,
                           .read_B = weights * mdl_precision_size_B (dtype),
                           .written_B = weights * mdl_precision_size_B (dtype),
                           .terse = TRUE };
  return time_s + mdl_memory_time_s (kernels, gpu, &pass);
}

static TrnGpuType *
type_of (GArray *types, const Clu *clu, guint32 node)
{
  const char *name = clu_gpu_spec (clu, node)->name.v;
  for (guint i = 0; i < types->len; i++)
    if (g_strcmp0 (g_array_index (types, TrnGpuType, i).gpu.name, name) == 0)
      return &g_array_index (types, TrnGpuType, i);
  TrnGpuType type = { 0 };
  col_gpu_facts (clu, node, &type.gpu);
  g_array_append_val (types, type);
  return &g_array_index (types, TrnGpuType, types->len - 1);
}

static guint32
gpu_of (const TrnModel *model, guint32 rank)
{
  return g_array_index (model->job->system->gpus, guint32, rank);
}

static guint32
node_of (const TrnModel *model, guint32 rank)
{
  const Clu *clu = model->job->system->clu;
  return clu_dev_node (clu, clu_gpu (clu, gpu_of (model, rank)));
}

guint32
trn_model_row (const TrnModel *model, guint32 rank)
{
  const Clu *clu = model->job->system->clu;
  const guint32 *gpu = &g_array_index (model->job->system->gpus, guint32, rank);
  const guint32 node = node_of (model, rank), most = MIN (clu_gpus_per_node (clu, node), model->grid.n - rank);
  guint32 n = 1;
  while (n < most && gpu[n] == gpu[0] + n)
    n++;
  while (n > 1 && node_of (model, rank + n - 1) != node)
    n--;
  return n;
}

void
trn_model_take_gpus (TrnModel *model)
{
  const Clu *clu = model->job->system->clu;
  GArray *types = g_array_new (FALSE, FALSE, sizeof (TrnGpuType));
  TrnGpuType *type = NULL;
  for (guint32 i = 0, n; i < model->grid.n; i += n) {
    n = trn_model_row (model, i);
    type = type_of (types, clu, node_of (model, i));
    type->first = type->ranks == 0 ? gpu_of (model, i) : type->first;
    type->ranks += n;
  }
  g_autofree guint32 *firsts = g_new (guint32, types->len);
  for (guint i = 0; i < types->len; i++)
    firsts[i] = g_array_index (types, TrnGpuType, i).first;
  col_gpu_facts (clu, col_gpu_slowest (clu, firsts, types->len), &model->gpu);
  if (types->len < 2 || model->job->system->kernels == NULL) { /* without constants only keys are checked */
    g_array_unref (types);
    return;
  }
  const double slowest_s = layer_s (model, &model->gpu);
  for (guint i = 0; i < types->len; i++) {
    type = &g_array_index (types, TrnGpuType, i);
    type->pace = fmin (layer_s (model, &type->gpu) / slowest_s, 1);
  }
  model->types = types;
}

double
trn_model_gpu_pace (const TrnModel *model, guint32 pp)
{
  double pace = 0;
  for (guint32 local = 0; model->types != NULL && local < trn_grid_locals (&model->grid); local++) {
    const guint32 node = node_of (model, trn_grid_rank (&model->grid, pp, local));
    pace = fmax (pace, type_of (model->types, model->job->system->clu, node)->pace);
  }
  return model->types == NULL ? 1 : pace;
}

double
trn_model_peak_flop_per_s (const TrnModel *model)
{
  const MdlPrecision precision = mdl_format_precision (model->query.compute);
  double sum = 0;
  for (guint i = 0; model->types != NULL && i < model->types->len; i++) {
    const TrnGpuType *type = &g_array_index (model->types, TrnGpuType, i);
    sum += type->ranks * type->gpu.peak_flop_per_s[precision];
  }
  return model->types == NULL ? model->gpu.peak_flop_per_s[precision] : sum / model->grid.n;
}

char *
trn_model_mixed (const TrnModel *model)
{
  if (model->types == NULL)
    return NULL;
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < model->types->len; i++) {
    const TrnGpuType *type = &g_array_index (model->types, TrnGpuType, i);
    g_string_append_printf (text, "%s%u %s", i == 0 ? "" : i + 1 < model->types->len ? ", " : " and ", type->ranks, type->gpu.name);
  }
  g_string_append_printf (text, ": ranks wait for the slowest type, %s", model->gpu.name);
  return g_string_free (text, FALSE);
}
