/* Solving again, component by component.
 *
 * A component is what a changed link reaches through flows and their links; its solution is a function of itself alone, so solving
 * the changed ones is the same, bit for bit, as solving all. How one is filled: fill.c. */
#include "bundle-private.h"
#include "engine-private.h"
#include "fill-private.h"

#include <math.h>
#include <string.h>

/* Bits kept of a weight below the power of two above the link's largest; 2^32 flows then still fit in 128 bits. */
#define UNIT_BITS 96
/* So many flows of a component are worth another way, if they are solved again and again. */
#define LARGE 64

/* First sight of a flow's use of a link: collects count, least and largest weight. */
static inline void
reach_link (EngNet *net, EngLink link, double weight)
{
  EngLinkState *state = &net->links.state[link];
  EngLinkFill *fill = &net->links.fill[link];
  if (state->seen != net->work.component) {
    state->seen = net->work.component;
    *fill = (EngLinkFill){ .rest_lo = 1, .unit = weight, .scale = weight };
    eng_ids_add (&net->work.reached, link);
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
  net->work.members.n = 0;
  net->work.reached.n = 0;
  net->links.state[start].seen = net->work.component;
  net->links.fill[start] = (EngLinkFill){ .unit = (double)INFINITY };
  eng_ids_add (&net->work.reached, start);
  for (uint32_t i = 0; i < net->work.reached.n; i++) {
    EngLink link = net->work.reached.items[i];
    eng_link_purge (net, link);
    net->links.state[link].sorted = false;
    const EngLinkState *state = &net->links.state[link];
    for (uint32_t j = 0; j < state->n_flows; j++) {
      uint32_t flow = state->flows[j];
      EngFlowHead *head = &net->flows.head[flow];
      if (head->seen == net->work.component)
        continue;
      head->seen = net->work.component;
      eng_ids_add (&net->work.members, flow);
      const double priority = eng_flow_priority (net, flow);
      for (uint32_t k = 0; k < head->n_uses; k++)
        reach_link (net, net->pool.word[head->uses + k], eng_net_weight (net, flow, k) * priority);
    }
  }
}

/* Chooses each link's unit; true if some link has flows of different weights. */
static bool
choose_units (EngNet *net)
{
  bool mixed = false;
  for (uint32_t i = 0; i < net->work.reached.n; i++) {
    EngLinkFill *fill = &net->links.fill[net->work.reached.items[i]];
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
  for (uint32_t i = 0; i < net->work.members.n; i++) {
    uint32_t flow = net->work.members.items[i];
    const EngFlowHead *head = &net->flows.head[flow];
    for (uint32_t k = 0; k < head->n_uses; k++) {
      EngLinkFill *fill = &net->links.fill[net->pool.word[head->uses + k]];
      if (!fill->mixed)
        continue;
      uint64_t hi, lo;
      count_weight (fill, eng_net_weight (net, flow, k) * eng_flow_priority (net, flow), &hi, &lo);
      if (head->state == ENG_FLOW_CARRIER)
        count_times (eng_bundle_n (net, flow), &hi, &lo);
      fill->rest_lo += lo;
      fill->rest_hi += hi + (fill->rest_lo < lo);
    }
  }
}

/* A carrier was gathered as one flow. */
static void
count_bundles (EngNet *net)
{
  for (uint32_t i = 0; i < net->work.members.n; i++) {
    uint32_t flow = net->work.members.items[i];
    const EngFlowHead *head = &net->flows.head[flow];
    for (uint32_t k = 0; head->state == ENG_FLOW_CARRIER && k < head->n_uses; k++)
      net->links.fill[net->pool.word[head->uses + k]].rest_lo += eng_bundle_n (net, flow) - 1;
  }
}

/* Nothing has a rate yet. */
static void
settle_none (EngNet *net)
{
  for (uint32_t i = 0; i < net->work.reached.n; i++) {
    EngLinkFill *fill = &net->links.fill[net->work.reached.items[i]];
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
  if (net->bundles.any)
    count_bundles (net);
  if (choose_units (net))
    sum_mixed_weights (net);
  settle_none (net);
  eng_net_fill (eng, 0.0);
  eng->stats.solved += net->work.members.n;
}

/* Fast path: the one flow of a link, if it is alone on all its links, needs no lists and no heaps; the arithmetic is that of
 * eng_net_fill(). */
static bool
solve_lone (Eng *eng, EngLink start)
{
  EngNet *net = &eng->net;
  uint32_t flow = net->links.state[start].flows[0];
  EngFlowHead *head = &net->flows.head[flow];
  double level = (double)INFINITY;
  EngLink bottleneck = ENG_NO_SLOT;
  if (head->state == ENG_FLOW_CARRIER)
    return false;
  const double priority = eng_flow_priority (net, flow);
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLinkState *link = &net->links.state[net->pool.word[head->uses + k]];
    if (link->n_live != 1)
      return false;
    const double share = link->capacity / (eng_net_weight (net, flow, k) * priority);
    bottleneck = share < level ? net->pool.word[head->uses + k] : bottleneck;
    level = share < level ? share : level;
  }
  double rate = level * priority;
  if (head->bounded) {
    const double bound = eng_flow_bound (net, flow);
    if (bound / priority <= level)
      bottleneck = ENG_NO_SLOT;
    level = fmin (level, bound / priority);
    rate = fmin (level * priority, bound);
  }
  for (uint32_t k = 0; k < head->n_uses; k++) {
    EngLink id = net->pool.word[head->uses + k];
    net->links.state[id].seen = net->work.component;
    net->links.state[id].sorted = false;
    eng_link_purge (net, id);
  }
  head->seen = net->work.component + 1;
  head->bottleneck = bottleneck;
  eng_net_set_rate (eng, flow, rate);
  eng->stats.solved++;
  return true;
}

/* Returns the flows solved in large components. */
static uint64_t
solve_components (Eng *eng)
{
  EngNet *net = &eng->net;
  uint64_t n = 0;
  eng_net_next_component (net);
  uint32_t before = net->work.component;
  for (uint32_t i = 0; i < net->links.dirty.n; i++) {
    EngLink link = net->links.dirty.items[i];
    EngLinkState *state = &net->links.state[link];
    state->dirty = state->grown = false;
    if (state->seen >= before)
      continue;
    eng_link_purge (net, link);
    if (state->n_flows == 0 || (state->n_flows == 1 && solve_lone (eng, link)))
      continue;
    eng_net_next_component (net);
    solve_component (eng, link);
    n += net->work.members.n >= LARGE ? net->work.members.n : 0;
  }
  return n;
}

void
eng_net_solve (Eng *eng)
{
  EngNet *net = &eng->net;
  const bool by_clocks = eng_clocks_solve (eng);
  const uint64_t before = eng->stats.solved;
  uint64_t solved = 0;
  if (!by_clocks && !eng_net_solve_room (eng)) {
    if (eng_net_solve_local (eng) || eng_net_solve_part (eng))
      solved = eng->stats.solved - before;
    else
      solved = solve_components (eng);
  }
  net->links.dirty.n = 0;
  net->part.restart = (double)INFINITY;
  net->flows.n_joined = 0;
  net->flows.rebound = false;
  eng_net_recycle (net);
  eng->stats.solves++;
  if (!by_clocks && (solved > 0 || net->how == ENG_SOLVE_CLOCKS))
    eng_clocks_consider (eng, solved);
}

void
eng_set_solve (Eng *eng, EngSolve how)
{
  eng->net.how = how;
}
