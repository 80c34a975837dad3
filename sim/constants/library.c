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

static SCHEMA (times_schema, "times by protocol", "One time a protocol.", BY_PROTO (MdlByProto, NUM, .dim = BASE_DIM_TIME));

static SCHEMA (factors_schema, "factors by protocol", "One factor a protocol.",
               BY_PROTO (MdlByProto, NUM, .dim = BASE_DIM_NUMBER, .min = "1"));

static SCHEMA (rates_schema, "rates by protocol", "One rate a protocol.",
               BY_PROTO (MdlByProto, NUM, .dim = BASE_DIM_BANDWIDTH, .min = "1 kB/s"));

static SCHEMA (step_schema, "step", "A step by one protocol over one kind of hop.",
               NUM (MdlStep, latency, TIME, "of a short message, its wire of `route_latency` included"),
               NUM (MdlStep, floor, TIME, "what of it long data never hides; default: all"),
               NUM (MdlStep, per_channel, TIME, "on top for each further channel in use"),
               NUM (MdlStep, halving, TIME, "less for each time that a short operation halves its threads"),
               NUM (MdlStep, empty, RATIO, "share of it where ranks have no data of their own, below 16 B each; default: all",
                    .max = "1"),
               NUM (MdlStep, halved, TIME, "more for each such time, by a protocol of lines, which fewer threads move"),
               NUM (MdlStep, slice, TIME, "on top for a second slice of a ring's chunk"),
               NUM (MdlStep, uneven, TIME, "on top in a ring whose ranks are no power of two"),
               FROM (MdlStep, uneven_from, BYTES, "1 B", "chunk from which on `uneven` counts"),
               FROM (MdlStep, uneven_full, BYTES, "1 B", "… and in full, by its logarithm between"),
               FROM (MdlStep, rate, BANDWIDTH, "1 kB/s", "payload one channel moves in one operation; default: no limit"));

static SCHEMA (hop_schema, "hop", "Steps over one kind of hop.",
               NUM (MdlHopSteps, route_latency, TIME, "wire that the latencies contain; a longer route adds the rest"),
               BY_PROTO (MdlHopSteps, MAP, .sub = &step_schema));

#define HOPS(T)                                                                                     \
  MAP_AS (T, "nvlink", hop[MDL_HOP_NVLINK], &hop_schema, "over NVLink and its like"),               \
      MAP_AS (T, "pcie", hop[MDL_HOP_PCIE], &hop_schema, "GPU to GPU over PCIe"),                   \
      MAP_AS (T, "host", hop[MDL_HOP_HOST], &hop_schema, "through host memory"),                    \
      MAP_AS (T, "net", hop[MDL_HOP_NET], &hop_schema, "by NICs that read and write GPU memory"),   \
      MAP_AS (T, "net_host", hop[MDL_HOP_NET_HOST], &hop_schema, "by NICs, staged in host memory"), \
      MAP_AS (T, "tcp", hop[MDL_HOP_TCP], &hop_schema, "by sockets, staged in host memory")

