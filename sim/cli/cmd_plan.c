/* forerun plan: which machine and which cut of a model meets a goal at the least time, cost or energy. */
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "draw-private.h"
#include "plan-private.h"
#include "plan/fleet.h"
#include "report/plan.h"
#include "report/workbook.h"

typedef struct {
  CliPlanFlags answer; /* first: cli_plan_flags fill it */
  char *shard, *resume, *mpi;
} Flags;

const CliFlag cli_plan_flags[] = {
  { CLI_FLAG_HEADING, "search", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "best", 0, offsetof (CliPlanFlags, search.best), "N",
    "how many of the best options the engine simulates, 0 to 100 (default: 3)" },
  { CLI_FLAG_SWITCH, "per-machine", 0, offsetof (CliPlanFlags, search.per_machine), NULL,
    "show and simulate only the best option of each cluster; --best counts all of them" },
  { CLI_FLAG_TEXT, "rows", 0, offsetof (CliPlanFlags, search.rows), "N",
    "how many options are shown (default: 10; with --vary: 1)" },
  { CLI_FLAG_TEXT, "threads", 0, offsetof (CliPlanFlags, search.threads), "N",
    "threads for both stages (default: one for each processor); the answer is the same" },
  { CLI_FLAG_TEXT, "sensitivity", 0, offsetof (CliPlanFlags, sensitivity), "S",
    "what the recommended option depends on: assumed varies each assumed constant by 20 % down and up; datasheet varies those from "
    "data sheets too" },
  { CLI_FLAG_OUTPUT, "plot", 0, offsetof (CliPlanFlags, plot), "F",
    "also plot time against cost into F, and cost by part into F_cost; with --sensitivity also F_tornado" },
  { CLI_FLAG_OUTPUT, "report", 0, offsetof (CliPlanFlags, report), "F.html",
    "also write a report to share: question, answer, plots, and the data that the answer depends on" },
  { CLI_FLAG_TEXT, "measured", 0, offsetof (CliPlanFlags, measured), "F.csv",
    "of a plan for a service: also draw measured runs (columns gpu, model, isl, osl, concurrency, gpus, ttft_ms, tpot_ms)" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

static const CliFlag share_flags[] = {
  { CLI_FLAG_HEADING, "sharing the search among processes", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "shard", 0, offsetof (Flags, shard), "I/N",
    "compute only part I of N (I from 1 to N) and write it for forerun merge" },
  { CLI_FLAG_OUTPUT, "resume", 0, offsetof (Flags, resume), "FILE",
    "save progress in FILE and continue from it, so that an interrupt loses nothing" },
  { CLI_FLAG_TEXT, "mpi", 0, offsetof (Flags, mpi), "auto|on|off",
    "share the search with the processes that mpirun started; auto (default): if it started any" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* What is answered. */
typedef struct {
  const Pln *plan;
  const PlnResult *result;
  const StdSensitivity *sensitivity; /* NULL: not asked for */
  guint rows;                        /* that are shown */
} Answer;

static void
write_answer (Cli *cli, const Answer *answer)
{
  const Pln *plan = answer->plan;
  RepEnvelope envelope = cli_envelope (cli);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = rep_envelope_open (&envelope);
    json_builder_begin_object (json);
    rep_plan_json (plan, answer->result, answer->rows, json);
    if (answer->sensitivity != NULL)
      rep_sensitivity_json (answer->sensitivity, json);
    json_builder_end_object (json);
    g_autofree char *text = rep_envelope_close (json, &envelope);
    g_string_append (cli->out, text);
  } else if (cli->format == CLI_FORMAT_TSV)
    cli_rows (cli, rep_plan_table (plan, answer->result, answer->rows));
  else {
    g_autofree char *what = g_strdup_printf ("plan %s, model %s", pln_name (plan), pln_model (plan));
    rep_plan_text (plan, answer->result, answer->rows, cli->out);
    if (answer->sensitivity != NULL)
      rep_sensitivity_text (answer->sensitivity, cli->out);
    g_string_append_c (cli->out, '\n');
    rep_header_title (cli->out, &envelope, what);
    if (pln_description (plan) != NULL)
      g_string_append_printf (cli->out, "# %s\n", pln_description (plan));
    rep_plan_header (plan, answer->result, cli->out);
  }
}

gboolean
cli_plan_workbook (Cli *cli, const CliWorkbook *book, GError **error)
{
  const RepEnvelope envelope = cli_envelope (cli);
  g_autoptr (GString) header = g_string_new (NULL);
  rep_header_title (header, &envelope, book->what);
  book->append_header (book->answer, header);
  GString *bytes = book->make (book->answer, header->str, error);
  if (bytes == NULL)
    return FALSE;
  g_string_free (cli->out, TRUE);
  cli->out = bytes;
  return TRUE;
}

static void
append_header (const void *data, GString *out)
{
  const Answer *answer = data;
  rep_plan_header (answer->plan, answer->result, out);
}

static GString *
make_workbook (const void *data, const char *header, GError **error)
{
  const Answer *answer = data;
  return rep_plan_workbook (answer->plan, answer->result, answer->rows, header, error);
}

static gboolean
write_workbook (Cli *cli, const Answer *answer, GError **error)
{
  g_autofree char *what = g_strdup_printf ("plan %s, model %s", pln_name (answer->plan), pln_model (answer->plan));
  const CliWorkbook book = { what, answer, append_header, make_workbook };
  return cli_plan_workbook (cli, &book, error);
}

static gboolean
add_page (Cli *cli, const char *path, const Answer *answer, GPtrArray *plots, GError **error)
{
  const Pln *plan = answer->plan;
  const PlnResult *result = answer->result;
  const PlnChoiceRow *first = &g_array_index (result->rows, PlnChoiceRow, 0);
  Scn *scenario = NULL;
  ScnResult *run = first->simulated ? pln_run (plan, first, TRUE, &scenario, error) : NULL;
  gboolean good = run != NULL || !first->simulated;
  g_autoptr (GString) text = g_string_new (NULL), header = g_string_new (NULL);
  g_autoptr (BaseTable) prices = rep_plan_prices (plan);
  rep_plan_text (plan, result, answer->rows, text);
  rep_plan_header (plan, result, header);
  g_string_append_printf (text, "\n%s", header->str);
  g_autofree char *title = g_strdup_printf ("Plan %s", pln_name (plan)), *source = NULL;
  const BaseYaml *yaml = pln_inputs (plan)->pdata[0];
  g_autoptr (BaseTable) goodput_sensitivity =
      answer->sensitivity != NULL ? rep_sensitivity_table (answer->sensitivity, REP_SENSITIVITY_LEAST) : NULL;
  gsize n_B;
  if (base_file_is_file (base_yaml_path (yaml))) /* stdin is read once */
    (void)base_file_read (base_yaml_path (yaml), BASE_YAML_MAX_B, &source, &n_B, NULL);
  RepPage page = { .title = title,
                   .lead = pln_description (plan),
                   .plan = plan,
                   .plan_result = result,
                   .plan_rows = answer->rows,
                   .prices = prices,
                   .header = header->str,
                   .scenario = source,
                   .clu = scn_cluster (g_array_index (pln_machines (plan), PlnMachine, first->machine).scenario),
                   .result = run,
                   .sensitivity = goodput_sensitivity,
                   .text = text->str };
  if (run != NULL)
    rep_plots_add_run (plots, run, "the recommended option");
  good = good && cli_page_add (cli, path, plots, &page, error);
  scn_result_free (run);
  scn_free (scenario);
  return good;
}

static gboolean
add_files (Cli *cli, const CliPlanFlags *flags, const Answer *answer, GError **error)
{
  const Pln *plan = answer->plan;
  const PlnResult *result = answer->result;
  const StdSensitivity *sensitivity = answer->sensitivity;
  if (flags->plot == NULL && flags->report == NULL)
    return TRUE;
  if (result->rows->len == 0) { /* the answer says why */
    g_string_append (cli->talk, "forerun plan: no option meets the goal, so there is no plot and no report\n");
    return TRUE;
  }
  gboolean drawn = rep_plan_has_plots (plan, result);
  if (flags->plot != NULL && !drawn && sensitivity == NULL)
    return cli_fail (cli, error, "--plot: no option that meets the goal has a price");
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  if (drawn)
    rep_plan_plots (plan, result, plots);
  if (sensitivity != NULL)
    rep_plots_add_sensitivity (plots, sensitivity, cli->lookup, pln_name (plan), base_name (pln_aim_names, (int)pln_aim (plan)));
  return (flags->plot == NULL || cli_draw (cli, "--plot", flags->plot, plots, error)) &&
         (flags->report == NULL || add_page (cli, flags->report, answer, plots, error));
}

PlnOptions
cli_plan_options (const Cli *cli)
{
  return (PlnOptions){ .text = cli->piped, .sets = (const char *const *)cli->sets, .has_seed = TRUE, .seed = cli->seed };
}

/* Sensitivity of the recommended option; *out NULL where it was not requested. */
static gboolean
find_sensitivity (Cli *cli, const CliPlanFlags *flags, const StdPlanQuestion *question, StdSensitivity **out, GError **error)
{
  int scope = STD_SCOPE_ASSUMED;
  *out = NULL;
  if (flags->sensitivity == NULL)
    return TRUE;
  if (!cli_name_value (cli, "--sensitivity", flags->sensitivity, std_scope_names, &scope, error))
    return FALSE;
  if (pln_aim (question->plan) == PLN_AIM_PARETO)
    return cli_fail (cli, error,
                     "--sensitivity needs one recommended option, and a Pareto front has several; write 'objective' as time, cost, "
                     "energy or cost_per_token");
  *out = std_sensitivity_plan (question, (StdScope)scope, error);
  return *out != NULL;
}

/* ---- what merge does too ---- */

gboolean
cli_plan_read_flags (Cli *cli, const CliPlanFlags *flags, FrPlanCounts *out, GError **error)
{
  return fr_plan_counts (cli->verb->name, &flags->search, cli->varies != NULL ? 1 : 10, out, error) &&
         (flags->plot == NULL || cli_plot_check (cli, "--plot", flags->plot, error)) &&
         (flags->report == NULL || cli_page_check (cli, flags->report, error)) && cli_lookup (cli, error);
}

gboolean
cli_plan_plot_check (const Cli *cli, const CliPlanFlags *flags, const Pln *plan, GError **error)
{
  return flags->plot == NULL || flags->sensitivity != NULL || rep_plan_may_have_plots (plan) ||
         cli_fail (cli, error, "--plot needs the time and cost of a run; write 'tokens' in 'goal', and 'prices'");
}

Pln *
cli_plan_read (Cli *cli, const char *path, GError **error)
{
  const PlnOptions options = cli_plan_options (cli);
  return pln_load (path, cli->lookup, &options, cst_store_share, &cli->constants, error);
}

Pln *
cli_plan_load (Cli *cli, const char *word, char **path, GError **error)
{
  *path = strcmp (word, "-") == 0 ? g_strdup ("/dev/stdin") : fr_plan_path (cli->lookup, word, error);
  if (*path == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return NULL;
  }
  Pln *plan = cli_plan_read (cli, *path, error);
  if (plan == NULL) {
    cli_tell_kind (cli, *path, "plan", error);
    return NULL;
  }
  const PlnPricesSpec *prices = pln_prices (plan);
  if (prices != NULL)
    cli_layout_currency (cli, prices->currency.v, prices->exchange.v);
  cli_warn_all (cli, pln_warnings (plan));
  cli_take_inputs (cli, pln_inputs (plan));
  return plan;
}

gboolean
cli_plan_answer (Cli *cli, const CliPlanFlags *flags, const FrPlanCounts *counts, const char *path, const Pln *plan,
                 const PlnResult *result, GError **error)
{
  g_autoptr (StdSensitivity) sensitivity = NULL;
  const StdPlanQuestion question = {
    plan, path, cli->lookup, cli_plan_options (cli), (guint)counts->threads, rep_plan_choice, result->steps
  };
  if (!find_sensitivity (cli, flags, &question, &sensitivity, error))
    return FALSE;
  g_autofree char *infeasible = rep_plan_infeasible (result);
  if (cli->varies != NULL && infeasible != NULL) { /* a point of --vary has no row to show */
    base_fail (error, BASE_ERROR_INFEASIBLE, "forerun plan: %s", infeasible);
    return FALSE;
  }
  const Answer answer = { plan, result, sensitivity, (guint)counts->rows };
  if (!cli->workbook)
    write_answer (cli, &answer);
  else if (!write_workbook (cli, &answer, error))
    return FALSE;
  if (infeasible != NULL) {
    cli->status = CLI_EXIT_INFEASIBLE;
    g_string_append_printf (cli->talk, "forerun plan: %s\n", infeasible);
  }
  return add_files (cli, flags, &answer, error);
}

/* ---- the verb ---- */

typedef struct {
  FrPlanCounts counts;
  const char *word, *path; /* the plan, as it was named, and where it was found */
  guint part, of;          /* of 0: the whole plan */
} Ask;

static gboolean
read_shard (const Cli *cli, const Flags *flags, Ask *query, GError **error)
{
  if (flags->shard == NULL || !cli_shard_read (cli, flags->shard, &query->part, &query->of, error))
    return flags->shard == NULL;
  const struct {
    const char *flag, *value;
  } of_merge[] = { { "--best", flags->answer.search.best },
                   { "--rows", flags->answer.search.rows },
                   { "--plot", flags->answer.plot },
                   { "--report", flags->answer.report },
                   { "--sensitivity", flags->answer.sensitivity },
                   { "-o F.xlsx", cli->workbook ? "" : NULL },
                   { "--per-machine", flags->answer.search.per_machine ? "" : NULL } };
  for (guint i = 0; i < G_N_ELEMENTS (of_merge); i++)
    if (of_merge[i].value != NULL)
      return cli_fail (cli, error, "%s belongs to the answer of all parts; give it to forerun merge", of_merge[i].flag);
  return cli->format == CLI_FORMAT_JSON || cli->format_text == NULL ||
         cli_fail (cli, error, "--format %s belongs to the answer of all parts; give it to forerun merge (a part is JSON)",
                   cli->format_text);
}

/* Whether what was asked goes together. */
static gboolean
check_share (const Cli *cli, const Flags *flags, const char *word, gboolean mpi, GError **error)
{
  const char *which = mpi ? "MPI" : flags->shard != NULL ? "--shard" : flags->resume != NULL ? "--resume" : NULL;
  if (which == NULL)
    return TRUE;
  if (cli->varies != NULL)
    return cli_fail (cli, error, "--vary runs many plans, and %s works on one; leave one of them out%s", which,
                     mpi ? " (--mpi off runs each process by itself)" : "");
  if (strcmp (word, "-") == 0)
    return cli_fail (cli, error, "%s reads the plan several times; write it to a file and name it", which);
  return TRUE;
}

/* This process's share of the search, with the answer where it has it. */
static gboolean
search (Cli *cli, const Flags *flags, const Ask *query, Pln *plan, CliPlanWatch *watch, CliRanks *ranks, GError **error)
{
  if (ranks != NULL && cli_ranks_self (ranks) > 0) {
    cli_plan_serve (ranks, plan);
    return TRUE;
  }
  const PlnWorkers workers = { (guint)query->counts.threads,
                               cli_plan_watch_stop,
                               cli_plan_watch_progress,
                               watch,
                               ranks != NULL ? cli_plan_ranks : NULL,
                               ranks,
                               flags->answer.sensitivity != NULL };
  g_autoptr (PlnWork) work = pln_work_new (plan, &workers, error);
  if (work == NULL)
    return FALSE;
  if (query->of > 0)
    pln_work_take_part (work, query->part, query->of);
  if (!cli_plan_watch_begin (watch, work, error))
    return FALSE;
  if (query->of > 0) {
    gboolean done = pln_work_estimate (work, error) && pln_work_n_left (work) == 0;
    if (!cli_plan_watch_end (watch, work, done, error))
      return FALSE;
    g_autofree char *text = cli_plan_part_text (cli, query->word, work);
    g_string_append (cli->out, text);
    cli->document = TRUE;
    return TRUE;
  }
  const PlnQuery best = fr_plan_query (&flags->answer.search, &query->counts, plan);
  g_autoptr (PlnResult) result = pln_work_search (work, &best, error);
  return cli_plan_watch_end (watch, work, result != NULL, error) &&
         cli_plan_answer (cli, &flags->answer, &query->counts, query->path, plan, result, error);
}

/* Both kinds of plans are told apart by their text, and a pipe is read once. */
static gboolean
read_stdin (Cli *cli, GError **error)
{
  gsize n_B;
  if (!base_file_read ("-", BASE_YAML_MAX_B, &cli->piped, &n_B, error))
    return FALSE;
  return strlen (cli->piped) == n_B || cli_fail (cli, error, "stdin: byte %zu is zero; a plan is text", strlen (cli->piped) + 1);
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  Ask query = { 0 };
  gboolean wanted;
  if (words[0] == NULL)
    return cli_fail (cli, error, "which plan? a file, or a name in scenarios/plans");
  if (words[1] != NULL)
    return cli_fail (cli, error, "give one plan; '%s' is one too many (flags begin with '-')", words[1]);
  if (!cli_plan_read_flags (cli, &flags->answer, &query.counts, error) || !cli_ranks_wanted (cli, flags->mpi, &wanted, error) ||
      !check_share (cli, flags, words[0], wanted, error) || !read_shard (cli, flags, &query, error))
    return FALSE;
  if (strcmp (words[0], "-") == 0 && !read_stdin (cli, error))
    return FALSE;
  g_autofree char *service = cli->piped != NULL ? g_strdup ("/dev/stdin") : fr_plan_path (cli->lookup, words[0], NULL);
  if (service != NULL && pln_is_fleet (service, cli->piped)) {
    const char *other = flags->shard != NULL ? "--shard" : flags->resume != NULL ? "--resume" : wanted ? "MPI" : NULL;
    return cli_fleet_answer (cli, &flags->answer, &query.counts, service, other, error);
  }
  query.word = words[0];
  /* before MPI, whose threads hold signals back only if they are held back when they start */
  g_autoptr (CliPlanWatch) watch = cli_plan_watch_new (cli, words[0], flags->resume, g_get_monotonic_time);
  CliRanks *ranks = wanted ? cli_ranks_open (cli, error) : NULL;
  if (wanted && ranks == NULL)
    return FALSE;
  GError *why = NULL;
  g_autofree char *path = NULL;
  g_autoptr (Pln) plan = cli_plan_load (cli, words[0], &path, &why);
  query.path = path;
  if (plan != NULL && !cli_plan_plot_check (cli, &flags->answer, plan, &why))
    g_clear_pointer (&plan, pln_free);
  if (ranks != NULL) {
    if (!cli_ranks_agree (ranks, cli, plan != NULL, &why, error))
      return FALSE;
  } else if (plan == NULL) {
    g_propagate_error (error, why);
    return FALSE;
  }
  return search (cli, flags, &query, plan, watch, ranks, error);
}

static const char *const headlines[] = { "cost_per_Mtok", "gpus",        "total_usd",  "days",      "step_time_s",
                                         "topology",      "replicas",    "ttft_s",     "tpot_s",    "good_fraction",
                                         "variant",       "nodes",       "tp",         "pp",        "cp",
                                         "zero",          "micro_batch", "schedule",   "recompute", "margin",
                                         "rival",         "rival_more",  "rival_odds", NULL };

const CliVerb cli_verb_plan = {
  .name = "plan",
  .summary = "choose a cluster and parallel layout: the fastest, cheapest or least energy for a goal",
  .usage = "PLAN.yaml [flags]",
  .example = "forerun plan buy_256_gpus",
  .completes = "plans",
  .notes = "PLAN is a file, a shipped name (forerun list plans), or - for stdin. First, every valid parallel layout is estimated "
           "with closed formulas. Then the engine simulates the best few. Exit status 3: no option meets the constraints.\nOn many "
           "computers: mpirun -n 64 forerun plan …; or --shard in a job array, then forerun merge. The answer is the same.\n"
           "-o F.xlsx writes a workbook: its totals follow when a price is changed there.\n",
  .flags = { cli_plan_flags, share_flags },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_CSV,
  .has_workbook = TRUE,
  .varies = TRUE,
  .repeats = TRUE,
  .headlines = headlines,
  .run = run,
};
