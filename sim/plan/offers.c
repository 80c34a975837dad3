/* Offers: machines, times and prices are given; what they come to follows from models/money.h.
 *
 *     runs from which on buying pays = (price + once of buying - once of renting) / (rent of a run - energy of a run) */
#include "plan/offers.h"

#include <math.h>
#include <string.h>

#include "offers-private.h"
#include "plan-private.h"

const char *const pln_miss_names[] = { NULL, "deadline", "capex", "run_cost", "power" };

static const BaseName acquisition_names[] = { { "own", PLN_ACQUIRE_OWN, "bought" },
                                              { "rent", PLN_ACQUIRE_RENT, "rented" },
                                              { "both", PLN_ACQUIRE_BOTH, "both, each in a row of its own" },
                                              { NULL, 0, NULL } };
static const BaseField option_fields[] = {
  BASE_ROW (PlnAcquisitionSpec, "name", name, STR, .required = TRUE, .help = "name in the table"),
  BASE_ROW_NUM (PlnAcquisitionSpec, "machines", machines, COUNT, .min = "1", .max = "1000000", .fallback = "1",
                .help = "number; price, rent and power are per machine"),
  BASE_ROW (PlnAcquisitionSpec, "topology", topology, STR,
            .help =
                "a topology, by name or path: its `cost` gives price or rent of a node, NICs, switches, cables and electricity, "
                "its parts their power, where they are not given here"),
  BASE_ROW (PlnAcquisitionSpec, "acquisition", acquisition, ENUM, .names = acquisition_names,
            .help = "which of them; needed if there are prices of both"),
  BASE_ROW_NUM (PlnAcquisitionSpec, "price", price, MONEY, .help = "purchase of one; or `rent`"),
  BASE_ROW_NUM (PlnAcquisitionSpec, "rent", rent, MONEY_PER_TIME, .help = "one, with power"),
  BASE_ROW_NUM (PlnAcquisitionSpec, "once", once, MONEY, .fallback = "0", .help = "one-time cost of all: set-up, data transfer"),
  BASE_ROW_NUM (PlnAcquisitionSpec, "power", power, POWER,
                .help = "one while it runs, before PUE; needed if bought, shown if rented"),
  BASE_ROW_NUM (PlnAcquisitionSpec, "time", time, TIME, .required = TRUE, .min = "1 s", .help = "run time of the work"),
  BASE_ROW_NUM (PlnAcquisitionSpec, "amortisation", amortisation, TIME, .min = "1 day",
                .help = "of this offer; default: that of all"),
  BASE_ROW_NUM (PlnAcquisitionSpec, "pue", pue, NUMBER, .min = "1", .max = "10", .help = "of this offer; default: that of all"),
  BASE_ROW_END,
};
static const BaseSchema option_schema = { .name = "options", .help = "One offer, bought or rented.", .fields = option_fields };

static const BaseField offers_fields[] = {
  BASE_ROW (PlnOffersSpec, "offers", name, STR, .required = TRUE, .help = "name"),
  BASE_ROW (PlnOffersSpec, "description", description, STR, .help = "one line about the work"),
  BASE_ROW (PlnOffersSpec, "currency", currency, STR, .required = TRUE, .help = "USD, EUR, GBP …; the answer is in it"),
  BASE_ROW_NUM (PlnOffersSpec, "exchange", exchange, NUMBER, .min = "1e-6", .max = "1e6",
                .help = "USD for one unit of another currency"),
  BASE_ROW (PlnOffersSpec, "exchange_date", exchange_date, STR, .help = "date of `exchange`: year-month-day"),
  BASE_ROW (PlnOffersSpec, "date", date, STR, .required = TRUE, .help = "date of the prices: year, or year-month-day"),
  BASE_ROW_NUM (PlnOffersSpec, "electricity", electricity, MONEY_PER_ENERGY, .help = "energy; needed if an offer is bought"),
  BASE_ROW_NUM (PlnOffersSpec, "pue", pue, NUMBER, .min = "1", .max = "10", .fallback = "1",
                .help = "power usage effectiveness: power of the building over power of the computers"),
  BASE_ROW_NUM (PlnOffersSpec, "amortisation", amortisation, TIME, .min = "1 day",
                .help = "time over which a purchase is used and paid off; default: this work pays all of it"),
  BASE_ROW_NUM (PlnOffersSpec, "tokens", tokens, COUNT, .min = "1", .max = "1000 T",
                .help = "tokens of the work, for the price per token"),
  BASE_ROW_NUM (PlnOffersSpec, "deadline", deadline, TIME, .min = "1 s", .help = "maximum time"),
  BASE_ROW_NUM (PlnOffersSpec, "capex", capex, MONEY, .min = "$0.01", .help = "maximum cash to buy"),
  BASE_ROW_NUM (PlnOffersSpec, "run_cost", run_cost, MONEY, .min = "$0.01", .help = "maximum cost of this work"),
  BASE_ROW_NUM (PlnOffersSpec, "power", power, POWER, .min = "1 W", .help = "maximum power of purchased machines, with PUE"),
  BASE_ROW (PlnOffersSpec, "acquisition", acquisition, ENUM, .names = acquisition_names, .fallback = "both",
            .help = "which offers are compared"),
  BASE_ROW (PlnOffersSpec, "options", options, LIST, .was = "ways", .sub = &option_schema, .item_size = sizeof (PlnAcquisitionSpec),
            .required = TRUE, .help = "the offers"),
  BASE_ROW_END,
};
const BaseSchema pln_schema_offers = { .name = "offers",
                                       .help = "Offers for the same work, with known times and prices.",
                                       .fields = offers_fields };

