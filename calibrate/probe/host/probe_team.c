#include "probe_team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define SPINS 20000 /* some 100 us; then the processor is lent to others, who may be those that are waited for */

typedef struct {
  ProbeTeam *team;
  unsigned rank;
  pthread_t thread;
} Member;

struct ProbeTeam {
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  ProbeJob job; /* under the lock, as are the next four */
  void *user;
  unsigned long round; /* counts runs */
  unsigned n, busy;
  bool over;
  unsigned n_members;
  Member *member;
  atomic_uint arrived, generation; /* of the barrier */
};

double
probe_clock_s (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *
serve (void *user)
{
  Member *self = user;
  ProbeTeam *team = self->team;
  unsigned long seen = 0;
  pthread_mutex_lock (&team->lock);
  for (;;) {
    while (!team->over && (team->round == seen || self->rank >= team->n)) {
      seen = team->round;
      pthread_cond_wait (&team->begin, &team->lock);
    }
    if (team->over)
      break;
    seen = team->round;
    ProbeJob job = team->job;
    void *argument = team->user;
    pthread_mutex_unlock (&team->lock);
    job (self->rank, argument);
    pthread_mutex_lock (&team->lock);
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
  pthread_mutex_init (&team->lock, NULL);
  pthread_cond_init (&team->begin, NULL);
  pthread_cond_init (&team->end, NULL);
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

void
probe_team_free (ProbeTeam *team)
{
  if (team == NULL)
    return;
  pthread_mutex_lock (&team->lock);
  team->over = true;
  pthread_cond_broadcast (&team->begin);
  pthread_mutex_unlock (&team->lock);
  for (unsigned i = 0; i < team->n_members; i++)
    pthread_join (team->member[i].thread, NULL);
  pthread_cond_destroy (&team->begin);
  pthread_cond_destroy (&team->end);
  pthread_mutex_destroy (&team->lock);
  free (team->member);
  free (team);
}

void
probe_team_run (ProbeTeam *team, unsigned n, ProbeJob job, void *user)
{
  if (n == 0 || n > team->n_members)
    return;
  pthread_mutex_lock (&team->lock);
  team->job = job;
  team->user = user;
  team->n = n;
  team->busy = n;
  team->round++;
  pthread_cond_broadcast (&team->begin);
  while (team->busy > 0)
    pthread_cond_wait (&team->end, &team->lock);
  pthread_mutex_unlock (&team->lock);
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

void
probe_team_barrier (ProbeTeam *team)
{
  unsigned generation = atomic_load_explicit (&team->generation, memory_order_acquire);
  if (atomic_fetch_add_explicit (&team->arrived, 1, memory_order_acq_rel) + 1 == team->n) {
    atomic_store_explicit (&team->arrived, 0, memory_order_relaxed);
    atomic_fetch_add_explicit (&team->generation, 1, memory_order_release);
    return;
  }
  for (unsigned spins = 0; atomic_load_explicit (&team->generation, memory_order_acquire) == generation; spins++)
    if (spins < SPINS)
      pause_briefly ();
    else
      sched_yield ();
}
