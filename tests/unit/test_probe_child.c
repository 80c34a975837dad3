#include "harness.h"
#include "probe_child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A shell that reads requests from 3 and answers on 4, as a worker does. */
static bool
start (ProbeChild *child, const char *script, const char *const settings[])
{
  static const char *const none[] = { NULL };
  char shell[] = "/bin/sh", option[] = "-c";
  g_autofree char *text = g_strdup (script);
  char *argv[] = { shell, option, text, NULL };
  return probe_child_start (child, argv, settings != NULL ? settings : none);
}

static void
a_child_answers_lines_and_signs_of_life_are_passed_over (void)
{
  ProbeChild child;
  char line[64];
  TEST_TRUE (start (&child, "while read -r x <&3; do echo . >&4; echo \"got $x\" >&4; done; exit 3", NULL));
  for (unsigned i = 0; i < 3; i++) {
    TEST_TRUE (probe_child_request (&child, i == 1 ? "two words" : "one"));
    TEST_INT (probe_child_answer (&child, 20, NULL, line, sizeof line), PROBE_CHILD_LINE);
    TEST_STR (line, i == 1 ? "got two words" : "got one");
  }
  TEST_INT (probe_child_end (&child, 20), -3); /* its requests end, and so does it, with its own status */
}

static void
settings_are_added_replaced_and_taken_away (void)
{
  ProbeChild child;
  char line[128];
  const char *const settings[] = { "PROBE_A=new", "PROBE_B", "PROBE_C=x=y", NULL };
  g_setenv ("PROBE_A", "old", TRUE);
  g_setenv ("PROBE_B", "old", TRUE);
  g_setenv ("PROBE_AB", "kept", TRUE);
  TEST_TRUE (start (&child, "echo \"$PROBE_A ${PROBE_B-none} $PROBE_C $PROBE_AB\" >&4", settings));
  TEST_INT (probe_child_answer (&child, 20, NULL, line, sizeof line), PROBE_CHILD_LINE);
  TEST_STR (line, "new none x=y kept");
  TEST_INT (probe_child_answer (&child, 20, NULL, line, sizeof line), PROBE_CHILD_ENDED);
  TEST_INT (probe_child_end (&child, 20), 0);
}

static void
a_child_that_hangs_is_silent_and_killed (void)
{
  ProbeChild child;
  char line[64];
  TEST_TRUE (start (&child, "exec sleep 1000", NULL));
  TEST_INT (probe_child_answer (&child, 0.3, NULL, line, sizeof line), PROBE_CHILD_SILENT);
  TEST_INT (probe_child_end (&child, 0), SIGKILL);
  TEST_INT (child.pid, 0);
}

static bool
always (void)
{
  return true;
}

static void
waiting_ends_when_the_caller_is_stopped (void)
{
  ProbeChild child;
  char line[64];
  TEST_TRUE (start (&child, "exec sleep 1000", NULL));
  TEST_INT (probe_child_answer (&child, 1000, always, line, sizeof line), PROBE_CHILD_STOPPED);
  TEST_INT (probe_child_end (&child, 0), SIGKILL);
}

/* What was asked of one that is gone fails; it does not end the caller, which ignores SIGPIPE. */
static void
a_child_that_is_gone_is_noticed (void)
{
  ProbeChild child;
  char line[64];
  signal (SIGPIPE, SIG_IGN);
  TEST_TRUE (start (&child, "exit 0", NULL));
  TEST_INT (probe_child_answer (&child, 20, NULL, line, sizeof line), PROBE_CHILD_ENDED);
  unsigned tries = 0; /* its answers may end a moment before its requests do */
  while (tries < 1000 && probe_child_request (&child, "anybody?")) {
    g_usleep (1000);
    tries++;
  }
  TEST_TRUE (tries < 1000);
  TEST_INT (probe_child_end (&child, 20), 0);
  char nothing[] = "/nonexistent";
  char *argv[] = { nothing, NULL };
  const char *const none[] = { NULL };
  TEST_FALSE (probe_child_start (&child, argv, none));
  TEST_INT (errno, ENOENT);
}

static void
a_line_without_end_is_no_answer (void)
{
  ProbeChild child;
  char line[64];
  TEST_TRUE (start (&child, "head -c 100000 /dev/zero >&4; exec sleep 1000", NULL));
  TEST_INT (probe_child_answer (&child, 20, NULL, line, sizeof line), PROBE_CHILD_ENDED);
  TEST_INT (probe_child_end (&child, 0), SIGKILL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a child answers lines, and signs of life are passed over", a_child_answers_lines_and_signs_of_life_are_passed_over },
    { "settings are added, replaced and taken away", settings_are_added_replaced_and_taken_away },
    { "a child that hangs is silent, and killed", a_child_that_hangs_is_silent_and_killed },
    { "waiting ends when the caller is stopped", waiting_ends_when_the_caller_is_stopped },
    { "a child that is gone is noticed", a_child_that_is_gone_is_noticed },
    { "a line without end is no answer", a_line_without_end_is_no_answer },
    { 0 },
  };
  return test_main ("probe/child", cases);
}
