/* Routes between devices: which resources a byte crosses, and in which share.
 * A route may spread (adaptive routing, several NICs of one GPU, parallel cables): then each use has the share of the bytes
 * that takes it. */
#ifndef CLUSTER_ROUTE_H
#define CLUSTER_ROUTE_H

#include "cluster/cluster.h"

typedef struct {
  CluRes res;
  double share; /* bytes on this resource per byte of the transfer; > 1 where a byte crosses twice; at least 1e-30: of all shortest
                   paths over a large torus most have less, and are left out */
} CluUse;

/* NCCL's path classes, near to far (src/graph/topo.h): LOC the same device, NVL scale-up link or switch, NVB by way of other
 * GPUs, C2C coherent link to the CPU, PIX under one PCIe switch, PXB several, P2C coherent link and then PCIe, PXN by NVLink to
 * another GPU's adapter, PHB through a socket, SYS between sockets, NET over a network. */
typedef enum { CLU_PATH_LOC, CLU_PATH_NVL, CLU_PATH_NVB, CLU_PATH_C2C, CLU_PATH_PIX, CLU_PATH_PXB, CLU_PATH_P2C, CLU_PATH_PXN,
               CLU_PATH_PHB, CLU_PATH_SYS, CLU_PATH_NET, CLU_PATH_N } CluPathClass;
const char *clu_path_class_name (CluPathClass path_class);

/* How the bytes are carried: what software and which hardware path. */
typedef enum {
  CLU_TRANSPORT_P2P,       /* GPU to GPU over NVLink or PCIe, same node or domain */
  CLU_TRANSPORT_SHM,       /* through host memory: GPU, PCIe, memory, PCIe, GPU */
  CLU_TRANSPORT_NET_GDR,   /* NIC reads and writes GPU memory */
  CLU_TRANSPORT_NET_HOST,  /* RDMA staged in host memory */
  CLU_TRANSPORT_TCP,       /* sockets, staged in host memory */
  CLU_TRANSPORT_COPY,      /* host or storage to GPU and the like: DMA */
  CLU_TRANSPORT_N
} CluTransport;
const char *clu_transport_name (CluTransport transport);

/* What is switched off or forced (scenario's `degrade:` and NCCL's variables). Zeroed: everything works. */
typedef struct {
  gboolean no_p2p;         /* degrade p2p: off, NCCL_P2P_DISABLE=1 */
  gboolean no_nvlink;      /* P2P by PCIe only */
  gboolean no_gdr;         /* degrade gdr: off */
  gboolean no_rdma;        /* degrade rdma: off, NCCL_IB_DISABLE=1: TCP over the same adapters */
  gboolean host_only;      /* backend: gloo: all through host memory and TCP */
  gboolean management;     /* network: management: the 1 Gb/s out-of-band network */
  gboolean frontend;       /* network: frontend */
  guint32 max_nics;        /* use only the first n NICs of a node; 0: all */
  gboolean remote_numa;    /* host buffers and NICs on the other socket (on the next one of more than two): staged there, no GDR */
  gboolean no_pxn;         /* NCCL_PXN_DISABLE=1: a GPU never leaves by another GPU's adapter */
  gboolean same_rail;      /* NCCL_CROSS_NIC=0: a GPU leaves by the adapter of its peer's rail, however far inside the node */
  CluPathClass p2p_level;  /* NCCL_P2P_LEVEL: P2P up to this class, SHM beyond; 0: wherever the hardware can (NCCL's own default
                              is PXB) */
  CluPathClass gdr_level;  /* NCCL_NET_GDR_LEVEL: likewise for GDR, staged beyond; 0: wherever the hardware can */
} CluDegrade;

typedef struct {
  CluDegrade degrade;
  guint32 nic;             /* leave by this NIC of the source node (and enter by the same rail); CLU_NONE: the nearest, spread
                              over equally near ones that it need not share with other GPUs (NCCL src/graph/topo.cc,
                              ncclTopoGetLocalNet) */
  gboolean over_network;   /* GPUs of one node: by their adapters and the fabric, as between nodes */
  gboolean peer_drives;    /* drives and GPUs of a node reach each other wherever PCIe joins them (GPUDirect Storage); else by the
                              host beyond one switch */
  guint64 flow;            /* distinguishes flows between the same ends for ECMP; static and adaptive ignore it */
  gboolean no_hops;        /* leaves `hops` empty: for who wants uses and latency alone, of many routes */
} CluRouteOptions;
#define CLU_ROUTE_DEFAULT ((CluRouteOptions){ .nic = CLU_NONE })

/* One step as people read it. */
typedef struct {
  CluLinkId link;          /* CLU_NONE for a device's own resource */
  CluDev from, to;
  CluRes res;              /* CLU_NONE: nothing that binds (a host memory without a rate) */
  double share;            /* of the bytes on this resource */
  guint32 n_alternatives;  /* equal links that the bytes are spread over at this step; 1 if none */
} CluHop;

typedef struct {
  CluTransport transport;
  CluPathClass path_class;
  CluPathClass nic_class;  /* over a network: the farther of the two ends' paths to their adapters; else LOC */
  double latency_s;        /* sum of the crossings along the first of the alternatives; no software */
  GArray *uses;            /* CluUse, one per resource (shares summed), in path order */
  GArray *hops;            /* CluHop along the first of the alternatives */
} CluRoute;

void clu_route_init (CluRoute *route);
void clu_route_clear (CluRoute *route);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CluRoute, clu_route_clear)

/* Finds the route from one device to another; same device: no uses. Ends: GPUs, host memory, drives, adapters, storage tiers.
 * GPUs of different nodes on a rail-optimised fabric whose own adapters are on different rails leave by the destination's rail
 * (PXN) where a scale-up network leads there. Drives and TCP go through host memory, as does storage unless the adapter reaches
 * the GPU. Inside a torus of GPUs bytes go in dimension order by other GPUs; GPUs of a mesh without a link between them go over
 * PCIe. Two calls with equal arguments give equal routes. FALSE and *error (BASE_ERROR_INPUT) when the one cannot reach the
 * other: says between which devices the path breaks. `out` was initialised; it is reused without allocation where it is large
 * enough. */
gboolean clu_route_find (const Clu *clu, CluDev from, CluDev to, const CluRouteOptions *options, CluRoute *out, GError **error);

/* The use with the least capacity / share; index into uses, and the rate that the route alone reaches (B/s). CLU_NONE and
 * infinity for a route without uses. */
guint32 clu_route_bottleneck (const Clu *clu, const CluRoute *route, double *rate_Bps);

/* What a copy by the CPU inside a node's host memory takes of it for each byte, read and written, spread over the sockets: CluUse,
 * appended to `uses`. Nothing where the memory's rate is not known. */
void clu_host_copy_uses (const Clu *clu, guint32 node, GArray *uses);

/* Whether bytes stop in a host's memory on their way. */
gboolean clu_route_is_staged (const Clu *clu, const CluRoute *route);

#endif
