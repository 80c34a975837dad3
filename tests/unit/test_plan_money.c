/* Money of plans, worked by hand: docs/plan.md prints the same eleven examples. */
#include <math.h>

#include "base/currency.h"
#include "base/layout.h"
#include "plan-private.h"
#include "plan_fixture.h"

#define DAY_S  86400.0
#define YEAR_S (365 * DAY_S)
#define KWH_J  3.6e6

/* ---- 1 to 5: what a run costs ---- */

static void
a_run_bears_its_part_of_a_life (void)
{
  /* 1. $1,000,000 over 1,825 days, of which runs use 80 %; 10 % is left. A run of 73 days keeps it for 91.25 days, a twentieth:
   * $900,000 / 20 = $45,000. */
  MdlMoney money;
  MdlMoneyQuery query = { .capital_usd = 1e6, .amortised_s = 1825 * DAY_S, .utilisation = 0.8, .residual = 0.1 };
  mdl_money (&query, 73 * DAY_S, &money);
  TEST_NEAR (money.capital_usd, 45000, 1e-12);
  TEST_NEAR (money.total_usd, 45000, 1e-12);
  /* the same machine, never idle: 73 of 1,825 days are a twenty-fifth */
  query.utilisation = 1;
  mdl_money (&query, 73 * DAY_S, &money);
  TEST_NEAR (money.capital_usd, 36000, 1e-12);
}

static void
interest_is_of_the_mean_value (void)
{
  /* 2. 8 % a year of (1,000,000 + 100,000) / 2 for a quarter of a year: $11,000. Paid 146 days (0.4 years) before delivery: 8 % x
   * 1,000,000 x 0.4 = $32,000, of which the run bears a twentieth: $1,600. */
  MdlMoney money;
  MdlMoneyQuery query = { .capital_usd = 1e6,
                          .amortised_s = 5 * YEAR_S,
                          .utilisation = 0.8,
                          .residual = 0.1,
                          .interest_per_s = 0.08 / YEAR_S,
                          .lead_s = 146 * DAY_S };
  mdl_money (&query, 73 * DAY_S, &money);
  TEST_NEAR (money.interest_usd, 11000 + 1600, 1e-9);
}

static void
support_space_and_staff_last_as_long_as_it_stands (void)
{
  /* 3. A quarter of a year: 5 % a year of $1,000,000 are $12,500; 100 kW at $2,160 a kW and year are $54,000; two racks at
   * $24,000 a year are $12,000. */
  MdlMoney money;
  MdlMoneyQuery query = { .capital_usd = 1e6,
                          .amortised_s = 5 * YEAR_S,
                          .utilisation = 0.8,
                          .support_per_s = 0.05 / YEAR_S,
                          .colocation_usd_per_s = 100 * 2160 / YEAR_S,
                          .staff_usd_per_s = 2 * 24000 / YEAR_S };
  mdl_money (&query, 73 * DAY_S, &money);
  TEST_NEAR (money.support_usd, 12500, 1e-9);
  TEST_NEAR (money.colocation_usd, 54000, 1e-9);
  TEST_NEAR (money.staff_usd, 12000, 1e-9);
  TEST_NEAR (money.total_usd, 200e3 / 4 + 12500 + 54000 + 12000, 1e-9); /* and a quarter of $200,000 a year */
}

static void
energy_is_what_the_building_draws (void)
{
  /* 4. 100 kW for 73 days are 175,200 kWh, with a PUE of 1.3 227,760; at $0.10: $22,776. */
  MdlMoney money;
  const MdlMoneyQuery query = { .power_W = 100e3, .pue = 1.3, .electricity_usd_per_J = 0.1 / KWH_J };
  mdl_money (&query, 73 * DAY_S, &money);
  TEST_NEAR (money.energy_usd, 22776, 1e-9);
}

static void
rent_ends_with_the_run (void)
{
  /* 5. 32 nodes at $50 an hour for 30 days: 32 x 50 x 720 = $1,152,000. Energy is in it. The cash for 32 nodes, $14.5 M, is saved
   * after 14.5 M / (1,600 - 300) an hour = 11,153.8 hours, if an owned hour costs $300. */
  MdlMoney money;
  const MdlMoneyQuery query = { .rent_usd_per_s = 32 * 50 / 3600.0, .power_W = 300e3, .pue = 1.3 };
  mdl_money (&query, 30 * DAY_S, &money);
  TEST_NEAR (money.total_usd, 1152000, 1e-9);
  TEST_NEAR (mdl_money_break_even_s (14.5e6, 1600 / 3600.0, 300 / 3600.0) / 3600, 14.5e6 / 1300, 1e-12);
}

