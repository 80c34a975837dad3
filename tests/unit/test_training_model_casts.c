/* What fused code does for products in fp8 and fp4, for routers and biases of experts, and what is computed again by every second
 * product. Numbers by hand: llama3_8b has 4096 of width, 32 heads of 128, 8 of keys and values, 14336 in the MLP. */
#include "llm_fixture.h"
#include "model_fixture.h"
#include "models/layer.h"
#include "models/memory.h"

#define TOKENS 8192.0

typedef struct {
  double count, read_B, write_B, kernels, coll_B, flop;
} Found;

/* Works of this name in a layer's backward pass, or its forward pass. */
static Found
find (const MdlLlm *llm, const MdlLayerQuery *query, gboolean back, const char *name)
{
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  const MdlPart part = mdl_llm_is_moe (llm, 10) ? MDL_PART_MOE : MDL_PART_DENSE;
  mdl_layer_works (llm, query, part, 10, back ? NULL : works, back ? works : NULL);
  Found found = { 0 };
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    if (strcmp (work->name, name) != 0)
      continue;
    found.count++;
    found.kernels += work->kernels;
    found.coll_B += work->kind == MDL_WORK_COLL ? work->coll.bytes : 0;
    found.read_B += work->kind == MDL_WORK_COLL ? 0 : work->read_B;
    found.write_B += work->kind == MDL_WORK_COLL ? 0 : work->write_B;
    found.flop += work->pass == MDL_PASS_RECOMPUTE ? work->flop : 0;
  }
  return found;
}

static MdlLayerQuery
sharded (MdlScaling scaling, gboolean one_way)
{
  MdlLayerQuery query;
  mdl_layer_query_default (&query, (double)TOKENS);
  query.tp = 4;
  query.sp = TRUE;
  query.compute = scaling == MDL_SCALING_NVFP4 ? MDL_FORMAT_FP4 : MDL_FORMAT_FP8;
  query.scaling = scaling;
  query.one_way = one_way;
  return query;
}

static void
operands_are_gathered_as_they_are_cast (void)
{
  static const struct {
    MdlScaling scaling;
    gboolean one_way;
    double input_B, gradient_B, transposed; /* an element; tensors transposed behind their gather */
  } cases[] = {
    { MDL_SCALING_TENSOR, TRUE, 1, 1, 4 }, { MDL_SCALING_DELAYED, FALSE, 1, 1, 0 }, { MDL_SCALING_NONE, TRUE, 1, 1, 4 },
    { MDL_SCALING_BLOCK, TRUE, 1, 1, 0 },  { MDL_SCALING_MXFP8, FALSE, 1, 2, 0 },   { MDL_SCALING_NVFP4, FALSE, 0.5, 1, 0 },
  };
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  const double elements = TOKENS * 4096;
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    MdlLayerQuery query = sharded (cases[i].scaling, cases[i].one_way);
    TEST_NEAR (find (&f->llm, &query, FALSE, "gather_input").coll_B, 2 * elements * cases[i].input_B, 0);
    TEST_NEAR (find (&f->llm, &query, TRUE, "gather_saved_input").coll_B, 2 * elements * cases[i].input_B, 0);
    TEST_NEAR (find (&f->llm, &query, TRUE, "gather_gradient").coll_B, 2 * elements * cases[i].gradient_B, 0);
    const Found turned = find (&f->llm, &query, TRUE, "transpose");
    TEST_NEAR (turned.count, cases[i].transposed, 0);
    TEST_NEAR (turned.read_B + turned.write_B, cases[i].transposed * 2 * elements, 0);
  }
  MdlLayerQuery query = sharded (MDL_SCALING_TENSOR, TRUE);
  query.framework = MDL_FRAMEWORK_EAGER; /* casts behind */
  TEST_NEAR (find (&f->llm, &query, FALSE, "gather_input").coll_B, 2 * elements * 2, 0);
  query = sharded (MDL_SCALING_TENSOR, TRUE);
  query.lora_rank = 16; /* adapters of attention read their input as it was; the MLP has none */
  query.lora_on = MDL_LORA_Q | MDL_LORA_K | MDL_LORA_V | MDL_LORA_O;
  TEST_NEAR (find (&f->llm, &query, FALSE, "gather_input").coll_B, elements * (2 + 1), 0);
  query.compute = MDL_FORMAT_BF16;
  TEST_NEAR (find (&f->llm, &query, FALSE, "gather_input").coll_B, 2 * elements * 2, 0);
}

