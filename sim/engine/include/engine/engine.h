/* The engine: a clock, timers, and the flow network. Knows no GPU and no YAML.
 * Order: all events of one picosecond run in the order they were scheduled; then the flow network is solved once for that
 * instant; then the clock moves. Same calls, same results, on every machine. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <glib.h>

#include "engine/clock.h"

typedef struct Eng Eng;
typedef void (*EngFn) (Eng *eng, void *user, uint64_t arg);
typedef uint64_t EngTimer; /* slot and generation; 0 is no timer */

Eng *eng_new (void);
void eng_free (Eng *eng);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Eng, eng_free)

EngTime eng_now (const Eng *eng);
/* Calls fn (eng, user, arg) at `at` (>= now). */
EngTimer eng_at (Eng *eng, EngTime at, EngFn fn, void *user, uint64_t arg);
/* FALSE if it has fired or was cancelled (also while its own callback runs). */
bool eng_cancel (Eng *eng, EngTimer timer);

typedef struct {
  uint64_t events;   /* timers and flow ends run */
  uint64_t solves;   /* instants in which rates were solved */
  uint64_t parts;    /* of these, from the lowest level that could change */
  uint64_t solved;   /* flows whose rate was solved, summed over solves */
  uint64_t flows;    /* flows started */
} EngStats;

/* Runs until nothing is left or `until` is passed (ENG_TIME_NEVER: to the end). Events at `until` run; if anything is left then,
 * the clock stands at `until`, else at the last event. eng_run (eng, eng_now (eng), 0, error) settles the present instant.
 * FALSE and *error (BASE_ERROR_RUN) when an instant never ends (more than 10^8 events without the clock moving), when max_events
 * is passed (0: no limit), or, with no `until`, when flows remain that cannot move (a link of zero capacity) or events beyond the
 * clock's range: the message names the time and the count. Not from inside a callback. */
gboolean eng_run (Eng *eng, EngTime until, uint64_t max_events, GError **error);
EngStats eng_stats (const Eng *eng);
/* Time of the next event, for who drives it from outside: not later than it, and ENG_TIME_NEVER where nothing is left. */
EngTime eng_next (Eng *eng);

/* Debugging: events of one picosecond run in an order drawn from `seed` instead of the order of scheduling (0: back to that).
 * A result that moves hides a dependence on the order of ties; those of the flow network do not move. */
void eng_set_tie_shuffle (Eng *eng, uint64_t seed);
/* After how many events without the clock moving eng_run() gives up; 0 for the default, 10^8. */
void eng_set_instant_limit (Eng *eng, uint64_t n_events);

#endif
