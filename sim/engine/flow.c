/* Activities: their start and end. What they share is solve.c's business. */
#include "engine/flow.h"

#include "base/hash.h"
#include "bundle-private.h"
#include "engine-private.h"

#include <math.h>
#include <string.h>

/* Weights and priorities, so that no product or exact sum leaves the range of a double. */
#define WEIGHT_LEAST 1e-100
#define WEIGHT_MOST  1e100
G_STATIC_ASSERT (sizeof (EngFlowHead) == 16);
G_STATIC_ASSERT (sizeof (EngFlowMove) == 32);
G_STATIC_ASSERT (sizeof (EngFlowCall) == 8);

void
eng_net_clear (EngNet *net)
{
  g_free (net->flows.free.items);
  g_free (net->flows.ended.items);
  g_free (net->links.dirty.items);
  g_free (net->work.members.items);
  g_free (net->work.reached.items);
  g_free (net->work.frozen.items);
  g_array_unref (net->local.chosen);
  g_array_unref (net->local.frozen);
  for (uint32_t i = 0; i < net->links.n_marks; i++)
    if (net->links.marks[i] != NULL)
      g_array_unref (net->links.marks[i]);
  g_free (net->links.marks);
  eng_clocks_clear (net);
  eng_heap_clear (&net->work.by_share);
  eng_heap_clear (&net->work.by_bound);
  for (uint32_t i = 0; i < net->flows.n; i++)
    if (net->flows.head[i].state == ENG_FLOW_CARRIER)
      eng_bundle_free (net->callees.items[net->flows.call[i].callee].user);
  for (uint32_t i = 0; i < net->links.n; i++)
    g_free (net->links.state[i].flows);
  g_free (net->links.state);
  g_free (net->links.capacity);
  g_free (net->links.fill);
  g_free (net->flows.head);
  g_free (net->flows.move);
  g_free (net->flows.call);
  g_free (net->flows.stamp);
  g_free (net->flows.generation);
  eng_callees_clear (net);
  g_free (net->pool.word);
}

static inline bool
is_bound (double bound_per_s)
{
  return bound_per_s > 0.0 && isfinite (bound_per_s);
}

static void
check_spec (const Eng *eng, const EngFlowSpec *spec)
{
  g_assert (spec->amount >= 0.0 && spec->bound_per_s >= 0.0);
  g_assert (spec->priority <= 0.0 || (spec->priority >= WEIGHT_LEAST && spec->priority <= WEIGHT_MOST));
  g_assert (spec->priority >= 0.0);
  g_assert (spec->n_uses > 0 || is_bound (spec->bound_per_s) || spec->amount <= 0.0);
  for (unsigned i = 0; i < spec->n_uses; i++) {
    g_assert (spec->uses[i].link < eng->net.links.n);
    g_assert (spec->uses[i].weight >= WEIGHT_LEAST && spec->uses[i].weight <= WEIGHT_MOST);
  }
}

/* Adds the weight to the place of the link if the list names it already. */
static bool
merge_use (EngNet *net, uint32_t at, uint32_t n, uint32_t weights, EngUse use)
{
  uint32_t spot = net->links.state[use.link].spot;
  if (spot >= n || net->pool.word[at + spot] != use.link)
    return false;
  double sum;
  memcpy (&sum, &net->pool.word[weights + 2u * spot], sizeof sum);
  sum += use.weight;
  memcpy (&net->pool.word[weights + 2u * spot], &sum, sizeof sum);
  return true;
}

static inline bool
are_equal (double a, double b)
{
  return base_double_bits (a) == base_double_bits (b);
}

/* Copies the links, if all weights are equal and no link comes twice, into a list that is long enough. */
static bool
copy_links (EngNet *net, uint32_t *list, const EngFlowSpec *spec)
{
  for (uint32_t i = 0; i < spec->n_uses; i++) {
    const EngLink link = spec->uses[i].link;
    uint32_t *spot = &net->links.state[link].spot;
    if ((*spot < i && list[*spot] == link) || !are_equal (spec->uses[i].weight, spec->uses[0].weight))
      return false;
    *spot = i;
    list[i] = link;
  }
  return true;
}

