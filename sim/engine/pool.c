/* Where flows are kept: their slots, and the words that list their links. */
#include "engine-private.h"

#include <math.h>

/* Lists up to this many words have a size class each; longer ones share one for each power of two. */
#define EXACT_CLASSES 32u
#define N_CLASSES     (EXACT_CLASSES + 33u)

void
eng_net_init (EngNet *net)
{
  uint32_t none = ENG_NO_SLOT;
  net->flows.free_slots = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->work.members = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->work.reached = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->work.frozen = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  net->local.chosen = g_array_new (FALSE, FALSE, sizeof (EngLink));
  net->local.frozen = g_array_new (FALSE, FALSE, sizeof (EngFrozen));
  net->part.restart = (double)INFINITY;
  net->pool.free = g_array_sized_new (FALSE, FALSE, sizeof (uint32_t), N_CLASSES);
  for (unsigned i = 0; i < N_CLASSES; i++)
    g_array_append_val (net->pool.free, none);
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
  uint32_t *list = &g_array_index (net->pool.free, uint32_t, size_class (n, &n_words));
  if (*list != ENG_NO_SLOT) {
    uint32_t at = *list;
    *list = net->pool.word[at];
    return at;
  }
  uint64_t wanted = (uint64_t)net->pool.n + n_words;
  g_assert (wanted < ENG_NO_SLOT);
  if (wanted > net->pool.n_allocated) {
    uint64_t doubled = MAX (UINT64_C (1024), 2 * (uint64_t)net->pool.n_allocated);
    net->pool.n_allocated = (uint32_t)MIN (MAX (doubled, wanted), (uint64_t)ENG_NO_SLOT - 1u);
    net->pool.word = g_renew (uint32_t, net->pool.word, net->pool.n_allocated);
  }
  uint32_t at = net->pool.n;
  net->pool.n = (uint32_t)wanted;
  return at;
}

void
eng_net_give_words (EngNet *net, uint32_t at, uint32_t n)
{
  if (n == 0)
    return;
  uint32_t n_words;
  uint32_t *list = &g_array_index (net->pool.free, uint32_t, size_class (n, &n_words));
  net->pool.word[at] = *list;
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
  g_assert (net->flows.n_allocated < ENG_SLOT_FLOW / 2);
  uint32_t n = net->flows.n_allocated = net->flows.n_allocated == 0 ? 64 : 2 * net->flows.n_allocated;
  net->flows.head = g_renew (EngFlowHead, net->flows.head, n);
  net->flows.move = g_renew (EngFlowMove, net->flows.move, n);
  net->flows.call = g_renew (EngFlowCall, net->flows.call, n);
  net->flows.bound = g_renew (double, net->flows.bound, n);
  net->flows.stamp = g_renew (uint32_t, net->flows.stamp, n);
  net->flows.generation = g_renew (uint32_t, net->flows.generation, n);
  net->flows.bottleneck = g_renew (EngLink, net->flows.bottleneck, n);
}

uint32_t
eng_net_take_slot (EngNet *net)
{
  if (net->flows.free_slots->len > 0) {
    uint32_t slot = g_array_index (net->flows.free_slots, uint32_t, net->flows.free_slots->len - 1u);
    g_array_set_size (net->flows.free_slots, net->flows.free_slots->len - 1u);
    return slot;
  }
  if (net->flows.n == net->flows.n_allocated)
    grow_flows (net);
  net->flows.head[net->flows.n] = (EngFlowHead){ .state = ENG_FLOW_FREE };
  net->flows.stamp[net->flows.n] = 0;
  net->flows.generation[net->flows.n] = 1;
  return net->flows.n++;
}

void
eng_net_give_slot (EngNet *net, uint32_t flow)
{
  EngFlowHead *head = &net->flows.head[flow];
  eng_net_give_words (net, head->uses, eng_flow_list_words (head));
  head->state = ENG_FLOW_FREE;
  g_array_append_val (net->flows.free_slots, flow);
}

void
eng_net_recycle (EngNet *net)
{
  for (uint32_t i = 0; i < net->flows.ended.n; i++)
    eng_net_give_slot (net, net->flows.ended.items[i]);
  net->flows.ended.n = 0;
}
