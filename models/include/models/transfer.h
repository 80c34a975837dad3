/* A copy from one device to another: time = latency + size / min (bound, route rate / wire). */
#ifndef MODELS_TRANSFER_H
#define MODELS_TRANSFER_H

#include "models/coll.h"

G_BEGIN_DECLS

typedef enum {
  MDL_COPY_DMA,      /* copy engine: cudaMemcpy, NVMe */
  MDL_COPY_KERNEL,   /* SM loads and stores: NCCL send/receive */
  MDL_COPY_HOST,     /* staged in host memory by the CPU */
  MDL_COPY_RDMA,
  MDL_COPY_TCP,
  MDL_COPY_N
} MdlCopy;

/* cost->terms, latency, bound and time as for collectives; `library` NULL: alpha and beta alone. */
void mdl_transfer_cost (const MdlLibrary *library, MdlCopy copy, double size_B, double route_latency_s, double route_rate_Bps,
                        MdlCollCost *cost);

/* What of a link's rate a message of `size_B` reaches: alpha-beta ramp, size / (size + half_B). half_B: the size that reaches
 * half. */
double mdl_ramp (double size_B, double half_B);

G_END_DECLS

#endif