/* Copies the links and weights, each link once. */
static void
copy_weights (EngNet *net, EngFlowHead *head, const EngFlowSpec *spec)
{
  const uint32_t n = spec->n_uses, scratch = eng_net_take_words (net, 3u * n), weights = scratch + n;
  uint32_t n_kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    const EngUse use = spec->uses[i];
    if (merge_use (net, scratch, n_kept, weights, use))
      continue;
    net->links.state[use.link].spot = n_kept;
    net->pool.word[scratch + n_kept] = use.link;
    memcpy (&net->pool.word[weights + 2u * n_kept], &use.weight, sizeof use.weight);
    n_kept++;
  }
  head->n_uses = n_kept & ENG_MOST_USES;
  head->mixed = head->weighted = true;
  head->uses = eng_net_take_words (net, eng_flow_list_words (head));
  memcpy (&net->pool.word[head->uses], &net->pool.word[scratch], n_kept * sizeof (uint32_t));
  memcpy (&net->pool.word[head->uses + n_kept], &net->pool.word[weights], n_kept * sizeof (double));
  eng_net_give_words (net, scratch, 3u * n);
}

/* The k-th of the numbers behind its links. */
static void
set_number (EngNet *net, const EngFlowHead *head, uint32_t k, double number)
{
  memcpy (&net->pool.word[head->uses + head->n_uses + 2u * k], &number, sizeof number);
}

/* One that waits, with its links and the numbers that are not the usual ones. */
static EngFlowHead
new_head (EngNet *net, const EngFlowSpec *spec)
{
  const bool weighted = spec->n_uses > 0 && !are_equal (spec->uses[0].weight, 1.0);
  const bool preferred = spec->priority > 0.0 && !are_equal (spec->priority, 1.0), bounded = is_bound (spec->bound_per_s);
  const uint32_t n_words = spec->n_uses + 2u * ((uint32_t)weighted + preferred + bounded);
  EngFlowHead head = {
    .uses = eng_net_take_words (net, n_words),
    .n_uses = spec->n_uses & ENG_MOST_USES,
    .state = ENG_FLOW_WAITING,
    .weighted = weighted,
    .preferred = preferred,
    .bounded = bounded,
    .bottleneck = ENG_NO_SLOT,
  };
  g_assert (spec->n_uses <= ENG_MOST_USES);
  if (!copy_links (net, &net->pool.word[head.uses], spec)) {
    eng_net_give_words (net, head.uses, n_words);
    copy_weights (net, &head, spec);
  } else if (weighted) {
    set_number (net, &head, 0, spec->uses[0].weight);
  }
  if (n_words == spec->n_uses && !head.mixed)
    return head;
  if (preferred)
    set_number (net, &head, eng_flow_n_weights (&head), spec->priority);
  if (bounded)
    set_number (net, &head, eng_flow_n_weights (&head) + head.preferred, spec->bound_per_s);
  return head;
}

/* The latency is over. */
static void
begin_moving (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  EngFlowHead *head = &net->flows.head[flow];
  head->state = ENG_FLOW_MOVING;
  net->flows.n_moving++;
  net->flows.n_joined++;
  net->flows.move[flow].since = eng->now;
  eng_net_join (net, flow);
  if (head->n_uses == 0)
    eng_net_set_rate (eng, flow, eng_flow_bound (net, flow));
  else if (net->clocks.on)
    eng_clocks_join (eng, flow);
}

EngFlow
eng_flow_start (Eng *eng, const EngFlowSpec *spec)
{
  check_spec (eng, spec);
  EngNet *net = &eng->net;
  const uint32_t callee = eng_callee_of (net, spec->done, spec->user, (uint32_t)(spec->arg >> 32));
  uint32_t flow = eng_net_take_slot (net);
  EngFlowHead *head = &net->flows.head[flow];
  *head = new_head (net, spec);
  net->flows.call[flow] = (EngFlowCall){ .callee = callee, .low = (uint32_t)spec->arg };
  net->flows.move[flow] =
      (EngFlowMove){ .amount = spec->amount, .left = isinf (spec->amount) ? 0.0 : spec->amount, .since = eng->now };
  eng->stats.flows++;
  if (spec->latency > 0 || spec->amount <= 0.0) {
    head->pending = true;
    eng_push_flow (eng, eng_time_add (eng->now, spec->latency), flow);
  } else {
    begin_moving (eng, flow);
  }
  return (EngFlow)net->flows.generation[flow] << 32 | flow;
}

