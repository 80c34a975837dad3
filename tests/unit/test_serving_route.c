/* Routers: costs by hand, and laws of runs. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"
#include "serving/run.h"
#include "serving_source_fixture.h"

/* ---- by hand ---- */

/* Case 15 of the design: 10 blocks to prefill, 2, 5, 8 of them cached, 10, 5, 9 in use. */
static void
kv_cost_is_the_published_one (void)
{
  SrvRouting routing = { .credit = 1, .scale = 1 };
  TEST_NEAR (srv_router_kv_cost (&routing, 10, &(SrvOverlap){ 2, 0, 0 }, 10), 18, 1e-12);
  TEST_NEAR (srv_router_kv_cost (&routing, 10, &(SrvOverlap){ 5, 0, 0 }, 5), 10, 1e-12);
  TEST_NEAR (srv_router_kv_cost (&routing, 10, &(SrvOverlap){ 8, 0, 0 }, 9), 11, 1e-12);
  routing.credit = 2; /* never below the blocks in use */
  TEST_NEAR (srv_router_kv_cost (&routing, 10, &(SrvOverlap){ 8, 0, 0 }, 9), 9, 1e-12);
  routing = (SrvRouting){ .credit = 0.5, .scale = 3 };
  TEST_NEAR (srv_router_kv_cost (&routing, 10, &(SrvOverlap){ 8, 0, 0 }, 9), 27, 1e-12);
  routing = (SrvRouting){ .credit = 1, .host = 0.75, .nvme = 0.25, .scale = 1 }; /* 10 - 2 - 3 - 0.5 + 1 */
  TEST_NEAR (srv_router_kv_cost (&routing, 10, &(SrvOverlap){ 2, 4, 2 }, 1), 5.5, 1e-12);
}

/* Queues 0, 4, 2, 1 count 1, 0, 0.5, 0.75. */
static void
llm_d_scores_are_the_published_ones (void)
{
  const SrvRouting routing = { .prefix = 3, .usage = 2, .queue = 2 };
  const SrvScored scored[] = { { 0, 0, 0.5 }, { 0.25, 4, 0 }, { 1, 2, 0.75 }, { 0.5, 1, 0.25 } };
  double scores[4];
  srv_router_llm_d_scores (&routing, scored, 4, scores);
  TEST_NEAR (scores[0], 0 + 1 + 2, 1e-12);
  TEST_NEAR (scores[1], 0.75 + 2 + 0, 1e-12);
  TEST_NEAR (scores[2], 3 + 0.5 + 1, 1e-12);
  TEST_NEAR (scores[3], 1.5 + 1.5 + 1.5, 1e-12);
  /* Queues that are alike count in full. */
  srv_router_llm_d_scores (&routing, (const SrvScored[]){ { 0.5, 2, 0 }, { 0, 2, 0 } }, 2, scores);
  TEST_NEAR (scores[0], 5.5, 1e-12);
  TEST_NEAR (scores[1], 4, 1e-12);
}

/* ---- runs ---- */

#define SESSIONS 12u
#define TURNS    6u
#define TOKENS   160u /* that a turn adds */
#define HASH     16u

/* Sessions whose turns come at random times; each prompt repeats those before it. */
typedef struct {
  guint64 sent, n;
  BaseRandom random;
  double at_s;
  guint turns[SESSIONS];
  guint64 hashes[TURNS * TOKENS / HASH];
  gboolean anonymous;
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == load->n)
    return FALSE;
  guint session = base_random_below (&load->random, SESSIONS);
  while (load->turns[session] == TURNS)
    session = (session + 1) % SESSIONS;
  load->at_s += base_random_exponential (&load->random, 0.05);
  const guint input = ++load->turns[session] * TOKENS;
  for (guint i = 0; i < input / HASH; i++)
    load->hashes[i] = session * 1000 + i;
  *out = (SrvRequest){ .index = load->sent++,
                       .arrival_s = load->at_s,
                       .input = input,
                       .output = 1 + base_random_below (&load->random, 30),
                       .session = load->anonymous ? 0 : session + 1,
                       .hash = load->hashes,
                       .n_hashes = input / HASH,
                       .hash_tokens = HASH };
  return TRUE;
}

