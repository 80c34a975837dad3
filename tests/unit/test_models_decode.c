/* Attention of decoding sequences by hand: a GPU of 10 SMs, 10 TFLOP/s in bf16, 1 TB/s of memory. */
#include <math.h>

#include "harness.h"
#include "models/kernel-spec.h"

static const MdlGpu gpu = { .name = "ten",
                            .sms = 10,
                            .memory_Bps = 1e12,
                            .memory_efficiency = 1.0,
                            .peak_flop_per_s = { [MDL_PRECISION_BF16] = 10e12 },
                            .source = BASE_SOURCE_DATASHEET };

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

static MdlKernels
plain (void)
{
  return (MdlKernels){ .error = num (0.1),
                       .assumed_error = num (0.25),
                       .memory = { .share = num (1) },
                       .decode = { .share = num (0.5), .math = num (0.5), .rows = num (16) } };
}

/* A layer of Llama 3 8B. */
static const MdlDecode llama = {
  .sequences = 64, .context = 64000, .heads = 32, .kv_heads = 8, .head_dim = 128, .dtype = MDL_PRECISION_BF16
};
/* A layer of DeepSeek V3. */
static const MdlDecode latent = { .sequences = 64,
                                  .context = 64000,
                                  .heads = 128,
                                  .head_dim = 576,
                                  .value_dim = 512,
                                  .dtype = MDL_PRECISION_BF16,
                                  .latent = TRUE };

static void
a_token_takes_its_keys_and_values (void)
{
  TEST_NEAR (mdl_decode_token_B (&llama), 2 * 8 * 128 * 2, 0); /* 4096 B; of 32 layers 131,072 */
  TEST_NEAR (mdl_decode_token_B (&latent), 576 * 2, 0);        /* of 61 layers 70,272 */
  MdlDecode narrow = llama, mixed = latent;
  narrow.kv_B = 1;
  mixed.token_B = 656;
  TEST_NEAR (mdl_decode_token_B (&narrow), 2048, 0);
  TEST_NEAR (mdl_decode_token_B (&mixed), 656, 0);
}

static void
reading_the_cache_binds_grouped_heads (void)
{
  MdlKernels k = plain ();
  /* 64,000 x 4096 B at 0.5 TB/s: 524.288 us. Products: 4 heads in 16 rows, 64,000 x 2 x 8 x 16 x 256 FLOP at 5 TFLOP/s: 839 us … */
  TEST_NEAR (mdl_decode_time_s (&k, &gpu, &llama), 64000 * 65536.0 / 5e12, 1e-9);
  /* … in 4 rows a quarter of it. */
  k.decode.rows = num (4);
  TEST_NEAR (mdl_decode_time_s (&k, &gpu, &llama), 524.288e-6, 1e-9);
  MdlKernelCost cost;
  mdl_decode_cost (&k, &gpu, &llama, &cost);
  TEST_STR (cost.bound, "memory");
  TEST_NEAR (cost.flop, 64000 * 4.0 * 32 * 128, 1e-9);
}

static void
parts_of_a_cut_sequence_are_added_up (void)
{
  MdlKernels k = plain ();
  k.decode.rows = num (4);
  MdlDecode one = llama;
  one.sequences = 1;
  one.kv_heads = 2;
  one.heads = 8;
  const double token_s = 1024 / 0.5e12;
  for (guint i = 0; i < 3; i++) { /* 10 SMs for 2 heads: 5 parts, from 640 tokens on; 2.5 of 320. Nine sequences are not cut */
    one.context = i == 1 ? 320 : 64000;
    one.sequences = i == 2 ? 9 : 1;
    k.decode.join = num (0);
    const double without = mdl_decode_time_s (&k, &gpu, &one);
    k.decode.join = num (1e-6);
    TEST_NEAR (without, one.context * token_s, 1e-9);
    TEST_NEAR (mdl_decode_time_s (&k, &gpu, &one) - without, i == 0 ? 5e-6 : i == 1 ? 2.5e-6 : 0, 1e-12);
    MdlKernelCost cost;
    mdl_decode_cost (&k, &gpu, &one, &cost);
    TEST_NEAR (cost.time_s, mdl_decode_time_s (&k, &gpu, &one), 1e-9);
  }
}