static SCHEMA (
    protocol_schema, "protocol", "Format and buffers of a protocol.", ROW (MdlProtocol, offered, BOOL, "the library has it"),
    FROM (MdlProtocol, wire, NUMBER, "1", "bytes on the link per byte of payload"),
    NUM (MdlProtocol, threads, COUNT, "of a channel's block"),
    NUM (MdlProtocol, min_threads, COUNT, "of a ring's only channel, halved while short; default: never", .was = "least_threads"),
    NUM (MdlProtocol, bytes_per_thread, BYTES, "size per thread that opens a further channel", .was = "bytes_a_thread"),
    ROW (MdlProtocol, times_ranks, BOOL, "… times the ranks, for a ring", .was = "a_rank"),
    FROM (MdlProtocol, cell_traffic, NUMBER, "1", "factor on the traffic that is cut into cells"),
    FROM (MdlProtocol, slot, BYTES, "1 B", "payload of one slot of the buffer: the piece of a pipeline"),
    FROM (MdlProtocol, ring_chunk, BYTES, "1 B", "payload a ring moves a step, channel and loop at most"),
    NUM (MdlProtocol, slice, BYTES, "smallest slice handed on by itself; absent: data flows line by line"),
    NUM (MdlProtocol, overlap, RATIO, "share of a step's data that runs beneath its latency", .max = "1"),
    FROM (MdlProtocol, copy, NUMBER, "0.1", "an operation that copies, in ones that reduce; default: 1"),
    NUM (MdlProtocol, ends, NUMBER, "a ring's first and last operation together, in ones that reduce: all-reduce"),
    NUM (MdlProtocol, miss, NUMBER,
         "what an operation that reads the rank's input takes more beyond the cache, in ones that reduce; default: nothing"),
    NUM (MdlProtocol, gather_ends, NUMBER, "likewise of all-gather; default: `ends`"),
    NUM (MdlProtocol, scatter_ends, NUMBER, "likewise of reduce-scatter; default: `ends`"),
    NUM (MdlProtocol, forward_after, RATIO, "share of a piece that has arrived when the next hop begins to pass it on", .max = "1",
         .was = "hand_on"),
    FROM (MdlProtocol, forward_after_max, BYTES, "1 B", "… of no more than so many bytes, in a tree; default: all",
          .was = "hand_on_most"));

static SCHEMA (protocols_schema, "protocols", "The protocols.",
               MAP_AS (MdlProtocols, "ll", at[MDL_PROTO_LL], &protocol_schema, "LL"),
               MAP_AS (MdlProtocols, "ll128", at[MDL_PROTO_LL128], &protocol_schema, "LL128"),
               MAP_AS (MdlProtocols, "simple", at[MDL_PROTO_SIMPLE], &protocol_schema, "Simple"));

static SCHEMA (channel_row_schema, "channels.scale_up", "Most channels.",
               NUM (MdlChannelRow, capability, COUNT, "compute capability from which on the row holds (90: Hopper)"),
               FROM (MdlChannelRow, one_node, COUNT, "1", "channels on one node"),
               FROM (MdlChannelRow, nodes, COUNT, "1", "channels over several nodes"));

static SCHEMA (channels_schema, "channels", "How many blocks work.",
               LIST (MdlChannels, scale_up, &channel_row_schema, MdlChannelRow, "by compute capability, ascending"),
               FROM (MdlChannels, pcie, COUNT, "1", "one node without NVLink"),
               FROM (MdlChannels, host, COUNT, "1", "one node, through host memory"),
               NUM (MdlChannels, cell, BYTES, "traffic below which no further channel is opened"),
               FROM (MdlChannels, steps, COUNT, "1", "slots of a connection's buffer"),
               FROM (MdlChannels, p2p, COUNT, "1", "channels of sends and receives, at most"));

static SCHEMA (launch_schema, "launch mode", "What a launch costs.", NUM (MdlLaunchCost, extra, TIME, "on top of each call"),
               NUM (MdlLaunchCost, per_gpu, TIME, "of the CPU for one launch"));

static SCHEMA (launches_schema, "launch", "What a launch costs, by mode.",
               MAP_AS (MdlLaunchCosts, "graph", at[MDL_LAUNCH_GRAPH], &launch_schema, "CUDA graph replay"),
               MAP_AS (MdlLaunchCosts, "threads", at[MDL_LAUNCH_THREADS], &launch_schema, "one thread or process a GPU"),
               MAP_AS (MdlLaunchCosts, "serial", at[MDL_LAUNCH_SERIAL], &launch_schema, "one thread for the GPUs of a node"),
               MAP_AS (MdlLaunchCosts, "registered", at[MDL_LAUNCH_REGISTERED], &launch_schema,
                       "CUDA graph replay on registered buffers"));

