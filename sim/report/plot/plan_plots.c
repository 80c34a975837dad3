/* Tables that pictures of a plan are drawn from. */
#include <math.h>
#include <string.h>

#include "base/currency.h"
#include "plan-private.h"
#include "plot-private.h"
#include "report/offers.h"
#include "report/plots.h"

static void
append_number (GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_c (out, '\t');
  g_string_append (out, g_ascii_dtostr (text, sizeof text, value));
}

/* In the currency that is shown. */
static void
append_money (GString *out, double usd)
{
  append_number (out, base_currency_of (usd));
}

/* What stands before amounts, for a plot. Returned: full. */
static char *
sign_setting (void)
{
  g_autofree char *sign = rep_plot_quote (base_currency_sign ());
  return g_strconcat ("; sign=", sign, NULL);
}

gboolean
rep_plan_may_have_plots (const Pln *plan)
{
  const GArray *machines = pln_machines (plan);
  for (guint i = 0; pln_tokens (plan) > 0 && i < machines->len; i++) {
    const PlnMachine *machine = &g_array_index (machines, PlnMachine, i);
    if (machine->capital_usd > 0 || machine->rent_usd_per_s > 0)
      return TRUE;
  }
  return FALSE;
}

/* Whether its cost can stand beside others: it has a price, and a whole one. */
static gboolean
has_cost (const Pln *plan, const PlnChoiceRow *row)
{
  return row->way != PLN_ACQUISITION_NONE && !pln_is_partial (plan, row);
}

gboolean
rep_plan_has_plots (const Pln *plan, const PlnResult *result)
{
  for (guint i = 0; pln_tokens (plan) > 0 && i < result->rows->len; i++)
    if (has_cost (plan, &g_array_index (result->rows, PlnChoiceRow, i)))
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
    if (has_cost (plan, row) && (!seen[row->machine] || (front && row->front)))
      g_ptr_array_add (rows, row);
    seen[row->machine] = seen[row->machine] || has_cost (plan, row);
  }
  return rows;
}

static gint
by_cost (gconstpointer a, gconstpointer b)
{
  const PlnChoiceRow *x = *(PlnChoiceRow *const *)a, *y = *(PlnChoiceRow *const *)b;
  return x->money.total_usd < y->money.total_usd ? -1 : x->money.total_usd > y->money.total_usd;
}

static void
front_tsv (const Pln *plan, const PlnResult *result, GString *out)
{
  g_autoptr (GPtrArray) rows = chosen (plan, result, TRUE);
  g_ptr_array_sort (rows, by_cost);
  g_string_append (out, "machine\ttime_s\ttime_lo_s\ttime_hi_s\ttotal\ttotal_lo\ttotal_hi\tfront\n");
  for (guint i = 0; i < rows->len; i++) {
    const PlnChoiceRow *row = rows->pdata[i];
    double lo = row->step_time_lo_s / row->step_time_s, hi = row->step_time_hi_s / row->step_time_s;
    g_autofree char *machine = rep_plan_machine (plan, row->machine);
    g_string_append (out, machine);
    append_number (out, row->run_s);
    append_number (out, row->run_s * lo);
    append_number (out, row->run_s * hi);
    append_money (out, row->money.total_usd);
    append_money (out, row->money.total_usd * lo);
    append_money (out, row->money.total_usd * hi);
    g_string_append (out, row->front ? "\t1\n" : "\t0\n");
  }
}

/* Parts of a run's cost as bars show them; those of the purchase are its loss of value. */
enum {
  PART_NODES,
  PART_NETWORK,
  PART_STORAGE,
  PART_OTHER,
  PART_INTEREST,
  PART_SUPPORT,
  PART_SPACE,
  PART_RENT,
  PART_ENERGY,
  PART_N
};
static const char *const part_names[PART_N] = { "nodes",   "network", "storage", "other", "interest",
                                                "support", "space",   "rent",    "energy" };

static void
parts_of (const Pln *plan, const PlnChoiceRow *row, double usd[PART_N])
{
  const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
  const MdlMoney *m = &row->money;
  double own[PART_N] = { 0 };
  for (int b = 0; row->way == PLN_ACQUISITION_BUY && b < PLN_BUY_N; b++)
    own[b == PLN_BUY_NODES     ? PART_NODES
        : b < PLN_BUY_STORAGE  ? PART_NETWORK
        : b == PLN_BUY_STORAGE ? PART_STORAGE
                               : PART_OTHER] += rep_plan_bought_usd (machine, row, (PlnBuy)b);
  own[PART_INTEREST] = m->interest_usd;
  own[PART_SUPPORT] = m->support_usd;
  own[PART_SPACE] = m->colocation_usd + m->staff_usd;
  own[PART_RENT] = m->rent_usd;
  own[PART_ENERGY] = m->energy_usd;
  memcpy (usd, own, sizeof own);
}

