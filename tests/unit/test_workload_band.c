/* The error band of a step: what hides today may show when communication is slower than predicted. */
#include "calibrate/calibration.h"
#include "scenario_fixture.h"

static const MdlLibrary *
load_library (void *data, const char *name, const char *from, const char *gpu_type, GPtrArray *inputs, BaseDiag *warnings,
              GError **error)
{
  Cal **cal = data;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  *cal = cal_load (name, from, gpu_type, lookup, inputs, warnings, error);
  return *cal != NULL ? cal_library (*cal) : NULL;
}

/* Ten layers on two nodes by the closed form, a bucket of 400 MB each. Returned: full. */
static WrkResult *
run_step (double forward_s, double backward_s, const char *overlap)
{
  g_autofree char *text = g_strdup_printf (
      "scenario: s\ncluster: {topology: hgx_h100, nodes: 2}\nworkload: {kind: training, layers: [{count: 10, forward: %.12f s, "
      "backward: %.12f s, gradient: 400 MB}], algo: ring, proto: simple, ddp: {overlap: %s}}\n",
      forward_s, backward_s, overlap);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Cal *cal = NULL;
  WrkScenarioOptions options = { .has_mode = TRUE, .mode = WRK_MODE_MODEL };
  WrkScenario *scenario = wrk_scenario_load_data (SCENARIO_NAME, text, strlen (text), lookup, &options, load_library, &cal, &error);
  WrkResult *result = scenario != NULL ? wrk_scenario_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s", error->message);
  wrk_scenario_free (scenario);
  cal_free (cal);
  return result;
}

static void
what_shows_scales_with_the_band (void)
{
  /* 10 F + 10 B and ten buckets end to end */
  g_autoptr (WrkResult) r = run_step (1e-3, 2e-3, "false");
  const WrkTrainingResult *t = &r->training;
  double bucket_s = t->all_reduce.cost.time_s, band = t->all_reduce.cost.band;
  TEST_TRUE (band > 0);
  TEST_NEAR (t->step_time_s, 30e-3 + 10 * bucket_s, 1e-9);
  TEST_NEAR (t->step_time_hi_s, 30e-3 + 10 * bucket_s * (1 + band), 1e-9);
  TEST_NEAR (t->step_time_lo_s, 30e-3 + 10 * bucket_s / (1 + band), 1e-9);
}

static void
what_hides_may_show_at_the_slow_end (void)
{
  /* a backward pass that is just longer than a bucket: only the last one shows. Slower buckets queue: ready after the forward
   * passes and the first backward, then ten end to end */
  g_autoptr (WrkResult) probe = run_step (1e-3, 2e-3, "true");
  double bucket_s = probe->training.all_reduce.cost.time_s, band = probe->training.all_reduce.cost.band;
  double backward_s = bucket_s * (1 + band / 2);
  g_autoptr (WrkResult) r = run_step (1e-3, backward_s, "true");
  const WrkTrainingResult *t = &r->training;
  TEST_NEAR (t->step_time_s, 10e-3 + 10 * backward_s + bucket_s, 1e-9);
  TEST_NEAR (t->step_time_hi_s, 10e-3 + backward_s + 10 * bucket_s * (1 + band), 1e-9);
  TEST_NEAR (t->step_time_lo_s, 10e-3 + 10 * backward_s + bucket_s / (1 + band), 1e-9);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "what shows scales with the band", what_shows_scales_with_the_band },
    { "what hides may show at the slow end", what_hides_may_show_at_the_slow_end },
    { NULL, NULL },
  };
  return test_main ("error bands of steps", cases);
}
