/* The clock and its loop: timers, and the order of things inside one picosecond. */
#include "engine/engine.h"

#include "base/error.h"
#include "engine-private.h"

#include <inttypes.h>

/* An instant of this many events is a loop: the largest honest one known, a million flows with a callback each, has 10^6. */
#define INSTANT_LIMIT UINT64_C (100000000)
Eng *
eng_new (void)
{
  Eng *eng = g_new0 (Eng, 1);
  eng_agenda_init (&eng->agenda);
  eng->instant_limit = INSTANT_LIMIT;
  eng->ties.batch = g_array_new (FALSE, FALSE, sizeof (EngEntry));
  eng_net_init (&eng->net);
  return eng;
}

void
eng_free (Eng *eng)
{
  if (eng == NULL)
    return;
  eng_net_clear (&eng->net);
  g_array_unref (eng->ties.batch);
  eng_agenda_clear (&eng->agenda);
  g_free (eng);
}

EngTime
eng_now (const Eng *eng)
{
  return eng->now;
}

EngStats
eng_stats (const Eng *eng)
{
  return eng->stats;
}

void
eng_set_tie_shuffle (Eng *eng, uint64_t seed)
{
  eng->ties.shuffle = seed != 0;
  eng->ties.random = base_random_stream (seed, "ties");
}

void
eng_set_instant_limit (Eng *eng, uint64_t n_events)
{
  eng->instant_limit = n_events == 0 ? INSTANT_LIMIT : n_events;
}

/* Runs one entry; dead ones cost nothing and count for nothing. */
static inline void
fire (Eng *eng, EngEntry entry)
{
  if (!eng_entry_is_live (&entry, eng)) {
    eng->agenda.n_dead--;
    return;
  }
  eng->stats.events++;
  eng->instant_events++;
  if ((entry.slot & ENG_SLOT_FLOW) != 0) {
    eng_net_fire (eng, entry.slot & ~ENG_SLOT_FLOW);
    return;
  }
  EngTimerSlot timer = eng->agenda.timers[entry.slot];
  eng_agenda_give_timer (&eng->agenda, entry.slot);
  timer.fn (eng, timer.user, timer.arg);
}

/* Debugging: `entry` and all else that is pending at this instant, in an order of the seed's choice. */
static void
fire_shuffled (Eng *eng, EngEntry entry)
{
  GArray *batch = eng->ties.batch;
  g_array_set_size (batch, 0);
  g_array_append_val (batch, entry);
  while (eng_queue_pop_at (eng->agenda.queue, eng->now, &entry))
    g_array_append_val (batch, entry);
  EngEntry *entries = (EngEntry *)(void *)batch->data;
  for (guint i = batch->len; i > 1; i--) {
    guint j = base_random_below (&eng->ties.random, i);
    entry = entries[i - 1];
    entries[i - 1] = entries[j];
    entries[j] = entry;
  }
  eng->agenda.held_out = true; /* a compaction would not see what is out of the queue, and lose count of the dead */
  for (guint i = 0; i < batch->len; i++)
    fire (eng, g_array_index (batch, EngEntry, i));
  eng->agenda.held_out = false;
}

static gboolean
report_loop (const Eng *eng, uint64_t n_run, uint64_t max_events, GError **error)
{
  if (eng->instant_events > eng->instant_limit)
    g_set_error (error, BASE_ERROR, BASE_ERROR_RUN,
                 "at %.12g s: %" PRIu64 " events ran without the clock moving; something starts itself again without taking time",
                 eng_time_to_s (eng->now), eng->instant_events);
  else
    g_set_error (error, BASE_ERROR, BASE_ERROR_RUN, "at %.12g s: stopped after %" PRIu64 " events, the limit is %" PRIu64,
                 eng_time_to_s (eng->now), n_run, max_events);
  return FALSE;
}

