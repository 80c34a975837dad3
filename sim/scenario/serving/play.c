/* Plays a serving workload: its pools on their GPUs, with step times, memory, KV on the fabric and tiers, made ready and run. */
#include <math.h>

#include "scenario/loaded.h"
#include "serving-private.h"

/* ---- pools ---- */

static ScnPool
plain_pool (const ScnServingSpec *spec)
{
  return (ScnPool){ .replica = spec->replica,
                    .replicas = (guint)spec->replicas.v,
                    .mark = spec->replicas.set ? spec->replicas.mark : spec->replica.parallel.head.mark };
}

static ScnPool
pool_of (const ScnServingSpec *spec, const SrvPoolSpec *its)
{
  ScnPool pool = { .replica = spec->replica, .replicas = (guint)its->replicas.v, .mark = its->head.mark };
  if (its->replica.engine.head.set)
    pool.replica.engine = its->replica.engine;
  if (its->replica.parallel.head.set)
    pool.replica.parallel = its->replica.parallel;
  if (its->replica.precision.head.set)
    pool.replica.precision = its->replica.precision;
  if (its->replica.moe.head.set)
    pool.replica.moe = its->replica.moe;
  if (its->replica.speculative.head.set)
    pool.replica.speculative = its->replica.speculative;
  return pool;
}

static gboolean
bad_roles (const ScnServingSpec *spec, GError **error)
{
  const SrvPoolSpec *first = BASE_LIST_AT (spec->pools, SrvPoolSpec, 0);
  return col_fail_at (
      error, first->head.mark,
      "`pools` needs one pool of role `all`, or one `prefill` and one `decode`; other sets of pools are not modelled");
}

/* pools[0] takes requests; pools[1] answers them, where there are two. */
gboolean
scn_serving_pools (const ScnServingSpec *spec, ScnPool pools[2], guint *n, GError **error)
{
  *n = 1;
  pools[0] = plain_pool (spec);
  if (spec->pools.n == 0)
    return TRUE;
  guint32 from = 0;
  gboolean seen[3] = { FALSE, FALSE, FALSE };
  *n = spec->pools.n;
  if (*n > 2)
    return bad_roles (spec, error);
  for (guint i = 0; i < *n; i++) {
    const SrvPoolSpec *its = BASE_LIST_AT (spec->pools, SrvPoolSpec, i);
    ScnPool pool = pool_of (spec, its);
    pool.first = its->first_gpu.set ? (guint32)its->first_gpu.v : from;
    from = pool.first + (guint32)scn_pool_gpus (&pool);
    if (seen[its->role.v])
      return bad_roles (spec, error);
    seen[its->role.v] = TRUE;
    pools[its->role.v == SRV_ROLE_DECODE ? 1 : 0] = pool;
  }
  if ((*n == 1 && !seen[SRV_ROLE_ALL]) || (*n == 2 && seen[SRV_ROLE_ALL]))
    return bad_roles (spec, error);
  return TRUE;
}

/* ---- the run ---- */

static double
or_never (const BaseNum *limit)
{
  return limit->set ? limit->v : (double)INFINITY;
}

static SrvRouting
routing (const SrvRouterSpec *spec)
{
  return (SrvRouting){ .policy = (SrvRouter)spec->policy.v,
                       .credit = spec->credit.v,
                       .scale = spec->scale.v,
                       .host = spec->host_credit.v,
                       .nvme = spec->nvme_credit.v,
                       .temperature = spec->temperature.v,
                       .prefix = spec->prefix.v,
                       .usage = spec->usage.v,
                       .queue = spec->queue.v };
}

static SrvRunSpec
run_spec (const Scn *scenario, const ScnPool *pool, const SrvMemory *memory, SrvStepModel *model)
{
  const ScnServingSpec *spec = scenario->own;
  SrvRunSpec run;
  srv_run_take_replica (&pool->replica, memory, model, &run);
  run.replicas = pool->replicas;
  if (spec->scale.head.set)
    run.scale = (SrvScale){ (SrvScaleMetric)spec->scale.metric.v,
                            spec->scale.target.v,
                            (guint)spec->scale.least.v,
                            spec->scale.every.v,
                            spec->scale.start.v,
                            spec->scale.stabilise.v };
  run.router = routing (&spec->router);
  run.seed = scenario->seed;
  run.slo = (SrvSlo){ or_never (&spec->slo.ttft), or_never (&spec->slo.tpot), or_never (&spec->slo.e2e) };
  run.watch = spec->watch.set ? (guint64)spec->watch.v : G_MAXUINT64;
  return run;
}

