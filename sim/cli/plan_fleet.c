/* forerun plan on a plan for a service. */
#include "plan-private.h"
#include "report/fleet.h"

/* Flags that only plans of training have. */
static gboolean
check_flags (const Cli *cli, const CliPlanFlags *flags, const char *other, GError **error)
{
  const struct {
    const char *flag;
    gboolean given;
  } of_training[] = {
    { "--plot", flags->plot != NULL }, { "--report", flags->report != NULL }, { "--sensitivity", flags->sensitivity != NULL },
    { "--vary", cli->varies != NULL }, { "-o F.xlsx", cli->workbook },        { other, other != NULL }
  };
  for (guint i = 0; i < G_N_ELEMENTS (of_training); i++)
    if (of_training[i].given)
      return cli_fail (cli, error,
                       "%s is of plans of training; a plan of a service takes --best, --rows, --per-machine, --set and --format",
                       of_training[i].flag);
  return TRUE;
}

static PlnFleet *
load (Cli *cli, const char *path, GError **error)
{
  const PlnOptions options = { .sets = (const char *const *)cli->sets, .has_seed = TRUE, .seed = cli->seed };
  return pln_fleet_load (path, cli->lookup, &options, cst_store_share, &cli->constants, error);
}

gboolean
cli_fleet_check (Cli *cli, const char *path, GError **error)
{
  g_autoptr (PlnFleet) fleet = load (cli, path, error);
  return fleet != NULL;
}

static void
write_text (Cli *cli, const PlnFleet *fleet, const PlnFleetResult *result, guint rows)
{
  const RepEnvelope envelope = cli_envelope (cli);
  g_autofree char *what = g_strdup_printf ("plan %s, model %s", pln_fleet_name (fleet), pln_fleet_model (fleet));
  rep_fleet_text (fleet, result, rows, cli->out);
  g_string_append_c (cli->out, '\n');
  rep_header_title (cli->out, &envelope, what);
  if (pln_fleet_description (fleet) != NULL)
    g_string_append_printf (cli->out, "# %s\n", pln_fleet_description (fleet));
  rep_fleet_header (fleet, result, cli->out);
}

static void
write_json (Cli *cli, const PlnFleet *fleet, const PlnFleetResult *result, guint rows)
{
  RepEnvelope envelope = cli_envelope (cli);
  JsonBuilder *json = rep_envelope_open (&envelope);
  json_builder_begin_object (json);
  rep_fleet_json (fleet, result, rows, json);
  json_builder_end_object (json);
  g_autofree char *text = rep_envelope_close (json, &envelope);
  g_string_append (cli->out, text);
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
  const guint best = flags->search.best != NULL ? (guint)counts->best : flags->search.per_machine ? 100 : 6;
  g_autoptr (PlnFleetResult) result = pln_fleet_search (fleet, best, flags->search.per_machine, error);
  if (result == NULL)
    return FALSE;
  if (cli->format == CLI_FORMAT_JSON)
    write_json (cli, fleet, result, (guint)counts->rows);
  else if (cli->format == CLI_FORMAT_TSV)
    cli_rows (cli, rep_fleet_table (fleet, result, (guint)counts->rows));
  else
    write_text (cli, fleet, result, (guint)counts->rows);
  g_autofree char *infeasible = rep_fleet_infeasible (fleet, result);
  if (infeasible != NULL) {
    cli->status = CLI_EXIT_INFEASIBLE;
    g_string_append_printf (cli->talk, "forerun plan: %s\n", infeasible);
  }
  return TRUE;
}
