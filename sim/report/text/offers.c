#include "report/offers.h"

#include <math.h>

#include "base/layout.h"
#include "json-private.h"
#include "money-private.h"

#define DAY_S 86400.0

BASE_MEMBER_WHEN (is_owned, PlnOffer, it->owned)
BASE_MEMBER_WHEN (is_rented, PlnOffer, !it->owned)
BASE_MEMBER_WHEN (has_power, PlnOffer, !isnan (it->power_W))
BASE_MEMBER_TEXT_OF (way, PlnOffer, it->owned ? "own" : "rent")
BASE_MEMBER_TEXT_OF (acquisition, PlnOffer, it->owned ? "buy" : "rent")
BASE_MEMBER_TEXT_OF (misses, PlnOffer, pln_miss_names[it->miss])

#define OFFER(...) BASE_MEMBER (PlnOffer, __VA_ARGS__)
#define WAY(...)   BASE_MEMBER_THROUGH (PlnOffer, way, PlnAcquisitionSpec, __VA_ARGS__)
static const BaseMember members[] = {
  WAY ("name", name.v, .title = "offer"),
  WAY ("machines", machines.v, BASE_SHOWN ("machines", 1, "%.0f"), .rank = 3),
  { .key = "way", .text = way },
  WAY ("time_s", time.v, BASE_SHOWN ("days", 1 / DAY_S, "%.4g")),
  OFFER ("capital_usd", money.capital_usd, .title = "loss of value", .rank = 2, .when = is_owned),
  OFFER ("rent_usd", money.rent_usd, .title = "rent", .when = is_rented),
  OFFER ("once_usd", once_usd, .title = "one-off", .rank = 2),
  OFFER ("power_W", power_W, .title = "power", .rank = 3),
  OFFER ("energy_J", money.energy_J, .title = "energy", .rank = 3, .when = has_power),
  OFFER ("energy_usd", money.energy_usd, .title = "energy", .rank = 2, .when = is_owned),
  OFFER ("total_usd", money.total_usd, .title = "run cost"),
  OFFER ("usd_per_token", usd_per_token, BASE_SHOWN ("$/M tokens", 1e6, "%.4g"), .rank = 1),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "over_least", BASE_SHOWN ("over the first (%)", 100, "%.1f"), .rank = 1),
  { .key = "misses", .text = misses, .title = "misses" },
  { .key = "acquisition", .text = acquisition, .title = "acquisition", .rank = 1 },
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "over_minimum"),
  OFFER ("capex_usd", capex_usd, .title = "to buy", .when = is_owned),
  OFFER ("run_cost_usd", money.total_usd),
  BASE_MEMBER_END,
};

static BaseTable *
table_of (const PlnOffers *offers)
{
  const GArray *rows = pln_offers_rows (offers);
  const double least_usd =
      rows->len > 0 ? g_array_index (rows, PlnOffer, 0).money.total_usd : 0; /* of those that meet the limits */
  BaseTable *table = base_members_table (members, NULL);
  for (guint i = 0; i < rows->len; i++) {
    const PlnOffer *offer = &g_array_index (rows, PlnOffer, i);
    base_members_add (table, members, offer);
    const double over = least_usd > 0 ? offer->money.total_usd / least_usd - 1 : (double)NAN;
    base_table_number (table, "over_least", over);
    base_table_number (table, "over_minimum", over);
  }
  return table;
}

/* "DGX (buy) misses capex: $8.64 M, and $5 M is allowed." */
static void
append_miss (const PlnOffersSpec *spec, const PlnOffer *offer, GString *out)
{
  const struct {
    PlnMiss miss;
    double value;
    const BaseNum *limit;
    BaseDim dim;
  } limits[] = { { PLN_MISS_DEADLINE, offer->way->time.v, &spec->deadline, BASE_DIM_TIME },
                 { PLN_MISS_CAPEX, offer->capex_usd, &spec->capex, BASE_DIM_MONEY },
                 { PLN_MISS_RUN_COST, offer->money.total_usd, &spec->run_cost, BASE_DIM_MONEY },
                 { PLN_MISS_POWER, offer->power_W, &spec->power, BASE_DIM_POWER } };
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    if (limits[i].miss != offer->miss)
      continue;
    g_autofree char *has = base_quantity_show (limits[i].value, limits[i].dim),
                    *may = base_quantity_show (limits[i].limit->v, limits[i].dim);
    g_string_append_printf (out, "%s (%s) misses %s: %s, and %s is allowed.\n", offer->way->name.v, offer->owned ? "buy" : "rent",
                            pln_miss_names[offer->miss], has, may);
  }
}

/* "DGX (buy), $8.64 M to buy, run cost $230 k, 40 days" */
static void
append_offer (const PlnOffer *offer, GString *out)
{
  g_autofree char *cost = base_quantity_show (offer->money.total_usd, BASE_DIM_MONEY),
                  *all = base_quantity_show (offer->capex_usd, BASE_DIM_MONEY);
  g_string_append_printf (out, "%s (%s), %s to buy, run cost %s, %.4g days", offer->way->name.v, offer->owned ? "buy" : "rent",
                          offer->owned ? all : "nothing", cost, offer->way->time.v / DAY_S);
}

