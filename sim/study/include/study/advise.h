/* Advice: what would help a training step next, each change run by itself. */
#ifndef STUDY_ADVISE_H
#define STUDY_ADVISE_H

#include "study/question.h"
#include "training/advice.h"

typedef struct {
  const TrnChange *change; /* borrowed */
  double gain;             /* of `measure`, over that of before, less 1; NAN: it cannot run */
  const char *measure;     /* "tokens/s"; static */
  char *reason;            /* owned: why it cannot; NULL: it can */
  double step_time_s;      /* of a training step; NAN else */
  gboolean serving;        /* the next are known */
  double ttft_s, tpot_s;   /* medians */
  double tokens_per_s_gpu, gpus;
} StdAdvice;

/* Runs the question, a training step of a model or a serving scenario that came to `before`, with each of `changes` (TrnChange *).
 * Serving gains goodput a GPU where there are limits, output tokens/s a GPU in a closed loop, and else speed of a request (1 /
 * E2E). Returned: full, of StdAdvice, largest gain first, those that cannot run last; it borrows from `changes`. */
GArray *std_advise (const StdQuestion *question, const ScnResult *before, const GPtrArray *changes);

#endif
