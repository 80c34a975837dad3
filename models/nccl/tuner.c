/* NCCL's choice of algorithm and protocol.
 *
 *     time    = latency x count + size / (rate x correction)      the least wins, the first in NCCL's order where equal
 *     latency = base + steps inside a node x their latency + steps between nodes x theirs
 *     steps   ring       all-reduce 2 (n - 1), of them 2 (N - 1) between nodes; gather, scatter n - 1, N - 1; others n, or one
 *                        where all channels are alike
 *             tree       2 (p - 1) inside, 2 log2 N between       NVLSTree  1, 2 log2 N          NVLS  1, 1 (N > 1), no base
 *             CollNet    direct 2 (p > 1) inside, 0.4 us x 2 (p - 1), 1 between                  chain 2 (p - 1), 1
 *             PAT        log2 N / 3.5 between, 2.8 us x n
 *     count   ceil (operations of the group / channels in use); but for rings / 8, rounded up
 *
 * n ranks, N nodes, p ranks of a node; log2 rounded down. A step of a ring inside a node costs at least what the CPU needs to post
 * a message, where there are several nodes. A NIC's own latency counts once, in Simple twice (it must be flushed). correction: by
 * size, all-reduce trees. Between nodes a ring's Simple all-reduce has 1.4 times the latency from 64 B a channel and rank on.
 *
 * Source: NCCL commit 5067397c, src/graph/tuning.cc:ncclTopoTuneModel, ncclTopoGetAlgoTime; src/enqueue.cc:updateCollCostTable,
 * topoGetAlgoInfo, ncclPrepareTasks; src/include/device.h:ncclNvlsSupported. Rates: rate.c.
 * Valid: NCCL 2.19 to 2.30 with one communicator on alike nodes; a plugin's tuner overrules it: region.c. Not seen by it,
 * as in NCCL: symmetric kernels and copy engines, which do not pass the tuner. Check: switch points of 8x H200 as measured
 * (tests/accuracy/accuracy_tuner.c). */
#include "models/tuner.h"

#include <math.h>
#include <string.h>

#include "nccl/tuner-private.h"

const BaseName mdl_tuner_nvls_names[] = {
  { "least", MDL_TUNER_NVLS_LEAST, "the lesser of the rates inside and between nodes" },
  { "gather", MDL_TUNER_NVLS_GATHER, "the same, less the own part in all-gather and reduce-scatter" },
  { "efficiency", MDL_TUNER_NVLS_EFFICIENCY, "by heads and an efficiency" },
  { NULL, 0, NULL },
};
const BaseName mdl_tuner_collnet_names[] = {
  { "none", MDL_TUNER_COLLNET_NONE, "not offered" },
  { "weighted", MDL_TUNER_COLLNET_WEIGHTED, "the rate inside a node times a share by its GPUs" },
  { "nics", MDL_TUNER_COLLNET_NICS, "the lesser of the rates inside and between nodes" },
  { NULL, 0, NULL },
};

static double
floor_log2 (double n)
{
  return n >= 1.0 ? floor (log2 (n)) : 0.0;
}

/* A step's latency. POWER's trees by Simple over PCIe are favoured: they take the ring's. */
static const BaseNum *
step_of (const MdlTuner *tuner, MdlTunerHardware hardware, MdlAlgo algo, MdlProto proto)
{
  if (tuner->comm.cpu == MDL_CPU_POWER && hardware == MDL_TUNER_PCIE && algo == MDL_ALGO_TREE && proto == MDL_PROTO_SIMPLE)
    algo = MDL_ALGO_RING;
  return &tuner->spec->step.at[hardware].at[algo].item[proto];
}

static double
post_s (const MdlTuner *tuner, MdlProto proto)
{
  const MdlTunerRing *ring = &tuner->spec->ring;
  const MdlTunerComm *comm = &tuner->comm;
  if (comm->nodes == 1)
    return 0.0;
  double once_s = comm->post_s > 0.0           ? comm->post_s
                  : comm->cpu == MDL_CPU_INTEL ? ring->post_intel.v
                  : comm->cpu == MDL_CPU_AMD   ? ring->post_amd.v
                                               : ring->post_other.v;
  return proto == MDL_PROTO_SIMPLE ? once_s * ring->post_simple.v : once_s;
}

