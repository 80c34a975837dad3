/* The rates of NCCL's tuner: what each algorithm and protocol is taken to move, B/s of the operation's size.
 *
 *     busbw = k b                       k channels of the search (not those in use), b: their rate inside a node up to two nodes
 *                                       and for CollNet, else between nodes
 *     ring    LL      min (LL limit, share k b)       LL128   min (.92 k b, k c)
 *     tree    all     min (.92 k b, k c)              LL      min (that / 3.8, LL limit)
 *             LL128   min (that x 7/9 or 120/128, k c'), x .85 where one GPU has all of a node's traffic
 *     NVLS    k min (b e 2 (k - 1) / k, between nodes)       all-reduce; x (p - 1) / p for 2 in gather and scatter
 *     CollNet direct  k b / f, f = p / k - (p / k - 1) / 2   all-reduce; p min (inside, .9 between nodes) in gather and scatter
 *     rate  = busbw x n / steps of rings and NVLS, / 2 of other all-reduce, as it is of other gather and scatter
 *
 * c: what one channel reaches, p: ranks of a node, n: ranks, e: efficiency of NVLS. The numbers differ by version: data.
 *
 * Source: NCCL commit 5067397c, src/graph/tuning.cc:ncclTopoTuneModel; older forms from the tags v2.19.4-1 to v2.30.7-1 of it.
 * Valid: NCCL 2.19 to 2.30. Check: tests/unit/test_models_tuner.c, cells by hand. */
#include <stdarg.h>
#include <string.h>

#include "nccl/tuner-private.h"

