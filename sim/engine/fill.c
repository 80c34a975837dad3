/* Rates by weighted max-min filling.
 *
 * With w_fl = a_fl p_f and all levels x_f / p_f rising together from 0,
 *     share_l = (capacity_l - used_l) / rest_l       used_l: by flows with a rate, rest_l: sum of w_fl of those without
 * is the level at which link l would be full. The least share is the next level: the flows of that link get rate = level p_f, and
 * leave the rest of their other links. A flow's own bound is a link of its own with share bound_f / p_f. Shares only grow as flows
 * get their rates, so the keys of the heap are lower bounds, brought up to date when they reach the top.
 * Source: Bertsekas and Gallager, Data Networks, 2nd ed., 6.5.2 (filling).
 *
 * Nothing depends on the order in which flows were started: weights are summed as integers (exactly), what is frozen at one level
 * is taken off a link in one product, and levels nearer to the last than rounding can tell count as the same. */
#include "fill-private.h"

#include "bundle-private.h"

/* Rounding of capacity - used, in capacities: a share it could explain is the level. */
#define REL_ROUNDING (8 * 0x1p-53)

/* Takes the flow out of the rest of its links; they are full at `level` by so much less. `link`: its bottleneck. */
static void
freeze (Eng *eng, uint32_t flow, double level, EngLink link)
{
  EngNet *net = &eng->net;
  EngFlowHead *head = &net->flows.head[flow];
  const double priority = eng_flow_priority (net, flow);
  double rate = level * priority;
  bool carrier = head->state == ENG_FLOW_CARRIER;
  head->seen = net->work.component + 1;
  head->bottleneck = link;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    EngLinkFill *fill = &net->links.fill[net->pool.word[head->uses + k]];
    if (fill->level < level) {
      fill->used = used_of (fill);
      fill->settled_hi = fill->rest_hi;
      fill->settled_lo = fill->rest_lo;
      fill->level = level;
    }
    uint64_t hi = 0, lo = 1;
    if (fill->mixed)
      count_weight (fill, eng_net_weight (net, flow, k) * priority, &hi, &lo);
    if (carrier)
      count_times (eng_bundle_n (net, flow), &hi, &lo);
    fill->rest_hi -= hi + (fill->rest_lo < lo);
    fill->rest_lo -= lo;
  }
  net->work.n_left--;
  if (net->work.keep_order)
    eng_ids_add (&net->work.frozen, flow);
  rate = head->bounded ? fmin (rate, eng_flow_bound (net, flow)) : rate;
  if (carrier)
    eng_bundle_set_rate (eng, flow, rate);
  else
    eng_net_set_rate (eng, flow, rate);
}

/* Heaps of links by share and of bounded flows by level. */
static void
build_heaps (EngNet *net)
{
  net->work.by_share.n = net->work.by_bound.n = 0;
  for (uint32_t i = 0; i < net->work.reached.n; i++) {
    EngLink link = net->work.reached.items[i];
    const EngLinkFill *fill = &net->links.fill[link];
    if (rest_of (fill) > 0.0)
      eng_heap_append (&net->work.by_share, share_of (&net->links.state[link], fill), link);
  }
  for (uint32_t i = 0; i < net->work.members.n; i++) {
    uint32_t flow = net->work.members.items[i];
    if (net->flows.head[flow].bounded)
      eng_heap_append (&net->work.by_bound, eng_flow_bound (net, flow) / eng_flow_priority (net, flow), flow);
  }
  eng_heap_build (&net->work.by_share);
  eng_heap_build (&net->work.by_bound);
}

bool
eng_net_settle_top (EngNet *net, double level, double *share)
{
  EngHeap *heap = &net->work.by_share;
  while (heap->n > 0) {
    const EngLinkState *link = &net->links.state[heap->items[0].id];
    const EngLinkFill *fill = &net->links.fill[heap->items[0].id];
    double rest = rest_of (fill);
    if (!(rest > 0.0)) {
      eng_heap_pop (heap);
      continue;
    }
    double left = link->capacity - used_of (fill);
    *share = left / rest;
    if (*share <= level * (1.0 + REL_SAME) || left - rest * level <= link->capacity * REL_ROUNDING) {
      *share = level;
      return true;
    }
    if (*share <= heap->items[0].key)
      return true;
    eng_heap_raise_top (heap, *share);
  }
  return false;
}

void
eng_net_fill (Eng *eng, double level)
{
  EngNet *net = &eng->net;
  double share;
  build_heaps (net);
  for (net->work.n_left = net->work.members.n; net->work.n_left > 0;) { /* then no link is looked at again */
    while (net->work.by_bound.n > 0 && net->flows.head[net->work.by_bound.items[0].id].seen != net->work.component)
      eng_heap_pop (&net->work.by_bound);
    bool any = eng_net_settle_top (net, level, &share);
    if (!any)
      break;
    if (net->work.by_bound.n > 0 && net->work.by_bound.items[0].key <= share) {
      double bound = net->work.by_bound.items[0].key;
      level = bound <= level * (1.0 + REL_SAME) ? level : bound;
      freeze (eng, net->work.by_bound.items[0].id, level, ENG_NO_SLOT);
      eng_heap_pop (&net->work.by_bound);
      continue;
    }
    level = share;
    const EngLink full = net->work.by_share.items[0].id;
    const EngLinkState *link = &net->links.state[full];
    eng_heap_pop (&net->work.by_share);
    for (uint32_t i = link->cut; i < link->n_flows; i++)
      if (net->flows.head[link->flows[i]].seen == net->work.component)
        freeze (eng, link->flows[i], level, full);
  }
}

void
eng_net_next_component (EngNet *net)
{
  if (net->work.component > UINT32_MAX - 4u) {
    for (uint32_t i = 0; i < net->flows.n; i++)
      net->flows.head[i].seen = 0;
    for (uint32_t i = 0; i < net->links.n; i++)
      net->links.state[i].seen = 0;
    net->work.component = 0;
  }
  net->work.component += 2;
}
