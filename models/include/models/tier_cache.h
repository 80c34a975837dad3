/* A storage tier that caches another one: what it does not hold, its servers fetch, store and serve.
 *
 *     1/rate of a server = 1/read rate + m/write rate      m: fraction of reads that miss; all of it <= rate of fetches / m
 *     wait of a request  = m min (1, block / fetch) x time of one fetch
 *     hits of an epoch   = 0 in the first; then 1 where the data set fits, else by what the cache keeps (below)
 *
 * Interface: MdlTierCache is what a topology says of it; the result is a tier as its readers see it, for models/tier.h. SI. */
#ifndef MODELS_TIER_CACHE_H
#define MODELS_TIER_CACHE_H

#include "models/tier.h"

/* What a full cache keeps: what was read last (LRU), or what came first. */
typedef enum { MDL_KEEP_RECENT, MDL_KEEP_FIRST } MdlKeep;
extern const BaseName mdl_keep_names[];

typedef struct {
  MdlTier origin;
  double capacity_B; /* HUGE_VAL: no limit */
  double fetch_B;    /* that one fetch brings */
  double in_flight;  /* fetches of one server at a time */
  MdlKeep keep;
} MdlTierCache;

/* The cache as readers see it. */
typedef struct {
  MdlTier tier;
  double fetch_s;     /* of one fetch alone */
  double fetch_Bps;   /* of all servers together, from the origin */
  gboolean by_origin; /* that is what limits the rate of reads */
  gboolean slows;     /* reads wait for fetches: by their rate, or for most of their latency */
} MdlTierCached;

/* Fraction of an epoch's reads that the cache answers, after one epoch of all set_B bytes. `shuffled`: each epoch has an order of
 * its own, every sample once. With c = capacity / set < 1: what came first stays, hits are c; least recently used parts leave, hits
 * are c + (1 - c) ln (1 - c), and none in the same order each time. */
double mdl_tier_cache_hits (const MdlTierCache *cache, double set_B, gboolean shuffled);
/* Reads in blocks of block_B of which `misses` (0 to 1) must be fetched. Figures keep the weaker source. */
void mdl_tier_cache_reads (const MdlTier *tier, const MdlTierCache *cache, double misses, double block_B, MdlTierCached *out);

#endif
