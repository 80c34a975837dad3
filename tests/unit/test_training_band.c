/* Steps by a shipped library: bytes on links, and the error band, since what hides today may show when communication is slower. */
#include "library_fixture.h"
#include "scenario_fixture.h"

/* A result and what it borrows names from. */
typedef struct {
  Cst *cal;
  Scn *scenario;
  ScnResult *result;
} Run;

static void
run_clear (Run *run)
{
  scn_result_free (run->result);
  scn_free (run->scenario);
  cst_free (run->cal);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

/* On two nodes; the test ends when it cannot be run. */
static Run
run_on_two_nodes (const char *workload, ColMode mode)
{
  g_autofree char *text = g_strdup_printf (
      "scenario: s\ncluster: {topology: hgx_h100, nodes: 2}\nworkload: {%s, algo: ring, proto: simple}\n", workload);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Run run = { 0 };
  ScnOptions options = { .has_mode = TRUE, .mode = mode };
  run.scenario = scn_load (SCENARIO_NAME, text, lookup, &options, model_library, &run.cal, &error);
  run.result = run.scenario != NULL ? scn_run (run.scenario, FALSE, &error) : NULL;
  if (run.result == NULL)
    g_error ("%s", error->message);
  return run;
}

/* Ten layers by the closed form, a bucket of 400 MB each. */
static Run
run_step (double forward_s, double backward_s, const char *overlap)
{
  g_autofree char *workload = g_strdup_printf (
      "kind: training, layers: [{count: 10, forward: %.12f s, backward: %.12f s, gradient: 400 MB}], ddp: {overlap: %s}", forward_s,
      backward_s, overlap);
  return run_on_two_nodes (workload, COL_MODE_MODEL);
}

static void
a_step_puts_on_the_links_what_its_buckets_put_there (void)
{
  /* three buckets: three times the bytes of one all-reduce on every class, whatever a kernel reaches of it */
  g_auto (Run) one_run = run_on_two_nodes ("kind: collective, op: all_reduce, bytes: 400 MB, dtype: fp32", COL_MODE_EVENT);
  const ScnResult *one = one_run.result;
  TEST_INT (one->run.links->len, 3);
  for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
    g_auto (Run) run = run_on_two_nodes ("kind: training, layers: [{count: 3, forward: 0, backward: 0, gradient: 400 MB}]", mode);
    const ScnResult *r = run.result;
    TEST_INT (r->run.links->len, one->run.links->len);
    for (guint i = 0; i < one->run.links->len; i++) {
      const ColLinkUse *alone = &g_array_index (one->run.links, ColLinkUse, i), *use = &g_array_index (r->run.links, ColLinkUse, i);
      TEST_STR (use->link_class, alone->link_class);
      TEST_NEAR (use->bytes, 3 * alone->bytes, 1e-9);
      TEST_NEAR (use->utilisation, alone->utilisation, 1e-3); /* three end to end, nothing beside */
      TEST_TRUE (use->utilisation <= 1);
    }
  }
}

static void
what_shows_scales_with_the_band (void)
{
  /* 10 F + 10 B and ten buckets end to end */
  g_auto (Run) r = run_step (1e-3, 2e-3, "false");
  const TrnResult *t = &r.result->training;
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
  g_auto (Run) probe = run_step (1e-3, 2e-3, "true");
  double bucket_s = probe.result->training.all_reduce.cost.time_s, band = probe.result->training.all_reduce.cost.band;
  double backward_s = bucket_s * (1 + band / 2);
  g_auto (Run) r = run_step (1e-3, backward_s, "true");
  const TrnResult *t = &r.result->training;
  TEST_NEAR (t->step_time_s, 10e-3 + 10 * backward_s + bucket_s, 1e-9);
  TEST_NEAR (t->step_time_hi_s, 10e-3 + backward_s + 10 * bucket_s * (1 + band), 1e-9);
  TEST_NEAR (t->step_time_lo_s, 10e-3 + 10 * backward_s + bucket_s / (1 + band), 1e-9);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a step puts on the links what its buckets put there", a_step_puts_on_the_links_what_its_buckets_put_there },
    { "what shows scales with the band", what_shows_scales_with_the_band },
    { "what hides may show at the slow end", what_hides_may_show_at_the_slow_end },
    { NULL, NULL },
  };
  return test_main ("error bands of steps", cases);
}
