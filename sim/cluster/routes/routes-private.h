/* Ways inside a node and between nodes, as parts of a route. */
#ifndef CLUSTER_ROUTES_PRIVATE_H
#define CLUSTER_ROUTES_PRIVATE_H

#include "graph/path-private.h"
#include "node/node-private.h"

/* --- node.c. Local device numbers. */
void clu_path_node_link (CluPath *path, guint32 node, guint32 local_link, gboolean forward, const CluPart *part);
/* FALSE and *error when the tree does not join the two. */
/* Local number of the memory where bytes of local device `local` are staged: at its socket, or with `remote`, of a process on the
 * wrong socket, at the next one. */
guint32 clu_host_memory (const CluTemplate *t, guint32 local, gboolean remote);
gboolean clu_path_host (CluPath *path, guint32 node, guint32 from, guint32 to, const CluPart *part, GError **error);
/* `straight`: no memory of the host is at either end. */
void clu_path_add_host (CluPath *path, guint32 node, const CluHostPath *way, gboolean straight, const CluPart *part);

/* --- scale_up.c */
/* Class of the way over scale-up links between GPUs (global numbers' nodes and local indices); CLU_PATH_N: none. */
CluPathClass clu_scale_up_class (const Clu *clu, guint32 node_a, guint32 gpu_a, guint32 node_b, guint32 gpu_b);
void clu_path_scale_up (CluPath *path, guint32 node_a, guint32 gpu_a, guint32 node_b, guint32 gpu_b, const CluPart *part);

/* --- network.c */
gboolean clu_path_network (CluPath *path, CluDev from, CluDev to, const CluRouteOptions *options, GError **error);

#endif
