/* Nothing here blocks in MPI while workers run: MPI's own waiting keeps a processor busy, which the workers' threads need. */
#include "ranks.h"

#include "probe_team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

#define TAG_COMMAND  1
#define TAG_ANSWER   2
#define TAG_TEXT     3
#define NAP_NS       200000 /* between looks at messages */
#define GRACE_S      1.0    /* after the first failure: others may know more of it */
#define KILL_WAIT_S  20.0   /* a killed process may take the driver so long to take apart */
#define QUIT_WAIT_S  15.0   /* after a signal, for process 0 to say the word */
#define MESSAGE_MOST (PROBE_ANSWER_MOST + 16)

struct Ranks {
  int n, self, self_here;
  char library[256];
  ProbeMember member;
  bool (*stopped) (void);
};

Ranks *
ranks_open (int *argc, char ***argv)
{
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  Ranks *ranks = calloc (1, sizeof *ranks);
  int length = 0;
  MPI_Comm here;
  if (ranks == NULL || MPI_Init (argc, argv) != MPI_SUCCESS) { /* it ends the program itself, as MPI's errors do */
    free (ranks);
    return NULL;
  }
  MPI_Comm_size (MPI_COMM_WORLD, &ranks->n);
  MPI_Comm_rank (MPI_COMM_WORLD, &ranks->self);
  MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks->self, MPI_INFO_NULL, &here);
  MPI_Comm_rank (here, &ranks->self_here);
  MPI_Comm_free (&here);
  MPI_Get_library_version (text, &length);
  text[strcspn (text, "\r\n")] = '\0';
  snprintf (ranks->library, sizeof ranks->library, "%.250s", text);
  return ranks;
}

unsigned
ranks_count (const Ranks *ranks)
{
  return (unsigned)ranks->n;
}

unsigned
ranks_self (const Ranks *ranks)
{
  return (unsigned)ranks->self;
}

unsigned
ranks_self_here (const Ranks *ranks)
{
  return (unsigned)ranks->self_here;
}

const char *
ranks_library (const Ranks *ranks)
{
  return ranks->library;
}

/* ---- all together ---- */

void
ranks_texts_free (char **texts, unsigned n)
{
  for (unsigned i = 0; texts != NULL && i < n; i++)
    free (texts[i]);
  free (texts);
}

