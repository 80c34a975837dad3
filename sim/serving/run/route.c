/* Which replica, and which of its schedulers, takes a request.
 *
 * * Sources. `kv`: Dynamo, docs/components/router/router-concepts.md and router-configuration.md at 03037af0 (linear score, prompts
 * count in full until their first token, a block that several requests use counts once; workers that only prefill count no blocks
 * in use). `llm_d`: scorers of the endpoint picker, multi/prefix/plugin.go, scorer/kvcache_utilization.go and scorer/queue.go of
 * gateway-api-inference-extension at 02308be3; weights 3, 2, 2 of llm-d's guides/inference-scheduling at 086f217d. `two_choices`:
 * Dynamo's power-of-two.
 * * Ours: blocks in use also hold answers (Dynamo's --router-track-output-blocks); equal costs go to the next scheduler in turn;
 * softmax is taken of costs scaled to 0 … 1. Routers see the state of each scheduler at once. */
#include <math.h>

#include "base/random.h"
#include "run/sim-private.h"

#define ROUTE_DRAW 0x726f757465u /* apart from other draws of a request */

/* ---- costs ---- */

double
srv_router_kv_cost (const SrvRouting *routing, double prefill, const SrvOverlap *overlap, double decode)
{
  const double credited = routing->credit * overlap->gpu + routing->host * overlap->host + routing->nvme * overlap->nvme;
  return routing->scale * fmax (prefill - credited, 0) + decode;
}

void
srv_router_llm_d_scores (const SrvRouting *routing, const SrvScored *scored, guint n, double *scores)
{
  guint shortest = G_MAXUINT, longest = 0;
  for (guint i = 0; i < n; i++) {
    shortest = MIN (shortest, scored[i].waiting);
    longest = MAX (longest, scored[i].waiting);
  }
  for (guint i = 0; i < n; i++) {
    const SrvScored *its = &scored[i];
    const double queue = longest == shortest ? 1 : (double)(longest - its->waiting) / (longest - shortest);
    scores[i] = routing->prefix * its->matched + routing->usage * (1 - its->usage) + routing->queue * queue;
  }
}

/* ---- by replica ---- */

static guint64
draw (const SrvSim *sim, const SrvSeq *seq, guint what)
{
  return base_random_hash (sim->spec->seed, seq->index, what, ROUTE_DRAW);
}

/* The first that is there, from `at` on; NULL: all are lost. */
static SrvReplica *
next_of (const SrvSim *sim, guint64 at)
{
  const guint n = sim->spec->replicas;
  for (guint i = 0; i < n; i++)
    if (srv_serves (&sim->replicas[(at + i) % n]))
      return &sim->replicas[(at + i) % n];
  return NULL;
}

static SrvReplica *
of_two (const SrvSim *sim, const SrvSeq *seq)
{
  const guint n = sim->spec->replicas;
  if (n == 1)
    return next_of (sim, 0);
  const guint a = (guint)(draw (sim, seq, 0) % n), b = (a + 1 + (guint)(draw (sim, seq, 1) % (n - 1))) % n;
  SrvReplica *first = next_of (sim, a), *second = next_of (sim, b);
  return first != NULL && second->in_flight < first->in_flight ? second : first;
}

static SrvReplica *
of_session (SrvSim *sim, const SrvSeq *seq)
{
  if (seq->session == 0)
    return srv_least_loaded (sim, 0);
  const gpointer key = GUINT_TO_POINTER (seq->session);
  const guint known = GPOINTER_TO_UINT (g_hash_table_lookup (sim->route.sessions, key));
  const gboolean stays = known > 0 && srv_serves (&sim->replicas[known - 1]);
  SrvReplica *replica = stays ? &sim->replicas[known - 1] : srv_least_loaded (sim, 0);
  if (!stays && replica != NULL)
    g_hash_table_insert (sim->route.sessions, key, GUINT_TO_POINTER (replica->index + 1));
  return replica;
}

/* ---- by scheduler, with what its cache has ---- */

static double
used (const SrvKv *kv)
{
  return (double)(srv_kv_blocks (kv) - srv_kv_idle (kv));
}

static double
kv_cost (SrvSim *sim, const SrvSeq *seq, const SrvReplica *replica, guint rank)
{
  const SrvSched *sched = replica->scheds[rank];
  guint below[2];
  const double block = srv_kv_block (sched->kv), prompt = ceil (seq->input / block);
  const SrvHit hit = srv_kv_match (sched->kv, &seq->kv, seq->input);
  double decode = 0;
  if (sim->spec->decode == NULL)
    decode = used (sched->kv) + (double)sched->waiting_tokens / block + prompt - (hit.blocks - hit.idle);
  const double unit = srv_kv_unit_tokens (sched->kv) / block;
  srv_tiers_has (sim, replica, rank, seq, unit > 0 ? (guint)(hit.blocks / unit) : 0, below);
  const SrvOverlap overlap = { hit.blocks, below[0] * unit, below[1] * unit };
  return srv_router_kv_cost (&sim->spec->router, (double)replica->prefill[rank] / block + prompt, &overlap, decode);
}

