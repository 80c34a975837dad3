/* Activations and states that the host's memory holds in place of the GPU's.
 *
 * Activations of a layer leave once its forward pass has ended, in copies of their own stream; two layers have a buffer, so that
 * the third waits until the first has gone. In the backward pass the copy of a layer back begins when that of the layer
 * behind it does. Source: TransformerEngine transformer_engine/pytorch/cpu_offload.py (AsyncDoubleBufferGroupOffloadHandler).
 * States: gradients go to the host once they are summed, the host updates its part while the GPU updates its own, and parameters
 * come back. Drives are read and written beside the update. Source: Ren et al. 2101.06840 section 4 (ZeRO-Offload), Rajbhandari et
 * al. 2104.07857 section 6 (ZeRO-Infinity), Megatron-LM core/optimizer/cpu_offloading/hybrid_optimizer.py.
 * Left out: gradients that leave beside the backward pass (ZeRO-Offload), pinning of memory.
 * Check: test_training_offload. */
#include <math.h>

#include "cluster/storage.h"
#include "held-private.h"
#include "offload-private.h"

struct TrnOffloader {
  TrnBuild *b;
  guint32 lane;
  TrnHeld held;
  GHashTable *out; /* micro-batch, position and unit, packed -> EngTask + 1: the copy to the host */
  GHashTable *in;  /* the copy back */
};

TrnOffloader *
trn_offload_new (TrnBuild *b, guint32 lane)
{
  if (b->model->layers != NULL || b->model->spec->model.offload.layers.v < 1)
    return NULL;
  TrnOffloader *offload = g_new0 (TrnOffloader, 1);
  offload->b = b;
  offload->lane = lane;
  trn_held_make (b->model, &offload->held);
  offload->out = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  offload->in = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return offload;
}

void
trn_offload_free (TrnOffloader *offload)
{
  if (offload == NULL)
    return;
  g_hash_table_unref (offload->out);
  g_hash_table_unref (offload->in);
  g_free (offload);
}

static gint64
key_of (const TrnUnitPlace *at, guint32 unit)
{
  return (gint64)at->turn->micro_batch << 40 | (gint64)at->position << 20 | unit;
}

static gboolean
find (GHashTable *tasks, gint64 key, EngTask *task)
{
  gpointer there = g_hash_table_lookup (tasks, &key);
  *task = there != NULL ? GPOINTER_TO_UINT (there) - 1u : ENG_NO_TASK;
  return there != NULL;
}

static void
keep (GHashTable *tasks, gint64 key, EngTask task)
{
  g_hash_table_insert (tasks, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (task + 1u));
}

static gboolean
add_copy (TrnBuild *b, guint32 lane, TrnHostCopy way, double bytes, const char *name, EngTask *task, GError **error)
{
  const TrnPriced *priced = trn_prices_host (b->prices, lane, way, bytes, error);
  if (priced == NULL)
    return FALSE;
  const TrnTransfer transfer = { .priced = priced,
                                 .name = name,
                                 .lane = lane,
                                 .other = lane,
                                 .role = way == TRN_HOST_OUT || way == TRN_HOST_WRITE ? TRN_ROLE_OUT : TRN_ROLE_IN,
                                 .kind = TRN_STEP_OFFLOAD,
                                 .share = 1 };
  *task = trn_build_comm (b, &transfer);
  return TRUE;
}

/* The copy back of a unit, once `wait` have ended; nothing where it stays, or is on its way. */
static gboolean
bring (TrnOffloader *offload, const TrnUnitPlace *at, guint32 unit, const GArray *wait, GError **error)
{
  const double bytes = trn_held_away (&offload->held, at->position, unit);
  EngTask task, gone;
  if (bytes <= 0 || find (offload->in, key_of (at, unit), &task))
    return TRUE;
  if (!add_copy (offload->b, offload->lane, TRN_HOST_IN, bytes, "activations back", &task, error))
    return FALSE;
  trn_build_after (offload->b, task, wait);
  if (find (offload->out, key_of (at, unit), &gone))
    trn_build_after_one (offload->b, task, gone);
  keep (offload->in, key_of (at, unit), task);
  return TRUE;
}

