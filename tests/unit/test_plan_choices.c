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

/* 30 nodes of hgx_h100 with Lustre servers that read 20 GB/s: 30 x 1.25 / 20 = 1.9, two servers by default. Each costs
 * $120,000, and 3 % of delivery. */
static void
storage_servers_are_chosen (void)
{
  static const char *const sets[] = { "choices={topology: [hgx_h100], nodes: [30], storage.servers: [1, 2, 12]}",
                                      "checkpoint={tier: scratch, mode: sync}",
                                      "failures={rates: llama3_2024}",
                                      "goal.capex=",
                                      "goal.run_cost=",
                                      "constraints=",
                                      "fixed.global_batch=240",
                                      "prices=" TEST_SOURCE_DIR "/scenarios/prices/us_2026.yaml",
                                      NULL };
  static const double servers[] = { 1, 2, 12 };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  TEST_INT (small.plan->machines->len, 3);
  for (guint i = 0; i < 3; i++) {
    TEST_NEAR (machine (&small, i)->storage_servers, servers[i], 0);
    TEST_NEAR (machine (&small, i)->buy_usd[PLN_BUY_STORAGE], 120000 * servers[i], 1e-6);
    /* checkpoints are written to them */
    const CluSpec *spec = clu_spec (machine (&small, i)->scenario->system.clu);
    TEST_NEAR (BASE_LIST_AT (spec->storage, CluStorageSpec, 0)->servers.v, servers[i], 0);
    /* switches are counted once, though the scenario is made again */
    TEST_NEAR (machine (&small, i)->buy_usd[PLN_BUY_SWITCHES], machine (&small, 0)->buy_usd[PLN_BUY_SWITCHES], 1e-6);
  }
  TEST_NEAR (machine (&small, 1)->capital_usd - machine (&small, 0)->capital_usd, 120000 * 1.03, 1e-3);
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
  /* of 18 trays each: 32 are a rack and 14 of the next one, which is paid whole too */
  TEST_INT (machine (&small, 1)->used_per_rack, 18);
  TEST_NEAR ((machine (&small, 0)->rent_usd_per_s - machine (&small, 0)->storage_rent_usd_per_s) * 3600, 36 * 42.0, 1e-9);
  TEST_NEAR ((machine (&small, 1)->rent_usd_per_s - machine (&small, 1)->storage_rent_usd_per_s) * 3600, 36 * 42.0, 1e-9);
}

