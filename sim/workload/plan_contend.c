/* A plan asked many times with other constants: the configurations of each machine that could come first, and what they come to.
 * Left out: what a search over everything would find beyond them where a constant moves far; who asks confirms what matters by
 * wrk_plan_search. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "plan-private.h"

#define ROW(rows, i) (&g_array_index (rows, WrkChoiceRow, i))

/* ---- contenders ---- */

typedef struct {
  const WrkPlan *plan;
  guint machine;
  GArray *met, *missed; /* WrkChoiceRow */
  GError *error;
} Job;

static void
ask_machine (void *item)
{
  Job *job = item;
  const WrkMachine *machine = &g_array_index (job->plan->machines, WrkMachine, job->machine);
  guint64 out[WRK_OUT_N] = { 0 };
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (WrkClosedAsk));
  g_autoptr (WrkClosed) closed = wrk_closed_new (&machine->scenario->training, &job->error);
  if (closed == NULL || !wrk_plan_cuts (job->plan, machine, cuts, out, &job->error))
    return;
  wrk_closed_skip_unfit (closed);
  for (guint i = 0; i < cuts->len; i++) {
    const WrkClosedAsk *ask = &g_array_index (cuts, WrkClosedAsk, i);
    WrkClosedStep step;
    WrkChoiceRow row;
    double over;
    if (!wrk_closed_step (closed, ask, &step, NULL) || !step.fits)
      continue;
    wrk_plan_take_step (job->plan, job->machine, ask, &step, &row);
    WrkOut why = wrk_plan_misses (job->plan, &row, &over);
    if (why != WRK_OUT_PRICE)
      g_array_append_val (why == WRK_OUT_N ? job->met : job->missed, row);
  }
  g_array_sort_with_data (job->met, wrk_plan_compare, (gpointer)job->plan);
  g_array_sort_with_data (job->missed, wrk_plan_compare, (gpointer)job->plan);
}

/* The first `each` of rows that differ by more than their chunks. */
static void
take_best (const GArray *rows, guint each, GArray *contenders)
{
  guint from = contenders->len;
  for (guint i = 0; i < rows->len && contenders->len < from + each; i++) {
    gboolean twin = FALSE;
    for (guint k = from; k < contenders->len && !twin; k++)
      twin = wrk_plan_are_twins (ROW (rows, i), ROW (contenders, k));
    if (!twin)
      g_array_append_vals (contenders, ROW (rows, i), 1);
  }
}

GArray *
wrk_plan_contenders (const WrkPlan *plan, guint threads, guint each, GError **error)
{
  guint n = plan->machines->len;
  g_autofree Job *jobs = g_new0 (Job, n);
  GArray *contenders = g_array_new (FALSE, FALSE, sizeof (WrkChoiceRow));
  gboolean ok = TRUE;
  for (guint i = 0; i < n; i++)
    jobs[i] = (Job){ .plan = plan,
                     .machine = i,
                     .met = g_array_new (FALSE, FALSE, sizeof (WrkChoiceRow)),
                     .missed = g_array_new (FALSE, FALSE, sizeof (WrkChoiceRow)) };
  base_parallel_each (jobs, n, sizeof (Job), threads, ask_machine);
  for (guint i = 0; i < n; i++) {
    take_best (jobs[i].met, each, contenders);
    take_best (jobs[i].missed, each, contenders);
    g_array_unref (jobs[i].met);
    g_array_unref (jobs[i].missed);
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

/* ---- what they come to ---- */

GArray *
wrk_plan_leads (const WrkPlan *plan, const GArray *contenders, GError **error)
{
  g_autoptr (GArray) leads = g_array_new (FALSE, TRUE, sizeof (WrkChoiceRow));
  for (guint m = 0; m < plan->machines->len; m++) {
    g_autoptr (WrkClosed) closed = wrk_closed_new (&g_array_index (plan->machines, WrkMachine, m).scenario->training, error);
    WrkChoiceRow lead = { .machine = m, .formula = (double)NAN };
    if (closed == NULL)
      return NULL;
    for (guint i = 0; i < contenders->len; i++) {
      WrkClosedStep step;
      WrkChoiceRow row;
      double over;
      if (ROW (contenders, i)->machine != m || !wrk_closed_step (closed, &ROW (contenders, i)->ask, &step, NULL) || !step.fits)
        continue;
      wrk_plan_take_step (plan, m, &ROW (contenders, i)->ask, &step, &row);
      if (wrk_plan_misses (plan, &row, &over) == WRK_OUT_N && !(row.formula >= lead.formula))
        lead = row;
    }
    g_array_append_val (leads, lead);
  }
  return g_steal_pointer (&leads);
}
