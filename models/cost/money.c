/* What a run costs.
 *
 *     stands   = time / utilisation                      what the run bears of the time that an owned machine stands there
 *     share    = min (1, stands / life)                  1 without a life
 *     loss     = capital (1 - residual) share
 *     interest = rate (capital (1 + residual) / 2 x stands + capital x lead x share)
 *     support  = capital x part x stands;  colocation, staff = price x stands
 *     energy   = power x time x PUE;  power = idle + (load - idle) x busy
 *     total    = loss + interest + support + colocation + staff + rent x time + other + energy x price
 *
 * capital, other, total in USD; rent, colocation, staff in USD/s; rate, part in 1/s; power in W; times in s; price of energy in
 * USD/J; utilisation, residual, busy 0 to 1. A machine loses value along a line, so its mean value is that of half its life. What
 * it draws while no run uses it is left out.
 *     bought and rented cost the same after capital / (rent - running cost of what is bought), whatever share a run bears
 *
 * Source: definitions. Valid: one run. Check: test_models_money, test_plan_money (worked by hand in docs/plan.md). */
#include "models/money.h"

#include <math.h>

void
mdl_money (const MdlMoneyQuery *query, double time_s, MdlMoney *out)
{
  double stands_s = query->utilisation > 0.0 ? time_s / query->utilisation : time_s;
  double share = query->amortised_s > 0.0 ? fmin (stands_s / query->amortised_s, 1.0) : 1.0;
  double mean_usd = query->capital_usd * (1.0 + query->residual) / 2.0;
  out->capital_usd = query->capital_usd * (1.0 - query->residual) * share;
  out->interest_usd = query->interest_per_s * (mean_usd * stands_s + query->capital_usd * query->lead_s * share);
  out->support_usd = query->capital_usd * query->support_per_s * stands_s;
  out->colocation_usd = query->colocation_usd_per_s * stands_s;
  out->staff_usd = query->staff_usd_per_s * stands_s;
  out->rent_usd = query->rent_usd_per_s * time_s;
  out->energy_J = query->power_W * time_s * fmax (query->pue, 1.0);
  out->energy_usd = out->energy_J * query->electricity_usd_per_J;
  out->total_usd = out->capital_usd + out->interest_usd + out->support_usd + out->colocation_usd + out->staff_usd + out->rent_usd +
                   query->other_usd + out->energy_usd;
}

double
mdl_money_break_even_s (double capital_usd, double rent_usd_per_s, double running_usd_per_s)
{
  return rent_usd_per_s > running_usd_per_s ? capital_usd / (rent_usd_per_s - running_usd_per_s) : (double)INFINITY;
}

double
mdl_power_W (double load_W, double idle_W, double busy)
{
  return idle_W + (load_W - idle_W) * CLAMP (busy, 0.0, 1.0);
}
