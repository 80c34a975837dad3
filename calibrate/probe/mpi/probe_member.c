#include "probe_member.h"

#include "probe_team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAP_S 1.0 /* a process that has closed its answers is gone in a moment */

void
probe_member_open (ProbeMember *member, const ProbeMemberWorker *worker)
{
  *member = (ProbeMember){ .worker = *worker };
}

/* As probe_child_end; 0 where there is none. */
static int
end_worker (ProbeMember *member, double patience_s)
{
  int status = member->running ? probe_child_end (&member->child, patience_s) : 0;
  member->running = false;
  return status;
}

static bool
say (ProbeMember *member, ProbeAnswer *answer, ProbeReply said, const char *text)
{
  member->waiting = false;
  answer->said = said;
  snprintf (answer->text, sizeof answer->text, "%s", text);
  return true;
}

/* Its answers have ended. */
static bool
say_ended (ProbeMember *member, ProbeAnswer *answer)
{
  char how[32] = "";
  bool was = member->running;
  int status = end_worker (member, REAP_S);
  if (was)
    snprintf (how, sizeof how, status > 0 ? "by signal %d" : "with exit status %d", abs (status));
  return say (member, answer, PROBE_REPLY_ENDED, how);
}

static bool
say_silent (ProbeMember *member, ProbeAnswer *answer)
{
  char how[48];
  snprintf (how, sizeof how, "for %.3g s", member->patience_s);
  end_worker (member, 0);
  return say (member, answer, PROBE_REPLY_SILENT, how);
}

static void
wait_for (ProbeMember *member, double patience_s)
{
  member->waiting = true;
  member->patience_s = patience_s;
  member->since_s = probe_clock_s ();
}

static bool
start (ProbeMember *member, const char *text, ProbeAnswer *answer)
{
  char copy[PROBE_COMMAND_MOST], mark[2] = { PROBE_MEMBER_MARK, '\0' };
  const char *settings[PROBE_MEMBER_SETTINGS + 1];
  size_t n = 0;
  double patience_s = 0;
  int log = 0;
  end_worker (member, 0);
  if (strlen (text) >= sizeof copy || sscanf (text, "%lf %1d", &patience_s, &log) != 2)
    return say (member, answer, PROBE_REPLY_LINE, "fatal a start that is not understood");
  strcpy (copy, text);
  char *rest = strchr (copy, PROBE_MEMBER_MARK), *state = NULL;
  for (char *item = rest != NULL ? strtok_r (rest, mark, &state) : NULL; item != NULL; item = strtok_r (NULL, mark, &state)) {
    if (n == PROBE_MEMBER_SETTINGS)
      return say (member, answer, PROBE_REPLY_LINE, "fatal too many settings");
    settings[n++] = item;
  }
  settings[n] = NULL;
  member->running = probe_child_start (&member->child, log == 1 ? member->worker.argv_with_log : member->worker.argv, settings);
  if (!member->running)
    return say (member, answer, PROBE_REPLY_LINE, "fatal no worker could be started");
  wait_for (member, patience_s);
  return false;
}

static bool
query (ProbeMember *member, const char *text, ProbeAnswer *answer)
{
  double patience_s = 0;
  int used = 0;
  if (sscanf (text, "%lf %n", &patience_s, &used) != 1 || used == 0)
    return say (member, answer, PROBE_REPLY_LINE, "fatal a question that is not understood");
  if (!member->running || !probe_child_request (&member->child, text + used))
    return say_ended (member, answer);
  wait_for (member, patience_s);
  return false;
}

bool
probe_member_send (ProbeMember *member, const char *command, ProbeAnswer *answer)
{
  if (strcmp (command, "kill") == 0) {
    end_worker (member, 0);
    return member->waiting && say (member, answer, PROBE_REPLY_KILLED, "");
  }
  if (strncmp (command, "start ", 6) == 0)
    return start (member, command + 6, answer);
  if (strncmp (command, "ask ", 4) == 0)
    return query (member, command + 4, answer);
  if (strncmp (command, "stop ", 5) != 0)
    return say (member, answer, PROBE_REPLY_LINE, "fatal a command that is not understood");
  end_worker (member, strtod (command + 5, NULL));
  return say (member, answer, PROBE_REPLY_LINE, "stopped");
}

bool
probe_member_step (ProbeMember *member, int wait_ms, ProbeAnswer *answer)
{
  char line[PROBE_ANSWER_MOST];
  bool heard = false;
  if (!member->waiting)
    return false;
  ProbeChildState state = probe_child_step (&member->child, wait_ms, &heard, line, sizeof line);
  double now = probe_clock_s ();
  if (state == PROBE_CHILD_LINE) {
    if (strncmp (line, "fatal ", 6) == 0)
      end_worker (member, 0); /* it ends itself, and may stall before that */
    return say (member, answer, PROBE_REPLY_LINE, line);
  }
  if (state != PROBE_CHILD_SILENT)
    return say_ended (member, answer);
  member->since_s = heard ? now : member->since_s;
  if (now - member->since_s <= member->patience_s)
    return false;
  return say_silent (member, answer);
}

void
probe_member_close (ProbeMember *member)
{
  end_worker (member, 0);
  member->waiting = false;
}

bool
probe_member_start_write (double patience_s, bool log, const char *const settings[], char *out, size_t size)
{
  int n = snprintf (out, size, "start %.9g %d", patience_s, log ? 1 : 0);
  size_t length = n > 0 ? (size_t)n : size;
  for (size_t i = 0; settings[i] != NULL; i++) {
    size_t more = strlen (settings[i]);
    if (i == PROBE_MEMBER_SETTINGS || length + more + 2 > size)
      return false;
    out[length++] = PROBE_MEMBER_MARK;
    memcpy (out + length, settings[i], more + 1);
    length += more;
  }
  return length < size;
}
