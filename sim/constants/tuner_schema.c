/* Schema of the constants of NCCL's tuner: one row a key, see models/tuner.h and models/search.h for what each is used for. */
#include "tuner_schema-private.h"

/* Every key is needed. */
#define NUM(type, member, key_, dim_, help_) BASE_ROW (type, key_, member, NUM, .dim = (dim_), .required = TRUE, .help = (help_))
#define NUM_FROM(type, member, key_, dim_, min_, help_) \
  BASE_ROW (type, key_, member, NUM, .dim = (dim_), .min = (min_), .required = TRUE, .help = (help_))
#define NUMS(type, member, key_, dim_, help_) BASE_ROW (type, key_, member, NUMS, .dim = (dim_), .required = TRUE, .help = (help_))
#define MAP(type, member, key_, sub_, help_)  BASE_ROW (type, key_, member, MAP, .sub = (sub_), .required = TRUE, .help = (help_))
#define YES(type, member, key_, help_)        BASE_ROW (type, key_, member, BOOL, .required = TRUE, .help = (help_))
#define ONE_OF(type, member, key_, names_, help_) \
  BASE_ROW (type, key_, member, ENUM, .names = (names_), .required = TRUE, .help = (help_))

#define TIMES_ROW(code, name, letter, help) NUMS (MdlTunerTimes, at[MDL_ALGO_##code], #name, BASE_DIM_TIME, "LL, LL128, Simple"),
static const BaseField times_fields[] = {
  MDL_ALGO_NCCL_ROWS (TIMES_ROW) BASE_ROW_END,
};
static const BaseSchema times_schema = { .name = "times by algorithm", .help = "Three times each.", .fields = times_fields };

static const BaseField step_fields[] = {
  MAP (MdlTunerSteps, at[MDL_TUNER_NVLINK], "nvlink", &times_schema, "over NVLink"),
  MAP (MdlTunerSteps, at[MDL_TUNER_PCIE], "pcie", &times_schema, "over anything else inside a node"),
  MAP (MdlTunerSteps, at[MDL_TUNER_NET], "net", &times_schema, "between nodes"),
  BASE_ROW_END,
};
static const BaseSchema step_schema = { .name = "latency of a step", .help = "By what it crosses.", .fields = step_fields };

static const BaseField rates_fields[] = {
  NUMS (MdlTunerRates, at[MDL_GENERATION_VOLTA], "volta", BASE_DIM_BANDWIDTH, "below capability 80: one node, two, more"),
  NUMS (MdlTunerRates, at[MDL_GENERATION_AMPERE], "ampere", BASE_DIM_BANDWIDTH, "below 90"),
  NUMS (MdlTunerRates, at[MDL_GENERATION_HOPPER], "hopper", BASE_DIM_BANDWIDTH, "below 100"),
  NUMS (MdlTunerRates, at[MDL_GENERATION_BLACKWELL], "blackwell", BASE_DIM_BANDWIDTH, "from 100 on"),
  BASE_ROW_END,
};
static const BaseSchema rates_schema = { .name = "rates by generation",
                                         .help = "What one channel reaches.",
                                         .fields = rates_fields };

static const BaseField ll_fields[] = {
  NUMS (MdlTunerLl, one_node, "one_node", BASE_DIM_BANDWIDTH, "at most on one node: Volta, Ampere, Hopper, Blackwell"),
  NUMS (MdlTunerLl, nodes, "nodes", BASE_DIM_BANDWIDTH, "at most on two nodes, on more"),
  NUMS (MdlTunerLl, nodes_amd, "nodes_amd", BASE_DIM_BANDWIDTH, "the same with AMD's processors, or a mixture"),
  NUM (MdlTunerLl, ring, "ring", BASE_DIM_RATIO, "share of the rings' rate"),
  NUM (MdlTunerLl, ring_one_way, "ring_one_way", BASE_DIM_RATIO, "the same where nothing is reduced or kept, on one node"),
  NUM_FROM (MdlTunerLl, tree, "tree", BASE_DIM_NUMBER, "1", "the trees' rate over this"),
  BASE_ROW_END,
};
static const BaseSchema ll_schema = { .name = "tuner's LL", .help = "Rates of LL.", .fields = ll_fields };

