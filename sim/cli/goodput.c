/* Goodput of a scenario that has been run: what slow parts do to its step is simulated first, each in a run of its own. */
#include <math.h>
#include <string.h>

#include "report/run.h"
#include "scenario-private.h"

/* Without its part of checkpoints, which no slow part changes. */
static double
step_s (const ScnResult *result)
{
  return result->training.step_time_s - result->training.part_s[TRN_PART_CHECKPOINT];
}

static gboolean
run_slow (Cli *cli, const CliScenarioRun *run, GdpSlowPart *part, GError **error)
{
  static char healthy[] = "workload.failures=null"; /* but for this part */
  g_autoptr (GPtrArray) sets = g_ptr_array_new ();
  for (char **set = cli->sets; set != NULL && *set != NULL; set++)
    g_ptr_array_add (sets, *set);
  g_ptr_array_add (sets, healthy);
  g_ptr_array_add (sets, part->set);
  g_ptr_array_add (sets, NULL);
  ScnOptions options = run->options;
  options.sets = (const char *const *)sets->pdata;
  g_autoptr (FrLoaded) loaded = fr_loaded_new (run->path, NULL, cli->lookup, &options, error);
  g_autoptr (ScnResult) result = loaded != NULL ? scn_run (loaded->scenario, FALSE, error) : NULL;
  if (result != NULL)
    part->slowdown = fmax (1, step_s (result) / step_s (run->result));
  return result != NULL;
}

/* A checkpoint that went with its node cannot be read back, and every run above is counted as if it could. */
static void
warn_of_own_drives (Cli *cli, const Gdp *goodput)
{
  double stops = 0, with_node = 0;
  for (guint i = 0; i < goodput->causes->len; i++) {
    const GdpCause *cause = &g_array_index (goodput->causes, GdpCause, i);
    if (cause->effect != MDL_EFFECT_STOP)
      continue;
    stops += cause->count;
    with_node += cause->nodes > 0 ? cause->count : 0;
  }
  if (with_node <= 0)
    return;
  g_autofree char *text =
      g_strdup_printf ("checkpoints are on the nodes' own drives, and %.4g of %.4g failures in a run take a "
                       "node and its part of the checkpoint with "
                       "them; they count here as if it were still there. A tier outside the nodes keeps it, or 'copy'",
                       with_node, stops);
  cli_warn (cli, text);
}

Gdp *
cli_goodput (Cli *cli, const CliScenarioRun *run, GError **error)
{
  g_autoptr (GArray) parts = gdp_scenario_slow_parts (run->scenario);
  const gboolean once = strcmp (run->path, "/dev/stdin") == 0;
  for (guint i = 0; i < parts->len; i++) {
    GdpSlowPart *part = &g_array_index (parts, GdpSlowPart, i);
    if (once && !part->given) {
      cli_fail (
          cli, error,
          "a slow part is simulated by running the scenario again, and stdin can be read only once: give a file, or 'slowdown'");
      return NULL;
    }
    if (!once && !run_slow (cli, run, part, error))
      return NULL;
  }
  Gdp *goodput = gdp_scenario_goodput (run->scenario, run->result, parts, error);
  if (goodput != NULL && goodput->on_nodes)
    warn_of_own_drives (cli, goodput);
  return goodput;
}

GArray *
cli_goodput_hangs (const CliScenarioRun *run, const Gdp *goodput, double *time_s)
{
  const TrnResult *training = &run->result->training;
  return gdp_hangs (goodput, training->step_time_lo_s / training->step_time_s,
                            training->step_time_hi_s / training->step_time_s, scn_seed (run->scenario), time_s);
}
