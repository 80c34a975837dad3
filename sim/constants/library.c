/* Schema of a communication library's constants: one row a key, see models/library-spec.h for what each is used for. No
 * key is required: the help says what holds without it. */
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"
#include "models/tuner_region.h"

/* Members `at`, one for each protocol. */
#define BY_PROTO(T, kind_, ...)                                                           \
  BASE_ROW (T, "ll", at[MDL_PROTO_LL], kind_, .help = "by LL", __VA_ARGS__),              \
      BASE_ROW (T, "ll128", at[MDL_PROTO_LL128], kind_, .help = "by LL128", __VA_ARGS__), \
      BASE_ROW (T, "simple", at[MDL_PROTO_SIMPLE], kind_, .help = "by Simple", __VA_ARGS__)

static SCHEMA (times_schema, "times by protocol", "A time per protocol.", BY_PROTO (MdlByProto, NUM, .dim = BASE_DIM_TIME));

static SCHEMA (factors_schema, "factors by protocol", "A factor per protocol.",
               BY_PROTO (MdlByProto, NUM, .dim = BASE_DIM_NUMBER, .min = "1"));

static SCHEMA (rates_schema, "rates by protocol", "A rate per protocol.",
               BY_PROTO (MdlByProto, NUM, .dim = BASE_DIM_BANDWIDTH, .min = "1 kB/s"));

static SCHEMA (step_schema, "step", "A step by one protocol over one kind of hop.",
               NUM (MdlStep, latency, TIME, "latency of a short message, including `route_latency`"),
               NUM (MdlStep, floor, TIME, "part of the latency that data never hides; default: all"),
               NUM (MdlStep, per_channel, TIME, "added per further channel in use"),
               NUM (MdlStep, halving, TIME, "saved for each halving of a short operation's threads"),
               NUM (MdlStep, empty, RATIO, "fraction of the latency for ranks without data (below 16 B each); default: 1",
                    .max = "1"),
               NUM (MdlStep, halved, TIME, "added by LL and LL128 for each halving of threads"),
               NUM (MdlStep, slice, TIME, "added for a second slice of a ring's chunk"),
               FROM (MdlStep, rate, BANDWIDTH, "1 kB/s", "payload rate of one channel; default: no limit"));

static SCHEMA (hop_schema, "hop", "Steps over one kind of hop.",
               NUM (MdlHopSteps, route_latency, TIME, "route latency contained in the values; a longer route adds the difference"),
               BY_PROTO (MdlHopSteps, MAP, .sub = &step_schema));

#define HOPS(T)                                                                                  \
  MAP_AS (T, "nvlink", hop[MDL_HOP_NVLINK], &hop_schema, "NVLink and similar scale-up links"),   \
      MAP_AS (T, "pcie", hop[MDL_HOP_PCIE], &hop_schema, "GPU to GPU over PCIe"),                \
      MAP_AS (T, "host", hop[MDL_HOP_HOST], &hop_schema, "through host memory"),                 \
      MAP_AS (T, "net", hop[MDL_HOP_NET], &hop_schema, "NICs with GPUDirect RDMA"),              \
      MAP_AS (T, "net_host", hop[MDL_HOP_NET_HOST], &hop_schema, "NICs, staged in host memory"), \
      MAP_AS (T, "tcp", hop[MDL_HOP_TCP], &hop_schema, "TCP sockets, staged in host memory")

static SCHEMA (protocol_schema, "protocol", "Format and buffers of a protocol.",
               ROW (MdlProtocol, offered, BOOL, "the library has this protocol"),
               FROM (MdlProtocol, wire, NUMBER, "1", "bytes on the link per byte of payload"),
               NUM (MdlProtocol, threads, COUNT, "threads of a channel's block"),
               NUM (MdlProtocol, min_threads, COUNT,
                    "fewest threads of a ring's only channel, halved for short operations; default: never halved",
                    .was = "least_threads"),
               NUM (MdlProtocol, bytes_per_thread, BYTES, "size per thread that opens a further channel", .was = "bytes_a_thread"),
               ROW (MdlProtocol, times_ranks, BOOL, "for a ring, `bytes_per_thread` times the ranks", .was = "a_rank"),
               FROM (MdlProtocol, cell_traffic, NUMBER, "1", "factor on traffic divided into cells"),
               FROM (MdlProtocol, slot, BYTES, "1 B", "payload of one slot of the buffer: the piece of a pipeline"),
               FROM (MdlProtocol, ring_chunk, BYTES, "1 B", "largest payload of a ring per step, channel and loop"),
               NUM (MdlProtocol, slice, BYTES, "smallest slice sent on separately; absent: data flows line by line"),
               NUM (MdlProtocol, overlap, RATIO, "fraction of a step's data time that overlaps its latency", .max = "1"),
               FROM (MdlProtocol, copy, NUMBER, "0.1", "time of a copying operation relative to a reducing one; default: 1"),
               NUM (MdlProtocol, ends, NUMBER,
                    "first and last operation of an all-reduce ring together, relative to one reducing operation"),
               NUM (MdlProtocol, miss, NUMBER,
                    "extra time to read the rank's input beyond the cache, relative to one reducing operation; default: 0"),
               FROM (MdlProtocol, pass, BYTES, "1 B",
                     "payload that a thread moves at a time: a ring's chunk takes whole passes; default: any"),
               NUM (MdlProtocol, misaligned, RATIO,
                    "extra time of an all-gather's stores that begin off a line of 128 B; default: 0"),
               NUM (MdlProtocol, gather_ends, NUMBER, "`ends` of all-gather; default: `ends`"),
               NUM (MdlProtocol, registered_ends, NUMBER,
                    "`ends` of the first loop of an all-reduce on registered buffers of one node; default: `ends`"),
               NUM (MdlProtocol, registered_gather_ends, NUMBER,
                    "the same on registered buffers of one node; default: `gather_ends`"),
               NUM (MdlProtocol, scatter_ends, NUMBER, "`ends` of reduce-scatter; default: `ends`"),
               NUM (MdlProtocol, scatter_miss, NUMBER,
                    "extra time of a reduce-scatter's last operation beyond the cache, relative to one reducing operation; "
                    "default: 0"),
               NUM (MdlProtocol, forward_after, RATIO, "fraction of a piece that has arrived when it is sent on", .max = "1",
                    .was = "hand_on"),
               FROM (MdlProtocol, forward_after_max, BYTES, "1 B", "most bytes of that fraction, in a tree; default: all",
                     .was = "hand_on_most"));