static void
racks_of_an_nvlink_domain_are_counted (void)
{
  /* two racks of 18 trays, of which 16 are used, and what switches and storage fill beside them */
  static const char *const sets[] = { "choices={topology: [gb200_nvl72], nodes: [32], nvlink_domain.nodes: [16]}",
                                      "objective=cost",
                                      "goal.capex=",
                                      "goal.run_cost=",
                                      "constraints=",
                                      "prices={like: us_2026, nodes: [{topology: gb200_nvl72, node: $160000}]}",
                                      NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  const PlnMachine *m = machine (&small, 0);
  TEST_NEAR (m->buy_usd[PLN_BUY_NODES], 36 * 160000.0, 1e-9);
  TEST_NEAR (m->racks, 2 + ceil ((m->fabric_W + m->storage_W) / 41e3), 1e-9);
}

static void
a_purchase_without_its_network_is_said (void)
{
  static const char *const sets[] = {
    "choices={topology: [gaudi3, hgx_h100], nodes: [1, 4]}", "objective=cost", "goal.capex=", "goal.run_cost=", "constraints=", NULL
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  TEST_TRUE (!machine (&small, 0)->without_network && machine (&small, 1)->without_network);
  TEST_TRUE (!machine (&small, 3)->without_network);
  gboolean said = FALSE;
  for (unsigned i = 0; i < base_diag_n_warnings (pln_warnings (small.plan)); i++)
    said =
        said || strstr (base_diag_warning (pln_warnings (small.plan), i), "no price of the network of gaudi3, so its cash") != NULL;
  TEST_TRUE (said);
}

/* gaudi3's nodes are cheaper than hgx_h100's, and no price of its network is known: it has no sum that could be compared. */
static void
an_option_without_a_price_of_its_network_ranks_behind (void)
{
  const char *sets[] = { "choices={topology: [gaudi3, hgx_h100], nodes: [2]}",
                         "objective=cost",
                         "goal.capex=",
                         "goal.run_cost=",
                         "goal.deadline=",
                         "constraints=",
                         "prices=" TEST_SOURCE_DIR "/scenarios/prices/us_2026.yaml",
                         NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  const PlnQuery query = { .threads = 1, .best = 2, .per_machine = TRUE };
  PlnResult *result = pln_search (small.plan, &query, NULL);
  const guint n = result->rows->len;
  guint behind = 0;
  TEST_STR (pln_unpriced_part (small.plan, 0, PLN_ACQUISITION_BUY), "network");
  TEST_TRUE (pln_unpriced_part (small.plan, 1, PLN_ACQUISITION_BUY) == NULL);
  g_autofree char *remedy = pln_price_remedy (small.plan, 0, PLN_ACQUISITION_BUY);
  TEST_HAS (remedy, "{type: tomahawk5, price: …} in `fabric.switches`");
  for (guint i = 0; i < n; i++)
    if (g_array_index (result->rows, PlnChoiceRow, i).machine == 0)
      behind = i > 0 && behind == 0 ? i : behind;
  TEST_TRUE (behind > 0 && g_array_index (result->rows, PlnChoiceRow, 0).machine == 1);
  for (guint i = behind; i < n; i++)
    TEST_INT (g_array_index (result->rows, PlnChoiceRow, i).machine, 0);
  TEST_TRUE (g_array_index (result->rows, PlnChoiceRow, behind).money.total_usd <
             g_array_index (result->rows, PlnChoiceRow, 0).money.total_usd);
  TEST_TRUE (!g_array_index (result->rows, PlnChoiceRow, behind).alike &&
             !g_array_index (result->rows, PlnChoiceRow, behind).front);
  TEST_INT (result->rivals->len, 0);
  g_autoptr (GArray) flips = pln_flips (small.plan, result);
  g_autoptr (GArray) contenders = pln_contenders (small.plan, 1, 3, NULL, NULL);
  TEST_INT (flips->len, 0);
  for (guint i = 0; i < contenders->len; i++)
    TEST_INT (g_array_index (contenders, PlnChoiceRow, i).machine, 1);
  pln_result_free (result);
  /* a limit on money that its known part keeps to is not known to hold; one that it breaks is broken */
  for (int large = 0; large < 2; large++) {
    sets[2] = large == 1 ? "goal.capex=$4 M" : "goal.capex=$100000";
    g_auto (Loaded) limited = load_small (lookup, sets);
    PlnResult *met = pln_search (limited.plan, &(PlnQuery){ .threads = 1 }, NULL);
    for (guint i = 0; i < met->rows->len; i++)
      TEST_INT (g_array_index (met->rows, PlnChoiceRow, i).machine, 1);
    TEST_TRUE ((met->out[PLN_REJECTED_PRICE] > 0) == (large == 1) && (met->out[PLN_REJECTED_CAPEX] > 0) == (large == 0));
    pln_result_free (met);
  }
}

/* mi300x names no storage: rented, it has the rent of the dearest tier, so that it is not cheaper for want of a price. */
static void
a_rent_without_storage_has_the_dearest (void)
{
  static const char *const sets[] = { "choices={topology: [mi300x], nodes: [2]}",
                                      "acquisition=rent",
                                      "goal.run_cost=",
                                      "constraints=",
                                      "prices={like: " TEST_SOURCE_DIR "/scenarios/prices/us_2026.yaml, nodes: [{topology: "
                                      "hgx_h1000, rent: $5/h}]}",
                                      NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  const PlnMachine *m = machine (&small, 0);
  gboolean said = FALSE;
  TEST_STR (m->storage_like, "efs");
  TEST_NEAR (m->storage_rent_usd_per_s, 300.0 / (30 * 86400) * m->storage_B * 1e-12, 1e-9);
  TEST_TRUE (pln_unpriced_part (small.plan, 0, PLN_ACQUISITION_RENT) == NULL);
  /* and a row of prices for no choice is named */
  for (unsigned i = 0; i < base_diag_n_warnings (pln_warnings (small.plan)); i++)
    said = said || strstr (base_diag_warning (pln_warnings (small.plan), i), "'hgx_h1000' is of no topology") != NULL;
  TEST_TRUE (said);
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
    { "choices={topology: [hgx_h100], nodes: [2], storage.servers: [2]}",
      "storage servers change nothing here, as checkpoints have given times and no data are loaded; write the tier" },
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

/* What keeps a machine out, of a plan with these changes. */
static PlnNearest
nearest_of (const char *const *sets, guint which)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult *result = search (small.plan, 1, 0);
  for (guint i = 0; i < result->misses->len; i++) {
    const PlnNearest one = g_array_index (result->misses, PlnNearest, i);
    if (one.machine == which) {
      pln_result_free (result);
      return one;
    }
  }
  pln_result_free (result);
  return (PlnNearest){ .machine = G_MAXUINT, .why = PLN_REJECTED_N };
}

/* The least change that is named admits the option, and a hundredth less does not. */
static void
the_smallest_change_admits_an_option (void)
{
  static const struct {
    const char *set, *out; /* keeps it out */
    PlnRejection why;
    guint machine;
    const char *change; /* with what is needed */
  } limits[] = {
    { "goal.deadline=4 days", NULL, PLN_REJECTED_DEADLINE, 0, "goal.deadline=%.6f s" },
    { "constraints={power: 15 kW}", NULL, PLN_REJECTED_POWER, 1, "constraints={power: %.6f W}" },
    { "constraints={gpus: 8}", NULL, PLN_REJECTED_GPU_LIMIT, 1, "constraints={gpus: %.0f}" },
    { "goal.capex=$400000", NULL, PLN_REJECTED_CAPEX, 1, "goal.capex=$%.6f" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    const char *const sets[] = { limits[i].set, NULL };
    const PlnNearest near = nearest_of (sets, limits[i].machine);
    TEST_TRUE (near.has_row && near.machine == limits[i].machine);
    for (int o = 0; o < PLN_REJECTED_N; o++)
      TEST_TRUE ((near.need[o] > 0) == (o == (int)limits[i].why));
    for (int less = 0; less < 2; less++) {
      const char *gap = strchr (limits[i].change, '%');
      g_autofree char *begin = g_strndup (limits[i].change, (gsize)(gap - limits[i].change));
      gboolean whole = gap[2] == '0';
      double need = near.need[limits[i].why] * (less == 1 ? 0.99 : 1 + 1e-9);
      g_autofree char *change =
          whole ? g_strdup_printf ("%s%.0f%s", begin, floor (need), gap + 4) : g_strdup_printf ("%s%.6f%s", begin, need, gap + 4);
      const char *const changed[] = { change, NULL };
      TEST_TRUE ((nearest_of (changed, limits[i].machine).machine == limits[i].machine) == (less == 1));
    }
  }
}

/* Of the fullest GPU 5 % are left by default, as much as the goal says, or nothing. Other rows are the same. */
static void
layouts_leave_memory_free (void)
{
  static const struct {
    const char *set;
    double least;
  } goals[] = { { "goal.memory=0 %", 0 }, { NULL, 0.05 }, { "goal.memory={headroom: 40 %}", 0.4 } };
  guint64 n_met[3], n_tight[3];
  for (guint i = 0; i < G_N_ELEMENTS (goals); i++) {
    const char *const sets[] = { "choices={topology: [hgx_h100], nodes: [2]}", "goal.capex=", "goal.run_cost=", goals[i].set,
                                 NULL };
    g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
    g_auto (Loaded) small = load_small (lookup, sets);
    PlnResult *result = search (small.plan, 1, 0);
    double least = 1;
    for (guint k = 0; k < result->rows->len; k++)
      least = fmin (least, pln_memory_left (&ROW (result, k)->step));
    TEST_TRUE (least >= goals[i].least - 1e-12);
    TEST_NEAR (pln_headroom (small.plan)->v, goals[i].least, 1e-12);
    n_met[i] = result->n_met;
    n_tight[i] = result->out[PLN_REJECTED_HEADROOM];
    pln_result_free (result);
  }
  TEST_INT (n_tight[0], 0);
  TEST_TRUE (n_tight[1] > 0 && n_met[0] > n_met[1] && n_met[1] > n_met[2]);
  TEST_INT (n_met[0], n_met[1] + n_tight[1]);
  TEST_INT (n_met[0], n_met[2] + n_tight[2]);
}

/* The headroom that is named admits the option, and one that is greater does not. */
static void
the_headroom_that_admits_an_option_is_named (void)
{
  static const char *const most[] = { "goal.memory=90 %", NULL };
  const PlnNearest near = nearest_of (most, 0);
  TEST_TRUE (near.has_row && near.machine == 0);
  const double left = 1 - near.need[PLN_REJECTED_HEADROOM];
  TEST_NEAR (near.limit[PLN_REJECTED_HEADROOM], 0.1, 1e-12);
  TEST_TRUE (left > 0 && left < 0.9);
  g_autofree char *less = g_strdup_printf ("goal.memory=%.9f", left - 1e-6);
  g_autofree char *more = g_strdup_printf ("goal.memory=%.9f", left + 1e-6);
  const char *const admits[] = { less, NULL }, *const rejects[] = { more, NULL };
  TEST_TRUE (nearest_of (admits, 0).machine == G_MAXUINT);
  TEST_TRUE (nearest_of (rejects, 0).machine == 0);
}

/* 3 nodes are 24 GPUs, with tp 8 three replicas: 129 is a multiple next to 128. */
static void
the_nearest_global_batch_is_named (void)
{
  static const char *const none[] = { "choices.nodes=[3]", NULL };
  const PlnNearest near = nearest_of (none, 0);
  TEST_TRUE (near.has_row);
  TEST_INT (near.batch, 129);
  static const char *const other[] = { "choices.nodes=[3]", "fixed.global_batch=129", NULL };
  TEST_TRUE (nearest_of (other, 0).machine == G_MAXUINT);
  static const char *const layers[] = { "choices.nodes=[1]", "free.pp=[3]", NULL };
  TEST_TRUE (!nearest_of (layers, 0).has_row && nearest_of (layers, 0).why == PLN_REJECTED_GPUS);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "NICs and fabrics are chosen", nics_and_fabrics_are_chosen },
    { "storage servers are chosen, paid for and written to", storage_servers_are_chosen },
    { "part of an NVLink domain is paid whole", part_of_an_nvlink_domain_is_paid_whole },
    { "racks of an NVLink domain are counted", racks_of_an_nvlink_domain_are_counted },
    { "a purchase without its network is said", a_purchase_without_its_network_is_said },
    { "an option without a price of its network ranks behind", an_option_without_a_price_of_its_network_ranks_behind },
    { "a rent without storage has the dearest", a_rent_without_storage_has_the_dearest },
    { "layouts leave memory free", layouts_leave_memory_free },
    { "the headroom that admits an option is named", the_headroom_that_admits_an_option_is_named },
    { "what no machine has is refused", what_no_machine_has_is_refused },
    { "stages differ by a layer", stages_differ_by_a_layer },
    { "the fewest GPUs come first", the_fewest_gpus_come_first },
    { "the smallest change admits an option", the_smallest_change_admits_an_option },
    { "the nearest global batch is named", the_nearest_global_batch_is_named },
    { NULL, NULL },
  };
  return test_main ("a plan's choices", cases);
}
