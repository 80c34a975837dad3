/* Schema of a communication library's constants: one row a key, see models/library-spec.h for what each is used for. */
#include "constants/section.h"
#include "models/library-spec.h"
#include "models/tuner_region.h"

/* No key is required: the help says what holds without it. */
#define NUM(type, member, key_, dim_, help_) BASE_ROW (type, key_, member, NUM, .dim = (dim_), .help = (help_))
#define NUM_FROM(type, member, key_, dim_, min_, help_) \
  BASE_ROW (type, key_, member, NUM, .dim = (dim_), .min = (min_), .help = (help_))
#define MAP(type, member, key_, sub_, help_) BASE_ROW (type, key_, member, MAP, .sub = (sub_), .help = (help_))
#define LIST(type, member, key_, sub_, item_, help_) \
  BASE_ROW (type, key_, member, LIST, .sub = (sub_), .item_size = sizeof (item_), .help = (help_))

static const BaseField times_fields[] = {
  NUM (MdlByProto, at[MDL_PROTO_LL], "ll", BASE_DIM_TIME, "by LL"),
  NUM (MdlByProto, at[MDL_PROTO_LL128], "ll128", BASE_DIM_TIME, "by LL128"),
  NUM (MdlByProto, at[MDL_PROTO_SIMPLE], "simple", BASE_DIM_TIME, "by Simple"),
  BASE_ROW_END,
};
static const BaseSchema times_schema = { .name = "times by protocol", .help = "One time a protocol.", .fields = times_fields };

static const BaseField factors_fields[] = {
  NUM_FROM (MdlByProto, at[MDL_PROTO_LL], "ll", BASE_DIM_NUMBER, "1", "by LL"),
  NUM_FROM (MdlByProto, at[MDL_PROTO_LL128], "ll128", BASE_DIM_NUMBER, "1", "by LL128"),
  NUM_FROM (MdlByProto, at[MDL_PROTO_SIMPLE], "simple", BASE_DIM_NUMBER, "1", "by Simple"),
  BASE_ROW_END,
};
static const BaseSchema factors_schema = { .name = "factors by protocol",
                                           .help = "One factor a protocol.",
                                           .fields = factors_fields };

static const BaseField rates_fields[] = {
  NUM_FROM (MdlByProto, at[MDL_PROTO_LL], "ll", BASE_DIM_BANDWIDTH, "1 kB/s", "by LL"),
  NUM_FROM (MdlByProto, at[MDL_PROTO_LL128], "ll128", BASE_DIM_BANDWIDTH, "1 kB/s", "by LL128"),
  NUM_FROM (MdlByProto, at[MDL_PROTO_SIMPLE], "simple", BASE_DIM_BANDWIDTH, "1 kB/s", "by Simple"),
  BASE_ROW_END,
};
static const BaseSchema rates_schema = { .name = "rates by protocol", .help = "One rate a protocol.", .fields = rates_fields };

static const BaseField step_fields[] = {
  NUM (MdlStep, latency, "latency", BASE_DIM_TIME, "of a short message, its wire of `route_latency` included"),
  NUM (MdlStep, floor, "floor", BASE_DIM_TIME, "what of it long data never hides; default: all"),
  NUM (MdlStep, per_channel, "per_channel", BASE_DIM_TIME, "on top for each further channel in use"),
  NUM (MdlStep, halving, "halving", BASE_DIM_TIME, "less for each time that a short operation halves its threads"),
  BASE_ROW_NUM (MdlStep, "empty", empty, RATIO, .max = "1",
                .help = "share of it where ranks have no data of their own, below 16 B each; default: all"),
  NUM (MdlStep, halved, "halved", BASE_DIM_TIME, "more for each such time, by a protocol of lines, which fewer threads move"),
  NUM (MdlStep, slice, "slice", BASE_DIM_TIME, "on top for a second slice of a ring's chunk"),
  NUM (MdlStep, uneven, "uneven", BASE_DIM_TIME, "on top in a ring whose ranks are no power of two"),
  NUM_FROM (MdlStep, uneven_from, "uneven_from", BASE_DIM_BYTES, "1 B", "chunk from which on `uneven` counts"),
  NUM_FROM (MdlStep, uneven_full, "uneven_full", BASE_DIM_BYTES, "1 B", "… and in full, by its logarithm between"),
  NUM_FROM (MdlStep, rate, "rate", BASE_DIM_BANDWIDTH, "1 kB/s", "payload one channel moves in one operation; default: no limit"),
  BASE_ROW_END,
};
static const BaseSchema step_schema = { .name = "step",
                                        .help = "A step by one protocol over one kind of hop.",
                                        .fields = step_fields };

