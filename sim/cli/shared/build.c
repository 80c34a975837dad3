/* What this program is: the commit and compiler that it was built with, and the data that it reads. */
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/yaml.h"
#include "manual-private.h"

const char *
cli_build_commit (void)
{
  return FORERUN_COMMIT[0] != '\0' ? FORERUN_COMMIT : NULL;
}

const char *
cli_build_compiler (void)
{
#ifdef __clang__
  return __VERSION__;
#else
  return "gcc " __VERSION__;
#endif
}

const char *
cli_build_type (void)
{
  return FORERUN_BUILD_TYPE;
}

const char *
cli_build_mpi (void)
{
#ifdef FORERUN_MPI_VERSION
  return FORERUN_MPI_VERSION;
#else
  return NULL;
#endif
}

/* Takes the files below `root`/`folder` in the order of their names: a folder's own order is the file system's. */
static void
add_folder (const char *root, const char *folder, GChecksum *sum)
{
  g_autofree char *path = g_build_filename (root, folder, NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    g_ptr_array_add (names, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (names, base_by_text);
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    g_autofree char *file = g_build_filename (root, name, NULL), *bytes = NULL;
    gsize n_B;
    if (g_file_test (file, G_FILE_TEST_IS_DIR)) {
      add_folder (root, name, sum);
    } else if (g_str_has_suffix (name, ".yaml") && base_file_read (file, BASE_YAML_MAX_B, &bytes, &n_B, NULL)) {
      g_checksum_update (sum, (const guchar *)name, (gssize)strlen (name) + 1);
      g_checksum_update (sum, (const guchar *)bytes, (gssize)n_B);
    }
  }
}

char *
cli_data_checksum (const char *root)
{
  static const char *const folders[] = { "calibrate/defaults", "scenarios", "topologies" };
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  for (size_t i = 0; i < G_N_ELEMENTS (folders); i++)
    add_folder (root, folders[i], sum);
  return g_strdup (g_checksum_get_string (sum));
}
