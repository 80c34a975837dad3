/* The typed image of topology YAML, as the schema tables fill it. One struct a mapping; docs/topology.md is generated from the
 * tables. All numbers SI, one way (per direction) unless said. */
#ifndef CLUSTER_SPEC_H
#define CLUSTER_SPEC_H

#include "base/leaf.h"
#include "base/schema.h"
#include "models/tier.h"

/* A class of links, a row of models.md section 1. topologies/links/NAME.yaml */
typedef struct {
  BaseHead head;
  BaseStr name;        /* link_class: nvlink4 */
  BaseStr summary;
  BaseEnum family;     /* CluFamily */
  BaseNum lane_rate;   /* B/s one way of one lane, NVLink or port, as specified */
  BaseNum lanes;       /* how many are usual (x16, 18 NVLinks, 1 port) */
  BaseNum efficiency;  /* what a large DMA (copy engine, RDMA) reaches over the specification */
  BaseNum sm_efficiency; /* what a kernel's loads and stores reach (NCCL's copies); default: efficiency */
  BaseNum latency;     /* s, one crossing of the link and what stands at its far end */
  BaseNum duplex;      /* what both ways together reach over twice one way: 1 full duplex, 0.5 one shared medium */
  BaseNum rdma_efficiency, rdma_duplex; /* the same two where an adapter reads and writes a GPU's memory; default: those above */
  BaseNum peer;        /* between sockets: B/s that PCIe devices of others move into one socket's, peer to peer; absent: no limit */
} CluLinkClass;

/* Families of links: constant, name in files, whether switches of such a network may reduce (SHARP is InfiniBand's; a bus and what
 * scale-up makes of a network are for teaching), what it is. To add one, add its row. */
#define CLU_FAMILIES(ROW)                                                                           \
  ROW (NVLINK, nvlink, TRUE, "NVIDIA NVLink")                                                       \
  ROW (XGMI, xgmi, TRUE, "AMD Infinity Fabric between GPUs")                                        \
  ROW (C2C, c2c, TRUE, "coherent link between a CPU and its GPU")                                   \
  ROW (NEURONLINK, neuronlink, TRUE, "AWS NeuronLink")                                              \
  ROW (ICI, ici, TRUE, "Google's inter-chip interconnect of TPUs")                                  \
  ROW (SCALEUP_ETHERNET, scaleup_ethernet, TRUE, "Ethernet between accelerators of a node (Gaudi)") \
  ROW (PCIE, pcie, TRUE, "PCI Express")                                                             \
  ROW (SOCKET, socket, TRUE, "link of CPU sockets")                                                 \
  ROW (MEMORY, memory, TRUE, "host memory")                                                         \
  ROW (BUS, bus, TRUE, "shared medium, or a link for teaching")                                     \
  ROW (INFINIBAND, infiniband, TRUE, "InfiniBand")                                                  \
  ROW (ROCE, roce, FALSE, "RDMA over Ethernet")                                                     \
  ROW (EFA, efa, FALSE, "AWS Elastic Fabric Adapter")                                               \
  ROW (SLINGSHOT, slingshot, FALSE, "HPE Slingshot")                                                \
  ROW (OMNIPATH, omnipath, FALSE, "Omni-Path")                                                      \
  ROW (ETHERNET, ethernet, FALSE, "Ethernet without RDMA")                                          \
  ROW (STORAGE, storage, TRUE, "storage tier or drive")
#define CLU_FAMILY_CODE(constant, name, reduces, help) CLU_FAMILY_##constant,
typedef enum { CLU_FAMILIES (CLU_FAMILY_CODE) CLU_FAMILY_N } CluFamily;
/* Whether switches of a network of such links may reduce. */
gboolean clu_family_may_reduce (CluFamily family);

