/* A program that is run without a shell, on files that have no name: no temporary is left behind, however it or this one ends. */
#define _GNU_SOURCE /* memfd_create */
#include "process-private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define TICK_MS    20u
#define MAX_SAID_B 65536u /* of stderr, before the program is taken for one that never ends */

int
rep_memory_file (const char *name, const GString *bytes)
{
  int fd = memfd_create (name, MFD_CLOEXEC);
  for (gsize at = 0; fd >= 0 && bytes != NULL && at < bytes->len;) {
    ssize_t n = write (fd, bytes->str + at, bytes->len - at);
    if (n < 0 && errno != EINTR) {
      close (fd);
      return -1;
    }
    at += n > 0 ? (gsize)n : 0;
  }
  return fd;
}

GString *
rep_memory_file_read (int fd)
{
  GString *out = g_string_new (NULL);
  for (off_t at = 0;;) {
    char block[65536];
    ssize_t n = pread (fd, block, sizeof block, at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return out;
    g_string_append_len (out, block, n);
    at += n;
  }
}

/* In the child, before exec: only what a signal handler may call. A group of its own, so that its children end with it; and it ends
 * when this program does. */
static void
begin_child (gpointer data)
{
  const RepProcess *process = data;
  for (size_t i = 0; i < process->n_files; i++)
    (void)fcntl (process->files[i], F_SETFD, 0);
  (void)setpgid (0, 0);
  (void)prctl (PR_SET_PDEATHSIG, SIGKILL);
}

/* Reads what there is. FALSE: all was read. */
static gboolean
listen (int fd, GString *said)
{
  char block[4096];
  ssize_t n = read (fd, block, sizeof block);
  if (n > 0)
    g_string_append_len (said, block, n);
  return n > 0 || (n < 0 && errno == EINTR);
}

/* Waits for the child, and takes what it says. FALSE: it has not ended in time, or never stops talking. */
static gboolean
await (pid_t pid, int fd, guint ticks, GString *said, int *status)
{
  struct pollfd wait = { .fd = fd, .events = POLLIN };
  for (guint i = 0; i < ticks && said->len < MAX_SAID_B;) {
    const int ready = poll (&wait, wait.fd >= 0 ? 1 : 0, (int)TICK_MS);
    if (ready > 0) {
      wait.fd = listen (fd, said) ? fd : -1;
      continue;
    }
    if (waitpid (pid, status, WNOHANG) == pid)
      return TRUE;
    i++;
  }
  return FALSE;
}

gboolean
rep_process_run (const RepProcess *process, GString *said, GError **error)
{
  GPid pid;
  int fd = -1, status = 0;
  g_autoptr (GError) cause = NULL;
  const GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_DO_NOT_REAP_CHILD;
  if (!g_spawn_async_with_pipes (process->folder, (char **)process->words, NULL, flags, begin_child, (gpointer)process, &pid, NULL,
                                 NULL, &fd, &cause)) {
    base_fail (error, BASE_ERROR_RUN, "%s cannot be run: %s", process->words[0], cause->message);
    return FALSE;
  }
  const gboolean ended = await (pid, fd, process->limit_s * 1000 / TICK_MS, said, &status);
  (void)kill (-pid, SIGKILL); /* itself where it has not ended, and what it has started */
  if (!ended)
    (void)waitpid (pid, &status, 0);
  close (fd);
  g_spawn_close_pid (pid);
  if (ended && WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return TRUE;
  g_autofree char *text = g_utf8_make_valid (g_strdelimit (g_strstrip (said->str), "\n", ' '), -1); /* a message is one line */
  if (ended)
    base_fail (error, BASE_ERROR_RUN, "%s failed: %s", process->words[0], *text != '\0' ? text : "it prints no reason");
  else
    base_fail (error, BASE_ERROR_RUN, "%s did not end within %u s and was stopped", process->words[0], process->limit_s);
  return FALSE;
}
