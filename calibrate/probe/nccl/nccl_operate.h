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