static const BaseField hop_fields[] = {
  NUM (MdlHopSteps, route_latency, "route_latency", BASE_DIM_TIME, "wire that the latencies contain; a longer route adds the rest"),
  MAP (MdlHopSteps, at[MDL_PROTO_LL], "ll", &step_schema, "by LL"),
  MAP (MdlHopSteps, at[MDL_PROTO_LL128], "ll128", &step_schema, "by LL128"),
  MAP (MdlHopSteps, at[MDL_PROTO_SIMPLE], "simple", &step_schema, "by Simple"),
  BASE_ROW_END,
};
static const BaseSchema hop_schema = { .name = "hop", .help = "Steps over one kind of hop.", .fields = hop_fields };

#define HOPS(type)                                                                                  \
  MAP (type, hop[MDL_HOP_NVLINK], "nvlink", &hop_schema, "over NVLink and its like"),               \
      MAP (type, hop[MDL_HOP_PCIE], "pcie", &hop_schema, "GPU to GPU over PCIe"),                   \
      MAP (type, hop[MDL_HOP_HOST], "host", &hop_schema, "through host memory"),                    \
      MAP (type, hop[MDL_HOP_NET], "net", &hop_schema, "by NICs that read and write GPU memory"),   \
      MAP (type, hop[MDL_HOP_NET_HOST], "net_host", &hop_schema, "by NICs, staged in host memory"), \
      MAP (type, hop[MDL_HOP_TCP], "tcp", &hop_schema, "by sockets, staged in host memory")

static const BaseField protocol_fields[] = {
  BASE_ROW (MdlProtocol, "offered", offered, BOOL, .help = "the library has it"),
  NUM_FROM (MdlProtocol, wire, "wire", BASE_DIM_NUMBER, "1", "bytes on the link per byte of payload"),
  NUM (MdlProtocol, threads, "threads", BASE_DIM_COUNT, "of a channel's block"),
  NUM (MdlProtocol, least_threads, "least_threads", BASE_DIM_COUNT, "of a ring's only channel, halved while short; default: never"),
  NUM (MdlProtocol, bytes_a_thread, "bytes_a_thread", BASE_DIM_BYTES, "size per thread that opens a further channel"),
  BASE_ROW (MdlProtocol, "a_rank", a_rank, BOOL, .help = "… times the ranks, for a ring"),
  NUM_FROM (MdlProtocol, cell_traffic, "cell_traffic", BASE_DIM_NUMBER, "1", "factor on the traffic that is cut into cells"),
  NUM_FROM (MdlProtocol, slot, "slot", BASE_DIM_BYTES, "1 B", "payload of one slot of the buffer: the piece of a pipeline"),
  NUM_FROM (MdlProtocol, ring_chunk, "ring_chunk", BASE_DIM_BYTES, "1 B", "payload a ring moves a step, channel and loop at most"),
  NUM (MdlProtocol, slice, "slice", BASE_DIM_BYTES, "smallest slice handed on by itself; absent: data flows line by line"),
  BASE_ROW_NUM (MdlProtocol, "overlap", overlap, RATIO, .max = "1", .help = "share of a step's data that runs beneath its latency"),
  NUM_FROM (MdlProtocol, copy, "copy", BASE_DIM_NUMBER, "0.1", "an operation that copies, in ones that reduce; default: 1"),
  NUM (MdlProtocol, ends, "ends", BASE_DIM_NUMBER, "a ring's first and last operation together, in ones that reduce: all-reduce"),
  NUM (MdlProtocol, miss, "miss", BASE_DIM_NUMBER,
       "what an operation that reads the rank's input takes more beyond the cache, in ones that reduce; default: nothing"),
  NUM (MdlProtocol, gather_ends, "gather_ends", BASE_DIM_NUMBER, "likewise of all-gather; default: `ends`"),
  NUM (MdlProtocol, scatter_ends, "scatter_ends", BASE_DIM_NUMBER, "likewise of reduce-scatter; default: `ends`"),
  BASE_ROW_NUM (MdlProtocol, "hand_on", hand_on, RATIO, .max = "1",
                .help = "share of a piece that has arrived when the next hop begins to pass it on"),
  NUM_FROM (MdlProtocol, hand_on_most, "hand_on_most", BASE_DIM_BYTES, "1 B",
            "… of no more than so many bytes, in a tree; default: all"),
  BASE_ROW_END,
};
static const BaseSchema protocol_schema = { .name = "protocol",
                                            .help = "Format and buffers of a protocol.",
                                            .fields = protocol_fields };

static const BaseField protocols_fields[] = {
  MAP (MdlProtocols, at[MDL_PROTO_LL], "ll", &protocol_schema, "LL"),
  MAP (MdlProtocols, at[MDL_PROTO_LL128], "ll128", &protocol_schema, "LL128"),
  MAP (MdlProtocols, at[MDL_PROTO_SIMPLE], "simple", &protocol_schema, "Simple"),
  BASE_ROW_END,
};
static const BaseSchema protocols_schema = { .name = "protocols", .help = "The protocols.", .fields = protocols_fields };

