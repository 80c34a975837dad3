/* Works of a layer: FLOP and bytes of collectives add up to closed forms. */
#include "llm_fixture.h"
#include "models/layer.h"

/* Sums over works. */
typedef struct {
  double gemm_flop[MDL_PASS_N], attention_flop[MDL_PASS_N];
  double read_B, write_B, kernels, syncs;
  double coll_B[MDL_OP_N], colls[MDL_OP_N]; /* with repeats */
} Sums;

static void
add_works (Sums *sums, const GArray *works, double times)
{
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    if (work->kind == MDL_WORK_GEMM)
      sums->gemm_flop[work->pass] += times * work->flop;
    if (work->kind == MDL_WORK_ATTENTION)
      sums->attention_flop[work->pass] += times * work->flop;
    if (work->kind == MDL_WORK_COLL) {
      sums->coll_B[work->coll.op] += times * work->coll.bytes * work->coll.repeat;
      sums->colls[work->coll.op] += times * work->coll.repeat;
    } else {
      sums->read_B += times * work->read_B;
      sums->write_B += times * work->write_B;
    }
    sums->kernels += times * work->kernels;
    sums->syncs += times * work->syncs;
  }
}

/* A list that names works outside itself, or waits for nothing, is no list. */
static void
check_marks (const GArray *works)
{
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    TEST_TRUE (work->name != NULL && work->read_B >= 0 && work->write_B >= 0);
    if (work->kind != MDL_WORK_COLL) {
      TEST_TRUE (work->kernels >= 1); /* but swizzles of scales, which the product's call launches */
      continue;
    }
    const MdlWorkColl *coll = &work->coll;
    TEST_TRUE (coll->bytes > 0 && coll->repeat >= 1);
    TEST_TRUE (coll->after >= -1 && coll->after < (int)i);
    TEST_TRUE (coll->before > (int)i && coll->before <= (int)works->len);
    if (coll->with < 0)
      continue;
    TEST_TRUE (coll->with < (int)works->len && coll->with != (int)i);
    const MdlWorkKind kind = g_array_index (works, MdlWork, (guint)coll->with).kind;
    TEST_TRUE (kind == MDL_WORK_GEMM || kind == MDL_WORK_ATTENTION);
  }
}

static void
add_part (const MdlLlm *llm, const MdlLayerQuery *query, MdlPart part, unsigned layer, Sums *forward, Sums *backward)
{
  g_autoptr (GArray) there = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  mdl_layer_works (llm, query, part, layer, there, back);
  check_marks (there);
  check_marks (back);
  add_works (forward, there, 1);
  add_works (backward, back, 1);
}

/* One layer's. */
static void
layer_sums (const MdlLlm *llm, const MdlLayerQuery *query, Sums *forward, Sums *backward)
{
  *forward = *backward = (Sums){ .read_B = 0 };
  add_part (llm, query, mdl_llm_is_moe (llm, 1) ? MDL_PART_MOE : MDL_PART_DENSE, 1, forward, backward);
}

/* The whole model's. */
static void
model_sums (const MdlLlm *llm, const MdlLayerQuery *query, Sums *forward, Sums *backward)
{
  *forward = *backward = (Sums){ .read_B = 0 };
  add_part (llm, query, MDL_PART_EMBEDDING, 0, forward, backward);
  for (unsigned layer = 0; layer < (unsigned)llm->layers.v; layer++)
    add_part (llm, query, mdl_llm_is_moe (llm, layer) ? MDL_PART_MOE : MDL_PART_DENSE, layer, forward, backward);
  add_part (llm, query, MDL_PART_HEAD, 0, forward, backward);
}

static const char *const some[] = { "gpt2_small",  "llama3_8b",   "llama2_70b", "mixtral_8x7b", "qwen3_8b", "qwen3_235b_a22b",
                                    "deepseek_v3", "gpt_oss_20b", "bloom_176b", "mistral_7b",   NULL };

