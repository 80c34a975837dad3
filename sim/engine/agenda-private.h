/* What fires when: timers and the ends of flows, in one queue. */
#ifndef ENGINE_AGENDA_PRIVATE_H
#define ENGINE_AGENDA_PRIVATE_H

#include "engine/engine.h"
#include "engine/queue.h"

/* Entries of the queue name a timer, or a flow when this bit of the slot is set. */
#define ENG_SLOT_FLOW (UINT32_C (1) << 31)
#define ENG_NO_SLOT   UINT32_MAX

typedef struct {
  EngFn fn;
  void *user;
  uint64_t arg;
  uint32_t generation; /* moves on when the timer fires or is cancelled */
  uint32_t next_free;
} EngTimerSlot;

typedef struct {
  EngQueue *queue;
  EngTimerSlot *timers;
  uint32_t n, n_allocated, free_timer;
  uint64_t n_dead; /* entries of the queue that will not fire */
  bool held_out;   /* some entries are out of the queue and will fire yet */
} EngAgenda;

void eng_agenda_init (EngAgenda *agenda);
void eng_agenda_clear (EngAgenda *agenda);
/* Drops what will not fire. */
void eng_agenda_compact (Eng *eng);

static inline void
eng_agenda_give_timer (EngAgenda *agenda, uint32_t slot)
{
  EngTimerSlot *timer = &agenda->timers[slot];
  if (++timer->generation == 0)
    timer->generation = 1; /* so that no handle is 0 */
  timer->next_free = agenda->free_timer;
  agenda->free_timer = slot;
}

#endif
