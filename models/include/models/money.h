/* What a run costs: bought or rented, and the energy that it takes. Formulas and sources: models/cost/money.c. */
#ifndef MODELS_MONEY_H
#define MODELS_MONEY_H

#include <glib.h>

typedef struct {
  double capital_usd;         /* cash to buy everything that is bought; 0: nothing is */
  double amortised_s;         /* its life; 0: the run bears all of it */
  double utilisation;         /* part of that life that runs use, 0 to 1; 0: all of it */
  double residual;            /* part of the capital that it is worth in the end */
  double interest_per_s;      /* of what the machine is worth meanwhile, relative */
  double lead_s;              /* from payment to delivery */
  double support_per_s;       /* part of the capital */
  double colocation_usd_per_s, staff_usd_per_s; /* as long as it stands */
  double rent_usd_per_s;      /* of everything that is rented */
  double other_usd;           /* once */
  double power_W;             /* mean, before the building's share; 0: in the rent */
  double pue;                 /* power drawn over power used, at least 1 */
  double electricity_usd_per_J;
} MdlMoneyQuery;

/* capital_usd: what the machine loses in value; total_usd: the sum of all others. */
typedef struct {
  double capital_usd, interest_usd, support_usd, colocation_usd, staff_usd, rent_usd, energy_J, energy_usd, total_usd;
} MdlMoney;

/* A run of `time_s`. */
void mdl_money (const MdlMoneyQuery *query, double time_s, MdlMoney *out);

/* s that a machine of `capital_usd` works until it has cost as much as renting it; INFINITY where what it takes of energy, support
 * and space alone costs more. */
double mdl_money_break_even_s (double capital_usd, double rent_usd_per_s, double running_usd_per_s);

/* Mean power of a device that is at load for `busy` of its time. */
double mdl_power_W (double load_W, double idle_W, double busy);

#endif
