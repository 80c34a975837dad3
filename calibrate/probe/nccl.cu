/* The NCCL section: which settings, which cases, in which order. Each setting runs in a worker of its own, because NCCL reads its
 * variables once a process; this process does not start NCCL. What hangs is killed with its worker, and the rest goes on.
 *
 * Stages, the most valuable first, each with a share of the time by its weight; what one leaves goes to those after it:
 *   choice     what NCCL chooses, from its log; one run a size
 *   auto       NCCL's own choice: 2 and n GPUs, graphs, all operations
 *   ring_ll …  forced: ring and tree by each protocol; 2 and n GPUs, graphs; channels; threads; other counts
 *   auto       the other launches and counts, in the worker of before
 *   p2p_off    NCCL_P2P_DISABLE=1, few sizes */
#include "nccl_plan.h"

#include "nccl_lib.h"
#include "nccl_worker.h"
#include "probe_child.h"
#include "probe_core.h"
#include "probe_stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_S     30.0  /* without any line from a worker: it hangs */
#define END_PATIENCE_S 3.0   /* for a worker to take its communicators apart; its end frees the rest as well */
#define START_LEAST_S  4.0   /* a stage with less than this is over before its worker has started */
#define CASE_LEAST_S   0.015 /* samples of a short operation */
#define CASE_MOST_S    3.0
#define BUFFER_B       ((size_t)1 << 30)
#define FAILURES_MOST  3 /* of workers in a stage; then its setting is left alone */
#define XML_MOST       ((size_t)8 << 20)

typedef struct {
  Probe *probe;
  ProbeChild child, kept;
  const NcclStage *running, *waiting; /* whose worker `child` and `kept` are; NULL: none */
  char folder[64], log[96], xml[96];
  bool bad[PROBE_OP_N][PROBE_LAUNCH_N]; /* brought a worker of this stage down */
} Nccl;

/* ---- workers ---- */

static bool
is_stopped (void)
{
  return probe_interrupted ();
}

static void
stop_worker (Nccl *nccl, double patience_s)
{
  if (nccl->running != NULL)
    probe_child_end (&nccl->child, patience_s);
  nccl->running = NULL;
}

/* The worker idles while others measure: its communicators are made already when its turn comes again. */
static void
keep_worker (Nccl *nccl)
{
  nccl->kept = nccl->child;
  nccl->waiting = nccl->running;
  nccl->running = NULL;
}

/* False: `why` says it. */
static bool
start_worker (Nccl *nccl, const NcclStage *stage, char *why, size_t size)
{
  const ProbeOptions *options = probe_options (nccl->probe);
  char gpus[16], bytes[32], line[1024], log[128], xml[128];
  char self[] = "/proc/self/exe", option[] = NCCL_WORKER_OPTION, none[] = "-";
  char *library = options->nccl_library != NULL ? strdup (options->nccl_library) : strdup (none);
  snprintf (gpus, sizeof gpus, "%d", options->n_gpus);
  snprintf (bytes, sizeof bytes, "%zu", BUFFER_B);
  char *argv[] = { self, option, gpus, bytes, stage->choice ? nccl->log : none, library, NULL };
  const char *settings[NCCL_SETTINGS_MOST + 5];
  size_t n = 0;
  for (size_t i = 0; i < NCCL_SETTINGS_MOST && stage->setting[i] != NULL; i++)
    settings[n++] = stage->setting[i];
  if (stage->choice) {
    snprintf (log, sizeof log, "NCCL_DEBUG_FILE=%s", nccl->log);
    snprintf (xml, sizeof xml, "NCCL_TOPO_DUMP_FILE=%s", nccl->xml);
    settings[n++] = log;
    settings[n++] = xml;
    settings[n++] = "NCCL_DEBUG=INFO";
    settings[n++] = "NCCL_DEBUG_SUBSYS=TUNING,COLL,INIT,GRAPH";
  }
  settings[n] = NULL;
  bool ok = library != NULL && probe_child_start (&nccl->child, argv, settings);
  if (!ok)
    snprintf (why, size, "no worker could be started: %s", strerror (errno));
  free (library);
  if (!ok)
    return false;
  nccl->running = stage;
  ProbeChildState state = probe_child_answer (&nccl->child, PATIENCE_S, is_stopped, line, sizeof line);
  if (state == PROBE_CHILD_LINE && strncmp (line, "ready ", 6) == 0)
    return true;
  snprintf (why, size, "%s",
            state == PROBE_CHILD_LINE      ? line + (strncmp (line, "fatal ", 6) == 0 ? 6 : 0)
            : state == PROBE_CHILD_SILENT  ? "its worker did not start within 30 s"
            : state == PROBE_CHILD_STOPPED ? "interrupted"
                                           : "its worker ended at once");
  stop_worker (nccl, 0);
  return false;
}

/* ---- one case ---- */