static SCHEMA (cut_schema, "cut", "When a pipeline's piece shrinks.",
               FROM (MdlCut, above, BYTES, "1 B", "pieces are not cut below"),
               FROM (MdlCut, fewer, NUMBER, "0", "cut while a channel has fewer pieces"));

static SCHEMA (shares_schema, "shares by protocol", "One share a protocol.", BY_PROTO (MdlByProto, NUM, .dim = BASE_DIM_RATIO));

static SCHEMA (chain_schema, "chain", "Broadcast and reduce along a ring.",
               MAP (MdlChainSpec, start, &times_schema, "start and end of the kernel"),
               MAP (MdlChainSpec, middle, &times_schema,
                    "what receiving before sending adds where operations follow each other; default: a hop's latency"),
               MAP (MdlChainSpec, reduce, &times_schema, "less for a reduce, which stores nothing on its way"),
               MAP (MdlChainSpec, rate, &rates_schema, "payload one channel moves"),
               MAP (MdlChainSpec, forward_after, &shares_schema,
                    "share of a piece that has arrived when the next hop begins to pass it on, waits included", .was = "hand_on"));

static SCHEMA (ring_schema, "ring", "Ring; chain for broadcast and reduce.",
               MAP (MdlRingSpec, start, &times_schema, "start and end of the kernel, no steps"),
               MAP (MdlRingSpec, blend, &factors_schema,
                    "exponent by which blocks and links that are about as fast slow each other down; default: they do not"),
               MAP (MdlRingSpec, gather_start, &times_schema, "the same of all-gather; default: `start`"),
               MAP (MdlRingSpec, scatter_start, &times_schema, "the same of reduce-scatter; default: `start`"),
               MAP (MdlRingSpec, per_channel, &times_schema, "on top for each further channel"),
               NUM (MdlRingSpec, registered, TIME, "on top by Simple where buffers are registered"),
               MAP (MdlRingSpec, halving, &times_schema, "less for each time that a short operation halves its threads"),
               HOPS (MdlRingSpec),
               MAP (MdlRingSpec, chain, &chain_schema, "broadcast and reduce; what is absent is the ring's own"),
               FROM (MdlRingSpec, plateau, NUMBER, "1", "factor on hop latency, Simple all-reduce between nodes"),
               NUM (MdlRingSpec, plateau_from, BYTES, "size a channel and rank from which on `plateau` holds"));

static SCHEMA (tree_schema, "tree", "Tree all-reduce.", MAP (MdlTreeSpec, start, &times_schema, "start and end of the kernel"),
               MAP (MdlTreeSpec, per_channel, &times_schema, "on top for each further channel"), HOPS (MdlTreeSpec),
               MAP (MdlTreeSpec, stream, &rates_schema, "a channel sustains while it reduces and broadcasts at once"),
               MAP (MdlTreeSpec, end_stream, &rates_schema, "the same between two ranks, where no rank does both"),
               MAP (MdlTreeSpec, per_piece, &times_schema, "for each further piece"),
               MAP (MdlTreeSpec, inner, &factors_schema, "link bytes beyond the protocol's from three GPUs of a node on"),
               FROM (MdlTreeSpec, blend, NUMBER, "1",
                     "exponent by which blocks and links that are about as fast slow each other down; default: they do not"),
               NUM (MdlTreeSpec, registered_piece, RATIO, "share of a slot that is Simple's piece where buffers are registered",
                    .min = "0.01", .max = "1"),
               LIST (MdlTreeSpec, ll128_cuts, &cut_schema, MdlCut, "how LL128's piece shrinks"),
               NUM (MdlTreeSpec, ll128_rank_weight, NUMBER, "weight of a rank of the node against a level of nodes"));

