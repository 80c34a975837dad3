/* What a pass keeps, by hand: Table 2 of Korthikanti et al. 2205.05198, and layers of Llama, Mixtral and DeepSeek-V3. */
#include "llm_fixture.h"
#include "models/memory.h"

/* Whole numbers, so that sums are distinguishable. */
static const MdlMemorySpec spec = { .loss = { .kept = { .v = 4 }, .peak = { .v = 12 } },
                                    .loss_sharded = { .kept = { .v = 4 }, .peak = { .v = 10 } },
                                    .loss_fused = { .kept = { .v = 4 }, .peak = { .v = 6 } },
                                    .loss_flash = { .kept = { .v = 2 }, .peak = { .v = 4 } },
                                    .loss_in_place = { .kept = { .v = 2 }, .peak = { .v = 2 } } };

static MdlActivationBytes
held (const MdlLlm *llm, const MdlLayerQuery *query, MdlBlock block)
{
  MdlActivationBytes out;
  mdl_memory_block (&spec, llm, query, block, FALSE, &out);
  return out;
}

static double
layer_B (const MdlLlm *llm, const MdlLayerQuery *query)
{
  return held (llm, query, MDL_BLOCK_ATTENTION).kept_B + held (llm, query, MDL_BLOCK_MLP).kept_B;
}

/* As the paper has it: GPT, fp16, dropout, scores in memory. */
static MdlLayerQuery
of_paper (double sequence, double batch)
{
  MdlLayerQuery query;
  mdl_layer_query_default (&query, sequence);
  query.micro_batch = batch;
  query.flash = FALSE;
  query.dropout = TRUE;
  return query;
}

static void
a_layer_keeps_what_table_2_says (void)
{
  static const char *const models[] = { "gpt3_175b", "megatron_22b", "megatron_530b", "megatron_1t" };
  for (size_t i = 0; i < G_N_ELEMENTS (models); i++) {
    g_autoptr (LlmFixture) f = llm_need (models[i]);
    const double s = 2048, b = 4, h = f->llm.hidden.v, a = f->llm.attention.heads.v, t = 8;
    MdlLayerQuery query = of_paper (s, b);
    TEST_NEAR (layer_B (&f->llm, &query), s * b * h * (34 + 5 * a * s / h), 1e-12); /* no parallelism */
    query.tp = 8;
    TEST_NEAR (layer_B (&f->llm, &query), s * b * h * (10 + 24 / t + 5 * a * s / (h * t)), 1e-12);
    query.sp = TRUE;
    TEST_NEAR (layer_B (&f->llm, &query), s * b * h / t * (34 + 5 * a * s / h), 1e-12);
    query.recompute = mdl_recompute_selective (FALSE);
    TEST_NEAR (layer_B (&f->llm, &query), s * b * h / t * 34, 1e-12);
    query.sp = FALSE;
    TEST_NEAR (layer_B (&f->llm, &query), s * b * h * (10 + 24 / t), 1e-12);
    query.recompute = MDL_MODULE_LAYER;
    TEST_NEAR (layer_B (&f->llm, &query), s * b * h * 2, 1e-12);
  }
}

static void
the_ends_of_the_model_keep_what_section_4_3_says (void)
{
  /* embedding: a mask of dropout; behind the layers: 4 s b h / t for norm and product, 4 s b v / t for fp32 logits */
  g_autoptr (LlmFixture) f = llm_need ("megatron_22b");
  const double s = 2048, b = 4, h = f->llm.hidden.v, v = f->llm.vocabulary.v, t = 8;
  MdlLayerQuery query = of_paper (s, b);
  query.tp = 8;
  query.sp = TRUE;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_EMBEDDING).kept_B, s * b * h / t, 1e-12);
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_HEAD).kept_B, 4 * s * b * h / t * (1 + v / h), 1e-12);
  TEST_NEAR (mdl_memory_boundary_B (&f->llm, &query), 2 * s * b * h / t, 1e-12);
}

