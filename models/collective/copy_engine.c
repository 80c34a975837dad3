/* Copies by the GPUs' copy engines: no multiprocessor works for them.
 *
 * All-gather and all-to-all (NCCL 2.28 on) with buffers in windows of symmetric memory and NCCL_CTA_POLICY=ZERO. Each rank tells
 * all others that it is ready, copies to one peer after another, tells them that it is done, and waits for them both times. One
 * stream does it all, so that nothing overlaps:
 *     T = 2 sync + own part + peers x copy + S (n-1)/n / link
 *     sync = batch + writes and waits x operation + flags x copy;  own part = own + S/n / own rate (out of place)
 * To tell n - 1 peers takes 2 (n - 1) operations of a batch on the stream's memory. From 2.29 on it is n - 1 waits, and as many
 * flags that are copied, or one where the NVSwitch multicasts. A replayed graph also puts n flags back. A launch takes the CPU
 * `launch` in place of a kernel's.
 *
 * A put (ncclPutSignal, 2.29 on) is one copy and one sync whose flag one peer waits for. It is no algorithm of ncclSend: name it.
 *
 * Source: NCCL src/ce_coll.cc at v2.28.9-1, v2.29.2-1, v2.30.7-1: ncclCeAllGather, ncclCeAlltoAll, ncclMemOpSync, ncclCeAvailable;
 * src/enqueue.cc: NCCL_SYM_CE_THRESHOLD. Left out: the further syncs within 512 MiB among more than 8 ranks. Constants: measured
 * on two H100 (docs/nccl.md). Valid: one NVLink domain. Check: test_models_copy_engine. */
#include "models/library-spec.h"

#include "collective/terms-private.h"

typedef struct {
  double operations; /* of the batch on the stream's memory */
  double flags;      /* copied */
} Sync;

static Sync
sync_of (const MdlLibrary *library, const MdlCollQuestion *q)
{
  const MdlCopyEngineSpec *spec = &library->copy_engine;
  const double peers = q->op == MDL_OP_SENDRECV ? 1.0 : (double)q->n_ranks - 1.0;
  const gboolean copied = mdl_version_from (library->version, spec->flags_from.v);
  Sync sync = { .operations = copied ? peers : 2.0 * peers };
  sync.flags = !copied ? 0.0 : q->multicast && q->op != MDL_OP_SENDRECV ? 1.0 : peers;
  if (mdl_launch_replays (q->launch))
    sync.operations += peers + 1.0;
  return sync;
}

static void
cost_of (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)proto;
  const MdlCopyEngineSpec *spec = &library->copy_engine;
  const gboolean put = q->op == MDL_OP_SENDRECV;
  const double n = (double)q->n_ranks, peers = put ? 1.0 : n - 1.0, syncs = put ? 1.0 : 2.0;
  const Sync sync = sync_of (library, q);
  const double sync_s = spec->batch.v + sync.operations * spec->operation.v + sync.flags * spec->copy.v;
  cost->wire = spec->wire.v;
  mdl_cost_use (cost, &spec->wire);
  mdl_cost_term (q, cost, "syncs", syncs * sync_s, &spec->batch,
                 "%.3g x (%.3g us + %.4g writes and waits x %.3g us + %.4g flags x %.3g us)", syncs, spec->batch.v * 1e6,
                 sync.operations, spec->operation.v * 1e6, sync.flags, spec->copy.v * 1e6);
  mdl_cost_use (cost, &spec->operation);
  mdl_cost_term (q, cost, "copies", peers * spec->copy.v, &spec->copy, "%.4g peers one after another x %.3g us", peers,
                 spec->copy.v * 1e6);
  cost->start_s = cost->latency_s;
  if (!put) {
    const double own_s = q->size_B / n / spec->own_rate.v;
    mdl_cost_term (q, cost, "own part", spec->own.v + own_s, &spec->own, "%.3g us + %.4g B at %.4g GB/s", spec->own.v * 1e6,
                   q->size_B / n, spec->own_rate.v * 1e-9);
    mdl_cost_use (cost, &spec->own_rate);
  }
  cost->start_s = cost->latency_s;
  cost->launch_s = spec->launch.v;
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  const MdlCopyEngineSpec *spec = &library->copy_engine;
  const gboolean put = q->op == MDL_OP_SENDRECV;
  if (!spec->batch.set || q->compute_capability == 0)
    return "NCCL's collectives by copy engines are for NVIDIA GPUs only";
  if (!mdl_version_from (library->version, put ? spec->puts_from.v : spec->from.v))
    return put ? "NCCL has one-sided puts from 2.29 on" : "NCCL has collectives by copy engines from 2.28 on";
  if (proto != MDL_PROTO_SIMPLE)
    return "copy engines move data as they are: simple";
  if (q->n_nodes > 1)
    return "over several NVLink domains it is not modelled (NCCL has it from 2.30 on)";
  if (q->intra != MDL_HOP_NVLINK || (!q->switched && q->n_ranks > 2))
    return "it needs NVLink between all GPUs";
  return q->compute_capability < 90 ? "it was not measured before Hopper" : NULL;
}

const char *
mdl_copy_engine_why_not (const MdlLibrary *library, const MdlCollQuestion *question)
{
  if (question->op != MDL_OP_ALL_GATHER && question->op != MDL_OP_ALLTOALL)
    return "copy engines add nothing; they serve all-gather and all-to-all";
  return why_not (library, MDL_PROTO_SIMPLE, question);
}

gboolean
mdl_copy_engine_chosen (const MdlLibrary *library, const MdlCollQuestion *question, gboolean zero_cta, double elements)
{
  const MdlCopyEngineSpec *spec = &library->copy_engine;
  if (mdl_copy_engine_why_not (library, question) != NULL)
    return FALSE;
  return zero_cta || (question->op == MDL_OP_ALL_GATHER && question->compute_capability >= 100 && elements > spec->threshold.v &&
                      mdl_version_from (library->version, spec->threshold_from.v));
}

const MdlColl mdl_coll_copy_engine = {
  .algo = MDL_ALGO_COPY_ENGINE,
  .ops = 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_ALLTOALL | 1u << MDL_OP_SENDRECV,
  .n_steps = mdl_exchange_steps,
  .cost = cost_of,
  .plain = mdl_exchange_plain,
  .why_not = why_not,
};
