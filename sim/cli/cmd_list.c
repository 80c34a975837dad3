/* forerun list: what there is to name. */
#include <string.h>

#include "base/table.h"
#include "base/yaml.h"
#include "cli-private.h"
#include "workload/scenario.h"

typedef struct {
  const char *kind;
  const char *folder;       /* shipped files; NULL: a table of names */
  const BaseName *names;    /* or: */
  const BaseSchema *schema; /* the names that `key` of this schema takes */
  const char *key;
  const char *what; /* for --help and for a wrong kind */
} ListKind;

static const ListKind kinds[] = {
  { "topologies", "topologies", NULL, NULL, NULL, "machines: --topology" },
  { "gpus", "topologies/gpus", NULL, NULL, NULL, "GPU types: node.gpus.type" },
  { "nics", "topologies/nics", NULL, NULL, NULL, "network adapters: node.nics.type" },
  { "links", "topologies/links", NULL, NULL, NULL, "link classes" },
  { "switches", "topologies/switches", NULL, NULL, NULL, "switches: fabric.leaf.type" },
  { "storage", "topologies/storage", NULL, NULL, NULL, "drives: node.storage.local_nvme.type" },
  { "scenarios", "scenarios", NULL, NULL, NULL, "questions that forerun run answers" },
  { "calibrations", "calibrate/defaults", NULL, NULL, NULL, "constants of software on hardware: --calibration" },
  { "ops", NULL, mdl_op_names, NULL, NULL, "operations of forerun coll" },
  { "algorithms", NULL, mdl_algo_names, NULL, NULL, "--algo" },
  { "protocols", NULL, mdl_proto_names, NULL, NULL, "--proto" },
  { "dtypes", NULL, mdl_dtype_names, NULL, NULL, "--dtype" },
  { "families", NULL, NULL, &clu_schema_link_class, "family", "families of link classes" },
  { "kinds", NULL, wrk_kind_names, NULL, NULL, "kinds of workload" },
  { "schedules", NULL, NULL, &wrk_schema_training, "schedule", "pipeline schedules of a training workload" },
  { "launch-modes", NULL, mdl_launch_names, NULL, NULL, "--launch" },
  { "modes", NULL, wrk_mode_names, NULL, NULL, "--mode" },
  { "steps", NULL, wrk_steps_names, NULL, NULL, "--steps" },
  { NULL, NULL, NULL, NULL, NULL, NULL },
};

static const BaseColumn columns[] = {
  { "name", "name", BASE_CELL_TEXT, 0, NULL },
  { "summary", "summary", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
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
list_files (const Cli *cli, const ListKind *kind, BaseTable *table, GError **error)
{
  static const char *const keys[] = { "description", "summary", "product" };
  g_auto (GStrv) names = base_lookup_list (cli->lookup, kind->folder);
  for (char **name = names; *name != NULL; name++) {
    g_autofree char *file = g_strconcat (*name, ".yaml", NULL);
    g_autofree char *path = g_build_filename (base_lookup_root (cli->lookup), kind->folder, file, NULL);
    g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, error);
    if (yaml == NULL)
      return FALSE;
    const char *summary = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS (keys) && summary == NULL; i++)
      summary = leaf_text (base_yaml_root (yaml), keys[i]);
    base_table_row (table);
    base_table_text (table, "name", *name);
    base_table_text (table, "summary", summary);
  }
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
  }
}

static void
write_list (Cli *cli, const BaseTable *table)
{
  if (cli->format == CLI_FORMAT_JSON) {
    RepEnvelope envelope = cli_envelope (cli, NULL);
    JsonBuilder *json = rep_envelope_open (&envelope);
    base_table_build_json (table, json);
    g_autofree char *text = rep_envelope_close (json, &envelope);
    g_string_append (cli->out, text);
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
  g_autofree char *hint = cli_hint (word, names);
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
  g_autoptr (BaseTable) table = base_table_new (columns);
  if (kind->folder == NULL)
    list_names (kind, table);
  else if (!cli_lookup (cli, error) || !list_files (cli, kind, table, error))
    return FALSE;
  write_list (cli, table);
  return TRUE;
}

const CliVerb cli_verb_list = {
  .name = "list",
  .summary = "what is shipped and what can be named: topologies, gpus, links, algorithms, scenarios …",
  .usage = "KIND [flags]",
  .example = "forerun list topologies",
  .notes =
      "KIND is one of topologies gpus nics links switches storage scenarios calibrations ops algorithms protocols dtypes families\n"
      "kinds schedules launch-modes modes steps.\n",
  .formats = CLI_FORMAT_TSV,
  .run = run,
};
