/* Members of MdlLibrary, for the schema table of calibrate/ that fills it and the cost functions that read it. Every number keeps
 * where it comes from (BaseNum). What is absent (`set` FALSE, 0) is not charged.
 *
 * One message of a step costs `latency` when it is short. Part of what it costs is hidden once the data of a step takes time of its
 * own (`overlap` of it runs beneath the latency), down to `floor`. A latency is given as measured, over a route of `route_latency`;
 * a longer route adds what it is longer. */
#ifndef MODELS_LIBRARY_SPEC_H
#define MODELS_LIBRARY_SPEC_H

#include "base/leaf.h"
#include "models/library.h"
#include "models/transfer.h"

/* One number a protocol. */
typedef struct {
  BaseHead head;
  BaseNum at[MDL_PROTO_N];
} MdlByProto;

/* A step over one kind of hop by one protocol. */
typedef struct {
  BaseHead head;
  BaseNum latency;     /* s, a short message */
  BaseNum floor;       /* s, what is never hidden; absent: nothing is hidden */
  BaseNum per_channel; /* s, on top for each channel after the first that is in use */
  BaseNum halving;     /* s, less for each time that a short operation halves its threads */
  BaseNum halved;      /* s, more for each such time, where as many lines need more rounds of fewer threads */
  BaseNum empty;       /* share of the latency that is left where ranks have no part of the size; absent: all */
  BaseNum slice;       /* s, on top for a second slice of a ring's chunk */
  BaseNum rate;        /* B/s of payload that one channel moves in one operation (receive, reduce, send); absent: not limited */
} MdlStep;

typedef struct {
  BaseHead head;
  BaseNum route_latency; /* s, wire that the latencies below contain */
  MdlStep at[MDL_PROTO_N];
} MdlHopSteps;

/* Format and buffers of a protocol. */
typedef struct {
  BaseHead head;
  BaseBool offered;       /* the library has it */
  BaseNum wire;           /* bytes on the link per byte of payload */
  BaseNum threads;        /* of a channel's block */
  BaseNum min_threads;    /* of a ring's only channel, halved while an operation is short; absent: never */
  BaseNum bytes_per_thread; /* a further channel is used per threads x bytes_per_thread of the operation's size … */
  BaseBool times_ranks;     /* … times the ranks, for a ring */
  BaseNum cell_traffic;   /* factor on the traffic that is cut into cells */
  BaseNum slot;           /* B of payload in one slot of the buffer: the piece of a pipeline */
  BaseNum ring_chunk;     /* B of payload a ring moves a step, channel and loop at most */
  BaseNum slice;          /* B, smallest slice that is forwarded by itself; absent: the data flows line by line */
  BaseNum overlap;        /* share of a step's data (beyond one slice, where there are slices) that runs beneath its latency */
  BaseNum copy;           /* an operation that stores twice and reduces nothing, in operations that reduce; absent: 1 */
  BaseNum ends;           /* a ring's first and last operation together, in operations that reduce: of all-reduce … */
  BaseNum gather_ends, scatter_ends; /* … of all-gather, of reduce-scatter; absent: `ends` */
  BaseNum scatter_miss;           /* of reduce-scatter's last operation beyond the cache, as `ends` */
  BaseNum registered_ends;        /* of the first loop of an all-reduce on registered buffers; absent: `ends` */
  BaseNum registered_gather_ends; /* of all-gather on registered buffers; absent: gather_ends */
  BaseNum miss;           /* what an operation that reads the rank's input takes more where that does not fit the GPU's cache */
  BaseNum pass;           /* B of payload that a thread moves at a time, a chunk in whole passes of all; absent: any number */
  BaseNum misaligned;     /* what an all-gather's stores take more that begin off the GPU's lines of 128 B */
  BaseNum forward_after_max; /* B of a piece that a tree's next hop waits for at most; absent: all of it counts */
  BaseNum forward_after;     /* share of a pipeline's piece that has arrived when the next hop begins to pass it on */
} MdlProtocol;

typedef struct {
  BaseHead head;
  MdlProtocol at[MDL_PROTO_N];
} MdlProtocols;

