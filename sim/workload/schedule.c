#include "training-private.h"

void
wrk_schedule_order (WrkSchedule schedule, guint32 stage, guint32 pp, guint32 m, WrkTurn *turns)
{
  guint32 warm_up = schedule == WRK_SCHEDULE_GPIPE ? m : MIN (m, pp - 1 - stage);
  guint32 n = 0, forward = 0, backward = 0;
  while (forward < warm_up)
    turns[n++] = (WrkTurn){ FALSE, forward++ };
  while (backward < m) {
    if (forward < m)
      turns[n++] = (WrkTurn){ FALSE, forward++ };
    turns[n++] = (WrkTurn){ TRUE, backward++ };
  }
}
