/* A priority queue of (key, id) in the order of a heap, for keys that are pushed near those that were popped last and above: keys
 * are shared out to lots by the leading bits of their logarithm, and only those of the lot at hand are in order. So a push is
 * seldom more than an entry of a list, without a branch that cannot be foretold. Stays in the engine. */
#ifndef ENGINE_NEAREST_PRIVATE_H
#define ENGINE_NEAREST_PRIVATE_H

#include "heap-private.h"

#include <string.h>

#define ENG_NEAREST 64u   /* in order, besides those of the heap */
#define ENG_N_LOTS  1024u /* of .8 % each, over eight powers of two; keys beyond these are in the first or last lot */

typedef struct {
  double key;
  uint32_t id;
  uint32_t next; /* of its lot, or of those that are free; UINT32_MAX: none */
} EngLotItem;

typedef struct {
  /* of the lot at hand and those below it: in order, the least last; none is above the heap's */
  uint32_t n;
  uint32_t id[ENG_NEAREST];
  double key[ENG_NEAREST];
  EngHeap far;
  /* of the lots above */
  uint32_t lot;                      /* the one at hand */
  bool begun;                        /* `base` is set */
  int64_t base;                      /* leading bits of the keys in the first lot */
  uint64_t filled[ENG_N_LOTS / 64u]; /* lots that have items */
  uint32_t first[ENG_N_LOTS];        /* of these */
  EngLotItem *items;
  uint32_t n_items, n_allocated, free;
} EngNearest;

/* nearest.c */
/* Empties it. */
void eng_nearest_reset (EngNearest *nearest);
void eng_nearest_clear (EngNearest *nearest);
/* Puts the item among those in order. */
void eng_nearest_insert (EngNearest *nearest, double key, uint32_t id);
/* Takes the least item of the lots above, and puts those of its lot in order; false: there is none. */
bool eng_nearest_refill (EngNearest *nearest, uint32_t *id);
/* Room for more items. */
void eng_nearest_grow (EngNearest *nearest);

/* Sign, exponent and seven digits of a key above 0. */
static inline int64_t
eng_nearest_digits (double key)
{
  int64_t bits;
  memcpy (&bits, &key, sizeof bits);
  return (bits > 0 ? bits : 0) >> 45;
}

static inline void
eng_nearest_push (EngNearest *nearest, double key, uint32_t id)
{
  const int64_t digits = eng_nearest_digits (key);
  if (!nearest->begun) {
    nearest->begun = true;
    nearest->base = digits - ENG_N_LOTS / 2u;
  }
  int64_t lot = digits - nearest->base;
  lot = lot < ENG_N_LOTS - 1u ? lot : ENG_N_LOTS - 1u;
  if (lot <= nearest->lot) {
    eng_nearest_insert (nearest, key, id);
    return;
  }
  uint32_t at = nearest->free;
  if (at == UINT32_MAX) {
    if (nearest->n_items == nearest->n_allocated)
      eng_nearest_grow (nearest);
    at = nearest->n_items++;
  } else {
    nearest->free = nearest->items[at].next;
  }
  const uint64_t bit = UINT64_C (1) << (lot % 64), word = nearest->filled[lot / 64];
  nearest->items[at] = (EngLotItem){ .key = key, .id = id, .next = (word & bit) != 0 ? nearest->first[lot] : UINT32_MAX };
  nearest->first[lot] = at;
  nearest->filled[lot / 64] = word | bit;
}

/* False: there is none. */
static inline bool
eng_nearest_pop (EngNearest *nearest, uint32_t *id)
{
  if (nearest->n > 0) {
    *id = nearest->id[--nearest->n];
    return true;
  }
  if (nearest->far.n == 0)
    return eng_nearest_refill (nearest, id);
  *id = nearest->far.items[0].id;
  eng_heap_pop (&nearest->far);
  return true;
}

#endif
