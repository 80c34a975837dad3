/* Workloads of kind `serving`: replicas of an engine that serves a model. */
#include <math.h>

#include "models/money.h"
#include "scenario/loaded.h"
#include "scenario/serving.h"
#include "serving-private.h"
#include "training/llm.h"

static const BaseField slo_fields[] = {
  BASE_ROW_NUM (ScnSloSpec, "ttft", ttft, TIME, .min = "1 us", .help = "longest time to first token of a good request"),
  BASE_ROW_NUM (ScnSloSpec, "tpot", tpot, TIME, .min = "1 us", .help = "longest time per output token of a good request"),
  BASE_ROW_NUM (ScnSloSpec, "e2e", e2e, TIME, .min = "1 us", .help = "longest time to the last token of a good request"),
  BASE_ROW_END,
};
static const BaseSchema slo_schema = { .name = "slo", .help = "Limits that a good request keeps.", .fields = slo_fields };

#define KEY(key_, member_, kind_, ...) BASE_ROW (ScnServingSpec, key_, member_, kind_, __VA_ARGS__)

static const BaseField fields[] = {
  KEY ("kind", kind, STR, .required = TRUE, .help = "`serving`"),
  KEY ("model", model, NODE, .required = TRUE, .help = "model: a name of `forerun list llms`, a path, or its keys"),
  KEY ("engine", replica.engine, MAP, .sub = &srv_schema_engine, .required = TRUE, .help = "engine"),
  KEY ("parallel", replica.parallel, MAP, .sub = &srv_schema_parallel, .help = "parallel layout of a replica"),
  KEY ("precision", replica.precision, MAP, .sub = &srv_schema_precision, .help = "number formats"),
  KEY ("moe", replica.moe, MAP, .sub = &srv_schema_moe, .help = "exchange and load of experts"),
  KEY ("speculative", replica.speculative, MAP, .sub = &srv_schema_speculative, .help = "speculative decoding"),
  BASE_ROW_NUM (ScnServingSpec, "replicas", replicas, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "copies of the engine, each on GPUs of its own"),
  KEY ("pools", pools, LIST, .sub = &srv_schema_pool, .item_size = sizeof (SrvPoolSpec),
       .help = "pools of replicas: one of role `all`, or one `prefill` and one `decode`; default: `replicas` of role all"),
  KEY ("transfer", transfer, MAP, .sub = &srv_schema_transfer, .help = "KV from the prefill pool to the decode pool"),
  KEY ("offload", offload, LIST, .sub = &srv_schema_offload, .item_size = sizeof (SrvOffloadSpec),
       .help = "KV of prompts in host memory, on drives and on shared storage, for later prompts that begin alike"),
  KEY ("failures", failures, LIST, .sub = &srv_schema_failure, .item_size = sizeof (SrvFailureSpec),
       .help = "GPUs, nodes and NICs that are lost under load"),
  KEY ("retry", retry, MAP, .sub = &srv_schema_retry, .help = "what happens to requests of lost replicas"),
  KEY ("reliability", reliability, MAP, .sub = &scn_schema_reliability, .help = "failures at published rates over a month"),
  KEY ("scale", scale, MAP, .sub = &srv_schema_scale, .help = "autoscaling of replicas; default: all serve"),
  KEY ("router", router, MAP, .sub = &srv_schema_router, .help = "how requests choose a replica; a name is its policy"),
  KEY ("load", load, MAP, .sub = &srv_schema_load, .required = TRUE, .help = "requests"),
  KEY ("slo", slo, MAP, .sub = &slo_schema, .help = "limits of a good request, for goodput"),
  BASE_ROW_NUM (ScnServingSpec, "gpu_price", gpu_price, MONEY_PER_TIME,
                .help = "price of one GPU, for the cost of tokens (e.g. 2.50 USD/h)"),
  BASE_ROW_NUM (ScnServingSpec, "gpu_power", gpu_power, POWER, .min = "1 W",
                .help = "power of one GPU while it computes, for the energy of tokens (e.g. 700 W)"),
  BASE_ROW_NUM (ScnServingSpec, "watch", watch, COUNT, .max = "1 T",
                .help = "number of a request, from 0, whose time is taken apart"),
  BASE_ROW_END,
};

