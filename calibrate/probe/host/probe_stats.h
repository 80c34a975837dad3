/* The median of samples and how well it is known. */
#ifndef FORERUN_PROBE_STATS_H
#define FORERUN_PROBE_STATS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROBE_SAMPLES_LEAST 5  /* fewer say nothing of the spread */
#define PROBE_SAMPLES_MOST  50 /* the interval narrows as 1 / sqrt (n): beyond this time is better spent elsewhere */

typedef struct {
  size_t n;
  double median, mean, min, max;
  double low, high; /* the interval of the median */
  bool covered;     /* it holds 95 %; false below six samples, where it is the least and the greatest */
} ProbeStats;

/* 0 where a median's interval of n samples is wider than the samples; else r: the interval is from the r-th least to the r-th
 * greatest, r from 1. */
size_t probe_stats_rank (size_t n);

/* False, and nothing written, where n is 0, a sample is negative or no number, or memory is out. */
bool probe_stats_of (const double *sample, size_t n, ProbeStats *out);

/* Both ends of a covered interval are within `target` of the median. */
bool probe_stats_enough (const ProbeStats *stats, double target);

#ifdef __cplusplus
}
#endif
#endif
