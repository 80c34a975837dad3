/* The engine on a row: whether the promises hold, and with how few replicas.
 *
 * * Requests go to the replica with the fewest. Pools that are apart are played together, with their KV over the fabric. Many
 * replicas are played as some of them with their share of the load. Numbers of replicas are searched one by one from the closed
  * form's: up while a promise breaks, of the pool that breaks it; then down while all hold. */
#include <math.h>

#include "base/error.h"
#include "fleet-private.h"

#define COUNTED       2000.0 /* requests of a replica's run, at least */
#define OUTSIDE       10.0    /* of these, that may miss the SLO, so that the fraction which misses it is told */
#define OF_A_REPLICA  100.0  /* and of each replica, where several are played */
#define MOST_WARM     20000.0
#define MOST_REPLICAS 64u /* that are played; more are played as a part of the load on a part of them */
#define MOST_ALIKE    16u /* the same of replicas that do both */
#define MOST_STEPS    24u

/* What the engine says of one number of replicas. */
typedef struct {
  SrvRunResult run;
  gboolean met, ttft, tpot;
  double good;
} Played;

/* The percentile that stands for the SLO's. */
static double
at_percentile (const SrvSpread *spread, double fraction)
{
  return fraction <= 0.5 ? spread->p50 : fraction <= 0.9 ? spread->p90 : fraction <= 0.95 ? spread->p95 : spread->p99;
}

static SrvRunSpec
spec_of (const PlnFleet *fleet, PlnFleetCut *cut, guint replicas)
{
  SrvRunSpec run;
  double fraction;
  srv_run_take_replica (&cut->replica, &cut->memory, cut->model, &run);
  run.replicas = replicas;
  run.router.policy = SRV_ROUTER_LEAST_LOADED;
  run.seed = fleet->seed;
  run.slo.e2e_s = (double)INFINITY;
  pln_fleet_slo (fleet, &run.slo.ttft_s, &run.slo.tpot_s, &fraction);
  return run;
}

/* The load at `rate`, long enough for its tail. */
static SrvLoad *
load_at (const PlnFleet *fleet, const PlnFleetRow *row, double rate, guint replicas, guint64 *warm_up, GError **error)
{
  SrvLoadSpec spec = fleet->spec.goal.load;
  const double e2e_s = row->ttft_s + (fleet->output - 1) * row->tpot_s;
  const double warm = fmin (fmax (2 * rate * e2e_s, 100), MOST_WARM);
  double ttft_s, tpot_s, fraction;
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  const double counted = fmax (fmax (COUNTED, OF_A_REPLICA * replicas), ceil (OUTSIDE / (1 - fraction) * (1 - 1e-9)));
  spec.rate = (BaseNum){ .set = TRUE, .v = rate };
  spec.requests = (BaseNum){ .set = TRUE, .v = counted };
  spec.warm_up = (BaseNum){ .set = TRUE, .v = ceil (warm) };
  spec.duration.set = FALSE;
  *warm_up = (guint64)spec.warm_up.v;
  return srv_load_new (&spec, NULL, fleet->seed, error);
}

/* What breaks: a request is late by its first token or by the others; the counts of both are not known apart, so percentiles
 * tell. */
static void
judge (PlnFleet *fleet, Played *out)
{
  double ttft_s, tpot_s, fraction;
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  out->good = out->run.requests > 0 ? (double)out->run.good / (double)out->run.requests : 0;
  out->met = out->good >= fraction;
  out->ttft = at_percentile (&out->run.ttft, fraction) <= ttft_s;
  out->tpot = !(at_percentile (&out->run.tpot, fraction) > tpot_s);
  fleet->n_runs++;
}

static gboolean
play_all (PlnFleet *fleet, const PlnFleetRow *row, Played *out, GError **error)
{
  const PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, row->machine);
  PlnFleetCut *cut = &g_array_index (machine->cuts, PlnFleetCut, row->layouts[0]);
  const guint n = MIN (row->replicas[0], MOST_ALIKE);
  const double rate = fleet->spec.goal.load.rate.v * n / row->replicas[0];
  SrvRunSpec run = spec_of (fleet, cut, n);
  g_autofree double *acceptance = srv_speculative_acceptance (&cut->replica.speculative);
  g_autoptr (SrvLoad) load = load_at (fleet, row, rate, n, &run.warm_up, error);
  if (load == NULL)
    return FALSE;
  run.acceptance = acceptance;
  run.source = srv_run_source (load, FALSE);
  if (!srv_run (&run, &out->run, error))
    return FALSE;
  judge (fleet, out);
  return TRUE;
}

