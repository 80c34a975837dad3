/* What an engine leaves for KV blocks, against arithmetic. */
#include "serving_fixture.h"

static double
kv_B (const char *model, SrvFormat format, double *sequence_B)
{
  g_auto (Serving) s;
  g_autofree char *text = g_strdup_printf ("{model: %s, engine: {name: vllm}}", model);
  serving_open (&s, "hgx_h100", 1, text);
  return srv_kv_token_B (&s.llm, format, sequence_B);
}

static void
kv_of_a_token_is_that_of_published_shapes (void)
{
  double window_B = 0;
  TEST_NEAR (kv_B ("llama31_8b", SRV_FORMAT_BF16, NULL), 131072, 0);  /* 2 x 32 layers x 8 heads x 128 x 2 B */
  TEST_NEAR (kv_B ("llama31_70b", SRV_FORMAT_BF16, NULL), 327680, 0); /* 2 x 80 x 8 x 128 x 2 */
  TEST_NEAR (kv_B ("llama31_405b", SRV_FORMAT_BF16, NULL), 516096, 0);
  TEST_NEAR (kv_B ("qwen3_32b", SRV_FORMAT_BF16, NULL), 262144, 0);
  TEST_NEAR (kv_B ("qwen3_235b_a22b", SRV_FORMAT_BF16, NULL), 192512, 0);
  TEST_NEAR (kv_B ("deepseek_v3", SRV_FORMAT_BF16, NULL), 70272, 0); /* 61 x 576 x 2 */
  TEST_NEAR (kv_B ("deepseek_v3", SRV_FORMAT_FP8, NULL), 40016, 0);  /* 61 x 656 */
  TEST_NEAR (kv_B ("gpt_oss_120b", SRV_FORMAT_BF16, &window_B), 36864, 0);
  TEST_NEAR (window_B, 4718592, 0); /* 18 layers x 128 tokens x 2048 B */
}

#define CASE_2 "{model: llama31_70b, engine: {name: vllm, memory: 0.92, activations: 2 GiB, other: 0.5 GiB, block: 16}"

static void
seventy_billion_on_eight_gpus_leave_88336_blocks (void)
{
  g_auto (Serving) s;
  serving_open (&s, "hgx_h100", 1, CASE_2 ", parallel: {tp: 8}}");
  SrvMemory m = { 0 };
  g_autoptr (GError) error = NULL;
  TEST_TRUE (srv_memory_plan (&s.llm, &s.scenario->system, &s.keys.replica, &m, &error));
  TEST_NEAR (m.weights_B / 1073741824.0, 16.427, 2e-4);
  TEST_NEAR (m.kv_B, 57894586230.0, 5e-5);
  TEST_NEAR (m.token_B, 40960, 0); /* 327,680 / 8 */
  TEST_NEAR (m.blocks, 88336, 0);  /* 88,340 were norms cut in eight too: 7/8 x 2.6 MB of them are 3.5 blocks */
}

static void
engines_have_rules_of_their_own (void)
{
  /* 79.18 GiB, weights 16.43: vLLM 0.9 x all less the rest; TensorRT-LLM 0.9 of what is left; SGLang does not count activations */
  static const char *const engines[] = { "vllm", "sglang", "trtllm" };
  const double gib = 1073741824.0, capacity = 79.18 * gib, rest = 2.5 * gib;
  SrvMemory m[3] = { 0 };
  for (guint i = 0; i < 3; i++) {
    g_auto (Serving) s;
    g_autofree char *text =
        g_strdup_printf ("{model: llama31_70b, engine: {name: %s, memory: 0.9, activations: 2 GiB, other: 0.5 GiB}, "
                         "parallel: {tp: 8}}",
                         engines[i]);
    serving_open (&s, "hgx_h100", 1, text);
    TEST_TRUE (srv_memory_plan (&s.llm, &s.scenario->system, &s.keys.replica, &m[i], NULL));
  }
  TEST_NEAR (m[0].kv_B, 0.9 * capacity - m[0].weights_B - rest, 1e-9);
  TEST_NEAR (m[1].kv_B, 0.9 * (capacity - 0.5 * gib) - m[1].weights_B, 1e-9);
  TEST_NEAR (m[2].kv_B, 0.9 * (capacity - m[2].weights_B - rest), 1e-9);
}

