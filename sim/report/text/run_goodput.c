/* What failures and checkpoints leave of a training run. */
#include <math.h>

#include "json-private.h"
#include "report/run.h"
#include "run-private.h"

#define HOUR_s 3600.0

static const BaseColumn lost_columns[] = {
  { "part", "part", BASE_CELL_TEXT, 0, NULL, 0 },
  { "time_s", "time", BASE_CELL_NUMBER, 0, NULL, 0 },
  { "share", "share (%)", BASE_CELL_NUMBER, 100, "%.2f", 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

BASE_MEMBER_WHEN (slows, GdpCause, it->effect == MDL_EFFECT_SLOW)
BASE_MEMBER_WHEN (stops_job, GdpCause, it->effect == MDL_EFFECT_STOP)
BASE_MEMBER_WHEN (takes_nodes, GdpCause, it->nodes > 0)
BASE_MEMBER_NUMBER_OF (mean_time_s, GdpCause, 1 / it->rate_per_s)
BASE_MEMBER_NUMBER_OF (unit_time_s, GdpCause, it->units / it->rate_per_s)

#define CAUSE(...) BASE_MEMBER (GdpCause, __VA_ARGS__)
static const BaseMember cause_members[] = {
  CAUSE ("name", name, .title = "cause"),
  CAUSE ("of", of, .title = "unit", .names = mdl_unit_names),
  CAUSE ("units", units, BASE_SHOWN ("units", 1, "%.0f")),
  { .key = "mean_time_s", .number = mean_time_s, .title = "mean time" },
  CAUSE ("count", count, BASE_SHOWN ("in a run", 1, "%.2f")),
  CAUSE ("lost_s", lost_s, .title = "costs"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "lost_share", BASE_SHOWN ("share (%)", 100, "%.3f")),
  CAUSE ("effect", effect, .title = "effect", .names = mdl_effect_names),
  CAUSE ("slowdown", slowdown, BASE_SHOWN ("step takes", 1, "%.3f"), .rank = 1, .when = slows),
  CAUSE ("nodes", nodes, BASE_SHOWN ("nodes", 1, "%.0f"), .rank = 2),
  CAUSE ("detect_s", detect_s, .when = stops_job),
  CAUSE ("repair_s", repair_s, .when = takes_nodes),
  CAUSE ("shape", shape),
  CAUSE ("source", source, .title = "source", .rank = 2, .names = base_source_names),
  CAUSE ("note", note),
  BASE_MEMBER_END,
};
/* Rates with their sources. */
static const BaseMember rate_members[] = {
  CAUSE ("name", name, .title = "cause"),
  CAUSE ("units", units, BASE_SHOWN ("units", 1, "%.0f")),
  CAUSE ("of", of, .title = "unit", .names = mdl_unit_names),
  { .key = "unit_s", .number = unit_time_s, .title = "MTBF of one" },
  { .key = "job_s", .number = mean_time_s, .title = "MTBF of the job" },
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "share", BASE_SHOWN ("share of stops (%)", 100, "%.2f")),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "back_s", .title = "recovery"),
  CAUSE ("source", source, .title = "source", .rank = 2, .names = base_source_names),
  CAUSE ("note", note, .title = "note", .rank = 3),
  BASE_MEMBER_END,
};

#define PERCENT(head) BASE_SHOWN (head, 100, "%.2f")
#define INTERVAL(...) BASE_MEMBER (GdpInterval, __VA_ARGS__)
static const BaseMember interval_members[] = {
  INTERVAL ("every_steps", every_steps, BASE_SHOWN ("every (steps)", 1, "%.0f")),
  INTERVAL ("interval_s", interval_s, .title = "work"),
  INTERVAL ("goodput", goodput.mean, PERCENT ("goodput (%)")),
  INTERVAL ("goodput_lo", goodput.lo, PERCENT ("from")),
  INTERVAL ("goodput_hi", goodput.hi, PERCENT ("to")),
  INTERVAL ("closed_form", closed, PERCENT ("closed form (%)")),
  INTERVAL ("recompute_s", lost_s[GDP_LOST_RECOMPUTE], .title = "recompute"),
  INTERVAL ("checkpoint_s", lost_s[GDP_LOST_CHECKPOINT], .title = "checkpoints"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "mark", .title = ""),
  BASE_MEMBER_END,
};

