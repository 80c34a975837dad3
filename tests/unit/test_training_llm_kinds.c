/* Models whose layers are not all attention with an MLP: recurrences, layers of one block, a vision encoder in front. */
#include "llm_fixture.h"
#include "models/layer.h"
#include "models/memory.h"

/* ---- what a model is made of ---- */

static void
with_its_module_of_multi_token_prediction_qwen3_next_is_as_published (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("qwen3_next_80b_a3b");
  MdlLlmCount count;
  mdl_llm_count (&fixture->llm, &count);
  TEST_NEAR (count.total + count.mtp, 81324862720, 0); /* metadata of the public weights */
  TEST_NEAR (mdl_llm_n_part (&fixture->llm, MDL_PART_RECURRENT_MOE), 36, 0);
  TEST_NEAR (mdl_llm_n_part (&fixture->llm, MDL_PART_MOE), 12, 0);
}

static void
layers_follow_the_pattern (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("nemotron_h_8b"); /* 24 Mamba-2, 24 MLPs, 4 of attention (2504.03624, table 1) */
  TEST_NEAR (mdl_llm_n_part (&fixture->llm, MDL_PART_RECURRENT), 24, 0);
  TEST_NEAR (mdl_llm_n_part (&fixture->llm, MDL_PART_MLP), 24, 0);
  TEST_NEAR (mdl_llm_n_part (&fixture->llm, MDL_PART_ATTENTION), 4, 0);
  TEST_INT (mdl_llm_part (&fixture->llm, 7), MDL_PART_ATTENTION);
  g_autoptr (LlmFixture) experts = llm_need ("nemotron3_nano_30b_a3b");
  TEST_NEAR (mdl_llm_n_part (&experts->llm, MDL_PART_EXPERTS), mdl_llm_n_moe (&experts->llm), 0);
  TEST_TRUE (mdl_llm_is_moe (&experts->llm, 1));
  TEST_FALSE (mdl_llm_is_windowed (&experts->llm, 1));
}

static void
an_encoder_s_layers_come_first (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("qwen25_vl_7b");
  const MdlLlm *llm = &fixture->llm;
  MdlLlmCount count;
  mdl_llm_count (llm, &count);
  TEST_NEAR (count.vision, 676550144, 0); /* Qwen2.5-VL 7B less Qwen2.5 7B: 8,292,166,656 - 7,615,616,512 */
  TEST_INT (mdl_llm_chain (llm), 60);
  TEST_INT (mdl_llm_part (llm, 31), MDL_PART_VISION);
  TEST_INT (mdl_llm_part (llm, 32), MDL_PART_DENSE);
  TEST_TRUE (mdl_llm_is_windowed (llm, 6));
  TEST_FALSE (mdl_llm_is_windowed (llm, 7));  /* fullatt_block_indexes 7, 15, 23, 31 */
  TEST_FALSE (mdl_llm_is_windowed (llm, 38)); /* the text has no windows */
}

/* ---- works and closed forms ---- */

typedef struct {
  double flop[MDL_PASS_N];
} Flop;

static void
add_part (const MdlLlm *llm, const MdlLayerQuery *query, MdlPart part, unsigned layer, Flop *sum)
{
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  mdl_layer_works (llm, query, part, layer, forward, back);
  GArray *const lists[] = { forward, back };
  for (guint l = 0; l < 2; l++)
    for (guint i = 0; i < lists[l]->len; i++) {
      const MdlWork *work = &g_array_index (lists[l], MdlWork, i);
      sum->flop[work->pass] +=
          work->attention.backward ? work->flop / 1.25 : work->flop; /* without a flash kernel's own repetition */
    }
}

static Flop
model_flop (const MdlLlm *llm, const MdlLayerQuery *query)
{
  Flop sum = { { 0 } };
  add_part (llm, query, MDL_PART_EMBEDDING, 0, &sum);
  for (unsigned layer = 0; layer < mdl_llm_chain (llm); layer++)
    add_part (llm, query, mdl_llm_part (llm, layer), layer, &sum);
  add_part (llm, query, MDL_PART_HEAD, 0, &sum);
  return sum;
}

static const char *const kinds[] = { "qwen3_next_80b_a3b", "nemotron_h_8b",    "nemotron3_nano_30b_a3b",
                                     "qwen25_vl_7b",       "gemma3_4b_vision", NULL };

static void
flop_of_their_works_is_that_of_the_model (void)
{
  for (const char *const *name = kinds; *name != NULL; name++) {
    g_autoptr (LlmFixture) fixture = llm_need (*name);
    const MdlLlm *llm = &fixture->llm;
    MdlLayerQuery query;
    MdlLlmFlop token;
    mdl_layer_query_default (&query, 8192);
    query.images = llm->vision.layers.v > 0 ? 2 : 0;
    query.patches = llm->vision.layers.v > 0 ? 4096 : 0;
    mdl_llm_token_flop (llm, 8192, 0, &token);
    mdl_llm_add_vision_flop (llm, 8192, query.images, query.patches, &token);
    const double asked = (token.matrix_flop + token.attention_causal_flop) * query.sequence;
    const Flop one = model_flop (llm, &query);
    TEST_NEAR (one.flop[MDL_PASS_FORWARD] + one.flop[MDL_PASS_DGRAD] + one.flop[MDL_PASS_WGRAD], asked,
               5e-5); /* a gate of shared experts is a pass over memory */
    /* two ranks of tensor parallelism do half each; only what is whole on both (routers, patches) is done twice */
    query.tp = 2;
    query.sp = TRUE;
    const Flop half = model_flop (llm, &query);
    const double twice = 2 * half.flop[MDL_PASS_FORWARD] / one.flop[MDL_PASS_FORWARD];
    TEST_TRUE (twice >= 1 - 1e-9 && twice < 1.02);
  }
}

