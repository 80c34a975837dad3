/* Whom to call when flows end, each once: flows have few different callees, and name theirs by its place.
 *
 * Found by a hash table with linear probing. Callees that no flow names any more are given up when there is no room left, by a look
 * at all flows; there is one only when there are so many callees that the look costs little for each. */
#include "base/hash.h"
#include "engine-private.h"

#define LEAST 16u
/* Flows looked at for each place, at most. */
#define FLOWS_A_PLACE 4u

static inline uint32_t
home_of (const EngCallees *callees, const EngCallee *callee)
{
  const uint64_t words[] = { (uint64_t)(uintptr_t)callee->fn, (uint64_t)(uintptr_t)callee->user, callee->high };
  uint64_t hash = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS (words); i++)
    hash = base_hash_mix (hash ^ words[i]);
  return (uint32_t)hash & (2u * callees->n_allocated - 1u);
}

static inline bool
are_same (const EngCallee *a, const EngCallee *b)
{
  return a->fn == b->fn && a->user == b->user && a->high == b->high;
}

/* The spot that names it, or the empty one where it belongs. */
static uint32_t
spot_of (const EngCallees *callees, const EngCallee *wanted)
{
  uint32_t spot = home_of (callees, wanted);
  while (callees->spots[spot] != ENG_NO_SLOT && !are_same (&callees->items[callees->spots[spot]], wanted))
    spot = (spot + 1u) & (2u * callees->n_allocated - 1u);
  return spot;
}

/* Gives up those that no flow names; the table then names the others. `used`: by place. */
static void
list_used (EngCallees *callees, const bool *used)
{
  memset (callees->spots, 0xff, 2u * callees->n_allocated * sizeof *callees->spots);
  callees->free = ENG_NO_SLOT;
  for (uint32_t at = callees->n; at-- > 0;)
    if (used[at]) {
      callees->spots[spot_of (callees, &callees->items[at])] = at;
    } else {
      callees->items[at] = (EngCallee){ .high = callees->free };
      callees->free = at;
    }
}

static void
double_room (EngCallees *callees)
{
  callees->n_allocated *= 2u;
  callees->items = g_renew (EngCallee, callees->items, callees->n_allocated);
  callees->spots = g_renew (uint32_t, callees->spots, 2u * (gsize)callees->n_allocated);
}

static void
make_room (EngNet *net)
{
  EngCallees *callees = &net->callees;
  g_autofree bool *used = g_new0 (bool, callees->n);
  const bool looks = net->flows.n <= FLOWS_A_PLACE * (uint64_t)callees->n;
  uint32_t n_used = callees->n;
  if (looks) {
    n_used = 1;
    used[0] = true;
    for (uint32_t flow = 0; flow < net->flows.n; flow++) {
      const uint32_t at = net->flows.call[flow].callee;
      if (net->flows.head[flow].state == ENG_FLOW_FREE || used[at])
        continue;
      used[at] = true;
      n_used++;
    }
  } else {
    memset (used, true, callees->n);
  }
  if (2u * n_used > callees->n_allocated)
    double_room (callees);
  list_used (callees, used);
  callees->latest = 0;
}

void
eng_callees_init (EngNet *net)
{
  EngCallees *callees = &net->callees;
  *callees = (EngCallees){ .n = 1, .n_allocated = LEAST };
  callees->items = g_new0 (EngCallee, LEAST);
  callees->spots = g_new (uint32_t, 2u * LEAST);
  list_used (callees, (const bool[]){ true });
}

void
eng_callees_clear (EngNet *net)
{
  g_free (net->callees.items);
  g_free (net->callees.spots);
}

uint32_t
eng_callee_find (EngNet *net, const EngCallee *wanted)
{
  EngCallees *callees = &net->callees;
  uint32_t spot = spot_of (callees, wanted), at = callees->spots[spot];
  if (at != ENG_NO_SLOT)
    return at;
  if (callees->free == ENG_NO_SLOT && callees->n == callees->n_allocated) {
    make_room (net);
    spot = spot_of (callees, wanted);
  }
  if (callees->free != ENG_NO_SLOT) {
    at = callees->free;
    callees->free = callees->items[at].high;
  } else {
    at = callees->n++;
  }
  callees->items[at] = *wanted;
  callees->spots[spot] = at;
  return at;
}
