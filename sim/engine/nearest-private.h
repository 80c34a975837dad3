/* A priority queue of (key, id) in the order of a heap, for few entries at a time: the least are in a short sorted array, where an
 * insertion is a run of moves and taking the least is none; the others wait in a heap. Stays in the engine. */
#ifndef ENGINE_NEAREST_PRIVATE_H
#define ENGINE_NEAREST_PRIVATE_H

#include "heap-private.h"

#include <string.h>

#define ENG_NEAREST 64u

typedef struct {
  uint32_t n;
  EngHeapItem items[ENG_NEAREST]; /* the least one last; none is above the heap's */
  EngHeap far;
} EngNearest;

static inline void
eng_nearest_push (EngNearest *nearest, double key, uint32_t id)
{
  const EngHeapItem item = { .key = key, .id = id };
  if (nearest->far.n > 0 && eng_heap_before (nearest->far.items[0], item)) {
    eng_heap_push (&nearest->far, key, id);
    return;
  }
  if (nearest->n == ENG_NEAREST) { /* the upper half goes */
    for (uint32_t i = 0; i < ENG_NEAREST / 2u; i++)
      eng_heap_push (&nearest->far, nearest->items[i].key, nearest->items[i].id);
    memmove (nearest->items, nearest->items + ENG_NEAREST / 2u, ENG_NEAREST / 2u * sizeof *nearest->items);
    nearest->n = ENG_NEAREST / 2u;
    if (eng_heap_before (nearest->far.items[0], item)) {
      eng_heap_push (&nearest->far, key, id);
      return;
    }
  }
  uint32_t at = nearest->n++;
  for (; at > 0 && eng_heap_before (nearest->items[at - 1u], item); at--)
    nearest->items[at] = nearest->items[at - 1u];
  nearest->items[at] = item;
}

/* False: there is none. */
static inline bool
eng_nearest_pop (EngNearest *nearest, uint32_t *id)
{
  if (nearest->n > 0) {
    *id = nearest->items[--nearest->n].id;
    return true;
  }
  if (nearest->far.n == 0)
    return false;
  *id = nearest->far.items[0].id;
  eng_heap_pop (&nearest->far);
  return true;
}

#endif
