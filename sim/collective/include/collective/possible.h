/* What was asked for and cannot be. */
#ifndef COLLECTIVE_POSSIBLE_H
#define COLLECTIVE_POSSIBLE_H

#include "collective/system.h"

/* Warns that exact steps change nothing in `what`, whose collectives run as one activity each: kernels set their pace. */
void col_run_warn_steps (ColRunInfo *info, const ColSettings *settings, const char *what);

/* Whether the framework that settings->one_shot names can serve the priced operation's communicator at any size. FALSE and *error
 * at the setting if not: on several nodes, without NVLink between all, or another operation than all-reduce. TRUE where no
 * framework is named, and on one rank. */
gboolean col_one_shot_serves (const ColComm *comm, const ColAnswer *priced, GError **error);

#endif
