/* A data set that is copied to the nodes' drives before training, or into a tier while it is read. */
#ifndef TRAINING_STAGING_PRIVATE_H
#define TRAINING_STAGING_PRIVATE_H

#include "training/training.h"

gboolean trn_check_stage (const TrnJob *job, GError **error);
/* How long it takes, and after how many epochs it has paid, into the loader's result; nothing where the loader has none. `before`:
 * the step as it was without a loader. */
gboolean trn_add_stage (const TrnJob *job, const TrnResult *before, TrnResult *training, ColRunInfo *info, GError **error);

/* What a tier that caches another one is worth, into the loader's result; nothing where its tier is none. `before`: as above. */
gboolean trn_add_cache (const TrnJob *job, const TrnResult *before, TrnResult *training, ColRunInfo *info, GError **error);

#endif