static void
tokens_of_published_logs (void)
{
  /* vllm-project/vllm#21348: Qwen3-235B on four H100. vLLM: 8.11 GiB are 178,880 tokens; SGLang: 2 x 8.23 GiB are 367,404. vLLM
   * rounds the memory that it prints, and leaves the block of the last layer's remainder out. */
  g_auto (Serving) s;
  serving_open (&s, "hgx_h100", 1, "{model: qwen3_235b_a22b, engine: {name: vllm}, precision: {weights: fp8}, parallel: {tp: 4}}");
  SrvMemory m = { 0 };
  TEST_TRUE (srv_memory_plan (&s.llm, &s.scenario->system, &s.keys.replica, &m, NULL));
  TEST_NEAR (8.11 * 1073741824 / m.token_B, 178880, 0.015);
  TEST_NEAR (2 * 8.23 * 1073741824 / m.token_B, 367404, 0.002);
  /* the pools themselves, by the rules of the engines */
  static const struct {
    const char *engine;
    double tokens, error;
  } logs[] = { { "{name: sglang, version: 0.4.9, memory: 0.93}", 367404, 0.01 },
               { "{name: vllm, version: 0.9.2}", 178880, 0.015 } };
  for (guint i = 0; i < G_N_ELEMENTS (logs); i++) {
    g_auto (Serving) one;
    g_autofree char *text =
        g_strdup_printf ("{model: qwen3_235b_a22b, engine: %s, precision: {weights: fp8}, parallel: {tp: 4}}", logs[i].engine);
    serving_open (&one, "hgx_h100", 1, text);
    TEST_TRUE (srv_memory_plan (&one.llm, &one.scenario->system, &one.keys.replica, &m, NULL));
    TEST_NEAR (m.tokens, logs[i].tokens, logs[i].error);
  }
}

static double
other_of (const char *topology, double tp)
{
  g_auto (Serving) s;
  g_autofree char *text = g_strdup_printf ("{model: llama31_8b, engine: {name: vllm, version: 0.9.2}, parallel: {tp: %.0f}}", tp);
  serving_open (&s, topology, 1, text);
  SrvMemory m = { 0 };
  TEST_TRUE (srv_memory_plan (&s.llm, &s.scenario->system, &s.keys.replica, &m, NULL));
  return m.other_B;
}

static void
buffers_of_reduction_in_the_switch (void)
{
  /* NCCL's ncclNvlsBufferSetup: 16 channels x 2 x 8 steps of 128 KiB for each rank, in two communicators; none for two ranks */
  const double mib = 1024.0 * 1024.0, two = other_of ("hgx_h100", 2);
  TEST_NEAR (other_of ("hgx_h100", 4) - two, 4 * 64 * mib, 1e-9);
  TEST_NEAR (other_of ("hgx_h100", 8) - two, 8 * 64 * mib, 1e-9);
  TEST_NEAR (other_of ("hgx_a100", 8), two, 1e-9); /* its switches do not reduce */
}

static void
given_blocks_override_the_rule (void)
{
  g_auto (Serving) s;
  serving_open (&s, "hgx_h100", 1, "{model: llama31_8b, engine: {name: vllm, kv_blocks: 1000, max_model_len: 4000}}");
  SrvMemory m = { 0 };
  TEST_TRUE (srv_memory_plan (&s.llm, &s.scenario->system, &s.keys.replica, &m, NULL));
  TEST_TRUE (m.given);
  TEST_NEAR (m.tokens, 16000, 0);
  TEST_NEAR (m.concurrent, 4, 0);
}

static void
refused (const char *text, const char *says)
{
  g_auto (Serving) s;
  serving_open (&s, "hgx_h100", 1, text);
  SrvMemory m = { 0 };
  g_autoptr (GError) error = NULL;
  TEST_TRUE (!srv_memory_plan (&s.llm, &s.scenario->system, &s.keys.replica, &m, &error));
  TEST_HAS (error != NULL ? error->message : "", says);
}

