/* Traffic beside a training step: reads of its samples, the drain of a checkpoint. */
#ifndef WORKLOAD_BESIDE_PRIVATE_H
#define WORKLOAD_BESIDE_PRIVATE_H

#include "io_way-private.h"

/* What clients share that is no resource of the cluster; of those that are alike the fullest. */
typedef struct {
  WrkNetOther kind;
  guint32 number;
  double capacity, weight; /* weight: of all clients, a byte of each */
} WrkSideOther;

/* Equal clients as one activity: all go on at the pace of the slowest, which is exact where they are alike. */
typedef struct {
  GArray *loads;    /* WrkLoad, ascending: of all clients, a byte of each */
  GArray *others;   /* WrkSideOther */
  double amount_B;  /* of a client; INFINITY: it never ends */
  double bound_Bps; /* of a client by itself */
  gboolean awaited; /* the step is over when this is too */
} WrkSide;

void wrk_side_clear (WrkSide *side);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (WrkSide, wrk_side_clear)
/* Adds what another loads, `factor` bytes of it a byte of this; or links alone (CluUse). */
void wrk_side_add (WrkSide *side, const WrkSide *more, double factor);
void wrk_side_add_uses (WrkSide *side, const GArray *uses, double factor);
/* What the copies of a checkpoint on drives put on links beside its writes. */
gboolean wrk_checkpoint_copies (const WrkScenario *scenario, const WrkCheckpointResult *price, WrkSide *side, GError **error);
/* Reads or writes as such; at least `least_s` long. *out is overwritten; cleared by the caller. */
void wrk_io_run_side (const WrkIoRun *run, double least_s, WrkSide *out);

/* A step with `n` sides that begin when it does. */
typedef struct {
  double step_s;    /* the step */
  double over_s;    /* with what is awaited */
  double left_B[2]; /* of each side, when that is over */
  double end_s[2];  /* of each side that has ended by then */
} WrkBeside;

/* Whether any link class that the step uses is a side's: if not, they cannot meet. */
gboolean wrk_side_may_meet (const WrkScenario *scenario, const WrkResult *result, const WrkSide *side);
/* FALSE and *error where the step cannot be run. At most two sides. */
gboolean wrk_beside_run (const WrkScenario *scenario, const WrkSide *const *side, unsigned n, WrkBeside *out, guint64 *n_events,
                         GError **error);
/* What a drain that begins with a step does to it and the next ones, until it has ended: the times of *checkpoint that follow. */
gboolean wrk_add_drain (const WrkScenario *scenario, WrkResult *result, WrkCheckpointResult *checkpoint, GError **error);
/* The most that each reader gets beside the step (B/s), and the step beside reads that come evenly. */
gboolean wrk_beside_reads (const WrkScenario *scenario, const WrkIoRun *reads, double step_s, double *most_Bps, double *beside_s,
                           guint64 *n_events, GError **error);

#endif