typedef struct {
  BaseHead head;
  BaseNum capability; /* compute capability from which on the row holds */
  BaseNum one_node, nodes;
} MdlChannelRow;

typedef struct {
  BaseHead head;
  BaseList scale_up;  /* MdlChannelRow, ascending capability: over NVLink and its like */
  BaseNum pcie, host; /* one node without */
  BaseNum cell;       /* B of traffic below which no channel is opened; the version's, where that is known */
  BaseNum steps;      /* slots of a connection's buffer */
  BaseNum p2p;        /* channels of sends and receives, at most */
} MdlChannels;

typedef struct {
  BaseHead head;
  BaseNum extra;    /* s on top of each call */
  BaseNum per_gpu;  /* s of CPU for one launch on one channel: GPUs that one thread serves wait for each other */
  BaseNum per_channel; /* s of CPU more for each further channel, whose work is an argument of the kernel */
  BaseNum spread;   /* relative, by which launches of one process differ from another's: part of the band where launches wait */
} MdlLaunchCost;

typedef struct {
  BaseHead head;
  MdlLaunchCost at[MDL_LAUNCH_N];
} MdlLaunchCosts;

/* A rule by which a pipeline's piece shrinks: while an operation has fewer than `fewer` pieces a channel, down to `above`. */
typedef struct {
  BaseHead head;
  BaseNum above; /* B */
  BaseNum fewer;
} MdlCut;

/* Broadcast and reduce along a ring; what is absent is the ring's own. */
typedef struct {
  BaseHead head;
  MdlByProto start;   /* s */
  MdlByProto middle;  /* s, what receiving before sending adds where operations follow each other; absent: a hop's latency */
  MdlByProto reduce;  /* s, less for a reduce, which stores nothing on its way */
  MdlByProto rate;    /* B/s of a channel */
  MdlByProto forward_after; /* share of a piece that has arrived when the next hop begins to pass it on, waits included */
} MdlChainSpec;

typedef struct {
  BaseHead head;
  MdlByProto start;       /* s, kernel start and end on the GPU, no steps */
  MdlByProto gather_start, scatter_start; /* of all-gather, of reduce-scatter; absent: `start` */
  BaseNum gather_late; /* s on both by LL on one node; no key of the file: the version's */
  MdlByProto per_channel; /* s, on top for each channel after the first */
  MdlByProto halving;     /* s, less for each time that a short operation halves its threads */
  BaseNum registered;     /* s, on top where ranks first tell each other where their registered buffers are */
  MdlHopSteps hop[MDL_HOP_N];
  MdlChainSpec chain;
  MdlByProto blend;       /* blocks and links of rates a and b move (a^-x + b^-x)^(-1/x) together; absent: the lesser */
  BaseNum together;       /* share of a later loop's last operation that shows in a ring of one step; absent: they drift apart */
  BaseNum plateau;        /* factor on the hop latency of Simple all-reduce between nodes */
  BaseNum plateau_from;   /* B a channel and rank from which on it holds */
} MdlRingSpec;

typedef struct {
  BaseHead head;
  MdlByProto start, per_channel;
  MdlHopSteps hop[MDL_HOP_N];
  MdlByProto stream;     /* B/s of payload one channel sustains while one half of its threads reduces and the other broadcasts */
  MdlByProto end_stream; /* the same where no rank does both (two ranks) */
  MdlByProto per_piece;  /* s a piece, on the rank that has most to do */
  MdlByProto inner;      /* link bytes beyond `wire` where ranks both reduce and broadcast (three and more of a node) */
  BaseNum blend;         /* blocks and links of rates a and b move (a^-x + b^-x)^(-1/x) together; absent: the lesser */
  BaseNum registered_piece; /* share of a slot that is Simple's piece where buffers are registered; absent: all */
  BaseList ll128_cuts;   /* MdlCut; `fewer` counts times (1 + log2 nodes + ranks/10) / ranks, ranks of a node */
  BaseNum ll128_rank_weight; /* the 1/10 above */
} MdlTreeSpec;