void
scn_play_clear (ScnPlay *play)
{
  for (guint i = 0; i < 2; i++)
    srv_step_model_free (play->models[i]);
  g_free (play->acceptance);
  g_clear_pointer (&play->ways, g_hash_table_unref);
  g_clear_pointer (&play->outages, g_array_unref);
}

/* A pool's step times, on GPUs of its own, and its memory. */
static gboolean
open_pool (ScnPlay *play, guint i, SrvMemory *memory, SrvRunSpec *run, ColRunInfo *info, GError **error)
{
  const ScnServingSpec *spec = play->scenario->own;
  ScnPool *pool = &play->pools[i];
  ColSystem system = play->scenario->system;
  g_autofree char *warning = NULL;
  if (!srv_replica_settle (&pool->replica, system.engines, NULL, &warning, error))
    return FALSE;
  if (warning != NULL)
    col_run_warn (info, "%s", warning);
  g_autoptr (GArray) gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_vals (gpus, &g_array_index (system.gpus, guint32, pool->first), system.gpus->len - pool->first);
  system.gpus = gpus;
  if (!srv_memory_plan (&spec->llm, &system, &pool->replica, memory, error))
    return FALSE;
  play->models[i] = srv_step_model_new (&spec->llm, &system, &pool->replica, error);
  if (play->models[i] == NULL)
    return FALSE;
  *run = run_spec (play->scenario, pool, memory, play->models[i]);
  return TRUE;
}

static SrvTierWays *
tier_ways (const ScnPlay *play, ColNet *net)
{
  const ScnServingSpec *spec = play->scenario->own;
  return srv_tier_ways_new (&spec->llm, &play->scenario->system, net, &play->pools[0].replica, play->pools[0].first,
                            spec->offload.item, spec->offload.n);
}

static void
take_load (ScnPlay *play, SrvLoad *load, int band, gboolean flows)
{
  SrvRunSpec *run = &play->run;
  run->parts = play->parts;
  run->source = srv_run_source (load, flows);
  run->warm_up = (guint64)srv_load_settled (load)->warm_up.v;
  run->band = band;
}

gboolean
scn_play_answered (const ScnServingSpec *spec, const SrvRunResult *out, GError **error)
{
  const BaseStr *trace = &spec->load.trace;
  return out->most_in_flight > 0 ||
         col_fail_at (error, trace->set ? trace->mark : spec->load.head.mark, "no request came%s",
                      trace->set ? ": the trace has none that is sent; give one with requests, or a longer 'duration'"
                                 : "; give 'requests' of at least 1, or a longer 'duration'");
}

/* Why a run failed; takes it. Returns FALSE. */
static gboolean
say_why (const ScnServingSpec *spec, GError *why, GError **error)
{
  if (spec->load.trace.set) { /* says the line */
    g_propagate_error (error, why);
    return FALSE;
  }
  col_fail_at (error, spec->load.head.mark, "%s", why->message);
  g_error_free (why);
  return FALSE;
}