static void
casts_read_and_write_by_their_scaling (void)
{
  static const struct {
    MdlScaling scaling;
    gboolean one_way;
    double reads, written_B, norm_reads; /* an element; of a cast behind a norm */
  } cases[] = {
    { MDL_SCALING_NONE, FALSE, 1, 2, 0 },
    { MDL_SCALING_DELAYED, TRUE, 1, 2, 0 },
    { MDL_SCALING_DELAYED, FALSE, 1, 1, 0 },
    { MDL_SCALING_TENSOR, TRUE, 2, 2, 1 },
    { MDL_SCALING_TENSOR, FALSE, 2, 1, 1 },
    { MDL_SCALING_BLOCK, TRUE, 1, 2, 1 },
    { MDL_SCALING_MXFP8, FALSE, 1, 2 + 2.0 / 32, 0 },
    { MDL_SCALING_NVFP4, FALSE, 3, 1.125, 3 },
  };
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    MdlLayerQuery query = sharded (cases[i].scaling, cases[i].one_way);
    query.tp = 1;
    query.sp = FALSE;
    const double between = TOKENS * (4096 + 14336), norms = 2 * TOKENS * 4096; /* attention's result, activation; norms */
    const Found casts = find (&f->llm, &query, FALSE, "cast_input"), norm = find (&f->llm, &query, FALSE, "norm");
    const gboolean apart = cases[i].norm_reads > 0;
    TEST_NEAR (casts.count, apart ? 4 : 2, 0);
    TEST_NEAR (casts.read_B, 2 * (between * cases[i].reads + norms * cases[i].norm_reads), 1e-12);
    TEST_NEAR (casts.write_B, cases[i].written_B * (between + (apart ? norms : 0)), 1e-12);
    /* each adds the residual: written beside the norm's result */
    TEST_NEAR (norm.write_B, norms * (2 + (apart ? 2 : cases[i].written_B)), 1e-12);
    const gboolean blocks = cases[i].scaling == MDL_SCALING_MXFP8 || cases[i].scaling == MDL_SCALING_NVFP4;
    TEST_NEAR (find (&f->llm, &query, FALSE, "swizzle_scales").count, blocks ? 4 : 0, 0);
    TEST_NEAR (find (&f->llm, &query, TRUE, "swizzle_scales").count, blocks ? 8 : 0, 0);
    TEST_NEAR (find (&f->llm, &query, TRUE, "swizzle_scales").kernels, 0, 0);
  }
  /* of the output product forward: 8192 x 4096 and 4096 x 4096 elements, a scale for 32 */
  MdlLayerQuery query = sharded (MDL_SCALING_MXFP8, FALSE);
  query.tp = 1;
  query.sp = FALSE;
  const double elements = TOKENS * (3 * 4096 + 14336) + 4096.0 * (6144 + 4096 + 3 * 14336);
  TEST_NEAR (find (&f->llm, &query, FALSE, "swizzle_scales").read_B, elements / 32, 1e-12);
}

static void
experts_are_cast_together_by_factors_of_earlier_steps (void)
{
  g_autoptr (LlmFixture) f = llm_need ("qwen3_30b_a3b");
  MdlLayerQuery query = sharded (MDL_SCALING_DELAYED, TRUE);
  query.tp = 1;
  query.sp = FALSE;
  query.ep = 8; /* 16 experts here */
  TEST_NEAR (find (&f->llm, &query, FALSE, "cast_input").kernels, 1 + 2, 0);
  query.scaling = MDL_SCALING_TENSOR; /* and behind attention's norm */
  TEST_NEAR (find (&f->llm, &query, FALSE, "cast_input").kernels, 1 + 1 + 2 * 16, 0);
}

static void
a_router_of_fused_code_multiplies_as_megatron_does (void)
{
  g_autoptr (LlmFixture) f = llm_need ("qwen3_30b_a3b");
  MdlLayerQuery query;
  mdl_layer_query_default (&query, (double)TOKENS);
  const double input = TOKENS * 2048, weight = 2048.0 * 128, logits = TOKENS * 128;
  TEST_NEAR (find (&f->llm, &query, FALSE, "router").read_B, 2 * (input + weight), 0); /* bf16 */
  TEST_NEAR (find (&f->llm, &query, TRUE, "router").read_B, 4 * (input + weight + 2 * logits), 0);
  TEST_NEAR (find (&f->llm, &query, TRUE, "cast_router").count, 2, 0);
  TEST_NEAR (find (&f->llm, &query, TRUE, "cast_router").read_B, (4 + 2) * input, 0);
  query.framework = MDL_FRAMEWORK_EAGER;
  TEST_NEAR (find (&f->llm, &query, FALSE, "router").read_B, 4 * (input + weight), 0);
  TEST_NEAR (find (&f->llm, &query, TRUE, "cast_router").count, 0, 0);
}