/* Channels of NVLS on registered buffers; the last row that fits holds. */
typedef struct {
  BaseHead head;
  BaseEnum op;        /* MdlOp */
  BaseBool nodes;     /* several nodes; else one */
  BaseNum capability; /* from which on */
  BaseNum nic;        /* B/s, rate of a NIC from which on */
  BaseNum channels;   /* with eight heads; with h of them 8/h times as many, rounded up */
} MdlNvlsRegistered;

typedef struct {
  BaseHead head;
  BaseNum start, latency;  /* s; latency: of the switch's reduction and of the signals around it */
  BaseNum channels;
  BaseNum channels_from_100; /* from compute capability 100 on */
  BaseNum channels_from_100_nodes; /* the same over several nodes; absent: as on one */
  BaseNum net;             /* s on top over several nodes, whose network's switches reduce; contains the tree's route_latency */
  BaseNum rate;            /* B/s one channel moves */
  BaseNum efficiency;      /* of the links, compute capability below 100 */
  BaseNum efficiency_from_100;
  BaseNum piece;           /* B of one head and channel */
  BaseList cuts;           /* MdlCut */
  BaseNum stages;          /* pieces in flight before the first comes out: copy in, reduce, copy out */
  BaseNum round;           /* s between rounds of pieces of eight heads, without their bytes, on one node; absent: 0 */
  BaseNum heads;           /* GPUs of a domain that are heads, at most; absent: all */
  /* In place of efficiency and stages where a domain has more GPUs than heads; absent: those. */
  BaseNum rack_efficiency, rack_stages;
  BaseList registered;       /* MdlNvlsRegistered; empty: registered buffers change nothing */
  BaseNum registered_stages; /* `stages` there: nothing is copied in or out; absent: `stages` */
} MdlNvlsSpec;

/* Most busbw of one head of NVLSTree. */
typedef struct {
  BaseHead head;
  BaseNum capability; /* compute capability from which on the row holds */
  BaseNum two_nodes, nodes; /* B/s */
} MdlCapRow;

/* NVLSTree's largest piece, and the channels of NVLS and NVLSTree over several nodes; the last row that fits holds. */
typedef struct {
  BaseHead head;
  BaseStr from;                 /* version of NCCL from which on it holds; NULL: any */
  BaseNum capability, nodes;    /* from which on */
  BaseNum ranks_from, ranks_to; /* of a node, both inclusive; absent: any */
  BaseNum nic, nic_below;       /* B/s, rate of a NIC from which on and below which; absent: any */
  BaseBool near;                /* NICs no farther from their GPUs than a PCIe switch alone */
  BaseNum piece;                /* B of one head and channel */
  BaseNum channels;             /* absent: as elsewhere */
  BaseBool off;                 /* no key of the file: another version's */
} MdlNvlsTreePiece;

typedef struct {
  BaseHead head;
  BaseNum start, latency;  /* s; latency: through the switch of a node */
  BaseNum hop;             /* s, what a hop between nodes takes on top of the tree's over the same transport */
  BaseNum piece;           /* B of one head and channel, where no row of `pieces` fits */
  BaseList pieces;         /* MdlNvlsTreePiece */
  BaseList cuts;           /* MdlCut */
  BaseNum stages;          /* rounds of pieces under way at once in a node */
  BaseList caps;           /* MdlCapRow, ascending capability */
} MdlNvlsTreeSpec;

/* CollNet, direct or chain. */
typedef struct {
  BaseHead head;
  BaseNum ranks;   /* of a node, at most; absent: any */
  BaseNum start;   /* s */
  BaseNum hop;     /* s, a message inside the node; contains the tree's route_latency, as `net` does */
  BaseNum peer;    /* s, on top for each peer served (direct) */
  BaseNum net;     /* s, up to the network's switches and back; one rank a node: the tree's hop */
  BaseNum efficiency, efficiency_from_90; /* of the links, by compute capability; absent: 1 */
  BaseNum efficiency_gather; /* of the links in all-gather and reduce-scatter; absent: 1 */
  BaseNum channel; /* B of size for which a further channel is used; absent: all are */
  BaseNum piece;   /* B of one channel (and head: direct) */
  BaseList cuts;   /* MdlCut; a chain's `fewer` counts times the ranks of a node */
  BaseNum stages;  /* rounds of pieces under way at once (direct) */
} MdlCollnetSpec;

