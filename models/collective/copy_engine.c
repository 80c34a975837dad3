/* Copies by the GPUs' copy engines: no multiprocessor works for them.
 *
 * All-gather and all-to-all (NCCL 2.28 on) with buffers in windows of symmetric memory and NCCL_CTA_POLICY=ZERO. Each rank tells
 * all others that it is ready, copies to one peer after another, tells them that it is done, and waits for them both times. One
 * stream does it all, so that nothing overlaps:
 *     T = 2 sync + own part + peers x copy + S (n-1)/n / link
 *     sync = batch + writes and waits x operation + flags x copy;  own part = own + S/n / own rate (out of place)
 * To tell n - 1 peers takes 2 (n - 1) operations of a batch on the stream's memory. From 2.29 on it is n - 1 waits, and as
 * many flags that are copied, or one where the NVSwitch multicasts: such a batch writes to no peer, and `wait` stands for `batch`.
 * A replayed graph also puts n flags back. A launch takes the CPU `launch` in place of a kernel's, and `flag_launch` for each flag
 * that is copied. That holds for graphs that a thread a GPU replays: their launch takes the CPU some 2.5 us for each copy and
 * batch, 10 us an operation, so that one thread lets its second GPU begin so much later.
 *
 * A put (ncclPutSignal, 2.29 on) is a batch that writes the signal's number, the copy, and a flag behind it; the other end waits
 * for the flag (ncclWaitSignal). In a graph the receiver also copies a flag back, for which the next put waits, and both reset
 * what they waited for:
 *     T = 2 (wait + k operations) + f copies + S / link,  k = 1, f = 2, in a graph k = 2, f = 3
 * A rank that sends and receives takes the CPU put_launch + wait_launch, else the longer of both. It is no algorithm of ncclSend:
 * name it.
 *
 * Source: NCCL src/ce_coll.cc at v2.28.9-1, v2.29.2-1, v2.30.7-1: ncclCeAllGather, ncclCeAlltoAll, ncclMemOpSync, ncclCeAvailable;
 * src/enqueue.cc: NCCL_SYM_CE_THRESHOLD; src/rma/rma_ce.cc at v2.30.7-1: ncclRmaCePutLaunch, ncclRmaCeWaitLaunch. Left out: the
 * further syncs within 512 MiB among more than 8 ranks. Constants: measured on two H100 (docs/nccl.md). Valid: one NVLink domain.
 * Check: test_models_copy_engine. */
#include <math.h>

#include "models/library-spec.h"

#include "collective/terms-private.h"

typedef struct {
  double syncs;
  double operations; /* of a sync's batch on the stream's memory */
  double flags;      /* copied, of a sync */
  double copies;     /* to peers, one after another */
  const BaseNum *batch;
  double launch_s;
} Shape;

static Shape
collective_of (const MdlCopyEngineSpec *spec, const MdlCollQuestion *q, gboolean copied)
{
  const double peers = (double)q->n_ranks - 1.0;
  Shape shape = { .syncs = 2.0, .operations = copied ? peers : 2.0 * peers, .copies = peers, .batch = &spec->batch };
  if (copied) {
    shape.flags = q->multicast ? 1.0 : peers;
    shape.batch = &spec->wait;
  }
  if (mdl_launch_replays (q->launch))
    shape.operations += peers + 1.0;
  shape.launch_s = spec->launch.v + shape.syncs * shape.flags * spec->flag_launch.v;
  return shape;
}

static Shape
put_of (const MdlCopyEngineSpec *spec, const MdlCollQuestion *q)
{
  const gboolean replays = mdl_launch_replays (q->launch);
  const double put_s = spec->put_launch.v, wait_s = spec->wait_launch.v;
  return (Shape){ .syncs = 2.0,
                  .operations = replays ? 2.0 : 1.0,
                  .flags = replays ? 1.0 : 0.5,
                  .copies = 1.0,
                  .batch = &spec->wait,
                  .launch_s = q->one_way ? fmax (put_s, wait_s) : put_s + wait_s };
}

static void
cost_of (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)proto;
  const MdlCopyEngineSpec *spec = &library->copy_engine;
  const gboolean put = q->op == MDL_OP_SENDRECV;
  const double n = (double)q->n_ranks;
  const Shape s = put ? put_of (spec, q) : collective_of (spec, q, mdl_version_from (library->version, spec->flags_from.v));
  const double sync_s = s.batch->v + s.operations * spec->operation.v + s.flags * spec->copy.v;
  cost->wire = spec->wire.v;
  mdl_cost_use (cost, &spec->wire);
  mdl_cost_term (q, cost, "syncs", s.syncs * sync_s, s.batch,
                 "%.3g x (%.3g us + %.4g writes and waits x %.3g us + %.4g flags x %.3g us)", s.syncs, s.batch->v * 1e6,
                 s.operations, spec->operation.v * 1e6, s.flags, spec->copy.v * 1e6);
  mdl_cost_use (cost, &spec->operation);
  mdl_cost_term (q, cost, "copies", s.copies * spec->copy.v, &spec->copy, "%.4g peers one after another x %.3g us", s.copies,
                 spec->copy.v * 1e6);
  cost->start_s = cost->latency_s;
  if (!put) {
    const double part_B = q->size_B / n, own_s = part_B / spec->own_rate.v;
    const gboolean large = part_B >= 1e4;
    mdl_cost_term (q, cost, "own part", spec->own.v + own_s, &spec->own, "%.3g us + %.4g %s at %.4g GB/s", spec->own.v * 1e6,
                   large ? part_B * 1e-6 : part_B, large ? "MB" : "B", spec->own_rate.v * 1e-9);
    mdl_cost_use (cost, &spec->own_rate);
  }
  cost->start_s = cost->latency_s;
  cost->launch_s = s.launch_s;
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
  return q->compute_capability < 90 ? "collectives by copy engines are modelled from Hopper on: none was measured before" : NULL;
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
