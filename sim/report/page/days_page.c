/* Sections of a report: what failures leave of days, and what would help. */
#include "html-private.h"
#include "json-private.h"
#include "page-private.h"
#include "run-private.h"

#define HOUR_s 3600.0

void
rep_goodput_html (const Gdp *goodput, GString *html)
{
  g_autofree char *useful = g_strdup_printf ("%.2f %%", goodput->goodput.mean * 100),
                  *band = g_strdup_printf ("%.2f to %.2f of %u runs; closed form %.2f", goodput->goodput.lo * 100,
                                           goodput->goodput.hi * 100, goodput->runs, goodput->closed * 100),
                  *stops = g_strdup_printf ("%.4g", goodput->stops.mean), *gap = rep_quantity (goodput->mttf_s, BASE_DIM_TIME),
                  *one_in = g_strdup_printf ("one in %s", gap),
                  *every = g_strdup_printf ("%.0f steps", goodput->checkpoint.every_steps),
                  *best = g_strdup_printf ("best: %.0f, %.2f %%", goodput->best.every_steps, goodput->best.goodput.mean * 100),
                  *days = g_strdup_printf ("%.5g", goodput->wall_s.mean / (24 * HOUR_s));
  g_autoptr (BaseTable) lost = rep_goodput_lost (goodput), causes = rep_goodput_causes (goodput),
                        curve = rep_goodput_curve (goodput);
  rep_html_heading (html, "Goodput: failures and checkpoints");
  rep_html_facts_open (html);
  rep_html_fact (html, "goodput", useful, band);
  rep_html_fact (html, "days", days, NULL);
  rep_html_fact (html, "failures that stop the job", stops, one_in);
  rep_html_fact (html, "checkpoint interval", every, best);
  rep_html_fact (html, "weakest source", base_source_name (goodput->provenance), NULL);
  rep_html_facts_close (html);
  rep_html_table (html, lost);
  rep_html_heading (html, "Failures by cause");
  rep_html_table (html, causes);
  rep_html_heading (html, "Goodput by checkpoint interval");
  rep_html_table (html, curve);
}

void
rep_advice_html (const GArray *advice, GString *html)
{
  for (TrnChangeKind kind = 0; kind < TRN_CHANGE_KINDS; kind++) {
    g_autoptr (BaseTable) table = rep_advice_table (advice, kind);
    g_autofree char *title = rep_advice_title (advice, kind);
    if (base_table_n_rows (table) > 0)
      rep_html_paragraph (html, NULL, title);
    rep_html_table (html, table);
  }
}