/* Where a link is described in place: a class, and what differs from it. */
typedef struct {
  BaseHead head;
  BaseRef link_class;  /* `class:` CluLinkClass, named or inline */
  BaseNum lanes;       /* overrides the class */
  BaseNum rate;        /* overrides lanes x lane_rate (specification, one way) */
  BaseNum efficiency, sm_efficiency, latency, duplex, rdma_efficiency, rdma_duplex;
} CluLinkSpec;

typedef struct {
  BaseHead head;
  BaseNum fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4; /* FLOP/s dense, tensor cores where there are any */
} CluPeaks;

/* topologies/gpus/NAME.yaml */
typedef struct {
  BaseHead head;
  BaseStr name;          /* gpu: h200_sxm */
  BaseStr product;       /* "NVIDIA H200 SXM 141 GB" */
  BaseEnum vendor;       /* CluVendor */
  BaseBool isolated;     /* no other GPU reaches its memory: an instance of MIG */
  BaseNum compute_capability; /* 90 for sm_90; absent elsewhere */
  BaseNum compute_units; /* SMs, CUs, TPCs, NeuronCores */
  BaseNum memory;        /* B */
  BaseNum memory_usable; /* B of it that programs may take; absent: all */
  BaseNum memory_bandwidth; /* B/s, read + write, as specified */
  BaseNum memory_efficiency; /* reached over specified */
  CluPeaks peak;
  CluLinkSpec scale_up;  /* `scale_up: {class: nvlink4, lanes: 18}`: all links of one GPU together */
  CluLinkSpec pcie;      /* `pcie: {class: pcie5}` to its switch or socket */
  BaseNum power, idle_power; /* W */
  BaseNum price;         /* USD, if published */
  BaseStr node;          /* topology that supplies the missing parts of a short form */
} CluGpuSpec;
typedef enum { CLU_VENDOR_NVIDIA, CLU_VENDOR_AMD, CLU_VENDOR_INTEL, CLU_VENDOR_AWS, CLU_VENDOR_GOOGLE, CLU_VENDOR_OTHER } CluVendor;

/* topologies/nics/NAME.yaml */
typedef struct {
  BaseHead head;
  BaseStr name;          /* nic: cx7_ndr400 */
  BaseStr product;
  CluLinkSpec port;      /* `port: {class: ib_ndr}`: the wire, one way; rate = all ports of the adapter */
  CluLinkSpec pcie;      /* to its switch or socket */
  BaseBool rdma;         /* default true */
  BaseBool gpudirect;    /* default true */
  BaseNum power, price;
  BaseRef leaf;          /* CluSwitchSpec: switch that it is connected to by default */
} CluNicSpec;

/* Where one streaming reduction tree may be active at a time: nowhere (short messages alone), in a switch, on a port. */
typedef enum { CLU_SHARP_STREAM_NONE, CLU_SHARP_STREAM_SWITCH, CLU_SHARP_STREAM_PORT } CluSharpStream;
extern const BaseName clu_sharp_stream_names[]; /* none switch port */

/* `sharp:` of a switch type: what its reduction can do. */
typedef struct {
  BaseHead head;
  BaseBool offered;      /* default: yes where anything else is said */
  BaseNum generation;    /* 1 to 4 */
  BaseEnum stream;       /* CluSharpStream; not set: no limit is known */
  BaseNum trees;         /* streaming trees of a subnet */
  BaseNum radix;         /* children of an aggregation node; default: any */
  BaseNum rate;          /* share of what a link reaches; default: all */
  BaseBool small_types;  /* adds bf16 and int8; default: yes */
} CluSharpSpec;

/* topologies/switches/NAME.yaml */
typedef struct {
  BaseHead head;
  BaseStr name, product;
  BaseNum radix;         /* ports */
  BaseNum port_rate;     /* B/s */
  BaseNum latency;       /* s, port to port */
  CluSharpSpec sharp;
  BaseNum power, price;
} CluSwitchSpec;

