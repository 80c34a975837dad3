/* What is said of keys that change little, cost much or that no framework takes, once the step is known. */
#include "base/units.h"
#include "build-private.h"

/* A word that changes nothing is said, so that nobody looks for what it saves. */
static void
warn_selective (const TrnModel *model, ColRunInfo *info)
{
  const BaseYamlNode *node = model->spec->model.recompute;
  if (model->query.recompute == 0 && node != NULL && g_strcmp0 (base_yaml_text (node), "selective") == 0)
    col_run_warn (info, "'recompute: selective' equals none here: fused attention keeps no scores to recompute; write full, or "
                        "{modules: [norm, activation, …]}, to save memory");
}

/* Full recomputation keeps the input of a layer alone. */
static void
warn_offload (const TrnModel *model, const TrnResult *training, ColRunInfo *info)
{
  const TrnOffloadSpec *offload = &model->spec->model.offload;
  if (offload->layers.v < 1 || (model->query.recompute & MDL_MODULE_LAYER) == 0)
    return;
  g_autofree char *left = base_quantity_format (training->fullest.activations_B, BASE_DIM_BYTES, 4);
  col_run_warn (info,
                "'recompute: full' leaves only the inputs of layers to offload, and %s of activations stay; write recompute: none, "
                "or leave 'layers' of offload out (Megatron-LM accepts one of the two)",
                left);
}

/* Plain data parallelism shares out nothing: each rank does the Newton-Schulz products of all matrices. */
static void
warn_muon (const TrnModel *model, const TrnResult *training, ColRunInfo *info)
{
  const double part = training->part_s[TRN_PART_OPTIMIZER] / training->step_time_s;
  if (model->spec->model.optimizer.v != MDL_OPTIMIZER_MUON || model->sync != TRN_SYNC_DDP || training->dp < 2 || part < 0.02)
    return;
  g_autofree char *takes = base_quantity_format (training->part_s[TRN_PART_OPTIMIZER], BASE_DIM_TIME, 4);
  col_run_warn (info,
                "each of %u data-parallel ranks orthogonalises all matrices (Muon): the update takes %s, %.1f %% of the step; "
                "write parallel: {zero: 1} to share the matrices out",
                training->dp, takes, 100 * part);
}

static void
warn_overlap (const TrnModel *model, ColRunInfo *info)
{
  if (model->spec->model.overlap.ep.v && (model->query.recompute & MDL_MODULE_LAYER) != 0)
    col_run_warn (info, "Megatron-LM refuses 'overlap: {ep: true}' with 'recompute: full'; write recompute: {modules: […]}");
}

/* Likely a slip. Rows say what was measured up to a year. */
static void
warn_year (const TrnModel *model, const TrnResult *training, ColRunInfo *info)
{
  const TrnSoftwareSpec *spec = &model->spec->model.software;
  if (!spec->year.set || model->job->system->software == NULL)
    return;
  const double newest = mdl_software_newest (model->job->system->software, spec->name.v);
  if (newest > 0 && spec->year.v > newest + 1)
    col_run_warn (info,
                  "no efficiency of '%s' %.0f was measured: the newest is of %.0f, and here the row of %.0f is taken; write the "
                  "year of the release",
                  spec->name.v, spec->year.v, newest, training->efficiency.year);
}

void
trn_step_warn_keys (const TrnModel *model, const TrnResult *training, ColRunInfo *info)
{
  warn_selective (model, info);
  warn_offload (model, training, info);
  warn_muon (model, training, info);
  warn_overlap (model, info);
  warn_year (model, training, info);
}
