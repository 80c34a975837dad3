/* The report of a training step of a model: communication by kind in closed form, and what bounds it. */
#include <math.h>

#include "model_run_fixture.h"

#define EIGHT "topology: hgx_h200, nodes: 1"

static const TrnCommUse *
use_of (const ModelRun *run, TrnCommKind kind)
{
  return &run->result->training.comm[kind];
}

static void
gradients_of_ddp_are_sent_as_a_ring_sends_them (void)
{
  /* 8 ranks, 124,439,808 parameters in fp32 once a step: 2 x 7/8 of them */
  g_auto (ModelRun) run = model_run (EIGHT, "model: gpt2_small, sequence: 1024, global_batch: 64, micro_batch: 4, framework: "
                                            "fused, clip: false, precision: {gradients: fp32}");
  const TrnCommUse *dp = use_of (&run, TRN_COMM_DP);
  TEST_NEAR (dp->sent_B, 124439808.0 * 4 * 2 * 7 / 8, 1e-9);
  TEST_STR (base_name (mdl_op_names, (int)dp->op), "all_reduce");
  TEST_TRUE (dp->exposed_s > 0 && dp->exposed_s <= dp->time_s);
  for (int k = 0; k < TRN_COMM_N; k++)
    if (k != TRN_COMM_DP)
      TEST_NEAR (use_of (&run, (TrnCommKind)k)->count, 0, 0);
}

static void
shards_are_gathered_twice_and_scattered_once (void)
{
  /* of 8 ranks: 7/8 of the layers' parameters twice in bf16 and once in fp32 for each micro-batch; embedding and head, one tied
   * table, last norm and positions once each way */
  g_auto (ModelRun) run = model_run (EIGHT, "model: gpt2_small, sequence: 1024, global_batch: 8, framework: fused, clip: false, "
                                            "fsdp: {}, precision: {reduce: fp32}");
  double layers = 12 * (12 * 768.0 * 768 + 13 * 768), all = 124439808;
  const TrnCommUse *dp = use_of (&run, TRN_COMM_DP);
  TEST_NEAR (dp->sent_B, (layers * (2 + 2 + 4) + (all - layers) * (2 + 4)) * 7 / 8, 1e-9);
}

static void
tensor_parallel_ranks_send_four_times_their_activations_a_layer (void)
{
  /* two all-reduces forward and two back of s x h bf16, of two ranks: 2 x 1/2 of it each; embedding and head have theirs */
  g_auto (ModelRun) run = model_run (EIGHT, "model: gpt2_small, sequence: 1024, global_batch: 4, framework: fused, clip: false, "
                                            "parallel: {tp: 2}");
  g_auto (ModelRun) large = model_run (EIGHT, "model: gpt2_medium, sequence: 1024, global_batch: 4, framework: fused, clip: false, "
                                              "parallel: {tp: 2}");
  const TrnCommUse *tp = use_of (&run, TRN_COMM_TP), *more = use_of (&large, TRN_COMM_TP);
  double layers_B = 12 * 4 * 1024.0 * 768 * 2, larger_B = 24 * 4 * 1024.0 * 1024 * 2;
  TEST_TRUE (tp->sent_B > layers_B && tp->sent_B < layers_B + 4 * 1024 * 768 * 4.0);
  TEST_TRUE (more->sent_B > larger_B && more->sent_B < larger_B + 4 * 1024 * 1024 * 4.0);
}

static void
a_rank_sends_a_boundary_for_each_micro_batch (void)
{
  /* stage 0 of two: 8 activations of s x h bf16 forward; it gets as many gradients */
  g_auto (ModelRun) run = model_run (EIGHT, "model: gpt2_small, sequence: 1024, global_batch: 32, framework: fused, clip: false, "
                                            "parallel: {pp: 2}");
  TEST_INT (run.result->training.stage, 0);
  TEST_NEAR (use_of (&run, TRN_COMM_PP)->sent_B, 8 * 1024.0 * 768 * 2, 1e-9);
  TEST_NEAR (use_of (&run, TRN_COMM_PP)->count, 16, 0);
}

static void
what_is_waited_for_never_lasts_longer_than_it_runs (void)
{
  static const char *const workloads[] = {
    "model: gpt2_small, sequence: 1024, global_batch: 16, framework: fused, parallel: {tp: 2, pp: 2}",
    "model: gpt2_small, sequence: 1024, global_batch: 16, framework: fused, parallel: {tp: 2, pp: 4, sp: true}, overlap: {tp: on}",
    "model: gpt2_small, sequence: 4096, global_batch: 4, framework: fused, parallel: {cp: 4, pp: 2}",
    "model: mixtral_8x7b, sequence: 1024, global_batch: 8, framework: fused, parallel: {ep: 4, pp: 2}",
  };
  for (guint i = 0; i < G_N_ELEMENTS (workloads); i++) {
    g_auto (ModelRun) run = model_run (EIGHT, workloads[i]);
    for (int k = 0; k < TRN_COMM_N; k++)
      if (k != TRN_COMM_DP)
        TEST_TRUE (use_of (&run, (TrnCommKind)k)->exposed_s <= use_of (&run, (TrnCommKind)k)->time_s * (1 + 1e-9));
    const TrnResult *t = &run.result->training;
    double sum_s = 0, work_s = t->part_s[TRN_PART_COMPUTE] + t->part_s[TRN_PART_OPTIMIZER];
    for (int p = 0; p < TRN_PART_N; p++)
      sum_s += t->part_s[p];
    TEST_NEAR (sum_s, t->step_time_s, 1e-9);
    TEST_NEAR (t->math_s + t->memory_s + t->start_s, work_s, 1e-9);
  }
}

