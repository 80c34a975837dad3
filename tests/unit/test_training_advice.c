/* Changes that are tried to tell what would help. */
#include <math.h>

#include "model_run_fixture.h"
#include "training/advice.h"

#define TWO_NODES "topology: hgx_h200, nodes: 2"

/* The scenario with one of its changes; NAN: it cannot run, and *reason, full, says why. */
static double
tokens_with (const char *cluster, const char *workload, const TrnChange *change, char **reason)
{
  g_autofree const char **sets = g_new0 (const char *, change->sets->len + 1);
  for (guint i = 0; i < change->sets->len; i++)
    sets[i] = change->sets->pdata[i];
  const ScnOptions options = { .sets = sets, .no_interference = change->no_interference };
  g_autoptr (GError) error = NULL;
  g_auto (ModelRun) run = { 0 };
  if (model_try (cluster, workload, "", &options, FALSE, &run, &error))
    return run.result->training.tokens_per_s;
  *reason = g_strdup (error->message);
  return (double)NAN;
}

static const TrnChange *
change_named (const GPtrArray *changes, const char *what)
{
  for (guint i = 0; i < changes->len; i++)
    if (strstr (((const TrnChange *)changes->pdata[i])->what, what) != NULL)
      return changes->pdata[i];
  return NULL;
}

static void
every_change_runs_or_is_refused_for_what_it_is (void)
{
  static const char *const workloads[] = {
    "model: gpt2_small, sequence: 512, global_batch: 32, micro_batch: 2, framework: eager, recompute: full, parallel: {tp: 2, "
    "pp: 2, vp: 2}, schedule: interleaved",
    "model: gpt2_small, sequence: 512, global_batch: 32, framework: fused, parallel: {zero: 1}, overlap: {gradients: false, "
    "parameters: false}",
    "model: mixtral_8x7b, sequence: 512, global_batch: 32, framework: fused, parallel: {ep: 4, pp: 4, dp: 4}, fsdp: {}",
  };
  for (guint w = 0; w < G_N_ELEMENTS (workloads); w++) {
    g_auto (ModelRun) run = model_run (TWO_NODES, workloads[w]);
    g_autoptr (GPtrArray) changes = trn_advice_changes (scn_training (run.scenario));
    guint ran = 0;
    for (guint i = 0; i < changes->len; i++) {
      const TrnChange *change = changes->pdata[i];
      g_autofree char *reason = NULL;
      double tokens = tokens_with (TWO_NODES, workloads[w], change, &reason);
      ran += isfinite (tokens) ? 1 : 0;
      if (reason == NULL)
        continue;
      /* sizes that do not divide, ranks that there are not: never a key or a value that is not understood */
      TEST_TRUE (strstr (reason, "unknown key") == NULL && strstr (reason, "is not one of") == NULL);
      TEST_TRUE (change->kind == TRN_CHANGE_SOFTWARE);
    }
    TEST_TRUE (changes->len > 8);
    TEST_TRUE (ran > 6);
  }
}

static void
faster_links_and_free_overlap_never_slow_a_step (void)
{
  static const char *const workload = "model: gpt2_medium, sequence: 1024, global_batch: 64, framework: fused, parallel: {tp: 4}";
  g_auto (ModelRun) run = model_run (TWO_NODES, workload);
  g_autoptr (GPtrArray) changes = trn_advice_changes (scn_training (run.scenario));
  static const char *const better[] = { "NICs 50 GB/s -> 100 GB/s", "NVLink of each GPU 450 GB/s -> 900 GB/s",
                                        "no interference" };
  for (guint i = 0; i < G_N_ELEMENTS (better); i++) {
    const TrnChange *change = change_named (changes, better[i]);
    g_autofree char *reason = NULL;
    TEST_TRUE (change != NULL);
    if (change != NULL)
      TEST_TRUE (tokens_with (TWO_NODES, workload, change, &reason) >= run.result->training.tokens_per_s * (1 - 1e-9));
  }
}

static void
what_is_on_is_not_advised (void)
{
  g_auto (ModelRun) plain = model_run (TWO_NODES, "model: gpt2_small, sequence: 512, global_batch: 64, framework: fused");
  g_autoptr (GPtrArray) of_plain = trn_advice_changes (scn_training (plain.scenario));
  static const char *const absent[] = {
    "sequence parallelism", "schedule", "recompute", "fused kernels", "tp 1 -> 0", "cp", "ep", "sends between stages"
  };
  for (guint i = 0; i < G_N_ELEMENTS (absent); i++)
    TEST_TRUE (change_named (of_plain, absent[i]) == NULL);
  TEST_TRUE (change_named (of_plain, "gradient buckets 25 MiB -> 50 MiB") != NULL);
  TEST_TRUE (change_named (of_plain, "tp 1 -> 2") != NULL);
  TEST_INT (change_named (of_plain, "gradient reductions not overlapped with compute")->kind, TRN_CHANGE_SENSITIVITY);
  TEST_INT (change_named (of_plain, "NVLS")->kind, TRN_CHANGE_SENSITIVITY);
  g_auto (ModelRun) sp = model_run (
      TWO_NODES, "model: gpt2_small, sequence: 512, global_batch: 64, framework: fused, parallel: {tp: 2, sp: true, pp: 2}");
  g_autoptr (GPtrArray) of_sp = trn_advice_changes (scn_training (sp.scenario));
  TEST_TRUE (change_named (of_sp, "sequence parallelism") == NULL);
  TEST_TRUE (change_named (of_sp, "schedule interleaved, vp 2") != NULL);
  TEST_TRUE (change_named (of_sp, "schedule 1f1b") == NULL);
}

static void
only_steps_of_models_are_changed (void)
{
  g_auto (ModelRun) given = model_run (TWO_NODES, "layers: [{count: 2, forward: 1 ms, backward: 2 ms, gradient: 10 MB}]");
  g_autoptr (GPtrArray) changes = trn_advice_changes (scn_training (given.scenario));
  TEST_INT (changes->len, 0);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "every change runs or is refused for what it is", every_change_runs_or_is_refused_for_what_it_is },
    { "faster links and free overlap never slow a step", faster_links_and_free_overlap_never_slow_a_step },
    { "what is on is not advised", what_is_on_is_not_advised },
    { "only steps of models are changed", only_steps_of_models_are_changed },
    { NULL, NULL },
  };
  return test_main ("changes that could help", cases);
}
