/* Routes between devices: which resources a byte crosses, and in which share.
 * A route may spread (adaptive routing, several NICs of one GPU, parallel cables): then each use has the share of the bytes
 * that takes it. */
#ifndef CLUSTER_ROUTE_H
#define CLUSTER_ROUTE_H

#include "cluster/cluster.h"

G_BEGIN_DECLS

typedef struct {
  CluRes res;
  double share; /* bytes on this resource per byte of the transfer; > 1 where a byte crosses twice */
} CluUse;

/* NCCL's path classes, near to far (src/graph/topo.h). */
typedef enum { CLU_PATH_LOC, CLU_PATH_NVL, CLU_PATH_NVB, CLU_PATH_C2C, CLU_PATH_PIX, CLU_PATH_PXB, CLU_PATH_PXN, CLU_PATH_PHB,
               CLU_PATH_SYS, CLU_PATH_NET, CLU_PATH_N } CluPathClass;
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
  gboolean remote_numa;    /* host buffers and NICs on the other socket */
} CluDegrade;

typedef struct {
  CluDegrade degrade;
  guint32 nic;             /* leave by this NIC of the source node (and enter by the same rail); CLU_NONE: the nearest, spread over
                              equally near ones */
  guint64 flow;            /* distinguishes flows between the same ends for ECMP; static and adaptive ignore it */
} CluRouteOptions;
#define CLU_ROUTE_DEFAULT ((CluRouteOptions){ .nic = CLU_NONE })

/* One step as people read it. */
typedef struct {
  CluLinkId link;          /* CLU_NONE for a device's own resource */
  CluDev from, to;
  CluRes res;
  double share;
  guint32 n_alternatives;  /* equal links that the bytes are spread over at this step; 1 if none */
} CluHop;

typedef struct {
  CluTransport transport;
  CluPathClass path_class;
  double latency_s;        /* sum of the crossings; no software */
  GArray *uses;            /* CluUse, one per resource (shares summed), in path order */
  GArray *hops;            /* CluHop along the first of the alternatives */
} CluRoute;

void clu_route_init (CluRoute *route);
void clu_route_clear (CluRoute *route);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CluRoute, clu_route_clear)

/* Finds the route from one device to another; same device: no uses. Two calls with equal arguments give equal routes. FALSE and
 * *error (BASE_ERROR_INPUT) when the one cannot reach the other: says between which devices the path breaks. `out` was
 * initialised; it is reused without allocation where it is large enough. */
gboolean clu_route_find (const Clu *clu, CluDev from, CluDev to, const CluRouteOptions *options, CluRoute *out, GError **error);

/* The use with the least capacity / share; index into uses, and the rate that the route alone reaches (B/s). */
guint32 clu_route_bottleneck (const Clu *clu, const CluRoute *route, double *rate_Bps);

G_END_DECLS

#endif
