/* Prefill and decode apart: results by hand, and laws. */
#include <math.h>

#include "harness.h"
#include "serving/fleet.h"
#include "serving_source_fixture.h"

typedef struct {
  double prompt_s, decode_s;
} Times;

static void
line_of (gpointer model, guint n, double context, double windowed, SrvDecodeLine *line)
{
  const Times *times = model;
  (void)n;
  (void)context;
  (void)windowed;
  *line = (SrvDecodeLine){ times->decode_s, 0, 0, 1e12 };
}

static double
time_of (gpointer model, const SrvBatch *batch, SrvStepCost *cost)
{
  const Times *times = model;
  gboolean whole = FALSE; /* a prompt that is not only its last token */
  (void)cost;
  for (guint i = 0; i < batch->n_chunks; i++)
    whole |= batch->chunks[i].tokens > 1;
  return whole ? times->prompt_s : times->decode_s;
}

typedef struct {
  guint64 n, sent;
  guint input, output;
  double gap_s;
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == load->n)
    return FALSE;
  *out = (SrvRequest){
    .index = load->sent, .arrival_s = load->gap_s * (double)load->sent, .input = load->input, .output = load->output
  };
  load->sent++;
  return TRUE;
}

/* All transfers share one link. */
typedef struct {
  EngLink link;
  double token_B;
} Wire;

static gboolean
flow_of (gpointer user, SrvEnd from, SrvEnd to, guint tokens, GArray *uses, EngFlowSpec *spec, GError **error)
{
  const Wire *wire = user;
  const EngUse use = { wire->link, 1 };
  (void)from;
  (void)to;
  (void)error;
  g_array_set_size (uses, 0);
  g_array_append_val (uses, use);
  *spec = (EngFlowSpec){ .amount = wire->token_B * tokens, .uses = (const EngUse *)(const void *)uses->data, .n_uses = 1 };
  return TRUE;
}

typedef struct {
  guint64 requests, blocks;
  guint output, replicas;
  double rate_Bps;
  gboolean by_decode;
  SrvEngineName engine;
  double layer; /* part of the prompt behind which its KV begins to move; 0: all of it */
  gboolean pull;
  double gap_s; /* between two requests */
  gboolean asks, in_turn, handed;
  guint decodes, poll; /* 0: one */
  double token_s[2];   /* of the front ends of both pools */
  guint steps[4];      /* out: by replica */
} Case;

static void
count_step (gpointer user, const SrvStepSeen *seen)
{
  guint *steps = user;
  steps[seen->replica]++;
}

/* Prompts of 8,192 tokens of Llama 3.1 70B: 250 ms each, 2,684,354,560 B, steps of 20 ms. */
static SrvRunResult
run_of (Case *its)
{
  Times times = { 0.25, 0.02 };
  Load load = { .n = its->requests, .input = 8192, .output = its->output, .gap_s = its->gap_s };
  g_autoptr (Eng) eng = eng_new ();
  Wire wire = { eng_link_new (eng, its->rate_Bps), 327680 };
  SrvRunSpec spec = { .times = { .model = &times, .ranks = 1, .time_s = time_of, .line = line_of },
                      .source = { &load, next, nothing_follows, FALSE },
                      .engine = its->engine,
                      .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                      .blocks = 100000,
                      .block = 16,
                      .replicas = its->replicas,
                      .slo = { (double)INFINITY, (double)INFINITY, (double)INFINITY },
                      .watch = G_MAXUINT64 };
  SrvRunSpec decode = spec;
  decode.replicas = MAX (its->decodes, 1);
  decode.blocks = its->blocks;
  decode.limits.poll = its->poll;
  spec.front.token_s = its->token_s[0];
  decode.front.token_s = its->token_s[1];
  spec.step = its->decodes > 0 ? count_step : NULL; /* such a run takes steps one by one */
  spec.user = its->steps;
  spec.decode = &decode;
  spec.fabric = (SrvFabric){ .eng = eng, .user = &wire, .flow = flow_of, .layer = its->layer, .pull = its->pull };
  spec.fabric.asks = its->asks;
  spec.fabric.in_turn = its->in_turn;
  spec.first_by_decode = its->by_decode;
  spec.first_handed = its->handed;
  SrvRunResult out;
  g_autoptr (GError) error = NULL;
  if (!srv_run (&spec, &out, &error))
    g_error ("%s", error->message);
  return out;
}

/* Cases 10 and 19 of the design: 55.92 ms at 48 GB/s; first token after 250 ms, or 250 + 55.92 + 20 ms. */
static void
first_token_comes_from_either_pool (void)
{
  Case prefill = { .requests = 1,
                   .blocks = 100000,
                   .output = 3,
                   .replicas = 1,
                   .rate_Bps = 48e9,
                   .by_decode = FALSE,
                   .engine = SRV_ENGINE_VLLM,
                   .layer = 0,
                   .pull = FALSE };
  Case decode = prefill;
  decode.by_decode = TRUE;
  const SrvRunResult a = run_of (&prefill), b = run_of (&decode);
  TEST_NEAR (a.ttft.p50, 0.25, 1e-9);
  TEST_NEAR (a.e2e.p50, 0.25 + 0.0559240533333 + 0.04, 1e-9);
  TEST_NEAR (b.ttft.p50, 0.3259240533333, 1e-9);
  TEST_NEAR (a.transfer.bytes_B, 2684354560.0, 1e-12);
  TEST_NEAR (a.transfer.time_s, 0.0559240533333, 1e-9);
}

