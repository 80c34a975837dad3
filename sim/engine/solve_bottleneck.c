/* Levels of bottlenecks after a change.
 *
 * A link is looked at when a flow of it came or went, or has another rate. Its level is what makes it full,
 *     (room - others) / members,
 * and where one of the others is faster than this, it becomes a member, the fastest first, which raises the level again. A link
 * without members that is over its capacity gets its first ones so. Then the rates of the members are changed on their other
 * links, and these are looked at if they have members or are over their capacity. The lowest comes first: what happens at a level
 * concerns higher ones, but where a flow was held too low until then, so nearly all are looked at once.
 *
 * Stop rule: when no link is left to look at, rates are the max-min fair ones. They are if and only if no link is over its
 * capacity and each flow has a bottleneck, a full link on which no flow is faster (Bertsekas and Gallager, Data Networks, 2nd ed.,
 * 6.5.2; Ros and Tsai, IEEE/ACM Trans. Networking 9(5), 2001). Proof. A link without members is within its capacity, else it would
 * be looked at: its sum only changes by flows that come, go or change their rate. A link with members was full when it was last
 * looked at, and none of its others was faster; since then no flow of it came, went or changed its rate, else it would be looked at
 * again. So it is full still, and the bottleneck of its members; and each flow is a member somewhere. A private link is within its
 * capacity as long as its one level is at most capacity / flows, which is held against each level of its owner and each flow that
 * comes.
 * That it ends is not proved here but bounded: after too many looks all is solved another way (solve.c).
 *
 * Sums are kept in two doubles, so that rates depend on the flows and not on the order in which they came: but for the last bit,
 * and for levels within 1e-12 of each other, of which either may be the bottleneck.
 * Check: law_engine_fair holds random networks against the oracle, 10^4 of them, and 10^5 as law_engine_local. */
#include "bottleneck-private.h"
#include "fill-private.h"

#include <stdlib.h>

/* Rates that a solve may look at, all and for each flow that moves. Where nearly all levels are alike they may creep for long. */
#define LEAST_SEEN  16384u
#define SEEN_A_FLOW 32u
/* A level as close to the one before stays. */
#define REL_STILL 1e-15
/* Less than this of a link's room may be what rounding left of no others. */
#define REL_SLIGHT 1e-9

/* What others leave of the link. */
static inline double
left_by_others (const EngBottleneck *one)
{
  const double sum = one->room - one->others, part = sum - one->room;
  return sum + (((one->room - (sum - part)) + (-one->others - part)) - one->others_rest);
}

static void
look_at (EngNet *net, EngLink link)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  if (one->queued)
    return;
  if (one->owner != ENG_NO_SLOT) {
    if (net->clocks.level[one->owner] * net->links.state[link].n_flows <= one->room * (1.0 + REL_SAME))
      return;
    eng_bottleneck_publish (net, link);
  }
  const double left = one->room - one->others;
  if (one->n == 0 && left >= -one->room * REL_SAME)
    return;
  one->queued = true;
  eng_heap_push (&net->work.by_share, one->n > 0 ? left / one->n : left + one->top, link);
}

/* A flow goes from one rate to another: by how much, and what this number lacks. */
typedef struct {
  double to, change, rest;
} Change;

static inline Change
change_of (double from, double to)
{
  const double change = to - from, part = change - to;
  return (Change){ .to = to, .change = change, .rest = (to - (change - part)) + (-from - part) };
}

/* Private links that the level would fill are no longer private. */
static void
publish_full (EngNet *net, EngLink link, double level)
{
  EngHeap *safe = &eng_service_of (net, link)->safe;
  while (safe->n > 0 && safe->items[0].key < level) {
    const EngLink full = safe->items[0].id;
    const EngBottleneck *one = eng_bottleneck_of (net, full);
    eng_heap_pop (safe);
    if (one->owner != link)
      continue;
    const double until = one->room / net->links.state[full].n_flows;
    if (until < level)
      eng_bottleneck_publish (net, full);
    else
      eng_heap_push (safe, until, full);
  }
}

/* To a link of a member. TRUE: it is not private. */
static inline bool
pass_on (EngNet *net, EngLink from, EngLink link, const Change *change)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  if (one->owner == from)
    return false;
  eng_bottleneck_shift (one, change->change, change->rest);
  one->top = change->to > one->top ? change->to : one->top;
  if (!one->queued)
    look_at (net, link);
  return true;
}

