/* Copies of a step with its hosts: which memory and which drive a rank has, and what all ranks take at once. */
#include "model-private.h"
#include "storage/copies.h"

/* A GPU and the memory that is nearest to it, or that memory and the drive that it shares with its like. */
static gboolean
host_pair (const TrnModel *model, guint32 rank, TrnHostCopy way, StoPair *pair, GError **error)
{
  const Clu *clu = model->job->system->clu;
  const CluDev gpu = clu_gpu (clu, g_array_index (model->job->system->gpus, guint32, rank));
  const guint32 node = clu_dev_node (clu, gpu), at = clu_dev_index (clu, gpu), gpus = clu_gpus_per_node (clu, node);
  const gboolean drives = way == TRN_HOST_READ || way == TRN_HOST_WRITE, out = way == TRN_HOST_OUT || way == TRN_HOST_WRITE;
  const guint32 memories = clu_node_n (clu, node, CLU_DEV_MEMORY), n = drives ? clu_node_n (clu, node, CLU_DEV_NVME) : 0;
  const CluDev memory = clu_node_device (clu, node, CLU_DEV_MEMORY, at * memories / gpus);
  const TrnOffloadSpec *offload = &model->spec->model.offload;
  if (memories == 0 || (drives && n == 0))
    return col_fail_at (error, drives ? offload->to.mark : offload->head.mark, "nodes of this topology have no %s%s",
                        drives ? "drives" : "host memory", drives ? "; accepted: to: cpu, or a topology with `nvme`" : "");
  const CluDev other = drives ? clu_node_device (clu, node, CLU_DEV_NVME, at * n / gpus) : gpu;
  const char *name = drives ? "drive" : "GPU";
  *pair = (StoPair){ out != drives ? other : memory, out != drives ? memory : other, out != drives ? name : "host",
                     out != drives ? "host" : name, 1 };
  return TRUE;
}

GPtrArray *
trn_host_copies (const TrnModel *model, guint32 pp, TrnHostCopy way, double size_B, GError **error)
{
  const guint32 n = trn_grid_locals (&model->grid);
  g_autofree StoPair *pair = g_new0 (StoPair, n);
  for (guint32 i = 0; i < n; i++)
    if (!host_pair (model, trn_grid_rank (&model->grid, pp, i), way, &pair[i], error))
      return NULL;
  const StoCopies copies = { .pair = pair, .n = n, .size_B = size_B, .count = 1, .in_flight = 64 };
  StoFault fault;
  return sto_copies_price (model->job->system->clu, &model->job->system->settings, &copies, &fault, error);
}
