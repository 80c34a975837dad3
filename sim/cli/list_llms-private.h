/* `forerun list llms` and `forerun list engines`. */
#ifndef CLI_LIST_LLMS_PRIVATE_H
#define CLI_LIST_LLMS_PRIVATE_H

#include "base/table.h"
#include "cli-private.h"

extern const BaseColumn cli_llm_columns[];
/* A row a shipped model. FALSE and *error when one does not load. */
gboolean cli_list_llms (Cli *cli, BaseTable *table, GError **error);
extern const BaseColumn cli_engine_columns[];
/* A row for each version of an engine from which values hold. FALSE and *error when their file does not load. */
gboolean cli_list_engines (Cli *cli, BaseTable *table, GError **error);

#endif
