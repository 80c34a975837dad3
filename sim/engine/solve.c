/* Rates by weighted max-min filling, component by component.
 *
 * A component is what a changed link reaches through flows and their links; its solution is a function of itself alone, so solving
 * the changed ones is the same, bit for bit, as solving all. With w_fl = a_fl p_f and all levels x_f / p_f rising together from 0,
 *     share_l = (capacity_l - used_l) / rest_l       used_l: by flows with a rate, rest_l: sum of w_fl of those without
 * is the level at which link l would be full. The least share is the next level: the flows of that link get rate = level p_f, and
 * leave the rest of their other links. A flow's own bound is a link of its own with share bound_f / p_f. Shares only grow as flows
 * get their rates, so the keys of the heap are lower bounds, brought up to date when they reach the top.
 * Source: Bertsekas and Gallager, Data Networks, 2nd ed., 6.5.2 (filling).
 *
 * Nothing depends on the order in which flows were started: weights are summed as integers (exactly), what is frozen at one level
 * is taken off a link in one product, and levels nearer to the last than rounding can tell count as the same. */
#include "bundle-private.h"
#include "engine-private.h"
#include "fill-private.h"

#include <math.h>
#include <string.h>

/* Rounding of capacity - used, in capacities: a share it could explain is the level. */
#define REL_ROUNDING (8 * 0x1p-53)
/* Bits kept of a weight below the power of two above the link's largest; 2^32 flows then still fit in 128 bits. */
#define UNIT_BITS 96

/* Takes the flow out of the rest of its links; they are full at `level` by so much less. */
static void
freeze (Eng *eng, uint32_t flow, double level)
{
  EngNet *net = &eng->net;
  EngFlowHead *head = &net->head[flow];
  double rate = level * head->priority;
  bool carrier = head->state == ENG_FLOW_CARRIER;
  head->seen = net->component + 1;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    EngLinkFill *fill = &net->fill[net->pool[head->uses + k]];
    if (fill->level < level) {
      fill->used = used_of (fill);
      fill->settled_hi = fill->rest_hi;
      fill->settled_lo = fill->rest_lo;
      fill->level = level;
    }
    uint64_t hi = 0, lo = 1;
    if (fill->mixed)
      count_weight (fill, eng_net_weight (net, flow, k) * head->priority, &hi, &lo);
    if (carrier)
      count_times (eng_bundle_n (net, flow), &hi, &lo);
    fill->rest_hi -= hi + (fill->rest_lo < lo);
    fill->rest_lo -= lo;
  }
  if (net->keep_order)
    g_array_append_val (net->frozen, flow);
  rate = head->bounded ? fmin (rate, net->bound[flow]) : rate;
  if (carrier)
    eng_bundle_set_rate (eng, flow, rate);
  else
    eng_net_set_rate (eng, flow, rate);
}

/* First sight of a flow's use of a link: collects count, least and largest weight. */
static inline void
reach_link (EngNet *net, EngLink link, double weight)
{
  EngLinkState *state = &net->links[link];
  EngLinkFill *fill = &net->fill[link];
  if (state->seen != net->component) {
    state->seen = net->component;
    *fill = (EngLinkFill){ .rest_lo = 1, .unit = weight, .scale = weight };
    g_array_append_val (net->reached, link);
    return;
  }
  fill->rest_lo++;
  if (weight < fill->unit)
    fill->unit = weight;
  if (weight > fill->scale)
    fill->scale = weight;
}

/* Gathers the component of `start`, which has a flow. */
static void
gather (EngNet *net, EngLink start)
{
  g_array_set_size (net->members, 0);
  g_array_set_size (net->reached, 0);
  net->links[start].seen = net->component;
  net->fill[start] = (EngLinkFill){ .unit = (double)INFINITY };
  g_array_append_val (net->reached, start);
  for (guint i = 0; i < net->reached->len; i++) {
    EngLink link = g_array_index (net->reached, uint32_t, i);
    eng_link_purge (net, link);
    net->links[link].sorted = false;
    const EngLinkState *state = &net->links[link];
    for (uint32_t j = 0; j < state->n_flows; j++) {
      uint32_t flow = state->flows[j];
      EngFlowHead *head = &net->head[flow];
      if (head->seen == net->component)
        continue;
      head->seen = net->component;
      g_array_append_val (net->members, flow);
      for (uint32_t k = 0; k < head->n_uses; k++)
        reach_link (net, net->pool[head->uses + k], eng_net_weight (net, flow, k) * head->priority);
    }
  }
}

