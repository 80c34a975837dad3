#include "api/load.h"

#include <string.h>

/* ---- the shipped data ---- */

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

/* What is installed has share/forerun beside its folder or further up (lib/x86_64-linux-gnu); what lies in a build tree has the
 * source tree above it. */
static char *
root_above (const char *file)
{
  g_autofree char *folder = g_path_get_dirname (file);
  for (;;) {
    g_autofree char *installed = g_build_filename (folder, "share", "forerun", NULL);
    if (is_root (installed))
      return g_steal_pointer (&installed);
    if (is_root (folder))
      return g_steal_pointer (&folder);
    char *parent = g_path_get_dirname (folder);
    gboolean top = strcmp (parent, folder) == 0;
    g_free (folder);
    folder = parent;
    if (top)
      return NULL;
  }
}

char *
fr_data_root (const char *file, GError **error)
{
  const char *named = g_getenv ("FORERUN_DATA");
  if (named != NULL && *named != '\0') {
    if (holds (named, "topologies"))
      return g_strdup (named);
    base_fail (error, BASE_ERROR_INPUT,
               "FORERUN_DATA is '%s', which holds no topologies/; it names the folder with topologies/, scenarios/ and calibrate/",
               named);
    return NULL;
  }
  char *root = file != NULL ? root_above (file) : NULL;
  if (root == NULL && is_root (FORERUN_SOURCE_DIR))
    root = g_strdup (FORERUN_SOURCE_DIR);
  if (root == NULL)
    base_fail (error, BASE_ERROR_INPUT,
               "the shipped topologies were not found beside the program (../share/forerun), above it, or where it was built; set "
               "FORERUN_DATA to the folder with topologies/, scenarios/ and calibrate/");
  return root;
}

/* ---- scenarios ---- */

char *
fr_scenario_path (const BaseLookup *lookup, const char *name, GError **error)
{
  char *path = base_lookup_find (lookup, name, FR_CASES_FOLDER, NULL, NULL);
  return path != NULL ? path : base_lookup_find (lookup, name, FR_SCENARIOS_FOLDER, NULL, error);
}
