/* Four processes by mpirun, whose workers are shells: the first leads and looks, the others serve. */
#include "harness.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#define PROCESSES 4
#define SCRIPT                                                                                                             \
  "echo \"ready $PROBE_SET\" >&4; while read -r verb who rest <&3; do if [ \"$who\" != all ] && [ \"$who\" != $0 ]; then " \
  "[ $verb = say ] && { echo ran >&4; continue; }; exec sleep 1000; fi; case $verb in "                                    \
  "say) echo \"$rest\" >&4;; fatal) echo 'fatal broken' >&4; exec sleep 1000;; hang) exec sleep 1000;; die) exit 1;; esac; done"

static Ranks *ranks;
static ProbeAnswer answers[PROCESSES], verdict;

static bool
never (void)
{
  return false;
}

/* The command to all; "line TEXT" or another word, then what it says. */
static const char *
all (const char *command)
{
  static char text[PROBE_ANSWER_MOST + 32];
  RanksOrder order[PROCESSES];
  for (unsigned i = 0; i < PROCESSES; i++) {
    order[i].rank = i;
    g_strlcpy (order[i].command, command, sizeof order[i].command);
  }
  if (!ranks_do (ranks, order, PROCESSES, 100, answers))
    return "some did not answer";
  probe_answers_merge (answers, PROCESSES, &verdict);
  g_snprintf (text, sizeof text, "%d %s", (int)verdict.said, verdict.text);
  return text;
}

static const char *
start (void)
{
  static const char *const settings[] = { "PROBE_SET=x", NULL };
  char command[PROBE_COMMAND_MOST];
  TEST_TRUE (probe_member_start_write (20, false, settings, command, sizeof command));
  return all (command);
}

static void
all_do_what_they_are_told (void)
{
  TEST_INT (ranks_count (ranks), PROCESSES);
  TEST_STR (start (), "0 ready x");
  TEST_STR (all ("ask 20 say all hello"), "0 hello");
  TEST_STR (all ("ask 20 say 2 choice ring ll 4"), "0 choice ring ll 4");
  RanksOrder one = { .rank = 3, .command = "ask 20 say 3 alone" };
  TEST_TRUE (ranks_do (ranks, &one, 1, 100, answers));
  TEST_STR (answers[0].text, "alone");
  TEST_STR (all ("stop 5"), "0 stopped");
}

/* The others wait for the one that failed, as they do inside NCCL: they are killed, and the run goes on. */
static void
one_that_fails_does_not_leave_the_others_waiting (void)
{
  static const char *const who[] = { "0", "2", "3" };
  for (size_t i = 0; i < G_N_ELEMENTS (who); i++) {
    g_autofree char *fatal = g_strdup_printf ("ask 1000 fatal %s", who[i]), *die = g_strdup_printf ("ask 1000 die %s", who[i]);
    g_autofree char *broken = g_strdup_printf ("4 rank %s: broken", who[i]),
                    *ended = g_strdup_printf ("4 rank %s: its worker ended with exit status 1", who[i]);
    TEST_STR (start (), "0 ready x");
    TEST_STR (all (fatal), broken);
    TEST_STR (start (), "0 ready x");
    TEST_STR (all (die), ended);
  }
  TEST_STR (start (), "0 ready x");
  TEST_HAS (all ("ask 0.3 hang all"), " and 3 others hang: nothing came back for 0.3 s, and their workers were killed");
  TEST_STR (all ("ask 20 say all hello"), "4 rank 0: its worker ended"); /* there is none any more */
  TEST_STR (start (), "0 ready x");
  TEST_STR (all ("ask 20 say all hello"), "0 hello");
}

int
main (int argc, char **argv)
{
  char shell[] = "/bin/sh", option[] = "-c", script[] = SCRIPT, name[16], own[32];
  ranks = ranks_open (&argc, &argv);
  if (ranks == NULL)
    return 1;
  unsigned self = ranks_self (ranks);
  g_snprintf (name, sizeof name, "%u", self);
  g_snprintf (own, sizeof own, "I am %u", self);
  char *worker_argv[] = { shell, option, script, name, NULL };
  const ProbeMemberWorker worker = { .argv = worker_argv, .argv_with_log = worker_argv };
  char **texts = ranks_gather (ranks, own);
  int number = ranks_tell_number (ranks, self == 0 ? 7 : 0), result = number == 7 ? 0 : 1;
  if (self != 0) {
    result = result == 0 && ranks_serve (ranks, &worker, never) ? 0 : 1;
  } else {
    static const TestCase cases[] = {
      { "all follow commands", all_do_what_they_are_told },
      { "one that fails does not leave the others waiting", one_that_fails_does_not_leave_the_others_waiting },
      { 0 },
    };
    ranks_lead (ranks, &worker, never);
    for (unsigned i = 0; texts != NULL && i < ranks_count (ranks); i++)
      result = result == 0 && texts[i][5] == (char)('0' + i) ? 0 : 1;
    result = test_main ("probe/ranks", cases) == 0 && texts != NULL ? result : 1;
    ranks_quit (ranks);
  }
  ranks_texts_free (texts, ranks_count (ranks));
  ranks_close (ranks, false, 0);
  return result;
}