static SCHEMA (protocols_schema, "protocols", "The protocols.",
               MAP_AS (MdlProtocols, "ll", at[MDL_PROTO_LL], &protocol_schema, "LL"),
               MAP_AS (MdlProtocols, "ll128", at[MDL_PROTO_LL128], &protocol_schema, "LL128"),
               MAP_AS (MdlProtocols, "simple", at[MDL_PROTO_SIMPLE], &protocol_schema, "Simple"));

static SCHEMA (channel_row_schema, "channels.scale_up", "Largest numbers of channels.",
               NUM (MdlChannelRow, capability, COUNT, "compute capability from which the row applies (90: Hopper)"),
               FROM (MdlChannelRow, one_node, COUNT, "1", "channels on one node"),
               FROM (MdlChannelRow, nodes, COUNT, "1", "channels over several nodes"));

static SCHEMA (channels_schema, "channels", "Number of channels (thread blocks).",
               LIST (MdlChannels, scale_up, &channel_row_schema, MdlChannelRow, "by compute capability, ascending"),
               FROM (MdlChannels, pcie, COUNT, "1", "one node without NVLink"),
               FROM (MdlChannels, host, COUNT, "1", "one node, through host memory"),
               NUM (MdlChannels, cell, BYTES, "traffic that opens a further channel"),
               FROM (MdlChannels, steps, COUNT, "1", "slots of a connection's buffer"),
               FROM (MdlChannels, p2p, COUNT, "1", "most channels of sends and receives"));

static SCHEMA (launch_schema, "launch mode", "Cost of a launch.", NUM (MdlLaunchCost, extra, TIME, "added to each call"),
               NUM (MdlLaunchCost, per_gpu, TIME, "CPU time of one launch on one channel"),
               NUM (MdlLaunchCost, spread, RATIO, "by which launches of processes differ; part of the band where launches wait"),
               NUM (MdlLaunchCost, per_channel, TIME, "CPU time for each further channel"));

static SCHEMA (launches_schema, "launch", "Cost of a launch, by mode.",
               MAP_AS (MdlLaunchCosts, "graph", at[MDL_LAUNCH_GRAPH], &launch_schema, "CUDA graph replay"),
               MAP_AS (MdlLaunchCosts, "threads", at[MDL_LAUNCH_THREADS], &launch_schema, "one thread or process per GPU"),
               MAP_AS (MdlLaunchCosts, "serial", at[MDL_LAUNCH_SERIAL], &launch_schema, "one thread for the GPUs of a node"),
               MAP_AS (MdlLaunchCosts, "registered", at[MDL_LAUNCH_REGISTERED], &launch_schema,
                       "CUDA graph replay on registered buffers"));

static SCHEMA (cut_schema, "cut", "A rule by which a pipeline's piece shrinks.",
               FROM (MdlCut, above, BYTES, "1 B", "smallest piece by this rule"),
               FROM (MdlCut, fewer, NUMBER, "0", "pieces per channel that it aims at; the piece shrinks while there are fewer"));

static SCHEMA (shares_schema, "shares by protocol", "A fraction per protocol.", BY_PROTO (MdlByProto, NUM, .dim = BASE_DIM_RATIO));

static SCHEMA (chain_schema, "chain", "Broadcast and reduce along a ring.",
               MAP (MdlChainSpec, start, &times_schema, "start and end of the kernel"),
               MAP (MdlChainSpec, middle, &times_schema,
                    "added by a middle rank, in successive operations; default: a hop's latency"),
               MAP (MdlChainSpec, reduce, &times_schema, "saved by a reduce, which stores nothing on its way"),
               MAP (MdlChainSpec, rate, &rates_schema, "payload rate of one channel"),
               MAP (MdlChainSpec, forward_after, &shares_schema,
                    "fraction of a piece that has arrived when it is sent on, waits included", .was = "hand_on"));

static SCHEMA (ring_schema, "ring", "Ring; chain for broadcast and reduce.",
               MAP (MdlRingSpec, start, &times_schema, "start and end of the kernel, no steps"),
               MAP (MdlRingSpec, blend, &factors_schema,
                    "exponent p of (a^p + b^p)^(1/p) for times of blocks and links; default: the longer time counts"),
               MAP (MdlRingSpec, gather_start, &times_schema, "`start` of all-gather; default: `start`"),
               MAP (MdlRingSpec, scatter_start, &times_schema, "`start` of reduce-scatter; default: `start`"),
               MAP (MdlRingSpec, per_channel, &times_schema, "added per further channel"),
               NUM (MdlRingSpec, together, RATIO,
                    "part of a later loop's last operation that other channels do not hide, in a ring of one step (two ranks); "
                    "default: channels drift apart", .max = "1"),
               NUM (MdlRingSpec, registered, TIME, "added by Simple with registered buffers"),
               MAP (MdlRingSpec, halving, &times_schema, "saved for each halving of a short operation's threads"),
               HOPS (MdlRingSpec), MAP (MdlRingSpec, chain, &chain_schema, "broadcast and reduce; default: as the ring"),
               FROM (MdlRingSpec, plateau, NUMBER, "1", "factor on hop latency, Simple all-reduce between nodes"),
               NUM (MdlRingSpec, plateau_from, BYTES, "size per channel and rank from which `plateau` applies"));

