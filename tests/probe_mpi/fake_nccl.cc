/* A worker of forerun-probe-mpi without NCCL and GPU: it says what nccl_worker.h promises, and waits for the other ranks where NCCL
 * does, through files in FAKE_NCCL_FOLDER, so that one that dies or hangs is met by the others as NCCL's ranks meet it.
 *
 * FAKE_NCCL="WHAT SETTING PROCESS STEP" makes one process's worker fail: it will `die`, `hang` or `refuse` under SETTING (choice,
 * auto, Ring/LL, …) at STEP (start, join, case). */
#include "nccl_lib.h"
#include "nccl_worker.h"
#include "probe_child.h"
#include "probe_plan.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MOST   512
#define NAP_US      500
#define EXIT_STATUS 3 /* of one that dies */
#define PEER_GONE                                                                                                          \
  "making communicators: remote process exited or there was a network error: socketProgress: Connection closed by remote " \
  "peer"

bool
nccl_lib_open (const char *)
{
  return true;
}

void
nccl_lib_version (char *out, size_t size)
{
  snprintf (out, size, "2.28.9");
}

/* ---- what goes wrong ---- */

static FILE *answers;

static void answer (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

static void
answer (const char *format, ...)
{
  va_list list;
  va_start (list, format);
  vfprintf (answers, format, list);
  va_end (list);
  putc ('\n', answers);
  if (fflush (answers) != 0)
    _exit (1);
}

[[noreturn]] static void
fatal (const char *why)
{
  answer ("fatal %s", why);
  _exit (1);
}

[[noreturn]] static void
hang (void)
{
  for (;;)
    pause ();
}

static const char *
variable (const char *name)
{
  const char *value = getenv (name);
  return value != NULL ? value : "";
}

static void
setting_name (char out[64])
{
  if (*variable ("NCCL_TOPO_DUMP_FILE") != '\0')
    strcpy (out, "choice");
  else if (*variable ("NCCL_ALGO") != '\0')
    snprintf (out, 64, "%.30s/%.30s", variable ("NCCL_ALGO"), variable ("NCCL_PROTO"));
  else
    strcpy (out, "auto");
}

/* Fails here if this is the place; `*elsewhere`: another process does at this step. */
static void
fail_if_told (const char *step, bool *elsewhere)
{
  char what[16], setting[64], at[16], own[64];
  int process;
  *elsewhere = false;
  setting_name (own);
  if (sscanf (variable ("FAKE_NCCL"), "%15s %63s %d %15s", what, setting, &process, at) != 4 || strcmp (setting, own) != 0 ||
      strcmp (at, step) != 0)
    return;
  const char *rank = getenv ("OMPI_COMM_WORLD_RANK"); /* Open MPI's */
  *elsewhere = process != atoi (rank != NULL ? rank : variable ("PMI_RANK"));
  if (*elsewhere)
    return;
  if (strcmp (what, "die") == 0)
    _exit (EXIT_STATUS);
  if (strcmp (what, "hang") == 0)
    hang ();
  fatal ("out of order");
}

/* ---- ranks that wait for each other ---- */

static void
mark_path (char out[PATH_MOST], const ProbeJoin *join, unsigned rank, const char *mark)
{
  char id[17];
  for (unsigned i = 0; i < 8; i++)
    snprintf (id + 2 * i, 3, "%02x", join->id[i]);
  snprintf (out, PATH_MOST, "%.400s/%s.%u.%s", variable ("FAKE_NCCL_FOLDER"), id, rank, mark);
}

/* The mark of this rank, locked as long as it lives. */
static void
put_mark (const ProbeJoin *join, const char *mark)
{
  char path[PATH_MOST], unfinished[PATH_MOST + 8];
  mark_path (path, join, join->rank, mark);
  snprintf (unfinished, sizeof unfinished, "%s.new", path);
  int fd = open (unfinished, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  const char *host = variable ("NCCL_HOSTID");
  if (fd < 0 || flock (fd, LOCK_EX) != 0 || write (fd, host, strlen (host)) != (ssize_t)strlen (host) ||
      rename (unfinished, path) != 0)
    fatal ("the fake's own file cannot be written");
}

/* Waits for another's; it is gone where nobody holds its lock. `host` gets its name. */
static void
await_mark (const ProbeJoin *join, unsigned rank, const char *mark, char host[64])
{
  char path[PATH_MOST], first[PATH_MOST];
  mark_path (path, join, rank, mark);
  mark_path (first, join, rank, "here");
  for (;;) {
    int fd = open (first, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && flock (fd, LOCK_SH | LOCK_NB) == 0)
      fatal (PEER_GONE);
    ssize_t n = fd >= 0 ? read (fd, host, 63) : -1;
    if (fd >= 0)
      close (fd);
    if (n >= 0 && access (path, F_OK) == 0) {
      host[n] = '\0';
      return;
    }
    usleep (NAP_US);
  }
}

static void
meet (const ProbeJoin *join, const char *mark, bool own_node_alone)
{
  char host[64];
  put_mark (join, mark);
  for (unsigned rank = 0; rank < join->nodes * join->gpus; rank++) {
    if (rank == join->rank)
      continue;
    await_mark (join, rank, "here", host);
    if (!own_node_alone || strcmp (host, variable ("NCCL_HOSTID")) == 0)
      await_mark (join, rank, mark, host);
  }
}

/* Ranks of a node tell each other what they see of the machine, and once more where the name of a file for it is set. */
static void
join_all (const ProbeJoin *join)
{
  bool elsewhere;
  const char *xml = variable ("NCCL_TOPO_DUMP_FILE");
  if (*variable ("FAKE_NCCL") != '\0') { /* all have begun when one fails */
    put_mark (join, "here");
    fail_if_told ("join", &elsewhere);
  }
  meet (join, "here", false);
  if (*xml != '\0')
    meet (join, "written", true);
  meet (join, "seen", true);
  meet (join, "joined", false);
  if (*xml != '\0' && join->rank == 0) {
    FILE *file = fopen (xml, "w");
    if (file == NULL || fputs ("<system/>", file) == EOF || fclose (file) != 0)
      fatal ("no topology can be written");
  }
  answer ("joined");
}

/* ---- the worker ---- */

static void
make_id (void)
{
  static unsigned made;
  unsigned char id[PROBE_ID_BYTES] = { 0 };
  char line[2 * PROBE_ID_BYTES + 16];
  unsigned pid = (unsigned)getpid ();
  made++;
  memcpy (id, &pid, sizeof pid);
  memcpy (id + sizeof pid, &made, sizeof made);
  probe_id_write (id, line, sizeof line);
  answer ("%s", line);
}

static void
serve (const char *line, const char *log)
{
  ProbeJoin join;
  ProbeRequest request;
  bool elsewhere;
  if (strcmp (line, "id") == 0) {
    make_id ();
  } else if (probe_join_read (line, &join)) {
    join_all (&join);
  } else if (probe_drop_read (line, &join)) {
    answer ("dropped");
  } else if (probe_request_read (line, &request)) {
    fail_if_told ("case", &elsewhere);
    if (elsewhere)
      hang (); /* for the one that fails */
    if (!request.choice)
      answer ("ok 4 0.001 0.001 0.001 0.001 0.001 0.001 0.001 0.001");
    else
      answer ("%s", strcmp (log, "-") == 0 ? "ran" : "choice ring ll 4");
  } else {
    answer ("error no request: %s", line);
  }
}

int
nccl_worker_main (int argc, char **argv)
{
  char line[512];
  bool elsewhere;
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  FILE *requests = fdopen (PROBE_CHILD_REQUESTS, "r");
  answers = fdopen (PROBE_CHILD_ANSWERS, "w");
  if (argc != 7 || requests == NULL || answers == NULL)
    return 2;
  fail_if_told ("start", &elsewhere);
  answer ("ready 2.28.9 1073741824");
  while (fgets (line, sizeof line, requests) != NULL) {
    line[strcspn (line, "\n")] = '\0';
    serve (line, argv[4]);
  }
  return 0;
}
