/* Event queue and timers in the hold model: n events are pending; each step takes the next and schedules one later.
 * Source of the model: Jones, "An empirical comparison of priority-queue and event-set implementations", CACM 29(4), 1986. */
#include "base/random.h"
#include "engine/engine.h"
#include "engine/queue.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 4000000 };

/* Mean 1 us: exponential, as the model has it. The draws are made before the clock runs. */
enum { N_DRAWS = 1 << 16 };
static EngTime draws[N_DRAWS];

static void
make_draws (void)
{
  BaseRandom random = base_random_stream (1, "hold");
  for (size_t i = 0; i < N_DRAWS; i++)
    draws[i] = (EngTime)base_random_exponential (&random, 1e6) + 1;
}

static double
hold_queue (void *user)
{
  unsigned n = *(unsigned *)user;
  EngQueue *queue = eng_queue_new ();
  EngEntry entry = { 0 };
  for (unsigned i = 0; i < n; i++)
    eng_queue_push (queue, (EngEntry){ .at = draws[i % N_DRAWS] * (i % 7 + 1), .slot = i });
  double began_s = bench_now_s ();
  for (unsigned i = 0; i < STEPS; i++) {
    eng_queue_pop (queue, &entry);
    entry.at += draws[i % N_DRAWS];
    eng_queue_push (queue, entry);
  }
  double time_s = bench_now_s () - began_s;
  eng_queue_free (queue);
  return time_s;
}

typedef struct {
  unsigned n_left, n;
} Hold;

static void
hold_timer (Eng *eng, void *user, uint64_t arg)
{
  Hold *hold = user;
  (void)arg;
  if (hold->n_left > 0) {
    hold->n_left--;
    eng_at (eng, eng_now (eng) + draws[hold->n_left % N_DRAWS], hold_timer, hold, 0);
  }
}

static double
hold_timers (void *user)
{
  Hold hold = { .n_left = STEPS, .n = *(unsigned *)user };
  Eng *eng = eng_new ();
  for (unsigned i = 0; i < hold.n; i++)
    eng_at (eng, draws[i % N_DRAWS] * (i % 7 + 1), hold_timer, &hold, 0);
  double began_s = bench_now_s ();
  if (!eng_run (eng, ENG_TIME_NEVER, 0, NULL))
    abort ();
  double time_s = bench_now_s () - began_s;
  eng_free (eng);
  return time_s;
}

static double
equal_times (void *user)
{
  unsigned n = *(unsigned *)user;
  EngQueue *queue = eng_queue_new ();
  EngEntry entry;
  double began_s = bench_now_s ();
  for (unsigned i = 0; i < n; i++)
    eng_queue_push (queue, (EngEntry){ .at = 123456789, .slot = i });
  while (eng_queue_pop (queue, &entry))
    ;
  double time_s = bench_now_s () - began_s;
  eng_queue_free (queue);
  return time_s;
}

int
main (void)
{
  static const unsigned pending[] = { 100, 10000, 100000, 1000000 };
  char name[80];
  bench_print_machine ();
  make_draws ();
  for (size_t i = 0; i < sizeof pending / sizeof *pending; i++) {
    unsigned n = pending[i];
    snprintf (name, sizeof name, "queue, hold, %u pending", n);
    bench_print (name, STEPS, "events", bench_repeat (hold_queue, &n));
  }
  for (size_t i = 0; i < sizeof pending / sizeof *pending; i++) {
    unsigned n = pending[i];
    snprintf (name, sizeof name, "timers end to end, hold, %u pending", n);
    bench_print (name, STEPS + n, "events", bench_repeat (hold_timers, &n));
  }
  unsigned n = 1000000;
  bench_print ("queue, a million equal times", n, "events", bench_repeat (equal_times, &n));
  return 0;
}