static const BaseField ll128_fields[] = {
  NUM (MdlTunerLl128, ring, "ring", BASE_DIM_RATIO, "share of the rings' rate"),
  NUM (MdlTunerLl128, ring_alone, "ring_alone", BASE_DIM_RATIO, "the same with one GPU a node"),
  NUM (MdlTunerLl128, tree_one_node, "tree_one_node", BASE_DIM_RATIO, "share of the trees' rate on one node"),
  NUM (MdlTunerLl128, tree, "tree", BASE_DIM_RATIO, "share of the trees' rate on several"),
  MAP (MdlTunerLl128, ring_channel, "ring_channel", &rates_schema, "a ring's channel at most"),
  MAP (MdlTunerLl128, tree_channel, "tree_channel", &rates_schema, "a tree's channel at most"),
  NUM (MdlTunerLl128, capability, "capability", BASE_DIM_COUNT, "least compute capability, where no list is given"),
  NUMS (MdlTunerLl128, capabilities, "capabilities", BASE_DIM_COUNT, "these compute capabilities alone; none: no list"),
  NUM (MdlTunerLl128, mixed, "mixed", BASE_DIM_COUNT, "unequal capabilities only from here on; 0: never"),
  NUM (MdlTunerLl128, pxn, "pxn", BASE_DIM_COUNT, "capability from which the network may be reached by PXN"),
  BASE_ROW_END,
};
static const BaseSchema ll128_schema = { .name = "tuner's LL128",
                                         .help = "Rates of LL128, and where it is trusted.",
                                         .fields = ll128_fields };

static const BaseField ring_fields[] = {
  NUM (MdlTunerRing, inter_steps, "inter_steps", BASE_DIM_NUMBER, "steps between nodes beyond 2 (nodes - 1)"),
  NUM (MdlTunerRing, post_intel, "post_intel", BASE_DIM_TIME, "to post a message, Intel"),
  NUM (MdlTunerRing, post_amd, "post_amd", BASE_DIM_TIME, "AMD"),
  NUM (MdlTunerRing, post_other, "post_other", BASE_DIM_TIME, "others"),
  NUM (MdlTunerRing, post_simple, "post_simple", BASE_DIM_NUMBER, "messages posted a step of Simple"),
  NUM_FROM (MdlTunerRing, plateau, "plateau", BASE_DIM_NUMBER, "1", "factor on the latency of Simple all-reduce between nodes"),
  NUM_FROM (MdlTunerRing, plateau_before_80, "plateau_before_80", BASE_DIM_NUMBER, "1", "the same below capability 80"),
  NUM (MdlTunerRing, plateau_from, "plateau_from", BASE_DIM_BYTES, "a channel and rank, from which on it holds"),
  BASE_ROW_END,
};
static const BaseSchema ring_schema = { .name = "tuner's rings", .help = "What is special to rings.", .fields = ring_fields };

static const BaseField tree_fields[] = {
  NUM (MdlTunerTree, share, "share", BASE_DIM_RATIO, "of the channels' rate"),
  MAP (MdlTunerTree, channel, "channel", &rates_schema, "one channel at most"),
  NUM (MdlTunerTree, one_gpu, "one_gpu", BASE_DIM_RATIO, "share where one GPU has all of a node's traffic"),
  NUMS (MdlTunerTree, ll, "ll", BASE_DIM_RATIO, "factor on LL's rate by size, powers of two"),
  NUMS (MdlTunerTree, ll128, "ll128", BASE_DIM_RATIO, "on LL128's"),
  NUMS (MdlTunerTree, simple, "simple", BASE_DIM_RATIO, "on Simple's"),
  NUM_FROM (MdlTunerTree, correction_from, "correction_from", BASE_DIM_BYTES, "1 B", "size of the first factor"),
  NUM (MdlTunerTree, correction_n, "correction_n", BASE_DIM_COUNT, "how many of them count"),
  NUM (MdlTunerTree, net_alone, "net_alone", BASE_DIM_COUNT,
       "1: all algorithms take the tree's network latency with one GPU a node"),
  BASE_ROW_END,
};
static const BaseSchema tree_schema = { .name = "tuner's trees", .help = "What is special to trees.", .fields = tree_fields };

