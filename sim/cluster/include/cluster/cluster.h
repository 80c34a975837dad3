/* A cluster as a graph: devices, directed links, and the resources that traffic shares.
 *
 * A physical link between two devices is one CluLink with two directions. Each direction is a resource (a capacity that
 * traffic shares); a link whose duplex is below 1 has a third one for both ways together; a device that is itself a
 * bottleneck (a host's memory, a PCIe switch that is a bus) has one of its own. Resource numbers are dense: the engine's links
 * are made from them one to one.
 *
 * Size: a node's devices and links are laid out once per distinct kind of node; device and link numbers are base + local. The
 * fabric is addressed by coordinates. */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "cluster/spec.h"

typedef struct Clu Clu;
typedef guint32 CluDev;
typedef guint32 CluLinkId;
typedef guint32 CluRes;
#define CLU_NONE G_MAXUINT32

/* Whether the tables of link families and fabric kinds are whole: every row has its parts, and no two have one name. FALSE and
 * *error (BASE_ERROR_FAILED), which says what is missing where. Called once when the program starts. */
gboolean clu_self_check (GError **error);

typedef enum {
  CLU_DEV_GPU, CLU_DEV_NVSWITCH, CLU_DEV_PCIE_SWITCH, CLU_DEV_SOCKET, CLU_DEV_MEMORY, CLU_DEV_NIC, CLU_DEV_NVME,
  CLU_DEV_SWITCH, CLU_DEV_FRONTEND_NIC, CLU_DEV_MANAGEMENT_NIC, CLU_DEV_STORAGE, CLU_DEV_N
} CluDevKind;

typedef struct {
  guint32 nodes;           /* 0: as the file says */
  guint64 seed;
  GPtrArray *inputs;       /* on success a reference (base_yaml_ref) of every file read is appended, for the report's list of
                              inputs; files that are in it already are not; may be NULL */
  gboolean switches_follow; /* ports of the fabric's switches are as fast as the cables, whatever their type says: for what-ifs */
} CluLoadOptions;

/* Loads a topology by name or path. `sets` (may be NULL, ends with NULL): "path=value" strings applied to the topology before
 * it is read; a path whose first key is a node's and not the topology's is taken in `node` ("nics.rate" is "node.nics.rate").
 * Numbers without a source are `datasheet` in shipped files, `assumed` in others. Returned: full; NULL and *error
 * (BASE_ERROR_INPUT, all errors of the file) on failure. */
Clu *clu_load (const char *name, const char *from, const BaseLookup *lookup, const char *const *sets,
               const CluLoadOptions *options, BaseDiag *warnings, GError **error);
/* Builds from a document already in memory (inline topologies, tests); takes `yaml` also on failure. `lookup` as above, not NULL:
 * any part may be named. */
Clu *clu_load_yaml (BaseYaml *yaml, const BaseLookup *lookup, const char *const *sets, const CluLoadOptions *options,
                    BaseDiag *warnings, GError **error);
/* Builds from a topology written inside another document (a scenario's `cluster.topology`), already with its sets applied; `owner`
 * is that document, of which the cluster keeps a reference. */
Clu *clu_load_node (const BaseYamlNode *topology, BaseYaml *owner, const BaseLookup *lookup, const CluLoadOptions *options,
                    BaseDiag *warnings, GError **error);
void clu_free (Clu *clu);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Clu, clu_free)

const CluSpec *clu_spec (const Clu *clu);            /* borrowed */
const char *clu_name (const Clu *clu);
guint32 clu_n_nodes (const Clu *clu);
guint32 clu_n_gpus (const Clu *clu);                 /* all nodes */
guint32 clu_gpus_per_node (const Clu *clu, guint32 node);
const CluGpuSpec *clu_gpu_spec (const Clu *clu, guint32 node);
const CluNicSpec *clu_nic_spec (const Clu *clu, guint32 node); /* NULL without NICs */
/* Adapters of the first node, and in *rate_Bps the wire of one, one way as specified; 0 of 0 without. */
guint32 clu_nics_of_node (const Clu *clu, double *rate_Bps);
/* The node as it is, overrides applied and defaults completed. Borrowed. */
const CluNodeSpec *clu_node_spec (const Clu *clu, guint32 node);
/* Nodes of one kind are alike in all devices and links (`overrides` make kinds). */
guint32 clu_n_kinds (const Clu *clu);
guint32 clu_kind_of_node (const Clu *clu, guint32 node);
/* Resources of a node are numbered from its first on, and nodes of one kind have theirs in the same order; those of all nodes come
 * before all others, so that the number of nodes in place of one gives the first that is no node's. */
guint32 clu_node_first_resource (const Clu *clu, guint32 node);
/* Whether nothing is taken from its own resources (background traffic, a slow adapter). */
gboolean clu_node_is_plain (const Clu *clu, guint32 node);
/* Where a node is attached to the fabric: nodes of one kind and place are attached to the same switches, adapter by adapter.
 * CLU_NONE: nowhere that another could be too. Between such nodes, routes that cross no cable between switches are alike; all are
 * where clu_places_decide: each flow is spread over all ways, none drawn or numbered, or switches have no cables to others. */
guint32 clu_node_place (const Clu *clu, guint32 node);
gboolean clu_places_decide (const Clu *clu);
/* NVLink domain (scale-up island) of a node: nodes of one domain reach each other over NVLink. */
guint32 clu_domain_of_node (const Clu *clu, guint32 node);
gboolean clu_domain_has_sharp (const Clu *clu);
gboolean clu_fabric_has_sharp (const Clu *clu);
/* What the leaf's type says of its reduction; NULL where the leaf has no type. Borrowed. */
const CluSharpSpec *clu_fabric_sharp (const Clu *clu);

