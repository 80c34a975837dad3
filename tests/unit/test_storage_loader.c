/* Input pipelines on the fixture's cluster: a step of 100 ms on two GPUs of one node (adapters 2 x 10 GB/s, PCIe 50 GB/s, memory
 * 40 GB/s), a tier of 1 TB/s unless said. Every stall follows from these. */
#include <math.h>

#include "scenario_fixture.h"

/* Steps of 100 ms whose loader reads 10 samples a batch. */
static ScnResult *
run (const char *loader, const char *tier_rate, const char *more_set, char **why)
{
  g_autofree char *workload = g_strdup_printf (
      "{kind: training, layers: [{forward: 40 ms, backward: 60 ms}], loader: {tier: fs, samples: 10, %s}}", loader);
  g_autofree char *text = scenario_text (2, 1, workload, "");
  g_autofree char *storage =
      g_strdup_printf ("topology.storage=[{name: fs, tier: parallel_fs, per_server: %s, network: fabric}]", tier_rate);
  const char *const sets[] = { storage, more_set, NULL };
  g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, why);
  g_autoptr (GError) error = NULL;
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL && why == NULL)
    g_error ("%s: %s", loader, error != NULL ? error->message : "not loaded");
  return result;
}

static void
the_stage_that_gives_least_makes_the_step_wait (void)
{
  static const struct {
    const char *loader, *rate, *set, *starved;
    double stall_s;
  } rows[] = {
    /* 400 ms a batch over workers */
    { "sample: 1 kB, decode: 40 ms, workers: 2", "1 TB/s", NULL, "workers", 0.1 },
    { "sample: 1 kB, decode: 40 ms, workers: 3", "1 TB/s", NULL, "workers", 0.1 / 3 },
    { "sample: 1 kB, decode: 40 ms, workers: 5", "1 TB/s", NULL, "", 0 },
    /* two readers, one core: 2 x 100 ms */
    { "sample: 1 kB, decode: 10 ms, workers: 4", "1 TB/s", "topology.node.sockets.cores=1", "cores", 0.1 },
    /* 2 x 100 MB at 1 GB/s */
    { "sample: 10 MB, workers: 4", "1 GB/s", NULL, "storage", 0.1 },
    /* one reads for both */
    { "sample: 10 MB, workers: 4, sharing: node", "1 GB/s", NULL, "storage", 0.1 },
    /* 2 x 1.5 GB over two adapters */
    { "sample: 150 MB, workers: 4", "1 TB/s", NULL, "network", 0.05 },
    /* 2 x 4 GB out of the host's memory */
    { "sample: 1 kB, decoded: 400 MB, workers: 4", "1 TB/s", NULL, "copy", 0.1 },
    /* 40 ms of SMs before each batch; an engine does it beside, 150 ms a batch */
    { "sample: 1 kB, decode: 4 ms, decoder: gpu, workers: 4", "1 TB/s", NULL, "decoder", 0.04 },
    { "sample: 1 kB, decode: 4 ms, decoder: engine, workers: 4", "1 TB/s", NULL, "", 0 },
    { "sample: 1 kB, decode: 15 ms, decoder: engine, workers: 4", "1 TB/s", NULL, "decoder", 0.05 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (ScnResult) r = run (rows[i].loader, rows[i].rate, rows[i].set, NULL);
    const TrnResult *t = &r->training;
    double sum_s = 0;
    for (int p = 0; p < TRN_PART_N; p++)
      sum_s += t->part_s[p];
    test_near (t->loader.stall_s, rows[i].stall_s, 0.01, rows[i].loader, __FILE__, __LINE__);
    TEST_NEAR (t->part_s[TRN_PART_DATA_STALL], t->loader.stall_s, 1e-12);
    TEST_NEAR (t->step_time_s, 0.1 + rows[i].stall_s, 0.01);
    TEST_NEAR (sum_s, t->step_time_s, 1e-12);
    TEST_STR (t->loader.starved_by, rows[i].starved);
  }
}

static void
more_workers_and_prefetch_help_until_cores_are_gone (void)
{
  double before_s = HUGE_VAL;
  for (unsigned workers = 1; workers <= 16; workers *= 2) {
    g_autofree char *loader = g_strdup_printf ("sample: 1 kB, decode: 40 ms, workers: %u", workers);
    g_autoptr (ScnResult) r = run (loader, "1 TB/s", "topology.node.sockets.cores=6", NULL);
    TEST_TRUE (r->training.step_time_s <= before_s * (1 + 1e-2));
    before_s = r->training.step_time_s;
  }
  TEST_NEAR (before_s, 0.8 / 6, 0.02); /* two readers of 400 ms a batch, six cores */
}

static void
a_step_that_waits_most_for_data_says_so (void)
{
  g_autoptr (ScnResult) r = run ("sample: 100 MB, workers: 4", "1 GB/s", NULL, NULL);
  TEST_STR (r->training.bound_by, "data");
  TEST_NEAR (r->training.loader.demand_Bps, 20e9, 1e-9);
}

static void
both_ends_of_a_pipeline_read_unless_one_does_for_all (void)
{
  static const struct {
    const char *readers;
    double n, stall_s;
  } rows[] = {
    /* one replica on two GPUs, 100 MB each that reads, at 1 GB/s; the step takes 100 ms */
    { "ends", 2, 0.1 },
    { "first", 1, 0 },
    { "all", 2, 0.1 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload = g_strdup_printf (
        "{kind: training, layers: [{count: 2, forward: 20 ms, backward: 30 ms}], parallel: {pp: 2}, loader: {tier: "
        "fs, samples: 10, sample: 10 MB, workers: 4, readers: %s}}",
        rows[i].readers);
    g_autofree char *text = scenario_text (2, 1, workload, "");
    const char *const sets[] = { "topology.storage=[{name: fs, tier: parallel_fs, per_server: 1 GB/s, network: frontend}]",
                                 "topology.frontend={rate: 100 GB/s}", NULL };
    g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (ScnResult) r = scn_run (scenario, FALSE, &error);
    TEST_NEAR (r->training.loader.readers, rows[i].n, 0);
    TEST_NEAR (r->training.loader.stall_s, rows[i].stall_s, 0.01);
  }
}

/* 100 ms of decoding a batch before each of 100 ms; 1 s and 100 ms of the first batch over 10 steps of two readers. */
static void
nothing_overlaps_in_the_main_process_and_epochs_begin_anew (void)
{
  g_autoptr (ScnResult) serial = run ("sample: 1 kB, decode: 10 ms, workers: 0", "1 TB/s", NULL, NULL);
  TEST_NEAR (serial->training.loader.stall_s, 0.1, 0.01);
  TEST_STR (serial->training.loader.starved_by, "main process");
  g_autoptr (ScnResult) anew =
      run ("sample: 1 kB, decode: 10 ms, workers: 4, persistent: no, respawn: 1 s, dataset: 200 kB", "1 TB/s", NULL, NULL);
  TEST_NEAR (anew->training.loader.epoch_steps, 10, 1e-9);
  TEST_NEAR (anew->training.loader.stall_s, 0.11, 0.01);
  TEST_NEAR (anew->training.step_time_s, 0.21, 0.01);
}

/* Reads of 95 ms a batch in the mean, which now and then take three times that. */
static void
more_prefetch_hides_more_of_uneven_reads (void)
{
  double before_s = HUGE_VAL;
  for (unsigned prefetch = 1; prefetch <= 16; prefetch *= 4) {
    g_autofree char *loader = g_strdup_printf ("sample: 4.75 MB, workers: 2, variation: 1, prefetch: %u", prefetch);
    g_autoptr (ScnResult) r = run (loader, "1 GB/s", NULL, NULL), again = run (loader, "1 GB/s", NULL, NULL);
    TEST_TRUE (r->training.loader.stall_s < before_s * 0.8);
    TEST_NEAR (again->training.loader.stall_s, r->training.loader.stall_s, 0);
    before_s = r->training.loader.stall_s;
  }
}

static void
loaders_that_cannot_be_are_refused (void)
{
  static const struct {
    const char *loader, *says;
  } rows[] = {
    { "sample: 1 kB, cache: warm", "'cache: warm' needs 'dataset'" },
    { "sample: 1 kB, workers: -1", "workers" },
    { "sample: 1 kB, persistent: no", "'persistent: false' needs 'dataset'" },
    { "sample: 1 kB, round_trip: yes", "decoder gpu or engine" },
    { "sample: 1 kB, path: gds, decode: 1 ms", "decoder gpu or engine" },
    { "sample: 1 kB, path: gds, cache: cold", "page cache" },
    { "sample: 1 kB, path: gds, sharing: node", "sharing: shards" },
    { "sample: 1 kB, readers: some", "'readers' must be one of ends, first, all" },
    { "workers: 1", "'sample' in 'loader' is missing" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *why = NULL;
    g_autoptr (ScnResult) r = run (rows[i].loader, "1 GB/s", NULL, &why);
    TEST_TRUE (r == NULL);
    TEST_HAS (why, rows[i].says);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the stage that gives least makes the step wait", the_stage_that_gives_least_makes_the_step_wait },
    { "more workers and prefetch help until cores are gone", more_workers_and_prefetch_help_until_cores_are_gone },
    { "a step that waits most for data says so", a_step_that_waits_most_for_data_says_so },
    { "both ends of a pipeline read unless one does for all", both_ends_of_a_pipeline_read_unless_one_does_for_all },
    { "nothing overlaps in the main process, and epochs begin anew", nothing_overlaps_in_the_main_process_and_epochs_begin_anew },
    { "more prefetch hides more of uneven reads", more_prefetch_hides_more_of_uneven_reads },
    { "loaders that cannot be are refused", loaders_that_cannot_be_are_refused },
    { NULL, NULL },
  };
  return test_main ("workload/loader", cases);
}