static const BaseField channel_row_fields[] = {
  NUM (MdlChannelRow, capability, "capability", BASE_DIM_COUNT, "compute capability from which on the row holds (90: Hopper)"),
  NUM_FROM (MdlChannelRow, one_node, "one_node", BASE_DIM_COUNT, "1", "channels on one node"),
  NUM_FROM (MdlChannelRow, nodes, "nodes", BASE_DIM_COUNT, "1", "channels over several nodes"),
  BASE_ROW_END,
};
static const BaseSchema channel_row_schema = { .name = "channels.scale_up",
                                               .help = "Most channels.",
                                               .fields = channel_row_fields };

static const BaseField channels_fields[] = {
  LIST (MdlChannels, scale_up, "scale_up", &channel_row_schema, MdlChannelRow, "by compute capability, ascending"),
  NUM_FROM (MdlChannels, pcie, "pcie", BASE_DIM_COUNT, "1", "one node without NVLink"),
  NUM_FROM (MdlChannels, host, "host", BASE_DIM_COUNT, "1", "one node, through host memory"),
  NUM (MdlChannels, cell, "cell", BASE_DIM_BYTES, "traffic below which no further channel is opened"),
  NUM_FROM (MdlChannels, steps, "steps", BASE_DIM_COUNT, "1", "slots of a connection's buffer"),
  NUM_FROM (MdlChannels, p2p, "p2p", BASE_DIM_COUNT, "1", "channels of sends and receives, at most"),
  BASE_ROW_END,
};
static const BaseSchema channels_schema = { .name = "channels", .help = "How many blocks work.", .fields = channels_fields };

static const BaseField launch_fields[] = {
  NUM (MdlLaunchCost, extra, "extra", BASE_DIM_TIME, "on top of each call"),
  NUM (MdlLaunchCost, per_gpu, "per_gpu", BASE_DIM_TIME, "of the CPU for one launch"),
  BASE_ROW_END,
};
static const BaseSchema launch_schema = { .name = "launch mode", .help = "What a launch costs.", .fields = launch_fields };

static const BaseField launches_fields[] = {
  MAP (MdlLaunchCosts, at[MDL_LAUNCH_GRAPH], "graph", &launch_schema, "CUDA graph replay"),
  MAP (MdlLaunchCosts, at[MDL_LAUNCH_THREADS], "threads", &launch_schema, "one thread or process a GPU"),
  MAP (MdlLaunchCosts, at[MDL_LAUNCH_SERIAL], "serial", &launch_schema, "one thread for the GPUs of a node"),
  MAP (MdlLaunchCosts, at[MDL_LAUNCH_REGISTERED], "registered", &launch_schema, "CUDA graph replay on registered buffers"),
  BASE_ROW_END,
};
static const BaseSchema launches_schema = { .name = "launch", .help = "What a launch costs, by mode.", .fields = launches_fields };

static const BaseField cut_fields[] = {
  NUM_FROM (MdlCut, above, "above", BASE_DIM_BYTES, "1 B", "pieces are not cut below"),
  NUM_FROM (MdlCut, fewer, "fewer", BASE_DIM_NUMBER, "0", "cut while a channel has fewer pieces"),
  BASE_ROW_END,
};
static const BaseSchema cut_schema = { .name = "cut", .help = "When a pipeline's piece shrinks.", .fields = cut_fields };

static const BaseField shares_fields[] = {
  BASE_ROW_NUM (MdlByProto, "ll", at[MDL_PROTO_LL], RATIO, .help = "by LL"),
  BASE_ROW_NUM (MdlByProto, "ll128", at[MDL_PROTO_LL128], RATIO, .help = "by LL128"),
  BASE_ROW_NUM (MdlByProto, "simple", at[MDL_PROTO_SIMPLE], RATIO, .help = "by Simple"),
  BASE_ROW_END,
};
static const BaseSchema shares_schema = { .name = "shares by protocol", .help = "One share a protocol.", .fields = shares_fields };

static const BaseField chain_fields[] = {
  MAP (MdlChainSpec, start, "start", &times_schema, "start and end of the kernel"),
  MAP (MdlChainSpec, middle, "middle", &times_schema,
       "what receiving before sending adds where operations follow each other; default: a hop's latency"),
  MAP (MdlChainSpec, reduce, "reduce", &times_schema, "less for a reduce, which stores nothing on its way"),
  MAP (MdlChainSpec, rate, "rate", &rates_schema, "payload one channel moves"),
  MAP (MdlChainSpec, hand_on, "hand_on", &shares_schema,
       "share of a piece that has arrived when the next hop begins to pass it on, waits included"),
  BASE_ROW_END,
};
static const BaseSchema chain_schema = { .name = "chain", .help = "Broadcast and reduce along a ring.", .fields = chain_fields };