const BaseSchema scn_schema_serving = { .name = "workload (serving)",
                                        .help = "Requests are answered by replicas of an engine that serves a model.",
                                        .fields = fields };

static void
read_model (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context)
{
  ScnServingSpec *spec = scenario->own;
  (void)node;
  if (spec->model != NULL)
    trn_llm_read (spec->model, context, &spec->llm);
  if (spec->reliability.rates.value != NULL)
    trn_failure_rates_check (spec->reliability.rates.value, context->diag);
}

static gboolean
check_apart (const ScnPool pools[2], GError **error)
{
  const ScnPool *a = &pools[0], *b = &pools[1];
  const double a_end = a->first + scn_pool_gpus (a), b_end = b->first + scn_pool_gpus (b);
  if (a->first < b_end && b->first < a_end)
    return col_fail_at (error, b->mark,
                        "the prefill pool has GPUs %u to %.0f and the decode pool %u to %.0f: they share some; give one of them "
                        "`first_gpu: %.0f`, or leave `first_gpu` out",
                        a->first, a_end - 1, b->first, b_end - 1, a_end);
  if (a->replica.precision.kv.v != b->replica.precision.kv.v)
    return col_fail_at (error, b->mark, "both pools need the same format of the KV cache; set `kv` of `precision` alike");
  return TRUE;
}

static gboolean
check (const Scn *scenario, GError **error)
{
  const ScnServingSpec *spec = scenario->own;
  ScnPool pools[2];
  guint n = 0;
  if (spec->router.policy.v == SRV_ROUTER_SESSION && !(spec->load.turns.set && spec->load.turns.v > 1) && !spec->load.trace.set)
    return col_fail_at (error, spec->router.head.mark,
                        "router 'session' needs requests of sessions; give 'turns' of at least 2 or a trace in 'load', or take "
                        "another router");
  if (spec->slo.head.set && !spec->slo.ttft.set && !spec->slo.tpot.set && !spec->slo.e2e.set)
    return col_fail_at (error, spec->slo.head.mark, "`slo` has no limit; give 'ttft', 'tpot' or 'e2e', or leave it out");
  if (!srv_offload_check (&scenario->system, spec->offload.item, spec->offload.n, error))
    return FALSE;
  if (!scn_serving_pools (spec, pools, &n, error) || (n == 2 && !check_apart (pools, error)))
    return FALSE;
  if (spec->transfer.head.set && n < 2)
    return col_fail_at (
        error, spec->transfer.head.mark,
        "'transfer' is how KV goes from a prefill pool to a decode pool, and there is one pool; write both in 'pools', or "
        "leave 'transfer' out");
  for (guint i = 0; i < n; i++)
    if (pools[i].first + scn_pool_gpus (&pools[i]) > scenario->system.gpus->len)
      return col_fail_at (
          error, pools[i].mark,
          "the replicas need %.0f GPUs (%.0f each), the cluster has %u; ask for more nodes, fewer replicas or a smaller "
          "layout",
          pools[i].first + scn_pool_gpus (&pools[i]), srv_replica_gpus (&pools[i].replica), scenario->system.gpus->len);
  return scn_serving_check_failures (scenario, pools, n, error);
}

/* ---- the answer ---- */

#define SPREAD(key, member, head) BASE_MEMBER (ScnServingTimes, key, at.member, BASE_SHOWN (head, 1e3, "%.4g"))
#define MEDIAN(key, member, head) BASE_MEMBER (ScnServingTimes, key, member, BASE_SHOWN (head, 1e3, "%.4g"), .rank = 2)
static const BaseMember times_members[] = {
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "time", .title = "time"),
  SPREAD ("mean_s", mean, "mean (ms)"),
  SPREAD ("p50_s", p50, "p50"),
  SPREAD ("p90_s", p90, "p90"),
  SPREAD ("p95_s", p95, "p95"),
  SPREAD ("p99_s", p99, "p99"),
  MEDIAN ("p50_lo_s", median_lo_s, "p50 from"),
  MEDIAN ("p50_hi_s", median_hi_s, "p50 to"),
  BASE_MEMBER_END,
};

