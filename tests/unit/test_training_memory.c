/* Memory of the ranks of a step, by hand. */
#include "memory_fixture.h"

#define P            8030261248.0      /* parameters of llama3_8b */
#define LAYER        218112000.0       /* of one of its 32 layers */
#define TABLE        (128256.0 * 4096) /* of its embedding, and of its head */
#define NUMBER(text) text ", sequence: 4096, micro_batch: 1, "
#define LLAMA        NUMBER ("model: llama3_8b")

static double
states_B (const TrnMemory *m)
{
  return m->weights_B + m->gradients_B + m->optimizer_B;
}

static void
terms_add_up (const MemoryFixture *f)
{
  for (guint s = 0; s < f->stages->len; s++) {
    const TrnMemory *m = memory_stage (f, s);
    TEST_NEAR (m->weights_B + m->gradients_B + m->optimizer_B + m->activations_B + m->buffers_B + m->other_B, m->total_B, 1e-12);
    TEST_TRUE (m->allocated_B < m->reserved_B && m->reserved_B < m->total_B);
    TEST_INT (m->stage, s);
  }
}

static void
states_of_llama_3_8b_take_18_B_a_parameter (void)
{
  /* bf16 weights, fp32 gradients, masters and two moments: 144.5 GB of 150.1 GB, and then the activations */
  g_autoptr (MemoryFixture) f = memory_of (1, 1, LLAMA "global_batch: 1, precision: {gradients: fp32}, framework: fused");
  const TrnMemory *m = memory_stage (f, 0);
  TEST_NEAR (states_B (m), 18 * P, 1e-12);
  TEST_NEAR (m->weights_B, 2 * P, 1e-12);
  TEST_NEAR (m->gradients_B, 4 * P, 1e-12);
  TEST_FALSE (m->fits);
  TEST_NEAR (m->capacity_B, 150109880320.0, 1e-4);
  double bytes;
  TEST_STR (trn_memory_largest (m, &bytes), "optimizer");
  TEST_NEAR (bytes, 12 * P, 1e-12);
  terms_add_up (f);
}

static void
zero_shards_what_its_paper_says (void)
{
  /* Rajbhandari et al. 5: with N ranks 4 + 12 / N, 2 + 14 / N, 16 / N B in 16 bits; fp32 gradients 2 more of these */
  static const char *const keys = LLAMA "global_batch: 8, framework: fused, parallel: {zero: %d}, "
                                        "precision: {parameters: bf16, gradients: %s, reduce: bf16, master: fp32, optimizer: fp32}";
  static const double halves[] = { 16, 4 + 12.0 / 8, 2 + 14.0 / 8, 16.0 / 8 };
  static const double wides[] = { 18, 6 + 12.0 / 8, 2 + 16.0 / 8 };
  for (int zero = 0; zero <= 3; zero++) {
    g_autofree char *half = g_strdup_printf (keys, zero, "bf16"), *wide = g_strdup_printf (keys, zero, "fp32");
    g_autoptr (MemoryFixture) f = memory_of (1, 8, half);
    const TrnMemory *m = memory_stage (f, 0);
    /* of shards gradients come: at the fullest moment they need not all be there */
    double gradients_B = zero == 3 ? 2 * P / 8 - m->gradients_B : 0;
    TEST_NEAR (states_B (m) + gradients_B, halves[zero] * P, 1e-12);
    terms_add_up (f);
    if (zero == 3)
      continue;
    g_autoptr (MemoryFixture) g = memory_of (1, 8, wide);
    TEST_NEAR (states_B (memory_stage (g, 0)), wides[zero] * P, 1e-12);
  }
}

