/* The engine's time: unsigned 64-bit picoseconds (213 days), overflow checked. */
#ifndef ENGINE_CLOCK_H
#define ENGINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t EngTime;

#define ENG_TIME_NEVER UINT64_MAX
#define ENG_PS_PER_S 1e12

/* Seconds to picoseconds, to nearest. Negative or NaN gives 0, beyond the range ENG_TIME_NEVER. */
EngTime eng_time_from_s (double time_s);
double eng_time_to_s (EngTime time_ps);
/* a + b, ENG_TIME_NEVER on overflow. */
EngTime eng_time_add (EngTime a, EngTime b);

#endif
