/* Steps in closed form with local steps, compressed gradients, and passes beside each other, against the engine's. */
#include <math.h>

#include "closed-private.h"
#include "model_run_fixture.h"

/* The closed form of the workload's own cut over the engine's answer. */
static double
closed_over_engine (const char *cluster, const char *work, ModelRun *run, TrnClosedStep *step)
{
  g_autoptr (GError) error = NULL;
  TrnClosedQuery query;
  if (!model_try (cluster, work, "", NULL, FALSE, run, &error))
    g_error ("%s: %s", work, error->message);
  g_autoptr (TrnClosed) closed = trn_closed_new (scn_training (run->scenario), &error);
  if (closed == NULL || !trn_closed_own (closed, &query, &error) || !trn_closed_step (closed, &query, step, &error))
    g_error ("%s: %s", work, error->message);
  double sum_s = 0;
  for (int p = 0; p < TRN_PART_N; p++)
    sum_s += step->part_s[p];
  TEST_NEAR (sum_s, step->step_time_s, 1e-9);
  TEST_TRUE (step->step_time_lo_s <= step->step_time_s && step->step_time_s <= step->step_time_hi_s);
  TEST_NEAR (step->memory_B / run->result->training.fullest.total_B, 1, 1e-6);
  return step->step_time_s / run->result->training.step_time_s;
}

static void
expect (const char *cluster, const char *work, double tolerance)
{
  g_auto (ModelRun) run = { 0 };
  TrnClosedStep step;
  const double ratio = closed_over_engine (cluster, work, &run, &step);
  printf ("%+6.2f %%  %s\n", 100 * (ratio - 1), work);
  TEST_NEAR (ratio, 1, tolerance);
}

#define LLAMA                                                                                                            \
  "model: llama3_8b, sequence: 4096, micro_batch: 1, software: {name: default}, precision: {compute: bf16, gradients: " \
  "fp32}, "

/* ---- local steps ---- */

static void
rounds_of_local_steps_are_those_of_the_engine (void)
{
  static const char *const steps[] = {
    LLAMA "global_batch: 64, parallel: {zero: 1}, local_steps: {workers: 2, every: 10, format: bf16}",
    LLAMA "global_batch: 64, parallel: {zero: 0}, local_steps: {workers: 2, every: 10}",
    LLAMA "global_batch: 32, fsdp: {}, local_steps: {workers: 4, every: 5, format: int8}",
    LLAMA "global_batch: 64, parallel: {tp: 2, sp: true, zero: 1}, local_steps: {workers: 2, every: 20, fragments: 4, overlap: 1}",
    LLAMA "global_batch: 32, parallel: {tp: 4, pp: 2, sp: true, zero: 1}, placement: [tp, cp, pp, dp], local_steps: {workers: 2, "
          "every: 10}",
  };
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    expect ("topology: hgx_h100, nodes: 4", steps[i], 0.025); /* as steps without them */
}

/* An exchange that nothing hides takes as much in both. */
static void
what_a_round_adds_is_equal (void)
{
  static const char work[] = LLAMA "global_batch: 64, parallel: {zero: 1}, local_steps: {workers: 2, every: 1, format: fp32}";
  g_auto (ModelRun) run = { 0 };
  TrnClosedStep step;
  closed_over_engine ("topology: hgx_h100, nodes: 4", work, &run, &step);
  const TrnLocalResult *local = &run.result->training.local;
  TEST_NEAR (step.part_s[TRN_PART_EXPOSED_DP] - local->exchange_s,
             run.result->training.part_s[TRN_PART_EXPOSED_DP] - local->exchange_s, 0.02);
  TEST_TRUE (local->exchange_s > 0.5 * step.part_s[TRN_PART_EXPOSED_DP]);
}

static void
workers_that_do_not_divide_a_cut_are_refused (void)
{
  g_auto (ModelRun) run = { 0 };
  g_autoptr (GError) error = NULL;
  TrnClosedQuery query;
  TrnClosedStep step;
  TEST_TRUE (model_try ("topology: hgx_h100, nodes: 4",
                        LLAMA "global_batch: 64, parallel: {zero: 1}, local_steps: {workers: 8, every: 10}", "", NULL, FALSE, &run,
                        NULL));
  g_autoptr (TrnClosed) closed = trn_closed_new (scn_training (run.scenario), NULL);
  TEST_TRUE (trn_closed_own (closed, &query, NULL));
  query.tp = 8;
  query.dp = 4;
  TEST_TRUE (!trn_closed_step (closed, &query, &step, &error));
  TEST_TRUE (strstr (error->message, "8 workers do not divide dp 4; use a divisor of it") != NULL);
}

/* ---- compression ---- */

