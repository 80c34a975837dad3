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
 * again. So it is full still, and the bottleneck of its members; and each flow is a member somewhere. A quiet link is within its
 * capacity, as the sum of its flows' ceilings is, and no level is above its ceiling.
 * That it ends is not proved here but bounded: after too many looks all is solved another way (solve.c).
 *
 * Sums are kept in two doubles, so that rates depend on the flows and not on the order in which they came: but for the last bit,
 * and for levels within 1e-12 of each other, of which either may be the bottleneck.
 * Check: law_engine_fair holds random networks against the oracle, 10^4 of them, and 10^5 as law_engine_local. */
#include "bottleneck-private.h"
#include "fill-private.h"

/* Rates that a solve may look at, all and for each flow that moves. Where nearly all levels are alike they may creep for long. */
#define LEAST_SEEN  16384u
#define SEEN_A_FLOW 32u
/* From so many members on, links are worth being quiet. In tests, for networks of few flows, fewer. */
#define CROWD       64u
#define LEAST_CROWD 3u
/* How far a ceiling is set above the level: so many of its latest changes, within these parts of it. It is set anew when the level
 * passes it, or is more than FALLEN times as far below it. */
#define CHANGES_TO_CEILING 8.0
#define LEAST_TO_CEILING   0.003
#define MOST_TO_CEILING    0.25
#define FALLEN             3.0
/* Quiet is what ceilings leave so much of, more than sums may be wrong by. */
#define QUIET_TO (1.0 - 1e-6)
/* A level as close to the one before stays. */
#define REL_STILL 1e-15
/* Less than this of a link's room may be what rounding left of no others. */
#define REL_SLIGHT 1e-9

/* fmin() and fmax() of numbers: libm's, which mind NaN, are calls. */
static inline double
smaller (double a, double b)
{
  return a < b ? a : b;
}

static inline double
larger (double a, double b)
{
  return a > b ? a : b;
}

/* What others leave of the link. */
static inline double
left_by (const EngOthers *others)
{
  const double room = eng_others_room (others), sum = room - others->sum, part = sum - room;
  return sum + (((room - (sum - part)) + (-others->sum - part)) - others->rest);
}

/* To be looked at, if it is a bottleneck or over its capacity. */
static inline void
push (EngNet *net, EngLink link)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const EngOthers *others = eng_others_of (net, link);
  const double room = eng_others_room (others), left = room - others->sum;
  if (one->n == 0 && left >= -room * REL_SAME)
    return;
  one->queued = true;
  eng_nearest_push (&net->clocks.nearest, one->n > 0 ? left / one->n : left + others->top, link);
}

static void
look_at (EngNet *net, EngLink link)
{
  const EngOthers *others = eng_others_of (net, link);
  if (eng_bottleneck_of (net, link)->queued)
    return;
  if (net->clocks.quiet[link]) {
    if (others->sum <= eng_others_room (others) * QUIET_TO)
      return;
    eng_bottleneck_make_loud (net, link);
  }
  push (net, link);
}

/* Flows go from one rate to another: by how much, and what this number lacks. */
typedef struct {
  double to, change, rest;
  double high, low; /* of the change, with half as many digits each, so that their products with a number of flows are exact */
} Change;

/* 2^27 + 1 (Dekker, Numerische Mathematik 18, 1971) */
#define SPLIT 134217729.0

static inline Change
change_of (double from, double to)
{
  const double change = to - from, part = change - to, split = change * SPLIT, high = split - (split - change);
  return (
      Change){ .to = to, .change = change, .rest = (to - (change - part)) + (-from - part), .high = high, .low = change - high };
}

/* Links that learn of a change before the first of them is looked at. */
#define TOLD 64u

/* Of a link that is told of a change, and that is a link of one member, if `alone`. */
static inline void
tell (EngOthers *others, uint32_t n_flows, const Change *change, bool alone)
{
  if (alone) {
    eng_others_shift (others, change->change, change->rest);
  } else {
    const double n = n_flows, all = n * change->change;
    eng_others_shift (others, all, ((n * change->high - all) + n * change->low) + n * change->rest);
  }
  others->top = change->to > others->top ? change->to : others->top;
}

