/* forerun list: shipped files and accepted names. */
#include <string.h>

#include "base/table.h"
#include "base/yaml.h"
#include "collective/nccl_env.h"
#include "collective/nccl_variables.h"
#include "list_llms-private.h"
#include "scenario/scenario.h"
#include "training/llm.h"

typedef struct {
  const char *kind, *summary;
  const char *folder;       /* shipped files, folders separated by ':'; NULL: a table of names */
  const char *first_key;    /* that they begin with: other kinds may be in the same folder */
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

static const BaseColumn alias_columns[] = {
  { "name", "name", BASE_CELL_TEXT, 0, NULL, 0 },
  { "aliases", "alias", BASE_CELL_TEXT, 0, NULL, 0 },
  { "summary", "summary", BASE_CELL_TEXT, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static const BaseColumn variable_columns[] = {
  { "name", "name", BASE_CELL_TEXT, 0, NULL, 0 },       { "effect", "effect", BASE_CELL_TEXT, 0, NULL, 0 },
  { "summary", "summary", BASE_CELL_TEXT, 0, NULL, 0 }, { "source", "source", BASE_CELL_TEXT, 0, NULL, 1 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static void
add_variable (BaseTable *table, const char *name, const char *effect, const char *summary, const char *source)
{
  base_table_row (table);
  base_table_text (table, "name", name);
  base_table_text (table, "effect", effect);
  base_table_text (table, "summary", summary);
  base_table_text (table, "source", source);
}

/* First what moves an answer, then what does not. */
static gboolean
list_variables (Cli *cli, BaseTable *table, GError **error)
{
  static const char *const effects[] = { [COL_VARIABLE_IDLE] = "none on time", [COL_VARIABLE_NOT_MODELLED] = "not modelled" };
  (void)cli;
  (void)error;
  for (const BaseField *field = col_schema_nccl.fields; field->key != NULL; field++)
    if (g_ascii_isupper (*field->key))
      add_variable (table, field->key, "modelled", field->help, "docs/nccl.md");
  for (const ColVariable *variable = col_nccl_variables; variable->name != NULL; variable++)
    add_variable (table, variable->name, effects[variable->effect], variable->help, variable->source);
  return TRUE;
}

static const ListKind kinds[] = {
  { "topologies", "nodes and clusters (--topology)", .folder = "topologies", .first_key = "topology", .columns = alias_columns },
  { "gpus", "GPU types of topologies", .folder = "topologies/gpus", .first_key = "gpu" },
  { "nics", "NIC types of topologies", .folder = "topologies/nics", .first_key = "nic" },
  { "links", "link classes (NVLink, PCIe, InfiniBand …)", .folder = "topologies/links", .first_key = "link_class" },
  { "switches", "switch types of topologies", .folder = "topologies/switches", .first_key = "switch" },
  { "storage", "drive types of topologies", .folder = "topologies/storage", .first_key = "drive" },
  { "storage-types", "storage systems", .folder = "topologies/storage", .first_key = "storage_type" },
  { "scenarios", "scenarios for forerun run and ratio", .folder = FR_SCENARIOS_FOLDER ":" FR_CASES_FOLDER,
    .first_key = "scenario" },
  { "plans", "plans for forerun plan", .folder = "scenarios/plans", .first_key = "plan" },
  { "offers", "comparisons for forerun offers", .folder = "scenarios/offers", .first_key = "offers" },
  { "prices", "price lists of plans", .folder = "scenarios/prices", .first_key = "prices" },
  { "llms", "language models", .columns = cli_llm_columns, .fill_all = cli_list_llms },
  { "engines", "engines that serve language models, with their defaults", .columns = cli_engine_columns,
    .fill_all = cli_list_engines },
  { "networks", "networks of operations: models that are not decoders", .folder = TRN_NET_FOLDER, .first_key = "network" },
  { "calibrations", "measured constants (--calibration)", .folder = "calibrate/defaults", .first_key = "calibration" },
  { "sizes", "flow sizes of workloads of kind flows", .folder = "scenarios/sizes", .first_key = "sizes" },
  { "failures", "failure rates", .folder = "calibrate/defaults/failures", .first_key = "failures" },
  { "ops", "collective operations", .names = mdl_op_names },
  { "algorithms", "collective algorithms (--algo)", .names = mdl_algo_names },
  { "protocols", "protocols of NCCL (--proto)", .names = mdl_proto_names },
  { "nccl-variables", "variables of NCCL 2.30: which of them move an answer", .columns = variable_columns,
    .fill_all = list_variables },
  { "dtypes", "element types (--dtype)", .names = mdl_dtype_names },
  { "families", "families of link classes", .schema = &clu_schema_link_class, .key = "family" },
  { "kinds", "kinds of workload of a scenario", .names = scn_kind_names },
  { "schedules", "pipeline schedules", .names = mdl_schedule_names, .columns = schedule_columns, .fill = fill_schedule },
  { "launch-modes", "ways to launch an operation (--launch)", .names = mdl_launch_names },
  { "modes", "ways to compute a time (--mode)", .names = col_mode_names },
  { "steps", "ways to simulate a collective (--steps)", .names = col_steps_names },
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
list_folder (const Cli *cli, const ListKind *kind, const char *folder, BaseTable *table, GError **error)
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
    if (base_yaml_get (root, kind->first_key) == NULL)
      continue;
    const char *summary = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS (keys) && summary == NULL; i++)
      summary = leaf_text (root, keys[i]);
    base_table_row (table);
    base_table_text (table, "name", *name);
    if (kind->columns == alias_columns) {
      g_autofree char *aliases = base_lookup_aliases (cli->lookup, folder, *name);
      base_table_text (table, "aliases", aliases);
    }
    base_table_text (table, "summary", summary);
  }
  return TRUE;
}

static gboolean
list_files (const Cli *cli, const ListKind *kind, BaseTable *table, GError **error)
{
  g_auto (GStrv) folders = g_strsplit (kind->folder, ":", -1);
  for (char **folder = folders; *folder != NULL; folder++)
    if (!list_folder (cli, kind, *folder, table, error))
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

/* `summary`: what is listed. */
static void
write_list (Cli *cli, const BaseTable *table, const char *summary)
{
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    base_table_build_json (table, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV)
    base_table_print_tsv (table, cli->out);
  else {
    const guint n = base_table_n_rows (table);
    g_string_append_printf (cli->out, "%u name%s: %s.\n\n", n, n == 1 ? "" : "s", summary);
    base_table_print_text (table, cli->out);
  }
}

/* Folders of a kind's shipped files, separated by ':'; NULL: it is a table of names. */
static const char *
folders_of (const ListKind *kind)
{
  return kind->fill_all == cli_list_llms ? TRN_LLM_FOLDER : kind->folder;
}

static gboolean
is_part_of_a_topology (const ListKind *kind)
{
  return g_str_has_prefix (folders_of (kind), "topologies/");
}

char *
cli_shipped_folders (void)
{
  GString *out = g_string_new (NULL);
  for (int parts = 0; parts < 2; parts++)
    for (const ListKind *kind = kinds; kind->kind != NULL; kind++)
      if (folders_of (kind) != NULL && is_part_of_a_topology (kind) == parts)
        g_string_append_printf (out, "%s%s", out->len > 0 ? ":" : "", folders_of (kind));
  return g_string_free (out, FALSE);
}

/* The kind that has a member `word`, under its own name or an alias; NULL: none. */
static const char *
kind_with (const Cli *cli, const char *word)
{
  for (const ListKind *kind = kinds; kind->kind != NULL; kind++) {
    const char *folder = folders_of (kind);
    g_autofree char *path = folder != NULL ? base_lookup_find (cli->lookup, word, folder, NULL, NULL) : NULL;
    if (path != NULL || (kind->names != NULL && base_name_find (kind->names, word) != NULL))
      return kind->kind;
  }
  return NULL;
}

static gboolean
fail_kind (Cli *cli, const char *word, GError **error)
{
  const char *with = cli_lookup (cli, NULL) ? kind_with (cli, word) : NULL;
  if (with != NULL)
    return cli_fail (cli, error, "'%s' is not a kind but one of the %s; 'forerun list %s' shows them", word, with, with);
  const char *names[G_N_ELEMENTS (kinds)] = { NULL };
  for (size_t i = 0; kinds[i].kind != NULL; i++)
    names[i] = kinds[i].kind;
  g_autofree char *accepted = base_accepted (word, names, "forerun list");
  return cli_fail (cli, error, "kind '%s' is not known%s", word, accepted);
}

static void
list_kinds (BaseTable *table)
{
  for (const ListKind *kind = kinds; kind->kind != NULL; kind++) {
    base_table_row (table);
    base_table_text (table, "name", kind->kind);
    base_table_text (table, "summary", kind->summary);
  }
}

static gboolean
run (Cli *cli, const void *flags, char **words, GError **error)
{
  (void)flags;
  if (words[0] != NULL && words[1] != NULL)
    return cli_fail (cli, error, "give one kind; '%s' is one too many", words[1]);
  const ListKind *kind = kinds;
  while (kind->kind != NULL && g_strcmp0 (kind->kind, words[0]) != 0)
    kind++;
  if (words[0] != NULL && kind->kind == NULL)
    return fail_kind (cli, words[0], error);
  if (cli->sets != NULL)
    return cli_fail (cli, error, "--set does not apply to list; leave it out");
  g_autoptr (BaseTable) table = base_table_new (kind->columns != NULL ? kind->columns : columns);
  if (words[0] == NULL) {
    list_kinds (table);
  } else if (kind->fill_all != NULL) {
    if (!cli_lookup (cli, error) || !kind->fill_all (cli, table, error))
      return FALSE;
  } else if (kind->folder == NULL)
    list_names (kind, table);
  else if (!cli_lookup (cli, error) || !list_files (cli, kind, table, error))
    return FALSE;
  write_list (cli, table, words[0] != NULL ? kind->summary : "kinds, of which forerun list KIND shows one");
  return TRUE;
}

const CliVerb cli_verb_list = {
  .name = "list",
  .summary = "list shipped files and accepted names: topologies, gpus, llms, algorithms …",
  .usage = "[KIND] [flags]",
  .example = "forerun list topologies",
  .completes = "",
  .notes = "Without KIND, the kinds are listed.\n"
           "For schedules, times assume even stages and free sends. p: ranks of a pipeline; v: model chunks on each rank; m: "
           "micro-batches. F, B and W: time of a rank for one micro-batch forward, for the gradient of the input, and for the "
           "gradient of the weights; FB: a forward pass concurrently with a backward pass. bubble: idle time of a rank in a step "
           "(zb_v: between its own start and end). in flight: activations on the rank that holds the most, in micro-batches.\n"
           "For llms, parameters and active parameters for each token are in billions; json and tsv give exact counts and "
           "sources.\n",
  .formats = CLI_FORMAT_CSV,
  .run = run,
};