/* Waits for a text of that kind from a process; NULL: memory is out. */
static char *
receive_text (int from, int tag)
{
  int length = 0;
  MPI_Status status;
  MPI_Probe (from, tag, MPI_COMM_WORLD, &status);
  MPI_Get_count (&status, MPI_CHAR, &length);
  char *text = calloc ((size_t)length + 1, 1);
  if (text != NULL)
    MPI_Recv (text, length, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return text;
}

char **
ranks_gather (Ranks *ranks, const char *text)
{
  if (ranks->self != 0) {
    MPI_Send (text, (int)strlen (text), MPI_CHAR, 0, TAG_TEXT, MPI_COMM_WORLD);
    return NULL;
  }
  char **texts = calloc ((size_t)ranks->n, sizeof *texts);
  for (int i = 0; i < ranks->n; i++) {
    char *its = i == 0 ? strdup (text) : receive_text (i, TAG_TEXT);
    if (its == NULL || texts == NULL)
      MPI_Abort (MPI_COMM_WORLD, 1); /* the others wait */
    texts[i] = its;
  }
  return texts;
}

int
ranks_tell_number (Ranks *ranks, int number)
{
  (void)ranks;
  MPI_Bcast (&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return number;
}

/* ---- messages ---- */

static void
nap (void)
{
  const struct timespec time = { .tv_nsec = NAP_NS };
  nanosleep (&time, NULL);
}

/* A message of that kind if one has come; `*from`: whose. */
static bool
take_message (int tag, int *from, char out[MESSAGE_MOST])
{
  int there = 0, length = 0;
  MPI_Status status;
  MPI_Iprobe (MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
  if (!there)
    return false;
  MPI_Get_count (&status, MPI_CHAR, &length);
  if (length >= MESSAGE_MOST) /* none is so long: not one of this program's own */
    MPI_Abort (MPI_COMM_WORLD, 1);
  MPI_Recv (out, length, MPI_CHAR, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  out[length] = '\0';
  *from = status.MPI_SOURCE;
  return true;
}

/* Below 4 KiB MPI sends at once, and does not wait for the other side. */
static void
send_message (int to, int tag, const char *text)
{
  MPI_Send (text, (int)strlen (text), MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

/* ---- processes but 0 ---- */

bool
ranks_serve (Ranks *ranks, const ProbeMemberWorker *worker, bool (*stopped) (void))
{
  char text[MESSAGE_MOST];
  double stopped_s = 0;
  int from;
  probe_member_open (&ranks->member, worker);
  for (;;) {
    ProbeAnswer answer;
    bool has = false;
    if (take_message (TAG_COMMAND, &from, text)) {
      if (strcmp (text, "quit") == 0)
        break;
      has = probe_member_send (&ranks->member, text, &answer);
    } else {
      has = probe_member_step (&ranks->member, 0, &answer);
      if (!has)
        nap ();
    }
    if (has && probe_answer_write (&answer, text, sizeof text))
      send_message (0, TAG_ANSWER, text);
    if (stopped () && stopped_s <= 0)
      stopped_s = probe_clock_s ();
    if (stopped_s > 0 && probe_clock_s () - stopped_s > QUIT_WAIT_S) {
      probe_member_close (&ranks->member);
      return false;
    }
  }
  probe_member_close (&ranks->member);
  return true;
}

/* ---- process 0 ---- */

void
ranks_lead (Ranks *ranks, const ProbeMemberWorker *worker, bool (*stopped) (void))
{
  probe_member_open (&ranks->member, worker);
  ranks->stopped = stopped;
}

typedef struct {
  const RanksOrder *order;
  ProbeAnswer *answer;
  unsigned n, left, came;
  bool failed; /* one of those that have come */
} Round;

static bool
is_owed (const ProbeAnswer *answer)
{
  return answer->said == PROBE_REPLY_NOTHING;
}

static void
take_answer (Round *round, unsigned rank, const ProbeAnswer *answer)
{
  for (unsigned i = 0; i < round->n; i++)
    if (round->order[i].rank == rank && is_owed (&round->answer[i])) {
      round->answer[i] = *answer;
      round->answer[i].order = ++round->came;
      round->left--;
      round->failed = round->failed || answer->said != PROBE_REPLY_LINE || strncmp (answer->text, "fatal ", 6) == 0;
      return;
    }
}

static void
tell (Ranks *ranks, Round *round, unsigned rank, const char *command)
{
  ProbeAnswer answer;
  if (rank != (unsigned)ranks->self)
    send_message ((int)rank, TAG_COMMAND, command);
  else if (probe_member_send (&ranks->member, command, &answer))
    take_answer (round, rank, &answer);
}

/* True: something came. */
static bool
look (Ranks *ranks, Round *round)
{
  char text[MESSAGE_MOST];
  ProbeAnswer answer;
  int from;
  bool came = take_message (TAG_ANSWER, &from, text);
  if (came) {
    if (!probe_answer_parse (text, &answer)) {
      answer.said = PROBE_REPLY_LINE;
      snprintf (answer.text, sizeof answer.text, "fatal an answer that is not understood");
    }
    take_answer (round, (unsigned)from, &answer);
  }
  if (probe_member_step (&ranks->member, 0, &answer)) {
    take_answer (round, (unsigned)ranks->self, &answer);
    came = true;
  }
  return came;
}

bool
ranks_do (Ranks *ranks, const RanksOrder *order, unsigned n, double limit_s, ProbeAnswer *answer)
{
  Round round = { .order = order, .answer = answer, .n = n, .left = n };
  double begin = probe_clock_s (), failed_s = 0, killed_s = 0;
  for (unsigned i = 0; i < n; i++)
    answer[i] = (ProbeAnswer){ .said = PROBE_REPLY_NOTHING };
  for (unsigned k = n; k > 0; k--) /* its own last: to start or end a worker takes a moment, which the others need not wait for */
    tell (ranks, &round, order[k - 1].rank, order[k - 1].command);
  while (round.left > 0 && !ranks->stopped () && (killed_s <= 0 || probe_clock_s () - killed_s < KILL_WAIT_S)) {
    if (!look (ranks, &round))
      nap ();
    double now = probe_clock_s ();
    failed_s = round.failed && failed_s <= 0 ? now : failed_s;
    if (killed_s > 0 || !((failed_s > 0 && now - failed_s > GRACE_S) || now - begin > limit_s))
      continue;
    killed_s = now;
    for (unsigned i = 0; i < n; i++)
      if (is_owed (&answer[i]))
        tell (ranks, &round, order[i].rank, "kill");
  }
  return round.left == 0 || ranks->stopped ();
}

void
ranks_quit (Ranks *ranks)
{
  probe_member_close (&ranks->member);
  for (int rank = 0; rank < ranks->n; rank++)
    if (rank != ranks->self)
      send_message (rank, TAG_COMMAND, "quit");
}

void
ranks_close (Ranks *ranks, bool abort, int status)
{
  probe_member_close (&ranks->member);
  if (abort)
    MPI_Abort (MPI_COMM_WORLD, status);
  else
    MPI_Finalize ();
  free (ranks);
}