/* All ranks of `ask` together do what one token asks of the model, times the tokens. */
static void
check_flop (const MdlLlm *llm, const MdlLayerQuery *query, double ranks)
{
  MdlLlmFlop token;
  Sums forward, backward;
  mdl_llm_token_flop (llm, query->sequence, query->packed, &token);
  model_sums (llm, query, &forward, &backward);
  /* ranks of ep share no token: each has a micro-batch of its own */
  const double tokens = query->micro_batch * query->sequence / ranks;
  const double matrix = token.matrix_flop / 3 * tokens, attention = token.attention_causal_flop / 3 * tokens;
  TEST_NEAR (forward.gemm_flop[MDL_PASS_FORWARD], matrix, 1e-12);
  TEST_NEAR (backward.gemm_flop[MDL_PASS_DGRAD], matrix, 1e-12);
  TEST_NEAR (backward.gemm_flop[MDL_PASS_WGRAD], matrix, 1e-12);
  TEST_NEAR (forward.attention_flop[MDL_PASS_FORWARD], attention, 1e-12);
  TEST_NEAR (backward.attention_flop[MDL_PASS_DGRAD], 2.5 * attention, 1e-12); /* a flash kernel's */
  TEST_NEAR (backward.gemm_flop[MDL_PASS_RECOMPUTE] + backward.attention_flop[MDL_PASS_RECOMPUTE], 0, 0);
}

static void
flop_of_the_works_is_that_of_the_model (void)
{
  for (const char *const *name = some; *name != NULL; name++) {
    g_autoptr (LlmFixture) fixture = llm_need (*name);
    MdlLayerQuery query;
    mdl_layer_query_default (&query, 4096);
    query.micro_batch = 2;
    for (int framework = MDL_FRAMEWORK_EAGER; framework <= MDL_FRAMEWORK_GRAPHS; framework++) {
      query.framework = (MdlFramework)framework;
      check_flop (&fixture->llm, &query, 1);
    }
    query.packed = 512;
    check_flop (&fixture->llm, &query, 1);
  }
}

static void
ranks_of_tp_cp_and_ep_share_it_evenly (void)
{
  static const char *const even[] = { "llama3_8b", "llama2_70b", "mixtral_8x7b", "deepseek_v3", NULL };
  for (const char *const *name = even; *name != NULL; name++) {
    g_autoptr (LlmFixture) fixture = llm_need (*name);
    MdlLayerQuery query;
    mdl_layer_query_default (&query, 4096);
    query.tp = 4;
    query.sp = TRUE;
    query.cp = 2;
    query.ep = fixture->llm.moe.experts.v >= 1 ? 8 : 1;
    check_flop (&fixture->llm, &query, 4 * 2);
    query.etp = 4; /* each brings its rows, and does a quarter of each */
    check_flop (&fixture->llm, &query, 4 * 2);
    query.cp_kind = MDL_CP_ULYSSES;
    query.cp = 2;
    check_flop (&fixture->llm, &query, 4 * 2);
  }
}

static void
more_ranks_than_key_value_heads_replicate_them (void)
{
  /* Qwen3 235B: 4 heads of 128 over 8 ranks: each has 1, so all together 8 pairs of key and value rows instead of 4:
   * 2 T h x 2 x 4 x 128 FLOP more */
  g_autoptr (LlmFixture) fixture = llm_need ("qwen3_235b_a22b");
  MdlLayerQuery query;
  Sums one, eight, backward;
  mdl_layer_query_default (&query, 4096);
  layer_sums (&fixture->llm, &query, &one, &backward);
  query.tp = 8;
  query.sp = TRUE;
  layer_sums (&fixture->llm, &query, &eight, &backward);
  TEST_NEAR (8 * eight.gemm_flop[MDL_PASS_FORWARD] - one.gemm_flop[MDL_PASS_FORWARD], 2.0 * 4096 * 4096 * 2 * 4 * 128, 1e-9);
}

static void
scores_in_memory_and_full_recomputation_give_equation_3_of_sc21 (void)
{
  /* 96 B s L h^2 (1 + s / 6h + V / 16 L h): Narayanan et al. 2104.04473, section 5.1 */
  g_autoptr (LlmFixture) fixture = llm_need ("megatron_145b");
  MdlLayerQuery query;
  Sums forward, backward;
  mdl_layer_query_default (&query, 2048);
  query.flash = FALSE;
  query.recompute = MDL_MODULE_LAYER;
  model_sums (&fixture->llm, &query, &forward, &backward);
  const double L = 80, h = 12288, V = 51200, s = 2048;
  double flop = 0;
  for (int pass = 0; pass < MDL_PASS_N; pass++)
    flop += forward.gemm_flop[pass] + backward.gemm_flop[pass];
  TEST_NEAR (flop, 96 * s * L * h * h * (1 + s / (6 * h) + V / (16 * L * h)), 1e-12);
}