typedef struct {
  BaseHead head;
  BaseNum start;
  BaseNum per_rank;  /* s for each rank */
  BaseNum hop_share; /* share of the tree's hop latency over the same transport that a phase takes, the wire in full */
  BaseNum efficiency; /* of the links; absent: 1 */
  BaseList gather_cuts, scatter_cuts; /* MdlCut of the slot, the piece */
} MdlPatSpec;

typedef struct {
  BaseHead head;
  MdlByProto start;      /* s */
  BaseNum per_doubling;  /* s, on top for each doubling of a node's ranks from two on: the last of more kernels starts later */
  BaseNum per_peer;      /* s, on top for each further peer on the busiest channel */
  MdlHopSteps hop[MDL_HOP_N]; /* latency: of a batch of peers; rate: of a channel, whatever the number of its peers */
  BaseNum peers;         /* at once on a channel: a batch */
  BaseNum ll_max_size;   /* B for each channel a peer may have that still go by LL */
  BaseNum ll_in_use;     /* above 0: for each channel that Simple would take instead; no key of the file: the version's */
  BaseNum path_channels; /* most of one peer that is not reached over NVLink; absent: all */
  BaseNum net_channels;  /* of one peer on another node, unless peer_rate says … */
  BaseNum net_share;     /* … halved while times the ranks they are more than so many times all channels */
  BaseNum peer_rate;     /* B/s of an adapter for each of these channels; no key of the file: the version's */
  BaseNum chunk, path_chunk, net_chunk, ll_chunk; /* B: NVLink, other paths in a node, several nodes; LL anywhere */
  BaseNum min_part, max_part;         /* chunks of a part: below it a message takes no further channel, above it twice as many */
  BaseNum net_min_part, net_max_part; /* the same over several nodes */
  BaseNum one_way;       /* a channel that only sends or only receives moves so many times more */
  BaseNum blend;         /* channels and links of rates a and b move (a^-x + b^-x)^(-1/x) together; absent: the lesser */
  BaseNum fill;          /* share of a chunk's time that nothing overlaps */
  BaseNum wire;          /* link bytes per line's byte of an all-to-all over NVLink in one node */
  BaseNum registered;      /* share by which Simple's channel is faster on registered buffers, likewise */
  BaseNum registered_wire; /* `wire` there; absent: `wire` */
  BaseNum enqueue;       /* s of the CPU for each peer of an all-to-all beyond the first, in a plain launch */
  BaseNum host_rank;     /* B/s of one rank among more than two through host memory */
  BaseNum post;          /* s of the proxy, one thread a rank, for one post to the network … */
  BaseNum posts;         /* … of so many a peer … */
  BaseNum poll;          /* … and s for each peer that it looks after meanwhile */
} MdlPairSpec;

/* Relative half-widths of the error band by size. */
typedef struct {
  BaseHead head;
  BaseNum small, middle, large;
} MdlErrorSpec;

/* Operations whose predictions were held against measurements that a fit did not see. */
typedef struct {
  BaseHead head;
  BaseEnum op, algo;
  BaseNum nodes, gpus;        /* nodes: the most; gpus: of a node, over several nodes exactly, in one at most */
  BaseNum min_size, max_size; /* B */
  BaseNum error;              /* relative half-width that holds nine in ten of them */
} MdlTested;

/* What a calibration was fitted on; the band widens outside. */
typedef struct {
  BaseHead head;
  BaseNum min_size, max_size; /* B */
  BaseNum max_ranks, max_nodes;
} MdlRange;

/* A kind of network between ranks, and how far off predictions over it were. Rows are asked in order: the first that fits holds. */
typedef struct MdlFabric {
  BaseHead head;
  BaseStr name;     /* "InfiniBand NDR" */
  BaseStr library;  /* of which it was measured: "NCCL" */
  BaseStrs classes; /* link classes of the NICs' ports between nodes; none: no NIC is crossed */
  BaseNum domain;   /* least ranks that one scale-up switch joins */
  BaseNum clusters, rows, held_out, nodes; /* measured: clusters, points, those that nothing was fitted to, the most nodes */
  MdlErrorSpec error;                      /* of clusters that were never seen; not set where nothing was measured */
} MdlFabric;