/* Tells links of members, at most TOLD. Returns how many of them are to be looked at. Which these are cannot be foretold, so no
 * branch depends on it. */
static inline uint32_t
pass_on (EngNet *net, const EngSpread *to, uint32_t n_to, const Change *change, bool alone, EngLink *told)
{
  uint32_t n_told = 0;
  for (uint32_t i = 0; i < n_to; i++) {
    EngOthers *others = eng_others_of (net, to[i].link);
    tell (others, to[i].n, change, alone);
    told[n_told] = to[i].link;
    n_told += others->sum > others->limit;
  }
  return n_told;
}

static inline void
look_at_told (EngNet *net, const EngLink *told, uint32_t n_told)
{
  for (uint32_t i = 0; i < n_told; i++)
    if (!eng_bottleneck_of (net, told[i])->queued)
      push (net, told[i]);
}

/* Of links that a crowd's members cross, those without members that others leave more of may be quiet. */
static void
find_calm (EngNet *net, const EngSpread *to, uint32_t n_to)
{
  for (uint32_t i = 0; i < n_to; i++) {
    const EngOthers *others = eng_others_of (net, to[i].link);
    if (others->sum >= others->limit * (double)ENG_QUIET_AGAIN)
      continue; /* of a link with members the limit is below 0 */
    EngBottleneck *one = eng_bottleneck_of (net, to[i].link);
    if (one->queued || others->sum >= others->limit * (double)one->quiet_below)
      continue;
    one->quiet_below = 0.0f;
    eng_ids_add (&net->clocks.calm, to[i].link);
  }
}

/* Another ceiling for a level to come, which quiet links sum up. The level is still the one before, so that links that are no
 * longer quiet learn of the change like others. */
static void
set_ceiling (EngNet *net, EngLink link, double ceiling)
{
  const EngBottleneck *from = eng_bottleneck_of (net, link);
  const double change = ceiling - net->clocks.ceiling[link];
  bool over = false;
  net->clocks.ceiling[link] = ceiling;
  net->clocks.n_seen += from->n_others - from->n_spread;
  for (uint32_t i = from->n_spread; i < from->n_others; i++) {
    EngOthers *others = eng_others_of (net, from->spread[i].link);
    others->sum += change * from->spread[i].n;
    over |= others->sum > others->limit * QUIET_TO;
  }
  /* what is no longer quiet goes to the front, so that i has another */
  for (uint32_t i = from->n_spread; over && i < from->n_others;) {
    const EngLink used = from->spread[i].link;
    const EngOthers *others = eng_others_of (net, used);
    const bool stays = others->sum <= others->limit * QUIET_TO;
    if (!stays)
      eng_bottleneck_make_loud (net, used);
    i = stays ? i + 1 : from->n_spread;
  }
}

/* Keeps the ceiling above a level to come, which is so far from the one before. */
static void
raise_ceiling (EngNet *net, EngLink link, double level, double change)
{
  const EngBottleneck *one = eng_bottleneck_of (net, link);
  const double above = smaller (larger (change * CHANGES_TO_CEILING, level * LEAST_TO_CEILING), level * MOST_TO_CEILING);
  const double ceilings[] = { net->clocks.ceiling[link], level + above };
  const bool other = (level > ceilings[0]) | (level + FALLEN * above < ceilings[0]);
  if (one->n_others == one->n_spread)
    net->clocks.ceiling[link] = ceilings[other]; /* no branch: which it is cannot be foretold */
  else if (other)
    set_ceiling (net, link, level + above);
}

