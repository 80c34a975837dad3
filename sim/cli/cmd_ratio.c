/* forerun ratio: communication over compute of a training step, over nodes, batches and speeds of the network. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "draw-private.h"
#include "ratio-private.h"
#include "report/ratio.h"

#define MOST_POINTS 10000u

typedef CliRatioFlags Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "what to compute", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "nodes", 'n', offsetof (Flags, nodes), "N[,N…]",
    "numbers of nodes (default: 1, 2, 4 … up to four times the scenario's, where the model divides evenly)" },
  { CLI_FLAG_TEXT, "batch", 0, offsetof (Flags, batch), "B[,B…]",
    "training: global batch sizes, in sequences; for layers with given times, in micro-batches (default: the scenario's)" },
  { CLI_FLAG_TEXT, "load", 0, offsetof (Flags, load), "L[,L…]", "serving: requests over those of the scenario (default: 1)" },
  { CLI_FLAG_TEXT, "rate", 0, offsetof (Flags, rate), "R[,R…]",
    "NIC rates, e.g. '100,200,400 Gb/s'; switch ports get the same rate (default: 1/4, 1/2, 1 and 2 times the scenario's)" },
  { CLI_FLAG_TEXT, "ratio", 0, offsetof (Flags, ratio), "X",
    "training: first limit: communication time over compute time (default: 1)" },
  { CLI_FLAG_TEXT, "waits", 0, offsetof (Flags, waits), "P",
    "second limit: fraction of a step, or of TTFT and TPOT, spent waiting for the network (default: 10 %)" },
  { CLI_FLAG_HEADING, "engine", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "mode", 0, offsetof (Flags, mode), "M",
    "training: model (default): closed formulas, checked by the engine at each solution; event: only the engine" },
  { CLI_FLAG_SWITCH, "no-check", 0, offsetof (Flags, no_check), NULL, "training: do not check with the engine" },
  { CLI_FLAG_OUTPUT, "plot", 0, offsetof (Flags, plot), "F",
    "also plot the map into F, and of training throughput by number of GPUs into F_scaling; .svg, .png or .pdf" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* ---- lists ---- */

GPtrArray *
cli_ratio_list (const Cli *cli, const char *flag, const char *text, gboolean units, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  const char *unit = "";
  const guint n = g_strv_length (parts);
  if (n == 0) {
    cli_fail (cli, error, "%s '': an empty list; values stand between commas", flag);
    return NULL;
  }
  for (guint i = n; i-- > 0;) {
    const char *part = g_strstrip (parts[i]);
    const char *own = part + strspn (part, "0123456789.eE+-");
    if (*part == '\0') {
      cli_fail (cli, error, "%s '%s': value %u is empty; values stand between commas", flag, text, i + 1);
      return NULL;
    }
    unit = *own != '\0' ? own : unit;
    g_ptr_array_insert (list, 0,
                        units && *own == '\0' && *unit != '\0' ? g_strdup_printf ("%s %s", part, unit + strspn (unit, " "))
                                                               : g_strdup (part));
  }
  return g_steal_pointer (&list);
}

gboolean
cli_ratio_add (const Cli *cli, const char *flag, const char *text, GArray *values, double value, GError **error)
{
  for (guint i = 0; i < values->len; i++)
    if (!(g_array_index (values, double, i) < value || g_array_index (values, double, i) > value))
      return cli_fail (cli, error, "%s lists '%s' twice; each value once is accepted", flag, text);
  g_array_append_val (values, value);
  return TRUE;
}

gboolean
cli_ratio_counts (const Cli *cli, const char *flag, const char *text, guint64 most, GArray *out, GError **error)
{
  g_autoptr (GPtrArray) list = cli_ratio_list (cli, flag, text, FALSE, error);
  for (guint i = 0; list != NULL && i < list->len; i++) {
    guint64 value;
    if (!cli_count_value (cli, flag, list->pdata[i], 1, most, &value, error) ||
        !cli_ratio_add (cli, flag, list->pdata[i], out, (double)value, error))
      return FALSE;
  }
  return list != NULL;
}

