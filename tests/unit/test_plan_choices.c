/* What a plan may choose of a cluster, and pipelines whose layers do not divide. */
#include <math.h>
#include <string.h>

#include "plan-private.h"
#include "plan_fixture.h"

#define ROW(result, i) (&g_array_index ((result)->rows, PlnChoiceRow, i))

static const PlnMachine *
machine (const Loaded *loaded, guint i)
{
  return &g_array_index (loaded->plan->machines, PlnMachine, i);
}

static void
nics_and_fabrics_are_chosen (void)
{
  static const char *const sets[] = {
    "choices={topology: [hgx_h100], nodes: [2], nics.count: [4, 8], fabric.kind: [rail_optimised, fat_tree]}",
    "goal.capex=", "goal.run_cost=", NULL
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  TEST_INT (small.plan->machines->len, 4);
  for (guint i = 0; i < 4; i++) {
    const Clu *clu = machine (&small, i)->scenario->system.clu;
    TEST_NEAR (clu_node_spec (clu, 0)->nics.count.v, i < 2 ? 4 : 8, 0);
    TEST_STR (machine (&small, i)->kind, i % 2 == 0 ? "rail_optimised" : "fat_tree");
  }
}

static void
part_of_an_nvlink_domain_is_paid_whole (void)
{
  /* 32 trays, 16 of each rack of 18: two racks, 36 trays at $42 an hour */
  static const char *const sets[] = { "choices={topology: [gb200_nvl72], nodes: [32], nvlink_domain.nodes: [16, 18]}",
                                      "objective=time",
                                      "goal.capex=",
                                      "goal.run_cost=",
                                      "constraints=",
                                      "prices=" TEST_SOURCE_DIR "/scenarios/prices/us_2026.yaml",
                                      NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  TEST_INT (machine (&small, 0)->gpus, 128);
  TEST_INT (machine (&small, 0)->nodes, 32);
  TEST_INT (machine (&small, 0)->used_per_rack, 16);
  TEST_INT (machine (&small, 0)->nodes_per_rack, 18);
  TEST_NEAR (machine (&small, 0)->rent_usd_per_s * 3600 / (36 * 42.0), machine (&small, 1)->rent_usd_per_s * 3600 / (32 * 42.0),
             1e-9);
  TEST_TRUE (machine (&small, 0)->fabric_W > machine (&small, 1)->fabric_W);
}

static void
what_no_machine_has_is_refused (void)
{
  static const struct {
    const char *set, *said;
  } bad[] = {
    { "choices={topology: [hgx_h100], nodes: [2], nics.count: [two]}", "nics.count" },
    { "choices={topology: [hgx_h100], nodes: [2], nics.count: []}", "the list is empty" },
    { "choices={topology: [hgx_h100], nodes: [2], fabric.kind: [mesh]}", "fabric.kind" },
    { "choices={topology: [gb200_nvl72], nodes: [32], nvlink_domain.nodes: [20]}",
      "an NVLink domain of gb200_nvl72 has 18 nodes, so 20 of it cannot be used; write that number or less" },
    { "choices={topology: [hgx_h100], nodes: [32], nvlink_domain.nodes: [16]}", "an NVLink domain of hgx_h100 has 1 node" },
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    const char *const sets[] = { bad[i].set, NULL };
    g_autoptr (GError) error = NULL;
    g_auto (Loaded) loaded = try_small (lookup, sets, &error);
    TEST_TRUE (loaded.plan == NULL && error != NULL);
    TEST_TRUE (error != NULL && strstr (error->message, bad[i].said) != NULL);
    TEST_TRUE (error != NULL && g_str_has_prefix (error->message, "--set choices"));
  }
}

static void
stages_differ_by_a_layer (void)
{
  /* 32 layers on 3 stages: 11, 11 and 10; without `uneven` nothing divides */
  static const char *const even[] = { "choices.nodes=[3]",     "free={tp: [1, 2], pp: [3], micro_batch: [1], recompute: [none]}",
                                      "fixed.global_batch=96", "constraints=",
                                      "goal.capex=",           "goal.run_cost=",
                                      "objective=time",        NULL };
  static const char *const uneven[] = { "choices.nodes=[3]",
                                        "free={tp: [1, 2], pp: [3], micro_batch: [1], recompute: [none]}",
                                        "fixed.global_batch=96",
                                        "constraints=",
                                        "goal.capex=",
                                        "goal.run_cost=",
                                        "objective=time",
                                        "fixed.pipeline={uneven: true}",
                                        NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) none = load_small (lookup, even);
  g_auto (Loaded) some = load_small (lookup, uneven);
  PlnResult *nothing = search (none.plan, 1, 0), *found = search (some.plan, 1, 2);
  TEST_INT (nothing->rows->len, 0);
  TEST_TRUE (nothing->out[PLN_REJECTED_LAYERS] > 0);
  TEST_TRUE (found->rows->len > 0 && ROW (found, 0)->simulated);
  for (guint i = 0; i < found->rows->len && ROW (found, i)->simulated; i++)
    TEST_NEAR (ROW (found, i)->formula_s / ROW (found, i)->run_s, 1, 0.034);
  pln_result_free (nothing);
  pln_result_free (found);
}

static void
the_fewest_gpus_come_first (void)
{
  static const char *const sets[] = { "objective=gpus", "goal.capex=", "goal.run_cost=", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult *result = search (small.plan, 1, 1);
  TEST_INT (machine (&small, ROW (result, 0)->machine)->gpus, 8);
  for (guint i = 2; i < result->rows->len; i++) { /* of as many the fastest, as estimated */
    const PlnChoiceRow *a = ROW (result, i - 1), *b = ROW (result, i);
    guint32 x = machine (&small, a->machine)->gpus, y = machine (&small, b->machine)->gpus;
    TEST_TRUE (x < y || (x == y && a->run_s <= b->run_s));
  }
  TEST_INT (result->rivals->len, 1);
  TEST_NEAR (g_array_index (result->rivals, PlnAlternative, 0).more, 1, 1e-12);
  pln_result_free (result);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "NICs and fabrics are chosen", nics_and_fabrics_are_chosen },
    { "part of an NVLink domain is paid whole", part_of_an_nvlink_domain_is_paid_whole },
    { "what no machine has is refused", what_no_machine_has_is_refused },
    { "stages differ by a layer", stages_differ_by_a_layer },
    { "the fewest GPUs come first", the_fewest_gpus_come_first },
    { NULL, NULL },
  };
  return test_main ("a plan's choices", cases);
}
