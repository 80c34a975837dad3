/* The cluster graph as its own files see it. Nothing outside this folder includes this. */
#ifndef CLUSTER_CLU_PRIVATE_H
#define CLUSTER_CLU_PRIVATE_H

#include "cluster/route.h"
#include "spec/spec-private.h"

G_BEGIN_DECLS

/* A link's figures once class, type and differences are merged. */
typedef struct {
  const CluLinkClass *link_class;
  double lanes, rate_Bps, efficiency, sm_efficiency, latency_s, duplex;
  BaseSource source;
} CluParams;

static inline gboolean
clu_params_shared (const CluParams *p)
{
  return p->duplex < 1;
}

/* Resources of a link: forward, backward and, when the two directions get in each other's way, both. */
static inline guint32
clu_params_n_res (const CluParams *p)
{
  return clu_params_shared (p) ? 3 : 2;
}

/* What a link of a node leads to. */
typedef enum { CLU_END_LOCAL, CLU_END_DOMAIN, CLU_END_FABRIC, CLU_END_FRONTEND, CLU_END_MANAGEMENT } CluEnd;

typedef struct {
  guint32 a, b; /* local devices; b only for CLU_END_LOCAL */
  CluEnd end;
  guint32 res; /* local number of forward; backward and both follow */
  CluParams p;
} CluNodeLink;

/* From OWN on: a device's own; a memory's that counts what is read, or written, alone. */
typedef enum { CLU_RES_FORWARD, CLU_RES_BACKWARD, CLU_RES_BOTH, CLU_RES_OWN, CLU_RES_READ, CLU_RES_WRITE } CluResKind;

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
} CluWay;

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
  guint32 *mesh; /* n x n: local link between two GPUs; NULL without a mesh */
  guint32 torus_dims[8], n_torus_dims;
  CluScaleUpKind scale_up;
  guint32 *near_first, *near_nic; /* by GPU, n + 1: its nearest NICs, those it does not leave to others */
  CluWay *near_way;               /* two for each of near_nic: there and back; by links alone, so that it outlives their rates */
  guint8 *nic_class;              /* by GPU and NIC: CluPathClass of the way there over the host */
  gboolean on_chip_nics;
  CluParams nic_wire;  /* a NIC's cable without the switch at its end; link_class NULL without NICs */
  double write_weight; /* of the drives: a byte written costs as much as this many read */
} CluTemplate;

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

