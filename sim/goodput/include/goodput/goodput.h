/* What failures and checkpoints leave of a long training run: a step's time, repeated over days, by events. */
#ifndef GOODPUT_GOODPUT_H
#define GOODPUT_GOODPUT_H

#include "models/failure.h"
#include "scenario/scenario.h"

/* Where the time of a run goes that is not useful; the rest of it is. */
typedef enum {
  GDP_LOST_RECOMPUTE,  /* work done again, since the last checkpoint that could be restored */
  GDP_LOST_CHECKPOINT, /* standing still for checkpoints */
  GDP_LOST_DETECT,     /* from a failure until somebody notices */
  GDP_LOST_SPARE,      /* waiting for a node to be repaired where no spare is left */
  GDP_LOST_RESTART,    /* scheduling, starting processes, communicators, warming up */
  GDP_LOST_RESTORE,    /* reading the checkpoint */
  GDP_LOST_SLOW,       /* what slow parts make the steps longer */
  GDP_LOST_N
} GdpLost;
extern const char *const gdp_lost_names[GDP_LOST_N]; /* "recompute" … */

/* Mean over all runs, and the band that 95 % of the runs are in. */
typedef struct {
  double mean, lo, hi;
} GdpBand;

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
} GdpCause;

/* A job that goes on with the replicas that are left; replicas 0: it does not. */
typedef struct {
  double replicas, minimum;
  double per_node; /* replicas that are lost with a node */
  double reform_s;
  gboolean peers; /* they hold the state: no work is lost */
} GdpElastic;

/* One interval between checkpoints. */
typedef struct {
  double every_steps, interval_s; /* s of work */
  GdpBand goodput;
  double closed;             /* the closed form */
  double lost_s[GDP_LOST_N]; /* of a run, in the mean */
} GdpInterval;

/* What one run did from start_s to end_s. */
typedef struct {
  const char *what;   /* static: "train", "recompute" … as gdp_lost_names */
  const char *cause;  /* of the failure that it is because of; NULL: none. Borrowed from the goodput */
  double replicas;    /* of an elastic job, that are left; 0: all */
  double checkpoints; /* that were taken meanwhile */
  double start_s, end_s;
} GdpSpan;

typedef struct {
  const char *rates, *summary; /* borrowed from the scenario */
  GArray *causes;              /* GdpCause */
  MdlJobSize size;
  double step_s;
  gboolean step_given;
  MdlCheckpoint checkpoint;   /* as it ran */
  gboolean searched;          /* every_steps was left to the search */
  gboolean on_nodes;          /* checkpoints are on the nodes' drives alone: a node that is out of service has its part of them */
  double restart_s, create_s; /* of a restart; communicators, on top of it */
  double spares;              /* infinite: always enough */
  double mttf_s;              /* between failures that stop the job; infinite: none */
  GdpElastic elastic;
  GdpBand restarting; /* goodput of the same runs if all restarted; of an elastic job */
  double fewer_s;     /* of an elastic run, in the mean: that it had fewer replicas */
  unsigned runs;
  double horizon_s;               /* the run's length; infinite: until steps are done */
  double steps, tokens;           /* to do; NAN: as many as fit; tokens NAN without a model */
  GdpBand goodput, stops, wall_s; /* wall_s: of a run until its steps are done, or its length */
  GdpBand steps_done;
  double stops_lo, stops_hi;             /* Poisson's band of the stops over the mean run */
  double lost_s[GDP_LOST_N];             /* of a run, in the mean; with goodput.mean x wall_s.mean they sum to wall_s.mean */
  MdlGoodputTerms terms;                 /* of the closed form */
  double closed;                         /* goodput by it */
  double best_closed_s, young_s, daly_s; /* s of work between checkpoints, by closed forms; infinite: no failures */
  GdpInterval best;                      /* of the curve */
  double flat_from, flat_to;             /* steps: around the best, what is no more than a tenth of a point below it */
  GArray *curve;                         /* GdpInterval, rising; the run's own one is among them */
  BaseSource provenance;
} Gdp;

/* Whether it describes any. */
gboolean gdp_scenario_has_failures (const Scn *scenario);

/* A slow part: the scenario run with `set` as well tells what it does to a step. */
typedef struct {
  char *set;       /* owned: "path=value", as of --set */
  gboolean given;  /* the rates say what it does where it is not run */
  double slowdown; /* to be filled: its step over a healthy one; before that as given, or 1 */
} GdpSlowPart;

/* Of a scenario with failures; empty for others. Returned: full, of GdpSlowPart. */
GArray *gdp_scenario_slow_parts (const Scn *scenario);

/* Follows `result`'s step over the days that the scenario's `failures` and `checkpoint` describe. `slow_parts`: as
 * gdp_scenario_slow_parts gave them, filled; NULL where there are none. Returned: full, free before the scenario; NULL
 * and *error (BASE_ERROR_INPUT: no failures in it, an interval longer than the run, no progress) on failure. */
Gdp *gdp_scenario_goodput (const Scn *scenario, const ScnResult *result, const GArray *slow_parts, GError **error);
/* The first of its runs, from the begin to its end. Returned: full, of GdpSpan, rising. */
GArray *gdp_timeline (const Gdp *goodput, guint64 seed);
void gdp_free (Gdp *goodput);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Gdp, gdp_free)

/* Sensitivity of a run to one quantity, with less and with more of it. */
typedef struct {
  const char *name; /* static */
  BaseDim dim;
  double value;      /* SI; of several kinds their mean by how often they happen; infinite spares: always at hand */
  double end[2];     /* likewise, with less and with more of it */
  double goodput[2]; /* mean of the runs, 0 to 1 */
  double time_s[2];  /* of a run, for the work of one healthy step; infinite: it does not get on */
} GdpSensitivityRow;

/* Sensitivity of `goodput` to rates, detection, recovery, checkpoints, spares, slow parts, the step; each halved and doubled, but a
 * simulated step: times step_lo and step_hi, the ends of its band, where it has one. *time_s: as it is. On all cores; the same seed
 * gives the same answer. Returned: full, of GdpSensitivityRow, in the order of a table of its own. */
GArray *gdp_sensitivity (const Gdp *goodput, double step_lo, double step_hi, guint64 seed, double *time_s);

/* The closed form of a job of this size: terms of its failures and checkpoints. Rows that slow a job need `slowdown`. *source
 * becomes the weakest of what the rates rest on, where they are weaker. */
void gdp_closed (const TrnFailuresSpec *spec, const MdlJobSize *size, const MdlCheckpoint *checkpoint, MdlGoodputTerms *terms,
                 BaseSource *source);

#endif
