/* A data set that is copied to the nodes' drives before training. */
#ifndef WORKLOAD_STAGE_PRIVATE_H
#define WORKLOAD_STAGE_PRIVATE_H

#include "workload/training.h"

extern const BaseSchema wrk_schema_stage;

gboolean wrk_check_stage (const WrkTrainingJob *job, GError **error);
/* How long it takes, and after how many epochs it has paid, into the loader's result; nothing where the loader has none. `before`:
 * the step as it was without a loader. */
gboolean wrk_add_stage (const WrkTrainingJob *job, const WrkTrainingResult *before, WrkTrainingResult *training, WrkRunInfo *info,
                        GError **error);

#endif
