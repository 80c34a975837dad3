/* Runs through failures: keys, and one run. */
#ifndef GOODPUT_GOODPUT_PRIVATE_H
#define GOODPUT_GOODPUT_PRIVATE_H

#include "base/random.h"
#include "goodput/goodput.h"

/* What one run needs to know. All of it is shared by runs. */
typedef struct {
  const GdpCause *cause;
  unsigned n_causes;
  double step_s;
  MdlCheckpoint checkpoint; /* every_steps above 0 */
  double restart_s;         /* communicators included */
  double spares;            /* may be infinite */
  double horizon_s;         /* may be infinite, where target_s is not */
  double target_s;          /* of useful work; may be infinite */
  GdpElastic elastic;
  GArray *timeline; /* GdpSpan, appended to; NULL: none */
} GdpRunPlan;

typedef struct {
  double wall_s, useful_s;
  double lost_s[GDP_LOST_N]; /* with useful_s they sum to wall_s */
  double stops;              /* failures that stopped the job, those during a recovery included */
  double fewer_s;            /* of wall_s: with fewer replicas */
  gboolean finished;         /* horizon or target was reached; FALSE: given up after very many failures */
} GdpRunOutcome;

/* What a cause did: how often it happened, and the time that went because of it. */
typedef struct {
  double count, lost_s;
} GdpTally;

/* A run by events. `random`: of this run. tally (n_causes of them, may be NULL): added to what is there; all lost time but that of
 * the checkpoints that are taken anyway is some cause's, of a recovery that is broken off each part its own's. */
void gdp_run (const GdpRunPlan *plan, BaseRandom random, GdpTally *tally, GdpRunOutcome *out);

/* The runs of a goodput that was answered and has been changed since: their mean goodput, and s of a run for a step's work. A run
 * that does not get on gives 0 and infinity. */
void gdp_again (const Gdp *changed, guint64 seed, double *goodput, double *time_s);

#endif
