/* Replicas that are lost and come back: what they ran is sent again.
 *
 * * A lost replica forgets all: its KV, its queue, the step in progress, its own tiers. Its requests wait `detect` and are routed
 * anew. They are answered from the begin, or (`migrate`, as Dynamo's request migration) go on behind their tokens once the KV of
 * all of them is computed again. A replica that is back has an empty cache.
 * * Check: test_serving_outage. */
#include "run/sim-private.h"

static gint
by_time (gconstpointer a, gconstpointer b)
{
  const SrvLoss *x = a, *y = b;
  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  return x->down != y->down ? (x->down ? 1 : -1) : x->replica < y->replica ? -1 : x->replica > y->replica;
}

void
srv_outage_init (SrvSim *sim)
{
  const SrvRunSpec *spec = sim->spec;
  sim->losses = g_array_new (FALSE, FALSE, sizeof (SrvLoss));
  sim->again = g_ptr_array_new ();
  for (guint i = 0; i < SRV_PHASE_N; i++)
    sim->phases[i] = srv_sample_new ();
  for (guint i = 0; i < spec->n_outages; i++) {
    const SrvOutage *outage = &spec->outages[i];
    const SrvLoss lost = { eng_time_from_s (outage->at_s), outage->replica, TRUE };
    const SrvLoss back = { eng_time_from_s (outage->until_s), outage->replica, FALSE };
    g_array_append_val (sim->losses, lost);
    if (back.at != ENG_TIME_NEVER)
      g_array_append_val (sim->losses, back);
  }
  g_array_sort (sim->losses, by_time);
}

void
srv_outage_clear (SrvSim *sim)
{
  g_array_unref (sim->losses);
  g_ptr_array_unref (sim->again);
  for (guint i = 0; i < SRV_PHASE_N; i++)
    srv_sample_free (sim->phases[i]);
}

EngTime
srv_outage_next (const SrvSim *sim)
{
  return sim->next_loss < sim->losses->len ? g_array_index (sim->losses, SrvLoss, sim->next_loss).at : ENG_TIME_NEVER;
}

EngTime
srv_outage_back (const SrvSim *sim)
{
  for (guint i = sim->next_loss; i < sim->losses->len; i++) {
    const SrvLoss *loss = &g_array_index (sim->losses, SrvLoss, i);
    if (!loss->down && loss->replica < sim->spec->replicas)
      return loss->at;
  }
  return ENG_TIME_NEVER;
}

void
srv_outage_again (SrvSim *sim, SrvSeq *seq)
{
  sim->out->retried++;
  sim->out->failed_tokens += seq->computed;
  if (sim->spec->decode != NULL && seq->answer == 0) { /* it was in the decode pool */
    seq->answer = seq->output;
    seq->output = 1;
  }
  if (!sim->spec->migrate || seq->produced == 0) {
    seq->produced = 0;
    seq->first = seq->start = ENG_TIME_NEVER;
  }
  seq->computed = seq->take = seq->charge = seq->units = seq->target = 0;
  seq->before = seq->after = NULL;
  seq->phase = SRV_PHASE_DURING;
}

static void
lose (SrvSim *sim, SrvReplica *replica)
{
  srv_replica_stop (sim, replica);
  srv_handoff_lose (sim, replica);
  srv_handoff_grant (sim, replica, TRUE);
  srv_tiers_lose (sim, replica);
  for (guint k = 0; k < replica->spec->times.ranks; k++) {
    srv_sched_lose (replica->scheds[k], sim->again);
    replica->prefill[k] = 0;
    replica->n_late[k] = 0;
  }
  for (guint i = 0; i < replica->late->len; i++)
    g_ptr_array_add (sim->again, replica->late->pdata[i]);
  g_ptr_array_set_size (replica->late, 0);
  replica->in_flight = 0;
  replica->down = TRUE;
  replica->epoch++;
  sim->n_down++;
}

void
srv_outage_take (SrvSim *sim)
{
  while (srv_outage_next (sim) <= sim->now) {
    const SrvLoss *loss = &g_array_index (sim->losses, SrvLoss, sim->next_loss++);
    SrvReplica *replica = &sim->replicas[loss->replica];
    if (loss->down && !replica->down)
      lose (sim, replica);
    else if (!loss->down && replica->down) {
      replica->down = FALSE;
      sim->n_down--;
    }
  }
  srv_least_renew (sim);
}
