/* Topologies from what a machine says of itself, as text of a topology file. */
#ifndef CLUSTER_IMPORT_H
#define CLUSTER_IMPORT_H

#include "base/diag.h"
#include "base/lookup.h"

G_BEGIN_DECLS

/* NCCL's topology XML (NCCL_TOPO_DUMP_FILE) to topology YAML. `path` names the input in messages. `gpu_type`: the GPU type to name
 * (NULL: as the file says). Files that clouds ship for NCCL_TOPO_FILE list bus ids only, no GPU type and no NVLinks; NVLinks
 * are then assumed to be the type's, through a switch where its generation has them. What the file lacks (a link width of 0, no
 * NIC but a 10 Gb/s eth0) is assumed and warned about. Returned: full, g_free; NULL and *error with line and column. */
char *clu_import_nccl_topo (const char *path, const char *bytes, gsize n_B, const char *name, const char *gpu_type,
                            const BaseLookup *lookup, BaseDiag *warnings, GError **error);

/* The matrix of `nvidia-smi topo -m`. `gpu_type`: the GPU type to name, since the matrix does not say (NULL: an error says so when
 * it cannot be told from the number of NVLinks). */
char *clu_import_nvidia_smi_topo (const char *path, const char *bytes, gsize n_B, const char *name, const char *gpu_type,
                                  const BaseLookup *lookup, BaseDiag *warnings, GError **error);

/* Slurm's topology.conf or topology.yaml (tree: a custom fabric; block: NVLink domains) to topology YAML. Each node is as those of
 * another topology: `like` is its text, whose `node` (and for blocks `fabric`) is copied, `nics` its adapters a node. `only`: which
 * topology of topology.yaml; NULL: the cluster's default, or the first. What Slurm does not
 * say is assumed and warned about. Returned: full, g_free; NULL and *error with line and column. */
char *clu_import_slurm_topology (const char *path, const char *bytes, gsize n_B, const char *name, const char *like_name,
                                 const char *like, guint32 nics, const char *only, BaseDiag *warnings, GError **error);

G_END_DECLS

#endif
