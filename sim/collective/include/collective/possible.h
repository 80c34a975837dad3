/* What was asked for and cannot be. */
#ifndef COLLECTIVE_POSSIBLE_H
#define COLLECTIVE_POSSIBLE_H

#include "collective/system.h"

/* Warns that exact steps change nothing in `what`, whose collectives run as one activity each: kernels set their pace. */
void col_run_warn_steps (ColRunInfo *info, const ColSettings *settings, const char *what);

/* Why the framework that settings->one_shot names can serve the priced operation's communicator at no size: several nodes, no
 * NVLink between all, or another operation than all-reduce. NULL: it can, none is named, or there is one rank. Returned: full. */
char *col_one_shot_why_not (const ColComm *comm, const ColAnswer *priced);

/* Appends to `texts` (char *, g_free) where symmetric buffers and NCCL_CTA_POLICY=ZERO have no effect on the priced operation,
 * which `whose` names ("this", "the tp"), and what a named algorithm on such buffers needs. */
void col_window_warnings (const ColSettings *settings, const ColAnswer *coll, const char *whose, GPtrArray *texts);

#endif
