/* Which other links the members of a bottleneck cross, and how many of them cross each.
 *
 * A change of level reaches each of these links once, however many members cross it: in an all-to-all of 1,024 on hashed paths
 * 2.7 do. A hash table with linear probing finds an entry. While entries are few there is no table: they are looked through, and
 * each stands for one member, so that a link may be named more than once. */
#include "base/hash.h"
#include "bottleneck-private.h"

/* So many are looked through, and the bits of the first table; in tests, for networks of few flows, fewer. */
#define FEW        64u
#define LEAST_BITS 8u
#define TEST_FEW   4u
#define TEST_BITS  3u

G_STATIC_ASSERT (2u * FEW <= 1u << LEAST_BITS && 2u * TEST_FEW <= 1u << TEST_BITS);

static inline uint32_t
home_of (const EngBottleneck *one, EngLink other)
{
  return base_hash_u32 (other) >> (32u - one->n_bits);
}

static inline uint32_t
after (const EngBottleneck *one, uint32_t spot)
{
  return (spot + 1u) & ((1u << one->n_bits) - 1u);
}

/* The spot of the entry at spread[at], which is there. */
static inline uint32_t
spot_of (const EngBottleneck *one, uint32_t at)
{
  uint32_t spot = home_of (one, one->spread[at].link);
  while (one->spots[spot] != at)
    spot = after (one, spot);
  return spot;
}

/* Its place in spread[], without a table the first from `from` on; ENG_NO_SLOT: none. */
static uint32_t
find (const EngBottleneck *one, EngLink other, uint32_t from)
{
  if (one->n_bits == 0) {
    for (uint32_t at = from; at < one->n_others; at++)
      if (one->spread[at].link == other)
        return at;
    return ENG_NO_SLOT;
  }
  uint32_t spot = home_of (one, other);
  while (one->spots[spot] != ENG_NO_SLOT && one->spread[one->spots[spot]].link != other)
    spot = after (one, spot);
  return one->spots[spot];
}

static void
fill_spot (EngBottleneck *one, uint32_t at)
{
  uint32_t spot = home_of (one, one->spread[at].link);
  while (one->spots[spot] != ENG_NO_SLOT)
    spot = after (one, spot);
  one->spots[spot] = at;
}

/* What follows in the table closes up (Knuth, TAOCP 3, 6.4, algorithm R). */
static void
empty_spot (EngBottleneck *one, uint32_t spot)
{
  const uint32_t mask = (1u << one->n_bits) - 1u;
  for (uint32_t next = after (one, spot); one->spots[next] != ENG_NO_SLOT; next = after (one, next)) {
    const uint32_t home = home_of (one, one->spread[one->spots[next]].link);
    if (((next - home) & mask) < ((next - spot) & mask))
      continue;
    one->spots[spot] = one->spots[next];
    spot = next;
  }
  one->spots[spot] = ENG_NO_SLOT;
}

/* Names each link once. All entries of a link are on the same side of `n_spread`. */
static void
merge (EngBottleneck *one)
{
  uint32_t n = 0, n_spread = 0;
  for (uint32_t at = 0; at < one->n_others; at++) {
    const EngSpread entry = one->spread[at];
    uint32_t same = 0;
    while (same < n && one->spread[same].link != entry.link)
      same++;
    if (same < n) {
      one->spread[same].n += entry.n;
      continue;
    }
    one->spread[n++] = entry;
    n_spread += at < one->n_spread;
  }
  one->n_others = n;
  one->n_spread = n_spread;
}

/* A table of at least twice as many spots as entries. */
static void
make_table (EngBottleneck *one, uint8_t least_bits)
{
  if (one->n_bits == 0)
    merge (one);
  one->n_bits = one->n_bits == 0 ? least_bits : (uint8_t)(one->n_bits + 1u);
  g_free (one->spots);
  one->spots = g_new (uint32_t, (gsize)1 << one->n_bits);
  memset (one->spots, 0xff, sizeof *one->spots << one->n_bits);
  for (uint32_t at = 0; at < one->n_others; at++)
    fill_spot (one, at);
}

static inline void
swap (EngBottleneck *one, uint32_t a, uint32_t b)
{
  const EngSpread entry = one->spread[a];
  if (a == b)
    return;
  if (one->n_bits > 0) {
    const uint32_t spot = spot_of (one, a);
    one->spots[spot_of (one, b)] = a;
    one->spots[spot] = b;
  }
  one->spread[a] = one->spread[b];
  one->spread[b] = entry;
}

void
eng_spread_make_loud (EngNet *net, EngLink link, EngLink other)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const uint32_t at = find (one, other, one->n_spread);
  if (at >= one->n_spread)
    swap (one, at, one->n_spread++);
}

void
eng_spread_make_quiet (EngNet *net, EngLink link, EngLink other)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const uint32_t at = find (one, other, 0);
  if (at < one->n_spread)
    swap (one, at, --one->n_spread);
}

void
eng_spread_enter (EngNet *net, EngLink link, EngLink other)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const uint32_t at = one->n_bits == 0 ? ENG_NO_SLOT : find (one, other, 0);
  if (at != ENG_NO_SLOT) {
    one->spread[at].n++;
    return;
  }
  if (one->n_others == one->spread_allocated) {
    one->spread_allocated = eng_grown (one->spread_allocated);
    one->spread = g_renew (EngSpread, one->spread, one->spread_allocated);
  }
  one->spread[one->n_others++] = (EngSpread){ .link = other, .n = 1 };
  if (one->n_bits > 0)
    fill_spot (one, one->n_others - 1u);
  if (!net->clocks.quiet[other])
    swap (one, one->n_others - 1u, one->n_spread++);
  const bool tested = net->how == ENG_SOLVE_CLOCKS;
  const uint32_t few = tested ? TEST_FEW : FEW;
  if (one->n_others > (one->n_bits == 0 ? few : 1u << (one->n_bits - 1u)))
    make_table (one, tested ? TEST_BITS : LEAST_BITS);
}

/* Leaves a hole behind. */
static inline void
move (EngBottleneck *one, uint32_t from, uint32_t to)
{
  if (from == to)
    return;
  if (one->n_bits > 0)
    one->spots[spot_of (one, from)] = to;
  one->spread[to] = one->spread[from];
}

void
eng_spread_leave (EngNet *net, EngLink link, EngLink other)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  uint32_t hole = find (one, other, 0);
  if (--one->spread[hole].n > 0)
    return;
  if (one->n_bits > 0)
    empty_spot (one, spot_of (one, hole));
  if (hole < one->n_spread) {
    move (one, --one->n_spread, hole);
    hole = one->n_spread;
  }
  move (one, --one->n_others, hole);
}
