/* A scenario as it is asked: its file or text, and what is changed of it. Each run reads it anew. */
#include "api-private.h"
#include "report/run.h"
#include "study/question.h"

struct FrScenario {
  FrFile file;
  ScnOptions options; /* without the sets */
};

FrScenario *
fr_scenario_load (FrSession *session, const char *name, FrError **error)
{
  FrScenario *scenario = g_new0 (FrScenario, 1);
  if (fr_file_load (&scenario->file, session, name, fr_scenario_path, error))
    return scenario;
  g_free (scenario);
  return NULL;
}

FrScenario *
fr_scenario_parse (FrSession *session, const char *text, FrError **error)
{
  FrScenario *scenario = g_new0 (FrScenario, 1);
  if (fr_file_parse (&scenario->file, session, text, error))
    return scenario;
  g_free (scenario);
  return NULL;
}

void
fr_scenario_free (FrScenario *scenario)
{
  if (scenario == NULL)
    return;
  fr_file_clear (&scenario->file);
  g_free (scenario);
}

bool
fr_scenario_set (FrScenario *scenario, const char *path, const char *value, FrError **error)
{
  return scenario != NULL ? fr_sets_add (scenario->file.sets, path, value, error) : fr_fail (error, "a scenario is needed");
}

bool
fr_scenario_set_seed (FrScenario *scenario, uint64_t seed, FrError **error)
{
  if (scenario == NULL)
    return fr_fail (error, "a scenario is needed");
  if (seed > G_MAXINT64)
    return fr_fail (error, "seed %" G_GUINT64_FORMAT " is out of range; from 0 to %" G_GINT64_FORMAT " is accepted", (guint64)seed,
                    G_MAXINT64);
  scenario->options.has_seed = TRUE;
  scenario->options.seed = seed;
  return true;
}

bool
fr_scenario_set_mode (FrScenario *scenario, FrMode mode, FrError **error)
{
  if (scenario == NULL)
    return fr_fail (error, "a scenario is needed");
  if (mode != FR_MODE_EVENT && mode != FR_MODE_MODEL)
    return fr_fail (error, "mode %d is not known; FR_MODE_EVENT and FR_MODE_MODEL are accepted", (int)mode);
  scenario->options.has_mode = TRUE;
  scenario->options.mode = mode == FR_MODE_MODEL ? COL_MODE_MODEL : COL_MODE_EVENT;
  return true;
}

/* The flags that ask the program for the same. Returned: full. */
static GPtrArray *
flags_of (const ScnOptions *options)
{
  GPtrArray *flags = g_ptr_array_new_with_free_func (g_free);
  if (options->has_seed) {
    g_ptr_array_add (flags, g_strdup ("--seed"));
    g_ptr_array_add (flags, g_strdup_printf ("%" G_GUINT64_FORMAT, options->seed));
  }
  if (options->has_mode) {
    g_ptr_array_add (flags, g_strdup ("--mode"));
    g_ptr_array_add (flags, g_strdup (base_name (col_mode_names, (int)options->mode)));
  }
  return flags;
}

static void
write_results (const void *of, JsonBuilder *json)
{
  rep_run_json (of, json);
}

FrResult *
fr_scenario_run (FrScenario *scenario, FrError **error)
{
  if (scenario == NULL) {
    fr_fail (error, "a scenario is needed");
    return NULL;
  }
  const FrFile *file = &scenario->file;
  ScnOptions options = scenario->options;
  options.sets = (const char *const *)file->sets->pdata;
  GError *why = NULL;
  g_autoptr (StdLoaded) loaded = std_loaded_new (file->path, file->text, file->session->lookup, &options, &why);
  ScnResult *answer = loaded != NULL ? scn_run (loaded->scenario, FALSE, &why) : NULL;
  if (answer == NULL) {
    fr_error_take (error, why);
    return NULL;
  }
  g_autoptr (GPtrArray) flags = flags_of (&options);
  FrResult *result = fr_result_new (&(FrAnswer){ .session = file->session,
                                                 .verb = "run",
                                                 .word = file->name,
                                                 .flags = flags,
                                                 .sets = file->sets,
                                                 .seed = scn_seed (loaded->scenario),
                                                 .inputs = scn_inputs (loaded->scenario),
                                                 .diag = scn_warnings (loaded->scenario),
                                                 .warnings = answer->run.warnings,
                                                 .write = write_results,
                                                 .of = answer });
  scn_result_free (answer);
  return result;
}
