/* Changes that leave the rates of all other flows alone.
 *
 * A flow that has joined within its own bound, or one that has ended, concerns no other flow if none of its links is the
 * bottleneck of one, and the links have room for what has joined: then each of the other flows still has its bottleneck, as full
 * as before, and the new flow is held by its bound (stop rule and proof: solve_local.c). So no component is gathered, which a link
 * with plenty of room would make of all that cross it: transfers of KV through a spine, each at the pace of its descriptors.
 *
 * The rate is that of fill.c, bit for bit, but where levels lie within 1e-12 of each other.
 * Check: law_engine_fair. */
#include "engine-private.h"
#include "fill-private.h"

/* Lists longer than this are not looked through: a solve in part looks at fewer. */
#define MOST_LISTED 256
/* A link that lacks more than this of its capacity is not full, however sums are rounded. */
#define REL_SLACK 1e-9

static bool
is_new (const EngNet *net, uint32_t flow)
{
  return net->flows.head[flow].bottleneck == ENG_NO_SLOT && !(net->flows.move[flow].rate > 0.0);
}

/* The rate that its bound gives it. */
static double
bound_rate (const EngNet *net, uint32_t flow)
{
  const double priority = eng_flow_priority (net, flow), bound = eng_flow_bound (net, flow);
  return fmin (bound / priority * priority, bound);
}

static double
weight_on (const EngNet *net, uint32_t flow, EngLink link)
{
  const EngFlowHead *head = &net->flows.head[flow];
  uint32_t k = 0;
  while (head->mixed && net->pool.word[head->uses + k] != link)
    k++;
  return eng_net_weight (net, flow, k);
}

/* Whether the link is no bottleneck, and has room for all of its flows. */
static bool
has_room (const EngNet *net, EngLink link)
{
  const EngLinkState *state = &net->links.state[link];
  double sum = 0.0;
  for (uint32_t i = 0; i < state->n_flows; i++) {
    const uint32_t flow = state->flows[i];
    const EngFlowHead *head = &net->flows.head[flow];
    if (head->state < ENG_FLOW_MOVING)
      continue;
    const bool fresh = is_new (net, flow);
    if (head->state != ENG_FLOW_MOVING || net->flows.head[flow].bottleneck == link || (fresh && !head->bounded))
      return false;
    if (state->grown)
      sum += weight_on (net, flow, link) * (fresh ? bound_rate (net, flow) : net->flows.move[flow].rate);
  }
  return sum <= state->capacity * (1.0 - REL_SLACK);
}

static bool
all_have_room (const EngNet *net)
{
  uint64_t n_listed = 0;
  for (uint32_t i = 0; i < net->links.dirty.n && n_listed <= MOST_LISTED; i++)
    n_listed += net->links.state[net->links.dirty.items[i]].n_flows;
  if (n_listed > MOST_LISTED)
    return false;
  for (uint32_t i = 0; i < net->links.dirty.n; i++)
    if (!has_room (net, net->links.dirty.items[i]))
      return false;
  return true;
}

static void
collect_new (EngNet *net, const EngLinkState *state)
{
  for (uint32_t i = 0; i < state->n_flows; i++) {
    EngFlowHead *head = &net->flows.head[state->flows[i]];
    if (!is_new (net, state->flows[i]) || head->seen == net->work.component)
      continue;
    head->seen = net->work.component;
    const uint32_t flow = state->flows[i];
    eng_heap_append (&net->work.by_bound, eng_flow_bound (net, flow) / eng_flow_priority (net, flow), flow);
  }
}

/* In the order of fill.c, in which ends of one instant are queued. */
static void
give_rates (Eng *eng)
{
  EngNet *net = &eng->net;
  eng->stats.solved += net->work.by_bound.n;
  for (eng_heap_build (&net->work.by_bound); net->work.by_bound.n > 0; eng_heap_pop (&net->work.by_bound)) {
    const uint32_t flow = net->work.by_bound.items[0].id;
    net->flows.head[flow].seen = net->work.component + 1;
    eng_net_set_rate (eng, flow, bound_rate (net, flow));
  }
}

bool
eng_net_solve_room (Eng *eng)
{
  EngNet *net = &eng->net;
  if (net->how != ENG_SOLVE_AUTO || net->flows.rebound || !all_have_room (net))
    return false;
  eng_net_next_component (net);
  net->work.by_bound.n = 0;
  for (uint32_t i = 0; i < net->links.dirty.n; i++) {
    const EngLink link = net->links.dirty.items[i];
    EngLinkState *state = &net->links.state[link];
    eng_link_purge (net, link);
    state->dirty = state->grown = state->sorted = false;
    collect_new (net, state);
  }
  give_rates (eng);
  eng->stats.parts++;
  return true;
}
