/* Threads that begin together. */
#ifndef FORERUN_PROBE_TEAM_H
#define FORERUN_PROBE_TEAM_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ProbeTeam ProbeTeam;
/* False: it failed, and probe_fail had the reason. */
typedef bool (*ProbeJob) (unsigned rank, void *user);

/* How long all jobs together may take. Where one fails, or the time is over, the others get `give_up_s` to notice; then `abandon`
 * takes away what they may be stuck in, and they get as long again. */
typedef struct {
  double most_s, give_up_s;
  void (*abandon) (void *user);
} ProbeLimit;

/* NULL: no threads to be had. */
ProbeTeam *probe_team_new (unsigned n_threads);
/* Waits for the threads. False: some are stuck in a job and stay behind; what the job uses must stay as well. */
bool probe_team_free (ProbeTeam *team);
/* job (0 … n - 1) at the same time, each always on the same thread; returns when all have returned, or the limit (NULL: none) has
 * been reached. False: a job failed, with the reason of the first that did, or took too long; once threads are stuck nothing runs
 * any more. n <= n_threads. */
bool probe_team_run (ProbeTeam *team, unsigned n, ProbeJob job, void *user, const ProbeLimit *limit);
/* The same without a limit: seconds from when the first thread left its last barrier to the last one's return. Negative: failed. */
double probe_team_time (ProbeTeam *team, unsigned n, ProbeJob job, void *user);

/* In a job: returns once all n are here. False: one has failed, and there is no use in going on. Spins, so that all leave within a
 * fraction of a microsecond. */
bool probe_team_barrier (ProbeTeam *team);
/* In a job that waits for something: false once another one has failed. */
bool probe_team_goes_on (const ProbeTeam *team);

/* Monotonic, in seconds. */
double probe_clock_s (void);

#ifdef __cplusplus
}
#endif
#endif