/* Devices. Global GPU g: node-major. */
CluDev clu_gpu (const Clu *clu, guint32 gpu);
CluDev clu_node_device (const Clu *clu, guint32 node, CluDevKind kind, guint32 index); /* CLU_NONE if there is none */
guint32 clu_node_n (const Clu *clu, guint32 node, CluDevKind kind);
/* "gpu9", "node1.gpu1", "node0.nic3", "node0.host" (memory of socket 0), "node0.host1", "node0.nvme2", "node0.nvme" (all
 * drives of the node striped: the first), "storage.NAME", a switch's name. CLU_NONE and *error otherwise, saying what exists. */
CluDev clu_find (const Clu *clu, const char *name, GError **error);
guint32 clu_n_devices (const Clu *clu);
CluDevKind clu_dev_kind (const Clu *clu, CluDev dev);
guint32 clu_dev_node (const Clu *clu, CluDev dev);   /* CLU_NONE for what belongs to no node */
guint32 clu_dev_index (const Clu *clu, CluDev dev);  /* among its kind in its node */
char *clu_dev_name (const Clu *clu, CluDev dev);     /* full, g_free: "node1.gpu1" */

/* Links. */
typedef struct {
  CluDev a, b;
  const CluLinkClass *link_class;  /* never NULL: an unnamed link has a class made for it */
  double lanes;
  double rate_Bps;                 /* specified, one way */
  double efficiency, sm_efficiency;
  double latency_s;
  double duplex;
  BaseSource source;               /* weakest of rate, efficiency and latency */
  CluRes forward, backward, both;  /* a to b, b to a, both ways together (CLU_NONE when full duplex) */
} CluLink;

/* A link's latency towards a fabric's switch has half of that switch's crossing (the tier's latency), so that a path sums each
 * switch once. Cables that adaptive routing loads alike share one resource, a trunk, whose capacity is theirs together: then
 * `forward` and `backward` of all of them are the trunk's. A storage tier on the fabric is cabled to all top-level switches (every
 * router of a dragonfly or torus) by one link, whose `b` is the first of them. */
guint32 clu_n_links (const Clu *clu);
void clu_link (const Clu *clu, CluLinkId link, CluLink *out);

/* What a fabric is bought of. A tree that follows from its switches' ports has the switches and cables that its nodes need: rails
 * share a leaf while they fit, and spines have no empty ports but those of the last. Simulated is a leaf a rail and whole spines,
 * which takes no less time. Of a torus, whose adapters are its switches, cables alone; storage on the fabric is left out. */
typedef struct {
  guint32 n_switches;
  const CluSwitchSpec *type; /* NULL: no type is said. Borrowed */
} CluFabricLevel;
enum { CLU_FABRIC_LEVELS = 8 };
typedef struct {
  guint32 adapters, host_ports;       /* on it, and their ports: each a cable to a switch */
  double port_rate_Bps;               /* of the fastest of them */
  guint32 cables;                     /* between switches, by ports */
  guint32 n_levels;                   /* of a tree, leaves first; other shapes have one */
  CluFabricLevel level[CLU_FABRIC_LEVELS];
} CluFabricParts;
void clu_fabric_parts (const Clu *clu, CluFabricParts *out);

/* Resources. Capacity is what is reached: rate x efficiency, B/s. */
guint32 clu_n_resources (const Clu *clu);
double clu_resource_capacity (const Clu *clu, CluRes res);
/* The link class a resource belongs to ("nvlink4"; "host_memory" for a memory's own, "pcie_bus" for a switch that is a bus, the
 * type's name for a drive, the tier for storage). A drive's capacity is what it reads; written bytes count read / write times.
 * Borrowed. */
const char *clu_resource_class (const Clu *clu, CluRes res);
CluFamily clu_resource_family (const Clu *clu, CluRes res);
BaseSource clu_resource_source (const Clu *clu, CluRes res);
/* Whether it counts both directions of a link together. */
gboolean clu_resource_is_both_ways (const Clu *clu, CluRes res);
/* The devices that it joins, in the direction that it counts. FALSE: it is a device's own. */
gboolean clu_resource_ends (const Clu *clu, CluRes res, CluDev *from, CluDev *to);
char *clu_resource_name (const Clu *clu, CluRes res); /* full: "node0.gpu0 -> node0.nvswitch0" */
/* Cables that share it: those of a trunk, else 1. */
guint32 clu_resource_cables (const Clu *clu, CluRes res);
/* Ratio of a kernel's reach to a DMA's on this resource: sm_efficiency / efficiency. */
double clu_resource_sm_factor (const Clu *clu, CluRes res);
/* Ratio of what an adapter's RDMA to a GPU's memory reaches on this resource to its capacity: its own efficiency and duplex. */
double clu_resource_rdma_factor (const Clu *clu, CluRes res);

/* Lays what a calibration measured of links and of host memory (models/links.h) over the cluster: each figure that is set, over
 * all links of the kind that are as the first node's; before clu_background_set, and before anything remembers numbers of
 * resources, which change. Sources are those of the figures. FALSE and *error where there would be too many resources. */
struct MdlLinks;
gboolean clu_links_set (Clu *clu, const struct MdlLinks *links, GError **error);
/* The other way: figures of links that are not set, as the cluster has them. */
void clu_links_fill (const Clu *clu, struct MdlLinks *links);

/* Half of the cluster against the other half, B/s one way as specified (no efficiencies): the most that GPUs 0..n/2-1 can send
 * to the rest, a maximum flow over the scale-up network of one node or domain (without one: over PCIe), else over adapters and
 * fabric, whose levels count as a whole (what ideal routing reaches). 0 for a single GPU or nodes that nothing joins. */
double clu_bisection_Bps (const Clu *clu);

#endif