static const BaseField ring_fields[] = {
  MAP (MdlRingSpec, start, "start", &times_schema, "start and end of the kernel, no steps"),
  MAP (MdlRingSpec, blend, "blend", &factors_schema,
       "exponent by which blocks and links that are about as fast slow each other down; default: they do not"),
  MAP (MdlRingSpec, gather_start, "gather_start", &times_schema, "the same of all-gather; default: `start`"),
  MAP (MdlRingSpec, scatter_start, "scatter_start", &times_schema, "the same of reduce-scatter; default: `start`"),
  MAP (MdlRingSpec, per_channel, "per_channel", &times_schema, "on top for each further channel"),
  NUM (MdlRingSpec, registered, "registered", BASE_DIM_TIME, "on top by Simple where buffers are registered"),
  MAP (MdlRingSpec, halving, "halving", &times_schema, "less for each time that a short operation halves its threads"),
  HOPS (MdlRingSpec),
  MAP (MdlRingSpec, chain, "chain", &chain_schema, "broadcast and reduce; what is absent is the ring's own"),
  NUM_FROM (MdlRingSpec, plateau, "plateau", BASE_DIM_NUMBER, "1", "factor on hop latency, Simple all-reduce between nodes"),
  NUM (MdlRingSpec, plateau_from, "plateau_from", BASE_DIM_BYTES, "size a channel and rank from which on `plateau` holds"),
  BASE_ROW_END,
};
static const BaseSchema ring_schema = { .name = "ring", .help = "Ring; chain for broadcast and reduce.", .fields = ring_fields };

static const BaseField tree_fields[] = {
  MAP (MdlTreeSpec, start, "start", &times_schema, "start and end of the kernel"),
  MAP (MdlTreeSpec, per_channel, "per_channel", &times_schema, "on top for each further channel"),
  HOPS (MdlTreeSpec),
  MAP (MdlTreeSpec, stream, "stream", &rates_schema, "a channel sustains while it reduces and broadcasts at once"),
  MAP (MdlTreeSpec, end_stream, "end_stream", &rates_schema, "the same between two ranks, where no rank does both"),
  MAP (MdlTreeSpec, per_piece, "per_piece", &times_schema, "for each further piece"),
  MAP (MdlTreeSpec, inner, "inner", &factors_schema, "link bytes beyond the protocol's from three GPUs of a node on"),
  NUM_FROM (MdlTreeSpec, blend, "blend", BASE_DIM_NUMBER, "1",
            "exponent by which blocks and links that are about as fast slow each other down; default: they do not"),
  BASE_ROW_NUM (MdlTreeSpec, "registered_piece", registered_piece, RATIO, .min = "0.01", .max = "1",
                .help = "share of a slot that is Simple's piece where buffers are registered"),
  LIST (MdlTreeSpec, ll128_cuts, "ll128_cuts", &cut_schema, MdlCut, "how LL128's piece shrinks"),
  NUM (MdlTreeSpec, ll128_rank_weight, "ll128_rank_weight", BASE_DIM_NUMBER,
       "weight of a rank of the node against a level of nodes"),
  BASE_ROW_END,
};
static const BaseSchema tree_schema = { .name = "tree", .help = "Tree all-reduce.", .fields = tree_fields };

static const BaseField nvls_fields[] = {
  NUM (MdlNvlsSpec, start, "start", BASE_DIM_TIME, "start and end of the kernel"),
  NUM (MdlNvlsSpec, latency, "latency", BASE_DIM_TIME, "of the reduction in the switch and the signals around it"),
  NUM_FROM (MdlNvlsSpec, channels, "channels", BASE_DIM_COUNT, "1", "in use"),
  NUM_FROM (MdlNvlsSpec, channels_from_100, "channels_from_100", BASE_DIM_COUNT, "1", "from compute capability 100 on"),
  NUM_FROM (MdlNvlsSpec, channels_from_100_nodes, "channels_from_100_nodes", BASE_DIM_COUNT, "1",
            "likewise over several nodes; default: as on one"),
  NUM (MdlNvlsSpec, net, "net", BASE_DIM_TIME, "on top over several nodes: to the network's switches and back"),
  NUM_FROM (MdlNvlsSpec, rate, "rate", BASE_DIM_BANDWIDTH, "1 kB/s", "payload one channel moves"),
  BASE_ROW_NUM (MdlNvlsSpec, "efficiency", efficiency, RATIO, .min = "0.01", .max = "1",
                .help = "of the links, before compute capability 100"),
  BASE_ROW_NUM (MdlNvlsSpec, "efficiency_from_100", efficiency_from_100, RATIO, .min = "0.01", .max = "1",
                .help = "of the links, from compute capability 100 on"),
  NUM_FROM (MdlNvlsSpec, piece, "piece", BASE_DIM_BYTES, "1 B", "of one head and channel"),
  LIST (MdlNvlsSpec, cuts, "cuts", &cut_schema, MdlCut, "how the piece shrinks"),
  NUM_FROM (MdlNvlsSpec, stages, "stages", BASE_DIM_NUMBER, "1", "rounds of pieces under way at once"),
  BASE_ROW_END,
};
static const BaseSchema nvls_schema = { .name = "nvls", .help = "Reduction in the NVSwitch.", .fields = nvls_fields };

