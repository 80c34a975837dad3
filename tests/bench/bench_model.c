/* How long a training step of a model, and one collective of 100,000 ranks, take to simulate: shipped scenarios, read and run again
 * and again. usage: bench_model [ROW]; alone, a row's peak memory is its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_library.h"
#include "scenario/scenario.h"

/* Three levels of 64 ports end at 65,536 adapters. */
#define LARGE_SWITCHES "topology.fabric.spine={radix: 128}", "topology.fabric.core={radix: 128}"

static const struct {
  const char *row, *name, *scenario, *sets[6];
} rows[] = {
  { "70b_128", "70B, 128 GPUs", "llama3_70b_16nodes", { NULL } },
  { "70b_1024", "70B, 1,024 GPUs", "llama3_70b_16nodes", { "cluster.nodes=128", "workload.global_batch=4096", NULL } },
  { "405b_16384", "405B, 16,384 GPUs", "llama31_405b_2048nodes", { NULL } },
  { "405b_131072",
    "405B, 131,072 GPUs",
    "llama31_405b_2048nodes",
    { "cluster.nodes=16384", "workload.global_batch=16384", LARGE_SWITCHES, NULL } },
  { "deepseek_256", "DeepSeek-V3, 256 GPUs", "deepseek_v3_256", { NULL } },
  { "ring_100000",
    "ring all-reduce, 100,000 GPUs",
    "llama31_405b_2048nodes",
    { "cluster.nodes=12500", LARGE_SWITCHES, "workload={kind: collective, op: all_reduce, bytes: 1 GiB, algo: ring}", NULL } },
  { "tree_100000",
    "tree all-reduce, 100,000 GPUs",
    "llama31_405b_2048nodes",
    { "cluster.nodes=12500", LARGE_SWITCHES, "workload={kind: collective, op: all_reduce, bytes: 1 GiB, algo: tree}", NULL } },
};

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
  Cst *cal = NULL;
  const ScnOptions options = { .sets = bench->sets };
  double start_s = bench_now_s ();
  Scn *scenario = scn_load (bench->path, NULL, lookup, &options, bench_library, &cal, &error);
  double loaded_s = bench_now_s ();
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  double run_s = bench_now_s () - loaded_s;
  if (result == NULL) {
    fprintf (stderr, "%s\n", error->message);
    exit (1);
  }
  bench->load_s = loaded_s - start_s;
  bench->step_s = scn_result_time_s (result);
  bench->events = result->run.n_events;
  scn_result_free (result);
  scn_free (scenario);
  cst_free (cal);
  return run_s;
}

int
main (int argc, char **argv)
{
  bench_print_machine ();
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (argc > 1 && strcmp (argv[1], rows[i].row) != 0)
      continue;
    g_autofree char *path = g_strdup_printf ("%s/scenarios/%s.yaml", BENCH_DATA_DIR, rows[i].scenario);
    Bench bench = { .path = path, .sets = rows[i].sets };
    BenchTimes times = bench_repeat (run, &bench);
    bench_print (rows[i].name, (double)bench.events, "events", times);
    printf ("  simulated: %.4g s; reading and building %.1f ms; peak so far %.0f MB\n", bench.step_s, bench.load_s * 1e3,
            bench_peak_B () / 1e6);
  }
  return 0;
}
