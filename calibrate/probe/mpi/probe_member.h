/* One process of several: it keeps a worker, does what it is told and says what came of it, and never waits long for either, so
 * that it can be told to kill a worker that it waits for. */
#ifndef FORERUN_PROBE_MEMBER_H
#define FORERUN_PROBE_MEMBER_H

#include "probe_child.h"
#include "probe_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Commands; all but KILL are answered once, whatever happens:
 *   start PATIENCE LOG SETTING…  a worker under these settings, each behind PROBE_MEMBER_MARK; LOG: 1 where it has NCCL's log. Its
 *                                answer is the worker's first line
 *   ask PATIENCE LINE            the worker's next line, for LINE
 *   stop PATIENCE                ends the worker: "line stopped"
 *   kill                         at once; what waits for the worker is answered "killed" */
#define PROBE_MEMBER_MARK     '\x1f'
#define PROBE_COMMAND_MOST    2048
#define PROBE_MEMBER_SETTINGS 12

/* The worker's command line, without and with a log of NCCL. Borrowed. */
typedef struct {
  char *const *argv;
  char *const *argv_with_log;
} ProbeMemberWorker;

typedef struct {
  ProbeMemberWorker worker;
  ProbeChild child;
  bool running, waiting;      /* there is a worker; an answer is owed */
  double patience_s, since_s; /* of what is waited for; when it was last heard */
} ProbeMember;

void probe_member_open (ProbeMember *member, const ProbeMemberWorker *worker);
/* Begins it. True: `*answer` is there already. */
bool probe_member_send (ProbeMember *member, const char *command, ProbeAnswer *answer);
/* True: an answer has come. Waits for it for `wait_ms` at most. */
bool probe_member_step (ProbeMember *member, int wait_ms, ProbeAnswer *answer);
/* Kills what is there. */
void probe_member_close (ProbeMember *member);

bool probe_member_start_write (double patience_s, bool log, const char *const settings[], char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
