/* Runs through failures: keys, and one run. */
#ifndef WORKLOAD_GOODPUT_PRIVATE_H
#define WORKLOAD_GOODPUT_PRIVATE_H

#include "base/random.h"
#include "workload/goodput.h"

extern const BaseSchema wrk_schema_failures, wrk_schema_checkpoint;

/* The closed form of a job of this size: terms of its failures and checkpoints. Rows that slow a job need `slowdown`. *source
 * becomes the weakest of what the rates rest on, where they are weaker. */
void wrk_goodput_closed (const WrkFailuresSpec *spec, const MdlJobSize *size, const MdlCheckpoint *checkpoint,
                         MdlGoodputTerms *terms, BaseSource *source);

/* What one run needs to know. All of it is shared by runs. */
typedef struct {
  const WrkCause *cause;
  unsigned n_causes;
  double step_s;
  MdlCheckpoint checkpoint; /* every_steps above 0 */
  double restart_s;         /* communicators included */
  double spares;            /* may be infinite */
  double horizon_s;         /* may be infinite, where target_s is not */
  double target_s;          /* of useful work; may be infinite */
} WrkRunPlan;

typedef struct {
  double wall_s, useful_s;
  double lost_s[WRK_LOST_N]; /* with useful_s they sum to wall_s */
  double stops;              /* failures that stopped the job, those during a recovery included */
  gboolean finished;         /* horizon or target was reached; FALSE: given up after very many failures */
} WrkRunOutcome;

/* What a cause did: how often it happened, and the time that went because of it. */
typedef struct {
  double count, lost_s;
} WrkTally;

/* A run by events. `random`: of this run. tally (n_causes of them, may be NULL): added to what is there; all lost time but that of
 * the checkpoints that are taken anyway is some cause's, of a recovery that is broken off each part its own's. */
void wrk_goodput_run (const WrkRunPlan *plan, BaseRandom random, WrkTally *tally, WrkRunOutcome *out);

/* The runs of a goodput that was answered and has been changed since: their mean goodput, and s of a run for a step's work. A run
 * that does not get on gives 0 and infinity. */
void wrk_goodput_again (const WrkGoodput *changed, guint64 seed, double *goodput, double *time_s);

#endif
