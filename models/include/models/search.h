/* The channels that NCCL's graph search finds, from a summary of a node and its network: how many rings, trees and NVLS heads of
 * which rate. They are what NCCL's tuner counts with (tuner.h); the channels that kernels run on are made from them.
 *
 * Not the search itself: on nodes that are alike in all GPUs, capacities alone decide (search.c says how, and where that ends). All
 * rates B/s, one way. Pure data and functions: nothing here allocates. */
#ifndef MODELS_SEARCH_H
#define MODELS_SEARCH_H

#include "base/leaf.h"
#include "models/op.h"

struct MdlLibrary;

/* NCCL's path classes, near to far, in the order of CluPathClass (src/graph/topo.h: PATH_LOC …). */
typedef enum {
  MDL_PATH_LOC, MDL_PATH_NVL, MDL_PATH_NVB, MDL_PATH_C2C, MDL_PATH_PIX, MDL_PATH_PXB, MDL_PATH_P2C, MDL_PATH_PXN, MDL_PATH_PHB,
  MDL_PATH_SYS, MDL_PATH_NET, MDL_PATH_N
} MdlPath;
const char *mdl_path_name (MdlPath path); /* "PXB" */

/* The first five in the order of CluCpu; MIXED: nodes of more than one vendor. */
typedef enum { MDL_CPU_INTEL, MDL_CPU_AMD, MDL_CPU_ARM, MDL_CPU_POWER, MDL_CPU_OTHER, MDL_CPU_MIXED, MDL_CPU_N } MdlCpu;

/* Families of Intel's processors that differ in what NCCL takes for the link between sockets; OLDER is also its guess. */
typedef enum {
  MDL_CPU_MODEL_OLDER, MDL_CPU_MODEL_SKYLAKE, MDL_CPU_MODEL_SAPPHIRE, MDL_CPU_MODEL_EMERALD, MDL_CPU_MODEL_N
} MdlCpuModel;

/* Rows of NCCL's tables: compute capability below 80, below 90, below 100, the rest. */
typedef enum {
  MDL_GENERATION_VOLTA, MDL_GENERATION_AMPERE, MDL_GENERATION_HOPPER, MDL_GENERATION_BLACKWELL, MDL_GENERATION_N
} MdlGeneration;

/* Constants, as calibrate/defaults/nccl_tuner.yaml gives them. */
typedef struct {
  BaseHead head;
  BaseNum capability; /* of the row's generations: from here on */
  BaseNum rate;       /* B/s that NCCL takes for one NVLink */
} MdlNvlinkRow;

typedef struct {
  BaseHead head;
  BaseNum below_90, from_90, from_100; /* capability */
} MdlByCapability;

typedef struct {
  BaseHead head;
  BaseNums below_90, from_90, from_100; /* B/s, descending: what a channel may have */
} MdlSpeeds;

typedef struct {
  BaseHead head;
  BaseNums socket;      /* B/s between Intel sockets, by MdlCpuModel */
  BaseNum amd, arm, power, other;
  BaseNum intel_p2p;    /* factor on PCIe traffic between GPUs through an Intel host bridge */
} MdlSocketRates;

typedef struct {
  BaseHead head;
  BaseList nvlink;      /* MdlNvlinkRow, ascending */
  BaseNums pcie_lane;   /* B/s of a lane, generations 1 to 6 */
  MdlSocketRates sockets;
  BaseNum reply;        /* of what a NIC sends to a GPU, the share that goes back; below capability 80 */
  MdlSpeeds one_node, nodes;
  BaseNum max_search;   /* channels of a search */
  BaseNum max_channels; /* channels in use */
  BaseNum slower;       /* least share of the best speed that is tried after it */
  BaseNum fallback;     /* B/s of the one channel where nothing is found */
  BaseNum simpler_tree; /* capability from which a tree may take one GPU for all its traffic with the NIC */
  BaseNum split_from;   /* B/s from which a channel is split in two … */
  BaseNum split_to;     /* … above capability 80 only from here on, unless there are few */
  BaseNum split_few;    /* few: at most so many */
  BaseNum duplicate;    /* channels in use per search channel */
  BaseNum more_from;    /* B/s of a channel between nodes from which fewer than more_below in use are doubled again */
  BaseNum more_below;
  BaseNum more_capability;
  BaseNum head_cost;    /* bytes on a head's own link per byte that it reduces; one on all others */
  BaseNum nvls_heads;   /* at most */
  BaseNum p2c;          /* 1: a NIC over a coherent link to the processor (P2C) is nearer than over PCIe (PHB) */
  BaseNum direct_heads; /* of CollNet direct, at most */
  BaseNum nvls_capability, nvls_gpus; /* least; GPUs of a node */
  MdlByCapability nvls_channels, nvls_channels_nodes; /* that NVLS kernels run on */
  BaseNum nvls_raises;  /* 1: all algorithms run on as many channels as NVLS does, if that is more */
  BaseNum collnet_more; /* channels in use with CollNet, where its chain is faster inside than outside */
} MdlSearchSpec;

