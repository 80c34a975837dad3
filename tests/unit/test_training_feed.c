/* Steps in closed form that wait for their input, whose ranks lie otherwise on the nodes, or of which a NIC is slow, against the
 * engine's. */
#include <math.h>
#include <stdlib.h>

#include "closed-private.h"
#include "model_run_fixture.h"

typedef struct {
  const char *cluster, *parallel, *more;
  const char *starved; /* by which part; NULL: whatever */
} Step;

/* The closed form of the workload's own cut over the engine's answer. `sets` ends with NULL; NULL: none. */
static double
closed_over_engine_of (const Step *s, const char *const *sets, ModelRun *run, TrnClosedStep *step)
{
  const ScnOptions options = { .sets = sets };
  g_autofree char *work =
      g_strdup_printf ("model: llama3_8b, sequence: 8192, precision: {compute: bf16, gradients: fp32}, software: {name: default}, "
                       "parallel: {%s}, %s",
                       s->parallel, s->more);
  g_autoptr (GError) error = NULL;
  TrnClosedQuery query;
  if (!model_try (s->cluster, work, "", &options, FALSE, run, &error))
    g_error ("%s: %s", s->more, error->message);
  g_autoptr (TrnClosed) closed = trn_closed_new (scn_training (run->scenario), &error);
  if (closed == NULL || !trn_closed_own (closed, &query, &error) || !trn_closed_step (closed, &query, step, &error))
    g_error ("%s: %s", s->more, error->message);
  double sum_s = 0;
  for (int p = 0; p < TRN_PART_N; p++)
    sum_s += step->part_s[p];
  TEST_NEAR (sum_s, step->step_time_s, 1e-9);
  TEST_TRUE (step->step_time_lo_s <= step->step_time_s && step->step_time_s <= step->step_time_hi_s);
  TEST_NEAR (step->mfu * step->step_time_s, run->result->training.mfu * run->result->training.step_time_s, 1e-9);
  return step->step_time_s / run->result->training.step_time_s;
}

static double
closed_over_engine (const Step *s, ModelRun *run, TrnClosedStep *step)
{
  return closed_over_engine_of (s, NULL, run, step);
}

static const char hgx[] = "topology: hgx_h100, nodes: 4";
static const char few[] = "global_batch: 64, micro_batch: 1, recompute: full, loader: {tier: scratch, sample: 16 kB, ";

/* Every part of an input pipeline that can be the slowest, and none. */
static void
steps_wait_for_their_input_as_on_the_engine (void)
{
  static const Step steps[] = {
    { hgx, "tp: 1, zero: 1", "workers: 2}", "" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 2}", "broadcast" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 2, decode: 9 s}", "workers" },
    { hgx, "tp: 4, pp: 2, sp: true, zero: 1", "workers: 4, decode: 4 s, prefetch: 1}", "workers" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 64, decode: 40 s}", "cores" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 8, decoded: 400 GB, pin: false}", "copy" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 8, decoded: 100 GB, pin: false}", "copy" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 8, decoder: gpu, decode: 700 ms}", "decoder" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 8, decoder: engine, decode: 9 s}", "decoder" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 0, decode: 700 ms}", "main process" },
    { hgx, "tp: 1, zero: 3", "workers: 4, sharing: node}", "" },
    { hgx, "tp: 2, cp: 2, sp: true, zero: 1", "workers: 2, readers: all, decode: 5 s}", "workers" },
    { hgx, "tp: 2, pp: 2, sp: true, zero: 1", "workers: 2, readers: first, decode: 5 s}", "workers" },
    { hgx, "tp: 2, sp: true, zero: 1", "workers: 2, persistent: false, respawn: 60 s, dataset: 1 MB}", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_auto (ModelRun) run = { 0 };
    g_autofree char *more = g_strconcat (few, steps[i].more, NULL);
    Step one = steps[i];
    TrnClosedStep step;
    one.more = more;
    const double ratio = closed_over_engine (&one, &run, &step), stall_s = run.result->training.part_s[TRN_PART_DATA_STALL];
    printf ("%s: waits %.4g s of %.4g, simulated %.4g (%s)\n", steps[i].more, step.part_s[TRN_PART_DATA_STALL], step.step_time_s,
            stall_s, run.result->training.loader.starved_by);
    if (one.starved != NULL)
      TEST_STR (run.result->training.loader.starved_by, one.starved);
    TEST_NEAR (ratio, 1, 0.02);
    TEST_NEAR (step.part_s[TRN_PART_DATA_STALL], stall_s, 0.02 * step.step_time_s);
    TEST_TRUE (one.starved == NULL || (one.starved[0] == '\0') == !(step.part_s[TRN_PART_DATA_STALL] > 0));
    TrnClosedQuery query;
    g_autoptr (TrnClosed) closed = trn_closed_new (scn_training (run.scenario), NULL);
    TEST_TRUE (trn_closed_own (closed, &query, NULL));
    const char *by =
        trn_closed_starved_by (scn_training (run.scenario), &query, step.step_time_s - step.part_s[TRN_PART_DATA_STALL]);
    if (one.starved != NULL)
      TEST_STR (by != NULL ? by : "", one.starved);
  }
}

