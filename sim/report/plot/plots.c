#include "report/plots.h"

#include <math.h>

#include "json-private.h"
#include "plot-private.h"
#include "run-private.h"
#include "scenario/serving.h"

/* A name from a file as a cell: no tabs, no line ends. */
static void
append_cell (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text != NULL ? text : "", -1);
  g_string_append (out, g_strdelimit (valid, "\t\r\n", ' '));
}

static void
append_number (GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append (out, g_ascii_dtostr (text, sizeof text, value));
}

static void
append_part (GString *out, const char *name, double value_s)
{
  append_cell (out, name);
  g_string_append_c (out, '\t');
  append_number (out, value_s);
  g_string_append_c (out, '\n');
}

gboolean
rep_parts_tsv (const ScnResult *result, GString *out)
{
  if (result->jobs != NULL)
    return FALSE;
  g_string_append (out, "part\tvalue_s\n");
  if (rep_run_step (result) != NULL) {
    for (int p = 0; p < TRN_PART_N; p++)
      if (result->training.part_s[p] > 0)
        append_part (out, trn_part_names[p], result->training.part_s[p]);
    return TRUE;
  }
  const MdlCollCost *cost = rep_run_cost (result);
  for (unsigned i = 0; cost != NULL && i < cost->n_terms; i++)
    append_part (out, cost->term[i].name, cost->term[i].value_s);
  return cost != NULL && cost->n_terms > 0;
}

#define MEMORY(...) BASE_MEMBER (TrnMemory, __VA_ARGS__)
static const BaseMember memory_members[] = {
  MEMORY ("stage", stage),
  MEMORY ("weights", weights_B),
  MEMORY ("gradients", gradients_B),
  MEMORY ("optimizer", optimizer_B),
  MEMORY ("activations", activations_B),
  MEMORY ("buffers", buffers_B),
  MEMORY ("other", other_B),
  BASE_MEMBER_END,
};

gboolean
rep_memory_tsv (const ScnResult *result, GString *out)
{
  const GArray *stages = rep_run_step (result) != NULL ? result->training.memory : NULL;
  if (stages == NULL)
    return FALSE;
  rep_tsv (base_members_table (memory_members, stages), out);
  return TRUE;
}

gboolean
rep_links_tsv (const ScnResult *result, GString *out)
{
  if (result->run.links == NULL || result->run.links->len == 0)
    return FALSE;
  rep_tsv (rep_links_table (result->run.links), out);
  return TRUE;
}

gboolean
rep_goodput_curve_tsv (const Gdp *goodput, GString *out)
{
  g_string_append (out, "interval_s\tgoodput\tgoodput_lo\tgoodput_hi\tgoodput_closed_form\tbest_interval_s\tbest_goodput\n");
  for (guint i = 0; i < goodput->curve->len; i++) {
    const GdpInterval *interval = &g_array_index (goodput->curve, GdpInterval, i);
    const double row[] = { interval->interval_s, interval->goodput.mean,   interval->goodput.lo,      interval->goodput.hi,
                           interval->closed,     goodput->best.interval_s, goodput->best.goodput.mean };
    for (size_t k = 0; k < G_N_ELEMENTS (row); k++) {
      g_string_append (out, k > 0 ? "\t" : "");
      append_number (out, row[k]);
    }
    g_string_append_c (out, '\n');
  }
  return goodput->curve->len > 1;
}

/* ---- titles: what a plot shows, with its numbers ---- */

