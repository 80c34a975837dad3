/* Pipeline schedules: their names, closed forms and properties. */
#ifndef MODELS_SCHEDULE_H
#define MODELS_SCHEDULE_H

#include "base/schema.h"

/* Schedules, one row each: code, name, what it is. The row makes MDL_SCHEDULE_CODE, its name in YAML and lists, and the place in
 * the table of mdl_schedule_NAME, which stands in models/schedules with its order. */
#define MDL_SCHEDULE_ROWS(ROW)                                                                 \
  ROW (GPIPE, gpipe, "all forwards, then all backwards")                                       \
  ROW (1F1B, 1f1b, "one forward, one backward")                                                \
  ROW (INTERLEAVED, interleaved, "one forward, one backward over `vp` chunks of each rank")    \
  ROW (ZB_H1, zb_h1, "1f1b whose weight gradients fill gaps")                                  \
  ROW (ZB_V, zb_v, "two chunks a rank, down the ranks and back; weight gradients fill gaps")   \
  ROW (DUALPIPE, dualpipe, "from both ends, two copies of the model; forward beside backward") \
  ROW (DUALPIPE_V, dualpipe_v, "dualpipe cut in half: two chunks a rank, down and back, one copy")

#define MDL_SCHEDULE_ENUM_(code, name, help) MDL_SCHEDULE_##code,
typedef enum { MDL_SCHEDULE_ROWS (MDL_SCHEDULE_ENUM_) MDL_SCHEDULE_N } MdlSchedule;
extern const BaseName mdl_schedule_names[];

typedef struct {
  /* closed forms in the symbols of `list schedules` */
  const char *bubble;       /* s a rank computes nothing in a step, of even stages and free sends */
  const char *in_flight;    /* most chunk activations of a rank */
  const char *source;       /* paper and section, or repository file */
  gboolean grows_with_m;    /* a rank's activations grow with the micro-batches without limit: never advised to save memory */
  gboolean splits_backward; /* gradients of inputs and of weights are turns of their own */
  gboolean pairs;           /* a forward runs beside a backward */
  gboolean loops;           /* PyTorch runs it by a loop of its own, not from lists of passes, sends and receives: a framework's
                               single stream of sends (`queues_sends`) never applies. TRUE for what PyTorch does not have */
  gboolean never_joins;     /* PyTorch runs the two gradients as two passes even where one follows the other at once: the GPU's
                               gap between kernels counts twice */
} MdlScheduleFacts;
const MdlScheduleFacts *mdl_schedule_facts (MdlSchedule schedule);

/* What a row of the table lacks, in a sentence (full); NULL: nothing. Part of mdl_self_check. */
char *mdl_schedules_fault (void);

#endif
