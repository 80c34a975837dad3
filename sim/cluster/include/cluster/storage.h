/* Storage of a cluster: tiers outside the nodes, and the drives of a node, as the models of storage see them. */
#ifndef CLUSTER_STORAGE_H
#define CLUSTER_STORAGE_H

#include "cluster/cluster.h"
#include "models/tier_cache.h"

/* What a device of kind CLU_DEV_STORAGE is; of a drive: all drives of its node, striped (RAID 0). What the topology says is laid
 * over its type; sources stay with the figures. FALSE for other devices. */
gboolean clu_tier (const Clu *clu, CluDev dev, MdlTier *out);
/* Whether the device is a tier that caches another one; *of: the other's name, *rent_usd_per_s: of the whole cache, 0 where it is
 * not known. The name is borrowed; both may be NULL. */
gboolean clu_tier_cache (const Clu *clu, CluDev dev, MdlTierCache *out, const char **of, double *rent_usd_per_s);
/* All tiers and the nodes' drives as workloads name them: "scratch, nvme"; "" if there are none. Returned: full. */
char *clu_tier_names (const Clu *clu);
/* The tier of this name, or "storage.NAME"; CLU_NONE if there is none. "nvme", the drives of the nodes: the first node's first. */
CluDev clu_tier_find (const Clu *clu, const char *name);

/* B of page cache that a node's host memory can be (all sockets); 0: not known. Cores of a node; 0: not known. */
double clu_node_memory_B (const Clu *clu, guint32 node);
double clu_node_drives_B (const Clu *clu, guint32 node); /* that its drives hold together; 0: not known, or it has none */
double clu_node_cores (const Clu *clu, guint32 node);

#endif