/* Of four layers three moved while the prompt was computed: a quarter of 55.92 ms is left. */
static void
layers_move_early (void)
{
  Case whole = { .requests = 1,
                 .blocks = 100000,
                 .output = 3,
                 .replicas = 1,
                 .rate_Bps = 48e9,
                 .by_decode = FALSE,
                 .engine = SRV_ENGINE_VLLM,
                 .layer = 0,
                 .pull = FALSE };
  Case part = whole;
  part.layer = 0.25;
  const SrvRunResult a = run_of (&whole), b = run_of (&part);
  TEST_NEAR (b.transfer.time_s, 0.25 * a.transfer.time_s, 1e-9);
  TEST_NEAR (a.e2e.p50 - b.e2e.p50, 0.75 * 0.0559240533333, 1e-9);
  TEST_NEAR (a.transfer.bytes_B, b.transfer.bytes_B, 1e-12); /* all of it moved */
}

/* Two prompts of 100 layers at once, on a wire that carries one of them in 200 ms: alone a hundredth is left. Together they move
 * 0.99 · 250 / 400 while they are computed, and what is left takes both (1 - 0.61875) · 400 ms. */
static void
layers_that_move_early_share_the_links (void)
{
  Case one = { .requests = 1,
               .blocks = 100000,
               .output = 3,
               .replicas = 2,
               .rate_Bps = 2684354560. / 0.2,
               .by_decode = FALSE,
               .engine = SRV_ENGINE_VLLM,
               .layer = 0.01,
               .pull = FALSE };
  Case two = one;
  two.requests = 2;
  const SrvRunResult a = run_of (&one), b = run_of (&two);
  TEST_NEAR (a.transfer.time_s, 0.01 * 0.2, 1e-6);
  TEST_NEAR (b.transfer.time_s, (1 - 0.99 * 0.25 / 0.4) * 0.4, 1e-6);
}

/* Where the decode side reads, the second transfer begins when the step in progress has ended: the first request's steps of 20 ms
 * begin at 305.92 ms, and the second prompt ends at 500 ms, within the step until 505.92 ms. */
static void
reads_wait_for_a_step (void)
{
  Case push = { .requests = 2,
                .blocks = 100000,
                .output = 60,
                .replicas = 1,
                .rate_Bps = 48e9,
                .by_decode = FALSE,
                .engine = SRV_ENGINE_VLLM,
                .layer = 0,
                .pull = FALSE };
  Case pull = push;
  pull.pull = TRUE;
  const SrvRunResult a = run_of (&push), b = run_of (&pull);
  TEST_NEAR (a.transfer.wait_s, 0, 1e-9);
  TEST_NEAR (b.transfer.wait_s, 0.0059240533333 / 2, 1e-6);
  TEST_NEAR (b.transfer.time_s, a.transfer.time_s, 1e-9);
  TEST_TRUE (b.e2e.mean >= a.e2e.mean);
}

/* The second request comes at 500 ms, within the tenth step of 20 ms that began at 305.92 ms. The decode side sees it behind that
 * step and answers behind the next one, at 525.92 ms; where it looks every eight steps, behind the 16th and 17th, at 645.92 ms. */
static void
a_prompt_waits_until_the_decode_side_has_seen_it (void)
{
  Case its = { .requests = 2, .blocks = 100000, .output = 60, .replicas = 1, .rate_Bps = 48e9, .gap_s = 0.5 };
  const SrvRunResult not = run_of (&its);
  its.asks = TRUE;
  const SrvRunResult each = run_of (&its);
  its.poll = 8;
  const SrvRunResult eighth = run_of (&its);
  TEST_NEAR (not .ttft.mean, 0.25, 1e-9);
  TEST_NEAR (each.ttft.mean, 0.25 + 0.0259240533333 / 2, 1e-9);
  TEST_NEAR (eighth.ttft.mean, 0.25 + 0.1459240533333 / 2, 1e-9);
  its.requests = 1; /* an idle replica sees it at once */
  TEST_NEAR (run_of (&its).ttft.mean, 0.25, 1e-9);
}

/* The first of two answers has ended when the second prompt is computed: the replica with the fewest requests is the same again. */
static void
decode_replicas_take_turns (void)
{
  Case its = { .requests = 2, .blocks = 100000, .output = 4, .replicas = 1, .rate_Bps = 48e9, .gap_s = 0.5, .decodes = 2 };
  Case turns = its;
  turns.in_turn = TRUE;
  run_of (&its);
  run_of (&turns);
  TEST_INT (its.steps[1], 6);
  TEST_INT (its.steps[2], 0);
  TEST_INT (turns.steps[1], 3);
  TEST_INT (turns.steps[2], 3);
}