static void
set_level (Eng *eng, EngLink link, double level)
{
  EngNet *net = &eng->net;
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const Change change = change_of (net->clocks.level[link], level);
  eng_bottleneck_advance (net, link, eng->now);
  if (eng_bottleneck_is_early (one, level, one->first - one->service - one->service_rest, eng->now))
    one->sure = false;
  else
    eng_bottleneck_stir (net, link);
  const bool crowd = one->n >= (net->how == ENG_SOLVE_CLOCKS ? LEAST_CROWD : CROWD);
  if (crowd || one->n_others > one->n_spread)
    raise_ceiling (net, link, level, fabs (change.change));
  net->clocks.level[link] = level;
  net->clocks.n_seen += one->n_spread;
  EngLink told[TOLD];
  for (uint32_t from = 0; from < one->n_spread; from += TOLD) {
    const EngSpread *to = one->spread + from;
    const uint32_t n = one->n_spread - from < TOLD ? one->n_spread - from : TOLD;
    const uint32_t n_told =
        one->n_bits == 0 ? pass_on (net, to, n, &change, true, told) : pass_on (net, to, n, &change, false, told);
    look_at_told (net, told, n_told);
    if (crowd)
      find_calm (net, to, n);
  }
}

/* The member of another link becomes one of this link, which has its level already. */
static void
capture (Eng *eng, EngLink link, uint32_t flow)
{
  EngNet *net = &eng->net;
  const EngFlowHead *head = &net->flows.head[flow];
  const EngLink from = net->flows.head[flow].bottleneck;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLink used = net->pool.word[head->uses + k];
    eng_bottleneck_change_other (net, used, used == from ? ENG_NO_SLOT : from, used == link ? ENG_NO_SLOT : link);
  }
  const double left = eng_bottleneck_discharge (net, from, flow, eng->now);
  eng_bottleneck_enlist (net, link, flow, left);
  eng_bottleneck_stir (net, link);
  eng_bottleneck_stir (net, from);
  for (uint32_t k = 0; k < head->n_uses; k++)
    if (net->pool.word[head->uses + k] != link)
      look_at (net, net->pool.word[head->uses + k]);
}

/* Flows that are looked at together, so that no one waits for the comparison before. */
#define BLOCK 8u

static inline double
highest_of (const double *levels, const uint32_t *held)
{
  const double a = larger (levels[held[0]], levels[held[1]]), b = larger (levels[held[2]], levels[held[3]]);
  const double c = larger (levels[held[4]], levels[held[5]]), d = larger (levels[held[6]], levels[held[7]]);
  return larger (larger (a, b), larger (c, d));
}

/* Finds the others that are faster than the level, the fastest at the top of the heap; without members all of them. Brings `top` up
 * to date. */
static void
find_faster (EngNet *net, EngLink link, double level)
{
  const EngLinkState *state = &net->links.state[link];
  const uint32_t *held = eng_bottleneck_held (net, link);
  double *levels = net->clocks.level, own = levels[link];
  EngHeap *faster = &net->clocks.faster;
  double top = 0.0;
  net->clocks.n_seen += state->n_flows;
  faster->n = 0;
  levels[link] = 0.0; /* its members are not asked for; none has just joined: all of these were taken in */
  for (uint32_t i = 0; i < state->n_flows; i += BLOCK) {
    const uint32_t end = i + BLOCK < state->n_flows ? i + BLOCK : state->n_flows;
    const double highest = end - i == BLOCK ? highest_of (levels, held + i) : (double)INFINITY;
    if (highest <= level) {
      top = larger (highest, top);
      continue;
    }
    for (uint32_t k = i; k < end; k++) {
      const double rate = levels[held[k]];
      if (rate > level)
        eng_heap_append (faster, -rate, state->flows[k]);
      else
        top = larger (rate, top);
    }
  }
  levels[link] = own;
  eng_others_of (net, link)->top = top;
  eng_heap_build (faster);
}

