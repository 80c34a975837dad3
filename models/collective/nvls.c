/* NVLS: reduction and multicast in the NVSwitch (NVLink SHARP) of one NVLink domain; over several nodes together with switches of
 * the network that reduce (InfiniBand SHARP). Each rank is head of a part of the data, one n-th on one node, one h-th of h ranks
 * a node on several: it loads the sum of its part through the switch, has the network add the other nodes' sums, and stores the
 * result to all.
 *
 *     T = start + latency + net + (stages - 1) x round + net piece + gaps + S / min (ch rate, link rate / wire)
 *     round = heads ch piece / min (…):  one round of pieces over all heads and channels
 *     gaps = (S / (heads ch piece) - 1) x max (wait heads / 8 + heads piece / rate - round, 0), on one node: the reducing
 *            threads wait for the heads' flags before each further piece. The links hide that where pieces are long.
 *     wire = 1 / efficiency on one node; over several the link rate has it, on the links inside the nodes alone
 * The traffic (egress and ingress S (1 + 1/n) for all-reduce; S/h each way a NIC; all-gather over nodes: S/n out of a NIC, S/h into
 * it, S/h stored, S received, and reduce-scatter the mirror) is in the link rate of the question. piece B,
 * halved while few rounds are left; stages: copy in, reduce and multicast, copy out. net, net piece: over several nodes, the
 * latency up to the network's switches and back, and a round of pieces over the NICs. On registered buffers the switch reads and
 * writes where the caller's data are: one stage, and fewer channels (`registered`), which NCCL takes to be enough for the links.
 *
 * Textbook form: 2 alpha (+ alpha_net) + S / link rate.
 *
 * Source: NCCL 5067397c src/graph/tuning.cc:ncclTopoTuneModel (nvlsEfficiency .85 Hopper, .74 Blackwell; latency 25 us, 18 between
 * nodes), src/enqueue.cc:calcCollChunking (pieces), src/device/all_reduce.h (NVLS), src/transport/nvls.cc (channels
 * on registered buffers: ncclNvlsRegResourcesQuery; src/register/coll_reg.cc:ncclRegisterCollNvlsBuffers).
 * Valid: compute capability 90 and later behind NVSwitch; over several nodes with a head for each rank. Check:
 * accuracy_models_others (5 to 8 H200 and B200 at 8 GiB), test_models_sharp (2 nodes: 25 + 18 us). */
#include <math.h>

#include "collective/terms-private.h"

#define ROUND_HEADS 8.0 /* of which `round` was measured */

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return q->op == MDL_OP_ALL_REDUCE ? 2 : 1;
}

const char *
mdl_why_not_nvls_node (const MdlCollQuestion *q)
{
  if (q->compute_capability < 90)
    return "nvls needs compute capability 9.0 (Hopper) or later";
  if (q->intra != MDL_HOP_NVLINK || !q->switched)
    return "nvls needs GPUs behind an NVSwitch";
  return NULL;
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  (void)library;
  if (proto != MDL_PROTO_SIMPLE)
    return "simple protocol only";
  if (q->n_nodes > 1 && q->ranks_per_node < 2)
    return "nvls needs several ranks a node";
  if (q->n_nodes > 1 && q->inter != MDL_HOP_NET && q->inter != MDL_HOP_NET_HOST)
    return "nvls over several NVLink domains needs RDMA adapters between them";
  return mdl_why_not_nvls_node (q);
}

unsigned
mdl_nvls_heads (const MdlLibrary *library, unsigned gpus)
{
  return library != NULL && library->nvls.heads.set ? MIN (gpus, (unsigned)library->nvls.heads.v) : gpus;
}

/* Channels that NCCL takes for registered buffers, of eight heads; NULL: as for others. */
static const BaseNum *
registered_channels (const MdlNvlsSpec *spec, const MdlCollQuestion *q)
{
  const BaseNum *channels = NULL;
  for (unsigned i = 0; mdl_buffers_registered (q) && i < spec->registered.n; i++) {
    const MdlNvlsRegistered *row = BASE_LIST_AT (spec->registered, MdlNvlsRegistered, i);
    const gboolean wide = q->n_nodes > 1;
    if ((MdlOp)row->op.v == q->op && row->nodes.v == wide && (double)q->compute_capability >= row->capability.v &&
        q->inter_rate_Bps >= row->nic.v)
      channels = &row->channels;
  }
  return channels;
}

