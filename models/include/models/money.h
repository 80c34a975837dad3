/* What a run costs: bought or rented, and the energy that it takes. Formulas and sources: models/cost/money.c. */
#ifndef MODELS_MONEY_H
#define MODELS_MONEY_H

#include <glib.h>

typedef struct {
  double capital_usd;    /* of everything that is bought; 0: nothing is */
  double amortised_s;    /* over which; 0: the run bears all of it */
  double rent_usd_per_s; /* of everything that is rented */
  double other_usd;      /* once */
  double power_W;        /* mean, before the building's share; 0: in the rent */
  double pue;            /* power drawn over power used, at least 1 */
  double electricity_usd_per_J;
} MdlMoneyQuery;

typedef struct {
  double capital_usd, rent_usd, energy_J, energy_usd, total_usd;
} MdlMoney;

/* A run of `time_s`. */
void mdl_money (const MdlMoneyQuery *query, double time_s, MdlMoney *out);

/* s that a machine of `capital_usd` works until it has cost as much as renting it; INFINITY where its energy alone costs more. */
double mdl_money_break_even_s (double capital_usd, double rent_usd_per_s, double energy_usd_per_s);

/* Mean power of a device that is at load for `busy` of its time. */
double mdl_power_W (double load_W, double idle_W, double busy);

#endif
