/* Autoscaling of replicas.
 *
 *     wanted = ceil (serving · metric / target),  as many as before within 10 % of the target;  least <= wanted <= all
 *
 * * Source: Kubernetes, Horizontal Pod Autoscaling, algorithm details (tolerance 0.1; the highest wish of the stabilisation window
 * counts on the way down, 300 s by default). The metric is the mean of the replicas that serve. Replicas are ordered in their
 * order and drained from the last on. A replica is paid from its order until the look that finds it drained and empty.
 * * Check: test_serving_scale. Left out: nodes that are started with their replicas, and releases that are refused. */
#include <math.h>

#include "run/sim-private.h"

#define TOLERANCE 0.1

void
srv_scale_init (SrvSim *sim)
{
  const SrvScale *scale = &sim->spec->scale;
  sim->wanted = g_array_new (FALSE, FALSE, sizeof (SrvWanted));
  sim->look = scale->target > 0 ? 0 : ENG_TIME_NEVER;
  for (guint i = 0; i < sim->n_replicas; i++) {
    sim->replicas[i].off = scale->target > 0 && i >= scale->least;
    sim->replicas[i].starts = ENG_TIME_NEVER;
  }
}

void
srv_scale_clear (SrvSim *sim)
{
  g_array_unref (sim->wanted);
}

EngTime
srv_scale_next (const SrvSim *sim)
{
  EngTime next = sim->look;
  for (guint i = 0; sim->look != ENG_TIME_NEVER && i < sim->spec->replicas; i++)
    next = MIN (next, sim->replicas[i].starts);
  return next;
}

static gboolean
is_paid (const SrvReplica *replica)
{
  return !replica->off || replica->starts != ENG_TIME_NEVER;
}

static void
count_paid (SrvSim *sim, EngTime until)
{
  guint paid = 0;
  for (guint i = 0; i < sim->spec->replicas; i++)
    paid += is_paid (&sim->replicas[i]) ? 1 : 0;
  sim->out->replicas_most = MAX (sim->out->replicas_most, paid);
  if (until > sim->paid_at)
    sim->paid_ps += (double)(until - sim->paid_at) * paid;
  sim->paid_at = until;
}

static double
metric_of (const SrvSim *sim, const SrvReplica *replica)
{
  const guint ranks = replica->spec->times.ranks;
  double value = 0;
  if (sim->spec->scale.metric == SRV_SCALE_IN_FLIGHT)
    return replica->in_flight;
  for (guint k = 0; k < ranks; k++) {
    const SrvSched *sched = replica->scheds[k];
    const double blocks = (double)srv_kv_blocks (sched->kv), idle = (double)srv_kv_idle (sched->kv);
    value += sim->spec->scale.metric == SRV_SCALE_QUEUE ? sched->n_waiting : (1 - idle / blocks) / ranks;
  }
  return value;
}

/* Replicas that the load wants now. */
static guint
wanted_now (const SrvSim *sim)
{
  const SrvScale *scale = &sim->spec->scale;
  double sum = 0;
  guint serving = 0, ordered = 0;
  for (guint i = 0; i < sim->spec->replicas; i++) {
    const SrvReplica *replica = &sim->replicas[i];
    ordered += is_paid (replica) && !replica->drains ? 1 : 0;
    if (!srv_serves (replica))
      continue;
    serving++;
    sum += metric_of (sim, replica);
  }
  const double ratio = sum / serving / scale->target;
  if (fabs (ratio - 1) <= TOLERANCE)
    return ordered;
  return (guint)CLAMP (ceil (serving * ratio), scale->least, sim->spec->replicas);
}

static void
order (SrvSim *sim, guint n)
{
  for (guint i = 0; i < sim->spec->replicas && n > 0; i++) {
    SrvReplica *replica = &sim->replicas[i];
    if (replica->drains) { /* it stays */
      replica->drains = FALSE;
      n--;
    } else if (!is_paid (replica)) {
      replica->starts = eng_time_add (sim->now, eng_time_from_s (sim->spec->scale.start_s));
      sim->out->starts++;
      n--;
    }
  }
}

static void
release (SrvSim *sim, guint n)
{
  for (guint i = sim->spec->replicas; i-- > 0 && n > 0;) {
    SrvReplica *replica = &sim->replicas[i];
    if (!is_paid (replica) || replica->drains)
      continue;
    if (replica->off) /* its start is called off */
      replica->starts = ENG_TIME_NEVER;
    else
      replica->drains = TRUE;
    n--;
  }
}

static void
look (SrvSim *sim)
{
  const SrvScale *scale = &sim->spec->scale;
  const SrvWanted now = { sim->now, wanted_now (sim) };
  const EngTime window = eng_time_from_s (scale->stabilise_s);
  guint ordered = 0, most = 0;
  g_array_append_val (sim->wanted, now);
  while (g_array_index (sim->wanted, SrvWanted, 0).at + window < sim->now)
    g_array_remove_index (sim->wanted, 0);
  for (guint i = 0; i < sim->wanted->len; i++)
    most = MAX (most, g_array_index (sim->wanted, SrvWanted, i).replicas);
  for (guint i = 0; i < sim->spec->replicas; i++) {
    SrvReplica *replica = &sim->replicas[i];
    if (replica->drains && replica->in_flight == 0) {
      replica->drains = FALSE;
      replica->off = TRUE;
    }
    ordered += is_paid (replica) && !replica->drains ? 1 : 0;
  }
  if (now.replicas > ordered)
    order (sim, now.replicas - ordered);
  else if (most < ordered)
    release (sim, ordered - most);
  sim->look = eng_time_add (sim->now, eng_time_from_s (scale->every_s));
}

void
srv_scale_take (SrvSim *sim)
{
  count_paid (sim, sim->now);
  for (guint i = 0; i < sim->spec->replicas; i++) {
    SrvReplica *replica = &sim->replicas[i];
    if (replica->starts > sim->now)
      continue;
    replica->off = FALSE;
    replica->starts = ENG_TIME_NEVER;
  }
  if (sim->look <= sim->now)
    look (sim);
  srv_least_renew (sim);
}

void
srv_scale_finish (SrvSim *sim)
{
  if (sim->look == ENG_TIME_NEVER)
    return;
  count_paid (sim, MAX (sim->tally->last_end, sim->paid_at));
  sim->out->replicas_mean = sim->paid_ps / (double)sim->paid_at;
}
