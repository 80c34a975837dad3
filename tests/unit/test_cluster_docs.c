/* docs/topology.md: its reference is what the schema tables print, its examples load. `test_cluster_docs --write` renews the
 * reference. */
#include "cluster_fixture.h"
#include "document.h"
#include "spec/spec-private.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/topology.md"

static const BaseSchema *const schemas[] = { &clu_schema_topology, &clu_schema_override, &clu_schema_domain, NULL };

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas, NULL);
}

static void
examples_load (void)
{
  g_autofree char *text = document_read (DOCUMENT);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  unsigned n = 0;
  for (const char *at = text; (at = strstr (at, "```yaml\n")) != NULL;) {
    at += strlen ("```yaml\n");
    const char *end = strstr (at, "```");
    g_autofree char *example = g_strndup (at, (gsize)(end - at));
    g_autoptr (GError) error = NULL;
    BaseYaml *yaml = base_yaml_load_data ("docs/topology.md", example, strlen (example), &error);
    g_autoptr (Clu) clu = yaml != NULL ? clu_load_yaml (yaml, lookup, NULL, NULL, NULL, &error) : NULL;
    if (clu == NULL)
      fprintf (stderr, "%s\n", error->message);
    TEST_TRUE (clu != NULL);
    n++;
  }
  TEST_INT (n, 4);
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "the reference is what the tables print", reference_is_what_the_tables_print },
    { "the examples load", examples_load },
    { NULL, NULL },
  };
  if (argc == 2 && strcmp (argv[1], "--write") == 0)
    return document_write (DOCUMENT, schemas, NULL);
  return test_main ("cluster docs", cases);
}