/* One shape of fabric; a row a kind. */
typedef struct {
  CluFabricKind kind;
  /* Switch that an endpoint is on; CLU_NONE: its cables are the fabric's (custom). */
  guint32 (*attach) (const CluFabric *fabric, guint32 endpoint);
  void (*link) (const CluFabric *fabric, guint32 link, CluFabricLink *out);
  /* The link and direction that a resource belongs to, and how many cables it stands for. */
  void (*resource) (const CluFabric *fabric, guint32 res, guint32 *link, CluResKind *direction, guint32 *n_cables);
  char *(*name) (const CluFabric *fabric, guint32 sw);
  /* Adds the way from where `from` is attached to where `to` is. CLU_TOP for either: the top level, where storage hangs. FALSE and
   * *error when there is none. */
  gboolean (*route) (const CluFabric *fabric, CluPath *path, guint32 from, guint32 to, guint64 flow, const CluPart *part,
                     GError **error);
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

typedef struct {
  guint32 neighbour, link;
  gboolean forward;
} CluArc;

struct CluFabric {
  const CluFabricOps *ops; /* NULL: none */
  const Clu *clu;
  CluRouting routing;
  guint64 seed;
  guint32 n_endpoints, n_switches, n_links, n_res;
  guint32 dev, link, res; /* first global numbers */
  /* trees */
  guint32 n_levels;
  CluTreeLevel level[CLU_MAX_LEVELS];
  guint32 rails, pod; /* rail-optimised; 0 otherwise */
  /* dragonfly */
  guint32 groups, routers, hosts, global_links, copies;
  CluParams cable;
  /* torus */
  guint32 n_dims, dim[8];
  /* custom */
  CluCustomSwitch *sw;
  CluFabricLink *cables;
  CluParams *cable_params;
  guint32 *arc_first; /* by vertex, n + 1 */
  CluArc *arc;
  guint16 *distance; /* switch x switch, cables; G_MAXUINT16: no way */
};

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

/* What reading needs beside the graph. */
typedef struct {
  Clu *clu;
  BaseSchemaContext context;
  GHashTable *classes;  /* name -> CluLinkClass *, those looked up by generation */
  gboolean nodes_given; /* the number of nodes came from outside the file */
  gboolean switches_follow; /* as of CluLoadOptions */
} CluLoader;

/* --- spec/params.c */
/* The class of a file topologies/links/NAME.yaml; NULL and an error at `mark` when there is none. */
const CluLinkClass *clu_loader_class (CluLoader *loader, const char *name, BaseMark mark);
/* A class for links that name none. */
const CluLinkClass *clu_class_new (Clu *clu, const char *name, CluFamily family);
/* Merges specs in order (later wins; NULLs skipped) over a class used when none names one. FALSE and an error at `mark` when no
 * rate can be told; `what` names the link. */
gboolean clu_params_resolve (CluLoader *loader, const CluLinkSpec *const *specs, unsigned n, const CluLinkClass *fallback,
                             BaseMark mark, const char *what, CluParams *out);
/* The same link with a part of its lanes. */
CluParams clu_params_part (const CluParams *whole, double lanes);
CluParams clu_params_plain (const CluLinkClass *link_class, double rate_Bps, double latency_s, BaseSource source);
double clu_params_capacity (const CluParams *p, CluResKind kind);
BaseSource clu_num_source (const BaseNum *num);

/* --- spec/check.c: what a table row cannot say. All errors go to the loader's diag. */
void clu_check_node (CluLoader *loader, CluNodeSpec *node);
void clu_check_topology (CluLoader *loader, CluSpec *spec);

/* --- node */
/* `link_overrides`: const BaseList * of CluLinkOverride, in order. */
CluTemplate *clu_template_new (CluLoader *loader, const CluNodeSpec *spec, const GPtrArray *link_overrides);
void clu_template_free (CluTemplate *template);
/* Resources anew, after links changed. */
void clu_template_renumber (CluTemplate *t);
/* What all memories of the node reach: both ways together, read, written; 0: no limit. Resources are numbered after. */
void clu_template_host (CluTemplate *t, double both_Bps, double read_Bps, double write_Bps);
guint32 clu_template_link (CluTemplate *t, guint32 a, guint32 b, CluEnd end, const CluParams *p);
void clu_template_scale_up (CluLoader *loader, CluTemplate *t);
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
/* Kind of a local device, and its number among its kind. */
CluDevKind clu_template_kind (const CluTemplate *t, guint32 local, guint32 *index);

/* --- load/load.c */
/* Global numbers anew, after templates changed theirs. */
gboolean clu_renumber (Clu *clu, GError **error);

/* --- load/overrides.c */
/* Makes the templates and gives every node its own. Nothing is made when there are errors. */
void clu_overrides_apply (CluLoader *loader);

/* --- fabric */
/* Builds the shape; errors to the diag. `wire`: the NIC's cable; NULL without NICs. */
void clu_fabric_build (CluLoader *loader, const CluParams *wire);
void clu_fabric_clear (CluFabric *fabric);
/* A switch of the top level, where storage hangs. */
guint32 clu_fabric_top (const CluFabric *fabric);
guint32 clu_fabric_n_top (const CluFabric *fabric);
void clu_fabric_build_tree (CluLoader *loader, const CluParams *wire);
void clu_fabric_build_dragonfly (CluLoader *loader, const CluParams *wire);
void clu_fabric_build_torus (CluLoader *loader, const CluParams *wire);
void clu_fabric_build_custom (CluLoader *loader, const CluParams *wire);
/* A tier's figures: radix (0: not said), crossing latency. */
guint32 clu_tier_radix (const CluTierSpec *tier);
double clu_tier_latency (const CluTierSpec *tier);
/* The switches of a level; those of the level below where nothing is said. */
const CluTierSpec *clu_fabric_tier (const CluFabricSpec *spec, guint32 level);
/* A cable between two switches: the NIC's wire, what `link` and `fabric.link` differ, and half of each end's crossing. `link`
 * may be NULL. FALSE with an error at `mark`. */
gboolean clu_fabric_cable (CluLoader *loader, const CluParams *wire, const CluLinkSpec *link, BaseMark mark, double crossings_s,
                           CluParams *out);
/* Checks that numbers fit; FALSE with an error. */
gboolean clu_fabric_fits (CluLoader *loader, guint64 n, const char *what);
/* Digit `level` of the choice among equal paths, below `bound`. */
guint32 clu_fabric_choice (const CluFabric *fabric, guint32 from, guint32 to, guint64 flow, guint32 step, guint32 bound);
/* Emits one cable of the fabric. */
void clu_fabric_emit (const CluFabric *fabric, CluPath *path, guint32 link, gboolean forward, const CluPart *part);

/* --- graph.c */
guint32 clu_node_of_dev (const Clu *clu, CluDev dev); /* CLU_NONE outside nodes */
guint32 clu_node_of_gpu (const Clu *clu, guint32 gpu);
guint32 clu_node_of_nic (const Clu *clu, guint32 nic);
static inline const CluTemplate *
clu_node_template (const Clu *clu, guint32 node)
{
  return g_ptr_array_index (clu->templates, clu->node[node].kind);
}
/* The device at the far end of a node's link. */
CluDev clu_link_far (const Clu *clu, guint32 node, guint32 local_link);
CluDev clu_fabric_dev (const Clu *clu, guint32 vertex);
/* Storage tier of a device, or NULL. */
const CluTierNode *clu_tier_of_dev (const Clu *clu, CluDev dev);

G_END_DECLS

#endif
