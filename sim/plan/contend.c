/* A plan asked many times with other constants: the configurations of each machine that could come first, and what they come to.
 * Left out: what a search over everything would find beyond them where a constant moves far; the caller confirms important
 * answers by pln_search. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "plan-private.h"

#define ROW(rows, i) (&g_array_index (rows, PlnChoiceRow, i))

/* ---- contenders ---- */

typedef struct {
  const Pln *plan;
  guint machine;
  GArray *met, *missed; /* PlnChoiceRow */
  GArray *steps;        /* TrnClosedStep of each cut */
  gboolean known;       /* they are */
  GError *error;
} Job;

static void
ask_machine (void *item)
{
  Job *job = item;
  const PlnMachine *machine = &g_array_index (job->plan->machines, PlnMachine, job->machine);
  guint64 out[PLN_REJECTED_N] = { 0 };
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (TrnClosedQuery));
  g_autoptr (TrnClosed) closed = job->known ? NULL : trn_closed_new (&machine->scenario->training, &job->error);
  if ((closed == NULL && !job->known) || !pln_layouts (job->plan, machine, cuts, NULL, out, &job->error))
    return;
  if (closed != NULL)
    trn_closed_skip_unfit (closed, 1); /* a constant may give tight ones their headroom */
  for (guint i = 0; i < cuts->len; i++) {
    const TrnClosedQuery *query = &g_array_index (cuts, TrnClosedQuery, i);
    TrnClosedStep step = { 0 };
    PlnChoiceRow row;
    double over;
    if (job->known)
      step = g_array_index (job->steps, TrnClosedStep, i);
    gboolean has = job->known ? step.n_ranks > 0 : trn_closed_step (closed, query, &step, NULL);
    if (!job->known)
      g_array_append_val (job->steps, step);
    if (!has || !step.fits || !(step.step_time_s > 0))
      continue;
    pln_take_step (job->plan, job->machine, query, &step, &row);
    row.cut = i;
    PlnRejection why = pln_misses (job->plan, &row, &over);
    const gboolean partial = job->plan->mixed_prices && pln_is_partial (job->plan, &row); /* never first */
    if (why != PLN_REJECTED_PRICE && !partial)
      g_array_append_val (why == PLN_REJECTED_N ? job->met : job->missed, row);
  }
  g_array_sort_with_data (job->met, pln_compare, (gpointer)job->plan);
  g_array_sort_with_data (job->missed, pln_compare, (gpointer)job->plan);
}

/* The first `each` of rows that differ by more than their chunks. */
static void
take_best (const GArray *rows, guint each, GArray *contenders)
{
  guint from = contenders->len;
  for (guint i = 0; i < rows->len && contenders->len < from + each; i++) {
    gboolean twin = FALSE;
    for (guint k = from; k < contenders->len && !twin; k++)
      twin = pln_are_twins (ROW (rows, i), ROW (contenders, k));
    if (!twin)
      g_array_append_vals (contenders, ROW (rows, i), 1);
  }
}

GArray *
pln_contenders (const Pln *plan, guint threads, guint each, GPtrArray *steps, GError **error)
{
  guint n = plan->machines->len;
  g_autofree Job *jobs = g_new0 (Job, n);
  GArray *contenders = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
  const gboolean known = steps != NULL && steps->len == n;
  gboolean ok = TRUE;
  for (guint i = 0; i < n; i++)
    jobs[i] = (Job){ .plan = plan,
                     .machine = i,
                     .met = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow)),
                     .missed = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow)),
                     .steps = known ? g_array_ref (steps->pdata[i]) : g_array_new (FALSE, FALSE, sizeof (TrnClosedStep)),
                     .known = known };
  base_parallel_each (jobs, n, sizeof (Job), threads, NULL, ask_machine);
  for (guint i = 0; i < n; i++) {
    take_best (jobs[i].met, each, contenders);
    take_best (jobs[i].missed, each, contenders);
    g_array_unref (jobs[i].met);
    g_array_unref (jobs[i].missed);
    if (steps != NULL && !known)
      g_ptr_array_add (steps, g_array_ref (jobs[i].steps));
    g_array_unref (jobs[i].steps);
    if (jobs[i].error != NULL && ok) {
      g_propagate_error (error, jobs[i].error);
      ok = FALSE;
    } else
      g_clear_error (&jobs[i].error);
  }
  if (!ok)
    g_clear_pointer (&contenders, g_array_unref);
  return contenders;
}

