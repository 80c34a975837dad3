/* Plans: counts, ways to pay, threads, and what the engine says of what the closed form ranks. docs/plan.md: its reference is what
 * the schema tables print, its example runs. `test_plan_search --write` renews the reference. */
#include <math.h>
#include <stdio.h>

#include "document.h"
#include "plan-private.h"
#include "plan_fixture.h"
#include "schema_document.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/plan.md"

static const BaseSchema *const schemas[] = { &pln_schema_plan, &pln_schema_prices, &pln_schema_comparisons, NULL };
static const BaseSchema *const of_training[] = { &trn_schema_training, NULL };
static const DocumentOther scenario_page = { "scenario.md", of_training };

static void
every_configuration_is_counted_once (void)
{
  /* 3 tp x 3 pp x 2 micro-batches x 2 recomputes on 2 machines: 72; pp 3 divides neither 8 nor 16 GPUs: 24, and tp 8 x pp 2 not
   * 8: 4 more */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  PlnResult *result = search (small.plan, 1, 0);
  guint64 sum = result->n_met;
  for (int o = 0; o < PLN_REJECTED_N; o++)
    sum += result->out[o];
  TEST_INT (result->n_asked, 72);
  TEST_INT (sum, 72);
  TEST_INT (result->out[PLN_REJECTED_GPUS], 28);
  for (guint i = 1; i < result->rows->len; i++)
    TEST_TRUE (pln_least (small.plan, &g_array_index (result->rows, PlnChoiceRow, i - 1)) <=
               pln_least (small.plan, &g_array_index (result->rows, PlnChoiceRow, i)));
  pln_result_free (result);
}

static void
threads_change_nothing (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  PlnResult *one = search (small.plan, 1, 0), *three = search (small.plan, 3, 0);
  TEST_INT (one->rows->len, three->rows->len);
  for (guint i = 0; i < one->rows->len; i++) {
    const PlnChoiceRow *a = &g_array_index (one->rows, PlnChoiceRow, i), *b = &g_array_index (three->rows, PlnChoiceRow, i);
    TEST_TRUE (memcmp (&a->query, &b->query, sizeof a->query) == 0 && a->machine == b->machine);
    TEST_NEAR (a->step_time_s, b->step_time_s, 0);
    TEST_NEAR (a->money.total_usd, b->money.total_usd, 0);
  }
  pln_result_free (one);
  pln_result_free (three);
}

