#include "harness.h"
#include "probe_member.h"
#include "probe_team.h"

#include <string.h>

/* A worker of /bin/sh: says who it is, then answers. */
#define SCRIPT                                                                               \
  "echo \"ready $0 $PROBE_SET\" >&4; while read -r verb rest <&3; do case $verb in "         \
  "say) echo . >&4; echo \"$rest\" >&4;; fatal) echo 'fatal broken' >&4; exec sleep 1000;; " \
  "hang) exec sleep 1000;; die) exit 1;; esac; done"

typedef struct {
  char shell[16], option[4], script[512], name[16], log[16];
  char *argv[5], *argv_with_log[5];
  ProbeMember member;
} Fixture;

static void
open_member (Fixture *f)
{
  *f = (Fixture){ .shell = "/bin/sh", .option = "-c", .script = SCRIPT, .name = "plain", .log = "logged" };
  char *argv[] = { f->shell, f->option, f->script, f->name, NULL };
  memcpy (f->argv, argv, sizeof argv);
  argv[3] = f->log;
  memcpy (f->argv_with_log, argv, sizeof argv);
  const ProbeMemberWorker worker = { .argv = f->argv, .argv_with_log = f->argv_with_log };
  probe_member_open (&f->member, &worker);
}

/* Tells it and waits for the answer, 20 s at most, as "line TEXT" or why there is none. */
static const char *
tell (Fixture *f, const char *command, char out[PROBE_ANSWER_MOST + 16])
{
  ProbeAnswer answer;
  double begin = probe_clock_s ();
  bool has = probe_member_send (&f->member, command, &answer);
  while (!has && probe_clock_s () - begin < 20)
    has = probe_member_step (&f->member, 10, &answer);
  if (!has || !probe_answer_write (&answer, out, PROBE_ANSWER_MOST + 16))
    strcpy (out, "no answer");
  return out;
}

static const char *
start (Fixture *f, bool log, char out[PROBE_ANSWER_MOST + 16])
{
  static const char *const settings[] = { "PROBE_SET=a b", "PROBE_OTHER=1", NULL };
  char command[PROBE_COMMAND_MOST];
  TEST_TRUE (probe_member_start_write (20, log, settings, command, sizeof command));
  return tell (f, command, out);
}

static void
a_worker_is_started_under_its_settings_and_asked (void)
{
  Fixture f;
  char text[PROBE_ANSWER_MOST + 16];
  open_member (&f);
  TEST_STR (tell (&f, "ask 20 say one", text), "ended"); /* there is none yet */
  TEST_STR (start (&f, false, text), "line ready plain a b");
  TEST_STR (tell (&f, "ask 20 say two words", text), "line two words");
  TEST_STR (start (&f, true, text), "line ready logged a b"); /* the one of before gives way */
  TEST_STR (tell (&f, "ask 20 say three", text), "line three");
  TEST_STR (tell (&f, "stop 5", text), "line stopped");
  TEST_STR (tell (&f, "stop 5", text), "line stopped");
  TEST_STR (tell (&f, "dance", text), "line fatal a command that is not understood");
  TEST_STR (tell (&f, "start x", text), "line fatal a start that is not understood");
  TEST_STR (tell (&f, "ask", text), "line fatal a command that is not understood");
  probe_member_close (&f.member);
}

static void
what_goes_wrong_is_said_and_the_worker_is_gone (void)
{
  static const struct {
    const char *question, *answer;
  } cases[] = {
    { "ask 20 fatal", "line fatal broken" },
    { "ask 0.2 hang", "silent for 0.2 s" },
    { "ask 20 die", "ended with exit status 1" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    Fixture f;
    char text[PROBE_ANSWER_MOST + 16];
    open_member (&f);
    TEST_STR (start (&f, false, text), "line ready plain a b");
    TEST_STR (tell (&f, cases[i].question, text), cases[i].answer);
    TEST_FALSE (f.member.running || f.member.waiting);
    TEST_STR (start (&f, false, text), "line ready plain a b"); /* and another can be had */
    probe_member_close (&f.member);
  }
}

static void
a_worker_that_is_waited_for_can_be_killed (void)
{
  Fixture f;
  ProbeAnswer answer = { .said = PROBE_REPLY_LINE };
  char text[PROBE_ANSWER_MOST + 16];
  open_member (&f);
  TEST_FALSE (probe_member_send (&f.member, "kill", &answer)); /* nobody waits, nothing is said */
  TEST_STR (start (&f, false, text), "line ready plain a b");
  TEST_FALSE (probe_member_send (&f.member, "ask 1000 hang", &answer));
  TEST_FALSE (probe_member_step (&f.member, 20, &answer));
  TEST_TRUE (probe_member_send (&f.member, "kill", &answer));
  TEST_INT (answer.said, PROBE_REPLY_KILLED);
  TEST_FALSE (probe_member_step (&f.member, 0, &answer));
  probe_member_close (&f.member);
}

static void
too_much_to_start_with_is_refused (void)
{
  const char *settings[PROBE_MEMBER_SETTINGS + 2];
  char command[PROBE_COMMAND_MOST];
  for (unsigned i = 0; i <= PROBE_MEMBER_SETTINGS; i++)
    settings[i] = "A=1";
  settings[PROBE_MEMBER_SETTINGS + 1] = NULL;
  TEST_FALSE (probe_member_start_write (1, false, settings, command, sizeof command));
  settings[PROBE_MEMBER_SETTINGS] = NULL;
  TEST_TRUE (probe_member_start_write (1, false, settings, command, sizeof command));
  TEST_FALSE (probe_member_start_write (1, false, settings, command, 20));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a worker is started under its settings, and asked", a_worker_is_started_under_its_settings_and_asked },
    { "what goes wrong is said, and the worker is gone", what_goes_wrong_is_said_and_the_worker_is_gone },
    { "a worker that is waited for can be killed", a_worker_that_is_waited_for_can_be_killed },
    { "too much to start with is refused", too_much_to_start_with_is_refused },
    { 0 },
  };
  return test_main ("probe/member", cases);
}