static const BaseField nvls_fields[] = {
  ONE_OF (MdlTunerNvls, form, "form", mdl_tuner_nvls_names, "how its rate is made"),
  NUMS (MdlTunerNvls, efficiency, "efficiency", BASE_DIM_RATIO, "Volta, Ampere, Hopper, Blackwell"),
  NUM (MdlTunerNvls, gather_inter, "gather_inter", BASE_DIM_RATIO, "form gather: share of the network's rate"),
  NUM (MdlTunerNvls, ratio, "ratio", BASE_DIM_NUMBER, "algorithm rate over busbw; 0: ranks over steps"),
  YES (MdlTunerNvls, gather_ratio, "gather_ratio", "for all-gather and reduce-scatter too"),
  YES (MdlTunerNvls, gather_nodes, "gather_nodes", "these two over several nodes are offered"),
  NUM (MdlTunerNvls, two_nodes, "two_nodes", BASE_DIM_NUMBER, "factor on the network's rate for NVLSTree on two nodes"),
  MAP (MdlTunerNvls, tree_channel, "tree_channel", &rates_schema, "NVLSTree: one channel at most"),
  NUM (MdlTunerNvls, channels, "channels", BASE_DIM_COUNT, "least heads, form efficiency"),
  NUM (MdlTunerNvls, gather_ranks, "gather_ranks", BASE_DIM_COUNT, "of a node at most, for all-gather and reduce-scatter"),
  NUM (MdlTunerNvls, correction_n, "correction_n", BASE_DIM_COUNT, "factors of the tree's correction that count for NVLSTree"),
  NUM (MdlTunerNvls, correction_capability, "correction_capability", BASE_DIM_COUNT, "from here on, with x86 processors"),
  BASE_ROW_END,
};
static const BaseSchema nvls_schema = { .name = "tuner's NVLS",
                                        .help = "What is special to NVLS and NVLSTree.",
                                        .fields = nvls_fields };

static const BaseField collnet_fields[] = {
  ONE_OF (MdlTunerCollnet, gather, "gather", mdl_tuner_collnet_names, "all-gather and reduce-scatter by CollNet direct"),
  NUM (MdlTunerCollnet, weight_one, "weight_one", BASE_DIM_RATIO, "form weighted: share with one GPU a node"),
  NUM (MdlTunerCollnet, weight_eight, "weight_eight", BASE_DIM_RATIO, "with eight; linear between"),
  NUM (MdlTunerCollnet, gather_inter, "gather_inter", BASE_DIM_RATIO, "form nics: share of the network's rate"),
  NUM (MdlTunerCollnet, direct_from_90, "direct_from_90", BASE_DIM_RATIO, "share of CollNet direct from capability 90 on"),
  NUM (MdlTunerCollnet, arity, "arity", BASE_DIM_TIME, "for each further GPU of a node, each way"),
  NUM (MdlTunerCollnet, direct_ranks, "direct_ranks", BASE_DIM_COUNT, "of a node at most, CollNet direct"),
  NUM (MdlTunerCollnet, chain_ranks, "chain_ranks", BASE_DIM_COUNT, "CollNet chain"),
  NUM (MdlTunerCollnet, nodes, "nodes", BASE_DIM_COUNT, "least"),
  BASE_ROW_END,
};
static const BaseSchema collnet_schema = { .name = "tuner's CollNet",
                                           .help = "What is special to SHARP.",
                                           .fields = collnet_fields };

static const BaseField pat_fields[] = {
  YES (MdlTunerPat, offered, "offered", "this version has it"),
  NUM (MdlTunerPat, share, "share", BASE_DIM_RATIO, "of the channels' rate"),
  NUM_FROM (MdlTunerPat, net_share, "net_share", BASE_DIM_NUMBER, "1", "divides the network latency of each doubling of nodes"),
  NUM (MdlTunerPat, per_rank, "per_rank", BASE_DIM_TIME, "for each rank"),
  NUM (MdlTunerPat, capability, "capability", BASE_DIM_COUNT, "least compute capability"),
  BASE_ROW_END,
};
static const BaseSchema pat_schema = { .name = "tuner's PAT", .help = "What is special to PAT.", .fields = pat_fields };

