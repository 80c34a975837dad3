/* A copy from one device to another: time = latency + size / min (bound, route rate / wire). */
#ifndef MODELS_TRANSFER_H
#define MODELS_TRANSFER_H

#include "models/coll.h"

typedef enum {
  MDL_COPY_DMA,          /* copy engine between GPUs; NVMe */
  MDL_COPY_KERNEL,       /* a kernel's stores into another GPU */
  MDL_COPY_KERNEL_READ,  /* a kernel's loads from another GPU */
  MDL_COPY_H2D,          /* copy engine, from pinned host memory to a GPU */
  MDL_COPY_D2H,          /* likewise from a GPU */
  MDL_COPY_H2D_PAGEABLE, /* pageable host memory: by way of the driver's pinned blocks, which the CPU fills … */
  MDL_COPY_D2H_PAGEABLE, /* … or empties */
  MDL_COPY_HOST,         /* from GPU to GPU, staged in host memory by the CPU */
  MDL_COPY_RDMA,
  MDL_COPY_TCP,
  MDL_COPY_MANAGED, /* managed memory that faults, page group by page group, to the GPU or back */
  MDL_COPY_N
} MdlCopy;
extern const BaseName mdl_copy_names[]; /* as keys of a calibration: "dma", "kernel_read" */

typedef struct MdlLinks MdlLinks; /* models/links.h */

typedef struct {
  MdlCopy copy;
  double size_B;
  double route_latency_s, route_rate_Bps; /* rate: as this kind of copier may use it, a kernel's reach being less */
  gboolean queued;                        /* behind others of its kind: its launch does not show */
  unsigned at_once;                       /* copies out of the same device to different ones; pageable: of one host; 0 is 1 */
  double storage_latency_s;               /* of the storage at one end; 0: none */
  double storage_rate_Bps;                /* that it gives this copy with what is in flight; 0: no limit */
  double streams;                         /* TCP connections that share it, each at the copier's rate; 0 is 1 */
  gboolean terse;                         /* terms get no text */
} MdlTransfer;

/* cost->terms, latency, bound and time as for collectives; `library` NULL: alpha and beta alone. */
void mdl_transfer_cost (const MdlLibrary *library, const MdlTransfer *transfer, MdlCollCost *cost);

/* What of a link's rate a message of `size_B` reaches: alpha-beta ramp, size / (size + half_B). half_B: the size that reaches
 * half. */
double mdl_ramp (double size_B, double half_B);

#endif
