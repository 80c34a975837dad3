/* What the software that a training workload names makes of its times. */
#include <math.h>

#include "base/lookup.h"
#include "model-private.h"

#define DEFAULT_NAME "default" /* the row of workloads that name none */

/* What is asked for. */
static MdlSoftwareQuery
query_of (const TrnJob *job, MdlPrecision precision)
{
  const TrnSoftwareSpec *spec = &job->spec.model.software;
  MdlGpu gpu;
  col_gpu_facts (job->system->clu, 0, &gpu);
  return (MdlSoftwareQuery){ .name = spec->head.set ? spec->name.v : DEFAULT_NAME,
                             .year = spec->year.set ? spec->year.v : 0,
                             .capability = gpu.capability,
                             .precision = precision };
}

/* The row that holds; NULL: none of the name. */
static const MdlSoftwareRow *
find (const TrnJob *job, MdlPrecision precision, BaseSource *source)
{
  const MdlSoftwareQuery query = query_of (job, precision);
  return mdl_software_find (job->system->software, &query, source);
}

gboolean
trn_check_software (const TrnJob *job, GError **error)
{
  const TrnSoftwareSpec *spec = &job->spec.model.software;
  if (job->spec.model.model == NULL || !spec->head.set || spec->efficiency.set || find (job, MDL_PRECISION_BF16, NULL) != NULL)
    return TRUE;
  g_autofree char *names = mdl_software_names (job->system->software);
  g_auto (GStrv) list = g_strsplit (names, ", ", -1);
  g_autofree char *hint = base_hint (spec->name.v, (const char *const *)list);
  return col_fail_at (error, spec->name.mark,
                      "no efficiency of '%s' was measured%s; accepted: %s, or any name with an 'efficiency'", spec->name.v, hint,
                      names);
}

static void
take_row (TrnSoftware *out, const MdlSoftwareRow *row, double ranks)
{
  out->efficiency = row->efficiency.v;
  out->attention = row->attention.set ? row->attention.v : row->efficiency.v;
  out->optimizer = row->optimizer.set ? row->optimizer.v : row->efficiency.v;
  out->shows = row->kernel.set;
  out->sync_s = row->sync.v;
  out->replica_s = row->replica.v;
  out->kernel_s = row->kernel.v;
  out->collective_s = row->collective.v;
  out->shards_s = row->shards.set ? row->shards.v : row->collective.v;
  out->step_s = row->step.v;
  out->queues_sends = row->queues_sends.v;
  out->slowest = 1 + row->spread.v * mdl_software_slowest (ranks);
}

static void
take_buckets (TrnSoftware *out, const MdlBuckets *buckets)
{
  out->first_bucket_B = buckets->first.v;
  if (buckets->min_parameters.set) {
    out->bucket = buckets->min_parameters.v;
    out->bucket_per_rank = buckets->per_rank.v;
  }
}

void
trn_model_take_software (TrnModel *model)
{
  const TrnSoftwareSpec *spec = &model->spec->model.software;
  const BaseBool *overlap = &model->spec->model.overlap.tp;
  TrnSoftware *out = &model->software;
  *out = (TrnSoftware){
    .efficiency = 1, .attention = 1, .optimizer = 1, .slowest = 1, .bucket = HUGE_VAL, .source = BASE_SOURCE_ASSUMED
  };
  model->overlap_tp = overlap->v;
  if (model->job->system->software == NULL)
    return;
  take_buckets (out, &model->job->system->software->buckets);
  const MdlSoftwareRow *row = find (model->job, mdl_format_precision (model->query.compute), &out->source);
  if (row != NULL) {
    const MdlSoftwareQuery query = query_of (model->job, mdl_format_precision (model->query.compute));
    take_row (out, row, model->grid.n);
    out->row = row;
    out->differs = mdl_software_differs (row, &query);
    out->error = mdl_software_error (model->job->system->software, row, out->differs);
  }
  if (row != NULL && !overlap->set)
    model->overlap_tp = row->overlap_tp.v;
  if (spec->queues_sends.set)
    out->queues_sends = spec->queues_sends.v;
  out->queues_sends = out->queues_sends && mdl_schedule_is_listed (model->pipe.schedule);
  if (spec->efficiency.set) {
    out->attention *= spec->efficiency.v / out->efficiency;
    out->optimizer *= spec->efficiency.v / out->efficiency;
    out->efficiency = spec->efficiency.v;
    out->source = spec->efficiency.source;
    out->row = NULL;
    out->differs = 0;
    out->error = 0;
  }
  if (spec->attention.set)
    out->attention = spec->attention.v;
  if (spec->kernel.set) {
    out->shows = TRUE;
    out->kernel_s = spec->kernel.v;
  }
  if (spec->sync.set)
    out->sync_s = spec->sync.v;
  if (spec->collective.set)
    out->collective_s = out->shards_s = spec->collective.v;
}

double
trn_model_bucket_B (const TrnModel *model, guint32 lane, gboolean first, double element_B)
{
  const TrnDdpSpec *ddp = &model->spec->ddp;
  const TrnSoftware *software = &model->software;
  if (model->sync == TRN_SYNC_DDP)
    return ddp->bucket.set || !first || software->first_bucket_B <= 0 ? ddp->bucket.v : software->first_bucket_B;
  if (ddp->bucket.set)
    return ddp->bucket.v;
  if (MIN (lane, trn_grid_partner (&model->grid, lane)) > 0)
    return HUGE_VAL; /* all of a chunk in one piece */
  return element_B * fmax (software->bucket, software->bucket_per_rank * trn_grid_group_size (&model->grid, TRN_GROUP_DP));
}

void
trn_model_efficiency (const TrnModel *model, TrnEfficiency *out)
{
  const TrnSoftware *software = &model->software;
  const MdlSoftwareRow *row = software->row;
  *out = (TrnEfficiency){ .value = software->efficiency,
                          .attention = software->attention,
                          .error = software->error,
                          .differs = software->differs,
                          .source = software->source,
                          .format = row != NULL ? base_name (mdl_precision_names, row->precision.v) : NULL };
  if (row == NULL)
    return;
  out->framework = row->name.v;
  out->year = row->year.v;
  out->capability = row->capability.v;
  out->runs = row->runs.v;
}

gboolean
trn_efficiency (const TrnJob *job, TrnEfficiency *out, GError **error)
{
  g_auto (TrnModel) model = { 0 };
  if (!trn_model_plan (job, &model, error))
    return FALSE;
  trn_model_efficiency (&model, out);
  return TRUE;
}
