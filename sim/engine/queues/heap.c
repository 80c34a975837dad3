#include "heap-private.h"

#include <glib.h>

static void
sift_down (EngHeap *heap, uint32_t at)
{
  EngHeapItem item = heap->items[at];
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= heap->n)
      break;
    if (child + 1 < heap->n)
      child += eng_heap_before (heap->items[child + 1], heap->items[child]);
    if (!eng_heap_before (heap->items[child], item))
      break;
    heap->items[at] = heap->items[child];
    at = child;
  }
  heap->items[at] = item;
}

static inline void
sift_up (EngHeap *heap, uint32_t at)
{
  EngHeapItem item = heap->items[at];
  while (at > 0 && eng_heap_before (item, heap->items[(at - 1) / 2])) {
    heap->items[at] = heap->items[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap->items[at] = item;
}

void
eng_heap_clear (EngHeap *heap)
{
  g_free (heap->items);
  *heap = (EngHeap){ 0 };
}

void
eng_heap_append (EngHeap *heap, double key, uint32_t id)
{
  if (heap->n == heap->allocated) {
    heap->allocated = heap->allocated == 0 ? 64 : 2 * heap->allocated;
    heap->items = g_renew (EngHeapItem, heap->items, heap->allocated);
  }
  heap->items[heap->n++] = (EngHeapItem){ .key = key, .id = id };
}

void
eng_heap_build (EngHeap *heap)
{
  for (uint32_t i = heap->n / 2; i-- > 0;)
    sift_down (heap, i);
}

void
eng_heap_push (EngHeap *heap, double key, uint32_t id)
{
  eng_heap_append (heap, key, id);
  sift_up (heap, heap->n - 1);
}

void
eng_heap_remove (EngHeap *heap, uint32_t at)
{
  heap->n--;
  if (at == heap->n)
    return;
  heap->items[at] = heap->items[heap->n];
  sift_up (heap, at);
  sift_down (heap, at);
}

/* The last item is nearly always among the largest, so the gap goes all the way down first (Wegener, TCS 118, 1993). */
void
eng_heap_pop (EngHeap *heap)
{
  const uint32_t n = --heap->n;
  uint32_t at = 0, child;
  while ((child = 2 * at + 1) + 1 < n) {
    child += eng_heap_before (heap->items[child + 1], heap->items[child]);
    heap->items[at] = heap->items[child];
    at = child;
  }
  if (child < n) {
    heap->items[at] = heap->items[child];
    at = child;
  }
  heap->items[at] = heap->items[n];
  sift_up (heap, at);
}

void
eng_heap_raise_top (EngHeap *heap, double key)
{
  heap->items[0].key = key;
  sift_down (heap, 0);
}
