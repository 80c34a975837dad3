/* Known inputs and exact outputs. Inputs are whole numbers from 0 to 7 that depend on rank and place; sums of 64 of them are exact
 * in fp32 in any order, so that every element of every output is compared for equality. */
#include "nccl_run.h"

#include <stdio.h>

#define BLOCKS  2048
#define THREADS 256
#define POISON  0xa5 /* four such bytes are no whole number as fp32 */

static __device__ float
input (unsigned rank, size_t i)
{
  unsigned h = (unsigned)i * 2654435761U + rank * 0x85ebca6bU; /* Knuth's and Murmur's odd constants; any mix would do */
  h ^= h >> 15;
  h *= 0x2c1b3c6dU;
  h ^= h >> 12;
  return (float)(h & 7);
}

static __device__ float
input_sum (unsigned n_ranks, size_t i)
{
  float sum = 0;
  for (unsigned rank = 0; rank < n_ranks; rank++)
    sum += input (rank, i);
  return sum;
}

/* Element i of what `rank` gets; `count` as probe_op_count. */
static __device__ float
expected (int op, unsigned rank, unsigned n_ranks, size_t count, size_t i)
{
  switch (op) {
    case PROBE_OP_ALL_GATHER:
      return input ((unsigned)(i / count), i % count);
    case PROBE_OP_REDUCE_SCATTER:
      return input_sum (n_ranks, rank * count + i);
    case PROBE_OP_BROADCAST:
      return input (0, i);
    case PROBE_OP_ALLTOALL:
      return input ((unsigned)(i / count), rank * count + i % count);
    case PROBE_OP_SENDRECV:
      return input ((rank + n_ranks - 1) % n_ranks, i);
    default: /* all_reduce, reduce */
      return input_sum (n_ranks, i);
  }
}

static __global__ void
fill (float *out, size_t n, unsigned rank)
{
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    out[i] = input (rank, i);
}

static __global__ void
compare (const float *out, size_t n, int op, unsigned rank, unsigned n_ranks, size_t count, unsigned long long *wrong)
{
  unsigned long long found = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    found += !(out[i] == expected (op, rank, n_ranks, count, i));
  if (found > 0)
    atomicAdd (wrong, found);
}

/* Elements of a rank's output. */
static size_t
output_count (const ProbeRequest *request)
{
  size_t count = probe_op_count (request->op, request->bytes, request->gpus);
  return request->op == PROBE_OP_ALL_GATHER || request->op == PROBE_OP_ALLTOALL ? count * request->gpus : count;
}

bool
nccl_fill_input (NcclWorker *worker, unsigned rank)
{
  if (!PROBE_CUDA (cudaSetDevice ((int)rank)))
    return false;
  fill<<<BLOCKS, THREADS, 0, worker->stream[rank]>>> (worker->in[rank], worker->capacity_B / sizeof (float), rank);
  return PROBE_CUDA (cudaGetLastError ()) && PROBE_CUDA (cudaStreamSynchronize (worker->stream[rank]));
}

static bool
all_done (NcclWorker *worker, unsigned gpus)
{
  for (unsigned rank = 0; rank < gpus; rank++)
    if (!PROBE_CUDA (cudaStreamSynchronize (worker->stream[rank])))
      return false;
  return true;
}

bool
nccl_prepare_output (NcclWorker *worker, const ProbeRequest *request)
{
  size_t bytes = output_count (request) * sizeof (float);
  for (unsigned rank = 0; rank < request->gpus; rank++) {
    cudaStream_t stream = worker->stream[rank];
    if (!PROBE_CUDA (cudaSetDevice ((int)rank)))
      return false;
    if (request->in_place) {
      if (!PROBE_CUDA (cudaMemcpyAsync (worker->out[rank], worker->in[rank], bytes, cudaMemcpyDeviceToDevice, stream)))
        return false;
    } else if (!PROBE_CUDA (cudaMemsetAsync (worker->out[rank], POISON, bytes, stream))) {
      return false;
    }
  }
  return all_done (worker, request->gpus);
}

bool
nccl_check_output (NcclWorker *worker, const ProbeRequest *request)
{
  size_t n = output_count (request), count = probe_op_count (request->op, request->bytes, request->gpus);
  unsigned ranks = request->op == PROBE_OP_REDUCE ? 1 : request->gpus; /* the root alone gets something */
  unsigned long long wrong[NCCL_GPUS_MOST] = { 0 };
  bool ok = true;
  for (unsigned rank = 0; rank < ranks && ok; rank++) {
    cudaStream_t stream = worker->stream[rank];
    ok = PROBE_CUDA (cudaSetDevice ((int)rank)) &&
         PROBE_CUDA (cudaMemsetAsync (worker->wrong[rank], 0, sizeof *worker->wrong[rank], stream));
    if (!ok)
      break;
    compare<<<BLOCKS, THREADS, 0, stream>>> (worker->out[rank], n, (int)request->op, rank, request->gpus, count,
                                             worker->wrong[rank]);
    ok = PROBE_CUDA (cudaGetLastError ());
  }
  for (unsigned rank = 0; rank < ranks && ok; rank++)
    ok = PROBE_CUDA (cudaSetDevice ((int)rank)) && PROBE_CUDA (cudaStreamSynchronize (worker->stream[rank])) &&
         PROBE_CUDA (cudaMemcpy (&wrong[rank], worker->wrong[rank], sizeof wrong[rank], cudaMemcpyDeviceToHost));
  if (!ok) {
    snprintf (worker->error, sizeof worker->error, "%s", probe_cuda_error ());
    return false;
  }
  for (unsigned rank = 0; rank < ranks; rank++)
    if (wrong[rank] > 0) {
      snprintf (worker->error, sizeof worker->error, "wrong data: %llu of %zu elements on rank %u", wrong[rank], n, rank);
      return false;
    }
  return true;
}
