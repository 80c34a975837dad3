/* Workloads of kind `io`: reads and writes of storage. */
#include "jobs-private.h"
#include "workload/io_run.h"

static gboolean
check (const WrkScenario *scenario, GError **error)
{
  return wrk_check_io (&scenario->system, &scenario->io, error);
}

static gboolean
run (const WrkScenario *scenario, WrkResult *result, GError **error)
{
  return wrk_run_io (&scenario->system, &scenario->io, &result->io, &result->run, error);
}

static void
clear (WrkResult *result)
{
  wrk_io_result_clear (&result->io);
}

static double
time_s (const WrkResult *result)
{
  return result->io.time_s;
}

static const char *
bound_by (const WrkResult *result)
{
  return result->io.bound_by;
}

static gboolean
start (const WrkJob *job, const WrkResult *alone, WrkRunning *running, GError **error)
{
  (void)alone;
  running->io = wrk_io_run_new (&job->view.system, &job->view.io, error);
  if (running->io == NULL)
    return FALSE;
  running->at_once = 1;
  wrk_io_run_start (running->io, running->net, 0, wrk_running_ended, running, 0);
  wrk_io_run_count (running->io, running->net, 1);
  return TRUE;
}

const WrkKindOps wrk_kind_io = {
  .schema = &wrk_schema_io,
  .spec = G_STRUCT_OFFSET (WrkScenario, io),
  .check = check,
  .run = run,
  .clear = clear,
  .time_s = time_s,
  .bound_by = bound_by,
  .start = start,
};