#define RESULT(...)               BASE_MEMBER (ScnServingResult, __VA_ARGS__)
#define TIMES(key, member, head)  RESULT (key, member, .sub = times_members, .title = (head))
#define COLUMN(key, member, head) RESULT (key, member, .title = (head), .rank = 3)
BASE_MEMBER_WHEN (is_apart, ScnServingResult, it->apart)
#define APART(...) RESULT (__VA_ARGS__, .when = is_apart)
#define TIER(...)  BASE_MEMBER (ScnServingTier, __VA_ARGS__)
static const BaseMember tier_members[] = {
  TIER ("tier", tier, .title = "tier"),
  TIER ("hit_fraction", hits, BASE_SHOWN ("of prompts (%)", 100, "%.1f")),
  TIER ("reads", reads, .title = "reads", .rank = 1),
  TIER ("read_s", read_s, BASE_SHOWN ("a read (ms)", 1e3, "%.4g")),
  TIER ("declined", declined, .title = "computed instead", .rank = 1),
  TIER ("written_bytes", written_B, .title = "written", .rank = 1),
  TIER ("saved_fraction", saves, BASE_SHOWN ("of GPU time (%)", 100, "%.1f")),
  TIER ("worth_per_Mtok", worth, BASE_SHOWN ("worth (USD/Mtok)", 1, "%.4g")),
  TIER ("cost_per_Mtok", cost, BASE_SHOWN ("costs (USD/Mtok)", 1, "%.4g")),
  BASE_MEMBER_END,
};
BASE_MEMBER_WHEN (fails, ScnServingResult, it->fails)
BASE_MEMBER_WHEN (scales, ScnServingResult, it->scales)
BASE_MEMBER_WHEN (has_month, ScnServingResult, it->month != NULL)
#define MONTH(...)  RESULT (__VA_ARGS__, .when = has_month, .rank = 3)
#define SCALES(...) RESULT (__VA_ARGS__, .when = scales)
#define FAILS(...)  RESULT (__VA_ARGS__, .when = fails)
BASE_MEMBER_WHEN (has_watched, ScnServingResult, it->run.watched.seen)
static const BaseMember members[] = {
  TIMES ("ttft", ttft, "TTFT"),
  TIMES ("tpot", tpot, "TPOT"),
  TIMES ("itl", itl, "ITL"),
  TIMES ("e2e", e2e, "E2E"),
  RESULT ("requests", requests, BASE_SHOWN ("requests", 1, "%.0f")),
  RESULT ("time_s", run.duration_s, .title = "duration", .rank = 1),
  RESULT ("requests_per_s", run.requests_per_s, BASE_SHOWN ("requests/s", 1, "%.4g")),
  RESULT ("output_tokens_per_s", run.output_tokens_per_s, BASE_SHOWN ("output tokens/s", 1, "%.5g")),
  RESULT ("output_tokens_per_s_per_gpu", output_tokens_per_s_gpu, BASE_SHOWN ("a GPU", 1, "%.5g"), .rank = 1),
  COLUMN ("ttft_p50_s", ttft.at.p50, "TTFT p50"),
  COLUMN ("ttft_p99_s", ttft.at.p99, "TTFT p99"),
  COLUMN ("tpot_p50_s", tpot.at.p50, "TPOT p50"),
  COLUMN ("tpot_p99_s", tpot.at.p99, "TPOT p99"),
  COLUMN ("itl_p99_s", itl.at.p99, "ITL p99"),
  COLUMN ("e2e_p50_s", e2e.at.p50, "E2E p50"),
  COLUMN ("e2e_p99_s", e2e.at.p99, "E2E p99"),
  RESULT ("total_tokens_per_s", run.total_tokens_per_s, BASE_SHOWN ("all tokens/s", 1, "%.5g"), .rank = 3),
  RESULT ("user_tokens_per_s", run.user_tokens_per_s, BASE_SHOWN ("tokens/s a user", 1, "%.4g"), .rank = 2),
  RESULT ("goodput_rps", run.goodput_rps, BASE_SHOWN ("goodput (requests/s)", 1, "%.4g"), .rank = 1),
  RESULT ("good_fraction", good, BASE_SHOWN ("within SLO (%)", 100, "%.1f"), .rank = 2),
  RESULT ("cost_per_Mtok", cost_per_Mtok, BASE_SHOWN ("USD/Mtok out", 1, "%.4g"), .rank = 1),
  RESULT ("energy_per_token_J", energy_per_token_J, BASE_SHOWN ("J/token out", 1, "%.4g"), .rank = 1),
  RESULT ("hit_fraction", hits, BASE_SHOWN ("prefix hits (%)", 100, "%.1f"), .rank = 2),
  RESULT ("preemptions", run.preemptions, .title = "preemptions", .rank = 1),
  RESULT ("lost_tokens", run.lost_tokens, .title = "tokens computed again", .rank = 3),
  RESULT ("batch_mean", run.batch_mean, BASE_SHOWN ("batch", 1, "%.1f"), .rank = 2),
  RESULT ("steps", run.steps, .title = "steps", .rank = 3),
  RESULT ("prompt_steps", run.prompt_steps, .title = "with prompts", .rank = 3),
  RESULT ("busy_fraction", run.busy, BASE_SHOWN ("busy (%)", 100, "%.1f"), .rank = 2),
  RESULT ("most_in_flight", run.most_in_flight, .title = "most in flight", .rank = 3),
  RESULT ("kv_blocks", memory.blocks, BASE_SHOWN ("KV blocks", 1, "%.0f"), .rank = 1),
  RESULT ("kv_use_mean", run.kv_mean, BASE_SHOWN ("in use (%)", 100, "%.1f"), .rank = 2),
  RESULT ("kv_use_most", run.kv_most, BASE_SHOWN ("at most (%)", 100, "%.1f"), .rank = 2),
  RESULT ("weights_bytes", memory.weights_B, .title = "weights", .rank = 3),
  RESULT ("kv_bytes", memory.kv_B, .title = "KV cache", .rank = 3),
  APART ("prefill_busy", run.pools[0].busy, BASE_SHOWN ("prefill busy (%)", 100, "%.1f"), .rank = 1),
  APART ("decode_busy", run.pools[1].busy, BASE_SHOWN ("decode busy (%)", 100, "%.1f"), .rank = 1),
  APART ("decode_kv_use_mean", run.pools[1].kv_mean, BASE_SHOWN ("decode KV in use (%)", 100, "%.1f"), .rank = 2),
  APART ("decode_kv_blocks", decode_memory.blocks, BASE_SHOWN ("decode KV blocks", 1, "%.0f"), .rank = 2),
  APART ("transfer_s", run.transfer.time_s, BASE_SHOWN ("KV transfer (ms)", 1e3, "%.4g"), .rank = 1),
  APART ("transfer_wait_s", run.transfer.wait_s, BASE_SHOWN ("wait for decode (ms)", 1e3, "%.4g"), .rank = 1),
  APART ("transfer_bytes", transfer_B, .title = "KV of a request", .rank = 2),
  SCALES ("replicas_mean", run.replicas_mean, BASE_SHOWN ("replicas paid", 1, "%.2f"), .rank = 1),
  SCALES ("replicas_most", replicas_most, BASE_SHOWN ("at most", 1, "%.0f"), .rank = 1),
  SCALES ("starts", run.starts, .title = "starts", .rank = 1),
  FAILS ("retried", run.retried, .title = "sent again", .rank = 1),
  FAILS ("failed_tokens", run.failed_tokens, .title = "KV lost (tokens)", .rank = 1),
  MONTH ("month_good_fraction", of_month.good.mean, BASE_SHOWN ("within SLO in a month (%)", 100, "%.3f")),
  MONTH ("month_lost_capacity", of_month.capacity, BASE_SHOWN ("lost in a month (%)", 100, "%.3f")),
  MONTH ("month_failures", of_month.failures, BASE_SHOWN ("failures in a month", 1, "%.4g")),
  RESULT ("gpus", gpus, BASE_SHOWN ("GPUs", 1, "%.0f"), .rank = 3),
  BASE_MEMBER_PARTS_OF (ScnServingResult, "watched_s", run.watched.part_s, srv_wait_names, SRV_WAIT_N, .when = has_watched),
  RESULT ("bound_by", bound_by, .title = "bottleneck", .rank = 1),
  RESULT ("phases", phases, .sub = scn_serving_phase_members, .title = "requests that came before, during and after outages"),
  RESULT ("month", month, .sub = scn_serving_month_members, .title = "a month with failures"),
  RESULT ("month_states", month_states, .sub = scn_serving_state_members,
          .title = "what is lost for how much of the month, and what users see meanwhile"),
  RESULT ("month_causes", month_causes, .sub = scn_serving_cause_members, .title = "failures expected in the month, by part"),
  RESULT ("tiers", tiers, .sub = tier_members,
          .title = "KV below the GPU: part of prompts that tiers gave, GPU time that this saved, and its price by output tokens"),
  BASE_MEMBER_END,
};