static double
time_of (gpointer model, const SrvBatch *batches, SrvStepCost *cost)
{
  const guint *ranks = model;
  double time_s = 0.01;
  (void)cost;
  for (guint k = 0; k < *ranks; k++)
    for (guint i = 0; i < batches[k].n_chunks; i++)
      time_s += 1e-4 * batches[k].chunks[i].tokens;
  return time_s;
}

static void
see (void *user, const SrvRequestSeen *seen)
{
  guint *replicas = user;
  replicas[seen->index] = seen->replica;
}

typedef struct {
  SrvRouter policy;
  guint replicas, ranks;
  guint64 seed, blocks;
  gboolean anonymous, stepwise;
  double temperature;
  guint *seen; /* by request: its replica; NULL: none */
} Case;

static SrvRunResult
run_of (const Case *its)
{
  Load load = { .n = SESSIONS * TURNS, .random = base_random_stream (its->seed, "sessions"), .anonymous = its->anonymous };
  guint ranks = MAX (its->ranks, 1);
  const SrvRunSpec spec = { .times = { .model = &ranks, .ranks = ranks, .time_s = time_of },
                            .source = { &load, next, nothing_follows, TRUE },
                            .engine = SRV_ENGINE_VLLM,
                            .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                            .blocks = its->blocks > 0 ? its->blocks : 10000,
                            .block = 16,
                            .caching = TRUE,
                            .replicas = its->replicas,
                            .router = { .policy = its->policy,
                                        .credit = 1,
                                        .scale = 1,
                                        .temperature = its->temperature,
                                        .prefix = 3,
                                        .usage = 2,
                                        .queue = 2 },
                            .seed = its->seed,
                            .stepwise = its->stepwise,
                            .slo = { (double)INFINITY, (double)INFINITY, (double)INFINITY },
                            .watch = G_MAXUINT64,
                            .request = its->seen != NULL ? see : NULL,
                            .user = its->seen };
  SrvRunResult out;
  g_autoptr (GError) error = NULL;
  if (!srv_run (&spec, &out, &error))
    g_error ("%s", error->message);
  return out;
}

/* All prompts of a session that one replica answers are hits but for what is new: sum over turns of the turn before, less what
 * the last token forbids: at least one token is computed, and a turn adds ten blocks. */
#define ALL_HITS (SESSIONS * TOKENS * (TURNS * (TURNS - 1) / 2))

static void
sessions_stay_where_they_began (void)
{
  guint seen[SESSIONS * TURNS];
  const Case its = { .policy = SRV_ROUTER_SESSION, .replicas = 4, .ranks = 1, .seed = 7, .seen = seen };
  const SrvRunResult out = run_of (&its);
  TEST_INT (out.requests, SESSIONS * TURNS);
  TEST_INT (out.hit_tokens, ALL_HITS);
  /* The same draws again: which request is of which session. */
  Load load = { .n = SESSIONS * TURNS, .random = base_random_stream (7, "sessions") };
  guint of[SESSIONS];
  memset (of, 0xff, sizeof of);
  for (SrvRequest request; next (&load, &request, NULL);) {
    if (of[request.session - 1] == G_MAXUINT)
      of[request.session - 1] = seen[request.index];
    TEST_INT (seen[request.index], of[request.session - 1]);
  }
}

/* A router that looks at caches never finds less in them than one that does not look, nor more than there is. */
static void
routers_that_know_caches_find_more (void)
{
  guint64 hits[SRV_ROUTER_LLM_D + 1] = { 0 };
  for (guint64 seed = 1; seed <= 20; seed++)
    for (guint blocks = 600; blocks <= 10000; blocks *= 4) {
      guint64 plain = 0;
      for (guint policy = SRV_ROUTER_ROUND_ROBIN; policy <= SRV_ROUTER_LLM_D; policy++) {
        const Case its = { .policy = (SrvRouter)policy, .replicas = 4, .ranks = 1, .seed = seed, .blocks = blocks };
        const SrvRunResult out = run_of (&its);
        TEST_INT (out.requests, SESSIONS * TURNS);
        TEST_TRUE (out.hit_tokens <= ALL_HITS);
        if (policy == SRV_ROUTER_ROUND_ROBIN)
          plain = out.hit_tokens;
        if (policy >= SRV_ROUTER_SESSION)
          TEST_TRUE (out.hit_tokens >= plain);
        hits[policy] += out.hit_tokens;
      }
    }
  TEST_TRUE (hits[SRV_ROUTER_KV] > 3 * hits[SRV_ROUTER_ROUND_ROBIN] / 2);
  TEST_TRUE (hits[SRV_ROUTER_LLM_D] > 2 * hits[SRV_ROUTER_ROUND_ROBIN]);
}

