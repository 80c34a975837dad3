/* The NCCL section of one node: one worker has all its GPUs, a child of this process. */
#include "nccl_section.h"
#include "probe_child.h"
#include "probe_core.h"

#include <errno.h>
#include <string.h>

typedef struct {
  Probe *probe;
  ProbeChild child, kept;
  const NcclStage *running, *waiting; /* whose worker `child` and `kept` are; NULL: none */
  NcclFiles files;
} Local;

/* ---- the worker ---- */

static void
stop (void *user, double patience_s)
{
  Local *local = (Local *)user;
  if (local->running != NULL)
    probe_child_end (&local->child, patience_s);
  local->running = NULL;
}

/* The worker idles while others measure: its communicators are made already when its turn comes again. */
static void
keep (void *user)
{
  Local *local = (Local *)user;
  if (local->running == NULL)
    return;
  local->kept = local->child;
  local->waiting = local->running;
  local->running = NULL;
}

static void
take_kept (Local *local)
{
  local->child = local->kept;
  local->running = local->waiting;
  local->waiting = NULL;
}

static bool
spawn (Local *local, const NcclStage *stage)
{
  const ProbeOptions *options = probe_options (local->probe);
  NcclCommand command;
  NcclSettings settings;
  nccl_settings_make (&settings, stage, options, &local->files);
  if (stage->choice)
    nccl_settings_add_log (&settings, &local->files);
  nccl_command_make (&command, options, options->gpus, -1, &local->files);
  return probe_child_start (&local->child, stage->choice ? command.argv_with_log : command.argv, settings.item) ||
         probe_fail ("no worker could be started: %s", strerror (errno));
}

static bool
start (void *user, const NcclStage *stage, double end_s)
{
  (void)end_s; /* one process makes its communicators in a second or two, and what hangs is known after NCCL_PATIENCE_S */
  Local *local = (Local *)user;
  char line[1024];
  if (local->waiting != NULL && strcmp (local->waiting->name, stage->name) == 0) {
    take_kept (local);
    return true;
  }
  if (!spawn (local, stage))
    return false;
  local->running = stage;
  ProbeChildState state = probe_child_answer (&local->child, NCCL_PATIENCE_S, probe_interrupted, line, sizeof line);
  if (state == PROBE_CHILD_LINE && strncmp (line, "ready ", 6) == 0)
    return true;
  probe_fail ("%s", state == PROBE_CHILD_LINE      ? line + (strncmp (line, "fatal ", 6) == 0 ? 6 : 0)
                    : state == PROBE_CHILD_SILENT  ? "its worker did not start within 30 s"
                    : state == PROBE_CHILD_STOPPED ? "interrupted"
                                                   : "its worker ended at once");
  stop (local, 0);
  return false;
}

static NcclReply
query (void *user, const ProbeRequest *request, double end_s, char line[NCCL_LINE_MOST])
{
  (void)end_s;
  Local *local = (Local *)user;
  ProbeChildState state = PROBE_CHILD_ENDED;
  if (probe_request_write (request, line, NCCL_LINE_MOST) && probe_child_request (&local->child, line))
    state = probe_child_answer (&local->child, NCCL_PATIENCE_S, probe_interrupted, line, NCCL_LINE_MOST);
  if (state == PROBE_CHILD_STOPPED)
    return NCCL_REPLY_STOPPED;
  if (state == PROBE_CHILD_LINE && strncmp (line, "fatal ", 6) != 0)
    return NCCL_REPLY_LINE;
  probe_fail ("%s", state == PROBE_CHILD_LINE     ? line + 6
                    : state == PROBE_CHILD_SILENT ? "hangs: nothing came back for 30 s, the worker was killed"
                                                  : "the worker ended");
  return NCCL_REPLY_FAILED;
}

/* ---- the section ---- */

bool
probe_nccl (Probe *probe)
{
  static Local local;
  static NcclPlan plan;
  const ProbeOptions *options = probe_options (probe);
  memset (&local, 0, sizeof local);
  local.probe = probe;
  if (options->gpus < 2) {
    probe_note (probe, "nccl: one GPU: there is nothing to measure");
    return true;
  }
  bool ok = (nccl_plan_make (&plan, options->gpus, options->quick) || probe_fail ("out of memory")) &&
            (options->list || nccl_files_make (&local.files));
  if (ok) {
    NcclWorkers workers = { &local, local.files.xml, start, query, stop, keep };
    ok = nccl_section_run (probe, &plan, &workers, false);
    if (local.waiting != NULL) /* its turn did not come again */
      take_kept (&local);
    stop (&local, 0);
    if (!options->list)
      nccl_files_remove (&local.files);
  } else {
    probe_note (probe, "nccl: %s", probe_why ());
  }
  nccl_plan_clear (&plan);
  return ok;
}
