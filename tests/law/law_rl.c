/* Laws of a step of reinforcement learning: its phases sum to it; a faster fabric is never slower; more replicas never generate
 * longer; what may be older is never slower. */
#include <math.h>

#include "library_fixture.h"
#include "scenario/rl.h"

static const char text[] =
    "scenario: rl\n"
    "cluster: {topology: hgx_h100, nodes: 4}\n"
    "workload:\n"
    "  kind: rl\n"
    "  model: qwen3_8b\n"
    "  prompts: 32\n"
    "  samples: 4\n"
    "  lengths: {input: {law: uniform, min: 100, max: 500}, output: {law: lognormal, median: 300, sigma: 0.8, max: 2000}}\n"
    "  rollout: {engine: {name: vllm}, parallel: {tp: 2}}\n"
    "  train: {kind: training, fsdp: {}}\n";

static ScnRlResult
ask (const char *const *sets)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Cst *cal = NULL;
  const ScnOptions options = { .sets = sets };
  Scn *scenario = scn_load ("rl.yaml", text, lookup, &options, model_library, &cal, &error);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s", error->message);
  ScnRlResult out = *(const ScnRlResult *)result->own;
  out.parts = NULL;
  scn_result_free (result);
  scn_free (scenario);
  cst_free (cal);
  return out;
}

#define SEPARATED "workload.placement=separated", "workload.rollout.nodes=2"

static void
phases_sum_to_the_step (void)
{
  const char *const ppo[] = { "workload.algorithm=ppo", "workload.reward={time: 10 ms, workers: 8}", "workload.change=1 s", NULL };
  const char *const *const cases[] = { NULL, ppo };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const ScnRlResult step = ask (cases[i]);
    double sum_s = 0;
    for (int p = 0; p < SCN_RL_N; p++)
      sum_s += step.phase_s[p];
    TEST_NEAR (sum_s, step.time_s, 1e-9 * step.time_s);
    TEST_TRUE (step.time_lo_s <= step.time_s && step.time_s <= step.time_hi_s);
    TEST_TRUE (step.longest_s <= step.phase_s[SCN_RL_GENERATION] * (1 + 1e-9));
    TEST_TRUE ((step.phase_s[SCN_RL_CRITIC] > 0) == (i == 1));
  }
  /* 128 answers, 8 workers, 10 ms each */
  TEST_NEAR (ask (ppo).phase_s[SCN_RL_REWARD], 0.16, 1e-12);
}

static void
a_faster_fabric_is_never_slower (void)
{
  static const char *const rates[] = { "topology.node.nics.rate=100 Gb/s", "topology.node.nics.rate=200 Gb/s", NULL };
  for (int apart = 0; apart < 2; apart++) {
    double before_s = (double)INFINITY, sync_s = (double)INFINITY;
    for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
      const char *const sets[] = { "workload.train.kind=training", apart ? "workload.placement=separated" : "seed=1",
                                   apart ? "workload.rollout.nodes=2" : "seed=1", rates[i], NULL };
      const ScnRlResult step = ask (sets);
      TEST_TRUE (step.time_s <= before_s * (1 + 1e-9) && step.phase_s[SCN_RL_SYNC] <= sync_s * (1 + 1e-9));
      before_s = step.time_s;
      sync_s = step.phase_s[SCN_RL_SYNC];
    }
  }
}

static void
more_replicas_never_generate_longer (void)
{
  double before_s = (double)INFINITY;
  for (guint n = 1; n <= 8; n *= 2) {
    g_autofree char *replicas = g_strdup_printf ("workload.rollout.replicas=%u", n);
    const char *const sets[] = { SEPARATED, replicas, NULL };
    const ScnRlResult step = ask (sets);
    TEST_TRUE (step.phase_s[SCN_RL_GENERATION] <= before_s * (1 + 1e-9));
    before_s = step.phase_s[SCN_RL_GENERATION];
  }
}

static void
what_may_be_older_is_never_slower (void)
{
  static const char *const now[] = { SEPARATED, NULL };
  static const char *const old[] = { SEPARATED, "workload.staleness=1", NULL };
  static const char *const partial[] = { SEPARATED, "workload.staleness=1", "workload.rollout.partial=yes", NULL };
  const ScnRlResult a = ask (now), b = ask (old), c = ask (partial);
  TEST_TRUE (b.time_s <= a.time_s && c.time_s <= b.time_s);
  TEST_NEAR (a.time_s - b.hidden_s, b.time_s, 1e-9 * a.time_s);
  TEST_TRUE (c.phase_s[SCN_RL_GENERATION] <= b.phase_s[SCN_RL_GENERATION]);
}

/* Qwen3 8B has 36 layers of 11 tensors and 3 more; a replica has two GPUs. */
static void
a_framework_hands_over_tensors_and_makes_room (void)
{
  static const char *const with[] = { "workload.framework=nemo_rl", NULL };
  static const char *const alone[] = { "workload.framework=nemo_rl", "workload.reference=no", NULL };
  static const char *const given[] = { "workload.framework=nemo_rl", "workload.change=1 s", NULL };
  const ScnRlResult none = ask (NULL), its = ask (with), own = ask (alone), mine = ask (given);
  TEST_NEAR (its.phase_s[SCN_RL_SYNC] - none.phase_s[SCN_RL_SYNC], 399 * (0.5e-3 + 2 * 8.4e-6), 1e-9);
  TEST_NEAR (none.phase_s[SCN_RL_CHANGE], 0, 1e-12);
  TEST_NEAR (mine.phase_s[SCN_RL_CHANGE], 2, 1e-12);
  /* two sleeps, and the states out and in; a reference model has the weights out once and in twice more */
  const double more_s = its.phase_s[SCN_RL_CHANGE] - own.phase_s[SCN_RL_CHANGE];
  const double weights_B = more_s / (1 / 1.7e9 + 2 / 8e9), all_B = (own.phase_s[SCN_RL_CHANGE] - 3) / (1 / 1.7e9 + 1 / 8e9);
  TEST_TRUE (weights_B > 0.9 * 8.19e9 * 2 / 32 && all_B > weights_B + 8.19e9 * 8 / 32); /* cut over 32 GPUs */
  TEST_NEAR (its.time_s - none.time_s, its.framework_s, 1e-9);
  TEST_NEAR (its.time_hi_s - its.time_s - (none.time_hi_s - none.time_s), 0.6 * its.framework_s, 1e-9);
}

int
main (void)
{
  static const TestCase tests[] = {
    { "phases sum to the step", phases_sum_to_the_step },
    { "a faster fabric is never slower", a_faster_fabric_is_never_slower },
    { "more replicas never generate longer", more_replicas_never_generate_longer },
    { "what may be older is never slower", what_may_be_older_is_never_slower },
    { "a framework hands over tensors and makes room", a_framework_hands_over_tensors_and_makes_room },
    { NULL, NULL },
  };
  return test_main ("law: reinforcement learning", tests);
}
