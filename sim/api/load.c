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
    g_set_error (
        error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
        "FORERUN_DATA is '%s', which holds no topologies/; it names the folder with topologies/, scenarios/ and calibrate/", named);
    return NULL;
  }
  char *root = file != NULL ? root_above (file) : NULL;
  if (root == NULL && is_root (FORERUN_SOURCE_DIR))
    root = g_strdup (FORERUN_SOURCE_DIR);
  if (root == NULL)
    g_set_error (
        error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
        "the shipped topologies were not found beside the program (../share/forerun), above it, or where it was built; set "
        "FORERUN_DATA to the folder with topologies/, scenarios/ and calibrate/");
  return root;
}

/* ---- constants ---- */

const MdlLibrary *
fr_constants_load (void *user, const MdlLibraryAsk *ask, GError **error)
{
  FrConstants *constants = user;
  MdlLibraryAsk own = *ask;
  own.lookup = constants->lookup;
  Cst *cal = cst_load (&own, error);
  if (cal == NULL)
    return NULL;
  if (constants->loaded == NULL)
    constants->loaded = g_ptr_array_new_with_free_func ((GDestroyNotify)cst_free);
  g_ptr_array_add (constants->loaded, cal);
  return cst_library (cal);
}

const MdlLibrary *
fr_constants_share (void *user, const MdlLibraryAsk *ask, GError **error)
{
  FrConstants *constants = user;
  g_autofree char *key = g_strdup_printf ("%s\n%s\n%s", ask->name != NULL ? ask->name : "",
                                          ask->gpu_type != NULL ? ask->gpu_type : "", ask->nccl != NULL ? ask->nccl : "");
  if (g_strcmp0 (key, constants->shared) == 0)
    return cst_library (g_ptr_array_index (constants->loaded, constants->loaded->len - 1));
  const MdlLibrary *library = fr_constants_load (user, ask, error);
  if (library != NULL) {
    g_free (constants->shared);
    constants->shared = g_steal_pointer (&key);
  }
  return library;
}

const char *
fr_constants_name (const FrConstants *constants)
{
  const GPtrArray *loaded = constants->loaded;
  return loaded != NULL ? cst_name (g_ptr_array_index (loaded, loaded->len - 1)) : NULL;
}

void
fr_constants_clear (FrConstants *constants)
{
  g_clear_pointer (&constants->loaded, g_ptr_array_unref);
  g_clear_pointer (&constants->shared, g_free);
}

/* ---- scenarios ---- */

char *
fr_scenario_path (const BaseLookup *lookup, const char *name, GError **error)
{
  char *path = base_lookup_find (lookup, name, FR_CASES_FOLDER, NULL, NULL);
  return path != NULL ? path : base_lookup_find (lookup, name, FR_SCENARIOS_FOLDER, NULL, error);
}

FrLoaded *
fr_loaded_new (const char *path, const char *text, const BaseLookup *lookup, const ScnOptions *options, GError **error)
{
  g_autoptr (FrLoaded) loaded = g_new0 (FrLoaded, 1);
  FrConstants *constants = &loaded->constants;
  constants->lookup = lookup;
  loaded->scenario = scn_load (path, text, lookup, options, fr_constants_load, constants, error);
  return loaded->scenario != NULL ? g_steal_pointer (&loaded) : NULL;
}

void
fr_loaded_free (FrLoaded *loaded)
{
  if (loaded == NULL)
    return;
  scn_free (loaded->scenario);
  fr_constants_clear (&loaded->constants);
  g_free (loaded);
}
