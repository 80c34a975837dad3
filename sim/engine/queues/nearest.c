#include "nearest-private.h"

#include <glib.h>

G_STATIC_ASSERT (sizeof (gulong) == 8); /* g_bit_storage takes a gulong */

void
eng_nearest_reset (EngNearest *nearest)
{
  nearest->n = nearest->far.n = nearest->lot = nearest->n_items = 0;
  nearest->begun = false;
  nearest->free = UINT32_MAX;
  memset (nearest->filled, 0, sizeof nearest->filled);
}

void
eng_nearest_clear (EngNearest *nearest)
{
  eng_heap_clear (&nearest->far);
  g_clear_pointer (&nearest->items, g_free);
  nearest->n_allocated = 0;
  eng_nearest_reset (nearest);
}

void
eng_nearest_grow (EngNearest *nearest)
{
  nearest->n_allocated = nearest->n_allocated == 0 ? 64 : 2 * nearest->n_allocated;
  nearest->items = g_renew (EngLotItem, nearest->items, nearest->n_allocated);
}

void
eng_nearest_insert (EngNearest *nearest, double key, uint32_t id)
{
  const EngHeapItem item = { .key = key, .id = id };
  if (nearest->n == ENG_NEAREST) { /* the upper half goes */
    for (uint32_t i = 0; i < ENG_NEAREST / 2u; i++)
      eng_heap_push (&nearest->far, nearest->key[i], nearest->id[i]);
    memmove (nearest->key, nearest->key + ENG_NEAREST / 2u, ENG_NEAREST / 2u * sizeof *nearest->key);
    memmove (nearest->id, nearest->id + ENG_NEAREST / 2u, ENG_NEAREST / 2u * sizeof *nearest->id);
    nearest->n = ENG_NEAREST / 2u;
  }
  if (nearest->far.n > 0 && eng_heap_before (nearest->far.items[0], item)) {
    eng_heap_push (&nearest->far, key, id);
    return;
  }
  uint32_t at = nearest->n++;
  for (; at > 0 && eng_heap_before ((EngHeapItem){ .key = nearest->key[at - 1u], .id = nearest->id[at - 1u] }, item); at--) {
    nearest->key[at] = nearest->key[at - 1u];
    nearest->id[at] = nearest->id[at - 1u];
  }
  nearest->key[at] = key;
  nearest->id[at] = id;
}

bool
eng_nearest_refill (EngNearest *nearest, uint32_t *id)
{
  uint32_t word = nearest->lot / 64u;
  while (word < ENG_N_LOTS / 64u && nearest->filled[word] == 0)
    word++;
  if (word == ENG_N_LOTS / 64u)
    return false;
  const uint64_t lowest = nearest->filled[word] & (~nearest->filled[word] + 1u);
  const uint32_t lot = 64u * word + (uint32_t)g_bit_storage ((gulong)lowest) - 1u;
  nearest->filled[word] -= lowest;
  nearest->lot = lot;
  for (uint32_t at = nearest->first[lot], next; at != UINT32_MAX; at = next) {
    EngLotItem *item = &nearest->items[at];
    next = item->next;
    item->next = nearest->free;
    nearest->free = at;
    if (next == UINT32_MAX && nearest->n == 0) { /* the only one */
      *id = item->id;
      return true;
    }
    eng_nearest_insert (nearest, item->key, item->id);
  }
  return eng_nearest_pop (nearest, id);
}