static SCHEMA (tree_schema, "tree", "Tree all-reduce.", MAP (MdlTreeSpec, start, &times_schema, "start and end of the kernel"),
               MAP (MdlTreeSpec, per_channel, &times_schema, "added per further channel"), HOPS (MdlTreeSpec),
               MAP (MdlTreeSpec, stream, &rates_schema, "rate of a channel that reduces and broadcasts at once"),
               MAP (MdlTreeSpec, end_stream, &rates_schema, "rate of a channel between two ranks, where no rank does both"),
               MAP (MdlTreeSpec, per_piece, &times_schema, "added per further piece"),
               MAP (MdlTreeSpec, inner, &factors_schema, "factor on link bytes, from three GPUs per node"),
               FROM (MdlTreeSpec, blend, NUMBER, "1",
                     "exponent p of (a^p + b^p)^(1/p) for times of blocks and links; default: the longer time counts"),
               NUM (MdlTreeSpec, registered_piece, RATIO, "Simple's piece as a fraction of a slot, with registered buffers",
                    .min = "0.01", .max = "1"),
               LIST (MdlTreeSpec, ll128_cuts, &cut_schema, MdlCut, "how LL128's piece shrinks"),
               NUM (MdlTreeSpec, ll128_rank_weight, NUMBER, "weight of a rank in the node relative to a level of nodes"));

static SCHEMA (nvls_registered_schema, "nvls.registered", "Channels of NVLS on registered buffers; the last row that fits holds.",
               ROW (MdlNvlsRegistered, op, ENUM, "operation", .names = mdl_op_names, .required = TRUE),
               ROW (MdlNvlsRegistered, nodes, BOOL, "holds over several nodes instead of on one", .fallback = "no"),
               NUM (MdlNvlsRegistered, capability, COUNT, "least compute capability, times 10"),
               NUM (MdlNvlsRegistered, nic, BANDWIDTH, "least rate of a NIC"),
               FROM (MdlNvlsRegistered, channels, COUNT, "1", "channels with eight heads", .required = TRUE));

static SCHEMA (nvls_schema, "nvls", "Reduction in the NVSwitch. A head is the part of the data that one GPU of the node owns.",
               NUM (MdlNvlsSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlNvlsSpec, latency, TIME, "reduction in the switch and its signals"),
               FROM (MdlNvlsSpec, channels, COUNT, "1", "channels in use"),
               FROM (MdlNvlsSpec, channels_from_100, COUNT, "1", "channels from compute capability 100"),
               FROM (MdlNvlsSpec, channels_from_100_nodes, COUNT, "1",
                     "channels from compute capability 100 over several nodes; default: as on one"),
               NUM (MdlNvlsSpec, net, TIME, "added over several nodes: to the network's switches and back"),
               FROM (MdlNvlsSpec, rate, BANDWIDTH, "1 kB/s", "payload rate of one channel"),
               NUM (MdlNvlsSpec, efficiency, RATIO, "fraction of the links' rate, below compute capability 100", .min = "0.01",
                    .max = "1"),
               NUM (MdlNvlsSpec, efficiency_from_100, RATIO, "fraction of the links' rate, from compute capability 100",
                    .min = "0.01", .max = "1"),
               FROM (MdlNvlsSpec, piece, BYTES, "1 B", "piece of one head and channel"),
               LIST (MdlNvlsSpec, cuts, &cut_schema, MdlCut, "how the piece shrinks"),
               FROM (MdlNvlsSpec, stages, COUNT, "1", "rounds of pieces in flight"),
               NUM (MdlNvlsSpec, round, TIME, "waiting between two rounds of pieces on one node; default: none"),
               FROM (MdlNvlsSpec, heads, COUNT, "1", "GPUs of an NVLink domain that are heads, at most; default: all"),
               NUM (MdlNvlsSpec, rack_efficiency, RATIO,
                    "`efficiency` where a domain has more GPUs than heads; default: as elsewhere", .min = "0.01", .max = "1"),
               FROM (MdlNvlsSpec, rack_stages, NUMBER, "1",
                     "`stages` where a domain has more GPUs than heads; default: as elsewhere"),
               LIST (MdlNvlsSpec, registered, &nvls_registered_schema, MdlNvlsRegistered, "channels on registered buffers"),
               FROM (MdlNvlsSpec, registered_stages, COUNT, "1", "`stages` on registered buffers; default: the same"));

static SCHEMA (cap_schema, "nvls_tree.caps", "Largest busbw of one head.",
               NUM (MdlCapRow, capability, COUNT, "compute capability from which the row applies (90: Hopper)"),
               FROM (MdlCapRow, two_nodes, BANDWIDTH, "1 kB/s", "on two nodes"),
               FROM (MdlCapRow, nodes, BANDWIDTH, "1 kB/s", "on more nodes"));

static SCHEMA (piece_schema, "nvls_tree.pieces", "Largest piece of NVLSTree; the last row that fits holds.",
               ROW (MdlNvlsTreePiece, from, STR, "NCCL version from which the row holds; default: any"),
               NUM (MdlNvlsTreePiece, capability, COUNT, "least compute capability, times 10"),
               NUM (MdlNvlsTreePiece, nodes, COUNT, "fewest nodes"),
               NUM (MdlNvlsTreePiece, ranks_from, COUNT, "fewest ranks of a node"),
               NUM (MdlNvlsTreePiece, ranks_to, COUNT, "most ranks of a node; default: any"),
               NUM (MdlNvlsTreePiece, nic, BANDWIDTH, "least rate of a NIC"),
               NUM (MdlNvlsTreePiece, nic_below, BANDWIDTH, "rate of a NIC from which the row no longer holds; default: any"),
               ROW (MdlNvlsTreePiece, near, BOOL, "only with NICs below their GPU's PCIe switch", .fallback = "no"),
               FROM (MdlNvlsTreePiece, piece, BYTES, "1 B", "piece of one head and channel", .required = TRUE),
               FROM (MdlNvlsTreePiece, channels, COUNT, "1", "channels of NVLS and NVLSTree; default: as elsewhere"));

