/* Processes that MPI joins: process 0 leads, the others do what it tells them. MPI carries short texts and nothing else: no GPU's
 * memory, no time. */
#ifndef FORERUN_PROBE_RANKS_H
#define FORERUN_PROBE_RANKS_H

#include "probe_member.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Ranks Ranks;

/* Once a program, before anything else of it looks at the arguments. NULL: MPI says why. */
Ranks *ranks_open (int *argc, char ***argv);
unsigned ranks_count (const Ranks *ranks);
unsigned ranks_self (const Ranks *ranks);
/* Among the processes of this machine. */
unsigned ranks_self_here (const Ranks *ranks);
const char *ranks_library (const Ranks *ranks); /* one line: "Open MPI v4.1.4, …" */

/* All call it. On process 0 the texts of all, in order, each to be freed; NULL elsewhere. */
char **ranks_gather (Ranks *ranks, const char *text);
void ranks_texts_free (char **texts, unsigned n);
/* All call it; all return process 0's. */
int ranks_tell_number (Ranks *ranks, int number);

/* Processes but 0: serve until told to quit. `stopped`: by a signal; then they wait for that word some seconds more.
 * False: it did not come. */
bool ranks_serve (Ranks *ranks, const ProbeMemberWorker *worker, bool (*stopped) (void));

/* Process 0: before the next. */
void ranks_lead (Ranks *ranks, const ProbeMemberWorker *worker, bool (*stopped) (void));
typedef struct {
  unsigned rank; /* a process by its number among all */
  char command[PROBE_COMMAND_MOST];
} RanksOrder;
/* Tells each of them, and waits for all answers. Once one has failed, the others are killed after a second. `limit_s` is for all of
 * it, after that they are killed too. False: some process did not even answer to that; answer[i].said is PROBE_REPLY_NOTHING then,
 * and only ranks_close can follow. Once `stopped` it returns at once, true, for MPI gives a process that it ends a second at most;
 * answers are missing then as well, and only ranks_quit can follow. */
bool ranks_do (Ranks *ranks, const RanksOrder *order, unsigned n, double limit_s, ProbeAnswer *answer);
/* Process 0: the others return from ranks_serve. */
void ranks_quit (Ranks *ranks);

/* Ends MPI; `abort`: at once and for all processes, with this status, where some do not answer any more. */
void ranks_close (Ranks *ranks, bool abort, int status);

#ifdef __cplusplus
}
#endif
#endif
