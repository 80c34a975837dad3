/* Replicas by requests in flight: a tree of minima for each pool, so that the replica with the fewest is found, and a change is
 * entered, in log2 (replicas) steps. Leaves are replicas in order; one that takes no requests is no candidate. */
#include "run/sim-private.h"

#define NONE G_MAXUINT

static guint
first_of (const SrvSim *sim, guint pool)
{
  return pool == 0 ? 0 : sim->spec->replicas;
}

static guint
load_of (const SrvReplica *replica)
{
  return srv_serves (replica) ? replica->in_flight : NONE;
}

void
srv_least_init (SrvSim *sim)
{
  const guint n[2] = { sim->spec->replicas, sim->n_replicas - sim->spec->replicas };
  for (guint pool = 0; pool < 2; pool++) {
    sim->leaves[pool] = 1;
    while (sim->leaves[pool] < n[pool])
      sim->leaves[pool] *= 2;
    sim->least[pool] = g_new (guint, 2 * (gsize)sim->leaves[pool]);
  }
  srv_least_renew (sim);
}

void
srv_least_clear (SrvSim *sim)
{
  g_free (sim->least[0]);
  g_free (sim->least[1]);
}

void
srv_least_renew (SrvSim *sim)
{
  const guint n[2] = { sim->spec->replicas, sim->n_replicas - sim->spec->replicas };
  for (guint pool = 0; pool < 2; pool++) {
    guint *least = sim->least[pool], leaves = sim->leaves[pool];
    for (guint i = 0; i < leaves; i++)
      least[leaves + i] = i < n[pool] ? load_of (&sim->replicas[first_of (sim, pool) + i]) : NONE;
    for (guint i = leaves; i-- > 1;)
      least[i] = MIN (least[2 * i], least[2 * i + 1]);
  }
}

void
srv_load (SrvSim *sim, SrvReplica *replica, gint by)
{
  guint *least = sim->least[replica->pool];
  guint at = sim->leaves[replica->pool] + replica->index - first_of (sim, replica->pool);
  replica->in_flight += (guint)by;
  least[at] = load_of (replica);
  while (at > 1) {
    at /= 2;
    const guint now = MIN (least[2 * at], least[2 * at + 1]);
    if (least[at] == now)
      return;
    least[at] = now;
  }
}

SrvReplica *
srv_least_loaded (const SrvSim *sim, guint pool)
{
  const guint *least = sim->least[pool], leaves = sim->leaves[pool];
  guint at = 1;
  if (least[1] == NONE)
    return NULL;
  while (at < leaves)
    at = least[2 * at] <= least[2 * at + 1] ? 2 * at : 2 * at + 1; /* of equals the first */
  return &sim->replicas[first_of (sim, pool) + at - leaves];
}
