/* Files of measurements: whatever bytes come, there is an error that names the file, or points that can be priced. The same bytes
 * are read as CSV and as nccl-tests' output. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "calibrate/measured.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check (const char *path, const char *text, gsize n_B, const CalMeasuredFile *file, CalSystem *systems, guint n_systems)
{
  g_autoptr (CalData) read = cal_data_new ();
  read->spec.systems = (BaseList){ .n = n_systems, .item = systems, .size = sizeof *systems };
  g_autoptr (GError) error = NULL;
  if (!cal_data_add_text (path, text, n_B, g_str_has_suffix (path, ".txt"), file, read, &error)) {
    g_assert_nonnull (error);
    g_assert_true (error->domain == BASE_ERROR);
    g_assert_nonnull (strstr (error->message, path)); /* first, or behind the place in systems.yaml that asks for a part */
    return;
  }
  for (guint i = 0; i < read->points->len; i++) {
    const CalMeasured *point = &g_array_index (read->points, CalMeasured, i);
    g_assert_cmpuint (point->system, <, n_systems);
    g_assert_cmpuint (point->op, <, MDL_OP_N);
    g_assert_cmpuint (point->nodes, >, 0);
    g_assert_cmpuint (point->gpus, >, 0);
    g_assert_true (point->size_B > 0 && point->size_B <= 0x1p50);
    g_assert_true (point->time_s > 0 && isfinite (point->time_s));
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  CalSystem systems[] = { { .name = { .v = "graph" }, .gpu = { .v = "h200_sxm" }, .launch = { .v = MDL_LAUNCH_GRAPH } },
                          { .name = { .v = "threads" }, .source = { .v = "here" }, .launch = { .v = MDL_LAUNCH_THREADS } } };
  CalPart sections[] = { { .title = { .v = "default" }, .nodes = { .v = 1 }, .gpus = { .v = 8, .set = TRUE } },
                         { .title = { .v = "ring_LL" }, .nodes = { .v = 2 }, .algo = { .v = MDL_ALGO_RING, .set = TRUE } } };
  BaseStr graph[] = { { .v = "graph" } };
  CalMeasuredFile file = { .op = { .v = MDL_OP_ALL_REDUCE, .set = TRUE } };
  g_autofree char *text = g_malloc (size + 1);
  if (size > 0)
    memcpy (text, data, size);
  text[size] = '\0';
  check ("any.csv", text, size, &file, systems, G_N_ELEMENTS (systems));
  file.sections = (BaseList){ .n = 1, .item = sections, .size = sizeof *sections };
  check ("any.txt", text, size, &file, systems, G_N_ELEMENTS (systems));
  file.sections.n = G_N_ELEMENTS (sections);
  file.systems = (BaseStrs){ .n = 1, .item = graph };
  check ("any.csv", text, size, &file, systems, G_N_ELEMENTS (systems));
  check ("any.txt", text, size, &file, systems, G_N_ELEMENTS (systems));
  return 0;
}
