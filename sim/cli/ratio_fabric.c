/* forerun ratio of a serving scenario: where the fabric becomes its bottleneck. */
#include "base/units.h"
#include "draw-private.h"
#include "ratio-private.h"
#include "report/fabric.h"

static gboolean
read_loads (const Cli *cli, const char *text, GArray *out, GError **error)
{
  g_autoptr (GPtrArray) list = cli_ratio_list (cli, "--load", text, FALSE, error);
  for (guint i = 0; list != NULL && i < list->len; i++) {
    double value = 0;
    if (!cli_ratio_limit (cli, "--load", list->pdata[i], 1e-3, 1e3, &value, error) ||
        !cli_ratio_add (cli, "--load", list->pdata[i], out, value, error))
      return FALSE;
  }
  return list != NULL;
}

static gboolean
read_flags (Cli *cli, const CliRatioFlags *flags, StdFabricQuery *query, GError **error)
{
  const char *of_training = flags->batch != NULL   ? "--batch"
                            : flags->ratio != NULL ? "--ratio"
                            : flags->mode != NULL  ? "--mode"
                            : flags->no_check      ? "--no-check"
                                                   : NULL;
  if (of_training != NULL)
    return cli_fail (cli, error, "%s is of training scenarios; this one serves: give --nodes, --load, --rate or --waits",
                     of_training);
  query->limit[STD_FABRIC_TTFT] = 0.1;
  query->limit[STD_FABRIC_SLO] = 0.01;
  if (!cli_ratio_limit (cli, "--waits", flags->waits, 1e-3, 0.99, &query->limit[STD_FABRIC_TTFT], error))
    return FALSE;
  query->limit[STD_FABRIC_TPOT] = query->limit[STD_FABRIC_TTFT];
  return (flags->nodes == NULL || cli_ratio_counts (cli, "--nodes", flags->nodes, 100000, query->nodes, error)) &&
         (flags->load == NULL || read_loads (cli, flags->load, query->loads, error)) &&
         (flags->rate == NULL || cli_ratio_rates (cli, flags->rate, query->rates, error));
}

/* Says what did not run. FALSE and *error when nothing ran. */
static gboolean
tell_points (Cli *cli, const StdFabric *fabric, GError **error)
{
  guint ran = 0;
  const char *before = NULL;
  for (guint i = 0; i < fabric->points->len; i++) {
    const StdFabricPoint *point = &g_array_index (fabric->points, StdFabricPoint, i);
    ran += point->why_not == NULL ? 1 : 0;
    if (point->why_not != NULL && g_strcmp0 (before, point->why_not) != 0)
      g_string_append_printf (cli->talk, "%u node%s, load %.4g did not run: %s\n", point->nodes, point->nodes == 1 ? "" : "s",
                              point->load, point->why_not);
    before = point->why_not;
  }
  if (ran > 0)
    return TRUE;
  g_string_truncate (cli->talk, 0);
  return cli_fail (cli, error, "no point can run: %s", g_array_index (fabric->points, StdFabricPoint, 0).why_not);
}

static void
write_answer (Cli *cli, const CliScenarioRun *base, const StdFabric *fabric)
{
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    json_builder_begin_object (json);
    rep_fabric_json (fabric, json);
    json_builder_end_object (json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    cli_rows (cli, rep_fabric_table (fabric));
  } else {
    RepEnvelope envelope = cli_envelope (cli);
    rep_fabric_text (fabric, cli->out);
    cli_scenario_header (base, &envelope, cli->out);
  }
}

gboolean
cli_ratio_fabric (Cli *cli, const CliRatioFlags *flags, const CliScenarioRun *base, GError **error)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) loads = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (double));
  StdFabricQuery query = { .question = cli_scenario_question (cli, base), .nodes = nodes, .loads = loads, .rates = rates };
  if (!read_flags (cli, flags, &query, error) || !std_fabric_scale (base->scenario, &query.scale, error))
    return FALSE;
  std_fabric_defaults (&query);
  if (!cli_ratio_check_points (cli, nodes, loads, rates, error))
    return FALSE;
  g_autoptr (StdFabric) fabric = std_fabric (&query);
  if (!tell_points (cli, fabric, error))
    return FALSE;
  write_answer (cli, base, fabric);
  if (flags->plot == NULL)
    return TRUE;
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  if (rep_fabric_plots (fabric, scn_name (base->scenario), plots))
    return cli_draw (cli, "--plot", flags->plot, plots, error);
  cli_warn (cli, "--plot: fewer than two points ran, there is nothing to draw");
  return TRUE;
}