/* A tier of one server of 1 GB/s, from which 64 readers take as many bytes a step. */
static void
a_tier_that_gives_too_little_holds_up_the_step (void)
{
  static const char *const sets[] = { "topology.storage.0.servers=1", "topology.storage.0.per_server=1 GB/s", NULL };
  static const double samples_MB[] = { 10, 100, 1000 };
  for (guint i = 0; i < G_N_ELEMENTS (samples_MB); i++) {
    g_auto (ModelRun) run = { 0 };
    g_autofree char *more = g_strdup_printf (
        "global_batch: 64, micro_batch: 1, recompute: full, loader: {tier: scratch, sample: %.0f MB, workers: 8}", samples_MB[i]);
    const Step one = { hgx, "tp: 2, sp: true, zero: 1", more, NULL };
    TrnClosedStep step;
    TEST_NEAR (closed_over_engine_of (&one, sets, &run, &step), 1, 0.02);
    printf ("%.0f MB: waits %.4g s of %.4g\n", samples_MB[i], step.part_s[TRN_PART_DATA_STALL], step.step_time_s);
    TEST_TRUE (i == 0 || step.step_time_s >= 64 * samples_MB[i] * 1e-3 * 0.999);
  }
}

/* Pipeline ranks beside each other, data-parallel ranks in a node, tensor-parallel ones across nodes. */
static void
placements_have_the_steps_of_the_engine (void)
{
  static const Step steps[] = {
    { hgx, "tp: 2, pp: 4, sp: true, zero: 1", "global_batch: 64, micro_batch: 1, placement: [tp, pp, cp, dp]", NULL },
    { hgx, "tp: 2, pp: 4, sp: true, zero: 1", "global_batch: 64, micro_batch: 1, placement: [pp, tp, cp, dp]", NULL },
    { hgx, "tp: 4, pp: 2, sp: true, zero: 1", "global_batch: 64, micro_batch: 1, placement: [dp, tp, cp, pp]", NULL },
    { hgx, "tp: 4, pp: 2, sp: true, zero: 1", "global_batch: 64, micro_batch: 1, placement: [tp, cp, dp, pp]", NULL },
    { hgx, "tp: 2, cp: 2, pp: 2, sp: true, zero: 1", "global_batch: 64, micro_batch: 1, placement: [cp, tp, pp, dp]", NULL },
    { hgx, "tp: 1, zero: 3", "global_batch: 64, micro_batch: 1, recompute: full, placement: [dp, tp, cp, pp]", NULL },
    { "topology: hgx_h100, nodes: 3", "tp: 4, pp: 3, sp: true, zero: 1",
      "global_batch: 64, micro_batch: 1, pipeline: {uneven: true}, placement: [tp, pp, cp, dp]", NULL },
  };
  double plain_s = 0;
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_auto (ModelRun) run = { 0 };
    TrnClosedStep step;
    const double ratio = closed_over_engine (&steps[i], &run, &step);
    printf ("%s, %s: %.4f s, %.2f %% from the engine's\n", steps[i].parallel, steps[i].more, step.step_time_s, 100 * (ratio - 1));
    TEST_NEAR (ratio, 1, 0.03);
    plain_s = i == 3 ? step.step_time_s : plain_s;
  }
  TEST_TRUE (plain_s > 0);
}

/* A NIC of one node, in the first, a middle and the last stage; and one that only a stage's sends cross. */
static void
slow_nics_have_the_steps_of_the_engine (void)
{
  static const char wide[] = "topology: hgx_h100, nodes: 8";
  static const char *const cuts[] = { "tp: 1, zero: 1", "tp: 1, zero: 3", "tp: 4, pp: 4, sp: true, zero: 1",
                                      "tp: 2, pp: 8, sp: true, zero: 1" };
  static const char *const nics[] = { "{node: 0, nic: 0, rate: 50 Gb/s}", "{node: 3, nic: 5, rate: 20 Gb/s}",
                                      "{node: 7, nic: 1, rate: 100 Gb/s}, {node: 2, nic: 1, rate: 25 Gb/s}" };
  for (guint c = 0; c < G_N_ELEMENTS (cuts); c++) {
    const Step plain = { wide, cuts[c], "global_batch: 128, micro_batch: 1, recompute: full", NULL };
    g_auto (ModelRun) whole = { 0 };
    TrnClosedStep before, step;
    (void)closed_over_engine (&plain, &whole, &before);
    for (guint n = 0; n < G_N_ELEMENTS (nics); n++) {
      g_auto (ModelRun) run = { 0 };
      g_autofree char *more = g_strdup_printf ("%s, stragglers: [%s]", plain.more, nics[n]);
      const Step one = { wide, cuts[c], more, NULL };
      const double ratio = closed_over_engine (&one, &run, &step);
      printf ("%s, %s: %.4f s, %.4f s without, %.2f %% from the engine's\n", cuts[c], nics[n], step.step_time_s, before.step_time_s,
              100 * (ratio - 1));
      TEST_NEAR (ratio, 1, 0.05);
      TEST_TRUE (step.step_time_s >= before.step_time_s * (1 - 1e-9));
      TEST_TRUE (c != 0 || step.step_time_s > before.step_time_s * 1.001);
    }
  }
}

