/* Where the shipped topologies, scenarios and constants are, and how other files are read. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/yaml.h"
#include "cli-private.h"

static gboolean
holds (const char *root, const char *folder)
{
  g_autofree char *path = g_build_filename (root, folder, NULL);
  return g_file_test (path, G_FILE_TEST_IS_DIR);
}

static gboolean
is_root (const char *root)
{
  return holds (root, "topologies") && holds (root, "scenarios");
}

/* An installed tool has ../share/forerun beside its folder; one in a build tree has the source tree above it. */
static char *
root_near_executable (void)
{
  g_autofree char *exe = g_file_read_link ("/proc/self/exe", NULL);
  if (exe == NULL)
    return NULL;
  g_autofree char *folder = g_path_get_dirname (exe);
  g_autofree char *above = g_path_get_dirname (folder);
  char *installed = g_build_filename (above, "share", "forerun", NULL);
  if (is_root (installed))
    return installed;
  g_free (installed);
  while (!is_root (folder)) {
    char *parent = g_path_get_dirname (folder);
    gboolean top = strcmp (parent, folder) == 0;
    g_free (folder);
    folder = parent;
    if (top)
      return NULL;
  }
  return g_steal_pointer (&folder);
}

gboolean
cli_lookup (Cli *cli, GError **error)
{
  if (cli->lookup != NULL)
    return TRUE;
  const char *told = g_getenv ("FORERUN_DATA");
  if (told != NULL && *told != '\0') {
    if (!holds (told, "topologies"))
      return cli_fail (cli, error,
                       "FORERUN_DATA is '%s', which holds no topologies/; it names the folder with topologies/, scenarios/ "
                       "and calibrate/",
                       told);
    cli->lookup = base_lookup_new (told);
    return TRUE;
  }
  g_autofree char *root = root_near_executable ();
  if (root == NULL && is_root (FORERUN_SOURCE_DIR))
    root = g_strdup (FORERUN_SOURCE_DIR);
  if (root == NULL)
    return cli_fail (
        cli, error,
        "the shipped topologies were not found beside the program (../share/forerun), above it, or where it was built; set "
        "FORERUN_DATA to the folder with topologies/, scenarios/ and calibrate/");
  cli->lookup = base_lookup_new (root);
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
