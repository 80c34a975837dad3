/* Where the shipped topologies, scenarios and constants are, and how other files are read. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/yaml.h"
#include "cli-private.h"

gboolean
cli_lookup (Cli *cli, GError **error)
{
  if (cli->lookup != NULL)
    return TRUE;
  g_autofree char *exe = g_file_read_link ("/proc/self/exe", NULL), *root = fr_data_root (exe, error);
  if (root == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  cli->lookup = base_lookup_new (root);
  cli->constants.lookup = cli->lookup;
  return TRUE;
}

static gboolean
read_all (int fd, const char *path, gsize max_B, GByteArray *bytes, GError **error)
{
  const BaseMark file = { .file = path };
  struct stat status;
  if (fstat (fd, &status) == 0 && S_ISDIR (status.st_mode))
    return base_fail_at (error, file, "is a folder; a file is expected");
  for (;;) {
    guint8 block[65536];
    ssize_t n = read (fd, block, sizeof block);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return base_fail_at (error, file, "%s", g_strerror (errno));
    if (n == 0)
      return TRUE;
    g_byte_array_append (bytes, block, (guint)n);
    if (bytes->len > max_B)
      return base_fail_at (error, file, "is larger than %zu MiB, the most that is read", (size_t)(max_B >> 20));
  }
}

char *
cli_read_file (const char *path, gsize max_B, gsize *n_B, GError **error)
{
  gboolean from_stdin = strcmp (path, "-") == 0;
  int fd = from_stdin ? STDIN_FILENO : open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    base_fail_at (error, (BaseMark){ .file = path }, "%s", g_strerror (errno));
    return NULL;
  }
  GByteArray *bytes = g_byte_array_new ();
  gboolean done = read_all (fd, from_stdin ? "stdin" : path, max_B, bytes, error);
  if (!from_stdin)
    close (fd);
  if (!done) {
    g_byte_array_unref (bytes);
    return NULL;
  }
  *n_B = bytes->len;
  g_byte_array_append (bytes, (const guint8 *)"", 1);
  return (char *)g_byte_array_free (bytes, FALSE);
}