/* Each is far from the next, so that better constants do not move it. */
static void
a_step_is_bound_by_what_took_most_of_it (void)
{
  static const struct {
    const char *bound_by, *cluster, *workload, *more;
  } rows[] = {
    /* long sequences of a large model in few ranks: matrix products */
    { "compute", EIGHT, "model: llama3_8b, sequence: 8192, global_batch: 16, framework: fused, parallel: {tp: 1}, fsdp: {}", "" },
    /* 128 tokens a step: weights and what the optimizer reads and writes of 8 billion parameters */
    { "memory_bandwidth", "topology: hgx_h200, nodes: 1, gpus_per_node: 1",
      "model: llama3_8b, sequence: 128, global_batch: 1, framework: fused", "" },
    /* 8 stages, one micro-batch: 7/8 wait */
    { "bubble", EIGHT, "model: llama3_8b, sequence: 4096, global_batch: 1, framework: fused, parallel: {pp: 8}, schedule: gpipe",
      "" },
    /* one of eight takes four times as long */
    { "straggler", EIGHT,
      "model: llama3_8b, sequence: 4096, global_batch: 16, framework: fused, fsdp: {}, stragglers: [{rank: 3, slowdown: 4}]", "" },
    /* 8 billion gradients over two adapters of 400 Gb/s for 128 tokens */
    { "ib_ndr", "topology: hgx_h200, nodes: 4, gpus_per_node: 1",
      "model: llama3_8b, sequence: 128, global_batch: 4, framework: fused", "" },
    /* all-reduces of a few kB between small products */
    { "latency", EIGHT, "model: gpt2_small, sequence: 16, global_batch: 32, framework: fused, parallel: {tp: 4}", "" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (ModelRun) run = model_run_with (rows[i].cluster, rows[i].workload, rows[i].more, FALSE);
    TEST_STR (run.result->training.bound_by, rows[i].bound_by);
  }
}

static void
terms_sum_to_the_compute_of_a_rank_alone (void)
{
  /* one GPU, two micro-batches, nothing beside: the terms are the step, and their FLOP those that hfu counts */
  g_auto (ModelRun) run = { 0 };
  const ScnOptions options = { .want_terms = TRUE };
  g_autoptr (GError) error = NULL;
  TEST_TRUE (model_try ("topology: hgx_h200, nodes: 1, gpus_per_node: 1",
                        "model: gpt2_medium, sequence: 1024, global_batch: 8, micro_batch: 4, framework: fused, recompute: full",
                        "", &options, FALSE, &run, &error));
  const TrnResult *t = &run.result->training;
  double time_s = 0, flop = 0, recompute_s = 0, norms = 0;
  for (guint i = 0; i < t->terms->len; i++) {
    const TrnStepTerm *term = &g_array_index (t->terms, TrnStepTerm, i);
    time_s += term->time_s * term->count;
    /* attention in full, backward twice the forward */
    double all = term->heads > 0 ? 2.0 / (g_str_equal (term->pass, "dgrad") ? 1.25 : 1) : 1;
    flop += all * term->flop * term->count;
    recompute_s += g_str_equal (term->pass, "recompute") ? term->time_s * term->count : 0;
    TEST_TRUE (term->n_ranks == 0 && term->source < BASE_SOURCE_N && term->bound != NULL);
    if (g_str_equal (term->part, "layer") && !g_str_equal (term->name, "norm"))
      TEST_NEAR (term->count, 24 * 2, 0);
    if (g_str_equal (term->part, "layer") && g_str_equal (term->name, "norm"))
      norms += term->count;
    if (term->m > 0 && term->heads <= 0)
      TEST_NEAR (term->flop, 2 * term->m * term->n * term->k * fmax (term->batch, 1), 1e-9);
  }
  TEST_NEAR (norms, 24 * 2 * 6, 0); /* forward, again, backward: twice each; the first layer's first adds nothing */
  TEST_NEAR (time_s, t->step_time_s, 1e-6);
  TEST_NEAR (recompute_s, t->recompute_s, 1e-6);
  TEST_NEAR (flop, t->hfu * t->step_time_s * 989e12, 1e-3);
}

static void
hfu_is_mfu_with_what_is_computed_again (void)
{
  static const char *const models[] = { "llama3_8b", "gpt2_xl" };
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    g_autofree char *once = g_strdup_printf ("model: %s, sequence: 1024, global_batch: 8, framework: fused", models[i]),
                    *again = g_strconcat (once, ", recompute: full", NULL);
    g_auto (ModelRun) kept = model_run (EIGHT, once), full = model_run (EIGHT, again);
    TEST_NEAR (kept.result->training.hfu, kept.result->training.mfu, 1e-9);
    /* four passes in place of three, but for the head */
    const double more = full.result->training.hfu / full.result->training.mfu;
    TEST_TRUE (more > 1.25 && more < 4.0 / 3);
  }
}

