#include "report/pictures.h"

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

const char *const rep_memory_parts[] = { "weights", "gradients", "optimizer", "activations", "buffers", "other", NULL };

gboolean
rep_memory_tsv (const ScnResult *result, GString *out)
{
  const GArray *stages = result->kind == SCN_KIND_TRAINING && result->jobs == NULL ? result->training.memory : NULL;
  if (stages == NULL)
    return FALSE;
  g_string_append (out, "stage");
  for (const char *const *part = rep_memory_parts; *part != NULL; part++)
    g_string_append_printf (out, "\t%s", *part);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < stages->len; i++) {
    const TrnMemory *m = &g_array_index (stages, TrnMemory, i);
    const double parts_B[] = { m->weights_B, m->gradients_B, m->optimizer_B, m->activations_B, m->buffers_B, m->other_B };
    g_string_append_printf (out, "%u", m->stage);
    for (size_t p = 0; p < G_N_ELEMENTS (parts_B); p++) {
      g_string_append_c (out, '\t');
      append_number (out, parts_B[p]);
    }
    g_string_append_c (out, '\n');
  }
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
