/* Ranks on several GPU types: the slowest counts, whichever node it is on. */
#include <string.h>

#include "model_run_fixture.h"

#define A100 "gpus: {type: a100_80_sxm, count: 8}, nvlink: {kind: switch, switches: 6, planes: [2, 2, 2, 2, 2, 2], sharp: false}"

/* Step time, s, of data parallelism over four nodes of H100, with `overrides` of the topology. */
static double
step_s (const char *overrides, const char *parallel, ModelRun *run)
{
  g_autoptr (GError) error = NULL;
  const char *sets[] = { overrides, NULL };
  const ScnOptions options = { .sets = overrides != NULL ? sets : NULL };
  g_autofree char *workload = g_strdup_printf ("model: {like: gpt3_2_7b, layers: 24}, sequence: 2048, global_batch: 64, "
                                               "micro_batch: 2, parallel: %s",
                                               parallel);
  if (!model_try ("topology: hgx_h100, nodes: 4", workload, "", &options, FALSE, run, &error))
    g_error ("%s", error->message);
  return run->result->training.step_time_s;
}

static void
the_slowest_type_sets_the_pace_on_whichever_node_it_is (void)
{
  g_auto (ModelRun) fast = { 0 }, first = { 0 }, last = { 0 }, slow = { 0 };
  const double fast_s = step_s (NULL, "{dp: 32}", &fast),
               first_s = step_s ("topology.overrides=[{nodes: 0, " A100 "}]", "{dp: 32}", &first),
               last_s = step_s ("topology.overrides=[{nodes: 3, " A100 "}]", "{dp: 32}", &last),
               slow_s = step_s ("topology.overrides=[{nodes: 0-3, " A100 "}]", "{dp: 32}", &slow);
  TEST_NEAR (first_s, last_s, 1e-6);
  TEST_NEAR (first_s, slow_s, 0.02);
  TEST_TRUE (slow_s > 1.5 * fast_s);
  /* MFU is of the peaks that are there: 24 x 989.4 and 8 x 312 Tflop/s */
  TEST_NEAR (last.result->training.mfu * last_s * (24 * 989.4 + 8 * 312) / 32, slow.result->training.mfu * slow_s * 312, 1e-3);
}

static void
a_stage_on_faster_gpus_takes_less_than_one_on_the_slowest (void)
{
  g_auto (ModelRun) fast = { 0 }, one = { 0 }, slow = { 0 };
  const double fast_s = step_s (NULL, "{dp: 8, pp: 4}", &fast),
               one_s = step_s ("topology.overrides=[{nodes: 1, " A100 "}]", "{dp: 8, pp: 4}", &one),
               slow_s = step_s ("topology.overrides=[{nodes: 0-3, " A100 "}]", "{dp: 8, pp: 4}", &slow);
  TEST_TRUE (fast_s < one_s && one_s < slow_s);
}

static void
a_warning_names_the_types (void)
{
  g_auto (ModelRun) run = { 0 };
  step_s ("topology.overrides=[{nodes: 3, " A100 "}]", "{dp: 32}", &run);
  gboolean found = FALSE;
  for (guint i = 0; i < run.result->run.warnings->len; i++)
    found |= strstr (run.result->run.warnings->pdata[i], "24 h100_sxm and 8 a100_80_sxm: ranks wait for the slowest type") != NULL;
  TEST_TRUE (found);
}

/* Gaudi and TPUs have no rate of fp32, in which routers compute: a few thousandths of a layer's FLOP, in bf16 there. */
static void
experts_run_on_gpus_without_fp32 (void)
{
  static const char *const clusters[] = { "topology: gaudi3, nodes: 2", "topology: tpu_v5p_64" };
  for (guint i = 0; i < G_N_ELEMENTS (clusters); i++) {
    g_auto (ModelRun) run = { 0 };
    g_autoptr (GError) error = NULL;
    if (!model_try (
            clusters[i],
            "model: qwen3_30b_a3b, sequence: 2048, global_batch: 128, micro_batch: 1, precision: {compute: bf16, gradients: "
            "fp32}, parallel: {ep: 8, zero: 1}",
            "", NULL, FALSE, &run, &error))
      g_error ("%s", error->message);
    TEST_TRUE (run.result->training.mfu > 0.02 && run.result->training.mfu < 0.6);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the slowest type sets the pace on whichever node it is", the_slowest_type_sets_the_pace_on_whichever_node_it_is },
    { "a stage on faster GPUs takes less than one on the slowest", a_stage_on_faster_gpus_takes_less_than_one_on_the_slowest },
    { "a warning names the types", a_warning_names_the_types },
    { "experts run on GPUs without fp32", experts_run_on_gpus_without_fp32 },
    { NULL, NULL },
  };
  return test_main ("ranks on several GPU types", cases);
}
