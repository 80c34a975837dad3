/* Bundles: activities that are alike but for their size share one rate, and are one on their links.
 *
 * Activities with the same links, weights, priority and bound have the same rate at all times. One slot, the carrier, stands for m
 * of them: it is on their links with m times the weight, which is what the links saw before, to the last bit. The bundle keeps the
 * service S that each member has had since it was made (the integral of the rate); a member that had `left` to go when it came in
 * at S ends when the service reaches its key, S + left. Members wait in a heap by key, so that an end costs log m, and no rate but
 * the carrier's is set: n sizes on one link cost n log n, not n^2 / 2.
 * S is kept in two doubles, so that its rounding stays that of one step however many there are.
 * Bundles are made inside a solve, of what it has gathered, once solving that has become expensive: few need them.
 * Source: the virtual time of processor sharing and fair queueing; Parekh and Gallager, IEEE/ACM Trans. Networking 1(3), 1993, II.
 * Check: law_engine_fair holds bundled networks against unbundled ones. */
#include "bundle-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Solves of fewer flows, or fewer in all, are cheap. */
#define LEAST_MEMBERS 64
#define LEAST_SOLVED  4096
#define SOLVES_A_TRY  16
#define MOST_FAILURES 10 /* each doubles the work before the next try */

struct EngBundle {
  EngHeap members; /* key, slot */
  double service, service_rest;
};

static EngBundle *
bundle_of (const EngNet *net, uint32_t carrier)
{
  g_assert (net->flows.head[carrier].state == ENG_FLOW_CARRIER);
  return net->callees.items[net->flows.call[carrier].callee].user;
}

uint64_t
eng_bundle_n (const EngNet *net, uint32_t carrier)
{
  return bundle_of (net, carrier)->members.n;
}

void
eng_bundle_free (EngBundle *bundle)
{
  eng_heap_clear (&bundle->members);
  g_free (bundle);
}

/* What a member with this key has still to move at `now`. */
static double
left_of (const EngNet *net, uint32_t carrier, double key, EngTime now)
{
  const EngBundle *bundle = bundle_of (net, carrier);
  const EngFlowMove *move = &net->flows.move[carrier];
  return key - bundle->service - bundle->service_rest - move->rate * (double)(now - move->since) / ENG_PS_PER_S;
}

static void
advance (const EngNet *net, uint32_t carrier, EngTime now)
{
  EngBundle *bundle = bundle_of (net, carrier);
  EngFlowMove *move = &net->flows.move[carrier];
  double step = bundle->service_rest + move->rate * (double)(now - move->since) / ENG_PS_PER_S;
  double sum = bundle->service + step, of_step = sum - bundle->service;
  bundle->service_rest = (bundle->service - (sum - of_step)) + (step - of_step); /* what the sum has lost: Knuth, TAOCP 2, 4.2.2 */
  bundle->service = sum;
  move->since = now;
}

double
eng_bundle_left (const Eng *eng, uint32_t member)
{
  const EngNet *net = &eng->net;
  return left_of (net, net->flows.head[member].uses, net->flows.move[member].left, eng->now);
}

/* The end of the member that is next, were the rate to stay. */
static void
schedule_next (Eng *eng, uint32_t carrier)
{
  EngNet *net = &eng->net;
  const EngBundle *bundle = bundle_of (net, carrier);
  EngFlowMove next = net->flows.move[bundle->members.items[0].id];
  next.left = left_of (net, carrier, bundle->members.items[0].key, eng->now);
  next.rate = net->flows.move[carrier].rate;
  if (next.rate <= 0.0 && next.left > 0.0)
    return;
  net->flows.head[carrier].pending = true;
  eng_push_flow (eng, eng_flow_end_of (&next, eng->now), carrier);
}

void
eng_bundle_set_rate (Eng *eng, uint32_t carrier, double rate)
{
  EngNet *net = &eng->net;
  if (net->flows.head[carrier].pending && rate >= net->flows.move[carrier].rate && rate <= net->flows.move[carrier].rate)
    return;
  advance (net, carrier, eng->now);
  eng_flow_drop_end (eng, carrier);
  net->flows.move[carrier].rate = rate;
  schedule_next (eng, carrier);
}

/* The member that was at items[at] is no longer one of them. The links have one flow less; the last one takes the carrier along. */
static void
leave (Eng *eng, uint32_t carrier, uint32_t at)
{
  EngNet *net = &eng->net;
  EngBundle *bundle = bundle_of (net, carrier);
  EngFlowHead *head = &net->flows.head[carrier];
  eng_heap_remove (&bundle->members, at);
  eng_flow_drop_end (eng, carrier);
  for (uint32_t k = 0; k < head->n_uses; k++)
    eng_link_mark_dirty (net, net->pool.word[head->uses + k]);
  if (bundle->members.n > 0) {
    schedule_next (eng, carrier);
    return;
  }
  for (uint32_t k = 0; k < head->n_uses; k++)
    net->links.state[net->pool.word[head->uses + k]].n_live--;
  head->state = ENG_FLOW_ENDED;
  net->flows.call[carrier].callee = 0;
  eng_bundle_free (bundle);
  eng_ids_add (&net->flows.ended, carrier);
}

