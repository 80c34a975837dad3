/* A tier before another. Each byte that misses is written to the cache's servers before it is read from them, so that a server is
 * busy 1/r + m/w a byte; fetches are a closed queue of their own at the origin, whose clients are the cache's servers.
 *
 * Least recently used, another order each epoch: a sample at place p of an epoch and q of the next (both even in 0 … 1) is found
 * where the parts read in between, 1 - p of the old order and q of the new, less what is in both, are at most c:
 *     1 - p (1 - q) <= c;   P = c + (1 - c) ln (1 - c)
 * as the product of two even numbers is at least x with 1 - x + x ln x.
 *
 * Source: that a file is loaded at its first read, and served from the file system later: Amazon FSx for Lustre user guide,
 * "Importing changes from your data repository". That what came first had better stay: Mohan et al., "Analyzing and mitigating
 * data stalls in DNN training" (VLDB 2021), whose cache never replaces.
 * Valid: all clients miss alike; traffic from the origin to the cache uses links of its own. Check: test_models_tier_cache. */
#include "models/tier_cache.h"

#include <math.h>

const BaseName mdl_keep_names[] = { { "recent", MDL_KEEP_RECENT, "what was read last; least recently used parts leave" },
                                    { "first", MDL_KEEP_FIRST, "what came first; nothing leaves" },
                                    { NULL, 0, NULL } };

double
mdl_tier_cache_hits (const MdlTierCache *cache, double set_B, gboolean shuffled)
{
  const double c = set_B > 0 ? cache->capacity_B / set_B : 1;
  if (c >= 1)
    return 1;
  if (cache->keep == MDL_KEEP_FIRST)
    return c;
  return shuffled ? c + (1 - c) * log1p (-c) : 0;
}

/* 1 / (1/num + part/other), where either may be no limit. */
static void
beside (BaseNum *num, const BaseNum *other, double part)
{
  const double s = (num->set && num->v > 0 ? 1 / num->v : 0) + (other->set && other->v > 0 ? part / other->v : 0);
  if (!(s > 0) || !(part > 0) || !other->set)
    return;
  num->source = num->set ? MIN (num->source, other->source) : other->source;
  num->v = 1 / s;
  num->set = TRUE;
}

void
mdl_tier_cache_reads (const MdlTier *tier, const MdlTierCache *cache, double misses, double block_B, MdlTierCached *out)
{
  *out = (MdlTierCached){ .tier = *tier, .fetch_Bps = HUGE_VAL };
  if (!(misses > 0))
    return;
  MdlTierQuestion q = { .op = MDL_IO_READ, .path = MDL_IO_HOST, .block_B = cache->fetch_B, .in_flight = 1, .clients = 1 };
  MdlTierCost one, all;
  mdl_tier_cost (&cache->origin, &q, NULL, &one);
  q.in_flight = cache->in_flight;
  q.clients = tier->servers;
  mdl_tier_cost (&cache->origin, &q, NULL, &all);
  out->fetch_s = cache->fetch_B / one.all.rate_Bps;
  out->fetch_Bps = all.all.rate_Bps;
  MdlTierSide *read = &out->tier.type.side[MDL_IO_READ];
  const MdlTierSide *write = &tier->type.side[MDL_IO_WRITE];
  beside (&read->rate, &write->rate, misses);
  beside (&read->target, &write->target, misses);
  beside (&read->iops, &write->iops, misses * block_B / cache->fetch_B);
  const double wait_s = misses * fmin (1, block_B / cache->fetch_B) * out->fetch_s;
  const double own_s = read->latency.v;
  read->latency.v += wait_s;
  if (read->random_latency.set)
    read->random_latency.v += wait_s;
  read->latency.source = read->latency.set ? MIN (read->latency.source, one.all.source) : one.all.source;
  read->latency.set = TRUE;
  const double efficiency = tier->type.efficiency.v > 0 ? tier->type.efficiency.v : 1,
               most_Bps = out->fetch_Bps / (misses * tier->servers * efficiency);
  out->by_origin = mdl_tier_rate_Bps (&out->tier, MDL_IO_READ) > out->fetch_Bps / misses;
  out->slows = out->by_origin || read->latency.v > 2 * own_s;
  if (out->by_origin)
    read->rate = (BaseNum){ .v = most_Bps, .set = TRUE, .source = all.all.source };
  out->tier.type.burst.head.set = out->tier.type.burst.head.set && !out->by_origin;
}
