/* forerun list llms: the shipped models and what they count to. */
#include "list_llms-private.h"

#include "training/llm.h"

const BaseColumn cli_llm_columns[] = {
  { "name", "name", BASE_CELL_TEXT, 0, NULL, 0 },
  { "parameters", "parameters (B)", BASE_CELL_INTEGER, 1e-9, "%.3f", 0 },
  { "active", "active (B)", BASE_CELL_INTEGER, 1e-9, "%.3f", 0 },
  { "layers", "layers", BASE_CELL_INTEGER, 0, NULL, 0 },
  { "hidden", "hidden", BASE_CELL_INTEGER, 0, NULL, 0 },
  { "summary", "summary", BASE_CELL_TEXT, 0, NULL, 0 },
  { "source", NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static void
add_row (BaseTable *table, const char *name, const MdlLlm *llm)
{
  MdlLlmCount count;
  mdl_llm_count (llm, &count);
  base_table_row (table);
  base_table_text (table, "name", name);
  base_table_integer (table, "parameters", (gint64)count.total);
  base_table_integer (table, "active", (gint64)count.active);
  base_table_integer (table, "layers", (gint64)llm->layers.v);
  base_table_integer (table, "hidden", (gint64)llm->hidden.v);
  base_table_text (table, "summary", llm->description.v);
  base_table_text (table, "source", llm->source.v);
}

gboolean
cli_list_llms (Cli *cli, BaseTable *table, GError **error)
{
  g_auto (GStrv) names = base_lookup_list (cli->lookup, TRN_LLM_FOLDER);
  for (char **name = names; *name != NULL; name++) {
    g_autofree char *path = base_lookup_find (cli->lookup, *name, TRN_LLM_FOLDER, NULL, error);
    BaseYaml *yaml = path != NULL ? base_yaml_load_file (path, error) : NULL;
    if (yaml == NULL)
      return FALSE;
    g_ptr_array_add (cli->kept, yaml);
    g_autoptr (BaseDiag) diag = base_diag_new ();
    const BaseSchemaContext context = {
      .arena = base_yaml_arena (yaml), .diag = diag, .lookup = cli->lookup, .source = BASE_SOURCE_DATASHEET, .inputs = cli->kept
    };
    MdlLlm llm = { .head = { .set = FALSE } };
    if (!trn_llm_read_file (yaml, &context, &llm))
      return base_diag_finish (diag, error);
    add_row (table, *name, &llm);
  }
  return TRUE;
}