static void
the_engine_finds_none_better_behind_the_first_three (void)
{
  static const char *const sets[] = { "objective=time", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult *few = search (small.plan, 1, 3), *all = search (small.plan, 1, 1000);
  TEST_INT (all->n_simulated, all->rows->len);
  TEST_NEAR (g_array_index (few->rows, PlnChoiceRow, 0).step_time_s, g_array_index (all->rows, PlnChoiceRow, 0).step_time_s, 0);
  pln_result_free (few);
  pln_result_free (all);
}

static void
money_is_the_sum_of_its_parts (void)
{
  /* one node: $300,000 and 8 x $10,000, over 1,000 days; $20/h rented. 8 x 700 W and the node's 4,600 W make 10.2 kW, a storage
   * server 0.8 kW; 13.75 of the building */
  static const char *const sets[] = { "failures=none", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnChoiceRow row = { .machine = 0, .step = { .step_time_s = 1, .tokens = 100e9 / (200 * 86400) } };
  row.step_time_s = row.step.step_time_s; /* 200 days */
  row.step.part_s[TRN_PART_COMPUTE] = 1;
  pln_price (small.plan, &row);
  TEST_NEAR (row.run_s, 200 * 86400.0, 1e-9);
  TEST_INT (row.way, PLN_ACQUISITION_BUY);
  TEST_NEAR (row.money.capital_usd, 76000, 1e-9);
  TEST_NEAR (row.power_W, 13750, 1e-9);
  TEST_NEAR (row.money.energy_usd, 13.75 * 24 * 200 * 0.1, 1e-9);
  TEST_NEAR (row.usd_per_token, (76000 + 6600) / 100e9, 1e-9);
  double over;
  TEST_INT (pln_misses (small.plan, &row, &over), PLN_REJECTED_DEADLINE); /* of 90 days */
  TEST_NEAR (over, 200.0 / 90 - 1, 1e-9);
}

static void
rent_is_compared_with_rent (void)
{
  static const char *const sets[] = { "prices=" TEST_SOURCE_DIR "/scenarios/prices/us_2026.yaml", "acquisition=rent",
                                      "failures=none", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnMachine *machine = &g_array_index (small.plan->machines, PlnMachine, 0);
  PlnChoiceRow row = { .machine = 0, .step = { .step_time_s = 1, .tokens = 100e9 / 3600, .fits = TRUE } };
  row.step_time_s = 1;          /* an hour */
  machine->own.capital_usd = 1; /* dirt cheap, and yet nobody asked */
  machine->rent.rent_usd_per_s = 20 / 3600.0;
  pln_price (small.plan, &row);
  TEST_INT (row.way, PLN_ACQUISITION_RENT);
  TEST_NEAR (row.money.total_usd, 20, 1e-9);
  machine->rent.rent_usd_per_s = 0;
  pln_price (small.plan, &row);
  TEST_INT (row.way, PLN_ACQUISITION_NONE);
  double over;
  TEST_INT (pln_misses (small.plan, &row, &over), PLN_REJECTED_PRICE);
}

/* A plan on 32 H100 nodes with a list of prices of this text. */
static Loaded
load_priced (const BaseLookup *lookup, const char *prices, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("plan-XXXXXX", NULL), *path = g_build_filename (folder, "prices.yaml", NULL),
                  *set = g_strconcat ("prices=", path, NULL);
  const char *const sets[] = { set, "choices.nodes=[1, 32]", "constraints=", "goal.deadline=", "goal.run_cost=", NULL };
  Loaded loaded = { .cals = g_ptr_array_new_with_free_func (free_cal) };
  TEST_TRUE (g_file_set_contents (path, prices, -1, NULL));
  loaded.plan = pln_load (TEST_SOURCE_DIR "/tests/golden/plan/small/plan.yaml", lookup, &(PlnOptions){ .sets = sets }, load_library,
                          loaded.cals, error);
  remove (path);
  remove (folder);
  return loaded;
}

#define PRICES_HEAD \
  "prices: parts\ncurrency: USD\ndate: '2026'\nelectricity: $0.1/kWh\nnodes: [{topology: hgx_h100, node: $1000000}]\n"

static void
a_network_is_bought_by_its_parts (void)
{
  /* 32 nodes of 8 adapters at 400 Gb/s: 8 leaves with 32 ports down and 32 up, 4 spines of 64; 256 cables to nodes and 256 above.
   * 32 x 1.25 GB/s are 2 storage servers of 20 GB/s, and 1 for one node, which needs no network. */
  static const char prices[] =
      PRICES_HEAD "fabric: {ports: [{rate: 200 Gb/s, cable: $1}, {rate: 400 Gb/s, nic: $2000, transceiver: $1000, cable: $100}], "
                  "switches: [{type: qm9700, price: $40000}]}\nstorage_server: $10000\n";
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  g_auto (Loaded) loaded = load_priced (lookup, prices, &error);
  if (loaded.plan == NULL)
    g_error ("%s", error->message);
  const PlnMachine *one = &g_array_index (loaded.plan->machines, PlnMachine, 0), *many = one + 1;
  TEST_NEAR (many->buy_usd[PLN_BUY_NODES], 32e6, 0);
  TEST_NEAR (many->buy_usd[PLN_BUY_NICS], 256 * 2000.0, 0);
  TEST_NEAR (many->buy_usd[PLN_BUY_SWITCHES], 12 * 40000.0, 0);
  TEST_NEAR (many->buy_usd[PLN_BUY_OPTICS], 2 * 512 * 1000.0, 0);
  TEST_NEAR (many->buy_usd[PLN_BUY_CABLES], 512 * 100.0, 0);
  TEST_NEAR (many->buy_usd[PLN_BUY_STORAGE], 2 * 10000.0, 0);
  TEST_NEAR (many->capital_usd, 32e6 + 512e3 + 480e3 + 1024e3 + 51200 + 20e3, 1e-9);
  TEST_NEAR (many->fabric_W, 12 * 747.0, 1e-9);
  TEST_NEAR (one->capital_usd, 1e6 + 10e3, 0);
  TEST_NEAR (one->fabric_W, 0, 0);
}

static void
a_part_without_a_price_is_named (void)
{
  static const struct {
    const char *fabric, *said;
  } bad[] = {
    { "network: $1000\nfabric: {ports: [{rate: 400 Gb/s, cable: $1}], switches: []}\n", "both price the network" },
    { "fabric: {ports: [], switches: []}\n", "'ports' is empty" },
    { "fabric: {ports: [{rate: 400 Gb/s, cable: $1}, {rate: 200 Gb/s, cable: $1}], switches: []}\n", "rates of 'ports' must rise" },
    { "fabric: {ports: [{rate: 200 Gb/s, cable: $1}], switches: []}\n", "no port price covers 400 Gb/s" },
    { "fabric: {ports: [{rate: 400 Gb/s, cable: $1}], switches: []}\n",
      "switch type qm9700 has no price, and hgx_h100 has 8 of these" },
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *prices = g_strconcat (PRICES_HEAD, bad[i].fabric, NULL);
    g_auto (Loaded) loaded = load_priced (lookup, prices, &error);
    TEST_TRUE (loaded.plan == NULL);
    TEST_TRUE (error != NULL && strstr (error->message, bad[i].said) != NULL);
  }
}

static void
failures_take_their_share_of_the_days (void)
{
  /* one node of rsc1_2024 fails once in 47.7 days; with checkpoints of 30 s the best interval is about sqrt (2 x 30 s x 47.7 days),
   * 4.37 h: 0.19 % of the time stands still for them, as much is done again, and 0.01 % is 7 min of each failure */
  static const char *const sets[] = { "failures={rates: rsc1_2024}", "checkpoint={stall: 30 s, restore: 1 min}",
                                      "constraints.goodput=99.7 %", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnChoiceRow row = { .machine = 0, .step = { .step_time_s = 10, .tokens = 100e9 / 8640, .fits = TRUE } }; /* a day of steps */
  row.step_time_s = 10;
  pln_price (small.plan, &row);
  TEST_NEAR (row.every_steps, sqrt (2 * 30 * 47.7 * 86400) / 10, 0.01);
  TEST_NEAR (1 - row.goodput, 2 * 30 / sqrt (2 * 30 * 47.7 * 86400) + 420 / (47.7 * 86400), 0.01);
  TEST_NEAR (row.run_s * row.goodput, 86400, 1e-9);
  double over;
  TEST_INT (pln_misses (small.plan, &row, &over), PLN_REJECTED_GOODPUT);
  TEST_NEAR (over, 0.997 / row.goodput - 1, 1e-9);
}

static void
more_nodes_have_less_goodput (void)
{
  static const char *const sets[] = { "failures={rates: llama3_2024}", "checkpoint={stall: 30 s, every: 100}", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  const PlnMachine *one = &g_array_index (small.plan->machines, PlnMachine, 0), *two = one + 1;
  PlnChoiceRow row = { .machine = 0, .step_time_s = 10 }, other = { .machine = 1, .step_time_s = 10 };
  double lost_of_one = 1 - pln_goodput (small.plan, &row, 1e9);
  TEST_NEAR (row.every_steps, 100, 0);
  TEST_NEAR (two->terms.stop_per_s, 2 * one->terms.stop_per_s, 1e-9);
  TEST_TRUE (1 - pln_goodput (small.plan, &other, 1e9) > lost_of_one);
  TEST_NEAR (pln_goodput (small.plan, &row, 55), mdl_goodput (&one->terms, 60), 1e-9); /* six steps, no more */
  TEST_NEAR (row.every_steps, 6, 0);
}

static void
the_front_is_what_none_beats_in_time_and_cost (void)
{
  /* days and dollars: the second is as fast as the first and dearer, the fourth slower and dearer than the third; the last has no
   * price */
  static const struct {
    double run_s, usd;
    gboolean front;
  } points[] = { { 3, 30, TRUE }, { 3, 31, FALSE }, { 5, 20, TRUE }, { 6, 25, FALSE }, { 9, 10, TRUE }, { 1, 0, FALSE } };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (PlnChoiceRow));
  for (guint i = 0; i < G_N_ELEMENTS (points); i++) {
    PlnChoiceRow row = { .run_s = points[i].run_s,
                         .money = { .total_usd = points[i].usd },
                         .way = points[i].usd > 0 ? PLN_ACQUISITION_BUY : PLN_ACQUISITION_NONE,
                         .formula_s = points[i].run_s,
                         .formula_usd = points[i].usd };
    g_array_append_val (rows, row);
  }
  g_autoptr (GArray) front = pln_mark_front (small.plan, rows, FALSE);
  TEST_INT (front->len, 3);
  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    TEST_INT (g_array_index (rows, PlnChoiceRow, i).front, points[i].front);
  pln_put_front_first (small.plan, rows, FALSE);
  TEST_NEAR (g_array_index (rows, PlnChoiceRow, 2).run_s, 9, 0);
  TEST_NEAR (g_array_index (rows, PlnChoiceRow, 3).money.total_usd, 31, 0);
}

static void
a_front_has_none_that_is_beaten (void)
{
  static const char *const sets[] = { "objective=pareto", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult *result = search (small.plan, 1, 0);
  for (guint i = 0; i < result->rows->len; i++) {
    const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, i);
    gboolean beaten = FALSE;
    for (guint k = 0; k < result->rows->len; k++) {
      const PlnChoiceRow *other = &g_array_index (result->rows, PlnChoiceRow, k);
      beaten = beaten || (other->run_s < row->run_s && other->money.total_usd <= row->money.total_usd) ||
               (other->run_s <= row->run_s && other->money.total_usd < row->money.total_usd);
    }
    TEST_INT (row->front, !beaten);
  }
  pln_result_free (result);
}

static void
the_example_has_an_answer (void)
{
  g_autofree char *text = document_read (DOCUMENT), *folder = g_dir_make_tmp ("plan-XXXXXX", NULL);
  const char *at = text;
  g_autofree char *example = document_next_example (&at), *path = g_build_filename (folder, "plan.yaml", NULL);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  g_auto (Loaded) loaded = { .cals = g_ptr_array_new_with_free_func (free_cal) };
  TEST_TRUE (g_file_set_contents (path, example, -1, NULL));
  loaded.plan = pln_load (path, lookup, &(PlnOptions){ 0 }, load_library, loaded.cals, &error);
  if (loaded.plan == NULL)
    g_error ("%s", error->message);
  PlnResult *result = search (loaded.plan, 1, 0);
  TEST_TRUE (result->n_met > 0);
  pln_result_free (result);
  remove (path);
  remove (folder);
}

static void
the_tables_are_sound (void)
{
  for (guint i = 0; schemas[i] != NULL; i++) {
    g_autofree char *wrong = schema_check (schemas[i]);
    TEST_STR (wrong, NULL);
  }
}

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas, &scenario_page);
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "every configuration is counted once", every_configuration_is_counted_once },
    { "threads change nothing", threads_change_nothing },
    { "the engine finds none better behind the first three", the_engine_finds_none_better_behind_the_first_three },
    { "money is the sum of its parts", money_is_the_sum_of_its_parts },
    { "rent is compared with rent", rent_is_compared_with_rent },
    { "a network is bought by its parts", a_network_is_bought_by_its_parts },
    { "a part without a price is named", a_part_without_a_price_is_named },
    { "failures take their share of the days", failures_take_their_share_of_the_days },
    { "more nodes have less goodput", more_nodes_have_less_goodput },
    { "the front is what none beats in time and cost", the_front_is_what_none_beats_in_time_and_cost },
    { "a front has none that is beaten", a_front_has_none_that_is_beaten },
    { "the document's example has an answer", the_example_has_an_answer },
    { "the tables are sound", the_tables_are_sound },
    { "the reference is what the tables print", reference_is_what_the_tables_print },
    { NULL, NULL },
  };
  if (argc == 2 && strcmp (argv[1], "--write") == 0)
    return document_write (DOCUMENT, schemas, &scenario_page);
  return test_main ("plans", cases);
}
