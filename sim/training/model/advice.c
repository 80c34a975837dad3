#include "training/advice.h"

#include <math.h>
#include <stdarg.h>

#include "base/units.h"
#include "model-private.h"

const char *const trn_change_kind_names[TRN_CHANGE_KINDS] = {
  [TRN_CHANGE_HARDWARE] = "hardware",
  [TRN_CHANGE_SOFTWARE] = "software",
  [TRN_CHANGE_SENSITIVITY] = "sensitivity",
};

static void
free_change (gpointer data)
{
  TrnChange *change = data;
  g_free (change->what);
  g_ptr_array_unref (change->sets);
  g_free (change);
}

GPtrArray *
trn_changes_new (void)
{
  return g_ptr_array_new_with_free_func (free_change);
}

TrnChange *
trn_change_add (GPtrArray *changes, TrnChangeKind kind, const char *format, ...)
{
  TrnChange *change = g_new0 (TrnChange, 1);
  va_list args;
  va_start (args, format);
  change->what = g_strdup_vprintf (format, args);
  va_end (args);
  change->kind = kind;
  change->sets = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (changes, change);
  return change;
}

void
trn_change_set (TrnChange *change, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (change->sets, g_strdup_vprintf (format, args));
  va_end (args);
}

/* ---- hardware ---- */

static TrnChange *
double_rate (GPtrArray *changes, const char *what, const char *path, double rate_Bps)
{
  if (!(rate_Bps > 0))
    return NULL;
  g_autofree char *now = base_quantity_format (rate_Bps, BASE_DIM_BANDWIDTH, 6),
                  *twice = base_quantity_format (2 * rate_Bps, BASE_DIM_BANDWIDTH, 6);
  TrnChange *change = trn_change_add (changes, TRN_CHANGE_HARDWARE, "%s %s -> %s", what, now, twice);
  trn_change_set (change, "%s=%s", path, twice);
  return change;
}

/* Switches whose ports are as fast: as many ports, as quick to cross. */
static void
quicken_switches (const CluFabricSpec *fabric, TrnChange *change)
{
  const CluSwitchSpec *type = fabric->leaf.type.value;
  if (type == NULL)
    return;
  g_autofree char *latency =
      base_quantity_format (fabric->leaf.latency.set ? fabric->leaf.latency.v : type->latency.v, BASE_DIM_TIME, 6);
  trn_change_set (change, "topology.fabric.leaf={radix: %.0f, latency: %s}",
                  fabric->leaf.radix.set ? fabric->leaf.radix.v : type->radix.v, latency);
  if (fabric->spine.type.set)
    trn_change_set (change, "topology.fabric.spine=");
  if (fabric->core.type.set)
    trn_change_set (change, "topology.fabric.core=");
}

static void
add_hardware (const TrnModel *model, GPtrArray *changes)
{
  const Clu *clu = model->job->system->clu;
  const CluNodeSpec *node = clu_node_spec (clu, 0);
  const CluNicSpec *nic = clu_nic_spec (clu, 0);
  gboolean nvlink = node->nvlink.kind.v != CLU_SCALE_UP_NONE;
  CluLinkSpec up = clu_gpu_spec (clu, 0)->scale_up;
  if (node->nvlink.link.rate.set)
    up.rate = node->nvlink.link.rate;
  if (nic != NULL && clu_n_nodes (clu) > 1) {
    TrnChange *change = double_rate (changes, "NICs", "topology.node.nics.rate", col_nic_rate_Bps (clu, 0));
    if (change != NULL)
      quicken_switches (&clu_spec (clu)->fabric, change);
  }
  if (nvlink)
    double_rate (changes, "NVLink of each GPU", "topology.node.nvlink.link.rate", col_link_rate_Bps (&up));
}

/* ---- parallelism ---- */

/* A size twice, and half where it is even; what remains for dp follows. */
static void
add_size (const TrnModel *model, GPtrArray *changes, const char *key, guint32 now)
{
  const double factors[] = { 2, .5 };
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++) {
    double then = now * factors[i];
    if (factors[i] < 1 && now % 2 != 0)
      continue;
    TrnChange *change = trn_change_add (changes, TRN_CHANGE_SOFTWARE, "%s %u -> %.0f", key, now, then);
    trn_change_set (change, "workload.parallel.%s=%.0f", key, then);
    if (model->spec->parallel.dp.set)
      trn_change_set (change, "workload.parallel.dp=");
  }
}

static void
add_parallel (const TrnModel *model, GPtrArray *changes)
{
  const TrnModelSpec *m = &model->spec->model;
  guint32 pp = model->grid.size[TRN_DIM_PP];
  add_size (model, changes, "tp", model->grid.size[TRN_DIM_TP]);
  add_size (model, changes, "pp", pp);
  if (model->grid.size[TRN_DIM_CP] > 1)
    add_size (model, changes, "cp", model->grid.size[TRN_DIM_CP]);
  if (model->llm.moe.experts.v > 0)
    add_size (model, changes, "ep", model->grid.ep);
  trn_change_set (trn_change_add (changes, TRN_CHANGE_SOFTWARE, "micro-batch %.0f -> %.0f", m->micro_batch.v, 2 * m->micro_batch.v),
                  "workload.micro_batch=%.0f", 2 * m->micro_batch.v);
  if (m->micro_batch.v > 1)
    trn_change_set (
        trn_change_add (changes, TRN_CHANGE_SOFTWARE, "micro-batch %.0f -> %.0f", m->micro_batch.v, floor (m->micro_batch.v / 2)),
        "workload.micro_batch=%.0f", floor (m->micro_batch.v / 2));
  if (model->grid.size[TRN_DIM_TP] > 1 && !model->query.sp)
    trn_change_set (trn_change_add (changes, TRN_CHANGE_SOFTWARE, "sequence parallelism"), "workload.parallel.sp=true");
  if (model->sync == TRN_SYNC_REPLICAS)
    trn_change_set (trn_change_add (changes, TRN_CHANGE_SOFTWARE, "one process per GPU (DistributedDataParallel)"),
                    "workload.ddp={}");
  if (model->sync == TRN_SYNC_DDP)
    trn_change_set (trn_change_add (changes, TRN_CHANGE_SOFTWARE, "sharded optimizer (ZeRO-1)"), "workload.parallel.zero=1");
}

