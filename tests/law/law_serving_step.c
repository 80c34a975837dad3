/* What must hold of a step whatever the constants: more context, more sequences and more tokens are never faster. */
#include <math.h>

#include "serving/step.h"
#include "serving_fixture.h"

static const struct {
  const char *topology;
  unsigned nodes;
  const char *text;
} replicas[] = {
  { "hgx_h100", 1, "{model: llama31_8b, engine: {name: vllm}}" },
  { "hgx_a100", 1, "{model: llama31_70b, engine: {name: vllm}, parallel: {tp: 4, pp: 2}}" },
  { "hgx_h200", 1, "{model: gpt_oss_120b, engine: {name: sglang}, parallel: {tp: 4, ep: 4}, precision: {moe: mxfp4}}" },
  { "hgx_b200", 1,
    "{model: deepseek_v3, engine: {name: trtllm}, parallel: {tp: 8, ep: 8}, precision: {weights: fp8, moe: nvfp4}}" },
  { "hgx_h200", 2,
    "{model: deepseek_v3, engine: {name: sglang}, parallel: {dp_attn: 16, ep: 16}, precision: {weights: fp8, kv: fp8}}" },
  { "gb200_nvl72", 4, "{model: qwen3_235b_a22b, engine: {name: trtllm}, parallel: {tp: 4, dp_attn: 4, ep: 16}}" },
};

static double
step_s (SrvStepModel *model, guint n, double each, double prompt, double cached)
{
  const guint ranks = srv_step_ranks (model);
  const double window = srv_step_window (model);
  g_autofree SrvBatch *batches = g_new0 (SrvBatch, ranks);
  const SrvChunk chunk = { .tokens = prompt, .cached = cached };
  for (guint i = 0; i < ranks; i++)
    batches[i] = (SrvBatch){ .chunks = &chunk,
                             .n_chunks = prompt > 0 ? 1 : 0,
                             .n_decode = n,
                             .decode_context = n * each,
                             .decode_windowed = n * (window > 0 ? fmin (window, each) : each),
                             .n_sampled = n + (prompt > 0 ? 1 : 0) };
  return srv_step_time_s (model, batches, NULL);
}

static void
never_faster (double more_s, double less_s, double slack, const char *what, guint replica)
{
  if (!(more_s >= less_s * (1 - slack)) || !isfinite (more_s)) {
    g_printerr ("%s, replica %u: %g s, then %g s\n", what, replica, less_s, more_s);
    TEST_TRUE (FALSE);
  }
}

static void
more_is_never_faster (void)
{
  /* kernels choose tiles by shape: a larger product may be a little faster than a smaller one */
  const double tiles = 0.05;
  for (guint i = 0; i < G_N_ELEMENTS (replicas); i++) {
    Serving s;
    g_autoptr (GError) error = NULL;
    serving_open (&s, replicas[i].topology, replicas[i].nodes, replicas[i].text);
    SrvStepModel *model = srv_step_model_new (&s.llm, &s.scenario->system, &s.keys.replica, &error);
    if (model == NULL)
      g_error ("%s", error->message);
    for (guint n = 1; n <= 512; n *= 2) {
      for (double each = 1; each < 1e5; each *= 4)
        never_faster (step_s (model, n, 4 * each, 0, 0), step_s (model, n, each, 0, 0), 1e-9, "context", i);
      never_faster (step_s (model, 2 * n, 1000, 0, 0), step_s (model, n, 1000, 0, 0), tiles, "sequences", i);
      never_faster (step_s (model, n, 1000, 500, 0), step_s (model, n, 1000, 0, 0), tiles, "a prompt beside", i);
    }
    for (double prompt = 16; prompt < 20000; prompt *= 2) {
      never_faster (step_s (model, 0, 1, 2 * prompt, 0), step_s (model, 0, 1, prompt, 0), tiles, "a longer prompt", i);
      never_faster (step_s (model, 0, 1, prompt, 4096), step_s (model, 0, 1, prompt, 0), 1e-9, "more cached", i);
    }
    TEST_TRUE (step_s (model, 0, 1, 0, 0) > 0); /* a dummy batch */
    srv_step_model_free (model);
    serving_clear (&s);
  }
}

int
main (void)
{
  static const TestCase cases[] = { { "more is never faster", more_is_never_faster }, { NULL, NULL } };
  return test_main ("law: serving step", cases);
}
