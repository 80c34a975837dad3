/* A data set that is copied to the nodes' drives before training. */
#ifndef WORKLOAD_STAGE_PRIVATE_H
#define WORKLOAD_STAGE_PRIVATE_H

#include "scenario-private.h"

extern const BaseSchema wrk_schema_stage;

gboolean wrk_check_stage (const WrkScenario *scenario, GError **error);
/* How long it takes, and after how many epochs it has paid, into the loader's result; nothing where the loader has none. `before`:
 * the step as it was without a loader. */
gboolean wrk_add_stage (const WrkScenario *scenario, const WrkTrainingResult *before, WrkResult *result, GError **error);

#endif