static SCHEMA (nvls_tree_schema, "nvls_tree", "Reduction in the NVSwitches, a double tree over the nodes.",
               NUM (MdlNvlsTreeSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlNvlsTreeSpec, latency, TIME, "reduction in the node's switch and its signals"),
               NUM (MdlNvlsTreeSpec, hop, TIME, "hop between nodes, added to the tree's hop"),
               FROM (MdlNvlsTreeSpec, piece, BYTES, "1 B", "piece of one head and channel, where no row of `pieces` fits"),
               LIST (MdlNvlsTreeSpec, pieces, &piece_schema, MdlNvlsTreePiece, "largest piece, by version and cluster"),
               LIST (MdlNvlsTreeSpec, cuts, &cut_schema, MdlCut, "how the piece shrinks"),
               FROM (MdlNvlsTreeSpec, stages, NUMBER, "1", "rounds of pieces in flight in a node"),
               LIST (MdlNvlsTreeSpec, caps, &cap_schema, MdlCapRow, "by compute capability, ascending"));

#define SHARE(T, member, help_) NUM (T, member, RATIO, help_, .min = "0.01", .max = "1")

static SCHEMA (collnet_schema, "collnet", "Reduction in the network's switches.",
               FROM (MdlCollnetSpec, ranks, COUNT, "1", "most ranks per node; default: any"),
               NUM (MdlCollnetSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlCollnetSpec, hop, TIME, "hop inside the node"),
               NUM (MdlCollnetSpec, peer, TIME, "added per peer that a head serves (direct)"),
               NUM (MdlCollnetSpec, net, TIME, "to the network's switches and back"),
               SHARE (MdlCollnetSpec, efficiency, "fraction of the links' rate, below compute capability 90; default: 1"),
               SHARE (MdlCollnetSpec, efficiency_from_90, "fraction of the links' rate, from compute capability 90; default: 1"),
               SHARE (MdlCollnetSpec, efficiency_gather,
                      "fraction of the links' rate in all-gather and reduce-scatter (direct); default: 1"),
               FROM (MdlCollnetSpec, channel, BYTES, "1 B", "size that opens a further channel; default: all are open"),
               FROM (MdlCollnetSpec, piece, BYTES, "1 B", "piece of one channel (direct: and head)"),
               LIST (MdlCollnetSpec, cuts, &cut_schema, MdlCut, "how the piece shrinks; a chain counts `fewer` times its ranks"),
               FROM (MdlCollnetSpec, stages, COUNT, "1", "rounds of pieces in flight (direct)"));

static SCHEMA (pat_schema, "pat", "Parallel aggregated trees.", NUM (MdlPatSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlPatSpec, per_rank, TIME, "added per rank"),
               SHARE (MdlPatSpec, hop_share, "latency of a phase as a fraction of the tree's hop latency"),
               SHARE (MdlPatSpec, efficiency, "fraction of the links' rate; default: 1"),
               LIST (MdlPatSpec, gather_cuts, &cut_schema, MdlCut, "how an all-gather's piece, a slot, shrinks"),
               LIST (MdlPatSpec, scatter_cuts, &cut_schema, MdlCut, "how a reduce-scatter's piece, a slot, shrinks"));

static SCHEMA (pairwise_schema, "pairwise", "Sends and receives.",
               MAP (MdlPairSpec, start, &times_schema, "start and end of the kernel"),
               NUM (MdlPairSpec, per_doubling, TIME, "added per doubling of a node's ranks, from two", .was = "doubling"),
               NUM (MdlPairSpec, per_peer, TIME, "added per further peer on the same channel", .was = "further"),
               HOPS (MdlPairSpec), FROM (MdlPairSpec, peers, COUNT, "1", "peers at once on a channel"),
               NUM (MdlPairSpec, registered, RATIO, "share by which Simple's channel is faster on registered buffers, over NVLink"),
               NUM (MdlPairSpec, registered_wire, NUMBER, "`wire` there; default: `wire`"),
               NUM (MdlPairSpec, ll_max_size, BYTES, "largest message by LL, per channel that a peer may have", .was = "ll_up_to"),
               FROM (MdlPairSpec, path_channels, COUNT, "1", "most channels of one peer not reached over NVLink; default: all"),
               FROM (MdlPairSpec, net_channels, COUNT, "1", "most channels of one peer on another node"),
               FROM (MdlPairSpec, net_share, COUNT, "1",
                     "`net_channels` is halved while it exceeds this times all channels / ranks; default: never"),
               FROM (MdlPairSpec, chunk, BYTES, "1 B", "chunk on one node with NVLink between all ranks"),
               FROM (MdlPairSpec, path_chunk, BYTES, "1 B", "chunk on one node without NVLink between all"),
               FROM (MdlPairSpec, net_chunk, BYTES, "1 B", "chunk over several nodes"),
               FROM (MdlPairSpec, ll_chunk, BYTES, "1 B", "LL's chunk, flags included"),
               NUM (MdlPairSpec, min_part, NUMBER, "fewest chunks of a part that open a further channel", .was = "least_part"),
               NUM (MdlPairSpec, max_part, NUMBER, "chunks of a part above which channels double", .was = "most_part"),
               NUM (MdlPairSpec, net_min_part, NUMBER, "`min_part` over several nodes", .was = "net_least_part"),
               NUM (MdlPairSpec, net_max_part, NUMBER, "`max_part` over several nodes", .was = "net_most_part"),
               FROM (MdlPairSpec, one_way, NUMBER, "1", "rate factor of a channel that only sends"),
               FROM (MdlPairSpec, blend, NUMBER, "1",
                     "exponent p of (a^p + b^p)^(1/p) for times of channels and links; default: the longer time counts"),
               NUM (MdlPairSpec, fill, RATIO, "fraction of a chunk's time that nothing overlaps", .max = "1"),
               FROM (MdlPairSpec, wire, NUMBER, "1", "link bytes per byte of an all-to-all's lines over NVLink"),
               NUM (MdlPairSpec, enqueue, TIME, "CPU time per further peer of an all-to-all, plain launch"),
               NUM (MdlPairSpec, host_rank, BANDWIDTH, "largest rate of one rank through host memory, with more than two ranks"),
               NUM (MdlPairSpec, post, TIME, "time of the proxy's thread for a post to the network"),
               NUM (MdlPairSpec, posts, NUMBER, "posts per peer on another node"),
               NUM (MdlPairSpec, poll, TIME, "time of that thread per peer and other peer in flight"));

