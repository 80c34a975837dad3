/* Solving again from the lowest level that a change can reach.
 *
 * Filling goes upwards: what happens below the level x does not depend on flows that rise beyond x. So a flow that ends at level x
 * (or a link that could be full at x at the earliest, by an equal share for each of its flows) leaves all flows below x as they
 * are, and filling goes on from there, with flows at x and above that the dirty links are connected with through such flows alone.
 * In an all-to-all over uneven paths the fastest end first, the highest level: their end concerns nobody.
 *
 * A link's fill at the level x is that of a full solve, to the last bit: its flows are kept in the order in which they got their
 * rates, with a mark at each level that has the capacity taken below. Where the mark's sum is needed and the link is not sorted, it
 * is sorted by rates. Only links whose flows all have priority 1 and the same weight take part: there, rates are levels.
 * Check: law_engine_fair solves every change both ways. */
#include "engine-private.h"
#include "fill-private.h"

#include <stdlib.h>

/* So far below the lowest level that changes filling begins: beyond what counts as one level. */
#define REL_MARGIN 1e-9
/* A network this small is solved whole. */
#define LEAST_MOVING 256
/* A long list that was searched so often is worth sorting. */
#define SCANS_BEFORE_SORT  4
#define LIST_WORTH_SORTING 32
/* A part is given up when more than half of what its links list is to be filled, once that is an eighth of all that moves. */
#define FILLED_BEFORE_JUDGING 64
#define MOST_SKIPS            64

typedef struct {
  Eng *eng;
  double level;
  uint64_t n_listed, n_filled; /* uses of the links reached: all, and those to fill */
} Part;

static inline bool
is_below (const EngNet *net, uint32_t flow, double level)
{
  return net->flows.head[flow].state == ENG_FLOW_MOVING && net->flows.head[flow].seen != 0 && net->flows.move[flow].rate < level;
}

static GArray *
marks_of (EngNet *net, EngLink link)
{
  if (net->links.n_marks < net->links.n) {
    net->links.marks = g_renew (GArray *, net->links.marks, net->links.n);
    while (net->links.n_marks < net->links.n)
      net->links.marks[net->links.n_marks++] = NULL;
  }
  if (net->links.marks[link] == NULL)
    net->links.marks[link] = g_array_new (FALSE, FALSE, sizeof (EngMark));
  return net->links.marks[link];
}

/* The flow at flows[at], which is the next in order, has got its rate. */
static void
add_mark (GArray *marks, double level, double unit, uint32_t at)
{
  const EngMark *last = marks->len == 0 ? NULL : &g_array_index (marks, EngMark, marks->len - 1u);
  if (last != NULL && level <= last->level)
    return;
  double used = last == NULL ? 0.0 : last->used + (double)(at - last->at) * unit * last->level;
  g_array_append_vals (marks, &(EngMark){ .level = level, .used = used, .at = at }, 1);
}