/* To those of a member that has more than are listed. */
static bool
pass_on_to_all (EngNet *net, EngLink from, uint32_t flow, const Change *change)
{
  const EngFlowHead *head = &net->flows.head[flow];
  bool any = false;
  for (uint32_t k = 0; k < head->n_uses; k++)
    any |= net->pool.word[head->uses + k] != from && pass_on (net, from, net->pool.word[head->uses + k], change);
  return any;
}

static void
set_level (Eng *eng, EngLink link, double level)
{
  EngNet *net = &eng->net;
  const EngBottleneck *one = eng_bottleneck_of (net, link);
  const Change change = change_of (net->clocks.level[link], level);
  eng_bottleneck_advance (net, link, eng->now);
  eng_bottleneck_stir (net, link);
  if (one->crowd)
    publish_full (net, link, level);
  net->clocks.level[link] = level;
  net->clocks.n_seen += one->n_spread;
  const EngSpread *spread = eng_service_of (net, link)->spread;
  for (uint32_t i = 0; i < one->n_spread;) {
    const EngSpread *it = &spread[i];
    bool any = false;
    for (uint32_t k = 0; k < it->n && it->n <= ENG_LINKS_AT_HAND; k++)
      any |= pass_on (net, link, it->link[k], &change);
    if (it->n > ENG_LINKS_AT_HAND)
      any = pass_on_to_all (net, link, it->id, &change);
    if (any || !one->crowd)
      i++;
    else
      eng_bottleneck_drop_spread (net, link, it->id);
  }
}

/* The member of another link becomes one of this link, which has its level already. */
static void
capture (Eng *eng, EngLink link, uint32_t flow)
{
  EngNet *net = &eng->net;
  const EngFlowHead *head = &net->flows.head[flow];
  const EngLink from = net->flows.bottleneck[flow];
  const double before = net->clocks.level[from], level = net->clocks.level[link];
  for (uint32_t k = 0; k < head->n_uses; k++)
    if (eng_bottleneck_of (net, net->pool.word[head->uses + k])->owner == from)
      eng_bottleneck_publish (net, net->pool.word[head->uses + k]);
  const double left = eng_bottleneck_discharge (net, from, flow, eng->now);
  for (uint32_t k = 0; k < head->n_uses; k++) {
    EngBottleneck *used = eng_bottleneck_of (net, net->pool.word[head->uses + k]);
    if (net->pool.word[head->uses + k] != link)
      eng_bottleneck_add (used, level);
    if (net->pool.word[head->uses + k] != from)
      eng_bottleneck_add (used, -before);
  }
  eng_bottleneck_enlist (net, link, flow, left);
  eng_bottleneck_stir (net, from);
  for (uint32_t k = 0; k < head->n_uses; k++)
    if (net->pool.word[head->uses + k] != link)
      look_at (net, net->pool.word[head->uses + k]);
}

static int
fastest_first (const void *a, const void *b)
{
  const EngHeapItem *x = a, *y = b;
  if (x->key < y->key || x->key > y->key)
    return x->key > y->key ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Finds the others that are faster than the level, fastest first; without members all of them. Brings `top` up to date. */
static void
find_faster (EngNet *net, EngLink link, double level)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const EngLinkState *state = &net->links.state[link];
  const uint32_t *held = eng_service_of (net, link)->held;
  const double *levels = net->clocks.level;
  GArray *faster = net->clocks.faster;
  double top = 0.0;
  net->clocks.n_seen += state->n_flows;
  g_array_set_size (faster, 0);
  for (uint32_t i = 0; i < state->n_flows; i++) {
    const double rate = held[i] == link ? 0.0 : levels[held[i]]; /* none has just joined: all of these were taken in */
    if (rate > level)
      g_array_append_vals (faster, &(EngHeapItem){ .key = rate, .id = state->flows[i] }, 1);
    else
      top = rate > top ? rate : top;
  }
  one->top = top;
  if (faster->len > 1)
    qsort (faster->data, faster->len, sizeof (EngHeapItem), fastest_first);
}