/* ---- 6 to 10: what is bought ---- */

/* hgx_h100 with these numbers of nodes, and more keys. */
static Loaded
load_nodes (const BaseLookup *lookup, const char *nodes, const char *more)
{
  g_autofree char *set = g_strconcat ("choices.nodes=", nodes, NULL);
  const char *const sets[] = { set, "constraints=", "goal.deadline=", "goal.run_cost=", "prices=us_2026", "failures=none", more,
                               NULL };
  return load_small (lookup, sets);
}

static const PlnMachine *
machine_at (const Loaded *loaded, guint i)
{
  return &g_array_index (loaded->plan->machines, PlnMachine, i);
}

static double
count_of (const PlnMachine *machine, PlnBuy kind)
{
  double count = 0;
  for (guint i = 0; i < machine->parts->len; i++)
    count += g_array_index (machine->parts, PlnPart, i).kind == kind ? g_array_index (machine->parts, PlnPart, i).count : 0;
  return count;
}

static void
a_small_cluster_has_a_small_network (void)
{
  /* 6. Switches of 64 ports, 8 NICs a node. Up to 8 nodes share one switch. Leaves have 32 ports down, so that rails of 16 nodes
   * share them two by two; spines of 64 ports take the cables up. One server reads 20 GB/s for 16 nodes of 1.25 GB/s. 10.2 kW a
   * node are 4 in a rack of 41 kW; switches (747 W) and servers (800 W) have their own. */
  static const struct {
    double nodes, switches, cables, servers, racks;
  } by_hand[] = {
    { 1, 0, 0, 1, 1 + 1 },        { 2, 1, 16, 1, 1 + 1 },       { 4, 1, 32, 1, 1 + 1 },          { 8, 1, 64, 1, 2 + 1 },
    { 16, 4 + 2, 256, 1, 4 + 1 }, { 32, 8 + 4, 512, 2, 8 + 1 }, { 64, 16 + 8, 1024, 4, 16 + 1 }, { 128, 32 + 16, 2048, 8, 32 + 2 },
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) loaded = load_nodes (lookup, "[1, 2, 4, 8, 16, 32, 64, 128]", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (by_hand); i++) {
    const PlnMachine *machine = machine_at (&loaded, i);
    TEST_NEAR (count_of (machine, PLN_BUY_NODES), by_hand[i].nodes, 0);
    TEST_NEAR (count_of (machine, PLN_BUY_SWITCHES), by_hand[i].switches, 0);
    TEST_NEAR (count_of (machine, PLN_BUY_CABLES), by_hand[i].cables, 0);
    TEST_NEAR (count_of (machine, PLN_BUY_OPTICS), 2 * by_hand[i].cables, 0);
    TEST_NEAR (count_of (machine, PLN_BUY_STORAGE), by_hand[i].servers, 0);
    TEST_NEAR (machine->racks, by_hand[i].racks, 0);
  }
}

static void
more_nodes_never_cost_less (void)
{
  static const char *const fabrics[] = { "choices.fabric.oversubscription=[1]", "choices.fabric.oversubscription=[2]",
                                         "choices.fabric.oversubscription=[3]", "choices.nics.rate=[200 Gb/s]" };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GString) nodes = g_string_new ("[1");
  for (guint n = 2; n <= 70; n++)
    g_string_append_printf (nodes, ", %u", n);
  g_string_append (nodes, ", 100, 128, 129, 200, 256, 257, 300]");
  for (guint f = 0; f < G_N_ELEMENTS (fabrics); f++) {
    g_auto (Loaded) loaded = load_nodes (lookup, nodes->str, fabrics[f]);
    for (guint i = 1; i < loaded.plan->machines->len; i++) {
      const PlnMachine *few = machine_at (&loaded, i - 1), *many = machine_at (&loaded, i);
      TEST_TRUE (many->capital_usd > few->capital_usd);
      for (int b = 0; b < PLN_BUY_N; b++)
        TEST_TRUE (many->buy_usd[b] >= few->buy_usd[b]);
      TEST_TRUE (many->rent_usd_per_s > few->rent_usd_per_s);
      TEST_TRUE (many->fabric_W >= few->fabric_W);
    }
  }
}