/* topologies/storage/NAME.yaml: one drive */
typedef struct {
  BaseHead head;
  BaseStr name, product;
  BaseNum capacity;
  BaseNum read, write;   /* B/s */
  BaseNum read_iops, write_iops;
  BaseNum random_read_iops, random_write_iops; /* 1/s of RANDOM_BLOCK_B; absent: as the two above */
  BaseNum latency;       /* s, read */
  BaseNum write_latency; /* s; absent: as read */
  BaseNum read_stream, write_stream; /* B/s of one request at a time; absent: as all */
  BaseNum blend;         /* as of MdlStorage; absent: the calibration's */
  CluLinkSpec pcie;
  BaseNum power, price;
} CluDriveSpec;

typedef enum {
  CLU_SCALE_UP_NONE, CLU_SCALE_UP_SWITCH, CLU_SCALE_UP_FULL_MESH, CLU_SCALE_UP_LINKS, CLU_SCALE_UP_TORUS
} CluScaleUpKind;

typedef struct {
  BaseHead head;
  BaseNum a, b;          /* GPU numbers in the node */
  BaseNum lanes;         /* links between the two */
} CluMeshLink;

/* `nvlink:` — the scale-up network of a node (or of an NVLink domain), whatever its vendor calls it */
typedef struct {
  BaseHead head;
  BaseEnum kind;         /* switch (default when `switches` > 0), full_mesh, links, torus, none */
  BaseNum switches;      /* NVSwitch chips (planes); every GPU reaches all of them */
  BaseNums planes;       /* NVLinks of one GPU to each switch (5, 4, 4, 5); default: even */
  BaseBool sharp;        /* reduction in the switch (NVLS) */
  BaseList links;        /* CluMeshLink, for kind links: hybrid cube mesh, bridges in pairs */
  BaseNums dims;         /* torus */
  BaseNums dim_lanes;    /* its links of a GPU to each of the two neighbours in a dimension; absent: even */
  BaseNum lanes_used;    /* links of one GPU that are up, if fewer than its type has (a failed plane) */
  CluLinkSpec link;      /* what differs from the GPU type's scale_up link */
} CluNvlinkSpec;

typedef struct {
  BaseHead head;
  BaseNum generation, lanes; /* 3..7; 4 8 16 */
} CluPcieWidth;

typedef struct {
  BaseHead head;
  BaseNum generation, lanes; /* of a GPU's slot; default: the GPU type's */
  BaseNum switch_per;        /* GPUs behind one PCIe switch; 0: GPUs are attached to the socket */
  CluPcieWidth uplink;       /* switch to socket */
  BaseStrs under_switch;     /* nics, nvme: what stands below the same switches; the rest is attached to the sockets */
  BaseNum bus;               /* B/s that all traffic through one switch shares (both ways together); absent: non-blocking */
  CluLinkSpec link;          /* what differs from class pcieN (efficiency, latency) */
} CluPcieSpec;

typedef struct {
  BaseHead head;
  BaseNum count;
  CluLinkSpec interconnect;  /* between sockets */
  BaseNum peer;              /* as CluLinkClass's, which it goes before */
  BaseNum memory;            /* B/s of one socket's memory: what all copies from and to the host share */
  BaseNum memory_capacity;
  BaseNum cores;             /* of one socket; absent: never what binds */
  BaseEnum vendor;           /* CluCpu: intel, amd, arm, power; NCCL's constants differ by it */
  CluLinkSpec gpu_link;      /* coherent link from a GPU to its CPU (NVLink-C2C); replaces PCIe as path to the host */
} CluSocketSpec;
typedef enum { CLU_CPU_INTEL, CLU_CPU_AMD, CLU_CPU_ARM, CLU_CPU_POWER, CLU_CPU_OTHER } CluCpu;

typedef struct {
  BaseHead head;
  BaseRef type;              /* CluNicSpec */
  BaseNum count;             /* a node */
  BaseNum per_gpu;           /* default count / GPUs; when it does not divide: an error at `count` */
  BaseNum rate;              /* overrides the type's wire */
  BaseStrs on;               /* PCIe switches and sockets that they stand on, in this order; absent: see `pcie.under_switch` */
} CluNicsSpec;

