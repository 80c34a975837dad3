/* The cluster graph as this layer sees it. Nothing outside the layer includes this. */
#ifndef CLUSTER_CLU_PRIVATE_H
#define CLUSTER_CLU_PRIVATE_H

#include "cluster/route.h"
#include "spec/params-private.h"

/* What a link of a node leads to. */
typedef enum { CLU_END_LOCAL, CLU_END_DOMAIN, CLU_END_FABRIC, CLU_END_FRONTEND, CLU_END_MANAGEMENT } CluEnd;

typedef struct {
  guint32 a, b; /* local devices; b only for CLU_END_LOCAL */
  CluEnd end;
  guint32 res; /* local number of forward; backward and both follow */
  CluParams p;
} CluNodeLink;

typedef struct {
  CluResKind kind;
  guint32 index; /* local link, or local device from CLU_RES_OWN on */
  double capacity_Bps;
} CluNodeRes;

/* A device's own resource. */
typedef struct {
  guint32 res;         /* local; CLU_NONE: not a bottleneck */
  guint32 read, write; /* of a memory whose ways differ; CLU_NONE */
  const CluLinkClass *link_class;
  BaseSource source;
} CluOwn;

/* A way over the host tree: links of a node, one after the other. */
#define CLU_MAX_CLIMB 5u /* devices from an adapter up: GPU, PCIe switches, socket */
typedef struct {
  guint32 link;
  gboolean forward;
  guint32 bus; /* PCIe switch behind it that the bytes pass through, or socket that they come into; CLU_NONE */
} CluStep;

typedef struct {
  CluPathClass path_class; /* of a way that is kept */
  guint32 n;
  CluStep step[2 * CLU_MAX_CLIMB];
} CluHostPath;

/* One distinct kind of node: what all nodes of this kind share. */
typedef struct {
  CluNodeSpec spec;
  guint32 first[CLU_DEV_N], n[CLU_DEV_N]; /* local device numbers by kind */
  guint32 n_devices;
  GArray *links; /* CluNodeLink */
  GArray *res;   /* CluNodeRes */
  CluOwn *own;   /* by local device */
  /* Ways through the node. A host tree: every device's link towards its socket; sockets are fully meshed. */
  guint32 *up;      /* by local device: local link to its parent, a being the device; CLU_NONE at sockets and where there is none */
  guint32 *pcie_up; /* by GPU: its PCIe link when `up` is a coherent link to the CPU; else CLU_NONE */
  guint32 *socket_link; /* n x n: local link between sockets, a being the lower; CLU_NONE on the diagonal */
  guint32 *wire;        /* by NIC: its cable to the fabric; CLU_NONE */
  guint32 frontend_wire, management_wire;
  guint32 *port; /* by GPU: its link to the scale-up switch; NULL without one */
  guint32 trunk; /* link of all GPUs together out of the node, where fewer leave it; CLU_NONE */
  guint32 *mesh; /* n x n: local link between two GPUs; NULL without a mesh */
  guint32 torus_dims[8], n_torus_dims;
  CluScaleUpKind scale_up;
  guint32 *near_first, *near_nic; /* by GPU, n + 1: its nearest NICs, those it does not leave to others */
  CluHostPath *near_path;         /* two for each of near_nic: there and back; by links alone, so that it outlives their rates */
  guint8 *nic_class;              /* by GPU and NIC: CluPathClass of the way there over the host */
  gboolean on_chip_nics;
  CluParams nic_wire;  /* a NIC's cable without the switch at its end; link_class NULL without NICs */
  double write_weight; /* of the drives: a byte written costs as much as this many read */
} CluTemplate;

static inline CluNodeLink *
clu_template_link_at (const CluTemplate *t, guint32 link)
{
  return &g_array_index (t->links, CluNodeLink, link);
}

static inline CluNodeRes *
clu_template_res_at (const CluTemplate *t, guint32 res)
{
  return &g_array_index (t->res, CluNodeRes, res);
}

static inline gboolean
clu_template_is (const CluTemplate *t, CluDevKind kind, guint32 local)
{
  return local - t->first[kind] < t->n[kind]; /* unsigned: also refuses what lies before */
}

/* Kind of a local device, and its number among its kind. */
static inline CluDevKind
clu_template_kind (const CluTemplate *t, guint32 local, guint32 *index)
{
  CluDevKind kind = CLU_DEV_GPU;
  while (!clu_template_is (t, kind, local)) {
    kind++;
    g_assert (kind < CLU_DEV_N);
  }
  *index = local - t->first[kind];
  return kind;
}

typedef struct {
  guint32 kind;                     /* template */
  guint32 dev, link, res, gpu, nic; /* first global numbers */
} CluNode;

/* The fabric: switches and cables by coordinates. A vertex below n_switches is a switch, above it an endpoint (vertex -
 * n_switches: global NIC number). */
typedef struct CluFabric CluFabric;
typedef struct CluPath CluPath;

/* How much of the bytes takes a part of the route, and whether this part is the one that people are shown. */
typedef struct {
  double share;
  guint32 n_alternatives;
  gboolean shown;
} CluPart;

typedef struct {
  guint32 a, b; /* vertices */
  const CluParams *p;
  guint32 res; /* forward, in the fabric's own numbers; backward and both follow */
} CluFabricLink;