static void
ring_latency (const MdlTuner *tuner, MdlOp op, MdlProto proto, MdlTunerLatency *out)
{
  double n = tuner->comm.ranks, nodes = tuner->comm.nodes;
  if (op == MDL_OP_BROADCAST || op == MDL_OP_REDUCE) {
    gboolean same = tuner->search.ring.same;
    MdlTunerHardware intra = tuner->search.ring.intra == MDL_PATH_NVL ? MDL_TUNER_NVLINK : MDL_TUNER_PCIE;
    MdlAlgo like = !same && proto == MDL_PROTO_SIMPLE ? MDL_ALGO_TREE : MDL_ALGO_RING;
    const BaseNum *step = step_of (tuner, nodes > 1.0 ? MDL_TUNER_NET : intra, like, proto);
    if (nodes > 1.0) {
      out->n_inter = same ? 1.0 : n;
      out->inter = step;
      out->inter_s = step->v;
    } else {
      out->n_intra = same ? 1.0 : n;
      out->intra = step;
      out->intra_s = step->v;
    }
    return;
  }
  double all = op == MDL_OP_ALL_REDUCE ? 2.0 * (n - 1.0) : n - 1.0;
  double between = op == MDL_OP_ALL_REDUCE ? 2.0 * (nodes - 1.0) + tuner->spec->ring.inter_steps.v : nodes - 1.0;
  out->n_inter = nodes > 1.0 ? between : 0.0;
  out->n_intra = all - out->n_inter;
  double least_s = post_s (tuner, proto);
  if (least_s > out->intra_s) {
    out->intra_s = least_s;
    out->intra = NULL;
  }
}

void
mdl_tuner_latency (const MdlTuner *tuner, MdlOp op, MdlAlgo algo, MdlProto proto, MdlTunerLatency *out)
{
  const MdlTunerSpec *spec = tuner->spec;
  const MdlTunerComm *comm = &tuner->comm;
  const double inside = (double)(comm->ranks / comm->nodes) - 1.0, doublings = floor_log2 (comm->nodes);
  memset (out, 0, sizeof *out);
  out->base = algo == MDL_ALGO_NVLS ? NULL : &spec->base.at[algo].item[proto];
  MdlTunerHardware intra = mdl_tuner_graph (&tuner->search, algo)->intra == MDL_PATH_NVL ? MDL_TUNER_NVLINK : MDL_TUNER_PCIE;
  gboolean alone = comm->ranks == comm->nodes && spec->tree.net_single_gpu.v > 0.0;
  out->intra = step_of (tuner, intra, algo, proto);
  out->inter = step_of (tuner, MDL_TUNER_NET, alone ? MDL_ALGO_TREE : algo, proto);
  out->intra_s = out->intra->v;
  out->inter_s = out->inter->v + tuner->search.latency_inter_s * (proto == MDL_PROTO_SIMPLE ? 2.0 : 1.0);
  switch (algo) {
    case MDL_ALGO_RING:
      ring_latency (tuner, op, proto, out);
      break;
    case MDL_ALGO_TREE:
      out->n_intra = 2.0 * inside;
      out->n_inter = 2.0 * doublings;
      break;
    case MDL_ALGO_COLLNET_DIRECT:
      out->n_intra = inside > 0.0 ? 2.0 : 0.0;
      out->extra = &spec->collnet.arity;
      out->n_extra = 2.0 * inside;
      out->n_inter = 1.0;
      break;
    case MDL_ALGO_COLLNET_CHAIN:
      out->n_intra = 2.0 * inside;
      out->n_inter = 1.0;
      break;
    case MDL_ALGO_NVLS:
      out->n_intra = 1.0;
      out->n_inter = comm->nodes > 1 ? 1.0 : 0.0;
      break;
    case MDL_ALGO_NVLS_TREE:
      out->n_intra = 1.0;
      out->n_inter = 2.0 * doublings;
      break;
    default: /* PAT */
      out->n_inter = doublings / spec->pat.net_share.v;
      out->extra = &spec->pat.per_rank;
      out->n_extra = comm->ranks;
      break;
  }
}

