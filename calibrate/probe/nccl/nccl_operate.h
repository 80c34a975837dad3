/* What a worker and the overlap section ask of NCCL: communicators, and one operation of one rank. */
#ifndef FORERUN_PROBE_NCCL_OPERATE_H
#define FORERUN_PROBE_NCCL_OPERATE_H

#include "nccl_lib.h"
#include "probe_plan.h"

/* False: probe_fail has `what` and NCCL's reason. */
bool nccl_ok (ncclResult_t result, const char *what);

/* Ranks of a communicator that are in this process. */
typedef struct {
  unsigned ranks;        /* of all processes */
  unsigned first, local; /* ranks first to first + local - 1 are here */
  unsigned channels;     /* 0: as NCCL likes */
} NcclPart;

/* Makes them, each on its GPU; returns when all ranks have joined. After a failure comm[] is not to be touched. */
bool nccl_join (const NcclPart *part, const ncclUniqueId *id, const int *device, ncclComm_t *comm);

/* What buffers are to NCCL: nothing; registered with each communicator; in a window of all its ranks. */
typedef enum { NCCL_BUFFERS_PLAIN, NCCL_BUFFERS_REGISTERED, NCCL_BUFFERS_SYMMETRIC } NcclBuffers;

/* "registered", "symmetric"; anything else, and NULL, is plain. */
NcclBuffers nccl_buffers_named (const char *name);

/* A buffer of `bytes` on the current GPU; what is not plain is NCCL's own. */
bool nccl_buffer_make (NcclBuffers buffers, size_t bytes, float **out);

/* What a communicator gave for a buffer. */
typedef void *NcclHold;

/* Two buffers on each GPU, of `bytes` each. */
typedef struct {
  NcclBuffers buffers;
  size_t bytes;
  float *const *in, *const *out;
} NcclMemory;

/* Of n local ranks; returns when all ranks of the communicator have done so. Nothing where buffers are plain. */
bool nccl_hold (const NcclMemory *memory, unsigned n, const int *device, const ncclComm_t *comm, NcclHold (*hold)[2]);
void nccl_let_go (NcclBuffers buffers, ncclComm_t comm, NcclHold hold[2]);

typedef struct {
  ProbeOp op;
  const void *in;
  void *out;
  size_t count; /* as probe_op_count has it */
  ncclDataType_t type;
  size_t element_B;
  unsigned rank, ranks;
  ncclComm_t comm;
  cudaStream_t stream;
} NcclOperation;

ncclResult_t nccl_operate (const NcclOperation *o);

#endif