static void
fsdp_gathers_its_root_and_a_layer_ahead_of_the_loss (void)
{
  /* fp32 shards and moments 12 B / 8; at the loss: 32 layers kept, 12 B a logit, embedding, head and norm gathered, one layer */
  g_autoptr (MemoryFixture) f = memory_of (1, 8, LLAMA "global_batch: 8, framework: eager, fsdp: {}");
  const TrnMemory *m = memory_stage (f, 0);
  const double token_B = 32 * (2.0 * 83968 + 4 * 32) + 4 * 4096 + 12.0 * 128256;
  TEST_NEAR (states_B (m), 12 * P / 8, 1e-12);
  TEST_NEAR (m->activations_B, 4096 * token_B, 1e-12);
  TEST_NEAR (m->allocated_B - states_B (m) - m->activations_B, 2 * (2 * TABLE + 4096 + LAYER) + 0x1p26, 1e-12);
  /* all layers where they are not freed */
  g_autoptr (MemoryFixture) kept = memory_of (1, 8, LLAMA "global_batch: 8, framework: eager, fsdp: {reshard: false}");
  TEST_NEAR (memory_stage (kept, 0)->allocated_B - m->allocated_B, 2 * 31 * LAYER, 1e-12);
  /* a second micro-batch finds gradients there */
  g_autoptr (MemoryFixture) again = memory_of (1, 8, LLAMA "global_batch: 16, framework: eager, fsdp: {}");
  TEST_NEAR (memory_stage (again, 0)->allocated_B - m->allocated_B, 4 * P / 8, 1e-12);
}

static void
eager_gradients_come_with_the_backward_pass (void)
{
  static const char *const bf16 = LLAMA "framework: eager, precision: {gradients: bf16}, ";
  g_autofree char *one = g_strconcat (bf16, "accumulate: 1", NULL), *two = g_strconcat (bf16, "accumulate: 2", NULL);
  g_autoptr (MemoryFixture) alone = memory_of (1, 1, one), accumulated = memory_of (1, 1, two), ddp = memory_of (1, 2, one),
                            both = memory_of (1, 2, two);
  TEST_NEAR (memory_stage (alone, 0)->gradients_B, 0, 0); /* fullest at the loss, before the first gradient */
  TEST_NEAR (memory_stage (accumulated, 0)->gradients_B, 2 * P, 1e-12);
  TEST_NEAR (memory_stage (ddp, 0)->gradients_B, 2 * P, 1e-12); /* buckets */
  /* those of micro-batches that are not reduced lie beside the buckets */
  TEST_NEAR (memory_stage (both, 0)->allocated_B - memory_stage (ddp, 0)->allocated_B, 2 * P, 1e-12);
}

static void
a_small_batch_is_fullest_when_all_gradients_are_there (void)
{
  /* 64 tokens: activations are next to nothing beside 16 GB of gradients */
  g_autoptr (MemoryFixture) f = memory_of (
      1, 1, "model: llama3_8b, sequence: 64, micro_batch: 1, accumulate: 1, framework: eager, precision: {gradients: bf16}");
  const TrnMemory *m = memory_stage (f, 0);
  TEST_NEAR (m->gradients_B, 2 * P, 1e-12);
  TEST_TRUE (m->activations_B < 1e-3 * m->gradients_B);
}

/* pp 4 of 8 GPUs, 32 layers, fused; tp 2. */
#define PIPELINE LLAMA "framework: fused, precision: {gradients: fp32}, "

static double
kept_of (const MemoryFixture *f, guint stage)
{
  return memory_stage (f, stage)->activations_B;
}

static void
stages_keep_micro_batches_by_the_schedule (void)
{
  /* 1f1b: stage i keeps p - i; gpipe all m; a token of a layer: 69632 elements of 2 B and 32 sums */
  const double layer_B = 4096 * (2.0 * 69632 + 128), stage_B = 8 * layer_B;
  g_autoptr (MemoryFixture) f = memory_of (1, 4, PIPELINE "parallel: {pp: 4, dp: 1}, global_batch: 8, schedule: 1f1b");
  g_autoptr (MemoryFixture) all = memory_of (1, 4, PIPELINE "parallel: {pp: 4, dp: 1}, global_batch: 8, schedule: gpipe");
  for (guint s = 0; s < 4; s++) {
    TEST_NEAR (memory_stage (f, s)->in_flight, 4 - s, 0);
    TEST_NEAR (memory_stage (all, s)->in_flight, 8, 0);
  }
  for (guint s = 0; s < 2; s++) {
    TEST_NEAR (kept_of (f, s) - kept_of (f, s + 1), stage_B, 1e-9);
    TEST_NEAR (kept_of (all, s) - kept_of (f, s), (4 + s) * stage_B, 1e-9);
  }
  TEST_INT (memory_stage (f, 3)->rank, 3);
  TEST_NEAR (memory_stage (f, 1)->weights_B, 2 * 8 * LAYER, 1e-12);
  TEST_NEAR (memory_stage (f, 0)->weights_B, 2 * (8 * LAYER + TABLE), 1e-12);
  TEST_NEAR (memory_stage (f, 3)->weights_B, 2 * (8 * LAYER + TABLE + 4096), 1e-12);
  terms_add_up (f);
  TEST_TRUE (trn_memory_fullest (f->stages) == memory_stage (f, 0));
}