/* ---- the run ---- */

static void
take_times (ScnServingTimes *out, const SrvSpread *at, const SrvSpread *lo, const SrvSpread *hi)
{
  *out = (ScnServingTimes){ .at = *at, .median_lo_s = fmin (lo->p50, at->p50), .median_hi_s = fmax (hi->p50, at->p50) };
}

/* The pool that has more to do, or what stands between them. A pool that decodes is in steps for as long as it has one sequence, so
 * of two pools that are busy the one in which requests spend more of their time is the bottleneck (Little's law). */
static const char *
bound_of_pools (const SrvRunResult *run)
{
  const double prefill = run->pools[0].busy, decode = run->pools[1].busy;
  if (run->transfer.time_s > run->ttft.p50)
    return "KV transfer";
  if (run->preemptions > 0 || run->transfer.wait_s > run->ttft.p50)
    return "decode KV blocks";
  if (fmax (prefill, decode) < 0.7)
    return "load";
  if (fmin (prefill, decode) < 0.7)
    return prefill > decode ? "prefill pool" : "decode pool";
  return run->ttft.mean > run->e2e.mean - run->ttft.mean ? "prefill pool" : "decode pool";
}

static double
or_unknown (gboolean known, double value)
{
  return known ? value : (double)NAN;
}

/* What tiers gave, and what that is worth: the price of the GPU time that it saved. */
static void
weigh_tiers (const ScnServingSpec *spec, const ScnPlay *play, ScnServingResult *own)
{
  const SrvRunResult *run = &own->run;
  const double replica_gpus = srv_replica_gpus (&play->pools[0].replica), replicas = play->pools[0].replicas;
  const double a_token = 1e6 / (double)run->output_tokens;
  own->tiers = g_array_new (FALSE, FALSE, sizeof (ScnServingTier));
  for (guint i = 0; i < spec->offload.n; i++) {
    const SrvOffloadSpec *item = BASE_LIST_AT (spec->offload, SrvOffloadSpec, i);
    const SrvTierKind t = srv_tier_kind (item->tier.v);
    const SrvTierResult *tier = &run->tiers[t];
    const double stores = play->run.offload.tier[t].shared ? 1 : replicas * play->run.times.ranks;
    const ScnServingTier row = {
      .tier = item->tier.v,
      .hits = run->prompt_tokens > 0 ? (double)tier->hit_tokens / (double)run->prompt_tokens : 0,
      .read_s = or_unknown (tier->reads > 0, tier->read_s / (double)tier->reads),
      .reads = tier->reads,
      .declined = tier->declined,
      .written_B = tier->written_B,
      .saves = tier->saved_s / (run->duration_s * replicas),
      .worth = or_unknown (spec->gpu_price.set, spec->gpu_price.v * replica_gpus * tier->saved_s * a_token),
      .cost = or_unknown (item->price.set, item->price.v * stores * run->duration_s * a_token),
    };
    own->cost_per_Mtok += item->price.set ? row.cost : 0;
    g_array_append_val (own->tiers, row);
  }
}

