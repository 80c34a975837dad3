/* docs/serving.md: its reference is what the schema tables print, its example runs. `test_serving_docs --write` renews the
 * reference. */
#include "document.h"
#include "library_fixture.h"
#include "scenario/serving.h"
#include "scenario/serving_step.h"
#include "schema_document.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/serving.md"

static const BaseSchema *const schemas[] = { &scn_schema_serving, &scn_schema_serving_step, NULL };

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas, NULL);
}

static void
the_example_runs (void)
{
  g_autofree char *text = document_read (DOCUMENT);
  const char *at = text;
  g_autofree char *example = document_next_example (&at);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Cst *cal = NULL;
  Scn *scenario = scn_load (DOCUMENT, example, lookup, &(ScnOptions){ 0 }, model_library, &cal, &error);
  g_assert_no_error (error);
  ScnResult *result = scn_run (scenario, FALSE, &error);
  g_assert_no_error (error);
  const ScnServingResult *serving = result->own;
  TEST_INT ((int)serving->requests, 320);
  TEST_TRUE (serving->good > 0.5);
  scn_result_free (result);
  scn_free (scenario);
  cst_free (cal);
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "the reference is what the tables print", reference_is_what_the_tables_print },
    { "the example runs", the_example_runs },
    { NULL, NULL },
  };
  if (argc == 2 && strcmp (argv[1], "--write") == 0)
    return document_write (DOCUMENT, schemas, NULL);
  return test_main ("serving docs", cases);
}
