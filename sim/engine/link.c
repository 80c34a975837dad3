/* Links: capacities, who moves on them, and what they have carried. */
#include "bundle-private.h"
#include "engine-private.h"

#include <math.h>

EngLink
eng_links_new (Eng *eng, const double *capacity_per_s, unsigned n)
{
  EngNet *net = &eng->net;
  g_assert ((uint64_t)net->n_links + n < ENG_SLOT_FLOW);
  EngLink first = net->n_links;
  if (first + n > net->links_allocated) {
    net->links_allocated = MAX (first + n, MAX (64u, 2u * net->links_allocated));
    net->links = g_renew (EngLinkState, net->links, net->links_allocated);
    net->fill = g_renew (EngLinkFill, net->fill, net->links_allocated);
  }
  for (unsigned i = 0; i < n; i++) {
    g_assert (capacity_per_s[i] >= 0.0 && isfinite (capacity_per_s[i]));
    net->links[first + i] = (EngLinkState){ .capacity = capacity_per_s[i], .since = eng->now };
  }
  net->n_links += n;
  return first;
}

EngLink
eng_link_new (Eng *eng, double capacity_per_s)
{
  return eng_links_new (eng, &capacity_per_s, 1);
}

unsigned
eng_n_links (const Eng *eng)
{
  return eng->net.n_links;
}

void
eng_link_set_capacity (Eng *eng, EngLink link, double capacity_per_s)
{
  g_assert (link < eng->net.n_links);
  g_assert (capacity_per_s >= 0.0 && isfinite (capacity_per_s));
  EngLinkState *state = &eng->net.links[link];
  if (state->n_live > 0) /* its flows rose at least as far as an equal share of what it had */
    eng->net.restart = fmin (eng->net.restart, state->capacity / (state->n_live * state->unit));
  state->capacity = capacity_per_s;
  state->grown = true;
  eng_link_mark_dirty (&eng->net, link);
}

void
eng_link_drop_ended (EngNet *net, EngLink link)
{
  EngLinkState *state = &net->links[link];
  uint32_t n = 0;
  if (state->n_live > 0)
    for (uint32_t i = 0; i < state->n_flows; i++)
      if (net->head[state->flows[i]].state >= ENG_FLOW_MOVING)
        state->flows[n++] = state->flows[i];
  g_assert (n == state->n_live);
  state->n_flows = n;
}

void
eng_link_change_use (Eng *eng, EngLink link, bool busy, bool saturated)
{
  EngLinkState *state = &eng->net.links[link];
  if (state->busy)
    state->busy_ps += eng->now - state->since;
  if (state->saturated)
    state->saturated_ps += eng->now - state->since;
  state->since = eng->now;
  state->busy = busy;
  state->saturated = saturated;
}

double
eng_link_carried (Eng *eng, EngLink link)
{
  const EngNet *net = &eng->net;
  g_assert (link < net->n_links);
  const EngLinkState *state = &net->links[link];
  double carried = state->carried;
  for (uint32_t i = 0; i < state->n_flows; i++) {
    uint32_t flow = state->flows[i];
    const EngFlowHead *head = &net->head[flow];
    if (head->state < ENG_FLOW_MOVING)
      continue;
    uint32_t k = 0;
    while (net->pool[head->uses + k] != link)
      k++;
    double moved = head->state == ENG_FLOW_CARRIER ? eng_bundle_moved (eng, flow) : eng_net_moved (eng, flow);
    carried += eng_net_weight (net, flow, k) * moved;
  }
  return carried;
}

double
eng_link_busy_s (Eng *eng, EngLink link)
{
  g_assert (link < eng->net.n_links);
  const EngLinkState *state = &eng->net.links[link];
  return eng_time_to_s (state->busy_ps + (state->busy ? eng->now - state->since : 0));
}

double
eng_link_saturated_s (Eng *eng, EngLink link)
{
  g_assert (link < eng->net.n_links);
  const EngLinkState *state = &eng->net.links[link];
  return eng_time_to_s (state->saturated_ps + (state->saturated ? eng->now - state->since : 0));
}
