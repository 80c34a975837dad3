/* docs/measurements.md: its reference is what the schema tables print, its examples are read. `test_calibrate_measured_docs
 * --write` renews the reference. */
#include "base/yaml.h"
#include "calibrate/measured.h"
#include "document.h"
#include "schema_document.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/measurements.md"

static const BaseSchema *const schemas[] = { &cal_schema_measurements, &cal_schema_margins, NULL };

static void
the_tables_are_sound (void)
{
  for (const BaseSchema *const *schema = schemas; *schema != NULL; schema++) {
    g_autofree char *fault = schema_check (*schema);
    TEST_TRUE (fault == NULL);
  }
}

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas, NULL);
}

/* The first is a systems.yaml, the second a margins.yaml. */
static void
examples_are_read (void)
{
  g_autofree char *text = document_read (DOCUMENT);
  const char *at = text;
  for (const BaseSchema *const *schema = schemas; *schema != NULL; schema++) {
    g_autofree char *example = document_next_example (&at);
    TEST_TRUE (example != NULL);
    if (example == NULL)
      return;
    g_autoptr (GError) error = NULL;
    g_autoptr (BaseYaml) yaml = base_yaml_load_data (DOCUMENT, example, strlen (example), &error);
    g_autoptr (BaseDiag) diag = base_diag_new ();
    CalData data = { 0 };
    gboolean is_systems = *schema == &cal_schema_measurements;
    TEST_TRUE (yaml != NULL);
    if (yaml == NULL)
      return;
    const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = diag, .source = BASE_SOURCE_MEASURED };
    void *out = is_systems ? (void *)&data.spec : (void *)&data.margins;
    TEST_TRUE (base_schema_read (*schema, base_yaml_root (yaml), FALSE, &context, out));
    TEST_INT (is_systems ? data.spec.files.n : data.margins.limits.n, 2);
  }
}

static const TestCase cases[] = {
  { "the tables are sound", the_tables_are_sound },
  { "reference is what the tables print", reference_is_what_the_tables_print },
  { "examples are read", examples_are_read },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return argc > 1 && strcmp (argv[1], "--write") == 0 ? document_write (DOCUMENT, schemas, NULL)
                                                      : test_main ("calibrate: docs/measurements.md", cases);
}
