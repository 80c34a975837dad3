/* Tables that pictures of a plan are drawn from. */
#include <math.h>

#include "plan-private.h"
#include "report/offers.h"
#include "report/pictures.h"

static void
append_number (GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_c (out, '\t');
  g_string_append (out, g_ascii_dtostr (text, sizeof text, value));
}

gboolean
rep_plan_has_pictures (const Pln *plan, const PlnResult *result)
{
  for (guint i = 0; pln_tokens (plan) > 0 && i < result->rows->len; i++)
    if (g_array_index (result->rows, PlnChoiceRow, i).way != PLN_WAY_NONE)
      return TRUE;
  return FALSE;
}

/* The best row of each machine, as they are ranked, and with `front` those of the front beside. Returned: full, PlnChoiceRow *. */
static GPtrArray *
chosen (const Pln *plan, const PlnResult *result, gboolean front)
{
  g_autofree gboolean *seen = g_new0 (gboolean, pln_machines (plan)->len);
  GPtrArray *rows = g_ptr_array_new ();
  for (guint i = 0; i < result->rows->len; i++) {
    PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, i);
    if (row->way != PLN_WAY_NONE && (!seen[row->machine] || (front && row->front)))
      g_ptr_array_add (rows, row);
    seen[row->machine] = seen[row->machine] || row->way != PLN_WAY_NONE;
  }
  return rows;
}

static gint
by_time (gconstpointer a, gconstpointer b)
{
  const PlnChoiceRow *x = *(PlnChoiceRow *const *)a, *y = *(PlnChoiceRow *const *)b;
  return x->run_s < y->run_s ? -1 : x->run_s > y->run_s;
}

static void
front_tsv (const Pln *plan, const PlnResult *result, GString *out)
{
  g_autoptr (GPtrArray) rows = chosen (plan, result, TRUE);
  g_ptr_array_sort (rows, by_time);
  g_string_append (out, "machine\ttime_s\ttime_lo_s\ttime_hi_s\ttotal_usd\ttotal_lo_usd\ttotal_hi_usd\tfront\n");
  for (guint i = 0; i < rows->len; i++) {
    const PlnChoiceRow *row = rows->pdata[i];
    double lo = row->step_time_lo_s / row->step_time_s, hi = row->step_time_hi_s / row->step_time_s;
    g_autofree char *machine = rep_plan_machine (plan, row->machine);
    g_string_append (out, machine);
    append_number (out, row->run_s);
    append_number (out, row->run_s * lo);
    append_number (out, row->run_s * hi);
    append_number (out, row->money.total_usd);
    append_number (out, row->money.total_usd * lo);
    append_number (out, row->money.total_usd * hi);
    g_string_append (out, row->front ? "\t1\n" : "\t0\n");
  }
}

static void
cost_tsv (const Pln *plan, const PlnResult *result, GString *out)
{
  g_autoptr (GPtrArray) rows = chosen (plan, result, FALSE);
  g_string_append (out, "machine");
  for (int b = 0; b < PLN_BUY_N; b++)
    g_string_append_printf (out, "\t%s", pln_buy_names[b]);
  g_string_append (out, "\trent\tenergy\n");
  for (guint i = 0; i < rows->len; i++) {
    const PlnChoiceRow *row = rows->pdata[i];
    const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
    g_autofree char *name = rep_plan_machine (plan, row->machine);
    g_string_append (out, name);
    for (int b = 0; b < PLN_BUY_N; b++) {
      double usd = rep_plan_bought_usd (machine, row, (PlnBuy)b);
      append_number (out, isnan (usd) ? 0 : usd);
    }
    append_number (out, row->money.rent_usd);
    append_number (out, row->money.energy_usd);
    g_string_append_c (out, '\n');
  }
}

void
rep_plan_pictures (const Pln *plan, const PlnResult *result, GPtrArray *pictures)
{
  GString *front = g_string_new (NULL), *cost = g_string_new (NULL);
  front_tsv (plan, result, front);
  cost_tsv (plan, result, cost);
  g_autofree char *against = g_strdup_printf ("%s: time against cost", pln_name (plan)),
                  *parts = g_strdup_printf ("%s: what the best of each machine costs", pln_name (plan));
  rep_pictures_add (pictures, "front", "front.gp", "Time against cost: the best of each machine, its error band, and the front.",
                    against, front, NULL);
  rep_pictures_add (pictures, "cost", "cost.gp", "What the best of each machine costs, by part.", parts, cost, NULL);
}

/* ---- offers ---- */

static void
offers_tsv (const PlnOffers *offers, GString *out)
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

void
rep_offers_picture (const PlnOffers *offers, GPtrArray *pictures)
{
  const PlnOffersSpec *spec = pln_offers_spec (offers);
  GString *tsv = g_string_new (NULL);
  offers_tsv (offers, tsv);
  g_autofree char *title =
      spec->description.v != NULL ? g_strdup_printf ("%s: %s", spec->name.v, spec->description.v) : g_strdup (spec->name.v);
  rep_pictures_add (pictures, "cost", "cost.gp", "What each offer costs, by part.", title, tsv,
                    g_strdup ("; parts='bought rent once energy'"));
}
