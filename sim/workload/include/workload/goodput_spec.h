/* Keys of a training workload about long runs: `failures`; `checkpoint` beside it is in workload/checkpoint.h. */
#ifndef WORKLOAD_GOODPUT_SPEC_H
#define WORKLOAD_GOODPUT_SPEC_H

#include "base/schema.h"

G_BEGIN_DECLS

typedef struct {
  BaseHead head;
  BaseRef rates;  /* MdlFailureRates */
  BaseList also;  /* MdlFailureRow, beside those of `rates` */
  BaseBool slow_parts; /* whether those of `rates` that slow the job count */
  BaseNum factor; /* on all rates of `rates` */
  BaseNum spares;
  BaseNum detect, repair, restart; /* s */
  BaseNum days, steps, tokens;     /* how long: one of them */
  BaseNum step_time;               /* s, in place of the simulated one */
  BaseNum seeds;
} WrkFailuresSpec;

G_END_DECLS

#endif
