/* What compute and communication do to each other on a GPU. Model, sources and what it was checked against: models/overlap.c and
 * docs/overlap.md. Two things happen, and a simulation needs both:
 *
 *   wait   a collective whose kernel runs on SMs starts only once running kernels leave SMs free, on every rank (mdl_overlap_wait_s);
 *   rates  while both run, each is slowed by a factor (mdl_overlap_pair, mdl_overlap_many). */
#ifndef MODELS_OVERLAP_H
#define MODELS_OVERLAP_H

#include "models/gpu.h"
#include "models/op.h"

G_BEGIN_DECLS

typedef enum { MDL_OVERLAP_GEMM, MDL_OVERLAP_ATTENTION, MDL_OVERLAP_MEMORY, MDL_OVERLAP_KERNELS } MdlOverlapKernel;
typedef enum {
  MDL_OVERLAP_SM,          /* kernels that load and store: rings, trees, sends and receives */
  MDL_OVERLAP_IN_SWITCH,   /* kernels that let the switch add and copy: NVLS */
  MDL_OVERLAP_COPY_ENGINE, /* no kernel */
  MDL_OVERLAP_COMMS
} MdlOverlapCommKind;
extern const BaseName mdl_overlap_kernel_names[], mdl_overlap_comm_names[];

/* A kernel, as it is alone. */
typedef struct {
  MdlOverlapKernel kind;
  double sm_share;   /* of the GPU's SMs that it has blocks for, above 0, at most 1 */
  double memory_Bps; /* to and from HBM, at most what the GPU reaches */
} MdlOverlapCompute;

/* A collective's part on one GPU, as it is alone. */
typedef struct {
  MdlOverlapCommKind kind;
  double channels;   /* one SM each; 0 for copy engines */
  double memory_Bps; /* to and from HBM at full speed: mdl_overlap_memory_B / time alone */
} MdlOverlapComm;

/* Constants of the section `overlap` of a calibration. */
typedef struct {
  BaseHead head;
  BaseNum sm_cost; /* of an SM that a channel holds, what a kernel loses */
  BaseNum stall;   /* of a channel's loads and stores by the kernel at full load: latency beside it over latency alone, less 1 */
} MdlOverlapKernelSpec;

typedef struct {
  BaseHead head;
  MdlOverlapKernelSpec kernel[MDL_OVERLAP_KERNELS];
  BaseNum channel;        /* B/s to and from HBM that one channel moves when nothing else runs and no link is in its way */
  BaseNum switch_channel; /* the same of NVLS */
  BaseNum memory_cost;    /* HBM time of a byte of communication over that of a byte of a memory-bound kernel */
  BaseNum wait;           /* share of the running kernel that a collective waits for before it has its SMs; 0: preempts at once */
  BaseNum spread;         /* of the speed of the same kernels on the GPUs of a node: slowest to fastest, relative */
  BaseNum error;          /* half-width of the 90 % band */
} MdlOverlap;

/* Factors on time, 1 or more. */
typedef struct {
  double compute, comm;
} MdlSlowdown;

/* One kernel and one collective. Neither is slowed by nothing: 0 channels and 0 B/s give 1, 1. */
MdlSlowdown mdl_overlap_pair (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute,
                              const MdlOverlapComm *comm);

/* One kernel (NULL: none) beside `n` collectives at once; factors of the collectives to comm_out[n]; returned: the kernel's (1 where
 * there is none). Collectives that share links are the caller's to slow. */
double mdl_overlap_many (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, const MdlOverlapComm *comm,
                         unsigned n, double *comm_out);

/* B that a rank's HBM moves for a collective of `size_B` (as nccl-tests counts it) among `ranks`. */
double mdl_overlap_memory_B (MdlOp op, MdlOverlapCommKind kind, double size_B, unsigned ranks);

/* Seconds from when a collective is ready, at any moment of a kernel that lasts `kernel_s` beside others like it, to when all of
 * `ranks` have started it. 0 for copy engines and beside kernels that leave its channels' SMs free. Who simulates each rank and
 * knows when its kernel ends takes spec->wait of what is left of it instead. */
double mdl_overlap_wait_s (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, const MdlOverlapComm *comm,
                           double kernel_s, unsigned ranks);

/* Two queues that start together on `ranks` GPUs, as forerun-probe measures them: `n_compute` kernels of `compute_s` and `n_comm`
 * collectives of `comm_s`, each alone. */
typedef struct {
  double compute_s, comm_s; /* of one, while both queues have work left; NAN where one queue is empty */
  double total_s;           /* until both are done */
} MdlOverlapQueues;
void mdl_overlap_queues (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapCompute *compute, double compute_s,
                         unsigned n_compute, const MdlOverlapComm *comm, double comm_s, unsigned n_comm, unsigned ranks,
                         MdlOverlapQueues *out);

G_END_DECLS

#endif
