/* Slurm's way to write many names in few: node[001-128,140],login1. */
#ifndef CLUSTER_HOSTLIST_H
#define CLUSTER_HOSTLIST_H

#include "base/diag.h"

#define CLU_HOSTLIST_MAX 1000000u

/* Appends the names (char *) of `text` to `names`, in order; numbers keep their leading zeroes, several brackets multiply. FALSE
 * and *error (without a place) on anything wrong; *at (may be NULL): at which character of `text`, from 0. */
gboolean clu_hostlist_expand (const char *text, GPtrArray *names, gsize *at, GError **error);
/* As above, of one name: a comma outside brackets is part of it. */
gboolean clu_hostlist_expand_name (const char *name, GPtrArray *names);
/* Names from..from+n-1 in as few characters as neighbours allow, in the order that they have. Returned: full, g_free. */
char *clu_hostlist_join (const GPtrArray *names, guint from, guint n);

#endif