static void
flash_keeps_a_number_a_query_and_head_in_place_of_scores (void)
{
  g_autoptr (LlmFixture) f = llm_need ("gpt3_175b");
  MdlLayerQuery query = of_paper (2048, 1);
  query.dropout = FALSE;
  const double with_scores_B = layer_B (&f->llm, &query);
  query.flash = TRUE;
  TEST_NEAR (with_scores_B - layer_B (&f->llm, &query), 2.0 * 96 * 2048 * 2048 - 4.0 * 96 * 2048, 1e-12);
  TEST_INT (mdl_recompute_selective (TRUE), 0);
}

static MdlLayerQuery
eager (double sequence)
{
  MdlLayerQuery query;
  mdl_layer_query_default (&query, sequence);
  query.framework = MDL_FRAMEWORK_EAGER;
  return query;
}

static void
an_eager_layer_of_llama_keeps_four_of_its_mlp_a_fused_one_three (void)
{
  /* h 4096, H 32, K 8, d 128, f 14336: 16384 + 10240 + 57344 = 83968 elements of 2 B and 32 sums of 4 B a token */
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  MdlLayerQuery query = eager (8192);
  TEST_NEAR (layer_B (&f->llm, &query), 8192 * (2.0 * 83968 + 4 * 32), 1e-12);
  query.framework = MDL_FRAMEWORK_FUSED;
  TEST_NEAR (layer_B (&f->llm, &query), 8192 * (2.0 * (83968 - 14336) + 4 * 32), 1e-12);
  /* fp8: norms' results twice h, attention's beside what its kernel keeps, the product f: a byte each */
  query.compute = MDL_FORMAT_FP8;
  TEST_NEAR (layer_B (&f->llm, &query), 8192 * (2.0 * (83968 - 14336) + 4 * 32 - 2 * 4096 + 4096 - 14336), 1e-12);
}

static void
sequence_parallelism_shards_what_fused_code_gathers_again (void)
{
  /* tp 4: q, k, v and result 2560, MLP 4 x 3584; x twice 1024. Norms' results: 1024 each, or as gathered 4096 each */
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  MdlLayerQuery query = eager (8192);
  query.tp = 4;
  query.sp = TRUE;
  TEST_NEAR (layer_B (&f->llm, &query), 8192 * (2.0 * (2560 + 14336 + 2048 + 8192) + 4 * 8), 1e-12);
  query.framework = MDL_FRAMEWORK_FUSED;
  TEST_NEAR (layer_B (&f->llm, &query), 8192 * (2.0 * (2560 + 3 * 3584 + 2048 + 2048) + 4 * 8), 1e-12);
  query.sp = FALSE;
  TEST_NEAR (layer_B (&f->llm, &query), 8192 * (2.0 * (2560 + 3 * 3584 + 4 * 4096) + 4 * 8), 1e-12);
  /* context parallelism: half of the tokens */
  MdlLayerQuery half = query;
  half.cp = 2;
  TEST_NEAR (2 * layer_B (&f->llm, &half), layer_B (&f->llm, &query), 1e-12);
}

static void
what_modules_make_is_held_while_the_backward_pass_runs (void)
{
  static const unsigned modules[] = { MDL_MODULE_CORE_ATTENTION, MDL_MODULE_ATTENTION, MDL_MODULE_MLP,
                                      MDL_MODULE_ACTIVATION,     MDL_MODULE_NORM,      MDL_MODULE_LAYER };
  /* of a token, elements of 2 B: core: 32 sums of 4 B; attention: norm, q, k, v, result; MLP: norm and four of f; activation: two
   * of f; both norms; all but x */
  static const double freed_B[] = { 128,        2.0 * (4096 + 10240) + 128, 2.0 * (4096 + 4 * 14336), 2.0 * 2 * 14336,
                                    2.0 * 8192, 2.0 * (83968 - 4096) + 128 };
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  MdlLayerQuery query = eager (1024);
  const double all_B = layer_B (&f->llm, &query);
  for (size_t i = 0; i < G_N_ELEMENTS (modules); i++) {
    query.recompute = modules[i];
    const MdlActivationBytes attention = held (&f->llm, &query, MDL_BLOCK_ATTENTION), mlp = held (&f->llm, &query, MDL_BLOCK_MLP);
    TEST_NEAR (attention.again_B + mlp.again_B, 1024 * freed_B[i], 1e-12);
    TEST_NEAR (attention.kept_B + mlp.kept_B, all_B - 1024 * freed_B[i], 1e-12);
  }
}