/* One replica has all requests, whatever the router; steps that are jumped over give the same as steps one by one. */
static void
routers_do_not_change_what_is_answered (void)
{
  for (guint policy = SRV_ROUTER_ROUND_ROBIN; policy <= SRV_ROUTER_LLM_D; policy++) {
    const Case one = { .policy = (SrvRouter)policy, .replicas = 1, .ranks = 1, .seed = 3 },
               first = { .policy = SRV_ROUTER_ROUND_ROBIN, .replicas = 1, .ranks = 1, .seed = 3 };
    TEST_NEAR (run_of (&one).e2e.mean, run_of (&first).e2e.mean, 1e-12);
    Case jumped = { .policy = (SrvRouter)policy, .replicas = 3, .ranks = 1, .seed = 5, .blocks = 700 }, stepwise = jumped;
    stepwise.stepwise = TRUE;
    const SrvRunResult a = run_of (&jumped), b = run_of (&stepwise);
    TEST_NEAR (a.e2e.mean, b.e2e.mean, 1e-12);
    TEST_NEAR (a.ttft.p99, b.ttft.p99, 1e-12);
    TEST_INT (a.hit_tokens, b.hit_tokens);
  }
}

/* Ranks of attention data parallelism have caches of their own: a router that knows them finds prompts there too. */
static void
ranks_are_chosen_by_their_caches (void)
{
  const Case kv = { .policy = SRV_ROUTER_KV, .replicas = 2, .ranks = 2, .seed = 5 },
             plain = { .policy = SRV_ROUTER_ROUND_ROBIN, .replicas = 2, .ranks = 2, .seed = 5 };
  TEST_TRUE (run_of (&kv).hit_tokens > run_of (&plain).hit_tokens);
}

/* Requests without a session go where least is to do; a high temperature is a draw, which finds less than the lowest cost. */
static void
without_sessions_or_certainty (void)
{
  const Case session = { .policy = SRV_ROUTER_SESSION, .replicas = 4, .ranks = 1, .seed = 9, .anonymous = TRUE },
             least = { .policy = SRV_ROUTER_LEAST_LOADED, .replicas = 4, .ranks = 1, .seed = 9 };
  TEST_INT (run_of (&session).hit_tokens, run_of (&least).hit_tokens);
  const Case cold = { .policy = SRV_ROUTER_KV, .replicas = 4, .ranks = 1, .seed = 9 },
             hot = { .policy = SRV_ROUTER_KV, .replicas = 4, .ranks = 1, .seed = 9, .temperature = 100 },
             cool = { .policy = SRV_ROUTER_KV, .replicas = 4, .ranks = 1, .seed = 9, .temperature = 0.001 };
  TEST_TRUE (run_of (&hot).hit_tokens < run_of (&cold).hit_tokens);
  TEST_TRUE (run_of (&cool).hit_tokens > run_of (&hot).hit_tokens);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "kv cost is the published one", kv_cost_is_the_published_one },
    { "llm-d scores are the published ones", llm_d_scores_are_the_published_ones },
    { "sessions stay where they began", sessions_stay_where_they_began },
    { "routers that know caches find more", routers_that_know_caches_find_more },
    { "routers do not change what is answered", routers_do_not_change_what_is_answered },
    { "ranks are chosen by their caches", ranks_are_chosen_by_their_caches },
    { "without sessions or certainty", without_sessions_or_certainty },
    { NULL, NULL },
  };
  return test_main ("serving/route", cases);
}
