/* Solving again only what a change reaches.
 *
 * Each flow has its bottleneck: the link that filled when it got its rate (or none, where its own bound holds it). A change frees
 * the flows of a few bottlenecks, `chosen`: of links that the change touched, those that are bottlenecks, or have got a flow. Free
 * flows are filled again on these links and on all other bottlenecks that they cross; all other flows there keep their rates, as
 * if these were their bounds. Then
 *   (a) where a link fills below the rate of a flow that was to keep it, that flow's bottleneck is chosen too, and
 *   (b) where a free flow got another rate, each of its links that is a bottleneck of others is chosen too,
 *   (c) where new rates fill a link that was no bottleneck, or nearly, it is chosen too,
 * and all is filled again, until nothing more is chosen.
 *
 * Stop rule: what then stands is the max-min fair allocation of the whole network. It is so if and only if no link is over its
 * capacity and each flow has a bottleneck: a full link on which no flow has a higher level (Bertsekas and Gallager, Data
 * Networks, 2nd ed., 6.5.2; bottleneck ordering: Ros and Tsai, IEEE/ACM Trans. Networking 9(5), 2001). Proof.
 * Capacity: a link with a flow that changed was filled with all of its flows, or its sum was taken and it is not full; any other
 * link is as it was, or has lost a flow.
 * A free flow f that was frozen as link l filled at level x: l is full. A flow there with a higher level would be one that kept
 * its rate, which (a) excludes, or one frozen later, but all of l's flows were frozen at x.
 * A flow g that is not free has its old bottleneck b, which is not chosen, else g were free. No flow on b changed its rate, else
 * b, the bottleneck of g, were chosen by (b), for as a bottleneck it was filled with each free flow on it; none came or went, else
 * b were touched. So b is full as it was, and g's level is the highest there.
 *
 * The arithmetic is that of fill.c, with all flows of a link in the order of their levels: rates have the bits of a full solve,
 * but where levels lie within 1e-12 of each other (EngSolve). Only links whose flows all have priority 1 and the same weight take
 * part: there, rates are levels.
 * Check: law_engine_fair holds random networks against the oracle, 10^4 of them, and 10^5 as law_engine_local. */
#include "engine-private.h"
#include "fill-private.h"

/* A network this small is solved whole. */
#define LEAST_MOVING 256
/* So many links touched at once are no local change, nor are so many flows filled again and again. */
#define MOST_TOUCHED  64
#define MOST_ROUNDS   40
#define LEAST_BUDGET  4096
#define BUDGET_A_FLOW UINT64_C (8)
/* A link that lacks more than this of its capacity is not full, however sums are rounded. */
#define REL_SLACK 1e-9
/* Where links list more flows than this, a solve from the lowest level that changes is cheaper: it looks at fewer of them. */
#define MOST_LISTED 512
#define MOST_SKIPS  64

typedef struct {
  Eng *eng;
  EngNet *net;
  GArray *chosen; /* EngLink */
  GArray *frozen; /* EngFrozen: free flows */
  bool more;      /* a link was chosen in this round */
  uint64_t n_filled, budget;
} Local;

static void
choose (Local *local, EngLink link)
{
  EngLinkState *state = &local->net->links.state[link];
  if (state->chosen)
    return;
  state->chosen = true;
  g_array_append_val (local->chosen, link);
  local->more = true;
}

static inline bool
is_free (const EngNet *net, uint32_t flow)
{
  const EngLink link = net->flows.head[flow].bottleneck;
  return link == ENG_NO_SLOT || net->links.state[link].chosen;
}

/* Whether the link is the bottleneck of a flow, or has one that its own bound holds. */
static bool
binds (const EngNet *net, EngLink link)
{
  const EngLinkState *state = &net->links.state[link];
  for (uint32_t i = 0; i < state->n_flows; i++) {
    const EngLink bottleneck = net->flows.head[state->flows[i]].bottleneck;
    if (bottleneck == link || bottleneck == ENG_NO_SLOT)
      return true;
  }
  return false;
}

static bool
reach (EngNet *net, EngLink link)
{
  EngLinkState *state = &net->links.state[link];
  if (state->seen == net->work.component)
    return true;
  state->seen = net->work.component;
  eng_link_purge (net, link);
  eng_ids_add (&net->work.reached, link);
  net->links.fill[link] = (EngLinkFill){ .unit = state->unit, .rest_lo = state->n_flows, .settled_lo = state->n_flows };
  return state->n_flows == 0 || state->plain;
}

/* The links of a free flow that are bottlenecks: others are not expected to fill, and looked at in the end. */
static bool
reach_links (EngNet *net, const EngFlowHead *head)
{
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLink link = net->pool.word[head->uses + k];
    const EngLinkState *state = &net->links.state[link];
    if (state->seen != net->work.component && (state->chosen || binds (net, link)) && !reach (net, link))
      return false;
  }
  return true;
}