const BaseNum *
mdl_nvls_stages (const MdlLibrary *library, const MdlCollQuestion *q)
{
  const MdlNvlsSpec *spec = &library->nvls;
  const unsigned gpus = q->n_nodes > 1 ? q->ranks_per_node : q->n_ranks;
  if (spec->registered_stages.set && registered_channels (spec, q) != NULL)
    return &spec->registered_stages;
  return spec->rack_stages.set && gpus > mdl_nvls_heads (library, gpus) ? &spec->rack_stages : &spec->stages;
}

const BaseNum *
mdl_nvls_efficiency_of (const MdlLibrary *library, unsigned compute_capability, unsigned gpus)
{
  if (library->nvls.rack_efficiency.set && gpus > mdl_nvls_heads (library, gpus))
    return &library->nvls.rack_efficiency;
  return compute_capability >= 100 ? &library->nvls.efficiency_from_100 : &library->nvls.efficiency;
}

double
mdl_nvls_efficiency (const MdlLibrary *library, unsigned compute_capability, unsigned gpus)
{
  const BaseNum *efficiency = library != NULL ? mdl_nvls_efficiency_of (library, compute_capability, gpus) : NULL;
  return efficiency != NULL && efficiency->set ? efficiency->v : 1.0;
}

static gboolean
piece_fits (const MdlNvlsTreePiece *row, const MdlCollQuestion *q)
{
  const double ranks = (double)q->ranks_per_node;
  return !row->off.v && (double)q->compute_capability >= row->capability.v && (double)q->n_nodes >= row->nodes.v &&
         ranks >= row->ranks_from.v && (!row->ranks_to.set || ranks <= row->ranks_to.v) && q->nic_Bps >= row->nic.v &&
         (!row->nic_below.set || q->nic_Bps < row->nic_below.v) && (!row->near.v || q->near_nics);
}

const MdlNvlsTreePiece *
mdl_nvls_tree_piece (const MdlLibrary *library, const MdlCollQuestion *q)
{
  const MdlNvlsTreePiece *found = NULL;
  for (unsigned i = 0; i < library->nvls_tree.pieces.n; i++) {
    const MdlNvlsTreePiece *row = BASE_LIST_AT (library->nvls_tree.pieces, MdlNvlsTreePiece, i);
    if (piece_fits (row, q))
      found = row;
  }
  return found;
}

/* Bounded by NCCL_MAX_CTAS and NCCL_MIN_CTAS, not by NCCL_MAX_NCHANNELS: src/transport/nvls.cc:ncclNvlsInit. */
double
mdl_nvls_channels (const MdlLibrary *library, const MdlCollQuestion *q)
{
  const MdlNvlsSpec *spec = &library->nvls;
  const BaseNum *most = &spec->channels;
  if (q->compute_capability >= 100)
    most = q->n_nodes > 1 && spec->channels_from_100_nodes.set ? &spec->channels_from_100_nodes : &spec->channels_from_100;
  double cell_B = library->channels.cell.v / (q->op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0);
  double found = q->nvls_channels > 0 ? (double)q->nvls_channels : most->v;
  const MdlNvlsTreePiece *set = q->n_nodes > 1 ? mdl_nvls_tree_piece (library, q) : NULL;
  if (set != NULL && set->channels.set)
    found = set->channels.v;
  const BaseNum *registered = registered_channels (spec, q);
  if (registered != NULL)
    found = ceil (registered->v * 8.0 / fmax ((double)mdl_nvls_heads (library, MAX (q->ranks_per_node, 1)), 1.0));
  double channels = q->max_ctas > 0 ? fmin (found, (double)q->max_ctas) : found;
  channels = fmax (channels, fmax ((double)q->min_ctas, 1.0));
  return cell_B > 0.0 ? CLAMP (q->size_B / cell_B, 1.0, channels) : channels;
}

double
mdl_nvls_bound_Bps (const MdlLibrary *library, const MdlCollQuestion *q)
{
  MdlCollQuestion plain = *q;
  plain.registered = FALSE;
  plain.launch = q->launch == MDL_LAUNCH_REGISTERED ? MDL_LAUNCH_GRAPH : q->launch;
  return mdl_nvls_channels (library, &plain) * library->nvls.rate.v;
}

