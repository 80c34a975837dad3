/* A training step as a whole: what its parts ask of each other. */
#ifndef TRAINING_TRAINING_PRIVATE_H
#define TRAINING_TRAINING_PRIVATE_H

#include "training/training.h"

/* Whether the step can be built, and the step. */
gboolean trn_check_step (const TrnJob *job, GError **error);
gboolean trn_run_step (const TrnJob *job, TrnResult *out, ColRunInfo *info, GError **error);
/* What loaders and checkpoints add to a step; nothing where it has none. Before the run: whether they can. */
gboolean trn_add_checkpoint (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error);
gboolean trn_check_loader (const TrnJob *job, GError **error);
gboolean trn_add_loader (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error);
gboolean trn_add_local_steps (const TrnJob *job, TrnResult *training, GError **error);
/* A step that takes `more_s` longer for `part`: its times and rates. */
void trn_step_longer (TrnResult *training, TrnPart part, double more_s);

#endif