static char *
title_of_parts (const ScnResult *result, const char *scenario)
{
  const TrnResult *t = &result->training;
  const MdlCollCost *cost = rep_run_cost (result);
  if (cost != NULL) {
    unsigned most = 0;
    double all_s = 0;
    for (unsigned i = 0; i < cost->n_terms; i++) {
      all_s += cost->term[i].value_s;
      most = cost->term[i].value_s > cost->term[most].value_s ? i : most;
    }
    return g_strdup_printf ("%s: %s takes most of the estimated time, %.1f %%", scenario, cost->term[most].name,
                            100 * (all_s > 0 ? cost->term[most].value_s / all_s : 0));
  }
  int most = -1;
  for (int p = 0; p < TRN_PART_N; p++)
    if (p != TRN_PART_COMPUTE && p != TRN_PART_OPTIMIZER && t->part_s[p] > (most < 0 ? 0 : t->part_s[most]))
      most = p;
  g_autofree char *rest =
      most < 0 ? g_strdup ("") : g_strdup_printf (", %.1f %% %s", 100 * t->part_s[most] / t->step_time_s, rep_part_words (most));
  g_autofree char *step = rep_quantity (t->step_time_s, BASE_DIM_TIME);
  return g_strdup_printf ("%s: step time %s, %.1f %% compute%s (stage %u)", scenario, step,
                          100 * t->part_s[TRN_PART_COMPUTE] / t->step_time_s, rest, t->stage);
}

static char *
title_of_memory (const TrnMemory *fullest, const char *scenario)
{
  g_autofree char *used = rep_quantity (fullest->total_B, BASE_DIM_BYTES),
                  *has = rep_quantity (fullest->capacity_B, BASE_DIM_BYTES);
  return fullest->capacity_B > 0 ? g_strdup_printf ("%s: the fullest GPU uses %s of %s%s", scenario, used, has,
                                                    fullest->fits ? "" : ": it does not fit")
                                 : g_strdup_printf ("%s: the fullest GPU uses %s", scenario, used);
}

static char *
title_of_links (const GArray *links, const char *scenario)
{
  const ColLinkUse *most = &g_array_index (links, ColLinkUse, 0);
  for (guint i = 1; i < links->len; i++)
    if (g_array_index (links, ColLinkUse, i).utilisation > most->utilisation)
      most = &g_array_index (links, ColLinkUse, i);
  return g_strdup_printf ("%s: the busiest link, of class %s, is busy %.1f %% of the time", scenario, most->link_class,
                          100 * most->utilisation);
}

/* "x: the step time depends most on NVLink latency: +2.3 % with 20 % more"; of the first row of a tornado's table. */
static char *
title_of_tornado (const GString *tsv, const char *scenario, const char *what, const char *less, const char *more)
{
  g_auto (GStrv) rows = g_strsplit (tsv->str, "\n", 3);
  g_auto (GStrv) cells = g_strsplit (rows[0] != NULL && rows[1] != NULL ? rows[1] : "", "\t", 3);
  if (g_strv_length (cells) < 3)
    return g_strdup_printf ("%s: no input changes the %s", scenario, what);
  const double down = g_ascii_strtod (cells[1], NULL), up = g_ascii_strtod (cells[2], NULL);
  const gboolean first = fabs (down) >= fabs (up);
  return g_strdup_printf ("%s: the %s depends most on %s: %+.3g %% with %s", scenario, what, cells[0], 100 * (first ? down : up),
                          first ? less : more);
}

/* ---- pictures ---- */

/* Adds a plot and begins the next one's table; title NULL: there is nothing to draw. Takes title and settings. */
static void
add_drawn (GPtrArray *plots, const char *name, const char *script, const char *caption, char *title, GString **tsv, char *settings)
{
  if (title != NULL) {
    rep_plots_add (plots, name, script, caption, title, *tsv, settings);
    *tsv = g_string_new (NULL);
  } else {
    g_free (settings);
    g_string_truncate (*tsv, 0);
  }
  g_free (title);
}

