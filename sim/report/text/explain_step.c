/* What a step of a model is made of, so that it can be checked by hand. */
#include <math.h>
#include <string.h>

#include "json-private.h"
#include "run-private.h"

BASE_MEMBER_NUMBER_OF (rate, TrnStepTerm, it->flop > 0 && it->time_s > 0 ? it->flop / it->time_s : (double)NAN)
BASE_MEMBER_TEXT_OF (bound_by, TrnStepTerm, it->n_ranks > 0 ? it->link : it->bound)

BASE_MEMBER_TEXT_OF (source, TrnStepTerm,
                     it->divided && it->source == BASE_SOURCE_MEASURED ? "fitted" : base_source_name (it->source))

#define TERM(...) BASE_MEMBER (TrnStepTerm, __VA_ARGS__)
static const BaseMember term_members[] = {
  TERM ("part", part, .title = "part"),
  TERM ("pass", pass, .title = "pass"),
  TERM ("name", name, .title = "work"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "what", .title = "what"),
  TERM ("flop", flop, BASE_SHOWN ("GFLOP", 1e-9, "%.2f"), .rank = 2, .positive = TRUE),
  TERM ("bytes", bytes_B, BASE_SHOWN ("MB", 1e-6, "%.2f"), .rank = 2),
  TERM ("time_s", time_s, .title = "time"),
  { .key = "rate_flop_per_s", .number = rate, BASE_SHOWN ("TFLOP/s", 1e-12, "%.0f"), .rank = 2 },
  TERM ("count", count, BASE_SHOWN ("in a step", 1, "%.0f")),
  { .key = "bound_by", .text = bound_by, .title = "bottleneck" },
  { .key = "source", .text = source, .title = "source", .rank = 2 },
  TERM ("note", note, .title = "note", .rank = 3),
  BASE_MEMBER_END,
};

/* Works of one pass of one part together. */
typedef struct {
  const char *part, *pass;
  double one_s, count, all_s, coll_s;
} Sum;

#define SUM(...) BASE_MEMBER (Sum, __VA_ARGS__)
static const BaseMember sum_members[] = {
  SUM ("part", part, .title = "part"),
  SUM ("pass", pass, .title = "pass"),
  SUM ("one_s", one_s, .title = "one"),
  SUM ("count", count, BASE_SHOWN ("in a step", 1, "%.0f")),
  SUM ("all_s", all_s, .title = "all"),
  SUM ("coll_s", coll_s, .title = "collectives", .positive = TRUE),
  BASE_MEMBER_END,
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

BaseTable *
rep_step_terms_table (const TrnResult *training)
{
  BaseTable *table = base_members_table (term_members, NULL);
  for (guint i = 0; i < training->terms->len; i++) {
    g_autofree char *what = what_of (term_at (training, i));
    base_members_add (table, term_members, term_at (training, i));
    base_table_text (table, "what", what);
  }
  return table;
}

/* In the order of their first. Returned: full, of Sum. */
static GArray *
sums_of (const TrnResult *training)
{
  GArray *sums = g_array_new (FALSE, FALSE, sizeof (Sum));
  g_autofree gboolean *done = g_new0 (gboolean, training->terms->len + 1u);
  for (guint i = 0; i < training->terms->len; i++) {
    const TrnStepTerm *first = term_at (training, i);
    Sum sum = { .part = first->part, .pass = first->pass, .count = first->count };
    if (done[i])
      continue;
    for (guint k = i; k < training->terms->len; k++) {
      const TrnStepTerm *term = term_at (training, k);
      if (strcmp (term->part, first->part) != 0 || strcmp (term->pass, first->pass) != 0 || fabs (term->count - first->count) > 0)
        continue;
      done[k] = TRUE;
      if (term->n_ranks > 0) {
        sum.coll_s += term->time_s * term->count;
        continue;
      }
      sum.one_s += term->time_s;
      sum.all_s += term->time_s * term->count;
    }
    g_array_append_val (sums, sum);
  }
  return sums;
}

void
rep_step_terms_text (const TrnResult *training, GString *out)
{
  if (training->terms == NULL)
    return;
  g_string_append_printf (out,
                          "\n# work of one rank of stage %u, each alone; matrix products are rows x columns over the summed size\n",
                          training->stage);
  rep_text (rep_step_terms_table (training), out);
  g_autoptr (GArray) sums = sums_of (training);
  double all_s = 0, run_s = training->part_s[TRN_PART_COMPUTE] + training->part_s[TRN_PART_OPTIMIZER];
  for (guint i = 0; i < sums->len; i++)
    all_s += g_array_index (sums, Sum, i).all_s;
  g_string_append (out, "\n# sums: compute, and the layers' collectives one after the other\n");
  rep_text (base_members_table (sum_members, sums), out);
  g_autofree char *all = rep_quantity (all_s, BASE_DIM_TIME), *run = rep_quantity (run_s, BASE_DIM_TIME),
                  *rest = rep_quantity (training->step_time_s - run_s, BASE_DIM_TIME),
                  *step = rep_quantity (training->step_time_s, BASE_DIM_TIME);
  g_string_append_printf (out,
                          "Compute alone takes %s. Concurrently with communication and copies of shards it takes %s (%+.2f %%).\n"
                          "With %s of waiting (breakdown above) the step takes %s.\n",
                          all, run, (run_s / all_s - 1) * 100, rest, step);
}

void
rep_step_terms_json (const TrnResult *training, JsonBuilder *json)
{
  g_autoptr (GArray) sums = sums_of (training);
  rep_json_table (json, "terms", rep_step_terms_table (training));
  rep_json_table (json, "sums", base_members_table (sum_members, sums));
}
