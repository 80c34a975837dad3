/* forerun plan on a plan for a service. */
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "draw-private.h"
#include "host-private.h"
#include "plan-private.h"
#include "report/fleet.h"
#include "report/plan.h"
#include "report/workbook.h"

#define MEASURED_B ((gsize)64 << 20)
#define BEST       6u /* options that the engine plays */

static PlnFleet *
load (Cli *cli, const char *path, GError **error)
{
  const PlnOptions options = cli_plan_options (cli);
  return pln_fleet_load (path, cli->lookup, &options, cst_store_share, &cli->constants, error);
}

gboolean
cli_fleet_check (Cli *cli, const char *path, GError **error)
{
  g_autoptr (PlnFleet) fleet = load (cli, path, error);
  return fleet != NULL;
}

/* What is answered. */
typedef struct {
  PlnFleet *fleet;
  const PlnFleetResult *result;
  RepFleetMoney money;
  const StdSensitivity *sensitivity; /* NULL: not asked for */
  guint rows;
} Answer;

/* "plan chat_8b, model llama31_8b". Returned: full. */
static char *
what_of (const Answer *answer)
{
  return g_strdup_printf ("plan %s, model %s", pln_fleet_name (answer->fleet), pln_fleet_model (answer->fleet));
}

static void
write_text (const Cli *cli, const Answer *answer, GString *out)
{
  const RepEnvelope envelope = cli_envelope (cli);
  g_autofree char *what = what_of (answer);
  rep_fleet_text (answer->fleet, answer->result, &answer->money, answer->rows, out);
  if (answer->sensitivity != NULL)
    rep_sensitivity_text (answer->sensitivity, out);
  g_string_append_c (out, '\n');
  rep_header_title (out, &envelope, what);
  if (pln_fleet_description (answer->fleet) != NULL)
    g_string_append_printf (out, "# %s\n", pln_fleet_description (answer->fleet));
  rep_fleet_header (answer->fleet, answer->result, out);
}

static void
write_json (Cli *cli, const Answer *answer)
{
  RepEnvelope envelope = cli_envelope (cli);
  JsonBuilder *json = rep_envelope_open (&envelope);
  json_builder_begin_object (json);
  rep_fleet_json (answer->fleet, answer->result, &answer->money, answer->rows, json);
  if (answer->sensitivity != NULL)
    rep_sensitivity_json (answer->sensitivity, json);
  json_builder_end_object (json);
  g_autofree char *text = rep_envelope_close (json, &envelope);
  g_string_append (cli->out, text);
}

static void
append_header (const void *data, GString *out)
{
  const Answer *answer = data;
  rep_fleet_header (answer->fleet, answer->result, out);
}

static GString *
make_workbook (const void *data, const char *header, GError **error)
{
  const Answer *answer = data;
  return rep_fleet_workbook (answer->fleet, answer->result, answer->rows, header, error);
}

/* ---- plots and the report ---- */

/* *out: CalServingSpot, full; NULL: no file was named. */
static gboolean
read_measured (Cli *cli, const char *path, GArray **out, GError **error)
{
  *out = NULL;
  if (path == NULL)
    return TRUE;
  const CalHost host = cli_host (cli);
  gsize n_B = 0;
  g_autofree char *bytes = host.read (host.user, path, MEASURED_B, &n_B, error);
  if (bytes == NULL)
    return FALSE;
  const CalText text = { path, bytes, n_B, NULL };
  *out = cal_serving_spots (&text, error);
  return *out != NULL;
}

