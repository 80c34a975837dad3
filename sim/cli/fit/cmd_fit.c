/* forerun fit: constants from measurements, with intervals, and the error on what was held out. */
#include <string.h>

#include "base/file.h"
#include "calibrate/fit.h"
#include "comm-private.h"
#include "fit_pairs-private.h"
#include "fit_serving-private.h"
#include "host-private.h"
#include "report/fit.h"

typedef struct {
  char *systems, *topology, *launch, *disable, *offset, *min_size, *op, *over, *name, *hold_out, *report, *points, *section_points,
      *pairs, *serving;
  gboolean split;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "measurements", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "systems", 0, offsetof (Flags, systems), "A[,B...]",
    "for a folder: systems of systems.yaml to fit (default: all)" },
  { CLI_FLAG_TEXT, "topology", 0, offsetof (Flags, topology), "T", "for files: the node that was measured; required" },
  { CLI_FLAG_TEXT, "launch", 0, offsetof (Flags, launch), "L",
    "for files: graph, threads, serial or registered, for rows that do not name it (default: threads)" },
  { CLI_FLAG_TEXT, "op", 0, offsetof (Flags, op), "OP", "for files: the operation, where a file does not name it" },
  { CLI_FLAG_TEXT, "disable", 0, offsetof (Flags, disable), "A[,...]",
    "for files: algorithms that were switched off, e.g. nvls by NCCL_NVLS_ENABLE=0" },
  { CLI_FLAG_TEXT, "offset", 0, offsetof (Flags, offset), "A[,B...]",
    "systems whose launch mode is not known: one constant time per call is fitted for each" },
  { CLI_FLAG_TEXT, "min-size", 0, offsetof (Flags, min_size), "SIZE", "ignore messages shorter than this (default: use all)" },
  { CLI_FLAG_HEADING, "slow parts", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "pairs", 0, offsetof (Flags, pairs), "FILE",
    "name the node, NIC, rail or path that is slow, from measurements between pairs of nodes; FILE may be a folder" },
  { CLI_FLAG_HEADING, "serving engines", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "serving", 0, offsetof (Flags, serving), "SCENARIO",
    "fit an engine's times to results of vllm bench serve, AIPerf or InferenceX; the scenario says what was deployed" },
  { CLI_FLAG_HEADING, "fit", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "over", 0, offsetof (Flags, over), "CAL",
    "calibration to start from; gives the defaults (default: the one with the name of the GPU)" },
  { CLI_FLAG_TEXT, "hold-out", 0, offsetof (Flags, hold_out), "WHAT",
    "points not used for the fit: sizes (every second size), gpus (all numbers of GPUs except the minimum and the maximum), names "
    "of whole operations or systems, or none (default: sizes,gpus)" },
  { CLI_FLAG_SWITCH, "split", 0, offsetof (Flags, split), NULL,
    "write constants fitted without the held-out points (default: after scoring, constants fitted to all points)" },
  { CLI_FLAG_TEXT, "name", 0, offsetof (Flags, name), "N", "name of the calibration (default: fitted)" },
  { CLI_FLAG_OUTPUT, "report", 0, offsetof (Flags, report), "FILE",
    "write constants, errors and intervals to this file, as on stderr" },
  { CLI_FLAG_OUTPUT, "points", 0, offsetof (Flags, points), "FILE.tsv",
    "write each point with its prediction, fitted without the held-out points, for plots/fit.sh" },
  { CLI_FLAG_OUTPUT, "section-points", 0, offsetof (Flags, section_points), "FILE.tsv",
    "the same for the other sections of a probe's file" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* ---- what is asked for ---- */

typedef struct {
  CalFitQuery query;
  gboolean *systems, *unknown, *held; /* by number */
  CalData *data;
} Question;

static void
question_clear (Question *question)
{
  g_free (question->systems);
  g_free (question->unknown);
  g_free (question->held);
  g_clear_pointer (&question->data, cal_data_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Question, question_clear)

static gboolean
is_file (const char *word)
{
  return g_str_has_suffix (word, ".csv") || cal_is_probe (word);
}

static gboolean
load_files (Cli *cli, const Flags *flags, char **words, Question *question, GError **error)
{
  CalFilesQuery files = { .topology = flags->topology, .op = -1 };
  int launch = MDL_LAUNCH_THREADS;
  if (flags->systems != NULL)
    return cli_fail (cli, error, "--systems is of a folder with systems.yaml");
  if (files.topology == NULL)
    return cli_fail (cli, error, "which node was measured? --topology names it (forerun list topologies)");
  if (!cli_name_value (cli, "--op", flags->op, mdl_op_names, &files.op, error) ||
      !cli_name_value (cli, "--launch", flags->launch, mdl_launch_names, &launch, error) ||
      !fr_disabled_value (cli->verb->name, flags->disable, &files.disabled_algos, &files.disabled_protos, error))
    return FALSE;
  files.launch = (MdlLaunch)launch;
  question->query.folder = ".";
  question->query.one_release = TRUE;
  const CalHost host = cli_host (cli);
  question->data = cal_data_load_files (&host, (const char *const *)words, &files, error);
  return question->data != NULL;
}

/* A folder with systems.yaml, or files of one machine. */
static gboolean
load (Cli *cli, const Flags *flags, char **words, Question *question, GError **error)
{
  const char *of_files = flags->topology != NULL  ? "--topology"
                         : flags->launch != NULL  ? "--launch"
                         : flags->disable != NULL ? "--disable"
                         : flags->op != NULL      ? "--op"
                                                  : NULL;
  if (!base_file_is_folder (words[0]) && (flags->topology != NULL || is_file (words[0])))
    return load_files (cli, flags, words, question, error);
  if (of_files != NULL)
    return cli_fail (cli, error, "%s is of files; systems.yaml of %s says it", of_files, words[0]);
  if (words[1] != NULL)
    return cli_fail (cli, error, "one folder at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  if (!cli_measurements_folder (cli, words[0], error))
    return FALSE;
  question->query.folder = words[0];
  const CalHost host = cli_host (cli);
  question->data = cal_data_load (&host, words[0], NULL, error);
  return question->data != NULL;
}

/* Which systems "a,b" names; `text` NULL: *out stays NULL. */
static gboolean
systems_value (const Cli *cli, const char *flag, const char *text, const CalData *data, gboolean **out, GError **error)
{
  if (text == NULL)
    return TRUE;
  g_auto (GStrv) names = g_strsplit (text, ",", -1);
  *out = g_new0 (gboolean, MAX (data->spec.systems.n, 1));
  for (char **name = names; *name != NULL; name++) {
    int found = cal_data_find (data, *name);
    if (found < 0)
      return cli_fail (cli, error, "%s: no system is named '%s' in %s", flag, *name, data->spec.name.v);
    (*out)[found] = TRUE;
  }
  return TRUE;
}

/* `sizes`, `gpus`, names of operations and of systems. */
static gboolean
hold_out_value (const Cli *cli, const char *text, Question *question, GError **error)
{
  CalHoldOut *what = &question->query.hold_out;
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  what->systems = question->held = g_new0 (gboolean, MAX (question->data->spec.systems.n, 1));
  for (char **word = words; *word != NULL; word++) {
    const BaseName *op = base_name_find (mdl_op_names, *word);
    int system = cal_data_find (question->data, *word);
    if (strcmp (*word, "sizes") == 0)
      what->sizes = TRUE;
    else if (strcmp (*word, "gpus") == 0)
      what->ranks = TRUE;
    else if (op != NULL)
      what->ops |= 1u << op->code;
    else if (system >= 0)
      question->held[system] = TRUE;
    else if (strcmp (*word, "none") != 0 || words[1] != NULL)
      return cli_fail (cli, error, "--hold-out '%s': sizes, gpus, operations and systems by name, or none is accepted", text);
  }
  return TRUE;
}

static gboolean
read_question (Cli *cli, const Flags *flags, char **words, Question *question, GError **error)
{
  CalFitQuery *query = &question->query;
  guint64 min_size_B = 0;
  query->topology = flags->topology;
  query->over = flags->over;
  query->split = flags->split;
  if (!cli_size_value (cli, "--min-size", flags->min_size, &min_size_B, error) || !load (cli, flags, words, question, error) ||
      !hold_out_value (cli, flags->hold_out != NULL ? flags->hold_out : "sizes,gpus", question, error) ||
      !systems_value (cli, "--systems", flags->systems, question->data, &question->systems, error) ||
      !systems_value (cli, "--offset", flags->offset, question->data, &question->unknown, error))
    return FALSE;
  query->min_size_B = (double)min_size_B;
  query->systems = question->systems;
  query->unknown = question->unknown;
  return TRUE;
}

/* ---- the answer ---- */

static gboolean
write_files (Cli *cli, const Flags *flags, const CalFitResult *result, const CalData *data, GError **error)
{
  if (flags->points != NULL && result->fit != NULL &&
      !cli_add_file (cli, "--points", flags->points, rep_fit_points (result, data), error))
    return FALSE;
  if (flags->section_points != NULL &&
      !cli_add_file (cli, "--section-points", flags->section_points, rep_fit_sections_points (result->sections), error))
    return FALSE;
  g_autoptr (GString) text = g_string_new (NULL);
  rep_fit_text (result, text);
  rep_fit_sections_text (result->sections, text);
  if (flags->report != NULL)
    return cli_add_file (cli, "--report", flags->report, g_steal_pointer (&text), error);
  if (cli->format == CLI_FORMAT_TEXT)
    g_string_append (cli->talk, text->str);
  return TRUE;
}

static void
write_answer (Cli *cli, const Flags *flags, const CalFitResult *result, const CalData *data)
{
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    json_builder_begin_object (json);
    rep_fit_json (result, json);
    json_builder_set_member_name (json, "sections");
    rep_fit_sections_json (result->sections, json);
    json_builder_end_object (json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    rep_fit_tsv (result, cli->out);
    rep_fit_sections_tsv (result->sections, cli->out);
  } else {
    g_autofree char *yaml = cal_fit_write (result, data, flags->name != NULL ? flags->name : "fitted");
    g_string_append (cli->out, yaml);
    cli->document = TRUE;
  }
}

/* Says which flag is at fault. */
static gboolean
refuse (const Cli *cli, GError *cause, GError **error)
{
  if (cause->domain != CAL_FIT_ERROR) {
    g_propagate_error (error, cause);
    return FALSE;
  }
  cli_fail (cli, error, "%s%s%s", cause->code == CAL_FIT_ERROR_OFFSET ? "--offset " : "", cause->message,
            cause->code == CAL_FIT_ERROR_CONSTANTS ? "; --over or --systems chooses" : "");
  g_error_free (cause);
  return FALSE;
}

static gboolean
answer (Cli *cli, const Flags *flags, char **words, GError **error)
{
  g_auto (Question) question = { 0 };
  if (!read_question (cli, flags, words, &question, error))
    return FALSE;
  GError *cause = NULL;
  const CalHost host = cli_host (cli);
  g_autoptr (CalFitResult) result = cal_fit (&host, &question.query, question.data, &cause);
  if (result == NULL)
    return refuse (cli, cause, error);
  if (result->n_left > 0)
    g_string_append_printf (cli->talk, "forerun fit: %u points are not fitted (P2P off, one way, too short, cannot run)\n",
                            result->n_left);
  if (!write_files (cli, flags, result, question.data, error))
    return FALSE;
  if (!cal_fit_determines (result)) {
    g_set_error (
        error, BASE_ERROR, (gint)BASE_ERROR_RUN,
        "forerun fit: the points determine no constant, so there is no calibration to write; more sizes, directions or GPUs "
        "do (forerun-probe measures them)");
    return FALSE;
  }
  write_answer (cli, flags, result, question.data);
  return TRUE;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (flags->pairs != NULL && words[0] != NULL)
    return cli_fail (cli, error, "--pairs FILE judges measurements between pairs and fits nothing; '%s' is one too many", words[0]);
  if (flags->pairs != NULL)
    return cli_fit_pairs (cli, flags->pairs, error);
  if (flags->serving != NULL && flags->topology != NULL)
    return cli_fail (cli, error, "--topology is of files of collectives; the scenario of --serving names the cluster");
  if (flags->serving != NULL)
    return cli_fit_serving (cli, words, flags->serving, flags->name != NULL ? flags->name : "fitted", flags->report, error);
  if (words[0] == NULL)
    return cli_fail (cli, error, "which measurements? a folder with systems.yaml, or files of forerun-probe or CSV and --topology");
  return cli_lookup (cli, error) && answer (cli, data, words, error);
}

const CliVerb cli_verb_fit = {
  .name = "fit",
  .summary = "fit model constants to measurements, with intervals and the error on held-out points",
  .usage = "FOLDER | FILE... --topology T [flags] -o CAL.yaml",
  .example = "forerun fit probe.json nvbandwidth.json fio.json --topology hgx_h200 -o our_node.yaml",
  .notes =
      "FILE is a result of forerun-probe, a CSV file (of collectives; or of copies and storage, as forerun import writes it), or "
      "output of nccl-tests, nvbandwidth, p2pBandwidthLatencyTest, fio (JSON) or gdsio. The program recognises the format by the "
      "content.\nThe answer is a calibration file, for the key calibration: of a topology or the flag --calibration. A summary "
      "goes to stderr or into --report. A constant that the measurements do not determine keeps its default; the file says "
      "so.\n--pairs takes output of "
      "perftest, of osu_bw or osu_latency, of sendrecv_perf between two ranks, or a CSV with columns from, to and GBps "
      "(docs/fit.md).\n--serving takes JSON of vllm bench serve, SGLang's bench_serving, AIPerf and InferenceX, AIPerf's CSV, and "
      "a "
      "CSV with columns ttft_ms and tpot_ms (docs/serving.md).\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_CSV,
  .run = run,
};
