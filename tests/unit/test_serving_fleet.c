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
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == load->n)
    return FALSE;
  *out = (SrvRequest){ .index = load->sent++, .input = load->input, .output = load->output };
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
} Case;

/* Prompts of 8,192 tokens of Llama 3.1 70B: 250 ms each, 2,684,354,560 B, steps of 20 ms. */
static SrvRunResult
run_of (const Case *its)
{
  Times times = { 0.25, 0.02 };
  Load load = { .n = its->requests, .input = 8192, .output = its->output };
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
  decode.replicas = 1;
  decode.blocks = its->blocks;
  spec.decode = &decode;
  spec.fabric = (SrvFabric){ .eng = eng, .user = &wire, .flow = flow_of, .layer = its->layer, .pull = its->pull };
  spec.first_by_decode = its->by_decode;
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
  const Case prefill = { 1, 100000, 3, 1, 48e9, FALSE, SRV_ENGINE_VLLM, 0, FALSE };
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
  const Case whole = { 1, 100000, 3, 1, 48e9, FALSE, SRV_ENGINE_VLLM, 0, FALSE };
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
  const Case one = { 1, 100000, 3, 2, 2684354560. / 0.2, FALSE, SRV_ENGINE_VLLM, 0.01, FALSE };
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
  const Case push = { 2, 100000, 60, 1, 48e9, FALSE, SRV_ENGINE_VLLM, 0, FALSE };
  Case pull = push;
  pull.pull = TRUE;
  const SrvRunResult a = run_of (&push), b = run_of (&pull);
  TEST_NEAR (a.transfer.wait_s, 0, 1e-9);
  TEST_NEAR (b.transfer.wait_s, 0.0059240533333 / 2, 1e-6);
  TEST_NEAR (b.transfer.time_s, a.transfer.time_s, 1e-9);
  TEST_TRUE (b.e2e.mean >= a.e2e.mean);
}

/* Two prefill replicas end at once: each transfer takes twice as long, 111.85 ms. */
static void
transfers_share_a_link (void)
{
  const Case its = { 2, 100000, 3, 2, 48e9, FALSE, SRV_ENGINE_VLLM, 0, FALSE };
  const SrvRunResult out = run_of (&its);
  TEST_NEAR (out.transfer.time_s, 2 * 0.0559240533333, 1e-9);
}

/* 520 blocks hold one sequence of 512 + 1 blocks: the others wait, and all are answered, by every engine. */
static void
decode_blocks_are_waited_for (void)
{
  for (guint engine = 0; engine < SRV_ENGINE_N; engine++) {
    const Case its = { 4, 520, 10, 2, 48e9, FALSE, (SrvEngineName)engine, 0, FALSE };
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
    const Case its = { 12, 2000, 40, 3, rate_Bps, FALSE, SRV_ENGINE_VLLM, 0, FALSE };
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
    { "decode blocks are waited for", decode_blocks_are_waited_for },
    { "a slower network is never better", slower_network_is_never_better },
    { "heads are cut anew", heads_are_cut_anew },
    { "descriptors are counted", descriptors_are_counted },
    { NULL, NULL },
  };
  return test_main ("serving/fleet", cases);
}
