/* Percentiles: the values themselves while they are few, then counts in buckets of 1/1024 of a power of two. */
#include "serving/sample.h"

#include <math.h>
#include <stdlib.h>

#define MOST_EXACT 65536u
#define SUB_BITS   10u
#define BUCKETS    ((64u - SUB_BITS + 1) << SUB_BITS)

typedef struct {
  guint64 value, times;
} Entry;

struct SrvSample {
  Entry *entries; /* while exact */
  guint n, room;
  gboolean sorted;
  guint64 *buckets; /* NULL: exact */
  guint64 count, most;
  double sum;
};

SrvSample *
srv_sample_new (void)
{
  return g_new0 (SrvSample, 1);
}

void
srv_sample_free (SrvSample *sample)
{
  if (sample == NULL)
    return;
  g_free (sample->entries);
  g_free (sample->buckets);
  g_free (sample);
}

/* Values below 1024 have a bucket each, then each power of two has 1024. */
static guint
bucket_of (guint64 value)
{
  if (value < 1u << SUB_BITS)
    return (guint)value;
  const guint top = 63u - (guint)__builtin_clzll (value), shift = top - SUB_BITS;
  return ((shift + 1) << SUB_BITS) + (guint)((value >> shift) - (1u << SUB_BITS));
}

/* The middle of a bucket. */
static double
value_of (guint bucket)
{
  const guint shift = bucket >> SUB_BITS;
  if (shift == 0)
    return bucket;
  const guint64 low = (guint64)((bucket & ((1u << SUB_BITS) - 1)) + (1u << SUB_BITS)) << (shift - 1);
  return (double)low + ldexp (1, (int)shift - 1) / 2;
}

static void
to_buckets (SrvSample *sample)
{
  sample->buckets = g_new0 (guint64, BUCKETS);
  for (guint i = 0; i < sample->n; i++)
    sample->buckets[bucket_of (sample->entries[i].value)] += sample->entries[i].times;
  g_clear_pointer (&sample->entries, g_free);
  sample->n = sample->room = 0;
}

void
srv_sample_add (SrvSample *sample, guint64 value, guint64 times)
{
  if (times == 0)
    return;
  sample->count += times;
  sample->sum += (double)value * (double)times;
  sample->most = MAX (sample->most, value);
  if (sample->buckets != NULL) {
    sample->buckets[bucket_of (value)] += times;
    return;
  }
  if (sample->n == sample->room) {
    sample->room = MAX (256, 2 * sample->room);
    sample->entries = g_renew (Entry, sample->entries, sample->room);
  }
  sample->entries[sample->n++] = (Entry){ value, times };
  sample->sorted = FALSE;
  if (sample->count >= MOST_EXACT)
    to_buckets (sample);
}

guint64
srv_sample_count (const SrvSample *sample)
{
  return sample->count;
}

static int
by_value (const void *a, const void *b)
{
  const guint64 x = ((const Entry *)a)->value, y = ((const Entry *)b)->value;
  return (x > y) - (x < y);
}

/* The value in place `at`, from 0, of all in ascending order. */
static double
place (const SrvSample *sample, guint64 at)
{
  guint64 seen = 0;
  for (guint i = 0; i < sample->n; i++)
    if ((seen += sample->entries[i].times) > at)
      return (double)sample->entries[i].value;
  for (guint i = 0; sample->buckets != NULL && i < BUCKETS; i++)
    if ((seen += sample->buckets[i]) > at)
      return MIN (value_of (i), (double)sample->most);
  return (double)sample->most;
}

static double
quantile (const SrvSample *sample, double share)
{
  const double at = share * (double)(sample->count - 1);
  const guint64 below = (guint64)at;
  const double low = place (sample, below), high = below + 1 < sample->count ? place (sample, below + 1) : low;
  return low + (at - (double)below) * (high - low);
}

SrvSpread
srv_sample_spread (SrvSample *sample, double unit)
{
  if (sample->count == 0)
    return (SrvSpread){ (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN };
  if (sample->n > 0 && !sample->sorted)
    qsort (sample->entries, sample->n, sizeof *sample->entries, by_value);
  sample->sorted = TRUE;
  return (SrvSpread){ .mean = unit * sample->sum / (double)sample->count,
                      .p50 = unit * quantile (sample, 0.50),
                      .p90 = unit * quantile (sample, 0.90),
                      .p95 = unit * quantile (sample, 0.95),
                      .p99 = unit * quantile (sample, 0.99),
                      .most = unit * (double)sample->most };
}