gboolean
trn_offload_enter (TrnOffloader *offload, const TrnUnitPlace *at, GArray *wait, GError **error)
{
  EngTask task;
  if (offload == NULL)
    return TRUE;
  if (at->turn->kind == MDL_TURN_FORWARD) {
    if (at->unit > 1 && find (offload->out, key_of (at, at->unit - 2), &task))
      g_array_append_val (wait, task);
    return TRUE;
  }
  g_autoptr (GArray) begins = g_array_new (FALSE, FALSE, sizeof (EngTask));
  g_array_append_vals (begins, wait->data, wait->len);
  if (!bring (offload, at, at->unit, begins, error) || (at->unit > 0 && !bring (offload, at, at->unit - 1, begins, error)))
    return FALSE;
  if (find (offload->in, key_of (at, at->unit), &task))
    g_array_append_val (wait, task);
  return TRUE;
}

gboolean
trn_offload_leave (TrnOffloader *offload, const TrnUnitPlace *at, EngTask last, GError **error)
{
  const double bytes = offload != NULL ? trn_held_away (&offload->held, at->position, at->unit) : 0;
  EngTask task;
  if (bytes <= 0 || at->turn->kind != MDL_TURN_FORWARD)
    return TRUE;
  if (!add_copy (offload->b, offload->lane, TRN_HOST_OUT, bytes, "activations to the host", &task, error))
    return FALSE;
  trn_build_after_one (offload->b, task, last);
  keep (offload->out, key_of (at, at->unit), task);
  return TRUE;
}

/* ---- states of the optimizer ---- */

double
trn_offload_update_s (const TrnModel *model, double elements)
{
  const Clu *clu = model->job->system->clu;
  const MdlMemorySpec *spec = model->job->system->memory;
  const guint32 node = clu_dev_node (clu, clu_gpu (clu, g_array_index (model->job->system->gpus, guint32, 0)));
  const double gpus = clu_gpus_per_node (clu, node), known = clu_node_cores (clu, node), cores = known > 0 ? known / gpus : 16;
  const double bytes = elements * (4 * 4 + 3 * 4); /* gradient, master copy and two moments read; all but the gradient written */
  return bytes / (cores * spec->host_core.v) + bytes / spec->host_memory.v;
}

gboolean
trn_offload_update (TrnBuild *b, guint32 lane, double elements, EngTask ready, EngTask *end, GError **error)
{
  const TrnModel *model = b->model;
  const TrnOffloadSpec *offload = &model->spec->model.offload;
  const double states_B = elements * trn_model_moments_B (model);
  EngTask out, in, read = ENG_NO_TASK, written = ENG_NO_TASK;
  if (!add_copy (b, lane, TRN_HOST_OUT, elements * mdl_format_B (model->gradients), "gradients to the host", &out, error))
    return FALSE;
  trn_build_after_one (b, out, ready);
  if (offload->to.v == TRN_OFFLOAD_NVME) {
    if (!add_copy (b, lane, TRN_HOST_READ, states_B, "states from drives", &read, error) ||
        !add_copy (b, lane, TRN_HOST_WRITE, states_B, "states to drives", &written, error))
      return FALSE;
    trn_build_after_one (b, read, ready);
    trn_build_after_one (b, written, read); /* the same drives */
  }
  const EngTask update =
      trn_build_compute (b, lane, TRN_STEP_OPTIMIZER, trn_offload_update_s (model, elements), NULL, "optimizer on the host");
  trn_build_after_one (b, update, out);
  if (!add_copy (b, lane, TRN_HOST_IN, elements * mdl_format_B (model->parameters), "parameters back", &in, error))
    return FALSE;
  trn_build_after_one (b, in, update);
  if (read != ENG_NO_TASK)
    trn_build_after_one (b, in, read);
  *end = trn_build_compute (b, lane, TRN_STEP_JOIN, 0, NULL, NULL);
  trn_build_after_one (b, *end, in);
  if (written != ENG_NO_TASK)
    trn_build_after_one (b, *end, written);
  return TRUE;
}
