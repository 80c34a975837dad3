/* Activities: their start, progress and end. What they share is solve.c's business.
 *
 * Progress is lazy: a flow is touched when its rate changes, never in between. With `left` units at time `since` and rate x it ends
 *     since + ceil ((left - slack) / x),   at least 1 ps while left > slack,   slack = min (1e-12 amount, x / 16 ps)
 * The slack takes up the rounding of `left`, so that a transfer that divides into whole picoseconds takes exactly those, and equal
 * activities end together; it never hides more than a sixteenth of a picosecond. */
#include "engine/flow.h"

#include "bundle-private.h"
#include "engine-private.h"

#include <math.h>
#include <string.h>

#define REL_SLACK 1e-12
#define PS_SLACK  0.0625
/* Weights and priorities, so that no product or exact sum leaves the range of a double. */
#define WEIGHT_LEAST 1e-100
#define WEIGHT_MOST  1e100
/* Lists up to this many words have a size class each; longer ones share one for each power of two. */
#define EXACT_CLASSES 32u
#define N_CLASSES     (EXACT_CLASSES + 33u)

G_STATIC_ASSERT (sizeof (EngFlowHead) == 32);
G_STATIC_ASSERT (sizeof (EngFlowMove) == 32);

void
eng_net_init (EngNet *net)
{
  uint32_t none = ENG_NO_SLOT;
  net->free_slots = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->ended = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->dirty = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->members = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->reached = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->frozen = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->restart = (double)INFINITY;
  net->pool_free = g_array_sized_new (FALSE, FALSE, sizeof (uint32_t), N_CLASSES);
  for (unsigned i = 0; i < N_CLASSES; i++)
    g_array_append_val (net->pool_free, none);
}

void
eng_net_clear (EngNet *net)
{
  g_array_unref (net->free_slots);
  g_array_unref (net->ended);
  g_array_unref (net->dirty);
  g_array_unref (net->members);
  g_array_unref (net->reached);
  g_array_unref (net->frozen);
  for (uint32_t i = 0; i < net->n_marks; i++)
    if (net->marks[i] != NULL)
      g_array_unref (net->marks[i]);
  g_free (net->marks);
  g_array_unref (net->pool_free);
  eng_heap_clear (&net->by_share);
  eng_heap_clear (&net->by_bound);
  for (uint32_t i = 0; i < net->n_flows; i++)
    if (net->head[i].state == ENG_FLOW_CARRIER)
      eng_bundle_free (net->call[i].user);
  for (uint32_t i = 0; i < net->n_links; i++)
    g_free (net->links[i].flows);
  g_free (net->links);
  g_free (net->fill);
  g_free (net->head);
  g_free (net->move);
  g_free (net->call);
  g_free (net->bound);
  g_free (net->stamp);
  g_free (net->generation);
  g_free (net->pool);
}

/* Size class of a list of n words, n > 0, and the words that its blocks have. */
static unsigned
size_class (uint32_t n, uint32_t *n_words)
{
  if (n <= EXACT_CLASSES) {
    *n_words = n;
    return n - 1u;
  }
  unsigned power = (unsigned)g_bit_storage ((gulong)n - 1u);
  g_assert (power < 32);
  *n_words = UINT32_C (1) << power;
  return EXACT_CLASSES + power;
}

uint32_t
eng_net_take_words (EngNet *net, uint32_t n)
{
  if (n == 0)
    return 0;
  uint32_t n_words;
  uint32_t *list = &g_array_index (net->pool_free, uint32_t, size_class (n, &n_words));
  if (*list != ENG_NO_SLOT) {
    uint32_t at = *list;
    *list = net->pool[at];
    return at;
  }
  uint64_t wanted = (uint64_t)net->n_pool + n_words;
  g_assert (wanted < ENG_NO_SLOT);
  if (wanted > net->pool_allocated) {
    uint64_t doubled = MAX (UINT64_C (1024), 2 * (uint64_t)net->pool_allocated);
    net->pool_allocated = (uint32_t)MIN (MAX (doubled, wanted), (uint64_t)ENG_NO_SLOT - 1u);
    net->pool = g_renew (uint32_t, net->pool, net->pool_allocated);
  }
  uint32_t at = net->n_pool;
  net->n_pool = (uint32_t)wanted;
  return at;
}

