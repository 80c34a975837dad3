/* `nccl:` of a scenario. Inside sim/workload only; the command line has col_nccl_parse (workload/comm.h). */
#ifndef COLLECTIVE_NCCL_ENV_H
#define COLLECTIVE_NCCL_ENV_H

#include "base/schema.h"
#include "collective/comm.h"

extern const BaseSchema col_schema_nccl;

/* Reads the mapping into *settings, whose texts live as long as the context's arena. FALSE after an error in context->diag. */
gboolean col_nccl_read (const BaseYamlNode *node, const BaseSchemaContext *context, ColSettings *settings);

#endif
