#define _GNU_SOURCE /* mkostemp */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/sandbox.h"

/* As the kernel's own limit on links met in one path. */
#define LINKS_MAX 40u

/* Wrong path: the user's input. All else, disk full or no permission: the run's failure. */
static gboolean
fail_errno (const char *path, int number, GError **error)
{
  gboolean input = number == ENOENT || number == ENOTDIR || number == EISDIR || number == ENAMETOOLONG || number == ELOOP;
  const char *reason = number == EISDIR ? "is a folder; name a file" : number == ENOENT ? "no such folder" : g_strerror (number);
  base_fail (error, input ? BASE_ERROR_INPUT : BASE_ERROR_RUN, "cannot write '%s': %s", path, reason);
  return FALSE;
}

/* TRUE, or FALSE with errno. */
static gboolean
write_all (int fd, const char *text, gsize n_B)
{
  while (n_B > 0) {
    ssize_t n = write (fd, text, n_B);
    if (n >= 0) {
      text += n;
      n_B -= (gsize)n;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) { /* somebody made the other end non-blocking */
      struct pollfd wait = { .fd = fd, .events = POLLOUT };
      if (poll (&wait, 1, -1) < 0 && errno != EINTR)
        return FALSE;
    } else if (errno != EINTR) {
      return FALSE;
    }
  }
  return TRUE;
}

/* What `path` stands for when its last part is a symbolic link, to a file that may not be there yet. NULL with errno.
 * Returned: full. */
static char *
follow_links (const char *path)
{
  g_autofree char *at = g_strdup (path);
  for (unsigned i = 0; i < LINKS_MAX; i++) {
    struct stat st;
    if (lstat (at, &st) != 0 || !S_ISLNK (st.st_mode))
      return g_steal_pointer (&at);
    char target[4096];
    ssize_t n = readlink (at, target, sizeof target - 1);
    if (n < 0)
      return NULL;
    target[n] = '\0';
    g_autofree char *folder = g_path_get_dirname (at);
    char *next = g_path_is_absolute (target) ? g_strdup (target) : g_build_filename (folder, target, NULL);
    g_free (at);
    at = next;
  }
  errno = ELOOP;
  return NULL;
}

static gboolean
write_in_place (const char *path, const char *text, gsize n_B, GError **error)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return fail_errno (path, errno, error);
  gboolean ok = write_all (fd, text, n_B);
  int number = errno;
  if (close (fd) != 0 && ok) {
    ok = FALSE;
    number = errno;
  }
  return ok || fail_errno (path, number, error);
}

/* ---- temporary files ---- */

/* The name of the temporary file that is written now, which a signal that ends the process removes; NULL: none. */
static char *_Atomic temporary_now;

static const int ending_signals[] = { SIGHUP, SIGINT, SIGTERM };

/* Its action is the default one again when it runs, so that the raised signal ends the process as if this had not been here. */
static void
remove_temporary (int number)
{
  char *name = atomic_exchange (&temporary_now, NULL);
  if (name != NULL)
    (void)unlink (name);
  (void)raise (number);
}

