/* What a step of a model is made of, so that it can be checked by hand. */
#include <math.h>
#include <string.h>

#include "json-private.h"
#include "run-private.h"

static const BaseColumn term_columns[] = {
  { "part", "part", BASE_CELL_TEXT, 0, NULL },
  { "pass", "pass", BASE_CELL_TEXT, 0, NULL },
  { "name", "work", BASE_CELL_TEXT, 0, NULL },
  { "what", "what", BASE_CELL_TEXT, 0, NULL },
  { "flop", "GFLOP", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "bytes", "MB", BASE_CELL_NUMBER, 1e-6, "%.2f" },
  { "time_s", "time (us)", BASE_CELL_NUMBER, 1e6, "%.2f" },
  { "rate_flop_per_s", "TFLOP/s", BASE_CELL_NUMBER, 1e-12, "%.0f" },
  { "count", "in a step", BASE_CELL_NUMBER, 0, "%.0f" },
  { "bound_by", "bound by", BASE_CELL_TEXT, 0, NULL },
  { "source", "source", BASE_CELL_TEXT, 0, NULL },
  { "note", "note", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static const BaseColumn sum_columns[] = {
  { "part", "part", BASE_CELL_TEXT, 0, NULL },
  { "pass", "pass", BASE_CELL_TEXT, 0, NULL },
  { "one_s", "one (us)", BASE_CELL_NUMBER, 1e6, "%.2f" },
  { "count", "in a step", BASE_CELL_NUMBER, 0, "%.0f" },
  { "all_s", "all (ms)", BASE_CELL_NUMBER, 1e3, "%.4f" },
  { "coll_s", "collectives (ms)", BASE_CELL_NUMBER, 1e3, "%.4f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static const TrnStepTerm *
term_at (const TrnResult *training, guint i)
{
  return &g_array_index (training->terms, TrnStepTerm, i);
}

static char *
what_of (const TrnStepTerm *term)
{
  if (term->n_ranks > 0)
    return g_strdup_printf ("%s of %s %u, %s %s", base_name (mdl_op_names, (int)term->op), term->group, term->n_ranks,
                            base_name (mdl_algo_names, (int)term->algo), base_name (mdl_proto_names, (int)term->proto));
  if (term->heads > 0)
    return g_strdup_printf ("%.0f x %.0f, %.0f heads of %.0f", term->m, term->n, term->heads, term->k);
  if (term->batch > 1)
    return g_strdup_printf ("%.0f of %.0f x %.0f over %.0f", term->batch, term->m, term->n, term->k);
  if (term->m > 0)
    return g_strdup_printf ("%.0f x %.0f over %.0f", term->m, term->n, term->k);
  return NULL;
}

static BaseTable *
terms_table (const TrnResult *training)
{
  BaseTable *table = base_table_new (term_columns);
  for (guint i = 0; i < training->terms->len; i++) {
    const TrnStepTerm *term = term_at (training, i);
    g_autofree char *what = what_of (term);
    base_table_row (table);
    base_table_text (table, "part", term->part);
    base_table_text (table, "pass", term->pass);
    base_table_text (table, "name", term->name);
    if (what != NULL)
      base_table_text (table, "what", what);
    if (term->flop > 0)
      base_table_number (table, "flop", term->flop);
    base_table_number (table, "bytes", term->bytes_B);
    base_table_number (table, "time_s", term->time_s);
    if (term->flop > 0 && term->time_s > 0)
      base_table_number (table, "rate_flop_per_s", term->flop / term->time_s);
    base_table_number (table, "count", term->count);
    base_table_text (table, "bound_by", term->n_ranks > 0 ? term->link : term->bound);
    base_table_text (table, "source", base_source_name (term->source));
    if (term->note != NULL)
      base_table_text (table, "note", term->note);
  }
  return table;
}

/* Works of one pass of one part together, in the order of their first. Returned: all of the compute, s. */
static double
add_sums (const TrnResult *training, BaseTable *table)
{
  double all_s = 0;
  g_autofree gboolean *done = g_new0 (gboolean, training->terms->len + 1u);
  for (guint i = 0; i < training->terms->len; i++) {
    const TrnStepTerm *first = term_at (training, i);
    double one_s = 0, sum_s = 0, coll_s = 0;
    if (done[i])
      continue;
    for (guint k = i; k < training->terms->len; k++) {
      const TrnStepTerm *term = term_at (training, k);
      if (strcmp (term->part, first->part) != 0 || strcmp (term->pass, first->pass) != 0 || fabs (term->count - first->count) > 0)
        continue;
      done[k] = TRUE;
      if (term->n_ranks > 0) {
        coll_s += term->time_s * term->count;
        continue;
      }
      one_s += term->time_s;
      sum_s += term->time_s * term->count;
    }
    all_s += sum_s;
    base_table_row (table);
    base_table_text (table, "part", first->part);
    base_table_text (table, "pass", first->pass);
    base_table_number (table, "one_s", one_s);
    base_table_number (table, "count", first->count);
    base_table_number (table, "all_s", sum_s);
    if (coll_s > 0)
      base_table_number (table, "coll_s", coll_s);
  }
  return all_s;
}

void
rep_step_terms_text (const TrnResult *training, GString *out)
{
  if (training->terms == NULL)
    return;
  g_autoptr (BaseTable) terms = terms_table (training), sums = base_table_new (sum_columns);
  g_string_append_printf (
      out,
      "\n# what a rank of stage %u runs, each alone: matrix products as rows x columns over what is summed; the "
      "note is of the constant that most of the time hangs on\n",
      training->stage);
  base_table_print_text (terms, out);
  double all_s = add_sums (training, sums), run_s = training->part_s[TRN_PART_COMPUTE] + training->part_s[TRN_PART_OPTIMIZER];
  g_string_append (out, "\n# summed: compute, and the layers' collectives if all waited for the one before\n");
  base_table_print_text (sums, out);
  g_autofree char *all = rep_quantity (all_s, BASE_DIM_TIME), *run = rep_quantity (run_s, BASE_DIM_TIME),
                  *rest = rep_quantity (training->step_time_s - run_s, BASE_DIM_TIME),
                  *step = rep_quantity (training->step_time_s, BASE_DIM_TIME);
  g_string_append_printf (out,
                          "compute alone %s; as it ran beside communication, with copies of shards, %s (%+.2f %%); with %s that it "
                          "waited (the breakdown above) the step's %s\n",
                          all, run, (run_s / all_s - 1) * 100, rest, step);
}

void
rep_step_terms_tsv (const TrnResult *training, GString *out)
{
  rep_tsv (terms_table (training), out);
}

void
rep_step_terms_json (const TrnResult *training, JsonBuilder *json)
{
  BaseTable *sums = base_table_new (sum_columns);
  add_sums (training, sums);
  rep_json_table (json, "terms", terms_table (training));
  rep_json_table (json, "sums", sums);
}