/* Mamba-2 of Nemotron-H 8B, a token: groups 8 x 2·128·128, heads 128 x (2·128·64 + 2·64·(128 + 64)). */
static void
a_scan_takes_the_products_of_its_chunks (void)
{
  g_autoptr (LlmFixture) mamba = llm_need ("nemotron_h_8b");
  TEST_NEAR (mdl_recurrent_flop (&mamba->llm.recurrent), 8 * 2.0 * 128 * 128 + 128 * (2.0 * 128 * 64 + 2.0 * 64 * (128 + 64)),
             1e-12);
  /* gated DeltaNet of Qwen3-Next: 32 heads of 128 x 128, chunks of 64 */
  g_autoptr (LlmFixture) delta = llm_need ("qwen3_next_80b_a3b");
  const double head = 2 * 2.0 * 64 * 128 + 2.0 * 64 * 64 / 3 + 2.0 * 64 * 256 + 4.0 * 128 * 128 + 2.0 * 128 * (128 + 32);
  TEST_NEAR (mdl_recurrent_flop (&delta->llm.recurrent), 32 * head, 1e-12);
}

/* Ranks of cp exchange heads for tokens: all-to-all of what the projection gives, and of the result, each way. */
static void
context_parallelism_exchanges_heads (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("nemotron_h_8b");
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 8192);
  query.cp = 4;
  mdl_layer_works (&fixture->llm, &query, MDL_PART_RECURRENT, 0, forward, NULL);
  double bytes = 0;
  for (guint i = 0; i < forward->len; i++) {
    const MdlWork *work = &g_array_index (forward, MdlWork, i);
    if (work->kind == MDL_WORK_COLL && work->coll.group == MDL_GROUP_CP && work->coll.op == MDL_OP_ALLTOALL)
      bytes += work->coll.bytes;
  }
  TEST_NEAR (bytes, 2048 * (18560 + 8192) * 2.0, 1e-12);
}

/* ---- memory ---- */

static void
a_recurrence_keeps_what_its_kernels_read_again (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("nemotron_h_8b");
  const MdlMemorySpec spec = { .weight_copies = { .v = 2 } };
  MdlLayerQuery query;
  MdlActivationBytes held, half;
  mdl_layer_query_default (&query, 8192);
  mdl_memory_block (&spec, &fixture->llm, &query, MDL_BLOCK_RECURRENT, FALSE, &held);
  /* x and its norm, the projection's 18560, the scan's result and the norm of it, 8192 each */
  TEST_NEAR (held.kept_B, 8192 * 2.0 * (2 * 4096 + 18560 + 2 * 8192), 1e-12);
  query.tp = 2;
  query.sp = TRUE;
  mdl_memory_block (&spec, &fixture->llm, &query, MDL_BLOCK_RECURRENT, FALSE, &half);
  TEST_NEAR (half.kept_B, held.kept_B / 2, 1e-12);
  /* a layer of an MLP alone keeps what it takes where all of it is computed again */
  query.recompute = MDL_MODULE_LAYER;
  query.tp = 1;
  query.sp = FALSE;
  mdl_memory_block (&spec, &fixture->llm, &query, MDL_BLOCK_MLP_ALONE, FALSE, &held);
  TEST_NEAR (held.kept_B, 8192 * 2.0 * 4096, 1e-12);
  MdlBlock blocks[3];
  TEST_INT (mdl_memory_blocks (&fixture->llm, MDL_PART_MLP, blocks), 1);
  TEST_INT (blocks[0], MDL_BLOCK_MLP_ALONE);
  TEST_INT (mdl_memory_blocks (&fixture->llm, MDL_PART_MTP, blocks), 3);
}

static void
patches_are_kept_with_the_embedding (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("qwen25_vl_7b");
  const MdlMemorySpec spec = { .weight_copies = { .v = 2 } };
  MdlLayerQuery query;
  MdlActivationBytes held;
  mdl_layer_query_default (&query, 8192);
  query.images = 1;
  query.patches = 4096;
  mdl_memory_block (&spec, &fixture->llm, &query, MDL_BLOCK_EMBEDDING, FALSE, &held);
  /* pixels 1176 a patch, the norm's 1280; a token's 5120 for the projector, and 2 x 5120 about its GELU */
  TEST_NEAR (held.kept_B, 2.0 * (4096 * (1176 + 1280) + 1024 * (5120 + 2 * 5120)), 1e-12);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "with its module of multi token prediction qwen3 next is as published",
      with_its_module_of_multi_token_prediction_qwen3_next_is_as_published },
    { "layers follow the pattern", layers_follow_the_pattern },
    { "an encoder's layers come first", an_encoder_s_layers_come_first },
    { "flop of their works is that of the model", flop_of_their_works_is_that_of_the_model },
    { "a scan takes the products of its chunks", a_scan_takes_the_products_of_its_chunks },
    { "context parallelism exchanges heads", context_parallelism_exchanges_heads },
    { "a recurrence keeps what its kernels read again", a_recurrence_keeps_what_its_kernels_read_again },
    { "patches are kept with the embedding", patches_are_kept_with_the_embedding },
    { NULL, NULL },
  };
  return test_main ("kinds of layers of language models", cases);
}
