/* Topologies from what a machine says of itself, as text of a topology file. */
#ifndef CLUSTER_IMPORT_H
#define CLUSTER_IMPORT_H

#include "base/diag.h"
#include "base/lookup.h"

/* What is imported, and as what. */
typedef struct {
  const char *path;         /* names the input in messages */
  const char *bytes;
  gsize n_B;
  const char *name;         /* of the topology */
  const char *gpu_type;     /* the GPU type to name; NULL: as the input says. Slurm says none and asks for none */
  const BaseLookup *lookup; /* of the shipped types; NULL: none is looked into */
  BaseDiag *warnings;       /* what the input does not say, and what was assumed */
} CluImport;

/* All return the text of a topology file: full, g_free; NULL and *error with line and column. */

/* NCCL's topology XML (NCCL_TOPO_DUMP_FILE). Files that clouds ship for NCCL_TOPO_FILE list bus ids only, no GPU type and no
 * NVLinks; NVLinks are then assumed to be the type's, through a switch where its generation has them. What the file lacks (a link
 * width of 0, no NIC but a 10 Gb/s eth0) is assumed and warned about. */
char *clu_import_nccl_topo (const CluImport *input, GError **error);

/* The matrix of `nvidia-smi topo -m`. It does not say the GPU type: an error says so when it does not follow from the number of
 * NVLinks. */
char *clu_import_nvidia_smi_topo (const CluImport *input, GError **error);

/* The XML of lstopo (hwloc 2 or newer). NVLinks and the rates of NICs are assumed, as it does not say them. */
char *clu_import_lstopo (const CluImport *input, GError **error);

/* Tools that say a part of a node. The answer is a short topology, in which the rest is as in the shipped node of the GPU's type:
 * numactl -H the sockets and host memory, ibstat the NICs (both ask for gpu_type), nvidia-smi nvlink -s and dcgmi (discovery -l,
 * nvlink -s) the GPUs and how many NVLinks of each work. */
char *clu_import_numactl (const CluImport *input, GError **error);
char *clu_import_nvlink (const CluImport *input, GError **error);
char *clu_import_dcgm (const CluImport *input, GError **error);
char *clu_import_ibstat (const CluImport *input, GError **error);

/* EC2's instance topology, JSON, as the text of a topology.conf for clu_import_slurm_topology. *like: the shipped topology of the
 * instance type, borrowed; NULL: none. */
char *clu_import_aws_conf (const CluImport *input, const char **like, GError **error);

/* What Slurm does not say. */
typedef struct {
  const char *name, *text; /* each node is as those of this topology, whose `node` (and for blocks `fabric`) is copied */
  guint32 nics;            /* its adapters a node */
  const char *only;        /* which topology of topology.yaml; NULL: the cluster's default, or the first */
  const char *origin;      /* who says what hangs where; NULL: Slurm */
  guint32 gpus;            /* a node */
} CluSlurmLike;

/* Slurm's topology.conf or topology.yaml (tree: a custom fabric; block: NVLink domains). */
char *clu_import_slurm_topology (const CluImport *input, const CluSlurmLike *like, GError **error);

/* An infrastructure of MLCommons' InfraGraph (YAML or JSON): a custom fabric. like->only and origin: not looked at. */
char *clu_import_infragraph (const CluImport *input, const CluSlurmLike *like, GError **error);

#endif
