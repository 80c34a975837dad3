/* A route being built: uses merged by resource, hops of the first alternative. */
#ifndef CLUSTER_PATH_PRIVATE_H
#define CLUSTER_PATH_PRIVATE_H

#include "graph/clu-private.h"

G_BEGIN_DECLS

#define CLU_PATH_SLOTS 128u /* power of two */

struct CluPath {
  const Clu *clu;
  CluRoute *out;
  gboolean list_hops;
  gboolean peers; /* what PCIe devices of different sockets move straight is bounded by the receiving socket's own resource */
  CluUse *use; /* out->uses, of which n_uses are written */
  guint32 n_uses, room;
  guint64 met; /* marks of the resources used */
  /* Uses by resource, open addressing: number in use + 1. Only made when there are more uses than a scan is good for. */
  guint32 *slots, n_slots;
  guint32 stack[CLU_PATH_SLOTS];
};

void clu_path_begin (CluPath *path, const Clu *clu, gboolean list_hops, CluRoute *out);
/* Tells `out` its uses. */
void clu_path_end (CluPath *path);
void clu_path_use (CluPath *path, CluRes res, double share);
void clu_path_hop (CluPath *path, CluLinkId link, CluDev from, CluDev to, CluRes res, const CluPart *part, double share);
/* One crossing of a link: its direction's resource and that of both ways, the hop and the latency if shown. */
void clu_path_cross (CluPath *path, CluLinkId link, CluDev from, CluDev to, CluRes first_res, gboolean forward, const CluParams *p,
                     const CluPart *part);
void clu_path_node_link (CluPath *path, guint32 node, guint32 local_link, gboolean forward, const CluPart *part);
/* A device's own resource, `weight` times the share. Nothing when it has none, but memory is shown. */
void clu_path_own (CluPath *path, guint32 node, guint32 local, double weight, const CluPart *part);
/* A memory that is read or written: what it carries both ways together, and this way. */
void clu_path_memory (CluPath *path, guint32 node, guint32 local, gboolean write, const CluPart *part);

/* --- routes/node.c: ways inside a node. Local device numbers. */
/* Class of the way over the host tree, GPUs' scale-up links left out. CLU_PATH_N: there is none. */
CluPathClass clu_host_class (const CluTemplate *t, guint32 from, guint32 to);
/* FALSE and *error when the tree does not join the two. */
gboolean clu_path_host (CluPath *path, guint32 node, guint32 from, guint32 to, const CluPart *part, GError **error);
/* The known way between a GPU and a NIC near it, or back; NULL for other pairs. */
const CluWay *clu_near_way (const CluTemplate *t, guint32 from, guint32 to);
/* `straight`: no memory of the host is at either end. */
void clu_path_way (CluPath *path, guint32 node, const CluWay *way, gboolean straight, const CluPart *part);
/* Keeps the ways between GPUs and their nearest NICs, which most routes take. */
void clu_template_find_ways (CluTemplate *t);
guint32 clu_socket_of (const CluTemplate *t, guint32 local); /* index of the socket above; CLU_NONE */
/* Class of the way over scale-up links between GPUs (global numbers' nodes and local indices); CLU_PATH_N: none. */
CluPathClass clu_scale_up_class (const Clu *clu, guint32 node_a, guint32 gpu_a, guint32 node_b, guint32 gpu_b);
void clu_path_scale_up (CluPath *path, guint32 node_a, guint32 gpu_a, guint32 node_b, guint32 gpu_b, const CluPart *part);

/* --- node/nearest.c */
#define CLU_MAX_NICS 1024u
typedef struct {
  guint32 n;
  guint16 nic[CLU_MAX_NICS];
} CluNicSet;
void clu_template_find_nearest (CluTemplate *t);
/* The NICs by which a device of the node leaves: nearest to `local`, of the first `n_usable`. `seen_from`: the device whose place
 * counts (another socket's memory when the wrong one is used). */
void clu_nearest_nics (const CluTemplate *t, guint32 local, guint32 seen_from, guint32 n_usable, CluNicSet *out);

/* --- routes/network.c */
gboolean clu_path_network (CluPath *path, CluDev from, CluDev to, const CluRouteOptions *options, GError **error);

G_END_DECLS

#endif
