/* The tables of sim/cluster that others add rows to: whole as they are, and refused with a sentence where a row lacks a part. */
#include "cluster_fixture.h"
#include "fabric/fabric-private.h"
#include "load/load-private.h"
#include "schema_document.h"
#include "spec/spec-private.h"

static void
tables_are_whole (void)
{
  g_autoptr (GError) error = NULL;
  TEST_TRUE (clu_self_check (&error));
  TEST_TRUE (error == NULL);
  const BaseSchema *const schemas[] = { &clu_schema_topology, &clu_schema_override, &clu_schema_domain,
                                        &clu_schema_drive,    &clu_schema_gpu,      &clu_schema_storage_type };
  for (gsize i = 0; i < G_N_ELEMENTS (schemas); i++) {
    g_autofree char *fault = schema_check (schemas[i]);
    TEST_STR (fault, NULL);
  }
}

static void
row_of_names_that_lacks_a_part_is_refused (void)
{
  static const BaseName no_help[] = { { "a", 0, "first" }, { "b", 1, "" }, { NULL, 0, NULL } };
  static const BaseName twice[] = { { "a", 0, "first" }, { "a", 1, "second" }, { NULL, 0, NULL } };
  static const BaseName one_code[] = { { "a", 0, "first" }, { "b", 0, "second" }, { NULL, 0, NULL } };
  g_autofree char *lacks = clu_names_fault (no_help, "letters"), *name = clu_names_fault (twice, "letters"),
                  *code = clu_names_fault (one_code, "letters");
  TEST_STR (lacks, "row 1 of the letters ('b') lacks its help");
  TEST_HAS (name, "'a' stands twice among the letters");
  TEST_HAS (code, "'b' stands twice among the letters, or has the code of 'a'");
}

static void
fabric_kind_that_lacks_a_part_is_refused (void)
{
  static const char *const unknown[] = { "rings", NULL };
  CluFabricOps no_route = *clu_fabric_kinds[CLU_FABRIC_TORUS], odd_key = no_route;
  no_route.route = NULL;
  odd_key.keys = unknown;
  g_autofree char *whole = clu_fabric_fault (clu_fabric_kinds[CLU_FABRIC_TORUS], "torus");
  g_autofree char *route = clu_fabric_fault (&no_route, "torus"), *none = clu_fabric_fault (NULL, "cube"),
                  *key = clu_fabric_fault (&odd_key, "torus");
  TEST_STR (whole, NULL);
  TEST_STR (route, "fabric kind 'torus' lacks its 'route': clu_fabric_torus in sim/cluster/fabric must have one");
  TEST_HAS (none, "fabric kind 'cube' lacks its 'CluFabricOps'");
  TEST_HAS (key, "has the key 'rings', which `fabric` does not check by kind");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the tables are whole", tables_are_whole },
    { "a row of names that lacks a part is refused", row_of_names_that_lacks_a_part_is_refused },
    { "a fabric kind that lacks a part is refused", fabric_kind_that_lacks_a_part_is_refused },
    { NULL, NULL },
  };
  return test_main ("cluster tables", cases);
}
