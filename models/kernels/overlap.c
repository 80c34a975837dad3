/* What a kernel and collectives do to each other while they run on one GPU.
 *
 * The kernel: collectives hold an SM a channel; the kernel has what is left, and HBM has what their traffic leaves.
 *     f = max (1 + sm_cost (u S / (S - h) - 1),  w / (W - traffic_cost x))     each where it is above 1
 * S SMs of the GPU, u share of them that the kernel fills, h channels; w B/s from and to HBM that it moves alone, W what the HBM
 * reaches, x B/s of the collectives, as slowed. sm_cost: the kernel's last wave is seldom full, and SMs that compute less leave
 * power to the others.
 *
 * A collective: a channel loads and stores with one SM, so its rate is what it has in flight over the latency of memory. Latency
 * grows with what else runs, so each byte takes longer, whatever bounds the collective alone:
 *     f = 1 + k (m / c) (u / pass + (w / W) / pass_memory) / f of the kernel
 * m B/s to and from HBM alone, c channels, pass B/s a channel, k 1 or `pairwise`: a block that sends and receives at once has half
 * of its threads for either. The kernel's load is what it is while slowed: one round of the two equations. The more channels the
 * bytes are spread over, the less they suffer. Copy engines have no channels and suffer nothing but the HBM's limit (assumed).
 *
 * The wait: streams of one priority are served first come first served. A collective that becomes ready while a kernel runs gets
 * SMs when the kernel's last blocks have started, near its end. It moves no byte until all ranks have it. With ranks at independent
 * moments of kernels of T: T n / (n + 1), the mean of the largest of n.
 *
 * Bytes: what the kernels' loops load and store of one rank's HBM, and what peers write into it; NCCL 2.28
 * src/device/{all_reduce,all_gather,reduce_scatter,sendrecv}.h, prims_simple.h: a receive buffer between peers, so each byte
 * received is written by the peer, read, and written to where it belongs. In-switch: buffers likewise, not registered (assumed).
 * Source of the form: measured, forerun-probe's section overlap on 4 H200, docs/overlap.md. Valid: kernels of 0.2 ms and more,
 * streams of one priority. Check: test_models_overlap, law_overlap, accuracy_overlap. */
#include "models/overlap.h"

#include <math.h>

/* A kernel keeps so much of the SMs and of the HBM, whatever runs beside it. */
static const double LEAST_SHARE = 0.1;

/* SMs that collectives hold. */
static double
held_sms (const MdlGpu *gpu, const MdlOverlapComm *comm, unsigned n)
{
  double sms = 0;
  for (unsigned i = 0; i < n; i++)
    if (comm[i].kind != MDL_OVERLAP_COPY_ENGINE)
      sms += fmax (comm[i].channels, 0);
  return fmin (sms, (1 - LEAST_SHARE) * gpu->sms);
}

static double
reached_Bps (const MdlGpu *gpu)
{
  return gpu->memory_Bps * gpu->memory_efficiency;
}

/* Seconds that a byte of a channel takes longer beside the kernel. */
static double
stall_s_per_B (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute)
{
  double stall = fmin (compute->memory_Bps / reached_Bps (gpu), 1) / spec->memory.channel_traffic.v;
  if (compute->kind != MDL_OVERLAP_MEMORY) {
    const MdlOverlapKernelSpec *kernel = compute->kind == MDL_OVERLAP_GEMM ? &spec->gemm : &spec->attention;
    stall += compute->sm_share / kernel->channel_traffic.v;
  }
  return stall;
}

/* The kernel's factor beside collectives that hold `sms` and move `traffic_Bps`. */
static double
slow_kernel (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, double sms, double traffic_Bps)
{
  double by_sms = 1, by_memory = 1, wants = compute->sm_share * gpu->sms, left = gpu->sms - sms;
  if (compute->kind != MDL_OVERLAP_MEMORY && wants > left)
    by_sms = 1 + (compute->kind == MDL_OVERLAP_GEMM ? &spec->gemm : &spec->attention)->sm_cost.v * (wants / left - 1);
  double reached = reached_Bps (gpu), left_Bps = fmax (reached - spec->memory.traffic_cost.v * traffic_Bps, LEAST_SHARE * reached);
  if (compute->memory_Bps > left_Bps)
    by_memory = compute->memory_Bps / left_Bps;
  return fmax (by_sms, by_memory);
}