static void
model_flop_is_that_of_korthikanti (void)
{
  /* 72 B L s h^2 (1 + s / 6h + V / 12 h L): 2205.05198, appendix A */
  g_autoptr (LlmFixture) fixture = llm_need ("megatron_22b");
  MdlLlmFlop token;
  mdl_llm_token_flop (&fixture->llm, 2048, 0, &token);
  const double L = 48, h = 6144, V = 51200, s = 2048;
  TEST_NEAR (token.matrix_flop + token.attention_flop, 72 * L * h * h * (1 + s / (6 * h) + V / (12 * h * L)), 1e-12);
  TEST_NEAR (token.attention_causal_flop, token.attention_flop / 2, 1e-12);
}

static void
selective_recomputation_repeats_the_core_alone (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("megatron_22b");
  MdlLayerQuery query;
  Sums forward, backward;
  mdl_layer_query_default (&query, 2048);
  query.tp = 8;
  query.flash = FALSE;
  query.recompute = mdl_recompute_selective (FALSE);
  layer_sums (&fixture->llm, &query, &forward, &backward);
  /* 4 s^2 h over 8 ranks */
  TEST_NEAR (backward.gemm_flop[MDL_PASS_RECOMPUTE], 4.0 * 2048 * 2048 * 6144 / 8, 1e-12);
  TEST_NEAR (backward.colls[MDL_OP_ALL_REDUCE], 2, 0);
  TEST_INT (mdl_recompute_selective (TRUE), 0); /* a flash kernel keeps no scores */
  query.flash = TRUE;
  query.recompute = MDL_MODULE_CORE_ATTENTION; /* asked for by name it is repeated */
  layer_sums (&fixture->llm, &query, &forward, &backward);
  TEST_NEAR (backward.attention_flop[MDL_PASS_RECOMPUTE], forward.attention_flop[MDL_PASS_FORWARD], 0);
}

static void
tensor_parallelism_moves_two_sums_a_pass (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_70b");
  MdlLayerQuery query;
  Sums forward, backward;
  const double all_B = 8192.0 * 8192 * 2; /* T·h of bf16: 128 MiB */
  mdl_layer_query_default (&query, 8192);
  query.tp = 8;
  layer_sums (&fixture->llm, &query, &forward, &backward);
  TEST_NEAR (forward.coll_B[MDL_OP_ALL_REDUCE], 2 * all_B, 0);
  TEST_NEAR (backward.coll_B[MDL_OP_ALL_REDUCE], 2 * all_B, 0);
  TEST_NEAR (forward.colls[MDL_OP_ALL_GATHER] + forward.colls[MDL_OP_REDUCE_SCATTER], 0, 0);
  query.sp = TRUE;
  layer_sums (&fixture->llm, &query, &forward, &backward);
  TEST_NEAR (forward.coll_B[MDL_OP_ALL_REDUCE] + backward.coll_B[MDL_OP_ALL_REDUCE], 0, 0);
  TEST_NEAR (forward.coll_B[MDL_OP_ALL_GATHER], 2 * all_B, 0);
  TEST_NEAR (forward.coll_B[MDL_OP_REDUCE_SCATTER], 2 * all_B, 0);
  TEST_NEAR (backward.coll_B[MDL_OP_ALL_GATHER], 4 * all_B, 0); /* two gradients, two saved inputs for wgrad */
  TEST_NEAR (backward.coll_B[MDL_OP_REDUCE_SCATTER], 2 * all_B, 0);
  query.recompute = MDL_MODULE_LAYER;
  layer_sums (&fixture->llm, &query, &forward, &backward);
  TEST_NEAR (backward.coll_B[MDL_OP_ALL_GATHER], 6 * all_B, 0);
  TEST_NEAR (backward.coll_B[MDL_OP_REDUCE_SCATTER], 4 * all_B, 0);
}

static void
saved_inputs_are_gathered_beside_dgrad_and_sums_scattered_beside_wgrad (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  g_autoptr (GArray) back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 8192);
  query.tp = 8;
  query.sp = TRUE;
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, NULL, back);
  unsigned gathers = 0, scatters = 0;
  for (guint i = 0; i < back->len; i++) {
    const MdlWork *work = &g_array_index (back, MdlWork, i);
    if (work->kind != MDL_WORK_COLL)
      continue;
    const MdlWork *waits = &g_array_index (back, MdlWork, (guint)work->coll.before), *next = work + 1;
    if (strcmp (work->name, "gather_saved_input") == 0) {
      gathers++;
      TEST_INT (next->pass, MDL_PASS_DGRAD);
      TEST_INT (waits->pass, MDL_PASS_WGRAD);
    } else if (strcmp (work->name, "reduce_gradient") == 0) {
      scatters++;
      TEST_INT (next->pass, MDL_PASS_WGRAD);
      TEST_STR (waits->name, "norm");
      TEST_INT (work->coll.with, -1); /* beside the weight gradients, cut up with nothing */
    }
  }
  TEST_INT (gathers, 2);
  TEST_INT (scatters, 2);
}

