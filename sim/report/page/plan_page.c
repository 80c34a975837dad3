/* A plan's answer on a page to share: values to remember, tables that fit a screen, why the rest was rejected. */
#include <math.h>
#include <string.h>

#include "base/currency.h"
#include "base/table.h"
#include "html-private.h"
#include "plan-private.h"
#include "run-private.h"

#define DAY_S         86400.0
#define MOST_MACHINES 40u

static const BaseColumn columns[] = {
  { "rank", "#", BASE_CELL_INTEGER, 0, NULL, 0 },
  { "machine", "cluster option", BASE_CELL_TEXT, 0, NULL, 0 },
  { "cut", "parallel layout", BASE_CELL_TEXT, 0, NULL, 0 },
  { "told", "against #1", BASE_CELL_TEXT, 0, NULL, 0 },
  { "step_time_s", "step (s)", BASE_CELL_NUMBER, 0, "%.3f", 0 },
  { "simulated", "method", BASE_CELL_TEXT, 0, NULL, 0 },
  { "mfu", "MFU (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { "memory_B", "memory (GiB)", BASE_CELL_NUMBER, 1.0 / (1 << 30), "%.1f", 0 },
  { "goodput", "goodput (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { "time_s", "days", BASE_CELL_NUMBER, 1 / DAY_S, "%.2f", 0 },
  { "capital_usd", "to buy (k$)", BASE_CELL_NUMBER, 1e-3, "%.5g", 0 },
  { "own_usd", "run cost, own (k$)", BASE_CELL_NUMBER, 1e-3, "%.4g", 0 },
  { "rent_usd", "run cost, rent (k$)", BASE_CELL_NUMBER, 1e-3, "%.4g", 0 },
  { "power_W", "power (kW)", BASE_CELL_NUMBER, 1e-3, "%.0f", 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static void
add_row (const Pln *plan, const PlnChoiceRow *row, guint rank, BaseTable *table)
{
  const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
  gboolean run = pln_tokens (plan) > 0;
  double none = (double)NAN;
  g_autofree char *name = rep_plan_machine (plan, row->machine), *cut = rep_plan_layout (&row->query, FALSE);
  base_table_row (table);
  base_table_integer (table, "rank", rank);
  base_table_text (table, "machine", name);
  base_table_text (table, "cut", cut);
  base_table_text (table, "told", rank == 1 ? "" : row->alike ? "within the error" : "distinguishable");
  base_table_number (table, "step_time_s", row->step_time_s);
  base_table_text (table, "simulated", row->simulated ? "simulated" : "estimated");
  base_table_number (table, "mfu", row->step.mfu);
  base_table_number (table, "memory_B", row->step.memory_B);
  base_table_number (table, "goodput", machine->fails ? row->goodput : none);
  base_table_number (table, "time_s", run ? row->run_s : none);
  base_table_number (table, "capital_usd", rep_plan_capex_usd (plan, machine));
  base_table_number (table, "own_usd", rep_plan_run_usd (plan, row, PLN_ACQUISITION_BUY));
  base_table_number (table, "rent_usd", rep_plan_run_usd (plan, row, PLN_ACQUISITION_RENT));
  base_table_number (table, "power_W", row->power_W);
}

/* The best row of each machine, as they rank. Returned: full. */
static BaseTable *
machines_table (const Pln *plan, const PlnResult *result)
{
  BaseTable *table = base_table_new (columns);
  g_autofree gboolean *seen = g_new0 (gboolean, pln_machines (plan)->len);
  guint n = 0;
  for (guint i = 0; i < result->rows->len && n < MOST_MACHINES; i++) {
    const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, i);
    if (seen[row->machine])
      continue;
    seen[row->machine] = TRUE;
    n++;
    add_row (plan, row, n, table);
  }
  return table;
}

static const BaseColumn out_columns[] = {
  { "why", "reason", BASE_CELL_TEXT, 0, NULL, 0 },
  { "count", "configurations", BASE_CELL_NUMBER, 0, "%.0f", 0 },
  { "over", "nearest over by (%)", BASE_CELL_NUMBER, 100, "%.3g", 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static BaseTable *
out_table (const PlnResult *result)
{
  BaseTable *table = base_table_new (out_columns);
  for (int o = 0; o < PLN_REJECTED_N; o++) {
    if (result->out[o] == 0)
      continue;
    base_table_row (table);
    base_table_text (table, "why", pln_out_texts[o]);
    base_table_number (table, "count", (double)result->out[o]);
    base_table_number (table, "over", o >= PLN_REJECTED_MEMORY ? result->over[o] : (double)NAN);
  }
  return table;
}

static void
add_fact (GString *html, const char *name, char *value, char *more)
{
  rep_html_fact (html, name, value, more);
  g_free (value);
  g_free (more);
}

void
rep_plan_html_answer (const Pln *plan, const PlnResult *result, GString *html)
{
  g_auto (GStrv) verdict = rep_plan_verdict (plan, result);
  for (char **sentence = verdict; *sentence != NULL; sentence++)
    rep_html_paragraph (html, sentence == verdict ? "lead" : NULL, *sentence);
  const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, 0);
  const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
  const double lo = row->step_time_lo_s / row->step_time_s, hi = row->step_time_hi_s / row->step_time_s;
  gboolean run = pln_tokens (plan) > 0;
  rep_html_facts_open (html);
  add_fact (html, "cluster option", rep_plan_machine (plan, row->machine), g_strdup_printf ("%u GPUs", machine->gpus));
  add_fact (html, "parallel layout", rep_plan_layout (&row->query, FALSE), NULL);
  if (run)
    add_fact (html, "time", g_strdup_printf ("%.1f days", row->run_s / DAY_S),
              g_strdup_printf ("band: %.1f to %.1f", row->run_s * lo / DAY_S, row->run_s * hi / DAY_S));
  add_fact (html, "step", g_strdup_printf ("%.4g s", row->step_time_s),
            g_strdup_printf ("band: %.4g to %.4g; %s", row->step_time_lo_s, row->step_time_hi_s,
                             row->simulated ? "simulated" : "estimated"));
  if (run && !isnan (rep_plan_capex_usd (plan, machine)))
    add_fact (html, "cash to buy", rep_money (machine->capital_usd),
              pln_unpriced_part (plan, row->machine, PLN_ACQUISITION_BUY) != NULL ? g_strdup ("at least: its network has no price")
                                                                                  : NULL);
  if (run && row->way != PLN_ACQUISITION_NONE) {
    g_autofree char *low = rep_money (row->money.total_usd * lo), *high = rep_money (row->money.total_usd * hi);
    add_fact (html, row->way == PLN_ACQUISITION_BUY ? "run cost, own" : "run cost, rent", rep_money (row->money.total_usd),
              g_strdup_printf ("band: %s to %s", low, high));
    const PlnAcquisition other = row->way == PLN_ACQUISITION_BUY ? PLN_ACQUISITION_RENT : PLN_ACQUISITION_BUY;
    const double other_usd = rep_plan_run_usd (plan, row, other);
    if (!isnan (other_usd))
      add_fact (html, other == PLN_ACQUISITION_BUY ? "run cost, own" : "run cost, rent", rep_money (other_usd), NULL);
    add_fact (html, "per million tokens",
              g_strdup_printf ("%s%.3f", base_currency_sign (), base_currency_of (row->usd_per_token) * 1e6), NULL);
  }
  add_fact (html, "MFU", g_strdup_printf ("%.1f %%", row->step.mfu * 100), NULL);
  add_fact (html, "memory of the fullest GPU", g_strdup_printf ("%.1f GiB", row->step.memory_B / (1 << 30)),
            row->step.capacity_B > 0
                ? g_strdup_printf ("of %.1f GiB%s", row->step.capacity_B / (1 << 30), rep_plan_is_tight (row) ? ": tight" : "")
                : NULL);
  add_fact (html, "power, mean", g_strdup_printf ("%.0f kW", row->power_W * 1e-3),
            run ? g_strdup_printf ("%.4g MWh in total", row->money.energy_J / 3.6e9) : NULL);
  rep_html_facts_close (html);
}

void
rep_plan_html_order (const Pln *plan, const PlnResult *result, GString *html)
{
  g_autoptr (BaseTable) rivals = rep_plan_rivals (plan, result, MOST_MACHINES);
  if (base_table_n_rows (rivals) > 0) {
    g_autofree char *what = g_strdup_printf (
        "How much more each option takes than the recommended one (%s), its 95 %% range, and the "
        "chance that it is better. %s",
        rep_plan_aim (plan),
        pln_aim (plan) == PLN_AIM_COST || pln_aim (plan) == PLN_AIM_COST_PER_TOKEN ? "Errors of prices are included."
                                                                                   : "Prices do not decide here.");
    rep_html_heading (html, "How certain the ranking is");
    rep_html_paragraph (html, "soft", what);
    rep_html_table (html, rivals);
  }
  g_autoptr (BaseTable) flips = rep_plan_flips (plan, result, MOST_MACHINES);
  if (base_table_n_rows (flips) > 0) {
    rep_html_heading (html, "Prices at which the order changes");
    rep_html_paragraph (html, "soft",
                        "The recommended option stays first until one price passes its limit, all others as they are.");
    rep_html_table (html, flips);
  }
}

void
rep_plan_html_tables (const Pln *plan, const PlnResult *result, guint most, GString *html)
{
  g_autoptr (BaseTable) machines = machines_table (plan, result), ranked = base_table_new (columns), out = out_table (result);
  for (guint i = 0; i < MIN (most, result->rows->len); i++)
    add_row (plan, &g_array_index (result->rows, PlnChoiceRow, i), i + 1, ranked);
  g_autofree char *note = g_strdup_printf ("%u cluster options, %" G_GUINT64_FORMAT " configurations; %" G_GUINT64_FORMAT
                                           " meet the goal. Simulated ones come first. Within the error: the model cannot "
                                           "distinguish the option from the recommended one.",
                                           pln_machines (plan)->len, result->n_asked, result->n_met);
  rep_html_heading (html, "The best of each cluster option");
  rep_html_paragraph (html, "soft", note);
  rep_html_table (html, machines);
  rep_plan_html_order (plan, result, html);
  rep_html_heading (html, "Best configurations");
  rep_html_table (html, ranked);
  if (base_table_n_rows (out) > 0) {
    rep_html_heading (html, "Rejected configurations");
    rep_html_table (html, out);
  }
}
