/* Schema of the constants of NCCL's tuner: one row a key, see models/tuner.h and models/search.h for what each is used for. */
#define REQUIRED /* every key is needed */
#include "base/rows.h"
#include "tuner_schema-private.h"

#define TIMES_ROW(code, name, letter, help) NUMS_AS (MdlTunerTimes, #name, at[MDL_ALGO_##code], TIME, "LL, LL128, Simple"),
static SCHEMA (times_schema, "times by algorithm", "Three times each.", MDL_ALGO_NCCL_ROWS (TIMES_ROW) BASE_ROW_END);

static SCHEMA (step_schema, "latency of a step", "By what it crosses.",
               MAP_AS (MdlTunerSteps, "nvlink", at[MDL_TUNER_NVLINK], &times_schema, "over NVLink"),
               MAP_AS (MdlTunerSteps, "pcie", at[MDL_TUNER_PCIE], &times_schema, "over anything else inside a node"),
               MAP_AS (MdlTunerSteps, "net", at[MDL_TUNER_NET], &times_schema, "between nodes"));

static SCHEMA (rates_schema, "rates by generation", "What one channel reaches.",
               NUMS_AS (MdlTunerRates, "volta", at[MDL_GENERATION_VOLTA], BANDWIDTH, "below capability 80: one node, two, more"),
               NUMS_AS (MdlTunerRates, "ampere", at[MDL_GENERATION_AMPERE], BANDWIDTH, "below 90"),
               NUMS_AS (MdlTunerRates, "hopper", at[MDL_GENERATION_HOPPER], BANDWIDTH, "below 100"),
               NUMS_AS (MdlTunerRates, "blackwell", at[MDL_GENERATION_BLACKWELL], BANDWIDTH, "from 100 on"));

static SCHEMA (ll_schema, "tuner's LL", "Rates of LL.",
               NUMS (MdlTunerLl, one_node, BANDWIDTH, "at most on one node: Volta, Ampere, Hopper, Blackwell"),
               NUMS (MdlTunerLl, nodes, BANDWIDTH, "at most on two nodes, on more"),
               NUMS (MdlTunerLl, nodes_amd, BANDWIDTH, "the same with AMD's processors, or a mixture"),
               NUM (MdlTunerLl, ring, RATIO, "share of the rings' rate"),
               NUM (MdlTunerLl, ring_one_way, RATIO, "the same where nothing is reduced or kept, on one node"),
               FROM (MdlTunerLl, tree, NUMBER, "1", "the trees' rate over this"));

static SCHEMA (ll128_schema, "tuner's LL128", "Rates of LL128, and where it is trusted.",
               NUM (MdlTunerLl128, ring, RATIO, "share of the rings' rate"),
               NUM (MdlTunerLl128, ring_single_gpu, RATIO, "the same with one GPU a node", .was = "ring_alone"),
               NUM (MdlTunerLl128, tree_one_node, RATIO, "share of the trees' rate on one node"),
               NUM (MdlTunerLl128, tree, RATIO, "share of the trees' rate on several"),
               MAP (MdlTunerLl128, ring_channel, &rates_schema, "a ring's channel at most"),
               MAP (MdlTunerLl128, tree_channel, &rates_schema, "a tree's channel at most"),
               NUM (MdlTunerLl128, capability, COUNT, "least compute capability, where no list is given"),
               NUMS (MdlTunerLl128, capabilities, COUNT, "these compute capabilities alone; none: no list"),
               NUM (MdlTunerLl128, mixed, COUNT, "unequal capabilities only from here on; 0: never"),
               NUM (MdlTunerLl128, pxn, COUNT, "capability from which the network may be reached by PXN"));