static SCHEMA (nvls_schema, "nvls", "Reduction in the NVSwitch.", NUM (MdlNvlsSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlNvlsSpec, latency, TIME, "of the reduction in the switch and the signals around it"),
               FROM (MdlNvlsSpec, channels, COUNT, "1", "in use"),
               FROM (MdlNvlsSpec, channels_from_100, COUNT, "1", "from compute capability 100 on"),
               FROM (MdlNvlsSpec, channels_from_100_nodes, COUNT, "1", "likewise over several nodes; default: as on one"),
               NUM (MdlNvlsSpec, net, TIME, "on top over several nodes: to the network's switches and back"),
               FROM (MdlNvlsSpec, rate, BANDWIDTH, "1 kB/s", "payload one channel moves"),
               NUM (MdlNvlsSpec, efficiency, RATIO, "of the links, before compute capability 100", .min = "0.01", .max = "1"),
               NUM (MdlNvlsSpec, efficiency_from_100, RATIO, "of the links, from compute capability 100 on", .min = "0.01",
                    .max = "1"),
               FROM (MdlNvlsSpec, piece, BYTES, "1 B", "of one head and channel"),
               LIST (MdlNvlsSpec, cuts, &cut_schema, MdlCut, "how the piece shrinks"),
               FROM (MdlNvlsSpec, stages, NUMBER, "1", "rounds of pieces under way at once"));

static SCHEMA (cap_schema, "nvls_tree.caps", "Most busbw of one head.",
               NUM (MdlCapRow, capability, COUNT, "compute capability from which on the row holds (90: Hopper)"),
               FROM (MdlCapRow, two_nodes, BANDWIDTH, "1 kB/s", "busbw of a head on two nodes, at most"),
               FROM (MdlCapRow, nodes, BANDWIDTH, "1 kB/s", "the same on more"));

static SCHEMA (nvls_tree_schema, "nvls_tree", "Reduction in the NVSwitches, a double tree over the nodes.",
               NUM (MdlNvlsTreeSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlNvlsTreeSpec, latency, TIME, "of the reduction in the node's switch and the signals around it"),
               NUM (MdlNvlsTreeSpec, hop, TIME, "of a hop between nodes, on top of the tree's over the same transport"),
               FROM (MdlNvlsTreeSpec, piece, BYTES, "1 B", "of one head and channel"),
               FROM (MdlNvlsTreeSpec, many_nodes_piece, BYTES, "1 B", "the same from `many_nodes_from` nodes on",
                     .was = "far_piece"),
               FROM (MdlNvlsTreeSpec, many_nodes_from, COUNT, "2", "nodes from which on `many_nodes_piece` holds; default: never",
                     .was = "far_nodes"),
               LIST (MdlNvlsTreeSpec, cuts, &cut_schema, MdlCut, "how the piece shrinks"),
               FROM (MdlNvlsTreeSpec, stages, NUMBER, "1", "rounds of pieces under way at once in a node"),
               LIST (MdlNvlsTreeSpec, caps, &cap_schema, MdlCapRow, "by compute capability, ascending"));

#define SHARE(T, member, help_) NUM (T, member, RATIO, help_, .min = "0.01", .max = "1")

static SCHEMA (collnet_schema, "collnet", "Reduction in the network's switches.",
               FROM (MdlCollnetSpec, ranks, COUNT, "1", "of a node, at most; default: any"),
               NUM (MdlCollnetSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlCollnetSpec, hop, TIME, "of a message inside the node"),
               NUM (MdlCollnetSpec, peer, TIME, "on top for each peer that a head serves (direct)"),
               NUM (MdlCollnetSpec, net, TIME, "to the network's switches and back"),
               SHARE (MdlCollnetSpec, efficiency, "of the links, before compute capability 90; default: all"),
               SHARE (MdlCollnetSpec, efficiency_from_90, "of the links, from compute capability 90 on; default: all"),
               SHARE (MdlCollnetSpec, efficiency_gather, "of the links, in all-gather and reduce-scatter (direct); default: all"),
               FROM (MdlCollnetSpec, channel, BYTES, "1 B", "size that opens a further channel; default: all are open"),
               FROM (MdlCollnetSpec, piece, BYTES, "1 B", "of one channel (direct: and head)"),
               LIST (MdlCollnetSpec, cuts, &cut_schema, MdlCut, "how the piece shrinks; a chain counts `fewer` times its ranks"),
               FROM (MdlCollnetSpec, stages, NUMBER, "1", "rounds of pieces under way at once (direct)"));