/* The links to fill, those chosen and those of free flows, and all flows on them. FALSE: not to be solved in part. */
static bool
gather (Local *local)
{
  EngNet *net = local->net;
  net->work.members.n = 0;
  net->work.reached.n = 0;
  for (guint i = 0; i < local->chosen->len; i++)
    if (!reach (net, g_array_index (local->chosen, EngLink, i)))
      return false;
  for (uint32_t i = 0; i < net->work.reached.n; i++) {
    const EngLinkState *state = &net->links.state[net->work.reached.items[i]];
    local->n_filled += state->n_flows;
    if (local->n_filled > local->budget)
      return false;
    for (uint32_t j = 0; j < state->n_flows; j++) {
      const uint32_t flow = state->flows[j];
      EngFlowHead *head = &net->flows.head[flow];
      if (head->state != ENG_FLOW_MOVING)
        return false;
      if (head->seen == net->work.component)
        continue;
      head->seen = net->work.component;
      eng_ids_add (&net->work.members, flow);
      if (is_free (net, flow) && !reach_links (net, head))
        return false;
    }
  }
  return true;
}

static void
build_heaps (EngNet *net)
{
  net->work.by_share.n = net->work.by_bound.n = 0;
  for (uint32_t i = 0; i < net->work.reached.n; i++) {
    const EngLink link = net->work.reached.items[i];
    if (net->links.state[link].n_flows > 0)
      eng_heap_append (&net->work.by_share, share_of (&net->links.state[link], &net->links.fill[link]), link);
  }
  for (uint32_t i = 0; i < net->work.members.n; i++) {
    const uint32_t flow = net->work.members.items[i];
    if (!is_free (net, flow))
      eng_heap_append (&net->work.by_bound, net->flows.move[flow].rate, flow);
    else if (net->flows.head[flow].bounded)
      eng_heap_append (&net->work.by_bound, eng_flow_bound (net, flow), flow);
  }
  eng_heap_build (&net->work.by_share);
  eng_heap_build (&net->work.by_bound);
}

/* `link`: that filled; ENG_NO_SLOT: its bound, or the rate that it keeps. */
static void
freeze (Local *local, uint32_t flow, double level, EngLink link)
{
  EngNet *net = local->net;
  EngFlowHead *head = &net->flows.head[flow];
  head->seen = net->work.component + 1;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLink used = net->pool.word[head->uses + k];
    if (net->links.state[used].seen != net->work.component)
      continue;
    EngLinkFill *fill = &net->links.fill[used];
    if (fill->level < level) {
      fill->used = used_of (fill);
      fill->settled_lo = fill->rest_lo;
      fill->level = level;
    }
    fill->rest_lo--;
  }
  if (is_free (net, flow)) {
    const double rate = head->bounded ? fmin (level, eng_flow_bound (net, flow)) : level;
    g_array_append_vals (local->frozen, &(EngFrozen){ .flow = flow, .link = link, .rate = rate }, 1);
  } else if (link != ENG_NO_SLOT && level < net->flows.move[flow].rate) {
    choose (local, net->flows.head[flow].bottleneck);
  }
}

static void
fill (Local *local)
{
  EngNet *net = local->net;
  EngHeap *bounds = &net->work.by_bound;
  double level = 0.0, share;
  g_array_set_size (local->frozen, 0);
  build_heaps (net);
  for (;;) {
    while (bounds->n > 0 && net->flows.head[bounds->items[0].id].seen != net->work.component)
      eng_heap_pop (bounds);
    if (!eng_net_settle_top (net, level, &share))
      break;
    if (bounds->n > 0 && bounds->items[0].key <= share) {
      level = bounds->items[0].key <= level * (1.0 + REL_SAME) ? level : bounds->items[0].key;
      freeze (local, bounds->items[0].id, level, ENG_NO_SLOT);
      eng_heap_pop (bounds);
      continue;
    }
    level = share;
    const EngLink link = net->work.by_share.items[0].id;
    const EngLinkState *state = &net->links.state[link];
    eng_heap_pop (&net->work.by_share);
    for (uint32_t i = 0; i < state->n_flows; i++)
      if (net->flows.head[state->flows[i]].seen == net->work.component)
        freeze (local, state->flows[i], level, link);
  }
}

/* What flows of a link that was not filled take of it, by the rates that they had: once for each. */
static void
sum_rates (EngNet *net, EngLink link)
{
  EngLinkState *state = &net->links.state[link];
  double sum = 0.0;
  if (state->seen == net->work.component + 1)
    return;
  state->seen = net->work.component + 1;
  for (uint32_t i = 0; i < state->n_flows; i++)
    sum += net->flows.move[state->flows[i]].rate;
  net->links.fill[link].used = sum;
}