static void say (char *how, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
say (char *how, const char *format, ...)
{
  if (how == NULL)
    return;
  gsize used = strlen (how);
  va_list args;
  va_start (args, format);
  g_vsnprintf (how + used, MDL_TUNER_HOW - used, format, args);
  va_end (args);
}

const MdlGraph *
mdl_tuner_graph (const MdlSearch *search, MdlAlgo algo)
{
  switch (algo) {
    case MDL_ALGO_RING:
      return &search->ring;
    case MDL_ALGO_COLLNET_DIRECT:
      return &search->collnet_direct;
    case MDL_ALGO_COLLNET_CHAIN:
      return &search->collnet_chain;
    case MDL_ALGO_NVLS:
    case MDL_ALGO_NVLS_TREE:
      return &search->nvls;
    default:
      return &search->tree;
  }
}

static gboolean
is_gather (MdlOp op)
{
  return op == MDL_OP_ALL_GATHER || op == MDL_OP_REDUCE_SCATTER;
}

static double
ranks_per_node (const MdlTuner *tuner)
{
  return (double)tuner->comm.ranks / tuner->comm.nodes;
}

/* Column of a table by nodes: one, two, more. */
static unsigned
column (const MdlTuner *tuner)
{
  return MIN (tuner->comm.nodes, 3) - 1;
}

static double
of_generation (const MdlTuner *tuner, const MdlTunerRates *rates)
{
  return rates->at[mdl_generation (tuner->comm.min_capability)].item[column (tuner)].v;
}

/* By the GPU on one node, by the processors on several. */
static double
ll_limit_Bps (const MdlTuner *tuner)
{
  const MdlTunerLl *ll = &tuner->spec->ll;
  if (tuner->comm.nodes == 1)
    return ll->one_node.item[mdl_generation (tuner->comm.min_capability)].v;
  gboolean amd = tuner->comm.cpu == MDL_CPU_AMD || tuner->comm.cpu == MDL_CPU_MIXED;
  return (amd ? &ll->nodes_amd : &ll->nodes)->item[column (tuner) - 1].v;
}

static double
steps (const MdlTuner *tuner, MdlOp op)
{
  double n = tuner->comm.ranks;
  return op == MDL_OP_ALL_REDUCE ? 2.0 * (n - 1.0) : is_gather (op) ? n - 1.0 : n;
}

static double
at_most (double rate_Bps, double limit_Bps, const char *what, char *how)
{
  if (limit_Bps >= rate_Bps)
    return rate_Bps;
  say (how, ", at most %.4g %s", limit_Bps / 1e9, what);
  return limit_Bps;
}

static double
scaled (double rate_Bps, double factor, const char *what, char *how)
{
  say (how, ", x %.4g %s", factor, what);
  return rate_Bps * factor;
}

static double
ring_busbw (const MdlTuner *tuner, MdlOp op, MdlProto proto, double rate_Bps, char *how)
{
  const MdlTunerSpec *spec = tuner->spec;
  if (proto == MDL_PROTO_LL) {
    gboolean one_way = tuner->comm.nodes == 1 && op != MDL_OP_ALL_REDUCE && op != MDL_OP_REDUCE;
    double share = one_way ? spec->ll.ring_one_way.v : spec->ll.ring.v;
    return at_most (scaled (rate_Bps, share, "LL", how), ll_limit_Bps (tuner), "LL", how);
  }
  if (proto == MDL_PROTO_LL128) {
    double share = ranks_per_node (tuner) < 2.0 ? spec->ll128.ring_single_gpu.v : spec->ll128.ring.v;
    double limit_Bps = tuner->search.ring.channels * of_generation (tuner, &spec->ll128.ring_channel);
    return at_most (scaled (rate_Bps, share, "LL128", how), limit_Bps, "channels", how);
  }
  return rate_Bps;
}

static double
tree_busbw (const MdlTuner *tuner, MdlProto proto, double rate_Bps, char *how)
{
  const MdlTunerSpec *spec = tuner->spec;
  double k = tuner->search.tree.channels;
  rate_Bps =
      at_most (scaled (rate_Bps, spec->tree.share.v, "tree", how), k * of_generation (tuner, &spec->tree.channel), "channels", how);
  if (proto == MDL_PROTO_LL)
    rate_Bps = at_most (scaled (rate_Bps, 1.0 / spec->ll.tree.v, "LL", how), ll_limit_Bps (tuner), "LL", how);
  else if (proto == MDL_PROTO_LL128) {
    double share = tuner->comm.nodes == 1 ? spec->ll128.tree_one_node.v : spec->ll128.tree.v;
    rate_Bps =
        at_most (scaled (rate_Bps, share, "LL128", how), k * of_generation (tuner, &spec->ll128.tree_channel), "channels", how);
  }
  return tuner->search.one_gpu ? scaled (rate_Bps, spec->tree.one_gpu.v, "one GPU", how) : rate_Bps;
}

/* Of one channel; NVLSTree is `tree`. */
static double
nvls_channel (const MdlTuner *tuner, MdlOp op, gboolean tree)
{
  const MdlTunerNvls *spec = &tuner->spec->nvls;
  const MdlGraph *graph = &tuner->search.nvls;
  double intra_Bps = graph->intra_Bps, inter_Bps = graph->inter_Bps;
  double p = ranks_per_node (tuner), k = graph->channels;
  if (spec->form.v != MDL_TUNER_NVLS_EFFICIENCY) {
    if (tree)
      inter_Bps /= tuner->comm.nodes <= 2 ? 1.0 : 2.0;
    else if (spec->form.v == MDL_TUNER_NVLS_GATHER && op != MDL_OP_ALL_REDUCE) {
      intra_Bps *= (p - 1.0) / p;
      inter_Bps *= spec->gather_inter.v;
    }
    return MIN (intra_Bps, inter_Bps);
  }
  /* all-reduce reduces and broadcasts at once, so that the busbw counts twice what a link carries */
  intra_Bps *= spec->efficiency.item[mdl_generation (tuner->comm.min_capability)].v * (k - 1.0) / k;
  intra_Bps *= op == MDL_OP_ALL_REDUCE ? 2.0 : (p - 1.0) / p;
  if (tree && tuner->comm.nodes <= 2)
    inter_Bps *= spec->two_nodes.v;
  double rate_Bps = MIN (intra_Bps, inter_Bps);
  return tree ? MIN (rate_Bps, of_generation (tuner, &spec->tree_channel)) : rate_Bps;
}

static double
direct_busbw (const MdlTuner *tuner, MdlOp op, double rate_Bps, char *how)
{
  const MdlTunerCollnet *spec = &tuner->spec->collnet;
  const MdlGraph *graph = &tuner->search.collnet_direct;
  double p = ranks_per_node (tuner);
  if (is_gather (op)) {
    double each_Bps = graph->intra_Bps;
    if (spec->gather.v == MDL_TUNER_COLLNET_NICS)
      each_Bps = MIN (each_Bps, graph->inter_Bps * spec->gather_inter.v);
    else {
      double weight = (p - 1.0) / (8.0 - 1.0); /* linear between one and eight GPUs a node, as the constants are named */
      each_Bps *= weight * spec->weight_eight.v + (1.0 - weight) * spec->weight_one.v;
    }
    if (how != NULL)
      how[0] = '\0';
    say (how, "%.4g ranks a node x %.4g GB/s", p, each_Bps / 1e9);
    return p * each_Bps;
  }
  double factor = p / graph->channels;
  factor -= (factor - 1.0) / 2.0;
  rate_Bps = scaled (rate_Bps, 1.0 / factor, "GPUs a NIC", how);
  return tuner->comm.min_capability >= 90 ? scaled (rate_Bps, spec->direct_from_90.v, "CollNet direct", how) : rate_Bps;
}

/* algorithm rate / busbw */
static double
ratio (const MdlTuner *tuner, MdlOp op, MdlAlgo algo)
{
  const MdlTunerNvls *nvls = &tuner->spec->nvls;
  gboolean is_nvls = algo == MDL_ALGO_NVLS || algo == MDL_ALGO_NVLS_TREE;
  if (algo != MDL_ALGO_RING && is_gather (op) && !(is_nvls && nvls->gather_ratio.v))
    return 1.0;
  if (is_nvls && nvls->ratio.v > 0.0)
    return nvls->ratio.v;
  return algo == MDL_ALGO_RING || is_nvls ? tuner->comm.ranks / steps (tuner, op) : 0.5;
}

double
mdl_tuner_rate_Bps (const MdlTuner *tuner, MdlOp op, MdlAlgo algo, MdlProto proto, char *how)
{
  const MdlGraph *graph = mdl_tuner_graph (&tuner->search, algo);
  gboolean collnet = algo == MDL_ALGO_COLLNET_DIRECT || algo == MDL_ALGO_COLLNET_CHAIN;
  double each_Bps = tuner->comm.nodes <= 2 || collnet ? graph->intra_Bps : graph->inter_Bps;
  if (algo == MDL_ALGO_NVLS || algo == MDL_ALGO_NVLS_TREE)
    each_Bps = nvls_channel (tuner, op, algo == MDL_ALGO_NVLS_TREE);
  double rate_Bps = graph->channels * each_Bps;
  if (how != NULL)
    how[0] = '\0';
  say (how, "%u x %.4g GB/s", graph->channels, each_Bps / 1e9);
  if (algo == MDL_ALGO_RING)
    rate_Bps = ring_busbw (tuner, op, proto, rate_Bps, how);
  else if (algo == MDL_ALGO_TREE)
    rate_Bps = tree_busbw (tuner, proto, rate_Bps, how);
  else if (algo == MDL_ALGO_PAT)
    rate_Bps = scaled (rate_Bps, tuner->spec->pat.share.v, "PAT", how);
  else if (algo == MDL_ALGO_COLLNET_DIRECT)
    rate_Bps = direct_busbw (tuner, op, rate_Bps, how);
  double factor = ratio (tuner, op, algo);
  return factor < 1.0 || factor > 1.0 ? scaled (rate_Bps, factor, "busbw", how) : rate_Bps;
}

static const char *
why_not_ll128 (const MdlTuner *tuner, const MdlGraph *graph)
{
  const MdlTunerLl128 *spec = &tuner->spec->ll128;
  const MdlTunerComm *comm = &tuner->comm;
  if (comm->force_ll128)
    return NULL;
  gboolean known = spec->capabilities.n == 0 && comm->min_capability >= spec->capability.v;
  for (unsigned i = 0; i < spec->capabilities.n; i++)
    known = known || comm->min_capability == (unsigned)spec->capabilities.item[i].v;
  if (!known)
    return "LL128 is not trusted on this compute capability";
  if (graph->inter > (comm->min_capability >= spec->pxn.v ? MDL_PATH_PXN : MDL_PATH_PXB))
    return "LL128 is not trusted where NICs are so far from the GPUs";
  if (graph->intra > MDL_PATH_NVB)
    return "LL128 is not trusted inside a node without NVLink";
  if (comm->min_capability != comm->max_capability && !(spec->mixed.v > 0.0 && comm->min_capability >= spec->mixed.v))
    return "LL128 is not trusted between GPUs of unequal compute capability";
  return NULL;
}

static const char *
why_not_nvls (const MdlTuner *tuner, MdlOp op, MdlAlgo algo)
{
  const MdlTunerNvls *spec = &tuner->spec->nvls;
  const MdlTunerComm *comm = &tuner->comm;
  const MdlSearch *search = &tuner->search;
  if (search->nvls.channels == 0)
    return "the switches of a node do not reduce for it (NVLS: NVSwitch with SHARP, Hopper or later, and enough GPUs of a node)";
  if (spec->form.v == MDL_TUNER_NVLS_EFFICIENCY && search->nvls.channels < spec->channels.v)
    return "NVLS needs two heads";
  if (algo == MDL_ALGO_NVLS_TREE)
    return comm->nodes == 1 ? "NVLSTree is for several nodes" : NULL;
  if (comm->nodes > 1 && search->collnet_chain.channels == 0)
    return "NVLS over several nodes needs SHARP on the network (NCCL_COLLNET_ENABLE and its plugin)";
  if (!is_gather (op))
    return NULL;
  if (comm->max_local > spec->gather_ranks.v)
    return "too many GPUs of a node for NVLS";
  if (comm->nodes > 1 && !spec->gather_nodes.v)
    return "this version has no NVLS all-gather and reduce-scatter over several nodes";
  if (comm->nodes > 1 && (!comm->collnet_gathers || comm->max_local > search->heads))
    return "needs a network plugin that gathers and scatters, and a NIC for each GPU";
  return NULL;
}

static const char *
why_not_collnet (const MdlTuner *tuner, MdlOp op, MdlAlgo algo)
{
  const MdlTunerCollnet *spec = &tuner->spec->collnet;
  const MdlTunerComm *comm = &tuner->comm;
  const MdlSearch *search = &tuner->search;
  if (search->collnet_chain.channels == 0 || comm->nodes < spec->nodes.v)
    return "needs SHARP on the network (NCCL_COLLNET_ENABLE and its plugin) and several nodes";
  if (comm->max_local > (algo == MDL_ALGO_COLLNET_DIRECT ? spec->direct_ranks.v : spec->chain_ranks.v))
    return "too many GPUs of a node for CollNet";
  if (algo == MDL_ALGO_COLLNET_CHAIN)
    return NULL;
  if (search->collnet_direct.channels == 0 || !comm->switched)
    return "CollNet direct needs GPUs behind an NVSwitch";
  if (!is_gather (op))
    return NULL;
  if (spec->gather.v == MDL_TUNER_COLLNET_NONE)
    return "this version has no CollNet all-gather and reduce-scatter";
  if (!comm->collnet_gathers || comm->max_local > search->heads)
    return "needs a network plugin that gathers and scatters, and a NIC for each GPU";
  return NULL;
}

static const char *
why_not_pat (const MdlTuner *tuner)
{
  const MdlTunerComm *comm = &tuner->comm;
  if (!tuner->spec->pat.offered.v)
    return "this version has no PAT";
  if (comm->min_capability < tuner->spec->pat.capability.v)
    return "the GPUs are too old for PAT";
  if (comm->no_pat || (!comm->force_pat && comm->nodes != comm->ranks))
    return comm->no_pat ? "it is switched off" : "PAT is for one GPU a node";
  return NULL;
}

const char *
mdl_tuner_forbidden (const MdlTuner *tuner, MdlOp op, MdlAlgo algo, MdlProto proto)
{
  if (mdl_coll_find (algo, op) == NULL)
    return "NCCL does not offer it for this operation";
  if (algo != MDL_ALGO_RING && algo != MDL_ALGO_TREE && proto != MDL_PROTO_SIMPLE)
    return "it runs by Simple alone";
  if (mdl_tuner_graph (&tuner->search, algo)->channels == 0 && (algo == MDL_ALGO_RING || algo == MDL_ALGO_TREE))
    return "no channels were found";
  switch (algo) {
    case MDL_ALGO_RING:
    case MDL_ALGO_TREE:
      return proto == MDL_PROTO_LL128 ? why_not_ll128 (tuner, mdl_tuner_graph (&tuner->search, algo)) : NULL;
    case MDL_ALGO_NVLS:
    case MDL_ALGO_NVLS_TREE:
      return why_not_nvls (tuner, op, algo);
    case MDL_ALGO_PAT:
      return why_not_pat (tuner);
    default:
      return why_not_collnet (tuner, op, algo);
  }
}