/* Chooses each link's unit; true if some link has flows of different weights. */
static bool
choose_units (EngNet *net)
{
  bool mixed = false;
  for (guint i = 0; i < net->reached->len; i++) {
    EngLinkFill *fill = &net->fill[g_array_index (net->reached, uint32_t, i)];
    if (fill->unit < fill->scale) {
      int exponent;
      frexp (fill->scale, &exponent);
      fill->unit = ldexp (1.0, exponent - UNIT_BITS);
      fill->scale = ldexp (1.0, UNIT_BITS - exponent);
      fill->rest_lo = 0;
      fill->mixed = mixed = true;
    }
  }
  return mixed;
}

static void
sum_mixed_weights (EngNet *net)
{
  for (guint i = 0; i < net->members->len; i++) {
    uint32_t flow = g_array_index (net->members, uint32_t, i);
    const EngFlowHead *head = &net->head[flow];
    for (uint32_t k = 0; k < head->n_uses; k++) {
      EngLinkFill *fill = &net->fill[net->pool[head->uses + k]];
      if (!fill->mixed)
        continue;
      uint64_t hi, lo;
      count_weight (fill, eng_net_weight (net, flow, k) * head->priority, &hi, &lo);
      if (head->state == ENG_FLOW_CARRIER)
        count_times (eng_bundle_n (net, flow), &hi, &lo);
      fill->rest_lo += lo;
      fill->rest_hi += hi + (fill->rest_lo < lo);
    }
  }
}

/* Heaps of links by share and of bounded flows by level. */
static void
build_heaps (EngNet *net)
{
  net->by_share.n = net->by_bound.n = 0;
  for (guint i = 0; i < net->reached->len; i++) {
    EngLink link = g_array_index (net->reached, uint32_t, i);
    const EngLinkFill *fill = &net->fill[link];
    if (rest_of (fill) > 0.0)
      eng_heap_append (&net->by_share, share_of (&net->links[link], fill), link);
  }
  for (guint i = 0; i < net->members->len; i++) {
    uint32_t flow = g_array_index (net->members, uint32_t, i);
    if (net->head[flow].bounded)
      eng_heap_append (&net->by_bound, net->bound[flow] / net->head[flow].priority, flow);
  }
  eng_heap_build (&net->by_share);
  eng_heap_build (&net->by_bound);
}

