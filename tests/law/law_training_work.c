/* No added work shortens a step: over schedules, overlaps, dispatchers and frameworks, what is computed again, and all else that
 * adds kernels, never makes the same schedule faster. Streams that share links and SMs may gain a little from a delay: SLACK. */
#include "base/random.h"
#include "model_fixture.h"

enum { DRAWN = 60 };
static const double SLACK = 3e-3;

#define MODEL                                                                                                                 \
  "model: {llm: wide_moe, layers: 16, hidden: 4096, vocabulary: 32000, attention: {kind: gqa, heads: 32, kv_heads: 8}, mlp: " \
  "{kind: swiglu, ffn: 8192}, moe: {experts: 64, top_k: 6, ffn: 1536, shared: 1, first_dense: 1}, positions: rope, norm: "    \
  "rmsnorm}, sequence: 4096, clip: true"

/* Each adds to the one before. */
static const char *const again[] = { "none",
                                     "{modules: [norm]}",
                                     "{modules: [norm, activation]}",
                                     "{modules: [norm, activation, core_attention]}",
                                     "{modules: [norm, activation, core_attention, attention]}",
                                     "{modules: [norm, activation, core_attention, attention, mlp]}",
                                     "full" };

typedef struct {
  const char *cluster;
  char *workload;
} Case;

static const char *
pick (BaseRandom *random, const char *const *of, guint32 n)
{
  return of[base_random_below (random, n)];
}

static gboolean
one_in (BaseRandom *random, guint32 n)
{
  return base_random_below (random, n) == 0;
}

static Case
draw (BaseRandom *random, guint32 number)
{
  static const char *const schedules[] = { "gpipe", "1f1b", "interleaved, vp: 2", "zb_h1", "zb_v", "dualpipe", "dualpipe_v" };
  static const char *const clusters[] = { "topology: hgx_h200, nodes: 4", "topology: hgx_h100, nodes: 4" };
  static const char *const dispatchers[] = { "alltoall", "deepep", "hybridep" };
  static const char *const frameworks[] = { "fused", "eager", "graphs" };
  const char *schedule = schedules[number % G_N_ELEMENTS (schedules)];
  const gboolean two = strstr (schedule, "vp") != NULL;
  const guint32 pp = one_in (random, 3) ? 2 : 4, ep = one_in (random, 2) ? 8 : 4, tp = one_in (random, 4) ? 2 : 1;
  g_autofree char *name = g_strndup (schedule, strcspn (schedule, ","));
  char *workload = g_strdup_printf (
      MODEL ", schedule: %s, parallel: {pp: %u, ep: %u, tp: %u, sp: %s, zero: %u%s}, accumulate: %u, framework: %s, "
            "overlap: {tp: %s, p2p: %s, gradients: %s, parameters: %s}, "
            "moe: {dispatcher: %s, node_limited: %s, permute_fused: %s}, "
            "precision: {compute: %s, gradients: fp32}",
      name, pp, ep, tp, tp > 1 ? "true" : "false", one_in (random, 2) ? 1 : 0, two ? ", vp: 2" : "", 8u + 4 * pp,
      pick (random, frameworks, 3), tp > 1 && one_in (random, 2) ? "true" : "false", one_in (random, 4) ? "false" : "true",
      one_in (random, 3) ? "false" : "true", one_in (random, 3) ? "false" : "true", pick (random, dispatchers, 3),
      one_in (random, 2) ? "true" : "false", one_in (random, 3) ? "false" : "true", one_in (random, 3) ? "bf16" : "fp8");
  return (Case){ pick (random, clusters, 2), workload };
}

/* `more` in place of or beside what the workload says. */
static double
step_s (const Case *c, const char *more)
{
  g_autofree char *set = g_strdup_printf ("workload.%s", more);
  const char *const sets[] = { set, NULL };
  g_auto (ModelStep) step = model_answer (c->cluster, c->workload, sets, COL_MODE_EVENT);
  return step.result->training.step_time_s;
}

static void
expect_no_shorter (const Case *c, const char *what, double less_s, double more_s)
{
  if (more_s < less_s * (1 - SLACK))
    printf ("%s, %s: %s shortens %.6f s to %.6f s\n", c->cluster, c->workload, what, less_s, more_s);
  TEST_TRUE (more_s >= less_s * (1 - SLACK));
}

static void
what_is_computed_again_never_shortens_a_step (void)
{
  BaseRandom random = base_random_stream (7, "added work");
  for (guint32 i = 0; i < DRAWN; i++) {
    const Case c = draw (&random, i);
    double before_s = 0;
    for (guint32 k = 0; k < G_N_ELEMENTS (again); k++) {
      g_autofree char *set = g_strdup_printf ("recompute=%s", again[k]);
      const double time_s = step_s (&c, set);
      expect_no_shorter (&c, again[k], before_s, time_s);
      before_s = time_s;
    }
    g_free (c.workload);
  }
}