/* J of GPUs alone: at `gpu_power` while their pool is in steps, else idle. */
static double
energy_J (const ScnServingSpec *spec, const ScnPlay *play, const SrvRunResult *run)
{
  if (!spec->gpu_power.set || !(run->output_tokens_per_s > 0))
    return (double)NAN;
  const CluGpuSpec *gpu = clu_gpu_spec (play->scenario->system.clu, 0);
  const double load_W = spec->gpu_power.v, idle_W = gpu->idle_power.set ? fmin (gpu->idle_power.v, load_W) : load_W;
  double all_W = 0;
  for (guint i = 0; i < play->n; i++) {
    const double busy = play->n == 2 ? run->pools[i].busy : run->busy;
    all_W += scn_pool_gpus (&play->pools[i]) * mdl_power_W (load_W, idle_W, fmin (busy, 1));
  }
  return all_W / run->output_tokens_per_s;
}

static void
summarise (const ScnServingSpec *spec, const ScnPlay *play, const SrvRunResult *lo, const SrvRunResult *hi, ScnServingResult *own)
{
  const SrvRunResult *run = &own->run;
  take_times (&own->ttft, &run->ttft, &lo->ttft, &hi->ttft);
  const double first_error = play->run.front.error; /* what the front end and the client add is not known */
  own->ttft.median_lo_s /= 1 + first_error;
  own->ttft.median_hi_s *= 1 + first_error;
  take_times (&own->tpot, &run->tpot, &lo->tpot, &hi->tpot);
  take_times (&own->itl, &run->itl, &lo->itl, &hi->itl);
  take_times (&own->e2e, &run->e2e, &lo->e2e, &hi->e2e);
  own->apart = play->n == 2;
  own->open = spec->load.trace.set || spec->load.rate.set;
  for (guint i = 0; i < play->n; i++)
    own->gpus += scn_pool_gpus (&play->pools[i]);
  own->transfer_B = run->transfer.n > 0 ? run->transfer.bytes_B / (double)run->transfer.n : (double)NAN;
  own->requests = (double)run->requests;
  own->output_tokens_per_s_gpu = run->output_tokens_per_s / own->gpus;
  own->hits = run->prompt_tokens > 0 ? (double)run->hit_tokens / (double)run->prompt_tokens : 0;
  if (!spec->slo.head.set) /* without limits every request is good: that is no goodput */
    own->run.goodput_rps = (double)NAN;
  own->good = spec->slo.head.set && run->requests > 0 ? (double)run->good / (double)run->requests : (double)NAN;
  own->cost_per_Mtok = spec->gpu_price.set && run->output_tokens_per_s > 0
                           ? spec->gpu_price.v * own->gpus / run->output_tokens_per_s * 1e6
                           : (double)NAN;
  own->scales = spec->scale.head.set;
  own->replicas_most = run->replicas_most;
  if (own->scales)
    own->cost_per_Mtok *= run->replicas_mean / play->pools[0].replicas;
  own->energy_per_token_J = energy_J (spec, play, run) * (own->scales ? run->replicas_mean / play->pools[0].replicas : 1);
  own->fails = spec->failures.n > 0;
  if (own->fails)
    own->phases = scn_serving_phases (spec, run);
  if (spec->offload.n > 0)
    weigh_tiers (spec, play, own);
  own->bound_by = own->apart ? bound_of_pools (run) : run->preemptions > 0 ? "KV blocks" : run->busy < 0.7 ? "load" : "steps";
}