static ProbeCase *
make_point (Nccl *nccl, const NcclStage *stage, const ProbeRequest *request)
{
  ProbeCase *point = probe_case (nccl->probe, "nccl", stage->choice ? "choice" : probe_op_name (request->op));
  if (stage->choice)
    probe_text (point, "op", probe_op_name (request->op));
  else
    probe_text (point, "setting", stage->name);
  probe_number (point, "gpus", request->gpus);
  probe_number (point, "bytes", (double)probe_op_bytes (request->op, request->bytes, request->gpus));
  if (stage->choice)
    return point;
  probe_text (point, "launch", probe_launch_name (request->launch));
  probe_flag (point, "in_place", request->in_place);
  probe_text (point, "algo", stage->algo);
  probe_text (point, "proto", stage->proto);
  if (request->channels > 0)
    probe_number (point, "channels", request->channels);
  probe_flag (point, "p2p", stage->p2p);
  return point;
}

static void
take_choice (Nccl *nccl, ProbeCase *point, const char *line)
{
  char algo[24], proto[16];
  int channels = -1;
  if (sscanf (line, "choice %23s %15s %d", algo, proto, &channels) != 3) {
    probe_point (nccl->probe, point, NULL, 0, "the worker's answer is no choice");
    return;
  }
  probe_text (point, "algo", algo);
  probe_text (point, "proto", proto);
  if (channels > 0)
    probe_number (point, "channels", channels);
  probe_fact (nccl->probe, point);
}

/* False: the worker is gone. */
static bool
ask (Nccl *nccl, const NcclStage *stage, const ProbeRequest *request)
{
  char line[8192], text[640];
  double sample[PROBE_SAMPLES_MOST];
  ProbeCase *point = make_point (nccl, stage, request);
  ProbeChildState state = PROBE_CHILD_ENDED;
  if (probe_request_write (request, line, sizeof line) && probe_child_ask (&nccl->child, line))
    state = probe_child_answer (&nccl->child, PATIENCE_S, is_stopped, line, sizeof line);
  if (state == PROBE_CHILD_LINE && strncmp (line, "fatal ", 6) != 0) {
    unsigned in_a_row;
    size_t n = probe_answer_read (line, &in_a_row, sample, PROBE_SAMPLES_MOST);
    if (n > 0)
      probe_number (point, "iters", in_a_row);
    if (stage->choice && strncmp (line, "choice ", 7) == 0)
      take_choice (nccl, point, line);
    else
      probe_point (nccl->probe, point, sample, n, strncmp (line, "error ", 6) == 0 ? line + 6 : "the worker's answer is no time");
    return true;
  }
  if (state == PROBE_CHILD_STOPPED) {
    probe_skip (nccl->probe, point, "interrupted");
    stop_worker (nccl, 0);
    return false;
  }
  snprintf (text, sizeof text, "%.600s",
            state == PROBE_CHILD_LINE     ? line + 6
            : state == PROBE_CHILD_SILENT ? "hangs: nothing came back for 30 s, the worker was killed"
                                          : "the worker ended");
  probe_point (nccl->probe, point, NULL, 0, text);
  stop_worker (nccl, 0);
  return false;
}

/* ---- what NCCL says of the machine ---- */

static void
keep_topology (Nccl *nccl)
{
  FILE *file = fopen (nccl->xml, "r");
  if (file == NULL)
    return;
  char *text = (char *)malloc (XML_MOST + 1);
  size_t n = text == NULL ? 0 : fread (text, 1, XML_MOST + 1, file);
  fclose (file);
  if (text == NULL || n == 0 || n > XML_MOST) {
    free (text);
    return;
  }
  text[n] = '\0';
  probe_topology (nccl->probe, text);
}

/* ---- stages ---- */

static double
case_share (double end_s, size_t cases_left)
{
  double share = (end_s - probe_now ()) / (double)cases_left;
  return share < CASE_LEAST_S ? CASE_LEAST_S : share > CASE_MOST_S ? CASE_MOST_S : share;
}

static bool
is_selected (Nccl *nccl, const NcclStage *stage, const ProbeRequest *request)
{
  return probe_selected (nccl->probe, "nccl", stage->choice ? "choice" : probe_op_name (request->op));
}

static void
list_stage (Nccl *nccl, const NcclStage *stage)
{
  for (size_t i = 0; i < stage->n; i++)
    if (is_selected (nccl, stage, &stage->request[i]))
      probe_list (nccl->probe, make_point (nccl, stage, &stage->request[i]));
}

static bool
begin_stage (Nccl *nccl, const NcclStage *stage)
{
  char why[1024];
  if (nccl->waiting != NULL && strcmp (nccl->waiting->name, stage->name) == 0) {
    nccl->child = nccl->kept;
    nccl->waiting = NULL;
    nccl->running = stage;
    return true;
  }
  if (start_worker (nccl, stage, why, sizeof why))
    return true;
  if (!probe_interrupted ())
    probe_note (nccl->probe, "nccl: %s is left out: %s", stage->name, why);
  return false;
}