double
mdl_tuner_latency_s (const MdlTunerLatency *latency)
{
  return (latency->base != NULL ? latency->base->v : 0.0) + latency->n_intra * latency->intra_s +
         latency->n_inter * latency->inter_s + (latency->extra != NULL ? latency->n_extra * latency->extra->v : 0.0);
}

void
mdl_tuner_prepare (const MdlTunerSpec *spec, const MdlTunerComm *comm, const MdlSearch *search, MdlTuner *out)
{
  g_return_if_fail (comm->ranks >= 1 && comm->nodes >= 1 && comm->nodes <= comm->ranks);
  memset (out, 0, sizeof *out);
  out->spec = spec;
  out->comm = *comm;
  out->search = *search;
  if (comm->ranks == 1)
    return;
  for (int op = 0; op < MDL_TUNER_OPS; op++)
    for (int algo = 0; algo < MDL_TUNER_ALGOS; algo++)
      for (int proto = 0; proto < MDL_PROTO_N; proto++) {
        MdlTunerCell *cell = &out->cell[op][algo][proto];
        cell->reason = mdl_tuner_forbidden (out, (MdlOp)op, (MdlAlgo)algo, (MdlProto)proto);
        if (cell->reason != NULL)
          continue;
        MdlTunerLatency latency;
        mdl_tuner_latency (out, (MdlOp)op, (MdlAlgo)algo, (MdlProto)proto, &latency);
        cell->latency_s = mdl_tuner_latency_s (&latency);
        cell->rate_Bps = mdl_tuner_rate_Bps (out, (MdlOp)op, (MdlAlgo)algo, (MdlProto)proto, NULL);
        if (!(cell->rate_Bps > 0.0))
          cell->reason = "NCCL takes its rate for zero";
      }
}

/* What the switches of a node reduce. */
static gboolean
nvls_reduces (const MdlTunerQuestion *question)
{
  if (question->op == MDL_OP_ALL_GATHER)
    return TRUE;
  switch (question->dtype) {
    case MDL_DTYPE_FP16:
    case MDL_DTYPE_BF16:
      return question->reduction != MDL_REDUCTION_OTHER;
    case MDL_DTYPE_FP32:
    case MDL_DTYPE_FP64:
      return question->reduction == MDL_REDUCTION_SUM;
    default:
      return FALSE;
  }
}

const char *
mdl_tuner_reason (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto)
{
  g_return_val_if_fail ((int)question->op < MDL_TUNER_OPS && proto >= 0 && proto < MDL_PROTO_N, "it is not tuned");
  if (algo < 0 || (int)algo >= MDL_TUNER_ALGOS)
    return "NCCL does not offer it for this operation";
  if (tuner->comm.ranks == 1)
    return algo == MDL_ALGO_RING && proto == MDL_PROTO_SIMPLE ? NULL : "one rank has nobody to talk to";
  if (question->disabled_algos & (1u << algo))
    return "it is disabled (NCCL_ALGO)";
  if (question->disabled_protos & (1u << proto))
    return "its protocol is disabled (NCCL_PROTO)";
  const char *reason = tuner->cell[question->op][algo][proto].reason;
  if (reason != NULL)
    return reason;
  if ((algo == MDL_ALGO_NVLS || algo == MDL_ALGO_NVLS_TREE) && !nvls_reduces (question))
    return "NVLS does not reduce this type so";
  if (algo == MDL_ALGO_PAT && question->op == MDL_OP_REDUCE_SCATTER && question->reduction == MDL_REDUCTION_OTHER)
    return "PAT does not scale";
  return NULL;
}

static double
correction (const MdlTunerTree *tree, MdlProto proto, double size_B, double n)
{
  const BaseNums *factors = proto == MDL_PROTO_LL ? &tree->ll : proto == MDL_PROTO_LL128 ? &tree->ll128 : &tree->simple;
  if (size_B < tree->correction_from.v)
    return 1.0;
  int exponent;
  frexp (size_B / tree->correction_from.v, &exponent);
  return exponent <= n && (unsigned)exponent <= factors->n ? factors->item[exponent - 1].v : 1.0;
}

