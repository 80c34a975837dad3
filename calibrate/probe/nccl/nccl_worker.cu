#include "nccl_worker.h"

#include "nccl_run.h"
#include "probe_child.h"
#include "probe_layout.h"

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

/* Answers stay lines whatever NCCL says. */
static void
answer_error (const char *kind, char *error)
{
  for (char *c = error; *c != '\0'; c++)
    if (*c == '\n' || *c == '\r')
      *c = ' ';
  answer ("%s %s", kind, error);
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
  worker->team = probe_team_new (worker->n);
  if (worker->team == NULL) {
    snprintf (worker->error, sizeof worker->error, "no threads to be had");
    return false;
  }
  bool ok = true;
  for (unsigned i = 0; i < worker->n && ok; i++) {
    worker->device[i] = device < 0 ? (int)i : device;
    ok = open_gpu (worker, i, processors > (long)node_gpus);
    say_alive ();
  }
  for (unsigned i = 0; i < worker->n && ok; i++) {
    ok = PROBE_CUDA (cudaSetDevice (worker->device[i])) && PROBE_CUDA (cudaMalloc (&worker->in[i], worker->capacity_B)) &&
         PROBE_CUDA (cudaMalloc (&worker->out[i], worker->capacity_B));
    say_alive ();
  }
  if (!ok)
    snprintf (worker->error, sizeof worker->error, "%s", probe_cuda_error ());
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

/* False: the worker ends. */
static bool
serve_choice (NcclWorker *worker, const ProbeRequest *request, FILE **log, const char *log_path)
{
  bool fatal = false;
  ProbeChoice choice;
  if (!nccl_run_once (worker, request, &fatal)) {
    answer_error (fatal ? "fatal" : "error", worker->error);
    return !fatal;
  }
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
  double sample[PROBE_SAMPLES_MOST];
  size_t n = 0;
  bool fatal = false;
  if (!nccl_run_case (worker, request, sample, &n, &fatal)) {
    answer_error (fatal ? "fatal" : "error", worker->error);
    return !fatal;
  }
  fprintf (answers, "ok %u", worker->in_a_row);
  for (size_t i = 0; i < n; i++)
    fprintf (answers, " %.9g", sample[i]);
  answer ("%s", "");
  return true;
}

/* ---- one rank among others ---- */

static bool
serve_id (NcclWorker *worker)
{
  static_assert (sizeof (ncclUniqueId) == PROBE_ID_BYTES, "an id of NCCL has 128 bytes");
  ncclUniqueId id;
  unsigned char bytes[PROBE_ID_BYTES];
  char line[2 * PROBE_ID_BYTES + 16];
  if (!nccl_ok (worker, ncclGetUniqueId (&id), "ncclGetUniqueId")) {
    answer_error ("fatal", worker->error);
    return false;
  }
  memcpy (bytes, &id, sizeof bytes);
  probe_id_write (bytes, line, sizeof line);
  answer ("%s", line);
  return true;
}

static bool
serve_join (NcclWorker *worker, const ProbeJoin *join)
{
  ncclUniqueId id;
  memcpy (&id, join->id, sizeof id);
  if (!nccl_make_set (worker, join->nodes, join->gpus, join->channels, join->rank, &id)) {
    answer_error ("fatal", worker->error);
    return false;
  }
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
    *more = serve_id (worker);
  else if (probe_join_read (line, &join))
    *more = serve_join (worker, &join);
  else if (probe_drop_read (line, &join))
    answer (nccl_drop_set (worker, join.nodes, join.gpus, join.channels) ? "dropped" : "error there is no such communicator");
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
  const char *why = NULL;
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
  if (node_gpus < (device < 0 ? 2 : 1) || node_gpus > NCCL_GPUS_MOST || worker.capacity_B < BUFFER_LEAST_B) {
    answer ("fatal %u GPUs with buffers of %zu B are not accepted", node_gpus, worker.capacity_B);
    return 1;
  }
  if (!nccl_lib_open (strcmp (argv[5], "-") == 0 ? NULL : argv[5], &why)) {
    answer ("fatal NCCL: %s", why);
    return 1;
  }
  if (!open_worker (&worker, device, node_gpus)) {
    answer_error ("fatal", worker.error);
    return 1;
  }
  nccl_lib_version (version, sizeof version);
  answer ("ready %s %zu", version, worker.capacity_B);
  return serve (&worker, requests, argv[4]);
}
