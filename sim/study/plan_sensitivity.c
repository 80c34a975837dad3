/* The sensitivity of a plan: asked again with other constants. A search takes seconds, and there are hundreds of questions: each
 * is asked of the configurations that could come first (pln_contenders), and where another one does, of everything. */
#include <math.h>

#include "study/sensitivity.h"

#define CONTENDERS 6u /* of each machine, and as many that a constraint puts out */

typedef struct {
  const StdPlanQuestion *query;
  const GArray *contenders;
} Question;

static const PlnChoiceRow *
first_of (const GArray *leads)
{
  const PlnChoiceRow *first = NULL;
  for (guint i = 0; i < leads->len; i++) {
    const PlnChoiceRow *lead = &g_array_index (leads, PlnChoiceRow, i);
    if (!isnan (lead->formula) && (first == NULL || lead->formula < first->formula))
      first = lead;
  }
  return first;
}

static void
answer_with (const Question *question, const Pln *plan, const PlnChoiceRow *first, StdAnswer *answer)
{
  double value = first != NULL ? first->formula : (double)NAN;
  g_array_append_val (answer->values, value);
  answer->first = first != NULL ? question->query->name (plan, first) : g_strdup ("none meets the constraints");
}

/* Besides the first the least of each machine counts: a constant that moves another one may let that pass. */
static gboolean
ask_again (const void *data, gboolean whole, BaseWatch *watch, StdAnswer *answer, GError **error)
{
  const Question *question = data;
  g_autoptr (BaseLookup) lookup = base_lookup_new (base_lookup_root (question->query->lookup));
  base_lookup_set_watch (lookup, watch);
  g_auto (CstStore) constants = { .lookup = lookup };
  g_autoptr (Pln) plan = pln_load (question->query->path, lookup, &question->query->options, cst_store_share, &constants, error);
  if (plan == NULL)
    return FALSE;
  if (whole) {
    const PlnQuery query = { .threads = 1 };
    g_autoptr (PlnResult) result = pln_search (plan, &query, error);
    if (result != NULL)
      answer_with (question, plan, result->rows->len > 0 ? &g_array_index (result->rows, PlnChoiceRow, 0) : NULL, answer);
    return result != NULL;
  }
  g_autoptr (GArray) leads = pln_leads (plan, question->contenders, error);
  if (leads == NULL)
    return FALSE;
  answer_with (question, plan, first_of (leads), answer);
  for (guint i = 0; i < leads->len; i++)
    g_array_append_val (answer->values, g_array_index (leads, PlnChoiceRow, i).formula);
  return TRUE;
}

StdSensitivity *
std_sensitivity_plan (const StdPlanQuestion *question, StdScope scope, GError **error)
{
  g_autoptr (GArray) contenders = pln_contenders (question->plan, question->threads, CONTENDERS, error);
  if (contenders == NULL)
    return NULL;
  const Question search = { question, contenders };
  const StdQuery query = { ask_again, &search, question->path, base_lookup_root (question->lookup) };
  return std_sensitivity (&query, scope, error);
}