/* ---- what all layouts come to ---- */

typedef struct {
  const Pln *plan;
  guint machine;
  const GArray *steps;
  GArray *formulas;
} Values;

static void
value_machine (void *item)
{
  Values *values = item;
  const PlnMachine *machine = &g_array_index (values->plan->machines, PlnMachine, values->machine);
  guint64 out[PLN_REJECTED_N] = { 0 };
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (TrnClosedQuery));
  (void)pln_layouts (values->plan, machine, cuts, NULL, out, NULL); /* as when its steps were found */
  for (guint i = 0; i < values->steps->len; i++) {
    const TrnClosedStep *step = &g_array_index (values->steps, TrnClosedStep, i);
    PlnChoiceRow row;
    double value = (double)NAN, over;
    if (step->n_ranks > 0 && step->fits && step->step_time_s > 0) {
      pln_take_step (values->plan, values->machine, &g_array_index (cuts, TrnClosedQuery, i), step, &row);
      value = pln_misses (values->plan, &row, &over) == PLN_REJECTED_N ? row.formula : value;
    }
    g_array_append_val (values->formulas, value);
  }
}

static void
free_formulas (gpointer formulas)
{
  g_array_unref (formulas);
}

GPtrArray *
pln_formulas (const Pln *plan, guint threads, const GPtrArray *steps)
{
  const guint n = plan->machines->len;
  g_autofree Values *values = g_new (Values, n);
  GPtrArray *all = g_ptr_array_new_with_free_func (free_formulas);
  for (guint i = 0; i < n; i++) {
    values[i] = (Values){ plan, i, steps->pdata[i], g_array_new (FALSE, FALSE, sizeof (double)) };
    g_ptr_array_add (all, values[i].formulas);
  }
  base_parallel_each (values, n, sizeof (Values), threads, NULL, value_machine);
  return all;
}

double
pln_least_of (const Pln *plan, const GArray *contenders)
{
  double least = HUGE_VAL, over;
  for (guint i = 0; i < contenders->len; i++)
    if (pln_misses (plan, ROW (contenders, i), &over) == PLN_REJECTED_N)
      least = fmin (least, ROW (contenders, i)->formula);
  return least;
}

gboolean *
pln_far_machines (const Pln *plan, const GArray *contenders, double near)
{
  const guint n = plan->machines->len;
  gboolean *far = g_new (gboolean, n);
  const double first = pln_least_of (plan, contenders);
  for (guint m = 0; m < n; m++)
    far[m] = isfinite (first);
  for (guint i = 0; i < contenders->len; i++) {
    const PlnChoiceRow *row = ROW (contenders, i);
    far[row->machine] = far[row->machine] && row->formula > near * first;
  }
  return far;
}

GArray *
pln_near_contenders (const Pln *plan, const GArray *contenders, double near)
{
  g_autofree double *least = g_new (double, plan->machines->len);
  GArray *out = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
  double over;
  for (guint m = 0; m < plan->machines->len; m++)
    least[m] = HUGE_VAL;
  for (guint i = 0; i < contenders->len; i++) {
    const PlnChoiceRow *row = ROW (contenders, i);
    if (pln_misses (plan, row, &over) == PLN_REJECTED_N)
      least[row->machine] = fmin (least[row->machine], row->formula);
  }
  for (guint i = 0; i < contenders->len; i++)
    if (!(ROW (contenders, i)->formula > near * least[ROW (contenders, i)->machine]))
      g_array_append_vals (out, ROW (contenders, i), 1);
  return out;
}

