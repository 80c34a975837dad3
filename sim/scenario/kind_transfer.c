/* Workloads of kind `transfer`: copies between devices. */
#include <math.h>

#include "jobs-private.h"

static gboolean
check (const Scn *scenario, GError **error)
{
  return sto_check_transfer (&scenario->system, &scenario->transfer, error);
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  StoTransferResult *out = &result->transfer;
  clu_route_init (&out->route);
  if (!sto_run_transfer (&scenario->system, &scenario->transfer, out, &result->run, error))
    return FALSE;
  g_autofree char *lane = g_strdup_printf ("%s -> %s", out->from, out->to);
  col_run_two_spans (&result->run, lane, fmin (out->cost.latency_s, out->time_s), out->time_s, out->bytes);
  return TRUE;
}

static void
clear (ScnResult *result)
{
  sto_transfer_result_clear (&result->transfer);
}

static gboolean
start (const ScnJob *job, const ScnResult *alone, ScnRunning *running, GError **error)
{
  const StoTransferResult *transfer = &alone->transfer;
  double at_once = 0;
  (void)job;
  (void)error;
  for (guint i = 0; transfer->copies != NULL && i < transfer->copies->len; i++) {
    sto_transfer_flow (running->net, transfer, i, running->uses, &running->spec);
    scn_running_start_flows (running, transfer->count, 1);
    at_once += transfer->count;
  }
  running->at_once = at_once;
  sto_transfer_count (running->net, transfer);
  return TRUE;
}

const ScnKindOps scn_kind_transfer = {
  .schema = &sto_schema_transfer,
  .spec = G_STRUCT_OFFSET (Scn, transfer),
  .check = check,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnResult, "time_s", transfer.time_s),
  .bound = BASE_MEMBER (ScnResult, "bound_by", transfer.bound_by),
  .start = start,
};