/* A signal that is ignored, or that the program handles itself, stays as it is. */
static void
guard_signals (sigset_t *guarded)
{
  sigemptyset (guarded);
  for (size_t i = 0; i < G_N_ELEMENTS (ending_signals); i++) {
    struct sigaction now, guard = { .sa_handler = remove_temporary, .sa_flags = (int)SA_RESETHAND };
    sigaddset (guarded, ending_signals[i]);
    if (sigaction (ending_signals[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL)
      (void)sigaction (ending_signals[i], &guard, NULL);
  }
}

/* A new file of a random name in `folder`: what another run has left behind is not in its way. Its mode is the umask's. -1 with
 * errno. */
static int
open_temporary (const char *folder, char **name)
{
  char *path = g_build_filename (folder, ".forerun-XXXXXX", NULL);
  sigset_t guarded, before;
  guard_signals (&guarded);
  pthread_sigmask (SIG_BLOCK, &guarded, &before); /* no signal between the file and its name */
  int fd = mkostemp (path, O_CLOEXEC);
  int number = errno;
  if (fd >= 0)
    atomic_store (&temporary_now, path);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  const mode_t mask = umask (077);
  (void)umask (mask);
  if (fd >= 0)
    (void)fchmod (fd, 0666 & ~mask);
  if (fd < 0)
    g_clear_pointer (&path, g_free);
  *name = path;
  errno = number;
  return fd;
}

/* Takes `name`, and removes the file where it has not become another one. */
static void
close_temporary (char *name, gboolean renamed)
{
  (void)atomic_exchange (&temporary_now, NULL);
  if (!renamed)
    (void)unlink (name);
  g_free (name);
}

/* The new name is on disk when its folder is. Some file systems cannot sync a folder: nothing is lost but the guarantee. */
static void
sync_folder (const char *folder)
{
  int fd = open (folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (fd < 0)
    return;
  (void)fsync (fd);
  (void)close (fd);
}

/* `old`: what is replaced, or NULL. TRUE, or FALSE with errno. */
static gboolean
fill_temporary (int fd, const struct stat *old, const char *text, gsize n_B)
{
  if (old != NULL) {
    /* Only root may give a file away; others keep their own. The mode last: a change of owner clears bits of it. */
    if ((old->st_uid != geteuid () || old->st_gid != getegid ()) && fchown (fd, old->st_uid, old->st_gid) != 0 && errno != EPERM)
      return FALSE;
    if (fchmod (fd, old->st_mode & 0777) != 0)
      return FALSE;
  }
  return write_all (fd, text, n_B) && fsync (fd) == 0;
}

/* In a sandbox: the folder that `path` is in, open, so that no link on the way to it can be changed any more. -1 and *error. */
static int
open_folder (const char *shown, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int fd = open (folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (fd < 0)
    fail_errno (shown, errno, error);
  else if (!base_sandbox_may_write_open (fd, shown, error)) {
    (void)close (fd);
    fd = -1;
  }
  return fd;
}

static gboolean
replace (const char *shown, const char *path, const struct stat *old, const char *text, gsize n_B, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  char *temporary = NULL;
  /* A file that its owner made read-only is not replaced behind his back, though its folder would allow it. */
  if (old != NULL && access (path, W_OK) != 0)
    return fail_errno (shown, errno, error);
  int fd = open_temporary (folder, &temporary);
  if (fd < 0)
    return fail_errno (shown, errno, error);
  gboolean ok = fill_temporary (fd, old, text, n_B);
  int number = errno;
  if (close (fd) != 0 && ok) {
    ok = FALSE;
    number = errno;
  }
  if (ok && rename (temporary, path) != 0) {
    ok = FALSE;
    number = errno;
  }
  close_temporary (temporary, ok);
  if (!ok)
    return fail_errno (shown, number, error);
  sync_folder (folder);
  return TRUE;
}

/* What of a path can be known before it is written. *st: what is there, links followed; st_mode 0: nothing. */
static gboolean
check_path (const char *path, struct stat *st, GError **error)
{
  if (path[0] == '\0') {
    g_set_error_literal (error, BASE_ERROR, (int)BASE_ERROR_INPUT, "cannot write to an empty path; name a file");
    return FALSE;
  }
  if (!base_sandbox_may_write (path, error))
    return FALSE;
  gboolean exists = stat (path, st) == 0;
  int number = errno;
  if (exists && !S_ISREG (st->st_mode) && !S_ISDIR (st->st_mode) && base_sandbox_is_set ())
    return base_fail_at (error, (BaseMark){ .file = path }, "is a pipe or a device, which nothing is written to in a sandbox");
  if ((exists && S_ISDIR (st->st_mode)) || g_str_has_suffix (path, "/"))
    return fail_errno (path, EISDIR, error);
  if (exists)
    return TRUE;
  memset (st, 0, sizeof *st);
  return number == ENOENT || fail_errno (path, number, error);
}

gboolean
base_output_file (const char *path, const char *text, gsize n_B, GError **error)
{
  g_return_val_if_fail (path != NULL && (text != NULL || n_B == 0), FALSE);
  struct stat st;
  if (!check_path (path, &st, error))
    return FALSE;
  gboolean exists = st.st_mode != 0;
  if (exists && !S_ISREG (st.st_mode))
    return write_in_place (path, text, n_B, error);
  g_autofree char *target = follow_links (path);
  if (target == NULL)
    return fail_errno (path, errno, error);
  if (!base_sandbox_is_set ())
    return replace (path, target, exists ? &st : NULL, text, n_B, error);
  int fd = open_folder (path, target, error);
  if (fd < 0)
    return FALSE;
  g_autofree char *name = g_path_get_basename (target), *inside = g_strdup_printf ("/proc/self/fd/%d/%s", fd, name);
  gboolean done = replace (path, inside, exists ? &st : NULL, text, n_B, error);
  (void)close (fd);
  return done;
}

gboolean
base_output_check (const char *path, GError **error)
{
  struct stat st;
  if (!check_path (path, &st, error))
    return FALSE;
  g_autofree char *folder = g_path_get_dirname (path);
  return access (st.st_mode != 0 ? path : folder, W_OK) == 0 || fail_errno (path, errno, error);
}

gboolean
base_output_folder (const char *folder, GError **error)
{
  if (!base_sandbox_may_write (folder, error))
    return FALSE;
  if (g_mkdir_with_parents (folder, 0777) == 0)
    return TRUE;
  base_fail (error, BASE_ERROR_RUN, "%s: the folder cannot be made: %s", folder, g_strerror (errno));
  return FALSE;
}

/* ---- one file by two names ---- */

/* What the path of a file that is not there yet leads to: its folder, and its name in it (full). FALSE: the folder is not there. */
static gboolean
find_folder (const char *path, struct stat *folder, char **name)
{
  g_autofree char *target = follow_links (path);
  g_autofree char *parent = target != NULL ? g_path_get_dirname (target) : NULL;
  if (parent == NULL || stat (parent, folder) != 0)
    return FALSE;
  *name = g_path_get_basename (target);
  return TRUE;
}

gboolean
base_output_same (const char *a, const char *b)
{
  struct stat x, y;
  g_autofree char *name = NULL, *other = NULL;
  const gboolean is_there = stat (a, &x) == 0, other_is_there = stat (b, &y) == 0;
  if (strcmp (a, b) == 0)
    return TRUE;
  if (is_there || other_is_there) /* a terminal is one device by many names */
    return is_there && other_is_there && !S_ISCHR (x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  if (find_folder (a, &x, &name) && find_folder (b, &y, &other))
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino && strcmp (name, other) == 0;
  g_autofree char *full = g_canonicalize_filename (a, NULL), *other_full = g_canonicalize_filename (b, NULL);
  return strcmp (full, other_full) == 0;
}

gboolean
base_output_stdout (const char *text, gsize n_B, gboolean *closed, GError **error)
{
  g_return_val_if_fail (text != NULL || n_B == 0, FALSE);
  if (fflush (stdout) == 0 && write_all (STDOUT_FILENO, text, n_B)) {
    *closed = FALSE;
    return TRUE;
  }
  if (errno == EPIPE) {
    *closed = TRUE;
    return TRUE;
  }
  base_fail (error, BASE_ERROR_RUN, "cannot write to standard output: %s", g_strerror (errno));
  return FALSE;
}