/* Other schedules that need neither more memory nor two copies of the model; some leave a choice of vp. */
static void
add_schedules (const TrnModel *model, GPtrArray *changes)
{
  if (model->pipe.p < 2)
    return;
  for (MdlSchedule other = 0; other < MDL_SCHEDULE_N; other++) {
    const MdlScheduleFacts *facts = mdl_schedule_facts (other);
    const char *name = base_name (mdl_schedule_names, (int)other);
    gboolean chosen = mdl_schedule_cuts (other) == 0;
    if (other == model->pipe.schedule || facts->grows_with_m || facts->pairs)
      continue;
    TrnChange *change = trn_change_add (changes, TRN_CHANGE_SOFTWARE, chosen ? "schedule %s, vp 2" : "schedule %s", name);
    trn_change_set (change, "workload.schedule=%s", name);
    trn_change_set (change, "workload.parallel.vp=%s", chosen ? "2" : "");
  }
  if (mdl_schedule_cuts (model->pipe.schedule) == 0)
    add_size (model, changes, "vp", model->pipe.v);
}

/* ---- how it is run ---- */

static void
add_overlap (const TrnModel *model, GPtrArray *changes)
{
  const TrnOverlapSpec *overlap = &model->spec->model.overlap;
  const struct {
    gboolean helps, on;
    const char *key, *what;
  } rows[] = {
    { model->grid.size[TRN_DIM_TP] > 1, overlap->tp.v, "tp", "tensor-parallel collectives" },
    { model->sync > TRN_SYNC_REPLICAS && model->sync != TRN_SYNC_SHARDS, overlap->gradients.v, "gradients", "gradient reductions" },
    { model->sync == TRN_SYNC_OPTIMIZER || model->sync == TRN_SYNC_GRADIENTS, overlap->parameters.v, "parameters",
      "parameter gathers" },
    { model->pipe.p > 1, overlap->p2p.v, "p2p", "sends between stages" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].helps)
      trn_change_set (trn_change_add (changes, rows[i].on ? TRN_CHANGE_SENSITIVITY : TRN_CHANGE_SOFTWARE, "%s %s compute",
                                      rows[i].what, rows[i].on ? "not overlapped with" : "overlapped with"),
                      "workload.overlap.%s=%s", rows[i].key, rows[i].on ? "false" : "true");
}

static void
add_buckets (const TrnModel *model, GPtrArray *changes)
{
  double now_B = model->spec->ddp.bucket.v;
  const double factors[] = { 2, 4 };
  if (model->sync != TRN_SYNC_DDP || !model->spec->model.overlap.gradients.v)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++) {
    g_autofree char *now = base_quantity_format (now_B, BASE_DIM_BYTES, 6),
                    *then = base_quantity_format (now_B * factors[i], BASE_DIM_BYTES, 6);
    trn_change_set (trn_change_add (changes, TRN_CHANGE_SOFTWARE, "gradient buckets %s -> %s", now, then), "workload.ddp.bucket=%s",
                    then);
  }
}

static void
add_software (const TrnModel *model, GPtrArray *changes)
{
  if (model->query.recompute != 0) {
    trn_change_set (trn_change_add (changes, TRN_CHANGE_SOFTWARE, "no recompute"), "workload.recompute=none");
    if ((model->query.recompute & MDL_MODULE_LAYER) != 0)
      trn_change_set (trn_change_add (changes, TRN_CHANGE_SOFTWARE, "selective recompute (core attention)"),
                      "workload.recompute={modules: [core_attention]}");
  }
  if (model->query.framework == MDL_FRAMEWORK_EAGER)
    trn_change_set (trn_change_add (changes, TRN_CHANGE_SOFTWARE, "fused kernels"), "workload.framework=fused");
}

static void
add_sensitivities (const TrnModel *model, GPtrArray *changes)
{
  const ColSystem *system = model->job->system;
  const guint32 nvls = 1u << MDL_ALGO_NVLS | 1u << MDL_ALGO_NVLS_TREE;
  trn_change_add (changes, TRN_CHANGE_SENSITIVITY, "no interference of compute and communication")->no_interference = TRUE;
  if (system->settings.library != NULL && clu_domain_has_sharp (system->clu) && (system->settings.disabled_algos & nvls) != nvls)
    trn_change_set (trn_change_add (changes, TRN_CHANGE_SENSITIVITY, "no NVLS (reduction in NVLink switches)"),
                    "nccl.NCCL_NVLS_ENABLE=0");
}

GPtrArray *
trn_advice_changes (const TrnJob *job)
{
  GPtrArray *changes = trn_changes_new ();
  g_auto (TrnModel) model = { 0 };
  if (job == NULL || job->spec.model.model == NULL || !trn_model_plan (job, &model, NULL))
    return changes;
  add_hardware (&model, changes);
  add_parallel (&model, changes);
  add_schedules (&model, changes);
  add_overlap (&model, changes);
  add_buckets (&model, changes);
  add_software (&model, changes);
  add_sensitivities (&model, changes);
  return changes;
}