static const BaseField nvlink_fields[] = {
  NUM (MdlNvlinkRow, capability, "capability", BASE_DIM_COUNT, "from here on"),
  NUM_FROM (MdlNvlinkRow, rate, "rate", BASE_DIM_BANDWIDTH, "1 kB/s", "one link, one way"),
  BASE_ROW_END,
};
static const BaseSchema nvlink_schema = { .name = "rate of an NVLink", .help = "As NCCL takes it.", .fields = nvlink_fields };

static const BaseField socket_fields[] = {
  NUMS (MdlSocketRates, socket, "intel", BASE_DIM_BANDWIDTH, "Broadwell and unknown, Skylake, Sapphire Rapids, Emerald Rapids"),
  NUM_FROM (MdlSocketRates, amd, "amd", BASE_DIM_BANDWIDTH, "1 kB/s", "AMD"),
  NUM_FROM (MdlSocketRates, arm, "arm", BASE_DIM_BANDWIDTH, "1 kB/s", "Arm"),
  NUM_FROM (MdlSocketRates, power, "power", BASE_DIM_BANDWIDTH, "1 kB/s", "POWER9"),
  NUM_FROM (MdlSocketRates, other, "other", BASE_DIM_BANDWIDTH, "1 kB/s", "others"),
  NUM_FROM (MdlSocketRates, intel_p2p, "intel_p2p", BASE_DIM_NUMBER, "1", "factor on traffic through Intel's host bridge"),
  BASE_ROW_END,
};
static const BaseSchema socket_schema = { .name = "links of processors", .help = "As NCCL takes them.", .fields = socket_fields };

static const BaseField speeds_fields[] = {
  NUMS (MdlSpeeds, below_90, "below_90", BASE_DIM_BANDWIDTH, "capability below 90, descending"),
  NUMS (MdlSpeeds, from_90, "from_90", BASE_DIM_BANDWIDTH, "below 100"),
  NUMS (MdlSpeeds, from_100, "from_100", BASE_DIM_BANDWIDTH, "from 100 on"),
  BASE_ROW_END,
};
static const BaseSchema speeds_schema = { .name = "speeds of a channel", .help = "What a search tries.", .fields = speeds_fields };

static const BaseField by_capability_fields[] = {
  NUM (MdlByCapability, below_90, "below_90", BASE_DIM_COUNT, "capability below 90"),
  NUM (MdlByCapability, from_90, "from_90", BASE_DIM_COUNT, "below 100"),
  NUM (MdlByCapability, from_100, "from_100", BASE_DIM_COUNT, "from 100 on"),
  BASE_ROW_END,
};
static const BaseSchema by_capability_schema = { .name = "number by capability",
                                                 .help = "A count.",
                                                 .fields = by_capability_fields };