static void
run_stage (Nccl *nccl, const NcclStage *stage, double end_s)
{
  size_t wanted = 0, left, asked = 0;
  unsigned failures = 0;
  for (size_t i = 0; i < stage->n; i++)
    wanted += is_selected (nccl, stage, &stage->request[i]);
  if (wanted == 0 || probe_stopped (nccl->probe))
    return;
  left = wanted;
  memset (nccl->bad, 0, sizeof nccl->bad);
  if (end_s - probe_now () < START_LEAST_S || !begin_stage (nccl, stage)) {
    if (end_s - probe_now () < START_LEAST_S)
      probe_note (nccl->probe, "nccl: %s: no time for its %zu cases", stage->name, wanted);
    return;
  }
  for (size_t i = 0; i < stage->n && !probe_stopped (nccl->probe) && probe_now () < end_s; i++) {
    ProbeRequest request = stage->request[i];
    if (!is_selected (nccl, stage, &request))
      continue;
    left--;
    if (nccl->bad[request.op][request.launch])
      continue;
    request.share_s = case_share (end_s, left + 1);
    request.target = probe_options (nccl->probe)->target;
    asked++;
    if (ask (nccl, stage, &request)) {
      if (stage->choice && asked == 1)
        keep_topology (nccl); /* the first has all GPUs */
      continue;
    }
    nccl->bad[request.op][request.launch] = true; /* a new worker is spared what this one died of */
    if (probe_interrupted () || ++failures >= FAILURES_MOST || !begin_stage (nccl, stage))
      break;
  }
  if (failures > 0 && !probe_interrupted ())
    probe_note (nccl->probe, "nccl: %s: its worker failed %u times; what it was asked is marked, and the like was left out",
                stage->name, failures);
  else if (left > 0 && !probe_interrupted ())
    probe_note (nccl->probe, "nccl: %s: time for %zu of %zu cases", stage->name, asked, wanted);
  if (stage->stays && nccl->running != NULL && !probe_interrupted ())
    keep_worker (nccl);
  stop_worker (nccl, probe_interrupted () ? 0 : END_PATIENCE_S);
}

static bool
make_folder (Nccl *nccl)
{
  snprintf (nccl->folder, sizeof nccl->folder, "/tmp/forerun-probe-XXXXXX"); /* not TMPDIR: NCCL cuts long names */
  if (mkdtemp (nccl->folder) == NULL)
    return false;
  snprintf (nccl->log, sizeof nccl->log, "%s/nccl.log", nccl->folder);
  snprintf (nccl->xml, sizeof nccl->xml, "%s/topology.xml", nccl->folder);
  return true;
}

static void
remove_folder (Nccl *nccl)
{
  unlink (nccl->log);
  unlink (nccl->xml);
  rmdir (nccl->folder);
}

static bool
has_wanted (Nccl *nccl, const NcclPlan *plan)
{
  for (size_t s = 0; s < plan->n; s++)
    for (size_t i = 0; i < plan->stage[s].n; i++)
      if (is_selected (nccl, &plan->stage[s], &plan->stage[s].request[i]))
        return true;
  return false;
}

static void
run_plan (Nccl *nccl, const NcclPlan *plan)
{
  double weights = 0;
  for (size_t s = 0; s < plan->n; s++)
    weights += plan->stage[s].weight;
  for (size_t s = 0; s < plan->n && !probe_stopped (nccl->probe); s++) {
    double share = probe_left (nccl->probe) * plan->stage[s].weight / weights;
    run_stage (nccl, &plan->stage[s], probe_now () + share);
    weights -= plan->stage[s].weight;
    probe_document_save_sometimes (nccl->probe);
  }
  if (nccl->waiting != NULL) { /* its turn did not come again */
    nccl->child = nccl->kept;
    nccl->running = nccl->waiting;
    nccl->waiting = NULL;
  }
  stop_worker (nccl, probe_interrupted () ? 0 : END_PATIENCE_S);
}

bool
probe_nccl (Probe *probe)
{
  static Nccl nccl;
  static NcclPlan plan;
  const ProbeOptions *options = probe_options (probe);
  const char *why = NULL;
  memset (&nccl, 0, sizeof nccl);
  nccl.probe = probe;
  if (options->n_gpus < 2) {
    probe_note (probe, "nccl: one GPU: there is nothing to measure");
    return true;
  }
  if (!nccl_plan_make (&plan, (unsigned)options->n_gpus, options->quick)) {
    probe_note (probe, "nccl: out of memory");
    return false;
  }
  bool ok = true;
  if (probe_listing (probe)) {
    for (size_t s = 0; s < plan.n; s++)
      list_stage (&nccl, &plan.stage[s]);
  } else if (!has_wanted (&nccl, &plan)) {
    ok = true; /* --only names something that is not here; main says so */
  } else if (!nccl_lib_open (options->nccl_library, &why)) {
    probe_note (probe, "nccl: %s", why);
    ok = false;
  } else if (!make_folder (&nccl)) {
    probe_note (probe, "nccl: %s: %s", nccl.folder, strerror (errno));
    ok = false;
  } else {
    run_plan (&nccl, &plan);
    remove_folder (&nccl);
  }
  nccl_plan_clear (&plan);
  return ok;
}
