#include "scenario-private.h"

#include <string.h>

#include "report/run.h"
#include "training/trace.h"

StdLoaded *
cli_scenario_load (Cli *cli, const char *path, const ScnOptions *options, GError **error)
{
  StdLoaded *loaded = std_loaded_new (path, NULL, cli->lookup, options, error);
  if (loaded == NULL) {
    cli_tell_kind (cli, path, "scenario", error);
    return NULL;
  }
  cli_warn_all (cli, scn_warnings (loaded->scenario));
  cli_take_inputs (cli, scn_inputs (loaded->scenario));
  return loaded;
}

gboolean
cli_scenario_open (Cli *cli, const char *name, const CliScenarioFlags *flags, CliScenarioRun *run, GError **error)
{
  const char *mode = flags->mode, *steps = flags->steps;
  int mode_code = 0, steps_code = 0;
  if (!cli_name_value (cli, "--mode", mode, col_mode_names, &mode_code, error) ||
      !cli_name_value (cli, "--steps", steps, col_steps_names, &steps_code, error) || !cli_lookup (cli, error))
    return FALSE;
  if (mode != NULL && mode_code == COL_MODE_MODEL && steps != NULL && steps_code == COL_STEPS_EXACT)
    return cli_fail (cli, error, "--steps exact sends every message and needs --mode event");
  run->path = strcmp (name, "-") == 0 ? g_strdup ("/dev/stdin") : fr_scenario_path (cli->lookup, name, error);
  if (run->path == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  run->options = (ScnOptions){ .has_seed = cli->seed_text != NULL,
                               .seed = cli->seed,
                               .sets = (const char *const *)cli->sets,
                               .has_mode = mode != NULL,
                               .mode = (ColMode)mode_code,
                               .has_steps = steps != NULL,
                               .steps = (ColSteps)steps_code,
                               .no_interference = flags->no_interference,
                               .want_terms = flags->want_terms,
                               .no_fold = flags->no_fold,
                               .switches_follow = flags->switches_follow };
  run->loaded = cli_scenario_load (cli, run->path, &run->options, error);
  if (run->loaded == NULL)
    return FALSE;
  run->scenario = run->loaded->scenario;
  cli->seed = scn_seed (run->scenario);
  return TRUE;
}

gboolean
cli_scenario_run (Cli *cli, const char *name, const CliScenarioFlags *flags, CliScenarioRun *run, GError **error)
{
  return cli_scenario_open (cli, name, flags, run, error) && cli_scenario_play (cli, flags, run, error);
}

gboolean
cli_scenario_play (Cli *cli, const CliScenarioFlags *flags, CliScenarioRun *run, GError **error)
{
  run->result = scn_run (run->scenario, flags->want_spans, error);
  if (run->result == NULL)
    return FALSE;
  const char *left_out =
      flags->quiet_trace && run->result->training.trace != NULL ? trn_trace_written (run->result->training.trace) : NULL;
  for (guint i = 0; i < run->result->run.warnings->len; i++)
    if (g_strcmp0 (g_ptr_array_index (run->result->run.warnings, i), left_out) != 0)
      cli_warn (cli, g_ptr_array_index (run->result->run.warnings, i));
  return TRUE;
}

void
cli_scenario_run_clear (CliScenarioRun *run)
{
  g_clear_pointer (&run->result, scn_result_free);
  g_clear_pointer (&run->loaded, std_loaded_free);
  g_clear_pointer (&run->path, g_free);
}

StdQuestion
cli_scenario_question (const Cli *cli, const CliScenarioRun *run)
{
  return (StdQuestion){ .path = run->path, .lookup = cli->lookup, .options = run->options };
}

gboolean
cli_scenario_is_stdin (const CliScenarioRun *run)
{
  return strcmp (run->path, "/dev/stdin") == 0;
}

Gdp *
cli_goodput (Cli *cli, const CliScenarioRun *run, GError **error)
{
  const StdQuestion question = cli_scenario_question (cli, run);
  const gboolean once = cli_scenario_is_stdin (run);
  g_autoptr (GArray) parts = gdp_scenario_slow_parts (run->scenario);
  for (guint i = 0; once && i < parts->len; i++)
    if (!g_array_index (parts, GdpSlowPart, i).given) {
      cli_fail (cli, error,
                "a slow part is simulated by running the scenario again, and stdin can be read only once: give a file, or "
                "'slowdown'");
      return NULL;
    }
  g_autoptr (Gdp) goodput = std_goodput (once ? NULL : &question, run->scenario, run->result, error);
  g_autofree char *warning = goodput != NULL ? std_goodput_warning (goodput) : NULL;
  if (warning != NULL)
    cli_warn (cli, warning);
  return g_steal_pointer (&goodput);
}

/* Whose efficiency a training step has. */
static void
append_efficiency (const CliScenarioRun *run, GString *out)
{
  const TrnJob *job = scn_training (run->scenario);
  if (job == NULL || !run->result->training.has_model)
    return;
  rep_efficiency_text (&run->result->training.efficiency, run->result->training.step_time_s, out);
  g_string_append_printf (out, "Kernels: calibration %s.\n",
                          scn_settings (run->scenario)->library != NULL ? cst_store_name (&run->loaded->constants)
                                                                        : "kernels.yaml");
}

void
cli_scenario_answer (const CliScenarioRun *run, GString *out)
{
  rep_run_answer (run->result, out);
  append_efficiency (run, out);
}

void
cli_scenario_header (const CliScenarioRun *run, const RepEnvelope *envelope, GString *out)
{
  const ColSettings *settings = scn_settings (run->scenario);
  g_autofree char *what = g_strdup_printf ("scenario %s", scn_name (run->scenario));
  rep_header_title (out, envelope, what);
  if (scn_description (run->scenario) != NULL)
    g_string_append_printf (out, "# %s\n", scn_description (run->scenario));
  rep_header_cluster (out, scn_cluster (run->scenario));
  rep_header_settings (out, settings, settings->library != NULL ? cst_store_name (&run->loaded->constants) : NULL);
}
