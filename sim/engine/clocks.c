/* When clocks of bottlenecks run, and what the rest of the engine sees of them.
 *
 * They run where solves have often been done again and all flows have priority 1, no bound of their own and the same weight on a
 * link, so that rates are levels. Anything else that comes along stops them: each flow is then one of its own again. */
#include "bottleneck-private.h"

#include <math.h>

/* Fewer flows are solved whole; and flows solved that cost as much as a start. */
#define LEAST_MOVING  256u
#define LEAST_SOLVED  4096u
#define SOLVES_A_TRY  2u
#define MOST_FAILURES 10u
/* So many may come at one time, besides a fraction of those that move. */
#define MOST_FRESH 64u

static void
free_all (EngNet *net)
{
  EngClocks *clocks = &net->clocks;
  for (uint32_t link = 0; link < clocks->n; link++) {
    if (!eng_others_is_used (&clocks->others[link]))
      continue;
    g_free (clocks->of[link].items);
    g_free (clocks->of[link].spread);
    g_free (clocks->of[link].spots);
    g_free (clocks->of[link].held);
  }
  g_clear_pointer (&clocks->by_link, g_free);
  g_clear_pointer (&clocks->spot, g_free);
  clocks->n = clocks->n_words = 0;
  clocks->on = false;
}

void
eng_clocks_clear (EngNet *net)
{
  free_all (net);
  g_free (net->clocks.fresh.items);
  g_free (net->clocks.calm.items);
  g_free (net->clocks.stirred.items);
  eng_heap_clear (&net->clocks.faster);
  eng_nearest_clear (&net->clocks.nearest);
}

/* Moves `n` bytes to *at, which then is behind the `to` bytes that they may become. Returns their place. */
static void *
move_array (char **at, const void *old, gsize n, gsize to)
{
  void *place = *at;
  if (n > 0)
    memcpy (place, old, n);
  *at += to;
  return place;
}

#define MOVE(array) clocks->array = move_array (&at, clocks->array, clocks->n * sizeof *clocks->array, to * sizeof *clocks->array)

/* All arrays by link in one block of zeros, each from a cache line on; memory that is not touched takes none. */
static void
grow_links (EngNet *net)
{
  EngClocks *clocks = &net->clocks;
  const gsize to = ((gsize)net->links.n_allocated + ENG_LINE_B - 1u) / ENG_LINE_B * ENG_LINE_B;
  const gsize link_B =
      sizeof *clocks->of + sizeof *clocks->others + sizeof *clocks->level + sizeof *clocks->ceiling + sizeof *clocks->quiet;
  char *block = g_malloc0 (to * link_B + ENG_LINE_B), *at = block + (ENG_LINE_B - (uintptr_t)block % ENG_LINE_B) % ENG_LINE_B;
  MOVE (of);
  MOVE (others);
  MOVE (level);
  MOVE (ceiling);
  MOVE (quiet);
  g_free (clocks->by_link);
  clocks->by_link = block;
  clocks->n = (uint32_t)to;
}

/* Arrays as long as those that they go with. */
static void
grow (EngNet *net)
{
  EngClocks *clocks = &net->clocks;
  if (clocks->n < net->links.n)
    grow_links (net);
  if (clocks->n_words < net->pool.n_allocated) {
    clocks->n_words = net->pool.n_allocated;
    clocks->spot = g_renew (uint32_t, clocks->spot, clocks->n_words);
  }
}

/* The link has a clock. */
static void
set_up (Eng *eng, EngLink link)
{
  EngNet *net = &eng->net;
  EngBottleneck *one = eng_bottleneck_of (net, link);
  EngOthers *others = eng_others_of (net, link);
  if (!eng_others_is_used (others))
    *one = (EngBottleneck){
      .since = eng->now, .entry = ENG_TIME_NEVER, .first = (double)INFINITY, .carrier = ENG_NO_SLOT, .quiet_below = ENG_QUIET_AGAIN
    };
  const EngLinkState *state = &net->links.state[link];
  others->limit = state->capacity / state->unit * (one->n > 0 ? -1.0 : 1.0);
}