/* The lowest cost; of equal ones the first from the turn on. */
static guint
lowest (const double *costs, guint n, guint64 turn)
{
  guint best = (guint)(turn % n);
  for (guint i = 1; i < n; i++) {
    const guint at = (guint)((turn + i) % n);
    if (costs[at] < costs[best])
      best = at;
  }
  return best;
}

/* One at random, by exp (-cost / temperature) of costs scaled to 0 … 1. */
static guint
softmax (const double *costs, guint n, double temperature, double u)
{
  double least = (double)INFINITY, most = -(double)INFINITY, sum = 0;
  for (guint i = 0; i < n; i++) {
    least = fmin (least, costs[i]);
    most = isfinite (costs[i]) ? fmax (most, costs[i]) : most; /* others are lost */
  }
  const double width = most > least ? (most - least) * temperature : 1;
  for (guint i = 0; i < n; i++)
    sum += exp ((least - costs[i]) / width);
  guint at = 0;
  for (double left = u * sum; at < n - 1; at++) {
    left -= exp ((least - costs[at]) / width);
    if (left < 0)
      break;
  }
  return at;
}

static guint
by_cost (SrvSim *sim, const SrvSeq *seq)
{
  const guint ranks = sim->spec->times.ranks, n = sim->spec->replicas * ranks;
  const SrvRouting *routing = &sim->spec->router;
  double *costs = sim->route.costs;
  if (routing->policy == SRV_ROUTER_KV)
    for (guint i = 0; i < n; i++)
      costs[i] =
          !srv_serves (&sim->replicas[i / ranks]) ? (double)INFINITY : kv_cost (sim, seq, &sim->replicas[i / ranks], i % ranks);
  else {
    for (guint i = 0; i < n; i++) {
      const SrvReplica *replica = &sim->replicas[i / ranks];
      const SrvSched *sched = replica->scheds[i % ranks];
      const double matched = (double)srv_kv_match (sched->kv, &seq->kv, seq->input).blocks * srv_kv_block (sched->kv);
      sim->route.scored[i] = (SrvScored){ .matched = matched / seq->input,
                                          .waiting = sched->n_waiting + replica->n_late[i % ranks],
                                          .usage = used (sched->kv) / (double)srv_kv_blocks (sched->kv) };
    }
    srv_router_llm_d_scores (routing, sim->route.scored, n, costs);
    for (guint i = 0; i < n; i++)
      costs[i] = !srv_serves (&sim->replicas[i / ranks]) ? (double)INFINITY : -costs[i];
  }
  if (routing->policy == SRV_ROUTER_KV && routing->temperature > 0)
    return softmax (costs, n, routing->temperature, (double)(draw (sim, seq, 2) >> 11) * 0x1p-53);
  return lowest (costs, n, sim->route.turn);
}

/* ---- the whole ---- */

void
srv_route_init (SrvSim *sim)
{
  const guint n = sim->spec->replicas * sim->spec->times.ranks;
  sim->route =
      (SrvRoute){ .sessions = g_hash_table_new (NULL, NULL), .costs = g_new0 (double, n), .scored = g_new0 (SrvScored, n) };
}

void
srv_route_clear (SrvSim *sim)
{
  g_hash_table_destroy (sim->route.sessions);
  g_free (sim->route.costs);
  g_free (sim->route.scored);
}

static SrvReplica *
replica_of (SrvSim *sim, SrvSeq *seq)
{
  switch (sim->spec->router.policy) {
    case SRV_ROUTER_LEAST_LOADED:
      return srv_least_loaded (sim, 0);
    case SRV_ROUTER_TWO_CHOICES:
      return of_two (sim, seq);
    case SRV_ROUTER_SESSION:
      return of_session (sim, seq);
    case SRV_ROUTER_ROUND_ROBIN:
    default:
      return next_of (sim, sim->route.turn);
  }
}

SrvReplica *
srv_route (SrvSim *sim, SrvSeq *seq)
{
  const SrvRouter policy = sim->spec->router.policy;
  const guint ranks = sim->spec->times.ranks;
  SrvReplica *replica;
  if (policy == SRV_ROUTER_KV || policy == SRV_ROUTER_LLM_D) {
    const guint at = by_cost (sim, seq);
    replica = !srv_serves (&sim->replicas[at / ranks]) ? NULL : &sim->replicas[at / ranks];
    seq->rank = at % ranks;
  } else {
    replica = replica_of (sim, seq);
    seq->rank = replica != NULL ? srv_even_rank (replica) : 0;
  }
  if (replica == NULL)
    return NULL;
  sim->route.turn++;
  if (policy == SRV_ROUTER_KV) {
    const SrvKv *kv = replica->scheds[seq->rank]->kv;
    seq->charge = seq->input - MIN (srv_kv_match (kv, &seq->kv, seq->input).blocks * srv_kv_block (kv), seq->input);
    replica->prefill[seq->rank] += seq->charge;
  }
  return replica;
}

void
srv_route_prefilled (SrvReplica *replica, SrvSeq *seq)
{
  replica->prefill[seq->rank] -= seq->charge;
  seq->charge = 0;
}