static void
biases_of_experts_are_added_outside (void)
{
  /* 4 of 32 experts, 2880 of width; B of an element of the experts' rows: forward a product, a sum and what joins them, backward
   * what is joined, two products and their sums; in fp32 with casts where DeepEP brings the weights */
  g_autoptr (LlmFixture) f = llm_need ("gpt_oss_20b");
  MdlLayerQuery query;
  mdl_layer_query_default (&query, (double)TOKENS);
  const double elements = TOKENS * 4 * 2880;
  query.ep = 4;
  for (int wide = 0; wide < 2; wide++) {
    query.dispatcher = wide ? MDL_DISPATCHER_HYBRIDEP : MDL_DISPATCHER_ALLTOALL;
    const Found there = find (&f->llm, &query, FALSE, "weighted_bias"), back = find (&f->llm, &query, TRUE, "weighted_bias");
    TEST_NEAR (there.read_B + there.write_B, elements * (wide ? 28 : 12), 1e-12);
    TEST_NEAR (back.read_B + back.write_B, elements * (wide ? 40 : 16), 1e-12);
    TEST_NEAR (there.kernels, wide ? 2 * 8 + 2 : 2 * 8 + 1, 0);
    TEST_NEAR (back.kernels, wide ? 5 * 8 + 2 : 4 * 8 + 1, 0);
  }
  /* gate and up, 2 B each: forward clamped and joined, backward the gradients by their masks, and joined */
  const Found there = find (&f->llm, &query, FALSE, "clamp"), back = find (&f->llm, &query, TRUE, "clamp");
  TEST_NEAR (there.read_B + there.write_B, 2 * elements * 2 * 4, 1e-12);
  TEST_NEAR (back.read_B + back.write_B, 2 * elements * 2 * 5, 1e-12);
  const MdlMemorySpec spec = { 0 };
  MdlActivationBytes kept, without;
  mdl_memory_block (&spec, &f->llm, &query, MDL_BLOCK_MOE, FALSE, &kept);
  query.experts = MDL_EXPERTS_GROUPED;
  mdl_memory_block (&spec, &f->llm, &query, MDL_BLOCK_MOE, FALSE, &without);
  TEST_NEAR (kept.kept_B - without.kept_B, 2 * elements * 2, 1e-9);
  TEST_NEAR (find (&f->llm, &query, FALSE, "clamp").count, 0, 0);
  /* grouped products take no bias: those of gate and up too are summed and joined, backward summed, and the gradients joined */
  query.dispatcher = MDL_DISPATCHER_ALLTOALL;
  const Found up = find (&f->llm, &query, FALSE, "expert_bias"), up_back = find (&f->llm, &query, TRUE, "expert_bias"),
              down = find (&f->llm, &query, FALSE, "weighted_bias"), down_back = find (&f->llm, &query, TRUE, "weighted_bias");
  TEST_NEAR (up.read_B + up.write_B, 2 * elements * 2 * 4, 1e-12);
  TEST_NEAR (up_back.read_B + up_back.write_B, 2 * elements * 2 * 3, 1e-12);
  TEST_NEAR (up.kernels, 8 + 1, 0);
  TEST_NEAR (down.read_B + down.write_B, elements * 28, 1e-12);
  TEST_NEAR (down_back.read_B + down_back.write_B, elements * 40, 1e-12);
  query.compute = MDL_FORMAT_FP8; /* cuDNN's have it inside */
  TEST_NEAR (find (&f->llm, &query, FALSE, "expert_bias").count, 0, 0);
  TEST_NEAR (find (&f->llm, &query, FALSE, "weighted_bias").count, 0, 0);
  query.experts = MDL_EXPERTS_SORTED;
  query.framework = MDL_FRAMEWORK_EAGER;
  TEST_NEAR (find (&f->llm, &query, FALSE, "weighted_bias").count, 0, 0);
  TEST_NEAR (find (&f->llm, &query, FALSE, "expert_bias").count, 0, 0);
  TEST_NEAR (find (&f->llm, &query, FALSE, "clamp").count, 0, 0);
}

