/* Links: capacities, and who moves on them. */
#include "engine-private.h"

#include <math.h>

/* So many places of a list. */
#define LIST_WORTH_TRIMMING 64u

/* Room for at least `least` links. States that no flow has touched need not be copied, and so take no memory. */
static void
grow (EngNet *net, uint32_t least)
{
  EngLinks *links = &net->links;
  const bool touched = net->flows.n > 0 || links->dirty.n > 0;
  links->n_allocated = MAX (least, MAX (64u, 2u * links->n_allocated));
  EngLinkState *state = g_new0 (EngLinkState, links->n_allocated);
  if (touched && links->n > 0)
    memcpy (state, links->state, links->n * sizeof *state);
  g_free (links->state);
  links->state = state;
  links->capacity = g_renew (double, links->capacity, links->n_allocated);
  links->fill = g_renew (EngLinkFill, links->fill, links->n_allocated);
}

EngLink
eng_links_new (Eng *eng, const double *capacity_per_s, unsigned n)
{
  EngNet *net = &eng->net;
  g_assert ((uint64_t)net->links.n + n < ENG_SLOT_FLOW);
  EngLink first = net->links.n;
  if (first + n > net->links.n_allocated)
    grow (net, first + n);
  for (unsigned i = 0; i < n; i++) {
    g_assert (capacity_per_s[i] >= 0.0 && isfinite (capacity_per_s[i]));
    net->links.capacity[first + i] = capacity_per_s[i];
  }
  net->links.n += n;
  return first;
}

EngLink
eng_link_new (Eng *eng, double capacity_per_s)
{
  return eng_links_new (eng, &capacity_per_s, 1);
}

/* `first`: its priority is 1. */
static inline void
join_link (EngNet *net, EngLink link, uint32_t flow, double weight, bool first)
{
  EngLinkState *state = &net->links.state[link];
  if (state->n_flows == 0) {
    state->capacity = net->links.capacity[link];
    state->unit = weight;
    state->plain = first;
    state->sorted = false;
  } else if (!first || weight < state->unit || weight > state->unit) {
    state->plain = false;
  }
  state->grown = true;
  if (state->n_flows == state->n_allocated) {
    state->n_allocated = state->n_allocated == 0 ? 4 : 2 * state->n_allocated;
    state->flows = g_renew (uint32_t, state->flows, state->n_allocated);
  }
  state->flows[state->n_flows++] = flow;
  state->n_live++;
  eng_link_mark_dirty (net, link);
}

void
eng_link_trim (EngNet *net, EngLink link)
{
  EngLinkState *state = &net->links.state[link];
  if (state->n_allocated - state->n_flows < LIST_WORTH_TRIMMING)
    return;
  state->n_allocated = state->n_flows;
  state->flows = g_renew (uint32_t, state->flows, state->n_allocated);
}

void
eng_net_join (EngNet *net, uint32_t flow)
{
  const EngFlowHead *head = &net->flows.head[flow];
  bool first = head->state == ENG_FLOW_MOVING && !head->preferred;
  for (uint32_t k = 0, n_uses = head->n_uses; k < n_uses; k++)
    join_link (net, net->pool.word[head->uses + k], flow, eng_net_weight (net, flow, k), first);
  if (head->bounded && eng_flow_bound (net, flow) < net->part.restart)
    net->part.restart = eng_flow_bound (net, flow); /* only where the priority is 1 does the level matter */
}

void
eng_link_drop_ended (EngNet *net, EngLink link)
{
  EngLinkState *state = &net->links.state[link];
  uint32_t n = 0;
  if (state->n_live > 0)
    for (uint32_t i = 0; i < state->n_flows; i++)
      if (net->flows.head[state->flows[i]].state >= ENG_FLOW_MOVING)
        state->flows[n++] = state->flows[i];
  g_assert (n == state->n_live);
  state->n_flows = n;
}
