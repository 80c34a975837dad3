/* From files to a cluster. */
#ifndef CLUSTER_LOAD_PRIVATE_H
#define CLUSTER_LOAD_PRIVATE_H

#include "graph/clu-private.h"

/* --- check.c: what no part of a topology can say alone. Errors go to the loader's diag. */
void clu_check_topology (CluLoader *loader, const CluSpec *spec);

/* --- defaults.c: what the file, whose mapping is `root`, leaves out. Errors go to the loader's diag. */
void clu_fill_defaults (CluLoader *loader, const BaseYamlNode *root, CluSpec *spec);

/* --- number.c */
/* First numbers of every node. FALSE when there would be too many. */
gboolean clu_number_nodes (CluLoader *loader);
/* Numbers of what lies between the nodes. */
gboolean clu_number_rest (CluLoader *loader);
/* Global numbers anew, after templates changed theirs. */
gboolean clu_renumber (Clu *clu, GError **error);

/* --- self_check.c. What is wrong with a table, or a row of it; NULL: nothing. Returned: full. */
char *clu_names_fault (const BaseName *table, const char *what);
char *clu_fabric_fault (const CluFabricOps *ops, const char *name);

/* --- overrides.c */
/* Makes the templates and gives every node its own. Nothing is made when there are errors. */
void clu_overrides_apply (CluLoader *loader);

#endif
