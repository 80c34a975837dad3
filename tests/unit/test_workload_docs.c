/* docs/scenario.md: its reference is what the schema tables print, its examples run. `test_workload_docs --write` renews the
 * reference. */
#include "document.h"
#include "jobs-private.h"
#include "library_fixture.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/scenario.md"

static const BaseSchema *const schemas[] = { &wrk_schema_scenario,
                                             &wrk_schema_collective,
                                             &wrk_schema_transfer,
                                             &wrk_schema_io,
                                             &wrk_schema_training,
                                             &wrk_schema_nccl,
                                             &wrk_schema_degrade,
                                             &wrk_schema_job,
                                             &wrk_schema_background,
                                             &wrk_schema_report,
                                             NULL };

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas);
}

/* In either fidelity. */
static void
run_example (const char *example)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (WrkMode mode = WRK_MODE_EVENT; mode <= WRK_MODE_MODEL; mode++) {
    Cst *cal = NULL;
    WrkScenarioOptions options = { .has_mode = TRUE, .mode = mode };
    g_autoptr (GError) error = NULL;
    WrkScenario *scenario =
        wrk_scenario_load_data (DOCUMENT, example, strlen (example), lookup, &options, model_library, &cal, &error);
    WrkResult *result = scenario != NULL ? wrk_scenario_run (scenario, FALSE, &error) : NULL;
    if (result == NULL)
      fprintf (stderr, "%s\n%s\n", error->message, example);
    TEST_TRUE (result != NULL);
    if (result != NULL && strcmp (wrk_scenario_name (scenario), "plain_ring") == 0)
      TEST_NEAR (result->coll.time_s, 72e-6, 1e-9); /* as its comment says */
    wrk_result_free (result);
    wrk_scenario_free (scenario);
    cst_free (cal);
  }
}

static void
examples_run (void)
{
  g_autofree char *text = document_read (DOCUMENT);
  const char *at = text;
  unsigned n = 0;
  for (char *example; (example = document_next_example (&at)) != NULL; n++) {
    run_example (example);
    g_free (example);
  }
  TEST_INT (n, 10);
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "the reference is what the tables print", reference_is_what_the_tables_print },
    { "the examples run", examples_run },
    { NULL, NULL },
  };
  if (argc == 2 && strcmp (argv[1], "--write") == 0)
    return document_write (DOCUMENT, schemas);
  return test_main ("scenario docs", cases);
}
