/* `explain` of operations that are no collectives of mdl_op_names: dispatch and combine of experts. */
#ifndef CLI_EXPLAIN_PRIVATE_H
#define CLI_EXPLAIN_PRIVATE_H

#include "comm-private.h"
#include "models/moe.h"

/* The flags of `explain`: those of a collective, and of experts. Texts, NULL: not given. */
typedef struct {
  FrCollFlags coll;
  char *tokens, *hidden, *experts, *top_k, *groups, *top_groups, *sms, *backend, *routing;
} CliExplainFlags;

extern const CliFlag cli_explain_moe_flags[];

/* The first flag of experts that was given, without its dashes; NULL: none. */
const char *cli_explain_moe_flag (const CliExplainFlags *flags);
/* Writes what moe_dispatch, moe_combine or moe_prepare (`op`) takes on a cluster, term by term. FALSE and *error on a flag that is
 * wrong, and where the library cannot run. */
gboolean cli_explain_moe (Cli *cli, const CliExplainFlags *flags, MdlMoeOp op, GError **error);

#endif
