/* Traffic beside a training step: reads of its samples, the drain of a checkpoint. */
#ifndef TRAINING_CONCURRENT_PRIVATE_H
#define TRAINING_CONCURRENT_PRIVATE_H

#include "storage/io_run.h"
#include "training-private.h"

/* What the copies of a checkpoint on drives put on links beside its writes. */
gboolean trn_checkpoint_copies (const TrnJob *job, const TrnCheckpointResult *price, StoSide *side, GError **error);
/* A step with `n` sides that begin when it does. */
typedef struct {
  double step_s;    /* the step */
  double over_s;    /* with what is awaited */
  double left_B[2]; /* of each side, when that is over */
  double end_s[2];  /* of each side that has ended by then */
} TrnConcurrent;

/* Whether any link class that the step uses is a side's: if not, they cannot meet. */
gboolean trn_side_may_meet (const Clu *clu, const ColRunInfo *info, const StoSide *side);
/* FALSE and *error where the step cannot be run. At most two sides. */
gboolean trn_concurrent_run (const TrnJob *job, const StoSide *const *side, unsigned n, TrnConcurrent *out, guint64 *n_events,
                             GError **error);
/* What a drain that begins with a step does to it and the next ones, until it has ended: the times of *checkpoint that follow. */
gboolean trn_add_drain (const TrnJob *job, TrnResult *training, ColRunInfo *info, TrnCheckpointResult *checkpoint, GError **error);
/* The most that each reader gets beside the step (B/s), and the step beside reads that come evenly. */
gboolean trn_concurrent_reads (const TrnJob *job, const StoIoRun *reads, double step_s, double *most_Bps, double *beside_s,
                               guint64 *n_events, GError **error);

#endif