/* Slower kernels, slower links, more tokens: one at a time. */
static void
nothing_that_adds_work_shortens_a_step (void)
{
  static const char *const more[] = { "dropout=true",      "software={name: megatron, efficiency: 0.5}",
                                      "moe.imbalance=1.2", "micro_batch=2",
                                      "moe.dispatch=bf16", "moe.shared_overlap=false" };
  enum { MORE = G_N_ELEMENTS (more) };
  BaseRandom random = base_random_stream (11, "added work");
  for (guint32 i = 0; i < DRAWN; i++) {
    const Case c = draw (&random, i);
    const double plain_s = step_s (&c, i % MORE == 1 ? "software={name: megatron, efficiency: 0.55}" : "recompute=none");
    expect_no_shorter (&c, more[i % MORE], plain_s, step_s (&c, more[i % MORE]));
    g_free (c.workload);
  }
}

/* A cast that also looks for the largest value, and one that writes both ways round. */
static void
casts_that_do_more_shorten_no_step (void)
{
  static const char *const sets[] = { "precision.scaling=delayed", "precision.scaling=tensorwise" };
  BaseRandom random = base_random_stream (13, "added work");
  for (guint32 i = 0; i < DRAWN; i++) {
    const Case c = draw (&random, i);
    if (strstr (c.workload, "compute: fp8") != NULL)
      expect_no_shorter (&c, sets[1], step_s (&c, sets[0]), step_s (&c, sets[1]));
    g_free (c.workload);
  }
}

/* Weight gradients that wait until gradients travel: without tensor parallelism, whose collectives hide behind them, never slower
 * than without, and what adds work still lengthens the step. */
static void
delayed_weight_gradients_never_lengthen_a_step (void)
{
  static const char *const more[] = { "moe.imbalance=1.2", "recompute={modules: [norm]}",
                                      "software={name: megatron, efficiency: 0.5}" };
  static const char *const clusters[] = { "topology: hgx_h200, nodes: 4", "topology: hgx_h100, nodes: 4",
                                          "topology: gb300_nvl72, nodes: 8" };
  BaseRandom random = base_random_stream (17, "added work");
  for (guint32 i = 0; i < DRAWN / 3; i++) {
    const gboolean staged = one_in (&random, 2);
    const guint32 pp = staged ? 2 : 1, ep = one_in (&random, 2) ? 16 : 8;
    static const char *const dispatchers[] = { "alltoall", "deepep", "hybridep" };
    char *workload = g_strdup_printf (
        MODEL ", %sparallel: {pp: %u, ep: %u, zero: 1%s}, accumulate: %u, framework: %s, overlap: {ep: true}, "
              "moe: {dispatcher: %s, experts: %s, shared_overlap: false}, software: {name: megatron, efficiency: 0.55}, precision: "
              "{compute: %s, gradients: fp32}",
        staged ? "schedule: interleaved, " : "", pp, ep, staged ? ", vp: 2" : "", 8u,
        one_in (&random, 2) ? "fused" : "graphs", pick (&random, dispatchers, 3),
        one_in (&random, 2) ? "grouped" : "sorted", one_in (&random, 3) ? "bf16" : "fp8");
    const Case c = { pick (&random, clusters, 3), workload };
    const double plain_s = step_s (&c, "overlap.delay_wgrad=false"), late_s = step_s (&c, "overlap.delay_wgrad=true");
    expect_no_shorter (&c, "no delay_wgrad", late_s, plain_s);
    const char *at = strstr (workload, "{ep: true}");
    g_autofree char *with = g_strdup_printf ("%.*s{ep: true, delay_wgrad: true}%s", (int)(at - workload), workload,
                                             at + strlen ("{ep: true}"));
    const Case delayed = { c.cluster, with };
    expect_no_shorter (&delayed, more[i % 3], late_s, step_s (&delayed, more[i % 3]));
    g_free (workload);
  }
}

/* Long pairs on a fast network: an exchange that is queued behind one of the other pass shows. */
static void
delayed_weight_gradients_shorten_published_steps (void)
{
  const Case c = { "topology: gb300_nvl72, nodes: 16, gpus_per_node: 4",
                   "model: gpt_oss_120b, sequence: 4096, global_batch: 1280, micro_batch: 4, precision: {compute: fp8, parameters: "
                   "bf16, gradients: bf16, master: fp32, scaling: mxfp8, weights: fp8}, parallel: {ep: 16, dp: 64, zero: 1}, "
                   "overlap: {ep: true}, framework: graphs, software: {name: megatron, year: 2026}, moe: {dispatcher: hybridep, "
                   "experts: grouped}, loss: in_place" };
  TEST_TRUE (step_s (&c, "overlap.delay_wgrad=true") < step_s (&c, "overlap.delay_wgrad=false"));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "what is computed again never shortens a step", what_is_computed_again_never_shortens_a_step },
    { "nothing that adds work shortens a step", nothing_that_adds_work_shortens_a_step },
    { "casts that do more shorten no step", casts_that_do_more_shorten_no_step },
    { "delayed weight gradients never lengthen a step", delayed_weight_gradients_never_lengthen_a_step },
    { "delayed weight gradients shorten published steps", delayed_weight_gradients_shorten_published_steps },
    { NULL, NULL },
  };
  return test_main ("added work", cases);
}