MdlTunerFactors
mdl_tuner_factors (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto)
{
  const MdlTunerSpec *spec = tuner->spec;
  const MdlTunerComm *comm = &tuner->comm;
  MdlTunerFactors factors = { .rate = 1.0, .latency = 1.0, .penalty = 1.0 };
  gboolean all_reduce = question->op == MDL_OP_ALL_REDUCE;
  double channels = MAX (1, tuner->search.channels);
  if (algo == MDL_ALGO_TREE && all_reduce)
    factors.rate = correction (&spec->tree, proto, question->size_B, spec->tree.correction_n.v);
  else if (algo == MDL_ALGO_NVLS_TREE && all_reduce && comm->min_capability >= spec->nvls.correction_capability.v &&
           (comm->cpu == MDL_CPU_INTEL || comm->cpu == MDL_CPU_AMD || comm->cpu == MDL_CPU_MIXED))
    factors.rate = correction (&spec->tree, proto, question->size_B, spec->nvls.correction_n.v);
  if (algo == MDL_ALGO_RING && proto == MDL_PROTO_SIMPLE && all_reduce && comm->nodes > 1 &&
      floor (question->size_B / (channels * comm->ranks)) >= spec->ring.plateau_from.v)
    factors.latency = comm->min_capability < 80 ? spec->ring.plateau_before_80.v : spec->ring.plateau.v;
  factors.count = ceil (MAX (1, question->n_ops) / channels);
  if (algo != MDL_ALGO_RING)
    factors.count = ceil (factors.count / spec->batch.v);
  if (question->dtype == MDL_DTYPE_FP8 && algo == MDL_ALGO_RING && comm->ranks > spec->fp8_ranks.v)
    factors.penalty = spec->fp8_factor.v;
  return factors;
}

/* Of an algorithm and protocol that mdl_tuner_reason lets pass. */
static void
answer (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto, MdlTunerChoice *out)
{
  out->algo = algo;
  out->proto = proto;
  out->time_s = out->latency_s = 0.0;
  out->rate_Bps = HUGE_VAL;
  if (tuner->comm.ranks == 1)
    return;
  const MdlTunerCell *cell = &tuner->cell[question->op][algo][proto];
  MdlTunerFactors factors = mdl_tuner_factors (tuner, question, algo, proto);
  out->latency_s = cell->latency_s * factors.latency * factors.count;
  out->rate_Bps = cell->rate_Bps * factors.rate;
  out->time_s = (out->latency_s + question->size_B / out->rate_Bps) * factors.penalty;
}

double
mdl_tuner_time_s (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto)
{
  if (mdl_tuner_reason (tuner, question, algo, proto) != NULL)
    return HUGE_VAL;
  MdlTunerChoice choice;
  answer (tuner, question, algo, proto, &choice);
  return choice.time_s;
}

void
mdl_tuner_table (const MdlTuner *tuner, const MdlTunerQuestion *question, double time_s[MDL_ALGO_NCCL_N][MDL_PROTO_N])
{
  for (int algo = 0; algo < MDL_TUNER_ALGOS; algo++)
    for (int proto = 0; proto < MDL_PROTO_N; proto++)
      time_s[algo][proto] = mdl_tuner_time_s (tuner, question, (MdlAlgo)algo, (MdlProto)proto);
}

gboolean
mdl_tuner_choose (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlTunerChoice *out)
{
  MdlTunerChoice best = { .time_s = HUGE_VAL };
  for (int algo = 0; algo < MDL_TUNER_ALGOS; algo++)
    for (int proto = 0; proto < MDL_PROTO_N; proto++) {
      if (mdl_tuner_reason (tuner, question, (MdlAlgo)algo, (MdlProto)proto) != NULL)
        continue;
      MdlTunerChoice one;
      answer (tuner, question, (MdlAlgo)algo, (MdlProto)proto, &one);
      if (one.time_s < best.time_s)
        best = one;
    }
  if (isinf (best.time_s))
    return FALSE;
  *out = best;
  return TRUE;
}