/* One run with steps at that end of their band. */
gboolean
scn_play_run (ScnPlay *play, int band, SrvRunResult *out, GError **error)
{
  const ScnServingSpec *spec = play->scenario->own;
  SrvRunSpec *run = &play->run;
  g_autoptr (ColNet) own = NULL;
  ColNet *net = NULL;
  g_autoptr (SrvKvFabric) fabric = NULL;
  g_autoptr (SrvTierWays) ways = NULL;
  g_autoptr (SrvLoad) load = srv_load_new (&spec->load, NULL, play->scenario->seed, error);
  if (load == NULL)
    return FALSE;
  if (play->n == 2 || spec->offload.n > 0)
    net = play->net != NULL ? play->net : (own = col_net_new (play->scenario->system.clu));
  if (spec->offload.n > 0) {
    ways = tier_ways (play, net);
    run->offload = srv_tier_ways_run (ways);
  }
  if (play->n == 2) {
    const SrvPlacedPool from = { &play->pools[0].replica, play->pools[0].first },
                        to = { &play->pools[1].replica, play->pools[1].first };
    fabric = srv_kv_fabric_new (&spec->llm, &play->scenario->system, net, &from, &to, &spec->transfer, error);
    if (fabric == NULL)
      return FALSE;
    if (play->ways == NULL)
      play->ways = srv_kv_ways_new ();
    srv_kv_fabric_share (fabric, play->ways);
    run->fabric = srv_kv_fabric_run (fabric);
    run->first_by_decode = srv_kv_fabric_first (fabric) == SRV_FIRST_DECODE;
    run->first_handed = srv_kv_fabric_first (fabric) == SRV_FIRST_HANDED;
    run->decode = &play->decode;
    play->decode.band = band;
    play->decode.caching = FALSE;
    run->limits.drafts = 0;
  }
  take_load (play, load, band, net != NULL);
  GError *why = NULL;
  return srv_run (run, out, &why) ? scn_play_answered (spec, out, error) : say_why (spec, why, error);
}

SrvTally *
scn_play_part (ScnPlay *play, int band, guint part, guint of, GError **error)
{
  const ScnServingSpec *spec = play->scenario->own;
  g_autoptr (SrvLoad) load = srv_load_new (&spec->load, NULL, play->scenario->seed, error);
  if (load == NULL)
    return NULL;
  take_load (play, load, band, FALSE);
  GError *why = NULL;
  SrvTally *tally = srv_run_part (&play->run, part, of, &why);
  if (tally == NULL)
    say_why (spec, why, error);
  return tally;
}

gboolean
scn_play_open (ScnPlay *play, SrvMemory memory[2], ColRunInfo *info, GError **error)
{
  const ScnServingSpec *spec = play->scenario->own;
  if (!scn_serving_pools (spec, play->pools, &play->n, error) || !open_pool (play, 0, &memory[0], &play->run, info, error) ||
      (play->n == 2 && !open_pool (play, 1, &memory[1], &play->decode, info, error)))
    return FALSE;
  play->outages = scn_serving_outages (play->scenario, play->pools, play->n);
  play->run.outages = (const SrvOutage *)(const void *)play->outages->data;
  play->run.n_outages = play->outages->len;
  play->run.detect_s = spec->retry.detect.v;
  play->run.migrate = spec->retry.tokens.v == 1;
  play->acceptance = srv_speculative_acceptance (&play->pools[play->n - 1].replica.speculative);
  *(play->n == 2 ? &play->decode.acceptance : &play->run.acceptance) = play->acceptance; /* only decoding verifies drafts */
  return TRUE;
}

void
scn_play_trace (ScnPlay *play, ScnServingTrace *trace)
{
  play->run.step = scn_serving_see_step;
  play->run.request = scn_serving_see_request;
  play->run.user = trace;
}

/* Once, with the median steps. */
static gboolean
play_once (ScnPlay *play, ScnServingTrace *trace, SrvRunResult *out, GError **error)
{
  ColRunInfo info = { 0 };
  SrvMemory memory[2];
  col_run_init (&info, FALSE);
  const gboolean opened = scn_play_open (play, memory, &info, error);
  col_run_clear (&info);
  *out = (SrvRunResult){ 0 };
  if (trace != NULL)
    scn_play_trace (play, trace);
  return opened && scn_play_run (play, 0, out, error);
}

gboolean
scn_serving_play_once (const Scn *scenario, ColNet *net, ScnServingTrace *trace, SrvRunResult *out, GError **error)
{
  g_auto (ScnPlay) play = { .scenario = scenario, .net = net };
  return play_once (&play, trace, out, error);
}

gboolean
scn_serving_play (const Scn *scenario, const struct MdlEngines *engines, SrvRunResult *out, GError **error)
{
  Scn own = *scenario;
  own.system.engines = engines;
  return scn_serving_play_once (&own, NULL, NULL, out, error);
}

gboolean
scn_serving_play_parts (const Scn *scenario, SrvRunResult *out, GError **error)
{
  g_auto (ScnPlay) play = { .scenario = scenario, .parts = TRUE };
  return play_once (&play, NULL, out, error);
}
