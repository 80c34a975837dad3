/* Where flows are kept: their slots, and the words that list their links. */
#include "engine-private.h"

#include <math.h>

void
eng_net_init (EngNet *net)
{
  net->local.chosen = g_array_new (FALSE, FALSE, sizeof (EngLink));
  net->local.frozen = g_array_new (FALSE, FALSE, sizeof (EngFrozen));
  net->part.restart = (double)INFINITY;
  eng_callees_init (net);
  for (unsigned i = 0; i < ENG_N_CLASSES; i++)
    net->pool.free[i] = ENG_NO_SLOT;
}

/* Size class of a list of n words, n > 0, and the words that its blocks have. */
static unsigned
size_class (uint32_t n, uint32_t *n_words)
{
  if (n <= ENG_EXACT_CLASSES) {
    *n_words = n;
    return n - 1u;
  }
  unsigned power = (unsigned)g_bit_storage ((gulong)n - 1u);
  g_assert (power < 32);
  *n_words = UINT32_C (1) << power;
  return ENG_EXACT_CLASSES + power;
}

uint32_t
eng_net_take_words (EngNet *net, uint32_t n)
{
  if (n == 0)
    return 0;
  uint32_t n_words;
  uint32_t *list = &net->pool.free[size_class (n, &n_words)];
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
  uint32_t *list = &net->pool.free[size_class (n, &n_words)];
  net->pool.word[at] = *list;
  *list = at;
}

void
eng_flow_copy_list (EngNet *net, EngFlowHead *head, uint32_t words)
{
  const uint32_t n = eng_flow_list_words (head), copy = eng_net_take_words (net, n);
  if (n > 0)
    memmove (&net->pool.word[copy], &net->pool.word[words], n * sizeof *net->pool.word);
  head->uses = copy;
}

static void
grow_flows (EngNet *net)
{
  g_assert (net->flows.n_allocated < ENG_SLOT_FLOW / 2);
  uint32_t n = net->flows.n_allocated = net->flows.n_allocated == 0 ? 64 : 2 * net->flows.n_allocated;
  net->flows.head = g_renew (EngFlowHead, net->flows.head, n);
  net->flows.move = g_renew (EngFlowMove, net->flows.move, n);
  net->flows.call = g_renew (EngFlowCall, net->flows.call, n);
  net->flows.stamp = g_renew (uint32_t, net->flows.stamp, n);
  net->flows.generation = g_renew (uint32_t, net->flows.generation, n);
}

uint32_t
eng_net_take_slot (EngNet *net)
{
  if (net->flows.free.n > 0)
    return net->flows.free.items[--net->flows.free.n];
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
  eng_ids_add (&net->flows.free, flow);
}

void
eng_net_recycle (EngNet *net)
{
  for (uint32_t i = 0; i < net->flows.ended.n; i++)
    eng_net_give_slot (net, net->flows.ended.items[i]);
  net->flows.ended.n = 0;
}