static void
interleaving_keeps_p_v_and_p_less_1_chunks (void)
{
  /* rank 0: p v + p - 1 chunks, each next one two less; of a chunk of 4 layers */
  g_autoptr (MemoryFixture) f =
      memory_of (1, 4, PIPELINE "parallel: {pp: 4, vp: 2, dp: 1}, global_batch: 8, schedule: interleaved");
  const double chunk_B = 4 * 4096 * (2.0 * 69632 + 128);
  for (guint s = 0; s < 4; s++)
    TEST_NEAR (memory_stage (f, s)->in_flight, 4 * 2 + 4 - 1 - 2 * s, 0);
  TEST_NEAR (kept_of (f, 0) - kept_of (f, 1), 2 * chunk_B, 1e-9);
  TEST_NEAR (kept_of (f, 1) - kept_of (f, 2), 2 * chunk_B, 1e-9);
  g_autoptr (MemoryFixture) plain = memory_of (1, 4, PIPELINE "parallel: {pp: 4, dp: 1}, global_batch: 8, schedule: 1f1b");
  TEST_NEAR (kept_of (f, 0) - kept_of (plain, 0), (11 - 8) * chunk_B, 1e-9); /* 4 micro-batches of 2 chunks */
}

static void
schedules_that_put_gradients_off_hold_what_they_need (void)
{
  /* zb_h1's last rank lags behind by its put-off gradients: more than 1f1b, and less than all of gpipe */
  g_autoptr (MemoryFixture) zb = memory_of (1, 4, PIPELINE "parallel: {pp: 4, dp: 1}, global_batch: 8, schedule: zb_h1");
  g_autoptr (MemoryFixture) plain = memory_of (1, 4, PIPELINE "parallel: {pp: 4, dp: 1}, global_batch: 8, schedule: 1f1b");
  g_autoptr (MemoryFixture) all = memory_of (1, 4, PIPELINE "parallel: {pp: 4, dp: 1}, global_batch: 8, schedule: gpipe");
  for (guint s = 1; s < 4; s++) {
    TEST_TRUE (kept_of (zb, s) > kept_of (plain, s));
    TEST_TRUE (kept_of (zb, s) < kept_of (all, s));
  }
  terms_add_up (zb);
}

static void
a_head_far_from_the_table_it_shares_has_a_copy (void)
{
  g_autoptr (MemoryFixture) one = memory_of (1, 1, NUMBER ("model: llama32_1b") "accumulate: 1, framework: fused");
  g_autoptr (MemoryFixture) two =
      memory_of (1, 2, NUMBER ("model: llama32_1b") "accumulate: 2, framework: fused, parallel: {pp: 2, dp: 1}");
  TEST_NEAR (memory_stage (two, 0)->weights_B + memory_stage (two, 1)->weights_B - memory_stage (one, 0)->weights_B,
             2 * 128256.0 * 2048, 1e-12);
}

static void
experts_without_replicas_have_no_buckets (void)
{
  /* ep 8: 8 experts on 8 ranks; their gradients come, the others' lie in buckets */
  g_autoptr (MemoryFixture) f = memory_of (
      1, 8, NUMBER ("model: mixtral_8x7b") "accumulate: 1, framework: eager, precision: {gradients: bf16}, parallel: {ep: 8}");
  const MdlLlmCount *count = &f->model.count;
  const double experts = 32 * 3 * 4096.0 * 14336, rest = count->total - 8 * experts;
  TEST_NEAR (memory_stage (f, 0)->weights_B, 2 * (rest + experts), 1e-12);
  TEST_NEAR (memory_stage (f, 0)->gradients_B, 2 * rest, 1e-12); /* fullest at the loss */
}

