/* A binary heap of (key, id), least key first, ties by lowest id: the same order on every machine. Stays in the engine. */
#ifndef ENGINE_HEAP_PRIVATE_H
#define ENGINE_HEAP_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  double key;
  uint32_t id;
} EngHeapItem;

typedef struct {
  EngHeapItem *items; /* items[0] is the least */
  uint32_t n, allocated;
} EngHeap;

/* Without branches: which of two it is cannot be foretold. */
static inline bool
eng_heap_before (EngHeapItem a, EngHeapItem b)
{
  return (a.key < b.key) | ((a.key <= b.key) & (a.id < b.id));
}

void eng_heap_clear (EngHeap *heap);
/* Appends without order; eng_heap_build() then orders all. */
void eng_heap_append (EngHeap *heap, double key, uint32_t id);
void eng_heap_build (EngHeap *heap);
void eng_heap_push (EngHeap *heap, double key, uint32_t id);
void eng_heap_pop (EngHeap *heap);
/* The item at items[at]. */
void eng_heap_remove (EngHeap *heap, uint32_t at);
/* Gives the least item a larger key. */
void eng_heap_raise_top (EngHeap *heap, double key);

#endif