/* Brings the least link to the top with a true share, of those that still have flows to fill; false when there is none. */
static bool
settle_top (EngNet *net, double level, double *share)
{
  EngHeap *heap = &net->by_share;
  while (heap->n > 0) {
    const EngLinkState *link = &net->links[heap->items[0].id];
    const EngLinkFill *fill = &net->fill[heap->items[0].id];
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
  for (;;) {
    while (net->by_bound.n > 0 && net->head[net->by_bound.items[0].id].seen != net->component)
      eng_heap_pop (&net->by_bound);
    bool any = settle_top (net, level, &share);
    if (!any)
      break;
    if (net->by_bound.n > 0 && net->by_bound.items[0].key <= share) {
      double bound = net->by_bound.items[0].key;
      level = bound <= level * (1.0 + REL_SAME) ? level : bound;
      freeze (eng, net->by_bound.items[0].id, level);
      eng_heap_pop (&net->by_bound);
      continue;
    }
    level = share;
    const EngLinkState *link = &net->links[net->by_share.items[0].id];
    eng_heap_pop (&net->by_share);
    for (uint32_t i = link->cut; i < link->n_flows; i++)
      if (net->head[link->flows[i]].seen == net->component)
        freeze (eng, link->flows[i], level);
  }
}

void
eng_net_note_use (Eng *eng)
{
  EngNet *net = &eng->net;
  for (guint i = 0; i < net->reached->len; i++) {
    EngLink link = g_array_index (net->reached, uint32_t, i);
    double used = used_of (&net->fill[link]), capacity = net->links[link].capacity;
    eng_link_set_use (eng, link, used > 0.0, used > 0.0 && used >= capacity * (1.0 - REL_SAME));
  }
}

void
eng_net_next_component (EngNet *net)
{
  if (net->component > UINT32_MAX - 4u) {
    for (uint32_t i = 0; i < net->n_flows; i++)
      net->head[i].seen = 0;
    for (uint32_t i = 0; i < net->n_links; i++)
      net->links[i].seen = 0;
    net->component = 0;
  }
  net->component += 2;
}

/* A carrier was gathered as one flow. */
static void
count_bundles (EngNet *net)
{
  for (guint i = 0; i < net->members->len; i++) {
    uint32_t flow = g_array_index (net->members, uint32_t, i);
    const EngFlowHead *head = &net->head[flow];
    for (uint32_t k = 0; head->state == ENG_FLOW_CARRIER && k < head->n_uses; k++)
      net->fill[net->pool[head->uses + k]].rest_lo += eng_bundle_n (net, flow) - 1;
  }
}

/* Nothing has a rate yet. */
static void
settle_none (EngNet *net)
{
  for (guint i = 0; i < net->reached->len; i++) {
    EngLinkFill *fill = &net->fill[g_array_index (net->reached, uint32_t, i)];
    fill->settled_hi = fill->rest_hi;
    fill->settled_lo = fill->rest_lo;
  }
}

static void
solve_component (Eng *eng, EngLink start)
{
  EngNet *net = &eng->net;
  gather (net, start);
  if (eng_net_bundle (eng)) {
    eng_net_next_component (net);
    gather (net, start);
  }
  if (net->has_bundles)
    count_bundles (net);
  if (choose_units (net))
    sum_mixed_weights (net);
  settle_none (net);
  eng_net_fill (eng, 0.0);
  eng_net_note_use (eng);
  eng->stats.solved += net->members->len;
}

/* Fast path: the one flow of a link, if it is alone on all its links, needs no lists and no heaps; the arithmetic is that of
 * eng_net_fill(). */
static bool
solve_lone (Eng *eng, EngLink start)
{
  EngNet *net = &eng->net;
  uint32_t flow = net->links[start].flows[0];
  EngFlowHead *head = &net->head[flow];
  double level = (double)INFINITY;
  if (head->state == ENG_FLOW_CARRIER)
    return false;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLinkState *link = &net->links[net->pool[head->uses + k]];
    if (link->n_live != 1)
      return false;
    level = fmin (level, link->capacity / (eng_net_weight (net, flow, k) * head->priority));
  }
  double rate = level * head->priority;
  if (head->bounded) {
    level = fmin (level, net->bound[flow] / head->priority);
    rate = fmin (level * head->priority, net->bound[flow]);
  }
  for (uint32_t k = 0; k < head->n_uses; k++) {
    EngLink id = net->pool[head->uses + k];
    EngLinkState *link = &net->links[id];
    double used = eng_net_weight (net, flow, k) * head->priority * level;
    link->seen = net->component;
    link->sorted = false;
    eng_link_purge (net, id);
    eng_link_set_use (eng, id, used > 0.0, used > 0.0 && used >= link->capacity * (1.0 - REL_SAME));
  }
  head->seen = net->component + 1;
  eng_net_set_rate (eng, flow, rate);
  eng->stats.solved++;
  return true;
}

static void
solve_components (Eng *eng)
{
  EngNet *net = &eng->net;
  eng_net_next_component (net);
  uint32_t before = net->component;
  for (guint i = 0; i < net->dirty->len; i++) {
    EngLink link = g_array_index (net->dirty, uint32_t, i);
    EngLinkState *state = &net->links[link];
    state->dirty = state->grown = false;
    if (state->seen >= before)
      continue;
    eng_link_purge (net, link);
    if (state->n_flows == 0) {
      eng_link_set_use (eng, link, false, false);
      continue;
    }
    if (state->n_flows == 1 && solve_lone (eng, link))
      continue;
    eng_net_next_component (net);
    solve_component (eng, link);
  }
}

void
eng_net_solve (Eng *eng)
{
  EngNet *net = &eng->net;
  if (!eng_net_solve_part (eng))
    solve_components (eng);
  g_array_set_size (net->dirty, 0);
  net->restart = (double)INFINITY;
  net->n_joined = 0;
  eng_net_recycle (eng);
  eng->stats.solves++;
}

void
eng_set_solve (Eng *eng, EngSolve how)
{
  eng->net.how = how;
}
