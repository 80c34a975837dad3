/* docs/llms.md and docs/layers.md: the reference is what the schema tables print, its example loads, its table has every model
 * type. `test_training_llm_docs --write` renews the reference. */
#include "document.h"
#include "llm_fixture.h"
#include "schema_document.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/llms.md"

#define NETWORKS TEST_SOURCE_DIR "/docs/layers.md"

static const BaseSchema *const schemas[] = { &trn_schema_llm, NULL }, *const net_schemas[] = { &trn_schema_net, NULL };

static void
the_tables_are_sound (void)
{
  g_autofree char *wrong = schema_check (&trn_schema_llm), *wrong_net = schema_check (&trn_schema_net);
  TEST_STR (wrong, NULL);
  TEST_STR (wrong_net, NULL);
}

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas, NULL);
  document_check_reference (NETWORKS, net_schemas, NULL);
}

static void
example_has_parameters (const char *name, const char *example, double parameters)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_data (name, example, strlen (example), &error);
  g_assert_no_error (error);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = diag, .source = BASE_SOURCE_DATASHEET };
  MdlLlm llm = { .head = { .set = FALSE } };
  TEST_TRUE (trn_llm_read_file (yaml, &context, &llm));
  MdlLlmCount count;
  mdl_llm_count (&llm, &count);
  TEST_NEAR (count.total, parameters, 0);
}

static void
the_example_is_a_model (void)
{
  g_autofree char *text = document_read (DOCUMENT);
  const char *at = text;
  g_autofree char *example = document_next_example (&at), *more = document_next_example (&at);
  TEST_STR (more, NULL);
  example_has_parameters ("my_8b.yaml", example, 8030261248 - 2.0 * (128256 - 32000) * 4096);
}

static void
the_example_is_a_network (void)
{
  g_autofree char *text = document_read (NETWORKS);
  const char *at = text;
  g_autofree char *example = document_next_example (&at);
  example_has_parameters ("small_cnn.yaml", example, 16 * 28 + 4 * (16 * 16 * 9 + 32) + 170);
}

static void
the_table_has_every_model_type (void)
{
  g_autofree char *text = document_read (DOCUMENT), *all = trn_llm_hf_types ();
  g_auto (GStrv) types = g_strsplit (all, ", ", -1);
  for (char **type = types; *type != NULL; type++) {
    g_autofree char *cell = g_strdup_printf ("`%s`", *type);
    TEST_HAS (text, cell);
  }
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "the tables are sound", the_tables_are_sound },
    { "the reference is what the tables print", reference_is_what_the_tables_print },
    { "the example is a model", the_example_is_a_model },
    { "the example is a network", the_example_is_a_network },
    { "the table has every model type", the_table_has_every_model_type },
    { NULL, NULL },
  };
  if (argc == 2 && strcmp (argv[1], "--write") == 0)
    return document_write (DOCUMENT, schemas, NULL) + document_write (NETWORKS, net_schemas, NULL);
  return test_main ("model docs", cases);
}
