#include "base/random.h"
#include "harness.h"

#include <math.h>

/* Seed 42, sequence 54, as the demo program of the PCG library prints them (pcg-c-basic, pcg32-demo, round 1). Seeding: state 0,
 * increment 2 x 54 + 1; one step; the seed is added; one step. */
static void
the_generator_gives_the_published_numbers (void)
{
  static const guint32 published[] = { 0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e };
  BaseRandom random = { 0, 109 };
  base_random_u32 (&random);
  random.state += 42;
  base_random_u32 (&random);
  for (gsize i = 0; i < G_N_ELEMENTS (published); i++)
    TEST_INT (base_random_u32 (&random), published[i]);
}

/* splitmix64 seeded with 0 begins with e220a8397b1dcdaf (Vigna, splitmix64.c). The hash of nothing but a seed is that step, taken
 * again with each word mixed in: hash (0, x, …) = step (step (0) ^ x) …; with x = step (0) the second step is of 0 again. */
static void
the_hash_is_chained_splitmix64 (void)
{
  const guint64 first = 0xe220a8397b1dcdafu;
  TEST_TRUE (base_random_hash (0, first, first, first) == first);
  TEST_TRUE (base_random_hash (0, first, first, 0) != first);
  TEST_TRUE (base_random_hash (1, 2, 3, 4) != base_random_hash (1, 2, 4, 3));
  TEST_TRUE (base_random_hash (1, 2, 3, 4) == base_random_hash (1, 2, 3, 4));
}

static gboolean
same (BaseRandom a, BaseRandom b)
{
  return a.state == b.state && a.increment == b.increment;
}

static void
streams_differ_by_seed_name_and_index_and_by_nothing_else (void)
{
  TEST_TRUE (same (base_random_stream (1, "jitter"), base_random_stream (1, "jitter")));
  TEST_FALSE (same (base_random_stream (1, "jitter"), base_random_stream (2, "jitter")));
  TEST_FALSE (same (base_random_stream (1, "jitter"), base_random_stream (1, "jittes")));
  TEST_FALSE (same (base_random_stream_at (1, "jitter", 0), base_random_stream_at (1, "jitter", 1)));
  TEST_FALSE (same (base_random_stream_at (1, "jitter", 0), base_random_stream (1, "jitter")));
  TEST_INT (base_random_stream (1, "jitter").increment & 1, 1); /* an even one has a short period */
}

/* A change of these numbers changes every seeded result: it must not go unseen. */
static void
a_stream_is_the_same_on_every_machine (void)
{
  BaseRandom random = base_random_stream (1, "failures");
  guint32 first = base_random_u32 (&random);
  BaseRandom again = base_random_stream (1, "failures");
  TEST_INT (first, base_random_u32 (&again));
  TEST_INT (first, 3464185514u);
}

/* Standard error of the mean of n uniform numbers: sqrt (1/12/n) = 0.0009 at n = 100000. Five of them are allowed. */
static void
unit_numbers_lie_in_the_unit_interval_and_are_even (void)
{
  BaseRandom random = base_random_stream (3, "unit");
  const unsigned n = 100000;
  double sum = 0;
  for (unsigned i = 0; i < n; i++) {
    double u = base_random_unit (&random);
    if (!(u >= 0 && u < 1))
      TEST_TRUE (FALSE);
    sum += u;
  }
  TEST_TRUE (fabs (sum / n - 0.5) < 5 * 0.0009128709291752769);
}

/* Bound 3 x 2^30: with plain remainders the first quarter of the results would come twice as often as the rest, a third of all
 * results below 2^30 would be a half. 1/3 within five standard errors (sqrt (1/3 x 2/3 / 30000) = 0.0027). */
static void
bounded_numbers_are_unbiased (void)
{
  BaseRandom random = base_random_stream (4, "below");
  const guint32 bound = 3u << 30;
  unsigned low = 0;
  const unsigned n = 30000;
  for (unsigned i = 0; i < n; i++) {
    guint32 r = base_random_below (&random, bound);
    if (r >= bound)
      TEST_TRUE (FALSE);
    low += r < 1u << 30;
  }
  TEST_TRUE (fabs ((double)low / n - 1.0 / 3) < 5 * 0.0027);
  TEST_INT (base_random_below (&random, 1), 0);
}

/* Exponential of mean m: mean m, deviation m. Normal: mean 0, variance 1, a share of 0.6827 within one deviation. n = 100000, five
 * standard errors each: m / sqrt n = 0.0032 m; sqrt (2 / n) = 0.0045; sqrt (0.6827 x 0.3173 / n) = 0.0015. */
static void
distributions_have_their_moments (void)
{
  BaseRandom random = base_random_stream (5, "moments");
  const unsigned n = 100000;
  double exponential = 0, sum = 0, squares = 0, within = 0;
  for (unsigned i = 0; i < n; i++) {
    double e = base_random_exponential (&random, 7);
    if (!(e >= 0 && isfinite (e)))
      TEST_TRUE (FALSE);
    exponential += e;
    double z = base_random_normal (&random);
    sum += z;
    squares += z * z;
    within += fabs (z) < 1;
  }
  TEST_TRUE (fabs (exponential / n / 7 - 1) < 5 * 0.0032);
  TEST_TRUE (fabs (sum / n) < 5 * 0.0032);
  TEST_TRUE (fabs (squares / n - 1) < 5 * 0.0045);
  TEST_TRUE (fabs (within / n - 0.6826894921) < 5 * 0.0015);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the generator gives the published numbers", the_generator_gives_the_published_numbers },
    { "the hash is chained splitmix64", the_hash_is_chained_splitmix64 },
    { "streams differ by seed, name and index, and by nothing else", streams_differ_by_seed_name_and_index_and_by_nothing_else },
    { "a stream is the same on every machine", a_stream_is_the_same_on_every_machine },
    { "unit numbers lie in the unit interval and are even", unit_numbers_lie_in_the_unit_interval_and_are_even },
    { "bounded numbers are unbiased", bounded_numbers_are_unbiased },
    { "distributions have their moments", distributions_have_their_moments },
    { 0 },
  };
  return test_main ("base/random", cases);
}
