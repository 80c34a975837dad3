/* Files of a temporary folder, for tests of what reads them. */
#ifndef TEST_FOLDER_FIXTURE_H
#define TEST_FOLDER_FIXTURE_H

#include <glib/gstdio.h>

#include "harness.h"

/* Writes `text` to FOLDER/FILE, making the folders on the way. */
static inline void
folder_put (const char *folder, const char *file, const char *text)
{
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  TEST_INT (g_mkdir_with_parents (parent, 0755), 0);
  TEST_TRUE (g_file_set_contents (path, text, -1, NULL));
}

/* Removes a folder and all below it, or a file. */
static inline void
folder_remove (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *below = g_build_filename (path, name, NULL);
    folder_remove (below);
  }
  g_remove (path);
}

/* `text` with ROOT for the name of the folder, which differs from run to run. Returned: full. */
static inline char *
folder_hidden (const char *root, const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, root, -1);
  return g_strjoinv ("ROOT", parts);
}

#endif