static void
the_head_reduces_three_numbers_a_token (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  Sums forward = { .read_B = 0 }, backward = { .read_B = 0 };
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 8192);
  query.tp = 8;
  query.sp = TRUE;
  add_part (&fixture->llm, &query, MDL_PART_HEAD, 0, &forward, &backward);
  TEST_NEAR (forward.coll_B[MDL_OP_ALL_REDUCE], 3 * 8192 * 4, 0);
  TEST_NEAR (forward.coll_B[MDL_OP_ALL_GATHER], 8192.0 * 4096 * 2, 0);
  TEST_NEAR (forward.gemm_flop[MDL_PASS_FORWARD], 2.0 * 8192 * 4096 * 128256 / 8, 0);
  /* 128256 rows over 8 ranks in multiples of 128: 16032 becomes 16128 */
  query.vocabulary_multiple = 128;
  forward = backward = (Sums){ .read_B = 0 };
  add_part (&fixture->llm, &query, MDL_PART_HEAD, 0, &forward, &backward);
  TEST_NEAR (forward.gemm_flop[MDL_PASS_FORWARD], 2.0 * 8192 * 4096 * 16128, 0);
}

static void
context_parallelism_moves_keys_and_values (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_70b");
  MdlLayerQuery query;
  Sums forward, backward;
  mdl_layer_query_default (&query, 131072);
  query.tp = 8;
  query.cp = 16;
  /* 8192 tokens of one head of 128, key and value, bf16: 4 MiB a step */
  const double chunk_B = 8192.0 * 2 * 128 * 2;
  layer_sums (&fixture->llm, &query, &forward, &backward);
  TEST_NEAR (forward.coll_B[MDL_OP_SENDRECV], 15 * chunk_B, 0);
  TEST_NEAR (backward.coll_B[MDL_OP_SENDRECV], 2 * 15 * chunk_B, 0);
  query.cp_kind = MDL_CP_ALL_GATHER;
  layer_sums (&fixture->llm, &query, &forward, &backward);
  TEST_NEAR (forward.coll_B[MDL_OP_ALL_GATHER], 16 * chunk_B, 0);
  TEST_NEAR (backward.coll_B[MDL_OP_REDUCE_SCATTER], 16 * chunk_B, 0);
  query.cp_kind = MDL_CP_ULYSSES;
  query.tp = 1;
  query.cp = 8;
  layer_sums (&fixture->llm, &query, &forward, &backward);
  TEST_NEAR (forward.colls[MDL_OP_ALLTOALL], 4, 0);
  TEST_NEAR (backward.colls[MDL_OP_ALLTOALL], 4, 0);
  /* 16384 tokens of 64 query heads there and back and of 8 heads of key and value */
  TEST_NEAR (forward.coll_B[MDL_OP_ALLTOALL], 16384.0 * (64 + 64 + 8 + 8) * 128 * 2, 0);
}

static void
experts_cost_four_exchanges_a_layer (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("deepseek_v3");
  MdlLayerQuery query;
  Sums forward, backward;
  mdl_layer_query_default (&query, 4096);
  query.ep = 64;
  const double copies = 4096.0 * 8 * 7168; /* elements */
  forward = backward = (Sums){ .read_B = 0 };
  add_part (&fixture->llm, &query, MDL_PART_MOE, 10, &forward, &backward);
  TEST_NEAR (forward.coll_B[MDL_OP_ALLTOALL], 2 * copies * 2, 0);
  TEST_NEAR (backward.coll_B[MDL_OP_ALLTOALL], 2 * copies * 2, 0);
  TEST_NEAR (forward.syncs, 1, 0);
  query.dispatch = MDL_FORMAT_FP8; /* there in 1 byte, back in 2 */
  query.imbalance = 1.1;
  forward = backward = (Sums){ .read_B = 0 };
  add_part (&fixture->llm, &query, MDL_PART_MOE, 10, &forward, &backward);
  TEST_NEAR (forward.coll_B[MDL_OP_ALLTOALL], 1.1 * 3 * copies, 1e-12);
  TEST_NEAR (backward.coll_B[MDL_OP_ALLTOALL], 1.1 * 3 * copies, 1e-12);
  TEST_NEAR (mdl_layer_expert_rows (&fixture->llm, &query), 1.1 * 4096 * 8, 1e-12);
  /* C = ceil (1.25 x 8 x 4096 / 256) = 160 of each of 256 experts: nothing is counted, nobody waits */
  query.capacity = 1.25;
  forward = backward = (Sums){ .read_B = 0 };
  add_part (&fixture->llm, &query, MDL_PART_MOE, 10, &forward, &backward);
  TEST_NEAR (mdl_layer_expert_rows (&fixture->llm, &query), 160 * 256, 0);
  TEST_NEAR (forward.syncs, 0, 0);
}

