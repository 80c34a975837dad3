#include "nccl_operate.h"

#include "probe.h"

bool
nccl_ok (ncclResult_t result, const char *what)
{
  if (result == ncclSuccess)
    return true;
  const char *more = ncclGetLastError (NULL);
  more = more != NULL ? more : "";
  return probe_fail ("%s: %s%s%.300s", what, ncclGetErrorString (result), *more != '\0' ? ": " : "", more);
}

/* Least and most CTAs of a communicator bound its channels as NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS do (NVIDIA/nccl
 * src/graph/connect.cc:ncclTopoPostset), but hold for it alone. */
bool
nccl_join (const NcclPart *part, const ncclUniqueId *id, const int *device, ncclComm_t *comm)
{
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (part->channels > 0)
    config.minCTAs = config.maxCTAs = (int)part->channels;
  bool ok = nccl_ok (ncclGroupStart (), "ncclGroupStart");
  if (!ok)
    return false;
  for (unsigned i = 0; i < part->local && ok; i++) {
    ok = PROBE_CUDA (cudaSetDevice (device[i]));
    if (!ok)
      break;
    int n = (int)part->ranks, rank = (int)(part->first + i);
    ok = nccl_ok (part->channels > 0 ? ncclCommInitRankConfig (&comm[i], n, *id, rank, &config)
                                     : ncclCommInitRank (&comm[i], n, *id, rank),
                  "ncclCommInitRank");
  }
  return nccl_ok (ncclGroupEnd (), "making communicators") && ok; /* also after an error: the group must not stay open */
}

/* The part of a buffer that is peer's. */
static size_t
place (const NcclOperation *o, unsigned peer)
{
  return peer * o->count * o->element_B;
}

static ncclResult_t
send_and_receive (const NcclOperation *o, unsigned to, unsigned from, size_t send_B, size_t receive_B)
{
  ncclResult_t result = ncclSend ((const char *)o->in + send_B, o->count, o->type, (int)to, o->comm, o->stream);
  if (result != ncclSuccess)
    return result;
  return ncclRecv ((char *)o->out + receive_B, o->count, o->type, (int)from, o->comm, o->stream);
}

/* All to all; or each sends to the next and gets from the one before. */
static ncclResult_t
exchange (const NcclOperation *o)
{
  ncclResult_t result = ncclGroupStart ();
  if (result != ncclSuccess)
    return result;
  if (o->op == PROBE_OP_SENDRECV)
    result = send_and_receive (o, (o->rank + 1) % o->ranks, (o->rank + o->ranks - 1) % o->ranks, 0, 0);
  for (unsigned peer = 0; o->op == PROBE_OP_ALLTOALL && peer < o->ranks && result == ncclSuccess; peer++)
    result = send_and_receive (o, peer, peer, place (o, peer), place (o, peer));
  ncclResult_t end = ncclGroupEnd ();
  return result != ncclSuccess ? result : end;
}

ncclResult_t
nccl_operate (const NcclOperation *o)
{
  switch (o->op) {
    case PROBE_OP_ALL_REDUCE:
      return ncclAllReduce (o->in, o->out, o->count, o->type, ncclSum, o->comm, o->stream);
    case PROBE_OP_ALL_GATHER:
      return ncclAllGather (o->in, o->out, o->count, o->type, o->comm, o->stream);
    case PROBE_OP_REDUCE_SCATTER:
      return ncclReduceScatter (o->in, o->out, o->count, o->type, ncclSum, o->comm, o->stream);
    case PROBE_OP_BROADCAST:
      return ncclBroadcast (o->in, o->out, o->count, o->type, 0, o->comm, o->stream);
    case PROBE_OP_REDUCE:
      return ncclReduce (o->in, o->out, o->count, o->type, ncclSum, 0, o->comm, o->stream);
    default:
      return exchange (o);
  }
}
