/* `nccl:` of a scenario. Inside sim/workload only; the command line has wrk_nccl_parse (workload/comm.h). */
#ifndef WORKLOAD_NCCL_ENV_PRIVATE_H
#define WORKLOAD_NCCL_ENV_PRIVATE_H

#include "base/schema.h"
#include "workload/comm.h"

extern const BaseSchema wrk_schema_nccl;

/* Reads the mapping into *settings, whose texts live as long as the context's arena. FALSE after an error in context->diag. */
gboolean wrk_nccl_read (const BaseYamlNode *node, const BaseSchemaContext *context, WrkSettings *settings);

#endif
