#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double
bench_now_s (void)
{
  struct timespec t;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

BenchTimes
bench_repeat (double (*run) (void *user), void *user)
{
  double times_s[BENCH_REPEATS];
  run (user);
  for (int i = 0; i < BENCH_REPEATS; i++)
    times_s[i] = run (user);
  qsort (times_s, BENCH_REPEATS, sizeof *times_s, by_value);
  return (BenchTimes){ .median_s = times_s[BENCH_REPEATS / 2], .least_s = times_s[0], .most_s = times_s[BENCH_REPEATS - 1] };
}

void
bench_print (const char *name, double n, const char *things, BenchTimes times)
{
  printf ("%-44s %9.3f ms  %8.3f M %s/s  (%d repeats, %.3f to %.3f ms)\n", name, 1e3 * times.median_s, n / times.median_s / 1e6,
          things, BENCH_REPEATS, 1e3 * times.least_s, 1e3 * times.most_s);
  fflush (stdout);
}

void
bench_print_machine (void)
{
  FILE *file = fopen ("/proc/cpuinfo", "r");
  char line[256];
  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, "model name", 10) == 0) {
      printf ("processor%s", line + 10);
      break;
    }
  if (file != NULL)
    fclose (file);
#ifndef __OPTIMIZE__
  printf ("built without optimisation: these figures say nothing\n");
#endif
}

double
bench_peak_B (void)
{
  struct rusage usage;
  return getrusage (RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0.0;
}