static void
experts_are_as_many_kernels_as_their_code_has (void)
{
  /* Qwen3 30B: 128 experts, all here. Grouped: 3 products and 2 kernels between them; sorted: each of the five for each expert;
   * a loop: beside them 5 to find the tokens, and one each to gather, look up weights, weigh and add */
  g_autoptr (LlmFixture) fixture = llm_need ("qwen3_30b_a3b");
  static const MdlExperts how[] = { MDL_EXPERTS_GROUPED, MDL_EXPERTS_SORTED, MDL_EXPERTS_LOOP };
  static const double syncs[] = { 0, 1, 128 };
  MdlLayerQuery query;
  Sums forward[3] = { { .read_B = 0 } }, backward[3] = { { .read_B = 0 } };
  mdl_layer_query_default (&query, 4096);
  query.framework = MDL_FRAMEWORK_EAGER;
  for (int i = 0; i < 3; i++) {
    query.experts = how[i];
    add_part (&fixture->llm, &query, MDL_PART_MOE, 10, &forward[i], &backward[i]);
    TEST_NEAR (forward[i].syncs, syncs[i], 0);
    TEST_NEAR (forward[i].gemm_flop[MDL_PASS_FORWARD], forward[0].gemm_flop[MDL_PASS_FORWARD], 1e-12);
  }
  TEST_NEAR (forward[1].kernels - forward[0].kernels, 127 * 5, 0);
  /* counting (2), permuting (2) and summing (3) go, marking (3) and zeros (1) come */
  TEST_NEAR (forward[2].kernels - forward[1].kernels, 128 * (5 + 1 + 2 + 1) + 3 + 1 - 7, 0);
  TEST_NEAR (backward[0].syncs + backward[1].syncs + backward[2].syncs, 0, 0);
  /* the backward pass of a loop fills a gradient of all tokens for each expert, and adds it: 4 passes of 4096 x 2048 x 2 B */
  TEST_TRUE (backward[2].read_B + backward[2].write_B - backward[1].read_B - backward[1].write_B >
             128 * 4.0 * 4096 * 2048 * 2 * 0.9);
}

static void
casts_of_experts_have_a_kernel_each (void)
{
  /* fp8, fused, 16 experts here: forward two casts of each, backward two; in bf16 none */
  g_autoptr (LlmFixture) fixture = llm_need ("qwen3_30b_a3b");
  MdlLayerQuery query;
  Sums low = { .read_B = 0 }, wide = low, grouped = low, unused = low;
  mdl_layer_query_default (&query, 4096);
  query.ep = 8;
  query.router_pads = TRUE; /* else two copies fill up rows */
  add_part (&fixture->llm, &query, MDL_PART_MOE, 10, &wide, &unused);
  query.compute = MDL_FORMAT_FP8;
  add_part (&fixture->llm, &query, MDL_PART_MOE, 10, &low, &unused);
  TEST_NEAR (low.kernels - wide.kernels, 2 * 16 + 1, 0); /* and attention's output */
  query.experts = MDL_EXPERTS_GROUPED;
  add_part (&fixture->llm, &query, MDL_PART_MOE, 10, &grouped, &unused);
  TEST_NEAR (low.kernels - grouped.kernels, 4 * 15, 0);
}

static void
one_copy_a_node_crosses_the_network (void)
{
  /* DeepSeek-V3: 8 of 256 experts in 4 of 8 groups; of these, of a node each, a token reaches 4 (1 - C(96, 8) / C(128, 8)) on
   * average, 7 of 8 of them on other nodes */
  double missed = 1;
  for (int i = 0; i < 8; i++)
    missed *= (96.0 - i) / (128.0 - i);
  g_autoptr (LlmFixture) fixture = llm_need ("deepseek_v3");
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 4096);
  query.ep = 64;
  query.ep_nodes = 8;
  query.one_copy_a_node = TRUE;
  mdl_layer_works (&fixture->llm, &query, MDL_PART_MOE, 10, works, NULL);
  unsigned found = 0;
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    if (work->kind != MDL_WORK_COLL || work->coll.op != MDL_OP_ALLTOALL)
      continue;
    found++;
    TEST_NEAR (work->coll.node_B, 4096.0 * 4 * (1 - missed) * 7168 * 2 * 7 / 8, 1e-9);
  }
  TEST_INT (found, 2);
}

