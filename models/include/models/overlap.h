/* What compute and communication do to each other on a GPU. Model, sources and what it was checked against: kernels/overlap.c and
 * docs/overlap.md. Two things happen, and a simulation needs both:
 *
 *   wait   a collective that runs on SMs starts only once running kernels leave some free, on every rank (mdl_overlap_wait_s);
 *   rates  while both run, each is slowed by a factor (mdl_overlap_pair, mdl_overlap_many). */
#ifndef MODELS_OVERLAP_H
#define MODELS_OVERLAP_H

#include "models/gpu.h"
#include "models/op.h"

typedef enum {
  MDL_OVERLAP_GEMM,
  MDL_OVERLAP_ATTENTION,
  MDL_OVERLAP_MEMORY, /* bound by HBM: norms, activations, optimizers, copies by kernels */
  MDL_OVERLAP_KERNELS
} MdlOverlapKernel;
typedef enum {
  MDL_OVERLAP_SM,          /* kernels that load and store: rings, trees */
  MDL_OVERLAP_IN_SWITCH,   /* kernels that let the switch add and copy: NVLS */
  MDL_OVERLAP_COPY_ENGINE, /* no kernel */
  MDL_OVERLAP_PAIRWISE,    /* kernels of sends and receives: alltoall, pipelines */
  MDL_OVERLAP_COMMS
} MdlOverlapCommKind;

/* A kernel, as it is alone. */
typedef struct {
  MdlOverlapKernel kind;
  double sm_share;   /* of the GPU's SMs that it has blocks for, above 0, at most 1 */
  double memory_Bps; /* to and from HBM, at most what the GPU reaches */
} MdlOverlapCompute;

/* A collective's part on one GPU, as it is alone. */
typedef struct {
  MdlOverlapCommKind kind;
  double channels;   /* one SM each; copy engines: not looked at */
  double memory_Bps; /* to and from HBM at full speed: mdl_overlap_memory_B / time alone */
} MdlOverlapComm;

/* Constants of the section `overlap` of a calibration. */
typedef struct {
  BaseHead head;
  BaseNum sm_cost; /* of the time that a kernel needs more on the SMs that are left, what it loses */
  BaseNum channel_traffic; /* B/s of HBM traffic of a channel that pass the kernel at full load, on top of its time alone */
} MdlOverlapKernelSpec;

typedef struct {
  BaseHead head;
  BaseNum traffic_cost; /* HBM time of a byte of communication over that of a byte of a memory-bound kernel */
  BaseNum channel_traffic; /* as above, beside a kernel that takes all of the HBM */
} MdlOverlapMemorySpec;

typedef struct MdlOverlap {
  BaseHead head;
  MdlOverlapKernelSpec gemm, attention;
  MdlOverlapMemorySpec memory;
  BaseNum pairwise; /* time that a byte of sends and receives takes longer beside a kernel, over that of a ring */
  BaseNum wait;     /* share of the rest of the running kernel that a collective waits for before it has its SMs */
  BaseNum spread;   /* of the speed of one kernel on the GPUs of a node, slowest to fastest */
  BaseNum error;    /* half-width of the 90 % band */
} MdlOverlap;

/* Factors on time, 1 or more. */
typedef struct {
  double compute, comm;
} MdlSlowdown;

/* One kernel and one collective. Neither is slowed by nothing: 0 channels and 0 B/s give 1, 1. */
MdlSlowdown mdl_overlap_pair (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute,
                              const MdlOverlapComm *comm);

/* One kernel (NULL: none) beside `n` collectives at once. Factors of the collectives to comm_out[n]. Returned: the kernel's, 1
 * where there is none. Collectives that share links are the caller's to slow. */
double mdl_overlap_many (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, const MdlOverlapComm *comm,
                         unsigned n, double *comm_out);

/* B that a rank's HBM moves for a collective of `size_B` (as nccl-tests counts it), out of place, among `ranks`; the mean of the
 * ranks. Sources: models/kernels/overlap.c. */
double mdl_overlap_memory_B (MdlOp op, MdlOverlapCommKind kind, double size_B, unsigned ranks);

/* Seconds from when a collective is ready, at any moment of one of a row of kernels of `kernel_s`, to when all of `ranks` have
 * started it; ranks are at different moments of their kernels. 0 for copy engines and beside kernels that leave its channels' SMs
 * free. A simulation of each rank knows when its kernel ends, and uses spec->wait of the kernel's rest instead. */
double mdl_overlap_wait_s (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, const MdlOverlapComm *comm,
                           double kernel_s, unsigned ranks);

/* Two queues that start together on `ranks` GPUs, as forerun-probe measures them: `n_compute` kernels of `compute_s` and `n_comm`
 * collectives of `comm_s`, each alone. */
typedef struct {
  MdlOverlapCompute compute;
  double compute_s;
  unsigned n_compute;
  MdlOverlapComm comm;
  double comm_s;
  unsigned n_comm;
  unsigned ranks;
} MdlOverlapQuery;
typedef struct {
  double compute_s, comm_s; /* of one, while both queues have work; NAN where that is no time to tell it */
  double total_s;           /* until both are done */
} MdlOverlapQueues;
void mdl_overlap_queues (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapQuery *query, MdlOverlapQueues *out);

#endif