typedef struct {
  BaseHead head;
  BaseNum drives;
  BaseRef type;              /* CluDriveSpec */
  BaseNum raid;              /* 0: striped; other levels are refused for now */
  BaseStrs on;               /* PCIe switches and sockets that they stand on, in this order; absent: see `pcie.under_switch` */
} CluLocalNvmeSpec;

typedef struct {
  BaseHead head;
  CluLocalNvmeSpec local_nvme;
} CluNodeStorageSpec;

typedef struct {
  BaseHead head;
  BaseRef type;              /* CluGpuSpec */
  BaseNum count;
} CluGpusSpec;

typedef struct {
  BaseHead head;
  CluGpusSpec gpus;
  CluNvlinkSpec nvlink;
  CluPcieSpec pcie;
  CluSocketSpec sockets;
  CluNicsSpec nics;
  CluNodeStorageSpec storage;
  BaseNum power;             /* W of the node beside its GPUs */
} CluNodeSpec;

/* Kinds of fabric beside `none`: constant, name in files and of the CluFabricOps that builds it (sim/cluster/fabric), what it is.
 * To add one, add its row and its file. */
#define CLU_FABRIC_KINDS(ROW)                                                                                         \
  ROW (SINGLE_SWITCH, single_switch, "all NICs on one non-blocking switch")                                           \
  ROW (FAT_TREE, fat_tree, "folded Clos; NICs on leaves in node order; paths go up to the first common level")        \
  ROW (RAIL_OPTIMISED, rail_optimised, "tree with NIC k of each node of a pod on leaf k of the pod")                  \
  ROW (DRAGONFLY, dragonfly, "all-to-all cables in a group and between groups; a path has at most one cable of each") \
  ROW (TORUS, torus, "one router per node, cables to neighbours in each of `dims`; shortest paths")                   \
  ROW (CUSTOM, custom, "the switches and cables listed; paths with the fewest cables")
#define CLU_FABRIC_CODE(constant, name, help) CLU_FABRIC_##constant,
typedef enum { CLU_FABRIC_NONE, CLU_FABRIC_KINDS (CLU_FABRIC_CODE) CLU_FABRIC_N } CluFabricKind;
typedef enum { CLU_ROUTING_STATIC, CLU_ROUTING_ECMP, CLU_ROUTING_ADAPTIVE } CluRouting;

typedef struct {
  BaseHead head;
  BaseRef type;              /* CluSwitchSpec, optional */
  BaseNum radix;
  BaseNum latency;           /* s a crossing */
} CluTierSpec;

typedef struct {
  BaseHead head;
  BaseNum down;              /* ports (or links) to the level below, a switch */
  BaseNum up;                /* ports to the level above, a switch; absent at the top */
  BaseNum parallel;          /* cables between a pair; default 1 */
} CluLevelSpec;

/* custom: named switches and cables. Ends: a switch's name, or "node3.nic0"; [a-b] ranges ("node[0-7].nic0"). */
typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum latency;
} CluCustomSwitch;
typedef struct {
  BaseHead head;
  BaseStr from, to;
  BaseNum count;             /* parallel cables */
  CluLinkSpec link;          /* inline keys: class, rate, latency … */
} CluCustomLink;

typedef struct {
  BaseHead head;
  BaseNum groups, routers, hosts; /* groups; routers a group; NIC ports a router */
  BaseNum global_links;      /* of one router to other groups */
} CluDragonflySpec;

/* `sharp:` of a fabric */
typedef struct {
  BaseHead head;
  BaseBool offered;          /* default: as the leaf's type */
  BaseNum jobs;              /* others that reduce in the same switches */
} CluFabricSharp;

