/* What replicas that serve a model could do otherwise: limits of the scheduler, layout, number formats, drafts, more replicas.
 * Pools that are apart: the ratio of their replicas on the same GPUs, one more of either, layouts of each, and what holds for
 * both. */
#include <math.h>

#include "collective/gpu.h"
#include "scenario/loaded.h"
#include "scenario/serving.h"
#include "training/advice.h"

typedef struct {
  const ScnServingSpec *spec;
  SrvReplicaSpec replica; /* with the engine's defaults */
  MdlGpu gpu;
  GPtrArray *changes;
  const char *path;  /* of `engine`, before its keys */
  const char *whose; /* before what is said: "prefill: ", or empty */
} Advice;

/* A number of the engine twice and half as large. */
static void
add_limit (const Advice *a, const char *what, const char *key, double now)
{
  const double factors[] = { 2, 0.5 };
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++) {
    const double then = floor (now * factors[i]);
    if (then >= 1)
      trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "%s%s %.0f -> %.0f", a->whose, what, now, then),
                      "%s.%s=%.0f", a->path, key, then);
  }
}

/* An option of the engine that is off. */
static void
add_option (const Advice *a, const char *what, const char *key)
{
  trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "%s%s", a->whose, what), "%s.%s=yes", a->path, key);
}

static void
add_engine (const Advice *a, gboolean prompts, gboolean answers)
{
  const SrvEngineSpec *engine = &a->replica.engine;
  if (answers)
    add_limit (a, "sequences at once", "max_num_seqs", engine->max_num_seqs.v);
  if (prompts)
    add_limit (a, "tokens of a step", "max_num_batched_tokens", engine->max_num_batched_tokens.v);
  if (!engine->chunked.v && prompts)
    add_option (a, "prompts cut over steps", "chunked");
  if (engine->name.v == SRV_ENGINE_SGLANG && !engine->mixed.v && prompts && answers)
    add_option (a, "decode in steps of prompts", "mixed");
  if (!engine->async.v)
    add_option (a, "asynchronous scheduling", "async");
  if (!engine->prefix_cache.v && prompts)
    add_option (a, "prefix cache", "prefix_cache");
  if (!engine->two_batch_overlap.v && engine->name.v != SRV_ENGINE_TRTLLM && a->spec->llm.moe.experts.v >= 1 &&
      a->replica.parallel.dp_attn.v > 1 && a->replica.parallel.ep.v > 1)
    add_option (a, "two-batch overlap", "two_batch_overlap");
  if (engine->cuda_graphs.v < engine->max_num_seqs.v && answers)
    trn_change_set (
        trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "%sCUDA graphs up to %.0f sequences", a->whose, engine->max_num_seqs.v),
        "%s.cuda_graphs=%.0f", a->path, engine->max_num_seqs.v);
}

/* tp or pp twice and half as large, on as many GPUs as that takes, and on the same ones with more replicas. */
static void
add_layout (const Advice *a)
{
  const SrvParallelSpec *p = &a->replica.parallel;
  const double replicas = a->spec->replicas.v;
  const gboolean experts = a->spec->llm.moe.experts.v >= 1;
  /* absent keys follow from the others: ep and moe_tp of the scenario belong to its tp */
  trn_change_set (
      trn_change_add (a->changes, TRN_CHANGE_HARDWARE, "tp %.0f -> %.0f, twice the GPUs a replica", p->tp.v, 2 * p->tp.v),
      "workload.parallel={tp: %.0f, pp: %.0f, dp_attn: %.0f}", 2 * p->tp.v, p->pp.v, p->dp_attn.v);
  if (fmod (p->tp.v, 2) < 0.5) {
    TrnChange *change = trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "tp %.0f -> %.0f, replicas %.0f -> %.0f", p->tp.v,
                                        p->tp.v / 2, replicas, 2 * replicas);
    trn_change_set (change, "workload.parallel={tp: %.0f, pp: %.0f, dp_attn: %.0f}", p->tp.v / 2, p->pp.v, p->dp_attn.v);
    trn_change_set (change, "workload.replicas=%.0f", 2 * replicas);
  }
  if (experts && p->dp_attn.v < 2 && p->tp.v > 1)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "tp %.0f -> dp_attn %.0f, ep %.0f", p->tp.v, p->tp.v, p->tp.v),
                    "workload.parallel={tp: 1, pp: %.0f, dp_attn: %.0f, ep: %.0f}", p->pp.v, p->tp.v, p->tp.v);
  if (replicas > 1 && a->spec->router.policy.v != SRV_ROUTER_LEAST_LOADED)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "requests to the least loaded replica"),
                    "workload.router=least_loaded");
  trn_change_set (trn_change_add (a->changes, TRN_CHANGE_HARDWARE, "replicas %.0f -> %.0f", replicas, 2 * replicas),
                  "workload.replicas=%.0f", 2 * replicas);
}