static void
compressed_gradients_take_what_they_do_on_the_engine (void)
{
  static const char *const kinds[] = { "bf16", "fp16", "int8", "{kind: powersgd, rank: 4}", "{kind: powersgd, rank: 64}" };
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree char *ddp = g_strdup_printf (LLAMA "global_batch: 64, parallel: {zero: 0}, recompute: full, compress: %s", kinds[i]);
    g_autofree char *cut = g_strdup_printf (
        LLAMA "global_batch: 32, parallel: {tp: 2, pp: 2, sp: true, zero: 0}, recompute: full, compress: %s", kinds[i]);
    expect ("topology: hgx_h100, nodes: 4", ddp, 0.02);
    expect ("topology: hgx_h100, nodes: 4", cut, 0.02);
  }
}

/* ---- passes beside each other ---- */

#define EXPERTS                                                                                                                 \
  "model: {llm: wide_moe, layers: 16, hidden: 4096, vocabulary: 32000, attention: {kind: gqa, heads: 32, kv_heads: 8}, mlp: "   \
  "{kind: swiglu, ffn: 8192}, moe: {experts: 64, top_k: 6, ffn: 1536}, positions: rope, norm: rmsnorm}, sequence: 4096, "       \
  "micro_batch: 1, software: {name: default}, precision: {compute: bf16, gradients: fp32}, moe: {shared_overlap: false}, "

static void
passes_beside_each_other_take_what_they_do_on_the_engine (void)
{
  static const char *const overlaps[] = { "{ep: true}", "{ep: true, delay_wgrad: true}" };
  for (guint i = 0; i < G_N_ELEMENTS (overlaps); i++) {
    g_autofree char *one = g_strdup_printf (EXPERTS "global_batch: 512, parallel: {ep: 32, zero: 1}, overlap: %s", overlaps[i]);
    g_autofree char *two = g_strdup_printf (
        EXPERTS "global_batch: 256, schedule: interleaved, parallel: {pp: 2, vp: 2, ep: 16, zero: 1}, overlap: %s", overlaps[i]);
    expect ("topology: hgx_h100, nodes: 4", one, 0.03);
    expect ("topology: hgx_h100, nodes: 4", two, 0.05);
  }
}

/* In both, delayed weight gradients hide what the passes do not. */
static void
delayed_weight_gradients_shorten_a_step (void)
{
  static const char *const cuts[] = { "global_batch: 512, parallel: {ep: 32, zero: 1}",
                                      "global_batch: 256, schedule: interleaved, parallel: {pp: 2, vp: 2, ep: 16, zero: 1}" };
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++) {
    g_autofree char *plain = g_strdup_printf (EXPERTS "%s, overlap: {ep: true}", cuts[i]),
                    *later = g_strdup_printf (EXPERTS "%s, overlap: {ep: true, delay_wgrad: true}", cuts[i]);
    g_auto (ModelRun) a = { 0 };
    g_auto (ModelRun) b = { 0 };
    TrnClosedStep before, after;
    closed_over_engine ("topology: hgx_h100, nodes: 4", plain, &a, &before);
    closed_over_engine ("topology: hgx_h100, nodes: 4", later, &b, &after);
    printf ("engine %.4f -> %.4f s, closed %.4f -> %.4f s\n", a.result->training.step_time_s, b.result->training.step_time_s,
            before.step_time_s, after.step_time_s);
    TEST_TRUE (b.result->training.step_time_s < a.result->training.step_time_s);
    TEST_TRUE (after.step_time_s <= before.step_time_s);
  }
}

static void
cuts_that_pair_no_passes_are_refused (void)
{
  g_auto (ModelRun) run = { 0 };
  g_autoptr (GError) error = NULL;
  TrnClosedQuery query;
  TrnClosedStep step;
  static const char work[] = EXPERTS "global_batch: 128, parallel: {ep: 32, zero: 1}, overlap: {ep: true}";
  TEST_TRUE (model_try ("topology: hgx_h100, nodes: 4", work, "", NULL, FALSE, &run, NULL));
  g_autoptr (TrnClosed) closed = trn_closed_new (scn_training (run.scenario), NULL);
  TEST_TRUE (trn_closed_own (closed, &query, NULL));
  query.pp = 2;
  query.dp /= 2;
  query.ep /= 2;
  TEST_TRUE (!trn_closed_step (closed, &query, &step, &error));
  TEST_TRUE (strstr (error->message, "not of 1f1b on 2 stages") != NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "rounds of local steps are those of the engine", rounds_of_local_steps_are_those_of_the_engine },
    { "what a round adds is equal", what_a_round_adds_is_equal },
    { "workers that do not divide a cut are refused", workers_that_do_not_divide_a_cut_are_refused },
    { "compressed gradients take what they do on the engine", compressed_gradients_take_what_they_do_on_the_engine },
    { "passes beside each other take what they do on the engine", passes_beside_each_other_take_what_they_do_on_the_engine },
    { "delayed weight gradients shorten a step", delayed_weight_gradients_shorten_a_step },
    { "cuts that pair no passes are refused", cuts_that_pair_no_passes_are_refused },
    { NULL, NULL },
  };
  return test_main ("closed form of methods", cases);
}
