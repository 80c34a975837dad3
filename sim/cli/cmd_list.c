/* forerun list: what there is to name. */
#include <string.h>

#include "base/table.h"
#include "base/yaml.h"
#include "list_llms-private.h"
#include "scenario/scenario.h"

typedef struct {
  const char *kind;
  const char *folder;       /* shipped files, folders parted by ':'; NULL: a table of names */
  const char *first_key;    /* that they begin with: other kinds may lie beside them */
  const BaseName *names;    /* or: */
  const BaseSchema *schema; /* the names that `key` of this schema takes */
  const char *key;
  const BaseColumn *columns; /* more than name and summary, and who fills a row of them */
  void (*fill) (const BaseName *name, BaseTable *table);
  gboolean (*fill_all) (Cli *cli, BaseTable *table, GError **error); /* all rows, of shipped files */
} ListKind;

static const BaseColumn schedule_columns[] = {
  { "name", "name", BASE_CELL_TEXT, 0, NULL, 0 },           { "bubble", "bubble", BASE_CELL_TEXT, 0, NULL, 0 },
  { "in_flight", "in flight", BASE_CELL_TEXT, 0, NULL, 0 }, { "summary", "summary", BASE_CELL_TEXT, 0, NULL, 0 },
  { "source", "source", BASE_CELL_TEXT, 0, NULL, 1 },       { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static void
fill_schedule (const BaseName *name, BaseTable *table)
{
  const MdlScheduleFacts *facts = mdl_schedule_facts ((MdlSchedule)name->code);
  base_table_text (table, "bubble", facts->bubble);
  base_table_text (table, "in_flight", facts->in_flight);
  base_table_text (table, "source", facts->source);
}

static const ListKind kinds[] = {
  { "topologies", .folder = "topologies", .first_key = "topology" },
  { "gpus", .folder = "topologies/gpus", .first_key = "gpu" },
  { "nics", .folder = "topologies/nics", .first_key = "nic" },
  { "links", .folder = "topologies/links", .first_key = "link_class" },
  { "switches", .folder = "topologies/switches", .first_key = "switch" },
  { "storage", .folder = "topologies/storage", .first_key = "drive" },
  { "storage-types", .folder = "topologies/storage", .first_key = "storage_type" },
  { "scenarios", .folder = FR_SCENARIOS_FOLDER ":" FR_CASES_FOLDER, .first_key = "scenario" },
  { "plans", .folder = "scenarios/plans", .first_key = "plan" },
  { "offers", .folder = "scenarios/offers", .first_key = "offers" },
  { "prices", .folder = "scenarios/prices", .first_key = "prices" },
  { "llms", .columns = cli_llm_columns, .fill_all = cli_list_llms },
  { "calibrations", .folder = "calibrate/defaults", .first_key = "calibration" },
  { "failures", .folder = "calibrate/defaults/failures", .first_key = "failures" },
  { "ops", .names = mdl_op_names },
  { "algorithms", .names = mdl_algo_names },
  { "protocols", .names = mdl_proto_names },
  { "dtypes", .names = mdl_dtype_names },
  { "families", .schema = &clu_schema_link_class, .key = "family" },
  { "kinds", .names = scn_kind_names },
  { "schedules", .names = mdl_schedule_names, .columns = schedule_columns, .fill = fill_schedule },
  { "launch-modes", .names = mdl_launch_names },
  { "modes", .names = col_mode_names },
  { "steps", .names = col_steps_names },
  { .kind = NULL },
};

static const BaseColumn columns[] = {
  { "name", "name", BASE_CELL_TEXT, 0, NULL, 0 },
  { "summary", "summary", BASE_CELL_TEXT, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

/* A leaf's text, written plainly or as {value: …}. */
static const char *
leaf_text (const BaseYamlNode *root, const char *key)
{
  const BaseYamlNode *node = base_yaml_get (root, key);
  if (node != NULL && base_yaml_kind (node) == BASE_YAML_MAP)
    node = base_yaml_get (node, "value");
  return node != NULL ? base_yaml_text (node) : NULL;
}

static gboolean
list_folder (const Cli *cli, const char *folder, const char *first_key, BaseTable *table, GError **error)
{
  static const char *const keys[] = { "description", "summary", "product" };
  g_auto (GStrv) names = base_lookup_list (cli->lookup, folder);
  for (char **name = names; *name != NULL; name++) {
    g_autofree char *file = g_strconcat (*name, ".yaml", NULL);
    g_autofree char *path = g_build_filename (base_lookup_root (cli->lookup), folder, file, NULL);
    g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, error);
    if (yaml == NULL)
      return FALSE;
    const BaseYamlNode *root = base_yaml_root (yaml);
    if (base_yaml_get (root, first_key) == NULL)
      continue;
    const char *summary = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS (keys) && summary == NULL; i++)
      summary = leaf_text (root, keys[i]);
    base_table_row (table);
    base_table_text (table, "name", *name);
    base_table_text (table, "summary", summary);
  }
  return TRUE;
}

static gboolean
list_files (const Cli *cli, const ListKind *kind, BaseTable *table, GError **error)
{
  g_auto (GStrv) folders = g_strsplit (kind->folder, ":", -1);
  for (char **folder = folders; *folder != NULL; folder++)
    if (!list_folder (cli, *folder, kind->first_key, table, error))
      return FALSE;
  return TRUE;
}

static void
list_names (const ListKind *kind, BaseTable *table)
{
  const BaseName *names = kind->names;
  for (const BaseField *field = kind->schema != NULL ? kind->schema->fields : NULL; field != NULL && field->key != NULL; field++)
    if (strcmp (field->key, kind->key) == 0)
      names = field->names;
  for (const BaseName *name = names; name != NULL && name->name != NULL; name++) {
    base_table_row (table);
    base_table_text (table, "name", name->name);
    base_table_text (table, "summary", name->help);
    if (kind->fill != NULL)
      kind->fill (name, table);
  }
}

static void
write_list (Cli *cli, const BaseTable *table)
{
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    base_table_build_json (table, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV)
    base_table_print_tsv (table, cli->out);
  else
    base_table_print_text (table, cli->out);
}

static gboolean
fail_kind (const Cli *cli, const char *word, GError **error)
{
  const char *names[G_N_ELEMENTS (kinds)] = { NULL };
  for (size_t i = 0; kinds[i].kind != NULL; i++)
    names[i] = kinds[i].kind;
  g_autofree char *accepted = g_strjoinv (", ", (char **)names);
  if (word == NULL)
    return cli_fail (cli, error, "which kind? accepted: %s", accepted);
  g_autofree char *hint = base_hint (word, names);
  return cli_fail (cli, error, "kind '%s' is not known%s; accepted: %s", word, hint, accepted);
}

static gboolean
run (Cli *cli, const void *flags, char **words, GError **error)
{
  (void)flags;
  if (words[0] != NULL && words[1] != NULL)
    return cli_fail (cli, error, "one kind at a time, and '%s' is one too many", words[1]);
  const ListKind *kind = kinds;
  while (kind->kind != NULL && g_strcmp0 (kind->kind, words[0]) != 0)
    kind++;
  if (kind->kind == NULL)
    return fail_kind (cli, words[0], error);
  if (cli->sets != NULL)
    return cli_fail (cli, error, "--set has no meaning here: nothing that is listed can be changed");
  g_autoptr (BaseTable) table = base_table_new (kind->columns != NULL ? kind->columns : columns);
  if (kind->fill_all != NULL) {
    if (!cli_lookup (cli, error) || !kind->fill_all (cli, table, error))
      return FALSE;
  } else if (kind->folder == NULL)
    list_names (kind, table);
  else if (!cli_lookup (cli, error) || !list_files (cli, kind, table, error))
    return FALSE;
  write_list (cli, table);
  return TRUE;
}

const CliVerb cli_verb_list = {
  .name = "list",
  .summary = "what is shipped and what can be named: topologies, gpus, llms, algorithms, scenarios …",
  .usage = "KIND [flags]",
  .example = "forerun list topologies",
  .notes =
      "KIND is one of topologies gpus nics links switches storage storage-types scenarios plans offers prices llms\n"
      "calibrations failures ops algorithms protocols dtypes families kinds schedules launch-modes modes steps.\n"
      "Of schedules, for even stages and free sends: p ranks of a pipeline, v chunks of the model on each, m micro-batches; F, B, "
      "W:\n"
      "what a rank's share of a micro-batch takes forward, for the gradient of the input, for that of the weights; FB: a forward\n"
      "beside a backward. The bubble is what a rank waits in a step (zb_v: from its own start to its own end); in flight are the\n"
      "activations that the fullest rank holds, in micro-batches of its share.\n"
      "Of llms, parameters and those that one token uses, in billions; json and tsv tell them to the last and their source.\n",
  .formats = CLI_FORMAT_TSV,
  .run = run,
};
