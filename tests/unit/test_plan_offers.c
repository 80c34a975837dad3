/* Offers: sums, limits, what cannot be. docs/offers.md: its reference is what the schema tables print, its example runs.
 * `test_plan_offers --write` renews the reference. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "document.h"
#include "plan/offers.h"
#include "schema_document.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/offers.md"
#define HEAD     "offers: t\ncurrency: USD\ndate: 2026\nelectricity: $0.10/kWh\n"
#define SERVER   "  - {name: server, price: $150000, power: 5.6 kW, time: 45 days}\n"
#define CLOUD    "  - {name: cloud, machines: 8, rent: $35/h, once: $5000, time: 18 days}\n"

static const BaseSchema *const schemas[] = { &pln_schema_offers, NULL };

static PlnOffers *
load (const char *text, const char *const *sets, GError **error)
{
  g_autofree char *path = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  gint fd = g_file_open_tmp ("offers-XXXXXX.yaml", &path, NULL);
  g_assert (fd >= 0);
  g_close (fd, NULL);
  g_assert (g_file_set_contents (path, text, -1, NULL));
  PlnOffers *offers = pln_offers_load (path, lookup, sets, error);
  remove (path);
  return offers;
}

static PlnOffers *
right (const char *text)
{
  g_autoptr (GError) error = NULL;
  PlnOffers *offers = load (text, NULL, &error);
  if (offers == NULL)
    g_error ("%s", error->message);
  return offers;
}

static const PlnOffer *
row (const PlnOffers *offers, guint i)
{
  return &g_array_index (pln_offers_rows (offers), PlnOffer, i);
}

static void
a_bought_machine_costs_its_price_and_energy (void)
{
  g_autoptr (PlnOffers) offers = right (HEAD "options:\n" SERVER);
  /* 5.6 kW x 45 x 24 h = 6048 kWh */
  TEST_NEAR (row (offers, 0)->money.energy_J, 6048 * 3.6e6, 1e-12);
  TEST_NEAR (row (offers, 0)->money.energy_usd, 604.80, 1e-12);
  TEST_NEAR (row (offers, 0)->money.total_usd, 150604.80, 1e-12);
}

static void
rent_holds_power_and_what_is_paid_once (void)
{
  g_autoptr (PlnOffers) offers =
      right (HEAD "options:\n  - {name: cloud, machines: 8, rent: $35/h, once: $5000, power: 700 W, time: 18 days}\n");
  /* 8 x 35 x 432 h */
  TEST_NEAR (row (offers, 0)->money.rent_usd, 120960, 1e-12);
  TEST_NEAR (row (offers, 0)->money.energy_usd, 0, 0);
  TEST_NEAR (row (offers, 0)->power_W, 5600, 1e-12);
  TEST_NEAR (row (offers, 0)->money.total_usd, 125960, 1e-12);
}

static void
the_building_and_the_years_take_their_share (void)
{
  g_autoptr (PlnOffers) offers =
      right (HEAD "pue: 1.5\namortisation: 450 days\ntokens: 1 M\noptions:\n" SERVER
                  "  - {name: other, price: $150000, power: 5.6 kW, time: 45 days, amortisation: 90 days, pue: 1}\n");
  /* a tenth of the price; energy by half more */
  TEST_STR (row (offers, 0)->way->name.v, "server");
  TEST_NEAR (row (offers, 0)->money.total_usd, 15000 + 1.5 * 604.80, 1e-12);
  TEST_NEAR (row (offers, 0)->usd_per_token, (15000 + 1.5 * 604.80) / 1e6, 1e-12);
  TEST_NEAR (row (offers, 1)->money.total_usd, 75000 + 604.80, 1e-12);
  TEST_INT (pln_offers_break_evens (offers)->len, 0);
}

static void
the_cheapest_comes_first_and_what_misses_a_limit_last (void)
{
  g_autoptr (PlnOffers) free = right (HEAD "options:\n" SERVER CLOUD);
  TEST_STR (row (free, 0)->way->name.v, "cloud");
  TEST_TRUE (row (free, 0)->miss == PLN_MISS_NONE);
  g_autoptr (PlnOffers) poor = right (HEAD "run_cost: $140000\ndeadline: 40 days\noptions:\n" SERVER CLOUD);
  TEST_TRUE (row (poor, 0)->miss == PLN_MISS_NONE);
  TEST_TRUE (row (poor, 1)->miss == PLN_MISS_DEADLINE);
  g_autoptr (PlnOffers) slow = right (HEAD "run_cost: $125000\npower: 5 kW\noptions:\n" SERVER CLOUD);
  TEST_STR (row (slow, 0)->way->name.v, "cloud"); /* both miss: by cost */
  TEST_TRUE (row (slow, 0)->miss == PLN_MISS_RUN_COST);
  TEST_TRUE (row (slow, 1)->miss == PLN_MISS_RUN_COST);
  g_autoptr (PlnOffers) dim = right (HEAD "power: 5 kW\noptions:\n" SERVER CLOUD);
  TEST_TRUE (row (dim, 1)->miss == PLN_MISS_POWER); /* the cloud's is not drawn at home */
}

