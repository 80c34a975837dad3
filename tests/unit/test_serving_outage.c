/* Replicas that are lost under load: results by hand, and laws. */
#include <math.h>

#include "base/random.h"
#include "harness.h"
#include "serving/run.h"
#include "serving_source_fixture.h"

typedef struct {
  guint64 sent, n;
  double gap_s;
  guint input, output, more; /* more: of the second one */
  gboolean hashed;
  guint64 hashes[64];
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == load->n)
    return FALSE;
  *out = (SrvRequest){ .index = load->sent,
                       .arrival_s = load->gap_s * (double)load->sent,
                       .input = load->input + (load->sent == 1 ? load->more : 0),
                       .output = load->output > 12 ? load->output - (guint32)(load->sent % 7) : load->output };
  if (load->hashed) {
    for (guint i = 0; i < load->input / 16; i++)
      load->hashes[i] = (load->sent % 5) * 1000 + i;
    out->hash = load->hashes;
    out->n_hashes = load->input / 16;
    out->hash_tokens = 16;
    out->session = (guint32)(load->sent % 5) + 1;
  }
  load->sent++;
  return TRUE;
}

/* A step with prompts takes 1 s, others 100 ms. */
static double
time_of (gpointer model, const SrvBatch *batches, SrvStepCost *cost)
{
  const guint *ranks = model;
  guint chunks = 0;
  (void)cost;
  for (guint i = 0; i < *ranks; i++)
    chunks += batches[i].n_chunks;
  return chunks > 0 ? 1 : 0.1;
}

static void
line_of (gpointer model, guint n, double context, double windowed, SrvDecodeLine *line)
{
  (void)model;
  (void)n;
  (void)context;
  (void)windowed;
  *line = (SrvDecodeLine){ 0.1, 0, 0, 1e12 };
}

/* KV moves at 1 B a token. */
static gboolean
flow_of (gpointer user, SrvEnd from, SrvEnd to, guint tokens, GArray *uses, EngFlowSpec *spec, GError **error)
{
  const EngUse use = { *(const EngLink *)user, 1 };
  (void)from;
  (void)to;
  (void)error;
  g_array_set_size (uses, 0);
  g_array_append_val (uses, use);
  *spec = (EngFlowSpec){ .amount = tokens, .uses = (const EngUse *)(const void *)uses->data, .n_uses = 1 };
  return TRUE;
}

static gboolean
tier_flow (gpointer user, const SrvTierEnd *end, guint tokens, GArray *uses, EngFlowSpec *spec, double *alone_s, GError **error)
{
  (void)end;
  *alone_s = tokens / 200.0;
  return flow_of (user, (SrvEnd){ 0, 0 }, (SrvEnd){ 0, 0 }, tokens, uses, spec, error);
}

typedef struct {
  Load load;
  SrvEngineName engine;
  guint replicas, decode; /* decode 0: one pool */
  guint ranks;
  SrvRouter router;
  const SrvOutage *outages;
  guint n_outages;
  double detect_s, rate_Bps;
  gboolean migrate, stepwise, tiers;
} Case;

static SrvRunResult
run_of (Case its)
{
  guint ranks = MAX (its.ranks, 1);
  g_autoptr (Eng) eng = eng_new ();
  EngLink link = eng_link_new (eng, its.rate_Bps > 0 ? its.rate_Bps : 200);
  SrvRunSpec spec = { .times = { .model = &ranks, .ranks = ranks, .time_s = time_of, .line = line_of },
                      .source = { &its.load, next, nothing_follows, its.decode == 0 && !its.tiers },
                      .engine = its.engine,
                      .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                      .blocks = its.tiers ? 60 : 10000,
                      .block = 16,
                      .caching = its.load.hashed,
                      .replicas = its.replicas,
                      .router = { .policy = its.router, .credit = 1, .scale = 1, .prefix = 3, .usage = 2, .queue = 2 },
                      .stepwise = its.stepwise,
                      .outages = its.outages,
                      .n_outages = its.n_outages,
                      .detect_s = its.detect_s,
                      .migrate = its.migrate,
                      .slo = { 2, 1, (double)INFINITY },
                      .watch = G_MAXUINT64 };
  SrvRunSpec decode = spec;
  if (its.decode > 0) {
    decode.replicas = its.decode;
    decode.caching = FALSE;
    spec.decode = &decode;
    spec.fabric = (SrvFabric){ .eng = eng, .user = &link, .flow = flow_of };
  }
  if (its.tiers)
    spec.offload = (SrvOffload){
      .tier = { { 1000, FALSE }, { 0, FALSE }, { 4000, TRUE } }, .token_B = 1, .eng = eng, .user = &link, .flow = tier_flow
    };
  SrvRunResult out;
  g_autoptr (GError) error = NULL;
  if (!srv_run (&spec, &out, &error))
    g_error ("%s", error->message);
  return out;
}