static void
experts_keep_rows_by_what_they_get (void)
{
  /* Mixtral, k 2, h 4096, f 14336. A token's rows: input, result of an expert and its copy sorted back 3 x 2 h, MLP 4 x 2 f; the
   * chances of 8 experts in fp32; x and its norm 2 h. Over ranks one copy more; fused code: 2 h and 3 x 2 f, as the weights are
   * applied before the last product */
  g_autoptr (LlmFixture) f = llm_need ("mixtral_8x7b");
  MdlLayerQuery query = eager (4096);
  const double token_B = 2.0 * (6 * 4096 + 8 * 14336 + 2 * 4096) + 8 * 4;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_MOE).kept_B, 4096 * token_B, 1e-12);
  query.ep = 4;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_MOE).kept_B, 4096 * (token_B + 2.0 * 2 * 4096), 1e-12);
  query.framework = MDL_FRAMEWORK_FUSED;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_MOE).kept_B, 4096 * (2.0 * (2 * 4096 + 6 * 14336 + 2 * 4096) + 8 * 4), 1e-12);
  /* a rank with half as many rows again; a capacity of 1.25 */
  query.imbalance = 1.5;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_MOE).kept_B, 4096 * (2.0 * (3 * 4096 + 9 * 14336 + 2 * 4096) + 8 * 4), 1e-12);
  query.imbalance = 1;
  query.capacity = 1.25;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_MOE).kept_B, 4096 * (2.0 * (2.5 * 4096 + 7.5 * 14336 + 2 * 4096) + 8 * 4), 1e-12);
}

static void
the_loss_is_at_its_most_when_its_backward_pass_begins (void)
{
  /* 4096 tokens x 128256: kept 4 B; 12 B in eager code, 10 of a cut vocabulary, 6 fused */
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  MdlLayerQuery query = eager (4096);
  const double logits = 4096.0 * 128256;
  MdlActivationBytes head = held (&f->llm, &query, MDL_BLOCK_HEAD);
  TEST_NEAR (head.kept_B, 4 * logits + 2 * 2 * 4096.0 * 4096, 1e-12);
  TEST_NEAR (head.working_B, 8 * logits, 1e-12);
  query.tp = 4;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_HEAD).working_B, 6 * logits / 4, 1e-12);
  query.framework = MDL_FRAMEWORK_FUSED;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_HEAD).working_B, 2 * logits / 4, 1e-12);
  /* in 16 bits: 2 B; the gradient beside them, or in their place */
  query.loss = MDL_LOSS_FLASH;
  head = held (&f->llm, &query, MDL_BLOCK_HEAD);
  TEST_NEAR (head.kept_B, 2 * logits / 4 + 2 * 2 * 4096.0 * 4096, 1e-12);
  TEST_NEAR (head.working_B, 2 * logits / 4, 1e-12);
  query.loss = MDL_LOSS_IN_PLACE;
  head = held (&f->llm, &query, MDL_BLOCK_HEAD);
  TEST_NEAR (head.kept_B, 2 * logits / 4 + 2 * 2 * 4096.0 * 4096, 1e-12);
  TEST_NEAR (head.working_B, 0, 0);
}

static void
frozen_weights_need_no_input (void)
{
  /* adapters of rank 16 on q, k, v and o: norm and result stay for them, with 16 elements each; MLP: norm and product go */
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  MdlLayerQuery query = eager (1024);
  const double all_B = layer_B (&f->llm, &query);
  query.lora_rank = 16;
  query.lora_on = MDL_LORA_Q | MDL_LORA_K | MDL_LORA_V | MDL_LORA_O;
  const double change_B = layer_B (&f->llm, &query) - all_B;
  TEST_NEAR (change_B, 1024 * 2.0 * (16 - 4096 - 14336), 1e-12);
}

