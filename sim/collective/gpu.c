/* What the models of kernels know of a cluster's GPU. */
#include "collective/gpu.h"

void
col_gpu_facts (const Clu *clu, guint32 node, MdlGpu *out)
{
  const CluGpuSpec *spec = clu_gpu_spec (clu, node);
  const BaseNum *peaks[MDL_PRECISION_N] = {
    [MDL_PRECISION_FP64] = &spec->peak.fp64, [MDL_PRECISION_FP32] = &spec->peak.fp32, [MDL_PRECISION_TF32] = &spec->peak.tf32,
    [MDL_PRECISION_FP16] = &spec->peak.fp16, [MDL_PRECISION_BF16] = &spec->peak.bf16, [MDL_PRECISION_FP8] = &spec->peak.fp8,
    [MDL_PRECISION_INT8] = &spec->peak.int8, [MDL_PRECISION_FP4] = &spec->peak.fp4,
  };
  *out = (MdlGpu){ .name = spec->name.v,
                   .capability = spec->compute_capability.v,
                   .sms = spec->compute_units.v,
                   .memory_B = spec->memory.v,
                   .memory_Bps = spec->memory_bandwidth.v,
                   .memory_efficiency = spec->memory_efficiency.set ? spec->memory_efficiency.v : 1, /* the data sheet's rate */
                   .power_W = spec->power.v,
                   .source = MIN (spec->memory_bandwidth.source, spec->memory.source) };
  if (!spec->memory_efficiency.set)
    out->source = BASE_SOURCE_ASSUMED;
  for (unsigned p = 0; p < MDL_PRECISION_N; p++) {
    out->peak_flop_per_s[p] = peaks[p]->v;
    if (peaks[p]->set)
      out->source = MIN (out->source, peaks[p]->source);
  }
}

/* Dense peak of what models are trained in; of a GPU without such units, of the next best. */
static double
training_peak (const CluGpuSpec *spec)
{
  return spec->peak.bf16.set ? spec->peak.bf16.v : spec->peak.fp16.set ? spec->peak.fp16.v : spec->peak.fp32.v;
}

guint32
col_gpu_slowest (const Clu *clu, const guint32 *gpus, guint32 n)
{
  guint32 slowest = CLU_NONE, seen = CLU_NONE;
  for (guint32 i = 0; i < n; i++) {
    const guint32 node = clu_dev_node (clu, clu_gpu (clu, gpus != NULL ? gpus[i] : i));
    if (node == seen)
      continue;
    seen = node;
    const CluGpuSpec *its = clu_gpu_spec (clu, node), *least = slowest != CLU_NONE ? clu_gpu_spec (clu, slowest) : NULL;
    if (least == NULL || training_peak (its) < training_peak (least) ||
        (training_peak (its) <= training_peak (least) && its->memory_bandwidth.v < least->memory_bandwidth.v))
      slowest = node;
  }
  return slowest;
}

double
col_link_rate_Bps (const CluLinkSpec *link)
{
  const CluLinkClass *link_class = link->link_class.value;
  if (link->rate.set)
    return link->rate.v;
  if (link_class == NULL)
    return 0;
  return (link->lanes.set ? link->lanes.v : link_class->lanes.v) * link_class->lane_rate.v;
}

double
col_nic_rate_Bps (const Clu *clu, guint32 node)
{
  const CluNicSpec *nic = clu_nic_spec (clu, node);
  const BaseNum *rate = &clu_node_spec (clu, node)->nics.rate;
  return nic == NULL ? 0 : rate->set ? rate->v : col_link_rate_Bps (&nic->port);
}
