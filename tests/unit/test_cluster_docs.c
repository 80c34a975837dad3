/* docs/topology.md: its reference is what the schema tables print, its examples load. `test_cluster_docs --write` renews the
 * reference. */
#include "cluster_fixture.h"
#include "document.h"
#include "schema_document.h"
#include "spec/spec-private.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/topology.md"
#define MARK     "<!-- From here on printed from the schema tables: test_cluster_docs --write. -->\n"

/* A schema's sections, without those that are there already. */
static void
add_sections (GString *out, GHashTable *seen, const BaseSchema *schema)
{
  g_autofree char *text = schema_document (schema);
  g_auto (GStrv) sections = g_strsplit (text, "## ", -1);
  for (char **section = sections + 1; *section != NULL; section++) {
    /* A deeper heading ends in the '#' that the split left behind. */
    g_autofree char *heading = g_strndup (*section, strcspn (*section, "\n"));
    if (g_hash_table_add (seen, g_steal_pointer (&heading)))
      g_string_append_printf (out, "### %s", *section);
  }
  while (out->len > 0 && out->str[out->len - 1] == '\n')
    g_string_truncate (out, out->len - 1);
  g_string_append (out, "\n\n");
}

static char *
reference (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  static const BaseSchema *const schemas[] = { &clu_schema_topology, &clu_schema_override, &clu_schema_domain, NULL };
  g_autofree char *legend = document_legend (schemas);
  GString *out = g_string_new (MARK "\n## Keys\n\n");
  g_string_append_printf (out, "%s\n", legend);
  add_sections (out, seen, &clu_schema_topology);
  add_sections (out, seen, &clu_schema_override);
  add_sections (out, seen, &clu_schema_domain);
  g_string_truncate (out, out->len - 1);
  return g_string_free (out, FALSE);
}

/* The document as it stands; the test ends when it cannot be read. */
static char *
document (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  if (!g_file_get_contents (DOCUMENT, &text, NULL, &error))
    g_error ("%s", error->message);
  return g_strdup (text); /* gcc 12 takes what strstr finds in the text itself for a pointer to the variable */
}

static void
reference_is_what_the_tables_print (void)
{
  g_autofree char *text = document ();
  g_autofree char *printed = reference ();
  TEST_STR (strstr (text, MARK), printed); /* else: test_cluster_docs --write */
}

static void
examples_load (void)
{
  g_autofree char *text = document ();
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

static int
write_reference (void)
{
  g_autofree char *text = document ();
  g_autofree char *printed = reference ();
  char *mark = strstr (text, MARK);
  if (mark != NULL)
    *mark = '\0';
  g_autofree char *all = g_strconcat (text, printed, NULL);
  g_autoptr (GError) error = NULL;
  if (g_file_set_contents (DOCUMENT, all, -1, &error))
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
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
    return write_reference ();
  return test_main ("cluster docs", cases);
}