/* The level at which the link is full, with those captured who would be faster. */
static void
find_level (Eng *eng, EngLink link)
{
  EngNet *net = &eng->net;
  EngBottleneck *one = eng_bottleneck_of (net, link);
  if (one->others < one->room * REL_SLIGHT && one->n == net->links.state[link].n_flows)
    one->others = one->others_rest = one->top = 0.0;
  double left = left_by_others (one), level = one->n > 0 ? fmax (left / one->n, 0.0) : -1.0;
  guint n_captured = 0;
  if (one->n == 0 && left >= -one->room * REL_SAME)
    return;
  if (one->top > level * (1.0 + REL_SAME)) {
    find_faster (net, link, fmax (level * (1.0 + REL_SAME), level));
    for (; n_captured < net->clocks.faster->len; n_captured++) {
      const double rate = g_array_index (net->clocks.faster, EngHeapItem, n_captured).key;
      if (rate <= level * (1.0 + REL_SAME))
        break;
      left += rate;
      level = fmax (left / (one->n + n_captured + 1u), 0.0);
    }
    if (n_captured < net->clocks.faster->len)
      one->top = fmax (one->top, g_array_index (net->clocks.faster, EngHeapItem, n_captured).key);
  }
  if (n_captured > 0 || fabs (level - net->clocks.level[link]) > REL_STILL * level)
    set_level (eng, link, level);
  for (guint i = 0; i < n_captured; i++)
    capture (eng, link, g_array_index (net->clocks.faster, EngHeapItem, i).id);
}

/* A flow that has just come is first a member where it would get least. */
static void
take_in (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  const EngFlowHead *head = &net->flows.head[flow];
  EngLink least = ENG_NO_SLOT;
  double level = (double)INFINITY;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLink link = net->pool.word[head->uses + k];
    const EngBottleneck *one = eng_bottleneck_of (net, link);
    double share = left_by_others (one) / (one->n + 1u);
    if (one->owner != ENG_NO_SLOT)
      share = one->room / net->links.state[link].n_flows;
    if (share < level || least == ENG_NO_SLOT) {
      level = share;
      least = link;
    }
  }
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLink link = net->pool.word[head->uses + k];
    EngBottleneck *used = eng_bottleneck_of (net, link);
    if (used->owner == least)
      eng_heap_push (&eng_service_of (net, least)->safe, used->room / net->links.state[link].n_flows, link);
    else if (used->owner != ENG_NO_SLOT)
      eng_bottleneck_publish (net, link);
    if (link != least && used->owner == ENG_NO_SLOT)
      eng_bottleneck_add (used, net->clocks.level[least]);
  }
  eng_bottleneck_advance (net, least, eng->now);
  eng_bottleneck_enlist (net, least, flow, net->flows.move[flow].left);
  eng_bottleneck_stir (net, least);
}

bool
eng_bottleneck_solve (Eng *eng)
{
  EngNet *net = &eng->net;
  EngHeap *heap = &net->work.by_share;
  const uint64_t most = net->clocks.n_seen + LEAST_SEEN + SEEN_A_FLOW * (uint64_t)net->flows.n_moving;
  uint64_t n_looks = 0;
  heap->n = 0;
  for (guint i = 0; i < net->clocks.fresh->len; i++)
    take_in (eng, g_array_index (net->clocks.fresh, uint32_t, i));
  g_array_set_size (net->clocks.fresh, 0);
  for (guint i = 0; i < net->links.dirty->len; i++) {
    const EngLink link = g_array_index (net->links.dirty, uint32_t, i);
    net->links.state[link].dirty = net->links.state[link].grown = false;
    if (link < net->clocks.n && eng_bottleneck_of (net, link)->used)
      look_at (net, link);
  }
  while (heap->n > 0) {
    const EngLink link = heap->items[0].id;
    eng_heap_pop (heap);
    eng_bottleneck_of (net, link)->queued = false;
    n_looks++;
    if (++net->clocks.n_seen > most)
      return false;
    if (eng_bottleneck_of (net, link)->owner != ENG_NO_SLOT)
      look_at (net, link); /* private since it was queued */
    else
      find_level (eng, link);
  }
  for (guint i = 0; i < net->clocks.stirred->len; i++) {
    const EngLink link = g_array_index (net->clocks.stirred, EngLink, i);
    eng_bottleneck_of (net, link)->stirred = false;
    eng_bottleneck_schedule (eng, link);
  }
  g_array_set_size (net->clocks.stirred, 0);
  eng->stats.solved += n_looks;
  eng->stats.parts++;
  return true;
}
