#include "nccl_worker.h"

#include "nccl_run.h"
#include "probe_child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define INHERITED_MOST 1024 /* file numbers of the parent that may be open here: its GPUs' */
#define MEMORY_SHARE   4    /* of a GPU's free memory, at most a fourth for each of two buffers */
#define BUFFER_LEAST_B ((size_t)1 << 20)
#define LOG_LINE_MOST  4096

static FILE *answers;

/* A line to the parent. Without it nobody listens any more. */
static void answer (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

static void
answer (const char *format, ...)
{
  va_list list;
  va_start (list, format);
  int n = vfprintf (answers, format, list);
  va_end (list);
  if (n < 0 || putc ('\n', answers) == EOF || fflush (answers) != 0)
    _exit (1);
}

static void
say_alive (void)
{
  answer (".");
}

/* "error WHY" or "fatal WHY", a line whatever NCCL says. False: the worker ends. */
static bool
answer_failure (NcclEnd end)
{
  char why[PROBE_REASON_MOST];
  snprintf (why, sizeof why, "%s", probe_why ());
  for (char *c = why; *c != '\0'; c++)
    if (*c == '\n' || *c == '\r')
      *c = ' ';
  answer ("%s %s", end == NCCL_BROKEN ? "fatal" : "error", why);
  return end != NCCL_BROKEN;
}

static bool
open_gpu (NcclWorker *worker, unsigned i, bool spin)
{
  size_t free_B = 0, total_B = 0;
  /* Waiting threads spin where every GPU's has a processor to itself: waking up from sleep takes longer than a small operation. */
  if (!PROBE_CUDA (cudaSetDevice (worker->device[i])) ||
      !PROBE_CUDA (cudaSetDeviceFlags (spin ? cudaDeviceScheduleSpin : cudaDeviceScheduleYield)) || !PROBE_CUDA (cudaFree (0)) ||
      !PROBE_CUDA (cudaMemGetInfo (&free_B, &total_B)) ||
      !PROBE_CUDA (cudaStreamCreateWithFlags (&worker->stream[i], cudaStreamNonBlocking)) ||
      !PROBE_CUDA (cudaMalloc (&worker->wrong[i], sizeof *worker->wrong[i])))
    return false;
  while (worker->capacity_B > free_B / MEMORY_SHARE && worker->capacity_B > BUFFER_LEAST_B)
    worker->capacity_B /= 2;
  return true;
}

/* `device` < 0: all of the first worker->n. `node_gpus`: in use on this machine, by this process or others. */
static bool
open_worker (NcclWorker *worker, int device, unsigned node_gpus)
{
  long processors = sysconf (_SC_NPROCESSORS_ONLN);
  worker->alone = device < 0;
  worker->buffers = nccl_buffers_named (getenv ("FORERUN_PROBE_BUFFERS"));
  worker->team = probe_team_new (worker->n);
  if (worker->team == NULL)
    return probe_fail ("no threads to be had");
  bool ok = true;
  for (unsigned i = 0; i < worker->n && ok; i++) {
    worker->device[i] = device < 0 ? (int)i : device;
    ok = open_gpu (worker, i, processors > (long)node_gpus);
    say_alive ();
  }
  for (unsigned i = 0; i < worker->n && ok; i++) {
    ok = PROBE_CUDA (cudaSetDevice (worker->device[i])) && nccl_buffer_make (worker->buffers, worker->capacity_B, &worker->in[i]) &&
         nccl_buffer_make (worker->buffers, worker->capacity_B, &worker->out[i]);
    say_alive ();
  }
  return ok;
}

/* The last choice in what the log has grown by. False: none. */
static bool
newest_choice (FILE *log, ProbeChoice *out)
{
  char line[LOG_LINE_MOST];
  bool found = false;
  clearerr (log); /* the end of before is not the end of now */
  while (fgets (line, sizeof line, log) != NULL)
    found = probe_choice_read (line, out) || found;
  return found;
}

/* False: the worker ends; so the next ones. */
static bool
serve_choice (NcclWorker *worker, const ProbeRequest *request, FILE **log, const char *log_path)
{
  ProbeChoice choice;
  NcclEnd end = nccl_run_once (worker, request);
  if (end != NCCL_DONE)
    return answer_failure (end);
  if (strcmp (log_path, "-") == 0) { /* another rank keeps the log */
    answer ("ran");
    return true;
  }
  if (*log == NULL)
    *log = fopen (log_path, "r"); /* NCCL makes it when it first has something to say */
  if (*log != NULL && newest_choice (*log, &choice))
    answer ("choice %s %s %d", choice.algo, choice.proto, choice.channels);
  else
    answer ("error NCCL's log does not say what it chose");
  return true;
}

static bool
serve_case (NcclWorker *worker, const ProbeRequest *request)
{
  NcclSamples samples;
  NcclEnd end = nccl_run_case (worker, request, &samples);
  if (end != NCCL_DONE)
    return answer_failure (end);
  fprintf (answers, "ok %u", samples.in_a_row);
  for (size_t i = 0; i < samples.n; i++)
    fprintf (answers, " %.9g", samples.sample_s[i]);
  answer ("%s", "");
  return true;
}

/* ---- one rank among others ---- */

static bool
serve_id (void)
{
  ncclUniqueId id;
  unsigned char bytes[PROBE_ID_BYTES];
  char line[2 * PROBE_ID_BYTES + 16];
  if (!nccl_ok (ncclGetUniqueId (&id), "ncclGetUniqueId"))
    return answer_failure (NCCL_BROKEN);
  memcpy (bytes, &id, sizeof bytes);
  probe_id_write (bytes, line, sizeof line);
  answer ("%s", line);
  return true;
}

static bool
serve_join (NcclWorker *worker, const ProbeJoin *join)
{
  if (!nccl_make_set (worker, join))
    return answer_failure (NCCL_BROKEN);
  answer ("joined");
  return true;
}

static bool
serve_others (NcclWorker *worker, const char *line, bool *more)
{
  ProbeJoin join;
  if (worker->alone)
    return false;
  if (strcmp (line, "id") == 0)
    *more = serve_id ();
  else if (probe_join_read (line, &join))
    *more = serve_join (worker, &join);
  else if (probe_drop_read (line, &join))
    answer (nccl_drop_set (worker, &join) ? "dropped" : "error there is no such communicator");
  else
    return false;
  return true;
}

static int
serve (NcclWorker *worker, FILE *requests, const char *log_path)
{
  char line[512];
  FILE *log = NULL;
  bool more = true;
  while (more && fgets (line, sizeof line, requests) != NULL) {
    ProbeRequest request;
    line[strcspn (line, "\n")] = '\0';
    probe_forget ();
    if (serve_others (worker, line, &more))
      continue;
    if (!probe_request_read (line, &request))
      answer ("error no request: %s", line);
    else if (request.choice)
      more = serve_choice (worker, &request, &log, log_path);
    else
      more = serve_case (worker, &request);
  }
  if (log != NULL)
    fclose (log);
  if (!more)
    _exit (1); /* what went wrong may hang whoever cleans up after it */
  nccl_close_sets (worker);
  return 0;
}

int
nccl_worker_main (int argc, char **argv)
{
  static NcclWorker worker;
  char version[32];
  if (argc != 6 && argc != 7) {
    fputs ("forerun-probe: " NCCL_WORKER_OPTION " is for its own use\n", stderr);
    return 2;
  }
  prctl (PR_SET_PDEATHSIG, SIGKILL); /* no worker outlives a parent that was killed */
  signal (SIGINT, SIG_IGN);          /* the terminal's interrupt is the parent's to handle: it ends its workers */
  signal (SIGPIPE, SIG_IGN);
  for (int fd = PROBE_CHILD_ANSWERS + 1; fd < INHERITED_MOST; fd++)
    close (fd);
  fcntl (PROBE_CHILD_REQUESTS, F_SETFD, FD_CLOEXEC);
  fcntl (PROBE_CHILD_ANSWERS, F_SETFD, FD_CLOEXEC);
  FILE *requests = fdopen (PROBE_CHILD_REQUESTS, "r");
  answers = fdopen (PROBE_CHILD_ANSWERS, "w");
  if (requests == NULL || answers == NULL) {
    fputs ("forerun-probe: " NCCL_WORKER_OPTION " is for its own use: nobody asks\n", stderr);
    return 2;
  }
  unsigned node_gpus = (unsigned)strtoul (argv[2], NULL, 10);
  int device = argc == 7 ? atoi (argv[6]) : -1;
  worker.n = device < 0 ? node_gpus : 1;
  worker.capacity_B = (size_t)strtoull (argv[3], NULL, 10);
  worker.alive = say_alive;
  if (node_gpus < (device < 0 ? 2 : 1) || node_gpus > PROBE_GPUS_MOST || worker.capacity_B < BUFFER_LEAST_B) {
    answer ("fatal %u GPUs with buffers of %zu B are not accepted", node_gpus, worker.capacity_B);
    return 1;
  }
  if (!nccl_lib_open (strcmp (argv[5], "-") == 0 ? NULL : argv[5])) {
    answer ("fatal NCCL: %s", probe_why ());
    return 1;
  }
  if (!open_worker (&worker, device, node_gpus)) {
    answer_failure (NCCL_BROKEN);
    return 1;
  }
  nccl_lib_version (version, sizeof version);
  answer ("ready %s %zu", version, worker.capacity_B);
  return serve (&worker, requests, argv[4]);
}