/* ---- by hand ---- */

/* Two replicas, a request each: prompts end at 1 s, answers of 11 tokens at 2 s. The second replica is lost at 1.55 s, when its
 * request has 6 tokens; half a second later that is sent again, to the first replica, and ends at 2.05 + 1 + 1 s. With `migrate`
 * it keeps its tokens: the 7th comes at 3.05 s, and the last 0.4 s later. */
static void
a_request_begins_again (void)
{
  static const SrvOutage outages[] = { { 1, 1.55, 10 } };
  Case its = { .load = { .n = 2, .input = 100, .output = 11 }, .replicas = 2, .outages = outages, .n_outages = 1, .detect_s = 0.5 };
  for (guint engine = 0; engine < SRV_ENGINE_N; engine++)
    for (guint stepwise = 0; stepwise < 2; stepwise++) {
      its.engine = (SrvEngineName)engine;
      its.stepwise = stepwise == 1;
      its.migrate = FALSE;
      SrvRunResult out = run_of (its);
      TEST_INT (out.requests, 2);
      TEST_INT (out.retried, 1);
      TEST_INT (out.failed_tokens, 105);
      TEST_INT (out.phases[SRV_PHASE_DURING].requests, 1);
      TEST_INT (out.phases[SRV_PHASE_DURING].good, 0); /* its first token takes 3.05 s, more than 2 */
      TEST_NEAR (out.phases[SRV_PHASE_DURING].ttft.p50, 3.05, 1e-9);
      TEST_NEAR (out.e2e.mean, (2 + 4.05) / 2, 1e-9);
      its.migrate = TRUE;
      out = run_of (its);
      TEST_NEAR (out.ttft.mean, 1, 1e-9);
      TEST_NEAR (out.e2e.mean, (2 + 3.45) / 2, 1e-9);
      TEST_INT (out.phases[SRV_PHASE_DURING].good, 1);
    }
}

/* The only replica is lost for 5 s: requests wait in the front end. */
static void
all_wait_until_one_is_back (void)
{
  static const SrvOutage outages[] = { { 0, 0.5, 5.5 }, { 0, 0.7, 5 } }; /* it is lost already */
  for (guint router = SRV_ROUTER_ROUND_ROBIN; router <= SRV_ROUTER_LLM_D; router++) {
    const Case its = { .load = { .n = 2, .gap_s = 2, .input = 96, .output = 1, .hashed = TRUE },
                       .replicas = 1,
                       .router = (SrvRouter)router,
                       .outages = outages,
                       .n_outages = 2 };
    const SrvRunResult out = run_of (its);
    TEST_INT (out.requests, 2);
    TEST_NEAR (out.e2e.mean, (6 + 4) / 2.0, 1e-9); /* back at 5 s, and both prompts in one step */
    TEST_INT (out.phases[SRV_PHASE_DURING].requests, 2);
  }
}

/* One prefill and two decode replicas; KV of 100 tokens takes 0.5 s. Prompt to 1 s, KV to 1.5 s, 10 tokens to 2.5 s. */
static void
transfers_look_for_another_replica (void)
{
  static const SrvOutage target[] = { { 1, 1.25, 100 } }, after[] = { { 1, 1.75, 100 } }, source[] = { { 0, 1.25, 2 } };
  Case its = { .load = { .n = 1, .input = 100, .output = 11 }, .replicas = 1, .decode = 2, .n_outages = 1 };
  its.outages = target; /* moves anew from 1.25 to 1.75 s */
  TEST_NEAR (run_of (its).e2e.mean, 2.75, 1e-9);
  TEST_INT (run_of (its).retried, 0);
  its.outages = after; /* the source is free already: from the begin at 1.75 s */
  TEST_NEAR (run_of (its).e2e.mean, 1.75 + 2.5, 1e-9);
  its.outages = source; /* from the begin, when it is back */
  TEST_NEAR (run_of (its).e2e.mean, 2 + 2.5, 1e-9);
  TEST_INT (run_of (its).retried, 1);
  its.decode = 1;
  its.outages = (const SrvOutage[]){ { 1, 0.5, 3 } }; /* KV waits for a decode replica until 3 s */
  TEST_NEAR (run_of (its).e2e.mean, 3 + 1.5, 1e-9);
}