static void
compressed_keys_are_kept_beside_expanded_ones (void)
{
  /* DeepSeek-V3, a token: x and norm 2 h; queries' 1536 and keys' 512 + 64 with the norms' 1536 and 512; q, k 128 x 192 each, v
   * and result 128 x 128 each; 128 sums */
  g_autoptr (LlmFixture) f = llm_need ("deepseek_v3");
  MdlLayerQuery query = eager (4096);
  const double elements = 2 * 7168 + 2 * 1536 + 576 + 512 + 2 * 128 * 192 + 2 * 128 * 128;
  TEST_NEAR (held (&f->llm, &query, MDL_BLOCK_ATTENTION).kept_B, 4096 * (2 * elements + 4 * 128), 1e-12);
}

static void
put_off_gradients_of_weights_keep_inputs_and_gradients (void)
{
  /* fused, of a token: norms' results 2 h, attention's result, the product f; gradients of q, k, v, of gate and up, two of h */
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 2048);
  const double late_B = held (&f->llm, &query, MDL_BLOCK_ATTENTION).late_B + held (&f->llm, &query, MDL_BLOCK_MLP).late_B;
  TEST_NEAR (late_B, 2048 * 2.0 * (2 * 4096 + 4096 + 14336 + 6144 + 2 * 14336 + 2 * 4096), 1e-12);
  query.framework = MDL_FRAMEWORK_EAGER;
  const MdlActivationBytes attention = held (&f->llm, &query, MDL_BLOCK_ATTENTION);
  TEST_TRUE (attention.late_B > attention.kept_B); /* autograd frees nothing before */
}

static void
tensors_are_in_the_block_that_their_name_says (void)
{
  g_autoptr (LlmFixture) f = llm_need ("deepseek_v3");
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
  double attention = 0, moe = 0;
  mdl_llm_tensors (&f->llm, MDL_PART_MOE, 0, tensors);
  for (guint i = 0; i < tensors->len; i++) {
    const MdlTensor *t = &g_array_index (tensors, MdlTensor, i);
    *(mdl_memory_block_of (t, MDL_PART_MOE) == MDL_BLOCK_MOE ? &moe : &attention) += t->rows * t->columns * t->copies;
  }
  /* router with its bias, 256 experts and a shared one of 3 x 7168 x 2048 */
  TEST_NEAR (moe, 256 * 7168.0 + 256 + 257 * 3 * 7168.0 * 2048, 1e-12);
  TEST_TRUE (attention > 0);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a layer keeps what table 2 of Korthikanti et al. says", a_layer_keeps_what_table_2_says },
    { "the ends of the model keep what their section 4.3 says", the_ends_of_the_model_keep_what_section_4_3_says },
    { "flash keeps a number a query and head in place of scores", flash_keeps_a_number_a_query_and_head_in_place_of_scores },
    { "an eager layer of Llama keeps four of its MLP's tensors, a fused one three",
      an_eager_layer_of_llama_keeps_four_of_its_mlp_a_fused_one_three },
    { "sequence parallelism shards what fused code gathers again", sequence_parallelism_shards_what_fused_code_gathers_again },
    { "what modules make is held while the backward pass runs", what_modules_make_is_held_while_the_backward_pass_runs },
    { "experts keep rows by what they get", experts_keep_rows_by_what_they_get },
    { "the loss is at its most when its backward pass begins", the_loss_is_at_its_most_when_its_backward_pass_begins },
    { "frozen weights need no input", frozen_weights_need_no_input },
    { "compressed keys are kept beside expanded ones", compressed_keys_are_kept_beside_expanded_ones },
    { "put-off gradients of weights keep inputs and gradients", put_off_gradients_of_weights_keep_inputs_and_gradients },
    { "tensors are in the block that their name says", tensors_are_in_the_block_that_their_name_says },
    { NULL, NULL },
  };
  return test_main ("models: memory", cases);
}
