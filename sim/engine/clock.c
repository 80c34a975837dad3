/* Seconds to picoseconds and back. */
#include "engine/clock.h"

#include <math.h>

EngTime
eng_time_from_s (double time_s)
{
  double time_ps = round (time_s * ENG_PS_PER_S);
  if (!(time_ps > 0.0))
    return 0;
  /* 2^64: the first double that does not fit; every smaller one does */
  if (time_ps >= 0x1p64)
    return ENG_TIME_NEVER;
  return (EngTime)time_ps;
}

double
eng_time_to_s (EngTime time_ps)
{
  return (double)time_ps / ENG_PS_PER_S;
}

EngTime
eng_time_add (EngTime a, EngTime b)
{
  return a > ENG_TIME_NEVER - b ? ENG_TIME_NEVER : a + b;
}
