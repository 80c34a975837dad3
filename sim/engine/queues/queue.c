/* Radix heap with 64-way digits (a multi-level bucket queue).
 *
 * A key lives at the level of the highest 6-bit digit in which it differs from `last`, the last popped time, in the bucket of its
 * own digit there. Popping takes from level 0, where a bucket is one exact time; when level 0 is empty, `last` becomes the least
 * key of the lowest bucket and that bucket is dealt out to the levels below. The place of a key depends on the key and on `last`
 * alone, and buckets are first in, first out, so equal times always share a bucket and leave in the order of their pushes: the
 * order (time, sequence) costs no sequence number.
 * Source: Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the shortest path problem", JACM 37(2), 1990 (radix heap);
 * Cherkassky, Goldberg, Silverstein, "Buckets, heaps, lists, and monotone priority queues", SIAM J. Comput. 28(4), 1999.
 *
 * Entries are kept in blocks from a pool, so that a million equal times leave no grown array behind in each bucket they passed. */
#include "engine/queue.h"

#include <glib.h>

#define DIGIT_BITS      6u
#define N_DIGITS        64u
#define N_LEVELS        11u
#define BLOCK_ENTRIES   63u
#define BLOCKS_PER_SLAB 32u

G_STATIC_ASSERT (sizeof (gulong) == 8); /* g_bit_storage takes a gulong */
G_STATIC_ASSERT (64u <= DIGIT_BITS * N_LEVELS);

typedef struct Block Block;
struct Block {
  Block *next;
  EngEntry entries[BLOCK_ENTRIES];
};

typedef struct Slab Slab;
struct Slab {
  Slab *next;
  Block blocks[BLOCKS_PER_SLAB];
};

typedef struct {
  Block *head, *tail;
  EngTime least;  /* of its entries; meaningless when empty */
  uint32_t first; /* next to leave, in head */
  uint32_t end;   /* next to fill, in tail */
} Bucket;

struct EngQueue {
  EngTime last;
  uint64_t n;
  uint64_t levels;           /* bit l: level l holds something */
  uint64_t digits[N_LEVELS]; /* bit d: bucket d of the level holds something */
  Bucket buckets[N_LEVELS][N_DIGITS];
  Block *spare;
  Slab *slabs;
};

static inline unsigned
highest_bit (uint64_t x)
{
  return (unsigned)g_bit_storage ((gulong)x) - 1u;
}

static inline unsigned
lowest_bit (uint64_t x)
{
  return highest_bit (x & (~x + 1u));
}

EngQueue *
eng_queue_new (void)
{
  return g_new0 (EngQueue, 1);
}

static void
free_slabs (EngQueue *queue)
{
  for (Slab *slab = queue->slabs; slab != NULL;) {
    Slab *next = slab->next;
    g_free (slab);
    slab = next;
  }
}

void
eng_queue_free (EngQueue *queue)
{
  if (queue == NULL)
    return;
  free_slabs (queue);
  g_free (queue);
}

static void
add_slab (EngQueue *queue)
{
  Slab *slab = g_new (Slab, 1);
  slab->next = queue->slabs;
  queue->slabs = slab;
  for (unsigned i = 0; i < BLOCKS_PER_SLAB; i++) {
    slab->blocks[i].next = queue->spare;
    queue->spare = &slab->blocks[i];
  }
}

static Block *
take_block (EngQueue *queue)
{
  if (queue->spare == NULL)
    add_slab (queue);
  Block *block = queue->spare;
  queue->spare = block->next;
  block->next = NULL;
  return block;
}

static inline void
give_block (EngQueue *queue, Block *block)
{
  block->next = queue->spare;
  queue->spare = block;
}

/* Files an entry; queue->n is the caller's. */
static inline void
file (EngQueue *queue, EngEntry entry)
{
  uint64_t differs = entry.at ^ queue->last;
  unsigned level = differs == 0 ? 0 : highest_bit (differs) / DIGIT_BITS;
  unsigned digit = (unsigned)(entry.at >> (level * DIGIT_BITS)) & (N_DIGITS - 1u);
  Bucket *bucket = &queue->buckets[level][digit];
  if (bucket->tail == NULL) {
    bucket->head = bucket->tail = take_block (queue);
    bucket->first = bucket->end = 0;
    bucket->least = entry.at;
    queue->digits[level] |= UINT64_C (1) << digit;
    queue->levels |= UINT64_C (1) << level;
  } else if (bucket->end == BLOCK_ENTRIES) {
    bucket->tail->next = take_block (queue);
    bucket->tail = bucket->tail->next;
    bucket->end = 0;
  }
  bucket->tail->entries[bucket->end++] = entry;
  if (entry.at < bucket->least)
    bucket->least = entry.at;
}