static void
add_step (GPtrArray *plots, const ScnResult *result, const char *scenario, GString **tsv)
{
  const TrnResult *t = rep_run_step (result);
  guint columns = 0;
  gboolean any = rep_timeline_tsv (result, *tsv, &columns);
  add_drawn (plots, "timeline", "timeline.gp",
             "Work of each pipeline stage over time. Communication is shown where nothing computes.",
             !any ? NULL
                  : g_strdup_printf ("%s: %.1f %% of the step is pipeline bubble", scenario,
                                     100 * t->part_s[TRN_PART_BUBBLE] / t->step_time_s),
             tsv, g_strdup_printf ("; columns=%u", columns));
  double back_s = 0;
  any = rep_timeline_begin_tsv (result, *tsv, &columns, &back_s);
  g_autofree char *back = rep_quantity (back_s, BASE_DIM_TIME), *whole = rep_quantity (t->step_time_s, BASE_DIM_TIME);
  add_drawn (plots, "timeline_begin", "timeline.gp",
             "Start of the same step, until twice the time at which the first micro-batch is back on the first stage.",
             any ? g_strdup_printf ("%s: the first micro-batch is back on the first stage after %s of %s", scenario, back, whole)
                 : NULL,
             tsv, g_strdup_printf ("; columns=%u", columns));
  any = rep_memory_tsv (result, *tsv);
  char capacity[G_ASCII_DTOSTR_BUF_SIZE];
  add_drawn (plots, "memory", "memory.gp", "Memory of a GPU of each pipeline stage at its fullest moment, and its capacity.",
             any ? title_of_memory (&t->fullest, scenario) : NULL, tsv,
             g_strdup_printf ("; capacity=%s.0", g_ascii_formatd (capacity, sizeof capacity, "%.0f", t->fullest.capacity_B)));
}

/* Columns of a serving run over time: shorter ones would not be seen. */
#define SERVING_ROWS 800u

gboolean
rep_serving_tsv (const ScnResult *result, GString *out)
{
  const ScnServingResult *own = result->kind == SCN_KIND_SERVING && result->jobs == NULL ? result->own : NULL;
  if (own == NULL || own->steps == NULL || own->steps->len == 0)
    return FALSE;
  const GArray *steps = own->steps;
  const double end_s = g_array_index (steps, SrvStepSeen, steps->len - 1).end_s;
  g_string_append (out, "start_s\tkv\trunning\twaiting\n");
  double next_s = 0;
  for (guint i = 0; i < steps->len; i++) {
    const SrvStepSeen *step = &g_array_index (steps, SrvStepSeen, i);
    if (step->replica != 0 || (step->start_s < next_s && i + 1 < steps->len))
      continue;
    next_s = step->start_s + end_s / SERVING_ROWS;
    const double row[] = { step->start_s, step->kv, step->running, step->waiting };
    for (guint k = 0; k < G_N_ELEMENTS (row); k++) {
      g_string_append (out, k > 0 ? "\t" : "");
      append_number (out, row[k]);
    }
    g_string_append_c (out, '\n');
  }
  return TRUE;
}

static void
add_serving (GPtrArray *plots, const ScnResult *result, const char *scenario, GString **tsv)
{
  const ScnServingResult *own = result->own;
  const gboolean any = rep_serving_tsv (result, *tsv);
  add_drawn (plots, "serving", "serving.gp",
             "KV cache in use, sequences in the engine and requests that wait, over the run (first replica).",
             any ? g_strdup_printf ("%s: the KV cache is at most %.1f %% full, %.1f %% on average", scenario,
                                    own->run.kv_most * 100, own->run.kv_mean * 100)
                 : NULL,
             tsv, NULL);
}

void
rep_plots_add_run (GPtrArray *plots, const ScnResult *result, const char *scenario)
{
  const gboolean step = rep_run_step (result) != NULL;
  GString *tsv = g_string_new (NULL);
  gboolean any = rep_parts_tsv (result, tsv);
  add_drawn (plots, "breakdown", "breakdown.gp",
             step ? "Parts of the step's time, on the stage that ends last." : "Parts of the estimated time.",
             any ? title_of_parts (result, scenario) : NULL, &tsv, NULL);
  if (step)
    add_step (plots, result, scenario, &tsv);
  if (result->kind == SCN_KIND_SERVING)
    add_serving (plots, result, scenario, &tsv);
  any = rep_links_tsv (result, tsv);
  add_drawn (plots, "links", "links.gp", "Utilisation of the busiest link of each class.",
             any ? title_of_links (result->run.links, scenario) : NULL, &tsv, NULL);
  g_string_free (tsv, TRUE);
}

