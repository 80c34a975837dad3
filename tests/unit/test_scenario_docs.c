/* docs/scenario.md: its reference is what the schema tables print, its examples run. `test_scenario_docs --write` renews the
 * reference. */
#include "document.h"
#include "flows-private.h"
#include "jobs-private.h"
#include "library_fixture.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/scenario.md"

static const BaseSchema *const schemas[] = {
  &scn_schema_scenario,   &scn_schema_collective, &scn_schema_moe,          &sto_schema_transfer,
  &sto_schema_io,         &scn_schema_program,    &scn_schema_chakra,       &trn_schema_training,     &scn_schema_flows,
  &scn_schema_flow_sizes, &col_schema_nccl,       &scn_schema_degrade,      &scn_schema_job,
  &scn_schema_background, &scn_schema_report,     NULL
};

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas, NULL);
}

/* In either fidelity. */
static void
run_example (const char *example)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
    Cst *cal = NULL;
    ScnOptions options = { .has_mode = TRUE, .mode = mode };
    g_autoptr (GError) error = NULL;
    Scn *scenario = scn_load (DOCUMENT, example, lookup, &options, model_library, &cal, &error);
    ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
    if (result == NULL)
      fprintf (stderr, "%s\n%s\n", error->message, example);
    TEST_TRUE (result != NULL);
    if (result != NULL && strcmp (scn_name (scenario), "plain_ring") == 0)
      TEST_NEAR (result->coll.time_s, 72e-6, 1e-9); /* as its comment says */
    scn_result_free (result);
    scn_free (scenario);
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
  TEST_INT (n, 11);
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
    return document_write (DOCUMENT, schemas, NULL);
  return test_main ("scenario docs", cases);
}