static gboolean
play_apart (PlnFleet *fleet, const PlnFleetRow *row, Played *out, GError **error)
{
  const PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, row->machine);
  PlnFleetCut *cuts[2];
  SrvPlacedPool pools[2];
  PlnFleetRow part = *row; /* of a large fleet */
  const guint all = row->replicas[0] + row->replicas[1];
  const double shrink = fmax (1, (double)all / MOST_REPLICAS);
  for (guint i = 0; i < 2; i++) {
    cuts[i] = &g_array_index (machine->cuts, PlnFleetCut, row->layouts[i]);
    part.replicas[i] = MAX ((guint)(row->replicas[i] / shrink), 1);
  }
  /* By the pool that has less of its share: no promise holds only because the part is larger. */
  const double share = fmin ((double)part.replicas[0] / row->replicas[0], (double)part.replicas[1] / row->replicas[1]);
  Scn *scenario = pln_fleet_cluster (fleet, machine->topology, pln_fleet_nodes (machine, &part), error);
  if (scenario == NULL)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    pools[i] = (SrvPlacedPool){ &cuts[i]->replica, pln_fleet_first (machine, &part, i) };
  g_autoptr (ColNet) net = col_net_new (scenario->system.clu);
  g_autoptr (SrvKvFabric) fabric =
      srv_kv_fabric_new (&fleet->llm, &scenario->system, net, &pools[0], &pools[1], &fleet->spec.transfer, error);
  SrvRunSpec run = spec_of (fleet, cuts[0], part.replicas[0]), decode = spec_of (fleet, cuts[1], part.replicas[1]);
  g_autofree double *acceptance = srv_speculative_acceptance (&cuts[1]->replica.speculative);
  g_autoptr (SrvLoad) load = NULL;
  if (fabric != NULL)
    load = load_at (fleet, row, fleet->spec.goal.load.rate.v * share, part.replicas[0] + part.replicas[1], &run.warm_up, error);
  gboolean good = load != NULL;
  if (good) {
    decode.acceptance = acceptance;
    decode.caching = FALSE;
    run.limits.drafts = 0;
    run.decode = &decode;
    run.fabric = srv_kv_fabric_run (fabric);
    run.first_by_decode = srv_kv_fabric_first (fabric) == SRV_FIRST_DECODE;
    run.first_handed = srv_kv_fabric_first (fabric) == SRV_FIRST_HANDED;
    run.source = srv_run_source (load, TRUE);
    good = srv_run (&run, &out->run, error);
  }
  g_clear_pointer (&fabric, srv_kv_fabric_free);
  g_clear_pointer (&net, col_net_free);
  scn_free (scenario);
  if (good)
    judge (fleet, out);
  return good;
}

static gboolean
play (PlnFleet *fleet, const PlnFleetRow *row, Played *out, GError **error)
{
  *out = (Played){ 0 };
  return row->apart ? play_apart (fleet, row, out, error) : play_all (fleet, row, out, error);
}

/* One more of the pool that breaks a promise, or a few where there are many. */
static void
grow (PlnFleetRow *row, const Played *played)
{
  const guint pool = !row->apart                                             ? 0
                     : !played->ttft                                         ? 0
                     : !played->tpot                                         ? 1
                     : played->run.pools[0].busy > played->run.pools[1].busy ? 0
                                                                             : 1;
  row->replicas[pool] += MAX (row->replicas[pool] / 8, 1);
}

static gboolean
shrink (PlnFleet *fleet, PlnFleetRow *row, Played *best, guint pool, guint *steps, GError **error)
{
  while (row->replicas[pool] > 1 && (*steps)++ < MOST_STEPS) {
    PlnFleetRow fewer = *row;
    Played played;
    fewer.replicas[pool] -= MAX (fewer.replicas[pool] / 16, 1);
    if (!play (fleet, &fewer, &played, error))
      return FALSE;
    if (!played.met)
      return TRUE;
    *row = fewer;
    *best = played;
  }
  return TRUE;
}

gboolean
pln_fleet_check (PlnFleet *fleet, PlnFleetRow *row, gboolean *met, GError **error)
{
  Played played;
  guint steps = 0, begun[2] = { row->replicas[0], row->replicas[1] };
  double ttft_s, tpot_s, fraction;
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  for (;;) {
    if (!play (fleet, row, &played, error))
      return FALSE;
    if (played.met || steps++ == MOST_STEPS || row->replicas[0] > 4 * begun[0] + 4 || row->replicas[1] > 4 * begun[1] + 4)
      break;
    grow (row, &played);
  }
  *met = played.met;
  if (!played.met)
    return TRUE;
  if (steps == 0) /* the first guess held: perhaps fewer do too */
    for (guint i = 0; i < (row->apart ? 2u : 1u); i++)
      if (!shrink (fleet, row, &played, i, &steps, error))
        return FALSE;
  row->simulated = TRUE;
  row->good = played.good;
  row->ttft_s = at_percentile (&played.run.ttft, fraction);
  row->tpot_s = at_percentile (&played.run.tpot, fraction);
  row->tpot_mean_s = played.run.tpot.mean;
  for (guint i = 0; i < 2; i++)
    row->busy[i] = played.run.pools[i].busy;
  return TRUE;
}