static const BaseField search_fields[] = {
  BASE_ROW (MdlSearchSpec, "nvlink", nvlink, LIST, .help = "rate of one NVLink, ascending capability", .sub = &nvlink_schema,
            .item_size = sizeof (MdlNvlinkRow), .required = TRUE),
  NUMS (MdlSearchSpec, pcie_lane, "pcie_lane", BASE_DIM_BANDWIDTH, "one lane, generations 1 to 6"),
  MAP (MdlSearchSpec, sockets, "sockets", &socket_schema, "between processors"),
  NUM (MdlSearchSpec, reply, "reply", BASE_DIM_RATIO, "of what a NIC sends to a GPU, what goes back; below capability 80"),
  MAP (MdlSearchSpec, one_node, "one_node", &speeds_schema, "tried on one node"),
  MAP (MdlSearchSpec, nodes, "nodes", &speeds_schema, "tried on several"),
  NUM_FROM (MdlSearchSpec, max_search, "max_search", BASE_DIM_COUNT, "1", "channels of a search at most"),
  NUM_FROM (MdlSearchSpec, max_channels, "max_channels", BASE_DIM_COUNT, "1", "channels in use at most"),
  NUM (MdlSearchSpec, slower, "slower", BASE_DIM_RATIO, "least share of the best speed that is tried after it"),
  NUM_FROM (MdlSearchSpec, fallback, "fallback", BASE_DIM_BANDWIDTH, "1 kB/s", "the one channel where nothing is found"),
  NUM (MdlSearchSpec, simpler_tree, "simpler_tree", BASE_DIM_COUNT, "capability from which a tree may have one GPU at the NIC"),
  NUM (MdlSearchSpec, split_from, "split_from", BASE_DIM_BANDWIDTH, "channels are split in two from here on"),
  NUM (MdlSearchSpec, split_to, "split_to", BASE_DIM_BANDWIDTH, "above capability 80 only from here on …"),
  NUM (MdlSearchSpec, split_few, "split_few", BASE_DIM_COUNT, "… unless there are at most so many"),
  NUM_FROM (MdlSearchSpec, duplicate, "duplicate", BASE_DIM_COUNT, "1", "channels in use for each of the search"),
  NUM (MdlSearchSpec, more_from, "more_from", BASE_DIM_BANDWIDTH, "fewer than more_below of faster channels are doubled again"),
  NUM (MdlSearchSpec, more_below, "more_below", BASE_DIM_COUNT, "see more_from"),
  NUM (MdlSearchSpec, more_capability, "more_capability", BASE_DIM_COUNT, "see more_from: from this capability on, several nodes"),
  NUM_FROM (MdlSearchSpec, head_cost, "head_cost", BASE_DIM_NUMBER, "1", "NVLS: bytes on a head's own link per byte it reduces"),
  NUM (MdlSearchSpec, nvls_heads, "nvls_heads", BASE_DIM_COUNT, "NVLS: heads at most"),
  NUM (MdlSearchSpec, direct_heads, "direct_heads", BASE_DIM_COUNT, "CollNet direct: heads at most"),
  NUM (MdlSearchSpec, nvls_capability, "nvls_capability", BASE_DIM_COUNT, "NVLS: least compute capability"),
  NUM (MdlSearchSpec, nvls_gpus, "nvls_gpus", BASE_DIM_COUNT, "NVLS: least GPUs of a node"),
  MAP (MdlSearchSpec, nvls_channels, "nvls_channels", &by_capability_schema, "channels that NVLS runs on, one node"),
  MAP (MdlSearchSpec, nvls_channels_nodes, "nvls_channels_nodes", &by_capability_schema, "several nodes"),
  NUM_FROM (MdlSearchSpec, collnet_more, "collnet_more", BASE_DIM_NUMBER, "1",
            "more channels in use where CollNet's chain is faster inside"),
  BASE_ROW_END,
};
static const BaseSchema search_schema = { .name = "tuner's search",
                                          .help = "What the graph search takes links for, and tries.",
                                          .fields = search_fields };

static const BaseField fields[] = {
  MAP (MdlTunerSpec, base, "base", &times_schema, "latency before the first step"),
  MAP (MdlTunerSpec, step, "step", &step_schema, "latency of a step"),
  MAP (MdlTunerSpec, ll, "ll", &ll_schema, "protocol LL"),
  MAP (MdlTunerSpec, ll128, "ll128", &ll128_schema, "protocol LL128"),
  MAP (MdlTunerSpec, ring, "ring", &ring_schema, "rings"),
  MAP (MdlTunerSpec, tree, "tree", &tree_schema, "trees"),
  MAP (MdlTunerSpec, nvls, "nvls", &nvls_schema, "NVLS and NVLSTree"),
  MAP (MdlTunerSpec, collnet, "collnet", &collnet_schema, "CollNet direct and chain"),
  MAP (MdlTunerSpec, pat, "pat", &pat_schema, "PAT"),
  NUM (MdlTunerSpec, fp8_ranks, "fp8_ranks", BASE_DIM_COUNT, "rings of more ranks lose precision in 8-bit floats"),
  NUM_FROM (MdlTunerSpec, fp8_factor, "fp8_factor", BASE_DIM_NUMBER, "1", "on the time of such a ring"),
  NUM_FROM (MdlTunerSpec, batch, "batch", BASE_DIM_COUNT, "1", "operations that all but rings start together"),
  NUM (MdlTunerSpec, tree_threads, "tree_threads", BASE_DIM_COUNT,
       "threads that blocks of trees always run; 0: as many as NCCL_NTHREADS tells"),
  NUM_FROM (MdlTunerSpec, cell, "cell", BASE_DIM_BYTES, "1 B", "traffic below which no channel is opened"),
  NUM (MdlTunerSpec, ll_in_use, "ll_in_use", BASE_DIM_NUMBER,
       "what counts for a message by LL: 0 the channels that a peer may have, 1 those that Simple would take"),
  NUM (MdlTunerSpec, peer_rate, "peer_rate", BASE_DIM_BANDWIDTH,
       "of an adapter, for which a peer on another node is given a channel; 0: two channels a peer"),
  NUM (MdlTunerSpec, peer_share, "peer_share", BASE_DIM_NUMBER,
       "two channels a peer are halved while times the ranks they are more than so many times all channels; 0: never"),
  MAP (MdlTunerSpec, search, "search", &search_schema, "graph search"),
  BASE_ROW_END,
};
const BaseSchema cst_tuner_schema = { .name = "NCCL's tuner", .help = "Constants by which NCCL chooses.", .fields = fields };