static inline void
mark_empty (EngQueue *queue, unsigned level, unsigned digit)
{
  queue->buckets[level][digit].head = queue->buckets[level][digit].tail = NULL;
  queue->digits[level] &= ~(UINT64_C (1) << digit);
  if (queue->digits[level] == 0)
    queue->levels &= ~(UINT64_C (1) << level);
}

void
eng_queue_push (EngQueue *queue, EngEntry entry)
{
  g_assert (entry.at >= queue->last);
  file (queue, entry);
  queue->n++;
}

/* Takes the bucket apart and files again what is kept; `keep` NULL: all. The order inside it stays. */
static void
file_again (EngQueue *queue, const Bucket *bucket, bool (*keep) (const EngEntry *entry, void *user), void *user)
{
  for (Block *block = bucket->head; block != NULL;) {
    Block *next = block->next;
    uint32_t begin = block == bucket->head ? bucket->first : 0, end = next == NULL ? bucket->end : BLOCK_ENTRIES;
    for (uint32_t i = begin; i < end; i++)
      if (keep == NULL || keep (&block->entries[i], user))
        file (queue, block->entries[i]);
      else
        queue->n--;
    give_block (queue, block);
    block = next;
  }
}

/* Level 0 is empty and the queue is not: brings the least time down to level 0. */
static void
deal_out (EngQueue *queue)
{
  unsigned level = lowest_bit (queue->levels), digit = lowest_bit (queue->digits[level]);
  Bucket bucket = queue->buckets[level][digit];
  mark_empty (queue, level, digit);
  queue->last = bucket.least;
  file_again (queue, &bucket, NULL, NULL);
}

/* Takes from the first bucket of level 0, which is not empty. */
static inline EngEntry
take_first (EngQueue *queue, unsigned digit)
{
  Bucket *bucket = &queue->buckets[0][digit];
  EngEntry entry = bucket->head->entries[bucket->first++];
  queue->last = entry.at;
  queue->n--;
  if (bucket->head == bucket->tail) {
    if (bucket->first == bucket->end) {
      give_block (queue, bucket->head);
      mark_empty (queue, 0, digit);
    }
  } else if (bucket->first == BLOCK_ENTRIES) {
    Block *empty = bucket->head;
    bucket->head = empty->next;
    bucket->first = 0;
    give_block (queue, empty);
  }
  return entry;
}

bool
eng_queue_pop (EngQueue *queue, EngEntry *entry)
{
  if (queue->n == 0)
    return false;
  if (queue->digits[0] == 0)
    deal_out (queue);
  *entry = take_first (queue, lowest_bit (queue->digits[0]));
  return true;
}

bool
eng_queue_pop_at (EngQueue *queue, EngTime at, EngEntry *entry)
{
  if (queue->last != at) {
    if (eng_queue_peek (queue) != at || queue->n == 0)
      return false;
    return eng_queue_pop (queue, entry);
  }
  unsigned digit = (unsigned)at & (N_DIGITS - 1u);
  if ((queue->digits[0] >> digit & 1u) == 0)
    return false;
  *entry = take_first (queue, digit);
  return true;
}

EngTime
eng_queue_peek (EngQueue *queue)
{
  if (queue->n == 0)
    return ENG_TIME_NEVER;
  unsigned level = lowest_bit (queue->levels);
  return queue->buckets[level][lowest_bit (queue->digits[level])].least;
}

void
eng_queue_rewind (EngQueue *queue, EngTime at)
{
  g_assert (queue->n == 0);
  queue->last = at;
}

uint64_t
eng_queue_n (const EngQueue *queue)
{
  return queue->n;
}

/* Entries go to another place in the order in which they leave, so that each bucket keeps its own. */
void
eng_queue_shrink (EngQueue *queue)
{
  EngQueue *fresh = g_new0 (EngQueue, 1);
  fresh->last = queue->last;
  fresh->n = queue->n;
  for (unsigned level = 0; level < N_LEVELS; level++)
    for (unsigned digit = 0; digit < N_DIGITS; digit++) {
      const Bucket *bucket = &queue->buckets[level][digit];
      for (const Block *block = bucket->head; block != NULL; block = block->next) {
        const uint32_t begin = block == bucket->head ? bucket->first : 0;
        const uint32_t end = block->next == NULL ? bucket->end : BLOCK_ENTRIES;
        for (uint32_t i = begin; i < end; i++)
          file (fresh, block->entries[i]);
      }
    }
  free_slabs (queue);
  *queue = *fresh;
  g_free (fresh);
}

void
eng_queue_compact (EngQueue *queue, bool (*keep) (const EngEntry *entry, void *user), void *user)
{
  for (unsigned level = 0; level < N_LEVELS; level++)
    for (unsigned digit = 0; digit < N_DIGITS; digit++) {
      Bucket bucket = queue->buckets[level][digit];
      if (bucket.head == NULL)
        continue;
      mark_empty (queue, level, digit);
      file_again (queue, &bucket, keep, user);
    }
}