static SCHEMA (ring_schema, "tuner's rings", "What is special to rings.",
               NUM (MdlTunerRing, inter_steps, NUMBER, "steps between nodes beyond 2 (nodes - 1)"),
               NUM (MdlTunerRing, post_intel, TIME, "to post a message, Intel"), NUM (MdlTunerRing, post_amd, TIME, "AMD"),
               NUM (MdlTunerRing, post_other, TIME, "others"),
               NUM (MdlTunerRing, post_simple, NUMBER, "messages posted a step of Simple"),
               FROM (MdlTunerRing, plateau, NUMBER, "1", "factor on the latency of Simple all-reduce between nodes"),
               FROM (MdlTunerRing, plateau_before_80, NUMBER, "1", "the same below capability 80"),
               NUM (MdlTunerRing, plateau_from, BYTES, "a channel and rank, from which on it holds"));

static SCHEMA (tree_schema, "tuner's trees", "What is special to trees.", NUM (MdlTunerTree, share, RATIO, "of the channels' rate"),
               MAP (MdlTunerTree, channel, &rates_schema, "one channel at most"),
               NUM (MdlTunerTree, one_gpu, RATIO, "share where one GPU has all of a node's traffic"),
               NUMS (MdlTunerTree, ll, RATIO, "factor on LL's rate by size, powers of two"),
               NUMS (MdlTunerTree, ll128, RATIO, "on LL128's"), NUMS (MdlTunerTree, simple, RATIO, "on Simple's"),
               FROM (MdlTunerTree, correction_from, BYTES, "1 B", "size of the first factor"),
               NUM (MdlTunerTree, correction_n, COUNT, "how many of them count"),
               NUM (MdlTunerTree, net_single_gpu, COUNT, "1: all algorithms take the tree's network latency with one GPU a node",
                    .was = "net_alone"));

static SCHEMA (nvls_schema, "tuner's NVLS", "What is special to NVLS and NVLSTree.",
               ROW (MdlTunerNvls, form, ENUM, "how its rate is made", .names = mdl_tuner_nvls_names),
               NUMS (MdlTunerNvls, efficiency, RATIO, "Volta, Ampere, Hopper, Blackwell"),
               NUM (MdlTunerNvls, gather_inter, RATIO, "form gather: share of the network's rate"),
               NUM (MdlTunerNvls, ratio, NUMBER, "algorithm rate over busbw; 0: ranks over steps"),
               ROW (MdlTunerNvls, gather_ratio, BOOL, "for all-gather and reduce-scatter too"),
               ROW (MdlTunerNvls, gather_nodes, BOOL, "these two over several nodes are offered"),
               NUM (MdlTunerNvls, two_nodes, NUMBER, "factor on the network's rate for NVLSTree on two nodes"),
               MAP (MdlTunerNvls, tree_channel, &rates_schema, "NVLSTree: one channel at most"),
               NUM (MdlTunerNvls, channels, COUNT, "least heads, form efficiency"),
               NUM (MdlTunerNvls, gather_ranks, COUNT, "of a node at most, for all-gather and reduce-scatter"),
               NUM (MdlTunerNvls, correction_n, COUNT, "factors of the tree's correction that count for NVLSTree"),
               NUM (MdlTunerNvls, correction_capability, COUNT, "from here on, with x86 processors"));

static SCHEMA (collnet_schema, "tuner's CollNet", "What is special to SHARP.",
               ROW (MdlTunerCollnet, gather, ENUM, "all-gather and reduce-scatter by CollNet direct",
                    .names = mdl_tuner_collnet_names),
               NUM (MdlTunerCollnet, weight_one, RATIO, "form weighted: share with one GPU a node"),
               NUM (MdlTunerCollnet, weight_eight, RATIO, "with eight; linear between"),
               NUM (MdlTunerCollnet, gather_inter, RATIO, "form nics: share of the network's rate"),
               NUM (MdlTunerCollnet, direct_from_90, RATIO, "share of CollNet direct from capability 90 on"),
               NUM (MdlTunerCollnet, arity, TIME, "for each further GPU of a node, each way"),
               NUM (MdlTunerCollnet, direct_ranks, COUNT, "of a node at most, CollNet direct"),
               NUM (MdlTunerCollnet, chain_ranks, COUNT, "CollNet chain"), NUM (MdlTunerCollnet, nodes, COUNT, "least"));

