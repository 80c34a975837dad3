#include "report/offers.h"

#include <math.h>

#include "json-private.h"

#define DAY_S 86400.0

static const BaseColumn columns[] = {
  { "name", "offer", BASE_CELL_TEXT, 0, NULL },
  { "machines", "machines", BASE_CELL_INTEGER, 0, NULL },
  { "way", "way", BASE_CELL_TEXT, 0, NULL },
  { "time_s", "days", BASE_CELL_NUMBER, 1 / DAY_S, "%.4g" },
  { "capital_usd", "bought ($)", BASE_CELL_NUMBER, 0, "%.2f" },
  { "rent_usd", "rent ($)", BASE_CELL_NUMBER, 0, "%.2f" },
  { "once_usd", "once ($)", BASE_CELL_NUMBER, 0, "%.2f" },
  { "power_W", "power (kW)", BASE_CELL_NUMBER, 1e-3, "%.4g" },
  { "energy_J", "energy (kWh)", BASE_CELL_NUMBER, 1 / 3.6e6, "%.6g" },
  { "energy_usd", "energy ($)", BASE_CELL_NUMBER, 0, "%.2f" },
  { "total_usd", "cost ($)", BASE_CELL_NUMBER, 0, "%.2f" },
  { "usd_per_token", "$/M tokens", BASE_CELL_NUMBER, 1e6, "%.4g" },
  { "over_least", "over the least (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "misses", "misses", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
table_of (const PlnOffers *offers)
{
  const GArray *rows = pln_offers_rows (offers);
  const double none = (double)NAN;
  double least_usd = HUGE_VAL;
  BaseTable *table = base_table_new (columns);
  for (guint i = 0; i < rows->len; i++)
    least_usd = fmin (least_usd, g_array_index (rows, PlnOffer, i).money.total_usd);
  for (guint i = 0; i < rows->len; i++) {
    const PlnOffer *offer = &g_array_index (rows, PlnOffer, i);
    base_table_row (table);
    base_table_text (table, "name", offer->way->name.v);
    base_table_integer (table, "machines", (gint64)offer->way->machines.v);
    base_table_text (table, "way", offer->owned ? "own" : "rent");
    base_table_number (table, "time_s", offer->way->time.v);
    base_table_number (table, "capital_usd", offer->owned ? offer->money.capital_usd : none);
    base_table_number (table, "rent_usd", offer->owned ? none : offer->money.rent_usd);
    base_table_number (table, "once_usd", offer->once_usd);
    base_table_number (table, "power_W", offer->power_W);
    base_table_number (table, "energy_J", isnan (offer->power_W) ? none : offer->money.energy_J);
    base_table_number (table, "energy_usd", offer->owned ? offer->money.energy_usd : none);
    base_table_number (table, "total_usd", offer->money.total_usd);
    base_table_number (table, "usd_per_token", offer->usd_per_token);
    base_table_number (table, "over_least", least_usd > 0 ? offer->money.total_usd / least_usd - 1 : none);
    base_table_text (table, "misses", pln_miss_names[offer->miss]);
  }
  return table;
}

/* Whose prices, and how many of them nobody has vouched for. */
static void
append_prices (const PlnOffersSpec *spec, GString *out)
{
  guint figures = 0, assumed = 0;
  const BaseNum *of_all[] = { &spec->electricity, &spec->amortisation };
  for (guint i = 0; i < G_N_ELEMENTS (of_all); i++) {
    figures += of_all[i]->set ? 1 : 0;
    assumed += of_all[i]->set && of_all[i]->source == BASE_SOURCE_ASSUMED ? 1 : 0;
  }
  for (guint i = 0; i < spec->ways.n; i++) {
    const PlnWaySpec *way = BASE_LIST_AT (spec->ways, PlnWaySpec, i);
    const BaseNum *own[] = { &way->price, &way->rent, &way->once, &way->power, &way->time, &way->amortisation };
    for (guint k = 0; k < G_N_ELEMENTS (own); k++) {
      const gboolean told = own[k]->set && own[k]->mark.file != NULL;
      figures += told ? 1 : 0;
      assumed += told && own[k]->source == BASE_SOURCE_ASSUMED ? 1 : 0;
    }
  }
  g_autofree char *electricity = rep_quantity (spec->electricity.v, BASE_DIM_MONEY_PER_ENERGY);
  g_string_append_printf (out, "# prices in %s (%s): %u figures, %u of them assumed; electricity %s, PUE %g\n", spec->currency.v,
                          spec->date.v, figures, assumed, spec->electricity.set ? electricity : "not priced", spec->pue.v);
  if (spec->amortisation.set)
    g_string_append_printf (out, "# what is bought is paid over %.4g days, and used for other work in the rest of them\n",
                            spec->amortisation.v / DAY_S);
  else
    g_string_append (out, "# what is bought is paid by this work alone, and worth nothing after it\n");
}

static void
append_break_evens (const PlnOffers *offers, GString *out)
{
  const GArray *evens = pln_offers_break_evens (offers), *rows = pln_offers_rows (offers);
  if (evens->len > 0)
    g_string_append (out, "\n# the same work over and over, one after the other: from how many times on buying costs less\n");
  for (guint i = 0; i < evens->len; i++) {
    const PlnBreakEven *even = &g_array_index (evens, PlnBreakEven, i);
    const PlnOffer *own = &g_array_index (rows, PlnOffer, even->own), *rent = &g_array_index (rows, PlnOffer, even->rent);
    g_string_append_printf (out, "%s against %s: ", own->way->name.v, rent->way->name.v);
    if (isinf (even->runs))
      g_string_append (out, "never, its energy costs more than the rent\n");
    else
      g_string_append_printf (out, "%.4g times, %.4g days of its own\n", even->runs, even->runs * own->way->time.v / DAY_S);
  }
}

void
rep_offers_text (const PlnOffers *offers, GString *out)
{
  const PlnOffersSpec *spec = pln_offers_spec (offers);
  append_prices (spec, out);
  rep_text (table_of (offers), out);
  append_break_evens (offers, out);
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
  rep_json_text (json, "currency", spec->currency.v);
  rep_json_text (json, "date", spec->date.v);
  rep_json_table (json, "offers", table_of (offers));
  json_builder_set_member_name (json, "break_even");
  json_builder_begin_array (json);
  for (guint i = 0; i < evens->len; i++) {
    const PlnBreakEven *even = &g_array_index (evens, PlnBreakEven, i);
    json_builder_begin_object (json);
    rep_json_text (json, "own", g_array_index (rows, PlnOffer, even->own).way->name.v);
    rep_json_text (json, "rent", g_array_index (rows, PlnOffer, even->rent).way->name.v);
    rep_json_number (json, "runs", even->runs);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

void
rep_offers_cost_tsv (const PlnOffers *offers, GString *out)
{
  const GArray *rows = pln_offers_rows (offers);
  g_string_append (out, "machine\tbought\trent\tonce\tenergy\n");
  for (guint i = 0; i < rows->len; i++) {
    const PlnOffer *offer = &g_array_index (rows, PlnOffer, i);
    const double parts[] = { offer->money.capital_usd, offer->money.rent_usd, offer->once_usd, offer->money.energy_usd };
    g_autofree char *name = g_utf8_make_valid (offer->way->name.v, -1);
    g_string_append (out, g_strdelimit (name, "\t\r\n", ' '));
    for (guint k = 0; k < G_N_ELEMENTS (parts); k++) {
      char text[G_ASCII_DTOSTR_BUF_SIZE];
      g_string_append_printf (out, "\t%s", g_ascii_formatd (text, sizeof text, "%.9g", parts[k]));
    }
    g_string_append_c (out, '\n');
  }
}

char *
rep_offers_infeasible (const PlnOffers *offers)
{
  const GArray *rows = pln_offers_rows (offers);
  const PlnOffer *first = &g_array_index (rows, PlnOffer, 0);
  if (first->miss == PLN_MISS_NONE)
    return NULL;
  return g_strdup_printf ("no offer keeps to the limits; the cheapest, '%s', misses the %s", first->way->name.v,
                          pln_miss_names[first->miss]);
}