/* Messages are sent by the front end of the replica that made the token: 250 + 55.92 + 2 ms, then steps of 20 ms. */
static void
each_pool_has_its_own_front_end (void)
{
  Case its = {
    .requests = 1, .blocks = 100000, .output = 3, .replicas = 1, .rate_Bps = 48e9, .handed = TRUE, .token_s = { 0.5, 0.002 }
  };
  const SrvRunResult out = run_of (&its);
  TEST_NEAR (out.ttft.mean, 0.25 + 0.0559240533333 + 0.002, 1e-9);
  TEST_NEAR (out.e2e.mean - out.ttft.mean, 0.04, 1e-9);
}

/* Two prefill replicas end at once: each transfer takes twice as long, 111.85 ms. */
static void
transfers_share_a_link (void)
{
  Case its = { .requests = 2,
               .blocks = 100000,
               .output = 3,
               .replicas = 2,
               .rate_Bps = 48e9,
               .by_decode = FALSE,
               .engine = SRV_ENGINE_VLLM,
               .layer = 0,
               .pull = FALSE };
  const SrvRunResult out = run_of (&its);
  TEST_NEAR (out.transfer.time_s, 2 * 0.0559240533333, 1e-9);
}

/* 520 blocks hold one sequence of 512 + 1 blocks: the others wait, and all are answered, by every engine. */
static void
decode_blocks_are_waited_for (void)
{
  for (guint engine = 0; engine < SRV_ENGINE_N; engine++) {
    Case its = { .requests = 4,
                 .blocks = 520,
                 .output = 10,
                 .replicas = 2,
                 .rate_Bps = 48e9,
                 .by_decode = FALSE,
                 .engine = (SrvEngineName)engine,
                 .layer = 0,
                 .pull = FALSE };
    const SrvRunResult out = run_of (&its);
    TEST_INT (out.requests, 4);
    TEST_INT (out.transfer.n, 4);
    TEST_TRUE (out.transfer.wait_s > 0.05);
  }
}

static void
slower_network_is_never_better (void)
{
  double last_s = 0;
  for (double rate_Bps = 400e9; rate_Bps > 1e9; rate_Bps /= 2) {
    Case its = { .requests = 12,
                 .blocks = 2000,
                 .output = 40,
                 .replicas = 3,
                 .rate_Bps = rate_Bps,
                 .by_decode = FALSE,
                 .engine = SRV_ENGINE_VLLM,
                 .layer = 0,
                 .pull = FALSE };
    const SrvRunResult out = run_of (&its);
    TEST_TRUE (out.e2e.mean >= last_s);
    last_s = out.e2e.mean;
  }
}

/* Each rank of the decode pool gets all of its heads once, wherever they are. */
static void
heads_are_cut_anew (void)
{
  static const guint tps[] = { 1, 2, 4, 8, 16 };
  for (guint a = 0; a < G_N_ELEMENTS (tps); a++)
    for (guint b = 0; b < G_N_ELEMENTS (tps); b++)
      for (guint to = 0; to < tps[b]; to++) {
        double part = 0, latent = 0;
        for (guint from = 0; from < tps[a]; from++) {
          part += srv_kv_part (8, tps[a], from, tps[b], to);
          latent += srv_kv_part (0, tps[a], from, tps[b], to);
        }
        TEST_NEAR (part, fmax (8.0 / tps[b], 1) / 8, 1e-12);
        TEST_NEAR (latent, 1, 1e-12);
      }
}

/* Case 10: 8,192 / 16 blocks x 80 layers x (keys, values). */
static void
descriptors_are_counted (void)
{
  MdlLlm llm = { 0 };
  TEST_NEAR (srv_kv_descriptors (&llm, 8192, 16, 80), 81920, 1e-12);
  llm.attention.kind.v = MDL_ATTENTION_MLA;
  TEST_NEAR (srv_kv_descriptors (&llm, 8192, 64, 61), 7808, 1e-12);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the first token comes from either pool", first_token_comes_from_either_pool },
    { "transfers share a link", transfers_share_a_link },
    { "layers move early", layers_move_early },
    { "layers that move early share the links", layers_that_move_early_share_the_links },
    { "reads wait for a step", reads_wait_for_a_step },
    { "a prompt waits until the decode side has seen it", a_prompt_waits_until_the_decode_side_has_seen_it },
    { "decode replicas take turns", decode_replicas_take_turns },
    { "each pool has its own front end", each_pool_has_its_own_front_end },
    { "decode blocks are waited for", decode_blocks_are_waited_for },
    { "a slower network is never better", slower_network_is_never_better },
    { "heads are cut anew", heads_are_cut_anew },
    { "descriptors are counted", descriptors_are_counted },
    { NULL, NULL },
  };
  return test_main ("serving/fleet", cases);
}