static int
by_rate (const void *a, const void *b)
{
  const EngHeapItem *x = a, *y = b;
  if (x->key < y->key || x->key > y->key)
    return x->key < y->key ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Puts the first n flows, none of which is below the others, into order and marks their levels. */
static void
sort_link (EngNet *net, EngLink link, uint32_t n)
{
  EngLinkState *state = &net->links.state[link];
  GArray *marks = marks_of (net, link);
  g_autofree EngHeapItem *items = g_new (EngHeapItem, (gsize)n + 1u);
  for (uint32_t i = 0; i < n; i++)
    items[i] = (EngHeapItem){ .key = net->flows.move[state->flows[i]].rate, .id = state->flows[i] };
  qsort (items, n, sizeof *items, by_rate);
  g_array_set_size (marks, 0);
  for (uint32_t i = 0; i < n; i++) {
    state->flows[i] = items[i].id;
    add_mark (marks, items[i].key, state->unit, i);
  }
  state->sorted = true;
  state->n_scans = 0;
}

/* Drops ended flows and finds those to fill, which are the last of a sorted list. FALSE where an ended one lies elsewhere. */
static bool
cut_sorted (const Part *part, EngLinkState *state)
{
  const EngNet *net = &part->eng->net;
  uint32_t at = state->n_flows, n;
  while (at > 0 && !is_below (net, state->flows[at - 1u], part->level))
    at--;
  n = state->cut = at;
  for (; at < state->n_flows; at++)
    if (net->flows.head[state->flows[at]].state == ENG_FLOW_MOVING)
      state->flows[n++] = state->flows[at];
  if (n == state->n_live)
    state->n_flows = n;
  return n == state->n_live;
}

/* Drops ended flows and moves those to fill behind the others. What the others take is left in the link's fill. */
static void
cut_unsorted (const Part *part, EngLinkState *state, EngLinkFill *fill)
{
  EngNet *net = &part->eng->net;
  uint32_t n = 0;
  double sum = 0.0;
  net->work.frozen.n = 0; /* not needed yet */
  for (uint32_t i = 0; i < state->n_flows; i++) {
    uint32_t flow = state->flows[i];
    if (is_below (net, flow, part->level)) {
      sum += net->flows.move[flow].rate;
      state->flows[n++] = flow;
    } else if (net->flows.head[flow].state == ENG_FLOW_MOVING) {
      eng_ids_add (&net->work.frozen, flow);
    }
  }
  state->cut = n;
  for (uint32_t i = 0; i < net->work.frozen.n; i++)
    state->flows[n++] = net->work.frozen.items[i];
  g_assert (n == state->n_live);
  state->n_flows = n;
  state->n_scans = (uint8_t)MIN (state->n_scans + 1, UINT8_MAX);
  fill->used = sum * state->unit;
}

/* First sight of a link. FALSE: not to be solved in part. */
static bool
reach (Part *part, EngLink link)
{
  EngNet *net = &part->eng->net;
  EngLinkState *state = &net->links.state[link];
  state->seen = net->work.component;
  net->links.fill[link] = (EngLinkFill){ .unit = state->unit };
  eng_ids_add (&net->work.reached, link);
  if (state->n_live == 0) {
    state->n_flows = 0;
    return true;
  }
  if (!state->plain)
    return false;
  if (!state->sorted)
    cut_unsorted (part, state, &net->links.fill[link]);
  else if (!cut_sorted (part, state))
    return false;
  part->n_listed += state->n_flows;
  part->n_filled += state->n_flows - state->cut;
  return net->how != ENG_SOLVE_AUTO || part->n_filled < FILLED_BEFORE_JUDGING + net->flows.n_moving / 8 ||
         2 * part->n_filled <= part->n_listed;
}

/* The flows to fill and their links, counting each link's members in its fill. */
static bool
gather (Part *part)
{
  EngNet *net = &part->eng->net;
  net->work.members.n = 0;
  net->work.reached.n = 0;
  for (uint32_t i = 0; i < net->links.dirty.n; i++)
    if (!reach (part, net->links.dirty.items[i]))
      return false;
  for (uint32_t i = 0; i < net->work.reached.n; i++) {
    const EngLinkState *state = &net->links.state[net->work.reached.items[i]];
    for (uint32_t j = state->cut; j < state->n_flows; j++) {
      uint32_t flow = state->flows[j];
      EngFlowHead *head = &net->flows.head[flow];
      if (head->seen == net->work.component)
        continue;
      head->seen = net->work.component;
      eng_ids_add (&net->work.members, flow);
      for (uint32_t k = 0; k < head->n_uses; k++) {
        EngLink link = net->pool.word[head->uses + k];
        if (net->links.state[link].seen != net->work.component && !reach (part, link))
          return false;
        net->links.fill[link].rest_lo++;
      }
    }
  }
  return true;
}

/* Brings the fill of a link to where it stood below the flows to fill. */
static void
restore (EngNet *net, EngLink link)
{
  EngLinkState *state = &net->links.state[link];
  EngLinkFill *fill = &net->links.fill[link];
  bool rests = fill->rest_lo == 0; /* nothing to fill */
  bool often = state->n_scans >= SCANS_BEFORE_SORT && state->n_flows >= LIST_WORTH_SORTING;
  fill->settled_lo = fill->rest_lo;
  if (!state->sorted && rests && !often)
    return;
  if (!state->sorted)
    sort_link (net, link, state->cut);
  GArray *marks = marks_of (net, link);
  guint n = marks->len;
  while (n > 0 && g_array_index (marks, EngMark, n - 1u).at >= state->cut)
    n--;
  g_array_set_size (marks, n);
  fill->used = 0.0;
  if (n == 0)
    return;
  const EngMark *last = &g_array_index (marks, EngMark, n - 1u);
  fill->used = last->used;
  fill->level = last->level;
  fill->settled_lo = state->n_flows - last->at;
}

/* Lists the members behind those below, in the order of their rates. */
static void
list_in_order (EngNet *net)
{
  for (uint32_t i = 0; i < net->work.frozen.n; i++) {
    uint32_t flow = net->work.frozen.items[i];
    const EngFlowHead *head = &net->flows.head[flow];
    for (uint32_t k = 0; k < head->n_uses; k++) {
      EngLink link = net->pool.word[head->uses + k];
      EngLinkState *state = &net->links.state[link];
      add_mark (net->links.marks[link], net->flows.move[flow].rate, state->unit, state->cut);
      state->flows[state->cut++] = flow;
    }
  }
}

static bool
solve_from (Part *part)
{
  EngNet *net = &part->eng->net;
  double level = 0.0;
  if (!gather (part))
    return false;
  for (uint32_t i = 0; i < net->work.reached.n; i++) { /* rounding may leave a flow on either side of the cut */
    EngLink link = net->work.reached.items[i];
    if (net->links.fill[link].rest_lo != net->links.state[link].n_flows - net->links.state[link].cut)
      return false;
  }
  for (uint32_t i = 0; i < net->work.reached.n; i++) {
    EngLink link = net->work.reached.items[i];
    restore (net, link);
    level = fmax (level, net->links.fill[link].level);
  }
  net->work.frozen.n = 0;
  net->work.keep_order = true;
  eng_net_fill (part->eng, level);
  net->work.keep_order = false;
  g_assert (net->work.frozen.n == net->work.members.n);
  list_in_order (net);
  part->eng->stats.solved += net->work.members.n;
  return true;
}

/* Whether a part may be less than the whole. */
static bool
is_worth_trying (EngNet *net)
{
  bool shared = false;
  if (net->how != ENG_SOLVE_AUTO && net->how != ENG_SOLVE_PART)
    return false;
  if (net->how == ENG_SOLVE_AUTO && (net->flows.n_moving < LEAST_MOVING || 2 * net->flows.n_joined > net->flows.n_moving))
    return false;
  for (uint32_t i = 0; i < net->links.dirty.n; i++) {
    const EngLinkState *state = &net->links.state[net->links.dirty.items[i]];
    if (state->n_live > 0 && !state->plain)
      return false;
    shared = shared || state->n_live > 1;
  }
  if (shared && net->how == ENG_SOLVE_AUTO && net->part.n_skips > 0) {
    net->part.n_skips--;
    return false;
  }
  return shared;
}

/* No flow below it has another rate. */
static double
lowest_level (const EngNet *net)
{
  double level = net->part.restart;
  for (uint32_t i = 0; i < net->links.dirty.n; i++) {
    const EngLinkState *state = &net->links.state[net->links.dirty.items[i]];
    if (state->grown && state->n_live > 0)
      level = fmin (level, state->capacity / (state->n_live * state->unit));
  }
  return level * (1.0 - REL_MARGIN);
}

bool
eng_net_solve_part (Eng *eng)
{
  EngNet *net = &eng->net;
  if (!is_worth_trying (net))
    return false;
  Part part = { .eng = eng, .level = lowest_level (net) };
  if (!(part.level > 0.0))
    return false;
  eng_net_next_component (net);
  bool solved = solve_from (&part);
  for (uint32_t i = 0; i < net->work.reached.n; i++)
    net->links.state[net->work.reached.items[i]].cut = 0;
  if (!solved) {
    net->part.backoff = MIN (MAX (1, 2 * net->part.backoff), MOST_SKIPS);
    net->part.n_skips = net->part.backoff;
    return false;
  }
  net->part.backoff = 0;
  eng->stats.parts++;
  for (uint32_t i = 0; i < net->links.dirty.n; i++) {
    EngLinkState *state = &net->links.state[net->links.dirty.items[i]];
    state->dirty = state->grown = false;
  }
  return true;
}