static uint32_t
place_of (const EngBundle *bundle, uint32_t member)
{
  uint32_t at = 0;
  while (bundle->members.items[at].id != member)
    at++;
  return at;
}

void
eng_bundle_end (Eng *eng, uint32_t member, double moved)
{
  EngNet *net = &eng->net;
  EngFlowHead *head = &net->flows.head[member];
  uint32_t carrier = head->uses;
  const EngFlowHead *common = &net->flows.head[carrier];
  for (uint32_t k = 0; k < common->n_uses; k++)
    net->links.state[net->pool.word[common->uses + k]].carried += eng_net_weight (net, carrier, k) * moved;
  leave (eng, carrier, place_of (bundle_of (net, carrier), member));
  head->n_uses = 0; /* the list is the carrier's */
  head->mixed = head->weighted = head->preferred = head->bounded = false;
}

void
eng_bundle_release (Eng *eng, uint32_t member)
{
  EngNet *net = &eng->net;
  EngFlowHead *head = &net->flows.head[member];
  const uint32_t carrier = head->uses, words = net->flows.head[carrier].uses;
  EngFlowMove *move = &net->flows.move[member];
  *move = (EngFlowMove){ .amount = move->amount, .left = eng_bundle_left (eng, member), .rate = 0.0, .since = eng->now };
  leave (eng, carrier, place_of (bundle_of (net, carrier), member));
  eng_flow_copy_list (net, head, words); /* a carrier that has ended is on its links yet */
  head->state = ENG_FLOW_MOVING;
  head->seen = 0;
  net->flows.head[member].bottleneck = ENG_NO_SLOT;
  eng_net_join (net, member);
}

uint32_t
eng_bundle_next (Eng *eng, uint32_t carrier)
{
  EngNet *net = &eng->net;
  const EngHeapItem *next = &bundle_of (net, carrier)->members.items[0];
  EngFlowMove move = net->flows.move[next->id];
  net->flows.head[carrier].pending = false;
  if (eng->now - net->flows.move[carrier].since >= ENG_RECHECK_PS) {
    advance (net, carrier, eng->now);
    move.left = left_of (net, carrier, next->key, eng->now);
    move.rate = net->flows.move[carrier].rate;
    if (eng_flow_end_of (&move, eng->now) > eng->now) {
      schedule_next (eng, carrier);
      return ENG_NO_SLOT;
    }
  }
  return next->id;
}

double
eng_bundle_moved (const Eng *eng, uint32_t carrier)
{
  const EngNet *net = &eng->net;
  const EngBundle *bundle = bundle_of (net, carrier);
  double moved = 0.0;
  for (uint32_t i = 0; i < bundle->members.n; i++) {
    double amount = net->flows.move[bundle->members.items[i].id].amount;
    moved += amount - fmax (0.0, left_of (net, carrier, bundle->members.items[i].key, eng->now));
  }
  return moved;
}

static void
join (Eng *eng, uint32_t carrier, uint32_t flow)
{
  EngNet *net = &eng->net;
  EngBundle *bundle = bundle_of (net, carrier);
  EngFlowHead *head = &net->flows.head[flow];
  double left = net->flows.move[flow].amount - eng_flow_moved (eng, flow);
  for (uint32_t k = 0; k < head->n_uses; k++)
    net->links.state[net->pool.word[head->uses + k]].n_live--;
  eng_flow_drop_end (eng, flow);
  eng_net_give_words (net, head->uses, eng_flow_list_words (head));
  head->state = ENG_FLOW_BUNDLED;
  head->uses = carrier;
  net->flows.move[flow].left = bundle->service + (bundle->service_rest + left);
  eng_heap_push (&bundle->members, net->flows.move[flow].left, flow);
}

/* A carrier with the flow's links, weights, priority, bound and rate, and no members. */
static uint32_t
new_carrier (Eng *eng, uint32_t flow)
{
  EngNet *net = &eng->net;
  const uint32_t callee = eng_callee_of (net, NULL, g_new0 (EngBundle, 1), 0), carrier = eng_net_take_slot (net);
  EngFlowHead *head = &net->flows.head[carrier];
  *head = net->flows.head[flow];
  eng_flow_copy_list (net, head, head->uses);
  head->pending = false;
  head->state = ENG_FLOW_CARRIER;
  head->bottleneck = ENG_NO_SLOT;
  net->flows.move[carrier] = (EngFlowMove){ .amount = (double)INFINITY, .rate = net->flows.move[flow].rate, .since = eng->now };
  net->flows.call[carrier] = (EngFlowCall){ .callee = callee };
  eng_net_join (net, carrier);
  net->bundles.any = true;
  return carrier;
}

