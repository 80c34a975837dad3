/* A scenario as it is asked: its file or text, and what is changed of it. Each run reads it anew. */
#include <string.h>

#include "api-private.h"

struct FrScenario {
  FrSession *session; /* owned reference */
  char *name;         /* as it was asked for; what messages call a text */
  char *path;         /* of its file */
  char *text;         /* in place of a file; NULL: the file */
  GPtrArray *sets;    /* char *, "path=value" */
  ScnOptions options; /* without the sets */
};

static FrScenario *
scenario_new (FrSession *session, const char *name)
{
  FrScenario *scenario = g_new0 (FrScenario, 1);
  scenario->session = fr_session_ref (session);
  scenario->name = g_strdup (name);
  scenario->sets = g_ptr_array_new_with_free_func (g_free);
  return scenario;
}

FrScenario *
fr_scenario_load (FrSession *session, const char *name, FrError **error)
{
  if (session == NULL || name == NULL) {
    fr_fail (error, "a session and the name of a scenario are needed");
    return NULL;
  }
  GError *why = NULL;
  char *path = fr_scenario_path (session->lookup, name, &why);
  if (path == NULL) {
    fr_error_take (error, why);
    return NULL;
  }
  FrScenario *scenario = scenario_new (session, name);
  scenario->path = path;
  return scenario;
}

FrScenario *
fr_scenario_parse (FrSession *session, const char *text, FrError **error)
{
  if (session == NULL || text == NULL) {
    fr_fail (error, "a session and the text of a scenario are needed");
    return NULL;
  }
  FrScenario *scenario = scenario_new (session, "text");
  scenario->path = g_strdup (scenario->name);
  scenario->text = g_strdup (text);
  return scenario;
}

void
fr_scenario_free (FrScenario *scenario)
{
  if (scenario == NULL)
    return;
  g_ptr_array_unref (scenario->sets);
  g_free (scenario->text);
  g_free (scenario->path);
  g_free (scenario->name);
  fr_session_free (scenario->session);
  g_free (scenario);
}

bool
fr_scenario_set (FrScenario *scenario, const char *path, const char *value, FrError **error)
{
  if (scenario == NULL || path == NULL || value == NULL)
    return fr_fail (error, "a scenario, a path and a value are needed");
  if (*path == '\0' || strchr (path, '=') != NULL)
    return fr_fail (error, "'%s' is not a path; keys joined by dots are accepted, as in 'cluster.nodes'", path);
  g_ptr_array_add (scenario->sets, g_strdup_printf ("%s=%s", path, value));
  return true;
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

/* What asks the program for the same. Returned: full, g_strfreev. */
static char **
command_of (const FrScenario *scenario)
{
  GPtrArray *words = g_ptr_array_new ();
  g_ptr_array_add (words, g_strdup ("forerun"));
  g_ptr_array_add (words, g_strdup ("run"));
  g_ptr_array_add (words, g_strdup (scenario->text != NULL ? "-" : scenario->name));
  for (guint i = 0; i < scenario->sets->len; i++) {
    g_ptr_array_add (words, g_strdup ("--set"));
    g_ptr_array_add (words, g_strdup (scenario->sets->pdata[i]));
  }
  if (scenario->options.has_seed) {
    g_ptr_array_add (words, g_strdup ("--seed"));
    g_ptr_array_add (words, g_strdup_printf ("%" G_GUINT64_FORMAT, scenario->options.seed));
  }
  if (scenario->options.has_mode) {
    g_ptr_array_add (words, g_strdup ("--mode"));
    g_ptr_array_add (words, g_strdup (base_name (col_mode_names, (int)scenario->options.mode)));
  }
  g_ptr_array_add (words, g_strdup ("--format"));
  g_ptr_array_add (words, g_strdup ("json"));
  g_ptr_array_add (words, NULL);
  return (char **)g_ptr_array_free (words, FALSE);
}

FrResult *
fr_scenario_run (FrScenario *scenario, FrError **error)
{
  if (scenario == NULL) {
    fr_fail (error, "a scenario is needed");
    return NULL;
  }
  g_autoptr (GPtrArray) sets = g_ptr_array_new ();
  for (guint i = 0; i < scenario->sets->len; i++)
    g_ptr_array_add (sets, scenario->sets->pdata[i]);
  g_ptr_array_add (sets, NULL);
  ScnOptions options = scenario->options;
  options.sets = (const char *const *)sets->pdata;
  GError *why = NULL;
  StdLoaded *loaded = std_loaded_new (scenario->path, scenario->text, scenario->session->lookup, &options, &why);
  ScnResult *result = loaded != NULL ? scn_run (loaded->scenario, FALSE, &why) : NULL;
  if (result == NULL) {
    std_loaded_free (loaded);
    fr_error_take (error, why);
    return NULL;
  }
  return fr_result_new (&(FrAnswer){ scenario->session, loaded, result, command_of (scenario) });
}
