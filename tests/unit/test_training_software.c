/* What the software that a training workload names makes of its step. */
#include "library_fixture.h"
#include "scenario_fixture.h"

/* The step of a small model on H100; `more`: further keys of the workload. NULL and the error's text in *message. */
static ScnResult *
run_step (unsigned gpus, const char *more, char **message)
{
  g_autofree char *text =
      g_strdup_printf ("scenario: s\ncluster: {topology: hgx_h100, nodes: 1, gpus_per_node: %u}\n"
                       "workload: {kind: training, model: llama3_8b, sequence: 2048, accumulate: 2, clip: false, %s}\n",
                       gpus, more);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  ScnOptions options = { .has_mode = TRUE, .mode = COL_MODE_MODEL };
  Cst *cal = NULL;
  Scn *scenario = scn_load (SCENARIO_NAME, text, lookup, &options, model_library, &cal, &error);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (message != NULL)
    *message = error != NULL ? g_strdup (error->message) : NULL;
  else if (result == NULL)
    g_error ("%s", error->message);
  scn_free (scenario);
  cst_free (cal);
  return result;
}

static double
step_s (unsigned gpus, const char *more)
{
  g_autoptr (ScnResult) result = run_step (gpus, more, NULL);
  return result->training.step_time_s;
}

static void
half_the_efficiency_takes_twice_the_compute (void)
{
  double whole_s = step_s (1, "software: {name: mine, efficiency: 100 %}");
  TEST_NEAR (step_s (1, "software: {name: mine, efficiency: 50 %}"), 2 * whole_s, 1e-9);
  /* attention alone: less than twice */
  double slow_s = step_s (1, "software: {name: mine, efficiency: 100 %, attention: 50 %}");
  TEST_TRUE (slow_s > 1.01 * whole_s && slow_s < 1.5 * whole_s);
}

static void
a_known_name_has_what_was_measured (void)
{
  double whole_s = step_s (1, "precision: {compute: fp8}, software: {name: mine, efficiency: 100 %}");
  double megatron_s = step_s (1, "precision: {compute: fp8}, software: {name: megatron, year: 2024}");
  TEST_NEAR (megatron_s * 0.865, whole_s, 2e-4);                 /* calibrate/defaults/frameworks.yaml; and the first launch */
  TEST_TRUE (step_s (1, "precision: {compute: fp8}") > whole_s); /* the row of who names none */
}

static void
an_unknown_name_is_refused_with_those_that_are_known (void)
{
  g_autofree char *message = NULL;
  TEST_TRUE (run_step (1, "software: {name: megatorn}", &message) == NULL);
  TEST_HAS (message, "s.yaml:3:");
  TEST_HAS (message, "no efficiency of 'megatorn' was measured (did you mean 'megatron'?); accepted: default, megatron, ");
}

/* 2031 is a slip, and 2026 may be a release after the last that was measured. */
static void
a_year_after_all_rows_is_said (void)
{
  for (int slip = 0; slip < 2; slip++) {
    g_autofree char *message = NULL;
    g_autoptr (ScnResult) result =
        run_step (1, slip ? "software: {name: megatron, year: 2031}" : "software: {name: megatron, year: 2026}", &message);
    guint n = 0;
    for (guint i = 0; result != NULL && i < result->run.warnings->len; i++)
      n += strstr (result->run.warnings->pdata[i], "no efficiency of 'megatron' 2031 was measured: the newest is of 2025") != NULL;
    TEST_INT (n, (guint)slip);
  }
}

static void
a_framework_may_cut_products_up_by_default (void)
{
  /* eight ranks: what Megatron overlaps is less exposed, and the products cut in eight fill fewer SMs */
  const char *keys = "precision: {compute: fp8}, parallel: {tp: 8, sp: true}, ";
  g_autofree char *plain = g_strdup_printf ("%ssoftware: {name: megatron}", keys);
  g_autofree char *off = g_strdup_printf ("%ssoftware: {name: megatron}, overlap: {tp: false}", keys);
  g_autofree char *on = g_strdup_printf ("%ssoftware: {name: megatron}, overlap: {tp: true}", keys);
  g_autoptr (ScnResult) cut = run_step (8, plain, NULL), whole = run_step (8, off, NULL);
  TEST_NEAR (cut->training.step_time_s, step_s (8, on), 0);
  TEST_TRUE (cut->training.part_s[TRN_PART_EXPOSED_TP] < whole->training.part_s[TRN_PART_EXPOSED_TP]);
  TEST_TRUE (cut->training.part_s[TRN_PART_COMPUTE] > whole->training.part_s[TRN_PART_COMPUTE]);
}

static void
shards_that_are_not_copied_take_less (void)
{
  double copied_s = step_s (8, "fsdp: {prefetch: 1}, software: {name: mine, efficiency: 100 %}");
  TEST_TRUE (step_s (8, "fsdp: {copies: false}, software: {name: mine, efficiency: 100 %}") < copied_s);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "half the efficiency takes twice the compute", half_the_efficiency_takes_twice_the_compute },
    { "a known name has what was measured", a_known_name_has_what_was_measured },
    { "an unknown name is refused with those that are known", an_unknown_name_is_refused_with_those_that_are_known },
    { "a framework may cut products up by default", a_framework_may_cut_products_up_by_default },
    { "shards that are not copied take less", shards_that_are_not_copied_take_less },
    { "a year after all rows is said", a_year_after_all_rows_is_said },
    { NULL, NULL },
  };
  return test_main ("workload: software", cases);
}
