/* What keeps a cluster option out of a plan's answer: of its configurations the one that misses the constraints by least, and what
 * they would have to allow. Configurations that only the global batch does not divide count with the nearest batch that does.
 *
 *     a configuration misses by the sum of |ln (needed / allowed)| over its constraints, and 0.02 for each of them
 *
 * What a plan cannot change, memory and missing prices, stands behind all that it can. Estimated, not simulated.
 * Check: test_plan_choices. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "work-private.h"

#define EACH  0.02  /* one constraint by 2 % more is as near as two */
#define FIXED 100.0 /* that no key of the goal or the constraints changes */

typedef struct {
  const Pln *plan;
  PlnNearest miss;
} Job;

static double
distance (const Job *job, const PlnNearest *miss)
{
  const PlnMachine *machine = &g_array_index (job->plan->machines, PlnMachine, miss->machine);
  const double batch = machine->scenario->training.spec.model.global_batch.v;
  double sum = miss->batch > 0 ? EACH + fabs (log (miss->batch / batch)) : 0;
  for (int o = 0; o < PLN_REJECTED_N; o++)
    if (miss->need[o] > 0)
      sum += EACH + (miss->limit[o] > 0 ? fabs (log (miss->need[o] / miss->limit[o])) : 0) +
             (o == PLN_REJECTED_MEMORY || o == PLN_REJECTED_PRICE ? FIXED : 0);
  return sum;
}

static void
try_all (Job *job, TrnClosed *closed, const GArray *cuts, gboolean other_batch)
{
  for (guint i = 0; i < cuts->len; i++) {
    const TrnClosedQuery *query = &g_array_index (cuts, TrnClosedQuery, i);
    PlnNearest miss = { .machine = job->miss.machine, .has_row = TRUE, .why = job->miss.why };
    TrnClosedStep step;
    if (!trn_closed_step (closed, query, &step, NULL))
      continue;
    pln_take_step (job->plan, miss.machine, query, &step, &miss.row);
    pln_needs (job->plan, &miss.row, miss.need, miss.limit);
    miss.batch = other_batch ? query->dp * query->micro_batch * query->micro_batches : 0;
    miss.by = distance (job, &miss);
    if (miss.by > 0 && miss.by < job->miss.by)
      job->miss = miss;
  }
}

static void
find (void *item)
{
  Job *job = item;
  const PlnMachine *machine = &g_array_index (job->plan->machines, PlnMachine, job->miss.machine);
  guint64 out[PLN_REJECTED_N] = { 0 };
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (TrnClosedQuery));
  g_autoptr (GArray) others = g_array_new (FALSE, FALSE, sizeof (TrnClosedQuery));
  g_autoptr (TrnClosed) closed = trn_closed_new (&machine->scenario->training, NULL);
  if (closed == NULL || !pln_layouts (job->plan, machine, cuts, others, out, NULL))
    return;
  job->miss.why = cuts->len > 0 ? PLN_REJECTED_REFUSED : PLN_REJECTED_GPUS;
  for (int o = 0; cuts->len == 0 && o < PLN_REJECTED_N; o++)
    if (out[o] > out[job->miss.why])
      job->miss.why = (PlnRejection)o;
  trn_closed_skip_unfit (closed, 1);
  try_all (job, closed, cuts, FALSE);
  try_all (job, closed, others, TRUE);
}

void
pln_find_nearest (const Pln *plan, guint threads, PlnResult *out)
{
  g_autofree gboolean *has = g_new0 (gboolean, plan->machines->len);
  g_autofree Job *jobs = g_new0 (Job, plan->machines->len);
  guint n = 0;
  for (guint i = 0; i < out->rows->len; i++)
    has[g_array_index (out->rows, PlnChoiceRow, i).machine] = TRUE;
  for (guint i = 0; i < plan->machines->len; i++)
    if (!has[i] && !g_array_index (plan->machines, PlnMachine, i).borrowed)
      jobs[n++] = (Job){ .plan = plan, .miss = { .machine = i, .why = PLN_REJECTED_N, .by = (double)INFINITY } };
  base_parallel_each (jobs, n, sizeof *jobs, threads, NULL, find);
  for (guint i = 0; i < n; i++)
    g_array_append_val (out->misses, jobs[i].miss);
}

char *
pln_why_refused (const Pln *plan, guint machine)
{
  const PlnMachine *its = &g_array_index (plan->machines, PlnMachine, machine);
  g_autoptr (GArray) cuts = pln_list_layouts (plan, machine, NULL);
  g_autoptr (TrnClosed) closed = trn_closed_new (&its->scenario->training, NULL);
  for (guint i = 0; closed != NULL && i < cuts->len; i++) {
    g_autoptr (GError) why = NULL;
    TrnClosedStep step;
    if (trn_closed_step (closed, &g_array_index (cuts, TrnClosedQuery, i), &step, &why) || why == NULL)
      continue;
    const char *text = strstr (why->message, ": "); /* behind a place that is of no file of the user */
    return g_strdup (text != NULL ? text + strlen (": ") : why->message);
  }
  return NULL;
}
