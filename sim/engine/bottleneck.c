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
  net->flows.head[item->id].place = at;
}

/* INFINITY: endless. */
static inline double
key_of (const EngNet *net, uint32_t flow)
{
  const EngFlowMove *move = &net->flows.move[flow];
  return isinf (move->amount) ? (double)INFINITY : move->left;
}

/* Sign, exponent and 20 digits of a key above 0. */
static inline uint32_t
lead_of (double key)
{
  int64_t bits;
  memcpy (&bits, &key, sizeof bits);
  return bits > 0 ? (uint32_t)(bits >> 32) : 0;
}

static bool
is_before_by_key (const EngNet *net, uint32_t a, uint32_t b)
{
  const double x = key_of (net, a), y = key_of (net, b);
  return x < y || (x <= y && a < b);
}

static inline bool
before (const EngNet *net, const EngMember *a, const EngMember *b)
{
  return a->lead < b->lead || (a->lead == b->lead && is_before_by_key (net, a->id, b->id));
}

static void
sift_up (EngNet *net, EngBottleneck *one, uint32_t at, const EngMember *item)
{
  for (; at > 0 && before (net, item, &one->items[(at - 1) / 2]); at = (at - 1) / 2)
    put (net, one, at, &one->items[(at - 1) / 2]);
  put (net, one, at, item);
}

static void
sift_down (EngNet *net, EngBottleneck *one, uint32_t at, const EngMember *item)
{
  for (uint32_t child; (child = 2 * at + 1) < one->n; at = child) {
    child += child + 1 < one->n && before (net, &one->items[child + 1], &one->items[child]);
    if (!before (net, &one->items[child], item))
      break;
    put (net, one, at, &one->items[child]);
  }
  put (net, one, at, item);
}

uint32_t *
eng_bottleneck_held (EngNet *net, EngLink link)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const EngLinkState *state = &net->links.state[link];
  if (one->held != NULL)
    return one->held;
  one->held_allocated = state->n_allocated;
  one->held = g_new (uint32_t, one->held_allocated);
  for (uint32_t i = 0; i < state->n_flows; i++) {
    const EngFlowHead *head = &net->flows.head[state->flows[i]];
    one->held[i] = head->state == ENG_FLOW_MEMBER ? head->bottleneck : ENG_NO_SLOT;
  }
  return one->held;
}

void
eng_bottleneck_make_loud (EngNet *net, EngLink link)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  EngOthers *others = eng_others_of (net, link);
  const EngLinkState *state = &net->links.state[link];
  const uint32_t *held = eng_bottleneck_held (net, link);
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
  double sum = 0.0;
  one->quiet_below = fminf (ENG_QUIET_AGAIN, (float)(others->sum / eng_others_room (others)) * ENG_QUIET_AGAIN);
  if (one->n > 0 || net->clocks.quiet[link])
    return;
  const uint32_t *held = eng_bottleneck_held (net, link);
  for (uint32_t i = 0; i < state->n_flows; i++)
    sum += eng_bottleneck_ceiling (net, held[i]);
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
  net->flows.head[flow].bottleneck = link;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLink used = net->pool.word[head->uses + k];
    uint32_t *held = eng_bottleneck_of (net, used)->held;
    if (held != NULL)
      held[*eng_clocks_spot (net, flow, k)] = link;
    if (used != link)
      eng_spread_enter (net, link, used);
  }
  const EngMember member = { .lead = lead_of (key_of (net, flow)), .id = flow };
  if (one->n == 0)
    eng_others_of (net, link)->limit *= -1.0;
  sift_up (net, one, one->n++, &member);
  one->first = key_of (net, one->items[0].id);
}

double
eng_bottleneck_discharge (EngNet *net, EngLink link, uint32_t flow, EngTime now)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const double left = eng_bottleneck_left (net, link, net->flows.move[flow].left, now);
  const uint32_t at = net->flows.head[flow].place;
  const EngMember last = one->items[--one->n];
  if (last.id != flow) {
    const bool up = at > 0 && before (net, &last, &one->items[(at - 1) / 2]);
    if (up)
      sift_up (net, one, at, &last);
    else
      sift_down (net, one, at, &last);
  }
  one->first = one->n > 0 ? key_of (net, one->items[0].id) : (double)INFINITY;
  net->flows.head[flow].bottleneck = ENG_NO_SLOT;
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
    net->flows.call[one->carrier] = (EngFlowCall){ .low = link };
  }
  one->sure = !restless || end - eng->now < SURE_PS;
  one->entry = one->sure ? end : end - (end - eng->now) / AHEAD;
  net->flows.head[one->carrier].pending = true;
  eng_push_flow (eng, one->entry, one->carrier);
}