static SCHEMA (pat_schema, "tuner's PAT", "What is special to PAT.", ROW (MdlTunerPat, offered, BOOL, "this version has it"),
               NUM (MdlTunerPat, share, RATIO, "of the channels' rate"),
               FROM (MdlTunerPat, net_share, NUMBER, "1", "divides the network latency of each doubling of nodes"),
               NUM (MdlTunerPat, per_rank, TIME, "added per rank"),
               NUM (MdlTunerPat, capability, COUNT, "least compute capability"));

static SCHEMA (nvlink_schema, "rate of an NVLink", "As NCCL takes it.", NUM (MdlNvlinkRow, capability, COUNT, "from here on"),
               FROM (MdlNvlinkRow, rate, BANDWIDTH, "1 kB/s", "one link, one way"));

static SCHEMA (socket_schema, "links of processors", "As NCCL takes them.",
               NUMS_AS (MdlSocketRates, "intel", socket, BANDWIDTH,
                        "Broadwell and unknown, Skylake, Sapphire Rapids, Emerald Rapids"),
               FROM (MdlSocketRates, amd, BANDWIDTH, "1 kB/s", "AMD"), FROM (MdlSocketRates, arm, BANDWIDTH, "1 kB/s", "Arm"),
               FROM (MdlSocketRates, power, BANDWIDTH, "1 kB/s", "POWER9"),
               FROM (MdlSocketRates, other, BANDWIDTH, "1 kB/s", "others"),
               FROM (MdlSocketRates, intel_p2p, NUMBER, "1", "factor on traffic through Intel's host bridge"));

static SCHEMA (speeds_schema, "speeds of a channel", "What a search tries.",
               NUMS (MdlSpeeds, below_90, BANDWIDTH, "capability below 90, descending"),
               NUMS (MdlSpeeds, from_90, BANDWIDTH, "below 100"), NUMS (MdlSpeeds, from_100, BANDWIDTH, "from 100 on"));

static SCHEMA (by_capability_schema, "number by capability", "A count.",
               NUM (MdlByCapability, below_90, COUNT, "capability below 90"), NUM (MdlByCapability, from_90, COUNT, "below 100"),
               NUM (MdlByCapability, from_100, COUNT, "from 100 on"));

static SCHEMA (search_schema, "tuner's search", "What the graph search takes links for, and tries.",
               LIST (MdlSearchSpec, nvlink, &nvlink_schema, MdlNvlinkRow, "rate of one NVLink, ascending capability"),
               NUMS (MdlSearchSpec, pcie_lane, BANDWIDTH, "one lane, generations 1 to 6"),
               MAP (MdlSearchSpec, sockets, &socket_schema, "between processors"),
               NUM (MdlSearchSpec, reply, RATIO, "of what a NIC sends to a GPU, what goes back; below capability 80"),
               MAP (MdlSearchSpec, one_node, &speeds_schema, "tried on one node"),
               MAP (MdlSearchSpec, nodes, &speeds_schema, "tried on several"),
               FROM (MdlSearchSpec, max_search, COUNT, "1", "channels of a search at most"),
               FROM (MdlSearchSpec, max_channels, COUNT, "1", "channels in use at most"),
               NUM (MdlSearchSpec, slower, RATIO, "least share of the best speed that is tried after it"),
               FROM (MdlSearchSpec, fallback, BANDWIDTH, "1 kB/s", "the one channel where nothing is found"),
               NUM (MdlSearchSpec, simpler_tree, COUNT, "capability from which a tree may have one GPU at the NIC"),
               NUM (MdlSearchSpec, split_from, BANDWIDTH, "channels are split in two from here on"),
               NUM (MdlSearchSpec, split_to, BANDWIDTH, "above capability 80 only from here on …"),
               NUM (MdlSearchSpec, split_few, COUNT, "… unless there are at most so many"),
               FROM (MdlSearchSpec, duplicate, COUNT, "1", "channels in use for each of the search"),
               NUM (MdlSearchSpec, more_from, BANDWIDTH, "fewer than more_below of faster channels are doubled again"),
               NUM (MdlSearchSpec, more_below, COUNT, "see more_from"),
               NUM (MdlSearchSpec, more_capability, COUNT, "see more_from: from this capability on, several nodes"),
               FROM (MdlSearchSpec, head_cost, NUMBER, "1", "NVLS: bytes on a head's own link per byte it reduces"),
               NUM (MdlSearchSpec, nvls_heads, COUNT, "NVLS: heads at most"),
               NUM (MdlSearchSpec, p2c, COUNT, "1: a NIC over a coherent link is nearer than one over PCIe and the processor"),
               NUM (MdlSearchSpec, direct_heads, COUNT, "CollNet direct: heads at most"),
               NUM (MdlSearchSpec, nvls_capability, COUNT, "NVLS: least compute capability"),
               NUM (MdlSearchSpec, nvls_gpus, COUNT, "NVLS: least GPUs of a node"),
               MAP (MdlSearchSpec, nvls_channels, &by_capability_schema, "channels that NVLS runs on, one node"),
               MAP (MdlSearchSpec, nvls_channels_nodes, &by_capability_schema, "several nodes"),
               NUM (MdlSearchSpec, nvls_raises, COUNT, "1: all algorithms run on as many channels as NVLS does, if that is more"),
               FROM (MdlSearchSpec, collnet_more, NUMBER, "1", "more channels in use where CollNet's chain is faster inside"));