typedef struct MdlNetworks {
  BaseHead head;
  BaseList fabrics;        /* MdlFabric */
  MdlErrorSpec unmeasured; /* over networks of which no point was measured */
  BaseNum per_doubling;    /* a band grows by this share of itself with each doubling of the nodes beyond those measured */
} MdlNetworks;

/* A network that the library reaches through software of its own beside the library's InfiniBand path. */
typedef struct {
  BaseHead head;
  BaseStr link_class;
  BaseNum latency;      /* s, what its software adds to a message */
  BaseNum tuner_latency; /* s, what it tells NCCL's tuner of a message */
  BaseNum ll128_start;  /* s, once an operation by LL128 where a NIC's thread serves two channels or more; absent: nothing */
  BaseNum ll_line;      /* s for each line of a message by LL, whose flags the CPU reads; absent: none */
  BaseNum nvls_tree_piece; /* B, NVLSTree's at most, which it sets; absent: NCCL's own */
  BaseNum nvls_tree_start;  /* s, once an operation by NVLSTree; absent: none */
  BaseNum message;          /* s of the proxy, one thread a head, for a message that NVLSTree receives and sends; absent: none */
  BaseNum flush;            /* s, of a read behind each message that it received, one after another; absent: none */
  BaseRef tuner;        /* struct MdlTunerRegions: what it chooses in NCCL's place; value NULL: nothing */
  BaseRef tuner_from_103; /* the same from compute capability 103 on; value NULL: as `tuner` */
  BaseStr from;         /* version of NCCL from which on this row holds, where it is asked for; NULL: without one */
  BaseStr before;       /* version before which alone it holds, where an older one is asked for; NULL: any */
  BaseBool off;         /* no key of the file: another row of the class holds for this version */
  BaseNum buffer;       /* B, NCCL_BUFFSIZE that it asks for; absent: NCCL's own */
  BaseBool simple_only; /* LL and LL128 are switched off: stores may arrive out of order, or its maker's guide says so */
  BaseBool no_ll;       /* LL is */
  BaseBool no_nvls;     /* NVLS and NVLSTree are */
  BaseBool groups;      /* the adapters beside one GPU are one device to the library */
} MdlPlugin;

/* Making communicators. */
typedef struct {
  BaseHead head;
  BaseNum first, first_per_gpu; /* s, of a process: the first one; for each GPU of its node */
  BaseNum per_gpu;              /* s, any further one, for each GPU of a node */
  BaseNum network;              /* s, on top of each that spans nodes */
  BaseNum per_rank, per_pair;   /* s, of these, for each rank; for each pair of ranks, in order */
  /* s, buffers and connections to other GPUs, for each GPU of a node: of the algorithm that is used first; of all algorithms */
  BaseNum connect, connect_all;
  BaseNum connect_network; /* s, the same between nodes */
} MdlCreateSpec;

/* Graphs that NCCL's own search found, as its log or dump tells (models/search.h: MdlGraph). They stand in place of those that
 * are found here, for communicators of as many GPUs a node and nodes. */
typedef struct {
  BaseHead head;
  BaseNum channels;
  BaseNum intra, inter; /* B/s of a channel */
  BaseStr path_intra, path_inter;
  BaseBool same;
} MdlGraphSpec;

typedef struct {
  BaseHead head;
  BaseNum gpus, nodes; /* of a node; nodes absent: any number */
  MdlGraphSpec ring, tree, nvls, collnet_direct, collnet_chain;
} MdlGraphsSpec;

/* NVSHMEM's all-to-all over IBGDA: threads of the GPU write work requests and ring the adapter's doorbell. */
typedef struct {
  BaseHead head;
  BaseNum start;  /* s, of the kernel and its last signal */
  BaseNum put;    /* s, for each peer on another node */
  BaseNum signal; /* s, doorbell and arrival of one put, beyond the route's latency */
} MdlGdaSpec;

/* Rings along the dimensions of a torus, which the accelerators' own engines drive. */
typedef struct {
  BaseHead head;
  BaseNum start; /* s, of the operation */
  BaseNum step;  /* s, of a hop beyond the route's latency */
} MdlTorusSpec;

