/* Workloads of kind `io`: reads and writes of storage. */
#include <math.h>

#include "jobs-private.h"
#include "storage/io_run.h"

static gboolean
check (const Scn *scenario, GError **error)
{
  return sto_check_io (&scenario->system, &scenario->io, error);
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  StoIoResult *io = &result->io;
  if (!sto_run_io (&scenario->system, &scenario->io, io, &result->run, error))
    return FALSE;
  if (result->run.spans == NULL)
    return TRUE;
  const char *op = base_name (mdl_io_op_names, (int)io->op);
  char *lane = g_strdup_printf ("%s (%.0f clients)", io->tier, io->clients);
  const double burst_s = fmin (io->burst_s, io->time_s);
  if (burst_s > 0)
    col_run_span (&result->run, g_strdup (lane), g_strdup_printf ("%s on burst credits", op), 0, burst_s);
  if (io->time_s > burst_s)
    col_run_span (&result->run, g_strdup (lane), g_strdup_printf ("%s, %.0f B", op, io->bytes), burst_s, io->time_s);
  g_free (lane);
  return TRUE;
}

static void
clear (ScnResult *result)
{
  sto_io_result_clear (&result->io);
}

static gboolean
start (const ScnJob *job, const ScnResult *alone, ScnRunning *running, GError **error)
{
  (void)alone;
  running->io = sto_io_run_new (&job->view.system, &job->view.io, error);
  if (running->io == NULL)
    return FALSE;
  running->at_once = 1;
  sto_io_run_start (running->io, running->net, 0, scn_running_ended, running, 0);
  sto_io_run_count (running->io, running->net, 1);
  return TRUE;
}

const ScnKindOps scn_kind_io = {
  .schema = &sto_schema_io,
  .spec = G_STRUCT_OFFSET (Scn, io),
  .check = check,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnResult, "time_s", io.time_s),
  .bound = BASE_MEMBER (ScnResult, "bound_by", io.bound_by),
  .start = start,
};