/* Rule (b); and a link that was not filled is, should it be full by the new rates, or nearly. */
static void
choose_changed (Local *local)
{
  EngNet *net = local->net;
  for (guint i = 0; i < local->frozen->len; i++) {
    const EngFrozen *one = &g_array_index (local->frozen, EngFrozen, i);
    const EngFlowHead *head = &net->flows.head[one->flow];
    const double before = net->flows.move[one->flow].rate;
    if (one->rate >= before && one->rate <= before)
      continue;
    for (uint32_t k = 0; k < head->n_uses; k++) {
      const EngLink link = net->pool.word[head->uses + k];
      const EngLinkState *state = &net->links.state[link];
      if (state->seen != net->work.component) {
        sum_rates (net, link);
        net->links.fill[link].used += one->rate - before;
      } else if (!state->chosen && binds (net, link)) {
        choose (local, link);
      }
    }
  }
  for (guint i = 0; i < local->frozen->len; i++) {
    const EngFlowHead *head = &net->flows.head[g_array_index (local->frozen, EngFrozen, i).flow];
    for (uint32_t k = 0; k < head->n_uses; k++) {
      const EngLink link = net->pool.word[head->uses + k];
      const EngLinkState *state = &net->links.state[link];
      if (state->seen == net->work.component + 1 &&
          (!state->plain || net->links.fill[link].used * state->unit > state->capacity * (1.0 - REL_SLACK)))
        choose (local, link);
    }
  }
}

static void
commit (Local *local)
{
  EngNet *net = local->net;
  for (uint32_t i = 0; i < net->links.dirty.n; i++)
    net->links.state[net->links.dirty.items[i]].sorted = false;
  for (guint i = 0; i < local->frozen->len; i++) {
    const EngFrozen *one = &g_array_index (local->frozen, EngFrozen, i);
    const EngFlowHead *head = &net->flows.head[one->flow];
    for (uint32_t k = 0; k < head->n_uses; k++)
      net->links.state[net->pool.word[head->uses + k]].sorted = false;
    net->flows.head[one->flow].bottleneck = one->link;
    eng_net_set_rate (local->eng, one->flow, one->rate);
  }
  for (uint32_t i = 0; i < net->links.dirty.n; i++) {
    EngLinkState *state = &net->links.state[net->links.dirty.items[i]];
    state->dirty = state->grown = false;
  }
  local->eng->stats.parts++;
  local->eng->stats.solved += local->frozen->len;
}

static bool
solve (Local *local)
{
  for (unsigned round = 0; round < MOST_ROUNDS; round++) {
    local->more = false;
    eng_net_next_component (local->net);
    if (!gather (local))
      return false;
    fill (local);
    choose_changed (local);
    if (local->more)
      continue;
    commit (local);
    return true;
  }
  return false;
}

/* Flows without a rate yet are new again. */
static void
give_up (const Local *local)
{
  EngNet *net = local->net;
  for (uint32_t i = 0; i < net->work.members.n; i++) {
    const uint32_t flow = net->work.members.items[i];
    if (net->flows.head[flow].bottleneck == ENG_NO_SLOT && net->flows.move[flow].rate <= 0.0)
      net->flows.head[flow].seen = 0;
  }
  net->local.backoff = MIN (MAX (1, 2 * net->local.backoff), MOST_SKIPS);
  net->local.n_skips = net->local.backoff;
}

static bool
is_worth_trying (EngNet *net)
{
  if (net->how == ENG_SOLVE_LOCAL)
    return true;
  if (net->how != ENG_SOLVE_AUTO || net->flows.n_moving < LEAST_MOVING || net->links.dirty.n > MOST_TOUCHED)
    return false;
  uint64_t n_listed = 0;
  for (uint32_t i = 0; i < net->links.dirty.n; i++)
    n_listed += net->links.state[net->links.dirty.items[i]].n_live;
  if (n_listed > MOST_LISTED)
    return false;
  if (net->local.n_skips > 0) {
    net->local.n_skips--;
    return false;
  }
  return true;
}

bool
eng_net_solve_local (Eng *eng)
{
  EngNet *net = &eng->net;
  if (!is_worth_trying (net))
    return false;
  Local local = { .eng = eng, .net = net, .chosen = net->local.chosen, .frozen = net->local.frozen };
  local.budget = net->how == ENG_SOLVE_LOCAL ? UINT64_MAX : MAX (LEAST_BUDGET, BUDGET_A_FLOW * net->flows.n_moving);
  g_array_set_size (local.chosen, 0);
  for (uint32_t i = 0; i < net->links.dirty.n; i++) {
    const EngLink link = net->links.dirty.items[i];
    eng_link_purge (net, link);
    if (net->links.state[link].grown || binds (net, link)) /* else it only has more room than before */
      choose (&local, link);
  }
  const bool solved = solve (&local);
  for (guint i = 0; i < local.chosen->len; i++)
    net->links.state[g_array_index (local.chosen, EngLink, i)].chosen = false;
  if (solved)
    net->local.backoff = 0;
  else
    give_up (&local);
  return solved;
}