static SCHEMA (gda_schema, "ibgda", "All-to-all by puts of the GPU's own threads.",
               NUM (MdlGdaSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlGdaSpec, put, TIME, "time per peer on another node"),
               NUM (MdlGdaSpec, signal, TIME, "latency of one put, added to the route's"));

static SCHEMA (torus_schema, "torus", "Rings along the dimensions of a torus.",
               NUM (MdlTorusSpec, start, TIME, "start and end of the operation"),
               NUM (MdlTorusSpec, step, TIME, "time of a hop, added to the route's latency"));
static SCHEMA (hierarchical_schema, "hierarchical", "Operations inside each node, then between nodes; hops inside are the torus'.",
               NUM (MdlHierarchicalSpec, between, TIME, "time of a hop between nodes, added to the route's latency"));
static SCHEMA (one_shot_kernel_schema, "one_shot.kernels", "A kernel of an inference framework.",
               ROW (MdlOneShotKernel, name, STR, "name", .required = TRUE),
               ROW (MdlOneShotKernel, kind, ENUM, "how it adds", .names = mdl_one_shot_kinds, .required = TRUE),
               NUM (MdlOneShotKernel, start, TIME, "time before the first load"),
               NUM (MdlOneShotKernel, trips, NUMBER, "round trips that follow each other"),
               NUM (MdlOneShotKernel, flag, TIME, "time per peer after the first"),
               NUM (MdlOneShotKernel, wait, NUMBER, "round trips of the second stage's barrier"),
               NUM (MdlOneShotKernel, hidden, RATIO, "share of the data's time that hides this barrier", .max = "1"),
               NUM (MdlOneShotKernel, inflight, BYTES, "loads in flight from each peer; default: only links limit", .min = "1 B"),
               NUM (MdlOneShotKernel, efficiency, RATIO, "share of the links' rate", .min = "1 %", .required = TRUE),
               NUM (MdlOneShotKernel, efficiency_from_100, RATIO, "`efficiency` from compute capability 10.0 on", .min = "1 %"),
               NUM (MdlOneShotKernel, call, TIME, "least time of a call without a CUDA graph"),
               ROW (MdlOneShotKernel, mapped, BOOL, "the caller's data already are in memory that peers read: no copy",
                    .fallback = "no"));
static SCHEMA (one_shot_range_schema, "one_shot.ranges", "Sizes that a kernel serves; the first row that fits holds.",
               ROW (MdlOneShotRange, framework, STR, "inference framework", .required = TRUE),
               ROW (MdlOneShotRange, kernel, STR, "kernel that runs", .required = TRUE),
               NUM (MdlOneShotRange, gpus, COUNT, "number of GPUs", .min = "2", .max = "8", .required = TRUE),
               NUM (MdlOneShotRange, capability, COUNT, "least compute capability, times 10"),
               NUM (MdlOneShotRange, max, BYTES, "largest size", .required = TRUE));
static SCHEMA (one_shot_schema, "one_shot", "All-reduce by kernels of inference frameworks.",
               ROW (MdlOneShotSpec, framework, STR, "framework if none is named"),
               NUM (MdlOneShotSpec, round_trip, TIME, "load from another GPU's memory, there and back"),
               NUM (MdlOneShotSpec, round_trip_from_100, TIME, "`round_trip` from compute capability 10.0 on"),
               NUM (MdlOneShotSpec, copy, TIME, "copy into shared memory without a CUDA graph"),
               NUM (MdlOneShotSpec, copy_rate, BANDWIDTH, "rate of this copy"),
               LIST (MdlOneShotSpec, kernels, &one_shot_kernel_schema, MdlOneShotKernel, "kernels"),
               LIST (MdlOneShotSpec, ranges, &one_shot_range_schema, MdlOneShotRange, "sizes that each serves"));

