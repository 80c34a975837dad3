/* One kind of node laid out, and what is found on it: ways over the host tree, nearest adapters. Local device numbers. */
#ifndef CLUSTER_NODE_PRIVATE_H
#define CLUSTER_NODE_PRIVATE_H

#include "cluster/route.h"
#include "graph/clu-private.h"

/* --- layout.c */
/* `link_overrides`: const BaseList * of CluLinkOverride, in order. Returned: in the loader's arena; full, clu_template_free. */
CluTemplate *clu_template_new (CluLoader *loader, const CluNodeSpec *spec, const GPtrArray *link_overrides);

/* --- scale_up.c */
void clu_template_scale_up (CluLoader *loader, CluTemplate *t);

/* --- link_override.c */
/* A device of the node by the name that files use; CLU_NONE. */
guint32 clu_template_find (const CluTemplate *t, const char *name);
/* Changes single links. Resources are numbered after: a link that becomes half duplex has one more of them. */
void clu_template_override (CluLoader *loader, CluTemplate *t, const BaseList *overrides);

/* --- template.c */
void clu_template_free (CluTemplate *template); /* what is not in the cluster's arena */
guint32 clu_template_link (CluTemplate *t, guint32 a, guint32 b, CluEnd end, const CluParams *p);
/* Gives a device a resource of its own. */
void clu_template_own (CluTemplate *t, guint32 dev, double capacity_Bps, const CluLinkClass *link_class, BaseSource source);
/* What all memories of the node reach: both ways together, read, written; 0: no limit. Resources are numbered after. */
void clu_template_host (CluTemplate *t, double both_Bps, double read_Bps, double write_Bps);
/* Resources anew, after links changed. */
void clu_template_renumber (CluTemplate *t);

/* --- host.c */
/* Class of the way over the host tree, GPUs' scale-up links left out. CLU_PATH_N: there is none. */
CluPathClass clu_host_class (const CluTemplate *t, guint32 from, guint32 to);
/* The links from one device to another. FALSE when nothing joins them: *out_of is the device that is linked to no host. */
gboolean clu_host_path (const CluTemplate *t, guint32 from, guint32 to, CluHostPath *out, guint32 *out_of);
/* The known way between a GPU and a NIC near it, or back; NULL for other pairs. */
const CluHostPath *clu_near_path (const CluTemplate *t, guint32 from, guint32 to);
/* Keeps the ways between GPUs and their nearest NICs, which most routes take. */
void clu_template_find_paths (CluTemplate *t, BaseArena *arena);
guint32 clu_socket_of (const CluTemplate *t, guint32 local); /* index of the socket above; CLU_NONE */

/* --- nearest.c */
#define CLU_MAX_NICS 1024u
typedef struct {
  guint32 n;
  guint16 nic[CLU_MAX_NICS];
} CluNicSet;
void clu_template_find_nearest (CluTemplate *t, BaseArena *arena);
/* The NICs by which a device of the node leaves: nearest to `local`, of the first `n_usable`. `seen_from`: the device whose place
 * counts (another socket's memory when the wrong one is used). */
void clu_nearest_nics (const CluTemplate *t, guint32 local, guint32 seen_from, guint32 n_usable, CluNicSet *out);

#endif