/* Factors of the collectives beside a kernel that makes each byte of a channel take `stall_s_per_B` longer. Returned: B/s of HBM
 * traffic that they then have. */
static double
slow_comms (const MdlOverlap *spec, const MdlGpu *gpu, double stall_s_per_B, const MdlOverlapComm *comm, unsigned n, double *out)
{
  double traffic_Bps = 0;
  for (unsigned i = 0; i < n; i++) {
    double factor = comm[i].kind == MDL_OVERLAP_PAIRWISE ? spec->pairwise.v : comm[i].kind == MDL_OVERLAP_COPY_ENGINE ? 0 : 1;
    out[i] = 1 + factor * stall_s_per_B * comm[i].memory_Bps / fmax (comm[i].channels, 1);
    traffic_Bps += comm[i].memory_Bps / out[i];
  }
  double crowd = fmax (traffic_Bps / reached_Bps (gpu), 1);
  for (unsigned i = 0; i < n; i++)
    out[i] *= crowd;
  return traffic_Bps / crowd;
}

double
mdl_overlap_many (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, const MdlOverlapComm *comm,
                  unsigned n, double *comm_out)
{
  if (compute == NULL) {
    slow_comms (spec, gpu, 0, comm, n, comm_out);
    return 1;
  }
  double sms = held_sms (gpu, comm, n), stall = stall_s_per_B (spec, gpu, compute);
  double first = slow_kernel (spec, gpu, compute, sms, slow_comms (spec, gpu, stall, comm, n, comm_out));
  return slow_kernel (spec, gpu, compute, sms, slow_comms (spec, gpu, stall / first, comm, n, comm_out));
}

MdlSlowdown
mdl_overlap_pair (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, const MdlOverlapComm *comm)
{
  MdlSlowdown out;
  out.compute = mdl_overlap_many (spec, gpu, compute, comm, 1, &out.comm);
  return out;
}

double
mdl_overlap_memory_B (MdlOp op, MdlOverlapCommKind kind, double size_B, unsigned ranks)
{
  if (ranks < 2)
    return 0;
  /* Of a buffer: `moved` passes between a rank and each other one, or its neighbours in a ring. */
  double n = ranks, moved = (n - 1) / n;
  if (kind == MDL_OVERLAP_COPY_ENGINE) /* read where it is, written where it goes */
    return size_B * (op == MDL_OP_ALL_REDUCE ? 4 * moved : op == MDL_OP_SENDRECV || op == MDL_OP_BROADCAST ? 2 : 2 * moved);
  switch (op) {
    case MDL_OP_ALL_REDUCE: /* rings: 2 (n - 1) parts written by the peer and read, n read of the input, n written to the output */
      return size_B * (kind == MDL_OVERLAP_IN_SWITCH ? 6 : 4 * moved + 2);
    case MDL_OP_ALL_GATHER:     /* n - 1 parts written by the peer and read, n written to the output, its own read */
    case MDL_OP_REDUCE_SCATTER: /* n - 1 parts written by the peer and read, n read of the input, one written */
      return size_B * (kind == MDL_OVERLAP_IN_SWITCH ? 3 + 1 / n : 2 * moved + 1 + 1 / n);
    case MDL_OP_ALLTOALL: /* n - 1 read, n - 1 written by peers, read and written to the output; its own part copied */
      return size_B * (4 * moved + 2 / n);
    case MDL_OP_SENDRECV: /* likewise */
      return size_B * 4;
    default: /* broadcast, reduce: written by the neighbour, read, and written or added */
      return size_B * 3;
  }
}

double
mdl_overlap_wait_s (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, const MdlOverlapComm *comm,
                    double kernel_s, unsigned ranks)
{
  double sms = held_sms (gpu, comm, 1);
  if (sms <= 0 || compute->sm_share * gpu->sms + sms <= gpu->sms)
    return 0;
  return spec->wait.v * kernel_s * ranks / (ranks + 1.0);
}
