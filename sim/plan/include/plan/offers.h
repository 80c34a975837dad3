/* Offers: ways to get the same work done whose machines, times and prices are given, side by side. */
#ifndef PLAN_OFFERS_H
#define PLAN_OFFERS_H

#include "base/schema.h"
#include "models/money.h"

/* One way, as its file has it. Price, rent and power are of one machine. */
typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum machines;
  BaseStr topology;     /* whose `cost` gives what is not said */
  BaseEnum acquisition; /* PlnAcquire: where there are prices of both */
  BaseNum price, rent;  /* USD to buy, or USD/s */
  BaseNum once;         /* USD, of all, whatever the time */
  BaseNum power;        /* W, while it runs, before the building's share */
  BaseNum time;         /* s that the work takes */
  BaseNum amortisation, pue;
} PlnAcquisitionSpec;

typedef struct {
  BaseHead head;
  BaseStr name, description, currency, date, exchange_date;
  BaseNum exchange;    /* USD for one of the currency */
  BaseNum electricity; /* USD/J */
  BaseNum pue, amortisation;
  BaseNum tokens, deadline, capex, run_cost, power;
  BaseEnum acquisition; /* PlnAcquire: which offers are compared */
  BaseList options;     /* PlnAcquisitionSpec */
} PlnOffersSpec;

extern const BaseSchema pln_schema_offers;

/* Why an offer will not do. */
typedef enum { PLN_MISS_NONE, PLN_MISS_DEADLINE, PLN_MISS_CAPEX, PLN_MISS_RUN_COST, PLN_MISS_POWER } PlnMiss;
extern const char *const pln_miss_names[]; /* "deadline" …; NULL for none */
/* Which way of how many offers were left out by `acquisition` of all: "2 rented offers"; NULL: none. Returned: full. */
typedef struct PlnOffers PlnOffers;
char *pln_offers_left_out (const PlnOffers *offers);

typedef struct {
  const PlnAcquisitionSpec *way; /* borrowed from the offers */
  gboolean owned;
  MdlMoney money;   /* of the work: energy of rented machines is reported, and paid in the rent */
  double capex_usd; /* cash to buy all of it; 0: rented */
  double once_usd;
  double power_W;       /* with the building's share; NAN: not told */
  double amortised_s;   /* 0: the work bears the price */
  double usd_per_token; /* NAN: the offers do not say how many */
  PlnMiss miss;         /* the first of the limits that it misses */
} PlnOffer;

/* From how many times the work on, one after the other, what is bought costs less than what is rented. */
typedef struct {
  guint own, rent; /* offers, by number */
  double runs;     /* 0: from the first; HUGE_VAL: never */
} PlnBreakEven;

/* Reads a file and computes costs. `sets`: "path=value", ends with NULL, may be NULL. NULL and *error (BASE_ERROR_INPUT) on
 * anything wrong, missing or contradictory. Returned: full. */
PlnOffers *pln_offers_load (const char *path, const BaseLookup *lookup, const char *const *sets, GError **error);
void pln_offers_free (PlnOffers *offers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlnOffers, pln_offers_free)

const PlnOffersSpec *pln_offers_spec (const PlnOffers *offers);
const GPtrArray *pln_offers_inputs (const PlnOffers *offers); /* BaseYaml * */
/* PlnOffer: those that miss no limit first, of those the cheapest; equals in the order of the file. One of both acquisitions is two
 * of them, of the same `way`. */
const GArray *pln_offers_rows (const PlnOffers *offers);
/* PlnBreakEven of each bought one whose price the work bears against each rented one. */
const GArray *pln_offers_break_evens (const PlnOffers *offers);

#endif
