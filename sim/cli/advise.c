/* What would help next: the scenario run again with one change at a time. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "scenario-private.h"

/* The sets of the command line, then those of a change; borrowed texts. Returned: full. */
static const char **
sets_of (const Cli *cli, const TrnChange *change)
{
  GPtrArray *sets = g_ptr_array_new ();
  for (char **set = cli->sets; set != NULL && *set != NULL; set++)
    g_ptr_array_add (sets, *set);
  for (guint i = 0; i < change->sets->len; i++)
    g_ptr_array_add (sets, change->sets->pdata[i]);
  g_ptr_array_add (sets, NULL);
  return (const char **)g_ptr_array_free (sets, FALSE);
}

/* The first line of a reason, without the place that --set has in it. Returned: full. */
static char *
reason_of (const GError *error)
{
  char *text = g_strndup (error->message, strcspn (error->message, "\n"));
  if (g_str_has_prefix (text, "--set ") && strstr (text, ": ") != NULL)
    memmove (text, strstr (text, ": ") + 2, strlen (strstr (text, ": ") + 2) + 1);
  return text;
}

static void
try_change (Cli *cli, const CliScenarioRun *run, const TrnChange *change, RepAdvice *advice)
{
  const TrnResult *before = &run->result->training;
  g_autofree const char **sets = sets_of (cli, change);
  ScnOptions options = run->options;
  options.sets = sets;
  options.no_interference = options.no_interference || change->no_interference;
  advice->change = change;
  advice->step_time_s = advice->gain = (double)NAN;
  g_autoptr (GError) error = NULL;
  g_autoptr (FrLoaded) loaded = fr_loaded_new (run->path, NULL, cli->lookup, &options, &error);
  g_autoptr (ScnResult) result = loaded != NULL ? scn_run (loaded->scenario, FALSE, &error) : NULL;
  if (result == NULL) {
    advice->reason = reason_of (error);
    return;
  }
  const TrnMemory *memory = &result->training.fullest;
  if (result->training.memory != NULL && !memory->fits) {
    g_autofree char *needs = base_quantity_format (memory->total_B, BASE_DIM_BYTES, 4),
                    *has = base_quantity_format (memory->capacity_B, BASE_DIM_BYTES, 4);
    advice->reason = g_strdup_printf ("does not fit: stage %u needs %s of a GPU that has %s", memory->stage, needs, has);
    return;
  }
  advice->step_time_s = result->training.step_time_s;
  advice->gain = result->training.tokens_per_s / before->tokens_per_s - 1;
}

gboolean
cli_advise (Cli *cli, const CliScenarioRun *run, GPtrArray **changes, GArray **advice, GError **error)
{
  if (strcmp (run->path, "/dev/stdin") == 0)
    return cli_fail (cli, error, "--advise runs the scenario again, and stdin can be read only once: give a file");
  if (!run->result->training.has_model)
    return cli_fail (cli, error, "--advise is for a training step of a model");
  *changes = trn_advice_changes (scn_training (run->scenario));
  *advice = rep_advice_new ();
  for (guint i = 0; i < (*changes)->len; i++) {
    RepAdvice one = { 0 };
    try_change (cli, run, (*changes)->pdata[i], &one);
    g_array_append_val (*advice, one);
  }
  rep_advice_sort (*advice);
  return TRUE;
}
