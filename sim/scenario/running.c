/* Work of a job while it is under way among others. */
#include "jobs-private.h"

void
scn_running_free (gpointer data)
{
  ScnRunning *running = data;
  if (running == NULL)
    return;
  g_array_unref (running->uses);
  g_array_unref (running->ends);
  g_clear_pointer (&running->exact, col_exact_free);
  g_clear_pointer (&running->comm, col_comm_free);
  g_clear_pointer (&running->step, trn_step_free);
  g_clear_pointer (&running->io, sto_io_run_free);
  g_clear_pointer (&running->rounds, trn_rounds_free);
  g_free (running);
}

/* All that is under way has ended. */
static void
note_end (ScnRunning *running, Eng *eng)
{
  running->end = eng_now (eng);
  if (running->ends->len < SCN_MOST_ENDS)
    g_array_append_val (running->ends, running->end);
}

void
scn_running_ended (Eng *eng, void *user, uint64_t arg)
{
  ScnRunning *running = user;
  (void)arg;
  running->at_once--;
  if (running->at_once > 0)
    return;
  note_end (running, eng);
  if (running->in_a_row <= 0)
    return;
  running->in_a_row--;
  running->at_once++;
  eng_flow_start (eng, &running->spec);
}

void
scn_running_start_flows (ScnRunning *running, double at_once, double in_a_row)
{
  running->spec.done = scn_running_ended;
  running->spec.user = running;
  running->at_once = at_once;
  running->in_a_row = in_a_row - 1;
  for (double i = 0; i < at_once; i++)
    eng_flow_start (col_net_engine (running->net), &running->spec);
}

static void
exact_ended (Eng *eng, void *user, uint64_t arg)
{
  ScnRunning *running = user;
  (void)arg;
  note_end (running, eng);
  if (running->in_a_row <= 0)
    return;
  running->in_a_row--;
  const gboolean again = col_exact_start (running->exact, exact_ended, running, NULL);
  g_return_if_fail (again); /* its routes were found the first time */
}

gboolean
scn_running_start_exact (ScnRunning *running, double in_a_row, GError **error)
{
  running->in_a_row = in_a_row - 1;
  return col_exact_start (running->exact, exact_ended, running, error);
}

gboolean
scn_job_has_rounds (const ScnJob *job)
{
  const TrnSpec *training = &job->view.training.spec;
  return job->view.kind == SCN_KIND_TRAINING &&
         (job->spec.steps.v > 1 || training->loader.head.set || training->checkpoint.tier.v != NULL);
}
