/* What the models of kernels know of a cluster's GPU. */
#ifndef COLLECTIVE_GPU_H
#define COLLECTIVE_GPU_H

#include "cluster/cluster.h"
#include "cluster/spec.h"
#include "models/gpu.h"

/* Of the node's GPU type; what its file does not say is 0. Names are borrowed from the cluster. */
void col_gpu_facts (const Clu *clu, guint32 node, MdlGpu *out);
/* The first node whose GPU type computes slowest, among `n` of `gpus` (global numbers; NULL: the first n): by the dense peak of
 * bf16 (else fp16, fp32), then by memory bandwidth. CLU_NONE of none. */
guint32 col_gpu_slowest (const Clu *clu, const guint32 *gpus, guint32 n);
/* What a link is specified for, one way; 0: not told. */
double col_link_rate_Bps (const CluLinkSpec *link);
/* Of each of the node's adapters; 0: it has none, or none is given. */
double col_nic_rate_Bps (const Clu *clu, guint32 node);

#endif
