/* Traffic beside a training step: reads of its samples, the drain of a checkpoint. */
#ifndef WORKLOAD_BESIDE_PRIVATE_H
#define WORKLOAD_BESIDE_PRIVATE_H

#include "training-private.h"
#include "workload/io_run.h"

/* What the copies of a checkpoint on drives put on links beside its writes. */
gboolean wrk_checkpoint_copies (const WrkTrainingJob *job, const WrkCheckpointResult *price, WrkSide *side, GError **error);
/* A step with `n` sides that begin when it does. */
typedef struct {
  double step_s;    /* the step */
  double over_s;    /* with what is awaited */
  double left_B[2]; /* of each side, when that is over */
  double end_s[2];  /* of each side that has ended by then */
} WrkBeside;

/* Whether any link class that the step uses is a side's: if not, they cannot meet. */
gboolean wrk_side_may_meet (const Clu *clu, const WrkRunInfo *info, const WrkSide *side);
/* FALSE and *error where the step cannot be run. At most two sides. */
gboolean wrk_beside_run (const WrkTrainingJob *job, const WrkSide *const *side, unsigned n, WrkBeside *out, guint64 *n_events,
                         GError **error);
/* What a drain that begins with a step does to it and the next ones, until it has ended: the times of *checkpoint that follow. */
gboolean wrk_add_drain (const WrkTrainingJob *job, WrkTrainingResult *training, WrkRunInfo *info, WrkCheckpointResult *checkpoint,
                        GError **error);
/* The most that each reader gets beside the step (B/s), and the step beside reads that come evenly. */
gboolean wrk_beside_reads (const WrkTrainingJob *job, const WrkIoRun *reads, double step_s, double *most_Bps, double *beside_s,
                           guint64 *n_events, GError **error);

#endif