static void
terms_of_a_layer_have_its_collectives (void)
{
  g_auto (ModelRun) run = { 0 };
  const ScnOptions options = { .want_terms = TRUE };
  TEST_TRUE (model_try (EIGHT,
                        "model: gpt2_small, sequence: 1024, global_batch: 4, framework: fused, clip: false, parallel: {tp: 2}", "",
                        &options, FALSE, &run, NULL));
  const GArray *terms = run.result->training.terms;
  double sent_B = 0;
  for (guint i = 0; i < terms->len; i++) {
    const TrnStepTerm *term = &g_array_index (terms, TrnStepTerm, i);
    if (term->n_ranks > 0)
      sent_B += term->bytes_B * mdl_op_busbw_factor (term->op, term->n_ranks) * term->count;
  }
  TEST_NEAR (sent_B, use_of (&run, TRN_COMM_TP)->sent_B, 1e-9);
}

static const TrnStageUse *
stage_of (const ModelRun *run, guint s)
{
  return &g_array_index (run->result->training.stages, TrnStageUse, s);
}

/* 12 layers in 4 stages: 2, 2, 6 and 2; the third sets the pace. The parts of each add up to the step. */
static void
the_stage_that_sets_the_pace_is_found (void)
{
  g_auto (ModelRun) run = model_run (EIGHT, "model: gpt2_small, sequence: 1024, global_batch: 32, framework: fused, clip: false, "
                                            "parallel: {pp: 4}, pipeline: {layout: [2, 2, 6, 2]}");
  const TrnResult *step = &run.result->training;
  TEST_INT (step->stages->len, 4);
  for (guint s = 0; s < 4; s++) {
    double sum_s = 0;
    for (int part = 0; part < TRN_PART_N; part++)
      sum_s += stage_of (&run, s)->part_s[part];
    TEST_NEAR (sum_s, step->step_time_s, 1e-9);
    TEST_INT (stage_of (&run, s)->stage, s);
    TEST_INT (stage_of (&run, s)->binds, s == 2);
    const TrnMemory *memory = &g_array_index (step->memory, TrnMemory, s);
    TEST_NEAR (stage_of (&run, s)->memory_B, memory->total_B, 0);
  }
  TEST_TRUE (stage_of (&run, 2)->work_s > 2.5 * stage_of (&run, 1)->work_s);
  TEST_TRUE (stage_of (&run, 2)->part_s[TRN_PART_BUBBLE] < 0.5 * stage_of (&run, 0)->part_s[TRN_PART_BUBBLE]);
  for (int part = 0; part < TRN_PART_N; part++)
    TEST_NEAR (stage_of (&run, step->stage)->part_s[part], step->part_s[part], 0);
}

/* Layers of given times in equal stages: all set the pace. */
static void
equal_stages_are_a_tie (void)
{
  g_auto (ModelRun) run = model_run (EIGHT, "layers: [{name: a, count: 8, forward: 1 ms, backward: 2 ms, gradient: 1 MB, "
                                            "activation: 1 MB}], micro_batches: 8, parallel: {pp: 4}, schedule: 1f1b");
  for (guint s = 0; s < 4; s++)
    TEST_INT (stage_of (&run, s)->binds, TRUE);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "gradients of DDP are sent as a ring sends them", gradients_of_ddp_are_sent_as_a_ring_sends_them },
    { "shards are gathered twice and scattered once", shards_are_gathered_twice_and_scattered_once },
    { "tensor-parallel ranks send four times their activations a layer",
      tensor_parallel_ranks_send_four_times_their_activations_a_layer },
    { "a rank sends a boundary for each micro-batch", a_rank_sends_a_boundary_for_each_micro_batch },
    { "what is waited for never lasts longer than it runs", what_is_waited_for_never_lasts_longer_than_it_runs },
    { "terms sum to the compute of a rank alone", terms_sum_to_the_compute_of_a_rank_alone },
    { "hfu is mfu with what is computed again", hfu_is_mfu_with_what_is_computed_again },
    { "terms of a layer have its collectives", terms_of_a_layer_have_its_collectives },
    { "a step is bound by what took most of it", a_step_is_bound_by_what_took_most_of_it },
    { "the stage that sets the pace is found", the_stage_that_sets_the_pace_is_found },
    { "equal stages are a tie", equal_stages_are_a_tie },
    { NULL, NULL },
  };
  return test_main ("report of a model's step", cases);
}
