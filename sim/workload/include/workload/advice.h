/* Changes of a training scenario that could make its step quicker, or that show what it hangs on: each to be tried by running the
 * scenario with it. */
#ifndef WORKLOAD_ADVICE_H
#define WORKLOAD_ADVICE_H

#include "workload/training.h"

G_BEGIN_DECLS

typedef enum {
  WRK_CHANGE_HARDWARE,    /* another machine */
  WRK_CHANGE_SOFTWARE,    /* another way to run the same training */
  WRK_CHANGE_SENSITIVITY, /* what the answer hangs on: it would be so if … */
  WRK_CHANGE_KINDS
} WrkChangeKind;
extern const char *const wrk_change_kind_names[WRK_CHANGE_KINDS];

typedef struct {
  WrkChangeKind kind;
  char *what;               /* "tp 8 -> 4" */
  GPtrArray *sets;          /* char *: "path=value", as of --set, to follow those of the scenario */
  gboolean no_interference; /* an option beside them */
} WrkChange;

/* Of a scenario with a training step of a model that can be planned; empty for others. Not all of them can run. Returned: full,
 * of WrkChange *. */
GPtrArray *wrk_advice_changes (const WrkTrainingJob *job);

G_END_DECLS

#endif
