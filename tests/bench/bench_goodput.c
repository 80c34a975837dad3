/* How many runs through failures a second: jobs of several sizes, failing every node once in 264 days as Llama 3's did. */
#include <math.h>
#include <stdio.h>

#include "bench.h"
#include "goodput-private.h"

#define DAY_s 86400.0
enum { KINDS = 19 }; /* of failures, as many as the published table has */

static const struct {
  const char *name;
  double nodes, days;
  unsigned runs;
} rows[] = {
  { "1,024 GPUs, 54 days", 128, 54, 20000 },
  { "16,384 GPUs, 54 days", 2048, 54, 5000 },
  { "16,384 GPUs, 365 days", 2048, 365, 1000 },
  { "131,072 GPUs, 54 days", 16384, 54, 1000 },
};

typedef struct {
  double nodes, days;
  unsigned runs;
  double stops; /* of a run */
} Bench;

static double
run (void *user)
{
  Bench *bench = user;
  GdpCause causes[KINDS];
  for (unsigned i = 0; i < KINDS; i++)
    causes[i] = (GdpCause){ .effect = MDL_EFFECT_STOP,
                            .rate_per_s = bench->nodes / (264 * DAY_s * KINDS),
                            .shape = 1,
                            .nodes = 1,
                            .detect_s = 60,
                            .repair_s = DAY_s };
  const GdpRunPlan plan = { .cause = causes,
                            .n_causes = KINDS,
                            .step_s = 6,
                            .checkpoint = { .every_steps = 100, .stall_s = 5, .drain_s = 60, .restore_s = 60 },
                            .restart_s = 300,
                            .spares = bench->nodes / 64,
                            .horizon_s = bench->days * DAY_s,
                            .target_s = (double)INFINITY };
  double start_s = bench_now_s (), stops = 0;
  for (unsigned r = 0; r < bench->runs; r++) {
    GdpRunOutcome out;
    gdp_run (&plan, base_random_stream_at (1, "bench", r), NULL, &out);
    stops += out.stops;
  }
  bench->stops = stops / bench->runs;
  return bench_now_s () - start_s;
}

int
main (void)
{
  bench_print_machine ();
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    Bench bench = { rows[i].nodes, rows[i].days, rows[i].runs, 0 };
    BenchTimes times = bench_repeat (run, &bench);
    bench_print (rows[i].name, rows[i].runs, "runs", times);
    printf ("  %.0f stops a run, %.0f ns each\n", bench.stops, times.median_s / rows[i].runs / bench.stops * 1e9);
  }
  return 0;
}