static gboolean
add_page (Cli *cli, const char *path, const char *from, const Answer *answer, GPtrArray *plots, GError **error)
{
  const PlnFleet *fleet = answer->fleet;
  g_autoptr (GString) text = g_string_new (NULL), header = g_string_new (NULL);
  g_autoptr (BaseTable) prices = rep_plan_prices (answer->money.plan);
  g_autoptr (BaseTable) sensitivity =
      answer->sensitivity != NULL ? rep_sensitivity_table (answer->sensitivity, REP_SENSITIVITY_LEAST) : NULL;
  write_text (cli, answer, text);
  rep_fleet_header (fleet, answer->result, header);
  g_autofree char *title = g_strdup_printf ("Plan %s", pln_fleet_name (fleet)), *source = NULL;
  gsize n_B;
  if (cli->piped == NULL && base_file_is_file (from))
    (void)base_file_read (from, BASE_YAML_MAX_B, &source, &n_B, NULL);
  const PlnChoiceRow *first = &g_array_index (answer->money.result->rows, PlnChoiceRow, 0);
  RepPage page = { .title = title,
                   .lead = pln_fleet_description (fleet),
                   .fleet = fleet,
                   .fleet_result = answer->result,
                   .fleet_money = &answer->money,
                   .plan_rows = answer->rows,
                   .prices = prices,
                   .header = header->str,
                   .scenario = cli->piped != NULL ? cli->piped : source,
                   .clu = scn_cluster (g_array_index (pln_machines (answer->money.plan), PlnMachine, first->machine).scenario),
                   .sensitivity = sensitivity,
                   .text = text->str };
  return cli_page_add (cli, path, plots, &page, error);
}

static gboolean
add_files (Cli *cli, const CliPlanFlags *flags, const char *path, const Answer *answer, GError **error)
{
  if (flags->plot == NULL && flags->report == NULL)
    return TRUE;
  if (answer->result->rows->len == 0) { /* the answer says why */
    g_string_append (cli->talk, "forerun plan: no option meets the goal, so there is no plot and no report\n");
    return TRUE;
  }
  g_autoptr (GArray) measured = NULL;
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  guint n = 0;
  if (!read_measured (cli, flags->measured, &measured, error))
    return FALSE;
  rep_fleet_plots (answer->fleet, answer->result, &answer->money, measured, plots, &n);
  if (measured != NULL && n > 0 && !cli->quiet)
    g_string_append_printf (cli->talk, "%u of %u measured runs are drawn; the others are of other models, GPUs or lengths\n", n,
                            measured->len);
  else if (measured != NULL && n == 0)
    cli_warn (cli, "no measured run is of this model on these GPUs with about these lengths: none is drawn");
  if (answer->sensitivity != NULL)
    rep_plots_add_sensitivity (plots, answer->sensitivity, cli->lookup, pln_fleet_name (answer->fleet),
                               base_name (pln_fleet_aim_names, (int)pln_fleet_aim (answer->fleet)));
  return (flags->plot == NULL || cli_draw (cli, "--plot", flags->plot, plots, error)) &&
         (flags->report == NULL || add_page (cli, flags->report, path, answer, plots, error));
}

/* ---- the whole ---- */

static gboolean
check_flags (const Cli *cli, const CliPlanFlags *flags, const char *other, GError **error)
{
  if (other != NULL)
    return cli_fail (cli, error, "%s shares the search of a plan of training; a plan of a service takes seconds: leave it out",
                     other);
  return flags->measured == NULL || flags->plot != NULL || flags->report != NULL ||
         cli_fail (cli, error, "--measured is drawn into a plot: --plot F.svg or --report F.html makes one");
}

static gboolean
write_answer (Cli *cli, const Answer *answer, GError **error)
{
  g_autofree char *what = what_of (answer);
  const CliWorkbook book = { what, answer, append_header, make_workbook };
  if (cli->workbook)
    return cli_plan_workbook (cli, &book, error);
  if (cli->format == CLI_FORMAT_JSON)
    write_json (cli, answer);
  else if (cli->format == CLI_FORMAT_TSV)
    cli_rows (cli, rep_fleet_table (answer->fleet, answer->result, answer->rows));
  else
    write_text (cli, answer, cli->out);
  return TRUE;
}

static gboolean
find_sensitivity (Cli *cli, const CliPlanFlags *flags, const char *path, const PlnFleet *fleet, const PlnFleetResult *result,
                  StdSensitivity **out, GError **error)
{
  int scope = STD_SCOPE_ASSUMED;
  *out = NULL;
  if (flags->sensitivity == NULL)
    return TRUE;
  if (!cli_name_value (cli, "--sensitivity", flags->sensitivity, std_scope_names, &scope, error))
    return FALSE;
  const StdFleetQuestion question = { path, cli->lookup, cli_plan_options (cli), rep_fleet_choice };
  *out = std_sensitivity_fleet (&question, fleet, result, (StdScope)scope, error);
  return *out != NULL;
}

