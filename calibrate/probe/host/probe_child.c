#include "probe_child.h"

#include "probe_team.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_MOST 8192 /* 50 samples of 16 characters are 800 */
#define FREE_FROM 10   /* pipes are moved above the numbers that the child gets */
#define POLL_MS   200  /* how late a signal is seen at most */

extern char **environ;

static bool
is_named (const char *entry, const char *setting)
{
  size_t n = strcspn (setting, "=");
  return strncmp (entry, setting, n) == 0 && entry[n] == '=';
}

/* The environment with the settings in place of what they name. The strings are borrowed. */
static char **
environment_with (const char *const settings[])
{
  size_t n = 0, n_settings = 0, length = 0;
  while (environ[n] != NULL)
    n++;
  while (settings[n_settings] != NULL)
    n_settings++;
  char **out = calloc (n + n_settings + 1, sizeof *out);
  if (out == NULL)
    return NULL;
  for (size_t i = 0; i < n; i++) {
    bool replaced = false;
    for (size_t s = 0; s < n_settings && !replaced; s++)
      replaced = is_named (environ[i], settings[s]);
    if (!replaced)
      out[length++] = environ[i];
  }
  for (size_t s = 0; s < n_settings; s++)
    if (strchr (settings[s], '=') != NULL)
      out[length++] = (char *)(uintptr_t)settings[s]; /* exec takes them as not const, and leaves them alone */
  return out;
}

/* A pipe whose ends are closed by exec and lie above the child's numbers. */
static bool
make_pipe (int out[2])
{
  int low[2];
  if (pipe (low) != 0)
    return false;
  out[0] = fcntl (low[0], F_DUPFD_CLOEXEC, FREE_FROM);
  out[1] = fcntl (low[1], F_DUPFD_CLOEXEC, FREE_FROM);
  int why = errno;
  close (low[0]);
  close (low[1]);
  if (out[0] >= 0 && out[1] >= 0)
    return true;
  if (out[0] >= 0)
    close (out[0]);
  if (out[1] >= 0)
    close (out[1]);
  errno = why;
  return false;
}

static int
spawn (pid_t *pid, char *const argv[], char *const envp[], int requests, int answers)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init (&actions);
  if (error != 0)
    return error;
  error = posix_spawnattr_init (&attributes);
  if (error != 0) {
    posix_spawn_file_actions_destroy (&actions);
    return error;
  }
  sigset_t none, defaults;
  sigemptyset (&none);
  sigemptyset (&defaults);
  sigaddset (&defaults, SIGPIPE); /* the parent ignores it, and exec would hand that on */
  posix_spawnattr_setsigmask (&attributes, &none);
  posix_spawnattr_setsigdefault (&attributes, &defaults);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  error = posix_spawn_file_actions_adddup2 (&actions, requests, PROBE_CHILD_REQUESTS);
  if (error == 0)
    error = posix_spawn_file_actions_adddup2 (&actions, answers, PROBE_CHILD_ANSWERS);
  if (error == 0)
    error = posix_spawn (pid, argv[0], &actions, &attributes, argv, envp);
  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  return error;
}

bool
probe_child_start (ProbeChild *child, char *const argv[], const char *const settings[])
{
  int requests[2], answers[2];
  *child = (ProbeChild){ .to = -1, .from = -1 };
  char **envp = environment_with (settings);
  child->buffer = malloc (LINE_MOST);
  if (envp == NULL || child->buffer == NULL || !make_pipe (requests)) {
    free (envp);
    free (child->buffer);
    child->buffer = NULL;
    return false;
  }
  int error = make_pipe (answers) ? 0 : errno;
  if (error == 0) {
    error = spawn (&child->pid, argv, envp, requests[0], answers[1]);
    close (answers[1]);
    child->from = answers[0];
  }
  close (requests[0]);
  child->to = requests[1];
  free (envp);
  if (error == 0)
    return true;
  child->pid = 0;
  probe_child_end (child, 0);
  errno = error;
  return false;
}

bool
probe_child_request (ProbeChild *child, const char *line)
{
  char text[512];
  size_t n = strlen (line);
  if (n + 2 > sizeof text || child->to < 0)
    return false;
  memcpy (text, line, n);
  text[n++] = '\n';
  for (size_t done = 0; done < n;) {
    ssize_t written = write (child->to, text + done, n - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    done += (size_t)written;
  }
  return true;
}

/* Takes a whole line out of the buffer; false: none is there yet. */
static bool
take_line (ProbeChild *child, char *out, size_t size)
{
  char *end = memchr (child->buffer, '\n', child->length);
  if (end == NULL)
    return false;
  size_t n = (size_t)(end - child->buffer), kept = n < size - 1 ? n : size - 1;
  memcpy (out, child->buffer, kept);
  out[kept] = '\0';
  child->length -= n + 1;
  memmove (child->buffer, end + 1, child->length);
  return true;
}

ProbeChildState
probe_child_step (ProbeChild *child, int wait_ms, bool *heard, char *out, size_t size)
{
  *heard = false;
  for (bool read_on = true; read_on;) {
    while (take_line (child, out, size))
      if (strcmp (out, ".") != 0)
        return PROBE_CHILD_LINE;
    if (child->from < 0 || child->length == LINE_MOST) /* a line without end is no answer */
      return PROBE_CHILD_ENDED;
    struct pollfd ready = { .fd = child->from, .events = POLLIN };
    int n = poll (&ready, 1, *heard ? 0 : wait_ms);
    if (n < 0 && errno != EINTR)
      return PROBE_CHILD_ENDED;
    ssize_t got = n > 0 ? read (child->from, child->buffer + child->length, LINE_MOST - child->length) : -1;
    if (n > 0 && got <= 0 && !(got < 0 && errno == EINTR))
      return PROBE_CHILD_ENDED;
    read_on = got > 0;
    *heard = *heard || got > 0;
    child->length += got > 0 ? (size_t)got : 0;
  }
  return PROBE_CHILD_SILENT;
}

ProbeChildState
probe_child_answer (ProbeChild *child, double patience_s, bool (*stopped) (void), char *out, size_t size)
{
  double since = probe_clock_s ();
  bool heard = false;
  ProbeChildState state = probe_child_step (child, 0, &heard, out, size);
  while (state == PROBE_CHILD_SILENT) {
    double now = probe_clock_s ();
    since = heard ? now : since;
    if (stopped != NULL && stopped ())
      return PROBE_CHILD_STOPPED;
    if (now - since > patience_s)
      return PROBE_CHILD_SILENT;
    state = probe_child_step (child, POLL_MS, &heard, out, size);
  }
  return state;
}

int
probe_child_end (ProbeChild *child, double patience_s)
{
  const struct timespec nap = { .tv_nsec = 20000000 };
  const double last_wait_s = 10; /* a killed process may take the driver this long to take apart */
  int status = 0, result = 0;
  if (child->to >= 0)
    close (child->to); /* the end of requests */
  if (child->pid > 0) {
    double begin = probe_clock_s ();
    bool killed = false;
    pid_t got;
    while ((got = waitpid (child->pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
      double waited = probe_clock_s () - begin;
      if (!killed && waited >= patience_s)
        killed = kill (child->pid, SIGKILL) == 0;
      if (waited > patience_s + last_wait_s)
        break;
      nanosleep (&nap, NULL);
    }
    if (got == child->pid)
      result = WIFSIGNALED (status) ? WTERMSIG (status) : -WEXITSTATUS (status);
    else
      result = SIGKILL;
  }
  if (child->from >= 0)
    close (child->from);
  free (child->buffer);
  *child = (ProbeChild){ .to = -1, .from = -1 };
  return result;
}