/* The flow's place in the list of the link, which is one of its own. */
static uint32_t *
spot_on (const EngNet *net, uint32_t flow, EngLink link)
{
  const uint32_t *links = &net->pool.word[net->flows.head[flow].uses];
  uint32_t k = 0;
  while (links[k] != link)
    k++;
  return eng_clocks_spot (net, flow, k);
}

/* The link's flows[at], a member nowhere yet, has its place there at `spot`. */
static void
hold_none (EngNet *net, EngLink link, uint32_t at, uint32_t *spot)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  *spot = at;
  if (one->held == NULL)
    return;
  if (at >= one->held_allocated) {
    one->held_allocated = net->links.state[link].n_allocated;
    one->held = g_renew (uint32_t, one->held, one->held_allocated);
  }
  one->held[at] = ENG_NO_SLOT;
}

static bool
may_have_clock (const EngNet *net, uint32_t flow)
{
  const EngFlowHead *head = &net->flows.head[flow];
  if (head->state != ENG_FLOW_MOVING || head->bounded)
    return false;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLinkState *state = &net->links.state[net->pool.word[head->uses + k]];
    if (!state->plain || !(state->capacity > 0.0))
      return false;
  }
  return true;
}

/* Whether all flows on links may; those without links go on by themselves. */
static bool
all_may (const EngNet *net)
{
  for (uint32_t flow = 0; flow < net->flows.n; flow++) {
    const EngFlowHead *head = &net->flows.head[flow];
    if (head->state >= ENG_FLOW_BUNDLED && head->n_uses > 0 &&
        (!may_have_clock (net, flow) || net->flows.head[flow].bottleneck == ENG_NO_SLOT))
      return false;
  }
  return true;
}

static void
start_links (Eng *eng)
{
  EngNet *net = &eng->net;
  for (EngLink link = 0; link < net->links.n; link++) {
    if (net->links.state[link].n_flows == 0)
      continue;
    eng_link_purge (net, link);
    if (net->links.state[link].n_flows == 0)
      continue;
    eng_link_trim (net, link);
    set_up (eng, link);
    eng_link_mark_dirty (net, link);
    for (uint32_t i = 0; i < net->links.state[link].n_flows; i++)
      hold_none (net, link, i, spot_on (net, net->links.state[link].flows[i], link));
  }
}

/* Of what only solves need: links and heaps take as much. */
static void
give_memory_back (Eng *eng)
{
  if (!eng->agenda.held_out) {
    eng_agenda_compact (eng);
    eng_queue_shrink (eng->agenda.queue);
  }
  eng_ids_free (&eng->net.work.members);
  eng_ids_free (&eng->net.work.frozen);
}

/* After a solve: all flows have rates and bottlenecks. */
static void
start (Eng *eng)
{
  EngNet *net = &eng->net;
  net->clocks.on = true;
  grow (net);
  for (uint32_t flow = 0; flow < net->flows.n; flow++) {
    const EngFlowHead *head = &net->flows.head[flow];
    if (head->state != ENG_FLOW_MOVING || head->n_uses == 0)
      continue;
    net->clocks.level[head->bottleneck] = net->clocks.ceiling[head->bottleneck] = net->flows.move[flow].rate;
    eng_flow_drop_end (eng, flow);
    eng_flow_advance (&net->flows.move[flow], eng->now); /* from here on it has places where it had a rate */
  }
  give_memory_back (eng);
  start_links (eng);
  for (uint32_t flow = 0; flow < net->flows.n; flow++) {
    const EngFlowHead *head = &net->flows.head[flow];
    if (head->state != ENG_FLOW_MOVING || head->n_uses == 0)
      continue;
    const EngLink bottleneck = net->flows.head[flow].bottleneck;
    for (uint32_t k = 0; k < head->n_uses; k++)
      if (net->pool.word[head->uses + k] != bottleneck)
        eng_bottleneck_change_other (net, net->pool.word[head->uses + k], ENG_NO_SLOT, bottleneck);
  }
  for (uint32_t flow = 0; flow < net->flows.n; flow++) {
    if (net->flows.head[flow].state != ENG_FLOW_MOVING || net->flows.head[flow].n_uses == 0)
      continue;
    eng_bottleneck_enlist (net, net->flows.head[flow].bottleneck, flow, net->flows.move[flow].left);
    eng_bottleneck_stir (net, net->flows.head[flow].bottleneck);
  }
}