static void
shared_experts_run_while_tokens_travel (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("deepseek_v3");
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 4096);
  query.ep = 64;
  mdl_layer_works (&fixture->llm, &query, MDL_PART_MOE, 10, works, NULL);
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    if (strcmp (work->name, "dispatch") != 0)
      continue;
    TEST_STR ((work + 1)->name, "shared_up");
    TEST_STR (g_array_index (works, MdlWork, (guint)work->coll.before - 1).name, "shared_down");
    return;
  }
  TEST_STR ("no dispatch", NULL);
}

static void
a_frozen_base_has_no_weight_gradients (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama2_70b");
  MdlLayerQuery query;
  Sums forward, backward, plain, plain_back;
  mdl_layer_query_default (&query, 8192);
  query.framework = MDL_FRAMEWORK_EAGER;
  layer_sums (&fixture->llm, &query, &plain, &plain_back);
  query.lora_rank = 16;
  query.lora_on = MDL_LORA_Q | MDL_LORA_V;
  layer_sums (&fixture->llm, &query, &forward, &backward);
  /* q: 16 (8192 + 8192), v: 16 (8192 + 1024) elements, 2 T each */
  const double adapters = 2.0 * 8192 * 16 * (8192 + 8192 + 8192 + 1024);
  TEST_NEAR (forward.gemm_flop[MDL_PASS_FORWARD], plain.gemm_flop[MDL_PASS_FORWARD] + adapters, 1e-12);
  TEST_NEAR (backward.gemm_flop[MDL_PASS_DGRAD], plain.gemm_flop[MDL_PASS_FORWARD] + adapters, 1e-12);
  TEST_NEAR (backward.gemm_flop[MDL_PASS_WGRAD], adapters, 1e-12);
}

static void
an_eager_layer_is_16_kernels_and_12_passes (void)
{
  /* Eager Llama: 2 norms, q k v o, 2 rotations, attention, 2 adds, gate up, function and product, down: 16.
   * Memory-bound passes of T·h elements: norms 2 x 2, adds 2 x 3, rotation 2 (H + K) d / h = 2.5; of T·f: 2 + 3. */
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 8192);
  query.framework = MDL_FRAMEWORK_EAGER;
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, works, NULL);
  double kernels = 0, bytes = 0, fused = 0;
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    kernels += work->kernels;
    bytes += work->kind == MDL_WORK_MEMORY ? work->read_B + work->write_B : 0;
  }
  TEST_NEAR (kernels, 16, 0);
  TEST_NEAR (bytes, 2 * 8192.0 * (12.5 * 4096 + 5 * 14336), 1e-12);
  query.framework = MDL_FRAMEWORK_FUSED;
  g_array_set_size (works, 0);
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, works, NULL);
  for (guint i = 0; i < works->len; i++)
    fused += g_array_index (works, MdlWork, i).kernels;
  TEST_NEAR (fused, 9, 0); /* 2 norms that add, qkv, rotation, attention, o, gate and up, function, down */
}

static void
weight_gradients_are_added_where_they_are_kept (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  MdlLayerQuery query;
  Sums forward, first, later;
  MdlLlmCount count;
  mdl_llm_count (&fixture->llm, &count);
  const double matrices = count.dense_layer - 2 * 4096; /* without the norms */
  for (int framework = MDL_FRAMEWORK_EAGER; framework <= MDL_FRAMEWORK_FUSED; framework++) {
    mdl_layer_query_default (&query, 8192);
    query.framework = (MdlFramework)framework;
    layer_sums (&fixture->llm, &query, &forward, &first);
    query.accumulate = TRUE;
    layer_sums (&fixture->llm, &query, &forward, &later);
    TEST_NEAR (later.read_B - first.read_B, 4 * matrices, 1e-9); /* what lies there is read, 4 B of fp32 a parameter */
    TEST_NEAR (later.write_B - first.write_B, 0, 1e-12);
  }
}

