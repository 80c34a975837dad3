/* forerun check: reads and checks files, runs nothing. */
#include <string.h>

#include "base/table.h"
#include "plan-private.h"
#include "plan/fleet.h"
#include "plan/offers.h"
#include "scenario-private.h"
#include "shared/filetype-private.h"
#include "training/llm.h"

/* What is reported of one file. */
typedef struct {
  const char *kind;
  char *name;
  gboolean has_cluster;
  guint32 nodes, gpus;
  double parameters; /* 0: no model */
} Finding;

static gboolean
apply_sets (Cli *cli, BaseYaml *yaml, GError **error)
{
  for (char **set = cli->sets; set != NULL && *set != NULL; set++) {
    g_auto (GStrv) halves = g_strsplit (*set, "=", 2);
    g_autofree char *label = g_strconcat ("--set ", halves[0], NULL);
    if (!base_yaml_set (yaml, halves[0], halves[1], label, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_llm (Cli *cli, BaseYaml *yaml, Finding *finding, GError **error)
{
  if (!apply_sets (cli, yaml, error))
    return FALSE;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (yaml), .diag = diag, .lookup = cli->lookup, .source = BASE_SOURCE_DATASHEET, .inputs = cli->yamls
  };
  MdlLlm llm = { .head = { .set = FALSE } };
  const gboolean right = trn_llm_read_file (yaml, &context, &llm);
  cli_warn_all (cli, diag);
  if (!right)
    return base_diag_finish (diag, error);
  MdlLlmCount count;
  mdl_llm_count (&llm, &count);
  finding->parameters = count.total;
  g_free (finding->name);
  finding->name = g_strdup (llm.name.v);
  return TRUE;
}

static gboolean
check_plan (Cli *cli, const char *path, GError **error)
{
  if (pln_is_fleet (path, NULL))
    return cli_fleet_check (cli, path, error);
  g_autoptr (Pln) plan = cli_plan_read (cli, path, error);
  if (plan == NULL)
    return FALSE;
  cli_warn_all (cli, pln_warnings (plan));
  g_autofree char *unpriced = pln_unpriced (plan);
  return unpriced == NULL ||
         cli_fail (cli, error,
                   "%s: no price of %s; add {topology, node, rent} to 'nodes' of 'prices', or give the topology a `cost`", path,
                   unpriced);
}

static gboolean
check_part (Cli *cli, BaseYaml *yaml, const CliFileType *type, GError **error)
{
  if (!apply_sets (cli, yaml, error))
    return FALSE;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  BaseSchemaContext context = {
    .arena = base_yaml_arena (yaml), .diag = diag, .lookup = cli->lookup, .source = BASE_SOURCE_DATASHEET, .inputs = cli->yamls
  };
  if (strcmp (type->key, "prices") == 0) {
    PlnPricesSpec prices = { 0 };
    return pln_read_prices (yaml, NULL, &context, &prices, error);
  }
  g_autofree void *spec = g_malloc0 (type->size);
  base_schema_read (type->schema, base_yaml_root (yaml), FALSE, &context, spec);
  if (type->check != NULL)
    type->check (spec, base_yaml_mark (base_yaml_root (yaml)), diag);
  cli_warn_all (cli, diag);
  return base_diag_finish (diag, error);
}

static void
take_cluster (Finding *finding, const Clu *clu)
{
  finding->has_cluster = TRUE;
  finding->nodes = clu_n_nodes (clu);
  finding->gpus = clu_n_gpus (clu);
}

static gboolean
check_scenario (Cli *cli, const char *path, Finding *finding, GError **error)
{
  ScnOptions options = { .has_seed = cli->seed_text != NULL, .seed = cli->seed, .sets = (const char *const *)cli->sets };
  g_autoptr (StdLoaded) loaded = cli_scenario_load (cli, path, &options, error);
  if (loaded == NULL)
    return FALSE;
  take_cluster (finding, scn_cluster (loaded->scenario));
  return scn_ready (loaded->scenario, error);
}

static gboolean
check_topology (Cli *cli, const char *path, Finding *finding, GError **error)
{
  g_autofree char *named = strchr (path, '/') != NULL ? g_strdup (path) : g_strconcat ("./", path, NULL);
  g_autoptr (Clu) clu = cli_cluster_load (cli, named, 0, error);
  if (clu == NULL)
    return FALSE;
  take_cluster (finding, clu);
  return TRUE;
}

static gboolean
check_calibration (Cli *cli, const char *path, GError **error)
{
  g_autofree char *named = strchr (path, '/') != NULL ? g_strdup (path) : g_strconcat ("./", path, NULL);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const MdlLibraryQuery query = { .name = named, .inputs = cli->yamls, .warnings = diag };
  const MdlLibrary *library = cst_store_load (&cli->constants, &query, error);
  cli_warn_all (cli, diag);
  return library != NULL;
}

/* What `word` names: a file, or a shipped name of any kind, the first where several kinds have it. Returned: full; NULL and *error
 * where neither is there. */
static char *
find_file (const Cli *cli, const char *word, GError **error)
{
  if (strchr (word, '/') != NULL || strchr (word, '.') != NULL || g_file_test (word, G_FILE_TEST_EXISTS))
    return g_strdup (word);
  g_autofree char *folders = cli_shipped_folders ();
  char *path = base_lookup_find (cli->lookup, word, folders, NULL, NULL);
  if (path == NULL)
    cli_fail (cli, error, "no file '%s', and nothing shipped has this name; forerun list names what is shipped", word);
  return path;
}

static gboolean
check_file (Cli *cli, const char *path, Finding *finding, GError **error)
{
  g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, error);
  const CliFileType *type;
  if (yaml == NULL || !cli_file_type (yaml, &type, error))
    return FALSE;
  finding->kind = type->key;
  finding->name = g_strdup (base_yaml_text (base_yaml_item (base_yaml_root (yaml), 0)));
  switch (type->kind) {
    case CLI_FILE_TOPOLOGY:
      return check_topology (cli, path, finding, error);
    case CLI_FILE_SCENARIO:
      return check_scenario (cli, path, finding, error);
    case CLI_FILE_CALIBRATION:
      return check_calibration (cli, path, error);
    case CLI_FILE_PART: {
      /* The document goes to the inputs, which outlive what is read from it. */
      BaseYaml *kept = g_steal_pointer (&yaml);
      g_ptr_array_add (cli->yamls, kept);
      return check_part (cli, kept, type, error);
    }
    case CLI_FILE_PLAN:
      return check_plan (cli, path, error);
    case CLI_FILE_OFFERS: {
      g_autoptr (PlnOffers) offers = pln_offers_load (path, cli->lookup, (const char *const *)cli->sets, error);
      return offers != NULL;
    }
    case CLI_FILE_LLM: {
      BaseYaml *kept = g_steal_pointer (&yaml);
      g_ptr_array_add (cli->yamls, kept);
      return check_llm (cli, kept, finding, error);
    }
  }
  g_return_val_if_reached (FALSE);
}

static const BaseColumn columns[] = {
  { "path", NULL, BASE_CELL_TEXT, 0, NULL, 0 },     { "ok", NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  { "kind", NULL, BASE_CELL_TEXT, 0, NULL, 0 },     { "name", NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  { "nodes", NULL, BASE_CELL_INTEGER, 0, NULL, 0 }, { "gpus", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },
  { "errors", NULL, BASE_CELL_TEXT, 0, NULL, 0 },   { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static void
add_row (BaseTable *table, const char *path, const Finding *finding, const GError *cause)
{
  base_table_row (table);
  base_table_text (table, "path", path);
  base_table_text (table, "ok", cause == NULL ? "yes" : "no");
  base_table_text (table, "kind", finding->kind);
  base_table_text (table, "name", finding->name);
  if (finding->has_cluster) {
    base_table_integer (table, "nodes", finding->nodes);
    base_table_integer (table, "gpus", finding->gpus);
  }
  base_table_text (table, "errors", cause != NULL ? cause->message : NULL);
}

static void
say (Cli *cli, const char *path, const Finding *finding, const GError *cause)
{
  if (cause != NULL) {
    g_string_append_printf (cli->talk, "%s%s", cause->message, g_str_has_suffix (cause->message, "\n") ? "" : "\n");
    cli->status = MAX (cli->status, g_error_matches (cause, BASE_ERROR, (gint)BASE_ERROR_INPUT) ? 2 : 1);
    return;
  }
  if (cli->format != CLI_FORMAT_TEXT)
    return;
  g_string_append_printf (cli->out, "%s: ok (%s", path, finding->kind);
  if (finding->has_cluster)
    g_string_append_printf (cli->out, ", %u node%s, %u GPU%s)\n", finding->nodes, finding->nodes == 1 ? "" : "s", finding->gpus,
                            finding->gpus == 1 ? "" : "s");
  else if (finding->parameters > 0)
    g_string_append_printf (cli->out, " %s, %.0f parameters)\n", finding->name, finding->parameters);
  else
    g_string_append_printf (cli->out, " %s)\n", finding->name != NULL ? finding->name : "");
}

static gboolean
run (Cli *cli, const void *flags, char **words, GError **error)
{
  (void)flags;
  if (words[0] == NULL)
    return cli_fail (cli, error, "which files? for example: forerun check scenarios/*.yaml");
  if (!cli_lookup (cli, error))
    return FALSE;
  g_autoptr (BaseTable) table = base_table_new (columns);
  guint n = 0, valid = 0;
  for (char **word = words; *word != NULL; word++, n++) {
    Finding finding = { 0 };
    g_autoptr (GError) cause = NULL;
    if (strcmp (*word, "-") == 0)
      return cli_fail (cli, error, "stdin cannot be checked, since a file is read more than once; write it to a file and name it");
    g_autofree char *path = find_file (cli, *word, &cause);
    if (path != NULL) {
      g_ptr_array_add (cli->read, g_strdup (path));
      check_file (cli, path, &finding, &cause);
    }
    say (cli, *word, &finding, cause);
    valid += cause == NULL ? 1u : 0u;
    add_row (table, *word, &finding, cause);
    g_free (finding.name);
  }
  if (cli->format == CLI_FORMAT_TEXT && n > 1) {
    g_autofree char *answer = valid == n ? g_strdup_printf ("All %u files are valid.\n\n", n)
                                         : g_strdup_printf ("%u of %u files are valid.%s", valid, n, valid > 0 ? "\n\n" : "\n");
    g_string_prepend (cli->out, answer);
  }
  if (cli->format == CLI_FORMAT_TSV)
    base_table_print_tsv (table, cli->out);
  if (cli->format == CLI_FORMAT_JSON) {
    cli_take_inputs (cli, cli->yamls);
    JsonBuilder *json = cli_json_open (cli);
    base_table_build_json (table, json);
    cli_json_close (cli, json);
  }
  return TRUE;
}

const CliVerb cli_verb_check = {
  .name = "check",
  .summary = "check input files without running them",
  .usage = "FILE|NAME... [flags]",
  .example = "forerun check scenarios/*.yaml topologies/*.yaml",
  .notes =
      "NAME is a shipped one, as in forerun list. The first key of a file names its kind: topology, scenario, gpu, nic, switch, "
      "drive, link_class, storage_type, failures, calibration, llm, network, plan, prices, offers or sizes. A model may also be "
      "config.json of HuggingFace. Valid files are listed on stdout. Errors in other files are listed on stderr as "
      "path:line:column, and the exit status is then 2.\n",
  .formats = CLI_FORMAT_CSV,
  .run = run,
};