static void
adapters_alone_have_states (void)
{
  g_autoptr (MemoryFixture) f =
      memory_of (1, 1, LLAMA "accumulate: 1, framework: fused, precision: {gradients: fp32}, lora: {rank: 16}");
  /* a layer: q and o 16 x 8192, k and v 16 x 5120 */
  const double adapters = 32 * 16 * 2 * (8192.0 + 5120);
  TEST_NEAR (memory_stage (f, 0)->weights_B, 2 * (P + adapters), 1e-12);
  TEST_NEAR (memory_stage (f, 0)->gradients_B + memory_stage (f, 0)->optimizer_B, 16 * adapters, 1e-12);
}

static void
narrow_products_keep_copies_of_weights (void)
{
  g_autoptr (MemoryFixture) wide = memory_of (1, 8, LLAMA "accumulate: 1, framework: fused");
  g_autoptr (MemoryFixture) narrow = memory_of (1, 8, LLAMA "accumulate: 1, framework: fused, precision: {compute: fp8}");
  TEST_NEAR (memory_stage (narrow, 0)->weights_B - memory_stage (wide, 0)->weights_B, 2 * 32 * LAYER, 1e-12);
  TEST_TRUE (memory_stage (narrow, 0)->activations_B < memory_stage (wide, 0)->activations_B);
}

static void
advice_is_the_smallest_change_that_fits (void)
{
  /* 8 ranks with 18 B a parameter and 71 GB of activations: ZeRO 1 takes 84 GB off */
  g_autoptr (MemoryFixture) f = memory_of (1, 8, LLAMA "accumulate: 1, framework: fused, precision: {gradients: fp32}");
  TEST_FALSE (memory_stage (f, 0)->fits);
  g_autofree char *text = trn_memory_advice (&f->model);
  TEST_HAS (text, "it fits with parallel.zero 1: ");
  g_autoptr (MemoryFixture) told =
      memory_of (1, 8, LLAMA "accumulate: 1, framework: fused, precision: {gradients: fp32}, parallel: {zero: 1}");
  TEST_TRUE (memory_stage (told, 0)->fits);
  /* activations alone: half the micro-batch, twice as many */
  g_autoptr (MemoryFixture) wide =
      memory_of (1, 1, "model: llama32_1b, sequence: 8192, micro_batch: 8, global_batch: 8, framework: eager");
  g_autofree char *halve = trn_memory_advice (&wide->model);
  TEST_HAS (halve, "it fits with micro_batch 4 instead of 8: ");
  /* long sequences: more context parallelism, as tp 8 is all of a node already */
  g_autoptr (MemoryFixture) length =
      memory_of (2, 8,
                 "model: llama3_8b, sequence: 1048576, micro_batch: 1, global_batch: 2, framework: fused, recompute: full, "
                 "parallel: {tp: 8, sp: true, zero: 3}");
  g_autofree char *cut = trn_memory_advice (&length->model);
  TEST_FALSE (memory_stage (length, 0)->fits);
  TEST_HAS (cut, "it fits with parallel.cp 2 instead of 1: ");
  /* experts are cut by ep where all else is cut already */
  g_autoptr (MemoryFixture) experts = memory_of (16, 8,
                                                 "model: deepseek_v3, sequence: 4096, micro_batch: 1, accumulate: 1, "
                                                 "framework: fused, recompute: full, parallel: {zero: 3}");
  g_autofree char *spread = trn_memory_advice (&experts->model);
  TEST_FALSE (memory_stage (experts, 0)->fits);
  TEST_HAS (spread, "it fits with parallel.ep 2 instead of 1: ");
  /* tp is all of a node, and all states are shared out: stages halve what a rank gathers, which is too little to say */
  g_autoptr (MemoryFixture) flat = memory_of (2, 8,
                                              "model: llama31_405b, sequence: 4096, micro_batch: 1, global_batch: 16, "
                                              "framework: fused, recompute: full, parallel: {tp: 8, sp: true, zero: 3}");
  g_autofree char *stages = trn_memory_advice (&flat->model);
  TEST_FALSE (memory_stage (flat, 0)->fits);
  TEST_HAS (stages, "and none saves 6 %");
  /* nothing helps a model that is a hundred times too large */
  g_autoptr (MemoryFixture) huge = memory_of (1, 1, NUMBER ("model: llama31_405b") "accumulate: 1, framework: fused");
  g_autofree char *none = trn_memory_advice (&huge->model);
  TEST_HAS (none, "no recompute, micro_batch, zero, tp, cp and pp make it fit; the least is ");
  TEST_HAS (none, "recompute full");
}