gboolean
cli_ratio_rates (const Cli *cli, const char *text, GArray *out, GError **error)
{
  g_autoptr (GPtrArray) list = cli_ratio_list (cli, "--rate", text, TRUE, error);
  for (guint i = 0; list != NULL && i < list->len; i++) {
    double value = 0;
    g_autoptr (GError) why = NULL;
    if (!base_quantity_parse (list->pdata[i], BASE_DIM_BANDWIDTH, &value, &why))
      return cli_fail (cli, error, "--rate: %s", why->message);
    if (!(value >= 1e6 && value <= 1e15))
      return cli_fail (cli, error, "--rate '%s' is out of range; 8 Mb/s to 8 Pb/s is accepted", (const char *)list->pdata[i]);
    if (!cli_ratio_add (cli, "--rate", list->pdata[i], out, value, error))
      return FALSE;
  }
  return list != NULL;
}

gboolean
cli_ratio_limit (const Cli *cli, const char *flag, const char *text, double least, double most, double *out, GError **error)
{
  g_autoptr (GError) why = NULL;
  if (text == NULL)
    return TRUE;
  if (!base_quantity_parse (text, BASE_DIM_RATIO, out, &why))
    return cli_fail (cli, error, "%s: %s", flag, why->message);
  return (*out >= least && *out <= most) || cli_fail (cli, error, "%s '%s': %g to %g is accepted", flag, text, least, most);
}

/* ---- pictures ---- */

static gboolean
draw (Cli *cli, const char *path, const StdRatio *ratio, const char *name, GError **error)
{
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  if (rep_ratio_plots (ratio, name, plots))
    return cli_draw (cli, "--plot", path, plots, error);
  cli_warn (cli, "--plot: fewer than two points ran, there is nothing to draw");
  return TRUE;
}

/* ---- the verb ---- */

/* Warns of what did not run and what does not fit. FALSE and *error when nothing ran. */
static gboolean
tell_points (Cli *cli, const StdRatio *ratio, GError **error)
{
  guint ran = 0, large = 0;
  for (guint i = 0; i < ratio->points->len; i++) {
    const StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, i);
    ran += point->why_not == NULL ? 1 : 0;
    large += point->why_not == NULL && !point->fits ? 1 : 0;
    const StdRatioPoint *before = i > 0 ? point - 1 : NULL; /* of another rate, for the same reason */
    if (point->why_not != NULL &&
        (before == NULL || before->nodes != point->nodes || g_strcmp0 (before->why_not, point->why_not) != 0))
      g_string_append_printf (cli->talk, "%u node%s, batch %.10g did not run: %s\n", point->nodes, point->nodes == 1 ? "" : "s",
                              point->batch, point->why_not);
  }
  if (ran == 0) {
    const StdRatioPoint *first = &g_array_index (ratio->points, StdRatioPoint, 0);
    g_string_truncate (cli->talk, 0);
    return cli_fail (cli, error, "no point can run; %u node%s, batch %.10g: %s", first->nodes, first->nodes == 1 ? "" : "s",
                     first->batch, first->why_not);
  }
  if (large > 0) {
    g_autofree char *text =
        g_strdup_printf ("%u of %u points do not fit into the GPUs' memory; they are computed as if they did", large, ran);
    cli_warn (cli, text);
  }
  return TRUE;
}

static void
write_answer (Cli *cli, const CliScenarioRun *base, const StdRatio *ratio)
{
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    json_builder_begin_object (json);
    rep_ratio_json (ratio, json);
    json_builder_end_object (json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    cli_rows (cli, rep_ratio_table (ratio));
  } else {
    RepEnvelope envelope = cli_envelope (cli);
    rep_ratio_text (ratio, cli->out);
    cli_scenario_header (base, &envelope, cli->out);
  }
}