static const BaseField cap_fields[] = {
  NUM (MdlCapRow, capability, "capability", BASE_DIM_COUNT, "compute capability from which on the row holds (90: Hopper)"),
  NUM_FROM (MdlCapRow, two_nodes, "two_nodes", BASE_DIM_BANDWIDTH, "1 kB/s", "busbw of a head on two nodes, at most"),
  NUM_FROM (MdlCapRow, nodes, "nodes", BASE_DIM_BANDWIDTH, "1 kB/s", "the same on more"),
  BASE_ROW_END,
};
static const BaseSchema cap_schema = { .name = "nvls_tree.caps", .help = "Most busbw of one head.", .fields = cap_fields };

static const BaseField nvls_tree_fields[] = {
  NUM (MdlNvlsTreeSpec, start, "start", BASE_DIM_TIME, "start and end of the kernel"),
  NUM (MdlNvlsTreeSpec, latency, "latency", BASE_DIM_TIME, "of the reduction in the node's switch and the signals around it"),
  NUM (MdlNvlsTreeSpec, hop, "hop", BASE_DIM_TIME, "of a hop between nodes, on top of the tree's over the same transport"),
  NUM_FROM (MdlNvlsTreeSpec, piece, "piece", BASE_DIM_BYTES, "1 B", "of one head and channel"),
  NUM_FROM (MdlNvlsTreeSpec, far_piece, "far_piece", BASE_DIM_BYTES, "1 B", "the same from `far_nodes` nodes on"),
  NUM_FROM (MdlNvlsTreeSpec, far_nodes, "far_nodes", BASE_DIM_COUNT, "2", "nodes from which on `far_piece` holds; default: never"),
  LIST (MdlNvlsTreeSpec, cuts, "cuts", &cut_schema, MdlCut, "how the piece shrinks"),
  NUM_FROM (MdlNvlsTreeSpec, stages, "stages", BASE_DIM_NUMBER, "1", "rounds of pieces under way at once in a node"),
  LIST (MdlNvlsTreeSpec, caps, "caps", &cap_schema, MdlCapRow, "by compute capability, ascending"),
  BASE_ROW_END,
};
static const BaseSchema nvls_tree_schema = { .name = "nvls_tree",
                                             .help = "Reduction in the NVSwitches, a double tree over the nodes.",
                                             .fields = nvls_tree_fields };

#define SHARE(type, member, key_, help_) \
  BASE_ROW (type, key_, member, NUM, .dim = BASE_DIM_RATIO, .min = "0.01", .max = "1", .help = (help_))

static const BaseField collnet_fields[] = {
  NUM_FROM (MdlCollnetSpec, ranks, "ranks", BASE_DIM_COUNT, "1", "of a node, at most; default: any"),
  NUM (MdlCollnetSpec, start, "start", BASE_DIM_TIME, "start and end of the kernel"),
  NUM (MdlCollnetSpec, hop, "hop", BASE_DIM_TIME, "of a message inside the node"),
  NUM (MdlCollnetSpec, peer, "peer", BASE_DIM_TIME, "on top for each peer that a head serves (direct)"),
  NUM (MdlCollnetSpec, net, "net", BASE_DIM_TIME, "to the network's switches and back"),
  SHARE (MdlCollnetSpec, efficiency, "efficiency", "of the links, before compute capability 90; default: all"),
  SHARE (MdlCollnetSpec, efficiency_from_90, "efficiency_from_90", "of the links, from compute capability 90 on; default: all"),
  SHARE (MdlCollnetSpec, efficiency_gather, "efficiency_gather",
         "of the links, in all-gather and reduce-scatter (direct); default: all"),
  NUM_FROM (MdlCollnetSpec, channel, "channel", BASE_DIM_BYTES, "1 B", "size that opens a further channel; default: all are open"),
  NUM_FROM (MdlCollnetSpec, piece, "piece", BASE_DIM_BYTES, "1 B", "of one channel (direct: and head)"),
  LIST (MdlCollnetSpec, cuts, "cuts", &cut_schema, MdlCut, "how the piece shrinks; a chain counts `fewer` times its ranks"),
  NUM_FROM (MdlCollnetSpec, stages, "stages", BASE_DIM_NUMBER, "1", "rounds of pieces under way at once (direct)"),
  BASE_ROW_END,
};
static const BaseSchema collnet_schema = { .name = "collnet",
                                           .help = "Reduction in the network's switches.",
                                           .fields = collnet_fields };

static const BaseField pat_fields[] = {
  NUM (MdlPatSpec, start, "start", BASE_DIM_TIME, "start and end of the kernel"),
  NUM (MdlPatSpec, per_rank, "per_rank", BASE_DIM_TIME, "for each rank"),
  SHARE (MdlPatSpec, hop_share, "hop_share", "of the tree's hop latency that a phase takes"),
  SHARE (MdlPatSpec, efficiency, "efficiency", "of the links; default: all"),
  LIST (MdlPatSpec, gather_cuts, "gather_cuts", &cut_schema, MdlCut, "how an all-gather's piece, a slot, shrinks"),
  LIST (MdlPatSpec, scatter_cuts, "scatter_cuts", &cut_schema, MdlCut, "how a reduce-scatter's piece, a slot, shrinks"),
  BASE_ROW_END,
};
static const BaseSchema pat_schema = { .name = "pat", .help = "Parallel aggregated trees.", .fields = pat_fields };

