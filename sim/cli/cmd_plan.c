/* forerun plan: which machine and which cut of a model meets a goal at the least time, cost or energy. */
#include <string.h>

#include "cli-private.h"
#include "report/plan.h"

#define PLANS_FOLDER "scenarios/plans"

typedef struct {
  char *best, *rows, *threads;
} Flags;

enum { STATUS_INFEASIBLE = 3 };

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "search", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "best", 0, offsetof (Flags, best), "N", "how many of the best the engine simulates, 0 to 100; default 3" },
  { CLI_FLAG_TEXT, "rows", 0, offsetof (Flags, rows), "N", "how many are shown; default 10" },
  { CLI_FLAG_TEXT, "threads", 0, offsetof (Flags, threads), "N",
    "threads of the first stage; default: one a processor; the answer is the same" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

static void
write_answer (Cli *cli, const WrkPlan *plan, const WrkPlanResult *result, guint rows)
{
  RepEnvelope envelope = cli_envelope (cli);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = rep_envelope_open (&envelope);
    json_builder_begin_object (json);
    rep_plan_json (plan, result, rows, json);
    json_builder_end_object (json);
    g_autofree char *text = rep_envelope_close (json, &envelope);
    g_string_append (cli->out, text);
  } else if (cli->format == CLI_FORMAT_TSV)
    rep_plan_tsv (plan, result, rows, cli->out);
  else {
    g_autofree char *what = g_strdup_printf ("plan %s, model %s", wrk_plan_name (plan), wrk_plan_model (plan));
    rep_header_title (cli->out, &envelope, what);
    if (wrk_plan_description (plan) != NULL)
      g_string_append_printf (cli->out, "# %s\n", wrk_plan_description (plan));
    rep_plan_text (plan, result, rows, cli->out);
  }
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  guint64 best = 3, rows = 10, threads = g_get_num_processors ();
  if (words[0] == NULL)
    return cli_fail (cli, error, "which plan? a file, or a name in scenarios/plans");
  if (words[1] != NULL)
    return cli_fail (cli, error, "one plan at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  if (!cli_count_value (cli, "--best", flags->best, 0, 100, &best, error) ||
      !cli_count_value (cli, "--rows", flags->rows, 1, 100000, &rows, error) ||
      !cli_count_value (cli, "--threads", flags->threads, 1, 1024, &threads, error) || !cli_lookup (cli, error))
    return FALSE;
  g_autofree char *path =
      strcmp (words[0], "-") == 0 ? g_strdup ("/dev/stdin") : base_lookup_find (cli->lookup, words[0], PLANS_FOLDER, NULL, error);
  if (path == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  g_autoptr (WrkPlan) plan = wrk_plan_load (path, cli->lookup, (const char *const *)cli->sets, cli_library_load, cli, error);
  if (plan == NULL) {
    cli_tell_kind (cli, path, "plan", error);
    return FALSE;
  }
  cli_warn_all (cli, wrk_plan_warnings (plan));
  cli_take_inputs (cli, wrk_plan_inputs (plan));
  WrkPlanResult *result = wrk_plan_search (plan, (guint)threads, (guint)best, error);
  if (result == NULL)
    return FALSE;
  write_answer (cli, plan, result, (guint)rows);
  g_autofree char *infeasible = rep_plan_infeasible (result);
  if (infeasible != NULL) {
    cli->status = STATUS_INFEASIBLE;
    g_string_append_printf (cli->talk, "forerun plan: %s\n", infeasible);
  }
  wrk_plan_result_free (result);
  return TRUE;
}

const CliVerb cli_verb_plan = {
  .name = "plan",
  .summary = "searches machines and cuts of a model for the fastest, cheapest or least energy that meets a goal",
  .usage = "PLAN.yaml [flags]",
  .example = "forerun plan buy_256_gpus",
  .notes = "PLAN is a file, a shipped name (scenarios/plans), or - for stdin. First everything that divides is reckoned in closed "
           "form,\n"
           "then the engine simulates the best few. Exit status 3: nothing meets the constraints.\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_TSV,
  .run = run,
};
