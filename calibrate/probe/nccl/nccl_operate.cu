#include "nccl_operate.h"

#include "probe.h"

#include <string.h>

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

NcclBuffers
nccl_buffers_named (const char *name)
{
  if (name == NULL)
    return NCCL_BUFFERS_PLAIN;
  return strcmp (name, "registered") == 0  ? NCCL_BUFFERS_REGISTERED
         : strcmp (name, "symmetric") == 0 ? NCCL_BUFFERS_SYMMETRIC
                                           : NCCL_BUFFERS_PLAIN;
}

bool
nccl_buffer_make (NcclBuffers buffers, size_t bytes, float **out)
{
  if (buffers == NCCL_BUFFERS_PLAIN)
    return PROBE_CUDA (cudaMalloc (out, bytes));
  return nccl_ok (ncclMemAlloc ((void **)out, bytes), "ncclMemAlloc");
}

static bool
hold_one (NcclBuffers buffers, ncclComm_t comm, float *buffer, size_t bytes, NcclHold *out)
{
  if (buffers == NCCL_BUFFERS_REGISTERED)
    return nccl_ok (ncclCommRegister (comm, buffer, bytes, out), "ncclCommRegister");
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
  return nccl_ok (ncclCommWindowRegister (comm, buffer, bytes, (ncclWindow_t *)out, NCCL_WIN_COLL_SYMMETRIC),
                  "ncclCommWindowRegister");
#else
  return probe_fail ("built with NCCL before 2.27, which has no windows");
#endif
}

/* Buffer by buffer: a window is made by all ranks at once, in a group. */
bool
nccl_hold (const NcclMemory *memory, unsigned n, const int *device, const ncclComm_t *comm, NcclHold (*hold)[2])
{
  bool ok = true;
  for (unsigned b = 0; b < 2 && ok && memory->buffers != NCCL_BUFFERS_PLAIN; b++) {
    float *const *buffer = b == 0 ? memory->in : memory->out;
    if (!nccl_ok (ncclGroupStart (), "ncclGroupStart"))
      return false;
    for (unsigned i = 0; i < n && ok; i++)
      ok = PROBE_CUDA (cudaSetDevice (device[i])) && hold_one (memory->buffers, comm[i], buffer[i], memory->bytes, &hold[i][b]);
    ok = nccl_ok (ncclGroupEnd (), "registering buffers") && ok;
  }
  return ok;
}

void
nccl_let_go (NcclBuffers buffers, ncclComm_t comm, NcclHold hold[2])
{
  for (unsigned b = 0; b < 2; b++) {
    if (hold[b] == NULL)
      continue;
    if (buffers == NCCL_BUFFERS_REGISTERED)
      ncclCommDeregister (comm, hold[b]);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
    else
      ncclCommWindowDeregister (comm, (ncclWindow_t)hold[b]);
#endif
    hold[b] = NULL;
  }
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