static void
cost_tsv (const Pln *plan, const PlnResult *result, GString *out)
{
  g_autoptr (GPtrArray) rows = chosen (plan, result, FALSE);
  g_string_append (out, "machine");
  for (int p = 0; p < PART_N; p++)
    g_string_append_printf (out, "\t%s", part_names[p]);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < rows->len; i++) {
    const PlnChoiceRow *row = rows->pdata[i];
    g_autofree char *name = rep_plan_machine (plan, row->machine);
    double usd[PART_N];
    g_string_append (out, name);
    parts_of (plan, row, usd);
    for (int p = 0; p < PART_N; p++)
      append_money (out, usd[p]);
    g_string_append_c (out, '\n');
  }
}

/* "32 x hgx_b200 (200 Gb/s, 2:1) is the cheapest: $412 k, 45.6 days (35.7 to 58.8)". Returned: full. */
static char *
title_of_front (const Pln *plan, const PlnChoiceRow *row)
{
  static const char *const praise[] = { [PLN_AIM_TIME] = "is the fastest",           [PLN_AIM_COST] = "is the cheapest",
                                        [PLN_AIM_ENERGY] = "needs the least energy", [PLN_AIM_COST_PER_TOKEN] = "is the cheapest",
                                        [PLN_AIM_PARETO] = "is the fastest",         [PLN_AIM_GPUS] = "has the fewest GPUs" };
  const double days = row->run_s / 86400, lo = row->step_time_lo_s / row->step_time_s, hi = row->step_time_hi_s / row->step_time_s;
  g_autofree char *machine = rep_plan_machine (plan, row->machine), *cost = rep_money (row->money.total_usd);
  const double per = days < 3 ? 24 : 1;
  return g_strdup_printf ("%s %s: %s, %.3g %s (%.3g to %.3g)", machine, praise[pln_aim (plan)], cost, days * per,
                          days < 3 ? "hours" : "days", days * lo * per, days * hi * per);
}

/* The cheapest option's largest part. Returned: full. */
static char *
title_of_cost (const Pln *plan, const PlnResult *result, const char *period)
{
  g_autoptr (GPtrArray) rows = chosen (plan, result, FALSE);
  g_ptr_array_sort (rows, by_cost);
  const PlnChoiceRow *row = rows->pdata[0];
  double usd[PART_N];
  int most = 0;
  parts_of (plan, row, usd);
  for (int p = 1; p < PART_N; p++)
    most = usd[p] > usd[most] ? p : most;
  g_autofree char *name = rep_plan_machine (plan, row->machine), *cost = rep_money (row->money.total_usd);
  return g_strdup_printf ("%s costs least for %s: %s, of which %.0f %% is %s", name, period, cost,
                          100 * usd[most] / row->money.total_usd, part_names[most]);
}

void
rep_plan_cost_plot (const Pln *plan, const PlnResult *result, const char *period, GPtrArray *plots)
{
  if (!rep_plan_has_plots (plan, result))
    return;
  GString *cost = g_string_new (NULL);
  cost_tsv (plan, result, cost);
  g_autofree char *parts = title_of_cost (plan, result, period);
  rep_plots_add (plots, "cost", "cost.gp", "Cost of the best layout of each cluster option, by part.", parts, cost,
                 sign_setting ());
}

void
rep_plan_plots (const Pln *plan, const PlnResult *result, GPtrArray *plots)
{
  GString *front = g_string_new (NULL);
  front_tsv (plan, result, front);
  g_autofree char *against = title_of_front (plan, &g_array_index (result->rows, PlnChoiceRow, 0));
  rep_plots_add (plots, "front", "front.gp", "Time and cost of the best layout of each cluster option, with error bands.", against,
                 front, sign_setting ());
  rep_plan_cost_plot (plan, result, "this run", plots);
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
      g_string_append_printf (out, "\t%s", g_ascii_formatd (text, sizeof text, "%.9g", base_currency_of (parts[k])));
    }
    g_string_append_c (out, '\n');
  }
}

void
rep_offers_plot (const PlnOffers *offers, GPtrArray *plots)
{
  const PlnOffersSpec *spec = pln_offers_spec (offers);
  GString *tsv = g_string_new (NULL);
  offers_tsv (offers, tsv);
  const GArray *rows = pln_offers_rows (offers);
  const PlnOffer *least = &g_array_index (rows, PlnOffer, 0);
  for (guint i = 1; i < rows->len; i++)
    if (g_array_index (rows, PlnOffer, i).money.total_usd < least->money.total_usd)
      least = &g_array_index (rows, PlnOffer, i);
  g_autofree char *cost = rep_money (least->money.total_usd),
                  *title = g_strdup_printf ("%s: %s costs least: %s", spec->name.v, least->way->name.v, cost);
  g_autofree char *sign = sign_setting ();
  rep_plots_add (plots, "cost", "cost.gp", "Cost of each offer, by part.", title, tsv,
                 g_strconcat ("; parts='bought rent once energy'", sign, NULL));
}