static SCHEMA (symmetric_kernel_schema, "symmetric.kernels",
               "A kernel on symmetric memory; of rows with one name the last whose `capability` is not above the GPU's holds.",
               ROW (MdlSymmetricKernel, name, STR, "NCCL's name", .required = TRUE),
               ROW (MdlSymmetricKernel, op, ENUM, "operation", .names = mdl_op_names, .required = TRUE),
               ROW (MdlSymmetricKernel, ll, BOOL, "lines with flags, instead of whole loads and stores", .fallback = "no"),
               ROW (MdlSymmetricKernel, multicast, BOOL, "by multicast of the NVSwitch", .fallback = "no"),
               NUM (MdlSymmetricKernel, capability, COUNT, "least compute capability, times 10"),
               NUM (MdlSymmetricKernel, base, TIME, "NCCL's estimate: latency", .required = TRUE),
               NUM (MdlSymmetricKernel, block, BANDWIDTH, "NCCL's estimate: rate of a block", .min = "1 MB/s", .required = TRUE),
               NUM (MdlSymmetricKernel, peak, BANDWIDTH, "NCCL's estimate: largest rate", .min = "1 MB/s", .required = TRUE),
               NUM (MdlSymmetricKernel, gain, NUMBER, "NCCL's estimate: factor on `block`; default: 1 without `gain_per_rank`"),
               NUM (MdlSymmetricKernel, gain_per_rank, NUMBER, "what each rank adds to this factor"),
               NUM (MdlSymmetricKernel, start, TIME, "start and end", .required = TRUE),
               NUM (MdlSymmetricKernel, peer, TIME, "time per peer after the first"),
               NUM (MdlSymmetricKernel, doubling, TIME, "time per doubling of the blocks"),
               NUM (MdlSymmetricKernel, ramp, TIME, "time lost until a block is at its rate"),
               NUM (MdlSymmetricKernel, ramp_peer, TIME, "the same per peer after the first"),
               NUM (MdlSymmetricKernel, ramp_half, BYTES, "bytes of a block at which half of this is lost", .min = "1 B"),
               NUM (MdlSymmetricKernel, rate, BANDWIDTH, "rate of a block; default: only links limit", .min = "1 MB/s"),
               NUM (MdlSymmetricKernel, rate_peer, RATIO, "share by which a block is slower per peer after the first"),
               NUM (MdlSymmetricKernel, cached, RATIO, "share by which a block is faster if the cache holds input and output"),
               NUM (MdlSymmetricKernel, efficiency, RATIO, "share of the links' rate", .min = "1 %", .required = TRUE));
static SCHEMA (symmetric_schema, "symmetric", "NCCL's kernels on windows of symmetric memory.",
               ROW (MdlSymmetricSpec, from, STR, "first version of NCCL that has them"),
               ROW (MdlSymmetricSpec, pairs_until, STR, "last version in which two ranks use multicast"),
               NUM (MdlSymmetricSpec, ll_factor, NUMBER, "NCCL's estimate: bytes that count for one byte of LL"),
               NUM (MdlSymmetricSpec, tolerance, RATIO, "NCCL's estimate: share of time given up for fewer blocks"),
               NUM (MdlSymmetricSpec, penalty, RATIO, "NCCL's estimate: share of time that a block counts more"),
               FROM (MdlSymmetricSpec, blocks, COUNT, "1", "most blocks"),
               FROM (MdlSymmetricSpec, multicast_blocks, COUNT, "1", "most blocks with multicast, of all ranks"),
               FROM (MdlSymmetricSpec, multicast_blocks_from_100, COUNT, "1", "the same from compute capability 10.0 on"),
               FROM (MdlSymmetricSpec, cell, BYTES, "1 B", "a rank's part counts in multiples of this"),
               FROM (MdlSymmetricSpec, line, BYTES, "1 B", "bytes that all threads of a block take at once by LL"),
               NUM (MdlSymmetricSpec, ll_max, BYTES, "LL serves smaller sizes"),
               NUM (MdlSymmetricSpec, max, BYTES, "these kernels serve smaller sizes"),
               LIST (MdlSymmetricSpec, kernels, &symmetric_kernel_schema, MdlSymmetricKernel, "kernels"));

static SCHEMA (registration_schema, "registration", "Buffers that are registered with a communicator.",
               ROW (MdlRegistrationSpec, net_from, STR, "first version of NCCL whose adapters read and write them"),
               FROM (MdlRegistrationSpec, net_channels, COUNT, "1", "channels of a ring that gathers among nodes of one GPU"),
               NUM (MdlRegistrationSpec, call, TIME, "registering one buffer with a communicator"),
               NUM (MdlRegistrationSpec, net, TIME, "the same with an adapter"),
               FROM (MdlRegistrationSpec, net_rate, BANDWIDTH, "1 kB/s", "bytes that an adapter registers a second"),
               NUM (MdlRegistrationSpec, window, TIME, "first window of symmetric memory"),
               NUM (MdlRegistrationSpec, window_again, TIME, "each further window"));

static SCHEMA (copy_engine_schema, "copy_engine", "NCCL's collectives by the GPUs' copy engines (NCCL_CTA_POLICY=ZERO).",
               ROW (MdlCopyEngineSpec, from, STR, "first version of NCCL that has them"),
               ROW (MdlCopyEngineSpec, puts_from, STR, "first version that has one-sided puts"),
               ROW (MdlCopyEngineSpec, flags_from, STR, "first version that copies flags instead of writing them"),
               ROW (MdlCopyEngineSpec, threshold_from, STR, "first version that takes them by `threshold`"),
               NUM (MdlCopyEngineSpec, threshold, NUMBER, "elements a rank above which an all-gather on Blackwell takes them"),
               NUM (MdlCopyEngineSpec, batch, TIME, "a batch of writes and waits, and the wait for the peers"),
               NUM (MdlCopyEngineSpec, operation, TIME, "each write or wait of a batch"),
               NUM (MdlCopyEngineSpec, wait, TIME, "a batch that writes to no peer, in place of `batch`"),
               NUM (MdlCopyEngineSpec, copy, TIME, "a queued copy to a peer, beyond its bytes"),
               NUM (MdlCopyEngineSpec, own, TIME, "copy of the rank's own part, beyond its bytes"),
               NUM (MdlCopyEngineSpec, own_rate, BANDWIDTH, "rate of that copy"),
               FROM (MdlCopyEngineSpec, wire, NUMBER, "0.1", "time of a byte on the links, over that of a kernel's stores"),
               NUM (MdlCopyEngineSpec, launch, TIME, "CPU time of one call"),
               NUM (MdlCopyEngineSpec, flag_launch, TIME, "CPU time of each flag that is copied"),
               NUM (MdlCopyEngineSpec, put_launch, TIME, "CPU time of one put with its signal"),
               NUM (MdlCopyEngineSpec, wait_launch, TIME, "CPU time of one wait for signals"));