/* The request whose time to the first token is the 99th percentile, or the nearest above it. */
typedef struct {
  double p99_s, nearest_s;
  guint64 warm_up, index;
} Slow;

static void
see_slow (void *user, const SrvRequestSeen *seen)
{
  Slow *slow = user;
  const double ttft_s = seen->first_s - seen->arrival_s;
  if (seen->index < slow->warm_up || ttft_s < slow->p99_s * (1 - 1e-9) || ttft_s >= slow->nearest_s)
    return;
  slow->nearest_s = ttft_s;
  slow->index = seen->index;
}

/* Plays again, to find that request, and once more to take it apart. */
static gboolean
watch_slow (ScnPlay *how, ScnServingResult *own, GError **error)
{
  SrvRunResult again = { 0 };
  Slow slow = { .p99_s = own->run.ttft.p99, .nearest_s = (double)INFINITY, .warm_up = how->run.warm_up, .index = G_MAXUINT64 };
  how->run.request = see_slow;
  how->run.step = NULL;
  how->run.user = &slow;
  if (!scn_play_run (how, 0, &again, error))
    return FALSE;
  how->run.request = NULL;
  how->run.watch = slow.index;
  if (!scn_play_run (how, 0, &again, error))
    return FALSE;
  own->run.watched = again.watched;
  own->slow = TRUE;
  return TRUE;
}