struct PlnOffers {
  BaseYaml *yaml;
  GPtrArray *inputs; /* BaseYaml * */
  GPtrArray *clus;   /* Clu *: of topologies that offers name */
  PlnOffersSpec spec;
  GArray *rows;        /* PlnOffer */
  GArray *break_evens; /* PlnBreakEven */
  guint left_out;      /* offers that `acquisition` excludes */
};

static gboolean
takes (const BaseEnum *acquisition, PlnAcquire one)
{
  return !acquisition->set || acquisition->v == PLN_ACQUIRE_BOTH || acquisition->v == (int)one;
}

/* ---- what cannot be ---- */

static gboolean
check_way (const PlnOffersSpec *spec, const PlnAcquisitionSpec *way, GError **error)
{
  const char *name = way->name.v;
  const gboolean own = way->price.set && takes (&way->acquisition, PLN_ACQUIRE_OWN);
  if (way->price.set && way->rent.set && !way->acquisition.set)
    return col_fail_at (
        error, way->rent.mark,
        "'%s' has both 'price' and 'rent'; write 'price' to buy it, 'rent' to rent it, or 'acquisition: both' for a row "
        "of each",
        name);
  if (!way->price.set && !way->rent.set)
    return col_fail_at (error, way->name.mark, "'%s' has no cost; write 'price' to buy it, or 'rent' to rent it", name);
  if ((way->acquisition.v == PLN_ACQUIRE_OWN || way->acquisition.v == PLN_ACQUIRE_BOTH) && way->acquisition.set && !way->price.set)
    return col_fail_at (error, way->acquisition.mark, "'%s' is to be bought, and has no 'price'; write it, or 'acquisition: rent'",
                        name);
  if ((way->acquisition.v == PLN_ACQUIRE_RENT || way->acquisition.v == PLN_ACQUIRE_BOTH) && way->acquisition.set && !way->rent.set)
    return col_fail_at (error, way->acquisition.mark, "'%s' is to be rented, and has no 'rent'; write it, or 'acquisition: own'",
                        name);
  if (!own && way->amortisation.set)
    return col_fail_at (error, way->amortisation.mark, "'%s' is rented, so 'amortisation' does not apply; leave it out", name);
  if (own && !way->power.set)
    return col_fail_at (error, way->price.mark,
                        "'%s' is bought, so its energy is paid for; write its 'power' (e.g. 'power: 5.6 kW', or 0)", name);
  if (own && way->power.v > 0 && !spec->electricity.set)
    return col_fail_at (error, way->power.mark, "'%s' has 'power', so 'electricity' needs a price (e.g. 'electricity: $0.10/kWh')",
                        name);
  return TRUE;
}