static const BaseField pairwise_fields[] = {
  MAP (MdlPairSpec, start, "start", &times_schema, "start and end of the kernel"),
  NUM (MdlPairSpec, doubling, "doubling", BASE_DIM_TIME, "for each doubling of the ranks of a node from two on"),
  NUM (MdlPairSpec, further, "further", BASE_DIM_TIME, "for each further peer on the same channel"),
  HOPS (MdlPairSpec),
  NUM_FROM (MdlPairSpec, peers, "peers", BASE_DIM_COUNT, "1", "peers at once on a channel"),
  NUM (MdlPairSpec, ll_up_to, "ll_up_to", BASE_DIM_BYTES, "message that goes by LL, for each channel that a peer may have"),
  NUM_FROM (MdlPairSpec, path_channels, "path_channels", BASE_DIM_COUNT, "1",
            "channels of one peer that is not reached over NVLink, at most; default: all"),
  NUM_FROM (MdlPairSpec, net_channels, "net_channels", BASE_DIM_COUNT, "1", "channels of one peer on another node, at most"),
  NUM_FROM (MdlPairSpec, net_share, "net_share", BASE_DIM_NUMBER, "1",
            "halved while times the ranks they exceed so many times all channels; default: never"),
  NUM_FROM (MdlPairSpec, chunk, "chunk", BASE_DIM_BYTES, "1 B", "chunk where all ranks of one node are joined by NVLink"),
  NUM_FROM (MdlPairSpec, path_chunk, "path_chunk", BASE_DIM_BYTES, "1 B", "chunk in one node without"),
  NUM_FROM (MdlPairSpec, net_chunk, "net_chunk", BASE_DIM_BYTES, "1 B", "chunk over several nodes"),
  NUM_FROM (MdlPairSpec, ll_chunk, "ll_chunk", BASE_DIM_BYTES, "1 B", "LL's chunk, flags included"),
  NUM (MdlPairSpec, least_part, "least_part", BASE_DIM_NUMBER, "chunks of a part below which no further channel is taken"),
  NUM (MdlPairSpec, most_part, "most_part", BASE_DIM_NUMBER, "chunks of a part above which channels are doubled"),
  NUM (MdlPairSpec, net_least_part, "net_least_part", BASE_DIM_NUMBER, "the first over several nodes"),
  NUM (MdlPairSpec, net_most_part, "net_most_part", BASE_DIM_NUMBER, "the second over several nodes"),
  NUM_FROM (MdlPairSpec, one_way, "one_way", BASE_DIM_NUMBER, "1", "what a channel that only sends moves more, as a factor"),
  NUM_FROM (MdlPairSpec, blend, "blend", BASE_DIM_NUMBER, "1",
            "exponent by which channels and links that are about as fast slow each other down; default: they do not"),
  BASE_ROW_NUM (MdlPairSpec, "fill", fill, RATIO, .max = "1", .help = "share of a chunk's time that nothing overlaps"),
  NUM_FROM (MdlPairSpec, wire, "wire", BASE_DIM_NUMBER, "1", "link bytes per byte of an all-to-all's lines over NVLink"),
  NUM (MdlPairSpec, enqueue, "enqueue", BASE_DIM_TIME, "of the CPU for each further peer of an all-to-all, in a plain launch"),
  NUM (MdlPairSpec, host_rank, "host_rank", BASE_DIM_BANDWIDTH, "most of one rank through host memory, among more than two"),
  NUM (MdlPairSpec, post, "post", BASE_DIM_TIME, "of the proxy's only thread for a post to the network"),
  NUM (MdlPairSpec, posts, "posts", BASE_DIM_NUMBER, "posts a peer on another node"),
  NUM (MdlPairSpec, poll, "poll", BASE_DIM_TIME, "of that thread for each other peer under way, for each peer"),
  BASE_ROW_END,
};
static const BaseSchema pairwise_schema = { .name = "pairwise", .help = "Sends and receives.", .fields = pairwise_fields };

static const BaseField error_fields[] = {
  NUM (MdlErrorSpec, small, "small", BASE_DIM_RATIO, "half-width below `small_to`"),
  NUM (MdlErrorSpec, middle, "middle", BASE_DIM_RATIO, "half-width below `middle_to`"),
  NUM (MdlErrorSpec, large, "large", BASE_DIM_RATIO, "half-width above"),
  BASE_ROW_END,
};
static const BaseSchema error_schema = { .name = "error",
                                         .help = "Relative half-width of the error band.",
                                         .fields = error_fields };