static void
what_does_not_fit_is_refused_with_what_does (void)
{
  refused ("{model: llama31_70b, engine: {name: vllm}, parallel: {tp: 1}}", "tp: 2 fits");
  refused ("{model: llama31_405b, engine: {name: vllm}, parallel: {tp: 8}}", "precision: {weights: fp8} fits");
  refused ("{model: {like: llama31_8b, max_context: 10 M}, engine: {name: vllm, max_model_len: 10 M}}", "max_model_len: ");
  refused ("{model: llama31_8b, engine: {name: vllm, max_model_len: 131073}}",
           "above the 131072 tokens of a sequence of llama31_8b");
  refused ("{model: llama31_8b, engine: {name: vllm}, moe: {redundant: 1}}", "'moe' is of models with experts");
  refused ("{model: llama31_8b, engine: {name: vllm}, parallel: {tp: 3}}",
           "tp 3 does not divide the 32 query heads of llama31_8b; use tp 2");
  refused ("{model: llama31_8b, engine: {name: vllm}, parallel: {tp: 16}}", "takes 16 GPUs, and the cluster has 8");
  refused ("{model: llama31_8b, engine: {name: vllm}, parallel: {tp: 2, ep: 2}}", "ep 2 needs experts");
  refused ("{model: deepseek_v3, engine: {name: vllm}, parallel: {tp: 6, ep: 6}}", "tp 6 does not divide the 128 query heads");
  refused ("{model: llama31_8b, engine: {name: vllm}, speculative: {acceptance: [0.8]}}", "no modules of multi-token prediction");
}

static void
expected_tokens_of_speculation (void)
{
  static const struct {
    const char *text;
    double tokens;
  } cases[] = { { "{drafts: 1, acceptance: [0.85]}", 1.85 },
                { "{drafts: 3, acceptance: [0.8]}", 2.952 }, /* 1 + .8 + .64 + .512 */
                { "{drafts: 3, acceptance: [0.7]}", 2.533 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Serving) s;
    g_autofree char *text = g_strdup_printf ("{model: deepseek_v3, engine: {name: sglang}, speculative: %s}", cases[i].text);
    serving_open (&s, "hgx_h100", 1, text);
    TEST_NEAR (srv_speculative_tokens (&s.keys.replica.speculative), cases[i].tokens, 1e-12);
  }
}

static void
rows_of_engines_hold_from_their_version_on (void)
{
  g_auto (Serving) s;
  serving_open (&s, "hgx_h100", 1, "{model: llama31_8b, engine: {name: vllm}}");
  const MdlEngines *engines = s.scenario->system.engines;
  gboolean assumed = FALSE;
  TEST_STR (mdl_engine_find (engines, "vllm", "0.10.2", &assumed)->version.v, "0.9.0");
  TEST_TRUE (!assumed);
  TEST_STR (mdl_engine_find (engines, "vllm", "0.11.0rc2", &assumed)->version.v, "0.11.0");
  TEST_STR (mdl_engine_find (engines, "vllm", "0.8.5", &assumed)->version.v, "0.9.0");
  TEST_TRUE (assumed);
  TEST_STR (mdl_engine_find (engines, "vllm", NULL, &assumed)->version.v, "0.15.0");
  TEST_TRUE (mdl_engine_find (engines, "tgi", NULL, &assumed) == NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "KV of a token is that of published shapes", kv_of_a_token_is_that_of_published_shapes },
    { "70B on eight H100 leaves 88,336 blocks", seventy_billion_on_eight_gpus_leave_88336_blocks },
    { "engines have memory rules of their own", engines_have_rules_of_their_own },
    { "tokens of published logs", tokens_of_published_logs },
    { "buffers of reduction in the switch", buffers_of_reduction_in_the_switch },
    { "given blocks override the rule", given_blocks_override_the_rule },
    { "what does not fit is refused with what does", what_does_not_fit_is_refused_with_what_does },
    { "expected tokens of speculation", expected_tokens_of_speculation },
    { "rows of engines hold from their version on", rows_of_engines_hold_from_their_version_on },
    { NULL, NULL },
  };
  return test_main ("serving: memory", cases);
}