typedef struct {
  uint64_t hash;
  uint32_t flow;
} Alike;

static uint64_t
hash_of (const EngNet *net, uint32_t flow)
{
  const EngFlowHead *head = &net->flows.head[flow];
  const double numbers[] = { eng_flow_priority (net, flow), eng_flow_bound (net, flow), eng_net_weight (net, flow, 0) };
  uint64_t hash = head->n_uses;
  for (unsigned i = 0; i < G_N_ELEMENTS (numbers); i++)
    hash = base_hash_double (hash, numbers[i]);
  for (uint32_t i = 0, n = head->mixed ? 3u * head->n_uses : head->n_uses; i < n; i++)
    hash = base_hash_word (hash, net->pool.word[head->uses + i]);
  return hash;
}

static bool
are_alike (const EngNet *net, uint32_t a, uint32_t b)
{
  const EngFlowHead *x = &net->flows.head[a], *y = &net->flows.head[b];
  return x->n_uses == y->n_uses && x->mixed == y->mixed && x->weighted == y->weighted && x->preferred == y->preferred &&
         x->bounded == y->bounded &&
         memcmp (&net->pool.word[x->uses], &net->pool.word[y->uses], eng_flow_list_words (x) * sizeof *net->pool.word) == 0;
}

static int
by_hash (const void *a, const void *b)
{
  const Alike *x = a, *y = b;
  if (x->hash != y->hash)
    return x->hash < y->hash ? -1 : 1;
  return x->flow < y->flow ? -1 : x->flow > y->flow;
}

/* Of `alike`, sorted by hash, those from `from` on that are like it; a carrier among them, or ENG_NO_SLOT. */
static guint
run_of (const EngNet *net, const GArray *alike, guint from, uint32_t *carrier)
{
  uint32_t first = g_array_index (alike, Alike, from).flow;
  guint to = from;
  *carrier = ENG_NO_SLOT;
  for (; to < alike->len && are_alike (net, first, g_array_index (alike, Alike, to).flow); to++)
    if (*carrier == ENG_NO_SLOT && net->flows.head[g_array_index (alike, Alike, to).flow].state == ENG_FLOW_CARRIER)
      *carrier = g_array_index (alike, Alike, to).flow;
  return to;
}

static guint
count_runs (const EngNet *net, const GArray *alike)
{
  guint n = 0;
  uint32_t carrier;
  for (guint from = 0; from < alike->len; n++)
    from = run_of (net, alike, from, &carrier);
  return n;
}

/* Makes one of those that are alike among the members of the component; FALSE where that would not halve them. */
static bool
bundle_members (Eng *eng)
{
  EngNet *net = &eng->net;
  g_autoptr (GArray) alike = g_array_new (FALSE, FALSE, sizeof (Alike));
  for (uint32_t i = 0; i < net->work.members.n; i++) {
    uint32_t flow = net->work.members.items[i];
    bool endless = net->flows.head[flow].state == ENG_FLOW_MOVING && isinf (net->flows.move[flow].amount);
    if (!endless)
      g_array_append_vals (alike, &(Alike){ .hash = hash_of (net, flow), .flow = flow }, 1);
  }
  if (alike->len == 0)
    return false;
  qsort (alike->data, alike->len, sizeof (Alike), by_hash);
  guint n_runs = count_runs (net, alike), n_others = net->work.members.n - alike->len;
  bool gains = net->how == ENG_SOLVE_BUNDLED ? n_runs < alike->len : 2 * (n_runs + n_others) <= net->work.members.n;
  for (guint from = 0, to; gains && from < alike->len; from = to) {
    uint32_t carrier;
    to = run_of (net, alike, from, &carrier);
    if (to - from < 2)
      continue;
    if (carrier == ENG_NO_SLOT)
      carrier = new_carrier (eng, g_array_index (alike, Alike, from).flow);
    else
      advance (net, carrier, eng->now);
    eng_flow_drop_end (eng, carrier);
    for (guint i = from; i < to; i++)
      if (net->flows.head[g_array_index (alike, Alike, i).flow].state == ENG_FLOW_MOVING)
        join (eng, carrier, g_array_index (alike, Alike, i).flow);
  }
  return gains;
}

bool
eng_net_bundle (Eng *eng)
{
  EngNet *net = &eng->net;
  uint64_t n = net->work.members.n;
  if (net->how == ENG_SOLVE_BUNDLED)
    return bundle_members (eng);
  if (net->how != ENG_SOLVE_AUTO || n < LEAST_MEMBERS)
    return false;
  net->bundles.solved += n;
  if (net->bundles.solved < MAX (LEAST_SOLVED, SOLVES_A_TRY * n) << net->bundles.n_failures)
    return false;
  bool bundled = bundle_members (eng);
  net->bundles.n_failures = bundled ? 0 : MIN (net->bundles.n_failures + 1, MOST_FAILURES);
  net->bundles.solved = 0;
  return bundled;
}