static void
advice_leaves_the_scenario_as_it_was (void)
{
  g_autoptr (MemoryFixture) f = memory_of (1, 8, LLAMA "accumulate: 1, framework: fused, precision: {gradients: fp32}");
  const double total_B = memory_stage (f, 0)->total_B;
  g_autofree char *text = trn_memory_advice (&f->model);
  TEST_HAS (text, "it fits with ");
  g_array_set_size (f->stages, 0);
  trn_model_memory (&f->model, f->stages);
  TEST_NEAR (memory_stage (f, 0)->total_B, total_B, 0);
}

static void
each_of_several_jobs_has_its_own (void)
{
  static const char *const text =
      "scenario: s\n"
      "cluster: {topology: hgx_h200, nodes: 2}\n"
      "jobs:\n"
      "  - {nodes: 0, workload: {kind: training, " LLAMA "global_batch: 8, parallel: {zero: 1}}}\n"
      "  - {nodes: 1, workload: {kind: training, " LLAMA "global_batch: 8, precision: {gradients: fp32}, framework: fused}}\n";
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  const ScnOptions options = { 0 };
  Cst *cal = NULL;
  Scn *scenario = scn_load (SCENARIO_NAME, text, lookup, &options, model_library, &cal, &error);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  g_assert_no_error (error);
  const ScnJobResult *first = result->jobs->pdata[0], *second = result->jobs->pdata[1];
  TEST_TRUE (first->alone->training.fullest.fits);
  TEST_FALSE (second->alone->training.fullest.fits);
  TEST_HAS (second->alone->training.memory_advice, "it fits with parallel.zero 1");
  scn_result_free (result);
  scn_free (scenario);
  cst_free (cal);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "states of Llama 3 8B take 18 B a parameter", states_of_llama_3_8b_take_18_B_a_parameter },
    { "ZeRO shards what its paper says", zero_shards_what_its_paper_says },
    { "FSDP gathers its root, and a layer ahead of the loss", fsdp_gathers_its_root_and_a_layer_ahead_of_the_loss },
    { "eager gradients come with the backward pass", eager_gradients_come_with_the_backward_pass },
    { "a small batch is fullest when all gradients are there", a_small_batch_is_fullest_when_all_gradients_are_there },
    { "stages keep micro-batches by the schedule", stages_keep_micro_batches_by_the_schedule },
    { "interleaving keeps p v + p - 1 chunks", interleaving_keeps_p_v_and_p_less_1_chunks },
    { "schedules that put gradients off hold what they need", schedules_that_put_gradients_off_hold_what_they_need },
    { "a head far from the table it shares has a copy", a_head_far_from_the_table_it_shares_has_a_copy },
    { "experts without replicas have no buckets", experts_without_replicas_have_no_buckets },
    { "adapters alone have states", adapters_alone_have_states },
    { "narrow products keep copies of weights", narrow_products_keep_copies_of_weights },
    { "advice is the smallest change that fits", advice_is_the_smallest_change_that_fits },
    { "advice leaves the scenario as it was", advice_leaves_the_scenario_as_it_was },
    { "each of several jobs has its own", each_of_several_jobs_has_its_own },
    { NULL, NULL },
  };
  return test_main ("workload: memory", cases);
}
