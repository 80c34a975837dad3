/* What replicas that serve a model could do otherwise: limits of the scheduler, layout, number formats, drafts, more replicas. */
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
} Advice;

/* A number of the engine twice and half as large. */
static void
add_limit (const Advice *a, const char *what, const char *key, double now)
{
  const double factors[] = { 2, 0.5 };
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++) {
    const double then = floor (now * factors[i]);
    if (then >= 1)
      trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "%s %.0f -> %.0f", what, now, then),
                      "workload.engine.%s=%.0f", key, then);
  }
}

static void
add_engine (const Advice *a)
{
  const SrvEngineSpec *engine = &a->replica.engine;
  add_limit (a, "sequences at once", "max_num_seqs", engine->max_num_seqs.v);
  add_limit (a, "tokens of a step", "max_num_batched_tokens", engine->max_num_batched_tokens.v);
  if (!engine->chunked.v)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "prompts cut over steps"), "workload.engine.chunked=yes");
  if (engine->name.v == SRV_ENGINE_SGLANG && !engine->mixed.v)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "decode in steps of prompts"), "workload.engine.mixed=yes");
  if (!engine->async.v)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "asynchronous scheduling"), "workload.engine.async=yes");
  if (!engine->prefix_cache.v)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "prefix cache"), "workload.engine.prefix_cache=yes");
  if (engine->cuda_graphs.v < engine->max_num_seqs.v)
    trn_change_set (trn_change_add (a->changes, TRN_CHANGE_SOFTWARE, "CUDA graphs up to %.0f sequences", engine->max_num_seqs.v),
                    "workload.engine.cuda_graphs=%.0f", engine->max_num_seqs.v);
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

GPtrArray *
scn_serving_changes (const Scn *scenario)
{
  Advice a = { .spec = scn_serving (scenario), .changes = trn_changes_new () };
  if (a.spec == NULL || a.spec->pools.n > 0)
    return a.changes;
  a.replica = a.spec->replica;
  if (!srv_replica_settle (&a.replica, scenario->system.engines, NULL, NULL, NULL))
    return a.changes;
  const guint32 gpus = MIN (scenario->system.gpus->len, (guint32)srv_replica_gpus (&a.replica));
  col_gpu_facts (scenario->system.clu, col_gpu_slowest (scenario->system.clu, (const guint32 *)scenario->system.gpus->data, gpus),
                 &a.gpu);
  add_engine (&a);
  add_layout (&a);
  add_formats (&a);
  return a.changes;
}
