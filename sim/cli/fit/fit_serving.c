/* forerun fit --serving: constants of an engine from results of benchmark clients. */
#include "base/file.h"
#include "calibrate/serving.h"
#include "fit_serving-private.h"
#include "host-private.h"
#include "report/fit.h"

/* Results of a run with every request in it are some tens of MB. */
#define MOST_B ((gsize)256 << 20)

static gboolean
read_runs (Cli *cli, char **words, GPtrArray *runs, GError **error)
{
  const CalHost host = cli_host (cli);
  for (char **word = words; *word != NULL; word++) {
    gsize n_B = 0;
    g_autofree char *bytes = host.read (host.user, *word, MOST_B, &n_B, error);
    if (bytes == NULL)
      return FALSE;
    g_autoptr (BaseDiag) diag = base_diag_new ();
    const CalText text = { *word, bytes, n_B, diag };
    const gboolean good = cal_serving_read (&text, runs, error);
    cli_warn_all (cli, diag);
    if (!good)
      return FALSE;
  }
  return TRUE;
}

gboolean
cli_fit_serving (Cli *cli, char **words, const char *scenario, const char *name, const char *report, GError **error)
{
  g_autoptr (GPtrArray) runs = cal_serving_runs_new ();
  if (words[0] == NULL)
    return cli_fail (cli, error,
                     "which runs? results of vllm bench serve, AIPerf or InferenceX, or a CSV with ttft_ms and tpot_ms");
  if (!cli_lookup (cli, error) || !read_runs (cli, words, runs, error))
    return FALSE;
  g_autofree char *path = base_lookup_find (cli->lookup, scenario, "scenarios", NULL, error);
  if (path == NULL)
    return FALSE;
  gsize n_B = 0;
  const CalHost host = cli_host (cli);
  g_autofree char *text = host.read (host.user, path, BASE_YAML_MAX_B, &n_B, error);
  if (text == NULL)
    return FALSE;
  const CalServingQuery query = {
    .scenario = path, .name = name, .sets = (const char *const *)cli->sets, .has_seed = cli->seed_text != NULL, .seed = cli->seed
  };
  g_autoptr (CalServingFit) fit = cal_serving_fit (&query, cli->lookup, runs, error);
  if (fit == NULL)
    return FALSE;
  g_autoptr (GString) summary = g_string_new (NULL);
  rep_serving_fit_text (fit, summary);
  if (report != NULL && !cli_add_file (cli, "--report", report, g_string_new (summary->str), error))
    return FALSE;
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    json_builder_begin_object (json);
    rep_serving_fit_json (fit, json);
    json_builder_end_object (json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    rep_serving_fit_tsv (fit, cli->out);
  } else {
    if (report == NULL)
      g_string_append (cli->talk, summary->str);
    g_string_append (cli->out, fit->yaml);
    cli->document = TRUE;
  }
  return TRUE;
}