/* What has no closed form is refused at its place, with what to write instead. */
static void
what_has_no_closed_form_is_refused (void)
{
  static const struct {
    const char *more, *why;
  } rows[] = {
    { "loader: {tier: scratch, sample: 16 kB, variation: 20 %}", "reads of varying time have no closed form; leave 'variation'" },
    { "loader: {tier: nvme, sample: 16 kB, stage: {from: scratch, bytes: 1 TB}}", "leave 'stage' out" },
    { "pipeline: {layout: [32]}", "a 'layout' of its own has no closed form; accepted: even chunks" },
    { "communicators: {count: 2, every: iteration}", "'communicators.every' has no closed form" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text =
        g_strdup_printf ("scenario: s\ncluster: {%s}\nworkload: {kind: training, model: llama3_8b, sequence: 8192, "
                         "global_batch: 64, parallel: {tp: 2, sp: true}, %s}\n",
                         hgx, rows[i].more);
    g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
    g_autoptr (GError) error = NULL;
    Cst *cal = NULL;
    const ScnOptions any = { .any_cut = TRUE };
    Scn *scenario = scn_load (SCENARIO_NAME, text, lookup, &any, model_library, &cal, &error);
    TrnClosed *closed = scenario != NULL ? trn_closed_new (scn_training (scenario), &error) : NULL;
    TEST_TRUE (closed == NULL && error != NULL);
    if (strstr (error->message, rows[i].why) == NULL)
      printf ("%s\n", error->message);
    TEST_TRUE (strstr (error->message, rows[i].why) != NULL);
    trn_closed_free (closed);
    scn_free (scenario);
    cst_free (cal);
  }
}

/* A tier that the GPU does not reach: the closed form says what the engine says. */
static void
a_way_that_is_not_there_is_said (void)
{
  static const char *const sets[] = { "topology.frontend.gpudirect=no", "topology.storage.0.network=frontend", NULL };
  g_autofree char *text =
      g_strdup_printf ("scenario: s\ncluster: {%s}\nworkload: {kind: training, model: llama3_8b, sequence: 8192, global_batch: 64, "
                       "parallel: {tp: 2, sp: true}, loader: {tier: scratch, sample: 16 kB, path: gds}}\n",
                       hgx);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL, engine = NULL;
  Cst *cal = NULL;
  const ScnOptions options = { .sets = sets };
  Scn *scenario = scn_load (SCENARIO_NAME, text, lookup, &options, model_library, &cal, &error);
  if (scenario == NULL)
    g_error ("%s", error->message);
  TrnClosed *closed = trn_closed_new (scn_training (scenario), &error);
  TrnClosedQuery query;
  TrnClosedStep step;
  TEST_TRUE (closed != NULL && trn_closed_own (closed, &query, &error));
  TEST_TRUE (!trn_closed_step (closed, &query, &step, &error) && error != NULL);
  ScnResult *result = scn_run (scenario, FALSE, &engine);
  TEST_TRUE (result == NULL && engine != NULL);
  if (error != NULL && engine != NULL)
    TEST_STR (error->message, engine->message);
  TEST_TRUE (trn_closed_starved_by (scn_training (scenario), &query, 1) == NULL);
  trn_closed_free (closed);
  scn_free (scenario);
  cst_free (cal);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "steps wait for their input as on the engine", steps_wait_for_their_input_as_on_the_engine },
    { "a tier that gives too little holds up the step", a_tier_that_gives_too_little_holds_up_the_step },
    { "placements have the steps of the engine", placements_have_the_steps_of_the_engine },
    { "slow NICs have the steps of the engine", slow_nics_have_the_steps_of_the_engine },
    { "a way that is not there is said", a_way_that_is_not_there_is_said },
    { "what has no closed form is refused", what_has_no_closed_form_is_refused },
    { NULL, NULL },
  };
  return test_main ("steps in closed form: input, placement, NICs", cases);
}
