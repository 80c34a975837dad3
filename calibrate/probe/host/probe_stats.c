/* The interval of a median from order statistics, which asks nothing of how samples are distributed.
 *
 * A sample lies below the true median with probability 1/2, so the number of n samples below it is binomial (n, 1/2). The interval
 * from the r-th least to the r-th greatest misses the median with probability 2 P (B < r); the largest r with
 *     2 P (B <= r - 1) <= 0.05
 * gives the narrowest symmetric interval that holds 95 %. Six samples are the fewest: 2 / 2^6 = 3.1 %; of five the least and the
 * greatest hold 93.75 %.
 * Source: David and Nagaraja, Order Statistics, 3rd ed., section 7.1. Valid: independent samples. To look after every sample and to
 * stop at the first narrow interval makes it hold a little less than 95 %. */
#include "probe_stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MISS 0.05 /* 95 % */

size_t
probe_stats_rank (size_t n)
{
  double count = (double)n, below = 0;
  size_t rank = 0;
  for (size_t k = 0; k < n; k++) {
    double at = (double)k;
    below += exp (lgamma (count + 1) - lgamma (at + 1) - lgamma (count - at + 1) - count * log (2));
    if (2 * below > MISS)
      break;
    rank = k + 1;
  }
  return rank;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

bool
probe_stats_of (const double *sample, size_t n, ProbeStats *out)
{
  if (n == 0 || n > SIZE_MAX / sizeof *sample)
    return false;
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    if (!isfinite (sample[i]) || sample[i] < 0)
      return false;
    sum += sample[i];
  }
  double *sorted = malloc (n * sizeof *sorted);
  if (sorted == NULL)
    return false;
  memcpy (sorted, sample, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare);
  size_t rank = probe_stats_rank (n), end = rank == 0 ? 1 : rank;
  *out = (ProbeStats){ .n = n,
                       .median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2,
                       .mean = sum / (double)n,
                       .min = sorted[0],
                       .max = sorted[n - 1],
                       .low = sorted[end - 1],
                       .high = sorted[n - end],
                       .covered = rank > 0 };
  free (sorted);
  return true;
}

bool
probe_stats_enough (const ProbeStats *stats, double target)
{
  double width = target * stats->median;
  return stats->covered && stats->n >= PROBE_SAMPLES_LEAST && stats->high - stats->median <= width &&
         stats->median - stats->low <= width;
}