static void
check_length (const BaseNums *list, unsigned n, const char *what, BaseDiag *diag)
{
  if (list->n != n)
    base_diag_error (diag, list->mark, "%s has %u numbers; accepted: %u", what, list->n, n);
}

static void
check_times (const MdlTunerTimes *times, BaseDiag *diag)
{
  for (int algo = 0; algo < MDL_TUNER_ALGOS; algo++)
    check_length (&times->at[algo], MDL_PROTO_N, "a row of latencies (LL, LL128, Simple)", diag);
}

static void
check_rates (const MdlTunerRates *rates, BaseDiag *diag)
{
  for (int generation = 0; generation < MDL_GENERATION_N; generation++)
    check_length (&rates->at[generation], 3, "a row of rates (one node, two, more)", diag);
}

static void
check_speeds (const BaseNums *speeds, BaseDiag *diag)
{
  if (speeds->n == 0)
    base_diag_error (diag, speeds->mark, "no speed to try; accepted: a descending list of rates");
  for (unsigned i = 0; i < speeds->n; i++)
    if (!(speeds->item[i].v > 0.0) || (i > 0 && speeds->item[i].v >= speeds->item[i - 1].v))
      base_diag_error (diag, speeds->item[i].mark, "speed %u is not below the one before; accepted: a descending list of rates",
                       i + 1);
}

void
cst_tuner_check (const MdlTunerSpec *spec, BaseDiag *diag)
{
  check_times (&spec->base, diag);
  for (int hardware = 0; hardware < MDL_TUNER_HARDWARE_N; hardware++)
    check_times (&spec->step.at[hardware], diag);
  check_rates (&spec->ll128.ring_channel, diag);
  check_rates (&spec->ll128.tree_channel, diag);
  check_rates (&spec->tree.channel, diag);
  check_rates (&spec->nvls.tree_channel, diag);
  check_length (&spec->ll.one_node, MDL_GENERATION_N, "LL's limit by generation", diag);
  check_length (&spec->ll.nodes, 2, "LL's limit (two nodes, more)", diag);
  check_length (&spec->ll.nodes_amd, 2, "LL's limit (two nodes, more)", diag);
  check_length (&spec->nvls.efficiency, MDL_GENERATION_N, "NVLS's efficiency by generation", diag);
  check_length (&spec->search.sockets.socket, MDL_CPU_MODEL_N, "the links of Intel's processors", diag);
  check_speeds (&spec->search.one_node.below_90, diag);
  check_speeds (&spec->search.one_node.from_90, diag);
  check_speeds (&spec->search.one_node.from_100, diag);
  check_speeds (&spec->search.nodes.below_90, diag);
  check_speeds (&spec->search.nodes.from_90, diag);
  check_speeds (&spec->search.nodes.from_100, diag);
  if (spec->search.nvlink.n == 0)
    base_diag_error (diag, spec->search.nvlink.mark, "no rate of an NVLink; accepted: a list of {capability, rate}");
}
