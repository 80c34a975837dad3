#include "base/finite.h"

#include <math.h>

#include "base/units.h"

static GMutex lock;
static char *first; /* fault */

void
base_finite_look (const char *key, double value)
{
  if (isnan (value) || (isfinite (value) && (value >= 0 || base_dim_of_key (key) != BASE_DIM_TIME)))
    return;
  g_mutex_lock (&lock);
  if (first == NULL)
    first = g_strdup_printf ("%s is %g", key, value);
  g_mutex_unlock (&lock);
}

char *
base_finite_fault (void)
{
  g_mutex_lock (&lock);
  char *fault = g_strdup (first);
  g_mutex_unlock (&lock);
  return fault;
}