static void
add_formats (const Advice *a)
{
  const SrvPrecisionSpec *p = &a->replica.precision;
  if (p->weights.v == SRV_FORMAT_BF16 && a->gpu.peak_flop_per_s[MDL_PRECISION_FP8] > 0)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "weights in fp8"), "workload.precision.weights=fp8");
  if (p->weights.v != SRV_FORMAT_NVFP4 && a->gpu.peak_flop_per_s[MDL_PRECISION_FP4] > 0)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "weights in nvfp4"), "workload.precision.weights=nvfp4");
  if (p->kv.v != SRV_FORMAT_FP8)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "KV cache in fp8"), "workload.precision.kv=fp8");
  if (a->spec->llm.mtp.v >= 1 && !a->replica.speculative.head.set) /* acceptance: DeepSeek-V3's report, arXiv 2412.19437, 5.4.3 */
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "one MTP draft, 85 %% accepted"),
                    "workload.speculative={method: mtp, drafts: 1, acceptance: [0.85]}");
}

/* ---- pools that are apart ---- */

typedef struct {
  const SrvPoolSpec *spec; /* as written */
  guint at;                /* in `pools` */
  SrvReplicaSpec replica;
  double replicas, gpus; /* gpus: of one replica */
} Pool;

static gboolean
read_pool (const Scn *scenario, const ScnServingSpec *spec, guint at, Pool *pool)
{
  *pool = (Pool){ .spec = BASE_LIST_AT (spec->pools, SrvPoolSpec, at), .at = at, .replica = spec->replica };
  const SrvReplicaSpec *own = &pool->spec->replica;
  if (own->engine.head.set)
    pool->replica.engine = own->engine;
  if (own->parallel.head.set)
    pool->replica.parallel = own->parallel;
  if (own->precision.head.set)
    pool->replica.precision = own->precision;
  if (!srv_replica_settle (&pool->replica, scenario->system.engines, NULL, NULL, NULL))
    return FALSE;
  pool->replicas = pool->spec->replicas.v;
  pool->gpus = srv_replica_gpus (&pool->replica);
  return TRUE;
}

static void
set_replicas (TrnChange *change, const Pool pools[2], double prefill, double decode)
{
  trn_change_set (change, "workload.pools.%u.replicas=%.0f", pools[0].at, prefill);
  trn_change_set (change, "workload.pools.%u.replicas=%.0f", pools[1].at, decode);
}

/* Every ratio that fills as many GPUs; of many, about ten. */
static void
add_ratios (const Advice *a, const Pool pools[2])
{
  const double all = pools[0].replicas * pools[0].gpus + pools[1].replicas * pools[1].gpus;
  const double most = floor ((all - pools[1].gpus) / pools[0].gpus), step = fmax (ceil (most / 10), 1);
  for (double n = 1; n <= most; n += step) {
    const double m = floor ((all - n * pools[0].gpus) / pools[1].gpus);
    if (m < 1 || (fabs (n - pools[0].replicas) < 0.5 && fabs (m - pools[1].replicas) < 0.5))
      continue;
    set_replicas (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "P:D %.0f:%.0f -> %.0f:%.0f, no more GPUs", pools[0].replicas,
                                  pools[1].replicas, n, m),
                  pools, n, m);
  }
}

