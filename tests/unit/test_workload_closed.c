/* The closed form of a step against the engine's, over random cuts of models on shipped machines. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "closed-private.h"
#include "model_run_fixture.h"

enum { DRAWS = 120 };

/* One of a list. */
static guint32
one_of (BaseRandom *random, const guint32 *list, guint n)
{
  return list[base_random_below (random, n)];
}
#define ONE_OF(random, ...) \
  one_of (random, (const guint32[]){ __VA_ARGS__ }, (guint)(sizeof ((const guint32[]){ __VA_ARGS__ }) / sizeof (guint32)))

/* ---- a random cut ---- */

typedef struct {
  const char *model, *topology;
  guint32 nodes, layers;
  guint32 tp, pp, vp, cp, dp, zero, micro, batch;
  const char *schedule, *recompute;
} Draw;

static Draw
draw (BaseRandom *random)
{
  static const struct {
    const char *name;
    guint32 layers;
  } models[] = { { "llama3_8b", 32 }, { "gpt3_6_7b", 32 }, { "llama3_70b", 80 } };
  static const char *const topologies[] = { "hgx_h100", "hgx_h200", "hgx_b200" };
  static const char *const again[] = { "none", "selective", "full" };
  guint32 which = ONE_OF (random, 0, 1, 2);
  Draw d = { .model = models[which].name, .layers = models[which].layers, .topology = topologies[ONE_OF (random, 0, 1, 2)] };
  d.nodes = ONE_OF (random, 1, 2, 4, 8);
  d.tp = ONE_OF (random, 1, 2, 4, 8);
  guint32 pp = ONE_OF (random, 1, 1, 2, 4, 8);
  d.pp = MIN (pp, d.nodes * 8 / d.tp);
  d.cp = d.tp * d.pp * 2 <= d.nodes * 8 ? ONE_OF (random, 1, 1, 2) : 1;
  d.dp = d.nodes * 8 / (d.tp * d.pp * d.cp);
  d.zero = ONE_OF (random, 0, 1, 1, 3);
  d.micro = ONE_OF (random, 1, 2);
  d.recompute = again[ONE_OF (random, 0, 1, 2)];
  d.vp = d.pp > 1 ? ONE_OF (random, 1, 2) : 1;
  d.schedule = d.vp > 1 ? "interleaved" : d.pp > 1 && ONE_OF (random, 0, 1) > 0 ? "zb_h1" : "1f1b";
  if (d.zero == 3) { /* shards through a pipeline are gathered again and again: nobody does */
    d.pp = d.vp = 1;
    d.schedule = "1f1b";
    d.dp = d.nodes * 8 / (d.tp * d.cp);
  }
  guint32 m = d.pp * ONE_OF (random, 1, 2, 5);
  d.batch = d.dp * d.micro * m;
  return d;
}

static gboolean
run_draw (const Draw *d, ModelRun *run, GError **error)
{
  g_autofree char *cluster = g_strdup_printf ("topology: %s, nodes: %u", d->topology, d->nodes);
  g_autofree char *vp = d->vp > 1 ? g_strdup_printf (", vp: %u", d->vp) : g_strdup ("");
  g_autofree char *work = g_strdup_printf (
      "model: %s, sequence: 4096, global_batch: %u, micro_batch: %u, recompute: %s, schedule: %s, precision: {compute: bf16, "
      "gradients: fp32}, parallel: {tp: %u, sp: true, pp: %u, cp: %u, zero: %u%s}",
      d->model, d->batch, d->micro, d->recompute, d->schedule, d->tp, d->pp, d->cp, d->zero, vp);
  return model_try (cluster, work, "", NULL, FALSE, run, error);
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void
steps_of_random_cuts_are_those_of_the_engine (void)
{
  BaseRandom random = base_random_stream (1, "closed");
  double off[DRAWS], memory = 0;
  guint n = 0;
  for (guint i = 0; i < DRAWS; i++) {
    g_auto (ModelRun) run = { 0 };
    g_autoptr (GError) error = NULL;
    const Draw d = draw (&random);
    if (!run_draw (&d, &run, &error))
      g_error ("%s", error->message);
    g_autoptr (WrkClosed) closed = wrk_closed_new (run.scenario, &error);
    WrkClosedAsk ask;
    WrkClosedStep step;
    if (closed == NULL || !wrk_closed_own (closed, &ask, &error) || !wrk_closed_step (closed, &ask, &step, &error))
      g_error ("%s", error->message);
    const WrkTrainingResult *truth = &run.result->training;
    double sum_s = 0;
    for (int p = 0; p < WRK_PART_N; p++)
      sum_s += step.part_s[p];
    TEST_NEAR (sum_s, step.step_time_s, 1e-9);
    memory = fmax (memory, fabs (step.memory_B / truth->fullest.total_B - 1));
    off[n++] = fabs (step.step_time_s / truth->step_time_s - 1);
  }
  qsort (off, n, sizeof *off, by_value);
  printf ("%u cuts: median %.2f %%, nine of ten within %.2f %%, worst %.2f %%; memory within %.2f %%\n", n, 100 * off[n / 2],
          100 * off[n * 9 / 10], 100 * off[n - 1], 100 * memory);
  TEST_TRUE (off[n / 2] < 0.005);
  TEST_TRUE (off[n * 9 / 10] < 0.025);
  TEST_TRUE (off[n - 1] < 0.08); /* a ring of cp over the network, which meets the reductions there */
  TEST_TRUE (memory < 1e-6);
}

/* A shipped scenario, closed over simulated. */
static double
shipped (const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/scenarios/%s.yaml", TEST_SOURCE_DIR, name);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  g_auto (ModelRun) run = { 0 };
  const WrkScenarioOptions none = { 0 };
  run.scenario = wrk_scenario_load (path, lookup, &none, model_library, &run.cal, &error);
  run.result = run.scenario != NULL ? wrk_scenario_run (run.scenario, FALSE, &error) : NULL;
  g_autoptr (WrkClosed) closed = run.result != NULL ? wrk_closed_new (run.scenario, &error) : NULL;
  WrkClosedAsk ask;
  WrkClosedStep step;
  if (closed == NULL || !wrk_closed_own (closed, &ask, &error) || !wrk_closed_step (closed, &ask, &step, &error))
    g_error ("%s", error->message);
  printf ("%s: %.4f s, simulated %.4f s\n", name, step.step_time_s, run.result->training.step_time_s);
  TEST_TRUE (step.fits == run.result->training.fullest.fits);
  TEST_NEAR (step.mfu / run.result->training.mfu, run.result->training.step_time_s / step.step_time_s, 1e-9);
  return step.step_time_s / run.result->training.step_time_s;
}

static void
shipped_steps_are_those_of_the_engine (void)
{
  TEST_NEAR (shipped ("llama3_70b_16nodes"), 1, 0.02);
  TEST_NEAR (shipped ("gpt3_175b_sc21"), 1, 0.02);
  TEST_NEAR (shipped ("llama3_8b_1node"), 1, 0.02);
  TEST_NEAR (shipped ("mixtral_8x7b_p5"), 1, 0.05);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "steps of random cuts are those of the engine", steps_of_random_cuts_are_those_of_the_engine },
    { "shipped steps are those of the engine", shipped_steps_are_those_of_the_engine },
    { NULL, NULL },
  };
  return test_main ("steps in closed form", cases);
}
