/* Reading a file whose size and kind are the user's: looked at before it is read, and never read beyond the limit. */
#include "yaml-private.h"

#include "base/diag.h"

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
fail_size (const char *path, gint64 size_B, GError **error)
{
  const BaseMark file = { .file = path };
  if (size_B < 0)
    return base_fail_at (error, file, "is longer than %u B, the most that is read", BASE_YAML_MAX_B);
  return base_fail_at (error, file, "is %" G_GINT64_FORMAT " B long; at most %u B are read", size_B, BASE_YAML_MAX_B);
}

/* Files and pipes are read; a device may never end, and is taken for standard input only. */
static gboolean
check_kind (const char *path, const struct stat *st, GError **error)
{
  if (S_ISDIR (st->st_mode))
    return base_fail_at (error, (BaseMark){ .file = path }, "is a folder; name a file");
  if (S_ISREG (st->st_mode))
    return st->st_size <= (off_t)BASE_YAML_MAX_B || fail_size (path, (gint64)st->st_size, error);
  if (S_ISFIFO (st->st_mode) || S_ISSOCK (st->st_mode))
    return TRUE;
  if (S_ISCHR (st->st_mode) && (strcmp (path, "/dev/stdin") == 0 || strcmp (path, "/dev/null") == 0))
    return TRUE;
  return base_fail_at (error, (BaseMark){ .file = path }, "is a device; name a file");
}

static gboolean
read_all (int fd, const char *path, GByteArray *out, GError **error)
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
    if (out->len + (gsize)n > BASE_YAML_MAX_B)
      return fail_size (path, -1, error);
    g_byte_array_append (out, chunk, (guint)n);
  }
}

gboolean
base_yaml_read_bytes (const char *path, char **bytes, gsize *n_B, GError **error)
{
  struct stat st;
  if (stat (path, &st) != 0)
    return fail_errno (path, errno, error);
  if (!check_kind (path, &st, error)) /* before open: a device's open may already do something */
    return FALSE;
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail_errno (path, errno, error);
  if (fstat (fd, &st) != 0 || !check_kind (path, &st, error)) {
    if (error != NULL && *error == NULL)
      fail_errno (path, errno, error);
    close (fd);
    return FALSE;
  }
  g_autoptr (GByteArray) data = g_byte_array_new ();
  gboolean ok = read_all (fd, path, data, error);
  close (fd);
  if (!ok)
    return FALSE;
  *n_B = data->len;
  g_byte_array_append (data, (const guint8 *)"", 1);
  *bytes = (char *)g_byte_array_free (g_steal_pointer (&data), FALSE);
  return TRUE;
}