BaseTable *
rep_goodput_lost (const Gdp *goodput)
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

BaseTable *
rep_goodput_causes (const Gdp *goodput)
{
  BaseTable *table = base_members_table (cause_members, NULL);
  for (guint i = 0; i < goodput->causes->len; i++) {
    const GdpCause *cause = &g_array_index (goodput->causes, GdpCause, i);
    base_members_add (table, cause_members, cause);
    base_table_number (table, "lost_share", cause->lost_s / goodput->wall_s.mean);
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

BaseTable *
rep_goodput_curve (const Gdp *goodput)
{
  BaseTable *table = base_members_table (interval_members, NULL);
  for (guint i = 0; i < goodput->curve->len; i++) {
    const GdpInterval *interval = &g_array_index (goodput->curve, GdpInterval, i);
    base_members_add (table, interval_members, interval);
    base_table_text (table, "mark", mark_of (goodput, interval));
  }
  return table;
}

/* ---- all of it ---- */

static void
write_causes (const void *of, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rep_goodput_causes (of);
  base_table_build_json (table, json);
}

static void
write_curve (const void *of, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rep_goodput_curve (of);
  base_table_build_json (table, json);
}

BASE_MEMBER_WHEN (ends, Gdp, isinf (it->horizon_s))
BASE_MEMBER_NUMBER_OF (interval_s, Gdp, it->checkpoint.every_steps * it->step_s)

#define MEMBER(...) BASE_MEMBER (Gdp, __VA_ARGS__)
/* A mean with its ends; `unit` stands behind them. */
#define BAND(key, unit, member, ...)                                                            \
  MEMBER (key unit, member.mean, __VA_ARGS__), MEMBER (key "_lo" unit, member.lo, __VA_ARGS__), \
      MEMBER (key "_hi" unit, member.hi, __VA_ARGS__)

/* Spares that are always enough, and the time to a failure that never comes, have no number. */
BASE_MEMBER_NUMBER_OF (spares, Gdp, isfinite (it->spares) ? it->spares : (double)NAN)
BASE_MEMBER_NUMBER_OF (mttf_s, Gdp, isfinite (it->mttf_s) ? it->mttf_s : (double)NAN)

static const BaseMember failure_members[] = {
  MEMBER ("rates", rates),
  { .key = "mean_time_to_failure_s", .number = mttf_s },
  BAND ("stops", "", stops, ),
  MEMBER ("stops_poisson_lo", stops_lo),
  MEMBER ("stops_poisson_hi", stops_hi),
  MEMBER ("gpus", size.gpus),
  MEMBER ("nodes", size.nodes),
  MEMBER ("nics", size.nics),
  { .key = "spares", .number = spares },
  MEMBER ("restart_s", restart_s),
  MEMBER ("communicators_s", create_s),
  { .key = "causes", .kind = BASE_MEMBER_WRITTEN, .write = write_causes },
  BASE_MEMBER_END,
};
static const BaseMember checkpoint_members[] = {
  MEMBER ("every_steps", checkpoint.every_steps),
  { .key = "interval_s", .number = interval_s },
  MEMBER ("stall_s", checkpoint.stall_s),
  MEMBER ("drain_s", checkpoint.drain_s),
  MEMBER ("restore_s", checkpoint.restore_s),
  MEMBER ("best_every_steps", best.every_steps),
  MEMBER ("best_interval_s", best.interval_s),
  MEMBER ("best_from_steps", flat_from),
  MEMBER ("best_to_steps", flat_to),
  MEMBER ("best_goodput", best.goodput.mean),
  MEMBER ("closed_form_best_s", best_closed_s),
  MEMBER ("daly_s", daly_s),
  MEMBER ("young_s", young_s),
  { .key = "intervals", .kind = BASE_MEMBER_WRITTEN, .write = write_curve },
  BASE_MEMBER_END,
};
BASE_MEMBER_WHEN (is_elastic, Gdp, it->elastic.replicas > 0)
BASE_MEMBER_NUMBER_OF (fewer, Gdp, it->fewer_s / it->wall_s.mean)
static const BaseMember elastic_members[] = {
  MEMBER ("replicas", elastic.replicas),
  MEMBER ("minimum", elastic.minimum),
  MEMBER ("reform_s", elastic.reform_s),
  { .key = "fewer_replicas", .number = fewer },
  BAND ("goodput_if_all_restart", "", restarting, ),
  BASE_MEMBER_END,
};
const BaseMember rep_goodput_members[] = {
  BAND ("goodput", "", goodput, ),
  MEMBER ("goodput_closed_form", closed),
  BAND ("time_to_train", "_s", wall_s, .when = ends),
  MEMBER ("run_s", wall_s.mean),
  BAND ("steps_done", "", steps_done, ),
  MEMBER ("goodput_step_time_s", step_s),
  MEMBER ("goodput_runs", runs),
  BASE_MEMBER_PARTS_OF (Gdp, "lost_s", lost_s, gdp_lost_names, GDP_LOST_N),
  { .key = "failures", .kind = BASE_MEMBER_GROUP, .sub = failure_members },
  { .key = "checkpoint", .kind = BASE_MEMBER_GROUP, .sub = checkpoint_members },
  { .key = "elastic", .kind = BASE_MEMBER_GROUP, .sub = elastic_members, .when = is_elastic, .optional = TRUE },
  MEMBER ("goodput_provenance", provenance, .names = base_source_names),
  BASE_MEMBER_END,
};

BaseTable *
rep_goodput_table (const Gdp *goodput)
{
  static const char *const columns[] = { "goodput",
                                         "goodput_lo",
                                         "goodput_hi",
                                         "goodput_closed_form",
                                         "time_to_train_s",
                                         "time_to_train_lo_s",
                                         "time_to_train_hi_s",
                                         "run_s",
                                         "steps_done",
                                         "stops=failures.stops",
                                         "stops_lo=failures.stops_lo",
                                         "stops_hi=failures.stops_hi",
                                         "mean_time_to_failure_s=failures.mean_time_to_failure_s",
                                         "goodput_step_time_s",
                                         "every_steps=checkpoint.every_steps",
                                         "interval_s=checkpoint.interval_s",
                                         "best_every_steps=checkpoint.best_every_steps",
                                         "best_interval_s=checkpoint.best_interval_s",
                                         "best_goodput=checkpoint.best_goodput",
                                         "lost_s.*",
                                         "provenance=goodput_provenance",
                                         NULL };
  return base_members_row (rep_goodput_members, columns, goodput);
}

void
rep_goodput_json (const Gdp *goodput, JsonBuilder *json)
{
  base_members_json (rep_goodput_members, goodput, json);
}

/* ---- text ---- */

static void
append_length (const Gdp *goodput, GString *out)
{
  g_string_append_printf (out, "\n# goodput: %u runs", goodput->runs);
  if (!isinf (goodput->horizon_s))
    g_string_append_printf (out, " of %.5g days", goodput->horizon_s / (24 * HOUR_s));
  else if (isfinite (goodput->tokens))
    g_string_append_printf (out, " until %.5g billion tokens, %.0f steps", goodput->tokens * 1e-9, goodput->steps);
  else
    g_string_append_printf (out, " until %.0f steps are done", goodput->steps);
  g_string_append_printf (out, ", failure rates: %s%s%s%s\n", goodput->rates, goodput->summary != NULL ? " (" : "",
                          goodput->summary != NULL ? goodput->summary : "", goodput->summary != NULL ? ")" : "");
}

static void
say (const Gdp *goodput, GString *out, const char *text)
{
  rep_say (out, rep_goodput_members, goodput, text);
}

static void
append_checkpoint (const Gdp *goodput, GString *out)
{
  say (goodput, out,
       goodput->step_given ? "step            {goodput_step_time_s}, as given\n"
                           : "step            {goodput_step_time_s}, as simulated\n");
  say (goodput, out, "checkpoint      every {checkpoint.every_steps:%.0f} steps ({checkpoint.interval_s} of work");
  g_string_append (out, goodput->searched ? ", the best found" : "");
  say (goodput, out, "); stall {checkpoint.stall_s}, drain {checkpoint.drain_s}, restore {checkpoint.restore_s}\n");
  say (goodput, out, "restart         {failures.restart_s}");
  if (goodput->create_s > 0)
    say (goodput, out, ", and communicators {failures.communicators_s}");
  say (goodput, out, isinf (goodput->spares) ? "; spare nodes always available\n" : "; {failures.spares#spare node}\n");
}

static void
append_best (const Gdp *goodput, GString *out)
{
  say (goodput, out,
       "best interval   every {checkpoint.best_every_steps:%.0f} steps ({checkpoint.best_interval_s}): "
       "{checkpoint.best_goodput*100:%.2f} % of the same runs");
  if (goodput->flat_from < goodput->flat_to)
    say (goodput, out, ", and from {checkpoint.best_from_steps:%.0f} to {checkpoint.best_to_steps:%.0f} nearly the same");
  if (isfinite (goodput->best_closed_s))
    say (goodput, out,
         "\n                closed forms: exact {checkpoint.closed_form_best_s}, Daly {checkpoint.daly_s}, Young "
         "{checkpoint.young_s}");
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

void
rep_goodput_terms_text (const Gdp *goodput, GString *out)
{
  BaseTable *table = base_members_table (rate_members, NULL);
  const double again_s = goodput->restart_s + goodput->create_s + goodput->checkpoint.restore_s;
  for (guint i = 0; i < goodput->causes->len; i++) {
    const GdpCause *cause = &g_array_index (goodput->causes, GdpCause, i);
    base_members_add (table, rate_members, cause);
    if (!stops_job (cause))
      continue;
    base_table_number (table, "share", cause->rate_per_s / goodput->terms.stop_per_s);
    base_table_number (table, "back_s", cause->detect_s + again_s);
  }
  g_string_append_printf (out, "\n# failures of %.0f GPUs, %.0f nodes, %.0f NICs (rates: %s)\n", goodput->size.gpus,
                          goodput->size.nodes, goodput->size.nics, goodput->rates);
  rep_text (table, out);
  append_terms (goodput, out);
}

void
rep_goodput_text (const Gdp *goodput, GString *out)
{
  append_length (goodput, out);
  g_string_append_printf (out, "goodput         %.2f %% (%.2f to %.2f); closed form %.2f %%%s\n", goodput->goodput.mean * 100,
                          goodput->goodput.lo * 100, goodput->goodput.hi * 100, goodput->closed * 100,
                          goodput->elastic.replicas > 0 ? " of a job that restarts"
                          : isinf (goodput->spares)     ? ""
                                                        : " with spares always available");
  if (goodput->elastic.replicas > 0)
    rep_say (out, rep_goodput_members, goodput,
             "elastic         {elastic.replicas:%.0f} replicas, with fewer for {elastic.fewer_replicas*100:%.2f} % of the time; "
             "if all restarted, the same failures would leave {elastic.goodput_if_all_restart*100:%.2f} %\n");
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
    g_string_append_printf (out, ", one in %.4g h; 95 %% Poisson interval: %.0f to %.0f", goodput->mttf_s / HOUR_s,
                            goodput->stops_lo, goodput->stops_hi);
  g_string_append_printf (out, "\njob             %.0f GPUs, %.0f nodes, %.0f NICs\n", goodput->size.gpus, goodput->size.nodes,
                          goodput->size.nics);
  append_checkpoint (goodput, out);
  append_best (goodput, out);
  g_string_append_printf (out, "provenance      %s\n", base_source_name (goodput->provenance));

  g_string_append (out, "\n# time of a run, by part\n");
  rep_text (rep_goodput_lost (goodput), out);
  g_string_append (out, "\n# failures by cause\n");
  rep_text (rep_goodput_causes (goodput), out);
  g_string_append (out, "\n# goodput by checkpoint interval, with the same failures\n");
  rep_text (rep_goodput_curve (goodput), out);
  append_terms (goodput, out);
}
