/* Pipeline schedules, as they are named and told about. */
#ifndef WORKLOAD_SCHEDULE_H
#define WORKLOAD_SCHEDULE_H

#include "base/schema.h"

G_BEGIN_DECLS

typedef enum {
  WRK_SCHEDULE_GPIPE,
  WRK_SCHEDULE_1F1B,
  WRK_SCHEDULE_INTERLEAVED,
  WRK_SCHEDULE_ZB_H1,
  WRK_SCHEDULE_ZB_V,
  WRK_SCHEDULE_DUALPIPE,
  WRK_SCHEDULE_DUALPIPE_V,
  WRK_SCHEDULE_N
} WrkSchedule;
extern const BaseName wrk_schedule_names[];

/* Closed forms in the symbols of `list schedules`. */
typedef struct {
  const char *bubble;    /* s a rank computes nothing in a step, of even stages and free sends */
  const char *in_flight; /* most chunk activations of a rank */
  const char *source;    /* paper and section, or repository file */
} WrkScheduleFacts;
const WrkScheduleFacts *wrk_schedule_facts (WrkSchedule schedule);

G_END_DECLS

#endif