void
eng_net_give_words (EngNet *net, uint32_t at, uint32_t n)
{
  if (n == 0)
    return;
  uint32_t n_words;
  uint32_t *list = &g_array_index (net->pool_free, uint32_t, size_class (n, &n_words));
  net->pool[at] = *list;
  *list = at;
}

uint32_t
eng_flow_list_words (const EngFlowHead *head)
{
  return head->mixed ? 3u * head->n_uses : head->n_uses;
}

static void
grow_flows (EngNet *net)
{
  g_assert (net->n_allocated < ENG_SLOT_FLOW / 2);
  uint32_t n = net->n_allocated = net->n_allocated == 0 ? 64 : 2 * net->n_allocated;
  net->head = g_renew (EngFlowHead, net->head, n);
  net->move = g_renew (EngFlowMove, net->move, n);
  net->call = g_renew (EngFlowCall, net->call, n);
  net->bound = g_renew (double, net->bound, n);
  net->stamp = g_renew (uint32_t, net->stamp, n);
  net->generation = g_renew (uint32_t, net->generation, n);
}

uint32_t
eng_net_take_slot (EngNet *net)
{
  if (net->free_slots->len > 0) {
    uint32_t slot = g_array_index (net->free_slots, uint32_t, net->free_slots->len - 1u);
    g_array_set_size (net->free_slots, net->free_slots->len - 1u);
    return slot;
  }
  if (net->n_flows == net->n_allocated)
    grow_flows (net);
  net->head[net->n_flows] = (EngFlowHead){ .state = ENG_FLOW_FREE };
  net->stamp[net->n_flows] = 0;
  net->generation[net->n_flows] = 1;
  return net->n_flows++;
}

static void
check_spec (const Eng *eng, const EngFlowSpec *spec)
{
  g_assert (spec->amount >= 0.0 && spec->bound_per_s >= 0.0);
  g_assert (spec->priority <= 0.0 || (spec->priority >= WEIGHT_LEAST && spec->priority <= WEIGHT_MOST));
  g_assert (spec->priority >= 0.0);
  bool bounded = spec->bound_per_s > 0.0 && isfinite (spec->bound_per_s);
  g_assert (spec->n_uses > 0 || bounded || spec->amount <= 0.0);
  for (unsigned i = 0; i < spec->n_uses; i++) {
    g_assert (spec->uses[i].link < eng->net.n_links);
    g_assert (spec->uses[i].weight >= WEIGHT_LEAST && spec->uses[i].weight <= WEIGHT_MOST);
  }
}

/* Adds the weight to the place of the link if the list names it already. */
static bool
merge_use (EngNet *net, uint32_t at, uint32_t n, uint32_t weights, EngUse use)
{
  uint32_t spot = net->links[use.link].spot;
  if (spot >= n || net->pool[at + spot] != use.link)
    return false;
  double sum;
  memcpy (&sum, &net->pool[weights + 2u * spot], sizeof sum);
  sum += use.weight;
  memcpy (&net->pool[weights + 2u * spot], &sum, sizeof sum);
  return true;
}