/* Operations inside each node, then between nodes; hops inside are the torus'. */
typedef struct {
  BaseHead head;
  BaseNum between; /* s, of a hop between nodes beyond the route's latency */
} MdlHierarchicalSpec;

/* All-reduce by a framework's own kernels (collective/one_shot.c). */
typedef enum { MDL_ONE_SHOT, MDL_TWO_SHOT, MDL_SWITCH_SHOT } MdlOneShotKind;
extern const BaseName mdl_one_shot_kinds[]; /* one_shot two_shot in_switch */

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseEnum kind;               /* MdlOneShotKind */
  BaseNum start;               /* s */
  BaseNum trips;               /* round trips to a peer's memory that follow each other */
  BaseNum flag;                /* s, a peer's flag beyond the first */
  BaseNum wait;                /* round trips of a second stage's barrier … */
  BaseNum hidden;              /* … less this share of the data's time */
  BaseNum inflight;            /* B that a kernel has under way from each peer; absent: the links alone limit */
  BaseNum efficiency;          /* of the links */
  BaseNum efficiency_from_100; /* from compute capability 100 on; absent: likewise */
  BaseNum call;                /* s, without a graph at least */
  BaseBool mapped;             /* callers' data are where peers read them already: nothing is copied */
} MdlOneShotKernel;

typedef struct {
  BaseHead head;
  BaseStr framework, kernel; /* names */
  BaseNum gpus;              /* exactly */
  BaseNum capability;        /* from which on */
  BaseNum max;               /* B, largest size */
} MdlOneShotRange;

typedef struct {
  BaseHead head;
  BaseStr framework;                       /* where none is named */
  BaseNum round_trip, round_trip_from_100; /* s, of a load from a peer's memory; by compute capability */
  BaseNum copy, copy_rate;                 /* s and B/s of S: without a graph data are copied first */
  BaseList kernels;                        /* MdlOneShotKernel */
  BaseList ranges;                         /* MdlOneShotRange: the first that fits holds */
} MdlOneShotSpec;

/* A kernel of NCCL on windows of symmetric memory (collective/symmetric.c). Of several rows of a name the last whose capability is
 * not above the GPU's holds. */
typedef struct {
  BaseHead head;
  BaseStr name;         /* NCCL's */
  BaseEnum op;          /* MdlOp */
  BaseBool ll;          /* lines with flags; else whole loads and stores */
  BaseBool multicast;   /* by the NVSwitch */
  BaseNum capability;   /* from which on */
  /* NCCL's estimate, by which it chooses */
  BaseNum base;         /* s */
  BaseNum block, peak;  /* B/s: of a block, of all */
  BaseNum gain, gain_per_rank; /* factor on `block`: gain + gain_per_rank n */
  /* What it takes */
  BaseNum start;        /* s */
  BaseNum peer;         /* s, for each peer beyond the first */
  BaseNum doubling;     /* s, for each doubling of the blocks */
  BaseNum ramp, ramp_peer, ramp_half; /* s, s for each further peer, B of a block at which half of both is lost */
  BaseNum rate;         /* B/s of a block; absent: the links alone limit */
  BaseNum rate_peer;    /* share by which a block is slower for each peer beyond the first */
  BaseNum cached;       /* share by which it is faster where the GPU's cache holds input and output */
  BaseNum efficiency;   /* of the links */
} MdlSymmetricKernel;

typedef struct {
  BaseHead head;
  BaseStr from;            /* NCCL's version that brought them */
  BaseStr pairs_until;     /* last version in which two ranks used multicast */
  BaseNum ll_factor;       /* bytes of the estimate for each that LL moves */
  BaseNum tolerance;       /* fewest blocks whose estimate is within this share of the best */
  BaseNum penalty;         /* share of the estimate that a block counts more */
  BaseNum blocks;          /* at most */
  BaseNum multicast_blocks, multicast_blocks_from_100; /* of all ranks together */
  BaseNum cell;            /* B: a rank's part counts in multiples of it */
  BaseNum line;            /* B that the threads of a block take at once by LL */
  BaseNum ll_max, max;     /* B: LL, and all kernels, serve less */
  BaseList kernels;        /* MdlSymmetricKernel */
} MdlSymmetricSpec;

