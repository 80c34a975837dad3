/* What must hold of any storage: more of anything that serves is never slower, more to serve never quicker, and no answer exceeds
 * what it is bounded by. Tiers are drawn by a fixed seed. */
#include <math.h>

#include "base/random.h"
#include "harness.h"
#include "models/tier.h"

#define DRAWS 400

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

/* Between lo and hi, evenly over the orders of magnitude. */
static double
draw (BaseRandom *random, double lo, double hi)
{
  return lo * pow (hi / lo, base_random_unit (random));
}

static void
draw_tier (BaseRandom *random, MdlTier *tier, MdlTierQuestion *q)
{
  *tier = (MdlTier){ .servers = ceil (draw (random, 1, 100)) };
  MdlTierSide *side = &tier->type.side[MDL_IO_READ];
  side->rate = num (draw (random, 1e8, 1e11));
  side->target = num (draw (random, 1e8, 1e10));
  side->client = num (draw (random, 1e8, 1e11));
  side->stream = num (draw (random, 1e7, 1e10));
  side->iops = num (draw (random, 1e2, 1e7));
  side->latency = num (draw (random, 1e-5, 1e-1));
  tier->type.targets = num (ceil (draw (random, 1, 32)));
  tier->type.stripe = (MdlTierStripe){ .count = num (1), .size = num (1048576) };
  tier->type.metadata = (MdlTierMetadata){ .servers = num (1), .rate = num (draw (random, 1e3, 1e6)), .latency = num (1e-3) };
  tier->type.blend = num (draw (random, 1, 16));
  *q = (MdlTierQuestion){ .op = MDL_IO_READ,
                          .block_B = draw (random, 512, 1e8),
                          .in_flight = ceil (draw (random, 1, 1000)),
                          .clients = ceil (draw (random, 1, 1000)),
                          .file_B = draw (random, 1e3, 1e9) };
}

static double
rate_of (const MdlTier *tier, const MdlTierQuestion *q)
{
  MdlTierCost cost;
  mdl_tier_cost (tier, q, NULL, &cost);
  return cost.all.rate_Bps;
}

static void
more_of_what_serves_is_never_slower (void)
{
  BaseRandom random = base_random_stream (1, "law_storage");
  for (int i = 0; i < DRAWS; i++) {
    MdlTier tier;
    MdlTierQuestion q;
    draw_tier (&random, &tier, &q);
    double base = rate_of (&tier, &q) * (1 - 1e-12);
    MdlTierSide *side = &tier.type.side[MDL_IO_READ];
    BaseNum *better[] = { &side->rate, &side->target, &side->client, &side->stream, &side->iops, &tier.type.metadata.rate };
    for (gsize k = 0; k < G_N_ELEMENTS (better); k++) {
      better[k]->v *= 2;
      TEST_TRUE (rate_of (&tier, &q) >= base);
      better[k]->v /= 2;
    }
    double *counts[] = { &tier.servers, &q.in_flight, &q.clients };
    for (gsize k = 0; k < G_N_ELEMENTS (counts); k++) {
      *counts[k] *= 2;
      TEST_TRUE (rate_of (&tier, &q) >= base);
      *counts[k] /= 2;
    }
    side->latency.v *= 2;
    TEST_TRUE (rate_of (&tier, &q) * (1 - 1e-12) <= base * (1 + 1e-11));
  }
}

static void
no_rate_exceeds_its_bounds_and_shares_are_equal (void)
{
  BaseRandom random = base_random_stream (2, "law_storage");
  for (int i = 0; i < DRAWS; i++) {
    MdlTier tier;
    MdlTierQuestion q;
    draw_tier (&random, &tier, &q);
    MdlTierCost cost;
    mdl_tier_cost (&tier, &q, NULL, &cost);
    const MdlTierSide *side = &tier.type.side[MDL_IO_READ];
    double sum_s = 0;
    for (int k = 0; k < 4; k++)
      sum_s += cost.all.part_s[k];
    TEST_TRUE (cost.all.rate_Bps <= mdl_tier_rate_Bps (&tier, MDL_IO_READ) * (1 + 1e-12));
    TEST_TRUE (cost.all.rate_Bps <= q.clients * side->client.v * (1 + 1e-12));
    TEST_TRUE (cost.all.iops <= tier.servers * side->iops.v * (1 + 1e-12));
    TEST_TRUE (cost.all.time_s >= side->latency.v * (1 - 1e-12));
    TEST_NEAR (cost.client_rate_Bps * q.clients, cost.all.rate_Bps, 1e-12);
    TEST_NEAR (q.in_flight * q.clients / cost.all.time_s, cost.all.iops, 1e-9); /* Little's law */
    TEST_NEAR (sum_s, cost.all.time_s, 1e-9);
  }
}

static void
a_shared_file_is_never_quicker_than_files_of_their_own (void)
{
  BaseRandom random = base_random_stream (3, "law_storage");
  for (int i = 0; i < DRAWS; i++) {
    MdlTier tier;
    MdlTierQuestion q;
    draw_tier (&random, &tier, &q);
    double own = rate_of (&tier, &q);
    q.shared = TRUE;
    TEST_TRUE (rate_of (&tier, &q) <= own * (1 + 1e-12));
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "more of what serves is never slower", more_of_what_serves_is_never_slower },
    { "no rate exceeds its bounds, and shares are equal", no_rate_exceeds_its_bounds_and_shares_are_equal },
    { "a shared file is never quicker than files of their own", a_shared_file_is_never_quicker_than_files_of_their_own },
    { NULL, NULL },
  };
  return test_main ("law/storage", cases);
}
