/* forerun list engines: engines that serve language models, by the version from which their defaults hold. */
#include "base/yaml.h"
#include "list_llms-private.h"

#define FOLDER "calibrate/defaults"

#define TEXT(key, head, rank)                \
  {                                          \
    key, head, BASE_CELL_TEXT, 0, NULL, rank \
  }
const BaseColumn cli_engine_columns[] = {
  TEXT ("name", "name", 0),
  TEXT ("version", "from version", 0),
  TEXT ("max_num_seqs", "sequences", 0),
  TEXT ("max_num_batched_tokens", "tokens of a step", 0),
  TEXT ("block", "block", 0),
  TEXT ("memory", "memory", 0),
  TEXT ("cuda_graphs", "graphs to", 0),
  TEXT ("prefix_cache", "prefix cache", 0),
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static const char *
text_of (const BaseYamlNode *row, const char *key)
{
  const BaseYamlNode *node = base_yaml_get (row, key);
  if (node != NULL && base_yaml_kind (node) == BASE_YAML_MAP)
    node = base_yaml_get (node, "value");
  return node != NULL ? base_yaml_text (node) : NULL;
}

gboolean
cli_list_engines (Cli *cli, BaseTable *table, GError **error)
{
  g_autofree char *path = base_lookup_find (cli->lookup, "engines", FOLDER, NULL, error);
  g_autoptr (BaseYaml) yaml = path != NULL ? base_yaml_load_file (path, error) : NULL;
  if (yaml == NULL)
    return FALSE;
  const BaseYamlNode *engines = base_yaml_get (base_yaml_root (yaml), "engines"),
                     *rows = engines != NULL ? base_yaml_get (engines, "rows") : NULL;
  for (unsigned i = 0; rows != NULL && i < base_yaml_n (rows); i++) {
    const BaseYamlNode *row = base_yaml_item (rows, i);
    base_table_row (table);
    for (const BaseColumn *column = cli_engine_columns; column->key != NULL; column++)
      base_table_text (table, column->key, text_of (row, column->key));
  }
  return TRUE;
}