static SCHEMA (pat_schema, "pat", "Parallel aggregated trees.", NUM (MdlPatSpec, start, TIME, "start and end of the kernel"),
               NUM (MdlPatSpec, per_rank, TIME, "for each rank"),
               SHARE (MdlPatSpec, hop_share, "of the tree's hop latency that a phase takes"),
               SHARE (MdlPatSpec, efficiency, "of the links; default: all"),
               LIST (MdlPatSpec, gather_cuts, &cut_schema, MdlCut, "how an all-gather's piece, a slot, shrinks"),
               LIST (MdlPatSpec, scatter_cuts, &cut_schema, MdlCut, "how a reduce-scatter's piece, a slot, shrinks"));

static SCHEMA (
    pairwise_schema, "pairwise", "Sends and receives.", MAP (MdlPairSpec, start, &times_schema, "start and end of the kernel"),
    NUM (MdlPairSpec, per_doubling, TIME, "for each doubling of the ranks of a node from two on", .was = "doubling"),
    NUM (MdlPairSpec, per_peer, TIME, "for each further peer on the same channel", .was = "further"), HOPS (MdlPairSpec),
    FROM (MdlPairSpec, peers, COUNT, "1", "peers at once on a channel"),
    NUM (MdlPairSpec, ll_max_size, BYTES, "message that goes by LL, for each channel that a peer may have", .was = "ll_up_to"),
    FROM (MdlPairSpec, path_channels, COUNT, "1", "channels of one peer that is not reached over NVLink, at most; default: all"),
    FROM (MdlPairSpec, net_channels, COUNT, "1", "channels of one peer on another node, at most"),
    FROM (MdlPairSpec, net_share, NUMBER, "1",
          "halved while times the ranks they exceed so many times all channels; default: never"),
    FROM (MdlPairSpec, chunk, BYTES, "1 B", "chunk where all ranks of one node are joined by NVLink"),
    FROM (MdlPairSpec, path_chunk, BYTES, "1 B", "chunk in one node without"),
    FROM (MdlPairSpec, net_chunk, BYTES, "1 B", "chunk over several nodes"),
    FROM (MdlPairSpec, ll_chunk, BYTES, "1 B", "LL's chunk, flags included"),
    NUM (MdlPairSpec, min_part, NUMBER, "chunks of a part below which no further channel is taken", .was = "least_part"),
    NUM (MdlPairSpec, max_part, NUMBER, "chunks of a part above which channels are doubled", .was = "most_part"),
    NUM (MdlPairSpec, net_min_part, NUMBER, "the first over several nodes", .was = "net_least_part"),
    NUM (MdlPairSpec, net_max_part, NUMBER, "the second over several nodes", .was = "net_most_part"),
    FROM (MdlPairSpec, one_way, NUMBER, "1", "what a channel that only sends moves more, as a factor"),
    FROM (MdlPairSpec, blend, NUMBER, "1",
          "exponent by which channels and links that are about as fast slow each other down; default: they do not"),
    NUM (MdlPairSpec, fill, RATIO, "share of a chunk's time that nothing overlaps", .max = "1"),
    FROM (MdlPairSpec, wire, NUMBER, "1", "link bytes per byte of an all-to-all's lines over NVLink"),
    NUM (MdlPairSpec, enqueue, TIME, "of the CPU for each further peer of an all-to-all, in a plain launch"),
    NUM (MdlPairSpec, host_rank, BANDWIDTH, "most of one rank through host memory, among more than two"),
    NUM (MdlPairSpec, post, TIME, "of the proxy's only thread for a post to the network"),
    NUM (MdlPairSpec, posts, NUMBER, "posts a peer on another node"),
    NUM (MdlPairSpec, poll, TIME, "of that thread for each other peer under way, for each peer"));

