/* How long a training step of a model takes to simulate: the shipped scenarios, read and built once, run again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "calibrate/calibration.h"
#include "workload/scenario.h"

static const struct {
  const char *name, *scenario, *sets[4];
} rows[] = {
  { "70B, 128 GPUs", "llama3_70b_16nodes", { NULL } },
  { "70B, 1,024 GPUs", "llama3_70b_16nodes", { "cluster.nodes=128", "workload.global_batch=4096", NULL } },
  { "405B, 16,384 GPUs", "llama31_405b_2048nodes", { NULL } },
  { "DeepSeek-V3, 256 GPUs", "deepseek_v3_256", { NULL } },
};

static const MdlLibrary *
load_library (void *data, const char *name, const char *from, const char *gpu_type, const char *nccl, GPtrArray *inputs,
              BaseDiag *warnings, GError **error)
{
  Cal **cal = data;
  g_autoptr (BaseLookup) lookup = base_lookup_new (BENCH_DATA_DIR);
  *cal = cal_load (name, from, gpu_type, nccl, lookup, inputs, warnings, error);
  return *cal != NULL ? cal_library (*cal) : NULL;
}

/* A scenario and what it took to read, build and run it last. */
typedef struct {
  const char *path, *const *sets;
  double load_s, step_s;
  guint64 events;
} Bench;

static double
run (void *user)
{
  Bench *bench = user;
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (BENCH_DATA_DIR);
  Cal *cal = NULL;
  const WrkScenarioOptions options = { .sets = bench->sets };
  double start_s = bench_now_s ();
  WrkScenario *scenario = wrk_scenario_load (bench->path, lookup, &options, load_library, &cal, &error);
  double loaded_s = bench_now_s ();
  WrkResult *result = scenario != NULL ? wrk_scenario_run (scenario, FALSE, &error) : NULL;
  double run_s = bench_now_s () - loaded_s;
  if (result == NULL) {
    fprintf (stderr, "%s\n", error->message);
    exit (1);
  }
  bench->load_s = loaded_s - start_s;
  bench->step_s = result->training.step_time_s;
  bench->events = result->n_events;
  wrk_result_free (result);
  wrk_scenario_free (scenario);
  cal_free (cal);
  return run_s;
}

int
main (void)
{
  bench_print_machine ();
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strdup_printf ("%s/scenarios/%s.yaml", BENCH_DATA_DIR, rows[i].scenario);
    Bench bench = { .path = path, .sets = rows[i].sets };
    BenchTimes times = bench_repeat (run, &bench);
    bench_print (rows[i].name, (double)bench.events, "events", times);
    printf ("  a step of %.4g s; reading and building %.1f ms; peak so far %.0f MB\n", bench.step_s, bench.load_s * 1e3,
            bench_peak_B () / 1e6);
  }
  return 0;
}
