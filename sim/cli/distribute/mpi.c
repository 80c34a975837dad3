/* One search, or one service, by many processes. Process 0 hands out tasks one by one, puts the replies together and writes; it
 * computes pieces itself between looks at the others, each of which has one task in hand and one in reserve. A task of a plan takes
 * milliseconds, so that whoever is slow or late is waited for no longer than that. Where a process is lost, MPI ends all of them:
 * nothing is written then, but what --resume has kept.
 *
 * Messages: a task to a process (PlnTask, plain values of one program), and back the task with its reply behind it. */
#include <mpi.h>

#include <string.h>

#include "base/progress.h"
#include "distribute/mpi-private.h"

enum { TAG_TASK = 1, TAG_QUIT, TAG_REPLY, TAG_FAILED }; /* the last one and the code of the error */
enum { IN_RESERVE = 2, WAIT_US = 50 };

typedef struct {
  guint busy;      /* tasks that it has */
  guint32 machine; /* of the last of them */
} Member;

struct CliRanks {
  int n, self;
  Member *members;
  guint busy; /* tasks of all */
};

/* ---- begin and end ---- */

gboolean
cli_ranks_wanted (const Cli *cli, const char *flag, gboolean *wanted, GError **error)
{
  return cli_ranks_read_flag (cli, flag, wanted, error);
}

/* Orderly where all processes wait for it; else, after a failure or a signal, all are ended at once with the same status. */
static void
end (void *data, int status)
{
  CliRanks *ranks = data;
  if (ranks->self == 0 && ranks->busy > 0)
    MPI_Abort (MPI_COMM_WORLD, status);
  for (int i = 1; ranks->self == 0 && i < ranks->n; i++)
    MPI_Send (NULL, 0, MPI_BYTE, i, TAG_QUIT, MPI_COMM_WORLD);
  MPI_Finalize ();
  g_free (ranks->members);
  g_free (ranks);
}

CliRanks *
cli_ranks_open (Cli *cli, GError **error)
{
  int had = 0;
  if (MPI_Initialized (&had) != MPI_SUCCESS || had || MPI_Init (NULL, NULL) != MPI_SUCCESS) {
    cli_fail (cli, error, "MPI cannot start%s", had ? " twice in one process" : "");
    return NULL;
  }
  CliRanks *ranks = g_new0 (CliRanks, 1);
  MPI_Comm_size (MPI_COMM_WORLD, &ranks->n);
  MPI_Comm_rank (MPI_COMM_WORLD, &ranks->self);
  ranks->members = g_new0 (Member, (gsize)ranks->n);
  for (int i = 0; i < ranks->n; i++)
    ranks->members[i].machine = G_MAXUINT32;
  cli->silent = ranks->self > 0;
  if (cli->silent)
    base_progress_stop ();
  cli->end = end;
  cli->end_data = ranks;
  return ranks;
}

guint
cli_ranks_self (const CliRanks *ranks)
{
  return (guint)ranks->self;
}

guint
cli_ranks_n (const CliRanks *ranks)
{
  return (guint)ranks->n;
}

/* ---- the same input ---- */

/* A sum over all that the answer depends on. */
static char *
sum_of (const Cli *cli)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_append_printf (text, FORERUN_VERSION " %" G_GUINT64_FORMAT "\n", cli->seed);
  for (char **set = cli->sets; set != NULL && *set != NULL; set++)
    g_string_append_printf (text, "%s\n", *set);
  for (guint i = 0; i < cli->inputs->len; i++)
    g_string_append_printf (text, "%s\n", ((RepInput *)cli->inputs->pdata[i])->sha256);
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, text->str, (gssize)text->len);
}

/* What a process says of what it has read; the same length from all. */
typedef struct {
  gboolean read;
  char sum[65];
  char host[MPI_MAX_PROCESSOR_NAME];
  char why[512];
} Word;

static gboolean
judge (const Word *words, int n, Cli *cli, GError **why, GError **error)
{
  if (!words[0].read) {
    g_propagate_error (error, g_steal_pointer (why));
    return FALSE;
  }
  for (int i = 1; i < n; i++) {
    if (!words[i].read) { /* its message may be several lines */
      g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "forerun %s: process %d of %d, on %s: %s", cli->verb->name, i, n,
                   words[i].host, words[i].why);
      return FALSE;
    }
    if (strcmp (words[i].sum, words[0].sum) != 0)
      return cli_fail (cli, error,
                       "process %d of %d on %s read another input or other data than process 0 on %s; give all the same files, or "
                       "run each process by itself with --mpi off",
                       i, n, words[i].host, words[0].host);
  }
  return TRUE;
}