/* Takes it off its links. They name it until the next solve purges them: so long the slot is not given to another. */
static void
end_flow (Eng *eng, uint32_t flow, double moved)
{
  EngNet *net = &eng->net;
  EngFlowHead *head = &net->flows.head[flow];
  if (++net->flows.generation[flow] == 0)
    net->flows.generation[flow] = 1; /* so that no handle is 0 */
  net->flows.n_moving -= head->state != ENG_FLOW_WAITING;
  if (head->state == ENG_FLOW_BUNDLED)
    eng_bundle_end (eng, flow, moved);
  else if (head->state == ENG_FLOW_MEMBER)
    eng_clocks_end (eng, flow);
  if (head->state == ENG_FLOW_WAITING || head->n_uses == 0) {
    eng_net_give_slot (net, flow);
    return;
  }
  head->state = ENG_FLOW_ENDED;
  if (!net->clocks.on && net->flows.move[flow].rate < net->part.restart)
    net->part.restart = net->flows.move[flow].rate;
  for (uint32_t k = 0, n_uses = head->n_uses; k < n_uses; k++) {
    EngLink link = net->pool.word[head->uses + k];
    net->links.state[link].carried += eng_net_weight (net, flow, k) * moved;
    net->links.state[link].n_live--;
    eng_link_mark_dirty (net, link);
  }
  eng_ids_add (&net->flows.ended, flow);
}

void
eng_net_fire (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  if (net->flows.head[flow].state >= ENG_FLOW_CARRIER) {
    const bool bundle = net->flows.head[flow].state == ENG_FLOW_CARRIER;
    flow = bundle ? eng_bundle_next (eng, flow) : eng_clocks_next (eng, flow);
    if (flow == ENG_NO_SLOT)
      return;
  }
  EngFlowMove *move = &net->flows.move[flow];
  net->flows.head[flow].pending = false;
  if (net->flows.head[flow].state == ENG_FLOW_WAITING && move->amount > 0.0) {
    begin_moving (eng, flow);
    return;
  }
  if (net->flows.head[flow].state == ENG_FLOW_MOVING && eng->now - move->since >= ENG_RECHECK_PS) {
    eng_flow_advance (move, eng->now);
    if (eng_flow_end_of (move, eng->now) > eng->now) {
      eng_flow_schedule_end (eng, flow);
      return;
    }
  }
  const EngFlowCall call = net->flows.call[flow];
  const EngCallee callee = net->callees.items[call.callee];
  end_flow (eng, flow, move->amount);
  if (callee.fn != NULL)
    callee.fn (eng, callee.user, (uint64_t)callee.high << 32 | call.low);
}

/* The slot behind a handle, ENG_NO_SLOT if the flow has ended. */
static uint32_t
find_flow (const Eng *eng, EngFlow flow)
{
  uint32_t slot = (uint32_t)flow, generation = (uint32_t)(flow >> 32);
  if (generation == 0 || slot >= eng->net.flows.n || eng->net.flows.generation[slot] != generation)
    return ENG_NO_SLOT;
  return slot;
}

void
eng_flow_set_bound (Eng *eng, EngFlow flow, double bound_per_s)
{
  EngNet *net = &eng->net;
  uint32_t slot = find_flow (eng, flow);
  if (slot == ENG_NO_SLOT)
    return;
  eng_clocks_stop (eng);
  EngFlowHead *head = &net->flows.head[slot];
  g_assert (bound_per_s > 0.0 && (head->n_uses > 0 || isfinite (bound_per_s)));
  if (head->state == ENG_FLOW_BUNDLED)
    eng_bundle_release (eng, slot);
  const uint32_t uses = head->uses, n_words = eng_flow_list_words (head);
  head->bounded = is_bound (bound_per_s);
  eng_flow_copy_list (net, head, uses);
  eng_net_give_words (net, uses, n_words);
  if (head->bounded)
    set_number (net, head, eng_flow_n_weights (head) + head->preferred, bound_per_s);
  if (head->state != ENG_FLOW_MOVING)
    return;
  net->flows.rebound = true;
  if (head->n_uses == 0)
    eng_net_set_rate (eng, slot, bound_per_s);
  net->part.restart = fmin (net->part.restart, fmin (net->flows.move[slot].rate, bound_per_s));
  for (uint32_t k = 0; k < head->n_uses; k++)
    eng_link_mark_dirty (net, net->pool.word[head->uses + k]);
}