static void
cash_to_buy_is_the_sum_of_its_parts (void)
{
  /* 7. Eight nodes of hgx_h100 by us_2026: 8 x $302,600; 64 NIC ports x $1,800; 1 switch x $36,000; 128 transceivers x $570; 64
   * cables x $180; 1 server x $120,000; 3 racks x $15,000. Spares: 2 % of nodes and network, 2,656,480: $53,129.60. Delivery: 3 %
   * of all before it, 2,874,609.60: $86,238.29. */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) loaded = load_nodes (lookup, "[8]", NULL);
  const PlnMachine *machine = machine_at (&loaded, 0);
  const double hardware = 8 * 302600.0 + 64 * 1800 + 36000 + 128 * 570 + 64 * 180, spares = 0.02 * hardware,
               all = hardware + 120000 + 3 * 15000 + spares;
  TEST_NEAR (hardware, 2656480, 1e-12);
  TEST_NEAR (machine->buy_usd[PLN_BUY_SPARES], 53129.60, 1e-9);
  TEST_NEAR (machine->buy_usd[PLN_BUY_DELIVERY], 86238.288, 1e-9);
  TEST_NEAR (machine->capital_usd, all * 1.03, 1e-12);
}

static void
storage_is_as_large_as_the_run_needs (void)
{
  /* 8. Llama 3 8B, 8,030,261,248 parameters with 16 B of state each and 2 B of weights: ten checkpoints and 4 B a token for 100 G
   * tokens. Rented by the TB at $145 a month of 30 days. */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) loaded = load_nodes (lookup, "[8]", NULL);
  const PlnMachine *machine = machine_at (&loaded, 0);
  double state_B = (machine->storage_B - 4 * 100e9) / 10;
  TEST_TRUE (state_B >= 12 * 8030261248.0 && state_B <= 18 * 8030261248.0);
  TEST_NEAR (machine->storage_rent_usd_per_s, machine->storage_B * 1e-12 * 145 / (30 * DAY_S), 1e-9);
  TEST_NEAR (machine->rent_usd_per_s, 8 * 49.24 / 3600 + machine->storage_rent_usd_per_s, 1e-9);
}

static void
a_list_may_change_another_one (void)
{
  /* 9. us_2026 with dearer energy and another price of one node: all else stays. */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) before = load_nodes (lookup, "[8]", NULL);
  g_auto (Loaded) after =
      load_nodes (lookup, "[8]", "prices={like: us_2026, electricity: $0.20/kWh, nodes: [{topology: hgx_h100, node: $312600}]}");
  const PlnMachine *a = machine_at (&before, 0), *b = machine_at (&after, 0);
  TEST_NEAR (after.plan->prices.electricity.v, 0.2 / KWH_J, 1e-12);
  TEST_NEAR (b->buy_usd[PLN_BUY_NODES], a->buy_usd[PLN_BUY_NODES] + 8 * 10000, 1e-12);
  TEST_NEAR (b->rent_usd_per_s, a->rent_usd_per_s, 1e-12);
  TEST_NEAR (b->buy_usd[PLN_BUY_SWITCHES], a->buy_usd[PLN_BUY_SWITCHES], 0);
  TEST_INT (after.plan->prices.nodes.n, before.plan->prices.nodes.n);
  g_auto (Loaded) set = load_nodes (lookup, "[8]", "prices.electricity=$0.30/kWh");
  TEST_NEAR (set.plan->prices.electricity.v, 0.3 / KWH_J, 1e-12);
}

static void
other_currencies_have_a_dated_rate (void)
{
  /* 10. At $1.20 for a euro: 0.20 EUR/kWh are $0.24, and EUR 250,000 are $300,000; an amount in $ stays. */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) loaded =
      load_nodes (lookup, "[8]",
                  "prices={like: us_2026, currency: EUR, exchange: 1.2, exchange_date: 2026-11-20, electricity: €0.20/kWh, rack: "
                  "$20000, nodes: [{topology: hgx_h100, node: 250000 EUR, rent: €50/h}]}");
  const PlnMachine *machine = machine_at (&loaded, 0);
  TEST_NEAR (loaded.plan->prices.electricity.v, 0.24 / KWH_J, 1e-12);
  TEST_NEAR (machine->buy_usd[PLN_BUY_NODES], 8 * 300e3, 1e-12);
  TEST_NEAR (machine->buy_usd[PLN_BUY_RACKS], 3 * 20e3, 1e-12);
  TEST_NEAR (machine->rent_usd_per_s - machine->storage_rent_usd_per_s, 8 * 60 / 3600.0, 1e-12);
}

