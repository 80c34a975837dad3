/* Bottleneck clocks: who is a member of which link.
 *
 * Flows with the same bottleneck have the same rate, its level. So the link has a clock, the integral of its level over time, and a
 * flow that joins when the clock shows V with s left to move ends when it shows V + s, whatever the level does. A change of
 * level is one update, and an end an operation on the heap of these ends. A flow is moved only when its bottleneck changes.
 * The integral keeps what its sum loses (Knuth, TAOCP 2, 4.2.2), as that of a bundle does, and starts anew when no member is left.
 *
 * A change of level has to reach the other links of the members, which sum up the rates of their flows. Most of these links are far
 * from full. Such a link is quiet: each bottleneck has a ceiling above its level, and as long as the sum of its flows' ceilings is
 * below its capacity, the link cannot be full and need not hear of changes of level, but of ceilings, which are few. */
#include "bottleneck-private.h"

#include <math.h>

G_STATIC_ASSERT (sizeof (EngOthers) == ENG_LINE_B / 2 && offsetof (EngBottleneck, items) == ENG_LINE_B);

/* Where the level rises before the end has come, it may rise again: the end is found anew when all but this part of the way to it
 * has passed, so that small rises need no other entry. Not where it is as near as this. */
#define AHEAD   8u
#define SURE_PS 65536u
/* A link may be quiet when ceilings leave so much of it. */
#define QUIET_AT 0.995

static inline void
put (EngNet *net, EngBottleneck *one, uint32_t at, const EngMember *item)
{
  one->items[at] = *item;
  net->clocks.place[item->id] = at;
}

static inline bool
before (const EngMember *a, const EngMember *b)
{
  return a->key < b->key || (a->key <= b->key && a->id < b->id);
}

static void
sift_up (EngNet *net, EngBottleneck *one, uint32_t at, const EngMember *item)
{
  for (; at > 0 && before (item, &one->items[(at - 1) / 2]); at = (at - 1) / 2)
    put (net, one, at, &one->items[(at - 1) / 2]);
  put (net, one, at, item);
}

static void
sift_down (EngNet *net, EngBottleneck *one, uint32_t at, const EngMember *item)
{
  for (uint32_t child; (child = 2 * at + 1) < one->n; at = child) {
    child += child + 1 < one->n && before (&one->items[child + 1], &one->items[child]);
    if (!before (&one->items[child], item))
      break;
    put (net, one, at, &one->items[child]);
  }
  put (net, one, at, item);
}

void
eng_bottleneck_make_loud (EngNet *net, EngLink link)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  EngOthers *others = eng_others_of (net, link);
  const EngLinkState *state = &net->links.state[link];
  const uint32_t *held = one->held;
  net->clocks.quiet[link] = false;
  others->sum = others->rest = others->top = 0.0;
  for (uint32_t i = 0; i < state->n_flows; i++) {
    if (held[i] == ENG_NO_SLOT)
      continue; /* has just joined */
    eng_others_add (others, net->clocks.level[held[i]]);
    if (held[i] != link)
      eng_spread_make_loud (net, held[i], link);
  }
  one->quiet_below = fminf (ENG_QUIET_AGAIN, (float)(others->sum / eng_others_room (others)) * ENG_QUIET_AGAIN);
}

static void
try_quiet (EngNet *net, EngLink link)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const EngLinkState *state = &net->links.state[link];
  EngOthers *others = eng_others_of (net, link);
  const uint32_t *held = one->held;
  double sum = 0.0;
  one->quiet_below = fminf (ENG_QUIET_AGAIN, (float)(others->sum / eng_others_room (others)) * ENG_QUIET_AGAIN);
  if (one->n > 0 || net->clocks.quiet[link])
    return;
  for (uint32_t i = 0; i < state->n_flows; i++)
    sum += net->clocks.ceiling[held[i]];
  if (sum >= eng_others_room (others) * QUIET_AT)
    return;
  others->sum = sum;
  net->clocks.quiet[link] = true;
  for (uint32_t i = 0; i < state->n_flows; i++)
    eng_spread_make_quiet (net, held[i], link);
}

void
eng_bottleneck_quieten (EngNet *net)
{
  for (uint32_t i = 0; i < net->clocks.calm.n; i++)
    try_quiet (net, net->clocks.calm.items[i]);
  net->clocks.calm.n = 0;
}

