#include "study/goodput.h"

#include <math.h>

/* Without its part of checkpoints, which no slow part changes. */
static double
step_s (const ScnResult *result)
{
  return result->training.step_time_s - result->training.part_s[TRN_PART_CHECKPOINT];
}

static gboolean
run_slow (const StdQuestion *question, const ScnResult *healthy, GdpSlowPart *part, GError **error)
{
  const char *const sets[] = { "workload.failures=null" /* but for this part */, part->set, NULL };
  g_auto (StdRun) run = { 0 };
  if (!std_question_run (question, sets, NULL, &run, error))
    return FALSE;
  part->slowdown = fmax (1, step_s (run.result) / step_s (healthy));
  return TRUE;
}

Gdp *
std_goodput (const StdQuestion *question, const Scn *scenario, const ScnResult *result, GError **error)
{
  g_autoptr (GArray) parts = gdp_scenario_slow_parts (scenario);
  for (guint i = 0; question != NULL && i < parts->len; i++)
    if (!run_slow (question, result, &g_array_index (parts, GdpSlowPart, i), error))
      return NULL;
  return gdp_scenario_goodput (scenario, result, parts, error);
}

char *
std_goodput_warning (const Gdp *goodput)
{
  double stops = 0, with_node = 0;
  for (guint i = 0; goodput->on_nodes && i < goodput->causes->len; i++) {
    const GdpCause *cause = &g_array_index (goodput->causes, GdpCause, i);
    if (cause->effect != MDL_EFFECT_STOP)
      continue;
    stops += cause->count;
    with_node += cause->nodes > 0 ? cause->count : 0;
  }
  if (with_node <= 0)
    return NULL;
  /* a checkpoint that went with its node cannot be read back, and every run above is counted as if it could */
  return g_strdup_printf ("checkpoints are on the nodes' own drives, and %.4g of %.4g failures in a run take a "
                          "node and its part of the checkpoint with "
                          "them; they count here as if it were still there. A tier outside the nodes keeps it, or 'copy'",
                          with_node, stops);
}
