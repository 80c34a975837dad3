/* A cache of 4 servers before an origin: every number follows from these. */
#include <math.h>

#include "harness.h"
#include "models/tier_cache.h"

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

/* Servers read 10 GB/s and write 5. */
static MdlTier
front (void)
{
  MdlTier t = { .servers = 4 };
  t.type.side[MDL_IO_READ] = (MdlTierSide){ .rate = num (10e9), .latency = num (1e-3) };
  t.type.side[MDL_IO_WRITE] = (MdlTierSide){ .rate = num (5e9), .latency = num (1e-3) };
  t.type.blend = num (16);
  return t;
}

/* A fetch of 8 MB: 100 ms and 80 MB/s, so 200 ms; each server 50 of them: 2 GB/s. */
static MdlTierCache
cache (double capacity_B)
{
  MdlTierCache c = { .capacity_B = capacity_B, .fetch_B = 8e6, .in_flight = 50 };
  c.origin.servers = 1;
  c.origin.type.kind.v = MDL_TIER_OBJECT;
  c.origin.type.side[MDL_IO_READ] = (MdlTierSide){ .latency = num (0.1), .stream = num (80e6) };
  c.origin.type.side[MDL_IO_READ].latency.source = BASE_SOURCE_ASSUMED;
  c.origin.type.blend = num (16);
  return c;
}

static double
rate_Bps (const MdlTier *tier, double block_B, double in_flight)
{
  const MdlTierQuestion q = { .op = MDL_IO_READ, .block_B = block_B, .in_flight = in_flight, .clients = 1 };
  MdlTierCost cost;
  mdl_tier_cost (tier, &q, NULL, &cost);
  return cost.all.rate_Bps;
}

static void
what_hits_is_as_fast_as_the_cache_alone (void)
{
  const MdlTier t = front ();
  const MdlTierCache c = cache (HUGE_VAL);
  MdlTierCached out;
  mdl_tier_cache_reads (&t, &c, 0, 1e6, &out);
  TEST_NEAR (rate_Bps (&out.tier, 1e6, 1e6), 40e9, 1e-3);
  TEST_NEAR (out.tier.type.side[MDL_IO_READ].latency.v, 1e-3, 1e-12);
  TEST_TRUE (!out.by_origin);
}

static void
what_misses_comes_as_fast_as_fetches (void)
{
  const MdlTier t = front ();
  const MdlTierCache c = cache (HUGE_VAL);
  MdlTierCached out;
  mdl_tier_cache_reads (&t, &c, 1, 8e6, &out);
  TEST_NEAR (out.fetch_s, 0.2, 1e-9);
  TEST_NEAR (out.fetch_Bps, 8e9, 1e-3); /* 4 servers x 50 x 8 MB / 200 ms */
  TEST_TRUE (out.by_origin);
  TEST_NEAR (rate_Bps (&out.tier, 8e6, 1e6), 8e9, 1e-3);
  TEST_NEAR (rate_Bps (&out.tier, 8e6, 1), 8e6 / 0.201, 0.02); /* one reader waits for its fetch */
  TEST_TRUE (out.tier.type.side[MDL_IO_READ].latency.source == BASE_SOURCE_ASSUMED);
  /* half of it: twice the rate, half the wait; blocks of half a fetch find the other half there */
  mdl_tier_cache_reads (&t, &c, 0.5, 4e6, &out);
  TEST_NEAR (rate_Bps (&out.tier, 8e6, 1e6), 16e9, 1e-3);
  TEST_NEAR (out.tier.type.side[MDL_IO_READ].latency.v, 1e-3 + 0.5 * 0.5 * 0.2, 1e-9);
}

static void
a_fast_origin_leaves_storing_as_the_limit (void)
{
  const MdlTier t = front ();
  MdlTierCache c = cache (HUGE_VAL);
  MdlTierCached out;
  c.in_flight = 5000;
  mdl_tier_cache_reads (&t, &c, 1, 8e6, &out);
  TEST_TRUE (!out.by_origin);
  TEST_NEAR (rate_Bps (&out.tier, 8e6, 1e6), 4 / (1 / 10e9 + 1 / 5e9), 1e-3); /* read, and written before */
}

static void
more_misses_are_never_faster (void)
{
  const MdlTier t = front ();
  const MdlTierCache c = cache (HUGE_VAL);
  for (double in_flight = 1; in_flight < 1e5; in_flight *= 8) {
    double before_Bps = HUGE_VAL;
    for (double misses = 0; misses <= 1; misses += 0.05) {
      MdlTierCached out;
      mdl_tier_cache_reads (&t, &c, misses, 1e6, &out);
      double Bps = rate_Bps (&out.tier, 1e6, in_flight);
      TEST_TRUE (Bps <= before_Bps * (1 + 1e-9));
      before_Bps = Bps;
    }
  }
}

static void
hits_follow_from_what_is_kept (void)
{
  MdlTierCache c = cache (50e12);
  TEST_NEAR (mdl_tier_cache_hits (&c, 50e12, FALSE), 1, 0);
  TEST_NEAR (mdl_tier_cache_hits (&c, 100e12, FALSE), 0, 0);                        /* gone just before it is wanted */
  TEST_NEAR (mdl_tier_cache_hits (&c, 100e12, TRUE), 0.5 + 0.5 * log (0.5), 1e-12); /* 15.3 % */
  c.keep = MDL_KEEP_FIRST;
  TEST_NEAR (mdl_tier_cache_hits (&c, 100e12, TRUE), 0.5, 1e-12);
  TEST_NEAR (mdl_tier_cache_hits (&c, 100e12, FALSE), 0.5, 1e-12);
}

/* The law of least recently used parts, against a cache that is run: 2,000 samples, 1,000 kept, shuffled by a fixed rule. */
static void
the_law_of_shuffled_epochs_is_that_of_a_cache_that_is_run (void)
{
  enum { N = 2000, KEPT = 1000, EPOCHS = 30 };
  static guint64 last[N];
  static guint order[N];
  guint64 clock = 0, state = 1;
  guint hits = 0, reads = 0;
  for (guint i = 0; i < N; i++)
    order[i] = i;
  for (guint epoch = 0; epoch < EPOCHS; epoch++) {
    for (guint i = N - 1; i > 0; i--) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      guint k = (guint)((state >> 33) % (i + 1)), other = order[i];
      order[i] = order[k];
      order[k] = other;
    }
    for (guint i = 0; i < N; i++) {
      guint newer = 0, at = order[i];
      for (guint k = 0; k < N && last[at] > 0; k++)
        newer += last[k] > last[at];
      hits += epoch > 0 && newer < KEPT;
      reads += epoch > 0;
      last[at] = ++clock;
    }
  }
  const MdlTierCache c = cache (KEPT);
  TEST_NEAR ((double)hits / reads, mdl_tier_cache_hits (&c, N, TRUE), 0.03);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "what hits is as fast as the cache alone", what_hits_is_as_fast_as_the_cache_alone },
    { "what misses comes as fast as fetches", what_misses_comes_as_fast_as_fetches },
    { "a fast origin leaves storing as the limit", a_fast_origin_leaves_storing_as_the_limit },
    { "more misses are never faster", more_misses_are_never_faster },
    { "hits follow from what is kept", hits_follow_from_what_is_kept },
    { "the law of shuffled epochs is that of a cache that is run", the_law_of_shuffled_epochs_is_that_of_a_cache_that_is_run },
    { NULL, NULL },
  };
  return test_main ("models/tier_cache", cases);
}