typedef struct {
  BaseHead head;
  BaseEnum kind;
  CluTierSpec leaf, spine, core;
  BaseNums oversubscription; /* down over up bandwidth, from the leaf up; the last repeats */
  BaseList levels;           /* CluLevelSpec: explicit shape of a fat tree from the leaf up, instead of radix */
  BaseNum pod;               /* nodes a pod (scalable unit) of a rail-optimised fabric; default leaf radix / 2 */
  BaseNums dims;             /* torus of nodes */
  CluDragonflySpec dragonfly;
  BaseList switches, links;  /* custom */
  CluLinkSpec link;          /* switch-to-switch cables; default: the NIC's wire */
  BaseEnum routing;          /* CluRouting */
  BaseNum seed;              /* of the ECMP hash; default: the run's */
  CluFabricSharp sharp;
} CluFabricSpec;

/* A DPU in place of the front-end adapter: its own cores run the storage clients' protocol. */
typedef struct {
  BaseHead head;
  BaseNum rate;    /* B/s that it moves, each way; default: its network's */
  BaseNum latency; /* s that it adds to a request */
} CluDpuSpec;

typedef struct {
  BaseHead head;
  BaseNum rate;              /* of a node's front-end adapter */
  BaseEnum kind;             /* fabric kind; single_switch default */
  BaseNum latency;
  BaseNums oversubscription;
  BaseBool gpudirect;        /* its adapter reads and writes GPU memory */
  CluDpuSpec dpu;
} CluFrontendSpec;

/* A tier that holds a part of another one of the topology, and fetches what it lacks (models/tier_cache.h). */
typedef struct {
  BaseHead head;
  BaseStr of;
  BaseNum capacity;  /* B; absent: all of it fits */
  BaseNum fetch;     /* B of one fetch; default: the other tier's requests */
  BaseNum in_flight; /* fetches of a server at a time */
  BaseEnum keep;     /* MdlKeep */
  BaseNum rent;      /* USD/s of a TB that it holds */
} CluStorageCacheSpec;

/* A storage tier outside the nodes: a type, and what differs from it. */
typedef struct {
  BaseHead head;
  BaseStr name;
  BaseEnum tier;             /* MdlTierKind; default: the type's */
  BaseRef type;              /* MdlTierType, optional */
  BaseNum servers;
  BaseNum per_server;        /* B/s, reads and writes; default: the type's */
  BaseNum write_per_server;  /* B/s; default: per_server */
  BaseNum latency;           /* s, of both; default: the type's */
  BaseNum targets;           /* of one server; default: the type's */
  MdlTierStripe stripe;
  MdlTierRedundancy redundancy;
  BaseEnum network;          /* frontend (default) or fabric */
  CluStorageCacheSpec cache;
} CluStorageSpec;

typedef struct {
  BaseHead head;
  BaseNum node, nic_port, switch_port, cable; /* USD */
  BaseNum rent;              /* USD/s of a node */
  BaseNum power;             /* USD/J */
} CluCostSpec;

typedef struct {
  BaseHead head;
  BaseNum nodes;
  BaseNum taper; /* part of a node's scale-up links that leave it */
} CluDomainSpec;

/* A topology file. `overrides` holds, per entry, `nodes:` (3, "0-7", [1, 5]) and any key of a node. */
typedef struct {
  BaseHead head;
  BaseStr name;              /* topology: */
  BaseStr description;
  BaseNum nodes;
  CluNodeSpec node;
  const BaseYamlNode *gpus, *nics; /* short form: of `node`; what it leaves out is as in the GPU type's `node` */
  const BaseYamlNode *overrides;
  const BaseYamlNode *nvlink_domain; /* `node` or {nodes: 18} */
  CluFabricSpec fabric;
  CluFrontendSpec frontend;
  BaseNum management;        /* B/s of the out-of-band network; default 1 Gb/s */
  BaseList storage;          /* CluStorageSpec */
  CluCostSpec cost;
} CluSpec;

extern const BaseSchema clu_schema_topology, clu_schema_gpu, clu_schema_nic, clu_schema_switch, clu_schema_drive;
extern const BaseSchema clu_schema_link_class, clu_schema_storage_type; /* the latter: MdlTierType */

#endif