/* The cheapest offer, by how much it leads, and the limits that others miss. */
static void
append_said (const PlnOffers *offers, GString *out)
{
  const GArray *rows = pln_offers_rows (offers);
  const PlnOffer *first = &g_array_index (rows, PlnOffer, 0);
  if (first->miss != PLN_MISS_NONE)
    g_string_append (out, "No offer meets the limits. ");
  g_string_append (out, "Cheapest: ");
  append_offer (first, out);
  if (first->miss != PLN_MISS_NONE)
    g_string_append_printf (out, "; it misses %s", pln_miss_names[first->miss]);
  g_string_append (out, ".\n");
  if (rows->len > 1 && g_array_index (rows, PlnOffer, 1).miss == first->miss) {
    const PlnOffer *next = &g_array_index (rows, PlnOffer, 1);
    g_string_append (out, "Next: ");
    append_offer (next, out);
    g_string_append_printf (out, ": %.3g %% more run cost.\n", 100 * (next->money.total_usd / first->money.total_usd - 1));
  }
  for (guint i = 0; i < rows->len; i++)
    append_miss (pln_offers_spec (offers), &g_array_index (rows, PlnOffer, i), out);
  g_autofree char *left_out = pln_offers_left_out (offers);
  if (left_out != NULL)
    g_string_append_printf (out, "Left out by `acquisition`: %s.\n", left_out);
}

/* Whose prices, and how many of them are assumptions. */
static void
append_prices (const PlnOffersSpec *spec, GString *out)
{
  guint figures = 0, assumed = 0;
  const BaseNum *of_all[] = { &spec->electricity, &spec->amortisation };
  for (guint i = 0; i < G_N_ELEMENTS (of_all); i++) {
    figures += of_all[i]->set ? 1 : 0;
    assumed += of_all[i]->set && of_all[i]->source == BASE_SOURCE_ASSUMED ? 1 : 0;
  }
  for (guint i = 0; i < spec->options.n; i++) {
    const PlnAcquisitionSpec *way = BASE_LIST_AT (spec->options, PlnAcquisitionSpec, i);
    const BaseNum *own[] = { &way->price, &way->rent, &way->once, &way->power, &way->time, &way->amortisation };
    for (guint k = 0; k < G_N_ELEMENTS (own); k++) {
      const gboolean told = own[k]->set && own[k]->mark.file != NULL;
      figures += told ? 1 : 0;
      assumed += told && own[k]->source == BASE_SOURCE_ASSUMED ? 1 : 0;
    }
  }
  g_autofree char *electricity = rep_quantity (spec->electricity.v, BASE_DIM_MONEY_PER_ENERGY);
  g_string_append_printf (out, "# prices in %s (%s): %u of %u values are assumptions; electricity %s, PUE %g\n", spec->currency.v,
                          spec->date.v, assumed, figures, spec->electricity.set ? electricity : "not priced", spec->pue.v);
  rep_currency_text (&spec->currency, &spec->exchange, &spec->exchange_date, out);
  if (spec->amortisation.set)
    g_string_append_printf (out, "# purchases are paid off over %.4g days, and other work uses the rest of that time\n",
                            spec->amortisation.v / DAY_S);
  else
    g_string_append (out, "# purchases are paid by this work alone, without resale value\n");
}

static void
append_break_evens (const PlnOffers *offers, GString *out)
{
  const GArray *evens = pln_offers_break_evens (offers), *rows = pln_offers_rows (offers);
  if (evens->len > 0)
    g_string_append (out, "\nBreak-even: number of such runs, one after the other, after which buying is cheaper than renting.\n");
  for (guint i = 0; i < evens->len; i++) {
    const PlnBreakEven *even = &g_array_index (evens, PlnBreakEven, i);
    const PlnOffer *own = &g_array_index (rows, PlnOffer, even->own), *rent = &g_array_index (rows, PlnOffer, even->rent);
    g_string_append_printf (out, "%s instead of %s: ", own->way->name.v, rent->way->name.v);
    if (isinf (even->runs))
      g_string_append (out, "never, its energy costs more than the rent\n");
    else
      g_string_append_printf (out, "%.4g runs, %.4g days\n", even->runs, even->runs * own->way->time.v / DAY_S);
  }
}

void
rep_offers_text (const PlnOffers *offers, GString *out)
{
  const PlnOffersSpec *spec = pln_offers_spec (offers);
  append_said (offers, out);
  g_string_append_c (out, '\n');
  rep_text (table_of (offers), out);
  append_break_evens (offers, out);
  g_string_append_c (out, '\n');
  append_prices (spec, out);
}

void
rep_offers_tsv (const PlnOffers *offers, GString *out)
{
  rep_tsv (table_of (offers), out);
}

void
rep_offers_json (const PlnOffers *offers, JsonBuilder *json)
{
  const PlnOffersSpec *spec = pln_offers_spec (offers);
  const GArray *evens = pln_offers_break_evens (offers), *rows = pln_offers_rows (offers);
  rep_json_text (json, "name", spec->name.v);
  rep_currency_json (&spec->currency, &spec->exchange, &spec->exchange_date, json);
  rep_json_text (json, "date", spec->date.v);
  rep_json_table (json, "offers", table_of (offers));
  json_builder_set_member_name (json, "break_even");
  json_builder_begin_array (json);
  for (guint i = 0; i < evens->len; i++) {
    const PlnBreakEven *even = &g_array_index (evens, PlnBreakEven, i);
    json_builder_begin_object (json);
    rep_json_text (json, "own", g_array_index (rows, PlnOffer, even->own).way->name.v);
    rep_json_text (json, "rent", g_array_index (rows, PlnOffer, even->rent).way->name.v);
    if (isinf (even->runs))
      rep_json_null (json, "runs"); /* buying never pays */
    else
      rep_json_number (json, "runs", even->runs);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

char *
rep_offers_infeasible (const PlnOffers *offers)
{
  const GArray *rows = pln_offers_rows (offers);
  const PlnOffer *first = &g_array_index (rows, PlnOffer, 0);
  if (first->miss == PLN_MISS_NONE)
    return NULL;
  return g_strdup_printf ("no offer meets the limits; the cheapest, '%s', misses %s", first->way->name.v,
                          pln_miss_names[first->miss]);
}
