#include <string.h>

#include "harness.h"
#include "models/pipeline.h"
#include "scenario/scenario.h"

/* A step written inline; the plain library, so that every time follows from the file. */
static ScnResult *
run_text (const char *workload, const char *extra)
{
  g_autofree char *text = g_strdup_printf (
      "scenario: step\n"
      "cluster:\n"
      "  library: plain\n"
      "  topology:\n"
      "    topology: t\n"
      "    nodes: 1\n"
      "    node:\n"
      "      gpus: {type: {gpu: g, scale_up: {class: {link_class: nv, family: nvlink, efficiency: 1, latency: 0, duplex: 1}, rate: "
      "100 GB/s}, pcie: {class: {link_class: p, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 10 GB/s}}, count: 8}\n"
      "      nvlink: {kind: switch, switches: 1}\n"
      "      sockets: {count: 1, memory: 1 TB/s}\n"
      "%sworkload:\n  kind: training\n%s",
      extra, workload);
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  ScnOptions options = { 0 };
  g_autoptr (Scn) scenario = scn_load ("step.yaml", text, lookup, &options, NULL, NULL, &error);
  ScnResult *result = scenario != NULL ? scn_run (scenario, TRUE, &error) : NULL;
  if (result == NULL)
    fprintf (stderr, "%s\n", error->message);
  return result;
}

static double
total (const TrnResult *t)
{
  double sum_s = 0;
  for (int p = 0; p < TRN_PART_N; p++)
    sum_s += t->part_s[p];
  return sum_s;
}

static void
buckets_overlap_as_worked_by_hand (void)
{
  /* forward 4 x 1 ms; backward 4 x 2 ms; each bucket 2 x 7/8 x 200 MB / 100 GB/s = 3.5 ms. First ready at 4 + 2 = 6 ms; then
   * end to end: 6 + 4 x 3.5 = 20 ms; compute ends at 12, so 8 ms are exposed */
  g_autoptr (ScnResult) r =
      run_text ("  layers: [{count: 4, forward: 1 ms, backward: 2 ms, gradient: 200 MB}]\n  algo: ring\n", "");
  TEST_NEAR (r->training.step_time_s, 20e-3, 1e-9);
  TEST_NEAR (r->training.part_s[TRN_PART_COMPUTE], 12e-3, 1e-9);
  TEST_NEAR (r->training.part_s[TRN_PART_EXPOSED_DP], 8e-3, 1e-9);
  TEST_INT (r->training.n_buckets, 4);
  TEST_NEAR (r->training.communication_s, 14e-3, 1e-9);
}

static void
without_overlap_the_times_add (void)
{
  g_autoptr (ScnResult) r = run_text (
      "  layers: [{count: 4, forward: 1 ms, backward: 2 ms, gradient: 200 MB}]\n  algo: ring\n  ddp: {overlap: false}\n", "");
  TEST_NEAR (r->training.step_time_s, 26e-3, 1e-9);
}

static void
a_bucket_closes_when_it_holds_its_cap (void)
{
  /* cap 350 MB over layers of 200 MB from the end: 400, 400; 5 layers: 400, 400, 200 */
  g_autoptr (ScnResult) r = run_text (
      "  layers: [{count: 5, forward: 1 ms, backward: 2 ms, gradient: 200 MB}]\n  algo: ring\n  ddp: {bucket: 350 MB}\n", "");
  TEST_INT (r->training.n_buckets, 3);
  TEST_NEAR (r->training.all_reduce.size_B, 400e6, 1e-12);
}