static SCHEMA (error_schema, "error", "Relative half-width of the error band.",
               NUM (MdlErrorSpec, small, RATIO, "half-width below `small_max`"),
               NUM (MdlErrorSpec, middle, RATIO, "half-width below `middle_max`"),
               NUM (MdlErrorSpec, large, RATIO, "half-width above"));

static SCHEMA (range_schema, "range", "What the constants were fitted on.", NUM (MdlRange, min_size, BYTES, "smallest size fitted"),
               NUM (MdlRange, max_size, BYTES, "largest size fitted"), NUM (MdlRange, max_ranks, COUNT, "most ranks fitted"),
               NUM (MdlRange, max_nodes, COUNT, "most nodes fitted"));

static SCHEMA (region_schema, "region", "Sizes and ranks with one choice.",
               NUM (MdlTunerRegion, gpus, COUNT, "of a node in use", .min = "1", .required = TRUE),
               ROW (MdlTunerRegion, op, ENUM, "operation", .names = mdl_op_names, .required = TRUE),
               ROW (MdlTunerRegion, algo, ENUM, "what is taken", .names = mdl_algo_names, .required = TRUE),
               ROW (MdlTunerRegion, proto, ENUM, "by which protocol", .names = mdl_proto_names, .required = TRUE),
               ROW (MdlTunerRegion, bytes, NUMS, "sizes of the polygon's vertices, in order", .dim = BASE_DIM_BYTES,
                    .required = TRUE),
               ROW (MdlTunerRegion, ranks, NUMS, "ranks of the same vertices", .dim = BASE_DIM_COUNT, .required = TRUE));

static SCHEMA (regions_schema, "plugin's tuner", "Choices of a plugin.",
               ROW_AS (MdlTunerRegions, "tuner", name, STR, "its name", .required = TRUE),
               ROW (MdlTunerRegions, summary, STR, "whose it is"),
               ROW (MdlTunerRegions, from, STR, "NCCL's version that first asks it", .required = TRUE),
               NUM (MdlTunerRegions, nodes, COUNT, "least", .min = "1", .required = TRUE),
               LIST (MdlTunerRegions, regions, &region_schema, MdlTunerRegion, "the first that holds size and ranks decides"));

static SCHEMA (plugin_schema, "plugin", "Software by which the library reaches one kind of network.",
               ROW_AS (MdlPlugin, "class", link_class, STR, "link class of the network's ports", .required = TRUE),
               NUM (MdlPlugin, latency, TIME, "what its software adds to a message"),
               NUM (MdlPlugin, tuner_latency, TIME, "of a message, as reported to NCCL's tuner; default: 0", .was = "told_latency"),
               NUM (MdlPlugin, ll128_start, TIME, "once an operation by LL128"),
               NUM (MdlPlugin, ll_line, TIME, "for each line of a message by LL, whose flags the CPU reads"),
               FROM (MdlPlugin, nvls_tree_piece, BYTES, "1 KiB", "piece of NVLSTree at most, which it sets"),
               ROW (MdlPlugin, tuner, REF, "what it chooses in NCCL's place", .sub = &regions_schema,
                    .item_size = sizeof (MdlTunerRegions), .folder = "calibrate/defaults"),
               ROW (MdlPlugin, simple_only, BOOL, "LL and LL128 are switched off"),
               ROW (MdlPlugin, groups, BOOL, "the adapters beside one GPU are one device to the library", .fallback = "no"));

static SCHEMA (create_schema, "create", "Making communicators.", NUM (MdlCreateSpec, first, TIME, "the first one of a process"),
               NUM (MdlCreateSpec, first_per_gpu, TIME, "of the first, for each GPU of a node"),
               NUM (MdlCreateSpec, per_gpu, TIME, "any further one, for each GPU of a node"),
               NUM (MdlCreateSpec, network, TIME, "on top of each that spans nodes"),
               NUM (MdlCreateSpec, per_rank, TIME, "of these, for each rank"));

