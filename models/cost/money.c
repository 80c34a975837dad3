/* What a run costs.
 *
 *     total = capital x min (1, time / amortised) + rent x time + other + energy x price
 *     energy = power x time x PUE;  power = idle + (load - idle) x busy
 *
 * capital, other, total in USD; rent in USD/s; power in W; time, amortised in s; price of energy in USD/J; busy 0 to 1.
 *     bought and rented cost the same after capital / (rent - energy's price per time), whatever the share that a run bears
 *
 * Source: definitions. Valid: one run; a machine that stands idle between runs costs on.
 * Check: test_models_money (three ways to train a model of 175 B: bought twice, rented). */
#include "models/money.h"

#include <math.h>

void
mdl_money (const MdlMoneyQuery *query, double time_s, MdlMoney *out)
{
  double share = query->amortised_s > 0.0 ? fmin (time_s / query->amortised_s, 1.0) : 1.0;
  out->capital_usd = query->capital_usd * share;
  out->rent_usd = query->rent_usd_per_s * time_s;
  out->energy_J = query->power_W * time_s * fmax (query->pue, 1.0);
  out->energy_usd = out->energy_J * query->electricity_usd_per_J;
  out->total_usd = out->capital_usd + out->rent_usd + query->other_usd + out->energy_usd;
}

double
mdl_money_break_even_s (double capital_usd, double rent_usd_per_s, double energy_usd_per_s)
{
  return rent_usd_per_s > energy_usd_per_s ? capital_usd / (rent_usd_per_s - energy_usd_per_s) : (double)INFINITY;
}

double
mdl_power_W (double load_W, double idle_W, double busy)
{
  return idle_W + (load_W - idle_W) * CLAMP (busy, 0.0, 1.0);
}
