/* The NCCL section of one node: one worker has all its GPUs, a child of this process. */
#include "nccl_section.h"
#include "nccl_worker.h"
#include "probe_child.h"
#include "probe_core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  Probe *probe;
  ProbeChild child, kept;
  const NcclStage *running, *waiting; /* whose worker `child` and `kept` are; NULL: none */
  NcclFiles files;
} Local;

static bool
is_stopped (void)
{
  return probe_interrupted ();
}

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

static bool
spawn (Local *local, const NcclStage *stage, char *why, size_t size)
{
  const ProbeOptions *options = probe_options (local->probe);
  char gpus[16], bytes[32], log[NCCL_FILES_TEXT], xml[NCCL_FILES_TEXT];
  char self[] = "/proc/self/exe", option[] = NCCL_WORKER_OPTION, none[] = "-";
  char *library = options->nccl_library != NULL ? strdup (options->nccl_library) : strdup (none);
  snprintf (gpus, sizeof gpus, "%d", options->n_gpus);
  snprintf (bytes, sizeof bytes, "%zu", NCCL_BUFFER_B);
  char *argv[] = { self, option, gpus, bytes, stage->choice ? local->files.log : none, library, NULL };
  const char *settings[NCCL_SETTINGS_MOST + NCCL_FILES_SETTINGS + 1];
  size_t n = 0;
  for (size_t i = 0; i < NCCL_SETTINGS_MOST && stage->setting[i] != NULL; i++)
    settings[n++] = stage->setting[i];
  if (stage->choice) {
    n += nccl_files_xml_settings (&local->files, xml, settings + n);
    n += nccl_files_log_settings (&local->files, log, settings + n);
  }
  settings[n] = NULL;
  bool ok = library != NULL && probe_child_start (&local->child, argv, settings);
  if (!ok)
    snprintf (why, size, "no worker could be started: %s", strerror (errno));
  free (library);
  return ok;
}

static bool
start (void *user, const NcclStage *stage, double end_s, char *why, size_t size)
{
  (void)end_s; /* one process makes its communicators in a second or two, and what hangs is known after NCCL_PATIENCE_S */
  Local *local = (Local *)user;
  char line[1024];
  if (local->waiting != NULL && strcmp (local->waiting->name, stage->name) == 0) {
    local->child = local->kept;
    local->waiting = NULL;
    local->running = stage;
    return true;
  }
  if (!spawn (local, stage, why, size))
    return false;
  local->running = stage;
  ProbeChildState state = probe_child_answer (&local->child, NCCL_PATIENCE_S, is_stopped, line, sizeof line);
  if (state == PROBE_CHILD_LINE && strncmp (line, "ready ", 6) == 0)
    return true;
  snprintf (why, size, "%s",
            state == PROBE_CHILD_LINE      ? line + (strncmp (line, "fatal ", 6) == 0 ? 6 : 0)
            : state == PROBE_CHILD_SILENT  ? "its worker did not start within 30 s"
            : state == PROBE_CHILD_STOPPED ? "interrupted"
                                           : "its worker ended at once");
  stop (local, 0);
  return false;
}

static NcclAsked
ask (void *user, const ProbeRequest *request, double end_s, char *line, size_t size)
{
  (void)end_s;
  Local *local = (Local *)user;
  ProbeChildState state = PROBE_CHILD_ENDED;
  if (probe_request_write (request, line, size) && probe_child_ask (&local->child, line))
    state = probe_child_answer (&local->child, NCCL_PATIENCE_S, is_stopped, line, size);
  if (state == PROBE_CHILD_STOPPED)
    return NCCL_ASKED_STOPPED;
  if (state == PROBE_CHILD_LINE && strncmp (line, "fatal ", 6) != 0)
    return NCCL_ASKED_LINE;
  if (state == PROBE_CHILD_LINE)
    memmove (line, line + 6, strlen (line + 6) + 1);
  else
    snprintf (line, size, "%s",
              state == PROBE_CHILD_SILENT ? "hangs: nothing came back for 30 s, the worker was killed" : "the worker ended");
  return NCCL_ASKED_FAILED;
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
  if (options->n_gpus < 2) {
    probe_note (probe, "nccl: one GPU: there is nothing to measure");
    return true;
  }
  bool ok = nccl_plan_make (&plan, (unsigned)options->n_gpus, options->quick);
  if (!ok)
    probe_note (probe, "nccl: out of memory");
  if (ok && !probe_listing (probe)) {
    ok = nccl_files_make (&local.files);
    if (!ok)
      probe_note (probe, "nccl: %s: %s", local.files.folder, strerror (errno));
  }
  if (ok) {
    NcclCrew crew = { &local, local.files.xml, start, ask, stop, keep };
    ok = nccl_section_run (probe, &plan, &crew, false);
    if (local.waiting != NULL) { /* its turn did not come again */
      local.child = local.kept;
      local.running = local.waiting;
      local.waiting = NULL;
    }
    stop (&local, 0);
    if (!probe_listing (probe))
      nccl_files_remove (&local.files);
  }
  nccl_plan_clear (&plan);
  return ok;
}