static const BaseField range_fields[] = {
  NUM (MdlRange, min_size, "min_size", BASE_DIM_BYTES, "smallest size fitted"),
  NUM (MdlRange, max_size, "max_size", BASE_DIM_BYTES, "largest size fitted"),
  NUM (MdlRange, max_ranks, "max_ranks", BASE_DIM_COUNT, "most ranks fitted"),
  NUM (MdlRange, max_nodes, "max_nodes", BASE_DIM_COUNT, "most nodes fitted"),
  BASE_ROW_END,
};
static const BaseSchema range_schema = { .name = "range", .help = "What the constants were fitted on.", .fields = range_fields };

static const BaseField region_fields[] = {
  BASE_ROW (MdlTunerRegion, "gpus", gpus, NUM, .dim = BASE_DIM_COUNT, .min = "1", .required = TRUE, .help = "of a node in use"),
  BASE_ROW (MdlTunerRegion, "op", op, ENUM, .names = mdl_op_names, .required = TRUE, .help = "operation"),
  BASE_ROW (MdlTunerRegion, "algo", algo, ENUM, .names = mdl_algo_names, .required = TRUE, .help = "what is taken"),
  BASE_ROW (MdlTunerRegion, "proto", proto, ENUM, .names = mdl_proto_names, .required = TRUE, .help = "by which protocol"),
  BASE_ROW (MdlTunerRegion, "bytes", bytes, NUMS, .dim = BASE_DIM_BYTES, .required = TRUE,
            .help = "sizes of the polygon's vertices, in order"),
  BASE_ROW (MdlTunerRegion, "ranks", ranks, NUMS, .dim = BASE_DIM_COUNT, .required = TRUE, .help = "ranks of the same vertices"),
  BASE_ROW_END,
};
static const BaseSchema region_schema = { .name = "region", .help = "Sizes and ranks with one choice.", .fields = region_fields };

static const BaseField regions_fields[] = {
  BASE_ROW (MdlTunerRegions, "tuner", name, STR, .required = TRUE, .help = "its name"),
  BASE_ROW (MdlTunerRegions, "summary", summary, STR, .help = "whose it is"),
  BASE_ROW (MdlTunerRegions, "from", from, STR, .required = TRUE, .help = "NCCL's version that first asks it"),
  BASE_ROW (MdlTunerRegions, "nodes", nodes, NUM, .dim = BASE_DIM_COUNT, .min = "1", .required = TRUE, .help = "least"),
  LIST (MdlTunerRegions, regions, "regions", &region_schema, MdlTunerRegion, "the first that holds size and ranks decides"),
  BASE_ROW_END,
};
static const BaseSchema regions_schema = { .name = "plugin's tuner", .help = "Choices of a plugin.", .fields = regions_fields };

static const BaseField plugin_fields[] = {
  BASE_ROW (MdlPlugin, "class", link_class, STR, .help = "link class of the network's ports", .required = TRUE),
  NUM (MdlPlugin, latency, "latency", BASE_DIM_TIME, "what its software adds to a message"),
  NUM (MdlPlugin, told_latency, "told_latency", BASE_DIM_TIME, "what it tells NCCL's tuner of a message; default: nothing"),
  NUM (MdlPlugin, ll128_start, "ll128_start", BASE_DIM_TIME, "once an operation by LL128"),
  NUM (MdlPlugin, ll_line, "ll_line", BASE_DIM_TIME, "for each line of a message by LL, whose flags the CPU reads"),
  NUM_FROM (MdlPlugin, nvls_tree_piece, "nvls_tree_piece", BASE_DIM_BYTES, "1 KiB", "piece of NVLSTree at most, which it sets"),
  BASE_ROW (MdlPlugin, "tuner", tuner, REF, .sub = &regions_schema, .item_size = sizeof (MdlTunerRegions),
            .folder = "calibrate/defaults", .help = "what it chooses in NCCL's place"),
  BASE_ROW (MdlPlugin, "simple_only", simple_only, BOOL, .help = "LL and LL128 are switched off"),
  BASE_ROW (MdlPlugin, "groups", groups, BOOL, .help = "the adapters beside one GPU are one device to the library",
            .fallback = "no"),
  BASE_ROW_END,
};
static const BaseSchema plugin_schema = { .name = "plugin",
                                          .help = "Software by which the library reaches one kind of network.",
                                          .fields = plugin_fields };

static const BaseField create_fields[] = {
  NUM (MdlCreateSpec, first, "first", BASE_DIM_TIME, "the first one of a process"),
  NUM (MdlCreateSpec, first_per_gpu, "first_per_gpu", BASE_DIM_TIME, "of the first, for each GPU of a node"),
  NUM (MdlCreateSpec, per_gpu, "per_gpu", BASE_DIM_TIME, "any further one, for each GPU of a node"),
  NUM (MdlCreateSpec, network, "network", BASE_DIM_TIME, "on top of each that spans nodes"),
  NUM (MdlCreateSpec, per_rank, "per_rank", BASE_DIM_TIME, "of these, for each rank"),
  BASE_ROW_END,
};
static const BaseSchema create_schema = { .name = "create", .help = "Making communicators.", .fields = create_fields };

