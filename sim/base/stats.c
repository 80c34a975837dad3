#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void
base_sort (double *values, guint n)
{
  if (n > 1)
    qsort (values, n, sizeof *values, compare);
}

double
base_quantile (double *values, guint n, double share)
{
  if (n == 0)
    return (double)NAN;
  base_sort (values, n);
  double at = share * (n - 1);
  guint below = (guint)at;
  return below + 1 < n ? values[below] + (at - below) * (values[below + 1] - values[below]) : values[below];
}

double
base_median (double *values, guint n)
{
  return base_quantile (values, n, 0.5);
}