static void
narrow_formats_cast_what_no_kernel_writes_so (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 8192);
  query.compute = MDL_FORMAT_FP8;
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, works, NULL);
  unsigned casts = 0, narrow = 0;
  double read_B = 0, written_B = 0;
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    if (work->kind == MDL_WORK_GEMM && work->format == MDL_FORMAT_FP8)
      narrow++;
    if (strcmp (work->name, "cast_input") != 0)
      continue;
    casts++;
    read_B += work->read_B;
    written_B += work->write_B;
  }
  TEST_INT (casts, 2); /* results of attention and activation; norms write theirs cast */
  TEST_NEAR (read_B, 8192.0 * (4096 + 14336) * 2, 0);
  TEST_NEAR (written_B, 8192.0 * (4096 + 14336) * 2, 0); /* 1 B, and 1 B transposed */
  TEST_INT (narrow, 4);
  g_array_set_size (works, 0);
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, NULL, works);
  casts = 0;
  for (guint i = 0; i < works->len; i++)
    casts += strcmp (g_array_index (works, MdlWork, i).name, "cast_gradient") == 0;
  TEST_INT (casts, 4); /* of all four products */
}

static double
moved_B (const GArray *works, const char *name)
{
  double bytes = 0;
  for (guint i = 0; i < works->len; i++)
    if (strcmp (g_array_index (works, MdlWork, i).name, name) == 0)
      bytes += g_array_index (works, MdlWork, i).read_B + g_array_index (works, MdlWork, i).write_B;
  return bytes;
}

static void
an_adapter_is_scaled_and_added_by_kernels_of_its_own (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama2_70b");
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 8192);
  query.lora_rank = 16;
  query.lora_on = MDL_LORA_O; /* 8192 in, 8192 out: 134217728 B of 16 bits */
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, forward, back);
  const double unit_B = 134217728;
  TEST_NEAR (moved_B (forward, "lora_scale"), 2 * unit_B, 0);
  TEST_NEAR (moved_B (forward, "lora_add"), 3 * unit_B, 0);
  TEST_NEAR (moved_B (back, "lora_add"), 3 * unit_B, 0);
  TEST_NEAR (moved_B (forward, "lora_dropout"), 0, 0);
  g_array_set_size (forward, 0);
  query.lora_dropout = TRUE;
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, forward, NULL);
  TEST_NEAR (moved_B (forward, "lora_dropout"), 2.5 * unit_B, 0); /* with a mask of a byte */
}

static void
the_loss_goes_over_logits_in_fp32 (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 8192);
  mdl_layer_works (&fixture->llm, &query, MDL_PART_HEAD, 0, forward, back);
  const double logits = 8192.0 * 128256;
  TEST_NEAR (moved_B (forward, "loss"), logits * (2 + 4 + 4 + 4 + 8 + 4 + 4), 0);
  TEST_NEAR (moved_B (back, "loss"), logits * (4 + 2), 0);
}

static void
a_ring_adds_up_the_results_of_its_steps (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("llama3_8b");
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 8192);
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, forward, back);
  TEST_NEAR (moved_B (forward, "ring_sum") + moved_B (back, "ring_sum"), 0, 0);
  g_array_set_size (forward, 0);
  g_array_set_size (back, 0);
  query.cp = 2;
  mdl_layer_works (&fixture->llm, &query, MDL_PART_DENSE, 1, forward, back);
  /* two steps of 4096 tokens x 4096: five passes each; backward three of them, and of the keys and values of 8192 tokens x 2048 */
  TEST_NEAR (moved_B (forward, "ring_sum"), 2 * 5 * 4096.0 * 4096 * 2, 1e-12);
  TEST_NEAR (moved_B (back, "ring_sum"), 3 * 2 * (2 * 4096.0 * 4096 + 8192.0 * 2048), 1e-12);
}

/* Bytes a parameter. */
static double
optimizer_B (const MdlOptimizerQuery *query)
{
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  Sums sums = { .read_B = 0 };
  mdl_optimizer_works (query, works);
  check_marks (works);
  add_works (&sums, works, 1);
  return (sums.read_B + sums.write_B) / query->elements;
}

