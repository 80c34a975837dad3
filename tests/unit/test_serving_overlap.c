/* Two-batch overlap: times by hand, its bounds, and who may have it. */
#include <math.h>

#include "serving/step.h"
#include "serving_fixture.h"
#include "step/step-private.h"

static SrvSplit
plain (double attention_s, double shared_s, double experts_s, double dispatch_s, double combine_s)
{
  return (SrvSplit){ .before_s = attention_s / 2,
                     .after_s = attention_s / 2,
                     .shared_s = shared_s,
                     .experts_s = experts_s,
                     .dispatch_s = dispatch_s,
                     .combine_s = combine_s,
                     .slow = { 1, 1, 1, 1 },
                     .slow_core = 1,
                     .slow_exchange = 1 };
}

/* One layer: A0 4, A1 8 | D0 from 4 to 7, D1 from 8 to 11 | E0 from 8 to 10, E1 from 11 to 13 | C0 from 11 to 14, C1 until 17. */
static void
a_layer_by_hand (void)
{
  const SrvSplit split = plain (4, 0, 2, 3, 3);
  TEST_NEAR (srv_split_time_s (&split, 0, 1), 17, 1e-12);
}

/* The same, staggered: P0 A0 until 4, then d0, P1 until 6, D0 until 7, E0 until 9, A1 until 11; C0 from 9 to 12 is received first,
 * so d1 at 12, D1 until 15, E1 until 17, C1 until 20. */
static void
a_staggered_layer_by_hand (void)
{
  SrvSplit split = plain (4, 0, 2, 3, 3);
  split.staggered = TRUE;
  TEST_NEAR (srv_split_time_s (&split, 0, 1), 20, 1e-12);
}

/* Two kernels of 4 s and an exchange of 3 s that share: while both run each takes twice as long. A0 4; then A1 beside D0: D0 ends
 * at 4 + 6 = 10, A1 has 1 left until 11; D1 alone beside E0 of 0 until 14; E1 of 0; C0, C1 of 0. */
static void
both_are_slowed (void)
{
  SrvSplit split = plain (4, 0, 0, 3, 0);
  split.slow[0] = split.slow[1] = split.slow_exchange = 2;
  TEST_NEAR (srv_split_time_s (&split, 0, 1), 14, 1e-12);
}

/* Never better than either queue alone, never worse than one after the other; more layers take more. */
static void
stays_between_its_bounds (void)
{
  static const double values[] = { 0, 1, 3, 10 };
  for (guint staggered = 0; staggered < 2; staggered++)
    for (guint i = 0; i < 1024; i++) {
      SrvSplit split = plain (values[i % 4], values[i / 4 % 4], values[i / 16 % 4], values[i / 64 % 4], values[i / 256 % 4]);
      split.staggered = staggered == 1;
      double last_s = 0;
      for (guint layers = 1; layers < 64; layers = 2 * layers + 1) {
        const double compute_s = 2 * layers * srv_split_compute_s (&split, 2);
        const double exchange_s = 2 * layers * (split.dispatch_s + split.combine_s);
        const double time_s = srv_split_time_s (&split, 2, layers);
        TEST_TRUE (time_s >= fmax (compute_s, exchange_s) * (1 - 1e-12));
        TEST_TRUE (time_s <= (compute_s + exchange_s) * (1 + 1e-9));
        TEST_TRUE (time_s >= last_s);
        last_s = time_s;
      }
      SrvSplit faster = split;
      faster.dispatch_s *= 0.5;
      TEST_TRUE (srv_split_time_s (&faster, 2, 61) <= srv_split_time_s (&split, 2, 61) * (1 + 1e-9));
    }
}

typedef struct {
  double time_s;
  SrvStepCost cost;
} Step;

static Step
step_of (const char *text, guint decode, guint prompts)
{
  Serving s;
  g_autoptr (GError) error = NULL;
  serving_open (&s, "hgx_h100", 2, text);
  SrvStepModel *model = srv_step_model_new (&s.llm, &s.scenario->system, &s.keys.replica, &error);
  if (model == NULL)
    g_error ("%s", error->message);
  const guint n = srv_step_ranks (model);
  g_autofree SrvBatch *batches = g_new0 (SrvBatch, n);
  g_autofree SrvChunk *chunks = g_new0 (SrvChunk, MAX (prompts, 1));
  for (guint i = 0; i < prompts; i++)
    chunks[i].tokens = 1000;
  for (guint i = 0; i < n; i++)
    batches[i] = (SrvBatch){ .chunks = chunks,
                             .n_chunks = prompts,
                             .n_decode = decode,
                             .decode_context = 2000.0 * decode,
                             .decode_windowed = 2000.0 * decode,
                             .n_sampled = decode + prompts };
  Step step = { 0 };
  step.time_s = srv_step_time_s (model, batches, &step.cost);
  SrvStepCost cost;
  g_autoptr (GArray) terms = srv_step_terms (model, batches, &cost);
  double sum_s = 0;
  for (guint i = 0; i < terms->len; i++)
    sum_s += g_array_index (terms, SrvStepTerm, i).time_s;
  TEST_NEAR (sum_s, step.time_s, 1e-9);
  srv_step_model_free (model);
  serving_clear (&s);
  return step;
}