/* One shape of fabric: what its file in fabric/ has. */
typedef struct {
  const char *const *keys; /* of `fabric` that are for kinds like it alone, NULL at the end; NULL: none */
  /* What is wrong with its keys beyond that; NULL: nothing can be. Errors go to the diag. */
  void (*check) (CluLoader *loader, const CluSpec *spec);
  /* Counts switches, cables and resources. FALSE with an error in the diag. `wire`: the NIC's cable. */
  gboolean (*build) (CluLoader *loader, const CluParams *wire);
  /* Switch that an endpoint is on; NULL: the endpoints' cables are the fabric's own (custom). */
  guint32 (*attach) (const CluFabric *fabric, guint32 endpoint);
  void (*link) (const CluFabric *fabric, guint32 link, CluFabricLink *out);
  /* The link and direction that a resource belongs to, and how many cables it stands for. */
  void (*resource) (const CluFabric *fabric, guint32 res, guint32 *link, CluResKind *direction, guint32 *n_cables);
  char *(*name) (const CluFabric *fabric, guint32 sw);
  /* Adds the way from where `from` is attached to where `to` is. CLU_TOP for either: the top level, where storage hangs. FALSE and
   * *error when there is none. */
  gboolean (*route) (const CluFabric *fabric, CluPath *path, guint32 from, guint32 to, guint64 flow, const CluPart *part,
                     GError **error);
  gboolean nodes_are_switches; /* adapters have no cables to switches beside the nodes */
} CluFabricOps;
#define CLU_TOP G_MAXUINT32

/* Levels of a folded Clos; level 0 are the leaves. */
#define CLU_MAX_LEVELS 8u
typedef struct {
  guint32 down, up, parallel;
  guint32 parents, children; /* distinct switches above, below */
  guint32 n_pods, per_pod;   /* switches of this level: n_pods x per_pod */
  guint32 first_switch, first_link, first_res;
  CluParams p; /* of the cables up */
} CluTreeLevel;

struct CluFabric {
  const CluFabricOps *ops; /* NULL: none */
  const Clu *clu;
  CluRouting routing;
  guint64 seed;
  guint32 n_endpoints, n_switches, n_links, n_res;
  guint32 dev, link, res; /* first global numbers */
  guint32 n_levels; /* of a tree; 0: another shape */
  CluTreeLevel level[CLU_MAX_LEVELS];
  guint32 rails, pod; /* rail-optimised; 0 otherwise */
  guint32 radix[3];   /* cables that a switch of a level takes, where a tree follows from that; 0 otherwise */
  const void *shape;  /* what another shape keeps, in the cluster's arena */
};

/* A switch of the top level, where storage hangs, and how many there are. */
static inline guint32
clu_fabric_top (const CluFabric *fabric)
{
  return fabric->n_levels > 0 ? fabric->level[fabric->n_levels - 1].first_switch : 0;
}

static inline guint32
clu_fabric_n_top (const CluFabric *fabric)
{
  return fabric->n_switches - clu_fabric_top (fabric);
}

typedef struct {
  const CluStorageSpec *spec;
  guint32 dev, link, res; /* global; one link to its network */
  CluParams p;      /* its rate: of reads */
  double write_Bps; /* what it takes in */
} CluTierNode;

struct Clu {
  BaseArena *arena;
  GPtrArray *yamls; /* BaseYaml *, owned */
  CluSpec spec;
  guint64 seed;
  guint32 n_nodes, n_gpus, n_nics, n_devices, n_links, n_res;
  GPtrArray *templates;                        /* CluTemplate * */
  CluNode *node;                               /* n_nodes + 1 */
  gboolean uniform;                            /* one template: numbers by division */
  guint32 domain_nodes, n_domains, domain_dev; /* nodes a domain; first switch device when wider than a node */
  double domain_taper;                         /* part of a node's scale-up links that leave it */
  gboolean wide;                               /* the scale-up switch belongs to a domain, not to a node */
  CluFabric fabric;
  guint32 frontend_dev, frontend_res; /* CLU_NONE: none; res: the core's capacity */
  double frontend_core_Bps;
  const CluLinkClass *frontend_class;
  guint32 management_dev;
  guint32 n_tiers;
  CluTierNode *tier;
  const CluLinkClass *host_memory; /* of memories that only a calibration tells of; NULL: none yet */
  double *background_Bps; /* of each resource, taken by others; NULL: nothing is */
};

guint32 clu_node_of_dev (const Clu *clu, CluDev dev); /* CLU_NONE outside nodes */
guint32 clu_node_of_gpu (const Clu *clu, guint32 gpu);
guint32 clu_node_of_nic (const Clu *clu, guint32 nic);
static inline const CluTemplate *
clu_node_template (const Clu *clu, guint32 node)
{
  return g_ptr_array_index (clu->templates, clu->node[node].kind);
}
/* "gpu", "pcie_switch": a kind of device as names write it; "host" is a memory. */
const char *clu_dev_word (CluDevKind kind);
/* The device at the far end of a node's link. */
CluDev clu_link_far (const Clu *clu, guint32 node, guint32 local_link);
CluDev clu_fabric_dev (const Clu *clu, guint32 vertex);
/* Storage tier of a device, or NULL. */
const CluTierNode *clu_tier_of_dev (const Clu *clu, CluDev dev);

#endif
