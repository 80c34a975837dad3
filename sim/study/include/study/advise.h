/* Advice: what would help a training step next, each change run by itself. */
#ifndef STUDY_ADVISE_H
#define STUDY_ADVISE_H

#include "study/question.h"
#include "training/advice.h"

typedef struct {
  const TrnChange *change;  /* borrowed */
  double step_time_s, gain; /* gain: tokens a second over those of before, less 1; NAN: it cannot run */
  char *reason;             /* owned: why it cannot; NULL: it can */
} StdAdvice;

/* Runs the question, a training step of a model that came to `before`, with each of `changes` (TrnChange *). Returned: full, of
 * StdAdvice, largest gain first, those that cannot run last; it borrows from `changes`. */
GArray *std_advise (const StdQuestion *question, const TrnResult *before, const GPtrArray *changes);

#endif