SCHEMA (cst_error_schema, "error", "Relative half-width of the error band.",
        NUM (MdlErrorSpec, small, RATIO, "half-width below `small_max`"),
        NUM (MdlErrorSpec, middle, RATIO, "half-width below `middle_max`"), NUM (MdlErrorSpec, large, RATIO, "half-width above"));

static SCHEMA (range_schema, "range", "What the constants were fitted on.", NUM (MdlRange, min_size, BYTES, "smallest size fitted"),
               NUM (MdlRange, max_size, BYTES, "largest size fitted"), NUM (MdlRange, max_ranks, COUNT, "most ranks fitted"),
               NUM (MdlRange, max_nodes, COUNT, "most nodes fitted"));

static SCHEMA (tested_schema, "tested", "Operations that were predicted and then measured, with the error found.",
               ROW (MdlTested, op, ENUM, "operation", .names = mdl_op_names, .required = TRUE),
               ROW (MdlTested, algo, ENUM, "algorithm that ran", .names = mdl_algo_names, .required = TRUE),
               NUM (MdlTested, nodes, COUNT, "most nodes; 1: within one node", .min = "1", .required = TRUE),
               NUM (MdlTested, gpus, COUNT, "GPUs per node; within one node: at most so many", .min = "1", .required = TRUE),
               NUM (MdlTested, min_size, BYTES, "smallest size", .required = TRUE),
               NUM (MdlTested, max_size, BYTES, "largest size", .required = TRUE),
               NUM (MdlTested, error, RATIO, "half-width of the error band", .required = TRUE));

static SCHEMA (region_schema, "region", "A polygon of sizes and ranks in which one choice applies.",
               NUM (MdlTunerRegion, gpus, COUNT, "GPUs per node in use", .min = "1", .required = TRUE),
               ROW (MdlTunerRegion, op, ENUM, "operation", .names = mdl_op_names, .required = TRUE),
               ROW (MdlTunerRegion, algo, ENUM, "algorithm", .names = mdl_algo_names, .required = TRUE),
               ROW (MdlTunerRegion, proto, ENUM, "protocol", .names = mdl_proto_names, .required = TRUE),
               ROW (MdlTunerRegion, bytes, NUMS, "sizes of its vertices, in order", .dim = BASE_DIM_BYTES, .required = TRUE),
               ROW (MdlTunerRegion, ranks, NUMS, "ranks of the same vertices", .dim = BASE_DIM_COUNT, .required = TRUE));

static SCHEMA (regions_schema, "plugin's tuner", "Choices of a network plugin.",
               ROW_AS (MdlTunerRegions, "tuner", name, STR, "its name", .required = TRUE),
               ROW (MdlTunerRegions, summary, STR, "its maker"),
               ROW (MdlTunerRegions, from, STR, "first version of NCCL that asks it", .required = TRUE),
               NUM (MdlTunerRegions, nodes, COUNT, "fewest nodes", .min = "1", .required = TRUE),
               LIST (MdlTunerRegions, regions, &region_schema, MdlTunerRegion,
                     "the first region that contains size and ranks decides"));

static SCHEMA (plugin_schema, "plugin", "A network plugin: the library's software for one kind of network.",
               ROW_AS (MdlPlugin, "class", link_class, STR, "link class of the network's ports", .required = TRUE),
               NUM (MdlPlugin, latency, TIME, "time added to each message"),
               NUM (MdlPlugin, tuner_latency, TIME, "latency of a message as reported to NCCL's tuner; default: 0",
                    .was = "told_latency"),
               NUM (MdlPlugin, ll128_start, TIME,
                    "time added once per operation by LL128, if a NIC's thread serves two channels or more"),
               NUM (MdlPlugin, ll_line, TIME, "time added per line of a message by LL, whose flags the CPU reads"),
               NUM (MdlPlugin, nvls_tree_start, TIME, "added once per operation by NVLSTree"),
               NUM (MdlPlugin, message, TIME, "time of the proxy's thread for a message of NVLSTree; default: none"),
               NUM (MdlPlugin, flush, TIME, "read after each message received by NVLSTree, one after another; default: none"),
               FROM (MdlPlugin, nvls_tree_piece, BYTES, "1 KiB", "largest piece of NVLSTree, set by the plugin"),
               ROW (MdlPlugin, tuner, REF, "the plugin's own choices", .sub = &regions_schema,
                    .item_size = sizeof (MdlTunerRegions), .folder = "calibrate/defaults"),
               ROW (MdlPlugin, tuner_from_103, REF, "the plugin's own choices from compute capability 10.3; default: as `tuner`",
                    .sub = &regions_schema, .item_size = sizeof (MdlTunerRegions), .folder = "calibrate/defaults"),
               ROW (MdlPlugin, from, STR,
                    "NCCL version from which the row holds; of several rows of a class the last that fits counts; "
                    "default: any version, and none asked for"),
               ROW (MdlPlugin, before, STR, "the row holds only if an older NCCL version than this is asked for; default: any"),
               FROM (MdlPlugin, buffer, BYTES, "64 KiB", "`NCCL_BUFFSIZE` between nodes, unless it is given"),
               ROW (MdlPlugin, simple_only, BOOL, "LL and LL128 are switched off"),
               ROW (MdlPlugin, no_ll, BOOL, "LL is switched off", .fallback = "no"),
               ROW (MdlPlugin, no_nvls, BOOL, "NVLS and NVLSTree are switched off", .fallback = "no"),
               ROW (MdlPlugin, groups, BOOL, "the NICs near one GPU count as one device", .fallback = "no"));

