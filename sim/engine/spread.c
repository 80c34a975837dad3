/* Which other links the members of a bottleneck cross, and how many of them cross each.
 *
 * A change of level reaches each of these links once, however many members cross it: in an all-to-all of 1,024 on hashed paths
 * 2.7 do. A hash table with linear probing finds an entry; a few are looked through. */
#include "base/hash.h"
#include "bottleneck-private.h"

/* So many are looked through, and the bits of the least table. */
#define FEW        12u
#define LEAST_BITS 5u

static inline uint32_t
home_of (const EngService *service, EngLink other)
{
  return base_hash_u32 (other) >> (32u - service->n_bits);
}

static inline uint32_t
after (const EngService *service, uint32_t spot)
{
  return (spot + 1u) & ((1u << service->n_bits) - 1u);
}

/* The spot of the entry at spread[at], which is there. */
static inline uint32_t
spot_of (const EngService *service, uint32_t at)
{
  uint32_t spot = home_of (service, service->spread[at].link);
  while (service->spots[spot] != at)
    spot = after (service, spot);
  return spot;
}

/* Its place in spread[]; ENG_NO_SLOT: none. */
static uint32_t
find (const EngService *service, EngLink other)
{
  if (service->spots == NULL) {
    for (uint32_t at = 0; at < service->n_others; at++)
      if (service->spread[at].link == other)
        return at;
    return ENG_NO_SLOT;
  }
  uint32_t spot = home_of (service, other);
  while (service->spots[spot] != ENG_NO_SLOT && service->spread[service->spots[spot]].link != other)
    spot = after (service, spot);
  return service->spots[spot];
}

static void
fill_spot (EngService *service, uint32_t at)
{
  uint32_t spot = home_of (service, service->spread[at].link);
  while (service->spots[spot] != ENG_NO_SLOT)
    spot = after (service, spot);
  service->spots[spot] = at;
}

/* What follows in the table closes up (Knuth, TAOCP 3, 6.4, algorithm R). */
static void
empty_spot (EngService *service, uint32_t spot)
{
  const uint32_t mask = (1u << service->n_bits) - 1u;
  for (uint32_t next = after (service, spot); service->spots[next] != ENG_NO_SLOT; next = after (service, next)) {
    const uint32_t home = home_of (service, service->spread[service->spots[next]].link);
    if (((next - home) & mask) < ((next - spot) & mask))
      continue;
    service->spots[spot] = service->spots[next];
    spot = next;
  }
  service->spots[spot] = ENG_NO_SLOT;
}

/* A table of at least twice as many spots as entries. */
static void
make_table (EngService *service)
{
  service->n_bits = (uint8_t)MAX (LEAST_BITS, service->n_bits + 1u);
  g_free (service->spots);
  service->spots = g_new (uint32_t, (gsize)1 << service->n_bits);
  memset (service->spots, 0xff, sizeof *service->spots << service->n_bits);
  for (uint32_t at = 0; at < service->n_others; at++)
    fill_spot (service, at);
}

static inline void
swap (EngService *service, uint32_t a, uint32_t b)
{
  const EngSpread entry = service->spread[a];
  if (a == b)
    return;
  if (service->spots != NULL) {
    const uint32_t spot = spot_of (service, a);
    service->spots[spot_of (service, b)] = a;
    service->spots[spot] = b;
  }
  service->spread[a] = service->spread[b];
  service->spread[b] = entry;
}

void
eng_spread_make_loud (EngNet *net, EngLink link, EngLink other)
{
  EngService *service = eng_service_of (net, link);
  const uint32_t at = find (service, other);
  if (at >= eng_bottleneck_of (net, link)->n_spread)
    swap (service, at, eng_bottleneck_of (net, link)->n_spread++);
}

void
eng_spread_make_quiet (EngNet *net, EngLink link, EngLink other)
{
  EngService *service = eng_service_of (net, link);
  const uint32_t at = find (service, other);
  if (at < eng_bottleneck_of (net, link)->n_spread)
    swap (service, at, --eng_bottleneck_of (net, link)->n_spread);
}

void
eng_spread_enter (EngNet *net, EngLink link, EngLink other)
{
  EngService *service = eng_service_of (net, link);
  const uint32_t at = find (service, other);
  if (at != ENG_NO_SLOT) {
    service->spread[at].n++;
    return;
  }
  if (service->n_others == service->spread_allocated) {
    service->spread_allocated = eng_grown (service->spread_allocated);
    service->spread = g_renew (EngSpread, service->spread, service->spread_allocated);
  }
  service->spread[service->n_others++] = (EngSpread){ .link = other, .n = 1 };
  if (service->spots == NULL ? service->n_others > FEW : service->n_others > 1u << (service->n_bits - 1u))
    make_table (service);
  else if (service->spots != NULL)
    fill_spot (service, service->n_others - 1u);
  if (!net->clocks.quiet[other])
    swap (service, service->n_others - 1u, eng_bottleneck_of (net, link)->n_spread++);
}

void
eng_spread_leave (EngNet *net, EngLink link, EngLink other)
{
  EngService *service = eng_service_of (net, link);
  EngBottleneck *one = eng_bottleneck_of (net, link);
  uint32_t at = find (service, other);
  if (--service->spread[at].n > 0)
    return;
  if (at < one->n_spread) {
    swap (service, at, --one->n_spread);
    at = one->n_spread;
  }
  swap (service, at, service->n_others - 1u);
  if (service->spots != NULL)
    empty_spot (service, spot_of (service, service->n_others - 1u));
  service->n_others--;
}