static void
sums_are_shown_in_the_currency_of_the_list (void)
{
  /* 11. The 8 nodes of example 7 at $1.20 for a euro: $2,960,847.89 / 1.2 = 2,467,373.24 EUR. */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) loaded =
      load_nodes (lookup, "[8]", "prices={like: us_2026, currency: EUR, exchange: 1.2, exchange_date: 2026-11-20}");
  const PlnPricesSpec *prices = pln_prices (loaded.plan);
  const double capital_usd = machine_at (&loaded, 0)->capital_usd;
  TEST_NEAR (capital_usd, 2960847.888, 1e-9);
  base_currency_show_in (prices->currency.v, prices->exchange.v);
  g_autofree char *shown = base_quantity_show (capital_usd, BASE_DIM_MONEY);
  TEST_STR (shown, "€2.467 M");
  TEST_NEAR (base_currency_of (capital_usd), 2467373.24, 1e-9);
  base_currency_show_in (NULL, 1);
  g_autofree char *dollars = base_quantity_show (capital_usd, BASE_DIM_MONEY);
  TEST_STR (dollars, "$2.961 M");
}

static void
limits_of_the_goal_may_be_in_the_currency_of_the_prices (void)
{
  static const char euros[] = "prices={like: us_2026, currency: EUR, exchange: 1.2, exchange_date: 2026-11-20}";
  static const struct {
    const char *capex, *prices, *said;
  } bad[] = { { "goal.capex=£5 M", euros, "an amount in GBP, but the list is in EUR" },
              { "goal.capex=€5 M", "prices=us_2026", "an amount in EUR, but the list is in USD" },
              { "goal.capex=€5 M", "prices=", "is not in US dollars" },
              { "goal.capex=€5 M", "prices={like: nowhere}", "nowhere" } };
  static const char *const good[] = { "goal.capex=€5 M", "goal.run_cost=$2 M", euros, NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) loaded = load_small (lookup, good);
  TEST_NEAR (loaded.plan->spec.goal.capex.v, 6e6, 1e-12);
  TEST_NEAR (loaded.plan->spec.goal.run_cost.v, 2e6, 1e-12);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    const char *const sets[] = { bad[i].capex, bad[i].prices, NULL };
    g_autoptr (GError) error = NULL;
    g_auto (Loaded) refused = try_small (lookup, sets, &error);
    TEST_TRUE (refused.plan == NULL && error != NULL);
    TEST_HAS (error != NULL ? error->message : "", bad[i].said);
  }
}

static void
what_is_ranked_has_a_price_of_its_kind (void)
{
  /* p5 is only rented: with more options to rent, rent is compared; to buy, it has no cost */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) both = load_nodes (lookup, "[2]", "choices.topology=[hgx_h100, p5]");
  TEST_INT (pln_basis (both.plan), PLN_ACQUISITION_RENT);
  TEST_TRUE (pln_unpriced (both.plan) == NULL);
  g_auto (Loaded) own = load_nodes (lookup, "[2]", "acquisition=own");
  TEST_INT (pln_basis (own.plan), PLN_ACQUISITION_BUY);
  g_auto (Loaded) none = load_nodes (lookup, "[2]", "choices.topology=[hgx_h100, mi325x]");
  g_autofree char *names = pln_unpriced (none.plan);
  TEST_STR (names, "mi325x");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a run bears its part of a life", a_run_bears_its_part_of_a_life },
    { "interest is of the mean value", interest_is_of_the_mean_value },
    { "support, space and staff last as long as it stands", support_space_and_staff_last_as_long_as_it_stands },
    { "energy is what the building draws", energy_is_what_the_building_draws },
    { "rent ends with the run", rent_ends_with_the_run },
    { "a small cluster has a small network", a_small_cluster_has_a_small_network },
    { "more nodes never cost less", more_nodes_never_cost_less },
    { "cash to buy is the sum of its parts", cash_to_buy_is_the_sum_of_its_parts },
    { "storage is as large as the run needs", storage_is_as_large_as_the_run_needs },
    { "a list may change another one", a_list_may_change_another_one },
    { "other currencies have a dated rate", other_currencies_have_a_dated_rate },
    { "sums are shown in the currency of the list", sums_are_shown_in_the_currency_of_the_list },
    { "limits of the goal may be in the currency of the prices", limits_of_the_goal_may_be_in_the_currency_of_the_prices },
    { "what is ranked has a price of its kind", what_is_ranked_has_a_price_of_its_kind },
    { NULL, NULL },
  };
  return test_main ("plan money", cases);
}