static void
pipeline_bubble_is_the_closed_form (void)
{
  /* even stages, free sends: (m + p - 1)(F + B) = (8 + 3) x 3 ms for both schedules; stage 0 ends last and waits (p - 1)(F + B) */
  static const char *const schedule[] = { "gpipe", "1f1b" };
  for (int i = 0; i < 2; i++) {
    g_autofree char *text = g_strdup_printf (
        "  layers: [{count: 4, forward: 1 ms, backward: 2 ms}]\n  parallel: {dp: 1, pp: 4}\n  micro_batches: 8\n  schedule: %s\n",
        schedule[i]);
    g_autoptr (ScnResult) r = run_text (text, "");
    TEST_NEAR (r->training.step_time_s, 33e-3, 1e-9);
    TEST_NEAR (r->training.part_s[TRN_PART_BUBBLE], 9e-3, 1e-9);
    TEST_NEAR (r->training.part_s[TRN_PART_COMPUTE], 24e-3, 1e-9);
    TEST_INT (r->training.stage, 0);
  }
}

static void
every_schedule_has_its_bubble (void)
{
  /* a rank of four: F = B = W = 2 ms, 8 micro-batches: 48 ms of work; the bubbles of `list schedules`. zb_v: no rank waits from its
   * start to its end, but the last one starts 3 chunks of 1 ms after the first, and the first one ends so much earlier */
  static const struct {
    const char *schedule, *parallel;
    double bubble_s;
  } row[] = {
    { "gpipe", "pp: 4", 18e-3 },     { "1f1b", "pp: 4, vp: 1", 18e-3 }, { "interleaved", "pp: 4, vp: 2", 9e-3 },
    { "zb_h1", "pp: 4", 6e-3 },      { "zb_v", "pp: 4", 3e-3 },         { "dualpipe", "pp: 4", 4e-3 },
    { "dualpipe_v", "pp: 4", 6e-3 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (row); i++) {
    g_autofree char *text = g_strdup_printf (
        "  layers: [{count: 8, forward: 1 ms, backward: 2 ms}]\n  parallel: {dp: 1, %s}\n  micro_batches: 8\n  schedule: %s\n",
        row[i].parallel, row[i].schedule);
    g_autoptr (ScnResult) r = run_text (text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL (r);
    TEST_NEAR (r->training.step_time_s, 48e-3 + row[i].bubble_s, 1e-9);
    TEST_NEAR (r->training.part_s[TRN_PART_BUBBLE], row[i].bubble_s, 1e-9);
    TEST_NEAR (r->training.part_s[TRN_PART_COMPUTE], 48e-3, 1e-9);
  }
}

static void
a_layer_says_how_much_of_backward_is_weights (void)
{
  /* zb_h1, two ranks of one layer: bubble F + B - W; 1 + 1 - 1 = 1 ms, and with weight 0.5 ms: 1 + 1.5 - 0.5 = 2 ms */
  static const double step_s[] = { 4 * 3e-3 + 1e-3, 4 * 3e-3 + 2e-3 };
  for (int i = 0; i < 2; i++) {
    g_autofree char *text = g_strdup_printf ("  layers: [{count: 2, forward: 1 ms, backward: 2 ms%s}]\n  parallel: {dp: 1, pp: 2}\n"
                                             "  micro_batches: 4\n  schedule: zb_h1\n",
                                             i == 0 ? "" : ", weight: 0.5 ms");
    g_autoptr (ScnResult) r = run_text (text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL (r);
    TEST_NEAR (r->training.step_time_s, step_s[i], 1e-9);
  }
  TEST_TRUE (run_text ("  layers: [{forward: 1 ms, backward: 2 ms, weight: 2.1 ms}]\n", "") == NULL);
}

static void
a_chunk_is_reduced_while_the_next_one_runs (void)
{
  /* interleaved, two ranks of two chunks of one layer: 2 x 2 x 3 ms and a bubble of 3 / 2 x 2 = 3 ms end at 15; rank 0's chunk b is
   * complete at 11, a at 15; a bucket of 100 MB over two replicas takes 1 ms, so that of a alone shows */
  g_autoptr (ScnResult) r = run_text ("  layers: [{count: 4, forward: 1 ms, backward: 2 ms, gradient: 100 MB}]\n  algo: ring\n"
                                      "  parallel: {dp: 2, pp: 2, vp: 2}\n  micro_batches: 2\n  schedule: interleaved\n",
                                      "");
  CU_ASSERT_PTR_NOT_NULL_FATAL (r);
  TEST_NEAR (r->training.step_time_s, 16e-3, 1e-9);
  TEST_NEAR (r->training.part_s[TRN_PART_EXPOSED_DP], 1e-3, 1e-9);
  TEST_NEAR (r->training.communication_s, 2e-3, 1e-9);
  TEST_INT (r->training.n_buckets, 4);
}

static void
both_copies_of_dualpipe_reduce_together (void)
{
  /* two ranks, four micro-batches, no bubble: 12 ms. Stage 1's copies are complete at 10 ms, stage 0's at 12; 200 MB between the
   * two ranks take 2 ms: 10 to 12 and 12 to 14 */
  g_autoptr (ScnResult) r = run_text ("  layers: [{count: 2, forward: 1 ms, backward: 2 ms, gradient: 200 MB}]\n  algo: ring\n"
                                      "  parallel: {dp: 1, pp: 2}\n  micro_batches: 4\n  schedule: dualpipe\n",
                                      "");
  CU_ASSERT_PTR_NOT_NULL_FATAL (r);
  TEST_NEAR (r->training.step_time_s, 14e-3, 1e-9);
  TEST_NEAR (r->training.part_s[TRN_PART_EXPOSED_DP], 2e-3, 1e-9);
  TEST_INT (r->training.all_reduce.n_ranks, 2);
  TEST_INT (r->training.n_buckets, 2);
}

static void
a_chain_that_turns_sends_nothing_there (void)
{
  /* zb_v, one micro-batch, two ranks, four chunks: 4 x (1 + 1) ms there and back; rank 1 runs W of its chunk b before B of a, and W
   * of the first chunk comes last; the boundaries 0-1 and 2-3 cost 1 ms each way, 1-2 is on rank 1: 8 + 2 + 4 = 14 ms */
  g_autoptr (ScnResult) r = run_text ("  layers: [{count: 4, forward: 1 ms, backward: 2 ms, activation: 100 MB}]\n"
                                      "  parallel: {dp: 1, pp: 2}\n  schedule: zb_v\n",
                                      "");
  CU_ASSERT_PTR_NOT_NULL_FATAL (r);
  TEST_NEAR (r->training.step_time_s, 14e-3, 1e-9);
  TEST_NEAR (r->training.communication_s, 4e-3, 1e-9);
}

static void
schedules_keep_the_laws_of_a_step (void)
{
  static const char *const schedule[] = { "gpipe", "1f1b", "interleaved", "zb_h1", "zb_v", "dualpipe", "dualpipe_v" };
  static const char *const also[] = { "", "  p2p_overlap: false\n", "  ddp: {overlap: false}\n" };
  for (unsigned i = 0; i < G_N_ELEMENTS (schedule); i++)
    for (unsigned k = 0; k < G_N_ELEMENTS (also); k++) {
      gboolean rounds = g_str_equal (schedule[i], "interleaved");
      g_autofree char *text = g_strdup_printf (
          "  layers: [{count: 11, forward: 1 ms, backward: 2 ms, weight: 0.8 ms, gradient: 30 MB, activation: 10 MB}]\n"
          "  parallel: {dp: 2, pp: 4%s}\n  micro_batches: 8\n  optimizer_time: 1 ms\n  schedule: %s\n%s",
          rounds ? ", vp: 2" : "", schedule[i], also[k]);
      g_autoptr (ScnResult) r = run_text (text, "");
      CU_ASSERT_PTR_NOT_NULL_FATAL (r);
      TEST_NEAR (total (&r->training), r->training.step_time_s, 1e-12);
      TEST_TRUE (r->training.step_time_s >= r->training.ideal_bound_s - 1e-12);
      TEST_TRUE (r->training.step_time_lo_s <= r->training.step_time_s && r->training.step_time_s <= r->training.step_time_hi_s);
      TEST_TRUE (r->training.communication_s > 0);
    }
}

static void
sends_between_stages_are_on_the_path (void)
{
  /* one micro-batch, two stages, 100 MB at 100 GB/s = 1 ms each way: 1 + 1 + 1 + 2 + 1 + 2 = 8 ms; stage 0 computes 3 ms, two sends
   * are exposed, and stage 1's 3 ms are its bubble */
  g_autoptr (ScnResult) r =
      run_text ("  layers: [{count: 2, forward: 1 ms, backward: 2 ms, activation: 100 MB}]\n  parallel: {dp: 1, pp: 2}\n", "");
  TEST_NEAR (r->training.step_time_s, 8e-3, 1e-9);
  TEST_NEAR (r->training.part_s[TRN_PART_BUBBLE] + r->training.part_s[TRN_PART_EXPOSED_PP], 5e-3, 1e-9);
  TEST_NEAR (total (&r->training), r->training.step_time_s, 1e-12);
}

static void
breakdown_sums_to_the_step (void)
{
  static const char *const text[] = {
    "  layers: [{count: 7, forward: 1 ms, backward: 2 ms, gradient: 30 MB, activation: 10 MB}]\n  parallel: {dp: 2, pp: 3}\n  "
    "micro_batches: 5\n",
    "  layers: [{count: 7, forward: 1 ms, backward: 2 ms, gradient: 3 GB, activation: 1 GB}]\n  parallel: {dp: 4, pp: 2}\n  "
    "micro_batches: 3\n  p2p_overlap: false\n  optimizer_time: 2 ms\n",
    "  layers: [{forward: 0, backward: 0, gradient: 1 GB}]\n",
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (text); i++) {
    g_autoptr (ScnResult) r = run_text (text[i], "");
    CU_ASSERT_PTR_NOT_NULL_FATAL (r);
    TEST_NEAR (total (&r->training), r->training.step_time_s, 1e-12);
    TEST_TRUE (r->run.spans->len > 0);
  }
}

static void
one_forward_one_backward_warms_up_by_the_stages_behind (void)
{
  const MdlPipeline pipe = { MDL_SCHEDULE_1F1B, 4, 1, 6, FALSE };
  g_autoptr (GArray) turns = mdl_schedule_order (&pipe, 1);
  /* stage 1 of 4: two forwards ahead, then F2 B0 F3 B1 … */
  static const char *const want = "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5 ";
  g_autoptr (GString) got = g_string_new (NULL);
  for (guint i = 0; i < turns->len; i++) {
    const MdlTurn *turn = &g_array_index (turns, MdlTurn, i);
    g_string_append_printf (got, "%c%u ", turn->kind == MDL_TURN_BACKWARD ? 'B' : 'F', turn->micro_batch);
  }
  TEST_STR (got->str, want);
}

static void
a_host_launches_kernel_by_kernel (void)
{
  /* 100 kernels of 1 us each, launched in 5 us: the host takes 500 us, the last kernel 1 us more; a wait adds 10 us and the kernel
   * that it waits for */
  g_autoptr (ScnResult) r =
      run_text ("  layers: [{forward: 100 us, backward: 0, kernels: 100}]\n  host: {kernel: 5 us, sync: 10 us}\n", "");
  TEST_NEAR (r->training.step_time_s, 501e-6, 1e-9);
  TEST_NEAR (r->training.part_s[TRN_PART_LAUNCH_GAP], 401e-6, 1e-9);
  TEST_STR (r->training.bound_by, "host");
  g_autoptr (ScnResult) waits =
      run_text ("  layers: [{forward: 100 us, backward: 0, kernels: 100, syncs: 4}]\n  host: {kernel: 5 us, sync: 10 us}\n", "");
  TEST_NEAR (waits->training.step_time_s, 501e-6 + 4 * 11e-6, 1e-9);
  TEST_NEAR (waits->training.host.wait_s, 4 * 11e-6, 1e-9);
  /* kernels that take longer than their launch: the first launch alone shows, and after each wait again */
  g_autoptr (ScnResult) large =
      run_text ("  layers: [{forward: 2 ms, backward: 0, kernels: 100, syncs: 4}]\n  host: {kernel: 5 us, sync: 10 us}\n", "");
  TEST_NEAR (large->training.step_time_s, 2e-3 + 5 * 5e-6 + 4 * 10e-6, 1e-9);
  TEST_STR (large->training.bound_by, "compute");
  /* a backward pass has twice the kernels and no wait, and a bucket leaves behind the layer that fills it */
  g_autoptr (ScnResult) both = run_text ("  layers: [{count: 2, forward: 1 us, backward: 2 us, gradient: 200 MB, kernels: 10}]\n"
                                         "  algo: ring\n  host: {kernel: 5 us}\n",
                                         "");
  TEST_NEAR (both->training.host.kernels, 60, 0);
  TEST_NEAR (both->training.step_time_s, 200e-6 + 0.1e-6 + 2 * 3.5e-3, 1e-9);
  TEST_NEAR (total (&both->training), both->training.step_time_s, 1e-12);
  /* layers run from the input on: 10 of 12 us in the first, then two stretches of 16 2/3 x 12 us after a wait of 22 us each; the
   * other way round the long layer would hide no launch of the short one: 1.66 ms */
  g_autoptr (ScnResult) order = run_text ("  layers: [{forward: 1 ms, backward: 0, kernels: 10}, {forward: 100 us, backward: 0, "
                                          "kernels: 50, syncs: 2}]\n  host: {kernel: 12 us, sync: 22 us}\n  parallel: {dp: 1}\n",
                                          "");
  TEST_NEAR (order->training.step_time_s, 12e-6 + 1e-3 + 100e-6 / 3 + 2 * (22e-6 + 200e-6 + 2e-6), 1e-9);
  /* counts without costs say nothing */
  TEST_TRUE (run_text ("  layers: [{forward: 1 us, backward: 2 us, kernels: 10}]\n", "") == NULL);
}

static void
more_ranks_than_gpus_are_refused (void)
{
  ScnResult *r = run_text ("  layers: [{forward: 1 ms, backward: 2 ms}]\n  parallel: {dp: 3, pp: 3}\n", "");
  TEST_TRUE (r == NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "buckets overlap as worked by hand", buckets_overlap_as_worked_by_hand },
    { "without overlap the times add", without_overlap_the_times_add },
    { "a bucket closes when it holds its cap", a_bucket_closes_when_it_holds_its_cap },
    { "the pipeline bubble is the closed form", pipeline_bubble_is_the_closed_form },
    { "every schedule has its bubble", every_schedule_has_its_bubble },
    { "a layer says how much of backward is weights", a_layer_says_how_much_of_backward_is_weights },
    { "a chunk is reduced while the next one runs", a_chunk_is_reduced_while_the_next_one_runs },
    { "both copies of dualpipe reduce together", both_copies_of_dualpipe_reduce_together },
    { "a chain that turns sends nothing there", a_chain_that_turns_sends_nothing_there },
    { "schedules keep the laws of a step", schedules_keep_the_laws_of_a_step },
    { "sends between stages are on the path", sends_between_stages_are_on_the_path },
    { "the breakdown sums to the step", breakdown_sums_to_the_step },
    { "1F1B warms up by the stages behind", one_forward_one_backward_warms_up_by_the_stages_behind },
    { "a host launches kernel by kernel", a_host_launches_kernel_by_kernel },
    { "more ranks than GPUs are refused", more_ranks_than_gpus_are_refused },
    { NULL, NULL },
  };
  return test_main ("training steps", cases);
}