/* `entry` and all other events of this instant, solving in between as often as a solve makes new ones. */
static gboolean
run_instant (Eng *eng, EngEntry entry, bool have_entry, EngTime until, uint64_t began, uint64_t max_events, GError **error)
{
  for (;;) {
    while (have_entry || eng_queue_pop_at (eng->agenda.queue, eng->now, &entry)) {
      have_entry = false;
      if (eng->ties.shuffle)
        fire_shuffled (eng, entry);
      else
        fire (eng, entry);
      bool passed = eng->instant_events > eng->instant_limit;
      if (max_events != 0 && eng->stats.events - began >= max_events) {
        eng_agenda_compact (eng); /* only what will fire counts as left to do */
        passed = passed || (eng_queue_n (eng->agenda.queue) > 0 && eng_queue_peek (eng->agenda.queue) <= until);
      }
      if (passed)
        return report_loop (eng, eng->stats.events - began, max_events, error);
    }
    if (eng->net.links.dirty.n == 0)
      return TRUE;
    eng_net_solve (eng);
  }
}

gboolean
eng_fail_beyond_clock (const Eng *eng, GError **error)
{
  g_set_error (error, BASE_ERROR, BASE_ERROR_RUN,
               "at %.12g s: what remains lies beyond the range of the clock, 2^64 ps (213 days)", eng_time_to_s (eng->now));
  return FALSE;
}

/* The queue has run dry: has all that was started come to its end? */
static gboolean
check_drained (const Eng *eng, bool beyond_clock, GError **error)
{
  EngLink link = 0;
  uint64_t n_stuck = eng_net_n_stuck (&eng->net, &link);
  if (n_stuck > 0)
    g_set_error (error, BASE_ERROR, BASE_ERROR_RUN, "at %.12g s: %" PRIu64 " activit%s cannot move: no capacity on link %" PRIu32,
                 eng_time_to_s (eng->now), n_stuck, n_stuck == 1 ? "y" : "ies", link);
  else if (beyond_clock)
    eng_fail_beyond_clock (eng, error);
  return n_stuck == 0 && !beyond_clock;
}

/* The next entry that will fire, if its time is at most `until`. Dead ones are dropped on the way and do not move the clock. */
static bool
pop_live (Eng *eng, EngTime until, EngEntry *entry)
{
  EngTime next;
  while ((next = eng_queue_peek (eng->agenda.queue)) <= until && next != ENG_TIME_NEVER) {
    eng_queue_pop (eng->agenda.queue, entry);
    if (eng_entry_is_live (entry, eng))
      return true;
    eng->agenda.n_dead--;
  }
  return false;
}

static gboolean
run_until (Eng *eng, EngTime until, uint64_t max_events, GError **error)
{
  uint64_t began = eng->stats.events;
  EngEntry entry = { 0 };
  bool have_entry = false;
  for (;;) {
    if (!run_instant (eng, entry, have_entry, until, began, max_events, error))
      return FALSE;
    have_entry = pop_live (eng, until, &entry);
    if (!have_entry)
      break;
    eng->now = entry.at;
    eng->instant_events = 0;
  }
  bool drained = eng_queue_n (eng->agenda.queue) == eng->agenda.n_dead;
  if (drained) {
    eng_agenda_compact (eng);
    eng_queue_rewind (eng->agenda.queue, eng->now);
  }
  if (until == ENG_TIME_NEVER)
    return check_drained (eng, !drained, error);
  if (until > eng->now && !(drained && eng->net.flows.n_moving == 0)) {
    eng->now = until;
    eng->instant_events = 0;
  }
  return TRUE;
}

EngTime
eng_next (Eng *eng)
{
  return eng_queue_peek (eng->agenda.queue);
}

gboolean
eng_run (Eng *eng, EngTime until, uint64_t max_events, GError **error)
{
  g_assert (!eng->running);
  eng->running = true;
  gboolean ok = run_until (eng, until, max_events, error);
  eng->running = false;
  return ok;
}