static double
even (const char *ways)
{
  g_autofree char *text = g_strconcat (HEAD "options:\n", ways, NULL);
  g_autoptr (PlnOffers) offers = right (text);
  TEST_INT (pln_offers_break_evens (offers)->len, 1);
  return g_array_index (pln_offers_break_evens (offers), PlnBreakEven, 0).runs;
}

/* Two nodes of one GPU of 500 W and 300 W beside it, an adapter each on one switch. */
#define OWN_TOPOLOGY                                                                                                    \
  "topology: own\nnodes: 2\nnode:\n  gpus: {type: {gpu: g, power: 500 W, pcie: {class: pcie5, lanes: 16}}, count: 1}\n" \
  "  nics: {type: cx7_ndr400, count: 1}\n  power: 300 W\nfabric: {kind: single_switch, leaf: {type: qm9700}}\n"

static PlnOffers *
of_topology (const char *cost, const char *option, GError **error)
{
  g_autofree char *topology = NULL, *text = NULL;
  gint fd = g_file_open_tmp ("topology-XXXXXX.yaml", &topology, NULL);
  g_assert (fd >= 0);
  g_close (fd, NULL);
  g_autofree char *whole = g_strconcat (OWN_TOPOLOGY, cost, NULL);
  g_assert (g_file_set_contents (topology, whole, -1, NULL));
  text = g_strdup_printf (
      "offers: t\ncurrency: USD\ndate: 2026\noptions:\n  - {name: a, machines: 2, topology: %s, time: 10 days%s}\n", topology,
      option);
  PlnOffers *offers = load (text, NULL, error);
  remove (topology);
  return offers;
}

static void
a_topology_says_what_its_machines_cost (void)
{
  static const char prices[] = "cost: {node: $1000, nic_port: $10, switch_port: $20, cable: $5, power: $0.10/kWh}\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnOffers) bought = of_topology (prices, "", &error);
  g_assert (bought != NULL);
  /* two nodes, their two adapters, two switch ports and two cables; 2 x 800 W for 240 h are 384 kWh */
  TEST_NEAR (row (bought, 0)->capex_usd, 2 * (1000 + 10 + 20 + 5), 1e-12);
  TEST_NEAR (row (bought, 0)->money.energy_usd, 38.4, 1e-12);
  /* what the offer says itself counts */
  g_autoptr (PlnOffers) cheaper = of_topology (prices, ", price: $900, power: 1 kW", &error);
  g_assert (cheaper != NULL);
  TEST_NEAR (row (cheaper, 0)->capex_usd, 1800, 1e-12);
  TEST_NEAR (row (cheaper, 0)->money.energy_usd, 48, 1e-12);
  g_autoptr (PlnOffers) rented = of_topology ("cost: {rent: $2/h}\n", "", &error);
  g_assert (rented != NULL);
  TEST_NEAR (row (rented, 0)->money.total_usd, 2 * 2 * 240, 1e-12);
  g_autoptr (PlnOffers) chosen = of_topology ("cost: {node: $1000, rent: $2/h}\n", ", acquisition: rent", &error);
  g_assert (chosen != NULL);
  TEST_NEAR (row (chosen, 0)->money.total_usd, 960, 1e-12);
}

