/* Workloads of kind `io`: reads and writes of storage. */
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
  return sto_run_io (&scenario->system, &scenario->io, &result->io, &result->run, error);
}

static void
clear (ScnResult *result)
{
  sto_io_result_clear (&result->io);
}

static double
time_s (const ScnResult *result)
{
  return result->io.time_s;
}

static const char *
bound_by (const ScnResult *result)
{
  return result->io.bound_by;
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
  .time_s = time_s,
  .bound_by = bound_by,
  .start = start,
};
