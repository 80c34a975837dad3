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
  guint64 low, high; /* sum: low + high · 2^64, exact, so that parts join to the same mean in any order */
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

static void
add_sum (SrvSample *sample, guint64 low, guint64 high)
{
  sample->low += low;
  sample->high += high + (sample->low < low ? 1u : 0u);
}

static void
add_entry (SrvSample *sample, guint64 value, guint64 times)
{
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

void
srv_sample_add (SrvSample *sample, guint64 value, guint64 times)
{
  if (times == 0)
    return;
  sample->count += times;
  sample->most = MAX (sample->most, value);
  for (guint64 left = times; left > 0;) { /* products of 32 bits have 64 */
    const guint64 n = MIN (left, G_MAXUINT32), high = (value >> 32) * n;
    add_sum (sample, (value & G_MAXUINT32) * n, 0);
    add_sum (sample, high << 32, high >> 32);
    left -= n;
  }
  add_entry (sample, value, times);
}

void
srv_sample_join (SrvSample *sample, const SrvSample *other)
{
  sample->count += other->count;
  sample->most = MAX (sample->most, other->most);
  add_sum (sample, other->low, other->high);
  if (sample->buckets == NULL && sample->count >= MOST_EXACT)
    to_buckets (sample);
  for (guint i = 0; i < other->n; i++)
    add_entry (sample, other->entries[i].value, other->entries[i].times);
  for (guint i = 0; other->buckets != NULL && i < BUCKETS; i++)
    sample->buckets[i] += other->buckets[i];
}

/* ---- as bytes ---- */

void
srv_sample_write (const SrvSample *sample, GByteArray *bytes)
{
  guint n = sample->n;
  for (guint i = 0; sample->buckets != NULL && i < BUCKETS; i++)
    n += sample->buckets[i] > 0 ? 1u : 0u;
  const guint64 head[] = { sample->count, sample->most, sample->low, sample->high, sample->buckets != NULL, n };
  base_words_put (bytes, head, G_N_ELEMENTS (head));
  guint64 before = 0;
  for (guint i = 0; i < sample->n; i++)
    base_words_put (bytes, (const guint64[]){ sample->entries[i].value, sample->entries[i].times }, 2);
  for (guint i = 0; sample->buckets != NULL && i < BUCKETS; i++)
    if (sample->buckets[i] > 0) {
      base_words_put (bytes, (const guint64[]){ i - before, sample->buckets[i] }, 2);
      before = i;
    }
}

SrvSample *
srv_sample_read (BaseWords *words)
{
  SrvSample *sample = srv_sample_new ();
  guint64 head[6] = { 0 }, pair[2], at = 0, count = 0;
  gboolean good = base_words_take (words, head, 6) && head[4] <= 1 && (head[4] == 1) == (head[0] >= MOST_EXACT);
  sample->count = head[0];
  sample->most = head[1];
  sample->low = head[2];
  sample->high = head[3];
  if (good && head[4] == 1)
    to_buckets (sample);
  for (guint64 i = 0; good && i < head[5]; i++) {
    good = base_words_take (words, pair, 2) && pair[1] > 0 && pair[1] <= head[0] - count;
    at = sample->buckets != NULL ? at + pair[0] : pair[0];
    good = good && (sample->buckets == NULL || at < BUCKETS);
    if (!good)
      break;
    count += pair[1];
    if (sample->buckets != NULL)
      sample->buckets[at] += pair[1];
    else
      add_entry (sample, at, pair[1]);
  }
  if (good && count == head[0])
    return sample;
  srv_sample_free (sample);
  return NULL;
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
  return (SrvSpread){ .mean = unit * (ldexp ((double)sample->high, 64) + (double)sample->low) / (double)sample->count,
                      .p50 = unit * quantile (sample, 0.50),
                      .p90 = unit * quantile (sample, 0.90),
                      .p95 = unit * quantile (sample, 0.95),
                      .p99 = unit * quantile (sample, 0.99),
                      .most = unit * (double)sample->most };
}