static void
release (Eng *eng, EngLink link)
{
  EngNet *net = &eng->net;
  EngBottleneck *one = eng_bottleneck_of (net, link);
  net->links.state[link].sorted = false;
  eng_bottleneck_advance (net, link, eng->now);
  for (uint32_t i = 0; i < one->n; i++) {
    const uint32_t flow = one->items[i].id;
    EngFlowMove *move = &net->flows.move[flow];
    move->left = eng_bottleneck_left (net, link, move->left, eng->now);
    move->rate = net->clocks.level[link];
    move->since = eng->now;
    net->flows.head[flow].state = ENG_FLOW_MOVING;
    net->flows.head[flow].seen = 0;
    eng_flow_schedule_end (eng, flow);
  }
  if (one->carrier == ENG_NO_SLOT)
    return;
  eng_flow_drop_end (eng, one->carrier);
  eng_net_give_slot (net, one->carrier);
}

/* Of a flow that has just come: a rate again where it had places. */
static void
rest (Eng *eng, uint32_t flow)
{
  eng->net.flows.move[flow].rate = 0.0;
  eng->net.flows.move[flow].since = eng->now;
}

void
eng_clocks_stop (Eng *eng)
{
  EngNet *net = &eng->net;
  if (!net->clocks.on)
    return;
  for (EngLink link = 0; link < net->clocks.n; link++)
    if (eng_others_is_used (eng_others_of (net, link)))
      release (eng, link);
  free_all (net);
  for (uint32_t i = 0; i < net->clocks.fresh.n; i++)
    rest (eng, net->clocks.fresh.items[i]);
  net->clocks.fresh.n = 0;
  net->clocks.calm.n = 0;
  net->clocks.stirred.n = 0;
  net->clocks.solved = 0;
  net->part.restart = 0.0; /* it was not kept */
}

void
eng_clocks_join (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  const uint32_t uses = net->flows.head[flow].uses, n_uses = net->flows.head[flow].n_uses;
  if (!may_have_clock (net, flow)) {
    eng_clocks_stop (eng);
    return;
  }
  grow (net);
  for (uint32_t k = 0; k < n_uses; k++) {
    const EngLink link = net->pool.word[uses + k];
    set_up (eng, link);
    hold_none (net, link, net->links.state[link].n_flows - 1u, eng_clocks_spot (net, flow, k));
  }
  eng_ids_add (&net->clocks.fresh, flow);
}

/* A flow that moves came with no rate yet. */
static void
forget_fresh (EngNet *net, uint32_t flow)
{
  EngIds *fresh = &net->clocks.fresh;
  for (uint32_t i = 0; i < fresh->n; i++)
    if (fresh->items[i] == flow) {
      fresh->n--;
      memmove (&fresh->items[i], &fresh->items[i + 1u], (fresh->n - i) * sizeof *fresh->items);
      return;
    }
}