static gboolean
read_flags (Cli *cli, const Flags *flags, StdRatioQuery *query, GError **error)
{
  query->limit[STD_LINE_RATIO] = 1;
  query->limit[STD_LINE_WAITS] = 0.1;
  return (flags->nodes == NULL || cli_ratio_counts (cli, "--nodes", flags->nodes, 100000, query->nodes, error)) &&
         (flags->batch == NULL || cli_ratio_counts (cli, "--batch", flags->batch, 1000000000, query->batches, error)) &&
         (flags->rate == NULL || cli_ratio_rates (cli, flags->rate, query->rates, error)) &&
         cli_ratio_limit (cli, "--ratio", flags->ratio, 1e-3, 1e3, &query->limit[STD_LINE_RATIO], error) &&
         cli_ratio_limit (cli, "--waits", flags->waits, 1e-3, 0.99, &query->limit[STD_LINE_WAITS], error) &&
         (flags->plot == NULL || cli_plot_check (cli, "--plot", flags->plot, error));
}

gboolean
cli_ratio_check_points (const Cli *cli, const GArray *nodes, const GArray *loads, const GArray *rates, GError **error)
{
  return (double)nodes->len * loads->len * rates->len <= MOST_POINTS ||
         cli_fail (cli, error, "%u x %u x %u points are too many; at most %u are accepted", nodes->len, loads->len, rates->len,
                   MOST_POINTS);
}

/* The rest of what is asked, which the scenario says. */
static gboolean
settle (const Cli *cli, const CliScenarioRun *base, gboolean check, StdRatioQuery *query, GError **error)
{
  const BaseYaml *yaml = scn_inputs (base->scenario)->pdata[0];
  query->question = cli_scenario_question (cli, base);
  query->check = check && base->options.mode == COL_MODE_MODEL;
  if (!trn_scale (scn_training (base->scenario), base_yaml_mark (base_yaml_root (yaml)), &query->scale, error))
    return FALSE;
  if (query->scale.adapters == 0)
    return cli_fail (cli, error, "its nodes have no NICs, so there is no network to change; use a topology with 'nics'");
  std_ratio_defaults (query);
  return cli_ratio_check_points (cli, query->nodes, query->batches, query->rates, error);
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) batches = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (double));
  StdRatioQuery query = { .nodes = nodes, .batches = batches, .rates = rates };
  if (words[0] == NULL)
    return cli_fail (cli, error, "which scenario? a file, or a name of forerun list scenarios");
  if (words[1] != NULL)
    return cli_fail (cli, error, "one scenario at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  if (strcmp (words[0], "-") == 0)
    return cli_fail (cli, error, "the scenario is read many times: a file is accepted, stdin is not");
  if (!read_flags (cli, flags, &query, error))
    return FALSE;
  const CliScenarioFlags how = { .mode = flags->mode != NULL ? flags->mode : "model" };
  g_auto (CliScenarioRun) base = { 0 };
  if (!cli_scenario_open (cli, words[0], &how, &base, error))
    return FALSE;
  if (scn_serving (base.scenario) != NULL)
    return cli_ratio_fabric (cli, flags, &base, error);
  if (flags->load != NULL)
    return cli_fail (cli, error, "--load is of serving scenarios; of a training step, give --batch");
  if (!settle (cli, &base, !flags->no_check, &query, error))
    return FALSE;
  g_autoptr (StdRatio) ratio = std_ratio (&query);
  if (!tell_points (cli, ratio, error))
    return FALSE;
  write_answer (cli, &base, ratio);
  return flags->plot == NULL || draw (cli, flags->plot, ratio, scn_name (base.scenario), error);
}

const CliVerb cli_verb_ratio = {
  .name = "ratio",
  .summary = "where the network becomes the bottleneck of a training step or a service",
  .usage = "SCENARIO.yaml [flags]",
  .example = "forerun ratio ddp_16_nodes --nodes 1,4,16,64 --rate '50,100,200,400 Gb/s'",
  .completes = "scenarios",
  .notes = "SCENARIO is a training or serving scenario: a file, or a shipped name (forerun list scenarios). For each number of "
           "nodes and "
           "batch, the program computes the slowest network that meets both limits. For each network, it computes the largest "
           "number of nodes and the smallest batch. Of a service it simulates each point, and "
           "computes the slowest network that TTFT, TPOT and the SLO allow.\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_CSV,
  .repeats = TRUE,
  .run = run,
};
