/* The sensitivity of a plan: asked again with other constants. A search takes seconds, and there are hundreds of questions: each
 * is asked of the configurations that could come first (pln_contenders), and where another one does, of everything that NEAR leaves
 * a chance. */
#include <math.h>
#include <string.h>

#include "study/sensitivity.h"
#include "unchanged-private.h"

#define CONTENDERS 6u /* of each machine, and as many that a constraint puts out */
/* An option whose contenders are all worse than the recommended one by this factor keeps its steps: a constant that is a fifth less
 * or more moves a ratio of two options by a quarter, where it is in one of them in full. */
#define NEAR 1.5

typedef struct {
  const StdUnchanged *known;
  const StdPlanQuestion *query;
  const GArray *contenders, *near; /* near: without those that NEAR leaves no chance against the best of their own option */
  const GPtrArray *steps;          /* as of pln_contenders() */
  const GPtrArray *formulas;       /* as of pln_formulas() */
  double most;                     /* beyond it a layout cannot come first while constants move by a fifth */
  const GPtrArray *read;           /* BaseWatch *, by machine: what its scenario reads */
  const gboolean *far;             /* by machine: none of its contenders can come first while constants move by a fifth */
} Question;

/* ---- what need not be asked again ---- */

static void
free_watch (gpointer watch)
{
  base_watch_free (watch);
}

static void
free_steps (gpointer steps)
{
  g_array_unref (steps);
}

/* What the scenario of each machine reads, its constants among it: a machine that reads nothing of what is changed has the same
 * steps. Returned: full, BaseWatch *. NULL and *error on failure. */
static GPtrArray *
watch_machines (const StdPlanQuestion *question, StdUnchanged *known, GError **error)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (base_lookup_root (question->lookup));
  g_auto (StdLoader) constants = { .store = { .lookup = lookup }, .known = known };
  g_autofree gboolean *same = g_new (gboolean, pln_machines (question->plan)->len);
  const PlnLike like = { .plan = question->plan, .same = same };
  PlnOptions options = question->options;
  options.like = &like;
  for (guint i = 0; i < pln_machines (question->plan)->len; i++)
    same[i] = TRUE;
  g_autoptr (Pln) plan = pln_load (question->path, lookup, &options, std_load_and_know, &constants, error);
  if (plan == NULL)
    return NULL;
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (free_watch);
  for (guint i = 0; i < pln_machines (plan)->len; i++) {
    BaseWatch *watch = base_watch_new ();
    g_ptr_array_add (all, watch);
    base_lookup_set_watch (lookup, watch);
    if (!pln_read_machine (plan, i, error))
      return NULL;
  }
  return g_steal_pointer (&all);
}

/* By machine, whether its steps are as they were with what `watch` changes, or do not matter. Returned: full. */
static gboolean *
find_same (const Question *question, const BaseWatch *watch, StdReach reach)
{
  gboolean *same = g_new (gboolean, question->read->len);
  const gboolean changed = base_watch_changes_seen (watch, NULL); /* else the first run, which is to see all that is read */
  for (guint i = 0; i < question->read->len; i++)
    same[i] =
        changed && ((reach != STD_REACH_FAR && question->far[i]) || !base_watch_changes_seen (watch, question->read->pdata[i]));
  return same;
}

/* ---- asking ---- */

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
  answer->option = first != NULL ? first->machine : G_MAXUINT;
  answer->first = first != NULL ? question->query->name (plan, first) : g_strdup ("none meets the constraints");
}

/* Besides the first the least of each machine counts: a constant that moves another one may let that pass. */
static gboolean
ask_again (const void *data, StdReach reach, BaseWatch *watch, StdAnswer *answer, GError **error)
{
  const Question *question = data;
  g_autoptr (BaseLookup) lookup = base_lookup_new (base_lookup_root (question->query->lookup));
  base_lookup_set_watch (lookup, watch);
  /* the first run changes nothing, and is to see all that is read */
  g_auto (StdLoader) constants = { .store = { .lookup = lookup },
                                   .unchanged = base_watch_changes_seen (watch, NULL) ? question->known : NULL,
                                   .watch = watch };
  g_autofree gboolean *same = find_same (question, watch, reach);
  const PlnLike like = {
    .plan = question->query->plan, .same = same, .steps = question->steps, .formulas = question->formulas, .most = question->most
  };
  PlnOptions options = question->query->options;
  options.like = &like;
  g_autoptr (Pln) plan = pln_load (question->query->path, lookup, &options, std_load_changed, &constants, error);
  if (plan == NULL)
    return FALSE;
  if (reach == STD_REACH_ALL) {
    const PlnQuery query = { .threads = 1, .only_rank = TRUE };
    g_autoptr (PlnResult) result = pln_search (plan, &query, error);
    if (result != NULL)
      answer_with (question, plan, result->rows->len > 0 ? &g_array_index (result->rows, PlnChoiceRow, 0) : NULL, answer);
    return result != NULL;
  }
  /* behind the answer itself: the leads of an answer to compare with */
  const double *until = answer->against != NULL ? &g_array_index (answer->against, double, 1) : NULL;
  g_autoptr (GArray) leads = pln_leads_until (plan, reach == STD_REACH_NEAR ? question->near : question->contenders, until, error);
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
  g_autoptr (GPtrArray) steps =
      question->steps != NULL ? g_ptr_array_ref (question->steps) : g_ptr_array_new_with_free_func (free_steps);
  g_autoptr (GArray) contenders = pln_contenders (question->plan, question->threads, CONTENDERS, steps, error);
  g_auto (StdUnchanged) known;
  std_unchanged_open (&known, question->lookup);
  g_autoptr (GPtrArray) read = contenders != NULL ? watch_machines (question, &known, error) : NULL;
  if (read == NULL)
    return NULL;
  g_autofree gboolean *far = pln_far_machines (question->plan, contenders, NEAR);
  g_autoptr (GArray) near = pln_near_contenders (question->plan, contenders, NEAR);
  g_autoptr (GPtrArray) formulas = pln_formulas (question->plan, question->threads, steps);
  const Question search = { &known, question, contenders, near, steps, formulas, NEAR * pln_least_of (question->plan, contenders),
                            read,   far };
  const StdQuery query = { ask_again, &search, question->path, base_lookup_root (question->lookup) };
  return std_sensitivity (&query, scope, error);
}
