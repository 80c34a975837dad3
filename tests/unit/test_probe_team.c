#include "harness.h"
#include "probe_fail.h"
#include "probe_team.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

static void
nap (double s)
{
  const struct timespec time = { .tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };
  nanosleep (&time, NULL);
}

typedef struct {
  ProbeTeam *team;
  atomic_uint arrived, early, ran;
  unsigned n;
} Meeting;

/* After each barrier all must have come to it. */
static bool
meet (unsigned rank, void *user)
{
  Meeting *meeting = user;
  atomic_fetch_add (&meeting->ran, 1u << rank);
  for (unsigned round = 1; round <= 50; round++) {
    atomic_fetch_add (&meeting->arrived, 1);
    if (!probe_team_barrier (meeting->team))
      return probe_fail ("a barrier has failed");
    if (atomic_load (&meeting->arrived) < round * meeting->n)
      atomic_fetch_add (&meeting->early, 1);
    if (!probe_team_barrier (meeting->team))
      return probe_fail ("a barrier has failed");
  }
  return true;
}

static void
nobody_leaves_a_barrier_before_all_are_there (void)
{
  ProbeTeam *team = probe_team_new (4);
  TEST_TRUE (team != NULL);
  static const unsigned counts[] = { 4, 1, 3, 2, 4 };
  for (size_t i = 0; i < G_N_ELEMENTS (counts); i++) {
    Meeting meeting = { .team = team, .n = counts[i] };
    TEST_TRUE (probe_team_run (team, counts[i], meet, &meeting, NULL));
    TEST_INT (meeting.early, 0);
    TEST_INT (meeting.arrived, 50 * counts[i]);
    TEST_INT (meeting.ran, (1u << counts[i]) - 1); /* the first ranks, each once */
  }
  Meeting meeting = { .team = team, .n = 5 };
  TEST_FALSE (probe_team_run (team, 5, meet, &meeting, NULL)); /* more than there are: nothing runs */
  TEST_STR (probe_why (), "there are no threads for it");
  TEST_INT (meeting.ran, 0);
  probe_team_free (team);
  probe_team_free (NULL);
}

/* Rank 1 fails before the barrier at which the others wait. */
static bool
fail_one (unsigned rank, void *user)
{
  if (rank == 1)
    return probe_fail ("rank %u is out of order", rank);
  return probe_team_barrier (user);
}

static bool
meet_once (unsigned rank, void *user)
{
  (void)rank;
  return probe_team_barrier (user);
}

static void
the_first_failure_ends_the_others_waits_and_is_the_reason (void)
{
  ProbeTeam *team = probe_team_new (4);
  TEST_FALSE (probe_team_run (team, 4, fail_one, team, NULL));
  TEST_STR (probe_why (), "rank 1 is out of order");
  TEST_TRUE (probe_team_time (team, 4, fail_one, team) < 0);
  TEST_STR (probe_why (), "rank 1 is out of order");
  TEST_TRUE (probe_team_run (team, 4, meet_once, team, NULL)); /* and the team goes on */
  probe_team_free (team);
}

/* The last one comes late to the barrier, which is not in the time; rank 0 leaves last. */
static bool
come_late (unsigned rank, void *user)
{
  if (rank == 1)
    nap (0.3);
  if (!probe_team_barrier (user))
    return false;
  if (rank == 0)
    nap (0.05);
  return true;
}

static void
time_counts_from_the_barrier_to_the_last_return (void)
{
  ProbeTeam *team = probe_team_new (2);
  double s = probe_team_time (team, 2, come_late, team);
  TEST_TRUE (s >= 0.05 && s < 0.3);
  probe_team_free (team);
}

typedef struct {
  ProbeTeam *team;
  atomic_uint abandoned;
  atomic_bool released;
  unsigned stuck; /* this rank waits for the release; others for the team to fail */
  bool deaf;      /* to being abandoned, too */
} Waiting;

static void
abandon (void *user)
{
  Waiting *waiting = user;
  atomic_fetch_add (&waiting->abandoned, 1);
  if (!waiting->deaf)
    atomic_store (&waiting->released, true);
}

static bool
wait_for_ever (unsigned rank, void *user)
{
  Waiting *waiting = user;
  while (rank == waiting->stuck ? !atomic_load (&waiting->released) : probe_team_goes_on (waiting->team))
    nap (0.001);
  return rank == waiting->stuck;
}

static void
a_run_that_takes_too_long_is_given_up (void)
{
  static const ProbeLimit limit = { 0.05, 20, abandon }, no_time = { 0.05, 0.05, abandon };
  ProbeTeam *team = probe_team_new (3);
  Waiting waiting = { .team = team, .stuck = 3 }; /* all notice by themselves */
  TEST_FALSE (probe_team_run (team, 3, wait_for_ever, &waiting, &limit));
  TEST_STR (probe_why (), "the GPUs did not end in time");
  TEST_INT (waiting.abandoned, 1);
  waiting = (Waiting){ .team = team, .stuck = 2 }; /* what it waits for is taken away */
  TEST_FALSE (probe_team_run (team, 3, wait_for_ever, &waiting, &no_time));
  TEST_TRUE (probe_team_run (team, 3, meet_once, team, &limit));
  TEST_INT (waiting.abandoned, 1); /* not of a run that went well */
  probe_why ();
  TEST_TRUE (probe_team_free (team));
}

static void
a_thread_that_is_stuck_stays_behind (void)
{
  static const ProbeLimit limit = { 0.05, 0.05, abandon };
  static Waiting waiting; /* it looks at this to the end */
  ProbeTeam *team = probe_team_new (2);
  waiting = (Waiting){ .team = team, .stuck = 1, .deaf = true };
  TEST_FALSE (probe_team_run (team, 2, wait_for_ever, &waiting, &limit));
  probe_forget ();
  TEST_FALSE (probe_team_run (team, 2, meet_once, team, NULL));
  TEST_STR (probe_why (), "there are no threads for it");
  atomic_store (&waiting.released, true); /* so that the test itself leaves nothing behind */
  nap (0.2);
  TEST_FALSE (probe_team_free (team));
}

static void
the_first_reason_stands_until_it_is_taken (void)
{
  TEST_FALSE (probe_fail ("out of %s", "paper"));
  TEST_FALSE (probe_fail ("nothing can be printed"));
  TEST_FALSE (probe_fail ("the printer: %s", probe_why ())); /* a reason within a reason */
  TEST_STR (probe_why (), "the printer: out of paper");
  TEST_STR (probe_why (), "failed without saying why");
  probe_fail ("long ago");
  probe_forget ();
  probe_fail ("now");
  TEST_STR (probe_why (), "now");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "nobody leaves a barrier before all are there", nobody_leaves_a_barrier_before_all_are_there },
    { "the first failure ends the others' waits and is the reason", the_first_failure_ends_the_others_waits_and_is_the_reason },
    { "time counts from the barrier to the last return", time_counts_from_the_barrier_to_the_last_return },
    { "a run that takes too long is given up", a_run_that_takes_too_long_is_given_up },
    { "a thread that is stuck stays behind", a_thread_that_is_stuck_stays_behind },
    { "the first reason stands until it is taken", the_first_reason_stands_until_it_is_taken },
    { 0 },
  };
  return test_main ("probe/team", cases);
}
