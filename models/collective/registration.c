/* Registered buffers: between nodes, and what registering takes.
 *
 * From 2.24 on adapters read and write a registered buffer themselves, by Simple: no block copies into NCCL's slots and out of
 * them, so that a block's rate limits no message between nodes. It needs GPUDirect RDMA, both buffers registered and no PXN:
 *     all-gather, broadcast by a ring   rings take a GPU's own adapter; with one GPU a node, one channel serves
 *     send/receive, all-to-all          with one GPU a node, or NCCL_PXN_DISABLE=1
 * A ring of an all-reduce is registered too, but its blocks must add what arrives: nothing is saved here. Not measured.
 *
 * Registering, once for each buffer of B bytes:
 *     call + (between nodes) net + B / net rate;  windows: window, for each further one window_again, and the same between nodes
 *
 * Source: NCCL v2.24.3-1 and v2.28.9-1 src/register/coll_reg.cc:ncclRegisterCollBuffers (nMaxChannels = 1 where isOneRPN),
 * src/enqueue.cc:addP2pToPlan (pxnUsed). Calls and windows: measured on two H100 (docs/nccl.md); the adapter's part is assumed.
 * Check: test_models_registration. */
#include "collective/terms-private.h"

gboolean
mdl_net_registered (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  const MdlRegistrationSpec *spec = &library->registration;
  const gboolean rings = q->op == MDL_OP_ALL_GATHER || q->op == MDL_OP_BROADCAST,
                 pairs = (q->op == MDL_OP_ALLTOALL || q->op == MDL_OP_SENDRECV) && (q->no_pxn || q->ranks_per_node <= 1);
  if (!mdl_buffers_registered (q) || q->n_nodes <= 1 || q->inter != MDL_HOP_NET || proto != MDL_PROTO_SIMPLE || !(rings || pairs) ||
      !spec->net_channels.set || !mdl_version_from (library->version, spec->net_from.v))
    return FALSE;
  mdl_cost_use (cost, &spec->net_channels);
  cost->untried = TRUE;
  return TRUE;
}

double
mdl_registration_s (const MdlLibrary *library, const MdlCollQuestion *q, MdlBuffers buffers, BaseSource *source)
{
  const gboolean windows = buffers == MDL_BUFFERS_SYMMETRIC, far = q->n_nodes > 1 && q->inter == MDL_HOP_NET;
  *source = BASE_SOURCE_N - 1;
  if (library == NULL || buffers == MDL_BUFFERS_PLAIN || q->n_ranks < 2 || !library->registration.call.set)
    return 0.0;
  const MdlRegistrationSpec *spec = &library->registration;
  const double n = (double)q->n_ranks,
               other_B = q->op == MDL_OP_ALL_GATHER || q->op == MDL_OP_REDUCE_SCATTER ? q->size_B / n : q->size_B;
  double time_s = windows ? spec->window.v + spec->window_again.v : 2.0 * spec->call.v;
  *source = MIN (*source, windows ? spec->window.source : spec->call.source);
  if (far) {
    time_s += 2.0 * spec->net.v + mdl_time_s (q->size_B + other_B, spec->net_rate.v);
    *source = MIN (*source, spec->net.source);
  }
  return time_s;
}