/* One node (all are alike) and its network, as the communicator uses them. */
typedef struct {
  unsigned gpus, nodes;       /* GPUs of a node that take part; an NVLink domain wider than a node counts as one node */
  unsigned capability;        /* 90: least compute capability */
  double nvlinks;             /* of one GPU that are up; 0: none, or switched off */
  gboolean switched;          /* they lead to a switch */
  gboolean reduces;           /* which reduces (NVLS), and NVLS is on */
  unsigned mesh_rings;        /* NVLinks without a switch: directed rings over all GPUs that no link is in twice … */
  double mesh_ring_Bps;       /* … and the rate of each by NCCL's figures (mdl_search_nvlink_Bps times lanes) */
  unsigned pcie_generation, pcie_lanes; /* of a GPU; 0: not on PCIe */
  unsigned gpus_per_switch;   /* behind one PCIe switch; 0 or 1: no two */
  MdlPath path;               /* the farthest between two of the node's GPUs; MDL_PATH_LOC with one */
  unsigned nics;              /* of a node, in use; 0 on one node */
  double nic_Bps;             /* of each */
  double nic_latency_s;       /* that the network plugin states; 0 for InfiniBand */
  MdlPath nic_path;           /* from a GPU to its nearest NIC */
  gboolean no_pxn;            /* NCCL_PXN_DISABLE */
  gboolean same_rail;         /* NCCL_CROSS_NIC=0: a ring leaves a node by the NIC by which it entered */
  gboolean collnet;           /* NCCL_COLLNET_ENABLE with a SHARP plugin */
  MdlCpu cpu;
  MdlCpuModel cpu_model;
  unsigned min_channels, max_channels; /* NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS; 0: not set */
} MdlSearchQuestion;

/* What is found for one kind of graph. */
typedef struct {
  unsigned channels;          /* of the search; 0: there is none */
  double intra_Bps, inter_Bps; /* of each channel, inside a node and between nodes; on one node the second counts for NVLS alone */
  MdlPath intra, inter;       /* the farthest that it takes */
  gboolean same;              /* all channels take one order of GPUs */
} MdlGraph;

typedef struct {
  MdlGraph ring, tree, nvls, collnet_direct, collnet_chain; /* NVLSTree takes nvls, PAT takes tree */
  gboolean one_gpu;           /* a tree's whole traffic enters and leaves a node by one GPU */
  unsigned split;             /* parts that the search's rings were split in: 1 or 2 (12 x 30 is 6 x 60 split) */
  unsigned heads;             /* GPUs with a NIC of their own, of CollNet */
  unsigned channels;          /* in use, of everything but NVLS */
  unsigned nvls_channels;     /* in use, of NVLS and NVLSTree */
  double latency_inter_s;     /* nic_latency_s between nodes */
} MdlSearch;

MdlGeneration mdl_generation (unsigned capability);

/* What NCCL takes for one NVLink, B/s. */
double mdl_search_nvlink_Bps (const MdlSearchSpec *spec, unsigned capability);

/* A communicator of one rank has no graphs: all channels 0 but `channels` 1. */
void mdl_search (const MdlSearchSpec *spec, const MdlSearchQuestion *question, MdlSearch *out);

/* Lays the graphs that a library's calibration holds over what was found, where they are of such a communicator. TRUE where they
 * are. */
gboolean mdl_search_take (const struct MdlLibrary *library, unsigned gpus, unsigned nodes, MdlSearch *search);

/* Three GPUs of one node behind a switch: the chains of trees do not all begin at the same GPU. */
#define MDL_SEARCH_TURNED_GPUS 3
gboolean mdl_search_turns_chains (unsigned gpus, gboolean one_node, gboolean switched);
/* Share of the chains that begin at each of the three. */
extern const double mdl_search_turned_share[MDL_SEARCH_TURNED_GPUS];

#endif