static void
a_topology_without_the_price_is_refused (void)
{
  static const struct {
    const char *cost, *option, *says;
  } rows[] = {
    { "", "", "has no 'cost: {node}'; write 'price' here, or give it there" },
    { "cost: {node: $1000}\n", ", acquisition: rent", "has no 'cost: {rent}'" },
    { "cost: {node: $1000, rent: $2/h}\n", "", "has both 'node' and 'rent'; write 'acquisition: own', 'rent' or 'both'" },
    { "cost: {node: $1000}\n", ", acquisition: both", "write 'rent' here, or give it there; or leave 'acquisition' out" },
    { "cost: {node: $1000}\n", "", "so 'electricity' needs a price" },
    { "cost: {node: -1}\n", "", "has no '$'" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (PlnOffers) offers = of_topology (rows[i].cost, rows[i].option, &error);
    TEST_TRUE (offers == NULL);
    if (error == NULL || strstr (error->message, rows[i].says) == NULL)
      fprintf (stderr, "%u: %s\n", i, error != NULL ? error->message : "accepted");
    TEST_TRUE (error != NULL && strstr (error->message, rows[i].says) != NULL);
  }
}

/* One offer both ways is two rows; the file's own acquisition leaves one of them out. */
static void
an_offer_is_compared_both_ways (void)
{
  static const char both[] =
      HEAD "options:\n  - {name: a, price: $150000, rent: $100/h, power: 0, acquisition: both, time: 10 days}\n";
  static const char *const rented[] = { "acquisition=rent", NULL };
  g_autoptr (PlnOffers) offers = right (both);
  TEST_INT (pln_offers_rows (offers)->len, 2);
  TEST_TRUE (!row (offers, 0)->owned && row (offers, 1)->owned && row (offers, 0)->way == row (offers, 1)->way);
  TEST_NEAR (row (offers, 0)->money.total_usd, 24000, 1e-12);
  TEST_NEAR (row (offers, 1)->money.total_usd, 150000, 1e-12);
  TEST_TRUE (pln_offers_left_out (offers) == NULL);
  g_autoptr (PlnOffers) some = load (both, rented, NULL);
  g_autofree char *out = pln_offers_left_out (some);
  TEST_INT (pln_offers_rows (some)->len, 1);
  TEST_STR (out, "1 purchase offer");
  g_autoptr (PlnOffers) same =
      right (HEAD "options:\n  - {name: a, price: $24000, rent: $100/h, power: 0, acquisition: both, time: 10 days}\n");
  TEST_TRUE (row (same, 0)->owned); /* of equals what is bought */
}

static void
buying_pays_from_so_many_times_on (void)
{
  TEST_NEAR (even (SERVER CLOUD), (150000 - 5000) / (120960 - 604.80), 1e-12);
  /* cheaper to buy than to set up the cloud */
  TEST_NEAR (even ("  - {name: a, price: $100, power: 0, time: 1 day}\n  - {name: b, rent: $1/h, once: $200, time: 1 day}\n"), 0,
             0);
  /* 1 kW at $0.10 is more than $0.05 an hour */
  TEST_TRUE (isinf (even ("  - {name: a, price: $100, power: 1 kW, time: 1 day}\n  - {name: b, rent: $0.05/h, time: 1 day}\n")));
}

static void
what_cannot_be_is_said_with_its_place (void)
{
  static const struct {
    const char *ways, *said;
  } cases[] = {
    { "  - {name: a, price: $1, rent: $1/h, power: 0, time: 1 day}\n", "'a' has both 'price' and 'rent'" },
    { "  - {name: a, price: $1, power: 0, acquisition: rent, time: 1 day}\n", "'a' is to be rented, and has no 'rent'" },
    { "  - {name: a, rent: $1/h, acquisition: own, time: 1 day}\n", "'a' is to be bought, and has no 'price'" },
    { "  - {name: a, rent: $1/h, time: 1 day}\nacquisition: own\n", "no offer is to be bought; write 'acquisition: both'" },
    { "  - {name: a, time: 1 day}\n", "'a' has no cost; write 'price' to buy it, or 'rent'" },
    { "  - {name: a, price: $1, time: 1 day}\n", "so its energy is paid for; write its 'power'" },
    { "  - {name: a, rent: $1/h, amortisation: 9 days, time: 1 day}\n", "'a' is rented, so 'amortisation' does not apply" },
    { "  - {name: a, rent: $1/h, time: 1 day}\n  - {name: a, rent: $2/h, time: 1 day}\n", "two offers are called 'a'" },
    { "  - {name: a, price: 100, power: 0, time: 1 day}\n", "price '100' has no '$'" },
    { "  - {name: a, rent: $1/h}\n", "'time' in 'options' is missing" },
    { "  - {name: a, rent: $1/h, time: 0}\n", "'time' must be at least 1 s" },
    { "  []\n", "'options' is empty; write one offer or more" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat (HEAD "options:\n", cases[i].ways, NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (PlnOffers) offers = load (text, NULL, &error);
    TEST_TRUE (offers == NULL);
    TEST_HAS (error != NULL ? error->message : "", cases[i].said);
    TEST_HAS (error != NULL ? error->message : "", ".yaml:");
  }
}

static void
currency_and_electricity_are_needed (void)
{
  g_autoptr (GError) none = NULL, euro = NULL, dark = NULL, huge = NULL;
  g_autofree char *zeros = g_strnfill (100000, '0');
  g_autofree char *text = g_strdup_printf ("offers: t\ncurrency: USD%s\ndate: 2026\noptions:\n" CLOUD, zeros);
  g_autoptr (PlnOffers) a = load ("offers: t\ndate: 2026\noptions:\n" CLOUD, NULL, &none);
  TEST_TRUE (a == NULL);
  TEST_HAS (none->message, "'currency' in 'offers' is missing");
  g_autoptr (PlnOffers) b = load ("offers: t\ncurrency: EUR\ndate: 2026\noptions:\n" CLOUD, NULL, &euro);
  TEST_TRUE (b == NULL);
  TEST_HAS (euro->message, "EUR needs a dated rate; write 'exchange: USD for one EUR' and 'exchange_date'");
  g_autoptr (PlnOffers) d = load (text, NULL, &huge);
  TEST_TRUE (d == NULL && strlen (huge->message) < 2010);
  TEST_HAS (huge->message, "is not known");
  g_autoptr (PlnOffers) c = load ("offers: t\ncurrency: USD\ndate: 2026\noptions:\n" SERVER, NULL, &dark);
  TEST_TRUE (c == NULL);
  TEST_HAS (dark->message, "'server' has 'power', so 'electricity' needs a price");
}

/* At $1.20 a euro: 10 machines of EUR 100,000 and 1 kW, 100 days at EUR 0.10/kWh: $1,200,000 + 24,000 kWh x $0.12. */
static void
euros_become_dollars (void)
{
  static const char text[] =
      "offers: t\ncurrency: EUR\nexchange: 1.2\nexchange_date: 2026-11-20\ndate: 2026\nelectricity: €0.10/kWh\n"
      "capex: 1.1 M EUR\noptions:\n"
      "  - {name: own, machines: 10, price: 100000 EUR, power: 1 kW, time: 100 days}\n"
      "  - {name: dollars, machines: 10, price: $100000, power: 1 kW, time: 100 days}\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnOffers) offers = load (text, NULL, &error);
  if (offers == NULL)
    g_error ("%s", error->message);
  TEST_STR (row (offers, 1)->way->name.v, "own");
  TEST_NEAR (row (offers, 1)->money.total_usd, 1200000 + 24000 * 0.12, 1e-9);
  TEST_NEAR (row (offers, 0)->money.total_usd, 1000000 + 24000 * 0.12, 1e-9);
  TEST_NEAR (pln_offers_spec (offers)->capex.v, 1.32e6, 1e-9);
  TEST_TRUE (load ("offers: t\ncurrency: USD\ndate: 2026\noptions:\n  - {name: a, rent: €3/h, time: 1 day}\n", NULL, NULL) == NULL);
}

/* ---- the document ---- */

static void
the_example_has_an_answer (void)
{
  g_autofree char *text = document_read (DOCUMENT);
  const char *at = text;
  g_autofree char *example = document_next_example (&at);
  g_autoptr (PlnOffers) offers = right (example);
  /* 4 x 300000 x 16 / 1095, and 40.8 kW x 1.3 x 384 h at 12 cents */
  TEST_STR (row (offers, 0)->way->name.v, "own");
  TEST_NEAR (row (offers, 0)->money.total_usd, 1200000.0 * 16 / 1095 + 40.8 * 1.3 * 384 * 0.12, 1e-12);
}

static void
the_tables_are_sound (void)
{
  g_autofree char *wrong = schema_check (&pln_schema_offers);
  TEST_STR (wrong, NULL);
}

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas, NULL);
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "a bought machine costs its price and energy", a_bought_machine_costs_its_price_and_energy },
    { "rent holds power and what is paid once", rent_holds_power_and_what_is_paid_once },
    { "the building and the years take their share", the_building_and_the_years_take_their_share },
    { "the cheapest comes first and what misses a limit last", the_cheapest_comes_first_and_what_misses_a_limit_last },
    { "a topology says what its machines cost", a_topology_says_what_its_machines_cost },
    { "a topology without the price is refused", a_topology_without_the_price_is_refused },
    { "an offer is compared both ways", an_offer_is_compared_both_ways },
    { "buying pays from so many times on", buying_pays_from_so_many_times_on },
    { "what cannot be is said with its place", what_cannot_be_is_said_with_its_place },
    { "currency and electricity are needed", currency_and_electricity_are_needed },
    { "euros become dollars", euros_become_dollars },
    { "the document's example has an answer", the_example_has_an_answer },
    { "the tables are sound", the_tables_are_sound },
    { "the reference is what the tables print", reference_is_what_the_tables_print },
    { NULL, NULL },
  };
  if (argc == 2 && strcmp (argv[1], "--write") == 0)
    return document_write (DOCUMENT, schemas, NULL);
  return test_main ("offers", cases);
}