static gboolean
check (const PlnOffersSpec *spec, GError **error)
{
  if (spec->options.n == 0)
    return col_fail_at (error, spec->options.mark, "'options' is empty; write one offer or more");
  for (guint i = 0; i < spec->options.n; i++) {
    const PlnAcquisitionSpec *way = BASE_LIST_AT (spec->options, PlnAcquisitionSpec, i);
    for (guint k = 0; k < i; k++)
      if (strcmp (BASE_LIST_AT (spec->options, PlnAcquisitionSpec, k)->name.v, way->name.v) == 0)
        return col_fail_at (error, way->name.mark, "two offers are called '%s'; give each its own name", way->name.v);
    if (!check_way (spec, way, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- what they come to ---- */

static PlnMiss
miss_of (const PlnOffersSpec *spec, const PlnOffer *offer)
{
  if (spec->deadline.set && offer->way->time.v > spec->deadline.v)
    return PLN_MISS_DEADLINE;
  if (spec->capex.set && offer->capex_usd > spec->capex.v)
    return PLN_MISS_CAPEX;
  if (spec->run_cost.set && offer->money.total_usd > spec->run_cost.v)
    return PLN_MISS_RUN_COST;
  return spec->power.set && offer->owned && offer->power_W > spec->power.v ? PLN_MISS_POWER : PLN_MISS_NONE;
}

static PlnOffer
estimate (const PlnOffersSpec *spec, const PlnAcquisitionSpec *way, gboolean owned)
{
  const double n = way->machines.v, pue = way->pue.set ? way->pue.v : spec->pue.v;
  PlnOffer offer = { .way = way, .owned = owned, .once_usd = way->once.v };
  offer.amortised_s = !offer.owned             ? 0
                      : way->amortisation.set  ? way->amortisation.v
                      : spec->amortisation.set ? spec->amortisation.v
                                               : 0;
  const MdlMoneyQuery query = { .capital_usd = offer.owned ? n * way->price.v : 0,
                                .amortised_s = offer.amortised_s,
                                .rent_usd_per_s = offer.owned ? 0 : n * way->rent.v,
                                .other_usd = way->once.v,
                                .power_W = way->power.set ? n * way->power.v : 0,
                                .pue = pue,
                                .electricity_usd_per_J = offer.owned && spec->electricity.set ? spec->electricity.v : 0 };
  mdl_money (&query, way->time.v, &offer.money);
  offer.power_W = way->power.set ? query.power_W * pue : (double)NAN;
  offer.usd_per_token = spec->tokens.set ? offer.money.total_usd / spec->tokens.v : (double)NAN;
  offer.capex_usd = query.capital_usd;
  offer.miss = miss_of (spec, &offer);
  return offer;
}

static gint
cheapest_first (gconstpointer a, gconstpointer b)
{
  const PlnOffer *x = a, *y = b;
  if ((x->miss == PLN_MISS_NONE) != (y->miss == PLN_MISS_NONE))
    return x->miss == PLN_MISS_NONE ? -1 : 1;
  if (x->money.total_usd < y->money.total_usd || x->money.total_usd > y->money.total_usd)
    return x->money.total_usd < y->money.total_usd ? -1 : 1;
  if (x->way == y->way)
    return x->owned ? -1 : 1;
  return x->way < y->way ? -1 : 1; /* items of one list */
}

static void
find_break_evens (PlnOffers *offers)
{
  for (guint o = 0; o < offers->rows->len; o++)
    for (guint r = 0; r < offers->rows->len; r++) {
      const PlnOffer *own = &g_array_index (offers->rows, PlnOffer, o), *rent = &g_array_index (offers->rows, PlnOffer, r);
      if (!own->owned || rent->owned || own->amortised_s > 0)
        continue;
      const double first_usd = own->capex_usd + own->once_usd - rent->once_usd,
                   each_usd = rent->money.rent_usd - own->money.energy_usd;
      const PlnBreakEven even = { o, r, first_usd <= 0 ? 0 : each_usd > 0 ? first_usd / each_usd : HUGE_VAL };
      g_array_append_val (offers->break_evens, even);
    }
}

static gboolean
ask_topologies (PlnOffers *offers, const BaseLookup *lookup, GError **error)
{
  PlnOffersSpec *spec = &offers->spec;
  for (guint i = 0; i < spec->options.n; i++) {
    PlnAcquisitionSpec *way = BASE_LIST_AT (spec->options, PlnAcquisitionSpec, i);
    Clu *clu = NULL;
    if (way->topology.v == NULL)
      continue;
    const gboolean good = pln_offers_ask_topology (spec, way, lookup, offers->inputs, &clu, error);
    if (clu != NULL)
      g_ptr_array_add (offers->clus, clu);
    if (!good)
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_offers (PlnOffers *offers, const BaseLookup *lookup, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (offers->yaml), .diag = diag, .lookup = lookup, .source = BASE_SOURCE_ASSUMED, .inputs = offers->inputs
  };
  if (!pln_convert_list (offers->yaml, NULL, NULL, &context, error))
    return FALSE;
  base_schema_read (&pln_schema_offers, base_yaml_root (offers->yaml), FALSE, &context, &offers->spec);
  return base_diag_finish (diag, error) && ask_topologies (offers, lookup, error) && check (&offers->spec, error);
}

/* A row for each way that the offer and the file want. */
static gboolean
add_rows (PlnOffers *offers, GError **error)
{
  const PlnOffersSpec *spec = &offers->spec;
  for (guint i = 0; i < spec->options.n; i++) {
    const PlnAcquisitionSpec *way = BASE_LIST_AT (spec->options, PlnAcquisitionSpec, i);
    for (int k = PLN_ACQUIRE_OWN; k <= PLN_ACQUIRE_RENT; k++) {
      const gboolean own = k == PLN_ACQUIRE_OWN;
      if (!takes (&way->acquisition, (PlnAcquire)k) || !(own ? way->price.set : way->rent.set))
        continue;
      if (!takes (&spec->acquisition, (PlnAcquire)k)) {
        offers->left_out++;
        continue;
      }
      const PlnOffer offer = estimate (spec, way, own);
      g_array_append_val (offers->rows, offer);
    }
  }
  return offers->rows->len > 0 ||
         col_fail_at (error, spec->acquisition.mark, "no offer is to be %s; write 'acquisition: both', or add such an offer",
                      spec->acquisition.v == PLN_ACQUIRE_OWN ? "bought" : "rented");
}

char *
pln_offers_left_out (const PlnOffers *offers)
{
  if (offers->left_out == 0)
    return NULL;
  return g_strdup_printf ("%u %s offer%s", offers->left_out, offers->spec.acquisition.v == PLN_ACQUIRE_OWN ? "rented" : "purchase",
                          offers->left_out > 1 ? "s" : "");
}

PlnOffers *
pln_offers_load (const char *path, const BaseLookup *lookup, const char *const *sets, GError **error)
{
  g_autoptr (PlnOffers) offers = g_new0 (PlnOffers, 1);
  offers->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  offers->clus = g_ptr_array_new_with_free_func ((GDestroyNotify)clu_free);
  offers->rows = g_array_new (FALSE, FALSE, sizeof (PlnOffer));
  offers->break_evens = g_array_new (FALSE, FALSE, sizeof (PlnBreakEven));
  offers->yaml = base_yaml_load_file (path, error);
  if (offers->yaml == NULL)
    return NULL;
  for (; sets != NULL && *sets != NULL; sets++) {
    g_auto (GStrv) halves = g_strsplit (*sets, "=", 2);
    g_autofree char *label = g_strconcat ("--set ", halves[0], NULL);
    if (!base_yaml_set (offers->yaml, halves[0], halves[1] != NULL ? halves[1] : "", label, error))
      return NULL;
  }
  g_ptr_array_add (offers->inputs, base_yaml_ref (offers->yaml));
  if (!pln_refuse_budget (base_yaml_root (offers->yaml), error) || !read_offers (offers, lookup, error))
    return NULL;
  if (!add_rows (offers, error))
    return NULL;
  g_array_sort (offers->rows, cheapest_first);
  find_break_evens (offers);
  return g_steal_pointer (&offers);
}

void
pln_offers_free (PlnOffers *offers)
{
  if (offers == NULL)
    return;
  g_array_unref (offers->rows);
  g_array_unref (offers->break_evens);
  g_ptr_array_unref (offers->inputs);
  g_ptr_array_unref (offers->clus);
  base_yaml_free (offers->yaml);
  g_free (offers);
}

const PlnOffersSpec *
pln_offers_spec (const PlnOffers *offers)
{
  return &offers->spec;
}

const GPtrArray *
pln_offers_inputs (const PlnOffers *offers)
{
  return offers->inputs;
}

const GArray *
pln_offers_rows (const PlnOffers *offers)
{
  return offers->rows;
}

const GArray *
pln_offers_break_evens (const PlnOffers *offers)
{
  return offers->break_evens;
}
