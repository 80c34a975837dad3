#define _GNU_SOURCE /* realpath */
#include "base/sandbox.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

/* What is read of the shipped data's folder, which may be a source tree with more in it. */
static const char *const data_folders[] = { "topologies", "scenarios", "calibrate", "plots", "tests/data", NULL };

static GMutex lock;
static char *sandbox;   /* resolved; NULL: none */
static GPtrArray *data; /* char *: resolved folders; NULL: none */

/* Where `path` leads, links followed; of what is not there, its deepest folder that is there and the rest. NULL where that cannot
 * be known: a link to nothing, or a folder that may not be looked into. Returned: full. */
static char *
resolve (const char *path)
{
  g_autofree char *at = g_strdup (path), *rest = NULL;
  for (;;) {
    char real[PATH_MAX];
    struct stat st;
    if (realpath (at, real) != NULL)
      return rest != NULL ? g_build_filename (real, rest, NULL) : g_strdup (real);
    if ((errno != ENOENT && errno != ENOTDIR) || lstat (at, &st) == 0)
      return NULL;
    g_autofree char *name = g_path_get_basename (at), *parent = g_path_get_dirname (at);
    if (strcmp (name, "..") == 0 || strcmp (parent, at) == 0)
      return NULL;
    char *longer = rest != NULL ? g_build_filename (name, rest, NULL) : g_strdup (name);
    g_free (rest);
    rest = longer;
    g_free (at);
    at = g_steal_pointer (&parent);
  }
}

static gboolean
is_below (const char *full, const char *folder)
{
  const size_t n = strlen (folder);
  return strcmp (folder, "/") == 0 || (strncmp (full, folder, n) == 0 && (full[n] == '/' || full[n] == '\0'));
}

gboolean
base_sandbox_set (const char *folder, GError **error)
{
  char real[PATH_MAX];
  struct stat st;
  if (realpath (folder, real) == NULL || stat (real, &st) != 0 || !S_ISDIR (st.st_mode))
    return base_fail_at (error, (BaseMark){ .file = folder }, "is no folder that can be a sandbox");
  g_mutex_lock (&lock);
  const gboolean narrower = sandbox == NULL || is_below (real, sandbox);
  if (narrower) {
    g_free (sandbox);
    sandbox = g_strdup (real);
  }
  g_mutex_unlock (&lock);
  return narrower || base_fail_at (error, (BaseMark){ .file = folder }, "is outside the sandbox, which can only become narrower");
}

gboolean
base_sandbox_is_set (void)
{
  g_mutex_lock (&lock);
  const gboolean set = sandbox != NULL;
  g_mutex_unlock (&lock);
  return set;
}

void
base_sandbox_add_data (const char *root)
{
  g_mutex_lock (&lock);
  if (data == NULL)
    data = g_ptr_array_new_with_free_func (g_free);
  for (const char *const *name = data_folders; *name != NULL; name++) {
    g_autofree char *folder = g_build_filename (root, *name, NULL);
    char real[PATH_MAX];
    if (realpath (folder, real) != NULL && !g_ptr_array_find_with_equal_func (data, real, g_str_equal, NULL))
      g_ptr_array_add (data, g_strdup (real));
  }
  g_mutex_unlock (&lock);
}

/* `full` NULL: it is not known where the path leads. */
static gboolean
judge (const char *path, const char *full, gboolean writes, GError **error)
{
  g_mutex_lock (&lock);
  gboolean inside = full != NULL && is_below (full, sandbox);
  for (guint i = 0; !inside && !writes && full != NULL && data != NULL && i < data->len; i++)
    inside = is_below (full, data->pdata[i]);
  g_mutex_unlock (&lock);
  return inside || base_fail_at (error, (BaseMark){ .file = path }, "is outside the sandbox; %s",
                                 writes ? "a file below its folder is accepted"
                                        : "files below its folder, and shipped ones by their names, are accepted");
}

static gboolean
may (const char *path, gboolean writes, GError **error)
{
  if (!base_sandbox_is_set ())
    return TRUE;
  g_autofree char *full = resolve (path);
  return judge (path, full, writes, error);
}

static gboolean
may_open (int fd, const char *path, gboolean writes, GError **error)
{
  if (!base_sandbox_is_set ())
    return TRUE;
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd), *full = g_file_read_link (link, NULL);
  return judge (path, full, writes, error);
}

gboolean
base_sandbox_may_read (const char *path, GError **error)
{
  return may (path, FALSE, error);
}

gboolean
base_sandbox_may_write (const char *path, GError **error)
{
  return may (path, TRUE, error);
}

gboolean
base_sandbox_may_read_open (int fd, const char *path, GError **error)
{
  return may_open (fd, path, FALSE, error);
}

gboolean
base_sandbox_may_write_open (int fd, const char *path, GError **error)
{
  return may_open (fd, path, TRUE, error);
}