/* What further rounds take beyond the links' time. On registered buffers there are no pieces to wait for. */
static void
gaps (const MdlLibrary *library, const MdlCollQuestion *q, double round_B, double channels, double heads, MdlCollCost *cost)
{
  const MdlNvlsSpec *spec = &library->nvls;
  const double further = q->size_B / round_B - 1.0;
  if (!spec->round.set || q->n_nodes > 1 || q->size_B <= round_B || mdl_nvls_stages (library, q)->v <= 1.0)
    return;
  const double wait_s = spec->round.v * heads / ROUND_HEADS, reduce_s = wait_s + mdl_time_s (round_B, channels * spec->rate.v);
  const double gap_s = fmax (reduce_s - mdl_time_s (round_B, mdl_cost_rate (q, cost)), 0.0);
  mdl_cost_term (q, cost, "gaps between rounds", further * gap_s, &spec->round,
                 "%.4g more rounds x %.3g us: a wait of %.3g us and the copy, less the links' time", further, gap_s * 1e6,
                 wait_s * 1e6);
}

static void
nvls_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)proto; /* Simple alone */
  const MdlNvlsSpec *spec = &library->nvls;
  gboolean wide = q->n_nodes > 1;
  double channels = mdl_nvls_channels (library, q);
  if (wide && q->max_channels > 0) /* over the network's switches it shares the channels of all others */
    channels = fmin (channels, (double)q->max_channels);

  cost->channels = (unsigned)channels;
  cost->wire = wide ? 1.0 : 1.0 / mdl_nvls_efficiency (library, q->compute_capability, q->ranks_per_node);
  mdl_cost_bound (cost, fmax (mdl_nvls_bound_Bps (library, q), channels * spec->rate.v), &spec->rate);
  if (cost->bound_Bps < q->link_rate_Bps / cost->wire)
    mdl_cost_use (cost, &spec->rate);
  mdl_cost_use (cost, mdl_nvls_efficiency_of (library, q->compute_capability, q->ranks_per_node));
  mdl_cost_begin (q, cost, &spec->start);
  mdl_cost_term (q, cost, "switch latency", spec->latency.v, &spec->latency, "%.3g us per reduction through the switch",
                 spec->latency.v * 1e6);
  if (wide) {
    double longer_s = mdl_longer_s (&library->tree.hop[q->inter], q->inter_latency_s);
    mdl_cost_term (q, cost, "network latency", spec->net.v + longer_s, &spec->net,
                   "%.3g us up to the switches and back, %.3g us for a longer wire", spec->net.v * 1e6, longer_s * 1e6);
  }
  cost->hop_software_s[0] = fmax (spec->latency.v / (double)n_steps (q) - q->intra_latency_s, 0.0);

  double heads = (double)mdl_nvls_heads (library, wide ? q->ranks_per_node : q->n_ranks), part_B = q->size_B / (channels * heads);
  double piece_B = mdl_cut_piece (&spec->cuts, part_B, spec->piece.v, 1.0);
  const double behind = mdl_nvls_stages (library, q)->v - 1.0;
  double round_B = piece_B * channels * heads, fill_s = behind * mdl_time_s (round_B, mdl_cost_rate (q, cost));
  if (wide)
    fill_s += mdl_time_s (round_B, q->inter_rate_Bps * fmax ((double)q->n_nics, 1.0));
  mdl_cost_term (q, cost, "pipeline fill", fill_s, &spec->piece, "%.3g rounds of %.0f B per head and channel%s", behind, piece_B,
                 wide ? ", and one over the network" : "");
  gaps (library, q, round_B, channels, heads, cost);
  cost->piece_B = round_B;
}

static void
nvls_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  unsigned heads = q->n_nodes > 1 ? MAX (q->ranks_per_node, 1) : q->n_ranks;
  cost->bound_Bps = mdl_plain_bound_Bps (q, q->op == MDL_OP_ALL_REDUCE ? 1.0 + 1.0 / (double)heads : 1.0);
  double inside_s = q->n_ranks > q->n_nodes ? 2.0 * q->intra_latency_s : 0.0;
  mdl_cost_term (q, cost, "hop latency", inside_s, NULL, "to the switch and back: 2 x %.4g us", q->intra_latency_s * 1e6);
  if (q->n_nodes > 1)
    mdl_cost_term (q, cost, "network hop latency", q->inter_latency_s, NULL, "to the network's switches and back: %.4g us",
                   q->inter_latency_s * 1e6);
}

const MdlColl mdl_coll_nvls = {
  .algo = MDL_ALGO_NVLS,
  .ops = 1u << MDL_OP_ALL_REDUCE | 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER,
  .n_steps = n_steps,
  .cost = nvls_cost,
  .plain = nvls_plain,
  .why_not = why_not,
};
