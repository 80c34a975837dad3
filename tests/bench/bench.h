/* What the benches share: a stopwatch, and median and spread of repeats. Benches print; they assert no time. */
#ifndef BENCH_H
#define BENCH_H

enum { BENCH_REPEATS = 7 };

typedef struct {
  double median_s, least_s, most_s;
} BenchTimes;

/* Processor time of this process, so that a busy machine disturbs less. */
double bench_now_s (void);
/* `run` is called once to warm up, then BENCH_REPEATS times; it returns the seconds that count. */
BenchTimes bench_repeat (double (*run) (void *user), void *user);
/* One row: name, n things of a kind in the median time, rate, spread. */
void bench_print (const char *name, double n, const char *things, BenchTimes times);
void bench_print_machine (void);
/* Most memory this process has held so far, in bytes; 0 if the system does not say. */
double bench_peak_B (void);

#endif
