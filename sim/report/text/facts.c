/* Facts of a page: what each kind of result comes to, as a box a value. */
#include "facts-private.h"

#include <math.h>

#include "html-private.h"
#include "json-private.h"
#include "report/run.h"
#include "scenario/scenario.h"

void
rep_html_quantity (GString *html, const char *name, double value, BaseDim dim, const char *more)
{
  g_autofree char *text = rep_quantity (value, dim);
  rep_html_fact (html, name, text, more);
}

static void
add_time (GString *html, const char *name, double time_s, double lo_s, double hi_s)
{
  g_autofree char *lo = rep_quantity (lo_s, BASE_DIM_TIME), *hi = rep_quantity (hi_s, BASE_DIM_TIME);
  g_autofree char *band = lo_s < hi_s ? g_strdup_printf ("band: %s to %s", lo, hi) : NULL;
  rep_html_quantity (html, name, time_s, BASE_DIM_TIME, band);
}

static void
add_percent (GString *html, const char *name, double value, const char *more)
{
  g_autofree char *text = isfinite (value) ? g_strdup_printf ("%.1f %%", value * 100) : g_strdup ("-");
  rep_html_fact (html, name, text, more);
}

void
rep_training_facts (const void *of, GString *html)
{
  const TrnResult *t = of;
  add_time (html, "step time", t->step_time_s, t->step_time_lo_s, t->step_time_hi_s);
  rep_html_fact (html, "bottleneck", t->bound_by, NULL);
  if (t->has_model) {
    const double rate = t->is_net ? t->samples_per_s : t->tokens_per_s;
    g_autofree char *tokens = g_strdup_printf ("%.0f %s", rate, t->is_net ? "samples/s" : "tokens/s"),
                    *each = g_strdup_printf ("%.0f per GPU", rate / t->n_ranks),
                    *peak = g_strdup_printf ("of the %s peak; %.4g TFLOP/s per GPU", t->precision, t->model_flop_per_s * 1e-12);
    rep_html_fact (html, "throughput", tokens, each);
    add_percent (html, "MFU", t->mfu, peak);
  }
  if (t->has_model) {
    g_autofree char *row = rep_efficiency_row (&t->efficiency);
    add_percent (html, "framework's overhead", t->efficiency.overhead_s / t->step_time_s, row);
  }
  if (t->memory != NULL) {
    g_autofree char *has = rep_quantity (t->fullest.capacity_B, BASE_DIM_BYTES);
    g_autofree char *verdict =
        t->fullest.capacity_B > 0 ? g_strdup_printf ("of %s: %s", has, t->fullest.fits ? "fits" : "DOES NOT FIT") : NULL;
    rep_html_quantity (html, "memory of the fullest GPU", t->fullest.total_B, BASE_DIM_BYTES, verdict);
  }
  g_autofree char *ratio = isfinite (t->comm_compute_ratio) ? g_strdup_printf ("%.3g", t->comm_compute_ratio) : g_strdup ("-"),
                  *exposed =
                      isfinite (t->exposed_fraction) ? g_strdup_printf ("%.1f %% of it exposed", t->exposed_fraction * 100) : NULL;
  rep_html_fact (html, "communication / compute", ratio, exposed);
  if (t->loader.set)
    rep_html_quantity (html, "a step waits for input", t->loader.stall_s, BASE_DIM_TIME,
                       t->loader.starved_by[0] != '\0' ? t->loader.starved_by : NULL);
  if (t->checkpoint.set) {
    g_autofree char *drain = rep_quantity (t->checkpoint.drain_s, BASE_DIM_TIME),
                    *restore = rep_quantity (t->checkpoint.restore_s, BASE_DIM_TIME),
                    *more = g_strdup_printf ("drain %s, restore %s; bottleneck: %s", drain, restore, t->checkpoint.bound_by);
    rep_html_quantity (html, "a checkpoint stops training for", t->checkpoint.stall_s, BASE_DIM_TIME, more);
  }
  rep_html_fact (html, "weakest source", base_source_name (t->provenance), NULL);
}

void
rep_coll_facts (const void *of, GString *html)
{
  const ColAnswer *coll = &((const ScnResult *)of)->coll;
  g_autofree char *algo = g_strdup_printf ("%s, %s", base_name (mdl_algo_names, (int)coll->algo),
                                           base_name (mdl_proto_names, (int)coll->proto)),
                  *ranks = g_strdup_printf ("%u ranks on %u node%s", coll->n_ranks, coll->n_nodes, coll->n_nodes == 1 ? "" : "s");
  add_time (html, "time", coll->time_s, coll->time_lo_s, coll->time_hi_s);
  rep_html_quantity (html, "bus bandwidth", coll->busbw_Bps, BASE_DIM_BANDWIDTH, NULL);
  rep_html_fact (html, "algorithm, protocol", algo, ranks);
  rep_html_fact (html, "bottleneck", coll->bound_by, NULL);
  rep_html_fact (html, "weakest source", base_source_name (coll->provenance), NULL);
}

void
rep_io_facts (const void *of, GString *html)
{
  const StoIoResult *io = of;
  g_autofree char *tier = g_strdup_printf ("%s, %s", io->tier, io->tier_kind),
                  *requests = g_strdup_printf ("%.4g requests/s", io->iops);
  rep_html_fact (html, io->op == MDL_IO_READ ? "reads" : "writes", tier, io->path);
  add_time (html, "time", io->time_s, io->time_lo_s, io->time_hi_s);
  rep_html_quantity (html, "rate", io->rate_Bps, BASE_DIM_BANDWIDTH, requests);
  rep_html_fact (html, "bottleneck", io->bound_by, io->bottleneck);
  rep_html_fact (html, "weakest source", base_source_name (io->provenance), NULL);
}

void
rep_transfer_facts (const void *of, GString *html)
{
  const StoTransferResult *t = of;
  add_time (html, "time", t->time_s, t->time_lo_s, t->time_hi_s);
  rep_html_quantity (html, "rate", t->rate_Bps, BASE_DIM_BANDWIDTH, t->path);
  rep_html_fact (html, "bottleneck", t->bound_by, t->bottleneck);
  rep_html_fact (html, "weakest source", base_source_name (t->provenance), NULL);
}
