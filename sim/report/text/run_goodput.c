/* What failures and checkpoints leave of a training run. */
#include <math.h>

#include "html-private.h"
#include "json-private.h"
#include "report/run.h"
#include "run-private.h"

#define HOUR_s 3600.0

static const BaseColumn lost_columns[] = {
  { "part", "part", BASE_CELL_TEXT, 0, NULL },
  { "time_s", "hours of a run", BASE_CELL_NUMBER, 1 / HOUR_s, "%.2f" },
  { "share", "share (%)", BASE_CELL_NUMBER, 100, "%.2f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static const BaseColumn cause_columns[] = {
  { "name", "what fails", BASE_CELL_TEXT, 0, NULL },
  { "of", "of each", BASE_CELL_TEXT, 0, NULL },
  { "units", "of these", BASE_CELL_NUMBER, 0, "%.0f" },
  { "mean_time_s", "one in (h)", BASE_CELL_NUMBER, 1 / HOUR_s, "%.2f" },
  { "count", "in a run", BASE_CELL_NUMBER, 0, "%.2f" },
  { "lost_s", "costs (h)", BASE_CELL_NUMBER, 1 / HOUR_s, "%.2f" },
  { "lost_share", "of the run (%)", BASE_CELL_NUMBER, 100, "%.3f" },
  { "effect", "effect", BASE_CELL_TEXT, 0, NULL },
  { "slowdown", "step takes", BASE_CELL_NUMBER, 0, "%.3f" },
  { "nodes", "nodes", BASE_CELL_NUMBER, 0, "%.0f" },
  { "detect_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "repair_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "shape", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "source", "source", BASE_CELL_TEXT, 0, NULL },
  { "note", NULL, BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static const BaseColumn curve_columns[] = {
  { "every_steps", "every (steps)", BASE_CELL_NUMBER, 0, "%.0f" },
  { "interval_s", "work (min)", BASE_CELL_NUMBER, 1.0 / 60, "%.2f" },
  { "goodput", "goodput (%)", BASE_CELL_NUMBER, 100, "%.2f" },
  { "goodput_lo", "from", BASE_CELL_NUMBER, 100, "%.2f" },
  { "goodput_hi", "to", BASE_CELL_NUMBER, 100, "%.2f" },
  { "closed_form", "closed form (%)", BASE_CELL_NUMBER, 100, "%.2f" },
  { "recompute_s", "recompute (h)", BASE_CELL_NUMBER, 1 / HOUR_s, "%.2f" },
  { "checkpoint_s", "checkpoints (h)", BASE_CELL_NUMBER, 1 / HOUR_s, "%.2f" },
  { "mark", "", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
lost_table (const Gdp *goodput)
{
  BaseTable *table = base_table_new (lost_columns);
  double wall_s = goodput->wall_s.mean, lost_s = 0;
  for (int l = 0; l < GDP_LOST_N; l++)
    lost_s += goodput->lost_s[l];
  base_table_row (table);
  base_table_text (table, "part", "useful");
  base_table_number (table, "time_s", wall_s - lost_s);
  base_table_number (table, "share", 1 - lost_s / wall_s);
  for (int l = 0; l < GDP_LOST_N; l++) {
    if (goodput->lost_s[l] <= 0)
      continue;
    base_table_row (table);
    base_table_text (table, "part", gdp_lost_names[l]);
    base_table_number (table, "time_s", goodput->lost_s[l]);
    base_table_number (table, "share", goodput->lost_s[l] / wall_s);
  }
  return table;
}

static BaseTable *
causes_table (const Gdp *goodput)
{
  BaseTable *table = base_table_new (cause_columns);
  for (guint i = 0; i < goodput->causes->len; i++) {
    const GdpCause *cause = &g_array_index (goodput->causes, GdpCause, i);
    base_table_row (table);
    base_table_text (table, "name", cause->name);
    base_table_text (table, "of", base_name (mdl_unit_names, (int)cause->of));
    base_table_number (table, "units", cause->units);
    base_table_number (table, "mean_time_s", 1 / cause->rate_per_s);
    base_table_number (table, "count", cause->count);
    base_table_number (table, "lost_s", cause->lost_s);
    base_table_number (table, "lost_share", cause->lost_s / goodput->wall_s.mean);
    base_table_text (table, "effect", base_name (mdl_effect_names, (int)cause->effect));
    base_table_number (table, "slowdown", cause->effect == MDL_EFFECT_SLOW ? cause->slowdown : (double)NAN);
    base_table_number (table, "nodes", cause->nodes);
    base_table_number (table, "detect_s", cause->effect == MDL_EFFECT_STOP ? cause->detect_s : (double)NAN);
    base_table_number (table, "repair_s", cause->nodes > 0 ? cause->repair_s : (double)NAN);
    base_table_number (table, "shape", cause->shape);
    base_table_text (table, "source", base_source_name (cause->source));
    base_table_text (table, "note", cause->note);
  }
  return table;
}

static gboolean
same (double a, double b)
{
  return a >= b && a <= b;
}

/* "best", "this run": what a row of the curve is. */
static const char *
mark_of (const Gdp *goodput, const GdpInterval *interval)
{
  gboolean best = same (interval->every_steps, goodput->best.every_steps),
           own = same (interval->every_steps, goodput->checkpoint.every_steps);
  return best && own ? "best, this run" : best ? "best" : own ? "this run" : NULL;
}

static BaseTable *
curve_table (const Gdp *goodput)
{
  BaseTable *table = base_table_new (curve_columns);
  for (guint i = 0; i < goodput->curve->len; i++) {
    const GdpInterval *interval = &g_array_index (goodput->curve, GdpInterval, i);
    base_table_row (table);
    base_table_number (table, "every_steps", interval->every_steps);
    base_table_number (table, "interval_s", interval->interval_s);
    base_table_number (table, "goodput", interval->goodput.mean);
    base_table_number (table, "goodput_lo", interval->goodput.lo);
    base_table_number (table, "goodput_hi", interval->goodput.hi);
    base_table_number (table, "closed_form", interval->closed);
    base_table_number (table, "recompute_s", interval->lost_s[GDP_LOST_RECOMPUTE]);
    base_table_number (table, "checkpoint_s", interval->lost_s[GDP_LOST_CHECKPOINT]);
    base_table_text (table, "mark", mark_of (goodput, interval));
  }
  return table;
}

/* ---- one row ---- */

#define NUMBER(key)                      \
  {                                      \
    key, NULL, BASE_CELL_NUMBER, 0, NULL \
  }

enum { FIRST_LOST = 19 };
static const BaseColumn row_columns[] = {
  NUMBER ("goodput"),
  NUMBER ("goodput_lo"),
  NUMBER ("goodput_hi"),
  NUMBER ("goodput_closed_form"),
  NUMBER ("time_to_train_s"),
  NUMBER ("time_to_train_lo_s"),
  NUMBER ("time_to_train_hi_s"),
  NUMBER ("run_s"),
  NUMBER ("steps_done"),
  NUMBER ("stops"),
  NUMBER ("stops_lo"),
  NUMBER ("stops_hi"),
  NUMBER ("mean_time_to_failure_s"),
  NUMBER ("goodput_step_time_s"),
  NUMBER ("every_steps"),
  NUMBER ("interval_s"),
  NUMBER ("best_every_steps"),
  NUMBER ("best_interval_s"),
  NUMBER ("best_goodput"),
  /* from FIRST_LOST on in GdpLost's order */
  NUMBER ("lost_recompute_s"),
  NUMBER ("lost_checkpoint_s"),
  NUMBER ("lost_detect_s"),
  NUMBER ("lost_spare_wait_s"),
  NUMBER ("lost_restart_s"),
  NUMBER ("lost_restore_s"),
  NUMBER ("lost_slow_down_s"),
  { "provenance", NULL, BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};
G_STATIC_ASSERT (G_N_ELEMENTS (row_columns) == FIRST_LOST + GDP_LOST_N + 2);

void
rep_goodput_tsv (const Gdp *goodput, GString *out)
{
  g_autoptr (BaseTable) table = base_table_new (row_columns);
  const MdlCheckpoint *checkpoint = &goodput->checkpoint;
  const gboolean ends = isinf (goodput->horizon_s);
  const double none = (double)NAN;
  const double value[FIRST_LOST] = { goodput->goodput.mean,
                                     goodput->goodput.lo,
                                     goodput->goodput.hi,
                                     goodput->closed,
                                     ends ? goodput->wall_s.mean : none,
                                     ends ? goodput->wall_s.lo : none,
                                     ends ? goodput->wall_s.hi : none,
                                     goodput->wall_s.mean,
                                     goodput->steps_done.mean,
                                     goodput->stops.mean,
                                     goodput->stops.lo,
                                     goodput->stops.hi,
                                     goodput->mttf_s,
                                     goodput->step_s,
                                     checkpoint->every_steps,
                                     checkpoint->every_steps * goodput->step_s,
                                     goodput->best.every_steps,
                                     goodput->best.interval_s,
                                     goodput->best.goodput.mean };
  base_table_row (table);
  for (guint i = 0; i < FIRST_LOST; i++)
    base_table_number (table, row_columns[i].key, value[i]);
  for (int l = 0; l < GDP_LOST_N; l++)
    base_table_number (table, row_columns[FIRST_LOST + l].key, goodput->lost_s[l]);
  base_table_text (table, "provenance", base_source_name (goodput->provenance));
  base_table_print_tsv (table, out);
}

/* ---- a page ---- */

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
  g_autoptr (BaseTable) lost = lost_table (goodput), causes = causes_table (goodput), curve = curve_table (goodput);
  rep_html_heading (html, "Days of it: failures and checkpoints");
  rep_html_facts_open (html);
  rep_html_fact (html, "goodput", useful, band);
  rep_html_fact (html, "days", days, NULL);
  rep_html_fact (html, "failures that stop the job", stops, one_in);
  rep_html_fact (html, "a checkpoint every", every, best);
  rep_html_fact (html, "weakest source", base_source_name (goodput->provenance), NULL);
  rep_html_facts_close (html);
  rep_html_table (html, lost);
  rep_html_heading (html, "What fails");
  rep_html_table (html, causes);
  rep_html_heading (html, "Goodput by what lies between checkpoints");
  rep_html_table (html, curve);
}

/* ---- text ---- */

static void
append_length (const Gdp *goodput, GString *out)
{
  g_string_append_printf (out, "\n# goodput: %u runs", goodput->runs);
  if (!isinf (goodput->horizon_s))
    g_string_append_printf (out, " of %.5g days", goodput->horizon_s / (24 * HOUR_s));
  else if (isfinite (goodput->tokens))
    g_string_append_printf (out, " until %.5g tokens are seen, %.0f steps", goodput->tokens, goodput->steps);
  else
    g_string_append_printf (out, " until %.0f steps are done", goodput->steps);
  g_string_append_printf (out, ", failures as %s has them%s%s%s\n", goodput->rates, goodput->summary != NULL ? " (" : "",
                          goodput->summary != NULL ? goodput->summary : "", goodput->summary != NULL ? ")" : "");
}

static void
append_checkpoint (const Gdp *goodput, GString *out)
{
  const MdlCheckpoint *c = &goodput->checkpoint;
  g_autofree char *work = rep_quantity (c->every_steps * goodput->step_s, BASE_DIM_TIME),
                  *stall = rep_quantity (c->stall_s, BASE_DIM_TIME), *drain = rep_quantity (c->drain_s, BASE_DIM_TIME),
                  *restore = rep_quantity (c->restore_s, BASE_DIM_TIME),
                  *restart = rep_quantity (goodput->restart_s, BASE_DIM_TIME),
                  *create = rep_quantity (goodput->create_s, BASE_DIM_TIME), *step = rep_quantity (goodput->step_s, BASE_DIM_TIME);
  g_string_append_printf (out, "step            %s, %s\n", step, goodput->step_given ? "as given" : "as simulated");
  g_string_append_printf (out, "checkpoint      every %.0f steps (%s of work%s); stall %s, drain %s, restore %s\n", c->every_steps,
                          work, goodput->searched ? ", the best found" : "", stall, drain, restore);
  g_string_append_printf (out, "restart         %s%s%s", restart, goodput->create_s > 0 ? ", and communicators " : "",
                          goodput->create_s > 0 ? create : "");
  if (isinf (goodput->spares))
    g_string_append (out, "; spare nodes always at hand\n");
  else
    g_string_append_printf (out, "; %.0f spare node%s\n", goodput->spares, goodput->spares > 1 || goodput->spares < 1 ? "s" : "");
}

static void
append_best (const Gdp *goodput, GString *out)
{
  g_autofree char *best = rep_quantity (goodput->best.interval_s, BASE_DIM_TIME),
                  *closed = rep_quantity (goodput->best_closed_s, BASE_DIM_TIME),
                  *young = rep_quantity (goodput->young_s, BASE_DIM_TIME), *daly = rep_quantity (goodput->daly_s, BASE_DIM_TIME);
  g_string_append_printf (out, "best interval   every %.0f steps (%s): %.2f %% of the same runs", goodput->best.every_steps, best,
                          goodput->best.goodput.mean * 100);
  if (goodput->flat_from < goodput->flat_to)
    g_string_append_printf (out, ", and from %.0f to %.0f hardly less", goodput->flat_from, goodput->flat_to);
  if (isfinite (goodput->best_closed_s))
    g_string_append_printf (out, "\n                closed forms: exact %s, Daly %s, Young %s", closed, daly, young);
  g_string_append_c (out, '\n');
}

/* The closed form taken apart, as models/cost/failure.c has it. */
static void
append_terms (const Gdp *goodput, GString *out)
{
  const MdlGoodputTerms *t = &goodput->terms;
  double work_s = goodput->checkpoint.every_steps * goodput->step_s / t->pace, mttf_s = goodput->mttf_s;
  double wait_s = fmax (0, t->drain_s - work_s), cycle_s = work_s + wait_s + t->stall_s;
  g_string_append (out, "\n# the closed form: W d q / (M (exp (L/M) - 1)) x pace x (1 - planned)\n");
  if (isinf (mttf_s))
    g_string_append_printf (out, "W / L = %.5g s / %.5g s, pace %.5g, planned %.5g: %.2f %%\n", work_s, cycle_s, t->pace,
                            t->planned_share, goodput->closed * 100);
  else
    g_string_append_printf (
        out,
        "M %.5g s between failures, W %.5g s of work and L %.5g s from checkpoint to checkpoint: %.5f\n"
        "q %.5f of recoveries are not broken off, d %.5f of checkpoints drain in time, pace %.5f, planned %.5f: %.2f %%\n",
        mttf_s, work_s, cycle_s, work_s / (mttf_s * expm1 (cycle_s / mttf_s)), t->alive, exp ((wait_s - t->drain_s) / mttf_s),
        t->pace, t->planned_share, goodput->closed * 100);
}

static const BaseColumn rate_columns[] = {
  { "name", "what fails", BASE_CELL_TEXT, 0, NULL },
  { "units", "units", BASE_CELL_NUMBER, 0, "%.0f" },
  { "of", "of each", BASE_CELL_TEXT, 0, NULL },
  { "unit_s", "one of them in (days)", BASE_CELL_NUMBER, 1 / (24 * HOUR_s), "%.1f" },
  { "job_s", "the job in (h)", BASE_CELL_NUMBER, 1 / HOUR_s, "%.2f" },
  { "share", "of its stops (%)", BASE_CELL_NUMBER, 100, "%.2f" },
  { "back_s", "back after (min)", BASE_CELL_NUMBER, 1.0 / 60, "%.2f" },
  { "source", "source", BASE_CELL_TEXT, 0, NULL },
  { "note", "note", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

void
rep_goodput_terms_text (const Gdp *goodput, GString *out)
{
  g_autoptr (BaseTable) table = base_table_new (rate_columns);
  const double again_s = goodput->restart_s + goodput->create_s + goodput->checkpoint.restore_s;
  for (guint i = 0; i < goodput->causes->len; i++) {
    const GdpCause *cause = &g_array_index (goodput->causes, GdpCause, i);
    const gboolean stops = cause->effect == MDL_EFFECT_STOP;
    base_table_row (table);
    base_table_text (table, "name", cause->name);
    base_table_number (table, "units", cause->units);
    base_table_text (table, "of", base_name (mdl_unit_names, (int)cause->of));
    base_table_number (table, "unit_s", cause->units / cause->rate_per_s);
    base_table_number (table, "job_s", 1 / cause->rate_per_s);
    base_table_number (table, "share", stops ? cause->rate_per_s / goodput->terms.stop_per_s : (double)NAN);
    base_table_number (table, "back_s", stops ? cause->detect_s + again_s : (double)NAN);
    base_table_text (table, "source", base_source_name (cause->source));
    base_table_text (table, "note", cause->note);
  }
  g_string_append_printf (out, "\n# what fails in %.0f GPUs, %.0f nodes, %.0f adapters (rates: %s)\n", goodput->size.gpus,
                          goodput->size.nodes, goodput->size.nics, goodput->rates);
  base_table_print_text (table, out);
  append_terms (goodput, out);
}

void
rep_goodput_text (const Gdp *goodput, GString *out)
{
  append_length (goodput, out);
  g_string_append_printf (out, "goodput         %.2f %% (%.2f to %.2f); closed form %.2f %%%s\n", goodput->goodput.mean * 100,
                          goodput->goodput.lo * 100, goodput->goodput.hi * 100, goodput->closed * 100,
                          isinf (goodput->spares) ? "" : " with spares always at hand");
  if (isinf (goodput->horizon_s)) {
    g_string_append_printf (out, "time to train   %.4g days (%.4g to %.4g); %.4g without failures and checkpoints\n",
                            goodput->wall_s.mean / (24 * HOUR_s), goodput->wall_s.lo / (24 * HOUR_s),
                            goodput->wall_s.hi / (24 * HOUR_s), goodput->steps * goodput->step_s / (24 * HOUR_s));
  } else
    g_string_append_printf (out, "steps done      %.0f (%.0f to %.0f)\n", goodput->steps_done.mean, goodput->steps_done.lo,
                            goodput->steps_done.hi);
  g_string_append_printf (out, "failures        %.1f that stop the job (%.0f to %.0f)", goodput->stops.mean, goodput->stops.lo,
                          goodput->stops.hi);
  if (isfinite (goodput->mttf_s))
    g_string_append_printf (out, ", one in %.4g h; Poisson's 95 %% of that rate: %.0f to %.0f", goodput->mttf_s / HOUR_s,
                            goodput->stops_lo, goodput->stops_hi);
  g_string_append_printf (out, "\njob             %.0f GPUs, %.0f nodes, %.0f adapters\n", goodput->size.gpus, goodput->size.nodes,
                          goodput->size.nics);
  append_checkpoint (goodput, out);
  append_best (goodput, out);
  g_string_append_printf (out, "provenance      %s\n", base_source_name (goodput->provenance));

  g_string_append (out, "\n# where a run's time goes\n");
  rep_text (lost_table (goodput), out);
  g_string_append (out, "\n# what fails\n");
  rep_text (causes_table (goodput), out);
  g_string_append (out, "\n# goodput by the interval between checkpoints, the same failures for all\n");
  rep_text (curve_table (goodput), out);
  append_terms (goodput, out);
}

/* ---- JSON ---- */

static void
add_band (JsonBuilder *json, const char *key, const char *unit, const GdpBand *band, gboolean known)
{
  static const char *const ends[] = { "", "_lo", "_hi" };
  const double value[] = { band->mean, band->lo, band->hi };
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_autofree char *name = g_strconcat (key, ends[i], unit, NULL);
    rep_json_number (json, name, known ? value[i] : (double)NAN);
  }
}

static void
add_failures (const Gdp *goodput, JsonBuilder *json)
{
  json_builder_set_member_name (json, "failures");
  json_builder_begin_object (json);
  rep_json_text (json, "rates", goodput->rates);
  rep_json_number (json, "mean_time_to_failure_s", goodput->mttf_s);
  add_band (json, "stops", "", &goodput->stops, TRUE);
  rep_json_number (json, "stops_poisson_lo", goodput->stops_lo);
  rep_json_number (json, "stops_poisson_hi", goodput->stops_hi);
  rep_json_number (json, "gpus", goodput->size.gpus);
  rep_json_number (json, "nodes", goodput->size.nodes);
  rep_json_number (json, "nics", goodput->size.nics);
  rep_json_number (json, "spares", goodput->spares);
  rep_json_number (json, "restart_s", goodput->restart_s);
  rep_json_number (json, "communicators_s", goodput->create_s);
  rep_json_table (json, "causes", causes_table (goodput));
  json_builder_end_object (json);
}

static void
add_checkpoint (const Gdp *goodput, JsonBuilder *json)
{
  const MdlCheckpoint *c = &goodput->checkpoint;
  json_builder_set_member_name (json, "checkpoint");
  json_builder_begin_object (json);
  rep_json_number (json, "every_steps", c->every_steps);
  rep_json_number (json, "interval_s", c->every_steps * goodput->step_s);
  rep_json_number (json, "stall_s", c->stall_s);
  rep_json_number (json, "drain_s", c->drain_s);
  rep_json_number (json, "restore_s", c->restore_s);
  rep_json_number (json, "best_every_steps", goodput->best.every_steps);
  rep_json_number (json, "best_interval_s", goodput->best.interval_s);
  rep_json_number (json, "best_from_steps", goodput->flat_from);
  rep_json_number (json, "best_to_steps", goodput->flat_to);
  rep_json_number (json, "best_goodput", goodput->best.goodput.mean);
  rep_json_number (json, "closed_form_best_s", goodput->best_closed_s);
  rep_json_number (json, "daly_s", goodput->daly_s);
  rep_json_number (json, "young_s", goodput->young_s);
  rep_json_table (json, "intervals", curve_table (goodput));
  json_builder_end_object (json);
}

void
rep_goodput_json (const Gdp *goodput, JsonBuilder *json)
{
  gboolean ends = isinf (goodput->horizon_s);
  add_band (json, "goodput", "", &goodput->goodput, TRUE);
  rep_json_number (json, "goodput_closed_form", goodput->closed);
  add_band (json, "time_to_train", "_s", &goodput->wall_s, ends);
  rep_json_number (json, "run_s", goodput->wall_s.mean);
  add_band (json, "steps_done", "", &goodput->steps_done, TRUE);
  rep_json_number (json, "goodput_step_time_s", goodput->step_s);
  rep_json_integer (json, "goodput_runs", goodput->runs);
  json_builder_set_member_name (json, "lost_s");
  json_builder_begin_object (json);
  for (int l = 0; l < GDP_LOST_N; l++)
    rep_json_number (json, gdp_lost_names[l], goodput->lost_s[l]);
  json_builder_end_object (json);
  add_failures (goodput, json);
  add_checkpoint (goodput, json);
  rep_json_text (json, "goodput_provenance", base_source_name (goodput->provenance));
}
