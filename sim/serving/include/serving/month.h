/* Failures of a fleet over a month: which replicas are lost for how long, by events; what that leaves of requests within the
 * SLO. */
#ifndef SERVING_MONTH_H
#define SERVING_MONTH_H

#include "models/failure.h"

/* A kind of failure. Texts are borrowed. */
typedef struct {
  const char *name;
  MdlUnit of;
  BaseSource source;
  double rate_per_s; /* of the fleet */
  double shape;      /* Weibull, of the gaps; 1: exponential */
  double nodes;      /* out of service; 0: the replica of one GPU starts again */
  double detect_s, repair_s;
  gboolean planned;       /* replicas drain: no request is lost */
  double count, replicas; /* result: of a month, in the mean; replicas that one takes, in the mean */
} SrvMonthCause;

/* Replicas of up to two pools, one after the other from a first GPU on. */
typedef struct {
  guint pools;
  guint replicas[2], gpus[2]; /* gpus: of one */
  guint32 first[2];
  guint32 gpus_per_node;
  double spares;    /* nodes; infinite: always one */
  double restart_s; /* of a replica */
  double days;
  guint runs; /* months */
  guint64 seed;
} SrvMonthSpec;

/* So many replicas of each pool are lost. */
typedef struct {
  guint lost[2];
  double fraction; /* of all months */
  double good;     /* of requests that come meanwhile, within the SLO: filled by the caller; 0 where it plays none */
  double drain;    /* requests outside it behind this state, until the queue is empty, over those that come in it: likewise */
  gboolean played;
} SrvMonthState;

/* A failure that takes so many replicas of each pool at once. */
typedef struct {
  guint lost[2];
  double count; /* of a month, in the mean; planned ones are left out */
  double bad;   /* requests outside the SLO beside those of the states before and after: filled by the caller */
} SrvMonthLoss;

typedef struct {
  GArray *states;  /* SrvMonthState; the first: none is lost */
  GArray *losses;  /* SrvMonthLoss */
  double failures; /* of a month, in the mean */
  double capacity; /* of GPU time of the replicas, lost */
  GPtrArray *runs; /* of each month: GArray of double, fractions by state, then counts by loss */
} SrvMonth;

/* Plays the months; fills the results of `causes`. Same spec, same result. Returned: full. */
SrvMonth *srv_month_new (const SrvMonthSpec *spec, SrvMonthCause *causes, guint n_causes);
void srv_month_free (SrvMonth *month);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SrvMonth, srv_month_free)

/* Requests within the SLO over all of a month of `requests`: the mean of all months, and the band that 95 % of them are in. */
typedef struct {
  double mean, lo, hi;
} SrvMonthBand;
SrvMonthBand srv_month_good (const SrvMonth *month, double requests);

#endif
