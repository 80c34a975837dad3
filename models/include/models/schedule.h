/* Pipeline schedules, as they are named and told about. */
#ifndef MODELS_SCHEDULE_H
#define MODELS_SCHEDULE_H

#include "base/schema.h"

G_BEGIN_DECLS

typedef enum {
  MDL_SCHEDULE_GPIPE,
  MDL_SCHEDULE_1F1B,
  MDL_SCHEDULE_INTERLEAVED,
  MDL_SCHEDULE_ZB_H1,
  MDL_SCHEDULE_ZB_V,
  MDL_SCHEDULE_DUALPIPE,
  MDL_SCHEDULE_DUALPIPE_V,
  MDL_SCHEDULE_N
} MdlSchedule;
extern const BaseName mdl_schedule_names[];

/* Closed forms in the symbols of `list schedules`. */
typedef struct {
  const char *bubble;    /* s a rank computes nothing in a step, of even stages and free sends */
  const char *in_flight; /* most chunk activations of a rank */
  const char *source;    /* paper and section, or repository file */
} MdlScheduleFacts;
const MdlScheduleFacts *mdl_schedule_facts (MdlSchedule schedule);

G_END_DECLS

#endif
