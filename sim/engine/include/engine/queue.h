/* Event queue: a radix heap on picoseconds. Keys never go below the last popped one; equal times come out in the order they
 * were pushed. Amortised O(64) per entry, in practice two or three moves; no allocation per event once grown. */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include "engine/clock.h"

typedef struct EngQueue EngQueue;

/* 16 bytes: what fires when. `generation` lets the owner of `slot` cancel without searching. */
typedef struct {
  EngTime at;
  uint32_t slot;
  uint32_t generation;
} EngEntry;

EngQueue *eng_queue_new (void);
void eng_queue_free (EngQueue *queue);
/* `entry.at` must not be before the last popped time (assertion). */
void eng_queue_push (EngQueue *queue, EngEntry entry);
/* FALSE when empty. */
bool eng_queue_pop (EngQueue *queue, EngEntry *entry);
/* Pops the next entry if its time is `at`; FALSE if there is none of that time or an earlier one is pending. */
bool eng_queue_pop_at (EngQueue *queue, EngTime at, EngEntry *entry);
/* Time of the next entry, ENG_TIME_NEVER when empty. */
EngTime eng_queue_peek (EngQueue *queue);
uint64_t eng_queue_n (const EngQueue *queue);
/* Of an empty queue: keys may go back to `at` (what was popped meant nothing). */
void eng_queue_rewind (EngQueue *queue, EngTime at);
/* Gives back the memory that no entry needs. */
void eng_queue_shrink (EngQueue *queue);
/* Drops entries for which keep() is false; for owners whose cancelled entries outgrow the live ones. */
void eng_queue_compact (EngQueue *queue, bool (*keep) (const EngEntry *entry, void *user), void *user);

#endif