void
eng_bottleneck_enlist (EngNet *net, EngLink link, uint32_t flow, double left)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  if (one->n == one->n_allocated) {
    one->n_allocated = eng_grown (one->n_allocated);
    one->items = g_renew (EngMember, one->items, one->n_allocated);
  }
  EngFlowMove *move = &net->flows.move[flow];
  EngFlowHead *head = &net->flows.head[flow];
  move->left = one->service + (one->service_rest + left);
  head->state = ENG_FLOW_MEMBER;
  net->flows.bottleneck[flow] = link;
  for (uint32_t use = head->uses; use < head->uses + head->n_uses; use++) {
    const EngLink used = net->pool.word[use];
    eng_bottleneck_of (net, used)->held[net->clocks.spot[use]] = link;
    if (used != link)
      eng_spread_enter (net, link, used);
  }
  const EngMember member = { .key = isinf (move->amount) ? (double)INFINITY : move->left, .id = flow };
  if (one->n == 0)
    eng_others_of (net, link)->limit *= -1.0;
  sift_up (net, one, one->n++, &member);
  one->first = one->items[0].key;
}

double
eng_bottleneck_discharge (EngNet *net, EngLink link, uint32_t flow, EngTime now)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const double left = eng_bottleneck_left (net, link, net->flows.move[flow].left, now);
  const uint32_t at = net->clocks.place[flow];
  const EngMember last = one->items[--one->n];
  if (last.id != flow) {
    const bool up = at > 0 && before (&last, &one->items[(at - 1) / 2]);
    if (up)
      sift_up (net, one, at, &last);
    else
      sift_down (net, one, at, &last);
  }
  one->first = one->n > 0 ? one->items[0].key : (double)INFINITY;
  net->flows.bottleneck[flow] = ENG_NO_SLOT;
  const EngFlowHead *head = &net->flows.head[flow];
  for (uint32_t use = head->uses; use < head->uses + head->n_uses; use++)
    if (net->pool.word[use] != link)
      eng_spread_leave (net, link, net->pool.word[use]);
  if (one->n == 0) {
    net->clocks.level[link] = net->clocks.ceiling[link] = 0.0;
    one->service = one->service_rest = 0.0;
    eng_others_of (net, link)->limit *= -1.0;
  }
  return left;
}

EngTime
eng_bottleneck_next_end (const EngNet *net, EngLink link, EngTime now)
{
  const EngBottleneck *one = eng_bottleneck_of (net, link);
  if (isinf (one->first))
    return ENG_TIME_NEVER;
  EngFlowMove next = net->flows.move[one->items[0].id];
  next.left = eng_bottleneck_left (net, link, one->first, now);
  next.rate = net->clocks.level[link];
  return next.rate <= 0.0 && next.left > 0.0 ? ENG_TIME_NEVER : eng_flow_end_of (&next, now);
}

void
eng_bottleneck_schedule (Eng *eng, EngLink link)
{
  EngNet *net = &eng->net;
  EngBottleneck *one = eng_bottleneck_of (net, link);
  if (eng_bottleneck_is_early (one, net->clocks.level[link], eng_bottleneck_left (net, link, one->first, eng->now), eng->now)) {
    one->sure = false;
    return;
  }
  const EngTime end = eng_bottleneck_next_end (net, link, eng->now);
  const bool restless = one->entry != ENG_TIME_NEVER;
  if (restless)
    eng_flow_drop_end (eng, one->carrier);
  one->entry = ENG_TIME_NEVER;
  if (end == ENG_TIME_NEVER)
    return;
  if (one->carrier == ENG_NO_SLOT) {
    one->carrier = eng_net_take_slot (net);
    net->flows.head[one->carrier] = (EngFlowHead){ .state = ENG_FLOW_CLOCK };
    net->flows.call[one->carrier] = (EngFlowCall){ .arg = link };
  }
  one->sure = !restless || end - eng->now < SURE_PS;
  one->entry = one->sure ? end : end - (end - eng->now) / AHEAD;
  net->flows.head[one->carrier].pending = true;
  eng_push_flow (eng, one->entry, one->carrier);
}
