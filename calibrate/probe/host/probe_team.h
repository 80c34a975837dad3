/* Threads that begin together. */
#ifndef FORERUN_PROBE_TEAM_H
#define FORERUN_PROBE_TEAM_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ProbeTeam ProbeTeam;
typedef void (*ProbeJob) (unsigned rank, void *user);

ProbeTeam *probe_team_new (unsigned n_threads); /* NULL: no threads to be had */
void probe_team_free (ProbeTeam *team);
/* job (0 … n - 1) at the same time, each always on the same thread; returns when all have returned. n <= n_threads. */
void probe_team_run (ProbeTeam *team, unsigned n, ProbeJob job, void *user);
/* In a job: returns once all n are here. Each must come the same number of times, whatever failed. Spins, so that all leave
 * within a fraction of a microsecond. */
void probe_team_barrier (ProbeTeam *team);

/* Monotonic, in seconds. */
double probe_clock_s (void);

#ifdef __cplusplus
}
#endif
#endif
