/* What the models of kernels know of a cluster's GPU. */
#ifndef WORKLOAD_GPU_H
#define WORKLOAD_GPU_H

#include "cluster/cluster.h"
#include "models/gpu.h"

G_BEGIN_DECLS

/* Of the node's GPU type; what its file does not say is 0. Names are borrowed from the cluster. */
void wrk_gpu_facts (const Clu *clu, guint32 node, MdlGpu *out);

G_END_DECLS

#endif
