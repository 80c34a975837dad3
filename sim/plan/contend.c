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
  GError *error;
} Job;

static void
ask_machine (void *item)
{
  Job *job = item;
  const PlnMachine *machine = &g_array_index (job->plan->machines, PlnMachine, job->machine);
  guint64 out[PLN_REJECTED_N] = { 0 };
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (TrnClosedQuery));
  g_autoptr (TrnClosed) closed = trn_closed_new (&machine->scenario->training, &job->error);
  if (closed == NULL || !pln_layouts (job->plan, machine, cuts, NULL, out, &job->error))
    return;
  trn_closed_skip_unfit (closed, 1); /* a constant may give tight ones their headroom */
  for (guint i = 0; i < cuts->len; i++) {
    const TrnClosedQuery *query = &g_array_index (cuts, TrnClosedQuery, i);
    TrnClosedStep step = { 0 };
    PlnChoiceRow row;
    double over;
    gboolean has = trn_closed_step (closed, query, &step, NULL);
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
  gboolean ok = TRUE;
  for (guint i = 0; i < n; i++)
    jobs[i] = (Job){ .plan = plan,
                     .machine = i,
                     .met = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow)),
                     .missed = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow)),
                     .steps = g_array_new (FALSE, FALSE, sizeof (TrnClosedStep)) };
  base_parallel_each (jobs, n, sizeof (Job), threads, NULL, ask_machine);
  for (guint i = 0; i < n; i++) {
    take_best (jobs[i].met, each, contenders);
    take_best (jobs[i].missed, each, contenders);
    g_array_unref (jobs[i].met);
    g_array_unref (jobs[i].missed);
    if (steps != NULL)
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

gboolean *
pln_far_machines (const Pln *plan, const GArray *contenders, double near)
{
  const guint n = plan->machines->len;
  gboolean *far = g_new (gboolean, n);
  double first = HUGE_VAL, over;
  for (guint i = 0; i < contenders->len; i++)
    if (pln_misses (plan, ROW (contenders, i), &over) == PLN_REJECTED_N)
      first = fmin (first, ROW (contenders, i)->formula);
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
    for (guint i = 0; i < contenders->len; i++) {
      TrnClosedStep step;
      PlnChoiceRow row;
      double over;
      if (ROW (contenders, i)->machine != m || !step_of (plan, ROW (contenders, i), pool, before, &closed, &step, &failed) ||
          !step.fits)
        continue;
      pln_take_step (plan, m, &ROW (contenders, i)->query, &step, &row);
      if (pln_misses (plan, &row, &over) == PLN_REJECTED_N && !(row.formula >= lead.formula))
        lead = row;
    }
    if (failed != NULL) {
      g_propagate_error (error, g_steal_pointer (&failed));
      return NULL;
    }
    g_array_append_val (leads, lead);
    if (until != NULL && memcmp (&until[m], &lead.formula, sizeof lead.formula) != 0)
      break;
    if (closed != NULL) {
      g_clear_pointer (&before, trn_closed_free);
      before = g_steal_pointer (&closed);
    }
  }
  return g_steal_pointer (&leads);
}