/* Copies the links and weights, each link once. The usual list, all weights equal and no link twice, is kept as links alone. */
static void
copy_uses (EngNet *net, EngFlowHead *head, const EngFlowSpec *spec)
{
  uint32_t n = spec->n_uses, n_kept = 0;
  g_assert (n < ENG_SLOT_FLOW / 4);
  head->n_uses = n;
  head->weight = n == 0 ? 1.0 : spec->uses[0].weight;
  head->mixed = false;
  head->uses = eng_net_take_words (net, n);
  for (uint32_t i = 0; i < n; i++) {
    EngLinkState *link = &net->links[spec->uses[i].link];
    bool twice = link->spot < i && net->pool[head->uses + link->spot] == spec->uses[i].link;
    if (twice || spec->uses[i].weight < head->weight || spec->uses[i].weight > head->weight) {
      head->mixed = true;
      break;
    }
    link->spot = i;
    net->pool[head->uses + i] = spec->uses[i].link;
  }
  if (!head->mixed)
    return;
  eng_net_give_words (net, head->uses, n);
  uint32_t scratch = eng_net_take_words (net, 3u * n), weights = scratch + n;
  for (uint32_t i = 0; i < n; i++) {
    EngUse use = spec->uses[i];
    if (merge_use (net, scratch, n_kept, weights, use))
      continue;
    net->links[use.link].spot = n_kept;
    net->pool[scratch + n_kept] = use.link;
    memcpy (&net->pool[weights + 2u * n_kept], &use.weight, sizeof use.weight);
    n_kept++;
  }
  head->uses = scratch;
  head->n_uses = n_kept;
  if (n_kept == n)
    return;
  /* links came twice: a shorter list, whose weights follow its links directly */
  head->uses = eng_net_take_words (net, 3u * n_kept);
  memcpy (&net->pool[head->uses], &net->pool[scratch], n_kept * sizeof (uint32_t));
  memcpy (&net->pool[head->uses + n_kept], &net->pool[weights], n_kept * sizeof (double));
  eng_net_give_words (net, scratch, 3u * n);
}

EngTime
eng_flow_end_of (const EngFlowMove *move, EngTime now)
{
  double of_amount = move->amount * REL_SLACK, of_rate = move->rate * (PS_SLACK / ENG_PS_PER_S);
  double slack = of_amount < of_rate ? of_amount : of_rate;
  if (move->left <= slack)
    return now;
  double ps = ceil ((move->left - slack) * ENG_PS_PER_S / move->rate);
  if (ps >= (double)ENG_RECHECK_PS)
    return eng_time_add (now, ENG_RECHECK_PS);
  return eng_time_add (now, ps < 1.0 ? 1 : (EngTime)ps);
}

static void
schedule_end (Eng *eng, uint32_t flow)
{
  const EngFlowMove *move = &eng->net.move[flow];
  if (isinf (move->amount) || (move->rate <= 0.0 && move->left > 0.0))
    return;
  eng->net.head[flow].pending = true;
  eng_push_flow (eng, eng_flow_end_of (move, eng->now), flow);
}

static inline void
advance (EngFlowMove *move, EngTime now)
{
  move->left -= move->rate * (double)(now - move->since) / ENG_PS_PER_S;
  move->since = now;
}

static inline void
drop_entry (Eng *eng, uint32_t flow)
{
  if (eng->net.head[flow].pending)
    eng_drop_flow_entry (eng, flow);
  eng->net.head[flow].pending = false;
}

void
eng_net_set_rate (Eng *eng, uint32_t flow, double rate)
{
  EngFlowMove *move = &eng->net.move[flow];
  if (rate >= move->rate && rate <= move->rate)
    return;
  advance (move, eng->now);
  drop_entry (eng, flow);
  move->rate = rate;
  schedule_end (eng, flow);
}

