/* forerun run: simulates one scenario. */
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "draw-private.h"
#include "report/advice.h"
#include "report/run.h"
#include "report/sensitivity.h"
#include "run-private.h"
#include "scenario/serving.h"

typedef struct {
  char *mode, *steps, *trace, *plot, *report, *sensitivity;
  char *shard, *mpi, *threads;
  gboolean strict, no_fold, advise, verbose, no_interference, goodput;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "engine", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "mode", 0, offsetof (Flags, mode), "M",
    "event (default): simulate with the event engine; model: use the closed formulas" },
  { CLI_FLAG_TEXT, "steps", 0, offsetof (Flags, steps), "S",
    "fluid (default): a collective is one pipelined activity; exact: simulate every message" },
  { CLI_FLAG_SWITCH, "no-fold", 0, offsetof (Flags, no_fold), NULL,
    "simulate every link of a training step, not one for each group of equal links (slower, same answer)" },
  { CLI_FLAG_OUTPUT, "trace", 0, offsetof (Flags, trace), "F.json",
    "also write a trace of what ran when, for Perfetto or chrome://tracing; with --goodput: of one run through failures" },
  { CLI_FLAG_OUTPUT, "plot", 0, offsetof (Flags, plot), "DIR",
    "also write plots (.svg) into this folder: time breakdown, pipeline timeline, memory, links, and those that other flags add" },
  { CLI_FLAG_OUTPUT, "report", 0, offsetof (Flags, report), "F.html",
    "also write a report to share: question, answer, plots, and the data that the answer depends on" },
  { CLI_FLAG_SWITCH, "strict", 0, offsetof (Flags, strict), NULL,
    "end with exit status 3 if the model does not fit into GPU memory" },
  { CLI_FLAG_SWITCH, "advise", 0, offsetof (Flags, advise), NULL,
    "for a training step of a model, or replicas that serve one: list changes that would help; each change is simulated" },
  { CLI_FLAG_TEXT, "sensitivity", 0, offsetof (Flags, sensitivity), "S",
    "what the answer depends on: assumed varies each assumed constant by 20 % down and up; datasheet varies those from data sheets "
    "too; with --goodput also for the days of the run" },
  { CLI_FLAG_SWITCH, "verbose", 0, offsetof (Flags, verbose), NULL, "with --advise: also show changes that cannot run, and why" },
  { CLI_FLAG_SWITCH, "goodput", 0, offsetof (Flags, goodput), NULL,
    "for a training step: length of the whole run in days, with the scenario's failures and checkpoints" },
  { CLI_FLAG_SWITCH, "no-interference", 0, offsetof (Flags, no_interference), NULL,
    "for a training step of a model: compute and communication do not slow each other down" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

static const CliFlag share_flags[] = {
  { CLI_FLAG_HEADING, "sharing the replicas of a service", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "threads", 0, offsetof (Flags, threads), "N",
    "threads, where replicas can be computed apart (default: one for each processor); the answer is the same" },
  { CLI_FLAG_TEXT, "shard", 0, offsetof (Flags, shard), "I/N",
    "compute only part I of N of the replicas (I from 1 to N) and write it for forerun merge" },
  { CLI_FLAG_TEXT, "mpi", 0, offsetof (Flags, mpi), "auto|on|off",
    "share the replicas with the processes that mpirun started; auto (default): if it started any" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* What stands beside the result, where it was asked for. */
typedef struct {
  GPtrArray *changes; /* owned: what advice borrows from */
  GArray *advice;     /* owned, as all */
  Gdp *goodput;
  GArray *goodput_sensitivity; /* GdpSensitivityRow; NULL: sensitivity was not requested */
  double goodput_sensitivity_time_s;
  StdSensitivity *sensitivity;
} Beside;

static void
beside_clear (Beside *beside)
{
  g_clear_pointer (&beside->advice, g_array_unref);
  g_clear_pointer (&beside->changes, g_ptr_array_unref);
  g_clear_pointer (&beside->goodput, gdp_free);
  g_clear_pointer (&beside->goodput_sensitivity, g_array_unref);
  g_clear_pointer (&beside->sensitivity, std_sensitivity_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Beside, beside_clear)

/* Of a training step, or of one of several jobs. */
static gboolean
fits (const ScnResult *result)
{
  gboolean all = result->training.memory == NULL || result->training.fullest.fits;
  for (guint i = 0; result->jobs != NULL && i < result->jobs->len; i++)
    all = all && fits (((const ScnJobResult *)result->jobs->pdata[i])->alone);
  return all;
}

static void
write_text (const Flags *flags, const CliScenarioRun *done, const Beside *beside, const RepEnvelope *envelope, GString *out)
{
  cli_scenario_answer (done, out);
  if (beside->goodput != NULL)
    rep_goodput_answer (beside->goodput, out);
  if (beside->advice != NULL)
    rep_advice_answer (beside->advice, out);
  else if (done->result->training.has_model || scn_serving (done->scenario) != NULL)
    g_string_append (out, "What would help: --advise simulates changes to hardware, software and parallel layout.\n");
  g_string_append_c (out, '\n');
  cli_scenario_header (done, envelope, out);
  rep_run_text (done->result, out);
  if (beside->advice != NULL)
    rep_advice_text (beside->advice, flags->verbose, out);
  if (beside->sensitivity != NULL)
    rep_sensitivity_text (beside->sensitivity, out);
  if (beside->goodput != NULL)
    rep_goodput_text (beside->goodput, out);
  if (beside->goodput_sensitivity != NULL)
    rep_goodput_sensitivity_text (beside->goodput_sensitivity, beside->goodput_sensitivity_time_s, out);
}

static void
write_answer (Cli *cli, const Flags *flags, const CliScenarioRun *done, const Beside *beside)
{
  RepEnvelope envelope = cli_envelope (cli);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    json_builder_begin_object (json);
    rep_run_json_members (done->result, json);
    if (beside->advice != NULL)
      rep_advice_json (beside->advice, json);
    if (beside->sensitivity != NULL)
      rep_sensitivity_json (beside->sensitivity, json);
    if (beside->goodput != NULL)
      rep_goodput_json (beside->goodput, json);
    if (beside->goodput_sensitivity != NULL)
      rep_goodput_sensitivity_json (beside->goodput_sensitivity, beside->goodput_sensitivity_time_s, json);
    json_builder_end_object (json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    if (beside->goodput != NULL)
      cli_rows (cli, rep_goodput_table (beside->goodput));
    else
      cli_rows (cli, rep_run_table (done->result));
  } else {
    write_text (flags, done, beside, &envelope, cli->out);
  }
}

/* Of days of failures one run of them; else of the run itself. */
static gboolean
add_trace (Cli *cli, const Flags *flags, const CliScenarioRun *done, const Beside *beside, GError **error)
{
  GString *trace = g_string_new (NULL);
  const ScnResult *result = done->result;
  const ColSettings *settings = scn_settings (done->scenario);
  const RepTraceInfo info = { scn_name (done->scenario), FORERUN_VERSION, clu_name (scn_cluster (done->scenario)),
                              settings->library != NULL ? "nccl" : "plain", scn_seed (done->scenario) };
  if (beside->goodput != NULL) {
    g_autoptr (GArray) timeline = gdp_timeline (beside->goodput, info.seed);
    rep_days_trace_json (timeline, beside->goodput, &info, trace);
  } else if (result->training.trace != NULL) {
    rep_step_trace_json (result->training.trace, result->run.spans, &info, trace);
  } else {
    if (result->run.spans == NULL || result->run.spans->len == 0)
      cli_warn (cli, "this run has no spans to trace");
    rep_trace_json (result->run.spans, &info, trace);
  }
  return cli_add_file (cli, "--trace", flags->trace, trace, error);
}

static gboolean
add_page (Cli *cli, const Flags *flags, const CliScenarioRun *done, const Beside *beside, const GPtrArray *plots, GError **error)
{
  RepEnvelope envelope = cli_envelope (cli);
  g_autoptr (GString) header = g_string_new (NULL), text = g_string_new (NULL);
  const ColSettings *settings = scn_settings (done->scenario);
  rep_header_cluster (header, scn_cluster (done->scenario));
  rep_header_settings (header, settings, settings->library != NULL ? cst_store_name (&done->loaded->constants) : NULL);
  write_text (flags, done, beside, &envelope, text);
  g_autofree char *scenario = NULL; /* a pipe cannot be read again */
  gsize n_B;
  if (base_file_is_file (done->path))
    (void)base_file_read (done->path, BASE_YAML_MAX_B, &scenario, &n_B, NULL);
  g_autoptr (BaseTable) table =
      beside->sensitivity != NULL ? rep_sensitivity_table (beside->sensitivity, REP_SENSITIVITY_LEAST) : NULL;
  g_autoptr (BaseTable) goodput_sensitivity =
      beside->goodput_sensitivity != NULL
          ? rep_goodput_sensitivity_table (beside->goodput_sensitivity, beside->goodput_sensitivity_time_s)
          : NULL;
  RepPage page = { .title = scn_name (done->scenario),
                   .lead = scn_description (done->scenario),
                   .header = header->str,
                   .scenario = scenario,
                   .clu = scn_cluster (done->scenario),
                   .result = done->result,
                   .text = text->str,
                   .goodput = beside->goodput,
                   .goodput_sensitivity = goodput_sensitivity,
                   .advice = beside->advice,
                   .sensitivity = table };
  return cli_page_add (cli, flags->report, plots, &page, error);
}

/* Leaves those that the scenario asks for: `timeline` is its beginning too. */
static void
choose_pictures (GPtrArray *plots, const GPtrArray *asked)
{
  for (guint i = plots->len; i-- > 0 && asked->len > 0;) {
    const RepPlot *plot = plots->pdata[i];
    gboolean wanted = FALSE;
    for (guint k = 0; k < asked->len; k++) {
      const char *rest = g_str_has_prefix (plot->name, asked->pdata[k]) ? plot->name + strlen (asked->pdata[k]) : "-";
      wanted |= *rest == '\0' || *rest == '_';
    }
    if (!wanted)
      g_ptr_array_remove_index (plots, i);
  }
}

static gboolean
add_files (Cli *cli, const Flags *flags, const CliScenarioRun *done, const Beside *beside, GError **error)
{
  if (flags->trace != NULL && !add_trace (cli, flags, done, beside, error))
    return FALSE;
  if (flags->plot == NULL && flags->report == NULL)
    return TRUE;
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  rep_plots_add_run (plots, done->result, scn_name (done->scenario));
  if (beside->sensitivity != NULL)
    rep_plots_add_sensitivity (plots, beside->sensitivity, cli->lookup, scn_name (done->scenario), "time");
  if (beside->goodput != NULL)
    rep_plots_add_goodput (plots, beside->goodput, scn_name (done->scenario));
  if (beside->goodput_sensitivity != NULL)
    rep_plots_add_goodput_sensitivity (plots, beside->goodput_sensitivity, beside->goodput_sensitivity_time_s,
                                       scn_name (done->scenario));
  choose_pictures (plots, scn_plots (done->scenario));
  if (flags->plot != NULL && plots->len == 0)
    cli_warn (cli, "--plot: this run has nothing to draw");
  return (flags->plot == NULL || cli_draw_folder (cli, "--plot", flags->plot, plots, error)) &&
         (flags->report == NULL || add_page (cli, flags, done, beside, plots, error));
}

static gboolean
advise (const Cli *cli, const CliScenarioRun *done, const StdQuestion *question, Beside *out, GError **error)
{
  if (cli_scenario_is_stdin (done))
    return cli_fail (cli, error, "--advise runs the scenario again, and stdin can be read only once: give a file");
  if (!done->result->training.has_model && scn_serving (done->scenario) == NULL)
    return cli_fail (
        cli, error,
        "--advise needs a training step of a model, or replicas that serve one (e.g. workload: {kind: training, model: "
        "llama3_70b})");
  out->changes =
      done->result->training.has_model ? trn_advice_changes (scn_training (done->scenario)) : scn_serving_changes (done->scenario);
  out->advice = std_advise (question, done->result, out->changes);
  return TRUE;
}

static gboolean
find_beside (Cli *cli, const Flags *flags, const CliScenarioRun *done, Beside *out, GError **error)
{
  const TrnResult *training = &done->result->training;
  int scope = STD_SCOPE_ASSUMED;
  const StdQuestion question = cli_scenario_question (cli, done);
  if (!cli_name_value (cli, "--sensitivity", flags->sensitivity, std_scope_names, &scope, error))
    return FALSE;
  if (flags->sensitivity != NULL && cli_scenario_is_stdin (done))
    return cli_fail (cli, error, "--sensitivity reads its input many times: a file is accepted, stdin is not");
  if (flags->advise && !advise (cli, done, &question, out, error))
    return FALSE;
  if (!flags->goodput && gdp_scenario_has_failures (done->scenario))
    cli_warn (cli, "'failures' do not affect a single step; --goodput simulates days of training with them");
  if (flags->goodput && (out->goodput = cli_goodput (cli, done, error)) == NULL)
    return FALSE;
  if (flags->goodput && flags->sensitivity != NULL)
    out->goodput_sensitivity = gdp_sensitivity (out->goodput, training->step_time_lo_s / training->step_time_s,
                                                training->step_time_hi_s / training->step_time_s, scn_seed (done->scenario),
                                                &out->goodput_sensitivity_time_s);
  if (flags->sensitivity != NULL)
    out->sensitivity = std_sensitivity_scenario (&question, done->result, (const char *const *)cli->picked, (StdScope)scope, error);
  return flags->sensitivity == NULL || out->sensitivity != NULL;
}

/* What sharing a service has to know of these flags. */
static CliServiceFlags
service_flags (const Flags *flags)
{
  const struct {
    const char *flag;
    gboolean given;
  } others[] = { { "--advise", flags->advise },       { "--sensitivity", flags->sensitivity != NULL },
                 { "--goodput", flags->goodput },     { "--mode", flags->mode != NULL },
                 { "--steps", flags->steps != NULL }, { "--strict", flags->strict } };
  CliServiceFlags out = { .shard = flags->shard, .mpi = flags->mpi, .threads = flags->threads };
  out.whole = flags->trace != NULL ? "--trace" : flags->plot != NULL ? "--plot" : flags->report != NULL ? "--report" : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (others) && out.other == NULL; i++)
    out.other = others[i].given ? others[i].flag : NULL;
  return out;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (words[0] == NULL)
    return cli_fail (cli, error, "which scenario? a file, or a name of forerun list scenarios");
  if (words[1] != NULL)
    return cli_fail (cli, error, "one scenario at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  if (flags->report != NULL && !cli_page_check (cli, flags->report, error))
    return FALSE;
  g_auto (CliScenarioRun) done = { 0 };
  const CliScenarioFlags how = { .mode = flags->mode,
                                 .steps = flags->steps,
                                 .no_fold = flags->no_fold,
                                 .no_interference = flags->no_interference,
                                 .want_terms = flags->report != NULL,
                                 .quiet_trace = flags->trace == NULL,
                                 .want_spans = flags->trace != NULL || flags->plot != NULL || flags->report != NULL };
  const CliServiceFlags service = service_flags (flags);
  g_autoptr (ScnPieces) pieces = NULL;
  g_auto (Beside) beside = { 0 };
  gboolean answered;
  if (!cli_scenario_open (cli, words[0], &how, &done, error) ||
      !cli_service_share (cli, &service, words[0], done.scenario, &pieces, &answered, error))
    return FALSE;
  if (answered)
    return TRUE;
  if (!cli_scenario_play (cli, &how, &done, error) || !find_beside (cli, flags, &done, &beside, error))
    return FALSE;
  write_answer (cli, flags, &done, &beside);
  if (flags->strict && !fits (done.result))
    cli->status = CLI_EXIT_INFEASIBLE;
  return add_files (cli, flags, &done, &beside, error);
}

gboolean
cli_run_merge (Cli *cli, const GPtrArray *parts, GError **error)
{
  static const Flags flags = { 0 };
  const CliScenarioFlags how = { .quiet_trace = TRUE };
  const CliPart *first = parts->pdata[0];
  g_auto (CliScenarioRun) done = { 0 };
  g_auto (Beside) beside = { 0 };
  g_autoptr (ScnPieces) pieces = NULL;
  cli->seed_text = g_strdup_printf ("%" G_GUINT64_FORMAT, cli->seed); /* that of the parts */
  if (!cli_scenario_open (cli, cli_part_word (first), &how, &done, error) || !cli_part_check (cli, first, error))
    return FALSE;
  if (scn_serving (done.scenario) == NULL || !scn_pieces_split (done.scenario, NULL))
    return cli_fail (cli, error, "'%s' is no service whose replicas are computed apart; run it in one process", done.path);
  pieces = scn_pieces_new (done.scenario, cli_part_of (first));
  if (!cli_service_take (parts, pieces, error) || !scn_pieces_end (pieces, error) || !cli_scenario_play (cli, &how, &done, error) ||
      !find_beside (cli, &flags, &done, &beside, error))
    return FALSE;
  write_answer (cli, &flags, &done, &beside);
  return TRUE;
}

const CliVerb cli_verb_run = {
  .name = "run",
  .summary = "simulate a scenario: a collective, copies, storage or a training step on a cluster",
  .usage = "SCENARIO.yaml [flags]",
  .example = "forerun run scenarios/quickstart.yaml --format json",
  .completes = "scenarios",
  .notes =
      "SCENARIO is a file, a shipped name (forerun list scenarios), or - for stdin. --set changes its keys, for example --set "
      "cluster.nodes=4, --set workload.bytes='2 GiB' or --set topology.node.nics.rate='200 Gb/s'.\n"
      "A service on many computers: mpirun -n 64 forerun run …; or --shard in a job array, then forerun merge. The answer is the "
      "same. It needs requests that come at a rate or by a trace, and the router round_robin.\n",
  .flags = { flags_table, share_flags },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_CSV,
  .varies = TRUE,
  .run = run,
};