/* Buffers that are registered with a communicator (collective/registration.c). */
typedef struct {
  BaseHead head;
  BaseStr net_from;     /* NCCL's version from which on adapters read and write them */
  BaseNum net_channels; /* of rings that gather and broadcast among nodes of one GPU */
  BaseNum call, net, net_rate; /* s of ncclCommRegister; s, B/s of registering with an adapter */
  BaseNum window, window_again; /* s of ncclCommWindowRegister, the first one and each other */
} MdlRegistrationSpec;

/* Copies by the GPUs' copy engines (collective/copy_engine.c). */
typedef struct {
  BaseHead head;
  BaseStr from, puts_from;      /* NCCL's versions that brought its collectives, one-sided puts */
  BaseStr flags_from;           /* that copied flags instead of writing them */
  BaseStr threshold_from;       /* that takes them for all-gather on Blackwell … */
  BaseNum threshold;            /* … of more elements a rank than these, whatever the policy */
  BaseNum batch, operation;     /* s, of a batch of operations on a stream's memory and the wait for the peers; each operation */
  BaseNum wait;                 /* s, of a batch that writes to no peer */
  BaseNum copy;                 /* s, of a queued copy to a peer, beyond its bytes */
  BaseNum own, own_rate;        /* s, B/s: of the copy of the rank's own part */
  BaseNum wire;                 /* time on the links for a byte, over that of a kernel's stores */
  BaseNum launch;               /* s of CPU for one call … */
  BaseNum flag_launch;          /* … more for each flag that is copied */
  BaseNum put_launch, wait_launch; /* s of CPU for ncclPutSignal, ncclWaitSignal */
} MdlCopyEngineSpec;

/* Threads of the host that serve the network. */
typedef struct {
  BaseHead head;
  BaseNum turn;        /* s until a thread that shares its core runs again, for each other thread on it */
  BaseNum socket_gain; /* what a TCP channel moves more with each doubling of its connections */
} MdlCpuSpec;

struct MdlLibrary {
  BaseHead head;
  BaseStr name;
  const struct MdlTunerSpec *tuner; /* no key of the file: set by who loads it; NULL: none */
  const char *version;              /* likewise: "2.28.9"; NULL: unknown */
  const struct MdlKernels *kernels; /* likewise: the calibration's other sections */
  const struct MdlOverlap *overlap;
  const MdlLinks *links;            /* models/links.h */
  const struct MdlMemorySpec *memory;
  const struct MdlSoftware *software;
  const struct MdlStorage *storage;
  const MdlNetworks *networks;
  const struct MdlMoeSpec *moe;     /* models/moe.h */
  const struct MdlEngines *engines; /* models/engine.h */
  BaseList plugins; /* MdlPlugin */
  BaseNum cache;    /* B, the GPU's last level */
  MdlProtocols protocols;
  MdlChannels channels;
  MdlGraphsSpec graphs;
  MdlCreateSpec create;
  MdlCpuSpec cpu;
  MdlLaunchCosts launch;
  MdlRingSpec ring;
  MdlTreeSpec tree;
  MdlNvlsSpec nvls;
  MdlNvlsTreeSpec nvls_tree;
  MdlCollnetSpec collnet_direct, collnet_chain;
  MdlPatSpec pat;
  MdlPairSpec pairwise;
  MdlGdaSpec ibgda;
  MdlTorusSpec torus;
  MdlHierarchicalSpec hierarchical;
  MdlOneShotSpec one_shot;
  MdlSymmetricSpec symmetric;
  MdlCopyEngineSpec copy_engine;
  MdlRegistrationSpec registration;
  MdlErrorSpec error;         /* of measured constants, within `range` */
  MdlErrorSpec assumed_error; /* of all others */
  BaseNum small_max, middle_max; /* B: limits of the size bands */
  BaseList tested;               /* MdlTested: the first that fits stands in place of both */
  BaseNum extrapolation_factor;  /* factor on the band outside `range` */
  MdlRange range;
};

/* The plugin that serves networks of this link class (NULL: none); NULL: the library's own transport does. */
const MdlPlugin *mdl_plugin_of (const MdlLibrary *library, const char *link_class);

#endif
