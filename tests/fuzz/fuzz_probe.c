/* What forerun-probe wrote: whatever bytes come, there is an error that names the file, or points that can be priced. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "calibrate/measured.h"
#include "calibrate/rows.h"
#include "calibrate/section.h"
#include "models/overlap.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Points of the sections, or an error that names the file; those of `overlap` can be priced. */
static void
try_sections (const CalProbe *probe)
{
  static const MdlGpu gpu = { .sms = 132, .memory_Bps = 4800e9, .memory_efficiency = 0.87 };
  const CalNode node = { .gpu = &gpu };
  MdlOverlap spec = { 0 };
  spec.gemm.channel_traffic.v = spec.attention.channel_traffic.v = spec.memory.channel_traffic.v = 1e11;
  spec.gemm.sm_cost.v = spec.attention.sm_cost.v = spec.memory.traffic_cost.v = spec.pairwise.v = spec.wait.v = 1;
  for (guint s = 0; cal_sections[s] != NULL; s++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (BaseArena) arena = base_arena_new ();
    g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (CalSectionPoint));
    gboolean overlap = strcmp (cal_sections[s]->keys->name, "overlap") == 0;
    g_autofree void *section = g_malloc0 (cal_sections[s]->keys->size);
    if (cal_sections[s]->start != NULL)
      cal_sections[s]->start (probe, section);
    CalCollect collect = { .probe = probe, .node = &node, .arena = arena, .points = points };
    if (!cal_sections[s]->collect (&collect, &error))
      g_assert_true (error != NULL && error->domain == BASE_ERROR && g_str_has_prefix (error->message, cal_probe_path (probe)));
    for (guint i = 0; i < points->len; i++) {
      const CalSectionPoint *point = &g_array_index (points, CalSectionPoint, i);
      g_assert_true (point->measured > 0 && isfinite (point->measured) && point->use < CAL_USE_N && point->what != NULL);
      double predicted_s = overlap ? cal_sections[s]->predict (&spec, &node, point) : (double)NAN;
      g_assert_true (isnan (predicted_s) || (predicted_s > 0 && isfinite (predicted_s)));
    }
  }
}

static void
hear (void *user, const char *text)
{
  (void)user;
  g_assert_nonnull (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char path[] = "any.json";
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  const CalText text = { .path = path, .bytes = (const char *)data, .n_B = size, .warnings = warnings };
  g_autoptr (CalProbe) rows = cal_rows_kind (&text) != CAL_ROWS_NONE ? cal_rows_probe (&text, NULL) : NULL;
  if (rows != NULL)
    try_sections (rows);
  (void)cal_tool_of (&text);
  g_autoptr (CalProbe) probe = cal_probe_parse (path, (const char *)data, size, &error);
  if (probe == NULL) {
    g_assert_true (error != NULL && error->domain == BASE_ERROR && g_str_has_prefix (error->message, path));
    return 0;
  }
  CalSystem systems[MDL_LAUNCH_N] = { 0 };
  for (int launch = 0; launch < MDL_LAUNCH_N; launch++)
    systems[launch].launch.v = launch;
  const CalHost host = { .warn = hear };
  g_autoptr (CalData) read = cal_data_new ();
  read->spec.systems = (BaseList){ .n = G_N_ELEMENTS (systems), .item = systems, .size = sizeof *systems };
  try_sections (probe);
  if (!cal_data_add_probe (&host, probe, NULL, read, &error))
    g_assert_true (error != NULL && error->domain == BASE_ERROR && g_str_has_prefix (error->message, path));
  for (guint i = 0; i < read->points->len; i++) {
    const CalMeasured *point = &g_array_index (read->points, CalMeasured, i);
    g_assert_cmpuint (point->system, <, MDL_LAUNCH_N);
    g_assert_cmpuint (point->op, <, MDL_OP_N);
    g_assert_true (point->gpus > 0 && point->size_B >= 1 && point->time_s > 0 && isfinite (point->time_s));
  }
  return 0;
}
