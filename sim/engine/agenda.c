/* Timers and entries of flows. A cancelled entry stays in the queue, dead, until it is reached or the dead are too many. */
#include "engine-private.h"

/* Below this many dead entries the queue is not worth going through. */
#define COMPACT_AT 1024

void
eng_agenda_init (EngAgenda *agenda)
{
  agenda->queue = eng_queue_new ();
  agenda->free_timer = ENG_NO_SLOT;
}

void
eng_agenda_clear (EngAgenda *agenda)
{
  g_free (agenda->timers);
  eng_queue_free (agenda->queue);
}

static uint32_t
take_timer (EngAgenda *agenda)
{
  if (agenda->free_timer != ENG_NO_SLOT) {
    uint32_t slot = agenda->free_timer;
    agenda->free_timer = agenda->timers[slot].next_free;
    return slot;
  }
  if (agenda->n == agenda->n_allocated) {
    g_assert (agenda->n_allocated < ENG_SLOT_FLOW / 2);
    agenda->n_allocated = agenda->n_allocated == 0 ? 64 : 2 * agenda->n_allocated;
    agenda->timers = g_renew (EngTimerSlot, agenda->timers, agenda->n_allocated);
  }
  agenda->timers[agenda->n].generation = 1;
  return agenda->n++;
}

EngTimer
eng_at (Eng *eng, EngTime at, EngFn fn, void *user, uint64_t arg)
{
  g_assert (fn != NULL && at >= eng->now);
  uint32_t slot = take_timer (&eng->agenda);
  EngTimerSlot *timer = &eng->agenda.timers[slot];
  timer->fn = fn;
  timer->user = user;
  timer->arg = arg;
  eng_queue_push (eng->agenda.queue, (EngEntry){ .at = at, .slot = slot, .generation = timer->generation });
  return (EngTimer)timer->generation << 32 | slot;
}

void
eng_agenda_compact (Eng *eng)
{
  eng_queue_compact (eng->agenda.queue, eng_entry_is_live, eng);
  eng->agenda.n_dead = 0;
}

/* One entry of the queue has become dead. */
static void
count_dead (Eng *eng)
{
  eng->agenda.n_dead++;
  if (!eng->agenda.held_out && eng->agenda.n_dead >= COMPACT_AT && 3 * eng->agenda.n_dead > eng_queue_n (eng->agenda.queue))
    eng_agenda_compact (eng);
}

bool
eng_cancel (Eng *eng, EngTimer timer)
{
  uint32_t slot = (uint32_t)timer, generation = (uint32_t)(timer >> 32);
  if (generation == 0 || slot >= eng->agenda.n || eng->agenda.timers[slot].generation != generation)
    return false;
  eng_agenda_give_timer (&eng->agenda, slot);
  count_dead (eng);
  return true;
}

void
eng_push_flow (Eng *eng, EngTime at, uint32_t flow)
{
  eng_queue_push (eng->agenda.queue,
                  (EngEntry){ .at = at, .slot = flow | ENG_SLOT_FLOW, .generation = eng->net.flows.stamp[flow] });
}

void
eng_drop_flow_entry (Eng *eng, uint32_t flow)
{
  eng->net.flows.stamp[flow]++;
  count_dead (eng);
}