static SCHEMA (graph_schema, "graph", "What the search found for one kind.", NUM (MdlGraphSpec, channels, COUNT, "of the search"),
               NUM (MdlGraphSpec, intra, BANDWIDTH, "of a channel inside a node"),
               NUM (MdlGraphSpec, inter, BANDWIDTH, "between nodes"),
               ROW (MdlGraphSpec, path_intra, STR, "farthest path class inside: `NVL`, `PIX`, …"),
               ROW (MdlGraphSpec, path_inter, STR, "farthest to the NIC"),
               ROW (MdlGraphSpec, same, BOOL, "all channels take one order of GPUs"));

static SCHEMA (graphs_schema, "graphs", "Graphs that NCCL's own search found (`import nccl-log`, `nccl-graph`).",
               FROM (MdlGraphsSpec, gpus, COUNT, "1", "of a node that took part"),
               FROM (MdlGraphsSpec, nodes, COUNT, "1", "that took part; default: any number"),
               MAP (MdlGraphsSpec, ring, &graph_schema, "of rings"), MAP (MdlGraphsSpec, tree, &graph_schema, "of trees"),
               MAP (MdlGraphsSpec, nvls, &graph_schema, "of NVLS"),
               MAP (MdlGraphsSpec, collnet_direct, &graph_schema, "of CollNet direct"),
               MAP (MdlGraphsSpec, collnet_chain, &graph_schema, "of CollNet's chain"));

SCHEMA (cst_library_schema, "library", "Constants of a communication library on one kind of hardware.",
        ROW (MdlLibrary, name, STR, "NCCL, RCCL, …"),
        LIST (MdlLibrary, plugins, &plugin_schema, MdlPlugin, "networks with software of their own, by link class"),
        FROM (MdlLibrary, cache, BYTES, "1 MiB", "the GPU's last level cache"),
        MAP (MdlLibrary, protocols, &protocols_schema, "formats and buffers"),
        MAP (MdlLibrary, channels, &channels_schema, "how many blocks work"),
        MAP (MdlLibrary, create, &create_schema, "making communicators"),
        MAP (MdlLibrary, graphs, &graphs_schema, "graphs that NCCL's own search found, in place of those found here"),
        MAP (MdlLibrary, launch, &launches_schema, "what a launch costs"), MAP (MdlLibrary, ring, &ring_schema, "ring"),
        MAP (MdlLibrary, tree, &tree_schema, "tree"), MAP (MdlLibrary, nvls, &nvls_schema, "reduction in the NVSwitch"),
        MAP (MdlLibrary, nvls_tree, &nvls_tree_schema, "reduction in the NVSwitches, a double tree over the nodes"),
        MAP (MdlLibrary, collnet_direct, &collnet_schema, "reduction in the network, all ranks of a node at once"),
        MAP (MdlLibrary, collnet_chain, &collnet_schema, "reduction in the network, a chain in the node"),
        MAP (MdlLibrary, pat, &pat_schema, "parallel aggregated trees"),
        MAP (MdlLibrary, pairwise, &pairwise_schema, "sends and receives"),
        MAP (MdlLibrary, error, &error_schema, "of measured constants inside `range`"),
        MAP (MdlLibrary, assumed_error, &error_schema, "where a constant is assumed"),
        NUM (MdlLibrary, small_max, BYTES, "upper limit of small sizes", .was = "small_to"),
        NUM (MdlLibrary, middle_max, BYTES, "upper limit of middle sizes", .was = "middle_to"),
        FROM (MdlLibrary, extrapolation_factor, NUMBER, "1", "factor on the band outside `range`", .was = "outside"),
        MAP (MdlLibrary, range, &range_schema, "what the constants were fitted on"));
