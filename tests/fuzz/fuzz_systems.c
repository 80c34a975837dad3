/* Any bytes as systems.yaml of a folder of measurements, and as a file of measurements whose writer is looked for (CSV, probe's
 * JSON, what tools print): an error, or points that can be priced. */
#include <glib/gstdio.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "calibrate/measured.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define ROWS "op,gpus,algo,proto,launch,bytes,time_us\nall_reduce,4,ring,ll,graph,1024,10\n"

typedef struct {
  const uint8_t *data;
  size_t size;
} Input;

/* systems.yaml is on the disk; its parts are all the same rows. */
static char *
read_rows (void *user, const char *path, gsize max_B, gsize *n_B, GError **error)
{
  (void)user, (void)path, (void)max_B, (void)error;
  *n_B = strlen (ROWS);
  return g_strdup (ROWS);
}

static char *
read_input (void *user, const char *path, gsize max_B, gsize *n_B, GError **error)
{
  const Input *input = user;
  (void)path, (void)max_B, (void)error;
  char *bytes = g_malloc (input->size + 1);
  if (input->size > 0)
    memcpy (bytes, input->data, input->size);
  bytes[input->size] = '\0';
  *n_B = input->size;
  return bytes;
}

static void
ignore_documents (void *user, const GPtrArray *yamls)
{
  (void)user, (void)yamls;
}

static void
hear (void *user, const char *text)
{
  (void)user;
  g_assert_true (text != NULL && strchr (text, '\n') == NULL);
}

static void
check (CalData *data, GError *error)
{
  g_assert_true ((data == NULL) == (error != NULL));
  g_assert_true (error == NULL || (error->domain == BASE_ERROR && g_utf8_validate (error->message, -1, NULL)));
  for (guint i = 0; data != NULL && i < data->points->len; i++) {
    const CalMeasured *point = &g_array_index (data->points, CalMeasured, i);
    g_assert_cmpuint (point->system, <, data->spec.systems.n);
    g_assert_true (point->op < MDL_OP_N && point->nodes > 0 && point->gpus > 0);
    g_assert_true (point->size_B > 0 && isfinite (point->size_B) && point->time_s > 0 && isfinite (point->time_s));
  }
  g_clear_error (&error);
  cal_data_free (data);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const files[][2] = { { "any.csv", NULL }, { "any.json", NULL }, { "any.txt", NULL } };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autofree char *folder = g_strdup_printf ("%s/fuzz-%d", g_get_tmp_dir (), (int)getpid ());
  g_autofree char *systems = g_build_filename (folder, "systems.yaml", NULL);
  Input input = { data, size };
  CalHost host = { &input, lookup, 1, NULL, read_rows, ignore_documents, hear };
  GError *error = NULL;
  if (g_mkdir_with_parents (folder, 0700) != 0 || !g_file_set_contents (systems, (const char *)data, (gssize)size, NULL))
    abort ();
  CalData *read = cal_data_load (&host, folder, NULL, &error);
  check (read, error);
  host.read = read_input;
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
    const CalFilesQuery query = { .topology = "hgx_h200", .launch = (MdlLaunch)i, .op = -1 };
    error = NULL;
    read = cal_data_load_files (&host, files[i], &query, &error);
    check (read, error);
  }
  g_unlink (systems);
  g_rmdir (folder);
  return 0;
}