static void
adamw_moves_14_or_30_bytes_a_parameter (void)
{
  MdlOptimizerQuery query = { .elements = 1e9,
                              .gradients = 1e9,
                              .tensors = 100,
                              .parameter = MDL_FORMAT_BF16,
                              .gradient = MDL_FORMAT_BF16,
                              .master = MDL_FORMAT_NONE,
                              .moment = MDL_FORMAT_BF16,
                              .compute = MDL_FORMAT_BF16,
                              .framework = MDL_FRAMEWORK_FUSED };
  TEST_NEAR (optimizer_B (&query), 14, 1e-12);
  query.gradient = query.master = query.moment = MDL_FORMAT_FP32;
  TEST_NEAR (optimizer_B (&query), 30, 1e-12);
  query.clip = query.zero = TRUE; /* one more read, one more write of the gradient */
  TEST_NEAR (optimizer_B (&query), 38, 1e-12);
  query.compute = MDL_FORMAT_FP8; /* 2 B in, 1 B and its transpose out */
  TEST_NEAR (optimizer_B (&query), 42, 1e-12);
}

static void
tensors_of_all_ranks_make_up_the_model (void)
{
  for (const char *const *name = some; *name != NULL; name++) {
    g_autoptr (LlmFixture) fixture = llm_need (*name);
    MdlLlmCount count;
    mdl_llm_count (&fixture->llm, &count);
    g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
    mdl_llm_tensors (&fixture->llm, mdl_llm_is_moe (&fixture->llm, 3) ? MDL_PART_MOE : MDL_PART_DENSE, 3, tensors);
    double whole = 0, cut = 0, replicated = 0;
    for (guint i = 0; i < tensors->len; i++) {
      const MdlTensor *tensor = &g_array_index (tensors, MdlTensor, i);
      whole += mdl_tensor_elements (&fixture->llm, tensor, 1, 1, 1, 1);
      cut += 4 * mdl_tensor_elements (&fixture->llm, tensor, 4, 1, 4, 1);
      replicated += tensor->split == MDL_SPLIT_NONE ? 3 * tensor->rows * tensor->columns * tensor->copies : 0;
    }
    TEST_NEAR (whole, mdl_llm_is_moe (&fixture->llm, 3) ? count.moe_layer : count.dense_layer, 0);
    TEST_NEAR (cut, whole + replicated, 1e-12);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "FLOP of the works is that of the model", flop_of_the_works_is_that_of_the_model },
    { "ranks of tp, cp and ep share it evenly", ranks_of_tp_cp_and_ep_share_it_evenly },
    { "more ranks than key-value heads replicate them", more_ranks_than_key_value_heads_replicate_them },
    { "scores in memory and full recomputation give equation 3 of SC21",
      scores_in_memory_and_full_recomputation_give_equation_3_of_sc21 },
    { "model FLOP is that of Korthikanti", model_flop_is_that_of_korthikanti },
    { "selective recomputation repeats the core alone", selective_recomputation_repeats_the_core_alone },
    { "tensor parallelism moves two sums a pass", tensor_parallelism_moves_two_sums_a_pass },
    { "saved inputs are gathered beside dgrad and sums scattered beside wgrad",
      saved_inputs_are_gathered_beside_dgrad_and_sums_scattered_beside_wgrad },
    { "the head reduces three numbers a token", the_head_reduces_three_numbers_a_token },
    { "context parallelism moves keys and values", context_parallelism_moves_keys_and_values },
    { "experts cost four exchanges a layer", experts_cost_four_exchanges_a_layer },
    { "experts are as many kernels as their code has", experts_are_as_many_kernels_as_their_code_has },
    { "casts of experts have a kernel each", casts_of_experts_have_a_kernel_each },
    { "one copy a node crosses the network", one_copy_a_node_crosses_the_network },
    { "shared experts run while tokens travel", shared_experts_run_while_tokens_travel },
    { "a frozen base has no weight gradients", a_frozen_base_has_no_weight_gradients },
    { "an eager Llama layer is 16 kernels, 12.5 passes of hidden and 5 of ffn", an_eager_layer_is_16_kernels_and_12_passes },
    { "weight gradients are added where they are kept", weight_gradients_are_added_where_they_are_kept },
    { "narrow formats cast what no kernel writes so", narrow_formats_cast_what_no_kernel_writes_so },
    { "an adapter is scaled and added by kernels of its own", an_adapter_is_scaled_and_added_by_kernels_of_its_own },
    { "the loss goes over logits in fp32", the_loss_goes_over_logits_in_fp32 },
    { "a ring adds up the results of its steps", a_ring_adds_up_the_results_of_its_steps },
    { "AdamW moves 14 or 30 bytes a parameter", adamw_moves_14_or_30_bytes_a_parameter },
    { "tensors of all ranks make up the model", tensors_of_all_ranks_make_up_the_model },
    { NULL, NULL },
  };
  return test_main ("layers", cases);
}