/* A run that is known, or is made now. */
static gboolean
play_at (ScnPlay *how, int band, SrvRunResult *out, GError **error)
{
  if (how->scenario->known == NULL)
    return scn_play_run (how, band, out, error);
  *out = how->scenario->known[band + 1];
  return TRUE;
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  const ScnServingSpec *spec = scenario->own;
  g_auto (ScnPlay) how = { .scenario = scenario };
  ScnServingResult *own = g_new0 (ScnServingResult, 1);
  SrvMemory memory[2] = { 0 };
  result->own = own;
  if (!scn_play_open (&how, memory, &result->run, error))
    return FALSE;
  own->memory = memory[0];
  own->decode_memory = memory[1];
  SrvRunResult lo = { 0 }, hi = { 0 };
  if (!play_at (&how, -1, &lo, error) || !play_at (&how, 1, &hi, error))
    return FALSE;
  ScnServingTrace trace = { .info = &result->run };
  if (result->run.spans != NULL) {
    trace.steps = own->steps = g_array_new (FALSE, FALSE, sizeof (SrvStepSeen));
    scn_play_trace (&how, &trace);
  }
  if (!play_at (&how, 0, &own->run, error))
    return FALSE;
  scn_serving_trace_end (&trace);
  how.run.step = NULL; /* further runs are no part of the trace */
  how.run.request = NULL;
  if (spec->watch.set && !own->run.watched.seen)
    return col_fail_at (
        error, spec->watch.mark,
        "request %.0f is not answered in this run, which has %.0f requests with those of the warm-up; write a number "
        "below that, or more 'requests' in 'load'",
        spec->watch.v, (double)(own->run.requests + how.run.warm_up));
  if (scenario->training.want_terms && spec->failures.n == 0 && !spec->watch.set && own->run.requests > 0 &&
      !watch_slow (&how, own, error))
    return FALSE;
  summarise (spec, &how, &lo, &hi, own);
  if (spec->reliability.head.set && !scn_serving_month (&how, own, error))
    return FALSE;
  result->run.n_events = own->run.steps;
  return TRUE;
}

const ScnServingSpec *
scn_serving (const Scn *scenario)
{
  return scenario->kind == SCN_KIND_SERVING && scenario->jobs == NULL ? scenario->own : NULL;
}

/* Not the duration, which the load gives: the time per token, or to the first one where answers have one token. */
static const char *
asked (const ScnResult *result)
{
  const ScnServingResult *own = result->own;
  return own->tpot.at.p50 > 0 ? "tpot_p50_s" : "ttft_p50_s";
}

static void
clear (ScnResult *result)
{
  ScnServingResult *own = result->own;
  if (own != NULL) {
    g_clear_pointer (&own->steps, g_array_unref);
    g_clear_pointer (&own->tiers, g_array_unref);
    g_clear_pointer (&own->phases, g_array_unref);
    g_clear_pointer (&own->month, g_array_unref);
    g_clear_pointer (&own->month_states, g_array_unref);
    g_clear_pointer (&own->month_causes, g_array_unref);
  }
  g_clear_pointer (&result->own, g_free);
}

const ScnKindOps scn_kind_serving = {
  .schema = &scn_schema_serving,
  .spec_size = sizeof (ScnServingSpec),
  .read = read_model,
  .check = check,
  .run = run,
  .clear = clear,
  .asked = asked,
  .time = BASE_MEMBER (ScnServingResult, "time_s", run.duration_s),
  .bound = BASE_MEMBER (ScnServingResult, "bound_by", bound_by),
  .drive = scn_serving_drive,
  .members = members,
  .answer = "{output_tokens_per_s:%.0f} output tokens/s, {output_tokens_per_s_per_gpu:%.0f} a GPU; the median request has its "
            "first token after "
            "{ttft.p50_s} and the next ones every {tpot.p50_s} (p99 {ttft.p99_s} and {tpot.p99_s}).\n",
};
