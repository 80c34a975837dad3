/* What failures and checkpoints leave of a long training run: a step's time, repeated over days, by events. */
#ifndef WORKLOAD_GOODPUT_H
#define WORKLOAD_GOODPUT_H

#include "models/failure.h"
#include "workload/scenario.h"

G_BEGIN_DECLS

/* Where the time of a run goes that is not useful; the rest of it is. */
typedef enum {
  WRK_LOST_RECOMPUTE,  /* work done again, since the last checkpoint that could be restored */
  WRK_LOST_CHECKPOINT, /* standing still for checkpoints */
  WRK_LOST_DETECT,     /* from a failure until somebody notices */
  WRK_LOST_SPARE,      /* waiting for a node to be repaired where no spare is left */
  WRK_LOST_RESTART,    /* scheduling, starting processes, communicators, warming up */
  WRK_LOST_RESTORE,    /* reading the checkpoint */
  WRK_LOST_SLOW,       /* what slow parts make the steps longer */
  WRK_LOST_N
} WrkLost;
extern const char *const wrk_lost_names[WRK_LOST_N]; /* "recompute" … */

/* Mean over all runs, and the band that 95 % of the runs are in. */
typedef struct {
  double mean, lo, hi;
} WrkBand;

/* A kind of failure in this job. Texts are borrowed from the scenario. */
typedef struct {
  const char *name, *note;
  MdlUnit of;
  MdlEffect effect;
  BaseSource source;
  double units;      /* of the job */
  double rate_per_s; /* of all of them */
  double shape;
  double nodes; /* out of service by one */
  double detect_s, repair_s, slowdown, lasts_s;
  double count;  /* result: of a run, in the mean */
  double lost_s; /* likewise: time that went because of it, all of `lost_s` but checkpoints that are taken anyway */
} WrkCause;

/* One interval between checkpoints. */
typedef struct {
  double every_steps, interval_s; /* s of work */
  WrkBand goodput;
  double closed;             /* the closed form */
  double lost_s[WRK_LOST_N]; /* of a run, in the mean */
} WrkInterval;

typedef struct {
  const char *rates, *summary; /* borrowed from the scenario */
  GArray *causes;              /* WrkCause */
  MdlJobSize size;
  double step_s;
  gboolean step_given;
  MdlCheckpoint checkpoint;   /* as it ran */
  gboolean searched;          /* every_steps was left to the search */
  gboolean on_nodes;          /* checkpoints are on the nodes' drives alone: a node that is out of service has its part of them */
  double restart_s, create_s; /* of a restart; communicators, on top of it */
  double spares;              /* infinite: always enough */
  double mttf_s;              /* between failures that stop the job; infinite: none */
  unsigned runs;
  double horizon_s;               /* the run's length; infinite: until steps are done */
  double steps, tokens;           /* to do; NAN: as many as fit; tokens NAN without a model */
  WrkBand goodput, stops, wall_s; /* wall_s: of a run until its steps are done, or its length */
  WrkBand steps_done;
  double stops_lo, stops_hi;             /* Poisson's band of the stops over the mean run */
  double lost_s[WRK_LOST_N];             /* of a run, in the mean; with goodput.mean x wall_s.mean they sum to wall_s.mean */
  MdlGoodputTerms terms;                 /* of the closed form */
  double closed;                         /* goodput by it */
  double best_closed_s, young_s, daly_s; /* s of work between checkpoints, by closed forms; infinite: no failures */
  WrkInterval best;                      /* of the curve */
  double flat_from, flat_to;             /* steps: around the best, what is no more than a tenth of a point below it */
  GArray *curve;                         /* WrkInterval, rising; the run's own one is among them */
  BaseSource provenance;
} WrkGoodput;

/* Whether it describes any. */
gboolean wrk_scenario_has_failures (const WrkScenario *scenario);

/* A slow part: the scenario run with `set` as well tells what it does to a step. */
typedef struct {
  char *set;       /* owned: "path=value", as of --set */
  gboolean given;  /* the rates say what it does where it is not run */
  double slowdown; /* to be filled: its step over a healthy one; before that as given, or 1 */
} WrkSlowPart;

/* Of a scenario with failures; empty for others. Returned: full, of WrkSlowPart. */
GArray *wrk_scenario_slow_parts (const WrkScenario *scenario);

/* Follows `result`'s step over the days that the scenario's `failures` and `checkpoint` describe. `slow_parts`: as
 * wrk_scenario_slow_parts gave them, filled; NULL where there are none. Returned: full, free before the scenario; NULL
 * and *error (BASE_ERROR_INPUT: no failures in it, an interval longer than the run, no progress) on failure. */
WrkGoodput *wrk_scenario_goodput (const WrkScenario *scenario, const WrkResult *result, const GArray *slow_parts, GError **error);
void wrk_goodput_free (WrkGoodput *goodput);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkGoodput, wrk_goodput_free)

/* One thing that a run hangs on, at two ends. */
typedef struct {
  const char *name; /* static */
  BaseDim dim;
  double value;      /* SI; of several kinds their mean by how often they happen; infinite spares: always at hand */
  double end[2];     /* likewise, with less and with more of it */
  double goodput[2]; /* mean of the runs, 0 to 1 */
  double time_s[2];  /* of a run, for the work of one healthy step; infinite: it does not get on */
} WrkGoodputHang;

/* What `goodput` hangs on: rates, detection, recovery, checkpoints, spares, slow parts, the step; each halved and doubled, but a
 * simulated step: times step_lo and step_hi, the ends of its band, where it has one. *time_s: as it is. On all cores; the same seed
 * gives the same answer. Returned: full, of WrkGoodputHang, in the order of a table of its own. */
GArray *wrk_goodput_hangs (const WrkGoodput *goodput, double step_lo, double step_hi, guint64 seed, double *time_s);

/* The keys of a file of rates (calibrate/defaults/failures), and its further rules: errors to the context's diag. */
extern const BaseSchema wrk_schema_failure_rates;
void wrk_failure_rates_check (const MdlFailureRates *rates, BaseDiag *diag);

G_END_DECLS

#endif