SCHEMA (cst_tuner_schema, "NCCL's tuner", "Constants by which NCCL chooses.",
        MAP (MdlTunerSpec, base, &times_schema, "latency before the first step"),
        MAP (MdlTunerSpec, step, &step_schema, "latency of a step"), MAP (MdlTunerSpec, ll, &ll_schema, "protocol LL"),
        MAP (MdlTunerSpec, ll128, &ll128_schema, "protocol LL128"), MAP (MdlTunerSpec, ring, &ring_schema, "rings"),
        MAP (MdlTunerSpec, tree, &tree_schema, "trees"), MAP (MdlTunerSpec, nvls, &nvls_schema, "NVLS and NVLSTree"),
        MAP (MdlTunerSpec, collnet, &collnet_schema, "CollNet direct and chain"), MAP (MdlTunerSpec, pat, &pat_schema, "PAT"),
        NUM (MdlTunerSpec, fp8_ranks, COUNT, "rings of more ranks lose precision in 8-bit floats"),
        FROM (MdlTunerSpec, fp8_factor, NUMBER, "1", "on the time of such a ring"),
        FROM (MdlTunerSpec, batch, COUNT, "1", "operations that all but rings start together"),
        NUM (MdlTunerSpec, tree_threads, COUNT, "threads that blocks of trees always run; 0: as many as NCCL_NTHREADS tells"),
        NUM (MdlTunerSpec, connects_all, NUMBER,
             "1: a new communicator connects all algorithms; 0: the first use of an algorithm connects it"),
        FROM (MdlTunerSpec, cell, BYTES, "1 B", "traffic below which no channel is opened"),
        NUM (MdlTunerSpec, ll_in_use, NUMBER,
             "what counts for a message by LL: 0 the channels that a peer may have, 1 those that Simple would take"),
        NUM (MdlTunerSpec, peer_rate, BANDWIDTH,
             "of an adapter, for which a peer on another node is given a channel; 0: two channels a peer"),
        NUM (MdlTunerSpec, peer_share, NUMBER,
             "two channels a peer are halved while times the ranks they are more than so many times all channels; 0: never"),
        NUM (MdlTunerSpec, gather_late, TIME,
             "measured, no constant of NCCL: all-gather and reduce-scatter by LL rings of one node take so much longer"),
        MAP (MdlTunerSpec, search, &search_schema, "graph search"));

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