static void
rows_of_experts_are_filled_up_by_copies (void)
{
  g_autoptr (LlmFixture) f = llm_need ("qwen3_30b_a3b");
  MdlLayerQuery query = sharded (MDL_SCALING_MXFP8, FALSE);
  query.tp = 1;
  query.sp = FALSE;
  query.ep = 8;
  const double rows_B = TOKENS * 8 * 2048 * 2; /* 8 experts a token */
  for (int back = 0; back < 2; back++) {
    TEST_NEAR (find (&f->llm, &query, back, "pad_rows").read_B, rows_B, 0);
    TEST_NEAR (find (&f->llm, &query, back, "unpad_rows").write_B, rows_B, 0);
  }
  MdlLayerQuery wide = query, router = query, capacity = query, library = query, grouped = query;
  wide.compute = MDL_FORMAT_BF16;
  router.router_pads = TRUE;
  capacity.capacity = 1;
  library.dispatcher = MDL_DISPATCHER_HYBRIDEP;
  grouped.experts = MDL_EXPERTS_GROUPED;
  const MdlLayerQuery none[] = { wide, router, capacity, library, grouped };
  for (size_t i = 0; i < G_N_ELEMENTS (none); i++)
    TEST_NEAR (find (&f->llm, &none[i], FALSE, "pad_rows").count, 0, 0);
}

static void
shared_experts_may_run_alone (void)
{
  g_autoptr (LlmFixture) f = llm_need ("deepseek_v3");
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 4096);
  query.ep = 64;
  query.shared_alone = TRUE;
  mdl_layer_works (&f->llm, &query, MDL_PART_MOE, 10, works, works);
  unsigned found = 0;
  for (guint i = 1; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    if (strcmp (work->name, "dispatch") == 0) {
      TEST_STR ((work - 1)->name, "shared_down");
      TEST_INT (work->coll.before, (int)i + 1);
      found++;
    }
    if (strcmp (work->name, "combine_gradient") == 0) {
      TEST_STR ((work - 1)->name, "shared_up");
      found++;
    }
  }
  TEST_INT (found, 2);
}

static void
every_second_product_is_computed_again (void)
{
  g_autoptr (LlmFixture) f = llm_need ("llama3_8b");
  MdlLayerQuery query;
  mdl_layer_query_default (&query, (double)TOKENS);
  query.framework = MDL_FRAMEWORK_EAGER;
  query.recompute = MDL_MODULE_SECOND;
  const char *const again[] = { "k", "o", "mlp_up" }, *const kept[] = { "q", "v", "mlp_down", "attention" };
  double flop = 0;
  for (size_t i = 0; i < G_N_ELEMENTS (again); i++)
    flop += find (&f->llm, &query, TRUE, again[i]).flop;
  TEST_NEAR (flop, 2 * TOKENS * 4096 * (1024 + 4096 + 14336), 1e-12); /* of gate and up, which share a name, one */
  for (size_t i = 0; i < G_N_ELEMENTS (kept); i++)
    TEST_NEAR (find (&f->llm, &query, TRUE, kept[i]).flop, 0, 0);
  /* what the layer takes, q, v, attention's result, gate and the last result; a number a head */
  const MdlMemorySpec spec = { 0 };
  MdlActivationBytes attention, mlp;
  mdl_memory_block (&spec, &f->llm, &query, MDL_BLOCK_ATTENTION, FALSE, &attention);
  mdl_memory_block (&spec, &f->llm, &query, MDL_BLOCK_MLP, FALSE, &mlp);
  TEST_NEAR (attention.kept_B + mlp.kept_B, TOKENS * (2 * (4 * 4096 + 1024 + 14336) + 4 * 32), 1e-12);
}

#define EIGHT "topology: hgx_h100, nodes: 1"

static void
second_products_need_products_to_count (void)
{
  static const struct {
    const char *workload, *but;
  } cases[] = {
    { "model: llama3_8b, framework: fused", "kernels of this framework are fused" },
    { "model: mixtral_8x7b, framework: eager", "this model has experts" },
    { "model: gpt2_small, framework: eager", "this model's layers have others" },
    { "model: llama3_8b, framework: eager, precision: {compute: fp8}", "products in fp8 are all computed again" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *workload = g_strdup_printf ("%s, recompute: {modules: [second_products]}", cases[i].workload);
    g_autofree char *text = model_refusal (EIGHT, workload);
    TEST_HAS (text, cases[i].but);
    TEST_HAS (text, "accepted: attention, mlp, activation, norm");
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "operands are gathered as they are cast", operands_are_gathered_as_they_are_cast },
    { "casts read and write by their scaling", casts_read_and_write_by_their_scaling },
    { "experts are cast together by factors of earlier steps", experts_are_cast_together_by_factors_of_earlier_steps },
    { "a router of fused code multiplies as Megatron does", a_router_of_fused_code_multiplies_as_megatron_does },
    { "biases of experts are added outside", biases_of_experts_are_added_outside },
    { "rows of experts are filled up by copies", rows_of_experts_are_filled_up_by_copies },
    { "shared experts may run alone", shared_experts_may_run_alone },
    { "every second product is computed again", every_second_product_is_computed_again },
    { "second products need products to count", second_products_need_products_to_count },
    { NULL, NULL },
  };
  return test_main ("casts of a layer", cases);
}