static void
leave_links (EngNet *net, uint32_t flow)
{
  const EngFlowHead *head = &net->flows.head[flow];
  for (uint32_t k = 0; k < head->n_uses; k++) {
    const EngLink link = net->pool.word[head->uses + k];
    EngLinkState *state = &net->links.state[link];
    const uint32_t at = *eng_clocks_spot (net, flow, k), last = state->flows[--state->n_flows];
    if (last == flow)
      continue;
    uint32_t *held = eng_bottleneck_of (net, link)->held;
    state->flows[at] = last;
    if (held != NULL)
      held[at] = held[state->n_flows];
    *spot_on (net, last, link) = at;
  }
}

void
eng_clocks_end (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  const EngFlowHead *head = &net->flows.head[flow];
  const EngLink bottleneck = net->flows.head[flow].bottleneck;
  if (head->state != ENG_FLOW_MEMBER) {
    forget_fresh (net, flow);
    leave_links (net, flow);
    rest (eng, flow);
    return;
  }
  for (uint32_t k = 0; k < head->n_uses; k++)
    if (net->pool.word[head->uses + k] != bottleneck)
      eng_bottleneck_change_other (net, net->pool.word[head->uses + k], bottleneck, ENG_NO_SLOT);
  eng_bottleneck_discharge (net, bottleneck, flow, eng->now);
  leave_links (net, flow);
  eng_bottleneck_stir (net, bottleneck);
  if (eng_bottleneck_next_end (net, bottleneck, eng->now) == eng->now)
    eng_bottleneck_schedule (eng, bottleneck);
}

uint32_t
eng_clocks_next (Eng *eng, uint32_t clock)
{
  EngNet *net = &eng->net;
  const EngLink link = (EngLink)net->flows.call[clock].low;
  EngBottleneck *one = eng_bottleneck_of (net, link);
  net->flows.head[clock].pending = false;
  one->entry = ENG_TIME_NEVER;
  const bool far = eng->now - one->since >= ENG_RECHECK_PS;
  if (far)
    eng_bottleneck_advance (net, link, eng->now);
  if ((far || !one->sure) && eng_bottleneck_next_end (net, link, eng->now) > eng->now) {
    eng_bottleneck_schedule (eng, link);
    eng->stats.events--; /* nothing happens */
    return ENG_NO_SLOT;
  }
  return one->items[0].id;
}

double
eng_clocks_rate (const EngNet *net, uint32_t flow)
{
  return net->clocks.level[net->flows.head[flow].bottleneck];
}

double
eng_clocks_left (const Eng *eng, uint32_t flow)
{
  return eng_bottleneck_left (&eng->net, eng->net.flows.head[flow].bottleneck, eng->net.flows.move[flow].left, eng->now);
}

bool
eng_clocks_solve (Eng *eng)
{
  EngNet *net = &eng->net;
  if (!net->clocks.on)
    return false;
  const bool burst = net->clocks.fresh.n > MOST_FRESH + net->flows.n_moving / 4;
  if (!burst && eng_bottleneck_solve (eng))
    return true;
  if (!burst)
    net->clocks.n_failures = MIN (net->clocks.n_failures + 2u, MOST_FAILURES);
  eng_clocks_stop (eng);
  for (EngLink link = 0; link < net->links.n; link++)
    if (net->links.state[link].n_flows > 0)
      eng_link_mark_dirty (net, link);
  return false;
}

void
eng_clocks_consider (Eng *eng, uint64_t solved)
{
  EngNet *net = &eng->net;
  EngClocks *clocks = &net->clocks;
  clocks->solved += solved;
  if (net->how != ENG_SOLVE_CLOCKS) {
    const uint64_t worth = (LEAST_SOLVED + SOLVES_A_TRY * (uint64_t)net->flows.n_moving) << clocks->n_failures;
    if (net->how != ENG_SOLVE_AUTO || clocks->solved < worth || net->flows.n_moving < LEAST_MOVING)
      return;
  }
  clocks->solved = 0;
  if (!all_may (net)) {
    clocks->n_failures = MIN (clocks->n_failures + 1u, MOST_FAILURES);
    return;
  }
  start (eng);
}
