/* Workloads of kind `transfer`: copies between devices. */
#include <math.h>

#include "jobs-private.h"

static gboolean
check (const WrkScenario *scenario, GError **error)
{
  return wrk_check_transfer (&scenario->system, &scenario->transfer, error);
}

static gboolean
run (const WrkScenario *scenario, WrkResult *result, GError **error)
{
  WrkTransferResult *out = &result->transfer;
  clu_route_init (&out->route);
  if (!wrk_run_transfer (&scenario->system, &scenario->transfer, out, &result->run, error))
    return FALSE;
  g_autofree char *lane = g_strdup_printf ("%s -> %s", out->from, out->to);
  wrk_run_two_spans (&result->run, lane, fmin (out->cost.latency_s, out->time_s), out->time_s, out->bytes);
  return TRUE;
}

static void
clear (WrkResult *result)
{
  wrk_transfer_result_clear (&result->transfer);
}

static double
time_s (const WrkResult *result)
{
  return result->transfer.time_s;
}

static const char *
bound_by (const WrkResult *result)
{
  return result->transfer.bound_by;
}

static gboolean
start (const WrkJob *job, const WrkResult *alone, WrkRunning *running, GError **error)
{
  const WrkTransferResult *transfer = &alone->transfer;
  double at_once = 0;
  (void)job;
  (void)error;
  for (guint i = 0; transfer->copies != NULL && i < transfer->copies->len; i++) {
    wrk_transfer_flow (running->net, transfer, i, running->uses, &running->spec);
    wrk_running_start_flows (running, transfer->count, 1);
    at_once += transfer->count;
  }
  running->at_once = at_once;
  wrk_transfer_count (running->net, transfer);
  return TRUE;
}

const WrkKindOps wrk_kind_transfer = {
  .schema = &wrk_schema_transfer,
  .spec = G_STRUCT_OFFSET (WrkScenario, transfer),
  .check = check,
  .run = run,
  .clear = clear,
  .time_s = time_s,
  .bound_by = bound_by,
  .start = start,
};