gboolean
cli_fleet_answer (Cli *cli, const CliPlanFlags *flags, const FrPlanCounts *counts, const char *path, const char *other,
                  GError **error)
{
  if (!check_flags (cli, flags, other, error))
    return FALSE;
  g_autoptr (PlnFleet) fleet = load (cli, path, error);
  if (fleet == NULL)
    return FALSE;
  cli_take_inputs (cli, pln_fleet_inputs (fleet));
  const PlnPricesSpec *prices = pln_fleet_prices (fleet);
  if (prices != NULL)
    cli_layout_currency (cli, prices->currency.v, prices->exchange.v);
  const guint best = flags->search.best != NULL ? (guint)counts->best : flags->search.per_machine ? 100 : BEST;
  g_autoptr (PlnFleetResult) result = pln_fleet_search (fleet, best, flags->search.per_machine, error);
  g_autoptr (PlnResult) money = NULL;
  g_autoptr (StdSensitivity) sensitivity = NULL;
  g_autoptr (GArray) capacity = NULL;
  const Pln *plan = result != NULL ? pln_fleet_money (fleet, result, &money, error) : NULL;
  if (plan == NULL || !find_sensitivity (cli, flags, path, fleet, result, &sensitivity, error))
    return FALSE;
  g_autofree char *infeasible = rep_fleet_infeasible (fleet, result);
  if (cli->varies != NULL && infeasible != NULL) { /* a point of --vary has no row to show */
    base_fail (error, BASE_ERROR_INFEASIBLE, "forerun plan: %s", infeasible);
    return FALSE;
  }
  if (result->rows->len > 0 && (capacity = pln_fleet_capacity (fleet, result, error)) == NULL)
    return FALSE;
  const Answer answer = { fleet, result, { plan, money, capacity }, sensitivity, (guint)counts->rows };
  if (!write_answer (cli, &answer, error))
    return FALSE;
  if (infeasible != NULL) {
    cli->status = CLI_EXIT_INFEASIBLE;
    g_string_append_printf (cli->talk, "forerun plan: %s\n", infeasible);
  }
  return add_files (cli, flags, path, &answer, error);
}

/* ---- a deployment ---- */

gboolean
cli_fleet_export (Cli *cli, const char *word, const char *row, PlnFleetDeployment kind, GError **error)
{
  guint64 number = 1;
  if (!cli_count_value (cli, "--row", row, 1, 1000000, &number, error) || !cli_lookup (cli, error))
    return FALSE;
  g_autofree char *path = fr_plan_path (cli->lookup, word, error);
  if (path == NULL)
    return FALSE;
  if (!pln_is_fleet (path, NULL))
    return cli_fail (cli, error, "'%s' is not a plan for a service, whose 'goal' has a 'load' and an 'slo'", word);
  g_autoptr (PlnFleet) fleet = load (cli, path, error);
  g_autoptr (PlnFleetResult) result = fleet != NULL ? pln_fleet_search (fleet, BEST, FALSE, error) : NULL;
  if (result == NULL)
    return FALSE;
  g_autofree char *infeasible = rep_fleet_infeasible (fleet, result);
  if (infeasible != NULL)
    return base_fail (error, BASE_ERROR_INFEASIBLE, "forerun export: %s", infeasible);
  if (number > result->rows->len)
    return cli_fail (cli, error, "--row %" G_GUINT64_FORMAT ": the answer of '%s' has %u row%s", number, pln_fleet_name (fleet),
                     result->rows->len, result->rows->len == 1 ? "" : "s");
  const PlnFleetRow *its = &g_array_index (result->rows, PlnFleetRow, number - 1);
  g_autofree char *text = pln_fleet_deployment (fleet, its, kind, error), *choice = rep_fleet_choice (fleet, its);
  if (text == NULL)
    return FALSE;
  g_string_append_printf (cli->out,
                          "# Row %" G_GUINT64_FORMAT " of plan %s: %u x %s. The model has the name of the plan: write that of "
                          "your checkpoint (weights in %s).\n%s",
                          number, pln_fleet_name (fleet), its->nodes, choice,
                          base_name (srv_format_names, (int)its->pools[0].weights), text);
  return TRUE;
}
