#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

int
base_by_u32 (const void *a, const void *b)
{
  guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  return (x > y) - (x < y);
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double
base_quantile (double *values, guint n, double share)
{
  if (n == 0)
    return (double)NAN;
  qsort (values, n, sizeof *values, compare);
  double at = share * (n - 1);
  guint below = (guint)at;
  return below + 1 < n ? values[below] + (at - below) * (values[below + 1] - values[below]) : values[below];
}

double
base_median (double *values, guint n)
{
  return base_quantile (values, n, 0.5);
}