#define R1(engine_, backend_)                                                                                               \
  "{model: deepseek_v3, engine: {" engine_ "}, parallel: {dp_attn: 16, ep: 16}, precision: {weights: fp8, dispatch: fp8}, " \
  "moe: {backend: " backend_ ", redundant: 32}}"

/* Off by default; a large batch gains, a small one loses: products read weights twice. */
static void
large_batches_gain (void)
{
  const char *off = R1 ("name: sglang, cuda_graphs: 512", "deepep_low_latency");
  const char *on = R1 ("name: sglang, cuda_graphs: 512, two_batch_overlap: yes", "deepep_low_latency");
  TEST_TRUE (step_of (on, 256, 0).time_s < step_of (off, 256, 0).time_s);
  TEST_TRUE (step_of (on, 8, 0).time_s > step_of (off, 8, 0).time_s);
  TEST_NEAR (step_of (on, 1, 0).time_s, step_of (off, 1, 0).time_s, 1e-12);
  const char *prompts_off = R1 ("name: sglang", "deepep_normal"),
             *prompts_on = R1 ("name: sglang, two_batch_overlap: yes", "deepep_normal");
  const Step whole = step_of (prompts_off, 0, 8), split = step_of (prompts_on, 0, 8);
  TEST_TRUE (split.time_s < whole.time_s);
  TEST_TRUE (split.cost.part_s[SRV_PART_EP] < whole.cost.part_s[SRV_PART_EP]);
  /* computing alone takes longer than before: SMs are held, and halves are less efficient */
  TEST_TRUE (split.time_s > whole.time_s - whole.cost.part_s[SRV_PART_EP]);
}

/* vLLM's thresholds: 32 tokens that decode, 512 of prompts. */
static void
vllm_splits_from_its_thresholds (void)
{
  const char *off = R1 ("name: vllm", "deepep_low_latency"), *on = R1 ("name: vllm, two_batch_overlap: yes", "deepep_low_latency");
  TEST_NEAR (step_of (on, 24, 0).time_s, step_of (off, 24, 0).time_s, 1e-12);
  TEST_TRUE (fabs (step_of (on, 32, 0).time_s / step_of (off, 32, 0).time_s - 1) > 1e-3);
}

static void
refuses (const char *text, const char *what)
{
  Serving s;
  g_autoptr (GError) error = NULL;
  serving_open (&s, "hgx_h100", 2, text);
  SrvStepModel *model = srv_step_model_new (&s.llm, &s.scenario->system, &s.keys.replica, &error);
  TEST_TRUE (model == NULL && error != NULL && strstr (error->message, what) != NULL);
  srv_step_model_free (model);
  serving_clear (&s);
}

static void
others_have_none (void)
{
  refuses (R1 ("name: trtllm, two_batch_overlap: yes", "deepep_low_latency"), "trtllm 1.0.0 has no two-batch overlap");
  refuses (R1 ("name: sglang, two_batch_overlap: yes", "nccl"), "none carries tokens to experts");
  refuses ("{model: llama31_8b, engine: {name: sglang, two_batch_overlap: yes}}", "llama31_8b is dense");
}

/* NVIDIA/TensorRT-LLM tech_blog/blog4: 1,024 tokens a rank, levelled over 288 slots: the fullest of 32 ranks has 1.109 of the mean.
 * By a power law without copies it is far fuller. */
static void
levelled_ranks_keep_a_residual (void)
{
  static const struct {
    const char *moe;
    double from, to;
  } cases[] = { { "redundant: 32", 1.09, 1.13 },
                { "redundant: 32, power_law: 1.01", 1.09, 1.13 },
                { "power_law: 1.01", 1.7, 2.6 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("{model: deepseek_v3, engine: {name: trtllm}, parallel: {dp_attn: 32, ep: 32}, "
                                             "precision: {weights: nvfp4}, moe: {backend: nvlink_one_sided, %s}}",
                                             cases[i].moe);
    Serving s;
    g_autoptr (GError) error = NULL;
    serving_open (&s, "gb200_nvl72", 8, text);
    SrvStepModel *model = srv_step_model_new (&s.llm, &s.scenario->system, &s.keys.replica, &error);
    if (model == NULL)
      g_error ("%s", error->message);
    const double factor = srv_expert_imbalance (model, 128 * 32); /* 8 experts a token: 1,024 rows a rank */
    TEST_TRUE (factor > cases[i].from && factor < cases[i].to);
    srv_step_model_free (model);
    serving_clear (&s);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a layer by hand", a_layer_by_hand },
    { "a staggered layer by hand", a_staggered_layer_by_hand },
    { "both are slowed", both_are_slowed },
    { "stays between its bounds", stays_between_its_bounds },
    { "large batches gain, small ones lose", large_batches_gain },
    { "vLLM splits from its thresholds on", vllm_splits_from_its_thresholds },
    { "others have none", others_have_none },
    { "levelled ranks keep a residual", levelled_ranks_keep_a_residual },
    { NULL, NULL },
  };
  return test_main ("serving/overlap", cases);
}
