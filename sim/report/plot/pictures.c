#include "report/pictures.h"

#include <math.h>

#include "json-private.h"
#include "run-private.h"

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
  if (result->kind == SCN_KIND_TRAINING) {
    for (int p = 0; p < TRN_PART_N; p++)
      if (result->training.part_s[p] > 0)
        append_part (out, trn_part_names[p], result->training.part_s[p]);
    return TRUE;
  }
  const MdlCollCost *cost = result->kind == SCN_KIND_TRANSFER ? &result->transfer.cost : &result->coll.cost;
  for (unsigned i = 0; i < cost->n_terms; i++)
    append_part (out, cost->term[i].name, cost->term[i].value_s);
  return cost->n_terms > 0;
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
  const GArray *stages = result->kind == SCN_KIND_TRAINING && result->jobs == NULL ? result->training.memory : NULL;
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

/* ---- pictures ---- */

void
rep_pictures_add_run (GPtrArray *pictures, const ScnResult *result, const char *scenario)
{
  gboolean training = result->kind == SCN_KIND_TRAINING;
  GString *tsv = g_string_new (NULL);
  if (rep_parts_tsv (result, tsv)) {
    g_autofree char *title = training ? g_strdup_printf ("%s: where the step's time went, on stage %u, which ends last", scenario,
                                                         result->training.stage)
                                      : g_strdup_printf ("%s: terms of the closed form", scenario);
    rep_pictures_add (pictures, "breakdown", "breakdown.gp",
                      training ? "Where the step's time went, on the stage that ends last."
                               : "What the closed form's time is made of.",
                      title, tsv, NULL);
    tsv = g_string_new (NULL);
  }
  guint columns = 0;
  g_string_truncate (tsv, 0);
  if (rep_timeline_tsv (result, tsv, &columns)) {
    g_autofree char *title = g_strdup_printf ("%s: what each pipeline stage does", scenario);
    rep_pictures_add (pictures, "timeline", "timeline.gp",
                      "What each pipeline stage does when; exchange is shown where nothing computes.", title, tsv,
                      g_strdup_printf ("; columns=%u", columns));
    tsv = g_string_new (NULL);
  }
  g_string_truncate (tsv, 0);
  if (rep_timeline_begin_tsv (result, tsv, &columns)) {
    g_autofree char *title = g_strdup_printf ("%s: the begin of a step", scenario);
    rep_pictures_add (pictures, "timeline_begin", "timeline.gp",
                      "The same of the begin: until twice the time at which the first micro-batch is back on the first stage.",
                      title, tsv, g_strdup_printf ("; columns=%u", columns));
    tsv = g_string_new (NULL);
  }
  g_string_truncate (tsv, 0);
  if (rep_memory_tsv (result, tsv)) {
    char capacity[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *title = g_strdup_printf ("%s: memory of a GPU at its fullest", scenario);
    rep_pictures_add (pictures, "memory", "memory.gp",
                      "Memory of a GPU of each pipeline stage at its fullest moment, and what it has.", title, tsv,
                      g_strdup_printf ("; capacity=%s.0",
                                       g_ascii_formatd (capacity, sizeof capacity, "%.0f", result->training.fullest.capacity_B)));
    tsv = g_string_new (NULL);
  }
  g_string_truncate (tsv, 0);
  if (rep_links_tsv (result, tsv)) {
    g_autofree char *title = g_strdup_printf ("%s: what the links carried", scenario);
    rep_pictures_add (pictures, "links", "links.gp", "How busy the busiest link of each class was.", title, tsv, NULL);
    tsv = g_string_new (NULL);
  }
  g_string_free (tsv, TRUE);
}

void
rep_pictures_add_goodput (GPtrArray *pictures, const Gdp *goodput, const char *scenario)
{
  g_autoptr (GString) tsv = g_string_new (NULL);
  if (!rep_goodput_curve_tsv (goodput, tsv))
    return;
  g_autofree char *title = g_strdup_printf ("%s: what failures and checkpoints leave", scenario);
  rep_pictures_add (
      pictures, "goodput", "goodput.gp",
      "Useful time over all time, by the work between checkpoints: the mean of the runs, their band, and the closed form.", title,
      g_steal_pointer (&tsv), NULL);
}

void
rep_pictures_add_hangs (GPtrArray *pictures, const GArray *hangs, double time_s, const char *scenario)
{
  GString *tsv = g_string_new (NULL);
  rep_goodput_hangs_tsv (hangs, time_s, tsv);
  g_autofree char *title = g_strdup_printf ("%s: what the time for its work hangs on", scenario);
  rep_pictures_add (
      pictures, "tornado_goodput", "tornado.gp",
      "How the time for the same work changes with each thing alone: halved and doubled, the step from end to end of its band.",
      title, tsv, g_strdup ("; less_is='half as much or as often (the step: low)'; more_is='twice (high)'"));
}

void
rep_pictures_add_sensitivity (GPtrArray *pictures, const StdSensitivity *sensitivity, const char *scenario, const char *what)
{
  if (sensitivity->effects->len == 0)
    return;
  GString *tsv = g_string_new (NULL);
  rep_sensitivity_tsv (sensitivity, tsv);
  g_autofree char *title = g_strdup_printf ("%s: what the answer hangs on", scenario);
  rep_pictures_add (pictures, "tornado", "tornado.gp", "How the answer changes with each constant alone.", title, tsv,
                    g_strdup_printf ("; by=%d; what='%s'; note='%s'", (int)lround (sensitivity->by * 100), what,
                                     sensitivity->first != NULL ? "; *: another one comes first then" : ""));
}