/* The second request's KV lands at 2.52 s, in the middle of a step of the first one; both begin again on the other decode
 * replica. */
static void
what_has_landed_is_lost_too (void)
{
  static const SrvOutage outages[] = { { 1, 2.53, 100 } };
  const Case its = { .load = { .n = 2, .gap_s = 0.6, .input = 110, .output = 12, .more = 4 },
                     .replicas = 1,
                     .decode = 1,
                     .outages = (const SrvOutage[]){ { 1, 2.595, 4 } },
                     .n_outages = 1 };
  for (guint engine = 0; engine < SRV_ENGINE_N; engine++) {
    Case both = its;
    both.engine = (SrvEngineName)engine;
    TEST_INT (run_of (both).retried, 2);
    TEST_INT (run_of (both).requests, 2);
    both.decode = 2;
    both.outages = outages;
    TEST_INT (run_of (both).requests, 2);
  }
}

/* ---- laws ---- */

/* Whatever is lost when, all requests are answered in full, and jumps over steps change nothing; an outage after the end neither.
 * */
static void
every_request_is_answered (void)
{
  BaseRandom random = base_random_stream (7, "outages");
  for (guint round = 0; round < 120; round++) {
    SrvOutage outages[4];
    Case its = { .load = { .n = 60, .gap_s = 0.13, .input = 96, .output = 20 },
                 .engine = (SrvEngineName)(round % SRV_ENGINE_N),
                 .replicas = 3,
                 .outages = outages,
                 .n_outages = 4,
                 .detect_s = 0.2 };
    its.decode = round % 4 == 1 ? 2 : 0;
    its.tiers = round % 4 == 2;
    its.ranks = round % 4 == 3 ? 2 : 1;
    its.load.hashed = round % 2 == 0;
    its.migrate = its.decode == 0 && round % 3 == 0;
    its.router = (SrvRouter)(round % (SRV_ROUTER_LLM_D + 1));
    its.rate_Bps = 50 + base_random_below (&random, 500);
    for (guint i = 0; i < 4; i++) {
      const double at_s = 15 * base_random_unit (&random);
      outages[i] =
          (SrvOutage){ base_random_below (&random, its.replicas + its.decode), at_s, at_s + 4 * base_random_unit (&random) };
    }
    const SrvRunResult out = run_of (its);
    TEST_INT (out.requests, 60);
    TEST_INT (out.input_tokens, 60 * 96);
    guint64 sum = 0;
    for (guint i = 0; i < SRV_PHASE_N; i++)
      sum += out.phases[i].requests;
    TEST_INT (sum, 60);
    TEST_TRUE (out.phases[SRV_PHASE_DURING].requests >= MIN (out.retried, 1));
    its.stepwise = TRUE;
    const SrvRunResult steps = run_of (its);
    TEST_NEAR (out.e2e.mean, steps.e2e.mean, 1e-12);
    TEST_INT (out.retried, steps.retried);
    its.n_outages = 0;
    const SrvRunResult none = run_of (its);
    TEST_INT (out.output_tokens, none.output_tokens);
    outages[0].at_s = 1e4;
    outages[0].until_s = (double)INFINITY;
    its.n_outages = 1;
    TEST_NEAR (run_of (its).e2e.mean, none.e2e.mean, 1e-12);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a request begins again", a_request_begins_again },
    { "all wait until one is back", all_wait_until_one_is_back },
    { "transfers look for another replica", transfers_look_for_another_replica },
    { "what has landed is lost too", what_has_landed_is_lost_too },
    { "every request is answered", every_request_is_answered },
    { NULL, NULL },
  };
  return test_main ("serving/outage", cases);
}
