/* A service among other jobs: what its users see, beside what they see alone. */
#include "jobs-private.h"
#include "serving-private.h"

static ScnJobService
service_of (const SrvRunResult *run)
{
  return (ScnJobService){ .ttft_p50_s = run->ttft.p50,
                          .ttft_p99_s = run->ttft.p99,
                          .tpot_p50_s = run->tpot.p50,
                          .tpot_p99_s = run->tpot.p99,
                          .transfer_s = run->transfer.n > 0 ? run->transfer.time_s : 0,
                          .duration_s = run->duration_s };
}

/* Its steps are events of its own, between which it runs the engine of all. */
gboolean
scn_serving_drive (const ScnJob *job, ScnJobResult *out, ColNet *net, ColRunInfo *info, GError **error)
{
  SrvRunResult run = { 0 };
  out->serves = TRUE;
  if (net == NULL) {
    const ScnServingResult *alone = out->alone->own;
    out->service_alone = out->service = service_of (&alone->run);
    out->alone_s = alone->run.e2e.mean;
    return TRUE;
  }
  ScnServingTrace trace = { .info = info, .job = job->name };
  if (!scn_serving_play_once (&job->view, net, info->spans != NULL ? &trace : NULL, &run, error))
    return FALSE;
  scn_serving_trace_end (&trace);
  out->service = service_of (&run);
  out->time_s = run.e2e.mean;
  return TRUE;
}