/* One more replica of a pool, on more nodes where the cluster has no room. */
static void
add_replica (const Advice *a, const Scn *scenario, const Pool pools[2], guint which)
{
  const double n = pools[0].replicas + (which == 0 ? 1 : 0), m = pools[1].replicas + (which == 1 ? 1 : 0);
  const double gpus = n * pools[0].gpus + m * pools[1].gpus, has = clu_n_gpus (scenario->system.clu);
  TrnChange *change =
      trn_change_add (a->changes, TRN_CHANGE_HARDWARE, "P:D %.0f:%.0f -> %.0f:%.0f", pools[0].replicas, pools[1].replicas, n, m);
  set_replicas (change, pools, n, m);
  if (gpus > has)
    trn_change_set (change, "cluster.nodes=%.0f", ceil (gpus / clu_gpus_per_node (scenario->system.clu, 0)));
}

/* The same GPUs in replicas of half or twice the tensor parallelism. */
static void
add_cuts (const Advice *a, const Pool *pool, const char *name)
{
  const SrvParallelSpec *p = &pool->replica.parallel;
  if (!pool->spec->replica.parallel.head.set)
    return;
  const double factors[] = { 0.5, 2 };
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++) {
    const double tp = p->tp.v * factors[i], replicas = pool->replicas / factors[i];
    if (fmod (tp, 1) > 0 || fmod (replicas, 1) > 0)
      continue;
    TrnChange *change = trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "%s: tp %.0f -> %.0f, replicas %.0f -> %.0f", name,
                                        p->tp.v, tp, pool->replicas, replicas);
    trn_change_set (change, "workload.pools.%u.parallel={tp: %.0f, pp: %.0f, dp_attn: %.0f}", pool->at, tp, p->pp.v, p->dp_attn.v);
    trn_change_set (change, "workload.pools.%u.replicas=%.0f", pool->at, replicas);
  }
}

static void
add_pools (Advice *a, const Scn *scenario)
{
  static const char *const names[] = { "prefill", "decode" };
  Pool pools[2];
  for (guint i = 0; i < 2; i++) {
    Pool pool;
    if (!read_pool (scenario, a->spec, i, &pool))
      return;
    pools[pool.spec->role.v == SRV_ROLE_DECODE ? 1 : 0] = pool;
  }
  add_ratios (a, pools);
  for (guint i = 0; i < 2; i++)
    add_replica (a, scenario, pools, i);
  for (guint i = 0; i < 2; i++) {
    const gboolean own = pools[i].spec->replica.engine.head.set;
    g_autofree char *path = own ? g_strdup_printf ("workload.pools.%u.engine", pools[i].at) : g_strdup ("workload.engine");
    g_autofree char *whose = own ? g_strdup_printf ("%s: ", names[i]) : g_strdup ("");
    a->path = path;
    a->whose = whose;
    a->replica = pools[i].replica;
    add_engine (a, i == 0, i == 1);
    add_cuts (a, &pools[i], names[i]);
  }
  a->path = "workload.engine";
  a->whose = "";
  if (a->spec->transfer.overlap.v == SRV_KV_OVERLAP_NONE)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "KV moves layer by layer"),
                    "workload.transfer.overlap=layerwise");
  if (!pools[0].spec->replica.precision.head.set && !pools[1].spec->replica.precision.head.set)
    add_formats (a);
}

GPtrArray *
scn_serving_changes (const Scn *scenario)
{
  Advice a = { .spec = scn_serving (scenario), .changes = trn_changes_new (), .path = "workload.engine", .whose = "" };
  if (a.spec == NULL)
    return a.changes;
  a.replica = a.spec->replica;
  if (!srv_replica_settle (&a.replica, scenario->system.engines, NULL, NULL, NULL))
    return a.changes;
  const guint32 gpus = MIN (scenario->system.gpus->len, (guint32)srv_replica_gpus (&a.replica));
  col_gpu_facts (scenario->system.clu, col_gpu_slowest (scenario->system.clu, (const guint32 *)scenario->system.gpus->data, gpus),
                 &a.gpu);
  if (a.spec->pools.n == 2) {
    add_pools (&a, scenario);
    return a.changes;
  }
  if (a.spec->pools.n > 0)
    return a.changes;
  add_engine (&a, TRUE, TRUE);
  add_layout (&a);
  add_formats (&a);
  return a.changes;
}
