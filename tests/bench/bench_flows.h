/* Irregular traffic for bench_irregular and bench_simgrid: the same flows for both. 1,024 hosts under 32 leaves with 32 spines,
 * 50 GB/s a cable; flows arrive at random (Poisson), their sizes are those of a web search cluster. */
#ifndef BENCH_FLOWS_H
#define BENCH_FLOWS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOWS_HOSTS = 1024, FLOWS_LEAF = 32, FLOWS_SPINES = 32 };

#define FLOWS_BPS  50e9
#define FLOWS_LOAD 0.7

typedef struct {
  double start_s, bytes;
  unsigned from, to;
} BenchFlow;

/* Steele, Lea and Flood, OOPSLA 2014 (splitmix64): in [0, 1). */
static inline double
bench_unit (uint64_t *state)
{
  uint64_t z = (*state += UINT64_C (0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The distribution of scenarios/sizes/web_search.yaml. */
static inline double
bench_web_search_B (double u)
{
  static const double part[] = { 0, 0.15, 0.2, 0.3, 0.4, 0.53, 0.6, 0.7, 0.8, 0.9, 0.97, 1 };
  static const double size_kB[] = { 1, 10, 20, 30, 50, 80, 200, 1000, 2000, 5000, 10000, 30000 };
  size_t i = 1;
  while (part[i] < u)
    i++;
  return ceil (1e3 * (size_kB[i - 1] + (size_kB[i] - size_kB[i - 1]) * (u - part[i - 1]) / (part[i] - part[i - 1])));
}

/* n flows in the order of their starts, at a load of each host's cable. */
static inline void
bench_draw_poisson (BenchFlow *flows, size_t n, double load)
{
  uint64_t state = 1;
  double mean_B = 0, at_s = 0;
  for (unsigned i = 0; i < 10000; i++)
    mean_B += bench_web_search_B ((i + 0.5) / 10000) / 10000;
  for (size_t i = 0; i < n; i++) {
    at_s -= log (1 - bench_unit (&state)) * mean_B / (load * FLOWS_BPS * FLOWS_HOSTS);
    BenchFlow *flow = &flows[i];
    flow->start_s = at_s;
    flow->bytes = bench_web_search_B (bench_unit (&state));
    flow->from = (unsigned)(bench_unit (&state) * FLOWS_HOSTS);
    flow->to = (unsigned)(bench_unit (&state) * (FLOWS_HOSTS - 1));
    flow->to += flow->to >= flow->from;
  }
}

/* n flows at once, from hosts 1 to n, to host 0. */
static inline void
bench_draw_incast (BenchFlow *flows, size_t n)
{
  uint64_t state = 1;
  for (size_t i = 0; i < n; i++)
    flows[i] = (BenchFlow){ .bytes = ceil (1e6 * (1 + bench_unit (&state))), .from = (unsigned)i + 1 };
}

#endif
