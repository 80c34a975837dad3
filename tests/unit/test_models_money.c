#include "harness.h"
#include "models/money.h"

#define DAY_S 86400.0
#define KWH_J 3.6e6

/* 5.6 kW at $0.10 a kWh. */
static MdlMoneyQuery
bought (double capital_usd)
{
  return (MdlMoneyQuery){ .capital_usd = capital_usd, .power_W = 5600, .pue = 1, .electricity_usd_per_J = 0.1 / KWH_J };
}

static void
three_ways_to_train_175_b (void)
{
  MdlMoney money;
  MdlMoneyQuery query = bought (150e3); /* a server on PCIe: 45 days x 24 h x 5.6 kW x $0.10 = $604.80 */
  mdl_money (&query, 45 * DAY_S, &money);
  TEST_NEAR (money.energy_usd, 604.80, 1e-9);
  TEST_NEAR (money.total_usd, 150604.80, 1e-9);
  query = bought (250e3); /* 18 days on a DGX: $241.92 */
  mdl_money (&query, 18 * DAY_S, &money);
  TEST_NEAR (money.total_usd, 250241.92, 1e-9);
  query = (MdlMoneyQuery){ .rent_usd_per_s = 8 * 35 / 3600.0, .other_usd = 5000 }; /* 8 x $35/h x 432 h and $5,000 of data */
  mdl_money (&query, 18 * DAY_S, &money);
  TEST_NEAR (money.total_usd, 125960, 1e-9);
  TEST_NEAR (money.energy_J, 0, 0);
}

static void
a_machine_serves_longer_than_a_run (void)
{
  MdlMoney money;
  MdlMoneyQuery query = bought (400e3);
  query.amortised_s = 1460 * DAY_S; /* four years: of 73 days a twentieth */
  mdl_money (&query, 73 * DAY_S, &money);
  TEST_NEAR (money.capital_usd, 20e3, 1e-9);
  mdl_money (&query, 2000 * DAY_S, &money); /* never more than it cost */
  TEST_NEAR (money.capital_usd, 400e3, 1e-9);
}

static void
a_building_takes_its_share (void)
{
  MdlMoney money;
  MdlMoneyQuery query = bought (0);
  query.pue = 1.25;
  mdl_money (&query, DAY_S, &money);
  TEST_NEAR (money.energy_J, 5600 * 86400 * 1.25, 1e-12);
}

static void
power_lies_between_idle_and_load (void)
{
  TEST_NEAR (mdl_power_W (700, 100, 0), 100, 0);
  TEST_NEAR (mdl_power_W (700, 100, 0.5), 400, 1e-12);
  TEST_NEAR (mdl_power_W (700, 100, 1), 700, 0);
}

static void
renting_pays_until_the_machine_is_paid_for (void)
{
  /* $380,000, or $20 an hour against energy of $1.275 an hour: $18.725 an hour are saved, 20,293.7 hours */
  TEST_NEAR (mdl_money_break_even_s (380e3, 20 / 3600.0, 1.275 / 3600), 380e3 / 18.725 * 3600, 1e-12);
  TEST_TRUE (isinf (mdl_money_break_even_s (380e3, 1 / 3600.0, 1.275 / 3600)));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "three ways to train a model of 175 B cost what their parts do", three_ways_to_train_175_b },
    { "a machine serves longer than a run", a_machine_serves_longer_than_a_run },
    { "a building takes its share", a_building_takes_its_share },
    { "renting pays until the machine is paid for", renting_pays_until_the_machine_is_paid_for },
    { "power lies between idle and load", power_lies_between_idle_and_load },
    { NULL, NULL },
  };
  return test_main ("money", cases);
}
