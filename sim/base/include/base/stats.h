/* Statistics of many values. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <glib.h>

/* Compares what begins with a guint32, for sorting: ascending. */
int base_by_u32 (const void *a, const void *b);
/* What a share of the values does not exceed, between two of them by their distance. Sorts them; NAN of none. */
double base_quantile (double *values, guint n, double share);
/* The one in the middle, or the mean of the two. Sorts them; NAN of none. */
double base_median (double *values, guint n);

#endif
