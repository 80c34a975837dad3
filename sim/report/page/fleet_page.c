/* The answer of a plan for a service on a page to share. */
#include <math.h>

#include "html-private.h"
#include "json-private.h"
#include "page-private.h"
#include "plan-private.h"

static void
add_quantity (GString *html, const char *name, double value, BaseDim dim, const char *more)
{
  g_autofree char *text = rep_quantity (value, dim);
  if (isfinite (value))
    rep_html_fact (html, name, text, more);
}

void
rep_fleet_html_answer (const PlnFleet *fleet, const PlnFleetResult *result, GString *html)
{
  const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, 0);
  const char *how = row->simulated ? "simulated" : "estimated";
  g_autofree char *replicas = rep_fleet_replicas (row), *gpus = g_strdup_printf ("%u GPUs", row->gpus),
                  *option = g_strdup_printf ("%u x %s", row->nodes, pln_fleet_topology (fleet, row->machine)),
                  *mtok = rep_money_fine (row->usd_per_Mtok, 3), *good = g_strdup_printf ("%.1f %%", 100 * row->good),
                  *tokens = g_strdup_printf ("%.4g", row->tokens_per_s_gpu), *buy = rep_quantity (row->capital_usd, BASE_DIM_MONEY),
                  *cash = g_strdup_printf ("after %s of cash", buy);
  g_autoptr (GPtrArray) said = rep_fleet_sentences (fleet, result);
  for (guint i = 0; i < said->len; i++)
    rep_html_paragraph (html, i == 0 ? "lead" : NULL, said->pdata[i]);
  rep_html_facts_open (html);
  rep_html_fact (html, "cluster option", option, gpus);
  rep_html_fact (html, row->apart ? "replicas, prefill : decode" : "replicas", replicas, NULL);
  add_quantity (html, "time to first token", row->ttft_s, BASE_DIM_TIME, how);
  add_quantity (html, "time per output token", row->tpot_s, BASE_DIM_TIME, how);
  if (row->simulated)
    rep_html_fact (html, "requests within the SLO", good, how);
  if (pln_fleet_basis (fleet) != PLN_ACQUISITION_NONE) {
    rep_html_fact (html, "per million output tokens", mtok, NULL);
    add_quantity (html, "a month, rented", row->rent_usd, BASE_DIM_MONEY, NULL);
    add_quantity (html, "a month, owned", row->own_usd, BASE_DIM_MONEY, cash);
  }
  rep_html_fact (html, "output tokens/s of a GPU", tokens, NULL);
  add_quantity (html, "power", row->power_W, BASE_DIM_POWER, NULL);
  rep_html_facts_close (html);
}

void
rep_fleet_html_tables (const PlnFleet *fleet, const PlnFleetResult *result, const RepFleetMoney *money, guint most, GString *html)
{
  g_autoptr (BaseTable) rows = rep_fleet_table (fleet, result, most);
  rep_html_heading (html, "Options");
  rep_html_paragraph (
      html, "soft", "By engine: simulated, times at the percentile of the SLO. By formula: estimates, means. A month has 30 days.");
  rep_html_table (html, rows);
  if (pln_basis (money->plan) != PLN_ACQUISITION_NONE)
    rep_plan_html_order (money->plan, money->result, html);
  if (money->capacity != NULL) {
    g_autoptr (BaseTable) capacity = rep_fleet_capacity (fleet, money->capacity);
    rep_html_heading (html, "More and fewer requests");
    rep_html_paragraph (html, "soft", "The recommended option's layout, estimated: how many nodes other loads need.");
    rep_html_table (html, capacity);
  }
  g_autoptr (GPtrArray) misses = rep_fleet_misses (fleet, result);
  if (misses->len > 0)
    rep_html_heading (html, "Options that do not meet the goal");
  for (guint i = 0; i < misses->len; i++)
    rep_html_paragraph (html, NULL, misses->pdata[i]);
  const PlnFleetRow *first = &g_array_index (result->rows, PlnFleetRow, 0);
  g_autoptr (GPtrArray) commands = pln_fleet_commands (fleet, first);
  rep_html_heading (html, "Commands");
  for (guint i = 0; i < commands->len; i++) {
    g_autofree char *pool = rep_fleet_pool (first, i), *text = g_strdup_printf ("%s, started by:", pool);
    rep_html_paragraph (html, "soft", text);
    rep_html_pre (html, commands->pdata[i]);
  }
  g_autofree char *checkpoint = pln_fleet_checkpoint (fleet, first);
  if (checkpoint != NULL)
    rep_html_paragraph (html, "soft", checkpoint);
}