/* The level at which the link is full, with those captured who would be faster. */
static void
find_level (Eng *eng, EngLink link)
{
  EngNet *net = &eng->net;
  const EngBottleneck *one = eng_bottleneck_of (net, link);
  EngOthers *others = eng_others_of (net, link);
  const double room = eng_others_room (others);
  if (others->sum < room * REL_SLIGHT && one->n == net->links.state[link].n_flows)
    others->sum = others->rest = others->top = 0.0;
  double left = left_by (others), level = one->n > 0 ? larger (left / one->n, 0.0) : -1.0;
  EngHeap *faster = &net->clocks.faster;
  uint32_t n_captured = 0;
  if (one->n == 0 && left >= -room * REL_SAME)
    return;
  if (others->top > level * (1.0 + REL_SAME)) {
    find_faster (net, link, larger (level * (1.0 + REL_SAME), level));
    while (faster->n > 0 && -faster->items[0].key > level * (1.0 + REL_SAME)) {
      const EngHeapItem fastest = faster->items[0];
      left -= fastest.key;
      level = larger (left / (one->n + ++n_captured), 0.0);
      eng_heap_pop (faster);
      faster->items[faster->n] = fastest; /* behind those that are left */
    }
    if (faster->n > 0)
      others->top = larger (others->top, -faster->items[0].key);
  }
  if (n_captured > 0 || fabs (level - net->clocks.level[link]) > REL_STILL * level)
    set_level (eng, link, level);
  for (uint32_t i = n_captured; i > 0; i--)
    capture (eng, link, faster->items[faster->n + i - 1u].id);
}

/* A flow's link where it would get least, if it is a bottleneck there; of a quiet one, the least that it may be. */
static EngLink
find_least (const EngNet *net, uint32_t flow)
{
  const EngFlowHead *head = &net->flows.head[flow];
  EngLink least = net->pool.word[head->uses];
  double level = (double)INFINITY;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLink link = net->pool.word[head->uses + k];
    const EngOthers *others = eng_others_of (net, link);
    const double left = net->clocks.quiet[link] ? eng_others_room (others) - others->sum : left_by (others);
    const double share = left / (eng_bottleneck_of (net, link)->n + 1u);
    if (share < level) {
      level = share;
      least = link;
    }
  }
  return least;
}

/* A flow that has just come is first a member where it would get least. */
static void
take_in (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  const EngFlowHead *head = &net->flows.head[flow];
  EngLink least = find_least (net, flow);
  while (net->clocks.quiet[least]) {
    eng_bottleneck_make_loud (net, least);
    least = find_least (net, flow);
  }
  for (uint32_t k = 0; k < head->n_uses; k++)
    if (net->pool.word[head->uses + k] != least)
      eng_bottleneck_change_other (net, net->pool.word[head->uses + k], ENG_NO_SLOT, least);
  eng_bottleneck_advance (net, least, eng->now);
  eng_bottleneck_enlist (net, least, flow, net->flows.move[flow].left);
  eng_bottleneck_stir (net, least);
}

bool
eng_bottleneck_solve (Eng *eng)
{
  EngNet *net = &eng->net;
  EngNearest *nearest = &net->clocks.nearest;
  const uint64_t most = net->clocks.n_seen + LEAST_SEEN + SEEN_A_FLOW * (uint64_t)net->flows.n_moving;
  uint64_t n_looks = 0;
  eng_nearest_reset (nearest);
  for (uint32_t i = 0; i < net->clocks.fresh.n; i++)
    take_in (eng, net->clocks.fresh.items[i]);
  net->clocks.fresh.n = 0;
  for (uint32_t i = 0; i < net->links.dirty.n; i++) {
    const EngLink link = net->links.dirty.items[i];
    net->links.state[link].dirty = net->links.state[link].grown = false;
    if (link < net->clocks.n && eng_others_is_used (eng_others_of (net, link)))
      look_at (net, link);
  }
  for (EngLink link; eng_nearest_pop (nearest, &link);) {
    eng_bottleneck_of (net, link)->queued = false;
    n_looks++;
    if (++net->clocks.n_seen > most)
      return false;
    find_level (eng, link);
  }
  for (uint32_t i = 0; i < net->clocks.stirred.n; i++) {
    const EngLink link = net->clocks.stirred.items[i];
    eng_bottleneck_of (net, link)->stirred = false;
    eng_bottleneck_schedule (eng, link);
  }
  net->clocks.stirred.n = 0;
  eng_bottleneck_quieten (net);
  eng->stats.solved += n_looks;
  eng->stats.parts++;
  return true;
}
