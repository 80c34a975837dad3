/* How flow sizes are distributed: a file of scenarios/sizes. */
#ifndef SCENARIO_FLOW_SIZES_H
#define SCENARIO_FLOW_SIZES_H

#include "base/schema.h"

typedef struct {
  BaseHead head;
  BaseStr name, summary, source;
  BaseNums bytes, cumulative; /* bytes; fraction of flows up to as many bytes, linear in between */
} ScnFlowSizes;

extern const BaseSchema scn_schema_flow_sizes;

/* Notes what does not fit: lists of different lengths, values that do not ascend, a last fraction below 1. `mark`: where the
 * lists' lengths are complained of. */
void scn_flow_sizes_check (const ScnFlowSizes *sizes, BaseMark mark, BaseDiag *diag);

#endif
