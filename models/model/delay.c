/* Weight gradients that wait (Megatron's `delay_wgrad_compute`, with passes run beside each other).
 *
 * A weight gradient is needed by nothing in its pass. Those of the experts come behind all other work of the experts, and run while
 * their gradients travel back; those of attention, shared experts and dense layers come behind the layer, and run while the layer
 * before it gets its gradients from the experts, or while a gradient travels to the stage before. The order of all else stays.
 * Collectives of tensor parallelism that ran beside weight gradients are then waited for where the gradient or operand is needed:
 * the pass beside hides them, or nothing does. Valid: tensor-parallel collectives that are not cut up with their products
 * (Transformer Engine delays no weight gradient whose operand comes in such a way).
 * Source: NVIDIA/Megatron-LM d98e8a6 megatron/core/models/common/model_chunk_schedule_plan.py (TransformerLayerSchedulePlan.run:
 * mlp.backward_dw beside moe_dispatch.backward, pre_dispatch_computation.backward_dw behind the layer), utils.py (backward_dw
 * records no event: what is sent does not wait for it).
 * Check: test_training_delay (same work, its order), law_training_work. */
#include "layer-private.h"

static const MdlWork *
work_at (const GArray *works, guint i)
{
  return &g_array_index (works, MdlWork, i);
}

static gboolean
sends_to_experts (const MdlWork *w)
{
  return w->kind == MDL_WORK_COLL && w->pass == MDL_PASS_DGRAD && w->coll.group == MDL_GROUP_EP;
}

static gboolean
waits (const MdlWork *w)
{
  return w->kind != MDL_WORK_COLL && w->pass == MDL_PASS_WGRAD;
}

/* New places of old works; a place between works belongs to the next one, or to the last one before, that kept its order. */
typedef struct {
  const gboolean *late;
  const int *to;
  int n;
} Places;

static int
last_before (const Places *p, int i)
{
  while (i >= 0 && p->late[i])
    i--;
  return i < 0 ? -1 : p->to[i];
}

static int
next_behind (const Places *p, int i)
{
  while (i < p->n && p->late[i])
    i++;
  return i < p->n ? p->to[i] : p->n;
}

void
mdl_build_delay_wgrad (GArray *works)
{
  const int n = (int)works->len;
  g_autofree gboolean *late = g_new0 (gboolean, (gsize)n + 1);
  g_autofree int *to = g_new0 (int, (gsize)n + 1), *order = g_new0 (int, (gsize)n + 1);
  g_autoptr (GArray) held = g_array_new (FALSE, FALSE, sizeof (int)); /* works that wait */
  int at = 0;
  for (int i = 0; i < n; i++) {
    late[i] = waits (work_at (works, (guint)i));
    if (late[i])
      g_array_append_val (held, i);
    else
      order[at++] = i;
    if (!sends_to_experts (work_at (works, (guint)i)))
      continue;
    for (guint k = 0; k < held->len; k++)
      order[at++] = g_array_index (held, int, k);
    g_array_set_size (held, 0);
  }
  for (guint k = 0; k < held->len; k++) {
    order[at++] = g_array_index (held, int, k);
    g_array_index (works, MdlWork, (guint)g_array_index (held, int, k)).delayed = TRUE;
  }
  for (int i = 0; i < n; i++)
    to[order[i]] = i;
  const Places places = { late, to, n };
  g_autofree MdlWork *old = g_memdup2 (works->data, (gsize)n * sizeof (MdlWork));
  for (int i = 0; i < n; i++) {
    MdlWork *w = &g_array_index (works, MdlWork, (guint)i);
    *w = old[order[i]];
    if (w->kind != MDL_WORK_COLL)
      continue;
    w->coll.after = last_before (&places, w->coll.after);
    w->coll.before = next_behind (&places, w->coll.before);
    w->coll.with = w->coll.with < 0 ? -1 : to[w->coll.with];
  }
}