/* ---- what they come to ---- */

gboolean
pln_read_machine (const Pln *plan, guint machine, GError **error)
{
  Scn *scenario = pln_scenario (plan, &g_array_index (plan->machines, PlnMachine, machine), NULL, error);
  scn_free (scenario);
  return scenario != NULL;
}

/* A step as it is known, or by `closed`, which is made when one is not, shares `pool`, and follows `before`. FALSE: it is refused,
 * or *error says why none is made. */
static gboolean
step_of (const Pln *plan, const PlnChoiceRow *row, TrnClosedPool *pool, TrnClosed *before, TrnClosed **closed, TrnClosedStep *out,
         GError **error)
{
  const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, row->machine);
  if (machine->steps != NULL) {
    *out = g_array_index (machine->steps, TrnClosedStep, row->cut);
    return out->n_ranks > 0;
  }
  if (*closed == NULL) {
    *closed = trn_closed_new (&machine->scenario->training, error);
    if (*closed != NULL) {
      trn_closed_share (*closed, pool);
      trn_closed_follow (*closed, before);
    }
  }
  return *closed != NULL && trn_closed_step (*closed, &row->query, out, NULL);
}

/* To the last bit. */
static gboolean
is_same (double a, double b)
{
  return memcmp (&a, &b, sizeof a) == 0;
}

GArray *
pln_leads (const Pln *plan, const GArray *contenders, GError **error)
{
  return pln_leads_until (plan, contenders, NULL, error);
}

GArray *
pln_leads_until (const Pln *plan, const GArray *contenders, const double *until, GError **error)
{
  g_autoptr (GArray) leads = g_array_new (FALSE, TRUE, sizeof (PlnChoiceRow));
  g_autoptr (TrnClosedPool) pool = trn_closed_pool_new (); /* outlives what shares it */
  g_autoptr (TrnClosed) before = NULL;
  for (guint m = 0; m < plan->machines->len; m++) {
    g_autoptr (TrnClosed) closed = NULL;
    if (m > 0 && !pln_are_kin (&g_array_index (plan->machines, PlnMachine, m - 1), &g_array_index (plan->machines, PlnMachine, m)))
      g_clear_pointer (&before, trn_closed_free);
    g_autoptr (GError) failed = NULL;
    PlnChoiceRow lead = { .machine = m, .formula = (double)NAN };
    gboolean other = FALSE;
    for (guint i = 0; i < contenders->len && !other; i++) {
      const PlnChoiceRow *contender = ROW (contenders, i);
      if (contender->machine != m)
        continue;
      TrnClosedStep step;
      PlnChoiceRow row = { .formula = (double)NAN };
      double over;
      if (step_of (plan, contender, pool, before, &closed, &step, &failed) && step.fits) {
        pln_take_step (plan, m, &contender->query, &step, &row);
        if (pln_misses (plan, &row, &over) != PLN_REJECTED_N)
          row.formula = (double)NAN;
      }
      if (!isnan (row.formula) && !(row.formula >= lead.formula))
        lead = row;
      /* the best of before comes to something else: the others need not be asked */
      other = until != NULL && is_same (contender->formula, until[m]) && !is_same (row.formula, until[m]);
      if (other)
        lead.formula = row.formula;
    }
    if (failed != NULL) {
      g_propagate_error (error, g_steal_pointer (&failed));
      return NULL;
    }
    g_array_append_val (leads, lead);
    if (until != NULL && !is_same (until[m], lead.formula))
      break;
    if (closed != NULL) {
      g_clear_pointer (&before, trn_closed_free);
      before = g_steal_pointer (&closed);
    }
  }
  return g_steal_pointer (&leads);
}
