#include "probe_team.h"

#include "probe_fail.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SPINS 20000 /* some 100 us; then the processor is lent to others, who may be those that are waited for */

typedef struct {
  ProbeTeam *team;
  unsigned rank;
  pthread_t thread;
  double begin_s, end_s; /* of the last job, from its last barrier */
} Member;

struct ProbeTeam {
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  ProbeJob job; /* under the lock, as all up to `why` */
  void *user;
  unsigned long round; /* counts runs */
  unsigned n, busy;
  bool over, stuck;
  char why[PROBE_REASON_MOST]; /* of the first that failed; "" while none has */
  unsigned n_members;
  Member *member;
  atomic_uint arrived, generation; /* of the barrier */
  atomic_bool failed;              /* waits are over */
};

static _Thread_local Member *self; /* in a job */

double
probe_clock_s (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Under the lock. */
static void
note_failure (ProbeTeam *team)
{
  if (team->why[0] == '\0')
    snprintf (team->why, sizeof team->why, "%s", probe_why ());
  atomic_store (&team->failed, true);
  pthread_cond_signal (&team->end);
}

static void *
serve (void *user)
{
  Member *member = user;
  ProbeTeam *team = member->team;
  unsigned long seen = 0;
  self = member;
  pthread_mutex_lock (&team->lock);
  for (;;) {
    while (!team->over && (team->round == seen || member->rank >= team->n)) {
      seen = team->round;
      pthread_cond_wait (&team->begin, &team->lock);
    }
    if (team->over)
      break;
    seen = team->round;
    ProbeJob job = team->job;
    void *argument = team->user;
    pthread_mutex_unlock (&team->lock);
    probe_forget ();
    member->begin_s = probe_clock_s ();
    bool ok = job (member->rank, argument);
    member->end_s = probe_clock_s ();
    pthread_mutex_lock (&team->lock);
    if (!ok)
      note_failure (team);
    if (--team->busy == 0)
      pthread_cond_signal (&team->end);
  }
  pthread_mutex_unlock (&team->lock);
  return NULL;
}

ProbeTeam *
probe_team_new (unsigned n_threads)
{
  ProbeTeam *team = calloc (1, sizeof *team);
  Member *member = calloc (n_threads, sizeof *member);
  if (team == NULL || member == NULL) {
    free (team);
    free (member);
    return NULL;
  }
  pthread_condattr_t monotonic;
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init (&team->lock, NULL);
  pthread_cond_init (&team->begin, NULL);
  pthread_cond_init (&team->end, &monotonic);
  pthread_condattr_destroy (&monotonic);
  team->member = member;
  for (; team->n_members < n_threads; team->n_members++) {
    Member *next = &member[team->n_members];
    *next = (Member){ .team = team, .rank = team->n_members };
    if (pthread_create (&next->thread, NULL, serve, next) != 0) {
      probe_team_free (team);
      return NULL;
    }
  }
  return team;
}

bool
probe_team_free (ProbeTeam *team)
{
  if (team == NULL)
    return true;
  pthread_mutex_lock (&team->lock);
  team->over = true;
  bool stuck = team->stuck;
  pthread_cond_broadcast (&team->begin);
  pthread_mutex_unlock (&team->lock);
  for (unsigned i = 0; i < team->n_members; i++)
    if (stuck)
      pthread_detach (team->member[i].thread);
    else
      pthread_join (team->member[i].thread, NULL);
  if (stuck) /* they still look at the team */
    return false;
  pthread_cond_destroy (&team->begin);
  pthread_cond_destroy (&team->end);
  pthread_mutex_destroy (&team->lock);
  free (team->member);
  free (team);
  return true;
}

/* Under the lock: until all have returned, `most_s` have passed, or, where that counts, one has failed. True: all have returned. */
static bool
wait_for_all (ProbeTeam *team, double most_s, bool failure_counts)
{
  struct timespec until;
  double end_s = probe_clock_s () + most_s;
  until.tv_sec = (time_t)end_s;
  until.tv_nsec = (long)((end_s - floor (end_s)) * 1e9);
  int status = 0;
  while (team->busy > 0 && status != ETIMEDOUT && !(failure_counts && atomic_load (&team->failed)))
    status = pthread_cond_timedwait (&team->end, &team->lock, &until);
  return team->busy == 0;
}

/* Under the lock. */
static void
wait_within (ProbeTeam *team, const ProbeLimit *limit)
{
  bool done = wait_for_all (team, limit->most_s, true);
  if (!done) {
    if (team->why[0] == '\0')
      snprintf (team->why, sizeof team->why, "the GPUs did not end in time");
    atomic_store (&team->failed, true);
    done = wait_for_all (team, limit->give_up_s, false);
  }
  if (!atomic_load (&team->failed))
    return;
  limit->abandon (team->user);
  team->stuck = !done && !wait_for_all (team, limit->give_up_s, false);
}

bool
probe_team_run (ProbeTeam *team, unsigned n, ProbeJob job, void *user, const ProbeLimit *limit)
{
  if (n == 0 || n > team->n_members || team->stuck)
    return probe_fail ("there are no threads for it");
  pthread_mutex_lock (&team->lock);
  team->job = job;
  team->user = user;
  team->n = n;
  team->busy = n;
  team->round++;
  team->why[0] = '\0';
  atomic_store (&team->arrived, 0);
  atomic_store (&team->failed, false);
  pthread_cond_broadcast (&team->begin);
  if (limit != NULL)
    wait_within (team, limit);
  while (limit == NULL && team->busy > 0)
    pthread_cond_wait (&team->end, &team->lock);
  bool ok = !atomic_load (&team->failed);
  if (!ok)
    probe_fail ("%s", team->why);
  pthread_mutex_unlock (&team->lock);
  return ok;
}

double
probe_team_time (ProbeTeam *team, unsigned n, ProbeJob job, void *user)
{
  if (!probe_team_run (team, n, job, user, NULL))
    return -1;
  double begin_s = (double)INFINITY, end_s = 0;
  for (unsigned i = 0; i < n; i++) {
    begin_s = fmin (begin_s, team->member[i].begin_s);
    end_s = fmax (end_s, team->member[i].end_s);
  }
  return end_s - begin_s;
}

static void
pause_briefly (void)
{
#if defined __x86_64__
  __builtin_ia32_pause ();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

bool
probe_team_goes_on (const ProbeTeam *team)
{
  return !atomic_load_explicit (&team->failed, memory_order_acquire);
}

bool
probe_team_barrier (ProbeTeam *team)
{
  unsigned generation = atomic_load_explicit (&team->generation, memory_order_acquire);
  if (atomic_fetch_add_explicit (&team->arrived, 1, memory_order_acq_rel) + 1 == team->n) {
    atomic_store_explicit (&team->arrived, 0, memory_order_relaxed);
    atomic_fetch_add_explicit (&team->generation, 1, memory_order_release);
  }
  for (unsigned spins = 0;
       atomic_load_explicit (&team->generation, memory_order_acquire) == generation && probe_team_goes_on (team); spins++)
    if (spins < SPINS)
      pause_briefly ();
    else
      sched_yield ();
  self->begin_s = probe_clock_s ();
  return probe_team_goes_on (team);
}
