/* Optimizers other than AdamW: bytes moved and kept, FLOP; frozen weights in fewer bits. */
#include <string.h>

#include "llm_fixture.h"
#include "models/layer.h"

/* Bytes that the works of this name move; NULL: all of them. */
static double
moved_B (const GArray *works, const char *name)
{
  double sum_B = 0;
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    if (name == NULL || strcmp (work->name, name) == 0)
      sum_B += work->read_B + work->write_B;
  }
  return sum_B;
}

/* Bytes a parameter. */
static double
optimizer_B (const MdlOptimizerQuery *query)
{
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  mdl_optimizer_works (query, works);
  return moved_B (works, NULL) / query->elements;
}

/* bf16 all: SGD reads g and p and writes p, with a moment two more; 8-bit AdamW has two moments of 1 + 4 / 256 B. */
static void
other_optimizers_move_and_keep_what_they_say (void)
{
  MdlOptimizerQuery query = { .kind = MDL_OPTIMIZER_SGD,
                              .elements = 1e9,
                              .gradients = 1e9,
                              .tensors = 100,
                              .parameter = MDL_FORMAT_BF16,
                              .gradient = MDL_FORMAT_BF16,
                              .master = MDL_FORMAT_NONE,
                              .moment = MDL_FORMAT_BF16,
                              .compute = MDL_FORMAT_BF16,
                              .framework = MDL_FRAMEWORK_FUSED };
  TEST_NEAR (optimizer_B (&query), 6, 1e-12);
  query.kind = MDL_OPTIMIZER_SGD_MOMENTUM;
  TEST_NEAR (optimizer_B (&query), 10, 1e-12);
  query.kind = MDL_OPTIMIZER_ADAMW_8BIT;
  TEST_NEAR (optimizer_B (&query), 6 + 4 * (1 + 4.0 / 256), 1e-12);
  TEST_NEAR (mdl_optimizer_moments_B (MDL_OPTIMIZER_ADAMW_8BIT, NULL, MDL_FORMAT_FP32), 2.03125, 1e-12);
  TEST_NEAR (mdl_optimizer_moments_B (MDL_OPTIMIZER_SGD, NULL, MDL_FORMAT_FP32), 0, 1e-12);
  TEST_NEAR (mdl_optimizer_moments_B (MDL_OPTIMIZER_ADAMW, NULL, MDL_FORMAT_FP32), 8, 1e-12);
  query.kind = MDL_OPTIMIZER_ADAFACTOR;
  TEST_NEAR (optimizer_B (&query), 16, 1e-12);
}

/* Llama 3 8B: q and o 4096 x 4096, k and v 1024 x 4096, three of 14336 x 4096, in 32 layers: 5 (4 r² c + 2 r³) FLOP each. One
 * moment of the layers, two of embedding and head. */
static void
muon_orthogonalises_the_layers (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  MdlLlmCount count;
  mdl_llm_count (&fixture->llm, &count);
  const MdlOptimizerQuery query = { .kind = MDL_OPTIMIZER_MUON,
                                    .llm = &fixture->llm,
                                    .elements = count.total,
                                    .gradients = count.total,
                                    .tensors = 291,
                                    .parameter = MDL_FORMAT_BF16,
                                    .gradient = MDL_FORMAT_FP32,
                                    .master = MDL_FORMAT_FP32,
                                    .moment = MDL_FORMAT_FP32,
                                    .compute = MDL_FORMAT_BF16,
                                    .framework = MDL_FRAMEWORK_FUSED };
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  mdl_optimizer_works (&query, works);
  double flop = 0;
  for (guint i = 0; i < works->len; i++)
    flop += g_array_index (works, MdlWork, i).flop;
  const double h = 4096, k = 1024, f = 14336;
  const double layer = 2 * 6 * h * h * h + 2 * (4 * k * k * h + 2 * k * k * k) + 3 * (4 * h * h * f + 2 * h * h * h);
  TEST_NEAR (flop, 32 * 5 * layer, 1e-12);
  const double outside = (2 * 128256 * h + h) / count.total;
  TEST_NEAR (mdl_optimizer_moments_B (MDL_OPTIMIZER_MUON, &fixture->llm, MDL_FORMAT_FP32), 4 * (1 + outside), 1e-12);
}

/* A base in NF4 is written out before both products, 4.127 bits in and 2 B out; in fp8 its transpose is made for one of them. */
static void
a_base_of_fewer_bits_is_written_out (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 4096);
  query.lora_rank = 16;
  query.base = MDL_FORMAT_FP4;
  const double h = 4096, elements = 2 * h * h + 2 * 1024 * h + 3 * 14336 * h;
  for (int fp8 = 0; fp8 < 2; fp8++) {
    g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
    if (fp8)
      query.base = query.compute = MDL_FORMAT_FP8;
    query.one_way = TRUE;
    mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, forward, back);
    TEST_NEAR (moved_B (forward, "dequantize_base"), fp8 ? 0 : elements * (4.127 / 8 + 2), 1e-12);
    TEST_NEAR (moved_B (back, "dequantize_base"), fp8 ? 0 : elements * (4.127 / 8 + 2), 1e-12);
    TEST_NEAR (moved_B (back, "transpose_base"), fp8 ? elements * 2 : 0, 1e-12);
    /* Blackwell's products take it both ways round; the head is kept as the parameters are. */
    query.one_way = FALSE;
    g_array_set_size (forward, 0);
    g_array_set_size (back, 0);
    mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, forward, back);
    mdl_layer_works (&fixture->llm, &query, MDL_PART_HEAD, 1, forward, back);
    TEST_NEAR (moved_B (back, "transpose_base"), 0, 1e-12);
    TEST_NEAR (moved_B (back, "dequantize_base"), fp8 ? 0 : elements * (4.127 / 8 + 2), 1e-12);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "other optimizers move and keep what they say", other_optimizers_move_and_keep_what_they_say },
    { "Muon orthogonalises the layers' matrices", muon_orthogonalises_the_layers },
    { "a base of fewer bits is written out for its products", a_base_of_fewer_bits_is_written_out },
    { NULL, NULL },
  };
  return test_main ("optimizers", cases);
}