static SCHEMA (create_schema, "create", "Time to create communicators.",
               NUM (MdlCreateSpec, first, TIME, "first communicator of a process"),
               NUM (MdlCreateSpec, first_per_gpu, TIME, "first communicator: added per GPU of a node"),
               NUM (MdlCreateSpec, per_gpu, TIME, "further communicators: per GPU of a node"),
               NUM (MdlCreateSpec, network, TIME, "added if it spans nodes"),
               NUM (MdlCreateSpec, per_rank, TIME, "added per rank if it spans nodes"),
               NUM (MdlCreateSpec, per_pair, TIME, "added per ordered pair of ranks if it spans nodes"),
               NUM (MdlCreateSpec, connect, TIME, "connections of one algorithm, per GPU of a node"),
               NUM (MdlCreateSpec, connect_all, TIME, "connections of all algorithms, per GPU of a node"),
               NUM (MdlCreateSpec, connect_network, TIME, "connections: added if it spans nodes"));

static SCHEMA (cpu_schema, "cpu", "CPU threads that serve the network.",
               NUM (MdlCpuSpec, turn, TIME, "wait of a thread per other thread on its core"),
               NUM (MdlCpuSpec, socket_gain, RATIO, "rate added to a TCP channel by each doubling of its connections"));

static SCHEMA (graph_schema, "graph", "Result of the search for one algorithm.",
               NUM (MdlGraphSpec, channels, COUNT, "channels of the search"),
               NUM (MdlGraphSpec, intra, BANDWIDTH, "rate of a channel inside a node"),
               NUM (MdlGraphSpec, inter, BANDWIDTH, "rate of a channel between nodes"),
               ROW (MdlGraphSpec, path_intra, STR, "farthest path class in the node: `NVL`, `PIX`, …"),
               ROW (MdlGraphSpec, path_inter, STR, "farthest path class to the NIC"),
               ROW (MdlGraphSpec, same, BOOL, "all channels have one order of GPUs"));

static SCHEMA (graphs_schema, "graphs", "Graphs that NCCL's own search found (`import nccl-log`, `nccl-graph`).",
               FROM (MdlGraphsSpec, gpus, COUNT, "1", "GPUs per node that took part"),
               FROM (MdlGraphsSpec, nodes, COUNT, "1", "nodes that took part; default: any"),
               MAP (MdlGraphsSpec, ring, &graph_schema, "rings"), MAP (MdlGraphsSpec, tree, &graph_schema, "trees"),
               MAP (MdlGraphsSpec, nvls, &graph_schema, "NVLS"),
               MAP (MdlGraphsSpec, collnet_direct, &graph_schema, "CollNet direct"),
               MAP (MdlGraphsSpec, collnet_chain, &graph_schema, "CollNet chain"));

SCHEMA (cst_library_schema, "library", "Constants of a communication library on one kind of hardware.",
        ROW (MdlLibrary, name, STR, "NCCL, RCCL, …"),
        LIST (MdlLibrary, plugins, &plugin_schema, MdlPlugin, "network plugins, by link class"),
        FROM (MdlLibrary, cache, BYTES, "1 MiB", "the GPU's last level cache"),
        MAP (MdlLibrary, protocols, &protocols_schema, "formats and buffers"),
        MAP (MdlLibrary, channels, &channels_schema, "number of channels"),
        MAP (MdlLibrary, create, &create_schema, "time to create communicators"),
        MAP (MdlLibrary, cpu, &cpu_schema, "CPU threads that serve the network"),
        MAP (MdlLibrary, graphs, &graphs_schema, "graphs from NCCL's own search, instead of forerun's"),
        MAP (MdlLibrary, launch, &launches_schema, "cost of a launch"), MAP (MdlLibrary, ring, &ring_schema, "ring"),
        MAP (MdlLibrary, tree, &tree_schema, "tree"), MAP (MdlLibrary, nvls, &nvls_schema, "reduction in the NVSwitch"),
        MAP (MdlLibrary, nvls_tree, &nvls_tree_schema, "reduction in the NVSwitch, double tree over nodes"),
        MAP (MdlLibrary, collnet_direct, &collnet_schema, "CollNet direct: reduction in the network, all ranks of a node at once"),
        MAP (MdlLibrary, collnet_chain, &collnet_schema, "CollNet chain: reduction in the network, a chain in the node"),
        MAP (MdlLibrary, pat, &pat_schema, "parallel aggregated trees"),
        MAP (MdlLibrary, pairwise, &pairwise_schema, "sends and receives"),
        MAP (MdlLibrary, ibgda, &gda_schema, "all-to-all by puts of the GPU's own threads (NVSHMEM)"),
        MAP (MdlLibrary, torus, &torus_schema, "rings along the dimensions of a torus"),
        MAP (MdlLibrary, hierarchical, &hierarchical_schema, "operations inside each node, then between nodes"),
        MAP (MdlLibrary, one_shot, &one_shot_schema, "all-reduce by kernels of inference frameworks"),
        MAP (MdlLibrary, symmetric, &symmetric_schema, "NCCL's kernels on windows of symmetric memory"),
        MAP (MdlLibrary, registration, &registration_schema, "buffers that are registered with a communicator"),
        MAP (MdlLibrary, copy_engine, &copy_engine_schema, "NCCL's collectives by copy engines"),
        MAP (MdlLibrary, error, &cst_error_schema, "half-width with measured constants, inside `range`"),
        MAP (MdlLibrary, assumed_error, &cst_error_schema, "half-width if a constant is assumed"),
        LIST (MdlLibrary, tested, &tested_schema, MdlTested, "half-width where predictions were tested; the first row that fits"),
        NUM (MdlLibrary, small_max, BYTES, "upper limit of small sizes", .was = "small_to"),
        NUM (MdlLibrary, middle_max, BYTES, "upper limit of middle sizes", .was = "middle_to"),
        FROM (MdlLibrary, extrapolation_factor, NUMBER, "1", "factor on the band outside `range`", .was = "outside"),
        MAP (MdlLibrary, range, &range_schema, "what the constants were fitted on"));