void
rep_plots_add_goodput (GPtrArray *plots, const Gdp *goodput, const char *scenario)
{
  g_autoptr (GString) tsv = g_string_new (NULL);
  if (!rep_goodput_curve_tsv (goodput, tsv))
    return;
  g_autofree char *title = g_strdup_printf ("%s: goodput is highest, %.1f %%, with %.3g min between checkpoints", scenario,
                                            100 * goodput->best.goodput.mean, goodput->best.interval_s / 60);
  rep_plots_add (plots, "goodput", "goodput.gp",
                 "Goodput by the work between checkpoints: the mean of the simulated runs, their band, and the closed form.", title,
                 g_steal_pointer (&tsv), NULL);
}

void
rep_plots_add_goodput_sensitivity (GPtrArray *plots, const GArray *goodput_sensitivity, double time_s, const char *scenario)
{
  GString *tsv = g_string_new (NULL);
  rep_goodput_sensitivity_tsv (goodput_sensitivity, time_s, tsv);
  g_autofree char *title = title_of_tornado (tsv, scenario, "time for the same work", "less", "more");
  rep_plots_add (plots, "tornado_goodput", "tornado.gp",
                 "Change of the time for the same work when one input is halved or doubled, or the step time moves over its band.",
                 title, tsv, g_strdup ("; less_is='halved (step time: low)'; more_is='doubled (high)'"));
}

/* Name, less, more: the answer's changes, as fractions. */
static void
sensitivity_tsv (const StdSensitivity *sensitivity, const char *root, GString *out)
{
  enum { MOST_BARS = 20 };
  g_string_append (out, "name\tless\tmore\n");
  guint bars = 0;
  for (guint i = 0; i < sensitivity->effects->len && bars < MOST_BARS; i++) {
    const StdEffect *effect = &g_array_index (sensitivity->effects, StdEffect, i);
    if (bars > 0 && !std_effect_changes_first (effect) &&
        std_effect_reach (effect, sensitivity->answer_s) < REP_SENSITIVITY_LEAST * sensitivity->answer_s)
      continue;
    bars++;
    const double ends[] = { effect->less_s, effect->more_s };
    g_autofree char *name = rep_effect_label (effect, root);
    append_cell (out, name);
    if (std_effect_changes_first (effect))
      g_string_append (out, " *");
    for (size_t k = 0; k < G_N_ELEMENTS (ends); k++) {
      g_string_append_c (out, '\t');
      append_number (out, isfinite (ends[k]) ? ends[k] / sensitivity->answer_s - 1 : 0);
    }
    g_string_append_c (out, '\n');
  }
}

void
rep_plots_add_sensitivity (GPtrArray *plots, const StdSensitivity *sensitivity, const BaseLookup *lookup, const char *scenario,
                           const char *what)
{
  if (sensitivity->effects->len == 0)
    return;
  GString *tsv = g_string_new (NULL);
  sensitivity_tsv (sensitivity, base_lookup_root (lookup), tsv);
  const int by = (int)lround (sensitivity->by * 100);
  g_autofree char *less = g_strdup_printf ("%d %% less", by), *more = g_strdup_printf ("%d %% more", by),
                  *title = title_of_tornado (tsv, scenario, what, less, more);
  rep_plots_add (plots, "tornado", "tornado.gp", "Change of the answer when one constant changes.", title, tsv,
                 g_strdup_printf ("; by=%d; what='%s'; note='%s'", by, what,
                                  sensitivity->first != NULL ? "; *: another option is best then" : ""));
}