gboolean
cli_ranks_agree (CliRanks *ranks, Cli *cli, gboolean read, GError **why, GError **error)
{
  g_autofree Word *words = g_new0 (Word, (gsize)ranks->n);
  Word own;
  int n_host = 0;
  memset (&own, 0, sizeof own);
  own.read = read;
  MPI_Get_processor_name (own.host, &n_host);
  g_autofree char *sum = sum_of (cli);
  g_strlcpy (own.sum, sum, sizeof own.sum);
  if (!read)
    g_strlcpy (own.why, (*why)->message, sizeof own.why);
  MPI_Gather (&own, sizeof own, MPI_BYTE, words, sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
  int good = ranks->self == 0 && judge (words, ranks->n, cli, why, error);
  MPI_Bcast (&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  g_clear_error (why);
  if (!good && ranks->self > 0)
    cli_fail (cli, error, "process 0 has said why"); /* silent */
  return good;
}

/* ---- the others ---- */

/* The task with what follows it, in one message. */
static void
answer (const PlnTask *task, int tag, const void *bytes, gsize n_B)
{
  g_autofree char *message = g_malloc (sizeof *task + n_B);
  memcpy (message, task, sizeof *task);
  if (n_B > 0)
    memcpy (message + sizeof *task, bytes, n_B);
  MPI_Send (message, (int)(sizeof *task + n_B), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
}

/* MPI itself waits by asking as fast as it can, on a processor that others may need. */
static void
wait_for_word (void)
{
  int there = 0;
  MPI_Iprobe (0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  while (!there) {
    g_usleep (WAIT_US);
    MPI_Iprobe (0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
}

void
cli_ranks_serve (CliRanks *ranks, const CliCrew *crew)
{
  (void)ranks;
  for (;;) {
    PlnTask task;
    MPI_Status status;
    wait_for_word ();
    MPI_Recv (&task, sizeof task, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == TAG_QUIT)
      return;
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) reply = crew->act (crew->worker, &task, &error);
    if (reply != NULL)
      answer (&task, TAG_REPLY, g_bytes_get_data (reply, NULL), g_bytes_get_size (reply));
    else
      answer (&task, TAG_FAILED + (error->domain == BASE_ERROR ? error->code : (int)BASE_ERROR_RUN), error->message,
              strlen (error->message));
  }
}

/* ---- process 0 ---- */

/* Takes all replies that are there; FALSE and *error on what is none. */
static gboolean
take_replies (CliRanks *ranks, const CliCrew *crew, gboolean *any, GError **error)
{
  for (;;) {
    MPI_Status status;
    int there = 0, n_B = 0;
    MPI_Iprobe (MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there)
      return TRUE;
    *any = TRUE;
    MPI_Get_count (&status, MPI_BYTE, &n_B);
    g_autofree char *message = g_malloc ((gsize)n_B + 1);
    MPI_Recv (message, n_B, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    message[n_B] = '\0';
    PlnTask task;
    memcpy (&task, message, sizeof task);
    ranks->members[status.MPI_SOURCE].busy--;
    ranks->busy--;
    if (status.MPI_TAG >= TAG_FAILED)
      crew->fail (crew->work, &task, g_error_new_literal (BASE_ERROR, status.MPI_TAG - TAG_FAILED, message + sizeof task));
    else if (!crew->put (crew->work, &task, message + sizeof task, (gsize)n_B - sizeof task, error))
      return FALSE;
  }
}

/* A task for each process that has fewer than `most`; whether there was any. */
static gboolean
hand_out (CliRanks *ranks, const CliCrew *crew, guint most, gboolean *runs)
{
  gboolean any = FALSE;
  for (int i = 1; i < ranks->n; i++) {
    Member *member = &ranks->members[i];
    PlnTask task;
    if (member->busy >= most || (*runs && member->busy > 0) || !crew->next (crew->work, member->machine, &task))
      continue;
    MPI_Send (&task, sizeof task, MPI_BYTE, i, TAG_TASK, MPI_COMM_WORLD);
    member->machine = task.machine;
    member->busy++;
    ranks->busy++;
    *runs = task.run;
    any = TRUE;
  }
  return any;
}

/* Process 0 works too, but the engine's runs are left to the others: they take long, and it would hear of nothing meanwhile. */
static gboolean
work_too (const CliCrew *crew, guint32 *machine, gboolean *worked, GError **error)
{
  PlnTask task;
  GError *why = NULL;
  *worked = crew->next (crew->work, *machine, &task);
  if (!*worked)
    return TRUE;
  *machine = task.machine;
  g_autoptr (GBytes) reply = crew->act (crew->worker, &task, &why);
  if (reply != NULL)
    return crew->put (crew->work, &task, g_bytes_get_data (reply, NULL), g_bytes_get_size (reply), error);
  crew->fail (crew->work, &task, why);
  return TRUE;
}

gboolean
cli_ranks_share (CliRanks *ranks, const CliCrew *crew, GError **error)
{
  guint32 machine = G_MAXUINT32;
  for (gboolean runs = FALSE;;) {
    gboolean busy = FALSE, worked = FALSE;
    for (guint most = 1; most <= IN_RESERVE; most++)
      busy |= hand_out (ranks, crew, most, &runs);
    if (!take_replies (ranks, crew, &busy, error))
      return FALSE;
    if (crew->stopped (crew->work))
      return TRUE; /* not to wait for a long run: what is still out is lost */
    if (busy)
      continue; /* others first */
    if ((!runs || ranks->n == 1) && !work_too (crew, &machine, &worked, error))
      return FALSE;
    if (!worked && ranks->busy == 0)
      return TRUE;
    if (!worked)
      g_usleep (WAIT_US);
  }
}
