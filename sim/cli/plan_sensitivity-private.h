/* What a plan's first hangs on. */
#ifndef CLI_PLAN_SENSITIVITY_PRIVATE_H
#define CLI_PLAN_SENSITIVITY_PRIVATE_H

#include "report/plan.h"
#include "sensitivity-private.h"

G_BEGIN_DECLS

/* Asks the plan at `path` again, in closed form, with each constant that could matter a fifth less and a fifth more: how much the
 * least moves, and what comes first then. `plan`: as it was read. Returned: full; NULL and *error on failure. */
RepSensitivity *cli_plan_sensitivity (const Cli *cli, const char *path, const Pln *plan, guint threads, CliHangs upto,
                                      GError **error);

G_END_DECLS

#endif
