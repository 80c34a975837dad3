/* What a link has left while levels rise: the arithmetic that a solve of everything and one of a part share. */
#ifndef ENGINE_FILL_PRIVATE_H
#define ENGINE_FILL_PRIVATE_H

#include "engine-private.h"

#include <math.h>

/* A share within this of the level is the level; a link that lacks less than this of its capacity is full. */
#define REL_SAME 1e-12

static inline double
wide_to_double (uint64_t hi, uint64_t lo)
{
  return (double)hi * 0x1p64 + (double)lo;
}

/* A weight in the units of a mixed link; never none, so that a link with flows has a rest. */
static inline void
count_weight (const EngLinkFill *fill, double weight, uint64_t *hi, uint64_t *lo)
{
  double units = weight * fill->scale, upper = floor (units * 0x1p-64);
  *hi = (uint64_t)upper;
  *lo = units < 1.0 ? 1 : (uint64_t)(units - upper * 0x1p64);
}

/* n times as much, n < 2^32. */
static inline void
count_times (uint64_t n, uint64_t *hi, uint64_t *lo)
{
  uint64_t low = (*lo & UINT32_MAX) * n, high = (*lo >> 32) * n + (low >> 32);
  *lo = high << 32 | (low & UINT32_MAX);
  *hi = *hi * n + (high >> 32);
}

static inline double
rest_of (const EngLinkFill *fill)
{
  return wide_to_double (fill->rest_hi, fill->rest_lo) * fill->unit;
}

/* Capacity taken by all flows that have a rate. */
static inline double
used_of (const EngLinkFill *fill)
{
  uint64_t lo = fill->settled_lo - fill->rest_lo;
  uint64_t hi = fill->settled_hi - fill->rest_hi - (fill->settled_lo < fill->rest_lo);
  return fill->used + wide_to_double (hi, lo) * fill->unit * fill->level;
}

static inline double
share_of (const EngLinkState *link, const EngLinkFill *fill)
{
  double share = (link->capacity - used_of (fill)) / rest_of (fill);
  return share > 0.0 ? share : 0.0;
}

#endif