static void
products_bind_latent_attention (void)
{
  MdlKernels k = plain ();
  MdlKernelCost cost;
  /* 2 x 128 x (576 + 512) FLOP a token at 5 TFLOP/s: 55.7 ns; 1152 B at 0.5 TB/s: 2.3 ns. */
  TEST_NEAR (mdl_decode_time_s (&k, &gpu, &latent), 64000 * 278528.0 / 5e12, 1e-9);
  mdl_decode_cost (&k, &gpu, &latent, &cost);
  TEST_STR (cost.bound, "math");
  TEST_NEAR (cost.flop / cost.bytes_B, 242, 0.01); /* FLOP/B at 128 heads (docs: near Hopper's ridge) */
  MdlDecode drafts = latent;
  drafts.queries = 2;
  TEST_NEAR (mdl_decode_time_s (&k, &gpu, &drafts), 2 * 64000 * 278528.0 / 5e12, 1e-9);
}

static void
time_is_a_line_in_the_context (void)
{
  MdlKernels k = plain ();
  k.decode.start = num (6e-6);
  k.decode.tile = num (1e-6);
  k.decode.least = num (10e-6);
  k.decode.rows = num (4);
  MdlDecode a = llama;
  MdlDecodeLine line;
  mdl_decode_line (&k, &gpu, &a, &line);
  TEST_NEAR (line.base_s, 6e-6 + 64 * 8 * 1e-6 / 10, 1e-9);
  TEST_NEAR (line.slope_s, 8.192e-9, 1e-9);
  TEST_NEAR (line.from, 10e-6 / 8.192e-9, 1e-9);
  TEST_TRUE (isinf (line.to));
  for (double context = 0; context < 4000; context += 100) {
    MdlKernelCost cost;
    a.context = context;
    mdl_decode_line (&k, &gpu, &a, &line);
    mdl_decode_cost (&k, &gpu, &a, &cost);
    double sum_s = 0;
    for (unsigned i = 0; i < cost.n_terms; i++)
      sum_s += cost.term[i].value_s;
    TEST_TRUE (context >= line.from && context <= line.to);
    TEST_NEAR (mdl_decode_time_s (&k, &gpu, &a), line.base_s + line.slope_s * context, 1e-12);
    TEST_NEAR (cost.time_s, mdl_decode_time_s (&k, &gpu, &a), 1e-12);
    TEST_NEAR (sum_s, cost.time_s, 1e-12);
  }
}

static void
nothing_decodes_in_no_time (void)
{
  MdlKernels k = plain ();
  MdlKernelCost cost;
  MdlDecode a = llama;
  a.sequences = 0;
  TEST_NEAR (mdl_decode_time_s (&k, &gpu, &a), 0, 0);
  a = llama;
  a.dtype = MDL_PRECISION_FP4;
  TEST_TRUE (isinf (mdl_decode_time_s (&k, &gpu, &a)));
  mdl_decode_cost (&k, &gpu, &a, &cost);
  TEST_TRUE (isinf (cost.time_s));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a token takes its keys and values", a_token_takes_its_keys_and_values },
    { "reading the cache binds grouped heads", reading_the_cache_binds_grouped_heads },
    { "parts of a cut sequence are added up", parts_of_a_cut_sequence_are_added_up },
    { "products bind latent attention", products_bind_latent_attention },
    { "time is a line in the context", time_is_a_line_in_the_context },
    { "nothing decodes in no time", nothing_decodes_in_no_time },
    { NULL, NULL },
  };
  return test_main ("decoding attention", cases);
}
