/* A file is looked at before it is read, and never read beyond the limit. */
#include "base/file.h"

#include "base/diag.h"
#include "base/sandbox.h"
#include "file-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean
fail_errno (const char *path, int number, GError **error)
{
  switch (number) {
    case ENOENT:
      return base_fail_at (error, (BaseMark){ .file = path }, "no such file");
    case EACCES:
      return base_fail_at (error, (BaseMark){ .file = path }, "permission denied");
    case EISDIR:
      return base_fail_at (error, (BaseMark){ .file = path }, "is a folder; name a file");
    default:
      return base_fail_at (error, (BaseMark){ .file = path }, "%s", g_strerror (number));
  }
}

static gboolean
fail_size (const char *path, gint64 size_B, gsize max_B, GError **error)
{
  const BaseMark file = { .file = path };
  if (size_B < 0)
    return base_fail_at (error, file, "is longer than %" G_GSIZE_FORMAT " B, the most that is read", max_B);
  return base_fail_at (error, file, "is %" G_GINT64_FORMAT " B long; at most %" G_GSIZE_FORMAT " B are read", size_B, max_B);
}

static gboolean
is_stdin (const char *path)
{
  return strcmp (path, "/dev/stdin") == 0;
}

/* The name of something that is open already: whoever opened it has waited for its other end. */
static gboolean
is_descriptor (const char *path)
{
  return is_stdin (path) || g_str_has_prefix (path, "/dev/fd/") || g_str_has_prefix (path, "/proc/self/fd/");
}

/* A named pipe may wait for ever, and a device may never end: both are taken for standard input only. */
static gboolean
check_kind (const char *path, const struct stat *st, gsize max_B, GError **error)
{
  const BaseMark file = { .file = path };
  if (S_ISDIR (st->st_mode))
    return base_fail_at (error, file, "is a folder; name a file");
  if (S_ISREG (st->st_mode))
    return (guint64)st->st_size <= max_B || fail_size (path, (gint64)st->st_size, max_B, error);
  if (S_ISFIFO (st->st_mode) || S_ISSOCK (st->st_mode))
    return is_descriptor (path) ||
           base_fail_at (error, file, "is a %s; name a file", S_ISFIFO (st->st_mode) ? "named pipe" : "socket");
  if (S_ISCHR (st->st_mode) && (is_stdin (path) || strcmp (path, "/dev/null") == 0))
    return TRUE;
  return base_fail_at (error, file, "is a device; name a file");
}

static gboolean
read_all (int fd, const char *path, gsize max_B, GByteArray *out, GError **error)
{
  for (;;) {
    guint8 chunk[65536];
    ssize_t n = read (fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno (path, errno, error);
    if (n == 0)
      return TRUE;
    if (out->len + (gsize)n > max_B)
      return fail_size (path, -1, max_B, error);
    g_byte_array_append (out, chunk, (guint)n);
  }
}

int
base_file_open (const char *path, gsize max_B, GError **error)
{
  struct stat st;
  if (!is_stdin (path) && !base_sandbox_may_read (path, error))
    return -1;
  if (stat (path, &st) != 0) {
    fail_errno (path, errno, error);
    return -1;
  }
  if (!check_kind (path, &st, max_B, error)) /* before open: a device's open may already do something */
    return -1;
  /* What took the file's place since then is not waited for. */
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_descriptor (path) ? 0 : O_NONBLOCK));
  if (fd >= 0 && fstat (fd, &st) == 0) {
    if (check_kind (path, &st, max_B, error) && (is_stdin (path) || base_sandbox_may_read_open (fd, path, error)))
      return fd;
  } else
    fail_errno (path, errno, error);
  if (fd >= 0)
    close (fd);
  return -1;
}

gboolean
base_file_read (const char *path, gsize max_B, char **bytes, gsize *n_B, GError **error)
{
  const gboolean from_stdin = strcmp (path, "-") == 0;
  struct stat st;
  if (from_stdin && fstat (STDIN_FILENO, &st) == 0 && S_ISDIR (st.st_mode))
    return fail_errno ("stdin", EISDIR, error);
  const int fd = from_stdin ? STDIN_FILENO : base_file_open (path, max_B, error);
  if (fd < 0)
    return FALSE;
  g_autoptr (GByteArray) data = g_byte_array_new ();
  gboolean ok = read_all (fd, from_stdin ? "stdin" : path, max_B, data, error);
  if (!from_stdin)
    close (fd);
  if (!ok)
    return FALSE;
  *n_B = data->len;
  g_byte_array_append (data, (const guint8 *)"", 1);
  *bytes = (char *)g_byte_array_free (g_steal_pointer (&data), FALSE);
  return TRUE;
}

gboolean
base_file_is_file (const char *path)
{
  return base_sandbox_may_read (path, NULL) && g_file_test (path, G_FILE_TEST_IS_REGULAR);
}

gboolean
base_file_is_folder (const char *path)
{
  return base_sandbox_may_read (path, NULL) && g_file_test (path, G_FILE_TEST_IS_DIR);
}