/* How much of it has moved by now. */
static double
moved_by_now (const Eng *eng, uint32_t flow)
{
  if (eng->net.flows.head[flow].state == ENG_FLOW_MEMBER) {
    const double amount = eng->net.flows.move[flow].amount, left = eng_clocks_left (eng, flow);
    return isinf (amount) ? -left : amount - fmax (0.0, left);
  }
  if (eng->net.flows.head[flow].state == ENG_FLOW_BUNDLED)
    return eng->net.flows.move[flow].amount - fmax (0.0, eng_bundle_left (eng, flow));
  if (eng_clocks_is_fresh (&eng->net, flow))
    return 0.0;
  return eng_flow_moved (eng, flow);
}

bool
eng_flow_cancel (Eng *eng, EngFlow flow)
{
  uint32_t slot = find_flow (eng, flow);
  if (slot == ENG_NO_SLOT)
    return false;
  eng_flow_drop_end (eng, slot);
  if (eng_clocks_is_fresh (&eng->net, slot))
    eng_clocks_end (eng, slot);
  end_flow (eng, slot, eng->net.flows.head[slot].state == ENG_FLOW_WAITING ? 0.0 : moved_by_now (eng, slot));
  return true;
}

double
eng_flow_rate (const Eng *eng, EngFlow flow)
{
  uint32_t slot = find_flow (eng, flow);
  if (slot == ENG_NO_SLOT)
    return 0.0;
  const EngFlowHead *head = &eng->net.flows.head[slot];
  if (head->state == ENG_FLOW_MEMBER)
    return eng_clocks_rate (&eng->net, slot);
  if (eng_clocks_is_fresh (&eng->net, slot))
    return 0.0;
  return eng->net.flows.move[head->state == ENG_FLOW_BUNDLED ? head->uses : slot].rate;
}

double
eng_flow_remaining (const Eng *eng, EngFlow flow)
{
  uint32_t slot = find_flow (eng, flow);
  if (slot == ENG_NO_SLOT)
    return 0.0;
  double amount = eng->net.flows.move[slot].amount;
  return isinf (amount) ? amount : amount - moved_by_now (eng, slot);
}

void
eng_link_set_capacity (Eng *eng, EngLink link, double capacity_per_s)
{
  g_assert (link < eng->net.links.n);
  g_assert (capacity_per_s >= 0.0 && isfinite (capacity_per_s));
  eng_clocks_stop (eng);
  EngLinkState *state = &eng->net.links.state[link];
  if (state->n_live > 0) /* its flows rose at least as far as an equal share of what it had */
    eng->net.part.restart = fmin (eng->net.part.restart, state->capacity / (state->n_live * state->unit));
  state->capacity = eng->net.links.capacity[link] = capacity_per_s;
  state->grown = true;
  eng_link_mark_dirty (&eng->net, link);
}

double
eng_link_carried (Eng *eng, EngLink link)
{
  const EngNet *net = &eng->net;
  g_assert (link < net->links.n);
  const EngLinkState *state = &net->links.state[link];
  double carried = state->carried;
  for (uint32_t i = 0; i < state->n_flows; i++) {
    uint32_t flow = state->flows[i];
    const EngFlowHead *head = &net->flows.head[flow];
    if (head->state < ENG_FLOW_MOVING)
      continue;
    uint32_t k = 0;
    while (net->pool.word[head->uses + k] != link)
      k++;
    double moved = head->state == ENG_FLOW_CARRIER ? eng_bundle_moved (eng, flow) : moved_by_now (eng, flow);
    carried += eng_net_weight (net, flow, k) * moved;
  }
  return carried;
}

uint64_t
eng_net_n_stuck (const EngNet *net, EngLink *some_link)
{
  uint64_t n = 0;
  for (uint32_t flow = 0; flow < net->flows.n; flow++) {
    const EngFlowHead *head = &net->flows.head[flow];
    bool endless = (head->state == ENG_FLOW_MOVING || head->state == ENG_FLOW_MEMBER) && isinf (net->flows.move[flow].amount);
    const bool member = head->state == ENG_FLOW_MEMBER && eng_clocks_rate (net, flow) > 0.0;
    if (head->state < ENG_FLOW_MOVING || head->state == ENG_FLOW_CLOCK || head->pending || endless || member)
      continue;
    for (uint32_t k = 0; n == 0 && k < head->n_uses; k++)
      if (net->links.state[net->pool.word[head->uses + k]].capacity <= 0.0)
        *some_link = net->pool.word[head->uses + k];
    n += head->state == ENG_FLOW_CARRIER ? eng_bundle_n (net, flow) : 1;
  }
  return n;
}