/* `first`: its priority is 1. */
static inline void
join_link (EngNet *net, EngLink link, uint32_t flow, double weight, bool first)
{
  EngLinkState *state = &net->links[link];
  if (state->n_flows == 0) {
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

static inline void
join_links (EngNet *net, uint32_t flow)
{
  const EngFlowHead *head = &net->head[flow];
  bool first = head->state == ENG_FLOW_MOVING && head->priority >= 1.0 && head->priority <= 1.0;
  for (uint32_t k = 0; k < head->n_uses; k++)
    join_link (net, net->pool[head->uses + k], flow, eng_net_weight (net, flow, k), first);
  if (head->bounded && net->bound[flow] < net->restart)
    net->restart = net->bound[flow]; /* only where the priority is 1 does the level matter */
}

void
eng_net_join (Eng *eng, uint32_t flow)
{
  join_links (&eng->net, flow);
}

/* The latency is over. */
static void
begin_moving (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  EngFlowHead *head = &net->head[flow];
  head->state = ENG_FLOW_MOVING;
  net->n_moving++;
  net->n_joined++;
  net->move[flow].since = eng->now;
  join_links (net, flow);
  if (head->n_uses == 0)
    eng_net_set_rate (eng, flow, net->bound[flow]);
}

EngFlow
eng_flow_start (Eng *eng, const EngFlowSpec *spec)
{
  check_spec (eng, spec);
  EngNet *net = &eng->net;
  uint32_t flow = eng_net_take_slot (net);
  EngFlowHead *head = &net->head[flow];
  copy_uses (net, head, spec);
  head->priority = spec->priority > 0.0 ? spec->priority : 1.0;
  head->bounded = spec->bound_per_s > 0.0 && isfinite (spec->bound_per_s);
  head->state = ENG_FLOW_WAITING;
  head->pending = false;
  head->seen = 0;
  net->bound[flow] = head->bounded ? spec->bound_per_s : (double)INFINITY;
  net->call[flow] = (EngFlowCall){ .fn = spec->done, .user = spec->user, .arg = spec->arg };
  net->move[flow] = (EngFlowMove){ .amount = spec->amount, .left = isinf (spec->amount) ? 0.0 : spec->amount, .since = eng->now };
  eng->stats.flows++;
  if (spec->latency > 0 || spec->amount <= 0.0) {
    head->pending = true;
    eng_push_flow (eng, eng_time_add (eng->now, spec->latency), flow);
  } else {
    begin_moving (eng, flow);
  }
  return (EngFlow)net->generation[flow] << 32 | flow;
}

double
eng_net_moved (const Eng *eng, uint32_t flow)
{
  const EngFlowMove *move = &eng->net.move[flow];
  if (eng->net.head[flow].state == ENG_FLOW_BUNDLED)
    return move->amount - fmax (0.0, eng_bundle_left (eng, flow));
  double left = move->left - move->rate * (double)(eng->now - move->since) / ENG_PS_PER_S;
  if (isinf (move->amount))
    return -left;
  return left <= 0.0 ? move->amount : move->amount - left;
}

static void
give_slot (EngNet *net, uint32_t flow)
{
  EngFlowHead *head = &net->head[flow];
  eng_net_give_words (net, head->uses, eng_flow_list_words (head));
  head->state = ENG_FLOW_FREE;
  g_array_append_val (net->free_slots, flow);
}

/* Takes it off its links. They name it until the next solve purges them: so long the slot is not given to another. */
static void
end_flow (Eng *eng, uint32_t flow, double moved)
{
  EngNet *net = &eng->net;
  EngFlowHead *head = &net->head[flow];
  if (++net->generation[flow] == 0)
    net->generation[flow] = 1; /* so that no handle is 0 */
  net->n_moving -= head->state != ENG_FLOW_WAITING;
  if (head->state == ENG_FLOW_BUNDLED)
    eng_bundle_end (eng, flow, moved);
  if (head->state == ENG_FLOW_WAITING || head->n_uses == 0) {
    give_slot (net, flow);
    return;
  }
  head->state = ENG_FLOW_ENDED;
  if (net->move[flow].rate < net->restart)
    net->restart = net->move[flow].rate;
  for (uint32_t k = 0; k < head->n_uses; k++) {
    EngLink link = net->pool[head->uses + k];
    net->links[link].carried += eng_net_weight (net, flow, k) * moved;
    net->links[link].n_live--;
    eng_link_mark_dirty (net, link);
  }
  g_array_append_val (net->ended, flow);
}

void
eng_net_recycle (Eng *eng)
{
  EngNet *net = &eng->net;
  for (guint i = 0; i < net->ended->len; i++)
    give_slot (net, g_array_index (net->ended, uint32_t, i));
  g_array_set_size (net->ended, 0);
}

void
eng_net_fire (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  if (net->head[flow].state == ENG_FLOW_CARRIER && (flow = eng_bundle_next (eng, flow)) == ENG_NO_SLOT)
    return;
  EngFlowMove *move = &net->move[flow];
  net->head[flow].pending = false;
  if (net->head[flow].state == ENG_FLOW_WAITING && move->amount > 0.0) {
    begin_moving (eng, flow);
    return;
  }
  if (net->head[flow].state == ENG_FLOW_MOVING && eng->now - move->since >= ENG_RECHECK_PS) {
    advance (move, eng->now);
    if (eng_flow_end_of (move, eng->now) > eng->now) {
      schedule_end (eng, flow);
      return;
    }
  }
  EngFlowCall call = net->call[flow];
  end_flow (eng, flow, move->amount);
  if (call.fn != NULL)
    call.fn (eng, call.user, call.arg);
}

/* The slot behind a handle, ENG_NO_SLOT if the flow has ended. */
static uint32_t
find_flow (const Eng *eng, EngFlow flow)
{
  uint32_t slot = (uint32_t)flow, generation = (uint32_t)(flow >> 32);
  if (generation == 0 || slot >= eng->net.n_flows || eng->net.generation[slot] != generation)
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
  EngFlowHead *head = &net->head[slot];
  g_assert (bound_per_s > 0.0 && (head->n_uses > 0 || isfinite (bound_per_s)));
  if (head->state == ENG_FLOW_BUNDLED)
    eng_bundle_release (eng, slot);
  net->bound[slot] = bound_per_s;
  head->bounded = isfinite (bound_per_s);
  if (head->state != ENG_FLOW_MOVING)
    return;
  if (head->n_uses == 0)
    eng_net_set_rate (eng, slot, bound_per_s);
  net->restart = fmin (net->restart, fmin (net->move[slot].rate, bound_per_s));
  for (uint32_t k = 0; k < head->n_uses; k++)
    eng_link_mark_dirty (net, net->pool[head->uses + k]);
}

bool
eng_flow_cancel (Eng *eng, EngFlow flow)
{
  uint32_t slot = find_flow (eng, flow);
  if (slot == ENG_NO_SLOT)
    return false;
  drop_entry (eng, slot);
  end_flow (eng, slot, eng->net.head[slot].state == ENG_FLOW_WAITING ? 0.0 : eng_net_moved (eng, slot));
  return true;
}

double
eng_flow_rate (const Eng *eng, EngFlow flow)
{
  uint32_t slot = find_flow (eng, flow);
  if (slot == ENG_NO_SLOT)
    return 0.0;
  const EngFlowHead *head = &eng->net.head[slot];
  return eng->net.move[head->state == ENG_FLOW_BUNDLED ? head->uses : slot].rate;
}

double
eng_flow_remaining (const Eng *eng, EngFlow flow)
{
  uint32_t slot = find_flow (eng, flow);
  if (slot == ENG_NO_SLOT)
    return 0.0;
  double amount = eng->net.move[slot].amount;
  return isinf (amount) ? amount : amount - eng_net_moved (eng, slot);
}

uint64_t
eng_net_n_stuck (const EngNet *net, EngLink *some_link)
{
  uint64_t n = 0;
  for (uint32_t flow = 0; flow < net->n_flows; flow++) {
    const EngFlowHead *head = &net->head[flow];
    bool endless = head->state == ENG_FLOW_MOVING && isinf (net->move[flow].amount);
    if (head->state < ENG_FLOW_MOVING || head->pending || endless)
      continue;
    for (uint32_t k = 0; n == 0 && k < head->n_uses; k++)
      if (net->links[net->pool[head->uses + k]].capacity <= 0.0)
        *some_link = net->pool[head->uses + k];
    n += head->state == ENG_FLOW_CARRIER ? eng_bundle_n (net, flow) : 1;
  }
  return n;
}