static const BaseField graph_fields[] = {
  NUM (MdlGraphSpec, channels, "channels", BASE_DIM_COUNT, "of the search"),
  NUM (MdlGraphSpec, intra, "intra", BASE_DIM_BANDWIDTH, "of a channel inside a node"),
  NUM (MdlGraphSpec, inter, "inter", BASE_DIM_BANDWIDTH, "between nodes"),
  BASE_ROW (MdlGraphSpec, "path_intra", path_intra, STR, .help = "farthest path class inside: `NVL`, `PIX`, …"),
  BASE_ROW (MdlGraphSpec, "path_inter", path_inter, STR, .help = "farthest to the NIC"),
  BASE_ROW (MdlGraphSpec, "same", same, BOOL, .help = "all channels take one order of GPUs"),
  BASE_ROW_END,
};
static const BaseSchema graph_schema = { .name = "graph", .help = "What the search found for one kind.", .fields = graph_fields };

static const BaseField graphs_fields[] = {
  NUM_FROM (MdlGraphsSpec, gpus, "gpus", BASE_DIM_COUNT, "1", "of a node that took part"),
  NUM_FROM (MdlGraphsSpec, nodes, "nodes", BASE_DIM_COUNT, "1", "that took part; default: any number"),
  MAP (MdlGraphsSpec, ring, "ring", &graph_schema, "of rings"),
  MAP (MdlGraphsSpec, tree, "tree", &graph_schema, "of trees"),
  MAP (MdlGraphsSpec, nvls, "nvls", &graph_schema, "of NVLS"),
  MAP (MdlGraphsSpec, collnet_direct, "collnet_direct", &graph_schema, "of CollNet direct"),
  MAP (MdlGraphsSpec, collnet_chain, "collnet_chain", &graph_schema, "of CollNet's chain"),
  BASE_ROW_END,
};
static const BaseSchema graphs_schema = { .name = "graphs",
                                          .help = "Graphs that NCCL's own search found (`import nccl-log`, `nccl-graph`).",
                                          .fields = graphs_fields };

static const BaseField library_fields[] = {
  BASE_ROW (MdlLibrary, "name", name, STR, .help = "NCCL, RCCL, …"),
  LIST (MdlLibrary, plugins, "plugins", &plugin_schema, MdlPlugin, "networks with software of their own, by link class"),
  NUM_FROM (MdlLibrary, cache, "cache", BASE_DIM_BYTES, "1 MiB", "the GPU's last level cache"),
  MAP (MdlLibrary, protocols, "protocols", &protocols_schema, "formats and buffers"),
  MAP (MdlLibrary, channels, "channels", &channels_schema, "how many blocks work"),
  MAP (MdlLibrary, create, "create", &create_schema, "making communicators"),
  MAP (MdlLibrary, graphs, "graphs", &graphs_schema, "graphs that NCCL's own search found, in place of those found here"),
  MAP (MdlLibrary, launch, "launch", &launches_schema, "what a launch costs"),
  MAP (MdlLibrary, ring, "ring", &ring_schema, "ring"),
  MAP (MdlLibrary, tree, "tree", &tree_schema, "tree"),
  MAP (MdlLibrary, nvls, "nvls", &nvls_schema, "reduction in the NVSwitch"),
  MAP (MdlLibrary, nvls_tree, "nvls_tree", &nvls_tree_schema, "reduction in the NVSwitches, a double tree over the nodes"),
  MAP (MdlLibrary, collnet_direct, "collnet_direct", &collnet_schema, "reduction in the network, all ranks of a node at once"),
  MAP (MdlLibrary, collnet_chain, "collnet_chain", &collnet_schema, "reduction in the network, a chain in the node"),
  MAP (MdlLibrary, pat, "pat", &pat_schema, "parallel aggregated trees"),
  MAP (MdlLibrary, pairwise, "pairwise", &pairwise_schema, "sends and receives"),
  MAP (MdlLibrary, error, "error", &error_schema, "of measured constants inside `range`"),
  MAP (MdlLibrary, assumed_error, "assumed_error", &error_schema, "where a constant is assumed"),
  NUM (MdlLibrary, small_to, "small_to", BASE_DIM_BYTES, "upper limit of small sizes"),
  NUM (MdlLibrary, middle_to, "middle_to", BASE_DIM_BYTES, "upper limit of middle sizes"),
  NUM_FROM (MdlLibrary, outside, "outside", BASE_DIM_NUMBER, "1", "factor on the band outside `range`"),
  MAP (MdlLibrary, range, "range", &range_schema, "what the constants were fitted on"),
  BASE_ROW_END,
};
const BaseSchema cst_library_schema = {
  .name = "library",
  .help = "Constants of a communication library on one kind of hardware.",
  .fields = library_fields,
};
